// Threads record, read and write beside a flush that runs without the device's lock. A library op whose body waits makes the moments
// certain.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "array/array.h"
#include "array/record.h"
#include "array_help.h"
#include "backends/cpu/library.h"
#include "core/error.h"
#include "graph/tape.h"
#include "primitives/library.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace bc {
namespace {

using namespace std::chrono_literals;
using test::values;

constexpr Device kCpu{DeviceType::cpu, 0};
constexpr int64_t kSize = 1000;

/// Where bodies wait: each counts itself, and goes on when the gate is open.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    EXPECT_TRUE(changed_.wait_for(lock, 60s, [&] { return open_; }));
  }
  /// Waits until so many bodies have come.
  void await(int bodies) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 60s, [&] { return inside_ >= bodies; }));
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  int inside() {
    const std::lock_guard lock(mutex_);
    return inside_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

/// Adds 1 to each element when its gate is open, or throws what `fail` says.
struct Gated final : LibraryExtra {
  enum class Fail { never, error, once_interrupted };
  Gated(Gate& g, Fail f) : LibraryExtra(LibraryKind::matmul), gate(&g), fail(f) { name = "gated"; }
  Gate* gate;
  Fail fail;
  mutable std::atomic<int> runs{0};
};

void run_gated(const LibraryExtra& extra, const LibraryContext& context) {
  const auto& op = static_cast<const Gated&>(extra);
  op.gate->pass();
  if (op.fail == Gated::Fail::error) raise(ErrorKind::Runtime, "gated: asked to fail");
  if (op.fail == Gated::Fail::once_interrupted && op.runs++ == 0) throw Interrupted{};
  const auto* from = static_cast<const double*>(context.inputs[0].ptr);
  auto* to = static_cast<double*>(context.output.ptr);
  for (int64_t i = 0; i < kSize; ++i) to[i] = from[i] + 1;
}

class FlushThreads : public testing::Test {
 protected:
  void SetUp() override {
    backend(kCpu);  // has registered its bodies when it is open
    register_body(DeviceType::cpu, LibraryKind::matmul, run_gated);
  }
  void TearDown() override {
    flush(kCpu);
    cpu::register_bodies();
  }
  static Array filled(double value) { return full(Dims{kSize}, Scalar::real(value), DType::f64, kCpu); }
  static Array computed(double value) {
    const Array a = filled(value);
    data(a);
    return a;
  }
  Array gated(const Array& a, Gated::Fail fail = Gated::Fail::never) {
    return record_library({a}, {Dims{kSize}}, std::make_unique<Gated>(gate_, fail), Dims{kSize}, DType::f64, kCpu);
  }
  static Array plus(const Array& a, double b) { return ufunc(Op::add, {a, Arg(b)}); }
  static double first(const Array& a) { return values<double>(a).at(0); }
  static void expect_all(const Array& a, double value) { EXPECT_EQ(values<double>(a), std::vector<double>(kSize, value)); }
  template <class F>
  void begin(F&& f) {
    threads_.emplace_back(std::forward<F>(f));
  }
  /// Called before what the threads use is gone.
  void join() {
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }
  static std::span<const SliceItem> half() {
    static const SliceItem item = [] {
      SliceItem first;
      first.has_stop = true;
      first.stop = kSize / 2;
      return first;
    }();
    return {&item, 1};
  }
  Gate gate_;

 private:
  std::vector<std::thread> threads_;
};

TEST_F(FlushThreads, OthersRecordReadAndWriteMeanwhile) {
  const Array a = computed(1), b = computed(10);
  begin([&] { expect_all(gated(plus(a, 1)), 3); });
  gate_.await(1);
  expect_all(plus(b, 1), 11);
  assign(b, Arg(5.0));
  expect_all(plus(b, 1), 6);
  expect_all(plus(a, 2), 3);  // reads what the flush reads
  EXPECT_EQ(gate_.inside(), 1);
  gate_.open();
  join();
}

TEST_F(FlushThreads, AReaderOfARunningValueWaitsAndARecorderDoesNot) {
  const Array slow = gated(computed(1));
  begin([&] { data(slow); });
  gate_.await(1);
  const Array more = plus(slow, 1), copied = copy(slow);
  assign(slice(slow, half()), Arg(100.0));
  std::atomic<bool> read{false};
  begin([&] {
    expect_all(more, 3);
    read = true;
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(read);
  gate_.open();
  expect_all(copied, 2);
  EXPECT_EQ(first(slow), 100);
  EXPECT_EQ(values<double>(slow).back(), 2);
  gate_.open();
  join();
}

TEST_F(FlushThreads, AValueIsNotOverwrittenWhileAFlushReadsIt) {
  const Array a = computed(1), b = computed(1), c = computed(1);
  const std::vector<Array> made{gated(a), gated(b), gated(c)};
  for (const Array& m : made) begin([&m] { expect_all(m, 2); });
  gate_.await(3);
  assign(slice(a, half()), Arg(50.0));
  EXPECT_EQ(first(a), 50);
  auto* raw = static_cast<double*>(own(b));
  for (int64_t i = 0; i < kSize; ++i) raw[i] = 60;
  gate_.open();
  static_cast<double*>(expose(c))[0] = 70;  // waits for the flushes that run
  for (const Array& m : made) expect_all(m, 2);
  EXPECT_EQ(values<double>(a).back(), 1);
  expect_all(b, 60);
  EXPECT_EQ(first(c), 70);
  gate_.open();
  join();
}

TEST_F(FlushThreads, AFlushDoesNotOverwriteWhatAnotherThreadsOpReads) {
  const Array a = computed(1), b = computed(1);
  const Array before = plus(a, 1), product = plus(b, 1);  // of this thread: another's flush does not run them
  begin([&] {
    assign(slice(a, half()), Arg(50.0));
    EXPECT_EQ(first(a), 50);
    // The memory of a value that this flush would give to its result.
    Array sum = plus(b, 5);
    assign(b, Arg(0.0));
    expect_all(sum, 6);
  });
  join();
  expect_all(before, 2);
  expect_all(product, 2);
  gate_.open();
  join();
}

TEST_F(FlushThreads, AFlushTakesItsThreadsOpsAndWhatTheyNeed) {
  const Array a = computed(1), b = computed(2), slow = gated(a), mine = plus(b, 1);
  begin([&] { expect_all(plus(mine, 1), 4); });
  join();
  EXPECT_EQ(gate_.inside(), 0);
  gate_.open();
  expect_all(slow, 2);
  gate_.open();
  join();
}

TEST_F(FlushThreads, TwoThreadsRunOnePlanAtOnce) {
  begin([&] { expect_all(plus(gated(plus(computed(1), 1)), 2), 5); });
  begin([&] { expect_all(plus(gated(plus(computed(7), 1)), 2), 11); });
  gate_.await(2);
  gate_.open();
  gate_.open();
  join();
}

TEST_F(FlushThreads, AnErrorLosesWhatDependsOnIt) {
  const size_t used = pool_stats(kCpu).used;
  {
    const Array a = computed(1);
    const Array slow = gated(plus(a, 1), Gated::Fail::error);
    begin([&] { test::expect_error(ErrorKind::Runtime, "asked to fail", [&] { data(slow); }); });
    gate_.await(1);
    const Array recorded = plus(plus(slow, 1), 1), free = plus(a, 5);
    begin([&] { test::expect_error(ErrorKind::Runtime, "lost", [&] { data(slow); }); });
    std::this_thread::sleep_for(20ms);
    gate_.open();
    join();
    test::expect_error(ErrorKind::Runtime, "lost", [&] { data(recorded); });
    test::expect_error(ErrorKind::Runtime, "lost", [&] { plus(slow, 1); });
    expect_all(free, 6);
    expect_all(a, 1);
  }
  EXPECT_EQ(pool_stats(kCpu).used, used);
  gate_.open();
  join();
}

TEST_F(FlushThreads, AnInterruptLeavesTheRestPending) {
  const Array a = computed(1), b = computed(4);
  const Array slow = gated(a, Gated::Fail::once_interrupted), other = plus(b, 1);
  begin([&] { expect_all(plus(slow, 1), 3); });
  gate_.await(1);
  const Array recorded = plus(slow, 2);
  begin([&] { expect_all(slow, 2); });
  std::this_thread::sleep_for(20ms);
  gate_.open();
  expect_all(recorded, 4);
  expect_all(other, 5);
  gate_.open();
  join();
}

TEST_F(FlushThreads, AFlushOfEverythingWaitsForOthers) {
  const Array slow = gated(computed(1));
  std::atomic<bool> opened{false};
  begin([&] { expect_all(slow, 2); });
  gate_.await(1);
  begin([&] {
    std::this_thread::sleep_for(50ms);
    opened = true;
    gate_.open();
  });
  flush(kCpu);
  EXPECT_TRUE(opened);
  EXPECT_FALSE(storage_facts(slow).pending);
  gate_.open();
  join();
}

TEST_F(FlushThreads, AForkWaitsForThem) {
  watch_forks();
  const Array slow = gated(computed(1));
  begin([&] { expect_all(slow, 2); });
  gate_.await(1);
  begin([&] {
    std::this_thread::sleep_for(50ms);
    gate_.open();
  });
  const pid_t child = fork();
  if (child == 0) {
    const bool good = first(slow) == 2 && first(plus(slow, 1)) == 3;
    syscall(SYS_exit_group, good ? 0 : 1);  // not _exit(), in which a sanitizer asks for the parent's threads
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expect_all(plus(slow, 1), 3);
  gate_.open();
  join();
}

TEST_F(FlushThreads, ManyThreadsOverSharedAndOwnArrays) {
  gate_.open();
  const Array shared = plus(computed(1), 1);
  std::vector<Array> pending;
  for (int k = 0; k < 4; ++k) pending.push_back(gated(plus(shared, k)));
  std::mutex guard;
  const Array total = computed(0);
  for (int k = 0; k < 4; ++k)
    begin([&, k] {
      Array own = computed(k);
      for (int round = 0; round < 40; ++round) {
        assign(slice(own, half()), plus(slice(own, half()), 1));
        const Array from = plus(pending[static_cast<size_t>((k + round) % 4)], 0);
        if (round % 7 == 0) {
          EXPECT_EQ(first(own), k + round + 1);
        }
        EXPECT_EQ(first(ufunc(Op::subtract, {from, shared})), (k + round) % 4 + 1);
        const std::lock_guard lock(guard);
        assign(total, plus(total, 1));
        if (round % 5 == 0) {
          EXPECT_EQ(first(gated(total)), first(total) + 1);
        }
      }
      EXPECT_EQ(first(own), k + 40);
      EXPECT_EQ(values<double>(own).back(), k);
    });
  join();
  expect_all(total, 160);
  gate_.open();
  join();
}

}  // namespace
}  // namespace bc
