#include "backends/cpu/support_object.h"

#include "codegen/tier0/tier0.h"

// The build compiles the object from src/device (cmake/Core.cmake) and defines its path.
asm(".section .rodata\n"
    ".balign 64\n"
    ".globl bc_cpu_support_begin\n"
    ".hidden bc_cpu_support_begin\n"
    "bc_cpu_support_begin:\n"
    ".incbin \"" BC_CPU_SUPPORT_OBJECT
    "\"\n"
    ".globl bc_cpu_support_end\n"
    ".hidden bc_cpu_support_end\n"
    "bc_cpu_support_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const char bc_cpu_support_begin[];
[[gnu::visibility("hidden")]] extern const char bc_cpu_support_end[];
}

namespace bc::cpu {

std::span<const char> support_object() {
  if (!Tier0Program::supported()) return {};
  return {bc_cpu_support_begin, static_cast<size_t>(bc_cpu_support_end - bc_cpu_support_begin)};
}

}  // namespace bc::cpu
