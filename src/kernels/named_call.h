#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/compiler.h"

namespace bc::kernels {

/// Which function types and prints a call, by the names of the functions that are called.
template <class Form>
using Forms = std::unordered_map<std::string_view, Form>;
template <class Form>
const Forms<Form>& forms_of(std::initializer_list<std::pair<Form, std::initializer_list<std::string_view>>> rows) {
  auto& made = *new Forms<Form>;
  for (const auto& [form, names] : rows)
    for (const std::string_view name : names) made.try_emplace(name, form);
  return made;
}

/// A call of a function that the compiler knows by its name. Subclasses have a table from names to the member functions that type and print
/// each; one that gives nothing does not take these arguments.
class NamedCall {
 protected:
  using Made = std::optional<Value>;

  NamedCall(FunctionCompiler& c, const std::string& name, CallArguments args, const Node* n)
      : c_(c), name_(name), args_(std::move(args)), p_(args_.positional), n_(n) {}
  NamedCall(const NamedCall&) = delete;
  NamedCall& operator=(const NamedCall&) = delete;

  bool is(std::string_view name) const { return name_ == name; }
  /// What stands behind the module's name.
  std::string plain_name() const { return name_.substr(name_.find('.') + 1); }
  bool takes(size_t count) const { return p_.size() == count; }
  [[noreturn]] void fail(std::string message, std::vector<std::pair<std::string, Type>> types = {}, std::string suggestion = {}) const {
    c_.fail(n_, std::move(message), std::move(types), std::move(suggestion));
  }
  /// The i-th argument as it is written and its type, for messages.
  std::vector<std::pair<std::string, Type>> shown(size_t i) const { return {{c_.source_of(args_.nodes[i]), p_[i].type}}; }
  static bool given(const Value& v) { return v.type && !v.is_none(); }
  static bool is_number(const Value& v) { return v.is_scalar() || v.is(Kind::literal); }
  Value constant(Constant value) const { return c_.constant_value(value); }
  Value whole(int64_t value) const { return constant(Constant{value}); }
  std::string cpp(Type t) const { return c_.cpp(t); }

  FunctionCompiler& c_;
  const std::string& name_;
  CallArguments args_;
  std::vector<Value>& p_;
  const Node* n_;
};

}  // namespace bc::kernels
