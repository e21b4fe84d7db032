// Indexing: basic items, index arrays, masks, and what they assign. Expected values are NumPy's.
#include <climits>
#include <random>

#include "array_help.h"
#include "ops/composite.h"

namespace bc {
namespace {

using namespace test;
using Kind = SliceItem::Kind;

IndexItem at(int64_t i) { return {{Kind::index, i, 0, 1, true, false}, {}}; }
IndexItem all() { return {}; }
IndexItem cut(int64_t start, int64_t stop, int64_t step = 1) { return {{Kind::slice, start, stop, step, true, true}, {}}; }
IndexItem every(int64_t step) { return {{Kind::slice, 0, 0, step, false, false}, {}}; }
IndexItem fresh() { return {{Kind::newaxis}, {}}; }
IndexItem dots() { return {{Kind::ellipsis}, {}}; }
IndexItem by(const Array& a) { return {{}, a}; }

Array get(const Array& a, std::vector<IndexItem> items) { return getitem(a, items); }
void set(const Array& a, std::vector<IndexItem> items, const Arg& value) { setitem(a, items, value); }

TEST(Indexing, BasicItemsAreViews) {
  const Array a = count({2, 3, 4});
  expect<int64_t>(get(a, {at(1), at(-1)}), {4}, {20, 21, 22, 23});
  expect<int64_t>(get(a, {dots(), at(0)}), {2, 3}, {0, 4, 8, 12, 16, 20});
  expect<int64_t>(get(a, {at(0), every(-2), cut(1, 3)}), {2, 2}, {9, 10, 1, 2});
  expect<int64_t>(get(a, {fresh(), at(0), at(0), fresh()}), {1, 1, 4}, {0, 1, 2, 3});
  const Array view = get(a, {all(), at(0)});
  assign(view, Arg(7));
  expect<int64_t>(get(a, {at(1), at(0)}), {4}, {7, 7, 7, 7});
}

TEST(Indexing, SlicesClampLikePythons) {
  const Array a = count({5});
  expect<int64_t>(get(a, {cut(-100, 100)}), {5}, {0, 1, 2, 3, 4});
  expect<int64_t>(get(a, {cut(100, -100, -1)}), {5}, {4, 3, 2, 1, 0});
  expect<int64_t>(get(a, {cut(3, 1)}), {0}, {});
  expect<int64_t>(get(a, {cut(4, -100, INT64_MIN)}), {1}, {4});
  expect<int64_t>(get(a, {cut(0, 5, INT64_MAX)}), {1}, {0});
}

TEST(Indexing, ErrorsAreInNumpysWords) {
  const Array a = count({3, 3});
  expect_error(ErrorKind::Index, "too many indices for array: array is 2-dimensional, but 3 were indexed",
               [&] { get(a, {at(0), at(0), at(0)}); });
  expect_error(ErrorKind::Index, "index 3 is out of bounds for axis 1 with size 3", [&] { get(a, {at(0), at(3)}); });
  expect_error(ErrorKind::Index, "an index can only have a single ellipsis ('...')", [&] { get(a, {dots(), dots()}); });
  expect_error(ErrorKind::Value, "slice step cannot be zero", [&] { get(a, {every(0)}); });
  expect_error(ErrorKind::Index, "arrays used as indices must be of integer (or boolean) type", [&] { get(a, {by(doubles({1}))}); });
  expect_error(ErrorKind::Index, "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,) ",
               [&] { get(a, {by(ints({0, 1})), by(ints({0, 1, 2}))}); });
  expect_error(ErrorKind::Index,
               "boolean index did not match indexed array along axis 0; size of axis is 3 but size of corresponding boolean axis is 2",
               [&] { get(a, {by(make<bool>({true, false}))}); });
  expect_error(ErrorKind::Value, "shape mismatch: value array of shape (2,) could not be broadcast to indexing result of shape (2,3)",
               [&] { set(a, {by(ints({0, 1}))}, Arg(ints({1, 2}))); });
  expect_error(ErrorKind::Value,
               "NumPy boolean array indexing assignment cannot assign 3 input values to the 2 output values where the mask is true",
               [&] { set(count({3}), {by(make<bool>({true, false, true}))}, Arg(ints({1, 2, 3}))); });
}

TEST(Indexing, IndexArraysGather) {
  const Array a = count({3, 4});
  expect<int64_t>(get(a, {by(ints({2, -1, 0}))}), {3, 4}, {8, 9, 10, 11, 8, 9, 10, 11, 0, 1, 2, 3});
  expect<int64_t>(get(a, {by(ints({0, 2})), by(ints({1, -1}))}), {2}, {1, 11});
  expect<int64_t>(get(a, {by(make<int64_t>({0, 2}, {2, 1})), by(ints({1, 3}))}), {2, 2}, {1, 3, 9, 11});
  expect<int64_t>(get(a, {all(), by(make<int32_t>({3, 0}))}), {3, 2}, {3, 0, 7, 4, 11, 8});
  expect<int64_t>(get(transpose(a), {by(ints({1})), at(2)}), {1}, {9});
  expect<int64_t>(get(a, {by(ints({}))}), {0, 4}, {});
}

TEST(Indexing, AxesOfPartedIndicesGoFirst) {
  const Array a = count({2, 3, 4});
  EXPECT_EQ(get(a, {all(), by(ints({0, 1})), by(ints({0, 1}))}).shape(), (Dims{2, 2}));
  expect<int64_t>(get(a, {all(), by(ints({0, 1})), by(ints({0, 3}))}), {2, 2}, {0, 7, 12, 19});
  expect<int64_t>(get(a, {by(ints({0, 1})), all(), by(ints({0, 3}))}), {2, 3}, {0, 4, 8, 15, 19, 23});
  EXPECT_EQ(get(a, {at(0), all(), by(ints({0, 3}))}).shape(), (Dims{2, 3}));
  EXPECT_EQ(get(a, {at(0), by(ints({0, 2})), all()}).shape(), (Dims{2, 4}));
  EXPECT_EQ(get(a, {all(), by(ints({0, 1, 1})), dots(), by(ints({0, 3, 1}))}).shape(), (Dims{3, 2}));
  EXPECT_EQ(get(a, {by(ints({0, 1})), fresh(), by(ints({0, 1}))}).shape(), (Dims{2, 1, 4}));
}

TEST(Indexing, MasksSelectInOrder) {
  const Array a = count({2, 3});
  const Array m = make<bool>({true, false, true, false, true, false}, {2, 3});
  expect<int64_t>(get(a, {by(m)}), {3}, {0, 2, 4});
  expect<int64_t>(get(a, {by(make<bool>({false, true}))}), {1, 3}, {3, 4, 5});
  expect<int64_t>(get(a, {all(), by(make<bool>({true, false, true}))}), {2, 2}, {0, 2, 3, 5});
  expect<int64_t>(get(a, {by(make<bool>({true, true})), by(ints({0, 2}))}), {2}, {0, 5});
  expect<int64_t>(get(transpose(a), {by(transpose(m))}), {3}, {0, 4, 2});
  const Array yes = full({}, Scalar::boolean(true), DType::b1, device()), no = full({}, Scalar::boolean(false), DType::b1, device());
  EXPECT_EQ(get(a, {by(yes)}).shape(), (Dims{1, 2, 3}));
  EXPECT_EQ(get(a, {by(no)}).shape(), (Dims{0, 2, 3}));
}

TEST(Indexing, LargeMasksMatchALoop) {
  std::mt19937 rng(7);
  const int64_t n = 300000;
  std::vector<bool> bits(n);
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < n; ++i) {
    bits[i] = rng() % 3 == 0;
    if (bits[i]) expected.push_back(i);
  }
  const Array m = make<bool>(bits);
  EXPECT_EQ(values<int64_t>(nonzero(m)[0]), expected);
  EXPECT_EQ(values<int64_t>(get(count({n}), {by(m)})), expected);
  const Array square = reshape(m, {500, 600});
  const auto where = nonzero(square);
  std::vector<int64_t> rows, columns;
  for (int64_t i : expected) rows.push_back(i / 600), columns.push_back(i % 600);
  EXPECT_EQ(values<int64_t>(where[0]), rows);
  EXPECT_EQ(values<int64_t>(where[1]), columns);
}

TEST(Indexing, AssignmentThroughIndexArrays) {
  Array a = count({5});
  set(a, {by(ints({0, 2, 0}))}, Arg(ints({10, 11, 12})));
  expect<int64_t>(a, {5}, {12, 1, 11, 3, 4});
  set(a, {by(ints({-1, 1}))}, Arg(7));
  expect<int64_t>(a, {5}, {12, 7, 11, 3, 7});
  Array b = zeros({3, 3}, DType::f32, device());
  set(b, {by(ints({0, 2})), cut(0, 2)}, Arg(doubles({1, 2})));
  expect<float>(b, {3, 3}, {1, 2, 0, 0, 0, 0, 1, 2, 0});
  set(b, {all(), by(ints({2, 2}))}, Arg(make<double>({1, 2, 3, 4, 5, 6}, {3, 2})));
  expect<float>(b, {3, 3}, {1, 2, 2, 0, 0, 4, 1, 2, 6});
  const Array row = get(b, {at(1)});
  set(row, {by(ints({1}))}, Arg(9));
  expect<float>(b, {3, 3}, {1, 2, 2, 0, 9, 4, 1, 2, 6});
}

TEST(Indexing, AssignmentThroughMasks) {
  Array a = count({2, 3});
  set(a, {by(ufunc(Op::greater, {a, Arg(2)}))}, Arg(0));
  expect<int64_t>(a, {2, 3}, {0, 1, 2, 0, 0, 0});
  set(a, {by(make<bool>({true, false}))}, Arg(ints({7, 8, 9})));
  expect<int64_t>(a, {2, 3}, {7, 8, 9, 0, 0, 0});
  set(a, {all(), by(make<bool>({true, false, true}))}, Arg(make<int64_t>({1, 2}, {2, 1})));
  expect<int64_t>(a, {2, 3}, {1, 8, 1, 2, 0, 2});
  set(a, {by(ufunc(Op::equal, {a, Arg(2)}))}, Arg(ints({-1, -2})));
  expect<int64_t>(a, {2, 3}, {1, 8, 1, -1, 0, -2});
  set(a, {by(make<bool>({true, false, false, false, false, true}, {2, 3}))}, Arg(ints({5})));
  expect<int64_t>(a, {2, 3}, {5, 8, 1, -1, 0, 5});
}

TEST(Indexing, LargeScattersMatchALoop) {
  std::mt19937 rng(11);
  const int64_t places = 100000, targets = 5000;
  std::vector<int64_t> index(places), value(places), expected(targets, -1);
  for (int64_t p = 0; p < places; ++p) {
    index[p] = static_cast<int64_t>(rng() % (targets - 7));
    value[p] = static_cast<int64_t>(rng());
    expected[index[p]] = value[p];
    if (p % 2) index[p] -= targets;
  }
  Array a = full({targets}, Scalar::integer(-1), DType::i64, device());
  set(a, {by(ints(index))}, Arg(ints(value)));
  EXPECT_EQ(values<int64_t>(a), expected);
  // Rows of three, through a transposed target.
  Array b = full({3, targets}, Scalar::integer(-1), DType::i64, device());
  set(transpose(b), {by(ints(index))}, Arg(reshape(ints(value), {places, 1})));
  expect<int64_t>(get(b, {at(2)}), {targets}, expected);
}

TEST(Indexing, LargeCompressionsOfRowsMatchALoop) {
  std::vector<bool> bits(20000);
  std::vector<int64_t> expected;
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = i % 5 == 2 || i % 7 == 0;
    if (bits[i])
      for (size_t j = 0; j < 6; ++j) expected.push_back(static_cast<int64_t>(6 * i + j));
  }
  const Array a = count({20000, 2, 3});
  EXPECT_EQ(values<int64_t>(get(a, {by(make<bool>(bits))})), expected);
  const Array turned = moveaxis(copy(moveaxis(a, {0}, {2})), {2}, {0});
  EXPECT_EQ(values<int64_t>(get(turned, {by(make<bool>(bits))})), expected);
}

TEST(Indexing, OldReadersKeepTheirValue) {
  Array a = count({4});
  const Array before = ufunc(Op::multiply, {a, Arg(2)});
  const Array kept = copy(a);
  set(a, {by(ints({0, 1}))}, Arg(ints({9, 9})));
  expect<int64_t>(before, {4}, {0, 2, 4, 6});
  expect<int64_t>(kept, {4}, {0, 1, 2, 3});
  expect<int64_t>(a, {4}, {9, 9, 2, 3});
}

TEST(Indexing, AssignmentFromItselfReadsFirst) {
  Array a = count({4});
  set(a, {by(ints({1, 2, 3}))}, Arg(get(a, {cut(0, 3)})));
  expect<int64_t>(a, {4}, {0, 0, 1, 2});
  Array b = count({4});
  set(b, {by(b)}, Arg(ufunc(Op::subtract, {Arg(3), b})));
  expect<int64_t>(b, {4}, {3, 2, 1, 0});
}

TEST(Indexing, OutOfRangeIndicesRaise) {
  const Array a = count({4});
  expect_error(ErrorKind::Index, "out of bounds", [&] {
    values<int64_t>(get(a, {by(ints({0, 4}))}));
    synchronize();
  });
  Array b = count({4});
  expect_error(ErrorKind::Index, "out of bounds", [&] {
    set(b, {by(ints({-5}))}, Arg(1));
    values<int64_t>(b);
    synchronize();
  });
}

}  // namespace
}  // namespace bc
