#pragma once
#include <bit>
#include <complex>
#include <cstdint>

#include "core/dtype.h"

namespace bc {

/// One number in the widest type of its kind; `dtype` says which of the fields holds it.
struct Scalar {
  DType dtype = DType::i64;  ///< b1, i64, u64, f64 or c128
  union {
    int64_t i = 0;
    uint64_t u;
    double f;
  };
  double imag = 0;

  static Scalar boolean(bool v) { return make_int(DType::b1, v); }
  static Scalar integer(int64_t v) { return make_int(DType::i64, v); }
  static Scalar uinteger(uint64_t v) { return make_int(DType::u64, static_cast<int64_t>(v)); }
  static Scalar real(double v) { return complex(v, 0, DType::f64); }
  static Scalar complex(double re, double im, DType t = DType::c128) {
    Scalar s;
    s.dtype = t;
    s.f = re;
    s.imag = im;
    return s;
  }

  double as_double() const {
    return dtype == DType::f64 || dtype == DType::c128 ? f : dtype == DType::u64 ? static_cast<double>(u) : static_cast<double>(i);
  }
  /// Compares bits: NaN equals itself, and 0.0 differs from -0.0.
  bool operator==(const Scalar& o) const {
    return dtype == o.dtype && u == o.u && std::bit_cast<uint64_t>(imag) == std::bit_cast<uint64_t>(o.imag);
  }

  /// Writes the value as an element of dtype `to` (C's conversion; half types round to nearest even). `bytes` must have room for 16 bytes.
  void store(DType to, void* bytes) const;
  /// Reads an element of dtype `from`.
  static Scalar load(DType from, const void* bytes);
  /// Tells whether an integer fits the integer type `to`; every value fits a float and bool.
  bool fits(DType to) const;

 private:
  static Scalar make_int(DType t, int64_t v) {
    Scalar s;
    s.dtype = t;
    s.i = v;
    return s;
  }
};

}  // namespace bc
