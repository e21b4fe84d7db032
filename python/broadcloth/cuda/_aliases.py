"""The modules in which CuPy and Numba keep what is here in one place: `cuda.memory`, `cuda.stream`, `cuda.cudadrv.driver` and their kin."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

# Their names, and names that are called otherwise here.
MODULES: dict[str, dict[str, str]] = {
    "device": {"get_compute_capability": "_device.get_compute_capability"},
    "stream": {},
    "event": {},
    "memory": {},
    "memory_hook": {},
    "pinned_memory": {"PooledPinnedMemory": "_memory.PinnedMemoryPointer", "_malloc": "_memory.alloc_pinned_memory"},
    "graph": {},
    "function": {},
    "compiler": {"CompileException": "broadcloth.CompileError", "compile_using_nvrtc": "_compile.compile"},
    "devicearray": {},
    "cudadrv": {},
    "cudadrv.driver": {},
    "cudadrv.devices": {},
    "cudadrv.devicearray": {},
    "cudadrv.error": {},
}


class Alias(ModuleType):
    """A module whose names are those of `broadcloth.cuda`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        short = self.__name__.removeprefix("broadcloth.cuda.")
        if f"{short}.{name}" in MODULES:
            return sys.modules[f"{self.__name__}.{name}"]
        module, _, real = MODULES[short].get(name, "").rpartition(".")
        if module:
            return getattr(import_module(module if module == "broadcloth" else f"broadcloth.cuda.{module}"), real)
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
