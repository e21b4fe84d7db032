#include "backends/cpu/program_headers.h"

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
};

}  // namespace

std::span<const std::pair<const char*, const char*>> program_headers() { return kHeaders; }

}  // namespace bc::cpu
