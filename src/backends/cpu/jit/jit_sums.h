#pragma once
#include <llvm/IR/PassManager.h>

namespace bc::jit {

/// Keeps the vectorizer from loops that add up floats in their order and load them from places apart (a column of a matrix): putting the
/// loads together and taking the sums apart again costs more than the products in between. LLVM 19 takes such loads for cheap.
struct ScatteredSumPass : llvm::PassInfoMixin<ScatteredSumPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& known);
};

}  // namespace bc::jit
