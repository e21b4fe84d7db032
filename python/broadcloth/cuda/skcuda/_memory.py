"""Arrays over the addresses that a call by pointers names, and the handles of such calls."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import broadcloth as bc

from ..pycuda.driver import PointerHolder

LETTERS = {"S": "float32", "D": "float64", "C": "complex64", "Z": "complex128"}
REAL = {"S": "float32", "D": "float64", "C": "float32", "Z": "float64"}


class Handle:
    """What `cublasCreate` and `cusolverDnCreate` give: the stream of the calls that name it."""

    def __init__(self) -> None:
        self.stream: Any = None
        self.alive = True

    def use(self, function: str) -> AbstractContextManager[Any]:
        """The stream to call in; raises once the handle is destroyed."""
        if not self.alive:
            raise ValueError(f"{function}: the handle is destroyed")
        return nullcontext() if self.stream is None else self.stream

    def destroy(self, function: str) -> None:
        """Ends the handle's life."""
        self.use(function)
        self.alive = False


def checked(function: str, handle: Any) -> AbstractContextManager[Any]:
    """The stream of a handle."""
    if not isinstance(handle, Handle):
        raise TypeError(f"{function}: expected a handle, got {type(handle).__name__}")
    return handle.use(function)


def at(pointer: Any, shape: tuple[int, ...], dtype: str, strides: tuple[int, ...]) -> Any:
    """The array of device memory at an address, by strides in elements, all of them positive."""
    item = bc.dtype(dtype).itemsize
    extent = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if 0 in shape:
        return bc.empty(shape, dtype)
    memory = pointer.data if isinstance(pointer, bc.ndarray) else pointer
    if not hasattr(memory, "ptr"):
        memory = PointerHolder(int(memory), extent * item, None)
    return bc.ndarray(shape, dtype, memory, tuple(step * item for step in strides))


def vector(pointer: Any, n: int, dtype: str, step: int, function: str) -> Any:
    """`n` elements at every `step`-th place; a negative step begins with the last, as in BLAS."""
    if n < 0:
        raise ValueError(f"{function}: expected n >= 0, got {n}")
    if step == 0:
        raise ValueError(f"{function}: expected an increment other than 0")
    found = at(pointer, (n,), dtype, (abs(step),))
    return found if step > 0 else found[::-1]


def matrix(pointer: Any, rows: int, columns: int, dtype: str, leading: int, function: str, name: str) -> Any:
    """A matrix column by column, `leading` elements from one to the next."""
    if rows < 0 or columns < 0:
        raise ValueError(f"{function}: expected sizes >= 0, got {rows} and {columns}")
    if leading < max(1, rows):
        raise ValueError(f"{function}: expected ld{name} >= {max(1, rows)}, got {leading}")
    return at(pointer, (rows, columns), dtype, (1, leading))
