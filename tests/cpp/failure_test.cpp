// What is left behind when a launch, a copy or an allocation fails in the middle of a flush: on the null device, which fails when asked.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/array.h"
#include "array/record.h"
#include "backends/null/null_backend.h"
#include "core/error.h"
#include "graph/plan.h"
#include "graph/tape.h"
#include "ops/composite.h"
#include "primitives/library.h"
#include "runtime/device_name.h"
#include "runtime/pool.h"

namespace bc {
namespace {

constexpr Device kNull{DeviceType::null, 3};  // of this file alone

class Failure : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    flush(kNull);
    null_set_target(GetParam());
    null_log_clear();
  }
  void TearDown() override {
    null_fail_launch(-1);
    null_fail_copy(-1);
    null_set_capacity(0);
    flush(kNull);
    null_set_target("null-cpu");
    null_log_clear();
  }
  static Array make(const Dims& shape) {
    const Array a = empty(shape, DType::f32, kNull);
    data(a);
    return a;
  }
  static Array sum(const Array& a, std::vector<int64_t> axes = {}) {
    ReduceOptions options;
    options.axes = std::move(axes);
    return reduce(Op::reduce_sum, a, options);
  }
};

TEST_P(Failure, PartialResultsOfAReductionAreFreedWhenALaunchThrows) {
  const Array a = make({1 << 22});  // in segments, so that it has partial results
  data(sum(a));
  const size_t before = pool_stats(kNull).used;
  for (int i = 0; i < 4; ++i) {
    const Array total = sum(a);
    null_fail_launch(0);
    EXPECT_THROW(data(total), Error);
    EXPECT_THROW(data(total), Error) << "no value: reading it raises again";
  }
  EXPECT_EQ(pool_stats(kNull).used, before);
}

/// For a scope the null device runs matmul by another body.
struct Body {
  explicit Body(LibraryBody body) { register_body(DeviceType::null, LibraryKind::matmul, body); }
  ~Body() {
    register_body(DeviceType::null, LibraryKind::matmul, [](const LibraryExtra&, const LibraryContext&) {});
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
};

TEST_P(Failure, AnOpThatADeviceHasNoBodyForIsRefusedWhenItIsRecorded) {
  const Array a = make({2, 2});
  std::optional<Body> none(nullptr);
  try {
    matmul(a, a);
    ADD_FAILURE() << "a product was recorded";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::NotImplemented);
    EXPECT_NE(std::string(e.what()).find("matmul: null:3 cannot compute it"), std::string::npos) << e.what();
  }
  none.reset();
  data(matmul(a, a));
}

TEST_P(Failure, AFailedCopyLeavesNoConstantBehind) {
  // A library op reads its constant from memory, which the flush fills.
  struct Reads final : LibraryExtra {
    Reads() : LibraryExtra(LibraryKind::nonzero) { name = "reads"; }
  };
  // Constants are kept for later ops: each target has its own.
  const double value = std::string(GetParam()) == "null-cuda" ? 0.625 : 0.375;
  const Array one{new Storage(make_constant(Scalar::real(value), DType::f32, kNull).node), DType::f32, contiguous_layout(Dims{})};
  const Array result = record_library({one}, {Dims{}}, std::make_unique<Reads>(), Dims{4}, DType::f32, kNull);
  null_fail_copy(0);
  EXPECT_THROW(data(result), Error);
  // The constant has no memory that nothing was written to.
  const Array again = record_library({one}, {Dims{}}, std::make_unique<Reads>(), Dims{4}, DType::f32, kNull);
  null_log_clear();
  EXPECT_NE(data(again), nullptr);
  EXPECT_EQ(null_copies().size() + null_log().size(), 1u) << "it is filled again";
}

TEST_P(Failure, AnOutputWhoseSiblingHasNoMemoryHasNoValue) {
  const Array a = make({1 << 24});
  // One pass with two results of 64 MiB, of which there is memory for one.
  const Array x = ufunc(Op::sin, {a}), y = ufunc(Op::cos, {a});
  pool_trim(kNull);
  null_set_capacity(pool_stats(kNull).held + (size_t{96} << 20));
  EXPECT_THROW(data(x), Error);
  EXPECT_THROW(data(x), Error);
  EXPECT_THROW(data(y), Error);
  null_set_capacity(0);
}

TEST_P(Failure, AGridThatACudaDeviceLacksIsRefused) {
  if (std::string(GetParam()) != "null-cuda") GTEST_SKIP() << "a limit of CUDA";
  // 2^33 rows of one element read again and again: more blocks than 2^31 - 1. The result is 8 GiB of addresses that nobody touches.
  ReduceOptions options;
  options.axes = {1};
  const Array one = empty({1, 1}, DType::b1, kNull);
  const Array many = broadcast_to(one, {int64_t{1} << 33, 3000});
  const Array result = reduce(Op::reduce_any, many, options);
  try {
    data(result);
    FAIL() << "grid " << null_log().back().grid[0];
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Memory);
    EXPECT_NE(std::string(error.what()).find("blocks"), std::string::npos) << error.what();
  }
}

/// Flushes another stream of the device from inside a flush.
struct Nested final : LibraryExtra {
  explicit Nested(Tape& other) : LibraryExtra(LibraryKind::matmul), tape(&other) { name = "nested"; }
  Tape* tape;
};

TEST_P(Failure, AFlushKeepsItsPlanWhileAFlushInsideItEmptiesTheCache) {
  Tape& other = tape_of({kNull, reinterpret_cast<void*>(0x1000)});
  other.borrow();
  const size_t limit = set_plan_limit(1);
  const Body flushes([](const LibraryExtra& op, const LibraryContext&) { static_cast<const Nested&>(op).tape->flush(); });
  const Array a = make({1000}), b = make({1000});
  for (int round = 0; round < 3; ++round) {
    null_log_clear();
    std::optional<CurrentTape> current(other);
    const Array inside = ufunc(Op::exp, {b});
    current.reset();
    const Array before = ufunc(Op::sin, {a});
    const Array nested = record_library({before}, {Dims{1000}}, std::make_unique<Nested>(other), Dims{1000}, DType::f32, kNull);
    const Array after = ufunc(Op::cos, {nested});
    EXPECT_NE(data(after), nullptr);
    std::vector<std::string> texts;
    for (const NullLaunch& launch : null_log()) texts.push_back(*launch.source);
    ASSERT_EQ(texts.size(), 3u);
    EXPECT_NE(texts[0].find("sin"), std::string::npos);
    EXPECT_NE(texts[1].find("exp"), std::string::npos);
    EXPECT_NE(texts[2].find("cos"), std::string::npos);
  }
  set_plan_limit(limit);
  other.give_back();
}

INSTANTIATE_TEST_SUITE_P(Targets, Failure, testing::Values("null-cpu", "null-cuda"),
                         [](const auto& i) { return std::string(i.param).substr(5); });

TEST(DeviceName, IsReadWhole) {
  EXPECT_EQ(parse_device("cpu"), (Device{DeviceType::cpu, 0}));
  EXPECT_EQ(parse_device("cpu:0"), (Device{DeviceType::cpu, 0}));
  EXPECT_EQ(parse_device("cuda"), (Device{DeviceType::cuda, 0}));
  EXPECT_EQ(parse_device("gpu:2"), (Device{DeviceType::cuda, 2}));
  EXPECT_EQ(parse_device("cuda:13"), (Device{DeviceType::cuda, 13}));
  for (const char* text : {"", " cuda", "cuda ", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda:1x", "cuda: 1", "cuda:1:2",
                           "cuda:99999999999", "cpu:1", "cpu:", "gpu:", "CUDA", "0", ":0", "cuda0", "tpu"})
    EXPECT_FALSE(parse_device(text)) << text;
}

}  // namespace
}  // namespace bc
