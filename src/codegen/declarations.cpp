#include "codegen/declarations.h"

#include <algorithm>
#include <cctype>

namespace bc {
namespace {

bool is_small_float(std::string_view word) { return word == "half" || word == "bfloat16" || word.starts_with("float8_"); }

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// The word that begins at `at`; empty where none does.
std::string_view word_at(std::string_view s, size_t at) {
  if (at >= s.size() || !starts_word(s[at])) return {};
  size_t end = at;
  while (end < s.size() && in_word(s[end])) ++end;
  return s.substr(at, end - at);
}

/// The end of the string or character literal that begins at `at`.
size_t behind_literal(std::string_view s, size_t at) {
  const char quote = s[at];
  for (++at; at < s.size() && s[at] != quote; ++at)
    if (s[at] == '\\') ++at;
  return std::min(at + 1, s.size());
}

/// Calls `f` with every word that may be a name, which excludes words in literals, numbers and comments.
template <class F>
void for_words(std::string_view s, const F& f) {
  for (size_t i = 0; i < s.size();) {
    const char c = s[i];
    if (starts_word(c)) {
      const std::string_view word = word_at(s, i);
      f(word);
      i += word.size();
    } else if (c >= '0' && c <= '9') {
      while (i < s.size() && (in_word(s[i]) || s[i] == '.')) ++i;
    } else if (c == '"' || c == '\'') {
      i = behind_literal(s, i);
    } else if (c == '/' && i + 1 < s.size() && s[i + 1] == '/') {
      i = std::min(s.find('\n', i), s.size());
    } else {
      ++i;
    }
  }
}

/// The position after the bracket that closes the one at `at`; the text's end where none does.
size_t behind_bracket(std::string_view s, size_t at, char open, char close) {
  int depth = 0;
  for (; at < s.size(); ++at) {
    if (s[at] == '"' || s[at] == '\'') {
      at = behind_literal(s, at) - 1;
      continue;
    }
    if (open == '<' && s[at] == '(') {
      at = behind_bracket(s, at, '(', ')') - 1;
      continue;
    }
    if (s[at] == open) ++depth;
    if (s[at] == close && --depth == 0) return at + 1;
  }
  return s.size();
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Words that may precede "(" without being a function's name.
bool is_operator_word(std::string_view word) {
  return is_one_of(
      word, {"alignas", "__align__", "__attribute__", "decltype", "sizeof", "__launch_bounds__", "static_cast", "noexcept", "requires"});
}

// ---- Conditionals ---------------------------------------------------------------------------------------------------------------------

/// The value of a preprocessor expression of known macros, `defined`, numbers, !, &&, ||, comparisons and brackets; nullopt where it
/// depends on other macros.
class Expression {
 public:
  Expression(std::string_view text, std::span<const Declarations::Macro> macros) : text_(text), macros_(macros) {}
  std::optional<bool> value() {
    const std::optional<int> v = either();
    if (!v || at_ < text_.size()) return std::nullopt;
    return *v != 0;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool eat(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    skip();
    return true;
  }
  std::optional<int> either() {
    std::optional<int> v = both();
    while (eat("||")) {
      const std::optional<int> w = both();
      v = (v && *v) || (w && *w) ? std::optional(1) : v && w ? std::optional(0) : std::nullopt;
    }
    return v;
  }
  std::optional<int> both() {
    std::optional<int> v = compared();
    while (eat("&&")) {
      const std::optional<int> w = compared();
      v = (v && !*v) || (w && !*w) ? std::optional(0) : v && w ? std::optional(1) : std::nullopt;
    }
    return v;
  }
  std::optional<int> compared() {
    const std::optional<int> v = one();
    for (std::string_view op : {">=", "<=", "==", "!=", ">", "<"}) {
      if (!eat(op)) continue;
      const std::optional<int> w = one();
      if (!v || !w) return std::nullopt;
      return op == ">=" ? *v >= *w : op == "<=" ? *v <= *w : op == "==" ? *v == *w : op == "!=" ? *v != *w : op == ">" ? *v > *w : *v < *w;
    }
    return v;
  }
  std::optional<int> one() {
    if (eat("!")) {
      const std::optional<int> v = one();
      return v ? std::optional<int>(!*v) : v;
    }
    if (eat("(")) {
      const std::optional<int> v = either();
      eat(")");
      return v;
    }
    skip();
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      int n = 0;
      while (at_ < text_.size() && in_word(text_[at_])) n = n * 10 + (text_[at_++] - '0');
      return n;
    }
    std::string_view word = word_at(text_, at_);
    at_ += word.size();
    if (word == "defined") {
      const bool bracket = eat("(");
      skip();
      word = word_at(text_, at_);
      at_ += word.size();
      if (bracket) eat(")");
      const auto* macro = find(word);
      return macro ? std::optional<int>(macro->value.has_value()) : std::nullopt;
    }
    const auto* macro = find(word);
    skip();
    return macro && macro->value ? macro->value : std::nullopt;
  }
  const Declarations::Macro* find(std::string_view name) const {
    const auto found = std::find_if(macros_.begin(), macros_.end(), [&](const auto& m) { return m.name == name; });
    return found == macros_.end() ? nullptr : &*found;
  }

  std::string_view text_;
  std::span<const Declarations::Macro> macros_;
  size_t at_ = 0;
};

}  // namespace

// ---- Reading --------------------------------------------------------------------------------------------------------------------------

struct Declarations::Reader {
  Reader(Declarations& to, std::span<const Macro> known) : d(to), known(known) { d.scopes_.emplace_back(); }

  Declarations& d;
  std::span<const Macro> known;
  std::vector<std::string> open;  // open namespaces
  uint32_t scope = 0;
  std::string current;  // text of the current declaration
  int brackets = 0;     // open brackets in `current`
  int undecided = 0;    // open conditionals in `current` that stay in the text
  struct Condition {
    bool stays = false, taken = false, active = true;
  };
  std::vector<Condition> conditions;
  std::unordered_map<std::string, std::vector<uint32_t>> defined;  // macro: declarations
  std::vector<std::pair<std::string, uint32_t>> undefined;         // macro: of #undef

  bool active() const {
    return std::all_of(conditions.begin(), conditions.end(), [](const Condition& c) { return c.stays || c.active; });
  }

  void read(std::string_view text) {
    std::string joined;
    while (!text.empty()) {
      size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const bool directive = trimmed(line).starts_with('#');
      if (directive && line.ends_with('\\')) {
        joined = line;
        while (joined.ends_with('\\') && !text.empty()) {
          end = std::min(text.find('\n'), text.size());
          joined.append("\n").append(text.substr(0, end));
          text.remove_prefix(std::min(end + 1, text.size()));
        }
        line = joined;
      }
      if (directive)
        read_directive(line);
      else if (active())
        read_line(line);
    }
    finish();
  }

  void read_directive(std::string_view line) {
    std::string_view rest = trimmed(trimmed(line).substr(1));
    const std::string_view word = word_at(rest, 0);
    rest = trimmed(rest.substr(word.size()));
    if (const size_t comment = rest.find("//"); comment != rest.npos && word != "define") rest = trimmed(rest.substr(0, comment));
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      Condition c;
      const bool outer = active();
      std::optional<bool> value = outer ? decide(word, rest) : std::optional(false);
      c.stays = !value;
      c.active = value.value_or(true);
      c.taken = c.active || !outer;
      conditions.push_back(c);
      if (c.stays) {
        ++undecided;
        keep(line);
      }
    } else if (word == "elif" || word == "else") {
      Condition& c = conditions.back();
      if (c.stays) return keep(line);
      c.active = !c.taken && (word == "else" || Expression(rest, known).value().value_or(false));
      c.taken = c.taken || c.active;
    } else if (word == "endif") {
      const Condition c = conditions.back();
      conditions.pop_back();
      if (!c.stays) return;
      --undecided;
      keep(line);
      if (undecided == 0 && brackets == 0) finish();
    } else if (!active() || word == "line" || (word == "pragma" && rest == "once")) {
      return;
    } else if (!current.empty()) {
      keep(line);
    } else if (word == "define") {
      const std::string name(word_at(rest, 0));
      define(name, rest.substr(name.size()));
      defined[name].push_back(static_cast<uint32_t>(d.all_.size()));
      Declaration& made = add(line);
      made.names = {name};
    } else if (word == "undef") {
      undefined.emplace_back(rest, static_cast<uint32_t>(d.all_.size()));
      add(line);
    } else {
      add(line).always = true;
    }
  }

  std::optional<bool> decide(std::string_view word, std::string_view rest) const {
    if (word == "if") return Expression(rest, known).value();
    const std::string text = "defined(" + std::string(rest) + ")";
    const std::optional<bool> value = Expression(text, known).value();
    return value && word == "ifndef" ? std::optional(!*value) : value;
  }

  void keep(std::string_view line) { current.append(line).append("\n"); }

  /// Stores a function-like macro for expansion.
  void define(const std::string& name, std::string_view rest) {
    d.macros_.erase(name);
    if (!rest.starts_with('(')) return;
    const size_t end = rest.find(')');
    FunctionMacro macro;
    for_words(rest.substr(0, end), [&](std::string_view w) { macro.parameters.emplace_back(w); });
    macro.variadic = rest.substr(0, end).find("...") != rest.npos;
    for (char c : rest.substr(end + 1))
      if (c != '\\') macro.body += c;
    d.macros_[name] = std::move(macro);
  }

  void read_line(std::string_view line) {
    // Finds the end of the line without a trailing comment.
    size_t end = line.size();
    char last = 0;
    int depth = brackets;
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (c == '"' || (c == '\'' && (i == 0 || !in_word(line[i - 1])))) {
        i = behind_literal(line, i) - 1;
        last = '"';
        continue;
      }
      if (c == '/' && i + 1 < line.size() && line[i + 1] == '/') {
        end = i;
        break;
      }
      if (c == '(' || c == '{' || c == '[') ++depth;
      if (c == ')' || c == '}' || c == ']') --depth;
      if (c != ' ' && c != '\t') last = c;
    }
    line = line.substr(0, end);
    const std::string_view bare = trimmed(line);
    if (bare.empty()) return;
    if (current.empty()) {
      if (last == '{' && (bare.starts_with("namespace ") || bare == "extern \"C\" {")) {
        open.emplace_back(bare);
        return enter();
      }
      if (bare == "}" && !open.empty()) {
        open.pop_back();
        return enter();
      }
    }
    current.append(bare.data(), bare.size()).append("\n");
    brackets = depth;
    if (brackets != 0 || undecided != 0) return;
    if (last == ';' || last == '}' || (last == ')' && invokes(current))) finish();
  }

  void enter() {
    const auto found = std::find(d.scopes_.begin(), d.scopes_.end(), open);
    scope = static_cast<uint32_t>(found - d.scopes_.begin());
    if (found == d.scopes_.end()) d.scopes_.push_back(open);
  }

  const FunctionMacro* macro(std::string_view name) const {
    for (const Declarations* at = &d; at; at = at->base_)
      if (const auto found = at->macros_.find(name); found != at->macros_.end()) return &found->second;
    return nullptr;
  }
  bool invokes(std::string_view text) const {
    const std::string_view word = word_at(text, 0);
    return !word.empty() && word.size() < text.size() && text[word.size()] == '(' && macro(word);
  }

  Declaration& add(std::string_view text) {
    Declaration& made = d.all_.emplace_back();
    made.text.assign(text).append(text.ends_with('\n') ? "" : "\n");
    made.scope = scope;
    return made;
  }

  void finish() {
    if (current.empty()) return;
    Declaration& made = add(current);
    current.clear();
    brackets = 0;
    std::string plain;  // without the directives that stay
    for (std::string_view rest = made.text; !rest.empty();) {
      const size_t end = rest.find('\n') + 1;
      if (!rest.starts_with('#')) plain.append(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    std::string used;
    made.analysed = expanded(plain, used, 0);
    bool any = false;
    uint8_t kinds = 0xff;
    split(made.analysed, [&](std::string_view one) {
      uint8_t kind = kAny;
      name(one, made, kind);
      kinds = any && kind != kinds ? uint8_t{kAny} : kind;
      any = true;
    });
    made.kind = any ? kinds : uint8_t{kAny};
    if (used.empty())
      made.analysed.clear();
    else
      made.analysed += used;
  }

  /// Expands function-like macros and adds their names to `used`, since the expanded text no longer contains the names.
  std::string expanded(std::string_view s, std::string& used, int level) const {
    std::string out;
    for (size_t i = 0; i < s.size();) {
      if (s[i] == '"' || s[i] == '\'') {
        const size_t end = behind_literal(s, i);
        out.append(s.substr(i, end - i));
        i = end;
        continue;
      }
      const std::string_view word = word_at(s, i);
      if (word.empty()) {
        // Letters of a number are not words.
        if (s[i] >= '0' && s[i] <= '9')
          while (i + 1 < s.size() && (in_word(s[i + 1]) || s[i + 1] == '.')) out += s[i++];
        out += s[i++];
        continue;
      }
      i += word.size();
      const FunctionMacro* m = i < s.size() && s[i] == '(' && level < 24 ? macro(word) : nullptr;
      if (!m) {
        out.append(word);
        continue;
      }
      const size_t end = behind_bracket(s, i, '(', ')');
      used.append(" ").append(word);
      out.append(expanded(replaced(*m, s.substr(i + 1, end - i - 2)), used, level + 1));
      i = end;
    }
    return out;
  }

  /// The body of a macro with its arguments in place.
  static std::string replaced(const FunctionMacro& m, std::string_view list) {
    std::vector<std::string_view> arguments;
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i <= list.size(); ++i) {
      const char c = i < list.size() ? list[i] : ',';
      if (c == '(' || c == '{') ++depth;
      if (c == ')' || c == '}') --depth;
      const bool rest = m.variadic && arguments.size() == m.parameters.size() && i < list.size();
      if (c != ',' || depth > 0 || rest) continue;
      arguments.push_back(trimmed(list.substr(begin, i - begin)));
      begin = i + 1;
    }
    std::string out;
    const std::string_view s = m.body;
    for (size_t i = 0; i < s.size();) {
      const std::string_view word = word_at(s, i);
      if (!word.empty()) {
        const auto p = std::find(m.parameters.begin(), m.parameters.end(), word);
        const size_t number = word == "__VA_ARGS__" ? m.parameters.size() : static_cast<size_t>(p - m.parameters.begin());
        const bool is_argument = (p != m.parameters.end() || word == "__VA_ARGS__") && number < arguments.size();
        out.append(is_argument ? arguments[number] : word);
        i += word.size();
      } else if (s.substr(i, 2) == "##") {
        while (!out.empty() && (out.back() == ' ' || out.back() == '\n')) out.pop_back();
        i += 2;
        while (i < s.size() && (s[i] == ' ' || s[i] == '\n')) ++i;
      } else {
        out += s[i++];
      }
    }
    return out;
  }

  /// Calls `f` with each declaration of a text.
  template <class F>
  static void split(std::string_view s, const F& f) {
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      if (s[i] == '"' || (s[i] == '\'' && (i == 0 || !in_word(s[i - 1])))) {
        i = behind_literal(s, i) - 1;
        continue;
      }
      if (s[i] == '(' || s[i] == '{' || s[i] == '[') ++depth;
      if (s[i] == ')' || s[i] == '}' || s[i] == ']') --depth;
      if (depth != 0 || (s[i] != ';' && s[i] != '}')) continue;
      f(trimmed(s.substr(begin, i + 1 - begin)));
      begin = i + 1;
    }
    if (begin < s.size() && s.find_first_not_of(" \n\t;", begin) != s.npos) f(trimmed(s.substr(begin)));
  }

  /// Adds the names that a declaration declares, and sets the kind of a function's parameters.
  static void name(std::string_view s, Declaration& to, uint8_t& kind) {
    const std::string_view whole = s;
    const auto skip = [&](size_t n) {
      s.remove_prefix(n);
      while (!s.empty() && std::isspace(static_cast<unsigned char>(s[0]))) s.remove_prefix(1);
    };
    skip(0);
    std::string_view templates;
    while (word_at(s, 0) == "template") {
      skip(8);
      if (!s.starts_with('<')) break;
      const size_t end = behind_bracket(s, 0, '<', '>');
      templates = whole.substr(0, static_cast<size_t>(s.data() - whole.data()) + end);
      skip(end);
    }
    const std::string_view first = word_at(s, 0);
    if (first == "static_assert" || s.empty() || s == ";") return;
    if (first == "using" || first == "typedef") {
      const size_t equal = s.find('=');
      std::string_view last;
      for_words(s.substr(0, first == "using" && equal != s.npos ? equal : s.size()), [&](std::string_view w) { last = w; });
      if (word_at(s, 6) == "namespace") to.always = true;
      to.names.emplace_back(last);
      return;
    }
    if (is_one_of(first, {"struct", "class", "union", "enum"})) {
      const size_t body = std::min(s.find('{'), s.size());
      for (size_t i = first.size(); i < s.size();) {
        const std::string_view word = word_at(s, i);
        if (word.empty()) {
          ++i;
          continue;
        }
        i += word.size();
        if (word == "class" || word == "struct") continue;
        if (is_operator_word(word)) {
          i = behind_bracket(s, std::min(s.find('(', i), s.size()), '(', ')');
          continue;
        }
        if (i <= body) to.names.emplace_back(word);
        break;
      }
      if (first == "enum") for_words(s.substr(body), [&](std::string_view w) { to.names.emplace_back(w); });
      return;
    }
    // A function's name precedes its first "("; a variable's name precedes the end of its declarator.
    std::string_view word;
    for (size_t i = 0; i < s.size();) {
      if (const std::string_view w = word_at(s, i); !w.empty()) {
        word = w;
        i += w.size();
        if (w == "operator") return name_operator(s.substr(i), templates, to, kind);
        continue;
      }
      const char c = s[i];
      if (c == '(') {
        const size_t end = behind_bracket(s, i, '(', ')');
        if (!word.empty() && word.data() + word.size() == s.data() + i && !is_operator_word(word)) {
          to.names.emplace_back(word);
          kind = kind_of(s.substr(i, end - i), templates);
          return;
        }
        i = end;
        continue;
      }
      if (c == '<') {
        // Skips the template arguments of a type or a specialisation; the name precedes them.
        i = behind_bracket(s, i, '<', '>');
        continue;
      }
      if (c == '=' || c == ';' || c == '[' || c == '{') break;
      if (c == '"' || c == '\'') {
        i = behind_literal(s, i);
        continue;
      }
      ++i;
    }
    if (!word.empty()) to.names.emplace_back(word);
  }

  static void name_operator(std::string_view s, std::string_view templates, Declaration& to, uint8_t& kind) {
    size_t at = s.find('(');
    if (s.substr(at, 2) == "()") at = s.find('(', at + 2);
    kind = kind_of(s.substr(std::min(at, s.size()), behind_bracket(s, at, '(', ')') - at), templates);
    to.always = true;  // for programs that mention its kind of number
  }

  static uint8_t kind_of(std::string_view parameters, std::string_view templates) {
    uint8_t kind = kAny;
    for_words(parameters, [&](std::string_view w) {
      if (is_small_float(w)) kind = kSmallFloats;
      if (w == "complex" || w == "complex64" || w == "complex128") kind = kComplex;
    });
    if (templates.find("<is_small_float<") != templates.npos || templates.find("<is_float8<") != templates.npos) kind = kSmallFloats;
    if (const size_t at = templates.find("<is_complex<"); at != templates.npos) kind = kComplex;
    return kind;
  }
};

Declarations::~Declarations() = default;

Declarations::Declarations(std::string_view text, std::span<const Macro> macros, const Declarations* base) : base_(base) {
  Reader reader(*this, macros);
  reader.read(text);
  for (uint32_t i = 0; i < all_.size(); ++i)
    for (const std::string& name : all_[i].names) by_name_[name].push_back(i);
  // If a macro is defined several times, an #undef and the declarations since the definition before it must be taken together. The #undef
  // of a macro that is defined once can be left out.
  for (const auto& [name, at] : reader.undefined) {
    const std::vector<uint32_t>& definitions = reader.defined[name];
    if (definitions.size() < 2) continue;
    const uint32_t from = *std::max_element(definitions.begin(), definitions.end(),
                                            [at = at](uint32_t a, uint32_t b) { return (a < at ? a + 1 : 0) < (b < at ? b + 1 : 0); });
    for (uint32_t i = from; i < at; ++i) {
      all_[i].needs.push_back(at);
      all_[at].needs.push_back(i);
    }
  }
  for (uint32_t i = 0; i < all_.size(); ++i) {
    Declaration& d = all_[i];
    for (std::string_view text : {std::string_view(d.text), std::string_view(d.analysed)})
      for_words(text, [&](std::string_view word) {
        if (const auto found = by_name_.find(word); found != by_name_.end())
          d.needs.insert(d.needs.end(), found->second.begin(), found->second.end());
        if (base_) d.outside.push_back(word);
      });
    std::sort(d.needs.begin(), d.needs.end());
    d.needs.erase(std::unique(d.needs.begin(), d.needs.end()), d.needs.end());
  }
}

// ---- Taking ---------------------------------------------------------------------------------------------------------------------------

void Declarations::take(std::string_view text, uint8_t kinds, std::vector<char>& taken, std::vector<std::string_view>& outside) const {
  std::vector<uint32_t> wanted;
  const auto want = [&](uint32_t i) {
    if (taken[i] || (all_[i].kind != kAny && !(all_[i].kind & kinds))) return;
    taken[i] = 1;
    wanted.push_back(i);
  };
  for (uint32_t i = 0; i < all_.size(); ++i)
    if (all_[i].always) want(i);
  for_words(text, [&](std::string_view word) {
    if (const auto found = by_name_.find(word); found != by_name_.end())
      for (uint32_t i : found->second) want(i);
  });
  while (!wanted.empty()) {
    const Declaration& d = all_[wanted.back()];
    wanted.pop_back();
    for (uint32_t i : d.needs) want(i);
    outside.insert(outside.end(), d.outside.begin(), d.outside.end());
  }
}

void Declarations::print(const std::vector<char>& taken, std::string& out) const {
  uint32_t scope = 0;
  const auto move_to = [&](uint32_t next) {
    if (next == scope) return;
    const std::vector<std::string>&from = scopes_[scope], &to = scopes_[next];
    const auto common = static_cast<size_t>(std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first - from.begin());
    for (size_t i = common; i < from.size(); ++i) out += "}\n";
    for (size_t i = common; i < to.size(); ++i) out.append(to[i]).append("\n");
    scope = next;
  };
  for (uint32_t i = 0; i < all_.size(); ++i) {
    if (!taken[i]) continue;
    // Macros have no scope; what a conditional that stays declares has one.
    if (!all_[i].text.starts_with('#') || all_[i].text.starts_with("#if")) move_to(all_[i].scope);
    out += all_[i].text;
  }
  move_to(0);
}

std::string Declarations::used_by(std::span<const std::string_view> programs) const {
  uint8_t kinds = kAny;
  for (std::string_view program : programs)
    for_words(program, [&](std::string_view word) {
      if (is_small_float(word) || word == "float16") kinds |= kSmallFloats;
      if (word == "complex" || word == "complex64" || word == "complex128") kinds |= kComplex;
    });
  std::vector<char> taken(all_.size());
  std::vector<std::string_view> outside;
  for (std::string_view program : programs) take(program, kinds, taken, outside);
  std::string out;
  if (base_) {
    std::sort(outside.begin(), outside.end());
    outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
    std::string words;
    for (std::string_view word : outside) words.append(word).append(" ");
    std::vector<char> below(base_->all_.size());
    std::vector<std::string_view> nowhere;
    base_->take(words, kinds, below, nowhere);
    for (std::string_view program : programs) base_->take(program, kinds, below, nowhere);
    base_->print(below, out);
  }
  print(taken, out);
  return out;
}

}  // namespace bc
