#include "backends/cpu/jit/jit_blocks.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "backends/cpu/jit/jit_words.h"

namespace bc::jit {
namespace {

// A soft barrier starts a region of kind Start: nobody waits there.
// At a yield a thread lets all others go first that can, and then goes on.
enum class Kind : uint16_t { Start = 0, Block = 1, Grid = 2, Warp = 3, Cluster = 4, Yield = 5 };
// The block stops there and is entered again.
constexpr bool leaves_block(Kind kind) { return kind == Kind::Grid || kind == Kind::Cluster; }
constexpr bool stops_group(Kind kind) { return kind == Kind::Block || kind == Kind::Yield || leaves_block(kind); }
// What groups of a block wait for, as bits of one word: at the last two the block is left, and tells which in its context.
constexpr unsigned kPendingBlock = 1, kPendingYield = 2, kPendingGrid = BC_JIT_WAITS_FOR_GRID, kPendingCluster = BC_JIT_WAITS_FOR_CLUSTER;
constexpr unsigned pending_of(Kind kind) {
  return kind == Kind::Grid ? kPendingGrid : kind == Kind::Cluster ? kPendingCluster : kind == Kind::Yield ? kPendingYield : kPendingBlock;
}
// Who goes on in a group's next turn: threads at any barrier, or those that yielded.
constexpr unsigned kReleaseAll = 1, kReleaseYields = 2;

// A thread's place: the number of the region it enters next, and what it waits for (a Kind) above.
constexpr uint32_t kPlaceBits = 12;
constexpr uint32_t kPlaceMask = (1u << kPlaceBits) - 1;
constexpr uint32_t kEnded = 0xffff;
// What the schedule answers when no thread of a group can go on.
constexpr uint32_t kAllEnded = 0xffff;
constexpr uint32_t kWaitBlock = 0xfffe;
constexpr uint32_t kWaitGrid = 0xfffd;
constexpr uint32_t kWaitCluster = 0xfffc;
constexpr uint32_t kWaitYield = 0xfffb;
constexpr unsigned kWarpThreads = 32;
constexpr unsigned kWarpBytes = 896;  // of shared memory, for what a warp exchanges: 32 places of 4, 8 and 16 bytes
constexpr uint64_t kStackLimit = 192 << 10;

struct Slot {
  bool array = false;          // one element a thread, else one for all
  bool local = false;          // a variable of the source that has an address
  bool across_blocks = false;  // is kept across a barrier of the whole block
  llvm::Type* type = nullptr;  // in memory
  uint64_t bytes = 0;          // of an element
  uint64_t offset = 0;
  Value* base = nullptr;  // where it begins, in the entry function
};

struct Region {
  BasicBlock* start = nullptr;
  Kind kind = Kind::Start;
  llvm::SetVector<BasicBlock*> blocks;
  std::vector<Instruction*> live;     // values from before that it needs: kept ones, and those that are computed again
  llvm::SmallSetVector<int, 4> next;  // regions that follow; -1: the thread ends
  // In the entry function.
  BasicBlock* head = nullptr;
};

class Pass {
 public:
  Pass(Function& kernel, const BlockShape& shape, bc_jit_kernel& facts, std::string& log)
      : f_(kernel),
        m_(*kernel.getParent()),
        c_(kernel.getContext()),
        layout_(m_.getDataLayout()),
        shape_(shape),
        facts_(facts),
        log_(log),
        i16_(llvm::Type::getInt16Ty(c_)),
        i32_(llvm::Type::getInt32Ty(c_)),
        i64_(llvm::Type::getInt64Ty(c_)),
        i8_(llvm::Type::getInt8Ty(c_)),
        ptr_(llvm::PointerType::getUnqual(c_)) {}

  /// What is done before a second version of the kernel is made.
  bool prepare() { return place_shared() && name_leaves(); }
  /// Cuts the kernel and finds what its regions keep.
  bool divide() { return cut() && analyse() && find_kept(); }
  /// Writes the entry, with the code of `fast` for blocks all of whose threads meet `guards`.
  void write(Pass* fast, llvm::ArrayRef<std::pair<Value*, bool>> guards);
  /// Whether a value follows from what a thread knows at its beginning.
  bool follows(Value* value) {
    repeatable_.clear();  // what it knew may be gone
    return can_repeat(value, 0);
  }
  void take_facts(Pass& from) {
    static_shared_ = from.static_shared_;
    warp_memory_ = from.warp_memory_;
  }

 private:
  bool fail(const llvm::Twine& reason) {
    log_ += "error: " + reason.str() + "\n";
    return false;
  }

  // -- before the cut
  bool place_shared();
  bool name_leaves();
  bool cut();
  bool analyse();
  void choose_inner();
  int64_t stride(Value* value, int dimension, unsigned depth) const;
  int end_of(BasicBlock* at) const;
  bool parts_threads(BasicBlock* at) const;
  bool find_kept();
  bool can_repeat(Value* value, unsigned depth);
  void find_liveness();
  bool lives_apart(Instruction* value) const;

  // -- the entry function
  void begin_entry();
  void write_version(BasicBlock* begin);
  Value* write_vote(IRBuilder<>& at, llvm::ArrayRef<std::pair<Value*, bool>> guards, const llvm::ValueToValueMapTy* given = nullptr,
                    llvm::ArrayRef<Instruction*> kept = {}, bool many = false);
  void write_region(int index);
  void write_end(Region& region, IRBuilder<>& at, Value* place);
  void leave_group(IRBuilder<>& at, int next);
  Value* hoisted(Instruction* argument);
  bool known_from(Value* value, const llvm::ValueToValueMapTy& given);
  Value* word_value(Instruction* call, IRBuilder<>& at);
  Value* repeat(Value* value, IRBuilder<>& at, llvm::ValueToValueMapTy& map);
  Value* slot_address(const Slot& slot, IRBuilder<>& at);
  llvm::Constant* number(uint64_t value) { return llvm::ConstantInt::get(i32_, value); }
  llvm::Constant* number64(uint64_t value) { return llvm::ConstantInt::get(i64_, value); }
  BasicBlock* block(const char* name) { return BasicBlock::Create(c_, name, e_); }

  Function& f_;
  llvm::Module& m_;
  llvm::LLVMContext& c_;
  const llvm::DataLayout& layout_;
  BlockShape shape_;
  bc_jit_kernel& facts_;
  std::string& log_;
  llvm::Type *i16_, *i32_, *i64_, *i8_, *ptr_;

  uint64_t static_shared_ = 0, warp_memory_ = 0;
  std::vector<Region> regions_;
  struct Cut {
    int next = 0;
    Value* mask = nullptr;
  };
  llvm::DenseMap<BasicBlock*, Cut> cuts_;
  uint64_t state_offset_ = 0;
  bool heap_ = false;
  bool has_block_ = false, has_warp_ = false, has_grid_ = false, has_yield_ = false, places_ = false;
  unsigned group_ = 1, groups_ = 1;
  std::unique_ptr<llvm::DominatorTree> tree_;
  std::unique_ptr<llvm::CycleInfo> cycles_;
  std::unique_ptr<llvm::TargetTransformInfo> divergence_;
  std::unique_ptr<llvm::UniformityInfo> uniform_;
  bool stateful_ = false;  // groups stop at barriers and go on later
  llvm::DenseMap<Value*, unsigned> numbers_;
  std::vector<Instruction*> values_;
  llvm::DenseMap<BasicBlock*, llvm::BitVector> live_in_;
  llvm::DenseMap<Value*, int> repeatable_;
  llvm::MapVector<Value*, Slot> slots_;
  llvm::MapVector<llvm::AllocaInst*, Slot> locals_;
  llvm::SmallPtrSet<Value*, 16> shared_locals_;  // locals with one place for all threads

  // The entry function while it is written.
  Function* e_ = nullptr;
  Value *frame_ = nullptr, *shared_ = nullptr, *context_ = nullptr;
  BasicBlock* prologue_ = nullptr;
  llvm::ValueToValueMapTy arguments_;
  BasicBlock *blocks_ = nullptr, *next_block_ = nullptr;
  llvm::PHINode* index_ = nullptr;
  Value* unfinished_ = nullptr;
  Value *block_index_[3] = {}, *grid_[3] = {}, *cluster_[3] = {}, *dynamic_ = nullptr, *launch_ = nullptr, *shared_stride_ = nullptr;
  Value *group_index_ = nullptr, *base_ = nullptr, *count_ = nullptr;  // the group: its number, first thread, threads
  Value *group_states_ = nullptr, *places_of_threads_ = nullptr, *masks_ = nullptr, *pending_ = nullptr, *release_ = nullptr;
  BasicBlock* group_done_ = nullptr;
  BasicBlock* choose_ = nullptr;  // goes where the schedule says
  llvm::PHINode* choice_ = nullptr;
  // The thread that a region's loop is at.
  Value *thread_[3] = {}, *linear_ = nullptr, *lane_ = nullptr, *active_ = nullptr;
  Value* box_base_[3] = {};
  bool box_ = true;
  int inner_ = 0;  // the dimension of the innermost loop over threads
  unsigned box_shape_[3] = {1, 1, 1};
};

/// Gives the shared variables their offsets and turns uses of them into calls of a leaf.
bool Pass::place_shared() {
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

/// The block's shape becomes constants, and index sums that cannot wrap are told so.
bool Pass::name_leaves() {
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

/// Cuts the function at its barriers and finds the regions.
bool Pass::cut() {
  // A stop ends the thread.
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
                                                 : Kind::Start;
    has_block_ |= region.kind == Kind::Block;
    has_grid_ |= leaves_block(region.kind);
    if (leaves_block(region.kind)) facts_.grid_barriers |= region.kind == Kind::Grid ? BC_JIT_GRID : BC_JIT_CLUSTER;
    has_warp_ |= region.kind == Kind::Warp;
    has_yield_ |= region.kind == Kind::Yield;
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

/// Finds what is the same in all threads, and whether threads can come to different barriers.
bool Pass::analyse() {
  tree_ = std::make_unique<llvm::DominatorTree>(f_);
  cycles_ = std::make_unique<llvm::CycleInfo>();
  cycles_->compute(f_);
  const unsigned threads = shape_.count();
  group_ = has_warp_ ? std::min(kWarpThreads, threads) : threads;
  groups_ = (threads + group_ - 1) / group_;
  // In a box of whole rows the warps' threads differ in x alone.
  const bool rows = has_warp_ && (shape_.x % kWarpThreads == 0 || (shape_.y == 1 && shape_.z == 1));
  divergence_ = std::make_unique<llvm::TargetTransformInfo>(thread_divergence(layout_, rows));
  uniform_ = std::make_unique<llvm::UniformityInfo>(*tree_, *cycles_, divergence_.get());
  uniform_->compute();

  choose_inner();
  places_ = has_yield_;
  for (Region& region : regions_) {
    if (region.next.size() < 2) continue;
    for (BasicBlock* at : region.blocks) {
      if (!places_ && !cuts_.contains(at) && uniform_->hasDivergentTerminator(*at)) places_ = parts_threads(at);
    }
  }
  return true;
}

constexpr int64_t kNoStride = std::numeric_limits<int64_t>::max();

/// By how much a value grows from a thread to the next one in a dimension; kNoStride where that is not a constant.
int64_t Pass::stride(Value* value, int dimension, unsigned depth) const {
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

/// Vectors are made of the dimension in which more of the memory lies side by side: kernels that call their rows x are as common as those
/// that call them y.
void Pass::choose_inner() {
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

/// The barrier that a block ends at: its region, -1 where threads end, -2 for none.
int Pass::end_of(BasicBlock* at) const {
  if (const auto found = cuts_.find(at); found != cuts_.end()) return found->second.next;
  return llvm::isa<llvm::ReturnInst>(at->getTerminator()) ? -1 : -2;
}

/// Whether threads that leave a block on different ways can come to different barriers: when some barriers that are reached differ, and
/// there is no block that all the ways lead through.
bool Pass::parts_threads(BasicBlock* at) const {
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

/// Whether a value is computed again where it is needed rather than kept: index arithmetic on what a thread knows anyway.
bool Pass::can_repeat(Value* value, unsigned depth) {
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

void Pass::find_liveness() {
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

bool Pass::lives_apart(Instruction* value) const {
  if (places_ || uniform_->isDivergent(static_cast<const Value*>(value))) return true;
  for (const llvm::Use& use : value->uses()) {
    if (uniform_->isDivergentUse(use)) return true;
  }
  return false;
}

/// Chooses a place for every value that a thread keeps across a barrier, and for its arrays.
bool Pass::find_kept() {
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

// ---- the entry function

Value* Pass::hoisted(Instruction* argument) {
  Value* known = arguments_.lookup(argument);
  if (known != nullptr) return known;
  IRBuilder<> at(prologue_->getTerminator());
  Instruction* copy = argument->clone();
  for (llvm::Use& operand : copy->operands()) {
    if (auto* instruction = llvm::dyn_cast<Instruction>(operand.get())) operand.set(hoisted(instruction));
    if (llvm::isa<llvm::Argument>(operand.get())) operand.set(arguments_.lookup(operand.get()));
  }
  copy->dropUnknownNonDebugMetadata();
  if (llvm::isa<llvm::LoadInst>(copy)) copy->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
  at.Insert(copy);
  arguments_[argument] = copy;
  return copy;
}

Value* Pass::word_value(Instruction* call, IRBuilder<>& at) {
  const Word word = word_of(call);
  const auto whole = [&](Value* value) -> Value* { return at.CreateZExtOrTrunc(value, call->getType()); };
  switch (word) {
    case Word::ThreadX:
    case Word::ThreadY:
    case Word::ThreadZ: return whole(thread_[static_cast<int>(word) - static_cast<int>(Word::ThreadX)]);
    case Word::BlockX:
    case Word::BlockY:
    case Word::BlockZ: return whole(block_index_[static_cast<int>(word) - static_cast<int>(Word::BlockX)]);
    case Word::GridX:
    case Word::GridY:
    case Word::GridZ: return whole(grid_[static_cast<int>(word) - static_cast<int>(Word::GridX)]);
    case Word::ClusterX:
    case Word::ClusterY:
    case Word::ClusterZ: return whole(cluster_[static_cast<int>(word) - static_cast<int>(Word::ClusterX)]);
    case Word::Linear: return whole(linear_);
    case Word::Lane: return whole(group_ == kWarpThreads && inner_ == 0 ? lane_ : at.CreateAnd(linear_, kWarpThreads - 1));
    case Word::Warp: return whole(group_ == kWarpThreads ? group_index_ : at.CreateLShr(linear_, 5));
    case Word::Shared: return at.CreateGEP(i8_, shared_, llvm::cast<CallInst>(call)->getArgOperand(0));
    case Word::DynamicBytes: return whole(dynamic_);
    case Word::SharedStride: return whole(shared_stride_);
    case Word::WarpMemory: {
      Value* warp = group_ == kWarpThreads ? group_index_ : at.CreateLShr(linear_, 5);
      return at.CreateGEP(i8_, shared_, at.CreateAdd(at.CreateMul(warp, number(kWarpBytes)), number(warp_memory_)));
    }
    case Word::Launch: return launch_;
    default: break;
  }
  llvm_unreachable("not a leaf");
}

/// Computes a repeatable value at the top of a region's loop.
Value* Pass::repeat(Value* value, IRBuilder<>& at, llvm::ValueToValueMapTy& map) {
  if (llvm::isa<llvm::Constant>(value)) return value;
  if (llvm::isa<llvm::Argument>(value)) return arguments_.lookup(value);
  if (Value* known = map.lookup(value)) return known;
  auto* instruction = llvm::cast<Instruction>(value);
  Value* made = nullptr;
  if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(value)) {
    made = slot_address(locals_[local], at);
  } else if (is_argument(value, layout_)) {
    made = hoisted(instruction);
  } else if (is_leaf(word_of(value))) {
    made = word_value(instruction, at);
  } else {
    Instruction* copy = instruction->clone();
    copy->dropUnknownNonDebugMetadata();
    for (llvm::Use& operand : copy->operands()) operand.set(repeat(operand.get(), at, map));
    at.Insert(copy);
    made = copy;
  }
  map[value] = made;
  return made;
}

/// Whether `repeat` can compute a value from those that are given.
bool Pass::known_from(Value* value, const llvm::ValueToValueMapTy& given) {
  if (llvm::isa<llvm::Constant>(value) || llvm::isa<llvm::Argument>(value) || given.count(value) != 0) return true;
  auto* instruction = llvm::cast<Instruction>(value);
  if (is_argument(value, layout_) || is_leaf(word_of(value))) return true;
  if (llvm::isa<llvm::PHINode>(value) || llvm::isa<llvm::AllocaInst>(value) || instruction->mayReadOrWriteMemory()) return false;
  for (Value* operand : instruction->operands()) {
    if (!llvm::isa<Function>(operand) && !known_from(operand, given)) return false;
  }
  return true;
}

Value* Pass::slot_address(const Slot& slot, IRBuilder<>& at) {
  Value* index = slot.array ? (slot.across_blocks && groups_ > 1 ? linear_ : lane_)
                            : (slot.across_blocks && groups_ > 1 && !slot.local ? group_index_ : nullptr);
  if (index == nullptr) return slot.base;
  return at.CreateInBoundsGEP(llvm::ArrayType::get(i8_, slot.bytes), slot.base, at.CreateZExt(index, i64_));
}

/// The end of a group's turn: `next` is a region of a barrier that the group waits at, or -1 when its threads have ended.
void Pass::leave_group(IRBuilder<>& at, int next) {
  if (stateful_) {
    Value* state = at.CreateInBoundsGEP(i32_, group_states_, group_index_);
    at.CreateStore(number(next < 0 ? kEnded : static_cast<uint64_t>(next)), state);
    if (next >= 0) {
      Value* kind = number(pending_of(regions_[static_cast<size_t>(next)].kind));
      at.CreateStore(at.CreateOr(at.CreateLoad(i32_, pending_), kind), pending_);
    }
  }
  at.CreateBr(group_done_);
}

/// What follows a region's loop.
void Pass::write_end(Region& region, IRBuilder<>& at, Value* place) {
  if (places_) {
    const llvm::FunctionCallee schedule =
        m_.getOrInsertFunction("bc_jit_schedule", llvm::FunctionType::get(i32_, {ptr_, ptr_, i32_, i32_}, false));
    Value* chosen = at.CreateCall(
        schedule, {at.CreateInBoundsGEP(i16_, places_of_threads_, base_), at.CreateInBoundsGEP(i32_, masks_, base_), count_, number(0)});
    choice_->addIncoming(chosen, at.GetInsertBlock());
    at.CreateBr(choose_);
    return;
  }
  const auto go = [&](int next, IRBuilder<>& from) {
    const bool stops = next < 0 || stops_group(regions_[static_cast<size_t>(next)].kind);
    if (next >= 0 && (!stops || !stateful_)) {
      from.CreateBr(regions_[static_cast<size_t>(next)].head);
    } else {
      leave_group(from, next);
    }
  };
  if (region.next.empty()) {  // an endless loop
    at.CreateUnreachable();
    return;
  }
  if (region.next.size() == 1) {
    go(region.next[0], at);
    return;
  }
  BasicBlock* none = block("none");
  llvm::SwitchInst* choice = at.CreateSwitch(place, none, static_cast<unsigned>(region.next.size()));
  IRBuilder<>(none).CreateUnreachable();
  for (const int next : region.next) {
    BasicBlock* way = block("way");
    IRBuilder<> from(way);
    go(next, from);
    choice->addCase(llvm::cast<llvm::ConstantInt>(number(next < 0 ? kEnded : static_cast<uint64_t>(next))), way);
  }
}

void Pass::write_region(int index) {
  Region& region = regions_[static_cast<size_t>(index)];
  IRBuilder<> head(region.head);
  llvm::ValueToValueMapTy before;  // what is known in the loop before the region's own code
  for (Instruction* value : region.live) {
    const auto found = slots_.find(value);
    if (found == slots_.end() || found->second.array) continue;
    Value* loaded = head.CreateAlignedLoad(found->second.type, slot_address(found->second, head), llvm::Align(1));
    if (value->getType()->isIntegerTy(1)) loaded = head.CreateTrunc(loaded, value->getType());
    before[value] = loaded;
  }
  llvm::DenseMap<Instruction*, Value*> votes;
  for (BasicBlock* at : region.blocks) {
    for (Instruction& instruction : *at) {
      const Word word = word_of(&instruction);
      if (word != Word::Vote && word != Word::VoteMany) continue;
      // No is always a right answer: then each thread takes its turns alone.
      Value* asked = llvm::cast<CallInst>(&instruction)->getArgOperand(0);
      llvm::ValueToValueMapTy kept;
      for (const auto& known : before) kept[known.first] = static_cast<Value*>(known.second);
      for (Instruction* value : region.live) {
        if (const auto slot = slots_.find(value); slot != slots_.end() && slot->second.array) kept[value] = value;
      }
      votes[&instruction] = !places_ && known_from(asked, kept)
                                ? write_vote(head, {{asked, true}}, &before, region.live, word == Word::VoteMany)
                                : llvm::ConstantInt::getFalse(c_);
    }
  }
  const bool guarded = places_ && index != 0;
  if (guarded) {
    const llvm::FunctionCallee lanes = m_.getOrInsertFunction("bc_jit_lanes", llvm::FunctionType::get(i32_, {ptr_, i32_, i32_}, false));
    bool asked = false;
    for (BasicBlock* at : region.blocks) {
      for (Instruction& instruction : *at) asked |= word_of(&instruction) == Word::ActiveMask;
    }
    if (asked) active_ = head.CreateCall(lanes, {head.CreateInBoundsGEP(i16_, places_of_threads_, base_), count_, number(index)});
  }
  if (active_ == nullptr) {
    // All threads of a warp that are there.
    active_ = head.CreateLShr(number(0xffffffff),
                              head.CreateSub(number(32), head.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count_, number(32))));
  }

  // The loops, from the outermost: z, y, x of the group's box, or one over its threads.
  struct Level {
    BasicBlock* body;
    llvm::PHINode* index;
    Value* bound;
  };
  std::vector<Level> levels;
  llvm::MDNode* group = llvm::MDNode::getDistinct(c_, {});
  BasicBlock* at_block = head.GetInsertBlock();
  const auto open = [&](Value* bound) {
    BasicBlock* body = block("thread");
    IRBuilder<>(at_block).CreateBr(body);
    llvm::PHINode* counter = IRBuilder<>(body).CreatePHI(i32_, 2);
    counter->addIncoming(number(0), at_block);
    levels.push_back({body, counter, bound});
    at_block = body;
    return counter;
  };
  Value* step[3] = {number(0), number(0), number(0)};
  if (box_) {
    for (const int d : {2, 1 - inner_, inner_}) {
      if (box_shape_[d] == 1) continue;
      const bool partial = d == 0 && groups_ > 1 && shape_.count() % group_ != 0;
      step[d] = open(partial ? count_ : number(box_shape_[d]));
    }
  } else {
    step[0] = open(count_);
  }
  IRBuilder<> body(at_block);
  if (box_) {
    const auto place = [&](int outer, int inner) {
      Value* upper = body.CreateNUWAdd(body.CreateMul(step[2], number(box_shape_[outer]), "", true, true), step[outer]);
      return body.CreateNUWAdd(body.CreateMul(upper, number(box_shape_[inner]), "", true, true), step[inner]);
    };
    lane_ = place(1 - inner_, inner_);
    linear_ = inner_ == 1 ? place(1, 0) : groups_ == 1 ? lane_ : body.CreateAdd(base_, lane_, "", true, true);
    for (int d = 0; d < 3; ++d) thread_[d] = groups_ == 1 ? step[d] : body.CreateAdd(box_base_[d], step[d], "", true, true);
  } else {
    lane_ = step[0];
    linear_ = body.CreateAdd(base_, lane_, "", true, true);
    thread_[0] = body.CreateURem(linear_, number(shape_.x));
    Value* rest = body.CreateUDiv(linear_, number(shape_.x));
    thread_[1] = body.CreateURem(rest, number(shape_.y));
    thread_[2] = body.CreateUDiv(rest, number(shape_.y));
  }
  BasicBlock* latch = block("latch");
  Value* place_address = nullptr;
  if (places_) {
    place_address = body.CreateInBoundsGEP(i16_, places_of_threads_, linear_);
    if (guarded) {
      BasicBlock* enter = block("enter");
      Value* here = body.CreateLoad(i16_, place_address);
      body.CreateCondBr(body.CreateICmpEQ(here, llvm::ConstantInt::get(i16_, static_cast<uint64_t>(index))), enter, latch);
      body.SetInsertPoint(enter);
    }
  }
  for (Instruction* value : region.live) {
    if (const auto found = slots_.find(value); found != slots_.end()) {
      if (!found->second.array) continue;
      Value* loaded = body.CreateLoad(found->second.type, slot_address(found->second, body));
      if (value->getType()->isIntegerTy(1)) loaded = body.CreateTrunc(loaded, value->getType());
      before[value] = loaded;
    } else {
      repeat(value, body, before);
    }
  }
  BasicBlock* entry_block = body.GetInsertBlock();

  // The region's own blocks.
  llvm::ValueToValueMapTy map;
  map[f_.getArg(0)] = arguments_.lookup(f_.getArg(0));
  for (const auto& known : before) map[known.first] = static_cast<Value*>(known.second);
  std::vector<std::pair<BasicBlock*, BasicBlock*>> copies;
  std::vector<Instruction*> copied;
  std::vector<std::pair<Instruction*, Instruction*>> redefined;  // live values that the region defines anew
  for (BasicBlock* old : region.blocks) {
    BasicBlock* copy = block("");
    map[old] = copy;
    copies.emplace_back(old, copy);
  }
  std::vector<std::pair<Instruction*, Value*>> stand_ins;
  for (auto& [old, copy] : copies) {
    const bool ends = cuts_.contains(old);
    for (Instruction& instruction : *old) {
      if (instruction.isTerminator() && (ends || llvm::isa<llvm::ReturnInst>(instruction))) break;
      if (llvm::isa<llvm::AllocaInst>(instruction) || is_leaf(word_of(&instruction)) || is_argument(&instruction, layout_)) {
        map[&instruction] = repeat(&instruction, body, before);
        continue;
      }
      if (const auto vote = votes.find(&instruction); vote != votes.end()) {
        map[&instruction] = vote->second;
        continue;
      }
      if (word_of(&instruction) == Word::ActiveMask) {
        map[&instruction] = active_;
        continue;
      }
      Instruction* made = instruction.clone();
      made->insertInto(copy, copy->end());
      copied.push_back(made);
      if (before.lookup(&instruction) != nullptr && slots_.contains(&instruction)) {
        redefined.emplace_back(&instruction, made);
      } else if (before.lookup(&instruction) == nullptr) {
        map[&instruction] = made;
      }
    }
  }
  body.CreateBr(llvm::cast<BasicBlock>(static_cast<Value*>(map[region.start])));
  for (auto& [value, made] : redefined) map[value] = made;
  for (Instruction* made : copied) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(made)) {
      for (int i = static_cast<int>(phi->getNumIncomingValues()) - 1; i >= 0; --i) {
        BasicBlock* from = phi->getIncomingBlock(static_cast<unsigned>(i));
        if (!region.blocks.contains(from) || cuts_.contains(from)) phi->removeIncomingValue(static_cast<unsigned>(i), false);
      }
    }
    llvm::RemapInstruction(made, map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
  }

  // Where the region ends: what the next one needs is put away.
  llvm::DenseMap<Instruction*, std::unique_ptr<llvm::SSAUpdater>> updaters;
  for (auto& [value, made] : redefined) {
    auto updater = std::make_unique<llvm::SSAUpdater>();
    updater->Initialize(value->getType(), "");
    updater->AddAvailableValue(entry_block, before[value]);
    updater->AddAvailableValue(made->getParent(), made);
    updaters[value] = std::move(updater);
  }
  struct End {
    BasicBlock* from;
    int next;
    std::vector<std::pair<Instruction*, Value*>> uniform;
  };
  std::vector<End> ends;
  llvm::SetVector<Instruction*> changed;  // uniform values to store after the loop
  for (auto& [old, copy] : copies) {
    const auto found = cuts_.find(old);
    const bool returns = llvm::isa<llvm::ReturnInst>(old->getTerminator());
    if (found == cuts_.end() && !returns) continue;
    const int next = returns && found == cuts_.end() ? -1 : found->second.next;
    End end{copy, next, {}};
    IRBuilder<> at(copy);
    if (next >= 0) {
      Region& following = regions_[static_cast<size_t>(next)];
      for (Instruction* value : following.live) {
        const auto slot = slots_.find(value);
        if (slot == slots_.end()) continue;
        Value* now = nullptr;
        if (const auto updater = updaters.find(value); updater != updaters.end()) {
          now = updater->second->GetValueAtEndOfBlock(copy);
        } else {
          now = map.lookup(value);
        }
        if (now == nullptr) now = llvm::UndefValue::get(value->getType());  // not on any way that is taken
        if (!slot->second.array) {
          end.uniform.emplace_back(value, now);
          if (now != before.lookup(value)) changed.insert(value);
          continue;
        }
        if (now == before.lookup(value)) continue;
        if (value->getType()->isIntegerTy(1)) now = at.CreateZExt(now, i8_);
        at.CreateStore(now, slot_address(slot->second, at));
      }
      if (places_ && following.kind == Kind::Warp) {
        Value* mask = found->second.mask;
        Value* now = mask;
        if (!llvm::isa<llvm::Constant>(mask)) now = map.lookup(mask);
        if (const auto updater = updaters.find(llvm::dyn_cast<Instruction>(mask)); updater != updaters.end())
          now = updater->second->GetValueAtEndOfBlock(copy);
        at.CreateStore(now, at.CreateInBoundsGEP(i32_, masks_, linear_));
      }
    }
    if (places_) {
      const uint64_t place =
          next < 0 ? kEnded : static_cast<uint64_t>(next) | static_cast<uint64_t>(regions_[static_cast<size_t>(next)].kind) << kPlaceBits;
      at.CreateStore(llvm::ConstantInt::get(i16_, place), place_address);
    }
    at.CreateBr(latch);
    ends.push_back(std::move(end));
  }
  IRBuilder<> at(latch);
  llvm::PHINode* place = nullptr;
  if (!places_ && region.next.size() > 1) {
    place = at.CreatePHI(i32_, static_cast<unsigned>(ends.size()));
    for (const End& end : ends) place->addIncoming(number(end.next < 0 ? kEnded : static_cast<uint64_t>(end.next)), end.from);
  }
  std::vector<std::pair<Instruction*, Value*>> stores;
  for (Instruction* value : changed) {
    llvm::PHINode* joined = at.CreatePHI(value->getType(), static_cast<unsigned>(ends.size()));
    for (const End& end : ends) {
      const auto mine = std::find_if(end.uniform.begin(), end.uniform.end(), [&](const auto& pair) { return pair.first == value; });
      joined->addIncoming(mine == end.uniform.end() ? llvm::UndefValue::get(value->getType()) : mine->second, end.from);
    }
    stores.emplace_back(value, joined);
  }
  // Uses of values that the region defines anew, or finds as they were.
  for (auto& [value, made] : redefined) {
    for (llvm::Use& use : llvm::make_early_inc_range(made->uses())) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      if (user->getParent() == made->getParent() && !llvm::isa<llvm::PHINode>(user)) continue;
      updaters[value]->RewriteUse(use);
    }
  }
  for (Instruction* made : copied) {
    if (word_of(made) == Word::Uniform) made->replaceAllUsesWith(llvm::cast<CallInst>(made)->getArgOperand(0));
  }
  for (Instruction* made : copied) {
    if (word_of(made) == Word::Uniform) made->eraseFromParent();
  }

  // Threads between two barriers do not meet in memory, so the loops' accesses may go side by side.
  BasicBlock* const top = head.GetInsertBlock();
  std::vector<BasicBlock*> own{entry_block, levels.empty() ? top : levels.back().body};
  for (auto& [old, copy] : copies) own.push_back(copy);
  for (BasicBlock* in : own) {
    if (in == top) continue;
    for (Instruction& instruction : *in) {
      if (!instruction.mayReadOrWriteMemory() || instruction.isAtomic() || instruction.isVolatile()) continue;
      bool apart = true;
      for (const Value* operand : instruction.operands()) {
        if (operand->getType()->isPointerTy() && shared_locals_.contains(llvm::getUnderlyingObject(operand, 0))) apart = false;
      }
      if (apart) instruction.setMetadata(llvm::LLVMContext::MD_access_group, group);
    }
  }
  // A block's threads are one thread of the machine, so what is atomic in its shared memory need not be locked.
  for (auto& [old, copy] : copies) {
    for (Instruction& instruction : llvm::make_early_inc_range(*copy)) {
      const auto own_memory = [&](Value* address) { return llvm::getUnderlyingObject(address, 0) == e_->getArg(3); };
      if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        if (own_memory(change->getPointerOperand())) llvm::lowerAtomicRMWInst(change);
      } else if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        if (own_memory(swap->getPointerOperand())) llvm::lowerAtomicCmpXchgInst(swap);
      }
    }
  }
  BasicBlock* from = latch;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    IRBuilder<> end(from);
    Value* next = end.CreateAdd(level->index, number(1), "", true, true);
    BasicBlock* after = block("after");
    llvm::BranchInst* back = end.CreateCondBr(end.CreateICmpULT(next, level->bound), level->body, after);
    level->index->addIncoming(next, from);
    llvm::MDNode* accesses = llvm::MDNode::get(c_, {llvm::MDString::get(c_, "llvm.loop.parallel_accesses"), group});
    llvm::MDNode* progress = llvm::MDNode::get(c_, {llvm::MDString::get(c_, "llvm.loop.mustprogress")});
    llvm::SmallVector<llvm::Metadata*> facts{nullptr, accesses, progress};
    // Unrolled before the vectoriser sees it, a loop over few threads would stay scalar. Longer ones may be peeled.
    const auto* bound = llvm::dyn_cast<llvm::ConstantInt>(level->bound);
    if (bound == nullptr || bound->getZExtValue() <= 128)
      facts.push_back(llvm::MDNode::get(c_, {llvm::MDString::get(c_, "llvm.loop.unroll.disable")}));
    llvm::MDNode* loop = llvm::MDNode::getDistinct(c_, facts);
    loop->replaceOperandWith(0, loop);
    back->setMetadata(llvm::LLVMContext::MD_loop, loop);
    from = after;
  }
  IRBuilder<> end(from);
  for (auto& [value, joined] : stores) {
    Slot& slot = slots_[value];
    if (value->getType()->isIntegerTy(1)) joined = end.CreateZExt(joined, i8_);
    end.CreateAlignedStore(joined, slot_address(slot, end), llvm::Align(1));
  }
  write_end(region, end, place);
  active_ = nullptr;
}

/// The entry's beginning, and the loop over blocks.
void Pass::begin_entry() {
  e_ = Function::Create(llvm::FunctionType::get(i64_, {ptr_, i64_, i64_, ptr_, ptr_}, false), Function::ExternalLinkage, kEntryName, m_);
  llvm::AttrBuilder attributes(c_, f_.getAttributes().getFnAttrs());
  for (const auto kind : {llvm::Attribute::Convergent, llvm::Attribute::AlwaysInline, llvm::Attribute::NoInline, llvm::Attribute::Memory,
                          llvm::Attribute::NoReturn, llvm::Attribute::WillReturn, llvm::Attribute::NoRecurse, llvm::Attribute::NoSync})
    attributes.removeAttribute(kind);
  e_->addFnAttrs(attributes);
  for (const unsigned argument : {3u, 4u}) e_->addParamAttr(argument, llvm::Attribute::NoAlias);
  frame_ = e_->getArg(0);
  prologue_ = block("prologue");
  IRBuilder<> top(prologue_);
  const auto field = [&](llvm::Type* type, uint64_t offset) {
    return top.CreateLoad(type, top.CreateConstInBoundsGEP1_64(i8_, frame_, offset));
  };
  arguments_[f_.getArg(0)] = field(ptr_, offsetof(bc_jit_frame, arguments));
  for (int d = 0; d < 3; ++d) grid_[d] = field(i32_, offsetof(bc_jit_frame, grid) + 4 * static_cast<uint64_t>(d));
  for (int d = 0; d < 3; ++d) cluster_[d] = field(i32_, offsetof(bc_jit_frame, cluster) + 4 * static_cast<uint64_t>(d));
  dynamic_ = field(i32_, offsetof(bc_jit_frame, dynamic_shared));
  shared_stride_ = field(i64_, offsetof(bc_jit_frame, shared_stride));
  Value* context_stride = field(i64_, offsetof(bc_jit_frame, context_stride));
  launch_ = field(ptr_, offsetof(bc_jit_frame, launch));
  unfinished_ = top.CreateAlloca(i64_);
  top.CreateStore(number64(0), unfinished_);
  blocks_ = block("blocks");
  next_block_ = block("next");
  BasicBlock* done = block("done");
  top.CreateCondBr(top.CreateICmpSLT(e_->getArg(1), e_->getArg(2)), blocks_, done);

  IRBuilder<> at(blocks_);
  index_ = at.CreatePHI(i64_, 2);
  index_->addIncoming(e_->getArg(1), prologue_);
  Value* offset = at.CreateSub(index_, e_->getArg(1));
  shared_ = at.CreateGEP(i8_, e_->getArg(3), at.CreateMul(offset, shared_stride_));
  context_ = at.CreateGEP(i8_, e_->getArg(4), at.CreateMul(offset, context_stride));
  Value* columns = at.CreateZExt(grid_[0], i64_);
  Value* rows = at.CreateZExt(grid_[1], i64_);
  Value* rest = at.CreateUDiv(index_, columns);
  block_index_[0] = at.CreateTrunc(at.CreateURem(index_, columns), i32_);
  block_index_[1] = at.CreateTrunc(at.CreateURem(rest, rows), i32_);
  block_index_[2] = at.CreateTrunc(at.CreateUDiv(rest, rows), i32_);

  at.SetInsertPoint(next_block_);
  Value* following = at.CreateAdd(index_, number64(1), "", true, true);
  index_->addIncoming(following, next_block_);
  at.CreateCondBr(at.CreateICmpSLT(following, e_->getArg(2)), blocks_, done);
  at.SetInsertPoint(done);
  at.CreateRet(at.CreateLoad(i64_, unfinished_));
}

/// Whether all threads of the block, or with `many` at least an eighth, meet the guards. `kept` are values that each thread has a copy of.
Value* Pass::write_vote(IRBuilder<>& at, llvm::ArrayRef<std::pair<Value*, bool>> guards, const llvm::ValueToValueMapTy* given,
                        llvm::ArrayRef<Instruction*> kept, bool many) {
  BasicBlock* from = at.GetInsertBlock();
  const unsigned dims[3] = {shape_.x, shape_.y, shape_.z};
  Value* so_far = many ? static_cast<Value*>(number(0)) : llvm::ConstantInt::getTrue(c_);
  std::vector<std::tuple<BasicBlock*, llvm::PHINode*, llvm::PHINode*, unsigned>> levels;
  for (Value*& thread : thread_) thread = number(0);
  for (const int d : {2, 1 - inner_, inner_}) {
    if (dims[d] == 1) continue;
    BasicBlock* body = block("vote");
    IRBuilder<>(from).CreateBr(body);
    IRBuilder<> start(body);
    llvm::PHINode* counter = start.CreatePHI(i32_, 2);
    llvm::PHINode* all = start.CreatePHI(so_far->getType(), 2);
    counter->addIncoming(number(0), from);
    all->addIncoming(so_far, from);
    levels.emplace_back(body, counter, all, dims[d]);
    thread_[d] = counter;
    so_far = all;
    from = body;
  }
  IRBuilder<> body(from);
  const auto place = [&](int outer, int inner) {
    Value* upper = body.CreateNUWAdd(body.CreateMul(thread_[2], number(dims[outer]), "", true, true), thread_[outer]);
    return body.CreateNUWAdd(body.CreateMul(upper, number(dims[inner]), "", true, true), thread_[inner]);
  };
  linear_ = place(1, 0);
  lane_ = place(1 - inner_, inner_);
  llvm::ValueToValueMapTy known;
  if (given != nullptr) {
    for (const auto& value : *given) known[value.first] = static_cast<Value*>(value.second);
  }
  for (Instruction* value : kept) {
    const auto slot = slots_.find(value);
    if (slot == slots_.end() || !slot->second.array) continue;
    Value* loaded = body.CreateLoad(slot->second.type, slot_address(slot->second, body));
    known[value] = value->getType()->isIntegerTy(1) ? body.CreateTrunc(loaded, value->getType()) : loaded;
  }
  for (const auto& [condition, wanted] : guards) {
    Value* value = repeat(condition, body, known);
    if (!wanted) value = body.CreateNot(value);
    so_far = many ? body.CreateAdd(so_far, body.CreateZExt(value, i32_)) : body.CreateAnd(so_far, value);
  }
  from = body.GetInsertBlock();
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    auto& [start, counter, all, bound] = *level;
    IRBuilder<> end(from);
    Value* following = end.CreateAdd(counter, number(1), "", true, true);
    BasicBlock* after = block("voted");
    llvm::MDNode* whole = llvm::MDNode::get(c_, {llvm::MDString::get(c_, "llvm.loop.unroll.disable")});
    llvm::MDNode* facts = llvm::MDNode::getDistinct(c_, {nullptr, whole});
    facts->replaceOperandWith(0, facts);
    end.CreateCondBr(end.CreateICmpULT(following, number(bound)), start, after)->setMetadata(llvm::LLVMContext::MD_loop, facts);
    counter->addIncoming(following, from);
    all->addIncoming(so_far, from);
    from = after;
  }
  at.SetInsertPoint(from);
  return many ? at.CreateICmpUGE(so_far, number(std::max(1u, shape_.count() / 8))) : so_far;
}

void Pass::write(Pass* fast, llvm::ArrayRef<std::pair<Value*, bool>> guards) {
  begin_entry();
  BasicBlock* begin = block("begin");
  IRBuilder<> at(blocks_);
  if (fast == nullptr) {
    at.CreateBr(begin);
  } else {
    BasicBlock* begin_fast = block("begin_fast");
    Value* all = write_vote(at, guards);
    at.CreateCondBr(all, begin_fast, begin);
    fast->e_ = e_;
    fast->frame_ = frame_;
    fast->prologue_ = prologue_;
    fast->blocks_ = blocks_;
    fast->next_block_ = next_block_;
    fast->index_ = index_;
    fast->unfinished_ = unfinished_;
    fast->shared_ = shared_;
    fast->context_ = context_;
    fast->dynamic_ = dynamic_;
    fast->launch_ = launch_;
    std::copy_n(block_index_, 3, fast->block_index_);
    std::copy_n(grid_, 3, fast->grid_);
    std::copy_n(cluster_, 3, fast->cluster_);
    fast->shared_stride_ = shared_stride_;
    fast->arguments_[fast->f_.getArg(0)] = static_cast<Value*>(arguments_.lookup(f_.getArg(0)));
    fast->write_version(begin_fast);
  }
  write_version(begin);
}

void Pass::write_version(BasicBlock* begin) {
  stateful_ = (groups_ > 1 && has_block_) || has_grid_ || places_;
  IRBuilder<> top(prologue_->getTerminator());
  pending_ = top.CreateAlloca(i32_);
  release_ = top.CreateAlloca(i32_);
  const uint64_t threads = shape_.count();
  const auto stack = [&](uint64_t bytes) {
    llvm::AllocaInst* made = top.CreateAlloca(llvm::ArrayType::get(i8_, bytes));
    made->setAlignment(llvm::Align(64));
    return made;
  };
  const auto count_of = [&](const Slot& slot, bool local) -> uint64_t {
    if (local) return slot.array ? threads : 1;
    return slot.array ? (slot.across_blocks ? threads : group_) : (slot.across_blocks ? groups_ : 1);
  };
  const uint64_t place_bytes = llvm::alignTo(2 * threads, 64), mask_bytes = llvm::alignTo(4 * threads, 64);
  IRBuilder<> at(begin);
  if (!heap_) {
    for (auto& [value, slot] : slots_) slot.base = stack(slot.bytes * count_of(slot, false));
    for (auto& [value, slot] : locals_) slot.base = stack(std::max<uint64_t>(slot.bytes * count_of(slot, true), 1));
    if (stateful_) group_states_ = stack(4 * groups_);
    if (places_) {
      places_of_threads_ = stack(place_bytes);
      masks_ = stack(mask_bytes);
    }
  } else {
    const auto placed = [&](uint64_t where) { return at.CreateConstInBoundsGEP1_64(i8_, context_, where); };
    for (auto& [value, slot] : slots_) slot.base = placed(slot.offset);
    for (auto& [value, slot] : locals_) slot.base = placed(slot.offset);
    places_of_threads_ = placed(state_offset_);
    masks_ = placed(state_offset_ + place_bytes);
    group_states_ = placed(state_offset_ + place_bytes + mask_bytes);
  }
  for (auto& [local, slot] : locals_) {
    if (!slot.array) shared_locals_.insert(slot.base);
  }

  // Every group's turn; in rounds where groups stop at barriers.
  BasicBlock *round = block("round"), *group = block("group"), *round_done = block("round_done");
  group_done_ = block("group_done");
  if (stateful_) {
    at.CreateStore(number(kReleaseAll), release_);
    BasicBlock* fresh = block("fresh");
    if (has_grid_) {
      at.CreateCondBr(at.CreateICmpNE(at.CreateLoad(i32_, context_), number(0)), round, fresh);
    } else {
      at.CreateBr(fresh);
    }
    at.SetInsertPoint(fresh);
    at.CreateMemSet(group_states_, llvm::ConstantInt::get(i8_, 0), 4 * groups_, llvm::MaybeAlign(64));
  }
  at.CreateBr(round);
  at.SetInsertPoint(round);
  if (stateful_) at.CreateStore(number(0), pending_);
  at.CreateBr(group);
  at.SetInsertPoint(group);
  if (groups_ > 1) {
    llvm::PHINode* turn = at.CreatePHI(i32_, 2);
    turn->addIncoming(number(0), round);
    group_index_ = turn;
  } else {
    group_index_ = number(0);
  }
  base_ = at.CreateMul(group_index_, number(group_), "", true, true);
  count_ = threads % group_ == 0 ? static_cast<Value*>(number(group_))
                                 : at.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number(group_), at.CreateSub(number(threads), base_));
  box_ = true;
  box_shape_[0] = shape_.x, box_shape_[1] = shape_.y, box_shape_[2] = shape_.z;
  for (Value*& base : box_base_) base = number(0);
  if (groups_ > 1) {
    box_shape_[2] = 1;
    if (shape_.x % group_ == 0 || (shape_.y == 1 && shape_.z == 1)) {
      box_shape_[0] = group_, box_shape_[1] = 1;
    } else if (group_ % shape_.x == 0 && shape_.y % (group_ / shape_.x) == 0) {
      box_shape_[1] = group_ / shape_.x;
    } else {
      box_ = false;
    }
    if (box_) {
      box_base_[0] = at.CreateURem(base_, number(shape_.x));
      Value* above = at.CreateUDiv(base_, number(shape_.x));
      box_base_[1] = at.CreateURem(above, number(shape_.y));
      box_base_[2] = at.CreateUDiv(above, number(shape_.y));
    }
  }
  for (Region& region : regions_) region.head = block("region");
  if (!stateful_) {
    at.CreateBr(regions_[0].head);
  } else {
    Value* state = at.CreateLoad(i32_, at.CreateInBoundsGEP(i32_, group_states_, group_index_));
    llvm::SwitchInst* where = at.CreateSwitch(state, group_done_);
    where->addCase(llvm::cast<llvm::ConstantInt>(number(0)), regions_[0].head);
    if (!places_) {
      for (size_t i = 1; i < regions_.size(); ++i) {
        if (stops_group(regions_[i].kind)) where->addCase(llvm::cast<llvm::ConstantInt>(number(i)), regions_[i].head);
      }
    } else {
      BasicBlock* resume = block("resume");
      choose_ = block("choose");
      where->addCase(llvm::cast<llvm::ConstantInt>(number(1)), resume);
      const llvm::FunctionCallee schedule =
          m_.getOrInsertFunction("bc_jit_schedule", llvm::FunctionType::get(i32_, {ptr_, ptr_, i32_, i32_}, false));
      at.SetInsertPoint(resume);
      Value* chosen = at.CreateCall(schedule, {at.CreateInBoundsGEP(i16_, places_of_threads_, base_),
                                               at.CreateInBoundsGEP(i32_, masks_, base_), count_, at.CreateLoad(i32_, release_)});
      at.CreateBr(choose_);
      at.SetInsertPoint(choose_);
      choice_ = at.CreatePHI(i32_, static_cast<unsigned>(regions_.size() + 1));
      choice_->addIncoming(chosen, resume);
      BasicBlock *ended = block("ended"), *wait = block("wait"), *wait_grid = block("wait_grid"), *wait_cluster = block("wait_cluster"),
                 *wait_yield = block("wait_yield");
      llvm::SwitchInst* choices = at.CreateSwitch(choice_, ended);
      for (size_t i = 1; i < regions_.size(); ++i) choices->addCase(llvm::cast<llvm::ConstantInt>(number(i)), regions_[i].head);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitBlock)), wait);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitGrid)), wait_grid);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitCluster)), wait_cluster);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitYield)), wait_yield);
      const auto stop = [&](BasicBlock* in, uint64_t value, uint64_t kind) {
        IRBuilder<> to(in);
        to.CreateStore(number(value), to.CreateInBoundsGEP(i32_, group_states_, group_index_));
        to.CreateStore(to.CreateOr(to.CreateLoad(i32_, pending_), number(kind)), pending_);
        to.CreateBr(group_done_);
      };
      stop(ended, kEnded, 0);
      stop(wait, 1, kPendingBlock);
      stop(wait_grid, 1, kPendingGrid);
      stop(wait_cluster, 1, kPendingCluster);
      stop(wait_yield, 1, kPendingYield);
    }
  }
  at.SetInsertPoint(group_done_);
  if (groups_ > 1) {
    Value* following = at.CreateAdd(group_index_, number(1), "", true, true);
    llvm::cast<llvm::PHINode>(group_index_)->addIncoming(following, group_done_);
    at.CreateCondBr(at.CreateICmpULT(following, number(groups_)), group, round_done);
  } else {
    at.CreateBr(round_done);
  }
  at.SetInsertPoint(round_done);
  if (stateful_) {
    Value* pending = at.CreateLoad(i32_, pending_);
    BasicBlock* more = block("more");
    BasicBlock* ended = has_grid_ ? block("block_ended") : next_block_;
    at.CreateCondBr(at.CreateICmpEQ(pending, number(0)), ended, more);
    if (has_grid_) {
      // Entered again, it does not begin again.
      at.SetInsertPoint(ended);
      at.CreateStore(number(kPendingBlock), context_);
      at.CreateBr(next_block_);
    }
    at.SetInsertPoint(more);
    if (has_yield_) {
      BasicBlock* nobody = block("nobody_yields");
      Value* yields = at.CreateICmpNE(at.CreateAnd(pending, number(kPendingYield)), number(0));
      at.CreateStore(at.CreateSelect(yields, number(kReleaseYields), number(kReleaseAll)), release_);
      at.CreateCondBr(yields, round, nobody);
      at.SetInsertPoint(nobody);
    }
    if (has_grid_) {
      BasicBlock* leave = block("leave");
      at.CreateCondBr(at.CreateICmpUGE(pending, number(kPendingGrid)), leave, round);
      at.SetInsertPoint(leave);
      at.CreateStore(pending, context_);
      at.CreateStore(at.CreateAdd(at.CreateLoad(i64_, unfinished_), number64(1)), unfinished_);
      at.CreateBr(next_block_);
    } else {
      at.CreateBr(round);
    }
  } else {
    at.CreateBr(next_block_);
  }
  for (size_t i = 0; i < regions_.size(); ++i) write_region(static_cast<int>(i));
}

}  // namespace

bool make_blocks(Function& kernel, const BlockShape& shape, const bc_jit_flags&, bc_jit_kernel& facts, std::string& log) {
  Pass general(kernel, shape, facts, log);
  describe_words(*kernel.getParent());
  fence_volatile(kernel);
  if (!general.prepare()) return false;
  const auto follows = [&](Value* value) { return general.follows(value); };
  std::vector<std::pair<Value*, bool>> guards = find_guards(kernel, follows);
  std::unique_ptr<Pass> fast;
  Function* version = nullptr;
  if (!guards.empty()) {
    llvm::ValueToValueMapTy map;
    version = llvm::CloneFunction(&kernel, map);
    for (const auto& [condition, wanted] : guards) {
      for (llvm::User* user : llvm::make_early_inc_range(map[condition]->users())) {
        // Where the condition is asked for again, it holds as well.
        user->replaceUsesOfWith(map[condition], llvm::ConstantInt::getBool(kernel.getContext(), wanted));
      }
    }
    tidy(*version);
    soften_loops(*version, shape, follows);
    fast = std::make_unique<Pass>(*version, shape, facts, log);
    fast->take_facts(general);
    if (!fast->divide()) return false;
  } else {
    soften_loops(kernel, shape, follows);
  }
  if (!general.divide()) return false;
  general.write(fast.get(), guards);
  fast.reset();
  if (version != nullptr) version->eraseFromParent();
  return true;
}

namespace {

Kind kind_of(uint16_t place) { return static_cast<Kind>(place >> kPlaceBits); }

}  // namespace

extern "C" uint32_t bc_jit_schedule(uint16_t* places, const uint32_t* masks, uint32_t count, uint32_t release) {
  uint32_t ready = kEnded, warp = kEnded;
  bool block = false, grid = false, cluster = false, yield = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (places[i] == kEnded) continue;
    const Kind kind = kind_of(places[i]);
    if ((release == kReleaseAll && stops_group(kind)) || (release == kReleaseYields && kind == Kind::Yield)) places[i] &= kPlaceMask;
    const uint32_t region = places[i] & kPlaceMask;
    switch (kind_of(places[i])) {
      case Kind::Start: ready = std::min(ready, region); break;
      case Kind::Warp: warp = std::min(warp, region); break;
      case Kind::Block: block = true; break;
      case Kind::Grid: grid = true; break;
      case Kind::Cluster: cluster = true; break;
      case Kind::Yield: yield = true; break;
    }
  }
  if (ready != kEnded) return ready;
  if (warp != kEnded) {
    // Threads of a warp meet where all that their masks name have come; when the masks ask for others, those that came first go on.
    uint32_t chosen = kEnded;
    for (uint32_t i = 0; i < count && chosen == kEnded; ++i) {
      if (places[i] == kEnded || kind_of(places[i]) != Kind::Warp) continue;
      uint32_t wanted = 0, there = 0;
      for (uint32_t j = 0; j < count; ++j) {
        if (places[j] == kEnded) there |= 1u << j;
        if (places[j] != places[i]) continue;
        wanted |= masks[j];
        there |= 1u << j;
      }
      const uint32_t lanes = count >= 32 ? 0xffffffffu : (1u << count) - 1;
      if ((wanted & lanes & ~there) == 0) chosen = places[i] & kPlaceMask;
    }
    if (chosen == kEnded) chosen = warp;
    const auto waiting = static_cast<uint16_t>(chosen | static_cast<uint32_t>(Kind::Warp) << kPlaceBits);
    for (uint32_t i = 0; i < count; ++i) {
      if (places[i] == waiting) places[i] = static_cast<uint16_t>(chosen);
    }
    return chosen;
  }
  return yield ? kWaitYield : block ? kWaitBlock : cluster ? kWaitCluster : grid ? kWaitGrid : kAllEnded;
}

extern "C" uint32_t bc_jit_lanes(const uint16_t* places, uint32_t count, uint32_t region) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < std::min(count, 32u); ++i) lanes |= places[i] == region ? 1u << i : 0u;
  return lanes;
}

}  // namespace bc::jit
