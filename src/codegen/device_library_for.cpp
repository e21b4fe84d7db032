#include "codegen/declarations.h"
#include "codegen/device_library.h"

namespace bc {
namespace {

using Macro = Declarations::Macro;

/// The macros of each compiler that the headers test. Macros of CPU instruction sets are left to the compiler.
constexpr Macro kCuda[] = {{"BC_CUDA", 1},         {"__CUDACC_RTC__", 1}, {"__clang__", {}},   {"BC_CPU_KERNEL", {}},
                           {"BC_CPU_SUPPORT", {}}, {"__F16C__", {}},      {"__AVX512F__", {}}, {"BC_PYTHON_PARALLEL", {}}};
constexpr Macro kCpu[] = {{"BC_CUDA", 0},   {"__CUDACC_RTC__", {}}, {"__CUDA_ARCH__", {}},
                          {"__clang__", 1}, {"BC_CPU_KERNEL", 1},   {"BC_CPU_SUPPORT", {}}};

std::span<const Macro> macros(LibraryTarget target) {
  return target == LibraryTarget::Cuda ? std::span<const Macro>(kCuda) : std::span<const Macro>(kCpu);
}

const Declarations& declarations(LibraryTarget target) {
  const auto read = [&] { return new Declarations({kDeviceLibrary, kDeviceLibrarySize}, macros(target)); };
  // Never destroyed: a compile may run while the process ends.
  if (target == LibraryTarget::Cuda) {
    static const Declarations& cuda = *read();
    return cuda;
  }
  static const Declarations& cpu = *read();
  return cpu;
}

}  // namespace

std::string device_library_for(LibraryTarget target, std::span<const std::string_view> programs, std::string_view more) {
  const Declarations& library = declarations(target);
  if (more.empty()) return library.used_by(programs);
  return Declarations(more, macros(target), &library).used_by(programs);
}

std::string library_part_for(LibraryTarget target, std::span<const std::string_view> programs, std::string_view library) {
  return Declarations(library, macros(target)).used_by(programs);
}

}  // namespace bc
