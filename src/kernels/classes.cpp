// Objects of jitclasses, in functions compiled for the CPU: fields of given types behind a counted reference, and methods that are compiled
// functions.
#include <algorithm>
#include <map>

#include "kernels/compiler.h"

namespace bc::kernels {

/// The function of a method, nullptr where the class has none of that name.
const Function* FunctionCompiler::instance_method(Type self, const std::string& name) const {
  const auto e = function_.attribute(class_type(self->object, self->name), name);
  return e && e->type && e->type->is(Kind::function) ? static_cast<const Function*>(e->type->object) : nullptr;
}

/// What a method such as `__len__` says of values[0]; nullopt where that is no object that has it.
std::optional<Value> FunctionCompiler::instance_operator(const std::string& name, const std::vector<Value>& values, const Node* n) {
  if (!host() || !values[0].is(Kind::instance)) return std::nullopt;
  const Function* method = instance_method(values[0].type, "__" + name + "__");
  if (!method) return std::nullopt;
  CallArguments args{values, std::vector<const Node*>(values.size(), n), {}};
  if (!args.positional[0].simple) args.positional[0] = spill(args.positional[0]);
  return call_function(*method, method->syntax(), std::move(args), n);
}

/// An operator by the methods of its operands, the right one's where the left one has none.
std::optional<Value> FunctionCompiler::instance_operator(Operator op, const Value& a, const Value& b, const Node* n) {
  if (!host() || !(a.is(Kind::instance) || b.is(Kind::instance))) return std::nullopt;
  static const std::map<Operator, std::pair<const char*, const char*>> kNames = {{Operator::add, {"add", "radd"}},
                                                                                 {Operator::sub, {"sub", "rsub"}},
                                                                                 {Operator::mul, {"mul", "rmul"}},
                                                                                 {Operator::div, {"truediv", "rtruediv"}},
                                                                                 {Operator::mod, {"mod", "rmod"}},
                                                                                 {Operator::pow, {"pow", "rpow"}},
                                                                                 {Operator::floor_div, {"floordiv", "rfloordiv"}},
                                                                                 {Operator::matmul, {"matmul", "rmatmul"}},
                                                                                 {Operator::bit_or, {"or", "ror"}},
                                                                                 {Operator::left_shift, {"lshift", "rlshift"}},
                                                                                 {Operator::right_shift, {"rshift", "rrshift"}},
                                                                                 {Operator::bit_xor, {"xor", "rxor"}},
                                                                                 {Operator::bit_and, {"and", "rand"}},
                                                                                 {Operator::eq, {"eq", "eq"}},
                                                                                 {Operator::ne, {"ne", "ne"}},
                                                                                 {Operator::lt, {"lt", "gt"}},
                                                                                 {Operator::gt, {"gt", "lt"}},
                                                                                 {Operator::le, {"le", "ge"}},
                                                                                 {Operator::ge, {"ge", "le"}}};
  const auto negated = [&](const Value& v) {
    const Value t = truth(v, n);
    return Value::of(bool_type(), "!" + paren(t));
  };
  if (op == Operator::in || op == Operator::not_in) {
    const auto r = instance_operator("contains", {b, a}, n);
    return !r ? r : op == Operator::in ? truth(*r, n) : negated(*r);
  }
  const auto same = [&](bool wanted) -> std::optional<Value> {
    if (a.is_none() || b.is_none() || (a.is(Kind::instance) && b.is(Kind::instance) && a.type != b.type))
      return constant_value(Constant{!wanted});
    if (!a.is(Kind::instance) || !b.is(Kind::instance)) return std::nullopt;
    return Value::of(bool_type(), operation(code("{}.owner", paren(a)), wanted ? "==" : "!=", code("{}.owner", paren(b))));
  };
  if (op == Operator::is || op == Operator::is_not) return same(op == Operator::is);
  const auto found = kNames.find(op);
  if (found == kNames.end()) return std::nullopt;
  if (n && n->kind == NodeKind::aug_assign)
    if (auto r = instance_operator(std::string("i") + found->second.first, {a, b}, n)) return r;
  if (auto r = instance_operator(found->second.first, {a, b}, n)) return r;
  if (auto r = instance_operator(found->second.second, {b, a}, n)) return r;
  if (op == Operator::ne)
    if (auto r = instance_operator(Operator::eq, a, b, n)) return negated(*r);
  if (op == Operator::eq) return same(true);  // what compares nothing else is equal to itself
  return std::nullopt;
}

Value FunctionCompiler::instance_attribute(const Value& self, const std::string& name, const Node* n) {
  const Type t = self.type;
  for (size_t i = 0; i < t->fields.size(); ++i)
    if (t->fields[i] == name) {
      const std::string field = user_name(Named::field, name);
      Value v = Value::of(t->items[i], t->items[i]->is_scalar() ? code("{}.fields().{}", paren(self), field)
                                                                : code("{}.field(&{}::Fields::{})", paren(self), cpp(t), field));
      v.note(kReads);
      v.field = v.is_array();
      return v;
    }
  // A property is a call.
  if (const auto e = function_.attribute(class_type(t->object, t->name), name); e && e->type && e->type->is(Kind::object)) {
    const auto get = function_.attribute(e->type, "fget");
    if (get && get->type && get->type->is(Kind::function)) {
      const auto& f = *static_cast<const Function*>(get->type->object);
      return call_function(f, f.syntax(), {{self}, {n}, {}}, n);
    }
  }
  if (const auto e = function_.attribute(class_type(t->object, t->name), name); e && e->type && !e->type->is(Kind::object))
    return entity_value(*e, name);
  fail(n, fmt::format("{} has no attribute '{}'", t->spelling, name), {}, nearest(name, t->fields));
}

void FunctionCompiler::assign_instance_field(const Value& self, const std::string& name, const Value& given, const Node* n) {
  const Type t = self.type;
  const auto at = std::find(t->fields.begin(), t->fields.end(), name);
  if (at == t->fields.end()) {
    if (const auto e = function_.attribute(class_type(t->object, t->name), name); e && e->type && e->type->is(Kind::object)) {
      const auto set = function_.attribute(e->type, "fset");
      if (set && set->type && set->type->is(Kind::function)) {
        const auto& f = *static_cast<const Function*>(set->type->object);
        const Value r = call_function(f, f.syntax(), {{self, given}, {n, n}, {}}, n);
        perform(r);
        return;
      }
    }
    fail(n, fmt::format("{} has no field '{}'", t->spelling, name), {}, nearest(name, t->fields));
  }
  const Type field = t->items[static_cast<size_t>(at - t->fields.begin())];
  const Value value = kept(given, field, n);
  if (!value.type) return;
  if (!converts(value.type, field)) fail(n, fmt::format("the field '{}' holds {}, not {}", name, field->spelling, value.type->spelling));
  if (!field->has_value()) return;
  unit_.changes_containers |= !field->is_scalar();
  if (field->is_scalar())
    linef("{}.fields().{} = {};", paren(self), user_name(Named::field, name), convert(value, field, n));
  else
    linef("{}.set_field(&{}::Fields::{}, {});", paren(self), cpp(t), user_name(Named::field, name), convert(value, field, n));
}

Value FunctionCompiler::new_instance(Type t, CallArguments args, const Node* n) {
  const std::string object = temporary("object");
  linef("{} {};", cpp(t), object);
  linef("py::make_instance({});", object);
  Value self = Value::of(t, object);
  self.simple = true;
  if (const Function* init = instance_method(t, "__init__")) {
    args.positional.insert(args.positional.begin(), self);
    args.nodes.insert(args.nodes.begin(), n);
    const Value r = call_function(*init, init->syntax(), std::move(args), n);
    perform(r);
  } else if (!args.positional.empty()) {
    fail(n, fmt::format("{}() takes no arguments", t->name));
  }
  return self;
}

}  // namespace bc::kernels
