// The code of a region: loops over the threads of a group around a clone of the region's blocks.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <algorithm>

#include "backends/cpu/jit/jit_block_pass.h"

namespace bc::jit {

/// Writes one region. Values that live across its border are loaded from their slots before the clone and stored after it: values that each
/// thread has a copy of inside the loops, values with one copy for all threads (uniform ones) before and after the loops.
class RegionWriter {
 public:
  RegionWriter(BlockPass& pass, int index)
      : p_(pass),
        index_(index),
        region_(pass.regions_[static_cast<size_t>(index)]),
        guarded_(pass.places_ && index != 0),
        head_(region_.head),
        body_(pass.c_),
        accesses_(llvm::MDNode::getDistinct(pass.c_, {})) {}

  void write() {
    load_uniform_values();
    take_votes();
    find_active_mask();
    open_loops();
    latch_ = p_.block("latch");
    if (p_.places_) find_place();
    load_thread_values();
    clone_blocks();
    connect_clones();
    prepare_updaters();
    write_exits();
    IRBuilder<> after(latch_);
    llvm::PHINode* next = join_next_regions(after);
    const std::vector<Kept> joined = join_uniform_values(after);
    rewrite_redefined_uses();
    drop_uniform_marks();
    mark_independent_accesses();
    lower_shared_atomics();
    after.SetInsertPoint(close_loops());
    for (const auto& [value, now] : joined) p_.store_kept(now, p_.slots_[value], after);
    p_.write_end(region_, after, next);
  }

 private:
  using Kept = std::pair<Instruction*, Value*>;  // a value of the kernel and what it is in the entry function

  /// A block of the clone that leaves the region, and the uniform values that the following region needs.
  struct Exit {
    BasicBlock* from;
    int next;
    std::vector<Kept> uniform;
  };

  /// A value's slot, or null if it has none because it is recomputed.
  const Slot* slot_of(Instruction* value) const {
    const auto found = p_.slots_.find(value);
    return found == p_.slots_.end() ? nullptr : &found->second;
  }

  void load_uniform_values();
  void take_votes();
  void find_active_mask();
  void open_loops();
  void set_indices_in_box(Value* const (&index)[3]);
  void set_indices_in_line(Value* lane);
  void find_place();
  void load_thread_values();
  void clone_blocks();
  Value* replaced(Instruction& instruction);
  void connect_clones();
  void prepare_updaters();
  void write_exits();
  Value* at_end(BasicBlock* block, Value* value);
  void save_for(const Region& following, IRBuilder<>& at, Exit& exit);
  void save_warp_mask(Value* mask, IRBuilder<>& at);
  llvm::PHINode* join_next_regions(IRBuilder<>& at);
  std::vector<Kept> join_uniform_values(IRBuilder<>& at);
  void rewrite_redefined_uses();
  void drop_uniform_marks();
  void mark_independent_accesses();
  void lower_shared_atomics();
  BasicBlock* close_loops();
  bool touches_shared_local(const Instruction& access) const;

  BlockPass& p_;
  const int index_;
  Region& region_;
  const bool guarded_;  // only the threads whose places name the region enter it
  IRBuilder<> head_;    // before the loops
  IRBuilder<> body_;    // in the innermost loop, before the clone
  std::vector<BlockPass::Loop> loops_;
  BasicBlock* latch_ = nullptr;        // the innermost loop's end
  llvm::ValueToValueMapTy available_;  // the kernel's values that exist before the clone
  llvm::DenseMap<Instruction*, Value*> votes_;
  Value* active_mask_ = nullptr;
  Value* place_address_ = nullptr;
  llvm::ValueToValueMapTy map_;  // from the kernel's values and blocks to those of the clone
  std::vector<std::pair<BasicBlock*, BasicBlock*>> copies_;
  std::vector<Instruction*> copied_;
  std::vector<std::pair<Instruction*, Instruction*>> redefined_;              // live values that the region computes again, in its own loop
  llvm::DenseMap<Instruction*, std::unique_ptr<llvm::SSAUpdater>> updaters_;  // of the redefined values
  std::vector<Exit> exits_;
  llvm::SetVector<Instruction*> changed_;  // uniform values to store after the loops
  llvm::MDNode* accesses_;                 // the group of accesses that are independent in the loops
};

void RegionWriter::load_uniform_values() {
  for (Instruction* value : region_.live) {
    if (const Slot* slot = slot_of(value); slot != nullptr && !slot->array) available_[value] = p_.load_kept(value, *slot, head_);
  }
}

/// Writes the votes of the region's code, which all threads take together before its loops.
void RegionWriter::take_votes() {
  for (BasicBlock* at : region_.blocks) {
    for (Instruction& instruction : *at) {
      const Word word = word_of(&instruction);
      if (word != Word::Vote && word != Word::VoteMany) continue;
      Value* asked = llvm::cast<CallInst>(&instruction)->getArgOperand(0);
      llvm::ValueToValueMapTy given;
      add_all(given, available_);
      for (Instruction* value : region_.live) {
        if (const Slot* slot = slot_of(value); slot != nullptr && slot->array) given[value] = value;
      }
      // "False" is always a valid vote: then each thread iterates alone.
      votes_[&instruction] = !p_.places_ && p_.known_from(asked, given)
                                 ? p_.write_vote(head_, {{asked, true}}, &available_, region_.live, word == Word::VoteMany)
                                 : llvm::ConstantInt::getFalse(p_.c_);
    }
  }
}

/// Finds the mask of a warp's active threads: those whose places name this region, or all existing threads of the warp.
void RegionWriter::find_active_mask() {
  const auto asks = [](BasicBlock* at) { return llvm::any_of(*at, [](Instruction& i) { return word_of(&i) == Word::ActiveMask; }); };
  if (guarded_ && llvm::any_of(region_.blocks, asks)) {
    const llvm::FunctionCallee lanes =
        p_.m_.getOrInsertFunction("bc_jit_lanes", llvm::FunctionType::get(p_.i32_, {p_.ptr_, p_.i32_, p_.i32_}, false));
    Value* places = head_.CreateInBoundsGEP(p_.i16_, p_.places_of_threads_, p_.base_);
    active_mask_ = head_.CreateCall(lanes, {places, p_.count_, p_.number(static_cast<uint64_t>(index_))});
    return;
  }
  Value* threads = head_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, p_.count_, p_.number(32));
  active_mask_ = head_.CreateLShr(p_.number(0xffffffff), head_.CreateSub(p_.number(32), threads));
}

/// Opens the loops over the group's threads, from the outermost: z, y, x of the group's box, or one loop over its threads.
void RegionWriter::open_loops() {
  BasicBlock* from = head_.GetInsertBlock();
  const auto open = [&](Value* bound) {
    loops_.push_back(p_.open_loop(from, bound, "thread"));
    return loops_.back().index;
  };
  if (!p_.box_) {
    Value* lane = open(p_.count_);
    body_.SetInsertPoint(from);
    set_indices_in_line(lane);
    return;
  }
  Value* index[3] = {p_.number(0), p_.number(0), p_.number(0)};
  for (const int d : {2, 1 - p_.inner_, p_.inner_}) {
    if (p_.box_shape_[d] == 1) continue;
    const bool partial = d == 0 && p_.groups_ > 1 && p_.shape_.count() % p_.group_ != 0;
    index[d] = open(partial ? p_.count_ : p_.number(p_.box_shape_[d]));
  }
  body_.SetInsertPoint(from);
  set_indices_in_box(index);
}

void RegionWriter::set_indices_in_box(Value* const (&index)[3]) {
  p_.lane_ = p_.number_in_box(body_, p_.box_shape_, index, p_.inner_);
  p_.linear_ = p_.inner_ == 1    ? p_.number_in_box(body_, p_.box_shape_, index, 0)
               : p_.groups_ == 1 ? p_.lane_
                                 : body_.CreateAdd(p_.base_, p_.lane_, "", true, true);
  for (int d = 0; d < 3; ++d) p_.thread_[d] = p_.groups_ == 1 ? index[d] : body_.CreateAdd(p_.box_base_[d], index[d], "", true, true);
}

void RegionWriter::set_indices_in_line(Value* lane) {
  p_.lane_ = lane;
  p_.linear_ = body_.CreateAdd(p_.base_, lane, "", true, true);
  p_.thread_[0] = body_.CreateURem(p_.linear_, p_.number(p_.shape_.x));
  Value* rest = body_.CreateUDiv(p_.linear_, p_.number(p_.shape_.x));
  p_.thread_[1] = body_.CreateURem(rest, p_.number(p_.shape_.y));
  p_.thread_[2] = body_.CreateUDiv(rest, p_.number(p_.shape_.y));
}

/// Finds the thread's place. Where the region is guarded, threads whose places name other regions go to the latch.
void RegionWriter::find_place() {
  place_address_ = body_.CreateInBoundsGEP(p_.i16_, p_.places_of_threads_, p_.linear_);
  if (!guarded_) return;
  BasicBlock* enter = p_.block("enter");
  Value* here = body_.CreateLoad(p_.i16_, place_address_);
  body_.CreateCondBr(body_.CreateICmpEQ(here, llvm::ConstantInt::get(p_.i16_, static_cast<uint64_t>(index_))), enter, latch_);
  body_.SetInsertPoint(enter);
}

/// Loads or recomputes the values of the thread that the region needs.
void RegionWriter::load_thread_values() {
  for (Instruction* value : region_.live) {
    const Slot* slot = slot_of(value);
    if (slot == nullptr)
      p_.repeat(value, body_, available_);
    else if (slot->array)
      available_[value] = p_.load_kept(value, *slot, body_);
  }
}

/// Clones the region's blocks, without the instructions whose values are known before them and without the ends of those at a cut.
void RegionWriter::clone_blocks() {
  map_[p_.f_.getArg(0)] = p_.arguments_.lookup(p_.f_.getArg(0));
  add_all(map_, available_);
  for (BasicBlock* old : region_.blocks) {
    BasicBlock* copy = p_.block("");
    map_[old] = copy;
    copies_.emplace_back(old, copy);
  }
  for (auto& [old, copy] : copies_) {
    const bool cut = p_.cuts_.contains(old);
    for (Instruction& instruction : *old) {
      if (instruction.isTerminator() && (cut || llvm::isa<llvm::ReturnInst>(instruction))) break;
      if (Value* known = replaced(instruction)) {
        map_[&instruction] = known;
        continue;
      }
      Instruction* made = instruction.clone();
      made->insertInto(copy, copy->end());
      copied_.push_back(made);
      if (available_.lookup(&instruction) == nullptr)
        map_[&instruction] = made;
      else if (p_.slots_.contains(&instruction))
        redefined_.emplace_back(&instruction, made);
    }
  }
}

/// The value that stands for an instruction which is not cloned, or null.
Value* RegionWriter::replaced(Instruction& instruction) {
  if (llvm::isa<llvm::AllocaInst>(instruction) || is_leaf(word_of(&instruction)) || is_argument(&instruction, p_.layout_))
    return p_.repeat(&instruction, body_, available_);
  if (const auto vote = votes_.find(&instruction); vote != votes_.end()) return vote->second;
  return word_of(&instruction) == Word::ActiveMask ? active_mask_ : nullptr;
}

/// Enters the clone, and makes its instructions use the clone's values and blocks.
void RegionWriter::connect_clones() {
  body_.CreateBr(llvm::cast<BasicBlock>(static_cast<Value*>(map_[region_.start])));
  for (auto& [value, made] : redefined_) map_[value] = made;
  for (Instruction* made : copied_) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(made)) {
      for (int i = static_cast<int>(phi->getNumIncomingValues()) - 1; i >= 0; --i) {
        BasicBlock* from = phi->getIncomingBlock(static_cast<unsigned>(i));
        if (!region_.blocks.contains(from) || p_.cuts_.contains(from)) phi->removeIncomingValue(static_cast<unsigned>(i), false);
      }
    }
    llvm::RemapInstruction(made, map_, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
  }
}

/// A redefined value has two definitions, the one that was loaded and the clone's: an updater finds which of them reaches a use.
void RegionWriter::prepare_updaters() {
  for (auto& [value, made] : redefined_) {
    auto updater = std::make_unique<llvm::SSAUpdater>();
    updater->Initialize(value->getType(), "");
    updater->AddAvailableValue(body_.GetInsertBlock(), available_[value]);
    updater->AddAvailableValue(made->getParent(), made);
    updaters_[value] = std::move(updater);
  }
}

/// At each exit of the region, stores the values that the following region needs and the thread's new place.
void RegionWriter::write_exits() {
  for (auto& [old, copy] : copies_) {
    const auto cut = p_.cuts_.find(old);
    const bool is_cut = cut != p_.cuts_.end();
    if (!is_cut && !llvm::isa<llvm::ReturnInst>(old->getTerminator())) continue;
    Exit exit{copy, is_cut ? cut->second.next : -1, {}};
    IRBuilder<> at(copy);
    uint64_t place = kEnded;
    if (exit.next >= 0) {
      const Region& following = p_.regions_[static_cast<size_t>(exit.next)];
      save_for(following, at, exit);
      if (p_.places_ && following.kind == Kind::Warp) save_warp_mask(cut->second.mask, at);
      place = static_cast<uint64_t>(exit.next) | static_cast<uint64_t>(following.kind) << kPlaceBits;
    }
    if (p_.places_) at.CreateStore(llvm::ConstantInt::get(p_.i16_, place), place_address_);
    at.CreateBr(latch_);
    exits_.push_back(std::move(exit));
  }
}

/// The copy of a kernel's value at the end of a block of the clone; null if it is not computed on any way there.
Value* RegionWriter::at_end(BasicBlock* block, Value* value) {
  if (llvm::isa<llvm::Constant>(value)) return value;
  if (const auto updater = updaters_.find(llvm::dyn_cast<Instruction>(value)); updater != updaters_.end())
    return updater->second->GetValueAtEndOfBlock(block);
  return map_.lookup(value);
}

/// Stores the thread's values that the following region needs and this one has changed; collects the uniform values.
void RegionWriter::save_for(const Region& following, IRBuilder<>& at, Exit& exit) {
  for (Instruction* value : following.live) {
    const Slot* slot = slot_of(value);
    if (slot == nullptr) continue;
    Value* now = at_end(exit.from, value);
    if (now == nullptr) now = llvm::UndefValue::get(value->getType());  // undefined on this path, which is never taken
    const bool changes = now != available_.lookup(value);
    if (!slot->array) {
      exit.uniform.emplace_back(value, now);
      if (changes) changed_.insert(value);
    } else if (changes) {
      p_.store_kept(now, *slot, at);
    }
  }
}

/// Stores the mask of the threads that a barrier of a warp waits for, which the scheduler reads.
void RegionWriter::save_warp_mask(Value* mask, IRBuilder<>& at) {
  Value* now = at_end(at.GetInsertBlock(), mask);
  at.CreateStore(now, at.CreateInBoundsGEP(p_.i32_, p_.masks_, p_.linear_));
}

/// The number of the following region, where there are several; null where there is one or the scheduler chooses.
llvm::PHINode* RegionWriter::join_next_regions(IRBuilder<>& at) {
  if (p_.places_ || region_.next.size() <= 1) return nullptr;
  llvm::PHINode* next = at.CreatePHI(p_.i32_, static_cast<unsigned>(exits_.size()));
  for (const Exit& exit : exits_) next->addIncoming(p_.number(exit.next < 0 ? kEnded : static_cast<uint64_t>(exit.next)), exit.from);
  return next;
}

/// Joins the changed uniform values of all exits: the last thread's are stored after the loops.
std::vector<RegionWriter::Kept> RegionWriter::join_uniform_values(IRBuilder<>& at) {
  std::vector<Kept> all;
  for (Instruction* value : changed_) {
    llvm::PHINode* joined = at.CreatePHI(value->getType(), static_cast<unsigned>(exits_.size()));
    for (const Exit& exit : exits_) {
      const auto mine = llvm::find_if(exit.uniform, [&](const Kept& kept) { return kept.first == value; });
      joined->addIncoming(mine == exit.uniform.end() ? llvm::UndefValue::get(value->getType()) : mine->second, exit.from);
    }
    all.emplace_back(value, joined);
  }
  return all;
}

/// Makes the uses of redefined values outside their definitions' blocks use whichever definition reaches them.
void RegionWriter::rewrite_redefined_uses() {
  for (auto& [value, made] : redefined_) {
    for (llvm::Use& use : llvm::make_early_inc_range(made->uses())) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      if (user->getParent() == made->getParent() && !llvm::isa<llvm::PHINode>(user)) continue;
      updaters_[value]->RewriteUse(use);
    }
  }
}

/// Replaces the calls that mark a value as uniform, which only the analysis needs, by the value.
void RegionWriter::drop_uniform_marks() {
  for (Instruction* made : copied_) {
    if (word_of(made) == Word::Uniform) made->replaceAllUsesWith(llvm::cast<CallInst>(made)->getArgOperand(0));
  }
  for (Instruction* made : copied_) {
    if (word_of(made) == Word::Uniform) made->eraseFromParent();
  }
}

/// Marks the loops' accesses as independent, for the vectorizer: between two barriers, threads do not access the same memory. Excepted are
/// variables with one copy for all threads, and kernels with locks, whose memory is written by one thread after the other.
void RegionWriter::mark_independent_accesses() {
  if (p_.has_spin_) return;
  BasicBlock* const top = head_.GetInsertBlock();
  std::vector<BasicBlock*> inside{body_.GetInsertBlock(), loops_.empty() ? top : loops_.back().body};
  for (auto& [old, copy] : copies_) inside.push_back(copy);
  for (BasicBlock* in : inside) {
    if (in == top) continue;
    for (Instruction& instruction : *in) {
      if (!instruction.mayReadOrWriteMemory() || instruction.isAtomic() || instruction.isVolatile()) continue;
      if (!touches_shared_local(instruction)) instruction.setMetadata(llvm::LLVMContext::MD_access_group, accesses_);
    }
  }
}

bool RegionWriter::touches_shared_local(const Instruction& access) const {
  return llvm::any_of(access.operands(), [&](const Value* operand) {
    return operand->getType()->isPointerTy() && p_.shared_locals_.contains(llvm::getUnderlyingObject(operand, 0));
  });
}

/// One machine thread runs all threads of a block, so atomics on its shared memory need no lock prefix.
void RegionWriter::lower_shared_atomics() {
  const auto is_shared = [&](Value* address) { return llvm::getUnderlyingObject(address, 0) == p_.e_->getArg(3); };
  for (auto& [old, copy] : copies_) {
    for (Instruction& instruction : llvm::make_early_inc_range(*copy)) {
      if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        if (is_shared(change->getPointerOperand())) llvm::lowerAtomicRMWInst(change);
      } else if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        if (is_shared(swap->getPointerOperand())) llvm::lowerAtomicCmpXchgInst(swap);
      }
    }
  }
}

/// Closes the loops, with what LLVM's loop passes should know of them, and returns the block after the outermost.
BasicBlock* RegionWriter::close_loops() {
  const auto text = [&](const char* name) { return llvm::MDString::get(p_.c_, name); };
  BasicBlock* from = latch_;
  for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
    llvm::SmallVector<llvm::Metadata*> facts{llvm::MDNode::get(p_.c_, {text("llvm.loop.parallel_accesses"), accesses_})};
    // If a loop over few threads were unrolled before the vectorizer, it would stay scalar. Longer loops may be peeled.
    const auto* bound = llvm::dyn_cast<llvm::ConstantInt>(loop->bound);
    if (bound == nullptr || bound->getZExtValue() <= 128) facts.push_back(p_.stays_rolled());
    // Vectorized loops have few iterations. Unrolling them makes up to four times the code, which takes a seventh of the compile time; it
    // saves a tenth of the run time of a tree in shared memory and nothing elsewhere.
    for (const char* made : {"llvm.loop.vectorize.followup_vectorized", "llvm.loop.vectorize.followup_epilogue"})
      facts.push_back(llvm::MDNode::get(p_.c_, {text(made), p_.stays_rolled()}));
    p_.close_loop(*loop, from, "after", facts);
  }
  return from;
}

void BlockPass::write_region(int index) { RegionWriter(*this, index).write(); }

}  // namespace bc::jit
