/// The pass that generates the code of a block: its analysis of a kernel (jit_regions.cpp), and its code generation (jit_entry.cpp for the
/// entry function, jit_region_writer.cpp for the regions in it).
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
  bool array = false;          // one element for each thread, else one for all
  bool local = false;          // a variable of the source that has an address
  bool across_blocks = false;  // kept across a barrier of the whole block
  llvm::Type* type = nullptr;  // in memory
  uint64_t bytes = 0;          // size of an element
  uint64_t offset = 0;
  Value* base = nullptr;  // its address in the entry function
};

struct Region {
  BasicBlock* start = nullptr;
  Kind kind = Kind::Start;
  llvm::SetVector<BasicBlock*> blocks;
  std::vector<Instruction*> live;     // values from earlier regions that it needs: stored or recomputed
  llvm::SmallSetVector<int, 4> next;  // following regions; -1: the thread ends
  // In the entry function.
  BasicBlock* head = nullptr;
};

inline void add_all(llvm::ValueToValueMapTy& to, const llvm::ValueToValueMapTy& from) {
  for (const auto& known : from) to[known.first] = static_cast<Value*>(known.second);
}

/// Compiles one version of a kernel to a block's code.
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

  /// The transformations before a second version of the kernel is cloned.
  bool prepare() { return place_shared() && name_leaves(); }
  /// Splits the kernel and finds the values that its regions keep.
  bool divide() { return cut() && analyse() && find_kept(); }
  /// Writes the entry; blocks whose threads all meet `guards` run the code of `fast`.
  void write(BlockPass* fast, llvm::ArrayRef<std::pair<Value*, bool>> guards);
  /// Whether a value can be computed from a thread's index and the kernel's arguments.
  bool follows(Value* value) {
    repeatable_.clear();  // cached values may have been erased
    return can_repeat(value, 0);
  }
  void take_facts(BlockPass& from) {
    static_shared_ = from.static_shared_;
    warp_memory_ = from.warp_memory_;
  }

 private:
  friend class RegionWriter;

  bool fail(const llvm::Twine& reason) {
    log_ += "error: " + reason.str() + "\n";
    return false;
  }

  // -- before the split
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
  void create_entry();
  Value* load_frame(IRBuilder<>& at);
  // A version of the block's code: memory, rounds, groups, regions.
  void write_version(BasicBlock* begin);
  uint64_t place_bytes() const;
  uint64_t mask_bytes() const;
  void place_on_stack(IRBuilder<>& top);
  void place_in_context(IRBuilder<>& at);
  void begin_rounds(IRBuilder<>& at, BasicBlock* round);
  void begin_group(IRBuilder<>& at, BasicBlock* round);
  void choose_box(IRBuilder<>& at);
  void enter_region(IRBuilder<>& at);
  Value* call_scheduler(IRBuilder<>& at, Value* release);
  void write_choice(Value* first, BasicBlock* resume);
  void write_region(int index);
  void write_end(Region& region, IRBuilder<>& at, Value* place);
  void leave_group(IRBuilder<>& at, int next);
  void end_group(IRBuilder<>& at, BasicBlock* group, BasicBlock* round_done);
  void end_round(IRBuilder<>& at, BasicBlock* round);
  Value* write_vote(IRBuilder<>& at, llvm::ArrayRef<std::pair<Value*, bool>> guards, const llvm::ValueToValueMapTy* given = nullptr,
                    llvm::ArrayRef<Instruction*> kept = {}, bool many = false);
  // Values of the kernel in the entry function.
  Value* hoisted(Instruction* argument);
  bool known_from(Value* value, const llvm::ValueToValueMapTy& given);
  Value* word_value(Instruction* call, IRBuilder<>& at);
  Value* repeat(Value* value, IRBuilder<>& at, llvm::ValueToValueMapTy& map);
  Value* slot_address(const Slot& slot, IRBuilder<>& at);
  Value* load_kept(Instruction* value, const Slot& slot, IRBuilder<>& at);
  void store_kept(Value* value, const Slot& slot, IRBuilder<>& at);
  /// A copy for each thread has its type's alignment; a copy for all threads may begin anywhere.
  static llvm::MaybeAlign alignment(const Slot& slot) { return slot.array ? llvm::MaybeAlign() : llvm::Align(1); }
  /// A loop of a nest over threads: its index counts from 0 to `bound`.
  struct Loop {
    BasicBlock* body;
    llvm::PHINode* index;
    Value* bound;
  };
  Loop open_loop(BasicBlock*& from, Value* bound, const char* name);
  void close_loop(const Loop& loop, BasicBlock*& from, const char* name, llvm::ArrayRef<llvm::Metadata*> facts);
  Value* number_in_box(IRBuilder<>& at, const unsigned (&shape)[3], Value* const (&index)[3], int inner);
  llvm::MDNode* stays_rolled();
  /// The loop metadata of a loop's last branch.
  llvm::MDNode* loop_facts(llvm::ArrayRef<llvm::Metadata*> facts);
  llvm::ConstantInt* number(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt32Ty(c_), value); }
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
  bool stateful_ = false;  // groups stop at barriers and continue later
  llvm::DenseMap<Value*, unsigned> numbers_;
  std::vector<Instruction*> values_;
  llvm::DenseMap<BasicBlock*, llvm::BitVector> live_in_;
  llvm::DenseMap<Value*, int> repeatable_;
  llvm::MapVector<Value*, Slot> slots_;
  llvm::MapVector<llvm::AllocaInst*, Slot> locals_;
  llvm::SmallPtrSet<Value*, 16> shared_locals_;  // local variables with one copy for all threads

  // The entry function that is being written.
  Function* e_ = nullptr;
  Value *frame_ = nullptr, *shared_ = nullptr, *context_ = nullptr;
  BasicBlock* prologue_ = nullptr;
  llvm::ValueToValueMapTy arguments_;
  BasicBlock *blocks_ = nullptr, *next_block_ = nullptr;
  llvm::PHINode* index_ = nullptr;
  Value* unfinished_ = nullptr;
  Value *block_index_[3] = {}, *grid_[3] = {}, *cluster_[3] = {}, *dynamic_ = nullptr, *launch_ = nullptr, *shared_stride_ = nullptr;
  Value *group_index_ = nullptr, *base_ = nullptr, *count_ = nullptr;  // the current group: number, first thread, number of threads
  Value *group_states_ = nullptr, *places_of_threads_ = nullptr, *masks_ = nullptr, *pending_ = nullptr, *release_ = nullptr;
  BasicBlock* group_done_ = nullptr;
  BasicBlock* choose_ = nullptr;  // branches to the region that the scheduler returned
  llvm::PHINode* choice_ = nullptr;
  // The current thread of a region's loop.
  Value *thread_[3] = {}, *linear_ = nullptr, *lane_ = nullptr;
  Value* box_base_[3] = {};
  bool box_ = true;
  int inner_ = 0;  // the dimension of the innermost loop over threads
  unsigned box_shape_[3] = {1, 1, 1};
};

}  // namespace bc::jit
