#include "core/shape.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace bc {
namespace {

using Random = std::mt19937_64;

int64_t pick(Random& random, int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }

/// Every element that a layout reaches, in C order of its indices.
std::vector<int64_t> elements(const Layout& l) {
  std::vector<int64_t> out;
  const int64_t n = l.size();
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, at = l.offset;
    for (int d = l.ndim() - 1; d >= 0; --d) {
      at += rest % l.shape[d] * l.strides[d];
      rest /= l.shape[d];
    }
    out.push_back(at);
  }
  return out;
}

Dims random_shape(Random& random, int max_dims, int64_t max_extent, bool zeros = true) {
  Dims shape;
  for (int n = static_cast<int>(pick(random, 0, max_dims)); n > 0; --n)
    shape.push_back(pick(random, zeros && pick(random, 0, 9) == 0 ? 0 : 1, max_extent));
  return shape;
}

/// A view of a C-contiguous base as slicing, transposing, new axes and picking give it.
Layout random_view(Random& random, const Dims& base) {
  Layout l = contiguous_layout(base);
  for (int d = l.ndim() - 1; d >= 0; --d) {
    const int64_t n = l.shape[d];
    if (n == 0) continue;
    switch (pick(random, 0, 4)) {
      case 0: {  // a slice
        const int64_t start = pick(random, 0, n - 1), step = pick(random, 1, 3);
        l.offset += start * l.strides[d];
        l.shape[d] = (n - start + step - 1) / step;
        l.strides[d] *= step;
        break;
      }
      case 1: {  // backwards
        const int64_t start = pick(random, 0, n - 1), step = pick(random, 1, 3);
        l.offset += start * l.strides[d];
        l.shape[d] = start / step + 1;
        l.strides[d] *= -step;
        break;
      }
      case 2:  // one index
        if (pick(random, 0, 1)) {
          l.offset += pick(random, 0, n - 1) * l.strides[d];
          l.shape.erase(d);
          l.strides.erase(d);
        }
        break;
      default: break;
    }
  }
  for (int d = l.ndim() - 1; d > 0; --d) {
    const int other = static_cast<int>(pick(random, 0, d));
    std::swap(l.shape[d], l.shape[other]);
    std::swap(l.strides[d], l.strides[other]);
  }
  if (pick(random, 0, 3) == 0) {
    const int at = static_cast<int>(pick(random, 0, l.ndim()));
    l.shape.insert(at, 1);
    l.strides.insert(at, pick(random, -5, 5));
  }
  return l;
}

/// Any strides at all: windows, broadcasts, gaps.
Layout random_layout(Random& random) {
  Layout l;
  l.shape = random_shape(random, 4, 5);
  for (int d = 0; d < l.ndim(); ++d) l.strides.push_back(pick(random, -8, 8));
  l.offset = pick(random, 0, 30);
  return l;
}

TEST(Dims, KeepValuesWhenTheyGrowPastTheirInlinePlace) {
  Dims d;
  for (int64_t i = 0; i < kMaxDims; ++i) {
    d.push_back(i * i);
    ASSERT_EQ(d.size(), i + 1);
    for (int64_t k = 0; k <= i; ++k) ASSERT_EQ(d[static_cast<int>(k)], k * k);
  }
  EXPECT_THROW(d.push_back(1), Error);
  const Dims copy = d;
  EXPECT_EQ(copy, d);
  Dims moved = std::move(d);
  EXPECT_EQ(moved, copy);
  EXPECT_EQ(d.size(), 0);
  moved.resize(3);
  EXPECT_EQ(moved, (Dims{0, 1, 4}));
  moved.resize(5, 7);
  EXPECT_EQ(moved, (Dims{0, 1, 4, 7, 7}));
  moved = copy;
  EXPECT_EQ(moved.back(), 63 * 63);
}

TEST(Dims, InsertAndEraseAsAVectorDoes) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    Dims d;
    std::vector<int64_t> v;
    for (int step = 0; step < 40; ++step) {
      const int at = static_cast<int>(pick(random, 0, d.size()));
      if (pick(random, 0, 2) && d.size() < kMaxDims) {
        d.insert(at, step);
        v.insert(v.begin() + at, step);
      } else if (at < d.size()) {
        d.erase(at);
        v.erase(v.begin() + at);
      }
      ASSERT_EQ(std::vector<int64_t>(d.begin(), d.end()), v);
      Dims other{9, 9};
      other = d;
      ASSERT_EQ(other, d);
      other = std::move(other);
    }
  }
}

TEST(Dims, ReadAsNumpysTuples) {
  EXPECT_EQ(to_string(Dims()), "()");
  EXPECT_EQ(to_string(Dims{3}), "(3,)");
  EXPECT_EQ(to_string(Dims{3, 4, 5}), "(3, 4, 5)");
  EXPECT_EQ(fmt::format("{}", Dims{1, 2}), "(1, 2)");
}

TEST(Product, CountsElements) {
  EXPECT_EQ(product(Dims()), 1);
  EXPECT_EQ(product(Dims{3, 4}), 12);
  EXPECT_EQ(product(Dims{3, 0, int64_t{1} << 61}), 0);
  EXPECT_THROW(product(Dims{3, 0, int64_t{1} << 62, 4}), Error);  // strides are products of the extents beside those of 0
  EXPECT_THROW(product(Dims{int64_t{1} << 62, 2}), Error);
  EXPECT_THROW(product(Dims{3, -1}), Error);
}

TEST(Layout, ContiguityIsWhatTheElementsSay) {
  Random random(2);
  int contiguous = 0, fortran = 0;
  for (int round = 0; round < 5000; ++round) {
    const Layout l = random_view(random, random_shape(random, 4, 4));
    const std::vector<int64_t> at = elements(l);
    bool ordered = true;
    for (size_t i = 1; i < at.size(); ++i) ordered &= at[i] == at[i - 1] + 1;
    EXPECT_EQ(is_contiguous(l.shape, l.strides), ordered) << to_string(l.shape) << to_string(l.strides);
    Layout reversed = l;
    std::reverse(reversed.shape.begin(), reversed.shape.end());
    std::reverse(reversed.strides.begin(), reversed.strides.end());
    EXPECT_EQ(is_f_contiguous(l.shape, l.strides), is_contiguous(reversed.shape, reversed.strides))
        << to_string(l.shape) << to_string(l.strides);
    contiguous += ordered;
    fortran += is_f_contiguous(l.shape, l.strides);
  }
  EXPECT_GT(contiguous, 500);
  EXPECT_GT(fortran, 500);
}

TEST(Broadcast, FollowsNumpy) {
  EXPECT_EQ(broadcast_shapes("f", {5, 1, 3}, {4, 1}), (Dims{5, 4, 3}));
  EXPECT_EQ(broadcast_shapes("f", {}, {2, 0}), (Dims{2, 0}));
  EXPECT_EQ(broadcast_shapes("f", {1}, {0}), (Dims{0}));
  try {
    broadcast_shapes("hypot", {3, 2}, {4, 2});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Value);
    EXPECT_EQ(std::string(e.what()), "hypot: operands could not be broadcast together with shapes (3, 2) (4, 2)");
  }
  const Layout l{{3, 1}, {7, 2}, 5};
  EXPECT_EQ(broadcast_strides("f", l, {4, 3, 6}), (Dims{0, 7, 0}));
  EXPECT_THROW(broadcast_strides("f", l, {3}), Error);
  EXPECT_THROW(broadcast_strides("f", l, {2, 1}), Error);
}

TEST(Broadcast, OfRandomShapesIsSymmetricAndReadsTheRightElements) {
  Random random(3);
  int fine = 0;
  for (int round = 0; round < 3000; ++round) {
    const Dims a = random_shape(random, 4, 3), b = random_shape(random, 4, 3);
    Dims c;
    try {
      c = broadcast_shapes("f", a, b);
    } catch (const Error&) {
      EXPECT_THROW(broadcast_shapes("f", b, a), Error);
      continue;
    }
    EXPECT_EQ(c, broadcast_shapes("f", b, a));
    const Layout wide{c, broadcast_strides("f", contiguous_layout(a), c), 0};
    const std::vector<int64_t> at = elements(wide);
    for (int64_t i = 0; i < static_cast<int64_t>(at.size()); ++i) {
      int64_t rest = i, expected = 0;
      const Dims strides = contiguous_strides(a);
      for (int d = c.size() - 1; d >= 0; --d) {
        const int k = d - (c.size() - a.size());
        if (k >= 0 && a[k] != 1) expected += rest % c[d] * strides[k];
        rest /= c[d];
      }
      ASSERT_EQ(at[static_cast<size_t>(i)], expected);
    }
    ++fine;
  }
  EXPECT_GT(fine, 500);
}

TEST(Axis, IsNormalisedOrRefused) {
  EXPECT_EQ(normalize_axis(-1, 3, "sum"), 2);
  EXPECT_EQ(normalize_axis(2, 3, "sum"), 2);
  for (int64_t axis : {int64_t{3}, int64_t{-4}}) {
    try {
      normalize_axis(axis, 3, "sum");
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Axis);
    }
  }
}

/// A shape of the same number of elements, made by splitting and joining.
Dims random_reshape(Random& random, int64_t n) {
  Dims shape;
  while (n > 1 && shape.size() < 4 && pick(random, 0, 4)) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= n; ++d)
      if (n % d == 0) divisors.push_back(d);
    const int64_t d = divisors[static_cast<size_t>(pick(random, 0, static_cast<int64_t>(divisors.size()) - 1))];
    shape.push_back(d);
    n /= d;
  }
  shape.push_back(n);
  if (pick(random, 0, 2) == 0) shape.insert(static_cast<int>(pick(random, 0, shape.size())), 1);
  return shape;
}

/// Whether strides exist under which `shape` walks the same elements in the same order: each axis alone fixes its own stride.
bool can_reshape(const std::vector<int64_t>& at, const Dims& shape) {
  Dims strides(shape.size(), 0);
  int64_t unit = 1;
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (shape[d] > 1) strides[d] = at[static_cast<size_t>(unit)] - at[0];
    unit *= shape[d];
  }
  return elements({shape, strides, at[0]}) == at;
}

TEST(Reshape, IsAViewExactlyWhenStridesExist) {
  Random random(4);
  int views = 0, copies = 0;
  for (int round = 0; round < 20000; ++round) {
    const Layout from = random_view(random, random_shape(random, 4, 6, false));
    const Dims shape = random_reshape(random, from.size());
    const std::vector<int64_t> at = elements(from);
    Layout to;
    const bool view = reshape_layout(from, shape, &to);
    ASSERT_EQ(view, can_reshape(at, shape)) << to_string(from.shape) << " " << to_string(from.strides) << " to " << to_string(shape);
    (view ? views : copies) += 1;
    if (!view) continue;
    ASSERT_EQ(to.shape, shape);
    ASSERT_EQ(elements(to), at) << to_string(from.shape) << " " << to_string(from.strides) << " to " << to_string(shape);
  }
  EXPECT_GT(views, 2000);
  EXPECT_GT(copies, 2000);
}

TEST(Reshape, OfNothingIsAView) {
  Layout to;
  EXPECT_TRUE(reshape_layout({{0, 3}, {5, 7}, 2}, {4, 0, 2}, &to));
  EXPECT_EQ(to.shape, (Dims{4, 0, 2}));
  EXPECT_TRUE(reshape_layout({{}, {}, 3}, {1, 1}, &to));
  EXPECT_EQ(elements(to), std::vector<int64_t>{3});
}

TEST(Bounds, HoldTheLowestAndHighestElement) {
  Random random(5);
  for (int round = 0; round < 5000; ++round) {
    const Layout l = random_layout(random);
    int64_t low, high;
    bounds(l, &low, &high);
    const std::vector<int64_t> at = elements(l);
    if (at.empty()) {
      EXPECT_GT(low, high);
      continue;
    }
    EXPECT_EQ(low, *std::min_element(at.begin(), at.end()));
    EXPECT_EQ(high, *std::max_element(at.begin(), at.end()));
  }
}

TEST(Overlap, IsNeverDeniedWronglyAndOftenDeniedRightly) {
  Random random(6);
  int apart = 0, denied = 0;
  for (int round = 0; round < 30000; ++round) {
    Layout a, b;
    if (round % 2) {
      a = random_layout(random);
      b = random_layout(random);
    } else {
      const Dims base = random_shape(random, 3, 6, false);
      a = random_view(random, base);
      b = random_view(random, base);
    }
    const std::vector<int64_t> x = elements(a), y = elements(b);
    const std::set<int64_t> of_a(x.begin(), x.end());
    bool meet = false;
    for (int64_t e : y) meet |= of_a.contains(e);
    const bool says = may_overlap(a, b);
    ASSERT_EQ(says, may_overlap(b, a));
    if (meet) {
      ASSERT_TRUE(says) << to_string(a.shape) << to_string(a.strides) << a.offset << " " << to_string(b.shape) << to_string(b.strides)
                        << b.offset;
    }
    apart += !meet;
    denied += !says;
  }
  EXPECT_GT(denied * 2, apart);  // most disjoint pairs are known to be
}

TEST(Overlap, KnowsTheCommonCases) {
  EXPECT_FALSE(may_overlap({{10}, {2}, 0}, {{10}, {2}, 1}));  // even and odd
  EXPECT_FALSE(may_overlap({{10}, {1}, 0}, {{10}, {1}, 10}));
  EXPECT_FALSE(may_overlap({{0}, {1}, 0}, {{10}, {1}, 0}));
  EXPECT_TRUE(may_overlap({{10}, {1}, 0}, {{10}, {-1}, 9}));
  EXPECT_TRUE(may_overlap({{}, {}, 4}, {{10}, {1}, 0}));
}

TEST(SelfOverlap, IsNeverDeniedWrongly) {
  Random random(7);
  int distinct = 0, known = 0;
  for (int round = 0; round < 20000; ++round) {
    const Layout l = round % 2 ? random_layout(random) : random_view(random, random_shape(random, 4, 5));
    std::vector<int64_t> at = elements(l);
    std::sort(at.begin(), at.end());
    const bool twice = std::adjacent_find(at.begin(), at.end()) != at.end();
    if (twice) {
      ASSERT_TRUE(self_overlaps(l)) << to_string(l.shape) << to_string(l.strides);
    }
    if (round % 2 == 0) {
      ASSERT_FALSE(self_overlaps(l)) << to_string(l.shape) << to_string(l.strides);  // slices never do
    }
    distinct += !twice;
    known += !self_overlaps(l);
  }
  EXPECT_GT(known * 2, distinct);
}

TEST(Collapse, KeepsTheWalkOfEveryList) {
  Random random(8);
  int shorter = 0;
  for (int round = 0; round < 10000; ++round) {
    const Dims base = random_shape(random, 5, 4, false);
    const int lists = static_cast<int>(pick(random, 1, 3));
    std::vector<Dims> strides;
    for (int k = 0; k < lists; ++k) {
      Dims s = contiguous_strides(base);
      for (int d = 0; d < s.size(); ++d) {
        if (pick(random, 0, 9) == 0) s[d] = 0;
        if (pick(random, 0, 9) == 0) s[d] = pick(random, -3, 9);
      }
      strides.push_back(s);
    }
    std::vector<std::vector<int64_t>> before;
    for (const Dims& s : strides) before.push_back(elements({base, s, 100}));
    Dims shape = base;
    std::vector<Dims*> list;
    for (Dims& s : strides) list.push_back(&s);
    collapse(&shape, list);
    for (int k = 0; k < lists; ++k) {
      ASSERT_EQ(strides[static_cast<size_t>(k)].size(), shape.size());
      ASSERT_EQ(elements({shape, strides[static_cast<size_t>(k)], 100}), before[static_cast<size_t>(k)]);
    }
    for (int d = 0; d < shape.size(); ++d) EXPECT_NE(shape[d], 1);
    // Nothing that could be joined is left.
    for (int d = 0; d + 1 < shape.size(); ++d) {
      bool joins = true;
      for (const Dims& s : strides) joins &= s[d] == s[d + 1] * shape[d + 1];
      EXPECT_FALSE(joins);
    }
    shorter += shape.size() < base.size();
  }
  EXPECT_GT(shorter, 1000);
}

TEST(Collapse, MakesOneAxisOfAContiguousArray) {
  Dims shape{2, 3, 1, 4}, a = contiguous_strides(shape), b = a;
  Dims* lists[] = {&a, &b};
  collapse(&shape, lists);
  EXPECT_EQ(shape, (Dims{24}));
  EXPECT_EQ(a, (Dims{1}));
}

TEST(AxisMap, WhenFoundReachesTheViewsElements) {
  Random random(9);
  int found = 0, slices = 0;
  for (int round = 0; round < 20000; ++round) {
    const Dims base = random_shape(random, 4, 5, false);
    const bool slice = round % 3 != 0;
    Layout view = slice ? random_view(random, base) : random_layout(random);
    if (!slice) {
      int64_t low, high;
      bounds(view, &low, &high);
      if (low > high || low < 0 || high >= product(base)) continue;
    }
    AxisMap map;
    const bool mapped = axis_map(base, view, &map);
    slices += slice;
    if (!mapped) continue;
    found += slice;
    const Dims strides = contiguous_strides(base);
    const std::vector<int64_t> expected = elements(view);
    for (int64_t i = 0; i < view.size(); ++i) {
      Dims index(view.ndim());
      int64_t rest = i;
      for (int d = view.ndim() - 1; d >= 0; --d) {
        index[d] = rest % view.shape[d];
        rest /= view.shape[d];
      }
      int64_t at = 0;
      for (int k = 0; k < base.size(); ++k) {
        const int64_t c = map.start[k] + (map.axis[k] < 0 ? 0 : map.step[k] * index[static_cast<int>(map.axis[k])]);
        ASSERT_GE(c, 0);
        ASSERT_LT(c, base[k]);
        at += c * strides[k];
      }
      ASSERT_EQ(at, expected[static_cast<size_t>(i)])
          << to_string(base) << " " << to_string(view.shape) << to_string(view.strides) << view.offset;
    }
  }
  EXPECT_GT(found * 10, slices * 9);  // what slicing and transposing give is nearly always recovered
}

TEST(Order, FollowsTheStridesThatAllOperandsAgreeOn) {
  const Dims c{12, 4, 1}, f{1, 2, 6};
  EXPECT_EQ(operands_order(std::vector<Dims>{c}, 3), (Dims{0, 1, 2}));
  EXPECT_EQ(operands_order(std::vector<Dims>{f}, 3), (Dims{2, 1, 0}));
  EXPECT_EQ(operands_order(std::vector<Dims>{Dims{-1, -2, -6}}, 3), (Dims{2, 1, 0}));
  EXPECT_EQ(operands_order(std::vector<Dims>{c, f}, 3), (Dims{0, 1, 2}));              // they disagree: C's
  EXPECT_EQ(operands_order(std::vector<Dims>{f, Dims{0, 0, 1}}, 3), (Dims{2, 1, 0}));  // one of them tells nothing
  EXPECT_EQ(operands_order({}, 3), (Dims{0, 1, 2}));
  EXPECT_EQ(joined_order(std::vector<Dims>{Dims{1, 0, 5, 20}}, 4), (Dims{3, 2, 0, 1}));
  EXPECT_EQ(memory_order(Dims{0, 1}), (Dims{1, 0}));
  EXPECT_EQ(inverse_axes(Dims{2, 0, 1}), (Dims{1, 2, 0}));
  EXPECT_EQ(moving_strides(Dims{1, 3}, Dims{7, 1}), (Dims{0, 1}));
  const Layout l = transposed({Dims{2, 3, 4}, Dims{12, 4, 1}, 5}, Dims{2, 0, 1});
  EXPECT_EQ(l.shape, (Dims{4, 2, 3}));
  EXPECT_EQ(l.strides, (Dims{1, 12, 4}));
  EXPECT_EQ(l.offset, 5);
}

}  // namespace
}  // namespace bc
