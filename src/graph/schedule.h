#pragma once
#include <cstdint>
#include <vector>

#include "codegen/ir.h"
#include "core/shape.h"

namespace bc {

/// How a reduction of N elements to M results is cut; it depends on these numbers alone, so that fused and plain execution agree.
struct ReduceShape {
  Walk walk = Walk::rows;
  int64_t rows = 1, length = 1;  ///< M and N
  int64_t segments = 1, segment_length = 0;
  int vector = 1, group = 256, unroll = 1;  ///< CUDA
  bool cached = false;
};
ReduceShape reduce_shape(const Dims& space, uint64_t axes, Target target);

/// The walks of a kernel's accesses over its collapsed axes, which its schedule is chosen from. Lists run along Ir::accesses.
struct AccessWalks {
  Dims kept, reduced;                               ///< extents
  std::vector<Dims> kept_strides, reduced_strides;  ///< in elements
  std::vector<int64_t> offsets;                     ///< in elements
  std::vector<bool> base_aligned;                   ///< whether the memory begins at a multiple of 16 bytes
};

/// Where a CUDA map's outputs lie along the last axis and some operand lies along another one, puts that axis before the last one and cuts
/// both into the tiles of blocks. The accesses need their roles and dtypes.
void choose_tiles(Ir* ir, AccessWalks* walks);

/// Chooses the rest of the schedule, and what the accesses say of it. The accesses need their steps.
void choose_schedule(Ir* ir, const AccessWalks& walks, const ReduceShape& shape);

/// The launches that run a kernel over its whole space, and how many counters of finished blocks they need. Throws ErrorKind::Memory when
/// `name` needs more blocks than CUDA has.
struct Launches {
  std::vector<Launch> list;
  int64_t tickets = 0;
};
Launches launches_of(const Ir& ir, const AccessWalks& walks, const ReduceShape& shape, const std::string& name);

}  // namespace bc
