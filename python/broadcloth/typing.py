"""Types for annotations: what functions take where NumPy's documentation says array_like, dtype, shape.

Examples
--------
>>> from broadcloth.typing import ArrayLike, NDArray
>>> def scaled(x: ArrayLike, factor: float = 1.0) -> NDArray:
...     return bc.asarray(x) * factor
>>> scaled([1, 2], 10)
array([10., 20.])
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from ._broadcloth import device, ndarray
from ._namespace import listing

__all__ = ["ArrayLike", "AxisLike", "Casting", "DTypeLike", "DeviceLike", "IndexLike", "NDArray", "Order", "ShapeLike"]


class _HasArray(Protocol):
    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


class _HasDLPack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


class _HasArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class _HasCudaArrayInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


NDArray: TypeAlias = ndarray
"""An array of broadcloth."""

_Number: TypeAlias = bool | int | float | complex | np.number[Any] | np.bool_
_Array: TypeAlias = ndarray | np.ndarray[Any, Any] | _HasArray | _HasDLPack | _HasArrayInterface | _HasCudaArrayInterface
_Item: TypeAlias = _Number | _Array
# Sequences are written out to a depth: by a protocol of itself, text would be a sequence of sequences.
_Rows: TypeAlias = Sequence[_Item] | Sequence[Sequence[_Item]] | Sequence[Sequence[Sequence[_Item]]]

ArrayLike: TypeAlias = _Item | _Rows | Sequence[Sequence[Sequence[Sequence[_Item]]]]
"""Arrays of broadcloth and NumPy, numbers, nested sequences of them, and objects with DLPack or an array interface."""

DTypeLike: TypeAlias = npt.DTypeLike | None
"""What numpy.dtype takes, None for a function's own choice, and `broadcloth.bfloat16`."""

_Int: TypeAlias = int | np.integer[Any]

ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
"""An extent, or one for each axis."""

AxisLike: TypeAlias = _Int | Sequence[_Int] | None
"""An axis, several of them, or None."""

DeviceLike: TypeAlias = device | str | None
"""A device, its name ("cpu", "cuda:1"), or None for the default one."""

Order: TypeAlias = Literal["C", "F", "A", "K"] | None
"""How elements lie in memory."""

Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
"""Which casts are allowed."""

_IndexItem: TypeAlias = (
    SupportsIndex
    | slice
    | EllipsisType
    | ndarray
    | np.ndarray[Any, Any]
    | _HasArray
    | Sequence[SupportsIndex]
    | Sequence[Sequence[SupportsIndex]]
    | None
)

IndexLike: TypeAlias = _IndexItem | tuple[_IndexItem, ...]
"""What stands between an array's brackets."""

__dir__ = listing(__all__)
