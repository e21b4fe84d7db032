// Python's syntax trees, read into the compiler's own.
#include "bind/kernels_syntax.h"

#include <algorithm>
#include <unordered_map>

#include "bind/convert.h"

namespace bc::bind {
namespace {

using namespace kernels;
using kernels::Node;

// clang-format off
enum class Class {
  unknown, FunctionDef, Return, Assign, AugAssign, AnnAssign, For, While, If, Expr, Pass, Break, Continue, Raise, Assert, Global, Nonlocal,
  Constant, Name, Attribute, Subscript, Call, BinOp, UnaryOp, BoolOp, Compare, IfExp, Tuple, List, Slice, Starred, Lambda, NamedExpr,
  JoinedStr, Index, ListComp, GeneratorExp, SetComp, DictComp, FormattedValue, Set, Dict, Try, Delete, Yield, With,
  Match, YieldFrom,
};
constexpr std::pair<const char*, Class> kClasses[] = {
    {"FunctionDef", Class::FunctionDef}, {"Return", Class::Return}, {"Assign", Class::Assign}, {"AugAssign", Class::AugAssign},
    {"AnnAssign", Class::AnnAssign}, {"For", Class::For}, {"While", Class::While}, {"If", Class::If}, {"Expr", Class::Expr},
    {"Pass", Class::Pass}, {"Break", Class::Break}, {"Continue", Class::Continue}, {"Raise", Class::Raise}, {"Assert", Class::Assert}, {"Global", Class::Global},
    {"Nonlocal", Class::Nonlocal}, {"Constant", Class::Constant}, {"Name", Class::Name}, {"Attribute", Class::Attribute},
    {"Subscript", Class::Subscript}, {"Call", Class::Call}, {"BinOp", Class::BinOp}, {"UnaryOp", Class::UnaryOp}, {"BoolOp", Class::BoolOp},
    {"Compare", Class::Compare}, {"IfExp", Class::IfExp}, {"Tuple", Class::Tuple}, {"List", Class::List}, {"Slice", Class::Slice},
    {"Starred", Class::Starred}, {"Lambda", Class::Lambda}, {"NamedExpr", Class::NamedExpr}, {"JoinedStr", Class::JoinedStr},
    {"Index", Class::Index}, {"ListComp", Class::ListComp}, {"GeneratorExp", Class::GeneratorExp}, {"SetComp", Class::SetComp}, {"DictComp", Class::DictComp},
    {"FormattedValue", Class::FormattedValue}, {"Set", Class::Set}, {"Dict", Class::Dict}, {"Try", Class::Try}, {"Delete", Class::Delete},
    {"Yield", Class::Yield}, {"With", Class::With}, {"Match", Class::Match}, {"YieldFrom", Class::YieldFrom},
};
constexpr std::pair<const char*, Operator> kOperators[] = {
    {"Add", Operator::add}, {"Sub", Operator::sub}, {"Mult", Operator::mul}, {"Div", Operator::div}, {"FloorDiv", Operator::floor_div},
    {"Mod", Operator::mod}, {"Pow", Operator::pow}, {"MatMult", Operator::matmul}, {"LShift", Operator::left_shift},
    {"RShift", Operator::right_shift}, {"BitOr", Operator::bit_or}, {"BitXor", Operator::bit_xor}, {"BitAnd", Operator::bit_and}, {"Invert", Operator::invert},
    {"Not", Operator::logical_not}, {"UAdd", Operator::plus}, {"USub", Operator::minus}, {"Eq", Operator::eq}, {"NotEq", Operator::ne},
    {"Lt", Operator::lt}, {"LtE", Operator::le}, {"Gt", Operator::gt}, {"GtE", Operator::ge}, {"Is", Operator::is}, {"IsNot", Operator::is_not},
    {"In", Operator::in}, {"NotIn", Operator::not_in}, {"And", Operator::logical_and}, {"Or", Operator::logical_or},
};
/// The nodes that become one of ours part by part: which of their fields are its expressions a, b and c, its list, its operator and its text,
/// and whether it has a body and an else. Fields are read in this order, in which names are bound.
struct Plain {
  Class cls;
  NodeKind kind;
  const char *a = nullptr, *b = nullptr, *c = nullptr, *list = nullptr, *op = nullptr, *text = nullptr;
  bool blocks = false;
};
constexpr Plain kPlain[] = {
    {.cls = Class::Expr, .kind = NodeKind::expression, .a = "value"},
    {.cls = Class::Assign, .kind = NodeKind::assign, .a = "value", .list = "targets"},
    {.cls = Class::AugAssign, .kind = NodeKind::aug_assign, .a = "target", .b = "value", .op = "op"},
    {.cls = Class::AnnAssign, .kind = NodeKind::ann_assign, .a = "target", .b = "value"},
    {.cls = Class::For, .kind = NodeKind::for_, .a = "target", .b = "iter", .blocks = true},
    {.cls = Class::While, .kind = NodeKind::while_, .a = "test", .blocks = true},
    {.cls = Class::If, .kind = NodeKind::if_, .a = "test", .blocks = true},
    {.cls = Class::Return, .kind = NodeKind::return_, .a = "value"},
    {.cls = Class::Raise, .kind = NodeKind::raise_, .a = "exc"},
    {.cls = Class::Assert, .kind = NodeKind::assert_, .a = "test", .b = "msg"},
    {.cls = Class::Delete, .kind = NodeKind::delete_, .list = "targets"},
    {.cls = Class::Pass, .kind = NodeKind::pass},
    {.cls = Class::Break, .kind = NodeKind::break_},
    {.cls = Class::Continue, .kind = NodeKind::continue_},
    {.cls = Class::Attribute, .kind = NodeKind::attribute, .a = "value", .text = "attr"},
    {.cls = Class::Subscript, .kind = NodeKind::subscript, .a = "value", .b = "slice"},
    {.cls = Class::BinOp, .kind = NodeKind::binary, .a = "left", .b = "right", .op = "op"},
    {.cls = Class::UnaryOp, .kind = NodeKind::unary, .a = "operand", .op = "op"},
    {.cls = Class::BoolOp, .kind = NodeKind::boolean, .list = "values", .op = "op"},
    {.cls = Class::IfExp, .kind = NodeKind::if_else, .a = "test", .b = "body", .c = "orelse"},
    {.cls = Class::Tuple, .kind = NodeKind::tuple, .list = "elts"},
    {.cls = Class::List, .kind = NodeKind::list, .list = "elts"},
    {.cls = Class::Set, .kind = NodeKind::set, .list = "elts"},
    {.cls = Class::Slice, .kind = NodeKind::slice, .a = "lower", .b = "upper", .c = "step"},
    {.cls = Class::Starred, .kind = NodeKind::starred, .a = "value"},
    {.cls = Class::JoinedStr, .kind = NodeKind::formatted, .list = "values"},
};
// clang-format on

/// What the name of an object's class stands for, remembered by class.
template <class T, size_t N>
T lookup(PyObject* o, const std::pair<const char*, T> (&table)[N], T otherwise) {
  static auto& known = *new std::unordered_map<PyTypeObject*, T>;
  const auto it = known.find(Py_TYPE(o));
  if (it != known.end()) return it->second;
  T found = otherwise;
  const std::string_view name = type_name(o);
  for (const auto& [text, value] : table)
    if (name == text) found = value;
  Py_INCREF(reinterpret_cast<PyObject*>(Py_TYPE(o)));
  known.emplace(Py_TYPE(o), found);
  return found;
}

class Reader {
 public:
  Reader(FunctionSyntax* root, int offset) : root_(root), offset_(offset) {}

  void function(PyObject* node, FunctionSyntax* f) {
    FunctionSyntax* const outer = std::exchange(current_, f);
    const bool lambda = class_of(node) == Class::Lambda;
    parameters(get(node, BC_INTERNED("args")).get(), f);
    PyRef body = get(node, BC_INTERNED("body"));
    if (lambda) {
      Node* n = make(body.get(), NodeKind::return_);
      n->a = expression(body.get());
      f->body.push_back(n);
    } else {
      f->body = statements(body.get());
    }
    current_ = outer;
  }

 private:
  /// A field's name of kPlain as Python's string.
  static PyObject* interned(const char* name) {
    static auto& known = *new std::unordered_map<const char*, PyObject*>;
    PyObject*& text = known[name];
    if (!text) text = PyUnicode_InternFromString(name);
    return text;
  }
  static PyRef get(PyObject* o, PyObject* name) { return PyRef::steal(PyObject_GetAttr(o, name)); }
  static Class class_of(PyObject* o) { return lookup(o, kClasses, Class::unknown); }
  static Operator operator_of(PyObject* o) { return lookup(o, kOperators, Operator::add); }
  static std::string text(PyObject* o, PyObject* name) {
    PyRef v = get(o, name);
    return v.get() == Py_None ? std::string() : std::string(as_string(v.get()));
  }
  static int number(PyObject* o, PyObject* name) {
    PyRef v = get(o, name);
    return v.get() == Py_None ? 0 : static_cast<int>(PyLong_AsLong(v.get()));
  }

  Node* make(PyObject* o, NodeKind kind) {
    Node& n = root_->nodes.emplace_back();
    n.kind = kind;
    n.line = number(o, BC_INTERNED("lineno")) + offset_;
    n.column = number(o, BC_INTERNED("col_offset"));
    n.end_line = number(o, BC_INTERNED("end_lineno")) + offset_;
    n.end_column = number(o, BC_INTERNED("end_col_offset"));
    return &n;
  }

  void bind(const std::string& name) {
    std::vector<std::string>& locals = current_->locals;
    if (std::find(locals.begin(), locals.end(), name) == locals.end()) locals.push_back(name);
  }

  /// Gives the names of a comprehension's target others.
  void rename(PyObject* target) {
    if (std::string_view(type_name(target)) == "Name") {
      std::string name = text(target, BC_INTERNED("id"));
      std::string other = name + ".each" + std::to_string(++renamed_);
      renames_.emplace_back(std::move(name), std::move(other));
      return;
    }
    if (std::string_view(type_name(target)) != "Tuple") return;
    PyRef items = get(target, BC_INTERNED("elts"));
    for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) rename(PyList_GetItem(items.get(), i));
  }

  void parameters(PyObject* args, FunctionSyntax* f) {
    const auto add = [&](PyObject* name, bool keyword_only) {
      PyRef list = get(args, name);
      for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
        Parameter p;
        p.name = text(PyList_GetItem(list.get(), i), BC_INTERNED("arg"));
        p.keyword_only = keyword_only;
        bind(p.name);
        f->parameters.push_back(std::move(p));
      }
    };
    add(BC_INTERNED("posonlyargs"), false);
    add(BC_INTERNED("args"), false);
    const size_t positional = f->parameters.size();
    // Defaults belong to the last positional parameters. Those of inner functions are expressions of the function around.
    PyRef defaults = get(args, BC_INTERNED("defaults"));
    const auto count = static_cast<size_t>(PyList_Size(defaults.get()));
    for (size_t i = 0; i < count; ++i) {
      Parameter& p = f->parameters[positional - count + i];
      p.has_default = true;
      if (f->outer) p.default_value = expression(PyList_GetItem(defaults.get(), static_cast<Py_ssize_t>(i)));
    }
    PyRef rest = get(args, BC_INTERNED("vararg"));
    std::string rest_name;
    if (rest.get() != Py_None) rest_name = text(rest.get(), BC_INTERNED("arg"));
    // *args is the local after all parameters.
    add(BC_INTERNED("kwonlyargs"), true);
    PyRef keyword_defaults = get(args, BC_INTERNED("kw_defaults"));
    for (Py_ssize_t i = 0; i < PyList_Size(keyword_defaults.get()); ++i) {
      PyObject* value = PyList_GetItem(keyword_defaults.get(), i);
      Parameter& p = f->parameters[positional + static_cast<size_t>(i)];
      p.has_default = value != Py_None;
      if (f->outer && value != Py_None) p.default_value = expression(value);
    }
    if (!rest_name.empty()) {
      bind(rest_name);
      f->rest = rest_name;
    }
    PyRef keywords = get(args, BC_INTERNED("kwarg"));
    if (keywords.get() != Py_None) {
      f->keyword_rest = make(keywords.get(), NodeKind::unsupported);
      f->keyword_rest->text = text(keywords.get(), BC_INTERNED("arg"));
    }
  }

  std::vector<Node*> statements(PyObject* list) {
    std::vector<Node*> nodes;
    const Py_ssize_t n = PyList_Size(list);
    nodes.reserve(static_cast<size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i)
      if (Node* s = statement(PyList_GetItem(list, i))) nodes.push_back(s);
    return nodes;
  }
  std::vector<Node*> expressions(PyObject* list) {
    std::vector<Node*> nodes;
    const Py_ssize_t n = PyList_Size(list);
    nodes.reserve(static_cast<size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i) nodes.push_back(expression(PyList_GetItem(list, i)));
    return nodes;
  }
  Node* optional(PyObject* o, PyObject* name) {
    PyRef v = get(o, name);
    return v.get() == Py_None ? nullptr : expression(v.get());
  }
  Node* child(PyObject* o, PyObject* name) { return expression(get(o, name).get()); }
  std::vector<Node*> children(PyObject* o, PyObject* name) { return expressions(get(o, name).get()); }

  FunctionSyntax* new_inner(const Node* n, std::string name) {
    FunctionSyntax& f = root_->inner_functions.emplace_back();
    f.name = std::move(name);
    f.file = root_->file;
    f.line = n->line;
    f.outer = current_;
    return &f;
  }
  FunctionSyntax* inner_function(PyObject* o, const Node* n, std::string name) {
    FunctionSyntax* const f = new_inner(n, std::move(name));
    function(o, f);
    return f;
  }

  /// The node of a class in kPlain; nullptr for others.
  Node* plain(PyObject* o, Class c) {
    for (const Plain& p : kPlain) {
      if (p.cls != c) continue;
      Node* n = make(o, p.kind);
      if (p.a) n->a = optional(o, interned(p.a));
      if (p.b) n->b = optional(o, interned(p.b));
      if (p.c) n->c = optional(o, interned(p.c));
      if (p.list) n->list = children(o, interned(p.list));
      if (p.op) n->op = operator_of(get(o, interned(p.op)).get());
      if (p.text) n->text = text(o, interned(p.text));
      if (p.blocks) {
        n->body = statements(get(o, BC_INTERNED("body")).get());
        n->orelse = statements(get(o, BC_INTERNED("orelse")).get());
      }
      return n;
    }
    return nullptr;
  }

  /// `yield from iterable`, a statement: a loop that yields what it walks over.
  Node* yield_each(PyObject* o) {
    Node* const n = make(o, NodeKind::for_);
    n->b = passing(child(o, BC_INTERNED("value")));
    const std::string each = fmt::format("each.{}", current_->locals.size());
    bind(each);
    n->a = named(o, each);
    n->body.push_back(yielded(o, named(o, each)));
    current_->yields = true;
    return n;
  }

  Node* statement(PyObject* o) {
    const Class c = class_of(o);
    if (c == Class::Expr)
      if (PyRef value = get(o, BC_INTERNED("value")); class_of(value.get()) == Class::YieldFrom) return yield_each(value.get());
    if (Node* n = plain(o, c)) {
      if (c == Class::For) n->b = passing(n->b);
      return n;
    }
    switch (c) {
      case Class::Try: {
        Node* n = make(o, NodeKind::try_);
        n->body = statements(get(o, BC_INTERNED("body")).get());
        PyRef handlers = get(o, BC_INTERNED("handlers"));
        for (Py_ssize_t i = 0; i < PyList_Size(handlers.get()); ++i) n->list.push_back(handler(PyList_GetItem(handlers.get(), i)));
        n->orelse = statements(get(o, BC_INTERNED("orelse")).get());
        Node* finally = make(o, NodeKind::block);
        finally->body = statements(get(o, BC_INTERNED("finalbody")).get());
        if (finally->body.empty()) return n;
        // What is done last is around what handles.
        Node* around = n->list.empty() ? n : make(o, NodeKind::try_);
        if (around != n) around->body.push_back(n);
        around->c = finally;
        return around;
      }
      case Class::With: {
        Node* n = make(o, NodeKind::with_);
        PyRef items = get(o, BC_INTERNED("items"));
        for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
          PyObject* item = PyList_GetItem(items.get(), i);
          n->list.push_back(child(item, BC_INTERNED("context_expr")));
          n->b = optional(item, BC_INTERNED("optional_vars"));
          for (const auto& [name, value] : n->list.back()->keywords) bind(name);  // results
        }
        // What the interpreter runs is read, too: that tells which names it uses.
        n->body = statements(get(o, BC_INTERNED("body")).get());
        n->python = new_ref(o);
        return n;
      }
      case Class::Match: return match(o);
      case Class::FunctionDef: {
        Node* n = make(o, NodeKind::function);
        n->text = text(o, BC_INTERNED("name"));
        bind(n->text);
        n->inner = inner_function(o, n, n->text);
        return n;
      }
      case Class::Global:
      case Class::Nonlocal: {
        // Harmless as long as nothing is bound: the compiler looks.
        PyRef names = get(o, BC_INTERNED("names"));
        for (Py_ssize_t i = 0; i < PyList_Size(names.get()); ++i) {
          Node* n = make(o, NodeKind::pass);
          n->text = as_string(PyList_GetItem(names.get(), i));
          current_->outer_names.push_back(n);
        }
        return make(o, NodeKind::pass);
      }
      default: {
        Node* n = make(o, NodeKind::unsupported);
        n->text = type_name(o);
        std::transform(n->text.begin(), n->text.end(), n->text.begin(), [](unsigned char ch) { return std::tolower(ch); });
        return n;
      }
    }
  }

  Node* handler(PyObject* o) {
    Node* n = make(o, NodeKind::handler);
    n->a = optional(o, BC_INTERNED("type"));
    n->text = text(o, BC_INTERNED("name"));
    if (!n->text.empty()) bind(n->text);
    n->body = statements(get(o, BC_INTERNED("body")).get());
    return n;
  }

  /// The `for`s of a comprehension from the i-th on. Its variables are its own: they get names that the function has not.
  Node* comprehension(PyObject* o, PyObject* generators, Py_ssize_t i, const char* what) {
    PyObject* generator = PyList_GetItem(generators, i);
    Node* n = make(o, NodeKind::comprehension);
    n->text = i == 0 ? what : "inner";
    n->b = passing(child(generator, BC_INTERNED("iter")));
    const size_t before = renames_.size();
    rename(get(generator, BC_INTERNED("target")).get());
    n->c = child(generator, BC_INTERNED("target"));
    n->list = children(generator, BC_INTERNED("ifs"));
    if (i + 1 < PyList_Size(generators)) {
      n->a = comprehension(o, generators, i + 1, what);
    } else if (std::string_view(what) == "dict") {
      n->a = child(o, BC_INTERNED("key"));
      n->keywords.emplace_back("value", child(o, BC_INTERNED("value")));
    } else {
      n->a = child(o, BC_INTERNED("elt"));
    }
    renames_.resize(before);
    return n;
  }

  /// Makes the function of a generator expression, which has been read as a list, or of an iterator.
  Node* with_generator(PyObject* o, Node* n, std::string name) {
    n->inner = new_inner(n, std::move(name));
    FunctionSyntax* const outer = std::exchange(current_, n->inner);
    n->inner->yields = true;
    Node* const over = given(n->b, &n->orelse);
    if (n->text == "generator") {
      n->inner->body.push_back(generator_loop(o, get(o, BC_INTERNED("generators")).get(), 0, over));
    } else {
      bind("each");
      Node* const loop = n->inner->body.emplace_back(make(o, NodeKind::for_));
      loop->a = named(o, "each");
      loop->b = over;
      loop->body.push_back(yielded(o, named(o, "each")));
    }
    current_ = outer;
    return n;
  }
  Node* yielded(PyObject* at, Node* value) {
    Node* const n = make(at, NodeKind::expression);
    n->a = make(at, NodeKind::yield);
    n->a->a = value;
    return n;
  }
  /// Where an iterator is walked over or is an argument, and lives no longer.
  static Node* passing(Node* n) { return n->kind == NodeKind::comprehension && n->text == "iterator" ? n->b : n; }

  /// What a generator's function sees of what it walks over: a parameter for each part that is evaluated before the call. Iterators are
  /// made inside, because they are no arguments.
  Node* given(Node* n, std::vector<Node*>* arguments) {
    if (n->kind == NodeKind::constant) return n;
    const bool call = n->kind == NodeKind::call && (n->a->kind == NodeKind::name || n->a->kind == NodeKind::attribute);
    Node* const inside = &root_->nodes.emplace_back(*n);
    if (call && n->a->kind == NodeKind::attribute && n->list.empty() && is_one_of(n->a->text, {"items", "keys", "values"})) {
      inside->a = &root_->nodes.emplace_back(*n->a);
      inside->a->a = given(n->a->a, arguments);
    } else if (call && (is_iterator(n) || is_one_of(n->a->text, {"range", "ndenumerate", "ndindex"}))) {
      for (Node*& item : inside->list) item = given(item, arguments);
      if (n->a->text == "reversed" && !inside->list.empty() && inside->list[0]->kind == NodeKind::name)
        inside->b = parameter(n, &root_->nodes.emplace_back(Node{.kind = NodeKind::length, .line = n->line}), arguments);
      for (auto& [name, item] : inside->keywords) item = given(item, arguments);
    } else {
      return parameter(n, n, arguments);
    }
    return inside;
  }
  /// The name of a new parameter of the current function, for what stands at `n`.
  Node* parameter(const Node* n, Node* argument, std::vector<Node*>* arguments) {
    Node* const name = &root_->nodes.emplace_back(
        Node{.kind = NodeKind::name, .line = n->line, .column = n->column, .end_line = n->end_line, .end_column = n->end_column});
    name->text = "given." + std::to_string(arguments->size());
    bind(name->text);
    current_->parameters.push_back({name->text});
    arguments->push_back(argument);
    return name;
  }
  static bool is_one_of(std::string_view name, std::initializer_list<std::string_view> all) {
    return std::find(all.begin(), all.end(), name) != all.end();
  }
  static bool is_iterator(const Node* call) {
    return call->a->kind == NodeKind::name && is_one_of(call->a->text, {"zip", "enumerate", "map", "filter", "reversed"});
  }

  Node* generator_loop(PyObject* o, PyObject* generators, Py_ssize_t i, Node* over) {
    PyObject* generator = PyList_GetItem(generators, i);
    Node* n = make(o, NodeKind::for_);
    n->b = over ? over : passing(child(generator, BC_INTERNED("iter")));
    const size_t before = renames_.size();
    rename(get(generator, BC_INTERNED("target")).get());
    n->a = child(generator, BC_INTERNED("target"));
    std::vector<Node*>* into = &n->body;
    for (Node* test : children(generator, BC_INTERNED("ifs"))) {
      into->push_back(make(o, NodeKind::if_));
      into->back()->a = test;
      into = &into->back()->body;
    }
    if (i + 1 < PyList_Size(generators)) {
      into->push_back(generator_loop(o, generators, i + 1, nullptr));
    } else {
      into->push_back(yielded(o, child(o, BC_INTERNED("elt"))));
    }
    renames_.resize(before);
    return n;
  }

  Node* call_of(PyObject* o) {
    Node* n = make(o, NodeKind::call);
    n->a = child(o, BC_INTERNED("func"));
    for (Node* argument : children(o, BC_INTERNED("args"))) n->list.push_back(passing(argument));
    PyRef keywords = get(o, BC_INTERNED("keywords"));
    for (Py_ssize_t i = 0; i < PyList_Size(keywords.get()); ++i) {
      PyObject* k = PyList_GetItem(keywords.get(), i);
      n->keywords.emplace_back(text(k, BC_INTERNED("arg")), child(k, BC_INTERNED("value")));
    }
    if (!is_iterator(n)) return n;
    Node* iterator = make(o, NodeKind::comprehension);
    iterator->text = "iterator";
    iterator->b = n;
    return with_generator(o, iterator, "<" + n->a->text + ">");
  }

  /// {key: value, **d, …} is {key: value} | d | {…}.
  Node* dict_of(PyObject* o) {
    Node* whole = nullptr;
    Node* part = nullptr;
    const auto join = [&](Node* next) {
      Node* const before = std::exchange(whole, next);
      if (!before) return;
      whole = make(o, NodeKind::binary);
      whole->op = Operator::bit_or;
      whole->a = before;
      whole->b = next;
    };
    PyRef keys = get(o, BC_INTERNED("keys")), values = get(o, BC_INTERNED("values"));
    for (Py_ssize_t i = 0; i < PyList_Size(keys.get()); ++i) {
      PyObject* const key = PyList_GetItem(keys.get(), i);
      const bool mapping = key == Py_None;
      if (mapping ? !whole : !part) join(part = make(o, NodeKind::dict));
      if (!mapping) part->list.push_back(expression(key));
      Node* const value = expression(PyList_GetItem(values.get(), i));
      if (!mapping) {
        part->list.push_back(value);
        continue;
      }
      join(value);
      part = nullptr;
    }
    return whole ? whole : make(o, NodeKind::dict);
  }

  Node* walrus_of(PyObject* o) {
    Node* n = make(o, NodeKind::walrus);
    if (current_->name == "<genexpr>") {
      n->kind = NodeKind::unsupported;
      n->text = ":= in a generator expression";
      return n;
    }
    n->a = child(o, BC_INTERNED("value"));
    n->text = text(get(o, BC_INTERNED("target")).get(), BC_INTERNED("id"));
    bind(n->text);
    return n;
  }

  Node* expression(PyObject* o) {
    const Class c = class_of(o);
    if (c == Class::BinOp)
      if (PyRef value = whole_value(o)) return constant(o, value.get());
    if (Node* n = plain(o, c)) return n;
    switch (c) {
      case Class::Constant: return constant(o);
      case Class::Name: {
        Node* n = make(o, NodeKind::name);
        n->text = text(o, BC_INTERNED("id"));
        for (auto r = renames_.rbegin(); r != renames_.rend(); ++r)
          if (r->first == n->text) {
            n->text = r->second;
            break;
          }
        PyRef context = get(o, BC_INTERNED("ctx"));
        if (std::string_view(type_name(context.get())) == "Store") bind(n->text);
        return n;
      }
      case Class::Call: return call_of(o);
      case Class::Compare: {
        Node* n = make(o, NodeKind::compare);
        n->a = child(o, BC_INTERNED("left"));
        PyRef ops = get(o, BC_INTERNED("ops"));
        for (Py_ssize_t i = 0; i < PyList_Size(ops.get()); ++i) n->ops.push_back(operator_of(PyList_GetItem(ops.get(), i)));
        n->list = children(o, BC_INTERNED("comparators"));
        return n;
      }
      case Class::ListComp:
      case Class::GeneratorExp:
      case Class::SetComp:
      case Class::DictComp: {
        const char* what = c == Class::ListComp ? "list" : c == Class::SetComp ? "set" : c == Class::DictComp ? "dict" : "generator";
        Node* n = comprehension(o, get(o, BC_INTERNED("generators")).get(), 0, what);
        return c == Class::GeneratorExp ? with_generator(o, n, "<genexpr>") : n;
      }
      case Class::Dict: return dict_of(o);
      case Class::Yield: {
        Node* n = make(o, NodeKind::yield);
        n->a = optional(o, BC_INTERNED("value"));
        current_->yields = true;
        return n;
      }
      case Class::Lambda: {
        Node* n = make(o, NodeKind::lambda);
        n->inner = inner_function(o, n, "<lambda>");
        return n;
      }
      case Class::NamedExpr: return walrus_of(o);
      case Class::FormattedValue: {
        Node* n = make(o, NodeKind::format_value);
        n->a = child(o, BC_INTERNED("value"));
        const int conversion = number(o, BC_INTERNED("conversion"));
        if (conversion > 0) n->text = std::string(1, static_cast<char>(conversion));
        n->b = optional(o, BC_INTERNED("format_spec"));
        return n;
      }
      default: {
        Node* n = make(o, NodeKind::unsupported);
        n->text = std::string("a ") + type_name(o);
        return n;
      }
    }
  }

  // ---- match: as a chain of ifs ----

  /// What a `match` looks at: a name that holds it, or the names of the items of a tuple that is written out there.
  struct Subject {
    std::string name;
    bool display = false;
    std::vector<std::string> items;
  };
  enum class Fit { never, maybe, unsupported };

  Node* named(PyObject* at, std::string name) {
    Node* n = make(at, NodeKind::name);
    n->text = std::move(name);
    return n;
  }
  Node* assigned(PyObject* at, const std::string& name, Node* value) {
    bind(name);
    Node* n = make(at, NodeKind::assign);
    n->a = value;
    n->list = {named(at, name)};
    return n;
  }
  Node* joined_by(PyObject* at, Operator op, std::vector<Node*> tests) {
    if (tests.size() == 1) return tests[0];
    Node* n = make(at, NodeKind::boolean);
    n->op = op;
    n->list = std::move(tests);
    return n;
  }

  Node* when(PyObject* at, std::vector<Node*> tests, std::vector<Node*> body) {
    Node* n = make(at, NodeKind::if_);
    n->a = joined_by(at, Operator::logical_and, std::move(tests));
    n->body = std::move(body);
    return n;
  }
  Node* truth(PyObject* at, bool value) {
    Node* n = make(at, NodeKind::constant);
    n->literal.value = value;
    return n;
  }

  /// What must hold for a pattern to fit, and which names it then gives to what. `failed` is told what a pattern is that cannot be read.
  Fit pattern(PyObject* o, const Subject& s, std::vector<Node*>* tests, std::vector<std::pair<std::string, std::string>>* captures,
              Node** failed) {
    const std::string_view kind = type_name(o);
    const auto unsupported = [&](const char* what) {
      *failed = make(o, NodeKind::unsupported);
      (*failed)->text = what;
      return Fit::unsupported;
    };
    if (kind == "MatchAs") {
      PyRef inner = get(o, BC_INTERNED("pattern"));
      if (inner.get() != Py_None)
        if (const Fit f = pattern(inner.get(), s, tests, captures, failed); f != Fit::maybe) return f;
      if (std::string name = text(o, BC_INTERNED("name")); !name.empty()) {
        if (s.display) return unsupported("a name for a tuple that is written out in match");
        captures->emplace_back(std::move(name), s.name);
      }
      return Fit::maybe;
    }
    if (kind == "MatchOr") {
      PyRef list = get(o, BC_INTERNED("patterns"));
      std::vector<Node*> ways;
      for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
        std::vector<Node*> way;
        const size_t before = captures->size();
        const Fit f = pattern(PyList_GetItem(list.get(), i), s, &way, captures, failed);
        if (f == Fit::unsupported) return f;
        if (captures->size() != before) return unsupported("a name in one of several patterns");
        if (f == Fit::never) continue;
        if (way.empty()) return Fit::maybe;  // it always fits
        ways.push_back(joined_by(o, Operator::logical_and, std::move(way)));
      }
      if (ways.empty()) return Fit::never;
      tests->push_back(joined_by(o, Operator::logical_or, std::move(ways)));
      return Fit::maybe;
    }
    if (kind == "MatchSequence") {
      if (!s.display) return unsupported("a pattern of several items for a value that is not a tuple written out in match");
      PyRef list = get(o, BC_INTERNED("patterns"));
      for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i)
        if (std::string_view(type_name(PyList_GetItem(list.get(), i))) == "MatchStar") return unsupported("a pattern with *");
      if (PyList_Size(list.get()) != static_cast<Py_ssize_t>(s.items.size())) return Fit::never;
      for (size_t i = 0; i < s.items.size(); ++i)
        if (const Fit f = pattern(PyList_GetItem(list.get(), static_cast<Py_ssize_t>(i)), {s.items[i], false, {}}, tests, captures, failed);
            f != Fit::maybe)
          return f;
      return Fit::maybe;
    }
    if (kind != "MatchValue" && kind != "MatchSingleton")
      return unsupported(kind == "MatchClass" ? "a pattern of a class" : "such a pattern");
    if (s.display) return Fit::never;  // a tuple is no number and no string
    PyRef value = get(o, BC_INTERNED("value"));
    Node* n = make(o, NodeKind::compare);
    n->a = named(o, s.name);
    n->ops = {kind == "MatchValue" ? Operator::eq : Operator::is};
    n->list = {kind == "MatchValue" ? expression(value.get()) : constant(o)};
    tests->push_back(n);
    return Fit::maybe;
  }

  Node* match(PyObject* o) {
    Node* all = make(o, NodeKind::block);
    PyRef given = get(o, BC_INTERNED("subject")), cases = get(o, BC_INTERNED("cases"));
    Subject s;
    const auto hold = [&](PyObject* value) {
      std::string name = "match.each" + std::to_string(++renamed_);
      all->body.push_back(assigned(value, name, expression(value)));
      return name;
    };
    s.display = class_of(given.get()) == Class::Tuple;
    if (s.display) {
      PyRef items = get(given.get(), BC_INTERNED("elts"));
      for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) s.items.push_back(hold(PyList_GetItem(items.get(), i)));
    } else {
      s.name = hold(given.get());
    }
    std::vector<Node*>* into = &all->body;
    for (Py_ssize_t i = 0; i < PyList_Size(cases.get()); ++i) {
      PyObject* one = PyList_GetItem(cases.get(), i);
      PyRef p = get(one, BC_INTERNED("pattern")), guard = get(one, BC_INTERNED("guard"));
      std::vector<Node*> tests;
      std::vector<std::pair<std::string, std::string>> captures;
      Node* failed = nullptr;
      const Fit fit = pattern(p.get(), s, &tests, &captures, &failed);
      if (fit == Fit::unsupported) {
        into->push_back(failed);
        return all;
      }
      for (const auto& [name, place] : captures) bind(name);
      if (fit == Fit::never) continue;
      std::vector<Node*> body;
      for (const auto& [name, place] : captures) body.push_back(assigned(p.get(), name, named(p.get(), place)));
      if (guard.get() != Py_None) {
        // The names are given before the guard is asked, and keep what they have where it is false.
        if (tests.empty()) {
          into->insert(into->end(), body.begin(), body.end());
          tests.push_back(expression(guard.get()));
          body.clear();
        } else if (captures.empty()) {
          tests.push_back(expression(guard.get()));
        } else {
          const std::string fits = "match.fits" + std::to_string(++renamed_);
          body.push_back(when(p.get(), {expression(guard.get())}, {assigned(p.get(), fits, truth(p.get(), true))}));
          into->push_back(assigned(p.get(), fits, truth(p.get(), false)));
          into->push_back(when(p.get(), std::move(tests), std::move(body)));
          tests = {named(p.get(), fits)};
          body.clear();
        }
      }
      for (Node* n : statements(get(one, BC_INTERNED("body")).get())) body.push_back(n);
      if (tests.empty()) {
        into->insert(into->end(), body.begin(), body.end());
        return all;
      }
      into->push_back(when(p.get(), std::move(tests), std::move(body)));
      into = &into->back()->orelse;
    }
    return all;
  }

  /// What integer literals alone make, as Python folds it: 2**64 - 1 is never an int64. Null for other expressions.
  PyRef whole_value(PyObject* o) {
    const Class c = class_of(o);
    if (c == Class::Constant) {
      PyRef v = get(o, BC_INTERNED("value"));
      return PyLong_CheckExact(v.get()) ? std::move(v) : PyRef();
    }
    if (c != Class::BinOp) return {};
    PyRef a = whole_value(get(o, BC_INTERNED("left")).get());
    PyRef b = a ? whole_value(get(o, BC_INTERNED("right")).get()) : PyRef();
    if (!b) return {};
    const Operator op = operator_of(get(o, BC_INTERNED("op")).get());
    // What would be long stays as it is written.
    constexpr long kLongest = 256;
    int a_overflow = 0, b_overflow = 0;
    PyLong_AsLongAndOverflow(a.get(), &a_overflow);
    const long right = PyLong_AsLongAndOverflow(b.get(), &b_overflow);
    if ((op == Operator::pow || op == Operator::left_shift) && (a_overflow || b_overflow || right < 0 || right > kLongest)) return {};
    PyRef r;
    switch (op) {
      case Operator::add: r = PyRef::maybe(PyNumber_Add(a.get(), b.get())); break;
      case Operator::sub: r = PyRef::maybe(PyNumber_Subtract(a.get(), b.get())); break;
      case Operator::mul: r = PyRef::maybe(PyNumber_Multiply(a.get(), b.get())); break;
      case Operator::floor_div: r = PyRef::maybe(PyNumber_FloorDivide(a.get(), b.get())); break;
      case Operator::mod: r = PyRef::maybe(PyNumber_Remainder(a.get(), b.get())); break;
      case Operator::pow: r = PyRef::maybe(PyNumber_Power(a.get(), b.get(), Py_None)); break;
      case Operator::left_shift: r = PyRef::maybe(PyNumber_Lshift(a.get(), b.get())); break;
      case Operator::right_shift: r = PyRef::maybe(PyNumber_Rshift(a.get(), b.get())); break;
      case Operator::bit_and: r = PyRef::maybe(PyNumber_And(a.get(), b.get())); break;
      case Operator::bit_or: r = PyRef::maybe(PyNumber_Or(a.get(), b.get())); break;
      case Operator::bit_xor: r = PyRef::maybe(PyNumber_Xor(a.get(), b.get())); break;
      default: break;
    }
    if (!r) PyErr_Clear();  // a division by zero: where it runs
    return r;
  }

  Node* constant(PyObject* o, PyObject* folded = nullptr) {
    PyRef v = folded ? PyRef::borrow(folded) : get(o, BC_INTERNED("value"));
    if (v.get() == Py_Ellipsis) return make(o, NodeKind::ellipsis);
    Node* n = make(o, NodeKind::constant);
    if (v.get() == Py_None) {
      n->literal.value = std::monostate{};
    } else if (PyBool_Check(v.get())) {
      n->literal.value = v.get() == Py_True;
    } else if (PyLong_Check(v.get())) {
      int overflow = 0;
      const long long i = PyLong_AsLongLongAndOverflow(v.get(), &overflow);
      if (!overflow) {
        n->literal.value = static_cast<int64_t>(i);
      } else {
        const unsigned long long u = PyLong_AsUnsignedLongLong(v.get());
        if (PyErr_Occurred()) {
          PyErr_Clear();
          n->literal.value = PyFloat_AsDouble(v.get());
        } else {
          n->literal.value = static_cast<uint64_t>(u);
        }
      }
    } else if (PyFloat_Check(v.get())) {
      n->literal.value = PyFloat_AsDouble(v.get());
    } else if (PyComplex_Check(v.get())) {
      n->literal.value = std::complex<double>(PyComplex_RealAsDouble(v.get()), PyComplex_ImagAsDouble(v.get()));
    } else if (PyUnicode_Check(v.get())) {
      n->literal.value = std::string(as_string(v.get()));
    } else if (PyBytes_Check(v.get())) {
      n->kind = NodeKind::bytes;
      n->text.assign(PyBytes_AsString(v.get()), static_cast<size_t>(PyBytes_Size(v.get())));
    } else {
      n->kind = NodeKind::unsupported;
      n->text = std::string("a constant of ") + type_name(v.get());
    }
    return n;
  }

  std::vector<std::pair<std::string, std::string>> renames_;
  int renamed_ = 0;
  FunctionSyntax* root_;
  FunctionSyntax* current_ = nullptr;
  int offset_;
};

}  // namespace

std::shared_ptr<const FunctionSyntax> read_syntax(PyObject* node, std::string file, int line, int offset, std::vector<std::string> source) {
  auto f = std::make_shared<FunctionSyntax>();
  const bool lambda = std::string_view(type_name(node)) == "Lambda";
  f->name = lambda ? "<lambda>" : std::string(as_string(attr(node, "name").get()));
  f->file = std::move(file);
  f->line = line;
  f->source = std::move(source);
  Reader(f.get(), offset).function(node, f.get());
  return f;
}

}  // namespace bc::bind
