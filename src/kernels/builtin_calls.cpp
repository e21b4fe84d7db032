// Functions with rules of their own: Python's built-in functions, and those of math, operator, numba and cuda that no row describes.
#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "kernels/named_call.h"
#include "primitives/ops.h"

namespace bc::kernels {

class BuiltinCall : NamedCall {
 public:
  BuiltinCall(FunctionCompiler& c, const std::string& name, CallArguments args, const Node* n) : NamedCall(c, name, std::move(args), n) {}

  Made make() {
    if (const auto op = operators().find(name_); op != operators().end()) return operation_of(op->second);
    if (Made made = c_.host() ? by(container_forms()) : std::nullopt) return made;
    return by(forms());
  }

  using Form = Made (BuiltinCall::*)();
  static const Forms<Form>& forms();
  static const Forms<Form>& container_forms();
  static const std::unordered_map<std::string_view, Operator>& operators();

 private:
  Made by(const Forms<Form>& table) {
    const auto form = table.find(name_);
    return form == table.end() ? std::nullopt : (this->*form->second)();
  }
  void need(size_t low, size_t high) const {
    if (p_.size() >= low && p_.size() <= high && args_.keywords.empty()) return;
    fail(fmt::format("{}() takes {}{} argument{}, got {}", name_.starts_with("builtins.") ? plain_name() : name_, low,
                     high > low ? fmt::format(" to {}", high) : "", high == 1 ? "" : "s", spelled(args_)),
         {}, is("cuda.grid") || is("cuda.gridsize") ? name_ + "(1), (2) or (3): the grid's dimensions" : "");
  }
  [[noreturn]] void refuse(std::string suggestion = {}) const {
    fail(fmt::format("{}() does not take {}", plain_name(), p_[0].type->spelling), {}, std::move(suggestion));
  }
  Value elementwise(Op op, const std::vector<Value>& values) const { return c_.elementwise(static_cast<int>(op), values, n_); }
  /// A tuple whose items can be asked for one by one.
  Value itemised(const Value& tuple) const { return tuple.items.empty() && !tuple.simple ? c_.spill(tuple) : tuple; }
  static Value count(Code text) {
    Value r = Value::of(int64_type(), std::move(text));
    r.index = r.non_negative = true;
    return r;
  }

  // ---- Python's functions

  Made range() {
    // How often CuPy's range is unrolled is left to the compiler.
    if (is("cupyx.range")) std::erase_if(args_.keywords, [](const auto& given) { return given.first == "unroll"; });
    need(1, 3);
    bool unsigned_all = true, any_unsigned = false;
    for (const Value& x : p_) {
      if (!is_number(x) || is_inexact(x.type->dtype))
        fail(fmt::format("range() takes integers, got {}", spelled(args_)), {}, "convert with int()");
      const bool u64 = x.is_scalar() && x.type->dtype == DType::u64;
      any_unsigned |= u64;
      unsigned_all &= x.is_scalar() && (u64 || (x.integer() && *x.integer() >= 0));
    }
    if (takes(3) && c_.host() && !p_[2].integer()) {
      if (!p_[2].simple) p_[2] = c_.spill(p_[2], "step");
      c_.fail_if(code("{} == 0", c_.paren(p_[2])), "ValueError", "range() arg 3 must not be zero", n_);
    }
    Value v;
    v.type = range_type(any_unsigned && unsigned_all ? DType::u64 : DType::i64);
    v.items = {takes(1) ? whole(0) : p_[0], takes(1) ? p_[0] : p_[1], takes(3) ? p_[2] : whole(1)};
    c_.unit_.need("core");
    const auto bound = [&](size_t i) { return c_.convert(v.items[i], int64_type(), n_); };
    v.text = code("py::Range{{{}, {}, {}}}", bound(0), bound(1), bound(2));
    v.note(kReads);
    return v;
  }
  Made abs() {
    need(1, 1);
    if (const auto known = p_[0].integer(); known && *known != INT64_MIN && p_[0].type->dtype == DType::i64)
      return whole(std::llabs(*known));
    return elementwise(Op::abs, p_);
  }
  Made len() {
    need(1, 1);
    const Value& v = p_[0];
    if (v.is(Kind::tuple)) return whole(static_cast<int64_t>(v.type->items.size()));
    if (v.is(Kind::string)) {
      const std::string& s = v.type->name;  // in UTF-8: the bytes that begin a character are counted
      return whole(std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
    }
    if (v.is(Kind::list)) return count(code("{}.size()", c_.paren(v)).with(kReads));
    if (v.is(Kind::builtin) && v.type->name == "flat") return c_.attribute_of(v.items[0], "size", n_);
    if (v.is_array() && v.type->ndim > 0) {
      c_.note_read(args_.nodes[0]);
      Value r = count(code("{}.shape[0]", c_.paren(c_.bound(v.lazy ? c_.materialise(v, n_) : v))));
      r.simple = true;
      return r;
    }
    if (v.is(Kind::range)) return count(c_.iteration(v, n_)->length);
    refuse();
  }
  Made extreme() { return c_.min_max(is("builtins.max"), args_, n_); }
  Made round() {
    const bool python = is("builtins.round");
    for (const auto& [key, v] : std::exchange(args_.keywords, {})) {
      if (key != "decimals" && key != "ndigits") fail(fmt::format("{}() takes no argument '{}' in compiled functions", name_, key));
      p_.push_back(v);
    }
    need(1, 2);
    if (python) {
      if (p_[0].is_scalar() && is_complex(p_[0].type->dtype)) fail("round() does not take complex numbers", {}, "use numpy.round");
      if (p_[0].type == bool_type()) p_[0] = c_.converted(p_[0], int64_type(), n_);
      if (p_[0].is_array()) refuse("use numpy.round");
      return c_.round_call(args_, n_);
    }
    const Type element = p_[0].is_array() ? p_[0].type->element : p_[0].type;
    if (element == bool_type()) fail(fmt::format("{}() does not take {}", name_, p_[0].type->spelling));
    // Integers stay what they are, in a new array.
    if (takes(1) && p_[0].is_array() && element->is_scalar() && is_integer(element->dtype)) return copied();
    if (takes(1) && p_[0].is(Kind::literal)) return p_[0];
    if (takes(1) && (!element->is_scalar() || is_inexact(element->dtype))) return elementwise(Op::rint, p_);
    return c_.round_call(args_, n_);
  }
  Value copied() const {
    return c_.lift({p_[0]}, [](std::span<const Value> x) { return x[0]; }, n_);
  }
  Made print() { return c_.print_call(args_, n_); }
  /// Evaluates now an operand that a later loop walks over.
  Made side_by_side() {
    Value v = Value::known(builtin_type(name_.substr(name_.rfind('.') + 1)));
    v.items = p_;
    if (is("numba.literal_unroll")) need(1, 1);
    if (p_.empty()) fail("zip() needs something to go through");
    for (const auto& [key, strict] : args_.keywords) {
      const bool* known = strict.constant ? strict.constant->boolean() : nullptr;
      if (!known) fail("zip(): strict must be known when the function is compiled");
      if (*known && !c_.host()) fail("zip(strict=True) is not supported in kernels: compare the lengths");
      if (*known) v.type = builtin_type("zip_strict");
    }
    for (Value& item : v.items)
      if (item.is_array() && !item.lazy) item = c_.bound(item);
    return v;
  }
  Made reversed() {
    need(1, 1);
    const Value& r = p_[0];
    if (r.is(Kind::range) && r.items.size() == 3 && r.items[2].integer() == 1) {
      Value v = r;
      v.items = {c_.binary(Operator::sub, r.items[1], whole(1), n_), c_.binary(Operator::sub, r.items[0], whole(1), n_), whole(-1)};
      v.type = range_type(DType::i64);
      return v;
    }
    if (!r.is(Kind::tuple)) refuse();
    std::vector<Value> items;
    const Value all = itemised(r);
    for (size_t i = r.type->items.size(); i-- > 0;) items.push_back(c_.tuple_item(all, i));
    return c_.tuple_of(std::move(items));
  }
  Made pow() {
    for (const auto& [key, v] : std::exchange(args_.keywords, {}))
      if (!v.is_none()) p_.push_back(v);
    need(2, 3);
    if (takes(2) || p_[2].is_none()) return c_.binary(Operator::pow, p_[0], p_[1], n_);
    if (!c_.host()) fail("pow() with a modulus is not supported in kernels: write the loop of squares and products modulo m");
    const auto number = [&](size_t i) { return c_.whole_number(p_[i], "an operand of pow() with a modulus", n_); };
    return Value::called(int64_type(), code("py::power_modulo({}, {}, {})", number(0), number(1), number(2)));
  }
  Made divmod() {
    need(2, 2);
    const Value a = c_.spill(p_[0]), b = c_.spill(p_[1]);
    return c_.tuple_of({c_.binary(Operator::floor_div, a, b, n_), c_.binary(Operator::mod, a, b, n_)});
  }
  Made tuple() {
    need(0, 1);
    if (p_.empty()) return c_.tuple_of({});
    if (!p_[0].is(Kind::tuple)) refuse("the number of a tuple's items is part of its type: write them out, or keep the list or array");
    if (!p_[0].is_mixed_list()) return p_[0];
    // A list whose items are known.
    std::vector<Value> items;
    const Value all = itemised(p_[0]);
    for (size_t i = 0; i < all.type->items.size(); ++i) items.push_back(c_.tuple_item(all, i));
    return c_.tuple_of(std::move(items));
  }
  /// The sum of a vector of floats as Python's sum() rounds it: from the start on, one after the other.
  Value sum_in_order(const Value& a) {
    const Value start = takes(2) ? p_[1] : whole(0);
    const Type t = takes(2) ? c_.binary(Operator::add, start, Value::of(a.type->element, "x"), n_).type : a.type->element;
    if (!t || !t->is_scalar()) refuse();
    return Value::called(t, code("py::sum_in_order({}, {})", a.text, c_.convert(start, t, n_)));
  }
  Made fold() {
    need(1, 2);
    const std::string what = plain_name();
    const Value& v = p_[0];
    const bool sum = what == "sum";
    if (v.is_array()) {
      if (v.type->ndim == 0 || (v.type->ndim > 1 && !(sum && c_.host())))
        fail(fmt::format("{}() does not take {}", what, v.type->spelling), shown(0), fmt::format("use numpy.{}", what));
      if (sum && c_.host() && v.type->ndim == 1 && v.type->element->is_scalar() && is_inexact(v.type->dtype))
        return sum_in_order(c_.host_array(v, n_));
      // Python adds the rows up.
      const Value r = v.type->ndim > 1 ? c_.host_reduction(what, v, {{}, {}, {{"axis", whole(0)}}}, n_) : c_.reduction(what, v, n_);
      return takes(2) ? c_.binary(Operator::add, p_[1], r, n_) : r;
    }
    if (!v.is(Kind::tuple)) refuse();
    const Value all = itemised(v);
    Value r = !sum ? constant(Constant{what == "all"}) : takes(2) ? p_[1] : whole(0);
    for (size_t i = 0; i < v.type->items.size(); ++i) {
      const Value item = c_.tuple_item(all, i);
      r = sum ? c_.binary(Operator::add, r, item, n_)
              : Value::of(bool_type(), operation(r.text, what == "all" ? "&&" : "||", c_.truth(item, n_).text));
    }
    return r;
  }
  Made slice() {
    need(1, 3);
    const Value none = Value::known(none_type());
    return c_.slice_of({takes(1) ? none : p_[0], takes(1) ? p_[0] : p_[1], takes(3) ? p_[2] : none}, n_);
  }
  Made attribute() {
    const bool asks = is("builtins.hasattr");
    need(2, asks ? 2 : 3);
    if (!p_[1].is(Kind::string)) fail(fmt::format("{}() needs a name that is known when it is compiled", plain_name()));
    Value found;
    bool there = true;
    const Block lines = c_.captured([&] {
      try {
        found = c_.attribute_of(p_[0], p_[1].type->name, n_);
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::Typing || (!asks && takes(2))) throw;
        there = false;
      }
    });
    if (asks) return constant(Constant{there});
    if (!there) return p_[2];
    c_.out_ += lines;
    return found;
  }
  Made isinstance() {
    need(2, 2);
    if (!p_[0].is(Kind::optional)) return constant(Constant{is_instance(p_[0], p_[1])});
    const bool value = is_instance(Value::of(p_[0].type->element, ""), p_[1]), none = is_instance(Value::known(none_type()), p_[1]);
    if (value == none) return constant(Constant{value});
    return Value::of(bool_type(), value ? code("{}.there", c_.paren(p_[0])) : code("!{}.there", c_.paren(p_[0])));
  }
  /// Only what is a class here has an answer: of others (abstract classes of collections, say) this code would not know.
  bool is_instance(const Value& v, const Value& cls) const {
    if (cls.is(Kind::tuple)) {
      // All are looked at, so that what is no class is refused wherever it stands.
      bool found = false;
      for (const Value& c : cls.items) found = is_instance(v, c) || found;
      return found;
    }
    const std::string& name = cls.type->name;
    if (cls.is(Kind::builtin)) {
      if (name == "builtins.tuple") return v.is(Kind::tuple) && !v.is_mixed_list();
      if (name == "builtins.slice") return v.is(Kind::slice);
      if (name == "builtins.range") return v.is(Kind::range);
      if (name == "builtins.type") return v.is(Kind::dtype) || v.is(Kind::type);
      for (const std::string_view made : {"enumerate", "zip", "reversed", "map", "filter"})
        if (name == fmt::format("builtins.{}", made))
          return v.is(Kind::builtin) && (v.type->name == made || (made == "zip" && v.type->name == "zip_strict"));
      if (name == "numpy.dtype") return false;
      if (name == "typed.List" || name == "typed.Dict") return v.is(name == "typed.Dict" ? Kind::dict : Kind::list) && v.type->typed;
    }
    if (v.is(Kind::time)) {
      const bool own =
          cls.is(Kind::dtype) && cls.type->element->is(Kind::time) && is_datetime(cls.type->element->dtype) == is_datetime(v.type->dtype);
      return own ||
             (cls.is(Kind::type) && (name == "generic" || name == "object" ||
                                     (name == "signedinteger" || name == "integer" || name == "number") && is_timedelta(v.type->dtype)));
    }
    const bool number = is_number(v);
    const DType d = v.is_scalar() ? v.type->dtype : DType::i64;
    if (cls.is(Kind::dtype))
      return number && (d == cls.type->element->dtype || (name == "int" && (is_integer(d) || is_bool(d))) ||
                        (name == "float" && is_real_float(d)) || (name == "complex" && is_complex(d)));
    if (!cls.is(Kind::type) || name.starts_with("collections."))
      fail(fmt::format("isinstance() does not take {} as a class", cls.type->spelling));
    if (name == "object") return true;
    if (v.type->object) return cls.type->object == v.type->object;
    if (number) {
      const bool real = !is_complex(d), whole = is_integer(d);
      if (name == "integer" || name == "signedinteger" || name == "unsignedinteger")
        return whole && (name == "integer" || is_signed_int(d) == (name == "signedinteger"));
      if (name == "numbers.Integral" || name == "numbers.Rational") return whole || is_bool(d);
      return (name == "inexact" && is_inexact(d)) || (name == "floating" && is_real_float(d)) || (name == "complexfloating" && !real) ||
             (name == "number" && !is_bool(d)) || name == "generic" || name == "numbers.Number" || name == "numbers.Complex" ||
             (name == "numbers.Real" && real);
    }
    return (name == "tuple" && v.is(Kind::tuple)) || (name == "str" && (v.is(Kind::string) || v.is(Kind::text))) ||
           (name == "list" && ((v.is(Kind::list) && !v.type->typed) || (v.display && v.is(Kind::tuple)))) ||
           (name == "dict" && v.is(Kind::dict)) || (name == "set" && v.is(Kind::set)) || (name == "NoneType" && v.is_none()) ||
           (name == "bytes" && is_bytes(v.type)) || (name == "ndarray" && v.is_array() && !is_bytes(v.type));
  }
  Made type() {
    need(1, 1);
    if (p_[0].is(Kind::dtype)) return p_[0];
    if (p_[0].is_none() && is("builtins.type")) return Value::known(class_type(nullptr, "NoneType"));
    if (p_[0].is_scalar() && is("builtins.type")) return Value::known(dtype_type(p_[0].type));
    const Type named = p_[0].is(Kind::string) ? type_from_name(p_[0].type->name) : nullptr;
    if (!named) refuse();
    return Value::known(dtype_type(named));
  }

  // ---- the same of containers and texts, and functions that only those have: on the host

  Made typed_container() { return c_.call_container(plain_name(), args_, n_); }
  Made empty_container() {
    std::vector<Type> types;
    const auto names_type = [](const Value& v) { return v.is(Kind::dtype) || (v.is(Kind::type) && v.type->element); };
    for (const Value& v : p_) {
      const bool made = v.type && v.type->is_container();  // an empty one of the type that is meant
      if (!made && !names_type(v)) break;
      types.push_back(made ? v.type : v.type->element);
    }
    for (const char* key : {"item_type", "key_type", "value_type"})
      for (const auto& [keyword, v] : args_.keywords)
        if (keyword == key && names_type(v)) types.push_back(v.type->element);
    const bool list = is("typed.List.empty_list");
    if (types.size() < (list ? 1 : 2))
      fail(fmt::format("{} takes the type{} of what it will hold", name_, list ? "" : "s"), {},
           "write types.int64, types.unicode_type, types.float64[:]");
    Value r;
    r.display = true;
    r.type = list ? list_type(types[0], true) : dict_type(types[0], types[1]);
    return c_.finished(r, n_);
  }
  Made iter() {
    if (!takes(1)) return std::nullopt;
    return p_[0].is(Kind::generator) ? p_[0] : c_.call_python(name_, args_, n_);
  }
  Made next() {
    if (!(takes(1) || takes(2)) || !p_[0].is(Kind::generator)) return std::nullopt;
    if (takes(1)) return Value::called(p_[0].type->element, code("{}.next_value()", c_.paren(p_[0])));
    const Type t = unify(p_[0].type->element, stored_type(p_[1].type));
    if (!t)
      fail("next(): the generator's values and the default are of types that do not unify",
           {{c_.source_of(args_.nodes[0]), p_[0].type}, {c_.source_of(args_.nodes[1]), p_[1].type}});
    const Value g = p_[0].simple ? p_[0] : c_.spill(p_[0], "g"), item = Value::fetched(g.type->element, code("{}.value()", g.text));
    return Value::called(t, choice(code("{}.next()", g.text), c_.convert(item, t, n_), c_.convert(p_[1], t, n_)));
  }
  Made len_of_container() {
    if (p_.empty()) return std::nullopt;
    const Value& v = p_[0];
    if (is_characters(v.type) || read_from_characters(v))
      return count(code("{}.length()", c_.paren(v.is(Kind::text) ? v.items[0] : v)).with(kReads));
    if (v.is(Kind::text)) return count(code("{}.length", c_.paren(v)).with(kReads));
    Value c = v.is(Kind::builtin) && v.type->name.starts_with("dict.") ? v.items[0] : v;
    if (c.display && !c.is(Kind::tuple)) c = c_.finished(c, n_);
    if (!c.type->is_container()) return std::nullopt;
    return count((is_incomplete(c.type) ? Code("0") : code("{}.size()", c_.paren(c))).with(kReads));
  }
  Made sorted() {
    if (p_.empty()) return std::nullopt;
    if (!takes(1)) fail("sorted() takes one iterable");
    if (p_[0].is_array() && p_[0].type->ndim != 1) refuse("use numpy.sort");
    Value l = c_.list_from(p_[0], n_);
    if (!l.type || is_incomplete(l.type)) return l;
    l = c_.spill(l, "sorted");
    c_.sort_list(l, args_, n_);
    return l;
  }
  Made map() {
    if (p_.size() < 2) return std::nullopt;
    Value r = Value::known(builtin_type("map"));
    r.items = p_;
    for (size_t i = 1; i < r.items.size(); ++i)
      if (r.items[i].is_array()) r.items[i] = c_.bound(c_.materialise(r.items[i], n_));
    return r;
  }
  Made filter() { return takes(2) ? Made(c_.collected("list", p_[1], &p_[0], n_)) : std::nullopt; }
  Made reversed_sequence() {
    if (p_.empty() || !(p_[0].is(Kind::list) || p_[0].is_array() || p_[0].is(Kind::string) || p_[0].is(Kind::text))) return std::nullopt;
    if (p_[0].is(Kind::list) && is_incomplete(p_[0].type)) return p_[0];
    if (p_[0].is(Kind::list) && !p_[0].display && c_.walked_calls_.contains(n_)) {
      Value live = Value::known(builtin_type("reversed"));  // the list as it is in each turn
      live.items = {p_[0].simple ? p_[0] : c_.spill(p_[0], "l")};
      if (n_->b) live.items.push_back(c_.expression(n_->b));
      return live;
    }
    Value back = Value::whole_slice();
    back.items[2] = whole(-1);
    return c_.subscript_of(p_[0].is_array() ? c_.bound(c_.materialise(p_[0], n_)) : p_[0], back, n_);
  }
  Made hash() {
    if (!takes(1)) return std::nullopt;
    const Value& v = p_[0];
    if ((v.is_array() && !is_bytes(v.type)) || v.type->is_container() || v.display || v.is(Kind::instance) ||
        !(v.type->has_value() || v.is(Kind::string) || v.is(Kind::literal)))
      fail(fmt::format("hash() does not take {}", v.type->spelling), {{c_.source_of(n_), v.type}});
    return Value::called(int64_type(), code("py::python_hash({})", c_.convert(c_.made(v, nullptr, n_), stored_type(v.type), n_)));
  }
  Made ord() {
    if (!takes(1)) return std::nullopt;
    return Value::called(int64_type(), code("py::code_of({})", c_.convert(p_[0], text_type(), n_)));
  }
  Made chr() {
    if (!takes(1)) return std::nullopt;
    return Value::called(text_type(), code("py::character_of({})", c_.whole_number(p_[0], "chr()'s number", n_)));
  }
  Made repr() {
    if (!takes(1)) return std::nullopt;
    if (Made arrays = c_.text_of_arrays(p_[0], "builtins.repr", n_)) return arrays;
    return Value::called(text_type(), code("py::repr_of({})", c_.text_operand(p_[0], n_)));
  }
  static bool is_sequence(const Value& v) { return v.is(Kind::text) || v.is(Kind::string) || v.is(Kind::tuple) || v.is(Kind::list); }
  Made format() {
    if (!takes(1) && !takes(2)) return std::nullopt;
    return c_.text_of_parts({{"", p_[0], 0, takes(2) ? p_[1] : Value()}}, n_);
  }
  Made in_base() {
    if (!takes(1)) return std::nullopt;
    const Value number = Value::of(int64_type(), c_.whole_number(p_[0], "this number", n_));
    const char* const spec = is("builtins.hex") ? "#x" : is("builtins.oct") ? "#o" : "#b";
    return c_.text_of_parts({{"", number, 0, constant(Constant{std::string(spec)})}}, n_);
  }
  /// min and max with `key` or `default`: of the items' keys the first that is best tells the item.
  Made chosen() {
    Value key, otherwise;
    for (auto it = args_.keywords.begin(); it != args_.keywords.end();) {
      if (it->first == "key" && given(it->second)) key = it->second;
      if (it->first == "default") otherwise = it->second;
      it = it->first == "key" || it->first == "default" ? args_.keywords.erase(it) : it + 1;
    }
    if ((!key.type && !otherwise.type) || p_.empty()) return std::nullopt;
    if (otherwise.type && !takes(1)) fail(fmt::format("{}() takes a default with one iterable only", plain_name()));
    Value items = p_[0];
    if (!takes(1)) {
      items = c_.tuple_of(p_);
      items.display = true;
    }
    Value l = c_.list_from(items, n_);
    if (is_incomplete(l.type)) return l.type && otherwise.type ? otherwise : Value{};
    l = c_.spill(l, "items");
    Value keys = l;
    if (key.type) {
      Value each = Value::known(builtin_type("map"));
      each.items = {key, l};
      keys = c_.collected("list", each, nullptr, n_);
      if (!keys.type) return Value{};
    }
    c_.expect_order(keys.type->element, n_);
    const Type t = l.type->element;
    Value best =
        Value::called(t, code("{0}.data()[py::extreme_place<{1}>({2}.data(), {2}.size())]", l.text, is("builtins.max"), keys.text));
    if (!otherwise.type) return best;
    const Type both = unify(t, stored_type(otherwise.type));
    if (!both)
      fail(fmt::format("{}(): the values and the default are of types that do not unify", plain_name()),
           {{c_.source_of(args_.nodes[0]), p_[0].type}, {"the default", otherwise.type}});
    return Value::called(both, choice(code("{}.size() == 0", l.text), c_.convert(otherwise, both, n_), c_.convert(best, both, n_)));
  }
  /// sum, min, max, any and all of a list, or of what becomes one.
  Made fold_container() {
    const std::string what = plain_name();
    const bool extreme = what == "min" || what == "max";
    if (extreme)
      if (Made by_key = chosen()) return by_key;
    if (extreme && p_.size() > 1 && std::any_of(p_.begin(), p_.end(), is_sequence)) {
      p_ = {c_.tuple_of(p_)};
      p_[0].display = true;
    }
    if (!takes(1) && !(takes(2) && what == "sum")) return std::nullopt;
    Value l = p_[0];
    if (extreme && l.is(Kind::tuple) && std::any_of(l.items.begin(), l.items.end(), is_sequence)) l = c_.list_from(l, n_);
    const bool lazy = l.is(Kind::generator) || (l.is(Kind::builtin) && l.type->name == "map");
    if (lazy && (what == "any" || what == "all")) return c_.tested(what == "any", l, [](const Value& item) { return item; }, n_);
    const bool view = l.is(Kind::generator) || (l.is(Kind::builtin) && (l.type->name.starts_with("dict.") || l.type->name == "map"));
    const bool text = l.is(Kind::text) || l.is(Kind::string);
    if (view || l.is(Kind::set) || l.is(Kind::dict) || l.is(Kind::range) || text) l = c_.list_from(l, n_);
    if (!l.type) return Value{};
    if (!l.is(Kind::list)) return std::nullopt;
    if (is_incomplete(l.type)) return Value{};
    l = l.simple ? l : c_.spill(l);
    if (extreme) c_.expect_order(l.type->element, n_);
    if (extreme) return Value::called(l.type->element, code("py::extreme<{}>({})", what == "max", l.text));
    if (!l.type->element->is_scalar()) fail(fmt::format("{}() does not take {}", what, l.type->spelling));
    if (what == "sum" && is_inexact(l.type->element->dtype)) return sum_in_order(c_.list_array(l));
    const Value r = c_.host_reduction(what, c_.list_array(l), {}, n_);
    return takes(2) ? c_.binary(Operator::add, p_[1], r, n_) : r;
  }

  // ---- math

  Value real(size_t i) const { return c_.math_operand(name_, p_[i], false, args_.nodes[i], n_); }
  Made log() {
    if (!takes(2)) return std::nullopt;
    const Value a = elementwise(Op::log, {real(0)}), b = elementwise(Op::log, {real(1)});
    return c_.binary(Operator::div, a, b, n_);
  }
  Made hypot() {
    if (p_.size() <= 2) return std::nullopt;
    // Two by two: the squares of large numbers do not fit.
    Value s = real(0);
    for (size_t i = 1; i < p_.size(); ++i) s = elementwise(Op::hypot, {s, real(i)});
    return s;
  }
  Made two_parts() {
    need(1, 1);
    const Value x = c_.spill(real(0));
    const bool modf = is("math.modf");
    const Value second = elementwise(modf ? Op::modf_integer : Op::frexp_exponent, {x});
    return c_.tuple_of({elementwise(modf ? Op::modf_fraction : Op::frexp_mantissa, {x}), second});
  }
  Made two_arrays() {
    if (!c_.host()) return std::nullopt;
    need(1, 1);
    const Value x = c_.bound(c_.materialise(c_.call_builtin("numpy.asarray", {{p_[0]}, {n_}, {}}, n_), n_), "x");
    const bool modf = is("numpy.modf");
    const auto part = [&](Op op) { return c_.materialise(elementwise(op, {x.type->ndim == 0 ? c_.scalar_of(x, n_) : x}), n_); };
    const Value first = part(modf ? Op::modf_fraction : Op::frexp_mantissa);
    return c_.tuple_of({first, part(modf ? Op::modf_integer : Op::frexp_exponent)});
  }
  Made whole_divisors() { return c_.whole_divisors(name_, args_, n_); }

  // ---- numpy

  Made where() {
    need(3, 3);
    return elementwise(Op::where, p_);
  }
  Made part() {
    if (!c_.host() || !takes(1) || !p_[0].is_array() || p_[0].lazy || p_[0].type->ndim == 0) return std::nullopt;
    return c_.array_attribute(c_.bound(p_[0]), plain_name(), n_);
  }
  Made clip() {
    const Value none = Value::known(none_type());
    if (p_.empty() || p_.size() > 3)
      fail(fmt::format("clip() takes an array or a number and two bounds by position, got {}", spelled(args_)));
    bool both[2] = {p_.size() > 1, p_.size() > 2};  // a_min and a_max are given together or not at all
    p_.resize(3, none);
    for (const auto& [key, v] : std::exchange(args_.keywords, {})) {
      if (key != "a_min" && key != "a_max" && key != "min" && key != "max")
        fail(fmt::format("clip() takes no argument '{}' in compiled functions", key));
      Value& bound = p_[key == "a_max" || key == "max" ? 2 : 1];
      if (key.starts_with("a_")) both[key == "a_max"] = true;
      if (!bound.is_none()) fail("clip() got two values for one bound");
      bound = v;
    }
    if (both[0] != both[1])
      fail(fmt::format("clip() needs an argument for '{}'", both[0] ? "a_max" : "a_min"), {}, "name the one bound as min= or max=");
    if (p_[1].is_none() && p_[2].is_none()) {
      if (p_[0].type == bool_type() || (p_[0].is_array() && p_[0].type->element == bool_type()))
        fail("clip() of booleans needs a bound", shown(0), "convert with astype() first");
      return p_[0].is_array() && p_[0].type->ndim > 0 ? copied() : p_[0];
    }
    if (p_[1].is_none()) return elementwise(Op::minimum, {p_[0], p_[2]});
    if (p_[2].is_none()) return elementwise(Op::maximum, {p_[0], p_[1]});
    return elementwise(Op::clip, p_);
  }
  Made reduction() {
    if (c_.host() || p_.empty() || !p_[0].is_array()) return std::nullopt;
    need(1, 1);
    return c_.reduction(is("numpy.amin") ? "min" : is("numpy.amax") ? "max" : plain_name(), p_[0], n_);
  }

  // ---- kernels

  Made grid() {
    need(1, 1);
    const auto dims = p_[0].integer();
    if (!dims || *dims < 1 || *dims > 3) fail(fmt::format("{} takes 1, 2 or 3, known when the kernel is compiled", name_), shown(0));
    c_.unit_.need("cuda");
    std::vector<Value> items;
    for (int64_t i = 0; i < *dims; ++i) items.push_back(count(code("py::{}_{}()", is("cuda.grid") ? "grid" : "grid_size", "xyz"[i])));
    return *dims == 1 ? items[0] : c_.tuple_of(std::move(items));
  }
  Made memory() {
    if (is("cupyx.shared_memory")) {
      // CuPy names the dtype first.
      if (p_.size() >= 2) std::swap(p_[0], p_[1]);
      for (auto& [keyword, value] : args_.keywords)
        if (keyword == "size") keyword = "shape";
      // None stands for the bytes that the launch gives, as no elements do.
      const auto given_by_launch = [&](Value& extent) {
        if (extent.is_none()) extent = whole(0);
      };
      if (!p_.empty()) given_by_launch(p_[0]);
      for (auto& [keyword, value] : args_.keywords)
        if (keyword == "shape") given_by_launch(value);
    }
    return c_.make_array(is("cuda.local.array") ? "local" : "shared", args_, n_);
  }
  Made constant_array() {
    need(1, 1);
    for (const Unit::Capture& c : c_.unit_.captures_)
      if (p_[0].text.is_name(c.text) && c.frozen) p_[0] = c_.entity_value(c.frozen(), c.array.name);  // what it holds now, as asked for
    if (!p_[0].is_array() || p_[0].type->space != Space::constant)
      fail("cuda.const.array_like takes an array that is known when the kernel is compiled", shown(0),
           "name a global array or one of the function around the kernel");
    constexpr size_t kConstantBytes = 64 << 10;
    if (const size_t bytes = c_.unit_.to_constant_memory(p_[0].text.facts()); bytes > kConstantBytes)
      fail(fmt::format("cuda.const.array_like: a kernel has {} bytes of constant memory, its arrays need {}", kConstantBytes, bytes),
           shown(0), "name the array without cuda.const.array_like, or pass it as an argument");
    return p_[0];
  }
  Made select() {
    need(3, 3);
    const Type t = unify(p_[1].type, p_[2].type);
    if (!t || !t->is_scalar()) fail(fmt::format("cuda.selp does not take {}", spelled(args_)));
    const Value test = c_.truth(p_[0], n_);
    Value r = Value::of(t, choice(test.text, c_.converted(p_[1], t, n_).text, c_.converted(p_[2], t, n_).text));
    r.note(kReads);
    return r;
  }
  Made array_behind() { return c_.array_behind(is("numba.farray"), args_, n_); }
  Made pointer() {
    need(1, 1);
    return c_.pointer_to(p_[0], n_);
  }
  Made this_grid() { return Value::known(builtin_type("cuda.cg.grid_group")); }
  Made literally() {
    need(1, 1);
    if (!p_[0].constant && !p_[0].type->is(Kind::literal) && p_[0].type->has_value()) c_.need_literal(args_.nodes[0], n_);
    return p_[0];
  }
  Made intrinsic() {
    fail(
        fmt::format("{}() is made of LLVM's instructions by extending.intrinsic, and compiled functions are C++ here", c_.source_of(n_->a)),
        {}, "write its body in Python (extending.overload), in CUDA C++ (cuda.declare_device with link=) or in C (a function of ctypes)");
  }

  // ---- operator

  Made operation_of(Operator op) {
    if (op == Operator::minus || op == Operator::plus || op == Operator::invert) return need(1, 1), c_.unary(op, p_[0], n_);
    need(2, 2);
    const bool tests =
        op == Operator::eq || op == Operator::ne || op == Operator::lt || op == Operator::le || op == Operator::gt || op == Operator::ge;
    return tests ? c_.compare_two(op, p_[0], p_[1], n_) : c_.binary(op, p_[0], p_[1], n_);
  }
  Made item() { return need(2, 2), c_.subscript_of(p_[0], p_[1], n_); }
  Made negation() {
    need(1, 1);
    const Value t = c_.truth(p_[0], n_);
    if (t.constant && t.constant->boolean()) return constant(Constant{!*t.constant->boolean()});
    return Value::of(bool_type(), "!" + c_.paren(t));
  }
};

const Forms<BuiltinCall::Form>& BuiltinCall::forms() {
  using B = BuiltinCall;
  static const Forms<Form>& known = forms_of<Form>({
      {&B::abs, {"builtins.abs"}},
      {&B::fold, {"builtins.all", "builtins.any", "builtins.sum"}},
      {&B::divmod, {"builtins.divmod"}},
      {&B::side_by_side, {"builtins.enumerate", "builtins.zip", "numba.literal_unroll"}},
      {&B::attribute, {"builtins.getattr", "builtins.hasattr"}},
      {&B::isinstance, {"builtins.isinstance"}},
      {&B::len, {"builtins.len"}},
      {&B::extreme, {"builtins.max", "builtins.min"}},
      {&B::pow, {"builtins.pow"}},
      {&B::print, {"builtins.print"}},
      {&B::range, {"builtins.range", "numba.prange", "cupyx.range"}},
      {&B::reversed, {"builtins.reversed"}},
      {&B::round, {"builtins.round", "numpy.around", "numpy.round"}},
      {&B::slice, {"builtins.slice"}},
      {&B::tuple, {"builtins.tuple"}},
      {&B::type, {"builtins.type", "numpy.dtype"}},
      {&B::this_grid, {"cuda.cg.this_grid"}},
      {&B::constant_array, {"cuda.const.array_like"}},
      {&B::pointer, {"cuda.ffi.from_buffer"}},
      {&B::grid, {"cuda.grid", "cuda.gridsize"}},
      {&B::memory, {"cuda.local.array", "cuda.shared.array", "cupyx.shared_memory"}},
      {&B::select, {"cuda.selp"}},
      {&B::two_arrays, {"numpy.frexp", "numpy.modf"}},
      {&B::two_parts, {"math.frexp", "math.modf"}},
      {&B::whole_divisors, {"math.gcd", "math.lcm"}},
      {&B::hypot, {"math.hypot"}},
      {&B::log, {"math.log"}},
      {&B::array_behind, {"numba.carray", "numba.farray"}},
      {&B::intrinsic, {"numba.intrinsic"}},
      {&B::literally, {"numba.literally"}},
      {&B::reduction,
       {"numpy.all",    "numpy.amax",   "numpy.amin",   "numpy.any",    "numpy.argmax",  "numpy.argmin", "numpy.count_nonzero",
        "numpy.max",    "numpy.mean",   "numpy.min",    "numpy.nanmax", "numpy.nanmean", "numpy.nanmin", "numpy.nanprod",
        "numpy.nanstd", "numpy.nansum", "numpy.nanvar", "numpy.prod",   "numpy.std",     "numpy.sum",    "numpy.var"}},
      {&B::clip, {"numpy.clip"}},
      {&B::part, {"numpy.imag", "numpy.real"}},
      {&B::where, {"numpy.where"}},
      {&B::item, {"operator.getitem"}},
      {&B::negation, {"operator.not_"}},
  });
  return known;
}

const Forms<BuiltinCall::Form>& BuiltinCall::container_forms() {
  using B = BuiltinCall;
  static const Forms<Form>& known = forms_of<Form>({
      {&B::typed_container, {"typed.List", "typed.Dict"}},
      {&B::empty_container, {"typed.List.empty_list", "typed.Dict.empty"}},
      {&B::iter, {"builtins.iter"}},
      {&B::next, {"builtins.next"}},
      {&B::len_of_container, {"builtins.len"}},
      {&B::sorted, {"builtins.sorted"}},
      {&B::map, {"builtins.map"}},
      {&B::filter, {"builtins.filter"}},
      {&B::reversed_sequence, {"builtins.reversed"}},
      {&B::format, {"builtins.format"}},
      {&B::hash, {"builtins.hash"}},
      {&B::in_base, {"builtins.bin", "builtins.hex", "builtins.oct"}},
      {&B::ord, {"builtins.ord"}},
      {&B::chr, {"builtins.chr"}},
      {&B::repr, {"builtins.repr"}},
      {&B::fold_container, {"builtins.sum", "builtins.min", "builtins.max", "builtins.any", "builtins.all"}},
  });
  return known;
}

const std::unordered_map<std::string_view, Operator>& BuiltinCall::operators() {
  static const auto& known = *new std::unordered_map<std::string_view, Operator>{
      // clang-format off
      {"operator.add", Operator::add},     {"operator.sub", Operator::sub},      {"operator.mul", Operator::mul},
      {"operator.matmul", Operator::matmul}, {"operator.truediv", Operator::div},
      {"operator.mod", Operator::mod},     {"operator.pow", Operator::pow},      {"operator.floordiv", Operator::floor_div},
      {"operator.and_", Operator::bit_and}, {"operator.or_", Operator::bit_or},  {"operator.xor", Operator::bit_xor},
      {"operator.lshift", Operator::left_shift}, {"operator.rshift", Operator::right_shift},
      {"operator.eq", Operator::eq},       {"operator.ne", Operator::ne},        {"operator.lt", Operator::lt},
      {"operator.le", Operator::le},       {"operator.gt", Operator::gt},        {"operator.ge", Operator::ge},
      {"operator.neg", Operator::minus},   {"operator.pos", Operator::plus},     {"operator.invert", Operator::invert},
      {"operator.inv", Operator::invert},
      // clang-format on
  };
  return known;
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  for (const auto& [name, form] : BuiltinCall::forms()) names.emplace_back(name);
  for (const auto& [name, form] : BuiltinCall::container_forms()) names.emplace_back(name);
  for (const auto& [name, op] : BuiltinCall::operators()) names.emplace_back(name);
  return names;
}

std::optional<Value> FunctionCompiler::builtin_with_rules(const std::string& name, const CallArguments& args, const Node* n) {
  return BuiltinCall(*this, name, args, n).make();
}

}  // namespace bc::kernels
