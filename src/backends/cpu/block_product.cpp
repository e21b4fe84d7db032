#include "backends/cpu/block_product.h"

#include <cstring>
#include <memory>

#include "core/cpu_level.h"

namespace bc::cpu {
namespace {

/// Integers wrap, so signed ones are multiplied as unsigned ones, which have the same low bits.
template <class Element, class Sum>
struct WrapRule {
  using T = Element;
  using Acc = Sum;
  static constexpr bool kSums = true;
  static Acc load(T x) { return x; }
  static T store(Acc x) { return static_cast<T>(x); }
  template <class V>
  __attribute__((always_inline)) static V join(const V& sum, const V& a, const V& b) {
    return sum + a * b;
  }
};

struct BoolRule {
  using T = uint8_t;
  using Acc = uint8_t;
  static constexpr bool kSums = false;
  static Acc load(T x) { return x != 0; }
  static T store(Acc x) { return x; }
  template <class V>
  __attribute__((always_inline)) static V join(const V& sum, const V& a, const V& b) {
    return sum | (a & b);
  }
};

#define BC_VECTOR_BYTES 16
namespace base {
#include "backends/cpu/block_product.inc.h"
}
#undef BC_VECTOR_BYTES

// Pragmas instead of an attribute on each function, because vector code is generated for the target of the enclosing function.
#if defined(__x86_64__)
#define BC_VECTOR_BYTES 32
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2 {
#include "backends/cpu/block_product.inc.h"
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef BC_VECTOR_BYTES

#define BC_VECTOR_BYTES 64
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-512-bit"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif
namespace avx512 {
#include "backends/cpu/block_product.inc.h"
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef BC_VECTOR_BYTES
#endif

}  // namespace

TileFunction block_product(DType dtype) {
#if defined(__x86_64__)
  const CpuLevel level = cpu_level();
  if (level >= CpuLevel::v4) return avx512::pick(dtype);
  if (level >= CpuLevel::v3) return avx2::pick(dtype);
#endif
  return base::pick(dtype);
}

}  // namespace bc::cpu
