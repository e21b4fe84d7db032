// Programs that were written for NumPy and run unchanged: the import hook, functions that NumPy stands in for, elements as NumPy's scalars.
#include "bind/program.h"

#include <cstddef>

#include "bind/args.h"
#include "bind/array.h"
#include "bind/convert.h"
#include "bind/subclass.h"
#include "bind/vectorcall.h"

namespace bc::bind {
namespace {

PyObject* handler = nullptr;  ///< what refused() asks
PyTypeObject* function_type = nullptr;
PyTypeObject* hook_type = nullptr;

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
};
PyProgramFunction* as_function(PyObject* o) { return reinterpret_cast<PyProgramFunction*>(o); }

/// The first array of a subclass of numpy.ndarray among arguments and in their lists and tuples, or nullptr.
PyObject* subclass_array(PyObject* const* args, Py_ssize_t n) {
  const auto find = [](PyObject* o) -> PyObject* {
    if (is_subclass_array(o)) return o;
    if (PyList_CheckExact(o)) {
      for (Py_ssize_t i = 0; i < PyList_Size(o); ++i)
        if (PyObject* item = PyList_GetItem(o, i); is_subclass_array(item)) return item;
    } else if (PyTuple_CheckExact(o)) {
      for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i)
        if (PyObject* item = PyTuple_GetItem(o, i); is_subclass_array(item)) return item;
    }
    return nullptr;
  };
  for (Py_ssize_t i = 0; i < n; ++i)
    if (PyObject* found = find(args[i])) return found;
  return nullptr;
}

/// The value of the keyword like=, if it is an array of another library's: it asks for an array of its kind.
PyObject* foreign_like(PyObject* const* named, PyObject* kwnames) {
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_Size(kwnames); ++k)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, k), "like") == 0)
      return named[k] == Py_None || is_array(named[k]) || is_numpy_array(named[k]) ? nullptr : named[k];
  return nullptr;
}

PyObject* call_function(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  const Py_ssize_t n = positional_count(nargsf);
  const PyProgramFunction* function = as_function(self);
  PyObject* const theirs = subclass_array(args, n + (kwnames ? PyTuple_Size(kwnames) : 0));
  if (!theirs) {
    if (foreign_like(args + n, kwnames)) return PyObject_Vectorcall(function->theirs, args, n, kwnames);
    if (PyObject* made = PyObject_Vectorcall(function->ours, args, n, kwnames)) return made;
  }
  return guard([&] {
    const TupleArguments given(args, n, kwnames);
    if (!theirs) return refused(self, given.positional.get(), given.named.get());
    PyRef reason = PyRef::steal(PyUnicode_FromFormat("an argument is a %s, whose functions are NumPy's", type_name(theirs)));
    PyRef named = given.named ? PyRef::borrow(given.named.get()) : PyRef::steal(PyDict_New());
    return call(import_attr("broadcloth.run._fallback", "on_host").get(),
                {function->theirs, reason.get(), given.positional.get(), named.get()})
        .release();
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
    return reinterpret_cast<PyObject*>(made);
  });
}

void function_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(as_function(self)->ours);
  Py_DECREF(as_function(self)->theirs);
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

char kName[] = "__name__", kQualname[] = "__qualname__", kModule[] = "__module__", kDoc[] = "__doc__";
PyGetSetDef function_attributes[] = {{kName, function_attribute_of, nullptr, nullptr, kName},
                                     {kQualname, function_attribute_of, nullptr, nullptr, kQualname},
                                     {kModule, function_attribute_of, nullptr, nullptr, kModule},
                                     {kDoc, function_attribute_of, nullptr, nullptr, kDoc},
                                     {}};
PyMemberDef function_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyProgramFunction, vectorcall), READONLY, nullptr},
                                  {"__wrapped__", T_OBJECT, offsetof(PyProgramFunction, ours), READONLY, nullptr},
                                  {"numpy_function", T_OBJECT, offsetof(PyProgramFunction, theirs), READONLY, nullptr},
                                  {}};
PyMethodDef function_methods[] = {{"__reduce__", function_reduce, METH_NOARGS, nullptr}, {}};
PyType_Slot function_slots[] = {{Py_tp_new, reinterpret_cast<void*>(function_new)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
                                {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_function>)},
                                {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
                                {Py_tp_getattro, reinterpret_cast<void*>(function_attribute)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(bind_function)},
                                {Py_tp_getset, function_attributes},
                                {Py_tp_members, function_members},
                                {Py_tp_methods, function_methods},
                                {0, nullptr}};
PyType_Spec function_spec = {"broadcloth._broadcloth.program_function", sizeof(PyProgramFunction), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, function_slots};

// ---- The import hook --------------------------------------------------------------------------------------------------------------------

/// Stands in the place of `__import__` or `importlib.import_module`. For names of NumPy it asks `find` first, which answers NotImplemented
/// where the importing file is not the program's; of multiprocessing, whose children must have the hook too, `find` is told. It is no
/// Python function, so tracebacks of failed imports are what they are without it.
struct PyImportHook {
  PyObject_HEAD PyObject* original;
  PyObject* find;
};
PyImportHook* as_hook(PyObject* o) { return reinterpret_cast<PyImportHook*>(o); }

bool is_watched(PyObject* name) {
  if (!PyUnicode_Check(name)) return false;
  const std::string_view text = as_string(name), root = text.substr(0, text.find('.'));
  return root == "numpy" || root == "multiprocessing";
}

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
    if (!PyArg_ParseTuple(args, "OO:import_hook", &original, &find)) throw PythonError();
    auto* made = PyObject_New(PyImportHook, type);
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

PyMemberDef hook_members[] = {{"original", T_OBJECT, offsetof(PyImportHook, original), READONLY, nullptr}, {}};
PyType_Slot hook_slots[] = {{Py_tp_new, reinterpret_cast<void*>(hook_new)},
                            {Py_tp_dealloc, reinterpret_cast<void*>(hook_dealloc)},
                            {Py_tp_call, reinterpret_cast<void*>(call_hook)},
                            {Py_tp_getattro, reinterpret_cast<void*>(hook_attribute)},
                            {Py_tp_members, hook_members},
                            {0, nullptr}};
PyType_Spec hook_spec = {"broadcloth._broadcloth.import_hook", sizeof(PyImportHook), 0, Py_TPFLAGS_DEFAULT, hook_slots};

void set_program_handler(PyObject* given, PyObject* array_class) {
  program_ndarray = array_class == Py_None ? nullptr : new_ref(array_class);  // a class lives as long as the process
  PyObject* old = std::exchange(handler, given == Py_None ? nullptr : new_ref(given));
  program_mode.store(handler != nullptr, std::memory_order_relaxed);
  Py_XDECREF(old);
}

}  // namespace

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
  PyRef make(const Scalar& s, DType dtype) const {
    PyRef made = PyRef::steal(allocate(type, 0));
    s.store(dtype, reinterpret_cast<char*>(made.get()) + sizeof(PyObject));
    return made;
  }
};

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
  if (dtype == DType::f64 || dtype == DType::i64) {
    static const ScalarMaker real(DType::f64), integer(DType::i64);
    const ScalarMaker& maker = dtype == DType::f64 ? real : integer;
    if (maker.allocate) return maker.make(s, dtype);
  }
  static Mould moulds[256];
  static PyObject* nothing = PyTuple_New(0);
  Mould& mould = moulds[static_cast<uint8_t>(dtype)];
  if (!mould.array) mould = make_mould(dtype);
  s.store(dtype, mould.memory);
  return PyRef::steal(PyObject_GetItem(mould.array, nothing));
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
  hook_type = add_type(module, &hook_spec, "import_hook");
  add_functions(
      module, {BC_FUNCTION("set_program_handler(handler: Callable[..., Any] | None, array_class: type | None = None)", set_program_handler),
               BC_FUNCTION("is_numpys_subclass(value, /)",
                           [](PyObject* value) { return program_mode.load(std::memory_order_relaxed) && is_subclass_array(value); }),
               BC_FUNCTION("as_result(a, like=None)", [](const Array& a, PyObject* like) {
                 return PyRef::steal(with_class(wrap_value(a), "median", false, &like, 1));
               })});
}

}  // namespace bc::bind
