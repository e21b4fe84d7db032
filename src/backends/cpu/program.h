#pragma once
#include <memory>

#include "runtime/program.h"

namespace bc::cpu {

/// A user's program for the CPU: parsed now or read from the kernel cache, a kernel is compiled at its first launch with each block shape.
std::shared_ptr<Program> open_program(const ProgramSource& source);

}  // namespace bc::cpu
