#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// The tree between typing and printing. The compiler makes an expression as a `Code`: a node with its operands, what is known of the
/// whole (`Facts`), and how tightly C++ binds it. Statements are lines of a `Block`. Facts are unions of the parts' facts, so whoever asks
/// whether a body has a loop, a barrier or a call asks the tree; text is made at the end, by text(), which alone sets parentheses.
namespace bc::kernels {

struct Specialised;

/// What a piece of the program contains.
enum Fact : uint32_t {
  kLoops = 1,        ///< a loop of its own
  kTakesTime = 2,    ///< a call into the library that may walk over many elements
  kBarrier = 4,      ///< all threads of a block meet
  kThreadArray = 8,  ///< names an array that is the thread's own
  kLabelled = 16,    ///< a label, which cannot stand twice in a function
  kLibrary = 32,     ///< names something of src/device/python
  kReads = 64,       ///< depends on memory that an action may change
  kActs = 128,       ///< does something: it runs once, in its place
  kRaises = 256,     ///< may raise, and does nothing else
};

/// What a piece of the program names: a function that it calls, a label that it jumps to, a table of constants.
struct Mention {
  enum class Kind : uint8_t { call, jump, table };
  Kind kind;
  uintptr_t what;
  auto operator<=>(const Mention&) const = default;
};

class Facts {
 public:
  Facts() = default;
  Facts(uint32_t bits) : bits_(bits) {}  // NOLINT(google-explicit-constructor)
  Facts without(uint32_t bits) const {
    Facts f = *this;
    f.bits_ &= ~bits;
    return f;
  }
  explicit Facts(Mention m) : mentions_(std::make_shared<const std::vector<Mention>>(1, m)) {}
  bool has(uint32_t bits) const { return (bits_ & bits) != 0; }
  bool names(Mention m) const;
  /// The functions that are called.
  std::vector<const Specialised*> calls() const;
  Facts& operator|=(const Facts& other);

 private:
  uint32_t bits_ = 0;
  std::shared_ptr<const std::vector<Mention>> mentions_;  ///< sorted; nullptr: none
};

/// How tightly C++ binds an expression.
enum class Precedence : uint8_t { choice, disjunction, conjunction, operation, prefix, whole };

class Block;

/// An expression, or a part of one.
class Code {
 public:
  Code() = default;
  /// A name, a literal or a type: it holds nothing but itself.
  Code(std::string name);       // NOLINT(google-explicit-constructor)
  Code(std::string_view name);  // NOLINT(google-explicit-constructor)
  Code(const char* name);       // NOLINT(google-explicit-constructor)
  /// The statements of a function inside an expression.
  Code(const Block& statements);  // NOLINT(google-explicit-constructor)

  bool empty() const { return !node_; }
  const Facts& facts() const;
  Precedence precedence() const;
  bool is_whole() const { return precedence() == Precedence::whole; }
  /// Tells whether this is that name and nothing else.
  bool is_name(std::string_view name) const;
  /// Tells whether both are one expression, which was made once.
  bool is_same(const Code& other) const { return node_ && node_ == other.node_; }
  /// A name's or a literal's text; "" for all else.
  std::string_view name() const;
  /// The same with another precedence, or with more facts.
  Code at(Precedence p) const;
  Code with(const Facts& more) const;
  std::string text() const;

  Code& operator+=(const Code& next);
  friend Code operator+(const Code& a, const Code& b) { return Code(a) += b; }

  Code(const Code& other) noexcept : node_(other.node_) {
    if (node_) ++node_->uses;
  }
  Code(Code&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Code& operator=(Code other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Code() {
    if (node_ && --node_->uses == 0) free(node_);
  }

  struct Node;
  void print(std::string* out) const;

 private:
  friend struct Maker;
  /// A program is compiled by one thread: plain counts.
  struct Counted {
    mutable uint32_t uses = 0;
  };
  explicit Code(const Counted* node) : node_(node) { ++node_->uses; }
  const Node* node() const;
  static void free(const Counted* node);
  const Counted* node_ = nullptr;
};

/// As an operand that must be whole: in parentheses where it is not.
Code operand(const Code& c);
/// a op b; `op` is text that lives for ever.
Code operation(const Code& a, const char* op, const Code& b);
/// op a, for - ~ and !.
Code prefixed(const char* op, const Code& a);
/// test ? a : b.
Code choice(const Code& test, const Code& a, const Code& b);
/// All of the tests, or one of them.
Code all_of(const std::vector<Code>& tests, bool all);

namespace detail {
Code code(std::string_view pattern, std::vector<Code> parts);
template <class A>
Code part(A&& a) {
  using T = std::decay_t<A>;
  if constexpr (std::is_same_v<T, char>)
    return Code(std::string(1, a));
  else if constexpr (std::is_same_v<T, bool>)
    return Code(a ? "true" : "false");
  else if constexpr (std::is_arithmetic_v<T>)
    return Code(std::to_string(a));
  else
    return Code(std::forward<A>(a));
}
}  // namespace detail

/// A piece of C++ with places for operands, as fmt's patterns have them: code("py::wrap({}, {})", at, extent). What the pattern itself
/// names of the library (py::wrap, .append(…)) is known once and for all; the operands bring their own facts.
template <class... A>
Code code(fmt::format_string<std::conditional_t<true, std::string_view, A>...> pattern, A&&... operands) {
  const fmt::string_view p = pattern;
  std::vector<Code> parts;
  parts.reserve(sizeof...(A));
  (parts.push_back(detail::part(std::forward<A>(operands))), ...);
  return detail::code({p.data(), p.size()}, std::move(parts));
}
/// The same for a pattern that a table of functions holds; it lives for ever.
Code row_code(const char* pattern, std::vector<Code> operands);

/// Statements, a line each.
class Block {
 public:
  void line(int depth, Code statement) {
    const Facts facts = statement.facts();
    line(depth, std::move(statement), facts);
  }
  /// With the facts of another statement than it looks like.
  void line(int depth, Code statement, const Facts& facts);
  /// The same statements as one that raises, and else does nothing.
  Block raising() const;
  Block& operator+=(const Block& more);
  bool empty() const { return lines_.empty(); }
  size_t size() const { return lines_.size(); }
  const Facts& facts() const { return facts_; }
  /// Takes away what stands from the line `place` on.
  Block cut(size_t place);
  void clear() { *this = Block(); }
  std::string text() const;
  void print(std::string* out) const;

 private:
  struct Line {
    int depth;
    Code statement;
    Facts facts;
  };
  std::vector<Line> lines_;
  Facts facts_;
};

}  // namespace bc::kernels
