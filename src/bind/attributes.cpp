// The small objects behind ndarray's attributes: flags, data, flat and device.
#include "array/record.h"
#include "bind/args.h"
#include "bind/program.h"
#include "bind/subclass.h"
#include "bind/values.h"
#include "bind/warnings.h"

namespace bc::bind {

namespace {

/// A heap object that holds one other.
struct PyHolder {
  PyObject_HEAD PyObject* held;
  Py_ssize_t at;  ///< of a flat iterator: the element that comes next
};

PyObject* held(PyObject* self) { return reinterpret_cast<PyHolder*>(self)->held; }

PyObject* hold(PyTypeObject* type, PyObject* o) {
  PyHolder* made = PyObject_New(PyHolder, type);
  if (!made) throw PythonError();
  made->held = new_ref(o);
  made->at = 0;
  return reinterpret_cast<PyObject*>(made);
}

void holder_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(held(self));
  PyObject_Free(self);
  Py_DECREF(type);
}

template <PyRef (*F)(PyObject*)>
PyObject* getter(PyObject* self, void*) {
  return guard([&] { return F(held(self)).release(); });
}

// ---- flags -----------------------------------------------------------------------------------------------------------------------

enum Flag : int { kC, kF, kOwn, kWrite, kAligned, kBack, kFnc, kForc, kBehaved, kCarray, kFarray, kFlagCount };

struct FlagName {
  const char* attribute;
  const char* key;
  const char* short_key;
  Flag flag;
};
constexpr FlagName flag_names[] = {
    {"c_contiguous", "C_CONTIGUOUS", "C", kC},
    {"f_contiguous", "F_CONTIGUOUS", "F", kF},
    {"owndata", "OWNDATA", "O", kOwn},
    {"writeable", "WRITEABLE", "W", kWrite},
    {"aligned", "ALIGNED", "A", kAligned},
    {"writebackifcopy", "WRITEBACKIFCOPY", "X", kBack},
    {"contiguous", "CONTIGUOUS", "", kC},
    {"fortran", "FORTRAN", "", kF},
    {"fnc", "FNC", "", kFnc},
    {"forc", "FORC", "", kForc},
    {"behaved", "BEHAVED", "B", kBehaved},
    {"carray", "CARRAY", "CA", kCarray},
    {"farray", "FARRAY", "FA", kFarray},
};

bool flag_value(PyObject* array, Flag flag) {
  const Array& a = array_of(array);
  const bool c = a.contiguous(), f = is_f_contiguous(a.shape(), a.strides());
  const bool write = !as_py_array(array)->read_only && !storage_facts(a).read_only;
  switch (flag) {
    case kC: return c;
    case kF: return f;
    case kOwn: return !as_py_array(array)->base;
    case kWrite:
    case kBehaved: return write;
    case kAligned: return true;
    case kFnc: return f && !c;
    case kForc: return f || c;
    case kCarray: return write && c;
    case kFarray: return write && f && !c;
    default: return false;
  }
}

template <int I>
PyObject* flag_getter(PyObject* self, void*) {
  return PyBool_FromLong(flag_value(held(self), flag_names[I].flag));
}

/// setflags(write=): an array can always be made read-only; writable only where its base and memory are.
void set_writeable(PyObject* array, bool write) {
  PyArray* p = as_py_array(array);
  if (write) {
    const Array& a = array_of(array);
    const bool memory = storage_facts(a).read_only;
    if (memory || (p->base && as_py_array(p->base)->read_only) || self_overlaps(a.layout()))
      throw_python(PyExc_ValueError, "cannot set WRITEABLE flag to True of this array");
  }
  p->read_only = !write;
}

int flag_write_setter(PyObject* self, PyObject* value, void*) {
  return guard(-1, [&] {
    if (!value) throw_python(PyExc_AttributeError, "flags cannot be deleted");
    set_writeable(held(self), to_bool(value));
    return 0;
  });
}

const FlagName* find_flag(PyObject* key) {
  if (!PyUnicode_Check(key)) return nullptr;
  const std::string_view k = as_string(key);
  for (const FlagName& n : flag_names)
    if (k == n.key || (*n.short_key && k == n.short_key)) return &n;
  return nullptr;
}

PyObject* flags_subscript(PyObject* self, PyObject* key) {
  return guard([&]() -> PyObject* {
    const FlagName* n = find_flag(key);
    if (!n) throw_python(PyExc_KeyError, "Unknown flag");
    return PyBool_FromLong(flag_value(held(self), n->flag));
  });
}

int flags_ass_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guard(-1, [&] {
    const FlagName* n = find_flag(key);
    if (!n || n->flag != kWrite || !value) throw_python(PyExc_KeyError, "only the flag WRITEABLE can be set");
    set_writeable(held(self), to_bool(value));
    return 0;
  });
}

PyObject* flags_repr(PyObject* self) {
  std::string s;
  for (const FlagName& n : {flag_names[0], flag_names[1], flag_names[2], flag_names[3], flag_names[4], flag_names[5]})
    s += std::string("  ") + n.key + " : " + (flag_value(held(self), n.flag) ? "True\n" : "False\n");
  return PyUnicode_FromString(s.c_str());
}

PyRef flags_num(PyObject* array) {
  int64_t n = 0;
  if (flag_value(array, kC)) n |= 1;
  if (flag_value(array, kF)) n |= 2;
  if (flag_value(array, kOwn)) n |= 4;
  if (flag_value(array, kAligned)) n |= 0x100;
  if (flag_value(array, kWrite)) n |= 0x400;
  return to_py(n);
}

PyObject* flags_compare(PyObject* self, PyObject* other, int op) {
  if (Py_TYPE(self) != Py_TYPE(other) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return guard([&]() -> PyObject* {
    bool same = true;
    for (const FlagName& n : flag_names) same = same && flag_value(held(self), n.flag) == flag_value(held(other), n.flag);
    return PyBool_FromLong(same == (op == Py_EQ));
  });
}

#define BC_FLAG(i, setter) {flag_names[i].attribute, flag_getter<i>, setter, nullptr, nullptr}
PyGetSetDef flags_attributes[] = {BC_FLAG(0, nullptr),
                                  BC_FLAG(1, nullptr),
                                  BC_FLAG(2, nullptr),
                                  BC_FLAG(3, flag_write_setter),
                                  BC_FLAG(4, nullptr),
                                  BC_FLAG(5, nullptr),
                                  BC_FLAG(6, nullptr),
                                  BC_FLAG(7, nullptr),
                                  BC_FLAG(8, nullptr),
                                  BC_FLAG(9, nullptr),
                                  BC_FLAG(10, nullptr),
                                  BC_FLAG(11, nullptr),
                                  BC_FLAG(12, nullptr),
                                  {"num", getter<flags_num>, nullptr, nullptr, nullptr},
                                  {}};
PyType_Slot flags_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(holder_dealloc)},
                             {Py_tp_repr, reinterpret_cast<void*>(flags_repr)},
                             {Py_tp_richcompare, reinterpret_cast<void*>(flags_compare)},
                             {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
                             {Py_tp_getset, flags_attributes},
                             {Py_mp_subscript, reinterpret_cast<void*>(flags_subscript)},
                             {Py_mp_ass_subscript, reinterpret_cast<void*>(flags_ass_subscript)},
                             {0, nullptr}};
PyType_Spec flags_spec = {"broadcloth._broadcloth.flagsobj", sizeof(PyHolder), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          flags_slots};

// ---- data ------------------------------------------------------------------------------------------------------------------------

PyRef pointer_ptr(PyObject* array) {
  const Array& a = array_of(array);
  char* base = static_cast<char*>(expose_forever(a));
  return PyRef::steal(PyLong_FromVoidPtr(base + a.offset() * itemsize(a.dtype())));
}
PyRef pointer_device(PyObject* array) { return device_object(array_of(array).device()); }
PyRef pointer_nbytes(PyObject* array) { return to_py(array_of(array).size() * itemsize(array_of(array).dtype())); }
PyObject* pointer_int(PyObject* self) {
  return guard([&] { return pointer_ptr(held(self)).release(); });
}
PyObject* pointer_repr(PyObject* self) {
  return guard([&] {
    PyRef p = pointer_ptr(held(self));
    return PyUnicode_FromFormat("<MemoryPointer %s %p>", to_string(array_of(held(self)).device()).c_str(), PyLong_AsVoidPtr(p.get()));
  });
}

int pointer_buffer(PyObject* self, Py_buffer* view, int flags) {
  // memoryview(a.data) is memoryview(a), as it is for NumPy's own data attribute.
  return PyObject_GetBuffer(held(self), view, flags);
}

/// The pointer as CuPy's class has it (cuda.MemoryPointer): with arithmetic, and copies to and from it.
PyRef full_pointer(PyObject* self) {
  return PyRef::steal(PyObject_CallFunctionObjArgs(import_attr("broadcloth.cuda._memory", "pointer_into").get(), self, nullptr));
}
PyObject* pointer_getattr(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  const PyRef text = PyRef::steal(PyObject_Str(name));
  if (!text || as_string(text.get()).starts_with('_')) return nullptr;
  PyErr_Clear();
  return guard([&] { return PyRef::steal(PyObject_GetAttr(full_pointer(self).get(), name)).release(); });
}
template <PyObject* (*Operation)(PyObject*, PyObject*)>
PyObject* pointer_arithmetic(PyObject* left, PyObject* right) {
  return guard([&] {
    const auto full = [](PyObject* o) { return Py_TYPE(o) == state().pointer ? full_pointer(o) : PyRef::borrow(o); };
    return PyRef::steal(Operation(full(left).get(), full(right).get())).release();
  });
}

PyGetSetDef pointer_attributes[] = {
    {"ptr", getter<pointer_ptr>, nullptr, "The address of the first element; the memory stays exposed from then on.", nullptr},
    {"device", getter<pointer_device>, nullptr, nullptr, nullptr},
    {"nbytes", getter<pointer_nbytes>, nullptr, nullptr, nullptr},
    {}};
PyType_Slot pointer_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(holder_dealloc)},
                               {Py_tp_repr, reinterpret_cast<void*>(pointer_repr)},
                               {Py_tp_getset, pointer_attributes},
                               {Py_tp_getattro, reinterpret_cast<void*>(pointer_getattr)},
                               {Py_nb_add, reinterpret_cast<void*>(pointer_arithmetic<PyNumber_Add>)},
                               {Py_nb_subtract, reinterpret_cast<void*>(pointer_arithmetic<PyNumber_Subtract>)},
                               {Py_nb_int, reinterpret_cast<void*>(pointer_int)},
                               {Py_nb_index, reinterpret_cast<void*>(pointer_int)},
                               {Py_bf_getbuffer, reinterpret_cast<void*>(pointer_buffer)},
                               {0, nullptr}};
PyType_Spec pointer_spec = {"broadcloth._broadcloth.MemoryPointer", sizeof(PyHolder), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, pointer_slots};

// ---- flat ------------------------------------------------------------------------------------------------------------------------

Py_ssize_t flat_length(PyObject* self) { return array_of(held(self)).size(); }

/// The index of the flat array that a flat iterator's key stands for: one item, no new axis. NumPy refuses lists of booleans alone.
PyRef flat_key(PyObject* key) {
  if (PyTuple_Check(key) && PyTuple_Size(key) == 1) return flat_key(PyTuple_GetItem(key, 0));
  if (PyTuple_Check(key) && PyTuple_Size(key) > 1) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(key); ++i)
      if (PyObject* o = PyTuple_GetItem(key, i); o == Py_None || o == Py_Ellipsis) flat_key(Py_None);
    PyErr_Format(PyExc_IndexError, "too many indices for flat iterator: flat iterator is 1-dimensional, but %zd were indexed",
                 PyTuple_Size(key));
    throw PythonError();
  }
  if (key == Py_None)
    throw_python(PyExc_IndexError, "only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices");
  if (PyBool_Check(key)) {
    warn(PyExc_DeprecationWarning, "Indexing flat iterators with a 0-dimensional boolean index is deprecated");
    if (key == Py_True) return to_py(int64_t{0});
    const PyRef zero = to_py(int64_t{0});
    return PyRef::steal(PySlice_New(zero.get(), zero.get(), nullptr));
  }
  if (PyList_CheckExact(key) && PyList_Size(key) > 0) {
    bool all = true;
    for (Py_ssize_t i = 0; i < PyList_Size(key); ++i) all &= PyBool_Check(PyList_GetItem(key, i)) != 0;
    if (all) throw_python(PyExc_IndexError, "boolean indices for iterators are not supported: expected an array of booleans, got a list");
  }
  return PyRef::borrow(key);
}

/// The key of a flat iterator over `a`, in whose words a mask of another length is refused.
PyRef flat_key_of(const Array& a, PyObject* key) {
  PyRef made = flat_key(key);
  if (is_array(made.get()))
    if (const Array& mask = array_of(made.get()); is_bool(mask.dtype()) && mask.ndim() == 1 && mask.size() != a.size())
      raise(ErrorKind::Index,
            "boolean index did not match indexed flat iterator along axis 0; size of axis is {} but size of corresponding boolean axis is "
            "{}",
            a.size(), mask.size());
  return made;
}

PyObject* flat_subscript(PyObject* self, PyObject* key) {
  return guard([&] {
    if (PyLong_CheckExact(key) && array_of(held(self)).ndim() == 1) return get_item(held(self), key);
    PyRef line = PyRef::steal(wrap(ravel(array_of(held(self)))));
    PyRef item = PyRef::steal(get_item(line.get(), flat_key_of(array_of(held(self)), key).get()));
    // NumPy's flatiter copies.
    const bool view = is_array(item.get()) && array_of(item.get()).storage() == array_of(held(self)).storage();
    if (view) item = PyRef::steal(wrap_value(copy(array_of(item.get()))));
    PyObject* const array = held(self);
    return of_subclass(array) && is_array(item.get()) && !as_py_array(item.get())->scalar ? wrap_like(array_of(item.get()), array)
                                                                                          : item.release();
  });
}

/// The values that a flat iterator stores: those of an array or a list, in C's order.
Array flat_values(const Array& a, PyObject* value) { return ravel(stored(to_value(value, a.dtype(), a.device()), a.dtype(), a.device())); }

/// Stores into several elements of a flat iterator. NumPy repeats the values until all are written, and none into none.
void set_flat_items(PyObject* line, PyObject* place, const Array& values) {
  if (values.size() == 0) return;
  const PyRef items = PyRef::steal(get_item(line, place));
  const Dims shape = array_of(items.get()).shape();
  if (product(shape) == 0) return;
  const PyRef all = PyRef::steal(wrap(values.size() == 1 ? reshape(values, {}) : resize(values, shape)));
  set_item(line, place, all.get());
}

int flat_ass_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guard(-1, [&] {
    if (!value) throw_python(PyExc_TypeError, "Cannot delete iterator elements");
    const Array& a = writable(held(self), "flat");
    PyRef line = PyRef::steal(wrap(ravel(a)));
    if (PyTuple_Check(key) && PyTuple_Size(key) == 0)
      throw_python(PyExc_IndexError, "Assigning to a flat iterator with a 0-D index is not supported");
    const PyRef place = flat_key_of(a, key);
    try {
      if (!PyLong_Check(place.get()) && PySequence_Check(value) && !PyUnicode_Check(value) && !PyBytes_Check(value))
        set_flat_items(line.get(), place.get(), flat_values(a, value));
      else
        set_item(line.get(), place.get(), value);
    } catch (const Error& error) {
      // NumPy says of one element that could not be stored only that it could not.
      if (!PyLong_Check(place.get()) || error.kind() != ErrorKind::Overflow) throw;
      throw_python(PyExc_ValueError, "Error setting single item of array.");
    }
    if (array_of(line.get()).storage() != a.storage()) assign(a, reshape(array_of(line.get()), a.shape()));
    return 0;
  });
}

PyObject* flat_item(PyObject* self, Py_ssize_t at) {
  PyRef key = PyRef::maybe(PyLong_FromSsize_t(at));
  return key ? flat_subscript(self, key.get()) : nullptr;
}

Py_ssize_t& next_of(PyObject* self) { return reinterpret_cast<PyHolder*>(self)->at; }

/// The indices of the element that comes next, one for each axis.
Dims flat_place(PyObject* self) {
  const Dims& shape = array_of(held(self)).shape();
  int64_t rest = next_of(self);
  Dims place(shape.size());
  for (int d = shape.size(); d-- > 0; rest /= shape[d] ? shape[d] : 1) place[d] = shape[d] ? rest % shape[d] : 0;
  return place;
}

PyObject* flat_next(PyObject* self) {
  return guard([&]() -> PyObject* {
    const Array& a = array_of(held(self));
    if (next_of(self) >= a.size()) return nullptr;
    PyObject* element =
        a.ndim() == 1 ? PyRef::steal(PySequence_GetItem(held(self), next_of(self))).release() : element_at(a, flat_place(self));
    ++next_of(self);
    return element;
  });
}

PyObject* flat_index(PyObject* self, void*) { return PyLong_FromSsize_t(next_of(self)); }
PyObject* flat_coords(PyObject* self, void*) {
  return guard([&] { return shape_tuple(flat_place(self)).release(); });
}

PyObject* flat_copy(PyObject* self, PyObject*) {
  return guard([&] { return wrap(flatten(array_of(held(self)))); });
}

PyObject* flat_array(PyObject* self, PyObject*) {
  return guard([&] { return to_numpy(flatten(array_of(held(self)))).release(); });
}

PyRef flat_base(PyObject* array) { return PyRef::borrow(array); }

PyGetSetDef flat_attributes[] = {{"base", getter<flat_base>, nullptr, nullptr, nullptr},
                                 {"index", flat_index, nullptr, "The place of the element that comes next.", nullptr},
                                 {"coords", flat_coords, nullptr, "Its indices, one for each axis.", nullptr},
                                 {}};
PyMethodDef flat_methods[] = {{"copy", flat_copy, METH_NOARGS, nullptr}, {"__array__", flat_array, METH_VARARGS, nullptr}, {}};
constexpr const char* kFlatDoc =
    "The elements of an array in C's order, as `a.flat` gives them: an iterator that can be indexed and stored into.\n\n"
    "Examples\n--------\n>>> a = bc.array([[1, 2], [3, 4]])\n>>> a.flat[2] = 9\n>>> a.tolist()\n[[1, 2], [9, 4]]\n"
    ">>> isinstance(a.flat, bc.flatiter)\nTrue\n";
PyType_Slot flat_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(holder_dealloc)},
                            {Py_tp_getset, flat_attributes},
                            {Py_tp_methods, flat_methods},
                            {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                            {Py_tp_iternext, reinterpret_cast<void*>(flat_next)},
                            {Py_mp_length, reinterpret_cast<void*>(flat_length)},
                            {Py_sq_length, reinterpret_cast<void*>(flat_length)},
                            {Py_sq_item, reinterpret_cast<void*>(flat_item)},
                            {Py_mp_subscript, reinterpret_cast<void*>(flat_subscript)},
                            {Py_mp_ass_subscript, reinterpret_cast<void*>(flat_ass_subscript)},
                            {Py_tp_doc, const_cast<char*>(kFlatDoc)},
                            {0, nullptr}};
PyType_Spec flat_spec = {"broadcloth._broadcloth.flatiter", sizeof(PyHolder), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         flat_slots};

// ---- The array's attributes ------------------------------------------------------------------------------------------------------

template <PyTypeObject* State::* Type>
PyObject* holder_getter(PyObject* self, void*) {
  return guard([&] { return hold(state().*Type, self); });
}

/// `data`: in a program that was written for NumPy a memoryview, of a copy that cannot be written where the memory is a device's.
PyObject* get_data(PyObject* self, void*) {
  return guard([&] {
    if (!program_mode.load(std::memory_order_relaxed)) return hold(state().pointer, self);
    const bool host = array_of(self).device().type == DeviceType::cpu;
    const PyRef copy = host ? nullptr : to_numpy(array_of(self));
    if (copy) call(attr(copy.get(), "setflags").get(), {Py_False});
    return PyRef::steal(PyMemoryView_FromObject(host ? self : copy.get())).release();
  });
}

int set_flat(PyObject* self, PyObject* value, void*) {
  return guard(-1, [&] {
    if (!value) throw_python(PyExc_AttributeError, "attributes of an array cannot be deleted");
    const Array& a = writable(self, "flat");
    const Array v = flat_values(a, value);
    if (v.size() != 0) assign(a, v.size() == 1 ? v : resize(v, a.shape()));  // NumPy repeats the values until the array is full
    return 0;
  });
}

PyObject* setflags(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    static constinit Once<CallSignature> s_once;
    const CallSignature& s = s_once.get("setflags(write=None, align=None, uic=None)", true);
    PyObject* v[3];
    s.bind(args, n, kwnames, v);
    if (v[0] != Py_None) set_writeable(self, to_bool(v[0]));
    Py_RETURN_NONE;
  });
}

}  // namespace

void add_holder_attributes(std::vector<PyGetSetDef>* list) {
  list->push_back({"flags", holder_getter<&State::flags>, nullptr, "Facts about the memory's layout, as numpy.ndarray.flags.", nullptr});
  list->push_back({"data", get_data, nullptr, "The memory: data.ptr is the address of the first element.", nullptr});
  list->push_back({"gpudata", holder_getter<&State::pointer>, nullptr, "`data`, by PyCUDA's name.", nullptr});
  list->push_back({"flat", holder_getter<&State::flat>, set_flat, "The elements in C order.", nullptr});
}

void add_holder_methods(std::vector<PyMethodDef>* list) {
  list->push_back({"setflags", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(setflags)), METH_FASTCALL | METH_KEYWORDS,
                   "setflags($self, /, write=None, align=None, uic=None)\n--\n\nmakes the array read-only, or writable again."});
}

void init_attributes(PyObject* module) {
  state().flags = add_type(module, &flags_spec, "flagsobj");
  state().pointer = add_type(module, &pointer_spec, "MemoryPointer");
  state().flat = add_type(module, &flat_spec, "flatiter");
}

}  // namespace bc::bind
