#include "backends/cpu/jit/jit_blocks.h"

#include <llvm/Transforms/Utils/Cloning.h>

#include <memory>

#include "backends/cpu/jit/jit_block_pass.h"

namespace bc::jit {

bool make_blocks(Function& kernel, const BlockShape& shape, const bc_jit_flags&, bc_jit_kernel& facts, std::string& log) {
  BlockPass general(kernel, shape, facts, log);
  describe_words(*kernel.getParent());
  part_waiting_loops(kernel);
  fence_volatile(kernel);
  if (!general.prepare()) return false;
  const auto follows = [&](Value* value) { return general.follows(value); };
  std::vector<std::pair<Value*, bool>> guards = find_guards(kernel, follows);
  std::unique_ptr<BlockPass> fast;
  Function* version = nullptr;
  if (!guards.empty()) {
    llvm::ValueToValueMapTy map;
    version = llvm::CloneFunction(&kernel, map);
    for (const auto& [condition, wanted] : guards) {
      for (llvm::User* user : llvm::make_early_inc_range(map[condition]->users())) {
        // Later tests of the same condition have the same value.
        user->replaceUsesOfWith(map[condition], llvm::ConstantInt::getBool(kernel.getContext(), wanted));
      }
    }
    tidy(*version);
    part_barrier_loops(*version);
    soften_loops(*version, shape, follows);
    fast = std::make_unique<BlockPass>(*version, shape, facts, log);
    fast->take_facts(general);
    if (!fast->divide()) return false;
  }
  part_barrier_loops(kernel);
  if (guards.empty()) soften_loops(kernel, shape, follows);
  if (!general.divide()) return false;
  general.write(fast.get(), guards);
  fast.reset();
  if (version != nullptr) version->eraseFromParent();
  return true;
}

}  // namespace bc::jit
