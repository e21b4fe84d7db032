#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "backends/cuda/cuda_api.h"
#include "core/error.h"

namespace bc::cuda {

// ---- The driver ---------------------------------------------------------------------------------------------------------------------

/// Opens libcuda.so.1 and initialises it, once a process; tells whether it can be used. Never throws.
bool driver_available() noexcept;
/// Why driver_available() is false ("libcuda.so.1 was not found …"); empty when it is true.
std::string driver_problem();
/// The CUDA version that the driver implements, 13000 for 13.0; 0 without a driver.
int driver_version() noexcept;
/// Number of devices; 0 without a driver. Never throws.
int device_count() noexcept;

namespace detail {
extern DriverApi driver;  // filled by driver_available()
enum class ProcessState : int { Normal = 0, Exiting = 1, Forked = 2 };
extern std::atomic<ProcessState> process_state;
[[noreturn]] void raise_process_state();
[[noreturn]] void raise_driver(CUresult result, const char* call, const std::string& detail);
}  // namespace detail

/// The driver's functions. Valid after driver_available() has returned true, as it has wherever a CudaBackend exists.
inline const DriverApi& driver() { return detail::driver; }

/// True while the process exits and in a child made by fork(): no CUDA call may be made then, so destructors leak instead.
inline bool driver_gone() noexcept { return detail::process_state.load(std::memory_order_relaxed) != detail::ProcessState::Normal; }

/// Throws when this process may not call the driver (see driver_gone).
inline void check_process() {
  if (driver_gone()) [[unlikely]]
    detail::raise_process_state();
}

/// Throws bc::Error with the driver's name and text for the result of `call`.
inline void check(CUresult result, const char* call) {
  if (result != kSuccess) [[unlikely]]
    detail::raise_driver(result, call, {});
}

/// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
std::string describe(CUresult result);

/// Tells whether an error has ended the context: every later call on the device fails until the process is restarted.
bool is_sticky(CUresult result) noexcept;

/// Tells whether a call was refused because a stream is being captured; the work that it queries may still run.
inline bool is_capture_error(CUresult result) noexcept {
  return result >= kErrorStreamCaptureUnsupported && result <= kErrorStreamCaptureWrongThread;
}

/// For its scope, makes a device's context the thread's current one, as most calls of the driver need. Other libraries use the thread's
/// current context, so the destructor restores the previous one. Throws in a forked child and at exit.
class CurrentContext {
 public:
  /// `usual`: this is the context that CUDA's runtime gives to a thread without one, so that it may stay current where there was none.
  CurrentContext(CUcontext context, bool usual) {
    check_process();
    // The driver keeps the current context in thread-local memory, so a query costs nanoseconds. A cached copy would be wrong after another
    // library in the process has changed the device.
    if (driver().cuCtxGetCurrent(&before_) != kSuccess || before_ != context) [[unlikely]]
      enter(context, usual);
  }
  ~CurrentContext() {
    if (changed_) [[unlikely]]
      leave();
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  void enter(CUcontext context, bool usual);
  void leave() noexcept;

  CUcontext before_ = nullptr;
  bool changed_ = false;
};

/// Calls `f`, which frees a CUDA resource, unless CUDA can no longer be called; then the resource is gone already. For destructors: an
/// Error thrown by `f` for a lost context is ignored.
template <class F>
void unless_gone(const F& f) noexcept {
  if (driver_gone()) return;
  try {
    f();
  } catch (const Error&) {
    // The context is lost, and the resource with it.
  }
}

/// For its scope, allows calls that the driver forbids in all threads while one thread captures a stream in CUDA's default mode:
/// allocations, loading code, and event queries.
class RelaxedCapture {
 public:
  RelaxedCapture() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  int mode_ = kCaptureRelaxed;
};

// ---- Libraries ----------------------------------------------------------------------------------------------------------------------

enum class Library { Nvrtc, NvJitLink, CublasLt, Cublas, Cufft, Cusparse, Cusolver, Curand, Cudnn, Nccl };
inline constexpr int kLibraryCount = 10;

/// Folders searched before the system's own (Python fills them from cuda-pathfinder and the nvidia-* wheels). They serve the libraries
/// that are not open yet.
void set_library_paths(std::vector<std::string> folders);

/// The dlopen handle of a library, opened at the first call. Searched in this order: BROADCLOTH_CUDA_PATH, libraries that the process has
/// loaded already, set_library_paths, CUDA_HOME and CUDA_PATH, the loader's own path, /usr/local/cuda*, nvidia-* wheels beside this
/// library. Throws ErrorKind::Import naming the library and the command that installs it.
void* library(Library which);

/// A function of a library. Throws ErrorKind::Import when the library is too old to have it.
void* library_symbol(Library which, const char* name);

/// The file that an opened library came from.
std::string library_path(Library which);

/// The folders that library() searches, in order, whether they exist or not.
std::vector<std::string> library_folders();

/// NVRTC's, cuBLASLt's and cuFFT's functions, the library opened at the first call. Throw ErrorKind::Import.
const NvrtcApi& nvrtc();
const CublasLtApi& cublaslt();
const CufftApi& cufft();

struct LibraryStatus {
  std::string name;     ///< "libnvrtc"
  std::string path;     ///< the file; empty when not found
  std::string version;  ///< "13.0"; empty when not found
  std::string error;    ///< the problem and the command that fixes it; empty when there is none
};

/// The status of every library, the driver first, for `python -m broadcloth doctor`. Opens every library; never throws.
std::vector<LibraryStatus> cuda_library_status();

}  // namespace bc::cuda

/// Calls a driver function and throws when it fails: BC_DRIVER(cuMemGetInfo, &free, &total).
#define BC_DRIVER(function, ...) ::bc::cuda::check(::bc::cuda::driver().function(__VA_ARGS__), #function)
