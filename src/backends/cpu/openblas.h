#pragma once
#include <string>
#include <string_view>

#include "core/cpu_level.h"

namespace bc::cpu {

/// The functions of OpenBLAS that are used here, with 32-bit sizes. Matrices are column-major: Fortran's interface is the same in every
/// build of the library.
struct OpenBlas {
  using Gemm = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const void* alpha,
                        const void* a, const int* lda, const void* b, const int* ldb, const void* beta, void* c, const int* ldc);
  using Gemv = void (*)(const char* trans, const int* m, const int* n, const void* alpha, const void* a, const int* lda, const void* x,
                        const int* incx, const void* beta, void* y, const int* incy);
  Gemm gemm[4];  ///< s d c z
  Gemv gemv[4];
  float (*sdot)(const int* n, const float* x, const int* incx, const float* y, const int* incy);
  double (*ddot)(const int* n, const double* x, const int* incx, const double* y, const int* incy);
  std::string description;
};

/// The name of OpenBLAS's kernels (OPENBLAS_CORETYPE) for a level. Used with BROADCLOTH_CPU, and where the library does not know the
/// processor.
const char* openblas_core(CpuLevel level);
/// Tells whether `core` names the kernels without AVX, which the library also chooses for processors newer than itself.
bool openblas_core_is_old(std::string_view core);

/// Opens the library at the first call, limited to one thread: the callers distribute work to the pool's threads (parallel.h). Throws
/// ErrorKind::Runtime if the library is missing; a later call tries again.
const OpenBlas& openblas();

/// A function of the library by its plain name ("sgemm_", LAPACK's too), or nullptr.
void* openblas_symbol(const char* name);

}  // namespace bc::cpu
