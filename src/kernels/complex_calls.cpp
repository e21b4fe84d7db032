// cmath: complex mathematics by the rows of elementwise functions. See compiler.h for the method.
#include "kernels/compiler.h"
#include "primitives/ops.h"

namespace bc::kernels {
namespace {

constexpr const char* kComplexFunctions[] = {"exp",   "log",   "log10", "sqrt",     "sin",   "cos",   "tan",   "asin",
                                             "acos",  "atan",  "sinh",  "cosh",     "tanh",  "asinh", "acosh", "atanh",
                                             "phase", "polar", "isnan", "isfinite", "isinf", "rect"};

}  // namespace

std::vector<std::string> complex_names() {
  std::vector<std::string> names;
  for (const char* f : kComplexFunctions) names.push_back(std::string("cmath.") + f);
  return names;
}

std::optional<Value> FunctionCompiler::complex_call(const std::string& name, const CallArguments& args, const Node* n) {
  if (!name.starts_with("cmath.")) return std::nullopt;
  const std::string plain = name.substr(6);
  bool known = false;
  for (const char* f : kComplexFunctions) known |= plain == f;
  if (!known) return std::nullopt;
  const size_t low = plain == "rect" ? 2 : 1, high = plain == "rect" || plain == "log" ? 2 : 1;
  if (args.positional.size() < low || args.positional.size() > high || !args.keywords.empty())
    fail(n, fmt::format("{}() takes {} argument{}, got {}", name, low, low == 1 ? "" : "s", args.positional.size() + args.keywords.size()));
  std::vector<Value> z;
  for (size_t i = 0; i < args.positional.size(); ++i) {
    Value v = args.positional[i];
    if (v.is(Kind::literal)) v = converted(v, int64_type(), n);
    if (!v.is_scalar()) fail(n, fmt::format("{}() does not take {}", name, v.type->spelling), {{source_of(args.nodes[i]), v.type}});
    const DType d = v.type->dtype;
    if (plain == "rect") {
      if (is_complex(d)) fail(n, "cmath.rect() takes a radius and an angle, which are real", {{source_of(args.nodes[i]), v.type}});
      z.push_back(is_real_float(d) ? v : converted(v, float64_type(), n));
    } else {
      const bool narrow = is_real_float(d) && d != DType::f64;
      z.push_back(is_complex(d) ? v : converted(v, scalar_type(narrow ? DType::c64 : DType::c128), n));
    }
  }
  const auto apply = [&](Op op, std::vector<Value> operands) { return elementwise(static_cast<int>(op), operands, n); };
  if (plain == "rect") {
    const auto narrow = [](const Value& v) { return v.type->dtype != DType::f64; };
    const bool all_narrow = narrow(z[0]) && narrow(z[1]);
    const Type part = scalar_type(all_narrow ? DType::f32 : DType::f64);
    unit_.need("libm");
    return Value::of(scalar_type(all_narrow ? DType::c64 : DType::c128),
                     code("py::rect<{}>({}, {})", cpp(part), convert(z[0], part, n), convert(z[1], part, n)));
  }
  if (plain == "phase" || plain == "polar") {
    const Value whole = spill(z[0]);
    const Value angle = apply(Op::arctan2, {attribute_of(whole, "imag", n), attribute_of(whole, "real", n)});
    return plain == "phase" ? angle : tuple_of({apply(Op::abs, {whole}), angle});
  }
  CallArguments one;
  one.nodes = {args.nodes[0]};
  one.positional = {z[0]};
  const Value r = *call_elementwise("numpy." + plain, one, n);
  if (z.size() == 1) return r;
  one.positional = {z[1]};
  return binary(Operator::div, r, *call_elementwise("numpy." + plain, one, n), n);
}

}  // namespace bc::kernels
