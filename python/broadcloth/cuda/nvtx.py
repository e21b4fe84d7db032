"""Ranges and marks that show up in Nsight Systems. Without NVIDIA's NVTX library they do nothing."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import glob
import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def _library() -> ctypes.CDLL | None:
    from .._cuda_paths import wheel_folders
    from ._device import get_cuda_path

    names = ("libnvToolsExt.so.1", "libnvtx3interop.so.1", "libnvtx3interop.so")
    folders = [""]
    toolkit = get_cuda_path()
    if toolkit:
        folders += [os.path.join(toolkit, "lib64"), os.path.join(toolkit, "lib")]
    folders += wheel_folders()
    for folder in folders:
        for name in names:
            paths = sorted(glob.glob(os.path.join(folder, name))) if folder else [name]
            for path in paths:
                try:
                    library = ctypes.CDLL(path)
                except OSError:
                    continue
                if hasattr(library, "nvtxRangePushEx"):
                    return library
    return None


class _Attributes(ctypes.Structure):
    """nvtxEventAttributes_t, version 2: a colour and a message."""

    _fields_ = (
        ("version", ctypes.c_uint16),
        ("size", ctypes.c_uint16),
        ("category", ctypes.c_uint32),
        ("color_type", ctypes.c_int32),
        ("color", ctypes.c_uint32),
        ("payload_type", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("payload", ctypes.c_uint64),
        ("message_type", ctypes.c_int32),
        ("message", ctypes.c_char_p),
    )


_COLORS = (0xFF76B900, 0xFF0072B2, 0xFFE69F00, 0xFFD55E00, 0xFFCC79A7, 0xFF56B4E9, 0xFFF0E442, 0xFF009E73)


def _attributes(message: str, color: int) -> _Attributes:
    argb = _COLORS[color % len(_COLORS)] if 0 <= color < 256 else color & 0xFFFFFFFF
    return _Attributes(2, ctypes.sizeof(_Attributes), 0, 1, argb, 0, 0, 0, 1, message.encode())


def RangePush(message: str, id_color: int = -1) -> None:
    """Begins a range of this thread; ranges nest.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.nvtx.RangePush("load")
    >>> cuda.nvtx.RangePop()
    """
    library = _library()
    if library is not None:
        library.nvtxRangePushEx(ctypes.byref(_attributes(message, max(id_color, 0))))


def RangePushC(message: str, color: int = 0) -> None:
    """Begins a range with a colour, 0xAARRGGBB."""
    library = _library()
    if library is not None:
        library.nvtxRangePushEx(ctypes.byref(_attributes(message, color | 0xFF000000)))


def RangePop() -> None:
    """Ends the innermost range of this thread."""
    library = _library()
    if library is not None:
        library.nvtxRangePop()


def Mark(message: str, id_color: int = -1) -> None:
    """Marks a moment."""
    library = _library()
    if library is not None:
        library.nvtxMarkEx(ctypes.byref(_attributes(message, max(id_color, 0))))


def MarkC(message: str, color: int = 0) -> None:
    """Marks a moment with a colour, 0xAARRGGBB."""
    library = _library()
    if library is not None:
        library.nvtxMarkEx(ctypes.byref(_attributes(message, color | 0xFF000000)))


@contextlib.contextmanager
def annotate(message: str, color: int = -1) -> Iterator[None]:
    """A range as a with block or a decorator.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> with cuda.nvtx.annotate("step"):
    ...     a = bc.arange(3) + 1
    """
    RangePush(message, color)
    try:
        yield
    finally:
        RangePop()


def __getattr__(name: str) -> Any:
    if name == "available":  # whether ranges and marks go anywhere
        return _library() is not None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
