// Loops that may run for long: where they ask whether the user ends them, and what they read again in each turn because another thread may
// write it.
#include <cstdlib>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

constexpr uint64_t kShort = 4096;  // turns without a loop in them that take no time that a user would notice

constexpr uint64_t kLong = 1 << 20;

constexpr uint64_t kFew = 8;  // turns that are straight code: the C++ compiler writes them one after the other

/// The turns of a loop between numbers; 0: not known.
uint64_t turns(const Value& start, const Value& stop, int64_t step) {
  const std::optional<int64_t> first = start.integer(), last = stop.integer();
  if (!first || !last) return 0;
  const uint64_t from = static_cast<uint64_t>(*first), to = static_cast<uint64_t>(*last);
  const uint64_t length = step > 0 ? to - from : from - to;
  return (step > 0 ? *last > *first : *first > *last) ? length / static_cast<uint64_t>(std::abs(step)) + 1 : 1;
}

bool leaves(const std::vector<Node*>& body) {
  for (const Node* n : body) {
    if (n->kind == NodeKind::break_) return true;
    if (leaves(n->orelse)) return true;
    if (n->kind == NodeKind::for_ || n->kind == NodeKind::while_) continue;
    if (leaves(n->body) || (n->kind == NodeKind::try_ && (leaves(n->list) || (n->c && leaves(n->c->body))))) return true;
  }
  return false;
}

void collect_elements(const Node* n, std::set<const Node*>* found) {
  if (!n) return;
  if (n->kind == NodeKind::subscript) found->insert(n);
  for (const Node* k : {n->a, n->b, n->c}) collect_elements(k, found);
  for (const Node* k : n->list) collect_elements(k, found);
}
/// The arrays that a loop's body writes to itself, or gives to functions that may.
void changed_names(const Node* n, std::set<std::string>* names) {
  if (!n) return;
  const auto note = [&](const Node* t) {
    while (t && (t->kind == NodeKind::subscript || t->kind == NodeKind::attribute)) t = t->a;
    if (t && t->kind == NodeKind::name) names->insert(t->text);
  };
  if (n->kind == NodeKind::assign || n->kind == NodeKind::call)
    for (const Node* t : n->list) note(t);
  if (n->kind == NodeKind::aug_assign || n->kind == NodeKind::ann_assign) note(n->a);
  for (const Node* k : {n->a, n->b, n->c}) changed_names(k, names);
  for (const std::vector<Node*>* list : {&n->list, &n->body, &n->orelse})
    for (const Node* k : *list) changed_names(k, names);
}
/// Of a test's parts those that name nothing which is bound in the loop.
void collect_waited(const Node* test, const std::set<std::string>& bound, std::set<const Node*>* found) {
  if (test->kind == NodeKind::boolean) {
    for (const Node* k : test->list) collect_waited(k, bound, found);
  } else if (test->kind == NodeKind::unary && test->op == Operator::logical_not) {
    collect_waited(test->a, bound, found);
  } else if (!reads_any(test, bound) && !holds(test, NodeKind::call)) {  // a call may give another value each time
    collect_elements(test, found);
  }
}

bool names_one(const Node* n, std::string_view name) { return n && n->kind == NodeKind::name && n->text == name; }
bool is_at_least(const Node* n, int64_t least) {
  if (n && n->kind == NodeKind::call && n->list.size() == 1 && n->a->text.find("int") != std::string::npos) n = n->list[0];  // np.uint64(1)
  const int64_t* value = n && n->kind == NodeKind::constant ? n->literal.integer() : nullptr;
  return value && *value >= least;
}
/// The variable that a test wants above zero, or (`any`) other than zero; "": none.
std::string_view counted_down(const Node* test, bool* any) {
  *any = test->kind == NodeKind::name;
  if (*any) return test->text;
  if (test->kind != NodeKind::compare || test->list.size() != 1 || test->a->kind != NodeKind::name) return {};
  const Node* bound = test->list[0];
  *any = test->ops[0] == Operator::ne && is_at_least(bound, 0) && !is_at_least(bound, 1);
  const bool above = (test->ops[0] == Operator::gt && is_at_least(bound, 0)) || (test->ops[0] == Operator::ge && is_at_least(bound, 1));
  return *any || above ? std::string_view(test->a->text) : std::string_view();
}
/// Whether a statement takes a number's last digit or bit away: x //= 10, x >>= 1, x &= x - 1. The first two end at -1 from below zero.
bool shortens(const Node* n, std::string_view x, bool any) {
  if (n->kind != NodeKind::aug_assign || !names_one(n->a, x)) return false;
  if (n->op == Operator::bit_and)
    return n->b->kind == NodeKind::binary && n->b->op == Operator::sub && names_one(n->b->a, x) && is_at_least(n->b->b, 1) &&
           !is_at_least(n->b->b, 2);
  return !any && ((n->op == Operator::floor_div && is_at_least(n->b, 2)) || (n->op == Operator::right_shift && is_at_least(n->b, 1)));
}
/// Whether statements write to memory that another function or thread may see.
bool writes_memory(const std::vector<Node*>& body) {
  const auto place = [](const Node* t) { return t && (t->kind == NodeKind::subscript || t->kind == NodeKind::attribute); };
  return std::any_of(body.begin(), body.end(), [&](const Node* n) {
    return (n->kind == NodeKind::assign && std::any_of(n->list.begin(), n->list.end(), place)) ||
           ((n->kind == NodeKind::aug_assign || n->kind == NodeKind::ann_assign) && place(n->a)) || writes_memory(n->body) ||
           writes_memory(n->orelse);
  });
}

}  // namespace

bool Unit::may_take_long(const Facts& facts, int depth) const {
  if (facts.has(kLoops | kTakesTime)) return true;
  const std::vector<const Specialised*> calls = facts.calls();
  return depth <= 8 &&
         std::any_of(calls.begin(), calls.end(), [&](const Specialised* f) { return f->done && may_take_long(f->facts, depth + 1); });
}

/// Whether a `while` loop writes nothing, but reads: it may wait for what others write.
bool FunctionCompiler::waits(const Node* n) const {
  return n->kind == NodeKind::while_ && !writes_memory(n->body) &&
         (holds(n, NodeKind::subscript) || holds(n, NodeKind::attribute) || holds(n, NodeKind::call));
}

/// Whether a loop ends after no more turns than its variable has bits: each turn shortens it, and does nothing else to it.
bool FunctionCompiler::has_few_turns(const Node* loop) const {
  bool any = false;
  const std::string_view x = counted_down(loop->a, &any);
  const int index = x.empty() ? -1 : syntax_.local_index(std::string(x));
  if (index < 0 || !env_.locals[static_cast<size_t>(index)]) return false;
  const Type t = env_.locals[static_cast<size_t>(index)]->type;
  if (!t || !t->is_scalar() || !is_integer(t->dtype)) return false;
  int changes = 0;
  bool shortened = false;
  for (const Node* n : loop->body) {
    std::set<std::string> bound;
    bound_names(n, &bound);
    changes += bound.contains(std::string(x));
    shortened |= shortens(n, x, any);
    if (holds(n, NodeKind::continue_)) return false;  // it may go on without
  }
  return shortened && changes == 1;
}

Code FunctionCompiler::poll_after(const Node* n) {
  if (!host() || !unit_.options.polls || yields_each_turn(n)) return "";
  polls_ = true;
  return waits(n) ? code("bc_poll(), py::expect_writes()") : Code("bc_poll()");
}

/// Whether statements, which call no compiled function, change no list's length: they bind numbers, and what they call gets no more.
bool FunctionCompiler::keeps_lists(const std::vector<Node*>& body) const {
  std::set<std::string> bound;
  for (const Node* n : body) bound_names(n, &bound);
  return std::all_of(bound.begin(), bound.end(), [&](const std::string& name) { return is_number(name); }) &&
         std::all_of(body.begin(), body.end(), [&](const Node* n) { return keeps_lists(n); });
}

bool FunctionCompiler::is_number(const std::string& local) const {
  const int index = syntax_.local_index(local);
  const auto& known = env_.locals[static_cast<size_t>(index < 0 ? 0 : index)];
  return index < 0 || (known && !known->conflict && known->type && known->type->is_scalar());
}

bool FunctionCompiler::keeps_lists(const Node* n) const {
  if (!n) return true;
  switch (n->kind) {
    case NodeKind::delete_:
    case NodeKind::with_:
    case NodeKind::function:
    case NodeKind::lambda:
    case NodeKind::yield: return false;
    case NodeKind::assign:  // of a slice
      if (std::any_of(n->list.begin(), n->list.end(), [](const Node* t) { return holds(t, NodeKind::slice); })) return false;
      break;
    case NodeKind::aug_assign: {
      // An element may be a list itself.
      const int index = n->a->kind == NodeKind::subscript && n->a->a->kind == NodeKind::name ? syntax_.local_index(n->a->a->text) : -1;
      const auto& known = env_.locals[static_cast<size_t>(index < 0 ? 0 : index)];
      if (n->a->kind != NodeKind::name && (index < 0 || !known || !known->type || !known->type->is_array())) return false;
      break;
    }
    case NodeKind::call: {
      // A method of a value, or a function that gets one.
      std::vector<const Node*> parts = {n->a};
      parts.insert(parts.end(), n->list.begin(), n->list.end());
      for (const auto& [name, value] : n->keywords) parts.push_back(value);
      for (const Node* part : parts)
        for (const std::string& name : syntax_.locals)
          if (!is_number(name) && reads_any(part, {name})) return false;
      break;
    }
    default: break;
  }
  for (const Node* k : {n->a, n->b, n->c})
    if (!keeps_lists(k)) return false;
  for (const std::vector<Node*>* list : {&n->list, &n->body, &n->orelse})
    for (const Node* k : *list)
      if (!keeps_lists(k)) return false;
  return true;
}

void FunctionCompiler::body_of_loop(const Code& head, const Block& body) {
  linef("{} {{", head);
  out_ += body;
  line("}");
}

void FunctionCompiler::counted_loop(const Node* n, const std::string& type, const std::string& counter, const Value& start,
                                    const Value& stop, int64_t step, const Block& body) {
  const std::string compare = fmt::format("{} {}", counter, step > 0 ? "<" : ">");
  const std::string next = step == 1    ? "++" + counter
                           : step == -1 ? "--" + counter
                                        : fmt::format("{} {}= {}", counter, step < 0 ? '-' : '+', step < 0 ? -step : step);
  const char* const before = rolled(body.facts());
  const char* word = "for";
  const auto whole = [&](const char* more) {
    body_of_loop(code("{}{} ({} {} = {}; {} {}; {}{})", before, word, type, counter, start.text, compare, stop.text, next, more), body);
  };
  if (!host() || !unit_.options.polls || yields_each_turn(n)) return whole("");
  const bool inner = unit_.may_take_long(body.facts());
  const uint64_t known = turns(start, stop, step);
  // No loop to the one around it, which then asks between strips of its turns and can be vectorised.
  if (!inner && known != 0 && known <= kFew && !leaves(n->body)) word = "BC_FEW_TURNS";
  if (!inner && known != 0 && known <= kShort) return whole("");
  // A loop inside another one, which asks after each of its turns.
  if (!inner && !loops_.empty() && known != 0 && known <= kLong) return whole("");
  polls_ = true;
  if (inner) return whole(", bc_poll()");
  const auto asking = [&] {
    if (leaves(n->body)) return whole(", bc_poll()");
    const std::string end = temporary("strip");
    // A strip has turns. Of steps by one, `!=` counts them without comparing both ends, so that the C++ compiler lays several in a row.
    const std::string inside = step == 1 || step == -1 ? fmt::format("{} != {}", counter, end) : fmt::format("{} {}", compare, end);
    body_of_loop(
        code("for ({0} {1} = {2}; {3} {4}; {3} {4} ? bc_poll() : void()) for (const {0} {5} = py::strip<{0}>({1}, {4}, {6}); {7}; {8})",
             type, counter, start.text, compare, stop.text, end, step, inside, next),
        body);
  };
  // Cutting it would cost more than few turns take: there is the loop as it is, and one that asks. A label cannot stand twice.
  const bool alone = loops_.empty() && unit_.options.entered;  // what is not entered is called in a loop
  if (alone || body.facts().has(kLabelled)) return asking();
  linef("if (py::takes_long({0}, {1}, {2})) {{", start.text, stop.text, step);
  asking();
  line("} else {");
  whole("");
  line("}");
}

void FunctionCompiler::growing_loop(const Node* n, const std::string& counter, const Code& length, const Block& body) {
  const Code poll = poll_after(n);
  // Unless another thread can change the list.
  if (!poll.empty() && !leaves(n->body) && !unit_.may_take_long(body.facts()) && body.facts().calls().empty() && keeps_lists(n->body))
    return body_of_loop(code("for (i64 {0} = 0; {0} < {1}; {0} < {1} ? bc_poll() : void()) "
                             "for (const i64 {2} = py::strip<i64>({0}, {1}, 1); {0} != {2} && (!py::kThreads || {0} < {1}); ++{0})",
                             counter, length, temporary("strip")),
                        body);
  body_of_loop(code("for (i64 {0} = 0; {0} < {1}; ++{0}{2})", counter, length, poll.empty() ? Code() : ", " + poll), body);
}

void FunctionCompiler::tested_loop(const Node* n, const Code& test, const Block& body) {
  const int variable = n->a->kind == NodeKind::name ? syntax_.local_index(n->a->text) : n->a->a ? syntax_.local_index(n->a->a->text) : -1;
  const auto is_number = [](const std::optional<Local>& x) { return x && x->type && x->type->is_scalar() && is_integer(x->type->dtype); };
  if (host() && variable >= 0 && is_number(env_.locals[static_cast<size_t>(variable)]) && !unit_.may_take_long(body.facts()) &&
      has_few_turns(n))
    return body_of_loop(code("BC_FEW_TURNS (; {};)", test), body);
  const Code poll = poll_after(n);
  const char* const before = rolled(body.facts());
  if (poll.empty()) return body_of_loop(code("{}while ({})", before, test), body);
  if (leaves(n->body) || unit_.may_take_long(body.facts())) return body_of_loop(code("{}for (; {}; {})", before, test, poll), body);
  // It asks after so many turns that the compiler can lay several of them in a row.
  const std::string go = temporary("go"), turn = temporary("turn");
  body_of_loop(code("for (bool {0} = true; {0}; {0} ? bc_poll() : void()) for (int {1} = 0; {1} < 64 && ({0} = ({2})); ++{1}{3})", go, turn,
                    test, waits(n) ? code(", py::expect_writes()") : Code()),
               body);
}

std::set<const Node*> FunctionCompiler::waited_for(const Node* test, const Node* loop) const {
  std::set<std::string> bound;
  bound_names(loop, &bound);
  for (const Node* n : loop->body) changed_names(n, &bound);
  std::set<const Node*> found;
  collect_waited(test, bound, &found);
  return found;
}

}  // namespace bc::kernels
