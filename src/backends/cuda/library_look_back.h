#pragma once
#include <string>

#include "backends/cuda/library_kernels.h"

/// Look-back: how tiles of one launch learn what the tiles before them hold (Merrill & Garland, "Single-pass Parallel Prefix Scan with
/// Decoupled Look-back", 2016). There a tile takes the nearest prefix that happens to be ready, so that sums of floats differ from run to
/// run. Here tiles publish totals of nodes of a fixed tree, 32 children a node, and a prefix is the join of at most 31 nodes of each level.
namespace bc::cuda {

/// Blocks of a multiprocessor that are enough to keep its memory busy while some of them wait.
inline constexpr int kResident = 6;

/// What tiles of one launch write for the others: cleared memory with a ticket counter, and a cell for each node of each line's tree.
class LookBack {
 public:
  /// `bytes`: of a tile's total, at most 16.
  LookBack(Queue& queue, int64_t lines, int64_t chunks, int bytes);

  /// Six words for the text.
  void words(Words* w) const;
  /// Device text, to stand after T and apply(T, T): Tiles(p.w + k) reads the words at k.
  static std::string text();

 private:
  int64_t chunks_, levels_ = 0, nodes_ = 0, values_at_ = 0;
  Ref<Buffer> memory_;
};

}  // namespace bc::cuda
