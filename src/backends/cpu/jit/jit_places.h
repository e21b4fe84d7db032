/// The positions of threads between a block's regions: written by a block's code, read by the scheduler of its threads.
#pragma once
#include <cstdint>

#include "backends/cpu/jit/jit.h"

namespace bc::jit {

// A soft barrier starts a region of kind Start, at which no thread waits. At Yield a thread continues after all other threads of its block
// that can run; at Spin also after other blocks.
enum class Kind : uint16_t { Start = 0, Block = 1, Grid = 2, Warp = 3, Cluster = 4, Yield = 5, Spin = 6 };
// Kinds at which the block's function returns and is called again later.
constexpr bool leaves_block(Kind kind) { return kind == Kind::Grid || kind == Kind::Cluster || kind == Kind::Spin; }
constexpr bool stops_group(Kind kind) { return kind == Kind::Block || kind == Kind::Yield || leaves_block(kind); }
// The kinds that groups of a block wait for, as bits of one word. At the last three the block's function returns and stores the bit in its
// context.
constexpr unsigned kPendingBlock = 1, kPendingYield = 2, kPendingGrid = BC_JIT_WAITS_FOR_GRID, kPendingCluster = BC_JIT_WAITS_FOR_CLUSTER,
                   kPendingSpin = BC_JIT_SPINS;
constexpr unsigned pending_of(Kind kind) {
  return kind == Kind::Grid      ? kPendingGrid
         : kind == Kind::Cluster ? kPendingCluster
         : kind == Kind::Spin    ? kPendingSpin
         : kind == Kind::Yield   ? kPendingYield
                                 : kPendingBlock;
}
// The threads that continue in a group's next turn: those at any barrier, or those that yielded or spin.
constexpr unsigned kReleaseAll = 1, kReleaseYields = 2;

// A thread's place: in the low bits the number of the region that it enters next, in the high bits the Kind that it waits for.
constexpr uint32_t kPlaceBits = 12;
constexpr uint32_t kPlaceMask = (1u << kPlaceBits) - 1;
constexpr uint32_t kEnded = 0xffff;
// The scheduler's result when no thread of a group can continue.
constexpr uint32_t kAllEnded = 0xffff;
constexpr uint32_t kWaitBlock = 0xfffe;
constexpr uint32_t kWaitGrid = 0xfffd;
constexpr uint32_t kWaitCluster = 0xfffc;
constexpr uint32_t kWaitYield = 0xfffb;
constexpr uint32_t kWaitSpin = 0xfffa;
constexpr unsigned kWarpThreads = 32;
constexpr unsigned kWarpBytes = 896;  // shared memory for exchanges in a warp: 32 elements of 4, 8 and 16 bytes
constexpr uint64_t kStackLimit = 192 << 10;

}  // namespace bc::jit
