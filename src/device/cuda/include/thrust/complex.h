#pragma once
#include <cupy/complex.cuh>

namespace thrust {
using ::abs;
using ::acos;
using ::acosh;
using ::arg;
using ::asin;
using ::asinh;
using ::atan;
using ::atanh;
using ::complex;
using ::conj;
using ::cos;
using ::cosh;
using ::exp;
using ::log;
using ::log10;
using ::norm;
using ::polar;
using ::pow;
using ::proj;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
}  // namespace thrust
