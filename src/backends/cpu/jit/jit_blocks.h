/// CUDA's blocks as loops: the code of one thread becomes the code of a whole block, cut at its barriers.
///
/// Continuation-based: every barrier starts a region, the code that is reached from it without meeting another barrier. A region is a loop
/// over threads; at its end a dispatcher goes to the region of the barrier that the threads have come to (Meyer, Alpay, Hack, Fröning and
/// Heuveline, "Implementation Techniques for SPMD Kernels on CPUs", IWOCL 2023). Where threads may have come to different barriers, or
/// have ended, each keeps its own place and the regions' loops pass over the others.
#pragma once
#include <llvm/IR/Function.h>

#include <cstdint>
#include <string>

#include "backends/cpu/jit/jit.h"

namespace bc::jit {

/// Section of the module's variables that stand for __shared__ memory.
constexpr const char* kSharedSection = "bc.shared";
/// Name of the function that bc_jit_specialise makes.
constexpr const char* kEntryName = "bc_entry";

struct BlockShape {
  unsigned x = 1, y = 1, z = 1;
  unsigned count() const { return x * y * z; }
};

/// Makes `bc_entry` (see bc_jit_frame) of `kernel`, a function `void (ptr arguments)` that calls the user's kernel. False with the reason
/// added to `log`.
bool make_blocks(llvm::Function& kernel, const BlockShape& shape, const bc_jit_flags& flags, bc_jit_kernel& facts, std::string& log);

/// Lets the optimised entry end early (bc_jit_frame::asked).
void add_polls(llvm::Function& entry);

/// The place of every thread of a group where they may differ; called by the code that make_blocks writes.
extern "C" uint32_t bc_jit_schedule(uint16_t* places, const uint32_t* masks, uint32_t count, uint32_t release);
/// The threads of a warp that enter a region, a bit each.
extern "C" uint32_t bc_jit_lanes(const uint16_t* places, uint32_t count, uint32_t region);

}  // namespace bc::jit
