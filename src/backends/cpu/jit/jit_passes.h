/// The analysis managers that a run of LLVM's passes needs.
#pragma once
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

namespace bc::jit {

struct PassAnalyses {
  explicit PassAnalyses(llvm::TargetMachine* machine = nullptr, const llvm::PipelineTuningOptions& tuning = {}) : builder(machine, tuning) {
    if (machine != nullptr) {
      const llvm::TargetLibraryInfoImpl library(machine->getTargetTriple());
      functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    }
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  // Declared in this order because results of later managers refer to earlier ones.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

}  // namespace bc::jit
