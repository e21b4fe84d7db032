#pragma once
#include <llvm/IR/PassManager.h>

namespace bc::jit {

/// Chooses the code of a function that has one for vectors and one for single values (src/device/python/alone.h): a call of bc_alone_exp
/// in a loop that can be vectorized becomes the function's body, which vectorizes; everywhere else it becomes a call of the C library's
/// exp. Both forms of a vectorized loop, of vectors and of what is left over, have the same body and hence the same bits.
struct AlonePass : llvm::PassInfoMixin<AlonePass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& known);
};

}  // namespace bc::jit
