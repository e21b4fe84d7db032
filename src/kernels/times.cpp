// datetime64 and timedelta64 in compiled functions: NumPy's rules over ticks whose unit is part of the type. The device library's
// times.h has the arithmetic.
#include "core/time_unit.h"
#include "kernels/compiler.h"
#include "primitives/ops.h"

namespace bc::kernels {
namespace {

bool is_date(const Value& v) { return v.is(Kind::time) && is_datetime(v.type->dtype); }
bool is_delta(const Value& v) { return v.is(Kind::time) && is_timedelta(v.type->dtype); }
Type delta_type(TimeUnit unit) { return scalar_type(timedelta_type(unit)); }
Type date_type(TimeUnit unit) { return scalar_type(datetime_type(unit)); }

/// The C++ that gives a time's ticks in another unit.
Code in_unit(const Code& text, TimeUnit from, TimeUnit to, bool dates) {
  if (from == to || from.base == TimeBase::generic || to.base == TimeBase::generic) return text;
  const TimeUnit day{TimeBase::day, 1}, month{TimeBase::month, 1};
  if (!dates || is_calendar(from) == is_calendar(to)) {
    const TimeFactor f = time_factor(from, to);
    return code("py::in_unit<{}, {}>({})", f.numerator, f.denominator, text);
  }
  if (is_calendar(from)) {
    const TimeFactor f = time_factor(day, to);
    return code("py::from_calendar<{}, {}, {}>({})", time_factor(from, month).numerator, f.numerator, f.denominator, text);
  }
  const TimeFactor f = time_factor(from, day);
  return code("py::to_calendar<{}, {}, {}>({})", f.numerator, f.denominator, time_factor(month, to).denominator, text);
}

}  // namespace

/// The number of a comparison's ufunc; nullopt for other operators.
std::optional<int> row_of_comparison(Operator op) {
  const auto row = [](Op o) { return std::optional(static_cast<int>(o)); };
  switch (op) {
    case Operator::eq: return row(Op::equal);
    case Operator::ne: return row(Op::not_equal);
    case Operator::lt: return row(Op::less);
    case Operator::le: return row(Op::less_equal);
    case Operator::gt: return row(Op::greater);
    case Operator::ge: return row(Op::greater_equal);
    default: return std::nullopt;
  }
}

void FunctionCompiler::no_loop_of_times(int op, const std::vector<Value>& x, const Node* n) {
  std::string types;
  for (const Value& v : x) types += (types.empty() ? "" : " and ") + v.type->spelling;
  fail(n, fmt::format("numpy.{}() does not take {}", info(static_cast<Op>(op)).name, types));
}

/// A time in the unit of another type of its kind, rounded down.
Code FunctionCompiler::time_in(const Value& v, Type to, const Node* n) {
  if (is_datetime(v.type->dtype) != is_datetime(to->dtype))
    fail(n, fmt::format("{} does not convert to {}", v.type->spelling, to->spelling), {}, "use .view(numpy.int64)");
  try {
    return in_unit(v.text, unit_of(v.type->dtype), unit_of(to->dtype), is_datetime(to->dtype));
  } catch (const Error& e) {
    fail(n, e.what());
  }
}

Value FunctionCompiler::time_constant(int64_t ticks, Type t) {
  Value v = Value::of(t, code("{}{{{}}}", cpp(t), literal(Constant{ticks}, int64_type())));
  v.simple = true;
  return v;
}

/// Converts both operands to their common unit; a whole number counts as a difference in the other operand's unit. Gives the common dtype.
DType FunctionCompiler::meet_of_times(int op, Value* x, Value* y, const Node* n) {
  const std::vector<Value> given{*x, *y};
  for (Value* v : {x, y}) {
    if (v->is(Kind::time)) continue;
    if (!v->is_scalar() || is_inexact(v->type->dtype)) no_loop_of_times(op, given, n);
    const Type t = delta_type(unit_of((v == x ? y : x)->type->dtype));
    *v = Value::of(t, code("{}{{{}}}", cpp(t), convert(*v, int64_type(), n)));
  }
  try {
    const DType common = promote(x->type->dtype, y->type->dtype);
    const TimeUnit unit = unit_of(common);
    for (Value* v : {x, y}) {
      const TimeUnit own = unit_of(v->type->dtype);
      if (is_delta(*v) && own.base != TimeBase::generic && is_calendar(own) != is_calendar(unit)) no_loop_of_times(op, given, n);
      const Type t = is_date(*v) ? date_type(unit) : delta_type(unit);
      *v = Value::of(t, time_in(*v, t, n));
    }
    return common;
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Typing) throw;
    fail(n, e.what());
  }
}

Value FunctionCompiler::sum_of_times(int op, Value x, Value y, const Node* n) {
  const bool minus = static_cast<Op>(op) == Op::subtract;
  if (minus ? is_date(y) && !is_date(x) : is_date(x) && is_date(y)) no_loop_of_times(op, {x, y}, n);
  const bool date = is_date(x) != is_date(y);
  const TimeUnit unit = unit_of(meet_of_times(op, &x, &y, n));
  const Type t = date ? date_type(unit) : delta_type(unit);
  return Value::of(t, code("py::{}<{}>({}, {})", minus ? "time_difference" : "time_sum", cpp(t), x.text, y.text));
}

Value FunctionCompiler::product_of_time(int op, const Value& x, const Value& y, const Node* n) {
  const Value &delta = is_delta(x) ? x : y, &factor = is_delta(x) ? y : x;
  if (!is_delta(delta) || !factor.is_scalar() || is_complex(factor.type->dtype)) no_loop_of_times(op, {x, y}, n);
  const Type number = is_inexact(factor.type->dtype) ? float64_type() : int64_type();
  return Value::of(delta.type, code("py::time_product({}, {}({}))", delta.text, cpp(number), convert(factor, number, n)));
}

Value FunctionCompiler::quotient_of_times(int op_number, Value x, Value y, const Node* n) {
  const Op op = static_cast<Op>(op_number);
  if (!is_delta(x) || is_date(y)) no_loop_of_times(op_number, {x, y}, n);
  if (!is_delta(y)) {
    if (!y.is_scalar() || is_bool(y.type->dtype) || is_complex(y.type->dtype) || op == Op::remainder)
      no_loop_of_times(op_number, {x, y}, n);
    const Type number = is_inexact(y.type->dtype) ? float64_type() : int64_type();
    return Value::of(x.type, code("py::time_quotient({}, {}({}))", x.text, cpp(number), convert(y, number, n)));
  }
  const Type t = scalar_type(meet_of_times(op_number, &x, &y, n));
  if (op == Op::divide) return Value::of(float64_type(), code("py::time_ratio({}, {})", x.text, y.text));
  if (op == Op::floor_divide) return Value::of(int64_type(), code("py::time_floor_ratio({}, {})", x.text, y.text));
  return Value::of(t, code("py::time_remainder({}, {})", x.text, y.text));
}

Value FunctionCompiler::compared_times(int op, Value x, Value y, const Node* n) {
  const auto number = [](const Value& v) { return v.is_scalar() && is_inexact(v.type->dtype); };
  if (is_date(x) != is_date(y) || number(x) || number(y)) {
    // Dates, differences and numbers are not equal to each other, and have no order.
    const bool unequal = static_cast<Op>(op) == Op::not_equal;
    if (!unequal && static_cast<Op>(op) != Op::equal) no_loop_of_times(op, {x, y}, n);
    return Value::of(bool_type(), unequal ? "true" : "false");
  }
  meet_of_times(op, &x, &y, n);
  const auto sign = [&] {
    switch (static_cast<Op>(op)) {
      case Op::equal: return "==";
      case Op::not_equal: return "!=";
      case Op::less: return "<";
      case Op::less_equal: return "<=";
      case Op::greater: return ">";
      default: return ">=";
    }
  };
  return Value::of(bool_type(), operation(x.text, sign(), y.text));
}

/// The function of the device library for NumPy's and Python's extremes of two times; empty for other names.
std::string_view extreme_function_of_times(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
      {"minimum", "earlier"}, {"maximum", "later"}, {"fmin", "earlier_known"}, {"fmax", "later_known"}, {"min", "min"}, {"max", "max"}};
  for (const auto& [of, function] : kFunctions)
    if (of == name) return function;
  return {};
}

Value FunctionCompiler::extreme_of_times(int op_number, Value x, Value y, const Node* n) {
  if (is_date(x) != is_date(y)) no_loop_of_times(op_number, {x, y}, n);
  const Type t = scalar_type(meet_of_times(op_number, &x, &y, n));
  return Value::of(t, code("py::{}({}, {})", extreme_function_of_times(info(static_cast<Op>(op_number)).name), x.text, y.text));
}

Value FunctionCompiler::unary_of_time(int op, const Value& x, const Node* n) {
  const auto of_delta = [&](const char* function) {
    if (!is_delta(x)) no_loop_of_times(op, {x}, n);
    return Value::of(x.type, code("py::{}({})", function, x.text));
  };
  switch (static_cast<Op>(op)) {
    case Op::isnan: return Value::of(bool_type(), code("py::is_nat({})", x.text));
    case Op::isfinite: return Value::of(bool_type(), code("!py::is_nat({})", x.text));
    case Op::abs: return of_delta("time_size");
    case Op::negative: return of_delta("time_negative");
    case Op::sign: return of_delta("time_sign");
    case Op::positive:
      if (is_delta(x)) return x;
      [[fallthrough]];
    default: no_loop_of_times(op, {x}, n);
  }
}

/// A ufunc of numbers and times, of which at least one is a time.
Value FunctionCompiler::elementwise_of_times(int op, const std::vector<Value>& given, const Node* n) {
  std::vector<Value> x = evaluated(given);
  for (Value& v : x)
    if (v.is(Kind::literal)) v = converted(v, int64_type(), n);
  if (x.size() == 1) return unary_of_time(op, x[0], n);
  if (x.size() == 2) switch (static_cast<Op>(op)) {
      case Op::add:
      case Op::subtract: return sum_of_times(op, x[0], x[1], n);
      case Op::multiply: return product_of_time(op, x[0], x[1], n);
      case Op::divide:
      case Op::floor_divide:
      case Op::remainder: return quotient_of_times(op, x[0], x[1], n);
      case Op::equal:
      case Op::not_equal:
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal: return compared_times(op, x[0], x[1], n);
      case Op::minimum:
      case Op::maximum:
      case Op::fmin:
      case Op::fmax: return extreme_of_times(op, x[0], x[1], n);
      default: break;
    }
  if (static_cast<Op>(op) == Op::clip) {
    const Value low = extreme_of_times(static_cast<int>(Op::maximum), x[0], x[1], n);
    return extreme_of_times(static_cast<int>(Op::minimum), low, x[2], n);
  }
  if (static_cast<Op>(op) == Op::where && x[0].is_scalar() && is_date(x[1]) == is_date(x[2])) {
    const Type t = scalar_type(meet_of_times(op, &x[1], &x[2], n));
    return Value::of(t, choice(truth(x[0], n).text, x[1].text, x[2].text));
  }
  no_loop_of_times(op, x, n);
}

/// The ticks of a time or an array of times; `less`: minus this, which makes NaT the largest number in place of the smallest.
Value FunctionCompiler::ticks_of_times(const Value& v, int64_t less, const Node* n) {
  return lift(
      {v},
      [less](std::span<const Value> x) {
        if (!x[0].type) return Value{};
        const Code ticks = code("({}).t", x[0].text);
        return Value::of(int64_type(), less ? code("py::wrapped_add({}, -{})", ticks, less) : ticks);
      },
      n);
}

/// Reductions of times, by way of their ticks. `reduce` is the one of numbers.
Value FunctionCompiler::reduction_of_times(const std::string& name, const Value& v, const Node* n,
                                           const std::function<Value(const std::string&, const Value&)>& reduce) {
  const Type t = v.type->element;
  // The smallest number is NaT, which minimum gives and the largest of what is known does not meet.
  const bool small = name == "min" || name == "argmin" || name == "nanmax", large = name == "max" || name == "argmax" || name == "nanmin";
  const bool sum = name == "sum" && is_timedelta(t->dtype);
  if (!small && !large && !sum && name != "any" && name != "all" && name != "count_nonzero")
    fail(n, fmt::format("{}() does not take {}", name, v.type->spelling), {}, "take the ticks: a.view(numpy.int64)");
  const Value given = v.lazy ? bound(materialise(v, n)) : v;
  const std::string plain = name.starts_with("nan") ? name.substr(3) : name;
  const Value r = reduce(plain, ticks_of_times(given, large ? 1 : 0, n));
  if (!r.type || !(finds_extreme(plain) || sum) || finds_place(plain)) return r;
  const auto back = [this, t, large](const Value& ticks) {
    return Value::of(t, large ? code("{}{{py::wrapped_add({}, 1)}}", cpp(t), ticks.text) : code("{}{{{}}}", cpp(t), ticks.text));
  };
  if (!sum) return lift({r}, [back](std::span<const Value> x) { return x[0].type ? back(x[0]) : Value{}; }, n);
  const Value nat = reduce("any", elementwise(static_cast<int>(Op::isnan), {given}, n));
  return lift(
      {nat, r},
      [this, back, t](std::span<const Value> x) {
        return x[1].type ? Value::of(t, choice(x[0].text, time_constant(kNaT, t).text, back(x[1]).text)) : Value{};
      },
      n);
}

/// A value that is to be stored in an array of times, in the array's unit, rounded down as NumPy's; without a type where it is none such.
Value FunctionCompiler::stored_time(const Value& v, Type element, const Node* n) {
  const Type from = !v.type ? nullptr : v.is_array() ? v.type->element : v.type;
  if (!from || from == element || !from->is(Kind::time) || !element->is(Kind::time)) return {};
  return can_cast(from->dtype, element->dtype, Casting::same_kind) ? cast_to(element, v, n) : Value{};
}

namespace {

/// The types of times, and whether there is something else, in arrays, tuples and lists.
void look_for_times(Type t, std::set<Type>* times, bool* others) {
  if (!t || t->is(Kind::none) || !t->has_value()) return;
  if (t->is(Kind::time))
    times->insert(t);
  else if ((t->is_array() || t->is_container()) && t->element)
    look_for_times(t->element, times, others);
  else if (t->is_tuple())
    for (Type item : t->items) look_for_times(item, times, others);
  else
    *others = true;
}

bool is_in(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// clang-format off
/// NumPy's functions that arrange, compare or find times. All others refuse them: what computes in floats would lose units and NaT.
constexpr std::string_view kOfTimes[] = {
    "zeros_like", "ones_like", "empty_like", "full", "full_like", "array", "asarray", "ascontiguousarray", "asfortranarray", "copy", "diag",
    "diagonal", "diagflat", "reshape", "ravel", "transpose", "expand_dims", "squeeze", "moveaxis", "swapaxes", "rollaxis", "broadcast_to",
    "flip", "fliplr", "flipud", "rot90", "roll", "tile", "repeat", "append", "insert", "delete", "concatenate", "stack", "hstack", "vstack",
    "dstack", "column_stack", "array_split", "split", "hsplit", "vsplit", "dsplit", "shape", "size", "ndim", "min", "max", "amin", "amax",
    "any", "all", "sum", "argmin", "argmax", "count_nonzero", "ptp", "diff", "sort", "argsort", "searchsorted", "unique", "nonzero",
    "flatnonzero", "argwhere", "take", "extract", "isin", "union1d", "intersect1d", "setdiff1d", "setxor1d", "array_equal", "nditer",
    "ndenumerate", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d", "compress", "select", "written", "time_differences",
    "mean_of_times", "median_of_times", "cumsum_of_times"};
/// Of these, what arranges the elements of several operands in a new array.
constexpr std::string_view kJoining[] = {"concatenate", "append", "stack", "hstack", "vstack", "dstack", "column_stack", "array", "union1d",
                                         "setxor1d", "select"};
constexpr std::string_view kMethodsOfTimes[] = {
    "sort", "argsort", "any", "all", "min", "max", "argmin", "argmax", "sum", "ptp", "flatten", "ravel", "reshape", "copy", "astype", "view",
    "fill", "item", "transpose", "repeat", "nonzero", "take", "searchsorted", "swapaxes", "squeeze", "diagonal", "compress", "mean",
    "cumsum", "clip"};
// clang-format on

}  // namespace

/// Fails where one of NumPy's functions gets times that it does not take. A value: the result of one that has a form of its own.
std::optional<Value> FunctionCompiler::function_of_times(const std::string& name, const CallArguments& args, const Node* n) {
  if (!name.starts_with("numpy.")) return std::nullopt;
  const std::string_view plain = std::string_view(name).substr(6);
  const auto given = std::find_if(args.positional.begin(), args.positional.end(),
                                  [](const Value& v) { return v.type && !v.is(Kind::dtype) && holds_time(v.type); });
  if (given == args.positional.end()) return std::nullopt;
  if ((plain == "nanmin" || plain == "nanmax") && args.positional.size() == 1 && args.keywords.empty() && given->is_array())
    return reduction_of_times(std::string(plain), *given, n,
                              [&](const std::string& of, const Value& x) { return host_reduction(of, x, {}, n); });
  if (given->is_array() && is_timedelta(given->type->element->dtype)) {
    // NaT counts as a time for nansum() and nanmean(), as in NumPy.
    if (plain == "nansum") return call_builtin("numpy.sum", args, n);
    for (const std::string_view function : {"mean", "nanmean", "median", "cumsum"}) {
      if (plain != function) continue;
      CallArguments all = args;
      for (Value& v : all.positional)
        if (v.lazy) v = bound(materialise(v, n));
      return *call_python(fmt::format("numpy.{}_of_times", plain == "nanmean" ? "mean" : plain), std::move(all), n);
    }
  }
  if (!is_in(plain, kOfTimes))
    fail(n, fmt::format("{}() does not take {} in compiled functions", name, given->type->spelling), {},
         "take the ticks: x.view(numpy.int64)");
  if (plain == "diff" && (args.positional.size() > 1 || !args.keywords.empty()))
    fail(n, "numpy.diff() of times takes the array alone in compiled functions", {}, "write a[1:] - a[:-1]");
  if (is_in(plain, kJoining)) {
    std::set<Type> times;
    bool others = false;
    for (const Value& v : args.positional)
      if (v.type && !(plain == "select" && &v == args.positional.data())) look_for_times(v.type, &times, &others);
    if (times.size() > 1 || (others && plain != "append"))
      fail(n, fmt::format("{}() joins times of one unit alone in compiled functions", name), {}, "convert them with .astype()");
  }
  return std::nullopt;
}

/// A method of an array of times that has a form of its own; fails for those that do not take times.
std::optional<Value> FunctionCompiler::method_of_times(const Value& self, const std::string& name, const CallArguments& args,
                                                       const Node* n) {
  if (!self.type || !self.is_array() || !self.type->element->is(Kind::time)) return std::nullopt;
  const bool sums = name == "mean" || name == "cumsum";
  if (!is_in(name, kMethodsOfTimes) || (sums && !is_timedelta(self.type->element->dtype)))
    fail(n, fmt::format(".{}() does not take {} in compiled functions", name, self.type->spelling), {},
         "take the ticks: x.view(numpy.int64)");
  if (sums) return call_builtin("numpy." + name, args.behind(self, n), n);
  return std::nullopt;
}

/// The text of a time, as NumPy's str().
Value FunctionCompiler::text_of_time(const Value& v, const Node* n) {
  constexpr const char* kNames[] = {
      "years",        "months",       "weeks",       "days",        "hours",        "minutes",     "seconds",
      "milliseconds", "microseconds", "nanoseconds", "picoseconds", "femtoseconds", "attoseconds", "generic time units"};
  const TimeUnit unit = unit_of(v.type->dtype);
  const Value time = v.simple ? v : spill(v);
  const Value ticks = Value::of(int64_type(), code("py::wrapped_product({}.t, {})", time.text, unit.count));
  const auto text_value = [](std::string text) { return Value::known(string_type(std::move(text))); };
  Value known;
  if (is_delta(v)) {
    known =
        text_of_parts({{"", ticks, 0, Value()}, {"", text_value(fmt::format(" {}", kNames[static_cast<int>(unit.base)])), 0, Value()}}, n);
  } else {
    // Weeks are days; what is finer than a second is a part of one.
    const TimeBase base = unit.base == TimeBase::week ? TimeBase::day : std::min(unit.base, TimeBase::second);
    int64_t parts = 1;
    for (int finer = static_cast<int>(TimeBase::second); finer < static_cast<int>(unit.base); ++finer) parts *= 1000;
    const Value days = unit.base == TimeBase::week ? Value::of(int64_type(), code("{} * 7", paren(ticks))) : ticks;
    known = *call_python("builtins.date_text", {{days, text_value(base_name(base)), constant_value(Constant{parts})}, {n, n, n}, {}}, n);
  }
  return Value::called(
      text_type(), choice(code("py::is_nat({})", time.text), convert(text_value("NaT"), text_type(), n), convert(known, text_type(), n)));
}

/// int64(time), time.astype(...): ticks become numbers and numbers ticks, as in NumPy; bool() is what is not 0.
Value FunctionCompiler::cast_time(Type to, const Value& v, const Node* n) {
  if (to->is(Kind::time) && v.is(Kind::time)) {
    // A type without a unit takes the time's.
    if (unit_of(to->dtype).base == TimeBase::generic)
      to = is_datetime(to->dtype) ? date_type(unit_of(v.type->dtype)) : delta_type(unit_of(v.type->dtype));
    if (is_datetime(to->dtype) != is_datetime(v.type->dtype)) return Value::of(to, code("{}{{({}).t}}", cpp(to), v.text));
    return Value::of(to, time_in(v, to, n));
  }
  if (to->is(Kind::time)) return Value::of(to, code("{}{{{}}}", cpp(to), convert(v, int64_type(), n)));
  return converted(Value::of(int64_type(), code("({}).t", v.text)), to, n);
}

/// numpy.datetime64(text or ticks or date, unit), numpy.timedelta64(ticks or difference, unit).
Value FunctionCompiler::time_of_class(Type to, const CallArguments& args, const Node* n) {
  const bool date = is_datetime(to->dtype);
  const char* name = date ? "datetime64" : "timedelta64";
  const std::vector<Value>& p = args.positional;
  if (p.size() > 2 || (p.size() == 2 && !p[1].is(Kind::string)))
    fail(n, fmt::format("numpy.{}() takes a value and a unit's name, as in numpy.{}(3, 'D')", name, name));
  if (p.size() == 2) {
    const std::optional<DType> asked = time_from_name(fmt::format("{}[{}]", name, p[1].type->name));
    if (!asked) fail(n, fmt::format("numpy.{}(): expected a unit as 'D', 'h' or '15m', got '{}'", name, p[1].type->name));
    to = scalar_type(*asked);
  }
  if (p.empty()) return time_constant(date ? kNaT : 0, to);
  const bool generic = unit_of(to->dtype).base == TimeBase::generic;
  if (p[0].is(Kind::string)) {
    const std::string& text = p[0].type->name;
    if (text == "NaT") return time_constant(kNaT, to);
    const auto parsed = date ? date_from_text(text) : std::nullopt;
    if (!parsed)
      fail(n, fmt::format("numpy.{}() does not take the text '{}' in compiled functions", name, text), {}, "make it outside and pass it");
    const Value made = time_constant(parsed->first, date_type(parsed->second));
    return generic ? made : cast_time(to, made, n);
  }
  if (p[0].is(Kind::time) && is_date(p[0]) != date)
    fail(n, fmt::format("numpy.{}() does not take {}", name, p[0].type->spelling), {}, "use .view()");
  if (p[0].is(Kind::time)) return cast_time(to, p[0], n);
  Value ticks = p[0].is(Kind::literal) ? converted(p[0], int64_type(), n) : p[0];
  if (!ticks.is_scalar() || is_inexact(ticks.type->dtype))
    fail(n, fmt::format("numpy.{}() does not take {} in compiled functions", name, p[0].type->spelling));
  if (date && generic) fail(n, "numpy.datetime64() of a number needs a unit", {}, "write numpy.datetime64(x, 'D')");
  return cast_time(to, ticks, n);
}

}  // namespace bc::kernels
