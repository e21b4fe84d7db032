#include "backends/cuda/solver.h"

#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "backends/cuda/cuda_backend.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

/// The table of a library's functions, created once and never freed. If two threads create it at the same time, one of the tables is
/// deleted.
template <class Api, class Fill>
const Api& opened(std::atomic<const Api*>& slot, Fill fill) {
  if (const Api* api = slot.load(std::memory_order_acquire)) return *api;
  auto api = std::make_unique<Api>();
  fill(*api);
  const Api* expected = nullptr;
  if (slot.compare_exchange_strong(expected, api.get(), std::memory_order_acq_rel)) return *api.release();
  return *expected;
}

void* symbol_or_null(Library which, const char* name) {
  try {
    return library_symbol(which, name);
  } catch (const Error&) {
    return nullptr;
  }
}

const char* status_name(int status) {
  constexpr const char* kNames[] = {
      "success",          "not initialized", "allocation failed",         "invalid value", "architecture mismatch", "mapping error",
      "execution failed", "internal error",  "matrix type not supported", "not supported"};
  return status >= 0 && status < static_cast<int>(std::size(kNames)) ? kNames[status] : "error";
}

/// The Solvers of a device's streams.
struct SolverState {
  std::mutex mutex;
  std::unordered_map<CUstream, std::unique_ptr<Solver>> solvers;

  explicit SolverState(CudaBackend& backend) {
    backend.on_stream_destroy([this](CUstream stream) {
      std::unique_ptr<Solver> dropped;
      const std::lock_guard lock(mutex);
      if (const auto it = solvers.find(stream); it != solvers.end()) {
        dropped = std::move(it->second);
        solvers.erase(it);
      }
    });
  }
  ~SolverState() {
    // The libraries may be gone when the process ends.
    for (auto& [stream, solver] : solvers) static_cast<void>(solver.release());
  }
};

}  // namespace

const CusolverApi& cusolver() {
  static std::atomic<const CusolverApi*> slot{nullptr};
  return opened(slot, [](CusolverApi& api) {
#define BC_RESOLVE(name, parameters) api.name.set(library_symbol(Library::Cusolver, #name));
    BC_CUSOLVER_API(BC_RESOLVE)
#undef BC_RESOLVE
#define BC_RESOLVE(name, parameters) api.name.set(symbol_or_null(Library::Cusolver, #name));
    BC_CUSOLVER_OPTIONAL_API(BC_RESOLVE)
#undef BC_RESOLVE
#define BC_RESOLVE(name, s, d, c, z, parameters)          \
  api.name[0].set(library_symbol(Library::Cusolver, #s)); \
  api.name[1].set(library_symbol(Library::Cusolver, #d)); \
  api.name[2].set(library_symbol(Library::Cusolver, #c)); \
  api.name[3].set(library_symbol(Library::Cusolver, #z));
    BC_CUSOLVER_TYPED_API(BC_RESOLVE)
#undef BC_RESOLVE
  });
}

const CublasApi& cublas() {
  static std::atomic<const CublasApi*> slot{nullptr};
  return opened(slot, [](CublasApi& api) {
#define BC_RESOLVE(name, parameters) api.name.set(library_symbol(Library::Cublas, #name));
    BC_CUBLAS_API(BC_RESOLVE)
#undef BC_RESOLVE
#define BC_RESOLVE(name, s, d, c, z, parameters)        \
  api.name[0].set(library_symbol(Library::Cublas, #s)); \
  api.name[1].set(library_symbol(Library::Cublas, #d)); \
  api.name[2].set(library_symbol(Library::Cublas, #c)); \
  api.name[3].set(library_symbol(Library::Cublas, #z));
    BC_CUBLAS_TYPED_API(BC_RESOLVE)
#undef BC_RESOLVE
  });
}

void check_cusolver(int status, const char* call) {
  constexpr int kAllocationFailed = 2;
  if (status != 0)
    raise(status == kAllocationFailed ? ErrorKind::Memory : ErrorKind::Runtime, "{}: cuSOLVER's status is {} ({})", call, status,
          status_name(status));
}

void check_cublas(int status, const char* call) {
  constexpr int kAllocationFailed = 3;
  if (status != 0) raise(status == kAllocationFailed ? ErrorKind::Memory : ErrorKind::Runtime, "{}: cuBLAS's status is {}", call, status);
}

Solver::Solver(CUstream stream) {
  try {
    BC_CUSOLVER(cusolverDnCreate, &handle);
    BC_CUSOLVER(cusolverDnSetStream, handle, stream);
    BC_CUSOLVER(cusolverDnCreateParams, &params);
    BC_CUSOLVER(cusolverDnCreateGesvdjInfo, &jacobi);
    BC_CUBLAS(cublasCreate_v2, &blas);
    BC_CUBLAS(cublasSetStream_v2, blas, stream);
  } catch (...) {
    close();
    throw;
  }
}

Solver::~Solver() { close(); }

void Solver::close() noexcept {
  unless_gone([&] {
    if (blas) cublas().cublasDestroy_v2(blas);
    if (jacobi) cusolver().cusolverDnDestroyGesvdjInfo(jacobi);
    if (params) cusolver().cusolverDnDestroyParams(params);
    if (handle) cusolver().cusolverDnDestroy(handle);
  });
}

Solver& solver_of(CudaBackend& backend, CUstream stream) {
  auto& state = *static_cast<SolverState*>(
      backend.library_state("cuSOLVER", [&]() -> std::shared_ptr<void> { return std::make_shared<SolverState>(backend); }));
  const std::lock_guard lock(state.mutex);
  std::unique_ptr<Solver>& solver = state.solvers[stream];
  if (!solver) solver = std::make_unique<Solver>(stream);
  return *solver;
}

int typed_index(DType t) {
  switch (t) {
    case DType::f32: return 0;
    case DType::f64: return 1;
    case DType::c64: return 2;
    case DType::c128: return 3;
    default: raise(ErrorKind::Type, "linalg: expected a dtype of LAPACK, got {}", info(t).name);
  }
}

int cuda_type(DType t) {
  constexpr int kTypes[] = {kCudaR32F, kCudaR64F, kCudaC32F, kCudaC64F};
  return kTypes[typed_index(t)];
}

}  // namespace bc::cuda
