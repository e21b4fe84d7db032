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
  std::vector<char> bytes;           ///< a cubin, or PTX that ends in a zero
  std::vector<std::string> lowered;  ///< the mangled name of each name expression
  std::string log;                   ///< the compiler's warnings
};

/// Compiles for "sm_90" (a cubin) or "compute_90" (PTX) with NVRTC, or with nvcc where the source asks for it; relocatable programs
/// ("-rdc=true", or kernels that launch kernels) are linked with the device runtime. Needs no GPU. Throws ErrorKind::Compile with the
/// compiler's log, whose line numbers are those of the user's text. `linked` false returns relocatable programs unlinked.
ProgramBinary compile_source(const ProgramSource& source, std::string_view arch, bool linked = true);

/// Compiler, version and flags: the part of the cache key that does not come from the source.
std::string source_compiler(const ProgramSource& source, std::string_view arch);

/// Compiles a program into a folder of the kernel cache, where open_program looks for what a wheel ships; needs no GPU.
void write_program(const std::string& folder, const std::string& arch, const ProgramSource& source);

/// Loads the result of compile_source.
std::shared_ptr<Program> load_binary(CudaBackend& backend, const ProgramSource& source, ProgramBinary binary);

/// From now on programs stay loaded until the process ends: a captured graph may launch their kernels after the last owner has released
/// them.
void keep_programs_loaded();

}  // namespace bc::cuda
