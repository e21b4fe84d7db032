// Dtypes: NumPy's dtype objects in both directions, and bfloat16, which NumPy does not have.
#include <array>

#include "bind/convert.h"
#include "core/spelling.h"

namespace bc::bind {
namespace {

struct PyBfloat16 {
  PyObject_HEAD
};

/// ml_dtypes' numpy.dtype for bfloat16, or the singleton of our own where ml_dtypes is not installed.
PyObject* bfloat16_dtype() {
  State& s = state();
  if (PyObject* known = s.bfloat16_dtype.load(std::memory_order_acquire)) return known;
  PyRef found;
  PyRef module = PyRef::maybe(PyImport_ImportModule("ml_dtypes"));
  if (module) {
    PyRef type = PyRef::maybe(PyObject_GetAttrString(module.get(), "bfloat16"));
    if (type) found = PyRef::maybe(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(s.np_dtype), type.get(), nullptr));
  }
  if (!found) {
    PyErr_Clear();
    found = PyRef::borrow(s.bfloat16);
  }
  PyObject* none = nullptr;
  PyObject* made = found.get();
  if (s.bfloat16_dtype.compare_exchange_strong(none, made, std::memory_order_acq_rel)) return found.release();
  return none;
}

std::optional<DType> from_kind(char kind, int64_t size) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DTypeInfo& row = info(static_cast<DType>(i));
    if (static_cast<DType>(i) != DType::bf16 && row.kind == kind && row.itemsize == size) return static_cast<DType>(i);
  }
  return std::nullopt;
}

[[noreturn]] void unsupported(PyObject* o) {
  PyErr_Format(PyExc_TypeError, "dtype: expected bool, an integer, a float of 16 to 64 bits, bfloat16 or a complex type, got %S", o);
  throw PythonError();
}

DType from_numpy_dtype(PyObject* d) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (state().dtypes[i] == d) return static_cast<DType>(i);
  if (d == state().bfloat16_dtype.load(std::memory_order_acquire)) return DType::bf16;
  const Names& n = state().names;
  PyRef kind = PyRef::steal(PyObject_GetAttr(d, n.kind));
  PyRef size = PyRef::steal(PyObject_GetAttr(d, n.itemsize));
  PyRef native = PyRef::steal(PyObject_GetAttr(d, n.isnative));
  const auto found = from_kind(as_string(kind.get())[0], to_int(size.get(), "itemsize"));
  if (!found || !PyObject_IsTrue(native.get())) {
    PyRef name = PyRef::steal(PyObject_GetAttr(d, n.name));
    if (as_string(name.get()) == "bfloat16") return DType::bf16;
    unsupported(d);
  }
  return *found;
}

std::optional<DType> quick(PyObject* o) {
  const State& s = state();
  for (int i = 0; i < kDTypeCount; ++i)
    if (s.dtypes[i] == o || s.scalar_types[i] == o || s.named_types[i] == o) return static_cast<DType>(i);
  if (o == s.bfloat16) return DType::bf16;
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::f64;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::i64;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::b1;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::c128;
  return std::nullopt;
}

PyObject* bfloat16_repr(PyObject*) { return PyUnicode_FromString("bfloat16"); }

PyObject* bfloat16_get(PyObject* self, void* what) {
  switch (reinterpret_cast<intptr_t>(what)) {
    case 0: return PyUnicode_FromString("bfloat16");
    case 1: return PyLong_FromLong(2);
    case 2: return PyUnicode_FromString("f");
    case 3: return PyUnicode_FromString("<V2");
    case 4:
      return guard([&] {
        PyObject* d = bfloat16_dtype();
        // numpy.dtype(bfloat16) follows this attribute, so it must not lead back here.
        if (d == self) throw_python(PyExc_AttributeError, "bfloat16.dtype: NumPy has no bfloat16 without the package ml_dtypes");
        return new_ref(d);
      });
    case 5: return PyUnicode_FromString("E");
    case 6: Py_RETURN_TRUE;
    case 7: return PyLong_FromLong(2);
  }
  Py_RETURN_NONE;
}

PyObject* bfloat16_compare(PyObject* self, PyObject* other, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  bool same = self == other;
  if (!same) {
    if (PyUnicode_Check(other)) {
      same = PyUnicode_CompareWithASCIIString(other, "bfloat16") == 0;
    } else {
      PyRef name = PyRef::maybe(PyObject_GetAttr(other, PyType_Check(other) ? state().names.__name__ : state().names.name));
      if (!name) PyErr_Clear();
      const bool dtype_like = PyType_Check(other) || PyType_IsSubtype(Py_TYPE(other), state().np_dtype);
      same = name && dtype_like && PyUnicode_Check(name.get()) && PyUnicode_CompareWithASCIIString(name.get(), "bfloat16") == 0;
    }
  }
  return PyBool_FromLong(same == (op == Py_EQ));
}

Py_hash_t bfloat16_hash(PyObject*) {
  PyRef name = PyRef::maybe(PyUnicode_FromString("bfloat16"));
  return name ? PyObject_Hash(name.get()) : -1;
}

PyObject* bfloat16_reduce(PyObject*, PyObject*) { return PyUnicode_FromString("bfloat16"); }

/// bfloat16(x): x as an array of bfloat16, as NumPy's scalar types are called.
PyObject* bfloat16_call(PyObject*, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    PyObject* value = nullptr;
    if (!PyArg_UnpackTuple(args, "bfloat16", 0, 1, &value)) throw PythonError();
    if (kwargs && PyDict_Size(kwargs)) throw_python(PyExc_TypeError, "bfloat16() takes no keyword arguments");
    PyRef zero = to_py(int64_t{0});
    bool same = false;
    return wrap(as_array(value ? value : zero.get(), DType::bf16, true, std::nullopt, &same));
  });
}

PyGetSetDef bfloat16_attributes[] = {{"name", bfloat16_get, nullptr, "\"bfloat16\"", nullptr},
                                     {"itemsize", bfloat16_get, nullptr, "2", reinterpret_cast<void*>(1)},
                                     {"kind", bfloat16_get, nullptr, "\"f\"", reinterpret_cast<void*>(2)},
                                     {"str", bfloat16_get, nullptr, "The array interface's type string", reinterpret_cast<void*>(3)},
                                     {"dtype", bfloat16_get, nullptr, "The numpy.dtype of ml_dtypes", reinterpret_cast<void*>(4)},
                                     {"char", bfloat16_get, nullptr, "\"E\"", reinterpret_cast<void*>(5)},
                                     {"isnative", bfloat16_get, nullptr, "True", reinterpret_cast<void*>(6)},
                                     {"alignment", bfloat16_get, nullptr, "2", reinterpret_cast<void*>(7)},
                                     {"__name__", bfloat16_get, nullptr, nullptr, nullptr},
                                     {}};
PyMethodDef bfloat16_methods[] = {{"__reduce__", bfloat16_reduce, METH_NOARGS, nullptr}, {}};

PyType_Slot bfloat16_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(bfloat16_repr)},
    {Py_tp_str, reinterpret_cast<void*>(bfloat16_repr)},
    {Py_tp_richcompare, reinterpret_cast<void*>(bfloat16_compare)},
    {Py_tp_hash, reinterpret_cast<void*>(bfloat16_hash)},
    {Py_tp_call, reinterpret_cast<void*>(bfloat16_call)},
    {Py_tp_getset, bfloat16_attributes},
    {Py_tp_methods, bfloat16_methods},
    {Py_tp_doc, const_cast<char*>("The dtype bfloat16: float32's range with 8 bits of precision.")},
    {0, nullptr},
};
PyType_Spec bfloat16_spec = {"broadcloth._broadcloth.BFloat16DType", sizeof(PyBfloat16), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, bfloat16_slots};

}  // namespace

namespace {

/// Adds to NumPy's error for what is no dtype what may have been meant.
[[noreturn]] void not_a_dtype(PyObject* o) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError();
  if (PyLong_Check(o)) {
    PyErr_Format(PyExc_TypeError, "Cannot interpret '%S' as a data type; a shape of several axes is one tuple, as in zeros((2, 3))", o);
  } else if (PyUnicode_Check(o)) {
    std::vector<std::string> names;
    for (int i = 0; i < kDTypeCount; ++i) names.emplace_back(info(static_cast<DType>(i)).name);
    const std::string meant = nearest_name(as_string(o), names);
    if (!meant.empty()) PyErr_Format(PyExc_TypeError, "data type '%U' not understood; did you mean '%s'?", o, meant.c_str());
  }
  throw PythonError();
}

}  // namespace

std::optional<DType> dtype_if_dtype(PyObject* o) {
  if (const auto t = quick(o)) return t;
  if (PyType_IsSubtype(Py_TYPE(o), state().np_dtype)) return from_numpy_dtype(o);
  if (PyType_Check(o) || PyUnicode_Check(o)) return to_dtype(o);
  return std::nullopt;
}

DType to_dtype(PyObject* o) {
  if (const auto t = quick(o)) return *t;
  if (PyUnicode_Check(o)) {
    if (const auto t = dtype_from_name(as_string(o))) return *t;
  } else if (PyType_IsSubtype(Py_TYPE(o), state().np_dtype)) {
    return from_numpy_dtype(o);
  }
  PyRef made = PyRef::maybe(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(state().np_dtype), o, nullptr));
  if (!made) not_a_dtype(o);
  return from_numpy_dtype(made.get());
}

std::optional<DType> to_dtype_or_none(PyObject* o) {
  if (!o || o == Py_None) return std::nullopt;
  return to_dtype(o);
}

PyObject* dtype_object(DType t) { return t == DType::bf16 ? bfloat16_dtype() : state().dtypes[static_cast<int>(t)]; }

bool numpy_has(DType t) { return t != DType::bf16 || bfloat16_dtype() != state().bfloat16; }

namespace {
/// name_dtype(class, name): a class of broadcloth's own that names a dtype as NumPy's scalar type does.
PyObject* name_dtype(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* type = nullptr;
    const char* name = nullptr;
    if (!PyArg_ParseTuple(args, "Os", &type, &name)) throw PythonError();
    const auto t = dtype_from_name(name);
    if (t && !state().named_types[static_cast<int>(*t)]) state().named_types[static_cast<int>(*t)] = new_ref(type);
    Py_RETURN_NONE;
  });
}
PyMethodDef dtype_functions[] = {{"name_dtype", name_dtype, METH_VARARGS, nullptr}, {}};
}  // namespace

void init_dtype(PyObject* module) {
  check(PyModule_AddFunctions(module, dtype_functions));
  State& s = state();
  for (int i = 0; i < kDTypeCount; ++i) {
    if (static_cast<DType>(i) == DType::bf16) continue;
    const char* name = info(static_cast<DType>(i)).name;
    s.dtypes[i] = call(reinterpret_cast<PyObject*>(s.np_dtype), {to_py(name).get()}).release();
    s.scalar_types[i] = attr(s.dtypes[i], "type").release();
  }
  s.bfloat16_type = add_type(module, &bfloat16_spec, nullptr);
  s.bfloat16 = PyRef::steal(reinterpret_cast<PyObject*>(PyObject_New(PyBfloat16, s.bfloat16_type))).release();
  check(PyModule_AddObjectRef(module, "bfloat16", s.bfloat16));
  PyRef names = PyRef::steal(PyTuple_New(kDTypeCount));
  for (int i = 0; i < kDTypeCount; ++i) check(PyTuple_SetItem(names.get(), i, to_py(info(static_cast<DType>(i)).name).release()));
  check(PyModule_AddObjectRef(module, "dtype_names", names.get()));
}

}  // namespace bc::bind
