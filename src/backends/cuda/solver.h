#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "backends/cuda/cuda_libraries.h"
#include "core/dtype.h"
#include "runtime/exit.h"

namespace bc {
class CudaBackend;
}

/// cuSOLVER and the parts of cuBLAS that linear algebra needs, without their headers. Their enumerations are ints. tests/cpp compares the
/// declarations with NVIDIA's where those are installed.
namespace bc::cuda {

using cusolverHandle = struct CusolverContext*;
using cusolverParams = struct CusolverParams*;
using cusolverJacobi = struct CusolverJacobi*;
using cublasHandle = struct CublasContext*;

// The generic functions: they take a cudaDataType_t and 64-bit sizes.
#define BC_CUSOLVER_API(X)                                                                                                               \
  X(cusolverDnCreate, (cusolverHandle*))                                                                                                 \
  X(cusolverDnDestroy, (cusolverHandle))                                                                                                 \
  X(cusolverDnSetStream, (cusolverHandle, CUstream))                                                                                     \
  X(cusolverDnCreateParams, (cusolverParams*))                                                                                           \
  X(cusolverDnDestroyParams, (cusolverParams))                                                                                           \
  X(cusolverDnCreateGesvdjInfo, (cusolverJacobi*))                                                                                       \
  X(cusolverDnDestroyGesvdjInfo, (cusolverJacobi))                                                                                       \
  X(cusolverDnXgetrf_bufferSize, (cusolverHandle, cusolverParams, int64_t, int64_t, int, const void*, int64_t, int, size_t*, size_t*))   \
  X(cusolverDnXgetrf,                                                                                                                    \
    (cusolverHandle, cusolverParams, int64_t, int64_t, int, void*, int64_t, int64_t*, int, void*, size_t, void*, size_t, int*))          \
  X(cusolverDnXgetrs,                                                                                                                    \
    (cusolverHandle, cusolverParams, int, int64_t, int64_t, int, const void*, int64_t, const int64_t*, int, void*, int64_t, int*))       \
  X(cusolverDnXpotrf_bufferSize, (cusolverHandle, cusolverParams, int, int64_t, int, const void*, int64_t, int, size_t*, size_t*))       \
  X(cusolverDnXpotrf, (cusolverHandle, cusolverParams, int, int64_t, int, void*, int64_t, int, void*, size_t, void*, size_t, int*))      \
  X(cusolverDnXpotrs, (cusolverHandle, cusolverParams, int, int64_t, int64_t, int, const void*, int64_t, int, void*, int64_t, int*))     \
  X(cusolverDnXgeqrf_bufferSize,                                                                                                         \
    (cusolverHandle, cusolverParams, int64_t, int64_t, int, const void*, int64_t, int, const void*, int, size_t*, size_t*))              \
  X(cusolverDnXgeqrf,                                                                                                                    \
    (cusolverHandle, cusolverParams, int64_t, int64_t, int, void*, int64_t, int, void*, int, void*, size_t, void*, size_t, int*))        \
  X(cusolverDnXsyevd_bufferSize,                                                                                                         \
    (cusolverHandle, cusolverParams, int, int, int64_t, int, const void*, int64_t, int, const void*, int, size_t*, size_t*))             \
  X(cusolverDnXsyevd,                                                                                                                    \
    (cusolverHandle, cusolverParams, int, int, int64_t, int, void*, int64_t, int, void*, int, void*, size_t, void*, size_t, int*))       \
  X(cusolverDnXgesvd_bufferSize, (cusolverHandle, cusolverParams, signed char, signed char, int64_t, int64_t, int, const void*, int64_t, \
                                  int, const void*, int, const void*, int64_t, int, const void*, int64_t, int, size_t*, size_t*))        \
  X(cusolverDnXgesvd, (cusolverHandle, cusolverParams, signed char, signed char, int64_t, int64_t, int, void*, int64_t, int, void*, int, \
                       void*, int64_t, int, void*, int64_t, int, void*, size_t, void*, size_t, int*))

// Functions of newer libraries only: CUDA 12.6 and later.
#define BC_CUSOLVER_OPTIONAL_API(X)                                                                                                   \
  X(cusolverDnXsyevBatched_bufferSize,                                                                                                \
    (cusolverHandle, cusolverParams, int, int, int64_t, int, const void*, int64_t, int, const void*, int, size_t*, size_t*, int64_t)) \
  X(cusolverDnXsyevBatched, (cusolverHandle, cusolverParams, int, int, int64_t, int, void*, int64_t, int, void*, int, void*, size_t,  \
                             void*, size_t, int*, int64_t))

// Typed functions: the names for f32, f64, c64 and c128.
#define BC_CUSOLVER_TYPED_API(X)                                                                                                          \
  X(orgqr_bufferSize, cusolverDnSorgqr_bufferSize, cusolverDnDorgqr_bufferSize, cusolverDnCungqr_bufferSize, cusolverDnZungqr_bufferSize, \
    (cusolverHandle, int, int, int, const void*, int, const void*, int*))                                                                 \
  X(orgqr, cusolverDnSorgqr, cusolverDnDorgqr, cusolverDnCungqr, cusolverDnZungqr,                                                        \
    (cusolverHandle, int, int, int, void*, int, const void*, void*, int, int*))                                                           \
  X(potrfBatched, cusolverDnSpotrfBatched, cusolverDnDpotrfBatched, cusolverDnCpotrfBatched, cusolverDnZpotrfBatched,                     \
    (cusolverHandle, int, int, void**, int, int*, int))                                                                                   \
  X(gesvdjBatched_bufferSize, cusolverDnSgesvdjBatched_bufferSize, cusolverDnDgesvdjBatched_bufferSize,                                   \
    cusolverDnCgesvdjBatched_bufferSize, cusolverDnZgesvdjBatched_bufferSize,                                                             \
    (cusolverHandle, int, int, int, const void*, int, const void*, const void*, int, const void*, int, int*, cusolverJacobi, int))        \
  X(gesvdjBatched, cusolverDnSgesvdjBatched, cusolverDnDgesvdjBatched, cusolverDnCgesvdjBatched, cusolverDnZgesvdjBatched,                \
    (cusolverHandle, int, int, int, void*, int, void*, void*, int, void*, int, void*, int, int*, cusolverJacobi, int))

#define BC_CUBLAS_API(X)              \
  X(cublasCreate_v2, (cublasHandle*)) \
  X(cublasDestroy_v2, (cublasHandle)) \
  X(cublasSetStream_v2, (cublasHandle, CUstream))

#define BC_CUBLAS_TYPED_API(X)                                                                        \
  X(getrfBatched, cublasSgetrfBatched, cublasDgetrfBatched, cublasCgetrfBatched, cublasZgetrfBatched, \
    (cublasHandle, int, void* const*, int, int*, int*, int))                                          \
  X(getrsBatched, cublasSgetrsBatched, cublasDgetrsBatched, cublasCgetrsBatched, cublasZgetrsBatched, \
    (cublasHandle, int, int, int, const void* const*, int, const int*, void* const*, int, int*, int)) \
  X(trsm, cublasStrsm_v2, cublasDtrsm_v2, cublasCtrsm_v2, cublasZtrsm_v2,                             \
    (cublasHandle, int, int, int, int, int, int, const void*, const void*, int, void*, int))          \
  X(trsmBatched, cublasStrsmBatched, cublasDtrsmBatched, cublasCtrsmBatched, cublasZtrsmBatched,      \
    (cublasHandle, int, int, int, int, int, int, const void*, const void* const*, int, void* const*, int, int))

#define BC_FUNCTION_POINTER(name, parameters) LibraryFunction<int parameters> name;
#define BC_TYPED_POINTERS(name, s, d, c, z, parameters) LibraryFunction<int parameters> name[4];
struct CusolverApi {
  BC_CUSOLVER_API(BC_FUNCTION_POINTER)
  BC_CUSOLVER_OPTIONAL_API(BC_FUNCTION_POINTER)
  BC_CUSOLVER_TYPED_API(BC_TYPED_POINTERS)
};
struct CublasApi {
  BC_CUBLAS_API(BC_FUNCTION_POINTER)
  BC_CUBLAS_TYPED_API(BC_TYPED_POINTERS)
};
#undef BC_FUNCTION_POINTER
#undef BC_TYPED_POINTERS

/// The libraries' functions, opened at the first call. Throw ErrorKind::Import.
const CusolverApi& cusolver();
const CublasApi& cublas();

/// Throw ErrorKind::Memory or ErrorKind::Runtime for a status other than success.
void check_cusolver(int status, const char* call);
void check_cublas(int status, const char* call);

/// Handles for one stream; used by one thread at a time.
struct Solver {
  cusolverHandle handle = nullptr;
  cusolverParams params = nullptr;
  cusolverJacobi jacobi = nullptr;
  cublasHandle blas = nullptr;

  explicit Solver(CUstream stream);
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

 private:
  void close() noexcept;
};

/// The Solver of a stream, created at the first call and destroyed with the stream. The device's context must be current.
Solver& solver_of(CudaBackend& backend, CUstream stream);

/// The index of a dtype in the arrays of typed functions.
int typed_index(DType t);
/// The cudaDataType_t of a dtype.
int cuda_type(DType t);

}  // namespace bc::cuda

/// BC_CUSOLVER(cusolverDnXgetrf, …) calls a function and throws when it fails. A typed one: BC_CUSOLVER(orgqr[i], …).
#define BC_CUSOLVER(function, ...) ::bc::cuda::check_cusolver(::bc::cuda::cusolver().function(__VA_ARGS__), #function)
#define BC_CUBLAS(function, ...) ::bc::cuda::check_cublas(::bc::cuda::cublas().function(__VA_ARGS__), #function)
