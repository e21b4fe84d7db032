"""What the engine's library takes of a process that others share."""

from __future__ import annotations

import struct
from pathlib import Path

import broadcloth as bc

# glibc reserves some memory for thread-local variables of libraries that are opened later and use them by the quick way, as ours does: all
# of the segment is taken from there. What we take PyTorch's libgomp lacks when it is opened after us: with a few hundred bytes more
# `import torch` ended with "cannot allocate memory in static TLS block". State of a thread that is larger lies on the heap.
MOST_THREAD_LOCAL_BYTES = 0x340

PT_TLS = 7


def thread_local_bytes(library: Path) -> int:
    """The size of the segment of thread-local variables of an ELF file."""
    data = library.read_bytes()
    assert data[:5] == b"\x7fELF\x02"
    (table,), (size, count) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    heads = [struct.unpack_from("<IIQQQQQQ", data, table + i * size) for i in range(count)]
    return sum(head[6] for head in heads if head[0] == PT_TLS)


def test_thread_local_variables_leave_room_for_libraries_that_are_opened_later():
    folder = Path(bc._c.__file__).parent
    taken = thread_local_bytes(folder / "libbroadcloth.so")
    assert 0 < taken <= MOST_THREAD_LOCAL_BYTES, hex(taken)
