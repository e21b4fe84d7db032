#pragma once
#include <cstdint>

#include "core/dtype.h"

namespace bc {

/// Functions of the CPU backend that host code calls without arrays: compiled Python functions, and matrix products too small to be worth
/// recording.
struct HostLibrary {
  /// c[i] = a[i] · b[i] for `batch` matrices; see backends/cpu/blas.h.
  void (*matmul)(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a, const int64_t a_strides[3], const void* b,
                 const int64_t b_strides[3], void* c);
  /// Returns a BLAS or LAPACK function by its Fortran name ("dgesdd_"), with 32-bit sizes; nullptr where the library lacks it.
  void* (*symbol)(const char* name);
};
/// Defined in src/backends/factories.cpp.
const HostLibrary& host_library();

}  // namespace bc
