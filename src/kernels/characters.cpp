// Elements of NumPy's arrays of str and of bytes (src/device/python/character_texts.h). Those of str are texts as soon as they are read;
// those of bytes are values of their own, since bytes have no other type here.
#include <algorithm>

#include "kernels/compiler.h"

namespace bc::kernels {

/// What an element is where a program reads it.
Value FunctionCompiler::characters_read(Value raw, const Node* n) {
  if (!host())
    fail(n, fmt::format("an element of {} is not supported in kernels and elementwise functions", raw.type->spelling), {},
         "only functions under jit have texts");
  unit_.need("character_texts");
  raw.note(kReads);
  if (!is_wide(raw.type)) return raw;
  Value text = Value::fetched(text_type(), code("py::text_of({})", raw.text));
  text.items = {std::move(raw)};
  return text;
}

Code FunctionCompiler::convert_characters(const Value& v, Type to, const Node* n) {
  if (!host() || !converts(v.type, to)) {
    if (is_characters(v.type) && is_wide(v.type) && to->is(Kind::text)) return characters_read(v, n).text;
    fail(n, fmt::format("{} does not convert to {}", v.type->spelling, to->spelling));
  }
  if (v.type == to) return v.text;
  unit_.need("character_texts");
  const Value from = read_from_characters(v) ? v.items[0] : v;
  if (from.type == to) return from.text;
  if (is_characters(from.type)) return code("{}({})", cpp(to), from.text);
  if (!is_wide(to)) return code("py::characters_of_bytes<{}>({})", cpp(to), from.text);
  return code("py::characters<{}>({})", cpp(to), convert(from, text_type(), n));
}

namespace {
bool is_bytes_like(const Value& v) { return (is_characters(v.type) && !is_wide(v.type)) || is_bytes(v.type); }
bool holds_texts(const Value& v) { return v.is_array() && is_characters(v.type->element) && v.type->ndim > 0; }
}  // namespace

/// Comparisons of bytes, and those of arrays of texts, which compare element by element.
std::optional<Value> FunctionCompiler::characters_compare(Operator op, const Value& a, const Value& b, const Node* n) {
  const bool order =
      op == Operator::eq || op == Operator::ne || op == Operator::lt || op == Operator::le || op == Operator::gt || op == Operator::ge;
  if (!host() || !order) return std::nullopt;
  if (holds_texts(a) || holds_texts(b)) {
    const auto fits = [](const Value& v) { return holds_texts(v) || is_bytes_like(v) || v.is(Kind::string) || v.is(Kind::text); };
    if (!fits(a) || !fits(b)) return std::nullopt;
    if (is_bytes(a.type) || is_bytes(b.type))
      fail(n, "an array of bytes is compared with another, or with one of its elements", {}, "compare the elements in a loop");
    const auto read = [this, n](const Value& v) { return is_characters(v.type) ? characters_read(v, n) : v; };
    return lift({a, b}, [this, op, n, read](std::span<const Value> v) { return compare_two(op, read(v[0]), read(v[1]), n); }, n);
  }
  if (!is_bytes_like(a) || !is_bytes_like(b) || (is_bytes(a.type) && is_bytes(b.type))) return std::nullopt;
  unit_.need("character_texts");
  const Value x = bound(a), y = bound(b);
  if (op == Operator::eq || op == Operator::ne)
    return Value::called(bool_type(), code("{}py::same_bytes({}, {})", op == Operator::ne ? "!" : "", x.text, y.text));
  return Value::called(bool_type(), operation(code("py::order_of_bytes({}, {})", x.text, y.text), to_string(op), "0"));
}

/// A method of bytes, computed by the one of str. What gives bytes gives as many at most.
Value FunctionCompiler::characters_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n) {
  static constexpr std::string_view kKnown[] = {"startswith", "endswith", "find",    "rfind",   "index",   "rindex",    "count", "isalpha",
                                                "isalnum",    "isdigit",  "islower", "isupper", "isspace", "istitle",   "upper", "lower",
                                                "swapcase",   "title",    "strip",   "lstrip",  "rstrip",  "capitalize"};
  if (std::ranges::find(kKnown, name) == std::end(kKnown))
    fail(n, fmt::format("an element of an array of bytes has no method '{}' in compiled functions", name), {}, "use an array of str");
  unit_.need("character_texts");
  const auto text = [&](const Value& v) {
    if (v.is(Kind::tuple))
      fail(n, fmt::format("{}() of bytes takes no tuple in compiled functions", name), {}, "join several calls by `or`");
    if (is_bytes_like(v)) return Value::called(text_type(), code("py::{}({})", is_bytes(v.type) ? "text_of_bytes" : "text_of", v.text));
    if (v.is(Kind::string) || v.is(Kind::text)) fail(n, fmt::format("{}() of bytes takes bytes, not str", name));
    return v;
  };
  CallArguments texts = args;
  for (Value& v : texts.positional) v = text(v);
  for (auto& [keyword, v] : texts.keywords) v = text(v);
  const Value made = *text_method(text(self), name, texts, n);
  return made.is(Kind::text) ? Value::called(self.type, code("py::characters<{}>({})", cpp(self.type), made.text)) : made;
}

}  // namespace bc::kernels
