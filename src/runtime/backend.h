#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bc {

enum class DeviceType : uint8_t { cpu, cuda, null };
inline constexpr int kDeviceTypes = 3;

/// What the engine asks about a type of devices, instead of its name.
struct DeviceTraits {
  const char* name;
  bool asynchronous;   ///< work is queued and runs beside the host; the memory is not the host's
  bool survives_fork;  ///< a forked child can go on using devices that were opened before
};
inline constexpr DeviceTraits kDeviceTraits[kDeviceTypes] = {
    {.name = "cpu", .asynchronous = false, .survives_fork = true},
    {.name = "cuda", .asynchronous = true, .survives_fork = false},
    {.name = "null", .asynchronous = false, .survives_fork = true},
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
  /// Runs the code of `better` from the next launch on, and owns it. Other threads may launch this kernel meanwhile.
  virtual void replace(std::unique_ptr<LoadedKernel> better) { (void)better; }

  /// Not null while the code is of compile_quick: what the kernel cache knows it by (kernel_cache_improve).
  std::atomic<void*> quick{nullptr};
  /// Set by who launches it from outside a plan: what is launched again may be launched often.
  std::atomic<bool> launched{false};
};

/// What is compiled: C++ text that includes nothing. The backend puts the device library before it.
/// CUDA text defines `extern "C" __global__ void NAME(const Params p)`; CPU text defines
/// `extern "C" void NAME(const Params* p, i64 begin, i64 end)`, one for each entry.
struct KernelSource {
  std::string text;
  std::vector<std::string> entries;  ///< names of the entry points, in the order that Launch::entry counts
  bool contract = false;  ///< lets the compiler contract a * b + c (user kernels); array expressions keep the bits of plain execution
  bool quick = false;     ///< with BC_QUICK defined, it is shorter and slower and gives the same results (Backend::compile_quick)
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
  bool timing = false;        ///< for elapsed(); an event without is cheaper
  bool blocking = false;      ///< synchronize() sleeps instead of spinning
  bool interprocess = false;  ///< another process may open it
};

/// A point in a stream's order that streams and the host can wait for. Made by Backend::make_event; destroying it is safe at any time.
class StreamEvent {
 public:
  virtual ~StreamEvent() = default;
  /// Marks the work that is queued on the stream now; waits that were asked for before keep to the point they had.
  virtual void record(Stream stream) = 0;
  /// True when the marked work is done, or nothing was marked.
  virtual bool query() const = 0;
  virtual void synchronize() const = 0;
  /// Milliseconds from `start` to this event; both need timing and must be done.
  virtual double elapsed(const StreamEvent& start) const = 0;
  /// The CUevent; nullptr elsewhere.
  virtual void* native() const { return nullptr; }
};

/// Work that was captured from a stream, ready to run again and again.
class StreamGraph {
 public:
  virtual ~StreamGraph() = default;
  virtual void launch(Stream stream) = 0;
  /// Moves what the graph needs to the device before the first launch.
  virtual void upload(Stream stream) = 0;
  virtual size_t node_count() const = 0;
};

struct ProgramSource;
class Program;

/// The four small things a device must do: memory, compile and load, launch and copy, order. One object a device; safe to call from
/// several threads. Every failure throws bc::Error naming the call and the driver's own message.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Device device() const = 0;
  virtual std::string device_name() const = 0;

  // Memory: whole chunks for the pool (src/runtime/pool.h), aligned to 256 bytes. nullptr when the device has no more.
  virtual void* allocate_chunk(size_t bytes) = 0;
  virtual void free_chunk(void* chunk, size_t bytes) = 0;
  virtual MemoryInfo memory_info() = 0;
  /// Page-locked host memory, which copies use at full speed and kernels can use; nullptr when there is no more. Raises
  /// ErrorKind::NotImplemented where the device has none.
  virtual void* allocate_pinned(size_t bytes, bool write_combined);
  virtual void free_pinned(void* memory) noexcept {}
  /// Memory that moves between host and device on demand; nullptr when there is no more. free_chunk frees it.
  virtual void* allocate_managed(size_t bytes) { return allocate_chunk(bytes); }
  /// Memory of the driver's own pool, in a stream's order; nullptr when there is no more.
  virtual void* allocate_ordered(size_t bytes, Stream) { return allocate_chunk(bytes); }
  virtual void free_ordered(void* memory, size_t bytes, Stream) { free_chunk(memory, bytes); }

  // Memory whose addresses and pages are apart: ranges of the pool grow in place and give pages between used ones back.
  /// What commit and decommit count in (a power of two); 0: there is none, and the next three are not called.
  virtual size_t page_bytes() { return 0; }
  /// Addresses without memory, aligned to a page, for the rest of the process; nullptr when there are none.
  virtual void* reserve_addresses(size_t bytes) { return nullptr; }
  /// Puts memory behind whole pages of a reserved range. False when the device has no more.
  virtual bool commit(void* at, size_t bytes) { return false; }
  /// Takes back what one commit gave, which no queued work may use any more (wait_for_reuse).
  virtual void decommit(void* at, size_t bytes) {}

  // Compile and load.
  /// Tells whether there is a compiler here; without, only loops that are built in run.
  virtual bool can_compile() const { return true; }
  /// From now on loaded programs stay loaded: a graph may launch their kernels when nobody holds them any more.
  virtual void keep_programs_loaded() {}
  /// Names the code's target and the compiler with its version and flags: a part of the cache key ("sm_90 nvrtc-13.0").
  virtual std::string target() const = 0;
  /// Compiles to a cubin or an object file. Throws ErrorKind::Runtime with the compiler's log. Thread-safe.
  virtual std::vector<char> compile(const KernelSource& source) = 0;
  /// Code that runs slower and is compiled in less time, for the first launches of a kernel; empty where there is no such way.
  virtual std::vector<char> compile_quick(const KernelSource& source) {
    (void)source;
    return {};
  }
  virtual std::unique_ptr<LoadedKernel> load(std::span<const char> binary, std::span<const std::string> entries) = 0;

  /// Compiles (through kernel_cache_binary, so that a second process does not) and loads a user's program; see runtime/program.h, whose
  /// load_program is the one caller.
  virtual std::shared_ptr<Program> open_program(const ProgramSource& source);

  // Launch and copy, in the stream's order.
  virtual void launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream) = 0;
  /// DeviceToHost returns when the bytes are in `dst`; HostToDevice when `src` may be reused.
  virtual void copy(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) = 0;
  /// As copy, but where the host memory is page-locked it returns at once, true: that memory is in use until the stream has come there.
  virtual bool copy_async(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) {
    copy(dst, src, bytes, kind, stream);
    return false;
  }
  /// Copies memory of another device of the same type to this one's, in the order of a stream of this one.
  virtual void copy_from(Device source, void* dst, const void* src, size_t bytes, Stream stream) {
    (void)source;
    copy(dst, src, bytes, CopyKind::DeviceToDevice, stream);
  }
  virtual void fill(void* dst, int byte, size_t bytes, Stream stream) = 0;

  // Order. On the CPU work is done when it is queued: streams there are names, events are times.
  virtual void synchronize(Stream stream) = 0;
  /// Waits for a stream, or for all of the device, before memory that its work uses gets another owner. Work that failed has ended too.
  /// False, and the memory is still in use, while a capture forbids to wait.
  virtual bool wait_for_reuse(Stream stream) {
    synchronize(stream);
    return true;
  }
  virtual bool wait_for_reuse() { return true; }
  /// A queue of its own, with a handle that no other stream of the device has.
  virtual Stream create_stream(const StreamOptions& options);
  virtual void destroy_stream(Stream stream) noexcept {}
  /// True when all work queued on the stream is done.
  virtual bool query(Stream stream) { return true; }
  virtual std::unique_ptr<StreamEvent> make_event(const EventOptions& options);
  /// Work queued on `stream` from now on waits for what the event marks, which may be another device's.
  virtual void wait_event(Stream stream, const StreamEvent& event) {}
  /// Calls `f` in some thread when the stream has come there; `f` must not throw, nor call the device.
  virtual void launch_host(Stream stream, std::function<void()> f) { f(); }
  /// Until end_capture the stream's work is written down and not run. Copies from and to pageable host memory cannot be captured.
  virtual void begin_capture(Stream stream);
  virtual std::unique_ptr<StreamGraph> end_capture(Stream stream);
  virtual bool capturing(Stream stream) { return false; }
  /// Writes a call down, true, where the stream is captured and its work are calls of the host.
  virtual bool record(Stream stream, std::function<void()> call) { return false; }
  /// Lets kernels of this device use another one's memory. False when they cannot.
  virtual bool enable_peer_access(Device peer) { return false; }
  /// Makes this the device that other libraries of the process find current in this thread; leave() with what enter() gave undoes it.
  virtual void* enter() { return nullptr; }
  virtual void leave(void* before) noexcept {}
  /// {least, greatest} priority of streams, such as {0, -5}.
  virtual std::pair<int, int> stream_priorities() { return {0, 0}; }

  // Facts that the code generator asks for.
  /// Kernels are CUDA C++ for grids of threads; else C++ functions over a range of items.
  virtual bool runs_grids() const { return false; }
  virtual int multiprocessors() const { return 1; }
};

/// The backend of a device; opens it at the first call. Throws ErrorKind::Runtime when there is no such device.
Backend& backend(Device device);

/// Number of devices of a type that can be used here (0 without driver or GPU); never throws.
int device_count(DeviceType type);

/// For a scope a device is the one that other libraries of the process find current in this thread.
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

/// How the devices of one type are found and opened.
struct BackendFactory {
  int (*count)();  ///< devices that can be used; never throws
  std::unique_ptr<Backend> (*open)(int index);
};
/// Defined in src/backends/factories.cpp, the one place that knows every backend.
const BackendFactory& backend_factory(DeviceType type);

/// Waits until no other thread is opening a device: a driver that starts while the process ends would find its own state gone.
void finish_opening();

}  // namespace bc
