#pragma once
#include <complex>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/types.h"

namespace bc::kernels {

/// A value that is known when a function is compiled.
struct Constant;
using ConstantTuple = std::vector<Constant>;
struct Constant {
  // monostate: None. Integers past int64 are uint64.
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::complex<double>, std::string, ConstantTuple> value;
  const void* member = nullptr;  ///< of a number that is a member of an enumeration: the object, which `is` compares
  bool wraps = false;  ///< computed of NumPy's integers of other sizes: a conversion takes the low bits, where one of Python's must fit
  bool operator==(const Constant&) const = default;

  const int64_t* integer() const { return std::get_if<int64_t>(&value); }
  const bool* boolean() const { return std::get_if<bool>(&value); }
  const std::string* string() const { return std::get_if<std::string>(&value); }
};

// clang-format off
enum class Operator : uint8_t {
  add, sub, mul, div, floor_div, mod, pow, matmul, left_shift, right_shift, bit_or, bit_xor, bit_and,  // binary
  invert, logical_not, plus, minus,                                                                    // unary
  eq, ne, lt, le, gt, ge, is, is_not, in, not_in,                                                      // comparison
  logical_and, logical_or,
};
// clang-format on
/// As Python writes it: "+", "is not".
const char* to_string(Operator op);

// clang-format off
enum class NodeKind : uint8_t {
  // Statements
  assign,      ///< list = a (several targets: x = y = a)
  aug_assign,  ///< a op= b
  ann_assign,  ///< a: … = b; b may be missing
  for_,        ///< for a in b: body else: orelse
  while_,      ///< while a: body else: orelse
  if_,         ///< if a: body else: orelse
  expression,  ///< a
  return_,     ///< return a; a may be missing
  raise_,      ///< raise a; a may be missing
  assert_,     ///< assert a, b; b may be missing
  pass, break_, continue_,
  function,    ///< def text: `inner`
  try_,        ///< try: body, list of handlers, else: orelse, finally: c->body (a block); handlers and finally are not in one node
  handler,     ///< except a as text: body; a and text may be missing
  delete_,     ///< del list
  block,       ///< body
  with_,       ///< with list: body; `python` is Python's own node
  unsupported, ///< text: Python's name of it
  // Expressions
  constant,    ///< literal (Python's ... is `ellipsis`)
  bytes,       ///< text: b"…"
  ellipsis,
  name,        ///< text
  attribute,   ///< a.text
  subscript,   ///< a[b]
  call,        ///< a(*list, **keywords); b, of reversed() in an "iterator": the name of the list's length
  binary,      ///< a op b
  unary,       ///< op a
  boolean,     ///< list joined by op
  compare,     ///< a ops[0] list[0] ops[1] list[1] …
  if_else,     ///< b if a else c
  tuple, list, ///< list
  slice,       ///< a:b:c, each may be missing
  starred,     ///< *a
  lambda,      ///< `inner`
  walrus,      ///< text := a
  formatted,   ///< an f-string: the texts and format_values of list
  format_value,  ///< {a!text:b}: text and b may be missing
  set,         ///< {list}
  dict,        ///< {key: value, …}: list holds them in turn
  comprehension,  ///< [a for c in b if list…]: `text` says of what: "list", "set", "dict" (its value is a keyword), "generator"; its names
                  ///< are the function's own, renamed. A second `for` is a comprehension "inner" in the place of `a`. A generator
                  ///< expression is a call of the function `inner` with what is in `orelse`, too; so is an "iterator", the call b of
                  ///< zip() and its like where it may be walked over in several places
  yield,       ///< yield a
  length,      ///< in the `orelse` of an "iterator": the length of the list before it, which reversed() takes when it is called
};
// clang-format on

struct FunctionSyntax;

/// A node of the syntax tree; what the fields hold is said beside the kinds.
struct Node {
  NodeKind kind{};
  Operator op{};
  int line = 0, column = 0, end_line = 0, end_column = 0;  ///< lines from 1 as in the file; columns from 0, in bytes
  std::string text;
  Constant literal;
  Node *a = nullptr, *b = nullptr, *c = nullptr;
  std::vector<Node*> list;
  std::vector<Operator> ops;
  std::vector<std::pair<std::string, Node*>> keywords;
  std::vector<Node*> body, orelse;
  FunctionSyntax* inner = nullptr;
  const void* python = nullptr;  ///< of a with statement; kept for ever
};

struct Parameter {
  std::string name;
  bool keyword_only = false;
  bool has_default = false;
  Node* default_value = nullptr;  ///< of inner functions; those of others are values, see Function::default_value
};

/// One Python function.
struct FunctionSyntax {
  std::string name;
  std::string file;
  int line = 0;
  std::vector<Parameter> parameters;
  std::string rest;              ///< the name of *args, or empty
  Node* keyword_rest = nullptr;  ///< **kwargs, `text` is its name: an error when the function is compiled
  std::vector<Node*> body;
  std::vector<std::string> locals;  ///< names that the function binds, parameters first
  std::vector<std::string> source;  ///< the file's lines from `line` on
  FunctionSyntax* outer = nullptr;  ///< of inner functions and lambdas
  std::vector<Node*> outer_names;   ///< the statements `global` and `nonlocal`, one for each name
  bool yields = false;              ///< a generator

  // Of the outermost function: where the nodes live.
  std::deque<Node> nodes;
  std::deque<FunctionSyntax> inner_functions;

  int local_index(std::string_view name) const {
    for (size_t i = 0; i < locals.size(); ++i)
      if (locals[i] == name) return static_cast<int>(i);
    return -1;
  }
  std::string_view source_line(int at) const {
    const FunctionSyntax* f = this;
    while (f->outer) f = f->outer;
    const int i = at - f->line;
    return i >= 0 && i < static_cast<int>(f->source.size()) ? std::string_view(f->source[static_cast<size_t>(i)]) : std::string_view();
  }
};

/// Elements of a constant array (a NumPy array that a function refers to): frozen when the function is compiled. C order.
struct ConstantArray {
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

/// The meaning of a name outside the function: a compile-time object (its type says which), a constant number, tuple or array, an array on
/// a device, which kernels read where it lies and other functions freeze, or a tuple of such things.
struct Entity {
  Type type = nullptr;
  std::optional<Constant> constant;
  std::shared_ptr<const ConstantArray> array;
  const void* address = nullptr;         ///< of a value that is a pointer
  std::shared_ptr<const void> captured;  ///< the array on a device; `type` is its type
  std::function<Entity()> frozen;        ///< what it holds now, of one that can be frozen
  std::vector<Entity> items;             ///< of a tuple that is no constant: its elements (arrays, functions)
};

/// A block that the interpreter runs (`with objmode(…)`).
struct Interpreted {
  const void* callable = nullptr;  ///< takes the inputs, gives a tuple of the outputs
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, Type>> outputs;
  std::vector<std::string> lost;  ///< names that the block binds for itself: the function has no value of them behind it
};

/// A Python function and the world that its names refer to. The binding implements it; objects live until the process ends, because types
/// refer to them.
class Function {
 public:
  virtual ~Function() = default;
  const FunctionSyntax& syntax() const { return *syntax_; }
  const std::string& name() const { return syntax_->name; }

  /// A free name: a closure's cell, a global or a built-in.
  virtual std::optional<Entity> global(std::string_view name) const = 0;
  /// object.name, for modules, classes and other objects.
  virtual std::optional<Entity> attribute(Type object, std::string_view name) const = 0;
  /// The names that global() or attribute() know (object nullptr: global), for suggestions.
  virtual std::vector<std::string> names(Type object) const = 0;
  /// Whether an exception class, a type that names one or a built-in one's name, is a subclass of another.
  virtual bool is_exception(Type cls, std::string_view builtin, Type base) const = 0;
  /// The Python function that stands for a library's in compiled functions ("numpy.tril", "heapq.heappush"), or nullptr.
  virtual const Function* stand_in(const std::string& name) const = 0;
  /// The function that is compiled in this one's place for arguments of these types (extending.overload), the last of them given by name,
  /// in a function for the CPU (`host`) or a kernel; nullptr: itself.
  virtual const Function* overloaded(const std::vector<Type>& types, const std::vector<std::string>& names, bool host) const = 0;
  /// The body of a method or an attribute that a program registered for values of the first type (extending.overload_method, `table`
  /// "_METHODS", and overload_attribute, "_ATTRIBUTES"), or nullptr.
  virtual const Function* overloaded_member(const char* table, const std::string& name, const std::vector<Type>& types,
                                            const std::vector<std::string>& names, bool host) const = 0;
  /// The block of a with statement as a callable; `locals` are the names that are not of the world around the function.
  virtual Interpreted interpreted(const Node* with, const std::vector<std::string>& locals) const = 0;
  /// The value of a parameter's default.
  virtual std::optional<Entity> default_value(int parameter) const = 0;
  /// Of a function that was compiled for given signatures only: calls convert to them, and get what they say.
  std::vector<FunctionSignature> declared;
  bool force_inline = false;  ///< @cuda.jit(inline="always")
  bool elementwise = false;   ///< @vectorize: it maps over arrays; of `declared` the first that the operands cast to is meant
  Constant identity;          ///< of an elementwise one: a number, "reorderable" or None
  bool generalised = false;   ///< @guvectorize: functions for the CPU call what overloaded() gives, which loops over the cores

 protected:
  std::shared_ptr<const FunctionSyntax> syntax_;
};

}  // namespace bc::kernels
