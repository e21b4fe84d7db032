// ndarray's operators.
#include <algorithm>
#include <cstring>

#include "array/other_dtypes.h"
#include "bind/convert.h"
#include "bind/program.h"
#include "bind/subclass.h"
#include "bind/waits.h"
#include "runtime/profiler.h"

namespace bc::bind {
namespace {

bool is_of_numpys(PyObject* x, PyObject* y) { return is_left_to_numpy(x) || is_left_to_numpy(y); }

/// The operator of such an operand with a copy of the other one on the host.
PyObject* operator_of_numpys(const char* name, PyObject* x, PyObject* y, const char* module = "operator") {
  const auto host = [](PyObject* o) { return is_array(o) ? to_numpy(array_of(o)) : PyRef::borrow(o); };
  return PyObject_CallFunctionObjArgs(import_attr(module, name).get(), host(x).get(), host(y).get(), nullptr);
}

/// Python's other operand is taken when it is an array, a number or something with memory to share; else Python tries its own operator.
bool push_pair(ArgList* args, PyObject* x, PyObject* y, bool inplace = false) {
  if (push_fast(args, x) && push_fast(args, y)) [[likely]]
    return true;
  if (!inplace && is_of_numpys(x, y)) return false;  // x += y only reads y
  const Device device = array_of(is_array(x) ? x : y).device();
  if (args->size() == 0 && !push_operand(args, x, device)) return false;
  return args->size() == 2 || push_operand(args, y, device);
}

/// The ufunc of an operator, where the other operand has an __array_ufunc__ for it and no reflected operator (`__radd__`); else null.
PyRef by_ufunc_of_operand(Op op, std::string_view name, PyObject* x, PyObject* y) {
  PyObject* const other = is_array(x) ? y : x;
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(other));
  if (!computes_ufuncs(other) || attr(type, "__array_ufunc__").get() == Py_None) return nullptr;
  if (name.ends_with('_')) name.remove_suffix(1);
  static constexpr std::pair<std::string_view, std::string_view> kMirrored[] = {{"lt", "gt"}, {"le", "ge"}, {"eq", "eq"},
                                                                                {"ne", "ne"}, {"gt", "lt"}, {"ge", "le"}};
  const auto* mirrored = std::ranges::find(kMirrored, name, &std::pair<std::string_view, std::string_view>::first);
  const bool compares = mirrored != std::end(kMirrored), first = other == x;
  const std::string method = first      ? fmt::format("__{}__", name)
                             : compares ? fmt::format("__{}__", mirrored->second)
                                        : fmt::format("__r{}__", name);
  const PyRef text = to_py(std::string_view(method)), own = attr_or_null(type, text.get());
  const PyRef inherited = attr_or_null(reinterpret_cast<PyObject*>(&PyBaseObject_Type), text.get());
  if (own && own.get() != inherited.get()) return nullptr;
  return call(ufunc_called(info(op).name).get(), {x, y});
}

/// Tells whether an operand is an object that NumPy takes for an element of an array of objects (a Decimal, an object of the program's with
/// operators of its own), where a program that was written for NumPy runs: it neither refuses ufuncs nor has a higher priority.
bool is_object_of_program(PyObject* other) {
  if (!program_mode.load(std::memory_order_relaxed)) return false;
  return !attr_or_null(reinterpret_cast<PyObject*>(Py_TYPE(other)), state().names.__array_ufunc__) && array_priority(other) <= 0;
}

/// Tells whether one operand is a time of Python's and the other one holds numbers. NumPy makes arrays of objects of both, and of an
/// element the time that Python gives.
bool is_time_beside_numbers(PyObject* x, PyObject* y) {
  if (!program_mode.load(std::memory_order_relaxed)) return false;
  PyObject* const array = is_array(x) ? x : y;
  return is_of_datetime(array == x ? y : x) && !is_time(array_dtype(array));
}

/// An operator between a 0-d array and an object that is neither array nor number (a timedelta, a Fraction) is that of the array's number.
PyObject* number_op(Op op, PyObject* x, PyObject* y) {
  static constexpr std::pair<Op, const char*> kOperators[] = {{Op::add, "add"},
                                                              {Op::subtract, "sub"},
                                                              {Op::multiply, "mul"},
                                                              {Op::divide, "truediv"},
                                                              {Op::floor_divide, "floordiv"},
                                                              {Op::remainder, "mod"},
                                                              {Op::less, "lt"},
                                                              {Op::less_equal, "le"},
                                                              {Op::equal, "eq"},
                                                              {Op::not_equal, "ne"},
                                                              {Op::greater, "gt"},
                                                              {Op::greater_equal, "ge"},
                                                              {Op::power, "pow"},
                                                              {Op::bitwise_and, "and_"},
                                                              {Op::bitwise_or, "or_"},
                                                              {Op::bitwise_xor, "xor"},
                                                              {Op::left_shift, "lshift"},
                                                              {Op::right_shift, "rshift"}};
  PyObject* array = is_array(x) ? x : y;
  PyObject* other = is_array(x) ? y : x;
  const auto* found = std::ranges::find(kOperators, op, &std::pair<Op, const char*>::first);
  if (found != std::end(kOperators) && is_of_numpys(x, y)) return operator_of_numpys(found->second, x, y);
  if (found != std::end(kOperators))
    if (PyRef made = by_ufunc_of_operand(op, found->second, x, y)) return made.release();
  const bool equality = op == Op::equal || op == Op::not_equal;
  if (array_of(array).ndim() > 0 && !equality && is_object_of_program(other))
    raise(ErrorKind::Type, "{}: expected an operand of numbers, got {}", info(op).name, type_name(other));
  // Text and None have no arithmetic with numbers, and most other objects do not either: they keep the error that names the array.
  if (found == std::end(kOperators) || array_of(array).ndim() > 0 || other == Py_None || PyUnicode_Check(other) || PyBytes_Check(other))
    Py_RETURN_NOTIMPLEMENTED;
  const PyRef number = to_python(look(array_of(array)), array_of(array).dtype());
  const PyRef function = import_attr("operator", found->second);
  PyObject* made = PyObject_CallFunctionObjArgs(function.get(), array == x ? number.get() : x, array == x ? y : number.get(), nullptr);
  if (made || !PyErr_ExceptionMatches(PyExc_TypeError)) return made;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* binary_op(Op op, PyObject* x, PyObject* y) {
  PyObject* made = guard([&]() -> PyObject* {
    if (is_known_number(x) || is_known_number(y)) {
      PyObject* const operands[] = {x, y};
      if (PyObject* number = apply_bare(op, operands)) return number;
    }
    // Nearly every operator has arrays of ours and Python numbers. (Exponents may have to be looked at.)
    if (Term terms[2]; op != Op::power && as_terms(terms, x, y)) [[likely]] {
      LineNote line;
      return wrap_value(ufunc(op, terms, UfuncOptions()));
    }
    ArgList args;
    if (is_time_beside_numbers(x, y) || !push_pair(&args, x, y)) return number_op(op, x, y);
    LineNote line;
    return wrap_value(apply(op, &args));
  });
  return unless_refused(made, info(op).name, x, y);
}

PyObject* inplace_op(Op op, PyObject* x, PyObject* y) {
  if (as_py_array(x)->scalar) Py_RETURN_NOTIMPLEMENTED;
  return guard([&]() -> PyObject* {
    ArgList args;
    if (!push_pair(&args, x, y, true)) {
      if (!is_object_of_program(y)) Py_RETURN_NOTIMPLEMENTED;
      raise(ErrorKind::UFuncTypeError, "Cannot cast ufunc '{}' output from dtype('O') to dtype('{}') with casting rule 'same_kind'",
            info(op).name, info(array_dtype(x)).name);
    }
    LineNote line;
    UfuncOptions options;
    options.out = writable(x, info(op).name);
    apply(op, &args, options);
    return new_ref(x);
  });
}

template <Op op>
PyObject* binary(PyObject* x, PyObject* y) {
  return binary_op(op, x, y);
}
bool is_text_or_list(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o); }
bool is_element(PyObject* o) { return is_array(o) && as_py_array(o)->scalar; }

/// A list times an element repeats the list, as with NumPy's scalars: Python does that where the operands' own `*` is not implemented.
PyObject* multiply_op(PyObject* x, PyObject* y) {
  if ((is_element(x) && is_text_or_list(y)) || (is_element(y) && is_text_or_list(x))) [[unlikely]]
    Py_RETURN_NOTIMPLEMENTED;
  return binary_op(Op::multiply, x, y);
}

template <Op op>
PyObject* inplace(PyObject* x, PyObject* y) {
  return inplace_op(op, x, y);
}
template <Op op>
PyObject* unary(PyObject* x) {
  return guard([&] {
    if (is_known_number(x))
      if (PyObject* number = apply_bare(op, {&x, 1})) return number;
    const Term term{&array_of(x)};
    LineNote line;
    return wrap_value(ufunc(op, std::span<const Term>(&term, 1), UfuncOptions()));
  });
}

/// The cheaper op that NumPy takes for a power with a Python number: x**2, x**0.5, x**-1, x**1.
std::optional<Op> power_shortcut(PyObject* x, PyObject* y) {
  if (!is_array(x)) return std::nullopt;
  const DType t = array_dtype(x);
  double e = 0;
  if (PyLong_CheckExact(y)) {
    int overflow = 0;
    e = static_cast<double>(PyLong_AsLongLongAndOverflow(y, &overflow));
    if (overflow) return std::nullopt;  // not the -1 that stands for it
    if (!is_inexact(t)) return e == 2 ? std::optional(Op::square) : std::nullopt;
  } else if (PyFloat_CheckExact(y)) {
    e = PyFloat_AsDouble(y);
  } else {
    return std::nullopt;
  }
  // Wide integers too, whose roots are doubles: the power may be one unit of the last place beside the root.
  if (!is_inexact(t)) return e == 0.5 && is_integer(t) && itemsize(t) >= 4 ? std::optional(Op::sqrt) : std::nullopt;
  if (e == 2) return Op::square;
  if (e == 1) return Op::positive;
  if (e == 0.5) return Op::sqrt;
  if (e == -1) return Op::reciprocal;
  return std::nullopt;
}

/// x**3 and x**4 of floats as products, which are within 1.5 units of the last place, and of complex numbers the powers up to 16, which
/// NumPy multiplies as well; 0 for other powers.
int power_by_products(PyObject* x, PyObject* y) {
  if (!is_array(x)) return 0;
  const DType t = array_dtype(x);
  if (t != DType::f32 && t != DType::f64 && !is_complex(t)) return 0;
  const double e = PyFloat_CheckExact(y) ? PyFloat_AsDouble(y) : PyLong_CheckExact(y) ? static_cast<double>(PyLong_AsLongLong(y)) : 0;
  if (PyErr_Occurred()) PyErr_Clear();  // an int beyond every power of interest
  const bool products = e == 3 || e == 4 || (is_complex(t) && e > 4 && e <= 16 && e == static_cast<int>(e));
  return products ? static_cast<int>(e) : 0;
}

/// x to a power of at least 3, by repeated squares.
Array product_power(const Array& x, int exponent, const UfuncOptions& options = {}) {
  Array odd, even = x;  // the result is odd * even ** exponent
  for (; exponent > 1; exponent /= 2) {
    if (exponent % 2) odd = odd ? ufunc(Op::multiply, {odd, even}) : even;
    if (exponent == 2 && !odd) return ufunc(Op::square, {even}, options);
    even = ufunc(Op::square, {even});
  }
  return ufunc(Op::multiply, {odd, even}, options);
}

/// 1 / x for floats is x's reciprocal, of the same bits and with fewer instructions.
PyObject* divide_op(PyObject* x, PyObject* y) {
  const bool one = (PyFloat_CheckExact(x) && PyFloat_AsDouble(x) == 1.0) || (PyLong_CheckExact(x) && PyLong_AsDouble(x) == 1.0);
  if (!one || !is_array(y) || is_bare(y) || !is_inexact(array_of(y).dtype()) || is_complex(array_of(y).dtype())) {
    PyErr_Clear();  // an int beyond every double
    return binary_op(Op::divide, x, y);
  }
  return guard([&] {
    ArgList args;
    args.emplace(array_of(y));
    LineNote line;
    return wrap_value(apply(Op::reciprocal, &args));
  });
}

PyObject* power_op(PyObject* x, PyObject* y, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  if (const auto shortcut = power_shortcut(x, y)) {
    return guard([&] {
      if (is_known_number(x))
        if (PyObject* number = apply_bare(*shortcut, {&x, 1})) return number;
      ArgList args;
      args.emplace(array_of(x));
      LineNote line;
      return wrap_value(apply(*shortcut, &args));
    });
  }
  if (const int e = power_by_products(x, y)) {
    return guard([&] {
      LineNote line;
      return wrap_value(product_power(array_of(x), e));
    });
  }
  return binary_op(Op::power, x, y);
}

PyObject* inplace_power(PyObject* x, PyObject* y, PyObject* modulus) {
  if (modulus != Py_None || as_py_array(x)->scalar) Py_RETURN_NOTIMPLEMENTED;
  if (const auto shortcut = power_shortcut(x, y); shortcut && (*shortcut != Op::sqrt || is_inexact(array_dtype(x)))) {
    return guard([&] {
      ArgList args;
      args.emplace(array_of(x));
      LineNote line;
      UfuncOptions options;
      options.out = writable(x, "power");
      apply(*shortcut, &args, options);
      return new_ref(x);
    });
  }
  if (const int e = power_by_products(x, y)) {
    return guard([&] {
      LineNote line;
      UfuncOptions options;
      options.out = writable(x, "power");
      product_power(array_of(x), e, options);
      return new_ref(x);
    });
  }
  return inplace_op(Op::power, x, y);
}

PyObject* divmod_op(PyObject* x, PyObject* y) {
  return guard([&]() -> PyObject* {
    ArgList args;
    if (is_of_numpys(x, y)) return operator_of_numpys("divmod", x, y, "builtins");
    if (!push_pair(&args, x, y)) Py_RETURN_NOTIMPLEMENTED;
    LineNote line;
    auto [quotient, remainder] = divmod(args[0], args[1]);
    PyRef q = PyRef::steal(wrap_value(std::move(quotient))), r = PyRef::steal(wrap_value(std::move(remainder)));
    return tuple_of({q.get(), r.get()}).release();
  });
}

PyObject* matmul_op(PyObject* x, PyObject* y, PyObject* out) {
  return guard([&]() -> PyObject* {
    ArgList args;
    if (!out && is_of_numpys(x, y)) return operator_of_numpys("matmul", x, y);
    if (!push_pair(&args, x, y, out != nullptr)) Py_RETURN_NOTIMPLEMENTED;
    LineNote line;
    const Device device = array_of(is_array(x) ? x : y).device();
    Array made =
        matmul(bc::as_array(args[0], device), bc::as_array(args[1], device), std::nullopt, out ? writable(out, "matmul") : Array());
    return out ? new_ref(out) : wrap_value(std::move(made));
  });
}
PyObject* matmul_slot(PyObject* x, PyObject* y) { return unless_refused(matmul_op(x, y, nullptr), "matmul", x, y); }
PyObject* inplace_matmul(PyObject* x, PyObject* y) { return matmul_op(x, y, x); }

/// Lists of texts, dates or objects stay on the host, and so do objects without arrays: NumPy compares with each of them by Python's rules.
bool is_compared_on_host(PyObject* y) {
  if (PyList_Check(y) || PyTuple_Check(y)) return true;
  const Names& n = state().names;
  for (PyObject* name : {n.__array_ufunc__, n.__array__, n.__array_interface__, BC_INTERNED("__array_priority__"), n.__array_function__,
                         BC_INTERNED("__dlpack__")})
    if (attr_or_null(reinterpret_cast<PyObject*>(Py_TYPE(y)), name)) return false;
  return true;
}

/// The comparison that NumPy makes of a copy of `x` on the host, on the device of `x`.
PyObject* compare_on_host(PyObject* x, PyObject* y, int how) {
  return guard([&] {
    const Array& a = array_of(x);
    const HiddenWait hidden("a comparison with objects of Python's");
    const PyRef made = PyRef::steal(PyObject_RichCompare(to_numpy(a).get(), y, how));
    return wrap_value(to_array(made.get(), a.device()));
  });
}

/// Tells of two elements of T how they compare by a number of Python's rich comparisons.
template <class T>
bool holds(const Element& a, const Element& b, int how) {
  T x, y;
  std::memcpy(&x, a.bytes, sizeof(T));
  std::memcpy(&y, b.bytes, sizeof(T));
  switch (how) {
    case Py_LT: return x < y;
    case Py_LE: return x <= y;
    case Py_EQ: return x == y;
    case Py_NE: return x != y;
    case Py_GT: return x > y;
    default: return x >= y;
  }
}

/// The comparison of two bare elements of one usual dtype, as sorts and sets of elements make them by the thousand; nullptr for others.
PyObject* compare_bare(PyObject* x, PyObject* y, int how) {
  if (!is_bare(x) || !is_bare(y) || profiling()) return nullptr;
  const Element &a = as_py_array(x)->element, &b = as_py_array(y)->element;
  if (a.dtype != b.dtype || (a.dtype != DType::f64 && a.dtype != DType::i64)) return nullptr;
  const bool held = a.dtype == DType::f64 ? holds<double>(a, b, how) : holds<int64_t>(a, b, how);
  return guard([&] {
    PyArray* const made = new_element();
    made->element.dtype = DType::b1;
    made->element.bytes[0] = static_cast<char>(held);
    return reinterpret_cast<PyObject*>(made);
  });
}

PyObject* compare(PyObject* x, PyObject* y, int how) {
  if (PyObject* const bare = compare_bare(x, y, how)) return bare;
  static constexpr Op ops[] = {Op::less, Op::less_equal, Op::equal, Op::not_equal, Op::greater, Op::greater_equal};
  // Py_LT 0, Py_LE 1, Py_EQ 2, Py_NE 3, Py_GT 4, Py_GE 5.
  const bool equality = how == Py_EQ || how == Py_NE;
  const auto same_everywhere = [&](const Dims& shape) {
    return wrap_value(full(shape, Scalar::boolean(how == Py_NE), DType::b1, array_of(x).device()));
  };
  if (equality && (y == Py_None || PyUnicode_Check(y) || PyBytes_Check(y)))
    return guard([&] {
      if (y != Py_None || !is_time(array_dtype(x))) return same_everywhere(array_of(x).shape());
      // As an object of Python's NaT is None.
      const Array none = is_nat(array_of(x));
      return wrap_value(how == Py_EQ ? none : ufunc(Op::logical_not, {none}));
    });
  PyObject* const made = binary_op(ops[how], x, y);
  if (made == Py_NotImplemented && equality && is_compared_on_host(y)) [[unlikely]] {
    Py_DECREF(made);
    return compare_on_host(x, y, how);
  }
  const bool list = PyList_Check(y) || PyTuple_Check(y);
  if (!made && list && !PyErr_ExceptionMatches(state().no_loop_error) && PyErr_ExceptionMatches(PyExc_TypeError)) [[unlikely]] {
    PyErr_Clear();
    return compare_on_host(x, y, how);
  }
  if (made || !equality || !PyErr_ExceptionMatches(state().no_loop_error)) return made;
  // Dates, spans of time and numbers that have no common type are not equal to each other, as in NumPy.
  PyErr_Clear();
  return guard([&] {
    ArgList args;
    push_pair(&args, x, y);
    const Dims shape =
        args[1].array ? broadcast_shapes(info(ops[how]).name, array_of(x).shape(), args[1].array.shape()) : array_of(x).shape();
    return same_everywhere(shape);
  });
}

int truth_of(const Scalar& s) {
  return s.dtype == DType::f64 || s.dtype == DType::c128 ? static_cast<int>(s.f != 0 || s.imag != 0) : static_cast<int>(s.u != 0);
}

int truth(PyObject* self) {
  if (is_bare(self) && as_py_array(self)->element.dtype == DType::b1) return as_py_array(self)->element.bytes[0] != 0;
  if (is_bare(self)) return truth_of(as_py_array(self)->element.scalar());
  return guard(-1, [&] {
    const Array& a = array_of(self);
    const int64_t n = a.size();
    if (n == 0)
      throw_python(PyExc_ValueError,
                   "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.");
    if (n > 1)
      throw_python(PyExc_ValueError,
                   "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all(), and & or | instead of "
                   "'and' or 'or' between arrays");
    const HiddenWait hidden("the truth of an array (if, while, and, or, not, a comparison of Python's)");
    return truth_of(look(a));
  });
}

/// The value of an array of one element.
PyRef only_value(PyObject* self) {
  if (is_bare(self)) {
    const Element& element = as_py_array(self)->element;
    if (!is_complex(element.dtype)) return to_python(element.scalar(), element.dtype);
  }
  const Array& a = array_of(self);
  if (a.ndim() != 0)
    throw_python(PyExc_TypeError,
                 fmt::format("only 0-dimensional arrays can be converted to Python scalars, got shape {}; index one element, "
                             "or convert all with astype() or tolist()",
                             a.shape())
                     .c_str());
  if (!is_complex(a.dtype()) || !as_py_array(self)->scalar) return to_python(look(a), a.dtype());
  // As NumPy's complex scalars, an element gives its real part.
  warn_of_lost_imaginary(a.dtype(), real_type(a.dtype()));
  return PyRef::steal(PyFloat_FromDouble(look(a).f));
}

PyObject* to_float(PyObject* self) {
  return guard([&]() -> PyObject* {
    PyRef v = only_value(self);
    if (PyFloat_CheckExact(v.get())) return v.release();
    if (PyComplex_Check(v.get())) throw_python(PyExc_TypeError, "float() argument must be a string or a real number, not 'complex'");
    return PyNumber_Float(v.get());
  });
}

PyObject* to_long(PyObject* self) {
  return guard([&]() -> PyObject* {
    PyRef v = only_value(self);
    if (PyComplex_Check(v.get()))
      throw_python(PyExc_TypeError, "int() argument must be a string, a bytes-like object or a real number, not 'complex'");
    return PyNumber_Long(v.get());
  });
}

PyObject* to_index(PyObject* self) {
  return guard([&]() -> PyObject* {
    if (is_bare(self) && is_integer(array_dtype(self))) return only_value(self).release();
    const Array& a = array_of(self);
    if (!is_integer(a.dtype()) || a.ndim() != 0)
      throw_python(PyExc_TypeError, "only integer scalar arrays can be converted to a scalar index");
    const HiddenWait hidden("an array as an index (range, a slice, a list)");
    return only_value(self).release();
  });
}

// ---- The slots, which operands of subclasses take to the class's own ufuncs ---------------------------------------------------------

/// A text as a template's argument.
template <size_t n>
struct Text {
  char text[n];
  constexpr Text(const char (&given)[n]) { std::ranges::copy(given, text); }
};

template <auto plain, Text ufunc>
PyObject* of_unary(PyObject* x) {
  if (of_subclass(x)) [[unlikely]]
    return operator_of_classes(ufunc.text, plain, x);
  return plain(x);
}
template <auto plain, Text ufunc, bool inplace = false>
PyObject* of_binary(PyObject* x, PyObject* y) {
  if (of_subclass(x) || of_subclass(y)) [[unlikely]]
    return operator_of_classes(ufunc.text, plain, x, y, inplace);
  return plain(x, y);
}
template <auto plain, bool inplace = false>
PyObject* of_power(PyObject* x, PyObject* y, PyObject* modulus) {
  static constexpr auto two = [](PyObject* a, PyObject* b) { return plain(a, b, Py_None); };
  if (modulus == Py_None && (of_subclass(x) || of_subclass(y))) [[unlikely]] {
    const std::optional<Op> shortcut = power_shortcut(x, y);
    if (!shortcut || !has_own_results(x)) return operator_of_classes("power", two, x, y, inplace);
    const PyRef ufunc = PyRef::borrow(PyDict_GetItemString(state().ufuncs, info(*shortcut).name));
    return inplace ? PyObject_CallFunctionObjArgs(ufunc.get(), x, x, nullptr) : PyObject_CallFunctionObjArgs(ufunc.get(), x, nullptr);
  }
  return plain(x, y, modulus);
}
template <int how>
PyObject* compare_how(PyObject* x, PyObject* y) {
  return compare(x, y, how);
}
PyObject* of_comparison(PyObject* x, PyObject* y, int how) {
  if (!of_subclass(x) && !of_subclass(y)) [[likely]]
    return compare(x, y, how);
  static constexpr std::pair<const char*, binaryfunc> kRows[] = {{"less", compare_how<Py_LT>},    {"less_equal", compare_how<Py_LE>},
                                                                 {"equal", compare_how<Py_EQ>},   {"not_equal", compare_how<Py_NE>},
                                                                 {"greater", compare_how<Py_GT>}, {"greater_equal", compare_how<Py_GE>}};
  return operator_of_classes(kRows[how].first, kRows[how].second, x, y, false);
}

}  // namespace

namespace {

/// Tells whether a negative exponent is never looked at, because the mask is False everywhere.
bool computes_nothing(const Arg& exponent, const Array& where) {
  if (!where || exponent.weak != Weak::integer || exponent.value.dtype == DType::u64 || exponent.value.as_double() >= 0 ||
      where.device().type == DeviceType::null)
    return false;
  return !look(reduce(Op::reduce_any, where, {})).i;
}

}  // namespace

bool any_negative_exponent(const Array& exponent, std::optional<DType> dtype, const Array& where) {
  // NumPy's loop looks at each exponent; the values decide, so they must be known now. The null device has none.
  if (exponent.device().type == DeviceType::null || exponent.size() == 0) return false;
  if (is_inexact(exponent.dtype()) || !is_signed_int(dtype.value_or(exponent.dtype()))) return false;
  ReduceOptions computed;
  computed.where = where;
  // dtype= decides what the loop sees: 255 is -1 as int8.
  const Array seen = dtype ? astype(exponent, *dtype, false) : exponent;
  Element least;
  const bool few = !where && reduce_small(Op::reduce_min, seen, &least);
  if (few) return least.scalar().i < 0;
  return look(reduce(Op::reduce_any, ufunc(Op::less, {seen, Arg(int64_t{0})}), computed)).i != 0;
}

void refuse_negative(const Array& exponent, std::optional<DType> dtype, const Array& where) {
  if (any_negative_exponent(exponent, dtype, where)) throw_python(PyExc_ValueError, "Integers to negative integer powers are not allowed.");
}

Array apply(Op op, ArgList* args, const UfuncOptions& options) {
  if (op == Op::power && computes_nothing((*args)[1], options.where)) [[unlikely]]
    (*args)[1].value = Scalar::integer(0);
  if (op == Op::power && (*args)[1].array && is_signed_int(options.dtype ? *options.dtype : (*args)[1].array.dtype())) [[unlikely]] {
    const Arg& base = (*args)[0];
    const Array& exponent = (*args)[1].array;
    // uint64 with signed integers is float64.
    const bool integers =
        base.array ? !is_inexact(promote(base.array.dtype(), exponent.dtype())) : base.weak == Weak::integer || base.weak == Weak::boolean;
    const bool nothing = exponent.size() == 0 || (base.array && base.array.size() == 0) || (options.out && options.out.size() == 0);
    if (integers && (!options.dtype || !is_inexact(*options.dtype)) && !nothing) refuse_negative(exponent, options.dtype, options.where);
  }
  return ufunc(op, args->span(), options);
}

void add_number_slots(std::vector<PyType_Slot>* slots) {
  auto add = [&](int slot, auto* f) { slots->push_back({slot, reinterpret_cast<void*>(f)}); };
  add(Py_nb_add, of_binary<binary<Op::add>, "add">);
  add(Py_nb_subtract, of_binary<binary<Op::subtract>, "subtract">);
  add(Py_nb_multiply, of_binary<multiply_op, "multiply">);
  add(Py_nb_true_divide, of_binary<divide_op, "divide">);
  add(Py_nb_floor_divide, of_binary<binary<Op::floor_divide>, "floor_divide">);
  add(Py_nb_remainder, of_binary<binary<Op::remainder>, "remainder">);
  add(Py_nb_divmod, of_binary<divmod_op, "divmod">);
  add(Py_nb_power, of_power<power_op>);
  add(Py_nb_matrix_multiply, of_binary<matmul_slot, "matmul">);
  add(Py_nb_lshift, of_binary<binary<Op::left_shift>, "left_shift">);
  add(Py_nb_rshift, of_binary<binary<Op::right_shift>, "right_shift">);
  add(Py_nb_and, of_binary<binary<Op::bitwise_and>, "bitwise_and">);
  add(Py_nb_or, of_binary<binary<Op::bitwise_or>, "bitwise_or">);
  add(Py_nb_xor, of_binary<binary<Op::bitwise_xor>, "bitwise_xor">);
  add(Py_nb_inplace_add, of_binary<inplace<Op::add>, "add", true>);
  add(Py_nb_inplace_subtract, of_binary<inplace<Op::subtract>, "subtract", true>);
  add(Py_nb_inplace_multiply, of_binary<inplace<Op::multiply>, "multiply", true>);
  add(Py_nb_inplace_true_divide, of_binary<inplace<Op::divide>, "divide", true>);
  add(Py_nb_inplace_floor_divide, of_binary<inplace<Op::floor_divide>, "floor_divide", true>);
  add(Py_nb_inplace_remainder, of_binary<inplace<Op::remainder>, "remainder", true>);
  add(Py_nb_inplace_power, of_power<inplace_power, true>);
  add(Py_nb_inplace_matrix_multiply, of_binary<inplace_matmul, "matmul", true>);
  add(Py_nb_inplace_lshift, of_binary<inplace<Op::left_shift>, "left_shift", true>);
  add(Py_nb_inplace_rshift, of_binary<inplace<Op::right_shift>, "right_shift", true>);
  add(Py_nb_inplace_and, of_binary<inplace<Op::bitwise_and>, "bitwise_and", true>);
  add(Py_nb_inplace_or, of_binary<inplace<Op::bitwise_or>, "bitwise_or", true>);
  add(Py_nb_inplace_xor, of_binary<inplace<Op::bitwise_xor>, "bitwise_xor", true>);
  add(Py_nb_negative, of_unary<unary<Op::negative>, "negative">);
  add(Py_nb_positive, of_unary<unary<Op::positive>, "positive">);
  add(Py_nb_absolute, of_unary<unary<Op::abs>, "absolute">);
  add(Py_nb_invert, of_unary<unary<Op::invert>, "invert">);
  add(Py_nb_bool, truth);
  add(Py_nb_float, to_float);
  add(Py_nb_int, to_long);
  add(Py_nb_index, to_index);
  add(Py_tp_richcompare, of_comparison);
}

}  // namespace bc::bind
