"""The classes that memory managers of Numba's kind (EMM plugins) are built on; `set_memory_manager` takes their subclasses."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any


class BaseCUDAMemoryManager(ABC):
    """What gives arrays their device memory.

    Parameters
    ----------
    context : Context
        The device that it serves.
    """

    def __init__(self, context: Any = None) -> None:
        self.context = context

    @abstractmethod
    def initialize(self) -> None:
        """Called once before the first memory is asked for."""

    @abstractmethod
    def memalloc(self, size: int) -> Any:
        """Device memory of `size` bytes: an object with an address (`ptr` or `device_pointer`), which is kept while it is used."""

    @abstractmethod
    def get_memory_info(self) -> Any:
        """Bytes of memory that are free, and that there are."""

    @abstractmethod
    def reset(self) -> None:
        """Gives everything back."""

    @property
    @abstractmethod
    def interface_version(self) -> int:
        """1."""

    def memhostalloc(self, size: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> Any:
        """Page-locked host memory."""
        from ._memory import PinnedMemory

        return PinnedMemory(size, 4 if wc else 0)

    def mempin(self, owner: Any, pointer: int, size: int, mapped: bool = False) -> Any:
        """Page-locks memory of somebody else."""
        from .runtime import hostRegister

        hostRegister(pointer, size)
        return owner

    def get_ipc_handle(self, memory: Any) -> Any:
        """A handle by which another process opens the memory."""
        from .runtime import ipcGetMemHandle

        return ipcGetMemHandle(getattr(memory, "ptr", memory))

    @contextlib.contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        """A with block in which nothing is given back."""
        yield


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """A manager that leaves host memory to the engine."""

    def initialize(self) -> None:
        """Called once before the first memory is asked for."""

    def reset(self) -> None:
        """Gives everything back."""


class GetIpcHandleMixin:
    """A manager whose memory the driver itself can share between processes."""

    def get_ipc_handle(self, memory: Any) -> Any:
        """A handle by which another process opens the memory."""
        from .runtime import ipcGetMemHandle

        return ipcGetMemHandle(getattr(memory, "ptr", memory))
