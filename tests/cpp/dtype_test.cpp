#include "core/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/scalar.h"
#include "core/time_unit.h"

namespace bc {
namespace {

std::vector<DType> all() {
  std::vector<DType> types;
  for (int i = 0; i < kDTypeCount; ++i) types.push_back(DType(i));
  return types;
}

TEST(DType, NamesSizesAndKindsAgree) {
  std::set<std::string> names;
  for (DType t : all()) {
    EXPECT_TRUE(names.insert(info(t).name).second);
    EXPECT_EQ(dtype_from_name(info(t).name), t);
    EXPECT_EQ(info(t).itemsize, itemsize(t));
    EXPECT_EQ(std::string(info(t).typestr).substr(2), std::to_string(itemsize(t)));
    EXPECT_EQ(is_bool(t) + is_integer(t) + is_real_float(t) + is_complex(t), 1);
    EXPECT_EQ(is_integer(t), is_signed_int(t) || is_unsigned(t));
    EXPECT_EQ(is_inexact(t), info(t).kind == 'f' || info(t).kind == 'c');
    EXPECT_EQ(real_type(t) == t, !is_complex(t));
  }
  EXPECT_FALSE(dtype_from_name("float31"));
  EXPECT_EQ(real_type(DType::c128), DType::f64);
  EXPECT_EQ(complex_type(DType::f32), DType::c64);
}

TEST(Promote, IsSymmetricAndKeepsWhatItPromotes) {
  for (DType a : all()) {
    EXPECT_EQ(promote(a, a), a);
    for (DType b : all()) {
      const DType t = promote(a, b);
      EXPECT_EQ(t, promote(b, a));
      EXPECT_TRUE(can_cast(a, t, Casting::safe) && can_cast(b, t, Casting::safe));
      EXPECT_EQ(promote(t, a), t);
      // No smaller type holds both; integers do not become the 8-bit floats that they cast to.
      for (DType c : all())
        if (is_float8(c) == is_float8(t) && can_cast(a, c, Casting::safe) && can_cast(b, c, Casting::safe)) {
          EXPECT_LE(itemsize(t), itemsize(c)) << info(a).name << info(b).name;
        }
    }
  }
}

TEST(Promote, AgreesWithNumpy) {
  using enum DType;
  struct {
    DType a, b, result;
  } const cases[] = {{b1, i8, i8},          {i8, u8, i16},        {i16, u16, i32},      {i32, u32, i64},    {i64, u64, f64},
                     {u8, i64, i64},        {i8, f16, f16},       {u8, f16, f16},       {i16, f16, f32},    {u16, f16, f32},
                     {i32, f16, f64},       {i16, f32, f32},      {i32, f32, f64},      {i64, f32, f64},    {u64, f32, f64},
                     {f16, f32, f32},       {f32, f64, f64},      {f16, c64, c64},      {f32, c64, c64},    {f64, c64, c128},
                     {i16, c64, c64},       {i32, c64, c128},     {i64, c64, c128},     {c64, c128, c128},  {b1, f16, f16},
                     {b1, c64, c64},        {f16, bf16, f32},     {bf16, f32, f32},     {i8, bf16, bf16},   {u8, bf16, bf16},
                     {i16, bf16, f32},      {bf16, c64, c64},     {bf16, f64, f64},     {u64, u8, u64},     {u32, i8, i64},
                     {u64, i8, f64},        {f8e4m3, i8, f8e4m3}, {f8e5m2, u8, f8e5m2}, {f8e4m3, i16, f32}, {f8e5m2, i32, f64},
                     {f8e4m3, f8e5m2, f32}, {f8e4m3, f16, f32},   {f8e5m2, bf16, f32},  {f8e4m3, c64, c64}};
  for (const auto& c : cases) EXPECT_EQ(promote(c.a, c.b), c.result) << info(c.a).name << " " << info(c.b).name;
}

TEST(Promote, IsAssociativeExceptWhereNumpysIsNot) {
  // int and uint of one size meet in the next; with 64 bits that is float64. There NumPy's promotion depends on the order too.
  int differ = 0;
  for (DType a : all())
    for (DType b : all())
      for (DType c : all()) {
        const DType left = promote(promote(a, b), c), right = promote(a, promote(b, c));
        if (left == right) continue;
        ++differ;
        // Only a signed and an unsigned type, or small floats, beside a third can differ.
        const bool mixed =
            is_signed_int(a) + is_signed_int(b) + is_signed_int(c) >= 1 && is_unsigned(a) + is_unsigned(b) + is_unsigned(c) >= 1;
        const bool halves = is_small_float(a) || is_small_float(b) || is_small_float(c);
        EXPECT_TRUE(mixed || halves) << info(a).name << " " << info(b).name << " " << info(c).name;
      }
  EXPECT_LT(differ, 250);
}

TEST(CanCast, OrdersTheRules) {
  using enum DType;
  for (DType a : all())
    for (DType b : all()) {
      EXPECT_EQ(can_cast(a, b, Casting::no), a == b);
      EXPECT_EQ(can_cast(a, b, Casting::equiv), a == b);
      if (can_cast(a, b, Casting::no)) {
        EXPECT_TRUE(can_cast(a, b, Casting::safe));
      }
      if (can_cast(a, b, Casting::safe)) {
        EXPECT_TRUE(can_cast(a, b, Casting::same_kind));
      }
      EXPECT_TRUE(can_cast(a, b, Casting::unsafe));
      // Safe casts are transitive.
      for (DType c : all())
        if (can_cast(a, b, Casting::safe) && can_cast(b, c, Casting::safe)) {
          EXPECT_TRUE(can_cast(a, c, Casting::safe)) << info(a).name << info(c).name;
        }
    }
  EXPECT_TRUE(can_cast(f64, f32, Casting::same_kind));
  EXPECT_TRUE(can_cast(i64, i8, Casting::same_kind));
  EXPECT_TRUE(can_cast(i64, f16, Casting::same_kind));
  EXPECT_TRUE(can_cast(u8, i8, Casting::same_kind));
  EXPECT_FALSE(can_cast(i8, u8, Casting::same_kind));
  EXPECT_FALSE(can_cast(f32, i64, Casting::same_kind));
  EXPECT_FALSE(can_cast(c64, f64, Casting::same_kind));
  EXPECT_FALSE(can_cast(i8, b1, Casting::same_kind));
  EXPECT_TRUE(can_cast(i64, f64, Casting::safe));
  EXPECT_FALSE(can_cast(i64, f32, Casting::safe));
  EXPECT_FALSE(can_cast(f16, bf16, Casting::safe));
  EXPECT_EQ(to_string(Casting::same_kind), "same_kind");
}

TEST(WeakScalars, TakeTheArraysTypeWhereItHoldsTheirKind) {
  using enum DType;
  for (DType t : all()) {
    EXPECT_EQ(promote_weak(t, Weak::none), t);
    EXPECT_EQ(promote_weak(t, Weak::boolean), t);
    EXPECT_EQ(promote_weak(t, Weak::integer), t == b1 ? i64 : t);
    EXPECT_EQ(promote_weak(t, Weak::real), is_inexact(t) ? t : f64);
    EXPECT_TRUE(is_complex(promote_weak(t, Weak::complex)));
  }
  EXPECT_EQ(promote_weak(f32, Weak::complex), c64);
  EXPECT_EQ(promote_weak(f16, Weak::complex), c64);
  EXPECT_EQ(promote_weak(f64, Weak::complex), c128);
  EXPECT_EQ(promote_weak(i8, Weak::complex), c128);
  EXPECT_EQ(default_dtype(Weak::integer), i64);
  EXPECT_EQ(default_dtype(Weak::complex), c128);
}

template <class T>
T stored(const Scalar& s, DType t) {
  alignas(16) char bytes[16] = {};
  s.store(t, bytes);
  T v;
  std::memcpy(&v, bytes, sizeof(T));
  return v;
}

TEST(Scalar, StoresAndLoadsEveryType) {
  for (DType t : all()) {
    alignas(16) char bytes[16] = {};
    Scalar::integer(1).store(t, bytes);
    EXPECT_EQ(Scalar::load(t, bytes).as_double(), 1) << info(t).name;
    Scalar::real(0).store(t, bytes);
    EXPECT_EQ(Scalar::load(t, bytes).as_double(), 0) << info(t).name;
  }
  EXPECT_EQ(stored<int8_t>(Scalar::integer(-5), DType::i8), -5);
  EXPECT_EQ(stored<uint64_t>(Scalar::uinteger(~uint64_t{0}), DType::u64), ~uint64_t{0});
  EXPECT_EQ(stored<int32_t>(Scalar::real(-2.7), DType::i32), -2);
  EXPECT_EQ(stored<uint8_t>(Scalar::complex(0, 2), DType::b1), 1);
  EXPECT_EQ(stored<uint16_t>(Scalar::real(1.0), DType::f16), 0x3c00);
  EXPECT_EQ(stored<uint16_t>(Scalar::real(65504), DType::f16), 0x7bff);
  EXPECT_EQ(stored<uint16_t>(Scalar::real(65536), DType::f16), 0x7c00);
  EXPECT_EQ(stored<uint16_t>(Scalar::real(1.0), DType::bf16), 0x3f80);
  EXPECT_EQ(stored<uint16_t>(Scalar::real(1 + 1.0 / 256), DType::bf16), 0x3f80);  // halfway: to even
  EXPECT_EQ(stored<uint16_t>(Scalar::real(1 + 3.0 / 256), DType::bf16), 0x3f82);
  EXPECT_EQ(stored<uint16_t>(Scalar::real(NAN), DType::bf16) & 0x7fc0, 0x7fc0);
}

TEST(Scalar, RoundsToEightBits) {
  const auto bits = [](double v, DType t) { return int{stored<uint8_t>(Scalar::real(v), t)}; };
  const DType e4 = DType::f8e4m3, e5 = DType::f8e5m2;
  EXPECT_EQ(bits(0, e4), 0);
  EXPECT_EQ(bits(-0.0, e5), 0x80);
  EXPECT_EQ(bits(448, e4), 0x7e);
  EXPECT_EQ(bits(464, e4), 0x7e);  // halfway to what there is not: to even
  EXPECT_EQ(bits(464.1, e4), 0x7f);
  EXPECT_EQ(bits(-1e9, e4), 0xff);
  EXPECT_EQ(bits(57344, e5), 0x7b);
  EXPECT_EQ(bits(61440, e5), 0x7c);
  EXPECT_EQ(bits(0x1p-9, e4), 1);
  EXPECT_EQ(bits(0x1p-10, e4), 0);
  EXPECT_EQ(bits(0x1.8p-9, e4), 2);
  EXPECT_EQ(bits(0x1p-16, e5), 1);
  EXPECT_EQ(bits(0x1.fp-7, e4), 8);  // up into the normal numbers
  EXPECT_EQ(bits(1 + 0x1p-4 + 0x1p-40, e4), 0x39);
  for (int b = 0; b < 256; ++b)
    for (DType t : {e4, e5}) {
      const auto byte = static_cast<uint8_t>(b);
      const double v = Scalar::load(t, &byte).f;
      if (!std::isnan(v)) {
        EXPECT_EQ(bits(v, t), b) << info(t).name;
      }
    }
}

TEST(Times, HaveADtypeForEachUnit) {
  const DType days = datetime_type({TimeBase::day, 1}), quarters = timedelta_type({TimeBase::minute, 15});
  EXPECT_EQ(std::string(info(days).name), "datetime64[D]");
  EXPECT_EQ(std::string(info(quarters).typestr), "<m8[15m]");
  EXPECT_EQ(dtype_from_name("timedelta64[15m]"), quarters);
  EXPECT_EQ(dtype_from_name("datetime64"), datetime_type({}));
  EXPECT_FALSE(dtype_from_name("datetime64[x]") || dtype_from_name("datetime64[]") || dtype_from_name("datetime64[0s]"));
  EXPECT_EQ(itemsize(days), 8);
  EXPECT_EQ(storage_type(quarters), DType::i64);
  EXPECT_EQ(dtype_bit(days), 0u);
  EXPECT_FALSE(is_plain(days) || is_inexact(days) || is_integer(quarters));
}

TEST(Times, MeetInTheUnitOfWhichBothAreWholeNumbers) {
  using enum TimeBase;
  EXPECT_EQ(common_unit({second, 2}, {second, 3}, true), (TimeUnit{second, 1}));
  EXPECT_EQ(common_unit({day, 3}, {hour, 36}, true), (TimeUnit{hour, 36}));
  EXPECT_EQ(common_unit({month, 2}, {year, 3}, true), (TimeUnit{month, 2}));
  EXPECT_EQ(common_unit({}, {milli, 7}, true), (TimeUnit{milli, 7}));
  EXPECT_EQ(common_unit({year, 1}, {day, 1}, false), (TimeUnit{day, 1}));
  EXPECT_THROW(common_unit({year, 1}, {day, 1}, true), Error);
  EXPECT_THROW(common_unit({week, 1}, {atto, 1}, true), Error);
  EXPECT_EQ(common_unit({month, 1}, {second, 7}, false), (TimeUnit{second, 7}));
  const TimeFactor mean = time_factor({year, 1}, {hour, 1});
  EXPECT_EQ(mean.numerator * 400, 146097 * 24 * mean.denominator);
  const TimeFactor f = time_factor({minute, 15}, {hour, 1});
  EXPECT_EQ(f.numerator, 1);
  EXPECT_EQ(f.denominator, 4);
}

TEST(Scalar, KnowsWhatFits) {
  using enum DType;
  EXPECT_TRUE(Scalar::integer(127).fits(i8));
  EXPECT_FALSE(Scalar::integer(128).fits(i8));
  EXPECT_TRUE(Scalar::integer(-128).fits(i8));
  EXPECT_FALSE(Scalar::integer(-129).fits(i8));
  EXPECT_FALSE(Scalar::integer(-1).fits(u64));
  EXPECT_TRUE(Scalar::uinteger(~uint64_t{0}).fits(u64));
  EXPECT_FALSE(Scalar::uinteger(~uint64_t{0}).fits(i64));
  EXPECT_TRUE(Scalar::integer(INT64_MIN).fits(i64));
  EXPECT_TRUE(Scalar::real(1e300).fits(i8));  // floats are cast, not checked
}

}  // namespace
}  // namespace bc
