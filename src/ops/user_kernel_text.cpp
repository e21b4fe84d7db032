// Signatures, types and text that elementwise and reduction kernels of users share.
#include <algorithm>
#include <cctype>

#include "ops/user_kernel.h"

namespace bc {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    size_t j = i;
    while (j < text.size() && !std::isspace(static_cast<unsigned char>(text[j]))) ++j;
    out.emplace_back(text.substr(i, j - i));
    i = j;
  }
  return out;
}

/// C's names for types mean other widths than NumPy's of the same word, so that they are asked for by their NumPy names.
const char* numpy_name(std::string_view c) {
  static constexpr std::pair<std::string_view, const char*> names[] = {{"float", "float32"},   {"double", "float64"}, {"int", "int32"},
                                                                       {"long", "int64"},      {"short", "int16"},    {"char", "int8"},
                                                                       {"unsigned", "uint32"}, {"half", "float16"},   {"size_t", "uint64"}};
  for (const auto& [name, with] : names)
    if (name == c) return with;
  return nullptr;
}

}  // namespace

std::vector<UserParameter> parse_parameters(const std::string& kernel, const std::string& text, bool output) {
  std::vector<UserParameter> out;
  if (words(text).empty()) return out;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::vector<std::string> parts = words(std::string_view(text).substr(at, comma - at));
    at = comma + 1;
    BC_CHECK(parts.size() >= 2, Type, "{}: expected parameters as 'type name', separated by commas, got '{}'", kernel, text);
    UserParameter p;
    p.name = parts.back();
    p.type = parts[parts.size() - 2];
    p.writable = output;
    for (size_t k = 0; k + 2 < parts.size(); ++k) {
      if (parts[k] == "raw")
        p.raw = true;
      else if (parts[k] == "_non_const")
        p.writable = true;
      else
        raise(ErrorKind::Type, "{}: expected 'raw' before the type of parameter '{}', got '{}'", kernel, p.name, parts[k]);
    }
    BC_CHECK(std::all_of(p.name.begin(), p.name.end(), is_word) && !std::isdigit(static_cast<unsigned char>(p.name[0])), Type,
             "{}: expected a C++ name for a parameter, got '{}'", kernel, p.name);
    if (p.type.size() != 1) {
      p.dtype = dtype_from_name(p.type);
      const char* instead = numpy_name(p.type);
      BC_CHECK(p.dtype, Type, "{}: expected a dtype's name or one letter as the type of '{}', got '{}'{}{}{}", kernel, p.name, p.type,
               instead ? "; write '" : "", instead ? instead : "", instead ? "'" : "");
    }
    for (const UserParameter& o : out) BC_CHECK(o.name != p.name, Value, "{}: parameter '{}' is there twice", kernel, p.name);
    out.push_back(std::move(p));
  }
  return out;
}

UserTypes decide_types(const std::string& kernel, const std::vector<UserParameter>& in, const std::vector<UserParameter>& out,
                       const UserInputs& args, std::span<const Array> outs) {
  UserTypes types;
  const auto letter = [&](const UserParameter& p) -> DType* {
    for (auto& [l, t] : types.letters)
      if (l == p.type[0]) return &t;
    return nullptr;
  };
  const auto array = [&](const UserParameter& p, DType t) {
    DType want;
    if (p.dtype) {
      want = *p.dtype;
    } else if (const DType* known = letter(p)) {
      want = *known;
    } else {
      types.letters.emplace_back(p.type[0], t);
      return;
    }
    BC_CHECK(want == t, Type, "{}: type is mismatched: expected {}{} for '{}', got {}", kernel, info(want).name,
             p.dtype ? "" : fmt::format(" (the type {} of other arguments)", p.type), p.name, info(t).name);
  };
  for (size_t k = 0; k < outs.size(); ++k) array(out[k], outs[k].dtype());
  for (size_t k = 0; k < args.size(); ++k)
    if (args[k].array && !args.scalar(k)) array(in[k], args[k].array.dtype());
  // Letters that no array tells: NumPy scalars first, then Python numbers; several of a kind meet in the type that holds them all.
  for (const bool python : {false, true}) {
    std::vector<std::pair<char, DType>> found;
    for (size_t k = 0; k < args.size(); ++k) {
      if (in[k].dtype || letter(in[k]) || static_cast<bool>(args[k].array) == python) continue;
      const DType t = python ? default_dtype(args[k].weak) : args[k].array.dtype();
      const auto same = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.first == in[k].type[0]; });
      if (same == found.end())
        found.emplace_back(in[k].type[0], t);
      else
        same->second = promote(same->second, t);
    }
    types.letters.insert(types.letters.end(), found.begin(), found.end());
  }
  const auto resolved = [&](const UserParameter& p) {
    if (p.dtype) return *p.dtype;
    const DType* known = letter(p);
    BC_CHECK(known, Type, "{}: no argument tells what type {} of '{}' is; name it, or pass the output", kernel, p.type, p.name);
    return *known;
  };
  for (const UserParameter& p : in) types.in.push_back(resolved(p));
  for (const UserParameter& p : out) types.out.push_back(resolved(p));
  return types;
}

const char* user_type(DType t) {
  switch (t) {
    case DType::f16: return "float16";
    case DType::bf16: return "bfloat16";
    default: return info(t).c_name;
  }
}

const char* device_type(DType t) {
  switch (t) {
    case DType::f16: return "bc::half";
    case DType::bf16: return "bc::bfloat16";
    default: return info(t).c_name;
  }
}

UserMacros macros_of(const std::vector<std::string>& options) {
  UserMacros macros;
  for (size_t k = 0; k < options.size(); ++k) {
    std::string option = options[k];
    if ((option == "-D" || option == "--define-macro") && k + 1 < options.size()) option = "-D" + options[++k];
    if (option.starts_with("--define-macro=")) option = "-D" + option.substr(15);
    if (!option.starts_with("-D")) {
      macros.rest.push_back(option);
      continue;
    }
    const size_t equals = option.find('=');
    const std::string name = option.substr(2, equals == std::string::npos ? equals : equals - 2);
    macros.define += fmt::format("#define {} {}\n", name, equals == std::string::npos ? "1" : option.substr(equals + 1));
    macros.undefine += fmt::format("\n#undef {}\n", name.substr(0, name.find('(')));
  }
  return macros;
}

std::string without_own_headers(const std::string& preamble) {
  std::string out;
  for (size_t at = 0; at < preamble.size();) {
    const size_t end = std::min(preamble.find('\n', at), preamble.size());
    const std::string line = preamble.substr(at, end - at);
    const size_t first = line.find_first_not_of(" \t");
    const bool own = first != std::string::npos && line[first] == '#' && line.find("include") != std::string::npos &&
                     line.find("<cupy/") != std::string::npos;
    out += own ? "" : line;
    if (end < preamble.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

std::string letter_types(const UserTypes& types) {
  std::string out;
  for (const auto& [l, t] : types.letters) out += fmt::format("using {} = {};\n", l, user_type(t));
  return out;
}

std::string type_names(const UserTypes& types) {
  std::string names;
  for (DType t : types.in) names += std::string(info(t).name) + ", ";
  names += "->";
  for (DType t : types.out) names += std::string(" ") + info(t).name;
  return names;
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i, 2) == "/*") {
      const size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 2;
      out += ' ';
    } else if (text[i] == '"') {
      size_t j = i + 1;
      while (j < text.size() && text[j] != '"') j += text[j] == '\\' ? 2 : 1;
      i = std::min(j + 1, text.size());
      out += "\"\"";
    } else {
      out += text[i++];
    }
  }
  return out;
}

namespace {

/// Where an identifier stands as a whole word that is no member's name; npos if nowhere.
size_t find_identifier(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.');
    const size_t end = at + name.size();
    if (begins && (end == text.size() || !is_word(text[end]))) return at;
  }
  return std::string_view::npos;
}

}  // namespace

bool names_identifier(std::string_view text, std::string_view name) { return find_identifier(text, name) != std::string_view::npos; }

bool only_numbers(std::string_view text, std::span<const DType> in, std::span<const DType> out) {
  for (const auto& list : {in, out})
    for (DType t : list)
      if (is_complex(t) || t == DType::f16 || t == DType::bf16) return false;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '[' || text[k] == '#') return false;
    if (text[k] != '&') continue;
    if (k + 1 == text.size() || text[k + 1] != '&') return false;  // an address, or a bit operation
    ++k;
  }
  for (const char* word :
       {"struct", "union", "class", "static", "volatile", "complex", "thrust", "float16", "bfloat16", "asm", "__shared__"})
    if (names_identifier(text, word)) return false;
  return true;
}

bool sets_first(std::string_view text, std::string_view name) {
  const size_t at = find_identifier(text, name);
  if (at == std::string_view::npos) return false;
  const std::string_view before = text.substr(0, at);
  if (before.find_first_of("{}?#") != std::string_view::npos) return false;
  for (const char* word : {"if", "for", "while", "do", "switch", "return", "continue", "break", "goto"})
    if (find_identifier(before, word) != std::string_view::npos) return false;
  const size_t last = before.find_last_not_of(" \t\r\n");
  if (last != std::string_view::npos && before[last] != ';') return false;
  const size_t next = text.find_first_not_of(" \t\r\n", at + name.size());
  return next != std::string_view::npos && text[next] == '=' && next + 1 < text.size() && text[next + 1] != '=' &&
         // `z = z + x` reads it after all.
         !names_identifier(text.substr(next, text.find(';', next) - next), name);
}

std::string bind_inputs(std::span<const UserParameter> in, std::span<const DType> types) {
  std::string out;
  for (size_t k = 0; k < in.size(); ++k)
    out +=
        fmt::format("{}{} {}({}_); (void){};\n", in[k].writable ? "" : "const ", user_type(types[k]), in[k].name, in[k].name, in[k].name);
  return out;
}

void bind_outputs(std::span<const UserParameter> out, std::span<const DType> types, const std::vector<bool>& reads_old, BoundText* text) {
  for (size_t k = 0; k < out.size(); ++k) {
    const std::string& o = out[k].name;
    text->parameter(fmt::format("{}& {}_", device_type(types[k]), o));
    if (types[k] == DType::f16 || types[k] == DType::bf16) {
      // The small floats are another type inside.
      text->head += fmt::format("{} {}({});\n", user_type(types[k]), o, reads_old[k] ? o + "_old" : o + "_");
      text->tail += fmt::format("{0}_ = {0}.held;\n", o);
    } else {
      text->head += fmt::format("{}& {} = {}_;\n", user_type(types[k]), o, o);
      if (reads_old[k]) text->head += fmt::format("{0} = {0}_old;\n", o);
    }
  }
}

std::optional<DType> dtype_of_type(std::string_view name) {
  if (const auto t = dtype_from_name(name)) return t;
  static constexpr std::pair<std::string_view, DType> names[] = {{"float", DType::f32},
                                                                 {"double", DType::f64},
                                                                 {"char", DType::i8},
                                                                 {"signed char", DType::i8},
                                                                 {"short", DType::i16},
                                                                 {"int", DType::i32},
                                                                 {"long", DType::i64},
                                                                 {"long long", DType::i64},
                                                                 {"ptrdiff_t", DType::i64},
                                                                 {"unsigned char", DType::u8},
                                                                 {"unsigned short", DType::u16},
                                                                 {"unsigned", DType::u32},
                                                                 {"unsigned int", DType::u32},
                                                                 {"unsigned long", DType::u64},
                                                                 {"unsigned long long", DType::u64},
                                                                 {"size_t", DType::u64},
                                                                 {"complex<float>", DType::c64},
                                                                 {"complex<double>", DType::c128},
                                                                 {"thrust::complex<float>", DType::c64},
                                                                 {"thrust::complex<double>", DType::c128},
                                                                 {"int8_t", DType::i8},
                                                                 {"int16_t", DType::i16},
                                                                 {"int32_t", DType::i32},
                                                                 {"int64_t", DType::i64},
                                                                 {"uint8_t", DType::u8},
                                                                 {"uint16_t", DType::u16},
                                                                 {"uint32_t", DType::u32},
                                                                 {"uint64_t", DType::u64}};
  for (const auto& [c, t] : names)
    if (c == name) return t;
  return std::nullopt;
}

std::string line_of(const std::string& what) { return fmt::format("\n#line 1 \"{}\"\n", what); }

}  // namespace bc
