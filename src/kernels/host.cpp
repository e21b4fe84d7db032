// What functions compiled for the CPU may do beyond kernels: arrays that own memory, NumPy's functions that make them, parallel loops. The
// templates that the text calls are in src/device/python/host*.h.
#include "kernels/host.h"

#include <algorithm>
#include <functional>

#include "kernels/compiler.h"
#include "primitives/ops.h"

namespace bc::kernels {
namespace {

/// The dtype that a sum or product of a dtype has.
DType wide(DType d) {
  if (is_inexact(d)) return d;
  return is_unsigned(d) ? DType::u64 : DType::i64;
}

/// A call's arguments by the parameters' names, as "a, axis=, dtype=".
class Bound {
 public:
  Bound(const CallArguments& args, std::initializer_list<const char*> names) {
    for (const char* n : names) names_.push_back(n);
    values_.resize(names_.size());
    for (size_t i = 0; i < args.positional.size(); ++i) {
      if (i >= values_.size()) {
        too_many_ = true;
        return;
      }
      values_[i] = args.positional[i];
    }
    for (const auto& [name, v] : args.keywords) {
      const auto at = std::find(names_.begin(), names_.end(), name);
      if (at == names_.end())
        unknown_ = name;
      else
        values_[static_cast<size_t>(at - names_.begin())] = v;
    }
  }
  bool given(size_t i) const { return values_[i].type && !values_[i].is_none(); }
  Value& operator[](size_t i) { return values_[i]; }
  const std::string& unknown() const { return unknown_; }
  bool too_many() const { return too_many_; }

 private:
  std::vector<std::string> names_;
  std::vector<Value> values_;
  std::string unknown_;
  bool too_many_ = false;
};

/// Whether an integer type holds a value.
bool fits(int64_t value, DType t) {
  if (is_unsigned(t)) return value >= 0 && (itemsize(t) == 8 || value >> (8 * itemsize(t)) == 0);
  const int unused = 64 - 8 * itemsize(t);
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused == value;
}

constexpr const char* kHostNames[] = {
    "zeros",
    "ones",
    "empty",
    "full",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "arange",
    "linspace",
    "eye",
    "identity",
    "array",
    "asarray",
    "ascontiguousarray",
    "copy",
    "as_strided",
    "sliding_window_view",
    "reshape",
    "ravel",
    "transpose",
    "concatenate",
    "stack",
    "vstack",
    "hstack",
    "append",
    "repeat",
    "sum",
    "prod",
    "min",
    "max",
    "amin",
    "amax",
    "mean",
    "var",
    "std",
    "any",
    "all",
    "argmin",
    "argmax",
    "count_nonzero",
    "ptp",
    "median",
    "cumsum",
    "cumprod",
    "dot",
    "vdot",
    "matmul",
    "outer",
    "trace",
    "sort",
    "argsort",
    "searchsorted",
    "unique",
    "nonzero",
    "flatnonzero",
    "diff",
    "bincount",
    "expand_dims",
    "moveaxis",
    "swapaxes",
    "rollaxis",
    "squeeze",
    "isscalar",
    "iscomplexobj",
    "isrealobj",
    "iscomplex",
    "isreal",
    "linalg.norm",
    "linalg.solve",
    "linalg.inv",
    "linalg.det",
    "nansum",
    "nanmean",
    "nanmin",
    "nanmax",
    "random.seed",
    "random.rand",
    "random.random",
    "random.random_sample",
    "random.ranf",
    "random.sample",
    "random.randn",
    "random.standard_normal",
    "random.normal",
    "random.uniform",
    "random.randint",
    "random.shuffle",
    "random.permutation",
    "allclose",
    "array_equal",
    "flip",
    "where",
    "take",
    "average",
    "diag",
    "roll",
    "shape",
    "size",
    "ndim",
    "fill_diagonal",
    "isclose",
};
constexpr const char* kHostBuiltins[] = {"builtins.sorted",       "builtins.next", "builtins.map",    "builtins.filter", "builtins.hash",
                                         "builtins.ord",          "builtins.chr",  "builtins.repr",   "builtins.iter",   "typed.List",
                                         "typed.List.empty_list", "typed.Dict",    "typed.Dict.empty"};

}  // namespace

std::vector<std::string> host_names() {
  std::vector<std::string> names;
  for (const char* n : kHostNames) names.push_back(std::string("numpy.") + n);
  for (const char* n : {"norm", "solve", "inv", "det"}) names.push_back(std::string("numpy.") + n);
  for (const char* n : {"random.random", "random.seed", "random.uniform", "random.gauss", "random.normalvariate", "random.randint",
                        "random.randrange", "random.getrandbits"})
    names.emplace_back(n);
  for (const char* n : kHostBuiltins) names.emplace_back(n);
  return names;
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
  if (!host() || !to->is_scalar() || !is_integer(to->dtype) || !(v.is(Kind::literal) || v.type == int64_type())) return;
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
  const Value x = v.is_array() && v.type->ndim == 0 ? scalar_of(v, n) : v;
  if (!(x.is(Kind::literal) || (x.is_scalar() && !is_inexact(x.type->dtype))))
    fail(n, fmt::format("{} must be an integer, not {}", what, x.type ? x.type->spelling : "an unknown type"));
  return convert(x, int64_type(), n);
}

// ---- reductions -------------------------------------------------------------------------------------------------------------------

/// `rest`: by name, as library_arguments gives them.
Value FunctionCompiler::host_reduction(const std::string& name, const Value& given, const CallArguments& rest, const Node* n) {
  if (!given.type) return {};
  const Value v = given.is_array() ? given : array_operand(given, true, name, "a", n);
  Value axis, dtype, ddof;
  bool keepdims = false;
  for (const auto& [key, value] : rest.keywords) {
    if (key == "axis") {
      axis = value;
    } else if (key == "dtype") {
      dtype = value;
    } else if (key == "ddof") {
      ddof = value;
    } else if (key == "keepdims") {
      const bool* known = value.constant ? value.constant->boolean() : nullptr;
      if (!known) fail(n, fmt::format("{}(): keepdims must be known when the function is compiled", name));
      keepdims = *known;
    } else {
      fail(n, fmt::format("{}() takes no argument '{}' in compiled functions", name, key));
    }
  }
  if (!rest.positional.empty()) fail(n, fmt::format("{}() takes fewer arguments in compiled functions", name));
  if ((name == "argmin" || name == "argmax") && axis.is(Kind::tuple))
    fail(n, fmt::format("{}(): the axis must be an integer, not {}", name, axis.type->spelling));
  if (keepdims && axis.is(Kind::tuple)) fail(n, fmt::format("{}(): keepdims takes one axis or all in compiled functions", name));
  if (keepdims) {
    CallArguments plain = rest;
    std::erase_if(plain.keywords, [](const auto& k) { return k.first == "keepdims"; });
    return kept_axes(v, axis, host_reduction(name, v, plain, n), n);
  }
  if (!v.type->element->is_scalar()) fail(n, fmt::format("{}() does not take {}", name, v.type->spelling));
  const DType from = v.type->dtype;
  const bool argument = name == "argmin" || name == "argmax", extreme = argument || name == "min" || name == "max";
  if (argument && is_complex(from)) fail(n, fmt::format("{}() does not take complex numbers", name));
  DType d = from;
  if (name == "sum" || name == "prod") d = wide(d);
  if (name == "mean" || name == "var" || name == "std") d = is_inexact(d) ? d : DType::f64;
  if (name == "var" || name == "std") d = real_type(d);
  if (name == "any" || name == "all") d = DType::b1;
  if (argument || name == "count_nonzero") d = DType::i64;
  if (dtype.type) {
    const Type wanted = host_dtype(dtype, scalar_type(d), n);
    if (!wanted->is_scalar() || (is_complex(from) && !is_complex(wanted->dtype)))
      fail(n, fmt::format("{}(): {} does not become {}", name, v.type->spelling, wanted->spelling));
    if ((name == "mean" || name == "var" || name == "std") && !is_inexact(wanted->dtype))
      fail(n, fmt::format("{}() computes in floating point, not in {}", name, wanted->spelling), {},
           "leave dtype out and convert the result");
    d = wanted->dtype;
  }
  const Type t = scalar_type(d);
  const Code element = cpp(v.type->element), result = cpp(t);
  const Code freedom = ddof.type ? convert(ddof, float64_type(), n) : "0.0";

  if (axis.type && !axis.is_none() && v.type->ndim == 0) {
    const bool averages = name == "mean" || name == "var" || name == "std";
    if (averages || !axis.integer() || *axis.integer() < -1 || *axis.integer() > 0)
      fail(n, fmt::format("{}(): the axis is out of bounds for an array without dimensions", name));
    axis = {};
  }
  if (axis.is(Kind::tuple)) return reduced_axes(name, v, axis, rest, n);
  if (axis.type && !axis.is_none()) {
    const Value a = host_array(v, n);
    const Code along = whole_number(axis, "an axis", n);
    if (extreme) {
      unit_.need("host_numpy");
      linef("py::expect_elements({0}.shape[py::axis_of({1}, {2})], {3});", a.text, along, a.type->ndim, argument ? "true" : "false");
    }
    Code red, finish, state = element;
    if (name == "sum" || name == "prod" || name == "mean") {
      red = code("py::{}<{}, acc_t<{}>>", name == "prod" ? "Product" : "Sum", element, result);
      state = code("acc_t<{}>", result);
      finish = name == "mean" ? code("cast<{}>(mean_of(s, double({}.shape[py::axis_of({}, {})])))", result, a.text, along, a.type->ndim)
                              : code("cast<{}>(s)", result);
    } else if (name == "var" || name == "std") {
      red = code("py::Moments<{0}, {0}>", element);
      finish =
          name == "var" ? code("cast<{}>(var_finish(s, {}))", result, freedom) : code("cast<{}>(sqrt(var_finish(s, {})))", result, freedom);
    } else if (extreme) {
      red = code("py::{1}{2}<{0}, {0}>", element, argument ? "Arg" : "", name.ends_with("max") ? "Maximum" : "Minimum");
      finish = argument ? "s.index" : "s";
    } else if (name == "count_nonzero") {
      red = code("py::Count<{0}, {0}>", element);
      finish = "s";
    } else {
      red = code("py::{1}Of<{0}, {0}>", element, name == "any" ? "Any" : "All");
      finish = "s";
    }
    const Type made = array_type(t, a.type->ndim - 1, 'C');
    Value r = Value::of(made, code("py::reduce_axis<{}, {}>({}, {}, [&](auto s) {{ return {}; }})", red, result, a.text, along, finish));
    r.note(kActs);
    if (a.type->ndim == 1) {
      // Of a vector: a number.
      const Value whole = spill(r);
      return subscript_of(whole, tuple_of({}), n);
    }
    return r;
  }

  const auto lazy = lazy_of(v);
  Code leaves;
  const Code f = v.lazy ? host_lambda(*lazy, v.type->element, &leaves, n) : code("py::Same{{}}");
  if (!v.lazy) leaves = ", " + lazy->leaves[0].text;
  const int ndim = v.type->ndim;
  Value r = Value::of(t, "");
  if (name == "sum" || name == "prod" || name == "mean")
    r.text = code("py::{}<{}, {}>({}{})", name == "prod" ? "product" : name, result, ndim, f, leaves);
  else if (name == "var")
    r.text = code("py::variance<{}, {}>({}, {}{})", result, ndim, freedom, f, leaves);
  else if (name == "std")
    r.text = code("cast<{}>(sqrt(py::variance<double, {}>({}, {}{})))", result, ndim, freedom, f, leaves);
  else if (extreme)
    r.text = code("py::{}{}<{}>({}{}){}", name.ends_with("max") ? "largest" : "smallest", argument ? "_at" : "", ndim, f, leaves,
                  argument ? ".index" : "");
  else
    r.text = code("py::fold<py::{}, {}>({}{})", name == "any" ? "AnyOf" : name == "all" ? "AllOf" : "Count", ndim, f, leaves);
  r.note(kActs);  // it may raise, and is not to be done twice
  r = spill(r, "r");
  r.non_negative = argument || is_unsigned(d) || is_bool(d) || name == "count_nonzero";
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
  std::vector<Value> from, last;
  for (const int64_t at : named) from.push_back(whole(at)), last.push_back(whole(static_cast<int64_t>(last.size() - named.size())));
  const Function* merged = function_.stand_in("array.merged");
  const Value a = call_function(*merged, merged->syntax(), {{host_array(v, n), tuple_of(from), tuple_of(last)}, {n, n, n}, {}}, n);
  if (!a.type) return {};
  one.keywords.emplace_back("axis", whole(-1));
  return host_reduction(name, a, one, n);
}

/// What a reduction over one axis or all gave, with axes of one element in the place of those that are gone.
Value FunctionCompiler::kept_axes(const Value& a, const Value& axis, const Value& reduced, const Node* n) {
  const int ndim = a.type->ndim;
  if (ndim == 0 || !reduced.type) return reduced;
  unit_.need("host_numpy");
  const Type element = reduced.is_array() ? reduced.type->element : reduced.type;
  std::string ones;
  for (int k = 0; k < ndim; ++k) ones += k ? ", 1" : "1";
  if (!reduced.is_array())
    return Value::called(array_type(element, ndim, 'C'),
                         code("py::full<{0}, {1}>(py::Tuple<i64, {1}>{{{{{2}}}}}, {3})", cpp(element), ndim, ones, reduced.text));
  const auto at = axis.integer();
  if (!at) fail(n, "keepdims needs an axis that is known when the function is compiled");
  Value all = Value::known(slice_type());
  all.items.assign(3, Value::known(none_type()));
  std::vector<Value> items(static_cast<size_t>(reduced.type->ndim), all);
  items.insert(items.begin() + (*at < 0 ? *at + ndim : *at), Value::known(none_type()));
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
      if (!x.is_scalar() && !x.is(Kind::literal)) fail(n, fmt::format("array() does not take {}", v.type->spelling));
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
  if (name == "mean") return Value::of(r.type, operation(r.text, "/", code("{}({})", cpp(real), count.text)));
  return Value::of(r.type, choice(operation(count.text, ">", "0"), r.text, code("{}(limits<double>::nan())", cpp(r.type))));
}

namespace {

/// Tells whether the first argument is a list that nobody else knows, whose memory may become an array's.
bool is_new_list(const CallArguments& args) {
  const Node* made = args.nodes.empty() ? nullptr : args.nodes[0];
  return made && made->kind == NodeKind::comprehension && made->text == "list";
}

}  // namespace

/// numpy.array of a list of rows: lists, tuples or vectors of numbers.
std::optional<Value> FunctionCompiler::array_of_rows(const CallArguments& args, const Node* n) {
  const Value& list = args.positional[0];
  const Type row = list.type->element;
  const bool rows = row && ((row->is(Kind::list) && row->element && row->element->is_scalar()) ||
                            (row->is_uniform() && row->items[0]->is_scalar()) || (row->is(Kind::array) && row->ndim == 1));
  Bound b(args, {"a", "dtype"});
  if (!rows || is_incomplete(row) || b.too_many() || !b.unknown().empty()) return std::nullopt;
  const Type element = row->is_uniform() ? row->items[0] : row->element, dtype = host_dtype(b[1], element, n);
  const Value made = Value::called(array_type(element, 2, 'C'), code("py::array_of_rows({})", list.text));
  return dtype == element ? made : materialise(cast_to(dtype, bound(made), n), n);
}

std::optional<Value> FunctionCompiler::host_builtin(const std::string& name, const CallArguments& args, const Node* n) {
  if (name == "builtins.print") {
    unit_.prints = true;
    return host_print(args, n);
  }
  if (name.starts_with("numba.")) return host_numba(name, args, n);
  if (!args.positional.empty() && args.positional[0].is(Kind::list)) {
    // A list is worked on as the vector of its elements.
    if (name.starts_with("numpy.") && args.positional[0].type->element && args.positional[0].type->element->is_scalar()) {
      CallArguments as_array = args;
      as_array.positional[0] = list_array(args.positional[0]);
      const bool makes = name == "numpy.array" || name == "numpy.asarray";
      if (makes && args.positional.size() == 1 && args.keywords.empty() && is_new_list(args)) return as_array.positional[0];
      return host_builtin(name == "numpy.asarray" ? "numpy.array" : name, as_array, n);
    }
  }
  const bool makes_array = name == "numpy.array" || name == "numpy.asarray";
  if (makes_array && !args.positional.empty() && args.positional[0].is(Kind::list))
    if (auto rows = array_of_rows(args, n)) return rows;
  const bool random = name.starts_with("random.");
  if (!random && !name.starts_with("numpy.")) return std::nullopt;
  std::string f = random ? name : name.substr(6);
  for (const char* linalg : {"norm", "solve", "inv", "det"})  // a function tells its own name, not its module's
    if (f == linalg) f = "linalg." + f;
  unit_.need("host_numpy");
  const auto& p = args.positional;
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* x) { return f == x; });
  };
  const auto accept = [&](const Bound& b) {
    if (b.too_many()) fail(n, fmt::format("{}() got too many arguments", name));
    if (!b.unknown().empty()) fail(n, fmt::format("{}() takes no argument '{}' in compiled functions", name, b.unknown()));
  };
  const auto array = [&](Type element, int ndim, Code text) { return Value::called(array_type(element, ndim, 'C'), std::move(text)); };
  const auto integer = [&](const Value& v) { return whole_number(v, "this argument", n); };
  const auto option = [&](const char* key) -> Value {
    for (const auto& [name, v] : args.keywords)
      if (name == key) return v;
    return {};
  };
  const auto matrices = [&](const Value& v) {
    if (v.type->ndim != 2)
      fail(n, fmt::format("{}() takes a matrix in compiled functions, not {}", name, v.type->spelling), {{source_of(n), v.type}});
    if (is_inexact(v.type->dtype) && itemsize(v.type->dtype) == 2) fail(n, fmt::format("{}() does not take {}", name, v.type->spelling));
  };

  if (is({"zeros", "ones", "empty"})) {
    Bound b(args, {"shape", "dtype", "order"});
    accept(b);
    int ndim = 0;
    const Code shape = host_shape(b[0], &ndim, n);
    const Type t = host_dtype(b[1], float64_type(), n);
    if (f == "ones") return array(t, ndim, code("py::full<{0}, {1}>({2}, cast<{0}>(1))", cpp(t), ndim, shape));
    return array(t, ndim, code("py::{}<{}, {}>({})", f == "zeros" ? "zeros" : "fresh", cpp(t), ndim, shape));
  }
  if (f == "full") {
    Bound b(args, {"shape", "fill_value", "dtype"});
    accept(b);
    int ndim = 0;
    const Code shape = host_shape(b[0], &ndim, n);
    const Value fill = b[1].is_array() && b[1].type->ndim == 0 ? scalar_of(b[1], n) : b[1];
    if (fill.is_array()) fail(n, fmt::format("full() fills with one number, not {}", fill.type->spelling));
    const Type t = host_dtype(b[2], fill.is(Kind::literal) ? int64_type() : fill.type, n);
    expect_fits(fill, t, n);
    return array(t, ndim, code("py::full<{}, {}>({}, {})", cpp(t), ndim, shape, convert(fill, t, n)));
  }
  if (is({"zeros_like", "ones_like", "empty_like", "full_like"})) {
    const bool full = f == "full_like";
    Bound b = full ? Bound(args, {"a", "fill_value", "dtype"}) : Bound(args, {"a", "dtype"});
    accept(b);
    if (!b[0].is_array()) fail(n, fmt::format("{}() takes an array, got {}", name, b[0].type ? b[0].type->spelling : "nothing"));
    const Type t = host_dtype(b[full ? 2 : 1], b[0].type->element, n);
    const Value a = host_array(b[0], n);
    const int ndim = a.type->ndim;
    const Code shape = shape_text(a);
    if (full) expect_fits(b[1], t, n);
    if (f == "zeros_like") return array(t, ndim, code("py::zeros<{}, {}>({})", cpp(t), ndim, shape));
    if (f == "empty_like") return array(t, ndim, code("py::fresh<{}, {}>({})", cpp(t), ndim, shape));
    return array(t, ndim, code("py::full<{}, {}>({}, {})", cpp(t), ndim, shape, full ? convert(b[1], t, n) : code("cast<{}>(1)", cpp(t))));
  }
  if (f == "arange") {
    Bound b(args, {"start", "stop", "step", "dtype"});
    accept(b);
    if (!b.given(0)) fail(n, "arange() needs an argument for 'stop'");
    const Value zero = constant_value(Constant{int64_t{0}}), one = constant_value(Constant{int64_t{1}});
    for (int i = 0; i < 3; ++i)
      if (b.given(i) && b[i].is_array()) b[i] = scalar_of(b[i], n);  // an array of numbers stays one, and is refused below
    const Value start = b.given(1) ? b[0] : zero, stop = b.given(1) ? b[1] : b[0], step = b.given(2) ? b[2] : one;
    Type t = int64_type();
    for (const Value& v : {start, stop, step}) t = unify(t, v.is(Kind::literal) ? int64_type() : v.type);
    t = host_dtype(b[3], t, n);
    if (!t->is_scalar() || is_bool(t->dtype) || is_complex(t->dtype))
      fail(n, fmt::format("arange() does not make arrays of {}", t->spelling));
    return array(t, 1, code("py::arange<{}>({}, {}, {})", cpp(t), convert(start, t, n), convert(stop, t, n), convert(step, t, n)));
  }
  if (f == "linspace") {
    Bound b(args, {"start", "stop", "num", "endpoint"});
    accept(b);
    const Type t = (b[0].is_scalar() && is_complex(b[0].type->dtype)) || (b[1].is_scalar() && is_complex(b[1].type->dtype))
                       ? scalar_type(DType::c128)
                       : float64_type();
    return array(t, 1,
                 code("py::linspace<{}>({}, {}, {}, {})", cpp(t), convert(b[0], t, n), convert(b[1], t, n),
                      b.given(2) ? integer(b[2]) : "50", b.given(3) ? convert(b[3], bool_type(), n) : "true"));
  }
  if (is({"eye", "identity"})) {
    Bound b = f == "eye" ? Bound(args, {"N", "M", "k", "dtype"}) : Bound(args, {"N", "dtype"});
    accept(b);
    const Value extent = spill(Value::of(int64_type(), integer(b[0])), "n");
    const Type t = host_dtype(b[f == "eye" ? 3 : 1], float64_type(), n);
    return array(t, 2,
                 code("py::eye<{}>({}, {}, {})", cpp(t), extent.text, f == "eye" && b.given(1) ? integer(b[1]) : extent.text,
                      f == "eye" && b.given(2) ? integer(b[2]) : "0"));
  }
  if (is({"array", "asarray", "ascontiguousarray", "copy"})) {
    Bound b(args, {"a", "dtype"});
    accept(b);
    if (!b[0].type) fail(n, fmt::format("{}() needs an argument", name));
    const Type element = host_dtype(b[1], nullptr, n);
    if (b[0].is(Kind::tuple)) return host_array_of(b[0], element, n);
    if (b[0].is_scalar() || b[0].is(Kind::literal)) {
      const Type t = element ? element : b[0].is(Kind::literal) ? int64_type() : b[0].type;
      if (f == "ascontiguousarray") return array(t, 1, code("py::full<{}, 1>({{{{1}}}}, {})", cpp(t), convert(b[0], t, n)));
      return array(t, 0, code("py::full<{}, 0>({{}}, {})", cpp(t), convert(b[0], t, n)));
    }
    if (!b[0].is_array()) fail(n, fmt::format("{}() does not take {}", name, b[0].type ? b[0].type->spelling : "nothing"));
    if (f == "ascontiguousarray" && b[0].type->ndim == 0) return raveled(element ? cast_to(element, b[0], n) : b[0], n);
    if (element && element != b[0].type->element) return materialise(cast_to(element, b[0], n), n);
    if (b[0].lazy) return materialise(b[0], n);
    if (f == "asarray") return b[0];
    return array(b[0].type->element, b[0].type->ndim, code("py::{}({})", f == "ascontiguousarray" ? "contiguous" : "copy", b[0].text));
  }
  for (const char* r :
       {"sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "count_nonzero", "amin", "amax"})
    if (f == r && !p.empty()) return host_reduction(f == "amin" ? "min" : f == "amax" ? "max" : f, p[0], {{}, {}, args.keywords}, n);
  if (is({"nansum", "nanmean", "nanmin", "nanmax"}) && p.size() == 1) return nan_reduction(f.substr(3), p[0], n);
  if (f == "ptp" && p.size() == 1) {
    const Value a = host_array(p[0], n);
    if (a.type->element == bool_type()) fail(n, "ptp() does not take booleans, which have no difference", {}, "convert with astype()");
    return binary(Operator::sub, host_reduction("max", a, {}, n), host_reduction("min", a, {}, n), n);
  }
  if (f == "average" && p.size() == 1) return host_reduction("mean", p[0], {}, n);
  if (f == "median" && p.size() == 1 && is_complex(p[0].type->dtype)) fail(n, "median() does not take complex numbers");
  if (f == "median" && p.size() == 1) return Value::called(float64_type(), code("py::median({})", host_array(p[0], n).text));
  if (is({"cumsum", "cumprod"}) && p.size() == 1) {
    const Value a = host_array(p[0], n);
    const Type t = scalar_type(wide(a.type->dtype));
    return array(t, 1, code("py::cumulative<{}>({}, {})", cpp(t), f == "cumprod", a.text));
  }
  if (f == "as_strided") {
    Bound b(args, {"x", "shape", "strides"});
    accept(b);
    const Value a = host_array(b[0], n);
    int ndim = a.type->ndim, steps = a.type->ndim;
    const Code own = a.type->ndim ? a.text : "", shape = b.given(1) && !b[1].is_none() ? host_shape(b[1], &ndim, n) : code("{}.shape", own);
    const Code strides = b.given(2) && !b[2].is_none() ? host_shape(b[2], &steps, n) : code("{}.strides", own);
    if (ndim != steps) fail(n, "as_strided(): shape and strides differ in length");
    if (ndim == 0 && a.type->ndim == 0) return a;
    const Type made = array_type(a.type->element, ndim, 'A', a.type->read_only);
    return Value::called(made, code("py::host_strided<{}>({}, {}, {})", cpp(made), a.text, shape, strides));
  }
  if (f == "sliding_window_view") {
    Bound b(args, {"x", "window_shape", "axis"});
    accept(b);
    Value a = host_array(b[0], n);
    const auto items = [&](const Value& v) { return v.is(Kind::tuple) ? index_items(v) : std::vector<Value>{v}; };
    const std::vector<Value> windows = items(b[1]);
    std::vector<Value> axes;
    if (b.given(2) && !b[2].is_none()) axes = items(b[2]);
    const bool all = axes.empty();
    if (windows.size() != (all ? static_cast<size_t>(a.type->ndim) : axes.size()))
      fail(n, "sliding_window_view(): expected one window for each axis");
    const int ndim = a.type->ndim;
    for (size_t i = 0; i < windows.size(); ++i) {
      const Type made = array_type(a.type->element, a.type->ndim + 1, 'A', a.type->read_only);
      a = spill(Value::called(made, code("py::host_windowed<{}>({}, {}, {}, {})", cpp(made), a.text, integer(windows[i]),
                                         all ? std::to_string(i) : integer(axes[i]), ndim)),
                "v");
    }
    return a;
  }
  if (f == "reshape" && p.size() == 2) return host_method(p[0], "reshape", {{p[1]}, {}, {}}, n);
  if (is({"sort", "argsort"}) && p.size() == 1) return sorted_along(f, p[0], option("axis"), n);
  if (is({"ravel", "nonzero"}) && p.size() == 1) return host_method(p[0], f, {}, n);
  if (f == "transpose" && p.size() == 1) {
    const Value axes = option("axes");
    return host_method(p[0], f, {axes.type ? std::vector<Value>{axes} : std::vector<Value>{}, {}, {}}, n);
  }
  if (is({"concatenate", "hstack", "vstack", "stack"})) {
    Bound b(args, {"arrays", "axis"});
    accept(b);
    if (b[0].is_array())
      fail(n, fmt::format("{}() takes a tuple of arrays in compiled functions", name), {}, "put them into one tuple: (a, b)");
    if (!b[0].is(Kind::tuple) || b[0].type->items.empty()) fail(n, fmt::format("{}() takes a tuple of arrays", name));
    const Value whole = b[0].items.empty() && !b[0].simple ? spill(b[0]) : b[0];
    std::vector<Value> arrays;
    Type t = nullptr;
    const bool flat = f == "concatenate" && b[1].is_none();
    for (size_t i = 0; i < b[0].type->items.size(); ++i) {
      Value a = array_operand(tuple_item(whole, i), true, name, "arrays", n);
      if (a.type->ndim == 0 && f == "concatenate" && !flat) fail(n, "concatenate() does not take arrays without dimensions");
      a = flat || (a.type->ndim == 0 && is({"hstack", "vstack"})) ? raveled(a, n) : host_array(a, n);
      t = unify(t, a.type->element);
      // Rows and new axes are added by views.
      if (f == "stack" || (f == "vstack" && a.type->ndim == 1)) {
        Value all = Value::known(slice_type());
        all.items.assign(3, Value::known(none_type()));
        std::vector<Value> items(static_cast<size_t>(a.type->ndim), all);
        int64_t at = f == "stack" && b.given(1) ? b[1].integer().value_or(-100) : 0;
        if (at < 0) at += a.type->ndim + 1;
        if (at < 0 || at > a.type->ndim) fail(n, "stack(): expected an axis of the result that is known when the function is compiled");
        items.insert(items.begin() + at, Value::known(none_type()));
        a = bound(view(a, items, n), "v");
      }
      arrays.push_back(a);
    }
    const int ndim = arrays[0].type->ndim;
    Code list;
    for (const Value& a : arrays) {
      if (a.type->ndim != ndim) fail(n, fmt::format("{}(): the arrays differ in their number of dimensions", name));
      list += ", " + a.text;
    }
    if (b.given(1) && f != "stack" && !b[1].integer()) whole_number(b[1], "an axis", n);
    const Code axis = f == "hstack"                        ? (ndim == 1 ? "0" : "1")
                      : (f == "concatenate" && b.given(1)) ? integer(b[1])
                      : f == "stack" && b.given(1)         ? code("{}", *b[1].integer() < 0 ? *b[1].integer() + ndim : *b[1].integer())
                                                           : "0";
    return array(t, ndim, code("py::concatenate<{}, {}>({}{})", cpp(t), ndim, axis, list));
  }
  if (f == "append" && p.size() == 2) {
    const Value a = raveled(p[0], n), b = raveled(p[1], n);
    const Type t = unify(a.type->element, b.type->element);
    return array(t, 1, code("py::concatenate<{}, 1>(0, {}, {})", cpp(t), a.text, b.text));
  }
  if (f == "repeat" && p.size() == 2 && p[0].is_array() && !p[1].is_array() && !p[1].is(Kind::tuple))
    return array(p[0].type->element, 1, code("py::repeat({}, {})", raveled(p[0], n).text, integer(p[1])));
  if (f == "diff" && p.size() == 1 && (p[0].type->ndim == 0 || is_bool(p[0].type->dtype)))
    fail(n, fmt::format("diff() does not take {} in compiled functions", p[0].type->spelling));
  if (f == "diff" && p.size() == 1 && p[0].type->ndim == 1)
    return array(p[0].type->element, 1, code("py::diff({})", host_array(p[0], n).text));
  if (f == "unique" && p.size() == 1) return array(p[0].type->element, 1, code("py::unique({})", raveled(p[0], n).text));
  if (f == "partition" && p.size() == 2 && p[0].is_array() && p[0].type->ndim == 1 && (p[1].is_scalar() || p[1].is(Kind::literal)))
    return array(p[0].type->element, 1, code("py::partitioned({}, {})", host_array(p[0], n).text, integer(p[1])));
  if (f == "bincount") {
    Bound b(args, {"x", "weights", "minlength"});
    accept(b);
    if (b[0].type->ndim != 1 || is_inexact(b[0].type->dtype))
      fail(n, fmt::format("bincount() takes a vector of integers, not {}", b[0].type->spelling));
    if (b.given(1))
      if (const Function* other = function_.stand_in("numpy.bincount")) return call_function(*other, other->syntax(), args, n);
    return array(int64_type(), 1, code("py::bincount({}, {})", host_array(b[0], n).text, b.given(2) ? integer(b[2]) : "0"));
  }
  if (f == "flatnonzero" && p.size() == 1) return array(int64_type(), 1, code("py::flat_nonzero({})", raveled(p[0], n).text));
  if (f == "where" && p.size() == 1) return host_method(p[0], "nonzero", {}, n);
  if (f == "take" && p.size() == 2 && (p[1].is_scalar() || p[1].is(Kind::literal))) {
    const Value a = raveled(p[0], n);
    const Value i = spill(Value::called(int64_type(), code("py::checked_index({}, {}.shape[0])", integer(p[1]), a.text)), "i");
    return subscript_of(a, i, n);
  }
  if (f == "take" && p.size() == 2) return host_index(raveled(p[0], n), p[1], n);
  if (f == "searchsorted") {
    Bound b(args, {"a", "v", "side"});
    accept(b);
    if (b[0].type->ndim != 1) fail(n, fmt::format("searchsorted() takes a sorted vector, not {}", b[0].type->spelling));
    const bool right = b[2].is(Kind::string) && b[2].type->name == "right";
    if (b[2].type && !right && !(b[2].is(Kind::string) && b[2].type->name == "left"))
      fail(n, "searchsorted(): side must be 'left' or 'right', known when the function is compiled");
    const Type of = b[1].is_array() ? b[1].type->element : b[1].is(Kind::literal) ? int64_type() : b[1].type;
    if (!of->is_scalar()) fail(n, fmt::format("searchsorted() does not take {}", of->spelling));
    // Compared in the type that holds both: 2.5 has a place among integers.
    const Value sorted = host_array(b[0], n);
    const Type both = scalar_type(promote(sorted.type->dtype, of->dtype));
    const auto place_of = [this, sorted, both, right, n](const Value& x) {
      return Value::called(int64_type(), code("py::search<{}>({}, {}, {})", cpp(both), sorted.text, convert(x, both, n), right));
    };
    if (!b[1].is_array()) return place_of(b[1]);
    return materialise(lift({b[1]}, [place_of](std::span<const Value> x) { return place_of(x[0]); }, n), n);
  }
  if (f == "vdot" && p.size() == 2 && p[0].is_array() && p[1].is_array()) {
    const Value a = raveled(p[0], n), b = raveled(p[1], n);
    if (!is_complex(a.type->dtype)) return host_product(a, b, n, true);
    return host_product(
        lift({a}, [this, n](std::span<const Value> x) { return elementwise(static_cast<int>(Op::conj), {x[0]}, n); }, n), b, n, true);
  }
  if (is({"dot", "vdot"}) && p.size() == 2) {
    const auto number = [](const Value& v) { return !v.is_array() || v.type->ndim == 0; };
    if (number(p[0]) || number(p[1])) return materialise(binary(Operator::mul, scalar_of(p[0], n), scalar_of(p[1], n), n), n);
  }
  if (is({"dot", "matmul", "vdot"}) && p.size() == 2) return host_product(p[0], p[1], n, f != "matmul");
  if (f == "outer" && p.size() == 2 && !is_bool(p[0].type->dtype) && !is_bool(p[1].type->dtype)) {
    const Value a = raveled(p[0], n), b = raveled(p[1], n);
    const Type t = scalar_type(promote(a.type->dtype, b.type->dtype));
    return array(t, 2, code("py::outer<{}>({}, {})", cpp(t), a.text, b.text));
  }
  if (f == "outer" && p.size() == 2) {
    Value all = Value::known(slice_type());
    all.items.assign(3, Value::known(none_type()));
    const Value none = Value::known(none_type());
    const Value a = bound(view(raveled(p[0], n), {all, none}, n), "v");
    const Value b = bound(view(raveled(p[1], n), {none, all}, n), "v");
    return materialise(binary(Operator::mul, a, b, n), n);
  }
  if (f == "trace" && p.size() == 1) {
    if (p[0].type->ndim != 2) fail(n, fmt::format("trace() takes a matrix in compiled functions, not {}", p[0].type->spelling));
    const Value a = host_array(p[0], n);
    if (!is_inexact(a.type->dtype) && itemsize(a.type->dtype) < 8) {
      const Type t = scalar_type(wide(a.type->dtype));
      return Value::called(t, code("py::trace<{}>({})", cpp(t), a.text));
    }
  }
  if (f == "trace" && p.size() == 1)
    return Value::called(p[0].type->element, code("py::trace<{}>({})", cpp(p[0].type->element), host_array(p[0], n).text));
  if (f.starts_with("linalg.") && !p.empty()) {
    const Value a = host_array(p[0], n);
    const Type t = is_inexact(a.type->dtype) ? a.type->element : float64_type();
    if (f == "linalg.norm" && p.size() == 1)
      return Value::called(scalar_type(real_type(t->dtype)), code("py::norm<{}>({})", cpp(scalar_type(real_type(t->dtype))), a.text));
    if (is({"linalg.solve", "linalg.inv", "linalg.det"})) matrices(a);
    if (f == "linalg.solve" && p.size() == 2) {
      const Value b = host_array(p[1], n);
      if (b.type->ndim < 1 || b.type->ndim > 2)
        fail(n, fmt::format("solve() takes a vector or a matrix on the right, not {}", b.type->spelling));
      const Type both = scalar_type(promote(t->dtype, is_inexact(b.type->dtype) ? b.type->dtype : t->dtype));
      return array(both, b.type->ndim, code("py::solve<{}>({}, {})", cpp(both), a.text, b.text));
    }
    if (f == "linalg.inv" && p.size() == 1) return array(t, 2, code("py::inverse<{}>({})", cpp(t), a.text));
    if (f == "linalg.det" && p.size() == 1) return Value::called(t, code("py::determinant<{}>({})", cpp(t), a.text));
  }
  if (f == "array_equal" && p.size() == 2) return same_elements(p[0], p[1], n);
  if (is({"allclose", "isclose"}) && p.size() == 2 && (p[0].is_array() || p[1].is_array())) {
    const Value a = materialise(p[0], n), b = materialise(p[1], n);
    Bound options(args, {"a", "b", "rtol", "atol", "equal_nan"});
    accept(options);
    const auto number = [&](size_t i, Type t, const char* otherwise) {
      return options.given(i) ? spill(converted(options[i], t, n)).text : std::string(otherwise);
    };
    const Code r = number(2, float64_type(), "1e-5"), t = number(3, float64_type(), "1e-8"), q = number(4, bool_type(), "false");
    const Value close = lift(
        {a.is_array() ? bound(a) : a, b.is_array() ? bound(b) : b},
        [this, n, r, t, q](std::span<const Value> x) {
          return Value::of(bool_type(), code("py::is_close({}, {}, {}, {}, {})", convert(x[0], float64_type(), n),
                                             convert(x[1], float64_type(), n), r, t, q));
        },
        n);
    return f == "isclose" ? close : host_reduction("all", close, {}, n);
  }
  if (f == "shape" && p.size() == 1 && p[0].is_array()) return array_attribute(host_array(p[0], n), "shape", n);
  if (f == "size" && p.size() == 1 && option("axis").type) {
    const Value a = host_array(p[0], n);
    if (a.type->ndim == 0) fail(n, "size(): the axis is out of bounds for an array without dimensions");
    return Value::called(int64_type(), code("{0}.shape[py::axis_of({1}, {2})]", a.text, integer(option("axis")), a.type->ndim));
  }
  if (f == "size" && p.size() == 1 && p[0].is_array()) return array_attribute(host_array(p[0], n), "size", n);
  if (f == "ndim" && p.size() == 1 && p[0].is_array()) return constant_value(Constant{static_cast<int64_t>(p[0].type->ndim)});
  if (f == "expand_dims") {
    Bound b(args, {"a", "axis"});
    accept(b);
    if (!b.given(0) || !b.given(1) || !b[1].integer())
      fail(n, "expand_dims() takes an array and an axis that is known when it is compiled");
    const Value a = host_array(b[0], n);
    int64_t at = *b[1].integer();
    if (at < 0) at += a.type->ndim + 1;
    if (at < 0 || at > a.type->ndim) fail(n, fmt::format("expand_dims(): axis {} is out of bounds", *b[1].integer()));
    Value all = Value::known(slice_type());
    all.items.assign(3, Value::known(none_type()));
    std::vector<Value> items(static_cast<size_t>(a.type->ndim), all);
    items.insert(items.begin() + at, Value::known(none_type()));
    return view(a, items, n);
  }
  if (f == "flip" && p.size() == 1) {
    const Value a = host_array(p[0], n), axis = option("axis");
    Value back = Value::known(slice_type());
    back.items = {Value::known(none_type()), Value::known(none_type()), constant_value(Constant{int64_t{-1}})};
    if (!axis.type) return view(a, std::vector<Value>(static_cast<size_t>(a.type->ndim), back), n);
    Value all = Value::known(slice_type());
    all.items.assign(3, Value::known(none_type()));
    std::vector<Value> items(static_cast<size_t>(a.type->ndim), all);
    for (const Value& i : index_items(axis)) {
      if (!i.integer()) {
        if (const Function* other = function_.stand_in(name)) return call_function(*other, other->syntax(), args, n);
        fail(n, "flip(): the axis must be known when the function is compiled");
      }
      const int64_t at = *i.integer() < 0 ? *i.integer() + a.type->ndim : *i.integer();
      if (at < 0 || at >= a.type->ndim)
        fail(n, fmt::format("flip(): axis {} is out of bounds for {} dimensions", *i.integer(), a.type->ndim));
      if (!items[static_cast<size_t>(at)].items[2].is_none()) fail(n, "flip(): an axis is named twice");
      items[static_cast<size_t>(at)] = back;
    }
    return view(a, items, n);
  }
  if (auto r = host_axes(f, args, n)) return r;
  return host_random(f, random, args, n);
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
  if (name == "astype") {
    if (p.empty()) return std::nullopt;
    return materialise(cast_to(host_dtype(p[0], nullptr, n), self.lazy ? self : bound(self), n), n);
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
    if (axes.empty()) return array_attribute(host_array(self, n), "T", n);
    int ndim = 0;
    const Code order = host_shape(p.size() == 1 ? p[0] : tuple_of(p), &ndim, n);
    if (ndim != self.type->ndim) fail(n, "transpose(): the axes do not match the array");
    return Value::called(with_layout(self.type, ndim, 'A'),
                         code("py::permuted({0}, py::whole_order<{2}>({1}))", host_array(self, n).text, order, ndim));
  }
  if (name == "swapaxes" || name == "squeeze") {
    CallArguments all = args;
    all.positional.insert(all.positional.begin(), self);
    all.nodes.insert(all.nodes.begin(), n);
    return host_axes(name, all, n);
  }
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
  if (name == "cumsum" || name == "cumprod") {
    CallArguments all = args;
    all.positional.insert(all.positional.begin(), self);
    all.nodes.insert(all.nodes.begin(), n);
    return call_builtin("numpy." + name, std::move(all), n);
  }
  if (name == "dot" && p.size() == 1) return host_builtin("numpy.dot", {{self, p[0]}, {n, n}, {}}, n);
  if (name == "round" || name == "trace" || name == "searchsorted" || name == "clip") {
    CallArguments all = args;
    all.positional.insert(all.positional.begin(), self);
    all.nodes.insert(all.nodes.begin(), n);
    return call_builtin("numpy." + name, std::move(all), n);
  }
  if (name == "item" && p.size() < 2) {
    const Value a = host_array(self, n);
    if (!p.empty() && p[0].is(Kind::tuple)) return subscript_of(a, p[0], n);
    if (p.empty() && a.type->ndim == 0) return scalar_of(a, n);
    // The one element, or that at a place in C order.
    const Value flat = raveled(a, n);
    if (p.empty()) linef("py::expect_single({}.shape[0]);", flat.text);
    const Code at = p.empty() ? "0" : code("py::checked_index({}, {}.shape[0])", whole_number(p[0], "an index", n), flat.text);
    return subscript_of(flat, spill(Value::called(int64_type(), at), "i"), n);
  }
  if (name == "nonzero" && p.empty()) {
    if (self.type->ndim == 2)
      if (const Function* other = function_.stand_in("array.nonzero2"))
        return call_function(*other, other->syntax(), {{materialise(self, n)}, {n}, {}}, n);
    if (self.type->ndim != 1) fail(n, "nonzero() takes vectors and matrices in compiled functions");
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
  if (na < 1 || na > 2 || nb < 1 || nb > 2)
    fail(n, "products take vectors and matrices in compiled functions", {{"left", a.type}, {"right", b.type}});
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
  Value all = Value::known(slice_type());
  all.items.assign(3, Value::known(none_type()));
  const auto ellipsis = std::find_if(items.begin(), items.end(), [](const Value& i) { return i.is(Kind::ellipsis); });
  const auto place = ellipsis == items.end() ? ellipsis : items.erase(ellipsis);
  items.insert(place, static_cast<size_t>(a.type->ndim - used), all);
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
      rest.push_back(all);
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
    return v.type &&
           (v.type->is_container() || v.display || v.is(Kind::text) || v.is(Kind::optional) || v.is(Kind::tuple) || v.is(Kind::array) ||
            (v.is(Kind::builtin) && (v.type->name.starts_with("dict.") || v.type->name.starts_with("exception."))));
  };
  if (std::any_of(args.positional.begin(), args.positional.end(), written)) {
    const std::string w = temporary("text");
    linef("py::Writer {};", w);
    for (size_t i = 0; i < args.positional.size(); ++i) {
      if (i) linef("py::write_str({}, {});", w, literal_text(separator));
      linef("py::write_str({}, {});", w, text_operand(args.positional[i], n));
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
