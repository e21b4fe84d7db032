"""Exceptions and warnings under Numba's names, for `except` and for filters of `warnings`. Warnings here are `PerformanceWarning`s."""

from __future__ import annotations

from ..exceptions import PerformanceWarning, TypingError


class NumbaWarning(Warning):
    """The base of Numba's warnings."""


class NumbaPerformanceWarning(PerformanceWarning, NumbaWarning):
    """Never raised: the library warns with `PerformanceWarning`."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Never raised."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Never raised."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """Never raised."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Never raised."""


__all__ = [
    "NumbaDeprecationWarning",
    "NumbaExperimentalFeatureWarning",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaTypeSafetyWarning",
    "NumbaWarning",
    "TypingError",
]
