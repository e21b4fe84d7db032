#include "backends/cpu/jit/jit_alone.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/DemandedBits.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Vectorize/LoopVectorizationLegality.h>

namespace bc::jit {
namespace {

constexpr llvm::StringLiteral kPrefix = "bc_alone_";
using Calls = llvm::SmallVector<llvm::CallInst*>;

class Chooser {
 public:
  Chooser(llvm::Function& function, llvm::FunctionAnalysisManager& known)
      : function_(function),
        loops_(known.getResult<llvm::LoopAnalysis>(function)),
        dominators_(known.getResult<llvm::DominatorTreeAnalysis>(function)),
        scalars_(known.getResult<llvm::ScalarEvolutionAnalysis>(function)),
        assumptions_(known.getResult<llvm::AssumptionAnalysis>(function)),
        target_(known.getResult<llvm::TargetIRAnalysis>(function)),
        library_(known.getResult<llvm::TargetLibraryAnalysis>(function)),
        remarks_(known.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function)),
        bits_(known.getResult<llvm::DemandedBitsAnalysis>(function)),
        accesses_(known.getResult<llvm::LoopAccessAnalysis>(function)) {
    // The forms in which the vectorizer looks at loops.
    for (llvm::Loop* loop : loops_) {
      llvm::simplifyLoop(loop, &dominators_, &loops_, &scalars_, &assumptions_, nullptr, false);
      llvm::formLCSSARecursively(*loop, dominators_, &loops_, &scalars_);
    }
  }

  /// The innermost loop of a call; nullptr without one.
  llvm::Loop* loop_of(const llvm::CallInst& call) const {
    llvm::Loop* const loop = loops_.getLoopFor(call.getParent());
    return loop != nullptr && loop->isInnermost() ? loop : nullptr;
  }

  /// Whether the vectorizer may take a loop if these calls in it are no obstacle. It refuses calls that it does not know, so they are
  /// asked about as instructions that it knows.
  bool can_be_vectorized(llvm::Loop& loop, const Calls& calls) {
    llvm::SmallVector<llvm::Instruction*> known;
    for (llvm::CallInst* call : calls) {
      llvm::IRBuilder<> at(call);
      known.push_back(llvm::cast<llvm::Instruction>(
          call->arg_size() == 1 ? at.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, call->getArgOperand(0))
                                : at.CreateBinaryIntrinsic(llvm::Intrinsic::maxnum, call->getArgOperand(0), call->getArgOperand(1))));
      call->replaceAllUsesWith(known.back());
      call->removeFromParent();
    }
    const bool legal = is_legal(loop);
    for (size_t k = 0; k < calls.size(); ++k) {
      calls[k]->insertBefore(known[k]);
      known[k]->replaceAllUsesWith(calls[k]);
      scalars_.forgetValue(known[k]);
      known[k]->eraseFromParent();
    }
    scalars_.forgetLoop(&loop);
    accesses_.clear();
    return legal;
  }

 private:
  bool is_legal(llvm::Loop& loop) {
    llvm::LoopVectorizeHints hints(&loop, false, remarks_, &target_);
    if (!hints.allowVectorization(&function_, &loop, false)) return false;
    llvm::PredicatedScalarEvolution scalars(scalars_, loop);
    llvm::LoopVectorizationRequirements requirements;
    llvm::LoopVectorizationLegality legality(&loop, scalars, &dominators_, &target_, &library_, &function_, accesses_, &loops_, &remarks_,
                                             &requirements, &hints, &bits_, &assumptions_, nullptr, nullptr);
    return legality.canVectorize(false);
  }

  llvm::Function& function_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  llvm::ScalarEvolution& scalars_;
  llvm::AssumptionCache& assumptions_;
  llvm::TargetTransformInfo& target_;
  llvm::TargetLibraryInfo& library_;
  llvm::OptimizationRemarkEmitter& remarks_;
  llvm::DemandedBits& bits_;
  llvm::LoopAccessInfoManager& accesses_;
};

void call_library(llvm::CallInst& call) {
  llvm::Function& from = *call.getCalledFunction();
  llvm::FunctionCallee to = from.getParent()->getOrInsertFunction(from.getName().drop_front(kPrefix.size()), from.getFunctionType());
  auto* const function = llvm::cast<llvm::Function>(to.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  call.setCalledFunction(function);
}

}  // namespace

llvm::PreservedAnalyses AlonePass::run(llvm::Function& function, llvm::FunctionAnalysisManager& known) {
  Calls found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (const llvm::Function* called = call->getCalledFunction(); called != nullptr && called->getName().starts_with(kPrefix))
        found.push_back(call);
  if (found.empty()) return llvm::PreservedAnalyses::all();

  llvm::MapVector<llvm::Loop*, Calls> by_loop;
  {
    Chooser chooser(function, known);
    for (llvm::CallInst* call : found) by_loop[chooser.loop_of(*call)].push_back(call);
    // All loops are judged before the first is changed.
    for (auto& [loop, calls] : by_loop) {
      if (loop != nullptr && chooser.can_be_vectorized(*loop, calls)) continue;
      for (llvm::CallInst* call : std::exchange(calls, {})) call_library(*call);
    }
  }
  for (auto& [loop, calls] : by_loop)
    for (llvm::CallInst* call : calls) {
      llvm::InlineFunctionInfo done;
      llvm::InlineFunction(*call, done);
    }
  return llvm::PreservedAnalyses::none();
}

}  // namespace bc::jit
