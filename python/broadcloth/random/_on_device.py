"""NumPy's uniform numbers and integers of PCG64 and PCG64DXSM, drawn by a GPU.

The kernels are src/device/random/pcg_streams.h.
"""

from __future__ import annotations

import functools
from typing import Any

from .. import _broadcloth as _c
from .._broadcloth import ndarray

_ALL = (1 << 128) - 1
_WORD = (1 << 64) - 1
# Steps of 2**k words, for k below this.
_STEPS = 48
_THREADS = 256
_MOST_THREADS = 18  # as a power of two: they fill a GPU, and each has many numbers of a large array
_NUMBERS_OF_THREAD = 4  # as a power of two: a jump costs as much as several steps
_ROWS, _BLOCKS = 16, 4  # integers: words of a thread, and blocks that share a multiprocessor

# The macros that choose a kernel of src/device/random/pcg_streams.h.
KERNELS = {
    "pcg_float64": {"FLOAT64": "1"},
    "pcg_float32": {"FLOAT32": "1"},
    "pcg_integers64": {"INTEGERS": "pcg_integers64", "NUMBER": "u64", "UNIT": "u64"},
    "pcg_integers32_of_64": {"INTEGERS": "pcg_integers32_of_64", "NUMBER": "u64", "UNIT": "unsigned"},
    "pcg_integers32": {"INTEGERS": "pcg_integers32", "NUMBER": "unsigned", "UNIT": "unsigned"},
}


@functools.cache
def _powers(dxsm: bool) -> list[tuple[int, int]]:
    """(A**2**k, 1 + A + ... + A**(2**k - 1)), modulo 2**128, for the generator's multiplier A."""
    power, sum_of_powers = (0xDA942042E4DD58B5 if dxsm else 2549297995355413924 << 64 | 4865540595714422341), 1
    found = []
    for _ in range(_STEPS):
        found.append((power, sum_of_powers))
        power, sum_of_powers = power * power & _ALL, sum_of_powers * (power + 1) & _ALL
    return found


@functools.cache
def _sums(dxsm: bool) -> list[int]:
    """1 + A + ... + A**(k - 1) for the first word k of each thread of a block."""
    multiplier, found = _powers(dxsm)[0][0], [0]
    for _ in range(_THREADS * _ROWS - 1):
        found.append((found[-1] * multiplier + 1) & _ALL)
    return [found[thread // 32 * 32 * _ROWS + thread % 32] for thread in range(_THREADS)]


@functools.cache
def _inverse(dxsm: bool) -> int:
    return pow(_powers(dxsm)[0][0], -1, 1 << 128)


def text(dxsm: bool, name: str) -> str:
    """A kernel's CUDA C++."""
    powers, sums = zip(*_powers(dxsm), strict=True)
    constants = {"POWERS": powers, "SUMS_OF_POWERS": sums, "SUMS_BELOW_WORDS": _sums(dxsm)}
    numbers = {"DXSM": int(dxsm), "THREADS": _THREADS, "ROWS": _ROWS, "BLOCKS": _BLOCKS}
    listed = {k: ", ".join(f"{{{v >> 64:#x}ull, {v & _WORD:#x}ull}}" for v in values) for k, values in constants.items()}
    defined = "".join(f"#define BC_PCG_{k} {v}\n" for k, v in {**KERNELS[name], **numbers, **listed}.items())
    return defined + _c._pcg_streams()


@functools.cache
def kernel(dxsm: bool, name: str) -> Any:
    return _c.RawKernel(text(dxsm, name), name, options=("--fmad=false",))


def _after(state: int, increment: int, dxsm: bool, steps: int) -> int:
    for k, (power, sum_of_powers) in enumerate(_powers(dxsm)):
        if steps >> k & 1:
            state = (state * power + increment * sum_of_powers) & _ALL
    return state


def _word(state: int, dxsm: bool) -> int:
    """The word that is made of a state."""
    high, low = state >> 64, state & _WORD
    if dxsm:
        high = (high ^ high >> 32) * 0xDA942042E4DD58B5 & _WORD
        return (high ^ high >> 48) * (low | 1) & _WORD
    mixed, turn = high ^ low, high >> 58
    return (mixed >> turn | mixed << (64 - turn)) & _WORD


def _threads(words: int) -> int:
    """How many threads draw so many words, as a power of two."""
    return min(max((words >> _NUMBERS_OF_THREAD).bit_length(), _THREADS.bit_length() - 1), _MOST_THREADS)


def _halves(*numbers: int) -> list[int]:
    return [number >> shift & _WORD for number in numbers for shift in (64, 0)]


def uniform(
    state: dict[str, Any], dxsm: bool, shape: tuple[int, ...], dtype: Any, device: Any, affine: bool, low: float, scale: float
) -> ndarray:
    """Numbers in an array on the device; `state`, NumPy's dictionary, is moved behind them."""
    place = state["state"]
    now, increment = place["state"], place["inc"]
    out = _c.empty(shape, dtype, device=device)
    n, wide = out.size, dtype.itemsize == 8
    kept = 0 if wide else state["has_uint32"]
    words = n if wide else (n + kept + 1) // 2
    threads = _threads(words)
    what = (threads, affine, float(low), float(scale)) if wide else (threads, kept, state["uinteger"])
    draw = kernel(dxsm, "pcg_float64" if wide else "pcg_float32")
    draw(((1 << threads) // _THREADS,), (_THREADS,), (out, n, *_halves(now, increment), *what))
    place["state"] = _after(now, increment, dxsm, words - kept)
    if not wide and n > 0:
        _keep_half(state, now, increment, dxsm, n + kept, kept)
    return out


def _keep_half(state: dict[str, Any], now: int, increment: int, dxsm: bool, halves: int, kept: int, passed: int = 0) -> None:
    """Notes what is left after so many halves, of which the first `kept` was left before. `now` is the state behind `passed` new words."""
    state["has_uint32"] = halves % 2
    words = (halves + 1) // 2
    if words > kept:  # the upper half of the last word stays, as in NumPy
        last = _after(now, increment, dxsm, words - kept - passed - (1 if dxsm else 0))
        state["uinteger"] = _word(last, dxsm) >> 32


def integers(state: dict[str, Any], dxsm: bool, shape: tuple[int, ...], dtype: Any, device: Any, first: int, span: int) -> ndarray | None:
    """Whole numbers from `first`, as 64 bits, to `first + span`; `state` is moved behind them. None where the host draws sooner."""
    place = state["state"]
    now, increment = place["state"], place["inc"]
    wide = span > 0xFFFFFFFF
    bits = 64 if wide else 32
    count = (span + 1) % (1 << bits)
    threshold = (1 << bits) % count if count else 0
    if span == 0:
        return None
    out = _c.empty(shape, dtype, device=device)
    n, kept = out.size, 0 if wide else state["has_uint32"]
    if n == 0:
        return out
    # More units than are needed, but for a chance of 1e-15.
    share = threshold / (1 << bits)
    units = n + (int((n * share + 8 * (n * share) ** 0.5) / (1 - share)) + 16 if threshold else 0)
    tile = _THREADS * _ROWS * (1 if wide else 2)
    tiles = -(-(units + kept) // tile)
    work = _c.zeros((2 + tiles,), "uint64", device=device)
    draw = kernel(dxsm, "pcg_integers64" if wide else "pcg_integers32" if dtype.itemsize == 4 else "pcg_integers32_of_64")
    start = (now - increment) * _inverse(dxsm) & _ALL if kept else now
    draw(
        (tiles,),
        (_THREADS,),
        (out, n, *_halves(start, increment), first & (_WORD if dtype.itemsize == 8 else 0xFFFFFFFF), count, threshold, work)
        + (kept, state["uinteger"]),
    )
    # The state behind what is drawn at least, while the device draws.
    passed = n if wide else max((n + kept + 1) // 2 - kept - 1, 0)
    near = _after(now, increment, dxsm, passed)
    drawn = int(work[1]) if threshold else n
    if drawn == 0:
        return None
    words = drawn if wide else (drawn + kept + 1) // 2 - kept
    place["state"] = _after(near, increment, dxsm, words - passed)
    if not wide:
        _keep_half(state, near, increment, dxsm, drawn + kept, kept, passed)
    return out
