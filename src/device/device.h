// The device library: freestanding C++17 for NVRTC, the embedded clang and the host compiler. Included in order of dependence; the
// build joins these files into one text.
#pragma once
// clang-format off
#include "types.h"
#include "access.h"
#include "cast.h"
#include "complex.h"
#include "arith.h"
#include "integer.h"
#include "fp.h"
#include "exp_log.h"
#include "trig.h"
#include "hyperbolic.h"
#include "power.h"
#include "complex_math.h"
#include "special.h"
#include "rare.h"
#include "reduce.h"
#include "philox.h"
#include "blocks.h"
#include "sums.h"
// clang-format on
