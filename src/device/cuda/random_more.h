// curand_kernel.h: MRG32k3a, Sobol's sequences, and distributions that return several numbers.
#pragma once

// ---- MRG32k3a (L'Ecuyer, Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators, 1999)
struct curandStateMRG32k3a {
  unsigned s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

#define __BC_M1 4294967087ull
#define __BC_M2 4294944443ull
/// A power of a recurrence's step, as a matrix modulo `m`.
struct __bc_mrg_step {
  unsigned a[9];
  BC_INLINE void apply(unsigned (&v)[3], unsigned long long m) const {
    unsigned long long out[3];
    for (int i = 0; i < 3; ++i) {
      unsigned long long sum = 0;
      for (int k = 0; k < 3; ++k) sum = (sum + static_cast<unsigned long long>(a[3 * i + k]) * v[k] % m) % m;
      out[i] = sum;
    }
    for (int i = 0; i < 3; ++i) v[i] = static_cast<unsigned>(out[i]);
  }
  BC_INLINE __bc_mrg_step squared(unsigned long long m) const {
    __bc_mrg_step r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        unsigned long long sum = 0;
        for (int k = 0; k < 3; ++k) sum = (sum + static_cast<unsigned long long>(a[3 * i + k]) * a[3 * k + j] % m) % m;
        r.a[3 * i + j] = static_cast<unsigned>(sum);
      }
    return r;
  }
};
/// n times a step, for both recurrences.
BC_FN void __bc_mrg_skip(unsigned long long n, curandStateMRG32k3a* s, __bc_mrg_step first, __bc_mrg_step second) {
  for (; n != 0; n >>= 1) {
    if ((n & 1u) != 0) {
      first.apply(s->s1, __BC_M1);
      second.apply(s->s2, __BC_M2);
    }
    first = first.squared(__BC_M1);
    second = second.squared(__BC_M2);
  }
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
}
BC_FN void skipahead(unsigned long long n, curandStateMRG32k3a* s) {
  __bc_mrg_skip(n, s, {{0, 1, 0, 0, 0, 1, 4294156359u, 1403580u, 0}}, {{0, 1, 0, 0, 0, 1, 4293573854u, 0, 527612u}});
}
/// Skips n * 2^76 numbers.
BC_FN void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* s) {
  __bc_mrg_skip(n, s, {{82758667u, 1871391091u, 4127413238u, 3672831523u, 69195019u, 1871391091u, 3672091415u, 3528743235u, 69195019u}},
                {{1511326704u, 3759209742u, 1610795712u, 4292754251u, 1511326704u, 3889917532u, 3859662829u, 4292754251u, 3708466080u}});
}
/// Skips n * 2^127 numbers.
BC_FN void skipahead_sequence(unsigned long long n, curandStateMRG32k3a* s) {
  __bc_mrg_skip(n, s, {{2427906178u, 3580155704u, 949770784u, 226153695u, 1230515664u, 3580155704u, 1988835001u, 986791581u, 1230515664u}},
                {{1464411153u, 277697599u, 1610723613u, 32183930u, 1464411153u, 1022607788u, 2824425944u, 32183930u, 2093834863u}});
}
BC_FN void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateMRG32k3a* s) {
  for (int i = 0; i < 3; ++i) s->s1[i] = s->s2[i] = 12345u;
  if (seed != 0) {
    unsigned long long x = static_cast<unsigned>(seed) ^ 0x55555555u, y = static_cast<unsigned>(seed >> 32) ^ 0xaaaaaaaau;
    for (int i = 0; i < 3; ++i) {
      s->s1[i] = static_cast<unsigned>((i == 1 ? y : x) * s->s1[i] % __BC_M1);
      s->s2[i] = static_cast<unsigned>((i == 1 ? x : y) * s->s2[i] % __BC_M2);
    }
  }
  skipahead_subsequence(subsequence, s);
  skipahead(offset, s);
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
}
/// The next number, in [1, m1].
BC_FN double curand_MRG32k3a(curandStateMRG32k3a* s) {
  unsigned long long p = (1403580ull * s->s1[1] + (__BC_M1 - 810728ull) * s->s1[0]) % __BC_M1;
  unsigned long long q = (527612ull * s->s2[2] % __BC_M2 + (__BC_M2 - 1370589ull) * s->s2[0] % __BC_M2) % __BC_M2;
  s->s1[0] = s->s1[1], s->s1[1] = s->s1[2], s->s1[2] = static_cast<unsigned>(p);
  s->s2[0] = s->s2[1], s->s2[1] = s->s2[2], s->s2[2] = static_cast<unsigned>(q);
  return static_cast<double>(p > q ? p - q : p + __BC_M1 - q);
}
#undef __BC_M1
#undef __BC_M2
BC_FN unsigned curand(curandStateMRG32k3a* s) { return static_cast<unsigned>(curand_MRG32k3a(s) * 1.000000048662); }
BC_FN double curand_uniform_double(curandStateMRG32k3a* s) { return curand_MRG32k3a(s) * 2.328306549295728e-10; }
BC_FN float curand_uniform(curandStateMRG32k3a* s) { return static_cast<float>(curand_uniform_double(s)); }
BC_FN float2 curand_normal2(curandStateMRG32k3a* s) {
  float x = curand_uniform(s), y = curand_uniform(s) * 6.2831855f, r = bc::sqrt(-2.0f * bc::log(x)), sine, cosine;
  sincosf(y, &sine, &cosine);
  return float2{r * sine, r * cosine};
}
BC_FN double2 curand_normal2_double(curandStateMRG32k3a* s) {
  double x = curand_uniform_double(s), y = curand_uniform_double(s) * 6.2831853071795864769, r = bc::sqrt(-2.0 * bc::log(x)), sine, cosine;
  sincos(y, &sine, &cosine);
  return double2{r * sine, r * cosine};
}

// ---- Sobol's sequences in Gray code's order (Antonov and Saleev 1979), from direction vectors that the caller has
typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
#define __BC_SOBOL(name, Word, bits)                                                                                 \
  struct name {                                                                                                      \
    Word i, x, c;                                                                                                    \
    Word direction_vectors[bits];                                                                                    \
  };                                                                                                                 \
  typedef name name##_t;                                                                                             \
  /* The Gray code of i says which vectors are in the number. */                                                     \
  BC_FN void __bc_sobol_go(name* s, Word to) {                                                                       \
    Word changed = (s->i ^ (s->i >> 1)) ^ (to ^ (to >> 1));                                                          \
    for (int k = 0; k < bits; ++k) s->x ^= (changed >> k & 1) != 0 ? s->direction_vectors[k] : static_cast<Word>(0); \
    s->i = to;                                                                                                       \
  }                                                                                                                  \
  BC_FN void skipahead(Word n, name* s) { __bc_sobol_go(s, s->i + n); }                                              \
  template <class N> BC_INLINE void skipahead(N n, name* s) { __bc_sobol_go(s, s->i + static_cast<Word>(n)); }       \
  BC_FN Word curand(name* s) {                                                                                       \
    Word now = s->x;                                                                                                 \
    __bc_sobol_go(s, s->i + 1);                                                                                      \
    return now;                                                                                                      \
  }
#define __BC_SOBOL_INIT(name, Word, bits)                                \
  BC_FN void curand_init(Word* vectors, Word offset, name* s) {          \
    for (int k = 0; k < bits; ++k) s->direction_vectors[k] = vectors[k]; \
    s->i = s->x = s->c = 0;                                              \
    __bc_sobol_go(s, offset);                                            \
  }
#define __BC_SOBOL_SCRAMBLED_INIT(name, Word, bits)                            \
  BC_FN void curand_init(Word* vectors, Word scramble, Word offset, name* s) { \
    for (int k = 0; k < bits; ++k) s->direction_vectors[k] = vectors[k];       \
    s->i = 0;                                                                  \
    s->x = s->c = scramble;                                                    \
    __bc_sobol_go(s, offset);                                                  \
  }
// clang-format off
__BC_SOBOL(curandStateSobol32, unsigned, 32) __BC_SOBOL_INIT(curandStateSobol32, unsigned, 32)
__BC_SOBOL(curandStateScrambledSobol32, unsigned, 32) __BC_SOBOL_SCRAMBLED_INIT(curandStateScrambledSobol32, unsigned, 32)
__BC_SOBOL(curandStateSobol64, unsigned long long, 64) __BC_SOBOL_INIT(curandStateSobol64, unsigned long long, 64)
__BC_SOBOL(curandStateScrambledSobol64, unsigned long long, 64)
__BC_SOBOL_SCRAMBLED_INIT(curandStateScrambledSobol64, unsigned long long, 64)
// clang-format on
#undef __BC_SOBOL
#undef __BC_SOBOL_INIT
#undef __BC_SOBOL_SCRAMBLED_INIT

/// Each sample takes one number of the sequence: normal numbers are computed by the inverse of their distribution function.
#define __BC_SOBOL_NUMBERS(name)                                                                                               \
  BC_FN float curand_uniform(name* s) { return __bc_sobol_unit(curand(s)); }                                                   \
  BC_FN double curand_uniform_double(name* s) { return __bc_sobol_unit_double(curand(s)); }                                    \
  BC_FN double curand_normal_double(name* s) { return normcdfinv(__bc_sobol_unit_double(curand(s))); }                         \
  BC_FN float curand_normal(name* s) { return static_cast<float>(normcdfinv(__bc_sobol_middle(curand(s)))); }                  \
  BC_FN float curand_log_normal(name* s, float mean, float deviation) { return bc::exp(mean + deviation * curand_normal(s)); } \
  BC_FN double curand_log_normal_double(name* s, double mean, double deviation) {                                              \
    return bc::exp(mean + deviation * curand_normal_double(s));                                                                \
  }                                                                                                                            \
  BC_FN unsigned curand_poisson(name* s, double lambda) { return __bc_poisson_inverse(__bc_sobol_unit_double(curand(s)), lambda); }
BC_FN float __bc_sobol_unit(unsigned x) { return __bc_unit(x); }
BC_FN float __bc_sobol_unit(unsigned long long x) { return __bc_unit(static_cast<unsigned>(x >> 32)); }
BC_FN double __bc_sobol_unit_double(unsigned x) { return (static_cast<double>(x) + 1.0) * 2.3283064365386963e-10; }
BC_FN double __bc_sobol_unit_double(unsigned long long x) {
  return static_cast<double>(x >> 11) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
BC_FN double __bc_sobol_middle(unsigned x) { return (static_cast<double>(x) + 0.5) * 2.3283064365386963e-10; }
BC_FN double __bc_sobol_middle(unsigned long long x) { return __bc_sobol_unit_double(x); }
/// The smallest k for which the sum of the probabilities of 0 … k is not below u.
BC_FN unsigned __bc_poisson_inverse(double u, double lambda) {
  if (lambda >= 64.0) {
    double value = bc::sqrt(lambda) * normcdfinv(u < 1.0 ? u : 0.99999999999999989) + lambda + 0.5;
    return value < 0.0 ? 0u : static_cast<unsigned>(value);
  }
  double chance = bc::exp(-lambda), sum = chance;
  unsigned k = 0;
  while (sum < u && k < 1000u) {
    ++k;
    chance *= lambda / k;
    sum += chance;
  }
  return k;
}
__BC_SOBOL_NUMBERS(curandStateSobol32)
__BC_SOBOL_NUMBERS(curandStateScrambledSobol32)
__BC_SOBOL_NUMBERS(curandStateSobol64)
__BC_SOBOL_NUMBERS(curandStateScrambledSobol64)
#undef __BC_SOBOL_NUMBERS

// ---- several numbers at once
template <class S>
BC_INLINE float2 curand_log_normal2(S* s, float mean, float deviation) {
  float2 z = curand_normal2(s);
  return float2{bc::exp(mean + deviation * z.x), bc::exp(mean + deviation * z.y)};
}
template <class S>
BC_INLINE double2 curand_log_normal2_double(S* s, double mean, double deviation) {
  double2 z = curand_normal2_double(s);
  return double2{bc::exp(mean + deviation * z.x), bc::exp(mean + deviation * z.y)};
}
BC_FN float4 curand_log_normal4(curandStatePhilox4_32_10* s, float mean, float deviation) {
  float4 z = curand_normal4(s);
  return float4{bc::exp(mean + deviation * z.x), bc::exp(mean + deviation * z.y), bc::exp(mean + deviation * z.z),
                bc::exp(mean + deviation * z.w)};
}
BC_FN double4 curand_uniform4_double(curandStatePhilox4_32_10* s) {
  double2 a = curand_uniform2_double(s), b = curand_uniform2_double(s);
  return double4{a.x, a.y, b.x, b.y};
}
BC_FN double4 curand_normal4_double(curandStatePhilox4_32_10* s) {
  double2 a = curand_normal2_double(s), b = curand_normal2_double(s);
  return double4{a.x, a.y, b.x, b.y};
}
BC_FN uint4 curand_poisson4(curandStatePhilox4_32_10* s, double lambda) {
  unsigned a = curand_poisson(s, lambda), b = curand_poisson(s, lambda), c = curand_poisson(s, lambda), d = curand_poisson(s, lambda);
  return uint4{a, b, c, d};
}
