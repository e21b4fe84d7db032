#include "codegen/kernel_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_set>
#include <vector>

#include "core/error.h"

namespace bc {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// What the fake compiler makes of a text: 100 bytes to 200 KB that follow from it, or 512 KB of noise.
std::vector<char> binary_of(const std::string& text) {
  std::mt19937_64 random(std::hash<std::string>()(text));
  if (text.starts_with("large")) {
    std::vector<char> noise(size_t{512} << 10);
    for (size_t at = 0; at < noise.size(); at += 8) {
      const uint64_t word = random();
      std::memcpy(&noise[at], &word, 8);
    }
    return noise;
  }
  std::vector<char> binary(100 + random() % 30000 * (random() % 8 == 0 ? 7 : 1));
  for (char& byte : binary) byte = static_cast<char>(random() % 16);  // compressible
  return binary;
}

struct FakeKernel final : LoadedKernel {
  void replace(std::unique_ptr<LoadedKernel> whole) override { better = std::move(whole); }
  std::unique_ptr<LoadedKernel> better;
  std::vector<char> binary;
  std::vector<std::string> entries;
};

/// A compiler that counts, can be slow, and refuses a text that begins with "error".
class FakeBackend final : public Backend {
 public:
  std::atomic<int> compiles{0};
  std::atomic<int> loads{0};
  std::atomic<int> refuse_loads{0};
  std::chrono::microseconds delay{0};
  std::mutex order_mutex;
  std::vector<std::string> order;  // of the texts that were compiled
  std::string target_name = "fake-1";

  Device device() const override { return {DeviceType::null, 0}; }
  std::string device_name() const override { return "fake"; }
  void* allocate_chunk(size_t) override { return nullptr; }
  void free_chunk(void*, size_t) override {}
  MemoryInfo memory_info() override { return {}; }
  std::string target() const override { return target_name; }
  std::vector<char> compile(const KernelSource& source) override {
    ++compiles;
    {
      const std::lock_guard lock(order_mutex);
      order.push_back(source.text);
    }
    std::this_thread::sleep_for(delay);
    BC_CHECK(!source.text.starts_with("error"), Runtime, "compile: {}", source.text);
    return binary_of(source.text);
  }
  std::vector<char> compile_quick(const KernelSource& source) override { return binary_of("quick " + source.text); }
  std::unique_ptr<LoadedKernel> load(std::span<const char> binary, std::span<const std::string> entries) override {
    ++loads;
    BC_CHECK(refuse_loads-- <= 0, Runtime, "load: refused");
    refuse_loads = std::max(refuse_loads.load(), 0);
    auto kernel = std::make_unique<FakeKernel>();
    kernel->binary.assign(binary.begin(), binary.end());
    kernel->entries.assign(entries.begin(), entries.end());
    return kernel;
  }
  void launch(LoadedKernel&, const Launch&, const void*, size_t, Stream) override {}
  void copy(void*, const void*, size_t, CopyKind, Stream) override {}
  void fill(void*, int, size_t, Stream) override {}
  void synchronize(Stream) override {}
};

std::string text_of(int i) { return "kernel " + std::to_string(i) + std::string(static_cast<size_t>(i % 50), ' '); }
Hash128 key_of(int i) { return Hasher().add(static_cast<uint64_t>(i)).finish(); }

LoadedKernel& get(Backend& backend, int i) {
  return kernel_cache_get(backend, key_of(i), [&] { return KernelSource{text_of(i), {"first", "second"}}; });
}

bool right(const LoadedKernel& kernel, int i) {
  const auto& fake = dynamic_cast<const FakeKernel&>(kernel);
  return fake.binary == binary_of(text_of(i)) && fake.entries == std::vector<std::string>{"first", "second"};
}

LoadedKernel& get_quick(Backend& backend, int i) {
  return kernel_cache_get(backend, key_of(i), [&] { return KernelSource{text_of(i), {"first", "second"}, false, true}; }, true);
}

/// Whether the whole was put in the place of quick code.
bool replaced(const LoadedKernel& kernel, int i) {
  const auto& fake = dynamic_cast<const FakeKernel&>(kernel);
  return fake.binary == binary_of("quick " + text_of(i)) && fake.better && right(*fake.better, i);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class KernelCache : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/broadcloth-cache-test-XXXXXX";
    folder_ = mkdtemp(name);
    fresh();
  }
  void TearDown() override {
    kernel_cache_wait();
    kernel_cache_set_folder("");
    kernel_cache_set_limit(size_t{2} << 30);
    kernel_cache_clear(false);
    fs::remove_all(folder_);
  }
  /// As a new process would start.
  void fresh() {
    kernel_cache_wait();
    kernel_cache_set_folder(folder_);
    kernel_cache_clear(false);
  }
  std::vector<fs::path> files(std::string_view prefix = "") const {
    std::vector<fs::path> found;
    if (!fs::exists(folder_)) return found;
    for (const auto& item : fs::directory_iterator(folder_)) {
      const std::string name = item.path().filename();
      if (prefix.empty() ? name.ends_with(".bck") : name.starts_with(prefix)) found.push_back(item.path());
    }
    return found;
  }
  std::string folder_;
};

TEST(Hash, IsSensitiveToWordsOrderAndLengthAndSpreadsItsBits) {
  EXPECT_EQ(Hasher().add(1).add(2).finish(), Hasher().add(1).add(2).finish());
  EXPECT_NE(Hasher().add(1).add(2).finish(), Hasher().add(2).add(1).finish());
  EXPECT_NE(Hasher().add(1).finish(), Hasher().add(1).add(0).finish());
  EXPECT_NE(Hasher(1).finish(), Hasher(2).finish());
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
  EXPECT_EQ(to_string(Hash128{0x0123456789abcdef, 0xfedcba9876543210}), "fedcba98765432100123456789abcdef");

  std::unordered_set<uint64_t> low, high;
  int flipped[128] = {};
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    // Words as keys have them: small, few bits set, in short runs.
    const auto hash = [&](uint64_t x) { return Hasher().add(x & 15).add(x >> 4).add(uint64_t{0}).add(uint64_t{3}).finish(); };
    const Hash128 a = hash(static_cast<uint64_t>(i));
    low.insert(a.lo);
    high.insert(a.hi);
    const Hash128 b = hash(static_cast<uint64_t>(i) ^ (uint64_t{1} << (i % 14)));
    for (int bit = 0; bit < 64; ++bit) {
      flipped[bit] += ((a.lo ^ b.lo) >> bit) & 1;
      flipped[64 + bit] += ((a.hi ^ b.hi) >> bit) & 1;
    }
  }
  EXPECT_EQ(low.size(), static_cast<size_t>(n));
  EXPECT_EQ(high.size(), static_cast<size_t>(n));
  for (int bit = 0; bit < 128; ++bit) EXPECT_NEAR(flipped[bit], n / 2, 5 * std::sqrt(n) / 2 + 1) << bit;
}

TEST_F(KernelCache, FindsInMemoryThenOnDiskAndCompilesOnce) {
  FakeBackend backend;
  const CacheStats before = kernel_cache_stats();
  LoadedKernel& kernel = get(backend, 1);
  EXPECT_TRUE(right(kernel, 1));
  EXPECT_EQ(&get(backend, 1), &kernel);
  bool printed = false;
  kernel_cache_get(backend, key_of(1), [&] { return printed = true, KernelSource{}; });
  EXPECT_FALSE(printed);
  EXPECT_EQ(backend.compiles, 1);
  fresh();
  LoadedKernel& again = get(backend, 1);
  EXPECT_NE(&again, &kernel);
  EXPECT_TRUE(right(again, 1));
  EXPECT_EQ(backend.compiles, 1);
  EXPECT_EQ(backend.loads, 2);
  const CacheStats after = kernel_cache_stats();
  EXPECT_EQ(after.memory_hits - before.memory_hits, 2u);
  EXPECT_EQ(after.disk_hits - before.disk_hits, 1u);
  EXPECT_EQ(after.compiles - before.compiles, 1u);
  EXPECT_EQ(after.disk_files, 1u);
  EXPECT_GT(after.disk_bytes, 100u);
  EXPECT_EQ(after.folder, folder_);
  EXPECT_EQ(after.warning, "");
  kernel_cache_clear(true);
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(right(again, 1));  // still loaded
}

TEST_F(KernelCache, KeepsBackendsTargetsTextsAndContractionApart) {
  FakeBackend a, b;
  EXPECT_NE(&get(a, 1), &get(b, 1));
  EXPECT_EQ(a.compiles + b.compiles, 1);  // one file serves both
  FakeBackend c;
  c.target_name = "fake-2";
  get(c, 1);
  EXPECT_EQ(c.compiles, 1);
  kernel_cache_get(a, key_of(1000), [] { return KernelSource{text_of(1), {"first", "second"}, true}; });
  kernel_cache_get(a, key_of(1001), [] { return KernelSource{text_of(1), {"first"}, false}; });
  EXPECT_EQ(a.compiles + b.compiles, 3);
  kernel_cache_get(a, key_of(1002), [] { return KernelSource{text_of(1), {"first", "second"}, false}; });
  EXPECT_EQ(a.compiles + b.compiles, 3);
  EXPECT_EQ(files().size(), 4u);
}

TEST_F(KernelCache, ManyKernelsStayFindableWhileThreadsRead) {
  FakeBackend backend;
  kernel_cache_set_folder("");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int step = 0; step < 20000; ++step) {
        const int i = static_cast<int>(random() % (1 + static_cast<unsigned>(step) / 5));
        const std::string text = std::to_string(i);
        const auto& kernel = kernel_cache_get(backend, key_of(i), [&] { return KernelSource{text, {text}}; });
        wrong += dynamic_cast<const FakeKernel&>(kernel).entries[0] != text;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(backend.compiles, 4000);
}

TEST_F(KernelCache, ThreadsThatAskAtOnceCompileOnce) {
  FakeBackend backend;
  backend.delay = 20ms;
  std::vector<std::thread> threads;
  std::vector<LoadedKernel*> seen(8);
  for (size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] { seen[i] = &get(backend, 5); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(backend.compiles, 1);
  for (const LoadedKernel* kernel : seen) EXPECT_EQ(kernel, seen[0]);
}

TEST_F(KernelCache, CompilersErrorReachesEveryCallerAndIsTriedAgain) {
  FakeBackend backend;
  backend.delay = 10ms;
  const auto ask = [&] { return &kernel_cache_get(backend, key_of(1), [] { return KernelSource{"error: no such op", {"f"}}; }); };
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      try {
        ask();
      } catch (const Error& error) {
        errors += std::string(error.what()) == "compile: error: no such op";
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(errors, 4);
  const int compiles = backend.compiles;
  EXPECT_THROW(ask(), Error);
  EXPECT_EQ(backend.compiles, compiles + 1);
  EXPECT_TRUE(files().empty());
  // A printer that throws leaves nothing behind.
  EXPECT_THROW(kernel_cache_get(backend, key_of(2), []() -> KernelSource { throw Error(ErrorKind::Type, "print"); }), Error);
  EXPECT_TRUE(right(get(backend, 2), 2));
}

TEST_F(KernelCache, TryDoesNotWaitForTheCompiler) {
  FakeBackend backend;
  backend.delay = 50ms;
  int printed = 0;
  const auto ask = [&](int i) {
    return kernel_cache_try(backend, key_of(i), [&, i] { return ++printed, KernelSource{text_of(i), {"first", "second"}}; });
  };
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 100; ++k) EXPECT_EQ(ask(1), nullptr);
  EXPECT_EQ(ask(2), nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 40ms);
  EXPECT_EQ(printed, 2);
  // What waits in the queue is compiled at once by who needs it.
  EXPECT_TRUE(right(get(backend, 2), 2));
  kernel_cache_wait();
  ASSERT_NE(ask(1), nullptr);
  EXPECT_TRUE(right(*ask(1), 1));
  EXPECT_EQ(printed, 2);
  EXPECT_EQ(backend.compiles, 2);
  // From disk without waiting.
  fresh();
  LoadedKernel* kernel = ask(1);
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(right(*kernel, 1));
  EXPECT_EQ(backend.compiles, 2);
}

TEST_F(KernelCache, TheBackgroundThreadCompilesNextWhatMostTimeWasSpentFor) {
  FakeBackend backend;
  backend.delay = 200ms;
  const auto ask = [&](int i, int64_t nanoseconds) {
    return kernel_cache_try(backend, key_of(i), [&, i] { return KernelSource{text_of(i), {"first", "second"}}; }, nanoseconds);
  };
  ask(0, 0);
  while (backend.compiles == 0) std::this_thread::sleep_for(1ms);  // it compiles the first; the others wait
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(ask(i, 0), nullptr);
  ask(3, 500);
  ask(4, 300);
  ask(4, 300);
  kernel_cache_wait();
  // Those for which nothing was spent come in the order in which they were asked for.
  EXPECT_EQ(backend.order, (std::vector<std::string>{text_of(0), text_of(4), text_of(3), text_of(1), text_of(2)}));
}

TEST_F(KernelCache, RequestedKernelsAreCompiledWhileTheCallerCompiles) {
  FakeBackend backend;
  backend.delay = 300ms;
  const auto request = [&](int i) {
    kernel_cache_request(backend, key_of(i), [&] { return KernelSource{text_of(i), {"first", "second"}}; });
  };
  EXPECT_EQ(kernel_cache_find(backend, key_of(2)), nullptr);
  request(2);
  request(2);  // once is enough
  while (backend.compiles == 0) std::this_thread::yield();
  std::thread other([&] { EXPECT_TRUE(right(get(backend, 1), 1)); });
  while (backend.compiles < 2) std::this_thread::yield();
  // The first compile may be over on a slow machine, but nothing waited for it.
  LoadedKernel& second = get(backend, 2);
  other.join();
  EXPECT_TRUE(right(second, 2));
  EXPECT_EQ(kernel_cache_find(backend, key_of(2)), &second);
  EXPECT_EQ(backend.compiles, 2);
  request(2);
  EXPECT_EQ(backend.compiles, 2);
}

TEST_F(KernelCache, ARequestedKernelThatIsQueuedIsCompiledByTheThreadThatNeedsIt) {
  FakeBackend backend;
  backend.delay = 20ms;
  for (int i = 0; i < 30; ++i) kernel_cache_request(backend, key_of(i), [&] { return KernelSource{text_of(i), {"first", "second"}}; });
  for (int i = 29; i >= 0; --i) EXPECT_TRUE(right(get(backend, i), i));
  kernel_cache_wait();
  EXPECT_EQ(backend.compiles, 30);
}

TEST_F(KernelCache, ARequestedKernelsErrorReachesTheCallerThatNeedsIt) {
  FakeBackend backend;
  const auto print = [] { return KernelSource{"error of the text", {"f"}}; };
  kernel_cache_request(backend, key_of(1), print);
  kernel_cache_wait();
  EXPECT_THROW(kernel_cache_get(backend, key_of(1), print), Error);
  kernel_cache_request(backend, key_of(2), []() -> KernelSource { raise(ErrorKind::Value, "nothing to print"); });
  EXPECT_THROW(kernel_cache_get(backend, key_of(2), []() -> KernelSource { raise(ErrorKind::Value, "nothing to print"); }), Error);
}

TEST_F(KernelCache, TryThrowsTheBackgroundThreadsError) {
  FakeBackend backend;
  const auto ask = [&] { return kernel_cache_try(backend, key_of(1), [] { return KernelSource{"error: bad", {"f"}}; }); };
  EXPECT_EQ(ask(), nullptr);
  kernel_cache_wait();
  EXPECT_THROW(ask(), Error);
  EXPECT_THROW(ask(), Error);
  EXPECT_EQ(backend.compiles, 1);
}

TEST_F(KernelCache, WhoWaitsForTheWholeGetsItAlsoWhenSomebodyAskedBefore) {
  FakeBackend backend;
  backend.delay = 30ms;
  LoadedKernel& kernel = get_quick(backend, 1);
  EXPECT_EQ(backend.compiles, 0);
  kernel_cache_improve(kernel);
  EXPECT_NE(kernel.quick, nullptr);
  kernel_cache_improve(kernel, true);
  EXPECT_TRUE(replaced(kernel, 1));
  EXPECT_EQ(kernel.quick, nullptr);
  kernel_cache_improve(kernel, true);
  EXPECT_EQ(backend.compiles, 1);
  EXPECT_EQ(files().size(), 1u);  // the whole's alone
  // One that cannot be compiled whole stays as it is; nobody waits for it, and it is not tried again.
  LoadedKernel& bad = kernel_cache_get(backend, key_of(2), [] { return KernelSource{"error: late", {"f"}, false, true}; }, true);
  kernel_cache_improve(bad, true);
  EXPECT_EQ(bad.quick, nullptr);
  EXPECT_EQ(dynamic_cast<FakeKernel&>(bad).better, nullptr);
}

TEST_F(KernelCache, AWholeThatWasDroppedFromTheQueueIsAskedForAgain) {
  FakeBackend backend;
  backend.delay = 20ms;
  std::vector<LoadedKernel*> kernels;
  for (int i = 0; i < 4; ++i) kernels.push_back(&get_quick(backend, i));
  for (LoadedKernel* kernel : kernels) kernel_cache_improve(*kernel);
  kernel_cache_clear(false);
  kernel_cache_wait();
  EXPECT_LE(backend.compiles, 1);
  for (LoadedKernel* kernel : kernels) kernel_cache_improve(*kernel);
  kernel_cache_shutdown();
  EXPECT_LE(backend.compiles, 2);
#if !defined(__SANITIZE_THREAD__)  // which cannot start threads in the child of a fork of several threads
  for (LoadedKernel* kernel : kernels) kernel_cache_improve(*kernel);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int wrong = 0;
    for (int i = 4; i-- > 0;) {
      kernel_cache_improve(*kernels[static_cast<size_t>(i)], true);
      wrong += !replaced(*kernels[static_cast<size_t>(i)], i);
    }
    kernel_cache_shutdown();
    _exit(wrong);
  }
  EXPECT_EQ(wait_for(child), 0);
#endif
  for (int i = 0; i < 4; ++i) {
    kernel_cache_improve(*kernels[static_cast<size_t>(i)], true);
    EXPECT_TRUE(replaced(*kernels[static_cast<size_t>(i)], i)) << i;
  }
  EXPECT_EQ(backend.compiles, 4);
}

TEST_F(KernelCache, BackgroundThreadEndsAndStartsAgain) {
  FakeBackend backend;
  backend.delay = 5ms;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      kernel_cache_try(backend, key_of(10 * round + i), [&] { return KernelSource{text_of(10 * round + i), {"first", "second"}}; });
    }
    kernel_cache_shutdown();
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(right(get(backend, 10 * round + i), 10 * round + i));
  }
  EXPECT_EQ(backend.compiles, 12);
}

TEST_F(KernelCache, DamagedFilesAreDeletedAndCompiledAnew) {
  FakeBackend backend;
  get(backend, 1);
  ASSERT_EQ(files().size(), 1u);
  const fs::path path = files()[0];
  const auto read = [&] {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string good = read();
  int compiles = backend.compiles;
  const auto with = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    fresh();
    EXPECT_TRUE(right(get(backend, 1), 1));
    EXPECT_EQ(backend.compiles, ++compiles);
    EXPECT_EQ(read(), good);
  };
  for (const size_t at : {size_t{0}, size_t{8}, size_t{20}, size_t{30}, size_t{41}, size_t{50}, size_t{57}, size_t{61}, size_t{65},
                          size_t{69}, size_t{80}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    with(bad);
  }
  for (const size_t length : {size_t{0}, size_t{7}, size_t{71}, size_t{72}, size_t{90}, good.size() - 1}) with(good.substr(0, length));
  with(good + "x");
  // A whole file of another kernel under this name.
  get(backend, 2);
  ++compiles;
  for (const fs::path& other : files()) {
    if (other != path) fs::copy_file(other, path, fs::copy_options::overwrite_existing);
  }
  fresh();
  EXPECT_TRUE(right(get(backend, 1), 1));
  EXPECT_EQ(backend.compiles, ++compiles);
  // A whole file that the device refuses.
  fresh();
  backend.refuse_loads = 1;
  EXPECT_TRUE(right(get(backend, 1), 1));
  EXPECT_EQ(backend.compiles, ++compiles);
}

TEST_F(KernelCache, FolderThatCannotBeWrittenMeansMemoryOnlyAndOneWarning) {
  FakeBackend backend;
  std::ofstream(folder_ + "/file") << "x";
  for (const std::string& bad : {folder_ + "/file/below", std::string("/proc/broadcloth")}) {
    kernel_cache_set_folder(bad);
    kernel_cache_clear(false);
    EXPECT_TRUE(right(get(backend, 1), 1));
    EXPECT_TRUE(right(get(backend, 2), 2));
    EXPECT_NE(kernel_cache_stats().warning.find(bad), std::string::npos) << kernel_cache_stats().warning;
    EXPECT_EQ(kernel_cache_stats().disk_files, 0u);
  }
  kernel_cache_set_folder("");
  kernel_cache_clear(false);
  EXPECT_TRUE(right(get(backend, 1), 1));
  EXPECT_EQ(kernel_cache_stats().folder, "");
  EXPECT_EQ(kernel_cache_stats().warning, "");
  // A folder that is not there yet is made.
  kernel_cache_set_folder(folder_ + "/a/b/c/");
  kernel_cache_clear(false);
  get(backend, 1);
  EXPECT_EQ(kernel_cache_stats().disk_files, 1u);
  EXPECT_EQ(kernel_cache_stats().warning, "");
}

TEST_F(KernelCache, CapDropsWhatWasUsedLongestAgoAndOldTemporaryFiles) {
  FakeBackend backend;
  for (int i = 0; i < 30; ++i) get(backend, i);
  const size_t all = kernel_cache_stats().disk_bytes;
  std::ofstream(folder_ + "/tmp-1-old") << "half";
  std::ofstream(folder_ + "/tmp-2-new") << "half";
  std::ofstream(folder_ + "/notes.txt") << "not ours";
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(folder_ + "/tmp-1-old", now - 2h);
  for (const fs::path& path : files()) fs::last_write_time(path, now - 48h);
  // Reading makes a file new again.
  fresh();
  for (int i = 0; i < 5; ++i) get(backend, i);
  EXPECT_EQ(backend.compiles, 30);
  kernel_cache_set_limit(all / 2);
  EXPECT_LE(kernel_cache_stats().disk_bytes, all / 2);
  EXPECT_GT(kernel_cache_stats().disk_bytes, all / 8);
  EXPECT_FALSE(fs::exists(folder_ + "/tmp-1-old"));
  EXPECT_TRUE(fs::exists(folder_ + "/tmp-2-new"));
  EXPECT_TRUE(fs::exists(folder_ + "/notes.txt"));
  fresh();
  for (int i = 0; i < 5; ++i) get(backend, i);
  EXPECT_EQ(backend.compiles, 30);
  // The cap holds while more is written.
  for (int i = 100; i < 200; ++i) get(backend, i);
  EXPECT_LE(kernel_cache_stats().disk_bytes, all / 2 + all / 16 + 300000);
  // 0 turns the disk off.
  kernel_cache_set_limit(0);
  get(backend, 300);
  EXPECT_EQ(kernel_cache_stats().folder, "");
}

TEST_F(KernelCache, ExportAndImportMoveAllEntries) {
  FakeBackend backend;
  for (int i = 0; i < 20; ++i) get(backend, i);
  std::ofstream(folder_ + "/" + std::string(32, 'a') + ".bck") << "damaged";
  const std::string archive = folder_ + "/kernels.archive";
  EXPECT_EQ(kernel_cache_export(archive), 20u);
  kernel_cache_clear(true);
  EXPECT_EQ(kernel_cache_import(archive), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(right(get(backend, i), i));
  EXPECT_EQ(backend.compiles, 20);

  std::ifstream in(archive, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  const auto fails = [&](const std::string& content) {
    std::ofstream(archive, std::ios::binary | std::ios::trunc) << content;
    kernel_cache_clear(true);
    try {
      kernel_cache_import(archive);
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Value && files().empty();  // all or nothing
    }
  };
  EXPECT_TRUE(fails(good.substr(0, good.size() - 1)));
  EXPECT_TRUE(fails(good.substr(0, 30)));
  EXPECT_TRUE(fails("hello"));
  std::string bad = good;
  bad[good.size() / 2] = static_cast<char>(bad[good.size() / 2] ^ 1);
  EXPECT_TRUE(fails(bad));
  EXPECT_THROW(kernel_cache_import(folder_ + "/none"), Error);
  EXPECT_THROW(kernel_cache_export("/proc/none/kernels"), Error);
  EXPECT_FALSE(fails(good));
}

TEST_F(KernelCache, SixteenProcessesShareAFolder) {
  constexpr int kKernels = 60;
  std::vector<pid_t> children;
  for (unsigned process = 0; process < 16; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      FakeBackend backend;
      std::mt19937 random(process);
      int wrong = 0;
      try {
        for (int round = 0; round < 6; ++round) {
          std::vector<int> order(kKernels);
          for (int i = 0; i < kKernels; ++i) order[static_cast<size_t>(i)] = i;
          std::shuffle(order.begin(), order.end(), random);
          for (const int i : order) wrong += !right(get(backend, i), i);
          kernel_cache_clear(false);
          if (process == 3 && round % 2 == 0) kernel_cache_clear(true);
          if (process == 5) kernel_cache_set_limit(size_t{100} << 20);
        }
        wrong += !kernel_cache_stats().warning.empty();
      } catch (...) {
        wrong = 100;
      }
      _exit(std::min(wrong, 100));
    }
    children.push_back(child);
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_TRUE(files("tmp-").empty());
  FakeBackend backend;
  fresh();
  for (int i = 0; i < kKernels; ++i) EXPECT_TRUE(right(get(backend, i), i));
  EXPECT_EQ(kernel_cache_export(folder_ + "/all"), files().size());
}

TEST_F(KernelCache, KillingWritersNeverLeavesABadEntry) {
  constexpr int kKernels = 10;
  std::mt19937 random(11);
  const auto get_large = [](Backend& backend, int i) -> LoadedKernel& {
    return kernel_cache_get(backend, key_of(i), [&] { return KernelSource{"large " + std::to_string(i), {"f"}}; });
  };
  const auto right_large = [](const LoadedKernel& kernel, int i) {
    return dynamic_cast<const FakeKernel&>(kernel).binary == binary_of("large " + std::to_string(i));
  };
  const auto start_writer = [&](unsigned seed) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      FakeBackend backend;
      std::mt19937 order(seed);
      for (;;) {
        for (int k = 0; k < kKernels; ++k) {
          const int i = static_cast<int>(order() % kKernels);
          kernel_cache_clear(false);
          backend.refuse_loads = order() % 2 ? 1 : 0;  // when read from disk it is written anew
          try {
            get_large(backend, i);
          } catch (const Error&) {}
        }
      }
    }
    return child;
  };
  std::vector<pid_t> writers;
  for (unsigned i = 0; i < 3; ++i) writers.push_back(start_writer(i));
  FakeBackend backend;
  int kills = 0;
  int wrong = 0;
  while (kills < 60) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 10000));
    pid_t& writer = writers[random() % writers.size()];
    kill(writer, SIGKILL);
    EXPECT_EQ(wait_for(writer), 128 + SIGKILL);
    ++kills;
    kernel_cache_clear(false);
    for (int k = 0; k < 2; ++k) {
      const int i = static_cast<int>(random() % kKernels);
      wrong += !right_large(get_large(backend, i), i);
    }
    writer = start_writer(static_cast<unsigned>(kills) + 100);
  }
  for (const pid_t writer : writers) {
    kill(writer, SIGKILL);
    wait_for(writer);
  }
  EXPECT_EQ(wrong, 0);
  // Whatever lies there under a kernel's name is whole; halves have temporary names and go when they are old.
  EXPECT_EQ(kernel_cache_export(folder_ + "/all"), files().size());
  for (const fs::path& path : files("tmp-")) fs::last_write_time(path, fs::file_time_type::clock::now() - 1h);
  kernel_cache_set_limit(size_t{1} << 30);
  EXPECT_TRUE(files("tmp-").empty());
}

TEST_F(KernelCache, ChildOfAForkCompilesWhileTheParentDoes) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in the child of a fork of several threads";
#endif
  FakeBackend backend;
  backend.delay = 3ms;
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (int i = 0; !stop; ++i) get(backend, 1000 + i);
  });
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3; ++i) {
      const int n = 10 * round + i;
      kernel_cache_try(backend, key_of(n), [&] { return KernelSource{text_of(n), {"first", "second"}}; });
    }
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      int wrong = 0;
      for (int i = 0; i < 3; ++i) wrong += !right(get(backend, 10 * round + i), 10 * round + i);
      const int n = 5000 + round;
      const auto ask = [&] { return kernel_cache_try(backend, key_of(n), [&] { return KernelSource{text_of(n), {"first", "second"}}; }); };
      ask();
      kernel_cache_wait();
      const LoadedKernel* kernel = ask();
      wrong += !kernel || !right(*kernel, n);
      kernel_cache_shutdown();
      _exit(wrong);
    }
    EXPECT_EQ(wait_for(child), 0);
  }
  stop = true;
  busy.join();
  kernel_cache_wait();
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(right(get(backend, 10 * round + i), 10 * round + i));
  }
}

TEST_F(KernelCache, ProcessMayExitWhileTheBackgroundThreadCompiles) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in the child of a fork of several threads";
#endif
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      // Never destroyed, as the engine's are not: an earlier test may have registered the cache's shutdown, which then comes after it.
      auto& backend = *new FakeBackend;
      backend.delay = 20ms;
      for (int i = 0; i < 5; ++i) {
        const int n = 100 * round + i;
        kernel_cache_try(backend, key_of(n), [&] { return KernelSource{text_of(n), {"f"}}; });
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
      std::exit(7);
    }
    EXPECT_EQ(wait_for(child), 7);
  }
}

}  // namespace
}  // namespace bc
