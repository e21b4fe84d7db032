"""Names that CuPy and older NumPy programs use for functions and types that NumPy 2 calls otherwise, or keeps elsewhere."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from . import _manipulation, _math, _reductions
from ._broadcloth import ndarray
from .lib.array_utils import byte_bounds as byte_bounds

if TYPE_CHECKING:
    from .typing import ArrayLike, DTypeLike

complex_ = cfloat = np.complex128
singlecomplex = np.complex64
long = np.int64
DataSource: Any = np.lib.npyio.DataSource
format_parser: Any = np.rec.format_parser
show_config: Any = np.show_config
typename: Any = np.typename
mintypecode: Any = np.mintypecode


def _another_name(name: str, function: Callable[..., Any], example: str) -> Callable[..., Any]:
    """`function` under another name, with a docstring that says so."""

    @functools.wraps(function)
    def alias(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    alias.__name__ = alias.__qualname__ = name
    alias.__module__ = __name__
    alias.__doc__ = f"Another name of `{function.__name__}`.\n\n    Examples\n    --------\n    {example}\n    "
    return alias


alltrue = _another_name("alltrue", _reductions.all, ">>> bc.alltrue([1, 0])\n    array(False)")
sometrue = _another_name("sometrue", _reductions.any, ">>> bc.sometrue([1, 0])\n    array(True)")
product = _another_name("product", _reductions.prod, ">>> bc.product([2, 3])\n    array(6)")
cumproduct = _another_name("cumproduct", _reductions.cumprod, ">>> bc.cumproduct([2, 3])\n    array([2, 6])")
round_ = _another_name("round_", _math.round, ">>> bc.round_(1.26, 1)\n    array(1.3)")
trapz = _another_name("trapz", _math.trapezoid, ">>> bc.trapz([1.0, 2.0, 3.0])\n    array(4.)")
row_stack = _another_name("row_stack", _manipulation.vstack, ">>> bc.row_stack([[1, 2], [3, 4]]).shape\n    (2, 2)")


def asfarray(a: ArrayLike, dtype: DTypeLike = np.float64) -> ndarray:
    """The value as an array of floats or complex numbers; float64 in the place of another dtype.

    Examples
    --------
    >>> bc.asfarray([1, 2])
    array([1., 2.])
    """
    t = np.dtype(dtype)
    return _c.asarray(a, t if t.kind in "fc" else np.float64)


def fromDlpack(dltensor: Any) -> ndarray:
    """The array of a DLPack capsule, as older versions of CuPy have it; see `from_dlpack`.

    Examples
    --------
    >>> bc.fromDlpack(bc.arange(3).toDlpack())
    array([0, 1, 2])
    """
    return _c.from_dlpack(dltensor)


def disp(mesg: Any, device: Any = None, linefeed: bool = True) -> None:
    """Writes a text to a file or to the standard output.

    Examples
    --------
    >>> bc.disp("three")
    three
    """
    print(mesg, file=device, end="\n" if linefeed else "")
