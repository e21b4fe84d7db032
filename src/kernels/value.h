#pragma once
#include <algorithm>
#include <functional>
#include <memory>

#include "kernels/code.h"
#include "kernels/syntax.h"

namespace bc::kernels {

struct LazyArray;

/// An expression that is typed: the tree that is printed for it, its type, and what is known of it.
struct Value {
  Type type = nullptr;  ///< nullptr: not known yet (a recursive call before its first return)
  Code text;            ///< the expression; empty where the type has no value at run time
  bool simple = false;  ///< a variable or a literal: may be written twice
  bool non_negative = false;
  uint8_t least = 0;      ///< of one that is not negative: it is at least that; 3 stands for all above
  bool index = false;     ///< made of indices, extents and small constants: plain arithmetic on it does not overflow
  bool of_numpy = false;  ///< NumPy's scalar in Python, as sums of arrays are: dividing by zero gives an infinity or NaN
  /// Of a remainder by a number other than zero: its `text`, and C++'s remainder, which is zero where this is and costs less.
  std::pair<Code, Code> remainder;
  std::shared_ptr<const Constant> constant;
  bool field = false;                     ///< an array that is read from a field of an object
  bool display = false;                   ///< a list display (a tuple until it is kept), or a set or dict of `items` that is not made yet
  bool several = false;                   ///< a list of values of several types, or a tuple that holds one: its origin is remembered
  std::string root, part;                 ///< of an array: the variable that it is a view of, and which slices of it
  std::vector<Value> items;               ///< a tuple display's items; a range's or slice's start, stop, step; a bound method's self
  const Specialised* started = nullptr;   ///< of a call of a generator's function: the function; items[0] is the list of its arguments
  std::vector<std::string> later;         ///< of a generator: the variables that it reads when it runs
  std::shared_ptr<const LazyArray> lazy;  ///< an array expression that no memory holds; `type` is the array type that it would have

  static Value of(Type t, Code text) {
    Value v;
    v.type = t;
    v.text = std::move(text);
    return v;
  }
  /// What a call gives: it is evaluated once, where it stands.
  static Value called(Type t, Code text) { return of(t, text.with(kActs)); }
  /// What is read from memory by a call.
  static Value fetched(Type t, Code text) { return of(t, text.with(kActs | kReads)); }
  /// Something that exists only at compile time.
  static Value known(Type t) {
    Value v;
    v.type = t;
    v.simple = true;
    return v;
  }
  /// The slice of all, `:`.
  static Value whole_slice() {
    Value v = known(slice_type());
    v.items.assign(3, known(none_type()));
    return v;
  }
  /// Whether it depends on memory that an action may change.
  bool reads() const { return has(kReads); }
  /// Whether evaluating it does something: it is evaluated once, in its place.
  bool acts() const { return has(kActs); }
  /// Of its tree, and of its items'.
  bool has(uint32_t facts) const {
    return text.facts().has(facts) || std::any_of(items.begin(), items.end(), [&](const Value& v) { return v.has(facts); });
  }
  /// The same expression, with more facts.
  void note(uint32_t facts) { text = text.with(facts); }
  bool is(Kind k) const { return type && type->kind == k; }
  bool is_scalar() const { return is(Kind::scalar); }
  bool is_array() const { return is(Kind::array); }
  /// A list of values of several types, which is a tuple here, or a tuple that holds one.
  bool is_mixed_list() const { return is(Kind::tuple) && (display || several); }
  bool is_none() const { return is(Kind::none); }
  /// A class, or several of them.
  bool is_class() const {
    if (is(Kind::tuple)) return !items.empty() && std::all_of(items.begin(), items.end(), [](const Value& v) { return v.is_class(); });
    return is(Kind::type) || is(Kind::dtype) || is(Kind::builtin);
  }
  std::optional<int64_t> integer() const {
    if (constant)
      if (const int64_t* v = constant->integer()) return *v;
    if (is(Kind::literal)) return type->value;
    return std::nullopt;
  }
};

/// An elementwise expression over arrays, computed where it is consumed (an assignment to a slice, a reduction).
struct LazyArray {
  std::vector<Value> leaves;  ///< arrays, bound to names
  /// The element, given the leaves' elements.
  std::function<Value(std::span<const Value>)> element;
};

}  // namespace bc::kernels
