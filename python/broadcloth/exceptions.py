"""The exception types that NumPy has in numpy.exceptions, under broadcloth's name."""

from numpy.exceptions import AxisError, ComplexWarning, DTypePromotionError, TooHardError, VisibleDeprecationWarning

from ._broadcloth import CompileError, TypingError, UFuncTypeError

__all__ = [
    "AxisError",
    "CompileError",
    "ComplexWarning",
    "DTypePromotionError",
    "TooHardError",
    "TypingError",
    "UFuncTypeError",
    "VisibleDeprecationWarning",
]
