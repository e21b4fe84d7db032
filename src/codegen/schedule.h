#pragma once

namespace bc {

/// Threads of a CUDA block, but where one group of a row reduction needs more.
inline constexpr int kCudaBlock = 256;

/// How a kernel's iteration space is divided among threads. The values that a kernel computes are the business of the rest of its Ir; the
/// schedule says where and in which pieces. It is a part of the kernel's structure, and so of its text and its key.
struct Schedule {
  bool wide = false;       ///< CUDA: indices need 64 bits
  bool segmented = false;  ///< a row is reduced in segments whose partial results a second step joins
  int vector = 1;          ///< CUDA: elements that a thread handles as one access
  int group = 256;         ///< CUDA rows: threads of a row; a power of two
  int unroll = 1;          ///< CUDA rows: vectors that a thread holds at a time
  int rows = 1;            ///< CUDA rows: neighbouring rows that a group of threads reduces, where they share an operand
  int outer_rows = 1;      ///< CUDA rows: such rows along the axis before the last kept one: the group reduces a rectangle of rows
  bool cached = false;     ///< CUDA rows: one tile covers the row, so what a stage computed may stay in registers for the next
  int tile = 0;            ///< CUDA maps: the side of a block's square of the last two axes, where some operand is transposed; 0: none

  bool operator==(const Schedule&) const = default;

  /// Rows that a group of threads reduces.
  int rows_of_group() const { return rows * outer_rows; }
  /// Groups of a block where outer_rows > 1: along the last kept axis and along the one before, about as many.
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
