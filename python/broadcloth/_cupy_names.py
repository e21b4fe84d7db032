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


def make_aligned_dtype(dtype: DTypeLike, *, alignment: int = -1, recurse: bool = True) -> np.dtype[Any]:
    """A structured dtype whose fields and size are aligned as a GPU's loads need it: complex numbers to their whole size.

    Parameters
    ----------
    dtype : dtype
        A structured dtype; others come back as they are.
    alignment : int
        The least alignment of the whole, a power of two; -1: what the fields need.
    recurse : bool
        Aligns the dtypes of fields that are structured themselves.

    Raises
    ------
    ValueError
        `alignment` is less than the fields need, or no power of two.

    Examples
    --------
    >>> bc.make_aligned_dtype([("flag", "i1"), ("z", "c16")]).itemsize
    32
    """
    made, needed = _aligned(np.dtype(dtype), recurse)
    if alignment == -1 or made.names is None:
        return made
    if alignment < 1 or alignment & (alignment - 1):
        raise ValueError(f"make_aligned_dtype: expected a power of two for 'alignment', got {alignment}")
    if alignment < needed:
        raise ValueError(f"make_aligned_dtype: the fields need an alignment of {needed}, got {alignment}")
    return _structure([(name, *made.fields[name][:2]) for name in made.names], alignment)  # type: ignore[index]


def _aligned(dtype: np.dtype[Any], recurse: bool) -> tuple[np.dtype[Any], int]:
    """A dtype with its fields aligned, and the alignment that it needs."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        made, needed = _aligned(base, recurse)
        return np.dtype((made, shape)), needed
    if dtype.names is None:
        return dtype, dtype.itemsize if dtype.kind == "c" else dtype.alignment
    fields: list[tuple[str, np.dtype[Any], int]] = []
    end, largest = 0, 1
    for name in dtype.names:
        inner = dtype.fields[name][0]  # type: ignore[index]
        part, needed = _aligned(inner, recurse) if recurse or inner.names is None else (inner, inner.alignment)
        start = -(-end // needed) * needed
        fields.append((name, part, start))
        end, largest = start + part.itemsize, max(largest, needed)
    return _structure(fields, largest), largest


def _structure(fields: list[tuple[str, np.dtype[Any], int]], alignment: int) -> np.dtype[Any]:
    end = max((start + part.itemsize for _, part, start in fields), default=0)
    names, parts, starts = zip(*fields, strict=True) if fields else ((), (), ())
    size = -(-end // alignment) * alignment
    return np.dtype({"names": list(names), "formats": list(parts), "offsets": list(starts), "itemsize": size}, align=True)
