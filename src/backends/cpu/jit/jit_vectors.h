#pragma once
#include <llvm/IR/PassManager.h>

namespace bc::jit {

/// Keeps the vectorizer from loops that add up floats in their order and load them from places apart (a column of a matrix): putting the
/// loads together and taking the sums apart again costs more than the products in between. LLVM 19 takes such loads for cheap.
struct ScatteredSumPass : llvm::PassInfoMixin<ScatteredSumPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& known);
};

/// Makes comparisons of the small switches of innermost loops, which LLVM's passes made of `c == 3 || (c == 2 && …)`: its vectorizer takes
/// no loop with a switch (before LLVM 20).
struct SmallSwitchPass : llvm::PassInfoMixin<SmallSwitchPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& known);
};

/// Makes one instruction of a conversion to an integer that gives the lowest number for what does not fit (src/device/cast.h): the
/// processor's own gives the same, but in LLVM's language it is undefined there, so that it stands behind two comparisons. Runs last, when
/// no other pass can use that.
struct TruncationPass : llvm::PassInfoMixin<TruncationPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& known);
};

}  // namespace bc::jit
