#pragma once

namespace bc {

/// Threads of a CUDA block, unless one group of a row reduction needs more.
inline constexpr int kCudaBlock = 256;

/// How a kernel's iteration space is divided among threads. The rest of the Ir says which values the kernel computes; the schedule says
/// which thread computes them, and in which order. It is a part of the kernel's structure, so its text and its key depend on it.
struct Schedule {
  bool wide = false;       ///< CUDA: indices need 64 bits
  bool segmented = false;  ///< a row is reduced in segments whose partial results a second step joins
  int vector = 1;          ///< CUDA: elements that a thread loads or stores in one access
  int group = 256;         ///< CUDA rows: threads that reduce one row; a power of two
  int unroll = 1;          ///< CUDA rows: vectors that a thread holds at a time; CUDA maps: vectors that it computes one after the other
  int rows = 1;            ///< CUDA rows: neighbouring rows that a group of threads reduces because they share an operand
  int outer_rows = 1;      ///< CUDA rows: the same along the axis before the last kept one; the group reduces a rectangle of rows
  bool cached = false;     ///< CUDA rows: one tile covers the row, so values of a stage may stay in registers for the next stage
  int tile = 0;            ///< CUDA maps with a transposed operand: the side of a block's square tile of the last two axes; 0: no tile

  bool operator==(const Schedule&) const = default;

  /// Rows that a group of threads reduces.
  int rows_of_group() const { return rows * outer_rows; }
  /// Where outer_rows > 1: the groups of a block along the last kept axis and along the one before, about equally many.
  struct Square {
    int across, down;
  };
  Square groups_of_block() const {
    int across = 1;
    const int groups = (group > kCudaBlock ? group : kCudaBlock) / group;
    while (across * across < groups) across *= 2;
    return {across, groups / across};
  }
};

}  // namespace bc
