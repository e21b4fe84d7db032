#include "backends/cpu/cpu_backend.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "backends/cpu/blas.h"
#include "backends/cpu/jit_library.h"
#include "backends/cpu/openblas.h"
#include "codegen/device_library.h"
#include "core/cpu_level.h"
#include "core/error.h"
#include "runtime/host_library.h"
#include "runtime/parallel.h"

namespace bc {
namespace {

namespace fs = std::filesystem;

struct Params {
  float* out;
  const float* a;
  const float* b;
};

KernelSource axpy_source(const std::string& name = "axpy") {
  KernelSource source;
  source.text =
      "struct Params { float* out; const float* a; const float* b; };\n"
      "extern \"C\" void " +
      name +
      "(const Params* p, long long begin, long long end) {\n"
      "  float* out = p->out; const float* a = p->a; const float* b = p->b;\n"
      "  for (long long i = begin; i < end; ++i) out[i] = a[i] * 2.0f + b[i];\n"
      "}\n";
  source.entries = {name};
  return source;
}

Backend& cpu_backend() {
  static const std::unique_ptr<Backend> backend = make_cpu_backend();
  return *backend;
}

/// Puts headers and nothing else of a test into a folder of its own.
class CpuBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::JitLibrary::available()) GTEST_SKIP() << "libbroadcloth_jit.so was not built";
  }
};

TEST_F(CpuBackendTest, CompilesLoadsAndRunsOverAllThreads) {
  Backend& backend = cpu_backend();
  const KernelSource source = axpy_source();
  const std::vector<char> object = backend.compile(source);
  const auto kernel = backend.load(object, source.entries);
  for (const int64_t n : {0, 1, 1000, 100003, 3000017}) {
    const auto count = static_cast<size_t>(n);
    std::vector<float> a(count), b(count), out(count, -1.0f);
    std::iota(a.begin(), a.end(), 0.0f);
    std::iota(b.begin(), b.end(), 0.5f);
    const Params params{out.data(), a.data(), b.data()};
    Launch launch;
    launch.items = n;
    launch.grain = 4096;
    backend.launch(*kernel, launch, &params, sizeof params, {});
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], a[i] * 2.0f + b[i]) << i << " of " << n;
  }
}

TEST_F(CpuBackendTest, KnowsAllEntriesOfAModule) {
  KernelSource source;
  source.text =
      "extern \"C\" void first(int* p, long long, long long) { *p = 1; }\n"
      "extern \"C\" void second(int* p, long long, long long) { *p = 2; }\n";
  source.entries = {"first", "second"};
  const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
  for (int entry = 0; entry < 2; ++entry) {
    int seen = 0;
    Launch launch;
    launch.entry = entry;
    launch.items = 1;
    cpu_backend().launch(*kernel, launch, &seen, sizeof seen, {});
    EXPECT_EQ(seen, entry + 1);
  }
  Launch wrong;
  wrong.entry = 2;
  wrong.items = 1;
  EXPECT_THROW(cpu_backend().launch(*kernel, wrong, nullptr, 0, {}), Error);
  const std::vector<std::string> missing = {"third"};
  EXPECT_THROW(cpu_backend().load(cpu_backend().compile(source), missing), Error);
}

TEST_F(CpuBackendTest, PiecesBeginAtMultiplesOfTheGrain) {
  KernelSource source;
  source.text =
      "extern \"C\" void mark(void* const* p, long long begin, long long end) {\n"
      "  long long* out = static_cast<long long*>(*p);\n"
      "  out[begin / 100] = begin * 1000000 + end;\n"
      "}\n";
  source.entries = {"mark"};
  const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
  std::vector<long long> out(51, -1);
  void* data = out.data();
  Launch launch;
  launch.items = 5050;
  launch.grain = 100;
  cpu_backend().launch(*kernel, launch, &data, sizeof data, {});
  for (long long i = 0; i < 51; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], i * 100 * 1000000 + std::min(5050LL, i * 100 + 100));
}

TEST_F(CpuBackendTest, ErrorsCarryTheCompilersLog) {
  KernelSource source;
  source.text = "extern \"C\" void broken(void*, long long, long long) { undeclared_name(1); }\n";
  source.entries = {"broken"};
  try {
    cpu_backend().compile(source);
    FAIL() << "a wrong text compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Compile);
    const std::string text = error.what();
    EXPECT_NE(text.find("undeclared_name"), std::string::npos) << text;
    EXPECT_NE(text.find("kernel.cpp:1:"), std::string::npos) << text;
  }
}

TEST_F(CpuBackendTest, RefusesWhatTheLoaderCannotRun) {
  KernelSource source;
  source.entries = {"k"};
  source.text = "int f(); int value = f(); extern \"C\" void k(int* p, long long, long long) { *p = value; }\n";
  EXPECT_THROW(cpu_backend().compile(source), Error);
  source.text = "thread_local int value; extern \"C\" void k(int* p, long long, long long) { *p = value++; }\n";
  EXPECT_THROW(cpu_backend().compile(source), Error);
}

TEST_F(CpuBackendTest, BytesThatAreNoObjectAreRefused) {
  const std::vector<std::string> entries = {"k"};
  EXPECT_THROW(cpu_backend().load(std::vector<char>(100, 'x'), entries), Error);
  EXPECT_THROW(cpu_backend().load({}, entries), Error);
}

TEST_F(CpuBackendTest, NamesOfTheProcessAreFoundAndOthersRefused) {
  KernelSource source;
  source.text =
      "extern \"C\" double cosh(double);\n"
      "extern \"C\" void k(double* p, long long, long long) { *p = cosh(*p); }\n";
  source.entries = {"k"};
  const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
  double value = 0.5;
  Launch launch;
  launch.items = 1;
  cpu_backend().launch(*kernel, launch, &value, sizeof value, {});
  EXPECT_EQ(value, std::cosh(0.5));

  source.text =
      "extern \"C\" double no_such_function_anywhere(double);\n"
      "extern \"C\" void k(double* p, long long, long long) { *p = no_such_function_anywhere(*p); }\n";
  const std::vector<char> object = cpu_backend().compile(source);
  try {
    cpu_backend().load(object, source.entries);
    FAIL() << "an unknown name was resolved";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_function_anywhere"), std::string::npos) << error.what();
  }
}

TEST_F(CpuBackendTest, SupportRoutinesAreThere) {
  KernelSource source;
  source.text =
      "struct P { double d; _Float16 h; __bf16 b; __bf16 c; unsigned __int128 q; };\n"
      "extern \"C\" void k(P* p, long long n, long long) {\n"
      "  p->h = (_Float16)p->d; p->b = (__bf16)(float)p->d; p->c = (__bf16)p->d; p->q = p->q / (unsigned __int128)(p->d * 3);\n"
      "}\n";
  source.entries = {"k"};
  struct P {
    double d;
    uint16_t h, b, c;
    unsigned __int128 q;
  };
  const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
  // Just above the middle of two bfloat16 numbers by less than a float can say: the narrowing must round once.
  P p{1.0 + 0x1p-8 + 0x1p-40, 0, 0, 0, static_cast<unsigned __int128>(1) << 100};
  Launch launch;
  launch.items = 1;
  cpu_backend().launch(*kernel, launch, &p, sizeof p, {});
  EXPECT_EQ(p.h, 0x3c04);
  EXPECT_EQ(p.c, 0x3f81);
  EXPECT_TRUE(p.q == (static_cast<unsigned __int128>(1) << 100) / 3);
}

TEST_F(CpuBackendTest, ContractionOnlyWhereItIsAsked) {
  KernelSource source;
  source.text =
      "struct P { double a, b, c, out; };\n"
      "extern \"C\" void k(P* p, long long, long long) { p->out = p->a * p->b + p->c; }\n";
  source.entries = {"k"};
  struct P {
    double a, b, c, out;
  };
  const double a = 1.0 + 0x1p-30;
  for (const bool contract : {false, true}) {
    source.contract = contract;
    const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
    P p{a, a, -1.0, 0};
    Launch launch;
    launch.items = 1;
    cpu_backend().launch(*kernel, launch, &p, sizeof p, {});
    volatile double product = a * a;
    if (!contract) {
      EXPECT_EQ(p.out, product - 1.0);
    } else if (__builtin_cpu_supports("fma")) {
      EXPECT_EQ(p.out, std::fma(a, a, -1.0));
    }
  }
}

TEST_F(CpuBackendTest, SeveralThreadsCompileAtOnce) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int r = 0; r < 5; ++r) {
        const KernelSource source = axpy_source("k" + std::to_string(t) + "_" + std::to_string(r));
        const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
        float a = static_cast<float>(t), b = static_cast<float>(r), out = -1;
        const Params params{&out, &a, &b};
        Launch launch;
        launch.items = 1;
        cpu_backend().launch(*kernel, launch, &params, sizeof params, {});
        if (out == a * 2 + b) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 20);
}

TEST_F(CpuBackendTest, TheSameTextGivesTheSameObject) {
  const KernelSource source = axpy_source();
  EXPECT_EQ(cpu_backend().compile(source), cpu_backend().compile(source));
}

TEST_F(CpuBackendTest, KernelsSeeTheDeviceLibrary) {
  KernelSource source;
  source.text = "extern \"C\" void k(bc::i64* p, bc::i64 begin, bc::i64 end) { *p = sizeof(bc::complex<float>) + end - begin; }\n";
  source.entries = {"k"};
  const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
  int64_t value = 0;
  Launch launch;
  launch.items = 1;
  cpu_backend().launch(*kernel, launch, &value, sizeof value, {});
  EXPECT_EQ(value, 9);
}

TEST_F(CpuBackendTest, RareFunctionsOfTheDeviceLibraryAreLinked) {
  KernelSource source;
  source.text = "extern \"C\" void k(double* p, bc::i64, bc::i64) { *p = bc::sin(*p) + bc::cos(static_cast<float>(*p)); }\n";
  source.entries = {"k"};
  const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
  double value = 1e15;
  Launch launch;
  launch.items = 1;
  cpu_backend().launch(*kernel, launch, &value, sizeof value, {});
  EXPECT_NEAR(value, std::sin(1e15) + std::cos(static_cast<double>(static_cast<float>(1e15))), 1e-6);
}

/// Runs in a child process, so that the header in this one's memory does not count.
int compile_in_child(const fs::path& cache) {
  // By another name, so that no header lies beside the compiler.
  const fs::path away = cache.string() + "-jit", library = away / "libbroadcloth_jit.so";
  fs::create_directories(away);
  if (!fs::exists(fs::symlink_status(library))) fs::create_symlink(cpu::JitLibrary::get().path(), library);
  const pid_t child = fork();
  if (child == 0) {
    setenv("BROADCLOTH_CACHE_DIR", cache.c_str(), 1);
    setenv("BROADCLOTH_JIT", library.c_str(), 1);
    const char* arguments[] = {"cpu_backend_test", "--gtest_filter=CpuBackendTest.InspectsWhatItCompiles", "--gtest_brief=1", nullptr};
    execv("/proc/self/exe", const_cast<char* const*>(arguments));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(CpuBackendTest, InspectsWhatItCompiles) {
  // Waits for the precompiled header, which a first compile does not.
  const bc_jit_flags flags{3, 0, 0, 0};
  const KernelSource source = axpy_source();
  EXPECT_NE(cpu::JitLibrary::get().inspect(source.text, flags, "ir").find("define"), std::string::npos);
}

TEST_F(CpuBackendTest, AKernelTakesAPartOfTheDeviceLibrary) {
  const bc_jit_flags flags{3, 0, 0, 0};
  KernelSource source = axpy_source();
  source.text += "static float more(const bc::i64* p) { return bc::sin(bc::load_word<float>(p)); }\n";
  const std::string_view texts[] = {source.text};
  const std::string part = device_library_for(LibraryTarget::Cpu, texts);
  EXPECT_LT(part.size(), kDeviceLibrarySize / 4);
  EXPECT_NE(part.find("load_word"), std::string::npos);
  EXPECT_NE(part.find("native_sin_fast"), std::string::npos);
  EXPECT_EQ(part.find("standard_normal"), std::string::npos);
  EXPECT_FALSE(cpu::JitLibrary::get().compile(source.text, "kernel.cpp", flags).empty());
}

TEST_F(CpuBackendTest, ThePrecompiledHeaderIsKeptAndADamagedOneIsReplaced) {
  const fs::path cache = fs::temp_directory_path() / ("bc-pch-test-" + std::to_string(getpid()));
  ASSERT_EQ(compile_in_child(cache), 0);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(cache / "pch")) files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1U);
  const auto size = fs::file_size(files[0]);
  const auto written = fs::last_write_time(files[0]);

  ASSERT_EQ(compile_in_child(cache), 0);
  EXPECT_EQ(fs::last_write_time(files[0]), written) << "the header was built again";

  fs::resize_file(files[0], size / 2);
  ASSERT_EQ(compile_in_child(cache), 0);
  EXPECT_EQ(fs::file_size(files[0]), size);
  {
    std::fstream file(files[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 3));
    file.write("damage", 6);
  }
  ASSERT_EQ(compile_in_child(cache), 0);

  // A cache that cannot be written is no error.
  fs::remove_all(cache);
  std::ofstream(cache) << "a file where the folder should be";
  EXPECT_EQ(compile_in_child(cache), 0);
  fs::remove_all(cache);
  fs::remove_all(cache.string() + "-jit");
}

TEST_F(CpuBackendTest, AForkedChildStillComputes) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in the child of a fork of several threads";
#endif
  const KernelSource source = axpy_source();
  const auto kernel = cpu_backend().load(cpu_backend().compile(source), source.entries);
  constexpr size_t kCount = 1 << 20;
  std::vector<float> a(kCount, 1.5f), b(kCount, 2.0f), out(kCount);
  const Params params{out.data(), a.data(), b.data()};
  Launch launch;
  launch.items = kCount;
  launch.grain = 1 << 14;
  cpu_backend().launch(*kernel, launch, &params, sizeof params, {});
  // Compiles run while the process forks.
  std::atomic<bool> stop{false};
  std::thread compiler([&] {
    while (!stop) cpu_backend().compile(source);
  });
  for (int r = 0; r < 5; ++r) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      std::fill(out.begin(), out.end(), 0.0f);
      cpu_backend().launch(*kernel, launch, &params, sizeof params, {});
      const auto again = cpu_backend().load(cpu_backend().compile(source), source.entries);
      cpu_backend().launch(*again, launch, &params, sizeof params, {});
      float product = 0;
      const int64_t strides[3] = {1, 1, 1};
      cpu::matmul(DType::f32, 1, 1, 1, 1, a.data(), strides, b.data(), strides, &product);
      _exit(out[kCount - 1] == 5.0f && product == 3.0f ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  compiler.join();
}

TEST_F(CpuBackendTest, ExitDuringACompileIsClean) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    // The registry's backend is never destroyed, as a program's is not; the test's own one goes with its statics.
    std::thread([&kept = backend({DeviceType::cpu, 0})] {
      for (;;) kept.compile(axpy_source());
    }).detach();
    usleep(50000);
    std::exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST(CpuMemory, ChunksAreAlignedAndWritable) {
  Backend& backend = cpu_backend();
  for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{100000}, size_t{2} << 20, (size_t{5} << 20) + 3, size_t{64} << 20}) {
    void* chunk = backend.allocate_chunk(bytes);
    ASSERT_NE(chunk, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(chunk) % 256, 0U);
    if (bytes >= size_t{2} << 20) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(chunk) % (size_t{2} << 20), 0U);
    }
    backend.fill(chunk, 0x5a, bytes, {});
    EXPECT_EQ(static_cast<unsigned char*>(chunk)[0], 0x5a);
    EXPECT_EQ(static_cast<unsigned char*>(chunk)[bytes - 1], 0x5a);
    backend.free_chunk(chunk, bytes);
  }
}

TEST(CpuMemory, MoreThanThereIsGivesNull) {
  Backend& backend = cpu_backend();
  const MemoryInfo info = backend.memory_info();
  EXPECT_GT(info.total, 0U);
  EXPECT_GT(info.free, 0U);
  EXPECT_LE(info.free, info.total);
  EXPECT_EQ(backend.allocate_chunk(info.total * 2), nullptr);
  EXPECT_EQ(backend.allocate_chunk(~size_t{0} - 5), nullptr);
}

TEST(CpuMemory, CopiesOfAllSizesAndOverlaps) {
  Backend& backend = cpu_backend();
  for (const size_t bytes : {size_t{0}, size_t{7}, size_t{1} << 20, (size_t{3} << 20) + 17}) {
    std::vector<unsigned char> from(bytes), to(bytes, 0);
    for (size_t i = 0; i < bytes; ++i) from[i] = static_cast<unsigned char>(i * 31 >> 3);
    backend.copy(to.data(), from.data(), bytes, CopyKind::HostToDevice, {});
    EXPECT_EQ(from, to);
  }
  std::vector<unsigned char> data((size_t{2} << 20) + 100);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 7 >> 2);
  const std::vector<unsigned char> before = data;
  backend.copy(data.data() + 100, data.data(), size_t{2} << 20, CopyKind::DeviceToDevice, {});
  EXPECT_TRUE(std::equal(before.begin(), before.end() - 100, data.begin() + 100));
}

TEST(CpuBackend, NamesItself) {
  Backend& backend = cpu_backend();
  EXPECT_EQ(backend.device(), (Device{DeviceType::cpu, 0}));
  EXPECT_FALSE(backend.device_name().empty());
  EXPECT_EQ(backend.target().substr(0, 4), "cpu ");
  EXPECT_GE(backend.multiprocessors(), 1);
  EXPECT_EQ(host_library().matmul, &cpu::matmul);
  EXPECT_EQ(host_library().symbol("no_such_routine_"), nullptr);
  EXPECT_NE(host_library().symbol("dgesdd_"), nullptr);
}

TEST(Parallel, EveryItemRunsOnceAndExceptionsComeBack) {
  for (const int64_t items : {1, 5, 1000, 4097}) {
    std::vector<std::atomic<int>> hits(static_cast<size_t>(items));
    cpu::parallel_for(items, 10, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(begin % 10, 0);
      for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
    });
    for (const auto& hit : hits) ASSERT_EQ(hit, 1);
  }
  EXPECT_THROW(cpu::parallel_for(100, 1, [](int64_t begin, int64_t) { BC_CHECK(begin != 50, Value, "item {}", begin); }), Error);
  int calls = 0;
  cpu::parallel_for(0, 1, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(Parallel, LoopsInLoopsAndFromManyThreads) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      cpu::parallel_for(16, 1,
                        [&](int64_t, int64_t) { cpu::parallel_for(100, 7, [&](int64_t begin, int64_t end) { sum += end - begin; }); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 4 * 16 * 100);
}

// ---- products

/// The reference sums in a wider type, so that its own error does not count.
template <class T>
struct Wide {
  using Type = T;
};
template <>
struct Wide<float> {
  using Type = double;
};
template <>
struct Wide<double> {
  using Type = long double;
};
template <class R>
struct Wide<std::complex<R>> {
  using Type = std::complex<typename Wide<R>::Type>;
};

/// Reals use every bit, so products and sums round. With small whole numbers every sum is exact, in any order, with or without fused
/// multiply-adds: what comes out is right to the last bit or wrong.
enum class Fill { reals, whole_numbers };

template <class T>
struct Host {
  static T random(std::mt19937& g, Fill fill = Fill::reals) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(g());
    else if constexpr (std::is_floating_point_v<T>)
      return fill == Fill::reals ? std::uniform_real_distribution<T>(-1, 1)(g) : static_cast<T>(static_cast<int>(g() % 9) - 4);
    else
      return T(Host<typename T::value_type>::random(g, fill), Host<typename T::value_type>::random(g, fill));
  }
};

enum class Order { plain, turned, gaps, reversed, broadcast };

/// The strides of rows x columns matrices in a buffer, and where the first element lies.
void lay_out(Order order, int64_t batch, int64_t rows, int64_t columns, int64_t strides[3], int64_t& offset, int64_t& size) {
  offset = 0;
  switch (order) {
    case Order::plain: strides[0] = rows * columns, strides[1] = columns, strides[2] = 1; break;
    case Order::turned: strides[0] = rows * columns, strides[1] = 1, strides[2] = rows; break;
    case Order::gaps: strides[0] = rows * columns * 6 + 5, strides[1] = columns * 3, strides[2] = 2; break;
    case Order::reversed:
      strides[0] = rows * columns, strides[1] = -columns, strides[2] = -1;
      offset = rows * columns - 1;
      break;
    case Order::broadcast: strides[0] = 0, strides[1] = 0, strides[2] = 1; break;
  }
  size = batch * (rows * columns * 6 + 5) + 100;
}

/// The largest error of a sum of k products, a part of the sum of their magnitudes (Higham 2002, section 3.1): gamma(k) = k·u / (1 - k·u)
/// with the unit roundoff u, for any order of the additions and with or without fused multiply-adds. A complex sum is two real ones of 2k
/// products each; both stay below sqrt(2) times the sum of |a||b|.
template <class T>
double largest_error(int64_t k) {
  const auto gamma = [](double terms, double eps) { return terms * eps / 2 / (1 - terms * eps / 2); };
  if constexpr (std::is_integral_v<T>)
    return 0;
  else if constexpr (std::is_floating_point_v<T>)
    return gamma(static_cast<double>(k), std::numeric_limits<T>::epsilon());
  else
    return std::sqrt(2.0) * gamma(2 * static_cast<double>(k), std::numeric_limits<typename T::value_type>::epsilon());
}

/// x · y without what std::complex does for infinities, which takes longer than the products under test.
template <class T>
T multiplied(const T& x, const T& y) {
  return x * y;
}
template <class R>
std::complex<R> multiplied(const std::complex<R>& x, const std::complex<R>& y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

template <class T>
void check_product(DType dtype, Order order_a, Order order_b, int64_t batch, int64_t m, int64_t n, int64_t k, Fill fill) {
  using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, typename Wide<T>::Type>;
  std::mt19937 random(static_cast<unsigned>(m * 7 + n * 3 + k));
  int64_t sa[3], sb[3], offset_a, offset_b, size_a, size_b;
  lay_out(order_a, batch, m, k, sa, offset_a, size_a);
  lay_out(order_b, batch, k, n, sb, offset_b, size_b);
  std::vector<T> a(static_cast<size_t>(size_a)), b(static_cast<size_t>(size_b)), c(static_cast<size_t>(batch * m * n), T(77));
  for (T& x : a) x = Host<T>::random(random, fill);
  for (T& x : b) x = Host<T>::random(random, fill);
  cpu::matmul(dtype, batch, m, n, k, a.data() + offset_a, sa, b.data() + offset_b, sb, c.data());
  const bool rounds = !std::is_integral_v<T> && fill == Fill::reals;
  std::vector<double> size_of_a(rounds ? a.size() : 0), size_of_b(rounds ? b.size() : 0);
  if constexpr (!std::is_integral_v<T>) {
    for (size_t i = 0; i < size_of_a.size(); ++i) size_of_a[i] = static_cast<double>(std::abs(a[i]));
    for (size_t i = 0; i < size_of_b.size(); ++i) size_of_b[i] = static_cast<double>(std::abs(b[i]));
  }
  for (int64_t z = 0; z < batch; ++z) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Sum sum(0);
        double magnitudes = 0;
        for (int64_t p = 0; p < k; ++p) {
          const auto x = static_cast<size_t>(offset_a + z * sa[0] + i * sa[1] + p * sa[2]);
          const auto y = static_cast<size_t>(offset_b + z * sb[0] + p * sb[1] + j * sb[2]);
          sum += multiplied(Sum(a[x]), Sum(b[y]));
          if (rounds) magnitudes += size_of_a[x] * size_of_b[y];
        }
        const T got = c[static_cast<size_t>((z * m + i) * n + j)];
        if constexpr (!std::is_integral_v<T>) {
          if (rounds) {
            // A thousandth for the error of the reference itself, whose type has 11 bits more at least.
            const auto error = static_cast<double>(std::abs(Sum(got) - sum));
            ASSERT_LE(error, 1.001 * largest_error<T>(k) * magnitudes) << i << "," << j << " of " << m << "x" << n << "x" << k;
            continue;
          }
        }
        ASSERT_EQ(got, T(sum)) << i << "," << j << " of " << m << "x" << n << "x" << k;
      }
    }
  }
}

template <class T>
void check_all(DType dtype) {
  const Order orders[] = {Order::plain, Order::turned, Order::gaps, Order::reversed, Order::broadcast};
  // Sizes about those of the kernels' blocks, batches of small matrices, and sums that are cut.
  const int64_t sizes[][4] = {{1, 1, 1, 1},  {1, 1, 1, 50}, {1, 7, 1, 9},    {1, 1, 8, 9},    {3, 5, 4, 6},      {1, 33, 17, 1},
                              {7, 8, 8, 8},  {5, 9, 17, 5}, {6, 16, 16, 16}, {3, 31, 33, 32}, {2, 65, 66, 40},   {1, 130, 70, 300},
                              {40, 3, 3, 3}, {50, 1, 4, 4}, {50, 4, 1, 4},   {1, 64, 64, 64}, {1, 200, 210, 65}, {1, 2, 3, 70000}};
  for (const auto& s : sizes) {
    for (const Order order_a : orders) {
      for (const Order order_b : orders) {
        if ((s[3] > 1000 || s[1] > 100) && order_a != order_b) continue;  // to see that they are cut right
        check_product<T>(dtype, order_a, order_b, s[0], s[1], s[2], s[3], Fill::whole_numbers);
        if (!std::is_integral_v<T>) check_product<T>(dtype, order_a, order_b, s[0], s[1], s[2], s[3], Fill::reals);
      }
    }
  }
}

TEST(Matmul, Float32) { check_all<float>(DType::f32); }
TEST(Matmul, Float64) { check_all<double>(DType::f64); }
TEST(Matmul, Complex64) { check_all<std::complex<float>>(DType::c64); }
TEST(Matmul, Complex128) { check_all<std::complex<double>>(DType::c128); }
TEST(Matmul, Int8) { check_all<int8_t>(DType::i8); }
TEST(Matmul, UInt16) { check_all<uint16_t>(DType::u16); }
TEST(Matmul, Int32) { check_all<int32_t>(DType::i32); }
TEST(Matmul, UInt64) { check_all<uint64_t>(DType::u64); }

TEST(Matmul, BoolIsOrOfAnds) {
  constexpr int64_t kM = 70, kN = 45, kK = 300;
  std::mt19937 random(3);
  std::vector<uint8_t> a(kM * kK), b(kK * kN), c(kM * kN, 9);
  for (auto& x : a) x = random() % 16 == 0;
  for (auto& x : b) x = random() % 16 == 0;
  const int64_t sa[3] = {0, kK, 1}, sb[3] = {0, kN, 1};
  cpu::matmul(DType::b1, 1, kM, kN, kK, a.data(), sa, b.data(), sb, c.data());
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      uint8_t any = 0;
      for (int64_t p = 0; p < kK; ++p) any |= a[static_cast<size_t>(i * kK + p)] & b[static_cast<size_t>(p * kN + j)];
      ASSERT_EQ(c[static_cast<size_t>(i * kN + j)], any);
    }
  }
}

TEST(Matmul, SmallFloatsSumInFloat) {
  // 4096 ones: a float16 sum would stop at 2048, a bfloat16 one at 256.
  const std::vector<uint16_t> half_ones(4096, 0x3c00), bfloat_ones(4096, 0x3f80);
  const int64_t row[3] = {0, 4096, 1}, column[3] = {0, 1, 1};
  uint16_t out = 0;
  cpu::matmul(DType::f16, 1, 1, 1, 4096, half_ones.data(), row, half_ones.data(), column, &out);
  EXPECT_EQ(out, 0x6c00);
  cpu::matmul(DType::bf16, 1, 1, 1, 4096, bfloat_ones.data(), row, bfloat_ones.data(), column, &out);
  EXPECT_EQ(out, 0x4580);
  // Subnormal and infinite halves.
  const uint16_t tiny = 0x0001, one = 0x3c00, infinite = 0x7c00;
  const int64_t unit[3] = {1, 1, 1};
  cpu::matmul(DType::f16, 1, 1, 1, 1, &tiny, unit, &one, unit, &out);
  EXPECT_EQ(out, tiny);
  cpu::matmul(DType::f16, 1, 1, 1, 1, &infinite, unit, &one, unit, &out);
  EXPECT_EQ(out, infinite);
}

TEST(Matmul, EmptySizes) {
  float c[4] = {1, 2, 3, 4};
  const int64_t strides[3] = {0, 1, 1};
  cpu::matmul(DType::f32, 1, 2, 2, 0, nullptr, strides, nullptr, strides, c);
  EXPECT_EQ(c[0] + c[1] + c[2] + c[3], 0.0f);
  cpu::matmul(DType::f32, 0, 2, 2, 5, nullptr, strides, nullptr, strides, nullptr);
  cpu::matmul(DType::i32, 3, 0, 2, 5, nullptr, strides, nullptr, strides, nullptr);
}

TEST(Matmul, TheSameBitsInEveryRun) {
  constexpr int64_t kSize = 150, kDepth = 100000;
  std::mt19937 random(5);
  std::vector<float> a(kSize * kDepth / 50), b(a.size());
  for (float& x : a) x = Host<float>::random(random);
  for (float& x : b) x = Host<float>::random(random);
  const int64_t m = 3, n = 1, sa[3] = {0, kDepth, 1}, sb[3] = {0, 1, 1};
  std::set<std::vector<float>> results;
  for (int r = 0; r < 10; ++r) {
    std::vector<float> c(static_cast<size_t>(m * n));
    cpu::matmul(DType::f32, 1, m, n, kDepth, a.data(), sa, b.data(), sb, c.data());
    results.insert(c);
  }
  EXPECT_EQ(results.size(), 1U);
}

TEST(OpenBlas, KernelsSuitTheLevel) {
  EXPECT_STREQ(cpu::openblas_core(CpuLevel::v4), "SkylakeX");
  EXPECT_STREQ(cpu::openblas_core(CpuLevel::v3), "Haswell");
  EXPECT_STREQ(cpu::openblas_core(CpuLevel::baseline), "Prescott");
  EXPECT_TRUE(cpu::openblas_core_is_old("Prescott"));
  EXPECT_TRUE(cpu::openblas_core_is_old("Katmai"));
  EXPECT_FALSE(cpu::openblas_core_is_old("Zen"));
  // No processor with AVX2 is left with the kernels of 2004.
  if (cpu_level() >= CpuLevel::v3 && std::getenv("OPENBLAS_CORETYPE") == nullptr) {
    const size_t comma = cpu::openblas().description.rfind(", ");
    ASSERT_NE(comma, std::string::npos);
    EXPECT_FALSE(cpu::openblas_core_is_old(cpu::openblas().description.substr(comma + 2)));
  }
  EXPECT_NE(cpu::openblas_symbol("dgesdd_"), nullptr) << "LAPACK";
  EXPECT_EQ(cpu::openblas_symbol("no_such_routine_"), nullptr);
}

}  // namespace
}  // namespace bc
