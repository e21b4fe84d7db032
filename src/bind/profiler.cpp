// The recorder: which kernels and copies ran, and how long each took.
#include "runtime/profiler.h"

#include "bind/args.h"
#include "bind/list.h"

namespace bc::bind {
namespace {

struct PyRecorder {
  PyObject_HEAD Recording* recording;
};

Recording& recording(PyObject* self) { return *reinterpret_cast<PyRecorder*>(self)->recording; }

PyObject* recorder_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guard([&] {
    auto* made = PyObject_New(PyRecorder, type);
    if (!made) throw PythonError();
    made->recording = nullptr;
    PyRef owned = PyRef::steal(reinterpret_cast<PyObject*>(made));
    made->recording = new Recording;
    return owned.release();
  });
}

void recorder_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<PyRecorder*>(self)->recording;
  PyObject_Free(self);
  Py_DECREF(type);
}

PyRef real(double v) { return PyRef::steal(PyFloat_FromDouble(v)); }

PyRef sequence(PyTypeObject* type, std::initializer_list<PyRef> fields) {
  PyRef made = PyRef::steal(PyStructSequence_New(type));
  Py_ssize_t i = 0;
  for (const PyRef& f : fields) PyStructSequence_SetItem(made.get(), i++, new_ref(f.get()));
  return made;
}

PyObject* kernels(PyObject* self, void*) {
  return guard([&] {
    return list_of(recording(self).kernels(),
                   [](const KernelRecord& k) {
                     return sequence(state().kernel_record, {to_py(k.name), to_py(to_string(k.device)), to_py(k.elements), to_py(k.bytes),
                                                             real(k.seconds), to_py(int64_t{k.line}), to_py(k.file), real(k.start)});
                   })
        .release();
  });
}

PyObject* copies(PyObject* self, void*) {
  return guard([&] {
    return list_of(recording(self).copies(),
                   [](const CopyRecord& c) {
                     return sequence(state().copy_record, {to_py(c.kind), to_py(to_string(c.device)), to_py(c.bytes), real(c.seconds),
                                                           to_py(int64_t{c.line}), to_py(c.file), real(c.start)});
                   })
        .release();
  });
}

PyObject* seconds(PyObject* self, void*) { return PyFloat_FromDouble(recording(self).seconds()); }

PyObject* start(PyObject* self, PyObject*) {
  return guard([&] {
    recording(self).start();
    return new_ref(self);
  });
}

PyObject* stop(PyObject* self, PyObject*) {
  return guard([&] {
    recording(self).stop();
    return new_ref(self);
  });
}

PyObject* clear(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    const bool active = recording(self).active();
    recording(self).start();
    if (!active) recording(self).stop();
    Py_RETURN_NONE;
  });
}

/// Work that waits belongs to the block that asked for it.
PyObject* enter(PyObject* self, PyObject*) {
  return guard([&] {
    without_gil([] { synchronize(); });
    recording(self).start();
    return new_ref(self);
  });
}

PyObject* leave(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    try {
      without_gil([] { synchronize(); });
    } catch (...) {
      recording(self).stop();
      throw;
    }
    recording(self).stop();
    Py_RETURN_NONE;
  });
}

PyGetSetDef attributes[] = {{"kernels", kernels, nullptr, "A KernelRecord for each kernel, in the order of launch.", nullptr},
                            {"copies", copies, nullptr, "A CopyRecord for each copy.", nullptr},
                            {"seconds", seconds, nullptr, "From start to stop, or until now.", nullptr},
                            {}};
PyMethodDef methods[] = {{"start", start, METH_NOARGS, "start($self, /)\n--\n\nForgets what was recorded and starts."},
                         {"stop", stop, METH_NOARGS, "stop($self, /)\n--\n\nStops recording."},
                         {"clear", clear, METH_NOARGS, "clear($self, /)\n--\n\nForgets what was recorded."},
                         {"__enter__", enter, METH_NOARGS, nullptr},
                         {"__exit__", leave, METH_VARARGS, nullptr},
                         {}};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(recorder_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(recorder_dealloc)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>("recorder()\n--\n\nCollects the kernels and copies that run between start() and stop().")},
    {0, nullptr}};
PyType_Spec spec = {"broadcloth._broadcloth.recorder", sizeof(PyRecorder), 0, Py_TPFLAGS_DEFAULT, slots};

PyStructSequence_Field kernel_fields[] = {{"name", nullptr},     {"device", nullptr},
                                          {"elements", nullptr}, {"bytes", "read and written"},
                                          {"time", "seconds"},   {"line", "of the program, 0 when not known"},
                                          {"file", nullptr},     {"start", "seconds, as time.perf_counter"},
                                          {nullptr, nullptr}};
PyStructSequence_Desc kernel_desc = {"broadcloth.profiler.KernelRecord", "A kernel that ran.", kernel_fields, 8};
PyStructSequence_Field copy_fields[] = {{"kind", nullptr},
                                        {"device", nullptr},
                                        {"bytes", nullptr},
                                        {"time", "seconds"},
                                        {"line", "of the program, 0 when not known"},
                                        {"file", nullptr},
                                        {"start", "seconds, as time.perf_counter"},
                                        {nullptr, nullptr}};
PyStructSequence_Desc copy_desc = {"broadcloth.profiler.CopyRecord", "A copy that ran.", copy_fields, 7};

PyTypeObject* record_type(PyObject* module, PyStructSequence_Desc* desc, const char* name) {
  PyRef type = PyRef::steal(reinterpret_cast<PyObject*>(PyStructSequence_NewType(desc)));
  check(PyModule_AddObjectRef(module, name, type.get()));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

}  // namespace

void init_profiler(PyObject* module) {
  state().kernel_record = record_type(module, &kernel_desc, "KernelRecord");
  state().copy_record = record_type(module, &copy_desc, "CopyRecord");
  state().recorder = add_type(module, &spec, "recorder");
}

}  // namespace bc::bind
