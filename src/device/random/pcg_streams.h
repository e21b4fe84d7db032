// NumPy's uniform numbers and integers of PCG64 and PCG64DXSM, drawn by a GPU. Each thread jumps to its place in the stream and goes on by
// long steps. python/broadcloth/random/_on_device.py defines the constants, and which kernel is wanted:
//
//   BC_PCG_DXSM                             1 for PCG64DXSM
//   BC_PCG_POWERS, BC_PCG_SUMS_OF_POWERS    of the multiplier, for steps of 2^k words
//   BC_PCG_FLOAT64, BC_PCG_FLOAT32          the kernel of uniform numbers
//   BC_PCG_INTEGERS                         the name of the kernel of integers, with
//   BC_PCG_NUMBER, BC_PCG_UNIT              its types
//   BC_PCG_THREADS, BC_PCG_ROWS             threads of a block, and words of a thread
//   BC_PCG_BLOCKS                           blocks that share a multiprocessor
//   BC_PCG_SUMS_BELOW_WORDS                 of the powers of the multiplier below each thread's first word
#pragma once

typedef unsigned long long u64;
struct U128 {
  u64 high, low;
};
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
static __device__ const U128 A[] = {BC_PCG_POWERS};
static __device__ const U128 G[] = {BC_PCG_SUMS_OF_POWERS};

static __device__ __forceinline__ U128 jump(U128 x, U128 increment, u64 steps) {
  for (int k = 0; steps != 0; ++k, steps >>= 1)
    if (steps & 1) x = add(multiply(x, A[k]), multiply(increment, G[k]));
  return x;
}
#if BC_PCG_DXSM
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

#if defined(BC_PCG_FLOAT64)
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
#elif defined(BC_PCG_FLOAT32)
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
#else
const int kThreads = BC_PCG_THREADS, kWarps = kThreads / 32, kRows = BC_PCG_ROWS, kTile = kThreads * kRows;
// A warp takes kRows rows of 32 words. For each thread's first word k of the tile, the sum of the powers of the multiplier below the k-th:
// times the difference of the first two states it is the difference between state k and the first.
static __device__ const U128 kSums[] = {BC_PCG_SUMS_BELOW_WORDS};

// Two numbers that are stored at once.
template <class T> struct alignas(2 * sizeof(T)) Two {
  T a, b;
};

// Whole numbers below `count` by Lemire's multiplication: each unit of the stream, a word or half a word, gives one, or is rejected where
// the product's lower part is below `threshold`. A count of 0 stands for all. A block takes a tile of units and learns from the blocks
// before it how many of theirs are rejected (decoupled look-back), so the numbers are written once, where they belong. `work` is zero at
// first: a counter that gives out the tiles in the order in which blocks begin; the place behind the last number's unit; and a word for
// each tile, the count of its rejected units, or of all until its end, below two bits that say which. `state` is that before the first
// word; where `kept` is 1, the first word's upper half is `half` and its lower one was drawn earlier.
template <class T, class U>
static __device__ __forceinline__ void integers(T* out, long long n, U128 state, U128 increment, T first, U count, U threshold, u64* work,
                                                int kept, unsigned half) {
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

extern "C" __global__ void __launch_bounds__(BC_PCG_THREADS, BC_PCG_BLOCKS)
    BC_PCG_INTEGERS(BC_PCG_NUMBER* out, long long n, u64 state_high, u64 state_low, u64 increment_high, u64 increment_low,
                    BC_PCG_NUMBER first, BC_PCG_UNIT count, BC_PCG_UNIT threshold, u64* work, int kept, unsigned half) {
  const U128 state = {state_high, state_low}, increment = {increment_high, increment_low};
  integers<BC_PCG_NUMBER, BC_PCG_UNIT>(out, n, state, increment, first, count, threshold, work, kept, half);
}
#endif
