"""The exception types that NumPy has in numpy.exceptions, under broadcloth's name, and its own."""

from numpy.exceptions import AxisError, ComplexWarning, DTypePromotionError, TooHardError, VisibleDeprecationWarning

from ._broadcloth import CompileError, TypingError, UFuncTypeError


class PerformanceWarning(UserWarning):
    """Something works, but slower than a small change would make it."""


class FallbackWarning(UserWarning):
    """A program that runs as it stands used something of NumPy's that broadcloth does not have: NumPy computed it on the host."""


class FallbackError(RuntimeError):
    """The same where it is forbidden (`--strict`)."""


class SynchronizationError(RuntimeError):
    """A program waited for the device without saying so where that is forbidden (`--strict`)."""


__all__ = [
    "AxisError",
    "CompileError",
    "ComplexWarning",
    "DTypePromotionError",
    "FallbackError",
    "FallbackWarning",
    "PerformanceWarning",
    "SynchronizationError",
    "TooHardError",
    "TypingError",
    "UFuncTypeError",
    "VisibleDeprecationWarning",
]
