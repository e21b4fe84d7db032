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

}  // namespace py
}  // namespace bc
