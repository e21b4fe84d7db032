// `for i in prange(…)`: loops whose turns run on all threads, and what is summed up over them.
#include <algorithm>

#include "kernels/compiler.h"
#include "kernels/host.h"

namespace bc::kernels {
namespace {

/// What a loop's body does to a name: the operator of `x op= …` and of `x = max(x, …)`, or another binding.
struct Binding {
  bool reduced = false, other = false, read = false;
  bool rebinds = false;  ///< reduced by `x = x op …`: of arrays a new one each time
  std::string op;
};

void find_bindings(const Node* n, std::map<std::string, Binding>* found);
void find_bindings(const std::vector<Node*>& body, std::map<std::string, Binding>* found) {
  for (const Node* n : body) find_bindings(n, found);
}
void bind_target(const Node* t, std::map<std::string, Binding>* found) {
  if (!t) return;
  if (t->kind == NodeKind::name) (*found)[t->text].other = true;
  if (t->kind == NodeKind::starred) bind_target(t->a, found);
  if (t->kind == NodeKind::tuple || t->kind == NodeKind::list)
    for (const Node* k : t->list) bind_target(k, found);
  if (t->kind == NodeKind::subscript || t->kind == NodeKind::attribute) find_bindings(t, found);
}
void reduce(Binding* b, const std::string& op) {
  if (b->reduced && b->op != op) b->other = true;
  b->reduced = true;
  b->op = op;
}
bool same_expression(const Node* a, const Node* b) {
  if (!a || !b) return a == b;
  if (a->kind != b->kind || a->op != b->op || a->text != b->text || !(a->literal == b->literal) || a->list.size() != b->list.size())
    return false;
  if (a->kind != NodeKind::name && a->kind != NodeKind::constant && a->kind != NodeKind::attribute && a->kind != NodeKind::subscript &&
      a->kind != NodeKind::binary && a->kind != NodeKind::unary && a->kind != NodeKind::tuple)
    return false;  // calls may give another value each time
  for (size_t i = 0; i < a->list.size(); ++i)
    if (!same_expression(a->list[i], b->list[i])) return false;
  return same_expression(a->a, b->a) && same_expression(a->b, b->b) && same_expression(a->c, b->c);
}

/// The last word of a called function's name: "maximum" of `np.maximum`.
std::string_view called_name(const Node* call) {
  if (call->kind != NodeKind::call || (call->a->kind != NodeKind::name && call->a->kind != NodeKind::attribute)) return {};
  return call->a->text;  // not in a choice with "", which would be a string of this function's own
}
bool is_extreme(std::string_view f) { return f == "max" || f == "min" || f == "maximum" || f == "minimum" || f == "fmax" || f == "fmin"; }

/// `x + … - …`, `x * … / …`, `max(x, …)`: the operator that joins x with the rest, whose parts go to `others`; empty for anything else.
std::string joined_with(const std::string& x, const Node* value, std::vector<const Node*>* others) {
  const auto same = [&](const Node* k) { return k->kind == NodeKind::name && k->text == x; };
  if (is_extreme(called_name(value)) && value->list.size() == 2 && value->keywords.empty()) {
    for (size_t i : {0, 1})
      if (same(value->list[i])) {
        others->push_back(value->list[1 - i]);
        return std::string(called_name(value));
      }
    return {};
  }
  if (value->kind != NodeKind::binary) return {};
  const Operator op = value->op;
  const bool sum = op == Operator::add || op == Operator::sub;
  if (!sum && op != Operator::mul && op != Operator::div && op != Operator::bit_or && op != Operator::bit_and && op != Operator::bit_xor)
    return {};
  const std::string mine = sum ? "+" : op == Operator::div ? "*" : to_string(op);
  for (const auto& [side, other] : {std::pair{value->a, value->b}, std::pair{value->b, value->a}}) {
    if (side == value->b && (op == Operator::sub || op == Operator::div)) continue;
    if (same(side)) {
      others->push_back(other);
      return mine;
    }
    std::vector<const Node*> inner;
    if (joined_with(x, side, &inner) == mine) {
      others->insert(others->end(), inner.begin(), inner.end());
      others->push_back(other);
      return mine;
    }
  }
  return {};
}

/// Whether the subscript takes all of an array: [:], [:, :], [...].
bool takes_all(const Node* index) {
  if (index->kind == NodeKind::tuple) return std::all_of(index->list.begin(), index->list.end(), takes_all);
  return index->kind == NodeKind::ellipsis || (index->kind == NodeKind::slice && !index->a && !index->b && !index->c);
}

void find_bindings(const Node* n, std::map<std::string, Binding>* found) {
  if (!n) return;
  // One `x = …` of an assignment.
  const auto bind = [&](const std::string& x, const Node* value) {
    std::vector<const Node*> others;
    const std::string op = joined_with(x, value, &others);
    if (op.empty()) {
      find_bindings(value, found);
      (*found)[x].other = true;
      return;
    }
    reduce(&(*found)[x], op);
    (*found)[x].rebinds = true;
    for (const Node* other : others) find_bindings(other, found);
  };
  switch (n->kind) {
    case NodeKind::name: (*found)[n->text].read = true; return;
    case NodeKind::aug_assign: {
      const Node* whole = n->a->kind == NodeKind::subscript && n->a->a->kind == NodeKind::name && takes_all(n->a->b) ? n->a->a : n->a;
      if (whole->kind == NodeKind::name) {
        std::string op = to_string(n->op);
        if (op == "-") op = "+";
        if (op == "/") op = "*";
        reduce(&(*found)[whole->text], op);
      } else {
        find_bindings(n->a, found);
      }
      find_bindings(n->b, found);
      return;
    }
    case NodeKind::assign:
      // x = max(x, …), x = x + …, and pairs of such.
      if (n->list.size() == 1 && n->list[0]->kind == NodeKind::name) return bind(n->list[0]->text, n->a);
      if (n->list.size() == 1 && n->list[0]->kind == NodeKind::tuple && n->a->kind == NodeKind::tuple &&
          n->a->list.size() == n->list[0]->list.size() &&
          std::all_of(n->list[0]->list.begin(), n->list[0]->list.end(), [](const Node* t) { return t->kind == NodeKind::name; })) {
        for (size_t i = 0; i < n->a->list.size(); ++i) bind(n->list[0]->list[i]->text, n->a->list[i]);
        return;
      }
      find_bindings(n->a, found);
      for (const Node* t : n->list) bind_target(t, found);
      return;
    case NodeKind::if_:
      // if v > x: x = v
      if (n->orelse.empty() && n->body.size() == 1 && n->a->kind == NodeKind::compare && n->a->list.size() == 1 &&
          n->body[0]->kind == NodeKind::assign && n->body[0]->list.size() == 1 && n->body[0]->list[0]->kind == NodeKind::name) {
        const std::string& x = n->body[0]->list[0]->text;
        const Operator op = n->a->ops[0];
        const Node *left = n->a->a, *right = n->a->list[0], *value = n->body[0]->a;
        const bool ordered = op == Operator::lt || op == Operator::le || op == Operator::gt || op == Operator::ge;
        const bool x_right = right->kind == NodeKind::name && right->text == x && same_expression(left, value);
        const bool x_left = left->kind == NodeKind::name && left->text == x && same_expression(right, value);
        if (ordered && x_left != x_right) {
          const bool greater = op == Operator::gt || op == Operator::ge;
          reduce(&(*found)[x], greater == x_right ? "max" : "min");
          find_bindings(value, found);
          return;
        }
      }
      break;
    case NodeKind::for_:
      find_bindings(n->b, found);
      bind_target(n->a, found);
      find_bindings(n->body, found);
      find_bindings(n->orelse, found);
      return;
    case NodeKind::ann_assign:
      find_bindings(n->b, found);
      bind_target(n->a, found);
      return;
    default: break;
  }
  if (n->kind == NodeKind::walrus) (*found)[n->text].other = true;
  for (const Node* k : {n->a, n->b, n->c}) find_bindings(k, found);
  for (const Node* k : n->list) find_bindings(k, found);
  for (const auto& [name, k] : n->keywords) find_bindings(k, found);
  find_bindings(n->body, found);
  find_bindings(n->orelse, found);
}

/// The names that a loop's body assigns once, with what they are assigned.
void find_values(const std::vector<Node*>& body, std::map<std::string, const Node*>* values) {
  for (const Node* n : body) {
    if (n->kind == NodeKind::assign && n->list.size() == 1 && n->list[0]->kind == NodeKind::name) {
      const auto [at, fresh] = values->emplace(n->list[0]->text, n->a);
      if (!fresh) at->second = nullptr;
    }
    find_values(n->body, values);
    find_values(n->orelse, values);
  }
}
/// Whether a value refers to objects that threads may change.
bool holds_object(Type t) {
  if (!t) return false;
  if (t->is_container() || t->is(Kind::instance)) return !is_incomplete(t);
  return holds_object(t->is(Kind::optional) ? t->element : nullptr) ||
         (t->is_tuple() && std::any_of(t->items.begin(), t->items.end(), holds_object));
}

}  // namespace

bool FunctionCompiler::is_prange(const Node* n) {
  if (!host() || !unit_.options.parallel || in_parallel_ || n->b->kind != NodeKind::call) return false;
  const Value callee = expression(n->b->a);
  return callee.is(Kind::builtin) && callee.type->name == "numba.prange";
}

/// Objects that were there before a parallel loop and that its turns may change: several threads hold them from here on.
void FunctionCompiler::share_objects(const std::set<std::string>& bound, const std::vector<std::optional<Local>>& before, Block* head) {
  // An inner function that the body calls may name any of them.
  const bool calls = std::any_of(bound.begin(), bound.end(), [&](const std::string& name) {
    const int i = syntax_.local_index(name);
    return i >= 0 && before[static_cast<size_t>(i)] && before[static_cast<size_t>(i)]->type->is(Kind::function);
  });
  for (size_t i = 0; i < before.size(); ++i) {
    if (!before[i] || !holds_object(before[i]->type) || !(calls || bound.contains(syntax_.locals[i]))) continue;
    const std::string name = variable(static_cast<int>(i), before[i]->type);
    const bool object = before[i]->type->is_container() || before[i]->type->is(Kind::instance);
    head->line(depth_, object ? code("const py::SharedByLoop {}({});", temporary("shared"), name) : code("py::share_value({});", name));
  }
}

/// The result of two pieces' results by the operator of `name op= …`; nothing where there is no such operator.
Code FunctionCompiler::joined_pieces(const std::string& op, Type element, const Code& x, const Code& y) {
  const std::string c = cpp(element);
  if (element->is(Kind::time)) {
    // A date's pieces are differences from 0, so that dates and differences are both joined by their ticks.
    if (op == "+") return code("py::time_sum<{}>({}, {})", c, x, y);
    const std::string_view function = extreme_function_of_times(op);
    return function.empty() ? Code() : code("py::{}({}, {})", function, x, y);
  }
  if (op == "+" || op == "*") return code("bc::{}<{}>({}, {})", op == "+" ? "add" : "multiply", c, x, y);
  if (is_extreme(op)) return op.size() == 3 ? code("py::{}<{}>({}, {})", op, c, x, y) : code("bc::{}<{}>({}, {})", op, c, x, y);
  if (op == "|" || op == "^" || op == "&") return code("{}({} {} {})", c, x, op, y);
  return {};
}

/// What a parallel loop does for one name that its turns sum up: each piece has its own, which are joined in their order.
void FunctionCompiler::reduce_pieces(const ParallelReduction& r, ParallelText* t, const Node* n) {
  const Type type = env_.locals[static_cast<size_t>(r.index)]->type;
  const std::string& python = syntax_.locals[static_cast<size_t>(r.index)];
  const bool array = type->is_array() && type->ndim > 0;
  const Type element = array ? type->element : type;
  if (!element->is_scalar() && !element->is(Kind::time))
    fail(n, fmt::format("prange: '{}' is {}; numbers, times and arrays of them are summed up over the turns", python, type->spelling),
         {{python, type}}, "sum up each number in a variable of its own");
  const std::string name = variable(r.index, type), c = cpp(element), parts = temporary("parts");
  const Code joined = joined_pieces(r.op, element, array ? Code("x") : Code(name), array ? Code("y") : code("{}.data[{}]", parts, t->k));
  if (joined.empty())
    fail(n, fmt::format("prange: '{}' cannot be joined over the turns by {}=", python, r.op), {{python, type}},
         "+=, -=, *=, /=, |=, ^=, &=, max() and min() can");
  const bool extreme = is_extreme(r.op);
  const Code identity = element->is(Kind::time) ? code("{}{{0}}", c)
                                                : code("bc::cast<{}>({})", c,
                                                       r.op == "*"   ? "1"
                                                       : r.op == "&" ? "-1"
                                                                     : "0");
  const auto add = [this](Block* to, Code statement, int deeper = 0) { to->line(depth_ + deeper, std::move(statement)); };
  if (!array) {
    add(&t->head, code("py::Host<{}, 1, 'C'> {} = py::fresh<{}, 1>(py::Tuple<i64, 1>{{{{({} + {} - 1) / {}}}}});", c, parts, c, t->length,
                       t->grain, t->grain));
    if (extreme) add(&t->head, code("const {} {}_before = {};", c, parts, name));
    add(&t->shadows, code("{} {} = {};", c, name, extreme ? Code(parts + "_before") : identity), 1);
    add(&t->out, code("{}.data[{} / {}] = {};", parts, t->first, t->grain, name), 1);
    add(&t->joins, code("for (i64 {0} = 0; {0} < {1}.shape[0]; ++{0}) {2} = {3};", t->k, parts, name, joined));
    return;
  }
  unit_.need("host_parallel");
  const std::string all = cpp(type);
  t->sizes += code(" + {}.size() * static_cast<i64>(sizeof({}))", name, c);
  // A name that is bound again has an array of its own from here on.
  if (r.rebinds)
    add(&t->head, code("{} = {};", name,
                       type->layout == 'F' ? code("py::piece_array(py::piece_arrays({0}, 1), {0}, 0)", name)
                                           : code("py::host_cast<{}>(py::copy({}))", all, name)));
  add(&t->head, code("const {} {}_before = {};", all, parts, name));
  add(&t->head, code("const auto {} = py::piece_arrays({}, ({} + {} - 1) / {});", parts, name, t->length, t->grain, t->grain));
  add(&t->shadows, code("{0} {1} = py::piece_array({2}, {2}_before, {3} / {4});", all, name, parts, t->first, t->grain), 1);
  add(&t->shadows,
      extreme ? code("py::assign({}, [](auto x) {{ return x; }}, {}_before);", name, parts) : code("py::fill_all({}, {});", name, identity),
      1);
  if (r.rebinds)
    add(&t->out,
        code("py::assign(py::piece_array({0}, {0}_before, {1} / {2}), [](auto x) {{ return x; }}, {3});", parts, t->first, t->grain, name),
        1);
  add(&t->joins, code("for (i64 {0} = 0; {0} * {1} < {2}; ++{0}) py::assign({3}, []({4} x, {4} y) -> {4} {{ return {5}; }}, {3}, "
                      "py::piece_array({6}, {3}, {0}));",
                      t->k, t->grain, t->length, name, c, joined, parts));
}

/// `for i in prange(…)`: pieces of the loop on all threads. What the body binds is each piece's own; sums, products and extremes of the
/// pieces are joined in their order, so that the result does not depend on the threads.
void FunctionCompiler::parallel_for(const Node* n, const Value& range) {
  if (!n->orelse.empty()) fail(n, "prange: the loop must have no else");
  if (n->a->kind != NodeKind::name) fail(n, "prange: expected one loop variable");
  unit_.need("host_numpy");
  std::map<std::string, Binding> bindings;
  find_bindings(n->body, &bindings);
  std::vector<ParallelReduction> reductions;
  std::set<std::string> own, bound;
  for (const auto& [name, b] : bindings) {
    bound.insert(name);
    const int index = syntax_.local_index(name);
    if (index >= 0 && (b.other || b.reduced)) own.insert(name);
    if (index < 0 || !b.reduced || b.other || !env_.locals[static_cast<size_t>(index)]) continue;
    if (b.read)
      fail(n, fmt::format("prange: '{}' is summed up over the turns and read inside the loop", name), {}, "read it after the loop");
    reductions.push_back({index, b.op, b.rebinds});
  }
  const Type t = int64_type();
  const Value start = spill(converted(range.items[0], t, n), "start"), stop = spill(converted(range.items[1], t, n), "stop"),
              step = spill(converted(range.items[2], t, n), "step");
  Value item = Value::of(t, "");
  item.index = true;
  item.non_negative = start.non_negative && step.non_negative;
  if (item.non_negative) item.least = start.least;
  item.simple = true;
  const int index = syntax_.local_index(n->a->text);
  const std::string counter = temporary("turn");
  ParallelText names;
  names.k = temporary("k"), names.first = temporary("first"), names.last = temporary("last");
  names.length = temporary("length"), names.grain = temporary("grain");
  const std::string body_name = temporary("body");
  const std::optional<Local> outside = env_.locals[static_cast<size_t>(index)];
  const std::vector<std::optional<Local>> before = env_.locals;
  in_parallel_ = true;
  parallel_loops_ = loops_.size() + 1;
  parallel_counter_ = n->a->text;
  parallel_own_ = std::move(own);
  parallel_values_.clear();
  find_values(n->body, &parallel_values_);
  const auto before_body = [&] {
    variables_[{index, t}] = counter;
    taken_.insert(counter);
    item.text = counter;
    set_local(index, item);
  };
  const auto print = [&](const Block& body) {
    ParallelText text = names;
    if (unit_.changes_containers) share_objects(bound, before, &text.head);
    for (const ParallelReduction& r : reductions) reduce_pieces(r, &text, n);
    line("{");
    linef("const i64 {} = py::range_length({}, {}, {}), {} = {};", text.length, start.text, stop.text, step.text, text.grain,
          text.sizes.empty() ? code("py::grain_of({})", text.length) : code("py::grain_beside({}, 0{})", text.length, text.sizes));
    out_ += text.head;
    linef("auto {} = [=](i64 {}, i64 {}) mutable {{", body_name, text.first, text.last);
    linef("  py::Poll bc_poll;");
    out_ += text.shadows;
    ++depth_;
    Block turn;
    turn.line(depth_ + 1, code("const i64 {} = {} + {} * {};", counter, start.text, text.k, step.text));
    turn += body;
    counted_loop(n, "i64", text.k, Value::of(t, text.first), Value::of(t, text.last), 1, turn);
    --depth_;
    out_ += text.out;
    line("};");
    linef("py::parallel({}, {}, {});", text.length, text.grain, body_name);
    out_ += text.joins;
    line("}");
  };
  loop(n, [] {}, print, before_body);
  in_parallel_ = false;
  parallel_own_.clear();
  // What the turns bound is gone with them.
  for (const auto& [name, b] : bindings) {
    const int i = syntax_.local_index(name);
    if (i >= 0 && (b.other || !b.reduced)) env_.locals[static_cast<size_t>(i)] = before[static_cast<size_t>(i)];
  }
  env_.locals[static_cast<size_t>(index)] = outside;
}

/// Whether an index is another one in each turn of the parallel loop: made of its counter by sums and products with what stays the same, or
/// a row of such (`i * width + j`).
bool FunctionCompiler::differs_by_turn(const Node* index, int depth) const {
  const std::string& counter = parallel_counter_;
  if (index->kind == NodeKind::tuple)
    return std::any_of(index->list.begin(), index->list.end(), [&](const Node* k) { return differs_by_turn(k, depth); });
  if (index->kind == NodeKind::name) {
    if (index->text == counter) return true;
    const auto value = parallel_values_.find(index->text);
    return depth < 8 && value != parallel_values_.end() && value->second && differs_by_turn(value->second, depth + 1);
  }
  if (index->kind != NodeKind::binary) return false;
  const auto stays = [&](const Node* n) {
    return n->kind == NodeKind::constant || (n->kind == NodeKind::name && n->text != counter && !parallel_own_.contains(n->text));
  };
  const auto product = [](const Node* n) { return n->kind == NodeKind::binary && n->op == Operator::mul; };
  for (const auto& [a, b] : {std::pair{index->a, index->b}, std::pair{index->b, index->a}}) {
    if (!differs_by_turn(a, depth)) continue;
    if (index->op == Operator::add || index->op == Operator::sub) return stays(b) || (product(a) && !reads_any(b, {counter}));
    if (index->op == Operator::mul) return !reads_any(b, {counter});
  }
  return false;
}

/// Whether `target op= …` inside a parallel loop may meet another turn at the same element.
bool FunctionCompiler::meets_other_turns(const Node* target) const {
  if (!in_parallel_ || !host()) return false;
  const Node* array = target;
  for (; array->kind == NodeKind::subscript || array->kind == NodeKind::attribute; array = array->a)
    if (array->kind == NodeKind::subscript && differs_by_turn(array->b, 0)) return false;
  return array->kind == NodeKind::name && !parallel_own_.contains(array->text);
}

}  // namespace bc::kernels
