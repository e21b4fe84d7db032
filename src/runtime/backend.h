#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bc {

enum class DeviceType : uint8_t { cpu, cuda, null };
inline constexpr int kDeviceTypes = 3;

/// The properties of a device type that the engine tests, instead of comparing the type itself.
struct DeviceTraits {
  const char* name;
  const char* alias;   ///< another name that parse_device takes; nullptr: none
  bool asynchronous;   ///< work is queued and runs in parallel to the host; its memory is not host memory
  bool on_host;        ///< ops run on the processors that read arrays too: looking at elements costs no more than computing them
  bool composes;       ///< its bodies of transforms and sparse matrices are few: array ops make the others of them
  bool survives_fork;  ///< a forked child can use devices that the parent opened
};
inline constexpr DeviceTraits kDeviceTraits[kDeviceTypes] = {
    {.name = "cpu", .alias = nullptr, .asynchronous = false, .on_host = true, .composes = false, .survives_fork = true},
    {.name = "cuda", .alias = "gpu", .asynchronous = true, .on_host = false, .composes = true, .survives_fork = false},
    {.name = "null", .alias = nullptr, .asynchronous = false, .on_host = false, .composes = false, .survives_fork = true},
};
constexpr const DeviceTraits& traits(DeviceType type) { return kDeviceTraits[static_cast<int>(type)]; }

/// A device: `cpu`, `cuda:1`.
struct Device {
  DeviceType type = DeviceType::cpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};
constexpr const DeviceTraits& traits(Device device) { return traits(device.type); }

std::string to_string(Device device);

/// The type of device that a name means; nullopt where no type has it.
std::optional<DeviceType> device_type(std::string_view name);

/// Throws the error for a device that the parent process opened before it forked this one (DeviceTraits::survives_fork).
[[noreturn]] void raise_lost_in_fork(Device device);

/// A native queue of one device. `native` is a CUstream on CUDA (nullptr: the device's default stream) and unused on the CPU, where work
/// runs in the calling thread.
struct Stream {
  Device device;
  void* native = nullptr;
};

/// A compiled and loaded kernel. Destroying it unloads the module.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  /// Takes ownership of `better` and runs its code from the next launch on. Other threads may launch this kernel at the same time.
  virtual void replace(std::unique_ptr<LoadedKernel> better) { (void)better; }

  /// The kernel cache's entry while the code is from compile_quick, else null (kernel_cache_improve).
  std::atomic<void*> quick{nullptr};
  /// Set at the first launch from outside a plan: a second launch means that the kernel may be launched often.
  std::atomic<bool> launched{false};
};

/// The source text of kernels: C++ without #include. The backend puts the device library before it. CUDA text defines `extern "C"
/// __global__ void NAME(const Params p)`; CPU text defines `extern "C" void NAME(const Params* p, i64 begin, i64 end)`, one for each entry.
struct KernelSource {
  std::string text;
  std::vector<std::string> entries;  ///< names of the entry points; Launch::entry is an index into it
  bool contract = false;  ///< lets the compiler contract a * b + c (user kernels); array expressions keep the bits of plain execution
  bool quick = false;     ///< with BC_QUICK defined, the text is shorter and slower with the same results (Backend::compile_quick)
};

/// One launch of one entry point.
struct Launch {
  int entry = 0;
  // CPU: the half-open range [0, items) is cut into pieces of `grain` items, run on all threads. Pieces never share an item, and which
  // thread runs a piece does not change the result. items <= grain runs in the calling thread.
  int64_t items = 0;
  int64_t grain = 1;
  // CUDA
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
};

enum class CopyKind : uint8_t { HostToDevice, DeviceToHost, DeviceToDevice, HostToHost };

struct MemoryInfo {
  size_t free = 0;
  size_t total = 0;
};

struct StreamOptions {
  bool non_blocking = true;  ///< does not wait for the device's default stream
  int priority = 0;          ///< a smaller number runs first; see Backend::stream_priorities
};

struct EventOptions {
  bool timing = false;        ///< needed for elapsed(); an event without timing is cheaper
  bool blocking = false;      ///< synchronize() sleeps instead of spinning
  bool interprocess = false;  ///< another process may open the event
};

/// A point in a stream's order that streams and the host can wait for. Made by Backend::make_event; destroying it is safe at any time.
class StreamEvent {
 public:
  virtual ~StreamEvent() = default;
  /// Marks the work that is queued on the stream now. Earlier wait_event() calls keep waiting for the previous mark.
  virtual void record(Stream stream) = 0;
  /// True when the marked work is done or record() was never called.
  virtual bool query() const = 0;
  virtual void synchronize() const = 0;
  /// Milliseconds from `start` to this event; both need timing and must be done.
  virtual double elapsed(const StreamEvent& start) const = 0;
  /// The CUevent; nullptr elsewhere.
  virtual void* native() const { return nullptr; }
};

/// Work that was captured from a stream and can be launched repeatedly.
class StreamGraph {
 public:
  virtual ~StreamGraph() = default;
  virtual void launch(Stream stream) = 0;
  /// Uploads the graph's data to the device before the first launch.
  virtual void upload(Stream stream) = 0;
  virtual size_t node_count() const = 0;
};

struct ProgramSource;
class Program;

/// The interface of one device: memory, compilation and loading, launches and copies, ordering. There is one object for each device; it may
/// be called from several threads. Every failure throws bc::Error with the call's name and the driver's message.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Device device() const = 0;
  virtual std::string device_name() const = 0;

  // Memory: chunks for the pool (src/runtime/pool.h), aligned to 256 bytes; nullptr when the device has no more.
  virtual void* allocate_chunk(size_t bytes) = 0;
  virtual void free_chunk(void* chunk, size_t bytes) = 0;
  virtual MemoryInfo memory_info() = 0;
  /// Page-locked host memory, which copies use at full speed and kernels can use; nullptr when there is no more. Raises
  /// ErrorKind::NotImplemented where the device has none.
  virtual void* allocate_pinned(size_t bytes, bool write_combined);
  virtual void free_pinned(void* memory) noexcept {}
  /// Memory that migrates between host and device on demand; nullptr when there is no more. free_chunk frees it.
  virtual void* allocate_managed(size_t bytes) { return allocate_chunk(bytes); }
  /// Stream-ordered memory of the driver's own pool; nullptr when there is no more.
  virtual void* allocate_ordered(size_t bytes, Stream) { return allocate_chunk(bytes); }
  virtual void free_ordered(void* memory, size_t bytes, Stream) { free_chunk(memory, bytes); }

  // Virtual memory: addresses are reserved first and pages are mapped later, so that the pool's ranges grow in place and return unused
  // pages.
  /// The page size of commit and decommit (a power of two); 0: not supported, and the next three functions are not called.
  virtual size_t page_bytes() { return 0; }
  /// Reserves addresses without memory, aligned to a page, until the process ends; nullptr when none are left.
  virtual void* reserve_addresses(size_t bytes) { return nullptr; }
  /// Maps memory to whole pages of a reserved range. False when the device has no more memory.
  virtual bool commit(void* at, size_t bytes) { return false; }
  /// Unmaps the memory of one commit. No queued work may still use it (wait_for_reuse).
  virtual void decommit(void* at, size_t bytes) {}

  // Compile and load.
  /// Tells whether a compiler exists; without one, only the built-in loops run.
  virtual bool can_compile() const { return true; }
  /// From now on loaded programs are never unloaded: a graph may launch their kernels after the last owner released them.
  virtual void keep_programs_loaded() {}
  /// The name of the code's target and of the compiler with its version and flags, a part of the cache key ("sm_90 nvrtc-13.0").
  virtual std::string target() const = 0;
  /// Compiles to a cubin or an object file. Throws ErrorKind::Runtime with the compiler's log. Thread-safe.
  virtual std::vector<char> compile(const KernelSource& source) = 0;
  /// Compiles faster to slower code, for the first launches of a kernel; empty where the backend has no such mode.
  virtual std::vector<char> compile_quick(const KernelSource& source) {
    (void)source;
    return {};
  }
  virtual std::unique_ptr<LoadedKernel> load(std::span<const char> binary, std::span<const std::string> entries) = 0;

  /// Compiles (through kernel_cache_binary, so that a second process need not) and loads a user's program. Only load_program
  /// (runtime/program.h) calls it.
  virtual std::shared_ptr<Program> open_program(const ProgramSource& source);

  // Launch and copy, in the stream's order.
  virtual void launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream) = 0;
  /// DeviceToHost returns when the bytes are in `dst`; HostToDevice when `src` may be reused.
  virtual void copy(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) = 0;
  /// Like copy, but where the host memory is page-locked it returns true at once; that memory is then in use until the stream has executed
  /// the copy.
  virtual bool copy_async(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) {
    copy(dst, src, bytes, kind, stream);
    return false;
  }
  /// Copies memory of another device of the same type to this device, in the order of a stream of this device.
  virtual void copy_from(Device source, void* dst, const void* src, size_t bytes, Stream stream) {
    (void)source;
    copy(dst, src, bytes, CopyKind::DeviceToDevice, stream);
  }
  virtual void fill(void* dst, int byte, size_t bytes, Stream stream) = 0;

  // Ordering. The CPU runs work at once when it is queued: its streams are only names, and its events are only times.
  virtual void synchronize(Stream stream) = 0;
  /// Waits for a stream, or for the whole device, before memory that its work uses is reused. Failed work counts as finished. Returns false
  /// while a capture forbids to wait; the memory is then still in use.
  virtual bool wait_for_reuse(Stream stream) {
    synchronize(stream);
    return true;
  }
  virtual bool wait_for_reuse() { return true; }
  /// Creates a stream whose handle no other stream of the device has.
  virtual Stream create_stream(const StreamOptions& options);
  virtual void destroy_stream(Stream stream) noexcept {}
  /// True when all work queued on the stream is done.
  virtual bool query(Stream stream) { return true; }
  virtual std::unique_ptr<StreamEvent> make_event(const EventOptions& options);
  /// Makes work that is queued on `stream` from now on wait for the work that the event marks. The event may belong to another device.
  virtual void wait_event(Stream stream, const StreamEvent& event) {}
  /// Queues a call of `f`, which runs in some thread in the stream's order. `f` must not throw and must not call the device.
  virtual void launch_host(Stream stream, std::function<void()> f) { f(); }
  /// Until end_capture the stream's work is recorded into a graph instead of run. Copies from and to pageable host memory cannot be
  /// captured.
  virtual void begin_capture(Stream stream);
  virtual std::unique_ptr<StreamGraph> end_capture(Stream stream);
  virtual bool capturing(Stream stream) { return false; }
  /// For backends whose work is host calls: if the stream is being captured, adds `call` to the graph and returns true.
  virtual bool record(Stream stream, std::function<void()> call) { return false; }
  /// Lets kernels of this device access the memory of `peer`. False when they cannot.
  virtual bool enable_peer_access(Device peer) { return false; }
  /// Makes this device the thread's current device for other libraries of the process. leave() takes enter()'s result and restores the
  /// previous one.
  virtual void* enter() { return nullptr; }
  virtual void leave(void* before) noexcept {}
  /// {least, greatest} priority of streams, such as {0, -5}.
  virtual std::pair<int, int> stream_priorities() { return {0, 0}; }

  // Properties that the code generator needs.
  /// True: kernels are CUDA C++ for grids of threads. False: kernels are C++ functions over a range of items.
  virtual bool runs_grids() const { return false; }
  virtual int multiprocessors() const { return 1; }
};

/// The backend of a device; opens it at the first call. Throws ErrorKind::Runtime when there is no such device.
Backend& backend(Device device);

/// Number of devices of a type that can be used here (0 without driver or GPU); never throws.
int device_count(DeviceType type);

/// For its scope, makes a device the thread's current device for other libraries of the process (Backend::enter).
class CurrentDevice {
 public:
  explicit CurrentDevice(Backend& backend) : backend_(backend), before_(backend.enter()) {}
  ~CurrentDevice() { backend_.leave(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  Backend& backend_;
  void* const before_;
};

/// How the devices of one type are counted and opened.
struct BackendFactory {
  int (*count)();  ///< the number of usable devices; never throws
  std::unique_ptr<Backend> (*open)(int index);
};
/// Defined in src/backends/factories.cpp, the only file that knows every backend.
const BackendFactory& backend_factory(DeviceType type);

/// Waits until no other thread is opening a device: a driver that starts while the process exits could use state that its exit handlers
/// have destroyed.
void finish_opening();

}  // namespace bc
