"""Arrays of records (structured dtypes) in device memory."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from .. import _broadcloth as _c

__all__ = ["RecordArray"]


def _contiguous(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _layout(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> str:
    for letter, order in (("C", -1), ("F", 1)):
        expected = itemsize
        for extent, stride in list(zip(shape, strides))[::order]:
            if extent != 1 and stride != expected:
                break
            expected *= extent
        else:
            return letter
    return "A"


class RecordArray:
    """An array of a structured dtype on a device, for kernels to read and write.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : structured dtype

    Examples
    --------
    >>> import numpy as np
    >>> from broadcloth import cuda
    >>> @cuda.jit
    ... def move(p, dt):
    ...     i = cuda.grid(1)
    ...     if i < p.size:
    ...         p[i].x += dt * p[i].v
    >>> particles = cuda.RecordArray.of(np.array([(0.0, 1.0), (1.0, 3.0)], dtype=[("x", "f8"), ("v", "f8")]))
    >>> move[1, 32](particles, 0.5)
    >>> particles.copy_to_host()["x"]
    array([0.5, 2.5])
    """

    __slots__ = ("__weakref__", "_bytes", "_offset", "_parts", "dtype", "shape", "strides")

    def __init__(
        self,
        shape: int | tuple[int, ...],
        dtype: Any,
        buffer: Any = None,
        offset: int = 0,
        strides: tuple[int, ...] | None = None,
        device: Any = None,
    ) -> None:
        import broadcloth as bc

        self.dtype = np.dtype(dtype)
        if self.dtype.names is None:
            raise TypeError(f"RecordArray: expected a structured dtype, got {self.dtype}")
        self.shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        self.strides = _contiguous(self.shape, self.dtype.itemsize) if strides is None else tuple(strides)
        if buffer is None:
            buffer = bc.empty(self.nbytes, dtype="uint8", device=device)
        self._bytes, self._offset = buffer, offset
        layout = _layout(self.shape, self.strides, self.dtype.itemsize)
        self._parts = (buffer[offset:] if offset else buffer, self.dtype, self.shape, self.strides, layout)

    @classmethod
    def of(cls, host: Any, device: Any = None) -> RecordArray:
        """A copy of a NumPy array of records."""
        made = cls(np.shape(host), np.asarray(host).dtype, device=device)
        made.copy_to_device(host)
        return made

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> Any:
        return self._bytes.device

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = dict(self._parts[0].__cuda_array_interface__)
        interface.update(shape=self.shape, typestr=self.dtype.str, descr=self.dtype.descr, strides=self.strides)
        return interface

    def is_c_contiguous(self) -> bool:
        return self._parts[4] == "C"

    def _whole(self) -> np.ndarray:
        """The bytes on the host, as this array sees them."""
        return np.ndarray(self.shape, self.dtype, self._bytes.get(), self._offset, self.strides)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """A NumPy array with the records; `ary` is written when it is given."""
        if ary is None:
            return self._whole().copy()
        ary[...] = self._whole()
        return ary

    def get(self, stream: Any = None, order: str = "C", out: np.ndarray | None = None) -> np.ndarray:
        return self.copy_to_host(out)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Writes the records of a NumPy array, or of another array on a device."""
        import broadcloth as bc

        if isinstance(ary, RecordArray):
            ary = ary.copy_to_host()
        ary = np.asarray(ary, self.dtype)
        if ary.shape != self.shape:
            raise ValueError(f"copy_to_device: expected an array of shape {self.shape}, got {ary.shape}")
        if self.is_c_contiguous() and len(self._bytes) == self.nbytes:
            data = np.ascontiguousarray(ary).reshape(-1).view(np.uint8)
        else:
            data = self._bytes.get()
            np.ndarray(self.shape, self.dtype, data, self._offset, self.strides)[...] = ary
        self._bytes[:] = bc.asarray(data, device=self._bytes.device)

    def copy(self) -> RecordArray:
        made = type(self)(self.shape, self.dtype, device=self.device)
        made.copy_to_device(self)
        return made

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.copy_to_host()[key]
        offset, shape, strides = self._offset, [], []
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (self.ndim - len(keys) + 1)
        if len(keys) > self.ndim:
            raise IndexError(f"too many indices: array is {self.ndim}-dimensional, but {len(keys)} were indexed")
        keys += [slice(None)] * (self.ndim - len(keys))
        for axis, (k, extent, stride) in enumerate(zip(keys, self.shape, self.strides)):
            if isinstance(k, slice):
                start, stop, step = k.indices(extent)
                count = len(range(start, stop, step))
                offset += start * stride if count else 0
                shape.append(count)
                strides.append(step * stride)
                continue
            k = k.__index__()
            if not -extent <= k < extent:
                raise IndexError(f"index {k} is out of bounds for axis {axis} with size {extent}")
            offset += (k % extent) * stride
        if shape:
            return type(self)(tuple(shape), self.dtype, self._bytes, offset, tuple(strides))
        return np.frombuffer(self._bytes[offset : offset + self.dtype.itemsize].get().tobytes(), self.dtype)[0]

    def __setitem__(self, key: Any, value: Any) -> None:
        host = self.copy_to_host()
        host[key] = value.copy_to_host() if isinstance(value, RecordArray) else value
        self.copy_to_device(host)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy_to_host())

    def __repr__(self) -> str:
        return repr(self.copy_to_host()).replace("array(", "RecordArray(", 1)


_c.set_record_array_type(RecordArray)
