"""Booleans packed into bytes, and integers as text."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._manipulation import normalized_axis

if TYPE_CHECKING:
    from .typing import ArrayLike


# Eight bytes are one word, whose lowest byte comes first in memory on every device. As byte k of the word stands at bit 8k, this factor
# brings the lowest bit of byte k to bit 63 - k (big) or 56 + k (little); no two products meet.
_GATHER = {"big": 0x8040201008040201, "little": 0x0102040810204080}
# Byte k of the word keeps bit 7 - k (big) or bit k (little).
_SPREAD = {"big": 0x0102040810204080, "little": 0x8040201008040201}
_ONES = 0x0101010101010101


def _check_bitorder(bitorder: Any) -> None:
    if not isinstance(bitorder, str):
        raise TypeError(f"bitorder must be str, not {type(bitorder).__name__}")
    if bitorder not in _GATHER:
        raise ValueError("'order' must be either 'little' or 'big'")


def _lines(a: ndarray, axis: Any) -> tuple[ndarray, int]:
    """The array with the axis last (flattened for None), and where that axis was."""
    if axis is None:
        return _c.ravel(a), 0
    if a.ndim == 0:
        a = a.reshape(1)
    at = normalized_axis(axis, a.ndim)
    return _c.moveaxis(a, at, -1), at


def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: str = "big") -> ndarray:
    """Eight booleans an element: bits that are not zero are set.

    Parameters
    ----------
    a : array_like of bool or integers
    axis : int or None
        The axis that is packed, with zeros at its end up to a multiple of 8; None packs the flattened array.
    bitorder : {'big', 'little'}
        Whether the first of eight elements is the highest bit or the lowest.

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError
        The elements are neither booleans nor integers.

    Examples
    --------
    >>> bc.packbits([1, 0, 1, 1])
    array([176], dtype=uint8)
    """
    x = _c.asarray(a)
    if axis is None and bitorder == "big" and (few := _c.packbits_small(x)) is not None:
        return few
    if x.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    _check_bitorder(bitorder)
    if axis is None and bitorder == "big" and x.dtype.itemsize > 1 and (few := _c.packbits_small(x != 0)) is not None:
        return few
    lines, at = _lines(x, axis)
    *lead, n = lines.shape
    if lines.size == 0:
        return _c.moveaxis(_c.zeros((*lead, -(-n // 8)), np.uint8, device=x.device), -1, at)
    bits = lines != 0
    if n % 8:
        padded = _c.zeros((*lead, n + -n % 8), np.bool_, device=x.device)
        padded[..., :n] = bits
        bits = padded
    words = _c.ascontiguousarray(bits).view(np.uint64)
    made = (words * np.uint64(_GATHER[bitorder]) >> np.uint64(56)).astype(np.uint8)
    return _c.ascontiguousarray(_c.moveaxis(made, -1, at))


def unpackbits(a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> ndarray:
    """The bits of bytes, one an element.

    Parameters
    ----------
    a : array_like of uint8
    axis : int or None
        The axis that is unpacked; None unpacks the flattened array.
    count : int, optional
        How many bits there are along the axis, zeros behind those of `a`; a negative number takes so many off the end.
    bitorder : {'big', 'little'}
        Whether the highest bit of a byte comes first, or the lowest.

    Returns
    -------
    ndarray of uint8
        Zeros and ones.

    Raises
    ------
    TypeError
        The elements are not uint8.
    ValueError
        `count` takes off more bits than there are.

    Examples
    --------
    >>> bc.unpackbits(bc.array([176], dtype="uint8"), count=4)
    array([1, 0, 1, 1], dtype=uint8)
    """
    x = _c.asarray(a)
    if axis is None and count is None and bitorder == "big" and (few := _c.unpackbits_small(x)) is not None:
        return few
    if x.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    _check_bitorder(bitorder)
    lines, at = _lines(x, axis)
    *lead, n = lines.shape
    if lines.size:
        kept = _c.ascontiguousarray(lines).astype(np.uint64) * np.uint64(_ONES) & np.uint64(_SPREAD[bitorder])
        # 127 more carries a bit that is set to the top of its byte.
        bits = ((kept + np.uint64(127 * _ONES)) >> np.uint64(7) & np.uint64(_ONES)).view(np.uint8)
    else:
        bits = _c.zeros((*lead, n * 8), np.uint8, device=x.device)
    if count is not None:
        wanted = operator.index(count)
        if wanted < 0:
            if -wanted > n * 8:
                raise ValueError("-count larger than number of elements")
            wanted += n * 8
        if wanted > n * 8:
            longer = _c.zeros((*lead, wanted), np.uint8, device=x.device)
            longer[..., : n * 8] = bits
            bits = longer
        bits = bits[..., :wanted]
    return _c.ascontiguousarray(_c.moveaxis(bits, -1, at))


def binary_repr(num: Any, width: int | None = None) -> str:
    """The binary digits of an integer as text; with `width`, negative ones in two's complement.

    Examples
    --------
    >>> bc.binary_repr(3), bc.binary_repr(-3, width=5)
    ('11', '11101')
    """
    return np.binary_repr(operator.index(num), width)


def base_repr(number: Any, base: int = 2, padding: int = 0) -> str:
    """The digits of an integer in a base from 2 to 36 as text, with zeros in front.

    Examples
    --------
    >>> bc.base_repr(10, base=16), bc.base_repr(5, padding=3)
    ('A', '000101')
    """
    return np.base_repr(operator.index(number), base, padding)
