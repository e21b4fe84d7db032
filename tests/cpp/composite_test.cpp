// Ops made of other ops. Expected values are NumPy's.
#include "ops/composite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "array_help.h"

namespace bc {
namespace {

using namespace test;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_near(const Array& a, const std::vector<double>& expected, double tolerance = 1e-12) {
  const auto v = values<double>(a.dtype() == DType::f64 ? a : astype(a, DType::f64));
  ASSERT_EQ(v.size(), expected.size());
  for (size_t i = 0; i < v.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(v[i])) << i;
    } else {
      EXPECT_NEAR(v[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << i;
    }
  }
}
ReduceOptions along(int64_t axis) {
  ReduceOptions o;
  o.axes = Axes{axis};
  return o;
}

// ---- Creation

TEST(Creation, Spaces) {
  expect_near(linspace(Arg(0), Arg(1), 5, true, {}, 0, device()), {0, .25, .5, .75, 1});
  expect_near(linspace(Arg(0), Arg(1), 4, false, {}, 0, device()), {0, .25, .5, .75});
  expect<int64_t>(linspace(Arg(0), Arg(3), 4, true, DType::i64, 0, device()), {4}, {0, 1, 2, 3});
  EXPECT_EQ(linspace(Arg(make<float>({0})), Arg(make<float>({1})), 3).dtype(), DType::f32);
  const Array two = linspace(Arg(doubles({0, 10})), Arg(doubles({1, 20})), 3);
  EXPECT_EQ(two.shape(), (Dims{3, 2}));
  expect_near(two, {0, 10, .5, 15, 1, 20});
  expect_near(linspace(Arg(doubles({0, 10})), Arg(doubles({1, 20})), 3, true, {}, -1), {0, .5, 1, 10, 15, 20});
  expect_near(linspace(Arg(2.0), Arg(2.0), 3, true, {}, 0, device()), {2, 2, 2});
  expect_near(logspace(Arg(0), Arg(2), 3, true, Arg(10.0), {}, 0, device()), {1, 10, 100});
  expect_near(geomspace(Arg(1), Arg(1000), 4, true, {}, 0, device()), {1, 10, 100, 1000});
  expect_near(geomspace(Arg(-1), Arg(-1000), 4, true, {}, 0, device()), {-1, -10, -100, -1000});
  expect_error(ErrorKind::Value, "Number of samples, -1, must be non-negative.",
               [] { linspace(Arg(0), Arg(1), -1, true, {}, 0, device()); });
  expect_error(ErrorKind::Value, "Geometric sequence cannot include zero", [] { geomspace(Arg(0), Arg(1), 3, true, {}, 0, device()); });
}

TEST(Creation, Matrices) {
  expect<double>(eye(2, 3, 1, DType::f64, device()), {2, 3}, {0, 1, 0, 0, 0, 1});
  expect<int64_t>(diag(ints({1, 2})), {2, 2}, {1, 0, 0, 2});
  expect<int64_t>(diag(ints({1, 2}), -1), {3, 3}, {0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect<int64_t>(diag(count({3, 3}), 1), {2}, {1, 5});
  expect<int64_t>(diagonal(count({2, 3, 4}), 0, 0, 2), {3, 2}, {0, 13, 4, 17, 8, 21});
  expect<int64_t>(diagonal(count({2, 3}), 5), {0}, {});
  EXPECT_EQ(item(trace(count({3, 3}))).i, 12);
  expect<int64_t>(tril(count({3, 3})), {3, 3}, {0, 0, 0, 3, 4, 0, 6, 7, 8});
  expect<int64_t>(triu(count({2, 3}), 1), {2, 3}, {0, 1, 2, 0, 0, 5});
  expect<int64_t>(vander(ints({1, 2, 3}), 3), {3, 3}, {1, 1, 1, 4, 2, 1, 9, 3, 1});
  const Array xy[] = {ints({1, 2, 3}), ints({4, 5})};
  const auto grid = meshgrid(xy);
  expect<int64_t>(grid[0], {2, 3}, {1, 2, 3, 1, 2, 3});
  expect<int64_t>(grid[1], {2, 3}, {4, 4, 4, 5, 5, 5});
  EXPECT_EQ(meshgrid(xy, "ij", true)[0].shape(), (Dims{3, 1}));
  expect<int64_t>(indices({2, 2}, DType::i64, device()), {2, 2, 2}, {0, 0, 1, 1, 0, 1, 0, 1});
  Array a = zeros({3, 3}, DType::i64, device());
  fill_diagonal(a, Arg(5));
  expect<int64_t>(a, {3, 3}, {5, 0, 0, 0, 5, 0, 0, 0, 5});
  Array tall = zeros({5, 2}, DType::i64, device());
  fill_diagonal(tall, Arg(1), true);
  expect<int64_t>(tall, {5, 2}, {1, 0, 0, 1, 0, 0, 1, 0, 0, 1});
}

// ---- Joining

TEST(Joining, Concatenate) {
  const Array a = count({2, 2}), b = make<double>({9, 8}, {1, 2});
  const Array both[] = {a, b};
  expect<double>(concatenate(both), {3, 2}, {0, 1, 2, 3, 9, 8});
  expect<double>(concatenate(both, std::nullopt), {6}, {0, 1, 2, 3, 9, 8});
  expect_error(ErrorKind::Value, "along dimension 0, the array at index 0 has size 2 and the array at index 1 has size 1",
               [&] { concatenate(both, 1); });
  expect_error(ErrorKind::Type, "Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'same_kind'",
               [&] { concatenate(both, 0, DType::i64); });
  expect_error(ErrorKind::Value, "need at least one array to concatenate", [] { concatenate({}); });
  const Array same[] = {ints({1, 2}), ints({3, 4})};
  expect<int64_t>(stack(same), {2, 2}, {1, 2, 3, 4});
  expect<int64_t>(stack(same, -1), {2, 2}, {1, 3, 2, 4});
  expect<int64_t>(hstack(same), {4}, {1, 2, 3, 4});
  expect<int64_t>(vstack(same), {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(dstack(same).shape(), (Dims{1, 2, 2}));
  expect<int64_t>(column_stack(same), {2, 2}, {1, 3, 2, 4});
}

TEST(Joining, SplitRepeatTile) {
  const auto parts = array_split(count({7}), 3);
  expect<int64_t>(parts[0], {3}, {0, 1, 2});
  expect<int64_t>(parts[2], {2}, {5, 6});
  const int64_t cuts[] = {2, 9, 3};
  const auto by = split(count({5}), cuts);
  expect<int64_t>(by[1], {3}, {2, 3, 4});
  expect<int64_t>(by[2], {0}, {});
  expect_error(ErrorKind::Value, "array split does not result in an equal division", [] { split(count({7}), 3); });
  expect<int64_t>(repeat(count({3}), 2), {6}, {0, 0, 1, 1, 2, 2});
  expect<int64_t>(repeat(count({2, 2}), ints({1, 2}), 0), {3, 2}, {0, 1, 2, 3, 2, 3});
  expect<int64_t>(tile(count({2}), {2, 2}), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  expect<int64_t>(resize(count({3}), {2, 2}), {2, 2}, {0, 1, 2, 0});
}

TEST(Joining, Rearranging) {
  expect<int64_t>(flip(count({2, 2})), {2, 2}, {3, 2, 1, 0});
  expect<int64_t>(roll(count({5}), {2}), {5}, {3, 4, 0, 1, 2});
  expect<int64_t>(roll(count({2, 3}), {1, 1}, Axes{0, 1}), {2, 3}, {5, 3, 4, 2, 0, 1});
  expect<int64_t>(roll(count({2, 3}), {-1}, Axes{1}), {2, 3}, {1, 2, 0, 4, 5, 3});
  EXPECT_EQ(moveaxis(count({2, 3, 4}), {0}, {-1}).shape(), (Dims{3, 4, 2}));
  EXPECT_EQ(rollaxis(count({2, 3, 4}), 2).shape(), (Dims{4, 2, 3}));
  expect<int64_t>(rot90(count({2, 2})), {2, 2}, {1, 3, 0, 2});
  EXPECT_EQ(squeeze(count({1, 3, 1}), Axes{0}).shape(), (Dims{3, 1}));
  EXPECT_EQ(expand_dims(count({3}), {0, -1}).shape(), (Dims{1, 3, 1}));
  expect<int64_t>(ravel(count({2, 2}), 'F'), {4}, {0, 2, 1, 3});
  expect<int64_t>(reshape_fortran(count({6}), {2, 3}), {2, 3}, {0, 2, 4, 1, 3, 5});
  const int64_t at[] = {1, -1};
  expect<int64_t>(delete_(count({4}), at), {2}, {0, 2});
  expect<int64_t>(insert(count({3}), {at, 1}, ints({9, 8})), {5}, {0, 9, 8, 1, 2});
  const int64_t two[] = {0, 3};
  expect<int64_t>(insert(count({3}), two, ints({9, 8})), {5}, {9, 0, 1, 2, 8});
  expect_error(ErrorKind::Value, "cannot select an axis to squeeze out which has size not equal to one",
               [] { squeeze(count({2}), Axes{0}); });
}

// ---- Elementwise

TEST(Composite, RoundClipClose) {
  expect_near(round(doubles({1.25, 2.5, -1.75}), 1), {1.2, 2.5, -1.8});
  expect<int64_t>(round(ints({15, 25, 26}), -1), {3}, {20, 20, 30});
  expect<int64_t>(clip(count({5}), Arg(1), Arg(3)), {5}, {1, 1, 2, 3, 3});
  expect<int64_t>(clip(count({3}), {}, Arg(1)), {3}, {0, 1, 1});
  expect<bool>(isclose(doubles({1, 1, kNan}), doubles({1 + 1e-9, 1.1, kNan})), {3}, {true, false, false});
  EXPECT_TRUE(allclose(doubles({1, kNan}), doubles({1, kNan}), 1e-5, 1e-8, true));
  EXPECT_TRUE(isclose(doubles({INFINITY}), Arg(INFINITY)).size() == 1 && allclose(doubles({INFINITY}), Arg(INFINITY)));
  EXPECT_TRUE(array_equal(count({3}), count({3})));
  EXPECT_FALSE(array_equal(count({3}), count({4})));
  const auto [q, r] = divmod(ints({7, -7}), Arg(3));
  expect<int64_t>(q, {2}, {2, -3});
  expect<int64_t>(r, {2}, {1, 2});
  const auto [m, e] = frexp(doubles({8, 0.5}));
  expect_near(m, {.5, .5});
  expect<int32_t>(e, {2}, {4, 0});
  expect_near(nan_to_num(doubles({kNan, INFINITY, 1}), Arg(7.0), Arg(9.0)), {7, 9, 1});
  expect<int64_t>(diff(ints({1, 4, 9, 16}), 2), {2}, {2, 2});
  expect_near(trapezoid(doubles({1, 2, 3})), {4});
  expect_near(trapezoid(doubles({1, 2, 3}), doubles({4, 6, 8})), {8});
  expect<int64_t>(cross(ints({1, 2, 3}), ints({4, 5, 6})), {3}, {-3, 6, -3});
}

// ---- Statistics

TEST(Statistics, AveragesAndNans) {
  const auto [mean, weight] = average(doubles({1, 2, 3}), {}, doubles({3, 2, 1}));
  expect_near(mean, {10.0 / 6});
  expect_near(weight, {6});
  expect_error(ErrorKind::ZeroDivision, "Weights sum to zero, can't be normalized", [] { average(doubles({1, 2}), {}, doubles({1, -1})); });
  const Array a = make<double>({1, kNan, 3, 4, kNan, kNan}, {2, 3});
  expect_near(nansum(a), {8});
  expect_near(nanmean(a, along(1)), {2, 4});
  expect_near(nanmax(a, along(1)), {3, 4});
  expect_near(nanvar(a, along(1)), {1, 0});
  ReduceOptions sample = along(1);
  sample.ddof = 1;
  expect_near(nanstd(a, sample), {std::sqrt(2.0), kNan});
  EXPECT_EQ(item(nanargmax(a)).i, 3);
  expect_error(ErrorKind::Value, "All-NaN slice encountered", [&] { nanargmin(a, 0); });
  EXPECT_EQ(item(ptp(ints({3, 9, 4}))).i, 6);
  expect_near(cov(make<double>({0, 1, 2, 2, 1, 0}, {2, 3})), {1, -1, -1, 1});
  expect_near(corrcoef(make<double>({0, 1, 2, 2, 1, 0}, {2, 3})), {1, -1, -1, 1});
  expect_near(norm(doubles({3, 4})), {5});
  expect_near(norm(doubles({3, -4}), INFINITY), {4});
  expect_near(norm(make<double>({1, -2, 3, 4}, {2, 2}), 1.0), {6});
}

// ---- Methods of ufuncs

TEST(Methods, Accumulate) {
  expect<int64_t>(cumsum(make<int8_t>({100, 100, 100})), {3}, {100, 200, 300});
  expect<int64_t>(cumsum(count({2, 3}), 0), {2, 3}, {0, 1, 2, 3, 5, 7});
  expect<int64_t>(cumsum(count({2, 3})), {6}, {0, 1, 3, 6, 10, 15});
  expect<int8_t>(accumulate(Op::maximum, make<int8_t>({1, 3, 2})), {3}, {1, 3, 3});
  expect<double>(accumulate(Op::divide, ints({8, 2, 2})), {3}, {8, 4, 2});
  expect<bool>(accumulate(Op::logical_and, ints({1, 0, 3})), {3}, {true, false, false});
  expect_near(nancumsum(doubles({1, kNan, 2})), {1, 1, 3});
  expect_error(ErrorKind::Value, "accumulate only supported for binary functions", [] { accumulate(Op::sin, count({2})); });
  expect_error(ErrorKind::Type, "cannot accumulate on a scalar", [] { accumulate(Op::add, count({})); });
}

TEST(Methods, LongScansMatchALoopInEveryShape) {
  std::mt19937 rng(3);
  for (const Dims& shape : {Dims{200000}, Dims{3, 70001}, Dims{70001, 3}, Dims{1000, 300}, Dims{20, 5, 400}}) {
    std::vector<int64_t> x(static_cast<size_t>(product(shape)));
    for (int64_t& v : x) v = static_cast<int64_t>(rng() % 1000) - 500;
    const Array a = make<int64_t>(x, shape);
    const Dims strides = contiguous_strides(shape);
    for (int axis = 0; axis < shape.size(); ++axis) {
      std::vector<int64_t> expected = x;
      for (size_t i = 0; i < x.size(); ++i)
        if (static_cast<int64_t>(i) / strides[axis] % shape[axis] > 0) expected[i] += expected[i - static_cast<size_t>(strides[axis])];
      EXPECT_EQ(values<int64_t>(cumsum(a, axis)), expected) << to_string(shape) << " axis " << axis;
    }
  }
}

TEST(Methods, ReduceWithoutARow) {
  ReduceOptions first = along(0);
  expect<int64_t>(ufunc_reduce(Op::subtract, count({3, 2}), first), {2}, {-6, -7});
  EXPECT_EQ(item(ufunc_reduce(Op::power, ints({2, 3, 2}), first)).i, 64);
  std::vector<double> halves(100, 2.0);
  expect_near(ufunc_reduce(Op::divide, doubles(halves), first), {2 / std::pow(2.0, 99)});
  first.initial = Arg(5);
  EXPECT_EQ(item(ufunc_reduce(Op::subtract, ints({1, 1}), first)).i, 3);
  EXPECT_EQ(item(ufunc_reduce(Op::subtract, ints(std::vector<int64_t>(100, 1)), first)).i, -95);
  first.initial.reset();
  expect_error(ErrorKind::Value, "zero-size array to reduction operation subtract which has no identity",
               [&] { ufunc_reduce(Op::subtract, ints({}), first); });
  expect_error(ErrorKind::Value, "reduction operation 'subtract' is not reorderable, so at most one axis may be specified",
               [&] { ufunc_reduce(Op::subtract, count({2, 2}), {}); });
  expect_error(ErrorKind::UFuncTypeError, "No loop matching", [&] { ufunc_reduce(Op::less, ints({1, 2}), first); });
  EXPECT_EQ(item(ufunc_reduce(Op::add, ints({1, 2}), first)).i, 3);
}

TEST(Methods, ReduceatAt) {
  expect<int64_t>(reduceat(Op::add, count({8}), ints({0, 4, 1, 5})), {4}, {6, 4, 10, 18});
  expect<int64_t>(reduceat(Op::multiply, count({2, 3}), ints({0, 2}), 1), {2, 2}, {0, 2, 12, 5});
  expect_error(ErrorKind::Index, "index 10 out-of-bounds in add.reduceat [0, 4)", [] { reduceat(Op::add, count({4}), ints({0, 10})); });
  Array a = zeros({3}, DType::i64, device());
  const IndexItem items[] = {{{}, ints({0, 1, 0, -1})}};
  ufunc_at(Op::add, a, items, Arg(ints({1, 2, 3, 4})));
  expect<int64_t>(a, {3}, {4, 2, 4});
  ufunc_at(Op::negative, a, items);
  expect<int64_t>(a, {3}, {4, -2, -4});
  Array f = zeros({2, 2}, DType::f32, device());
  const IndexItem rows[] = {{{}, ints({1, 1})}};
  ufunc_at(Op::add, f, rows, Arg(doubles({0.5, 1})));
  expect<float>(f, {2, 2}, {0, 0, 1, 2});
  // Cast to float64 and back at each occurrence.
  Array steps = zeros({2}, DType::i64, device());
  const IndexItem twice[] = {{{}, ints({0, 0, 0})}};
  ufunc_at(Op::add, steps, twice, Arg(1.5));
  expect<int64_t>(steps, {2}, {3, 0});
}

template <class T>
void check_at(Op op, T (*apply)(T, T), int64_t places, int64_t targets, int64_t row) {
  std::mt19937 rng(5);
  std::vector<int64_t> index(static_cast<size_t>(places));
  std::vector<T> value(static_cast<size_t>(places * row)), expected(static_cast<size_t>(targets * row), T(1));
  for (size_t p = 0; p < index.size(); ++p) {
    index[p] = static_cast<int64_t>(rng() % static_cast<uint64_t>(targets));
    for (size_t j = 0; j < static_cast<size_t>(row); ++j) {
      T& v = value[p * static_cast<size_t>(row) + j];
      v = static_cast<T>(rng() % 100);
      T& e = expected[static_cast<size_t>(index[p]) * static_cast<size_t>(row) + j];
      e = apply(e, v);
    }
  }
  const Array a = ones({targets, row}, dtype_of<T>(), device());
  const IndexItem items[] = {{{}, ints(index)}};
  ufunc_at(op, a, items, Arg(make<T>(value, {places, row})));
  EXPECT_EQ(values<T>(a), expected) << info(op).name << " " << info(dtype_of<T>()).name << " " << places << " " << targets << " " << row;
}

TEST(Methods, LargeAtMatchesALoop) {
  for (int64_t row : {1, 3})
    for (int64_t targets : {3, 1000, 70000}) {
      check_at<int64_t>(Op::add, [](int64_t a, int64_t b) { return a + b; }, 50000, targets, row);
      check_at<int8_t>(Op::add, [](int8_t a, int8_t b) { return static_cast<int8_t>(a + b); }, 50000, targets, row);
      check_at<uint8_t>(Op::maximum, [](uint8_t a, uint8_t b) { return std::max(a, b); }, 50000, targets, row);
      check_at<int32_t>(Op::subtract, [](int32_t a, int32_t b) { return a - b; }, 50000, targets, row);
      check_at<uint64_t>(Op::multiply, [](uint64_t a, uint64_t b) { return a * b; }, 50000, targets, row);
      check_at<double>(Op::add, [](double a, double b) { return a + b; }, 50000, targets, row);
      check_at<float>(Op::maximum, [](float a, float b) { return std::max(a, b); }, 50000, targets, row);
      check_at<float>(Op::subtract, [](float a, float b) { return a - b; }, 5000, targets, row);
    }
}

TEST(Methods, LongReduceatMatchesALoop) {
  const int64_t n = 100000;
  std::vector<int64_t> at = {0, 7, 7, 50000, 20, 99999};
  for (const Dims& shape : {Dims{n}, Dims{n, 3}, Dims{2, n}}) {
    const int axis = shape[0] == n ? 0 : 1;
    const Array a = ufunc(Op::remainder, {count(shape), Arg(1001)});
    const auto x = values<int64_t>(a);
    const int64_t step = contiguous_strides(shape)[axis], lines = product(shape) / n;
    const auto got = values<int64_t>(reduceat(Op::add, a, ints(at), axis));
    for (int64_t line = 0; line < lines; ++line)
      for (size_t j = 0; j < at.size(); ++j) {
        const int64_t end = std::max(at[j] + 1, j + 1 < at.size() ? at[j + 1] : n), base = axis == 0 ? line : line * n;
        int64_t sum = 0;
        for (int64_t i = at[j]; i < end; ++i) sum += x[static_cast<size_t>(base + i * step)];
        const int64_t place =
            axis == 0 ? static_cast<int64_t>(j) * step + line : line * static_cast<int64_t>(at.size()) + static_cast<int64_t>(j);
        EXPECT_EQ(got[static_cast<size_t>(place)], sum) << to_string(shape) << " line " << line << " segment " << j;
      }
  }
}

TEST(Methods, LongScansOfFloatsAreAccurateAndRepeat) {
  const Array a = ufunc(Op::sqrt, {count({1 << 20}, DType::f64)});
  const auto x = values<double>(a), got = values<double>(cumsum(a));
  EXPECT_EQ(got, values<double>(cumsum(a)));
  long double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    ASSERT_NEAR(got[i], static_cast<double>(sum), 1e-11 * static_cast<double>(sum)) << i;
  }
  const auto peak = values<double>(accumulate(Op::maximum, ufunc(Op::sin, {a})));
  EXPECT_TRUE(std::is_sorted(peak.begin(), peak.end()));
}

// ---- Products

TEST(Products, Matmul) {
  const Array a = count({2, 3}), b = count({3, 2});
  expect<int64_t>(matmul(a, b), {2, 2}, {10, 13, 28, 40});
  expect<double>(matmul(astype(a, DType::f64), b), {2, 2}, {10, 13, 28, 40});
  expect<double>(matmul(astype(transpose(b), DType::f64), transpose(astype(a, DType::f64))), {2, 2}, {10, 28, 13, 40});
  expect<int64_t>(matmul(a, ints({1, 1, 1})), {2}, {3, 12});
  expect<int64_t>(matmul(ints({1, 1}), a), {3}, {3, 5, 7});
  EXPECT_EQ(item(matmul(ints({1, 2}), ints({3, 4}))).i, 11);
  const Array batch = matmul(count({2, 1, 2, 3}, DType::f32), count({5, 3, 4}, DType::f32));
  EXPECT_EQ(batch.shape(), (Dims{2, 5, 2, 4}));
  const auto v = values<float>(batch);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 5; ++j)
      for (int r = 0; r < 2; ++r)
        for (int c = 0; c < 4; ++c) {
          float sum = 0;
          for (int k = 0; k < 3; ++k) sum += static_cast<float>(i * 6 + r * 3 + k) * static_cast<float>(j * 12 + k * 4 + c);
          EXPECT_EQ(v[static_cast<size_t>(((i * 5 + j) * 2 + r) * 4 + c)], sum);
        }
  expect<double>(matmul(zeros({2, 0}, DType::f64, device()), zeros({0, 2}, DType::f64, device())), {2, 2}, {0, 0, 0, 0});
  expect_error(ErrorKind::Value,
               "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size 4 is "
               "different from 3)",
               [] { matmul(count({2, 3}), count({4, 5})); });
  expect_error(ErrorKind::Value,
               "remapped shapes [original->remapped]: (2,2,3)->(2,newaxis,newaxis) (3,3,5)->(3,newaxis,newaxis)  and requested shape (2,5)",
               [] { matmul(count({2, 2, 3}), count({3, 3, 5})); });
}

TEST(Products, Dots) {
  expect<int64_t>(dot(count({2, 2, 2}), count({3, 2, 2})), {2, 2, 3, 2},
                  {2, 3, 6, 7, 10, 11, 6, 11, 26, 31, 46, 51, 10, 19, 46, 55, 82, 91, 14, 27, 66, 79, 118, 131});
  EXPECT_EQ(dot(make<int8_t>({1, 2}), make<int8_t>({3, 4})).dtype(), DType::i8);
  expect<int64_t>(inner(count({2, 2}), count({3, 2})), {2, 3}, {1, 3, 5, 3, 13, 23});
  expect<int64_t>(outer(ints({1, 2}), ints({3, 4})), {2, 2}, {3, 4, 6, 8});
  expect<int64_t>(tensordot(count({2, 3, 4}), count({3, 4, 2})), {2, 2}, {1012, 1078, 2596, 2806});
  expect<int64_t>(kron(ints({1, 2}), make<int64_t>({1, 1, 1, 1}, {2, 2})), {2, 4}, {1, 1, 2, 2, 1, 1, 2, 2});
  EXPECT_EQ(item(vdot(count({2, 2}), count({2, 2}))).i, 14);
  expect<int64_t>(vecdot(count({2, 2}), count({2, 2})), {2}, {1, 13});
  expect<int64_t>(matvec(count({2, 2}), ints({1, 1})), {2}, {1, 5});
  expect<int64_t>(vecmat(ints({1, 1}), count({2, 2})), {2}, {2, 4});
  expect_error(ErrorKind::Value, "shapes (2,3) and (4,5) not aligned: 3 (dim 1) != 4 (dim 0)", [] { dot(count({2, 3}), count({4, 5})); });
}

// ---- Selection

TEST(Selection, Takes) {
  expect<int64_t>(take(count({2, 3}), ints({2, 0}), 1), {2, 2}, {2, 0, 5, 3});
  expect<int64_t>(take(count({5}), ints({7, -1}), std::nullopt, "wrap"), {2}, {2, 4});
  expect<int64_t>(take(count({5}), ints({7, -1}), std::nullopt, "clip"), {2}, {4, 0});
  expect_error(ErrorKind::Index, "cannot do a non-empty take from an empty axes.", [] { take(ints({}), ints({0})); });
  expect<int64_t>(take_along_axis(count({2, 3}), make<int64_t>({2, 0}, {2, 1}), 1), {2, 1}, {2, 3});
  Array a = count({2, 3});
  put_along_axis(a, make<int64_t>({2, 0}, {2, 1}), Arg(9), 1);
  expect<int64_t>(a, {2, 3}, {0, 1, 9, 9, 4, 5});
  put(a, ints({0, -1}), Arg(ints({7})));
  expect<int64_t>(a, {2, 3}, {7, 1, 9, 9, 4, 7});
  expect<int64_t>(compress(make<bool>({false, true}), count({2, 2}), 0), {1, 2}, {2, 3});
  expect<int64_t>(extract(make<bool>({true, false, true}), count({3})), {2}, {0, 2});
  const Array choices[] = {ints({0, 1, 2}), ints({10, 11, 12})};
  expect<int64_t>(choose(ints({1, 0, 1}), choices), {3}, {10, 1, 12});
  expect_error(ErrorKind::Value, "invalid entry in choice array", [&] { choose(ints({2}), choices); });
  expect<int64_t>(argwhere(make<bool>({true, false, false, true}, {2, 2})), {2, 2}, {0, 0, 1, 1});
  const Array conditions[] = {make<bool>({true, false, false}), make<bool>({true, true, false})};
  expect<int64_t>(select(conditions, choices, Arg(-1)), {3}, {0, 11, -1});
}

// ---- Random numbers

TEST(Random, StreamsAreRepeatableAndInRange) {
  const Array u = random_uniform(7, 0, {1000}, DType::f64, device());
  const auto v = values<double>(u);
  EXPECT_EQ(v, values<double>(random_uniform(7, 0, {1000}, DType::f64, device())));
  double sum = 0;
  for (double x : v) {
    EXPECT_GE(x, 0);
    EXPECT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  const auto tail = values<double>(random_uniform(7, 500, {10}, DType::f64, device()));
  EXPECT_EQ(tail[0], values<double>(random_uniform(7, 500, {1}, DType::f64, device()))[0]);
  const auto z = values<double>(random_standard_normal(1, 0, {20000}, DType::f64, device()));
  double m = 0, s = 0;
  for (double x : z) m += x, s += x * x;
  EXPECT_NEAR(m / 20000, 0, 0.05);
  EXPECT_NEAR(s / 20000, 1, 0.05);
  for (int8_t x : values<int8_t>(random_integers(1, 0, Scalar::integer(-128), Scalar::integer(-125), {100}, DType::i8, false, device()))) {
    EXPECT_LE(x, -126);
  }
  const auto wide =
      values<uint64_t>(random_integers(1, 0, Scalar::integer(0), Scalar::uinteger(~uint64_t{0}), {100}, DType::u64, true, device()));
  EXPECT_NE(wide[0], wide[1]);
  expect_error(ErrorKind::Value, "low >= high",
               [] { random_integers(1, 0, Scalar::integer(3), Scalar::integer(3), {1}, DType::i64, false, device()); });
  expect_error(ErrorKind::Value, "high is out of bounds for int8",
               [] { random_integers(1, 0, Scalar::integer(0), Scalar::integer(129), {1}, DType::i8, false, device()); });
}

}  // namespace
}  // namespace bc
