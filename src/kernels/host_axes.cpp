// NumPy's functions that reorder or drop axes, and those that ask what a value is, in functions compiled for the CPU.
#include "kernels/compiler.h"
#include "primitives/ops.h"

namespace bc::kernels {

std::optional<Value> FunctionCompiler::host_axes(const std::string& f, const CallArguments& args, const Node* n) {
  const auto argument = [&](size_t i, std::initializer_list<const char*> names) -> Value {
    if (i < args.positional.size()) return args.positional[i];
    for (const auto& [key, v] : args.keywords)
      for (const char* name : names)
        if (key == name) return v;
    return {};
  };
  const auto integer = [&](const Value& v) { return whole_number(v, "an axis", n); };
  if (f == "moveaxis" || f == "swapaxes" || f == "rollaxis") {
    const Value x = argument(0, {"a"}), from = argument(1, {"source", "axis1", "axis"});
    Value to = argument(2, {"destination", "axis2", "start"});
    if (f == "rollaxis" && !to.type) to = constant_value(Constant{int64_t{0}});
    if (!x.type || !from.type || !to.type) fail(n, fmt::format("{}() takes an array and two axes", f));
    unit_.need("host_numpy");
    const Value a = host_array(x, n);
    if (a.type->ndim == 0) fail(n, fmt::format("{}(): the axis is out of bounds for an array without dimensions", f));
    Code order;
    if (f == "moveaxis") {
      int count = 0, others = 0;
      const Code sources = host_shape(from, &count, n), destinations = host_shape(to, &others, n);
      if (count != others) fail(n, "moveaxis(): the source and the destination differ in length");
      order = code("py::moved_axes<{}>({}, {})", a.type->ndim, sources, destinations);
    } else {
      order = code("py::{}<{}>({}, {})", f == "swapaxes" ? "swapped_axes" : "rolled_axes", a.type->ndim, integer(from), integer(to));
    }
    if (a.type->ndim == 1) {
      linef("(void){};", order);  // its checks of the axes
      return a;
    }
    return Value::called(with_layout(a.type, a.type->ndim, 'A'), code("py::permuted({}, {})", a.text, order));
  }
  if (f == "squeeze") {
    const Value x = argument(0, {"a"}), axis = argument(1, {"axis"});
    if (!x.type) fail(n, "squeeze() takes an array");
    const Value a = host_array(x, n);
    if (a.type->ndim == 0) {
      // NumPy takes 0 and -1 alone, but not in a tuple.
      const bool fits =
          !axis.type || axis.is_none() || axis.integer() == 0 || axis.integer() == -1 || (axis.is(Kind::tuple) && axis.type->items.empty());
      if (!fits) fail(n, "squeeze(): the axis is out of bounds for an array without dimensions");
      return a;
    }
    if (!axis.type || axis.is_none())
      fail(n, "squeeze() needs an axis in compiled functions, where the number of dimensions is known before the extents",
           {{source_of(n), a.type}}, "name the axes, as in squeeze(a, 0) or squeeze(a, (0, 2))");
    std::vector<Value> items(static_cast<size_t>(a.type->ndim), Value::whole_slice());
    unit_.need("host_numpy");
    for (const Value& i : index_items(axis)) {
      if (!i.integer()) fail(n, "squeeze(): the axes must be known when the function is compiled");
      const int64_t at = *i.integer() < 0 ? *i.integer() + a.type->ndim : *i.integer();
      if (at < 0 || at >= a.type->ndim)
        fail(n, fmt::format("squeeze(): axis {} is out of bounds for {} dimensions", *i.integer(), a.type->ndim));
      if (!items[static_cast<size_t>(at)].is(Kind::slice)) fail(n, "squeeze(): an axis is named twice");
      linef("py::expect_one({}.shape[{}]);", a.text, at);
      items[static_cast<size_t>(at)] = constant_value(Constant{int64_t{0}});
    }
    return view(a, items, n);
  }
  if (f == "isscalar" || f == "iscomplexobj" || f == "isrealobj") {
    const Value x = argument(0, {"element", "x"});
    if (!x.type) fail(n, fmt::format("{}() takes one argument", f));
    const bool number = x.is_scalar() || x.is(Kind::literal);
    if (f == "isscalar") return constant_value(Constant{number || x.is(Kind::string) || x.is(Kind::text)});
    const bool complex = (x.is_array() || x.is_scalar()) && is_complex(x.type->dtype);
    return constant_value(Constant{complex == (f == "iscomplexobj")});
  }
  if (f == "iscomplex" || f == "isreal") {
    const Value x = argument(0, {"x"});
    if (!x.type || !(x.is_array() || x.is_scalar() || x.is(Kind::literal))) fail(n, fmt::format("{}() takes an array or a number", f));
    const bool complex = !x.is(Kind::literal) && is_complex(x.type->dtype);
    if (!x.is_array() && !complex) return constant_value(Constant{f == "isreal"});
    const auto told = [this, complex, f, n](std::span<const Value> v) {
      if (!complex) return Value::of(bool_type(), f == "isreal" ? "true" : "false");
      return compare_two(f == "isreal" ? Operator::eq : Operator::ne, elementwise(static_cast<int>(Op::imag), {v[0]}, n),
                         constant_value(Constant{0.0}), n);
    };
    return x.is_array() ? lift({x}, told, n) : told(std::span<const Value>(&x, 1));
  }
  return std::nullopt;
}

}  // namespace bc::kernels
