// CUDA C++'s own names for kernels on the CPU, over the device library. Functions whose names begin with `__bc_` are built into the CPU's
// compiler (src/backends/cpu/jit/jit_words.h). Included in order of dependence.
#pragma once
// clang-format off
#include "language.h"
#include "vectors.h"
#include "functions.h"
#include "integers.h"
#include "rounding.h"
#include "simd.h"
#include "warps.h"
#include "atomics.h"
#include "halves.h"
#include "halves_more.h"
#include "complexes.h"
#include "groups.h"
#include "random.h"
#include "random_more.h"
#include "std.h"
#include "std_more.h"
#include "sync.h"
// clang-format on
