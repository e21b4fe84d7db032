/// Where threads are between a block's regions: what the code of a block writes, and the schedule of its threads reads.
#pragma once
#include <cstdint>

#include "backends/cpu/jit/jit.h"

namespace bc::jit {

// A soft barrier starts a region of kind Start: nobody waits there.
// At a yield a thread lets all others of its block go first that can, and then goes on; at a spin other blocks, too.
enum class Kind : uint16_t { Start = 0, Block = 1, Grid = 2, Warp = 3, Cluster = 4, Yield = 5, Spin = 6 };
// The block stops there and is entered again.
constexpr bool leaves_block(Kind kind) { return kind == Kind::Grid || kind == Kind::Cluster || kind == Kind::Spin; }
constexpr bool stops_group(Kind kind) { return kind == Kind::Block || kind == Kind::Yield || leaves_block(kind); }
// What groups of a block wait for, as bits of one word: at the last three the block is left, and tells which in its context.
constexpr unsigned kPendingBlock = 1, kPendingYield = 2, kPendingGrid = BC_JIT_WAITS_FOR_GRID, kPendingCluster = BC_JIT_WAITS_FOR_CLUSTER,
                   kPendingSpin = BC_JIT_SPINS;
constexpr unsigned pending_of(Kind kind) {
  return kind == Kind::Grid      ? kPendingGrid
         : kind == Kind::Cluster ? kPendingCluster
         : kind == Kind::Spin    ? kPendingSpin
         : kind == Kind::Yield   ? kPendingYield
                                 : kPendingBlock;
}
// Who goes on in a group's next turn: threads at any barrier, or those that yielded or spin.
constexpr unsigned kReleaseAll = 1, kReleaseYields = 2;

// A thread's place: the number of the region it enters next, and what it waits for (a Kind) above.
constexpr uint32_t kPlaceBits = 12;
constexpr uint32_t kPlaceMask = (1u << kPlaceBits) - 1;
constexpr uint32_t kEnded = 0xffff;
// What the schedule answers when no thread of a group can go on.
constexpr uint32_t kAllEnded = 0xffff;
constexpr uint32_t kWaitBlock = 0xfffe;
constexpr uint32_t kWaitGrid = 0xfffd;
constexpr uint32_t kWaitCluster = 0xfffc;
constexpr uint32_t kWaitYield = 0xfffb;
constexpr uint32_t kWaitSpin = 0xfffa;
constexpr unsigned kWarpThreads = 32;
constexpr unsigned kWarpBytes = 896;  // of shared memory, for what a warp exchanges: 32 places of 4, 8 and 16 bytes
constexpr uint64_t kStackLimit = 192 << 10;

}  // namespace bc::jit
