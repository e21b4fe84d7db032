#pragma once
#include <string>

#include "backends/cuda/library_kernels.h"

/// Look-back: how a tile gets the total of all tiles before it in one launch (Merrill & Garland, "Single-pass Parallel Prefix Scan with
/// Decoupled Look-back", 2016). In the paper a tile takes the nearest prefix that happens to be ready, so sums of floats differ from run to
/// run. Here tiles publish the totals of a fixed tree's nodes with 32 children each, and a prefix is the join of at most 31 nodes of each
/// level.
namespace bc::cuda {

/// Resident blocks per multiprocessor: enough to keep the memory busy while some of them wait.
inline constexpr int kResident = 6;

/// The memory through which the tiles of one launch communicate: a cleared ticket counter, and a cell for each node of each line's tree.
class LookBack {
 public:
  /// `bytes`: the size of a tile's total, at most 16. `ahead`: how far a block prefetches, in tiles for each
  /// multiprocessor: half to three quarters of the blocks that it runs at once, since data that comes earlier is evicted before it is read.
  LookBack(Queue& queue, int64_t lines, int64_t chunks, int bytes, int ahead);

  /// Adds the six parameter words that the text reads.
  void words(Words* w) const;
  /// The device text, to be put after T and apply(T, T). Tiles(p.w + k) reads the words at k.
  static std::string text();

 private:
  int64_t chunks_, ahead_, levels_ = 0, nodes_ = 0;
  Ref<Buffer> memory_;
};

}  // namespace bc::cuda
