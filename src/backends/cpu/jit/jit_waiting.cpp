// Loops in which a thread waits for other threads: until a lock is free, or for a value that another thread writes. On a GPU the other
// threads run at the same time; here they must get their turns.
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backends/cpu/jit/jit_words.h"

namespace bc::jit {
namespace {

bool is_number(const Value* value, bool (llvm::ConstantInt::*test)() const) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  return number != nullptr && (number->*test)();
}

bool waits(const llvm::Loop& loop);

/// Whether a loop that takes a lock releases it in the same iteration without waiting in between. Then no waiting thread can hold the lock.
bool gives_back(const Instruction& taken, const Value* lock, const llvm::Loop& loop) {
  if (llvm::any_of(loop.getSubLoops(), [](const llvm::Loop* inner) { return waits(*inner); })) return false;
  bool given = false;
  for (const BasicBlock* at : loop.blocks()) {
    for (const Instruction& instruction : *at) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store != nullptr && store->isVolatile()) return false;  // the threads of a warp are synchronised there
      const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      const Value* place = store != nullptr ? store->getPointerOperand() : change != nullptr ? change->getPointerOperand() : nullptr;
      given |= place == lock && &instruction != &taken;
    }
  }
  return given;
}

/// Whether an instruction reads a value that other threads write, so that the loop may depend on them. A compare-and-swap loop that retries
/// an update, and a counter that distributes work, end without other threads.
bool reads_of_others(const Instruction& instruction, const llvm::Loop& loop) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return (load->isVolatile() || load->isAtomic()) && !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load->getPointerOperand()));
  if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return loop.isLoopInvariant(swap->getCompareOperand()) && !gives_back(instruction, swap->getPointerOperand(), loop);
  const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  if (change == nullptr) return false;
  const Value* by = change->getValOperand();
  switch (change->getOperation()) {
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::Sub:
    case llvm::AtomicRMWInst::Or:
    case llvm::AtomicRMWInst::Xor: return is_number(by, &llvm::ConstantInt::isZero);
    case llvm::AtomicRMWInst::And: return is_number(by, &llvm::ConstantInt::isMinusOne);
    case llvm::AtomicRMWInst::FAdd:
    case llvm::AtomicRMWInst::FSub: return false;
    case llvm::AtomicRMWInst::Xchg: return !gives_back(instruction, change->getPointerOperand(), loop);
    default: return true;
  }
}

/// Whether the end of a loop depends on values that other threads write.
bool waits(const llvm::Loop& loop) {
  llvm::SmallVector<BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  llvm::SmallVector<const Value*> work;
  llvm::SmallPtrSet<const Value*, 32> seen;
  const auto follow = [&](const BasicBlock* at) {
    const Instruction* end = at->getTerminator();
    if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end)) {
      if (branch->isConditional()) work.push_back(branch->getCondition());
    } else if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(end)) {
      work.push_back(choice->getCondition());
    }
  };
  for (const BasicBlock* at : exiting) follow(at);
  while (!work.empty()) {
    const auto* instruction = llvm::dyn_cast<Instruction>(work.pop_back_val());
    if (instruction == nullptr || !loop.contains(instruction) || !seen.insert(instruction).second) continue;
    if (reads_of_others(*instruction, loop)) return true;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
      // A flag that depends on the path taken: follow the conditions that choose the path.
      for (const BasicBlock* from : phi->blocks())
        if (loop.contains(from)) {
          follow(from);
          if (const BasicBlock* before = from->getSinglePredecessor(); before != nullptr && loop.contains(before)) follow(before);
        }
    }
    if (llvm::isa<llvm::LoadInst>(instruction)) continue;  // of memory that no other thread writes
    for (const Value* operand : instruction->operands()) work.push_back(operand);
  }
  return false;
}

}  // namespace

void part_waiting_loops(Function& f) {
  const auto shared = [](const Instruction& i) { return i.isAtomic() || i.isVolatile(); };
  if (llvm::none_of(f, [&](const BasicBlock& at) { return llvm::any_of(at, shared); })) return;  // most kernels
  llvm::DominatorTree tree(f);
  llvm::LoopInfo loops(tree);
  llvm::SmallSetVector<std::pair<BasicBlock*, BasicBlock*>, 8> edges;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const auto stops = [](const BasicBlock* at) { return llvm::any_of(*at, [](const Instruction& i) { return is_barrier(word_of(&i)); }); };
    if (llvm::any_of(loop->blocks(), stops) || !waits(*loop)) continue;
    llvm::SmallVector<BasicBlock*> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) edges.insert({latch, loop->getHeader()});
  }
  const llvm::FunctionCallee spin =
      f.getParent()->getOrInsertFunction("__bc_spin", llvm::FunctionType::get(llvm::Type::getVoidTy(f.getContext()), false));
  for (const auto& [latch, header] : edges) {
    BasicBlock* way = llvm::SplitEdge(latch, header);
    CallInst::Create(spin, {}, "", way->getFirstNonPHIIt());
  }
}

}  // namespace bc::jit
