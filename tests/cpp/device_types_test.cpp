// Casts, integer rules, complex numbers, reduction states and random numbers of the device library.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "device/device.h"

namespace {

using bc::complex128;

template <class T>
uint16_t bits16(T x) {
  return x.bits;
}

// The value of a 16-bit float with `fraction` bits of fraction, by definition.
double value16(uint16_t bits, int fraction, int bias) {
  const int exponents = (1 << (15 - fraction)) - 1;
  const int e = (bits >> fraction) & exponents;
  const double f = bits & ((1 << fraction) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (e == exponents) return f != 0 ? NAN : sign * INFINITY;
  return sign * (e == 0 ? std::ldexp(f, 1 - bias - fraction) : std::ldexp(f + (1 << fraction), e - bias - fraction));
}

// Rounds to the nearest 16-bit float, ties to even, by search among the neighbours.
uint16_t nearest16(double x, int fraction, int bias) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0, inf = static_cast<uint16_t>(((1 << (15 - fraction)) - 1) << fraction);
  const double a = std::abs(x);
  uint16_t low = 0, high = inf;  // value(low) <= a < value(high)
  if (std::isinf(a)) return sign | inf;
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (value16(middle, fraction, bias) <= a ? low : high) = middle;
  }
  const double step = value16(low, fraction, bias) - value16(low - (low == 0 ? 0 : 1), fraction, bias);
  const double up = high == inf ? value16(low, fraction, bias) + step : value16(high, fraction, bias);
  const double to_low = a - value16(low, fraction, bias), to_high = up - a;
  return sign | (to_low < to_high || (to_low == to_high && low % 2 == 0) ? low : high);
}

/// The value of the code of an 8-bit float with `fraction` bits of fraction, by definition, without its special values.
double value8(int code, int fraction, int bias) {
  const int e = code >> fraction, f = code & ((1 << fraction) - 1);
  return e == 0 ? std::ldexp(f, 1 - bias - fraction) : std::ldexp(f + (1 << fraction), e - bias - fraction);
}

/// Rounds to the nearest code, ties to even; what is nearer to the first special code than to the number before it becomes that.
int nearest8(double a, int fraction, int bias, int special) {
  int low = 0, high = special;
  if (a >= value8(special, fraction, bias)) return special;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (value8(middle, fraction, bias) <= a ? low : high) = middle;
  }
  const double to_low = a - value8(low, fraction, bias), to_high = value8(high, fraction, bias) - a;
  return to_low < to_high || (to_low == to_high && low % 2 == 0) ? low : high;
}

TEST(DeviceTypes, eight_bit_floats_round_to_nearest_even) {
  for (uint32_t i = 0; i < 1u << 20; ++i) {
    const float v = bc::bits_as<float>(i << 12 | (i & 1 ? 0xfff : 0));
    if (v != v) continue;
    const int sign = std::signbit(v) ? 0x80 : 0;
    ASSERT_EQ(bc::cast<bc::float8_e4m3fn>(v).bits, sign | nearest8(std::abs(v), 3, 7, 0x7f)) << v;
    ASSERT_EQ(bc::cast<bc::float8_e5m2>(v).bits, sign | nearest8(std::abs(v), 2, 15, 0x7c)) << v;
  }
  for (int b = 0; b < 128; ++b) {
    const auto byte = static_cast<uint8_t>(b);
    const float e4 = bc::cast<float>(bc::bits_as<bc::float8_e4m3fn>(byte)), e5 = bc::cast<float>(bc::bits_as<bc::float8_e5m2>(byte));
    EXPECT_TRUE(b == 0x7f ? std::isnan(e4) : e4 == value8(b, 3, 7)) << b;
    EXPECT_TRUE(b > 0x7c ? std::isnan(e5) : b == 0x7c ? std::isinf(e5) : e5 == value8(b, 2, 15)) << b;
  }
  EXPECT_TRUE(bc::isnan(bc::cast<bc::float8_e4m3fn>(NAN)) && bc::isnan(bc::cast<bc::float8_e5m2>(double(NAN))));
  EXPECT_TRUE(bc::cast<bool>(bc::float8_e5m2(0.5f)) && !bc::cast<bool>(bc::float8_e5m2(-0.0f)));
  // A double above a tie by less than a float can say is rounded once.
  EXPECT_EQ(bc::cast<bc::float8_e4m3fn>(1 + 0x1p-4 + 0x1p-40).bits, 0x39);
  EXPECT_EQ(bc::cast<bc::float8_e5m2>(bc::i64{-5}).bits, 0xc5);
}

TEST(DeviceTypes, half_and_bfloat16_read_every_value_exactly) {
  for (uint32_t i = 0; i < 65536; i++) {
    const auto b = static_cast<uint16_t>(i);
    const double h = value16(b, 10, 15), g = value16(b, 7, 127);
    const float from_half = bc::cast<float>(bc::bits_as<bc::half>(b)), from_bfloat16 = bc::cast<float>(bc::bits_as<bc::bfloat16>(b));
    if (std::isnan(h))
      EXPECT_TRUE(std::isnan(from_half));
    else
      ASSERT_TRUE(from_half == h && std::signbit(from_half) == std::signbit(h)) << i;
    if (std::isnan(g))
      EXPECT_TRUE(std::isnan(from_bfloat16));
    else
      ASSERT_TRUE(from_bfloat16 == g && std::signbit(from_bfloat16) == std::signbit(g)) << i;
  }
}

TEST(DeviceTypes, casts_to_16_bits_round_once) {
  std::mt19937_64 random(5);
  std::vector<double> values = {0.0,
                                -0.0,
                                65504.0,
                                65519.999999,
                                65520.0,
                                5.960464477539063e-08,
                                2.98023223876953e-08,
                                2.9802322387695312e-08,
                                2.9802322387695315e-08,
                                1e300,
                                -1e-300,
                                INFINITY,
                                3.3895313892515355e38,
                                3.4e38};
  for (int i = 0; i < 200000; i++) {
    const auto b = static_cast<uint16_t>(random());
    // Near the middle of two neighbours, where rounding twice goes wrong.
    for (double v : {value16(b, 10, 15), value16(b, 7, 127)}) {
      const double next = value16(b + 1, v == value16(b, 10, 15) ? 10 : 7, v == value16(b, 10, 15) ? 15 : 127);
      const double middle = 0.5 * (v + next);
      if (!std::isfinite(middle)) continue;
      values.push_back(middle);
      values.push_back(std::nextafter(middle, INFINITY));
      values.push_back(std::nextafter(middle, -INFINITY));
    }
  }
  for (double v : values) {
    ASSERT_EQ(bits16(bc::cast<bc::half>(v)), nearest16(v, 10, 15)) << v;
    ASSERT_EQ(bits16(bc::cast<bc::bfloat16>(v)), nearest16(v, 7, 127)) << v;
    const auto f = static_cast<float>(v);
    ASSERT_EQ(bits16(bc::cast<bc::half>(f)), nearest16(f, 10, 15)) << f;
    ASSERT_EQ(bits16(bc::cast<bc::bfloat16>(f)), nearest16(f, 7, 127)) << f;
  }
  EXPECT_TRUE(bc::isnan(bc::cast<bc::half>(NAN)) && bc::isnan(bc::cast<bc::bfloat16>(double(NAN))));
  // 2^56 + 2^48 is halfway between two bfloat16; one more makes it round up.
  EXPECT_EQ(bits16(bc::cast<bc::bfloat16>(bc::i64((1ll << 56) + (1ll << 48)))), nearest16(0x1p56, 7, 127));
  EXPECT_EQ(bits16(bc::cast<bc::bfloat16>(bc::i64((1ll << 56) + (1ll << 48) + 1))), nearest16(0x1p56, 7, 127) + 1);
  EXPECT_EQ(bits16(bc::cast<bc::bfloat16>(bc::u64((1ull << 63) + (1ull << 55) + 1))), nearest16(0x1p63, 7, 127) + 1);
}

TEST(DeviceTypes, casts_follow_numpy) {
  EXPECT_TRUE(bc::cast<bool>(NAN));
  EXPECT_FALSE(bc::cast<bool>(-0.0));
  EXPECT_TRUE(bc::cast<bool>(complex128(0, 1)));
  EXPECT_EQ(bc::cast<float>(complex128(2.5, 7)), 2.5f);
  EXPECT_EQ(bc::cast<bc::i32>(-2.9), -2);
  EXPECT_EQ(bc::cast<bc::i32>(1e20), INT32_MIN);
  EXPECT_EQ(bc::cast<bc::i32>(NAN), INT32_MIN);
  EXPECT_EQ(bc::cast<bc::i32>(-2147483648.9), INT32_MIN);
  EXPECT_EQ(bc::cast<bc::i32>(2147483647.9), INT32_MAX);
  EXPECT_EQ(bc::cast<bc::i64>(1e30), INT64_MIN);
  EXPECT_EQ(bc::cast<bc::i8>(300.7), 44);
  EXPECT_EQ(bc::cast<bc::u8>(-1.5f), 255);
  EXPECT_EQ(bc::cast<bc::u32>(4294967295.0), UINT32_MAX);
  EXPECT_EQ(bc::cast<bc::u32>(-1.0), UINT32_MAX);
  EXPECT_EQ(bc::cast<bc::u64>(1.8446744073709550e19), 18446744073709549568ull);
  EXPECT_EQ(bc::cast<bc::u64>(-1.0), UINT64_MAX);
}

template <class T>
void check_integer_pair(T a, T b) {
  const __int128 x = a, y = b;
  const __int128 quotient = y == 0 ? 0 : x / y, rest = y == 0 ? 0 : x % y;
  const bool adjust = rest != 0 && (rest < 0) != (y < 0);
  ASSERT_EQ(bc::fmod(a, b), static_cast<T>(rest)) << +a << " " << +b;
  ASSERT_EQ(bc::remainder(a, b), static_cast<T>(adjust ? rest + y : rest)) << +a << " " << +b;
  ASSERT_EQ(bc::floor_divide(a, b), static_cast<T>(adjust ? quotient - 1 : quotient)) << +a << " " << +b;
  ASSERT_EQ(bc::add(a, b), static_cast<T>(x + y));
  ASSERT_EQ(bc::subtract(a, b), static_cast<T>(x - y));
  ASSERT_EQ(bc::multiply(a, b), static_cast<T>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y)));
  const bool wide = y < 0 || y >= static_cast<int>(8 * sizeof(T));
  ASSERT_EQ(bc::left_shift(a, b), wide ? T(0) : static_cast<T>(x << static_cast<int>(y)));
  ASSERT_EQ(bc::right_shift(a, b), wide ? static_cast<T>(x < 0 ? -1 : 0) : static_cast<T>(x >> static_cast<int>(y)));
  if (y >= 0) {
    T power = 1;
    for (int i = 0; i < y && i < 300; i++) power = bc::multiply(power, a);
    if (y < 300) {
      ASSERT_EQ(bc::power(a, b), power) << +a << " " << +b;
    }
  }
  __int128 g = x < 0 ? -x : x, h = y < 0 ? -y : y;
  const __int128 size_a = g, size_b = h;
  while (h != 0) {
    const __int128 r = g % h;
    g = h;
    h = r;
  }
  ASSERT_EQ(bc::gcd(a, b), static_cast<T>(g));
  ASSERT_EQ(bc::lcm(a, b),
            g == 0 ? T(0) : static_cast<T>(static_cast<unsigned __int128>(size_a / g) * static_cast<unsigned __int128>(size_b)));
}

template <class T>
void check_integers() {
  std::mt19937_64 random(11);
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           7,
                           10,
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::min(),
                           static_cast<T>(-1),
                           static_cast<T>(-2),
                           static_cast<T>(-7),
                           static_cast<T>(std::numeric_limits<T>::min() + 1)};
  for (int i = 0; i < 200; i++) values.push_back(static_cast<T>(random() >> (random() % 64)));
  for (T a : values) {
    for (T b : values) check_integer_pair(a, b);
    const __int128 x = a;
    ASSERT_EQ(bc::bit_count(a), __builtin_popcountll(static_cast<uint64_t>(x < 0 ? -x : x)));
    ASSERT_EQ(bc::negative(a), static_cast<T>(-x));
    ASSERT_EQ(bc::abs(a), static_cast<T>(x < 0 ? -x : x));
    ASSERT_EQ(bc::sign(a), static_cast<T>((x > 0) - (x < 0)));
  }
}

TEST(DeviceTypes, integer_rules) {
  for (int a = -128; a < 128; a++) {
    for (int b = -128; b < 128; b++) check_integer_pair(static_cast<bc::i8>(a), static_cast<bc::i8>(b));
  }
  for (int a = 0; a < 256; a++) {
    for (int b = 0; b < 256; b++) check_integer_pair(static_cast<bc::u8>(a), static_cast<bc::u8>(b));
  }
  check_integers<bc::i16>();
  check_integers<bc::u16>();
  check_integers<bc::i32>();
  check_integers<bc::u32>();
  check_integers<bc::i64>();
  check_integers<bc::u64>();
  EXPECT_TRUE(bc::less(bc::i64(-1), bc::u64(0)) && bc::greater(bc::u64(1) << 63, bc::i64(5)) && !bc::equal(bc::i64(-1), ~bc::u64(0)));
}

TEST(DeviceTypes, float_division_follows_python) {
  EXPECT_EQ(bc::floor_divide(-7.0, 2.0), -4.0);
  EXPECT_EQ(bc::remainder(-7.0, 2.0), 1.0);
  EXPECT_EQ(bc::floor_divide(-1.0, HUGE_VAL), -1.0);
  EXPECT_EQ(bc::remainder(-1.0, HUGE_VAL), HUGE_VAL);
  EXPECT_EQ(bc::floor_divide(1.0, 0.0), HUGE_VAL);
  EXPECT_TRUE(std::isnan(bc::remainder(1.0, 0.0)) && std::isnan(bc::floor_divide(HUGE_VAL, 2.0)));
  EXPECT_TRUE(std::signbit(bc::remainder(4.0, -2.0)));
  EXPECT_EQ(bc::floor_divide(1.0, 0.1), 9.0);
}

// ---- complex: within 8 units of |result|, and Annex G's special values
void expect_close(const char* name, complex128 z, complex128 got, std::complex<double> want) {
  const double error = std::abs(std::complex<double>(got.re, got.im) - want);
  EXPECT_LE(error, 8 * 0x1p-52 * std::abs(want) + 1e-300)
      << name << " at (" << z.re << ", " << z.im << "): got (" << got.re << ", " << got.im << "), want " << want;
}

TEST(DeviceTypes, complex_functions) {
  using L = std::complex<long double>;
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> exponent(-6, 3);
  for (int i = 0; i < 20000; i++) {
    const double scale = std::exp2(exponent(random));
    const complex128 z(normal(random) * scale, normal(random) * scale);
    const L w(z.re, z.im);
#define CHECK(name, exact) expect_close(#name, z, bc::name(z), std::complex<double>(exact))
    CHECK(exp, std::exp(w));
    CHECK(log, std::log(w));
    CHECK(sqrt, std::sqrt(w));
    CHECK(sin, std::sin(w));
    CHECK(cos, std::cos(w));
    CHECK(tan, std::tan(w));
    CHECK(sinh, std::sinh(w));
    CHECK(cosh, std::cosh(w));
    CHECK(tanh, std::tanh(w));
    CHECK(arcsin, std::asin(w));
    CHECK(arccos, std::acos(w));
    CHECK(arctan, std::atan(w));
    CHECK(arcsinh, std::asinh(w));
    CHECK(arccosh, std::acosh(w));
    CHECK(arctanh, std::atanh(w));
    CHECK(log10, std::log10(w));
    CHECK(reciprocal, L(1) / w);
#undef CHECK
    const complex128 y(normal(random), normal(random));
    const L v(y.re, y.im);
    expect_close("divide", z, z / y, std::complex<double>(w / v));
    expect_close("multiply", z, z * y, std::complex<double>(w * v));
  }
}

void expect_special(complex128 got, double re, double im) {
  auto same = [](double a, double b) { return std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b); };
  EXPECT_TRUE(same(got.re, re) && same(got.im, im)) << "got (" << got.re << ", " << got.im << "), want (" << re << ", " << im << ")";
}

TEST(DeviceTypes, complex_special_values) {
  const double inf = INFINITY, nan = NAN, pi = 3.141592653589793;
  expect_special(bc::exp(complex128(-inf, inf)), 0, 0);
  expect_special(bc::exp(complex128(inf, 0)), inf, 0);
  expect_special(bc::exp(complex128(inf, nan)), inf, nan);
  expect_special(bc::log(complex128(-0.0, 0)), -inf, pi);
  expect_special(bc::log(complex128(-inf, inf)), inf, 3 * pi / 4);
  expect_special(bc::log(complex128(inf, nan)), inf, nan);
  expect_special(bc::sqrt(complex128(-4, -0.0)), 0, -2);
  expect_special(bc::sqrt(complex128(nan, inf)), inf, inf);
  expect_special(bc::sqrt(complex128(-inf, 1)), 0, inf);
  expect_special(bc::sinh(complex128(0, inf)), 0, nan);
  expect_special(bc::cosh(complex128(inf, 0)), inf, 0);
  expect_special(bc::tanh(complex128(inf, 1)), 1, 0);
  expect_special(bc::tanh(complex128(-0.0, -0.0)), -0.0, -0.0);
  expect_special(bc::arcsin(complex128(inf, inf)), pi / 4, inf);
  expect_special(bc::arccos(complex128(-inf, 1)), pi, -inf);
  expect_special(bc::arccosh(complex128(0, nan)), nan, pi / 2);
  expect_special(bc::arctanh(complex128(1, 0)), inf, 0);
  expect_special(bc::arctan(complex128(inf, 0)), pi / 2, 0);
  expect_special(bc::sign(complex128(0, 0)), 0, 0);
  expect_special(complex128(1, 0) / complex128(0, 0), inf, nan);
  expect_special(bc::power(complex128(0, 0), complex128(0, 0)), 1, 0);
  expect_special(bc::power(complex128(0, 1), complex128(2, 0)), -1, 0);
  EXPECT_TRUE(bc::less(complex128(1, 5), complex128(2, 0)) && !bc::less(complex128(1, nan), complex128(2, 0)));
}

// ---- reduction states
TEST(DeviceTypes, argmax_takes_the_first_and_nan_before_all) {
  auto arg = [](const std::vector<float>& v, bool largest) {
    bc::ArgState<float> s{0, -1};
    for (size_t i = 0; i < v.size(); i++) {
      const bc::ArgState<float> one{v[i], static_cast<bc::i64>(i)};
      s = largest ? bc::argmax_join(s, one) : bc::argmin_join(one, s);
    }
    return s.index;
  };
  EXPECT_EQ(arg({1, 3, 3, 2}, true), 1);
  EXPECT_EQ(arg({1, 0, 3, 0}, false), 1);
  EXPECT_EQ(arg({1, NAN, 3, NAN}, true), 1);
  EXPECT_EQ(arg({1, NAN, -3, NAN}, false), 1);
  EXPECT_EQ(arg({-INFINITY}, true), 0);
}

TEST(DeviceTypes, variance_merges_as_accurately_as_two_passes) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(1e6, 1);
  std::vector<double> v(4096);
  for (double& x : v) x = normal(random);
  auto tree = [&](auto&& self, size_t low, size_t high) -> bc::VarState<double> {
    if (high - low == 1) return bc::var_of(v[low]);
    return bc::var_join(self(self, low, (low + high) / 2), self(self, (low + high) / 2, high));
  };
  const auto s = bc::var_join(bc::var_empty<double>(), tree(tree, 0, v.size()));
  long double mean = 0, m2 = 0;
  for (double x : v) mean += x;
  mean /= v.size();
  for (double x : v) m2 += (x - mean) * (x - mean);
  EXPECT_NEAR(bc::var_mean(s), static_cast<double>(mean), 1e-9);
  EXPECT_NEAR(bc::var_finish(s, 1.0), static_cast<double>(m2 / (v.size() - 1)), 1e-10);
  EXPECT_TRUE(std::isnan(bc::var_finish(bc::var_empty<double>(), 0.0)));
  const auto c = bc::var_join(bc::var_of(complex128(1, 1)), bc::var_of(complex128(3, -1)));
  EXPECT_EQ(bc::var_finish(c, 0.0), 2.0);
}

// ---- random numbers
TEST(DeviceTypes, philox_known_answers) {
  auto expect = [](bc::u32x4 got, bc::u32 x, bc::u32 y, bc::u32 z, bc::u32 w) {
    EXPECT_TRUE(got.x == x && got.y == y && got.z == z && got.w == w);
  };
  expect(bc::random_u32x4(0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  expect(bc::random_u32x4(~0u, ~0u, ~0ull, ~0ull), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  expect(bc::random_u32x4(0xa4093822, 0x299f31d0, 0x85a308d3243f6a88, 0x0370734413198a2e), 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
}

TEST(DeviceTypes, random_numbers_have_their_distributions) {
  const int n = 400000;
  double sum = 0, squares = 0, fourth = 0, uniform_sum = 0, tail = 0;
  for (int i = 0; i < n; i++) {
    const double z = bc::standard_normal<double>(7, i);
    const float f = bc::standard_normal<float>(8, i), u = bc::uniform<float>(9, i);
    ASSERT_TRUE(std::isfinite(z) && std::isfinite(f) && u >= 0 && u < 1);
    sum += z + f;
    squares += z * z + double(f) * f;
    fourth += z * z * z * z + double(f) * f * f * f;
    tail += (std::abs(z) > 3) + (std::abs(f) > 3);
    uniform_sum += u + bc::uniform<double>(9, i) + bc::cast<double>(bc::uniform<bc::half>(9, i));
  }
  EXPECT_NEAR(sum / (2 * n), 0, 0.006);
  EXPECT_NEAR(squares / (2 * n), 1, 0.008);
  EXPECT_NEAR(fourth / (2 * n), 3, 0.06);
  EXPECT_NEAR(tail / (2 * n), 0.0026998, 0.0003);
  EXPECT_NEAR(uniform_sum / (3 * n), 0.5, 0.002);
}

TEST(DeviceTypes, normal_quantiles_are_exact) {
  // With a tail probability p the quantile z has erfc(z / sqrt 2) = 2 p.
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; i++) {
    const uint64_t bits = (random() >> (random() % 50)) & ~1ull;
    const double tail = (2.0 * static_cast<double>(bits >> 12) + 1) * 0x1p-54;
    const double z = bc::normal_of(static_cast<bc::u64>(bits));
    // Newton's step from z to the exact quantile is its error.
    const double density = std::exp(-z * z / 2) / 2.5066282746310002;
    const double error = (0.5 * std::erfc(z / 1.4142135623730951) - tail) / density;
    ASSERT_LE(std::abs(error), 1e-13 + 4e-14 * z) << tail << " " << z;
  }
}

TEST(DeviceTypes, pairs_of_normal_numbers_are_points_of_the_plane) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; i++) {
    const auto a = static_cast<bc::u32>(random() >> (32 + random() % 32)), b = static_cast<bc::u32>(random());
    for (const bc::u32 outside : {a, ~a}) {
      const bc::f32x2 z = bc::normal_pair(outside, b);
      const double radius = std::sqrt(-2 * std::log((outside >> 1) * 0x1p-31 + 0x1p-32)), angle = b * 0x1p-31 * 3.141592653589793;
      // The probability is rounded to 24 bits, which a small radius shows.
      const double error = 4e-7 * radius + std::min(6e-8 / radius, 4e-4);
      ASSERT_NEAR(z.x, radius * std::cos(angle), error) << outside << " " << b;
      ASSERT_NEAR(z.y, radius * std::sin(angle), error) << outside << " " << b;
    }
  }
}

TEST(DeviceTypes, bounded_integers_cover_their_range) {
  std::vector<int> counts(10);
  for (int i = 0; i < 100000; i++) counts[bc::random_integer<bc::i64>(3, i, 0, 10)]++;
  for (int c : counts) EXPECT_NEAR(c, 10000, 450);
  for (int i = 0; i < 10000; i++) {
    const auto x = bc::random_integer<bc::i64>(3, i, -5, 1ull << 40);
    ASSERT_TRUE(x >= -5 && x < (1ll << 40) - 5);
    ASSERT_LT(bc::random_below(1, i, 3ull << 62), 3ull << 62);
  }
}

}  // namespace
