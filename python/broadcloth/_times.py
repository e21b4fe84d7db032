"""Dates and time differences: what NumPy has for them beside arithmetic, which is the engine's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._warnings import warn

if TYPE_CHECKING:
    from .typing import ArrayLike, Casting, DTypeLike, Order

datetime64, timedelta64, busdaycalendar = np.datetime64, np.timedelta64, np.busdaycalendar


def isnat(
    x: ArrayLike,
    /,
    out: ndarray | None = None,
    *,
    where: Any = True,
    casting: Casting = "same_kind",
    order: Order = "K",
    dtype: DTypeLike = None,
    subok: bool = True,
    signature: Any = None,
) -> ndarray:
    """Where dates or time differences are NaT, "not a time".

    Parameters
    ----------
    x : array_like of datetime64 or timedelta64
    out : ndarray, optional
        Where the result goes.
    where : array_like of bool
        Elements of `out` where it is false keep their value; without `out` those of the result are false.
    dtype, signature : optional
        The result's type: bool, or 'M->?' and 'm->?'.
    casting, order, subok
        For programs written for NumPy.

    Raises
    ------
    TypeError
        `x` holds no times, or another type is asked for.

    Examples
    --------
    >>> bc.isnat(bc.array(["2020-01-01", "NaT"], dtype="M8[D]"))
    array([False,  True])
    """
    if (dtype is not None and np.dtype(dtype) != np.bool_) or signature not in (None, "M->?", "m->?"):
        raise TypeError("No loop matching the specified signature and casting was found for ufunc isnat")
    found = _c.is_nat(x)
    if where is not True:
        found = _c.where(where, found, False if out is None else out)
    if out is None:
        return found
    out[...] = found
    return out


def datetime_data(dtype: DTypeLike, /) -> tuple[str, int]:
    """The unit of a dtype of times, and how many of it a step is.

    Examples
    --------
    >>> bc.datetime_data(np.dtype("M8[15m]"))
    ('m', 15)
    """
    found: Any = np.dtype(dtype)
    return np.datetime_data(found)


def _on_host(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """NumPy's function on host copies, its result as an array where the first array lies; a warning says so for arrays of a GPU."""
    values = [*args, *keywords.values()]
    device = next((v.device for v in values if isinstance(v, ndarray)), None)
    if device is not None and device.type != "cpu":
        from .exceptions import PerformanceWarning

        warn(f"{function.__name__} is computed by NumPy on copies in host memory", PerformanceWarning)
    hosted = [v.get() if isinstance(v, ndarray) else v for v in args]
    out = keywords.pop("out", None)
    found = function(*hosted, **{k: v.get() if isinstance(v, ndarray) else v for k, v in keywords.items()})
    if out is None:
        return _c.asarray(found, device=device)
    out[...] = found
    return out


def datetime_as_string(arr: ArrayLike, unit: str | None = None, timezone: Any = "naive", casting: str = "same_kind") -> Any:
    """Dates as text: a numpy.ndarray of strings, which stay on the host.

    Parameters
    ----------
    arr : array_like of datetime64
    unit : str, optional
        Of the text, or 'auto'; the array's unit unless given.
    timezone : {'naive', 'UTC', 'local'} or tzinfo
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Whether the text may say less than the dates do.

    Examples
    --------
    >>> bc.datetime_as_string(bc.array(["2020-02-29T12"], dtype="M8[h]"), unit="D", casting="unsafe").tolist()
    ['2020-02-29']
    """
    host = arr.get() if isinstance(arr, ndarray) else arr
    return np.datetime_as_string(host, unit=unit, timezone=timezone, casting=casting)  # type: ignore[call-overload]


def is_busday(
    dates: ArrayLike, weekmask: Any = "1111100", holidays: Any = None, busdaycal: Any = None, out: ndarray | None = None
) -> ndarray:
    """Which dates are business days. NumPy computes it on the host; for arrays of a GPU with a `PerformanceWarning`.

    Parameters
    ----------
    dates : array_like of datetime64[D]
    weekmask : str or array_like of bool
        Which of the seven days from Monday on are business days.
    holidays : array_like of datetime64[D], optional
    busdaycal : busdaycalendar, optional
        Holds both; then neither is given.
    out : ndarray, optional
        Where the result goes.

    Examples
    --------
    >>> bc.is_busday(bc.array(["2020-02-28", "2020-02-29"], dtype="M8[D]"))
    array([ True, False])
    """
    return _on_host(np.is_busday, dates, out=out, **_calendar(weekmask, holidays, busdaycal))


def busday_count(
    begindates: ArrayLike,
    enddates: ArrayLike,
    weekmask: Any = "1111100",
    holidays: Any = (),
    busdaycal: Any = None,
    out: ndarray | None = None,
) -> ndarray:
    """How many business days lie from the first dates on and before the second. NumPy computes it on the host, as is_busday().

    Parameters
    ----------
    begindates, enddates : array_like of datetime64[D]
    weekmask, holidays, busdaycal
        As those of is_busday().
    out : ndarray, optional
        Where the result goes.

    Examples
    --------
    >>> int(bc.busday_count("2020-02-03", "2020-02-10"))
    5
    """
    return _on_host(np.busday_count, begindates, enddates, out=out, **_calendar(weekmask, holidays, busdaycal))


def busday_offset(
    dates: ArrayLike,
    offsets: ArrayLike,
    roll: str = "raise",
    weekmask: Any = "1111100",
    holidays: Any = None,
    busdaycal: Any = None,
    out: ndarray | None = None,
) -> ndarray:
    """Dates so many business days later. NumPy computes it on the host, as is_busday().

    Parameters
    ----------
    dates : array_like of datetime64[D]
    offsets : array_like of int
    roll : {'raise', 'nat', 'forward', 'following', 'backward', 'preceding', 'modifiedfollowing', 'modifiedpreceding'}
        What happens to dates that are no business days, before the offset is added.
    weekmask, holidays, busdaycal
        As those of is_busday().
    out : ndarray, optional
        Where the result goes.

    Examples
    --------
    >>> bc.busday_offset("2020-02-28", [1, 2])
    array(['2020-03-02', '2020-03-03'], dtype='datetime64[D]')
    """
    return _on_host(np.busday_offset, dates, offsets, roll=roll, out=out, **_calendar(weekmask, holidays, busdaycal))


def _calendar(weekmask: Any, holidays: Any, busdaycal: Any) -> dict[str, Any]:
    if busdaycal is None:
        return {"weekmask": weekmask, "holidays": () if holidays is None else holidays}
    if weekmask != "1111100" or (holidays is not None and len(holidays)):
        raise ValueError("Cannot supply both the weekmask/holidays and the busdaycal parameters")
    return {"busdaycal": busdaycal}
