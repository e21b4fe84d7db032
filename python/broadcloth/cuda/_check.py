"""What checked kernels (`cuda.jit(check=True)`) find."""

from __future__ import annotations

__all__ = ["CheckError", "CheckIndexError"]

_KINDS = {1: "out of bounds", 2: "race", 3: "uninitialised", 4: "nan", 5: "barrier"}
_ACCESSES = {0: "reads", 1: "writes", 2: "updates atomically", 3: "accesses"}
_OTHERS = {0: "reads", 1: "writes", 2: "updates atomically"}


class CheckError(RuntimeError):
    """A checked kernel did what no kernel should. The first finding of a launch is raised at the launch.

    Attributes
    ----------
    kind : str
        "out of bounds", "race", "uninitialised", "nan" or "barrier".
    file, line, text : str, int, str
        The source line.
    thread, block : tuple of int
        Who was it.
    array, index, shape : str, tuple of int, tuple of int
        The array by the name that the line gives it; empty for "nan". For "barrier" how many threads came to the line, and how many
        the block has, are `index` and `shape`.
    """

    kind: str
    file: str
    line: int
    text: str
    thread: tuple[int, ...]
    block: tuple[int, ...]
    array: str
    index: tuple[int, ...]
    shape: tuple[int, ...]


class CheckIndexError(CheckError, IndexError):
    """An index out of bounds in a checked kernel."""


def _finding(
    kernel: str,
    site: tuple[str, int, str, str, str],
    numbers: tuple[int, ...],
    index: tuple[int, ...],
    shape: tuple[int, ...],
) -> CheckError:
    """The exception for a finding; `numbers` are the integers of the device library's py::Finding."""
    file, line, function, text, what = site
    thread, block = numbers[1:4], numbers[4:7]
    kind, access = numbers[7], numbers[10]
    other_thread, other_block = numbers[11:14], numbers[14:17]
    at = index[0] if len(index) == 1 else index
    if kind == 1:
        message = f"index {at} is out of bounds for '{what}' of shape {shape}"
    elif kind == 2:
        where = f"'{what}'" + (f" at {at}" if index else "")
        of_block = "the same block" if other_block == block else f"block {other_block}"
        other = f"thread {other_thread} of {of_block} {_OTHERS[access >> 4]} with no barrier between"
        message = f"race: the thread {_ACCESSES[access & 15]} {where}, which {other}"
    elif kind == 3:
        message = f"'{what}' is read{f' at {at}' if index else ''}, where nothing was written before"
    elif kind == 5:
        message = f"only {index[0]} of the {shape[0]} threads of the block that have not returned come to this barrier together"
    else:
        message = f"{what} is NaN, and its operands are not"
    error = (CheckIndexError if kind == 1 else CheckError)(
        f"kernel {kernel}: {message}\n  {file}:{line}, in {function}: {text}\n  thread {thread} of block {block}"
    )
    error.kind, error.file, error.line, error.text = _KINDS[kind], file, line, text
    error.thread, error.block = thread, block
    error.array, error.index, error.shape = ("" if kind >= 4 else what), index, shape
    return error
