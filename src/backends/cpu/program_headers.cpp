#include "backends/cpu/program_headers.h"

#include <iterator>
#include <vector>

#include "codegen/cupy_complex.h"

namespace bc::cpu {
namespace {

constexpr const char* kNothing = "#pragma once\n";

constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"cuda.h", kNothing},
    {"cuda_runtime.h", kNothing},
    {"cuda_runtime_api.h", kNothing},
    {"device_launch_parameters.h", kNothing},
    {"device_functions.h", kNothing},
    {"device_atomic_functions.h", kNothing},
    {"driver_types.h", kNothing},
    {"vector_types.h", kNothing},
    {"vector_functions.h", kNothing},
    {"math_constants.h", kNothing},
    {"math_functions.h", kNothing},
    {"sm_20_intrinsics.h", kNothing},
    {"sm_30_intrinsics.h", kNothing},
    {"sm_35_intrinsics.h", kNothing},
    {"sm_60_atomic_functions.h", kNothing},
    {"math.h", kNothing},
    {"stdio.h", kNothing},
    {"stdint.h", kNothing},
    {"stddef.h", kNothing},
    {"stdlib.h", kNothing},
    {"stdbool.h", kNothing},
    {"string.h", kNothing},
    {"assert.h", kNothing},
    {"limits.h", kNothing},
    {"float.h", kNothing},
    {"time.h", kNothing},
    {"cstdint", kNothing},
    {"cstddef", kNothing},
    {"cstdio", kNothing},
    {"cstdlib", kNothing},
    {"cstring", kNothing},
    {"cassert", kNothing},
    {"climits", kNothing},
    {"cfloat", kNothing},
    {"cmath", kNothing},
    {"cuda_fp16.h", kNothing},
    {"cuda_fp16.hpp", kNothing},
    {"cuda_bf16.h", kNothing},
    {"cuda_bf16.hpp", kNothing},
    {"cuComplex.h", kNothing},
    {"cooperative_groups.h", kNothing},
    {"cooperative_groups/reduce.h", kNothing},
    {"cooperative_groups/scan.h", kNothing},
    {"curand.h", kNothing},
    {"curand_kernel.h", kNothing},
    {"curand_philox4x32_x.h", kNothing},
    {"curand_uniform.h", kNothing},
    {"curand_normal.h", kNothing},
    {"curand_lognormal.h", kNothing},
    {"curand_poisson.h", kNothing},
    {"curand_globals.h", kNothing},
    {"type_traits", kNothing},
    {"limits", kNothing},
    {"algorithm", kNothing},
    {"utility", kNothing},
    {"array", kNothing},
    {"functional", kNothing},
    {"initializer_list", kNothing},
    {"cuda/std/cstdint", kNothing},
    {"cuda/std/cstddef", kNothing},
    {"cuda/std/cmath", kNothing},
    {"cuda/std/limits", kNothing},
    {"cuda/std/type_traits", kNothing},
    {"cuda/std/utility", kNothing},
    {"cuda/std/array", kNothing},
    {"cuda/std/climits", kNothing},
    {"cuda/std/cassert", kNothing},
    {"cuda/std/functional", kNothing},
};

}  // namespace

std::span<const std::pair<const char*, const char*>> program_headers() {
  static const auto& all = *[] {
    auto* list = new std::vector<std::pair<const char*, const char*>>(std::begin(kHeaders), std::end(kHeaders));
    list->emplace_back("cupy/complex.cuh", kCupyComplex);
    list->emplace_back("thrust/complex.h", kThrustComplex);
    return list;
  }();
  return all;
}

}  // namespace bc::cpu
