"""NumPy's uniform numbers of PCG64 and PCG64DXSM, drawn by a GPU.

Each thread jumps to its place in the stream and goes on by long steps.
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

_TEXT = r"""
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


@functools.cache
def _powers(dxsm: bool) -> list[tuple[int, int]]:
    """(A**2**k, 1 + A + ... + A**(2**k - 1)), modulo 2**128, for the generator's multiplier A."""
    power, sum_of_powers = (0xDA942042E4DD58B5 if dxsm else 2549297995355413924 << 64 | 4865540595714422341), 1
    found = []
    for _ in range(_STEPS):
        found.append((power, sum_of_powers))
        power, sum_of_powers = power * power & _ALL, sum_of_powers * (power + 1) & _ALL
    return found


def text(dxsm: bool) -> str:
    """The kernels' CUDA C++."""
    columns = zip(*_powers(dxsm), strict=True)
    a, g = (", ".join(f"{{{value >> 64:#x}ull, {value & _WORD:#x}ull}}" for value in column) for column in columns)
    return _TEXT.replace("@A@", a).replace("@G@", g).replace("@DXSM@", str(int(dxsm)))


@functools.cache
def kernel(dxsm: bool, name: str) -> Any:
    return _c.RawKernel(text(dxsm), name, options=("--fmad=false",))


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
    threads = min(max((words >> _NUMBERS_OF_THREAD).bit_length(), _THREADS.bit_length() - 1), _MOST_THREADS)
    what = (threads, affine, float(low), float(scale)) if wide else (threads, kept, state["uinteger"])
    halves = (number >> shift & _WORD for number in (now, increment) for shift in (64, 0))
    draw = kernel(dxsm, "pcg_float64" if wide else "pcg_float32")
    draw(((1 << threads) // _THREADS,), (_THREADS,), (out, n, *halves, *what))
    place["state"] = _after(now, increment, dxsm, words - kept)
    if not wide and n > 0:
        state["has_uint32"] = (n + kept) % 2
        if words > kept:  # the upper half of the last word stays, as in NumPy
            last = _after(now, increment, dxsm, words - kept - 1) if dxsm else place["state"]
            state["uinteger"] = _word(last, dxsm) >> 32
    return out
