// Memory shared with other libraries: DLPack, the CUDA array interface and the buffer protocol, in both directions.
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "array/history.h"
#include "backends/cuda/cuda_backend.h"
#include "bind/args.h"
#include "bind/dlpack.h"
#include "bind/interrupts.h"
#include "bind/values.h"
#include "graph/tape.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace bc::bind {
namespace {

// ---- Loans -----------------------------------------------------------------------------------------------------------------------

/// Keeps a buffer exposed. Exposed memory is never rebound and ordered at call time, which costs fusion: memory lent to somebody who gives
/// it back (a buffer, a DLPack tensor) is exposed as long as the loan lasts; only an address that was told stays exposed.
class Loan {
 public:
  /// *address gets the place of element `offset` 0 of the storage.
  Loan(const Array& a, void** address) : device_(a.device()) {
    *address = without_gil([&] {
      TapeLock lock(tape(device_));
      void* at = lend(a);
      buffer_ = a.storage()->current->buffer;
      return at;
    });
  }
  /// Ends the loan; any thread, with or without the interpreter's lock.
  ~Loan() {
    TapeLock lock(tape(device_));
    buffer_->end_loan();
    buffer_ = {};
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  const Ref<Buffer>& buffer() const { return buffer_; }

 private:
  Device device_;
  Ref<Buffer> buffer_;
};

}  // namespace

void* expose_forever(const Array& a) {
  leave_history(a, "array interface");
  return without_gil([&] { return expose(a); });
}

namespace {

char* first_element(const Array& a, void* base) { return static_cast<char*>(base) + a.offset() * itemsize(a.dtype()); }

bool is_read_only(PyObject* self) { return as_py_array(self)->read_only || storage_facts(array_of(self)).read_only; }

// ---- Buffer protocol -------------------------------------------------------------------------------------------------------------

/// What a Py_buffer points to.
struct Export {
  Loan loan;
  std::vector<Py_ssize_t> shape, strides;
  Export(const Array& a, void** address) : loan(a, address) {}
};

const char* format_of(DType t) {
  const char* format = info(t).format;
  if (format) return format;
  PyErr_Format(PyExc_BufferError, "the buffer protocol has no %s; use .view('%s') or .get()", info(t).name,
               is_time(t)         ? "int64"
               : itemsize(t) == 1 ? "uint8"
                                  : "uint16");
  throw PythonError();
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guard(-1, [&] {
    const Array& a = array_of(self);
    if (a.device().type != DeviceType::cpu) {
      PyErr_Format(PyExc_BufferError, "the array is on %s, whose memory Python cannot read; use .get() for a NumPy copy",
                   to_string(a.device()).c_str());
      throw PythonError();
    }
    leave_history(a, "memoryview");
    const char* format = format_of(a.dtype());
    if ((flags & PyBUF_WRITABLE) && is_read_only(self)) throw_python(PyExc_BufferError, "the array is read-only");
    // A ValueError, as NumPy's, where Python's own buffers raise a BufferError.
    const bool c = a.contiguous(), f = is_f_contiguous(a.shape(), a.strides());
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c) throw_python(PyExc_ValueError, "ndarray is not C-contiguous");
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !f) throw_python(PyExc_ValueError, "ndarray is not Fortran contiguous");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c && !f) throw_python(PyExc_ValueError, "ndarray is not contiguous");
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !c) throw_python(PyExc_ValueError, "ndarray is not C-contiguous");
    void* base = nullptr;
    std::unique_ptr<Export> made;
    try {
      made = std::make_unique<Export>(a, &base);
    } catch (const Interrupted&) {
      // NumPy drops what a buffer raises and asks for `__array__` next, which would compute all anew: the signal comes again to end that.
      raise_interrupt();
      PyErr_Clear();
      PyErr_SetInterruptEx(SIGINT);
      throw_python(PyExc_BufferError, "the computation of the array was interrupted");
    }
    const int64_t item = itemsize(a.dtype());
    for (int d = 0; d < a.ndim(); ++d) {
      made->shape.push_back(a.shape()[d]);
      made->strides.push_back(a.strides()[d] * item);
    }
    view->buf = first_element(a, base);
    view->len = a.size() * item;
    view->itemsize = item;
    view->readonly = is_read_only(self);
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->ndim = flags & PyBUF_ND ? a.ndim() : 1;
    view->shape = flags & PyBUF_ND ? made->shape.data() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? made->strides.data() : nullptr;
    view->suboffsets = nullptr;
    view->internal = made.release();
    view->obj = new_ref(self);
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Export*>(view->internal); }

// ---- DLPack ----------------------------------------------------------------------------------------------------------------------

dlpack::DataType dlpack_type(DType t) {
  dlpack::Code code = is_bool(t)           ? dlpack::kBool
                      : is_signed_int(t)   ? dlpack::kInt
                      : is_unsigned(t)     ? dlpack::kUInt
                      : t == DType::bf16   ? dlpack::kBfloat
                      : t == DType::f8e4m3 ? dlpack::kFloat8E4m3fn
                      : t == DType::f8e5m2 ? dlpack::kFloat8E5m2
                      : is_complex(t)      ? dlpack::kComplex
                                           : dlpack::kFloat;
  return {code, static_cast<uint8_t>(8 * itemsize(t)), 1};
}

DType from_dlpack_type(dlpack::DataType d) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const dlpack::DataType t = dlpack_type(static_cast<DType>(i));
    if (t.code == d.code && t.bits == d.bits && d.lanes == 1) return static_cast<DType>(i);
  }
  raise(ErrorKind::Type, "from_dlpack: expected a type that broadcloth has, got DLPack code {}, {} bits, {} lanes", d.code, d.bits,
        d.lanes);
}

dlpack::Device dlpack_device(Device d) { return {d.type == DeviceType::cuda ? dlpack::kCuda : dlpack::kCpu, d.index}; }

/// Runs `f` without Python's lock, whether the thread has it or not.
template <class F>
void surely_without_gil(F&& f) {
  if (!Py_IsInitialized()) return f();
  const GilHold hold;
  without_gil(std::forward<F>(f));
}

/// Memory that streams of other libraries may use, where nothing can be recorded on them: they may have been destroyed since. It is kept
/// until the device has been waited for, which happens when there is much of it or the pool has no more.
class Quarantine {
 public:
  void add(Ref<Buffer> buffer) {
    constexpr size_t kMostBuffers = 64, kMostBytes = size_t{1} << 30;
    static const int hook = pool_add_hook([this](PoolEvent event, Device device, void*, size_t) {
      if (event == PoolEvent::Pressure && traits(device).asynchronous) give_back(device);
    });
    (void)hook;
    const Device device = buffer->device;
    {
      const std::lock_guard lock(mutex_);
      bytes_ += buffer->bytes;
      waiting_.push_back(std::move(buffer));
      if (waiting_.size() <= kMostBuffers && bytes_ <= kMostBytes) return;
    }
    give_back(device);
  }

 private:
  void give_back(Device device) {
    std::vector<Ref<Buffer>> done;
    {
      const std::lock_guard lock(mutex_);
      for (Ref<Buffer>& b : waiting_)
        if (b->device == device) done.push_back(std::move(b));
      std::erase_if(waiting_, [](const Ref<Buffer>& b) { return !b; });
      for (const Ref<Buffer>& b : done) bytes_ -= b->bytes;
    }
    if (done.empty()) return;
    bool waited = false;
    try {
      waited = backend(device).wait_for_reuse();
    } catch (const Error&) {
      // The process ends.
    }
    if (!waited) {
      // A capture forbids to wait: a later call comes back to it.
      const std::lock_guard lock(mutex_);
      for (Ref<Buffer>& b : done) {
        bytes_ += b->bytes;
        waiting_.push_back(std::move(b));
      }
      return;
    }
    TapeLock lock(default_tape(device));  // the last owner of a buffer gives it back under the lock
    done.clear();
  }

  std::mutex mutex_;
  std::vector<Ref<Buffer>> waiting_;
  size_t bytes_ = 0;
};

Quarantine& quarantine() {
  static auto* q = new Quarantine;
  return *q;
}

/// What an exported tensor owns.
struct ExportContext {
  Loan loan;
  Array array;
  std::vector<int64_t> shape, strides;
  Tape* consumer = nullptr;  ///< of the stream on which the consumer said that it works
  ExportContext(const Array& a, void** address) : loan(a, address), array(a) {}
  ExportContext(const ExportContext&) = delete;
  ExportContext& operator=(const ExportContext&) = delete;
  /// The consumer lets go of the memory while its work may still use it.
  ~ExportContext() {
    if (!consumer) return;
    if (consumer->unowned()) {
      surely_without_gil([&] { quarantine().add(loan.buffer()); });
      return;
    }
    surely_without_gil([&] { end_on(*consumer); });
  }

 private:
  /// Counts the consumer's stream as the last writer. Streams that used the memory during the loan are forgotten by that, so the consumer
  /// waits for them.
  void end_on(Tape& last) noexcept {
    TapeLock lock(last);
    try {
      if (many_streams()) last.wait_for_uses(*loan.buffer());
      last.submit();
    } catch (const Error&) {
      // The device is lost and its work has ended; the error is raised when the work's stream is synchronised.
    }
    if (many_streams()) last.after(*loan.buffer(), true);
  }
};

template <class Managed>
void delete_managed(Managed* m) {
  delete static_cast<ExportContext*>(m->context);
  delete m;
}

template <class Managed>
Tape*& consumer_of(Managed* m) {
  return static_cast<ExportContext*>(m->context)->consumer;
}

template <class Managed>
Managed* manage(const Array& a) {
  if (is_time(a.dtype())) {
    PyErr_Format(PyExc_BufferError, "__dlpack__: DLPack has no %s; use .view('int64')", info(a.dtype()).name);
    throw PythonError();
  }
  void* base = nullptr;
  auto context = std::make_unique<ExportContext>(a, &base);
  context->shape.assign(a.shape().begin(), a.shape().end());
  context->strides.assign(a.strides().begin(), a.strides().end());
  auto* m = new Managed{};
  m->deleter = delete_managed<Managed>;
  m->tensor.data = first_element(a, base);
  m->tensor.device = dlpack_device(a.device());
  m->tensor.ndim = a.ndim();
  m->tensor.dtype = dlpack_type(a.dtype());
  m->tensor.shape = context->shape.data();
  m->tensor.strides = context->strides.data();
  m->context = context.release();
  return m;
}

/// A capsule that nobody took frees its tensor.
template <class Managed>
void free_capsule(PyObject* capsule) {
  constexpr const char* name = std::is_same_v<Managed, dlpack::ManagedTensor> ? "dltensor" : "dltensor_versioned";
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (m && m->deleter) m->deleter(m);
}

template <class Managed>
PyRef capsule_of(Managed* m, const char* name) {
  PyObject* capsule = PyCapsule_New(m, name, free_capsule<Managed>);
  if (!capsule) m->deleter(m);
  return PyRef::steal(capsule);
}

constexpr int64_t kPerThread = 2;

/// The native stream of DLPack's and the CUDA array interface's number: 0 is ambiguous and 1 the legacy default stream, 2 the driver's own
/// per-thread stream.
Stream stream_of_number(Device device, int64_t number) {
  return {device, number <= 1 ? nullptr : reinterpret_cast<void*>(static_cast<intptr_t>(number))};  // NOLINT(performance-no-int-to-ptr)
}

/// Makes another library's stream wait for what ours have queued on an array's memory.
void order_before(Stream consumer, const Array& a) {
  Tape& t = tape_of(consumer);
  TapeLock lock(t);
  data(a);
  if (!many_streams()) return;
  Buffer& buffer = *a.storage()->current->buffer;
  t.before(buffer, true);
  t.submit();
  t.after(buffer, true);
}

/// Makes this thread's stream wait for what another library's has queued.
void order_after(Stream producer) {
  Tape& theirs = tape_of(producer);
  Tape& mine = tape(producer.device);
  if (&theirs == &mine) return;
  TapeLock lock(mine);
  mine.wait_for({&theirs, theirs.submit()});
}

/// Makes the consumer's stream see what this array's stream has queued. Returns that stream's tape; nullptr where the consumer told none.
Tape* order_for(const Array& a, PyObject* stream) {
  if (!traits(a.device()).asynchronous) {
    if (stream != Py_None) throw_python(PyExc_RuntimeError, "__dlpack__: expected stream=None for an array on the CPU");
    return nullptr;
  }
  const int64_t number = stream == Py_None ? 1 : to_int(stream, "stream");
  if (number == -1) return nullptr;
  const Stream consumer = stream_of_number(a.device(), number);
  return without_gil([&] {
    order_before(consumer, a);
    // The driver's per-thread streams, which share a number, and the default stream wait for each other.
    return number == kPerThread ? &default_tape(a.device()) : &tape_of(consumer);
  });
}

PyRef dlpack_method(PyObject* self, PyObject* stream, PyObject* max_version, PyObject* dl_device, PyObject* copy_it) {
  Array a = array_of(self);
  leave_history(a, "__dlpack__");
  const std::optional<bool> copy = to_copy_mode(copy_it);
  bool copied = false;
  if (dl_device != Py_None) {
    const Axes want = to_axes(dl_device);
    if (want.size() != 2) throw_python(PyExc_ValueError, "__dlpack__: expected a pair for 'dl_device'");
    const dlpack::Device here = dlpack_device(a.device());
    if (want[0] != here.kind || want[1] != here.index) {
      if (copy && !*copy) throw_python(PyExc_BufferError, "__dlpack__: the array is on another device, and copy=False forbids to copy it");
      if (want[0] != dlpack::kCpu && want[0] != dlpack::kCuda) throw_python(PyExc_BufferError, "__dlpack__: expected a CPU or CUDA device");
      a = without_gil(
          [&] { return bc::to_device(a, {want[0] == dlpack::kCuda ? DeviceType::cuda : DeviceType::cpu, static_cast<int>(want[1])}); });
      copied = true;
    }
  }
  if (a.device().type == DeviceType::null) throw_python(PyExc_BufferError, "__dlpack__: the null device has no memory");
  if (copy.value_or(false) && !copied) {
    a = bc::copy(a);
    copied = true;
  }
  const bool read_only = !copied && is_read_only(self);
  const bool versioned = max_version != Py_None && to_axes(max_version).at(0) >= 1;
  if (read_only && !versioned)
    throw_python(PyExc_BufferError, "__dlpack__: the array is read-only, which DLPack can say from version 1.0 on");
  if (versioned) {
    auto* m = manage<dlpack::ManagedTensorVersioned>(a);
    m->version = {1, 0};
    m->flags = (read_only ? dlpack::kReadOnly : 0) | (copied ? dlpack::kIsCopied : 0);
    PyRef capsule = capsule_of(m, "dltensor_versioned");
    consumer_of(m) = order_for(a, stream);
    return capsule;
  }
  auto* m = manage<dlpack::ManagedTensor>(a);
  PyRef capsule = capsule_of(m, "dltensor");
  consumer_of(m) = order_for(a, stream);
  return capsule;
}

PyRef dlpack_device_method(PyObject* self) {
  const dlpack::Device d = dlpack_device(array_of(self).device());
  return tuple_of({to_py(int64_t{d.kind}).get(), to_py(int64_t{d.index}).get()});
}

Array take_tensor(const dlpack::Tensor& t, bool read_only, std::function<void()> release) {
  Device device;
  switch (t.device.kind) {
    case dlpack::kCpu:
    case dlpack::kCudaHost: break;
    case dlpack::kCuda:
    case dlpack::kCudaManaged: device = {DeviceType::cuda, t.device.index}; break;
    default: raise(ErrorKind::Value, "from_dlpack: expected a tensor on the CPU or on CUDA, got DLPack device kind {}", t.device.kind);
  }
  const DType dtype = from_dlpack_type(t.dtype);
  Layout layout;
  layout.shape = Dims(std::span<const int64_t>(t.shape, static_cast<size_t>(t.ndim)));
  layout.strides = t.strides ? Dims(std::span<const int64_t>(t.strides, static_cast<size_t>(t.ndim))) : contiguous_strides(layout.shape);
  return from_foreign(static_cast<char*>(t.data) + t.byte_offset, dtype, layout, device, read_only, std::move(release));
}

template <class Managed>
Array take_capsule(PyObject* capsule, const char* name, const char* used, bool read_only_flag) {
  auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (!m) throw PythonError();
  bool read_only = false;
  if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>) {
    if (m->version.major > 1)
      raise(ErrorKind::Value, "from_dlpack: expected DLPack version 1, got {}.{}", m->version.major, m->version.minor);
    read_only = (m->flags & dlpack::kReadOnly) != 0;
  }
  check(PyCapsule_SetName(capsule, used));
  // From here on the tensor is ours to delete, also when wrapping it fails.
  auto owner = std::shared_ptr<Managed>(m, [](Managed* t) {
    if (!t->deleter || !Py_IsInitialized()) return;
    GilHold hold;
    t->deleter(t);
  });
  return take_tensor(m->tensor, read_only || read_only_flag, [owner] {});
}

Array from_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
    return take_capsule<dlpack::ManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned", false);
  if (PyCapsule_IsValid(capsule, "dltensor")) return take_capsule<dlpack::ManagedTensor>(capsule, "dltensor", "used_dltensor", false);
  throw_python(PyExc_ValueError, "from_dlpack: expected a DLPack capsule that nobody has taken yet");
}

/// The number by which DLPack and the CUDA array interface name our stream: 1 is CUDA's legacy default stream.
int64_t stream_number(Device device) {
  void* native = tape(device).stream().native;
  return native ? static_cast<int64_t>(reinterpret_cast<intptr_t>(native)) : 1;
}

// ---- CUDA array interface --------------------------------------------------------------------------------------------------------

/// PyTorch reads version 2 of the interface, which names no stream: its current stream waits for the array, whoever asked.
void order_for_torch(const Array& a) {
  PyObject* torch_cuda = PyDict_GetItemString(PyImport_GetModuleDict(), "torch.cuda");
  if (!torch_cuda || PyRef::steal(PyObject_CallMethod(torch_cuda, "is_initialized", nullptr)).get() != Py_True) return;
  PyRef stream = PyRef::steal(PyObject_CallMethod(torch_cuda, "current_stream", "i", a.device().index));
  PyRef number = PyRef::steal(PyObject_GetAttrString(stream.get(), "cuda_stream"));
  order_for(a, number.get());
}

/// NumPy's view of an array in host memory, for the attributes that tell its address: the memory stays exposed from then on.
PyRef host_view(PyObject* self, const char* attribute) {
  const Array& a = array_of(self);
  if (a.device().type != DeviceType::cpu || !info(a.dtype()).format) {
    PyErr_Format(PyExc_AttributeError, "%s: the array of %s is on %s; use .get() for a NumPy copy, .data.ptr for the address", attribute,
                 info(a.dtype()).name, to_string(a.device()).c_str());
    throw PythonError();
  }
  expose_forever(a);
  return call(attr(state().numpy, "asarray").get(), {self});
}

template <int I>
PyObject* get_of_view(PyObject* self, void*) {
  static constexpr const char* kNames[] = {"__array_interface__", "ctypes"};
  return guard([&] { return attr(host_view(self, kNames[I]).get(), kNames[I]).release(); });
}

PyObject* get_cuda_interface(PyObject* self, void*) {
  return guard([&]() -> PyObject* {
    const Array& a = array_of(self);
    if (a.device().type != DeviceType::cuda || !info(a.dtype()).in_numpy) {
      PyErr_Format(PyExc_AttributeError, "__cuda_array_interface__: the array of %s is on %s", info(a.dtype()).name,
                   to_string(a.device()).c_str());
      throw PythonError();
    }
    void* base = expose_forever(a);
    PyRef d = PyRef::steal(PyDict_New());
    auto put = [&](const char* key, PyRef value) { check(PyDict_SetItemString(d.get(), key, value.get())); };
    put("shape", shape_tuple(a.shape()));
    put("typestr", to_py(info(a.dtype()).typestr));
    const int64_t address = a.size() ? static_cast<int64_t>(reinterpret_cast<intptr_t>(first_element(a, base))) : 0;
    put("data", tuple_of({to_py(address).get(), is_read_only(self) ? Py_True : Py_False}));
    put("strides", a.contiguous() ? PyRef::borrow(Py_None) : shape_tuple(a.strides(), itemsize(a.dtype())));
    put("version", to_py(int64_t{3}));
    put("stream", to_py(stream_number(a.device())));
    order_for_torch(a);
    return d.release();
  });
}

Array from_cuda_interface(PyObject* o, PyObject* dict) {
  auto field = [&](const char* key) -> PyObject* { return PyDict_GetItemString(dict, key); };
  if (!PyDict_Check(dict) || !field("shape") || !field("typestr") || !field("data"))
    throw_python(PyExc_TypeError, "__cuda_array_interface__: expected a dict with shape, typestr and data");
  const DType dtype = to_dtype(field("typestr"));
  Layout layout;
  layout.shape = to_shape(field("shape"));
  layout.strides = contiguous_strides(layout.shape);
  PyObject* strides = field("strides");
  if (strides && strides != Py_None) {
    layout.strides = to_shape(strides);
    for (int64_t& s : layout.strides) {
      if (s % itemsize(dtype)) throw_python(PyExc_ValueError, "__cuda_array_interface__: expected strides of whole elements");
      s /= itemsize(dtype);
    }
  }
  PyRef data = PyRef::steal(PySequence_Tuple(field("data")));
  void* address = PyLong_AsVoidPtr(PyTuple_GetItem(data.get(), 0));
  if (PyErr_Occurred()) throw PythonError();
  const bool read_only = PyObject_IsTrue(PyTuple_GetItem(data.get(), 1)) == 1;
  Device device{DeviceType::cuda, 0};
  bool told = false;
  if (PyRef where = attr_or_null(o, state().names.device)) {
    PyRef id = attr_or_null(where.get(), state().names.id);
    if (id && PyLong_Check(id.get())) {
      device.index = static_cast<int>(to_int(id.get(), "device"));
      told = true;
    }
  }
  if (!told && address && device_count(DeviceType::cuda) > 1) {
    const CudaPointerInfo info = static_cast<CudaBackend&>(backend(device)).pointer_info(address);
    if (info.device >= 0) device.index = info.device;
  }
  PyObject* stream = field("stream");
  if (stream && stream != Py_None) {
    // The producer's work is not in our stream's order.
    const int64_t number = to_int(stream, "stream");
    without_gil([&] { order_after(stream_of_number(device, number)); });
  }
  PyObject* owner = new_ref(o);
  return from_foreign(address, dtype, layout, device, read_only, [owner] { release_object(owner); });
}

/// Calls __dlpack__ as version 1.0, or as it was before where the producer does not know the keywords.
PyRef request_capsule(PyObject* o, PyObject* stream, PyObject* dl_device, PyObject* copy_it) {
  PyRef method = PyRef::steal(PyObject_GetAttr(o, state().names.__dlpack__));
  PyRef kwargs = PyRef::steal(PyDict_New());
  PyRef version = tuple_of({to_py(int64_t{1}).get(), to_py(int64_t{0}).get()});
  check(PyDict_SetItem(kwargs.get(), state().names.max_version, version.get()));
  if (stream) check(PyDict_SetItem(kwargs.get(), state().names.stream, stream));
  if (dl_device) check(PyDict_SetItem(kwargs.get(), state().names.dl_device, dl_device));
  if (copy_it) check(PyDict_SetItem(kwargs.get(), state().names.copy, copy_it));
  PyRef none = PyRef::steal(PyTuple_New(0));
  PyRef capsule = PyRef::maybe(PyObject_Call(method.get(), none.get(), kwargs.get()));
  if (capsule) return capsule;
  if (!PyErr_ExceptionMatches(PyExc_TypeError) || dl_device || copy_it) throw PythonError();
  PyErr_Clear();
  PyRef old = PyRef::steal(PyDict_New());
  if (stream) check(PyDict_SetItem(old.get(), state().names.stream, stream));
  return PyRef::steal(PyObject_Call(method.get(), none.get(), old.get()));
}

}  // namespace

namespace {

/// The device that an object with __dlpack_device__ names.
dlpack::Device told_device(PyObject* o) {
  PyRef where = PyRef::maybe(PyObject_CallMethodObjArgs(o, state().names.__dlpack_device__, nullptr));
  if (!where) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError))
      PyErr_Format(PyExc_TypeError, "from_dlpack: expected an object with __dlpack__ and __dlpack_device__, got %s", type_name(o));
    throw PythonError();
  }
  return {static_cast<int32_t>(to_int(PyTuple_GetItem(where.get(), 0), "device")),
          static_cast<int32_t>(to_int(PyTuple_GetItem(where.get(), 1), "device"))};
}

bool on_cuda(const dlpack::Device& d) { return d.kind == dlpack::kCuda || d.kind == dlpack::kCudaManaged; }

}  // namespace

Array import_dlpack(PyObject* o, std::optional<Device> device, std::optional<bool> copy_it) {
  if (PyCapsule_CheckExact(o)) {
    Array a = from_capsule(o);
    if (device && !(a.device() == *device)) a = without_gil([&] { return bc::to_device(a, *device); });
    return copy_it && *copy_it ? copy(a) : a;
  }
  const dlpack::Device told = told_device(o);
  const bool cuda = on_cuda(told);
  const Device owner{cuda ? DeviceType::cuda : DeviceType::cpu, cuda ? told.index : 0};
  PyRef stream = cuda ? to_py(stream_number(owner)) : nullptr;
  // PyTorch exports tensors of the current device only.
  const CurrentDevice entered(backend(owner));
  Array a = from_capsule(request_capsule(o, stream.get(), nullptr, nullptr).get());
  if (device && !(a.device() == *device)) {
    if (copy_it && !*copy_it)
      throw_python(PyExc_ValueError, "from_dlpack: the tensor is on another device, and copy=False forbids to copy it");
    return without_gil([&] { return bc::to_device(a, *device); });
  }
  return copy_it && *copy_it ? copy(a) : a;
}

std::optional<Array> import_foreign(PyObject* o) {
  if (PyType_Check(o)) return std::nullopt;
  auto has_dlpack = [&] { return attr_or_null(o, state().names.__dlpack__) && attr_or_null(o, state().names.__dlpack_device__); };
  if (PyRef dict = attr_or_null(o, state().names.__cuda_array_interface__)) {
    // PyTorch's interface (version 2) does not say which stream its work is on; its DLPack orders ours after it.
    const bool ordered = !PyDict_Check(dict.get()) || PyDict_GetItemString(dict.get(), "stream");
    if (ordered || !has_dlpack() || !on_cuda(told_device(o))) return from_cuda_interface(o, dict.get());
    return import_dlpack(o, std::nullopt, std::nullopt);
  }
  if (has_dlpack()) return import_dlpack(o, std::nullopt, std::nullopt);
  return std::nullopt;
}

void add_buffer_slots(std::vector<PyType_Slot>* slots) {
  slots->push_back({Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)});
  slots->push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)});
}

void add_interop_methods(std::vector<PyMethodDef>* methods) {
  methods->push_back(BC_METHOD("__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)", dlpack_method));
  methods->push_back(BC_METHOD("__dlpack_device__()", dlpack_device_method));
  methods->push_back(BC_METHOD("toDlpack()", [](PyObject* self) { return dlpack_method(self, Py_None, Py_None, Py_None, Py_None); }));
}

void add_interop_attributes(std::vector<PyGetSetDef>* attributes) {
  attributes->push_back({"__cuda_array_interface__", get_cuda_interface, nullptr, nullptr, nullptr});
  attributes->push_back({"__array_interface__", get_of_view<0>, nullptr, "NumPy's description of an array in host memory.", nullptr});
  attributes->push_back({"ctypes", get_of_view<1>, nullptr, "NumPy's object for ctypes, of an array in host memory; no copy.", nullptr});
  add_stream_attributes(attributes);
}

void init_interop(PyObject* module) {
  add_functions(module, {BC_FUNCTION("from_dlpack(x, /, *, device: DeviceLike=None, copy: bool | None=None)",
                                     [](PyObject* x, PyObject* device, PyObject* copy_it) {
                                       return import_dlpack(x, device == Py_None ? std::nullopt : std::optional(to_device(device)),
                                                            to_copy_mode(copy_it));
                                     })});
}

}  // namespace bc::bind
