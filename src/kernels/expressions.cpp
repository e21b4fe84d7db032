// Expressions: names, attributes, operators, comparisons. See compiler.h for the method.
#include <array>
#include <cmath>
#include <limits>

#include "kernels/compiler.h"
#include "kernels/rows.h"
#include "primitives/ops.h"

namespace bc::kernels {
namespace {

/// The library function of an arithmetic operator.
const char* function_of(Operator op) {
  switch (op) {
    case Operator::add: return "add";
    case Operator::sub: return "subtract";
    case Operator::mul: return "multiply";
    case Operator::div: return "divide";
    case Operator::floor_div: return "floor_divide";
    case Operator::mod: return "remainder";
    case Operator::pow: return "power";
    case Operator::left_shift: return "left_shift";
    case Operator::right_shift: return "right_shift";
    case Operator::bit_or: return "bitwise_or";
    case Operator::bit_xor: return "bitwise_xor";
    case Operator::bit_and: return "bitwise_and";
    case Operator::eq: return "equal";
    case Operator::ne: return "not_equal";
    case Operator::lt: return "less";
    case Operator::le: return "less_equal";
    case Operator::gt: return "greater";
    case Operator::ge: return "greater_equal";
    default: return "";
  }
}

bool is_bitwise(Operator op) { return op >= Operator::left_shift && op <= Operator::bit_and; }

/// Python's result for two integer constants; nullopt where it does not fit or is an error.
bool has_starred(const Node* display) {
  return std::any_of(display->list.begin(), display->list.end(), [](const Node* k) { return k->kind == NodeKind::starred; });
}

std::optional<int64_t> fold(Operator op, int64_t a, int64_t b) {
  int64_t r = 0;
  switch (op) {
    case Operator::add: return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Operator::sub: return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Operator::mul: return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Operator::floor_div:
    case Operator::mod: {
      if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
      int64_t q = a / b, m = a % b;
      if (m != 0 && (m < 0) != (b < 0)) --q, m += b;
      return op == Operator::mod ? m : q;
    }
    case Operator::pow: {
      if (b < 0) return std::nullopt;
      r = 1;
      for (int64_t i = 0; i < b; ++i)
        if (i > 64 || __builtin_mul_overflow(r, a, &r)) return std::nullopt;
      return r;
    }
    case Operator::left_shift:
      return b < 0 || b > 62 || std::llabs(a) > (INT64_MAX >> b) ? std::nullopt : std::optional(a * (int64_t{1} << b));
    case Operator::right_shift: return b < 0 ? std::nullopt : std::optional(a >> std::min<int64_t>(b, 63));
    case Operator::bit_and: return a & b;
    case Operator::bit_or: return a | b;
    case Operator::bit_xor: return a ^ b;
    default: return std::nullopt;
  }
}

std::optional<bool> fold_compare(Operator op, int64_t a, int64_t b) {
  switch (op) {
    case Operator::eq:
    case Operator::is: return a == b;
    case Operator::ne:
    case Operator::is_not: return a != b;
    case Operator::lt: return a < b;
    case Operator::le: return a <= b;
    case Operator::gt: return a > b;
    case Operator::ge: return a >= b;
    default: return std::nullopt;
  }
}

std::optional<double> real_of(const Value& v) {
  if (!v.constant) return std::nullopt;
  if (const auto* d = std::get_if<double>(&v.constant->value)) return *d;
  if (const auto* i = v.constant->integer()) return static_cast<double>(*i);
  return std::nullopt;
}

}  // namespace

const char* to_string(Operator op) {
  constexpr const char* text[] = {"+", "-", "*",  "/",  "//", "%",  "**", "@",  "<<", ">>",     "|",  "^",      "&",   "~", "not",
                                  "+", "-", "==", "!=", "<",  "<=", ">",  ">=", "is", "is not", "in", "not in", "and", "or"};
  return text[static_cast<int>(op)];
}

/// Notes whether values of the type are C++ numbers.
void FunctionCompiler::note_type(Type t) {
  if (!t || !t->has_value() || t->is(Kind::literal)) return;
  spec_.only_numbers &= t->is_scalar() && !is_complex(t->dtype) && !is_small_float(t->dtype);
}

Value FunctionCompiler::expression(const Node* n) {
  Value v = expression_of(n);
  if (!v.is(Kind::tuple) || v.items.empty()) note_type(v.type);  // the items of a display were noted
  return v;
}

Value FunctionCompiler::expression_of(const Node* n) {
  switch (n->kind) {
    case NodeKind::constant: return constant_value(n->literal);
    case NodeKind::bytes: {
      Entity e;
      e.type = bytes_type();
      e.array = std::make_shared<ConstantArray>(
          ConstantArray{{static_cast<int64_t>(n->text.size())}, std::vector<char>(n->text.begin(), n->text.end())});
      return entity_value(e, "bytes");
    }
    case NodeKind::ellipsis: return Value::known(ellipsis_type());
    case NodeKind::name: return name(n);
    case NodeKind::attribute: return attribute(n);
    case NodeKind::subscript: return subscript(n);
    case NodeKind::call: return with_bounds(call(n));
    case NodeKind::binary: {
      const std::vector<Value> v = ordered({n->a, n->b});
      return binary(n->op, v[0], v[1], n);
    }
    case NodeKind::unary: {
      if (n->op == Operator::logical_not) {
        std::optional<bool> known;
        const Code test = condition(n->a, &known);
        if (known) return constant_value(Constant{!*known});
        return Value::of(bool_type(), code("!({})", test));
      }
      return unary(n->op, expression(n->a), n);
    }
    case NodeKind::boolean: return boolean(n);
    case NodeKind::compare: return compare(n);
    case NodeKind::if_else: return if_else(n);
    case NodeKind::tuple: return has_starred(n) ? starred_display(n) : tuple_of(ordered({n->list.begin(), n->list.end()}));
    case NodeKind::list: return list_of(n);
    case NodeKind::slice: return slice(n);
    case NodeKind::lambda: return inner_function(n);
    case NodeKind::walrus: {
      Value v = expression(n->a);
      assign_name(n->text, v, n);
      Node read = *n;
      read.kind = NodeKind::name;
      Value r = name(&read);
      r.note(kReads);  // must be read before it is bound again
      return r;
    }
    case NodeKind::comprehension: return comprehension(n);
    case NodeKind::formatted: return formatted_text(n);
    case NodeKind::set: return has_starred(n) ? collected("set", starred_display(n), nullptr, n) : table_display(n);
    case NodeKind::dict: return table_display(n);
    case NodeKind::yield: return yield_expression(n);
    default:
      fail(n, fmt::format("{} is not supported in compiled functions", n->text.empty() ? "this expression" : n->text), {},
           instead_of(n->text));
  }
}

/// Puts into a variable what another value's evaluation may change: what reads memory that is written, and, where `acts` is set or the
/// other raises, what does something itself.
void FunctionCompiler::settle(Value* v, bool acts) {
  if (!v->type || v->lazy) return;
  if (v->is(Kind::tuple) && !v->items.empty()) {
    for (Value& item : v->items) settle(&item, acts);
    return;
  }
  if (v->type->has_value() && v->items.empty() && (v->acts() || (acts && v->reads()))) *v = spill(*v);
}

/// Python evaluates in order: a value that acts or not, with the statements that it needed from the line `place` on, comes behind the
/// earlier ones.
void FunctionCompiler::settle(size_t place, bool acts, std::span<Value* const> earlier) {
  if (!acts && out_.size() == place) return;
  const Block after = out_.cut(place);
  acts |= after.facts().has(kActs);
  if (acts || after.facts().has(kRaises | kReads))  // what reads comes behind what acts
    for (Value* v : earlier) settle(v, acts);
  out_ += after;
}

/// Evaluates operands from left to right.
std::vector<Value> FunctionCompiler::ordered(const std::vector<const Node*>& nodes) {
  std::vector<Value> values;
  for (const Node* n : nodes) {
    const size_t place = out_.size();
    Value v = expression(n);
    if (host() && v.type && v.is_none() && v.acts()) {
      // None has no text to carry what is done on the way to it.
      perform(v);
      v = Value::known(none_type());
    }
    std::vector<Value*> earlier;
    for (Value& before : values) earlier.push_back(&before);
    settle(place, v.acts(), earlier);
    values.push_back(std::move(v));
  }
  return values;
}

/// Evaluates a value that nobody takes, for what that does.
void FunctionCompiler::perform(const Value& v) {
  if (!v.acts()) return;
  if (!v.text.empty()) return line(v.text + ";");
  for (const Value& item : v.items) perform(item);
}

Value FunctionCompiler::constant_value(const Constant& c) {
  Value v;
  v.constant = std::make_shared<Constant>(c);
  v.simple = true;
  if (std::holds_alternative<std::monostate>(c.value)) {
    v.type = none_type();
  } else if (const auto* b = c.boolean()) {
    v.type = bool_type();
    v.non_negative = true;
    v.text = *b ? "true" : "false";
  } else if (const auto* i = c.integer()) {
    v.type = int64_type();
    v.text = literal(c, v.type);
    v.non_negative = *i >= 0;
    v.index = *i > -(int64_t{1} << 31) && *i < (int64_t{1} << 31);
  } else if (std::holds_alternative<uint64_t>(c.value)) {
    v.type = scalar_type(DType::u64);
    v.text = literal(c, v.type);
    v.non_negative = true;
  } else if (std::holds_alternative<double>(c.value)) {
    v.type = float64_type();
    v.text = literal(c, v.type);
  } else if (std::holds_alternative<std::complex<double>>(c.value)) {
    v.type = scalar_type(DType::c128);
    v.text = literal(c, v.type);
  } else if (const auto* s = c.string()) {
    v.type = string_type(*s);
  } else {
    std::vector<Value> items;
    for (const Constant& item : std::get<ConstantTuple>(c.value)) items.push_back(constant_value(item));
    v = tuple_of(std::move(items));
  }
  return v;
}

Value FunctionCompiler::entity_value(const Entity& e, std::string_view name) {
  if (!e.items.empty()) {
    std::vector<Value> items;
    for (const Entity& item : e.items) items.push_back(entity_value(item, name));
    return tuple_of(std::move(items));
  }
  if (e.constant && e.type && e.type->is(Kind::time)) return time_constant(*e.constant->integer(), e.type);
  if (e.address) {
    if (!host()) fail(nullptr, fmt::format("'{}' is a numpy.random.Generator, which only functions for the CPU can use", name));
    Value v = Value::of(e.type, code("static_cast<{}>({})", cpp(e.type), unit_.address(e.address)));
    v.simple = true;
    return v;
  }
  if (e.captured && unit_.options.captures) {
    const int number = unit_.capture(e, name);
    captures_.insert(number);
    captured_names_[std::string(name)] = number;
    Unit::Capture& c = unit_.captures_[static_cast<size_t>(number)];
    if (emitting_) ++c.uses;
    Value v = Value::of(e.type, c.text);
    v.simple = true;
    v.root = v.text.name();
    return v;
  }
  if (e.captured && e.frozen) return entity_value(e.frozen(), name);
  if (e.captured) return Value::known(object_type(e.captured.get(), std::string(name)));
  if (e.array) {
    if (e.type->ndim == 0) return constant_value(e.constant ? *e.constant : Constant{int64_t{0}});
    unit_.need("core");
    const Code table = unit_.table(e.type->element, *e.array);
    Code shape, strides;
    int64_t stride = e.type->element->bytes;
    std::vector<int64_t> all(e.array->shape.size());
    for (size_t i = all.size(); i-- > 0; stride *= e.array->shape[i]) all[i] = stride;
    for (size_t i = 0; i < all.size(); ++i) {
      shape += code("{}{}", i ? ", " : "", e.array->shape[i]);
      strides += code("{}{}", i ? ", " : "", all[i]);
    }
    const Type t = is_bytes(e.type) && !host() ? array_type(e.type->element, 1, 'C', true, Space::constant) : e.type;
    return Value::of(t, code("{}{{{}, {{{{{}}}}}, {{{{{}}}}}}}", cpp(t), table, shape, strides));
  }
  if (e.constant) {
    Value v = constant_value(*e.constant);
    // A NumPy scalar keeps its type.
    if (e.type && v.is_scalar() && e.type != v.type) {
      const auto c = v.constant;
      v = converted(v, e.type, nullptr);
      v.constant = c;
    }
    if (e.type && e.type->is_tuple() && !e.type->fields.empty()) v.type = e.type;
    return v;
  }
  if (e.type->is(Kind::builtin) && !e.type->object) return builtin_value(e.type->name, nullptr);
  return Value::known(e.type);
}

/// A function that the compiler knows, or the value of a row that is an attribute (cuda.threadIdx.x).
Value FunctionCompiler::builtin_value(const std::string& name, const Node* n) {
  const auto& rows = rows_of(name);
  if (rows.size() == 1 && (rows[0]->flags & kValue)) {
    Value v = *call_row(name, {}, n);
    v.simple = true;
    return v;
  }
  return Value::known(builtin_type(name));
}

Value FunctionCompiler::name(const Node* n) {
  int index = syntax_.local_index(n->text);
  if (index < 0)
    for (size_t i = 0; i < spec_.captured.size(); ++i)
      if (spec_.captured[i] == n->text) index = static_cast<int>(syntax_.locals.size() + i);
  if (index >= 0) {
    const std::optional<Local>& l = env_.locals[static_cast<size_t>(index)];
    if (!l) {
      // An earlier turn of the loop may have bound it: the next walk of the loop knows.
      if (!emitting_ && !loops_.empty()) return {};
      fail(n, fmt::format("'{}' is read before it has a value", n->text));
    }
    if (l->conflict)
      fail(n, fmt::format("'{}' has types that do not unify where paths of the program meet", n->text),
           {{"on one path", l->type}, {"on another", l->conflict}}, "use two names");
    if (l->maybe_undefined && host()) {
      if (!emitting_) unbound_reads_.insert(index);
      if (!emitting_ || asks_whether_bound(index))
        fail_if(code("!has_{}", index), "UnboundLocalError",
                fmt::format("cannot access local variable '{}' where it is not associated with a value", n->text), n);
    }
    if (!l->type) return Value{};
    Value v = Value::of(l->type, l->type->has_value() ? variable(index, l->type) : "");
    if (l->there && l->type->is(Kind::optional)) v = Value::of(l->type->element, code("{}.value", v.text));
    v.simple = true;
    v.non_negative = l->non_negative;
    v.least = l->least;
    v.index = l->index;
    v.several = l->several;
    v.of_numpy = l->of_numpy;
    v.constant = l->constant;
    if (v.is_array()) v.root = v.text.name();
    if (v.is_array() && v.type->space == Space::local) v.text = v.text.with(kThreadArray);
    if (emitting_ && static_cast<size_t>(index) < uses_.size()) ++uses_[static_cast<size_t>(index)];
    if (l->maybe_undefined && checks_variable(l->type)) {
      v.text = code("py::set_value(bc_checker, {}, {})", site(n, n->text), v.text);
      return spill(v, "set");
    }
    return with_bounds(v);
  }
  std::optional<Entity> entity;
  try {
    entity = function_.global(n->text);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Typing) throw;
    fail(n, e.what());  // what it is cannot be used: say where
  }
  if (entity) return entity_value(*entity, n->text);
  // A function that is compiled for a signature has no name yet.
  if (n->text == function_.name()) return Value::known(function_type(&function_, n->text));
  std::vector<std::string> known = function_.names(nullptr);
  known.insert(known.end(), syntax_.locals.begin(), syntax_.locals.end());
  fail(n, fmt::format("name '{}' is not defined", n->text), {}, nearest(n->text, known));
}

Value FunctionCompiler::attribute(const Node* n) {
  const Value object = expression(n->a);
  if (object.is_array() && (n->text == "shape" || n->text == "size" || n->text == "ndim" || n->text == "dtype" || n->text == "strides"))
    note_read(n->a);
  return attribute_of(object, n->text, n);
}

/// The name in `array` was used in a way that cannot write.
void FunctionCompiler::note_read(const Node* array) {
  if (!emitting_ || array->kind != NodeKind::name) return;
  const int index = syntax_.local_index(array->text);
  if (index >= 0 && static_cast<size_t>(index) < reads_.size()) ++reads_[static_cast<size_t>(index)];
  if (index < 0)
    if (const auto found = captured_names_.find(array->text); found != captured_names_.end())
      ++unit_.captures_[static_cast<size_t>(found->second)].reads;
}

/// An attribute of what exists only at compile time: a module's function, np.iinfo(t), x.flags, x.ctypes.
Value FunctionCompiler::builtin_attribute(const Value& object, const std::string& name, const Node* n) {
  if (!object.items.empty() && (object.type->name == "numpy.iinfo" || object.type->name == "numpy.finfo"))
    return number_limit(object.items[0].type->element, name, n);
  if (!object.items.empty() && object.type->name == "ctypes" && name == "data")
    return Value::of(int64_type(), code("reinterpret_cast<i64>({})", object.items[0].text));
  if (!object.items.empty() && object.type->name == "flags") {
    // Those of the type are known when the function is compiled; an array of layout A, or of one row, may happen to be contiguous.
    const Type a = object.items[0].type;
    const bool c = a->layout == 'C', f = a->layout == 'F' || (c && a->ndim < 2);
    if (name == "writeable") return constant_value(Constant{!a->read_only});
    if (name == "typed_c_contiguous") return constant_value(Constant{c});
    if (name == "typed_f_contiguous") return constant_value(Constant{f});
    if (name == "c_contiguous" || name == "f_contiguous" || name == "contiguous") {
      const bool wants_f = name[0] == 'f';
      if (!host()) return constant_value(Constant{wants_f ? f : c});
      if (wants_f ? f : c || (a->layout == 'F' && a->ndim < 2)) return constant_value(Constant{true});
      return *call_python("array.contiguous", {{object.items[0], constant_value(Constant{wants_f})}, {n, n}, {}}, n);
    }
    fail(n, fmt::format("flags have no attribute '{}' in compiled functions", name), {},
         nearest(name, {"c_contiguous", "f_contiguous", "contiguous", "writeable"}));
  }
  const std::string full = object.type->name + "." + name;
  const std::vector<std::string> known = known_names();
  for (const std::string& k : known)
    if (k == full || k.starts_with(full + ".")) return builtin_value(full, n);
  std::vector<std::string> members;
  for (const std::string& k : known)
    if (k.starts_with(object.type->name + ".")) members.push_back(k.substr(object.type->name.size() + 1));
  const bool of_ufunc = members.empty() && object.type->name.starts_with("numpy.");
  fail(n, fmt::format("{} has no attribute '{}' that compiled functions can use", object.type->name, name), {},
       of_ufunc ? instead_of_call(name) : nearest(name, members));
}

/// An attribute of a member that is known at run time only: that of the one whose place it has.
Value FunctionCompiler::member_attribute(const Value& member, const std::string& name, const Node* n) {
  const Value cls = Value::known(class_type(member.type->object, member.type->name)), place = member.simple ? member : spill(member);
  const auto of = [&](size_t i) { return attribute_of(attribute_of(cls, member.type->fields[i], n), name, n); };
  Type t = nullptr;
  for (size_t i = 0; i < member.type->fields.size(); ++i) {
    t = unify(t, stored_type(of(i).type));
    if (!t || !t->has_value())
      fail(n, fmt::format("the members of {} have no attribute '{}' of one type", member.type->name, name),
           {{source_of(n->a), member.type}});
  }
  Code chosen = convert(of(member.type->fields.size() - 1), t, n);
  for (size_t i = member.type->fields.size() - 1; i-- > 0;) {
    const Code test = operation(place.text, "==", literal(Constant{static_cast<int64_t>(i)}, int64_type()));
    chosen = choice(test, convert(of(i), t, n), chosen);
  }
  return Value::of(t, chosen);
}

Value FunctionCompiler::attribute_of(const Value& object, const std::string& name, const Node* n) {
  if (!object.type) return {};
  if (host() && object.type->has_value())
    if (auto r = overloaded_member("_ATTRIBUTES", object, name, {}, n)) return *r;
  switch (object.type->kind) {
    case Kind::module:
    case Kind::object:
    case Kind::type:
    case Kind::dtype:
    case Kind::function: {
      if (object.is(Kind::dtype) && name == "type") return object;
      if (object.is(Kind::dtype) && name == "itemsize" && object.type->name.empty() && object.type->element->bytes)
        return constant_value(Constant{int64_t{object.type->element->bytes}});
      if (object.type->object) try {
          if (const auto e = function_.attribute(object.type, name)) return entity_value(*e, name);
        } catch (const Error& e) {
          if (e.kind() != ErrorKind::Typing || std::string_view(e.what()).find('\n') != std::string_view::npos) throw;
          fail(n, e.what());
        }
      fail(n, fmt::format("{} has no attribute '{}' that compiled functions can use", object.type->spelling, name), {},
           nearest(name, object.type->object && !object.is(Kind::function) ? function_.names(object.type) : std::vector<std::string>{}));
    }
    case Kind::builtin: return builtin_attribute(object, name, n);
    case Kind::slice:
      for (size_t k = 0; k < 3; ++k)
        if (name == std::array{"start", "stop", "step"}[k]) return object.items[k];
      break;
    case Kind::array: return array_attribute(object, name, n);
    case Kind::pointer:
      if (name == "data" && object.type != random_generator_type())  // of x.ctypes
        return Value::of(int64_type(), code("reinterpret_cast<i64>({})", object.text));
      if (object.type == random_generator_type() && function_.stand_in("generator." + name)) {
        Value m = Value::known(builtin_type("generator." + name));
        m.items = {object};
        return m;
      }
      break;
    case Kind::instance: return instance_attribute(object, name, n);
    case Kind::optional:
      if (object.type->element->is(Kind::instance)) return attribute_of(spill(present(object, n)), name, n);
      break;
    case Kind::member: return member_attribute(object, name, n);
    case Kind::record: return record_field(object, name, n);
    case Kind::tuple:
      for (size_t i = 0; i < object.type->fields.size(); ++i)
        if (object.type->fields[i] == name) return tuple_item(object, i);
      break;
    case Kind::time:
      if (name == "dtype") return Value::known(dtype_type(object.type));
      if (name == "astype" || name == "view") {
        Value m = Value::known(builtin_type("scalar." + name));
        m.items = {object};
        return m;
      }
      break;
    case Kind::scalar:
      if (name == "value" && object.constant && object.constant->member) return constant_value(Constant{object.constant->value});
      if (name == "real" || name == "imag") {
        if (is_complex(object.type->dtype)) {
          Value v = Value::of(scalar_type(real_type(object.type->dtype)), paren(object) + (name == "real" ? ".re" : ".im"));
          v.simple = object.simple;
          return v;
        }
        return name == "real" ? object : converted(constant_value(Constant{int64_t{0}}), object.type, n);
      }
      if (name == "T") return object;
      if (name == "ndim") return constant_value(Constant{int64_t{0}});
      if (name == "size") return constant_value(Constant{int64_t{1}});
      if (name == "dtype") return Value::known(dtype_type(object.type));
      if (name == "shape") return tuple_of({});
      if (name == "conjugate" || name == "conj" || name == "item" || name == "is_integer" || name == "astype" || name == "view" ||
          name == "bit_count" || (name == "bit_length" && is_integer(object.type->dtype))) {
        Value m = Value::known(builtin_type("scalar." + name));
        m.items = {object};
        return m;
      }
      break;
    case Kind::range: {
      if (name != "start" && name != "stop" && name != "step") break;
      const size_t i = name == "start" ? 0 : name == "stop" ? 1 : 2;
      return object.items.empty() ? Value::of(int64_type(), object.text + "." + name) : converted(object.items[i], int64_type(), n);
    }
    default: break;
  }
  fail(n, fmt::format("{} has no attribute '{}'", object.type->spelling, name), {{source_of(n->a), object.type}},
       nearest(name, members_of(object.type)));
}

/// np.iinfo(t).name and np.finfo(t).name.
Value FunctionCompiler::number_limit(Type t, const std::string& name, const Node* n) {
  const DType d = t->dtype;
  const int bits = static_cast<int>(itemsize(d)) * 8;
  if (name == "bits") return constant_value(Constant{static_cast<int64_t>(bits)});
  if (is_integer(d)) {
    const uint64_t top = is_unsigned(d) ? (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1) : (uint64_t{1} << (bits - 1)) - 1;
    if (name == "max")
      return top > static_cast<uint64_t>(INT64_MAX) ? constant_value(Constant{top}) : constant_value(Constant{static_cast<int64_t>(top)});
    if (name == "min") return constant_value(Constant{is_unsigned(d) ? int64_t{0} : -static_cast<int64_t>(top) - 1});
  }
  if (is_inexact(d)) {
    const DType real = is_complex(d) ? real_type(d) : d;
    const bool single = real == DType::f32;
    if (real == DType::f32 || real == DType::f64) {
      std::optional<double> v;
      if (name == "max") v = single ? static_cast<double>(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
      if (name == "min") v = single ? -static_cast<double>(std::numeric_limits<float>::max()) : -std::numeric_limits<double>::max();
      if (name == "eps") v = single ? static_cast<double>(std::numeric_limits<float>::epsilon()) : std::numeric_limits<double>::epsilon();
      if (name == "tiny" || name == "smallest_normal")
        v = single ? static_cast<double>(std::numeric_limits<float>::min()) : std::numeric_limits<double>::min();
      if (name == "resolution") v = single ? 1e-6 : 1e-15;
      if (v) return converted(constant_value(Constant{*v}), scalar_type(real), n);
    }
  }
  fail(n, fmt::format("the limits of {} have no '{}'", t->spelling, name), {},
       is_integer(d) ? "iinfo has min, max and bits" : "finfo has min, max, eps, tiny, smallest_normal, resolution and bits");
}

/// Defaults of an inner function are evaluated where it is called: what they read must be what it was where the function was made.
void FunctionCompiler::expect_defaults_stay(const Node* n) const {
  for (const Parameter& p : n->inner->parameters)
    for (const std::string& name : syntax_.locals)
      if (p.default_value && reads_any(p.default_value, {name}) && binds_after(syntax_.body, name, n->line, /*loops=*/false))
        fail(n,
             fmt::format("the default of '{}' reads '{}', which is bound again where '{}' may still be called", p.name, name,
                         n->inner->name),
             {}, "give the value that it reads a name of its own");
}

Value FunctionCompiler::inner_function(const Node* n) {
  expect_defaults_stay(n);
  unit_.inner[n->inner] = {&function_, n->inner};
  return Value::known(function_type(n->inner, n->inner->name));
}

// ---- tuples -----------------------------------------------------------------------------------------------------------------------

Value FunctionCompiler::tuple_of(std::vector<Value> items, bool displays) {
  Value v;
  std::vector<Type> types;
  v.simple = true;
  for (Value& item : items) {
    if (!item.type) return {};
    if (host() && item.display && !(displays && item.is(Kind::tuple))) item = made(item, nullptr, nullptr);
    if (!item.type) return {};
    if (item.lazy && host()) item = bound(materialise(item, nullptr));
    if (item.is(Kind::literal)) item = converted(item, int64_type(), nullptr);
    types.push_back(item.type);
    v.simple &= item.simple;
    v.several |= host() && !displays && item.is_mixed_list();
  }
  v.type = tuple_type(types);
  v.items = std::move(items);
  bool constant = true;
  ConstantTuple all;
  for (const Value& item : v.items) {
    if (item.constant)
      all.push_back(*item.constant);
    else
      constant = false;
  }
  if (constant) v.constant = std::make_shared<Constant>(Constant{std::move(all)});
  return v;
}

Code FunctionCompiler::struct_text(const Value& v) {
  if (v.items.empty() && !v.text.empty()) return v.text;
  Code text = cpp(v.type) + "{";
  const bool array = v.type->is_uniform() && (v.type->items.empty() || v.type->items[0]->has_value());
  if (array) text += "{";
  bool first = true;
  for (size_t i = 0; i < v.items.size(); ++i) {
    if (!v.type->items[i]->has_value()) continue;
    text += (first ? "" : ", ") + convert(v.items[i], v.type->items[i], nullptr);
    first = false;
  }
  if (array) text += "}";
  return text + "}";
}

Value FunctionCompiler::tuple_item(const Value& t, size_t i) {
  if (i < t.items.size()) return t.items[i];
  const Type item = t.type->items[i];
  if (item->is(Kind::literal)) return constant_value(Constant{item->value});
  if (!item->has_value()) return Value::known(item);
  Value v = Value::of(item, t.type->is_uniform() ? code("{}[{}]", paren(t), i) : code("{}.f{}", paren(t), i));
  v.simple = t.simple;
  v.non_negative = v.index = t.index;  // shapes
  if (t.constant)
    if (const auto* all = std::get_if<ConstantTuple>(&t.constant->value)) {
      Value c = constant_value((*all)[i]);
      if (c.type == item) return c;
    }
  return with_bounds(v);
}

/// A display with *iterable in it: tuples give their items to a display, and what has a length at run time makes a list of the parts.
Value FunctionCompiler::starred_display(const Node* n) {
  std::vector<const Node*> nodes;
  for (const Node* k : n->list) nodes.push_back(k->kind == NodeKind::starred ? k->a : k);
  as_lists_.insert(nodes.begin(), nodes.end());
  const std::vector<Value> values = ordered(nodes);
  const bool list = n->kind != NodeKind::tuple;
  std::vector<Value> items;
  std::optional<Value> lists;
  const auto add = [&](const Value& part) { lists = lists ? binary(Operator::add, *lists, part, n) : part; };
  const auto display = [&] {
    Value d = tuple_of(std::exchange(items, {}), list);
    d.display = list && host() && d.type;
    return d;
  };
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& v = values[i];
    if (!v.type) return {};
    if (n->list[i]->kind != NodeKind::starred) {
      items.push_back(v);
    } else if (v.is(Kind::tuple)) {
      const Value whole = v.items.empty() && !v.simple ? spill(v) : v;
      for (size_t k = 0; k < v.type->items.size(); ++k) items.push_back(tuple_item(whole, k));
    } else {
      if (!list || !host())
        fail(n->list[i], "only a tuple can be unpacked here", {{source_of(nodes[i]), v.type}},
             host() ? "the length of a tuple is known when the function is compiled; a list may be made: [*x]" : "");
      if (!items.empty()) add(display());
      add(list_from(v, n));
    }
  }
  if (!lists) return display();
  if (!items.empty()) add(display());
  return *lists;
}

Value FunctionCompiler::list_of(const Node* n) {
  if (has_starred(n)) return starred_display(n);
  std::vector<const Node*> nodes(n->list.begin(), n->list.end());
  // A list display is a tuple here until it is kept: it can be looped over, indexed and unpacked.
  Value v = tuple_of(ordered(nodes), /*displays=*/true);
  v.display = host() && v.type;
  return v;
}

// ---- operators --------------------------------------------------------------------------------------------------------------------

Value FunctionCompiler::binary(Operator op, const Value& a, const Value& b, const Node* n) {
  if (!a.type || !b.type) return {};
  if (op == Operator::bit_or && a.is_class() && b.is_class()) return tuple_of({a, b});  // int | float, for isinstance
  if (op == Operator::mod && a.is(Kind::string) && host()) return text_of_parts(percent_fields(a.type->name, b, n), n);
  if (auto r = instance_operator(op, a, b, n)) return *r;
  if (auto r = container_binary(op, a, b, n)) return *r;
  if (auto r = bytes_binary(op, a, b, n)) return *r;
  if (is_arraylike(a) || is_arraylike(b)) {
    if (op == Operator::matmul && host()) return host_product(a, b, n);
    if (op == Operator::matmul)
      fail(n, "products of matrices are not supported in kernels", {{source_of(n->a), a.type}, {source_of(n->b), b.type}},
           "write the loops");
    const bool numbers = (a.is_array() || a.type->is_single()) && (b.is_array() || b.type->is_single());
    if (numbers && host() && op == Operator::pow && is_bool(a.type->dtype) && b.integer() == 2)
      return elementwise(static_cast<int>(Op::square), {a}, n);  // NumPy's way to a square: of booleans it is int8, other powers int64
    if (numbers && host())
      if (const auto row = host_operator(op, a, b)) return elementwise(*row, {a, b}, n);
    if (numbers)
      return lift(
          {a, b},
          [this, op, n](std::span<const Value> v) {
            const bool outside = std::exchange(in_elements_, true);
            Value r = binary(op, v[0], v[1], n);
            in_elements_ = outside;
            return r;
          },
          n);
  }
  if (a.is(Kind::optional)) return binary(op, converted(a, a.type->element, n), b, n);
  if (b.is(Kind::optional)) return binary(op, a, converted(b, b.type->element, n), n);
  if (a.is(Kind::tuple) && b.is(Kind::tuple) && op == Operator::add) {
    std::vector<Value> items;
    for (const Value* t : {&a, &b}) {
      const Value whole = t->items.empty() && !t->simple ? spill(*t) : *t;
      for (size_t i = 0; i < t->type->items.size(); ++i) items.push_back(tuple_item(whole, i));
    }
    return tuple_of(std::move(items));
  }
  if (a.is(Kind::string) && b.is(Kind::string) && op == Operator::add) return constant_value(Constant{a.type->name + b.type->name});
  if (a.is(Kind::tuple) && b.integer() && op == Operator::mul) {
    std::vector<Value> items;
    const Value whole = a.items.empty() && !a.simple ? spill(a) : a;
    for (int64_t k = 0; k < *b.integer(); ++k)
      for (size_t i = 0; i < a.type->items.size(); ++i) items.push_back(tuple_item(whole, i));
    return tuple_of(std::move(items));
  }
  if (a.is(Kind::time) || b.is(Kind::time))
    if (const auto row = host_operator(op, a, b)) return elementwise(*row, {a, b}, n);
  if (!a.is_scalar() || !b.is_scalar()) {
    const bool aug = n->kind == NodeKind::aug_assign;
    const auto is_text = [](const Value& v) { return v.is(Kind::text) || v.is(Kind::string); };
    const bool number = (is_text(a) && b.is_scalar()) || (is_text(b) && a.is_scalar());
    fail(n, fmt::format("no operator {}{} for {} and {}", to_string(op), aug ? "=" : "", a.type->spelling, b.type->spelling),
         {{source_of(n->a), a.type}, {source_of(n->b), b.type}},
         number && op == Operator::add   ? "str(x) is a number's text"
         : number && op == Operator::mod ? "write an f-string"
         : (a.is_none() && n->a->kind == NodeKind::call) || (b.is_none() && n->b && n->b->kind == NodeKind::call)
             ? "a function that ends without return gives None"
             : "");
  }
  const std::vector<Value> v = evaluated({a, b});
  return nan_checked(scalar_binary(op, v[0], v[1], n), v, n);
}

/// Of constants their result, so that shapes and tests on them are known; without a type where they are none.
Value FunctionCompiler::folded(Operator op, const Value& a, const Value& b) {
  const DType x = a.type->dtype, y = b.type->dtype;
  if (a.integer() && b.integer() && !is_bool(x) && !is_bool(y) && arithmetic(x, y) == DType::i64 && x != DType::u64 && y != DType::u64) {
    if (op == Operator::div && *b.integer() != 0)
      return constant_value(Constant{static_cast<double>(*a.integer()) / static_cast<double>(*b.integer())});
    if (const auto r = fold(op, *a.integer(), *b.integer())) {
      Constant made{*r};
      const auto wraps = [](const Value& v) { return v.type->dtype != DType::i64 || (v.constant && v.constant->wraps); };
      made.wraps = wraps(a) || wraps(b);
      return constant_value(std::move(made));
    }
  }
  if (a.type == float64_type() && b.type == float64_type() && real_of(a) && real_of(b)) {
    const double p = *real_of(a), q = *real_of(b);
    if (op == Operator::add) return constant_value(Constant{p + q});
    if (op == Operator::sub) return constant_value(Constant{p - q});
    if (op == Operator::mul) return constant_value(Constant{p * q});
    if (op == Operator::div && q != 0) return constant_value(Constant{p / q});
  }
  return {};
}

/// The type that two numbers are computed in.
DType FunctionCompiler::binary_dtype(Operator op, const Value& a, const Value& b, const Node* n) {
  const DType x = a.type->dtype, y = b.type->dtype;
  const bool whole = !is_inexact(x) && !is_inexact(y);
  DType d;
  if (is_bitwise(op)) {
    if (!whole)
      fail(n, fmt::format("no operator {} for {} and {}", to_string(op), a.type->spelling, b.type->spelling),
           {{n->a ? source_of(n->a) : "left", a.type}, {n->b ? source_of(n->b) : "right", b.type}}, "convert to integers first: int(x)");
    if (op == Operator::left_shift || op == Operator::right_shift) {
      d = is_unsigned(x) ? DType::u64 : DType::i64;
    } else if (is_bool(x) && is_bool(y)) {
      d = DType::b1;
    } else {
      d = is_unsigned(x) && is_unsigned(y) ? DType::u64 : DType::i64;
      if (x == DType::u64 || y == DType::u64) d = DType::u64;
    }
  } else if (op == Operator::div) {
    d = whole ? DType::f64 : arithmetic(x, y);
  } else {
    d = arithmetic(x, y);
    if (d == DType::i64 && (x == DType::u64 || y == DType::u64)) {
      // An integer constant takes the unsigned side's type where it fits: x + 1 of a uint64 stays one. Arrays go by NumPy's rules.
      const Value& other = x == DType::u64 ? b : a;
      if (other.integer() && *other.integer() >= 0)
        d = DType::u64;
      else if (in_elements_)
        d = DType::f64;
    }
  }
  if (is_complex(d) && (op == Operator::floor_div || op == Operator::mod))
    fail(n, fmt::format("no operator {} for complex numbers", to_string(op)), {{source_of(n->a), a.type}, {source_of(n->b), b.type}});
  return d;
}

/// p / q, where a divisor of zero is Python's error unless it is known to be none.
Code FunctionCompiler::quotient(const Value& p, const Value& q, bool known, const Node* n) {
  if (known) return operation(p.text, "/", q.text);
  const DType d = p.type->dtype;
  const Value divisor = spill(q, "d"), dividend = p.simple ? p : spill(p, "n");
  fail_if(code("{} == {}(0)", divisor.text, cpp_name(d)), "ZeroDivisionError",
          is_complex(d) ? "complex division by zero" : "division by zero", n);
  return operation(dividend.text, "/", divisor.text);
}

/// p // q or p % q. `checked`: a divisor of zero is Python's error; `both`: neither is negative; `positive`: the divisor is known to be.
Code FunctionCompiler::floored(Operator op, const Value& p, const Value& q, bool checked, bool both, bool positive, const Node* n) {
  const DType d = p.type->dtype;
  const bool modulo = op == Operator::mod;
  Value divisor = q, dividend = p;
  if (checked) {
    divisor = spill(q, "d");
    dividend = p.simple ? p : spill(p, "n");
    fail_if(divisor.text + " == 0", "ZeroDivisionError", "integer division or modulo by zero", n);
  }
  if (!is_integer(d)) return code("bc::{}({}, {})", form_of(function_of(op), d), dividend.text, divisor.text);
  if (both && positive) return operation(dividend.text, modulo ? "%" : "/", divisor.text);
  unit_.need("core");
  if (both && is_signed_int(d)) return code("py::{}({}, {})", modulo ? "whole_modulo" : "whole_quotient", dividend.text, divisor.text);
  const char* const t = cpp_name(d);
  return code("py::{}({}({}), {}({}))", modulo ? "floor_modulo" : "floor_quotient", t, dividend.text, t, divisor.text);
}

Value FunctionCompiler::scalar_binary(Operator op, const Value& a, const Value& b, const Node* n) {
  if (Value known = folded(op, a, b); known.type) return known;
  if (op == Operator::pow) return power(a, b, n);

  const DType d = binary_dtype(op, a, b, n);
  const Type t = scalar_type(d);
  const Value p = converted(a, t, n), q = converted(b, t, n);
  Value r;
  r.type = t;
  r.of_numpy = a.of_numpy || b.of_numpy;
  const bool raises = unit_.options.python_errors && !in_elements_ && !r.of_numpy;
  const bool index = a.index && b.index;
  const bool both = a.non_negative && b.non_negative;
  const char* f = function_of(op);
  const auto plain = [&](const char* sign) { r.text = operation(p.text, sign, q.text); };
  const auto function = [&] { r.text = code("bc::{}<{}>({}, {})", f, cpp_name(d), p.text, q.text); };
  switch (op) {
    case Operator::add:
    case Operator::sub:
    case Operator::mul:
      if (is_integer(d) && !(index && d == DType::i64))
        function();
      else
        plain(to_string(op));
      r.index = index && is_integer(d);
      r.non_negative = is_unsigned(d) || (op != Operator::sub && both && index);
      if (index && b.integer() && is_signed_int(d)) {
        // i - 1 where i is at least 1; i + 1 is.
        const int64_t more = op == Operator::add ? *b.integer() : op == Operator::sub ? -*b.integer() : 0;
        const int64_t known = a.least + std::clamp<int64_t>(more, -4, 4);
        r.non_negative |= a.non_negative && a.least > 0 && more < 0 && known >= 0;
        if (r.non_negative && more != 0) r.least = static_cast<uint8_t>(std::clamp<int64_t>(known, 0, 3));
      }
      break;
    case Operator::div: r.text = quotient(p, q, !raises || (real_of(b) && *real_of(b) != 0), n); break;
    case Operator::floor_div:
    case Operator::mod:
      r.index = a.index && (b.index || op == Operator::mod);
      r.non_negative = is_unsigned(d) || both || (op == Operator::mod && b.non_negative);
      r.text = floored(op, p, q, raises && !(real_of(b) && *real_of(b) != 0), both, b.integer() && *b.integer() > 0, n);
      if (op == Operator::mod && is_signed_int(d) && b.integer() && *b.integer() > 1)
        r.remainder = {r.text, operation(p.text, "%", q.text)};
      break;
    case Operator::bit_and:
    case Operator::bit_or:
    case Operator::bit_xor:
      if (is_bool(d))
        function();
      else
        plain(to_string(op));
      r.non_negative = is_unsigned(d) || is_bool(d) || both || (op == Operator::bit_and && (a.non_negative || b.non_negative));
      r.index = index || (op == Operator::bit_and && ((a.index && a.non_negative) || (b.index && b.non_negative)));
      break;
    case Operator::left_shift:
    case Operator::right_shift:
      if (b.integer() && *b.integer() >= 0 && *b.integer() < 64 && (op == Operator::right_shift || is_unsigned(d) || index))
        r.text = operation(p.text, to_string(op), std::to_string(*b.integer()));
      else
        function();
      r.non_negative = is_unsigned(d) || (a.non_negative && (op == Operator::right_shift || index));
      r.index = index && (op == Operator::right_shift || b.integer());
      break;
    default: fail(n, fmt::format("no operator {} for {} and {}", to_string(op), a.type->spelling, b.type->spelling));
  }
  return r;
}

Value FunctionCompiler::power(const Value& a, const Value& b, const Node* n) {
  const DType x = a.type->dtype, y = b.type->dtype;
  // A small constant exponent keeps the base's type and is a few products.
  if (const auto k = b.integer(); k && b.type == int64_type()) {
    DType d = is_bool(x) || is_integer(x) ? (is_unsigned(x) ? DType::u64 : DType::i64) : x;
    if (!is_inexact(d) && *k < 0) d = DType::f64;
    if (*k >= -16 && *k <= 64) {
      unit_.need("core");
      const Value p = converted(a, scalar_type(d), n);
      Value r = Value::of(scalar_type(d),
                          *k == 2 && p.simple && is_inexact(d) ? operation(p.text, "*", p.text) : code("py::raised<{}>({})", *k, p.text));
      r.non_negative = is_unsigned(d) || (*k % 2 == 0 && a.index) || (a.non_negative && a.index);
      r.index = a.index && *k >= 0 && *k <= 2;
      return r;
    }
  }
  if (const auto base = real_of(a), exponent = real_of(b); base && exponent && *base < 0 && *exponent != std::floor(*exponent))
    fail(n, "a negative number to the power of a fraction is complex", {}, "write the base as a complex number");
  DType d = arithmetic(x, y);
  if (is_integer(d) && b.integer() && *b.integer() < 0) d = DType::f64;
  const Value p = converted(a, scalar_type(d), n), q = converted(b, scalar_type(d), n);
  // Python's result would be a float where the exponent is negative: NumPy's integers raise.
  const bool may_raise = host() && is_signed_int(d) && !b.integer() && !b.non_negative;
  if (may_raise) unit_.need("host_numpy");
  Value r = Value::of(scalar_type(d), may_raise       ? code("py::whole_power<{}>({}, {})", cpp_name(d), p.text, q.text)
                                      : is_inexact(d) ? code("bc::{}({}, {})", form_of("power", d), p.text, q.text)
                                                      : code("bc::power<{}>({}, {})", cpp_name(d), p.text, q.text));
  if (may_raise) r.note(kActs);
  r.non_negative = is_unsigned(d);
  return r;
}

Value FunctionCompiler::unary(Operator op, const Value& a, const Node* n) {
  if (!a.type) return {};
  if (auto r = instance_operator(op == Operator::invert ? "invert" : op == Operator::plus ? "pos" : "neg", {a}, n)) return *r;
  if (is_arraylike(a) && op == Operator::invert && is_bool(a.type->dtype)) return elementwise(static_cast<int>(Op::logical_not), {a}, n);
  if (is_arraylike(a) && op != Operator::invert && is_bool(a.type->dtype))
    fail(n, fmt::format("no operator {} for {}", to_string(op), a.type->spelling), {}, "use ~ for logical not");
  if (is_arraylike(a) && host()) {
    const Op row = op == Operator::invert ? Op::invert : op == Operator::plus ? Op::positive : Op::negative;
    return elementwise(static_cast<int>(row), {a}, n);
  }
  if (is_arraylike(a)) return lift({a}, [this, op, n](std::span<const Value> v) { return unary(op, v[0], n); }, n);
  if (a.is(Kind::optional)) return unary(op, converted(a, a.type->element, n), n);
  if (a.is(Kind::time) && op != Operator::invert)
    return elementwise(static_cast<int>(op == Operator::plus ? Op::positive : Op::negative), {a}, n);
  if (!a.is_scalar()) fail(n, fmt::format("no operator {} for {}", to_string(op), a.type->spelling), {{source_of(n->a), a.type}});
  if (op == Operator::invert && is_bool(a.type->dtype)) {
    // NumPy's meaning, and Numba's: a comparison of elements gives NumPy's bool.
    if (const bool* known = a.constant ? a.constant->boolean() : nullptr) return constant_value(Constant{!*known});
    Value r = Value::of(bool_type(), prefixed("!", a.text));
    r.non_negative = true;
    return r;
  }
  if (a.constant) {
    if (const auto* i = a.constant->integer(); i && a.type == int64_type() && *i != INT64_MIN)
      return constant_value(Constant{op == Operator::minus ? -*i : op == Operator::invert ? ~*i : *i});
    if (const auto* d = std::get_if<double>(&a.constant->value); d && a.type == float64_type() && op != Operator::invert)
      return constant_value(Constant{op == Operator::minus ? -*d : *d});
    if (const auto* z = std::get_if<std::complex<double>>(&a.constant->value); z && op != Operator::invert)
      return constant_value(Constant{op == Operator::minus ? -*z : *z});
  }
  const DType given = a.type->dtype;
  DType d = given;
  if (!is_inexact(d)) d = is_unsigned(d) ? DType::u64 : DType::i64;
  if (op == Operator::invert && is_inexact(d)) fail(n, fmt::format("no operator ~ for {}", a.type->spelling), {{source_of(n->a), a.type}});
  const Value p = converted(a, scalar_type(d), n);
  Value r = Value::of(scalar_type(d), "");
  r.index = a.index;
  r.of_numpy = a.of_numpy;
  r.non_negative = is_unsigned(d);
  if (op == Operator::plus) {
    r = p;
  } else if (op == Operator::invert) {
    r.text = prefixed("~", p.text);
  } else if (is_integer(d) && !a.index) {
    r.text = code("bc::negative<{}>({})", cpp_name(d), p.text);
  } else {
    r.text = prefixed("-", p.text);
  }
  // The value is that in the operand's own width, as NumPy's and Numba's are; the type has 64 bits, as Numba's has.
  if (op != Operator::plus && is_integer(given) && itemsize(given) < 8) r.text = code("static_cast<{}>({})", cpp_name(given), r.text);
  return r;
}

// ---- comparison and logic ---------------------------------------------------------------------------------------------------------

/// Whether a number is inside a range and whole steps from its start.
Value FunctionCompiler::within_range(const Value& a, const Value& b, bool negated, const Node* n) {
  const auto known = [&](bool v) { return constant_value(Constant{v}); };
  const Value x = spill(a, "i");
  if (!x.is_scalar() && !x.is(Kind::literal)) return known(negated);
  std::vector<Value> part;
  for (const Value& v : b.items) part.push_back(v.simple ? v : spill(converted(v, int64_type(), n), "i"));
  if (part.empty()) {
    const Value r = b.simple ? b : spill(b);
    for (const char* field : {"start", "stop", "step"}) part.push_back(spill(attribute_of(r, field, n), "i"));
  }
  const auto holds = [&](Operator o, const Value& l, const Value& r) { return operand(compare_two(o, l, r, n).text); };
  const auto both = [](const Code& x, const Code& y) { return code("({} && {})", x, y); };
  const Value zero = constant_value(Constant{int64_t{0}});
  const Value left = binary(Operator::mod, binary(Operator::sub, x, part[0], n), part[2], n);
  Code inside = both(holds(Operator::ge, x, part[0]), holds(Operator::lt, x, part[1]));
  const Code below = both(holds(Operator::le, x, part[0]), holds(Operator::gt, x, part[1]));
  const auto step = part[2].integer();
  if (!step)
    inside = code("({} ? {} : {})", holds(Operator::gt, part[2], zero), inside, below);
  else if (*step < 0)
    inside = below;
  const bool every = step && *step == 1 && !is_inexact(x.is_scalar() ? x.type->dtype : DType::i64);
  const Code found = every ? inside : both(inside, holds(Operator::eq, left, zero));
  return Value::of(bool_type(), negated ? prefixed("!", found) : found);
}

Value FunctionCompiler::within_tuple(const Value& a, const Value& b, bool negated, const Node* n) {
  const auto known = [&](bool v) { return constant_value(Constant{v}); };
  if (b.is_array() && host()) {
    const Value found = *call_python("array.contains", {{materialise(b, n), a}, {n, n}, {}}, n);
    return found.type && negated ? Value::of(bool_type(), prefixed("!", operand(found.text))) : found;
  }
  if (!b.is(Kind::tuple)) fail(n, fmt::format("'in' works on tuples, not on {}", b.type->spelling));
  const Value item = a.simple || !a.type->has_value() ? a : spill(a);
  const Value all = b.items.empty() && !b.simple ? spill(b) : b;
  std::vector<Code> tests;
  for (size_t i = 0; i < b.type->items.size(); ++i) {
    const Value same = compare_two(Operator::eq, item, tuple_item(all, i), n);
    if (same.constant && same.constant->boolean()) {
      if (*same.constant->boolean()) return known(!negated);
      continue;
    }
    tests.push_back(same.text);
  }
  if (tests.empty()) return known(negated);
  const Code found = all_of(tests, false);
  return Value::of(bool_type(), negated ? code("!({})", found) : found);
}

Value FunctionCompiler::compare_tuples(Operator op, const Value& a, const Value& b, const Node* n) {
  const auto known = [&](bool v) { return constant_value(Constant{v}); };
  const bool equality = op == Operator::eq || op == Operator::ne || op == Operator::is || op == Operator::is_not;
  const bool negated = op == Operator::ne || op == Operator::is_not;
  const Value p = a.items.empty() && !a.simple ? spill(a) : a, q = b.items.empty() && !b.simple ? spill(b) : b;
  const size_t common = std::min(a.type->items.size(), b.type->items.size());
  if (equality) {
    if (a.type->items.size() != b.type->items.size()) return known(negated);
    std::vector<Code> tests;
    for (size_t i = 0; i < common; ++i) {
      const Value same = compare_two(Operator::eq, tuple_item(p, i), tuple_item(q, i), n);
      if (same.constant && same.constant->boolean()) {
        if (!*same.constant->boolean()) return known(negated);
        continue;
      }
      tests.push_back(same.text);
    }
    if (tests.empty()) return known(!negated);
    const Code equal = all_of(tests, true);
    return Value::of(bool_type(), negated ? code("!({})", equal) : equal);
  }
  // The first items that differ decide; where there are none, the lengths do.
  const auto size = [](const Value& v) { return static_cast<int64_t>(v.type->items.size()); };
  const Operator strict = op == Operator::lt || op == Operator::le ? Operator::lt : Operator::gt;
  if (op != Operator::lt && op != Operator::le && op != Operator::gt && op != Operator::ge)
    fail(n, "tuples are compared by ==, !=, <, <=, > and >=");
  Code text = *fold_compare(op, size(a), size(b)) ? "true" : "false";
  for (size_t i = common; i-- > 0;) {
    const Value x = tuple_item(p, i), y = tuple_item(q, i);
    text = code("({} ? {} : {})", paren(compare_two(Operator::eq, x, y, n)), text, paren(compare_two(strict, x, y, n)));
  }
  return Value::of(bool_type(), text);
}

Value FunctionCompiler::compare_numbers(Operator op, const Value& a, const Value& b, const Node* n) {
  const DType x = a.type->dtype, y = b.type->dtype;
  if (op == Operator::is) op = Operator::eq;
  if (op == Operator::is_not) op = Operator::ne;
  Value r;
  r.type = bool_type();
  r.non_negative = true;
  const bool mixed = (x == DType::u64 && is_signed_int(y)) || (y == DType::u64 && is_signed_int(x));
  if (mixed && !(a.constant && a.non_negative) && !(b.constant && b.non_negative)) {
    r.text = code("bc::{}({}, {})", function_of(op), convert(a, scalar_type(is_unsigned(x) ? DType::u64 : DType::i64), n),
                  convert(b, scalar_type(is_unsigned(y) ? DType::u64 : DType::i64), n));
    return r;
  }
  if ((op == Operator::eq || op == Operator::ne) && a.remainder.first.is_same(a.text) && b.integer() == 0) {
    r.text = operation(a.remainder.second, to_string(op), "0");
    return r;
  }
  DType d = promote(x, y);
  if (mixed) d = DType::u64;
  if (is_complex(d) && !(op == Operator::eq || op == Operator::ne))
    fail(n, fmt::format("complex numbers cannot be compared by {}", to_string(op)), {}, "compare abs(z), z.real or z.imag");
  r.text = operation(converted(a, scalar_type(d), n).text, to_string(op), converted(b, scalar_type(d), n).text);
  return r;
}

Value FunctionCompiler::compare_two(Operator op, const Value& a, const Value& b, const Node* n) {
  if (!a.type || !b.type) return {};
  const auto known = [&](bool v) { return constant_value(Constant{v}); };
  if (auto r = instance_operator(op, a, b, n)) return *r;
  if (auto r = characters_compare(op, a, b, n)) return *r;
  if (auto r = container_compare(op, a, b, n)) return *r;
  const bool equality = op == Operator::eq || op == Operator::ne || op == Operator::is || op == Operator::is_not;
  const bool negated = op == Operator::ne || op == Operator::is_not || op == Operator::not_in;
  const bool within = op == Operator::in || op == Operator::not_in;
  if (within && b.is(Kind::range)) return within_range(a, b, negated, n);
  if (within) return within_tuple(a, b, negated, n);
  if (a.is(Kind::none) || b.is(Kind::none)) {
    const Value& other = a.is(Kind::none) ? b : a;
    if (!equality) fail(n, fmt::format("None cannot be compared by {}", to_string(op)));
    if (other.is(Kind::none)) return known(!negated);
    if (other.is(Kind::optional)) return Value::of(bool_type(), negated ? code("{}.there", paren(other)) : code("!{}.there", paren(other)));
    return known(negated);
  }
  if (is_arraylike(a) || is_arraylike(b)) {
    if (op == Operator::is || op == Operator::is_not) fail(n, "'is' does not work on arrays in compiled functions");
    if ((a.is_array() || a.type->is_single()) && (b.is_array() || b.type->is_single()))
      return lift({a, b}, [this, op, n](std::span<const Value> v) { return compare_two(op, v[0], v[1], n); }, n);
    // NumPy compares the elements with the text; one answer for all would be another value.
    const auto is_text = [](const Value& v) { return v.is(Kind::string) || v.is(Kind::text); };
    if (is_text(a) || is_text(b)) fail(n, fmt::format("no operator {} for {} and {}", to_string(op), a.type->spelling, b.type->spelling));
  }
  if (a.is(Kind::optional) || b.is(Kind::optional)) return compare_optional(op, a, b, n);
  if (const Type members = enumeration_of(a.type), others = enumeration_of(b.type); members || others) {
    const bool identity = op == Operator::is || op == Operator::is_not;
    if (!equality) fail(n, fmt::format("members of enumerations cannot be compared by {}", to_string(op)));
    if (is_arraylike(a) || is_arraylike(b))
      fail(n, fmt::format("no operator {} for {} and {}", to_string(op), a.type->spelling, b.type->spelling), {}, "compare its .value");
    if (members != others && (identity || ((!members || members->value) && (!others || others->value)))) return known(negated);
    if (members != others) fail(n, fmt::format("no operator {} for {} and {}", to_string(op), a.type->spelling, b.type->spelling));
    if (a.is(Kind::object) && b.is(Kind::object)) return known((a.type == b.type) != negated);
    return Value::of(bool_type(), operation(convert(a, members, n), negated ? "!=" : "==", convert(b, members, n)));
  }
  if (a.is(Kind::time) || b.is(Kind::time))
    if (const auto row = row_of_comparison(op)) return elementwise(*row, {a, b}, n);
  if (a.is(Kind::choice) || b.is(Kind::choice)) {
    const Type functions = unify(a.type, b.type);
    if (equality && (!functions || !functions->is(Kind::choice))) return known(negated);
    if (equality) return Value::of(bool_type(), operation(convert(a, functions, n), negated ? "!=" : "==", convert(b, functions, n)));
  }
  if (a.is(Kind::tuple) && b.is(Kind::tuple)) return compare_tuples(op, a, b, n);
  if (a.is(Kind::string) && b.is(Kind::string) && !equality && op != Operator::is && op != Operator::is_not)
    return known(*fold_compare(op, a.type->name.compare(b.type->name), 0));
  const auto compile_time = [](const Value& v) { return !v.type->has_value(); };
  if (a.is(Kind::dtype) && b.is(Kind::dtype) && equality) return known((a.type->element == b.type->element) != negated);  // type(x) == int
  if (compile_time(a) && compile_time(b) && equality && !a.integer() && !b.integer()) return known((a.type == b.type) != negated);
  if (a.is(Kind::string) != b.is(Kind::string) && equality) return known(negated);
  if ((op == Operator::is || op == Operator::is_not) && a.constant && b.constant && a.constant->member != b.constant->member)
    return known(negated);
  if (a.integer() && b.integer())
    if (const auto r = fold_compare(op, *a.integer(), *b.integer())) return known(*r);
  if (a.constant && b.constant && a.constant->boolean() && b.constant->boolean() && equality)
    return known((*a.constant->boolean() == *b.constant->boolean()) != negated);
  const Value pa = a.is(Kind::literal) ? converted(a, int64_type(), n) : a, pb = b.is(Kind::literal) ? converted(b, int64_type(), n) : b;
  if (!pa.is_scalar() || !pb.is_scalar())
    fail(n, fmt::format("no operator {} for {} and {}", to_string(op), a.type->spelling, b.type->spelling));
  return compare_numbers(op, pa, pb, n);
}

Value FunctionCompiler::compare(const Node* n) {
  const std::vector<Value> first = ordered({n->a, n->list[0]});
  return compare_from(0, first[0], first[1], n);
}

/// The comparisons of a < b < c from one of them on: an operand is evaluated once, and only where all comparisons before it hold.
Value FunctionCompiler::compare_from(size_t at, const Value& left, const Value& given, const Node* n) {
  const bool last = at + 1 == n->list.size();
  const Value right = last || !given.type || !given.type->has_value() || given.simple ? given : spill(given);
  const Value test = compare_two(n->ops[at], left, right, n);
  if (!test.type || last) return test;
  if (test.is_array()) fail(n, "comparisons of arrays cannot be chained");
  const bool* known = test.constant ? test.constant->boolean() : nullptr;
  if (known && !*known) return test;
  Value rest;
  const Block statements = captured([&] { rest = compare_from(at + 1, right, expression(n->list[at + 1]), n); });
  if (rest.is_array()) fail(n, "comparisons of arrays cannot be chained");
  if (known || !rest.type) {
    out_ += statements;
    return rest;
  }
  rest = truth(rest, n);
  if (!statements.empty()) {
    const std::string holds = temporary("holds");
    linef("bool {} = {};", holds, test.text);
    linef("if ({}) {{", holds);
    out_ += statements;
    linef("  {} = {};", holds, rest.text);
    line("}");
    Value r = Value::of(bool_type(), holds);
    r.simple = true;
    return r;
  }
  Value r = Value::of(bool_type(), all_of({test.text, rest.text}, true));
  return r;
}

Value FunctionCompiler::truth(const Value& v, const Node* n) {
  if (!v.type) return {};
  switch (v.type->kind) {
    case Kind::none: return constant_value(Constant{false});
    case Kind::choice: return constant_value(Constant{true});
    case Kind::string: return constant_value(Constant{!v.type->name.empty()});
    case Kind::tuple: return constant_value(Constant{!v.type->items.empty()});
    case Kind::literal: return constant_value(Constant{v.type->value != 0});
    case Kind::time: return Value::of(bool_type(), operation(code("({}).t", v.text), "!=", "0"));
    case Kind::scalar: {
      if (v.constant) {
        if (const bool* b = v.constant->boolean()) return constant_value(Constant{*b});
        if (const int64_t* i = v.constant->integer()) return constant_value(Constant{*i != 0});
      }
      if (is_bool(v.type->dtype)) return v;
      Value r = v;
      r.type = bool_type();
      r.constant = nullptr;
      r.text = is_complex(v.type->dtype) || is_small_float(v.type->dtype) ? code("bc::nonzero({})", v.text) : operation(v.text, "!=", "0");
      r.simple = false;
      return r;
    }
    case Kind::optional: {
      const Value whole = v.simple ? v : spill(v);
      const Value inner = truth(Value::of(v.type->element, code("{}.value", whole.text)), n);
      const Code there = code("{}.there", whole.text);
      return Value::of(bool_type(), inner.constant ? there : operation(there, "&&", inner.text));
    }
    case Kind::list:
    case Kind::set:
    case Kind::dict: {
      Value c = v.display ? finished(v, n) : v;
      return Value::of(bool_type(), is_incomplete(c.type) ? Code("false") : operation(code("{}.size()", paren(c)), "!=", "0"));
    }
    case Kind::text: return Value::of(bool_type(), operation(code("{}.size", paren(v)), "!=", "0"));
    case Kind::array:
      if (is_bytes(v.type)) return Value::of(bool_type(), operation(code("{}.shape[0]", paren(v)), "!=", "0"));
      if (v.type->ndim == 0) return truth(subscript_of(v, tuple_of({}), n), n);
      fail(n, "the truth of an array with more than one element is ambiguous", {}, "use .any() or .all()");
    case Kind::function:
    case Kind::builtin:
    case Kind::module:
    case Kind::object: return constant_value(Constant{true});
    case Kind::instance: {
      if (auto r = instance_operator("bool", {v}, n)) return truth(*r, n);
      if (auto r = instance_operator("len", {v}, n)) return truth(*r, n);
      return constant_value(Constant{true});
    }
    case Kind::record:
      if (is_characters(v.type)) return Value::of(bool_type(), operation(code("{}.length()", paren(v)), "!=", "0"));
      [[fallthrough]];
    default: fail(n, fmt::format("{} cannot be a condition", v.type->spelling));
  }
}

/// Notes of the variables that a test finds to be something, or None, that they hold a value where the test has this outcome.
void FunctionCompiler::narrow(const Node* test, bool holds) {
  if (test->kind == NodeKind::unary && test->op == Operator::logical_not) return narrow(test->a, !holds);
  if (test->kind == NodeKind::boolean) {
    std::set<std::string> bound;
    bound_names(test, &bound);  // a later operand may bind the name anew
    if ((test->op == Operator::logical_and) == holds && bound.empty())
      for (const Node* k : test->list) narrow(k, holds);
    return;
  }
  const Node* what = test;
  if (test->kind == NodeKind::compare && test->list.size() == 1 && test->list[0]->kind == NodeKind::constant &&
      std::holds_alternative<std::monostate>(test->list[0]->literal.value)) {
    const Operator op = test->ops[0];
    if (op == Operator::is || op == Operator::eq) holds = !holds;
    if (op != Operator::is && op != Operator::is_not && op != Operator::eq && op != Operator::ne) return;
    what = test->a;
  }
  if (!holds || (what->kind != NodeKind::name && what->kind != NodeKind::walrus)) return;
  const int index = syntax_.local_index(what->text);
  if (index >= 0 && env_.locals[static_cast<size_t>(index)]) env_.locals[static_cast<size_t>(index)]->there = true;
}

namespace {
/// Facts about optional values that one operand of a condition gives to the others; they end with the condition.
class OperandsOnly {
 public:
  explicit OperandsOnly(Env* env) : env_(env), before_(*env) {}
  ~OperandsOnly() {
    for (size_t i = 0; i < env_->locals.size(); ++i)
      if (env_->locals[i]) env_->locals[i]->there &= before_.locals[i] && before_.locals[i]->there;
  }
  OperandsOnly(const OperandsOnly&) = delete;

 private:
  Env* env_;
  const Env before_;
};
}  // namespace

/// An `and` or `or` of conditions, evaluated as far as Python does.
Code FunctionCompiler::condition(const Node* n, std::optional<bool>* known) {
  known->reset();
  if (n->kind == NodeKind::boolean) {
    const bool all = n->op == Operator::logical_and;
    const OperandsOnly narrowed(&env_);
    std::vector<Code> tests;
    for (size_t i = 0; i < n->list.size(); ++i) {
      std::optional<bool> k;
      const Env before = env_;
      if (i > 0) narrow(n->list[i - 1], all);
      Code test;
      const Block statements = captured([&] { test = condition(n->list[i], &k); });
      if (k) {
        if (*k != all) {
          // Decides the whole, unless something before it has to be evaluated.
          if (tests.empty()) {
            *known = *k;
            return test;
          }
          tests.emplace_back(all ? "false" : "true");
          break;
        }
        continue;
      }
      if (!statements.empty() && !tests.empty()) {
        // The operand needs statements of its own: they run only when it is reached.
        const std::string t = temporary("c");
        linef("bool {} = {};", t, all_of(tests, all));
        linef("if ({}{}) {{", all ? "" : "!", t);
        out_ += statements;
        linef("  {} = {};", t, test);
        line("}");
        tests = {t};
        env_ = join(before, env_);
        continue;
      }
      // Statements of a first operand run always.
      if (!statements.empty()) out_ += statements;
      tests.push_back(test);
    }
    if (tests.empty()) {
      *known = all;
      return {};
    }
    return all_of(tests, all);
  }
  if (n->kind == NodeKind::unary && n->op == Operator::logical_not) {
    const Code test = condition(n->a, known);
    if (*known) {
      *known = !**known;
      return test;
    }
    return code("!({})", test);
  }
  const Value v = truth(expression(n), n);
  if (!v.type) return "false";  // a recursive call's value: both ways are walked
  if (v.constant && v.constant->boolean()) *known = *v.constant->boolean();
  if (*known) return v.acts() ? v.text : Code();
  return v.text;
}

Value FunctionCompiler::boolean(const Node* n) {
  // Of bools it is a condition; otherwise Python's value: the operand that decided.
  const Env start = env_;
  const int temporaries = temporaries_;
  bool bools = true;
  std::vector<Type> types;
  {
    const bool emitting = std::exchange(emitting_, false);
    captured([&] {
      for (const Node* k : n->list) {
        const Value v = expression(k);
        bools &= !v.type || v.type == bool_type();
        types.push_back(v.type);
      }
    });
    emitting_ = emitting;
    env_ = start;
    temporaries_ = temporaries;
  }
  if (bools) {
    std::optional<bool> known;
    const Code test = condition(n, &known);
    if (known) return constant_value(Constant{*known});
    Value r = Value::of(bool_type(), test);
    r.non_negative = true;
    return r;
  }
  const bool all = n->op == Operator::logical_and;
  Value v = expression(n->list[0]);
  for (size_t i = 1; i < n->list.size(); ++i) {
    const Value left = v.simple || !v.type || !v.type->has_value() ? v : spill(v);
    const Value test = truth(left, n);
    if (test.constant && test.constant->boolean()) {
      if (*test.constant->boolean() != all) return left;
      v = expression(n->list[i]);
      continue;
    }
    Value right;
    Block statements = captured([&] { right = expression(n->list[i]); });
    if (const Type both = right.type && left.type ? container_of_both(left, right, n) : nullptr;
        both && right.display && !is_incomplete(both))
      statements += captured([&] { right = Value::called(both, convert(right, both, n)); });
    const Type t = unify(left.type, right.type);
    if (!t)
      fail(n, fmt::format("the operands of '{}' have types that do not unify", to_string(n->op)),
           {{"left", left.type}, {"right", right.type}});
    const std::string result = temporary("v");
    linef("{} {} = {};", cpp(t), result, convert(left, t, n));
    linef("if ({}{}) {{", all ? "" : "!", paren(test));
    out_ += statements;
    linef("  {} = {};", result, convert(right, t, n));
    line("}");
    v = Value::of(t, result);
    v.simple = true;
    v.non_negative = left.non_negative && right.non_negative;
    v.index = left.index && right.index;
  }
  return v;
}

/// Two sides of a choice of which one is a list, set or dict written out: the container that both are. Nothing where they are no such.
Type FunctionCompiler::container_of_both(const Value& a, const Value& b, const Node* n) {
  if (!host() || !(a.display || b.display) || (a.is(Kind::tuple) && a.type == b.type)) return nullptr;
  const auto type_of = [&](const Value& v, Type hint) {
    Type t = v.type;
    if (v.display) captured([&] { t = made(v, hint, n).type; });
    return t;
  };
  const auto known = [](const Value& v) { return !v.display && v.type->is_container() ? v.type : nullptr; };
  const Type first = type_of(a, known(b)), second = type_of(b, known(a));
  if (!first || !second) return nullptr;
  Type both = unify(first, second);
  if (!both && a.display && b.display) both = widened(first, second);
  const Type held = both && both->is(Kind::optional) ? both->element : both;
  return held && held->is_container() ? both : nullptr;
}

Value FunctionCompiler::if_else(const Node* n) {
  std::optional<bool> known;
  const Code test = condition(n->a, &known);
  if (known) return expression(*known ? n->b : n->c);
  const Env before = env_;
  Value a, b;
  narrow(n->a, true);
  Block first = captured([&] { a = materialise(expression(n->b), n->b); });
  const Env after = std::exchange(env_, before);
  narrow(n->a, false);
  Block second = captured([&] { b = materialise(expression(n->c), n->c); });
  env_ = join(after, env_);
  if (!a.type || !b.type) return a.type ? a : b;
  if (const Type both = container_of_both(a, b, n)) {
    if (is_incomplete(both)) return a.display ? a : b;
    const Type held = both->is(Kind::optional) ? both->element : both;
    const auto finish = [&](Value& v, Block& statements) {
      if (v.display) statements += captured([&] { v = Value::called(held, convert(v, held, n)); });
    };
    finish(a, first);
    finish(b, second);
  }
  if (a.is(Kind::literal)) a = converted(a, int64_type(), n);
  if (b.is(Kind::literal)) b = converted(b, int64_type(), n);
  const Type t = unify(a.type, b.type);
  if (!t) fail(n, "both sides of 'if … else' must have types that unify", {{source_of(n->b), a.type}, {source_of(n->c), b.type}});
  if (!t->has_value()) {
    if (t == a.type && t == b.type) return a;
    fail(n, "a choice between compile-time values needs a condition that is known at compile time");
  }
  Value r;
  r.type = t;
  r.non_negative = a.non_negative && b.non_negative;
  r.index = a.index && b.index;
  r.display = a.display && b.display && t->is_tuple();
  if (first.empty() && second.empty() && !a.lazy && !b.lazy) {
    const auto typed = [&](const Value& v) {
      const Code text = convert(v, t, n);
      return v.constant && t->is_scalar() && is_integer(t->dtype) ? code("{}({})", cpp(t), text) : text;
    };
    r.text = choice(test, typed(a), typed(b));
    return r;
  }
  r.text = temporary("v");
  r.simple = true;
  linef("{} {};", cpp(t), r.text);
  linef("if ({}) {{", test);
  out_ += first;
  linef("  {} = {};", r.text, convert(a, t, n));
  line("} else {");
  out_ += second;
  linef("  {} = {};", r.text, convert(b, t, n));
  line("}");
  return r;
}

}  // namespace bc::kernels
