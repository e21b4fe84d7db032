/// CUDA's blocks as loops: the code of one thread becomes the code of a whole block, split at its barriers.
///
/// Continuation-based: every barrier starts a region, which is the code reachable from it without another barrier. A region is a loop over
/// threads; at its end a dispatcher branches to the region of the barrier that the threads have reached (Meyer, Alpay, Hack, Fröning and
/// Heuveline, "Implementation Techniques for SPMD Kernels on CPUs", IWOCL 2023). If threads may have reached different barriers or have
/// ended, each thread stores its own place, and a region's loop skips the threads that are elsewhere.
#pragma once
#include <llvm/IR/Function.h>

#include <cstdint>
#include <string>

#include "backends/cpu/jit/jit.h"

namespace bc::jit {

/// The section of module variables that represent __shared__ memory.
constexpr const char* kSharedSection = "bc.shared";
/// The name of the function that bc_jit_specialise generates.
constexpr const char* kEntryName = "bc_entry";

struct BlockShape {
  unsigned x = 1, y = 1, z = 1;
  unsigned count() const { return x * y * z; }
};

/// Generates `bc_entry` (see bc_jit_frame) from `kernel`, a function `void (ptr arguments)` that calls the user's kernel. On failure
/// returns false and adds the reason to `log`.
bool make_blocks(llvm::Function& kernel, const BlockShape& shape, const bc_jit_flags& flags, bc_jit_kernel& facts, std::string& log);

/// Adds checks by which the optimised entry can end early (bc_jit_frame::asked).
void add_polls(llvm::Function& entry);

/// Schedules the threads of a group that may be in different places; called by the code that make_blocks generates.
extern "C" uint32_t bc_jit_schedule(uint16_t* places, const uint32_t* masks, uint32_t count, uint32_t release);
/// A bit for each thread of a warp that enters a region.
extern "C" uint32_t bc_jit_lanes(const uint16_t* places, uint32_t count, uint32_t region);

}  // namespace bc::jit
