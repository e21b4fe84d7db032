// The entry function: loops over blocks, their groups and threads, and the regions' code in them.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

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
  const auto place_of = [&](int next) { return llvm::cast<llvm::ConstantInt>(number(next < 0 ? kEnded : static_cast<uint64_t>(next))); };
  if (region.next.size() == 2) {  // a switch with two cases would lose the loop's metadata
    at.CreateCondBr(at.CreateICmpEQ(place, place_of(region.next[0])), way_to(region.next[0]), way_to(region.next[1]));
    return;
  }
  BasicBlock* none = block("none");
  llvm::SwitchInst* choice = at.CreateSwitch(place, none, static_cast<unsigned>(region.next.size()));
  IRBuilder<>(none).CreateUnreachable();
  for (const int next : region.next) choice->addCase(place_of(next), way_to(next));
}

void BlockPass::write_region(int index) {
  Region& region = regions_[static_cast<size_t>(index)];
  IRBuilder<> head(region.head);
  llvm::ValueToValueMapTy before;  // values that are available in the loop before the region's own code
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
      // "False" is always a valid vote: then each thread iterates alone.
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
    // The mask of all existing threads of a warp.
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
  std::vector<std::pair<Instruction*, Instruction*>> redefined;  // live values that the region redefines
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

  // At the region's end, values that later regions need are stored.
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
        if (now == nullptr) now = llvm::UndefValue::get(value->getType());  // undefined on this path, which is never taken
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
  // Replaces uses of values that the region redefines or has loaded.
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

  // Between two barriers, threads do not access the same memory, so the loops' accesses can be marked as independent.
  BasicBlock* const top = head.GetInsertBlock();
  std::vector<BasicBlock*> own{entry_block, levels.empty() ? top : levels.back().body};
  for (auto& [old, copy] : copies) own.push_back(copy);
  for (BasicBlock* in : own) {
    if (in == top) continue;
    if (has_spin_) break;  // memory guarded by a lock is written by one thread after the other
    for (Instruction& instruction : *in) {
      if (!instruction.mayReadOrWriteMemory() || instruction.isAtomic() || instruction.isVolatile()) continue;
      bool apart = true;
      for (const Value* operand : instruction.operands()) {
        if (operand->getType()->isPointerTy() && shared_locals_.contains(llvm::getUnderlyingObject(operand, 0))) apart = false;
      }
      if (apart) instruction.setMetadata(llvm::LLVMContext::MD_access_group, group);
    }
  }
  // One machine thread runs all threads of a block, so atomics on its shared memory need no lock prefix.
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
    llvm::SmallVector<llvm::Metadata*> facts{accesses};
    // If a loop over few threads were unrolled before the vectorizer, it would stay scalar. Longer loops may be peeled.
    const auto* bound = llvm::dyn_cast<llvm::ConstantInt>(level->bound);
    if (bound == nullptr || bound->getZExtValue() <= 128) facts.push_back(stays_rolled());
    // Vectorized loops have few iterations. Unrolling them makes up to four times the code, which takes a seventh of the compile time; it
    // saves a tenth of the run time of a tree in shared memory and nothing elsewhere.
    for (const char* made : {"llvm.loop.vectorize.followup_vectorized", "llvm.loop.vectorize.followup_epilogue"})
      facts.push_back(llvm::MDNode::get(c_, {llvm::MDString::get(c_, made), stays_rolled()}));
    back->setMetadata(llvm::LLVMContext::MD_loop, loop_facts(facts));
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

/// Writes the entry's beginning and the loop over blocks.
void BlockPass::begin_entry() {
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

/// Writes code that tests whether all threads of the block (with `many`, at least an eighth) meet the guards. `kept` are values of which
/// each thread has a copy.
Value* BlockPass::write_vote(IRBuilder<>& at, llvm::ArrayRef<std::pair<Value*, bool>> guards, const llvm::ValueToValueMapTy* given,
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
    llvm::BranchInst* back = end.CreateCondBr(end.CreateICmpULT(following, number(bound)), start, after);
    back->setMetadata(llvm::LLVMContext::MD_loop, loop_facts({stays_rolled()}));
    counter->addIncoming(following, from);
    all->addIncoming(so_far, from);
    from = after;
  }
  at.SetInsertPoint(from);
  return many ? at.CreateICmpUGE(so_far, number(std::max(1u, shape_.count() / 8))) : so_far;
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

void BlockPass::write_version(BasicBlock* begin) {
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

  // Runs every group in turn; if groups stop at barriers, in several rounds.
  BasicBlock *round = block("round"), *group = block("group"), *round_done = block("round_done");
  group_done_ = block("group_done");
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
                 *wait_yield = block("wait_yield"), *wait_spin = block("wait_spin");
      llvm::SwitchInst* choices = at.CreateSwitch(choice_, ended);
      for (size_t i = 1; i < regions_.size(); ++i) choices->addCase(llvm::cast<llvm::ConstantInt>(number(i)), regions_[i].head);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitBlock)), wait);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitGrid)), wait_grid);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitCluster)), wait_cluster);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitYield)), wait_yield);
      choices->addCase(llvm::cast<llvm::ConstantInt>(number(kWaitSpin)), wait_spin);
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
      stop(wait_spin, 1, kPendingSpin);
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

}  // namespace bc::jit
