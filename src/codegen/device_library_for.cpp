#include <set>

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

bool device_library_has(std::string_view name) {
  // Collects every word before a "(", and every word after struct, using, enum or define. This includes called functions, which does no
  // harm.
  static const std::set<std::string_view>& names = *[] {
    auto* all = new std::set<std::string_view>;
    const std::string_view text(kDeviceLibrary, kDeviceLibrarySize);
    const auto inside = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    std::string_view before;
    for (size_t i = 0; i < text.size();) {
      size_t end = i;
      while (end < text.size() && inside(text[end])) ++end;
      if (const std::string_view word = text.substr(i, end - i); !word.empty()) {
        const bool begun = before == "struct" || before == "using" || before == "enum" || before == "define";
        if (begun || (end < text.size() && text[end] == '(')) all->insert(word);
        before = word;
      }
      i = end + 1;
    }
    return all;
  }();
  return names.contains(name);
}

}  // namespace bc
