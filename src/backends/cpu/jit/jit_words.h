/// The words of the CUDA prelude (src/device/cuda) that the CPU's compiler gives a meaning, and what they say of values.
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

/// Functions that the prelude declares and this pass gives a meaning.
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
/// The word that a call is of.
Word word_of(const Value* value);
inline bool is_barrier(Word word) {
  return word == Word::Barrier || word == Word::WarpBarrier || word == Word::GridBarrier || word == Word::ClusterBarrier ||
         word == Word::Yield || word == Word::Spin || word == Word::SoftBarrier;
}
/// Whether all threads of a block meet somewhere in a piece of code.
inline bool stops_block(const BasicBlock& code) {
  return llvm::any_of(code, [](const Instruction& i) { return word_of(&i) == Word::Barrier; });
}
/// Words whose value a thread has from its place alone.
inline bool is_leaf(Word word) { return word != Word::None && word < Word::Uniform; }
/// Whether a value is a kernel's argument, or the pointer to its bytes: a load from the table of pointers to arguments or through one of
/// them. Nothing writes to either while the kernel runs.
bool is_argument(const Value* value, const llvm::DataLayout& layout);

/// What differs between the threads of a block, for UniformityInfo. `warps`: between the threads of a warp, whose 32 lie side by side in
/// the dimension x.
llvm::TargetTransformInfo thread_divergence(const llvm::DataLayout& layout, bool warps);

/// What is known of a kernel before it is cut.
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

// ---- what is done to a kernel before it is cut; `follows` tells whether a value follows from what a thread knows at its beginning

/// Tells the optimiser of the prelude's words.
void describe_words(llvm::Module& module);
/// Code from before __syncwarp relies on a warp's threads running in step, and says so by volatile stores: they meet before and after each.
void fence_volatile(Function& f);
/// Lets other threads go on at the end of each turn of a loop that waits for what they write, or for a lock.
void part_waiting_loops(Function& f);
/// Simplifies a version of a kernel whose guards are known.
void tidy(Function& f);
/// Conditions at a kernel's beginning that threads inside the data's bounds meet ("if (i >= n) return"), with the value that lets them on.
/// Empty where loops and barriers would not gain by knowing them.
std::vector<std::pair<Value*, bool>> find_guards(Function& f, const std::function<bool(Value*)>& follows);
/// Cuts a loop that holds a block's barrier where it is tested, so that its first turn, the later ones and what follows it do not each have
/// a copy of its body: the code from one barrier to the next would run through the test.
void part_barrier_loops(Function& f);
/// Lets all threads take a loop's turns together where its conditions are the same for them: each turn is then a loop over threads, which
/// is vectorised, where otherwise the threads' loop would hold another.
void soften_loops(Function& f, const BlockShape& shape, const std::function<bool(Value*)>& follows);

}  // namespace bc::jit
