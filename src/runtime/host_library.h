#pragma once
#include <cstdint>

#include "core/dtype.h"

namespace bc {

/// Functions of the CPU's backend that code of the host calls without an array: compiled functions, and products that are too small to be
/// recorded.
struct HostLibrary {
  /// c[i] = a[i] · b[i] for `batch` matrices; see backends/cpu/blas.h.
  void (*matmul)(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a, const int64_t a_strides[3], const void* b,
                 const int64_t b_strides[3], void* c);
  /// A function of BLAS or LAPACK by its Fortran name ("dgesdd_"), with 32-bit sizes; nullptr where it is missing.
  void* (*symbol)(const char* name);
};
/// Defined in src/backends/factories.cpp.
const HostLibrary& host_library();

}  // namespace bc
