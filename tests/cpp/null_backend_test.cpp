#include "backends/null/null_backend.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/kernel_cache.h"
#include "core/error.h"

namespace bc {
namespace {

constexpr Device kNull{DeviceType::null, 0};

class NullDevice : public testing::Test {
 protected:
  void SetUp() override { null_log_clear(); }
  void TearDown() override {
    null_log_clear();
    null_set_target("null-cpu");
    null_set_capacity(0);
  }
};

TEST_F(NullDevice, WritesLaunchesDown) {
  Backend& device = backend(kNull);
  const KernelSource source{"void add() {}\nvoid sum() {}", {"add", "sum"}};
  const std::vector<char> binary = device.compile(source);
  const auto kernel = device.load(binary, source.entries);
  Launch launch;
  launch.entry = 1;
  launch.items = 100;
  launch.grain = 16;
  launch.grid[0] = 7;
  launch.block[0] = 256;
  launch.shared_bytes = 64;
  const int64_t params[2] = {5, 6};
  device.launch(*kernel, launch, params, sizeof params, {kNull});
  const auto log = null_log();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].entry, "sum");
  EXPECT_EQ(log[0].device, kNull);
  EXPECT_EQ(log[0].items, 100);
  EXPECT_EQ(log[0].grain, 16);
  EXPECT_EQ(log[0].grid[0], 7u);
  EXPECT_EQ(log[0].block[0], 256u);
  EXPECT_EQ(log[0].shared_bytes, 64u);
  EXPECT_EQ(*log[0].source, source.text);
  ASSERT_EQ(log[0].params_bytes, sizeof params);
  EXPECT_EQ(std::memcmp(log[0].params.data(), params, sizeof params), 0);
  EXPECT_EQ(null_compiles(), 1u);
  launch.entry = 2;
  EXPECT_THROW(device.launch(*kernel, launch, nullptr, 0, {kNull}), Error);
  null_log_clear();
  EXPECT_TRUE(null_log().empty());
}

TEST_F(NullDevice, MemoryIsRealAndStartsAsZeros) {
  Backend& device = backend(kNull);
  auto* a = static_cast<char*>(device.allocate_chunk(1 << 20));
  auto* b = static_cast<char*>(device.allocate_chunk(1 << 20));
  ASSERT_TRUE(a && b);
  EXPECT_NE(a, b);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 256, 0u);
  EXPECT_EQ(a[0] | a[(1 << 20) - 1], 0);
  device.fill(a, 3, 100, {kNull});
  device.copy(b, a, 100, CopyKind::DeviceToDevice, {kNull});
  EXPECT_EQ(b[99], 3);
  EXPECT_EQ(b[100], 0);
  device.synchronize({kNull});
  EXPECT_EQ(null_synchronizations(), 1u);
  ASSERT_EQ(null_copies().size(), 1u);
  EXPECT_EQ(null_copies()[0].kind, CopyKind::DeviceToDevice);
  EXPECT_EQ(null_copies()[0].bytes, 100u);
  device.free_chunk(a, 1 << 20);
  device.free_chunk(b, 1 << 20);
}

TEST_F(NullDevice, HasTheCapacityAndTheTargetThatATestGivesIt) {
  Backend& device = backend({DeviceType::null, 1});
  null_set_capacity(1 << 20);
  EXPECT_EQ(device.memory_info().total, size_t{1} << 20);
  EXPECT_EQ(device.allocate_chunk((1 << 20) + 1), nullptr);
  void* all = device.allocate_chunk(1 << 20);
  EXPECT_NE(all, nullptr);
  EXPECT_EQ(device.memory_info().free, 0u);
  EXPECT_EQ(device.allocate_chunk(4096), nullptr);
  device.free_chunk(all, 1 << 20);
  EXPECT_EQ(device.target(), "null-cpu");
  null_set_target("null-cuda");
  EXPECT_EQ(device.target(), "null-cuda");
}

TEST_F(NullDevice, QuickCodeIsReplacedWhileThreadsLaunchIt) {
  Backend& device = backend(kNull);
  constexpr int kKernels = 40, kThreads = 4, kLaunches = 40;
  kernel_cache_set_folder("");
  const uint64_t before = kernel_cache_stats().replaced;
  std::vector<LoadedKernel*> kernels(kKernels);
  std::vector<std::thread> threads;
  for (intptr_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < kKernels; ++k) {
        const std::string name = "quick_and_whole_" + std::to_string(k);
        LoadedKernel& kernel = kernel_cache_get(
            device, Hasher().add("quick and whole").add(static_cast<uint64_t>(k)).finish(),
            [&] { return KernelSource{"void " + name + "() {}", {name}, false, true}; }, true);
        if (t == 0) kernels[static_cast<size_t>(k)] = &kernel;
        for (int i = 0; i < kLaunches; ++i) {
          if (i > 0 && kernel.quick.load(std::memory_order_relaxed)) kernel_cache_improve(kernel, t == 1 && i == kLaunches - 1);
          device.launch(kernel, Launch(), nullptr, 0, {kNull, reinterpret_cast<void*>(t + 1)});
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (LoadedKernel* kernel : kernels) kernel_cache_improve(*kernel, true);
  EXPECT_EQ(kernel_cache_stats().replaced - before, static_cast<uint64_t>(kKernels));
  // In each thread's order a kernel is quick and then whole; the thread that waited for the whole launches that.
  std::unordered_map<std::string, std::pair<int, bool>> seen;
  for (const NullLaunch& launch : null_log()) {
    auto& [launches, whole] = seen[launch.entry + "/" + std::to_string(reinterpret_cast<intptr_t>(launch.stream))];
    const bool is_whole = launch.source->starts_with("void");
    EXPECT_TRUE(is_whole || !whole) << launch.entry;
    whole = is_whole;
    const bool last_of_waiting = ++launches == kLaunches && launch.stream == reinterpret_cast<void*>(intptr_t{2});
    EXPECT_TRUE(is_whole || !last_of_waiting) << launch.entry;
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kKernels * kThreads));
  kernel_cache_clear(false);
}

TEST(Backends, AreOpenedOnceAndNamedInErrors) {
  EXPECT_EQ(&backend(kNull), &backend(kNull));
  EXPECT_NE(&backend(kNull), &backend({DeviceType::null, 1}));
  EXPECT_EQ(backend({DeviceType::null, 1}).device().index, 1);
  EXPECT_EQ(device_count(DeviceType::cpu), 1);
  EXPECT_EQ(device_count(DeviceType::null), kNullDevices);
  EXPECT_GE(device_count(DeviceType::cuda), 0);
  EXPECT_EQ(to_string(Device{DeviceType::cpu, 0}), "cpu");
  EXPECT_EQ(to_string(Device{DeviceType::cuda, 1}), "cuda:1");
  for (const Device device :
       {Device{DeviceType::cpu, 1}, Device{DeviceType::cuda, 63}, Device{DeviceType::cuda, -1}, Device{DeviceType::null, 1000}}) {
    try {
      backend(device);
      FAIL() << to_string(device);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Runtime);
      EXPECT_EQ(std::string(error.what()).find(to_string(device)), 0u) << error.what();
    }
  }
  std::vector<std::thread> threads;
  std::vector<Backend*> seen(8);
  for (size_t i = 0; i < seen.size(); ++i) threads.emplace_back([&, i] { seen[i] = &backend({DeviceType::cpu, 0}); });
  for (auto& thread : threads) thread.join();
  for (const Backend* one : seen) EXPECT_EQ(one, seen[0]);
}

}  // namespace
}  // namespace bc
