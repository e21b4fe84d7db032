#pragma once
#include <memory>

#include "runtime/backend.h"

namespace bc {

/// The backend of the host CPU: memory from mmap, kernels through the clang in libbroadcloth_jit.so, threads from parallel.h.
std::unique_ptr<Backend> make_cpu_backend();

}  // namespace bc
