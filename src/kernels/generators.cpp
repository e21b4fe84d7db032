// Generators, in functions compiled for the CPU. A loop over a call hands its body to the generator as a function, which the generator
// calls with each value: both are then one loop to the C++ compiler. Everything else (next(), zip(), a generator in a variable) resumes a
// coroutine of the same function.
#include <algorithm>

#include "kernels/compiler.h"

namespace bc::kernels {

template <class F>
static bool any_node(const std::vector<Node*>& nodes, const F& test);
/// Whether a test holds for a node or one below it.
template <class F>
static bool any_node(const Node* n, const F& test) {
  if (!n) return false;
  return test(n) || any_node(n->a, test) || any_node(n->b, test) || any_node(n->c, test) || any_node(n->list, test) ||
         any_node(n->body, test) || any_node(n->orelse, test) ||
         std::any_of(n->keywords.begin(), n->keywords.end(), [&](const auto& k) { return any_node(k.second, test); });
}
template <class F>
static bool any_node(const std::vector<Node*>& nodes, const F& test) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node* n) { return any_node(n, test); });
}

bool holds(const Node* n, NodeKind kind) {
  return any_node(n, [kind](const Node* k) { return k->kind == kind; });
}
bool holds(const std::vector<Node*>& body, NodeKind kind) {
  return any_node(body, [kind](const Node* k) { return k->kind == kind; });
}
bool has_finally(const FunctionSyntax& f) {
  return any_node(f.body, [](const Node* k) { return k->kind == NodeKind::try_ && k->c; });
}

namespace {

/// How often a variable is named, and how often only to ask it for values: by next() or at a loop's head.
struct Mentions {
  int all = 0, asks = 0;
  bool inner = false;  ///< there are functions inside, which may name it
};
void count_mentions(const Node* n, const std::string& name, Mentions* found) {
  if (!n) return;
  const auto is_it = [&](const Node* k) { return k && k->kind == NodeKind::name && k->text == name; };
  found->all += is_it(n);
  found->inner |= n->inner && n->kind != NodeKind::comprehension;
  if (n->kind == NodeKind::comprehension && n->inner)
    for (const Node* k : n->inner->body) count_mentions(k, name, found);
  const bool next = n->kind == NodeKind::call && n->a->kind == NodeKind::name && n->a->text == "next" && n->list.size() == 1;
  found->asks += (next && is_it(n->list[0])) || (n->kind == NodeKind::for_ && is_it(n->b));
  for (const Node* k : {n->a, n->b, n->c}) count_mentions(k, name, found);
  for (const std::vector<Node*>* list : {&n->list, &n->body, &n->orelse})
    for (const Node* k : *list) count_mentions(k, name, found);
  for (const auto& [key, k] : n->keywords) count_mentions(k, name, found);
}

}  // namespace

/// Whether a variable's generator is used where the variable is, and nowhere else: its frame may be part of this function's then.
bool FunctionCompiler::keeps_generator(const std::string& name) const {
  Mentions found;
  for (const Node* n : syntax_.body) count_mentions(n, name, &found);
  if (unit_.options.parallel || found.inner || found.all != found.asks + 1 || syntax_.local_index("next") >= 0) return false;
  const auto next = function_.global("next");
  return next && next->type && next->type->name == "builtins.next";
}

void read_later(const Value& v, std::vector<std::string>* names) {
  names->insert(names->end(), v.later.begin(), v.later.end());
  for (const Value& item : v.items) read_later(item, names);
}

bool ends_with_finally(const Value& v) {
  return (v.started && has_finally(*v.started->syntax)) || std::any_of(v.items.begin(), v.items.end(), ends_with_finally);
}

bool is_passing(const Value& v) {
  static const auto& names = *new std::set<std::string_view>{"enumerate", "map", "ndenumerate", "ndindex", "zip", "zip_strict"};
  return v.is(Kind::builtin) && (names.contains(v.type->name) || (v.type->name.starts_with("dict.") && !v.items.empty()));
}

/// A generator that a statement keeps or walks over runs later: what it reads must be the same then.
void FunctionCompiler::expect_bound_once(const Value& v, const Node* at) const {
  std::vector<std::string> names;
  read_later(v, &names);
  std::set<std::string> bound;
  if (at->kind == NodeKind::for_) bound_names(at, &bound);
  for (const std::string& name : names)
    if (at->kind == NodeKind::for_ ? bound.contains(name) : binds_after(syntax_.body, name, at->line))
      fail(at,
           fmt::format("the generator{} reads '{}', which is bound again where it may still run",
                       v.started && v.started->syntax->name[0] != '<' ? fmt::format(" '{}'", v.started->syntax->name) : "", name),
           {}, "give the value that it reads a name of its own, or write a list");
}

bool binds_after(const std::vector<Node*>& body, const std::string& name, int line, bool loops) {
  return std::any_of(body.begin(), body.end(), [&](const Node* n) {
    if (n->end_line < line || n->kind == NodeKind::function) return false;
    const bool whole = n->line > line || (loops && (n->kind == NodeKind::for_ || n->kind == NodeKind::while_));
    if (!whole)
      return binds_after(n->body, name, line, loops) || binds_after(n->orelse, name, line, loops) ||
             binds_after(n->list, name, line, loops) || (n->c && binds_after(n->c->body, name, line, loops));
    std::set<std::string> bound;
    bound_names(n, &bound);
    return bound.contains(name);
  });
}

/// Whether each turn of a coroutine's loop ends at a `yield`: whoever asks for the values asks for the user, too.
bool FunctionCompiler::yields_each_turn(const Node* loop) const {
  if (!syntax_.yields || spec_.each) return false;
  for (const Node* n : loop->body) {
    if ((n->kind == NodeKind::expression || n->kind == NodeKind::assign) && n->a->kind == NodeKind::yield) return true;
    if (holds(n, NodeKind::continue_)) return false;
  }
  return false;
}

/// yield a: one more value of the generator.
Value FunctionCompiler::yield_expression(const Node* n) {
  if (!host()) fail(n, "generators are not supported in kernels", {}, "write the values into an array");
  if (in_parallel_) fail(n, "yield: a prange loop cannot stop on its way");
  const Value v = n->a ? kept(expression(n->a), nullptr, n) : Value::known(none_type());
  if (!v.type) return Value::known(none_type());
  const Type before = yielded_;
  yielded_ = widened(yielded_, v.type);
  if (!yielded_) fail(n, "the generator yields values of types that do not unify", {{"before", before}, {"here", v.type}});
  if (!yielded_->has_value()) fail(n, "a generator yields values");
  if (!emitting_) return Value::known(none_type());
  const Code value = code("{}({})", cpp(spec_.result->element), convert(v, spec_.result->element, n));
  if (!spec_.each && has_finally(syntax_)) {
    const Env here = env_;
    const Block last = captured([&] {
      leave_protections(0, /*returning=*/true);
      if (env_.reachable) leave_with({});
    });
    env_ = here;
    line(code("if (co_yield py::LastingValue<{}>{{{}}}) {{", cpp(spec_.result->element), value).with(kTakesTime));
    out_ += last;
    line("}");
  } else if (!spec_.each)
    // The caller's turn is part of it, and the end of a strip of turns would be part of the frame.
    line(code("co_yield {};", value).with(kTakesTime));
  else if (bodies_ == 0)
    linef("if (const int left = bc_each({})) return left;", value);
  else
    leaves_ = true, linef("if ((bc_result = bc_each({})) != 0) return 2;", value);
  return Value::known(none_type());
}

std::optional<Iteration> FunctionCompiler::called_iteration(const Value& generator, const Node* loop) {
  const Specialised* s = generator.started;
  // No jump leaves a function: a handler around the loop could not be reached. What the body raises must not meet the generator's handlers.
  if (!s || !protections_.empty() || holds(s->syntax->body, NodeKind::try_)) return std::nullopt;
  if (!loop->orelse.empty() || (!spec_.each && holds(loop->body, NodeKind::yield))) return std::nullopt;
  const Specialised& each = unit_.specialise(*s->function, *s->syntax, s->arguments, s->captured, /*each=*/true);
  if (!each.done || !each.result) return std::nullopt;
  Value item = Value::of(generator.type->element, temporary("value"));
  item.simple = true;
  const Code& given = generator.items[0].text;
  Iteration r{"", [item](const std::string&) { return item; }};
  r.call = code("{}({}{}[&]([[maybe_unused]] const {}& {}) -> int {{",
                Code(each.name).with(Facts({Mention::Kind::call, reinterpret_cast<uintptr_t>(&each)})), given, given.empty() ? "" : ", ",
                cpp(item.type), item.text);
  return r;
}

/// A loop whose body is called with each item.
void FunctionCompiler::called_loop(const Node* n, const Iteration& walk) {
  const bool outside = std::exchange(leaves_, false);
  ++bodies_;
  body_is_called_ = true;
  loop(
      n, [] {},
      [&](const Block& body) {
        line(leaves_ ? "if (" + walk.call : walk.call);
        out_ += body;
        if (!leaves_) return end_of_call(body, "});");
        // What stands around leaves in its way.
        const int inside = std::exchange(bodies_, bodies_ - 1);
        const Code way = bodies_ > 0                                 ? "return 2;"
                         : spec_.each                                ? "return bc_result;"
                         : syntax_.yields                            ? "co_return;"
                         : spec_.result && spec_.result->has_value() ? "return bc_result;"
                                                                     : "return;";
        bodies_ = inside;
        end_of_call(body, code("}}) == 2) {}", way));
      },
      [&] { assign(n->a, walk.item(""), n); });
  --bodies_;
  leaves_ |= outside;
}

void FunctionCompiler::end_of_call(const Block& body, const Code& end) {
  if (unit_.may_take_long(body.facts())) {
    polls_ = true;
    line("  bc_poll();");
  }
  line("  return 0;");
  line(end);
}

void FunctionCompiler::leave_with(const Code& result) {
  if (bodies_ == 0) {
    line(syntax_.yields ? Code(spec_.each ? "return 0;" : "co_return;") : result.empty() ? Code("return;") : code("return {};", result));
    return;
  }
  leaves_ = true;
  if (spec_.each)
    line("bc_result = 0;");
  else if (!result.empty())
    linef("bc_result = {};", result);
  line("return 2;");
}

}  // namespace bc::kernels
