#pragma once
#include "runtime/program.h"

namespace bc::bind {

/// Adds the headers of CuPy's that the text includes ("cupy/complex.cuh"), for NVRTC and for the CPU's compiler.
void add_cupy_headers(ProgramSource* source);

}  // namespace bc::bind
