"""The exception types that NumPy has in numpy.exceptions, under broadcloth's name."""

from numpy.exceptions import AxisError, ComplexWarning, DTypePromotionError, TooHardError, VisibleDeprecationWarning

from ._broadcloth import UFuncTypeError

__all__ = ["AxisError", "ComplexWarning", "DTypePromotionError", "TooHardError", "UFuncTypeError", "VisibleDeprecationWarning"]
