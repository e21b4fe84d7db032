#pragma once
#include <cstdint>
#include <vector>

#include "codegen/ir.h"
#include "core/shape.h"

namespace bc {

/// How a reduction of N elements to M results is split. It depends only on the space and the axes, so that fused and plain execution give
/// the same bits.
struct ReduceShape {
  Walk walk = Walk::rows;
  int64_t rows = 1, length = 1;  ///< M and N
  int64_t segments = 1, segment_length = 0;
  int vector = 1, group = 256, unroll = 1;  ///< CUDA
  bool cached = false;
};
ReduceShape reduce_shape(const Dims& space, uint64_t axes, Target target);

/// A kernel's accesses over its collapsed axes, from which its schedule is chosen. Each list has an element for each of Ir::accesses.
struct AccessWalks {
  Dims kept, reduced;                               ///< extents
  std::vector<Dims> kept_strides, reduced_strides;  ///< in elements
  std::vector<int64_t> offsets;                     ///< in elements
  std::vector<bool> base_aligned;                   ///< whether the memory's address is a multiple of 16
};

/// For a CUDA map whose outputs are contiguous along the last axis while some operand is contiguous along another axis: moves that axis
/// before the last one and splits both into tiles for the blocks. The accesses' roles and dtypes must be set.
void choose_tiles(Ir* ir, AccessWalks* walks);

/// For a column reduction of short columns on the CPU whose last kept axis is short as well: moves the longest kept axis to the end, so
/// that loops run along it. The walk of `ir` must be set.
void choose_columns(const Ir& ir, AccessWalks* walks);

/// Chooses the rest of the schedule and sets the accesses' fields that belong to it. The accesses' steps must be set.
void choose_schedule(Ir* ir, const AccessWalks& walks, const ReduceShape& shape);

/// The launches that run a kernel over its whole space, and the number of counters of finished blocks that they need. Throws
/// ErrorKind::Memory when the kernel `name` needs more blocks than a CUDA grid can have.
struct Launches {
  std::vector<Launch> list;
  int64_t tickets = 0;
};
Launches launches_of(const Ir& ir, const AccessWalks& walks, const ReduceShape& shape, const std::string& name);

}  // namespace bc
