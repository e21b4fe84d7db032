// Elements of NumPy's arrays of str and of bytes (src/device/python/character_texts.h). Those of str are texts as soon as they are read;
// those of bytes are values of their own; what computes with them, and with bytes, gives bytes.
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
  if (is_bytes(to)) return code("py::new_bytes({})", from.text);
  if (is_characters(from.type)) return code("{}({})", cpp(to), from.text);
  if (!is_wide(to)) return code("py::characters_of_bytes<{}>({})", cpp(to), from.text);
  return code("py::characters<{}>({})", cpp(to), convert(from, text_type(), n));
}

namespace {
bool is_bytes_like(const Value& v) { return (is_characters(v.type) && !is_wide(v.type)) || is_bytes(v.type); }
bool holds_texts(const Value& v) { return v.is_array() && is_characters(v.type->element) && v.type->ndim > 0; }
}  // namespace

/// b + c and b * n of bytes.
std::optional<Value> FunctionCompiler::bytes_binary(Operator op, const Value& a, const Value& b, const Node* n) {
  if (!host() || !(is_bytes_like(a) || is_bytes_like(b))) return std::nullopt;
  const auto called = [this](Code text) {
    unit_.need("character_texts");
    return Value::called(bytes_type(), std::move(text));
  };
  if (op == Operator::add && is_bytes_like(a) && is_bytes_like(b)) return called(code("py::joined_bytes({}, {})", a.text, b.text));
  const auto whole = [](const Value& v) { return v.is(Kind::literal) || (v.is_scalar() && !is_inexact(v.type->dtype)); };
  if (op == Operator::add && (a.is_scalar() || b.is_scalar()))
    fail(n, fmt::format("no operator + for {} and {}", a.type->spelling, b.type->spelling), {}, "bytes([x]) is one byte");
  if (const bool left = is_bytes_like(a); op == Operator::mul && whole(left ? b : a)) {
    return called(code("py::repeated_bytes({}, {})", (left ? a : b).text, convert(left ? b : a, int64_type(), nullptr)));
  }
  return std::nullopt;
}

/// Comparisons of bytes, and those of arrays of texts, which compare element by element.
std::optional<Value> FunctionCompiler::characters_compare(Operator op, const Value& a, const Value& b, const Node* n) {
  const bool order =
      op == Operator::eq || op == Operator::ne || op == Operator::lt || op == Operator::le || op == Operator::gt || op == Operator::ge;
  if (host() && (op == Operator::in || op == Operator::not_in) && is_bytes(b.type) && is_bytes_like(a)) {
    unit_.need("character_texts");
    return Value::called(bool_type(), code("{}py::contains_bytes({}, {})", op == Operator::not_in ? "!" : "", b.text, a.text));
  }
  if (!host() || !order) return std::nullopt;
  if (holds_texts(a) || holds_texts(b)) {
    const auto fits = [](const Value& v) { return holds_texts(v) || is_bytes_like(v) || v.is(Kind::string) || v.is(Kind::text); };
    if (!fits(a) || !fits(b)) return std::nullopt;
    if (is_bytes(a.type) || is_bytes(b.type))
      fail(n, "an array of bytes is compared with another, or with one of its elements", {}, "compare the elements in a loop");
    const auto read = [this, n](const Value& v) { return is_characters(v.type) ? characters_read(v, n) : v; };
    return lift({a, b}, [this, op, n, read](std::span<const Value> v) { return compare_two(op, read(v[0]), read(v[1]), n); }, n);
  }
  if (!is_bytes_like(a) || !is_bytes_like(b)) return std::nullopt;
  unit_.need("character_texts");
  const Value x = bound(a), y = bound(b);
  if (op == Operator::eq || op == Operator::ne)
    return Value::called(bool_type(), code("{}py::same_bytes({}, {})", op == Operator::ne ? "!" : "", x.text, y.text));
  return Value::called(bool_type(), operation(code("py::order_of_bytes({}, {})", x.text, y.text), to_string(op), "0"));
}

namespace {
/// Methods of bytes that the method of str of the same name computes. What the first give is no longer than the bytes.
constexpr std::string_view kShortening[] = {"upper", "lower", "swapcase", "title", "strip", "lstrip", "rstrip", "capitalize"};
constexpr std::string_view kOthers[] = {"startswith", "endswith",   "find",         "rfind",        "index",     "rindex",  "count",
                                        "isalpha",    "isalnum",    "isdigit",      "islower",      "isupper",   "isspace", "istitle",
                                        "center",     "ljust",      "rjust",        "zfill",        "replace",   "split",   "rsplit",
                                        "partition",  "rpartition", "removeprefix", "removesuffix", "expandtabs"};
}  // namespace

bool is_method_of_bytes(std::string_view name) {
  return name == "join" || std::ranges::find(kShortening, name) != std::end(kShortening) ||
         std::ranges::find(kOthers, name) != std::end(kOthers);
}

/// A method of bytes, computed by the one of str. What an element of an array gives that is no longer stays of the element's type.
Value FunctionCompiler::characters_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n) {
  if (!is_method_of_bytes(name)) {
    const std::string way = instead_of_method(name);
    fail(n, fmt::format("bytes have no method '{}' in compiled functions", name), {}, way.empty() ? "use an array of str" : way);
  }
  unit_.need("character_texts");
  const auto bytes = [](Code text) { return Value::called(bytes_type(), std::move(text)); };
  if (name == "join") {
    if (args.positional.size() != 1 || !args.keywords.empty()) fail(n, "bytes.join() takes one iterable");
    const Value& given = args.positional[0];
    if (is_bytes_like(given)) fail(n, "bytes.join() takes bytes, not integers");
    const Value parts = given.is(Kind::list) && !given.display ? given : list_from(given, n);
    if (!parts.type || is_incomplete(parts.type)) return bytes("");
    if (!is_bytes_like(Value::known(parts.type->element))) fail(n, fmt::format("bytes.join() takes bytes, not {}", given.type->spelling));
    return bytes(code("py::join_bytes({}, {})", self.text, parts.text));
  }
  const std::function<Value(const Value&)> text = [&](const Value& v) {
    if (v.is(Kind::tuple) && !v.items.empty()) {
      std::vector<Value> items;
      for (const Value& item : v.items) items.push_back(text(item));
      return tuple_of(std::move(items));
    }
    if (is_bytes_like(v)) return Value::called(text_type(), code("py::text_of_bytes({})", v.text));
    if (v.is(Kind::string) || v.is(Kind::text)) fail(n, fmt::format("{}() of bytes takes bytes, not str", name));
    return v;
  };
  CallArguments texts = args;
  // find(98): the number of a byte.
  const bool searches = name.ends_with("find") || name.ends_with("index") || name == "count";
  if (searches && !args.positional.empty() && (args.positional[0].is_scalar() || args.positional[0].is(Kind::literal)))
    texts.positional[0] = Value::called(bytes_type(), code("py::single_byte({})", whole_number(args.positional[0], "a byte", n)));
  for (Value& v : texts.positional) v = text(v);
  for (auto& [keyword, v] : texts.keywords) v = text(v);
  const Value made = *text_method(text(self), name, texts, n);
  const bool same = is_characters(self.type) && std::ranges::find(kShortening, name) != std::end(kShortening);
  if (made.is(Kind::text) && same) return Value::called(self.type, code("py::characters<{}>({})", cpp(self.type), made.text));
  if (made.is(Kind::text) || made.is(Kind::string)) return bytes(code("py::bytes_of_text({})", convert(made, text_type(), n)));
  if (made.is(Kind::list)) return Value::called(list_type(bytes_type()), code("py::bytes_of_texts({})", made.text));
  if (!made.is(Kind::tuple)) return made;
  const Value whole = made.items.empty() && !made.simple ? spill(made) : made;
  std::vector<Value> items;
  for (size_t i = 0; i < whole.type->items.size(); ++i)
    items.push_back(bytes(code("py::bytes_of_text({})", convert(tuple_item(whole, i), text_type(), n))));
  return tuple_of(std::move(items));
}

/// bytes(), of bytes, of a number of zeros, and of integers.
Value FunctionCompiler::new_bytes(const CallArguments& args, const Node* n) {
  unit_.need("character_texts");
  const auto called = [](Code text) { return Value::called(bytes_type(), std::move(text)); };
  if (args.positional.size() > 1 || !args.keywords.empty()) fail(n, "bytes() takes one value in compiled functions");
  if (args.positional.empty()) return called(code("py::zeros<u8, 1>({{{{0}}}})"));
  Value v = args.positional[0];
  if (is_bytes(v.type)) return v;
  if (v.is(Kind::literal) || (v.is_scalar() && !is_inexact(v.type->dtype)))
    return called(code("py::zeros<u8, 1>({{{{{}}}}})", convert(v, int64_type(), n)));
  if (is_bytes_like(v)) return called(code("py::new_bytes({})", v.text));
  if (v.lazy) v = materialise(v, n);
  if (v.is_array()) return called(code("py::memory_of({})", v.text));
  if (v.is(Kind::string) || v.is(Kind::text)) fail(n, "bytes() of a str takes an encoding", {}, "encode outside and pass the bytes");
  const Value parts = v.is(Kind::list) && !v.display ? v : list_from(v, n);
  if (!parts.type || is_incomplete(parts.type)) return called(code("py::zeros<u8, 1>({{{{0}}}})"));
  if (!parts.type->element->is_scalar() || is_inexact(parts.type->element->dtype))
    fail(n, fmt::format("bytes() does not take {}", v.type->spelling), {}, "pass integers");
  return called(code("py::bytes_of_integers({})", parts.text));
}

}  // namespace bc::kernels
