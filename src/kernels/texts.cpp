// Strings, in functions compiled for the CPU (src/device/python/text.h): a literal is part of the types until it meets another.
#include <algorithm>

#include "kernels/compiler.h"
#include "primitives/ops.h"

namespace bc::kernels {

std::string quoted_text(std::string_view s) {
  std::string r = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\')
      r += '\\', r += c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == '?')
      r += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    else
      r += c;
  }
  return r + "\"";
}

std::string literal_text(std::string_view s) {
  size_t points = 0;
  for (char c : s) points += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  constexpr size_t kMarked = 64;  // from here on the places of characters are worth keeping
  if (points != s.size() && s.size() >= kMarked)
    return fmt::format("py::long_literal([]() -> py::LongLiteral<{0}>& {{ static py::LongLiteral<{0}> l; return l; }}(), {1}, {2})",
                       s.size(), quoted_text(s), points);
  return fmt::format("py::literal({}, {}, {})", quoted_text(s), s.size(), points);
}

namespace {
/// Whether a value of the type is or holds what only the interpreter writes in containers: arrays and times.
bool holds_arrays(Type t) {
  if (!t) return false;
  if (t->is_array() || t->is(Kind::time)) return true;
  if (t->is(Kind::optional) || t->is_container())
    if (holds_arrays(t->element)) return true;
  return (t->is_tuple() || t->is(Kind::dict)) && std::any_of(t->items.begin(), t->items.end(), holds_arrays);
}
}  // namespace

/// str() or repr() of what holds arrays, whose text only NumPy can write, and of objects, whose class writes it; nothing for other values.
std::optional<Value> FunctionCompiler::text_of_arrays(const Value& given, const char* function, const Node* n) {
  if (!host() || !given.type) return std::nullopt;
  if (given.is(Kind::instance)) {
    // As Python: repr() stands for a str() that the class does not have.
    std::optional<Value> text;
    if (std::string_view(function) == "builtins.str") text = instance_operator("str", {given}, n);
    if (!text) text = instance_operator("repr", {given}, n);
    if (!text) fail(n, fmt::format("{} has no text", given.type->spelling), {}, "give the class a method __str__ or __repr__");
    return text;
  }
  if ((given.is(Kind::time) && std::string_view(function) == "builtins.str") || !(given.display || holds_arrays(given.type)))
    return std::nullopt;
  Value v = made(given, nullptr, n);
  if (!v.type || is_incomplete(v.type) || !holds_arrays(v.type)) return std::nullopt;
  if (v.lazy) v = materialise(v, n);
  return call_python(function, {{v}, {n}, {}}, n);
}

/// A value as py::write and its kin take it.
Code FunctionCompiler::text_operand(const Value& given, const Node* n) {
  if (given.is(Kind::time))
    fail(n, fmt::format("compiled functions write no text of {}", given.type->spelling), {}, "return it, or write its ticks: int(x)");
  Value v = made(given, nullptr, n);
  if (auto text = text_of_arrays(v, "builtins.str", n)) return convert(*text, text_type(), n);
  if (v.lazy) v = materialise(v, n);
  if (v.is(Kind::string)) return literal_text(v.type->name);
  if (v.is(Kind::literal)) return code("i64({})", v.type->value);
  if (v.is_none()) return literal_text("None");
  if (v.is(Kind::builtin) && v.type->name.starts_with("exception."))
    return code("py::caught_text({}, &bc_failure_text)", v.type->name.substr(10));
  if (v.is(Kind::builtin) && v.type->name.starts_with("dict.")) return list_from(v, n).text;
  if (!v.type->has_value()) fail(n, fmt::format("{} has no text in compiled functions", v.type->spelling));
  if (v.type->is_container() && is_incomplete(v.type)) return literal_text("");
  if (v.is_scalar()) return code("{}({})", cpp(v.type), v.text);
  if (v.is(Kind::tuple)) {
    // Literals inside become texts.
    std::vector<Value> items;
    const Value whole = v.items.empty() && !v.simple ? spill(v) : v;
    for (size_t i = 0; i < v.type->items.size(); ++i) {
      Value item = tuple_item(whole, i);
      if (item.is(Kind::string)) item = converted(item, text_type(), n);
      items.push_back(item);
    }
    return struct_text(tuple_of(std::move(items)));
  }
  return v.text;
}

/// A text of its parts, whose values are evaluated already.
Value FunctionCompiler::text_of_parts(const std::vector<TextPart>& parts, const Node* n) {
  if (!host()) fail(n, "formatted texts are not supported in kernels", {}, "pass the values to print() one by one");
  const std::string w = temporary("text");
  std::string known;
  bool constant = true;
  std::vector<Code> lines;
  for (const TextPart& part : parts) {
    Value v = part.value;
    bool quoted = part.conversion == 'r';
    const bool specified = part.specification.type;
    if (!v.type) {
      known += part.text;
      lines.push_back(code("{}.put({}, {}, {}.length);", w, quoted_text(part.text), part.text.size(), literal_text(part.text)));
      continue;
    }
    if (specified && part.conversion) v = quoted ? call_builtin("builtins.repr", {{v}, {n}, {}}, n) : *text_class("str", {{v}, {n}, {}}, n);
    if (!specified)
      if (auto arrays = text_of_arrays(v, quoted ? "builtins.repr" : "builtins.str", n)) v = *arrays, quoted = false;
    if (v.is(Kind::string) && !specified && !quoted) {
      known += v.type->name;
      lines.push_back(code("py::write_str({}, {});", w, literal_text(v.type->name)));
      continue;
    }
    constant = false;
    if (v.is(Kind::time) && !specified && !quoted) v = text_of_time(v, n);
    const Code text = text_operand(v, n);
    if (!specified) {
      lines.push_back(code("py::{}({}, {});", quoted ? "write" : "write_str", w, text));
      continue;
    }
    if (!(v.is_scalar() && !is_complex(v.type->dtype)) && !v.is(Kind::text) && !v.is(Kind::string) && !v.is(Kind::literal))
      fail(n, fmt::format("a format specification does not take {}", v.type->spelling));
    const Value s = spill(converted(part.specification, text_type(), n), "spec");
    lines.push_back(code("py::write_str({}, py::formatted({}, {}.data, {}.size));", w, text, s.text, s.text));
  }
  if (constant) return constant_value(Constant{known});
  linef("py::Writer {};", w);
  for (const Code& l : lines) line(l);
  Value r = Value::of(text_type(), temporary("s"));
  linef("const py::Str {} = {}.text();", r.text, w);
  r.simple = true;
  return r;
}

/// An f-string.
Value FunctionCompiler::formatted_text(const Node* n) {
  std::vector<TextPart> parts;
  for (const Node* node : n->list) {
    TextPart& part = parts.emplace_back();
    if (node->kind == NodeKind::constant) {
      part.text = *node->literal.string();
      continue;
    }
    if (node->text == "a") fail(node, "the conversion !a is not supported in compiled functions", {}, "use !r");
    if (!node->text.empty()) part.conversion = node->text[0];
    const size_t place = out_.size();
    part.value = made(expression(node->a), nullptr, node);
    if (!part.value.type) return {};
    // Its value now, in the order of the parts.
    if (part.value.type->has_value() && !part.value.lazy && (part.value.acts() || part.value.reads() || out_.size() != place))
      part.value = spill(part.value);
    if (!node->b) continue;
    part.specification = node->b->kind == NodeKind::formatted ? formatted_text(node->b) : expression(node->b);
    if (!part.specification.type) return {};
  }
  return text_of_parts(parts, n);
}

/// The parts of str.format's pattern; `next` is the number of the next field that has none.
std::vector<FunctionCompiler::TextPart> FunctionCompiler::replacement_fields(std::string_view pattern, const CallArguments& args,
                                                                             size_t* next, const Node* n) {
  std::vector<TextPart> parts;
  const auto single = [&](char c) { fail(n, fmt::format("str.format(): a single '{}' in the format", c), {}, "write it twice"); };
  std::string known;
  const auto put_known = [&] {
    if (!known.empty()) parts.push_back({std::exchange(known, {}), {}, 0, {}});
  };
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c != '{' && c != '}') {
      known += c;
      continue;
    }
    if (at + 1 < pattern.size() && pattern[at + 1] == c) {
      known += c;
      ++at;
      continue;
    }
    size_t end = at + 1;
    for (int depth = 1; end < pattern.size(); ++end)
      if ((depth += pattern[end] == '{' ? 1 : pattern[end] == '}' ? -1 : 0) == 0) break;
    if (c == '}' || end >= pattern.size()) single(c);
    put_known();
    const std::string_view field = pattern.substr(at + 1, end - at - 1);
    at = end;
    const size_t name_end = std::min(field.find_first_of("!:"), field.size());
    const std::string_view name = field.substr(0, name_end);
    TextPart part;
    std::string_view rest = field.substr(name_end);
    if (rest.starts_with('!')) {
      if (rest.size() < 2 || (rest[1] != 'r' && rest[1] != 's') || (rest.size() > 2 && rest[2] != ':'))
        fail(n, fmt::format("str.format(): the conversion of {{{}}} is not !r or !s", field));
      part.conversion = rest[1];
      rest.remove_prefix(2);
    }
    if (name.find_first_not_of("0123456789") == name.npos) {
      const size_t index = name.empty() ? (*next)++ : static_cast<size_t>(std::stoul("0" + std::string(name.substr(0, 4))));
      if (index >= args.positional.size()) fail(n, fmt::format("str.format(): there is no argument {} for {{{}}}", index, field));
      part.value = args.positional[index];
    } else {
      const auto named = std::find_if(args.keywords.begin(), args.keywords.end(), [&](const auto& k) { return k.first == name; });
      if (named == args.keywords.end())
        fail(n, fmt::format("str.format(): there is no argument '{}'", name), {},
             name.find_first_of(".[") == name.npos ? "" : "pass the attribute or item as an argument of its own");
      part.value = named->second;
    }
    if (rest.size() > 1) part.specification = text_of_parts(replacement_fields(rest.substr(1), args, next, n), n);
    parts.push_back(std::move(part));
  }
  put_known();
  return parts;
}

/// The parts of `pattern % operand`, with Python's newer specifications for the older ones.
std::vector<FunctionCompiler::TextPart> FunctionCompiler::percent_fields(std::string_view pattern, const Value& given, const Node* n) {
  const bool named = given.is(Kind::dict);
  const Value operand = named && given.display ? finished(given, n) : given;
  std::vector<Value> values = {operand};
  if (operand.is(Kind::tuple) && !operand.display) {
    const Value whole = operand.items.empty() && !operand.simple ? spill(operand) : operand;
    values.clear();
    for (size_t i = 0; i < operand.type->items.size(); ++i) values.push_back(tuple_item(whole, i));
  }
  std::vector<TextPart> parts;
  size_t used = 0;
  for (size_t at = 0; at < pattern.size();) {
    const size_t percent = std::min(pattern.find('%', at), pattern.size());
    if (percent > at) parts.push_back({std::string(pattern.substr(at, percent - at)), {}, 0, {}});
    if (percent == pattern.size()) break;
    // %(name)s: an item of a dict.
    const size_t name_end = named && pattern.substr(percent + 1, 1) == "(" ? pattern.find(')', percent) : pattern.npos;
    const size_t begin = name_end == pattern.npos ? percent : name_end;
    const size_t type_at = std::min(pattern.find_first_not_of("0123456789+-# .lhL", begin + 1), pattern.size());
    const std::string_view field = pattern.substr(begin, type_at + 1 - begin);
    at = type_at + 1;
    const char type = type_at < pattern.size() ? pattern[type_at] : 0;
    if (field == "%%") {
      parts.push_back({"%", {}, 0, {}});
      continue;
    }
    if (type == 0 || std::string_view("diuxXoeEfFgGsrc").find(type) == std::string_view::npos)
      fail(n, fmt::format("the format '{}' is not supported in compiled functions", field), {}, "use an f-string");
    if (begin != percent) {
      const std::string name(pattern.substr(percent + 2, begin - percent - 2));
      values = {spill(subscript_of(operand, constant_value(Constant{name}), n))};
      used = 0;
    }
    if (used == values.size()) fail(n, "not enough arguments for the format", {{source_of(n->b), operand.type}});
    std::string_view options = field.substr(1, field.size() - 2);
    const size_t flags_end = std::min(options.find_first_not_of("+-# 0"), options.size());
    const std::string_view flags = options.substr(0, flags_end);
    options.remove_prefix(flags_end);
    while (!options.empty() && std::string_view("lhL").find(options.back()) != std::string_view::npos) options.remove_suffix(1);
    const auto has = [&](char flag) { return flags.find(flag) != flags.npos; };
    Value v = values[used++];
    const bool whole = std::string_view("diuxXo").find(type) != std::string_view::npos, text = type == 's' || type == 'r' || type == 'c';
    if (whole && options.find('.') != options.npos)
      fail(n, fmt::format("the format '{}' is not supported in compiled functions", field), {}, "use zfill(), or an f-string");
    TextPart part;
    bool rounds = false;
    if (text) {
      part.conversion = type == 'r' ? 'r' : 's';
      if (type == 'c' && !v.is(Kind::text) && !v.is(Kind::string)) v = call_builtin("builtins.chr", {{v}, {n}, {}}, n);
    } else {
      if (v.type && v.is(Kind::literal)) v = converted(v, int64_type(), n);
      if (v.type && (!v.is_scalar() || is_complex(v.type->dtype) || (whole && is_inexact(v.type->dtype) && type != 'd' && type != 'i')))
        fail(n, fmt::format("the format '{}' does not take {}", field, v.type->spelling));
      rounds = whole && v.is_scalar() && is_inexact(v.type->dtype);
      if (v.type) v = cast_to(whole && !rounds ? int64_type() : float64_type(), v, n);
      if (rounds) {
        // A whole number of any size.
        v = spill(v);
        fail_if(code("{0} != {0}", v.text), "ValueError", "cannot convert float NaN to integer", n);
        fail_if(code("{0} - {0} != 0", v.text), "OverflowError", "cannot convert float infinity to integer", n);
        v = binary(Operator::add, elementwise(static_cast<int>(Op::trunc), {v}, n), constant_value(Constant{0.0}), n);
      }
    }
    part.value = v;
    std::string spec = has('-') ? "<" : text || !has('0') ? ">" : "";
    if (!text) spec += has('+') ? "+" : has(' ') ? " " : "";
    if (!text && has('#')) spec += "#";
    if (!text && has('0') && !has('-')) spec += "0";
    spec += options;
    if (!text) spec += rounds ? ".0f" : type == 'i' || type == 'u' ? "d" : std::string(1, type);
    if (spec != ">") part.specification = constant_value(Constant{spec});
    parts.push_back(std::move(part));
  }
  if (used < values.size() && !named) fail(n, "not all arguments are converted by the format", {{source_of(n->b), operand.type}});
  return parts;
}

/// str(x), int(text), float(text).
std::optional<Value> FunctionCompiler::text_class(const std::string& name, const CallArguments& args, const Node* n) {
  if (!host()) return std::nullopt;
  const auto& p = args.positional;
  if (name == "str") {
    if (p.empty()) return constant_value(Constant{std::string()});
    if (p.size() != 1) fail(n, "str() takes one value");
    if (p[0].is(Kind::string) || p[0].is(Kind::text)) return p[0];
    if (auto arrays = text_of_arrays(p[0], "builtins.str", n)) return arrays;
    if (p[0].is(Kind::time)) return text_of_time(p[0], n);
    return Value::called(text_type(), code("py::text_of({})", text_operand(p[0], n)));
  }
  if (p.empty() || !(p[0].is(Kind::text) || p[0].is(Kind::string))) return std::nullopt;
  const Code s = convert(p[0], text_type(), n);
  if (name == "int")
    return Value::called(int64_type(), code("py::parse_int({}, {})", s, p.size() > 1 ? whole_number(p[1], "a base", n) : "10"));
  if (name == "float") return Value::called(float64_type(), code("py::parse_float({})", s));
  return std::nullopt;
}

std::optional<Value> FunctionCompiler::text_method(const Value& self, const std::string& name, const CallArguments& given, const Node* n) {
  if (!host() || !(self.is(Kind::text) || self.is(Kind::string))) return std::nullopt;
  if (name == "format") {
    if (!self.is(Kind::string)) fail(n, "str.format() of a text that is not known when the function is compiled", {}, "use an f-string");
    size_t next = 0;
    return text_of_parts(replacement_fields(self.type->name, given, &next, n), n);
  }
  const LibraryFunction* row = library_function("str." + name);
  if (!row && !given.keywords.empty()) fail(n, fmt::format("str.{}() takes no argument '{}' by name", name, given.keywords[0].first));
  const CallArguments args = row ? positional_arguments(*row, given, n) : given;
  const Code s = convert(self, text_type(), n);
  const auto& p = args.positional;
  const auto made_text = [&](Code text, Type t = text_type()) { return Value::called(t, std::move(text)); };
  const auto text = [&](size_t i) { return convert(p[i], text_type(), n); };
  const auto number = [&](size_t i) { return whole_number(p[i], "this argument", n); };
  constexpr std::pair<const char*, const char*> kCases[] = {{"lower", "kToLower"},    {"casefold", "kToFolded"},
                                                            {"upper", "kToUpper"},    {"swapcase", "kSwapCase"},
                                                            {"title", "kTitleWords"}, {"capitalize", "kCapitalize"}};
  constexpr std::pair<const char*, const char*> kClasses[] = {{"isdigit", "kDecimal | py::kDigit"},
                                                              {"isdecimal", "kDecimal"},
                                                              {"isnumeric", "kDecimal | py::kDigit | py::kNumeric"},
                                                              {"isalpha", "kAlpha"},
                                                              {"isalnum", "kAlpha | py::kDecimal | py::kDigit | py::kNumeric"},
                                                              {"isspace", "kSpace"},
                                                              {"isprintable", "kPrintable"}};
  if (p.empty()) {
    for (const auto& [m, how] : kCases)
      if (name == m) return made_text(code("py::recased({}, py::{})", s, how));
    for (const auto& [m, classes] : kClasses)
      if (name == m) return made_text(code("py::all_of_classes({}, py::{})", s, classes), bool_type());
    if (name == "isupper" || name == "islower")
      return made_text(code("py::all_of_case({}, py::{})", s, name == "isupper" ? "kUpper" : "kLower"), bool_type());
    if (name == "split") return made_text(code("py::split_blanks({}, -1)", s), list_type(text_type()));
  }
  if (name == "splitlines")
    return made_text(code("py::split_lines({}, {})", s, p.empty() ? Code("false") : truth(p[0], n).text), list_type(text_type()));
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const int sides = name == "strip" ? 3 : name == "lstrip" ? 1 : 2;
    if (p.empty()) return made_text(code("py::stripped({}, nullptr, {})", s, sides));
    const std::string which = temporary("which");
    linef("const py::Str {} = {};", which, text(0));
    return made_text(code("py::stripped({}, &{}, {})", s, which, sides));
  }
  if (name == "split" && (p.size() == 1 || p.size() == 2)) {
    if (p[0].is_none()) return made_text(code("py::split_blanks({}, {})", s, p.size() > 1 ? number(1) : "-1"), list_type(text_type()));
    return made_text(code("py::split_text({}, {}, {})", s, text(0), p.size() > 1 ? number(1) : "-1"), list_type(text_type()));
  }
  constexpr std::pair<const char*, const char*> kTests[] = {{"startswith", "starts_with"}, {"endswith", "ends_with"}};
  for (const auto& [m, f] : kTests)
    if (name == m && p.size() == 1) {
      if (!p[0].is(Kind::tuple)) return made_text(code("py::{}({}, {})", f, s, text(0)), bool_type());
      Code all;
      for (const Value& item : p[0].items) all += (all.empty() ? "" : " || ") + code("py::{}({}, {})", f, s, convert(item, text_type(), n));
      return made_text(code("({})", all.empty() ? Code("false") : all), bool_type());
    }
  constexpr std::pair<const char*, const char*> kFinds[] = {
      {"find", "find_text"}, {"rfind", "find_last"}, {"index", "index_text"}, {"count", "count_text"}};
  for (const auto& [m, f] : kFinds)
    if (name == m && p.size() == 1) return made_text(code("py::{}({}, {})", f, s, text(0)), int64_type());
  if (name == "replace" && p.size() == 2) return made_text(code("py::replaced({}, {}, {})", s, text(0), text(1)));
  if (name == "join" && p.size() == 1) {
    const Value parts = p[0].is(Kind::list) && !p[0].display ? p[0] : list_from(p[0], n);
    if (!parts.type || is_incomplete(parts.type)) return made_text("", text_type());
    if (parts.type->element != text_type()) fail(n, fmt::format("str.join() takes strings, not {}", p[0].type->spelling));
    return made_text(code("py::join_texts({}, {})", s, parts.text));
  }
  constexpr std::pair<const char*, char> kPads[] = {{"ljust", '<'}, {"rjust", '>'}, {"center", '^'}};
  for (const auto& [m, align] : kPads)
    if (name == m && (p.size() == 1 || p.size() == 2))
      return made_text(code("py::padded({}, {}, {}, '{}')", s, number(0), p.size() > 1 ? text(1) : literal_text(" "), align));
  if (name == "zfill" && p.size() == 1) return made_text(code("py::zero_filled({}, {})", s, number(0)));
  if (auto r = call_python("str." + name, args.behind(converted(self, text_type(), n), n), n)) return r;
  const std::string way = instead_of_method(name);
  fail(n, fmt::format("str has no method '{}' of {} argument{} in compiled functions", name, p.size(), p.size() == 1 ? "" : "s"), {},
       !way.empty() ? way
                    : nearest(name, {"lower",      "upper",    "strip",   "lstrip",     "rstrip",      "split",     "join",    "replace",
                                     "startswith", "endswith", "find",    "rfind",      "index",       "count",     "isdigit", "isalpha",
                                     "isalnum",    "isspace",  "isupper", "islower",    "isprintable", "isascii",   "zfill",   "ljust",
                                     "rjust",      "center",   "title",   "capitalize", "swapcase",    "splitlines"}));
}

}  // namespace bc::kernels
