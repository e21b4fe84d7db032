// Loops that may run for long: where they ask whether the user ends them, and what they read again in each turn because another thread may
// write it.
#include <cctype>
#include <cstdlib>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

constexpr uint64_t kShort = 4096;  // turns without a loop in them that take no time that a user would notice

constexpr uint64_t kLong = 1 << 20;

/// The turns of a loop between numbers; 0: not known.
uint64_t turns(const std::string& start, const std::string& stop, int64_t step) {
  char *first_end = nullptr, *last_end = nullptr;
  const int64_t first = std::strtoll(start.c_str(), &first_end, 10), last = std::strtoll(stop.c_str(), &last_end, 10);
  if (start.empty() || stop.empty() || *first_end || *last_end) return 0;
  const uint64_t length =
      step > 0 ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first) : static_cast<uint64_t>(first) - static_cast<uint64_t>(last);
  return (step > 0 ? last > first : first > last) ? length / static_cast<uint64_t>(std::abs(step)) + 1 : 1;
}

/// What compiled text calls of the library and is done in no time. Of all else, such as whole-array functions, a turn of a loop may take
/// long.
bool is_short(std::string_view name) {
  static const std::set<std::string_view>& names = *new std::set<std::string_view>{"Array",
                                                                                   "Caught",
                                                                                   "Dict",
                                                                                   "Generator",
                                                                                   "Host",
                                                                                   "Instance",
                                                                                   "List",
                                                                                   "Optional",
                                                                                   "Poll",
                                                                                   "Range",
                                                                                   "Set",
                                                                                   "Slice",
                                                                                   "Str",
                                                                                   "Tuple",
                                                                                   "array_cast",
                                                                                   "character",
                                                                                   "code_of",
                                                                                   "element_at",
                                                                                   "expect_writes",
                                                                                   "field",
                                                                                   "floor_modulo",
                                                                                   "floor_quotient",
                                                                                   "host_cast",
                                                                                   "host_part",
                                                                                   "host_transposed",
                                                                                   "host_view",
                                                                                   "host_viewed",
                                                                                   "keep_value",
                                                                                   "least",
                                                                                   "list_of",
                                                                                   "literal",
                                                                                   "long_literal",
                                                                                   "max",
                                                                                   "min",
                                                                                   "new_list",
                                                                                   "nth",
                                                                                   "owner_of",
                                                                                   "part",
                                                                                   "raise",
                                                                                   "raise_failure",
                                                                                   "random_below",
                                                                                   "random_bits",
                                                                                   "random_interval",
                                                                                   "random_normal",
                                                                                   "random_range",
                                                                                   "random_state",
                                                                                   "random_uniform",
                                                                                   "random_word",
                                                                                   "range_length",
                                                                                   "resolve",
                                                                                   "round_to",
                                                                                   "round_whole",
                                                                                   "share_value",
                                                                                   "strip",
                                                                                   "swap_if",
                                                                                   "take",
                                                                                   "transposed",
                                                                                   "update_shared",
                                                                                   "view",
                                                                                   "viewed",
                                                                                   "whole_modulo",
                                                                                   "whole_quotient",
                                                                                   "wrap"};
  return names.contains(name) || name.starts_with("atomic_") ||
         (name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1])));
}
/// Methods of containers that walk over them.
constexpr std::string_view kLongMethods[] = {
    ".assign_slice(", ".clear(",  ".copy(",      ".count(",        ".equals(",  ".extend(", ".has(",    ".index(",  ".insert(", ".keys(",
    ".less(",         ".remove(", ".remove_at(", ".remove_slice(", ".reverse(", ".slice(",  ".update(", ".values(", ".walk("};

bool leaves(const std::vector<Node*>& body) {
  for (const Node* n : body) {
    if (n->kind == NodeKind::break_) return true;
    if (leaves(n->orelse)) return true;
    if (n->kind == NodeKind::for_ || n->kind == NodeKind::while_) continue;
    if (leaves(n->body) || (n->kind == NodeKind::try_ && (leaves(n->list) || (n->c && leaves(n->c->body))))) return true;
  }
  return false;
}

bool names_any(const Node* n, const std::set<std::string>& names) {
  if (!n) return false;
  if (n->kind == NodeKind::name) return names.contains(n->text);
  if (n->kind == NodeKind::call) return true;  // it may give another value each time
  for (const Node* k : {n->a, n->b, n->c})
    if (names_any(k, names)) return true;
  return std::any_of(n->list.begin(), n->list.end(), [&](const Node* k) { return names_any(k, names); });
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
  } else if (!names_any(test, bound)) {
    collect_elements(test, found);
  }
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

bool Unit::may_take_long(std::string_view body, int depth) const {
  if (body.find("for (") != body.npos || body.find("while (") != body.npos) return true;
  if (body.find("co_yield ") != body.npos) return true;  // the caller's turn is part of it, and a strip's end would be part of the frame
  for (size_t at = body.find("py::"); at != body.npos; at = body.find("py::", at)) {
    at += 4;
    size_t end = at;
    while (end < body.size() && (std::isalnum(static_cast<unsigned char>(body[end])) || body[end] == '_')) ++end;
    if (!is_short(body.substr(at, end - at))) return true;
  }
  if (std::any_of(std::begin(kLongMethods), std::end(kLongMethods), [&](std::string_view m) { return body.find(m) != body.npos; }))
    return true;
  if (depth > 8) return false;
  return std::any_of(order_.begin(), order_.end(), [&](const Specialised* f) {
    return f->done && body.find(f->name + "(") != body.npos && may_take_long(f->text, depth + 1);
  });
}

std::string FunctionCompiler::poll_after(const Node* n) {
  if (!host() || !unit_.options.polls) return "";
  polls_ = true;
  return n->kind == NodeKind::while_ && !writes_memory(n->body) ? "bc_poll(), py::expect_writes()" : "bc_poll()";
}

std::string FunctionCompiler::counted_loop(const Node* n, const std::string& type, const std::string& counter, const std::string& start,
                                           const std::string& stop, int64_t step, const std::string& body) {
  const std::string indent(static_cast<size_t>(2 * depth_), ' ');
  const std::string compare = fmt::format("{} {}", counter, step > 0 ? "<" : ">");
  const std::string next = step == 1    ? "++" + counter
                           : step == -1 ? "--" + counter
                                        : fmt::format("{} {}= {}", counter, step < 0 ? '-' : '+', step < 0 ? -step : step);
  const auto whole = [&](const std::string& more) {
    return fmt::format("for ({} {} = {}; {} {}; {}{}) {{\n{}{}}}\n", type, counter, start, compare, stop, next, more, body, indent);
  };
  if (!host() || !unit_.options.polls) return whole("");
  const bool inner = unit_.may_take_long(body);
  const uint64_t known = turns(start, stop, step);
  if (!inner && known != 0 && known <= kShort) return whole("");
  // A loop inside another one, which asks after each of its turns.
  if (!inner && !loops_.empty() && known != 0 && known <= kLong) return whole("");
  polls_ = true;
  if (inner) return whole(", bc_poll()");
  const auto asking = [&] {
    if (leaves(n->body)) return whole(", bc_poll()");
    const std::string end = temporary("strip");
    return fmt::format(
        "for ({0} {1} = {2}; {3} {4}; {3} {4} ? bc_poll() : void()) for (const {0} {5} = py::strip<{0}>({1}, {4}, {6}); {3} {5}; {7}) "
        "{{\n{8}{9}}}\n",
        type, counter, start, compare, stop, end, step, next, body, indent);
  };
  // Cutting it would cost more than few turns take: there is the loop as it is, and one that asks. A label cannot stand twice.
  const bool alone = loops_.empty() && unit_.options.entered;  // what is not entered is called in a loop
  if (alone || body.find(":;") != body.npos) return asking();
  return fmt::format("if (py::takes_long({0}, {1}, {2})) {{\n{3}{4}{3}}} else {{\n{3}{5}{3}}}\n", start, stop, step, indent, asking(),
                     whole(""));
}

std::string FunctionCompiler::tested_loop(const Node* n, const std::string& test, const std::string& body) {
  const std::string indent(static_cast<size_t>(2 * depth_), ' ');
  const std::string poll = poll_after(n);
  if (poll.empty()) return fmt::format("while ({}) {{\n{}{}}}\n", test, body, indent);
  if (leaves(n->body) || unit_.may_take_long(body)) return fmt::format("for (; {}; {}) {{\n{}{}}}\n", test, poll, body, indent);
  // It asks after so many turns that the compiler can lay several of them in a row.
  const std::string go = temporary("go"), turn = temporary("turn");
  return fmt::format(
      "for (bool {0} = true; {0}; {0} ? bc_poll() : void()) for (int {1} = 0; {1} < 64 && ({0} = ({2})); ++{1}{3}) {{\n{4}{5}}}\n", go,
      turn, test, poll.find("expect_writes") != poll.npos ? ", py::expect_writes()" : "", body, indent);
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
