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
/// through NVRTC, on the CPU through the embedded clang, which loops over a block's threads between barriers.
struct ProgramSource {
  std::string text;
  std::string name = "kernel.cu";    ///< the file name in the compiler's messages
  std::vector<std::string> options;  ///< in NVRTC's spelling: "-DN=4", "-I/path", "--use_fast_math", "--maxrregcount=32", "-lineinfo"
  std::vector<std::string> name_expressions;  ///< C++ names of kernels and variables that are asked for later ("scale<float>")
  std::vector<std::pair<std::string, std::string>> headers;  ///< served from memory: the name they are included with, and the text
  bool device_library = false;                               ///< puts src/device before the text (printed kernels)
  size_t library_bytes = 0;        ///< so much of `text`, at its beginning, is a library, of which only what is used need be compiled
  bool nvcc = false;               ///< compiles with the toolkit's nvcc instead of NVRTC; CUDA only
  std::vector<LinkedCode> linked;  ///< machine code, no CUDA C++, that the program is linked with; CUDA only
  bool foreign_text = false;       ///< the text holds CUDA C++ of users beside printed kernels
  std::vector<char> binary;        ///< a cubin, fatbin or PTX in the place of text; CUDA only

  /// A digest of everything above, and of the user's files that it includes: the program's name in caches.
  Hash128 digest() const;
};

/// The grid of a launch, as CUDA names it.
struct KernelLaunch {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {0, 0, 0};  ///< blocks of a cluster; 0: none
  unsigned shared_bytes = 0;        ///< dynamic shared memory
  bool cooperative = false;         ///< all blocks run at once, so that the grid may synchronise
};

/// One kernel of a loaded program.
class ProgramKernel {
 public:
  virtual ~ProgramKernel() = default;
  /// Bytes of each parameter in order; empty when the device does not tell.
  virtual std::span<const uint32_t> parameter_bytes() const = 0;
  /// Tells whether parameter_bytes() is known, so that empty means a kernel without parameters.
  virtual bool knows_parameters() const { return !parameter_bytes().empty(); }
  /// arguments[i] points to the bytes of parameter i; they are copied before the call returns. On the CPU the kernel has run when it
  /// returns. Throws ErrorKind::Value for a shape that the device or the kernel cannot take.
  virtual void launch(const KernelLaunch& launch, void** arguments, Stream stream) = 0;
  /// A CUfunction_attribute by its number in cuda.h (registers, shared, local, constant bytes, threads a block, versions).
  virtual int attribute(int number) const = 0;
  virtual void set_attribute(int number, int value) = 0;
  /// Blocks of a launch that one multiprocessor runs at once.
  virtual int max_active_blocks(int block_threads, size_t shared_bytes) const = 0;
  /// {grid, block} with the highest occupancy.
  virtual std::pair<int, int> best_block(size_t shared_bytes) const = 0;
};

/// A program loaded on one device. It and its kernels stay loaded while somebody owns it.
class Program {
 public:
  virtual ~Program() = default;
  /// By its extern "C" name or one of the name expressions. Throws ErrorKind::Attribute, listing what there is.
  virtual ProgramKernel& kernel(std::string_view name) = 0;
  /// Address and bytes of a __device__ or __constant__ variable.
  virtual std::pair<void*, size_t> variable(std::string_view name) = 0;
  /// The compiler's warnings.
  virtual const std::string& log() const = 0;
};

/// The program on a device: from memory, from the kernel cache on disk, or compiled now. Throws ErrorKind::Compile with the
/// compiler's log, whose lines are the user's own. Thread-safe.
std::shared_ptr<Program> load_program(Device device, const ProgramSource& source);

}  // namespace bc
