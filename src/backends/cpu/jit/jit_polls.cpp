// Adds checks to a kernel's code whether it must end early (bc_jit_frame::asked). They are added to optimised code, so that they do not
// change how loops are optimised. Counted loops are split into strips with a check between strips; other loops check in each iteration.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backends/cpu/jit/jit_blocks.h"
#include "backends/cpu/jit/jit_internal.h"
#include "backends/cpu/jit/jit_passes.h"

namespace bc::jit {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::IRBuilder;
using llvm::Value;

constexpr unsigned kShort = 4096;     // an innermost loop with at most this many iterations needs no check
constexpr uint64_t kStrip = 1 << 14;  // iterations between two checks

class Polls {
 public:
  explicit Polls(Function& entry)
      : f_(entry), c_(entry.getContext()), i32_(llvm::Type::getInt32Ty(c_)), ptr_(llvm::PointerType::getUnqual(c_)) {
    IRBuilder<> at(&*f_.getEntryBlock().getFirstInsertionPt());
    seen_ = at.CreateAlloca(i32_);
    while (llvm::isa<llvm::AllocaInst>(*at.GetInsertPoint())) at.SetInsertPoint(&*std::next(at.GetInsertPoint()));
    tick_ = at.CreateLoad(ptr_, field(at, offsetof(bc_jit_frame, tick)));
    at.CreateStore(at.CreateLoad(i32_, tick_, /*isVolatile=*/true), seen_);
  }

  /// Adds a check at the end of a block whose only successor is `next`; the entry returns if the check is true.
  void ask(BasicBlock* from, BasicBlock* next) {
    from->getTerminator()->eraseFromParent();
    BasicBlock* changed = BasicBlock::Create(c_, "", &f_);
    BasicBlock* on = BasicBlock::Create(c_, "", &f_, next);
    BasicBlock* leave = BasicBlock::Create(c_, "", &f_);
    IRBuilder<> at(from);
    Value* now = at.CreateLoad(i32_, tick_, /*isVolatile=*/true);
    llvm::MDNode* rare = llvm::MDBuilder(c_).createBranchWeights(1, 1 << 20);
    at.CreateCondBr(at.CreateICmpNE(now, at.CreateLoad(i32_, seen_)), changed, on, rare);
    at.SetInsertPoint(changed);
    at.CreateStore(now, seen_);
    Value* launch = at.CreateLoad(ptr_, field(at, offsetof(bc_jit_frame, launch)));
    Value* asked = at.CreateLoad(ptr_, field(at, offsetof(bc_jit_frame, asked)));
    Value* answer = at.CreateCall(llvm::FunctionType::get(i32_, {ptr_}, false), asked, {launch});
    at.CreateCondBr(at.CreateICmpNE(answer, at.getInt32(0)), leave, on, rare);
    at.SetInsertPoint(leave);
    at.CreateRet(at.getInt64(0));
    IRBuilder<>(on).CreateBr(next);
    next->replacePhiUsesWith(from, on);
  }

  /// Splits a counted loop into strips. Returns false, with the loop unchanged, if it is not a counted loop.
  bool strip(llvm::Loop& loop) {
    BasicBlock *header = loop.getHeader(), *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
    if (before == nullptr || latch == nullptr) return false;
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
    if (branch == nullptr || !branch->isConditional() || (branch->getSuccessor(0) == header) == (branch->getSuccessor(1) == header))
      return false;
    auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (test == nullptr || !test->hasOneUse() || !test->getOperand(0)->getType()->isIntegerTy() || !loop.contains(test)) return false;
    const bool stays_on_true = branch->getSuccessor(0) == header;
    BasicBlock* exit = branch->getSuccessor(stays_on_true ? 1 : 0);
    if (loop.contains(exit)) return false;
    const unsigned bound_at = loop.isLoopInvariant(test->getOperand(1)) ? 1 : 0;
    Value *bound = test->getOperand(bound_at), *following = test->getOperand(1 - bound_at);
    auto goes_on = stays_on_true ? test->getPredicate() : test->getInversePredicate();
    if (bound_at == 0) goes_on = llvm::CmpInst::getSwappedPredicate(goes_on);
    auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(following);
    if (!loop.isLoopInvariant(bound) || sum == nullptr || sum->getOpcode() != llvm::Instruction::Add) return false;
    auto* counter = llvm::dyn_cast<llvm::PHINode>(sum->getOperand(0));
    auto* step = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1));
    if (counter == nullptr || step == nullptr || counter->getParent() != header || counter->getIncomingValueForBlock(latch) != sum)
      return false;
    const bool until_equal = goes_on == llvm::CmpInst::ICMP_NE;
    const bool up = step->getValue().isStrictlyPositive();
    if (step->isZero() || (!until_equal && !(up && (goes_on == llvm::CmpInst::ICMP_ULT || goes_on == llvm::CmpInst::ICMP_SLT))))
      return false;
    const unsigned bits = step->getBitWidth();
    if (bits < 32 || step->getValue().abs().ugt(1 << 12)) return false;
    const llvm::APInt far = llvm::APInt(bits, kStrip) * step->getValue().abs();

    BasicBlock* outer = BasicBlock::Create(c_, "", &f_, header);
    BasicBlock* check = BasicBlock::Create(c_, "", &f_, exit);
    BasicBlock* between = BasicBlock::Create(c_, "", &f_, exit);
    before->getTerminator()->replaceSuccessorWith(header, outer);
    IRBuilder<> at(outer);
    Value* begin = nullptr;
    for (llvm::PHINode& phi : header->phis()) {
      llvm::PHINode* joined = at.CreatePHI(phi.getType(), 2);
      joined->addIncoming(phi.getIncomingValueForBlock(before), before);
      joined->addIncoming(phi.getIncomingValueForBlock(latch), between);
      const auto index = static_cast<unsigned>(phi.getBasicBlockIndex(before));
      phi.setIncomingValue(index, joined);
      phi.setIncomingBlock(index, outer);
      if (&phi == counter) begin = joined;
    }
    Value* left = up ? at.CreateSub(bound, begin) : at.CreateSub(begin, bound);
    Value* long_way = at.CreateICmpUGT(left, llvm::ConstantInt::get(c_, far));
    // A loop whose bound is below its start has one iteration.
    if (!until_equal) long_way = at.CreateAnd(long_way, at.CreateICmp(goes_on, begin, bound));
    Value* next = at.CreateAdd(begin, llvm::ConstantInt::get(c_, up ? far : -far));
    Value* limit = at.CreateSelect(long_way, next, bound);
    at.CreateBr(header);

    at.SetInsertPoint(branch);
    Value* within = at.CreateICmp(goes_on, following, limit);
    branch->setCondition(within);
    branch->setSuccessor(0, header);
    branch->setSuccessor(1, check);
    branch->setMetadata(llvm::LLVMContext::MD_prof, nullptr);
    at.SetInsertPoint(check);
    at.CreateCondBr(at.CreateICmp(goes_on, following, bound), between, exit);
    exit->replacePhiUsesWith(latch, check);
    test->eraseFromParent();
    IRBuilder<>(between).CreateBr(outer);
    ask(between, outer);
    return true;
  }

 private:
  Value* field(IRBuilder<>& at, uint64_t offset) { return at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), f_.getArg(0), offset); }

  Function& f_;
  llvm::LLVMContext& c_;
  llvm::Type *i32_, *ptr_;
  Value *seen_ = nullptr, *tick_ = nullptr;
};

}  // namespace

void add_polls(Function& entry) {
  PassAnalyses known;
  auto& loops = known.functions.getResult<llvm::LoopAnalysis>(entry);
  auto& evolution = known.functions.getResult<llvm::ScalarEvolutionAnalysis>(entry);
  // Decides for all loops before any loop is changed.
  std::vector<llvm::Loop*> counted;
  std::vector<std::pair<BasicBlock*, BasicBlock*>> turns;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const unsigned most = evolution.getSmallConstantMaxTripCount(loop);
    if (most != 0 && most <= (loop->isInnermost() ? kShort : 1024)) continue;
    if (loop->isInnermost()) {
      counted.push_back(loop);
      continue;
    }
    llvm::SmallVector<BasicBlock*> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) turns.emplace_back(latch, loop->getHeader());
  }
  if (counted.empty() && turns.empty()) return;
  Polls polls(entry);
  for (llvm::Loop* loop : counted) {
    if (polls.strip(*loop)) continue;
    llvm::SmallVector<BasicBlock*> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) turns.emplace_back(latch, loop->getHeader());
  }
  for (const auto& [latch, header] : turns) {
    // If the edge no longer exists, the loop was split into strips and has its check already.
    if (llvm::is_contained(llvm::successors(latch), header)) {
      BasicBlock* way = llvm::SplitEdge(latch, header);
      polls.ask(way, header);
    }
  }
}

}  // namespace bc::jit
