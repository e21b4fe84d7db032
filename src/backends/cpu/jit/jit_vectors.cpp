#include "backends/cpu/jit/jit_vectors.h"

#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <cmath>

namespace bc::jit {
namespace {

/// Whether a loop, which has one way in and one back, adds up floats in their order.
bool sums_in_order(llvm::Loop& loop) {
  return llvm::any_of(loop.getHeader()->phis(), [&](llvm::PHINode& phi) {
    llvm::RecurrenceDescriptor found;
    return llvm::RecurrenceDescriptor::isReductionPHI(&phi, &loop, found) && found.isOrdered();
  });
}

/// Whether the addresses of a load are neither one nor next to each other.
bool is_scattered(llvm::LoadInst& load, llvm::Loop& loop, llvm::ScalarEvolution& scalars) {
  const llvm::SCEV* address = scalars.getSCEV(load.getPointerOperand());
  if (scalars.isLoopInvariant(address, &loop)) return false;
  const auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(address);
  const auto* step =
      walk != nullptr && walk->getLoop() == &loop ? llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(scalars)) : nullptr;
  if (step == nullptr) return true;
  const uint64_t bytes = load.getDataLayout().getTypeStoreSize(load.getType());
  return step->getAPInt().abs() != bytes;
}

/// Whether an instruction takes so long that several of it in one vector are worth the loads of its operands.
bool is_slow(const llvm::Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return !call->isAssumeLikeIntrinsic() && call->getIntrinsicID() != llvm::Intrinsic::fabs &&
           call->getIntrinsicID() != llvm::Intrinsic::fmuladd;
  return llvm::isa<llvm::CallBase>(instruction) || instruction.getOpcode() == llvm::Instruction::FDiv;
}

bool is_faster_alone(llvm::Loop& loop, llvm::ScalarEvolution& scalars) {
  bool scattered = false;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& instruction : *block) {
      if (is_slow(instruction)) return false;
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) scattered |= is_scattered(*load, loop, scalars);
    }
  return scattered && sums_in_order(loop);
}

}  // namespace

llvm::PreservedAnalyses ScatteredSumPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& known) {
  auto& scalars = known.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : known.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && loop->isLoopSimplifyForm() && is_faster_alone(*loop, scalars))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
  return llvm::PreservedAnalyses::all();
}

namespace {

/// A comparison for each case, in blocks one after the other.
void compare_cases(llvm::SwitchInst* from) {
  llvm::BasicBlock *first = from->getParent(), *at = first, *otherwise = from->getDefaultDest();
  // Values that the blocks behind the switch get from this block.
  llvm::MapVector<llvm::PHINode*, llvm::Value*> given;
  for (llvm::BasicBlock* next : llvm::SmallPtrSet<llvm::BasicBlock*, 8>(llvm::succ_begin(first), llvm::succ_end(first)))
    for (llvm::PHINode& phi : next->phis()) {
      given[&phi] = phi.getIncomingValueForBlock(first);
      phi.removeIncomingValueIf([&](unsigned k) { return phi.getIncomingBlock(k) == first; }, false);
    }
  const auto join = [&](llvm::BasicBlock* source, llvm::BasicBlock* target) {
    for (llvm::PHINode& phi : target->phis()) phi.addIncoming(given[&phi], source);
  };
  llvm::SmallVector<std::pair<llvm::ConstantInt*, llvm::BasicBlock*>> cases;
  for (const auto& each : from->cases()) cases.emplace_back(each.getCaseValue(), each.getCaseSuccessor());
  llvm::Value* const value = from->getCondition();
  from->eraseFromParent();
  for (size_t k = 0; k < cases.size(); ++k) {
    llvm::BasicBlock* const next =
        k + 1 == cases.size() ? otherwise : llvm::BasicBlock::Create(first->getContext(), "case", first->getParent(), at->getNextNode());
    llvm::IRBuilder<> end(at);
    end.CreateCondBr(end.CreateICmpEQ(value, cases[k].first), cases[k].second, next);
    join(at, cases[k].second);
    if (next == otherwise) join(at, otherwise);
    at = next;
  }
}

}  // namespace

llvm::PreservedAnalyses SmallSwitchPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& known) {
  constexpr unsigned kMost = 4;
  llvm::SmallVector<llvm::SwitchInst*> found;
  for (llvm::Loop* loop : known.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost())
      for (llvm::BasicBlock* block : loop->blocks())
        if (auto* each = llvm::dyn_cast<llvm::SwitchInst>(block->getTerminator()))
          if (each->getNumCases() > 0 && each->getNumCases() <= kMost) found.push_back(each);
  for (llvm::SwitchInst* each : found) compare_cases(each);
  return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

namespace {

using namespace llvm::PatternMatch;

/// Whether a condition says that a number lies between the limits of a signed integer of so many bits, and nothing else.
bool says_that_it_fits(llvm::Value* condition, llvm::Value* number, unsigned bits) {
  llvm::Value *first = nullptr, *second = nullptr;
  if (!match(condition, m_LogicalAnd(m_Value(first), m_Value(second)))) return false;
  const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
  bool low = false, high = false;
  for (llvm::Value* test : {first, second}) {
    llvm::FCmpInst::Predicate is = {};
    const llvm::APFloat* bound = nullptr;
    if (!match(test, m_FCmp(is, m_Specific(number), m_APFloat(bound)))) return false;
    const double at = bound->convertToDouble();
    low |= (is == llvm::FCmpInst::FCMP_OGE && at == -limit) || (is == llvm::FCmpInst::FCMP_OGT && at == -limit - 1 && bits == 32);
    high |= is == llvm::FCmpInst::FCMP_OLT && at == limit;
  }
  return low && high;
}

/// fits ? (integer)number : lowest, of floats or vectors of them.
llvm::FPToSIInst* guarded_truncation(llvm::Instruction& instruction) {
  llvm::Value *condition = nullptr, *made = nullptr, *inner = nullptr;
  const llvm::APInt* otherwise = nullptr;
  if (!match(&instruction, m_Select(m_Value(condition), m_Value(made), m_APInt(otherwise))) || !otherwise->isMinSignedValue())
    return nullptr;
  auto* truncation = llvm::dyn_cast<llvm::FPToSIInst>(made);
  const unsigned bits = instruction.getType()->getScalarSizeInBits();
  if (truncation == nullptr || (bits != 32 && bits != 64)) return nullptr;
  llvm::Value* const number = truncation->getOperand(0);
  llvm::Type* const from = number->getType()->getScalarType();
  if (!from->isFloatTy() && !from->isDoubleTy()) return nullptr;
  if (match(number, m_Select(m_Specific(condition), m_Value(inner), m_AnyZeroFP())) && says_that_it_fits(condition, inner, bits)) {
    truncation->setOperand(0, inner);
    return truncation;
  }
  return says_that_it_fits(condition, number, bits) ? truncation : nullptr;
}

}  // namespace

llvm::PreservedAnalyses TruncationPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& /*known*/) {
  bool changed = false;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block))
      if (llvm::FPToSIInst* truncation = guarded_truncation(instruction)) {
        llvm::IRBuilder<> at(&instruction);
        instruction.replaceAllUsesWith(at.CreateFreeze(truncation));
        instruction.eraseFromParent();
        changed = true;
      }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace bc::jit
