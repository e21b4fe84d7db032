#pragma once
#include <string>

#include "backends/cuda/library_kernels.h"

/// Look-back: how a tile gets the total of all tiles before it in one launch (Merrill & Garland, "Single-pass Parallel Prefix Scan with
/// Decoupled Look-back", 2016). In the paper a tile takes the nearest prefix that happens to be ready, so sums of floats differ from run to
/// run. Here tiles publish the totals of a fixed tree's nodes with 32 children each, and a prefix is the join of at most 31 nodes of each
/// level. A block works on one tile after the other, so that it can read the next one while it waits for what is before its own.
namespace bc::cuda {

/// Resident blocks per multiprocessor: enough to keep the memory busy while some of them wait.
inline constexpr int kResident = 6;

/// The memory through which the tiles of one launch communicate: a cleared ticket counter, and a cell for each node of each line's tree.
class LookBack {
 public:
  /// `bytes`: the size of a tile's total, at most 16. `resident`: blocks of a multiprocessor.
  LookBack(Queue& queue, int64_t lines, int64_t chunks, int bytes, int resident);

  /// Adds the seven parameter words that the text reads.
  void words(Words* w) const;
  int64_t blocks() const { return blocks_; }
  int resident() const { return resident_; }
  /// The device text, to be put after T and apply(T, T). Tiles(p.w + k) reads the words at k.
  static std::string text();

 private:
  int64_t tiles_, chunks_, blocks_, levels_ = 0, nodes_ = 0, values_at_ = 0;
  int resident_;
  Ref<Buffer> memory_;
};

}  // namespace bc::cuda
