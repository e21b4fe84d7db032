"""Axes as numbers from 0, and the bytes that an array lies in."""

from __future__ import annotations

from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from .._broadcloth import ndarray
from .._namespace import listing

__all__ = ["byte_bounds", "normalize_axis_index", "normalize_axis_tuple"]


def byte_bounds(a: ndarray) -> tuple[int, int]:
    """The address of an array's first byte, and that behind its last one. Computes the array if it is pending.

    Examples
    --------
    >>> low, high = bc.lib.array_utils.byte_bounds(bc.zeros(4))
    >>> high - low
    32
    """
    first = last = a.__array_interface__["data"][0] if a.device.type == "cpu" else a.__cuda_array_interface__["data"][0]
    if a.size == 0:
        return first, first
    for extent, stride in zip(a.shape, a.strides, strict=True):
        if stride < 0:
            first += (extent - 1) * stride
        else:
            last += (extent - 1) * stride
    return first, last + a.itemsize

__dir__ = listing(__all__)
