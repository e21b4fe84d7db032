// PCG64 and PCG64DXSM (O'Neill 2014): a linear congruential generator of 128 bits, whose output functions make a 64-bit word of each state.
// A jump of n steps takes O(log n) multiplications (Brown 1994). Sixteen lanes advance by sixteen steps each, because a single sequence
// would wait for each multiplication to finish.
#include "ops/pcg_words.h"

#include <bit>
#include <cstring>

#include "core/cpu_level.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace bc::pcg {
namespace {

using u128 = unsigned __int128;

constexpr uint64_t kCheapMultiplier = 0xda942042e4dd58b5u;
constexpr u128 kMultiplier = static_cast<u128>(2549297995355413924u) << 64 | 4865540595714422341u;

Step repeated(Step step, u128 times) {
  Step result{1, 0};
  for (; times != 0; times >>= 1) {
    if (times & 1) result = {result.multiplier * step.multiplier, step(result.addend)};
    step = {step.multiplier * step.multiplier, step(step.addend)};
  }
  return result;
}

uint64_t upper(u128 x) { return static_cast<uint64_t>(x >> 64); }
uint64_t lower(u128 x) { return static_cast<uint64_t>(x); }

uint64_t xsl_rr(uint64_t high, uint64_t low) { return std::rotr(high ^ low, static_cast<int>(high >> 58)); }
uint64_t dxsm(uint64_t high, uint64_t low) {
  high = (high ^ high >> 32) * kCheapMultiplier;
  return (high ^ high >> 48) * (low | 1);
}

/// Four lanes at a time, whose states stay in registers.
template <uint64_t (*output)(uint64_t, uint64_t), int kLanes>
void fill(char* out, int64_t count, uint64_t* high, uint64_t* low, const Step& step) {
  for (int first = 0; first < kLanes; first += 4) {
    u128 x[4];
    for (int lane = 0; lane < 4; ++lane) x[lane] = static_cast<u128>(high[first + lane]) << 64 | low[first + lane];
    for (int64_t i = first; i < count; i += kLanes)
      for (int lane = 0; lane < 4; ++lane) {
        const uint64_t word = output(upper(x[lane]), lower(x[lane]));
        std::memcpy(out + 8 * (i + lane), &word, 8);
        x[lane] = step(x[lane]);
      }
    for (int lane = 0; lane < 4; ++lane) {
      high[first + lane] = upper(x[lane]);
      low[first + lane] = lower(x[lane]);
    }
  }
}

#ifdef __x86_64__
#define BC_AVX512 __attribute__((target("avx512f,avx512dq")))

struct Vector {
  __m512i high, low;
};

/// step(x) in eight lanes. The lower half is the sum of 32-bit products.
BC_AVX512 inline Vector stepped(const Vector& x, const Vector& multiplier, const Vector& addend) {
  const __m512i mask = _mm512_set1_epi64(0xffffffff), m1 = _mm512_srli_epi64(multiplier.low, 32), x1 = _mm512_srli_epi64(x.low, 32);
  const __m512i p00 = _mm512_mul_epu32(x.low, multiplier.low), p01 = _mm512_mul_epu32(x.low, m1);
  const __m512i p10 = _mm512_mul_epu32(x1, multiplier.low), p11 = _mm512_mul_epu32(x1, m1);
  const __m512i middle =
      _mm512_add_epi64(_mm512_add_epi64(_mm512_srli_epi64(p00, 32), _mm512_and_si512(p01, mask)), _mm512_and_si512(p10, mask));
  const __m512i carried = _mm512_add_epi64(_mm512_add_epi64(p11, _mm512_srli_epi64(p01, 32)),
                                           _mm512_add_epi64(_mm512_srli_epi64(p10, 32), _mm512_srli_epi64(middle, 32)));
  const __m512i crossed = _mm512_add_epi64(_mm512_mullo_epi64(x.high, multiplier.low), _mm512_mullo_epi64(x.low, multiplier.high));
  const __m512i product = _mm512_or_si512(_mm512_slli_epi64(middle, 32), _mm512_and_si512(p00, mask));
  const __m512i low = _mm512_add_epi64(product, addend.low);
  const __m512i high = _mm512_add_epi64(_mm512_add_epi64(carried, crossed), addend.high);
  return {_mm512_mask_add_epi64(high, _mm512_cmplt_epu64_mask(low, addend.low), high, _mm512_set1_epi64(1)), low};
}

template <bool is_dxsm>
BC_AVX512 inline __m512i words_of(const Vector& x) {
  if constexpr (is_dxsm) {
    __m512i high = _mm512_xor_si512(x.high, _mm512_srli_epi64(x.high, 32));
    high = _mm512_mullo_epi64(high, _mm512_set1_epi64(static_cast<int64_t>(kCheapMultiplier)));
    high = _mm512_xor_si512(high, _mm512_srli_epi64(high, 48));
    return _mm512_mullo_epi64(high, _mm512_or_si512(x.low, _mm512_set1_epi64(1)));
  } else {
    return _mm512_rorv_epi64(_mm512_xor_si512(x.high, x.low), _mm512_srli_epi64(x.high, 58));
  }
}

template <bool is_dxsm>
BC_AVX512 void fill_avx512(char* out, int64_t count, uint64_t* high, uint64_t* low, const Step& step) {
  const auto all = [](u128 x) BC_AVX512 {
    return Vector{_mm512_set1_epi64(static_cast<int64_t>(upper(x))), _mm512_set1_epi64(static_cast<int64_t>(lower(x)))};
  };
  const Vector multiplier = all(step.multiplier), addend = all(step.addend);
  Vector a{_mm512_load_si512(high), _mm512_load_si512(low)}, b{_mm512_load_si512(high + 8), _mm512_load_si512(low + 8)};
  for (int64_t i = 0; i < count; i += 16) {
    _mm512_storeu_si512(out + 8 * i, words_of<is_dxsm>(a));
    _mm512_storeu_si512(out + 8 * i + 64, words_of<is_dxsm>(b));
    a = stepped(a, multiplier, addend);
    b = stepped(b, multiplier, addend);
  }
  _mm512_store_si512(high, a.high);
  _mm512_store_si512(low, a.low);
  _mm512_store_si512(high + 8, b.high);
  _mm512_store_si512(low + 8, b.low);
}
#endif

}  // namespace

Words::Words(const State& state)
    : state_(state), step_{state.dxsm ? u128{kCheapMultiplier} : kMultiplier, state.increment}, long_step_(repeated(step_, kLanes)) {}

u128 Words::state_at(int64_t index) const {
  // Index -1 is the last word of the period of 2^128.
  return repeated(step_, static_cast<u128>(static_cast<__int128>(index) - kept()))(state_.state);
}

void Words::seek(int64_t index) {
  index_ = index;
  // PCG64 makes a word of the state after its step, PCG64DXSM of that before it.
  u128 x = state_at(index);
  if (!state_.dxsm) x = step_(x);
  for (int lane = 0; lane < kLanes; ++lane) {
    high_[lane] = upper(x);
    low_[lane] = lower(x);
    x = step_(x);
  }
}

void Words::next(char* out) {
#ifdef __x86_64__
  if (cpu_level() >= CpuLevel::v4)
    (state_.dxsm ? fill_avx512<true> : fill_avx512<false>)(out, kBlock, high_, low_, long_step_);
  else
#endif
    (state_.dxsm ? fill<dxsm, kLanes> : fill<xsl_rr, kLanes>)(out, kBlock, high_, low_, long_step_);
  if (index_ < kept()) {
    const uint64_t word = static_cast<uint64_t>(state_.half) << 32;
    std::memcpy(out, &word, 8);
  }
  index_ += kBlock;
}

}  // namespace bc::pcg
