#include "backends/cuda/cuda_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/exit.h"

namespace bc::cuda {

namespace fs = std::filesystem;

// ---- The driver ---------------------------------------------------------------------------------------------------------------------

namespace detail {
DriverApi driver;
std::atomic<ProcessState> process_state{ProcessState::Normal};

void raise_process_state() {
  if (process_state.load() == ProcessState::Forked)
    raise(ErrorKind::Runtime,
          "cuda: this process was made by fork() after CUDA had been started, and a driver cannot be used across a fork; start worker "
          "processes with multiprocessing's 'spawn' or 'forkserver' method, or use the GPU only after forking");
  raise(ErrorKind::Runtime, "cuda: the process is exiting; the device cannot be used any more");
}

void raise_driver(CUresult result, const char* call, const std::string& detail) {
  std::string text = fmt::format("{}: {}", call, describe(result));
  if (!detail.empty()) text += "; " + detail;
  if (is_sticky(result)) text += "; the device's context is lost: restart the process to use the GPU again";
  throw Error(result == kErrorOutOfMemory ? ErrorKind::Memory : ErrorKind::Runtime, std::move(text));
}
}  // namespace detail

namespace {

struct DriverState {
  bool available = false;
  std::string problem;
  std::string path;
  int version = 0;
  int devices = 0;
};

std::string loaded_path(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name) {
    std::error_code error;
    fs::path path = fs::weakly_canonical(map->l_name, error);
    return error ? std::string(map->l_name) : path.string();
  }
  return {};
}

std::string last_dl_error() {
  const char* text = dlerror();
  return text ? text : "unknown error";
}

void* open_driver(std::string& problem) {
  // Places outside the loader's path: containers mount the driver under /usr/local/nvidia; WSL and NixOS have their own paths.
  constexpr const char* kPlaces[] = {"libcuda.so.1",
                                     "/usr/local/nvidia/lib64/libcuda.so.1",
                                     "/usr/local/nvidia/lib/libcuda.so.1",
                                     "/usr/lib/wsl/lib/libcuda.so.1",
                                     "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                     "/usr/lib64/libcuda.so.1",
                                     "/run/opengl-driver/lib/libcuda.so.1"};
  for (const char* place : kPlaces) {
    if (void* handle = dlopen(place, RTLD_NOW | RTLD_LOCAL)) return handle;
    std::string error = last_dl_error();
    std::error_code ignored;
    // An error for an existing file matters more than "no such file" for the other places.
    if (problem.empty() || (place[0] == '/' && fs::exists(place, ignored))) problem = error;
  }
  problem = "no CUDA driver: " + problem + "; install NVIDIA's driver to use a GPU";
  return nullptr;
}

DriverState start_driver() {
  // One call for the whole function: cuInit registers the driver's exit handlers, and the process must not exit before ours are registered.
  const LibraryCall call;
  DriverState state;
  void* handle = open_driver(state.problem);
  if (!handle) return state;
  state.problem.clear();
  state.path = loaded_path(handle);
  const char* missing = nullptr;
  DriverApi api;
#define BC_RESOLVE(member, symbol, parameters) \
  api.member.set(dlsym(handle, #symbol));      \
  if (!api.member && !missing) missing = #symbol;
  BC_CUDA_DRIVER_API(BC_RESOLVE)
#undef BC_RESOLVE
#define BC_RESOLVE(member, symbol, parameters) api.member.set(dlsym(handle, #symbol));
  BC_CUDA_DRIVER_OPTIONAL_API(BC_RESOLVE)
#undef BC_RESOLVE
  if (missing) {
    state.problem =
        fmt::format("the driver {} is too old: it has no {}; broadcloth needs a driver for CUDA 12.0 or later", state.path, missing);
    return state;
  }
  detail::driver = api;
  CUresult result = api.cuInit(0);
  if (result == kErrorStubLibrary) {
    state.problem = fmt::format("{} is the toolkit's stub, not a driver; take its folder off LD_LIBRARY_PATH", state.path);
    return state;
  }
  if (result == kErrorNoDevice) {
    state.problem = "the driver sees no GPU (cuInit: CUDA_ERROR_NO_DEVICE)";
    api.cuDriverGetVersion(&state.version);
    return state;
  }
  if (result != kSuccess) {
    state.problem = fmt::format("cuInit: {}", describe(result));
    return state;
  }
  api.cuDriverGetVersion(&state.version);
  if (api.cuDeviceGetCount(&state.devices) != kSuccess) state.devices = 0;
  // Registered after cuInit, so that this handler runs before the driver's own: objects that are destroyed later are leaked instead of
  // passed to the driver.
  std::atexit([] { detail::process_state.store(detail::ProcessState::Exiting, std::memory_order_relaxed); });
  arm_exit_barrier();
  pthread_atfork(nullptr, nullptr, [] { detail::process_state.store(detail::ProcessState::Forked, std::memory_order_relaxed); });
  state.available = true;
  return state;
}

const DriverState& driver_state() {
  // Leaked: destructors read it at exit.
  static const DriverState& state = *new DriverState(start_driver());
  return state;
}

}  // namespace

bool driver_available() noexcept {
  try {
    return driver_state().available;
  } catch (...) {
    return false;
  }
}

std::string driver_problem() { return driver_available() ? std::string() : driver_state().problem; }

int driver_version() noexcept { return driver_available() ? driver_state().version : 0; }

int device_count() noexcept { return driver_available() ? driver_state().devices : 0; }

std::string describe(CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver().cuGetErrorName) driver().cuGetErrorName(result, &name);
  if (driver().cuGetErrorString) driver().cuGetErrorString(result, &text);
  return fmt::format("{} ({}): {}", name ? name : "CUDA error", result, text ? text : "unknown error");
}

bool is_sticky(CUresult result) noexcept {
  switch (result) {
    case kErrorEccUncorrectable:
    case kErrorNvlinkUncorrectable:
    case kErrorIllegalAddress:
    case kErrorLaunchTimeout:
    case kErrorAssert:
    case kErrorHardwareStackError:
    case kErrorIllegalInstruction:
    case kErrorMisalignedAddress:
    case kErrorInvalidAddressSpace:
    case kErrorInvalidPc:
    case kErrorLaunchFailed: return true;
    default: return false;
  }
}

void CurrentContext::enter(CUcontext context, bool usual) {
  check(driver().cuCtxSetCurrent(context), "cuCtxSetCurrent");
  changed_ = before_ || !usual;
}

void CurrentContext::leave() noexcept {
  if (!driver_gone()) driver().cuCtxSetCurrent(before_);
}

// ---- Libraries ----------------------------------------------------------------------------------------------------------------------

namespace {

struct SoName {
  const char* file;
  int cuda_major;  // the toolkit's major version; 0: any
};

enum class VersionCall { Nvrtc, Property, Integer, None };

/// A library: its name, files and pip packages, and the function that returns its version.
struct LibraryRow {
  Library which;
  const char* name;
  std::array<SoName, 2> files;
  const char* wheel13;  // pip's names for CUDA 13 and 12
  const char* wheel12;
  VersionCall version_call;
  const char* version_symbol;
  std::array<int, 4> needs;  // libraries that it links to, opened first: they may be in another wheel. -1 ends the list
};

constexpr int id(Library which) { return static_cast<int>(which); }

constexpr LibraryRow kRows[kLibraryCount] = {
    {Library::Nvrtc,
     "libnvrtc",
     {{{"libnvrtc.so.13", 13}, {"libnvrtc.so.12", 12}}},
     "nvidia-cuda-nvrtc",
     "nvidia-cuda-nvrtc-cu12",
     VersionCall::Nvrtc,
     "nvrtcVersion",
     {-1}},
    {Library::NvJitLink,
     "libnvJitLink",
     {{{"libnvJitLink.so.13", 13}, {"libnvJitLink.so.12", 12}}},
     "nvidia-nvjitlink",
     "nvidia-nvjitlink-cu12",
     VersionCall::None,
     nullptr,
     {-1}},
    {Library::CublasLt,
     "libcublasLt",
     {{{"libcublasLt.so.13", 13}, {"libcublasLt.so.12", 12}}},
     "nvidia-cublas",
     "nvidia-cublas-cu12",
     VersionCall::Property,
     "cublasLtGetProperty",
     {-1}},
    {Library::Cublas,
     "libcublas",
     {{{"libcublas.so.13", 13}, {"libcublas.so.12", 12}}},
     "nvidia-cublas",
     "nvidia-cublas-cu12",
     VersionCall::Property,
     "cublasGetProperty",
     {id(Library::CublasLt), -1}},
    {Library::Cufft,
     "libcufft",
     {{{"libcufft.so.12", 13}, {"libcufft.so.11", 12}}},
     "nvidia-cufft",
     "nvidia-cufft-cu12",
     VersionCall::Property,
     "cufftGetProperty",
     {id(Library::NvJitLink), -1}},
    {Library::Cusparse,
     "libcusparse",
     {{{"libcusparse.so.12", 0}, {nullptr, 0}}},
     "nvidia-cusparse",
     "nvidia-cusparse-cu12",
     VersionCall::Property,
     "cusparseGetProperty",
     {id(Library::NvJitLink), -1}},
    {Library::Cusolver,
     "libcusolver",
     {{{"libcusolver.so.12", 13}, {"libcusolver.so.11", 12}}},
     "nvidia-cusolver",
     "nvidia-cusolver-cu12",
     VersionCall::Property,
     "cusolverGetProperty",
     {id(Library::CublasLt), id(Library::Cublas), id(Library::Cusparse), -1}},
    {Library::Curand,
     "libcurand",
     {{{"libcurand.so.10", 0}, {nullptr, 0}}},
     "nvidia-curand",
     "nvidia-curand-cu12",
     VersionCall::Property,
     "curandGetProperty",
     {-1}},
    {Library::Cudnn,
     "libcudnn",
     {{{"libcudnn.so.9", 0}, {nullptr, 0}}},
     "nvidia-cudnn-cu13",
     "nvidia-cudnn-cu12",
     VersionCall::Property,
     "cudnnGetProperty",
     {id(Library::CublasLt), id(Library::Cublas), -1}},
    {Library::Nccl,
     "libnccl",
     {{{"libnccl.so.2", 0}, {nullptr, 0}}},
     "nvidia-nccl-cu13",
     "nvidia-nccl-cu12",
     VersionCall::Integer,
     "ncclGetVersion",
     {-1}},
};

constexpr bool rows_in_order() {
  for (int i = 0; i < kLibraryCount; ++i)
    if (id(kRows[i].which) != i) return false;
  return true;
}
static_assert(rows_in_order());

struct Opened {
  std::atomic<void*> handle{nullptr};
  std::string path;
};

struct Registry {
  std::recursive_mutex mutex;
  std::vector<std::string> folders;
  std::array<Opened, kLibraryCount> opened;
};

Registry& registry() {
  static Registry& it = *new Registry;  // leaked: used until the process ends
  return it;
}

std::vector<std::string> split(const char* list) {
  std::vector<std::string> parts;
  if (!list) return parts;
  for (std::string_view rest(list); !rest.empty();) {
    size_t colon = std::min(rest.find(':'), rest.size());
    if (colon) parts.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return parts;
}

/// `root` may be a toolkit's root or its library folder.
void add_toolkit(std::vector<std::string>& folders, const std::string& root) {
  for (const char* below : {"", "/lib64", "/lib", "/targets/x86_64-linux/lib"}) folders.push_back(root + below);
}

/// The lib folders of the nvidia-* wheels under one site-packages.
void add_wheels(std::vector<std::string>& folders, const fs::path& site) {
  std::error_code error;
  std::vector<std::string> found;
  for (fs::directory_iterator it(site / "nvidia", error), end; !error && it != end; it.increment(error))
    if (fs::is_directory(it->path() / "lib", error)) found.push_back((it->path() / "lib").string());
  std::sort(found.rbegin(), found.rend());  // cu13 before cu12
  folders.insert(folders.end(), found.begin(), found.end());
}

std::vector<std::string> folders_of_last_resort() {
  std::vector<std::string> folders;
  std::error_code error;
  std::vector<std::string> toolkits;
  for (fs::directory_iterator it("/usr/local", error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with("cuda")) toolkits.push_back(it->path().string());
  std::sort(toolkits.rbegin(), toolkits.rend());  // newest first
  for (const std::string& root : toolkits) add_toolkit(folders, root);

  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&folders_of_last_resort), &info) && info.dli_fname) {
    fs::path folder = fs::absolute(info.dli_fname, error).parent_path();
    for (int up = 0; up < 3 && !folder.empty(); ++up, folder = folder.parent_path()) add_wheels(folders, folder);
  }
  if (const char* environment = std::getenv("VIRTUAL_ENV"))
    for (fs::directory_iterator it(fs::path(environment) / "lib", error), end; !error && it != end; it.increment(error))
      add_wheels(folders, it->path() / "site-packages");
  return folders;
}

class Search {
 public:
  explicit Search(const LibraryRow& row) : row_(row) {}

  /// Opens the library from the first place that has it.
  void* run() {
    for (const std::string& root : split(std::getenv("BROADCLOTH_CUDA_PATH"))) add_toolkit(places_, root);
    if (void* handle = in_folders()) return handle;
    // A library that PyTorch or CuPy has loaded is reused: a second copy costs memory, and two versions in one process can conflict.
    if (void* handle = by_soname(RTLD_NOLOAD)) return handle;
    places_ = registry().folders;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
      if (const char* root = std::getenv(variable); root && *root) add_toolkit(places_, root);
    if (void* handle = in_folders()) return handle;
    if (void* handle = by_soname(0)) return handle;
    places_ = folders_of_last_resort();
    return in_folders();
  }

  const std::string& problem() const { return problem_; }

 private:
  /// Libraries of a newer major version than the driver's produce code that it cannot load.
  bool usable(const SoName& file) const {
    int driver_major = driver_version() / 1000;
    return file.file && (file.cuda_major == 0 || driver_major == 0 || file.cuda_major <= driver_major);
  }

  void* open(const std::string& file, int flags) {
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
    if (!handle && !(flags & RTLD_NOLOAD)) {
      std::string error = last_dl_error();
      if (file.front() == '/' || problem_.empty()) problem_ = std::move(error);
    }
    return handle;
  }

  void* by_soname(int flags) {
    for (const SoName& file : row_.files)
      if (usable(file))
        if (void* handle = open(file.file, flags)) return handle;
    return nullptr;
  }

  void* in_folders() {
    std::error_code error;
    for (const std::string& folder : places_)
      for (const SoName& file : row_.files) {
        if (!usable(file)) continue;
        std::string path = fs::absolute(folder, error).string() + "/" + file.file;
        if (fs::exists(path, error))
          if (void* handle = open(path, 0)) return handle;
      }
    return nullptr;
  }

  const LibraryRow& row_;
  std::vector<std::string> places_;
  std::string problem_;
};

std::string install_command(const LibraryRow& row) {
  int major = driver_version() / 1000;
  return fmt::format("pip install {}", major != 0 && major < 13 ? row.wheel12 : row.wheel13);
}

/// NVRTC opens another library of its folder by its bare name. The loader finds it only if the folder is on its path or the library is open
/// already; a wheel's folder is not on the path, so this opens it.
void open_builtins(const std::string& nvrtc) {
  std::error_code error;
  for (fs::directory_iterator it(fs::path(nvrtc).parent_path(), error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with("libnvrtc-builtins.so")) dlopen(it->path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* try_library(const LibraryRow& row, std::string& problem) {
  Registry& all = registry();
  Opened& slot = all.opened[id(row.which)];
  if (void* handle = slot.handle.load(std::memory_order_acquire)) return handle;
  // A LibraryCall, so that no library is loaded while the process exits.
  const LibraryCall call;
  std::lock_guard lock(all.mutex);
  if (void* handle = slot.handle.load(std::memory_order_acquire)) return handle;
  for (int need : row.needs) {
    if (need < 0) break;
    std::string ignored;
    try_library(kRows[need], ignored);
  }
  Search search(row);
  void* handle = search.run();
  if (!handle) {
    problem = search.problem();
    return nullptr;
  }
  slot.path = loaded_path(handle);
  if (row.which == Library::Nvrtc) open_builtins(slot.path);
  arm_exit_barrier();
  slot.handle.store(handle, std::memory_order_release);
  return handle;
}

std::string dotted(int major, int minor, int patch) { return fmt::format("{}.{}.{}", major, minor, patch); }

std::string library_version(const LibraryRow& row, void* handle) {
  void* symbol = row.version_symbol ? dlsym(handle, row.version_symbol) : nullptr;
  if (!symbol) return {};
  int parts[3] = {0, 0, 0};
  switch (row.version_call) {
    case VersionCall::Nvrtc:
      if (reinterpret_cast<int (*)(int*, int*)>(symbol)(&parts[0], &parts[1]) != 0) return {};
      return fmt::format("{}.{}", parts[0], parts[1]);
    case VersionCall::Property:  // libraryPropertyType: MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL
      for (int i = 0; i < 3; ++i)
        if (reinterpret_cast<int (*)(int, int*)>(symbol)(i, &parts[i]) != 0) return {};
      return dotted(parts[0], parts[1], parts[2]);
    case VersionCall::Integer:
      if (reinterpret_cast<int (*)(int*)>(symbol)(&parts[0]) != 0) return {};
      return dotted(parts[0] / 10000, parts[0] / 100 % 100, parts[0] % 100);
    case VersionCall::None: break;
  }
  return {};
}

template <class Api, class Fill>
const Api& table(std::atomic<const Api*>& slot, Library which, Fill fill) {
  if (const Api* api = slot.load(std::memory_order_acquire)) return *api;
  library(which);       // throws if the library is missing
  auto* api = new Api;  // leaked with the library
  fill(*api);
  const Api* expected = nullptr;
  if (!slot.compare_exchange_strong(expected, api, std::memory_order_acq_rel)) {
    delete api;
    return *expected;
  }
  return *api;
}

}  // namespace

void set_library_paths(std::vector<std::string> folders) {
  std::lock_guard lock(registry().mutex);
  registry().folders = std::move(folders);
}

void* library(Library which) {
  const LibraryRow& row = kRows[id(which)];
  std::string problem;
  if (void* handle = try_library(row, problem)) return handle;
  raise(ErrorKind::Import, "{} was not found ({}); install it with: {}", row.name, problem.empty() ? "no such file" : problem,
        install_command(row));
}

void* library_symbol(Library which, const char* name) {
  void* handle = library(which);
  if (void* symbol = dlsym(handle, name)) return symbol;
  raise(ErrorKind::Import, "{}: {} has no function {}; install a newer one with: {} --upgrade", kRows[id(which)].name, library_path(which),
        name, install_command(kRows[id(which)]));
}

std::string library_path(Library which) {
  std::lock_guard lock(registry().mutex);
  return registry().opened[id(which)].path;
}

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  for (const std::string& root : split(std::getenv("BROADCLOTH_CUDA_PATH"))) add_toolkit(folders, root);
  {
    std::lock_guard lock(registry().mutex);
    folders.insert(folders.end(), registry().folders.begin(), registry().folders.end());
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root && *root) add_toolkit(folders, root);
  const std::vector<std::string> last = folders_of_last_resort();
  folders.insert(folders.end(), last.begin(), last.end());
  return folders;
}

const NvrtcApi& nvrtc() {
  static std::atomic<const NvrtcApi*> slot{nullptr};
  return table<NvrtcApi>(slot, Library::Nvrtc, [](NvrtcApi& api) {
#define BC_RESOLVE(member, symbol, parameters) api.member.set(library_symbol(Library::Nvrtc, #symbol));
    BC_NVRTC_API(BC_RESOLVE)
#undef BC_RESOLVE
    api.nvrtcGetErrorString = reinterpret_cast<const char* (*)(nvrtcResult)>(library_symbol(Library::Nvrtc, "nvrtcGetErrorString"));
  });
}

const CublasLtApi& cublaslt() {
  static std::atomic<const CublasLtApi*> slot{nullptr};
  return table<CublasLtApi>(slot, Library::CublasLt, [](CublasLtApi& api) {
#define BC_RESOLVE(member, symbol, parameters) api.member.set(library_symbol(Library::CublasLt, #symbol));
    BC_CUBLASLT_API(BC_RESOLVE)
#undef BC_RESOLVE
    api.cublasLtGetVersion = reinterpret_cast<size_t (*)()>(library_symbol(Library::CublasLt, "cublasLtGetVersion"));
    api.cublasLtGetStatusString =
        reinterpret_cast<const char* (*)(cublasStatus)>(library_symbol(Library::CublasLt, "cublasLtGetStatusString"));
  });
}

const CufftApi& cufft() {
  static std::atomic<const CufftApi*> slot{nullptr};
  return table<CufftApi>(slot, Library::Cufft, [](CufftApi& api) {
#define BC_RESOLVE(member, symbol, parameters) api.member.set(library_symbol(Library::Cufft, #symbol));
    BC_CUFFT_API(BC_RESOLVE)
#undef BC_RESOLVE
  });
}

std::vector<LibraryStatus> cuda_library_status() {
  std::vector<LibraryStatus> all;
  bool available = driver_available();
  const DriverState& state = driver_state();
  LibraryStatus driver_status{"libcuda", state.path, {}, state.problem};
  if (state.version) driver_status.version = fmt::format("{}.{}", state.version / 1000, state.version % 1000 / 10);
  if (available && state.devices == 0) driver_status.error = "the driver sees no GPU";
  all.push_back(std::move(driver_status));
  for (const LibraryRow& row : kRows) {
    LibraryStatus status{row.name, {}, {}, {}};
    if (void* handle = try_library(row, status.error)) {
      status.path = library_path(row.which);
      status.version = library_version(row, handle);
    } else {
      status.error = fmt::format("not found; install it with: {}", install_command(row));
    }
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace bc::cuda
