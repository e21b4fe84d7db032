// Transformations of a kernel before it is split at its barriers: versions for threads inside the data's bounds, and loops that all threads
// run together.
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "backends/cpu/jit/jit_passes.h"
#include "backends/cpu/jit/jit_words.h"

namespace bc::jit {

void describe_words(llvm::Module& module) {
  for (Function& f : module) {
    if (!f.isDeclaration() || !is_leaf(word_of(f.getName()))) continue;
    f.setDoesNotAccessMemory();
    f.setDoesNotThrow();
    f.setWillReturn();
    f.setSpeculatable();
  }
}

void fence_volatile(Function& f) {
  std::vector<llvm::StoreInst*> stores;
  for (Instruction& instruction : llvm::instructions(f)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store != nullptr && store->isVolatile() && !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand())))
      stores.push_back(store);
  }
  llvm::Type* mask = llvm::Type::getInt32Ty(f.getContext());
  const llvm::FunctionCallee barrier = f.getParent()->getOrInsertFunction(
      "__bc_warp_barrier", llvm::FunctionType::get(llvm::Type::getVoidTy(f.getContext()), {mask}, false));
  for (llvm::StoreInst* store : stores) {
    for (Instruction* at : {static_cast<Instruction*>(store), store->getNextNode()})
      CallInst::Create(barrier, {llvm::ConstantInt::get(mask, 0xffffffff)}, "", at->getIterator());
  }
}

void tidy(Function& f) {
  PassAnalyses known;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.run(f, known.functions);
}

/// Whether the code from a block on has no effect before the thread ends or reaches `other`.
static bool only_ends(BasicBlock* at, BasicBlock* other) {
  llvm::SmallPtrSet<BasicBlock*, 8> seen;
  llvm::SmallVector<BasicBlock*> work{at};
  while (!work.empty()) {
    BasicBlock* b = work.pop_back_val();
    if (b == other || !seen.insert(b).second) continue;
    if (seen.size() > 8) return false;
    for (const Instruction& instruction : *b) {
      if (instruction.mayHaveSideEffects()) return false;
    }
    work.append(llvm::succ_begin(b), llvm::succ_end(b));
  }
  return true;
}

/// Whether a loop's body can be vectorized over threads.
static bool suits_vectors(const llvm::Loop& loop) {
  for (BasicBlock* at : loop.blocks()) {
    for (Instruction& instruction : *at) {
      if (instruction.isAtomic() || instruction.isVolatile()) return false;
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        const Function* callee = call->getCalledFunction();
        if (callee == nullptr) return false;
        if (callee->isIntrinsic() || is_leaf(word_of(&instruction)) || callee->getName().starts_with("bc_rare_")) continue;
        return false;
      }
      for (const Value* operand : instruction.operands()) {
        if (operand->getType()->isPointerTy() && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(operand))) return false;
      }
    }
  }
  return true;
}

std::vector<std::pair<Value*, bool>> find_guards(Function& f, const std::function<bool(Value*)>& follows) {
  std::vector<std::pair<Value*, bool>> guards;
  Analyses known(f);
  bool barriers = false;
  for (Instruction& instruction : llvm::instructions(f)) {
    const Word word = word_of(&instruction);
    if (word == Word::GridBarrier || word == Word::ClusterBarrier || word == Word::Spin) return guards;
    barriers |= is_barrier(word);
  }
  if (!barriers && known.loops.empty()) return guards;
  llvm::SmallPtrSet<BasicBlock*, 16> seen;
  for (BasicBlock* at = &f.getEntryBlock(); at != nullptr && seen.insert(at).second && guards.size() < 4;) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(at->getTerminator());
    if (branch == nullptr) break;
    if (branch->isUnconditional()) {
      at = branch->getSuccessor(0);
      continue;
    }
    if (known.loops.getLoopFor(at) != nullptr) break;
    BasicBlock *yes = branch->getSuccessor(0), *no = branch->getSuccessor(1);
    if (!known.uniform->hasDivergentTerminator(*at) || !follows(branch->getCondition())) break;
    const auto* node = known.after.getNode(at);
    BasicBlock* meets = node == nullptr || node->getIDom() == nullptr ? nullptr : node->getIDom()->getBlock();
    const bool skips_no = no == meets || only_ends(no, yes), skips_yes = yes == meets || only_ends(yes, no);
    if (skips_no == skips_yes) break;
    guards.emplace_back(branch->getCondition(), skips_no);
    at = skips_no ? yes : no;
  }
  if (guards.empty() || barriers) return guards;
  // Without barriers, two versions pay off only for a loop that all threads can run together.
  for (llvm::Loop* loop : known.loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && suits_vectors(*loop)) return guards;
  }
  return {};
}

/// Rewrites each counter that differs between threads (start, start + step, …) as start + common count, computed at `at`: the count is the
/// same for all threads, and index expressions stay linear in the thread's index, so that they can be vectorized.
static void split_counters(llvm::Loop& loop, Instruction* at, Analyses& known, const std::function<bool(Value*)>& follows) {
  BasicBlock *header = loop.getHeader(), *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
  if (before == nullptr || latch == nullptr) return;
  auto* wide = llvm::Type::getInt64Ty(header->getContext());
  std::vector<llvm::PHINode*> phis;
  for (llvm::PHINode& phi : header->phis()) phis.push_back(&phi);
  for (llvm::PHINode* phi : phis) {
    auto* step = llvm::dyn_cast<Instruction>(phi->getIncomingValueForBlock(latch));
    Value* start = phi->getIncomingValueForBlock(before);
    if (step == nullptr || !follows(start) || known.uniform->isUniform(static_cast<const Value*>(phi))) continue;
    Value* by = nullptr;
    uint64_t scale = 1;
    if (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(step); sum != nullptr && sum->getOpcode() == Instruction::Add) {
      by = sum->getOperand(0) == phi ? sum->getOperand(1) : sum->getOperand(1) == phi ? sum->getOperand(0) : nullptr;
    } else if (auto* moved = llvm::dyn_cast<llvm::GetElementPtrInst>(step);
               moved != nullptr && moved->getPointerOperand() == phi && moved->getNumIndices() == 1) {
      by = moved->getOperand(1);
      scale = header->getModule()->getDataLayout().getTypeAllocSize(moved->getSourceElementType());
    }
    bool moved = false;
    if (by == nullptr || !loop.makeLoopInvariant(by, moved, before->getTerminator()) ||
        !known.uniform->isUniform(static_cast<const Value*>(by)))
      continue;
    const bool pointer = phi->getType()->isPointerTy();
    const bool exact = !pointer && llvm::cast<llvm::BinaryOperator>(step)->hasNoSignedWrap() && phi->getType()->getIntegerBitWidth() < 64;
    llvm::Type* type = pointer || exact ? wide : phi->getType();
    llvm::PHINode* count = llvm::PHINode::Create(type, 2, "", header->begin());
    IRBuilder<> add(step);
    Value* amount = type == wide ? add.CreateSExt(by, wide) : by;
    if (scale != 1) amount = add.CreateMul(amount, llvm::ConstantInt::get(wide, scale));
    count->addIncoming(llvm::ConstantInt::get(type, 0), before);
    count->addIncoming(add.CreateAdd(count, amount), latch);
    IRBuilder<> here(at);
    Value* now = pointer ? here.CreateGEP(llvm::Type::getInt8Ty(header->getContext()), start, count)
                 : exact ? here.CreateTrunc(here.CreateNSWAdd(here.CreateSExt(start, wide), count), phi->getType(), "", false, true)
                         : here.CreateAdd(start, count);
    phi->replaceAllUsesWith(now);
    phi->eraseFromParent();
  }
}

/// Whether a condition depends only on the thread's index and on values that are the same for all threads.
static bool can_vote(Value* value, Analyses& known, const std::function<bool(Value*)>& follows, unsigned depth = 0) {
  if (follows(value)) return true;
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (instruction == nullptr || depth > 8) return false;
  if (llvm::isa<llvm::PHINode>(instruction)) return known.uniform->isUniform(static_cast<const Value*>(instruction));
  if (!llvm::isa<llvm::CmpInst>(value) && !llvm::isa<llvm::CastInst>(value) && !llvm::isa<llvm::BinaryOperator>(value)) return false;
  if (instruction->isIntDivRem()) return false;
  for (Value* operand : instruction->operands()) {
    if (!can_vote(operand, known, follows, depth + 1)) return false;
  }
  return true;
}

/// Splits a loop whose condition differs between threads into two: in the first, threads iterate together while all of them (with `many`, a
/// good part) have an iteration left; in the second, each thread runs its remaining iterations alone. Returns the second loop's blocks.
static std::vector<BasicBlock*> vote_on_loop(llvm::Loop& loop, llvm::BranchInst* branch, Value* condition, bool many) {
  BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  Function& f = *header->getParent();
  const bool stays_on = loop.contains(branch->getSuccessor(0));
  BasicBlock *body = branch->getSuccessor(stays_on ? 0 : 1), *exit = branch->getSuccessor(stays_on ? 1 : 0);
  llvm::ValueToValueMapTy map;
  std::vector<BasicBlock*> copies;
  for (BasicBlock* at : loop.blocks()) {
    BasicBlock* copy = llvm::CloneBasicBlock(at, map, ".rest", &f);
    map[at] = copy;
    copies.push_back(copy);
  }
  llvm::remapInstructionsInBlocks(copies, map);
  for (BasicBlock* copy : copies) {
    for (Instruction& instruction : llvm::make_early_inc_range(*copy)) {
      if (word_of(&instruction) == Word::SoftBarrier) instruction.eraseFromParent();
    }
  }
  auto* rest = llvm::cast<BasicBlock>(static_cast<Value*>(map[header]));
  auto* rest_latch = llvm::cast<BasicBlock>(static_cast<Value*>(map[latch]));
  BasicBlock* check = BasicBlock::Create(f.getContext(), "", &f, exit);
  auto* type = llvm::FunctionType::get(condition->getType(), {condition->getType()}, false);
  llvm::FunctionCallee vote = f.getParent()->getOrInsertFunction("__bc_vote", type);
  llvm::FunctionCallee vote_many = f.getParent()->getOrInsertFunction("__bc_vote_many", type);
  for (llvm::FunctionCallee* one : {&vote, &vote_many}) llvm::cast<Function>(one->getCallee())->setDoesNotAccessMemory();
  IRBuilder<> at(branch);
  Value* on = stays_on ? condition : at.CreateNot(condition);
  Value* off = stays_on ? at.CreateNot(condition) : condition;
  Value* go = at.CreateCall(many ? vote_many : vote, {on});
  BasicBlock* turn = many ? BasicBlock::Create(f.getContext(), "", &f, body) : body;
  at.CreateCondBr(go, turn, check);
  branch->eraseFromParent();
  if (many) {
    // Threads whose condition is false keep their values, so that it stays false.
    for (llvm::PHINode& phi : body->phis()) phi.replaceIncomingBlockWith(header, turn);
    BasicBlock* kept = BasicBlock::Create(f.getContext(), "", &f, exit);
    at.SetInsertPoint(turn);
    at.CreateCondBr(on, body, kept);
    at.SetInsertPoint(kept);
    for (llvm::PHINode& phi : header->phis()) {
      llvm::PHINode* joined = at.CreatePHI(phi.getType(), 2);
      joined->addIncoming(phi.getIncomingValueForBlock(latch), latch);
      joined->addIncoming(&phi, turn);
      const int index = phi.getBasicBlockIndex(latch);
      phi.setIncomingValue(static_cast<unsigned>(index), joined);
      phi.setIncomingBlock(static_cast<unsigned>(index), kept);
    }
    at.CreateBr(header);
    latch->getTerminator()->replaceSuccessorWith(header, kept);
  }
  at.SetInsertPoint(check);
  at.CreateCondBr(at.CreateCall(vote, {off}), exit, rest);
  // The second loop begins with the values that the first one ends with.
  for (llvm::PHINode& phi : header->phis()) {
    auto* copy = llvm::cast<llvm::PHINode>(static_cast<Value*>(map[&phi]));
    for (int i = static_cast<int>(copy->getNumIncomingValues()) - 1; i >= 0; --i) {
      if (copy->getIncomingBlock(static_cast<unsigned>(i)) != rest_latch) copy->removeIncomingValue(static_cast<unsigned>(i), false);
    }
    copy->addIncoming(&phi, check);
  }
  for (llvm::PHINode& phi : exit->phis()) {
    const int index = phi.getBasicBlockIndex(header);
    if (index < 0) continue;
    Value* value = phi.getIncomingValue(static_cast<unsigned>(index));
    phi.setIncomingBlock(static_cast<unsigned>(index), check);
    Value* copy = map.lookup(value);
    phi.addIncoming(copy == nullptr ? value : copy, rest);
  }
  return copies;
}

static llvm::FunctionCallee soft_barrier(Function& f) {
  return f.getParent()->getOrInsertFunction("__bc_soft_barrier", llvm::FunctionType::get(llvm::Type::getVoidTy(f.getContext()), false));
}

void part_barrier_loops(Function& f) {
  if (llvm::none_of(f, stops_block)) return;  // true for most kernels, which then need no analyses
  Analyses known(f);
  const llvm::SmallPtrSet<BasicBlock*, 16> parted = known.parted(f);
  llvm::SmallSetVector<std::pair<BasicBlock*, BasicBlock*>, 8> edges;
  for (llvm::Loop* loop : known.loops.getLoopsInPreorder()) {
    const auto stops = [](const BasicBlock* at) { return stops_block(*at); };
    if (parted.contains(loop->getHeader()) || llvm::none_of(loop->blocks(), stops)) continue;
    llvm::SmallVector<BasicBlock*> exiting;
    loop->getExitingBlocks(exiting);
    if (std::any_of(exiting.begin(), exiting.end(), [&](BasicBlock* at) { return known.uniform->hasDivergentTerminator(*at); })) continue;
    for (BasicBlock* at : exiting) {
      for (BasicBlock* next : llvm::successors(at)) edges.insert({at, next});
    }
  }
  for (const auto& [at, next] : edges) {
    if (only_ends(next, nullptr)) continue;
    BasicBlock* way = llvm::SplitEdge(at, next);
    CallInst::Create(soft_barrier(f), {}, "", way->getFirstNonPHIIt());
  }
}

void soften_loops(Function& f, const BlockShape& shape, const std::function<bool(Value*)>& follows) {
  if (shape.count() < 8) return;
  bool warps = false;
  for (Instruction& instruction : llvm::instructions(f)) warps |= word_of(&instruction) == Word::WarpBarrier;
  const llvm::FunctionCallee barrier = soft_barrier(f);
  llvm::SmallPtrSet<BasicBlock*, 8> done;
  for (bool again = true; again;) {
    again = false;
    Analyses known(f);
    const llvm::SmallPtrSet<BasicBlock*, 16> parted = known.parted(f);
    for (llvm::Loop* loop : known.loops.getLoopsInPreorder()) {
      BasicBlock* header = loop->getHeader();
      // The loop's own condition may differ between threads; the path to the loop must not.
      BasicBlock* from = loop->getLoopPredecessor();
      if (!loop->isInnermost() || done.contains(header) || from == nullptr || parted.contains(from) || !suits_vectors(*loop)) continue;
      done.insert(header);
      again = true;
      llvm::simplifyLoop(loop, &known.tree, &known.loops, nullptr, nullptr, nullptr, false);
      llvm::formLCSSA(*loop, known.tree, &known.loops, nullptr);
      llvm::SmallVector<BasicBlock*> exiting;
      loop->getExitingBlocks(exiting);
      bool together = !exiting.empty();
      for (BasicBlock* at : exiting) together &= !known.uniform->hasDivergentTerminator(*at);
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(header->getTerminator());
      const bool votes = !together && !warps && exiting.size() == 1 && exiting[0] == header && branch != nullptr &&
                         branch->isConditional() && loop->getLoopPreheader() != nullptr && loop->getLoopLatch() != nullptr;
      if (!together && !votes) break;
      CallInst* meet = CallInst::Create(barrier, {}, "", header->getFirstNonPHIIt());
      split_counters(*loop, meet->getNextNode(), known, follows);
      if (votes) {
        Analyses now(f);
        bool many = false;
        if (!can_vote(branch->getCondition(), now, follows)) {
          // The condition must stay false for a thread that has finished.
          many = true;
          for (const Instruction& instruction : *header) many &= !instruction.mayReadOrWriteMemory() || &instruction == meet;
        }
        if (!many && !can_vote(branch->getCondition(), now, follows)) {
          meet->eraseFromParent();
          break;
        }
        for (BasicBlock* rest : vote_on_loop(*loop, branch, branch->getCondition(), many)) done.insert(rest);
      }
      break;  // the analyses are invalid after a change
    }
  }
}

}  // namespace bc::jit
