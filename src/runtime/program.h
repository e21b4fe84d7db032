#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/linked_code.h"
#include "runtime/backend.h"

namespace bc {

/// CUDA C++ as a user wrote it (raw kernels and modules) or as the compiler of Python kernels printed it. It runs on every device: on CUDA
/// through NVRTC, on the CPU through the embedded clang, whose code loops over a block's threads between barriers.
struct ProgramSource {
  std::string text;
  std::string name = "kernel.cu";    ///< the file name in the compiler's messages
  std::vector<std::string> options;  ///< in NVRTC's spelling: "-DN=4", "-I/path", "--use_fast_math", "--maxrregcount=32", "-lineinfo"
  std::vector<std::string> name_expressions;  ///< C++ names of kernels and variables that are looked up later ("scale<float>")
  std::vector<std::pair<std::string, std::string>> headers;  ///< served from memory: the name they are included with, and the text
  bool device_library = false;                               ///< puts src/device before the text (printed kernels)
  size_t library_bytes = 0;        ///< length of the library at the start of `text`; only its used parts need be compiled
  bool nvcc = false;               ///< compiles with the toolkit's nvcc instead of NVRTC; CUDA only
  std::vector<LinkedCode> linked;  ///< other code that the program is linked with; CUDA only
  bool foreign_text = false;       ///< the text holds users' CUDA C++ in addition to printed kernels
  std::vector<char> binary;        ///< a cubin, fatbin or PTX instead of `text`; CUDA only

  /// A digest of all members and of the user's files that the text includes: the program's key in caches.
  Hash128 digest() const;
};

/// The grid of a launch, as CUDA names it.
struct KernelLaunch {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {0, 0, 0};  ///< blocks of a cluster; 0: none
  unsigned shared_bytes = 0;        ///< dynamic shared memory
  bool cooperative = false;         ///< all blocks are resident at once, so that the grid may synchronise
};

/// One kernel of a loaded program.
class ProgramKernel {
 public:
  virtual ~ProgramKernel() = default;
  /// Bytes of each parameter in order; empty when the device does not report them.
  virtual std::span<const uint32_t> parameter_bytes() const = 0;
  /// Tells whether parameter_bytes() is known, so that empty means a kernel without parameters.
  virtual bool knows_parameters() const { return !parameter_bytes().empty(); }
  /// arguments[i] points to the bytes of parameter i; they are copied before the call returns. On the CPU the kernel has finished when the
  /// call returns. Throws ErrorKind::Value for a shape that the device or the kernel cannot take.
  virtual void launch(const KernelLaunch& launch, void** arguments, Stream stream) = 0;
  /// A CUfunction_attribute by its number in cuda.h (registers, shared, local, constant bytes, threads a block, versions).
  virtual int attribute(int number) const = 0;
  virtual void set_attribute(int number, int value) = 0;
  /// Blocks of a launch that one multiprocessor runs at once.
  virtual int max_active_blocks(int block_threads, size_t shared_bytes) const = 0;
  /// {grid, block} with the highest occupancy.
  virtual std::pair<int, int> best_block(size_t shared_bytes) const = 0;
};

/// A program loaded on one device. The program and its kernels stay loaded while a shared_ptr owns it.
class Program {
 public:
  virtual ~Program() = default;
  /// Finds a kernel by its extern "C" name or by one of the name expressions. Throws ErrorKind::Attribute, listing the kernels that exist.
  /// `shown`: what messages and profiles call it, where that is another name.
  virtual ProgramKernel& kernel(std::string_view name, std::string_view shown = {}) = 0;
  /// Address and bytes of a __device__ or __constant__ variable.
  virtual std::pair<void*, size_t> variable(std::string_view name) = 0;
  /// The compiler's warnings.
  virtual const std::string& log() const = 0;
};

/// Returns the program on a device: already loaded, from the kernel cache on disk, or compiled now. Throws ErrorKind::Compile with the
/// compiler's log, whose line numbers are those of the user's text. Thread-safe.
std::shared_ptr<Program> load_program(Device device, const ProgramSource& source);

}  // namespace bc
