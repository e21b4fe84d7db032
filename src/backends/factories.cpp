// The only file that knows every backend: the rest of the engine uses this table.
#include "backends/cpu/blas.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/openblas.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/null/null_backend.h"
#include "runtime/backend.h"
#include "runtime/host_library.h"

namespace bc {
namespace {

int count_gpus() noexcept {
  // Asked once: the number of GPUs does not change while a process runs.
  static const int count = [] {
    try {
      return cuda_device_count();
    } catch (...) {
      return 0;
    }
  }();
  return count;
}

// In the order of DeviceType.
constexpr BackendFactory kFactories[kDeviceTypes] = {
    {.count = [] { return 1; }, .open = [](int) { return make_cpu_backend(); }},
    {.count = count_gpus, .open = make_cuda_backend},
    {.count = [] { return kNullDevices; }, .open = make_null_backend},
};

}  // namespace

const BackendFactory& backend_factory(DeviceType type) { return kFactories[static_cast<int>(type)]; }

const HostLibrary& host_library() {
  static constexpr HostLibrary library{.matmul = cpu::matmul, .symbol = cpu::openblas_symbol};
  return library;
}

}  // namespace bc
