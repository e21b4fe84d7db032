// broadcloth.device: a place for arrays, equal to its name.
#include "bind/args.h"
#include "graph/tape.h"
#include "runtime/device_name.h"

namespace bc::bind {
namespace {

struct PyDevice {
  PyObject_HEAD Device device;
};

Device device_in(PyObject* self) { return reinterpret_cast<PyDevice*>(self)->device; }

/// What the with blocks of this thread go back to.
thread_local std::vector<Device> outer_defaults;

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    PyObject* spec = Py_None;
    if (kwargs && PyDict_Size(kwargs)) throw_python(PyExc_TypeError, "device() takes no keyword arguments");
    if (!PyArg_UnpackTuple(args, "device", 0, 1, &spec)) throw PythonError();
    return device_object(to_device(spec)).release();
  });
}

void device_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* device_str(PyObject* self) {
  return guard([&] { return to_py(to_string(device_in(self))).release(); });
}

PyObject* device_repr(PyObject* self) {
  return guard([&] { return to_py("device('" + to_string(device_in(self)) + "')").release(); });
}

PyObject* device_compare(PyObject* self, PyObject* other, int op) {
  return guard([&]() -> PyObject* {
    if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    bool same = false;
    if (is_exact(other, state().device)) {
      same = device_in(self) == device_in(other);
    } else if (PyUnicode_Check(other)) {
      const auto d = parse_device(as_string(other));
      same = d && *d == device_in(self);
    } else {
      Py_RETURN_NOTIMPLEMENTED;
    }
    return PyBool_FromLong(same == (op == Py_EQ));
  });
}

Py_hash_t device_hash(PyObject* self) {
  PyRef text = PyRef::maybe(device_str(self));
  return text ? PyObject_Hash(text.get()) : -1;
}

PyObject* device_type(PyObject* self, void*) { return PyUnicode_FromString(traits(device_in(self)).name); }
PyObject* device_index(PyObject* self, void*) { return PyLong_FromLong(device_in(self).index); }

PyObject* device_enter(PyObject* self, PyObject*) {
  return guard([&] {
    const Device before = default_device();
    backend(device_in(self));
    set_default_device(device_in(self));
    outer_defaults.push_back(before);
    return new_ref(self);
  });
}

PyObject* device_exit(PyObject*, PyObject*) {
  return guard([&]() -> PyObject* {
    if (outer_defaults.empty()) throw_python(PyExc_RuntimeError, "device.__exit__: expected a with block of this thread");
    const Device before = outer_defaults.back();
    outer_defaults.pop_back();
    set_default_device(before);
    Py_RETURN_NONE;
  });
}

PyObject* device_synchronize(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    const Device d = device_in(self);
    without_gil([&] {
      tape(d);
      for (Tape* t : tapes(d))
        if (!t->capture()) t->synchronize();
    });
    Py_RETURN_NONE;
  });
}

PyObject* device_reduce(PyObject* self, PyObject*) {
  return guard([&] {
    PyRef args = tuple_of({to_py(to_string(device_in(self))).get()});
    return tuple_of({reinterpret_cast<PyObject*>(state().device), args.get()}).release();
  });
}

PyGetSetDef attributes[] = {{"type", device_type, nullptr, "'cpu', 'cuda' or 'null'", nullptr},
                            {"index", device_index, nullptr, "Which one of its type", nullptr},
                            {"id", device_index, nullptr, "Which one of its type, as CuPy calls it", nullptr},
                            {}};
PyMethodDef methods[] = {
    {"__enter__", device_enter, METH_NOARGS, nullptr},
    {"__exit__", device_exit, METH_VARARGS, nullptr},
    {"synchronize", device_synchronize, METH_NOARGS, "synchronize($self, /)\n--\n\nRuns what waits on the device and waits for it."},
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {}};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(device_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(device_dealloc)},
    {Py_tp_str, reinterpret_cast<void*>(device_str)},
    {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
    {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
    {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_tp_doc,
     const_cast<char*>("device(spec=None, /)\n--\n\nA device by name ('cpu', 'cuda', 'cuda:1'); `with device('cpu'):` makes it the "
                       "default of this thread.\n\n"
                       "Examples\n--------\n>>> with bc.device('cpu'):\n...     bc.zeros(2).device\ndevice('cpu')\n")},
    {0, nullptr}};
PyType_Spec spec = {"broadcloth.device", sizeof(PyDevice), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

Device to_device(PyObject* o) {
  if (!o || o == Py_None) return default_device();
  if (is_exact(o, state().device)) return device_in(o);
  if (PyUnicode_Check(o)) {
    if (const auto d = parse_device(as_string(o))) return *d;
    raise(ErrorKind::Value, "device: expected 'cpu', 'cuda' or 'cuda:N', got '{}'", as_string(o));
  }
  // broadcloth.cuda.Device holds one of ours.
  if (PyRef d = attr_or_null(o, BC_INTERNED("_device")); d && is_exact(d.get(), state().device)) return device_in(d.get());
  raise(ErrorKind::Type, "device: expected a device or its name, got {}", type_name(o));
}

bool names_device(std::string_view text) { return parse_device(text).has_value(); }

PyRef device_object(Device d) {
  PyDevice* made = PyObject_New(PyDevice, state().device);
  if (!made) throw PythonError();
  made->device = d;
  return PyRef::steal(reinterpret_cast<PyObject*>(made));
}

void init_device(PyObject* module) { state().device = add_type(module, &spec, "device"); }

}  // namespace bc::bind
