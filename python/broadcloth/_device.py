"""Devices, order, configuration: what NumPy has no name for."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any

from . import _broadcloth as _c

if TYPE_CHECKING:
    from .typing import DeviceLike


class Config:
    """How arrays are computed. One object, `broadcloth.config`, for the whole process.

    Attributes
    ----------
    lazy : bool
        Ops wait and are fused (the default), except ops of few computed elements on the CPU, which run at once; False runs each op by a
        kernel when it is called.
    jit : bool
        Kernels are compiled for the CPU; False keeps to the loops that are built in. (On a GPU every kernel is compiled.)
    background_compile : bool
        The built-in loops run while a kernel compiles; False waits for the compiler.
    fallback : str
        What a name of NumPy's that broadcloth does not have is: "error" (the default) an AttributeError; "warn" NumPy's function, which
        computes on the host, with a warning once for each line; "ignore" the same without a warning.

    Examples
    --------
    >>> bc.config.lazy
    True
    """

    if not TYPE_CHECKING:
        __slots__ = ()

    if TYPE_CHECKING:
        lazy: bool
        jit: bool
        background_compile: bool
        fallback: str
        DISABLE_JIT: bool
        NUMBA_NUM_THREADS: int
        CUDA_WARN_ON_IMPLICIT_COPY: bool
        DISABLE_PERFORMANCE_WARNINGS: bool
        CUDA_LOW_OCCUPANCY_WARNINGS: bool
        ENABLE_CUDASIM: bool
        CUDA_ENABLE_PYNVJITLINK: bool
        CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY: bool
        CUDA_USE_NVIDIA_BINDING: bool
    else:

        def __getattr__(self, name: str) -> Any:
            try:
                return _program[name] if name in _program else _c.get_config()[name]
            except KeyError:
                raise AttributeError(f"config has no option {name!r}; it has {', '.join(_c.get_config())}") from None

        def __setattr__(self, name: str, value: Any) -> None:
            if name == "fallback" and value not in _FALLBACKS:
                raise ValueError(f"config.fallback: expected one of {', '.join(map(repr, _FALLBACKS))}, got {value!r}")
            if name in _program and name != "NUMBA_NUM_THREADS":
                _program[name] = type(_program[name])(value)
                return
            if name not in _c.get_config():
                raise AttributeError(f"config has no option {name!r}; it has {', '.join(_c.get_config())}")
            _c.set_config(**{name: value})

    def __dir__(self) -> list[str]:
        return [*_c.get_config(), "fallback"]

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{k}={v}" for k, v in _c.get_config().items()) + ")"


def _switched_on(*names: str) -> bool:
    return any(os.environ.get(name, "0") not in ("", "0") for name in names)


def _switched_off(name: str) -> bool:
    return os.environ.get(name) == "0"


_FALLBACKS = ("error", "warn", "ignore")
# Switches of programs written for Numba, under its names: functions of jit, njit and jitclass stay Python while DISABLE_JIT is on.
_program: dict[str, Any] = {
    "fallback": "error",
    "DISABLE_JIT": _switched_on("BROADCLOTH_DISABLE_JIT", "NUMBA_DISABLE_JIT"),
    "NUMBA_NUM_THREADS": _c._jit_threads(),
    # Whether NumPy arrays as arguments of kernels on a GPU are warned of.
    "CUDA_WARN_ON_IMPLICIT_COPY": not _switched_off("NUMBA_CUDA_WARN_ON_IMPLICIT_COPY"),
    "DISABLE_PERFORMANCE_WARNINGS": _switched_on("NUMBA_DISABLE_PERFORMANCE_WARNINGS"),
    # Read and set by programs; nothing here depends on them: no warning is given of small grids; kernels run on the CPU without a switch.
    "CUDA_LOW_OCCUPANCY_WARNINGS": False,
    "ENABLE_CUDASIM": False,
    "CUDA_ENABLE_PYNVJITLINK": True,
    "CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY": True,
    "CUDA_USE_NVIDIA_BINDING": True,
}

config = Config()


def show_source(a: _c.ndarray, file: IO[str] | None = None) -> None:
    """Prints the C++ of the kernels that compute a pending array; nothing runs.

    Parameters
    ----------
    a : ndarray
        An array whose value waits. One that is computed already has no source.
    file : text file, optional
        Where to print; standard output unless given.

    Raises
    ------
    TypeError
        `a` is no broadcloth array.

    Examples
    --------
    >>> x = bc.arange(5.0)
    >>> bc.show_source(bc.sin(x) * 2 + x)  # doctest: +ELLIPSIS
    <BLANKLINE>
    ...
    """
    if not isinstance(a, _c.ndarray):
        raise TypeError(f"show_source: expected a broadcloth.ndarray, got {type(a).__name__}")
    text = _c.show_plan(a, False, False, True)
    print(text if text.strip() else "// computed already: no kernel waits for this array", file=file or sys.stdout)


def show_plan(a: _c.ndarray, file: IO[str] | None = None, *, ir: bool = False, source: bool = False) -> None:
    """Prints the plan that computes a pending array; nothing runs.

    Each kernel says what it walks over, what it reads and writes, how the work is divided among threads (its schedule), and its launches;
    each library call says its name. The environment variable `BROADCLOTH_DUMP`, a list out of ``plan``, ``ir`` and ``source`` separated by
    commas, writes the same to the standard error for each plan that a program makes.

    Parameters
    ----------
    a : ndarray
        An array whose value waits. One that is computed already has no plan, as results of few elements on the CPU.
    file : text file, optional
        Where to print; standard output unless given.
    ir : bool, optional
        Also prints each kernel's values, accesses and accumulators (its intermediate representation).
    source : bool, optional
        Also prints each kernel's C++.

    Raises
    ------
    TypeError
        `a` is no broadcloth array.

    See Also
    --------
    show_source : The C++ alone.

    Examples
    --------
    >>> x = bc.ones((100, 200), device="cpu")
    >>> bc.synchronize()
    >>> bc.show_plan((x * x + 1).sum(axis=1))  # doctest: +ELLIPSIS
    kernel 0: rows_multiply_add_sum, 100 rows of 200
      1 read, 1 write, ... bytes; plain
      100 items, at least ... a thread
    """
    if not isinstance(a, _c.ndarray):
        raise TypeError(f"show_plan: expected a broadcloth.ndarray, got {type(a).__name__}")
    text = _c.show_plan(a, True, ir, source)
    print(text.rstrip("\n") or "computed already: no plan waits for this array", file=file or sys.stdout)


def device_info(device: DeviceLike = None) -> dict[str, Any]:
    """Facts about a device: name, target, multiprocessors, memory_free, memory_total.

    Examples
    --------
    >>> bc.device_info("cpu")["memory_total"] > 0
    True
    """
    return _c.device_info(device)


def devices() -> list[_c.device]:
    """The devices that can be used here, GPUs first.

    Examples
    --------
    >>> bc.device("cpu") in bc.devices()
    True
    """
    return [_c.device(f"cuda:{i}") for i in range(_c.device_count("cuda"))] + [_c.device("cpu")]


def memory_stats(device: DeviceLike = None) -> dict[str, int]:
    """What the memory pool of a device holds, in bytes and counts.

    Examples
    --------
    >>> isinstance(bc.memory_stats("cpu"), dict)
    True
    """
    return _c.pool_stats(device)


def set_memory_limit(bytes: int, device: DeviceLike = None) -> int:
    """Sets how much memory the pool of a device may take (0: all of it) and returns the limit.

    Examples
    --------
    >>> bc.set_memory_limit(0, "cpu")
    0
    """
    return _c.pool_limit(device, bytes)


def trim_memory(device: DeviceLike = None, keep: int = 0) -> int:
    """Gives the pool's unused memory back to the device, all but `keep` bytes; returns how many bytes went back.

    Examples
    --------
    >>> bc.trim_memory("cpu") >= 0
    True
    """
    return _c.pool_trim(device, keep)
