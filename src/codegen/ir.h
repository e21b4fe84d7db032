#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/schedule.h"
#include "core/dtype.h"
#include "core/hash.h"
#include "primitives/ops.h"
#include "primitives/user_op.h"
#include "runtime/backend.h"

namespace bc {

enum class Target : uint8_t { cpu, cuda };

/// One access to memory (or to coordinates) along the iteration space.
struct Access {
  enum class Role : uint8_t { load, store, coordinate, gather };
  enum class Step : uint8_t { zero, unit, any };
  Role role = Role::load;
  DType dtype = DType::f64;
  Step step = Step::unit;    ///< along the innermost axis that the skeleton walks
  bool outer = false;        ///< over the kept axes only (after a reduction)
  bool vector = false;       ///< CUDA: every vector of the access is aligned
  bool still = false;        ///< CUDA, where Schedule::rows > 1: the address is the same for all rows of a group
  bool still_outer = false;  ///< CUDA, where Schedule::outer_rows > 1: the address is the same along the axis before the last kept one
  bool tiled = false;        ///< CUDA, where Schedule::tile: read along the axis before the last one, through shared memory
};

inline constexpr int16_t kNone = -1;

/// One SSA value of a kernel's body.
struct Value {
  /// register_cached: the value args[0] of an earlier stage, kept in a register since then (where Schedule::cached)
  enum class Kind : uint8_t { load, coordinate, constant, op, gather, inside, result, register_cached };
  Kind kind = Kind::op;
  Op op = Op::cast;
  DType dtype = DType::f64;  ///< dtype of the value
  DType loop[3] = {};        ///< op: the dtypes its operands are cast to
  uint8_t stage = 0;
  bool outer = false;  ///< computed once per row, after the stage's reductions
  int16_t args[3] = {kNone, kNone, kNone};
  int16_t access = kNone;  ///< load, coordinate, gather
  /// constant: its number; gather: the first of its (extent, stride) pairs; inside: its first (lower, count, step) triple
  int16_t slot = kNone;
  int16_t predicate = kNone;  ///< load, gather: read only where this value is true
  /// gather: the index values; inside: the coordinates tested; a user's function (op user): its arguments. Of a user's function `slot` is
  /// the index in Ir::users, args[0] the number of the result, and args[1] the value whose call computes it (kNone: this value's own call)
  std::vector<int16_t> more;
};

/// A reduction of one element value.
struct Accumulator {
  Op op = Op::reduce_sum;
  DType loop = DType::f64;
  DType out = DType::f64;
  int16_t input = kNone;
  int16_t result = kNone;  ///< the row value that receives it
  uint8_t stage = 0;
  int16_t user = kNone;  ///< reduce_user: the index in Ir::users
};

struct Output {
  int16_t value = kNone;
  int16_t access = kNone;
  uint8_t stage = 0;
  bool outer = false;
  int16_t predicate = kNone;
};

/// How the reduced axes are walked.
enum class Walk : uint8_t {
  map,      ///< nothing is reduced
  rows,     ///< the reduced axes are innermost: a row is reduced by one group of threads
  columns,  ///< the last kept axis is innermost: neighbours are reduced side by side
};

/// A kernel before it is printed: an iteration space of `kept` axes and `reduced` axes, and the values computed at each of its points. The
/// text depends on this structure only; extents, strides, addresses and constants are parameters of the kernel.
struct Ir {
  Target target = Target::cpu;
  Walk walk = Walk::map;
  int kept = 1;
  int reduced = 0;
  int stages = 1;         ///< rows only: number of passes over a row; a stage may use the results of earlier stages
  bool in_place = false;  ///< an output may be an input: no element may be read after it was written
  bool checked = false;   ///< a gather reports indices out of range
  Schedule schedule;
  int constants = 0;
  std::vector<DType> constant_dtypes;
  int gather_slots = 0;  ///< (extent, stride) pairs
  int inside_slots = 0;  ///< (lower, count, step) triples
  std::vector<Access> accesses;
  std::vector<Value> values;
  std::vector<Accumulator> accumulators;
  std::vector<Output> outputs;
  std::vector<Ref<UserOp>> users;  ///< functions that users wrote
  bool for_reading = false;        ///< printed for a reader: leaves out the header of users' functions

  /// Tells whether the kernel needs a compiler: the built-in loops cannot call users' functions.
  bool needs_compiler() const { return !users.empty(); }
  /// Tells whether a stage passes over a row only for reductions that may know their result before the row's end, such as any and all.
  bool may_leave(int stage) const;
  /// Tells whether an accumulator can read its elements directly from memory: its input is a unit-stride load of its own dtype.
  bool direct(const Accumulator& a) const { return direct(a.input, a.loop, a.stage); }
  bool direct(int value, DType dtype, int stage) const;
  /// Tells whether a stage of a row does nothing but add up products of elements that it reads directly from memory (`direct`).
  bool adds_products(int stage) const;
  /// A user's function that allows contraction has a kernel of its own, so it is users[0].
  bool contract() const { return !users.empty() && users[0]->contract; }
};

/// The parameter block that a printed kernel reads, in 8-byte words. Printer and binder both take offsets from here.
struct ParamLayout {
  int kept_size, reduced_size;    ///< extents' products: rows (M) and elements of a row (N)
  int kept_shape, reduced_shape;  ///< [kept], [reduced]
  int segments, segment_length;   ///< number of segments of a row, and their length in elements
  int partials, tickets, error;   ///< addresses: partial results, counters of finished blocks, the error word
  int ddof;                       ///< [accumulators]
  int access;                     ///< for each access: address or first index, then strides[kept], then strides[reduced]
  int access_words;
  int constant;  ///< 2 words each
  int gather;    ///< (extent, stride) pairs
  int inside;    ///< (lower, count, step) triples
  int words;
};
ParamLayout param_layout(const Ir& ir);

/// A digest of everything on which the printed text depends.
Hash128 structure_hash(const Ir& ir);

/// A readable name: "map_multiply_sin_add" limited in length.
std::string kernel_name(const Ir& ir);

/// Elements of one block of a CPU reduction; a sum's tree depends only on this number.
inline constexpr int64_t kReduceBlock = 1024;
/// Rows that a CPU column reduction adds up in one accumulator before it starts the next.
inline constexpr int64_t kColumnRun = 64;
/// Columns that a CPU column reduction handles side by side: few enough that their states stay in the cache. Where it reads contiguous
/// memory, a tile covers whole pages.
int64_t column_tile(const Ir& ir);

/// Tells whether a map is as fast when its output overwrites an input as when it does not.
bool fast_in_place(const Ir& ir);

KernelSource print_cpu(const Ir& ir);
KernelSource print_cuda(const Ir& ir);
inline KernelSource print(const Ir& ir) { return ir.target == Target::cpu ? print_cpu(ir) : print_cuda(ir); }

/// Bytes of one partial result of an accumulator (the row's state type).
int state_bytes(const Accumulator& a);

}  // namespace bc
