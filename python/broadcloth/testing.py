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
__all__ = sorted([*_ASSERTIONS, *_OTHERS, "assert_array_list_equal"])


def assert_array_list_equal(xlist: Any, ylist: Any, err_msg: str = "", verbose: bool = True) -> None:
    """Fails unless two lists have equal arrays, one by one; CuPy's addition.

    Examples
    --------
    >>> bc.testing.assert_array_list_equal([bc.ones(2), bc.zeros(1)], [[1, 1], [0]])
    """
    from numpy.testing import assert_array_equal

    if len(xlist) != len(ylist):
        raise AssertionError(f"List size is different: {len(xlist)} and {len(ylist)}{chr(10) + err_msg if err_msg else ''}")
    for x, y in zip(xlist, ylist, strict=True):
        on_copies(assert_array_equal, _numbers_and_copies)(x, y, err_msg=err_msg, verbose=verbose)


def _numbers_and_copies(value: Any) -> Any:
    return read_only(value, scalars=True)


def __getattr__(name: str) -> Any:
    import numpy.testing as theirs

    if name.startswith("_") or not hasattr(theirs, name):
        raise missing(__name__, name)
    found = getattr(theirs, name)
    return on_copies(found, _numbers_and_copies) if name in ASSERTIONS else found


__dir__ = listing(__all__)
