// What the compiler knows: functions that rows describe, functions with rules of their own, methods of arrays and numbers. See compiler.h
// for the method.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/compiler.h"
#include "kernels/host.h"
#include "kernels/rows.h"
#include "primitives/ops.h"

namespace bc::kernels {
namespace {

/// NumPy's and math's names of elementwise rows that the engine calls otherwise.
std::optional<Op> elementwise_op(std::string_view name) {
  static const auto& others = *new std::unordered_map<std::string_view, std::string_view>{
      // clang-format off
      {"absolute", "abs"},     {"conjugate", "conj"},   {"bitwise_count", "bit_count"}, {"asin", "arcsin"},      {"acos", "arccos"},
      {"atan", "arctan"},      {"atan2", "arctan2"},    {"asinh", "arcsinh"},           {"acosh", "arccosh"},    {"atanh", "arctanh"},
      {"pow", "power"},        {"degrees", "rad2deg"},  {"radians", "deg2rad"},         {"mod", "remainder"},    {"true_divide", "divide"},
      {"isnat", "isnan"},      {"bitwise_not", "invert"}, {"bitwise_invert", "invert"}, {"bitwise_left_shift", "left_shift"}, {"bitwise_right_shift", "right_shift"},
      // clang-format on
  };
  const auto it = others.find(name);
  const auto op = op_from_name(it == others.end() ? name : it->second);
  if (op && (*op == Op::random_bits || *op == Op::random_uniform || *op == Op::random_normal || *op == Op::random_below))
    return std::nullopt;
  return op;
}

constexpr const char* kMath[] = {"sqrt",  "cbrt",     "exp",   "exp2",  "expm1",    "log",   "log2",    "log10",   "log1p",     "sin",
                                 "cos",   "tan",      "asin",  "acos",  "atan",     "atan2", "sinh",    "cosh",    "tanh",      "asinh",
                                 "acosh", "atanh",    "fabs",  "floor", "ceil",     "trunc", "fmod",    "hypot",   "pow",       "gcd",
                                 "lcm",   "copysign", "isnan", "isinf", "isfinite", "ldexp", "degrees", "radians", "nextafter", "fma"};

struct AtomicRow {
  const char* name;
  DTypeSet types;
};
constexpr DTypeSet bits(std::initializer_list<DType> list) {
  DTypeSet s = 0;
  for (DType t : list) s |= dtype_bit(t);
  return s;
}
constexpr DTypeSet kIntegers = bits({DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64, DType::u64});
constexpr DTypeSet kFloats = bits({DType::f16, DType::bf16, DType::f32, DType::f64}), kComplex = bits({DType::c64, DType::c128});
constexpr DTypeSet kBits = kIntegers | bits({DType::b1});
constexpr AtomicRow kAtomics[] = {
    {"add", kIntegers | kFloats | kComplex},
    {"sub", kIntegers | kFloats | kComplex},
    {"max", kIntegers | kFloats},
    {"min", kIntegers | kFloats},
    {"nanmax", kIntegers | kFloats},
    {"nanmin", kIntegers | kFloats},
    {"and_", kBits},
    {"or_", kBits},
    {"xor", kBits},
    {"exch", kBits | kFloats},
    {"inc", bits({DType::u32, DType::u64})},
    {"dec", bits({DType::u32, DType::u64})},
    {"cas", kBits | kFloats},
    {"compare_and_swap", kBits | kFloats},
};

/// Calls that have neither a row nor an entry in a table.
constexpr const char* kSpecial[] = {"numba.objmode", "numba.parallel_chunksize", "numpy.sign", "math.dist", "math.perm",
                                    "math.comb",     "math.factorial",           "math.isqrt"};

}  // namespace

/// The types of arguments, for messages.
std::string spelled(const CallArguments& args) {
  std::string text;
  for (const Value& v : args.positional) text += (text.empty() ? "" : ", ") + (v.type ? v.type->spelling : "?");
  return "(" + text + ")";
}

std::vector<std::string> known_names() {
  std::set<std::string> names;
  for (const Row& r : all_rows()) names.insert(r.name);
  for (const char* n : kSpecial) names.insert(n);
  for (const char* n : random_names()) names.insert(n);
  for (const std::string& n : complex_names()) names.insert(n);
  for (const std::string& n : vector_names()) names.insert(n);
  for (const char* n : kMath) names.insert(std::string("math.") + n);
  for (const AtomicRow& a : kAtomics) names.insert(std::string("cuda.atomic.") + a.name);
  for (int i = 0; i < kOpCount; ++i)
    if (info(static_cast<Op>(i)).kind == OpKind::elementwise && static_cast<Op>(i) != Op::cast)
      names.insert(std::string("numpy.") + info(static_cast<Op>(i)).name);
  for (const std::string& n : library_names()) names.insert(n);
  for (const std::string& n : builtin_names()) names.insert(n);
  return {names.begin(), names.end()};
}

// ---- functions that rows describe -------------------------------------------------------------------------------------------------

std::optional<Value> FunctionCompiler::call_row(const std::string& name, const CallArguments& args, const Node* n) {
  if (rows_of(name).empty()) return std::nullopt;
  std::vector<Type> types;
  const bool effect = (rows_of(name)[0]->flags & kEffect) != 0;
  if (!args.keywords.empty() && name.starts_with("math.")) fail(n, fmt::format("{}() takes its arguments by position only", name));
  for (const Value& v : args.positional) {
    if (v.is_array() && v.type->ndim > 0 && !effect && !name.starts_with("math."))
      return lift(
          args.positional,
          [this, name, n](std::span<const Value> x) {
            CallArguments scalars;
            scalars.positional.assign(x.begin(), x.end());
            return *call_row(name, scalars, n);
          },
          n);
    types.push_back(v.type);
  }
  // Rows do not name their parameters: the last one may be given by name, as the width of a shuffle is.
  if (args.keywords.size() > 1 || (args.keywords.size() == 1 && args.keywords[0].first == "width" && types.size() != 3))
    fail(n, fmt::format("{}() takes its arguments by position", name));
  for (const auto& [key, v] : args.keywords) types.push_back(v.type);
  const Row* row = choose_row(name, types);
  if (!row) {
    std::string there;
    int listed = 0;
    for (const Row* r : rows_of(name))
      if (++listed <= 4) there += (there.empty() ? "" : ", ") + to_string(FunctionSignature{nullptr, r->signature.arguments});
    fail(n, fmt::format("{} does not take {}", name, spelled(args)), {}, fmt::format("it takes {}{}", there, listed > 4 ? ", …" : ""));
  }
  if (name.starts_with("math."))
    for (size_t i = 0; i < types.size(); ++i)
      if (types[i]->is_scalar() && is_inexact(types[i]->dtype) && !is_inexact(row->signature.arguments[i]->dtype))
        fail(n, fmt::format("{}() takes integers, not {}", name, types[i]->spelling));
  if (*row->header) unit_.need(row->header);
  if (row->flags & kGridSync) unit_.uses_grid_sync = true;
  if (row->flags & kEffect) check_barrier(name, n);
  std::vector<Code> texts;
  Value r;
  std::vector<Value> operands;
  for (size_t i = 0; i < types.size(); ++i) {
    Value v = i < args.positional.size() ? args.positional[i] : args.keywords[i - args.positional.size()].second;
    if (unit_.options.check && !(row->flags & kEffect)) operands.push_back(v = evaluated({v})[0]);
    texts.push_back(convert(v, row->signature.arguments[i], n));
  }
  if (name == "math.isqrt" && unit_.options.python_errors && !in_elements_) {
    texts[0] = spill(converted(args.positional[0], int64_type(), n)).text;
    fail_if(code("{} < 0", texts[0]), "ValueError", "isqrt() argument must be nonnegative", n);
  }
  texts.push_back(cpp(row->signature.result));
  r.type = row->signature.result;
  r.text = row_code(row->text, std::move(texts)).with(Facts((row->flags & kMeets) != 0 ? uint32_t{kBarrier} : 0));
  if (row->flags & kEffect) r.note(kActs);
  r.index = r.non_negative = (row->flags & kIndex) != 0;
  if (r.type->is_scalar() && (is_unsigned(r.type->dtype) || is_bool(r.type->dtype))) r.non_negative = true;
  return row->flags & kEffect ? r : nan_checked(r, operands, n);
}

std::string FunctionCompiler::form_of(std::string_view function, DType operand) const {
  constexpr std::string_view far[] = {"sin", "cos", "tan", "fmod", "remainder", "floor_divide"};  // device/rare.h
  constexpr std::string_view alone[] = {"exp",   "exp2",   "expm1",  "log",    "log2",   "log1p",
                                        "power", "arcsin", "arccos", "arctan", "arctan2"};  // device/python/alone.h
  const bool native = operand == DType::f32 || operand == DType::f64;
  const char* prefix = "";
  if (is_real_float(operand) && std::find(std::begin(far), std::end(far), function) != std::end(far)) prefix = "loop_";
  if (host() && native && std::find(std::begin(alone), std::end(alone), function) != std::end(alone)) prefix = "alone_";
  return fmt::format("{}{}", prefix, function);
}

Value FunctionCompiler::elementwise(int op_number, const std::vector<Value>& given, const Node* n) {
  const Op op = static_cast<Op>(op_number);
  const OpInfo& spec = info(op);
  for (const Value& v : given)
    if (v.is_array())
      return lift(
          host() ? host_weak(op_number, given, n) : given,
          [this, op_number, n](std::span<const Value> x) { return elementwise(op_number, {x.begin(), x.end()}, n); }, n);
  if (std::any_of(given.begin(), given.end(), [](const Value& v) { return v.is(Kind::time); }))
    return elementwise_of_times(op_number, given, n);
  const std::vector<Value> args = evaluated(given);
  std::vector<OperandType> operands;
  Value r;
  for (const Value& v : args) {
    if (!v.is_scalar()) fail(n, fmt::format("{}() does not take {}", spec.name, v.type->spelling));
    operands.push_back({v.type->dtype, Weak::none});
  }
  bc::Loop loop{};
  try {
    loop = resolve(op, operands);
  } catch (const Error& e) {
    fail(n, e.what());
  }
  std::vector<Code> texts;
  for (size_t i = 0; i < args.size(); ++i) texts.push_back(convert(args[i], scalar_type(loop.in[i]), n));
  // The row's text with the operands in place of a, b, c; its functions are the device library's.
  Code text;
  std::string plain;  // what stands since the last operand
  const std::string_view source = spec.text;
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < source.size();) {
    if (!word(source[i])) {
      plain += source[i++];
      continue;
    }
    size_t end = i;
    while (end < source.size() && word(source[end])) ++end;
    const std::string_view w = source.substr(i, end - i);
    if (w.size() == 1 && w[0] >= 'a' && w[0] <= 'c' && static_cast<size_t>(w[0] - 'a') < texts.size()) {
      text += std::exchange(plain, {});
      text += texts[static_cast<size_t>(w[0] - 'a')];
    } else if (w == "T") {
      plain += cpp_name(loop.in[0]);
    } else {
      if (!source.substr(0, i).ends_with("::")) plain += "bc::";
      plain += form_of(w, loop.in[0]);
      // Literal operands must not choose the template's type.
      const bool chosen = op == Op::where ? is_integer(loop.out) : is_integer(loop.in[0]) && spec.signature == Signature::same;
      if (end < source.size() && source[end] == '(' && chosen)
        plain += fmt::format("<{}>", cpp_name(op == Op::where ? loop.out : loop.in[0]));
    }
    i = end;
  }
  text += plain;
  if (op == Op::power && host() && is_signed_int(loop.out)) {
    const auto exponent = args[1].integer();
    if (exponent && *exponent < 0) fail(n, "integers to negative integer powers are not allowed", {}, "convert the base with astype()");
    if (!exponent) {
      unit_.need("host_numpy");
      text = code("py::whole_power<{}>({}, {})", cpp_name(loop.out), texts[0], texts[1]);
    }
  }
  r.type = scalar_type(loop.out);
  r.text = source == "a" ? args[0].text : text;
  r.non_negative = is_bool(loop.out) || is_unsigned(loop.out);
  if (op == Op::maximum || op == Op::minimum) {
    r.non_negative |= op == Op::maximum ? args[0].non_negative || args[1].non_negative : args[0].non_negative && args[1].non_negative;
    r.index = args[0].index && args[1].index;
  }
  if (op == Op::abs && is_integer(loop.out)) r.index = r.non_negative = args[0].index;
  return op == Op::where ? r : nan_checked(r, args, n);
}

/// A ufunc of NumPy's. With `out` the result goes to that array.
Value FunctionCompiler::call_ufunc(const std::string& name, int op_number, CallArguments args, const Node* n) {
  const Op op = static_cast<Op>(op_number);
  LibraryFunction f = ufunc_row(info(op).nin);
  f.name = name;
  if (!host())
    for (LibraryParameter& p : f.parameters) p.sequence = false;  // kernels have no memory for an array of a tuple's items
  args = library_arguments(f, std::move(args), n);
  Value out, where, dtype;
  for (const auto& [key, v] : args.keywords) {
    if (key != "out" && !(host() && (key == "where" || key == "dtype")))
      fail(n, fmt::format("{}() takes no argument '{}' in compiled functions", name, key));
    (key == "out" ? out : key == "where" ? where : dtype) = v;
  }
  for (const Value& v : args.positional)
    if (!v.type || (v.type->is_container() && is_incomplete(v.type))) return {};
  if (dtype.type) args.positional = loop_operands(name, op_number, args.positional, host_dtype(dtype, nullptr, n), n);
  if (op == Op::ldexp && (args.positional[1].is_array() || args.positional[1].is_scalar()) && is_inexact(args.positional[1].type->dtype))
    fail(n, "numpy.ldexp() takes integers as exponents", {{"exponents", args.positional[1].type}});
  if (!out.type) {
    if (where.type)
      fail(n, fmt::format("{}() takes 'where' with 'out' only in compiled functions", name), {},
           "elements that are not computed have no value");
    return elementwise(op_number, args.positional, n);
  }
  if (!out.is_array() || out.lazy) fail(n, fmt::format("{}(): 'out' is an array, not {}", name, out.type->spelling));
  const Value target = bound(out, "out"), result = elementwise(op_number, args.positional, n);
  if (!can_cast(result.type->dtype, target.type->dtype, Casting::same_kind))
    fail(n, fmt::format("{}(): results of {} do not go into an array of {} (casting is 'same_kind')", name,
                        scalar_type(result.type->dtype)->spelling, target.type->element->spelling));
  if (!where.type) {
    assign_elements(target, result, n);
    return target;
  }
  if ((where.is_array() ? where.type->element : where.type) != bool_type())
    fail(n, fmt::format("{}(): 'where' is an array of booleans, not {}", name, where.type->spelling));
  const Value cast = cast_to(target.type->element, result, n);
  assign_elements(target, elementwise(static_cast<int>(Op::where), {where, cast, target}, n), n);
  return target;
}

/// The operands of a ufunc in the dtype that is given: its loop's, where that is one type throughout.
std::vector<Value> FunctionCompiler::loop_operands(const std::string& name, int op_number, std::vector<Value> operands, Type dtype,
                                                   const Node* n) {
  for (Value& v : operands) {
    const Type from = v.is_array() ? v.type->element : v.is(Kind::literal) ? int64_type() : v.type;
    if (!from->is_scalar()) fail(n, fmt::format("{}() does not take {}", name, v.type->spelling));
    if (!can_cast(from->dtype, dtype->dtype, Casting::same_kind))
      fail(n, fmt::format("{}(): {} does not become {} (casting is 'same_kind')", name, from->spelling, dtype->spelling));
    v = cast_to(dtype, v, n);
  }
  Type made = nullptr;
  const bool emitting = std::exchange(emitting_, false);
  captured([&] { made = elementwise(op_number, operands, n).type; });
  emitting_ = emitting;
  if (made && made->is_array()) made = made->element;
  if (info(static_cast<Op>(op_number)).result != Result::SAME || made != dtype)
    fail(n, fmt::format("{}() has no loop that gives {}", name, dtype->spelling));
  return operands;
}

/// An operand of a function of math, which takes one real number: integers become float64, unless `integral` integers are meant.
Value FunctionCompiler::math_operand(const std::string& name, Value v, bool integral, const Node* at, const Node* n) {
  if (v.is(Kind::literal)) v = converted(v, int64_type(), n);
  if (v.is_array() && v.type->ndim == 0) v = scalar_of(v.lazy ? materialise(v, n) : v, n);
  if (!v.is_scalar()) {
    const std::string numpy = "numpy" + name.substr(name.find('.'));
    const auto names = known_names();
    const bool has = v.is_array() && std::find(names.begin(), names.end(), numpy) != names.end();
    fail(n, fmt::format("{}() does not take {}", name, v.type->spelling), {{source_of(at), v.type}},
         has            ? fmt::format("use {}, or give one element", numpy)
         : v.is_array() ? "give one element"
                        : "give one number");
  }
  if (is_complex(v.type->dtype))
    fail(n, fmt::format("{}() does not take complex numbers", name), {}, fmt::format("use numpy{}", name.substr(name.find('.'))));
  if (integral && is_inexact(v.type->dtype))
    fail(n, fmt::format("{}() takes integers, not {}", name, v.type->spelling), {{source_of(at), v.type}}, "convert with int()");
  return integral || is_inexact(v.type->dtype) ? v : converted(v, float64_type(), n);
}

std::optional<Value> FunctionCompiler::call_elementwise(const std::string& name, const CallArguments& args, const Node* n) {
  const bool math = name.starts_with("math.");
  if (!math && !name.starts_with("numpy.")) return std::nullopt;
  const std::string plain = name.substr(name.find('.') + 1);
  if (math && std::find_if(std::begin(kMath), std::end(kMath), [&](const char* m) { return plain == m; }) == std::end(kMath))
    return std::nullopt;
  // numpy.angle() of booleans is float64, and takes degrees: compiled functions have it in Python.
  const auto op = host() && plain == "angle" ? std::nullopt : elementwise_op(plain);
  if (!op) return std::nullopt;
  const OpInfo& spec = info(*op);
  if (plain == "isnat" && !args.positional.empty() && args.positional[0].type) {
    const Type t = args.positional[0].is_array() ? args.positional[0].type->element : args.positional[0].type;
    if (!t->is(Kind::time)) fail(n, "numpy.isnat() is only defined for datetime64 and timedelta64");
  }
  if (!math) return call_ufunc(name, static_cast<int>(*op), args, n);
  if (args.positional.size() != spec.nin || !args.keywords.empty())
    fail(n, fmt::format("{}() takes {} argument{}, got {}", name, spec.nin, spec.nin == 1 ? "" : "s", spelled(args)));
  std::vector<Value> values = args.positional;
  if (math) {
    // math works in floats: integers of any width become float64; floor and its kin give integers.
    const bool integral = plain == "gcd" || plain == "lcm";
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = math_operand(name, values[i], integral || (plain == "ldexp" && i == 1), args.nodes[i], n);
    if (integral)
      for (Value& v : values) v = converted(v, int64_type(), n);
    Value r = elementwise(static_cast<int>(*op), values, n);
    if (plain == "floor" || plain == "ceil" || plain == "trunc") r = converted(r, int64_type(), n);
    return r;
  }
  return elementwise(static_cast<int>(*op), values, n);
}

// ---- functions with rules of their own --------------------------------------------------------------------------------------------

Value FunctionCompiler::print_call(const CallArguments& args, const Node* n) {
  std::string format, end = "\n", separator = " ";
  Code values;
  for (const auto& [name, v] : args.keywords) {
    if (!v.is(Kind::string)) fail(n, fmt::format("print: '{}' must be a constant string", name));
    (name == "end" ? end : separator) = v.type->name;
  }
  const auto escape = [](const std::string& s) {
    std::string r;
    for (char c : s) {
      if (c == '%')
        r += "%%";
      else if (c == '"' || c == '\\')
        r += '\\', r += c;
      else if (c == '\n')
        r += "\\n";
      else if (c == '\t')
        r += "\\t";
      else if (static_cast<unsigned char>(c) < 0x20)
        r += fmt::format("\\{:03o}", c);
      else
        r += c;
    }
    return r;
  };
  const auto put = [&](const Value& v, const auto& self) -> void {
    switch (v.type->kind) {
      case Kind::string: format += escape(v.type->name); return;
      case Kind::none: format += "None"; return;
      case Kind::builtin: {
        // cuda.threadIdx and its kin: three numbers.
        const std::vector<const Row*>& rows = rows_of(v.type->name + ".x");
        if (rows.size() != 1 || !(rows[0]->flags & kValue)) fail(n, fmt::format("print does not take {}", v.type->spelling));
        std::vector<Value> items;
        for (const char* axis : {".x", ".y", ".z"}) items.push_back(builtin_value(v.type->name + axis, n));
        return self(tuple_of(std::move(items)), self);
      }
      case Kind::literal: format += fmt::format("{}", v.type->value); return;
      case Kind::tuple: {
        const Value whole = v.items.empty() && !v.simple ? spill(v) : v;
        format += "(";
        for (size_t i = 0; i < v.type->items.size(); ++i) {
          if (i) format += ", ";
          self(tuple_item(whole, i), self);
        }
        format += v.type->items.size() == 1 ? ",)" : ")";
        return;
      }
      case Kind::scalar: {
        const DType d = v.type->dtype;
        if (is_bool(d)) {
          format += "%s";
          values += code(", {} ? \"True\" : \"False\"", paren(v));
        } else if (is_unsigned(d)) {
          format += "%llu";
          values += code(", static_cast<unsigned long long>({})", v.text);
        } else if (is_integer(d)) {
          format += "%lld";
          values += code(", static_cast<long long>({})", v.text);
        } else if (is_complex(d)) {
          const Value z = spill(v);
          format += "(%g%+gj)";
          values += code(", double({}.re), double({}.im)", z.text, z.text);
        } else {
          format += "%g";
          values += ", " + convert(v, float64_type(), n);
        }
        return;
      }
      default: fail(n, fmt::format("print does not take {}", v.type->spelling));
    }
  };
  for (size_t i = 0; i < args.positional.size(); ++i) {
    if (i) format += escape(separator);
    put(args.positional[i], put);
  }
  format += escape(end);
  linef("printf(\"{}\"{});", format, values);
  return Value::known(none_type());
}

Value FunctionCompiler::min_max(bool max, const CallArguments& args, const Node* n) {
  std::vector<Value> items = args.positional;
  if (items.size() == 1 && items[0].is(Kind::tuple)) {
    const Value whole = items[0].items.empty() && !items[0].simple ? spill(items[0]) : items[0];
    items.clear();
    for (size_t i = 0; i < whole.type->items.size(); ++i) items.push_back(tuple_item(whole, i));
  }
  if (items.size() == 1 && items[0].is_array() && items[0].type->ndim != 1)
    fail(n, fmt::format("{}() does not take {}", max ? "max" : "min", items[0].type->spelling), {},
         fmt::format("use numpy.{}", max ? "max" : "min"));
  // Python keeps the first of those that none is before, so that a NaN counts only where it is the first.
  if (items.size() == 1 && items[0].is_array() && (items[0].type->element->is(Kind::time) || is_inexact(items[0].type->dtype)))
    return *call_python(max ? "builtins.greatest" : "builtins.least", {{materialise(items[0], n)}, {n}, {}}, n);
  if (items.size() == 1 && items[0].is_array()) return reduction(max ? "max" : "min", items[0], n);
  if (items.size() < 2) fail(n, fmt::format("{}() needs at least two numbers, or a tuple or array", max ? "max" : "min"));
  if (std::any_of(items.begin(), items.end(), [](const Value& v) { return v.is(Kind::time); })) {
    // As Python: the first of those that none is before.
    Value best = spill(items[0]);
    for (size_t i = 1; i < items.size(); ++i) {
      const Value next = spill(items[i]);
      const Type t = unify(best.type, next.type);
      if (!t) fail(n, fmt::format("{}() does not take {} and {}", max ? "max" : "min", best.type->spelling, next.type->spelling));
      const Value better = compare_two(max ? Operator::gt : Operator::lt, next, best, n);
      best = spill(Value::of(t, code("({} ? {} : {})", better.text, convert(next, t, n), convert(best, t, n))));
    }
    return best;
  }
  DType d = DType::b1;
  bool index = true, all = true, any = false, constants = true;
  for (Value& v : items) {
    if (v.is(Kind::literal)) v = converted(v, int64_type(), n);
    if (!v.is_scalar() || is_complex(v.type->dtype)) fail(n, fmt::format("{}() does not take {}", max ? "max" : "min", v.type->spelling));
    d = promote(d, v.type->dtype);
    index &= v.index, all &= v.non_negative, any |= v.non_negative;
    constants &= v.integer().has_value();
  }
  if (constants) {
    int64_t best = *items[0].integer();
    for (const Value& v : items) best = max ? std::max(best, *v.integer()) : std::min(best, *v.integer());
    return constant_value(Constant{best});
  }
  unit_.need("core");
  Code text = convert(items[0], scalar_type(d), n);
  for (size_t i = 1; i < items.size(); ++i)
    text = code("py::{}<{}>({}, {})", max ? "max" : "min", cpp_name(d), text, convert(items[i], scalar_type(d), n));
  Value r = Value::of(scalar_type(d), text);
  r.non_negative = max ? any : all;
  r.index = index && is_integer(d);
  return r;
}

Value FunctionCompiler::round_call(const CallArguments& args, const Node* n) {
  if (args.positional.empty()) fail(n, "round() needs a number");
  const Value& v = args.positional[0];
  if (v.is_array())
    return lift(
        {v},
        [this, args, n](std::span<const Value> x) {
          CallArguments one = args;
          one.positional[0] = x[0];
          return round_call(one, n);
        },
        n);
  if (v.is(Kind::literal)) return v;
  if (!v.is_scalar()) fail(n, fmt::format("round() does not take {}", v.type->spelling));
  if (args.positional.size() == 2 && (!args.positional[1].is_none() && !args.positional[1].is(Kind::literal)) &&
      !(args.positional[1].is_scalar() && !is_inexact(args.positional[1].type->dtype)))
    fail(n, fmt::format("round(): the digits must be an integer, not {}", args.positional[1].type->spelling));
  if (!is_inexact(v.type->dtype)) {
    if (args.positional.size() == 1 || is_bool(v.type->dtype) || args.positional[1].integer().value_or(-1) >= 0) return v;
    unit_.need("round");
    return Value::called(v.type, code("py::round_whole<{}>({}, {})", cpp(v.type), v.text, convert(args.positional[1], int64_type(), n)));
  }
  if (is_complex(v.type->dtype)) {
    unit_.need("round");
    const Value z = spill(v), digits = spill(converted(args.positional[1], int64_type(), n));
    return Value::of(v.type, code("{0}(py::round_to({1}.re, {2}), py::round_to({1}.im, {2}))", cpp(v.type), z.text, digits.text));
  }
  if (args.positional.size() == 1) return converted(Value::of(v.type, code("bc::rint({})", v.text)), int64_type(), n);
  unit_.need("round");
  const Value digits = converted(args.positional[1], int64_type(), n);
  return Value::of(v.type, code("py::round_to({}, {})", v.text, digits.text));
}

Value FunctionCompiler::atomic(const std::string& name, const CallArguments& args, const Node* n) {
  const std::string op = name.substr(name.rfind('.') + 1);
  const AtomicRow* row = nullptr;
  for (const AtomicRow& a : kAtomics)
    if (op == a.name) row = &a;
  if (!row) fail(n, fmt::format("there is no {}", name), {}, nearest(name, known_names()));
  const bool swap = op == "cas" || op == "compare_and_swap";
  const size_t wanted = op == "cas" ? 4 : 3;
  if (args.positional.size() != wanted || !args.keywords.empty())
    fail(n, fmt::format("{} takes (array, {}), got {}", name,
                        op == "cas"                ? "index, old, value"
                        : op == "compare_and_swap" ? "old, value"
                                                   : "index, value",
                        spelled(args)));
  const Value& array = args.positional[0];
  if (!array.is_array() || array.lazy)
    fail(n, fmt::format("{} works on an element of an array", name), {{source_of(args.nodes[0]), array.type}});
  if (array.type->read_only) fail(n, fmt::format("{} cannot write to a read-only array", name), {{source_of(args.nodes[0]), array.type}});
  if (!array.type->element->is_scalar() || !(row->types & dtype_bit(array.type->dtype))) {
    std::string there;
    for (int i = 0; i < kDTypeCount; ++i)
      if (row->types & dtype_bit(static_cast<DType>(i)))
        there += (there.empty() ? "" : ", ") + std::string(info(static_cast<DType>(i)).name);
    fail(n, fmt::format("{} has no form for {}", name, array.type->element->spelling), {{source_of(args.nodes[0]), array.type}},
         "it takes arrays of " + there);
  }
  unit_.need("atomic");
  const Value a = bound(array);
  std::vector<Value> indices =
      op == "compare_and_swap" ? std::vector<Value>{constant_value(Constant{int64_t{0}})} : index_items(args.positional[1]);
  if (op == "compare_and_swap") indices.resize(static_cast<size_t>(std::max(array.type->ndim, 1)), indices[0]);
  if (static_cast<int>(indices.size()) != array.type->ndim)
    fail(n, fmt::format("{}: an index of {} numbers for an array of {} dimensions", name, indices.size(), array.type->ndim),
         {{source_of(args.nodes[0]), array.type}});
  access_ = Access::atomic;
  const Code place = "&" + element(a, indices, n);
  const Type t = array.type->element;
  std::string call_name = op;
  if (swap) call_name = "cas";
  while (!call_name.empty() && call_name.back() == '_') call_name.pop_back();
  std::vector<Value> operands(args.positional.begin() + (op == "compare_and_swap" ? 1 : 2), args.positional.end());
  const bool follows = unit_.options.check && is_inexact(t->dtype) && (op == "add" || op == "sub");
  if (follows) operands[0] = spill(converted(operands[0], t, n), "by");
  Code text = code("py::atomic_{}({}", call_name, place);
  for (const Value& v : operands) text += code(", {}({})", cpp(t), convert(v, t, n));
  Value r = Value::of(t, text + ")");
  r.note(kActs);
  r.non_negative = is_unsigned(t->dtype);
  if (follows) {
    r = spill(r, "old");
    linef("py::nan_made(bc_checker, {0}, {1} {2} {3}, {1}, {3});", site(n, n ? source_of(n) : ""), r.text, op == "add" ? "+" : "-",
          operands[0].text);
  }
  return r;
}

int64_t FunctionCompiler::array_alignment(const std::string& space, const Value& v, const Node* n) {
  if (!v.integer()) fail(n, fmt::format("cuda.{}.array: the alignment must be a constant integer", space), {{"alignment", v.type}});
  const int64_t alignment = *v.integer();
  BC_CHECK(alignment > 0 && (alignment & (alignment - 1)) == 0, Value,
           "cuda.{}.array: the alignment must be a power of two, got {}\n  {}:{}, in {}", space, alignment, syntax_.file, n->line,
           syntax_.name);
  return alignment;
}

FunctionCompiler::FixedArray FunctionCompiler::fixed_array(const std::string& space, const CallArguments& args, const Node* n) {
  FixedArray made;
  Value shape, dtype;
  if (!args.positional.empty()) shape = args.positional[0];
  if (args.positional.size() > 1) dtype = args.positional[1];
  for (const auto& [name, v] : args.keywords) {
    if (name == "shape")
      shape = v;
    else if (name == "dtype")
      dtype = v;
    else if (name != "alignment")
      fail(n, fmt::format("cuda.{}.array has no parameter '{}'", space, name), {}, nearest(name, {"shape", "dtype", "alignment"}));
    else if (!v.is_none())
      made.alignment = array_alignment(space, v, n);
  }
  if (!shape.type || !dtype.type) fail(n, fmt::format("cuda.{}.array needs a shape and a dtype", space));
  made.element = dtype.is(Kind::dtype) ? dtype.type->element : nullptr;
  if (dtype.is(Kind::string)) made.element = type_from_name(dtype.type->name);
  if (dtype.is(Kind::type) && dtype.type->element && dtype.type->element->is(Kind::record)) made.element = dtype.type->element;
  if (!made.element || !made.element->has_value())
    fail(n, fmt::format("cuda.{}.array: expected a dtype, got {}", space, dtype.type->spelling));
  for (const Value& v : index_items(shape)) {
    if (!v.integer())
      fail(n, fmt::format("cuda.{}.array: the shape must be known when the kernel is compiled", space), {{"shape", shape.type}},
           "use an integer literal, a global or a closure's variable");
    made.extents.push_back(*v.integer());
  }
  for (int64_t e : made.extents)
    if (e < 0) fail(n, fmt::format("cuda.{}.array: negative extent {}", space, e));
  return made;
}

/// A shared array of no elements stands for the bytes that the launch gives; all such arrays begin at their start.
Value FunctionCompiler::dynamic_shared_array(const Type& array, const Node* n) {
  unit_.uses_dynamic_shared = true;
  if (array->ndim != 1) fail(n, "a dynamic shared array has one dimension");
  if (!declared_dynamic_) {
    declared_dynamic_ = true;
    declarations_ += "  extern __shared__ __align__(16) char dynamic_shared[];\n";
    if (unit_.options.check && spec_.depth == 0) {
      poisons_ += "  py::poison_shared(dynamic_shared, py::dynamic_shared_bytes());\n";
      poisons_shared_ = true;
    }
  }
  unit_.need("cuda");
  const std::string type = cpp(array->element);
  Value r;
  r.type = array;
  r.text = code("py::over<{}>(dynamic_shared, py::dynamic_shared_bytes() / sizeof({}))", type, type);
  return spill(r, "shared");
}

/// A shared array in a function of its own, so that a checked kernel can fill it with the pattern before anything runs.
Value FunctionCompiler::checked_shared_array(const Type& array, const std::string& memory, const std::string& declared,
                                             const std::string& extents, int64_t count) {
  const std::string place = memory + "_of_" + spec_.name, type = cpp(array->element);
  if (emitting_)
    unit_.shared_arrays[place] = {fmt::format("BC_PY {}* {}() {{\n  {}\n  return {};\n}}\n", type, place, declared, memory),
                                  array->element->bytes * count};
  Value r;
  r.type = array;
  r.text = code("py::over<{}>({}(){})", type, place, extents);
  return r;
}

Value FunctionCompiler::make_array(const std::string& space, const CallArguments& args, const Node* n) {
  const bool shared = space == "shared";
  const auto [element, extents, alignment] = fixed_array(space, args, n);
  int64_t count = 1;
  std::string list;
  for (int64_t e : extents) {
    count *= e;
    list += fmt::format(", {}", e);
  }
  unit_.need("core");
  const Type t = array_type(element, static_cast<int>(extents.size()), 'C', false, shared ? Space::shared : Space::local);
  if (shared && count == 0) return dynamic_shared_array(t, n);
  count = std::max<int64_t>(count, 1);
  const std::string memory = temporary(shared ? "shared" : "local"), type = cpp(element);
  const int64_t align = std::max<int64_t>({alignment, 16, element->alignment});
  const std::string declared = fmt::format("{}__align__({}) {} {}[{}];", shared ? "__shared__ " : "", align, type, memory, count);
  if (unit_.options.check && shared) return checked_shared_array(t, memory, declared, list, count);
  declarations_ += "  " + declared + "\n";
  if (unit_.options.check) {
    unit_.need("check");
    poisons_ +=
        fmt::format("  py::poison(bc_checker, {}, sizeof({}), {});\n", memory, memory, element->bytes % 4 != 0 || !element->is_scalar());
  }
  Value r;
  r.type = t;
  r.text = code("py::over<{}>({}{})", type, memory, list).with(Facts(shared ? 0 : uint32_t{kThreadArray}));
  return r;
}

/// math.gcd and math.lcm of any number of integers.
Value FunctionCompiler::whole_divisors(const std::string& name, const CallArguments& args, const Node* n) {
  if (!args.keywords.empty()) fail(n, fmt::format("{}() takes its arguments by position only", name));
  Value r = constant_value(Constant{int64_t{name == "math.gcd" ? 0 : 1}});
  for (size_t i = 0; i < args.positional.size(); ++i) r = *call_elementwise(name, {{r, args.positional[i]}, {n, args.nodes[i]}, {}}, n);
  return r;
}

/// Functions of math that take integers, which Python functions stand for: math.comb and its kin.
Value FunctionCompiler::whole_function(const std::string& name, CallArguments args, const Node* n) {
  if (!args.keywords.empty()) fail(n, fmt::format("{}() takes its arguments by position only", name));
  for (size_t i = 0; i < args.positional.size(); ++i)
    if (Value& v = args.positional[i]; i == 0 || !v.is_none()) v = math_operand(name, v, true, args.nodes[i], n);
  return *call_python(name, std::move(args), n);
}

std::optional<Value> FunctionCompiler::call_python(const std::string& name, CallArguments args, const Node* n) {
  const Function* f = function_.stand_in(name);
  return f ? std::optional(call_function(*f, f->syntax(), std::move(args), n)) : std::nullopt;
}

/// The Python function that stands for a library function whose C++ form does not take all of these arguments.
Value FunctionCompiler::call_stand_in(const LibraryFunction& f, CallArguments args, const Node* n) {
  // Of a method: its own, or its function's.
  const Function* other = function_.stand_in(f.name);
  if (!other && f.name.starts_with("array.")) other = function_.stand_in("numpy." + f.name.substr(6));
  const auto unknown = [&](const std::string& parameter) {
    if (!other)
      return std::none_of(f.parameters.begin(), f.parameters.end(),
                          [&](const LibraryParameter& p) { return p.name == parameter && p.native; });
    const auto& known = other->syntax().parameters;
    return std::none_of(known.begin(), known.end(), [&](const Parameter& p) { return p.name == parameter; });
  };
  const auto given = [&](const char* key) {
    return std::find_if(args.keywords.begin(), args.keywords.end(), [&](const auto& k) { return k.first == key; });
  };
  if (const auto keepdims = given("keepdims"); other && keepdims != args.keywords.end() && unknown("keepdims")) {
    const bool* known = keepdims->second.constant ? keepdims->second.constant->boolean() : nullptr;
    if (!known) fail(n, fmt::format("{}(): keepdims must be known when the function is compiled", f.name));
    const bool kept = *known;
    args.keywords.erase(keepdims);
    Value& a = args.positional[0];
    if (a.is_array()) a = bound(materialise(a, n));
    const auto axis = given("axis");
    const Value over = axis == args.keywords.end() ? Value{} : axis->second, array = a;
    const bool method = f.name.starts_with("array.");
    const Value r = method ? call_stand_in(f, std::move(args), n) : call_builtin(f.name, std::move(args), n);
    return kept && array.is_array() ? kept_axes(array, over, r, n) : r;
  }
  if (const auto out = given("out"); out != args.keywords.end() && unknown("out")) {
    // The result is written where it is to go.
    const Value target = out->second;
    args.keywords.erase(out);
    const bool method = f.name.starts_with("array.");
    Value self;
    if (method) {
      self = args.positional[0];
      args.positional.erase(args.positional.begin());
      args.nodes.erase(args.nodes.begin());
    }
    const Value r = method ? call_method(self, f.name.substr(6), std::move(args), n) : call_builtin(f.name, std::move(args), n);
    if (!r.type) return {};
    return *call_python("numpy.written", {{target, materialise(r, n)}, {n, n}, {}}, n);
  }
  for (auto& [key, v] : args.keywords) {
    if (unknown(key)) fail(n, fmt::format("{}() takes no argument '{}' in compiled functions", f.name, key));
    // A flag that is known chooses among types: it goes along as a number.
    const auto p = std::find_if(f.parameters.begin(), f.parameters.end(), [&](const LibraryParameter& p) { return p.name == key; });
    const bool flag =
        p != f.parameters.end() && std::any_of(p->absent.begin(), p->absent.end(), [](const Constant& c) { return c.boolean(); });
    if (flag && v.constant && v.constant->boolean()) v = constant_value(Constant{int64_t{*v.constant->boolean()}});
  }
  return call_function(*other, other->syntax(), std::move(args), n);
}

/// Marks a number that NumPy's function made of arrays as one of NumPy's, which the function's Python does not raise for.
Value FunctionCompiler::numpy_scalar(Value r, std::string_view function, const std::vector<Value>& arguments) {
  constexpr std::string_view kPython[] = {"numpy.count_nonzero", "numpy.size", "numpy.ndim", "item"};
  r.of_numpy = r.is_scalar() && !function.starts_with("builtins.") && !function.starts_with("numba.") &&
               std::find(std::begin(kPython), std::end(kPython), function) == std::end(kPython) &&
               std::any_of(arguments.begin(), arguments.end(), [](const Value& v) { return v.is_array(); });
  return r;
}

Value FunctionCompiler::call_builtin(const std::string& name, CallArguments args, const Node* n) {
  const bool takes_none = name == "builtins.slice" || name == "builtins.isinstance" || name == "builtins.repr" || name == "builtins.print";
  for (Value& v : args.positional)
    if (!takes_none) v = present(v, n);
  const auto& p = args.positional;
  if (p.size() == 1 && p[0].is(Kind::instance) && (name == "builtins.len" || name == "builtins.abs" || name == "builtins.hash"))
    if (auto r = instance_operator(name.substr(9), {p[0]}, n)) return *r;
  if (host() && !(name.starts_with("numpy.") && elementwise_op(name.substr(6))))
    if (auto r = function_of_times(name, args, n)) return *r;
  if (const LibraryFunction* f = host() || name.starts_with("builtins.") ? library_function(name) : nullptr) {
    if (!name.starts_with("numpy.") || f->variadic) {
      args = positional_arguments(*f, std::move(args), n);
    } else {
      args = library_arguments(*f, std::move(args), n);
      for (const Value& v : args.positional)
        if (!v.type || (v.type->is_container() && is_incomplete(v.type))) return {};
      if (!takes_natively(*f, args)) return call_stand_in(*f, std::move(args), n);
    }
  }
  if (host() && (name == "math.comb" || name == "math.perm" || name == "math.factorial" || name == "math.isqrt"))
    return whole_function(name, std::move(args), n);
  if (host())
    if (auto r = host_builtin(name, args, n)) return numpy_scalar(*r, name, args.positional);
  if (name.starts_with("cuda.atomic.")) return atomic(name, args, n);
  if (name.starts_with("cuda.random."))
    if (auto r = random_call(name, args, n)) return *r;
  if (auto r = complex_call(name, args, n)) return *r;
  if (auto r = vector_call(name, args, n)) return *r;
  if (auto r = builtin_with_rules(name, args, n)) return *r;
  if (auto r = call_row(name, args, n)) return *r;
  if (auto r = call_elementwise(name, args, n)) return *r;
  if (host())
    if (auto r = call_python(name, std::move(args), n)) return *r;
  if (!host() && name.starts_with("numpy.") && library_function(name))
    fail(n, fmt::format("{}() cannot be called in kernels and elementwise functions, which make no arrays", name), {},
         "call it outside and pass the array; a thread's own memory is cuda.local.array(shape, dtype), a block's cuda.shared.array");
  if (name.starts_with('.'))
    fail(n, fmt::format("{}() is a method of an object from outside, which compiled functions do not change", name),
         {{source_of(n->a), nullptr}},
         name == ".fromkeys" ? instead_of_call("dict.fromkeys") : "pass the list, set or broadcloth.typed.Dict as an argument");
  // Typed by a name that Python has not, it would not have come here.
  const std::string of_cuda = name.starts_with("cuda.") ? nearest(name, known_names()) : "";
  fail(n, fmt::format("{}() cannot be called in compiled functions", name), {}, of_cuda.empty() ? instead_of_call(name) : of_cuda);
}

/// What may follow the dot of a value that is no array, for suggestions.
std::vector<std::string> FunctionCompiler::members_of(Type t) const {
  std::vector<std::string> members = t->fields;
  const auto add = [&](std::initializer_list<const char*> more) { members.insert(members.end(), more.begin(), more.end()); };
  if (t->is_scalar())
    add({"real", "imag", "conjugate", "item", "astype", "dtype", "bit_count", "bit_length", "is_integer", "shape", "ndim", "size"});
  if (t->is_tuple()) add({"index", "count"});
  if (t->is(Kind::range)) add({"start", "stop", "step"});
  if (t->is(Kind::list)) add({"append", "extend", "insert", "pop", "remove", "clear", "index", "count", "reverse", "sort", "copy"});
  return members;
}

/// A method of an array that is no row of the library and no host form.
Value FunctionCompiler::array_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n) {
  const auto& p = args.positional;
  for (const char* r : {"sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all", "var", "std"})
    if (name == r) {
      if (!p.empty() || !args.keywords.empty())
        fail(n, fmt::format(".{}() of an array takes no arguments in kernels", name), {},
             "reduce the part that the thread has: a[i].sum(), or a loop over the axis");
      return reduction(name, self, n);
    }
  if (name == "fill") {
    if (p.size() != 1 || (p[0].is_array() && p[0].type->ndim > 0))
      fail(n, fmt::format(".fill() takes one value, got {}", spelled(args)), {}, "copy an array with a[...] = b");
    assign_elements(self, p[0], n);
    return Value::known(none_type());
  }
  if (name == "item" && p.size() == static_cast<size_t>(self.type->ndim)) return subscript_of(self, tuple_of(p), n);
  if (name == "astype" && p.size() == 1 && (p[0].is(Kind::dtype) || p[0].is(Kind::string))) {
    const Type to = p[0].is(Kind::dtype) ? p[0].type->element : type_from_name(p[0].type->name);
    if (to) return cast_to(to, self, n);
  }
  if (name == "view" && p.empty()) return self;
  if (name == "view" && p.size() == 1 && !self.lazy && (p[0].is(Kind::dtype) || p[0].is(Kind::string))) {
    const Type to = p[0].is(Kind::dtype) ? p[0].type->element : type_from_name(p[0].type->name);
    if (to && to->has_value()) return viewed_as(self, to, n);
  }
  if ((name == "conj" || name == "conjugate") && p.empty())
    return is_complex(self.type->dtype) ? elementwise(static_cast<int>(Op::conj), {self}, n) : self;
  if (name == "transpose" && p.empty()) return array_attribute(self, "T", n);
  if (name == "reshape" || name == "ravel" || name == "flatten") {
    if (self.type->layout != 'C' || self.lazy)
      fail(n, fmt::format(".{}() works on C-contiguous arrays", name), {{source_of(n->a), self.type}});
    const Value a = bound(self);
    unit_.need("core");
    std::vector<Value> shape = name != "reshape" ? std::vector<Value>{} : p.size() == 1 ? index_items(p[0]) : p;
    Code extents;
    for (const Value& v : shape) extents += ", " + convert(v, int64_type(), n);
    if (name != "reshape") extents = code(", {}.size()", a.text), shape.resize(1);
    const Type t = with_layout(self.type, static_cast<int>(shape.size()), 'C');
    return Value::of(t, code("py::reshaped<{}{}>({}{})", t->read_only ? "const " : "", cpp(t->element), a.text, extents));
  }
  const std::string way = instead_of_method(name);
  fail(n, fmt::format("arrays have no method '{}' in compiled functions", name), {{source_of(n->a->a), self.type}},
       !way.empty() ? way
                    : nearest(name, {"sum", "prod", "min", "max", "mean", "argmin", "argmax", "any", "all", "fill", "astype", "reshape",
                                     "ravel", "transpose", "item", "view"}));
}

/// A method of a number; without a type where there is no such.
Value FunctionCompiler::number_method(const Value& self, const std::string& name, const std::vector<Value>& p, const Node* n) {
  if (name == "conjugate" || name == "conj") return elementwise(static_cast<int>(Op::conj), {self}, n);
  if (name == "item") return self;
  if (name == "bit_count") return elementwise(static_cast<int>(Op::bit_count), {self}, n);
  if (name == "bit_length") {
    const Value x = spill(self);
    return Value::of(int64_type(), code("i64({0} == 0 ? 0 : 64 - bc::count_leading_zeros(bc::magnitude({0})))", x.text));
  }
  if (name == "is_integer" && is_real_float(self.type->dtype)) {
    const Value x = spill(self);
    return Value::of(bool_type(), operation(code("bc::rint({})", x.text), "==", x.text));
  }
  const Type to = p.size() == 1 && p[0].is(Kind::dtype)    ? p[0].type->element
                  : p.size() == 1 && p[0].is(Kind::string) ? type_from_name(p[0].type->name)
                                                           : nullptr;
  if (name == "astype" && to) return cast_to(to, self, n);
  if (name == "view" && to && (self.is(Kind::time) || to->is(Kind::time)) && to->bytes == 8 && to->is_single() && to != float64_type()) {
    if (self.is(Kind::time) && to->is(Kind::time)) return Value::of(to, code("{}{{({}).t}}", cpp(to), self.text));
    return cast_to(to, self, n);
  }
  if (name == "view" && p.size() == 1 && p[0].is(Kind::dtype) && !self.constant && p[0].type->element->is_scalar()) {
    const Type to = p[0].type->element;
    if (to->bytes != self.type->bytes) fail(n, fmt::format("view(): {} and {} have different sizes", self.type->spelling, to->spelling));
    return Value::of(to, code("bc::bits_as<{}>({})", cpp(to), self.text));
  }
  return {};
}

/// index() and count() of a tuple.
Value FunctionCompiler::search_tuple(const Value& self, const std::string& name, const Value& wanted, const Node* n) {
  const Value whole = self.items.empty() && !self.simple ? spill(self) : self, item = spill(wanted);
  Code text = name == "index" ? "-1" : "0";
  for (size_t i = self.type->items.size(); i-- > 0;) {
    const Value same = compare_two(Operator::eq, tuple_item(whole, i), item, n);
    text = name == "index" ? code("({} ? {} : {})", same.text, i, text) : code("{} + ({} ? 1 : 0)", text, same.text);
  }
  if (name == "count" || !host()) return Value::of(int64_type(), "i64(" + text + ")");
  Value at = spill(Value::of(int64_type(), "i64(" + text + ")"), "i");
  fail_if(at.text + " < 0", "ValueError", "tuple.index(x): x not in tuple", n);
  return at;
}

Value FunctionCompiler::call_method(const Value& self, const std::string& name, CallArguments args, const Node* n) {
  if (!self.type) return {};
  if (self.is(Kind::optional)) return call_method(present(self, n), name, std::move(args), n);
  for (const Value& v : args.positional)
    if (!v.type) return {};
  const auto& p = args.positional;
  if (host())
    if (auto r = overloaded_member("_METHODS", self, name, args, n)) return *r;
  if (auto r = method_of_times(self, name, args, n)) return *r;
  if (self.type == random_generator_type())
    if (auto r = call_python("generator." + name, args.behind(self, n), n)) return *r;
  if (const LibraryFunction* f = host() && self.is_array() ? library_function("array." + name) : nullptr) {
    args = library_arguments(*f, std::move(args), n);
    if (!takes_natively(*f, args)) return call_stand_in(*f, args.behind(materialise(self, n), n), n);
  }
  if (host())
    if (auto r = host_method(self, name, args, n)) return numpy_scalar(*r, name, {self});
  if (self.is_array() && host() && function_.stand_in("array." + name))
    return *call_python("array." + name, args.behind(materialise(self, n), n), n);
  if (!args.keywords.empty()) fail(n, fmt::format(".{}() takes no argument '{}' in compiled functions", name, args.keywords[0].first));
  if (self.is_array()) return array_method(self, name, args, n);
  if (self.type->is_single())
    if (const Value r = number_method(self, name, p, n); r.type) return r;
  if (self.is(Kind::tuple) && (name == "index" || name == "count") && p.size() == 1) return search_tuple(self, name, p[0], n);
  if (host() && (self.is(Kind::slice) || self.is(Kind::range)))
    if (auto r = call_python((self.is(Kind::slice) ? "slice." : "range.") + name, args.behind(self, n), n)) return *r;
  const bool empty_list = !host() && self.is(Kind::tuple) && self.type->items.empty();
  const std::string way = instead_of_method(name), near = way.empty() ? nearest(name, members_of(self.type)) : way;
  fail(n, fmt::format("{} has no method '{}' in compiled functions", self.type->spelling, name), {{source_of(n->a->a), self.type}},
       empty_list ? "kernels have no lists; a thread's own memory is cuda.local.array(shape, dtype)"
       : near.empty() && self.is_scalar() && library_function("array." + name)
           ? "it is one number, not an array; vectorize calls its function for each element"
           : near);
}

}  // namespace bc::kernels
