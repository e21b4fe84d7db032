// Reductions as NumPy's: their dtypes, masks, starts and outputs. A row of reduce.def does the rest.
#include <algorithm>
#include <bit>
#include <cmath>

#include "array/history.h"
#include "array/other_dtypes.h"
#include "array/placement.h"
#include "array/record.h"
#include "core/extents.h"
#include "core/stored_value.h"
#include "graph/tape.h"

namespace bc {

namespace {

/// The elementwise row that combines two results of a reduction, for `initial=`.
std::optional<Op> joiner(Op op) {
  for (int i = 0; i < kOpCount; ++i)
    if (info(Op(i)).kind == OpKind::elementwise && reduction_of(Op(i)) == op) return Op(i);
  return std::nullopt;
}

/// The value that replaces elements with `where=False`: the reduction's identity.
Arg neutral(Op op, DType t, Device device) {
  switch (op) {
    case Op::reduce_prod:
    case Op::reduce_all: return Arg(Weak::integer, Scalar::integer(1));
    case Op::reduce_bitwise_and: return Arg(ufunc(Op::invert, {full(Dims(), Scalar::integer(0), t, device)}));  // all bits set
    case Op::reduce_logaddexp:
    case Op::reduce_logaddexp2: return Arg(Weak::real, Scalar::real(-__builtin_inf()));
    default: return Arg(Weak::boolean, Scalar::boolean(false));
  }
}

/// Records a reduction with the array's axes permuted; `axes` has a bit for each reduced axis.
Array reduce_in_order(Op op, const Array& a, const ReduceOptions& options, uint64_t axes, const Dims& order) {
  ReduceOptions rest{.axes = std::vector<int64_t>(),
                     .keepdims = options.keepdims,
                     .dtype = options.dtype,
                     .initial = options.initial,
                     .where = options.where,
                     .ddof = options.ddof};
  Dims shown;  // for each axis of the result its axis in `a`, outermost first
  for (int k = 0; k < order.size(); ++k) {
    const bool gone = axes >> order[k] & 1;
    if (gone) rest.axes->push_back(k);
    if (!gone || options.keepdims) shown.push_back(order[k]);
  }
  const Array made = reduce(op, transposed(a, order), rest);
  Dims back(shown.size());
  for (int k = 0; k < back.size(); ++k) back[k] = k;
  std::sort(back.begin(), back.end(), [&](int64_t x, int64_t y) { return shown[static_cast<int>(x)] < shown[static_cast<int>(y)]; });
  const Array result = transposed(made, back);
  if (!options.out) return result;
  assign(options.out, result);
  return options.out;
}

void check_output(const char* op, const Dims& shape, const Array& out) {
  BC_CHECK(out.shape() == shape, Value, "{}: output parameter has the wrong shape: expected {}, got {}", op, shape, out.shape());
  check_writable(op, out);
}

/// The mean or variance with an integer `dtype=`, or the variance of or in complex numbers, as NumPy computes it: sums in that dtype,
/// quotients truncated to it.
Array moment_in_dtype(Op op, const Array& a, const ReduceOptions& options) {
  const DType t = *options.dtype;
  const Dims shape = options.where ? broadcast_shapes(info(op).name, a.shape(), options.where.shape()) : a.shape();
  ReduceOptions plain;
  plain.axes = options.axes;
  plain.keepdims = op != Op::reduce_mean || options.keepdims;
  const Array n =
      reduce(Op::reduce_count_nonzero,
             options.where ? broadcast_to(options.where, shape) : full(shape, Scalar::integer(1), DType::b1, a.device()), plain);
  ReduceOptions sums = plain;
  sums.where = options.where;
  sums.dtype = t;
  const auto quotient = [](const Array& total, const Array& count, DType as) { return astype(ufunc(Op::divide, {total, count}), as); };
  const Array total = reduce(Op::reduce_sum, a, sums);
  if (op == Op::reduce_mean) {
    if (!options.out) return quotient(total, n, t);
    check_output(info(op).name, total.shape(), options.out);
    assign(options.out, total);
    assign(options.out, quotient(options.out, n, options.out.dtype()));
    return options.out;
  }
  const Array away = ufunc(Op::subtract, {a, quotient(total, n, t)});
  sums.keepdims = options.keepdims;
  // The squares of real numbers are complex where the dtype makes them so.
  const bool lengths = is_complex(a.dtype()) || (is_complex(t) && is_bool(a.dtype()));
  const Array squares = lengths ? ufunc(Op::square, {ufunc(Op::abs, {away})}) : ufunc(Op::square, {away});
  plain.keepdims = options.keepdims;
  const Array counted = plain.keepdims ? n : reshape(n, reduce(Op::reduce_sum, squares, sums).shape());
  const Array left = ufunc(Op::maximum, {ufunc(Op::subtract, {counted, Arg(options.ddof)}), Arg(0.0)});
  Array result = ufunc(Op::divide, {reduce(Op::reduce_sum, squares, sums), left});
  if (options.out) check_output(info(op).name, result.shape(), options.out);
  if (op == Op::reduce_std) {
    const Array spread = astype(result, options.out ? options.out.dtype() : t);
    // NumPy takes the root of an array in place, which refuses integers; a number it casts.
    if (!is_inexact(spread.dtype()) && (options.out || spread.ndim() > 0)) return ufunc(Op::sqrt, {spread}, {.out = spread});
    result = ufunc(Op::sqrt, {spread});
  }
  if (!options.out) return astype(result, t);
  assign(options.out, result);
  return options.out;
}

// Products of fewer factors are computed in order.
constexpr int64_t kFactorsInOrder = 32;

/// Corrects a product of finite factors with zeros that is NaN, because a partial product overflowed to infinity before it was multiplied
/// by zero: it becomes 0.
Array zero_for_zeros(const Array& product, const Array& factors, const ReduceOptions& over) {
  const Array overflowed = ufunc(Op::isnan, {product});
  const Array zeros = ufunc(Op::logical_not, {reduce(Op::reduce_all, factors, over)});
  const Array finite = reduce(Op::reduce_all, ufunc(Op::isfinite, {factors}), over);
  const Array wrong = ufunc(Op::bitwise_and, {ufunc(Op::bitwise_and, {overflowed, zeros}), finite});
  return ufunc(Op::where, {wrong, Arg(0.0), product});
}

/// With an output NumPy adds and multiplies integers in the type that holds both dtypes, which must hold `initial` then.
void check_initial_of_output(DType from, const ReduceOptions& options) {
  if (options.dtype || !options.initial || options.initial->weak != Weak::integer) return;
  if (!is_integer(from) || !is_integer(options.out.dtype())) return;
  const DType t = promote(from, options.out.dtype());
  if (!integer_fits(options.initial->value, t)) raise_out_of_bounds(options.initial->value, t);
}

/// The factors with `initial` multiplied into the first of each product. As in NumPy, a product that starts at 0 or is small does not
/// overflow.
Array with_first_factor(const Array& a, const Arg& initial, DType t, uint64_t axes) {
  const Array factors = copy(astype(a, t, false));
  Layout first = factors.layout();
  for (int d = 0; d < first.ndim(); ++d)
    if (axes >> d & 1) first.shape[d] = 1;
  const Array firsts = factors.with_layout(std::move(first));
  assign(firsts, ufunc(Op::multiply, {firsts, stored(initial, t, a.device())}, {.dtype = t, .casting = Casting::unsafe}));
  return factors;
}

/// Whether NumPy also uses the output's dtype to choose a reduction's loop: for sums, products, extremes and means of inexact numbers.
bool folds_with_output(Op op, DType operand) {
  if (op == Op::reduce_mean) return is_inexact(operand) && operand != DType::f16;
  const std::optional<Op> join = joiner(op);
  return join && info(op).result != Result::BOOL;
}

/// A mean or variance of the elements where `options.where` holds: sums over the mask, divided by the number of true elements. `wide` is
/// the array broadcast to the mask.
Array masked_moment(Op op, const Array& wide, const ReduceOptions& options, const Loop& loop) {
  const DType t = loop.in[0];
  ReduceOptions counts = options;
  counts.where = counts.out = Array();
  counts.ddof = 0;
  counts.dtype = std::nullopt;
  ReduceOptions sums = counts;
  sums.dtype = t;
  const Array mask = broadcast_to(options.where, wide.shape());
  const auto zero = [&](DType as) { return full(Dims(), Scalar::integer(0), as, wide.device()); };
  const auto quotient = [](const Array& total, const Array& count, DType as) {
    return ufunc(Op::divide, {total, count}, {.dtype = as, .casting = Casting::unsafe});
  };
  const Array masked = ufunc(Op::where, {options.where, astype(wide, t, false), zero(t)});
  const Array n = reduce(Op::reduce_count_nonzero, mask, counts);
  if (op == Op::reduce_mean) return quotient(reduce(Op::reduce_sum, masked, sums), n, t);

  ReduceOptions kept_sums = sums, kept_counts = counts;
  kept_sums.keepdims = kept_counts.keepdims = true;
  const Array total = reduce(Op::reduce_sum, masked, kept_sums);
  const Array mean = quotient(total, reduce(Op::reduce_count_nonzero, mask, kept_counts), t);
  const Array away = ufunc(Op::abs, {ufunc(Op::subtract, {wide, mean})});
  const Array square = ufunc(Op::where, {options.where, ufunc(Op::square, {away}), zero(loop.out)});
  const Array left = ufunc(Op::maximum, {ufunc(Op::subtract, {n, Arg(options.ddof)}), Arg(0.0)});
  sums.dtype = loop.out;
  const Array variance = quotient(reduce(Op::reduce_sum, square, sums), left, loop.out);
  return op == Op::reduce_std ? ufunc(Op::sqrt, {variance}) : variance;
}

/// A reduction of the elements where `options.where` holds: the others are replaced by the row's identity, or by `initial`.
Array reduce_masked(Op op, const Array& a, const ReduceOptions& options, const Loop& loop, bool identity) {
  const char* name = info(op).name;
  const Array wide = broadcast_to(a, broadcast_shapes(name, a.shape(), options.where.shape()));
  if (op == Op::reduce_mean || op == Op::reduce_var || op == Op::reduce_std)
    return deliver_reduced(name, masked_moment(op, wide, options, loop), options.out);
  ReduceOptions rest = options;
  rest.where = Array();
  if (!identity) {
    BC_CHECK(options.initial, Value,
             "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'", name);
    const Array start = astype(stored(*options.initial, loop.in[0], a.device()), loop.in[0], false);
    return reduce(op, ufunc(Op::where, {options.where, wide, start}), rest);
  }
  const bool bits = op == Op::reduce_bitwise_and;  // the loop's dtype determines the number of bits
  const Array met = bits ? astype(wide, loop.in[0], false) : wide;
  return reduce(op, ufunc(Op::where, {options.where, met, neutral(op, met.dtype(), a.device())}), rest);
}

/// The axes that are reduced, as bits.
uint64_t reduced_axes(const OpInfo& spec, int nd, const std::optional<std::vector<int64_t>>& axes) {
  if (!axes) return nd == 64 ? ~uint64_t{0} : (uint64_t{1} << nd) - 1;
  // NumPy lets a 0-d array be reduced over axis 0, except by mean.
  const bool number = nd == 0 && axes->size() == 1 && spec.accumulate != Accumulate::mean;
  uint64_t bits = 0;
  for (int64_t axis : *axes) {
    if (number && (axis == 0 || axis == -1)) continue;
    const uint64_t bit = uint64_t{1} << normalize_axis(axis, nd, spec.name);
    BC_CHECK(!(bits & bit), Value, "{}: duplicate value in 'axis'", spec.name);
    bits |= bit;
  }
  return bits;
}

/// The order of axes along memory, if the reduction may run in it: unless the index over several axes matters (argmax, which gives
/// `places`), or the result's memory order would differ from NumPy's.
std::optional<Dims> order_along_memory(const Array& a, uint64_t axes, bool places) {
  const Dims strides = moving_strides(a.shape(), a.strides());
  Dims order = operands_order(std::span(&strides, 1), a.ndim());
  Dims kept;
  for (int64_t d : order)
    if (!(axes >> d & 1)) kept.push_back(d);
  const bool free = !places || (std::popcount(axes) == 1 && std::is_sorted(kept.begin(), kept.end()));
  return !is_ascending(order) && free ? std::optional(std::move(order)) : std::nullopt;
}

/// The facts that a reduction's axes decide: its result's shape, and the number of elements that are joined for each of the result's.
struct Reduced {
  uint64_t axes = 0;
  Dims shape;
  int64_t count = 1;

  Reduced(const Dims& from, uint64_t axes_, bool keepdims) : axes(axes_) {
    for (int d = 0; d < from.size(); ++d) {
      const bool gone = axes >> d & 1;
      if (gone) count *= from[d];
      if (!gone || keepdims) shape.push_back(gone ? 1 : from[d]);
    }
  }
};

bool is_negative_zero(const Arg& initial) { return initial.weak == Weak::real && initial.value.f == 0 && std::signbit(initial.value.f); }

/// Sums that begin with -0.0 are -0.0 where all elements are; others begin with 0.
void keep_negative_zeros(const Array& sums, const Array& a, const ReduceOptions& options) {
  const Array total = real(sums);
  const Array negative = reduce(Op::reduce_all, ufunc(Op::signbit, {real(a)}), {.axes = options.axes, .keepdims = options.keepdims});
  const Array zeros = ufunc(Op::logical_and, {negative, ufunc(Op::equal, {total, Arg(0)})});
  assign(total, ufunc(Op::where, {zeros, Arg(-0.0), total}));
}

/// Records a reduction and what follows it: NumPy's zero of a product with zeros, and `initial`.
Array record_reduction(Op op, const Array& a, const ReduceOptions& options, const Loop& loop, const Reduced& reduced) {
  const char* name = info(op).name;
  auto extra = std::make_unique<ReduceExtra>();
  extra->shape = a.shape();
  extra->ddof = options.ddof;
  extra->join = options.join;
  extra->axes = reduced.axes;
  Ref<Node> node = new_node(op, loop.out, a.device(), reduced.shape);
  node->loop[0] = loop.in[0];
  node->in.push_back(make_operand(name, a, a.shape()));
  node->extra = std::move(extra);
  Array result = record(std::move(node));
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    observer->reduce(op, a, reduced.axes, options.ddof, result);
  if (op == Op::reduce_prod && is_real_float(loop.out) && reduced.count >= kFactorsInOrder)
    result = zero_for_zeros(result, a, {.axes = options.axes, .keepdims = options.keepdims});
  if (!options.initial) return result;
  const std::optional<Op> join = joiner(op);
  BC_CHECK(join, Type, "{}: this reduction takes no 'initial'", name);
  result = ufunc(*join, {result, stored(*options.initial, loop.out, a.device())}, {.dtype = loop.out, .casting = Casting::unsafe});
  if (op == Op::reduce_sum && is_negative_zero(*options.initial) && is_inexact(a.dtype()) && !a.history()) [[unlikely]]
    keep_negative_zeros(result, a, options);
  return result;
}

}  // namespace

/// Gives a reduction's result where `out=` wants it.
Array deliver_reduced(const char* op, const Array& result, const Array& out) {
  if (!out) return result;
  check_output(op, result.shape(), out);
  assign(out, result);
  return out;
}

Array reduce(Op op, const Array& a, const ReduceOptions& options) {
  const OpInfo& spec = info(op);
  if (placed_by_size()) [[unlikely]]
    note_whole(a);
  if (!options.join && (!is_plain(a.dtype()) || (options.dtype && !is_plain(*options.dtype)))) [[unlikely]]
    return reduce_of_others(op, a, options);
  BC_CHECK(op != Op::reduce_std || !options.out || !(is_integer(options.out.dtype()) || is_bool(options.out.dtype())), UFuncTypeError,
           "Cannot cast ufunc 'sqrt' output from dtype('float64') to dtype('{}') with casting rule 'same_kind'",
           info(options.out.dtype()).name);
  if (spec.accumulate == Accumulate::mean && options.dtype) [[unlikely]]
    if (!is_inexact(*options.dtype) || (op != Op::reduce_mean && (is_complex(*options.dtype) || is_complex(a.dtype()))))
      return moment_in_dtype(op, a, options);
  if (options.out && !options.dtype && options.out.dtype() != a.dtype() && is_plain(options.out.dtype()) &&
      folds_with_output(op, a.dtype())) {
    ReduceOptions typed = options;
    typed.dtype = folding_dtype({}, a.dtype(), options.out);
    return reduce(op, a, typed);
  }
  const Loop loop = options.join ? Loop{{a.dtype()}, a.dtype()} : resolve_reduce(op, a.dtype(), options.dtype);
  const bool places = spec.result == Result::INDEX && op != Op::reduce_count_nonzero;
  const bool identity = !options.no_identity && (options.join ? options.join->identity : spec.identity != nullptr);
  if (options.where) return reduce_masked(op, a, options, loop, identity);

  const Reduced reduced(a.shape(), reduced_axes(spec, a.ndim(), options.axes), options.keepdims);
  BC_CHECK(identity || reduced.count > 0 || options.initial, Value, "zero-size array to reduction operation {} which has no identity",
           options.join ? options.join->name.c_str() : spec.name);
  if (options.out) {
    check_output(spec.name, reduced.shape, options.out);
    BC_CHECK(!places || can_cast(options.out.dtype(), DType::i64, Casting::safe), Type,
             "Cannot cast array data from dtype('{}') to dtype('int64') according to the rule 'safe'", info(options.out.dtype()).name);
    check_initial_of_output(a.dtype(), options);
  }
  if (a.ndim() > 1 && !a.contiguous() && !options.join)
    if (const std::optional<Dims> order = order_along_memory(a, reduced.axes, places))
      return reduce_in_order(op, a, options, reduced.axes, *order);
  const bool constant = a.history() == nullptr;  // no derivatives are recorded
  if (op == Op::reduce_prod && options.initial && is_inexact(loop.out) && !options.join && reduced.count > 0 && a.size() > 0 && constant) {
    ReduceOptions rest = options;
    rest.initial = std::nullopt;
    return reduce(op, with_first_factor(a, *options.initial, loop.out, reduced.axes), rest);
  }

  TapeLock lock(tape(a.device()));
  // A sum of nothing is its start, also where that is -0.0.
  const bool starts = op == Op::reduce_sum && options.initial && is_inexact(loop.out) && constant;
  const bool nothing = (!identity || starts) && reduced.count == 0 && !options.join;
  return deliver_reduced(spec.name,
                         nothing ? astype(broadcast_to(stored(*options.initial, loop.out, a.device()), reduced.shape), loop.out)
                                 : record_reduction(op, a, options, loop, reduced),
                         options.out);
}

}  // namespace bc
