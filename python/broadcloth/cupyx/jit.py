"""Kernels in Python as CuPy spells them: `jit.rawkernel`, and what a kernel may call. They are `cuda.jit`'s kernels under other names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cuda._jit import DeviceFunction, Dispatcher, Intrinsic, _unwrap

__all__ = ["rawkernel"]

threadIdx, blockIdx = Intrinsic("cuda.threadIdx"), Intrinsic("cuda.blockIdx")
blockDim, gridDim = Intrinsic("cuda.blockDim"), Intrinsic("cuda.gridDim")
grid, gridsize = Intrinsic("cuda.grid"), Intrinsic("cuda.gridsize")
warpsize = Intrinsic("cuda.warpsize")
laneid = Intrinsic("cupyx.laneid")
shared_memory = Intrinsic("cupyx.shared_memory")
syncthreads, syncwarp = Intrinsic("cuda.syncthreads"), Intrinsic("cuda.syncwarp")
atomic_add, atomic_sub = Intrinsic("cuda.atomic.add"), Intrinsic("cuda.atomic.sub")
atomic_max, atomic_min = Intrinsic("cuda.atomic.max"), Intrinsic("cuda.atomic.min")
atomic_and, atomic_or, atomic_xor = Intrinsic("cuda.atomic.and_"), Intrinsic("cuda.atomic.or_"), Intrinsic("cuda.atomic.xor")
atomic_exch, atomic_cas = Intrinsic("cuda.atomic.exch"), Intrinsic("cuda.atomic.cas")
atomic_inc, atomic_dec = Intrinsic("cuda.atomic.inc"), Intrinsic("cuda.atomic.dec")
range = Intrinsic("cupyx.range")
cg = Intrinsic("cuda.cg")

# ---- Shuffles, within the whole warp or within parts of `width` lanes
_sync = Intrinsic("cuda.shfl_sync")


@DeviceFunction
def shfl_sync(mask: Any, var: Any, val_id: Any, width: Any = 32) -> Any:
    """The variable of a lane."""
    first = laneid() & ~(width - 1)
    return _sync(mask, var, first | (val_id & (width - 1)))


@DeviceFunction
def shfl_up_sync(mask: Any, var: Any, val_id: Any, width: Any = 32) -> Any:
    """The variable of a lane before this one; its own where there is none."""
    lane = laneid()
    return _sync(mask, var, lane - val_id if (lane & (width - 1)) >= val_id else lane)


@DeviceFunction
def shfl_down_sync(mask: Any, var: Any, val_id: Any, width: Any = 32) -> Any:
    """The variable of a lane behind this one; its own where there is none."""
    lane = laneid()
    return _sync(mask, var, lane + val_id if (lane & (width - 1)) + val_id < width else lane)


@DeviceFunction
def shfl_xor_sync(mask: Any, var: Any, val_id: Any, width: Any = 32) -> Any:
    """The variable of the lane whose number differs in these bits; its own where that lane lies in a later part of the warp."""
    lane = laneid()
    other = lane ^ val_id
    return _sync(mask, var, other if (other & ~(width - 1)) <= (lane & ~(width - 1)) else lane)




class JitRawKernel(Dispatcher):
    """A kernel that is launched as ``f[grid, block](*args)`` or as ``f(grid, block, args, shared_mem=0, stream=None)``."""

    def __call__(self, grid: Any, block: Any, args: Any, shared_mem: int = 0, stream: Any = None) -> None:
        self.configure(grid, block, stream, shared_mem)(*args)

    @property
    def cached_codes(self) -> dict[Any, str]:
        """The CUDA C++ of each list of argument types that the kernel was compiled for."""
        return self.inspect_source()

    @property
    def cached_code(self) -> str:
        """The CUDA C++ of the one list of argument types that the kernel was compiled for.

        Raises
        ------
        RuntimeError
            There is none yet, or there are several.
        """
        codes = self.cached_codes
        if len(codes) != 1:
            raise RuntimeError(f"cached_code: the kernel was compiled for {len(codes)} lists of types; cached_codes has them all")
        return next(iter(codes.values()))


def rawkernel(*, mode: str = "cuda", device: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compiles a Python function into a kernel, or with `device=True` into a function for kernels to call.

    Parameters
    ----------
    mode : {"cuda", "numpy"}
        Accepted; numbers have cuda.jit's types in both.
    device : bool
        Makes a function that kernels call.

    Examples
    --------
    >>> from broadcloth.cupyx import jit
    >>> @jit.rawkernel()
    ... def copy(x, y, size):
    ...     first = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    ...     for i in range(first, size, jit.gridDim.x * jit.blockDim.x):
    ...         y[i] = x[i]
    >>> x = bc.arange(5, dtype="float32")
    >>> y = bc.empty_like(x)
    >>> copy((2,), (32,), (x, y, 5))
    >>> copy[2, 32](x, y, 5)
    >>> y
    array([0., 1., 2., 3., 4.], dtype=float32)
    """
    if mode not in ("cuda", "numpy"):
        raise ValueError(f"rawkernel: expected mode 'cuda' or 'numpy', got {mode!r}")

    def decorate(function: Callable[..., Any]) -> Any:
        function = _unwrap(function)
        if device:
            return DeviceFunction(function)
        return JitRawKernel(function, flags=[], debug=False, check=False)

    return decorate
