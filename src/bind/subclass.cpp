#include "bind/subclass.h"

#include <algorithm>
#include <string_view>

#include "bind/args.h"
#include "bind/program.h"

namespace bc::bind {
namespace {

/// Calls `f` with each array of a subclass among the arguments and in the lists among them; ends where `f` gives true.
template <class F>
bool any_array(PyObject* const* args, Py_ssize_t n, const F& f) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* const o = args[i];
    if (!o) continue;
    if (of_subclass(o) && f(o)) return true;
    const bool list = PyList_CheckExact(o);
    if (!list && !PyTuple_CheckExact(o)) continue;
    for (Py_ssize_t k = 0, size = PyObject_Size(o); k < size; ++k) {
      PyObject* const item = list ? PyList_GetItem(o, k) : PyTuple_GetItem(o, k);
      if (item && of_subclass(item) && f(item)) return true;
    }
  }
  return false;
}

/// While it lives, this thread's arrays of subclasses are parts of a call whose result is of ndarray: no hook of a class sees them.
class WithoutClasses {
 public:
  explicit WithoutClasses(bool on) : before_(active) { active = active || on; }
  ~WithoutClasses() { active = before_; }
  WithoutClasses(const WithoutClasses&) = delete;
  WithoutClasses& operator=(const WithoutClasses&) = delete;

  static inline thread_local bool active = false;

 private:
  bool before_;
};

PyObject* type_of(PyObject* o) { return reinterpret_cast<PyObject*>(Py_TYPE(o)); }
PyObject* array_type() { return reinterpret_cast<PyObject*>(state().array); }

/// The argument whose class a result takes: the first of those with the highest priority. Null where none is of a subclass.
PyObject* model_of(PyObject* const* args, Py_ssize_t n) {
  PyObject* model = nullptr;
  double highest = 0;
  any_array(args, n, [&](PyObject* o) {
    const double own = array_priority(o);
    if (!model || own > highest) {
      model = o;
      highest = own;
    }
    return false;
  });
  return model;
}

/// A result in the class of `model`, which __array_finalize__ is given, or None where the result is of several arrays.
PyRef like(PyObject* made, PyObject* model, bool of_several = false) {
  PyRef other = in_class(made, Py_TYPE(model));
  finalize(other.get(), of_several ? Py_None : model);
  return other;
}

/// Replaces each array of a result (one, or those in a tuple or a list) by what `f` gives for it.
template <class F>
PyRef each_array(PyRef made, const F& f) {
  if (is_array(made.get())) return f(made.get());
  const bool list = PyList_CheckExact(made.get());
  if (!list && !PyTuple_Check(made.get())) return made;
  bool any = false;
  PyRef items = list ? made : PyRef::steal(PySequence_List(made.get()));
  for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i)
    if (PyObject* item = PyList_GetItem(items.get(), i); is_array(item)) {
      check(PyList_SetItem(items.get(), i, f(item).release()));
      any = true;
    }
  if (list || !any) return made;
  PyRef tuple = PyRef::steal(PyList_AsTuple(items.get()));
  // Results with names (of eigh, svd) are made by their class.
  return PyTuple_CheckExact(made.get()) ? tuple : PyRef::steal(PyObject_CallObject(type_of(made.get()), tuple.get()));
}

// ---- Functions and methods ---------------------------------------------------------------------------------------------------------

/// The class of a function's result.
enum class Class : uint8_t {
  kept,      ///< that of the arguments
  extents,   ///< the same, but a result without axes is an element, and those have no class
  base,      ///< ndarray
  priority,  ///< that of the arguments if it asks for it by a priority above 0
  view,      ///< that of the arguments for a view of one; else ndarray
  own,       ///< the function's own matter
};

/// The functions and methods whose results are not of Class::kept, as in NumPy.
constexpr std::pair<Class, std::string_view> kRules[] = {
    {Class::own, " __array__ __array_wrap__ view function.as_result "},
    {Class::priority, " concatenate stack vstack hstack dstack column_stack append resize "},
    {Class::base,
     " nonzero searchsorted asarray ascontiguousarray function.where argwhere "
     "flatnonzero select cross outer tensordot einsum tril triu interp convolve histogram bincount digitize cov corrcoef lexsort unwrap "
     "sort_complex fft norm vector_norm pad interp_small correlate_small bincount_small "},
    {Class::view, " diag "},
    {Class::extents, " argmax argmin dot inner vdot take trace linalg_det count_nonzero "},
};

Class rule_of(std::string_view name, bool method) {
  const std::string alone = fmt::format(" {} ", name), of_function = fmt::format(" function.{} ", name);
  for (const auto& [rule, names] : kRules)
    if (names.find(alone) != names.npos || (!method && names.find(of_function) != names.npos)) return rule;
  return Class::kept;
}

// ---- Ufuncs --------------------------------------------------------------------------------------------------------------------------

/// Tells whether a value of `out=` names no output: None, a tuple of such, or `...`, which asks for arrays.
bool no_output(PyObject* out) {
  if (!PyTuple_Check(out)) return out == Py_None || out == Py_Ellipsis;
  for (Py_ssize_t i = 0; i < PyTuple_Size(out); ++i)
    if (PyTuple_GetItem(out, i) != Py_None) return false;
  return true;
}

/// A call of a ufunc as __array_ufunc__ takes it: its inputs by position, all else by name, and `out` as a tuple.
struct UfuncArguments {
  PyRef inputs, named;

  UfuncArguments(PyObject* ufunc, std::string_view method, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
    static constexpr const char* kReduce[] = {"axis", "dtype", "out", "keepdims", "initial", "where"};
    const TupleArguments given(args, n, kwnames);
    named = given.named ? given.named : PyRef::steal(PyDict_New());
    Py_ssize_t count = n;
    if (method == "__call__") {
      count = std::min(n, static_cast<Py_ssize_t>(PyLong_AsLong(attr(ufunc, "nin").get())));
      if (count < n)
        check(PyDict_SetItem(named.get(), state().names.out, PyRef::steal(PyTuple_GetSlice(given.positional.get(), count, n)).get()));
    } else if (method == "reduce" || method == "accumulate" || method == "reduceat") {
      count = std::min<Py_ssize_t>(n, method == "reduceat" ? 2 : 1);
      for (Py_ssize_t i = count; i < n && i - count < std::ssize(kReduce); ++i)
        check(PyDict_SetItemString(named.get(), kReduce[i - count], args[i]));
    }
    inputs = PyRef::steal(PyTuple_GetSlice(given.positional.get(), 0, count));
    PyObject* const out = PyDict_GetItem(named.get(), state().names.out);
    if (out && no_output(out))
      check(PyDict_DelItem(named.get(), state().names.out));
    else if (out && !PyTuple_Check(out))
      check(PyDict_SetItem(named.get(), state().names.out, tuple_of({out}).get()));
  }

  std::vector<PyObject*> operands() const {
    std::vector<PyObject*> all;
    for (Py_ssize_t i = 0; i < PyTuple_Size(inputs.get()); ++i) all.push_back(PyTuple_GetItem(inputs.get(), i));
    if (PyObject* const out = PyDict_GetItem(named.get(), state().names.out))
      for (Py_ssize_t i = 0; i < PyTuple_Size(out); ++i) all.push_back(PyTuple_GetItem(out, i));
    return all;
  }
};

/// Asks the operands' __array_ufunc__, those of a subclass before that of its base, else from left to right (NEP 13).
PyRef ask_operands(PyObject* ufunc, const char* method, const UfuncArguments& given) {
  std::vector<PyObject*> asked;
  for (PyObject* const o : given.operands()) {
    if (!computes_ufuncs(o) || std::ranges::any_of(asked, [&](PyObject* p) { return Py_TYPE(p) == Py_TYPE(o); })) continue;
    const auto place = std::ranges::find_if(asked, [&](PyObject* p) { return PyType_IsSubtype(Py_TYPE(o), Py_TYPE(p)); });
    asked.insert(place, o);
  }
  const PyRef head = tuple_of({ufunc, to_py(std::string_view(method)).get()});
  const PyRef all = PyRef::steal(PySequence_Concat(head.get(), given.inputs.get()));
  for (PyObject* const o : asked) {
    const PyRef hook = PyRef::steal(PyObject_GetAttr(o, state().names.__array_ufunc__));
    if (hook.get() == Py_None) raise(ErrorKind::Type, "operand '{}' does not support ufuncs (__array_ufunc__=None)", type_name(o));
    PyRef made = PyRef::steal(PyObject_Call(hook.get(), all.get(), given.named.get()));
    if (made.get() != Py_NotImplemented) return made;
  }
  raise(ErrorKind::Type, "operand type(s) all returned NotImplemented from __array_ufunc__({}, '{}', ...)",
        as_string(PyRef::steal(PyObject_Repr(ufunc)).get()), method);
}

/// One result of a ufunc in the class of `model`, by the class's __array_wrap__ where it has its own.
PyRef wrapped_result(PyObject* one, PyObject* model, PyObject* ufunc, const UfuncArguments& given, bool called, int output) {
  PyObject* const name = BC_INTERNED("__array_wrap__");
  if (!model || !has_own(model, name)) return model && one != model && is_exact(one, state().array) ? like(one, model) : PyRef::borrow(one);
  const bool element = is_bare(one) || as_py_array(one)->scalar;
  const PyRef plain = element ? PyRef::steal(wrap(array_of(one))) : PyRef::borrow(one);
  const PyRef hook = PyRef::steal(PyObject_GetAttr(model, name));
  PyRef context = PyRef::borrow(Py_None);
  if (called) {
    PyObject* const out = PyDict_GetItem(given.named.get(), state().names.out);
    const PyRef all = out ? PyRef::steal(PySequence_Concat(given.inputs.get(), out)) : given.inputs;
    context = tuple_of({ufunc, all.get(), to_py(static_cast<int64_t>(output)).get()});
  }
  return call(hook.get(), {plain.get(), context.get(), element ? Py_True : Py_False});
}

PyRef computed(PyObject* self, const char* method, FastCall plain, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  const UfuncArguments given(self, method, args, n, kwnames);
  const std::vector<PyObject*> operands = given.operands();
  if (std::ranges::any_of(operands, [](PyObject* o) { return of_subclass(o) && computes_ufuncs(o); }))
    return ask_operands(self, method, given);
  PyRef made = PyRef::steal(plain(self, args, n, kwnames));
  PyObject* const model = model_of(operands.data(), PyTuple_Size(given.inputs.get()));
  int output = 0;
  return each_array(std::move(made), [&](PyObject* one) {
    const int place = output++;
    // The class of an output says what becomes of it.
    const bool output_given = std::ranges::find(operands, one) != operands.end();
    PyObject* const by = !output_given ? model : of_subclass(one) ? one : nullptr;
    return wrapped_result(one, by, self, given, std::string_view(method) == "__call__", place);
  });
}

/// Tells whether an operand leaves operators to the other one.
bool leaves_operators(PyObject* o) {
  if (is_array(o) && !of_subclass(o)) return false;
  const PyRef hook = attr_or_null(type_of(o), state().names.__array_ufunc__);
  return hook && hook.get() == Py_None;
}

// ---- Methods and functions of classes ----------------------------------------------------------------------------------------------

/// The method that NumPy's function of a name calls, where it is not called the same.
std::string_view method_of(std::string_view function) {
  if (function == "amax") return "max";
  if (function == "amin") return "min";
  if (function == "around") return "round";
  return function;
}

/// Methods that NumPy computes by ufuncs, and functions of NumPy's that call the method of an array's class.
constexpr std::string_view kByUfuncs[] = {"sum", "prod", "max",  "min", "any",   "all",    "mean",    "var",
                                          "std", "clip", "conj", "ptp", "round", "cumsum", "cumprod", "conjugate"};
constexpr std::string_view kByMethods[] = {"sum",      "prod",  "max",     "min",     "any",      "all",     "mean",
                                           "var",      "std",   "clip",    "round",   "cumsum",   "cumprod", "argmax",
                                           "argmin",   "take",  "reshape", "repeat",  "swapaxes", "squeeze", "transpose",
                                           "diagonal", "trace", "ravel",   "nonzero", "dot",      "put"};

template <size_t n>
bool contains(const std::string_view (&list)[n], std::string_view name) {
  return std::ranges::find(list, name) != std::end(list);
}

/// The call that NumPy makes in the place of a method or a function: ufuncs, where the array's class has its own __array_ufunc__, or the
/// class's own method, where a function is called that has one. Null where there is none.
PyRef call_of_class(std::string_view function, bool method, bool reduction, PyObject* self, PyObject* const* args, Py_ssize_t n,
                    PyObject* kwnames) {
  PyObject* const array = method ? self : reduction ? args[1] : n > 0 ? args[0] : nullptr;
  if (!array || !of_subclass(array)) return nullptr;
  const std::string_view name = method ? function : method_of(function);
  const PyRef text = to_py(name);
  const bool by_ufuncs = contains(kByUfuncs, name) && has_own(array, state().names.__array_ufunc__);
  const bool by_method = !method && contains(kByMethods, name) && has_own(array, text.get());
  if (!by_ufuncs && !by_method) return nullptr;
  const TupleArguments given(args, n, kwnames);
  if (reduction)
    return PyRef::steal(PyObject_Call(import_attr("broadcloth._subclasses", "reduce").get(), given.positional.get(), given.named.get()));
  if (by_method) {
    const PyRef rest = PyRef::steal(PyTuple_GetSlice(given.positional.get(), 1, n));
    return PyRef::steal(PyObject_Call(PyRef::steal(PyObject_GetAttr(array, text.get())).get(), rest.get(), given.named.get()));
  }
  const PyRef all = method ? PyRef::steal(PySequence_Concat(tuple_of({self}).get(), given.positional.get())) : given.positional;
  const PyRef function_of = import_attr("broadcloth._subclasses", std::string(name).c_str());
  return PyRef::steal(PyObject_Call(function_of.get(), all.get(), given.named.get()));
}

/// Whether a call's `subok` lets a subclass through; functions without that parameter do.
bool passes_subclasses(const CallSignature& signature, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  const auto place = std::ranges::find(signature.names, state().names.subok);
  if (place == signature.names.end()) return true;
  std::vector<PyObject*> values(signature.names.size());
  signature.bind(args, n, kwnames, values.data());
  return to_bool(values[place - signature.names.begin()]);
}

}  // namespace

PyRef ufunc_called(const char* name) {
  PyObject* const row = PyDict_GetItemString(state().ufuncs, name);
  return row ? PyRef::borrow(row) : import_attr("broadcloth", name);  // matmul is the package's
}

bool computes_ufuncs(PyObject* o) {
  if (is_exact(o, state().array) || o == Py_None || PyList_CheckExact(o) || all_numbers(&o, 1)) return false;
  PyObject *const name = state().names.__array_ufunc__, *const numpys = reinterpret_cast<PyObject*>(state().np_ndarray);
  if (is_array(o)) return has_own(o, name);
  if (type_of(o) == numpys) return false;
  const PyRef own = attr_or_null(type_of(o), name);
  return own && (!PyType_IsSubtype(Py_TYPE(o), state().np_ndarray) || own.get() != attr(numpys, "__array_ufunc__").get());
}

bool has_own(PyObject* o, PyObject* name) { return attr_or_null(type_of(o), name).get() != attr_or_null(array_type(), name).get(); }

bool has_own_results(PyObject* o) {
  return of_subclass(o) && (has_own(o, state().names.__array_ufunc__) || has_own(o, BC_INTERNED("__array_wrap__")));
}

bool any_of_subclass(PyObject* const* args, Py_ssize_t n) {
  return any_array(args, n, [](PyObject*) { return true; });
}

PyTypeObject* array_class(PyObject* o) {
  if (o == program_ndarray) return state().array;
  auto* const type = reinterpret_cast<PyTypeObject*>(o);
  return PyType_Check(o) && PyType_IsSubtype(type, state().array) ? type : nullptr;
}

PyRef in_class(PyObject* array, PyTypeObject* type) {
  PyRef made = PyRef::steal(wrap_as(type, array_of(array)));
  PyArray *to = as_py_array(made.get()), *from = as_py_array(array);
  // An array that only the caller holds is replaced by `made`; any other one is its base.
  PyObject* const base = from->base ? from->base : Py_REFCNT(array) > 1 ? array : nullptr;
  to->base = base ? new_ref(base) : nullptr;
  to->read_only = from->read_only;
  return made;
}

void finalize(PyObject* made, PyObject* from) {
  PyObject* const name = BC_INTERNED("__array_finalize__");
  if (WithoutClasses::active || !has_own(made, name)) return;
  const PyRef hook = PyRef::steal(PyObject_GetAttr(made, name));
  if (hook.get() != Py_None) call(hook.get(), {from});
}

PyObject* with_class(PyObject* given, const char* name, bool method, PyObject* const* args, Py_ssize_t n, bool subok) {
  PyRef made = PyRef::steal(given);
  const Class rule = subok ? rule_of(name, method) : Class::base;
  PyObject* const model = model_of(args, n);
  if (!model || rule == Class::own) return made.release();
  return each_array(std::move(made),
                    [&](PyObject* one) {
                      const bool element = rule == Class::extents && array_of(one).ndim() == 0;
                      const bool copied = rule == Class::view && array_of(one).storage() != array_of(model).storage();
                      const bool asks = rule != Class::priority || array_priority(model) > 0;
                      const bool plain = rule == Class::base || copied || element || !asks;
                      if (plain == is_exact(one, state().array)) return PyRef::borrow(one);
                      const bool given = std::find(args, args + n, one) != args + n;
                      if (!plain) return given ? PyRef::borrow(one) : like(one, model, rule == Class::priority);
                      PyRef base = in_class(one, state().array);
                      as_py_array(base.get())->scalar = element || (rule == Class::base && as_py_array(one)->scalar);
                      return base;
                    })
      .release();
}

PyObject* entry_of_classes(FastCall plain, const CallSignature& signature, bool method, PyObject* self, PyObject* const* args, Py_ssize_t n,
                           PyObject* kwnames) {
  const Py_ssize_t count = n + (kwnames ? PyTuple_Size(kwnames) : 0);
  const bool any = (method && of_subclass(self)) || any_of_subclass(args, count);
  if (!any) return plain(self, args, n, kwnames);
  return guard([&] {
    // The package's functions call reduce(op, array, ...).
    const bool reduction = !method && n > 1 && std::string_view(signature.name) == "reduce";
    const char* const name = reduction ? as_string(args[0]).data() : signature.name;
    if (PyRef made = call_of_class(name, method, reduction, self, args, n, kwnames)) return made.release();
    const bool passes = passes_subclasses(signature, args, n, kwnames);
    PyRef made = [&] {
      const WithoutClasses parts(!passes || rule_of(name, method) == Class::base);
      return PyRef::steal(plain(self, args, n, kwnames));
    }();
    std::vector<PyObject*> all(args, args + count);
    if (method) all.insert(all.begin(), self);
    return with_class(made.release(), name, method, all.data(), std::ssize(all), passes);
  });
}

PyObject* ufunc_of_classes(PyObject* self, const char* method, FastCall plain, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  const Py_ssize_t count = n + (kwnames ? PyTuple_Size(kwnames) : 0);
  if (!any_of_subclass(args, count)) return plain(self, args, n, kwnames);
  return guard([&] { return computed(self, method, plain, args, n, kwnames).release(); });
}

PyObject* operator_of_classes(const char* ufunc, binaryfunc plain, PyObject* x, PyObject* y, bool inplace) {
  return guard([&]() -> PyObject* {
    if (leaves_operators(x) || leaves_operators(y)) Py_RETURN_NOTIMPLEMENTED;
    const auto without_hooks = [&] {
      PyRef made = PyRef::steal(plain(x, y));
      PyObject* const operands[] = {x, y};
      return inplace ? made.release() : with_class(made.release(), ufunc, false, operands, 2);
    };
    if (!has_own_results(x) && !has_own_results(y)) return without_hooks();
    const PyRef function = ufunc_called(ufunc);
    if (!inplace) {
      if (PyObject* const made = PyObject_CallFunctionObjArgs(function.get(), x, y, nullptr)) return made;
      // == and != of types that no loop compares (dates and numbers) give False and True.
      const bool equality = std::string_view(ufunc) == "equal" || std::string_view(ufunc) == "not_equal";
      if (!equality || !PyErr_ExceptionMatches(state().no_loop_error)) throw PythonError();
      PyErr_Clear();
      return without_hooks();
    }
    const PyRef named = PyRef::steal(PyDict_New());
    check(PyDict_SetItem(named.get(), state().names.out, tuple_of({x}).get()));
    return call(function.get(), {x, y}, named.get()).release();
  });
}

PyObject* operator_of_classes(const char* ufunc, unaryfunc plain, PyObject* x) {
  return guard([&]() -> PyObject* {
    if (has_own_results(x)) return call(ufunc_called(ufunc).get(), {x}).release();
    return with_class(PyRef::steal(plain(x)).release(), ufunc, false, &x, 1);
  });
}

// ---- Methods of ndarray for its subclasses -------------------------------------------------------------------------------------------

namespace {

/// The array in the class of `self`, as NumPy returns a ufunc's result. An element stays one where `self` is of ndarray itself.
PyRef array_wrap(PyObject* self, PyObject* array, PyObject* /*context*/, bool return_scalar) {
  const PyRef made = is_array(array) ? PyRef::borrow(array) : PyRef::steal(wrap(to_array(array, array_of(self).device())));
  if (Py_TYPE(made.get()) != Py_TYPE(self)) return like(made.get(), self);
  if (!return_scalar || of_subclass(self) || array_of(made.get()).ndim() > 0) return made;
  return PyRef::steal(wrap_value(array_of(made.get())));
}

/// The second half of __reduce__ of a subclass: (version, shape, dtype's name, whether in Fortran's order, the elements' bytes).
void set_state(PyObject* self, PyObject* given) {
  if (!PyTuple_Check(given) || PyTuple_Size(given) != 5)
    throw_python(PyExc_ValueError, "__setstate__: expected (version, shape, dtype, is_fortran, bytes), as __reduce__ gives it");
  const PyRef order = to_py(std::string_view(to_bool(PyTuple_GetItem(given, 3)) ? "F" : "C"));
  const PyRef made = call(attr(state().module, "_rebuild").get(),
                          {PyTuple_GetItem(given, 4), PyTuple_GetItem(given, 2), PyTuple_GetItem(given, 1), order.get()});
  array_of(self) = array_of(made.get());
}

}  // namespace

void add_subclass_methods(std::vector<PyMethodDef>* methods) {
  methods->push_back(BC_METHOD("__array_finalize__(obj, /)", [](PyObject*, PyObject*) { return PyRef::borrow(Py_None); }));
  methods->push_back(BC_METHOD("__array_wrap__(array, context=None, return_scalar=False, /)", array_wrap));
  methods->push_back(BC_METHOD("__setstate__(state, /)", set_state));
}

}  // namespace bc::bind
