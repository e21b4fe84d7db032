// What functions compiled for the CPU may do beyond kernels: arrays that own memory, reductions, methods, indices that are arrays. The
// templates that the text calls are in src/device/python/host*.h.
#include "kernels/host.h"

#include <algorithm>
#include <functional>

#include "kernels/compiler.h"
#include "primitives/ops.h"

namespace bc::kernels {
namespace {

/// Whether an integer type holds a value.
bool fits(int64_t value, DType t) {
  if (is_unsigned(t)) return value >= 0 && (itemsize(t) == 8 || value >> (8 * itemsize(t)) == 0);
  const int unused = 64 - 8 * itemsize(t);
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused == value;
}

}  // namespace

DType sum_dtype(DType d) {
  if (is_inexact(d)) return d;
  return is_unsigned(d) ? DType::u64 : DType::i64;
}

// ---- expressions that memory is made for ------------------------------------------------------------------------------------------

/// The element of an array expression as a lambda, and its operands.
Code FunctionCompiler::host_lambda(const LazyArray& lazy, Type result, Code* leaves, const Node* n) {
  std::vector<Value> elements;
  Code parameters;
  for (const Value& leaf : lazy.leaves) {
    const std::string e = temporary("e");
    parameters += code("{}const {} {}", parameters.empty() ? "" : ", ", cpp(leaf.type->element), e);
    Value v = Value::of(leaf.type->element, e);
    v.simple = true;
    elements.push_back(v);
    *leaves += ", " + leaf.text;
  }
  const bool outside = std::exchange(in_elements_, true);
  Code text;
  const Block lines = captured([&] { text = convert(lazy.element(elements), result, n); });
  in_elements_ = outside;
  if (lines.empty()) return code("[&]({}) -> {} {{ return {}; }}", parameters, cpp(result), text);
  return code("[&]({}) -> {} {{\n{}{}return {};\n{}}}", parameters, cpp(result), lines,
              std::string(static_cast<size_t>(2 * depth_ + 2), ' '), text, std::string(static_cast<size_t>(2 * depth_), ' '));
}

/// The row of an operator on arrays: there NumPy's types hold, not those of numbers (int8 * int8 is int8).
std::optional<int> FunctionCompiler::host_operator(Operator op, const Value& a, const Value& b) const {
  const auto row = [](Op o) { return std::optional<int>(static_cast<int>(o)); };
  switch (op) {
    case Operator::add: return row(Op::add);
    case Operator::sub: return row(Op::subtract);
    case Operator::mul: return row(Op::multiply);
    case Operator::div: return row(Op::divide);
    case Operator::floor_div: return row(Op::floor_divide);
    case Operator::mod: return row(Op::remainder);
    case Operator::bit_and: return row(Op::bitwise_and);
    case Operator::bit_or: return row(Op::bitwise_or);
    case Operator::bit_xor: return row(Op::bitwise_xor);
    case Operator::left_shift: return row(Op::left_shift);
    case Operator::right_shift: return row(Op::right_shift);
    case Operator::pow:
      // Small powers of floats are products.
      if (b.integer() && is_inexact(a.type->dtype)) return std::nullopt;
      return row(Op::power);
    default: return std::nullopt;
  }
}

/// Constants beside arrays take the arrays' type where that holds their kind, as in NumPy 2: float32 * 2.0 is float32.
std::vector<Value> FunctionCompiler::host_weak(int op, const std::vector<Value>& args, const Node* n) {
  std::vector<OperandType> operands;
  bool any = false;
  for (const Value& v : args) {
    Weak weak = Weak::none;
    if (!v.is_array() && v.constant) {
      const auto& c = v.constant->value;
      weak = std::holds_alternative<bool>(c)                   ? Weak::boolean
             : std::holds_alternative<int64_t>(c)              ? Weak::integer
             : std::holds_alternative<double>(c)               ? Weak::real
             : std::holds_alternative<std::complex<double>>(c) ? Weak::complex
                                                               : Weak::none;
    }
    any |= weak != Weak::none;
    if (!v.is_array() && !v.is_scalar()) return args;
    operands.push_back({v.type->dtype, weak});
  }
  if (!any) return args;
  bc::Loop loop{};
  try {
    loop = resolve(static_cast<Op>(op), operands);
  } catch (const Error&) {
    return args;  // the elements' own message is better
  }
  std::vector<Value> out = args;
  for (size_t i = 0; i < args.size(); ++i) {
    if (operands[i].weak == Weak::none) continue;
    expect_fits(args[i], scalar_type(loop.in[i]), n);
    out[i] = converted(args[i], scalar_type(loop.in[i]), n);
  }
  return out;
}

void FunctionCompiler::expect_fits(const Value& v, Type to, const Node* n) const {
  if (!host() || !to->is_scalar() || !is_integer(to->dtype) || (v.constant && v.constant->wraps) ||
      !(v.is(Kind::literal) || v.type == int64_type()))
    return;
  if (const auto whole = v.integer(); whole && !fits(*whole, to->dtype))
    fail(n, fmt::format("the integer {} is out of bounds for {}", *whole, to->spelling), {}, "convert the array with astype()");
}

/// An array expression as a new array; other values stay.
Value FunctionCompiler::materialise(const Value& v, const Node* n) {
  if (!v.lazy || !host()) return v;
  Code leaves;
  const Code f = host_lambda(*v.lazy, v.type->element, &leaves, n);
  const Type t = array_type(v.type->element, v.type->ndim, 'C');
  return Value::called(t, code("py::map<{}, {}>({}{})", cpp(t->element), t->ndim, f, leaves));
}

/// out[…] = value, as one loop.
void FunctionCompiler::host_assign(const Value& out, const Value& value, const Node* n) {
  Code leaves;
  const LazyArray lazy = as_lazy(value);
  for (const Value& leaf : lazy.leaves)
    if (leaf.type->ndim > out.type->ndim)
      fail(n, fmt::format("an array of {} dimensions does not broadcast to {}", leaf.type->ndim, out.type->ndim));
  const Code f = host_lambda(lazy, out.type->element, &leaves, n);
  linef("py::assign({}, {}{});", out.text, f, leaves);
}

Value FunctionCompiler::host_array(const Value& v, const Node* n) {
  if (!v.is_array()) fail(n, fmt::format("expected an array, got {}", v.type ? v.type->spelling : "an unknown type"));
  return bound(materialise(v, n), "v");
}

/// The elements in C order as a vector: a view where they lie so.
Value FunctionCompiler::raveled(const Value& v, const Node* n) {
  const Value a = host_array(v, n);
  if (a.type->ndim == 1) return a;
  unit_.need("host_numpy");
  return bound(Value::called(array_type(a.type->element, 1, 'C', a.type->read_only),
                             code("py::reshape<1>({}, py::Tuple<i64, 1>{{{{-1}}}})", a.text)),
               "v");
}

/// The shape of an array, as the device library takes it.
Code FunctionCompiler::shape_text(const Value& array) {
  return array.type->ndim == 0 ? code("py::Tuple<i64, 0>{{}}") : code("{}.shape", array.text);
}

/// A whole number (an axis, a count, an index) as C++ text.
Code FunctionCompiler::whole_number(const Value& v, const char* what, const Node* n) {
  const Value x = v.is_array() && v.type->ndim == 0 ? scalar_of(v, n) : present(v, n);
  if (!(x.is(Kind::literal) || (x.is_scalar() && !is_inexact(x.type->dtype))))
    fail(n, fmt::format("{} must be an integer, not {}", what, x.type ? x.type->spelling : "an unknown type"));
  return convert(x, int64_type(), n);
}

// ---- reductions -------------------------------------------------------------------------------------------------------------------

namespace {

bool adds_up(const std::string& name) { return name == "sum" || name == "prod" || name == "mean"; }

/// The type of a reduction's result, where none is asked for.
DType reduced_dtype(const std::string& name, DType d) {
  if (name == "any" || name == "all") return DType::b1;
  if (finds_place(name) || name == "count_nonzero") return DType::i64;
  if (name == "sum" || name == "prod") return sum_dtype(d);
  if (!averages(name)) return d;
  if (!is_inexact(d)) return DType::f64;
  return name == "mean" ? d : real_type(d);
}

}  // namespace

/// The options of a reduction. `rest`: by name, as library_arguments gives them.
FunctionCompiler::ReductionOptions FunctionCompiler::reduction_options(const std::string& name, const CallArguments& rest, const Node* n) {
  ReductionOptions o;
  for (const auto& [key, value] : rest.keywords) {
    if (key == "axis") {
      o.axis = value;
    } else if (key == "dtype") {
      o.dtype = value;
    } else if (key == "ddof") {
      o.ddof = value;
    } else if (key == "keepdims") {
      const bool* known = value.constant ? value.constant->boolean() : nullptr;
      if (!known) fail(n, fmt::format("{}(): keepdims must be known when the function is compiled", name));
      o.keepdims = *known;
    } else {
      fail(n, fmt::format("{}() takes no argument '{}' in compiled functions", name, key));
    }
  }
  if (!rest.positional.empty()) fail(n, fmt::format("{}() takes fewer arguments in compiled functions", name));
  return o;
}

/// The type that a reduction of `v` is to give, as `dtype` asks for it.
DType FunctionCompiler::wanted_dtype(const std::string& name, const Value& v, const Value& dtype, DType otherwise, const Node* n) {
  if (!dtype.type) return otherwise;
  const Type wanted = host_dtype(dtype, scalar_type(otherwise), n);
  if (!wanted->is_scalar() || (is_complex(v.type->dtype) && !is_complex(wanted->dtype)))
    fail(n, fmt::format("{}(): {} does not become {}", name, v.type->spelling, wanted->spelling));
  if (averages(name) && !is_inexact(wanted->dtype))
    fail(n, fmt::format("{}() computes in floating point, not in {}", name, wanted->spelling), {},
         "leave dtype out and convert the result");
  return wanted->dtype;
}

Value FunctionCompiler::host_reduction(const std::string& name, const Value& given, const CallArguments& rest, const Node* n) {
  if (!given.type) return {};
  const Value v = given.is_array() ? given : array_operand(given, true, name, "a", n);
  if (v.type->element->is(Kind::time))
    return reduction_of_times(name, v, n, [&](const std::string& plain, const Value& x) { return host_reduction(plain, x, rest, n); });
  ReductionOptions o = reduction_options(name, rest, n);
  const bool place = finds_place(name);
  if (place && o.axis.is(Kind::tuple)) fail(n, fmt::format("{}(): the axis must be an integer, not {}", name, o.axis.type->spelling));
  if (o.keepdims) {
    CallArguments plain = rest;
    std::erase_if(plain.keywords, [](const auto& k) { return k.first == "keepdims"; });
    return kept_axes(v, o.axis, host_reduction(name, v, plain, n), n);
  }
  if (is_characters(v.type->element) && finds_extreme(name) && !(o.axis.type && !o.axis.is_none())) {
    const Value place_of = *call_python(fmt::format("array.{}_of_texts", name.ends_with("max") ? "argmax" : "argmin"), {{v}, {n}, {}}, n);
    return place ? place_of : subscript_of(raveled(v, n), spill(place_of), n);
  }
  if (!v.type->element->is_scalar()) fail(n, fmt::format("{}() does not take {}", name, v.type->spelling));
  if (place && is_complex(v.type->dtype)) fail(n, fmt::format("{}() does not take complex numbers", name));
  const Type t = scalar_type(wanted_dtype(name, v, o.dtype, reduced_dtype(name, v.type->dtype), n));
  const Code freedom = o.ddof.type ? convert(o.ddof, float64_type(), n) : "0.0";
  if (o.axis.type && !o.axis.is_none() && v.type->ndim == 0) {
    if (averages(name) || !o.axis.integer() || *o.axis.integer() < -1 || *o.axis.integer() > 0)
      fail(n, fmt::format("{}(): the axis is out of bounds for an array without dimensions", name));
    o.axis = {};
  }
  if (o.axis.is(Kind::tuple)) return reduced_axes(name, v, o.axis, rest, n);
  return o.axis.type && !o.axis.is_none() ? reduced_axis(name, v, o.axis, t, freedom, n) : reduced_whole(name, v, t, freedom, n);
}

/// A reduction over one axis.
Value FunctionCompiler::reduced_axis(const std::string& name, const Value& v, const Value& axis, Type t, const Code& freedom,
                                     const Node* n) {
  const bool argument = finds_place(name);
  const Value a = host_array(v, n);
  const Code along = whole_number(axis, "an axis", n), element = cpp(v.type->element), result = cpp(t);
  if (finds_extreme(name)) {
    unit_.need("host_numpy");
    linef("py::expect_elements({0}.shape[py::axis_of({1}, {2})], {3});", a.text, along, a.type->ndim, argument ? "true" : "false");
  }
  Code red, finish = "s";
  if (adds_up(name)) {
    red = code("py::{}<{}, acc_t<{}>>", name == "prod" ? "Product" : "Sum", element, result);
    const char* const state = name == "prod" ? "s" : "py::from_zero(s)";
    finish = name == "mean"
                 ? code("cast<{}>(mean_of({}, double({}.shape[py::axis_of({}, {})])))", result, state, a.text, along, a.type->ndim)
                 : code("cast<{}>({})", result, state);
  } else if (name == "var" || name == "std") {
    red = code("py::Moments<{0}, {0}>", element);
    const Code variance = code("var_finish(s, {})", freedom);
    finish = code("cast<{}>({})", result, name == "var" ? variance : code("sqrt({})", variance));
  } else if (finds_extreme(name)) {
    red = code("py::{1}{2}<{0}, {0}>", element, argument ? "Arg" : "", name.ends_with("max") ? "Maximum" : "Minimum");
    if (argument) finish = "s.index";
  } else {
    red = code("py::{1}<{0}, {0}>", element, name == "any" ? "AnyOf" : name == "all" ? "AllOf" : "Count");
  }
  const Type made = array_type(t, a.type->ndim - 1, 'C');
  Value r = Value::of(made, code("py::reduce_axis<{}, {}>({}, {}, [&](auto s) {{ return {}; }})", red, result, a.text, along, finish));
  r.note(kActs);
  // Of a vector: a number.
  return a.type->ndim == 1 ? subscript_of(spill(r), tuple_of({}), n) : r;
}

/// A reduction of all elements.
Value FunctionCompiler::reduced_whole(const std::string& name, const Value& v, Type t, const Code& freedom, const Node* n) {
  const bool argument = finds_place(name);
  const auto lazy = lazy_of(v);
  Code leaves;
  const Code f = v.lazy ? host_lambda(*lazy, v.type->element, &leaves, n) : code("py::Same{{}}"), result = cpp(t);
  if (!v.lazy) leaves = ", " + lazy->leaves[0].text;
  const int ndim = v.type->ndim;
  Value r = Value::of(t, "");
  if (adds_up(name))
    r.text = code("py::{}<{}, {}>({}{})", name == "prod" ? "product" : name, result, ndim, f, leaves);
  else if (name == "var")
    r.text = code("py::variance<{}, {}>({}, {}{})", result, ndim, freedom, f, leaves);
  else if (name == "std")
    r.text = code("cast<{}>(sqrt(py::variance<double, {}>({}, {}{})))", result, ndim, freedom, f, leaves);
  else if (finds_extreme(name))
    r.text = code("py::{}{}<{}>({}{}){}", name.ends_with("max") ? "largest" : "smallest", argument ? "_at" : "", ndim, f, leaves,
                  argument ? ".index" : "");
  else
    r.text = code("py::fold<py::{}, {}>({}{})", name == "any" ? "AnyOf" : name == "all" ? "AllOf" : "Count", ndim, f, leaves);
  r.note(kActs);  // it may raise, and is not to be done twice
  r = spill(r, "r");
  r.non_negative = argument || is_unsigned(t->dtype) || is_bool(t->dtype) || name == "count_nonzero";
  r.index = argument || name == "count_nonzero";
  return r;
}

/// A reduction over several axes: these become one, which is the last.
Value FunctionCompiler::reduced_axes(const std::string& name, const Value& v, const Value& axes, const CallArguments& rest, const Node* n) {
  std::set<int64_t> named;
  for (const Value& i : index_items(axes)) {
    if (!i.integer()) fail(n, fmt::format("{}(): a tuple of axes must be known when the function is compiled", name));
    const int64_t at = *i.integer() < 0 ? *i.integer() + v.type->ndim : *i.integer();
    if (at < 0 || at >= v.type->ndim) fail(n, fmt::format("{}(): axis {} is out of bounds", name, *i.integer()));
    if (!named.insert(at).second) fail(n, fmt::format("{}(): an axis is named twice", name));
  }
  if (named.empty()) fail(n, fmt::format("{}() needs at least one axis in compiled functions", name));
  const auto whole = [this](int64_t i) { return constant_value(Constant{i}); };
  CallArguments one = rest;
  std::erase_if(one.keywords, [](const auto& k) { return k.first == "axis"; });
  if (named.size() == 1) {
    one.keywords.emplace_back("axis", whole(*named.begin()));
    return host_reduction(name, v, one, n);
  }
  if (static_cast<int>(named.size()) == v.type->ndim) return host_reduction(name, v, one, n);
  std::vector<Value> from;
  for (const int64_t at : named) from.push_back(whole(at));
  const Value a = *call_python("array.merged", {{host_array(v, n), tuple_of(from)}, {n, n}, {}}, n);
  if (!a.type) return {};
  one.keywords.emplace_back("axis", whole(-1));
  return host_reduction(name, a, one, n);
}

/// What a reduction over one axis or all gave, with axes of one element in the place of those that are gone.
Value FunctionCompiler::kept_axes(const Value& a, const Value& axis, const Value& reduced, const Node* n) {
  const int ndim = a.type->ndim;
  if (ndim == 0 || !reduced.type || !reduced.type->has_value()) return reduced;
  unit_.need("host_numpy");
  const Type element = reduced.is_array() ? reduced.type->element : reduced.type;
  std::string ones;
  for (int k = 0; k < ndim; ++k) ones += k ? ", 1" : "1";
  if (!reduced.is_array())
    return Value::called(array_type(element, ndim, 'C'),
                         code("py::full<{0}, {1}>(py::Tuple<i64, {1}>{{{{{2}}}}}, {3})", cpp(element), ndim, ones, reduced.text));
  std::vector<Value> items(static_cast<size_t>(ndim), Value::whole_slice());
  for (const Value& named : index_items(axis)) {
    const auto at = named.integer();
    if (!at) fail(n, "keepdims needs an axis that is known when the function is compiled");
    const int64_t place = *at < 0 ? *at + ndim : *at;
    if (place < 0 || place >= ndim) fail(n, fmt::format("axis {} is out of bounds for {} dimensions", *at, ndim));
    items[static_cast<size_t>(place)] = Value::known(none_type());
  }
  return view(bound(reduced), items, n);
}

// ---- NumPy's functions ------------------------------------------------------------------------------------------------------------

/// A shape: an int or a tuple of ints. `ndim` gets its length.
Code FunctionCompiler::host_shape(const Value& shape, int* ndim, const Node* n) {
  std::vector<Value> items;
  if (shape.is_scalar() || shape.is(Kind::literal))
    items = {shape};
  else if (shape.is(Kind::tuple))
    items = index_items(shape);
  else
    fail(n, fmt::format("a shape is an int or a tuple of ints, not {}", shape.type ? shape.type->spelling : "an unknown type"));
  Code list;
  for (const Value& i : items) {
    if (!(i.is_scalar() || i.is(Kind::literal)) || (i.is_scalar() && is_inexact(i.type->dtype)))
      fail(n, fmt::format("a shape is made of ints, not {}", i.type ? i.type->spelling : "an unknown type"), {}, "convert with int()");
    list += (list.empty() ? "" : ", ") + convert(i, int64_type(), n);
  }
  *ndim = static_cast<int>(items.size());
  return items.empty() ? "py::Tuple<i64, 0>{}" : code("py::Tuple<i64, {}>{{{{{}}}}}", items.size(), list);
}

Type FunctionCompiler::host_dtype(const Value& v, Type otherwise, const Node* n) {
  if (!v.type || v.is_none()) return otherwise;
  if (v.is(Kind::dtype)) return v.type->element;
  if (v.is(Kind::string) && type_from_name(v.type->name)) return type_from_name(v.type->name);
  if (v.is(Kind::string))
    fail(n, fmt::format("no dtype is called '{}'", v.type->name), {},
         nearest(v.type->name, {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
                                "float64", "complex64", "complex128"}));
  fail(n, fmt::format("expected a dtype, got {}", v.type->spelling), {},
       v.integer() ? "a shape of several axes is one tuple, as in zeros((2, 3))" : "write numpy.float64, or a.dtype");
}

/// A tuple (a list display), nested or not, as a new array.
Value FunctionCompiler::host_array_of(const Value& v, Type element, const Node* n) {
  std::vector<int64_t> shape;
  std::vector<Value> flat;
  const std::function<void(const Value&, size_t)> walk = [&](const Value& x, size_t depth) {
    if (!x.is(Kind::tuple)) {
      if (!x.type->is_single() && !x.is(Kind::literal)) fail(n, fmt::format("array() does not take {}", v.type->spelling));
      if (depth != shape.size()) fail(n, "array(): the nested lists differ in depth");
      flat.push_back(x);
      return;
    }
    const Value whole = x.items.empty() && !x.simple ? spill(x) : x;
    const auto count = static_cast<int64_t>(x.type->items.size());
    if (flat.empty() && depth == shape.size()) shape.push_back(count);
    if (depth >= shape.size() || shape[depth] != count) fail(n, "array(): the nested lists differ in length");
    for (size_t i = 0; i < x.type->items.size(); ++i) walk(tuple_item(whole, i), depth + 1);
  };
  walk(v, 0);
  Type t = nullptr;
  for (const Value& x : flat) t = unify(t, x.is(Kind::literal) ? int64_type() : x.type);
  if (element) t = element;
  if (!t) t = float64_type();
  Code values, list;
  for (const Value& x : flat) expect_fits(x, t, n);
  for (const Value& x : flat) values += (values.empty() ? "" : ", ") + convert(x, t, n);
  for (int64_t s : shape) list += code("{}{}", list.empty() ? "" : ", ", s);
  const Type made = array_type(t, static_cast<int>(shape.size()), 'C');
  return Value::called(made, code("py::of_values<{}, {}>(py::Tuple<i64, {}>{{{{{}}}}}{}{})", cpp(t), shape.size(), shape.size(), list,
                                  values.empty() ? "" : ", ", values));
}

/// sum, mean, min or max of what is not NaN.
Value FunctionCompiler::nan_reduction(const std::string& name, const Value& v, const Node* n) {
  if (!is_inexact(v.type->dtype)) return host_reduction(name, v, {}, n);
  const bool extreme = name == "min" || name == "max";
  if (extreme && is_complex(v.type->dtype)) fail(n, fmt::format("nan{}() does not take complex numbers", name));
  const Value a = host_array(v, n);
  const Value there = lift({a}, [this, n](std::span<const Value> x) { return compare_two(Operator::eq, x[0], x[0], n); }, n);
  const double other = !extreme ? 0.0 : name == "min" ? HUGE_VAL : -HUGE_VAL;
  const Value instead = converted(constant_value(Constant{other}), a.type->element, n);
  const Value plain = lift(
      {a},
      [this, n, instead](std::span<const Value> x) {
        return elementwise(static_cast<int>(Op::where), {compare_two(Operator::eq, x[0], x[0], n), x[0], instead}, n);
      },
      n);
  const Value r = host_reduction(extreme ? name : "sum", plain, {}, n);
  if (name == "sum") return r;
  const Type real = scalar_type(real_type(r.type->dtype));
  const Value count = host_reduction("sum", there, {}, n);
  if (name == "mean") return Value::of(r.type, operation(r.text, "/", code("{}({}({}))", cpp(r.type), cpp(real), count.text)));
  return Value::of(r.type, choice(operation(count.text, ">", "0"), r.text, code("{}(limits<double>::nan())", cpp(r.type))));
}

/// sort and argsort along an axis; None: of all elements.
Value FunctionCompiler::sorted_along(const std::string& f, const Value& v, const Value& axis, const Node* n) {
  unit_.need("host_numpy");
  const Value a = axis.is_none() ? raveled(v, n) : host_array(v, n);
  if (a.type->ndim == 0) fail(n, fmt::format("{}() does not take an array without dimensions", f));
  const Code along = axis.type && !axis.is_none() ? whole_number(axis, "an axis", n) : "-1";
  return Value::called(array_type(f == "sort" ? a.type->element : int64_type(), a.type->ndim, 'C'),
                       code("py::{}({}, {})", f == "sort" ? "sorted" : "argsort", a.text, along));
}

/// Whether two arrays have one shape and equal elements.
Value FunctionCompiler::same_elements(const Value& x, const Value& y, const Node* n) {
  if (x.type->ndim != y.type->ndim) return constant_value(Constant{false});
  unit_.need("host_numpy");
  const Value a = host_array(x, n), b = host_array(y, n);
  const auto equal = [this, n](std::span<const Value> v) { return compare_two(Operator::eq, v[0], v[1], n); };
  if (a.type->ndim == 0) return lift({a, b}, equal, n);
  const std::string same = temporary("same");
  linef("bool {} = py::same_shape({}, {});", same, a.text, b.text);
  linef("if ({}) {{", same);
  ++depth_;
  linef("{} = {};", same, host_reduction("all", lift({a, b}, equal, n), {}, n).text);
  --depth_;
  line("}");
  Value r = Value::of(bool_type(), same);
  r.simple = r.non_negative = true;
  return r;
}

/// numpy.random's shuffle and permutation; nothing for all else.
std::optional<Value> FunctionCompiler::random_order(const std::string& what, const std::vector<Value>& p, const Node* n) {
  if (what == "shuffle" && p.size() == 1) return Value::called(none_type(), code("py::shuffle({})", host_array(p[0], n).text));
  if (what == "permutation" && p.size() == 1 && p[0].is_array() && p[0].type->ndim > 1) {
    const Value a = host_array(p[0], n);
    const Value order = spill(Value::called(array_type(int64_type(), 1, 'C'), code("py::arange<i64>(0, {}.shape[0], 1)", a.text)));
    linef("py::shuffle({});", order.text);
    return Value::called(array_type(a.type->element, a.type->ndim, 'C'), code("py::take_rows({}, {})", a.text, order.text));
  }
  if (what == "permutation" && p.size() == 1) {
    const Value a =
        p[0].is_array()
            ? host_array(p[0], n)
            : spill(Value::called(array_type(int64_type(), 1, 'C'), code("py::arange<i64>(0, {}, 1)", convert(p[0], int64_type(), n))));
    const Value out = spill(Value::called(array_type(a.type->element, 1, 'C'), code("py::copy({})", a.text)));
    linef("py::shuffle({});", out.text);
    return out;
  }
  return std::nullopt;
}

/// `python`: Python's own module, which has a state of its own.
std::optional<Value> FunctionCompiler::host_random(const std::string& f, bool python, const CallArguments& args, const Node* n) {
  if (!f.starts_with("random.")) return std::nullopt;
  const std::string what = f.substr(7);
  const auto& p = args.positional;
  const Code state = code("py::random_state({})", python ? 1 : 0);
  const auto option = [&](const char* name, size_t at) -> Value {
    for (const auto& [key, v] : args.keywords)
      if (key == name) return v;
    return at < p.size() ? p[at] : Value{};
  };
  if (what == "seed") {
    const Value seed = option("seed", 0);
    if (!seed.type) fail(n, "seed() needs a number in compiled functions");
    return Value::called(none_type(), code("py::bc_host->seed_random({}, static_cast<u64>({}))", state, whole_number(seed, "a seed", n)));
  }
  if (what == "getrandbits" && p.size() == 1)
    return Value::called(scalar_type(DType::u64), code("py::random_bits({}, {})", state, whole_number(p[0], "a number of bits", n)));
  if (python && (what == "randint" || what == "randrange")) {
    Code bounds;
    for (const Value& v : p) bounds += ", " + whole_number(v, "a bound", n);
    if (p.empty() || p.size() > (what == "randint" ? 2 : 3)) fail(n, fmt::format("random.{}: expected a range of whole numbers", what));
    if (p.size() == 1) bounds = ", 0" + bounds;
    if (what == "randint") bounds += " + 1";
    return Value::called(int64_type(), code("py::random_range({}{})", state, bounds));
  }
  if ((what == "shuffle" || what == "choice") && p.size() == 1 && p[0].is(Kind::list)) return std::nullopt;  // by its stand-in
  // Only names that Python's own module has are looked up: every other name is its stand-in's, and NumPy's names are none of its own.
  constexpr std::string_view kPython[] = {"random", "uniform", "gauss", "normalvariate"};
  if (python && std::find(std::begin(kPython), std::end(kPython), what) == std::end(kPython)) return std::nullopt;
  if (auto order = random_order(what, p, n)) return order;
  Code one;
  Type t = float64_type();
  Value size;
  const auto real = [&](const Value& v) { return spill(converted(v, float64_type(), n)).text; };
  if (what == "rand" || what == "randn") {
    one = code("py::{}({})", what == "rand" ? "random_uniform" : "random_normal", state);
    if (!p.empty()) size = tuple_of(p);
  } else if (what == "random" || what == "random_sample" || what == "ranf" || what == "sample" || what == "standard_normal") {
    one = code("py::{}({})", what == "standard_normal" ? "random_normal" : "random_uniform", state);
    size = option("size", 0);
  } else if (what == "normal" || what == "gauss" || what == "normalvariate" || what == "uniform") {
    const bool normal = what != "uniform";
    const Value a = option(normal ? "loc" : "low", 0), b = option(normal ? "scale" : "high", 1);
    size = option("size", 2);
    const Code x = a.type ? real(a) : "0.0", y = b.type ? real(b) : "1.0";
    const double* known = b.constant ? std::get_if<double>(&b.constant->value) : nullptr;
    if (what == "normal" && b.type && !(known && *known > 0) && !(b.integer() && *b.integer() >= 0))
      fail_if(code("__builtin_signbit({0}) && {0} == {0}", y), "ValueError", "scale < 0", n);
    one = normal ? code("{} + {} * py::random_normal({})", x, y, state) : code("{0} + ({1} - {0}) * py::random_uniform({2})", x, y, state);
  } else if (what == "randint") {
    const Value low = option("low", 0), high = option("high", 1);
    size = option("size", 2);
    const bool two = high.type && !high.is_none();
    t = int64_type();
    const Code a = two ? spill(converted(low, t, n)).text : "0", b = spill(converted(two ? high : low, t, n)).text;
    one = code("py::random_below({}, {}, {})", state, a, b);
  } else {
    return std::nullopt;
  }
  if (!size.type || size.is_none()) {
    return Value::called(t, one.at(Precedence::operation));
  }
  int ndim = 0;
  const Code shape = host_shape(size, &ndim, n);
  return Value::called(array_type(t, ndim, 'C'), code("py::random_array({}, [&] {{ return {}; }})", shape, one));
}

namespace {
std::optional<Casting> casting_from_name(const Value& v) {
  constexpr const char* kNames[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  for (int k = 0; k < 5; ++k)
    if (v.is(Kind::string) && v.type->name == kNames[k]) return static_cast<Casting>(k);
  return std::nullopt;
}
}  // namespace

/// An error where casting= does not let elements of one type become another's.
void FunctionCompiler::expect_cast(Type from, Type to, const Value& casting, const Node* n) const {
  const auto rule = casting_from_name(casting);
  if (!rule) fail(n, "casting must be one of 'no', 'equiv', 'safe', 'same_kind' and 'unsafe'");
  const bool fits = from == to || (from->is_scalar() && to->is_scalar() && can_cast(from->dtype, to->dtype, *rule));
  if (!fits)
    fail(n, fmt::format("astype(): {} does not become {} by the rule '{}'", from->spelling, to->spelling, casting.type->name), {},
         "leave casting out");
}

/// x.item(…): the one element, or that at a place.
Value FunctionCompiler::item_of_array(const Value& self, const std::vector<Value>& p, const Node* n) {
  const Value a = host_array(self, n);
  if (p.size() > 1 || (!p.empty() && p[0].is(Kind::tuple))) {
    std::vector<Value> places = p.size() > 1 ? p : index_items(p[0]);
    if (static_cast<int>(places.size()) != a.type->ndim)
      fail(n, fmt::format("item() of {} takes {} numbers", a.type->spelling, a.type->ndim));
    for (size_t k = 0; k < places.size(); ++k)
      places[k] = spill(
          Value::called(int64_type(), code("py::checked_index({}, {}.shape[{}])", whole_number(places[k], "an index", n), a.text, k)), "i");
    return subscript_of(a, tuple_of(std::move(places)), n);
  }
  if (p.empty() && a.type->ndim == 0) return scalar_of(a, n);
  // A place in C order.
  const Value flat = raveled(a, n);
  if (p.empty()) linef("py::expect_single({}.shape[0]);", flat.text);
  const Code at = p.empty() ? "0" : code("py::checked_index({}, {}.shape[0])", whole_number(p[0], "an index", n), flat.text);
  return subscript_of(flat, spill(Value::called(int64_type(), at), "i"), n);
}

std::optional<Value> FunctionCompiler::host_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n) {
  if (!self.is_array()) return std::nullopt;
  unit_.need("host_numpy");
  const auto& p = args.positional;
  for (const char* r : {"sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all", "var", "std"})
    if (name == r) return host_reduction(name, self, args, n);
  const auto no_options = [&] {
    if (!args.keywords.empty()) fail(n, fmt::format(".{}() takes no argument '{}' in compiled functions", name, args.keywords[0].first));
  };
  if (name == "copy") {
    if (self.lazy) return materialise(self, n);
    return Value::called(array_type(self.type->element, self.type->ndim, 'C'), code("py::copy({})", self.text));
  }
  if (name == "tobytes" && p.empty() && args.keywords.empty()) {
    unit_.need("character_texts");
    return Value::called(bytes_type(), code("py::memory_of({})", host_array(self, n).text));
  }
  if (name == "astype") {
    if (p.empty()) return std::nullopt;
    const Type to = host_dtype(p[0], float64_type(), n);
    for (const auto& [key, v] : args.keywords) {
      if (key == "casting") {
        expect_cast(self.type->element, to, v, n);
        continue;
      }
      const bool* copies = v.constant ? v.constant->boolean() : nullptr;
      if (key != "copy" || !copies) fail(n, fmt::format("astype(): {} must be known when the function is compiled", key));
      if (!*copies && to == self.type->element && !self.lazy) return self;
    }
    return materialise(cast_to(to, self.lazy ? self : bound(self), n), n);
  }
  if (name == "reshape" && !args.keywords.empty() && (p.empty() || p.size() == 1 || p[0].is_scalar() || p[0].is(Kind::literal))) {
    CallArguments all = args;
    if (p.empty()) fail(n, ".reshape() takes the shape by position only", {}, "write x.reshape(2, 3) or x.reshape((2, 3))");
    all.positional = {self};
    all.positional.push_back(p.size() == 1 ? p[0] : tuple_of(p));
    all.nodes.assign(all.positional.size(), n);
    return call_builtin("numpy.reshape", std::move(all), n);
  }
  if (name == "reshape" || name == "ravel" || name == "flatten") {
    no_options();
    const Value a = host_array(self, n);
    int ndim = 1;
    const Code shape = name != "reshape" ? code("py::Tuple<i64, 1>{{{{-1}}}}") : host_shape(p.size() == 1 ? p[0] : tuple_of(p), &ndim, n);
    if (name == "flatten")
      return Value::called(array_type(a.type->element, 1, 'C'), code("py::reshape<1>(py::copy({}), {})", a.text, shape));
    return Value::called(array_type(a.type->element, ndim, 'C', a.type->read_only), code("py::reshape<{}>({}, {})", ndim, a.text, shape));
  }
  if (name == "transpose") {
    no_options();
    const std::vector<Value> axes = p.size() == 1 && p[0].is(Kind::tuple) ? index_items(p[0]) : p;
    if (axes.empty() || (axes.size() == 1 && axes[0].is_none())) return array_attribute(host_array(self, n), "T", n);
    int ndim = 0;
    const Code order = host_shape(p.size() == 1 ? p[0] : tuple_of(p), &ndim, n);
    if (ndim != self.type->ndim) fail(n, "transpose(): the axes do not match the array");
    return Value::called(with_layout(self.type, ndim, 'A'),
                         code("py::permuted({0}, py::whole_order<{2}>({1}))", host_array(self, n).text, order, ndim));
  }
  if (name == "swapaxes" || name == "squeeze") return host_axes(name, args.behind(self, n), n);
  if (name == "sort" && p.empty()) {
    if (self.lazy || self.type->ndim == 0 || self.type->read_only) fail(n, fmt::format(".sort() does not take {}", self.type->spelling));
    Code along = "-1";
    for (const auto& [key, axis] : args.keywords) along = whole_number(axis, "an axis", n);
    return Value::called(none_type(), code("py::sort_in_place({}, {})", host_array(self, n).text, along));
  }
  if (name == "argsort") {
    Value axis;
    for (const auto& [key, given] : args.keywords) axis = given;
    return sorted_along("argsort", self, axis, n);
  }
  if (name == "dot" && p.size() == 1) return host_builtin("numpy.dot", {{self, p[0]}, {n, n}, {}}, n);
  for (const char* function : {"cumsum", "cumprod", "round", "trace", "searchsorted", "clip"})
    if (name == function) return call_builtin("numpy." + name, args.behind(self, n), n);
  if (name == "item" && args.keywords.empty()) return item_of_array(self, p, n);
  if (name == "nonzero" && p.empty()) {
    if (self.type->ndim > 1) return call_python("array.nonzero", {{materialise(self, n)}, {n}, {}}, n);
    if (self.type->ndim == 0) fail(n, "nonzero() takes arrays of one dimension or more");
    return tuple_of({spill(Value::called(array_type(int64_type(), 1, 'C'), code("py::flat_nonzero({})", host_array(self, n).text)))});
  }
  if (name == "take" && p.size() == 1 && args.keywords.empty()) return host_builtin("numpy.take", {{self, p[0]}, {n, n}, {}}, n);
  if (name == "repeat" && p.size() == 1) return host_builtin("numpy.repeat", {{self, p[0]}, {}, {}}, n);
  return std::nullopt;
}

/// a @ b; `as_dot` says how errors call it.
Value FunctionCompiler::host_product(const Value& x, const Value& y, const Node* n, bool as_dot) {
  for (const Value& v : {x, y})
    if (!v.is_array() || v.type->ndim == 0) fail(n, fmt::format("products of matrices do not take {}", v.type->spelling), {}, "use *");
  unit_.need("host_numpy");
  const Value a = host_array(x, n), b = host_array(y, n);
  const int na = a.type->ndim, nb = b.type->ndim;
  if (na > 2 || nb > 2) return *call_python(as_dot ? "numpy.dot_of_stacks" : "numpy.matmul", {{a, b}, {n, n}, {}}, n);
  const Type t = scalar_type(promote(a.type->dtype, b.type->dtype));
  const int ndim = na + nb - 2;
  return Value::called(ndim == 0 ? t : array_type(t, ndim, 'C'), code("py::matmul<{}>({}, {}, {})", cpp(t), a.text, b.text, !as_dot));
}

/// a[mask] and a[indices].
Value FunctionCompiler::host_index(const Value& object, const Value& index, const Node* n) {
  unit_.need("host_numpy");
  const Value a = host_array(object, n);
  if (a.type->ndim == 0) fail(n, "too many indices: an array without dimensions has no rows", {{"array", a.type}}, "read it with x[()]");
  const Value i = index.is(Kind::tuple) ? spill(host_array_of(index, nullptr, n)) : host_array(index, n);
  Value r;
  if (is_bool(i.type->dtype)) {
    if (i.type->ndim != a.type->ndim)
      fail(n, "a mask needs the dimensions of the array in compiled functions", {{"array", a.type}, {"mask", i.type}});
    r = Value::of(array_type(a.type->element, 1, 'C'), code("py::select({}, {})", a.text, i.text));
  } else if (is_integer(i.type->dtype)) {
    r = Value::of(array_type(a.type->element, a.type->ndim + i.type->ndim - 1, 'C'), code("py::take_rows({}, {})", a.text, i.text));
  } else {
    fail(n, fmt::format("an array cannot be indexed by {}", i.type->spelling));
  }
  r.note(kActs);
  return r;
}

/// a[mask] = value and a[indices] = value.
bool FunctionCompiler::host_assign_index(const Value& object, const Value& index, const Value& value, const Node* n) {
  if (!index.is_array()) return false;
  unit_.need("host_numpy");
  const Value a = host_array(object, n), i = host_array(index, n);
  if (is_bool(i.type->dtype) && i.type->ndim == a.type->ndim) {
    if (value.is_array() && value.type->ndim > 0) {
      const Value v = host_array(cast_to(a.type->element, value, n), n);
      linef("py::put_masked({}, {}, {});", a.text, i.text, v.text);
    } else {
      linef("py::put_masked({}, {}, {});", a.text, i.text, spill(converted(value, a.type->element, n)).text);
    }
    return true;
  }
  if (is_integer(i.type->dtype) && i.type->ndim == 1 && a.type->ndim == 1) {
    if (value.is_array() && value.type->ndim > 1) return false;
    const bool many = value.is_array() && value.type->ndim == 1;
    const bool same = many && value.type->element == a.type->element;
    const Value v =
        many ? host_array(same ? value : cast_to(a.type->element, value, n), n) : spill(converted(scalar_of(value, n), a.type->element, n));
    linef("py::put_each({}, {}, {});", a.text, i.text, many ? v.text : code("{}({})", cpp(a.type->element), v.text));
    return true;
  }
  return false;
}

FunctionCompiler::Picked FunctionCompiler::host_pick(const Value& a, const std::vector<Value>& given, const Node* n) {
  unit_.need("host_numpy");
  std::vector<Value> items;
  int used = 0;
  for (const Value& i : given) {
    Value v = i.is_array() ? host_array(i, n) : i;
    if (v.is_array() && !is_bool(v.type->dtype) && !is_integer(v.type->dtype))
      fail(n, fmt::format("an array cannot be indexed by {}", v.type->spelling));
    if (!v.is(Kind::ellipsis) && !v.is_none()) used += v.is_array() && is_bool(v.type->dtype) ? v.type->ndim : 1;
    items.push_back(std::move(v));
  }
  if (used > a.type->ndim)
    fail(n, fmt::format("too many indices: {} for an array of {} dimensions", used, a.type->ndim), {{"array", a.type}});
  const auto ellipsis = std::find_if(items.begin(), items.end(), [](const Value& i) { return i.is(Kind::ellipsis); });
  const auto place = ellipsis == items.end() ? ellipsis : items.erase(ellipsis);
  items.insert(place, static_cast<size_t>(a.type->ndim - used), Value::whole_slice());
  // What the other indices leave, and where its axes are picked from. Integers count as arrays where it is asked whether those stand
  // together.
  std::vector<Value> rest;
  std::vector<int> axes;
  std::vector<Value> arrays;
  Picked p;
  int axis = 0, ndim = 0, runs = 0;
  bool plain = true, inside = false;
  std::vector<std::pair<int, Value>> masks;
  for (const Value& i : items) {
    const bool picks = i.is_array(), number = i.is_scalar() || i.is(Kind::literal);
    if ((picks || number) && !inside && runs++ == 0) p.place = axis - static_cast<int>(axes.size());
    inside = picks || number;
    if (!picks) {
      rest.push_back(i);
      plain = plain && i.is(Kind::slice) && i.items[0].is_none() && i.items[1].is_none() && i.items[2].is_none();
      axis += !number;
      continue;
    }
    const int count = is_bool(i.type->dtype) ? i.type->ndim : 1;
    if (is_bool(i.type->dtype)) masks.emplace_back(axis, i);
    for (int k = 0; k < count; ++k) {
      rest.push_back(Value::whole_slice());
      axes.push_back(axis++);
      arrays.push_back(
          is_bool(i.type->dtype) ? spill(Value::of(array_type(int64_type(), 1, 'C'), code("py::true_places({}, {})", i.text, k)), "i") : i);
      ndim = std::max(ndim, arrays.back().type->ndim);
    }
  }
  if (runs > 1) p.place = 0;
  const Value left = plain ? a : bound(view(a, rest, n), "v");
  for (const auto& [at, mask] : masks) linef("py::match_mask({}, {}, {});", left.text, at, mask.text);
  Code list;
  for (const Value& i : arrays) list += ", " + i.text;
  p.view = left.text;
  p.axes = code("py::Tuple<i64, {}>{{{{{}}}}}", axes.size(), fmt::format("{}", fmt::join(axes, ", ")));
  p.offsets = temporary("offsets");
  p.ndim = left.type->ndim - static_cast<int>(axes.size()) + ndim;
  linef("const py::Host<i64, {0}, 'C'> {1} = py::offsets_of<{0}>({2}, {3}{4});", ndim, p.offsets, p.view, p.axes, list);
  return p;
}

Value FunctionCompiler::host_picked(const Value& a, const std::vector<Value>& given, const Node* n) {
  if (given.size() == 1 && (!is_bool(given[0].type->dtype) || given[0].type->ndim == a.type->ndim)) return host_index(a, given[0], n);
  const Picked p = host_pick(host_array(a, n), given, n);
  return spill(Value::of(array_type(a.type->element, p.ndim, 'C'), code("py::take_at<{}>({}, {}, {})", p.place, p.view, p.axes, p.offsets)),
               "picked");
}

void FunctionCompiler::host_pick_assign(const Value& a, const std::vector<Value>& given, const Value& value, const Node* n) {
  if (value.type) expect_fits(value, a.type->element, n);
  if (!value.type || (given.size() == 1 && host_assign_index(a, given[0], value, n))) return;
  Value v;
  if (value.is_array() && value.type->ndim > 0) {
    // A copy: it may be a view of what is written.
    const Value whole = host_array(cast_to(a.type->element, value, n), n);
    v = spill(Value::of(array_type(a.type->element, whole.type->ndim, 'C'), code("py::copy({})", whole.text)), "v");
  } else if (value.is(Kind::tuple)) {
    v = spill(host_array_of(value, a.type->element, n), "v");
  } else {
    v = spill(Value::of(a.type->element, convert(scalar_of(value, n), a.type->element, n)), "v");
  }
  const Picked p = host_pick(host_array(a, n), given, n);
  if (v.is_array() && v.type->ndim > p.ndim)
    fail(n, fmt::format("an array of {} dimensions does not broadcast to {}", v.type->ndim, p.ndim),
         {{"array", a.type}, {"value", value.type}});
  linef("py::put_at<{}>({}, {}, {}, {});", p.place, p.view, p.axes, p.offsets,
        v.is_array() ? v.text : code("{}({})", cpp(a.type->element), v.text));
}

// ---- print ------------------------------------------------------------------------------------------------------------------------

Value FunctionCompiler::host_print(const CallArguments& args, const Node* n) {
  std::string end = "\n", separator = " ";
  Code parts;
  for (const auto& [name, v] : args.keywords) {
    if (!v.is(Kind::string)) fail(n, fmt::format("print: '{}' must be a constant string", name));
    (name == "end" ? end : separator) = v.type->name;
  }
  const auto written = [](const Value& v) {
    return v.type && (v.type->is_container() || v.display || v.is(Kind::text) || v.is(Kind::optional) || v.is(Kind::tuple) ||
                      v.is(Kind::array) || v.is(Kind::time) || is_characters(v.type) ||
                      (v.is(Kind::builtin) && (v.type->name.starts_with("dict.") || v.type->name.starts_with("exception."))));
  };
  if (std::any_of(args.positional.begin(), args.positional.end(), written)) {
    const std::string w = temporary("text");
    linef("py::Writer {};", w);
    for (size_t i = 0; i < args.positional.size(); ++i) {
      if (i) linef("py::write_str({}, {});", w, literal_text(separator));
      const Value& item = args.positional[i];
      linef("py::write_str({}, {});", w, text_operand(item.is(Kind::time) ? text_of_time(item, n) : item, n));
    }
    linef("py::write_str({}, {});", w, literal_text(end));
    linef("py::print_text({});", w);
    return Value::known(none_type());
  }
  std::string text;
  const auto flush = [&] {
    if (!text.empty()) parts += code(".put({}, {})", quoted_text(text), text.size());
    text.clear();
  };
  const auto put = [&](const Value& v, const auto& self) -> void {
    switch (v.type->kind) {
      case Kind::string: text += v.type->name; return;
      case Kind::none: text += "None"; return;
      case Kind::literal: text += fmt::format("{}", v.type->value); return;
      case Kind::tuple: {
        const Value whole = v.items.empty() && !v.simple ? spill(v) : v;
        text += "(";
        for (size_t i = 0; i < v.type->items.size(); ++i) {
          if (i) text += ", ";
          self(tuple_item(whole, i), self);
        }
        text += v.type->items.size() == 1 ? ",)" : ")";
        return;
      }
      case Kind::scalar:
        flush();
        parts += code(".put({})", convert(v, v.type, n));
        return;
      case Kind::array:
        if (v.type->ndim == 1 && v.type->element->is_scalar()) {
          flush();
          parts += code(".put_array({})", host_array(v, n).text);
          return;
        }
        [[fallthrough]];
      default: fail(n, fmt::format("print does not take {}", v.type->spelling));
    }
  };
  for (size_t i = 0; i < args.positional.size(); ++i) {
    if (i) text += separator;
    put(args.positional[i], put);
  }
  text += end;
  flush();
  linef("py::Printer(){};", parts);
  return Value::known(none_type());
}

}  // namespace bc::kernels
