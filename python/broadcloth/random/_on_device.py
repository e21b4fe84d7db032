"""NumPy's uniform numbers and integers of PCG64 and PCG64DXSM, drawn by a GPU.

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
_ROWS, _BLOCKS = 16, 4  # integers: words of a thread, and blocks that share a multiprocessor

_HEAD = r"""
typedef unsigned long long u64;
struct U128 { u64 high, low; };
static __device__ __forceinline__ U128 add(U128 a, U128 b) {
  U128 r;
#ifdef __CUDACC_RTC__
  asm("add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, %4, %5;" : "=l"(r.low), "=l"(r.high) : "l"(a.low), "l"(b.low), "l"(a.high), "l"(b.high));
#else
  r.low = a.low + b.low;
  r.high = a.high + b.high + (r.low < a.low);
#endif
  return r;
}
static __device__ __forceinline__ U128 multiply(U128 a, U128 b) {
  return {__umul64hi(a.low, b.low) + a.high * b.low + a.low * b.high, a.low * b.low};
}
// x * m + c, of products of 32 bits: those of the upper half need no carries.
static __device__ __forceinline__ U128 step(U128 x, U128 m, U128 c) {
  const unsigned x0 = static_cast<unsigned>(x.low), x1 = static_cast<unsigned>(x.low >> 32), x2 = static_cast<unsigned>(x.high);
  const unsigned m0 = static_cast<unsigned>(m.low), m1 = static_cast<unsigned>(m.low >> 32), m2 = static_cast<unsigned>(m.high);
  const u64 p = static_cast<u64>(x0) * m0, q = static_cast<u64>(x0) * m1 + (p >> 32);
  const u64 r = static_cast<u64>(x1) * m0 + static_cast<unsigned>(q);
  u64 high = static_cast<u64>(x0) * m2 + c.high;
  high += static_cast<u64>(x1) * m1;
  high += static_cast<u64>(x2) * m0;
  const unsigned top = x0 * static_cast<unsigned>(m.high >> 32) + x1 * m2 + x2 * m1 + static_cast<unsigned>(x.high >> 32) * m0;
  high += (static_cast<u64>(top) << 32) + (q >> 32) + (r >> 32);
  return add({high, r << 32 | static_cast<unsigned>(p)}, {0, c.low});
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
  // A rotation by the upper six bits: of halves that change places, by the lower five of these.
  const bool swaps = static_cast<int>(x.high >> 32) < 0;
  const unsigned upper = static_cast<unsigned>(mixed >> 32), lower = static_cast<unsigned>(mixed);
  const unsigned a = swaps ? upper : lower, b = swaps ? lower : upper, turn = static_cast<unsigned>(x.high >> 58);
  return static_cast<u64>(__funnelshift_r(b, a, turn)) << 32 | __funnelshift_r(a, b, turn);
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
    x = step(x, multiplier, addend);
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
    x = step(x, multiplier, addend);
  }
}
"""

_INTEGERS = r"""
const int kThreads = @THREADS@, kWarps = kThreads / 32, kRows = @ROWS@, kTile = kThreads * kRows;
// A warp takes kRows rows of 32 words. For each thread's first word k of the tile, the sum of the powers of the multiplier below the k-th:
// times the difference of the first two states it is the difference between state k and the first.
static __device__ const U128 kSums[] = {@SUMS@};

// Two numbers that are stored at once.
template <class T> struct alignas(2 * sizeof(T)) Two { T a, b; };

// Whole numbers below `count` by Lemire's multiplication: each unit of the stream, a word or half a word, gives one, or is rejected where
// the product's lower part is below `threshold`. A count of 0 stands for all. A block takes a tile of units and learns from the blocks
// before it how many of theirs are rejected (decoupled look-back), so the numbers are written once, where they belong. `work` is zero at
// first: a counter that gives out the tiles in the order in which blocks begin; the place behind the last number's unit; and a word for
// each tile, the count of its rejected units, or of all until its end, below two bits that say which. `state` is that before the first
// word; where `kept` is 1, the first word's upper half is `half` and its lower one was drawn earlier.
template <class T, class U>
static __device__ __forceinline__ void integers(T* out, long long n, U128 state, U128 increment, T first, U count, U threshold,
                                                u64* work, int kept, unsigned half) {
  constexpr int kUnits = 8 / sizeof(U);  // of a word
  __shared__ U128 base, difference;
  __shared__ u64 of_warp[kWarps];
  __shared__ unsigned tile_of_block;
  __shared__ int before_row[kWarps * kRows + 1];  // the tile's rejected units
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32, first_word = warp * kRows * 32 + lane;
  const unsigned all = 0xffffffffu;
  if (t == 0) {
    const unsigned tile = tile_of_block = atomicAdd(reinterpret_cast<unsigned*>(work), 1u);
    base = jump(state, increment, static_cast<u64>(tile) * kTile + kFirst);
    const U128 next = add(multiply(base, A[0]), increment);
    difference = {next.high - base.high - (next.low < base.low), next.low - base.low};
  }
  __syncthreads();
  const long long tile = tile_of_block;
  U128 x = add(base, multiply(difference, kSums[t]));
  const U128 multiplier = A[5], addend = multiply(increment, G[5]);
  const auto word_of = [&](int r) {
    const u64 word = output(x);
    x = step(x, multiplier, addend);
    return r == 0 && kept && tile == 0 && t == 0 ? static_cast<u64>(half) << 32 : word;
  };
  // The number of a unit, and what must not be below the threshold.
  const U raw = count == 0 ? 1 : 0;
  const auto number_of = [&](u64 word, int k, U& high) {
    const U unit = static_cast<U>(word >> (k * 32));
    if constexpr (sizeof(U) == 8) {
      high = __umul64hi(unit, count) + unit * raw;
      return unit * count;
    } else {
      const u64 product = static_cast<u64>(unit) * count;
      high = static_cast<U>(product >> 32) + unit * raw;
      return static_cast<U>(product);
    }
  };
  U high[kRows][kUnits], least = ~U(0);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const u64 word = word_of(r);
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
      const U low = number_of(word, k, high[r][k]);
      least = low < least ? low : least;
    }
  }
  unsigned bad[kUnits] = {};  // rows whose unit is rejected
  long long before = 0;
  bool some = false;  // units of the tile are rejected
  if (threshold != 0) {
    some = __syncthreads_or(least < threshold);
    if (some) {
      x = add(base, multiply(difference, kSums[t]));
#pragma unroll 1
      for (int r = 0; r < kRows; ++r) {
        const u64 word = word_of(r);
        U number;
        for (int k = 0; k < kUnits; ++k) bad[k] |= number_of(word, k, number) < threshold ? 1u << r : 0u;
      }
      if (kept && tile == 0 && t == 0) bad[0] &= ~1u;  // its place is -1
#pragma unroll 1
      for (int r = 0; r < kRows; ++r) {
        int rejected = 0;
        for (int k = 0; k < kUnits; ++k) rejected += __popc(__ballot_sync(all, bad[k] >> r & 1));
        if (lane == 0) before_row[warp * kRows + r] = rejected;
      }
      __syncthreads();
      int sum = 0;
#pragma unroll 1
      for (int k = 0; k < t && k < kWarps * kRows; ++k) sum += before_row[k];
      __syncthreads();
      if (t <= kWarps * kRows) before_row[t] = sum;
      __syncthreads();
    }
    const u64 total = some ? before_row[kWarps * kRows] : 0;
    volatile u64* cells = work + 2;
    const u64 one = 1ull << 62, sum = 2ull << 62;
    if (t == 0) cells[tile] = (tile == 0 ? sum : one) | total;
    // Each thread looks at one of the tiles before, so one or two turns reach as far back as blocks run at once.
    u64 found = 0;
    for (long long at = tile - 1 - t; tile > 0; at -= kThreads) {
      u64 cell = sum;
      do {
        if (at >= 0) cell = cells[at];
      } while (!__all_sync(all, cell >> 62 != 0));
      const unsigned sums = __ballot_sync(all, cell >> 62 == 2);
      const int nearest = sums == 0 ? 31 : __ffs(static_cast<int>(sums)) - 1;
      u64 part = lane <= nearest ? cell & (one - 1) : 0;
      if (__any_sync(all, part != 0))
        for (int d = 16; d > 0; d /= 2) part += __shfl_xor_sync(all, part, d);
      if (lane == 0) of_warp[warp] = part | (sums != 0 ? sum : 0);
      __syncthreads();
      bool ends = false;
      for (int k = 0; k < kWarps && !ends; ++k) {
        found += of_warp[k] & (one - 1);
        ends = of_warp[k] >= sum;
      }
      if (ends) break;
      __syncthreads();
    }
    if (t == 0 && tile > 0) cells[tile] = sum | (found + total);
    before = static_cast<long long>(found);
  }
  const long long start = tile * kTile * kUnits - kept - before;  // the place of the tile's first number
  if (!some && start >= 0 && start + kTile * kUnits < n) {
    T* to = out + start + first_word * kUnits;
    if constexpr (kUnits == 1) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) to[r * 32] = static_cast<T>(first + static_cast<T>(high[r][0]));
    } else if ((start & 1) == 0) {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        *reinterpret_cast<Two<T>*>(to + r * 64) = {static_cast<T>(first + static_cast<T>(high[r][0])),
                                                   static_cast<T>(first + static_cast<T>(high[r][kUnits - 1]))};
    } else {
      // The pairs at even places: the last number of the word before, and the first one of this word.
      U last = 0;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const U a = high[r][0], b = high[r][kUnits - 1], left = __shfl_sync(all, lane == 31 ? last : b, (lane + 31) & 31);
        if (r > 0 || lane > 0)
          *reinterpret_cast<Two<T>*>(to + r * 64 - 1) = {static_cast<T>(first + static_cast<T>(left)),
                                                         static_cast<T>(first + static_cast<T>(a))};
        last = b;
      }
      if (lane == 0) to[0] = static_cast<T>(first + static_cast<T>(high[0][0]));
      if (lane == 31) to[kRows * 64 - 63] = static_cast<T>(first + static_cast<T>(last));
    }
    return;
  }
  // Here numbers move up, or the array begins or ends. The words are drawn again, since registers have no index.
  x = add(base, multiply(difference, kSums[t]));
#pragma unroll 1
  for (int r = 0; r < kRows; ++r) {
    const u64 word = word_of(r);
    const int in_tile = first_word + r * 32;
    long long place = start + in_tile * kUnits;
    if (some) {
      place -= before_row[warp * kRows + r];
      for (int k = 0; k < kUnits; ++k) place -= __popc(__ballot_sync(all, bad[k] >> r & 1) & ((1u << lane) - 1));
    }
    for (int k = 0; k < kUnits; ++k) {
      U number;
      number_of(word, k, number);
      if (bad[k] >> r & 1) continue;
      if (place >= 0 && place < n) {
        out[place] = static_cast<T>(first + static_cast<T>(number));
        if (place == n - 1) work[1] = static_cast<u64>((tile * kTile + in_tile) * kUnits + k - kept + 1);
      }
      ++place;
    }
  }
}
"""


def _integers(name: str, number: str, unit: str) -> str:
    bounds = f"{_THREADS}, {_BLOCKS}"
    return _INTEGERS + (
        f'extern "C" __global__ void __launch_bounds__({bounds}) {name}({number}* out, long long n, u64 state_high, u64 state_low,\n'
        f"                                    u64 increment_high, u64 increment_low, {number} first, {unit} count,\n"
        f"                                    {unit} threshold, u64* work, int kept, unsigned half) {{\n"
        "  const U128 state = {state_high, state_low}, increment = {increment_high, increment_low};\n"
        f"  integers<{number}, {unit}>(out, n, state, increment, first, count, threshold, work, kept, half);\n}}\n"
    )


# The text of each kernel behind the head.
KERNELS = {
    "pcg_float64": _FLOAT64,
    "pcg_float32": _FLOAT32,
    "pcg_integers64": _integers("pcg_integers64", "u64", "u64"),
    "pcg_integers32_of_64": _integers("pcg_integers32_of_64", "u64", "unsigned"),
    "pcg_integers32": _integers("pcg_integers32", "unsigned", "unsigned"),
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
    whole = _HEAD + KERNELS[name]
    powers, sums = zip(*_powers(dxsm), strict=True)
    for mark, constants in (("@A@", powers), ("@G@", sums), ("@SUMS@", _sums(dxsm))):
        whole = whole.replace(mark, ", ".join(f"{{{value >> 64:#x}ull, {value & _WORD:#x}ull}}" for value in constants))
    for mark, number in (("@DXSM@", dxsm), ("@THREADS@", _THREADS), ("@ROWS@", _ROWS)):
        whole = whole.replace(mark, str(int(number)))
    return whole


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
