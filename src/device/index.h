// Index arithmetic: division by an invariant and the rules of indices.
#pragma once
#include "integer.h"

namespace bc {

/// Division of indices below 2^31 by a fixed divisor with one high product: Granlund & Montgomery (1994).
struct FastDiv {
  u32 divisor, multiplier, shift;

  /// 1 <= d < 2^31; meant for the host, the struct then travels as a kernel argument.
  BC_INLINE static constexpr FastDiv of(u32 d) {
    u32 s = 0;
    while ((1ull << s) < d) s++;
    return {d, static_cast<u32>(((1ull << 32) * ((1ull << s) - d)) / d + 1), s};
  }
  BC_INLINE u32 divide(u32 n) const { return (mul_high(n, multiplier) + n) >> shift; }
  BC_INLINE u32 divide(u32 n, u32& rest) const {
    u32 q = divide(n);
    rest = n - q * divisor;
    return q;
  }
};

/// NumPy's index rule: a negative index counts from the end.
BC_FN i64 wrap_index(i64 i, i64 n) { return i < 0 ? i + n : i; }
BC_FN bool index_inside(i64 i, i64 n) { return i >= -n && i < n; }
BC_FN i64 clip_index(i64 i, i64 n) { return i < 0 ? 0 : (i >= n ? n - 1 : i); }

}  // namespace bc
