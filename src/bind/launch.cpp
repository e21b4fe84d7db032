#include "bind/launch.h"

#include <cstring>
#include <limits>

#include "array/access.h"
#include "bind/args.h"
#include "bind/cuda_stream.h"
#include "graph/tape.h"

namespace bc::bind {

// ---- LaunchArguments ----------------------------------------------------------------------------------------------------------------

void* LaunchArguments::add(size_t bytes, size_t alignment) {
  size_t at = (used_ + alignment - 1) & ~(alignment - 1);
  if (at + bytes > room_bytes_) [[unlikely]] {
    room_bytes_ = std::max<size_t>(bytes + 16, size_t{16} << 10);
    more_room_.push_back(std::make_unique<char[]>(room_bytes_));
    room_ = more_room_.back().get();
    at = 0;
  }
  used_ = at + bytes;
  pointers_.push(room_ + at);
  ++count_;
  return room_ + at;
}

void LaunchArguments::note_array(const Array& a, bool write, void** place) {
  *place = nullptr;
  // An empty array has no memory that a kernel could touch.
  if (a.size() != 0) arrays_.push({&a, place, write});
}

const Array& LaunchArguments::hold(Array a) {
  held_.push_back(std::make_unique<Array>(std::move(a)));
  return *held_.back();
}

const Array& LaunchArguments::hold_foreign(Array a) {
  const Array& kept = hold(std::move(a));
  foreign_.push_back(kept);
  return kept;
}

void LaunchArguments::launch(ProgramKernel& kernel, const KernelLaunch& shape, Tape& tape, int64_t times) {
  GilRelease released;
  const Stream stream = tape.stream();
  // A graph launches the kernel again when nobody may hold its program any more; another library may make one of its stream.
  if (tape.capture() || (tape.foreign() && backend(stream.device).capturing(stream))) [[unlikely]]
    backend(stream.device).keep_programs_loaded();
  if (arrays_.n == 0) {
    for (int64_t i = 0; i < times; ++i) kernel.launch(shape, pointers_.data(), stream);
    return;
  }
  {
    ArrayAccess access(stream);
    access.share();
    {
      // Once here, so that it costs nothing there. What is written comes first, as ArrayAccess asks for.
      TapeLock lock(tape);
      Noted* noted = arrays_.data();
      for (const bool write : {true, false})
        for (int i = 0; i < arrays_.n; ++i)
          if (noted[i].write == write) *noted[i].place = access.add(*noted[i].array, write);
    }
    for (int64_t i = 0; i < times; ++i) kernel.launch(shape, pointers_.data(), stream);
  }
  if (foreign_.empty() || !traits(stream.device).asynchronous) return;
  // Their owner knows nothing of our stream and would use the memory again at once.
  tape.keep([kept = std::move(foreign_)] {});
}

// ---- Numbers ------------------------------------------------------------------------------------------------------------------------

namespace {

/// The kinds of numbers, as far as converting one to another loses nothing of its kind.
enum class Rank : uint8_t { integer, real, complex };

Rank rank_of(DType t) { return is_complex(t) ? Rank::complex : is_real_float(t) ? Rank::real : Rank::integer; }

[[noreturn]] void wrong_type(const char* kernel, int index, std::string_view expected, PyObject* got) {
  raise(ErrorKind::Type, "kernel {}: expected {} for parameter {}, got {}", kernel, expected, index, type_name(got));
}

/// Writes a number as C++ would convert it in a call, but never a fraction to an integer and never an integer past the type's range.
void store_number(LaunchArguments* to, const Scalar& value, Rank rank, DType dtype, const char* kernel, int index, PyObject* given) {
  void* bytes = to->add(static_cast<size_t>(itemsize(dtype)), static_cast<size_t>(std::min(8, itemsize(dtype))));
  if (is_bool(dtype)) {
    *static_cast<bool*>(bytes) = value.as_double() != 0 || value.imag != 0;
    return;
  }
  if (rank > rank_of(dtype))
    raise(ErrorKind::Type, "kernel {}: parameter {} is {}, got {}; convert it first", kernel, index, info(dtype).name, type_name(given));
  if (is_integer(dtype)) {
    // A mask may be written as a negative number or as a large one: the bits count.
    const int bits = 8 * itemsize(dtype);
    bool fits = value.dtype == DType::u64 || value.dtype == DType::i64 || is_bool(value.dtype);
    if (fits && bits < 64) {
      fits = value.dtype == DType::u64 ? value.u < (uint64_t{1} << bits)
                                       : value.i >= -(int64_t{1} << (bits - 1)) && value.i < (int64_t{1} << bits);
    }
    if (!fits) {
      PyRef text = PyRef::steal(PyObject_Str(given));
      raise(ErrorKind::Overflow, "kernel {}: {} is out of the range of parameter {} ({})", kernel, as_string(text.get()), index,
            info(dtype).name);
    }
    std::memcpy(bytes, &value.u, static_cast<size_t>(itemsize(dtype)));  // little endian
    return;
  }
  value.store(dtype, bytes);
}

/// A number where only the size of the parameter is known: what has that many bytes is what is meant.
void store_by_size(LaunchArguments* to, const Scalar& value, Rank rank, uint32_t bytes, const char* kernel, int index, PyObject* given) {
  DType dtype = DType::i64;
  bool possible = true;
  switch (rank) {
    case Rank::integer:
      possible = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
      dtype = bytes == 1 ? DType::i8 : bytes == 2 ? DType::i16 : bytes == 4 ? DType::i32 : DType::i64;
      break;
    case Rank::real:
      possible = bytes == 2 || bytes == 4 || bytes == 8;
      dtype = bytes == 2 ? DType::f16 : bytes == 4 ? DType::f32 : DType::f64;
      break;
    case Rank::complex:
      possible = bytes == 8 || bytes == 16;
      dtype = bytes == 8 ? DType::c64 : DType::c128;
      break;
  }
  if (!possible)
    raise(ErrorKind::Type, "kernel {}: parameter {} has {} bytes, which no {} has; pass a struct as a NumPy record of that size", kernel,
          index, bytes, type_name(given));
  store_number(to, value, rank, dtype, kernel, index, given);
}

/// The dtype of an object that is exactly one of NumPy's scalars.
std::optional<DType> scalar_dtype(PyObject* o) {
  const auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  for (int i = 0; i < kDTypeCount; ++i)
    if (state().scalar_types[i] == type) return static_cast<DType>(i);
  return std::nullopt;
}

/// The value's bytes inside one of NumPy's scalars: they lie behind the object's header (numpy/arrayscalars.h, a part of NumPy's ABI).
const void* scalar_bytes(PyObject* o) { return reinterpret_cast<const char*>(o) + sizeof(PyObject); }

void add_number(LaunchArguments* to, const Scalar& value, Rank rank, const RawParameter& p, DType default_dtype, const char* kernel,
                int index, PyObject* given) {
  switch (p.kind) {
    case KernelParameter::Kind::scalar: return store_number(to, value, rank, p.dtype, kernel, index, given);
    case KernelParameter::Kind::pointer:
      // An address.
      if (rank != Rank::integer) wrong_type(kernel, index, "an array or an address", given);
      return store_number(to, value, rank, DType::u64, kernel, index, given);
    case KernelParameter::Kind::unknown: break;
  }
  if (p.bytes == 0 || (p.bytes == static_cast<uint32_t>(itemsize(default_dtype)) && rank_of(default_dtype) == rank))
    return store_number(to, value, rank, default_dtype, kernel, index, given);
  store_by_size(to, value, rank, p.bytes, kernel, index, given);
}

/// A buffer of an object, given back when this goes.
class BufferView {
 public:
  explicit BufferView(PyObject* o) { valid_ = PyObject_GetBuffer(o, &view_, PyBUF_ANY_CONTIGUOUS) == 0; }
  ~BufferView() {
    if (valid_) PyBuffer_Release(&view_);
  }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
  bool valid() const { return valid_; }
  const void* data() const { return view_.buf; }
  size_t bytes() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_;
  bool valid_ = false;
};

/// The bytes of a struct given as an object that shows its memory: a NumPy record or array, a ctypes object, bytes.
bool add_buffer(LaunchArguments* to, PyObject* o, const RawParameter& p, const char* kernel, int index) {
  if (!PyObject_CheckBuffer(o)) return false;
  const BufferView view(o);
  if (!view.valid()) {
    PyErr_Clear();
    return false;
  }
  if (p.bytes && p.bytes != view.bytes())
    raise(ErrorKind::Type, "kernel {}: parameter {} has {} bytes, got {} with {}", kernel, index, p.bytes, type_name(o), view.bytes());
  void* bytes = to->add(view.bytes(), 16);
  if (view.bytes()) std::memcpy(bytes, view.data(), view.bytes());
  return true;
}

/// A NumPy array: a struct's bytes, and never an address, which a GPU could not use.
void add_host_array(LaunchArguments* to, PyObject* o, const RawParameter& p, const char* kernel, int index) {
  PyRef dims = PyRef::steal(PyObject_GetAttrString(o, "ndim"));
  PyRef kind = attr(attr(o, "dtype").get(), "kind");
  const bool value = p.kind == KernelParameter::Kind::unknown &&
                     (to_int(dims.get(), "ndim") == 0 || as_string(kind.get()) == "V" || p.bytes > 0 || p.described);
  if (value && add_buffer(to, o, p, kernel, index)) return;
  raise(ErrorKind::Type,
        "kernel {}: parameter {} is a NumPy array, which is host memory; pass broadcloth.asarray(x) to use it on the device", kernel,
        index);
}

void add_slowly(LaunchArguments* to, ForeignArrays* foreign, PyObject* o, const RawParameter& p, const char* kernel, int index,
                Device device) {
  using Kind = KernelParameter::Kind;
  if (is_numpy_scalar(o)) {
    PyRef type = PyRef::steal(PyObject_GetAttr(o, state().names.dtype));
    PyRef kind = attr(type.get(), "kind");
    if (as_string(kind.get()) == "V" && !dtype_from_name(as_string(attr(type.get(), "name").get()))) {
      if (p.kind == Kind::unknown && add_buffer(to, o, p, kernel, index)) return;
      wrong_type(kernel, index, p.kind == Kind::pointer ? "an array" : "a number", o);
    }
    const DType dtype = to_dtype(type.get());
    PyRef item = PyRef::steal(PyObject_CallMethodObjArgs(o, state().names.item, nullptr));
    auto value = python_scalar(item.get());
    if (!value) {
      item = PyRef::steal(PyNumber_Float(o));
      value = python_scalar(item.get());
    }
    return add_number(to, value->second, rank_of(dtype), p, dtype, kernel, index, o);
  }
  if (is_host_array(o)) return add_host_array(to, o, p, kernel, index);
  if (const auto value = python_scalar(o)) {
    if (value->first == Weak::integer && value->second.dtype == DType::f64)
      throw_python(PyExc_OverflowError, "Python int too large to convert to C long");
    const Rank rank = value->first == Weak::complex ? Rank::complex : value->first == Weak::real ? Rank::real : Rank::integer;
    const DType dtype = value->second.dtype == DType::u64 ? DType::u64 : default_dtype(value->first);
    return add_number(to, value->second, rank, p, dtype, kernel, index, o);
  }
  if (o == Py_None) {
    if (p.kind == Kind::scalar) wrong_type(kernel, index, info(p.dtype).name, o);
    *static_cast<void**>(to->add(sizeof(void*))) = nullptr;
    return;
  }
  // A texture or surface object, or a pointer of ours, CuPy or Numba: an address with a name.
  if (p.kind != Kind::scalar) {
    if (PyRef address = attr_or_null(o, BC_INTERNED("ptr")); address && PyLong_Check(address.get())) {
      const unsigned long long value = PyLong_AsUnsignedLongLong(address.get());
      if (PyErr_Occurred()) throw PythonError();
      std::memcpy(to->add(sizeof(value)), &value, sizeof(value));
      return;
    }
    if (const Array* a = foreign->find(o)) {
      if (!(a->device() == device) && !backend(device).enable_peer_access(a->device()))
        raise(ErrorKind::Value, "kernel {}: expected arrays on {}, got a {} on {} for parameter {}", kernel, to_string(device),
              type_name(o), to_string(a->device()), index);
      to->add_array(to->hold_foreign(*a), p.write);
      return;
    }
  }
  if (add_buffer(to, o, p, kernel, index)) return;
  PyErr_Clear();
  wrong_type(kernel, index,
             p.kind == Kind::pointer  ? "an array"
             : p.kind == Kind::scalar ? info(p.dtype).name
                                      : "an array, a number or a struct",
             o);
}

}  // namespace

void add_raw_argument(LaunchArguments* to, ForeignArrays* foreign, PyObject* o, const RawParameter& p, const char* kernel, int index,
                      Device device) {
  using Kind = KernelParameter::Kind;
  if (is_array(o)) {
    if (p.kind == Kind::scalar || (p.bytes && p.bytes != sizeof(void*)))
      raise(ErrorKind::Type, "kernel {}: parameter {} is {}, got an array", kernel, index,
            p.kind == Kind::scalar ? info(p.dtype).name : "no pointer");
    const bool write = p.write && !(as_py_array(o)->read_only && p.kind != Kind::pointer);
    if (write && as_py_array(o)->read_only)
      raise(ErrorKind::Value, "kernel {}: parameter {} is written, and the array is read-only", kernel, index);
    return to->add_array(array_of(o), write);
  }
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) return add_number(to, Scalar::integer(v), Rank::integer, p, DType::i64, kernel, index, o);
  } else if (PyFloat_CheckExact(o)) {
    return add_number(to, Scalar::real(PyFloat_AsDouble(o)), Rank::real, p, DType::f64, kernel, index, o);
  } else if (const auto dtype = scalar_dtype(o)) {
    const void* value = scalar_bytes(o);
    const size_t bytes = static_cast<size_t>(itemsize(*dtype));
    if (p.kind == Kind::scalar ? p.dtype == *dtype : p.kind == Kind::unknown && (p.bytes == 0 || p.bytes == bytes)) {
      std::memcpy(to->add(bytes, std::min<size_t>(bytes, 8)), value, bytes);
      return;
    }
    if (p.kind == Kind::unknown)
      raise(ErrorKind::Type, "kernel {}: parameter {} has {} bytes, got {} with {}", kernel, index, p.bytes, info(*dtype).name, bytes);
    return add_number(to, Scalar::load(*dtype, value), rank_of(*dtype), p, *dtype, kernel, index, o);
  }
  add_slowly(to, foreign, o, p, kernel, index, device);
}

std::optional<Device> device_attribute(PyObject* o) {
  PyRef where = attr_or_null(o, state().names.device);
  if (where && !is_exact(where.get(), state().device)) where = attr_or_null(where.get(), BC_INTERNED("_device"));
  if (!where || !is_exact(where.get(), state().device)) return std::nullopt;
  return to_device(where.get());
}

std::optional<Device> launch_device(PyObject* o, ForeignArrays* foreign) {
  if (is_array(o)) return array_of(o).device();
  if (PyLong_CheckExact(o) || PyFloat_CheckExact(o) || o == Py_None || PyBool_Check(o) || is_numpy_scalar(o) || is_numpy_array(o))
    return {};
  if (const auto where = device_attribute(o)) return where;
  const Array* a = foreign->find(o);
  return a ? std::optional(a->device()) : std::nullopt;
}

// ---- Configuration ------------------------------------------------------------------------------------------------------------------

namespace {

unsigned read_extent(PyObject* o, const char* kernel, const char* what) {
  long long v;
  if (PyLong_CheckExact(o)) {
    v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) throw PythonError();
  } else {
    v = to_int(o, what);
  }
  if (v < 0 || v > std::numeric_limits<unsigned>::max())
    raise(ErrorKind::Value, "kernel {}: expected a {} of positive numbers, got {}", kernel, what, v);
  return static_cast<unsigned>(v);
}

}  // namespace

void read_dims(PyObject* o, unsigned dims[3], const char* kernel, const char* what) {
  dims[1] = dims[2] = 1;
  if (PyTuple_Check(o)) {
    const Py_ssize_t n = PyTuple_Size(o);
    if (n < 1 || n > 3) raise(ErrorKind::Value, "kernel {}: expected one to three numbers for the {}, got {}", kernel, what, n);
    for (Py_ssize_t i = 0; i < n; ++i) dims[i] = read_extent(PyTuple_GetItem(o, i), kernel, what);
    return;
  }
  if (PyLong_Check(o) || PyIndex_Check(o)) {
    dims[0] = read_extent(o, kernel, what);
    return;
  }
  PyRef items = PyRef::maybe(PySequence_Tuple(o));
  if (!items) {
    PyErr_Clear();
    raise(ErrorKind::Type, "kernel {}: expected an int or a tuple of ints for the {}, got {}{}", kernel, what, type_name(o),
          PyFloat_Check(o) ? "; divide by //, as in (n + 255) // 256" : "");
  }
  read_dims(items.get(), dims, kernel, what);
}

}  // namespace bc::bind
