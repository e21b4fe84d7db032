// Streams, events and graphs as Python has them: StreamBase, EventBase and Graph, which broadcloth.cuda's classes are built on.
#include "bind/cuda_stream.h"

#include <algorithm>
#include <mutex>

#include "backends/cpu/capture.h"
#include "backends/cuda/cuda_backend.h"
#include "bind/args.h"

namespace bc::bind {
namespace {

enum class StreamKind : uint8_t { usual, per_thread, own, foreign };

/// A stream: one of its own, another library's, or whatever the current device's default or per-thread stream is.
struct PyStream {
  PyObject_HEAD StreamKind kind;
  Tape* tape;       ///< of an own or a foreign one
  PyObject* owner;  ///< keeps a foreign stream alive
  int priority;
  bool non_blocking;
};

/// What an event marks.
struct Mark {
  std::shared_ptr<StreamEvent> event;  ///< made when it is recorded, on the stream's device
  Device device;
  Use use;
};

struct PyEvent {
  PyObject_HEAD EventOptions options;
  std::mutex mutex;
  Mark mark;  ///< guarded by the mutex: one thread may record while another one waits

  Mark now() {
    const std::lock_guard lock(mutex);
    return mark;
  }
  void set(Mark to) {
    const std::lock_guard lock(mutex);
    mark = std::move(to);
  }
};

struct PyGraph {
  PyObject_HEAD std::unique_ptr<StreamGraph> graph;
  std::shared_ptr<Capture> capture;
  Device device;
};

PyTypeObject* stream_type = nullptr;
PyTypeObject* event_type = nullptr;
PyTypeObject* graph_type = nullptr;

PyStream* as_stream(PyObject* o) { return reinterpret_cast<PyStream*>(o); }
PyEvent* as_event(PyObject* o) { return reinterpret_cast<PyEvent*>(o); }
PyGraph* as_graph(PyObject* o) { return reinterpret_cast<PyGraph*>(o); }

/// A stream that this thread uses on a device; `object` (owned) keeps it from being given back. nullptr: the device's default.
struct Current {
  Device device;
  PyObject* object = nullptr;
};
thread_local std::vector<Current> current_streams;
/// What with blocks go back to.
thread_local std::vector<Current> outer_streams;

Tape& tape_in(PyStream* s, Device device) {
  switch (s->kind) {
    case StreamKind::usual: return default_tape(device);
    case StreamKind::per_thread: return per_thread_tape(device);
    default: return *s->tape;
  }
}
Tape& tape_in(PyObject* self) { return tape_in(as_stream(self), default_device()); }

/// Makes a stream (taken over) the current one of its device, and returns the one before (owned).
Current choose(Tape& t, PyObject* object) {
  set_current_tape(t);
  for (Current& c : current_streams)
    if (c.device == t.device()) return {c.device, std::exchange(c.object, object)};
  current_streams.push_back({t.device(), object});
  return {t.device(), nullptr};
}

int64_t handle_of(const Tape& t) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(t.stream().native)); }

/// A native handle from an int, a ctypes pointer, or None (no stream).
std::optional<int64_t> handle_in(PyObject* o) {
  if (o == Py_None) return 0;
  if (PyLong_Check(o)) return to_int(o, "stream");
  if (PyRef value = PyRef::maybe(PyObject_GetAttrString(o, "value"))) {
    if (value.get() == Py_None) return 0;
    if (PyLong_Check(value.get())) return to_int(value.get(), "stream");
    return std::nullopt;
  }
  PyErr_Clear();
  PyRef index = PyRef::maybe(PyNumber_Index(o));
  if (index) return to_int(index.get(), "stream");
  PyErr_Clear();
  return std::nullopt;
}

/// The native handle of another library's stream; nullopt when the object is none.
std::optional<int64_t> foreign_handle(PyObject* o) {
  if (PyRef protocol = PyRef::maybe(PyObject_GetAttrString(o, "__cuda_stream__"))) {
    // The protocol's first version is a method that gives (version, handle); some libraries have the pair as an attribute.
    PyRef pair = PyCallable_Check(protocol.get()) ? PyRef::steal(PyObject_CallNoArgs(protocol.get())) : protocol;
    if (!PyTuple_Check(pair.get()) || PyTuple_Size(pair.get()) != 2)
      throw_python(PyExc_TypeError, "stream: expected __cuda_stream__ to give (version, handle)");
    return handle_in(PyTuple_GetItem(pair.get(), 1));
  }
  PyErr_Clear();
  for (const char* name : {"cuda_stream", "ptr", "handle"}) {
    PyRef value = PyRef::maybe(PyObject_GetAttrString(o, name));
    if (!value) {
      PyErr_Clear();
      continue;
    }
    if (const auto handle = handle_in(value.get())) return handle;
  }
  return std::nullopt;
}

Tape& tape_of_handle(int64_t handle, Device device) {
  switch (handle) {
    case 0: return tape(device);
    case 1: return default_tape(device);
    case 2: return per_thread_tape(device);
    default: break;
  }
  if (device.type == DeviceType::cpu) return tape(device);
  return tape_of({device, reinterpret_cast<void*>(static_cast<intptr_t>(handle))});  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

bool is_stream(PyObject* o) { return PyObject_TypeCheck(o, stream_type); }

Tape& stream_of(PyObject* o, Device device) {
  if (!o || o == Py_None) return tape(device);
  if (is_stream(o)) {
    Tape& t = tape_in(as_stream(o), device);
    BC_CHECK(t.device() == device, Value, "stream: expected a stream of {}, got one of {}", to_string(device), to_string(t.device()));
    return t;
  }
  if (PyLong_Check(o)) return tape_of_handle(to_int(o, "stream"), device);
  const auto handle = foreign_handle(o);
  if (!handle) raise(ErrorKind::Type, "stream: expected a stream, its handle or None, got {}", type_name(o));
  // Another library's null stream is the device's default one, not whatever this thread uses here.
  return *handle == 0 ? default_tape(device) : tape_of_handle(*handle, device);
}

Tape& stream_of(PyObject* o) {
  if (o && o != Py_None && is_stream(o)) return tape_in(o);
  return stream_of(o, default_device());
}

void call_unraisable(PyObject* f, PyObject* args) noexcept {
  PyObject* made = PyObject_CallObject(f, args);
  if (!made) PyErr_WriteUnraisable(f);
  Py_XDECREF(made);
}

namespace {

// ---- Streams ---------------------------------------------------------------------------------------------------------------------

/// tp_alloc through the limited API, with the fields zeroed.
template <class T>
T* allocate(PyTypeObject* type) {
  auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  auto* made = reinterpret_cast<T*>(alloc(type, 0));
  if (!made) throw PythonError();
  return made;
}

void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject* stream_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    static constinit Once<CallSignature> s_once;
    const CallSignature& s = s_once.get("Stream(null=False, non_blocking=False, ptds=False, priority=None, *, foreign=None)");
    PyObject* v[5];
    VectorArguments(args, kwargs).bind(s, v);
    const bool null = to_bool(v[0]), ptds = to_bool(v[2]);
    if (null && ptds) throw_python(PyExc_ValueError, "Stream: expected one of null and ptds, got both");
    const Device device = default_device();
    PyStream made{};
    made.kind = null ? StreamKind::usual : ptds ? StreamKind::per_thread : StreamKind::own;
    if (v[4] != Py_None) {
      const auto handle = PyLong_Check(v[4]) ? std::optional(to_int(v[4], "stream")) : foreign_handle(v[4]);
      if (!handle)
        raise(ErrorKind::Type, "ExternalStream: expected a stream's handle or another library's stream, got {}", type_name(v[4]));
      if (*handle <= 1) {
        made.kind = StreamKind::usual;
      } else if (*handle == 2) {
        made.kind = StreamKind::per_thread;
      } else {
        made.kind = StreamKind::foreign;
        // Both wait for what was queued, behind which there may be a host function that needs the interpreter.
        without_gil([&] {
          made.tape = &tape_of_handle(*handle, device);
          made.tape->borrow();
        });
        made.owner = new_ref(v[4]);
      }
    } else if (made.kind == StreamKind::own) {
      made.non_blocking = to_bool(v[1]);
      const auto [least, greatest] = backend(device).stream_priorities();
      const int64_t wanted = v[3] == Py_None ? 0 : to_int(v[3], "priority");
      made.priority = static_cast<int>(std::clamp<int64_t>(wanted, greatest, least));
      made.tape = &acquire_stream(device, {made.non_blocking, made.priority});
    }
    PyStream* self = allocate<PyStream>(type);
    self->kind = made.kind;
    self->tape = made.tape;
    self->owner = made.owner;
    self->priority = made.priority;
    self->non_blocking = made.non_blocking;
    return reinterpret_cast<PyObject*>(self);
  });
}

void stream_dealloc(PyObject* self) {
  PyStream* s = as_stream(self);
  if (s->kind == StreamKind::own && s->tape) release_stream(*s->tape);
  if (s->kind == StreamKind::foreign) without_gil([&] { s->tape->give_back(); });
  Py_XDECREF(s->owner);
  free_object(self);
}

PyObject* stream_compare(PyObject* self, PyObject* other, int op) {
  return guard([&]() -> PyObject* {
    if ((op != Py_EQ && op != Py_NE) || !is_stream(other)) Py_RETURN_NOTIMPLEMENTED;
    const PyStream *a = as_stream(self), *b = as_stream(other);
    const bool same = a->kind == StreamKind::usual || a->kind == StreamKind::per_thread ? a->kind == b->kind : a->tape == b->tape;
    return PyBool_FromLong(same == (op == Py_EQ));
  });
}

Py_hash_t stream_hash(PyObject* self) {
  const PyStream* s = as_stream(self);
  return static_cast<Py_hash_t>((reinterpret_cast<uintptr_t>(s->tape) >> 4) + static_cast<uintptr_t>(s->kind)) & PY_SSIZE_T_MAX;
}

PyObject* stream_use(PyObject* self, PyObject*) {
  return guard([&] {
    Py_XDECREF(choose(tape_in(self), new_ref(self)).object);
    return new_ref(self);
  });
}

PyObject* stream_enter(PyObject* self, PyObject*) {
  return guard([&] {
    outer_streams.push_back(choose(tape_in(self), new_ref(self)));
    return new_ref(self);
  });
}

PyObject* stream_exit(PyObject*, PyObject*) {
  return guard([&]() -> PyObject* {
    if (outer_streams.empty()) throw_python(PyExc_RuntimeError, "Stream.__exit__: expected a with block of this thread");
    const Current before = outer_streams.back();
    outer_streams.pop_back();
    Tape& mine = tape(before.device);
    Tape& outer = before.object ? tape_in(as_stream(before.object), before.device) : default_tape(before.device);
    const PyRef left = PyRef::maybe(choose(outer, before.object).object);
    // What was recorded starts now, beside what the thread does next.
    if (!mine.empty() && &mine != &outer) without_gil([&] { mine.flush(); });
    if (&mine != &outer) {
      TapeLock lock(mine);
      mine.mark();
    }
    Py_RETURN_NONE;
  });
}

PyObject* stream_synchronize(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    Tape& t = tape_in(self);
    without_gil([&] { t.synchronize(); });
    Py_RETURN_NONE;
  });
}

PyObject* stream_done(PyObject* self, void*) {
  return guard([&] {
    Tape& t = tape_in(self);
    return PyBool_FromLong(without_gil([&] {
      // The driver would end the capture.
      BC_CHECK(!t.capture(), Runtime, "done: the stream is being captured; end the capture first");
      t.flush();
      return backend(t.device()).query(t.stream());
    }));
  });
}

PyObject* stream_ptr(PyObject* self, void*) {
  return guard([&] { return PyLong_FromLongLong(handle_of(tape_in(self))); });
}
PyObject* stream_device(PyObject* self, void*) {
  return guard([&] { return device_object(tape_in(self).device()).release(); });
}
PyObject* stream_device_id(PyObject* self, void*) {
  return guard([&] { return PyLong_FromLong(tape_in(self).device().index); });
}
PyObject* stream_null(PyObject* self, void*) { return PyBool_FromLong(as_stream(self)->kind == StreamKind::usual); }
PyObject* stream_ptds(PyObject* self, void*) { return PyBool_FromLong(as_stream(self)->kind == StreamKind::per_thread); }
PyObject* stream_external(PyObject* self, void*) { return PyBool_FromLong(as_stream(self)->kind == StreamKind::foreign); }
PyObject* stream_priority(PyObject* self, void*) { return PyLong_FromLong(as_stream(self)->priority); }
PyObject* stream_non_blocking(PyObject* self, void*) { return PyBool_FromLong(as_stream(self)->non_blocking); }
PyObject* stream_kind(PyObject* self, void*) {
  constexpr const char* names[] = {"null", "per-thread", "own", "external"};
  return PyUnicode_FromString(names[static_cast<int>(as_stream(self)->kind)]);
}

PyObject* stream_protocol(PyObject* self, PyObject*) {
  return guard([&] { return tuple_of({to_py(int64_t{0}).get(), to_py(handle_of(tape_in(self))).get()}).release(); });
}

/// A call of Python's that a stream makes, from any thread.
struct HostCall {
  HostCall(PyObject* function, PyObject* arguments) : f(new_ref(function)), args(new_ref(arguments)) { queued_host_calls.fetch_add(1); }
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
  ~HostCall() {
    queued_host_calls.fetch_sub(1);
    if (!Py_IsInitialized()) return;
    GilHold hold;
    Py_DECREF(f);
    Py_DECREF(args);
  }
  void run() const {
    if (!Py_IsInitialized()) return;
    GilHold hold;
    call_unraisable(f, args);
  }
  PyObject *f, *args;
};

PyObject* stream_launch_host(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *f = nullptr, *arguments = nullptr;
    if (!PyArg_UnpackTuple(args, "_launch_host", 2, 2, &f, &arguments)) throw PythonError();
    if (!PyCallable_Check(f)) raise(ErrorKind::Type, "launch_host_func: expected a function, got {}", type_name(f));
    Tape& t = tape_in(self);
    auto owned = std::make_shared<HostCall>(f, arguments);
    without_gil([&] {
      t.flush();
      if (t.capture()) {
        // The graph calls it again and again.
        t.capture()->owned.push_back(owned);
        backend(t.device()).launch_host(t.stream(), [call = owned.get()] { call->run(); });
      } else {
        backend(t.device()).launch_host(t.stream(), [call = std::move(owned)] { call->run(); });
      }
    });
    Py_RETURN_NONE;
  });
}

PyObject* stream_wait_event(PyObject* self, PyObject* event) {
  return guard([&]() -> PyObject* {
    Tape& t = tape_in(self);
    if (!PyObject_TypeCheck(event, event_type)) {
      // Another library's event: its native handle is all that is needed.
      raise(ErrorKind::Type, "wait_event: expected an Event of broadcloth.cuda, got {}", type_name(event));
    }
    const Mark mark = as_event(event)->now();
    if (!mark.event) Py_RETURN_NONE;  // an event that marks nothing is done
    without_gil([&] {
      TapeLock lock(t);
      t.flush();
      // Waiting for a captured stream's event enters its capture.
      const bool may_join = mark.use.tape && mark.use.tape->capture() && !t.capture() && mark.use.tape->device() == t.device();
      if (t.device().type == DeviceType::cpu) {
        mark.event->synchronize();
        if (may_join) {
          cpu::join_capture(t.stream(), mark.use.tape->stream());
          t.join_capture(*mark.use.tape);
        }
        return;
      }
      if (may_join) t.before_capture();
      t.wait_for(*mark.event, mark.use);
      if (may_join && backend(t.device()).capturing(t.stream())) t.join_capture(*mark.use.tape);
    });
    Py_RETURN_NONE;
  });
}

PyObject* stream_begin_capture(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    Tape& t = tape_in(self);
    without_gil([&] {
      BC_CHECK(!t.capture(), Runtime, "begin_capture: the stream is being captured already");
      t.begin_capture(std::make_shared<Capture>());
      try {
        backend(t.device()).begin_capture(t.stream());
      } catch (...) {
        t.leave_capture();
        throw;
      }
    });
    Py_RETURN_NONE;
  });
}

PyObject* stream_end_capture(PyObject* self, PyObject*) {
  return guard([&] {
    Tape& t = tape_in(self);
    std::shared_ptr<Capture> capture = t.capture();
    BC_CHECK(capture, Runtime, "end_capture: the stream is not being captured");
    BC_CHECK(capture->origin == &t, Runtime, "end_capture: the stream is not the one whose capture was begun; end it on that one");
    std::unique_ptr<StreamGraph> graph = without_gil([&] {
      std::exception_ptr failed;
      try {
        TapeLock lock(t);
        for (Tape* other : tapes(t.device()))
          if (other->capture() == capture) other->flush();
      } catch (...) {
        failed = std::current_exception();
      }
      std::unique_ptr<StreamGraph> made;
      try {
        made = backend(t.device()).end_capture(t.stream());
      } catch (...) {
        if (!failed) failed = std::current_exception();
      }
      for (Tape* other : tapes(t.device()))
        if (other->capture() == capture) other->leave_capture();
      {
        // The graph knows addresses: from now on values are written there, and nowhere else.
        TapeLock lock(t);
        for (const Ref<Buffer>& b : capture->buffers) b->expose(true);
      }
      if (failed) std::rethrow_exception(failed);
      return made;
    });
    PyGraph* g = allocate<PyGraph>(graph_type);
    new (&g->graph) std::unique_ptr<StreamGraph>(std::move(graph));
    new (&g->capture) std::shared_ptr<Capture>(std::move(capture));
    g->device = t.device();
    return reinterpret_cast<PyObject*>(g);
  });
}

PyObject* stream_is_capturing(PyObject* self, PyObject*) {
  return guard([&] { return PyBool_FromLong(tape_in(self).capture() != nullptr); });
}

PyGetSetDef stream_attributes[] = {
    {"ptr", stream_ptr, nullptr, "The native handle, a number", nullptr},
    {"cuda_stream", stream_ptr, nullptr, "The native handle, as PyTorch calls it", nullptr},
    {"device", stream_device, nullptr, "The device", nullptr},
    {"device_id", stream_device_id, nullptr, "Which one of its type the device is", nullptr},
    {"null", stream_null, nullptr, "True for the device's default stream", nullptr},
    {"ptds", stream_ptds, nullptr, "True for the thread's own default stream", nullptr},
    {"external", stream_external, nullptr, "True for another library's stream", nullptr},
    {"done", stream_done, nullptr, "True when all of its work is done", nullptr},
    {"priority", stream_priority, nullptr, "A smaller number runs first", nullptr},
    {"non_blocking", stream_non_blocking, nullptr, "True where it does not wait for the default stream", nullptr},
    {"_kind", stream_kind, nullptr, nullptr, nullptr},
    {}};
PyMethodDef stream_methods[] = {
    {"__enter__", stream_enter, METH_NOARGS, nullptr},
    {"__exit__", stream_exit, METH_VARARGS, nullptr},
    {"__cuda_stream__", stream_protocol, METH_NOARGS, nullptr},
    {"use", stream_use, METH_NOARGS, "use($self, /)\n--\n\nMakes it the stream that this thread's work goes to; returns it."},
    {"synchronize", stream_synchronize, METH_NOARGS,
     "synchronize($self, /)\n--\n\nRuns what waits on the stream, waits for it, and raises what its work raised."},
    {"is_capturing", stream_is_capturing, METH_NOARGS, "is_capturing($self, /)\n--\n\nTells whether its work is being captured."},
    {"_wait_event", stream_wait_event, METH_O, nullptr},
    {"_launch_host", stream_launch_host, METH_VARARGS, nullptr},
    {"_begin_capture", stream_begin_capture, METH_NOARGS, nullptr},
    {"_end_capture", stream_end_capture, METH_NOARGS, nullptr},
    {}};
PyType_Slot stream_slots[] = {{Py_tp_new, reinterpret_cast<void*>(stream_new)},
                              {Py_tp_dealloc, reinterpret_cast<void*>(stream_dealloc)},
                              {Py_tp_richcompare, reinterpret_cast<void*>(stream_compare)},
                              {Py_tp_hash, reinterpret_cast<void*>(stream_hash)},
                              {Py_tp_getset, stream_attributes},
                              {Py_tp_methods, stream_methods},
                              {Py_tp_doc, const_cast<char*>("What broadcloth.cuda.Stream is built on.")},
                              {0, nullptr}};
PyType_Spec stream_spec = {"broadcloth.StreamBase", sizeof(PyStream), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, stream_slots};

// ---- Events ----------------------------------------------------------------------------------------------------------------------

PyObject* event_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    static constinit Once<CallSignature> s_once;
    const CallSignature& s = s_once.get("Event(block=False, disable_timing=False, interprocess=False)");
    PyObject* v[3];
    VectorArguments(args, kwargs).bind(s, v);
    EventOptions options;
    options.blocking = to_bool(v[0]);
    options.interprocess = to_bool(v[2]);
    options.timing = !to_bool(v[1]);
    if (options.interprocess && options.timing) raise(ErrorKind::Value, "Event: an interprocess event has no timing; set disable_timing");
    PyEvent* self = allocate<PyEvent>(type);
    self->options = options;
    new (&self->mutex) std::mutex;
    new (&self->mark) Mark{nullptr, default_device(), {}};
    return reinterpret_cast<PyObject*>(self);
  });
}

void event_dealloc(PyObject* self) {
  as_event(self)->mark.~Mark();
  as_event(self)->mutex.~mutex();
  free_object(self);
}

PyObject* event_record(PyObject* self, PyObject* stream) {
  return guard([&]() -> PyObject* {
    PyEvent* e = as_event(self);
    Tape& t = stream_of(stream);
    without_gil([&] {
      TapeLock lock(t);
      t.flush();
      Mark mark = e->now();
      if (!mark.event || !(mark.device == t.device())) {
        mark.event = backend(t.device()).make_event(e->options);
        mark.device = t.device();
      }
      mark.event->record(t.stream());
      mark.use = {&t, t.tick()};
      e->set(std::move(mark));
    });
    Py_RETURN_NONE;
  });
}

PyObject* event_done(PyObject* self, void*) {
  return guard([&] {
    const Mark mark = as_event(self)->now();
    return PyBool_FromLong(!mark.event || mark.event->query());
  });
}

PyObject* event_synchronize(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    const Mark mark = as_event(self)->now();
    if (mark.event) without_gil([&] { mark.event->synchronize(); });
    Py_RETURN_NONE;
  });
}

PyObject* event_elapsed(PyObject* self, PyObject* end) {
  return guard([&]() -> PyObject* {
    if (!PyObject_TypeCheck(end, event_type)) raise(ErrorKind::Type, "elapsed_time: expected an Event, got {}", type_name(end));
    const Mark a = as_event(self)->now(), b = as_event(end)->now();
    BC_CHECK(a.event && b.event, Value, "elapsed_time: expected two events that were recorded");
    BC_CHECK(as_event(self)->options.timing && as_event(end)->options.timing, Value,
             "elapsed_time: expected events with timing, got one made with disable_timing");
    BC_CHECK(a.device == b.device, Value, "elapsed_time: expected events of one device, got {} and {}", to_string(a.device),
             to_string(b.device));
    return PyFloat_FromDouble(b.event->elapsed(*a.event));
  });
}

/// Takes over a native event of the current device.
PyObject* event_adopt(PyObject* self, PyObject* handle) {
  return guard([&]() -> PyObject* {
    PyEvent* e = as_event(self);
    void* native = PyLong_AsVoidPtr(handle);
    if (PyErr_Occurred()) throw PythonError();
    BC_CHECK(default_device().type == DeviceType::cuda && native, Value, "Event: expected a native event of a CUDA device");
    const Device device = default_device();
    e->set({std::make_shared<CudaStreamEvent>(CudaEvent(static_cast<CudaBackend&>(backend(device)), static_cast<cuda::CUevent>(native))),
            device,
            {}});
    e->options.timing = false;
    Py_RETURN_NONE;
  });
}

PyObject* event_ptr(PyObject* self, void*) {
  return guard([&] {
    PyEvent* e = as_event(self);
    const std::lock_guard lock(e->mutex);
    if (!e->mark.event) e->mark.event = backend(e->mark.device).make_event(e->options);
    return PyLong_FromVoidPtr(e->mark.event->native());
  });
}
PyObject* event_device(PyObject* self, void*) {
  return guard([&] { return device_object(as_event(self)->now().device).release(); });
}

PyGetSetDef event_attributes[] = {{"done", event_done, nullptr, "True when the marked work is done", nullptr},
                                  {"ptr", event_ptr, nullptr, "The native handle, a number", nullptr},
                                  {"device", event_device, nullptr, "The device", nullptr},
                                  {}};
PyMethodDef event_methods[] = {
    {"_record", event_record, METH_O, nullptr},
    {"_take", event_adopt, METH_O, nullptr},
    {"synchronize", event_synchronize, METH_NOARGS, "synchronize($self, /)\n--\n\nWaits for the marked work."},
    {"elapsed_time", event_elapsed, METH_O, "elapsed_time($self, end, /)\n--\n\nMilliseconds from this event to another."},
    {}};
PyType_Slot event_slots[] = {{Py_tp_new, reinterpret_cast<void*>(event_new)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(event_dealloc)},
                             {Py_tp_getset, event_attributes},
                             {Py_tp_methods, event_methods},
                             {Py_tp_doc, const_cast<char*>("What broadcloth.cuda.Event is built on.")},
                             {0, nullptr}};
PyType_Spec event_spec = {"broadcloth.EventBase", sizeof(PyEvent), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, event_slots};

// ---- Graphs ----------------------------------------------------------------------------------------------------------------------

void graph_dealloc(PyObject* self) {
  PyGraph* g = as_graph(self);
  without_gil([&] {
    g->graph.reset();
    try {
      Tape::end_graph(std::move(g->capture));
    } catch (const Error&) {
      // The device is lost, and its work has ended.
    }
    g->capture.reset();
  });
  g->graph.~unique_ptr();
  g->capture.~shared_ptr();
  free_object(self);
}

PyObject* graph_launch(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* stream = Py_None;
    if (!PyArg_UnpackTuple(args, "launch", 0, 1, &stream)) throw PythonError();
    PyGraph* g = as_graph(self);
    Tape& t = stream_of(stream, g->device);
    without_gil([&] { t.launch_graph(g->capture, [&] { g->graph->launch(t.stream()); }); });
    Py_RETURN_NONE;
  });
}

PyObject* graph_upload(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* stream = Py_None;
    if (!PyArg_UnpackTuple(args, "upload", 0, 1, &stream)) throw PythonError();
    PyGraph* g = as_graph(self);
    Tape& t = stream_of(stream, g->device);
    without_gil([&] { g->graph->upload(t.stream()); });
    Py_RETURN_NONE;
  });
}

PyObject* graph_nodes(PyObject* self, void*) {
  return guard([&] { return PyLong_FromSize_t(as_graph(self)->graph->node_count()); });
}

PyGetSetDef graph_attributes[] = {{"node_count", graph_nodes, nullptr, "How many launches, copies and fills it holds", nullptr}, {}};
PyMethodDef graph_methods[] = {
    {"launch", graph_launch, METH_VARARGS, "launch($self, stream=None, /)\n--\n\nQueues all of the captured work on a stream."},
    {"upload", graph_upload, METH_VARARGS, "upload($self, stream=None, /)\n--\n\nMoves the graph to the device before its first launch."},
    {}};
PyType_Slot graph_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(graph_dealloc)},
    {Py_tp_getset, graph_attributes},
    {Py_tp_methods, graph_methods},
    {Py_tp_doc, const_cast<char*>("Work that was captured from a stream, to be queued again by one call.\n\n"
                                  "Made by Stream.end_capture. The memory that it uses is kept as long as it lives.")},
    {0, nullptr}};
PyType_Spec graph_spec = {"broadcloth.cuda.Graph", sizeof(PyGraph), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, graph_slots};

/// The stream object that this thread uses on a device; None: the device's default.
PyRef current_stream(Device d) {
  for (const Current& c : current_streams)
    if (c.device == d && c.object) return PyRef::borrow(c.object);
  return PyRef::borrow(Py_None);
}

}  // namespace

void init_cuda(PyObject* module) {
  stream_type = add_type(module, &stream_spec, "StreamBase");
  event_type = add_type(module, &event_spec, "EventBase");
  graph_type = add_type(module, &graph_spec, "Graph");
  add_functions(module, {
                            BC_FUNCTION("current_stream(device=None)", current_stream),
                            BC_FUNCTION("stream_priorities(device=None)",
                                        [](Device d) {
                                          const auto [least, greatest] = backend(d).stream_priorities();
                                          return tuple_of({to_py(int64_t{least}).get(), to_py(int64_t{greatest}).get()});
                                        }),
                        });
  init_cuda_memory(module);
  init_cuda_pool(module);
  init_cuda_device(module);
}

}  // namespace bc::bind
