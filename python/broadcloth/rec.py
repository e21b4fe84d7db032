"""Arrays of records from columns and rows, as in numpy.rec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._namespace import listing
from ._records import RecordArray as recarray
from ._records import create, records

__all__ = ["array", "format_parser", "fromarrays", "fromrecords", "recarray"]

format_parser = np.rec.format_parser


def _wanted(dtype: Any, formats: Any, names: Any, titles: Any, aligned: bool, byteorder: Any) -> np.dtype[Any] | None:
    if dtype is not None:
        return np.dtype(dtype)
    return None if formats is None else format_parser(formats, names, titles, aligned, byteorder).dtype


def fromarrays(
    arrayList: Sequence[Any],
    dtype: Any = None,
    shape: Any = None,
    formats: Any = None,
    names: Any = None,
    titles: Any = None,
    aligned: bool = False,
    byteorder: Any = None,
) -> recarray:
    """Records whose fields are arrays.

    Parameters
    ----------
    arrayList : sequence of array_likes
        The fields' values.
    dtype : structured dtype, optional
    shape : int or tuple of int, optional
        Of the result; that of the first array unless given.
    formats, names, titles, aligned, byteorder : optional
        As those of numpy.format_parser(), where no `dtype` is given.

    Raises
    ------
    ValueError
        Not as many arrays as fields, or arrays of several shapes.

    Examples
    --------
    >>> r = bc.rec.fromarrays([bc.array([1, 2]), bc.array([0.5, 1.5])], names="n,x")
    >>> r.x
    array([0.5, 1.5])
    """
    columns = [_c.asarray(a) for a in arrayList]
    wanted = _wanted(dtype, formats, names, titles, aligned, byteorder)
    if wanted is None:
        wanted = format_parser([c.dtype.str for c in columns], names, titles, aligned, byteorder).dtype
    assert wanted.names is not None
    if len(wanted.names) != len(columns):
        raise ValueError("mismatch between the number of fields in record dtype and the number of arrays")
    first = columns[0].shape
    extents = first[: len(first) - wanted[0].ndim] if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    made = create(extents, wanted, columns[0].device)
    for name, column in zip(wanted.names, columns):
        if column.shape != made[name].shape:
            raise ValueError(f"mismatch of shapes: field {name!r} has {made[name].shape}, its array {column.shape}")
        made[name] = column
    return made


def fromrecords(
    recList: Any,
    dtype: Any = None,
    shape: Any = None,
    formats: Any = None,
    names: Any = None,
    titles: Any = None,
    aligned: bool = False,
    byteorder: Any = None,
) -> recarray:
    """Records from a list of tuples.

    Parameters
    ----------
    recList : sequence of tuples
    dtype, shape, formats, names, titles, aligned, byteorder : optional
        As those of fromarrays(); without a dtype the columns tell.

    Examples
    --------
    >>> bc.rec.fromrecords([(1, 2.5), (3, 4.5)], names="n,x").n
    array([1, 3])
    """
    made: Any = np.rec.fromrecords(recList, dtype, shape, formats, names, titles, aligned, byteorder)
    return records(made.view(np.ndarray).view(np.dtype(made.dtype.descr)))


def array(
    obj: Any,
    dtype: Any = None,
    shape: Any = None,
    offset: int = 0,
    strides: Any = None,
    formats: Any = None,
    names: Any = None,
    titles: Any = None,
    aligned: bool = False,
    byteorder: Any = None,
    copy: bool = True,
) -> recarray:
    """Records from arrays of records, lists of tuples, lists of arrays, or bytes.

    Parameters
    ----------
    obj : array of records, sequence or bytes
    dtype, shape, offset, strides, formats, names, titles, aligned, byteorder, copy : optional
        As those of numpy.rec.array().

    Examples
    --------
    >>> bc.rec.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("x", "f8")]).x
    array([2.5, 4.5])
    """
    if isinstance(obj, recarray):
        wanted = _wanted(dtype, formats, names, titles, aligned, byteorder)
        same = obj if wanted is None else obj.astype(wanted, copy=False)
        return same.copy() if copy and same is obj else same
    if isinstance(obj, (list, tuple)) and obj and isinstance(obj[0], _c.ndarray):
        return fromarrays(obj, dtype, shape, formats, names, titles, aligned, byteorder)
    made: Any = np.rec.array(obj, dtype, shape, offset, strides, formats, names, titles, aligned, byteorder, copy)
    return records(made.view(np.ndarray).view(np.dtype((np.void, made.dtype)) if made.dtype.names is None else made.dtype))

__dir__ = listing(__all__)
