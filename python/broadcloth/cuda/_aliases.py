"""The modules in which CuPy and Numba keep what is here in one place: `cuda.memory`, `cuda.stream`, `cuda.cudadrv.driver` and their kin."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

# Their names, and names that are called otherwise here; "*" is where the others are, unless it is `broadcloth.cuda`.
MODULES: dict[str, dict[str, str]] = {
    "device": {"get_compute_capability": "_device.get_compute_capability"},
    "stream": {},
    "event": {},
    "memory": {"OutOfMemoryError": "_memory.OutOfMemoryError"},
    "memory_hook": {},
    "pinned_memory": {"PooledPinnedMemory": "_memory.PinnedMemoryPointer", "_malloc": "_memory.alloc_pinned_memory"},
    "graph": {},
    "function": {},
    "compiler": {"CompileException": "broadcloth.CompileError", "compile_using_nvrtc": "_compile.compile"},
    "driver": {"CUDADriverError": "_driver.CUDARuntimeError"},
    "devicearray": {"is_cuda_ndarray": "_memory.is_cuda_array", "auto_device": "_numba.auto_device"},
    "cudadrv": {},
    "cudadrv.driver": {"LinkerError": "broadcloth.CompileError"},
    "cudadrv.devices": {"reset": "_device.close"},
    "cudadrv.devicearray": {"is_cuda_ndarray": "_memory.is_cuda_array", "auto_device": "_numba.auto_device"},
    "cudadrv.error": {
        "CudaRuntimeError": "_driver.CUDARuntimeError",
        "NvrtcError": "broadcloth.CompileError",
        "NvrtcCompilationError": "broadcloth.CompileError",
        "NvvmError": "broadcloth.CompileError",
    },
    "cudadrv.linkable_code": {},
    "cudadrv.runtime": {},
    "types": {"*": "broadcloth.types"},
    "extending": {"*": "broadcloth.extending"},
    "errors": {"*": "broadcloth.core.errors"},
    "core": {"*": "broadcloth.core"},
    "core.errors": {"*": "broadcloth.core.errors"},
    "core.types": {"*": "broadcloth.types"},
    "np": {},
    "np.numpy_support": {
        "from_dtype": "broadcloth.types.from_dtype",
        "as_dtype": "_numba.as_dtype",
        "carray": "broadcloth.carray",
        "farray": "broadcloth.farray",
    },
    "cg": {"*": "broadcloth.cuda.cg"},
    "libdevice": {"*": "broadcloth.cuda.libdevice"},
    "fp16": {"*": "broadcloth.cuda.fp16"},
    "bf16": {"bfloat16": "broadcloth.bfloat16", "*": "broadcloth.cuda._jit.bf16"},
    "vector_types": {"vector_types": "_numba.vector_types"},
    "cache_hints": {},
    "dispatcher": {"CUDADispatcher": "_jit.Dispatcher", "Dispatcher": "_jit.Dispatcher"},
    "kernels": {},
    "kernels.transpose": {"transpose": "_numba.transpose"},
}


def _object(path: str) -> Any:
    """What a path says: a module, or a name in one."""
    module, _, name = path.rpartition(".")
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return getattr(import_module(module), name)


class Alias(ModuleType):
    """A module whose names are those of `broadcloth.cuda`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        short = self.__name__.removeprefix("broadcloth.cuda.")
        if f"{short}.{name}" in MODULES:
            return sys.modules[f"{self.__name__}.{name}"]
        renamed = MODULES[short]
        if name in renamed:
            path = renamed[name]
            return _object(path if path.startswith("broadcloth.") else f"broadcloth.cuda.{path}")
        if "*" in renamed:
            package, _, last = renamed["*"].rpartition(".")
            return getattr(getattr(import_module(package), last), name)
        if short.startswith(("cudadrv", "devicearray")):
            return getattr(import_module("broadcloth.cuda._device").drv, name)
        try:
            return getattr(import_module("broadcloth.cuda"), name)
        except AttributeError:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None


for _name in MODULES:
    _module = Alias(f"broadcloth.cuda.{_name}", "Names of `broadcloth.cuda`, where other libraries have them.")
    _module.__path__ = []
    sys.modules[_module.__name__] = _module
