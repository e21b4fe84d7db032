// Ops on datetime64 and timedelta64: ops on int64 ticks with NumPy's rules. The result is NaT, the smallest int64, where an operand is NaT.
#include <algorithm>
#include <cstring>

#include "array/other_dtypes.h"
#include "array/record.h"
#include "array/small_host.h"
#include "core/time_unit.h"

namespace bc {
namespace {

Array add(const Array& a, const Arg& b) { return ufunc(Op::add, {a, b}); }
Array subtract(const Array& a, const Arg& b) { return ufunc(Op::subtract, {a, b}); }
Array times(const Array& a, int64_t n) { return n == 1 ? a : ufunc(Op::multiply, {a, Arg(n)}); }
Array over(const Array& a, int64_t n) { return n == 1 ? a : ufunc(Op::floor_divide, {a, Arg(n)}); }
Array either(const Array& a, const Array& b) { return ufunc(Op::bitwise_or, {a, b}); }
Array choose(const Array& condition, const Arg& yes, const Arg& no) { return ufunc(Op::where, {condition, yes, no}); }
// The same of plain ticks, which wrap around.
Array add(const Array& a, int64_t b) { return add(a, Arg(b)); }
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t subtract(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
int64_t times(int64_t a, int64_t n) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(n)); }
int64_t over(int64_t a, int64_t n) { return a / n - (a % n < 0); }
Array nat_where(const Array& condition, const Array& ticks) { return choose(condition, Arg(kNaT), ticks); }
Array nat_ticks(const Array& ticks) { return ufunc(Op::equal, {ticks, Arg(kNaT)}); }

// ---- Units ----------------------------------------------------------------------------------------------------------------------

// Days and months since 1970, in the proleptic Gregorian calendar, by years that begin in March (Hinnant, "chrono-Compatible Low-Level
// Date Algorithms", 2013). Division rounds down, so days before the epoch need no case of their own.
constexpr int64_t kDaysToEpoch = 719468;  // from 0000-03-01

template <class T>
T days_of_months(const T& months) {
  const T shifted = add(months, int64_t{1970 * 12 - 2});  // since March of year 0
  const T year = over(shifted, 12), month = subtract(shifted, times(year, 12));
  const T leap = add(subtract(over(year, 4), over(year, 100)), over(year, 400));
  return add(add(times(year, 365), leap), add(over(add(times(month, 153), int64_t{2}), 5), -kDaysToEpoch));
}

template <class T>
T months_of_days(const T& days) {
  const T z = add(days, kDaysToEpoch), era = over(z, 146097), of_era = subtract(z, times(era, 146097));
  const T year_of_era = over(subtract(add(subtract(of_era, over(of_era, 1460)), over(of_era, 36524)), over(of_era, 146096)), 365);
  const T leap = subtract(over(year_of_era, 4), over(year_of_era, 100));
  const T of_year = subtract(of_era, add(times(year_of_era, 365), leap));
  const T month = over(add(times(of_year, 5), int64_t{2}), 153);  // since March
  return add(times(add(year_of_era, times(era, 400)), 12), add(month, -int64_t{1970 * 12 - 2}));
}

template <class T>
T scaled(const T& ticks, TimeFactor f) {
  return over(times(ticks, f.numerator), f.denominator);
}

/// How ticks of one unit become those of another: scaled, and through the calendar where only one unit counts years or months.
struct UnitChange {
  enum class Calendar { none, to_days, to_months };
  Calendar calendar = Calendar::none;
  TimeFactor first, then;

  template <class T>
  T operator()(const T& ticks) const {
    switch (calendar) {
      case Calendar::to_days: return scaled(days_of_months(scaled(ticks, first)), then);
      case Calendar::to_months: return scaled(months_of_days(scaled(ticks, first)), then);
      default: return scaled(ticks, first);
    }
  }
};

UnitChange unit_change(TimeUnit from, TimeUnit to, bool dates) {
  const TimeUnit day{TimeBase::day, 1}, month{TimeBase::month, 1};
  if (!dates || is_calendar(from) == is_calendar(to)) return {UnitChange::Calendar::none, time_factor(from, to), {1, 1}};
  if (is_calendar(from)) return {UnitChange::Calendar::to_days, time_factor(from, month), time_factor(day, to)};
  return {UnitChange::Calendar::to_months, time_factor(from, day), time_factor(month, to)};
}

/// Converts ticks of one unit to another, rounded down.
Array in_unit(const Array& ticks, TimeUnit from, TimeUnit to, bool dates) {
  if (from == to || from.base == TimeBase::generic || to.base == TimeBase::generic) return ticks;
  const UnitChange change = unit_change(from, to, dates);
  if (change.calendar == UnitChange::Calendar::none && change.first.numerator == 1 && change.first.denominator == 1) return ticks;
  const auto one = [](int64_t v, const void* how) { return v == kNaT ? v : (*static_cast<const UnitChange*>(how))(v); };
  if (std::optional<Array> few = map_small(ticks, one, &change)) return *few;
  return nat_where(nat_ticks(ticks), change(ticks));
}

// ---- Operands -------------------------------------------------------------------------------------------------------------------

/// An operand: ticks of a time, or a number.
struct Ticks {
  Array values;
  DType dtype = DType::i64;
  bool time() const { return is_time(dtype); }
  bool date() const { return is_datetime(dtype); }
  bool delta() const { return is_timedelta(dtype); }
  /// Integers and booleans, which count as time differences in the other operand's unit.
  bool whole() const { return !time() && !is_inexact(dtype); }
};

/// `beside_few`: the other operand is computed at once if it can be, and so is this one.
Ticks operand_of(const Term& t, Device device, bool beside_few = false) {
  if (t.array) return {is_time(t.array->dtype()) ? time_ticks(*t.array) : *t.array, t.array->dtype()};
  const DType dtype = default_dtype(t.weak);
  if (beside_few && t.weak == Weak::integer && t.value.dtype == DType::i64) {
    Element element{DType::i64};
    std::memcpy(element.bytes, &t.value.i, sizeof(int64_t));
    return {array_of_one(element), dtype};
  }
  return {full(Dims(), t.value, dtype, device), dtype};
}

[[noreturn]] void no_loop(Op op, std::span<const Ticks> x) {
  const auto name = [](DType t) { return info(t).typestr; };
  if (x.size() == 2)
    raise(ErrorKind::UFuncTypeError, "ufunc '{}' cannot use operands with types dtype('{}') and dtype('{}')", info(op).name,
          name(x[0].dtype), name(x[1].dtype));
  std::string types;
  for (const Ticks& o : x) types += (types.empty() ? "" : ", ") + std::string(info(o.dtype).name);
  raise(ErrorKind::UFuncTypeError, "ufunc '{}' not supported for the input types, got {}", info(op).name, types);
}

/// Converts both operands to their common unit; a number takes the other operand's unit. Returns the common dtype.
DType meet(Op op, Ticks* x, Ticks* y) {
  if ((!x->time() && !x->whole()) || (!y->time() && !y->whole())) no_loop(op, std::array{*x, *y});
  for (Ticks* o : {x, y}) {
    if (o->time()) continue;
    o->values = astype(o->values, DType::i64, false);
    o->dtype = timedelta_type(unit_of(o == x ? y->dtype : x->dtype));
  }
  const DType common = promote(x->dtype, y->dtype);
  for (Ticks* o : {x, y})
    BC_CHECK(!o->delta() || unit_of(o->dtype).base == TimeBase::generic || is_calendar(unit_of(o->dtype)) == is_calendar(unit_of(common)),
             UFuncTypeError, "Cannot cast ufunc '{}' input from dtype('{}') to dtype('{}') with casting rule 'same_kind'", info(op).name,
             info(o->dtype).typestr, info(timedelta_type(unit_of(common))).typestr);
  for (Ticks* o : {x, y}) o->values = in_unit(o->values, unit_of(o->dtype), unit_of(common), o->date());
  return common;
}

Array nat_of_either(const Ticks& x, const Ticks& y) { return either(nat_ticks(x.values), nat_ticks(y.values)); }

/// Divides integers, rounding towards zero; NaT where the divisor is 0.
Array truncated(const Array& a, const Array& b) {
  const Array size = ufunc(Op::floor_divide, {ufunc(Op::abs, {a}), ufunc(Op::abs, {b})});
  const Array negative = ufunc(Op::not_equal, {ufunc(Op::less, {a, Arg(0)}), ufunc(Op::less, {b, Arg(0)})});
  return nat_where(either(nat_ticks(a), ufunc(Op::equal, {b, Arg(0)})), choose(negative, ufunc(Op::negative, {size}), size));
}

/// A time difference multiplied or divided by floats, truncated to whole ticks. NaN becomes NaT, because its cast to int64 is the smallest
/// int64.
Array by_floats(Op op, const Ticks& delta, const Array& factor) {
  const Array r = astype(ufunc(op, {astype(delta.values, DType::f64), factor}), DType::i64);
  return nat_where(nat_ticks(delta.values), r);
}

/// The sum or the difference of two ticks; NaT where one of them is.
int64_t sum_of_ticks(int64_t x, int64_t y, Op op) {
  if (x == kNaT || y == kNaT) return kNaT;
  return op == Op::subtract ? subtract(x, y) : add(x, y);
}

/// Tells whether two ticks compare so; NaT is unequal to all.
int64_t compare_ticks(int64_t x, int64_t y, Op op) {
  if (x == kNaT || y == kNaT) return op == Op::not_equal;
  switch (op) {
    case Op::equal: return x == y;
    case Op::not_equal: return x != y;
    case Op::less: return x < y;
    case Op::less_equal: return x <= y;
    case Op::greater: return x > y;
    default: return x >= y;
  }
}

Array sum_of(Op op, Ticks x, Ticks y) {
  const bool minus = op == Op::subtract;
  if (minus ? (y.date() && !x.date()) : (x.date() && y.date())) no_loop(op, std::array{x, y});
  const bool dates = x.date() || y.date(), difference = x.date() && y.date();
  const DType common = meet(op, &x, &y);
  const std::optional<Array> few = zip_small(x.values, y.values, DType::i64, sum_of_ticks, op);
  const Array ticks = few ? *few : nat_where(nat_of_either(x, y), ufunc(op, {x.values, y.values}));
  return as_time(ticks, dates && !difference ? datetime_type(unit_of(common)) : timedelta_type(unit_of(common)));
}

Array product_of(Op op, const Ticks& x, const Ticks& y) {
  const Ticks &delta = x.time() ? x : y, &factor = x.time() ? y : x;
  if (!delta.delta() || factor.time() || is_complex(factor.dtype)) no_loop(op, std::array{x, y});
  if (is_inexact(factor.dtype)) return as_time(by_floats(op, delta, factor.values), delta.dtype);
  const Array ticks = ufunc(op, {delta.values, astype(factor.values, DType::i64, false)});
  return as_time(nat_where(nat_ticks(delta.values), ticks), delta.dtype);
}

Array quotient_of(Op op, Ticks x, Ticks y) {
  if (!x.delta() || y.date()) no_loop(op, std::array{x, y});
  if (!y.time()) {
    if (is_bool(y.dtype) || is_complex(y.dtype) || op == Op::remainder) no_loop(op, std::array{x, y});
    if (is_inexact(y.dtype)) return as_time(by_floats(Op::divide, x, y.values), x.dtype);
    return as_time(truncated(x.values, astype(y.values, DType::i64, false)), x.dtype);
  }
  const DType common = meet(op, &x, &y);
  const Array nat = nat_of_either(x, y), r = ufunc(op, {x.values, y.values});
  if (op == Op::divide) return choose(nat, Arg(__builtin_nan("")), r);
  if (op == Op::floor_divide) return choose(nat, Arg(0), r);
  return as_time(nat_where(either(nat, ufunc(Op::equal, {y.values, Arg(0)})), r), common);
}

Array comparison_of(Op op, Ticks x, Ticks y) {
  if (x.date() != y.date()) no_loop(op, std::array{x, y});
  meet(op, &x, &y);
  if (std::optional<Array> few = zip_small(x.values, y.values, DType::b1, compare_ticks, op)) return *few;
  const Array nat = nat_of_either(x, y), r = ufunc(op, {x.values, y.values});
  return op == Op::not_equal ? either(r, nat) : ufunc(Op::bitwise_and, {r, ufunc(Op::logical_not, {nat})});
}

Array extreme_of(Op op, Ticks x, Ticks y) {
  if (x.date() != y.date()) no_loop(op, std::array{x, y});
  const DType common = meet(op, &x, &y);
  // NaT is the smallest number, so minimum returns it and fmax does not.
  const bool most = op == Op::maximum || op == Op::fmax;
  Array r = ufunc(most ? Op::maximum : Op::minimum, {x.values, y.values});
  if (op == Op::maximum) r = nat_where(nat_of_either(x, y), r);
  if (op == Op::fmin) r = choose(nat_ticks(x.values), y.values, choose(nat_ticks(y.values), x.values, r));
  return as_time(r, common);
}

Array unary(Op op, const Ticks& x) {
  const Array nat = nat_ticks(x.values);
  switch (op) {
    case Op::isnan: return nat;
    case Op::isfinite: return ufunc(Op::logical_not, {nat});
    case Op::isinf: return ufunc(Op::bitwise_and, {nat, Arg(Weak::boolean, Scalar::boolean(false))});
    default: break;
  }
  // The absolute value and the negative of NaT, the smallest int64, are NaT again.
  if (!x.delta() || (op != Op::abs && op != Op::negative && op != Op::positive && op != Op::sign)) no_loop(op, {&x, 1});
  return as_time(ufunc(op, {x.values}), x.dtype);
}

Array binary(Op op, const Ticks& x, const Ticks& y) {
  switch (op) {
    case Op::add:
    case Op::subtract: return sum_of(op, x, y);
    case Op::multiply: return product_of(op, x, y);
    case Op::divide:
    case Op::floor_divide:
    case Op::remainder: return quotient_of(op, x, y);
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal: return comparison_of(op, x, y);
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin: return extreme_of(op, x, y);
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor: return ufunc(op, {astype(x.values, DType::b1), astype(y.values, DType::b1)});
    default: no_loop(op, std::array{x, y});
  }
}

}  // namespace

Array time_ticks(const Array& a) { return a.seen_as(DType::i64, a.layout()); }
Array as_time(const Array& ticks, DType dtype) { return ticks.seen_as(dtype, ticks.layout()); }
Array is_nat(const Array& a) {
  BC_CHECK(is_time(a.dtype()), UFuncTypeError, "ufunc 'isnat' is only defined for np.datetime64 and np.timedelta64.");
  return nat_ticks(time_ticks(a));
}

Array cast_time(const Array& a, DType dtype) {
  const DType from = a.dtype();
  if (!is_time(from)) return as_time(astype(is_float8(from) ? astype(a, DType::f32) : a, DType::i64), dtype);
  if (!is_time(dtype)) return astype(time_ticks(a), dtype);
  // A generic time takes the unit that it is made of.
  if (unit_of(dtype).base == TimeBase::generic) dtype = is_datetime(dtype) ? datetime_type(unit_of(from)) : timedelta_type(unit_of(from));
  // Between dates and differences NumPy keeps the number, whatever the units.
  const bool same_kind = is_datetime(from) == is_datetime(dtype);
  const Array ticks = same_kind ? in_unit(time_ticks(a), unit_of(from), unit_of(dtype), is_datetime(from)) : time_ticks(a);
  return as_time(ticks.storage() == a.storage() ? copy(ticks, 'K') : ticks, dtype);
}

Array ufunc_of_times(Op op, std::span<const Term> args, const UfuncOptions& options) {
  BC_CHECK(!options.dtype || info(op).result == Result::SAME, UFuncTypeError,
           "No loop matching the specified signature and casting was found for ufunc {}", info(op).name);
  Device device = options.out ? options.out.device() : options.device.value_or(default_device());
  for (const Term& t : args)
    if (t.array) device = t.array->device();
  Array r;
  if (op == Op::where) {
    Array condition = args[0].array ? *args[0].array : full(Dims(), args[0].value, DType::b1, device);
    if (is_time(condition.dtype())) condition = time_ticks(condition);
    const auto is_array_of_times = [](const Term& t) { return t.array && is_time(t.array->dtype()); };
    if (is_array_of_times(args[1]) && is_array_of_times(args[2]) &&
        is_datetime(args[1].array->dtype()) != is_datetime(args[2].array->dtype())) {
      // NumPy promotes a date and a difference to dates, and casts both.
      const DType common = promote_time(args[1].array->dtype(), args[2].array->dtype());
      const auto ticks = [&](const Term& t) { return time_ticks(astype(*t.array, common, false)); };
      r = as_time(choose(condition, ticks(args[1]), ticks(args[2])), common);
    } else {
      Ticks x = operand_of(args[1], device), y = operand_of(args[2], device);
      if (x.date() != y.date()) no_loop(op, std::array{x, y});
      const DType common = meet(op, &x, &y);
      r = as_time(choose(condition, x.values, y.values), common);
    }
  } else if (op == Op::clip) {
    // Numbers are first compared as numbers: they have no unit of time.
    const Array low = ufunc(Op::maximum, args.first(2), UfuncOptions());
    r = ufunc(Op::minimum, std::array{Term{&low}, args[2]}, UfuncOptions());
  } else if (args.size() == 1) {
    r = unary(op, operand_of(args[0], device));
  } else {
    BC_CHECK(args.size() == 2, UFuncTypeError, "ufunc '{}' not supported for times", info(op).name);
    constexpr int64_t kFew = 256;
    const bool few = std::all_of(args.begin(), args.end(), [&](const Term& t) { return !t.array || t.array->size() <= kFew; });
    const bool beside_few = few && traits(device).on_host;
    r = binary(op, operand_of(args[0], device, beside_few), operand_of(args[1], device, beside_few));
  }
  if (options.dtype) r = astype(r, *options.dtype, false, Casting::same_kind);
  return deliver_ufunc(op, r, options);
}

void check_fold_of_times(Op op, DType operand, std::optional<DType> asked) {
  const bool unit = asked && is_time(*asked) && unit_of(*asked).base != TimeBase::generic;
  BC_CHECK(is_time(operand) && !unit, Type, "{}: expected a dtype without a unit of time, got {}", info(op).name, info(*asked).name);
}

Array reduce_of_times(Op op, const Array& a, const ReduceOptions& options) {
  const DType t = a.dtype();
  check_fold_of_times(op, t, options.dtype);
  const Ticks whole{time_ticks(a), t};
  ReduceOptions rest = options;
  rest.out = Array(), rest.dtype = std::nullopt;
  if (rest.initial) stored(*rest.initial, t, a.device());  // which refuses numbers that are no whole ticks
  if (rest.initial && rest.initial->array) {
    const DType start = rest.initial->array.dtype();
    const Array ticks = astype(rest.initial->array, is_time(start) || is_timedelta(t) ? t : start);
    rest.initial = Arg(is_time(ticks.dtype()) ? time_ticks(ticks) : ticks);
  }
  ReduceOptions plain{.axes = options.axes, .keepdims = options.keepdims};
  plain.where = options.where;
  const Array& ticks = whole.values;
  const auto has_nat = [&] { return reduce(Op::reduce_any, nat_ticks(ticks), plain); };
  Array r;
  bool time = true;
  switch (op) {
    case Op::reduce_sum:
      if (!is_timedelta(t)) no_loop(Op::add, std::array{whole, whole});
      r = reduce(op, ticks, rest);
      if (rest.initial && rest.initial->array) r = nat_where(nat_ticks(rest.initial->array), r);
      r = nat_where(has_nat(), r);
      break;
    case Op::reduce_mean: {
      if (!is_timedelta(t)) no_loop(Op::add, std::array{whole, whole});
      const Array ones = ufunc(Op::bitwise_or, {nat_ticks(ticks), Arg(Weak::boolean, Scalar::boolean(true))});
      r = nat_where(has_nat(), truncated(reduce(Op::reduce_sum, ticks, plain), reduce(Op::reduce_count_nonzero, ones, plain)));
      break;
    }
    // NaT is the smallest number, so min returns it. For max, 1 is subtracted first: NaT wraps around to the largest number.
    case Op::reduce_min:
    case Op::reduce_fmax: r = reduce(op == Op::reduce_min ? op : Op::reduce_max, ticks, rest); break;
    case Op::reduce_max:
    case Op::reduce_fmin: {
      if (rest.initial) rest.initial = Arg(subtract(stored(*rest.initial, DType::i64, a.device()), Arg(1)));
      r = add(reduce(op == Op::reduce_max ? op : Op::reduce_min, subtract(ticks, Arg(1)), rest), Arg(1));
      break;
    }
    case Op::reduce_argmin: r = reduce(op, ticks, rest), time = false; break;
    case Op::reduce_argmax: r = reduce(op, subtract(ticks, Arg(1)), rest), time = false; break;
    case Op::reduce_any:
    case Op::reduce_all:
    case Op::reduce_count_nonzero: r = reduce(op, ticks, rest), time = false; break;
    case Op::reduce_prod: no_loop(Op::multiply, std::array{whole, whole});
    default: no_loop(op, {&whole, 1});
  }
  if (time) r = as_time(r, t);
  // Sums and means stay times.
  const bool extreme = op != Op::reduce_sum && op != Op::reduce_mean;
  if (options.dtype && !is_time(*options.dtype) && time && extreme) r = astype(r, *options.dtype, false);
  return deliver_reduced(info(op).name, r, options.out);
}

}  // namespace bc
