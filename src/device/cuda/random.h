// curand_kernel.h: XORWOW and Philox, with cuRAND's states, sequences and values.
#pragma once

extern "C" void bc_jit_xorwow_skip(unsigned* words, unsigned long long steps, int power) __attribute__((nothrow));

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// ---- XORWOW (Marsaglia 2003)
BC_FN void skipahead(unsigned long long n, curandStateXORWOW* s) {
  if (n != 0) bc_jit_xorwow_skip(s->v, n, 0);
  s->d += 362437u * static_cast<unsigned>(n);
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
}
BC_FN void skipahead_sequence(unsigned long long n, curandStateXORWOW* s) {
  if (n != 0) bc_jit_xorwow_skip(s->v, n, 67);
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
}
BC_FN void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateXORWOW* s) {
  unsigned t0 = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u);
  unsigned t1 = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
  s->d = 6615241u + t1 + t0;
  s->v[0] = 123456789u + t0;
  s->v[1] = 362436069u ^ t0;
  s->v[2] = 521288629u + t1;
  s->v[3] = 88675123u ^ t1;
  s->v[4] = 5783321u + t0;
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
}
BC_FN unsigned curand(curandStateXORWOW* s) {
  unsigned t = s->v[0] ^ (s->v[0] >> 2);
  s->v[0] = s->v[1];
  s->v[1] = s->v[2];
  s->v[2] = s->v[3];
  s->v[3] = s->v[4];
  s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
  s->d += 362437u;
  return s->v[4] + s->d;
}

// ---- Philox (Salmon et al. 2011)
BC_FN void __bc_philox_fill(curandStatePhilox4_32_10* s) {
  bc::u32x4 r = bc::random_u32x4(s->key.x, s->key.y, (static_cast<unsigned long long>(s->ctr.y) << 32) | s->ctr.x,
                                 (static_cast<unsigned long long>(s->ctr.w) << 32) | s->ctr.z);
  s->output = uint4{r.x, r.y, r.z, r.w};
}
BC_FN void __bc_philox_step(curandStatePhilox4_32_10* s, unsigned long long n) {
  unsigned long long low = ((static_cast<unsigned long long>(s->ctr.y) << 32) | s->ctr.x) + n;
  if (low < n) {
    unsigned long long high = ((static_cast<unsigned long long>(s->ctr.w) << 32) | s->ctr.z) + 1;
    s->ctr.z = static_cast<unsigned>(high);
    s->ctr.w = static_cast<unsigned>(high >> 32);
  }
  s->ctr.x = static_cast<unsigned>(low);
  s->ctr.y = static_cast<unsigned>(low >> 32);
}
BC_FN void skipahead(unsigned long long n, curandStatePhilox4_32_10* s) {
  s->STATE += static_cast<unsigned>(n & 3u);
  n >>= 2;
  if (s->STATE > 3) {
    ++n;
    s->STATE -= 4;
  }
  __bc_philox_step(s, n);
  __bc_philox_fill(s);
}
BC_FN void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* s) {
  unsigned long long high = ((static_cast<unsigned long long>(s->ctr.w) << 32) | s->ctr.z) + n;
  s->ctr.z = static_cast<unsigned>(high);
  s->ctr.w = static_cast<unsigned>(high >> 32);
  __bc_philox_fill(s);
}
BC_FN void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStatePhilox4_32_10* s) {
  s->ctr = uint4{0, 0, 0, 0};
  s->key = uint2{static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
  s->STATE = 0;
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
}
BC_FN unsigned curand(curandStatePhilox4_32_10* s) {
  unsigned r = s->STATE == 0 ? s->output.x : (s->STATE == 1 ? s->output.y : (s->STATE == 2 ? s->output.z : s->output.w));
  if (++s->STATE == 4) {
    s->STATE = 0;
    __bc_philox_step(s, 1);
    __bc_philox_fill(s);
  }
  return r;
}
BC_FN uint4 curand4(curandStatePhilox4_32_10* s) {
  uint4 r;
  r.x = curand(s);
  r.y = curand(s);
  r.z = curand(s);
  r.w = curand(s);
  return r;
}

// ---- distributions
// Box and Muller's method makes two numbers; the second is kept for the next call of the same kind.
enum { __bc_extra_normal = 1, __bc_extra_log_normal = 2 };
BC_FN float __bc_unit(unsigned x) { return static_cast<float>(x) * 2.3283064e-10f + (2.3283064e-10f / 2.0f); }
BC_FN double __bc_unit_double(unsigned x, unsigned y) {
  unsigned long long z = static_cast<unsigned long long>(x) ^ (static_cast<unsigned long long>(y) << 21);
  return static_cast<double>(z) * 1.1102230246251565e-16 + (1.1102230246251565e-16 / 2.0);
}
BC_FN float2 __bc_box_muller(unsigned x, unsigned y) {
  float v = static_cast<float>(y) * (2.3283064e-10f * 6.2831855f) + (2.3283064e-10f * 6.2831855f / 2.0f);
  float r = bc::sqrt(-2.0f * bc::log(__bc_unit(x))), s, c;
  sincosf(v, &s, &c);
  return float2{s * r, c * r};
}
BC_FN double2 __bc_box_muller_double(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  double v = __bc_unit_double(y0, y1) * 2.0, r = bc::sqrt(-2.0 * bc::log(__bc_unit_double(x0, x1))), s, c;
  sincospi(v, &s, &c);
  return double2{s * r, c * r};
}
template <class S>
BC_INLINE float curand_uniform(S* s) {
  return __bc_unit(curand(s));
}
template <class S>
BC_INLINE double curand_uniform_double(S* s) {
  unsigned x = curand(s), y = curand(s);
  return __bc_unit_double(x, y);
}
template <class S>
BC_INLINE float2 curand_normal2(S* s) {
  unsigned x = curand(s), y = curand(s);
  return __bc_box_muller(x, y);
}
template <class S>
BC_INLINE float curand_normal(S* s) {
  if (s->boxmuller_flag == __bc_extra_normal) {
    s->boxmuller_flag = 0;
    return s->boxmuller_extra;
  }
  float2 pair = curand_normal2(s);
  s->boxmuller_extra = pair.y;
  s->boxmuller_flag = __bc_extra_normal;
  return pair.x;
}
template <class S>
BC_INLINE double2 curand_normal2_double(S* s) {
  unsigned x0 = curand(s), x1 = curand(s), y0 = curand(s), y1 = curand(s);
  return __bc_box_muller_double(x0, x1, y0, y1);
}
template <class S>
BC_INLINE double curand_normal_double(S* s) {
  if (s->boxmuller_flag_double == __bc_extra_normal) {
    s->boxmuller_flag_double = 0;
    return s->boxmuller_extra_double;
  }
  double2 pair = curand_normal2_double(s);
  s->boxmuller_extra_double = pair.y;
  s->boxmuller_flag_double = __bc_extra_normal;
  return pair.x;
}
template <class S>
BC_INLINE float curand_log_normal(S* s, float mean, float deviation) {
  if (s->boxmuller_flag == __bc_extra_log_normal) {
    s->boxmuller_flag = 0;
    return s->boxmuller_extra;
  }
  float2 pair = curand_normal2(s);
  s->boxmuller_extra = bc::exp(mean + deviation * pair.y);
  s->boxmuller_flag = __bc_extra_log_normal;
  return bc::exp(mean + deviation * pair.x);
}
template <class S>
BC_INLINE double curand_log_normal_double(S* s, double mean, double deviation) {
  if (s->boxmuller_flag_double == __bc_extra_log_normal) {
    s->boxmuller_flag_double = 0;
    return s->boxmuller_extra_double;
  }
  double2 pair = curand_normal2_double(s);
  s->boxmuller_extra_double = bc::exp(mean + deviation * pair.y);
  s->boxmuller_flag_double = __bc_extra_log_normal;
  return bc::exp(mean + deviation * pair.x);
}
BC_FN float4 curand_uniform4(curandStatePhilox4_32_10* s) {
  uint4 r = curand4(s);
  return float4{__bc_unit(r.x), __bc_unit(r.y), __bc_unit(r.z), __bc_unit(r.w)};
}
BC_FN float4 curand_normal4(curandStatePhilox4_32_10* s) {
  uint4 r = curand4(s);
  float2 a = __bc_box_muller(r.x, r.y), b = __bc_box_muller(r.z, r.w);
  return float4{a.x, a.y, b.x, b.y};
}
BC_FN double2 curand_uniform2_double(curandStatePhilox4_32_10* s) {
  uint4 r = curand4(s);
  return double2{__bc_unit_double(r.x, r.y), __bc_unit_double(r.z, r.w)};
}
/// Knuth's products for small means, Hörmann's transformed rejection (1993) for larger ones, and the rounded normal beyond 4000.
template <class S>
BC_INLINE unsigned curand_poisson(S* s, double lambda) {
  if (lambda < 64.0) {
    double limit = bc::exp(-lambda), product = curand_uniform(s);
    unsigned k = 0;
    for (; product > limit; ++k) product *= curand_uniform(s);
    return k;
  }
  if (lambda > 4000.0) {
    double value = bc::sqrt(lambda) * curand_normal_double(s) + lambda + 0.5;
    return value < 0.0 ? 0u : static_cast<unsigned>(value);
  }
  double b = 0.931 + 2.53 * bc::sqrt(lambda), a = -0.059 + 0.02483 * b, scale = 1.1239 + 1.1328 / (b - 3.4),
         sure = 0.9277 - 3.6224 / (b - 2.0);
  double log_lambda = bc::log(lambda);
  for (;;) {
    double u = curand_uniform_double(s) - 0.5, v = curand_uniform_double(s), left = 0.5 - __bc_fabs(u);
    double k = floor((2.0 * a / left + b) * u + lambda + 0.43);
    if (left >= 0.07 && v <= sure) return static_cast<unsigned>(k);
    if (k < 0.0 || (left < 0.013 && v > left)) continue;
    if (bc::log(v * scale / (a / (left * left) + b)) <= k * log_lambda - lambda - lgamma(k + 1.0)) return static_cast<unsigned>(k);
  }
}
