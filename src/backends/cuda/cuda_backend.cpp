#include "backends/cuda/cuda_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cuda/cubin.h"
#include "backends/cuda/graph.h"
#include "backends/cuda/library.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/program.h"
#include "backends/cuda/wait.h"
#include "runtime/host_wait.h"
#include "runtime/interrupt.h"

namespace bc {

using cuda::check;
using cuda::CUcontext;
using cuda::CUdeviceptr;
using cuda::CUevent;
using cuda::CUfunction;
using cuda::CUresult;
using cuda::CUstream;
using cuda::DeviceAttribute;
using cuda::driver;
using cuda::driver_gone;
using cuda::kSuccess;

namespace {

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
CUstream native(Stream stream) { return static_cast<CUstream>(stream.native); }
const CudaKernel& cuda_kernel(const LoadedKernel& kernel) { return static_cast<const CudaKernel&>(kernel); }

}  // namespace

void CudaBackend::keep_programs_loaded() { cuda::keep_programs_loaded(); }

int cuda_device_count() { return cuda::device_count(); }

std::unique_ptr<Backend> make_cuda_backend(int index) {
  cuda::register_bodies();
  return std::make_unique<CudaBackend>(index);
}

// ---- Opening ------------------------------------------------------------------------------------------------------------------------

CudaBackend::Primary::Primary(int index) {
  if (!cuda::driver_available()) raise(ErrorKind::Runtime, "cuda:{}: {}", index, cuda::driver_problem());
  cuda::check_process();
  int count = cuda::device_count();
  BC_CHECK(index >= 0 && index < count, Runtime, "cuda:{}: expected a device below {}, got {}", index, count, index);
  cuda::start_compiler(index);
  BC_DRIVER(cuDeviceGet, &device, index);
  BC_DRIVER(cuDevicePrimaryCtxRetain, &context, device);
}

CudaBackend::Primary::~Primary() {
  if (context && !driver_gone()) driver().cuDevicePrimaryCtxRelease(device);
}

CudaBackend::CudaBackend(int index) : index_(index), primary_(index), context_(primary_.context), host_copy_(context_) {
  const auto current = make_current();
  CudaProperties& p = properties_;
  char text[256] = {};
  BC_DRIVER(cuDeviceGetName, text, sizeof(text), primary_.device);
  p.name = text;
  BC_DRIVER(cuDeviceGetPCIBusId, text, sizeof(text), primary_.device);
  p.pci_bus_id = text;
  BC_DRIVER(cuDeviceTotalMem, &p.memory_bytes, primary_.device);
  // An attribute that the driver does not know stays zero.
  auto read = [&](DeviceAttribute which) {
    int value = 0;
    return driver().cuDeviceGetAttribute(&value, static_cast<int>(which), primary_.device) == kSuccess ? value : 0;
  };
  p.compute_major = read(DeviceAttribute::ComputeCapabilityMajor);
  p.compute_minor = read(DeviceAttribute::ComputeCapabilityMinor);
  p.multiprocessors = read(DeviceAttribute::MultiprocessorCount);
  p.warp_size = read(DeviceAttribute::WarpSize);
  p.max_threads_per_block = read(DeviceAttribute::MaxThreadsPerBlock);
  p.max_threads_per_multiprocessor = read(DeviceAttribute::MaxThreadsPerMultiprocessor);
  p.max_blocks_per_multiprocessor = read(DeviceAttribute::MaxBlocksPerMultiprocessor);
  p.registers_per_multiprocessor = read(DeviceAttribute::MaxRegistersPerMultiprocessor);
  p.shared_per_block = read(DeviceAttribute::MaxSharedPerBlock);
  p.shared_per_block_optin = read(DeviceAttribute::MaxSharedPerBlockOptin);
  p.shared_per_multiprocessor = read(DeviceAttribute::MaxSharedPerMultiprocessor);
  p.l2_bytes = read(DeviceAttribute::L2CacheSize);
  p.clock_khz = read(DeviceAttribute::ClockRate);
  p.memory_clock_khz = read(DeviceAttribute::MemoryClockRate);
  p.memory_bus_bits = read(DeviceAttribute::MemoryBusWidth);
  p.copy_engines = read(DeviceAttribute::AsyncEngineCount);
  p.integrated = read(DeviceAttribute::Integrated) != 0;
  p.ecc = read(DeviceAttribute::EccEnabled) != 0;
  p.managed_memory = read(DeviceAttribute::ManagedMemory) != 0;
  p.concurrent_managed_access = read(DeviceAttribute::ConcurrentManagedAccess) != 0;
  p.cooperative_launch = read(DeviceAttribute::CooperativeLaunch) != 0;
  p.virtual_memory = read(DeviceAttribute::VirtualMemoryManagement) != 0;
  virtual_memory_ = std::make_unique<VirtualMemory>(primary_.device, p.virtual_memory);
}

CudaBackend::~CudaBackend() {
  if (driver_gone()) {
    for (auto& [name, state] : libraries_) new std::shared_ptr<void>(std::move(state));  // leaked, because their destructors call CUDA
    return;
  }
  const auto current = make_current();
  driver().cuCtxSynchronize();
  libraries_.clear();
  for (CUstream stream : streams_) driver().cuStreamDestroy(stream);
}

void* CudaBackend::enter() {
  cuda::check_process();
  CUcontext before = nullptr;
  BC_DRIVER(cuCtxGetCurrent, &before);
  if (before != context_) [[unlikely]]
    BC_DRIVER(cuCtxSetCurrent, context_);
  // A thread without a context would get the first device's context from CUDA's runtime.
  return before || index_ != 0 ? before : context_;
}

void CudaBackend::leave(void* before) noexcept {
  if (before != context_ && !driver_gone()) [[unlikely]]
    driver().cuCtxSetCurrent(static_cast<CUcontext>(before));
}

int CudaBackend::attribute(int number) const {
  cuda::check_process();
  int value = 0;
  BC_DRIVER(cuDeviceGetAttribute, &value, number, primary_.device);
  return value;
}

std::string CudaBackend::uuid() const {
  cuda::check_process();
  unsigned char bytes[16] = {};
  if (!driver().cuDeviceGetUuid || driver().cuDeviceGetUuid(bytes, primary_.device) != kSuccess) return "";
  std::string text;
  for (int i = 0; i < 16; ++i) text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
  return text;
}

// ---- Memory -------------------------------------------------------------------------------------------------------------------------

void* CudaBackend::allocate_chunk(size_t bytes) {
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  CUdeviceptr chunk = 0;
  CUresult result = driver().cuMemAlloc(&chunk, std::max<size_t>(bytes, 1));
  if (result == cuda::kErrorOutOfMemory) return nullptr;
  if (result != kSuccess) cuda::detail::raise_driver(result, "cuMemAlloc", fmt::format("{} bytes on cuda:{}", bytes, index_));
  return reinterpret_cast<void*>(chunk);
}

void CudaBackend::free_chunk(void* chunk, size_t) {
  if (!chunk || driver_gone()) return;
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  CUresult result = driver().cuMemFree(address(chunk));
  // Destructors free pool memory, and a lost context has lost its memory too: so only a wrong pointer, the caller's mistake, is an error.
  if (result == cuda::kErrorInvalidValue) check(result, "cuMemFree");
}

void* CudaBackend::reserve_addresses(size_t bytes) {
  const auto current = make_current();
  return virtual_memory_->reserve(bytes);
}

bool CudaBackend::commit(void* at, size_t bytes) {
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  return virtual_memory_->commit(at, bytes);
}

void CudaBackend::decommit(void* at, size_t bytes) {
  if (driver_gone()) return;
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  virtual_memory_->decommit(at, bytes);
}

MemoryInfo CudaBackend::memory_info() {
  const auto current = make_current();
  MemoryInfo info;
  BC_DRIVER(cuMemGetInfo, &info.free, &info.total);
  return info;
}

void* CudaBackend::allocate_pinned(size_t bytes, bool write_combined) {
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  void* memory = nullptr;
  unsigned flags = cuda::kHostAllocPortable | cuda::kHostAllocDeviceMap | (write_combined ? cuda::kHostAllocWriteCombined : 0u);
  CUresult result = driver().cuMemHostAlloc(&memory, std::max<size_t>(bytes, 1), flags);
  if (result == cuda::kErrorOutOfMemory) return nullptr;
  check(result, "cuMemHostAlloc");
  return memory;
}

void CudaBackend::free_pinned(void* memory) noexcept {
  if (!memory) return;
  cuda::unless_gone([&] {
    const auto current = make_current();
    const cuda::RelaxedCapture relaxed;
    driver().cuMemFreeHost(memory);
  });
}

void CudaBackend::register_host(void* memory, size_t bytes) {
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  BC_DRIVER(cuMemHostRegister, memory, bytes, cuda::kHostRegisterPortable | cuda::kHostRegisterDeviceMap);
}

void CudaBackend::unregister_host(void* memory) noexcept {
  if (!memory) return;
  cuda::unless_gone([&] {
    const auto current = make_current();
    const cuda::RelaxedCapture relaxed;
    driver().cuMemHostUnregister(memory);
  });
}

void* CudaBackend::allocate_managed(size_t bytes) {
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  CUdeviceptr memory = 0;
  CUresult result = driver().cuMemAllocManaged(&memory, std::max<size_t>(bytes, 1), cuda::kMemAttachGlobal);
  if (result == cuda::kErrorOutOfMemory) return nullptr;
  check(result, "cuMemAllocManaged");
  return reinterpret_cast<void*>(memory);
}

void* CudaBackend::allocate_ordered(size_t bytes, Stream stream) {
  const auto current = make_current();
  BC_CHECK(driver().cuMemAllocAsync, Runtime, "cuMemAllocAsync: the driver is older than CUDA 11.2");
  CUdeviceptr memory = 0;
  CUresult result = driver().cuMemAllocAsync(&memory, std::max<size_t>(bytes, 1), native(stream));
  if (result == cuda::kErrorOutOfMemory) return nullptr;
  check(result, "cuMemAllocAsync");
  return reinterpret_cast<void*>(memory);
}

void CudaBackend::free_ordered(void* memory, size_t, Stream stream) {
  if (!memory || driver_gone()) return;
  const auto current = make_current();
  BC_DRIVER(cuMemFreeAsync, address(memory), native(stream));
}

void CudaBackend::grant_ordered(int device) const {
  const cuda::DriverApi& api = driver();
  int pools = 0;
  if (!api.cuDeviceGetMemPool || !api.cuMemPoolSetAccess ||
      api.cuDeviceGetAttribute(&pools, static_cast<int>(DeviceAttribute::MemoryPoolsSupported), primary_.device) != kSuccess || !pools)
    return;
  cuda::CUmemoryPool pool = nullptr;
  BC_DRIVER(cuDeviceGetMemPool, &pool, primary_.device);
  const cuda::CUmemAccessDesc access = {{cuda::kMemLocationDevice, device}, cuda::kMemAccessReadWrite};
  BC_DRIVER(cuMemPoolSetAccess, pool, &access, 1);
}

CudaPointerInfo CudaBackend::pointer_info(const void* pointer) const {
  const auto current = make_current();
  CudaPointerInfo info;
  int type = 0;
  // Pageable memory is "invalid value" to the driver, or has no type.
  if (driver().cuPointerGetAttribute(&type, cuda::kPointerMemoryType, address(pointer)) != kSuccess || type == 0) return info;
  unsigned managed = 0;
  driver().cuPointerGetAttribute(&managed, cuda::kPointerIsManaged, address(pointer));
  if (managed)
    info.kind = CudaPointerInfo::Kind::Managed;
  else
    info.kind = type == cuda::kMemoryTypeHost ? CudaPointerInfo::Kind::PinnedHost : CudaPointerInfo::Kind::Device;
  int device = -1;
  if (driver().cuPointerGetAttribute(&device, cuda::kPointerDeviceOrdinal, address(pointer)) == kSuccess) info.device = device;
  return info;
}

bool CudaBackend::host_is_pinned(const void* pointer) const {
  int type = 0;
  return driver().cuPointerGetAttribute(&type, cuda::kPointerMemoryType, address(pointer)) == kSuccess && type != 0;
}

// ---- Compile and load ---------------------------------------------------------------------------------------------------------------

std::string CudaBackend::arch() const {
  std::call_once(arch_once_, [this] { arch_ = cuda::arch_for(properties_.compute_major, properties_.compute_minor); });
  return arch_;
}

std::string CudaBackend::target() const { return cuda::target_for(arch()); }

std::vector<char> CudaBackend::compile(const KernelSource& source) { return cuda::compile_for(source, arch()); }

std::vector<char> CudaBackend::compile_quick(const KernelSource& source) {
  return source.quick ? cuda::compile_for(source, arch(), true) : std::vector<char>();
}

void CudaKernel::replace(std::unique_ptr<LoadedKernel> better) {
  better_.reset(static_cast<CudaKernel*>(better.release()));
  code_.store(better_.get(), std::memory_order_release);
}

std::unique_ptr<LoadedKernel> CudaBackend::load(std::span<const char> binary, std::span<const std::string> entries) {
  const auto current = make_current();
  BC_CHECK(!binary.empty() && !entries.empty(), Value, "load: expected a binary and its entries, got {} bytes and {} entries",
           binary.size(), entries.size());
  std::unique_ptr<CudaKernel> kernel(new CudaKernel);
  kernel->backend_ = this;
  const cuda::RelaxedCapture relaxed;
  char log[4096] = {};
  int options[] = {cuda::kJitErrorLogBuffer, cuda::kJitErrorLogBufferBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUresult result = driver().cuModuleLoadDataEx(&kernel->module_, binary.data(), 2, options, values);
  if (result != kSuccess) {
    const bool foreign =
        result == cuda::kErrorInvalidImage || result == cuda::kErrorNoBinaryForGpu || result == cuda::kErrorUnsupportedPtxVersion;
    cuda::detail::raise_driver(result, "cuModuleLoadDataEx",
                               fmt::format("loading {} ({} bytes) on sm_{}{}; {}{}", entries[0], binary.size(), properties_.compute_major,
                                           properties_.compute_minor, foreign ? ": the code is for another device or a newer driver" : "",
                                           "driver log: ", log[0] ? log : "empty"));
  }
  const std::optional<cuda::ParameterCounts> counts = cuda::parameter_counts(binary);
  for (const std::string& name : entries) {
    auto function = std::make_unique<CudaKernel::Function>();
    function->name = name;
    result = driver().cuModuleGetFunction(&function->handle, kernel->module_, name.c_str());
    if (result != kSuccess) cuda::detail::raise_driver(result, "cuModuleGetFunction", fmt::format("there is no kernel {}", name));
    // The size counts only for kernels with exactly one parameter.
    if (const auto sizes = cuda::parameter_sizes(function->handle, name, counts); sizes && sizes->size() == 1)
      function->params_bytes = sizes->front();
    kernel->functions_.push_back(std::move(function));
  }
  return kernel;
}

CudaKernel::~CudaKernel() {
  // The code may still be running, so it is unloaded after the queued work.
  if (module_) backend_->release_after_work([module = module_] { driver().cuModuleUnload(module); });
}

// ---- Launch -------------------------------------------------------------------------------------------------------------------------

void CudaBackend::launch(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream) {
  const auto current = make_current();
  CudaKernel::Function& function = static_cast<CudaKernel&>(kernel).current(launch.entry);
  if (launch.shared_bytes > function.shared_limit.load(std::memory_order_relaxed)) [[unlikely]]
    raise_shared_limit(function, launch.shared_bytes);
  if (params_bytes != function.params_bytes || params_bytes > ParamsRoom::kLeast) [[unlikely]]
    return launch_padded(kernel, launch, params, params_bytes, stream);
  void* arguments[] = {const_cast<void*>(params)};
  CUresult result = driver().cuLaunchKernel(function.handle, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                                            launch.block[1], launch.block[2], launch.shared_bytes, native(stream), arguments, nullptr);
  if (result != kSuccess) [[unlikely]]
    raise_launch(result, function, launch);
}

void CudaBackend::raise_shared_limit(CudaKernel::Function& function, unsigned bytes) const {
  int fixed = 0;
  driver().cuFuncGetAttribute(&fixed, cuda::kFunctionSharedBytes, function.handle);
  int most = std::max(0, properties_.shared_per_block_optin - fixed);
  BC_CHECK(bytes <= static_cast<unsigned>(most), Value,
           "launch: kernel {} asks for {} bytes of dynamic shared memory; {} has {} bytes a block, of which the kernel's own arrays use {}",
           function.name, bytes, properties_.name, properties_.shared_per_block_optin, fixed);
  BC_DRIVER(cuFuncSetAttribute, function.handle, cuda::kFunctionMaxDynamicShared, most);
  function.shared_limit.store(static_cast<unsigned>(most), std::memory_order_relaxed);
}

const void* CudaBackend::whole_params(const LoadedKernel& kernel, int entry, const void* params, size_t params_bytes,
                                      ParamsRoom& room) const {
  // The driver reads as many bytes as the kernel's struct has: the caller's may lack the struct's tail padding. Drivers before 12.4 do not
  // report the size; then zeros are appended to the parameters.
  const CudaKernel::Function& function = cuda_kernel(kernel).current(entry);
  BC_CHECK(params_bytes <= most_params(), Value, "launch: kernel {} takes at most {} bytes of parameters on {}, got {}", function.name,
           most_params(), properties_.name, params_bytes);
  if (params_bytes == function.params_bytes) return params;
  BC_CHECK(
      function.params_bytes == 0 || (params_bytes < function.params_bytes && function.params_bytes - params_bytes < ParamsRoom::kPadding),
      Value, "launch: kernel {} takes {} bytes of parameters, got {}", function.name, function.params_bytes, params_bytes);
  if (params_bytes) std::memcpy(room.bytes, params, params_bytes);
  std::memset(room.bytes + params_bytes, 0, ParamsRoom::kPadding);
  return room.bytes;
}

size_t CudaBackend::most_params() const {
  return cuda::driver_version() >= 12010 && properties_.compute_major >= 7 ? ParamsRoom::kMost : ParamsRoom::kLeast;
}

void CudaBackend::launch_padded(LoadedKernel& kernel, const Launch& launch, const void* params, size_t params_bytes, Stream stream) {
  ParamsRoom room;
  void* arguments[] = {const_cast<void*>(whole_params(kernel, launch.entry, params, params_bytes, room))};
  const CudaKernel::Function& function = cuda_kernel(kernel).current(launch.entry);
  CUresult result = driver().cuLaunchKernel(function.handle, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                                            launch.block[1], launch.block[2], launch.shared_bytes, native(stream), arguments, nullptr);
  if (result != kSuccess) raise_launch(result, function, launch);
}

void CudaBackend::raise_launch(CUresult result, const CudaKernel::Function& function, const Launch& launch) const {
  int threads = 0, registers = 0;
  driver().cuFuncGetAttribute(&threads, cuda::kFunctionMaxThreadsPerBlock, function.handle);
  driver().cuFuncGetAttribute(&registers, cuda::kFunctionRegisters, function.handle);
  cuda::detail::raise_driver(
      result, "cuLaunchKernel",
      fmt::format(
          "kernel {} with grid ({}, {}, {}), block ({}, {}, {}), {} bytes of shared memory; it can have {} threads a block and uses {} "
          "registers a thread",
          function.name, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1], launch.block[2],
          launch.shared_bytes, threads, registers));
}

// ---- Copy and fill ------------------------------------------------------------------------------------------------------------------

namespace {

/// If Ctrl-C may end a wait, waits for the work before a copy. The wait for the copy itself must not be interrupted, because its host
/// memory belongs to the caller.
void await_turn(CUstream queue) {
  if (interrupt::may_end()) check(cuda::synchronize_stream(queue), "cuStreamQuery");
}

}  // namespace

void CudaBackend::copy(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) {
  const auto current = make_current();
  if (bytes == 0) return;
  CUstream queue = native(stream);
  if ((kind == CopyKind::HostToDevice || kind == CopyKind::DeviceToHost) && capturing(stream)) [[unlikely]]
    return copy_captured(dst, src, bytes, kind, queue);
  switch (kind) {
    case CopyKind::HostToDevice:
      if (bytes > cuda::HostCopy::kSmallUpload && host_is_pinned(src)) {
        // Pinned memory is read only when the copy runs, so the caller may reuse it only after that.
        await_turn(queue);
        BC_DRIVER(cuMemcpyHtoDAsync, address(dst), src, bytes, queue);
        BC_DRIVER(cuStreamSynchronize, queue);
      } else {
        host_copy_.upload(address(dst), src, bytes, queue, owns(queue));
      }
      return;
    case CopyKind::DeviceToHost:
      if (bytes > cuda::HostCopy::kSmallUpload && host_is_pinned(dst)) {
        await_turn(queue);
        BC_DRIVER(cuMemcpyDtoHAsync, dst, address(src), bytes, queue);
        BC_DRIVER(cuStreamSynchronize, queue);
      } else {
        host_copy_.download(dst, address(src), bytes, queue);
      }
      return;
    case CopyKind::DeviceToDevice:
      // The unified call detects the kind of each pointer, so that any memory that kernels can access may be copied.
      BC_DRIVER(cuMemcpyAsync, address(dst), address(src), bytes, queue);
      return;
    case CopyKind::HostToHost:
      check(cuda::synchronize_stream(queue), "cuStreamSynchronize");
      std::memcpy(dst, src, bytes);
      return;
  }
}

bool CudaBackend::copy_async(void* dst, const void* src, size_t bytes, CopyKind kind, Stream stream) {
  const auto current = make_current();
  const bool host = kind == CopyKind::HostToDevice || kind == CopyKind::DeviceToHost;
  if (bytes == 0 || !host || !host_is_pinned(kind == CopyKind::HostToDevice ? src : dst)) {
    copy(dst, src, bytes, kind, stream);
    return false;
  }
  if (kind == CopyKind::HostToDevice)
    BC_DRIVER(cuMemcpyHtoDAsync, address(dst), src, bytes, native(stream));
  else
    BC_DRIVER(cuMemcpyDtoHAsync, dst, address(src), bytes, native(stream));
  return true;
}

void CudaBackend::copy_captured(void* dst, const void* src, size_t bytes, CopyKind kind, CUstream queue) {
  if (kind == CopyKind::HostToDevice && bytes <= 16) {
    // A constant: the graph stores its words.
    const auto* from = static_cast<const unsigned char*>(src);
    size_t at = 0;
    for (; at + 4 <= bytes && address(dst) % 4 == 0; at += 4) {
      unsigned word;
      std::memcpy(&word, from + at, 4);
      BC_DRIVER(cuMemsetD32Async, address(dst) + at, word, 1, queue);
    }
    for (; at < bytes; ++at) BC_DRIVER(cuMemsetD8Async, address(dst) + at, from[at], 1, queue);
    return;
  }
  BC_CHECK(host_is_pinned(kind == CopyKind::HostToDevice ? src : dst), Runtime,
           "copy: the stream is being captured, and a copy of {} bytes between device and pageable host memory cannot be; copy before "
           "begin_capture(), or use pinned memory",
           bytes);
  if (kind == CopyKind::HostToDevice)
    BC_DRIVER(cuMemcpyHtoDAsync, address(dst), src, bytes, queue);
  else
    BC_DRIVER(cuMemcpyDtoHAsync, dst, address(src), bytes, queue);
}

void CudaBackend::fill(void* dst, int byte, size_t bytes, Stream stream) {
  const auto current = make_current();
  if (bytes == 0) return;
  unsigned value = static_cast<unsigned char>(byte);
  if ((address(dst) | bytes) % 4 == 0)
    BC_DRIVER(cuMemsetD32Async, address(dst), value * 0x01010101u, bytes / 4, native(stream));
  else
    BC_DRIVER(cuMemsetD8Async, address(dst), static_cast<unsigned char>(value), bytes, native(stream));
}

bool CudaBackend::can_access(const CudaBackend& peer) const {
  cuda::check_process();
  int able = 0;
  BC_DRIVER(cuDeviceCanAccessPeer, &able, primary_.device, peer.primary_.device);
  return able != 0;
}

bool CudaBackend::enable_peer_access(const CudaBackend& peer) {
  if (&peer == this) return true;
  if (!can_access(peer)) return false;
  const auto current = make_current();
  CUresult result = driver().cuCtxEnablePeerAccess(peer.context_, 0);
  if (result != cuda::kErrorPeerAccessAlreadyEnabled) check(result, "cuCtxEnablePeerAccess");
  peer.virtual_memory_->grant(primary_.device);
  peer.grant_ordered(primary_.device);
  return true;
}

bool CudaBackend::enable_peer_access(Device peer) {
  if (peer.type != DeviceType::cuda) return false;
  std::atomic<uint64_t>& known = peers_;
  const uint64_t bit = uint64_t{1} << peer.index;
  if (known.load(std::memory_order_relaxed) & bit) return true;
  if (!enable_peer_access(static_cast<CudaBackend&>(backend(peer)))) return false;
  known.fetch_or(bit, std::memory_order_relaxed);
  return true;
}

void CudaBackend::forget_peer(Device peer) { peers_.fetch_and(~(uint64_t{1} << peer.index), std::memory_order_relaxed); }

void CudaBackend::copy_from(Device source, void* dst, const void* src, size_t bytes, Stream stream) {
  BC_CHECK(source.type == DeviceType::cuda, Value, "copy: expected memory of a CUDA device, got {}'s", to_string(source));
  auto& from = static_cast<CudaBackend&>(backend(source));
  // Enables access in both directions: each device's memory is in ranges that only devices with access may use.
  const bool reads = enable_peer_access(source), read = from.enable_peer_access(device());
  if (reads && read) return copy(dst, src, bytes, CopyKind::DeviceToDevice, stream);
  // Without peer access the driver copies through the host and needs both contexts.
  copy_peer(dst, *this, src, from, bytes, stream);
}

void CudaBackend::copy_peer(void* dst, const CudaBackend& dst_device, const void* src, const CudaBackend& src_device, size_t bytes,
                            Stream stream) {
  const auto current = make_current();
  if (bytes == 0) return;
  BC_DRIVER(cuMemcpyPeerAsync, address(dst), dst_device.context_, address(src), src_device.context_, bytes, native(stream));
}

// ---- Order --------------------------------------------------------------------------------------------------------------------------

void CudaBackend::synchronize(Stream stream) {
  const auto current = make_current();
  check(cuda::synchronize_stream(native(stream)), "cuStreamSynchronize");
  // The driver prints the output of kernels' printf in this call, not in a query.
  BC_DRIVER(cuStreamSynchronize, native(stream));
}

bool CudaBackend::wait_for_reuse(Stream stream) {
  const auto current = make_current();
  // Waiting for a captured stream fails and invalidates the capture, so its status is queried first. For the default stream the query
  // itself fails while a stream that waits for it is captured.
  int status = cuda::kCaptureStatusNone;
  CUresult result = driver().cuStreamIsCapturing(native(stream), &status);
  if (cuda::is_capture_error(result) || (result == kSuccess && status != cuda::kCaptureStatusNone)) return false;
  result = driver().cuStreamSynchronize(native(stream));
  return !cuda::is_capture_error(result);
}

bool CudaBackend::wait_for_reuse() {
  // Waiting for a device invalidates the captures of its streams.
  if (captures_.load(std::memory_order_acquire) != 0) return false;
  const auto current = make_current();
  return !cuda::is_capture_error(driver().cuCtxSynchronize());
}

void CudaBackend::release_after_work(std::function<void()> release) noexcept {
  cuda::unless_gone([&] {
    const HostWait wait;
    std::vector<std::function<void()>> ready;
    {
      std::lock_guard lock(retired_mutex_);
      retired_.push_back(std::move(release));
      ready.swap(retired_);
    }
    release_retired(std::move(ready));
  });
}

void CudaBackend::release_retired(std::vector<std::function<void()>> list) {
  if (list.empty()) return;
  if (!wait_for_reuse()) {
    std::lock_guard lock(retired_mutex_);
    retired_.insert(retired_.end(), std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
    return;
  }
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  for (const auto& release : list) release();
}

void CudaBackend::release_retired() {
  std::vector<std::function<void()>> ready;
  {
    std::lock_guard lock(retired_mutex_);
    ready.swap(retired_);
  }
  release_retired(std::move(ready));
}

Stream CudaBackend::create_stream(const StreamOptions& options) {
  const auto current = make_current();
  CUstream stream = nullptr;
  BC_DRIVER(cuStreamCreateWithPriority, &stream, options.non_blocking ? cuda::kStreamNonBlocking : 0u, options.priority);
  std::unique_lock lock(streams_mutex_);
  streams_.push_back(stream);
  return {device(), stream};
}

void CudaBackend::destroy_stream(Stream stream) noexcept {
  if (!stream.native || driver_gone()) return;
  try {
    const auto current = make_current();
    CUstream queue = native(stream);
    host_copy_.forget(queue);
    std::vector<std::function<void(CUstream)>> hooks;
    {
      std::unique_lock lock(streams_mutex_);
      std::erase(streams_, queue);
      hooks = stream_hooks_;
    }
    for (const auto& hook : hooks) hook(queue);
    driver().cuStreamDestroy(queue);
  } catch (...) {
    // The context is lost, and its streams with it.
  }
}

std::pair<int, int> CudaBackend::stream_priorities() {
  const auto current = make_current();
  int least = 0, greatest = 0;
  BC_DRIVER(cuCtxGetStreamPriorityRange, &least, &greatest);
  return {least, greatest};
}

bool CudaBackend::query(Stream stream) {
  const auto current = make_current();
  const cuda::RelaxedCapture relaxed;
  CUresult result = driver().cuStreamQuery(native(stream));
  if (result == cuda::kErrorNotReady) return false;
  check(result, "cuStreamQuery");
  return true;
}

void CudaBackend::wait_event(Stream stream, CUevent event) {
  const auto current = make_current();
  BC_DRIVER(cuStreamWaitEvent, native(stream), event, 0);
}

void CudaBackend::wait_event(Stream stream, const StreamEvent& event) { wait_event(stream, static_cast<CUevent>(event.native())); }

std::unique_ptr<StreamEvent> CudaBackend::make_event(const EventOptions& options) {
  return std::make_unique<CudaStreamEvent>(CudaEvent(*this, options.timing, options.blocking, options.interprocess));
}

void CudaBackend::launch_host(Stream stream, std::function<void()> f) {
  const auto current = make_current();
  auto owned = std::make_unique<std::function<void()>>(std::move(f));
  if (capturing(stream)) {
    std::function<void()>* const call = cuda::give_to_graph(native(stream), std::move(owned));
    BC_DRIVER(cuLaunchHostFunc, native(stream), [](void* data) { (*static_cast<std::function<void()>*>(data))(); }, call);
    return;
  }
  BC_DRIVER(
      cuLaunchHostFunc, native(stream),
      [](void* data) {
        const std::unique_ptr<std::function<void()>> call(static_cast<std::function<void()>*>(data));
        (*call)();
      },
      owned.get());
  owned.release();  // the driver's callback owns it now
}

void CudaBackend::on_stream_destroy(std::function<void(CUstream)> hook) {
  std::unique_lock lock(streams_mutex_);
  stream_hooks_.push_back(std::move(hook));
}

bool CudaBackend::owns(CUstream stream) const {
  if (!stream) return true;
  std::shared_lock lock(streams_mutex_);
  return std::find(streams_.begin(), streams_.end(), stream) != streams_.end();
}

void* CudaBackend::library_state(const char* name, const std::function<std::shared_ptr<void>()>& make) {
  std::lock_guard lock(libraries_mutex_);
  for (const auto& [known, state] : libraries_)
    if (known == name) return state.get();
  libraries_.emplace_back(name, make());
  return libraries_.back().second.get();
}

// ---- Events -------------------------------------------------------------------------------------------------------------------------

CudaEvent::CudaEvent(CudaBackend& backend, bool timing, bool blocking, bool interprocess) : backend_(&backend), sleeps_(blocking) {
  const auto current = backend.make_current();
  unsigned flags = (timing ? cuda::kEventDefault : cuda::kEventDisableTiming) | (blocking ? cuda::kEventBlockingSync : 0u) |
                   (interprocess ? cuda::kEventInterprocess : 0u);
  BC_DRIVER(cuEventCreate, &event_, flags);
}

CudaEvent::~CudaEvent() {
  if (event_ && !driver_gone()) driver().cuEventDestroy(event_);
}

CudaEvent& CudaEvent::operator=(CudaEvent&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(event_, other.event_);
  std::swap(sleeps_, other.sleeps_);
  return *this;
}

void CudaEvent::record(Stream stream) {
  const auto current = backend_->make_current();
  BC_DRIVER(cuEventRecord, event_, native(stream));
}

bool CudaEvent::query() const {
  const auto current = backend_->make_current();
  const cuda::RelaxedCapture relaxed;
  CUresult result = driver().cuEventQuery(event_);
  if (result == cuda::kErrorNotReady) return false;
  check(result, "cuEventQuery");
  return true;
}

void CudaEvent::wait() const {
  const auto current = backend_->make_current();
  check(cuda::synchronize_event(event_, sleeps_), "cuEventSynchronize");
}

float CudaEvent::elapsed(const CudaEvent& start) const {
  const auto current = backend_->make_current();
  float milliseconds = 0;
  BC_DRIVER(cuEventElapsedTime, &milliseconds, start.event_, event_);
  return milliseconds;
}

}  // namespace bc
