#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/cuda_api.h"
#include "backends/cuda/cuda_libraries.h"
#include "backends/cuda/host_copy.h"
#include "backends/cuda/virtual_memory.h"
#include "runtime/backend.h"

namespace bc {

/// The properties of a device, read once.
struct CudaProperties {
  std::string name;
  std::string pci_bus_id;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int warp_size = 32;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  int shared_per_block = 0;        ///< bytes without opting in
  int shared_per_block_optin = 0;  ///< bytes that a launch may request by opting in
  int shared_per_multiprocessor = 0;
  int l2_bytes = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  int copy_engines = 0;
  size_t memory_bytes = 0;
  bool integrated = false;
  bool ecc = false;
  bool managed_memory = false;
  bool concurrent_managed_access = false;
  bool cooperative_launch = false;
  bool virtual_memory = false;
};

/// The kind of memory behind a pointer.
struct CudaPointerInfo {
  enum class Kind : uint8_t { Unknown, PinnedHost, Device, Managed };
  Kind kind = Kind::Unknown;  ///< Unknown: pageable host memory, or no memory at all
  int device = -1;
};

class CudaBackend;
class CudaGraph;

/// A kernel of one device. Made by CudaBackend::load.
class CudaKernel final : public LoadedKernel {
 public:
  ~CudaKernel() override;
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;

  cuda::CUfunction function(int entry) const { return current(entry).handle; }

  void replace(std::unique_ptr<LoadedKernel> better) override;

 private:
  friend class CudaBackend;
  struct Function {
    cuda::CUfunction handle = nullptr;
    size_t params_bytes = 0;                        // size of the only parameter; 0: not known
    std::atomic<unsigned> shared_limit{48u << 10};  // current limit of dynamic shared memory
    std::string name;
  };
  CudaKernel() = default;
  /// The function of the current code. Callers must take handle and limit from one call, because replace() may change the code between two
  /// calls.
  Function& current(int entry) const { return *code_.load(std::memory_order_acquire)->functions_[static_cast<size_t>(entry)]; }

  CudaBackend* backend_ = nullptr;
  cuda::CUmodule module_ = nullptr;
  std::vector<std::unique_ptr<Function>> functions_;
  std::unique_ptr<CudaKernel> better_;
  std::atomic<const CudaKernel*> code_{this};  // `better_` once it is set
};

/// One CUDA device. Its primary context is shared with the CUDA runtime, so PyTorch's and CuPy's memory and streams work here too.
class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int index);
  ~CudaBackend() override;

  // ---- Backend
  Device device() const override { return {DeviceType::cuda, index_}; }
  std::string device_name() const override { return properties_.name; }
  void* allocate_chunk(size_t bytes) override;
  void free_chunk(void* chunk, size_t bytes) override;
  MemoryInfo memory_info() override;
  size_t page_bytes() override { return virtual_memory_->page(); }
  void* reserve_addresses(size_t bytes) override;
  bool commit(void* at, size_t bytes) override;
  void decommit(void* at, size_t bytes) override;
  void keep_programs_loaded() override;
  std::string target() const override;
  std::vector<char> compile(const KernelSource& source) override;
  std::vector<char> compile_quick(const KernelSource& source) override;
  std::unique_ptr<LoadedKernel> load(std::span<const char> binary, std::span<const std::string> entries) override;
  std::shared_ptr<Program> open_program(const ProgramSource& source) override;
  void launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream) override;
  void copy(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) override;
  bool copy_async(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) override;
  void copy_from(Device source, void* dst, const void* src, size_t bytes, Stream stream) override;
  void fill(void* dst, int byte, size_t bytes, Stream stream) override;
  void synchronize(Stream stream) override;
  bool wait_for_reuse(Stream stream) override;
  bool wait_for_reuse() override;
  Stream create_stream(const StreamOptions& options) override;
  void destroy_stream(Stream stream) noexcept override;
  bool query(Stream stream) override;
  std::unique_ptr<StreamEvent> make_event(const EventOptions& options) override;
  void wait_event(Stream stream, const StreamEvent& event) override;
  void launch_host(Stream stream, std::function<void()> f) override;
  void begin_capture(Stream stream) override;
  std::unique_ptr<StreamGraph> end_capture(Stream stream) override;
  /// Ends a capture and returns the graph without instantiating it.
  CudaGraph take_graph(Stream stream);
  bool capturing(Stream stream) override;
  void* enter() override;
  void leave(void* before) noexcept override;
  std::pair<int, int> stream_priorities() override;
  bool runs_grids() const override { return true; }
  int multiprocessors() const override { return properties_.multiprocessors; }

  // ---- Device
  const CudaProperties& properties() const { return properties_; }
  /// Any CUdevice_attribute by its number in cuda.h.
  int attribute(int number) const;
  /// The device's UUID, "d4f0…-…"; empty with drivers that do not report it.
  std::string uuid() const;
  cuda::CUcontext context() const { return context_; }
  /// The architecture for which NVRTC compiles: "sm_90", or "compute_90" when NVRTC is older than the device.
  std::string arch() const;
  /// Makes the context current in the calling thread while the result lives. Every member function that calls the driver uses it.
  [[nodiscard]] cuda::CurrentContext make_current() const { return {context_, index_ == 0}; }
  /// Calls `release`, with the context current, after the work that is queued now: waits for it first, or defers the call while a capture
  /// forbids waiting.
  void release_after_work(std::function<void()> release) noexcept;

  // ---- Streams: non-blocking (they do not wait for the default stream); a higher priority is a smaller number.
  Stream create_stream(int priority = 0) { return create_stream(StreamOptions{true, priority}); }
  /// Makes work that is queued on `stream` from now on wait for the event.
  void wait_event(Stream stream, cuda::CUevent event);
  /// Calls `hook` with a stream's handle before destroy_stream destroys it.
  void on_stream_destroy(std::function<void(cuda::CUstream)> hook);

  // ---- Kernels
  /// A buffer for parameters that lack the tail padding of the kernel's struct.
  struct ParamsRoom {
    static constexpr size_t kLeast = 4096, kMost = 32764;  // what most_params() may be
    static constexpr size_t kPadding = 16;
    alignas(16) char bytes[kMost + kPadding];
  };
  /// The maximum size of a kernel's parameters in bytes: kLeast with drivers before CUDA 12.1 and devices before sm_70.
  size_t most_params() const;
  /// Returns `params` if it has all the bytes that the driver will read, else a copy in `room`. Throws when the sizes do not fit.
  const void* whole_params(const LoadedKernel& kernel, int entry, const void* params, size_t params_bytes, ParamsRoom& room) const;

  // ---- Other memory
  /// Allocates memory from and to which every device can copy.
  void* allocate_pinned(size_t bytes, bool write_combined = false) override;
  void free_pinned(void* memory) noexcept override;
  /// Page-locks memory that the caller owns.
  void register_host(void* memory, size_t bytes);
  void unregister_host(void* memory) noexcept;
  void* allocate_managed(size_t bytes) override;
  void* allocate_ordered(size_t bytes, Stream stream) override;
  void free_ordered(void* memory, size_t bytes, Stream stream) override;
  CudaPointerInfo pointer_info(const void* pointer) const;
  /// Whether an address is in a range of the pool, whose memory other processes cannot open.
  bool is_virtual(const void* pointer) const { return virtual_memory_->owns(pointer); }

  // ---- Other devices
  bool can_access(const CudaBackend& peer) const;
  /// Lets kernels of this device use `peer`'s memory. False when the machine cannot.
  bool enable_peer_access(const CudaBackend& peer);
  bool enable_peer_access(Device peer) override;
  /// Called after the program has disabled the access to `peer`.
  void forget_peer(Device peer);
  /// Copies between two devices, in the order of `stream`, which may belong to either.
  void copy_peer(void* dst, const CudaBackend& dst_device, const void* src, const CudaBackend& src_device, size_t bytes, Stream stream);

  /// Copies between host and device, for measurements.
  cuda::HostCopy& host_copy() { return host_copy_; }
  /// State of a library on this device (cuBLASLt's handle, workspaces); made by `make` at the first call.
  void* library_state(const char* name, const std::function<std::shared_ptr<void>()>& make);

 private:
  friend class CudaKernel;
  bool owns(cuda::CUstream stream) const;
  /// Lets another device access the memory of allocate_ordered.
  void grant_ordered(int device) const;
  void release_retired();
  void release_retired(std::vector<std::function<void()>> list);
  void raise_shared_limit(CudaKernel::Function& function, unsigned bytes) const;
  [[noreturn]] void raise_launch(cuda::CUresult result, const CudaKernel::Function& function, const Launch& launch) const;
  void launch_padded(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream);
  bool host_is_pinned(const void* pointer) const;
  void copy_captured(void* dst, const void* src, size_t bytes, CopyKind kind, cuda::CUstream queue);
  /// Retains the primary context; declared first, so that it is released after all members that use it.
  struct Primary {
    explicit Primary(int index);
    ~Primary();
    int device = 0;
    cuda::CUcontext context = nullptr;
  };

  const int index_;
  Primary primary_;
  const cuda::CUcontext context_;
  std::atomic<uint64_t> peers_{0};  ///< a bit for each device whose memory this one may access
  CudaProperties properties_;
  std::unique_ptr<VirtualMemory> virtual_memory_;
  cuda::HostCopy host_copy_;

  mutable std::shared_mutex streams_mutex_;
  std::vector<cuda::CUstream> streams_;
  std::vector<std::function<void(cuda::CUstream)>> stream_hooks_;

  std::atomic<int> captures_{0};  // number of captures that the engine has begun

  std::mutex retired_mutex_;
  std::vector<std::function<void()>> retired_;  ///< release functions that wait for the end of a capture

  std::mutex libraries_mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<void>>> libraries_;
  mutable std::once_flag arch_once_;
  mutable std::string arch_;
};

/// A native event. Destroying it is safe at any time, also at exit.
class CudaEvent {
 public:
  /// `timing`: for elapsed(); an event without timing is cheaper. `blocking`: wait() sleeps instead of spinning.
  explicit CudaEvent(CudaBackend& backend, bool timing = false, bool blocking = false, bool interprocess = false);
  /// Takes ownership of an event, such as one of another process.
  CudaEvent(CudaBackend& backend, cuda::CUevent event) : backend_(&backend), event_(event) {}
  ~CudaEvent();
  CudaEvent(CudaEvent&& other) noexcept : backend_(other.backend_), event_(std::exchange(other.event_, nullptr)), sleeps_(other.sleeps_) {}
  CudaEvent& operator=(CudaEvent&& other) noexcept;

  void record(Stream stream);
  bool query() const;
  void wait() const;
  /// Milliseconds from `start` to this event; both must have timing and be done.
  float elapsed(const CudaEvent& start) const;
  cuda::CUevent get() const { return event_; }

 private:
  CudaBackend* backend_;
  cuda::CUevent event_ = nullptr;
  bool sleeps_ = false;  ///< wait() sleeps instead of spinning
};

/// CudaEvent behind the engine's interface.
class CudaStreamEvent final : public StreamEvent {
 public:
  explicit CudaStreamEvent(CudaEvent event) : event_(std::move(event)) {}
  void record(Stream stream) override { event_.record(stream); }
  bool query() const override { return event_.query(); }
  void synchronize() const override { event_.wait(); }
  double elapsed(const StreamEvent& start) const override { return event_.elapsed(static_cast<const CudaStreamEvent&>(start).event_); }
  void* native() const override { return event_.get(); }

 private:
  CudaEvent event_;
};

/// Opens a device. Throws ErrorKind::Runtime when there is no driver or no such device.
std::unique_ptr<Backend> make_cuda_backend(int index);

/// Number of devices that can be used; 0 without driver or GPU. Never throws.
int cuda_device_count();

}  // namespace bc
