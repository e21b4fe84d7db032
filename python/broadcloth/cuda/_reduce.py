"""`cuda.reduce`: a reduction by a function of two values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import broadcloth as bc

from . import _jit

_THREADS = 256
_BLOCKS = 512


class Reduce:
    """A reduction by a function of two values, which must be associative and commutative.

    Calling it gives the value for an array: `r(arr, size=None, res=None, init=0, stream=0)`. `size` limits the elements that count,
    `res` is an array on the device whose first element takes the result (then nothing waits for it), `init` takes part as one more value.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> @cuda.reduce
    ... def total(a, b):
    ...     return a + b
    >>> int(total(bc.arange(1000)))
    499500
    """

    def __init__(self, functor: Callable[[Any, Any], Any]) -> None:
        self._function = _jit._unwrap(functor)
        self._kernels: dict[str, Any] = {}
        self.__name__ = getattr(self._function, "__name__", "reduce")
        self.__doc__ = self._function.__doc__

    def _kernel(self, dtype: Any) -> Any:
        name = str(dtype)
        if name not in self._kernels:
            self._kernels[name] = _kernel_of(_jit.DeviceFunction(self._function), dtype)
        return self._kernels[name]

    def __call__(self, arr: Any, size: int | None = None, res: Any = None, init: Any = 0, stream: Any = 0) -> Any:
        if arr.ndim != 1:
            raise TypeError(f"{self.__name__}: expected an array of one dimension, got {arr.ndim}")
        if size is not None:
            arr = arr[:size]
        array = bc.asarray(arr)
        n = array.size
        with bc.device(array.device):
            out = res if res is not None else bc.empty(1, array.dtype)
            if n == 0:
                out[:1] = init
            else:
                kernel = self._kernel(array.dtype)
                blocks = min((n + _THREADS - 1) // _THREADS, _BLOCKS)
                start = array.dtype.type(init)
                if blocks == 1:
                    kernel[1, _THREADS, stream](array, out, start, True)
                else:
                    partial = bc.empty(blocks, array.dtype)
                    kernel[blocks, _THREADS, stream](array, partial, start, False)
                    kernel[1, _THREADS, stream](partial, out, start, True)
        return None if res is not None else out[0]


def _kernel_of(function: Any, dtype: Any) -> Any:
    from .. import cuda

    threads = _THREADS

    @_jit.jit
    def reduction(a, out, init, last):  # type: ignore[no-untyped-def]
        shared = cuda.shared.array(threads, dtype)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        step = cuda.gridsize(1)
        if i < a.size:
            value = a[i]
            for k in range(i + step, a.size, step):
                value = function(value, a[k])
            shared[t] = value
        there = min(a.size - cuda.blockIdx.x * cuda.blockDim.x, cuda.blockDim.x)
        cuda.syncthreads()
        width = threads // 2
        while width > 0:
            if t < width and t + width < there:
                shared[t] = function(shared[t], shared[t + width])
            cuda.syncthreads()
            width //= 2
        if t == 0:
            if last:
                out[0] = function(init, shared[0])
            else:
                out[cuda.blockIdx.x] = shared[0]

    return reduction


reduce = Reduce
