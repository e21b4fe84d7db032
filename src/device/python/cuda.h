// Functions by which kernels use their block, warp and grid.
#pragma once
#include "core.h"

namespace bc {
namespace py {

/// Reports an exception; only the first thread that raises is recorded.
BC_PY void report(Status* status, int code) {
  if (atomicCAS(&status->code, 0, code) != 0) return;
  status->thread[0] = static_cast<int>(threadIdx.x);
  status->thread[1] = static_cast<int>(threadIdx.y);
  status->thread[2] = static_cast<int>(threadIdx.z);
  status->block[0] = static_cast<int>(blockIdx.x);
  status->block[1] = static_cast<int>(blockIdx.y);
  status->block[2] = static_cast<int>(blockIdx.z);
}

BC_FN i64 grid_x() { return static_cast<i64>(blockIdx.x) * static_cast<i64>(blockDim.x) + static_cast<i64>(threadIdx.x); }
BC_FN i64 grid_y() { return static_cast<i64>(blockIdx.y) * static_cast<i64>(blockDim.y) + static_cast<i64>(threadIdx.y); }
BC_FN i64 grid_z() { return static_cast<i64>(blockIdx.z) * static_cast<i64>(blockDim.z) + static_cast<i64>(threadIdx.z); }
BC_FN i64 grid_size_x() { return static_cast<i64>(gridDim.x) * static_cast<i64>(blockDim.x); }
BC_FN i64 grid_size_y() { return static_cast<i64>(gridDim.y) * static_cast<i64>(blockDim.y); }
BC_FN i64 grid_size_z() { return static_cast<i64>(gridDim.z) * static_cast<i64>(blockDim.z); }

BC_FN i32 lane() { return static_cast<i32>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31u); }

BC_FN i32 uniform_sync(u32 mask, i32 predicate) { return __all_sync(mask, predicate) || !__any_sync(mask, predicate); }

/// The bytes of dynamic shared memory that the launch gave.
BC_FN i64 dynamic_shared_bytes() {
#if BC_CUDA
  u32 n;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(n));
  return n;
#else
  return __bc_dynamic_bytes();
#endif
}

/// The barrier of a cooperative launch. Each block adds to one counter such that its highest bit flips when the last block arrives.
#if BC_CUDA
static __device__ unsigned int grid_arrivals;
BC_PY i32 grid_sync() {
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
    __threadfence();
    const unsigned before = atomicAdd(&grid_arrivals, first ? 0x80000000u - (blocks - 1) : 1u);
    while (((before ^ *const_cast<volatile unsigned*>(&grid_arrivals)) & 0x80000000u) == 0) {}
    __threadfence();
  }
  __syncthreads();
  return 1;
}
#else
BC_FN i32 grid_sync() {
  __bc_grid_barrier();
  return 1;
}
#endif

// ---- shuffles of any type, a 32-bit word at a time
#define BC_PY_SHUFFLE(name, function)                                                                        \
  template <class T>                                                                                         \
  BC_INLINE T name(u32 mask, T value, i32 by) {                                                              \
    if constexpr (is_complex<T>) {                                                                           \
      return T(name(mask, value.re, by), name(mask, value.im, by));                                          \
    } else if constexpr (sizeof(T) < 4) {                                                                    \
      return bits_as<T>(static_cast<u16>(function(mask, static_cast<u32>(bits_as<u16>(value)), by)));        \
    } else {                                                                                                 \
      struct Words {                                                                                         \
        u32 w[sizeof(T) / 4];                                                                                \
      };                                                                                                     \
      Words words = bits_as<Words>(value);                                                                   \
      BC_UNROLL                                                                                              \
      for (int k = 0; k < static_cast<int>(sizeof(T) / 4); ++k) words.w[k] = function(mask, words.w[k], by); \
      return bits_as<T>(words);                                                                              \
    }                                                                                                        \
  }
BC_PY_SHUFFLE(shfl, __shfl_sync)
BC_PY_SHUFFLE(shfl_up, __shfl_up_sync)
BC_PY_SHUFFLE(shfl_down, __shfl_down_sync)
BC_PY_SHUFFLE(shfl_xor, __shfl_xor_sync)
#undef BC_PY_SHUFFLE

/// The lanes of the mask whose value has the same bits.
template <class T>
BC_INLINE u32 match_any(u32 mask, T value) {
  return __match_any_sync(mask, bits_as<conditional<sizeof(T) == 8, u64, u32>>(value));
}

/// A pair: the mask if all its lanes have the same bits, else 0; and whether they have.
template <class R, class T>
BC_INLINE R match_all(u32 mask, T value) {
  int all = 0;
  const u32 same = __match_all_sync(mask, bits_as<conditional<sizeof(T) == 8, u64, u32>>(value), &all);
  return R{same, all != 0};
}

}  // namespace py
}  // namespace bc
