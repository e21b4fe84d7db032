// Lists that grow, in functions compiled for the CPU. A list display whose name is appended to somewhere in the function becomes one; its
// element type is what all appends and the display unify to, which the walks over the function find out.
#include <functional>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

constexpr const char* kGrowing[] = {"append", "extend", "insert", "pop", "clear"};

void find_grown(const Node* n, std::set<std::string>* names) {
  if (!n) return;
  if (n->kind == NodeKind::call && n->a->kind == NodeKind::attribute && n->a->a->kind == NodeKind::name)
    for (const char* m : kGrowing)
      if (n->a->text == m) names->insert(n->a->a->text);
  for (const Node* k : {n->a, n->b, n->c}) find_grown(k, names);
  for (const Node* k : n->list) find_grown(k, names);
  for (const auto& [name, k] : n->keywords) find_grown(k, names);
  for (const Node* k : n->body) find_grown(k, names);
  for (const Node* k : n->orelse) find_grown(k, names);
}

/// Tells whether a list can hold values of the type: their bytes are moved about.
bool plain(Type t) {
  if (t->is_scalar()) return true;
  if (!t->is_tuple()) return false;
  for (Type item : t->items)
    if (!plain(item)) return false;
  return true;
}

}  // namespace

void FunctionCompiler::find_lists() {
  if (!host()) return;
  for (const Node* n : syntax_.body) find_grown(n, &grown_);
}

/// Notes that values of a type are put into the list of a name.
void FunctionCompiler::grow_list(const std::string& name, Type t, const Node* n) {
  if (!t) return;
  if (t->is(Kind::literal)) t = int64_type();
  Type& known = list_types_[name];
  const Type both = unify(known, t);
  if (!both || !plain(both))
    fail(n, fmt::format("a list holds numbers or tuples of numbers of one type, not {}", t->spelling), {{"so far", known}, {"now", t}},
         "use an array with one more dimension");
  if (both != known) lists_changed_ = true;
  known = both;
}

/// The growable list that a display becomes; no type while its elements are not known.
Value FunctionCompiler::list_display(const std::string& name, const Value& display, const Node* n) {
  for (Type t : display.type->items) grow_list(name, t, n);
  const Type element = list_types_[name];
  if (!element) {
    if (emitting_) fail(n, fmt::format("the elements of the list '{}' have no type: nothing is ever put into it", name));
    return {};
  }
  unit_.need("host_numpy");
  std::string items;
  const Value whole = display.items.empty() && !display.simple && !display.type->items.empty() ? spill(display) : display;
  for (size_t i = 0; i < display.type->items.size(); ++i) items += (i ? ", " : "") + convert(tuple_item(whole, i), element, n);
  Value r = Value::of(list_type(element), fmt::format("py::list_of<{}>({})", cpp(element), items));
  r.effect = true;
  return r;
}

/// The list's elements as a vector over its memory.
Value FunctionCompiler::list_array(const Value& list) {
  Value r = Value::of(array_type(list.type->element, 1, 'C'), fmt::format("{}.array()", paren(list)));
  r.reads = true;
  return bound(r, "v");
}

/// [element for target in iterable if conditions…]: a list that a loop fills.
Value FunctionCompiler::comprehension(const Node* n) {
  if (!host()) fail(n, "comprehensions are not supported in kernels", {}, "write into an array");
  const Value over = expression(n->b);
  if (!over.type) return {};
  const auto walk = iteration(over, n->b);
  if (!walk) fail(n->b, fmt::format("cannot loop over {}", over.type->spelling));
  unit_.need("host_numpy");
  const std::string k = temporary("k"), list = temporary("list");
  // The element's type first.
  const Env before = env_;
  const bool emitting = std::exchange(emitting_, false);
  Value probe;
  captured([&] {
    assign(n->c, walk->item(k), n);
    for (const Node* test : n->list) expression(test);
    probe = expression(n->a);
  });
  emitting_ = emitting;
  env_ = before;
  if (!probe.type) return {};
  const Type element = probe.is(Kind::literal) ? int64_type() : probe.type;
  if (!plain(element)) fail(n, fmt::format("a list holds numbers or tuples of numbers, not {}", element->spelling), {}, "use an array with one more dimension");
  const Type t = list_type(element);
  linef("const {} {} = py::list_of<{}>();", cpp(t), list, cpp(element));
  linef("for (i64 {0} = 0, {0}_end = {1}; {0} < {0}_end; ++{0}) {{", k, walk->length);
  ++depth_;
  assign(n->c, walk->item(k), n);
  for (const Node* test : n->list) {
    std::optional<bool> known;
    const std::string c = condition(test, &known);
    if (!known)
      linef("if (!({})) continue;", c);
    else if (!*known)
      line("continue;");
  }
  linef("{}.append({});", list, convert(expression(n->a), element, n));
  --depth_;
  line("}");
  env_ = before;
  Value r = Value::of(t, list);
  r.simple = true;
  return r;
}

std::optional<Value> FunctionCompiler::list_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n) {
  if (!self.is(Kind::list)) return std::nullopt;
  const auto& p = args.positional;
  const Type element = self.type->element;
  const auto need = [&](size_t low, size_t high) {
    if (p.size() < low || p.size() > high || !args.keywords.empty())
      fail(n, fmt::format("list.{}() takes {} arguments, got {}", name, high, p.size()));
  };
  if (name == "append") {
    need(1, 1);
    linef("{}.append({});", paren(self), convert(p[0], element, n));
    return Value::known(none_type());
  }
  if (name == "extend") {
    need(1, 1);
    auto walk = iteration(p[0], n);
    if (!walk) fail(n, fmt::format("list.extend() does not take {}", p[0].type->spelling));
    const std::string k = temporary("k");
    linef("for (i64 {0} = 0, {0}_end = {1}; {0} < {0}_end; ++{0}) {{", k, walk->length);
    ++depth_;
    linef("{}.append({});", paren(self), convert(walk->item(k), element, n));
    --depth_;
    line("}");
    return Value::known(none_type());
  }
  if (name == "insert") {
    need(2, 2);
    linef("{}.insert({}, {});", paren(self), convert(p[0], int64_type(), n), convert(p[1], element, n));
    return Value::known(none_type());
  }
  if (name == "clear") {
    need(0, 0);
    linef("{}.clear();", paren(self));
    return Value::known(none_type());
  }
  if (name == "pop") {
    need(0, 1);
    Value r = Value::of(element, fmt::format("{}.pop({})", paren(self), p.empty() ? "-1" : convert(p[0], int64_type(), n)));
    r.effect = true;
    return r;
  }
  if (name == "copy") {
    need(0, 0);
    Value r = Value::of(self.type, fmt::format("{}.copy()", paren(self)));
    r.effect = true;
    return r;
  }
  if (name == "sort" || name == "reverse") {
    need(0, 0);
    const Value all = list_array(self);
    if (name == "sort" && element->is_scalar())
      linef("py::sort_in_place({});", all.text);
    else if (name == "reverse")
      linef("py::assign({0}, py::Same{{}}, py::host_view<{1}>({0}, py::Slice{{0, 0, -1, false, false}}));", all.text,
            cpp(with_layout(all.type, 1, 'A')));
    else
      return std::nullopt;
    return Value::known(none_type());
  }
  fail(n, fmt::format("lists have no method '{}' in compiled functions", name), {},
       nearest(name, {"append", "extend", "insert", "pop", "clear", "copy", "sort", "reverse"}));
}

}  // namespace bc::kernels
