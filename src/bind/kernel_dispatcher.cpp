#include "bind/kernel_dispatcher.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "bind/args.h"
#include "bind/cuda_stream.h"
#include "bind/jit_values.h"
#include "bind/kernel_records.h"
#include "bind/kernels.h"
#include "bind/launch.h"
#include "bind/vectorcall.h"
#include "bind/warnings.h"
#include "graph/tape.h"
#include "kernels/compile.h"
#include "runtime/copy_kind.h"

namespace bc::bind {
namespace {

using kernels::Kind;
using kernels::Type;
// ---- What the arguments of a call are -----------------------------------------------------------------------------------------------

/// The head of a NumPy array object, whose layout is a part of NumPy's ABI (ndarrayobject.h): asking for its buffer costs ten times as
/// much.
struct NumpyHead {
  PyObject_HEAD char* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* descr;
  int flags;
};
constexpr int kNumpyC = 0x1, kNumpyF = 0x2, kNumpyAligned = 0x100, kNumpyWriteable = 0x400;

const NumpyHead& numpy_head(PyObject* o) { return *reinterpret_cast<const NumpyHead*>(o); }

/// What a word of a call's key says in its low byte; the rest holds details or an address.
enum Code : uint64_t {
  kNone = 1,
  kBool,
  kInt,
  kFloat,
  kComplex,
  kScalar,
  kArray,
  kHostArray,
  kHostRecords,
  kTuple,
  kNamed,
  kObject,
  kVoid,
  kFields,
  kRecords
};

/// The words that tell one call's types from another's, and the objects that they name by address.
class Key {
 public:
  void push(uint64_t word) {
    if (n_ < kInline)
      inside_[n_] = word;
    else {
      if (more_.empty()) more_.assign(inside_, inside_ + kInline);
      more_.push_back(word);
    }
    ++n_;
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }
  void push_object(Code code, PyObject* o) {
    push(code | reinterpret_cast<uint64_t>(o) << 8);
    kept_.push_back(o);
  }
  const uint64_t* data() const { return more_.empty() ? inside_ : more_.data(); }
  size_t size() const { return n_; }
  uint64_t hash() const { return hash_; }
  const std::vector<PyObject*>& objects() const { return kept_; }

 private:
  static constexpr size_t kInline = 64;
  uint64_t inside_[kInline];
  std::vector<uint64_t> more_;
  std::vector<PyObject*> kept_;
  size_t n_ = 0;
  uint64_t hash_ = 0;
};

uint64_t array_word(Code code, DType dtype, int ndim, char layout, bool read_only) {
  return code | static_cast<uint64_t>(dtype) << 8 | static_cast<uint64_t>(ndim) << 16 | static_cast<uint64_t>(layout) << 24 |
         static_cast<uint64_t>(read_only) << 32;
}

uint64_t array_word(const Array& a, bool read_only) {
  const char layout = a.contiguous() ? 'C' : is_f_contiguous(a.shape(), a.strides()) ? 'F' : 'A';
  return array_word(kArray, a.dtype(), a.ndim(), layout, read_only);
}

/// The native dtype of a NumPy dtype object; nullopt for structured, swapped and foreign ones.
std::optional<DType> native_dtype(PyObject* descr) {
  if (const auto time = jit::native_time(descr)) return time;
  for (int i = 0; i < kDTypeCount; ++i)
    if (state().dtypes[i] == descr) return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<DType> numpy_scalar_dtype(PyObject* o) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  for (int i = 0; i < kDTypeCount; ++i)
    if (state().scalar_types[i] == type) return static_cast<DType>(i);
  return std::nullopt;
}

/// Fields of a dataclass's instance in order; empty for other objects.
PyRef dataclass_fields(PyObject* o) {
  if (PyType_Check(o)) return {};
  return attr_or_null(reinterpret_cast<PyObject*>(Py_TYPE(o)), BC_INTERNED("__dataclass_fields__"));
}

bool may_have_memory(PyObject* o) {
  return !PyUnicode_Check(o) && !PyCFunction_Check(o) && !PyType_Check(o) && !PyCallable_Check(o) && !PyModule_Check(o);
}

/// cuda.In, cuda.Out and cuda.InOut: a host array with the ways that it is copied.
struct PyHint {
  PyObject_HEAD PyObject* value;
  bool copies_in, copies_out;
};
PyTypeObject* hint_type = nullptr;
bool is_hint(PyObject* o) { return is_exact(o, hint_type); }
const PyHint& hint_of(PyObject* o) { return *reinterpret_cast<PyHint*>(o); }

struct Reader {
  Key key;
  ForeignArrays foreign;
  std::optional<Device> device;
  bool host = false;           ///< NumPy arrays are among the arguments
  bool hints = false;          ///< cuda.In and its kin are among them
  bool voids = false;          ///< NumPy's records are
  bool odd = false;            ///< NumPy arrays whose elements do not lie at whole elements' distances, or are not aligned
  bool loose_records = false;  ///< NumPy arrays of records with gaps

  void read(PyObject* o) {
    if (is_array(o)) {
      const Array& a = array_of(o);
      if (!device) device = a.device();
      key.push(array_word(a, as_py_array(o)->read_only));
    } else if (PyLong_CheckExact(o)) {
      key.push(kInt);
    } else if (PyFloat_CheckExact(o)) {
      key.push(kFloat);
    } else if (PyBool_Check(o)) {
      key.push(kBool);
    } else if (o == Py_None) {
      key.push(kNone);
    } else if (const auto time = jit::time_scalar(o)) {
      key.push(kScalar | static_cast<uint64_t>(time->second) << 8);
    } else if (const auto dtype = numpy_scalar_dtype(o)) {
      key.push(kScalar | static_cast<uint64_t>(*dtype) << 8);
    } else if (PyTuple_Check(o)) {
      read_tuple(o);
    } else if (is_host_array(o)) {
      read_host(o);
    } else if (PyComplex_CheckExact(o)) {
      key.push(kComplex);
    } else {
      read_other(o);
    }
  }

 private:
  void read_tuple(PyObject* o) {
    const Py_ssize_t n = PyTuple_Size(o);
    if (is_exact(o, &PyTuple_Type))
      key.push(kTuple | static_cast<uint64_t>(n) << 8);
    else
      key.push_object(kNamed, reinterpret_cast<PyObject*>(Py_TYPE(o)));
    for (Py_ssize_t i = 0; i < n; ++i) read(PyTuple_GetItem(o, i));
  }

  void read_host(PyObject* o) {
    host = true;
    const NumpyHead& a = numpy_head(o);
    const char layout = a.flags & kNumpyC ? 'C' : a.flags & kNumpyF ? 'F' : 'A';
    const bool read_only = !(a.flags & kNumpyWriteable);
    const auto dtype = native_dtype(a.descr);
    odd |= !(a.flags & kNumpyAligned);
    if (dtype) {
      if (layout == 'A')
        for (int d = 0; d < a.ndim; ++d) odd |= a.shape[d] > 1 && a.strides[d] % itemsize(*dtype) != 0;
      key.push(array_word(kHostArray, *dtype, a.ndim, layout, read_only));
    } else {
      loose_records |= layout != 'C';
      key.push(array_word(kHostRecords, DType::b1, a.ndim, layout, read_only));
      key.push_object(kObject, a.descr);
    }
  }

  void read_other(PyObject* o) {
    if (is_record_array(o)) {
      RecordParts p = record_parts(o);
      if (!device) device = p.bytes->device();
      key.push(array_word(kRecords, DType::b1, static_cast<int>(p.shape.size()), p.layout, false));
      key.push_object(kObject, p.dtype);
      held_.push_back(std::move(p.tuple));
      return;
    }
    if (is_hint(o)) {
      hints = true;
      return read(hint_of(o).value);
    }
    if (is_numpy_scalar(o)) {
      // A structured scalar, or a rare number: its dtype says.
      PyRef type = PyRef::steal(PyObject_GetAttr(o, state().names.dtype));
      key.push_object(kVoid, type.get());
      voids = true;
      held_.push_back(std::move(type));
      return;
    }
    if (PyRef fields = dataclass_fields(o); fields && PyDict_Check(fields.get())) {
      key.push_object(kFields, reinterpret_cast<PyObject*>(Py_TYPE(o)));
      PyObject *name = nullptr, *field = nullptr;
      Py_ssize_t at = 0;
      while (PyDict_Next(fields.get(), &at, &name, &field)) {
        PyRef value = PyRef::steal(PyObject_GetAttr(o, name));
        read(value.get());
        held_.push_back(std::move(value));
      }
      return;
    }
    if (may_have_memory(o)) {
      if (const Array* a = foreign.find(o)) {
        if (!device) device = a->device();
        key.push(array_word(*a, storage_facts(*a).read_only));
        return;
      }
    }
    key.push_object(kObject, o);
  }

  std::vector<PyRef> held_;
};

// ---- From arguments to bytes --------------------------------------------------------------------------------------------------------

/// NumPy arrays that were copied to the device, and are copied back.
struct Copied {
  Array device;
  PyRef host;
};

PyObject* captured_object(const kernels::CapturedArray& c) { return static_cast<PyObject*>(const_cast<void*>(c.object.get())); }

/// The device of an array that a kernel names.
std::optional<Device> device_of(const kernels::CapturedArray& c, ForeignArrays* foreign) {
  PyObject* o = captured_object(c);
  if (is_array(o)) return array_of(o).device();
  if (is_record_array(o)) return record_parts(o).bytes->device();
  const Array* a = foreign->find(o);
  return a ? std::optional(a->device()) : std::nullopt;
}

class Packer {
 public:
  Packer(LaunchArguments* to, ForeignArrays* foreign, Device device) : to_(to), foreign_(foreign), device_(device) {}

  void add(PyObject* o, Type t, bool write) {
    if (t->bytes == 0) return;  // known when the kernel was compiled
    write_ = write;
    hint_ = is_hint(o) ? &hint_of(o) : nullptr;
    if (hint_) o = hint_->value;
    pack(o, t, static_cast<char*>(to_->add(t->bytes, std::max<size_t>(t->alignment, 8))));
  }

  /// An array that the kernel names: where it lies now.
  void add_captured(const kernels::CapturedArray& c) {
    PyObject* o = captured_object(c);
    if (is_array(o)) {
      const Array& a = array_of(o);
      const Type now = type_of_array(a.dtype(), a.shape(), a.strides(), as_py_array(o)->read_only);
      if (now != c.type && !(now->ndim == c.type->ndim && c.type->layout == 'A' && now->element == c.type->element))
        raise(ErrorKind::Type, "kernel: '{}', which it names, was {} when the kernel was compiled and is {} now; call its recompile()",
              c.name, c.type->spelling, now->spelling);
    }
    write_ = c.writes;
    hint_ = nullptr;
    char* at = static_cast<char*>(to_->add(c.type->bytes, std::max<size_t>(c.type->alignment, 8)));
    // What is only read may lie where the kernel cannot reach, as constants may.
    if (is_array(o) && !c.writes && traits(array_of(o).device()).asynchronous != traits(device_).asynchronous)
      return put_array(to_->hold(bc::to_device(array_of(o), device_)), c.type, at);
    pack_array(o, c.type, at);
  }
  std::vector<Copied>& copied() { return copied_; }

 private:
  void pack(PyObject* o, Type t, char* at) {
    switch (t->kind) {
      case Kind::scalar: return pack_scalar(o, t->dtype, at);
      case Kind::time: return store_value(o, t, at);
      case Kind::array: return pack_array(o, t, at);
      case Kind::tuple: return pack_tuple(o, t, at);
      case Kind::record: return pack_record(o, t, at);
      case Kind::pointer: return pack_scalar(o, DType::u64, at);  // an address
      case Kind::optional:
        std::memset(at, 0, t->bytes);
        if (o == Py_None) return;
        pack(o, t->element, at);
        at[t->element->bytes] = 1;
        return;
      default: break;
    }
    raise(ErrorKind::Type, "kernel: a value of type {} cannot be passed to a kernel", t->spelling);
  }

  static void pack_scalar(PyObject* o, DType t, char* at) {
    if (t == DType::i64 && PyLong_CheckExact(o)) {
      const long long v = PyLong_AsLongLong(o);
      if (v == -1 && PyErr_Occurred()) throw PythonError();
      std::memcpy(at, &v, sizeof(v));
      return;
    }
    if (t == DType::f64 && PyFloat_CheckExact(o)) {
      const double v = PyFloat_AsDouble(o);
      std::memcpy(at, &v, sizeof(v));
      return;
    }
    if (const auto from = numpy_scalar_dtype(o)) {
      const void* value = reinterpret_cast<const char*>(o) + sizeof(PyObject);
      if (*from == t)
        std::memcpy(at, value, static_cast<size_t>(itemsize(t)));
      else
        Scalar::load(*from, value).store(t, at);
      return;
    }
    PyRef number = PyRef::borrow(o);
    auto value = python_scalar(o);
    if (!value && is_array(o) && array_of(o).size() == 1) {
      // A 0-d array stands for its element, as in NumPy.
      look(array_of(o)).store(t, at);
      return;
    }
    if (!value) {
      number = PyRef::maybe(PyObject_CallMethodObjArgs(o, state().names.item, nullptr));
      if (!number) PyErr_Clear();
      if (number) value = python_scalar(number.get());
    }
    if (!value) raise(ErrorKind::Type, "kernel: expected a number ({}), got {}", info(t).name, type_name(o));
    if (value->first == Weak::integer && value->second.dtype == DType::f64 && is_integer(t))
      throw_python(PyExc_OverflowError, "Python int too large to convert to C long");
    value->second.store(t, at);
  }

  void put_layout(char* at, const Dims& shape, const Dims& strides, int64_t item) {
    const int n = shape.size();
    for (int d = 0; d < n; ++d) {
      const int64_t extent = shape[d], stride = strides[d] * item;
      std::memcpy(at + 8 + 8 * d, &extent, 8);
      std::memcpy(at + 8 + 8 * (n + d), &stride, 8);
    }
  }

  void put_array(const Array& a, Type t, char* at) {
    if (a.ndim() != t->ndim) raise(ErrorKind::Type, "kernel: expected an array of {} dimensions, got {}", t->ndim, a.ndim());
    to_->note_array(a, write_ && !t->read_only, reinterpret_cast<void**>(at));
    put_layout(at, a.shape(), a.strides(), itemsize(a.dtype()));
  }

  void pack_array(PyObject* o, Type t, char* at) {
    if (is_array(o)) return put_array(array_of(o), t, at);
    if (is_host_array(o)) return pack_host(o, t, at);
    if (is_record_array(o)) {
      const RecordParts p = record_parts(o);  // the object keeps what they refer to
      to_->note_array(*p.bytes, write_ && !t->read_only, reinterpret_cast<void**>(at));
      return put_layout(at, p.shape, p.strides, 1);
    }
    if (const Array* a = foreign_->find(o)) return put_array(*a, t, at);
    raise(ErrorKind::Type, "kernel: expected an array, got {}", type_name(o));
  }

  void pack_host(PyObject* o, Type t, char* at) {
    if (!(numpy_head(o).flags & kNumpyAligned))
      raise(ErrorKind::Value, "kernel: expected a NumPy array whose elements are aligned; pass a copy");
    if (!traits(device_).asynchronous && hint_ && !hint_->copies_out && write_) {
      // The kernel writes into a copy, as it does on a GPU.
      copies_.push_back(PyRef::steal(PyObject_CallMethod(o, "copy", "s", "K")));
      o = copies_.back().get();
    }
    const NumpyHead& a = numpy_head(o);
    if (!traits(device_).asynchronous) {
      // The array's own memory is what the kernel works on.
      std::memcpy(at, &a.data, sizeof(a.data));
      for (int d = 0; d < a.ndim; ++d) {
        const int64_t extent = a.shape[d], stride = a.strides[d];
        std::memcpy(at + 8 + 8 * d, &extent, 8);
        std::memcpy(at + 8 + 8 * (a.ndim + d), &stride, 8);
      }
      return;
    }
    if (!hint_) warn();
    const bool write = write_ && (a.flags & kNumpyWriteable) && (!hint_ || hint_->copies_out);
    const bool read = !hint_ || hint_->copies_in;
    const auto dtype = native_dtype(a.descr);
    if (dtype) {
      const bool fortran = !(a.flags & kNumpyC) && (a.flags & kNumpyF);
      Layout layout;
      layout.shape.resize(a.ndim);
      layout.strides.resize(a.ndim);
      for (int d = 0; d < a.ndim; ++d) {
        const int from = fortran ? a.ndim - 1 - d : d;
        if (a.shape[from] > 1 && a.strides[from] % itemsize(*dtype))
          raise(ErrorKind::Value, "kernel: expected a NumPy array whose strides are whole elements; pass a copy");
        layout.shape[d] = a.shape[from];
        layout.strides[d] = a.shape[from] > 1 ? a.strides[from] / itemsize(*dtype) : 0;
      }
      Array made = without_gil([&] { return read ? from_host(a.data, *dtype, layout, device_) : empty(layout.shape, *dtype, device_); });
      const Array& kept = to_->hold(fortran ? transpose(made) : std::move(made));
      put_array(kept, t, at);
      if (write) copied_.push_back({kept, PyRef::borrow(o)});
      return;
    }
    // Records: their bytes.
    if (!(a.flags & kNumpyC)) raise(ErrorKind::Value, "kernel: expected a C-contiguous NumPy array of records; pass a copy");
    int64_t bytes = t->element->bytes;
    for (int d = 0; d < a.ndim; ++d) bytes *= a.shape[d];
    const Dims shape{bytes};
    const Array& kept =
        to_->hold(without_gil([&] { return from_host(a.data, DType::u8, Layout{shape, contiguous_strides(shape), 0}, device_); }));
    to_->note_array(kept, write_ && !t->read_only, reinterpret_cast<void**>(at));
    for (int d = 0; d < a.ndim; ++d) {
      const int64_t extent = a.shape[d], stride = a.strides[d];
      std::memcpy(at + 8 + 8 * d, &extent, 8);
      std::memcpy(at + 8 + 8 * (a.ndim + d), &stride, 8);
    }
    if (write) copied_.push_back({kept, PyRef::borrow(o)});
  }

  static void warn() {
    PyRef switches = import_attr("broadcloth._device", "_program");
    const auto on = [&](const char* name) {
      PyObject* value = PyDict_GetItemString(switches.get(), name);
      return value && PyObject_IsTrue(value) == 1;
    };
    if (!on("CUDA_WARN_ON_IMPLICIT_COPY") || on("DISABLE_PERFORMANCE_WARNINGS")) return;
    bind::warn(performance_warning(),
               "a NumPy array is copied to the GPU and back for each launch; keep it there: d = broadcloth.asarray(x), then "
               "kernel[grid, block](d), and d.get() where the result is needed");
  }

  void pack_tuple(PyObject* o, Type t, char* at) {
    if (!PyTuple_Check(o) || static_cast<size_t>(PyTuple_Size(o)) != t->items.size())
      raise(ErrorKind::Type, "kernel: expected a tuple of {} items, got {}", t->items.size(), type_name(o));
    size_t offset = 0;
    for (size_t i = 0; i < t->items.size(); ++i) {
      const Type item = t->items[i];
      if (item->bytes == 0) continue;
      offset = (offset + item->alignment - 1) / item->alignment * item->alignment;
      pack(PyTuple_GetItem(o, static_cast<Py_ssize_t>(i)), item, at + offset);
      offset += item->bytes;
    }
  }

  void pack_record(PyObject* o, Type t, char* at) {
    if (!t->object) {
      // A structured scalar of NumPy.
      Py_buffer view;
      check(PyObject_GetBuffer(o, &view, PyBUF_SIMPLE));
      const bool same = static_cast<size_t>(view.len) == t->bytes;
      if (same) std::memcpy(at, view.buf, t->bytes);
      const int64_t given = view.len;
      PyBuffer_Release(&view);
      if (!same) raise(ErrorKind::Type, "kernel: expected a record of {} bytes, got one of {}", t->bytes, given);
      return;
    }
    std::memset(at, 0, t->bytes);
    for (size_t i = 0; i < t->items.size(); ++i) {
      if (t->items[i]->bytes == 0) continue;
      PyRef value = attr(o, t->fields[i].c_str());
      pack(value.get(), t->items[i], at + t->offsets[i]);
    }
  }

  LaunchArguments* to_;
  ForeignArrays* foreign_;
  const Device device_;
  bool write_ = true;
  const PyHint* hint_ = nullptr;
  std::vector<PyRef> copies_;  ///< of arrays that the kernel may write and the caller does not want back
  std::vector<Copied> copied_;
};

// ---- Forms --------------------------------------------------------------------------------------------------------------------------

struct PyForm {
  PyObject_HEAD std::shared_ptr<const KernelForm> form;
};

PyTypeObject* form_type = nullptr;
PyTypeObject* dispatcher_type = nullptr;
PyTypeObject* launcher_type = nullptr;

void form_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  {
    GilRelease released;
    reinterpret_cast<PyForm*>(self)->form.~shared_ptr();
  }
  PyObject_Free(self);
  Py_DECREF(type);
}

template <int Number>
PyObject* form_attribute(PyObject* self, void*) {
  return guard([&] { return to_py(static_cast<int64_t>(form_of(self)->kernel->attribute(Number))).release(); });
}
PyObject* form_device(PyObject* self, void*) {
  return guard([&] { return device_object(form_of(self)->device).release(); });
}
PyObject* form_best_block(PyObject* self, PyObject* shared) {
  return guard([&] {
    const auto [grid, block] = form_of(self)->kernel->best_block(static_cast<size_t>(to_int(shared, "shared_mem")));
    return tuple_of({to_py(static_cast<int64_t>(grid)).get(), to_py(static_cast<int64_t>(block)).get()}).release();
  });
}
PyObject* form_max_blocks(PyObject* self, PyObject* args) {
  return guard([&] {
    int block = 0;
    Py_ssize_t shared = 0;
    if (!PyArg_ParseTuple(args, "i|n", &block, &shared)) throw PythonError();
    return to_py(static_cast<int64_t>(form_of(self)->kernel->max_active_blocks(block, static_cast<size_t>(shared)))).release();
  });
}

PyGetSetDef form_attributes[] = {{"device", form_device, nullptr, nullptr, nullptr},
                                 {"max_threads_per_block", form_attribute<0>, nullptr, nullptr, nullptr},
                                 {"shared_mem_per_block", form_attribute<1>, nullptr, nullptr, nullptr},
                                 {"const_mem_size", form_attribute<2>, nullptr, nullptr, nullptr},
                                 {"local_mem_per_thread", form_attribute<3>, nullptr, nullptr, nullptr},
                                 {"regs_per_thread", form_attribute<4>, nullptr, nullptr, nullptr},
                                 {"binary_version", form_attribute<6>, nullptr, nullptr, nullptr},
                                 {}};
PyMethodDef form_methods[] = {{"best_block", form_best_block, METH_O, "Grid and block with the highest occupancy."},
                              {"max_active_blocks", form_max_blocks, METH_VARARGS, "Blocks that one multiprocessor runs at once."},
                              {}};

// ---- The dispatcher -----------------------------------------------------------------------------------------------------------------

/// A form under the words of a call. Never changed once made.
struct Entry {
  std::vector<uint64_t> words;
  uint64_t hash = 0;
  std::shared_ptr<const KernelForm> form;
  std::vector<PyRef> kept;
  const Entry* next = nullptr;
};

/// Grid, block, stream and shared memory as they were given in brackets.
struct Configuration {
  KernelLaunch shape;
  PyRef stream;
  int64_t tasks = -1;  ///< forall: at least so many threads; -1: the grid is given
};

struct DispatcherState {
  PyRef compile;
  std::vector<PyRef> names;
  std::vector<PyRef> defaults;                 ///< of the last parameters
  std::atomic<const Entry*> entries{nullptr};  ///< a list that only grows, the newest first
  std::atomic<const Entry*> last{nullptr};     ///< found last
  std::atomic<int> count{0};

  ~DispatcherState() {
    for (const Entry* e = entries.load(); e;) delete std::exchange(e, e->next);
  }
};

struct PyDispatcher {
  PyObject_HEAD DispatcherState* state;
  PyObject* weakrefs;
};

struct PyLauncher {
  PyObject_HEAD Vectorcall vectorcall;
  PyObject* dispatcher;
  Configuration configuration;
};

DispatcherState& dispatcher_state(PyObject* o) {
  DispatcherState* s = reinterpret_cast<PyDispatcher*>(o)->state;
  if (!s) throw_python(PyExc_TypeError, "KernelDispatcher: __init__ has not run");
  return *s;
}
Configuration& configuration_of(PyObject* o) { return reinterpret_cast<PyLauncher*>(o)->configuration; }

bool fits(const Entry& e, const Key& key, Device device) {
  return e.hash == key.hash() && e.words.size() == key.size() && e.form->device == device &&
         std::equal(e.words.begin(), e.words.end(), key.data());  // a kernel without arguments has no words, and a null pointer for them
}

const Entry* find_entry(DispatcherState& s, const Key& key, Device device) {
  if (const Entry* e = s.last.load(std::memory_order_acquire); e && fits(*e, key, device)) [[likely]]
    return e;
  for (const Entry* e = s.entries.load(std::memory_order_acquire); e; e = e->next)
    if (fits(*e, key, device)) {
      s.last.store(e, std::memory_order_release);
      return e;
    }
  return nullptr;
}

/// The form for a call that was not seen before. `unkept` holds it where it is not remembered.
const Entry& make_entry(DispatcherState& s, const Key& key, Device device, PyObject* const* args, Py_ssize_t n,
                        std::unique_ptr<const Entry>* unkept) {
  PyRef tuple = PyRef::steal(PyTuple_New(n));
  for (Py_ssize_t i = 0; i < n; ++i) check(PyTuple_SetItem(tuple.get(), i, new_ref(args[i])));
  PyRef made = call(s.compile.get(), {tuple.get(), device_object(device).get()});
  auto entry = std::make_unique<Entry>();
  entry->words.assign(key.data(), key.data() + key.size());
  entry->hash = key.hash();
  entry->form = form_of(made.get());
  for (PyObject* o : key.objects()) entry->kept.push_back(PyRef::borrow(o));
  if (entry->form->arguments.size() != static_cast<size_t>(n) || !entry->form->kernel)
    raise(ErrorKind::Runtime, "kernel: the compiled form takes {} arguments, the call has {}", entry->form->arguments.size(), n);
  // Calls that name another object each time (a new function, a new string) are not all remembered.
  constexpr int kMostEntries = 1024;
  if (s.count.fetch_add(1, std::memory_order_relaxed) >= kMostEntries) {
    *unkept = std::move(entry);
    return **unkept;
  }
  const Entry* result = entry.get();
  entry->next = s.entries.load(std::memory_order_relaxed);
  while (!s.entries.compare_exchange_weak(entry->next, result, std::memory_order_acq_rel)) {}
  entry.release();
  s.last.store(result, std::memory_order_release);
  return *result;
}

/// Positional arguments of a call that has keywords or leaves defaults out.
std::vector<PyObject*> bind_arguments(PyObject* dispatcher, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  const DispatcherState& s = dispatcher_state(dispatcher);
  const auto kernel = [&] {
    PyRef name = PyRef::maybe(PyObject_GetAttr(dispatcher, state().names.__name__));
    if (!name) PyErr_Clear();
    return name ? fmt::format("kernel {}", as_string(name.get())) : "kernel";
  };
  const size_t count = s.names.size();
  if (count != 0 && static_cast<size_t>(n) > count) raise(ErrorKind::Type, "{}: expected {} arguments, got {}", kernel(), count, n);
  std::vector<PyObject*> all(std::max(count, static_cast<size_t>(n)), nullptr);
  for (Py_ssize_t i = 0; i < n; ++i) all[static_cast<size_t>(i)] = args[i];
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_Size(kwnames); ++i) {
    PyObject* key = PyTuple_GetItem(kwnames, i);
    size_t at = 0;
    while (at < count && PyUnicode_Compare(s.names[at].get(), key) != 0) ++at;
    if (at == count) raise(ErrorKind::Type, "{}: got an unexpected keyword argument '{}'", kernel(), as_string(key));
    if (all[at]) raise(ErrorKind::Type, "{}: got multiple values for argument '{}'", kernel(), as_string(key));
    all[at] = args[n + i];
  }
  for (size_t i = 0; i < count; ++i) {
    if (all[i]) continue;
    const size_t from_end = count - i;
    if (from_end > s.defaults.size()) raise(ErrorKind::Type, "{}: missing argument '{}'", kernel(), as_string(s.names[i].get()));
    all[i] = s.defaults[s.defaults.size() - from_end].get();
  }
  return all;
}

/// A NumPy record as an array without dimensions over its memory, so that what a kernel writes into it is seen; null for other objects.
PyRef record_view(PyObject* o) {
  if (!is_numpy_scalar(o)) return {};
  PyRef dtype = attr(o, "dtype");
  PyRef fields = attr(dtype.get(), "names");
  if (fields.get() == Py_None) return {};
  if (!to_bool(attr(attr(o, "flags").get(), "writeable").get())) return call(import_attr("numpy", "array").get(), {o});
  Py_buffer buffer;
  check(PyObject_GetBuffer(o, &buffer, PyBUF_SIMPLE));
  auto* memory = static_cast<char*>(buffer.buf);
  const Py_ssize_t bytes = buffer.len;
  PyBuffer_Release(&buffer);
  PyRef view = PyRef::steal(PyMemoryView_FromMemory(memory, bytes, 0x200 /* PyBUF_WRITE */));
  return call(reinterpret_cast<PyObject*>(state().np_ndarray), {PyRef::steal(PyTuple_New(0)).get(), dtype.get(), view.get()});
}

void launch_form(DispatcherState& s, const Configuration& c, PyObject* const* args, Py_ssize_t n);

/// A launch with arguments that kernels cannot take as they lie: records by reference, odd arrays as copies that are copied back.
void launch_replaced(DispatcherState& s, const Configuration& c, PyObject* const* args, Py_ssize_t n, bool packed_records) {
  std::vector<PyRef> kept;
  std::vector<std::pair<PyObject*, PyObject*>> copies;
  std::vector<PyObject*> values(args, args + n);
  for (PyObject*& o : values) {
    if (PyRef view = record_view(o)) {
      kept.push_back(std::move(view));
      o = kept.back().get();
    } else if (is_host_array(o)) {
      Reader reader;
      reader.read(o);
      if (!reader.odd && !(packed_records && reader.loose_records)) continue;
      kept.push_back(PyRef::steal(PyObject_CallMethod(o, "copy", nullptr)));
      if (numpy_head(o).flags & kNumpyWriteable) copies.emplace_back(o, kept.back().get());
      o = kept.back().get();
    }
  }
  launch_form(s, c, values.data(), n);
  for (const auto& [to, from] : copies) check(PyObject_SetItem(to, Py_Ellipsis, from));
}

void launch_form(DispatcherState& s, const Configuration& c, PyObject* const* args, Py_ssize_t n) {
  Reader reader;
  for (Py_ssize_t i = 0; i < n; ++i) reader.read(args[i]);
  Device device = reader.device ? *reader.device : default_device();
  const bool packed_records = reader.loose_records && traits(device).asynchronous;
  if (reader.odd || reader.voids || packed_records) [[unlikely]] {
    // Not those inside tuples, which go by value, and those that cuda.In holds.
    const auto replaced = [&](PyObject* o) {
      Reader one;
      one.read(o);
      return is_host_array(o) ? one.odd || (packed_records && one.loose_records) : one.voids && static_cast<bool>(record_view(o));
    };
    if (std::any_of(args, args + n, replaced)) return launch_replaced(s, c, args, n, packed_records);
  }
  std::unique_ptr<const Entry> unkept;
  const auto entry_for = [&](Device where) -> const Entry* {
    if (const Entry* known = find_entry(s, reader.key, where)) [[likely]]
      return known;
    std::vector<PyObject*> values(args, args + n);
    for (PyObject*& o : values)
      if (reader.hints && is_hint(o)) o = hint_of(o).value;
    return &make_entry(s, reader.key, where, values.data(), n, &unkept);
  };
  const Entry* entry = entry_for(device);
  if (!reader.device && !entry->form->captured.empty()) {
    // Only arrays that the kernel names say where it runs.
    const auto where = device_of(entry->form->captured.front(), &reader.foreign);
    if (where && !(*where == device)) entry = entry_for(device = *where);
  }
  const KernelForm& form = *entry->form;
  KernelLaunch shape = c.shape;
  shape.cooperative = shape.cooperative || form.cooperative;
  if (c.tasks >= 0) {
    if (c.tasks == 0) return;
    if (!shape.block[0])
      shape.block[0] = std::min(static_cast<unsigned>(form.kernel->best_block(shape.shared_bytes).second), form.most_threads);
    shape.grid[0] = static_cast<unsigned>((c.tasks + shape.block[0] - 1) / shape.block[0]);
  }
  if (uint64_t{shape.block[0]} * shape.block[1] * shape.block[2] > form.most_threads) [[unlikely]]
    raise(ErrorKind::Value, "kernel: a block can have {} threads, as its launch_bounds say, got block ({}, {}, {})", form.most_threads,
          shape.block[0], shape.block[1], shape.block[2]);
  Tape& tape = stream_of(c.stream.get(), device);
  const Stream stream = tape.stream();
  std::vector<std::pair<uintptr_t, uintptr_t>> fresh;
  if (form.checked)
    for (Py_ssize_t i = 0; i < n && fresh.size() < kernels::kFreshCount; ++i)
      if (is_array(args[i])) fresh.push_back(without_gil([&, a = array_of(args[i])] { return mark_unset(a, kernels::kUnsetByte); }));
  if (form.checked)
    for (const kernels::CapturedArray& c : form.captured)
      if (PyObject* o = captured_object(c); is_array(o) && fresh.size() < kernels::kFreshCount)
        fresh.push_back(without_gil([&, a = array_of(o)] { return mark_unset(a, kernels::kUnsetByte); }));
  LaunchArguments arguments;
  Packer packer(&arguments, &reader.foreign, device);
  for (Py_ssize_t i = 0; i < n; ++i) {
    const size_t at = static_cast<size_t>(i);
    packer.add(args[i], form.arguments[at], form.writes.empty() || form.writes[at]);
  }
  for (const kernels::CapturedArray& c : form.captured) packer.add_captured(c);
  if (!reader.foreign.empty())
    for (Array& a : reader.foreign.all()) arguments.hold_foreign(std::move(a));
  if (form.status) {
    void* status = form.status(stream);
    if (!fresh.empty())
      without_gil([&] {
        backend(device).copy(static_cast<char*>(status) + kernels::kFreshOffset, fresh.data(), fresh.size() * sizeof(fresh[0]),
                             copy_kind(device, kHost), stream);
        backend(device).synchronize(stream);
      });
    std::memcpy(arguments.add(sizeof(status)), &status, sizeof(status));
  }
  arguments.launch(*form.kernel, shape, tape);
  if (form.launched) without_gil([&] { form.launched(stream); });
  for (const Copied& c : packer.copied()) {
    // to_numpy_out wants a NumPy array of the device array's shape and dtype; records go back as bytes.
    const NumpyHead& host = numpy_head(c.host.get());
    if (native_dtype(host.descr))
      to_numpy_out(c.device, c.host.get());
    else
      without_gil([&] { to_host(c.device, host.data); });
  }
}

PyObject* call_launcher(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    const Py_ssize_t n = positional_count(nargsf);
    PyObject* dispatcher = reinterpret_cast<PyLauncher*>(self)->dispatcher;
    DispatcherState& s = dispatcher_state(dispatcher);
    if (static_cast<size_t>(n) == s.names.size() && !kwnames) [[likely]] {
      launch_form(s, configuration_of(self), args, n);
    } else {
      const std::vector<PyObject*> all = bind_arguments(dispatcher, args, n, kwnames);
      launch_form(s, configuration_of(self), all.data(), static_cast<Py_ssize_t>(all.size()));
    }
    Py_RETURN_NONE;
  });
}

void launcher_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(reinterpret_cast<PyLauncher*>(self)->dispatcher);
  reinterpret_cast<PyLauncher*>(self)->configuration.~Configuration();
  PyObject_Free(self);
  Py_DECREF(type);
}

PyRef make_launcher(PyObject* dispatcher, Configuration configuration) {
  PyLauncher* self = PyObject_New(PyLauncher, launcher_type);
  if (!self) throw PythonError();
  self->vectorcall = call_launcher;
  self->dispatcher = new_ref(dispatcher);
  new (&self->configuration) Configuration(std::move(configuration));
  return PyRef::steal(reinterpret_cast<PyObject*>(self));
}

/// kernel[grid, block, stream, shared, cluster].
PyObject* dispatcher_subscript(PyObject* self, PyObject* key) {
  return guard([&]() -> PyObject* {
    dispatcher_state(self);  // it must have one
    const Py_ssize_t n = PyTuple_Check(key) ? PyTuple_Size(key) : 0;
    if (n < 2 || n > 5)
      throw_python(PyExc_ValueError,
                   "kernel: expected kernel[blocks, threads], kernel[blocks, threads, stream] or kernel[blocks, threads, "
                   "stream, shared bytes] in the place of the brackets' content");
    Configuration c;
    read_dims(PyTuple_GetItem(key, 0), c.shape.grid, "launch", "grid");
    read_dims(PyTuple_GetItem(key, 1), c.shape.block, "launch", "block");
    if (n > 2) {
      PyObject* stream = PyTuple_GetItem(key, 2);
      if (stream != Py_None && !(PyLong_CheckExact(stream) && PyLong_AsLong(stream) == 0)) c.stream = PyRef::borrow(stream);
    }
    if (n > 3) {
      const int64_t shared = to_int(PyTuple_GetItem(key, 3), "shared memory");
      if (shared < 0 || shared > 0x7fffffff) raise(ErrorKind::Value, "kernel: expected a positive number of shared bytes, got {}", shared);
      c.shape.shared_bytes = static_cast<unsigned>(shared);
    }
    if (n > 4 && PyTuple_GetItem(key, 4) != Py_None) read_dims(PyTuple_GetItem(key, 4), c.shape.cluster, "launch", "cluster");
    return make_launcher(self, std::move(c)).release();
  });
}

PyRef forall(PyObject* self, int64_t tasks, int64_t threads, PyObject* stream, int64_t shared) {
  if (tasks < 0) raise(ErrorKind::Value, "forall: can't create a launch of {} tasks", tasks);
  Configuration c;
  c.tasks = tasks;
  c.shape.block[0] = static_cast<unsigned>(threads);
  c.shape.shared_bytes = static_cast<unsigned>(shared);
  if (stream != Py_None && !(PyLong_CheckExact(stream) && PyLong_AsLong(stream) == 0)) c.stream = PyRef::borrow(stream);
  return make_launcher(self, std::move(c));
}

/// A launcher of one task, configured by keywords: for what brackets cannot say.
PyRef configure(PyObject* self, PyObject* grid, PyObject* block, PyObject* stream, int64_t shared, PyObject* cluster, bool cooperative) {
  Configuration c;
  read_dims(grid, c.shape.grid, "launch", "grid");
  read_dims(block, c.shape.block, "launch", "block");
  if (stream != Py_None && !(PyLong_CheckExact(stream) && PyLong_AsLong(stream) == 0)) c.stream = PyRef::borrow(stream);
  c.shape.shared_bytes = static_cast<unsigned>(shared);
  if (cluster != Py_None) read_dims(cluster, c.shape.cluster, "launch", "cluster");
  c.shape.cooperative = cooperative;
  return make_launcher(self, std::move(c));
}

/// A form made of CUDA C++ and a signature in Numba's spelling: "void(float32[::1], int64)".
PyRef form_from_text(std::string_view text, std::string_view name, std::string_view signature, PyObject* writes, Device device) {
  auto form = std::make_shared<KernelForm>();
  form->arguments = kernels::parse_signature(signature).arguments;
  form->device = device;
  if (writes != Py_None) {
    PyRef flags = PyRef::steal(PySequence_Tuple(writes));
    for (Py_ssize_t i = 0; i < PyTuple_Size(flags.get()); ++i) form->writes.push_back(to_bool(PyTuple_GetItem(flags.get(), i)));
    if (form->writes.size() != form->arguments.size())
      raise(ErrorKind::Value, "kernel_form: expected {} flags for 'writes', got {}", form->arguments.size(), form->writes.size());
  }
  ProgramSource source;
  source.text = text;
  source.name = std::string(name) + ".cu";
  source.device_library = true;
  without_gil([&] {
    form->program = load_program(device, source);
    form->kernel = &form->program->kernel(name);
  });
  return wrap_form(std::move(form));
}

PyRef dispatcher_forms(PyObject* self) {
  PyRef list = PyRef::steal(PyList_New(0));
  std::vector<const KernelForm*> seen;
  for (const Entry* e = dispatcher_state(self).entries.load(); e; e = e->next) {
    if (std::find(seen.begin(), seen.end(), e->form.get()) != seen.end()) continue;
    seen.push_back(e->form.get());
    check(PyList_Append(list.get(), wrap_form(e->form).get()));
  }
  check(PyList_Reverse(list.get()));
  return list;
}

void hint_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(hint_of(self).value);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyRef new_hint(PyObject* value, bool copies_in, bool copies_out) {
  PyHint* self = PyObject_New(PyHint, hint_type);
  if (!self) throw PythonError();
  self->value = new_ref(is_hint(value) ? hint_of(value).value : value);
  self->copies_in = copies_in;
  self->copies_out = copies_out;
  return PyRef::steal(reinterpret_cast<PyObject*>(self));
}

int dispatcher_init(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guard(-1, [&] {
    PyObject *compile = nullptr, *names = nullptr, *defaults = nullptr;
    static const char* keywords[] = {"compile", "names", "defaults", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO", const_cast<char**>(keywords), &compile, &names, &defaults)) throw PythonError();
    auto s = std::make_unique<DispatcherState>();
    s->compile = PyRef::borrow(compile);
    const auto fill = [](std::vector<PyRef>& list, PyObject* from) {
      if (!from || from == Py_None) return;
      PyRef items = PyRef::steal(PySequence_Tuple(from));
      for (Py_ssize_t i = 0; i < PyTuple_Size(items.get()); ++i) list.push_back(PyRef::borrow(PyTuple_GetItem(items.get(), i)));
    };
    fill(s->names, names);
    fill(s->defaults, defaults);
    delete std::exchange(reinterpret_cast<PyDispatcher*>(self)->state, s.release());
    return 0;
  });
}

int dispatcher_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (DispatcherState* s = reinterpret_cast<PyDispatcher*>(self)->state) {
    Py_VISIT(s->compile.get());
    for (const PyRef& o : s->defaults) Py_VISIT(o.get());
  }
  return 0;
}

int dispatcher_clear(PyObject* self) {
  DispatcherState* s = std::exchange(reinterpret_cast<PyDispatcher*>(self)->state, nullptr);
  if (s) {
    // Objects first, under the interpreter's lock; unloading programs may wait for the device.
    s->compile = nullptr;
    s->names.clear();
    s->defaults.clear();
    std::vector<std::shared_ptr<const KernelForm>> forms;
    for (const Entry* e = s->entries.load(); e; e = e->next) forms.push_back(e->form);
    delete s;
    GilRelease released;
    forms.clear();
  }
  return 0;
}

void dispatcher_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<PyDispatcher*>(self)->weakrefs) PyObject_ClearWeakRefs(self);
  PyTypeObject* type = Py_TYPE(self);
  dispatcher_clear(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject* dims_tuple(const unsigned* dims) { return Py_BuildValue("(III)", dims[0], dims[1], dims[2]); }

PyGetSetDef launcher_attributes[] = {
    {"grid", [](PyObject* self, void*) { return dims_tuple(configuration_of(self).shape.grid); }, nullptr, nullptr, nullptr},
    {"griddim", [](PyObject* self, void*) { return dims_tuple(configuration_of(self).shape.grid); }, nullptr, nullptr, nullptr},
    {"block", [](PyObject* self, void*) { return dims_tuple(configuration_of(self).shape.block); }, nullptr, nullptr, nullptr},
    {"blockdim", [](PyObject* self, void*) { return dims_tuple(configuration_of(self).shape.block); }, nullptr, nullptr, nullptr},
    {"sharedmem", [](PyObject* self, void*) { return PyLong_FromUnsignedLong(configuration_of(self).shape.shared_bytes); }, nullptr,
     nullptr, nullptr},
    {"cluster", [](PyObject* self, void*) { return dims_tuple(configuration_of(self).shape.cluster); }, nullptr, nullptr, nullptr},
    {"cooperative", [](PyObject* self, void*) { return PyBool_FromLong(configuration_of(self).shape.cooperative); }, nullptr, nullptr,
     nullptr},
    {"ntasks", [](PyObject* self, void*) { return PyLong_FromLongLong(configuration_of(self).tasks); }, nullptr, nullptr, nullptr},
    {"stream",
     [](PyObject* self, void*) {
       PyObject* stream = configuration_of(self).stream.get();
       return new_ref(stream ? stream : Py_None);
     },
     nullptr, nullptr, nullptr},
    {"dispatcher", [](PyObject* self, void*) { return new_ref(reinterpret_cast<PyLauncher*>(self)->dispatcher); }, nullptr, nullptr,
     nullptr},
    {}};
PyMemberDef launcher_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyLauncher, vectorcall), READONLY, nullptr}, {}};
PyMemberDef dispatcher_members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyDispatcher, weakrefs), READONLY, nullptr}, {}};

}  // namespace

PyRef wrap_form(std::shared_ptr<const KernelForm> form) {
  PyForm* self = PyObject_New(PyForm, form_type);
  if (!self) throw PythonError();
  new (&self->form) std::shared_ptr<const KernelForm>(std::move(form));
  return PyRef::steal(reinterpret_cast<PyObject*>(self));
}

const std::shared_ptr<const KernelForm>& form_of(PyObject* o) {
  if (!is_exact(o, form_type)) raise(ErrorKind::Type, "kernel: expected a compiled form, got {}", type_name(o));
  return reinterpret_cast<PyForm*>(o)->form;
}

void init_kernel_dispatcher(PyObject* module) {
  PyType_Slot form_slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(form_dealloc)}, {Py_tp_getset, form_attributes}, {Py_tp_methods, form_methods}, {0, nullptr}};
  PyType_Spec form_spec = {"broadcloth._broadcloth.KernelForm", sizeof(PyForm), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           form_slots};
  form_type = add_type(module, &form_spec, "KernelForm");

  PyType_Slot hint_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(hint_dealloc)}, {0, nullptr}};
  PyType_Spec hint_spec = {"broadcloth._broadcloth.KernelArgument", sizeof(PyHint), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, hint_slots};
  hint_type = add_type(module, &hint_spec, "KernelArgument");

  PyType_Slot launcher_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(launcher_dealloc)},
                                  {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_launcher>)},
                                  {Py_tp_getset, launcher_attributes},
                                  {Py_tp_members, launcher_members},
                                  {0, nullptr}};
  PyType_Spec launcher_spec = {
      "broadcloth._broadcloth.KernelLauncher", sizeof(PyLauncher), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, launcher_slots};
  launcher_type = add_type(module, &launcher_spec, "KernelLauncher");

  static std::vector<PyMethodDef> dispatcher_methods = {
      BC_METHOD("forall(ntasks, tpb=0, stream=None, sharedmem=0) A launcher of at least ntasks threads in one dimension.", forall),
      BC_METHOD("configure(griddim, blockdim, stream=None, sharedmem=0, cluster=None, cooperative=False) A launcher, as the brackets give.",
                configure),
      BC_METHOD("forms() What was compiled until now, the oldest first.", dispatcher_forms),
      {},
  };
  PyType_Slot dispatcher_slots[] = {{Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
                                    {Py_tp_init, reinterpret_cast<void*>(dispatcher_init)},
                                    {Py_tp_dealloc, reinterpret_cast<void*>(dispatcher_dealloc)},
                                    {Py_tp_traverse, reinterpret_cast<void*>(dispatcher_traverse)},
                                    {Py_tp_clear, reinterpret_cast<void*>(dispatcher_clear)},
                                    {Py_mp_subscript, reinterpret_cast<void*>(dispatcher_subscript)},
                                    {Py_tp_methods, dispatcher_methods.data()},
                                    {Py_tp_members, dispatcher_members},
                                    {0, nullptr}};
  PyType_Spec dispatcher_spec = {"broadcloth._broadcloth.KernelDispatcher", sizeof(PyDispatcher), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, dispatcher_slots};
  dispatcher_type = add_type(module, &dispatcher_spec, "KernelDispatcher");
  add_functions(module, {BC_FUNCTION("kernel_argument(value, copies_in, copies_out) -> KernelArgument", new_hint),
                         BC_FUNCTION("kernel_form(text, name, signature, writes: Sequence[bool] | None=None, device=None) -> KernelForm",
                                     form_from_text)});
}

}  // namespace bc::bind
