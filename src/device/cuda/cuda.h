// CUDA C++'s own names for kernels on the CPU, over the device library. What stands behind a `__bc_` word, the CPU's compiler knows
// (src/backends/cpu/jit/jit_words.h). Included in order of dependence.
#pragma once
// clang-format off
#include "language.h"
#include "vectors.h"
#include "functions.h"
#include "integers.h"
#include "warps.h"
#include "atomics.h"
#include "halves.h"
#include "complexes.h"
#include "groups.h"
#include "random.h"
#include "std.h"
// clang-format on
