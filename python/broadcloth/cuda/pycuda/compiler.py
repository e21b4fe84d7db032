"""PyCUDA's SourceModule: a program in CUDA C++ whose functions are called with their arguments first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ... import _broadcloth as _c
from ..._namespace import listing
from . import driver as _driver

__all__ = ["DynamicSourceModule", "SourceModule", "compile"]

# PyCUDA's letters of a prepared call, as struct's, with P for pointers.
_PREPARED = {
    "b": np.int8,
    "B": np.uint8,
    "h": np.int16,
    "H": np.uint16,
    "i": np.int32,
    "I": np.uint32,
    "l": np.int64,
    "L": np.uint64,
    "q": np.int64,
    "Q": np.uint64,
    "f": np.float32,
    "d": np.float64,
    "?": np.bool_,
    "F": np.complex64,
    "D": np.complex128,
}


class Function:
    """A kernel of a module: ``f(*args, block=(x, y, z), grid=(x, y))``."""

    def __init__(self, kernel: _c.RawKernel) -> None:
        self._kernel = kernel
        self._converters: list[Callable[[Any], Any] | None] = []

    @property
    def num_regs(self) -> int:
        """Registers of a thread."""
        return self._kernel.num_regs

    @property
    def shared_size_bytes(self) -> int:
        """Bytes of static shared memory of a block."""
        return self._kernel.shared_size_bytes

    @property
    def local_size_bytes(self) -> int:
        """Bytes of local memory of a thread."""
        return self._kernel.local_size_bytes

    @property
    def max_threads_per_block(self) -> int:
        """Threads that a block can have."""
        return self._kernel.max_threads_per_block

    def _launch(self, grid: Any, block: Any, args: Iterable[Any], shared: int, stream: Any) -> None:
        if block is None:
            raise ValueError(f"{self._kernel.name}: expected block=(x, y, z)")
        given = list(args)
        memory = [_driver.argument(a, stream) for a in given]
        self._kernel(tuple(int(v) for v in grid), tuple(int(v) for v in block), memory, shared, stream)
        for a, m in zip(given, memory, strict=True):
            if isinstance(a, _driver.ArgumentHandler):
                a.after(m, stream)

    def __call__(
        self,
        *args: Any,
        block: Any = None,
        grid: Any = (1, 1),
        shared: int = 0,
        stream: Any = None,
        texrefs: Any = (),
        time_kernel: bool = False,
    ) -> float | None:
        if texrefs:
            raise NotImplementedError("texture references are gone from CUDA; use texture objects (broadcloth.cuda.texture)")
        if not time_kernel:
            self._launch(grid, block, args, shared, stream)
            return None
        start, end = _driver.Event(), _driver.Event()
        start.record(stream)
        self._launch(grid, block, args, shared, stream)
        end.record(stream)
        end.synchronize()
        return start.time_till(end) * 1e-3

    def prepare(self, arg_types: Any, block: Any = None, shared: int | None = None, texrefs: Any = ()) -> Function:
        """Fixes the parameters' types ("Pif", or a list of letters and dtypes) for prepared calls."""
        self._converters = [None if t == "P" else _PREPARED[t] if t in _PREPARED else np.dtype(t).type for t in arg_types]
        return self

    def _prepared(self, args: Iterable[Any]) -> list[Any]:
        given = list(args)
        if len(given) != len(self._converters):
            raise TypeError(f"{self._kernel.name}: prepared for {len(self._converters)} arguments, got {len(given)}")
        return [a if convert is None else convert(a) for convert, a in zip(self._converters, given, strict=True)]

    def prepared_call(self, grid: Any, block: Any, *args: Any, shared_size: int = 0) -> None:
        """A launch with arguments of the prepared types."""
        self._launch(grid, block, self._prepared(args), shared_size, None)

    def prepared_async_call(self, grid: Any, block: Any, stream: Any, *args: Any, shared_size: int = 0) -> None:
        """A launch on a stream with arguments of the prepared types."""
        self._launch(grid, block, self._prepared(args), shared_size, stream)

    def prepared_timed_call(self, grid: Any, block: Any, *args: Any, shared_size: int = 0) -> Callable[[], float]:
        """A launch; what it returns waits for it and tells the seconds that it took."""
        start, end = _driver.Event(), _driver.Event()
        start.record()
        self._launch(grid, block, self._prepared(args), shared_size, None)
        end.record()

        def seconds() -> float:
            end.synchronize()
            return start.time_till(end) * 1e-3

        return seconds

    def __repr__(self) -> str:
        return f"<Function '{self._kernel.name}'>"


class SourceModule:
    """A program in CUDA C++, compiled for the device on which it is used.

    Parameters
    ----------
    source : str
        The text; everything in it is extern "C" unless `no_extern_c`.
    options : list of str, optional
        For the compiler.
    include_dirs : list of str
        Folders of headers.
    no_extern_c : bool
        Takes the text as it is, for templates and C++ headers.
    nvcc, keep, arch, code, cache_dir : optional
        Accepted; the device says what is compiled for, and compiled code is always kept on disk.

    Examples
    --------
    >>> import numpy as np
    >>> from broadcloth.cuda.pycuda import driver
    >>> from broadcloth.cuda.pycuda.compiler import SourceModule
    >>> module = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")
    >>> a = np.arange(4, dtype=np.float32)
    >>> module.get_function("twice")(driver.InOut(a), block=(4, 1, 1))
    >>> a
    array([0., 2., 4., 6.], dtype=float32)
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Iterable[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Iterable[str] = (),
    ) -> None:
        # The user's lines keep their numbers.
        text = source if no_extern_c else f'extern "C" {{\n#line 1\n{source}\n}}\n'
        flags = (*(options or ()), *(f"-I{folder}" for folder in include_dirs))
        self._program = _c.kernel_program(text, flags, None, "module.cu")

    def get_function(self, name: str) -> Function:
        """The kernel of that name."""
        return Function(self._program.kernel(name))

    def get_global(self, name: str) -> tuple[_driver.PointerHolder, int]:
        """Address and bytes of a `__device__` or `__constant__` variable."""
        address, size = self._program.variable(name, _c.default_device())
        return _driver.PointerHolder(address, size, self._program), size

    def get_texref(self, name: str) -> Any:
        raise NotImplementedError("texture references are gone from CUDA; use texture objects (broadcloth.cuda.texture)")


DynamicSourceModule = SourceModule


def compile(
    source: str,
    nvcc: str = "nvcc",
    options: Iterable[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: Any = None,
    include_dirs: Iterable[str] = (),
    target: str = "cubin",
) -> bytes:
    """The cubin of a program for `arch` ("sm_90" unless given)."""
    text = source if no_extern_c else f'extern "C" {{\n#line 1\n{source}\n}}\n'
    wanted = arch or "sm_90"
    if target == "ptx":
        wanted = wanted.replace("sm_", "compute_")
    return _c.compile_cuda(text, wanted, (*(options or ()), *(f"-I{folder}" for folder in include_dirs)))[0]

__dir__ = listing(__all__)
