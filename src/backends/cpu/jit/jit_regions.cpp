// Analyses a kernel before its code is written: its regions, the values that differ between threads, and the values that threads keep
// across barriers.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallSet.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <limits>

#include "backends/cpu/jit/jit_block_pass.h"

namespace bc::jit {

/// Assigns offsets to the shared variables and replaces their uses by calls of a leaf word.
bool BlockPass::place_shared() {
  std::vector<llvm::GlobalVariable*> fixed, open;
  for (llvm::GlobalVariable& global : m_.globals()) {
    if (global.getSection() == kSharedSection) {
      (global.isDeclaration() ? open : fixed).push_back(&global);
    } else if (global.isDeclaration() && !global.use_empty()) {
      const auto* array = llvm::dyn_cast<llvm::ArrayType>(global.getValueType());
      if (array != nullptr && array->getNumElements() == 0) open.push_back(&global);
    }
  }
  llvm::FunctionCallee leaf = m_.getOrInsertFunction("__bc_shared", llvm::FunctionType::get(ptr_, {i32_}, false));
  llvm::cast<Function>(leaf.getCallee())->setDoesNotAccessMemory();
  const auto replace = [&](llvm::GlobalVariable* global, uint64_t offset) {
    llvm::convertUsersOfConstantsToInstructions({global});
    IRBuilder<> at(&*f_.getEntryBlock().getFirstInsertionPt());
    Value* address = nullptr;
    for (llvm::Use& use : llvm::make_early_inc_range(global->uses())) {
      auto* user = llvm::dyn_cast<Instruction>(use.getUser());
      if (user == nullptr || user->getFunction() != &f_) continue;
      if (address == nullptr) address = at.CreateCall(leaf, {number(offset)});
      use.set(address);
    }
    for (const llvm::Use& use : global->uses()) {
      if (llvm::isa<Instruction>(use.getUser())) return fail("shared memory is used in a function that calls itself");
    }
    return true;
  };
  for (llvm::GlobalVariable* global : fixed) {
    llvm::convertUsersOfConstantsToInstructions({global});
    if (global->use_empty()) continue;
    const uint64_t align = std::max<uint64_t>(global->getAlign().valueOrOne().value(), 64);
    static_shared_ = llvm::alignTo(static_shared_, align);
    const uint64_t offset = static_shared_;
    static_shared_ += layout_.getTypeAllocSize(global->getValueType());
    if (!replace(global, offset)) return false;
  }
  facts_.user_shared = static_cast<uint32_t>(static_shared_);
  warp_memory_ = llvm::alignTo(static_shared_, 64);
  bool exchanges = false;
  for (Instruction& instruction : llvm::instructions(f_)) {
    exchanges |= word_of(&instruction) == Word::WarpMemory;
    if (word_of(&instruction) == Word::SharedStride) facts_.grid_barriers |= BC_JIT_CLUSTER;
  }
  const uint64_t warps = (shape_.count() + kWarpThreads - 1) / kWarpThreads;
  static_shared_ = llvm::alignTo(warp_memory_ + (exchanges ? warps * kWarpBytes : 0), 128);
  facts_.shared_bytes = static_cast<uint32_t>(static_shared_);
  for (llvm::GlobalVariable* global : open) {
    if (!replace(global, static_shared_)) return false;
  }
  return true;
}

/// Replaces the block's shape by constants, and marks index sums that cannot wrap.
bool BlockPass::name_leaves() {
  const unsigned dims[3] = {shape_.x, shape_.y, shape_.z};
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(f_))) {
    const Word word = word_of(&instruction);
    if (word < Word::DimX || word > Word::DimZ) continue;
    instruction.replaceAllUsesWith(number(dims[static_cast<int>(word) - static_cast<int>(Word::DimX)]));
    instruction.eraseFromParent();
  }
  for (Function& other : m_) {
    if (&other == &f_ || other.isDeclaration() || other.use_empty()) continue;
    for (Instruction& instruction : llvm::instructions(other)) {
      const Word word = word_of(&instruction);
      if (word != Word::None && word != Word::Stop && word != Word::Launch)
        return fail("function '" + other.getName() +
                    "' calls itself or is called through a pointer; it cannot use threads' indices, "
                    "shared memory or barriers on the CPU");
    }
  }
  return true;
}

/// Splits the function at its barriers and finds the regions.
bool BlockPass::cut() {
  // A call of the word Stop ends the thread.
  std::vector<CallInst*> stops;
  for (Instruction& instruction : llvm::instructions(f_)) {
    if (word_of(&instruction) == Word::Stop) stops.push_back(llvm::cast<CallInst>(&instruction));
  }
  for (CallInst* stop : stops) {
    BasicBlock* at = stop->getParent();
    if (llvm::isa<llvm::ReturnInst>(at->getTerminator()) && stop->getNextNode() == at->getTerminator()) continue;
    llvm::changeToUnreachable(stop->getNextNode());
    at->getTerminator()->eraseFromParent();
    llvm::ReturnInst::Create(c_, at);
  }
  for (CallInst* stop : stops) stop->eraseFromParent();
  llvm::EliminateUnreachableBlocks(f_);

  regions_.emplace_back();
  regions_[0].start = &f_.getEntryBlock();
  std::vector<CallInst*> barriers;
  for (Instruction& instruction : llvm::instructions(f_)) {
    if (is_barrier(word_of(&instruction))) barriers.push_back(llvm::cast<CallInst>(&instruction));
  }
  for (CallInst* call : barriers) {
    const Word word = word_of(call);
    BasicBlock* before = call->getParent();
    BasicBlock* after = llvm::SplitBlock(before, call->getNextNode());
    Cut made{static_cast<int>(regions_.size()), nullptr};
    if (word == Word::WarpBarrier) made.mask = call->getArgOperand(0);
    Region& region = regions_.emplace_back();
    region.start = after;
    region.kind = word == Word::Barrier          ? Kind::Block
                  : word == Word::GridBarrier    ? Kind::Grid
                  : word == Word::ClusterBarrier ? Kind::Cluster
                  : word == Word::WarpBarrier    ? Kind::Warp
                  : word == Word::Yield          ? Kind::Yield
                  : word == Word::Spin           ? Kind::Spin
                                                 : Kind::Start;
    has_block_ |= region.kind == Kind::Block;
    has_grid_ |= leaves_block(region.kind);
    if (leaves_block(region.kind))
      facts_.grid_barriers |= region.kind == Kind::Grid ? BC_JIT_GRID : region.kind == Kind::Spin ? BC_JIT_SPINS : BC_JIT_CLUSTER;
    has_warp_ |= region.kind == Kind::Warp;
    has_yield_ |= region.kind == Kind::Yield;
    has_spin_ |= region.kind == Kind::Spin;
    cuts_[before] = made;
    call->eraseFromParent();
  }
  if (regions_.size() >= 4000) return fail("more than 4000 barriers");
  for (Region& region : regions_) {
    std::vector<BasicBlock*> work{region.start};
    region.blocks.insert(region.start);
    while (!work.empty()) {
      BasicBlock* at = work.back();
      work.pop_back();
      if (const auto found = cuts_.find(at); found != cuts_.end()) {
        region.next.insert(found->second.next);
        continue;
      }
      if (llvm::isa<llvm::ReturnInst>(at->getTerminator())) region.next.insert(-1);
      for (BasicBlock* successor : llvm::successors(at)) {
        if (region.blocks.insert(successor)) work.push_back(successor);
      }
    }
  }
  return true;
}

/// Finds the values that are equal in all threads, and whether threads can reach different barriers.
bool BlockPass::analyse() {
  tree_ = std::make_unique<llvm::DominatorTree>(f_);
  cycles_ = std::make_unique<llvm::CycleInfo>();
  cycles_->compute(f_);
  const unsigned threads = shape_.count();
  group_ = has_warp_ ? std::min(kWarpThreads, threads) : threads;
  groups_ = (threads + group_ - 1) / group_;
  // If rows consist of whole warps, the threads of a warp differ only in x.
  const bool rows = has_warp_ && (shape_.x % kWarpThreads == 0 || (shape_.y == 1 && shape_.z == 1));
  divergence_ = std::make_unique<llvm::TargetTransformInfo>(thread_divergence(layout_, rows));
  uniform_ = std::make_unique<llvm::UniformityInfo>(*tree_, *cycles_, divergence_.get());
  uniform_->compute();

  choose_inner();
  places_ = has_yield_ || has_spin_;
  for (Region& region : regions_) {
    if (region.next.size() < 2) continue;
    for (BasicBlock* at : region.blocks) {
      if (!places_ && !cuts_.contains(at) && uniform_->hasDivergentTerminator(*at)) places_ = parts_threads(at);
    }
  }
  return true;
}

constexpr int64_t kNoStride = std::numeric_limits<int64_t>::max();

/// The difference of a value between neighbouring threads in a dimension; kNoStride if it is not constant.
int64_t BlockPass::stride(Value* value, int dimension, unsigned depth) const {
  if (llvm::isa<llvm::Constant>(value) || llvm::isa<llvm::Argument>(value)) return 0;
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (instruction == nullptr || depth > 16) return kNoStride;
  const Word word = word_of(value);
  if (word >= Word::ThreadX && word <= Word::ThreadZ) return static_cast<int>(word) - static_cast<int>(Word::ThreadX) == dimension ? 1 : 0;
  if (word == Word::Linear) return dimension == 0 ? 1 : dimension == 1 ? shape_.x : int64_t{shape_.x} * shape_.y;
  if (uniform_->isUniform(static_cast<const Value*>(value))) return 0;
  const auto of = [&](unsigned operand) { return stride(instruction->getOperand(operand), dimension, depth + 1); };
  switch (instruction->getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
    case Instruction::Freeze: return of(0);
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Or: {
      const int64_t a = of(0), b = of(1);
      if (a == kNoStride || b == kNoStride) return kNoStride;
      return instruction->getOpcode() == Instruction::Sub ? a - b : a + b;
    }
    case Instruction::Mul:
    case Instruction::Shl: {
      const int64_t a = of(0), b = of(1);
      if (a == 0 && b == 0) return 0;
      const auto* by = llvm::dyn_cast<llvm::ConstantInt>(instruction->getOperand(1));
      if (by == nullptr || a == kNoStride || by->getBitWidth() > 64) return kNoStride;
      return instruction->getOpcode() == Instruction::Mul ? a * by->getSExtValue() : a << std::min<uint64_t>(by->getZExtValue(), 40);
    }
    case Instruction::GetElementPtr: {
      auto* address = llvm::cast<llvm::GetElementPtrInst>(instruction);
      int64_t sum = of(0);
      if (sum == kNoStride) return sum;
      for (llvm::gep_type_iterator at = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); at != end; ++at) {
        if (at.isStruct()) continue;
        const int64_t step = stride(at.getOperand(), dimension, depth + 1);
        if (step == kNoStride) return step;
        sum += step * static_cast<int64_t>(at.getSequentialElementStride(layout_).getFixedValue());
      }
      return sum;
    }
    default: break;
  }
  if (instruction->mayReadFromMemory() || llvm::isa<llvm::PHINode>(value) || llvm::isa<llvm::AllocaInst>(value)) return kNoStride;
  for (unsigned i = 0; i < instruction->getNumOperands(); ++i) {
    if (!llvm::isa<Function>(instruction->getOperand(i)) && of(i) != 0) return kNoStride;
  }
  return 0;
}

/// Chooses the dimension to vectorize: the one along which more accesses are contiguous. Kernels whose rows are x are as common as kernels
/// whose rows are y.
void BlockPass::choose_inner() {
  if (groups_ != 1 || has_warp_ || shape_.y < 8) return;
  llvm::LoopInfo loops(*tree_);
  int64_t score[2] = {0, 0};
  for (Instruction& instruction : llvm::instructions(f_)) {
    Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (address == nullptr) continue;
    const int64_t weight = int64_t{1} << (3 * std::min(loops.getLoopDepth(instruction.getParent()), 4u));
    const auto size = static_cast<int64_t>(layout_.getTypeStoreSize(llvm::getLoadStoreType(&instruction)).getFixedValue());
    for (int d = 0; d < 2; ++d) {
      const int64_t step = stride(address, d, 0);
      score[d] += step == size ? 4 * weight : step == 0 ? 3 * weight : 0;
    }
  }
  if (score[1] > score[0] || shape_.x == 1) inner_ = 1;
}

/// The region of the barrier at the end of a block; -1 if threads end there, -2 if there is no barrier.
int BlockPass::end_of(BasicBlock* at) const {
  if (const auto found = cuts_.find(at); found != cuts_.end()) return found->second.next;
  return llvm::isa<llvm::ReturnInst>(at->getTerminator()) ? -1 : -2;
}

/// Whether threads that leave a block on different paths can reach different barriers: true if the reachable barriers differ and no block
/// is on all the paths.
bool BlockPass::parts_threads(BasicBlock* at) const {
  const auto reach = [&](BasicBlock* without, llvm::SmallPtrSetImpl<BasicBlock*>& seen) {
    llvm::SmallSet<int, 4> ends;
    llvm::SmallVector<BasicBlock*> work;
    const auto follow = [&](BasicBlock* from) {
      for (BasicBlock* next : llvm::successors(from)) {
        if (next != without && seen.insert(next).second) work.push_back(next);
      }
    };
    follow(at);
    while (!work.empty()) {
      BasicBlock* b = work.pop_back_val();
      if (const int end = end_of(b); end != -2) {
        ends.insert(end);
      } else {
        follow(b);
      }
    }
    return ends;
  };
  llvm::SmallPtrSet<BasicBlock*, 16> seen;
  if (reach(nullptr, seen).size() < 2) return false;
  for (BasicBlock* candidate : seen) {
    llvm::SmallPtrSet<BasicBlock*, 16> rest;
    if (candidate != at && reach(candidate, rest).empty()) return false;
  }
  return true;
}

/// Whether a value can be recomputed where it is needed instead of being stored: index arithmetic on a thread's index and arguments.
bool BlockPass::can_repeat(Value* value, unsigned depth) {
  if (llvm::isa<llvm::Constant>(value) || llvm::isa<llvm::Argument>(value)) return true;
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (instruction == nullptr) return false;
  if (llvm::isa<llvm::AllocaInst>(value) || is_argument(value, layout_) || is_leaf(word_of(value))) return true;
  const auto found = repeatable_.find(value);
  if (found != repeatable_.end()) return found->second > 0;
  if (depth > 12) return false;
  bool yes = false;
  if (llvm::isa<llvm::CastInst>(value) || llvm::isa<llvm::GetElementPtrInst>(value) || llvm::isa<llvm::CmpInst>(value) ||
      llvm::isa<llvm::SelectInst>(value) || llvm::isa<llvm::FreezeInst>(value) || llvm::isa<llvm::ExtractElementInst>(value) ||
      llvm::isa<llvm::ExtractValueInst>(value)) {
    yes = true;
  } else if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(value)) {
    yes = binary->getType()->isIntegerTy();
    switch (binary->getOpcode()) {
      case Instruction::UDiv:
      case Instruction::SDiv:
      case Instruction::URem:
      case Instruction::SRem: yes = yes && llvm::isa<llvm::ConstantInt>(binary->getOperand(1)); break;
      default: break;
    }
  } else if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(value)) {
    switch (intrinsic->getIntrinsicID()) {
      case llvm::Intrinsic::umin:
      case llvm::Intrinsic::umax:
      case llvm::Intrinsic::smin:
      case llvm::Intrinsic::smax:
      case llvm::Intrinsic::abs: yes = true; break;
      default: break;
    }
  }
  for (Value* operand : instruction->operands()) {
    if (!yes) break;
    if (llvm::isa<Function>(operand)) continue;
    yes = can_repeat(operand, depth + 1);
  }
  repeatable_[value] = yes ? 1 : 0;
  return yes;
}

void BlockPass::find_liveness() {
  for (Instruction& instruction : llvm::instructions(f_)) {
    if (instruction.getType()->isVoidTy()) continue;
    numbers_[&instruction] = static_cast<unsigned>(values_.size());
    values_.push_back(&instruction);
  }
  const auto count = static_cast<unsigned>(values_.size());
  llvm::DenseMap<BasicBlock*, llvm::BitVector> uses, defs;
  const auto mark = [&](llvm::BitVector& set, Value* value) {
    if (const auto found = numbers_.find(value); found != numbers_.end()) set.set(found->second);
  };
  std::vector<BasicBlock*> order;
  for (BasicBlock* at : llvm::post_order(&f_)) {
    order.push_back(at);
    llvm::BitVector &use = uses[at], &def = defs[at];
    use.resize(count);
    def.resize(count);
    live_in_[at].resize(count);
  }
  for (BasicBlock* at : order) {
    llvm::BitVector &use = uses[at], &def = defs[at];
    for (Instruction& instruction : *at) {
      if (!llvm::isa<llvm::PHINode>(instruction)) {
        for (Value* operand : instruction.operands()) {
          const auto found = numbers_.find(operand);
          if (found != numbers_.end() && !def.test(found->second)) use.set(found->second);
        }
      }
      mark(def, &instruction);
    }
    if (const auto found = cuts_.find(at); found != cuts_.end() && found->second.mask != nullptr) {
      const auto mask = numbers_.find(found->second.mask);
      if (mask != numbers_.end() && !def.test(mask->second)) use.set(mask->second);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock* at : order) {
      llvm::BitVector out(count);
      for (BasicBlock* successor : llvm::successors(at)) {
        llvm::BitVector in = live_in_[successor];
        for (llvm::PHINode& phi : successor->phis()) {
          if (const auto found = numbers_.find(&phi); found != numbers_.end()) in.reset(found->second);
        }
        for (llvm::PHINode& phi : successor->phis()) mark(in, phi.getIncomingValueForBlock(at));
        out |= in;
      }
      out.reset(defs[at]);
      out |= uses[at];
      if (out != live_in_[at]) {
        live_in_[at] = out;
        changed = true;
      }
    }
  }
}

bool BlockPass::lives_apart(Instruction* value) const {
  if (places_ || uniform_->isDivergent(static_cast<const Value*>(value))) return true;
  for (const llvm::Use& use : value->uses()) {
    if (uniform_->isDivergentUse(use)) return true;
  }
  return false;
}

/// Assigns memory to every value that a thread keeps across a barrier, and to its arrays.
bool BlockPass::find_kept() {
  repeatable_.clear();
  find_liveness();
  uint32_t local_bytes = 0;
  const uint64_t threads = shape_.count();
  for (Region& region : regions_) {
    if (&region == &regions_[0]) continue;
    const llvm::BitVector& live = live_in_[region.start];
    for (const unsigned index : live.set_bits()) {
      Instruction* value = values_[index];
      region.live.push_back(value);
      if (can_repeat(value, 0)) continue;
      Slot& slot = slots_[value];
      slot.across_blocks |= stops_group(region.kind);
      if (slot.type != nullptr) continue;
      slot.array = lives_apart(value);
      slot.type = value->getType()->isIntegerTy(1) ? i8_ : value->getType();
      slot.bytes = layout_.getTypeAllocSize(slot.type);
    }
  }
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(f_))) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
      if (intrinsic->isLifetimeStartOrEnd()) intrinsic->eraseFromParent();
      continue;
    }
    auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (local == nullptr) continue;
    const auto size = local->getAllocationSize(layout_);
    if (!size || size->isScalable()) return fail("an array whose length is known at run time only");
    Slot& slot = locals_[local];
    slot.bytes = llvm::alignTo(size->getFixedValue(), std::max<uint64_t>(local->getAlign().value(), 8));
    slot.local = true;
    slot.array = regions_.size() > 1;
    slot.across_blocks = true;
    slot.type = i8_;
    local_bytes += static_cast<uint32_t>(slot.bytes);
  }
  facts_.local_bytes = std::max(facts_.local_bytes, local_bytes);
  uint64_t offset = 64;
  const auto place = [&](Slot& slot, uint64_t count) {
    slot.offset = offset;
    offset = llvm::alignTo(offset + slot.bytes * count, 64);
  };
  for (auto& [value, slot] : slots_) place(slot, slot.array ? (slot.across_blocks ? threads : group_) : (slot.across_blocks ? groups_ : 1));
  for (auto& [value, slot] : locals_) place(slot, slot.array ? threads : 1);
  const uint64_t states = offset;
  offset += llvm::alignTo(2 * threads, 64) + llvm::alignTo(4 * threads, 64) + llvm::alignTo(4 * groups_, 64);
  heap_ = has_grid_ || offset > kStackLimit;
  if (heap_) facts_.context_bytes = std::max<uint64_t>(facts_.context_bytes, offset);
  state_offset_ = states;
  return true;
}

}  // namespace bc::jit
