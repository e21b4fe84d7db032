// Device memory by the piece, and pools that Python programs put in the place of the engine's.
#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "bind/args.h"
#include "bind/cuda_stream.h"
#include "core/error.h"
#include "runtime/caching_pool.h"
#include "runtime/host_wait.h"
#include "runtime/interrupt.h"

namespace bc::bind {
namespace {

// ---- Sources in Python and in C ----------------------------------------------------------------------------------------------------

/// A Python function of (bytes, device's number, stream's handle) that gives an address or an object with one (`ptr`), and perhaps one of
/// (address, device's number, stream's handle) that takes it back. An object is kept until then.
class PythonSource final : public MemorySource {
 public:
  PythonSource(PyObject* allocate, PyObject* free) : allocate_(new_ref(allocate)), free_(free == Py_None ? nullptr : new_ref(free)) {}
  ~PythonSource() override {
    if (!Py_IsInitialized()) return;
    GilHold hold;
    Py_DECREF(allocate_);
    Py_XDECREF(free_);
  }

  void* allocate(size_t bytes, Device device, void* stream) override {
    GilHold hold;
    PyRef size = to_py(static_cast<int64_t>(bytes)), index = to_py(int64_t{device.index}),
          handle = PyRef::steal(PyLong_FromVoidPtr(stream));
    PyRef made = PyRef::maybe(PyObject_CallFunctionObjArgs(allocate_, size.get(), index.get(), handle.get(), nullptr));
    if (!made) {
      if (!PyErr_ExceptionMatches(PyExc_MemoryError)) throw_as_error();
      PyErr_Clear();
      return nullptr;
    }
    PyRef address = PyLong_Check(made.get()) ? made : PyRef::maybe(PyObject_GetAttrString(made.get(), "ptr"));
    void* ptr = address ? PyLong_AsVoidPtr(address.get()) : nullptr;
    if (PyErr_Occurred()) throw_as_error();
    if (ptr) {
      std::lock_guard lock(mutex_);
      pieces_[ptr] = {PyLong_Check(made.get()) ? nullptr : made.release(), stream};
    }
    return ptr;
  }

  void free(void* ptr, size_t, Device device, void* stream) noexcept override {
    if (!Py_IsInitialized()) return;
    Piece piece{nullptr, stream};
    {
      std::lock_guard lock(mutex_);
      if (auto found = pieces_.extract(ptr)) piece = found.mapped();
    }
    if (piece.stream != stream) {
      // The owner gives the memory out again in the order of the stream that asked for it.
      try {
        Tape &home = tape_of({device, piece.stream}), &last = tape_of({device, stream});
        const interrupt::Scope scope(interrupt::Mode::never);
        if (home.unowned()) last.synchronize();
        TapeLock lock(home);
        if (!home.unowned()) home.wait_for({&last, last.submit()});
      } catch (const Error&) {
        // The device is lost, and its work has ended.
      }
    }
    GilHold hold;
    Py_XDECREF(piece.object);
    if (!free_) return;
    PyObject* args = Py_BuildValue("(NiN)", PyLong_FromVoidPtr(ptr), device.index, PyLong_FromVoidPtr(stream));
    if (args) call_unraisable(free_, args);
    Py_XDECREF(args);
  }

 private:
  /// What Python raised as an exception that crosses the engine.
  [[noreturn]] static void throw_as_error() {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyRef text = PyRef::maybe(value ? PyObject_Str(value) : nullptr);
    const std::string message = text ? std::string(as_string(text.get())) : "an exception";
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
    raise(ErrorKind::Runtime, "set_allocator: the allocator raised: {}", message);
  }

  PyObject* allocate_;
  PyObject* free_;
  std::mutex mutex_;
  struct Piece {
    PyObject* object;  ///< nullptr where the function gave an address
    void* stream;
  };
  std::unordered_map<void*, Piece> pieces_;
};

/// Two C functions, as CuPy's CFunctionAllocator takes them.
class FunctionSource final : public MemorySource {
 public:
  using Allocate = void* (*)(void* parameter, size_t bytes, int device);
  using Free = void (*)(void* parameter, void* ptr, int device);
  FunctionSource(Allocate allocate, Free free, void* parameter, PyObject* owner)
      : allocate_(allocate), free_(free), parameter_(parameter), owner_(new_ref(owner)) {}
  ~FunctionSource() override { release_object(owner_); }
  void* allocate(size_t bytes, Device device, void*) override { return allocate_(parameter_, bytes, device.index); }
  void free(void* ptr, size_t, Device device, void*) noexcept override { free_(parameter_, ptr, device.index); }

 private:
  const Allocate allocate_;
  const Free free_;
  void* const parameter_;
  PyObject* const owner_;
};

// ---- Pieces ----------------------------------------------------------------------------------------------------------------------

/// A piece of a device's memory: of the engine's pool (no allocator), of another pool, or somebody else's (owner).
struct PyMemory {
  PyObject_HEAD Device device;
  void* ptr;
  size_t bytes;
  void* stream;
  std::shared_ptr<PoolAllocator> allocator;
  PyObject* owner;
};
PyTypeObject* memory_type = nullptr;
PyMemory* as_memory(PyObject* o) { return reinterpret_cast<PyMemory*>(o); }

PyRef new_memory(Device device, void* ptr, size_t bytes, void* stream, std::shared_ptr<PoolAllocator> allocator, PyObject* owner) {
  PyMemory* made = PyObject_New(PyMemory, memory_type);
  if (!made) throw PythonError();
  made->device = device;
  made->ptr = ptr;
  made->bytes = bytes;
  made->stream = stream;
  new (&made->allocator) std::shared_ptr<PoolAllocator>(std::move(allocator));
  made->owner = owner ? new_ref(owner) : nullptr;
  return PyRef::steal(reinterpret_cast<PyObject*>(made));
}

void memory_dealloc(PyObject* self) {
  PyMemory* m = as_memory(self);
  try {
    const HostWait wait;
    if (!m->owner && m->ptr) {
      if (m->allocator)
        m->allocator->free(m->ptr, m->bytes, m->device, m->stream);
      else
        pool_free(m->device, m->ptr, m->stream);
    }
  } catch (...) {
    // The device is lost, and its memory with it.
  }
  m->allocator.~shared_ptr();
  Py_XDECREF(m->owner);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* memory_ptr(PyObject* self, void*) { return PyLong_FromVoidPtr(as_memory(self)->ptr); }
PyObject* memory_size(PyObject* self, void*) { return PyLong_FromSize_t(as_memory(self)->bytes); }
PyObject* memory_device(PyObject* self, void*) {
  return guard([&] { return device_object(as_memory(self)->device).release(); });
}

PyGetSetDef memory_attributes[] = {{"ptr", memory_ptr, nullptr, "The address", nullptr},
                                   {"size", memory_size, nullptr, "How many bytes", nullptr},
                                   {"device", memory_device, nullptr, "The device", nullptr},
                                   {}};
PyType_Slot memory_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(memory_dealloc)},
                              {Py_tp_getset, memory_attributes},
                              {Py_tp_doc, const_cast<char*>("A piece of a device's memory.")},
                              {0, nullptr}};
PyType_Spec memory_spec = {"broadcloth.DeviceMemory", sizeof(PyMemory), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           memory_slots};

// ---- Pools -----------------------------------------------------------------------------------------------------------------------

/// A pool that is not the engine's.
struct PyPool {
  PyObject_HEAD std::shared_ptr<CachingPool> pool;
};
PyTypeObject* pool_type = nullptr;

PyRef make_pool(PyObject* source, bool cache, PyObject* free) {
  std::shared_ptr<MemorySource> from;
  const char* name = "program's";
  if (PyUnicode_Check(source)) {
    const std::string_view kind = as_string(source);
    BC_CHECK(kind == "raw" || kind == "managed" || kind == "async", Value, "make_pool: expected a kind of memory, got '{}'", kind);
    from = memory_source(kind == "raw" ? MemoryKind::chunk : kind == "managed" ? MemoryKind::managed : MemoryKind::ordered);
    name = kind == "raw" ? "driver's" : kind == "managed" ? "managed" : "driver's stream-ordered";
  } else if (PyTuple_Check(source)) {
    PyRef fields = PyRef::borrow(source);
    if (PyTuple_Size(source) != 4) throw_python(PyExc_TypeError, "CFunctionAllocator: expected (param, malloc_func, free_func, owner)");
    auto address = [&](int i) {
      void* p = PyLong_AsVoidPtr(PyTuple_GetItem(source, i));
      if (PyErr_Occurred()) throw PythonError();
      return p;
    };
    void *allocate = address(1), *release = address(2);
    BC_CHECK(allocate && release, Value, "CFunctionAllocator: expected the addresses of two functions, got 0");
    from = std::make_shared<FunctionSource>(reinterpret_cast<FunctionSource::Allocate>(allocate),
                                            reinterpret_cast<FunctionSource::Free>(release), address(0), PyTuple_GetItem(source, 3));
  } else {
    if (!PyCallable_Check(source)) raise(ErrorKind::Type, "make_pool: expected a function, got {}", type_name(source));
    from = std::make_shared<PythonSource>(source, free);
  }
  PyPool* made = PyObject_New(PyPool, pool_type);
  if (!made) throw PythonError();
  new (&made->pool) std::shared_ptr<CachingPool>(std::make_shared<CachingPool>(std::move(from), cache, name));
  return PyRef::steal(reinterpret_cast<PyObject*>(made));
}

void pool_dealloc(PyObject* self) {
  reinterpret_cast<PyPool*>(self)->pool.~shared_ptr();
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

std::shared_ptr<CachingPool> pool_or_null(PyObject* o) {
  if (o == Py_None) return nullptr;
  if (!is_exact(o, pool_type)) raise(ErrorKind::Type, "expected a pool, got {}", type_name(o));
  return reinterpret_cast<PyPool*>(o)->pool;
}

/// A piece of a pool's memory; of the engine's where it is None.
PyRef allocate(PyObject* pool_object, uint64_t bytes, PyObject* stream, Device device) {
  std::shared_ptr<CachingPool> pool = pool_or_null(pool_object);
  void* native = stream_of(stream, device).stream().native;
  void* ptr = without_gil([&] {
    if (!pool) return pool_allocate(device, bytes, native);
    void* p = pool->allocate(bytes, device, native);
    if (!p) {
      pool->trim(device);
      p = pool->allocate(bytes, device, native);
    }
    return p;
  });
  BC_CHECK(ptr, Memory, "pool: {} bytes asked for on {}, which the {} pool cannot give", bytes, to_string(device), pool->name());
  if (const int byte = new_memory_byte(); byte >= 0 && !stream_of(stream, device).capture())
    without_gil([&] { backend(device).fill(ptr, byte, bytes, stream_of(stream, device).stream()); });
  return new_memory(device, ptr, bytes, native, std::move(pool), nullptr);
}

PyRef pool_facts(PyObject* pool_object, Device device) {
  PyRef d = PyRef::steal(PyDict_New());
  auto put = [&](const char* key, size_t v) { check(PyDict_SetItemString(d.get(), key, to_py(static_cast<int64_t>(v)).get())); };
  const std::shared_ptr<CachingPool> pool = pool_or_null(pool_object);
  put("used", pool->used(device));
  put("total", pool->total(device));
  put("free_blocks", pool->free_blocks(device));
  put("limit", pool->limit());
  return d;
}

PyType_Slot pool_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(pool_dealloc)},
                            {Py_tp_doc, const_cast<char*>("A pool over memory of any source.")},
                            {0, nullptr}};
PyType_Spec pool_spec = {"broadcloth.Pool", sizeof(PyPool), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, pool_slots};

// ---- Hooks -----------------------------------------------------------------------------------------------------------------------

/// Calls a Python function of (event, device, address, bytes) at every event of every pool.
int64_t add_hook(PyObject* f) {
  auto held = std::shared_ptr<PyObject>(new_ref(f), [](PyObject* o) { release_object(o); });
  return pool_add_hook([held](PoolEvent event, Device device, void* ptr, size_t bytes) {
    constexpr const char* names[] = {"allocate", "free", "chunk_allocate", "chunk_free", "pressure"};
    if (!Py_IsInitialized()) return;
    GilHold hold;
    // A free may come while Python handles an error, which the hook must not see or lose.
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyObject* args = Py_BuildValue("(ssNn)", names[static_cast<int>(event)], to_string(device).c_str(), PyLong_FromVoidPtr(ptr),
                                   static_cast<Py_ssize_t>(bytes));
    if (args) call_unraisable(held.get(), args);
    Py_XDECREF(args);
    PyErr_Restore(type, value, trace);
  });
}

/// Gives the interpreter's lock up; nullptr where this thread does not have it.
void* leave_python() {
  if (gil_released || !Py_IsInitialized() || !PyGILState_GetThisThreadState()) return nullptr;
  gil_released = true;
  return PyEval_SaveThread();
}

void enter_python(void* state) {
  or_sleep([&] { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); });
  gil_released = false;
}

}  // namespace

void init_cuda_pool(PyObject* module) {
  // A flush holds a tape's lock and may wait for Python's, to allocate by a Python function or to look for signals: who has Python's must
  // not keep it while it waits for the tape's. Nor while it waits for the driver, which may be about to call a Python function.
  set_host_wait(leave_python, enter_python);
  set_lock_wait(leave_python, enter_python);
  memory_type = add_type(module, &memory_spec, "DeviceMemory");
  pool_type = add_type(module, &pool_spec, "Pool");
  add_functions(
      module, {
                  BC_FUNCTION("make_pool(source, cache=True, free=None)", make_pool),
                  BC_FUNCTION("pool_allocate(pool, bytes, stream=None, device=None)", allocate),
                  BC_FUNCTION("pool_install(pool, device=None)",
                              [](PyObject* pool, Device d) { pool_set_allocator(d, std::shared_ptr<PoolAllocator>(pool_or_null(pool))); }),
                  BC_FUNCTION("pool_counts(pool, device=None)", pool_facts),
                  BC_FUNCTION("pool_free_all(pool, device=None)",
                              [](PyObject* pool, Device d) {
                                const auto p = pool_or_null(pool);
                                without_gil([&] { p->trim(d); });
                              }),
                  BC_FUNCTION("pool_cap(pool, bytes)", [](PyObject* pool, uint64_t bytes) { pool_or_null(pool)->set_limit(bytes); }),
                  BC_FUNCTION("foreign_memory(ptr, bytes, owner, device=None)",
                              [](uint64_t ptr, uint64_t bytes, PyObject* owner, Device d) {
                                void* const memory = reinterpret_cast<void*>(ptr);  // NOLINT(performance-no-int-to-ptr)
                                return new_memory(d, memory, bytes, nullptr, nullptr, owner);
                              }),
                  BC_FUNCTION("pool_add_hook(function)", add_hook),
                  BC_FUNCTION("pool_remove_hook(number)", [](int64_t number) { pool_remove_hook(static_cast<int>(number)); }),
              });
}

}  // namespace bc::bind
