// The device library's functions against libm, in double for float and in long double for double, over the whole range of arguments:
// every 997th float, random bit patterns and random magnitudes of doubles. Prints the largest error of each function in ulp.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "device/device.h"

namespace {

template <class T>
bool same_special(T got, T want) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want && std::signbit(got) == std::signbit(want);
}

/// |got - exact| in units of the last place of the exact value rounded to T; infinite where one is NaN, infinite or of wrong sign.
template <class T, class Wide>
double ulp_error(T got, Wide exact) {
  const T want = static_cast<T>(exact);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(want) || std::isinf(got)) {
    if (want == got) return 0;
    // Next to the overflow threshold an infinity is an error of an ulp or so, not more.
    const T big = std::numeric_limits<T>::max();
    const T other = std::isinf(got) ? want : got;
    return std::abs(other) == big || std::abs(other) >= std::nextafter(std::nextafter(big, T(0)), T(0)) ? 1 : INFINITY;
  }
  if (want == 0)
    return got == 0 ? (std::signbit(got) == std::signbit(want) ? 0 : INFINITY) : std::abs(got) / std::numeric_limits<T>::denorm_min();
  const T next = std::nextafter(std::abs(want), T(INFINITY));
  const Wide unit =
      std::isinf(next) ? Wide(std::abs(want)) - Wide(std::nextafter(std::abs(want), T(0))) : Wide(next) - Wide(std::abs(want));
  const Wide diff = Wide(got) - exact;
  return static_cast<double>((diff < 0 ? -diff : diff) / unit);
}

struct Worst {
  double error = 0;
  double at = 0, at2 = 0, got = 0;
  template <class T, class Wide>
  void see(T x, T y, T result, Wide exact) {
    const double e = ulp_error(result, exact);
    if (e > error || (std::isinf(e) && !std::isinf(error))) error = e, at = x, at2 = y, got = result;
  }
  void report(const char* name, const char* type, double bound) const {
    std::printf("%-12s %-7s max %.3f ulp at (%.17g, %.17g)\n", name, type, error, at, at2);
    EXPECT_LE(error, bound) << name << " " << type << " at (" << at << ", " << at2 << "): got " << got;
  }
};

std::vector<double> double_arguments() {
  std::mt19937_64 random(20240607);
  std::vector<double> v = {
      0.0,  -0.0, INFINITY, -INFINITY, NAN,    5e-324,         -5e-324, 2.2250738585072014e-308,     1.7976931348623157e308, 1.0,
      -1.0, 0.5,  -0.5,     2.0,       0x1p30, 0x1.0000001p30, -0x1p31, 6381956970095103.0 * 0x1p797};
  for (int i = 0; i < 12000; i++) {
    const uint64_t bits = random();
    double x;
    std::memcpy(&x, &bits, 8);
    v.push_back(x);
  }
  std::uniform_real_distribution<double> exponent(-30, 12), mantissa(-2, 2), near(-3, 3), wide(-800, 800);
  for (int i = 0; i < 12000; i++) {
    v.push_back(mantissa(random) * std::exp2(exponent(random)));
    v.push_back(near(random));
    v.push_back(wide(random));
  }
  for (int i = 1; i < 4000; i++) v.push_back(i * M_PI_2);  // next to the zeros of sin, cos and the poles of tan
  return v;
}

using F1 = float (*)(float);
using D1 = double (*)(double);
using L1 = long double (*)(long double);

void check_unary(const char* name, F1 f32, D1 f64, D1 exact64, L1 exact_wide, double bound = 2) {
  Worst worst32;
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 997) {
    const uint32_t b = static_cast<uint32_t>(bits);
    float x;
    std::memcpy(&x, &b, 4);
    worst32.see(x, 0.0f, f32(x), exact64(static_cast<double>(x)));
  }
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY}) worst32.see(x, 0.0f, f32(x), exact64(static_cast<double>(x)));
  worst32.report(name, "float", bound);
  static const std::vector<double> arguments = double_arguments();
  Worst worst64;
  for (double x : arguments) worst64.see(x, 0.0, f64(x), exact_wide(x));
  worst64.report(name, "double", bound);
}

#define CHECK_UNARY(name, libm, wide, ...)                                                                                          \
  check_unary(                                                                                                                      \
      #name, [](float x) { return bc::name(x); }, [](double x) { return bc::name(x); }, [](double x) -> double { return libm(x); }, \
      [](long double x) -> long double { return wide(x); } __VA_OPT__(, ) __VA_ARGS__)

TEST(DeviceMath, exponentials_and_logarithms) {
  CHECK_UNARY(exp, std::exp, std::exp);
  CHECK_UNARY(exp2, std::exp2, std::exp2);
  CHECK_UNARY(expm1, std::expm1, std::expm1);
  CHECK_UNARY(log, std::log, std::log);
  CHECK_UNARY(log2, std::log2, std::log2);
  CHECK_UNARY(log10, std::log10, std::log10);
  CHECK_UNARY(log1p, std::log1p, std::log1p);
}

TEST(DeviceMath, trigonometric) {
  CHECK_UNARY(sin, std::sin, std::sin);
  CHECK_UNARY(cos, std::cos, std::cos);
  CHECK_UNARY(tan, std::tan, std::tan, 3.5);
  CHECK_UNARY(arcsin, std::asin, std::asin);
  CHECK_UNARY(arccos, std::acos, std::acos);
  CHECK_UNARY(arctan, std::atan, std::atan);
}

TEST(DeviceMath, hyperbolic) {
  CHECK_UNARY(sinh, std::sinh, std::sinh, 3);
  CHECK_UNARY(cosh, std::cosh, std::cosh, 3);
  CHECK_UNARY(tanh, std::tanh, std::tanh, 3);
  CHECK_UNARY(arcsinh, std::asinh, std::asinh, 4);
  CHECK_UNARY(arccosh, std::acosh, std::acosh, 4);
  CHECK_UNARY(arctanh, std::atanh, std::atanh, 4);
}

long double i0_by_series(double x) {
  // The power series in long double: all its terms are positive.
  if (std::isnan(x)) return x;
  if (std::abs(x) > 714) return INFINITY;
  long double t = 1, sum = 1, q = static_cast<long double>(x) * x / 4;
  for (int k = 1; k < 2000 && t > sum * 1e-25L; k++) sum += t *= q / (static_cast<long double>(k) * k);
  return sum;
}
long double i1_by_series(double x) {
  if (std::isnan(x)) return x;
  if (std::abs(x) > 714) return x > 0 ? INFINITY : -INFINITY;
  long double t = 1, sum = 1, q = static_cast<long double>(x) * x / 4;
  for (int k = 1; k < 2000 && t > sum * 1e-25L; k++) sum += t *= q / (static_cast<long double>(k) * (k + 1));
  return sum * x / 2;
}

TEST(DeviceMath, roots_and_bessel) {
  CHECK_UNARY(sqrt, std::sqrt, std::sqrt, 0.5001);
  CHECK_UNARY(cbrt, std::cbrt, std::cbrt, 1);
  Worst zero, one;
  for (double x = -713; x < 713; x += 0.0371) {
    zero.see(x, 0.0, bc::i0(x), i0_by_series(x));
    one.see(x, 0.0, bc::bessel_i1(x), i1_by_series(x));
  }
  zero.report("i0", "double", 4);
  one.report("bessel_i1", "double", 4);
}

template <class Fn32, class Fn64, class Exact64, class ExactWide>
void check_binary(const char* name, Fn32 f32, Fn64 f64, Exact64 exact64, ExactWide exact_wide, double bound) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> near(-4, 4), exponent(-20, 20), small(-40, 40);
  Worst worst32, worst64;
  const float edges32[] = {0.0f,   -0.0f,   1.0f,          -1.0f, INFINITY, -INFINITY, NAN,
                           1e-45f, -1e-45f, 3.4028235e38f, 0.5f,  2.0f,     -3.0f,     1.1754944e-38f};
  for (float x : edges32) {
    for (float y : edges32) worst32.see(x, y, f32(x, y), exact64(x, y));
  }
  const double edges64[] = {0.0,
                            -0.0,
                            1.0,
                            -1.0,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            5e-324,
                            -5e-324,
                            1.7976931348623157e308,
                            0.5,
                            2.0,
                            -3.0,
                            2.2250738585072014e-308,
                            1e200,
                            1e-200,
                            9007199254740993.0};
  for (double x : edges64) {
    for (double y : edges64) worst64.see(x, y, f64(x, y), exact_wide(x, y));
  }
  for (int i = 0; i < 600000; i++) {
    const uint64_t bits = random(), bits2 = random();
    float x, y;
    std::memcpy(&x, &bits, 4);
    std::memcpy(&y, &bits2, 4);
    worst32.see(x, y, f32(x, y), exact64(x, y));
    x = static_cast<float>(near(random) * std::exp2(exponent(random))), y = static_cast<float>(near(random) * std::exp2(exponent(random)));
    worst32.see(x, y, f32(x, y), exact64(x, y));
    x = std::abs(static_cast<float>(near(random))), y = static_cast<float>(small(random));
    worst32.see(x, y, f32(x, y), exact64(x, y));
  }
  for (int i = 0; i < 30000; i++) {
    const uint64_t bits = random(), bits2 = random();
    double x, y;
    std::memcpy(&x, &bits, 8);
    std::memcpy(&y, &bits2, 8);
    worst64.see(x, y, f64(x, y), exact_wide(x, y));
    x = near(random) * std::exp2(exponent(random)), y = near(random) * std::exp2(exponent(random));
    worst64.see(x, y, f64(x, y), exact_wide(x, y));
    x = std::abs(near(random)), y = small(random) * 12;
    worst64.see(x, y, f64(x, y), exact_wide(x, y));
  }
  worst32.report(name, "float", bound);
  worst64.report(name, "double", bound);
}

#define CHECK_BINARY(name, libm, wide, bound)                                                                                          \
  check_binary(                                                                                                                        \
      #name, [](float x, float y) { return bc::name(x, y); }, [](double x, double y) { return bc::name(x, y); },                       \
      [](double x, double y) -> double { return libm(x, y); }, [](long double x, long double y) -> long double { return wide(x, y); }, \
      bound)

TEST(DeviceMath, of_two_arguments) {
  CHECK_BINARY(arctan2, std::atan2, std::atan2, 2);
  CHECK_BINARY(hypot, std::hypot, std::hypot, 1);
  CHECK_BINARY(power, std::pow, std::pow, 1);
  CHECK_BINARY(fmod, std::fmod, std::fmod, 0);
}

TEST(DeviceMath, fast_forms_give_the_same_bits_or_set_the_flag) {
  for (uint64_t bits = 0; bits < (1ull << 32); bits += 9973) {
    const uint32_t b = static_cast<uint32_t>(bits);
    float x;
    std::memcpy(&x, &b, 4);
    bc::u32 flag = 0;
    const float s = bc::sin_fast(x, flag), c = bc::cos_fast(x, flag), t = bc::tan_fast(x, flag);
    if (flag != 0) {
      EXPECT_GT(std::abs(x), 1e5f);
      continue;
    }
    ASSERT_TRUE(same_special(s, bc::sin(x)) && same_special(c, bc::cos(x)) && same_special(t, bc::tan(x))) << x;
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; i++) {
    const uint64_t bits = random(), bits2 = random();
    double x, y;
    std::memcpy(&x, &bits, 8);
    std::memcpy(&y, &bits2, 8);
    bc::u32 flag = 0;
    const double f = bc::fmod_fast(x, y, flag);
    if (flag == 0) {
      ASSERT_TRUE(same_special(f, std::fmod(x, y))) << x << " " << y;
    }
  }
}

TEST(DeviceMath, whole_results_are_exact) {
  EXPECT_EQ(bc::cos(0.0f), 1.0f);
  EXPECT_EQ(bc::cos(0.0), 1.0);
  EXPECT_EQ(bc::exp(0.0f), 1.0f);
  EXPECT_EQ(bc::exp2(10.0f), 1024.0f);
  EXPECT_EQ(bc::log2(8.0), 3.0);
  for (int k = 0; k < 23; k++) EXPECT_EQ(bc::log10(std::pow(10.0, k)), k);
  EXPECT_EQ(bc::power(3.0, 4.0), 81.0);
  EXPECT_EQ(bc::power(10.0f, 2.0f), 100.0f);
  EXPECT_EQ(bc::cbrt(27.0), 3.0);
  EXPECT_EQ(bc::hypot(3.0, 4.0), 5.0);
}

TEST(DeviceMath, neighbours_and_exponents) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; i++) {
    const uint64_t bits = random(), bits2 = random();
    double x, y;
    float a, b;
    std::memcpy(&x, &bits, 8);
    std::memcpy(&y, &bits2, 8);
    std::memcpy(&a, &bits, 4);
    std::memcpy(&b, &bits2, 4);
    ASSERT_TRUE(same_special(bc::nextafter(x, y), std::nextafter(x, y)));
    ASSERT_TRUE(same_special(bc::nextafter(a, b), std::nextafter(a, b)));
    int e;
    const double m = std::frexp(x, &e);
    ASSERT_TRUE(same_special(bc::frexp_mantissa(x), m));
    if (std::isfinite(x)) {
      ASSERT_EQ(bc::frexp_exponent(x), e);
    }
    const int n = static_cast<int>(bits2 % 4400) - 2200;
    ASSERT_TRUE(same_special(bc::ldexp(x, n), std::ldexp(x, n))) << x << " " << n;
    ASSERT_TRUE(same_special(bc::ldexp(a, n / 8), std::ldexp(a, n / 8))) << a << " " << n / 8;
    double whole;
    const double fraction = std::modf(x, &whole);
    ASSERT_TRUE(same_special(bc::modf_fraction(x), fraction) && same_special(bc::modf_integer(x), whole));
  }
}

}  // namespace
