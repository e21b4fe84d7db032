#include "backends/cpu/jit/jit_words.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/IR/IRBuilder.h>

namespace bc::jit {

Word word_of(llvm::StringRef name) {
  static const auto& words = *new llvm::StringMap<Word>{
      {"__bc_thread_x", Word::ThreadX},
      {"__bc_thread_y", Word::ThreadY},
      {"__bc_thread_z", Word::ThreadZ},
      {"__bc_block_x", Word::BlockX},
      {"__bc_block_y", Word::BlockY},
      {"__bc_block_z", Word::BlockZ},
      {"__bc_grid_x", Word::GridX},
      {"__bc_grid_y", Word::GridY},
      {"__bc_grid_z", Word::GridZ},
      {"__bc_cluster_x", Word::ClusterX},
      {"__bc_cluster_y", Word::ClusterY},
      {"__bc_cluster_z", Word::ClusterZ},
      {"__bc_dim_x", Word::DimX},
      {"__bc_dim_y", Word::DimY},
      {"__bc_dim_z", Word::DimZ},
      {"__bc_linear", Word::Linear},
      {"__bc_lane", Word::Lane},
      {"__bc_warp", Word::Warp},
      {"__bc_shared", Word::Shared},
      {"__bc_dynamic_bytes", Word::DynamicBytes},
      {"__bc_shared_stride", Word::SharedStride},
      {"__bc_warp_memory", Word::WarpMemory},
      {"__bc_uniform", Word::Uniform},
      {"__bc_active_mask", Word::ActiveMask},
      {"__bc_launch", Word::Launch},
      {"__bc_barrier", Word::Barrier},
      {"__bc_warp_barrier", Word::WarpBarrier},
      {"__bc_grid_barrier", Word::GridBarrier},
      {"__bc_cluster_barrier", Word::ClusterBarrier},
      {"__bc_yield", Word::Yield},
      {"__bc_spin", Word::Spin},
      {"__bc_soft_barrier", Word::SoftBarrier},
      {"__bc_vote", Word::Vote},
      {"__bc_vote_many", Word::VoteMany},
      {"__bc_stop", Word::Stop},
  };
  if (!name.starts_with("__bc_")) return Word::None;
  const auto found = words.find(name);
  return found == words.end() ? Word::None : found->second;
}

Word word_of(const Value* value) {
  const auto* call = llvm::dyn_cast<CallInst>(value);
  const Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
  return callee == nullptr || !callee->isDeclaration() ? Word::None : word_of(callee->getName());
}

namespace {

bool differs_in_block(Word word) {
  return word <= Word::ThreadZ
             ? word >= Word::ThreadX
             : word == Word::Linear || word == Word::Lane || word == Word::Warp || word == Word::WarpMemory || word == Word::ActiveMask;
}

/// The base object of a pointer, without constant offsets.
const Value* root_of(const Value* pointer, const llvm::DataLayout& layout) {
  llvm::APInt offset(64, 0);
  return pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
}

class ThreadDivergence final : public llvm::TargetTransformInfoImplCRTPBase<ThreadDivergence> {
 public:
  ThreadDivergence(const llvm::DataLayout& layout, bool warps) : TargetTransformInfoImplCRTPBase(layout), warps_(warps) {}
  bool hasBranchDivergence(const Function* = nullptr) const { return true; }
  bool isAlwaysUniform(const Value* value) const {
    const Word word = word_of(value);
    return word == Word::Uniform || word == Word::Vote || word == Word::VoteMany || (warps_ && one_for_warp(value));
  }
  bool isSourceOfDivergence(const Value* value) const {
    if (llvm::isa<llvm::AllocaInst>(value) || llvm::isa<llvm::AtomicRMWInst>(value) || llvm::isa<llvm::AtomicCmpXchgInst>(value))
      return true;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) return load->isVolatile() || load->isAtomic();
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(value)) {
      const Word word = word_of(value);
      if (word != Word::None) return differs_in_block(word);
      return !call->onlyReadsMemory() || call->isConvergent();
    }
    return false;
  }

 private:
  /// Whether a value is equal for all threads of a warp: the warp's number, or a comparison that changes only between warps.
  static bool one_for_warp(const Value* value) {
    const Word word = word_of(value);
    if (word == Word::Warp || word == Word::WarpMemory || word == Word::ThreadY || word == Word::ThreadZ) return true;
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (instruction == nullptr || instruction->getNumOperands() != 2) return false;
    const Value* index = instruction->getOperand(0);
    while (llvm::isa<llvm::ZExtInst>(index) || llvm::isa<llvm::SExtInst>(index)) index = llvm::cast<Instruction>(index)->getOperand(0);
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction->getOperand(1));
    if (number == nullptr || number->getBitWidth() > 64 || (word_of(index) != Word::ThreadX && word_of(index) != Word::Linear))
      return false;
    const uint64_t by = number->getZExtValue();
    switch (instruction->getOpcode()) {
      case Instruction::LShr:
      case Instruction::AShr: return by >= 5;
      case Instruction::UDiv:
      case Instruction::SDiv: return by != 0 && by % 32 == 0;
      case Instruction::And: return (by & 31) == 0;
      case Instruction::ICmp:
        switch (llvm::cast<llvm::ICmpInst>(instruction)->getPredicate()) {
          case llvm::CmpInst::ICMP_ULT:
          case llvm::CmpInst::ICMP_UGE:
          case llvm::CmpInst::ICMP_SLT:
          case llvm::CmpInst::ICMP_SGE: return by % 32 == 0;
          case llvm::CmpInst::ICMP_UGT:
          case llvm::CmpInst::ICMP_ULE:
          case llvm::CmpInst::ICMP_SGT:
          case llvm::CmpInst::ICMP_SLE: return (by + 1) % 32 == 0;
          default: return false;
        }
      default: return false;
    }
  }

  bool warps_;
};

}  // namespace

bool is_argument(const Value* value, const llvm::DataLayout& layout) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (load == nullptr || load->isVolatile() || load->isAtomic()) return false;
  const Value* root = root_of(load->getPointerOperand(), layout);
  if (llvm::isa<llvm::Argument>(root)) return true;
  const auto* outer = llvm::dyn_cast<llvm::LoadInst>(root);
  return outer != nullptr && llvm::isa<llvm::Argument>(root_of(outer->getPointerOperand(), layout)) && !outer->isVolatile();
}

llvm::TargetTransformInfo thread_divergence(const llvm::DataLayout& layout, bool warps) {
  return llvm::TargetTransformInfo(ThreadDivergence(layout, warps));
}

}  // namespace bc::jit
