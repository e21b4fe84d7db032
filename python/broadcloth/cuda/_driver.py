"""The calls of CUDA's driver that the engine itself does not need, by their names."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from .. import _broadcloth as _c


class CUDARuntimeError(RuntimeError):
    """A call of CUDA failed.

    Attributes
    ----------
    status : int
        The error's number.
    """

    def __init__(self, status: int, message: str = "") -> None:
        self.status = status
        super().__init__(message or f"CUDA error {status}")

    def __reduce__(self) -> tuple[Any, ...]:
        return CUDARuntimeError, (self.status, str(self))


@functools.cache
def _library() -> ctypes.CDLL:
    if not _c.device_count("cuda"):
        raise RuntimeError("this call needs a GPU: no CUDA driver or no GPU was found")
    for name in ("libcuda.so.1", "libcuda.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise RuntimeError("this call needs a GPU: libcuda.so.1 cannot be opened")


def current_index() -> int:
    """The GPU that this thread uses: the default device, or the first where that is none."""
    device = _c.default_device()
    return device.index if device.type == "cuda" else 0


def has(symbol: str) -> bool:
    """Tells whether the driver knows a call."""
    return hasattr(_library(), symbol)


def check(status: int, call: str) -> None:
    """Raises CUDARuntimeError for a status that is none of success."""
    if status == 0:
        return
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    _library().cuGetErrorName(status, ctypes.byref(name))
    _library().cuGetErrorString(status, ctypes.byref(text))
    raise CUDARuntimeError(status, f"{call}: {(name.value or b'unknown error').decode()}: {(text.value or b'').decode()}")


def driver(symbol: str, *args: Any) -> None:
    """Calls the driver with a device's context current."""
    library = _library()
    device = current_index()
    before = _c.cuda_enter(device)
    try:
        check(getattr(library, symbol)(*args), symbol.split("_")[0])
    finally:
        _c.cuda_leave(device, before)


def pointer(value: Any) -> ctypes.c_void_p:
    """An address, as the driver takes it."""
    return ctypes.c_void_p(int(getattr(value, "ptr", value)))
