// The entry function: the loops over blocks and over their groups, and the ways between regions.
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "backends/cpu/jit/jit_block_pass.h"

namespace bc::jit {

Value* BlockPass::hoisted(Instruction* argument) {
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

Value* BlockPass::word_value(Instruction* call, IRBuilder<>& at) {
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

/// Recomputes a value at the beginning of a region's loop.
Value* BlockPass::repeat(Value* value, IRBuilder<>& at, llvm::ValueToValueMapTy& map) {
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

/// Whether `repeat` can compute a value from the given values.
bool BlockPass::known_from(Value* value, const llvm::ValueToValueMapTy& given) {
  if (llvm::isa<llvm::Constant>(value) || llvm::isa<llvm::Argument>(value) || given.count(value) != 0) return true;
  auto* instruction = llvm::cast<Instruction>(value);
  if (is_argument(value, layout_) || is_leaf(word_of(value))) return true;
  if (llvm::isa<llvm::PHINode>(value) || llvm::isa<llvm::AllocaInst>(value) || instruction->mayReadOrWriteMemory()) return false;
  for (Value* operand : instruction->operands()) {
    if (!llvm::isa<Function>(operand) && !known_from(operand, given)) return false;
  }
  return true;
}

Value* BlockPass::slot_address(const Slot& slot, IRBuilder<>& at) {
  Value* index = slot.array ? (slot.across_blocks && groups_ > 1 ? linear_ : lane_)
                            : (slot.across_blocks && groups_ > 1 && !slot.local ? group_index_ : nullptr);
  if (index == nullptr) return slot.base;
  return at.CreateInBoundsGEP(llvm::ArrayType::get(i8_, slot.bytes), slot.base, at.CreateZExt(index, i64_));
}

/// Loads a value that is kept across regions; a bit is kept as a byte.
Value* BlockPass::load_kept(Instruction* value, const Slot& slot, IRBuilder<>& at) {
  Value* address = slot_address(slot, at);
  Value* loaded = at.CreateAlignedLoad(slot.type, address, alignment(slot));
  return value->getType()->isIntegerTy(1) ? at.CreateTrunc(loaded, value->getType()) : loaded;
}

void BlockPass::store_kept(Value* value, const Slot& slot, IRBuilder<>& at) {
  if (value->getType()->isIntegerTy(1)) value = at.CreateZExt(value, i8_);
  at.CreateAlignedStore(value, slot_address(slot, at), alignment(slot));
}

/// The end of a group's turn: `next` is a region of a barrier that the group waits at, or -1 when its threads have ended.
void BlockPass::leave_group(IRBuilder<>& at, int next) {
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

llvm::MDNode* BlockPass::stays_rolled() { return llvm::MDNode::get(c_, {llvm::MDString::get(c_, "llvm.loop.unroll.disable")}); }

llvm::MDNode* BlockPass::loop_facts(llvm::ArrayRef<llvm::Metadata*> facts) {
  llvm::SmallVector<llvm::Metadata*> all{nullptr};
  all.append(facts.begin(), facts.end());
  llvm::MDNode* loop = llvm::MDNode::getDistinct(c_, all);
  loop->replaceOperandWith(0, loop);
  return loop;
}

/// Writes the code after a region's loop.
void BlockPass::write_end(Region& region, IRBuilder<>& at, Value* place) {
  if (places_) {
    Value* chosen = call_scheduler(at, number(0));
    choice_->addIncoming(chosen, at.GetInsertBlock());
    at.CreateBr(choose_);
    return;
  }
  const auto go = [&](int next, IRBuilder<>& from) {
    const bool stops = next < 0 || stops_group(regions_[static_cast<size_t>(next)].kind);
    if (next >= 0 && (!stops || !stateful_)) {
      Region& following = regions_[static_cast<size_t>(next)];
      llvm::BranchInst* way = from.CreateBr(following.head);
      // A kernel's own loop around barriers: if it were unrolled, each iteration would become a separate loop over the threads.
      if (&following <= &region) way->setMetadata(llvm::LLVMContext::MD_loop, loop_facts({stays_rolled()}));
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
  const auto way_to = [&](int next) {
    BasicBlock* way = block("way");
    IRBuilder<> from(way);
    go(next, from);
    return way;
  };
  const auto place_of = [&](int next) { return number(next < 0 ? kEnded : static_cast<uint64_t>(next)); };
  if (region.next.size() == 2) {  // a switch with two cases would lose the loop's metadata
    at.CreateCondBr(at.CreateICmpEQ(place, place_of(region.next[0])), way_to(region.next[0]), way_to(region.next[1]));
    return;
  }
  BasicBlock* none = block("none");
  llvm::SwitchInst* choice = at.CreateSwitch(place, none, static_cast<unsigned>(region.next.size()));
  IRBuilder<>(none).CreateUnreachable();
  for (const int next : region.next) choice->addCase(place_of(next), way_to(next));
}

/// Creates the entry function, with the attributes of the kernel that hold for a whole block too.
void BlockPass::create_entry() {
  e_ = Function::Create(llvm::FunctionType::get(i64_, {ptr_, i64_, i64_, ptr_, ptr_}, false), Function::ExternalLinkage, kEntryName, m_);
  llvm::AttrBuilder attributes(c_, f_.getAttributes().getFnAttrs());
  for (const auto kind : {llvm::Attribute::Convergent, llvm::Attribute::AlwaysInline, llvm::Attribute::NoInline, llvm::Attribute::Memory,
                          llvm::Attribute::NoReturn, llvm::Attribute::WillReturn, llvm::Attribute::NoRecurse, llvm::Attribute::NoSync})
    attributes.removeAttribute(kind);
  e_->addFnAttrs(attributes);
  for (const unsigned argument : {3u, 4u}) e_->addParamAttr(argument, llvm::Attribute::NoAlias);
}

/// Loads the fields of the launch's frame and returns the stride of the blocks' contexts, which only the loop over blocks needs.
Value* BlockPass::load_frame(IRBuilder<>& at) {
  frame_ = e_->getArg(0);
  const auto field = [&](llvm::Type* type, uint64_t offset) {
    return at.CreateLoad(type, at.CreateConstInBoundsGEP1_64(i8_, frame_, offset));
  };
  arguments_[f_.getArg(0)] = field(ptr_, offsetof(bc_jit_frame, arguments));
  for (int d = 0; d < 3; ++d) grid_[d] = field(i32_, offsetof(bc_jit_frame, grid) + 4 * static_cast<uint64_t>(d));
  for (int d = 0; d < 3; ++d) cluster_[d] = field(i32_, offsetof(bc_jit_frame, cluster) + 4 * static_cast<uint64_t>(d));
  dynamic_ = field(i32_, offsetof(bc_jit_frame, dynamic_shared));
  shared_stride_ = field(i64_, offsetof(bc_jit_frame, shared_stride));
  Value* context_stride = field(i64_, offsetof(bc_jit_frame, context_stride));
  launch_ = field(ptr_, offsetof(bc_jit_frame, launch));
  return context_stride;
}

/// Writes the entry's beginning and the loop over blocks.
void BlockPass::begin_entry() {
  create_entry();
  prologue_ = block("prologue");
  IRBuilder<> top(prologue_);
  Value* context_stride = load_frame(top);
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

/// Begins a loop after block `from`, which becomes the loop's body.
BlockPass::Loop BlockPass::open_loop(BasicBlock*& from, Value* bound, const char* name) {
  BasicBlock* body = block(name);
  IRBuilder<>(from).CreateBr(body);
  llvm::PHINode* index = IRBuilder<>(body).CreatePHI(i32_, 2);
  index->addIncoming(number(0), from);
  from = body;
  return {body, index, bound};
}

/// Ends a loop at block `from`, which becomes the block after the loop.
void BlockPass::close_loop(const Loop& loop, BasicBlock*& from, const char* name, llvm::ArrayRef<llvm::Metadata*> facts) {
  IRBuilder<> end(from);
  Value* following = end.CreateAdd(loop.index, number(1), "", true, true);
  BasicBlock* after = block(name);
  llvm::BranchInst* back = end.CreateCondBr(end.CreateICmpULT(following, loop.bound), loop.body, after);
  back->setMetadata(llvm::LLVMContext::MD_loop, loop_facts(facts));
  loop.index->addIncoming(following, from);
  from = after;
}

/// A thread's number in a box of threads, which are counted along the dimension `inner` first and along z last.
Value* BlockPass::number_in_box(IRBuilder<>& at, const unsigned (&shape)[3], Value* const (&index)[3], int inner) {
  const int outer = 1 - inner;
  Value* upper = at.CreateNUWAdd(at.CreateMul(index[2], number(shape[outer]), "", true, true), index[outer]);
  return at.CreateNUWAdd(at.CreateMul(upper, number(shape[inner]), "", true, true), index[inner]);
}

/// Writes code that tests whether all threads of the block (with `many`, at least an eighth) meet the guards. `kept` are values of which
/// each thread has a copy.
Value* BlockPass::write_vote(IRBuilder<>& at, llvm::ArrayRef<std::pair<Value*, bool>> guards, const llvm::ValueToValueMapTy* given,
                             llvm::ArrayRef<Instruction*> kept, bool many) {
  BasicBlock* from = at.GetInsertBlock();
  const unsigned shape[3] = {shape_.x, shape_.y, shape_.z};
  Value* votes = many ? static_cast<Value*>(number(0)) : llvm::ConstantInt::getTrue(c_);
  std::vector<std::pair<Loop, llvm::PHINode*>> levels;  // each loop with the votes so far at the beginning of its body
  for (Value*& thread : thread_) thread = number(0);
  for (const int d : {2, 1 - inner_, inner_}) {
    if (shape[d] == 1) continue;
    BasicBlock* const before = from;
    const Loop loop = open_loop(from, number(shape[d]), "vote");
    llvm::PHINode* so_far = IRBuilder<>(loop.body).CreatePHI(votes->getType(), 2);
    so_far->addIncoming(votes, before);
    levels.emplace_back(loop, so_far);
    thread_[d] = loop.index;
    votes = so_far;
  }
  IRBuilder<> body(from);
  linear_ = number_in_box(body, shape, thread_, 0);
  lane_ = number_in_box(body, shape, thread_, inner_);
  llvm::ValueToValueMapTy known;
  if (given != nullptr) add_all(known, *given);
  for (Instruction* value : kept) {
    if (const auto slot = slots_.find(value); slot != slots_.end() && slot->second.array)
      known[value] = load_kept(value, slot->second, body);
  }
  for (const auto& [condition, wanted] : guards) {
    Value* value = repeat(condition, body, known);
    if (!wanted) value = body.CreateNot(value);
    votes = many ? body.CreateAdd(votes, body.CreateZExt(value, i32_)) : body.CreateAnd(votes, value);
  }
  from = body.GetInsertBlock();
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    level->second->addIncoming(votes, from);
    close_loop(level->first, from, "voted", {stays_rolled()});
  }
  at.SetInsertPoint(from);
  return many ? at.CreateICmpUGE(votes, number(std::max(1u, shape_.count() / 8))) : votes;
}

void BlockPass::write(BlockPass* fast, llvm::ArrayRef<std::pair<Value*, bool>> guards) {
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

/// Writes the code of a block: rounds over its groups of threads, in which each group runs regions until it stops at a barrier or has
/// ended.
void BlockPass::write_version(BasicBlock* begin) {
  stateful_ = (groups_ > 1 && has_block_) || has_grid_ || places_;
  IRBuilder<> top(prologue_->getTerminator());
  pending_ = top.CreateAlloca(i32_);
  release_ = top.CreateAlloca(i32_);
  IRBuilder<> at(begin);
  if (heap_)
    place_in_context(at);
  else
    place_on_stack(top);
  for (auto& [local, slot] : locals_) {
    if (!slot.array) shared_locals_.insert(slot.base);
  }

  BasicBlock *round = block("round"), *group = block("group"), *round_done = block("round_done");
  group_done_ = block("group_done");
  begin_rounds(at, round);
  at.SetInsertPoint(round);
  if (stateful_) at.CreateStore(number(0), pending_);
  at.CreateBr(group);
  at.SetInsertPoint(group);
  begin_group(at, round);
  choose_box(at);
  for (Region& region : regions_) region.head = block("region");
  enter_region(at);
  at.SetInsertPoint(group_done_);
  end_group(at, group, round_done);
  at.SetInsertPoint(round_done);
  if (stateful_)
    end_round(at, round);
  else
    at.CreateBr(next_block_);
  for (size_t i = 0; i < regions_.size(); ++i) write_region(static_cast<int>(i));
}

/// The bytes of the threads' places and of their masks of warps.
uint64_t BlockPass::place_bytes() const { return llvm::alignTo(2 * shape_.count(), 64); }
uint64_t BlockPass::mask_bytes() const { return llvm::alignTo(4 * shape_.count(), 64); }

/// Gives each slot, and the states of groups and threads, memory on the stack of the machine's thread that runs the blocks.
void BlockPass::place_on_stack(IRBuilder<>& top) {
  const uint64_t threads = shape_.count();
  const auto stack = [&](uint64_t bytes) {
    llvm::AllocaInst* made = top.CreateAlloca(llvm::ArrayType::get(i8_, bytes));
    made->setAlignment(llvm::Align(64));
    return made;
  };
  for (auto& [value, slot] : slots_) {
    const uint64_t count = slot.array ? (slot.across_blocks ? threads : group_) : (slot.across_blocks ? groups_ : 1);
    slot.base = stack(slot.bytes * count);
  }
  for (auto& [value, slot] : locals_) slot.base = stack(std::max<uint64_t>(slot.bytes * (slot.array ? threads : 1), 1));
  if (stateful_) group_states_ = stack(4 * groups_);
  if (places_) {
    places_of_threads_ = stack(place_bytes());
    masks_ = stack(mask_bytes());
  }
}

/// Gives each slot, and the states of groups and threads, its place in the block's context: they are too large for the stack, or outlive a
/// call of the block's function.
void BlockPass::place_in_context(IRBuilder<>& at) {
  const auto placed = [&](uint64_t where) { return at.CreateConstInBoundsGEP1_64(i8_, context_, where); };
  for (auto& [value, slot] : slots_) slot.base = placed(slot.offset);
  for (auto& [value, slot] : locals_) slot.base = placed(slot.offset);
  places_of_threads_ = placed(state_offset_);
  masks_ = placed(state_offset_ + place_bytes());
  group_states_ = placed(state_offset_ + place_bytes() + mask_bytes());
}

/// Writes the way to the first round. A block that returned at a grid's barrier keeps the states of its groups and threads; any other block
/// starts with all of them in the first region.
void BlockPass::begin_rounds(IRBuilder<>& at, BasicBlock* round) {
  if (stateful_) {
    at.CreateStore(number(kReleaseAll), release_);
    BasicBlock* fresh = block("fresh");
    if (has_grid_) {
      Value* waits = at.CreateLoad(i32_, context_);
      if (has_spin_) {
        Value* spins = at.CreateICmpNE(at.CreateAnd(waits, number(kPendingSpin)), number(0));
        at.CreateStore(at.CreateSelect(spins, number(kReleaseYields), number(kReleaseAll)), release_);
      }
      at.CreateCondBr(at.CreateICmpNE(waits, number(0)), round, fresh);
    } else {
      at.CreateBr(fresh);
    }
    at.SetInsertPoint(fresh);
    at.CreateMemSet(group_states_, llvm::ConstantInt::get(i8_, 0), 4 * groups_, llvm::MaybeAlign(64));
  }
  at.CreateBr(round);
}

/// Begins the loop over groups: the current group's number, its first thread and its number of threads.
void BlockPass::begin_group(IRBuilder<>& at, BasicBlock* round) {
  if (groups_ > 1) {
    llvm::PHINode* turn = at.CreatePHI(i32_, 2);
    turn->addIncoming(number(0), round);
    group_index_ = turn;
  } else {
    group_index_ = number(0);
  }
  const uint64_t threads = shape_.count();
  base_ = at.CreateMul(group_index_, number(group_), "", true, true);
  count_ = threads % group_ == 0 ? static_cast<Value*>(number(group_))
                                 : at.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number(group_), at.CreateSub(number(threads), base_));
}

/// Finds whether the threads of every group form a box of the block, so that their indices need no division in the loops over threads.
void BlockPass::choose_box(IRBuilder<>& at) {
  box_ = true;
  box_shape_[0] = shape_.x, box_shape_[1] = shape_.y, box_shape_[2] = shape_.z;
  for (Value*& base : box_base_) base = number(0);
  if (groups_ == 1) return;
  box_shape_[2] = 1;
  if (shape_.x % group_ == 0 || (shape_.y == 1 && shape_.z == 1)) {
    box_shape_[0] = group_, box_shape_[1] = 1;
  } else if (group_ % shape_.x == 0 && shape_.y % (group_ / shape_.x) == 0) {
    box_shape_[1] = group_ / shape_.x;
  } else {
    box_ = false;
    return;
  }
  box_base_[0] = at.CreateURem(base_, number(shape_.x));
  Value* above = at.CreateUDiv(base_, number(shape_.x));
  box_base_[1] = at.CreateURem(above, number(shape_.y));
  box_base_[2] = at.CreateUDiv(above, number(shape_.y));
}

/// Branches to the region at which the group continues: the first one, or the one that its state names. If threads have places of their
/// own, the scheduler chooses among these.
void BlockPass::enter_region(IRBuilder<>& at) {
  if (!stateful_) {
    at.CreateBr(regions_[0].head);
    return;
  }
  Value* state = at.CreateLoad(i32_, at.CreateInBoundsGEP(i32_, group_states_, group_index_));
  llvm::SwitchInst* where = at.CreateSwitch(state, group_done_);
  where->addCase(number(0), regions_[0].head);
  if (places_) {
    BasicBlock* resume = block("resume");
    choose_ = block("choose");
    where->addCase(number(1), resume);
    at.SetInsertPoint(resume);
    Value* chosen = call_scheduler(at, at.CreateLoad(i32_, release_));
    at.CreateBr(choose_);
    write_choice(chosen, resume);
    return;
  }
  for (size_t i = 1; i < regions_.size(); ++i) {
    if (stops_group(regions_[i].kind)) where->addCase(number(i), regions_[i].head);
  }
}

/// Calls the scheduler, which chooses the region that threads of the current group enter next.
Value* BlockPass::call_scheduler(IRBuilder<>& at, Value* release) {
  const llvm::FunctionCallee schedule =
      m_.getOrInsertFunction("bc_jit_schedule", llvm::FunctionType::get(i32_, {ptr_, ptr_, i32_, i32_}, false));
  Value* places = at.CreateInBoundsGEP(i16_, places_of_threads_, base_);
  Value* masks = at.CreateInBoundsGEP(i32_, masks_, base_);
  return at.CreateCall(schedule, {places, masks, count_, release});
}

/// Writes the branches to what the scheduler chose: a region, or the end of the group's turn because all its threads have ended or wait.
void BlockPass::write_choice(Value* first, BasicBlock* resume) {
  IRBuilder<> at(choose_);
  choice_ = at.CreatePHI(i32_, static_cast<unsigned>(regions_.size() + 1));
  choice_->addIncoming(first, resume);
  struct Stop {
    const char* name;
    uint32_t choice, state, pending;
  };
  constexpr Stop kStops[] = {
      {"ended", kAllEnded, kEnded, 0},
      {"wait", kWaitBlock, 1, kPendingBlock},
      {"wait_grid", kWaitGrid, 1, kPendingGrid},
      {"wait_cluster", kWaitCluster, 1, kPendingCluster},
      {"wait_yield", kWaitYield, 1, kPendingYield},
      {"wait_spin", kWaitSpin, 1, kPendingSpin},
  };
  BasicBlock* stops[std::size(kStops)];
  for (size_t i = 0; i < std::size(kStops); ++i) stops[i] = block(kStops[i].name);
  llvm::SwitchInst* choices = at.CreateSwitch(choice_, stops[0]);
  for (size_t i = 1; i < regions_.size(); ++i) choices->addCase(number(i), regions_[i].head);
  for (size_t i = 1; i < std::size(kStops); ++i) choices->addCase(number(kStops[i].choice), stops[i]);
  for (size_t i = 0; i < std::size(kStops); ++i) {
    IRBuilder<> to(stops[i]);
    to.CreateStore(number(kStops[i].state), to.CreateInBoundsGEP(i32_, group_states_, group_index_));
    to.CreateStore(to.CreateOr(to.CreateLoad(i32_, pending_), number(kStops[i].pending)), pending_);
    to.CreateBr(group_done_);
  }
}

/// Ends the loop over groups.
void BlockPass::end_group(IRBuilder<>& at, BasicBlock* group, BasicBlock* round_done) {
  if (groups_ == 1) {
    at.CreateBr(round_done);
    return;
  }
  Value* following = at.CreateAdd(group_index_, number(1), "", true, true);
  llvm::cast<llvm::PHINode>(group_index_)->addIncoming(following, group_done_);
  at.CreateCondBr(at.CreateICmpULT(following, number(groups_)), group, round_done);
}

/// After a round the block has ended if no group waits. Else another round follows, or the block's function returns, to be called again
/// when the other blocks have come to the barrier.
void BlockPass::end_round(IRBuilder<>& at, BasicBlock* round) {
  Value* pending = at.CreateLoad(i32_, pending_);
  BasicBlock* more = block("more");
  BasicBlock* ended = has_grid_ ? block("block_ended") : next_block_;
  at.CreateCondBr(at.CreateICmpEQ(pending, number(0)), ended, more);
  if (has_grid_) {
    // A block that is called again continues where it stopped.
    at.SetInsertPoint(ended);
    at.CreateStore(number(kPendingBlock), context_);
    at.CreateBr(next_block_);
  }
  at.SetInsertPoint(more);
  if (has_yield_ || has_spin_) {
    BasicBlock* nobody = block("nobody_yields");
    Value* yields = at.CreateICmpEQ(at.CreateAnd(pending, number(kPendingYield | kPendingSpin)), number(kPendingYield));
    at.CreateStore(at.CreateSelect(yields, number(kReleaseYields), number(kReleaseAll)), release_);
    at.CreateCondBr(yields, round, nobody);
    at.SetInsertPoint(nobody);
  }
  if (!has_grid_) {
    at.CreateBr(round);
    return;
  }
  BasicBlock* leave = block("leave");
  at.CreateCondBr(at.CreateICmpUGE(pending, number(kPendingGrid)), leave, round);
  at.SetInsertPoint(leave);
  at.CreateStore(pending, context_);
  at.CreateStore(at.CreateAdd(at.CreateLoad(i64_, unfinished_), number64(1)), unfinished_);
  at.CreateBr(next_block_);
}

}  // namespace bc::jit
