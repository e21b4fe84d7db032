#include "backends/cpu/cpu_backend.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include "backends/cpu/capture.h"
#include "backends/cpu/jit_library.h"
#include "backends/cpu/library.h"
#include "backends/cpu/program.h"
#include "codegen/device_library.h"
#include "codegen/kernel_cache.h"
#include "core/error.h"
#include "primitives/user_op.h"
#include "runtime/parallel.h"

namespace bc {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kParallelBytes = size_t{1} << 20;
/// Chunks of at least this size are compared with the free memory: Linux would grant them and kill the process when it writes to them.
constexpr size_t kCheckedBytes = size_t{64} << 20;

using Entry = void (*)(const void* params, int64_t begin, int64_t end);

class CpuKernel final : public LoadedKernel {
 public:
  CpuKernel(cpu::JitLibrary::Object object, std::vector<Entry> entries) : object_(std::move(object)), entries(std::move(entries)) {}

 private:
  cpu::JitLibrary::Object object_;

 public:
  std::vector<Entry> entries;
};

bc_jit_flags flags_for(bool contract) { return {3, contract ? 1 : 0, 0}; }

/// Reads the number in a file, or in its line that begins with `name`; 0 if there is no number ("max").
uint64_t read_number(const char* path, std::string_view name = {}) {
  std::ifstream file(path);
  std::string word;
  uint64_t value = 0;
  if (name.empty()) return file >> value ? value : 0;
  while (file >> word) {
    if (word == name) return file >> value ? value : 0;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

bool overlaps(const void* a, const void* b, size_t bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a);
  const auto y = reinterpret_cast<uintptr_t>(b);
  return x < y + bytes && y < x + bytes;
}

/// Splits bytes evenly into one part per thread. The parts are large, so that memcpy and memset still use non-temporal stores.
int64_t byte_grain(size_t bytes) {
  const auto threads = static_cast<size_t>(cpu::thread_count());
  return static_cast<int64_t>(((bytes + threads - 1) / threads + kPage - 1) / kPage * kPage);
}

class CpuBackend final : public Backend {
 public:
  Device device() const override { return {DeviceType::cpu, 0}; }

  std::string device_name() const override {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
      if (line.starts_with("model name")) {
        const size_t at = line.find_first_not_of(" \t:", line.find(':'));
        if (at != std::string::npos) return line.substr(at);
      }
    }
    return "CPU";
  }

  void* allocate_chunk(size_t bytes) override {
    if (bytes == 0) bytes = 1;
    if (bytes > std::numeric_limits<size_t>::max() - 2 * kHugePage) return nullptr;
    if (bytes >= kCheckedBytes && bytes > memory_info().free) return nullptr;
    // A program whose arrays do not fit into one chunk will soon load or compile kernels. Smaller ones run the built-in loops, and many end
    // before the JIT library would be open, which their exit would wait for.
    if (has_chunk_.exchange(true)) kernel_cache_opened(*this);
    const size_t size = mapped_size(bytes);
    if (size < kHugePage) {
      void* chunk = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      return chunk == MAP_FAILED ? nullptr : chunk;
    }
    // Huge pages: far fewer page faults at first use, and fewer TLB misses later.
    const size_t padded = size + kHugePage;
    void* memory = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* begin = static_cast<char*>(memory);
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
    if (before > 0) munmap(begin, before);
    if (padded - before > size) munmap(begin + before + size, padded - before - size);
    madvise(begin + before, size, MADV_HUGEPAGE);
    return begin + before;
  }

  void free_chunk(void* chunk, size_t bytes) override {
    if (chunk != nullptr) munmap(chunk, mapped_size(std::max<size_t>(bytes, 1)));
  }

  MemoryInfo memory_info() override {
    MemoryInfo info;
    info.total = read_number("/proc/meminfo", "MemTotal:") * 1024;
    info.free = read_number("/proc/meminfo", "MemAvailable:") * 1024;
    // The container's memory limit; file pages that count towards it can be dropped.
    if (const uint64_t limit = read_number("/sys/fs/cgroup/memory.max"); limit > 0 && limit < info.total) {
      const uint64_t held = read_number("/sys/fs/cgroup/memory.current");
      const uint64_t files = read_number("/sys/fs/cgroup/memory.stat", "inactive_file");
      const uint64_t used = held > files ? held - files : 0;
      info.total = limit;
      info.free = std::min<size_t>(info.free, limit > used ? limit - used : 0);
    }
    return info;
  }

  std::string target() const override {
    // Without the compiler no object is compiled or loaded, so the name only has to be unique.
    if (!cpu::JitLibrary::available()) return "cpu without compiler";
    return "cpu " + cpu::JitLibrary::get().target(flags_for(false));
  }

  std::vector<char> compile(const KernelSource& source) override {
    // The header of users' functions is always the same, so it is precompiled.
    const std::string_view text = source.text, names = user_names();
    if (text.starts_with(names))
      return cpu::JitLibrary::get().compile(text.substr(names.size()), "kernel.cpp", flags_for(source.contract), names);
    return cpu::JitLibrary::get().compile(text, "kernel.cpp", flags_for(source.contract));
  }

  std::unique_ptr<LoadedKernel> load(std::span<const char> binary, std::span<const std::string> entries) override {
    cpu::JitLibrary& library = cpu::JitLibrary::get();
    auto object = library.load(binary);
    std::vector<Entry> found;
    for (const std::string& name : entries) {
      found.push_back(reinterpret_cast<Entry>(library.symbol(object, name)));
      BC_CHECK(found.back() != nullptr, Runtime, "load for the CPU: expected the entry point '{}', got an object file without it", name);
    }
    return std::make_unique<CpuKernel>(std::move(object), std::move(found));
  }

  std::shared_ptr<Program> open_program(const ProgramSource& source) override { return cpu::open_program(source); }

  void launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream) override {
    const auto& entries = static_cast<CpuKernel&>(kernel).entries;
    BC_CHECK(launch.entry >= 0 && static_cast<size_t>(launch.entry) < entries.size(), Runtime,
             "launch on the CPU: expected an entry below {}, got {}", entries.size(), launch.entry);
    const Entry entry = entries[static_cast<size_t>(launch.entry)];
    if (cpu::maybe_capturing() && cpu::capturing(stream)) [[unlikely]] {
      const auto* bytes = static_cast<const char*>(params);
      cpu::record(stream, [entry, items = launch.items, grain = launch.grain, copy = std::vector<char>(bytes, bytes + params_bytes)] {
        run(entry, items, grain, copy.data());
      });
      return;
    }
    run(entry, launch.items, launch.grain, params);
  }

  static void run(Entry entry, int64_t items, int64_t grain, const void* params) {
    if (items <= grain) [[likely]] {
      if (items > 0) entry(params, 0, items);
      return;
    }
    cpu::parallel_for(items, grain, [entry, params](int64_t begin, int64_t end) { entry(params, begin, end); });
  }

  void copy(void* dst, const void* src, size_t bytes, CopyKind, Stream stream) override {
    if (cpu::maybe_capturing() && cpu::record(stream, [=] { move(dst, src, bytes); })) [[unlikely]]
      return;
    move(dst, src, bytes);
  }

  static void move(void* dst, const void* src, size_t bytes) {
    if (bytes == 0 || dst == src) return;
    if (bytes < kParallelBytes) {
      std::memmove(dst, src, bytes);
    } else if (overlaps(dst, src, bytes)) {
      std::memmove(dst, src, bytes);
    } else {
      cpu::parallel_for(static_cast<int64_t>(bytes), byte_grain(bytes), [&](int64_t begin, int64_t end) {
        std::memcpy(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin, static_cast<size_t>(end - begin));
      });
    }
  }

  void fill(void* dst, int byte, size_t bytes, Stream stream) override {
    if (cpu::maybe_capturing() && cpu::record(stream, [=] { set(dst, byte, bytes); })) [[unlikely]]
      return;
    set(dst, byte, bytes);
  }

  static void set(void* dst, int byte, size_t bytes) {
    if (bytes == 0) return;
    if (bytes < kParallelBytes) {
      std::memset(dst, byte, bytes);
    } else {
      cpu::parallel_for(static_cast<int64_t>(bytes), byte_grain(bytes), [&](int64_t begin, int64_t end) {
        std::memset(static_cast<char*>(dst) + begin, byte, static_cast<size_t>(end - begin));
      });
    }
  }

  void synchronize(Stream) override {}

  void launch_host(Stream stream, std::function<void()> f) override {
    if (cpu::maybe_capturing() && cpu::record(stream, f)) return;
    f();
  }
  void begin_capture(Stream stream) override { cpu::begin_capture(stream); }
  std::unique_ptr<StreamGraph> end_capture(Stream stream) override { return cpu::end_capture(stream); }
  bool capturing(Stream stream) override { return cpu::capturing(stream); }
  bool record(Stream stream, std::function<void()> call) override { return cpu::record(stream, std::move(call)); }

  bool can_compile() const override {
    static const bool can = cpu::JitLibrary::available();
    return can;
  }

  int multiprocessors() const override { return cpu::thread_count(); }

 private:
  std::atomic<bool> has_chunk_{false};

  static size_t mapped_size(size_t bytes) {
    const size_t unit = bytes >= kHugePage ? kHugePage : kPage;
    return (bytes + unit - 1) / unit * unit;
  }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() {
  cpu::register_bodies();
  return std::make_unique<CpuBackend>();
}

}  // namespace bc
