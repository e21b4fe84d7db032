#pragma once
#include <llvm/IR/Module.h>

namespace bc::jit {

/// Lets loops that call rare functions be vectorised. Such a function is declared and not defined, named bc_rare_*, and without effects;
/// the text calls it under a condition that few elements meet (`flag ? bc_rare_sin(x) : near`). The loop is then vectorized, and only lanes
/// that meet the condition execute the call.
void mark_rare_calls(llvm::Module& module);

}  // namespace bc::jit
