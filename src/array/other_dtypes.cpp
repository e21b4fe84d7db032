#include "array/other_dtypes.h"

#include <algorithm>

#include "array/record.h"

namespace bc {
namespace {

/// The promoted dtype of a ufunc's operands; `where` and `ldexp` promote only some of them.
DType common_dtype(const OpInfo& spec, std::span<const Term> args) {
  const size_t first = spec.signature == Signature::where ? 1 : 0, last = spec.signature == Signature::ldexp ? 1 : args.size();
  std::optional<DType> common;
  for (size_t i = first; i < last; ++i)
    if (args[i].array) common = common ? promote(*common, args[i].array->dtype()) : args[i].array->dtype();
  if (!common) return default_dtype(args[first].weak);
  for (size_t i = first; i < last; ++i)
    if (!args[i].array) common = promote_weak(*common, args[i].weak);
  return *common;
}

/// A row on 8-bit floats: each result is computed in float32 and rounded once.
Array ufunc_of_float8(Op op, std::span<const Term> args, const UfuncOptions& options) {
  const OpInfo& spec = info(op);
  Array wide[3];
  Term terms[3];
  for (size_t i = 0; i < args.size(); ++i) {
    terms[i] = args[i];
    if (!args[i].array || !is_float8(args[i].array->dtype())) continue;
    wide[i] = astype(*args[i].array, DType::f32);
    terms[i].array = &wide[i];
  }
  const Array none;
  UfuncOptions rest = options;
  rest.out = none, rest.where = none;
  const DType result = options.dtype.value_or(common_dtype(spec, args));
  if (is_float8(result) && options.dtype) rest.dtype = DType::f32;
  const Array made = ufunc(op, std::span<const Term>(terms, args.size()), rest);
  const bool narrow = is_float8(result) && made.dtype() == DType::f32;
  return deliver_ufunc(op, narrow ? astype(made, result) : made, options);
}

Array reduce_of_float8(Op op, const Array& a, const ReduceOptions& options) {
  const Array none;
  ReduceOptions rest = options;
  rest.out = none;
  const DType result = options.dtype.value_or(a.dtype());
  if (is_float8(result)) rest.dtype = DType::f32;
  const Array made = reduce(op, is_float8(a.dtype()) ? astype(a, DType::f32) : a, rest);
  const bool narrow = is_float8(result) && made.dtype() == DType::f32;
  return deliver_reduced(info(op).name, narrow ? astype(made, result) : made, options.out);
}

}  // namespace

Array ufunc_of_others(Op op, std::span<const Term> args, const UfuncOptions& options) {
  const bool times = (options.dtype && is_time(*options.dtype)) ||
                     std::any_of(args.begin(), args.end(), [](const Term& t) { return t.array && is_time(t.array->dtype()); });
  return times ? ufunc_of_times(op, args, options) : ufunc_of_float8(op, args, options);
}

Array reduce_of_others(Op op, const Array& a, const ReduceOptions& options) {
  const bool times = is_time(a.dtype()) || (options.dtype && is_time(*options.dtype));
  return times ? reduce_of_times(op, a, options) : reduce_of_float8(op, a, options);
}

// Subtracting 1 maps NaT, the smallest int64, to the largest.
Array sort_keys(const Array& a) {
  if (is_time(a.dtype())) return ufunc(Op::subtract, {time_ticks(a), Arg(1)});
  return is_float8(a.dtype()) ? astype(a, DType::f16) : a;
}

Array from_sort_keys(const Array& keys, DType dtype) {
  if (is_time(dtype)) return as_time(ufunc(Op::add, {keys, Arg(1)}), dtype);
  return astype(keys, dtype, false);
}

}  // namespace bc
