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

/// One walk through memory (or through indices) along the iteration space.
struct Access {
  enum class Role : uint8_t { load, store, coordinate, gather };
  enum class Step : uint8_t { zero, unit, any };
  Role role = Role::load;
  DType dtype = DType::f64;
  Step step = Step::unit;    ///< along the innermost axis that the skeleton walks
  bool outer = false;        ///< over the kept axes only (what comes after a reduction)
  bool vector = false;       ///< CUDA: every vector of it is aligned
  bool still = false;        ///< CUDA, where Schedule::rows > 1: the same for all rows of a group
  bool still_outer = false;  ///< CUDA, where Schedule::outer_rows > 1: the same along the axis before the last kept one
  bool tiled = false;        ///< CUDA, where Schedule::tile: read along the axis before the last one, through shared memory
};

inline constexpr int16_t kNone = -1;

/// One SSA value of a kernel's body.
struct Value {
  /// register_cached: the value args[0] of an earlier stage, kept in a register since then (where Schedule::cached)
  enum class Kind : uint8_t { load, coordinate, constant, op, gather, inside, result, register_cached };
  Kind kind = Kind::op;
  Op op = Op::cast;
  DType dtype = DType::f64;  ///< of the value
  DType loop[3] = {};        ///< op: the dtypes its operands are cast to
  uint8_t stage = 0;
  bool outer = false;  ///< computed once a row, after the stage's reductions
  int16_t args[3] = {kNone, kNone, kNone};
  int16_t access = kNone;  ///< load, coordinate, gather
  /// constant: its number; gather: the first of its (extent, stride) pairs; inside: its first (lower, count, step) triple
  int16_t slot = kNone;
  int16_t predicate = kNone;  ///< load, gather: read only where this value is true
  /// gather: the index values; inside: the coordinates tested; a user's function (op user): its arguments, with `slot` its place among
  /// Ir::users, args[0] the number of the result that this value is, and args[1] the value whose call gave it (kNone: its own call)
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
  int16_t user = kNone;  ///< reduce_user: its place among Ir::users
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

/// A kernel before it is printed: an iteration space of `kept` axes and `reduced` axes, and what happens at each of its points.
/// Its structure alone (no extents, strides, addresses or constants) makes the text; those are the kernel's parameters.
struct Ir {
  Target target = Target::cpu;
  Walk walk = Walk::map;
  int kept = 1;
  int reduced = 0;
  int stages = 1;         ///< rows only: how often a row is walked; a stage may use the results of the ones before
  bool in_place = false;  ///< an output may be an input: no element may be read after its place is written
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
  bool for_reading = false;        ///< printed to be read: leaves out the header that users' functions are compiled after

  /// Tells whether a compiler must run it: the loops that are built in know no user's function.
  bool needs_compiler() const { return !users.empty(); }
  /// Tells whether a row's walk in a stage is there for its reductions alone, and these may be known before its end: any, all, and what
  /// else chooses between two values.
  bool may_leave(int stage) const;
  /// Tells whether an accumulator can read memory as it lies: its input is a unit-stride load of its own type.
  bool direct(const Accumulator& a) const;
  /// A function whose user asked for contraction has a kernel for itself.
  bool contract() const { return !users.empty() && users[0]->contract; }
};

/// The parameter block that a printed kernel reads, in 8-byte words. Printer and binder both take offsets from here.
struct ParamLayout {
  int kept_size, reduced_size;    ///< extents' products: rows (M) and elements of a row (N)
  int kept_shape, reduced_shape;  ///< [kept], [reduced]
  int segments, segment_length;   ///< how many pieces a row is cut into, and their length in elements
  int partials, tickets, error;   ///< addresses: partial results, counters of finished blocks, the error word
  int ddof;                       ///< [accumulators]
  int access;                     ///< each: address or first index, then strides[kept], then strides[reduced]
  int access_words;
  int constant;  ///< 2 words each
  int gather;    ///< (extent, stride) pairs
  int inside;    ///< (lower, count, step) triples
  int words;
};
ParamLayout param_layout(const Ir& ir);

/// A digest of everything that the printed text depends on.
Hash128 structure_hash(const Ir& ir);

/// A readable name: "map_multiply_sin_add" cut to a sensible length.
std::string kernel_name(const Ir& ir);

/// Elements of one block of a CPU reduction; the tree of a sum depends on it and on nothing else.
inline constexpr int64_t kReduceBlock = 1024;
/// Rows that a CPU column reduction adds up in one accumulator before it starts the next.
inline constexpr int64_t kColumnRun = 64;
/// Columns that a CPU column reduction walks side by side: as many as keep the states near, and where it reads memory as it lies, whole
/// pages of it.
int64_t column_tile(const Ir& ir);

/// Tells whether a map is as fast where its output lies in the place of an input as where it does not.
bool fast_in_place(const Ir& ir);

KernelSource print_cpu(const Ir& ir);
KernelSource print_cuda(const Ir& ir);
inline KernelSource print(const Ir& ir) { return ir.target == Target::cpu ? print_cpu(ir) : print_cuda(ir); }

/// Bytes of one partial result of an accumulator (the row's state type).
int state_bytes(const Accumulator& a);

}  // namespace bc
