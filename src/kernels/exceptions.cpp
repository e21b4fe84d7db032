// try, raise and assert. A failure of the function's own jumps to the handlers; what the library or a called function throws is a C++
// exception. Handlers stand behind the try block, so that `return`, `break` and `continue` in them are plain.
#include <algorithm>

#include "kernels/compiler.h"
#include "runtime/compiled_functions.h"

namespace bc::kernels {
namespace {

void bound_target(const Node* t, std::set<std::string>* names) {
  if (!t) return;
  if (t->kind == NodeKind::name) names->insert(t->text);
  if (t->kind == NodeKind::starred) bound_target(t->a, names);
  if (t->kind == NodeKind::tuple || t->kind == NodeKind::list)
    for (const Node* k : t->list) bound_target(k, names);
}

}  // namespace

bool reads_any(const Node* n, const std::set<std::string>& names) {
  if (!n) return false;
  const auto reads = [&](const Node* k) { return reads_any(k, names); };
  return (n->kind == NodeKind::name && names.contains(n->text)) || reads(n->a) || reads(n->b) || reads(n->c) ||
         std::any_of(n->list.begin(), n->list.end(), reads) ||
         std::any_of(n->keywords.begin(), n->keywords.end(), [&](const auto& keyword) { return reads(keyword.second); });
}

void bound_names(const Node* n, std::set<std::string>* names) {
  if (!n) return;
  if (n->kind == NodeKind::assign)
    for (const Node* t : n->list) bound_target(t, names);
  if (n->kind == NodeKind::aug_assign || n->kind == NodeKind::ann_assign || n->kind == NodeKind::for_) bound_target(n->a, names);
  if (n->kind == NodeKind::walrus) names->insert(n->text);
  for (const Node* k : {n->a, n->b, n->c}) bound_names(k, names);
  for (const Node* k : n->list) bound_names(k, names);
  for (const auto& [name, k] : n->keywords) bound_names(k, names);
  bound_names(n->body, names);
  bound_names(n->orelse, names);
}
void bound_names(const std::vector<Node*>& body, std::set<std::string>* names) {
  for (const Node* k : body) bound_names(k, names);
}

// ---- raising ----------------------------------------------------------------------------------------------------------------------

/// To the handlers of a try statement.
Code FunctionCompiler::jump(const Protection& p) { return code("goto {};", p.label).with(Facts({Mention::Kind::jump, p.number})); }

/// Where a failure of this function goes from here.
void FunctionCompiler::fail_with(int code) {
  if (throws_ == 0 && !protections_.empty()) {
    if (!emitting_) return;
    linef("{0}.take({1}, bc_failure_computed({1}));", protections_.back().caught, code);
    line(jump(protections_.back()));
    return;
  }
  if (throws()) {
    if (emitting_) linef("py::raise_failure({});", code);
    return;
  }
  fails_ = true;
  if (!emitting_) return;
  unit_.need("core");
  const std::string result = spec_.result && spec_.result->has_value() ? " " + cpp(spec_.result) + "{}" : "";
  if (spec_.depth == 0 && unit_.options.entry == Entry::kernel) {
    unit_.need("cuda");
    linef("py::report(status, {});", code);
    line("return;");
  } else {
    linef("failure = {};", code);
    linef("return{};", result);
  }
}

/// Raises an exception where the C++ expression `test` is true.
void FunctionCompiler::fail_if(const Code& test, const char* type, std::string message, const Node* n) {
  const int code = unit_.failure({type, std::move(message), syntax_.file, n ? n->line : syntax_.line, syntax_.name});
  const Block raising = captured([&] { fail_with(code); });
  raise_where(test, raising);
}

/// `if (test) { … }` around statements that raise.
void FunctionCompiler::raise_where(const Code& test, const Block& raising) {
  quiet_line(code("if ({}) {{", test));
  out_ += raising.raising();
  quiet_line("}");
}

/// The same with a message that has numbers in place of its %, of C++ expressions that are evaluated then. Kernels say the text without
/// them.
void FunctionCompiler::fail_if_of(const Code& test, const char* type, std::string message, const Code& parts, const Node* n) {
  if (!host()) return fail_if(test, type, std::move(message), n);
  Failure f{type, "", syntax_.file, n ? n->line : syntax_.line, syntax_.name};
  f.computed = true;
  const int code = unit_.failure(std::move(f));
  const Block raising = captured([&] {
    linef("py::say({}, {});", quoted_text(message), parts);
    fail_with(code);
  });
  raise_where(test, raising);
}

/// After a call that may have failed.
void FunctionCompiler::pass_failure() {
  if (throws_ == 0 && !protections_.empty())
    linef("if (failure != 0) {{ {0}.take(failure, bc_failure_computed(failure)); failure = 0; {1} }}", protections_.back().caught,
          jump(protections_.back()));
  else if (throws())
    linef("if (failure != 0) py::raise_failure(failure);");
  else if (spec_.depth == 0 && unit_.options.entry == Entry::kernel)
    linef("if (failure != 0) {{ py::report(status, failure); return; }}");
  else
    linef("if (failure != 0) return{};", spec_.result && spec_.result->has_value() ? " " + cpp(spec_.result) + "{}" : "");
}

void FunctionCompiler::raise_statement(const Node* n) {
  comment(n);
  if (!n->a) {
    if (handled_.empty() && !host()) fail(n, "raise: there is no exception to raise again", {}, "name one: raise ValueError(\"…\")");
    if (handled_.empty()) {
      Failure none{"RuntimeError", "No active exception to reraise", syntax_.file, n->line, syntax_.name};
      none.arguments.push_back(Constant{none.message});
      fail_with(unit_.failure(std::move(none)));
    } else {
      linef("{}.again();", handled_.back());
    }
    env_.reachable = false;
    return;
  }
  if (n->a->kind == NodeKind::name) {
    for (const auto& [name, caught] : caught_names_)
      if (name == n->a->text) {
        linef("{}.again();", caught);
        env_.reachable = false;
        return;
      }
  }
  Failure f{"Exception", "", syntax_.file, n->line, syntax_.name};
  const Node* made_by = n->a->kind == NodeKind::call ? n->a->a : n->a;
  const Value type = expression(made_by);
  if (!type.is(Kind::type)) fail(n, "raise: expected an exception class", {{source_of(made_by), type.type}});
  f.type = type.type->name;
  f.object = type.type->object;
  if (n->a->kind == NodeKind::call) {
    if (!n->a->keywords.empty()) fail(n, "raise: exceptions take no keyword arguments in compiled functions");
    std::vector<Value> values;
    bool constant = true;
    for (const Node* argument : n->a->list) {
      if (!host() && argument->kind == NodeKind::formatted) fail(argument, "the arguments of an exception must be constants in kernels");
      const Value v = expression(argument);
      if (!v.type) {
        env_.reachable = false;
        return;
      }
      constant &= v.is(Kind::string) || v.is_none() || v.is(Kind::literal) || (v.constant && v.is_scalar());
      values.push_back(v);
    }
    if (constant) {
      for (const Value& v : values) {
        const Constant c = v.is(Kind::string)    ? Constant{v.type->name}
                           : v.is(Kind::literal) ? Constant{v.type->value}
                           : v.is_none()         ? Constant{}
                                                 : *v.constant;
        f.arguments.push_back(c);
        std::string text;
        if (const std::string* s = c.string())
          text = *s;
        else if (const int64_t* i = c.integer())
          text = fmt::format("{}", *i);
        else if (const auto* d = std::get_if<double>(&c.value))
          text = fmt::format("{}", *d);
        f.message += (f.message.empty() ? "" : ", ") + text;
      }
    } else if (!host()) {
      for (size_t i = 0; i < values.size(); ++i)
        if (!values[i].constant && !values[i].is(Kind::string))
          fail(n->a->list[i], "the arguments of an exception must be constants in kernels", {{source_of(n->a->list[i]), values[i].type}});
    } else {
      f.computed = !values.empty();
      for (const Value& v : values) linef("py::argument({});", text_operand(v, n));
    }
  }
  fail_with(unit_.failure(std::move(f)));
  env_.reachable = false;
}

void FunctionCompiler::assert_statement(const Node* n) {
  comment(n);
  std::optional<bool> known;
  const Code test = condition(n->a, &known);
  if (known && *known) return;
  Failure f{"AssertionError", "", syntax_.file, n->line, syntax_.name};
  Value message;
  Block lines;
  if (n->b) {
    lines = captured([&] {
      message = expression(n->b);
      if (message.type && !message.is(Kind::string) && host()) {
        f.computed = true;
        linef("py::argument({});", text_operand(message, n));
      }
    });
    if (message.is(Kind::string)) {
      f.message = message.type->name;
      f.arguments.push_back(Constant{f.message});
    }
  }
  const int code = unit_.failure(std::move(f));
  if (known) {
    out_ += lines;
    fail_with(code);
    env_.reachable = false;
    return;
  }
  linef("if (!({})) {{", test);
  ++depth_;
  out_ += lines;
  fail_with(code);
  --depth_;
  line("}");
  narrow(n->a, true);
}

// ---- try --------------------------------------------------------------------------------------------------------------------------

/// Variables keep one type from a try statement's begin to its handlers: what may be raised anywhere finds them so.
void FunctionCompiler::pin(const std::set<std::string>& names, const Env& before, const Env& seen, std::map<int, Type>* pins) {
  for (const std::string& name : names) {
    const int index = syntax_.local_index(name);
    if (index < 0) continue;
    const auto &a = before.locals[static_cast<size_t>(index)], &b = seen.locals[static_cast<size_t>(index)];
    if (!b || b->conflict) continue;
    const Type t = a ? unify(a->type, b->type) : b->type;
    if (t && t->has_value()) (*pins)[index] = t;
    if (t && t->is(Kind::string) && a && a->type != t) (*pins)[index] = text_type();
  }
}

/// Where a try statement begins: variables that are there already take their types.
void FunctionCompiler::enter_try(const std::map<int, Type>& pins) {
  for (const auto& [index, t] : pins) {
    std::optional<Local>& l = env_.locals[static_cast<size_t>(index)];
    if (!l || l->conflict || l->type == t || !l->type) continue;
    Env to = env_;
    to.locals[static_cast<size_t>(index)]->type = t;
    to.locals[static_cast<size_t>(index)]->constant = nullptr;
    emit_edge(env_, to);
    env_ = to;
  }
}

void FunctionCompiler::walk_try(const Node* n, const std::map<int, Type>& pins, Protection* p) {
  protections_.push_back(*p);
  pins_.push_back(pins);
  protections_.back().seen = env_;
  block(n->body);
  *p = protections_.back();
  p->seen = join(p->seen, env_);
  pins_.pop_back();
  protections_.pop_back();
}

/// The types of what a try statement's body binds, by walks that leave nothing, until they stay as they are.
void FunctionCompiler::pin_types(const Node* n, const Protection& p, std::map<int, Type>* pins) {
  std::set<std::string> names;
  bound_names(n->body, &names);
  const Env entry = env_;
  for (int round = 0; round < 8; ++round) {
    const int temporaries = temporaries_, labels = labels_;
    env_ = entry;
    Protection trial = p;
    trial.caught = "e", trial.label = "l", trial.left = "f";
    captured([&] {
      enter_try(*pins);
      walk_try(n, *pins, &trial);
    });
    temporaries_ = temporaries;
    labels_ = labels;
    const auto old = *pins;
    pin(names, entry, trial.seen, pins);
    if (*pins == old) break;
  }
  env_ = entry;
}

void FunctionCompiler::try_statement(const Node* n) {
  if (!host()) fail(n, "'try' is not supported in kernels", {}, "test the values before");
  const bool finally = n->c != nullptr;
  const std::string key = fmt::format("try{}{}", static_cast<const void*>(n), unrolled_);
  const Env entry = env_;
  std::map<int, Type> pins = try_types_[key];
  Protection p;
  p.loops = static_cast<int>(loops_.size());
  p.finally = finally ? n->c : nullptr;
  if (!emitting_) {
    pin_types(n, p, &pins);
    try_types_[key] = pins;
  }
  comment(n);
  p.caught = temporary("caught");
  p.label = fmt::format("except_{}", ++labels_);
  p.number = static_cast<uintptr_t>(labels_);
  p.left = finally ? temporary("left") : "";
  enter_try(pins);
  linef("py::Caught {};", p.caught);
  if (finally) linef("bool {} = false;", p.left);
  line("try {");
  Block body = captured([&] { walk_try(n, pins, &p); });
  const Env after = env_;
  out_ += body;
  linef("}} catch (...) {{ {}.take(); }}", p.caught);
  if (body.facts().names({Mention::Kind::jump, p.number})) label(p.label);
  Env seen = p.seen;
  for (auto& l : seen.locals)
    if (l) l->constant = nullptr;
  for (size_t i = 0; i < seen.locals.size(); ++i)
    if (seen.locals[i] && entry.locals[i] && entry.locals[i]->constant && p.seen.locals[i] && p.seen.locals[i]->constant)
      seen.locals[i] = p.seen.locals[i];
  seen.reachable = true;
  if (finally)
    finally_part(n->c->body, p, after, seen);
  else
    except_parts(n, p, after, seen);
}

/// Prints a `finally` block: where something was raised, which then goes on, and where nothing was.
void FunctionCompiler::finally_part(const std::vector<Node*>& body, const Protection& p, const Env& after, const Env& seen) {
  const auto walk = [&](const char* where) {
    const std::string outer = std::exchange(unrolled_, unrolled_ + where);
    block(body);
    unrolled_ = outer;
  };
  linef("if ({}.code != 0) {{", p.caught);
  Block text = captured([&] {
    env_ = seen;
    linef("if (!{}) {{", p.left);
    ++depth_;
    walk("/raised");
    --depth_;
    line("}");
    linef("{}.again();", p.caught);
  });
  out_ += text;
  line("}");
  env_ = after;
  if (after.reachable) walk("/done");
}

/// A handler: which exceptions it takes, and what it does.
FunctionCompiler::Branch FunctionCompiler::handler_branch(const Node* handler, const Protection& p, const Env& seen, bool* catches_all) {
  Branch b;
  if (handler->a) {
    const Value v = expression(handler->a);
    const std::vector<Value> classes = v.is(Kind::tuple) ? v.items : std::vector<Value>{v};
    for (const Value& c : classes) {
      if (!c.is(Kind::type)) fail(handler, "except: expected an exception class", {{source_of(handler->a), v.type}});
      *catches_all |= c.type->name == "BaseException";
      b.test += (b.test.empty() ? "" : " || ") + code("{}({}.code)", unit_.matcher(c.type), p.caught);
    }
    if (classes.empty()) b.test = "false";
  } else {
    *catches_all = true;
    b.test = "true";
  }
  env_ = seen;
  b.text = captured([&] {
    handled_.push_back(p.caught);
    const auto named = [&]() -> std::optional<Local>& { return env_.locals[static_cast<size_t>(syntax_.local_index(handler->text))]; };
    if (!handler->text.empty()) {
      caught_names_.emplace_back(handler->text, p.caught);
      Local l;
      l.type = caught_type(p.caught);
      named() = l;
    }
    block(handler->body);
    if (!handler->text.empty()) {
      caught_names_.pop_back();
      named() = std::nullopt;
    }
    handled_.pop_back();
  });
  b.end = env_;
  return b;
}

/// The else branch, then the handlers one after the other.
void FunctionCompiler::except_parts(const Node* n, const Protection& p, const Env& after, const Env& seen) {
  std::vector<Branch> branches = {{code("{}.code == 0", p.caught), {}, after}};
  if (!n->orelse.empty() && after.reachable) {
    env_ = after;
    branches[0].text = captured([&] { block(n->orelse); });
    branches[0].end = env_;
  }
  bool catches_all = false;
  for (const Node* handler : n->list) {
    branches.push_back(handler_branch(handler, p, seen, &catches_all));
    if (catches_all) break;
  }
  Env all = branches[0].end;
  for (size_t i = 1; i < branches.size(); ++i) all = join(all, branches[i].end);
  for (size_t i = 0; i < branches.size(); ++i) {
    linef("{}if ({}) {{", i ? "} else " : "", branches[i].test);
    out_ += branches[i].text;
    out_ += captured([&] { emit_edge(branches[i].end, all); });
  }
  if (!catches_all) {
    line("} else {");
    linef("  {}.again();", p.caught);
  }
  line("}");
  env_ = all;
}

/// The type of the name in `except … as name`: which exception it is.
Type FunctionCompiler::caught_type(const std::string& caught) { return builtin_type("exception." + caught); }

/// Before the control leaves try statements inside the innermost `loops` loops, or all of them: what they do last.
void FunctionCompiler::leave_protections(int loops, bool returning) {
  std::vector<Protection> kept = protections_;
  std::vector<std::map<int, Type>> pins = pins_;
  while (!protections_.empty()) {
    Protection p = protections_.back();
    if (!returning && p.loops < loops) break;
    protections_.pop_back();
    if (!pins_.empty()) pins_.pop_back();
    if (!p.finally) continue;
    linef("{} = true;", p.left);
    const std::string outer = std::exchange(unrolled_, fmt::format("{}/left{}", unrolled_, labels_));
    const Env before = env_;
    block(p.finally->body);
    unrolled_ = outer;
    if (!env_.reachable) break;  // it returned or raised itself
    (void)before;
  }
  const Env now = env_;
  protections_ = std::move(kept);
  pins_ = std::move(pins);
  env_ = now;
}

/// The function that tells whether a code is of an exception class.
std::string Unit::matcher(Type cls) {
  std::string& name = matchers_[cls];
  if (name.empty()) name = unique(Named::function, "is_" + cls->name);
  return name;
}

std::string Unit::matcher_declarations() const {
  std::string text;
  for (const auto& [cls, name] : matchers_) text += fmt::format("static bool {}(i32 code);\n", name);
  if (options.entry == Entry::host)
    text += "static py::Str bc_failure_text(i32 code);\nstatic inline bool bc_failure_computed(i32 code);\n";
  return text;
}

/// Printed when all failures are known.
std::string Unit::matcher_texts() const {
  std::string text;
  for (const auto& [cls, name] : matchers_) {
    std::string cases;
    for (int kind = 1; kind <= static_cast<int>(host::Raised::interrupted); ++kind)
      if (entry_.is_exception(nullptr, host::exception_name(static_cast<host::Raised>(kind)), cls))
        cases += fmt::format(" case {}:", -kind);
    for (size_t i = 0; i < failures_.size(); ++i) {
      const Failure& f = failures_[i];
      if (entry_.is_exception(f.object ? class_type(f.object, f.type) : nullptr, f.type, cls)) cases += fmt::format(" case {}:", i + 1);
    }
    text += fmt::format("\nstatic bool {}(i32 code) {{\n  switch (code) {{\n   {} return {};\n    default: return false;\n  }}\n}}\n", name,
                        cases.empty() ? " case 0:" : cases, cases.empty() ? "false" : "true");
  }
  if (options.entry == Entry::host) {
    // What str() says of the failures.
    text += "\nstatic py::Str bc_failure_text(i32 code) {\n  switch (code) {\n";
    for (size_t i = 0; i < failures_.size(); ++i)
      if (!failures_[i].message.empty()) text += fmt::format("    case {}: return {};\n", i + 1, literal_text(failures_[i].message));
    text += "    default: return py::Str();\n  }\n}\n";
    // Whether arguments wait in the engine.
    std::string computed;
    for (size_t i = 0; i < failures_.size(); ++i)
      if (failures_[i].computed) computed += fmt::format("{}code == {}", computed.empty() ? "" : " || ", i + 1);
    text += fmt::format("\nstatic inline bool bc_failure_computed(i32 code) {{ return {}; }}\n", computed.empty() ? "false" : computed);
  }
  return text;
}

}  // namespace bc::kernels
