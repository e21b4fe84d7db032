#include "runtime/profiler.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace bc {
namespace {

KernelRecord kernel(const std::string& name) { return {name, {DeviceType::cpu, 0}, 10, 80, 1e-6, 12, "program.py"}; }

TEST(Profiler, IsOffUntilSomebodyRecords) {
  EXPECT_FALSE(profiling());
  profile_kernel(kernel("lost"));
  Recording recording;
  EXPECT_FALSE(recording.active());
  EXPECT_TRUE(recording.kernels().empty());
  recording.start();
  EXPECT_TRUE(profiling());
  recording.stop();
  EXPECT_FALSE(profiling());
  recording.stop();
  EXPECT_FALSE(profiling());
}

TEST(Profiler, KeepsRecordsInOrderWithAllTheirFields) {
  Recording recording;
  recording.start();
  profile_kernel(kernel("add"));
  profile_copy({to_string(CopyKind::HostToDevice), {DeviceType::cuda, 1}, 4096, 2e-6});
  profile_kernel(kernel("sum"));
  recording.stop();
  profile_kernel(kernel("late"));
  const auto kernels = recording.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "add");
  EXPECT_EQ(kernels[1].name, "sum");
  EXPECT_EQ(kernels[1].elements, 10);
  EXPECT_EQ(kernels[1].bytes, 80);
  EXPECT_EQ(kernels[1].line, 12);
  EXPECT_EQ(kernels[1].file, "program.py");
  const auto copies = recording.copies();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].kind, "host to device");
  EXPECT_EQ(copies[0].bytes, 4096);
  EXPECT_EQ(copies[0].device, (Device{DeviceType::cuda, 1}));
  EXPECT_GE(recording.seconds(), 0.0);
}

TEST(Profiler, RecordingsMayOverlapAndEndInAnyOrder) {
  Recording outer;
  outer.start();
  profile_kernel(kernel("a"));
  {
    Recording inner;
    inner.start();
    profile_kernel(kernel("b"));
    outer.stop();
    profile_kernel(kernel("c"));
    EXPECT_EQ(inner.kernels().size(), 2u);
    EXPECT_TRUE(profiling());
  }  // a recording that goes out of scope stops
  EXPECT_FALSE(profiling());
  EXPECT_EQ(outer.kernels().size(), 2u);
  outer.start();
  EXPECT_TRUE(outer.kernels().empty());
  outer.start();
  profile_kernel(kernel("d"));
  EXPECT_EQ(outer.kernels().size(), 1u);
}

TEST(Profiler, RecordsFromManyThreads) {
  Recording recording;
  recording.start();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 500; ++k) {
        if (profiling()) profile_kernel(kernel("k" + std::to_string(i)));
        if (k % 50 == 0) {
          Recording other;
          other.start();
          profile_copy({"device to host", {}, 1, 0});
          EXPECT_GE(other.copies().size(), 1u);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  recording.stop();
  EXPECT_EQ(recording.kernels().size(), 4000u);
  EXPECT_EQ(recording.copies().size(), 80u);
}

}  // namespace
}  // namespace bc
