// round() to some digits.
#pragma once
#include "core.h"

namespace bc {
namespace py {

/// round(x, digits)
template <class T>
BC_INLINE T round_to(T x, i64 digits) {
  const double scale = bc::power(10.0, static_cast<double>(digits < 0 ? -digits : digits));
  const double v = static_cast<double>(x), scaled = digits < 0 ? v / scale : v * scale;
  double r = rint(scaled);
  // A product that looks like a tie may not have been one: what was rounded off decides.
  const double rest = digits < 0 ? 0.0 : fma(v, scale, -scaled);
  if (fabs(scaled - r) == 0.5 && rest != 0) r = rest > 0 ? ceil(scaled) : floor(scaled);
  return scaled - scaled == 0 ? cast<T>(digits < 0 ? r * scale : r / scale) : x;
}

/// A whole number rounded to tens, hundreds …: ties go to the even one.
template <class T>
BC_INLINE T round_whole(T x, i64 digits) {
  if (digits >= 0) return x;
  if (digits < -19) return T(0);
  u64 unit = 1;
  for (i64 i = 0; i < -digits; ++i) unit *= 10;
  const bool negative = x < T(0);
  const u64 size = negative ? u64{0} - static_cast<u64>(static_cast<i64>(x)) : static_cast<u64>(x);
  const u64 rest = size % unit, half = unit / 2, whole = size / unit;
  const u64 rounded = (whole + (rest > half || (rest == half && whole % 2 == 1) ? 1 : 0)) * unit;
  return static_cast<T>(negative ? u64{0} - rounded : rounded);
}

}  // namespace py
}  // namespace bc
