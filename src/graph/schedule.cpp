// Chooses schedules: how reductions are split, which accesses are vectorized, which maps use tiles of shared memory.
#include "graph/schedule.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace bc {
namespace {

// ---- CPU Rows up to this length are reduced side by side if there are four times as many: the compiler vectorizes only a longer inner
// loop.
constexpr int64_t kShortRow = 16;
// Up to this many columns are reduced one by one.
constexpr int64_t kFewColumns = 4;
// If there are fewer rows than kManyRows, a row is split into segments of this many blocks (kReduceBlock) of the summation tree.
constexpr int64_t kBlocksOfSegment = 16, kManyRows = 64;
// A tile of columns is about this wide; if there are fewer than kFewTiles tiles, each is split into up to kPartsOfTile parts of at least
// kWorthPart elements.
constexpr int64_t kTileColumns = 2048, kFewTiles = 8, kPartsOfTile = 16, kWorthPart = int64_t{1} << 18;
// The grain of parallel loops: in elements, and in results of segments.
constexpr int64_t kGrain = 16384, kJoinGrain = 4096;

// ---- CUDA
constexpr int kMaxVectorBytes = 16;  // the widest access of a thread
constexpr int kMaxVector = 8;
// Vectors of random numbers that a thread of a map computes: the ten round keys, which are 18 of 60 integer operations for four numbers,
// and the index are computed once for all of them.
// Of very many numbers a thread computes more, since fewer blocks take less time to begin and end (1e8 uniform float32 on an H200: 99.5 us,
// 104 with four).
constexpr int kRandomVectors = 4, kManyRandomVectors = 16;
constexpr int64_t kManyRandomNumbers = int64_t{1} << 26;
// A long row is reduced by several blocks where there are few rows: up to eight blocks for each of an H100's 132 multiprocessors.
constexpr int64_t kLongRow = 32768, kFewRows = 512, kRowBlocks = 8 * 132;
// Elements that a thread holds at a time: fewer do not hide the memory's latency, more need too many registers for full occupancy.
constexpr int kHeldElements = 16;
constexpr int kMaxGroup = 1024;  // threads of a block
// Blocks of a column reduction, about six for each multiprocessor; each block handles at least kLeastColumnRun elements of a column.
constexpr int64_t kColumnBlocks = 800, kLeastColumnRun = 64;
constexpr int kColumnsOfWarp = 32, kColumnGroups = 8;
// A block of a column reduction holds a state for each of its columns and groups in 48 KB of shared memory, which other things share.
constexpr int kColumnStateBytes = 40960;
// Tiles of a transposing map: shorter axes leave most of a tile empty; all tiles of a block lie in 48 KB.
constexpr int64_t kLeastTiledAxis = 32, kTileBytes = 48 * 1024;
constexpr int kTileSides[] = {64, 32};
// Rows that a group reduces together where they share an operand, unless fewer than kLeastThreads threads remain, which would leave
// multiprocessors idle.
constexpr int kSharedRows = 4;
constexpr int64_t kLeastThreads = 1 << 16;
constexpr int64_t kMaxGrid = 0x7fffffff;
// The limit for 32-bit indices, chosen so that the end of a grid's last block does not overflow.
constexpr int64_t kNarrowReach = int64_t{1} << 30;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

void cut_for_cpu(const Dims& space, uint64_t axes, int last_kept, ReduceShape* r) {
  if (r->walk == Walk::rows) {
    r->segment_length = kBlocksOfSegment * kReduceBlock;
    r->segments = r->length > 8 * r->segment_length && r->rows < kManyRows ? ceil_div(r->length, r->segment_length) : 1;
    return;
  }
  int64_t width = 1;
  for (int d = last_kept; d >= 0 && (space[d] == 1 || !(axes >> d & 1)); --d) width *= space[d];
  const bool few_tiles = r->rows / std::max<int64_t>(1, width) * ceil_div(width, kTileColumns) < kFewTiles;
  const int64_t worth = kWorthPart / (kColumnRun * std::max<int64_t>(1, r->rows));
  const int64_t even = ceil_div(r->length, kPartsOfTile * kColumnRun);
  r->segment_length = kColumnRun * (few_tiles ? std::clamp<int64_t>(std::max(worth, even), 1, 64) : 64);
  r->segments = std::max<int64_t>(1, ceil_div(r->length, r->segment_length));
}

void cut_for_cuda(const Dims& space, int last, int last_reduced, ReduceShape* r) {
  if (r->walk == Walk::columns) {
    r->vector = space[last] % 4 == 0 ? 4 : 1;
    const int64_t blocks = std::max<int64_t>(1, ceil_div(r->rows, kColumnsOfWarp * r->vector));
    const int64_t wanted = std::clamp<int64_t>(kColumnBlocks / blocks, 1, std::max<int64_t>(1, r->length / kLeastColumnRun));
    r->segment_length = std::max<int64_t>(1, ceil_div(r->length, wanted));
    r->segments = std::max<int64_t>(1, ceil_div(r->length, r->segment_length));
    return;
  }
  r->vector = last_reduced >= 0 && space[last_reduced] % 4 == 0 ? 4 : 1;
  if (r->length >= kLongRow && r->rows <= kFewRows) {
    r->group = kCudaBlock;
    r->unroll = kHeldElements / r->vector;
    const int64_t tile = int64_t{kHeldElements} * r->group, tiles = ceil_div(r->length, tile);
    const int64_t wanted = std::min(tiles, std::max<int64_t>(1, kRowBlocks / r->rows));
    r->segment_length = ceil_div(tiles, wanted) * tile;
    r->segments = ceil_div(r->length, r->segment_length);
    return;
  }
  r->group = 1;
  while (r->group < kMaxGroup && r->group * kHeldElements < r->length) r->group *= 2;
  r->unroll = 1;
  while (r->unroll * r->vector < kHeldElements && int64_t{r->group} * r->unroll * r->vector < r->length) r->unroll *= 2;
  r->cached = int64_t{r->group} * r->unroll * r->vector >= r->length;
}

/// Whether a load is contiguous along the axis before the last one, so that it should be transposed through shared memory.
bool is_transposed(const Ir& ir, size_t k, const Dims& strides) {
  const int inner = strides.size() - 1;
  if (ir.accesses[k].role != Access::Role::load || strides[inner - 1] != 1 || strides[inner] == 0 || strides[inner] == 1) return false;
  return std::none_of(ir.values.begin(), ir.values.end(),
                      [&](const Value& v) { return v.access == static_cast<int16_t>(k) && v.predicate != kNone; });
}

/// Whether every vector of an access is aligned.
bool is_aligned(const Ir& ir, const AccessWalks& walks, size_t k, int vector) {
  const Access& a = ir.accesses[k];
  const bool is_map = ir.walk == Walk::map;
  if (a.step != Access::Step::unit || a.role == Access::Role::coordinate || a.role == Access::Role::gather || (a.outer && !is_map))
    return false;
  const int64_t unit = std::min<int64_t>(kMaxVectorBytes, int64_t{vector} * itemsize(a.dtype)) / itemsize(a.dtype);
  if (unit == 0 || walks.offsets[k] % unit != 0 || !walks.base_aligned[k]) return false;
  // Vectors are along the last kept axis (of a rows walk: the last reduced axis). A stride of one along another axis, as in sliding
  // windows, would let vectors begin at every element.
  const auto steps_are_whole = [&](const Dims& strides, bool holds_vectors, const Dims* extents) {
    for (int d = 0; d < strides.size(); ++d) {
      const bool along = holds_vectors && d == strides.size() - 1;
      const bool still = extents && d < extents->size() && (*extents)[d] == 1;
      if (!still && !(along && strides[d] == 1) && strides[d] % unit != 0) return false;
    }
    return true;
  };
  const bool rows = ir.walk == Walk::rows;
  return steps_are_whole(walks.kept_strides[k], !rows, &walks.kept) && steps_are_whole(walks.reduced_strides[k], rows, nullptr);
}

/// The number of elements that a thread of a map loads or stores in one access: as many as fit the widest access.
int vector_of_map(const Ir& ir, const AccessWalks& walks) {
  int widest = 1;
  for (const Access& a : ir.accesses)
    if (a.role == Access::Role::store || (a.role == Access::Role::load && a.step == Access::Step::unit))
      widest = std::max(widest, itemsize(a.dtype));
  const int vector = std::clamp(kMaxVectorBytes / widest, 1, kMaxVector);
  const int64_t inner = walks.kept.back();
  bool fits = vector > 1 && !ir.schedule.tile && (ir.kept == 1 || inner % vector == 0) && inner >= vector;
  for (size_t k = 0; k < ir.accesses.size(); ++k)
    if (ir.accesses[k].role == Access::Role::store) fits &= is_aligned(ir, walks, k, vector);
  return fits ? vector : 1;
}

bool draws_random_numbers(const Ir& ir) {
  return std::any_of(ir.values.begin(), ir.values.end(),
                     [](const Value& v) { return v.kind == Value::Kind::op && (v.op == Op::random_uniform || v.op == Op::random_normal); });
}

void choose_vectors(Ir* ir, const AccessWalks& walks, const ReduceShape& shape) {
  Schedule& s = ir->schedule;
  s.group = shape.group;
  s.unroll = shape.unroll;
  s.cached = shape.cached && ir->walk == Walk::rows && ir->stages > 1;
  s.vector = ir->walk == Walk::map ? vector_of_map(*ir, walks) : shape.vector;
  if (ir->walk == Walk::map) {
    s.unroll = 1;
    if (ir->kept == 1 && s.vector > 1 && draws_random_numbers(*ir))
      s.unroll = product(walks.kept) < kManyRandomNumbers ? kRandomVectors : kManyRandomVectors;
  }
  if (ir->walk == Walk::columns)
    for (const Accumulator& a : ir->accumulators)
      while (s.vector > 1 && state_bytes(a) * s.vector * kCudaBlock > kColumnStateBytes) s.vector /= 2;
  for (size_t k = 0; k < ir->accesses.size(); ++k) ir->accesses[k].vector = s.vector > 1 && is_aligned(*ir, walks, k, s.vector);
}

/// Lets a group of threads reduce several neighbouring rows that share an operand (as in the distances between all pairs), so that the
/// operand is read once for all of them. If another operand is shared along the axis before, the group reduces a square of rows.
void choose_rows(Ir* ir, const AccessWalks& walks) {
  const Dims& kept = walks.kept;
  const int64_t m = product(kept);
  const int inner = kept.size() - 1;
  Schedule& s = ir->schedule;
  if (ir->walk != Walk::rows || s.segmented || s.cached || ir->checked || ir->stages > 1 || s.group > 32 || !ir->users.empty() ||
      ir->accumulators.size() != 1 || kept[inner] % kSharedRows != 0 || m / kSharedRows * s.group < kLeastThreads)
    return;
  const auto shared_along = [&](int axis, bool Access::* still) {
    bool shared = false;
    for (size_t k = 0; k < ir->accesses.size(); ++k) {
      Access& a = ir->accesses[k];
      a.*still = a.role == Access::Role::load && !a.outer && walks.kept_strides[k][axis] == 0;
      shared |= a.*still;
    }
    return shared;
  };
  if (!shared_along(inner, &Access::still)) return;
  s.rows = kSharedRows;
  // Every thread keeps the states of a square in registers, so only small states are allowed. A state of moments has three numbers, and its
  // result depends on `unroll`.
  const Accumulator& a = ir->accumulators[0];
  if (inner == 0 || kept[inner - 1] % kSharedRows != 0 || state_bytes(a) > 8 || m / (kSharedRows * kSharedRows) * s.group < kLeastThreads ||
      !shared_along(inner - 1, &Access::still_outer))
    return;
  s.outer_rows = kSharedRows;
  s.unroll = 1;
}

/// The furthest index that a kernel computes: the kept and the reduced elements are counted separately.
int64_t reach_of(const AccessWalks& walks) {
  int64_t reach = std::max(product(walks.kept), product(walks.reduced));
  for (size_t k = 0; k < walks.kept_strides.size(); ++k) {
    int64_t span = 0;
    for (int d = 0; d < walks.kept.size(); ++d) span += std::abs(walks.kept_strides[k][d]) * std::max<int64_t>(walks.kept[d] - 1, 0);
    for (int d = 0; d < walks.reduced.size(); ++d)
      span += std::abs(walks.reduced_strides[k][d]) * std::max<int64_t>(walks.reduced[d] - 1, 0);
    reach = std::max(reach, span);
  }
  return reach;
}

Launches cpu_launches(const Ir& ir, const AccessWalks& walks, const ReduceShape& shape) {
  const int64_t m = product(walks.kept), n = product(walks.reduced), inner = walks.kept.back();
  Launch l;
  if (ir.walk == Walk::map) {
    l.items = ir.kept == 1 ? m : m / std::max<int64_t>(inner, 1);
    l.grain = ir.kept == 1 ? kGrain : std::max<int64_t>(1, kGrain / std::max<int64_t>(inner, 1));
  } else if (ir.walk == Walk::rows) {
    l.items = m * shape.segments;
    l.grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, std::min(n, shape.segment_length)));
  } else {
    const int64_t tile = column_tile(ir);
    l.items = m / inner * ceil_div(inner, tile) * shape.segments;
    l.grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, std::min(n, shape.segment_length) * std::min(inner, tile)));
  }
  Launches made;
  made.list.push_back(l);
  if (ir.schedule.segmented) {
    l.entry = 1;
    l.items = m;
    l.grain = std::max<int64_t>(1, kJoinGrain / shape.segments);
    made.list.push_back(l);
  }
  return made;
}

Launches cuda_launches(const Ir& ir, const AccessWalks& walks, const ReduceShape& shape, const std::string& name) {
  const Schedule& s = ir.schedule;
  const Dims& kept = walks.kept;
  const int64_t m = product(kept), width = kept.back(), height = kept.size() > 1 ? kept[kept.size() - 2] : 1;
  Launches made;
  Launch l;
  l.block[0] = kCudaBlock;
  int64_t grid = 0;
  if (s.tile) {
    grid = m / width / height * ceil_div(width, s.tile) * ceil_div(height, s.tile);
  } else if (ir.walk == Walk::map) {
    grid = std::max<int64_t>(1, ceil_div(ceil_div(m, s.vector), int64_t{kCudaBlock} * s.unroll));
  } else if (ir.walk == Walk::rows) {
    const int threads = std::max(s.group, kCudaBlock);
    l.block[0] = threads;
    if (s.outer_rows > 1) {
      const Schedule::Square groups = s.groups_of_block();
      grid = m / width / height * ceil_div(width, groups.across * s.rows) * ceil_div(height, groups.down * s.outer_rows);
    } else {
      grid = s.segmented ? m * shape.segments : ceil_div(m, threads / s.group * s.rows);
    }
    made.tickets = s.segmented ? m : 0;
  } else {
    const int64_t tiles = ceil_div(width, kColumnsOfWarp * s.vector);
    l.block[0] = kColumnsOfWarp;
    l.block[1] = kColumnGroups;
    grid = m / width * tiles * shape.segments;
    made.tickets = s.segmented ? m / width * tiles : 0;
  }
  BC_CHECK(grid <= kMaxGrid, Memory, "{}: expected work for at most {} blocks on a CUDA device, got {} for {} results of {} elements each",
           name, kMaxGrid, grid, m, product(walks.reduced));
  l.grid[0] = static_cast<unsigned>(grid);
  made.list.push_back(l);
  return made;
}

}  // namespace

ReduceShape reduce_shape(const Dims& space, uint64_t axes, Target target) {
  ReduceShape r;
  int last = -1, last_reduced = -1, last_kept = -1;
  int64_t widest_kept = 1;
  for (int d = 0; d < space.size(); ++d) {
    const bool reduced = axes >> d & 1;
    (reduced ? r.length : r.rows) *= space[d];
    if (!reduced) widest_kept = std::max(widest_kept, space[d]);
    if (space[d] == 1) continue;
    last = d;
    (reduced ? last_reduced : last_kept) = d;
  }
  r.walk = last >= 0 && !(axes >> last & 1) && last_reduced >= 0 ? Walk::columns : Walk::rows;
  if (target == Target::cpu && last_kept >= 0 && last_reduced >= 0) {
    if (r.walk == Walk::rows && r.length <= kShortRow && widest_kept >= 4 * kShortRow)
      r.walk = Walk::columns;
    else if (r.walk == Walk::columns && space[last] <= kFewColumns && space[last_reduced] >= 4 * kShortRow)
      r.walk = Walk::rows;
  }
  if (target == Target::cpu)
    cut_for_cpu(space, axes, last_kept, &r);
  else
    cut_for_cuda(space, last, last_reduced, &r);
  if (r.segments <= 1) {
    r.segments = 1;
    r.segment_length = std::max<int64_t>(1, r.length);
  }
  return r;
}

void choose_columns(const Ir& ir, AccessWalks* walks) {
  Dims& kept = walks->kept;
  const int inner = kept.size() - 1;
  if (ir.target != Target::cpu || ir.walk != Walk::columns || product(walks->reduced) > kShortRow || kept[inner] >= kShortRow) return;
  int widest = inner;
  for (int d = 0; d < inner; ++d)
    if (kept[d] > kept[widest]) widest = d;
  if (kept[widest] < 4 * kShortRow) return;
  const auto to_the_end = [&](Dims& values) {
    for (int d = widest; d < inner; ++d) std::swap(values[d], values[d + 1]);
  };
  to_the_end(kept);
  for (Dims& s : walks->kept_strides) to_the_end(s);
}

void choose_tiles(Ir* ir, AccessWalks* walks) {
  Dims& kept = walks->kept;
  std::vector<Dims>& strides = walks->kept_strides;
  const int inner = kept.size() - 1;
  if (ir->target != Target::cuda || ir->walk != Walk::map || inner < 1 || kept[inner] < kLeastTiledAxis) return;
  for (const Output& o : ir->outputs)
    if (strides[o.access][inner] != 1) return;
  int axis = -1;
  for (size_t k = 0; k < strides.size() && axis < 0; ++k)
    for (int d = 0; d < inner; ++d)
      if (ir->accesses[k].role == Access::Role::load && strides[k][d] == 1 && strides[k][inner] > 1 && kept[d] >= kLeastTiledAxis) axis = d;
  if (axis < 0) return;
  const auto to_the_end = [&](Dims& values) {
    for (int d = axis; d + 1 < inner; ++d) std::swap(values[d], values[d + 1]);
  };
  to_the_end(kept);
  for (Dims& s : strides) to_the_end(s);
  int64_t bytes = 0;
  for (size_t k = 0; k < strides.size(); ++k)
    if (is_transposed(*ir, k, strides[k])) bytes += itemsize(ir->accesses[k].dtype);
  for (const int side : kTileSides)
    if (bytes > 0 && bytes * side * (side + 1) <= kTileBytes) {
      ir->schedule.tile = side;
      for (size_t k = 0; k < strides.size(); ++k) ir->accesses[k].tiled = is_transposed(*ir, k, strides[k]);
      return;
    }
}

void choose_schedule(Ir* ir, const AccessWalks& walks, const ReduceShape& shape) {
  ir->schedule.segmented = ir->walk != Walk::map && shape.segments > 1;
  if (ir->target != Target::cuda) return;
  ir->schedule.wide = reach_of(walks) >= kNarrowReach;
  choose_vectors(ir, walks, shape);
  choose_rows(ir, walks);
}

Launches launches_of(const Ir& ir, const AccessWalks& walks, const ReduceShape& shape, const std::string& name) {
  return ir.target == Target::cpu ? cpu_launches(ir, walks, shape) : cuda_launches(ir, walks, shape, name);
}

}  // namespace bc
