// The tree between typing and printing, and its printer. See code.h for the method.
#include "kernels/code.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <mutex>
#include <set>
#include <unordered_map>

namespace bc::kernels {

// ---- facts ------------------------------------------------------------------------------------------------------------------------

bool Facts::names(Mention m) const { return mentions_ && std::binary_search(mentions_->begin(), mentions_->end(), m); }

std::vector<const Specialised*> Facts::calls() const {
  std::vector<const Specialised*> all;
  if (mentions_)
    for (const Mention& m : *mentions_)
      if (m.kind == Mention::Kind::call) all.push_back(reinterpret_cast<const Specialised*>(m.what));
  return all;
}

Facts& Facts::operator|=(const Facts& other) {
  bits_ |= other.bits_;
  if (!mentions_) {
    mentions_ = other.mentions_;
  } else if (other.mentions_ && other.mentions_ != mentions_) {
    std::vector<Mention> both;
    std::set_union(mentions_->begin(), mentions_->end(), other.mentions_->begin(), other.mentions_->end(), std::back_inserter(both));
    if (both.size() != mentions_->size()) mentions_ = std::make_shared<const std::vector<Mention>>(std::move(both));
  }
  return *this;
}

// ---- what the library's names say -------------------------------------------------------------------------------------------------

namespace {

/// What compiled functions call of the library and is done in no time. Of all else, such as whole-array functions, a turn of a loop may
/// take long.
bool is_short(std::string_view name) {
  // clang-format off
  static const std::set<std::string_view>& names = *new std::set<std::string_view>{
      "All", "Array", "Caught", "Date", "Delta", "Dict", "Generator", "Host", "Instance", "List", "NewAxis", "Optional", "Poll", "Range", "Set",
      "Slice", "Str", "Tuple", "array_cast", "character", "checked_index", "code_of", "element_at", "erf", "erfc", "expect_writes",
      "earlier", "earlier_known", "field", "floor_modulo", "floor_quotient", "frexp", "host_cast", "host_part", "host_transposed", "host_view", "host_viewed",
      "from_calendar", "ieee_remainder", "in_unit", "integer_sqrt", "is_close", "is_nat", "keep_value", "later", "later_known", "least", "less_than", "lgamma", "list_of", "literal",
      "long_literal", "max", "min", "modf", "new_list", "nth", "owner_of", "part", "power_modulo", "powi", "raise", "raise_failure",
      "raised", "random_below", "random_bits", "random_interval", "random_normal", "random_range", "random_state", "random_uniform",
      "random_word", "range_length", "remquo", "resolve", "round_to", "round_whole", "same_text", "share_value", "sincos", "sincospi",
      "strip", "swap_if", "take", "tgamma", "to_calendar", "transposed", "update_shared", "view", "viewed", "whole_modulo", "whole_power",
      "whole_quotient", "wrap", "wrapped_add", "written_index"};
  // clang-format on
  return names.contains(name) || name == "given" || name.starts_with("atomic_") || name.starts_with("time_") ||
         (name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1])));
}

/// Methods of containers that walk over them.
bool is_long_method(std::string_view name) {
  static const std::set<std::string_view>& names = *new std::set<std::string_view>{
      "assign_slice", "clear",  "copy",      "count",        "equals",  "extend", "has",    "index",  "insert", "keys",
      "less",         "remove", "remove_at", "remove_slice", "reverse", "slice",  "update", "values", "walk"};
  return names.contains(name);
}

uint32_t of_library(std::string_view name) { return is_short(name) ? kLibrary : kLibrary | kTakesTime; }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string_view word_at(std::string_view s) {
  size_t end = 0;
  while (end < s.size() && is_word(s[end])) ++end;
  return s.substr(0, end);
}

/// A pattern's own facts, and which of its operands are names of the library's functions or of methods.
struct PatternFacts {
  uint32_t bits = 0;
  std::vector<size_t> functions, methods;
};

constexpr int kLast = 1 << 20;  ///< the place {R} of a row: its result's type, which is the last operand

/// One step through a pattern: a word, an operand's place or another character.
struct Step {
  std::string_view word;
  int operand = -1;
  size_t length = 1;
  char other = 0;
};
Step step_at(std::string_view pattern, size_t at, int* next_operand) {
  Step s;
  const char c = pattern[at];
  if (is_word(c)) {
    s.word = word_at(pattern.substr(at));
    s.length = s.word.size();
  } else if ((c == '{' || c == '}') && at + 1 < pattern.size() && pattern[at + 1] == c) {
    s.other = c;
    s.length = 2;
  } else if (c == '{') {
    const size_t end = pattern.find('}', at);
    s.length = end + 1 - at;
    const char number = pattern[at + 1];
    if (s.length == 2)
      s.operand = (*next_operand)++;
    else
      s.operand = number == 'R' ? kLast : std::stoi(std::string(pattern.substr(at + 1, s.length - 2)));
  } else {
    s.other = c;
  }
  return s;
}

PatternFacts read_pattern(std::string_view pattern) {
  PatternFacts f;
  int next = 0;
  for (size_t at = 0; at < pattern.size();) {
    const std::string_view before = pattern.substr(0, at);
    const Step s = step_at(pattern, at, &next);
    at += s.length;
    const bool of_py = before.ends_with("py::"), method = before.ends_with('.') && at < pattern.size() && pattern[at] == '(';
    if (s.operand >= 0) {
      if (of_py) f.functions.push_back(static_cast<size_t>(s.operand));
      if (method) f.methods.push_back(static_cast<size_t>(s.operand));
    } else if (!s.word.empty()) {
      if (of_py) f.bits |= of_library(s.word);
      if (method && is_long_method(s.word)) f.bits |= kTakesTime;
      if (s.word == "for" || s.word == "while") f.bits |= kLoops;
    }
    if (of_py) f.bits |= kLibrary;
  }
  return f;
}

/// Patterns are literals: each is read once. (Not once a thread: thread-local memory is short, see tests/python/test_library_size.py.)
const PatternFacts& facts_of(std::string_view pattern) {
  static std::mutex mutex;
  static std::unordered_map<const char*, PatternFacts> known;  // a reference to an element stays valid when others are added
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(pattern.data());
  return found != known.end() ? found->second : known.emplace(pattern.data(), read_pattern(pattern)).first->second;
}

}  // namespace

// ---- nodes ------------------------------------------------------------------------------------------------------------------------

struct Code::Node : Code::Counted {
  enum class Kind : uint8_t { name, pattern, sequence, operand, operation, prefix, choice, block };
  Kind kind = Kind::name;
  Precedence precedence = Precedence::whole;
  Facts facts;
  std::string own;           ///< of a name
  std::string_view pattern;  ///< a pattern, or an operator
  std::vector<Code> parts;
  std::shared_ptr<const Block> block;

  void print(std::string* out) const;
  void print_pattern(std::string* out) const;
};

struct Maker {
  using Kind = Code::Node::Kind;
  static Code make(Kind kind, std::string_view pattern, std::vector<Code> parts, Precedence precedence) {
    auto* n = new Code::Node();
    n->kind = kind;
    n->pattern = pattern;
    n->precedence = precedence;
    for (const Code& c : parts) n->facts |= c.facts();
    n->parts = std::move(parts);
    return Code(n);
  }
  static Code name(std::string text) {
    auto* n = new Code::Node();
    if (text.starts_with('-')) n->precedence = Precedence::prefix;
    n->own = std::move(text);
    return Code(n);
  }
  static Code pattern(std::string_view pattern, std::vector<Code> parts) {
    const PatternFacts& own = facts_of(pattern);
    Facts facts(own.bits);
    for (size_t i : own.functions) facts |= Facts(of_library(word_at(parts[i].name())));
    for (size_t i : own.methods)
      if (is_long_method(parts[i].name())) facts |= Facts(kTakesTime);
    Code c = make(Kind::pattern, pattern, std::move(parts), Precedence::whole);
    const_cast<Code::Node*>(c.node())->facts |= facts;
    return c;
  }
  static Code changed(const Code& c, Precedence p, const Facts& more) {
    if (c.empty()) return c;
    auto* n = new Code::Node(*c.node());
    n->uses = 0;
    n->precedence = p;
    n->facts |= more;
    return Code(n);
  }
  static Code block(const Block& statements) {
    auto* n = new Code::Node();
    n->kind = Kind::block;
    n->facts = statements.facts();
    n->block = std::make_shared<const Block>(statements);
    return Code(n);
  }
};

Code::Code(std::string name) { *this = name.empty() ? Code() : Maker::name(std::move(name)); }
Code::Code(std::string_view name) : Code(std::string(name)) {}
Code::Code(const char* name) : Code(std::string(name)) {}
Code::Code(const Block& statements) { *this = Maker::block(statements); }

const Code::Node* Code::node() const { return static_cast<const Node*>(node_); }
void Code::free(const Counted* node) { delete static_cast<const Node*>(node); }
void Code::print(std::string* out) const {
  if (node_) node()->print(out);
}

const Facts& Code::facts() const {
  static const Facts none;
  return node_ ? node()->facts : none;
}
Precedence Code::precedence() const { return node_ ? node()->precedence : Precedence::whole; }
bool Code::is_name(std::string_view name) const { return node_ && node()->kind == Node::Kind::name && node()->own == name; }
std::string_view Code::name() const {
  return node_ && node()->kind == Node::Kind::name ? std::string_view(node()->own) : std::string_view();
}
Code Code::at(Precedence p) const { return p == precedence() ? *this : Maker::changed(*this, p, {}); }
Code Code::with(const Facts& more) const { return Maker::changed(*this, precedence(), more); }

Code& Code::operator+=(const Code& next) {
  if (next.empty()) return *this;
  return *this = empty() ? next : Maker::make(Node::Kind::sequence, {}, {*this, next}, Precedence::whole);
}

Code operand(const Code& c) { return c.is_whole() ? c : Maker::make(Code::Node::Kind::operand, {}, {c}, Precedence::whole); }
Code operation(const Code& a, const char* op, const Code& b) {
  const std::string_view o = op;
  const Precedence precedence = o == "&&" ? Precedence::conjunction : o == "||" ? Precedence::disjunction : Precedence::operation;
  return Maker::make(Code::Node::Kind::operation, op, {a, b}, precedence);
}
Code prefixed(const char* op, const Code& a) {
  return Maker::make(Code::Node::Kind::prefix, op, {a}, *op == '-' ? Precedence::prefix : Precedence::whole);
}
Code choice(const Code& test, const Code& a, const Code& b) {
  return Maker::make(Code::Node::Kind::choice, {}, {test, a, b}, Precedence::choice);
}
Code all_of(const std::vector<Code>& tests, bool all) {
  if (tests.size() == 1) return tests[0];
  return tests.empty()
             ? Code()
             : Maker::make(Code::Node::Kind::operation, all ? "&&" : "||", tests, all ? Precedence::conjunction : Precedence::disjunction);
}
Code detail::code(std::string_view pattern, std::vector<Code> parts) { return Maker::pattern(pattern, std::move(parts)); }
Code row_code(const char* pattern, std::vector<Code> operands) { return Maker::pattern(pattern, std::move(operands)); }

// ---- the printer ------------------------------------------------------------------------------------------------------------------

namespace {
/// An operand that must bind more tightly than `than`.
void print_operand(const Code& c, Precedence than, std::string* out) {
  const bool whole = c.precedence() > than;
  if (!whole) *out += '(';
  c.print(out);
  if (!whole) *out += ')';
}
}  // namespace

void Code::Node::print_pattern(std::string* out) const {
  int next = 0;
  for (size_t at = 0;;) {
    const size_t brace = pattern.find_first_of("{}", at);
    *out += pattern.substr(at, brace - at);
    if (brace == pattern.npos) return;
    const Step s = step_at(pattern, brace, &next);
    at = brace + s.length;
    if (s.operand == kLast)
      parts.back().print(out);
    else if (s.operand >= 0)
      parts[static_cast<size_t>(s.operand)].print(out);
    else
      *out += s.other;
  }
}

void Code::Node::print(std::string* out) const {
  switch (kind) {
    case Kind::name: *out += own; return;
    case Kind::pattern: return print_pattern(out);
    case Kind::sequence:
      for (const Code& c : parts) c.print(out);
      return;
    case Kind::operand: return print_operand(parts[0], Precedence::prefix, out);
    case Kind::operation: {
      // Tests that && and || join stand without parentheses where they need none; other operands must be whole.
      const Precedence than = precedence == Precedence::operation ? Precedence::prefix : Precedence::conjunction;
      for (size_t i = 0; i < parts.size(); ++i) {
        if (i) (*out += ' ').append(pattern) += ' ';
        print_operand(parts[i], than, out);
      }
      return;
    }
    case Kind::prefix: *out += pattern; return print_operand(parts[0], Precedence::prefix, out);
    case Kind::choice:
      print_operand(parts[0], Precedence::choice, out);
      *out += " ? ";
      print_operand(parts[1], Precedence::prefix, out);
      *out += " : ";
      return print_operand(parts[2], Precedence::prefix, out);
    case Kind::block: block->print(out); return;
  }
}

std::string Code::text() const {
  std::string out;
  print(&out);
  return out;
}

// ---- statements -------------------------------------------------------------------------------------------------------------------

void Block::line(int depth, Code statement, const Facts& facts) {
  facts_ |= facts;
  lines_.push_back({depth, std::move(statement), facts});
}

Block Block::raising() const {
  Block r;
  for (const Line& l : lines_) {
    Facts facts = l.facts.without(kActs);
    facts |= Facts(kRaises);
    r.line(l.depth, l.statement, facts);
  }
  return r;
}

Block& Block::operator+=(const Block& more) {
  facts_ |= more.facts_;
  lines_.insert(lines_.end(), more.lines_.begin(), more.lines_.end());
  return *this;
}

Block Block::cut(size_t place) {
  Block rest, kept;
  for (size_t i = 0; i < lines_.size(); ++i) (i < place ? kept : rest).line(lines_[i].depth, lines_[i].statement, lines_[i].facts);
  *this = std::move(kept);
  return rest;
}

std::string Block::text() const {
  std::string out;
  print(&out);
  return out;
}

void Block::print(std::string* out) const {
  for (const Line& l : lines_) {
    out->append(static_cast<size_t>(2 * l.depth), ' ');
    l.statement.print(out);
    *out += '\n';
  }
}

}  // namespace bc::kernels
