// Dtypes: NumPy's dtype objects in both directions, and those of types that NumPy does not have by itself.
#include <array>

#include "bind/convert.h"
#include "core/spelling.h"
#include "core/time_unit.h"

namespace bc::bind {
namespace {

/// The object of a dtype that NumPy knows only with ml_dtypes.
struct PyOwnDType {
  PyObject_HEAD DType t;
};
DType own_dtype(PyObject* self) { return reinterpret_cast<PyOwnDType*>(self)->t; }

/// ml_dtypes' numpy.dtype for such a type, or the singleton of our own where ml_dtypes is not installed.
PyObject* found_dtype(DType t) {
  State& s = state();
  std::atomic<PyObject*>& place = s.found_dtypes[static_cast<uint8_t>(t)];
  if (PyObject* known = place.load(std::memory_order_acquire)) return known;
  PyRef found;
  PyRef module = PyRef::maybe(PyImport_ImportModule("ml_dtypes"));
  if (module) {
    PyRef type = PyRef::maybe(PyObject_GetAttrString(module.get(), info(t).name));
    if (type) found = PyRef::maybe(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(s.np_dtype), type.get(), nullptr));
  }
  if (!found) {
    PyErr_Clear();
    found = PyRef::borrow(s.own_dtypes[static_cast<int>(t)]);
  }
  PyObject* none = nullptr;
  PyObject* made = found.get();
  if (place.compare_exchange_strong(none, made, std::memory_order_acq_rel)) return found.release();
  return none;
}

/// numpy.dtype("datetime64[s]") and so on.
PyObject* time_dtype(DType t) {
  std::atomic<PyObject*>& place = state().found_dtypes[static_cast<uint8_t>(t)];
  if (PyObject* known = place.load(std::memory_order_acquire)) return known;
  PyRef made = call(reinterpret_cast<PyObject*>(state().np_dtype), {to_py(info(t).name).get()});
  PyObject* none = nullptr;
  PyObject* dtype = made.get();
  if (place.compare_exchange_strong(none, dtype, std::memory_order_acq_rel)) return made.release();
  return none;
}

DType time_of(PyObject* d, bool date) {
  PyRef data = call(attr(state().numpy, "datetime_data").get(), {d});
  PyRef name = PyRef::steal(PySequence_GetItem(data.get(), 0)), count = PyRef::steal(PySequence_GetItem(data.get(), 1));
  const std::string_view text = as_string(name.get());
  const auto base = base_from_name(text == "\xce\xbcs" ? "us" : text);
  if (!base) raise(ErrorKind::Type, "dtype: expected a unit of time that broadcloth has, got {}", text);
  const TimeUnit unit{*base, to_int(count.get(), "count")};
  return date ? datetime_type(unit) : timedelta_type(unit);
}

std::optional<DType> from_kind(char kind, int64_t size) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DTypeInfo& row = info(static_cast<DType>(i));
    if (row.in_numpy && row.kind == kind && row.itemsize == size) return static_cast<DType>(i);
  }
  return std::nullopt;
}

[[noreturn]] void unsupported(PyObject* o, char kind) {
  const char* why = "expected bool, an integer, a float of 8 to 64 bits, a complex type, datetime64 or timedelta64";
  if (kind == 'S' || kind == 'U' || kind == 'T') why = "strings stay on the host, in NumPy's arrays";
  if (kind == 'O') why = "Python objects stay on the host, in NumPy's arrays";
  if (kind == 'g') why = "longdouble stays on the host, in NumPy's arrays; float64 is the widest float here";
  if (std::string_view("iufcmM").find(kind) != std::string_view::npos && !PyObject_IsTrue(attr(o, "isnative").get()))
    why = "arrays have the machine's byte order; asarray(), frombuffer() and fromfile() convert those of the other";
  const PyRef subarray = attr(o, "subdtype");
  if (subarray.get() != Py_None) {
    kind = ' ';
    why = "a dtype of subarrays is for fields of records; add its axes to the array's shape";
  }
  if (kind == 'V') why = "records are in arrays of their own (broadcloth.recarray), which this function does not take";
  PyErr_Format(kind == 'V' ? state().record_error : PyExc_TypeError, "dtype: %s; got %S", why, o);
  throw PythonError();
}

std::optional<DType> own_by_name(PyObject* d) {
  PyRef name = PyRef::steal(PyObject_GetAttr(d, state().names.name));
  const auto t = dtype_from_name(as_string(name.get()));
  return t && !info(*t).in_numpy ? t : std::nullopt;
}

DType from_numpy_dtype(PyObject* d) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (state().dtypes[i] == d || state().found_dtypes[i].load(std::memory_order_acquire) == d) return static_cast<DType>(i);
  const Names& n = state().names;
  PyRef kind_text = PyRef::steal(PyObject_GetAttr(d, n.kind));
  PyRef size = PyRef::steal(PyObject_GetAttr(d, n.itemsize));
  PyRef native = PyRef::steal(PyObject_GetAttr(d, n.isnative));
  char kind = as_string(kind_text.get())[0];
  const int64_t bytes = to_int(size.get(), "itemsize");
  if ((kind == 'M' || kind == 'm') && PyObject_IsTrue(native.get())) return time_of(d, kind == 'M');
  const auto found = from_kind(kind, bytes);
  if (!found || !PyObject_IsTrue(native.get())) {
    if (const auto own = own_by_name(d)) return *own;
    if ((kind == 'f' && bytes > 8) || (kind == 'c' && bytes > 16)) kind = 'g';
    unsupported(d, kind);
  }
  return *found;
}

std::optional<DType> quick(PyObject* o) {
  const State& s = state();
  for (int i = 0; i < kDTypeCount; ++i)
    if (s.dtypes[i] == o || s.scalar_types[i] == o || s.named_types[i] == o) return static_cast<DType>(i);
  if (PyObject_TypeCheck(o, s.own_dtype_type)) return own_dtype(o);
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::f64;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::i64;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::b1;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::c128;
  return std::nullopt;
}

/// The dtype of one of NumPy's short names; nullopt for others, which NumPy reads.
std::optional<DType> dtype_from_code(std::string_view code) {
  static constexpr std::pair<std::string_view, DType> kCodes[] = {
      {"f8", DType::f64}, {"f4", DType::f32}, {"i8", DType::i64},   {"i4", DType::i32},  {"u1", DType::u8},  {"d", DType::f64},
      {"f", DType::f32},  {"i2", DType::i16}, {"i1", DType::i8},    {"u2", DType::u16},  {"u4", DType::u32}, {"u8", DType::u64},
      {"f2", DType::f16}, {"c8", DType::c64}, {"c16", DType::c128}, {"int", DType::i64}, {"?", DType::b1}};
  const auto* found = std::ranges::find(kCodes, code, &std::pair<std::string_view, DType>::first);
  return found != std::end(kCodes) ? std::optional(found->second) : std::nullopt;
}

PyObject* own_repr(PyObject* self) { return PyUnicode_FromString(info(own_dtype(self)).name); }

PyObject* own_get(PyObject* self, void* what) {
  const DType t = own_dtype(self);
  switch (reinterpret_cast<intptr_t>(what)) {
    case 0: return own_repr(self);
    case 1: return PyLong_FromLong(itemsize(t));
    case 2: return PyUnicode_FromString("f");
    case 3: return PyUnicode_FromString(info(t).typestr);
    case 4:
      return guard([&] {
        PyObject* d = found_dtype(t);
        // numpy.dtype() of the object follows this attribute, so it must not lead back here.
        if (d == self) {
          PyErr_Format(PyExc_AttributeError, "%s.dtype: NumPy has no %s without the package ml_dtypes", info(t).name, info(t).name);
          throw PythonError();
        }
        return new_ref(d);
      });
    case 5: return PyUnicode_FromFormat("%c", info(t).code);
    case 6: Py_RETURN_TRUE;
    case 7: return PyLong_FromLong(itemsize(t));
  }
  Py_RETURN_NONE;
}

PyObject* own_compare(PyObject* self, PyObject* other, int op) {
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  const char* own = info(own_dtype(self)).name;
  bool same = self == other;
  if (!same) {
    if (PyUnicode_Check(other)) {
      same = PyUnicode_CompareWithASCIIString(other, own) == 0;
    } else {
      PyRef name = PyRef::maybe(PyObject_GetAttr(other, PyType_Check(other) ? state().names.__name__ : state().names.name));
      if (!name) PyErr_Clear();
      const bool dtype_like = PyType_Check(other) || PyType_IsSubtype(Py_TYPE(other), state().np_dtype);
      same = name && dtype_like && PyUnicode_Check(name.get()) && PyUnicode_CompareWithASCIIString(name.get(), own) == 0;
    }
  }
  return PyBool_FromLong(same == (op == Py_EQ));
}

Py_hash_t own_hash(PyObject* self) {
  PyRef name = PyRef::maybe(own_repr(self));
  return name ? PyObject_Hash(name.get()) : -1;
}

PyObject* own_reduce(PyObject* self, PyObject*) { return own_repr(self); }

/// bfloat16(x): x as an array of bfloat16, as NumPy's scalar types are called.
PyObject* own_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    const DType t = own_dtype(self);
    PyObject* value = nullptr;
    if (!PyArg_UnpackTuple(args, info(t).name, 0, 1, &value)) throw PythonError();
    if (kwargs && PyDict_Size(kwargs)) {
      PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments", info(t).name);
      throw PythonError();
    }
    PyRef zero = to_py(int64_t{0});
    bool same = false;
    return wrap(as_array(value ? value : zero.get(), t, true, std::nullopt, &same));
  });
}

PyGetSetDef own_attributes[] = {{"name", own_get, nullptr, "NumPy's name of the type", nullptr},
                                {"itemsize", own_get, nullptr, "Bytes of one element", reinterpret_cast<void*>(1)},
                                {"kind", own_get, nullptr, "\"f\"", reinterpret_cast<void*>(2)},
                                {"str", own_get, nullptr, "The array interface's type string", reinterpret_cast<void*>(3)},
                                {"dtype", own_get, nullptr, "The numpy.dtype of ml_dtypes", reinterpret_cast<void*>(4)},
                                {"char", own_get, nullptr, "The character in strings of loops", reinterpret_cast<void*>(5)},
                                {"isnative", own_get, nullptr, "True", reinterpret_cast<void*>(6)},
                                {"alignment", own_get, nullptr, "Bytes", reinterpret_cast<void*>(7)},
                                {"__name__", own_get, nullptr, nullptr, nullptr},
                                {}};
PyMethodDef own_methods[] = {{"__reduce__", own_reduce, METH_NOARGS, nullptr}, {}};

PyType_Slot own_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(own_repr)},
    {Py_tp_str, reinterpret_cast<void*>(own_repr)},
    {Py_tp_richcompare, reinterpret_cast<void*>(own_compare)},
    {Py_tp_hash, reinterpret_cast<void*>(own_hash)},
    {Py_tp_call, reinterpret_cast<void*>(own_call)},
    {Py_tp_getset, own_attributes},
    {Py_tp_methods, own_methods},
    {Py_tp_doc, const_cast<char*>("A dtype that NumPy knows only with the package ml_dtypes.")},
    {0, nullptr},
};
PyType_Spec own_spec = {"broadcloth._broadcloth.OwnDType", sizeof(PyOwnDType), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        own_slots};

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

std::optional<DType> common_dtype(PyObject* o) {
  const State& s = state();
  for (int i = 0; i < kDTypeCount; ++i)
    if (s.dtypes[i] == o) return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<DType> dtype_if_dtype(PyObject* o) {
  if (const auto t = quick(o)) return t;
  if (PyType_IsSubtype(Py_TYPE(o), state().np_dtype)) return from_numpy_dtype(o);
  if (PyType_Check(o) || PyUnicode_Check(o)) return to_dtype(o);
  return std::nullopt;
}

DType to_dtype(PyObject* o) {
  if (const auto t = quick(o)) return *t;
  if (PyUnicode_Check(o)) {
    const std::string_view name = as_string(o);
    if (name.size() <= 3)
      if (const auto t = dtype_from_code(name)) return *t;
    if (const auto t = dtype_from_name(name)) return *t;
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

PyObject* dtype_object(DType t) {
  if (is_time(t)) [[unlikely]]
    return time_dtype(t);
  PyObject* known = state().dtypes[static_cast<int>(t)];
  return known ? known : found_dtype(t);
}

bool numpy_has(DType t) { return info(t).in_numpy || found_dtype(t) != state().own_dtypes[static_cast<int>(t)]; }

PyObject* numpy_scalar_type(DType t) {
  if (is_time(t)) return state().time_types[is_datetime(t)];
  return state().scalar_types[static_cast<int>(t)];
}

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
    if (!info(static_cast<DType>(i)).in_numpy) continue;
    const char* name = info(static_cast<DType>(i)).name;
    s.dtypes[i] = call(reinterpret_cast<PyObject*>(s.np_dtype), {to_py(name).get()}).release();
    s.scalar_types[i] = attr(s.dtypes[i], "type").release();
  }
  s.record_error = PyErr_NewException("broadcloth._broadcloth.RecordError", PyExc_TypeError, nullptr);
  if (!s.record_error) throw PythonError();
  s.time_types[0] = attr(s.numpy, "timedelta64").release();
  s.time_types[1] = attr(s.numpy, "datetime64").release();
  s.own_dtype_type = add_type(module, &own_spec, nullptr);
  for (int i = 0; i < kDTypeCount; ++i) {
    const DTypeInfo& row = info(static_cast<DType>(i));
    if (row.in_numpy) continue;
    PyObject* made = reinterpret_cast<PyObject*>(PyObject_New(PyOwnDType, s.own_dtype_type));
    if (!made) throw PythonError();
    reinterpret_cast<PyOwnDType*>(made)->t = static_cast<DType>(i);
    s.own_dtypes[i] = made;
    check(PyModule_AddObjectRef(module, row.name, made));
  }
  PyRef names = PyRef::steal(PyTuple_New(kDTypeCount));
  for (int i = 0; i < kDTypeCount; ++i) check(PyTuple_SetItem(names.get(), i, to_py(info(static_cast<DType>(i)).name).release()));
  check(PyModule_AddObjectRef(module, "dtype_names", names.get()));
}

}  // namespace bc::bind
