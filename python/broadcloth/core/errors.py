"""Exceptions and warnings under Numba's names, for `except` and for filters of `warnings`."""

from __future__ import annotations

from .._namespace import listing
from ..exceptions import CompileError, PerformanceWarning, TypingError

# What cannot be compiled is one kind of error here, and what a compiler refuses another.
NumbaError = NumbaTypeError = NumbaValueError = UnsupportedError = ForbiddenConstruct = RequireLiteralValue = TypingError
CompilerError = LoweringError = CompileError


class _Warnings(type):
    # The library's own warnings are among Numba's, for filters and `except`, and know nothing of that.
    def __subclasscheck__(cls, other: type) -> bool:
        return super().__subclasscheck__(other) or (cls is NumbaWarning and issubclass(other, PerformanceWarning))


class NumbaWarning(Warning, metaclass=_Warnings):
    """The base of Numba's warnings; filters for it also meet `PerformanceWarning`."""


NumbaPerformanceWarning = PerformanceWarning


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Never raised."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Never raised."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """Never raised."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Never raised."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """Never raised."""


__all__ = [
    "CompilerError", "ForbiddenConstruct", "LoweringError", "NumbaDeprecationWarning", "NumbaError", "NumbaExperimentalFeatureWarning",
    "NumbaInvalidConfigWarning", "NumbaPendingDeprecationWarning", "NumbaPerformanceWarning", "NumbaTypeError", "NumbaTypeSafetyWarning",
    "NumbaValueError", "NumbaWarning", "RequireLiteralValue", "TypingError", "UnsupportedError",
]  # fmt: skip

__dir__ = listing(__all__)
