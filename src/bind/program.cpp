// Programs that were written for NumPy and run unchanged: the import hook, functions that NumPy stands in for, elements as NumPy's scalars.
#include "bind/program.h"

#include <cstddef>
#include <cstring>

#include "bind/args.h"
#include "bind/array.h"
#include "bind/convert.h"
#include "bind/subclass.h"
#include "bind/vectorcall.h"

namespace bc::bind {
namespace {

PyObject* handler = nullptr;  ///< what refused() asks
PyObject* watcher = nullptr;  ///< what computed_by_watcher() asks
PyTypeObject* function_type = nullptr;

// ---- What broadcloth refuses ------------------------------------------------------------------------------------------------------------

/// The exception that is set, with its traceback in it; none is set afterwards.
PyRef take_error() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return PyRef::maybe(value);
}

/// Sets an exception with the traceback that it has: no frame of whoever handled it is added.
void give_error(PyObject* error) {
  PyErr_Restore(new_ref(reinterpret_cast<PyObject*>(Py_TYPE(error))), new_ref(error), PyException_GetTraceback(error));
}

// ---- Functions of the face --------------------------------------------------------------------------------------------------------------

/// A function of broadcloth that a program has under NumPy's name: the handler is asked where it raises.
struct PyProgramFunction {
  PyObject_HEAD Vectorcall vectorcall;
  PyObject* ours;
  PyObject* theirs;  ///< NumPy's function
  bool binds;        ///< to its first argument where NumPy's function would, so that it can stand in a class
  bool dispatched;   ///< whether NumPy asks the arguments' __array_function__
  bool of_lists;     ///< whether it also asks those of arrays in lists and tuples
  bool of_memory;    ///< whether it makes arrays over memory: of what others can write NumPy makes them, ours would hold a copy
  bool of_bytes;     ///< and sees arrays as memory too (frombuffer)
  PyObject* method;  ///< the name of the method that NumPy's function calls of an object that is no array (of pandas, say), or nullptr
};
PyProgramFunction* as_function(PyObject* o) { return reinterpret_cast<PyProgramFunction*>(o); }

/// Tells whether an object is none of NumPy's and ours, no number and no list.
bool is_foreign(PyObject* o) {
  constexpr unsigned long plain = Py_TPFLAGS_LONG_SUBCLASS | Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS |
                                  Py_TPFLAGS_UNICODE_SUBCLASS | Py_TPFLAGS_BYTES_SUBCLASS | Py_TPFLAGS_DICT_SUBCLASS |
                                  Py_TPFLAGS_TYPE_SUBCLASS;
  if (o == Py_None || PyFloat_CheckExact(o) || is_exact(o, state().array) || is_numpy_array(o)) return false;
  return !(PyType_GetFlags(Py_TYPE(o)) & plain) && !PyObject_TypeCheck(o, state().np_generic);
}

/// Tells whether an object's class says itself what NumPy's functions do with it: it has an `__array_function__` (NEP 18), and not
/// ndarray's, ours or NumPy's.
bool computes_functions(PyObject* o) {
  if (!is_foreign(o)) return false;
  PyObject* const name = state().names.__array_function__;
  const PyRef own = attr_or_null(reinterpret_cast<PyObject*>(Py_TYPE(o)), name);
  return own && own.get() != Py_None && (!is_array(o) || has_own(o, name));
}

/// Tells whether an object that could become an array has a method of this name, which NumPy's functions call rather than convert it.
bool has_method(PyObject* o, PyObject* name) {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  return is_foreign(o) && !is_array(o) && attr_or_null(type, state().names.__array__) && attr_or_null(type, name);
}

/// The functions of NumPy's that call a method of their own name, and those that call one of another name.
constexpr std::string_view kOfMethods =
    " all any argmax argmin argpartition argsort choose clip compress cumprod cumsum diagonal dot max mean min nonzero prod ptp ravel "
    "repeat reshape round searchsorted squeeze std sum swapaxes take trace transpose var ";
constexpr std::pair<std::string_view, std::string_view> kOtherMethods[] = {{" amax ", "max"}, {" amin ", "min"}, {" around ", "round"}};

/// The functions of NumPy's that take lists of arrays.
constexpr std::string_view kOfLists =
    " block choose column_stack concat concatenate dstack histogram2d histogramdd hstack lexsort multi_dot piecewise savez "
    "savez_compressed "
    "select stack vstack ";

/// The functions of NumPy's that make arrays over memory.
constexpr std::string_view kOfMemory = " asanyarray asarray frombuffer ";

/// Tells which arguments of a call have functions of their own, those in lists and tuples too.
struct Foreign {
  PyObject* subclass = nullptr;  ///< the first array of a subclass of numpy.ndarray
  bool functions = false;        ///< whether one computes functions itself

  Foreign(PyObject* const* args, Py_ssize_t n, bool of_lists) : of_lists_(of_lists) {
    for (Py_ssize_t i = 0; i < n; ++i) look_at(args[i]);
  }

 private:
  const bool of_lists_;
  PyTypeObject* last_ = nullptr;  ///< a list has many elements of one type

  void look_at_one(PyObject* o, bool in_list) {
    if (is_exact(o, state().array) || (in_list && Py_TYPE(o) == last_)) return;
    if (in_list) last_ = Py_TYPE(o);
    if (!subclass && is_subclass_array(o)) subclass = o;
    if (!functions && (!in_list || of_lists_)) functions = computes_functions(o);
  }
  void look_at(PyObject* o) {
    const bool list = PyList_CheckExact(o);
    if (!list && !PyTuple_CheckExact(o)) return look_at_one(o, false);
    for (Py_ssize_t i = 0, n = PyObject_Size(o); i < n; ++i)
      if (PyObject* const item = list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i)) look_at_one(item, true);
  }
};

/// Tells whether an object is memory that others can write (`array.array`, `mmap`, an array of ctypes).
bool is_writable_memory(PyObject* o, bool also_arrays) {
  if (!PyObject_CheckBuffer(o) || (!also_arrays && (is_array(o) || is_numpy_array(o) || all_numbers(&o, 1)))) return false;
  Py_buffer view;
  if (PyObject_GetBuffer(o, &view, PyBUF_WRITABLE | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return false;
  }
  PyBuffer_Release(&view);
  return true;
}

/// The value of a keyword, or nullptr.
PyObject* named_value(PyObject* const* values, PyObject* kwnames, const char* name) {
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_Size(kwnames); ++k)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, k), name) == 0) return values[k];
  return nullptr;
}

/// The call without the question whose it is: ours, or NumPy's where ours refuses.
PyObject* compute_function(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  const PyProgramFunction* f = as_function(self);
  if (f->of_memory && n > 0 && is_writable_memory(args[0], f->of_bytes)) return PyObject_Vectorcall(f->theirs, args, n, kwnames);
  PyObject* watched = nullptr;
  if (watcher && computed_by_watcher(f->theirs, args, n, kwnames, &watched)) [[unlikely]]
    return watched;
  if (PyObject* made = PyObject_Vectorcall(f->ours, args, n, kwnames)) return made;
  return guard([&] {
    const TupleArguments given(args, n, kwnames);
    return refused(self, given.positional.get(), given.named.get());
  });
}

PyObject* call_function(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  const PyProgramFunction* f = as_function(self);
  const Py_ssize_t n = positional_count(nargsf);
  const Foreign foreign(args, n + (kwnames ? PyTuple_Size(kwnames) : 0), f->of_lists);
  // like= of another library's array, or of a class that computes functions, asks for an array of its kind.
  PyObject* const like = named_value(args + n, kwnames, "like");
  const bool makes_like = like && like != Py_None && (!is_array(like) || computes_functions(like)) && !is_numpy_array(like);
  const bool by_method = f->method && n > 0 && has_method(args[0], f->method);
  if (!foreign.subclass && !makes_like && !(foreign.functions && f->dispatched) && !by_method) [[likely]]
    return compute_function(self, args, n, kwnames);
  return guard([&] {
    if (by_method && !(foreign.functions && f->dispatched)) {
      const PyRef made = PyRef::steal(PyObject_Vectorcall(f->theirs, args, n, kwnames));
      return call(import_attr("broadcloth.run._fallback", "as_ours").get(), {made.get()}).release();
    }
    const TupleArguments given(args, n, kwnames);
    const PyRef named = given.named ? PyRef::borrow(given.named.get()) : PyRef::steal(PyDict_New());
    PyObject* const all = given.positional.get();
    if (foreign.subclass) {
      PyRef reason = PyRef::steal(PyUnicode_FromFormat("an argument is a %s, whose functions are NumPy's", type_name(foreign.subclass)));
      return call(import_attr("broadcloth.run._fallback", "on_host").get(), {f->theirs, reason.get(), all, named.get()}).release();
    }
    if (makes_like) return call(import_attr("broadcloth.run._overrides", "make_like").get(), {self, like, all, named.get()}).release();
    return call(import_attr("broadcloth.run._overrides", "dispatch").get(), {self, all, named.get()}).release();
  });
}

PyObject* bind_function(PyObject* self, PyObject* object, PyObject*) {
  if (!object || !as_function(self)->binds) return new_ref(self);
  return guard([&] {
    static PyObject* const method_type = import_attr("types", "MethodType").release();
    return call(method_type, {self, object}).release();
  });
}

PyObject* function_attribute(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return PyObject_GetAttr(as_function(self)->ours, name);
}

PyObject* function_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guard([&]() -> PyObject* {
    PyObject *ours = nullptr, *theirs = nullptr;
    if (!PyArg_ParseTuple(args, "OO:program_function", &ours, &theirs)) throw PythonError();
    auto* made = PyObject_New(PyProgramFunction, type);
    if (!made) throw PythonError();
    made->vectorcall = call_function;
    made->ours = new_ref(ours);
    made->theirs = new_ref(theirs);
    made->binds = PyObject_HasAttrString(theirs, "__get__") == 1;
    made->dispatched = std::string_view(type_name(theirs)) == "_ArrayFunctionDispatcher";
    const PyRef name = attr_or_null(theirs, state().names.__name__);
    const std::string text = name && PyUnicode_Check(name.get()) ? fmt::format(" {} ", as_string(name.get())) : " ? ";
    made->of_lists = kOfLists.find(text) != kOfLists.npos;
    made->of_memory = kOfMemory.find(text) != kOfMemory.npos;
    made->of_bytes = text == " frombuffer ";
    std::string_view method = kOfMethods.find(text) != kOfMethods.npos ? std::string_view(text).substr(1, text.size() - 2) : "";
    for (const auto& [function, other] : kOtherMethods)
      if (text == function) method = other;
    made->method = method.empty() ? nullptr : to_py(method).release();
    return reinterpret_cast<PyObject*>(made);
  });
}

void function_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(as_function(self)->ours);
  Py_DECREF(as_function(self)->theirs);
  Py_XDECREF(as_function(self)->method);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* function_repr(PyObject* self) { return PyObject_Repr(as_function(self)->ours); }

PyObject* function_attribute_of(PyObject* self, void* name) {
  return PyObject_GetAttrString(as_function(self)->theirs, static_cast<const char*>(name));
}

/// By the name that programs know it by.
PyObject* function_reduce(PyObject* self, PyObject*) {
  return guard([&] {
    PyRef find = import_attr("broadcloth.run", "function_of_program"), theirs = PyRef::borrow(as_function(self)->theirs);
    PyRef args = tuple_of({theirs.get()});
    return tuple_of({find.get(), args.get()}).release();
  });
}

/// Equal to NumPy's function, and found in its place among keys: `__array_function__` of a class gets either.
PyObject* compare_functions(PyObject* self, PyObject* other, int how) {
  if (how != Py_EQ && how != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  PyObject* const function = Py_TYPE(other) == function_type ? as_function(other)->theirs : other;
  return PyBool_FromLong((as_function(self)->theirs == function) == (how == Py_EQ));
}
Py_hash_t hash_function(PyObject* self) { return PyObject_Hash(as_function(self)->theirs); }

char kName[] = "__name__", kQualname[] = "__qualname__", kModule[] = "__module__", kDoc[] = "__doc__";
PyGetSetDef function_attributes[] = {{kName, function_attribute_of, nullptr, nullptr, kName},
                                     {kQualname, function_attribute_of, nullptr, nullptr, kQualname},
                                     {kModule, function_attribute_of, nullptr, nullptr, kModule},
                                     {kDoc, function_attribute_of, nullptr, nullptr, kDoc},
                                     {}};
PyMemberDef function_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyProgramFunction, vectorcall), READONLY, nullptr},
                                  {"__wrapped__", T_OBJECT, offsetof(PyProgramFunction, ours), READONLY, nullptr},
                                  {"numpy_function", T_OBJECT, offsetof(PyProgramFunction, theirs), READONLY, nullptr},
                                  {"of_lists", T_BOOL, offsetof(PyProgramFunction, of_lists), READONLY, nullptr},
                                  {}};
PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, nullptr},
    {"_implementation", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(compute_function)), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {}};
PyType_Slot function_slots[] = {{Py_tp_new, reinterpret_cast<void*>(function_new)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
                                {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_function>)},
                                {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
                                {Py_tp_richcompare, reinterpret_cast<void*>(compare_functions)},
                                {Py_tp_hash, reinterpret_cast<void*>(hash_function)},
                                {Py_tp_getattro, reinterpret_cast<void*>(function_attribute)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(bind_function)},
                                {Py_tp_getset, function_attributes},
                                {Py_tp_members, function_members},
                                {Py_tp_methods, function_methods},
                                {0, nullptr}};
PyType_Spec function_spec = {"broadcloth._broadcloth.program_function", sizeof(PyProgramFunction), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, function_slots};

// ---- The hooks of imports and classes ---------------------------------------------------------------------------------------------------

/// An object that stands in the place of a built-in function. It is no Python function, so that it leaves no frame.
struct PyHook {
  PyObject_HEAD PyObject* original;
  PyObject* find;  ///< what is asked or told
};
PyHook* as_hook(PyObject* o) { return reinterpret_cast<PyHook*>(o); }

bool is_watched(PyObject* name) {
  if (!PyUnicode_Check(name)) return false;
  const std::string_view text = as_string(name), root = text.substr(0, text.find('.'));
  return root == "numpy" || root == "multiprocessing";
}

/// Stands in the place of `__import__` or `importlib.import_module`. For names of NumPy it asks `find` first, which answers NotImplemented
/// where the importing file is not the program's; of multiprocessing, whose children must have the hook too, `find` is told.
PyObject* call_hook(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    PyObject* name = PyTuple_Size(args) ? PyTuple_GetItem(args, 0) : kwargs ? PyDict_GetItemString(kwargs, "name") : nullptr;
    if (name && is_watched(name)) {
      PyRef found = PyRef::steal(PyObject_Call(as_hook(self)->find, args, kwargs));
      if (found.get() != Py_NotImplemented) return found.release();
    }
    return PyObject_Call(as_hook(self)->original, args, kwargs);
  });
}

PyObject* hook_attribute(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return PyObject_GetAttr(as_hook(self)->original, name);
}

PyObject* hook_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guard([&]() -> PyObject* {
    PyObject *original = nullptr, *find = nullptr;
    if (!PyArg_ParseTuple(args, "OO:hook", &original, &find)) throw PythonError();
    auto* made = PyObject_New(PyHook, type);
    if (!made) throw PythonError();
    made->original = new_ref(original);
    made->find = new_ref(find);
    return reinterpret_cast<PyObject*>(made);
  });
}

void hook_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(as_hook(self)->original);
  Py_DECREF(as_hook(self)->find);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyMemberDef hook_members[] = {{"original", T_OBJECT, offsetof(PyHook, original), READONLY, nullptr}, {}};
PyType_Slot hook_slots[] = {{Py_tp_new, reinterpret_cast<void*>(hook_new)},
                            {Py_tp_dealloc, reinterpret_cast<void*>(hook_dealloc)},
                            {Py_tp_call, reinterpret_cast<void*>(call_hook)},
                            {Py_tp_getattro, reinterpret_cast<void*>(hook_attribute)},
                            {Py_tp_members, hook_members},
                            {0, nullptr}};
PyType_Spec hook_spec = {"broadcloth._broadcloth.import_hook", sizeof(PyHook), 0, Py_TPFLAGS_DEFAULT, hook_slots};

/// Stands in the place of `__build_class__`: `find` is told each new class that has an `__array__`.
PyObject* build_class(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    PyRef made = PyRef::steal(PyObject_Call(as_hook(self)->original, args, kwargs));
    if (PyType_Check(made.get())) {
      const PyRef members = attr(made.get(), "__dict__");
      const int has = PySequence_Contains(members.get(), state().names.__array__);
      check(has);
      if (has) call(as_hook(self)->find, {made.get()});
    }
    return made.release();
  });
}

PyType_Slot class_hook_slots[] = {{Py_tp_new, reinterpret_cast<void*>(hook_new)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(hook_dealloc)},
                                  {Py_tp_call, reinterpret_cast<void*>(build_class)},
                                  {Py_tp_getattro, reinterpret_cast<void*>(hook_attribute)},
                                  {Py_tp_members, hook_members},
                                  {0, nullptr}};
PyType_Spec class_hook_spec = {"broadcloth._broadcloth.class_hook", sizeof(PyHook), 0, Py_TPFLAGS_DEFAULT, class_hook_slots};

void set_program_handler(PyObject* given, PyObject* array_class) {
  program_ndarray = array_class == Py_None ? nullptr : new_ref(array_class);  // a class lives as long as the process
  PyObject* old = std::exchange(handler, given == Py_None ? nullptr : new_ref(given));
  program_mode.store(handler != nullptr, std::memory_order_relaxed);
  Py_XDECREF(old);
}

void set_error_watcher(PyObject* given) {
  PyObject* old = std::exchange(watcher, given == Py_None ? nullptr : new_ref(given));
  errors_watched.store(watcher != nullptr, std::memory_order_relaxed);
  Py_XDECREF(old);
}

}  // namespace

bool computed_by_watcher(PyObject* what, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** made) {
  bool done = true;
  *made = guard([&]() -> PyObject* {
    const PyRef asked = PyRef::borrow(watcher);
    const TupleArguments given(args, n, kwnames);
    PyRef result = call(asked.get(), {what, given.positional.get(), given.named ? given.named.get() : Py_None});
    done = result.get() != Py_NotImplemented;
    return done ? result.release() : nullptr;
  });
  return done;
}

TupleArguments::TupleArguments(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames)
    : positional(PyRef::steal(PyTuple_New(nargs))), named(nullptr) {
  for (Py_ssize_t i = 0; i < nargs; ++i) check(PyTuple_SetItem(positional.get(), i, new_ref(args[i])));
  const Py_ssize_t keywords = kwnames ? PyTuple_Size(kwnames) : 0;
  if (keywords) named = PyRef::steal(PyDict_New());
  for (Py_ssize_t k = 0; k < keywords; ++k) check(PyDict_SetItem(named.get(), PyTuple_GetItem(kwnames, k), args[nargs + k]));
}

PyObject* refused(PyObject* what, PyObject* args, PyObject* kwargs) {
  if (!handler || !PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
  return guard([&]() -> PyObject* {
    PyRef error = take_error();
    PyRef asked = PyRef::borrow(handler);
    PyRef made = call(asked.get(), {what, args, kwargs ? kwargs : Py_None, error.get()});
    if (made.get() == Py_NotImplemented) {
      give_error(error.get());
      return nullptr;
    }
    // NumPy raised as well: its exception is the program's.
    if (PyObject_IsInstance(made.get(), PyExc_BaseException) == 1) {
      give_error(made.get());
      return nullptr;
    }
    return made.release();
  });
}

namespace {

/// A 0-d array of NumPy's for each dtype: an element is written into its memory and taken out as a scalar, which is several times faster
/// than a call of the scalar's type.
struct Mould {
  PyObject* array = nullptr;
  void* memory = nullptr;
};

Mould make_mould(DType dtype) {
  PyRef empty_shape = PyRef::steal(PyTuple_New(0));
  PyRef array = call(state().np_empty, {empty_shape.get(), dtype_object(dtype)});
  return {new_ref(array.get()), NumpyView(array.get()).data()};
}

/// Makes numpy.float64 and numpy.int64, of which loops over elements make many. Their value lies behind the object's head, as NumPy's
/// header for extensions says (arrayscalars.h).
struct ScalarMaker {
  PyTypeObject* type = nullptr;
  allocfunc allocate = nullptr;  ///< nullptr where the objects have another size

  explicit ScalarMaker(DType dtype) : type(reinterpret_cast<PyTypeObject*>(numpy_scalar_type(dtype))) {
    const PyRef size = attr(reinterpret_cast<PyObject*>(type), "__basicsize__");
    if (PyLong_AsSize_t(size.get()) == sizeof(PyObject) + 8) allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  }
  static char* value_of(PyObject* o) { return reinterpret_cast<char*>(o) + sizeof(PyObject); }
};

const ScalarMaker& scalar_maker(DType dtype) {
  static const ScalarMaker makers[] = {ScalarMaker(DType::f64), ScalarMaker(DType::i64)};
  return makers[dtype == DType::i64];
}

/// NumPy's scalar of the element that `write(place)` writes.
template <class Write>
PyRef written_scalar(DType dtype, Write&& write) {
  if (dtype == DType::f64 || dtype == DType::i64) {
    if (const ScalarMaker& maker = scalar_maker(dtype); maker.allocate) {
      PyRef made = PyRef::steal(maker.allocate(maker.type, 0));
      write(ScalarMaker::value_of(made.get()));
      return made;
    }
  }
  static Mould moulds[256];
  static PyObject* nothing = PyTuple_New(0);
  Mould& mould = moulds[static_cast<uint8_t>(dtype)];
  if (!mould.array) mould = make_mould(dtype);
  write(static_cast<char*>(mould.memory));
  return PyRef::steal(PyObject_GetItem(mould.array, nothing));
}

}  // namespace

bool is_subclass_array(PyObject* o) {
  PyTypeObject* plain = reinterpret_cast<PyTypeObject*>(state().np_ndarray);
  if (Py_TYPE(o) == plain || !PyType_IsSubtype(Py_TYPE(o), plain)) return false;
  if (reinterpret_cast<PyObject*>(Py_TYPE(o)) == program_ndarray) return false;
  static PyObject* memmap = attr(state().numpy, "memmap").release();  // elements in a file, and nothing else
  return Py_TYPE(o) != reinterpret_cast<PyTypeObject*>(memmap);
}

PyRef to_numpy_scalar(const Scalar& s, DType dtype) {
  if constexpr (kFreeThreaded) {  // threads would share the memory
    const PyRef value = to_python(s, dtype);
    return PyRef::steal(PyObject_CallFunctionObjArgs(numpy_scalar_type(dtype), value.get(), nullptr));
  }
  return written_scalar(dtype, [&](char* to) { s.store(dtype, to); });
}

PyRef to_numpy_scalar(const Element& element) {
  if constexpr (kFreeThreaded) return to_numpy_scalar(element.scalar(), element.dtype);
  const int item = itemsize(element.dtype);
  return written_scalar(element.dtype, [&](char* to) {
    if (item == 8)
      std::memcpy(to, element.bytes, 8);
    else
      std::memcpy(to, element.bytes, static_cast<size_t>(item));
  });
}

bool is_left_to_numpy(PyObject* o) {
  if (!is_subclass_array(o)) return false;
  if (program_mode.load(std::memory_order_relaxed)) return true;
  const PyRef name = to_py(std::string_view("numpy.ma")), module = PyRef::maybe(PyImport_GetModule(name.get()));
  if (!module || PyObject_IsInstance(o, attr(module.get(), "MaskedArray").get()) != 1) return false;
  return attr(o, "_mask").get() != attr(module.get(), "nomask").get();
}

bool read_numpy_scalar(PyObject* o, DType dtype, Element* made) {
  if (dtype != DType::f64 && dtype != DType::i64) return false;
  const ScalarMaker& maker = scalar_maker(dtype);
  if (Py_TYPE(o) != maker.type || !maker.allocate) return false;
  made->dtype = dtype;
  std::memcpy(made->bytes, ScalarMaker::value_of(o), 8);
  return true;
}

bool all_numbers(PyObject* const* args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* o = args[i];
    const bool number = PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyComplex_CheckExact(o) || PyBool_Check(o) ||
                        PyObject_TypeCheck(o, state().np_generic);
    if (!number) return false;
  }
  return true;
}

void init_program(PyObject* module) {
  function_type = add_type(module, &function_spec, "program_function");
  add_type(module, &hook_spec, "import_hook");
  add_type(module, &class_hook_spec, "class_hook");
  add_functions(
      module, {BC_FUNCTION("set_program_handler(handler: Callable[..., Any] | None, array_class: type | None = None)", set_program_handler),
               BC_FUNCTION("set_error_watcher(watcher: Callable[..., Any] | None)", set_error_watcher),
               BC_FUNCTION("is_numpys_subclass(value, /)",
                           [](PyObject* value) { return program_mode.load(std::memory_order_relaxed) && is_subclass_array(value); }),
               BC_FUNCTION("as_result(a, like=None)", [](const Array& a, PyObject* like) {
                 return PyRef::steal(with_class(wrap_value(a), "median", false, &like, 1));
               })});
}

}  // namespace bc::bind
