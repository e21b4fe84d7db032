#include "primitives/ops.h"

#include <array>
#include <atomic>
#include <string>
#include <unordered_map>

#include "core/dtype_sets.h"
#include "core/error.h"

namespace bc {
namespace {

using namespace dtype_sets;

constexpr DTypeSet DIVIDE = FLOATS | static_cast<DTypeSet>(Signature::divide) << kSignatureShift;
constexpr DTypeSet DIVIDE_REAL = REALS | static_cast<DTypeSet>(Signature::divide) << kSignatureShift;
constexpr DTypeSet LDEXP = REALS | static_cast<DTypeSet>(Signature::ldexp) << kSignatureShift;
constexpr DTypeSet WHERE = ALL | static_cast<DTypeSet>(Signature::where) << kSignatureShift;
constexpr DTypeSet RANDOM = REALS | U32 | U64 | I64 | static_cast<DTypeSet>(Signature::random) << kSignatureShift;

constexpr OpInfo elementwise(const char* name, uint8_t nin, DTypeSet set, Result result, const char* text) {
  OpInfo o;
  o.name = name;
  o.kind = OpKind::elementwise;
  o.nin = nin;
  o.set = set & ((DTypeSet{1} << kSignatureShift) - 1);
  o.signature = static_cast<Signature>(set >> kSignatureShift);
  o.result = result;
  o.text = text;
  return o;
}

struct Table {
  std::array<OpInfo, kOpCount> rows;
  std::unordered_map<std::string_view, Op> names;

  Table() {
    auto structural = [&](Op op, const char* name, uint8_t nin) {
      rows[static_cast<int>(op)].name = name;
      rows[static_cast<int>(op)].nin = nin;
    };
    structural(Op::leaf, "leaf", 0);
    structural(Op::constant, "constant", 0);
    structural(Op::iota, "iota", 0);
    structural(Op::gather, "gather", 2);
    structural(Op::store, "store", 2);
    rows[static_cast<int>(Op::cast)] = elementwise("cast", 1, (DTypeSet{1} << kDTypeCount) - 1, Result::SAME, "a");
    rows[static_cast<int>(Op::library)].name = "library";
    rows[static_cast<int>(Op::library)].kind = OpKind::library;
    structural(Op::user, "user", 0);  // the function determines its number of operands
    structural(Op::reduce_user, "user", 1);
    rows[static_cast<int>(Op::reduce_user)].kind = OpKind::reduce;
#define BC_UNARY(name, set, result, text, ...) rows[static_cast<int>(Op::name)] = elementwise(#name, 1, set, Result::result, text);
#define BC_BINARY(name, set, result, text, ...) rows[static_cast<int>(Op::name)] = elementwise(#name, 2, set, Result::result, text);
#define BC_TERNARY(name, set, result, text, ...) rows[static_cast<int>(Op::name)] = elementwise(#name, 3, set, Result::result, text);
#define BC_FAST(...)
#include "primitives/elementwise.def"
#define BC_UNARY(...)
#define BC_BINARY(...)
#define BC_TERNARY(...)
#define BC_FAST(name, set_, text)                   \
  rows[static_cast<int>(Op::name)].fast_set = set_; \
  rows[static_cast<int>(Op::name)].fast_text = text;
#define BC_CUDA_FAST(name, set_, text)                   \
  rows[static_cast<int>(Op::name)].cuda_fast_set = set_; \
  rows[static_cast<int>(Op::name)].cuda_fast_text = text;
#include "primitives/elementwise.def"
#define BC_REDUCE(name_, set_, acc, result_, state_, extreme_, identity_, map_, join_, finish_, ...) \
  {                                                                                                  \
    OpInfo& o = rows[static_cast<int>(Op::reduce_##name_)];                                          \
    o.name = #name_;                                                                                 \
    o.kind = OpKind::reduce;                                                                         \
    o.nin = 1;                                                                                       \
    o.set = set_;                                                                                    \
    o.accumulate = Accumulate::acc;                                                                  \
    o.result = Result::result_;                                                                      \
    o.state = ReduceState::state_;                                                                   \
    o.extreme = Extreme::extreme_;                                                                   \
    o.identity = identity_;                                                                          \
    o.map = map_;                                                                                    \
    o.join = join_;                                                                                  \
    o.finish = finish_;                                                                              \
  }
#include "primitives/reduce.def"
    for (int i = 0; i < kOpCount; ++i)
      if (rows[i].kind == OpKind::elementwise) names.emplace(rows[i].name, static_cast<Op>(i));
  }
};

const Table& table() {
  static const Table& t = *new Table;  // never destroyed: threads may outlive the main one's statics
  return t;
}

/// The loop dtype of each row for each promoted dtype; kDTypeCount where the row has none. (resolve() handles two operands of mixed kinds
/// separately.)
struct LoopTable {
  uint8_t loop[kOpCount][kDTypeCount];
  LoopTable() {
    for (int op = 0; op < kOpCount; ++op)
      for (int from = 0; from < kDTypeCount; ++from) {
        loop[op][from] = kDTypeCount;
        for (DType t : kDTypesByRank)
          if ((info(Op(op)).set & dtype_bit(t)) && can_cast(DType(from), t, Casting::safe)) {
            loop[op][from] = static_cast<uint8_t>(t);
            break;
          }
      }
  }
};

std::optional<DType> first_loop(Op op, DType from) {
  if (is_time(from)) return std::nullopt;
  static const LoopTable table;
  const uint8_t t = table.loop[static_cast<int>(op)][static_cast<int>(from)];
  return t == kDTypeCount ? std::nullopt : std::optional(DType(t));
}

DType result_dtype(Result rule, DType t) {
  switch (rule) {
    case Result::SAME: return t;
    case Result::BOOL: return DType::b1;
    case Result::REAL: return real_type(t);
    case Result::I32: return DType::i32;
    case Result::U8: return DType::u8;
    case Result::INDEX: return DType::i64;
  }
  return t;
}

}  // namespace

const OpInfo& info(Op op) {
  static const OpInfo* rows = table().rows.data();
  return rows[static_cast<int>(op)];
}

const char* state_type(ReduceState state) {
  static constexpr const char* kTypes[] = {
#define BC_REDUCE_STATE(name, ...) #__VA_ARGS__,
#include "primitives/reduce.def"
  };
  return kTypes[static_cast<int>(state)];
}

int state_bytes(ReduceState state, DType loop) {
  switch (state) {
    case ReduceState::element: return itemsize(loop);
    case ReduceState::accumulator: return itemsize(loop) == 2 && is_inexact(loop) ? 4 : itemsize(loop);
    case ReduceState::moments: return is_complex(loop) ? 48 : 24;  // a count, a mean (complex: aligned to 16) and a sum of squares
    case ReduceState::place: return itemsize(loop) > 8 ? 32 : 16;
    case ReduceState::truth: return 1;
    case ReduceState::count: return 8;
  }
  raise(ErrorKind::Runtime, "a reduction's state of no kind");
}

bool may_be_known_early(const OpInfo& reduction, DType loop) {
  switch (reduction.state) {
    case ReduceState::truth: return true;
    case ReduceState::accumulator:
    case ReduceState::place: return loop == DType::b1;
    default: return false;
  }
}

std::optional<Op> op_from_name(std::string_view name) {
  const auto it = table().names.find(name);
  return it == table().names.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Op> reduction_of(Op ufunc) {
  switch (ufunc) {
    case Op::add: return Op::reduce_sum;
    case Op::multiply: return Op::reduce_prod;
    case Op::maximum: return Op::reduce_max;
    case Op::minimum: return Op::reduce_min;
    case Op::fmax: return Op::reduce_fmax;
    case Op::fmin: return Op::reduce_fmin;
    case Op::logical_and: return Op::reduce_all;
    case Op::logical_or: return Op::reduce_any;
    case Op::logical_xor: return Op::reduce_logical_xor;
    case Op::bitwise_and: return Op::reduce_bitwise_and;
    case Op::bitwise_or: return Op::reduce_bitwise_or;
    case Op::bitwise_xor: return Op::reduce_bitwise_xor;
    case Op::gcd: return Op::reduce_gcd;
    case Op::lcm: return Op::reduce_lcm;
    case Op::hypot: return Op::reduce_hypot;
    case Op::logaddexp: return Op::reduce_logaddexp;
    case Op::logaddexp2: return Op::reduce_logaddexp2;
    default: return std::nullopt;
  }
}

namespace {

/// Whether a casting rule allows an operand to be read as `to`. A Python number has only a kind and no dtype, so it is never equivalent to
/// one.
bool operand_casts(const OperandType& operand, DType to, Casting casting) {
  if (operand.weak == Weak::none || operand.weak == Weak::boolean) return can_cast(operand.dtype, to, casting);
  const bool holds = promote_weak(to, operand.weak) == to;
  return casting == Casting::unsafe || (holds && casting != Casting::equiv);
}

Loop resolve_anew(Op op, std::span<const OperandType> operands, std::optional<DType> dtype, Casting casting) {
  const OpInfo& spec = info(op);
  Loop loop{};
  const int n = static_cast<int>(operands.size());
  // `where` and `ldexp` promote only some of their operands; the others have a fixed type.
  const int first = spec.signature == Signature::where ? 1 : 0;
  const int last = spec.signature == Signature::ldexp ? 1 : n;

  bool all_bool = true;
  for (int i = first; i < last; ++i) all_bool &= is_bool(operands[i].dtype);
  if (all_bool && !dtype) {
    BC_CHECK(op != Op::subtract, Type,
             "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor "
             "function instead.");
    BC_CHECK(op != Op::negative, Type,
             "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.");
    BC_CHECK(op != Op::positive && op != Op::sign && op != Op::gcd && op != Op::lcm, UFuncTypeError,
             "ufunc '{}' did not contain a loop with signature matching types bool -> None", spec.name);
  }
  std::optional<DType> common;
  for (int i = first; i < last; ++i)
    if (operands[i].weak == Weak::none) common = common ? promote(*common, operands[i].dtype) : operands[i].dtype;
  if (!common) {
    DType t = DType::b1;
    for (int i = first; i < last; ++i) t = promote(t, default_dtype(operands[i].weak));
    common = t;
  } else {
    for (int i = first; i < last; ++i)
      if (operands[i].weak != Weak::none) common = promote_weak(*common, operands[i].weak);
  }
  DType t = *common;
  if (spec.signature == Signature::divide && !is_inexact(t) && !dtype) t = DType::f64;

  BC_CHECK(!dtype || spec.result != Result::BOOL || is_bool(*dtype), UFuncTypeError,
           "No loop matching the specified signature and casting was found for ufunc {}", spec.name);
  std::optional<DType> found;
  if (dtype && spec.result != Result::BOOL) {
    // `dtype=` names the dtype of the result; a row whose result has the loop's dtype runs in it. The absolute value of a complex number
    // has the loop's real type.
    const bool of_complex = spec.result == Result::REAL && is_complex(t);
    const DType wanted = of_complex && is_inexact(*dtype) ? complex_type(*dtype) : *dtype;
    const bool real = !is_complex(*dtype) && (!of_complex || (real_type(wanted) == *dtype && can_cast(t, wanted, Casting::safe)));
    if (spec.result != Result::REAL || real) found = first_loop(op, wanted);
    if (found && *found != wanted) found.reset();
    BC_CHECK(found, UFuncTypeError, "{}: no loop with result dtype {}", spec.name, info(*dtype).name);
  } else {
    found = first_loop(op, t);
    // NumPy takes the first loop to which every operand casts: int8 with uint8 gives int16 for add, but float16 for arctan2.
    if (n == 2 && found && is_inexact(*found) && !is_inexact(t) && spec.signature == Signature::same && operands[0].weak == Weak::none &&
        operands[1].weak == Weak::none) {
      const std::optional<DType> a = first_loop(op, operands[0].dtype), b = first_loop(op, operands[1].dtype);
      if (a && b) found = promote(*a, *b);
    }
    std::string types;
    if (!found)
      for (int i = 0; i < n; ++i) types += (i ? ", " : "") + std::string(info(operands[i].dtype).name);
    BC_CHECK(found, UFuncTypeError, "ufunc '{}' not supported for the input types, got {}{}", spec.name, types,
             is_complex(t) && (spec.set & COMPLEX) == 0 ? "; it takes real numbers alone: pass the real or the imaginary part" : "");
  }
  // Without `dtype=` operands always cast safely to their loop. Logical rows test the truth of each operand in its own dtype.
  if ((dtype || casting != Casting::same_kind) && !is_logical(op))
    for (int i = first; i < last; ++i)
      BC_CHECK(operand_casts(operands[i], *found, casting), UFuncTypeError,
               "Cannot cast ufunc '{}' input {} from dtype('{}') to dtype('{}') with casting rule '{}'", spec.name, i,
               info(operands[i].dtype).name, info(*found).name, to_string(casting));
  for (int i = 0; i < n; ++i) loop.in[i] = *found;
  if (spec.signature == Signature::where) loop.in[0] = DType::b1;
  if (spec.signature == Signature::ldexp) loop.in[1] = DType::i32;
  if (spec.signature == Signature::random) loop.in[0] = loop.in[1] = DType::u64;
  loop.out = result_dtype(spec.result, *found);
  return loop;
}

// Cached results of resolve_anew for up to two operands without `dtype=`: the four dtypes, each plus one, in one word; 0: not cached yet.
// Each word is written atomically, so relaxed order is enough.
constexpr int kOperandKinds = kDTypeCount + 4;  // a dtype, or a Python bool, int, float or complex
std::atomic<uint32_t> resolved[kOpCount][kOperandKinds][kOperandKinds];

int operand_kind(const OperandType& t) {
  return t.weak == Weak::none ? static_cast<int>(t.dtype) : kDTypeCount + static_cast<int>(t.weak) - 1;
}

}  // namespace

Loop resolve(Op op, std::span<const OperandType> operands, std::optional<DType> dtype, Casting casting) {
  const size_t n = operands.size();
  if (dtype || casting != Casting::same_kind || n > 2 || n == 0) return resolve_anew(op, operands, dtype, casting);
  std::atomic<uint32_t>& place = resolved[static_cast<int>(op)][operand_kind(operands[0])][n == 2 ? operand_kind(operands[1]) : 0];
  if (const uint32_t word = place.load(std::memory_order_relaxed)) [[likely]]
    return {{DType((word & 255) - 1), DType((word >> 8 & 255) - 1), DType((word >> 16 & 255) - 1)}, DType((word >> 24) - 1)};
  const Loop loop = resolve_anew(op, operands, dtype, casting);
  auto byte = [](DType t) { return static_cast<uint32_t>(t) + 1; };
  place.store(byte(loop.in[0]) | byte(loop.in[1]) << 8 | byte(loop.in[2]) << 16 | byte(loop.out) << 24, std::memory_order_relaxed);
  return loop;
}

Loop resolve_reduce(Op op, DType input, std::optional<DType> dtype) {
  const OpInfo& spec = info(op);
  DType t = input;
  if (dtype && spec.result != Result::BOOL && spec.result != Result::INDEX) {
    t = *dtype;
    if (spec.accumulate == Accumulate::mean && !is_inexact(t)) t = DType::f64;
  } else if (spec.accumulate == Accumulate::widen && !is_inexact(t)) {
    t = is_unsigned(t) ? DType::u64 : DType::i64;
  } else if (spec.accumulate == Accumulate::mean && !is_inexact(t)) {
    t = DType::f64;
  }
  BC_CHECK(spec.set & dtype_bit(t), UFuncTypeError, "ufunc '{}' did not contain a loop with signature matching types {} -> {}", spec.name,
           info(input).name, info(t).name);
  Loop loop{};
  loop.in[0] = t;
  loop.out = result_dtype(spec.result, t);
  return loop;
}

}  // namespace bc
