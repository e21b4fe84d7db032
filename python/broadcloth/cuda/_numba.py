"""Names that Numba's programs find in `numba.cuda` besides kernels and devices: types without arrays, decorators for ufuncs."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .. import _guvectorize, _vectorize, types
from . import _jit
from ._device import drv

__all__ = [
    "CudaSupportError", "Dim3", "GridGroup", "KernelRuntimeError", "bfloat16", "bool", "deferred_type", "dim3", "ffi_forced_object",
    "grid_group", "guvectorize", "optional", "vectorize",
]  # fmt: skip

CudaSupportError = drv.CudaSupportError
# What a kernel raises is raised as it is; this is for `except`.
KernelRuntimeError = RuntimeError


class _Named:
    """A type that only has a name: its values exist inside kernels."""

    name = ""

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> builtins.bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(self.name)


class Dim3(_Named):
    """The type of `cuda.threadIdx` and its kin."""

    name = "Dim3"


class GridGroup(_Named):
    """The type of `cuda.cg.this_grid()`."""

    name = "GridGroup"


class _ForcedObject(_Named):
    name = "ffi_forced_object"


dim3, grid_group, ffi_forced_object = Dim3(), GridGroup(), _ForcedObject()
bool, bfloat16, optional, deferred_type = types.boolean, types.bfloat16, types.Optional, types.deferred_type


def vectorize(ftylist_or_function: Any = None, **options: Any) -> Any:
    """`broadcloth.vectorize` for CUDA.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> @cuda.vectorize(["float64(float64)"])
    ... def twice(x):
    ...     return 2 * x
    >>> twice(bc.arange(3.0))
    array([0., 2., 4.])
    """
    return _vectorize.vectorize(ftylist_or_function, **{"target": "cuda", **options})


def guvectorize(ftylist: Any, signature: str, **options: Any) -> Any:
    """`broadcloth.guvectorize` for CUDA."""
    return _guvectorize.guvectorize(ftylist, signature, **{"target": "cuda", **options})


class VectorType(_Named):
    """The type of CUDA's vectors of one kind of number: `cuda.vector_types.vector_types["float32x4"]`."""

    def __init__(self, number: str, count: int) -> None:
        self.name = f"{number}x{count}"
        self.base_type, self.num_elements, self.attr_names = getattr(types, number), count, ("x", "y", "z", "w")[:count]

    @property
    def user_facing_object(self) -> Any:
        """What kernels make such vectors with: `cuda.float32x4`. `aliases` are its other names."""
        made = getattr(_jit, self.name)
        made.aliases = [f"{c}{self.num_elements}" for c, number in _jit.C_NUMBERS.items() if number == self.name[:-2]]
        return made

    __eq__ = object.__eq__  # type: ignore[assignment]
    __hash__ = object.__hash__


vector_types = {f"{number}x{n}": VectorType(number, n) for number in dict.fromkeys(_jit.C_NUMBERS.values()) for n in range(1, 5)}


def as_dtype(type: Any) -> np.dtype[Any]:
    """The NumPy dtype of a number's or a record's type."""
    return type._element


def auto_device(obj: Any, stream: Any = 0, copy: builtins.bool = True, user_explicit: builtins.bool = False) -> tuple[Any, builtins.bool]:
    """An array of a device with the values of `obj`, and whether it is a new one: arrays of a device are given back as they are."""
    from . import device_array_like, is_cuda_array, to_device

    if is_cuda_array(obj):
        return obj, False
    return (to_device(np.asarray(obj), stream) if copy else device_array_like(np.asarray(obj))), True


def transpose(a: Any, b: Any = None) -> Any:
    """The transposed matrix in new memory, or in `b`."""
    if a.ndim != 2:
        raise ValueError(f"transpose: expected a matrix, got {a.ndim} dimensions")
    if b is None:
        return a.T.copy()
    b[...] = a.T
    return b
