// The methods of ufuncs: reduce, accumulate, outer, reduceat, at.
#include "array/indexing.h"
#include "array/other_dtypes.h"
#include "array/record.h"
#include "ops/compose.h"
#include "primitives/library.h"

namespace bc {
using namespace compose;

namespace {

// A fold over at most this many slices is written out, so that it fuses; a longer one runs as a library op.
constexpr int64_t kUnrolledFold = 16;

void check_binary(Op op, const char* method) { BC_CHECK(info(op).nin == 2, Value, "{} only supported for binary functions", method); }

/// The dtype in which a binary row folds: its loop must give back what it takes.
DType fold_dtype(Op op, DType t, std::optional<DType> dtype) {
  // NumPy's logical rows fold bools, whatever comes in; sums and products of small integers widen.
  if (op == Op::logical_and || op == Op::logical_or || op == Op::logical_xor) return DType::b1;
  if (op == Op::add || op == Op::multiply) return resolve_reduce(op == Op::add ? Op::reduce_sum : Op::reduce_prod, t, dtype).in[0];
  const DType from = dtype.value_or(t);
  const OperandType operands[] = {{from}, {from}};
  const Loop loop = resolve(op, operands);
  BC_CHECK(loop.in[0] == loop.out && loop.in[1] == loop.out, UFuncTypeError,
           "No loop matching the specified signature and casting was found for ufunc {}", info(op).name);
  return loop.out;
}

/// A dtype= names the loop that folds: there must be one that takes it and gives it, where no other was going to be used.
void check_fold(Op op, const Array& a, std::optional<DType> dtype) {
  if (!dtype || !is_plain(*dtype) || !is_plain(a.dtype())) return;
  const OperandType operands[] = {{*dtype}, {*dtype}};
  const Loop loop = resolve(op, operands);
  BC_CHECK(loop.in[0] == *dtype && loop.out == *dtype, UFuncTypeError,
           "No loop matching the specified signature and casting was found for ufunc {}", info(op).name);
}

/// 16-bit floats are summed and multiplied in float32 and rounded at the end, as NumPy's reductions do (its accumulate rounds each step).
DType running_dtype(Op op, DType t) {
  const bool arithmetic = op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::divide;
  return arithmetic && (is_small_float(t)) ? DType::f32 : t;
}

Array fold(Op op, const Array& a, int axis, const ReduceOptions& options) {
  const DType result = fold_dtype(op, a.dtype(), folding_dtype(options.dtype, a.dtype(), options.out)), t = running_dtype(op, result);
  Array x = cast(cast(a, result), t);
  Array mask = options.where;
  const int64_t n = a.shape()[axis];
  if (mask) {
    BC_CHECK(options.initial, Value,
             "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'", info(op).name);
    mask = broadcast_to(mask, a.shape());
  }
  BC_CHECK(n > 0 || options.initial, Value, "zero-size array to reduction operation {} which has no identity", info(op).name);
  Dims shape = a.shape();
  shape.erase(axis);
  Array r;
  if (options.initial) r = broadcast_to(cast(stored(*options.initial, t, a.device()), t), shape);
  if (n <= kUnrolledFold || mask) {
    int64_t i = 0;
    if (!r) r = n > 0 ? pick(x, axis, i++) : empty(shape, t, a.device());
    for (; i < n; ++i) {
      const Array next = ufunc(op, {r, pick(x, axis, i)}, {.dtype = t, .casting = Casting::unsafe, .out = {}, .where = {}, .device = {}});
      r = mask ? choose_where(pick(mask, axis, i), next, r) : next;
    }
    // Not a view of the operand: a reduction gives a new array.
    return astype(r, result, n == 1 && !options.initial);
  }
  if (r) {
    const Array both[] = {insert_axis(r, axis), x};
    x = concatenate(both, axis);
  }
  return cast(record_library({x}, {x.shape()}, std::make_unique<ScanExtra>(op, axis, true), shape, t, a.device()), result);
}

/// A fold along no axis: each element is combined with `initial`, if there is one.
Array fold_nothing(Op op, const Array& a, const ReduceOptions& options) {
  const DType t = fold_dtype(op, a.dtype(), folding_dtype(options.dtype, a.dtype(), options.out));
  if (!options.initial) return astype(a, t);
  const Array first = broadcast_to(cast(stored(*options.initial, t, a.device()), t), a.shape());
  const Array met = ufunc(op, {first, cast(a, t)}, {.dtype = t, .casting = Casting::unsafe});
  return options.where ? choose_where(broadcast_to(options.where, a.shape()), met, first) : met;
}

}  // namespace

Array ufunc_reduce(Op op, const Array& a, const ReduceOptions& options) {
  check_binary(op, "reduce");
  check_fold(op, a, options.dtype);
  if (const auto row = reduction_of(op)) {
    const bool direct = op == Op::logical_and || op == Op::logical_or || op == Op::logical_xor || op == Op::add || op == Op::multiply;
    if (direct || (options.dtype && op != Op::hypot) || is_time(a.dtype())) return reduce(*row, a, options);
    Array x = cast(a, options.dtype ? *options.dtype : fold_dtype(op, a.dtype(), {}));
    // The identity 0 of hypot makes even a single element positive.
    if (op == Op::hypot) x = absolute(x);
    return reduce(*row, x, options);
  }
  const char* name = info(op).name;
  int axis = 0;
  if (options.axes) {
    BC_CHECK(options.axes->size() <= 1, Value, "reduction operation '{}' is not reorderable, so at most one axis may be specified", name);
    if (options.axes->empty()) return deliver(name, fold_nothing(op, a, options), options.out, Casting::unsafe);
    axis = normalize_axis((*options.axes)[0], a.ndim(), name);
  } else {
    BC_CHECK(a.ndim() <= 1, Value, "reduction operation '{}' is not reorderable, so at most one axis may be specified", name);
    if (a.ndim() == 0) return deliver(name, fold_nothing(op, a, options), options.out, Casting::unsafe);
  }
  Array r = fold(op, a, axis, options);
  if (options.keepdims) r = insert_axis(r, axis);
  return deliver(name, r, options.out, Casting::unsafe);
}

namespace {

/// accumulate or reduceat (`fold`) of times: sums that are NaT from the first NaT on, and extremes. 8-bit floats run in float32.
template <typename Fold>
Array fold_others(Op op, const Array& a, std::optional<DType> dtype, const Fold& fold) {
  if (is_time(a.dtype()) || (dtype && is_time(*dtype))) check_fold_of_times(op, a.dtype(), dtype);
  const DType t = is_timedelta(a.dtype()) && op == Op::add ? a.dtype() : dtype.value_or(a.dtype());
  if (!is_time(t)) return astype(fold(op, astype(a, is_float8(t) ? DType::f32 : t)), t, false);
  const Array ticks = time_ticks(a);
  if (op == Op::minimum || op == Op::fmax) return as_time(fold(op == Op::fmax ? Op::maximum : op, ticks), t);
  if (op == Op::maximum || op == Op::fmin) return from_sort_keys(fold(op == Op::fmin ? Op::minimum : op, sort_keys(a)), t);
  BC_CHECK(is_timedelta(t) && op == Op::add, UFuncTypeError, "ufunc '{}' cannot use operands with types dtype('{}') and dtype('{}')",
           info(op).name, info(t).typestr, info(t).typestr);
  const Array lost = fold(Op::logical_or, is_nat(a));
  return as_time(choose_where(lost, Arg(INT64_MIN), fold(op, ticks)), t);
}

bool has_other_loops(const Array& a, std::optional<DType> dtype) { return !is_plain(a.dtype()) || (dtype && !is_plain(*dtype)); }

Array scan(Op op, const Array& a, int64_t axis_in, std::optional<DType> dtype, const Array& out) {
  BC_CHECK(a.ndim() > 0, Type, "cannot accumulate on a scalar");
  const int axis = normalize_axis(axis_in, a.ndim(), info(op).name);
  if (a.ndim() > 1 && !a.contiguous())
    if (const Dims order = copy_order(a, 'K'); !is_ascending(order)) {
      const Dims back = inverse_axes(order);
      const Array r = scan(op, transpose(a, order), back[axis], folding_dtype(dtype, a.dtype(), out), {});
      return deliver(info(op).name, transpose(r, back), out, Casting::unsafe);
    }
  if (has_other_loops(a, dtype)) {
    const auto along = [&](Op fold, const Array& x) { return scan(fold, x, axis, std::nullopt, {}); };
    return deliver(info(op).name, fold_others(op, a, dtype, along), out);
  }
  const DType t = fold_dtype(op, a.dtype(), folding_dtype(dtype, a.dtype(), out));
  // NumPy writes to any output here.
  if (a.shape()[axis] <= 1 || a.size() == 0) return deliver(info(op).name, astype(a, t), out, Casting::unsafe);
  const Array x = cast(a, t);
  return deliver(info(op).name, record_library({x}, {x.shape()}, std::make_unique<ScanExtra>(op, axis, false), x.shape(), t, a.device()),
                 out, Casting::unsafe);
}

}  // namespace

Array accumulate(Op op, const Array& a, int64_t axis, std::optional<DType> dtype, Array out) {
  check_binary(op, "accumulate");
  check_fold(op, a, dtype);
  return scan(op, a, axis, dtype, out);
}

namespace {
Array cumulative(Op op, const Array& a, Axis axis, std::optional<DType> dtype, Array out) {
  return accumulate(op, axis ? a : ravel(a), axis.value_or(0), dtype, std::move(out));
}
Array without_nan(const Array& a, int64_t value) {
  return is_inexact(a.dtype()) ? choose_where(isnan(a), full(Dims(), Scalar::integer(value), a.dtype(), a.device()), a) : a;
}
}  // namespace

Array cumsum(const Array& a, Axis axis, std::optional<DType> dtype, Array out) {
  return cumulative(Op::add, axis ? atleast_1d(a) : a, axis, dtype, std::move(out));
}
Array cumprod(const Array& a, Axis axis, std::optional<DType> dtype, Array out) {
  return cumulative(Op::multiply, axis ? atleast_1d(a) : a, axis, dtype, std::move(out));
}
Array nancumsum(const Array& a, Axis axis, std::optional<DType> dtype, Array out) {
  return cumsum(without_nan(a, 0), axis, dtype, std::move(out));
}
Array nancumprod(const Array& a, Axis axis, std::optional<DType> dtype, Array out) {
  return cumprod(without_nan(a, 1), axis, dtype, std::move(out));
}

namespace {

/// Whether reductions of slices are faster than one walk over the segments: they use all vector lanes and threads, and cost an op each.
bool has_long_segments(Op op, const Array& x, size_t segments) {
  constexpr size_t kFew = 16;
  constexpr int64_t kLong = 2048;
  return x.ndim() == 1 && segments <= kFew && x.size() >= static_cast<int64_t>(segments) * kLong &&
         (op == Op::add || op == Op::multiply || op == Op::maximum || op == Op::minimum || op == Op::fmax || op == Op::fmin);
}

/// reduceat of a 1-D array by a reduction of each segment.
Array reduce_segments(Op op, const Array& x, std::span<const int64_t> at) {
  std::vector<Array> parts;
  for (size_t j = 0; j < at.size(); ++j) {
    const int64_t end = j + 1 < at.size() ? at[j + 1] : x.size();
    const Array segment = narrow(x, 0, at[j], std::max<int64_t>(end - at[j], 1));
    parts.push_back(segment.size() == 1 ? segment : ufunc_reduce(op, segment, {.axes = {{0}}, .keepdims = true, .dtype = x.dtype()}));
  }
  return concatenate(parts);
}

}  // namespace

Array reduceat(Op op, const Array& a, const Array& indices, int64_t axis_in, std::optional<DType> dtype, Array out) {
  const char* name = info(op).name;
  check_binary(op, "reduceat");
  check_fold(op, a, dtype);
  BC_CHECK(a.ndim() > 0, Type, "cannot reduceat on a scalar");
  BC_CHECK(indices.ndim() <= 1, Value, "object too deep for desired array");
  const int axis = normalize_axis(axis_in, a.ndim(), name);
  if (has_other_loops(a, dtype)) {
    const auto along = [&](Op fold, const Array& x) { return reduceat(fold, x, indices, axis, std::nullopt); };
    return deliver(name, fold_others(op, a, dtype, along), out);
  }
  std::vector<int64_t> at(indices.size());
  to_host(astype(indices, DType::i64, false), at.data());
  for (int64_t i : at)
    BC_CHECK(i >= 0 && i < a.shape()[axis], Index, "index {} out-of-bounds in {}.reduceat [0, {})", i, name, a.shape()[axis]);
  const DType t = fold_dtype(op, a.dtype(), folding_dtype(dtype, a.dtype(), out)), run = running_dtype(op, t);
  Dims shape = a.shape();
  shape[axis] = static_cast<int64_t>(at.size());
  if (product(shape) == 0) return deliver(name, empty(shape, t, a.device()), out, Casting::unsafe);
  const Array x = cast(cast(a, t), run);
  if (has_long_segments(op, x, at.size())) return deliver(name, cast(reduce_segments(op, x, at), t), out, Casting::unsafe);
  const Array r = record_library({x}, {x.shape()}, std::make_unique<ReduceatExtra>(op, axis, std::move(at)), shape, run, a.device());
  return deliver(name, cast(r, t), out, Casting::unsafe);
}

void ufunc_at(Op op, const Array& a, std::span<const IndexItem> items, const std::optional<Arg>& b) {
  const OpInfo& spec = info(op);
  BC_CHECK(spec.nin <= 2, Value, "Only unary and binary ufuncs supported at this time");
  BC_CHECK(spec.nin == 1 || b, Value, "second operand needed for ufunc");
  BC_CHECK(spec.nin == 2 || !b, Value, "second operand provided when ufunc is unary");
  OperandType operands[2] = {{a.dtype()}, {}};
  if (b) operands[1] = {dtype_of(*b), b->weak};
  const Loop loop = resolve(op, std::span<const OperandType>(operands, spec.nin));
  BC_CHECK(spec.nin == 1 || (loop.out == loop.in[0] && loop.in[1] == loop.in[0]), UFuncTypeError,
           "{}.at: expected a loop that gives back the type it takes, got {} -> {}", spec.name, info(loop.in[0]).name, info(loop.out).name);
  bool advanced = false;
  for (const IndexItem& item : items) advanced |= static_cast<bool>(item.array);
  if (!advanced) {
    // Every element is indexed once, so the plain ufunc does it.
    const Array view = getitem(a, items);
    UfuncOptions o;
    o.out = view;
    o.casting = Casting::unsafe;
    if (b)
      ufunc(op, {view, *b}, o);
    else
      ufunc(op, {view}, o);
    return;
  }
  if (spec.nin == 1) {
    // As often as an element is named the row is applied to it: count, then apply in rounds.
    const Array count = zeros(a.shape(), DType::i64, a.device());
    scatter_items(Op::add, count, items, Arg(1), DType::i64);
    const int64_t rounds = a.size() > 0 ? item(reduce(Op::reduce_max, count)).i : 0;
    for (int64_t i = 0; i < rounds; ++i) assign_where(a, ufunc(Op::greater, {count, Arg(i)}), Arg(ufunc(op, {a})));
    return;
  }
  scatter_items(op, a, items, *b, loop.out);
}

}  // namespace bc
