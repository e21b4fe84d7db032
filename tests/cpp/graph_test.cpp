// The tape and the planner, on the null device, which writes down what it was asked to run.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "array/array.h"
#include "backends/null/null_backend.h"
#include "core/error.h"
#include "graph/fuse.h"
#include "graph/plan.h"
#include "graph/schedule.h"
#include "graph/show_plan.h"
#include "graph/tape.h"
#include "runtime/pool.h"

namespace bc {
namespace {

constexpr Device kNull{DeviceType::null, 2};  // of this file alone

class Graph : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    flush(kNull);
    config().background_compile = false;  // each kernel is compiled once, before it is launched
    null_set_target(GetParam());
    null_log_clear();
  }
  void TearDown() override {
    null_set_capacity(0);
    flush(kNull);
    config().background_compile = background_;
    null_set_target("null-cpu");
    null_log_clear();
  }

  static Array make(const Dims& shape = {1000}, DType t = DType::f64) { return empty(shape, t, kNull); }
  static bool pending(const Array& a) { return a.storage()->current->pending(); }
  static size_t launches() { return null_log().size(); }
  /// Launches of the block, what waits at its end with them.
  template <class F>
  static size_t count(F f) {
    flush(kNull);
    null_log_clear();
    f();
    flush(kNull);
    return launches();
  }

 private:
  const bool background_ = config().background_compile;
};

ReduceOptions over(std::vector<int64_t> axes, bool keepdims = false) {
  ReduceOptions o;
  o.axes = std::move(axes);
  o.keepdims = keepdims;
  return o;
}
Array narrow(const Array& a, int axis, int64_t start, int64_t count, int64_t step = 1) {
  Layout l = a.layout();
  l.offset += start * l.strides[axis];
  l.shape[axis] = count;
  l.strides[axis] *= step;
  return a.with_layout(std::move(l));
}
Array sin_of(const Array& a) { return ufunc(Op::sin, {a}); }
Array plus(const Array& a, const Arg& b) { return ufunc(Op::add, {a, b}); }

TEST_P(Graph, NothingRunsUntilSomebodyLooks) {
  const Array a = make(), b = plus(sin_of(a), 1.0);
  EXPECT_TRUE(pending(b));
  EXPECT_EQ(launches(), 0u);
  EXPECT_NE(data(b), nullptr);
  EXPECT_FALSE(pending(b));
  EXPECT_EQ(launches(), 1u);
  data(b);
  EXPECT_EQ(launches(), 1u);
  EXPECT_TRUE(tape(kNull).empty());
}

TEST_P(Graph, LookingAtOneValueRunsAllThatIsHeld) {
  const Array a = make(), b = plus(a, 1.0), c = make({7}), d = sin_of(c);
  data(b);
  EXPECT_FALSE(pending(d));
  EXPECT_EQ(launches(), 2u);
}

TEST_P(Graph, DeadNodesLeaveTheTape) {
  const Array a = make();
  {
    const Array dead = sin_of(a), also = plus(dead, 1.0);
    EXPECT_FALSE(tape(kNull).empty());
  }
  EXPECT_TRUE(tape(kNull).empty());
  EXPECT_EQ(count([&] {
              Array x = a;
              for (int i = 0; i < 10; ++i) x = plus(x, 1.0);
              x = Array();
            }),
            0u);
}

TEST_P(Graph, ANodeLivesAsLongAsAReaderNeedsIt) {
  const Array a = make();
  Array y;
  EXPECT_EQ(count([&] {
              Array x = sin_of(a);
              y = plus(x, 1.0);
              x = Array();
            }),
            1u);
  EXPECT_FALSE(pending(y));
}

TEST_P(Graph, HeldValuesAreStoredAndOthersAreNot) {
  const Array a = make();
  const Array x = sin_of(a), y = plus(x, 1.0);
  flush(kNull);
  EXPECT_TRUE(x.storage()->current->buffer);
  Node* inner = nullptr;
  Array kept;
  {
    const Array z = ufunc(Op::cos, {a});
    inner = z.storage()->current.get();
    inner->retain();
    kept = plus(z, 2.0);
  }
  // A reference from outside counts as holding, as one from an op being recorded does.
  flush(kNull);
  EXPECT_TRUE(inner->buffer);
  EXPECT_FALSE(inner->pending());
  const Ref<Node> last = Ref<Node>::adopt(inner);
}

TEST_P(Graph, TheTapeRunsByItselfWhenItIsFull) {
  const Array a = make();
  std::vector<Array> held;
  for (int i = 0; i < 400; ++i) held.push_back(plus(a, static_cast<double>(i)));
  EXPECT_GT(launches(), 0u);
  size_t waiting = 0;
  for (const Array& x : held) waiting += pending(x);
  EXPECT_LT(waiting, 256u);
  EXPECT_FALSE(pending(held[0]));
}

TEST_P(Graph, TheTapeRunsByItselfWhenMuchMemoryWaits) {
  const Array a = broadcast_to(make({1}, DType::f32), {int64_t{1} << 31});  // 8 GiB as float32
  std::vector<Array> held;
  for (int i = 0; i < 4; ++i) held.push_back(plus(a, static_cast<double>(i)));
  EXPECT_FALSE(pending(held[0]));
}

TEST_P(Graph, AnErrorAtRecordingLeavesNothingBehind) {
  const Array a = make({3}), b = make({4});
  for (int i = 0; i < 1000; ++i) {
    EXPECT_THROW(plus(a, b), Error);
    EXPECT_THROW(ufunc(Op::bitwise_and, {a, a}), Error);
    EXPECT_THROW(reduce(Op::reduce_max, make({0})), Error);
    EXPECT_THROW(assign(a, b), Error);
    EXPECT_THROW(ufunc(Op::add, {a, a}, {.out = b}), Error);
  }
  EXPECT_TRUE(tape(kNull).empty());
  EXPECT_EQ(a.storage()->version, 0u);
  EXPECT_EQ(launches(), 0u);
}

TEST_P(Graph, AnErrorAtAFlushDropsWhatCouldNotRunAndNothingElse) {
  const Array a = broadcast_to(make({1}), {int64_t{1} << 30});
  flush(kNull);
  pool_trim(kNull);
  null_set_capacity(size_t{64} << 20);
  const Array large = plus(a, 1.0);
  try {
    data(large);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Memory) << e.what();
  }
  EXPECT_TRUE(tape(kNull).empty());
  EXPECT_FALSE(pending(large));
  EXPECT_THROW(data(large), Error);  // its value was lost, which is said again
  null_set_capacity(0);
  const Array small = plus(make({5}), 1.0);
  EXPECT_NE(data(small), nullptr);  // the device goes on
  const Array again = plus(a, 1.0);
  EXPECT_NE(data(again), nullptr);  // and so does the plan
}

TEST_P(Graph, AnEqualTapeIsPlannedAndCompiledOnce) {
  auto program = [](int64_t n, double c) {
    const Array a = make({n, 36}), b = make({n, 36});
    return reduce(Op::reduce_sum, ufunc(Op::multiply, {ufunc(Op::arctan, {a}), plus(b, c)}), over({1}));
  };
  Array kept = program(50, 1.0);
  flush(kNull);
  const size_t compiles = null_compiles();
  EXPECT_LE(compiles, 1u);  // none when the disk had it
  for (int i = 0; i < 5; ++i) {
    kept = program(50, 1.0 + i);  // constants are arguments
    flush(kNull);
    kept = program(50 + i, 1.0);  // and so are extents
    flush(kNull);
  }
  EXPECT_EQ(null_compiles(), compiles);
  const std::vector<NullLaunch> log = null_log();
  std::set<std::string> sources;
  for (const NullLaunch& l : log) sources.insert(*l.source);
  EXPECT_EQ(sources.size(), 1u);
}

TEST_P(Graph, ADigestTellsTapesApart) {
  auto digest = [](const std::function<std::vector<Array>()>& program) {
    flush(kNull);
    const std::vector<Array> arrays = program();
    std::vector<Ref<Node>> nodes;
    for (const Array& a : arrays)
      if (a.storage()->current->pending()) nodes.push_back(a.storage()->current);
    for (const Ref<Node>& n : nodes) n->held = true;
    Slots slots;
    slots.nodes = nodes;
    return tape_hash(nodes.size(), &slots);
  };
  const Array a = make(), b = make(), f = make({1000}, DType::f32), m = make({10, 100});
  using Program = std::function<std::vector<Array>()>;
  const std::vector<Program> programs = {
      [&] { return std::vector{plus(a, 1.0)}; },
      [&] { return std::vector{plus(a, a)}; },
      [&] { return std::vector{plus(a, b)}; },
      [&] { return std::vector{plus(f, f)}; },
      [&] { return std::vector{plus(f, a)}; },
      [&] { return std::vector{ufunc(Op::multiply, {a, b})}; },
      [&] { return std::vector{sin_of(m)}; },
      [&] { return std::vector{sin_of(a)}; },
      [&] { return std::vector{sin_of(a), sin_of(b)}; },
      [&] { return std::vector{sin_of(a), sin_of(a)}; },
      [&] { return std::vector{sin_of(narrow(a, 0, 0, 999))}; },
      [&] { return std::vector{sin_of(narrow(a, 0, 1, 999))}; },
      [&] { return std::vector{sin_of(narrow(a, 0, 0, 500, 2))}; },
      [&] { return std::vector{reduce(Op::reduce_sum, m)}; },
      [&] { return std::vector{reduce(Op::reduce_sum, m, over({0}))}; },
      [&] { return std::vector{reduce(Op::reduce_sum, m, over({1}))}; },
      [&] { return std::vector{reduce(Op::reduce_sum, m, over({1}, true))}; },
      [&] { return std::vector{reduce(Op::reduce_var, m)}; },
      [&] { return std::vector{reduce(Op::reduce_var, m, {.ddof = 1})}; },
      [&] { return std::vector{astype(a, DType::f32)}; },
      [&] { return std::vector{astype(a, DType::i32)}; },
  };
  std::vector<std::string> seen;
  for (const Program& p : programs) {
    seen.push_back(to_string(digest(p)));
    EXPECT_EQ(seen.back(), to_string(digest(p))) << seen.size();  // and finds an equal one equal
  }
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size());
  // A transposed array is computed along memory, as the array is.
  EXPECT_EQ(to_string(digest([&] { return std::vector{sin_of(m)}; })),
            to_string(digest([&] { return std::vector{sin_of(transpose(m))}; })));
}

TEST_P(Graph, StoresMakeVersions) {
  const Array a = make();
  const uint64_t before = a.storage()->version;
  assign(narrow(a, 0, 3, 4), Arg(2.0));
  EXPECT_EQ(a.storage()->version, before + 1);
  assign(a, Arg(1.0));
  EXPECT_EQ(a.storage()->version, before + 2);
  sin_of(a);
  EXPECT_EQ(a.storage()->version, before + 2);
  const Array b = copy(a);
  assign(b, Arg(3.0));
  EXPECT_EQ(a.storage()->version, before + 2);
}

TEST_P(Graph, TwoStoresIntoTwoCopiesOfOneValue) {
  // Both replace the same old value; one of them may take its memory over, the other needs a copy.
  const Array a = make();
  data(a);
  const Array b = copy(a), c = copy(a);
  null_log_clear();
  assign(narrow(a, 0, 1, 2), Arg(1.0));
  assign(narrow(b, 0, 3, 2), Arg(2.0));
  assign(narrow(c, 0, 5, 2), Arg(3.0));
  flush(kNull);
  EXPECT_EQ(launches(), 3u);
  EXPECT_EQ(null_copies().size(), 2u);
  const std::set<void*> places = {data(a), data(b), data(c)};
  EXPECT_EQ(places.size(), 3u);
}

TEST_P(Graph, AReaderAfterAStoreIntoACopyReadsTheOriginal) {
  const Array a = make();
  void* at = data(a);
  Array b = copy(a);
  null_log_clear();
  assign(narrow(a, 0, 1, 2), Arg(1.0));
  const Array y = plus(b, 1.0);
  b = Array();
  flush(kNull);
  EXPECT_EQ(launches(), 2u);
  EXPECT_NE(data(y), nullptr);
  EXPECT_LE(null_copies().size(), 1u);
  (void)at;
}

TEST_P(Graph, ExposedMemoryIsNotExchanged) {
  const Array a = make();
  void* at = expose(a);
  assign(a, Arg(1.0));
  EXPECT_FALSE(pending(a));
  EXPECT_EQ(data(a), at);
  assign(narrow(a, 0, 3, 4), Arg(2.0));
  EXPECT_FALSE(pending(a));
  EXPECT_EQ(data(a), at);
  EXPECT_GE(launches(), 2u);
}

TEST_P(Graph, PlainExecutionRunsEachOpAtOnce) {
  config().lazy = false;
  const Array a = make(), b = plus(sin_of(a), 1.0);
  config().lazy = true;
  EXPECT_FALSE(pending(b));
  EXPECT_EQ(launches(), 2u);
}

TEST_P(Graph, NodesKnowTheirLine) {
  set_source_location("program.py", 42);
  const Array b = plus(make(), 1.0);
  set_source_location(nullptr, 0);
  EXPECT_EQ(b.storage()->current->line, 42);
  EXPECT_STREQ(b.storage()->current->file, "program.py");
}

TEST_P(Graph, ThreadsRecordAndFlushAtOnce) {
  std::vector<std::thread> threads;
  const Array shared = make();
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Array x = shared;
      for (int i = 0; i < 300; ++i) {
        x = plus(ufunc(Op::multiply, {x, Arg(1.5)}), static_cast<double>(t));
        if (i % 17 == t) flush(kNull);
        if (i % 50 == 0 && !data(x)) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  flush(kNull);
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(tape(kNull).empty());
}

TEST_P(Graph, ShowsTheSourceWithoutRunning) {
  const Array b = plus(sin_of(make()), 1.0);
  const std::string text = show_plan(b, {.source = true});
  EXPECT_NE(text.find("map_sin_add"), std::string::npos) << text;
  EXPECT_EQ(launches(), 0u);
  EXPECT_TRUE(pending(b));
  flush(kNull);
  EXPECT_NE(text.find(*null_log()[0].source), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Targets, Graph, testing::Values("null-cpu", "null-cuda"),
                         [](const auto& name) { return std::string(name.param).substr(5); });

// ---- Index maps ---------------------------------------------------------------------------------------------------------------------

int64_t at(const IndexMap& m, int k, const std::vector<int64_t>& x) {
  return m.start[k] + (m.axis[k] < 0 ? 0 : m.step[k] * x[static_cast<size_t>(m.axis[k])]);
}

TEST(IndexMaps, ComposeAsFunctionsDo) {
  std::mt19937_64 random(1);
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  auto make = [&](int to, int from) {
    IndexMap m{Dims(to), Dims(to), Dims(to)};
    for (int k = 0; k < to; ++k) {
      m.axis[k] = pick(-1, from - 1);
      m.start[k] = pick(-5, 5);
      m.step[k] = m.axis[k] < 0 ? 0 : pick(-3, 3);
    }
    return m;
  };
  for (int round = 0; round < 2000; ++round) {
    const int n = static_cast<int>(pick(1, 4)), mid = static_cast<int>(pick(1, 4)), outer = static_cast<int>(pick(1, 4));
    const IndexMap f = make(n, mid), g = make(mid, outer), both = compose_maps(f, g);
    std::vector<int64_t> x;
    for (int d = 0; d < outer; ++d) x.push_back(pick(-10, 10));
    std::vector<int64_t> through;
    for (int k = 0; k < mid; ++k) through.push_back(at(g, k, x));
    for (int k = 0; k < n; ++k) ASSERT_EQ(at(both, k, x), at(f, k, through));
  }
  EXPECT_TRUE(is_identity(identity_map({3, 4}), {3, 4}, {3, 4}));
  EXPECT_FALSE(is_identity(identity_map({3, 4}), {3, 4}, {3, 5}));
}

TEST(ReduceShapes, CoverTheRowInWholeSegments) {
  std::mt19937_64 random(2);
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  for (int round = 0; round < 5000; ++round) {
    Dims space;
    for (int64_t n = pick(1, 4); n > 0; --n) space.push_back(pick(0, 3) ? pick(1, 2000) : int64_t{1} << pick(0, 18));
    const uint64_t axes = static_cast<uint64_t>(pick(1, (1 << space.size()) - 1));
    for (Target target : {Target::cpu, Target::cuda}) {
      const ReduceShape r = reduce_shape(space, axes, target);
      ASSERT_EQ(r.rows * r.length, product(space));
      ASSERT_GE(r.segments, 1);
      ASSERT_GE(r.segment_length, 1);
      ASSERT_GE(r.segments * r.segment_length, r.length);
      ASSERT_LT((r.segments - 1) * r.segment_length, r.length) << "an empty segment";
      if (target == Target::cpu) continue;
      ASSERT_EQ(r.group & (r.group - 1), 0);
      ASSERT_LE(r.group, 1024);
      ASSERT_GE(r.unroll, 1);
      if (r.cached) {
        ASSERT_GE(int64_t{r.group} * r.unroll * r.vector, r.length);
      }
      if (r.segments > 1) {
        ASSERT_FALSE(r.cached);
      }
      // A vector never crosses the end of a row or of a segment.
      if (r.walk == Walk::rows && r.vector > 1) {
        ASSERT_EQ(r.length % r.vector, 0);
        ASSERT_TRUE(r.segments == 1 || r.segment_length % r.vector == 0);
      }
    }
  }
}

}  // namespace
}  // namespace bc
