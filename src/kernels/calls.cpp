// Calls: of Python functions, of types. See compiler.h for the method.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "kernels/compiler.h"
#include "kernels/host.h"
#include "kernels/rows.h"
#include "primitives/ops.h"

namespace bc::kernels {
namespace {
/// Names that `syntax` (an inner function) reads and does not bind.
void free_names(const std::vector<Node*>& body, const FunctionSyntax& syntax, std::vector<std::string>* names);
void free_names(const Node* n, const FunctionSyntax& syntax, std::vector<std::string>* names) {
  if (!n) return;
  if (n->kind == NodeKind::name && syntax.local_index(n->text) < 0 && std::find(names->begin(), names->end(), n->text) == names->end())
    names->push_back(n->text);
  for (const Node* k : {n->a, n->b, n->c}) free_names(k, syntax, names);
  for (const Node* k : n->list) free_names(k, syntax, names);
  for (const auto& [name, k] : n->keywords) free_names(k, syntax, names);
  free_names(n->body, syntax, names);
  free_names(n->orelse, syntax, names);
  if (n->inner) {
    std::vector<std::string> inside;
    free_names(n->inner->body, *n->inner, &inside);
    for (const std::string& name : inside)
      if (syntax.local_index(name) < 0 && std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
  }
}
void free_names(const std::vector<Node*>& body, const FunctionSyntax& syntax, std::vector<std::string>* names) {
  for (const Node* k : body) free_names(k, syntax, names);
}

/// The type with the value in it, of an integer that is known or a tuple of such; of others their own type.
Type literal_form(const Value& v) {
  if (v.integer() && v.type == int64_type()) return literal_type(*v.integer());
  if (!v.is(Kind::tuple) || !v.type->fields.empty()) return v.type;
  const auto* constants = v.constant ? std::get_if<ConstantTuple>(&v.constant->value) : nullptr;
  std::vector<Type> items;
  for (size_t i = 0; i < v.type->items.size(); ++i) {
    const Type item = v.type->items[i];
    if (i < v.items.size()) {
      items.push_back(literal_form(v.items[i]));
    } else {
      const int64_t* known = constants ? (*constants)[i].integer() : nullptr;
      items.push_back(known && item == int64_type() ? literal_type(*known) : item);
    }
  }
  return tuple_type(items);
}

}  // namespace

/// Callees that take all values of an iterable before they do anything else: a generator expression is a list there.
bool takes_all(const Value& callee) {
  static const auto& names = *new std::set<std::string_view>{"builtins.max", "builtins.min", "builtins.sorted", "builtins.sum",
                                                             "math.fsum",    "math.prod",    "numpy.fromiter"};
  return callee.is(Kind::type) || (callee.is(Kind::builtin) && names.contains(callee.type->name));
}

/// A call's arguments; `object`: the value whose method it is, which is evaluated before them.
CallArguments FunctionCompiler::arguments(const Node* n, Value* object, bool all) {
  CallArguments args;
  std::vector<const Node*> nodes;
  for (const Node* k : n->list) nodes.push_back(k->kind == NodeKind::starred ? k->a : k);
  if (all) as_lists_.insert(nodes.begin(), nodes.end());
  for (const auto& [name, k] : n->keywords) {
    if (name.empty()) fail(n, "**keywords are not supported in compiled functions", {}, "write each as name=value");
    nodes.push_back(k);
  }
  const size_t place = out_.size();
  std::vector<Value> values = ordered(nodes);
  if (object) settle(place, std::any_of(values.begin(), values.end(), [](const Value& v) { return v.acts(); }), std::array{object});
  for (size_t i = 0; i < n->list.size(); ++i) {
    if (n->list[i]->kind != NodeKind::starred) {
      args.positional.push_back(values[i]);
      args.nodes.push_back(n->list[i]);
      continue;
    }
    if (!values[i].type) continue;
    if (!values[i].is(Kind::tuple)) fail(n->list[i], "only tuples can be unpacked into arguments", {{source_of(nodes[i]), values[i].type}});
    const Value whole = values[i].items.empty() && !values[i].simple ? spill(values[i]) : values[i];
    for (size_t k = 0; k < values[i].type->items.size(); ++k) {
      args.positional.push_back(tuple_item(whole, k));
      args.nodes.push_back(n->list[i]);
    }
  }
  for (size_t i = 0; i < n->keywords.size(); ++i) args.keywords.emplace_back(n->keywords[i].first, values[n->list.size() + i]);
  return args;
}

Value FunctionCompiler::call(const Node* n) {
  // A method of a value, or a function.
  if (n->a->kind == NodeKind::attribute) {
    Value object = present(expression(n->a->a), n);
    if (host() && object.type && object.type->is_container()) return container_call(object, n);
    if (host() && object.is(Kind::instance)) {
      const bool field = std::find(object.type->fields.begin(), object.type->fields.end(), n->a->text) != object.type->fields.end();
      const Function* method = field ? nullptr : instance_method(object.type, n->a->text);
      if (method) {
        CallArguments args = arguments(n, &object);
        for (const Value& v : args.positional)
          if (!v.type) return {};
        const bool bound_method = !method->syntax().parameters.empty() && method->syntax().parameters[0].name == "self";
        if (bound_method) {
          args.positional.insert(args.positional.begin(), object.simple ? object : spill(object));
          args.nodes.insert(args.nodes.begin(), n->a->a);
        }
        return call_function(*method, method->syntax(), std::move(args), n);
      }
      return call_value(attribute_of(object, n->a->text, n->a), arguments(n), n);
    }
    if (host() && object.display && object.is(Kind::tuple)) {
      const Value list = made(object, nullptr, n);
      if (!list.is(Kind::tuple)) return container_call(list, n);
      if (n->a->text == "copy" && n->list.empty()) return list;  // a list of several types is a tuple
    }
    const bool bytes = is_characters(object.type) || (is_bytes(object.type) && is_method_of_bytes(n->a->text));
    if (host() && (object.is(Kind::string) || object.is(Kind::text) || bytes)) {
      CallArguments args = arguments(n, &object, true);
      for (const Value& v : args.positional)
        if (!v.type) return {};
      for (const auto& [name, v] : args.keywords)
        if (!v.type) return {};
      return bytes ? characters_method(object, n->a->text, args, n) : *text_method(object, n->a->text, args, n);
    }
    if (!object.type) {
      arguments(n);
      return {};
    }
    if (auto r = ufunc_method(object, n)) return *r;
    const bool field = object.is(Kind::tuple) &&
                       std::find(object.type->fields.begin(), object.type->fields.end(), n->a->text) != object.type->fields.end();
    if ((object.type->has_value() && !object.is(Kind::record) && !field) || (object.is(Kind::builtin) && !object.items.empty())) {
      CallArguments args = arguments(n, &object);
      return call_method(object, n->a->text, std::move(args), n);
    }
    if (object.is(Kind::builtin) && object.type->name == "cuda.cg.grid_group")
      return call_builtin("cuda.cg.grid_group." + n->a->text, arguments(n), n);
    return call_with_arguments(attribute_of(object, n->a->text, n->a), n);
  }
  return call_with_arguments(expression(n->a), n);
}

Value FunctionCompiler::call_with_arguments(const Value& callee, const Node* n) {
  if (auto array = array_of_comprehension(callee, n)) return *array;
  return call_value(callee, arguments(n, nullptr, takes_all(callee)), n);
}

/// A call of one of several functions: a branch for each, whose results unify.
Value FunctionCompiler::call_choice(const Value& callee, CallArguments args, const Node* n) {
  if (callee.type->items.size() == 1) return call_value(Value::known(callee.type->items[0]), std::move(args), n);
  const Value place = callee.simple ? callee : spill(callee);
  const auto ready = [&](Value& v) {
    if (v.display) v = made(v, nullptr, n);
    if (v.lazy) v = bound(materialise(v, n));
    if (v.type && v.type->has_value() && !v.simple) v = spill(v);
  };
  for (Value& v : args.positional) ready(v);
  for (auto& [name, v] : args.keywords) ready(v);
  Type t = nullptr;
  const bool emitting = std::exchange(emitting_, false);
  for (Type function : callee.type->items) {
    Type one = nullptr;
    captured([&] { one = stored_type(call_value(Value::known(function), args, n).type); });
    const Type both = unify(t, one);
    if (!both && one)
      fail(n, fmt::format("the functions of {} give values that do not unify", callee.type->spelling), {{"one", t}, {"another", one}});
    t = both;
  }
  emitting_ = emitting;
  if (!t) return {};  // of a recursive call: known in the next round
  const std::string out = temporary("r");
  const bool gives = t->has_value();
  if (!gives && !t->is(Kind::none)) fail(n, fmt::format("one of several functions cannot give {}", t->spelling));
  if (gives) linef("{} {}{{}};", cpp(t), out);
  for (size_t i = 0; i < callee.type->items.size(); ++i) {
    const bool last = i + 1 == callee.type->items.size();
    line(last ? Code("} else {") : code("{}if ({} == {}) {{", i ? "} else " : "", place.text, i));
    ++depth_;
    const Value r = call_value(Value::known(callee.type->items[i]), args, n);
    if (gives)
      linef("{} = {};", out, convert(r, t, n));
    else
      perform(r);
    --depth_;
  }
  line("}");
  if (!gives) return Value::known(none_type());
  Value r = Value::of(t, out);
  r.simple = true;
  return r;
}

Value FunctionCompiler::call_value(const Value& callee, CallArguments args, const Node* n) {
  for (const Value& v : args.positional)
    if (!v.type) return {};
  for (const auto& [name, v] : args.keywords)
    if (!v.type) return {};
  if (!callee.type) return {};
  if (host())
    for (const Value& v : args.positional)
      if (v.type->is_container() && is_incomplete(v.type)) {
        if (v.display && callee.is(Kind::type)) continue;
        if (callee.is(Kind::builtin) && callee.type->name == "builtins.len") continue;
        if (emitting_) display_text(v, v.type, n);
        return {};
      }
  if (callee.is(Kind::instance))
    if (const Function* method = instance_method(callee.type, "__call__")) {
      args.positional.insert(args.positional.begin(), callee.simple ? callee : spill(callee));
      args.nodes.insert(args.nodes.begin(), n);
      return call_function(*method, method->syntax(), std::move(args), n);
    }
  switch (callee.type->kind) {
    case Kind::function: {
      const auto inner = unit_.inner.find(callee.type->object);
      if (inner != unit_.inner.end()) return call_function(*inner->second.first, *inner->second.second, std::move(args), n);
      const auto& f = *static_cast<const Function*>(callee.type->object);
      std::vector<Type> types;
      std::vector<std::string> names;
      const auto add = [&](const Value& v) { types.push_back(v.is(Kind::literal) ? int64_type() : v.type); };
      for (const Value& v : args.positional) add(v);
      for (const auto& [name, v] : args.keywords) add(v), names.push_back(name);
      if (const Function* other = f.generalised && !host() ? nullptr : f.overloaded(types, names, host()))
        return call_function(*other, other->syntax(), std::move(args), n);
      return call_function(f, f.syntax(), std::move(args), n);
    }
    case Kind::builtin:
      if (callee.type->object) return call_foreign(*static_cast<const ForeignFunction*>(callee.type->object), args, n);
      if (!callee.items.empty())
        return call_method(callee.items[0], callee.type->name.substr(callee.type->name.find('.') + 1), std::move(args), n);
      return call_builtin(callee.type->name, std::move(args), n);
    case Kind::dtype:
    case Kind::type: return call_class(callee.type, std::move(args), n);
    case Kind::choice: return call_choice(callee, std::move(args), n);
    default: fail(n, fmt::format("{} cannot be called in compiled functions", callee.type->spelling), {{source_of(n->a), callee.type}});
  }
}

/// Asks for the value of a parameter that the node names; fails where it names none.
void FunctionCompiler::need_literal(const Node* value, const Node* n) {
  const int index = value->kind == NodeKind::name ? syntax_.local_index(value->text) : -1;
  try {
    fail(n, fmt::format("literally(): the value of '{}' is not known when the function is compiled", source_of(value)), {},
         "give it an argument of the compiled function that is an int, a bool or a str, or a constant");
  } catch (const Error& e) {
    if (index < 0 || static_cast<size_t>(index) >= syntax_.parameters.size()) throw;
    throw LiteralNeeded(static_cast<size_t>(index), e.what());
  }
}

const FunctionSignature& FunctionCompiler::declared_for(const Function& f, const std::vector<Type>& types, const Node* n) {
  Choice choice;
  for (size_t k = 0; k < f.declared.size(); ++k) {
    const std::vector<Type>& wanted = f.declared[k].arguments;
    int cost = wanted.size() == types.size() ? 0 : -1;
    for (size_t i = 0; i < types.size() && cost >= 0; ++i) {
      const int one = conversion_cost(types[i], wanted[i]);
      cost = one < 0 ? one : cost + one;
    }
    choice.offer(static_cast<int>(k), cost);
  }
  if (choice.best < 0) {
    std::string known;
    for (const FunctionSignature& s : f.declared) known += (known.empty() ? "" : ", ") + to_string(FunctionSignature{nullptr, s.arguments});
    fail(n, fmt::format("{}: no signature takes {}", f.name(), to_string(FunctionSignature{nullptr, types})), {},
         "it was declared for " + known);
  }
  const auto arguments = [&](int k) -> const std::vector<Type>& { return f.declared[static_cast<size_t>(k)].arguments; };
  if (choice.other >= 0 && arguments(choice.best) != arguments(choice.other))
    fail(n,
         fmt::format("{}: ambiguous, {} fits two signatures as well: {} and {}", f.name(), to_string(FunctionSignature{nullptr, types}),
                     to_string(FunctionSignature{nullptr, arguments(choice.best)}),
                     to_string(FunctionSignature{nullptr, arguments(choice.other)})),
         {}, "convert the arguments, or declare a signature for them");
  return f.declared[static_cast<size_t>(choice.best)];
}

/// An inner function of this one that is given away takes along the constants that it reads here.
void FunctionCompiler::note_closure(const Value& v, const Node* n) {
  if (v.is(Kind::choice))
    for (Type function : v.type->items) note_closure(Value::known(function), n);
  const auto found = v.is(Kind::function) ? unit_.inner.find(v.type->object) : unit_.inner.end();
  if (found == unit_.inner.end()) return;
  const FunctionSyntax& inner = *found->second.second;
  if (inner.outer != &syntax_) return;
  std::vector<std::string> names;
  free_names(inner.body, inner, &names);
  for (const std::string& name : names) {
    const int index = syntax_.local_index(name);
    if (index < 0 || name == inner.name) continue;
    const std::optional<Local>& local = env_.locals[static_cast<size_t>(index)];
    const auto key = std::pair<const void*, std::string>(&inner, name);
    const auto known = unit_.closed_over.find(key);
    if (known == unit_.closed_over.end()) {
      if (local && local->constant) unit_.closed_over[key].value = *local->constant;
    } else if (!local || !local->constant || !(*local->constant == known->second.value)) {
      known->second.varies = true;
      if (known->second.used)
        fail(n, fmt::format("'{}' is given away and reads '{}', which has several values", inner.name, name), {}, "pass it as an argument");
    }
  }
}

/// The declared signature of a vectorized function that is used: the first whose arguments the operands cast to, safely or else of the
/// same kind.
const FunctionSignature& FunctionCompiler::loop_for(const Function& f, const std::vector<Value>& operands, const Node* n) {
  const auto element = [](const Value& v) { return v.is_array() ? v.type->element : v.is(Kind::literal) ? int64_type() : v.type; };
  for (const Casting rule : {Casting::safe, Casting::same_kind})
    for (const FunctionSignature& s : f.declared) {
      bool fit = s.arguments.size() == operands.size();
      for (size_t i = 0; fit && i < operands.size(); ++i) {
        const Type from = element(operands[i]);
        fit = from->is_scalar() && s.arguments[i]->is_scalar() && can_cast(from->dtype, s.arguments[i]->dtype, rule);
      }
      if (fit) return s;
    }
  std::string given, known;
  for (const Value& v : operands) given += (given.empty() ? "" : ", ") + element(v)->spelling;
  for (const FunctionSignature& s : f.declared) known += (known.empty() ? "" : ", ") + to_string(FunctionSignature{nullptr, s.arguments});
  fail(n, fmt::format("{}() has no loop for ({})", f.name(), given), {}, "it was declared for " + known);
}

/// A call of a vectorized function: of numbers a number, of arrays a new array, or `out` with the results.
Value FunctionCompiler::map_function(const Function& f, CallArguments args, const Node* n) {
  const size_t nin = f.syntax().parameters.size();
  Value out;
  if (args.positional.size() == nin + 1) {
    out = args.positional.back();
    args.positional.pop_back();
  }
  for (auto& [name, v] : args.keywords) {
    if (name != "out" || out.type)
      fail(n, fmt::format("{}() takes no argument '{}' in compiled functions", f.name(), name), {},
           "pass the operands by position, and out=");
    out = std::move(v);
  }
  if (args.positional.size() != nin)
    fail(n, fmt::format("{}() takes {} operand{}, got {}", f.name(), nin, nin == 1 ? "" : "s", args.positional.size()));
  std::vector<Value> operands;
  for (const Value& v : args.positional) {
    operands.push_back(host() ? array_operand(v, false, f.name(), "operand", n) : v);
    const Value& x = operands.back();
    if (!x.type || (x.type->is_container() && is_incomplete(x.type))) return {};
    if (!x.is_array() && !x.is_scalar() && !x.is(Kind::literal)) fail(n, fmt::format("{}() does not take {}", f.name(), x.type->spelling));
  }
  const FunctionSignature* loop = f.declared.empty() ? nullptr : &loop_for(f, operands, n);
  const auto one = [this, &f, loop, n](std::span<const Value> elements) {
    CallArguments call;
    for (size_t i = 0; i < elements.size(); ++i) {
      call.positional.push_back(loop ? converted(elements[i], loop->arguments[i], n) : elements[i]);
      call.nodes.push_back(n);
    }
    const bool outside = std::exchange(in_map_, true);
    const Value r = call_function(f, f.syntax(), std::move(call), n);
    in_map_ = outside;
    return r;
  };
  const bool arrays = std::any_of(operands.begin(), operands.end(), [](const Value& v) { return v.is_array(); });
  if (!arrays && !out.type) return one(operands);
  Value result = !arrays ? one(operands)
                         : lift(
                               operands,
                               [this, one](std::span<const Value> elements) {
                                 // What it raises leaves the loop as a C++ exception; the variable is the element's own.
                                 if (!host()) return one(elements);
                                 line("int failure = 0;");
                                 ++throws_;
                                 const Value r = one(elements);
                                 --throws_;
                                 return r;
                               },
                               n);
  if (!result.type) return {};
  if (!out.type || out.is_none()) return host() ? bound(materialise(result, n), "mapped") : result;
  if (!out.is_array() || out.lazy) fail(n, fmt::format("{}(): out must be an array, not {}", f.name(), out.type->spelling));
  const Type made = result.is_array() ? result.type->element : result.type;
  if (!out.type->element->is_scalar() || !can_cast(made->dtype, out.type->dtype, Casting::same_kind))
    fail(n, fmt::format("{}(): its results of type {} do not cast to {}", f.name(), made->spelling, out.type->spelling));
  const Value target = bound(out, "out");
  assign_elements(target, result, n);
  return target;
}

/// The values of a function's parameters: what the call gives, then defaults, then the tuple of *args.
std::vector<Value> FunctionCompiler::parameter_values(const Function& f, const FunctionSyntax& syntax, CallArguments args, const Node* n) {
  const std::vector<Parameter>& parameters = syntax.parameters;
  std::vector<Value> values(parameters.size());
  std::vector<bool> given(parameters.size());
  std::vector<Value> rest;
  size_t at = 0;
  for (Value& v : args.positional) {
    while (at < parameters.size() && parameters[at].keyword_only) ++at;
    if (at < parameters.size()) {
      values[at] = std::move(v);
      given[at++] = true;
    } else if (!syntax.rest.empty()) {
      rest.push_back(std::move(v));
    } else {
      fail(n, fmt::format("{}() takes {} arguments, got {}", syntax.name, parameters.size(), args.positional.size()));
    }
  }
  for (auto& [name, v] : args.keywords) {
    size_t i = 0;
    while (i < parameters.size() && parameters[i].name != name) ++i;
    if (i == parameters.size()) {
      std::vector<std::string> names;
      for (const Parameter& p : parameters) names.push_back(p.name);
      fail(n, fmt::format("{}() has no parameter '{}'", syntax.name, name), {}, nearest(name, names));
    }
    if (given[i]) fail(n, fmt::format("{}() got two values for '{}'", syntax.name, name));
    values[i] = std::move(v);
    given[i] = true;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (given[i]) continue;
    if (parameters[i].default_value) {
      values[i] = expression(parameters[i].default_value);
    } else if (const auto e = parameters[i].has_default ? f.default_value(static_cast<int>(i)) : std::nullopt) {
      values[i] = entity_value(*e, parameters[i].name);
    } else {
      fail(n, fmt::format("{}() needs an argument for '{}'", syntax.name, parameters[i].name));
    }
  }
  if (!syntax.rest.empty()) values.push_back(tuple_of(std::move(rest)));
  return values;
}

/// The name that a variable of an inner function has in the functions that the inner function is given to; no name of Python's. The inner
/// functions are numbered as they are met, so that the text is the same in every process.
std::string FunctionCompiler::carried_name(const FunctionSyntax& inner, const std::string& name) {
  return fmt::format("{}@{}", name, unit_.carried_functions.emplace(&inner, unit_.carried_functions.size()).first->second);
}

/// The variable of that name, as it is here.
Value FunctionCompiler::variable_named(std::string name, const Node* n) {
  Node read;
  read.kind = NodeKind::name;
  read.text = std::move(name);
  read.line = n->line, read.column = n->column, read.end_line = n->end_line, read.end_column = n->end_column;
  return this->name(&read);
}

/// Adds the variables that inner functions among the arguments read: who gets such a function may call it.
void FunctionCompiler::carry_variables(std::vector<Value>* values, std::vector<std::string>* captured, const Node* n) {
  const auto is_captured = [&](const std::string& name) { return std::ranges::find(spec_.captured, name) != spec_.captured.end(); };
  const auto carry = [&](Type function) {
    const auto found = function->is(Kind::function) ? unit_.inner.find(function->object) : unit_.inner.end();
    if (found == unit_.inner.end()) return;
    const FunctionSyntax& inner = *found->second.second;
    std::vector<std::string> names;
    free_names(inner.body, inner, &names);
    for (const std::string& name : names) {
      const std::string carried = carried_name(inner, name);
      const int local = inner.outer == &syntax_ ? syntax_.local_index(name) : -1;
      const bool here = local >= 0 && env_.locals[static_cast<size_t>(local)];
      if (name == inner.name || std::ranges::find(*captured, carried) != captured->end()) continue;
      if (!here && !is_captured(carried)) continue;
      // A constant stays one inside: it is noted beside the call.
      const auto known = unit_.closed_over.find({&inner, name});
      const bool varies = known != unit_.closed_over.end() && known->second.varies;
      if (here && env_.locals[static_cast<size_t>(local)]->constant && !varies) continue;
      values->push_back(variable_named(here ? name : carried, n));
      captured->push_back(carried);
    }
  };
  for (size_t i = 0; i < values->size(); ++i) {  // what they read may be such functions too
    const Type t = (*values)[i].type;
    if (t && t->is(Kind::choice))
      std::ranges::for_each(t->items, carry);
    else if (t)
      carry(t);
  }
}

/// Adds the variables around an inner function that it reads, as they are at the call; gives their names.
std::vector<std::string> FunctionCompiler::captured_values(const FunctionSyntax& syntax, std::vector<Value>* values, const Node* n) {
  std::vector<std::string> captured;
  carry_variables(values, &captured, n);
  if (!syntax.outer) return captured;
  std::vector<std::string> names;
  free_names(syntax.body, syntax, &names);
  const bool mine = syntax.outer == &syntax_ || &syntax == &syntax_;
  bool carries = false;
  for (size_t k = 0; k < names.size(); ++k) {
    const std::string name = names[k];
    if (const std::string carried = carried_name(syntax, name); std::ranges::find(spec_.captured, carried) != spec_.captured.end()) {
      captured.push_back(name);
      values->push_back(variable_named(carried, n));
      carries = true;
      continue;
    }
    if (!mine && name == syntax.name) {
      // It calls itself, unless another value got its name.
      std::set<std::string> bound;
      bound_names(syntax.outer->body, &bound);
      if (!bound.contains(name)) {
        captured.push_back(name);
        values->push_back(Value::known(function_type(&syntax, name)));
        continue;
      }
    }
    const bool passed_on = std::find(spec_.captured.begin(), spec_.captured.end(), name) != spec_.captured.end();
    const bool local = passed_on || (&syntax != &syntax_ && syntax.outer->local_index(name) >= 0);
    if (!local) continue;
    if (const auto known = unit_.closed_over.find({&syntax, name});
        !mine && !passed_on && known != unit_.closed_over.end() && !known->second.varies) {
      known->second.used = true;
      captured.push_back(name);
      values->push_back(constant_value(known->second.value));
      continue;
    }
    if (!mine && !passed_on)
      fail(n, fmt::format("'{}' reads '{}' of the function around it, so it can only be called there", syntax.name, name));
    // A function that calls itself is no variable.
    Value v = variable_named(name, n);
    if (v.is(Kind::function) && v.type->object == &syntax) {
      captured.push_back(name);
      values->push_back(Value::known(v.type));
      continue;
    }
    // What an inner function that is called there reads goes along.
    if (const auto called = v.is(Kind::function) ? unit_.inner.find(v.type->object) : unit_.inner.end(); called != unit_.inner.end()) {
      std::vector<std::string> more;
      free_names(called->second.second->body, *called->second.second, &more);
      for (std::string& m : more)
        if (std::find(names.begin(), names.end(), m) == names.end()) names.push_back(std::move(m));
    }
    captured.push_back(name);
    values->push_back(std::move(v));
  }
  if (carries) carry_variables(values, &captured, n);
  return captured;
}

Value FunctionCompiler::call_function(const Function& f, const FunctionSyntax& syntax, CallArguments args, const Node* n) {
  if (f.elementwise && !std::exchange(in_map_, false)) return map_function(f, std::move(args), n);
  const std::vector<const Node*> nodes = args.nodes;
  std::vector<Value> values = parameter_values(f, syntax, std::move(args), n);
  const std::vector<std::string> captured = captured_values(syntax, &values, n);
  for (const Value& v : values) note_closure(v, n);
  std::vector<Type> types;
  for (Value& v : values) {
    if (v.lazy && host()) v = bound(materialise(v, n));
    if (host()) v = made(v, nullptr, n);
    if (is_passing(v)) fail(n, fmt::format("{}() cannot be an argument of a compiled function", v.type->name), {}, "pass list(…) of it");
    if (!v.type || (v.type->is_container() && is_incomplete(v.type))) return {};
    if (v.lazy) fail(n, fmt::format("an array expression cannot be an argument: it would need memory for a new {}", v.type->spelling));
    types.push_back(v.type);
  }
  if (!f.declared.empty() && captured.empty()) types = declared_for(f, types, n).arguments;

  unit_.trail.push_back(fmt::format("{}:{}, in {}", syntax_.file, n->line, syntax_.name));
  Specialised* s = nullptr;
  try {
    s = &unit_.specialise(f, syntax, types, captured);
  } catch (const Error& e) {
    // Some functions need to know an integer (a tuple's index, an extent): those that are constants here go along in the types.
    bool any = false;
    std::vector<Type> with_values = types;
    for (size_t i = 0; i < values.size(); ++i)
      if (const Type t = literal_form(values[i]); t != types[i]) with_values[i] = t, any = true;
    if (const auto* needed = dynamic_cast<const LiteralNeeded*>(&e); needed && !any && needed->parameter < nodes.size())
      need_literal(nodes[needed->parameter], n);
    if (!any || e.kind() != ErrorKind::Typing) throw;
    try {
      s = &unit_.specialise(f, syntax, with_values, captured);
    } catch (const Error& known) {
      // Where the values cured the first fault, the next one is what the user must see.
      const auto first_line = [](std::string_view text) { return text.substr(0, text.find('\n')); };
      if (first_line(known.what()) != first_line(e.what())) throw;
      throw e;
    }
    types = with_values;
  }
  unit_.trail.pop_back();
  if (s->fails && protections_.empty() && !throws()) fails_ = true;
  if (!s->result) return {};

  Code text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!types[i]->has_value()) continue;
    Code argument = convert(values[i], types[i], n);
    // The function may take a reference: to a variable or to a copy, but not to an element or a field, which may be bound again meanwhile.
    if (is_counted(types[i]) && !values[i].simple) argument = code("{}({})", cpp(types[i]), argument);
    text += (text.empty() ? "" : ", ") + argument;
  }
  for (int i : s->captures) {
    captures_.insert(i);
    text += (text.empty() ? "" : ", ") + unit_.captures_[static_cast<size_t>(i)].text;
  }
  if (s->fails) {
    text += text.empty() ? "failure" : ", failure";
    needs_failure_ = true;
  }
  if (unit_.options.check) text += text.empty() ? "bc_checker" : ", bc_checker";
  Value r = Value::of(s->result, code("{}({})", Code(s->name).with(Facts({Mention::Kind::call, reinterpret_cast<uintptr_t>(s)})), text));
  r.note(kActs);
  if (syntax.yields) r.started = s, r.items = {Value::of(nullptr, text)};
  if (s->result->is(Kind::generator)) {
    if (syntax.outer == &syntax_) r.later = captured;
    for (const Value& v : values) read_later(v, &r.later);
  }
  if (s->result->is_scalar() && (is_unsigned(s->result->dtype) || is_bool(s->result->dtype))) r.non_negative = true;
  if (s->fails) {
    if (s->result->has_value()) {
      r = spill(r);
    } else {
      line(r.text + ";");
      r.text = Code();
    }
    pass_failure();
  }
  return r;
}

Value FunctionCompiler::cast_to(Type to, const Value& v, const Node* n) {
  if (v.is_array() && v.type->ndim > 0) return lift({v}, [this, to, n](std::span<const Value> x) { return cast_to(to, x[0], n); }, n);
  if (v.is_array()) return cast_to(to, subscript_of(v, tuple_of({}), n), n);
  if (v.is(Kind::optional)) return to == bool_type() ? truth(v, n) : cast_to(to, converted(v, v.type->element, n), n);
  if (to == bool_type() &&
      (v.is(Kind::tuple) || is_characters(v.type) || v.is(Kind::string) || v.is(Kind::text) || v.is(Kind::none) || v.type->is_container()))
    return truth(v, n);
  if (v.is(Kind::instance)) {
    if (to == bool_type()) return truth(v, n);
    for (const char* method : {is_integer(to->dtype) ? "int" : is_complex(to->dtype) ? "complex" : "float", "index"})
      if (auto r = instance_operator(method, {v}, n)) return cast_to(to, *r, n);
  }
  if (v.is(Kind::time) || to->is(Kind::time)) return cast_time(to, v, n);
  if (!v.is_scalar() && !v.is(Kind::literal)) fail(n, fmt::format("{} does not convert to {}", v.type->spelling, to->spelling));
  if (v.is_scalar() && v.constant && to->is_scalar()) {
    // int(2.5) of a constant is one.
    if (to == int64_type())
      if (const auto* d = std::get_if<double>(&v.constant->value); d && std::fabs(*d) < 9e18)
        return constant_value(Constant{static_cast<int64_t>(*d)});
  }
  return converted(v, to, n);
}

namespace {

/// The arguments of complex() by position, where they are Python's.
CallArguments parts_by_position(CallArguments args, const Value& zero) {
  std::vector<Value> parts = args.positional;
  if (parts.size() > 2) return args;
  parts.resize(2);
  for (const auto& [name, v] : args.keywords) {
    if ((name != "real" && name != "imag") || parts[name == "imag"].type) return args;
    parts[name == "imag"] = v;
  }
  if (!parts[0].type) parts[0] = zero;
  if (!parts[1].type) parts.pop_back();
  args.positional = std::move(parts);
  args.keywords.clear();
  return args;
}

}  // namespace

/// A complex number of a class from its parts. Python's complex of two float32 is complex64, as in Numba.
Value FunctionCompiler::complex_of(Type t, const Value& re, const Value& im, const Node* n) {
  if (!re.is_scalar() || !im.is_scalar()) fail(n, "complex() takes two numbers");
  const bool narrow = t->name == "complex" && re.type->dtype == DType::f32 && im.type->dtype == DType::f32;
  const Type made = narrow ? scalar_type(DType::c64) : t->element, part = scalar_type(real_type(made->dtype));
  return Value::of(made, code("{}({}, {})", cpp(made), convert(re, part, n), convert(im, part, n)));
}

/// float(x), np.int32(x) and what else makes a number of one, or casts an array.
Value FunctionCompiler::number_of_class(Type t, CallArguments args, const Node* n) {
  const Type to = t->element;
  if (t->name == "complex" && !args.keywords.empty()) args = parts_by_position(std::move(args), constant_value(Constant{int64_t{0}}));
  if (to->is(Kind::record)) fail(n, "a record cannot be made in a compiled function", {}, "write the fields of one that is there");
  if (to->is(Kind::time) && !(args.positional.size() == 1 && args.positional[0].is_array())) return time_of_class(to, args, n);
  if (!args.keywords.empty()) fail(n, fmt::format("{}() takes no keyword arguments here", to->spelling));
  if (args.positional.empty()) return converted(constant_value(Constant{int64_t{0}}), to, n);
  if (args.positional.size() == 2 && is_complex(to->dtype)) return complex_of(t, args.positional[0], args.positional[1], n);
  if (args.positional.size() != 1) fail(n, fmt::format("{}() takes one number, got {}", to->spelling, args.positional.size()));
  Value v = args.positional[0];
  if (v.is(Kind::literal)) v = converted(v, int64_type(), n);
  if (v.is(Kind::string) && is_real_float(to->dtype)) {
    // float("nan"), float("-inf"): the text is known.
    char* end = nullptr;
    const double value = std::strtod(v.type->name.c_str(), &end);
    if (end != v.type->name.c_str() && *end == 0) return converted(constant_value(Constant{value}), to, n);
    fail(n, fmt::format("{}() does not take the text '{}'", to->spelling, v.type->name), {{source_of(args.nodes[0]), v.type}});
  }
  // int() and float() keep the width of what is one already, as in Numba.
  if (v.is_scalar() && ((t->name == "int" && is_integer(v.type->dtype)) || (t->name == "float" && is_real_float(v.type->dtype)) ||
                        (t->name == "complex" && is_complex(v.type->dtype)))) {
    v.of_numpy = false;
    return v;
  }
  const bool python = t->name == "int" || t->name == "float" || t->name == "complex" || t->name == "bool";
  if (t->name == "bool" && is_bytes(v.type)) return truth(v, n);
  if (python && v.is_array() && v.type->ndim > 0)
    fail(n, fmt::format("{}() does not take {}", t->name, v.type->spelling), {},
         t->name == "bool" ? "use .any() or .all()" : "take one element of it, or convert all with .astype()");
  if (!python && host() && (v.is(Kind::tuple) || v.is(Kind::list)))
    return call_builtin("numpy.array", {{v, Value::known(dtype_type(to))}, {n, n}, {}}, n);
  if (!python && (v.is(Kind::tuple) || v.is(Kind::string) || v.is(Kind::text) || v.type->is_container()))
    fail(n, fmt::format("numpy.{}() takes one number or an array in compiled functions, not {}", to->spelling, v.type->spelling), {},
         "make an array with numpy.array(…, dtype)");
  // Which integer stands for NaN and what does not fit is not defined, so nothing is looked at.
  const bool plain = host() && t->name == "int" && to == int64_type() && v.is_scalar() && !v.constant &&
                     (v.type->dtype == DType::f64 || v.type->dtype == DType::f32);
  Value made = plain ? Value::of(to, code("static_cast<i64>({})", v.text)) : cast_to(to, v, n);
  made.of_numpy = false;
  return made;
}

/// A named tuple or a record of the values of its fields.
Value FunctionCompiler::fields_of_class(Type t, const CallArguments& args, const Node* n) {
  const Type proto = t->element;
  std::vector<Value> items(proto->items.size());
  std::vector<bool> given(items.size());
  if (args.positional.size() > items.size())
    fail(n, fmt::format("{}() takes {} arguments, got {}", t->name, items.size(), args.positional.size()));
  for (size_t i = 0; i < args.positional.size(); ++i) items[i] = args.positional[i], given[i] = true;
  for (auto& [name, v] : args.keywords) {
    const auto it = std::find(proto->fields.begin(), proto->fields.end(), name);
    if (it == proto->fields.end()) fail(n, fmt::format("{}() has no field '{}'", t->name, name), {}, nearest(name, proto->fields));
    const size_t i = static_cast<size_t>(it - proto->fields.begin());
    items[i] = v, given[i] = true;
  }
  for (size_t i = 0; i < items.size(); ++i)
    if (!given[i]) fail(n, fmt::format("{}() needs a value for '{}'", t->name, proto->fields[i]));
  if (proto->is_tuple()) {
    Value v = tuple_of(std::move(items));
    if (!v.type) return {};
    v.type = named_tuple_type(proto->object, proto->name, proto->fields, v.type->items);
    return v;
  }
  Code text;
  for (size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + convert(items[i], proto->items[i], n);
  return Value::of(proto, code("{}{{{}}}", cpp(proto), text));
}

/// np.nditer: the elements of an array, or tuples of those of several that are broadcast.
Value FunctionCompiler::elements_in_turn(const Value& arrays, const Node* n) {
  const auto flat = [&](const Value& a) { return bound(*host_method(a, "ravel", {}, n), "v"); };
  if (arrays.is_array()) return flat(arrays);
  if (!arrays.is(Kind::tuple)) fail(n, "numpy.nditer() takes an array or a tuple of them", {{source_of(n), arrays.type}});
  const Value together = spill(call_builtin("numpy.broadcast_arrays", {index_items(arrays), {}, {}}, n));
  CallArguments each;
  for (size_t i = 0; i < arrays.type->items.size(); ++i) each.positional.push_back(flat(tuple_item(together, i)));
  return call_builtin("builtins.zip", std::move(each), n);
}

Value FunctionCompiler::call_class(Type t, CallArguments args, const Node* n) {
  if (t->is(Kind::type) && (t->name == "iinfo" || t->name == "finfo") && args.positional.size() == 1) {
    Value limits = Value::known(builtin_type("numpy." + t->name));
    const Value& v = args.positional[0];
    const Type of = v.is(Kind::dtype) ? v.type->element : v.is(Kind::string) ? type_from_name(v.type->name) : v.type;
    if (!of || !of->is_scalar()) fail(n, fmt::format("numpy.{}() takes a dtype or a number, not {}", t->name, v.type->spelling));
    limits.items = {Value::known(dtype_type(of))};
    return limits;
  }
  if (t->is(Kind::dtype) && t->name == "int" && args.positional.size() == 1 && args.keywords.size() == 1 &&
      args.keywords[0].first == "base")
    args.positional.push_back(std::exchange(args.keywords, {})[0].second);
  const bool fields = t->element && (t->element->is_tuple() || t->element->is(Kind::record) || t->element->is(Kind::instance));
  const bool parts = t->is(Kind::dtype) && t->name == "complex";
  if (!fields && !parts && !args.keywords.empty())
    fail(n,
         fmt::format("{}() takes no argument '{}' in compiled functions", t->name.empty() ? t->spelling : t->name, args.keywords[0].first));
  if (t->is(Kind::dtype) && (t->name == "int" || t->name == "float"))
    if (auto r = text_class(t->name, args, n)) return *r;
  if (host() && t->is(Kind::type) && t->element && t->element->is(Kind::instance)) return new_instance(t->element, std::move(args), n);
  if (host() && t->is(Kind::type)) {
    if (t->name == "str")
      if (auto r = text_class("str", args, n)) return *r;
    if (t->name == "bytes") return new_bytes(args, n);
    if (t->name == "nditer" && args.positional.size() == 1) return elements_in_turn(args.positional[0], n);
    if (t->name == "ndenumerate" || t->name == "ndindex") {
      Value walk = Value::known(builtin_type(t->name));
      walk.items = args.positional.size() == 1 && args.positional[0].is(Kind::tuple) ? index_items(args.positional[0]) : args.positional;
      for (Value& v : walk.items) v = v.is_array() ? bound(materialise(v, n)) : spill(converted(v, int64_type(), n));
      return walk;
    }
    for (const char* container : {"list", "set", "frozenset", "dict"})
      if (t->name == container) return call_container(t->name, args, n);
  }
  if (t->is(Kind::dtype)) return number_of_class(t, std::move(args), n);
  if (t->element && (t->element->is_tuple() || t->element->is(Kind::record))) return fields_of_class(t, args, n);
  fail(n, fmt::format("objects of the class {} cannot be made in a compiled function", t->name), {}, instead_of_class(t->name));
}

}  // namespace bc::kernels
