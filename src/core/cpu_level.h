#pragma once

namespace bc {

/// Instruction sets of x86-64 in the psABI's levels, as far as code is chosen by them.
enum class CpuLevel {
  baseline,  ///< x86-64: SSE2
  v3,        ///< x86-64-v3: AVX2, FMA and F16C
  v4,        ///< x86-64-v4: AVX-512 F, BW, CD, DQ and VL
};

/// The level that loops, products and generated code are chosen for: the processor's own, or that of the variable BROADCLOTH_CPU, which
/// tests set to try every level on one machine. Throws ErrorKind::Value for a level that does not exist or that the processor lacks.
CpuLevel cpu_level();

/// LLVM's name of the level that BROADCLOTH_CPU asks for ("x86-64-v3"); nullptr where it is not set, so that code is made for exactly this
/// processor.
const char* requested_cpu();

}  // namespace bc
