// Text: literals, conversions, variables.
#include <algorithm>
#include <cmath>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

std::string real_text(double v, DType t) {
  const bool single = t == DType::f32;
  if (single) v = static_cast<float>(v);
  if (std::isnan(v) || std::isinf(v)) {
    const char* type = single ? "float" : "double";
    return std::isnan(v) ? fmt::format("limits<{}>::nan()", type) : fmt::format("{}limits<{}>::inf()", v < 0 ? "-" : "", type);
  }
  std::string s = single ? fmt::format("{}", static_cast<float>(v)) : fmt::format("{}", v);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return single ? s + "f" : s;
}

}  // namespace

std::string FunctionCompiler::literal(const Constant& c, Type t) {
  const DType d = t->dtype;
  std::complex<double> z = 0;
  int64_t i = 0;
  bool whole = false, huge = false;
  uint64_t u = 0;
  if (const bool* b = c.boolean()) {
    i = *b, whole = true;
  } else if (const int64_t* v = c.integer()) {
    i = *v, whole = true;
  } else if (const auto* v = std::get_if<uint64_t>(&c.value)) {
    u = *v, huge = true;
  } else if (const auto* v = std::get_if<double>(&c.value)) {
    z = *v;
  } else if (const auto* v = std::get_if<std::complex<double>>(&c.value)) {
    z = *v;
  }
  if (is_bool(d)) return (whole ? i != 0 : huge || z != 0.0) ? "true" : "false";
  if (is_integer(d)) {
    if (huge) return d == DType::u64 ? fmt::format("{}ull", u) : fmt::format("{}({}ull)", cpp_name(d), u);
    if (!whole) i = std::isfinite(z.real()) && std::fabs(z.real()) < 9.2e18 ? static_cast<int64_t>(z.real()) : INT64_MIN;
    switch (d) {
      case DType::i8: i = static_cast<int8_t>(i); break;
      case DType::i16: i = static_cast<int16_t>(i); break;
      case DType::i32: i = static_cast<int32_t>(i); break;
      case DType::u8: i = static_cast<uint8_t>(i); break;
      case DType::u16: i = static_cast<uint16_t>(i); break;
      case DType::u32: return fmt::format("{}u", static_cast<uint32_t>(i));
      case DType::u64: return fmt::format("{}ull", static_cast<uint64_t>(i));
      default: break;
    }
    if (i == INT64_MIN) return "(-9223372036854775807ll - 1)";
    return i > INT32_MAX || i < INT32_MIN ? fmt::format("{}ll", i) : fmt::format("{}", i);
  }
  if (whole) z = static_cast<double>(i);
  if (huge) z = static_cast<double>(u);
  switch (d) {
    case DType::f64:
    case DType::f32: return real_text(z.real(), d);
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2: return fmt::format("{}({})", cpp_name(d), real_text(z.real(), DType::f32));
    default: {
      const DType part = real_type(d);
      return fmt::format("{}({}, {})", cpp_name(d), real_text(z.real(), part), real_text(z.imag(), part));
    }
  }
}

Value FunctionCompiler::converted(const Value& v, Type to, const Node* n) {
  if (v.type == to || !v.type) return v;
  Value r = v;
  r.text = convert(v, to, n);
  r.type = to;
  r.items.clear();
  if (v.constant && to->is_scalar()) {
    // The value goes along while the new type holds it.
    const int64_t* i = v.constant->integer();
    if (to == float64_type() && i)
      r.constant = std::make_shared<Constant>(Constant{static_cast<double>(*i)});
    else if (!(i && is_integer(to->dtype)))
      r.constant = nullptr;
    else if (const int unused = 64 - 8 * itemsize(to->dtype); unused > 0) {
      const auto high = static_cast<int64_t>(static_cast<uint64_t>(*i) << unused);
      r.constant = std::make_shared<Constant>(
          Constant{is_unsigned(to->dtype) ? static_cast<int64_t>(static_cast<uint64_t>(high) >> unused) : high >> unused});
    }
  }
  if (to != v.type) r.least = 0;
  if (to->is_scalar() && (is_unsigned(to->dtype) || is_bool(to->dtype)))
    r.non_negative = true;
  else if (to->is_scalar() && v.is_scalar() &&
           !(is_integer(to->dtype) && !is_inexact(v.type->dtype) && itemsize(to->dtype) >= itemsize(v.type->dtype) &&
             !(v.type->dtype == DType::u64)))
    r.non_negative = false;
  if (!(to->is_scalar() && is_integer(to->dtype))) r.index = false;
  if (v.is_scalar() && v.type->dtype == DType::f64) r.index = false;
  r.simple = v.simple && v.constant;
  return r;
}

/// Where a function, or one of several, stands among the functions of a choice.
Code FunctionCompiler::place_of_function(const Value& v, Type to) {
  const auto place = [&](Type function) {
    return literal(Constant{std::ranges::find(to->items, function) - to->items.begin()}, int64_type());
  };
  if (!v.is(Kind::choice)) return place(v.type);
  const Value from = v.simple ? v : spill(v);
  Code r = place(v.type->items.back());
  for (size_t i = v.type->items.size() - 1; i-- > 0;)
    r = choice(operation(from.text, "==", literal(Constant{static_cast<int64_t>(i)}, int64_type())), place(v.type->items[i]), r);
  return r;
}

Code FunctionCompiler::convert(const Value& v, Type to, const Node* n) {
  if (!v.type) return code("{}{{}}", cpp(to));
  if (is_incomplete(v.type) && v.type->is_container() && !emitting_) return "{}";
  if (v.display && to->is_container()) {
    const Value whole = made(v, to, n);
    if (!whole.display) return convert(whole, to, n);
    if (whole.type->is_container()) return display_text(whole, to, n);
  }
  if (v.type == to) return v.is(Kind::tuple) ? struct_text(v) : v.text;
  if (is_characters(to) || is_characters(v.type) || is_bytes(to)) return convert_characters(v, to, n);
  if (v.is(Kind::string) && to->is(Kind::text)) return literal_text(v.type->name);
  if (v.is(Kind::object) && to->is(Kind::member) && v.type->element == to) return literal(Constant{v.type->value}, int64_type());
  if (to->is(Kind::choice) && converts(v.type, to)) return place_of_function(v, to);
  if (v.type->is_container() && to->is_container() && cpp(v.type) == cpp(to)) return v.text;
  const auto refuse = [&] {
    if (!n) fail(nullptr, fmt::format("{} does not convert to {}", v.type->spelling, to->spelling));
    fail(n, fmt::format("{} does not convert to {}", v.type->spelling, to->spelling));
  };
  if (to->is(Kind::optional)) {
    if (v.is_none()) return cpp(to) + "{}";
    if (v.is(Kind::optional)) {
      const Value whole = v.simple ? v : spill(v);
      const Value inner = Value::of(v.type->element, code("{}.value", paren(whole)));
      return code("{}{{{}, {}.there}}", cpp(to), convert(inner, to->element, n), paren(whole));
    }
    return code("{}{{{}, true}}", cpp(to), convert(v, to->element, n));
  }
  if (v.is(Kind::optional)) {
    const Code value = host() ? code("py::given({})", v.text).with(kRaises) : code("{}.value", paren(v));
    return convert(Value::of(v.type->element, value), to, n);
  }
  if (to->is(Kind::literal) && v.integer() == to->value) return v.text;
  if (v.is(Kind::literal)) return literal(Constant{v.type->value}, to);
  if (v.is_scalar() && to->is_scalar()) {
    const DType from = v.type->dtype, d = to->dtype;
    if (is_complex(from) && is_bool(d)) return code("bc::nonzero({})", v.text);
    if (is_complex(from) && !is_complex(d)) {
      if (n) fail(n, fmt::format("{} does not convert to {}", v.type->spelling, to->spelling), {}, "use .real, .imag or abs()");
      refuse();
    }
    if (v.constant && !is_complex(from)) return literal(*v.constant, to);
    if (v.constant && is_complex(from)) return literal(*v.constant, to);
    const auto plain = [](DType t) { return !is_small_float(t) && !is_complex(t); };
    if (plain(from) && plain(d) && !is_bool(d) && !(is_inexact(from) && is_integer(d))) return code("{}({})", cpp_name(d), v.text);
    if (is_complex(d) && !is_complex(from)) {
      const Type part = scalar_type(real_type(d));
      return code("{}({})", cpp_name(d), convert(v, part, n));
    }
    return code("bc::cast<{}>({})", cpp_name(d), v.text);
  }
  if (v.is(Kind::time) && to->is(Kind::time)) {
    // A key or an item of a list in a coarser unit would be another time.
    if (!can_cast(v.type->dtype, to->dtype, Casting::safe)) refuse();
    return time_in(v, to, n);
  }
  if (v.is_array() && to->is_array()) {
    if (v.type->ndim == 0 && to->ndim != 0) refuse();
    if (v.type->element != to->element || v.type->ndim != to->ndim || (v.type->layout != to->layout && to->layout != 'A')) refuse();
    if (cpp(v.type) == cpp(to)) return v.text;
    return code("py::{}<{}>({})", host() ? "host_cast" : "array_cast", cpp(to), v.text);
  }
  if (is_record_reference(v) && to == v.type->element) return referred(v).text;
  if (v.is_array() && v.type->ndim == 0 && to->is_single()) return convert(subscript_of(v, tuple_of({}), n), to, n);
  if (v.is(Kind::tuple) && to->is(Kind::tuple) && v.type->items.size() == to->items.size()) {
    const Value whole = v.items.empty() && !v.simple ? spill(v) : v;
    Value r;
    r.type = to;
    for (size_t i = 0; i < to->items.size(); ++i) r.items.push_back(converted(tuple_item(whole, i), to->items[i], n));
    return r.items.empty() ? cpp(to) + "{}" : struct_text(r);
  }
  if (v.type->kind == to->kind && (v.is(Kind::range) || v.is(Kind::slice))) return v.text;
  refuse();
  return {};
}

namespace {
/// Tells whether a hint and a number make the device library's name of a type.
bool is_type_name(std::string_view name) {
  static constexpr std::string_view names[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
}  // namespace

std::string FunctionCompiler::temporary(const char* hint) {
  std::string name;
  do name = fmt::format("{}{}", hint, ++temporaries_);
  while (is_type_name(name));
  return name;
}

Value FunctionCompiler::spill(const Value& v, const char* hint) {
  if (!v.type || !v.type->has_value() || (v.constant && v.simple)) return v;
  if (v.lazy) return v;
  Value r = v;
  const Code text = v.is(Kind::tuple) ? struct_text(v) : v.text;
  r.text = temporary(hint);
  quiet_line(code("const {} {} = {};", cpp(v.type), r.text, text));
  if (v.is_array() && v.type->space == Space::local) r.note(kThreadArray);
  r.items.clear();
  r.started = nullptr;
  r.simple = true;
  return r;
}

Value FunctionCompiler::stored(const Value& v) {
  if (v.items.empty() && v.simple) return v;
  Value r = v;
  r.constant = nullptr;
  r.simple = false;
  return spill(r, "items");
}

std::string FunctionCompiler::variable(int local, Type t, bool* declare_here) {
  if (declare_here) *declare_here = false;
  const auto found = variables_.find({local, t});
  if (found != variables_.end()) return found->second;
  const std::string& python = static_cast<size_t>(local) < syntax_.locals.size()
                                  ? syntax_.locals[static_cast<size_t>(local)]
                                  : spec_.captured[static_cast<size_t>(local) - syntax_.locals.size()];
  int nth = 1;
  std::string name = user_name(Named::variable, python);
  while (taken_.contains(name)) name = user_name(Named::variable, python, ++nth);
  taken_.insert(name);
  variables_[{local, t}] = name;
  if (declare_here && depth_ == 1)
    *declare_here = true;
  else
    declarations_ += fmt::format("  {} {}{};\n", cpp(t), name,
                                 checks_variable(t) ? fmt::format(" = py::unset<{}>()", cpp(t))
                                 : t->is_scalar()   ? " = {}"
                                                    : "{}");
  return name;
}

}  // namespace bc::kernels
