#include "backends/null/null_backend.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include "core/error.h"

namespace bc {

namespace {

constexpr size_t kDefaultCapacity = size_t{1} << 40;

struct NullState {
  std::mutex mutex;
  std::vector<NullLaunch> launches;
  std::vector<NullCopy> copies;
  size_t synchronizations = 0;
  size_t compiles = 0;
  size_t capacity = kDefaultCapacity;
  std::string target = "null-cpu";
};

NullState& state() {
  static auto* all = new NullState;
  return *all;
}

struct NullKernel final : LoadedKernel {
  std::shared_ptr<const std::string> source;
  std::vector<std::string> entries;
};

class NullBackend final : public Backend {
 public:
  explicit NullBackend(int index) : index_(index) {}

  Device device() const override { return {DeviceType::null, index_}; }
  std::string device_name() const override { return "null device (runs nothing)"; }

  void* allocate_chunk(size_t bytes) override {
    {
      std::lock_guard lock(state().mutex);
      if (bytes > state().capacity || held_ > state().capacity - bytes) return nullptr;
      held_ += bytes;
    }
    void* chunk = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (chunk != MAP_FAILED) return chunk;
    std::lock_guard lock(state().mutex);
    held_ -= bytes;
    return nullptr;
  }

  void free_chunk(void* chunk, size_t bytes) override {
    munmap(chunk, bytes);
    std::lock_guard lock(state().mutex);
    held_ -= bytes;
  }

  MemoryInfo memory_info() override {
    std::lock_guard lock(state().mutex);
    const size_t total = state().capacity;
    return {total > held_ ? total - held_ : 0, total};
  }

  std::string target() const override {
    std::lock_guard lock(state().mutex);
    return state().target;
  }

  std::vector<char> compile(const KernelSource& source) override {
    std::lock_guard lock(state().mutex);
    ++state().compiles;
    return {source.text.begin(), source.text.end()};
  }

  std::unique_ptr<LoadedKernel> load(std::span<const char> binary, std::span<const std::string> entries) override {
    auto kernel = std::make_unique<NullKernel>();
    kernel->source = std::make_shared<const std::string>(binary.begin(), binary.end());
    kernel->entries.assign(entries.begin(), entries.end());
    return kernel;
  }

  void launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream) override {
    const auto& loaded = static_cast<const NullKernel&>(kernel);
    BC_CHECK(launch.entry >= 0 && static_cast<size_t>(launch.entry) < loaded.entries.size(), Runtime,
             "launch: entry {} asked for, the kernel has {}", launch.entry, loaded.entries.size());
    NullLaunch record;
    record.entry = loaded.entries[static_cast<size_t>(launch.entry)];
    record.device = device();
    record.stream = stream.native;
    record.items = launch.items;
    record.grain = launch.grain;
    for (int i = 0; i < 3; ++i) {
      record.grid[i] = launch.grid[i];
      record.block[i] = launch.block[i];
    }
    record.shared_bytes = launch.shared_bytes;
    record.params_bytes = params_bytes;
    const auto* bytes = static_cast<const std::byte*>(params);
    if (params_bytes) record.params.assign(bytes, bytes + params_bytes);
    record.source = loaded.source;
    std::lock_guard lock(state().mutex);
    state().launches.push_back(std::move(record));
  }

  void copy(void* dst, const void* src, size_t bytes, CopyKind kind, Stream) override {
    if (bytes) std::memmove(dst, src, bytes);
    std::lock_guard lock(state().mutex);
    state().copies.push_back({kind, device(), bytes});
  }

  void fill(void* dst, int byte, size_t bytes, Stream) override {
    if (bytes) std::memset(dst, byte, bytes);
  }

  void synchronize(Stream) override {
    std::lock_guard lock(state().mutex);
    ++state().synchronizations;
  }

 private:
  int index_;
  size_t held_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_null_backend(int index) { return std::make_unique<NullBackend>(index); }

std::vector<NullLaunch> null_log() {
  std::lock_guard lock(state().mutex);
  return state().launches;
}

std::vector<NullCopy> null_copies() {
  std::lock_guard lock(state().mutex);
  return state().copies;
}

size_t null_synchronizations() {
  std::lock_guard lock(state().mutex);
  return state().synchronizations;
}

size_t null_compiles() {
  std::lock_guard lock(state().mutex);
  return state().compiles;
}

void null_log_clear() {
  std::lock_guard lock(state().mutex);
  state().launches.clear();
  state().copies.clear();
  state().synchronizations = 0;
  state().compiles = 0;
}

void null_set_target(std::string target) {
  std::lock_guard lock(state().mutex);
  state().target = std::move(target);
}

void null_set_capacity(size_t bytes) {
  std::lock_guard lock(state().mutex);
  state().capacity = bytes ? bytes : kDefaultCapacity;
}

}  // namespace bc
