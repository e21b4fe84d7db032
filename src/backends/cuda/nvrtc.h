#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "runtime/backend.h"

namespace bc::cuda {

/// CUDA C++ text that is compiled unchanged, without the device library before it (raw kernels and modules of the user, the backend's own
/// kernels).
struct CompilerInput {
  std::string text;
  std::string name = "kernel.cu";             ///< the file name in the compiler's messages
  std::vector<std::string> options;           ///< passed after the backend's own options ("--gpu-architecture", "--std=c++17")
  std::vector<std::string> name_expressions;  ///< C++ names whose mangled names are returned ("kernel<float>")
  std::vector<std::string> header_names;      ///< headers served from memory, by the name they are included with
  std::vector<std::string> header_texts;
};

struct CompiledProgram {
  std::vector<char> binary;                ///< a cubin, or PTX closed by a zero
  std::vector<std::string> lowered_names;  ///< one for each name expression
  std::string log;                         ///< the compiler's warnings
};

/// Compiles with NVRTC; needs no GPU. `arch` is "sm_90" (a cubin) or "compute_90" (PTX). Throws `failure` with the compiler's log,
/// ErrorKind::Import when there is no NVRTC. Thread-safe.
CompiledProgram compile_program(const CompilerInput& program, std::string_view arch, ErrorKind failure = ErrorKind::Runtime);

/// Compiles generated text with the device library before it; needs no GPU. `quick`: defines BC_QUICK and skips most of the optimiser, if
/// NVRTC can (12.8 and later).
std::vector<char> compile_for(const KernelSource& source, std::string_view arch, bool quick = false);

/// Opens NVRTC and compiles a tiny program for a device on another thread, once per process. NVRTC's start takes as long as compiling a
/// kernel; creating a context takes longer, so the two overlap.
void start_compiler(int device);

/// Compute capabilities that NVRTC compiles for, ascending: 75, 80, … 121.
std::vector<int> supported_archs();

/// The architecture to compile for: the device's own ("sm_90"), or the nearest older one as PTX ("compute_90") when NVRTC does not support
/// it. Throws when the device is older than every architecture of NVRTC.
std::string arch_for(int major, int minor);

/// Compiles sources for an architecture ("sm_90") and writes the results into a folder in the kernel cache's format; needs no GPU.
void write_kernels(const std::string& folder, const std::string& arch, std::span<const KernelSource> sources);

/// The Backend::target of a device whose arch() is `arch`.
std::string target_for(const std::string& arch);

/// The compiler with its version and flags, a part of the cache key: "nvrtc-13.0 --std=c++17 …". KernelSource::contract is not in it.
std::string compiler_description();

}  // namespace bc::cuda
