// Small functions over the others: degrees, sinc, modified Bessel functions.
#pragma once
#include "complex_math.h"

namespace bc {

BC_FN float deg2rad(float a) { return a * 0x1.1df46ap-6f; }
BC_FN double deg2rad(double a) { return a * 0x1.1df46a2529d39p-6; }
BC_FN float rad2deg(float a) { return a * 0x1.ca5dc2p+5f; }
BC_FN double rad2deg(double a) { return a * 0x1.ca5dc1a63c1f8p+5; }
BC_LIFT1(deg2rad)
BC_LIFT1(rad2deg)

// sin(pi a) / (pi a), with a tiny number in place of zero
template <class T>
BC_INLINE T sinc_argument(T a) {
  T x = a * T(0x1.921fb54442d18p+1);
  return x == T(0) ? limits<T>::epsilon() : x;
}
BC_FN float sinc(float a) {
  float x = sinc_argument(a);
  return sin(x) / x;
}
BC_FN double sinc(double a) {
  double x = sinc_argument(a);
  return sin(x) / x;
}
template <class R>
BC_INLINE complex<R> sinc(complex<R> a) {
  complex<R> x = a * R(0x1.921fb54442d18p+1);
  x = x.re == 0 && x.im == 0 ? complex<R>(R(1e-20), 0) : x;
  return sin(x) / x;
}
BC_LIFT1(sinc)
#if !BC_CUDA
BC_FN float sinc_fast(float a, u32& flag) {
  float x = sinc_argument(a);
  return sin_fast(x, flag) / x;
}
BC_FN double sinc_fast(double a, u32& flag) {
  double x = sinc_argument(a);
  return sin_fast(x, flag) / x;
}
BC_LIFT1_FAST(sinc_fast)
#endif

/// e^-x i0(x) and e^-x i1(x) for x > 16.
BC_FN double i0_far(double x) {
  const double large[] = {0.3989422804014327,  0.049867785050182044, 0.02805062908763168, 0.029219406569889163, 0.04474194559866699,
                          0.09063688754437857, 0.2256472401062683,   0.8388573644749341,  -3.173022752019728,   154.2673562245027,
                          -2496.6892575123275, 29360.766485464363,   -196953.97121658915, 624480.2464228651};
  return horner(1.0 / x, large) / sqrt(x);
}
BC_FN double bessel_i1_far(double x) {
  const double large[] = {0.3989422804014327,   -0.14960335515054032, -0.04675104848129682, -0.040907168761797764, -0.05752541939014758,
                          -0.11077297394696686, -0.26700162012299655, -0.954304890348538,   3.2011363369813473,    -164.42563748252604,
                          2649.0775935268803,   -31163.68009091627,   208838.01148198964,   -662125.5849827151};
  return horner(1.0 / x, large) / sqrt(x);
}
/// Up to 16 the power series in (x / 2)^2, made minimax; beyond it e^x / sqrt(x) times a polynomial in 1 / x.
BC_LONG double i0(double a) {
  const double small[] = {0.9999999999999997,     0.25000000000000183,    0.027777777777774175,   0.0017361111111144764,
                          6.94444444426663e-05,   1.9290123462678244e-06, 3.936759876075743e-08,  6.151187530262953e-10,
                          7.594056128729712e-12,  7.594077737380991e-14,  6.275958800413547e-16,  4.358984124760388e-18,
                          2.576713587513473e-20,  1.3221311878574378e-22, 5.708590105609675e-25,  2.5152771608066784e-27,
                          5.0777875111859426e-30, 4.8920850686388197e-32, -7.223996135998553e-35, 6.10487331032778e-37};
  double x = fabs(a), h = 0.5 * x, t = h * h;
  // The error that the rounding of t makes in the result, by the logarithmic derivative's first terms.
  double mend = x > 2.0 ? fma(h, h, -t) * (1.0 - 0.5 / x) / h : 0.0;
  double near = fma(t, horner(t, small), 1.0);
  if (x <= 16.0) return fma(near, mend, near);
  double r = i0_far(x) * exp(x > 700.0 ? x - 60.0 : x) * (x > 700.0 ? 0x1.79dbc9dc53c66p+86 : 1.0);
  return x == limits<double>::inf() ? x : r;
}
/// As i0, odd.
BC_LONG double bessel_i1(double a) {
  const double small[] = {1.0,
                          0.49999999999999994,
                          0.08333333333333362,
                          0.00694444444444399,
                          0.00034722222222256327,
                          1.1574074073926444e-05,
                          2.7557319228101775e-07,
                          4.920949853496026e-09,
                          6.83465269588104e-11,
                          7.594057278292047e-13,
                          6.903698574480385e-15,
                          5.230012415620114e-17,
                          3.3528688277715425e-19,
                          1.8411346367070137e-21,
                          8.79905368042024e-24,
                          3.5955618000140606e-26,
                          1.4421112069901902e-28,
                          3.184440058634178e-31,
                          2.3358544130157064e-33,
                          -2.659305287203557e-36,
                          2.733205066747862e-38};
  double x = fabs(a), h = 0.5 * x, t = h * h;
  double mend = x > 2.0 ? fma(h, h, -t) * (1.0 - 1.5 / x) / h : 0.0;
  double near = h * horner(t, small);
  if (x <= 16.0) return copysign(fma(near, mend, near), a);
  double r = bessel_i1_far(x) * exp(x > 700.0 ? x - 60.0 : x) * (x > 700.0 ? 0x1.79dbc9dc53c66p+86 : 1.0);
  return copysign(x == limits<double>::inf() ? x : r, a);
}
BC_FN float i0(float x) { return static_cast<float>(i0(static_cast<double>(x))); }
BC_FN float bessel_i1(float x) { return static_cast<float>(bessel_i1(static_cast<double>(x))); }
BC_LIFT1(i0)
BC_LIFT1(bessel_i1)

}  // namespace bc
