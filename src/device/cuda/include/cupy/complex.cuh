// CuPy's header cupy/complex.cuh: complex<T> and its functions, in the global namespace as CuPy puts them there.
#pragma once
#define BC_CUPY static __device__ __forceinline__

template <typename T>
struct __align__(2 * sizeof(T)) complex {
  typedef T value_type;
  T re_, im_;

  __device__ __forceinline__ constexpr complex(T re = T(0), T im = T(0)) : re_(re), im_(im) {}
  template <typename U>
  __device__ __forceinline__ explicit constexpr complex(const complex<U>& z) : re_(T(z.re_)), im_(T(z.im_)) {}

  __device__ __forceinline__ constexpr T real() const { return re_; }
  __device__ __forceinline__ constexpr T imag() const { return im_; }
  __device__ __forceinline__ void real(T v) { re_ = v; }
  __device__ __forceinline__ void imag(T v) { im_ = v; }

  __device__ __forceinline__ complex& operator+=(complex z) { return *this = *this + z; }
  __device__ __forceinline__ complex& operator-=(complex z) { return *this = *this - z; }
  __device__ __forceinline__ complex& operator*=(complex z) { return *this = *this * z; }
  __device__ __forceinline__ complex& operator/=(complex z) { return *this = *this / z; }

  // Friends, so that numbers convert: 2 * z, z + 1.0f.
  friend __device__ __forceinline__ complex operator+(complex a) { return a; }
  friend __device__ __forceinline__ complex operator-(complex a) { return complex(-a.re_, -a.im_); }
  friend __device__ __forceinline__ complex operator+(complex a, complex b) { return complex(a.re_ + b.re_, a.im_ + b.im_); }
  friend __device__ __forceinline__ complex operator-(complex a, complex b) { return complex(a.re_ - b.re_, a.im_ - b.im_); }
  friend __device__ __forceinline__ complex operator*(complex a, complex b) {
    return complex(a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_);
  }
  // Smith's method: no overflow where the quotient is representable.
  friend __device__ __forceinline__ complex operator/(complex a, complex b) {
    if (fabs(b.re_) >= fabs(b.im_)) {
      if (b.re_ == T(0) && b.im_ == T(0)) return complex(a.re_ / fabs(b.re_), a.im_ / fabs(b.re_));
      const T r = b.im_ / b.re_, d = T(1) / (b.re_ + b.im_ * r);
      return complex((a.re_ + a.im_ * r) * d, (a.im_ - a.re_ * r) * d);
    }
    const T r = b.re_ / b.im_, d = T(1) / (b.im_ + b.re_ * r);
    return complex((a.re_ * r + a.im_) * d, (a.im_ * r - a.re_) * d);
  }
  friend __device__ __forceinline__ bool operator==(complex a, complex b) { return a.re_ == b.re_ && a.im_ == b.im_; }
  friend __device__ __forceinline__ bool operator!=(complex a, complex b) { return !(a == b); }
};

template <typename T> BC_CUPY T real(complex<T> z) { return z.re_; }
template <typename T> BC_CUPY T imag(complex<T> z) { return z.im_; }
template <typename T> BC_CUPY T abs(complex<T> z) { return hypot(z.re_, z.im_); }
template <typename T> BC_CUPY T arg(complex<T> z) { return atan2(z.im_, z.re_); }
template <typename T> BC_CUPY T norm(complex<T> z) { return z.re_ * z.re_ + z.im_ * z.im_; }
template <typename T> BC_CUPY complex<T> conj(complex<T> z) { return complex<T>(z.re_, -z.im_); }
template <typename T> BC_CUPY complex<T> polar(T r, T angle = T(0)) { return complex<T>(r * cos(angle), r * sin(angle)); }
template <typename T> BC_CUPY bool isnan(complex<T> z) { return isnan(z.re_) || isnan(z.im_); }
template <typename T> BC_CUPY bool isinf(complex<T> z) { return isinf(z.re_) || isinf(z.im_); }
template <typename T> BC_CUPY bool isfinite(complex<T> z) { return isfinite(z.re_) && isfinite(z.im_); }

template <typename T> BC_CUPY complex<T> exp(complex<T> z) {
  const T e = exp(z.re_);
  if (z.im_ == T(0)) return complex<T>(e, z.im_);
  return complex<T>(e * cos(z.im_), e * sin(z.im_));
}
template <typename T> BC_CUPY complex<T> log(complex<T> z) { return complex<T>(log(abs(z)), arg(z)); }
template <typename T> BC_CUPY complex<T> log10(complex<T> z) { return log(z) / T(2.30258509299404568402); }
template <typename T> BC_CUPY complex<T> sqrt(complex<T> z) {
  if (z.re_ == T(0) && z.im_ == T(0)) return complex<T>(T(0), z.im_);
  const T m = sqrt((fabs(z.re_) + abs(z)) / T(2));
  if (z.re_ >= T(0)) return complex<T>(m, z.im_ / (T(2) * m));
  return complex<T>(fabs(z.im_) / (T(2) * m), copysign(m, z.im_));
}
template <typename T> BC_CUPY complex<T> pow(complex<T> a, complex<T> b) {
  if (a == complex<T>()) return b == complex<T>() ? complex<T>(1) : complex<T>();
  return exp(b * log(a));
}
template <typename T> BC_CUPY complex<T> pow(complex<T> a, T b) { return pow(a, complex<T>(b)); }
template <typename T> BC_CUPY complex<T> pow(T a, complex<T> b) { return pow(complex<T>(a), b); }
template <typename T> BC_CUPY complex<T> sinh(complex<T> z) { return complex<T>(sinh(z.re_) * cos(z.im_), cosh(z.re_) * sin(z.im_)); }
template <typename T> BC_CUPY complex<T> cosh(complex<T> z) { return complex<T>(cosh(z.re_) * cos(z.im_), sinh(z.re_) * sin(z.im_)); }
template <typename T> BC_CUPY complex<T> tanh(complex<T> z) {
  const T t = tanh(z.re_), n = tan(z.im_);
  return complex<T>(t, n) / complex<T>(T(1), t * n);
}
template <typename T> BC_CUPY complex<T> sin(complex<T> z) { return complex<T>(sin(z.re_) * cosh(z.im_), cos(z.re_) * sinh(z.im_)); }
template <typename T> BC_CUPY complex<T> cos(complex<T> z) { return complex<T>(cos(z.re_) * cosh(z.im_), -(sin(z.re_) * sinh(z.im_))); }
template <typename T> BC_CUPY complex<T> tan(complex<T> z) {
  const complex<T> w = tanh(complex<T>(-z.im_, z.re_));
  return complex<T>(w.im_, -w.re_);
}
// Kahan's formulas (Branch Cuts for Complex Elementary Functions, 1987), with the cuts where C has them.
template <typename T> BC_CUPY complex<T> asinh(complex<T> z) {
  const complex<T> a = sqrt(complex<T>(T(1) + z.im_, -z.re_)), b = sqrt(complex<T>(T(1) - z.im_, z.re_));
  return complex<T>(asinh(a.re_ * b.im_ - b.re_ * a.im_), atan2(z.im_, a.re_ * b.re_ - a.im_ * b.im_));
}
template <typename T> BC_CUPY complex<T> acosh(complex<T> z) {
  const complex<T> a = sqrt(complex<T>(z.re_ - T(1), z.im_)), b = sqrt(complex<T>(z.re_ + T(1), z.im_));
  return complex<T>(asinh(a.re_ * b.re_ + a.im_ * b.im_), T(2) * atan2(a.im_, b.re_));
}
template <typename T> BC_CUPY complex<T> atanh(complex<T> z) {
  const complex<T> w = log((complex<T>(T(1)) + z) / (complex<T>(T(1)) - z));
  return complex<T>(w.re_ / T(2), w.im_ / T(2));
}
template <typename T> BC_CUPY complex<T> asin(complex<T> z) {
  const complex<T> w = asinh(complex<T>(-z.im_, z.re_));
  return complex<T>(w.im_, -w.re_);
}
template <typename T> BC_CUPY complex<T> acos(complex<T> z) {
  const complex<T> w = asin(z);
  return complex<T>(T(1.5707963267948966192) - w.re_, -w.im_);
}
template <typename T> BC_CUPY complex<T> atan(complex<T> z) {
  const complex<T> w = atanh(complex<T>(-z.im_, z.re_));
  return complex<T>(w.im_, -w.re_);
}
template <typename T> BC_CUPY complex<T> proj(complex<T> z) { return isinf(z) ? complex<T>(T(1) / T(0), copysign(T(0), z.im_)) : z; }
#undef BC_CUPY
