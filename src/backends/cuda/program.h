#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/cuda_api.h"
#include "runtime/program.h"

namespace bc {
class CudaBackend;
}

namespace bc::cuda {

/// A user's program in the form that the driver loads.
struct ProgramBinary {
  std::vector<char> bytes;           ///< a cubin, or PTX closed by a zero
  std::vector<std::string> lowered;  ///< the mangled name of each name expression
  std::string log;                   ///< the compiler's warnings
};

/// Compiles for "sm_90" (a cubin) or "compute_90" (PTX) with NVRTC, or with nvcc where the source asks for it; relocatable programs
/// ("-rdc=true", or kernels that launch kernels) are linked with the device runtime. Needs no GPU. Throws ErrorKind::Compile with the
/// compiler's log, whose lines are the user's own. `linked` false leaves relocatable ones as they are, to be linked elsewhere.
ProgramBinary compile_source(const ProgramSource& source, std::string_view arch, bool linked = true);

/// Compiler, version and flags: what goes into the cache key beside the source.
std::string source_compiler(const ProgramSource& source, std::string_view arch);

/// Loads what compile_source made.
std::shared_ptr<Program> load_binary(CudaBackend& backend, const ProgramSource& source, ProgramBinary binary);

/// From now on programs stay loaded until the process ends: something that outlives their owners (a captured graph) launches their kernels.
void keep_programs_loaded();

}  // namespace bc::cuda
