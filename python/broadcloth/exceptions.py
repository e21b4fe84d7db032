"""The exception types that NumPy has in numpy.exceptions, under broadcloth's name, and its own."""

from numpy.exceptions import AxisError, ComplexWarning, DTypePromotionError, TooHardError, VisibleDeprecationWarning

from ._broadcloth import CompileError, TypingError, UFuncTypeError


class PerformanceWarning(UserWarning):
    """Something works, but slower than a small change would make it."""


__all__ = [
    "AxisError",
    "CompileError",
    "ComplexWarning",
    "DTypePromotionError",
    "PerformanceWarning",
    "TooHardError",
    "TypingError",
    "UFuncTypeError",
    "VisibleDeprecationWarning",
]
