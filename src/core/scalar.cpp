#include "core/scalar.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace bc {
namespace {

template <class T>
void put(void* bytes, T v) {
  std::memcpy(bytes, &v, sizeof(T));
}
template <class T>
T get(const void* bytes) {
  T v;
  std::memcpy(&v, bytes, sizeof(T));
  return v;
}

using half = _Float16;  // GCC's conversions round to nearest even

/// A float's upper half, rounded to nearest even.
struct bfloat16 {
  uint16_t bits = 0;
  bfloat16() = default;
  explicit bfloat16(double v) {
    const float f = static_cast<float>(v);
    uint32_t b;
    std::memcpy(&b, &f, 4);
    bits = f != f ? static_cast<uint16_t>(b >> 16 | 0x40) : static_cast<uint16_t>((b + 0x7fff + (b >> 16 & 1)) >> 16);
  }
  explicit operator double() const {
    const uint32_t b = uint32_t{bits} << 16;
    float f;
    std::memcpy(&f, &b, 4);
    return f;
  }
};

/// 8 bits: a sign, an exponent and `kMantissa` bits, rounded to nearest even. A value above the largest finite one becomes `kBeyond`
/// (infinity, or NaN in a type without infinity).
template <int kMantissa, int kBias, uint8_t kBeyond, uint8_t kNan>
struct float8 {
  uint8_t bits = 0;
  float8() = default;
  explicit float8(double v) {
    const uint8_t sign = std::signbit(v) ? 0x80 : 0;
    const double a = std::fabs(v);
    int exponent = -kBias;
    if (a != 0) std::frexp(a, &exponent);
    const int unit = std::max(exponent - 1, 1 - kBias) - kMantissa;  // the exponent of the last place
    const double steps = std::nearbyint(std::ldexp(a, -unit));       // at most 2^(kMantissa + 1)
    // Where rounding reaches the next power of two, this addition carries into the exponent field.
    const double code = steps + std::ldexp(std::max(unit + kMantissa + kBias - 1, 0), kMantissa);
    bits = static_cast<uint8_t>(sign | (v != v ? kNan : code < kBeyond ? static_cast<uint8_t>(code) : kBeyond));
  }
  explicit operator double() const {
    const int code = bits & 0x7f, exponent = code >> kMantissa, mantissa = code & ((1 << kMantissa) - 1);
    const double sign = bits & 0x80 ? -1 : 1;
    if (code == kBeyond && kBeyond != kNan) return sign * std::numeric_limits<double>::infinity();
    if (code >= kBeyond) return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
    const int whole = exponent == 0 ? mantissa : mantissa | 1 << kMantissa;
    return sign * std::ldexp(whole, std::max(exponent, 1) - kBias - kMantissa);
  }
};
using float8_e4m3fn = float8<3, 7, 0x7f, 0x7f>;
using float8_e5m2 = float8<2, 15, 0x7c, 0x7e>;

template <class T>
constexpr bool is_own_float = std::is_same_v<T, bfloat16> || std::is_same_v<T, float8_e4m3fn> || std::is_same_v<T, float8_e5m2>;

template <class T, class From>
T convert(From v) {
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>) {
    // C++ leaves the conversion of a float out of range undefined; x86 gives the lowest 32- or 64-bit integer, truncated to the type's
    // width.
    if (!(v >= -9223372036854775808.0 && v < 18446744073709551616.0)) return static_cast<T>(std::numeric_limits<int64_t>::min());
    return v < 0 ? static_cast<T>(static_cast<int64_t>(v)) : static_cast<T>(static_cast<uint64_t>(v));
  } else {
    return static_cast<T>(v);
  }
}

template <class T>
void put_real(const Scalar& s, void* bytes) {
  if (s.dtype == DType::f64 || s.dtype == DType::c128)
    put(bytes, convert<T>(s.f));
  else if constexpr (is_own_float<T>)
    put(bytes, T(s.as_double()));
  else if (s.dtype == DType::u64)
    put(bytes, convert<T>(s.u));
  else
    put(bytes, convert<T>(s.i));
}

}  // namespace

void Scalar::store(DType to, void* bytes) const {
  switch (storage_type(to)) {
    case DType::b1: put<uint8_t>(bytes, dtype == DType::f64 || dtype == DType::c128 ? f != 0 || imag != 0 : u != 0); return;
    case DType::i8: return put_real<int8_t>(*this, bytes);
    case DType::i16: return put_real<int16_t>(*this, bytes);
    case DType::i32: return put_real<int32_t>(*this, bytes);
    case DType::i64: return put_real<int64_t>(*this, bytes);
    case DType::u8: return put_real<uint8_t>(*this, bytes);
    case DType::u16: return put_real<uint16_t>(*this, bytes);
    case DType::u32: return put_real<uint32_t>(*this, bytes);
    case DType::u64: return put_real<uint64_t>(*this, bytes);
    case DType::f16: return put_real<half>(*this, bytes);
    case DType::bf16: return put_real<bfloat16>(*this, bytes);
    case DType::f8e4m3: return put_real<float8_e4m3fn>(*this, bytes);
    case DType::f8e5m2: return put_real<float8_e5m2>(*this, bytes);
    case DType::f32: return put_real<float>(*this, bytes);
    case DType::f64: return put_real<double>(*this, bytes);
    case DType::c64: {
      const float v[2] = {static_cast<float>(as_double()), static_cast<float>(imag)};
      std::memcpy(bytes, v, sizeof(v));
      return;
    }
    case DType::c128: {
      const double v[2] = {as_double(), imag};
      std::memcpy(bytes, v, sizeof(v));
      return;
    }
    case DType::first_datetime:
    case DType::first_timedelta: return;  // stored as int64
  }
}

Scalar Scalar::load(DType from, const void* bytes) {
  switch (storage_type(from)) {
    case DType::b1: return boolean(get<uint8_t>(bytes) != 0);
    case DType::i8: return integer(get<int8_t>(bytes));
    case DType::i16: return integer(get<int16_t>(bytes));
    case DType::i32: return integer(get<int32_t>(bytes));
    case DType::i64: return integer(get<int64_t>(bytes));
    case DType::u8: return uinteger(get<uint8_t>(bytes));
    case DType::u16: return uinteger(get<uint16_t>(bytes));
    case DType::u32: return uinteger(get<uint32_t>(bytes));
    case DType::u64: return uinteger(get<uint64_t>(bytes));
    case DType::f16: return real(static_cast<double>(get<half>(bytes)));
    case DType::bf16: return real(static_cast<double>(get<bfloat16>(bytes)));
    case DType::f8e4m3: return real(static_cast<double>(get<float8_e4m3fn>(bytes)));
    case DType::f8e5m2: return real(static_cast<double>(get<float8_e5m2>(bytes)));
    case DType::f32: return real(get<float>(bytes));
    case DType::f64: return real(get<double>(bytes));
    case DType::c64: {
      const auto v = get<std::complex<float>>(bytes);
      return complex(v.real(), v.imag());
    }
    case DType::c128: {
      const auto v = get<std::complex<double>>(bytes);
      return complex(v.real(), v.imag());
    }
    case DType::first_datetime:
    case DType::first_timedelta: break;  // stored as int64
  }
  return {};
}

bool Scalar::fits(DType to) const {
  if ((dtype != DType::i64 && dtype != DType::u64) || !is_integer(to)) return true;
  const int bits = itemsize(to) * 8;
  if (is_unsigned(to)) {
    if (dtype == DType::i64 && i < 0) return false;
    return bits == 64 || u <= (uint64_t{1} << bits) - 1;
  }
  if (dtype == DType::u64) return u <= (uint64_t{1} << (bits - 1)) - 1;
  const int64_t high = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return i <= high && i >= -high - 1;
}

}  // namespace bc
