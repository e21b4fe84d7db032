/// The pass that makes the code of a block: what it finds in a kernel (jit_regions.cpp), and what it writes (jit_entry.cpp).
#pragma once
#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/jit/jit_places.h"
#include "backends/cpu/jit/jit_words.h"

namespace bc::jit {

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

/// One version of a kernel on its way to a block's code.
class BlockPass {
 public:
  BlockPass(Function& kernel, const BlockShape& shape, bc_jit_kernel& facts, std::string& log)
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
  void write(BlockPass* fast, llvm::ArrayRef<std::pair<Value*, bool>> guards);
  /// Whether a value follows from what a thread knows at its beginning.
  bool follows(Value* value) {
    repeatable_.clear();  // what it knew may be gone
    return can_repeat(value, 0);
  }
  void take_facts(BlockPass& from) {
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
  llvm::MDNode* stays_rolled();
  /// What a loop's last branch says of it.
  llvm::MDNode* loop_facts(llvm::ArrayRef<llvm::Metadata*> facts);
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
  bool has_block_ = false, has_warp_ = false, has_grid_ = false, has_yield_ = false, has_spin_ = false, places_ = false;
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

}  // namespace bc::jit
