// Memory between host and device on a stream of the program's choice, and host memory that the device can reach.
#include <algorithm>
#include <cstdlib>

#include "array/access.h"
#include "array/history.h"
#include "backends/cuda/cuda_backend.h"
#include "bind/args.h"
#include "bind/cuda_stream.h"
#include "core/error.h"
#include "runtime/copy_kind.h"
#include "runtime/pinned.h"

namespace bc::bind {
namespace {

bool f_contiguous(const Layout& l) { return !is_contiguous(l.shape, l.strides) && is_f_contiguous(l.shape, l.strides); }

/// Queues a copy between an array (C-contiguous) and host memory of as many bytes. Page-locked memory is copied while the program goes on,
/// and `owner` (of it) lives until then. `wait`: returns when the bytes are there.
void queue_copy(const Array& a, void* host, PyObject* owner, Tape& t, bool up, bool wait) {
  const size_t bytes = static_cast<size_t>(a.size()) * itemsize(a.dtype());
  if (bytes == 0) return;
  bool busy = false;
  {
    ArrayAccess access(t.stream());
    void* device = access.add(a, up);
    Backend& b = backend(a.device());
    void* const to = up ? device : host;
    const void* const from = up ? host : device;
    const CopyKind kind = up ? copy_kind(a.device(), kHost) : copy_kind(kHost, a.device());
    if (wait)
      b.copy(to, from, bytes, kind, t.stream());
    else
      busy = b.copy_async(to, from, bytes, kind, t.stream());
  }
  if (busy) {
    GilHold hold;
    t.keep([kept = new_ref(owner)] { release_object(kept); });
  } else if (!up) {
    TapeLock lock(t);
    t.check_errors();
  }
}

/// The array with its axes reversed, where that makes it C-contiguous.
Array as_c(const Array& a) { return f_contiguous(a.layout()) ? transpose(a) : a; }

/// dst[...] = host on a stream.
void store_host(const Array& dst, PyObject* host, Tape& t, bool wait) {
  {
    const NumpyView view(host);
    const Layout from = view.layout();
    const bool c = dst.contiguous() && is_contiguous(from.shape, from.strides);
    const bool f = f_contiguous(dst.layout()) && f_contiguous(from);
    if (view.dtype() == dst.dtype() && from.shape == dst.shape() && (c || f)) {
      PyObject* owner = view.owner();
      without_gil([&] { queue_copy(as_c(dst), view.data(), owner, t, true, wait); });
      return;
    }
  }
  CurrentTape current(t);
  const Array value = to_array(host, dst.device());
  without_gil([&] {
    assign(dst, value);
    t.flush();
  });
}

Tape& current_or(PyObject* stream, Device device) { return stream_of(stream, device); }

/// Numba's to_device.
PyRef to_device_function(PyObject* obj, PyObject* stream, bool copy_it, PyObject* to) {
  if (is_array(obj) && to == Py_None) return copy_it ? PyRef::steal(wrap(copy(array_of(obj)))) : PyRef::borrow(obj);
  const Device device = is_array(to) ? array_of(to).device() : default_device();
  Tape& t = current_or(stream, device);
  if (is_array(obj)) {
    CurrentTape current(t);
    without_gil([&] { assign(writable(to, "to_device"), array_of(obj)); });
    return PyRef::borrow(to);
  }
  if (!is_numpy_array(obj)) {
    if (const auto foreign = import_foreign(obj)) {
      CurrentTape current(t);
      if (to == Py_None)
        return PyRef::steal(
            wrap(without_gil([&] { return foreign->device() == device ? copy(*foreign) : bc::to_device(*foreign, device); })));
      without_gil([&] { assign(writable(to, "to_device"), *foreign); });
      return PyRef::borrow(to);
    }
  }
  PyRef host = is_numpy_array(obj) ? PyRef::borrow(obj) : call(state().np_asarray, {obj});
  if (to != Py_None) {
    store_host(writable(to, "to_device"), host.get(), t, stream == Py_None);
    return PyRef::borrow(to);
  }
  Array made;
  {
    const NumpyView view(host.get());
    const Layout from = view.layout();
    CurrentTape current(t);
    if (f_contiguous(from)) {
      Dims reversed(from.shape);
      std::reverse(reversed.begin(), reversed.end());
      made = transpose(empty(reversed, view.dtype(), device));
    } else {
      made = empty(from.shape, view.dtype(), device);
    }
  }
  if (copy_it) store_host(made, host.get(), t, stream == Py_None);
  return PyRef::steal(wrap(std::move(made)));
}

/// Writes an array into a NumPy array on a stream. Without `wait`, page-locked memory has the values when the stream is synchronised.
void load_host(const Array& a, PyObject* out, Tape& t, bool wait, const char* op) {
  leave_history(a, op);
  if (!is_numpy_array(out)) raise(ErrorKind::Type, "{}: expected a numpy.ndarray to copy into, got {}", op, type_name(out));
  {
    const NumpyView view(out);
    const Layout to = view.layout();
    if (to.shape != a.shape()) raise(ErrorKind::Value, "{}: expected an array of shape {}, got {}", op, a.shape(), to.shape);
    if (!view.writable()) raise(ErrorKind::Value, "{}: the array to copy into is read-only", op);
    const bool c = a.contiguous() && is_contiguous(to.shape, to.strides);
    const bool f = f_contiguous(a.layout()) && f_contiguous(to);
    if (!view.copied() && view.dtype() == a.dtype() && (c || f)) {
      PyObject* owner = view.owner();
      without_gil([&] { queue_copy(as_c(a), view.data(), owner, t, false, wait); });
      return;
    }
  }
  CurrentTape current(t);
  to_numpy_out(a, out);
}

PyRef copy_to_host(PyObject* self, PyObject* ary, PyObject* stream) {
  const Array& a = array_of(self);
  Tape& t = current_or(stream, a.device());
  if (ary != Py_None) {
    load_host(a, ary, t, stream == Py_None, "copy_to_host");
    return PyRef::borrow(ary);
  }
  CurrentTape current(t);
  return to_host_array(a, "copy_to_host", 'A');
}

PyRef get(PyObject* self, PyObject* stream, PyObject* order, PyObject* out, bool blocking) {
  const Array& a = array_of(self);
  Tape& t = current_or(stream, a.device());
  if (out != Py_None) {
    load_host(a, out, t, blocking, "get");
    return PyRef::borrow(out);
  }
  CurrentTape current(t);
  return to_host_array(a, "get", to_order(order));
}

void set(PyObject* self, PyObject* value, PyObject* stream) {
  const Array& a = writable(self, "set");
  Tape& t = current_or(stream, a.device());
  if (is_numpy_array(value)) return store_host(a, value, t, stream == Py_None);
  CurrentTape current(t);
  const Arg arg = to_arg(value, a.device());
  without_gil([&] { assign(a, arg); });
}

PyRef copy_to_device(PyObject* self, PyObject* ary, PyObject* stream) {
  const Array& a = writable(self, "copy_to_device");
  Tape& t = current_or(stream, a.device());
  const auto check_shape = [&](const Dims& shape) {
    if (shape != a.shape()) raise(ErrorKind::Value, "copy_to_device: expected an array of shape {}, got {}", a.shape(), shape);
  };
  if (is_numpy_array(ary)) {
    check_shape(NumpyView(ary).layout().shape);
    store_host(a, ary, t, stream == Py_None);
  } else {
    CurrentTape current(t);
    const Array from = to_array(ary, a.device());
    check_shape(from.shape());
    without_gil([&] { assign(a, from); });
  }
  return PyRef::borrow(self);
}

// ---- What Numba's device arrays have besides -------------------------------------------------------------------------------------------

bool is_c_contiguous(PyObject* self) { return array_of(self).contiguous(); }
bool is_fortran_contiguous(PyObject* self) { return is_f_contiguous(array_of(self).shape(), array_of(self).strides()); }

/// Views of `section` elements each.
PyRef split(PyObject* self, int64_t section, PyObject*) {
  const Array& a = array_of(self);
  if (a.ndim() != 1) raise(ErrorKind::Value, "split: expected an array of one dimension, got {}", a.ndim());
  if (section < 1) raise(ErrorKind::Value, "split: expected a section of 1 or more, got {}", section);
  PyRef list = PyRef::steal(PyList_New(0));
  for (int64_t at = 0; at < a.size(); at += section) {
    SliceItem part;
    part.start = at;
    part.stop = std::min(at + section, a.size());
    part.has_start = part.has_stop = true;
    check(PyList_Append(list.get(), PyRef::steal(wrap_view(slice(a, {&part, 1}), self)).get()));
  }
  return list;
}

PyRef get_item_on(PyObject* self, PyObject* key, PyObject* stream) {
  CurrentTape current(stream_of(stream, array_of(self).device()));
  return PyRef::steal(get_item(self, key));
}
void set_item_on(PyObject* self, PyObject* key, PyObject* value, PyObject* stream) {
  CurrentTape current(stream_of(stream, array_of(self).device()));
  set_item(self, key, value);
}

/// Moves an array out of the pool's ranges: other processes can open only what the device gave in one piece.
void leave_range(const Array& a) {
  if (a.device().type != DeviceType::cuda) return;
  auto& device = static_cast<CudaBackend&>(backend(a.device()));
  TapeLock lock(tape(a.device()));
  if (!device.is_virtual(own(a))) return;
  const Node& node = *a.storage()->current;
  BC_CHECK(!node.buffer->exposed, Runtime,
           "get_ipc_handle: the array's memory was handed to another library before, so that it cannot move to where other processes can "
           "open it; take the handle first, or set BROADCLOTH_VIRTUAL_MEMORY=0");
  const size_t bytes = std::max<size_t>(node.buffer->bytes, 1);
  void* memory = device.allocate_chunk(bytes);
  BC_CHECK(memory, Memory, "get_ipc_handle: {} bytes asked for on {}, which cannot be had", bytes, to_string(a.device()));
  const Layout all = contiguous_layout(node.shape);
  const Array moved =
      from_foreign(memory, node.dtype, all, a.device(), false, [&device, memory, bytes] { device.free_chunk(memory, bytes); });
  assign(moved, Array(a.storage(), node.dtype, all));
  data(moved);
  a.storage()->rebind(moved.storage()->current);
}

PyRef ipc_handle(PyObject* self) {
  without_gil([&] { leave_range(array_of(self)); });
  PyRef make = import_attr("broadcloth.cuda._memory", "ipc_handle");
  return call(make.get(), {self});
}

PyObject* alloc_size(PyObject* self, void*) { return PyLong_FromLongLong(array_of(self).size() * itemsize(array_of(self).dtype())); }
PyObject* ctypes_pointer(PyObject* self, void*) {
  return guard([&] {
    const Array& a = array_of(self);
    char* base = static_cast<char*>(expose_forever(a)) + a.offset() * itemsize(a.dtype());
    PyRef type = import_attr("ctypes", "c_uint64");
    PyRef address = PyRef::steal(PyLong_FromVoidPtr(base));
    return call(type.get(), {address.get()}).release();
  });
}

// ---- Host memory -----------------------------------------------------------------------------------------------------------------

enum class HostKind : uint8_t { plain, pinned, mapped, managed, registered };
constexpr const char* kHostKinds[] = {"plain", "pinned", "mapped", "managed", "registered"};

/// Host memory that a device can copy from at full speed, or use; on the CPU just memory.
struct PyHostMemory {
  PyObject_HEAD HostKind kind;
  Device device;
  void* ptr;
  size_t bytes;
  PyObject* owner;  ///< of registered memory
};
PyTypeObject* host_type = nullptr;
PyHostMemory* as_host(PyObject* o) { return reinterpret_cast<PyHostMemory*>(o); }

CudaBackend& cuda_backend(Device d, const char* op) {
  BC_CHECK(d.type == DeviceType::cuda, Runtime, "{}: expected a CUDA device, got {}", op, to_string(d));
  return static_cast<CudaBackend&>(backend(d));
}

PyHostMemory* new_host(HostKind kind, Device device, void* ptr, size_t bytes, PyObject* owner = nullptr) {
  PyHostMemory* made = PyObject_New(PyHostMemory, host_type);
  if (!made) throw PythonError();
  made->kind = kind;
  made->device = device;
  made->ptr = ptr;
  made->bytes = bytes;
  made->owner = owner ? new_ref(owner) : nullptr;
  return made;
}

void free_host(PyHostMemory* h) noexcept {
  if (!h->ptr) return;
  void* ptr = std::exchange(h->ptr, nullptr);
  try {
    switch (h->kind) {
      case HostKind::plain: std::free(ptr); break;
      case HostKind::pinned:
      case HostKind::mapped: pinned_free(ptr, h->bytes); break;
      case HostKind::managed: backend(h->device).free_chunk(ptr, h->bytes); break;
      case HostKind::registered: static_cast<CudaBackend&>(backend(h->device)).unregister_host(ptr); break;
    }
  } catch (...) {
    // The device is gone, and its memory with it.
  }
}

void host_dealloc(PyObject* self) {
  PyHostMemory* h = as_host(self);
  {
    const HostWait wait;  // freeing waits for the device
    free_host(h);
  }
  Py_XDECREF(h->owner);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

int host_buffer(PyObject* self, Py_buffer* view, int flags) {
  PyHostMemory* h = as_host(self);
  return PyBuffer_FillInfo(view, self, h->ptr, static_cast<Py_ssize_t>(h->bytes), 0, flags);
}

PyRef host_allocate(std::string_view kind, uint64_t bytes, bool write_combined) {
  const Device d = default_device();
  const auto found = std::find(std::begin(kHostKinds), std::end(kHostKinds), kind);
  BC_CHECK(found != std::end(kHostKinds), Value, "host_allocate: expected a kind of memory, got '{}'", kind);
  HostKind which = static_cast<HostKind>(found - std::begin(kHostKinds));
  const size_t size = std::max<uint64_t>(bytes, 1);
  if (!traits(d).asynchronous) which = HostKind::plain;
  void* ptr = without_gil([&]() -> void* {
    switch (which) {
      case HostKind::plain: return std::aligned_alloc(256, (size + 255) / 256 * 256);
      case HostKind::managed: return backend(d).allocate_managed(size);
      default: return pinned_allocate(d, size, write_combined);
    }
  });
  BC_CHECK(ptr, Memory, "{}: no memory for {} bytes of {} memory", to_string(d), bytes, kind);
  if (const int byte = new_memory_byte(); byte >= 0) std::memset(ptr, byte, bytes);
  return PyRef::steal(reinterpret_cast<PyObject*>(new_host(which, d, ptr, bytes)));
}

PyRef host_register(PyObject* buffer) {
  const Device d = default_device();
  Py_buffer view;
  check(PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE));
  void* ptr = view.buf;
  const auto bytes = static_cast<size_t>(view.len);
  PyBuffer_Release(&view);
  if (!traits(d).asynchronous || bytes == 0)
    return PyRef::steal(reinterpret_cast<PyObject*>(new_host(HostKind::registered, {DeviceType::cpu, 0}, nullptr, bytes, buffer)));
  without_gil([&] { cuda_backend(d, "pinned").register_host(ptr, bytes); });
  return PyRef::steal(reinterpret_cast<PyObject*>(new_host(HostKind::registered, d, ptr, bytes, buffer)));
}

PyObject* host_ptr(PyObject* self, void*) { return PyLong_FromVoidPtr(as_host(self)->ptr); }
PyObject* host_size(PyObject* self, void*) { return PyLong_FromSize_t(as_host(self)->bytes); }
PyObject* host_kind(PyObject* self, void*) { return PyUnicode_FromString(kHostKinds[static_cast<int>(as_host(self)->kind)]); }
PyObject* host_device(PyObject* self, void*) {
  return guard([&] { return device_object(as_host(self)->device).release(); });
}
PyObject* host_on_device(PyObject* self, void*) {
  return PyBool_FromLong(traits(as_host(self)->device).asynchronous && as_host(self)->kind != HostKind::plain);
}
PyObject* host_release(PyObject* self, PyObject*) {
  // Only what others own can be let go while views of it are about.
  const HostWait wait;
  if (as_host(self)->kind == HostKind::registered) free_host(as_host(self));
  Py_RETURN_NONE;
}

PyGetSetDef host_attributes[] = {{"ptr", host_ptr, nullptr, "The address", nullptr},
                                 {"size", host_size, nullptr, "How many bytes", nullptr},
                                 {"nbytes", host_size, nullptr, "How many bytes", nullptr},
                                 {"kind", host_kind, nullptr, "'pinned', 'mapped', 'managed', 'registered' or 'plain'", nullptr},
                                 {"device", host_device, nullptr, "The device that made it", nullptr},
                                 {"on_device", host_on_device, nullptr, "Whether kernels on a GPU can use it", nullptr},
                                 {}};
PyMethodDef host_methods[] = {{"_release", host_release, METH_NOARGS, nullptr}, {}};
PyType_Slot host_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(host_dealloc)},
                            {Py_tp_getset, host_attributes},
                            {Py_tp_methods, host_methods},
                            {Py_bf_getbuffer, reinterpret_cast<void*>(host_buffer)},
                            {Py_tp_doc, const_cast<char*>("Host memory that a device can reach; a buffer.")},
                            {0, nullptr}};
PyType_Spec host_spec = {"broadcloth.HostMemory", sizeof(PyHostMemory), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         host_slots};

PyRef pinned_facts() {
  const PinnedStats s = pinned_stats();
  PyRef d = PyRef::steal(PyDict_New());
  auto put = [&](const char* key, size_t v) { check(PyDict_SetItemString(d.get(), key, to_py(static_cast<int64_t>(v)).get())); };
  put("used", s.used);
  put("free", s.free);
  put("free_blocks", s.free_blocks);
  return d;
}

}  // namespace

void add_stream_methods(std::vector<PyMethodDef>* methods) {
  methods->insert(
      methods->end(),
      {
          BC_METHOD(
              "copy_to_host(ary=None, stream=None) A NumPy array with the elements, or `ary` filled with them. With a stream, page-locked "
              "memory has them when the stream is synchronised.",
              copy_to_host),
          BC_METHOD("copy_to_device(ary, stream=None) Sets the elements from an array of the same shape on the host or on a device.",
                    copy_to_device),
          BC_METHOD("get(stream=None, order='C', out=None, blocking=True) A NumPy array with the elements.", get),
          BC_METHOD("set(value, stream=None) Sets the elements from any array.", set),
          BC_METHOD("is_c_contiguous() Whether the elements lie in C's order without gaps.", is_c_contiguous),
          BC_METHOD("is_f_contiguous() Whether the elements lie in Fortran's order without gaps.", is_fortran_contiguous),
          BC_METHOD("split(section, stream=None) Views of `section` elements each.", split),
          BC_METHOD("getitem(item, stream=None) self[item], as a stream's work.", get_item_on),
          BC_METHOD("setitem(key, value, stream=None) self[key] = value, as a stream's work.", set_item_on),
          BC_METHOD("bind(stream=None) The array itself; which stream uses it, each call says.",
                    [](PyObject* self, PyObject*) { return PyRef::borrow(self); }),
          BC_METHOD("get_ipc_handle() What another process opens the array's memory with.", ipc_handle),
      });
}

void add_stream_attributes(std::vector<PyGetSetDef>* attributes) {
  attributes->push_back({"alloc_size", alloc_size, nullptr, "Bytes of its elements", nullptr});
  attributes->push_back({"device_ctypes_pointer", ctypes_pointer, nullptr, "The address of the first element, a ctypes.c_uint64", nullptr});
}

void init_cuda_memory(PyObject* module) {
  host_type = add_type(module, &host_spec, "HostMemory");
  add_functions(module, {
                            BC_FUNCTION("to_device(obj, stream=None, copy=True, to=None)", to_device_function),
                            BC_FUNCTION("host_allocate(kind, bytes, write_combined=False)", host_allocate),
                            BC_FUNCTION("host_register(buffer)", host_register),
                            BC_FUNCTION("pinned_stats()", pinned_facts),
                            BC_LOOKING("pinned_trim()", pinned_trim),
                        });
}

}  // namespace bc::bind
