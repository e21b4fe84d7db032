"""Exceptions and warnings under Numba's names, for `except` and for filters of `warnings`."""

from __future__ import annotations

from .._namespace import listing
from ..exceptions import CompileError, PerformanceWarning, TypingError

# What cannot be compiled is one kind of error here, and what a compiler refuses another.
_REFUSALS = """
    ByteCodeSupportError ConstantInferenceError DeprecationError ForbiddenConstruct ForceLiteralArg IRError LiteralTypingError
    NotDefinedError NumbaAssertionError NumbaAttributeError NumbaError NumbaIndexError NumbaKeyError NumbaNotImplementedError
    NumbaRuntimeError NumbaTypeError NumbaValueError RedefinedError RequireLiteralValue UnsupportedBytecodeError UnsupportedError
    UnsupportedParforsError UnsupportedRewriteError UntypedAttributeError VerificationError
"""
globals().update(dict.fromkeys(_REFUSALS.split(), TypingError))
CompilerError = InternalError = InternalTargetMismatchError = LoweringError = NonexistentTargetError = CompileError


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


# Never raised either.
_WARNINGS = """
    NumbaDebugInfoWarning NumbaExperimentalFeatureWarning NumbaInvalidConfigWarning NumbaIRAssumptionWarning NumbaParallelSafetyWarning
    NumbaPedanticWarning NumbaSystemWarning NumbaTypeSafetyWarning
"""
globals().update({name: type(name, (NumbaWarning,), {"__module__": __name__}) for name in _WARNINGS.split()})

__all__ = sorted([
    *_REFUSALS.split(), *_WARNINGS.split(), "CompilerError", "InternalError", "InternalTargetMismatchError", "LoweringError",
    "NonexistentTargetError", "NumbaDeprecationWarning", "NumbaPendingDeprecationWarning", "NumbaPerformanceWarning", "NumbaWarning",
    "TypingError",
])  # fmt: skip

__dir__ = listing(__all__)
