#include "backends/null/null_backend.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "codegen/device_library.h"
#include "core/error.h"
#include "primitives/library_op.h"
#include "runtime/program.h"

namespace bc {

namespace {

constexpr size_t kDefaultCapacity = size_t{1} << 40;

struct NullState {
  std::mutex mutex;
  std::vector<NullLaunch> launches;
  std::vector<NullCopy> copies;
  std::vector<NullOrder> order;
  int marks = 0;
  size_t synchronizations = 0;
  size_t compiles = 0;
  std::vector<KernelSource> sources;
  size_t capacity = kDefaultCapacity;
  size_t page = 0;
  int fail_launch = -1, fail_copy = -1;
  bool runs = false;
  std::vector<void*> captured;
  std::function<void()> on_commit;
  std::string target = "null-cpu";
};

NullState& state() {
  static auto* all = new NullState;
  return *all;
}

/// The part of the device library that joins values of a block's threads, which the library declares only for CUDA.
const std::string& joins_of_threads() {
  static const std::string text = [] {
    const std::string_view library(kDeviceLibrary, kDeviceLibrarySize);
    const size_t begin = library.find("template <class Red, class Index> BC_INLINE typename Red::S block_moments(");
    BC_CHECK(begin != std::string_view::npos, Runtime, "null device: the device library has no block_moments");
    return "namespace bc {\n" + std::string(library.substr(begin, library.find("#endif", begin) - begin)) + "}\n";
  }();
  return text;
}

struct NullKernel final : LoadedKernel {
  void replace(std::unique_ptr<LoadedKernel> better) override {
    better_.reset(static_cast<NullKernel*>(better.release()));
    code.store(better_.get(), std::memory_order_release);
  }

  std::shared_ptr<const std::string> source;
  std::vector<std::string> entries;
  std::atomic<const NullKernel*> code{this};  ///< the code that a launch runs

 private:
  std::unique_ptr<NullKernel> better_;
};

/// A kernel of a user's program: a launch only records the grid. Its parameters are not known.
class NullProgramKernel final : public ProgramKernel {
 public:
  NullProgramKernel(Device device, std::string name, std::shared_ptr<const std::string> source)
      : device_(device), name_(std::move(name)), source_(std::move(source)) {}
  std::span<const uint32_t> parameter_bytes() const override { return {}; }
  void launch(const KernelLaunch& launch, void**, Stream stream) override {
    NullLaunch record;
    record.entry = name_;
    record.device = device_;
    record.stream = stream.native;
    for (int i = 0; i < 3; ++i) {
      BC_CHECK(launch.grid[i] && launch.block[i], Value, "kernel {}: expected a grid and a block without zeros", name_);
      record.grid[i] = launch.grid[i];
      record.block[i] = launch.block[i];
    }
    record.shared_bytes = launch.shared_bytes;
    record.source = source_;
    std::lock_guard lock(state().mutex);
    state().launches.push_back(std::move(record));
    state().order.push_back({NullOrder::Kind::launch, device_, stream.native, 0});
  }
  int attribute(int number) const override {
    std::lock_guard lock(mutex_);
    const auto known = attributes_.find(number);
    return known != attributes_.end() ? known->second : number == 0 ? 1024 : 0;
  }
  void set_attribute(int number, int value) override {
    std::lock_guard lock(mutex_);
    attributes_[number] = value;
  }
  int max_active_blocks(int, size_t) const override { return 1; }
  std::pair<int, int> best_block(size_t) const override { return {1, 256}; }

 private:
  const Device device_;
  const std::string name_;
  const std::shared_ptr<const std::string> source_;
  mutable std::mutex mutex_;
  std::unordered_map<int, int> attributes_;
};

class NullProgram final : public Program {
 public:
  NullProgram(Device device, const ProgramSource& source)
      : device_(device), source_(std::make_shared<const std::string>(source.text)), expressions_(source.name_expressions) {}
  ProgramKernel& kernel(std::string_view name, std::string_view shown) override {
    std::lock_guard lock(mutex_);
    const std::string key(name);
    BC_CHECK(source_->find(key) != std::string::npos || std::find(expressions_.begin(), expressions_.end(), key) != expressions_.end(),
             Attribute, "there is no kernel '{}'", key);
    auto& place = kernels_[key];
    if (!place) place = std::make_unique<NullProgramKernel>(device_, shown.empty() ? key : std::string(shown), source_);
    return *place;
  }
  std::pair<void*, size_t> variable(std::string_view name) override {
    raise(ErrorKind::Attribute, "{}: the null device has no memory for the variable '{}'", to_string(device_), name);
  }
  const std::string& log() const override { return log_; }

 private:
  const Device device_;
  const std::shared_ptr<const std::string> source_;
  const std::vector<std::string> expressions_;
  const std::string log_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<NullProgramKernel>> kernels_;
};

/// Stores the number of its last record in the log.
class NullEvent final : public StreamEvent {
 public:
  void record(Stream stream) override {
    std::lock_guard lock(state().mutex);
    mark_ = ++state().marks;
    at_ = state().order.size();
    state().order.push_back({NullOrder::Kind::record, stream.device, stream.native, mark_});
  }
  bool query() const override { return true; }
  void synchronize() const override {}
  double elapsed(const StreamEvent& start) const override {
    return static_cast<double>(at_) - static_cast<double>(static_cast<const NullEvent&>(start).at_);
  }
  int mark() const { return mark_; }

 private:
  int mark_ = 0;
  size_t at_ = 0;
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

  size_t page_bytes() override {
    std::lock_guard lock(state().mutex);
    return state().page;
  }
  void* reserve_addresses(size_t bytes) override {
    void* range = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return range == MAP_FAILED ? nullptr : range;
  }
  bool commit(void* at, size_t bytes) override {
    std::unique_lock lock(state().mutex);
    if (const std::function<void()> f = state().on_commit) {
      lock.unlock();
      f();
      lock.lock();
    }
    const bool twice = committed_.count(at) > 0;
    BC_CHECK(!twice && bytes > 0 && bytes % state().page == 0, Runtime, "null device: commit of {} bytes at {}", bytes, at);
    if (bytes > state().capacity || held_ > state().capacity - bytes) return false;
    held_ += bytes;
    committed_[at] = bytes;
    mprotect(at, bytes, PROT_READ | PROT_WRITE);
    return true;
  }
  void decommit(void* at, size_t bytes) override {
    std::lock_guard lock(state().mutex);
    const auto piece = committed_.find(at);
    BC_CHECK(piece != committed_.end() && piece->second == bytes, Runtime, "null device: decommit of {} bytes at {}", bytes, at);
    committed_.erase(piece);
    held_ -= bytes;
    madvise(at, bytes, MADV_DONTNEED);
    mprotect(at, bytes, PROT_NONE);
  }

  std::string target() const override {
    std::lock_guard lock(state().mutex);
    return state().target;
  }

  bool runs_grids() const override { return target().find("cuda") != std::string::npos; }

  std::vector<char> compile(const KernelSource& source) override {
    std::lock_guard lock(state().mutex);
    ++state().compiles;
    state().sources.push_back(source);
    return {source.text.begin(), source.text.end()};
  }

  std::vector<char> compile_quick(const KernelSource& source) override {
    if (!source.quick) return {};
    const std::string text = "#define BC_QUICK\n" + source.text;
    return {text.begin(), text.end()};
  }

  std::unique_ptr<LoadedKernel> load(std::span<const char> binary, std::span<const std::string> entries) override {
    auto kernel = std::make_unique<NullKernel>();
    kernel->source = std::make_shared<const std::string>(binary.begin(), binary.end());
    kernel->entries.assign(entries.begin(), entries.end());
    return kernel;
  }

  void launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream) override {
    const NullKernel& loaded = *static_cast<const NullKernel&>(kernel).code.load(std::memory_order_acquire);
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
    std::unique_lock lock(state().mutex);
    BC_CHECK(state().fail_launch < 0 || state().fail_launch-- > 0, Runtime, "null device: the launch of {} fails, as asked", record.entry);
    const bool runs = state().runs && state().target == "null-cuda";
    state().launches.push_back(std::move(record));
    state().order.push_back({NullOrder::Kind::launch, device(), stream.native, 0});
    lock.unlock();
    if (runs) run(loaded, launch, params);
  }

  /// Runs a CUDA kernel as a CUDA C++ program on the CPU, with the null device's memory.
  static void run(const NullKernel& loaded, const Launch& launch, const void* params) {
    ProgramSource source;
    source.text = joins_of_threads() + *loaded.source;
    source.device_library = true;
    source.options = {"--fmad=false"};
    KernelLaunch shape;
    std::copy_n(launch.grid, 3, shape.grid);
    std::copy_n(launch.block, 3, shape.block);
    shape.shared_bytes = launch.shared_bytes;
    void* arguments[] = {const_cast<void*>(params), nullptr};
    load_program({DeviceType::cpu, 0}, source)->kernel(loaded.entries[static_cast<size_t>(launch.entry)]).launch(shape, arguments, {});
  }

  std::shared_ptr<Program> open_program(const ProgramSource& source) override {
    {
      std::lock_guard lock(state().mutex);
      ++state().compiles;
    }
    return std::make_shared<NullProgram>(device(), source);
  }

  void copy(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) override {
    {
      std::lock_guard lock(state().mutex);
      BC_CHECK(state().fail_copy < 0 || state().fail_copy-- > 0, Runtime, "null device: a copy of {} bytes fails, as asked", bytes);
    }
    if (bytes) std::memmove(dst, src, bytes);
    std::lock_guard lock(state().mutex);
    state().copies.push_back({kind, device(), bytes});
    state().order.push_back({NullOrder::Kind::copy, device(), stream.native, 0});
  }

  void fill(void* dst, int byte, size_t bytes, Stream stream) override {
    if (bytes) std::memset(dst, byte, bytes);
    std::lock_guard lock(state().mutex);
    state().order.push_back({NullOrder::Kind::fill, device(), stream.native, 0});
  }

  void synchronize(Stream stream) override {
    std::lock_guard lock(state().mutex);
    ++state().synchronizations;
    state().order.push_back({NullOrder::Kind::synchronize, device(), stream.native, 0});
  }

  bool wait_for_reuse(Stream stream) override {
    {
      std::lock_guard lock(state().mutex);
      const std::vector<void*>& captured = state().captured;
      if (std::find(captured.begin(), captured.end(), stream.native) != captured.end()) return false;
    }
    synchronize(stream);
    return true;
  }
  bool wait_for_reuse() override {
    std::lock_guard lock(state().mutex);
    return state().captured.empty();
  }

  std::unique_ptr<StreamEvent> make_event(const EventOptions&) override { return std::make_unique<NullEvent>(); }

  bool enable_peer_access(Device peer) override { return peer.type == DeviceType::null; }
  void wait_event(Stream stream, const StreamEvent& event) override {
    std::lock_guard lock(state().mutex);
    state().order.push_back({NullOrder::Kind::wait, device(), stream.native, static_cast<const NullEvent&>(event).mark()});
  }

 private:
  int index_;
  size_t held_ = 0;
  std::unordered_map<void*, size_t> committed_;
};

}  // namespace

void register_null_bodies() {
  for (int kind = 0; kind < kLibraryKinds; ++kind)
    register_body(DeviceType::null, static_cast<LibraryKind>(kind), [](const LibraryExtra&, const LibraryContext&) {});
}

std::unique_ptr<Backend> make_null_backend(int index) {
  static std::once_flag once;
  std::call_once(once, register_null_bodies);
  return std::make_unique<NullBackend>(index);
}

std::vector<NullLaunch> null_log() {
  std::lock_guard lock(state().mutex);
  return state().launches;
}

std::vector<NullCopy> null_copies() {
  std::lock_guard lock(state().mutex);
  return state().copies;
}

std::vector<NullOrder> null_order() {
  std::lock_guard lock(state().mutex);
  return state().order;
}

size_t null_synchronizations() {
  std::lock_guard lock(state().mutex);
  return state().synchronizations;
}

size_t null_compiles() {
  std::lock_guard lock(state().mutex);
  return state().compiles;
}

std::vector<KernelSource> null_sources() {
  std::lock_guard lock(state().mutex);
  return state().sources;
}

void null_log_clear() {
  std::lock_guard lock(state().mutex);
  state().launches.clear();
  state().copies.clear();
  state().order.clear();
  state().marks = 0;
  state().synchronizations = 0;
  state().compiles = 0;
  state().sources.clear();
}

void null_set_target(std::string target) {
  std::lock_guard lock(state().mutex);
  state().target = std::move(target);
}

void null_run(bool on) {
  std::lock_guard lock(state().mutex);
  state().runs = on;
}

void null_set_capacity(size_t bytes) {
  std::lock_guard lock(state().mutex);
  state().capacity = bytes ? bytes : kDefaultCapacity;
}

void null_fail_launch(int number) {
  std::lock_guard lock(state().mutex);
  state().fail_launch = number;
}

void null_fail_copy(int number) {
  std::lock_guard lock(state().mutex);
  state().fail_copy = number;
}

void null_set_pages(size_t bytes) {
  std::lock_guard lock(state().mutex);
  state().page = bytes;
}

void null_set_captured(std::vector<void*> streams) {
  std::lock_guard lock(state().mutex);
  state().captured = std::move(streams);
}

void null_on_commit(std::function<void()> f) {
  std::lock_guard lock(state().mutex);
  state().on_commit = std::move(f);
}

}  // namespace bc
