"""Reductions, scans and what is made of them."""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._warnings import warn

if TYPE_CHECKING:
    from .typing import ArrayLike, AxisLike, DTypeLike

_NoValue: Any = np._NoValue  # type: ignore[attr-defined]
_reduce = _c.reduce
_ufuncs = _c.ufuncs
_asarray = _c.asarray


def _run(op: str, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> ndarray:
    keep = False if keepdims is _NoValue else keepdims
    mask = True if where is _NoValue else where
    if initial is _NoValue:
        return _reduce(op, a, axis, dtype, out, keep, where=mask)
    return _reduce(op, a, axis, dtype, out, keep, initial, mask)


_REDUCTION_DOC = """{summary}

    Parameters
    ----------
    a : array_like
    axis : None, int or tuple of ints
        The axes to reduce; all of them unless given.
{more}    out : ndarray, optional
        Where the result goes; it must have the result's shape.
    keepdims : bool
        Whether the reduced axes stay, with extent 1.
{tail}
    Returns
    -------
    ndarray
        A 0-d array for a full reduction: `float()` or `.item()` looks at the value.

    Raises
    ------
    AxisError
        An axis is out of bounds.
{raises}
    Examples
    --------
{example}
    """

_DTYPE = "    dtype : dtype, optional\n        The type to accumulate in and to return; integers narrower than 64 bits are summed in 64.\n"
_WHERE = "    where : array_like of bool\n        Which elements count.\n"
_INITIAL = "    initial : scalar\n        What the reduction starts from.\n"
_EMPTY = "    ValueError\n        Nothing to reduce, and no `initial`.\n"


def _document(function: Any, summary: str, example: str, more: str = "", tail: str = "", raises: str = "") -> None:
    lines = "\n".join("    " + line for line in example.splitlines())
    function.__doc__ = _REDUCTION_DOC.format(summary=summary, more=more, tail=tail, raises=raises, example=lines)


def sum(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = _NoValue,
    where: ArrayLike = True,
) -> ndarray:
    if initial is _NoValue:
        return _reduce("sum", a, axis, dtype, out, False if keepdims is _NoValue else keepdims, where=True if where is _NoValue else where)
    return _run("sum", a, axis, dtype, out, keepdims, initial, where)


def prod(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = _NoValue,
    where: ArrayLike = True,
) -> ndarray:
    return _run("prod", a, axis, dtype, out, keepdims, initial, where)


def max(
    a: ArrayLike,
    axis: AxisLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = _NoValue,
    where: ArrayLike = True,
) -> ndarray:
    return _run("max", a, axis, None, out, keepdims, initial, where)


def min(
    a: ArrayLike,
    axis: AxisLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = _NoValue,
    where: ArrayLike = True,
) -> ndarray:
    return _run("min", a, axis, None, out, keepdims, initial, where)


amax, amin = max, min


def any(a: ArrayLike, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False, *, where: ArrayLike = True) -> ndarray:
    return _run("any", a, axis, None, out, keepdims, _NoValue, where)


def all(a: ArrayLike, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False, *, where: ArrayLike = True) -> ndarray:
    return _run("all", a, axis, None, out, keepdims, _NoValue, where)


def mean(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> ndarray:
    return _run("mean", a, axis, dtype, out, keepdims, _NoValue, where)


def _spread(
    op: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: float, keepdims: Any, where: Any, given_mean: Any, correction: Any
) -> ndarray:
    if correction is not _NoValue:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    x = _c.asanyarray(a)
    options: dict[str, Any] = {
        "ddof": ddof,
        "keepdims": False if keepdims is _NoValue else keepdims,
        "where": True if where is _NoValue else where,
    }
    if given_mean is not _NoValue:
        options["mean"] = given_mean
    return getattr(x, op)(axis, dtype, out, **options)


def var(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: Any = _NoValue,
    correction: Any = _NoValue,
) -> ndarray:
    return _spread("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def std(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: Any = _NoValue,
    correction: Any = _NoValue,
) -> ndarray:
    return _spread("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def _index_output(out: Any) -> Any:
    """`out`, which must hold indices: NumPy takes the dtypes that convert to int64 safely."""
    dtype = getattr(out[0] if isinstance(out, tuple) and out else out, "dtype", None)
    if dtype is not None and not _c.can_cast(dtype, np.int64, "safe"):
        raise TypeError(f"Cannot cast array data from dtype('{dtype}') to dtype('int64') according to the rule 'safe'")
    return out


def _truth(keepdims: Any) -> bool:
    """`keepdims` where NumPy asks for its truth; elsewhere it must be an integer."""
    return keepdims is not _NoValue and bool(keepdims)


def argmax(a: ArrayLike, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
    return _run("argmax", a, axis, None, _index_output(out), _truth(keepdims), _NoValue, True)


def argmin(a: ArrayLike, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
    return _run("argmin", a, axis, None, _index_output(out), _truth(keepdims), _NoValue, True)


def count_nonzero(a: ArrayLike, axis: AxisLike = None, *, keepdims: bool = False) -> ndarray:
    if axis is None and keepdims is False:
        return _reduce("count_nonzero", a)
    return _run("count_nonzero", a, axis, None, None, keepdims if _truth(keepdims) or axis is not None else False, _NoValue, True)


def ptp(a: ArrayLike, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    return _c.asanyarray(a).ptp(axis, out, False if keepdims is _NoValue else keepdims)


_document(
    sum,
    "Sum of the elements, pairwise or better.",
    ">>> bc.sum(bc.array([[1, 2], [3, 4]]), axis=0)\narray([4, 6])",
    _DTYPE,
    _INITIAL + _WHERE,
)
_document(prod, "Product of the elements.", ">>> bc.prod([2, 3, 4])\narray(24)", _DTYPE, _INITIAL + _WHERE)
_document(max, "The largest element; NaN where there is one.", ">>> bc.max([3, 1, 2])\narray(3)", "", _INITIAL + _WHERE, _EMPTY)
_document(min, "The smallest element; NaN where there is one.", ">>> bc.min([3, 1, 2])\narray(1)", "", _INITIAL + _WHERE, _EMPTY)
_document(any, "Tells whether any element is true.", ">>> bc.any([0, 1, 0])\narray(True)", "", _WHERE)
_document(all, "Tells whether all elements are true.", ">>> bc.all([0, 1, 0])\narray(False)", "", _WHERE)
_document(mean, "The arithmetic mean; of integers as float64.", ">>> bc.mean([1, 2, 4, 5])\narray(3.)", _DTYPE, _WHERE)
_DDOF = (
    "    ddof, correction : number\n"
    "        What is taken off the number of elements before the division.\n"
    "    mean : ndarray, optional\n"
    "        The mean, where it is known (with the reduced axes kept).\n"
)
_document(var, "The variance, in one pass over the elements.", ">>> bc.var([1.0, 2.0, 3.0, 4.0])\narray(1.25)", _DTYPE, _DDOF + _WHERE)
_document(
    std, "The standard deviation, in one pass over the elements.", ">>> bc.std([1.0, 1.0, 3.0, 3.0])\narray(1.)", _DTYPE, _DDOF + _WHERE
)
_document(
    argmax,
    "The index of the first largest element (of the first NaN where there is one).",
    ">>> bc.argmax([3, 7, 7])\narray(1)",
    "",
    "",
    _EMPTY,
)
_document(
    argmin,
    "The index of the first smallest element (of the first NaN where there is one).",
    ">>> bc.argmin([3, 1, 1])\narray(1)",
    "",
    "",
    _EMPTY,
)
_document(count_nonzero, "How many elements are not zero.", ">>> bc.count_nonzero([0, 3, 0, 4])\narray(2)")
_document(ptp, "The largest element minus the smallest.", ">>> bc.ptp([3, 9, 5])\narray(6)", "", "", _EMPTY)


@overload
def average(
    a: ArrayLike, axis: AxisLike = None, weights: ArrayLike | None = None, returned: Literal[False] = False, *, keepdims: bool = False
) -> ndarray: ...
@overload
def average(
    a: ArrayLike, axis: AxisLike = None, weights: ArrayLike | None = None, *, returned: Literal[True], keepdims: bool = False
) -> tuple[ndarray, ndarray]: ...
def average(
    a: ArrayLike, axis: AxisLike = None, weights: ArrayLike | None = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """The weighted mean.

    Parameters
    ----------
    a : array_like
    axis : None, int or tuple of ints
    weights : array_like, optional
        As many as elements, or as the extents along `axis`.
    returned : bool
        Whether the sum of the weights is returned too.

    Raises
    ------
    ZeroDivisionError
        The weights add up to zero.
    TypeError, ValueError
        The shape of the weights does not fit.

    Examples
    --------
    >>> bc.average([1.0, 2.0, 3.0], weights=[3, 1, 0])
    array(1.25)
    """
    result, scale = _c.average(a, axis, weights, keepdims=bool(operator.index(False if keepdims is _NoValue else keepdims)))
    return (result, scale) if returned else result


# ---- NaN left out ---------------------------------------------------------------------------------------------------------------------


def _run_nan(function: Any, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> ndarray:
    keep = False if keepdims is _NoValue else keepdims
    mask = True if where is _NoValue else where
    if initial is _NoValue:
        return function(a, axis, dtype, out, keep, where=mask)
    return function(a, axis, dtype, out, keep, initial, mask)


def nansum(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = _NoValue,
    where: ArrayLike = True,
) -> ndarray:
    """Sum of the elements that are not NaN.

    Examples
    --------
    >>> bc.nansum([1.0, bc.nan, 2.0])
    array(3.)
    """
    return _run_nan(_c.nansum, a, axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = _NoValue,
    where: ArrayLike = True,
) -> ndarray:
    """Product of the elements that are not NaN.

    Examples
    --------
    >>> bc.nanprod([2.0, bc.nan, 3.0])
    array(6.)
    """
    return _run_nan(_c.nanprod, a, axis, dtype, out, keepdims, initial, where)


def nanmax(
    a: ArrayLike,
    axis: AxisLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = _NoValue,
    where: ArrayLike = True,
) -> ndarray:
    """The largest element that is not NaN; NaN where there is none, without a warning (which would have to look).

    Examples
    --------
    >>> bc.nanmax([1.0, bc.nan, 2.0])
    array(2.)
    """
    return _run_nan(_c.nanmax, a, axis, None, out, keepdims, initial, where)


def nanmin(
    a: ArrayLike,
    axis: AxisLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = _NoValue,
    where: ArrayLike = True,
) -> ndarray:
    """The smallest element that is not NaN; NaN where there is none, without a warning (which would have to look).

    Examples
    --------
    >>> bc.nanmin([1.0, bc.nan, 2.0])
    array(1.)
    """
    return _run_nan(_c.nanmin, a, axis, None, out, keepdims, initial, where)


def _present(x: ndarray, where: Any) -> ndarray:
    there = _ufuncs["logical_not"](_ufuncs["isnan"](x))
    return there if where is True or where is _NoValue else _ufuncs["logical_and"](there, where)


def _nan_spread(
    function: Any, a: Any, axis: Any, dtype: Any, out: Any, ddof: float, keepdims: Any, where: Any, given_mean: Any, correction: Any
) -> ndarray:
    if correction is not _NoValue:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    keep = False if keepdims is _NoValue else keepdims
    mask = True if where is _NoValue else where
    if given_mean is _NoValue:
        return function(a, axis, dtype, out, keep, where=mask, ddof=ddof)
    x, op = _asarray(a), "std" if function is _c.nanstd else "var"
    if x.dtype.kind not in "fc":
        return _spread(op, x, axis, dtype, out, ddof, keep, mask, given_mean, _NoValue)
    present = _present(x, mask)
    result = _spread(op, x, axis, dtype, None, ddof, keep, present, _asarray(given_mean).astype(x.dtype, copy=False), _NoValue)
    count = _reduce("count_nonzero", present, axis, None, None, keep)
    return _into(out, _c.where(count > ddof, result, _c.full((), np.nan, result.dtype, device=result.device)))


def _into(out: Any, result: ndarray) -> ndarray:
    if out is None:
        return result
    _c.copyto(out, result)
    return out


def nanmean(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> ndarray:
    """The mean of the elements that are not NaN; NaN where there is none.

    Examples
    --------
    >>> bc.nanmean([1.0, bc.nan, 3.0])
    array(2.)
    """
    return _run_nan(_c.nanmean, a, axis, dtype, out, keepdims, _NoValue, where)


def nanvar(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: Any = _NoValue,
    correction: Any = _NoValue,
) -> ndarray:
    """The variance of the elements that are not NaN; NaN where fewer than `ddof` + 1 are left.

    Examples
    --------
    >>> bc.nanvar([1.0, bc.nan, 3.0])
    array(1.)
    """
    return _nan_spread(_c.nanvar, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def nanstd(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: Any = _NoValue,
    correction: Any = _NoValue,
) -> ndarray:
    """The standard deviation of the elements that are not NaN; NaN where fewer than `ddof` + 1 are left.

    Examples
    --------
    >>> bc.nanstd([1.0, bc.nan, 3.0])
    array(1.)
    """
    return _nan_spread(_c.nanstd, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def nanargmax(a: ArrayLike, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
    """The index of the first largest element that is not NaN.

    Raises
    ------
    ValueError
        A slice holds only NaN.

    Examples
    --------
    >>> bc.nanargmax([1.0, bc.nan, 2.0])
    array(2)
    """
    return _c.nanargmax(a, axis, False if keepdims is _NoValue else keepdims, out)


def nanargmin(a: ArrayLike, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray:
    """The index of the first smallest element that is not NaN.

    Raises
    ------
    ValueError
        A slice holds only NaN.

    Examples
    --------
    >>> bc.nanargmin([bc.nan, 1.0, 2.0])
    array(1)
    """
    return _c.nanargmin(a, axis, False if keepdims is _NoValue else keepdims, out)


# ---- Scans ------------------------------------------------------------------------------------------------------------------------------


def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray:
    """Running sums along an axis; over the flattened array unless one is given.

    Examples
    --------
    >>> bc.cumsum([1, 2, 3])
    array([1, 3, 6])
    """
    return _c.cumsum(a, axis, dtype, out)


def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray:
    """Running products along an axis; over the flattened array unless one is given.

    Examples
    --------
    >>> bc.cumprod([1, 2, 3])
    array([1, 2, 6])
    """
    return _c.cumprod(a, axis, dtype, out)


def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray:
    """Running sums in which NaN counts as zero.

    Examples
    --------
    >>> bc.nancumsum([1.0, bc.nan, 2.0])
    array([1., 1., 3.])
    """
    return _c.nancumsum(a, axis, dtype, out)


def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray:
    """Running products in which NaN counts as one.

    Examples
    --------
    >>> bc.nancumprod([1.0, bc.nan, 2.0])
    array([1., 1., 2.])
    """
    return _c.nancumprod(a, axis, dtype, out)


def _cumulative(op: str, x: Any, axis: int | None, dtype: Any, out: Any, include_initial: bool, start: int) -> ndarray:
    a = _c.atleast_1d(x)
    if axis is None:
        if a.ndim != 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    if not include_initial:
        return getattr(a, op)(axis, dtype, out)
    scanned = getattr(a, op)(axis, dtype)
    shape = list(scanned.shape)
    shape[axis] = 1
    result = _c.concatenate([_c.full(shape, start, scanned.dtype, device=a.device), scanned], axis)
    if out is None:
        return result
    _c.copyto(out, result, "unsafe")  # as scans write to any output
    return out


def cumulative_sum(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None, include_initial: bool = False
) -> ndarray:
    """Running sums along an axis, with a leading zero when asked.

    Examples
    --------
    >>> bc.cumulative_sum(bc.array([1, 2, 3]), include_initial=True)
    array([0, 1, 3, 6])
    """
    return _cumulative("cumsum", x, axis, dtype, out, include_initial, 0)


def cumulative_prod(
    x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None, include_initial: bool = False
) -> ndarray:
    """Running products along an axis, with a leading one when asked.

    Examples
    --------
    >>> bc.cumulative_prod(bc.array([1, 2, 3]), include_initial=True)
    array([1, 1, 2, 6])
    """
    return _cumulative("cumprod", x, axis, dtype, out, include_initial, 1)


# ---- Statistics made of sums --------------------------------------------------------------------------------------------------------


def _check_moments(dtype: Any) -> None:
    """Means are no integers: NumPy's complaint."""
    if dtype is not None and (t := np.dtype(dtype)).kind in "biu":
        raise _c.UFuncTypeError(f"Cannot cast ufunc 'subtract' output from dtype('float64') to dtype('{t}') with casting rule 'same_kind'")


def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike = None,
) -> ndarray:
    """The covariance matrix of variables in rows (columns unless `rowvar`).

    Parameters
    ----------
    m, y : array_like
        Variables and their observations; those of `y` come after those of `m`.
    bias : bool
        Whether to divide by the number of observations, not by one less.
    ddof : int, optional
        What is taken off the number of observations, in the place of `bias`.
    fweights : array_like of int, optional
        How often each observation counts. Weights are looked at on the host.
    aweights : array_like, optional
        How much each observation weighs.
    dtype : dtype, optional

    Raises
    ------
    ValueError
        More than two dimensions, or a negative weight.
    TypeError
        `fweights` are no whole numbers.
    RuntimeError
        There are not as many weights as observations.
    ZeroDivisionError
        The weights add up to zero.

    Examples
    --------
    >>> bc.cov(bc.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    _check_moments(dtype)
    bias = bool(bias != 0)  # NumPy compares: None and "" divide by the number of observations
    if fweights is not None or aweights is not None:
        return _weighted_cov(m, y, rowvar, (0 if bias else 1) if ddof is None else ddof, fweights, aweights, dtype)
    result = _c.cov(m if dtype is None else _asarray(m).astype(dtype, copy=False), y, rowvar, bias, ddof)
    return result if dtype is None else result.astype(dtype, copy=False)


def _variables(m: Any, name: str) -> ndarray:
    x = _asarray(m)
    if x.ndim > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    return x


def _weights(given: Any, name: str, samples: int) -> Any:
    w = np.asarray(_c.asnumpy(given), np.float64)
    if name == "fweights" and not np.all(w == np.around(w)):
        raise TypeError("fweights must be integer")
    if w.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if w.shape[0] != samples:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if np.any(w < 0):
        raise ValueError(f"{name} cannot be negative")
    return w


def _weighted_cov(m: Any, y: Any, rowvar: bool, ddof: float, fweights: Any, aweights: Any, dtype: Any) -> ndarray:
    x = _variables(m, "m")
    other = None if y is None else _variables(y, "y")
    if dtype is None:
        dtype = np.result_type(x.dtype, np.float64, *(() if other is None else (other.dtype,)))
    flat = x.ndim == 1
    x = x.astype(dtype, copy=False).reshape((1,) * (2 - x.ndim) + x.shape)
    if not rowvar and not flat:
        x = x.T
    if x.shape[0] == 0:
        return _c.empty((0, 0), x.dtype, device=x.device)
    if other is not None:
        other = other.astype(dtype, copy=False).reshape((1,) * (2 - other.ndim) + other.shape)
        x = _c.concatenate([x, other.T if not rowvar and other.shape[0] != 1 else other], 0)
    counts = None if fweights is None else _weights(fweights, "fweights", x.shape[1])
    heavy = None if aweights is None else _weights(aweights, "aweights", x.shape[1])
    w: Any = heavy if counts is None else counts if heavy is None else counts * heavy
    total = w.sum()
    if total == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    left = total - (0 if ddof == 0 else ddof if heavy is None else ddof * np.sum(w * heavy) / total)
    if left <= 0:
        warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
        left = 0.0
    weights = _asarray(w, device=x.device)
    x = (x - _reduce("sum", x * weights, 1, None, None, True) / total).astype(x.dtype, copy=False)
    c = _c.matmul(x, _ufuncs["conjugate"](x * weights).T)
    return (c * (np.inf if left == 0 else 1 / left)).squeeze()


def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> ndarray:
    """The matrix of Pearson's correlation coefficients.

    Examples
    --------
    >>> bc.corrcoef(bc.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    _check_moments(dtype)
    result = _c.corrcoef(x if dtype is None else _asarray(x).astype(dtype, copy=False), y, rowvar)
    return result if dtype is None else result.astype(dtype, copy=False)


_count_few = _c.bincount_small


def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0) -> ndarray:
    """How often each value occurs among non-negative integers, or the sum of their weights.

    Parameters
    ----------
    x : array_like of int, 1-d
    weights : array_like, optional
        What each element counts for.
    minlength : int
        How many counts there are at least.

    Raises
    ------
    ValueError
        A value or `minlength` is negative, or `x` is not 1-d.
    TypeError
        `x` holds no integers.

    Examples
    --------
    >>> bc.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    >>> bc.bincount([0, 1, 1], weights=[0.5, 1.0, 2.0])
    array([0.5, 3. ])
    """
    if isinstance(x, ndarray) and (weights is None or isinstance(weights, ndarray)) and type(minlength) is int and minlength >= 0:
        few = _count_few(x, weights, minlength)
        if few is not None:
            return few
    values = _c.asarray(x)
    if values.ndim != 1:
        raise ValueError("object too deep for desired array" if values.ndim else "object of too small depth for desired array")
    least = operator.index(minlength)
    if least < 0:
        raise ValueError("'minlength' must not be negative")
    if values.size == 0 and not hasattr(x, "dtype"):  # an empty list has no type yet
        return _c.zeros(least, np.int64, device=values.device)
    if values.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from dtype('{values.dtype}') to dtype('int64') according to the rule 'safe'")
    if values.size == 0:
        return _c.zeros(least, np.int64, device=values.device)
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    each: Any = None
    if weights is not None:
        each = _c.asarray(weights, device=values.device)
        if each.dtype.kind in "cmM":
            raise TypeError(f"Cannot cast array data from dtype('{each.dtype}') to dtype('float64') according to the rule 'safe'")
        each = each.astype(np.float64, copy=False)
        if each.shape != values.shape:
            raise ValueError("The weights and list don't have the same length.")
    few = _count_few(values, each, least)
    if few is not None:
        return few
    # Seen as unsigned numbers, negative ones are the largest: one maximum tells both bounds.
    width = 8 * values.dtype.itemsize
    most = int(values.astype(f"uint{width}", copy=False).max())
    if values.dtype.kind == "i" and most >> (width - 1):
        raise ValueError("'list' argument must have no negative elements")
    if each is None:
        each = _c.ones((), np.int64, device=values.device)
    return _c.count_places(values, builtins.max(most + 1, least), each)
