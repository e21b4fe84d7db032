// cast<To>(x): NumPy's astype for every pair of dtypes. Out-of-range floats give the same result as on x86, on every device.
#pragma once
#include "types.h"

namespace bc {

/// True unless zero; NaN is true.
BC_TFN bool nonzero(T x) {
  if constexpr (is_complex<T>)
    return x.re != 0 || x.im != 0;
  else if constexpr (is_small_float<T>)
    return static_cast<unsigned_of<T>>(x.bits << 1) != 0;  // all bits except the sign
  else
    return x != T(0);
}

/// Truncates towards zero; NaN and values out of range become the lowest value. The select avoids the undefined conversion.
template <class I, class F>
BC_INLINE I truncate_to(F x) {
  constexpr F kLimit = static_cast<F>(sizeof(I) == 8 ? 0x1p63 : 0x1p31);
  bool fits = sizeof(F) == 8 && sizeof(I) == 4 ? (x > -kLimit - F(1) && x < kLimit) : (x >= -kLimit && x < kLimit);
  I r = static_cast<I>(fits ? x : F(0));
  return fits ? r : limits<I>::lowest();
}

template <class To, class F>
BC_INLINE To float_to_int(F x) {
  if constexpr (is_same<unsigned_of<To>, u64> && is_unsigned_int<To>) {
    bool big = x >= static_cast<F>(0x1p63);
    u64 r = static_cast<u64>(truncate_to<i64>(big ? x - static_cast<F>(0x1p63) : x));
    return static_cast<To>(big ? r ^ 0x8000000000000000ull : r);
  } else if constexpr (sizeof(To) == 8 || is_same<To, u32>) {
    return static_cast<To>(truncate_to<i64>(x));
  } else {
    return static_cast<To>(truncate_to<i32>(x));
  }
}

/// Combines the bits that a double cannot hold into its last bit (round to odd), so that a later rounding to 8 or 11 bits is correct.
BC_TFN T sticky_to_53_bits(T x) {
  bool fits = static_cast<T>(static_cast<T>(static_cast<u64>(x) << 10) >> 10) == x;
  return fits ? x : static_cast<T>((x & ~static_cast<T>(0x7ff)) | ((x & 0x7ff) != 0 ? 0x800 : 0));
}

template <class To, class From>
BC_INLINE To cast(From x) {
  if constexpr (is_same<To, From>) {
    return x;
  } else if constexpr (is_bool<To>) {
    return nonzero(x);
  } else if constexpr (is_complex<To>) {
    using R = real_of<To>;
    if constexpr (is_complex<From>)
      return To(static_cast<R>(x.re), static_cast<R>(x.im));
    else
      return To(cast<R>(x), R(0));
  } else if constexpr (is_complex<From>) {
    return cast<To>(x.re);
  } else if constexpr (is_small_float<From>) {
    return cast<To>(static_cast<float>(x));
  } else if constexpr (is_small_float<To>) {
    // Integers above 24 bits and doubles are first rounded to float by round to odd, so that the second rounding is correct.
    if constexpr (is_same<From, float> || is_bool<From> || sizeof(From) <= 2)
      return To(static_cast<float>(x));
    else if constexpr (is_int<From> && sizeof(From) == 8)
      return To(round_to_odd(static_cast<double>(sticky_to_53_bits(x))));
    else
      return To(round_to_odd(static_cast<double>(x)));
  } else if constexpr (is_native_float<From> && is_int<To>) {
    return float_to_int<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace bc
