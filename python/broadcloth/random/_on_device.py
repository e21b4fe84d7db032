"""NumPy's uniform numbers and integers of PCG64 and PCG64DXSM, drawn by a GPU.

Each thread jumps to its place in the stream and goes on by long steps.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray

_ALL = (1 << 128) - 1
_WORD = (1 << 64) - 1
# Steps of 2**k words, for k below this.
_STEPS = 48
_THREADS = 256
_MOST_THREADS = 18  # as a power of two: they fill a GPU, and each has many numbers of a large array
_NUMBERS_OF_THREAD = 4  # as a power of two: a jump costs as much as several steps
# Where more units than this share of them are rejected, or this many, the host draws.
_MOST_REJECTED, _ROOM = 2**-10, 1 << 16
_PART = 12  # as a power of two: units that share an entry of the table of rejections

_HEAD = r"""
typedef unsigned long long u64;
struct U128 { u64 high, low; };
static __device__ __forceinline__ U128 add(U128 a, U128 b) {
  U128 r = {a.high + b.high, a.low + b.low};
  r.high += r.low < a.low;
  return r;
}
static __device__ __forceinline__ U128 multiply(U128 a, U128 b) {
  return {__umul64hi(a.low, b.low) + a.high * b.low + a.low * b.high, a.low * b.low};
}
// 2^k steps multiply the state by A[k] and add G[k] times the increment.
static __device__ const U128 A[] = {@A@};
static __device__ const U128 G[] = {@G@};

static __device__ __forceinline__ U128 jump(U128 x, U128 increment, u64 steps) {
  for (int k = 0; steps != 0; ++k, steps >>= 1)
    if (steps & 1) x = add(multiply(x, A[k]), multiply(increment, G[k]));
  return x;
}
#if @DXSM@
// A word is made of the state before its step.
static __device__ __forceinline__ u64 output(U128 x) {
  const u64 cheap = 0xda942042e4dd58b5ull;
  u64 high = (x.high ^ x.high >> 32) * cheap;
  return (high ^ high >> 48) * (x.low | 1);
}
const int kFirst = 0;
#else
// A word is made of the state after its step.
static __device__ __forceinline__ u64 output(U128 x) {
  const u64 mixed = x.high ^ x.low;
  const int turn = static_cast<int>(x.high >> 58);
  return mixed >> turn | mixed << (-turn & 63);
}
const int kFirst = 1;
#endif
"""

_FLOAT64 = r"""
extern "C" __global__ void pcg_float64(double* out, long long n, u64 state_high, u64 state_low, u64 increment_high, u64 increment_low,
                                       int threads, bool affine, double low, double scale) {
  const U128 increment = {increment_high, increment_low};
  const u64 t = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
  U128 x = jump({state_high, state_low}, increment, t + kFirst);
  const U128 multiplier = A[threads], addend = multiply(increment, G[threads]);
  for (u64 i = t; i < static_cast<u64>(n); i += 1ull << threads) {
    const double u = static_cast<double>(output(x) >> 11) * (1.0 / 9007199254740992.0);
    out[i] = affine ? low + scale * u : u;
    x = add(multiply(x, multiplier), addend);
  }
}
"""

_FLOAT32 = r"""
// Two numbers of each word, the lower half first. Where half a word is left of an earlier draw, it is the first number's.
extern "C" __global__ void pcg_float32(float* out, long long n, u64 state_high, u64 state_low, u64 increment_high, u64 increment_low,
                                       int threads, int kept, unsigned half) {
  const U128 increment = {increment_high, increment_low};
  const u64 t = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
  const U128 multiplier = A[threads], addend = multiply(increment, G[threads]);
  long long i = static_cast<long long>(2 * t) - kept;
  u64 next = t - kept;  // the word's place in the stream
  if (i < 0) {
    if (n > 0) out[0] = static_cast<float>(half >> 8) * (1.0f / 16777216.0f);
    i += 2ll << threads;
    next += 1ull << threads;
  }
  U128 x = jump({state_high, state_low}, increment, next + kFirst);
  for (; i < n; i += 2ll << threads) {
    const u64 word = output(x);
    const float first = static_cast<float>(static_cast<unsigned>(word) >> 8) * (1.0f / 16777216.0f);
    const float second = static_cast<float>(static_cast<unsigned>(word >> 32) >> 8) * (1.0f / 16777216.0f);
    if (kept == 0 && i + 1 < n) {
      *reinterpret_cast<float2*>(out + i) = make_float2(first, second);
    } else {
      out[i] = first;
      if (i + 1 < n) out[i + 1] = second;
    }
    x = add(multiply(x, multiplier), addend);
  }
}
"""

_INTEGERS = r"""
// Whole numbers below `count` by Lemire's multiplication: a unit of the stream, a word or half a word, gives one, or is rejected. First
// each number is taken for the one of its unit, and rejected units are listed. If there are any, `begins` then has the number of those
// before each part of the stream, and the numbers move up.
template <class T, class U> struct Integers {
  T* out;
  long long n, units;
  T first;
  U count, threshold;  // a count of 0 stands for all
  long long *rejected, room;
  unsigned long long* found;
  const long long* begins;

  __device__ __forceinline__ void put(long long place, U unit) const {
    if (place >= units) return;
    U high = unit;
    if (count != 0) {
      U low;
      if constexpr (sizeof(U) == 8) {
        low = unit * count;
        high = __umul64hi(unit, count);
      } else {
        const u64 product = static_cast<u64>(unit) * count;
        low = static_cast<U>(product);
        high = static_cast<U>(product >> 32);
      }
      if (low < threshold) {
        if (begins) return;
        const long long at = static_cast<long long>(atomicAdd(found, 1ull));
        if (at < room) rejected[at] = place;
        return;
      }
    }
    if (begins) {
      const long long part = place >> @PART@, end = begins[part + 1];
      long long k = begins[part];
      while (k < end && rejected[k] < place) ++k;
      place -= k;
    }
    if (place < n) out[place] = static_cast<T>(first + static_cast<T>(high));
  }
};
"""

_INTEGERS64 = r"""
extern "C" __global__ void pcg_integers64(u64* out, long long n, u64 state_high, u64 state_low, u64 increment_high, u64 increment_low,
                                          int threads, long long units, u64 first, u64 count, u64 threshold, long long* rejected,
                                          long long room, unsigned long long* found, const long long* begins, bool moves) {
  const Integers<u64, u64> to = {out, n, units, first, count, threshold, rejected, room, found, moves ? begins : nullptr};
  const U128 increment = {increment_high, increment_low};
  const u64 t = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
  U128 x = jump({state_high, state_low}, increment, t + kFirst);
  const U128 multiplier = A[threads], addend = multiply(increment, G[threads]);
  for (u64 i = t; i < static_cast<u64>(units); i += 1ull << threads) {
    to.put(static_cast<long long>(i), output(x));
    x = add(multiply(x, multiplier), addend);
  }
}
"""

_HALVES = r"""
template <class T>
static __device__ __forceinline__ void integers_of_halves(const Integers<T, unsigned>& to, U128 state, U128 increment, int threads,
                                                          int kept, unsigned half) {
  const u64 t = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
  const U128 multiplier = A[threads], addend = multiply(increment, G[threads]);
  long long i = static_cast<long long>(2 * t) - kept;
  u64 next = t - kept;  // the word's place in the stream
  if (i < 0) {
    to.put(0, half);
    i += 2ll << threads;
    next += 1ull << threads;
  }
  U128 x = jump(state, increment, next + kFirst);
  for (; i < to.units; i += 2ll << threads) {
    const u64 word = output(x);
    to.put(i, static_cast<unsigned>(word));
    to.put(i + 1, static_cast<unsigned>(word >> 32));
    x = add(multiply(x, multiplier), addend);
  }
}"""

_INTEGERS32_OF_64 = r"""
extern "C" __global__ void pcg_integers32_of_64(u64* out, long long n, u64 state_high, u64 state_low, u64 increment_high, u64 increment_low,
                                                int threads, long long units, u64 first, unsigned count, unsigned threshold,
                                                long long* rejected, long long room, unsigned long long* found, const long long* begins,
                                                bool moves, int kept, unsigned half) {
  integers_of_halves<u64>({out, n, units, first, count, threshold, rejected, room, found, moves ? begins : nullptr},
                          {state_high, state_low}, {increment_high, increment_low}, threads, kept, half);
}"""

_INTEGERS32 = r"""
extern "C" __global__ void pcg_integers32(unsigned* out, long long n, u64 state_high, u64 state_low, u64 increment_high, u64 increment_low,
                                          int threads, long long units, unsigned first, unsigned count, unsigned threshold,
                                          long long* rejected, long long room, unsigned long long* found, const long long* begins,
                                          bool moves, int kept, unsigned half) {
  integers_of_halves<unsigned>({out, n, units, first, count, threshold, rejected, room, found, moves ? begins : nullptr},
                               {state_high, state_low}, {increment_high, increment_low}, threads, kept, half);
}
"""

# The text of each kernel behind the head.
KERNELS = {
    "pcg_float64": _FLOAT64,
    "pcg_float32": _FLOAT32,
    "pcg_integers64": _INTEGERS + _INTEGERS64,
    "pcg_integers32_of_64": _INTEGERS + _HALVES + _INTEGERS32_OF_64,
    "pcg_integers32": _INTEGERS + _HALVES + _INTEGERS32,
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


def text(dxsm: bool, name: str) -> str:
    """A kernel's CUDA C++."""
    columns = zip(*_powers(dxsm), strict=True)
    a, g = (", ".join(f"{{{value >> 64:#x}ull, {value & _WORD:#x}ull}}" for value in column) for column in columns)
    whole = _HEAD + KERNELS[name]
    return whole.replace("@A@", a).replace("@G@", g).replace("@DXSM@", str(int(dxsm))).replace("@PART@", str(_PART))


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


def _keep_half(state: dict[str, Any], now: int, increment: int, dxsm: bool, halves: int, kept: int) -> None:
    """Notes what is left after so many halves, of which the first `kept` was left before."""
    state["has_uint32"] = halves % 2
    words = (halves + 1) // 2
    if words > kept:  # the upper half of the last word stays, as in NumPy
        last = _after(now, increment, dxsm, words - kept - (1 if dxsm else 0))
        state["uinteger"] = _word(last, dxsm) >> 32


def integers(state: dict[str, Any], dxsm: bool, shape: tuple[int, ...], dtype: Any, device: Any, first: int, span: int) -> ndarray | None:
    """Whole numbers from `first`, as 64 bits, to `first + span`; `state` is moved behind them. None where the host draws sooner."""
    place = state["state"]
    now, increment = place["state"], place["inc"]
    wide = span > 0xFFFFFFFF
    count = (span + 1) % (1 << (64 if wide else 32))
    threshold = (1 << (64 if wide else 32)) % count if count else 0
    share = threshold / (1 << (64 if wide else 32))
    n = int(np.prod(shape, dtype=np.int64))
    expected = n * share
    if span == 0 or share > _MOST_REJECTED or expected > _ROOM / 2:
        return None
    out = _c.empty(shape, dtype, device=device)
    kept = 0 if wide else state["has_uint32"]
    # More units than are needed, but for a chance of 1e-15.
    units = n + (int(expected + 8 * expected**0.5 + 16) if threshold else 0)
    words = units if wide else (units + kept + 1) // 2
    threads = _threads(words)
    draw = kernel(dxsm, "pcg_integers64" if wide else "pcg_integers32" if dtype.itemsize == 4 else "pcg_integers32_of_64")
    room = _ROOM if threshold else 1
    rejected, found = _c.empty((room,), "int64", device=device), _c.zeros((1,), "int64", device=device)

    def launch(begins: ndarray, moves: bool) -> None:
        what = [out, n, *_halves(now, increment), threads, units, first & (_WORD if dtype.itemsize == 8 else 0xFFFFFFFF), count, threshold]
        what += [rejected, room, found, begins, moves]
        draw(((1 << threads) // _THREADS,), (_THREADS,), tuple(what if wide else [*what, kept, state["uinteger"]]))

    launch(rejected, False)
    drawn = n
    if threshold and (count_rejected := int(found.get()[0])):
        if count_rejected > room:
            return None
        places = np.sort(rejected.get()[:count_rejected])
        before = int(np.searchsorted(places - np.arange(count_rejected), n))  # what is rejected before the last number
        drawn = n + before
        if drawn > units:
            return None
        if before:
            begins = np.searchsorted(places, np.arange(0, units + (2 << _PART), 1 << _PART))
            rejected = _c.asarray(places, device=device)
            launch(_c.asarray(begins.astype(np.int64), device=device), True)
    if wide:
        place["state"] = _after(now, increment, dxsm, drawn)
    else:
        place["state"] = _after(now, increment, dxsm, (drawn + kept + 1) // 2 - kept)
        if n > 0:
            _keep_half(state, now, increment, dxsm, drawn + kept, kept)
    return out
