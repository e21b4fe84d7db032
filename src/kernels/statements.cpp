// Statements: assignments, branches, loops, returns. See compiler.h for the method.
#include <algorithm>
#include <array>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

/// A pair of paths' knowledge of one variable.
Local join(const Local& a, const Local& b) {
  Local r = a;
  r.maybe_undefined |= b.maybe_undefined;
  r.non_negative &= b.non_negative;
  r.least = std::min(r.least, b.least);
  r.of_numpy &= b.of_numpy;
  r.index &= b.index;
  if (!a.constant || !b.constant || !(*a.constant == *b.constant)) r.constant = nullptr;
  if (a.conflict || b.conflict) {
    r.conflict = a.conflict ? a.conflict : b.conflict;
    return r;
  }
  const Type t = unify(a.type, b.type);
  if (t) {
    r.type = t;
  } else if (a.type && b.type) {
    r.conflict = b.type;
  }
  if (a.type != b.type && r.type && !r.type->is_scalar()) r.non_negative = r.index = false;
  const auto there = [](const Local& l) { return l.there || (l.type && l.type->has_value() && !l.type->is(Kind::optional)); };
  r.there = r.type && r.type->is(Kind::optional) && there(a) && there(b);
  return r;
}

/// Calls `f` for every node of statements and expressions, outside inner functions, with the targets of the loops around it.
template <class F>
void visit(const Node* n, std::vector<std::string>* targets, const F& f) {
  if (!n) return;
  f(n, *targets);
  visit(n->a, targets, f);
  visit(n->b, targets, f);
  visit(n->c, targets, f);
  for (const Node* k : n->list) visit(k, targets, f);
  for (const auto& [name, k] : n->keywords) visit(k, targets, f);
  const bool bound = n->kind == NodeKind::for_ && n->a->kind == NodeKind::name;
  if (bound) targets->push_back(n->a->text);
  for (const Node* k : n->body) visit(k, targets, f);
  if (bound) targets->pop_back();
  for (const Node* k : n->orelse) visit(k, targets, f);
}

bool contains(const std::vector<std::string>& list, const std::string& s) { return std::find(list.begin(), list.end(), s) != list.end(); }

bool has_break(const std::vector<Node*>& body) {
  for (const Node* n : body) {
    if (n->kind == NodeKind::break_) return true;
    if (has_break(n->orelse)) return true;
    if (n->kind == NodeKind::for_ || n->kind == NodeKind::while_) continue;
    if (has_break(n->body) || (n->kind == NodeKind::try_ && (has_break(n->list) || (n->c && has_break(n->c->body))))) return true;
  }
  return false;
}

}  // namespace

Env join(const Env& a, const Env& b) {
  if (!a.reachable) return b;
  if (!b.reachable) return a;
  Env r = a;
  for (size_t i = 0; i < r.locals.size(); ++i) {
    std::optional<Local>& x = r.locals[i];
    const std::optional<Local>& y = b.locals[i];
    if (x && y) {
      x = join(*x, *y);
    } else if (x || y) {
      if (!x) x = y;
      x->maybe_undefined = true;
    }
  }
  return r;
}

/// A loop variable that is neither read outside its loops nor bound inside them may be the C++ loop's own counter.
void FunctionCompiler::find_free_loads() {
  std::vector<std::string> targets;
  std::map<std::string, int> loops, seen;
  std::set<std::string> rebound;
  bool inner = false;
  for (const Node* s : syntax_.body)
    visit(s, &targets, [&](const Node* n, const std::vector<std::string>& around) {
      inner |= n->inner != nullptr;  // an inner function may read any variable
      if (n->kind == NodeKind::name && !contains(around, n->text)) ++seen[n->text];
      if (n->kind == NodeKind::for_ && n->a->kind == NodeKind::name && !contains(around, n->a->text)) ++loops[n->a->text];
      const auto binds = [&](const Node* t, const auto& self) -> void {
        if (!t) return;
        if (t->kind == NodeKind::name && contains(around, t->text)) rebound.insert(t->text);
        if (t->kind == NodeKind::tuple || t->kind == NodeKind::list)
          for (const Node* k : t->list) self(k, self);
      };
      if (n->kind == NodeKind::assign)
        for (const Node* t : n->list) binds(t, binds);
      if (n->kind == NodeKind::aug_assign || n->kind == NodeKind::ann_assign || n->kind == NodeKind::for_) binds(n->a, binds);
      if (n->kind == NodeKind::walrus) rebound.insert(n->text);
    });
  for (const std::string& name : syntax_.locals)
    if (inner || loops[name] != seen[name] || rebound.contains(name)) free_loads_.insert(name);
}

Type FunctionCompiler::declared_result() const {
  if (spec_.depth == 0) return unit_.options.result;
  for (const FunctionSignature& s : function_.declared)
    if (s.result && s.arguments == spec_.arguments) return s.result;
  return nullptr;
}

/// The type that the walk found to be returned, held to the declared one.
Type FunctionCompiler::found_result(Type declared) {
  Type result = returned_ ? (falls_off_ ? unify(returned_, none_type()) : returned_) : falls_off_ ? none_type() : nullptr;
  if (returned_ && falls_off_ && !result) result = returned_;
  if (result && result->is(Kind::literal)) result = int64_type();
  if (const Type members = enumeration_of(result); members && host() && spec_.depth == 0) result = members;
  if (syntax_.yields) result = yielded_ ? generator_type(yielded_) : nullptr;
  if (declared) {
    if (result && result != declared && (falls_off_ || result->is(Kind::none)))
      fail(nullptr, fmt::format("the signature says that it returns {}, it returns {}", declared->spelling, result->spelling));
    result = declared;
  }
  return result;
}

/// Walks the function until its types stay as they are: a recursive one is walked again until the type that its calls return is the one
/// that it returns.
void FunctionCompiler::settle_types() {
  const Type declared = syntax_.yields ? nullptr : declared_result();
  if (declared) spec_.result = declared;
  for (int round = 0; round < 12; ++round) {
    const Type before = spec_.result;
    const bool failed = spec_.fails;
    const std::set<int> captured = spec_.captures;
    const int used_outside = std::exchange(unit_.lowest_used_, Unit::kNone);
    if (std::exchange(lists_changed_, false)) loop_types_.clear();
    pass(false);
    const int used = unit_.lowest_used_;
    unit_.lowest_used_ = std::min(used, used_outside);
    const Type result = found_result(declared);
    spec_.result = result;
    spec_.fails = fails_;
    spec_.captures = captures_;
    if (!lists_changed_ && (used > spec_.depth || (result == before && failed == fails_ && captured == captures_ && round > 0))) break;
  }
}

/// The declaration of a kernel; `list`: its parameters.
void FunctionCompiler::declare_kernel(std::string list) {
  if (fails_) {
    unit_.need("cuda");
    list += fmt::format("{}py::Status* status", list.empty() ? "" : ", ");
    declarations_ = "  int failure = 0;\n" + declarations_;
  }
  if (unit_.options.check) {
    unit_.need("check");
    declarations_ = fmt::format("  py::Checker bc_checker = py::checker(status, {});\n", !unit_.orders_blocks) + declarations_;
  }
  const std::string& bounds = unit_.options.launch_bounds;
  spec_.declaration = fmt::format("extern \"C\" __global__ void {}{}({})",
                                  bounds.empty() ? "" : fmt::format("__launch_bounds__({}) ", bounds), spec_.name, list);
}

/// The declaration of a function that others call; `list`: its parameters.
void FunctionCompiler::declare_function(std::string list) {
  if (fails_)
    list += fmt::format("{}int& failure", list.empty() ? "" : ", ");
  else if (needs_failure_)
    declarations_ = "  int failure = 0;\n" + declarations_;
  if (unit_.options.check) list += fmt::format("{}py::Checker& bc_checker", list.empty() ? "" : ", ");
  if (spec_.each) list += fmt::format("{}const Each& bc_each", list.empty() ? "" : ", ");
  if (leaves_ && (spec_.each || (!syntax_.yields && spec_.result->has_value())))
    declarations_ = fmt::format("  {} bc_result{{}};\n", spec_.each ? "int" : cpp(spec_.result)) + declarations_;
  const Code result = spec_.each                  ? Code("int")
                      : syntax_.yields            ? code("py::StartedGenerator<{}>", cpp(spec_.result->element))
                      : spec_.result->has_value() ? Code(cpp(spec_.result))
                                                  : Code("void");
  spec_.declaration = fmt::format("{}{} {} {}({})", spec_.each ? "template <class Each> " : "",
                                  function_.force_inline || syntax_.outer ? "BC_FN"
                                  : unit_.options.inlined                 ? "BC_INLINE"
                                                                          : "BC_PY",
                                  result.text(), spec_.name, list);
}

namespace {
/// Whether one of the statements is a raise or an assert.
bool raises(const std::vector<Node*>& body) {
  return std::any_of(body.begin(), body.end(), [](const Node* n) {
    return n->kind == NodeKind::raise_ || n->kind == NodeKind::assert_ || raises(n->body) || raises(n->orelse) ||
           (n->kind == NodeKind::try_ && raises(n->list));
  });
}
}  // namespace

void FunctionCompiler::run() {
  if (syntax_.keyword_rest)
    fail(syntax_.keyword_rest, fmt::format("**{} is not supported in compiled functions", syntax_.keyword_rest->text), {},
         "name the parameters");
  for (const Node* outer : syntax_.outer_names)
    if (syntax_.local_index(outer->text) >= 0)
      fail(outer, fmt::format("'{}' belongs outside this function, and compiled functions cannot assign to it", outer->text), {},
           "return the value, or store it into an array that is passed");
  find_free_loads();
  settle_types();
  // A part of a recursion is printed when the function around it, whose types are known then, is.
  if (unit_.lowest_used_ < spec_.depth) return;
  if (!spec_.result) {
    if (spec_.recursive && !raises(syntax_.body))
      fail(nullptr, fmt::format("{}() never ends: every path of it calls itself", syntax_.name), {}, "return a value from one of them");
    spec_.result = none_type();
  }
  spec_.final_types = true;
  pass(true);

  if (polls_) declarations_ = "  py::Poll bc_poll;\n" + declarations_;
  if (host() && spec_.recursive) declarations_ = "  py::poll_at_entry();\n" + declarations_;
  const bool kernel = spec_.depth == 0 && unit_.options.entry == Entry::kernel;
  if (kernel && spec_.result->has_value())
    fail(nullptr, fmt::format("the kernel {} returns {}; a kernel must not return a value", syntax_.name, spec_.result->spelling));
  const size_t parameters = syntax_.parameters.size() + (syntax_.rest.empty() ? 0 : 1);
  std::string list;
  std::set<std::string> rebound;
  bound_names(syntax_.body, &rebound);
  for (size_t i = 0; i < spec_.arguments.size(); ++i) {
    const Type t = spec_.arguments[i];
    if (!t->has_value()) continue;
    const size_t at = i < parameters ? i : syntax_.locals.size() + (i - parameters);
    // An object that the function does not bind again is the caller's, which counts its references.
    const bool lent = host() && is_counted(t) && !syntax_.yields && at < syntax_.locals.size() && !rebound.contains(syntax_.locals[at]);
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", lent ? code("const {}&", cpp(t)).text() : cpp(t),
                        variables_.at({static_cast<int>(at), t}));
  }
  spec_.captures = captures_;
  for (int i : captures_) {
    const Unit::Capture& c = unit_.captures_[static_cast<size_t>(i)];
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", cpp(c.array.type), c.text);
  }
  if (kernel)
    declare_kernel(std::move(list));
  else
    declare_function(std::move(list));
  for (size_t i = 0; i < spec_.arguments.size(); ++i)
    spec_.writes.push_back(i >= uses_.size() || !spec_.arguments[i]->is_array() ||
                           (uses_[i] != reads_[i] && !spec_.arguments[i]->read_only));
  if (kernel)
    for (const auto& [name, array] : unit_.shared_arrays) {
      poisons_ += fmt::format("  py::poison_shared({}(), {});\n", name, array.second);
      poisons_shared_ = true;
    }
  if (poisons_shared_) poisons_ += "  __syncthreads();\n";
  spec_.text = fmt::format("{} {{\n{}{}{}}}\n", spec_.declaration, declarations_, poisons_, out_.text());
  spec_.facts = out_.facts();
  for (Type t : spec_.arguments) note_type(t);
  note_type(spec_.result);
}

void FunctionCompiler::pass(bool emitting) {
  emitting_ = emitting;
  out_.clear();
  declarations_.clear();
  depth_ = 1;
  temporaries_ = labels_ = 0;
  returned_ = yielded_ = nullptr;
  falls_off_ = false;
  variables_.clear();
  taken_.clear();
  last_comment_.clear();
  declared_dynamic_ = polls_ = false;
  uses_.assign(syntax_.parameters.size() + 1, 0);
  reads_ = uses_;
  leaves_ = false;
  fails_ |= unit_.options.check && spec_.depth == 0 && unit_.options.entry == Entry::kernel;
  poisons_.clear();
  poisons_shared_ = false;
  access_ = Access::read;
  loops_.clear();
  env_ = Env{};
  env_.locals.resize(syntax_.locals.size() + spec_.captured.size());
  std::string known;
  for (size_t i = 0; i < spec_.arguments.size(); ++i) {
    const size_t parameters = syntax_.parameters.size() + (syntax_.rest.empty() ? 0 : 1);
    const size_t at = i < parameters ? i : syntax_.locals.size() + (i - parameters);
    Local l;
    l.type = spec_.arguments[i];
    if (l.type && l.type->is(Kind::literal)) {
      l.constant = std::make_shared<Constant>(Constant{l.type->value});
      l.type = int64_type();
      l.non_negative = *l.constant->integer() >= 0;
      l.index = true;
      known += fmt::format("  i64 {} = {};\n", variable(static_cast<int>(at), l.type), *l.constant->integer());
    }
    if (l.type && l.type->is_scalar() && (is_unsigned(l.type->dtype) || is_bool(l.type->dtype))) l.non_negative = true;
    env_.locals[at] = l;
    if (l.type && l.type->has_value()) variable(static_cast<int>(at), l.type);
  }
  declarations_ = known;  // other parameters are declared by the signature
  for (int index : unbound_reads_)
    if (asks_whether_bound(index))
      declarations_ += fmt::format("  bool has_{} = {};\n", index, env_.locals[static_cast<size_t>(index)].has_value());
  block(syntax_.body);
  if (env_.reachable) {
    falls_off_ = true;
    if (emitting && syntax_.yields) leave_with({});
    if (emitting && spec_.result && spec_.result->is(Kind::optional)) linef("return {}{{}};", cpp(spec_.result));
  }
}

void FunctionCompiler::block(const std::vector<Node*>& body) {
  for (const Node* n : body) {
    if (!env_.reachable) return;
    statement(n);
  }
}

void FunctionCompiler::comment(const Node* n) {
  if (!emitting_) return;
  std::string_view text = syntax_.source_line(n->line);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  if (text.empty() || text.back() == '\\' || text == last_comment_) return;
  last_comment_ = text;
  unit_.places.try_emplace(last_comment_, SourcePlace{syntax_.file, n->line, syntax_.name, unit_.trail});
  line("// " + last_comment_);
}

void FunctionCompiler::statement(const Node* n) {
  switch (n->kind) {
    case NodeKind::pass: return;
    case NodeKind::expression: {
      if (n->a->kind == NodeKind::constant && n->a->literal.string()) return;  // a doc string
      if (n->a->kind == NodeKind::ellipsis) return;
      comment(n);
      const Value v = expression(n->a);
      perform(v);
      return;
    }
    case NodeKind::assign: {
      comment(n);
      if (host() && n->list.size() == 1 && n->list[0]->kind == NodeKind::name) {
        const auto known = container_types_.find(n->list[0]->text);
        hint_ = known == container_types_.end() ? nullptr : known->second;
      }
      Value v = expression(n->a);
      hint_ = nullptr;
      if (n->list.size() > 1 && v.display) v = made(v, container_of_names(n->list), n);
      if (n->list.size() > 1 && !v.simple && v.type && v.type->has_value() && !v.lazy) v = spill(v);
      for (const Node* target : n->list) assign(target, v, n);
      return;
    }
    case NodeKind::ann_assign:
      if (n->b) {
        comment(n);
        assign(n->a, expression(n->b), n);
      }
      return;
    case NodeKind::aug_assign:
      comment(n);
      aug_assign(n);
      return;
    case NodeKind::if_: return if_statement(n);
    case NodeKind::while_: return while_statement(n);
    case NodeKind::for_: return for_statement(n);
    case NodeKind::return_: return return_statement(n);
    case NodeKind::raise_: return raise_statement(n);
    case NodeKind::assert_: return assert_statement(n);
    case NodeKind::try_: return try_statement(n);
    case NodeKind::delete_: comment(n); return delete_statement(n);
    case NodeKind::block: return block(n->body);
    case NodeKind::with_: return with_statement(n);
    case NodeKind::break_:
    case NodeKind::continue_: {
      leave_protections(static_cast<int>(loops_.size()), /*returning=*/false);
      if (!env_.reachable) return;
      Loop& l = loops_.back();
      const bool breaks = n->kind == NodeKind::break_;
      Env& to = breaks ? l.breaks : l.continues;
      const Env* wanted = breaks ? l.exit : l.head;
      if (emitting_ && wanted) emit_edge(env_, *wanted);
      if (breaks && !l.broke.empty()) linef("{} = true;", l.broke);
      if (breaks && in_parallel_ && loops_.size() == parallel_loops_)
        fail(n, "prange: the loop cannot be left by break", {}, "its turns run side by side: use range(), or skip turns by continue");
      if (l.unrolled)
        linef("goto {};", breaks ? l.break_label : l.continue_label);
      else if (l.called)
        linef("return {};", breaks ? 1 : 0);
      else
        line(breaks ? "break;" : "continue;");
      to = join(to, env_);
      env_.reachable = false;
      return;
    }
    case NodeKind::function: {
      const int at = syntax_.local_index(n->inner->name);
      Local l;
      l.type = inner_function(n).type;
      env_.locals[static_cast<size_t>(at)] = l;
      return;
    }
    default:
      fail(n, fmt::format("{} is not supported in compiled functions", n->text.empty() ? "this statement" : "'" + n->text + "'"), {},
           instead_of(n->text));
  }
}

// ---- assignment -------------------------------------------------------------------------------------------------------------------

/// What is known of the container that all of the names hold: a = b = [].
Type FunctionCompiler::container_of_names(const std::vector<Node*>& targets) const {
  Type known = nullptr;
  for (const Node* target : targets)
    if (const auto found = container_types_.find(target->text); target->kind == NodeKind::name && found != container_types_.end())
      known = unify(known, found->second);
  return known;
}

void FunctionCompiler::set_local(int index, const Value& v) {
  Local l;
  l.type = v.type;
  l.non_negative = v.non_negative;
  l.least = v.least;
  l.index = v.index;
  l.several = v.is(Kind::tuple) && (v.several || (v.display && host()));
  l.of_numpy = v.of_numpy;
  l.constant = v.constant;
  env_.locals[static_cast<size_t>(index)] = l;
  note_bound(index, true);
  for (Protection& p : protections_) p.seen = join(p.seen, env_);
}

void FunctionCompiler::note_bound(int index, bool bound) {
  if (in_parallel_) bound_in_parallel_.insert(index);
  if (asks_whether_bound(index)) quiet_line(code("has_{} = {};", index, bound));
}

void FunctionCompiler::assign_name(const std::string& name, Value v, const Node* at) {
  const int index = syntax_.local_index(name);
  if (index < 0) fail(at, fmt::format("'{}' is a variable of an outer function or module; a compiled function cannot rebind it", name));
  v.least = 0;  // a loop that counts it down would have to be walked once more for each number
  if (v.is(Kind::literal)) v = converted(v, int64_type(), at);
  if (v.is(Kind::builtin) && v.type->name == "literal_unroll") v = Value(v.items[0]);  // loops over such tuples are unrolled
  if (v.is(Kind::builtin) && v.type->name == "flat") {
    // The elements in C order are a vector where they lie so.
    const Value array = v.items[0];
    if (!host() || array.type->layout != 'C')
      fail(at, fmt::format("'{}' cannot be .flat of an array that may not lie in C order", name), {{"the array", array.type}},
           "write x.flat[i], or take x.ravel()");
    v = raveled(array, at);
  }
  if (v.lazy && host()) v = materialise(v, at);
  if (is_passing(v)) fail(at, fmt::format("'{}' cannot be what {}() gives", name, v.type->name), {}, "keep list(…) of it");
  if (host() && v.type) {
    expect_bound_once(v, at);
    const auto hint = container_types_.find(name);
    if (hint != container_types_.end() && hint->second && v.type->is_container() && hint->second->typed && !v.type->typed && v.display)
      v.type = list_type(v.type->element, true);
    v = made(v, hint == container_types_.end() ? nullptr : hint->second, at);
    if (!v.type) return set_local(index, v);
    if (v.type->is_container()) {
      Type& known = container_types_[name];
      const Type both = unify(known, v.type);
      if (both && both != known) {
        known = both;
        lists_changed_ = true;
      }
      if (is_incomplete(v.type)) {
        if (emitting_) display_text(v, v.type, at);
        v.display = false;
        set_local(index, v);
        return;
      }
    }
  }
  for (auto pins = pins_.rbegin(); pins != pins_.rend(); ++pins) {
    const auto pinned = pins->find(index);
    if (pinned == pins->end()) continue;
    if (v.type && v.type != pinned->second && converts(v.type, pinned->second)) {
      v = converted(v, pinned->second, at);
      v.constant = nullptr;
    }
    break;
  }
  if (v.lazy)
    fail(at, fmt::format("'{}' would need memory for a new {}", name, v.type->spelling), {},
         "assign into an array that is there (out[:] = …), or make one with cuda.local.array");
  if (v.type && v.type->has_value()) {
    if (emitting_) {
      bool here = false;
      const Code text = v.is(Kind::tuple) ? struct_text(v) : v.text;
      const std::string target = variable(index, v.type, &here);
      if (here)
        linef("{} {} = {};", v.started && keeps_generator(name) ? "const auto&" : cpp(v.type), target, text);
      else if (!text.is_name(target))
        linef("{} = {};", target, text);
    } else if (v.is(Kind::tuple)) {
      struct_text(v);
    }
  } else {
    perform(v);
  }
  set_local(index, v);
}

/// Raises where a sequence of `count` items, a C++ expression, is unpacked into another number of names.
void FunctionCompiler::expect_count(size_t names, const Code& count, const Node* at) {
  fail_if_of(code("{} < {}", count, names), "ValueError", fmt::format("not enough values to unpack (expected {}, got %)", names), count,
             at);
  fail_if(code("{} > {}", count, names), "ValueError", fmt::format("too many values to unpack (expected {})", names), at);
}

/// The items of a list for `n` names, of which the one at `star` takes what the others leave.
std::vector<Value> FunctionCompiler::list_items(const Value& list, size_t n, size_t star, const Node* at) {
  std::vector<Value> items(n);
  if (is_incomplete(list.type)) return items;
  const Code& l = list.text;
  if (star == n) expect_count(n, code("{}.size()", l), at);
  if (star < n)
    fail_if_of(code("{}.size() < {}", l, n - 1), "ValueError",
               fmt::format("not enough values to unpack (expected at least {}, got %)", n - 1), code("{}.size()", l), at);
  for (size_t i = 0; i < n; ++i)
    if (i == star)
      items[i] =
          Value::called(list.type, code("{0}.slice(py::Slice{{{1}, {0}.size() - {2}, 1, true, true, true}})", l, star, n - 1 - star));
    else
      items[i] = Value::of(list.type->element, i < star ? code("{}.at({})", l, i) : code("{0}.at({0}.size() - {1})", l, n - i));
  return items;
}

void FunctionCompiler::unpack(const Node* target, const Value& value, const Node* at) {
  const size_t n = target->list.size();
  const auto starred = std::find_if(target->list.begin(), target->list.end(), [](const Node* t) { return t->kind == NodeKind::starred; });
  const auto star = static_cast<size_t>(starred - target->list.begin());
  const bool plain_array = value.is_array() && value.type->ndim >= 1;
  if (plain_array && value.lazy) return unpack(target, bound(materialise(value, at)), at);
  const bool walked = value.is(Kind::string) || value.is(Kind::text) || value.is(Kind::range) || value.is(Kind::set) ||
                      value.is(Kind::dict) || value.is(Kind::generator) || (value.is(Kind::builtin) && !value.items.empty());
  if (host() && (walked || (plain_array && star < n))) return unpack(target, list_from(value, at), at);
  std::vector<Value> items;
  bool starred_items = false;  // the starred name has its list already
  if (value.is(Kind::tuple)) {
    const Value whole = value.items.empty() && !value.simple ? spill(value) : value;
    for (size_t i = 0; i < value.type->items.size(); ++i) items.push_back(tuple_item(whole, i));
  } else if (plain_array) {
    const Value whole = bound(value);
    if (host()) expect_count(n, code("{}.shape[0]", paren(whole)), at);
    for (size_t i = 0; i < n; ++i) {
      Value k = constant_value(Constant{static_cast<int64_t>(i)});
      items.push_back(subscript_of(whole, k, at));
    }
  } else if (value.is(Kind::list)) {
    items = list_items(spill(value, "l"), n, star, at);
    starred_items = star < n && !is_incomplete(value.type);
  } else if (is_record_reference(value)) {
    for (const std::string& field : value.type->element->fields) items.push_back(reference_field(value, field, at));
  } else if (value.is(Kind::record)) {
    const Value whole = value.simple ? value : spill(value);
    for (const std::string& field : value.type->fields) items.push_back(record_field(whole, field, at));
  } else if (!value.type) {
    items.resize(n);
  } else {
    fail(at, fmt::format("cannot unpack {} into {} names", value.type->spelling, n), {{source_of(at->a), value.type}},
         source_of(at->a).starts_with("cuda.grid(1)") ? fmt::format("cuda.grid({}) gives {} numbers", n, n)
                                                      : "only tuples and arrays can be unpacked");
  }
  if (star == n ? items.size() != n : items.size() + 1 < n)
    fail(at, fmt::format("cannot unpack {} values into {} names", items.size(), n), {{source_of(at), value.type}});
  if (star < n && !starred_items) {
    const size_t rest = items.size() - (n - 1);
    std::vector<Value> middle(items.begin() + static_cast<std::ptrdiff_t>(star), items.begin() + static_cast<std::ptrdiff_t>(star + rest));
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(star), items.begin() + static_cast<std::ptrdiff_t>(star + rest));
    Value list = tuple_of(std::move(middle));
    list.display = host();  // a list, where the items have one type
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(star), std::move(list));
  }
  // All are read before the first is written: a, b = b, a.
  const auto constant_or_new = [&](Value& v) {
    if (!v.type || !v.type->has_value()) return true;
    if (v.display && v.items.empty() && is_incomplete(v.type)) return true;  // a, b = [], []
    if (!v.constant) return false;
    // What is known of a variable may be read from it, and it may be written here.
    const Value c = constant_value(*v.constant);
    if (c.type != v.type || !c.is_scalar()) return false;
    v = c;
    return true;
  };
  bool later = false;  // an item is read behind the first store
  for (size_t i = 0; i < items.size(); ++i) later |= !constant_or_new(items[i]) && i > 0;
  const bool own = value.is(Kind::tuple) && value.items.empty();  // items of a temporary, which no store changes
  if (later && !own)
    for (Value& v : items)
      if (!constant_or_new(v)) v = spill(v);
  for (size_t i = 0; i < n; ++i) {
    const Node* t = target->list[i];
    assign(t->kind == NodeKind::starred ? t->a : t, items[i], at);
  }
}

void FunctionCompiler::assign(const Node* target, Value value, const Node* at) {
  // The value may change what the target's object is read from: `self.data[0] = self.grow()` stores into the new data.
  const bool member = target->kind == NodeKind::subscript || target->kind == NodeKind::attribute;
  if (host() && member && target->a->kind != NodeKind::name && value.acts() && !value.display) value = spill(value, "value");
  switch (target->kind) {
    case NodeKind::name: return assign_name(target->text, std::move(value), at);
    case NodeKind::tuple:
    case NodeKind::list: return unpack(target, value, at);
    case NodeKind::subscript: return assign_subscript(target, value, at);
    case NodeKind::attribute: {
      Value object = expression(target->a);
      if (!object.type) return;
      if (object.is(Kind::optional) && object.type->element->is(Kind::instance)) object = present(object, target);
      if (object.is(Kind::instance)) return assign_instance_field(object.simple ? object : spill(object), target->text, value, at);
      if (object.is(Kind::record) || is_record_reference(object)) return assign_field(object, target->text, value, target, at);
      if (object.is_array() && object.type->element->is(Kind::record))
        return assign_elements(array_attribute(object, target->text, target), value, at);
      if (object.is_array() && (target->text == "real" || target->text == "imag")) {
        assign_elements(array_attribute(object, target->text, target), value, at);
        return;
      }
      fail(at,
           fmt::format("cannot assign to the attribute '{}' of {}", target->text, object.type ? object.type->spelling : "an unknown type"));
    }
    default: fail(at, "cannot assign to this expression");
  }
}

void FunctionCompiler::aug_assign_name(const Node* n) {
  const Node* t = n->a;
  const Value old = name(t);
  if (old.type && old.type->is_container() && host()) {
    const Value right = expression(n->b);
    if (container_update(t, n->op, old, right, n)) return;
  }
  if (old.is_array() && old.type->ndim > 0 && !(is_bytes(old.type) && host())) {
    assign_elements(old, binary(n->op, old, expression(n->b), n), n);
    return;
  }
  const std::vector<Value> both = ordered({t, n->b});
  assign_name(t->text, binary(n->op, both[0], both[1], n), n);
}

/// p[i] op= v of a pointer.
void FunctionCompiler::aug_assign_pointer(const Value& pointer, const Node* n) {
  const Node* t = n->a;
  const Value start = pointer.simple ? pointer : spill(pointer, "p");
  const Value index = converted(expression(t->b), int64_type(), n);
  const Code place = code("{}[{}]", paren(start), (index.simple ? index : spill(index, "i")).text);
  Value old = Value::of(pointer.type->element, place);
  old.note(kReads);
  const size_t before_right = out_.size();
  const Value right = expression(n->b);
  settle(before_right, right.acts(), std::array{&old});
  const Value now = binary(n->op, old, right, n);
  if (now.type) linef("{} = {};", place, convert(now, old.type, n));
}

/// x op= v of an element that other turns of a parallel loop may write, too.
void FunctionCompiler::update_shared(const Value& old, const Node* n) {
  unit_.need("host_parallel");
  const Value right = spill(expression(n->b), "by");
  const std::string e = temporary("e"), c = cpp(old.type);
  Value element = Value::of(old.type, e);
  element.simple = true;
  Code result;
  const Block lines = captured([&] { result = convert(binary(n->op, element, right, n), old.type, n); });
  linef("py::update_shared({}, [&]({} {}) -> {} {{\n{}    return {}; }});", old.text, c, e, c, lines, result);
}

/// a[i, j] op= v of one element.
void FunctionCompiler::aug_assign_element(const Value& object, const std::vector<Value>& items, const Node* n) {
  const Node* t = n->a;
  if (object.type->read_only) fail(n, "cannot write to a read-only array", {{source_of(t->a), object.type}});
  Value old = Value::of(object.type->element, element(object, items, t));
  old.note(kReads);
  if (is_characters(old.type)) {
    const size_t before = out_.size();
    const Code characters = old.text;
    Value read = characters_read(old, n);
    const Value more = expression(n->b);
    settle(before, more.acts(), std::array{&read});
    linef("{} = {};", characters, convert(binary(n->op, read, more, n), old.type, n));
    return;
  }
  if (meets_other_turns(t) && (!is_complex(old.type->dtype) || n->op == Operator::add || n->op == Operator::sub))
    return update_shared(old, n);
  const Code place = old.text;
  const size_t before_right = out_.size();
  const Value right = expression(n->b);
  settle(before_right, right.acts(), std::array{&old});
  const Code text = convert(binary(n->op, old, right, n), old.type, n);
  access_ = Access::write;
  linef("{} = {};", unit_.options.check ? element(object, items, t) : place, text);
  access_ = Access::read;
}

void FunctionCompiler::aug_assign_item(const Node* n) {
  const Node* t = n->a;
  const size_t before = out_.size();
  Value object = expression(t->a);
  if (!object.type) return;
  if (object.type->is_container() && host()) {
    out_.cut(before);
    if (container_update_item(n)) return;
  }
  if (t->b->kind == NodeKind::constant && t->b->literal.string()) {
    const std::vector<Value> both = ordered({t, n->b});
    return assign(t, binary(n->op, both[0], both[1], n), n);
  }
  if (object.is(Kind::instance)) {
    const Value held = object.simple ? object : spill(object), index = made(expression(t->b), nullptr, n);
    const Value place = !index.type || index.simple || !index.type->has_value() ? index : spill(index);
    if (const auto old = instance_operator("getitem", {held, place}, n)) {
      const Value now = binary(n->op, *old, expression(n->b), n);
      if (const auto r = instance_operator("setitem", {held, place, kept(now, nullptr, n)}, n)) {
        perform(*r);
        return;
      }
    }
  }
  if (object.is(Kind::pointer)) return aug_assign_pointer(object, n);
  if (!object.is_array()) fail(n, fmt::format("cannot assign to items of {}", object.type ? object.type->spelling : "an unknown type"));
  object = bound(unowned_view(object) ? *unowned_view(object) : object);
  std::vector<Value> items = array_indices(expression(t->b), n);
  for (Value& i : items)
    if (i.is_scalar() && !i.simple) i = spill(i, "i");
  if (host() && picks(items)) {
    for (Value& i : items)
      if (i.is_array()) i = host_array(i, n);
    const Value old = spill(host_picked(object, items, t));
    return host_pick_assign(object, items, binary(n->op, old, expression(n->b), n), n);
  }
  const bool all_scalars = std::all_of(items.begin(), items.end(), [](const Value& i) { return i.is_scalar() || i.is(Kind::literal); });
  if (all_scalars && static_cast<int>(items.size()) == object.type->ndim) return aug_assign_element(object, items, n);
  const Value part = bound(view(object, items, t), "v");
  assign_elements(part, binary(n->op, part, expression(n->b), n), n);
}

/// object.field op= v: the object and its field are read before the value is computed, which may change both. False: it is no object.
bool FunctionCompiler::aug_assign_field(const Node* n) {
  const Node* t = n->a;
  const size_t before = out_.size();
  Value object = expression(t->a);
  if (object.is(Kind::optional) && object.type->element->is(Kind::instance)) object = present(object, t);
  if (!object.is(Kind::instance)) {
    out_.cut(before);
    return false;
  }
  if (!object.simple) object = spill(object);
  Value old = instance_attribute(object, t->text, t);
  const size_t before_right = out_.size();
  const Value right = expression(n->b);
  settle(before_right, right.acts(), std::array{&old});
  if (old.is_array() && old.type->ndim > 0 && !old.lazy) {
    const Value array = bound(old);
    assign_elements(array, binary(n->op, array, right, n), n);
    if (right.acts()) assign_instance_field(object, t->text, array, n);
  } else if (!(old.type && old.type->is_container() && container_update(t, n->op, old, right, n))) {
    assign_instance_field(object, t->text, binary(n->op, old, right, n), n);
  }
  return true;
}

void FunctionCompiler::aug_assign(const Node* n) {
  const Node* t = n->a;
  if (t->kind == NodeKind::name) return aug_assign_name(n);
  if (t->kind == NodeKind::subscript) return aug_assign_item(n);
  if (t->kind == NodeKind::attribute) {
    if (host() && aug_assign_field(n)) return;
    const std::vector<Value> both = ordered({t, n->b});
    // An array or a container is changed where it is.
    if (both[0].is_array() && both[0].type->ndim > 0 && !both[0].lazy) {
      const Value array = bound(both[0]);
      return assign_elements(array, binary(n->op, array, both[1], n), n);
    }
    if (both[0].type && both[0].type->is_container() && host() && container_update(t, n->op, both[0], both[1], n)) return;
    assign(t, binary(n->op, both[0], both[1], n), n);
    return;
  }
  fail(n, "cannot assign to this expression");
}

// ---- branches ---------------------------------------------------------------------------------------------------------------------

void FunctionCompiler::emit_edge(const Env& from, const Env& to) {
  if (!emitting_ || !from.reachable) return;
  for (size_t i = 0; i < from.locals.size(); ++i) {
    const auto &a = from.locals[i], &b = to.locals[i];
    if (!a || !b || a->conflict || b->conflict || a->type == b->type || !a->type || !b->type || !b->type->has_value()) continue;
    Value v = Value::of(a->type, a->type->has_value() ? variable(static_cast<int>(i), a->type) : "");
    v.simple = true;
    if (!v.type->has_value() && !v.is(Kind::none) && !v.is(Kind::string) && !v.is(Kind::function) && !v.is(Kind::builtin) &&
        !enumeration_of(v.type))
      continue;
    const Code text = convert(v, b->type, nullptr);
    linef("{} = {};", variable(static_cast<int>(i), b->type), text);
  }
}

void FunctionCompiler::if_statement(const Node* n) {
  comment(n);
  std::optional<bool> known;
  // The test that leaves a loop may wait for what another thread writes.
  const bool leaves =
      !loops_.empty() && !n->body.empty() && (n->body.back()->kind == NodeKind::break_ || n->body.back()->kind == NodeKind::return_);
  const auto outside = std::exchange(rereads_, leaves ? waited_for(n->a, loops_.back().node) : rereads_);
  const Code test = condition(n->a, &known);
  rereads_ = outside;
  if (known) {
    if (!test.empty()) line(test + ";");
    return block(*known ? n->body : n->orelse);
  }
  const Env before = env_;
  Env first, second;
  Block then_text = captured([&] {
    narrow(n->a, true);
    block(n->body);
    first = env_;
  });
  env_ = before;
  Block else_text = captured([&] {
    narrow(n->a, false);
    block(n->orelse);
    second = env_;
  });
  env_ = join(first, second);
  if (!emitting_) return;
  then_text += captured([&] { emit_edge(first, env_); });
  else_text += captured([&] { emit_edge(second, env_); });
  linef("if ({}) {{", test);
  out_ += then_text;
  if (!else_text.empty()) {
    line("} else {");
    out_ += else_text;
  }
  line("}");
}

// ---- loops ------------------------------------------------------------------------------------------------------------------------

/// The method of all loops. `head` evaluates what is evaluated before each turn, with the variables as they are at the loop's head;
/// `before_body` binds the loop's variables; `print` puts the text of the body into the C++ loop.
void FunctionCompiler::loop(const Node* n, const std::function<void()>& head, const std::function<void(const Block&)>& print,
                            const std::function<void()>& before_body) {
  const std::string key = fmt::format("{}{}", static_cast<const void*>(n), unrolled_);
  const Env entry = env_;
  const auto found = loop_types_.find(key);
  LoopTypes types;
  types.head = found == loop_types_.end() ? entry : join(entry, found->second.head);
  types.exit = found == loop_types_.end() ? Env{{}, false} : found->second.exit;
  if (found == loop_types_.end()) {
    // A variable that the loop's body binds is no constant in any turn: `s = 0` before `s += x` is an int64, not an integer that takes the
    // type of x.
    std::set<std::string> bound;
    bound_names(n->body, &bound);
    for (size_t i = 0; i < syntax_.locals.size() && i < types.head.locals.size(); ++i)
      if (std::optional<Local>& l = types.head.locals[i]; l && l->constant && l->constant->integer() && bound.contains(syntax_.locals[i]))
        l->constant = nullptr;
  }

  const bool with_else = !n->orelse.empty() && has_break(n->body);
  const std::string flag = with_else ? temporary("broke") : "";
  const bool called = std::exchange(body_is_called_, false);
  const auto turn = [&](bool emit, Block* text) {
    Loop l;
    l.node = n;
    l.called = called;
    l.broke = flag;
    l.head = emit ? &types.head : nullptr;
    l.exit = emit ? &types.exit : nullptr;
    env_ = types.head;
    loops_.push_back(std::move(l));
    Block body = captured([&] {
      head();
      const Env tested = env_;
      before_body();
      block(n->body);
      if (emit && env_.reachable) emit_edge(env_, types.head);
      loops_.back().continues = join(loops_.back().continues, env_);
      env_ = tested;
    });
    Loop done = std::move(loops_.back());
    loops_.pop_back();
    if (text) *text = std::move(body);
    return done;
  };

  const bool emitting = emitting_;
  if (!emitting || found == loop_types_.end()) {
    emitting_ = false;
    for (int round = 0;; ++round) {
      if (round > 30) fail(n, "the types of this loop's variables do not settle");
      const int temporaries = temporaries_, labels = labels_;
      const Loop done = turn(false, nullptr);
      temporaries_ = temporaries;
      labels_ = labels;
      Env next = join(types.head, done.continues);
      for (size_t i = 0; i < next.locals.size(); ++i) {
        if (next.locals[i] && done.breaks.reachable && done.breaks.locals[i]) {
          // A variable leaves by break and by the head in one type, so that nothing is converted after the loop.
          const Local both = join(*next.locals[i], *done.breaks.locals[i]);
          if (both.type && !both.conflict) next.locals[i]->type = both.type;
        }
      }
      Env exit = join(env_, done.breaks);
      const bool stable = next == types.head;
      types.head = std::move(next);
      types.exit = std::move(exit);
      if (stable) break;
    }
    emitting_ = emitting;
    loop_types_[key] = types;
  }
  if (emitting) {
    env_ = types.head;
    if (!flag.empty()) linef("bool {} = false;", flag);
    emit_edge(entry, types.head);
    Block body;
    const Loop done = turn(true, &body);
    print(body);
  }
  // env_ is what the head leaves.
  const Env left = env_;
  if (!n->orelse.empty()) {
    if (flag.empty()) {
      env_ = left;
      block(n->orelse);
      env_ = join(env_, loop_types_[key].exit.reachable && has_break(n->body) ? types.exit : env_);
    } else {
      Env after;
      Block text = captured([&] {
        env_ = left;
        block(n->orelse);
        after = env_;
      });
      Env all = join(types.exit, after);
      if (emitting_) {
        text += captured([&] { emit_edge(after, all); });
        linef("if (!{}) {{", flag);
        out_ += text;
        line("}");
        emit_edge(types.exit, all);
      }
      env_ = std::move(all);
    }
  } else {
    env_ = types.exit;
  }
}

/// What stands before a loop on a GPU. Turns that end at a barrier gain nothing by being unrolled, which costs a tree in shared memory a
/// tenth of its compile; but in an array of the thread's, unrolled, each element is a register. `steps_vary`: nor does a loop around
/// another gain, whose step is no constant.
const char* FunctionCompiler::rolled(const Facts& body, bool steps_vary) {
  if (unit_.options.entry == Entry::host) return "";
  const bool stops = body.has(kBarrier) && !body.has(kThreadArray);
  if (!stops && !(steps_vary && unit_.loops(body))) return "";
  unit_.need("core");
  return "BC_ROLLED ";
}

void FunctionCompiler::while_statement(const Node* n) {
  const std::set<const Node*> waited = waited_for(n->a, n);
  std::optional<bool> known;
  Code test;
  Block before;
  const auto head = [&] {
    known.reset();
    Code mine;
    const auto outside = std::exchange(rereads_, waited);
    before = captured([&] { mine = condition(n->a, &known); });
    rereads_ = outside;
    test = known && !*known ? "false" : mine;
    if (known && *known) env_.reachable = false;  // `while True` is left by break only
  };
  comment(n);
  const auto print = [&](const Block& body) {
    if (before.empty() && !(known && *known)) return tested_loop(n, test, body);
    const Code poll = poll_after(n);
    const char* const begin = rolled(body.facts());
    line(code("{}{} {{", begin, poll.empty() ? code("while (true)") : code("for (; true; {})", poll)));
    out_ += before;
    if (!known) linef("  if (!({})) break;", test);
    out_ += body;
    line("}");
  };
  loop(n, head, print, [&] {
    env_.reachable = !known || *known;
    narrow(n->a, true);
  });
}

std::optional<Iteration> FunctionCompiler::iteration(const Value& v, const Node* at) {
  const auto index_value = [](Code text, Type t = int64_type()) {
    Value i = Value::of(t, std::move(text));
    i.simple = i.index = i.non_negative = true;
    return i;
  };
  if (v.is(Kind::range)) {
    unit_.need("core");
    Value start, stop, step;
    if (v.items.size() == 3) {
      start = spill(converted(v.items[0], int64_type(), at), "start");
      stop = spill(converted(v.items[1], int64_type(), at), "stop");
      step = spill(converted(v.items[2], int64_type(), at), "step");
    } else {
      const Value r = v.simple ? v : spill(v, "r");
      start = index_value(code("{}.start", r.text)), stop = index_value(code("{}.stop", r.text)),
      step = index_value(code("{}.step", r.text));
      start.non_negative = step.non_negative = false;
    }
    const bool positive = start.non_negative && step.constant && step.non_negative;
    return Iteration{code("py::range_length({}, {}, {})", start.text, stop.text, step.text),
                     [this, start, step, positive](const std::string& k) {
                       Value i = Value::of(int64_type(), code("{} + {} * {}", paren(start), k, paren(step)).at(Precedence::operation));
                       i.index = true;
                       i.non_negative = positive;
                       return i;
                     }};
  }
  if (v.is(Kind::optional)) return iteration(present(v, at), at);
  if (auto walk = container_iteration(v, at)) return walk;
  if (v.is(Kind::list)) {
    const Value l = v.simple ? v : spill(v, "l");
    return Iteration{code("{}.size()", l.text), [l](const std::string& k) {
                       Value item = Value::of(l.type->element, code("{}.at({})", l.text, k));
                       item.note(kReads);
                       if (!item.is_scalar()) item.note(kActs);
                       return item;
                     }};
  }
  if (v.is_array() && v.type->ndim >= 1) {
    const Value a = host() ? host_array(v, at) : bound(v, "a");
    return Iteration{code("{}.shape[0]", a.text),
                     [this, a, index_value, at](const std::string& k) { return subscript_of(a, index_value(k), at); }};
  }
  // Texts that are known have types of their own.
  if (host() && v.is(Kind::tuple) && !v.type->is_uniform() && stored_type(v.type)->is_uniform())
    return iteration(converted(v, stored_type(v.type), at), at);
  if (v.is(Kind::tuple) && v.type->is_uniform()) {
    const Value t = stored(v);
    return Iteration{code("{}", v.type->items.size()), [t](const std::string& k) {
                       Value item = Value::of(t.type->items[0], code("{}[{}]", t.text, k));
                       item.simple = true;
                       return item;
                     }};
  }
  if (v.is(Kind::builtin) && v.type->name == "reversed") {
    // As in CPython it ends early where the list has become shorter than the place to read.
    const Value l = v.items[0];
    const std::string last = temporary("last");
    linef("const i64 {} = {} - 1;", last, v.items.size() > 1 ? v.items[1].text : code("{}.size()", l.text));
    return Iteration{"0",
                     [l, last](const std::string& k) { return Value::fetched(l.type->element, code("{}.at({} - {})", l.text, last, k)); },
                     [l, last](const std::string& k) {
                       return code("{1} <= {0} && {0} - {1} < {2}.size()", last, k, l.text).at(Precedence::conjunction);
                     }};
  }
  if (v.is(Kind::builtin) && v.type->name == "flat") {
    return Iteration{code("{}.size()", v.items[0].text),
                     [this, v, index_value, at](const std::string& k) { return subscript_of(v, index_value(k), at); }};
  }
  if (v.is(Kind::builtin) && v.type->name == "enumerate") {
    auto inner = iteration(v.items[0], at);
    if (!inner) return std::nullopt;
    const Value start = v.items.size() > 1 ? v.items[1] : constant_value(Constant{int64_t{0}});
    return Iteration{inner->length,
                     [this, inner = *inner, start, index_value, at](const std::string& k) {
                       return tuple_of({binary(Operator::add, index_value(k), start, at), inner.item(k)});
                     },
                     inner->more};
  }
  if (v.is(Kind::builtin) && (v.type->name == "zip" || v.type->name == "zip_strict")) {
    unit_.need("core");
    return side_by_side(v.items, at, [this](std::vector<Value> items) { return tuple_of(std::move(items)); }, v.type->name == "zip_strict");
  }
  return std::nullopt;
}

/// Puts the variables that a value reads into others, which no assignment changes.
Value FunctionCompiler::held(Value v) {
  for (Value& item : v.items) item = held(item);
  return v.type && v.type->has_value() && v.items.empty() && v.simple && !v.constant ? spill(v) : v;
}

/// Gives the value that a loop or a comprehension's `for` walks over. It stays the same when `whole` gives other values to names in it.
Value FunctionCompiler::walked(const Value& v, const Node* loop, const Node* whole) {
  std::set<std::string> bound;
  bound_names(whole, &bound);
  return reads_any(loop->b, bound) ? held(v) : v;
}

/// What a `for` statement walks over. reversed(list) is then the list itself, which the loop may change.
Value FunctionCompiler::iterable_of(const Node* loop) {
  const Node* const over = loop->b;
  std::vector<const Node*> calls = {over};
  for (size_t i = 0; i < calls.size(); ++i) {
    const Node* const call = calls[i];
    if (call->kind == NodeKind::call && call->a->kind == NodeKind::name && (call->a->text == "enumerate" || call->a->text == "zip"))
      calls.insert(calls.end(), call->list.begin(), call->list.end());
  }
  walked_calls_.insert(calls.begin(), calls.end());
  Value v = present(expression(over), loop);
  for (const Node* call : calls) walked_calls_.erase(call);
  return v;
}

void FunctionCompiler::for_statement(const Node* n) {
  comment(n);
  Value v = iterable_of(n);
  // A list that has one type after all is no tuple to unroll.
  if (v.is(Kind::builtin) && v.type->name == "literal_unroll" && !v.items[0].is(Kind::tuple)) v = Value(v.items[0]);
  if (v.display && !v.is(Kind::tuple)) v = finished(v, n);
  expect_bound_once(v, n);
  v = walked(v, n, n);
  if (!v.type) {
    env_.reachable = env_.reachable && spec_.result;  // a recursive call's value: known in the next round
    return;
  }
  if ((v.is(Kind::tuple) && !v.type->is_uniform()) || (v.is(Kind::builtin) && v.type->name == "literal_unroll")) {
    const Value t = v.is(Kind::tuple) ? v : v.items[0];
    const Value whole = t.items.empty() && !t.simple ? spill(t) : t;
    std::vector<Value> items;
    for (size_t i = 0; i < t.type->items.size(); ++i) {
      Value item = tuple_item(whole, i);
      if (!t.items.empty() && item.type->has_value() && !item.constant) item = spill(item);
      items.push_back(item);
    }
    return unrolled_for(n, items);
  }
  if (v.is(Kind::range) && v.items.size() == 3 && is_prange(n)) {
    // The body is a function of its own: no jump leaves it.
    const auto protections = std::exchange(protections_, {});
    const auto handled = std::exchange(handled_, {});
    parallel_for(n, v);
    protections_ = protections;
    handled_ = handled;
    return;
  }
  if (v.is(Kind::range) && v.items.size() == 3) return range_for(n, v);
  if (const auto called = called_iteration(v, n)) return called_loop(n, *called);
  walk_for(n, v);
}

namespace {
/// A lower bound, from 0 to 3, of numbers that are at least `v` + `more`: Value::least of a loop's variable.
uint8_t at_least(const Value& v, int64_t more) {
  const int64_t known = v.integer() ? *v.integer() : v.non_negative ? v.least : -more;
  return static_cast<uint8_t>(std::clamp<int64_t>(known + more, 0, 3));
}
}  // namespace

/// A loop over a range whose bounds are known apart: a C++ loop over its numbers.
void FunctionCompiler::range_for(const Node* n, const Value& v) {
  const DType d = v.type->dtype;
  const Type t = scalar_type(d);
  Value start = converted(v.items[0], t, n), stop = converted(v.items[1], t, n), step = converted(v.items[2], t, n);
  // The bounds are taken once, before the loop.
  if (!start.constant && !start.simple) start = spill(start, "start");
  if (!stop.constant) stop = spill(stop, "stop");
  if (!step.constant) step = spill(step, "step");
  Value item = Value::of(t, "");
  const auto constant_step = step.integer();
  if (constant_step && *constant_step == 0) fail(n, "range() with a step of zero");
  item.index = true;
  item.non_negative = is_unsigned(d) || (start.non_negative && (step.non_negative || (constant_step && *constant_step > 0))) ||
                      (constant_step && *constant_step < 0 && stop.integer() && *stop.integer() >= -1);
  if (item.non_negative && constant_step) item.least = *constant_step > 0 ? at_least(start, 0) : at_least(stop, 1);
  const bool plain = n->a->kind == NodeKind::name && !free_loads_.contains(n->a->text);
  std::string counter = plain ? user_name(Named::variable, n->a->text) : temporary("k");
  const int index = plain ? syntax_.local_index(n->a->text) : -1;
  const auto before_body = [&] {
    if (plain) {
      // The loop declares its own variable, so nothing is left of it afterwards.
      variables_[{index, t}] = counter;
      taken_.insert(counter);
      item.text = counter;
      set_local(index, item);
    } else {
      Value i = item;
      i.text = counter;
      i.simple = true;
      assign(n->a, i, n);
    }
  };
  const auto print = [&](const Block& body) {
    const std::string type = cpp(t);
    if (constant_step) return counted_loop(n, type, counter, start, stop, *constant_step, body);
    const Code poll = poll_after(n), more = poll.empty() ? Code() : ", " + poll;
    const char* const before = rolled(body.facts(), true);
    if (step.non_negative)
      return body_of_loop(
          code("{}for ({} {} = {}; {} < {}; {} += {}{})", before, type, counter, start.text, counter, stop.text, counter, step.text, more),
          body);
    unit_.need("core");
    const std::string left = temporary("left");
    body_of_loop(code("{}for ({} {} = {}, {} = py::range_length({}, {}, {}); {} > 0; --{}, {} += {}{})", before, type, counter, start.text,
                      left, start.text, stop.text, step.text, left, left, counter, step.text, more),
                 body);
  };
  if (!plain) return loop(n, [] {}, print, before_body);
  const std::optional<Local> outside = env_.locals[static_cast<size_t>(index)];
  loop(n, [] {}, print, before_body);
  env_.locals[static_cast<size_t>(index)] = outside;
}

/// A loop over the items of a value.
void FunctionCompiler::walk_for(const Node* n, const Value& v) {
  // A generator's `finally` runs when the loop is left, before what follows.
  const bool lasts = ends_with_finally(v);
  if (lasts) line("{"), ++depth_;
  const auto walk = iteration(v, n->b);
  if (!walk)
    fail(n->b, fmt::format("cannot loop over {}", v.type->spelling), {},
         "ranges, arrays, tuples, enumerate() and zip() can be looped over");
  const Code length = walk->length;
  const std::string counter = temporary("k");
  loop(
      n, [] {},
      [&](const Block& body) {
        if (walk->more) {
          polls_ = true;
          return body_of_loop(walk->head(counter), body);
        }
        // A tuple's length is known, so that short loops over one need not poll.
        const Value& whole = v.is(Kind::builtin) && v.type->name == "enumerate" ? v.items[0] : v;
        if (v.is_array() || whole.is(Kind::tuple)) {
          const Value stop = whole.is(Kind::tuple) ? constant_value(Constant{static_cast<int64_t>(whole.type->items.size())})
                                                   : Value::of(int64_type(), length);
          return counted_loop(n, "i64", counter, constant_value(Constant{int64_t{0}}), stop, 1, body);
        }
        growing_loop(n, counter, length, body);
      },
      [&] { assign(n->a, walk->item(counter), n); });
  if (lasts) --depth_, line("}");
}

/// A loop over a tuple of several types: its body once for each item. What `break` and `continue` meet was found by the walk before.
void FunctionCompiler::unrolled_for(const Node* n, const std::vector<Value>& items) {
  const std::string outer = unrolled_;
  const std::string key = fmt::format("{}{}", static_cast<const void*>(n), outer);
  const bool breaks = has_break(n->body);
  const Env known_exit = loop_types_[key].exit;
  Loop l;
  l.node = n;
  l.unrolled = true;
  l.break_label = fmt::format("break_{}", ++labels_);
  if (emitting_) l.exit = &known_exit;
  loops_.push_back(l);
  if (breaks && emitting_) line("{");
  ++depth_;
  for (size_t i = 0; i < items.size() && env_.reachable; ++i) {
    unrolled_ = fmt::format("{}/{}:{}", outer, n->line, i);
    const std::string turn = fmt::format("{}{}", static_cast<const void*>(n), unrolled_);
    const Env known_next = loop_types_[turn].head;
    Loop& mine = loops_.back();
    mine.continues = Env{{}, false};
    mine.continue_label = fmt::format("continue_{}", ++labels_);
    mine.head = emitting_ ? &known_next : nullptr;
    Block body = captured([&] {
      assign(n->a, items[i], n);
      block(n->body);
    });
    const Env continued = loops_.back().continues;
    const Env all = join(env_, continued);
    if (continued.reachable) body += captured([&] { emit_edge(env_, all); });
    loop_types_[turn].head = all;
    --depth_;
    line("{");
    if (continued.reachable) line("{");
    out_ += body;
    if (continued.reachable) {
      line("}");
      label(loops_.back().continue_label);
    }
    line("}");
    ++depth_;
    env_ = all;
  }
  --depth_;
  unrolled_ = outer;
  const Loop done = std::move(loops_.back());
  loops_.pop_back();
  if (!n->orelse.empty()) block(n->orelse);
  if (breaks) {
    const Env all = join(env_, done.breaks);
    emit_edge(env_, all);
    if (done.breaks.reachable) label(done.break_label);
    env_ = all;
    loop_types_[key].exit = all;
    if (emitting_) line("}");
  }
}

// ---- leaving ----------------------------------------------------------------------------------------------------------------------

void FunctionCompiler::return_statement(const Node* n) {
  comment(n);
  if (syntax_.yields) {
    if (n->a) expression(n->a);
    leave_protections(0, /*returning=*/true);
    leave_with({});
    env_.reachable = false;
    return;
  }
  Value v = n->a ? expression(n->a) : Value::known(none_type());
  if (host() && v.type) {
    v = made(v, spec_.result, n);
    if (v.is_mixed_list())
      fail(n, "a list of values of several types cannot be returned", {{source_of(n->a), v.type}}, "return a tuple, or a list of one type");
    if (v.lazy) v = materialise(v, n);
    if (v.type && (v.is(Kind::string) || v.is(Kind::tuple)) && stored_type(v.type) != v.type) v = converted(v, stored_type(v.type), n);
    if (v.type && v.type->is_container() && is_incomplete(v.type)) {
      if (emitting_) display_text(v, v.type, n);
      v = Value{};
    }
  }
  if (!protections_.empty() && v.type) {
    bool any = false;
    for (const Protection& p : protections_) any |= p.finally != nullptr;
    if (any) {
      v = spill(v, "result");
      leave_protections(0, /*returning=*/true);
      if (!env_.reachable) return;
    }
  }
  env_.reachable = false;
  if (!v.type) {
    if (emitting_)
      fail(n, "the type of this recursive call's value cannot be found", {}, "return a value from a branch that does not recurse first");
    return;
  }
  if (v.is(Kind::literal)) v = converted(v, int64_type(), n);
  if (v.lazy && host()) v = materialise(v, n);
  if (in_parallel_) fail(n, "a function cannot return from inside a prange loop");
  if (v.lazy) fail(n, fmt::format("a new {} cannot be returned", v.type->spelling), {}, "write into an array that the caller passes");
  const Type before = returned_;
  if (const Type declared = declared_result()) {
    if (v.type != declared && (declared->is(Kind::none) || !converts(v.type, declared)))
      fail(n, fmt::format("the signature says that it returns {}, it returns {}", declared->spelling, v.type->spelling));
    returned_ = declared;
  } else {
    returned_ = unify(returned_, v.type);
  }
  if (!returned_)
    fail(n, "the function returns values of types that do not unify", {{"before", before}, {"here", v.type}},
         "return one type on every path (or None beside it), or a tuple of both");
  if (!emitting_) {
    if (v.is(Kind::tuple)) struct_text(v);
    return;
  }
  if (spec_.depth == 0 && unit_.options.entry == Entry::kernel) {
    if (!v.is_none()) fail(n, "a kernel must not return a value", {{source_of(n->a), v.type}}, "write the result into an array argument");
    // The last statement is the kernel's end, to which a thread may have come past a barrier.
    if (unit_.options.check && (syntax_.body.empty() || syntax_.body.back() != n)) {
      unit_.need("check");
      linef("py::leave(bc_checker);");
    }
    line("return;");
    return;
  }
  if (!spec_.result->has_value()) {
    perform(v);
    leave_with({});
  } else {
    leave_with(convert(v, spec_.result, n));
  }
}

}  // namespace bc::kernels
