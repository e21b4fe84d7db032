/// The special functions ("words") of the CUDA prelude (src/device/cuda) that the CPU's compiler implements, and their effect on analyses.
#pragma once
#include <llvm/ADT/GenericUniformityImpl.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cpu/jit/jit_blocks.h"

namespace bc::jit {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Function;
using llvm::Instruction;
using llvm::IRBuilder;
using llvm::Value;

/// Functions that the prelude declares and the passes of this folder implement.
enum class Word {
  None,
  ThreadX,
  ThreadY,
  ThreadZ,
  BlockX,
  BlockY,
  BlockZ,
  GridX,
  GridY,
  GridZ,
  ClusterX,
  ClusterY,
  ClusterZ,
  DimX,
  DimY,
  DimZ,
  Linear,
  Lane,
  Warp,
  Shared,
  DynamicBytes,
  SharedStride,
  WarpMemory,
  Launch,
  Uniform,
  ActiveMask,
  Vote,
  VoteMany,
  Barrier,
  WarpBarrier,
  GridBarrier,
  ClusterBarrier,
  Yield,
  Spin,
  SoftBarrier,
  Stop,
};

Word word_of(llvm::StringRef name);
/// The word that a call calls, or None.
Word word_of(const Value* value);
inline bool is_barrier(Word word) {
  return word == Word::Barrier || word == Word::WarpBarrier || word == Word::GridBarrier || word == Word::ClusterBarrier ||
         word == Word::Yield || word == Word::Spin || word == Word::SoftBarrier;
}
/// Whether a piece of code contains a barrier of the block.
inline bool stops_block(const BasicBlock& code) {
  return llvm::any_of(code, [](const Instruction& i) { return word_of(&i) == Word::Barrier; });
}
/// Words whose value depends only on the thread's index.
inline bool is_leaf(Word word) { return word != Word::None && word < Word::Uniform; }
/// Whether a value is a kernel's argument, or the pointer to its bytes: a load from the table of pointers to arguments or through one of
/// them. Nothing writes to either while the kernel runs.
bool is_argument(const Value* value, const llvm::DataLayout& layout);

/// The sources of divergence between the threads of a block, for UniformityInfo. `warps`: between the threads of a warp, whose 32 threads
/// are neighbours in dimension x.
llvm::TargetTransformInfo thread_divergence(const llvm::DataLayout& layout, bool warps);

/// Analyses of a kernel before it is split at its barriers.
struct Analyses {
  explicit Analyses(Function& f) : tree(f), after(f), divergence(thread_divergence(f.getParent()->getDataLayout(), false)), loops(tree) {
    cycles.compute(f);
    uniform = std::make_unique<llvm::UniformityInfo>(tree, cycles, &divergence);
    uniform->compute();
  }
  /// Blocks that only some threads of a block may run.
  llvm::SmallPtrSet<BasicBlock*, 16> parted(Function& f) {
    llvm::SmallPtrSet<BasicBlock*, 16> found;
    for (BasicBlock& at : f) {
      if (!uniform->hasDivergentTerminator(at)) continue;
      const auto* node = after.getNode(&at);
      const auto* meets = node == nullptr ? nullptr : node->getIDom();
      BasicBlock* end = meets == nullptr ? nullptr : meets->getBlock();
      llvm::SmallVector<BasicBlock*> work(llvm::successors(&at));
      llvm::SmallPtrSet<BasicBlock*, 16> seen;
      while (!work.empty()) {
        BasicBlock* b = work.pop_back_val();
        if (b == end || !seen.insert(b).second) continue;
        found.insert(b);
        work.append(llvm::succ_begin(b), llvm::succ_end(b));
      }
    }
    return found;
  }
  llvm::DominatorTree tree;
  llvm::PostDominatorTree after;
  llvm::CycleInfo cycles;
  llvm::TargetTransformInfo divergence;
  std::unique_ptr<llvm::UniformityInfo> uniform;
  llvm::LoopInfo loops;
};

// ---- transformations before a kernel is split; `follows` tells whether a value can be computed from a thread's initial values

/// Adds attributes to the prelude's words for the optimiser.
void describe_words(llvm::Module& module);
/// Old code without __syncwarp relies on a warp's threads running in lock step and marks this by volatile stores: adds a warp barrier
/// before and after each.
void fence_volatile(Function& f);
/// Adds a yield to other threads at the end of each iteration of a loop that waits for their stores or for a lock.
void part_waiting_loops(Function& f);
/// Simplifies a version of a kernel after its guards were replaced by constants.
void tidy(Function& f);
/// Finds the bounds checks at a kernel's beginning ("if (i >= n) return"), with the value for which a thread continues. Empty if knowing
/// them would not help loops or barriers.
std::vector<std::pair<Value*, bool>> find_guards(Function& f, const std::function<bool(Value*)>& follows);
/// Splits a loop that contains a block barrier at its test. Otherwise the code from one barrier to the next would run through the test, and
/// the first iteration, later iterations and the code after the loop would each contain a copy of the body.
void part_barrier_loops(Function& f);
/// Lets all threads iterate a loop together if its conditions are the same for them: each iteration then is a loop over threads, which is
/// vectorized. Otherwise the loop over threads would contain the kernel's loop.
void soften_loops(Function& f, const BlockShape& shape, const std::function<bool(Value*)>& follows);

}  // namespace bc::jit
