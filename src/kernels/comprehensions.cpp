// Comprehensions, in functions compiled for the CPU: lists, sets and dicts that loops fill, and arrays whose elements the loops of
// numpy.array([[…] for …]) write where they stay.
#include <utility>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

/// The loop of `level` is followed by another `for` of the same comprehension.
bool has_inner(const Node* level) { return level->a->kind == NodeKind::comprehension && level->a->text == "inner"; }

}  // namespace

/// Walks without printing. What it finds out of types stays, everything else is as before.
class DryWalk {
 public:
  explicit DryWalk(FunctionCompiler& f) : f_(f), env_(f.env_), temporaries_(f.temporaries_), emitting_(std::exchange(f.emitting_, false)) {
    std::swap(f_.out_, out_);
  }
  DryWalk(const DryWalk&) = delete;
  DryWalk& operator=(const DryWalk&) = delete;
  ~DryWalk() {
    std::swap(f_.out_, out_);
    f_.emitting_ = emitting_;
    f_.temporaries_ = temporaries_;
    f_.env_ = std::move(env_);
  }

 private:
  FunctionCompiler& f_;
  Env env_;
  int temporaries_;
  bool emitting_;
  Block out_;
};

/// [element for target in iterable if conditions…] and its kin.
class Comprehension {
 public:
  Comprehension(FunctionCompiler& f, const Node* n, Type hint) : f_(f), n_(n), dict_(n->text == "dict"), set_(n->text == "set") {
    if (hint && hint->kind == (dict_ ? Kind::dict : set_ ? Kind::set : Kind::list)) hint_ = hint;
  }

  Value make() {
    Type t;
    {
      const DryWalk dry(f_);
      t = find_type();
    }
    if (!t) return {};
    const Type element = dict_ ? t->items[0] : t->element;
    if (is_incomplete(t)) {
      if (f_.emitting_) f_.display_text(Value{}, t, n_);
      return Value::of(t, "");
    }
    numbers_ = !dict_ && !set_ && element->is_scalar() ? element : nullptr;
    out_ = f_.temporary(n_->text.c_str());
    if (!numbers_)
      f_.linef("const {} {} = {};", f_.cpp(t), out_,
               dict_ || set_ ? code("py::new_table<{}>()", f_.cpp(t)) : code("py::new_list<{}>(0)", f_.cpp(element)));
    const Env before = f_.env_;
    loop(n_, [&](const Node* level) { put(level, t); });
    f_.env_ = before;
    Value r = Value::of(t, out_);
    r.simple = true;
    return r;
  }

 private:
  using Inside = std::function<void(const Node* level)>;

  Type find_type() {
    Type key = nullptr, value = nullptr;
    const bool known = loop(n_, [&](const Node* level) {
      key = element(level->a, hint_ && !dict_ && !set_ ? hint_->element : nullptr).type;
      if (dict_) value = element(level->keywords[0].second, nullptr).type;
    });
    if (!known || !key || (dict_ && !value)) return nullptr;
    key = stored_type(key), value = stored_type(value);
    Type t = dict_ ? dict_type(key, value) : set_ ? set_type(key) : list_type(key);
    if (hint_)
      if (const Type both = widened(t, hint_)) t = both;
    const Type held = dict_ ? t->items[0] : t->element;
    if (dict_ || set_ ? !can_be_key(held) : !can_be_held(held))
      f_.fail(n_, fmt::format("a {} cannot hold {}", n_->text, held->spelling), {}, "use an array with one more dimension");
    return t;
  }

  Value element(const Node* node, Type hint) {
    f_.hint_ = hint;
    const Value v = f_.kept(f_.expression(node), hint, node);
    f_.hint_ = nullptr;
    return v;
  }

  void put(const Node* level, Type t) {
    if (dict_) {
      const Value key = element(level->a, nullptr);
      f_.linef("{}.put({}, {});", out_, f_.convert(key, t->items[0], n_),
               f_.convert(f_.kept(f_.expression(level->keywords[0].second), t->items[1], n_), t->items[1], n_));
      return;
    }
    f_.hint_ = set_ ? nullptr : t->element;
    const Value v = f_.kept(f_.expression(level->a), t->element, level->a);
    f_.hint_ = nullptr;
    if (place_.empty())
      f_.linef("{}.{}({});", out_, set_ ? "add" : "append", f_.convert(v, t->element, n_));
    else
      f_.linef("{0}_part.to[{0}] = {1};", place_, f_.convert(v, t->element, n_));
  }

  void conditions(const Node* level, const char* next) {
    for (const Node* test : level->list) {
      std::optional<bool> known;
      const Code c = f_.condition(test, &known);
      if (!known)
        f_.linef("if (!({})) {}", c, next);
      else if (!*known)
        f_.line(next);
      f_.narrow(test, true);
    }
  }

  /// The loop of a `for` with those inside it; false: a type is not known yet.
  bool loop(const Node* level, const Inside& inside) {
    const Value over = f_.walked(f_.made(f_.expression(level->b), nullptr, n_), level, n_);
    if (!over.type || (over.type->is_container() && is_incomplete(over.type))) return false;
    auto walk = f_.called_iteration(over, level);
    const bool called = walk.has_value(), lasts = !called && ends_with_finally(over);
    const Block before = f_.captured([&] {
      if (!called) walk = f_.iteration(over, level->b);
    });
    if (!walk) f_.fail(level->b, fmt::format("cannot loop over {}", over.type->spelling));
    const std::string k = f_.temporary("k");
    const bool grows = over.is(Kind::list);  // a list may grow while it is walked
    const bool fills = numbers_ && level == n_ && !has_inner(level) && level->list.empty() && !walk->more && !grows && !called;
    if (fills) place_ = k;
    f_.polls_ = true;
    bool ok = true;
    f_.bodies_ += called;
    const Block body = f_.captured([&] {
      f_.assign(level->c, walk->item(k), n_);
      conditions(level, called ? "return 0;" : "continue;");
      if (has_inner(level))
        ok = loop(level->a, inside);
      else
        inside(level);
    });
    f_.bodies_ -= called;
    if (!lasts) f_.out_ += before;
    if (numbers_ && level == n_)
      f_.linef("const py::List<{0}> {1} = py::new_list<{0}>({2});", f_.cpp(numbers_), out_,
               fills ? code("py::least({}, py::kFilled)", walk->length) : Code("0"));
    if (lasts) f_.line("{"), f_.out_ += before;
    // A list of one number a turn gets room for a strip of turns at a time.
    if (called)
      f_.line(walk->call);
    else
      f_.line(fills ? strips(k, walk->length, f_.unit_.may_take_long(body.facts())) : code("{} {{", walk->head(k, grows)));
    f_.out_ += body;
    if (called)
      f_.end_of_call(body, "});");
    else
      f_.line(fills ? code("}} {}.filled({}); }}", out_, k) : Code(lasts ? "}}" : "}"));
    return ok;
  }

  Code strips(const std::string& k, const Code& length, bool asks) const {
    return code(
        "for (i64 {1} = 0, {1}_end = {2}; {1} < {1}_end; bc_poll()) {{ const auto {1}_part = {0}.part({1}, {1}_end); "
        "for (; {1} < {1}_part.stop; ++{1}{3}) {{",
        out_, k, length, asks ? ", bc_poll()" : "");
  }

  FunctionCompiler& f_;
  const Node* n_;
  bool dict_, set_;
  Type hint_ = nullptr;      ///< what the container is to be
  Type numbers_ = nullptr;   ///< of a list of numbers
  std::string out_, place_;  ///< the container, and the counter of the loop that fills it in strips
};

Value FunctionCompiler::comprehension(const Node* n) {
  const bool iterator = n->text == "iterator";
  if (iterator && !(host() && expression(n->b->a).is(Kind::builtin))) return expression(n->b);
  if (!host()) fail(n, "comprehensions are not supported in kernels", {}, "write into an array");
  if (iterator || (n->text == "generator" && !as_lists_.contains(n))) {
    CallArguments args;
    std::ranges::copy_if(n->orelse, std::back_inserter(args.nodes), [](const Node* k) { return k->kind != NodeKind::length; });
    args.positional = ordered(args.nodes);
    // A generator that is evaluated alone stays part of the call, and ends with it.
    const bool alone = std::count_if(args.positional.begin(), args.positional.end(), [](const Value& v) { return v.acts(); }) == 1;
    for (Value& v : args.positional)
      if (v.acts() && !(alone && v.started)) v = spill(v);
    for (size_t i = 0; i < n->orelse.size(); ++i) {
      if (n->orelse[i]->kind != NodeKind::length) continue;
      const Value& l = args.positional[i - 1];
      const bool list = l.is(Kind::list) && !l.display && !is_incomplete(l.type);
      const Value length =
          list ? spill(Value::of(int64_type(), code("{}.size()", paren(l)).with(kReads))) : constant_value(Constant{int64_t{0}});
      args.positional.insert(args.positional.begin() + static_cast<std::ptrdiff_t>(i), length);
      args.nodes.insert(args.nodes.begin() + static_cast<std::ptrdiff_t>(i), n->orelse[i]);
    }
    return call_value(inner_function(n), std::move(args), n);
  }
  return Comprehension(*this, n, std::exchange(hint_, nullptr)).make();
}

/// numpy.array([[element for …] for …]): one axis for each comprehension, and one for a display of numbers as the element. The lengths of
/// the loops are known before they run, and no list is made.
class ArrayComprehension {
 public:
  ArrayComprehension(FunctionCompiler& f, const Node* n, Type dtype) : f_(f), n_(n), dtype_(dtype) {
    for (const Node* level = n;; level = level->a) {
      levels_.push_back(level);
      if (level->a->kind != NodeKind::comprehension || level->a->text != "list") break;
    }
    const Node* element = levels_.back()->a;
    row_ = (element->kind == NodeKind::list || element->kind == NodeKind::tuple) && !element->list.empty();
    items_ = row_ ? std::vector<const Node*>(element->list.begin(), element->list.end()) : std::vector<const Node*>{element};
  }

  /// nullopt: lists are needed.
  std::optional<Value> make() {
    for (const Node* level : levels_)
      if (has_inner(level) || !level->list.empty()) return std::nullopt;
    {
      const DryWalk dry(f_);
      if (!find_types(0)) return std::nullopt;
    }
    if (!element_) return Value{};
    if (dtype_) element_ = dtype_;
    const size_t axes = levels_.size() + (row_ ? 1 : 0);
    cells_ = f_.temporary("cells");
    f_.linef("py::Cells<{}, {}> {};", f_.cpp(element_), axes, cells_);
    const Env before = f_.env_;
    print(0);
    f_.env_ = before;
    return f_.bound(Value::called(array_type(element_, static_cast<int>(axes), 'C'), code("{}.array()", cells_)), "v");
  }

 private:
  /// How a loop goes on, where its length is known before it runs; a list may grow meanwhile.
  std::optional<Iteration> walk(size_t axis) {
    const Node* level = levels_[axis];
    const Value over = f_.walked(f_.made(f_.expression(level->b), nullptr, n_), level, n_);
    unknown_ = !over.type || (over.type->is_container() && is_incomplete(over.type));
    if (unknown_ || over.is(Kind::list)) return std::nullopt;
    auto found = f_.iteration(over, level->b);
    if (!found || found->more) return std::nullopt;
    f_.polls_ = true;
    return found;
  }

  std::vector<Value> elements() {
    std::vector<Value> values = f_.ordered(items_);
    for (size_t i = 0; i < values.size(); ++i) values[i] = f_.made(values[i], nullptr, items_[i]);
    return values;
  }

  /// False: the elements are no numbers, or a loop's length is not known. An element without a type is found in a later walk.
  bool find_types(size_t axis) {
    const auto found = walk(axis);
    if (!found) return unknown_;
    f_.assign(levels_[axis]->c, found->item("k"), n_);
    if (axis + 1 < levels_.size()) return find_types(axis + 1);
    for (const Node* item : items_)
      if (item->kind == NodeKind::starred) return false;
    Type all = nullptr;
    for (const Value& v : elements()) {
      if (!v.type) return true;
      if (!v.is_scalar() && !v.is(Kind::literal)) return false;
      all = unify(all, stored_type(v.type));
      if (!all) return false;
    }
    element_ = all;
    return element_->is_scalar();
  }

  void print(size_t axis) {
    const auto found = walk(axis);
    const std::string k = f_.temporary("k");
    f_.linef("const i64 {0}_end = {1}.enter({2}, {3});", k, cells_, axis, found->length);
    const bool last = axis + 1 == levels_.size();
    const Block body = f_.captured([&] {
      f_.assign(levels_[axis]->c, found->item(k), n_);
      if (last)
        store(k);
      else
        print(axis + 1);
    });
    if (last && !row_)
      f_.linef("for (i64 {0} = 0; {0} < {0}_end; bc_poll()) {{ auto {0}_strip = {1}.strip({0}); for (; {0} < {0}_strip.stop; ++{0}{2}) {{",
               k, cells_, f_.unit_.may_take_long(body.facts()) ? ", bc_poll()" : "");
    else
      f_.linef("for (i64 {0} = 0; {0} < {0}_end; ++{0}, bc_poll()) {{", k);
    f_.out_ += body;
    f_.line(last && !row_ ? code("}} {}.filled({}_strip); }}", cells_, k) : Code("}"));
  }

  void store(const std::string& k) {
    std::vector<Code> values;
    for (const Value& v : elements()) {
      f_.expect_fits(v, element_, n_);
      values.push_back(f_.convert(dtype_ && v.type != dtype_ ? f_.cast_to(dtype_, v, n_) : v, element_, n_));
    }
    if (!row_) return f_.linef("*{}_strip.to++ = {};", k, values[0]);
    Code list;
    for (const Code& v : values) list += list.empty() ? v : code(", {}", v);
    f_.linef("{}.put({});", cells_, list);
  }

  FunctionCompiler& f_;
  const Node* n_;
  Type dtype_;
  std::vector<const Node*> levels_, items_;  ///< the comprehensions from the outermost on, and the elements of a turn of the innermost
  bool row_ = false, unknown_ = false;
  Type element_ = nullptr;
  std::string cells_;
};

std::optional<Value> FunctionCompiler::array_of_comprehension(const Value& callee, const Node* n) {
  if (!host() || !callee.is(Kind::builtin) || (callee.type->name != "numpy.array" && callee.type->name != "numpy.asarray"))
    return std::nullopt;
  if (n->list.empty() || n->list.size() + n->keywords.size() > 2 || (!n->keywords.empty() && n->keywords[0].first != "dtype"))
    return std::nullopt;
  const Node* made = n->list[0];
  if (made->kind != NodeKind::comprehension || made->text != "list") return std::nullopt;
  const Node* dtype = n->list.size() == 2 ? n->list[1] : n->keywords.empty() ? nullptr : n->keywords[0].second;
  return ArrayComprehension(*this, made, dtype ? host_dtype(expression(dtype), nullptr, n) : nullptr).make();
}

}  // namespace bc::kernels
