// Lists, sets and dicts, in functions compiled for the CPU (src/device/python/lists.h, tables.h). What an empty display holds is found by
// the walks over the function: what is put into it under its name decides.
#include <algorithm>
#include <array>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

bool is_text(Type t) { return t && (t->is(Kind::string) || t->is(Kind::text)); }

}  // namespace

Type widened(Type a, Type b) {
  a = stored_type(a), b = stored_type(b);
  if (!a || !b || a == b) return a ? a : b;
  if (a->is_container() && a->kind == b->kind) {
    if (a->is(Kind::dict)) {
      const Type key = widened(a->items[0], b->items[0]), value = widened(a->items[1], b->items[1]);
      const bool ok = (key || !(a->items[0] && b->items[0])) && (value || !(a->items[1] && b->items[1]));
      return ok ? dict_type(key, value) : nullptr;
    }
    const Type element = widened(a->element, b->element);
    if (!element && a->element && b->element) return nullptr;
    return a->is(Kind::set) ? set_type(element) : list_type(element, a->typed || b->typed);
  }
  return unify(a, b);
}

bool can_be_held(Type t) {
  if (!t) return true;
  if (t->is_single() || is_text(t) || t->is(Kind::record) || t->is(Kind::optional) || t->is_array()) return true;
  if (t->is_container() || t->is(Kind::instance)) return true;
  return t->is_tuple() && std::all_of(t->items.begin(), t->items.end(), can_be_held);
}
bool can_be_key(Type t) {
  if (!t || t->is_single() || is_text(t) || is_characters(t) || is_bytes(t)) return true;
  return t->is_tuple() && std::all_of(t->items.begin(), t->items.end(), can_be_key);
}
bool has_order(Type t) {
  if (!t || is_text(t) || t->is(Kind::time) || is_characters(t) || is_bytes(t)) return true;
  if (t->is_scalar()) return !is_complex(t->dtype);
  if (t->is(Kind::list) || t->is(Kind::optional)) return has_order(t->element);
  return t->is(Kind::instance) || (t->is_tuple() && std::all_of(t->items.begin(), t->items.end(), has_order));
}

Type stored_type(Type t) {
  if (!t) return nullptr;
  if (t->is(Kind::literal)) return int64_type();
  if (t->is(Kind::string)) return text_type();
  if (t->is_tuple()) {
    std::vector<Type> items;
    for (Type item : t->items) items.push_back(stored_type(item));
    return t->fields.empty() ? tuple_type(items) : named_tuple_type(t->object, t->name, t->fields, items);
  }
  return t;
}

// ---- making them ------------------------------------------------------------------------------------------------------------------

namespace {
/// The container that an expression names an item of: c[k], or c.setdefault(k, x); nullptr for others.
const Node* holder(const Node* item) {
  if (item->kind == NodeKind::subscript) return item->a;
  const bool made = item->kind == NodeKind::call && item->a->kind == NodeKind::attribute && item->a->text == "setdefault";
  return made ? item->a->a : nullptr;
}
}  // namespace

/// Notes that a container with this type is meant by an expression: a name, or something in a container of a name.
void FunctionCompiler::refine(const Node* target, Type t, const Node* n) {
  if (target->kind == NodeKind::name) {
    Type& known = container_types_[target->text];
    const Type both = widened(known, t);
    if (!both)
      fail(n, fmt::format("'{}' holds values of one type", target->text), {{"so far", known}, {"now", t}},
           t->is(Kind::dict) ? "" : "use a tuple for values of several types");
    const Type key = both->is(Kind::dict) ? both->items[0] : both->is(Kind::set) ? both->element : nullptr;
    if (!can_be_key(key)) fail(n, fmt::format("{} cannot be a key", key->spelling), {}, "keys are numbers, strings and tuples of them");
    if (both != known) lists_changed_ = true;
    known = both;
    return;
  }
  const Node* outer = holder(target);
  const Type around = outer ? container_of(outer) : nullptr;
  if (!around) return;
  if (around->is(Kind::list)) refine(outer, list_type(t, around->typed), n);
  if (around->is(Kind::dict)) refine(outer, dict_type(nullptr, t), n);
}

Type FunctionCompiler::container_of(const Node* n) {
  if (n->kind == NodeKind::name) {
    const int index = syntax_.local_index(n->text);
    if (index >= 0 && env_.locals[static_cast<size_t>(index)] && env_.locals[static_cast<size_t>(index)]->type)
      return env_.locals[static_cast<size_t>(index)]->type;
    const auto known = container_types_.find(n->text);
    return known == container_types_.end() ? nullptr : known->second;
  }
  const Node* outer = holder(n);
  const Type around = outer ? container_of(outer) : nullptr;
  if (!around || !around->is_container()) return nullptr;
  return around->is(Kind::dict) ? around->items[1] : around->element;
}

/// A display as the value that Python's would be: `[a, b]` is a tuple here until it is kept. `hint`: the type it should have.
Value FunctionCompiler::made(const Value& v, Type hint, const Node* n) {
  if (!v.type || !host()) return v;
  if (v.is(Kind::literal)) return converted(v, int64_type(), n);
  if (v.is(Kind::tuple) && !v.display) {
    bool any = false;
    for (const Value& item : v.items) any |= item.display || item.lazy;
    if (!any) return v;
    std::vector<Value> items;
    for (const Value& item : v.items) items.push_back(made(item, nullptr, n));
    const Type t = v.type;
    Value r = tuple_of(std::move(items));
    if (r.type && !t->fields.empty()) r.type = named_tuple_type(t->object, t->name, t->fields, r.type->items);
    return r;
  }
  if (!v.display) return v;
  if (v.is(Kind::tuple)) {
    Type element = hint && hint->is(Kind::list) ? hint->element : nullptr;
    const Value whole = v.items.empty() && !v.simple && !v.type->items.empty() ? spill(v) : v;
    const std::vector<Type>& items = v.type->items;
    if (!items.empty() && std::all_of(items.begin(), items.end(), [](Type t) { return t && t->is(Kind::none); }) && !element)
      fail(n, "a list of None holds nothing that a compiled function could use", {}, "fill it with numbers, or use an array");
    Value r;
    for (size_t i = 0; i < v.type->items.size(); ++i) {
      Value item = made(tuple_item(whole, i), element, n);
      if (!item.type) return {};
      if (item.lazy) item = bound(materialise(item, n));
      const Type both = widened(element, item.type);
      if (!both || !can_be_held(both) || item.is_mixed_list()) return v;  // values of several types stay a tuple
      element = both;
      r.items.push_back(std::move(item));
    }
    r.type = list_type(element);
    r.display = true;
    return finished(r, n);
  }
  Value r = v;
  const Type both = widened(v.type, hint && hint->kind == v.type->kind ? hint : nullptr);
  if (both) r.type = both;
  return finished(r, n);
}

/// made(), with memory of its own for an array expression.
Value FunctionCompiler::kept(const Value& v, Type hint, const Node* n) {
  Value r = made(v, hint, n);
  expect_no_mixed_list(r, n);
  return r.lazy ? bound(materialise(r, n)) : r;
}

void FunctionCompiler::expect_no_mixed_list(const Value& v, const Node* n) const {
  if (v.is_mixed_list())
    fail(n, "a list of values of several types stays in the function and the variable that made it", {{source_of(n), v.type}},
         "use a tuple, or a list of one type");
}

/// A display whose type is known, as an expression that makes it.
Value FunctionCompiler::finished(const Value& display, const Node* n) {
  if (!display.display || is_incomplete(display.type)) return display;
  return Value::called(display.type, display_text(display, display.type, n));
}

Code FunctionCompiler::display_text(const Value& v, Type to, const Node* n) {
  if (is_incomplete(to)) {
    if (emitting_)
      fail(n, fmt::format("the type of what is in {} is not known: nothing is ever put into it", to->spelling), {},
           "put something in, or give its type with typed.List.empty_list or typed.Dict.empty");
    return "{}";
  }
  Code list;
  if (to->is(Kind::dict)) {
    if (v.items.empty()) return code("py::new_table<{}>()", cpp(to));
    const std::string name = temporary("dict");
    linef("const {} {} = py::new_table<{}>();", cpp(to), name, cpp(to));
    for (size_t i = 0; i + 1 < v.items.size(); i += 2)
      linef("{}.put({}, {});", name, convert(made(v.items[i], to->items[0], n), to->items[0], n),
            convert(made(v.items[i + 1], to->items[1], n), to->items[1], n));
    return name;
  }
  for (const Value& item : v.items)
    list += (list.empty() ? "" : ", ") + code("{}({})", cpp(to->element), convert(made(item, to->element, n), to->element, n));
  return code("py::{}<{}>({})", to->is(Kind::set) ? "set_of" : "list_of", cpp(to->element), list);
}

/// {a, b} and {k: v}.
Value FunctionCompiler::table_display(const Node* n) {
  if (!host()) fail(n, "sets and dicts are not supported in kernels", {}, "use arrays");
  Value r;
  r.display = true;
  r.items = ordered({n->list.begin(), n->list.end()});
  Type key = nullptr, value = nullptr;
  for (size_t i = 0; i < r.items.size(); ++i) {
    Value& item = r.items[i];
    item = made(item, nullptr, n);
    if (!item.type) return {};
    expect_no_mixed_list(item, n->list[i]);
    if (item.lazy) item = bound(materialise(item, n));
    Type& part = n->kind == NodeKind::dict && i % 2 == 1 ? value : key;
    const Type both = widened(part, item.type);
    if (!both)
      fail(n->list[i], "what a set or dict holds has one type", {{"so far", part}, {"now", item.type}},
           "use one type, or a named tuple for values that are looked up by names");
    part = both;
  }
  if (!can_be_key(key)) fail(n, fmt::format("{} cannot be a key", key->spelling), {}, "keys are numbers, strings and tuples of them");
  if (value && value->is(Kind::none)) fail(n, "a dict whose values are all None is a set", {}, "write {…} without the values");
  r.type = n->kind == NodeKind::dict ? dict_type(key, value) : set_type(key);
  return r;
}

/// An empty container, or one of what an iterable gives: list(), set(x), dict(d), typed.List(), frozenset(x), tuple-free.
Value FunctionCompiler::call_container(const std::string& name, const CallArguments& args, const Node* n) {
  const auto& p = args.positional;
  if (p.size() > 1 || !args.keywords.empty()) fail(n, fmt::format("{}() takes one iterable", name));
  const bool typed = name == "List";
  if (p.empty()) {
    Value r;
    r.display = true;
    r.type = name == "dict" || name == "Dict" ? dict_type(nullptr, nullptr)
             : name == "list" || typed        ? list_type(nullptr, typed)
                                              : set_type(nullptr);
    return r;
  }
  if (name == "dict" || name == "Dict") {
    if (p[0].is(Kind::dict)) return p[0].display ? p[0] : Value::called(p[0].type, code("{}.copy()", paren(p[0])));
    Value pairs = list_from(p[0], n);
    if (!pairs.type || is_incomplete(pairs.type)) return {};
    if (!pairs.type->element->is_tuple() || pairs.type->element->items.size() != 2)
      fail(n, fmt::format("dict() does not take {}", p[0].type->spelling));
    pairs = spill(pairs);
    const Type t = dict_type(pairs.type->element->items[0], pairs.type->element->items[1]);
    const std::string d = temporary("dict"), k = temporary("k");
    linef("const {} {} = py::new_table<{}>();", cpp(t), d, cpp(t));
    Value item = Value::of(pairs.type->element, code("{}.data()[{}]", pairs.text, k));
    item.simple = true;
    linef("for (i64 {0} = 0; {0} < {1}.size(); ++{0}) {2}.put({3}, {4});", k, pairs.text, d, tuple_item(item, 0).text,
          tuple_item(item, 1).text);
    Value r = Value::of(t, d);
    r.simple = true;
    return r;
  }
  if (name == "list" || typed) {
    Value r = list_from(p[0], n);
    if (r.type && typed && !r.type->typed) {
      r.type = list_type(r.type->element, true);
    }
    return r;
  }
  return collected("set", p[0], nullptr, n);
}

/// The items of an iterable as a new list.
Value FunctionCompiler::list_from(const Value& v, const Node* n) {
  if (v.is(Kind::list)) {
    if (is_incomplete(v.type)) return v;
    if (v.display) return made(v, nullptr, n);
    return Value::called(v.type, code("{}.copy()", paren(v)));
  }
  if (v.is(Kind::builtin) && (v.type->name == "dict.keys" || v.type->name == "dict.values")) {
    const Value& d = v.items[0];
    if (is_incomplete(d.type)) return {};
    return Value::called(list_type(d.type->items[v.type->name == "dict.keys" ? 0 : 1]),
                         v.type->name == "dict.keys" ? code("{}.keys()", paren(d)) : code("{}.values()", paren(d)));
  }
  if ((v.is(Kind::set) || v.is(Kind::dict)) && !is_incomplete(v.type) && !v.display) {
    unit_.changes_containers = true;
    return Value::called(list_type(v.is(Kind::set) ? v.type->element : v.type->items[0]), code("{}.keys()", paren(v)));
  }
  if (v.is(Kind::tuple)) {
    Value display = v;
    display.display = true;
    Value r = made(display, nullptr, n);
    if (r.is(Kind::tuple)) fail(n, fmt::format("a list holds values of one type, not {}", v.type->spelling));
    return r;
  }
  return collected("list", v, nullptr, n);
}

/// A loop over an iterable. `begin` is told an item's type before the loop, `turn` prints the body, which goes on by `next` or ends the
/// loop by `stop`; false: the type is not known yet.
bool FunctionCompiler::walk_items(const Value& given, const Node* n, const std::function<void(Type)>& begin,
                                  const std::function<void(const Value& item, const char* next, const char* stop)>& turn) {
  const Value over = given.display ? made(given, nullptr, n) : given;
  if (is_incomplete(over.type) && over.type && over.type->is_container()) return false;
  auto walk = called_iteration(over, n);
  const bool called = walk.has_value(), lasts = !called && ends_with_finally(over);
  Block before = captured([&] {
    if (!called) walk = iteration(over, n);
  });
  if (!walk) fail(n, fmt::format("cannot loop over {}", over.type->spelling));
  const std::string k = temporary("k");
  Value probe;
  const bool emitting = std::exchange(emitting_, false);
  captured([&] { probe = walk->item(k); });
  emitting_ = emitting;
  if (!probe.type) return false;
  begin(stored_type(made(probe, nullptr, n).type));
  if (lasts) line("{");
  out_ += before;
  line(called ? walk->call : code("{} {{", walk->head(k, true)));
  polls_ = true;
  ++depth_;
  ++throws_;
  turn(walk->item(k), called ? "return 0;" : "continue;", called ? "return 1;" : "break;");
  --throws_;
  --depth_;
  line(called ? "  return 0; });" : "}");
  if (lasts) line("}");
  return true;
}

/// A new list or set of what an iterable gives; `keep`: the function of filter().
Value FunctionCompiler::collected(const std::string& what, const Value& over, const Value* keep, const Node* n) {
  const std::string out = temporary(what.c_str());
  const bool set = what == "set";
  Type element = nullptr, t = nullptr;
  const auto begin = [&](Type found) {
    element = found;
    if (set && !can_be_key(element)) fail(n, fmt::format("{} cannot be in a set", element->spelling));
    t = set ? set_type(element) : list_type(element);
    // The elements of a range differ, so that their number is the set's.
    const bool range = set && !keep && over.is(Kind::range) && over.items.size() == 3 &&
                       std::all_of(over.items.begin(), over.items.end(), [](const Value& v) { return v.simple || v.constant; });
    const auto part = [&](size_t i) { return convert(over.items[i], int64_type(), n); };
    const Code room = range ? code("py::range_length({}, {}, {})", part(0), part(1), part(2)) : Code("8");
    linef("const {} {} = {};", cpp(t), out, set ? code("py::new_table<{}>({})", cpp(t), room) : code("py::new_list<{}>(0)", cpp(element)));
  };
  const auto put = [&](Value item, const char* next, const char*) {
    if (keep) {
      item = spill(item);
      linef("if (!({})) {}", truth(keep->is_none() ? item : call_value(*keep, {{item}, {n}, {}}, n), n).text, next);
    }
    linef("{}.{}({});", out, set ? "add" : "append", convert(kept(item, element, n), element, n));
  };
  if (!walk_items(over, n, begin, put)) return {};
  Value r = Value::of(t, out);
  r.simple = true;
  return r;
}

Value FunctionCompiler::tested(bool any, const Value& over, const Test& test, const Node* n) {
  const std::string out = temporary(any ? "any" : "all");
  const auto begin = [&](Type) { linef("bool {} = {};", out, !any); };
  const auto ask = [&](const Value& item, const char*, const char* stop) {
    const Code holds = truth(test(item), n).text;
    linef("if ({}({})) {{ {} = {}; {} }}", any ? "" : "!", holds, out, any, stop);
  };
  if (!walk_items(over, n, begin, ask)) return {};
  Value r = Value::of(bool_type(), out);
  r.simple = r.non_negative = true;
  return r;
}

/// The list's elements as a vector over its memory.
Value FunctionCompiler::list_array(const Value& list) {
  if (!list.type->element || !list.type->element->is_scalar()) return list;
  Value r = Value::of(array_type(list.type->element, 1, 'C'), code("{}.array()", paren(list)));
  r.note(kReads);
  return bound(r, "v");
}

// ---- methods ----------------------------------------------------------------------------------------------------------------------

/// object.name(…) of a container, whose type the call may tell.
Value FunctionCompiler::container_call(Value given, const Node* n) {
  const std::string& name = n->a->text;
  const bool looks = given.is(Kind::dict) ? name == "get" : given.is(Kind::list) && (name == "index" || name == "count" || name == "copy");
  unit_.changes_containers |= !looks;
  CallArguments args = arguments(n, &given, name != "append" && name != "insert" && name != "add");
  if (!args.keywords.empty() && name != "sort") fail(n, fmt::format(".{}() takes no argument '{}' by name", name, args.keywords[0].first));
  for (Value& v : args.positional) {
    const bool element = name == "append" || name == "insert" || name == "setdefault";
    v = made(v, element && given.is(Kind::list) ? given.type->element : given.is(Kind::dict) ? given.type->items[1] : nullptr, n);
    if (v.lazy) v = bound(materialise(v, n));
    if (!v.type) return {};
  }
  const auto& p = args.positional;
  const Type t = given.type;
  if (!emitting_) {
    const auto item_of = [&](const Value& v) -> Type {
      if (v.type->is_container()) return v.is(Kind::dict) ? v.type->items[0] : v.type->element;
      Type found = nullptr;
      captured([&] {
        if (const auto walk = iteration(v, n)) found = stored_type(walk->item("k").type);
      });
      return found;
    };
    const Node* target = n->a->a;
    if (t->is(Kind::list)) {
      if (name == "append" && p.size() == 1) refine(target, list_type(stored_type(p[0].type), t->typed), n);
      if (name == "insert" && p.size() == 2) refine(target, list_type(stored_type(p[1].type), t->typed), n);
      if (name == "extend" && p.size() == 1) refine(target, list_type(item_of(p[0]), t->typed), n);
    } else if (t->is(Kind::set)) {
      if (name == "add" && p.size() == 1) refine(target, set_type(stored_type(p[0].type)), n);
      if (name == "update" && p.size() == 1) refine(target, set_type(item_of(p[0])), n);
    } else {
      if (name == "setdefault" && p.size() == 2) refine(target, dict_type(stored_type(p[0].type), stored_type(p[1].type)), n);
      if (name == "update" && p.size() == 1 && p[0].is(Kind::dict)) refine(target, p[0].type, n);
    }
    // While the type is in the making, nothing is printed.
    const auto fits = [&](const Value& v, Type to) { return !to || converts(v.type, to); };
    const Type held = t->is(Kind::dict) ? t->items[1] : t->element;
    const bool growing = name == "append" || name == "insert" || name == "add" || name == "setdefault";
    if (is_incomplete(t) || (growing && !p.empty() && !fits(p.back(), held))) {
      if (name == "pop" || name == "get" || name == "setdefault") {
        Value r;
        // A list or dict that is put in may be filled where it stands.
        const auto tells = [&](Type made) { return made && (!is_incomplete(made) || (name == "setdefault" && made->is_container())); };
        if (tells(held))
          r = Value::of(held, "");
        else if (p.size() == 2 && !p[1].is_none() && tells(p[1].type))
          r = Value::of(stored_type(p[1].type), "");
        return r;
      }
      if (name == "keys" || name == "values" || name == "items") {
        Value v = Value::known(builtin_type("dict." + name));
        v.items = {given};
        return v;
      }
      if (name == "copy") return Value::of(t, "");
      return Value::known(none_type());
    }
  }
  const Value self = given.display ? finished(given, n) : given;
  if (t->is(Kind::list)) return list_method(self, name, args, n);
  return t->is(Kind::set) ? set_method(self, name, args, n) : dict_method(self, name, args, n);
}

Value FunctionCompiler::list_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n) {
  const auto& p = args.positional;
  const Type element = self.type->element;
  const auto need = [&](size_t low, size_t high, bool keywords = false) {
    if (p.size() < low || p.size() > high || (!keywords && !args.keywords.empty()))
      fail(n, fmt::format("list.{}() takes {} argument{}, got {}", name, high, high == 1 ? "" : "s", p.size()));
  };
  const auto done = [&] { return Value::known(none_type()); };
  // What is looked for may have a type of its own.
  const auto sought = [&](const Value& v) { return v.is_scalar() && element->is_scalar() ? v.text : convert(v, element, n); };
  const Code l = paren(self);
  if (name == "append") {
    need(1, 1);
    linef("{}.append({});", l, convert(p[0], element, n));
    return done();
  }
  if (name == "extend") {
    need(1, 1);
    if (p[0].type == self.type || (p[0].is(Kind::list) && p[0].type->element == element)) {
      linef("{}.extend({});", l, p[0].text);
      return done();
    }
    const auto walk = iteration(p[0], n);
    if (!walk) fail(n, fmt::format("list.extend() does not take {}", p[0].type->spelling));
    const std::string k = temporary("k");
    linef("{} {{", walk->head(k));
    polls_ = true;
    ++depth_;
    linef("{}.append({});", l, convert(walk->item(k), element, n));
    --depth_;
    line("}");
    return done();
  }
  if (name == "insert") {
    need(2, 2);
    linef("{}.insert({}, {});", l, whole_number(p[0], "an index", n), convert(p[1], element, n));
    return done();
  }
  if (name == "clear" || name == "reverse") {
    need(0, 0);
    linef("{}.{}();", l, name);
    return done();
  }
  if (name == "pop") {
    need(0, 1);
    return Value::called(element, code("{}.pop({})", l, p.empty() ? "-1" : whole_number(p[0], "an index", n)));
  }
  if (name == "copy") {
    need(0, 0);
    return Value::called(self.type, code("{}.copy()", l));
  }
  if (name == "remove") {
    need(1, 1);
    linef("{}.remove({});", l, sought(p[0]));
    return done();
  }
  if (name == "count") {
    need(1, 1);
    return Value::called(int64_type(), code("{}.count({})", l, sought(p[0])));
  }
  if (name == "index") {
    need(1, 3);
    return Value::called(int64_type(), code("{}.index({}, {}, {})", l, sought(p[0]), p.size() > 1 ? whole_number(p[1], "an index", n) : "0",
                                            p.size() > 2 ? whole_number(p[2], "an index", n) : code("{}.size()", l)));
  }
  if (name == "sort") {
    need(0, 0, true);
    sort_list(self, args, n);
    return done();
  }
  fail(n, fmt::format("lists have no method '{}' in compiled functions", name), {},
       nearest(name, {"append", "extend", "insert", "pop", "clear", "copy", "sort", "reverse", "count", "index", "remove"}));
}

/// Sorts a list by the keywords `key` and `reverse`.
void FunctionCompiler::sort_list(const Value& list, const CallArguments& args, const Node* n) {
  Code reverse = "false", key;
  for (const auto& [name, v] : args.keywords) {
    if (name == "reverse") {
      reverse = truth(v, n).text;
    } else if (name == "key") {
      if (v.is_none()) continue;
      const std::string x = temporary("x");
      Value item = Value::of(list.type->element, x);
      item.simple = true;
      Value result;
      ++throws_;
      const Block lines = captured([&] {
        result = made(call_value(v, {{item}, {n}, {}}, n), nullptr, n);
        if (result.type) result = converted(result, stored_type(result.type), n);
      });
      --throws_;
      if (!result.type) return;
      expect_order(result.type, n);
      const std::string indent(static_cast<size_t>(2 * depth_), ' ');
      key = code(", [&](const {}& {}) {{\n{}{}  return {};\n{}}}", cpp(list.type->element), x, lines, indent,
                 result.is(Kind::tuple) ? struct_text(result) : result.text, indent);
    } else {
      fail(n, fmt::format("sort() has no parameter '{}'", name));
    }
  }
  if (key.empty()) expect_order(list.type->element, n);
  linef("py::sort_list({}, {}{});", list.text, reverse, key);
}

void FunctionCompiler::expect_order(Type t, const Node* n) const {
  if (!has_order(t)) fail(n, fmt::format("{} values have no order", t->spelling), {}, "give a key that is a number, a text or a tuple");
}

Value FunctionCompiler::set_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n) {
  const auto& p = args.positional;
  const Type element = self.type->element;
  const Code s = paren(self);
  const auto other = [&]() -> Code {
    if (p[0].type == self.type) return p[0].text;
    const Value made_of = collected("set", p[0], nullptr, n);
    if (made_of.type != self.type)
      fail(n, fmt::format("set.{}() takes a set of the same type", name), {{"set", self.type}, {"argument", p[0].type}});
    return made_of.text;
  };
  constexpr std::pair<const char*, int> kWays[] = {{"union", 0}, {"intersection", 1}, {"difference", 2}, {"symmetric_difference", 3}};
  constexpr std::pair<const char*, int> kUpdates[] = {
      {"update", 0}, {"intersection_update", 1}, {"difference_update", 2}, {"symmetric_difference_update", 3}};
  if (p.size() == 1 && args.keywords.empty()) {
    if (name == "add" || name == "discard" || name == "remove") {
      linef("{}.{}({});", s, name, convert(p[0], element, n));
      return Value::known(none_type());
    }
    for (const auto& [way, how] : kWays)
      if (name == way) return Value::called(self.type, code("py::combined({}, {}, {})", self.text, other(), how));
    for (const auto& [way, how] : kUpdates)
      if (name == way) {
        if (how == 0)
          linef("{}.update({});", s, other());
        else
          linef("py::combine_into({}, {}, {});", self.text, other(), how);
        return Value::known(none_type());
      }
    if (name == "issubset") return Value::called(bool_type(), code("py::is_subset({}, {})", self.text, other()));
    if (name == "issuperset") return Value::called(bool_type(), code("py::is_subset({}, {})", other(), self.text));
    if (name == "isdisjoint") return Value::called(bool_type(), code("py::is_disjoint({}, {})", self.text, other()));
  }
  if (p.empty()) {
    if (name == "pop") return Value::called(element, code("{}.pop_any()", s));
    if (name == "copy") return Value::called(self.type, code("{}.copy()", s));
    if (name == "clear") {
      linef("{}.clear();", s);
      return Value::known(none_type());
    }
  }
  fail(n, fmt::format("sets have no method '{}' of {} arguments in compiled functions", name, p.size()), {},
       nearest(name, {"add", "discard", "remove", "union", "intersection", "difference", "symmetric_difference", "update", "issubset",
                      "issuperset", "isdisjoint", "pop", "copy", "clear"}));
}

Value FunctionCompiler::dict_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n) {
  const auto& p = args.positional;
  const Type key = self.type->items[0], value = self.type->items[1];
  const Code d = paren(self);
  if (name == "keys" || name == "values" || name == "items") {
    Value v = Value::known(builtin_type("dict." + name));
    v.items = {self.simple ? self : spill(self)};
    return v;
  }
  if (name == "get" && p.size() == 1) return Value::called(optional_type(value), code("{}.get({})", d, convert(p[0], key, n)));
  if (name == "get" && p.size() == 2) {
    const Type t = p[1].is_none() ? optional_type(value) : value;
    if (p[1].is_none()) return Value::called(t, code("{}.get({})", d, convert(p[0], key, n)));
    return Value::called(t, code("{}.get({}, {}({}))", d, convert(p[0], key, n), cpp(value), convert(p[1], value, n)));
  }
  if (name == "pop" && (p.size() == 1 || p.size() == 2))
    return Value::called(value, p.size() == 1 ? code("{}.pop({})", d, convert(p[0], key, n))
                                              : code("{}.pop({}, {}({}))", d, convert(p[0], key, n), cpp(value), convert(p[1], value, n)));
  if (name == "setdefault" && p.size() == 2)
    return Value::called(value, code("{}.set_default({}, {}({}))", d, convert(p[0], key, n), cpp(value), convert(p[1], value, n)));
  if (name == "popitem" && p.empty()) {
    const std::string last = temporary("last");
    linef("const auto {} = {}.pop_last(false);", last, d);
    Value a = Value::of(key, code("{}.key", last)), b = Value::of(value, code("{}.value", last));
    a.simple = b.simple = true;
    return tuple_of({a, b});
  }
  if (name == "update" && p.size() == 1 && p[0].is(Kind::dict)) {
    if (p[0].type != self.type) fail(n, "dict.update() takes a dict of the same type", {{"dict", self.type}, {"argument", p[0].type}});
    linef("{}.update({});", d, p[0].text);
    return Value::known(none_type());
  }
  if (name == "copy" && p.empty()) return Value::called(self.type, code("{}.copy()", d));
  if (name == "clear" && p.empty()) {
    linef("{}.clear();", d);
    return Value::known(none_type());
  }
  fail(n, fmt::format("dicts have no method '{}' of {} arguments in compiled functions", name, p.size()), {},
       nearest(name, {"keys", "values", "items", "get", "pop", "setdefault", "popitem", "update", "copy", "clear"}));
}

// ---- operators --------------------------------------------------------------------------------------------------------------------

/// Two lists of numbers of unlike types as lists of the type that holds both. `cpp` names a type.
template <class Name>
static std::optional<std::pair<Value, Value>> numbers_of_one_type(const Value& a, const Value& b, const Name& cpp) {
  if (!a.is(Kind::list) || !b.is(Kind::list) || !a.type->element->is_scalar() || !b.type->element->is_scalar()) return std::nullopt;
  const Type element = unify(a.type->element, b.type->element);
  if (!element) return std::nullopt;
  const auto as = [&](const Value& v) {
    const Type t = list_type(element, v.type->typed);
    return v.type == t ? v : Value::called(t, code("py::list_as<{}>({})", cpp(element), v.text));
  };
  return std::pair{as(a), as(b)};
}

/// Operators on containers and texts; nothing where it is not theirs.
std::optional<Value> FunctionCompiler::container_binary(Operator op, const Value& x, const Value& y, const Node* n) {
  if (!host()) return std::nullopt;
  const auto ours = [](const Value& v) { return v.display || v.type->is_container() || v.is(Kind::text); };
  if (!ours(x) && !ours(y) && !((x.is(Kind::string) || y.is(Kind::string)) && !(x.is(Kind::string) && y.is(Kind::string))))
    return std::nullopt;
  if (x.is_array() || y.is_array()) return std::nullopt;
  const Value a = made(x, y.type->is_container() ? y.type : nullptr, n), b = made(y, x.type->is_container() ? x.type : nullptr, n);
  if ((a.type->is_container() && is_incomplete(a.type)) || (b.type->is_container() && is_incomplete(b.type))) {
    if (op == Operator::mul || op == Operator::add) {
      Value r;
      r.type = a.type->is_container() ? (b.type->is_container() ? widened(a.type, b.type) : a.type) : b.type;
      if (op == Operator::mul && a.display && a.items.empty()) r.display = true;
      return r;
    }
    return Value{};
  }
  const bool integer_b = b.is_scalar() && !is_inexact(b.type->dtype), integer_a = a.is_scalar() && !is_inexact(a.type->dtype);
  if (is_text(a.type) && is_text(b.type) && op == Operator::add)
    return Value::called(text_type(), code("py::concatenated({}, {})", convert(a, text_type(), n), convert(b, text_type(), n)));
  if (op == Operator::mul && is_text(a.type) && integer_b)
    return Value::called(text_type(), code("py::repeated({}, {})", convert(a, text_type(), n), convert(b, int64_type(), n)));
  if (op == Operator::mul && is_text(b.type) && integer_a)
    return Value::called(text_type(), code("py::repeated({}, {})", convert(b, text_type(), n), convert(a, int64_type(), n)));
  if (a.is(Kind::list) && b.is(Kind::list) && op == Operator::add) {
    if (a.type->element != b.type->element) {
      // A display takes the other's type.
      const Type t = x.display ? b.type : a.type;
      if (const auto numbers = numbers_of_one_type(a, b, [&](Type t) { return cpp(t); }))
        return Value::called(numbers->first.type, code("py::joined({}, {})", numbers->first.text, numbers->second.text));
      if (!x.display && !y.display)
        fail(n, "no operator + for lists of unlike types", {{source_of(n->a), a.type}, {source_of(n->b), b.type}});
      const Value p = x.display ? finished(made(x, t, n), n) : a, q = x.display ? b : finished(made(y, t, n), n);
      if (p.type->element != q.type->element)
        fail(n, "no operator + for lists of unlike types", {{source_of(n->a), a.type}, {source_of(n->b), b.type}});
      return Value::called(t, code("py::joined({}, {})", p.text, q.text));
    }
    return Value::called(list_type(a.type->element, a.type->typed), code("py::joined({}, {})", a.text, b.text));
  }
  if (a.is(Kind::list) && integer_b && op == Operator::mul)
    return Value::called(a.type, code("py::times({}, {})", a.text, convert(b, int64_type(), n)));
  if (b.is(Kind::list) && integer_a && op == Operator::mul)
    return Value::called(b.type, code("py::times({}, {})", b.text, convert(a, int64_type(), n)));
  unit_.changes_containers |= a.is(Kind::set) || a.is(Kind::dict);
  if (a.is(Kind::set) && a.type == b.type) {
    const int how = op == Operator::bit_or ? 0 : op == Operator::bit_and ? 1 : op == Operator::sub ? 2 : op == Operator::bit_xor ? 3 : -1;
    if (how >= 0) return Value::called(a.type, code("py::combined({}, {}, {})", a.text, b.text, how));
  }
  if (a.is(Kind::dict) && a.type == b.type && op == Operator::bit_or) {
    const Value r = spill(Value::called(a.type, code("{}.copy()", paren(a))));
    linef("{}.update({});", r.text, b.text);
    return r;
  }
  return std::nullopt;
}

/// `x op= y` of a container: it is changed in place. False where that is not its operator.
bool FunctionCompiler::container_update(const Node* target, Operator op, const Value& a, const Value& given, const Node* n) {
  if (!a.type || !a.type->is_container()) return false;
  unit_.changes_containers = true;
  if (!given.type) return true;
  const Value b = made(given, a.type, n);
  if (a.is(Kind::list) && op == Operator::add) {
    if (!emitting_) {
      Type element = nullptr;
      if (b.type->is_container())
        element = b.type->element;
      else
        captured([&] {
          if (const auto walk = iteration(b, n)) element = stored_type(walk->item("k").type);
        });
      refine(target, list_type(element, a.type->typed), n);
      if (is_incomplete(a.type) || is_incomplete(b.type)) return true;
    }
    list_method(a, "extend", {{b.display ? finished(made(b, a.type, n), n) : b}, {n}, {}}, n);
    return true;
  }
  if (is_incomplete(a.type)) return true;
  if (a.is(Kind::set) && a.type == b.type) {
    const int how = op == Operator::bit_or ? 0 : op == Operator::bit_and ? 1 : op == Operator::sub ? 2 : op == Operator::bit_xor ? 3 : -1;
    if (how < 0) return false;
    linef("py::combine_into({}, {}, {});", a.text, b.text, how);
    return true;
  }
  if (a.is(Kind::dict) && a.type == b.type && op == Operator::bit_or) {
    linef("{}.update({});", paren(a), b.text);
    return true;
  }
  return false;
}

namespace {

/// A truth that reads a container, and may compare what a user's class compares.
Value truth_of_container(Code text) {
  Value r = Value::of(bool_type(), std::move(text));
  r.note(kReads | kActs);
  r.non_negative = true;
  return r;
}

bool is_order(Operator op) { return op == Operator::lt || op == Operator::le || op == Operator::gt || op == Operator::ge; }

}  // namespace

/// x in y.
std::optional<Value> FunctionCompiler::contained(Operator op, const Value& x, const Value& y, const Node* n) {
  const std::string negation = op == Operator::not_in ? "!" : "";
  if (x.is_array() && x.type->ndim > 0 && !is_bytes(x.type) && !y.is_array())
    fail(n, fmt::format("'in' does not look for {}: its comparison with an item has several truths", x.type->spelling), {},
         "use numpy.isin");
  if (y.display && y.is(Kind::tuple) && !y.type->items.empty()) return std::nullopt;  // compared one by one
  if (is_text(y.type)) {
    if (x.is(Kind::string) && y.is(Kind::string))
      return constant_value(Constant{(y.type->name.find(x.type->name) != std::string::npos) != (op == Operator::not_in)});
    if (!is_text(x.type)) fail(n, fmt::format("'in <str>' needs a str, not {}", x.type->spelling));
    return truth_of_container(code("{}py::contains_text({}, {})", negation, convert(y, text_type(), n), convert(x, text_type(), n)));
  }
  if (y.is(Kind::builtin) && y.type->name == "dict.keys") return container_compare(op, x, y.items[0], n);
  Value c = y;
  if (y.is(Kind::builtin) && y.type->name == "dict.values") c = list_from(y, n);
  if (y.is(Kind::generator) || (y.is(Kind::builtin) && y.type->name == "map")) {
    const Value item = x.simple ? x : spill(x, "item");
    const Value r = tested(true, y, [&](const Value& one) { return compare_two(Operator::eq, one, item, n); }, n);
    return op == Operator::in || !r.type ? r : truth_of_container("!" + paren(r));
  }
  if (!c.type || !c.type->is_container()) return std::nullopt;
  if (c.display) c = finished(made(c, nullptr, n), n);
  if (is_incomplete(c.type)) {
    if (emitting_) display_text(Value{}, c.type, n);
    return truth_of_container("false");
  }
  const Type key = c.is(Kind::dict) ? c.type->items[0] : c.type->element;
  if (x.is(Kind::time) && key && key->is(Kind::time) && !converts(x.type, key))
    fail(n, fmt::format("{} is not looked for among {}", x.type->spelling, key->spelling), {}, "convert it with .astype()");
  if (!converts(x.type, key)) return constant_value(Constant{op == Operator::not_in});
  const Code item =
      c.is(Kind::list) && x.is_scalar() && key->is_scalar() ? x.text : code("{}({})", cpp(key), convert(made(x, key, n), key, n));
  return truth_of_container(code("{}{}.has({})", negation, paren(c), item));
}

/// Texts, of which none equals what is no text.
std::optional<Value> FunctionCompiler::text_compare(Operator op, const Value& x, const Value& y, const Node* n) {
  const bool texts = is_text(x.type) && is_text(y.type) && (x.is(Kind::text) || y.is(Kind::text));
  if (texts && (read_from_characters(x) || read_from_characters(y))) {
    const auto operand = [&](const Value& v) { return read_from_characters(v) ? v.items[0].text : convert(v, text_type(), n); };
    const char* sign = op == Operator::is ? "==" : op == Operator::is_not ? "!=" : to_string(op);
    return truth_of_container(operation(code("py::order_of({}, {})", operand(x), operand(y)), sign, "0"));
  }
  if (texts) {
    const Code a = convert(x, text_type(), n), b = convert(y, text_type(), n);
    if (op == Operator::eq || op == Operator::is) return truth_of_container(code("py::same_text({}, {})", a, b));
    if (op == Operator::ne || op == Operator::is_not) return truth_of_container(code("!py::same_text({}, {})", a, b));
    return truth_of_container(operation(code("py::order_of({}, {})", a, b), to_string(op), "0"));
  }
  if (is_text(x.type) != is_text(y.type) && (x.is(Kind::text) || y.is(Kind::text)) && (op == Operator::eq || op == Operator::ne) &&
      !x.is(Kind::optional) && !y.is(Kind::optional) && !x.is_none() && !y.is_none())
    return constant_value(Constant{op == Operator::ne});
  return std::nullopt;
}

/// Tuples in their order.
std::optional<Value> FunctionCompiler::tuple_order(Operator op, const Value& x, const Value& y, const Node* n) {
  if (!x.is(Kind::tuple) || !y.is(Kind::tuple) || !is_order(op)) return std::nullopt;
  const Type t = widened(x.type, y.type);
  if (!t) return std::nullopt;
  const Value a = stored(converted(x, t, n)), b = stored(converted(y, t, n));
  const bool swap = op == Operator::gt || op == Operator::le, negate = op == Operator::le || op == Operator::ge;
  return truth_of_container(code("{}py::less_than({}, {})", negate ? "!" : "", swap ? b.text : a.text, swap ? a.text : b.text));
}

/// Comparisons of what may be None.
Value FunctionCompiler::compare_optional(Operator op, const Value& a, const Value& b, const Node* n) {
  const bool equality = op == Operator::eq || op == Operator::ne || op == Operator::is || op == Operator::is_not;
  const bool negated = op == Operator::ne || op == Operator::is_not;
  if (!equality) {
    const auto value = [&](const Value& v) { return v.is(Kind::optional) ? converted(v, v.type->element, n) : v; };
    return compare_two(op, value(a), value(b), n);
  }
  // Equal are two values that are equal, and None and None.
  std::vector<Code> there;
  const auto value = [&](const Value& v) {
    if (!v.is(Kind::optional)) return v.simple ? v : spill(v);
    const Code whole = v.simple ? v.text : spill(v).text;
    there.push_back(code("{}.there", whole));
    return Value::of(v.type->element, code("{}.value", whole));
  };
  const Value x = value(a), y = value(b);
  const bool identity = op == Operator::is || op == Operator::is_not;
  const Code same = truth(compare_two(identity ? Operator::is : Operator::eq, x, y, n), n).text;
  const Code equal =
      there.size() == 1 ? all_of({there[0], same}, true) : code("({0} == {1} && (!{0} || {2}))", there[0], there[1], operand(same));
  return Value::of(bool_type(), negated ? code("!({})", equal) : equal);
}

/// The order of two lists, or whether a set is a part of another one.
std::optional<Value> FunctionCompiler::container_order(Operator op, const Value& a, const Value& b) {
  if (a.is(Kind::list)) {
    const bool swap = op == Operator::gt || op == Operator::le, negate = op == Operator::le || op == Operator::ge;
    return truth_of_container(code("{}{}.less({})", negate ? "!" : "", paren(swap ? b : a), (swap ? a : b).text));
  }
  if (a.is(Kind::set)) {
    const bool swap = op == Operator::gt || op == Operator::ge;
    const Code p = (swap ? b : a).text, q = (swap ? a : b).text;
    const bool strict = op == Operator::lt || op == Operator::gt;
    return truth_of_container(
        strict ? code("(py::is_subset({0}, {1}) && {2}.size() != {3}.size())", p, q, paren(swap ? b : a), paren(swap ? a : b))
               : code("py::is_subset({}, {})", p, q));
  }
  return std::nullopt;
}

std::optional<Value> FunctionCompiler::container_compare(Operator op, const Value& x, const Value& y, const Node* n) {
  if (!host()) return std::nullopt;
  if (op == Operator::in || op == Operator::not_in) return contained(op, x, y, n);
  if (auto r = text_compare(op, x, y, n)) return r;
  if (!x.type->is_container() && !y.type->is_container()) return tuple_order(op, x, y, n);
  const auto list = [](const Value& v) { return v.is(Kind::list) || (v.display && v.is(Kind::tuple)); };
  if ((x.is_array() && list(y)) || (y.is_array() && list(x))) {
    const auto array = [&](const Value& v) { return array_operand(v, false, to_string(op), "operand", n); };
    if (op != Operator::is && op != Operator::is_not) return compare_two(op, array(x), array(y), n);
  }
  const Value a = made(x, y.type, n), b = made(y, x.type, n);
  unit_.changes_containers |= a.is(Kind::set) || a.is(Kind::dict);
  if (!a.type->is_container() || a.type->kind != b.type->kind) {
    if ((op == Operator::eq || op == Operator::ne) && !a.is_none() && !b.is_none()) return constant_value(Constant{op == Operator::ne});
    return std::nullopt;
  }
  if (is_incomplete(a.type) && is_incomplete(b.type))  // nothing is ever put into either
    return truth_of_container(op == Operator::eq || op == Operator::le || op == Operator::ge ? "true" : "false");
  if (is_incomplete(a.type) || is_incomplete(b.type)) return truth_of_container("false");
  if (op == Operator::is || op == Operator::is_not)
    return truth_of_container(code("{}.owner {} {}.owner", paren(a), op == Operator::is ? "==" : "!=", paren(b)));
  if (cpp(a.type) != cpp(b.type)) {
    if (const auto numbers = numbers_of_one_type(a, b, [&](Type t) { return cpp(t); }))
      return container_compare(op, numbers->first, numbers->second, n);
    if (op == Operator::eq || op == Operator::ne)
      fail(n, fmt::format("no operator {} for {} and {}", to_string(op), a.type->spelling, b.type->spelling));
    return std::nullopt;
  }
  if (op == Operator::eq) return truth_of_container(code("{}.equals({})", paren(a), b.text));
  if (op == Operator::ne) return truth_of_container(code("!{}.equals({})", paren(a), b.text));
  return container_order(op, a, b);
}

// ---- items ------------------------------------------------------------------------------------------------------------------------

std::optional<Value> FunctionCompiler::container_item(const Value& given, const Value& index, const Node* n) {
  if (!host()) return std::nullopt;
  if (given.is(Kind::string) || given.is(Kind::text)) {
    if (index.is(Kind::slice))
      return Value::fetched(text_type(), code("py::sliced({}, {})", convert(given, text_type(), n), slice_text(index, n)));
    if (!(index.is_scalar() || index.is(Kind::literal)) || (index.is_scalar() && is_inexact(index.type->dtype)))
      fail(n, fmt::format("a str is indexed by integers, not {}", index.type->spelling));
    return Value::fetched(text_type(), code("py::character({}, {})", convert(given, text_type(), n), whole_number(index, "an index", n)));
  }
  Value object = given;
  const bool whole = index.is_scalar() || index.is(Kind::literal);
  if (object.display && object.is(Kind::tuple)) {
    // [a, b][i]: of an index that is known, the item itself. One out of range raises when it runs.
    const bool slice = index.is(Kind::slice);
    const auto count = static_cast<int64_t>(object.type->items.size());
    const bool outside = index.integer() && count > 0 && (*index.integer() >= count || *index.integer() < -count);
    if (!slice && !outside && (index.integer() || count == 0 || object.type->is_uniform())) return std::nullopt;
    object = finished(made(object, nullptr, n), n);
  }
  if (!object.type->is_container()) return std::nullopt;
  if (object.display) object = finished(object, n);
  if (is_incomplete(object.type)) {
    if (object.is(Kind::list) && index.is(Kind::slice)) return object.display ? object : Value::of(object.type, "");
    const Type held = object.is(Kind::dict) ? object.type->items[1] : object.type->element;
    if (held && held->is_container()) return Value::of(held, "");
    return Value{};
  }
  if (object.is(Kind::list)) {
    if (index.is(Kind::slice)) return Value::fetched(object.type, code("{}.slice({})", paren(object), slice_text(index, n)));
    if (!whole || (index.is_scalar() && is_inexact(index.type->dtype)))
      fail(n, fmt::format("a list is indexed by integers, not {}", index.type->spelling));
    return Value::fetched(object.type->element, code("{}.checked({})", paren(object), whole_number(index, "an index", n)));
  }
  if (object.is(Kind::dict)) {
    if (!converts(index.type, object.type->items[0]))
      fail(n, fmt::format("the keys are {}, not {}", object.type->items[0]->spelling, index.type->spelling),
           {{source_of(n->a), object.type}});
    return Value::fetched(object.type->items[1], code("{}.checked({})", paren(object), convert(index, object.type->items[0], n)));
  }
  fail(n, "a set cannot be indexed");
}

/// object[index] = value. False where the object is no container.
bool FunctionCompiler::container_store(const Node* target, const Value& object, const Value& index, const Value& given, const Node* at) {
  if (!object.type->is_container()) return false;
  if (!given.type) return true;
  const Type held = object.is(Kind::dict) ? object.type->items[1] : object.type->element;
  const bool slice = index.is(Kind::slice);
  Value value = made(given, slice ? object.type : held, at);
  if (value.lazy) value = bound(materialise(value, at));
  if (!value.type) return true;
  if (object.is(Kind::set)) fail(at, "the items of a set cannot be assigned");
  unit_.changes_containers = true;
  if (!emitting_) {
    if (object.is(Kind::dict))
      refine(target->a, dict_type(stored_type(index.type), stored_type(value.type)), at);
    else if (slice)
      refine(target->a, value.is(Kind::list) ? value.type : list_type(nullptr), at);
    else
      refine(target->a, list_type(stored_type(value.type), object.type->typed), at);
    if (is_incomplete(object.type) || is_incomplete(value.type) || (!slice && !converts(value.type, held))) return true;
  }
  if (object.is(Kind::dict)) {
    if (!can_be_key(object.type->items[0])) fail(at, fmt::format("{} cannot be a key", object.type->items[0]->spelling));
    linef("{}.put({}, {}({}));", paren(object), convert(index, object.type->items[0], target), cpp(held), convert(value, held, at));
    return true;
  }
  if (slice) {
    const Value list = value.is(Kind::list) ? value : list_from(value, at);
    if (list.type->element != held) fail(at, fmt::format("{} cannot be put into {}", list.type->spelling, object.type->spelling));
    linef("{}.assign_slice({}, {});", paren(object), slice_text(index, at), list.text);
    return true;
  }
  if (!converts(value.type, held)) fail(at, fmt::format("{} cannot be put into {}", value.type->spelling, object.type->spelling));
  linef("{}.set({}, {});", paren(object), whole_number(index, "an index", target), convert(value, held, at));
  return true;
}

/// object[index] op= value of a container's item.
bool FunctionCompiler::container_update_item(const Node* n) {
  const Node* t = n->a;
  const Value object = expression(t->a);
  if (!object.type || !object.type->is_container()) return false;
  unit_.changes_containers = true;
  Value index = made(expression(t->b), nullptr, n);
  if (object.is(Kind::list)) index = present(index, n);
  if (!index.type) return true;
  const Type held = object.is(Kind::dict) ? object.type->items[1] : object.type->element;
  if (object.is(Kind::dict) && !emitting_) refine(t->a, dict_type(stored_type(index.type), nullptr), n);
  if (is_incomplete(object.type)) {
    const Value right = expression(n->b);
    if (held && held->is_container()) container_update(t, n->op, Value::of(held, ""), right, n);
    return true;
  }
  const Value at = object.is(Kind::dict) ? spill(converted(index, object.type->items[0], n), "key")
                                         : spill(Value::of(int64_type(), whole_number(index, "an index", n)), "i");
  const Value whole = object.simple ? object : spill(object);
  Value old = Value::of(held, code("{}.checked({})", whole.text, at.text));
  old.note(kReads);
  const size_t before_right = out_.size();
  const Value right = expression(n->b);
  settle(before_right, right.acts(), std::array{&old});
  if (container_update(t, n->op, old, right, n)) return true;
  if (old.is_array() && old.type->ndim > 0) {
    const Value array = bound(old);  // changed where it is, as in Python
    assign_elements(array, binary(n->op, array, right, n), n);
    return true;
  }
  const Value result = binary(n->op, old, right, n);
  if (!result.type) return true;
  if (!emitting_) {
    if (object.is(Kind::list))
      refine(t->a, list_type(stored_type(result.type), object.type->typed), n);
    else
      refine(t->a, dict_type(nullptr, stored_type(result.type)), n);
    if (!converts(result.type, held)) return true;
  }
  const Value made_value = spill(converted(result, held, n), "item");
  linef("{}.{}({}, {});", whole.text, object.is(Kind::dict) ? "put" : "set", at.text, made_value.text);
  return true;
}

void FunctionCompiler::delete_statement(const Node* n) {
  for (const Node* target : n->list) {
    if (target->kind == NodeKind::name) {
      // The name is gone; what it held goes with its block.
      const int index = syntax_.local_index(target->text);
      if (index < 0) fail(target, fmt::format("'{}' belongs outside this function, and compiled functions cannot delete it", target->text));
      env_.locals[static_cast<size_t>(index)] = std::nullopt;
      note_bound(index, false);
      continue;
    }
    if (target->kind != NodeKind::subscript) fail(target, "del takes names and items of lists and dicts");
    const std::vector<Value> both = ordered({target->a, target->b});
    if (!both[0].type || !both[1].type) continue;
    const Value object = present(both[0], n), index = present(both[1], n);
    if (!object.is(Kind::list) && !object.is(Kind::dict)) fail(target, fmt::format("items of {} cannot be deleted", object.type->spelling));
    if (is_incomplete(object.type)) continue;
    unit_.changes_containers = true;
    if (object.is(Kind::dict)) {
      linef("{}.remove({});", paren(object), convert(index, object.type->items[0], target));
    } else if (index.is(Kind::slice)) {
      linef("{}.remove_slice({});", paren(object), slice_text(index, n));
    } else {
      linef("{}.remove_at({});", paren(object), whole_number(index, "an index", target));
    }
  }
}

/// How `for` walks over sets, dicts, their views, texts, map() and filter().
/// The elements of a set or the keys of a dict.
Iteration FunctionCompiler::keys_iteration(const Value& v) {
  unit_.changes_containers = true;
  const Value d = v.simple ? v : spill(v, "d");
  const std::string count = temporary("n");
  linef("const i64 {} = {}.walk();", count, d.text);
  const Type key = v.is(Kind::set) ? v.type->element : v.type->items[0];
  return Iteration{count, [d, count, key](const std::string& k) { return Value::fetched(key, code("{}.key({}, {})", d.text, k, count)); }};
}

/// dict.keys(), dict.values() and dict.items().
Iteration FunctionCompiler::dict_view_iteration(const Value& v) {
  const Value& d = v.items[0];
  const Type key = d.type->items[0], value = d.type->items[1];
  const std::string what = v.type->name.substr(5);
  if (is_incomplete(d.type)) {
    const bool items = what == "items";
    const Type one = what == "keys" ? key : value;
    return Iteration{"0", [=](const std::string&) {
                       if (items && key && value) return Value::of(tuple_type(std::vector<Type>{key, value}), "");
                       return one && !items ? Value::of(one, "") : Value{};
                     }};
  }
  unit_.changes_containers = true;
  const std::string count = temporary("n");
  linef("const i64 {} = {}.walk();", count, d.text);
  return Iteration{count, [this, d, count, what](const std::string& k) {
                     const auto part = [&](const char* method, Type t) {
                       return Value::fetched(t, code("{}.{}({}, {})", d.text, method, k, count));
                     };
                     if (what == "keys") return part("key", d.type->items[0]);
                     if (what == "values") return part("value", d.type->items[1]);
                     return tuple_of({part("key", d.type->items[0]), part("value", d.type->items[1])});
                   }};
}

Iteration FunctionCompiler::text_iteration(const Value& v, const Node* at) {
  const Value s = spill(converted(v, text_type(), at), "s");
  return Iteration{code("{}.length", s.text),
                   [s](const std::string& k) { return Value::called(text_type(), code("py::character({}, {})", s.text, k)); }};
}

/// numpy.ndindex and numpy.ndenumerate: a counter for each axis, because dividing the flat index in each turn costs more than short turns.
std::optional<Iteration> FunctionCompiler::indices_iteration(const Value& v, const Node* at) {
  const bool values = v.type->name == "ndenumerate";
  const Value a = v.items[0];
  if (values && !a.is_array()) return std::nullopt;
  std::vector<Code> extents;
  if (values)
    for (int k = 0; k < a.type->ndim; ++k) extents.push_back(code("{}.shape[{}]", a.text, k));
  else
    for (const Value& extent : v.items) extents.push_back(extent.text);
  Code length = "1";
  for (const Code& e : extents) length += " * " + e;
  std::vector<std::string> counters;
  for (size_t d = 0; d + 1 < extents.size(); ++d) {
    counters.push_back(temporary("axis"));
    linef("i64 {} = 0;", counters.back());
  }
  if (!extents.empty()) {
    counters.push_back(temporary("axis"));
    linef("i64 {} = -1;", counters.back());  // each turn begins with a step
  }
  return Iteration{length, [this, a, values, extents, counters, at](const std::string&) {
                     Code step;
                     for (size_t d = 0; d < extents.size(); ++d) {
                       const Code next = code("++{};", counters[d]);
                       step = d == 0 ? next : code("if (++{0} == {1}) {{ {0} = 0; {2} }}", counters[d], extents[d], step);
                     }
                     if (!extents.empty()) line(step);
                     std::vector<Value> index;
                     for (const std::string& counter : counters) {
                       Value i = Value::of(int64_type(), counter);
                       i.index = i.non_negative = true;
                       index.push_back(spill(i, "i"));
                     }
                     const Value all = tuple_of(index);
                     if (!values) return all;
                     return tuple_of({all, subscript_of(a, all, at)});
                   }};
}

Iteration FunctionCompiler::generator_iteration(const Value& v) {
  Value g = v;
  if (!v.simple) {
    g.text = temporary("g");
    linef("const auto& {} = {};", g.text, v.text);  // a call's frame is the loop's own
  }
  return Iteration{"0", [g](const std::string&) { return Value::fetched(g.type->element, code("{}.value()", g.text)); },
                   [g](const std::string&) { return code("{}.next()", g.text); }};
}

std::optional<Iteration> FunctionCompiler::container_iteration(const Value& given, const Node* at) {
  if (!host()) return std::nullopt;
  const Value v = given.display && !given.is(Kind::tuple) ? finished(made(given, nullptr, at), at) : given;
  if (v.type->is_container() && is_incomplete(v.type)) {
    const Type element = v.is(Kind::dict) ? v.type->items[0] : v.type->element;
    return Iteration{"0", [element](const std::string&) { return element ? Value::of(element, "") : Value{}; }};
  }
  if (v.is(Kind::set) || v.is(Kind::dict)) return keys_iteration(v);
  if (is_text(v.type)) return text_iteration(v, at);
  if (v.is(Kind::generator)) return generator_iteration(v);
  if (!v.is(Kind::builtin)) return std::nullopt;
  const std::string& name = v.type->name;
  if (name.starts_with("dict.")) return dict_view_iteration(v);
  if ((name == "ndenumerate" || name == "ndindex") && !v.items.empty()) return indices_iteration(v, at);
  if (name != "map") return std::nullopt;
  return side_by_side(std::span(v.items).subspan(1), at, [this, f = v.items[0], at](std::vector<Value> items) {
    CallArguments args;
    args.nodes.assign(items.size(), at);
    args.positional = std::move(items);
    return call_value(f, std::move(args), at);
  });
}

Code Iteration::head(const std::string& k, bool grows) const {
  if (more) return code("for (i64 {0} = 0; {1}; (++{0} & 1023) == 0 ? bc_poll() : void())", k, more(k));
  if (grows) return code("for (i64 {0} = 0; {0} < {1}; ++{0}, bc_poll())", k, length);
  return code("for (i64 {0} = 0, {0}_end = {1}; {0} < {0}_end; ++{0}, bc_poll())", k, length);
}

namespace {
/// Whether zip(strict=True) goes on: `tests` tell which of its iterables have another item, and an error where only some have.
Code all_or_none(const std::vector<Code>& tests) {
  if (tests.size() < 2) return all_of(tests, true);
  std::vector<Code> others, ended;
  for (size_t i = 1; i < tests.size(); ++i) {
    const std::string before = i == 1 ? " 1" : fmt::format("s 1-{}", i);
    const auto differs = [&](const char* how) {
      return code("(py::raise(py::kValue, \"zip() argument {} is {} than argument{}\"), true)", i + 1, how, before).with(kRaises);
    };
    others.push_back(code("({} || {})", tests[i], differs("shorter")));
    ended.push_back(code("!({} && {})", tests[i], differs("longer")));
  }
  return code("({} ? {} : !({}))", tests[0], all_of(others, true), all_of(ended, true));
}
}  // namespace

/// How zip() and map() walk over several iterables: the first that has no more items ends it, and those behind it are not asked. `strict`:
/// all end together.
std::optional<Iteration> FunctionCompiler::side_by_side(std::span<const Value> parts, const Node* at,
                                                        const std::function<Value(std::vector<Value>)>& together, bool strict) {
  std::vector<Iteration> all;
  Code length;
  bool counted = true;
  for (const Value& part : parts) {
    auto one = iteration(part, at);
    if (!one) return std::nullopt;
    length = length.empty() ? one->length : code("py::least({}, {})", length, one->length);
    if (part.is(Kind::generator) && part.simple) {
      // Another part may go on with the same generator before the values are used.
      Value item = Value::of(part.type->element, temporary("v"));
      item.simple = true;
      linef("{} {}{{}};", cpp(item.type), item.text);
      one->more = [g = part.text, v = item.text](const std::string&) {
        return code("{0}.next() && ({1} = {0}.value(), true)", g, v).at(Precedence::conjunction);
      };
      one->item = [item](const std::string&) { return item; };
    }
    counted = counted && !one->more;
    all.push_back(*one);
  }
  Iteration r{length, [all, together](const std::string& k) {
                std::vector<Value> items;
                for (const Iteration& i : all) items.push_back(i.item(k));
                return together(std::move(items));
              }};
  if (!counted || strict)
    r.more = [all, strict](const std::string& k) {
      std::vector<Code> tests;
      for (const Iteration& i : all) tests.push_back(i.more ? i.more(k) : operation(k, "<", i.length));
      return strict ? all_or_none(tests) : all_of(tests, true);
    };
  return r;
}

}  // namespace bc::kernels
