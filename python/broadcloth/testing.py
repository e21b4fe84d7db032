"""NumPy's `testing`. Its assertions look at the types of what they compare, so they get host copies of arrays, and NumPy's scalars for
arrays without axes (`assert_equal(a[0], 5)`). All other names are NumPy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._namespace import listing, missing
from .run._fallback import on_copies, read_only

if TYPE_CHECKING:
    from numpy.testing import *  # noqa: F403

_ASSERTIONS = [
    "assert_", "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_compare", "assert_array_equal", "assert_array_less", "assert_array_max_ulp",
    "assert_equal",
]  # fmt: skip
_OTHERS = [
    "TestCase", "assert_no_warnings", "assert_raises", "assert_raises_regex", "assert_string_equal", "assert_warns", "suppress_warnings",
]  # fmt: skip
ASSERTIONS = frozenset(_ASSERTIONS)
__all__ = sorted([*_ASSERTIONS, *_OTHERS])


def _numbers_and_copies(value: Any) -> Any:
    return read_only(value, scalars=True)


def __getattr__(name: str) -> Any:
    import numpy.testing as theirs

    if name.startswith("_") or not hasattr(theirs, name):
        raise missing(__name__, name)
    found = getattr(theirs, name)
    return on_copies(found, _numbers_and_copies) if name in ASSERTIONS else found


__dir__ = listing(__all__)
