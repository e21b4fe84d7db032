"""Extremes of compressed matrices: what is not stored is zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import broadcloth as bc

from ..._broadcloth import ndarray
from ._base import normal_axis
from ._rows import Rows

EXTREMES = {"max": "maximum", "min": "minimum", "nanmax": "fmax", "nanmin": "fmin"}


def extreme_of(data: ndarray, name: str, shape: tuple[int, ...], explicit: bool) -> Any:
    """The extreme of a matrix' elements, of which no two have the same place, and of the zeros that are not stored."""
    op = getattr(bc, name)
    best = op.reduce(data)
    return best if explicit or data.size == math.prod(shape) else op(best, False if data.dtype.kind == "b" else 0)


def extreme(a: Any, axis: Any, name: str, explicit: bool) -> Any:
    """The maximum or minimum of all elements, or a sparse matrix of those along an axis."""
    op = getattr(bc, name)
    axis = normal_axis(axis, a.ndim)
    if axis is None or a.ndim == 1:
        if 0 in a.shape:
            raise ValueError("zero-size array to reduction operation")
        a._find_canonical()
        data = a.data if a._canonical else a._own_rows().summed().data
        return extreme_of(data, name, a.shape, explicit) if data.size else bc.zeros((), a.dtype, device=a.device)
    rows = _along(a, axis).summed()
    if rows.columns == 0:
        raise ValueError("zero-size array to reduction operation")
    counts = rows.indptr[1:] - rows.indptr[:-1]
    best = _of_rows(rows, op)
    if not explicit:
        best = bc.where(counts < rows.columns, op(best, bc.zeros((), a.dtype, device=a.device)), best)
    found = bc.where(counts > 0, best, bc.zeros((), a.dtype, device=a.device))
    shape = (found.size,) if a._is_array() else (1, found.size) if axis == 0 else (found.size, 1)
    return a._kind("coo")(found.reshape(shape))


def _along(a: Any, axis: int) -> Rows:
    """Rows whose elements lie along an axis."""
    return (a.tocsr() if axis == 1 else a.tocsc())._own_rows()


def _of_rows(rows: Rows, op: Any) -> ndarray:
    """op of each row's elements; unspecified for rows without any."""
    if rows.size == 0 or rows.count == 0:
        return bc.zeros(rows.count, rows.data.dtype, device=rows.device)
    # One element more: empty rows may begin behind the last element, and the last row must end.
    data = bc.concatenate([rows.data, bc.zeros(1, rows.data.dtype, device=rows.device)])
    return op.reduceat(data, rows.indptr)[:-1]


def arg_extreme(a: Any, axis: Any, greatest: bool, explicit: bool) -> Any:
    """Where the first maximum or minimum is; NaNs are greatest and least."""
    axis = normal_axis(axis, a.ndim)
    if axis is None or a.ndim == 1:
        if 0 in a.shape:
            raise ValueError("Cannot apply the operation to an empty matrix.")
        rows = a.tocsr()._own_rows().summed()
        if explicit and rows.size == 0:
            raise ValueError("Cannot apply the operation to a matrix without stored elements.")
        place = _first_stored(rows, greatest, explicit)
        if place is not None:
            return place
        flat = Rows(rows.data, rows.keys(), bc.asarray([0, rows.size], device=a.device), int(np.prod(a._shape2, dtype=object)), True)
        return int(_first(flat, greatest, explicit)[0])
    if a.shape[axis] == 0:
        raise ValueError("Cannot apply the operation along a zero-sized dimension.")
    found = _first(_along(a, axis).summed(), greatest, explicit)
    return found if a._is_array() else bc.expand_dims(found, axis)


def _first_stored(rows: Rows, greatest: bool, explicit: bool) -> int | None:
    """The place of the first extreme element of a canonical matrix, if it is certainly a stored one."""
    at = stored_extreme(rows.data, greatest, explicit, rows.size == rows.count * rows.columns) if rows.size else None
    if at is None:
        return None
    row = int(bc.searchsorted(rows.indptr, at, side="right")) - 1
    return row * rows.columns + int(rows.indices[at])


def stored_extreme(data: ndarray, greatest: bool, explicit: bool, full: bool) -> int | None:
    """The number of the first extreme element, if no zero that is not stored can be the extreme."""
    at = int((bc.argmax if greatest else bc.argmin)(data))
    best = data[at].item()
    return at if explicit or full or best != best or (best > 0 if greatest else best < 0) else None


def _first(rows: Rows, greatest: bool, explicit: bool) -> ndarray:
    """The column of each row's first extreme element, int64."""
    zero = bc.zeros((), rows.data.dtype, device=rows.device)
    if rows.size == 0:
        return bc.zeros(rows.count, np.int64, device=rows.device)
    op = bc.maximum if greatest else bc.minimum
    number = rows.numbers()
    counts = rows.indptr[1:] - rows.indptr[:-1]
    best = _of_rows(rows, op)
    nan = best != best
    value = best[number]
    hit = (rows.data == value) | ((rows.data != rows.data) & nan[number])
    none = np.int64(rows.columns)
    column = bc.full(rows.count, none, np.int64, device=rows.device)
    bc.minimum.at(column, number[hit], rows.indices[hit].astype(np.int64))
    if explicit:
        return bc.where(counts > 0, column, 0)
    # The first column that is not stored: as many elements lie before it as columns.
    rank = bc.arange(rows.size, dtype=np.int64, device=rows.device) - rows.indptr[number]
    hole = counts.astype(np.int64)
    apart = rows.indices != rank
    bc.minimum.at(hole, number[apart], rank[apart])
    has_hole = counts < rows.columns
    zero_wins = has_hole & ~nan & ((best < zero) if greatest else (best > zero)) | (counts == 0)
    tie = has_hole & (best == zero)
    return bc.where(zero_wins, hole, bc.where(tie, bc.minimum(column, hole), column))
