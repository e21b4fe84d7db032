// NumPy's functions that have a C++ form in functions compiled for the CPU. A table names the function that types and prints each; one that
// does not take the arguments gives nothing, and the caller goes on to the Python function that stands for it.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "kernels/named_call.h"
#include "primitives/ops.h"

namespace bc::kernels {

class HostCall : NamedCall {
 public:
  HostCall(FunctionCompiler& c, const std::string& name, const CallArguments& args, const Node* n)
      : NamedCall(c, name, args, n), f_(plain_name()) {}

  Made make() {
    const auto form = forms().find(f_);
    return form == forms().end() ? std::nullopt : (this->*form->second)();
  }

 private:
  using Form = Made (HostCall::*)();
  static const Forms<Form>& forms();

  // ---- arguments

  bool is(std::string_view name) const { return f_ == name; }
  /// The arguments by the parameters' names, in their order; without a type where one is left out.
  std::vector<Value> bind(std::initializer_list<std::string_view> names) const {
    if (p_.size() > names.size()) fail(fmt::format("{}() got too many arguments", name_));
    std::vector<Value> values(p_);
    values.resize(names.size());
    for (const auto& [key, v] : args_.keywords) {
      const auto* at = std::find(names.begin(), names.end(), key);
      if (at == names.end()) fail(fmt::format("{}() takes no argument '{}' in compiled functions", name_, key));
      values[static_cast<size_t>(at - names.begin())] = v;
    }
    return values;
  }
  Value option(std::string_view key) const {
    for (const auto& [name, v] : args_.keywords)
      if (name == key) return v;
    return {};
  }
  Value array_at(size_t i) const { return c_.host_array(p_[i], n_); }
  Value vector_at(size_t i) const { return c_.raveled(p_[i], n_); }
  Value matrix_at(size_t i) const {
    const Value v = array_at(i);
    if (v.type->ndim != 2) fail(fmt::format("{}() takes a matrix in compiled functions, not {}", name_, v.type->spelling));
    return v;
  }
  Value matrix_of_floats_at(size_t i) const {
    const Value v = matrix_at(i);
    if (is_inexact(v.type->dtype) && itemsize(v.type->dtype) == 2) fail(fmt::format("{}() does not take {}", name_, v.type->spelling));
    return v;
  }
  Code integer(const Value& v, const char* what = "this argument") const { return c_.whole_number(v, what, n_); }
  Code integer_or(const Value& v, const char* otherwise) const { return given(v) ? integer(v) : Code(otherwise); }
  static Value made(Type element, int ndim, Code text) { return Value::called(array_type(element, ndim, 'C'), std::move(text)); }
  /// An index for each dimension of an array, each of which takes all.
  static std::vector<Value> all_of(const Value& a) { return std::vector<Value>(static_cast<size_t>(a.type->ndim), Value::whole_slice()); }

  // ---- arrays that are made

  Made filled() {
    const auto b = bind({"shape", "dtype", "order"});
    int ndim = 0;
    const Code shape = c_.host_shape(b[0], &ndim, n_);
    const Type t = c_.host_dtype(b[1], float64_type(), n_);
    if (is("ones")) return made(t, ndim, code("py::full<{0}, {1}>({2}, cast<{0}>(1))", cpp(t), ndim, shape));
    return made(t, ndim, code("py::{}<{}, {}>({})", is("zeros") ? "zeros" : "fresh", cpp(t), ndim, shape));
  }
  Made full() {
    const auto b = bind({"shape", "fill_value", "dtype"});
    int ndim = 0;
    const Code shape = c_.host_shape(b[0], &ndim, n_);
    const Value fill = b[1].is_array() && b[1].type->ndim == 0 ? c_.scalar_of(b[1], n_) : b[1];
    if (fill.is_array()) return std::nullopt;
    const Type t = c_.host_dtype(b[2], fill.is(Kind::literal) ? int64_type() : fill.type, n_);
    c_.expect_fits(fill, t, n_);
    return made(t, ndim, code("py::full<{}, {}>({}, {})", cpp(t), ndim, shape, c_.convert(fill, t, n_)));
  }
  Made like() {
    const bool full = is("full_like");
    const auto b = full ? bind({"a", "fill_value", "dtype"}) : bind({"a", "dtype"});
    if (!b[0].is_array()) fail(fmt::format("{}() takes an array, got {}", name_, b[0].type ? b[0].type->spelling : "nothing"));
    const Type t = c_.host_dtype(b[full ? 2 : 1], b[0].type->element, n_);
    const Value a = c_.host_array(b[0], n_);
    const int ndim = a.type->ndim;
    const Code shape = c_.shape_text(a);
    if (full && b[1].is_array() && b[1].type->ndim > 0) return std::nullopt;
    if (full) c_.expect_fits(b[1], t, n_);
    if (is("zeros_like")) return made(t, ndim, code("py::zeros<{}, {}>({})", cpp(t), ndim, shape));
    if (is("empty_like")) return made(t, ndim, code("py::fresh<{}, {}>({})", cpp(t), ndim, shape));
    return made(t, ndim,
                code("py::full<{}, {}>({}, {})", cpp(t), ndim, shape, full ? c_.convert(b[1], t, n_) : code("cast<{}>(1)", cpp(t))));
  }
  Made arange() {
    auto b = bind({"start", "stop", "step", "dtype"});
    if (!given(b[0])) fail("arange() needs an argument for 'stop'");
    for (size_t i = 0; i < 3; ++i)
      if (b[i].is_array()) b[i] = c_.scalar_of(b[i], n_);  // an array of numbers stays one, and is refused below
    const Value start = given(b[1]) ? b[0] : whole(0), stop = given(b[1]) ? b[1] : b[0], step = given(b[2]) ? b[2] : whole(1);
    Type t = int64_type();
    for (const Value& v : {start, stop, step}) t = unify(t, v.is(Kind::literal) ? int64_type() : v.type);
    t = c_.host_dtype(b[3], t, n_);
    if (!t->is_scalar() || is_bool(t->dtype) || is_complex(t->dtype)) fail(fmt::format("arange() does not make arrays of {}", t->spelling));
    return made(t, 1,
                code("py::arange<{}>({}, {}, {})", cpp(t), c_.convert(start, t, n_), c_.convert(stop, t, n_), c_.convert(step, t, n_)));
  }
  Made linspace() {
    const auto b = bind({"start", "stop", "num", "endpoint"});
    const auto complex = [](const Value& v) { return v.is_scalar() && is_complex(v.type->dtype); };
    const Type t = complex(b[0]) || complex(b[1]) ? scalar_type(DType::c128) : float64_type();
    return made(t, 1,
                code("py::linspace<{}>({}, {}, {}, {})", cpp(t), c_.convert(b[0], t, n_), c_.convert(b[1], t, n_), integer_or(b[2], "50"),
                     given(b[3]) ? c_.convert(b[3], bool_type(), n_) : "true"));
  }
  Made eye() {
    const bool square = is("identity");
    const auto b = square ? bind({"N", "dtype"}) : bind({"N", "M", "k", "dtype"});
    const Value extent = c_.spill(Value::of(int64_type(), integer(b[0])), "n");
    const Type t = c_.host_dtype(b.back(), float64_type(), n_);
    return made(t, 2,
                code("py::eye<{}>({}, {}, {})", cpp(t), extent.text, !square && given(b[1]) ? integer(b[1]) : extent.text,
                     square ? Code("0") : integer_or(b[2], "0")));
  }
  static bool holds_rows(Type t) {
    return t && ((t->is_array() && t->ndim > 0) || (t->is_tuple() && std::any_of(t->items.begin(), t->items.end(), holds_rows)));
  }
  /// Arrays, and what else makes some, as the rows of one.
  Value stacked(const Value& rows) {
    const Value whole = rows.items.empty() && !rows.simple ? c_.spill(rows) : rows;
    std::vector<Value> parts;
    for (size_t i = 0; i < rows.type->items.size(); ++i)
      parts.push_back(c_.bound(c_.materialise(c_.call_builtin("numpy.asarray", {{c_.tuple_item(whole, i)}, {n_}, {}}, n_), n_), "row"));
    return c_.call_builtin("numpy.stack", {{c_.tuple_of(std::move(parts))}, {n_}, {}}, n_);
  }
  Made array() {
    const auto b = bind({"a", "dtype", "copy", "order"});
    const Value& x = b[0];
    const bool ordered = given(b[3]);
    if (ordered && !(b[3].is(Kind::string) && b[3].type->name == "C")) return std::nullopt;
    if (!x.type) fail(fmt::format("{}() needs an argument", name_));
    const bool* copies = given(b[2]) && b[2].constant ? b[2].constant->boolean() : nullptr;
    if (given(b[2]) && !copies) fail(fmt::format("{}(): copy must be known when the function is compiled", name_));
    const bool wanted = copies ? *copies : is("array") && !b[2].type, refused = copies && !*copies;
    if (refused && !(x.is_array() && !x.lazy && !ordered))
      fail("copy=False: this array cannot be made without a copy", {}, "leave copy out");
    const bool contiguous = is("ascontiguousarray");
    const Type element = c_.host_dtype(b[1], nullptr, n_);
    if (x.is(Kind::tuple) && holds_rows(x.type)) {
      const Value rows = stacked(x);
      return element && rows.type ? c_.materialise(c_.cast_to(element, rows, n_), n_) : rows;
    }
    if (x.is(Kind::tuple)) return c_.host_array_of(x, element, n_);
    if (is_number(x)) {
      const Type t = element ? element : x.is(Kind::literal) ? int64_type() : x.type;
      if (contiguous) return made(t, 1, code("py::full<{}, 1>({{{{1}}}}, {})", cpp(t), c_.convert(x, t, n_)));
      return made(t, 0, code("py::full<{}, 0>({{}}, {})", cpp(t), c_.convert(x, t, n_)));
    }
    if (x.is(Kind::list) && x.type->element && x.type->element->is_array()) {
      const Value rows = c_.call_builtin("numpy.stack", {{x}, {n_}, {}}, n_);
      return element && rows.type ? c_.materialise(c_.cast_to(element, rows, n_), n_) : rows;
    }
    if (!x.is_array()) fail(fmt::format("{}() does not take {}", name_, x.type->spelling));
    if (contiguous && x.type->ndim == 0) return c_.raveled(element ? c_.cast_to(element, x, n_) : x, n_);
    if (element && element != x.type->element) {
      if (refused) fail(fmt::format("copy=False: an array of {} is made by a copy of {}", element->spelling, x.type->spelling));
      return c_.materialise(c_.cast_to(element, x, n_), n_);
    }
    if (x.lazy) return c_.materialise(x, n_);
    if (!wanted && !ordered && !contiguous && !is("copy")) return x;
    return made(x.type->element, x.type->ndim, code("py::{}({})", contiguous || (ordered && !wanted) ? "contiguous" : "copy", x.text));
  }

  // ---- reductions and what goes along an axis

  Made reduced() {
    if (p_.empty()) return std::nullopt;
    return c_.host_reduction(is("amin") ? "min" : is("amax") ? "max" : f_, p_[0], {{}, {}, args_.keywords}, n_);
  }
  Made reduced_without_nan() { return takes(1) ? Made(c_.nan_reduction(f_.substr(3), p_[0], n_)) : std::nullopt; }
  Made median() {
    if (!takes(1)) return std::nullopt;
    if (is_complex(p_[0].type->dtype)) fail("median() does not take complex numbers");
    return Value::called(float64_type(), code("py::median({})", array_at(0).text));
  }
  Made cumulative() {
    if (!takes(1)) return std::nullopt;
    const Value a = array_at(0);
    const Type t = scalar_type(sum_dtype(a.type->dtype));
    return made(t, 1, code("py::cumulative<{}>({}, {})", cpp(t), is("cumprod"), a.text));
  }
  Made sorted() { return takes(1) ? Made(c_.sorted_along(f_, p_[0], option("axis"), n_)) : std::nullopt; }
  Made diff() {
    if (!takes(1)) return std::nullopt;
    const Type t = p_[0].type;
    if (t->element->is(Kind::time) && t->ndim > 0) return c_.call_python("numpy.time_differences", {{p_[0]}, {n_}, {}}, n_);
    if (t->ndim == 0 || is_bool(t->dtype)) fail(fmt::format("diff() does not take {} in compiled functions", t->spelling));
    return t->ndim == 1 ? Made(made(t->element, 1, code("py::diff({})", array_at(0).text))) : std::nullopt;
  }
  Made partition() {
    if (!takes(2) || !p_[0].is_array() || p_[0].type->ndim != 1 || !is_number(p_[1])) return std::nullopt;
    return made(p_[0].type->element, 1, code("py::partitioned({}, {})", array_at(0).text, integer(p_[1])));
  }
  Made unique() { return takes(1) ? Made(made(p_[0].type->element, 1, code("py::unique({})", vector_at(0).text))) : std::nullopt; }
  Made bincount() {
    const auto b = bind({"x", "weights", "minlength"});
    if (b[0].type->ndim != 1 || is_inexact(b[0].type->dtype))
      fail(fmt::format("bincount() takes a vector of integers, not {}", b[0].type->spelling));
    if (given(b[1])) return c_.call_python(name_, args_, n_);
    return made(int64_type(), 1, code("py::bincount({}, {})", c_.host_array(b[0], n_).text, integer_or(b[2], "0")));
  }
  Made searchsorted() {
    const auto b = bind({"a", "v", "side"});
    if (b[0].type->ndim != 1) fail(fmt::format("searchsorted() takes a sorted vector, not {}", b[0].type->spelling));
    const bool right = b[2].is(Kind::string) && b[2].type->name == "right";
    if (b[2].type && !right && !(b[2].is(Kind::string) && b[2].type->name == "left"))
      fail("searchsorted(): side must be 'left' or 'right', known when the function is compiled");
    if (b[0].type->element->is(Kind::time)) {
      // NaT is the last in order.
      const Type kind = b[1].is_array() ? b[1].type->element : b[1].type;
      if (kind != b[0].type->element)
        fail(fmt::format("searchsorted() does not find {} in {}", b[1].type->spelling, b[0].type->spelling), {},
             "convert one of them with .astype()");
      CallArguments args{{c_.ticks_of_times(b[0], 1, n_), c_.ticks_of_times(b[1], 1, n_)}, {n_, n_}, {}};
      args.keywords.emplace_back("side", c_.constant_value(Constant{std::string(right ? "right" : "left")}));
      return c_.call_builtin("numpy.searchsorted", std::move(args), n_);
    }
    const Type of = b[1].is_array() ? b[1].type->element : b[1].is(Kind::literal) ? int64_type() : b[1].type;
    if (!of->is_scalar()) fail(fmt::format("searchsorted() does not take {}", of->spelling));
    // Compared in the type that holds both: 2.5 has a place among integers.
    const Value sorted = c_.host_array(b[0], n_);
    const Type both = scalar_type(promote(sorted.type->dtype, of->dtype));
    if (!b[1].is_array())
      return Value::called(int64_type(), code("py::search<{}>({}, {}, {})", cpp(both), sorted.text, c_.convert(b[1], both, n_), right));
    const Value values = c_.host_array(b[1], n_);
    return made(int64_type(), values.type->ndim,
                code("py::search_all<{}>({}, py::contiguous({}), {})", cpp(both), sorted.text, values.text, right));
  }

  // ---- views, parts and joined arrays

  Made as_strided() {
    const auto b = bind({"x", "shape", "strides", "subok", "writeable"});
    const bool* writes = b[4].constant ? b[4].constant->boolean() : nullptr;
    if (given(b[4]) && !writes) fail("as_strided(): writeable must be known when the function is compiled");
    const Value a = c_.host_array(b[0], n_);
    int ndim = a.type->ndim, steps = a.type->ndim;
    const Code own = a.type->ndim ? a.text : "", shape = given(b[1]) ? c_.host_shape(b[1], &ndim, n_) : code("{}.shape", own);
    const Code strides = given(b[2]) ? c_.host_shape(b[2], &steps, n_) : code("{}.strides", own);
    if (ndim != steps) fail("as_strided(): shape and strides differ in length");
    if (ndim == 0 && a.type->ndim == 0) return a;
    const Type made = array_type(a.type->element, ndim, 'A', a.type->read_only || (writes && !*writes));
    return Value::called(made, code("py::host_strided<{}>({}, {}, {})", cpp(made), a.text, shape, strides));
  }
  Made sliding_window_view() {
    const auto b = bind({"x", "window_shape", "axis"});
    Value a = c_.host_array(b[0], n_);
    const auto items = [&](const Value& v) { return v.is(Kind::tuple) ? c_.index_items(v) : std::vector<Value>{v}; };
    const std::vector<Value> windows = items(b[1]), axes = given(b[2]) ? items(b[2]) : std::vector<Value>{};
    const bool all = axes.empty();
    if (windows.size() != (all ? static_cast<size_t>(a.type->ndim) : axes.size()))
      fail("sliding_window_view(): expected one window for each axis");
    const int ndim = a.type->ndim;
    for (size_t i = 0; i < windows.size(); ++i) {
      const Type made = array_type(a.type->element, a.type->ndim + 1, 'A', a.type->read_only);
      a = c_.spill(Value::called(made, code("py::host_windowed<{}>({}, {}, {}, {})", cpp(made), a.text, integer(windows[i]),
                                            all ? std::to_string(i) : integer(axes[i]), ndim)),
                   "v");
    }
    return a;
  }
  /// What the array's method of the name does.
  Made method() {
    return is("reshape") && takes(2)                    ? c_.host_method(p_[0], f_, {{p_[1]}, {}, {}}, n_)
           : (is("ravel") || is("nonzero")) && takes(1) ? c_.host_method(p_[0], f_, {}, n_)
                                                        : std::nullopt;
  }
  Made transpose() {
    if (!takes(1)) return std::nullopt;
    const Value axes = option("axes");
    return c_.host_method(p_[0], f_, {axes.type ? std::vector<Value>{axes} : std::vector<Value>{}, {}, {}}, n_);
  }
  Made shape() { return takes(1) && p_[0].is_array() ? Made(c_.array_attribute(array_at(0), "shape", n_)) : std::nullopt; }
  Made size() {
    if (!takes(1)) return std::nullopt;
    const Value axis = option("axis");
    if (!axis.type) return p_[0].is_array() ? Made(c_.array_attribute(array_at(0), "size", n_)) : std::nullopt;
    const Value a = array_at(0);
    const std::vector<Value> axes = axis.is(Kind::tuple) ? c_.index_items(axis) : std::vector<Value>{axis};
    if (axes.size() != 1) return std::nullopt;
    if (a.type->ndim == 0) fail("size(): the axis is out of bounds for an array without dimensions");
    return Value::called(int64_type(), code("{0}.shape[py::axis_of({1}, {2})]", a.text, integer(axes[0]), a.type->ndim));
  }
  Made ndim() { return takes(1) && p_[0].is_array() ? Made(whole(p_[0].type->ndim)) : std::nullopt; }
  /// `a` with an axis of one element at a place of the result that is known; none where it is out of bounds.
  Made with_axis(const Value& a, const Value& axis) {
    int64_t at = axis.integer().value_or(-100);
    if (at < 0) at += a.type->ndim + 1;
    if (at < 0 || at > a.type->ndim) return std::nullopt;
    std::vector<Value> items = all_of(a);
    items.insert(items.begin() + at, Value::known(none_type()));
    return c_.view(a, items, n_);
  }
  Made expand_dims() {
    const auto b = bind({"a", "axis"});
    if (!given(b[0]) || !given(b[1])) fail("expand_dims() takes an array and an axis");
    if (!b[1].integer()) return std::nullopt;
    const Made r = with_axis(c_.host_array(b[0], n_), b[1]);
    if (!r) fail(fmt::format("expand_dims(): axis {} is out of bounds", *b[1].integer()));
    return r;
  }
  Made flip() {
    if (!takes(1)) return std::nullopt;
    const Value a = array_at(0), axis = option("axis");
    Value back = Value::whole_slice();
    back.items[2] = whole(-1);
    if (!axis.type) return c_.view(a, std::vector<Value>(static_cast<size_t>(a.type->ndim), back), n_);
    std::vector<Value> items = all_of(a);
    for (const Value& i : c_.index_items(axis)) {
      if (!i.integer()) return c_.call_python(name_, args_, n_);
      const int64_t at = *i.integer() < 0 ? *i.integer() + a.type->ndim : *i.integer();
      if (at < 0 || at >= a.type->ndim) fail(fmt::format("flip(): axis {} is out of bounds for {} dimensions", *i.integer(), a.type->ndim));
      if (!items[static_cast<size_t>(at)].items[2].is_none()) fail("flip(): an axis is named twice");
      items[static_cast<size_t>(at)] = back;
    }
    return c_.view(a, items, n_);
  }
  Made axes() { return c_.host_axes(f_, args_, n_); }
  Made joined() {
    const auto b = bind({"arrays", "axis"});
    const Value &tuple = b[0], &axis = b[1];
    if (tuple.is(Kind::list) || (is("stack") && given(axis) && !axis.integer())) return std::nullopt;
    if (tuple.is_array())
      fail(fmt::format("{}() takes a tuple of arrays in compiled functions", name_), {}, "put them into one tuple: (a, b)");
    if (!tuple.is(Kind::tuple) || tuple.type->items.empty()) fail(fmt::format("{}() takes a tuple of arrays", name_));
    const Value all = tuple.items.empty() && !tuple.simple ? c_.spill(tuple) : tuple;
    const bool plain = is("concatenate"), stacks = is("stack"), rows = is("vstack");
    const bool flat = plain && axis.is_none();
    int ndim = -1;
    Type t = nullptr;
    Code list;
    for (size_t i = 0; i < tuple.type->items.size(); ++i) {
      Value a = c_.array_operand(c_.tuple_item(all, i), true, name_, "arrays", n_);
      if (a.type->ndim == 0 && plain && !flat) fail("concatenate() does not take arrays without dimensions");
      a = flat || (a.type->ndim == 0 && !plain && !stacks) ? c_.raveled(a, n_) : c_.host_array(a, n_);
      t = unify(t, a.type->element);
      // Rows and new axes are added by views.
      if (stacks || (rows && a.type->ndim == 1)) {
        const Made r = with_axis(a, stacks && given(axis) ? axis : whole(0));
        if (!r) fail(fmt::format("stack(): axis {} is out of bounds", axis.integer().value_or(0)));
        a = c_.bound(*r, "v");
      }
      if (ndim >= 0 && a.type->ndim != ndim) fail(fmt::format("{}(): the arrays differ in their number of dimensions", name_));
      ndim = a.type->ndim;
      list += ", " + a.text;
    }
    const Code along = is("hstack")            ? Code(ndim == 1 ? "0" : "1")
                       : plain && given(axis)  ? integer(axis, "an axis")
                       : stacks && given(axis) ? code("{}", *axis.integer() < 0 ? *axis.integer() + ndim : *axis.integer())
                                               : Code("0");
    return made(t, ndim, code("py::concatenate<{}, {}>({}{})", cpp(t), ndim, along, list));
  }
  Made append() {
    if (!takes(2)) return std::nullopt;
    const Value a = vector_at(0), b = vector_at(1);
    const Type t = unify(a.type->element, b.type->element);
    return made(t, 1, code("py::concatenate<{}, 1>(0, {}, {})", cpp(t), a.text, b.text));
  }
  Made repeat() {
    if (!takes(2) || !p_[0].is_array() || p_[1].is_array() || p_[1].is(Kind::tuple)) return std::nullopt;
    return made(p_[0].type->element, 1, code("py::repeat({}, {})", vector_at(0).text, integer(p_[1])));
  }
  Made flatnonzero() { return takes(1) ? Made(made(int64_type(), 1, code("py::flat_nonzero({})", vector_at(0).text))) : std::nullopt; }
  Made where() { return takes(1) ? c_.host_method(p_[0], "nonzero", {}, n_) : std::nullopt; }
  Made take() {
    if (!takes(2)) return std::nullopt;
    const Value a = vector_at(0);
    if (!is_number(p_[1])) return c_.host_index(a, p_[1], n_);
    const Code at = code("py::checked_index({}, {}.shape[0])", integer(p_[1]), a.text);
    return c_.subscript_of(a, c_.spill(Value::called(int64_type(), at), "i"), n_);
  }

  // ---- linear algebra

  Made product() {
    if (!takes(2)) return std::nullopt;
    const bool inner = is("vdot"), matrices = is("matmul");
    Value a = p_[0], b = p_[1];
    if (inner && a.is_array() && b.is_array()) {
      a = c_.raveled(a, n_), b = c_.raveled(b, n_);
      if (is_complex(a.type->dtype))
        a = c_.lift({a}, [&c = c_, n = n_](std::span<const Value> x) { return c.elementwise(static_cast<int>(Op::conj), {x[0]}, n); }, n_);
    }
    const auto number = [](const Value& v) { return !v.is_array() || v.type->ndim == 0; };
    if (!matrices && (number(a) || number(b)))
      return c_.materialise(c_.binary(Operator::mul, c_.scalar_of(a, n_), c_.scalar_of(b, n_), n_), n_);
    return c_.host_product(a, b, n_, !matrices);
  }
  Made outer() {
    if (!takes(2)) return std::nullopt;
    const Value a = vector_at(0), b = vector_at(1);
    if (!is_bool(a.type->dtype) && !is_bool(b.type->dtype)) {
      const Type t = scalar_type(promote(a.type->dtype, b.type->dtype));
      return made(t, 2, code("py::outer<{}>({}, {})", cpp(t), a.text, b.text));
    }
    const Value column = c_.bound(*with_axis(a, whole(1)), "v"), row = c_.bound(*with_axis(b, whole(0)), "v");
    return c_.materialise(c_.binary(Operator::mul, column, row, n_), n_);
  }
  Made trace() {
    if (!takes(1)) return std::nullopt;
    const Value a = matrix_at(0);
    const Type t = scalar_type(itemsize(a.type->dtype) < 8 ? sum_dtype(a.type->dtype) : a.type->dtype);
    return Value::called(t, code("py::trace<{}>({})", cpp(t), a.text));
  }
  Type float_type(const Value& a) const { return is_inexact(a.type->dtype) ? a.type->element : float64_type(); }
  Made norm() {
    if (!takes(1)) return std::nullopt;
    const Value a = array_at(0);
    const Type t = scalar_type(real_type(float_type(a)->dtype));
    return Value::called(t, code("py::norm<{}>({})", cpp(t), a.text));
  }
  Made solve() {
    if (!takes(2)) return std::nullopt;
    const Value a = matrix_of_floats_at(0), b = array_at(1);
    if (b.type->ndim < 1 || b.type->ndim > 2)
      fail(fmt::format("solve() takes a vector or a matrix on the right, not {}", b.type->spelling));
    const Type t = float_type(a), both = scalar_type(promote(t->dtype, is_inexact(b.type->dtype) ? b.type->dtype : t->dtype));
    return made(both, b.type->ndim, code("py::solve<{}>({}, {})", cpp(both), a.text, b.text));
  }
  Made inverse() {
    if (!takes(1)) return std::nullopt;
    const Value a = matrix_of_floats_at(0);
    return made(float_type(a), 2, code("py::inverse<{}>({})", cpp(float_type(a)), a.text));
  }
  Made determinant() {
    if (!takes(1)) return std::nullopt;
    const Value a = matrix_of_floats_at(0);
    return Value::called(float_type(a), code("py::determinant<{}>({})", cpp(float_type(a)), a.text));
  }

  // ---- comparisons

  Made array_equal() { return takes(2) ? Made(c_.same_elements(p_[0], p_[1], n_)) : std::nullopt; }
  Made close() {
    if (!takes(2) || (!p_[0].is_array() && !p_[1].is_array())) return std::nullopt;
    const Value a = c_.materialise(p_[0], n_), b = c_.materialise(p_[1], n_);
    const auto options = bind({"a", "b", "rtol", "atol", "equal_nan"});
    const auto number = [&](size_t i, Type t, const char* otherwise) {
      return given(options[i]) ? c_.spill(c_.converted(options[i], t, n_)).text : Code(otherwise);
    };
    const auto complex = [](const Value& v) { return is_complex((v.is_array() ? v.type->element : v.type)->dtype); };
    const Type wide = complex(a) || complex(b) ? scalar_type(DType::c128) : float64_type();
    const Code r = number(2, float64_type(), "1e-5"), t = number(3, float64_type(), "1e-8"), q = number(4, bool_type(), "false");
    const Value equal = c_.lift(
        {a.is_array() ? c_.bound(a) : a, b.is_array() ? c_.bound(b) : b},
        [&c = c_, n = n_, wide, r, t, q](std::span<const Value> x) {
          return Value::of(bool_type(),
                           code("py::is_close({}, {}, {}, {}, {})", c.convert(x[0], wide, n), c.convert(x[1], wide, n), r, t, q));
        },
        n_);
    return is("isclose") ? equal : c_.host_reduction("all", equal, {}, n_);
  }

  const std::string f_;  ///< the name without its module
};

const Forms<HostCall::Form>& HostCall::forms() {
  using H = HostCall;
  static const Forms<Form>& known = forms_of<Form>({
      {&H::filled, {"zeros", "ones", "empty"}},
      {&H::full, {"full"}},
      {&H::like, {"zeros_like", "ones_like", "empty_like", "full_like"}},
      {&H::arange, {"arange"}},
      {&H::linspace, {"linspace"}},
      {&H::eye, {"eye", "identity"}},
      {&H::array, {"array", "asarray", "ascontiguousarray", "copy"}},
      {&H::reduced, {"sum", "prod", "min", "max", "amin", "amax", "mean", "var", "std", "any", "all", "argmin", "argmax", "count_nonzero"}},
      {&H::reduced_without_nan, {"nansum", "nanmean", "nanmin", "nanmax"}},
      {&H::median, {"median"}},
      {&H::cumulative, {"cumsum", "cumprod"}},
      {&H::sorted, {"sort", "argsort"}},
      {&H::diff, {"diff"}},
      {&H::partition, {"partition"}},
      {&H::unique, {"unique"}},
      {&H::bincount, {"bincount"}},
      {&H::searchsorted, {"searchsorted"}},
      {&H::as_strided, {"as_strided"}},
      {&H::sliding_window_view, {"sliding_window_view"}},
      {&H::method, {"reshape", "ravel", "nonzero"}},
      {&H::transpose, {"transpose"}},
      {&H::shape, {"shape"}},
      {&H::size, {"size"}},
      {&H::ndim, {"ndim"}},
      {&H::expand_dims, {"expand_dims"}},
      {&H::flip, {"flip"}},
      {&H::axes, {"moveaxis", "swapaxes", "rollaxis", "squeeze", "isscalar", "iscomplexobj", "isrealobj", "iscomplex", "isreal"}},
      {&H::joined, {"concatenate", "hstack", "vstack", "stack"}},
      {&H::append, {"append"}},
      {&H::repeat, {"repeat"}},
      {&H::flatnonzero, {"flatnonzero"}},
      {&H::where, {"where"}},
      {&H::take, {"take"}},
      {&H::product, {"dot", "vdot", "matmul"}},
      {&H::outer, {"outer"}},
      {&H::trace, {"trace"}},
      // A function tells its own name, not its module's.
      {&H::norm, {"linalg.norm", "norm"}},
      {&H::solve, {"linalg.solve", "solve"}},
      {&H::inverse, {"linalg.inv", "inv"}},
      {&H::determinant, {"linalg.det", "det"}},
      {&H::array_equal, {"array_equal"}},
      {&H::close, {"allclose", "isclose"}},
  });
  return known;
}

namespace {

/// Tells whether the first argument is a list that nobody else knows, whose memory may become an array's.
bool is_new_list(const CallArguments& args) {
  const Node* made = args.nodes.empty() ? nullptr : args.nodes[0];
  return made && made->kind == NodeKind::comprehension && made->text == "list";
}

}  // namespace

/// numpy.array of a list of rows: lists, tuples or vectors of numbers.
std::optional<Value> FunctionCompiler::array_of_rows(const CallArguments& args, const Node* n) {
  const Value& list = args.positional[0];
  const Type row = list.type->element;
  const bool rows = row && ((row->is(Kind::list) && row->element && row->element->is_scalar()) ||
                            (row->is_uniform() && row->items[0]->is_scalar()) || (row->is(Kind::array) && row->ndim == 1));
  const bool typed = args.positional.size() + args.keywords.size() == 2;
  if (!rows || is_incomplete(row) || args.positional.size() > 2 ||
      (!args.keywords.empty() && !(typed && args.keywords[0].first == "dtype")))
    return std::nullopt;
  const Value given = !typed ? Value{} : args.keywords.empty() ? args.positional[1] : args.keywords[0].second;
  const Type element = row->is_uniform() ? row->items[0] : row->element, dtype = host_dtype(given, element, n);
  const Value made = Value::called(array_type(element, 2, 'C'), code("py::array_of_rows({})", list.text));
  return dtype == element ? made : materialise(cast_to(dtype, bound(made), n), n);
}

std::optional<Value> FunctionCompiler::host_builtin(const std::string& name, const CallArguments& args, const Node* n) {
  if (name == "builtins.print") {
    unit_.prints = true;
    return host_print(args, n);
  }
  if (name.starts_with("numba.")) return host_numba(name, args, n);
  const bool python_random = name.starts_with("random.");
  if (!python_random && !name.starts_with("numpy.")) return std::nullopt;
  if (!python_random && !args.positional.empty() && args.positional[0].is(Kind::list)) {
    const Value& list = args.positional[0];
    const bool makes = name == "numpy.array" || name == "numpy.asarray";
    if (list.type->element && list.type->element->is_scalar()) {
      // A list is worked on as the vector of its elements.
      CallArguments as_array = args;
      as_array.positional[0] = list_array(list);
      if (makes)
        std::erase_if(as_array.keywords, [&](const auto& given) {
          const bool* copies = given.first == "copy" && given.second.constant ? given.second.constant->boolean() : nullptr;
          if (copies && !*copies) fail(n, "copy=False: a list becomes an array by a copy", {}, "leave copy out");
          return given.first == "copy";
        });
      if (makes && args.positional.size() == 1 && args.keywords.empty() && is_new_list(args)) return as_array.positional[0];
      return host_builtin(makes ? "numpy.array" : name, as_array, n);
    }
    if (makes)
      if (auto rows = array_of_rows(args, n)) return rows;
  }
  unit_.need("host_numpy");
  if (python_random) return host_random(name, true, args, n);
  if (auto made = HostCall(*this, name, args, n).make()) return made;
  return host_random(name.substr(6), false, args, n);
}

}  // namespace bc::kernels
