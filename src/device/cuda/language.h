// Qualifiers, indices, barriers, and names of C's headers that kernels use.
#pragma once

#define __global__ __attribute__((used, annotate("bc.kernel")))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ __attribute__((annotate("bc.shared")))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...) __attribute__((annotate("bc.cluster", __VA_ARGS__)))
#define __maxnreg__(...)
#define __block_size__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __CUDA_ARCH__ 900
#define __CUDA_ARCH_LIST__ 900
#define __BROADCLOTH_CPU__ 1

#define CUDART_CB
#define CUDARTAPI

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int_least8_t;
typedef short int_least16_t;
typedef int int_least32_t;
typedef long int_least64_t;
typedef unsigned char uint_least8_t;
typedef unsigned short uint_least16_t;
typedef unsigned int uint_least32_t;
typedef unsigned long uint_least64_t;
typedef signed char int_fast8_t;
typedef long int_fast16_t;
typedef long int_fast32_t;
typedef long int_fast64_t;
typedef unsigned char uint_fast8_t;
typedef unsigned long uint_fast16_t;
typedef unsigned long uint_fast32_t;
typedef unsigned long uint_fast64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
typedef long clock_t;
typedef unsigned long cudaTextureObject_t;
typedef struct CUstream_st* cudaStream_t;
#define NULL __null
#define offsetof(type, member) __builtin_offsetof(type, member)

#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32767 - 1)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807L - 1)
#define INT64_MAX 9223372036854775807L
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX UINT64_MAX
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN INT16_MIN
#define SHRT_MAX INT16_MAX
#define USHRT_MAX UINT16_MAX
#define INT_MIN INT32_MIN
#define INT_MAX INT32_MAX
#define UINT_MAX UINT32_MAX
#define LONG_MIN INT64_MIN
#define LONG_MAX INT64_MAX
#define ULONG_MAX UINT64_MAX
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

extern "C" {
#define __BC_PURE __attribute__((const, nothrow))
#define __BC_MEET __attribute__((convergent, nothrow))
__BC_PURE unsigned __bc_thread_x();
__BC_PURE unsigned __bc_thread_y();
__BC_PURE unsigned __bc_thread_z();
__BC_PURE unsigned __bc_block_x();
__BC_PURE unsigned __bc_block_y();
__BC_PURE unsigned __bc_block_z();
__BC_PURE unsigned __bc_grid_x();
__BC_PURE unsigned __bc_grid_y();
__BC_PURE unsigned __bc_grid_z();
__BC_PURE unsigned __bc_dim_x();
__BC_PURE unsigned __bc_dim_y();
__BC_PURE unsigned __bc_dim_z();
__BC_PURE unsigned __bc_linear();
__BC_PURE unsigned __bc_lane();
__BC_PURE unsigned __bc_warp();
__BC_PURE unsigned __bc_dynamic_bytes();
__BC_PURE unsigned __bc_cluster_x();
__BC_PURE unsigned __bc_cluster_y();
__BC_PURE unsigned __bc_cluster_z();
__BC_PURE unsigned long __bc_shared_stride();
__BC_PURE char* __bc_warp_memory();
__BC_PURE char* __bc_shared(unsigned);
__BC_PURE void* __bc_launch();
__BC_PURE int __bc_uniform(int);
__BC_MEET unsigned __bc_active_mask();
__BC_MEET void __bc_barrier();
__BC_MEET void __bc_warp_barrier(unsigned mask);
__BC_MEET void __bc_grid_barrier();
__BC_MEET void __bc_cluster_barrier();
__BC_MEET void __bc_yield();
__BC_MEET void __bc_spin();
__attribute__((nothrow, cold)) void __bc_stop();
int printf(const char*, ...);
int puts(const char*);
int putchar(int);
void* malloc(size_t);
void free(void*);
void* memcpy(void*, const void*, size_t);
void* memmove(void*, const void*, size_t);
void* memset(void*, int, size_t);
int memcmp(const void*, const void*, size_t);
size_t strlen(const char*);
int strcmp(const char*, const char*);
int strncmp(const char*, const char*, size_t);
char* strcpy(char*, const char*);
char* strncpy(char*, const char*, size_t);
}

BC_FN void __bc_fail(const char* what, const char* file, unsigned line, const char* function) {
  using Failed = void (*)(void*, const char*, const char*, unsigned, const char*);
  (*static_cast<const Failed*>(__bc_launch()))(__bc_launch(), what, file, line, function);
  __bc_stop();
}
#if defined(NDEBUG)
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __bc_fail(#condition, __FILE__, __LINE__, __func__))
#endif
inline void* operator new(size_t bytes) { return malloc(bytes); }
inline void* operator new[](size_t bytes) { return malloc(bytes); }
inline void* operator new(size_t, void* place) noexcept { return place; }
inline void operator delete(void* memory) noexcept { free(memory); }
inline void operator delete[](void* memory) noexcept { free(memory); }
inline void operator delete(void* memory, size_t) noexcept { free(memory); }
inline void operator delete[](void* memory, size_t) noexcept { free(memory); }
BC_FN void __trap() { __bc_fail("__trap()", "", 0, ""); }
BC_FN void __brkpt() {}
BC_FN void __assert_fail(const char* what, const char* file, unsigned line, const char* function) { __bc_fail(what, file, line, function); }
BC_FN void __assertfail(const void* what, const void* file, unsigned line, const void* function, size_t) {
  __bc_fail(static_cast<const char*>(what), static_cast<const char*>(file), line, static_cast<const char*>(function));
}

// ---- kernels that launch kernels (the compiler makes the call of __bc_child_shape, and a launch of the kernel's call behind it)
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
#define cudaStreamTailLaunch (reinterpret_cast<cudaStream_t>(3))
#define cudaStreamFireAndForget (reinterpret_cast<cudaStream_t>(4))
#define cudaStreamDefault 0u
#define cudaStreamNonBlocking 1u
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
typedef cudaError cudaError_t;
BC_FN cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = cudaStreamPerThread;
  return cudaSuccess;
}
BC_FN cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
BC_FN cudaError_t cudaGetLastError() { return cudaSuccess; }
BC_FN cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
BC_FN const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "an error"; }
BC_FN const char* cudaGetErrorName(cudaError_t error) { return error == cudaSuccess ? "cudaSuccess" : "cudaErrorInvalidValue"; }
BC_FN cudaError_t cudaMalloc(void** place, size_t bytes) {
  *place = malloc(bytes);
  return *place == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
template <class T>
BC_INLINE cudaError_t cudaMalloc(T** place, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(place), bytes);
}
BC_FN cudaError_t cudaFree(void* memory) {
  free(memory);
  return cudaSuccess;
}

BC_FN void __syncthreads() { __bc_barrier(); }
#define __barrier_sync(id) __bc_barrier()
#ifdef BC_THREAD_CHECKS
// The thread sanitizer does not see fences. It sees that all fences change one word.
static unsigned __bc_fences;
BC_FN void __threadfence() { __atomic_fetch_add(&__bc_fences, 1u, __ATOMIC_ACQ_REL); }
#else
BC_FN void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#endif
BC_FN void __threadfence_block() { __threadfence(); }
BC_FN void __threadfence_system() { __threadfence(); }
BC_FN void __nanosleep(unsigned) { __builtin_ia32_pause(); }
BC_FN long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
BC_FN clock_t clock() { return static_cast<clock_t>(__builtin_readcyclecounter()); }
BC_FN unsigned long long globaltimer() { return __builtin_readcyclecounter(); }
BC_FN unsigned long long __globaltimer() { return __builtin_readcyclecounter(); }
