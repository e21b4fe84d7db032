#include "kernels/kernel_signature.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

namespace bc {

namespace {

using Kind = KernelParameter::Kind;
using Tokens = std::vector<std::string>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The tokens of a text, without comments, strings and preprocessor lines; object-like macros are added to `defines`.
Tokens tokenize(std::string_view text, std::unordered_map<std::string, Tokens>* defines) {
  Tokens tokens;
  bool line_start = true;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n') {
      line_start = true;
      ++i;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
    } else if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i).starts_with("/*")) {
      const size_t end = text.find("*/", i + 2);
      i = end == text.npos ? text.size() : end + 2;
    } else if (c == '#' && line_start) {
      size_t end = i;
      do end = std::min(text.find('\n', end + 1), text.size());
      while (end < text.size() && text[end - 1] == '\\');
      if (defines) {
        const Tokens line = tokenize(text.substr(i + 1, end - i - 1), nullptr);
        const size_t at = text.find(line.size() > 1 ? line[1] : "#", i);
        const size_t after = line.size() > 1 ? at + line[1].size() : 0;
        // "#define F(x)" takes arguments, "#define F (x)" does not.
        if (line.size() > 2 && line[0] == "define" && !(after < text.size() && text[after] == '('))
          (*defines)[line[1]] = Tokens(line.begin() + 2, line.end());
      }
      i = end;
    } else if (c == '"' || c == '\'') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != c && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      tokens.emplace_back(c == '"' ? "\"\"" : "''");
      i = std::min(end + 1, text.size());
      line_start = false;
    } else if (is_word(c)) {
      size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      tokens.emplace_back(text.substr(i, end - i));
      i = end;
      line_start = false;
    } else {
      const size_t n = text.substr(i).starts_with("::") ? 2 : 1;
      tokens.emplace_back(text.substr(i, n));
      i += n;
      line_start = false;
    }
  }
  return tokens;
}

/// The index of the bracket that closes the one at `open`; tokens.size() when none does.
size_t closing(const Tokens& tokens, size_t open) {
  const std::string& first = tokens[open];
  const std::string last = first == "(" ? ")" : first == "<" ? ">" : first == "[" ? "]" : "}";
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i] == first)
      ++depth;
    else if (tokens[i] == last && --depth == 0)
      return i;
  }
  return tokens.size();
}

/// The parts between commas at the outermost level.
std::vector<Tokens> parts(const Tokens& tokens) {
  std::vector<Tokens> list(1);
  int depth = 0;
  for (const std::string& t : tokens) {
    if (t == "(" || t == "<" || t == "[" || t == "{") ++depth;
    if (t == ")" || t == ">" || t == "]" || t == "}") --depth;
    if (t == "," && depth == 0)
      list.emplace_back();
    else
      list.back().push_back(t);
  }
  if (list.size() == 1 && list[0].empty()) list.clear();
  return list;
}

const std::unordered_map<std::string, DType>& plain_types() {
  static const auto& types = *new std::unordered_map<std::string, DType>{
      {"bool", DType::b1},          {"char", DType::i8},       {"short", DType::i16},          {"int", DType::i32},
      {"long", DType::i64},         {"int8_t", DType::i8},     {"int16_t", DType::i16},        {"int32_t", DType::i32},
      {"int64_t", DType::i64},      {"ptrdiff_t", DType::i64}, {"ssize_t", DType::i64},        {"intptr_t", DType::i64},
      {"uint8_t", DType::u8},       {"uint16_t", DType::u16},  {"uint32_t", DType::u32},       {"uint64_t", DType::u64},
      {"size_t", DType::u64},       {"uintptr_t", DType::u64}, {"uchar", DType::u8},           {"ushort", DType::u16},
      {"uint", DType::u32},         {"ulong", DType::u64},     {"float", DType::f32},          {"double", DType::f64},
      {"half", DType::f16},         {"__half", DType::f16},    {"float16", DType::f16},        {"__nv_bfloat16", DType::bf16},
      {"nv_bfloat16", DType::bf16}, {"cuComplex", DType::c64}, {"cuFloatComplex", DType::c64}, {"cuDoubleComplex", DType::c128},
  };
  return types;
}

DType as_unsigned(DType t) {
  switch (t) {
    case DType::i8: return DType::u8;
    case DType::i16: return DType::u16;
    case DType::i32: return DType::u32;
    case DType::i64: return DType::u64;
    default: return t;
  }
}

class Reader {
 public:
  Reader(std::string_view text, const std::vector<std::string>& options) : tokens_(tokenize(text, &aliases_)) {
    for (std::string_view option : options) {
      for (std::string_view prefix : {"--define-macro=", "-D"})
        if (option.starts_with(prefix)) {
          option.remove_prefix(prefix.size());
          while (option.starts_with(' ')) option.remove_prefix(1);
          const size_t equals = option.find('=');
          if (equals != option.npos) aliases_[std::string(option.substr(0, equals))] = tokenize(option.substr(equals + 1), nullptr);
          break;
        }
    }
    // typedef A B;  using B = A;
    for (size_t i = 0; i + 3 < tokens_.size(); ++i) {
      const size_t end = std::find(tokens_.begin() + static_cast<long>(i), tokens_.end(), ";") - tokens_.begin();
      if (tokens_[i] == "typedef" && end > i + 2 && is_word(tokens_[end - 1][0]) &&
          std::find(tokens_.begin() + static_cast<long>(i), tokens_.begin() + static_cast<long>(end), "{") ==
              tokens_.begin() + static_cast<long>(end))
        aliases_[tokens_[end - 1]] = slice(i + 1, end - 1);
      else if (tokens_[i] == "using" && tokens_[i + 2] == "=" && end > i + 3)
        aliases_[tokens_[i + 1]] = slice(i + 3, end);
    }
  }

  std::optional<std::vector<KernelParameter>> find(std::string_view expression) {
    const Tokens wanted = tokenize(expression, nullptr);
    if (wanted.empty()) return std::nullopt;
    std::vector<Tokens> arguments;
    size_t name_end = wanted.size();
    if (const auto open = std::find(wanted.begin(), wanted.end(), "<"); open != wanted.end()) {
      name_end = static_cast<size_t>(open - wanted.begin());
      const size_t close = closing(wanted, name_end);
      arguments = parts(Tokens(open + 1, wanted.begin() + static_cast<long>(std::min(close, wanted.size()))));
    }
    if (name_end == 0) return std::nullopt;
    const std::string& name = wanted[name_end - 1];
    std::optional<std::vector<KernelParameter>> found;
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i] != name || tokens_[i + 1] != "(") continue;
      const size_t close = closing(tokens_, i + 1);
      // A definition or declaration of a kernel has __global__ before the name in the same statement.
      const bool ends = close + 1 < tokens_.size() && (tokens_[close + 1] == "{" || tokens_[close + 1] == ";");
      size_t begin = i;
      while (begin > 0 && tokens_[begin - 1] != ";" && tokens_[begin - 1] != "}" && tokens_[begin - 1] != "{") --begin;
      const Tokens head = slice(begin, i);
      if (!ends || std::find(head.begin(), head.end(), "__global__") == head.end()) continue;
      std::vector<KernelParameter> parameters = read(slice(i + 2, close), template_arguments(head, arguments));
      if (found && !same(*found, parameters)) return std::nullopt;
      found = std::move(parameters);
    }
    return found;
  }

 private:
  Tokens slice(size_t begin, size_t end) const {
    return Tokens(tokens_.begin() + static_cast<long>(begin), tokens_.begin() + static_cast<long>(std::min(end, tokens_.size())));
  }

  static bool same(const std::vector<KernelParameter>& a, const std::vector<KernelParameter>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const KernelParameter& x, const KernelParameter& y) {
      return x.kind == y.kind && x.dtype == y.dtype && x.read_only == y.read_only;
    });
  }

  /// The template arguments by the names of "template <typename T, int N>".
  static std::unordered_map<std::string, Tokens> template_arguments(const Tokens& head, const std::vector<Tokens>& arguments) {
    std::unordered_map<std::string, Tokens> bound;
    const auto at = std::find(head.begin(), head.end(), "template");
    if (at == head.end()) return bound;
    const size_t open = static_cast<size_t>(at - head.begin()) + 1;
    if (open >= head.size() || head[open] != "<") return bound;
    const std::vector<Tokens> list =
        parts(Tokens(head.begin() + static_cast<long>(open) + 1, head.begin() + static_cast<long>(closing(head, open))));
    for (size_t k = 0; k < list.size(); ++k) {
      const auto equals = std::find(list[k].begin(), list[k].end(), "=");
      if (equals == list[k].begin()) continue;
      const std::string& name = *(equals - 1);
      if (k < arguments.size())
        bound[name] = arguments[k];
      else if (equals != list[k].end())
        bound[name] = Tokens(equals + 1, list[k].end());
      else
        bound[name] = {"?"};
    }
    return bound;
  }

  std::vector<KernelParameter> read(const Tokens& list, const std::unordered_map<std::string, Tokens>& bound) const {
    std::vector<KernelParameter> parameters;
    for (const Tokens& part : parts(list)) {
      if (part.size() == 1 && part[0] == "void") continue;
      parameters.push_back(parameter(part, bound));
    }
    return parameters;
  }

  KernelParameter parameter(Tokens part, const std::unordered_map<std::string, Tokens>& bound) const {
    KernelParameter p;
    part.erase(std::find(part.begin(), part.end(), "="), part.end());
    // Replaces typedefs and macros by their definitions, a few rounds, since one definition may use another.
    std::string own_name;
    if (part.size() > 1 && is_word(part.back()[0]) && !is_type_word(part.back())) {
      own_name = part.back();
      part.pop_back();
    } else if (part.size() > 2 && part.back() == "]") {
      const size_t open = static_cast<size_t>(std::find(part.begin(), part.end(), "[") - part.begin());
      if (open > 1) own_name = part[open - 1];
      part.resize(open > 0 ? open - (own_name.empty() ? 0 : 1) : 0);
      part.emplace_back("*");
    }
    const bool plain_pointer = std::find(part.begin(), part.end(), "*") != part.end();
    for (int round = 0; round < 4; ++round) {
      Tokens next;
      bool changed = false;
      for (const std::string& t : part) {
        const auto known = bound.find(t);
        const auto alias = aliases_.find(t);
        const Tokens* by = known != bound.end()                                    ? &known->second
                           : alias != aliases_.end() && !plain_types().contains(t) ? &alias->second
                                                                                   : nullptr;
        if (by)
          next.insert(next.end(), by->begin(), by->end());
        else
          next.push_back(t);
        changed = changed || by;
      }
      part = std::move(next);
      if (!changed) break;
    }
    p.name = std::move(own_name);
    Tokens base;
    bool pointer = false, const_base = false;
    for (size_t i = 0; i < part.size(); ++i) {
      const std::string& t = part[i];
      if (t == "*") {
        p.read_only = !pointer && const_base;  // of several pointers in a chain, one could be written through
        pointer = true;
      } else if (t == "const") {
        const_base = const_base || !pointer;
      } else if (t == "__restrict__" || t == "__restrict" || t == "restrict" || t == "volatile" || t == "struct" || t == "typename" ||
                 t == "__grid_constant__" || t == "std" || t == "::" || t == "unsigned" || t == "signed" || t == "cuda" || t == "thrust") {
        if (t == "unsigned" || t == "signed") base.push_back(t);
      } else {
        base.push_back(t);
      }
    }
    if (pointer) {
      p.kind = Kind::pointer;
      // With "typedef float* P", "const P" is a constant pointer to writable memory.
      p.read_only = p.read_only && plain_pointer;
      return p;
    }
    if (base.size() == 4 && base[0] == "complex" && base[1] == "<") {
      if (base[2] != "float" && base[2] != "double") return p;
      p.kind = Kind::scalar;
      p.dtype = base[2] == "float" ? DType::c64 : DType::c128;
      return p;
    }
    bool is_unsigned = false, is_signed = false;
    std::erase_if(base, [&](const std::string& t) {
      is_unsigned = is_unsigned || t == "unsigned";
      is_signed = is_signed || t == "signed";
      return t == "unsigned" || t == "signed";
    });
    if (base.size() > 1) std::erase(base, "int");  // long int, short int
    if (base.size() == 2 && base[0] == "long" && base[1] == "long") base.pop_back();
    if (base.empty() && (is_unsigned || is_signed)) base = {"int"};
    if (base.size() != 1) return p;
    const auto known = plain_types().find(base[0]);
    if (known == plain_types().end()) return p;
    p.kind = Kind::scalar;
    p.dtype = is_unsigned ? as_unsigned(known->second) : known->second;
    return p;
  }

  bool is_type_word(const std::string& word) const {
    static const std::unordered_set<std::string> words = {"unsigned", "signed", "const", "volatile", "__restrict__"};
    return words.contains(word) || plain_types().contains(word);
  }

  std::unordered_map<std::string, Tokens> aliases_;
  Tokens tokens_;
};

}  // namespace

std::optional<std::vector<KernelParameter>> kernel_parameters(std::string_view text, std::string_view name,
                                                              const std::vector<std::string>& options) {
  return Reader(text, options).find(name);
}

}  // namespace bc
