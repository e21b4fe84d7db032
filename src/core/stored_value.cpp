#include "core/stored_value.h"

#include <cmath>
#include <string>

#include "core/error.h"

namespace bc {

void raise_out_of_bounds(const Scalar& value, DType to) {
  if (value.dtype == DType::f64) raise(ErrorKind::Overflow, "Python int too large to convert to {}", info(to).name);
  raise(ErrorKind::Overflow, "Python integer {} out of bounds for {}",
        value.dtype == DType::u64 ? std::to_string(value.u) : std::to_string(value.i), info(to).name);
}

Scalar stored_value(Weak kind, const Scalar& value, DType to) {
  if (is_bool(to)) return Scalar::boolean(kind == Weak::real || kind == Weak::complex ? value.f != 0 || value.imag != 0 : value.u != 0);
  BC_CHECK(kind != Weak::complex || is_complex(to), Type, "{} argument must be a string or a real number, not 'complex'",
           is_integer(to) ? "int()" : "float()");
  if (!is_integer(to)) return value;
  Scalar whole = value;
  if (kind == Weak::real) {
    BC_CHECK(!std::isnan(value.f), Value, "cannot convert float NaN to integer");
    BC_CHECK(!std::isinf(value.f), Overflow, "cannot convert float infinity to integer");
    const double cut = std::trunc(value.f);
    if (cut >= -0x1p63 && cut < 0x1p63)
      whole = Scalar::integer(static_cast<int64_t>(cut));
    else if (cut >= 0 && cut < 0x1p64)
      whole = Scalar::uinteger(static_cast<uint64_t>(cut));
  }
  if (!integer_fits(whole, to)) raise_out_of_bounds(whole, to);
  return whole;
}

}  // namespace bc
