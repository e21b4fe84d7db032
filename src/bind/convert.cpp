// Python objects become operands, arrays, shapes and options; arrays become NumPy arrays.
#include "bind/convert.h"

#include <cstring>

#include "array/history.h"
#include "array/placement.h"
#include "array/record.h"
#include "bind/jit_numpy.h"
#include "bind/program.h"
#include "bind/values.h"
#include "bind/waits.h"
#include "bind/warnings.h"

namespace bc::bind {
namespace {

/// What __array_struct__ holds; NumPy's documented layout.
struct ArrayInterface {
  int two;
  int nd;
  char typekind;
  int itemsize;
  int flags;
  Py_intptr_t* shape;
  Py_intptr_t* strides;
  void* data;
  PyObject* descr;
};
constexpr int kAligned = 0x100, kNotSwapped = 0x200, kWriteable = 0x400;

// Copies of less than this keep the interpreter's lock: letting it go costs more.
constexpr size_t kSmallCopy = 1 << 15;

bool is_sequence(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }
Py_ssize_t sequence_size(PyObject* o) { return PyList_Check(o) ? PyList_Size(o) : PyTuple_Size(o); }
/// Owned: a list may be changed by what reading its items runs, and by other threads.
PyRef sequence_at(PyObject* o, Py_ssize_t i) {
  return PyList_Check(o) ? PyRef::steal(PySequence_GetItem(o, i)) : PyRef::borrow(PyTuple_GetItem(o, i));
}

/// Arrays of some dimension are sequences, although they have __index__.
bool is_long_array(PyObject* o) {
  if (PyLong_CheckExact(o)) return false;
  const bool sequence = (is_numpy_array(o) || is_array(o)) && PySequence_Size(o) >= 0;
  PyErr_Clear();
  return sequence;
}

/// The first array of ours in nested lists, or nothing.
PyRef array_inside(PyObject* o, int depth = 0) {
  if (is_array(o)) return PyRef::borrow(o);
  if (depth > 8 || !is_sequence(o)) return nullptr;
  const Py_ssize_t n = sequence_size(o);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyRef item = sequence_at(o, i);
    if (PyFloat_CheckExact(item.get()) || PyLong_CheckExact(item.get())) continue;
    if (PyRef found = array_inside(item.get(), depth + 1)) return found;
  }
  return nullptr;
}

/// Nested lists and tuples of plain Python floats and ints, as most are: read here in one go, where NumPy would look at each element twice.
class PlainNumbers {
 public:
  /// `elements`: whether elements of arrays, computed ones of float64 and int64, count as numbers.
  explicit PlainNumbers(bool elements) : elements_(elements) {}
  /// Whether `o` is such; all else is NumPy's to read, or to refuse.
  bool read(PyObject* o) { return walk(o, 0); }
  const Dims& shape() const { return shape_; }
  bool is_real() const { return real_; }
  const std::vector<int64_t>& integers() const { return integers_; }
  const std::vector<double>& reals() {
    become_real();
    return reals_;
  }

 private:
  bool walk(PyObject* o, int depth) {
    // A list may be changed by other threads: its items are kept.
    const PyRef items = PyList_Check(o) ? PyRef::steal(PyList_AsTuple(o)) : PyRef::borrow(o);
    const Py_ssize_t n = PyTuple_Size(items.get());
    if (n == 0) return false;
    if (depth == shape_.size()) {
      if (leaf_ >= 0 || depth == kMaxDims) return false;
      shape_.push_back(n);
    } else if (shape_[depth] != n) {
      return false;
    }
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* item = PyTuple_GetItem(items.get(), i);
      if (PyFloat_CheckExact(item)) {
        if (!at_leaf(depth)) return false;
        become_real();
        reals_.push_back(PyFloat_AsDouble(item));
      } else if (PyLong_CheckExact(item)) {
        int overflow = 0;
        const long long v = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow != 0 || !at_leaf(depth)) return false;
        push(v);
      } else if (elements_ && is_array(item) && as_py_array(item)->scalar) {
        Element computed;
        const bool known = is_bare(item) || pick_one(array_of(item), &computed);
        if (!known || !at_leaf(depth)) return false;
        const Scalar value = (is_bare(item) ? as_py_array(item)->element : computed).scalar();
        if (value.dtype == DType::f64 && array_dtype(item) == DType::f64) {
          become_real();
          reals_.push_back(value.f);
        } else if (array_dtype(item) == DType::i64) {
          push(value.i);
        } else {
          return false;
        }
      } else if ((!PyList_CheckExact(item) && !PyTuple_CheckExact(item)) || leaf_ == depth || !walk(item, depth + 1)) {
        return false;
      }
    }
    return true;
  }
  void push(int64_t v) {
    if (real_)
      reals_.push_back(static_cast<double>(v));
    else
      integers_.push_back(v);
  }
  bool at_leaf(int depth) {
    if (leaf_ >= 0) return leaf_ == depth;
    leaf_ = depth;
    integers_.reserve(static_cast<size_t>(shape_[depth]));
    return true;
  }
  void become_real() {
    if (real_) return;
    real_ = true;
    reals_.reserve(static_cast<size_t>(shape_[leaf_]));
    reals_.assign(integers_.begin(), integers_.end());
    integers_ = {};
  }

  const bool elements_;
  Dims shape_;
  int leaf_ = -1;  // the depth at which the numbers are
  bool real_ = false;
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
};

Array scalar_array(const std::pair<Weak, Scalar>& v, std::optional<DType> dtype, Device device) {
  const auto& [weak, value] = v;
  const DType t = dtype ? *dtype : weak == Weak::integer && value.dtype == DType::u64 ? DType::u64 : default_dtype(weak);
  return stored(Arg(weak, value), t, device);
}

Array upload(const NumpyView& view, std::optional<DType> dtype, Device device) {
  // In the host's own order of axes, so that the array lies as NumPy's does.
  const Layout& seen = view.layout();
  const Dims order = view.contiguous() ? Dims() : memory_order(seen.strides);
  const bool turned = !is_ascending(order);
  const Layout layout = turned ? transposed(seen, order) : seen;
  Array a;
  device = placed(device, layout.shape);
  if (layout.size() == 1) {
    // One element needs no copy: it becomes a constant of the kernels that read it.
    a = full(layout.shape, Scalar::load(view.dtype(), view.data()), view.dtype(), device);
  } else if (static_cast<size_t>(layout.size()) * itemsize(view.dtype()) < kSmallCopy) {
    a = from_host(view.data(), view.dtype(), layout, device);
  } else {
    a = without_gil([&] { return from_host(view.data(), view.dtype(), layout, device); });
  }
  if (turned) a = a.with_layout(transposed(a.layout(), inverse_axes(order)));
  return dtype ? astype(a, *dtype, false) : a;
}

Array upload(const NumpyView& view, std::optional<DType> dtype, Device device);

/// numpy.datetime64 or timedelta64 of an object of Python's module datetime; nothing for other objects.
PyRef numpy_time(PyObject* o) {
  if (!is_of_datetime(o)) return {};
  const bool delta = as_string(attr(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__name__").get()) == "timedelta";
  return call(state().time_types[delta ? 0 : 1], {o});
}

Array numpy_scalar(PyObject* o, Device device) {
  // numpy.float64 is a float of Python's.
  if (PyFloat_Check(o)) return full(Dims(), Scalar::real(PyFloat_AsDouble(o)), DType::f64, device);
  PyRef type = PyRef::steal(PyObject_GetAttr(o, state().names.dtype));
  const DType t = to_dtype(type.get());
  if (is_time(t)) return upload(NumpyView(call(state().np_asarray, {o}).get()), std::nullopt, device);
  PyRef value = PyRef::steal(PyObject_CallMethodObjArgs(o, state().names.item, nullptr));
  auto s = python_scalar(value.get());
  if (!s) {
    // ml_dtypes' scalars give themselves.
    value = PyRef::steal(PyNumber_Float(o));
    s = python_scalar(value.get());
  }
  return full(Dims(), s->second, t, device);
}

Array stack_nested(PyObject* o, Device device) {
  const Py_ssize_t n = sequence_size(o);
  std::vector<Array> parts;
  parts.reserve(n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyRef item = sequence_at(o, i);
    parts.push_back(to_array(item.get(), device));
    if (!(parts[i].shape() == parts[0].shape()))
      raise(ErrorKind::Value, "array: expected parts of one shape, got {} and {}", parts[0].shape(), parts[i].shape());
  }
  return ascontiguous(stack(parts, 0));  // of whatever order the parts are
}

}  // namespace

void cannot_avoid_copy() {
  throw_python(PyExc_ValueError,
               "Unable to avoid copy while creating an array as requested. If using `copy=False`, use `copy=None` instead.");
}

void warn_of_lost_imaginary(DType from, DType to) {
  if (!is_complex(from) || is_complex(to) || is_bool(to)) [[likely]]
    return;
  PyRef category = import_attr("numpy.exceptions", "ComplexWarning");
  warn(category.get(), "Casting complex values to real discards the imaginary part");
}

// ---- Small things --------------------------------------------------------------------------------------------------------------

int64_t to_int(PyObject* o, const char* what) {
  if (PyLong_CheckExact(o)) {
    const long long v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    return v;
  }
  PyRef index = PyRef::maybe(PyNumber_Index(o));
  if (!index) {
    const char* hint =
        is_array(o) && std::string_view(what) == "axis" ? "; several arrays go into one list, as in concatenate([a, b])" : "";
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "%s: expected an integer, got %s%s", what, type_name(o), hint);
    throw PythonError();
  }
  const long long v = PyLong_AsLongLong(index.get());
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return v;
}

bool to_bool(PyObject* o) {
  if (o == Py_True) return true;
  if (o == Py_False) return false;
  const int v = PyObject_IsTrue(o);
  check(v);
  return v != 0;
}

bool is_copy_mode(PyObject* o) {
  if (o == Py_True || o == Py_False || o == Py_None || PyLong_CheckExact(o)) return false;
  const PyRef type = import_attr("numpy", "_CopyMode");
  return reinterpret_cast<PyObject*>(Py_TYPE(o)) == type.get();
}

std::optional<bool> to_copy_mode(PyObject* o) {
  if (o == Py_None) return std::nullopt;
  if (is_copy_mode(o)) {
    const int64_t mode = to_int(attr(o, "value").get(), "copy");
    return mode == 2 ? std::nullopt : std::optional(mode == 1);
  }
  if (PyUnicode_Check(o)) throw_python(PyExc_ValueError, "strings are not allowed for 'copy' keyword. Use True/False/None instead.");
  return to_bool(o);
}

int64_t to_extent(PyObject* o, const char* what) {
  if (PyBool_Check(o)) raise(ErrorKind::Type, "{}: expected an integer, got bool", what);
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow)
      throw_python(PyExc_ValueError, overflow < 0 ? "negative dimensions are not allowed" : "Maximum allowed dimension exceeded");
    return v;
  }
  return to_int(o, what);
}

Dims to_shape(PyObject* o) {
  Dims d;
  if (is_sequence(o)) {
    const Py_ssize_t n = sequence_size(o);
    if (n > kMaxDims) raise(ErrorKind::Value, "maximum supported dimension for an array is currently {}, found {}", kMaxDims, n);
    d.resize(static_cast<int>(n));
    for (Py_ssize_t i = 0; i < n; ++i) d[static_cast<int>(i)] = to_extent(sequence_at(o, i).get());
    return d;
  }
  if (PyIndex_Check(o) && !is_long_array(o)) {
    d.push_back(to_extent(o));
    return d;
  }
  PyRef items = PyRef::steal(PySequence_Tuple(o));
  return to_shape(items.get());
}

Axes to_axes(PyObject* o) {
  Axes axes;
  if (is_sequence(o)) {
    const Py_ssize_t n = sequence_size(o);
    axes.reserve(n);
    for (Py_ssize_t i = 0; i < n; ++i) axes.push_back(to_int(sequence_at(o, i).get(), "axis"));
  } else if (PyLong_Check(o) || (PyIndex_Check(o) && !is_long_array(o)) || !PySequence_Check(o) || PyUnicode_Check(o)) {
    axes.push_back(to_int(o, "axis"));
  } else {
    PyRef items = PyRef::steal(PySequence_Tuple(o));
    return to_axes(items.get());
  }
  return axes;
}

int64_t to_axis(PyObject* o) {
  if (PyBool_Check(o)) throw_python(PyExc_TypeError, "an integer is required for the axis");
  return to_int(o, "axis");
}

Axes to_reduced_axes(PyObject* o) {
  if (!PyTuple_Check(o)) return Axes{to_axis(o)};
  Axes axes;
  for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) axes.push_back(to_axis(PyTuple_GetItem(o, i)));
  return axes;
}

bool to_flag(PyObject* o) {
  if (o == Py_True || o == Py_False) [[likely]]
    return o == Py_True;
  PyRef number = PyRef::steal(PyNumber_Index(o));
  return to_bool(number.get());
}

char to_storage_order(PyObject* o) {
  const char order = to_order(o);
  if (order != 'C' && order != 'F') throw_python(PyExc_ValueError, "only 'C' or 'F' order is permitted");
  return order;
}

char to_order(PyObject* o, char otherwise) {
  if (!o || o == Py_None) return otherwise;
  if (o == BC_INTERNED("C")) return 'C';
  if (o == BC_INTERNED("K")) return 'K';
  if (PyUnicode_Check(o)) {
    const std::string_view s = as_string(o);
    if (s.size() == 1) {
      const char c = s[0] >= 'a' ? static_cast<char>(s[0] - 32) : s[0];
      if (c == 'C' || c == 'F' || c == 'A' || c == 'K') return c;
    }
    PyErr_Format(PyExc_ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got '%U')", o);
    throw PythonError();
  }
  PyErr_Format(PyExc_TypeError, "order must be str, not %s", type_name(o));
  throw PythonError();
}

Casting to_casting(PyObject* o) {
  if (!o || !PyUnicode_Check(o)) throw_python(PyExc_TypeError, "casting must be a string");
  const std::string_view s = as_string(o);
  for (Casting c : {Casting::same_kind, Casting::unsafe, Casting::safe, Casting::equiv, Casting::no})
    if (s == to_string(c)) return c;
  PyErr_Format(PyExc_ValueError, "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '%U')", o);
  throw PythonError();
}

PyRef shape_tuple(const Dims& d, int64_t factor) {
  PyRef t = PyRef::steal(PyTuple_New(d.size()));
  for (int i = 0; i < d.size(); ++i) check(PyTuple_SetItem(t.get(), i, to_py(d[i] * factor).release()));
  return t;
}

// ---- Operands ------------------------------------------------------------------------------------------------------------------

bool is_numpy_array(PyObject* o) { return is_exact(o, state().np_ndarray) || PyType_IsSubtype(Py_TYPE(o), state().np_ndarray); }
bool is_host_array(PyObject* o) {
  if (is_exact(o, state().np_ndarray)) return true;
  return is_numpy_array(o) && !attr_or_null(o, state().names.__cuda_array_interface__);
}
bool is_numpy_scalar(PyObject* o) { return PyType_IsSubtype(Py_TYPE(o), state().np_generic) != 0; }

std::optional<std::pair<Weak, Scalar>> python_scalar(PyObject* o) {
  if (PyFloat_CheckExact(o)) return std::pair(Weak::real, Scalar::real(PyFloat_AsDouble(o)));
  if (PyBool_Check(o)) return std::pair(Weak::boolean, Scalar::boolean(o == Py_True));
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) return std::pair(Weak::integer, Scalar::integer(v));
    if (overflow > 0) {
      const unsigned long long u = PyLong_AsUnsignedLongLong(o);
      if (!PyErr_Occurred()) return std::pair(Weak::integer, Scalar::uinteger(u));
      PyErr_Clear();
    }
    const double d = PyLong_AsDouble(o);
    if (d == -1.0 && PyErr_Occurred()) throw PythonError();
    return std::pair(Weak::integer, Scalar::real(d));
  }
  if (is_numpy_scalar(o)) return std::nullopt;
  if (PyFloat_Check(o)) return std::pair(Weak::real, Scalar::real(PyFloat_AsDouble(o)));
  if (PyComplex_Check(o)) return std::pair(Weak::complex, Scalar::complex(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)));
  return std::nullopt;
}

bool push_operand(ArgList* args, PyObject* o, Device device) {
  if (push_fast(args, o)) return true;
  if (const auto s = python_scalar(o)) {
    args->emplace(s->first, s->second);
    return true;
  }
  if (is_numpy_scalar(o)) {
    args->emplace(numpy_scalar(o, device));
    return true;
  }
  if (is_numpy_array(o)) {
    args->emplace(upload(NumpyView(o), std::nullopt, device));
    return true;
  }
  if (is_sequence(o)) {
    args->emplace(to_array(o, device));
    return true;
  }
  if (o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o)) return false;
  if (PyRef time = numpy_time(o)) {
    args->emplace(numpy_scalar(time.get(), device));
    return true;
  }
  if (auto a = import_foreign(o)) {
    if (!(a->device() == device) && a->device().type == DeviceType::cpu) a = without_gil([&] { return bc::to_device(*a, device); });
    args->emplace(std::move(*a));
    return true;
  }
  // The object is left to NumPy, unless it has operators of its own for arrays: an __array_ufunc__, or a higher priority than NumPy's
  // arrays.
  const Names& n = state().names;
  const bool own_ufuncs = static_cast<bool>(attr_or_null(o, n.__array_ufunc__));
  if (!own_ufuncs && array_priority(o) > 0) return false;
  // A range, a deque, a memoryview or another sequence is an array of its elements, as in NumPy.
  if (!own_ufuncs &&
      (attr_or_null(o, n.__array__) || attr_or_null(o, n.__array_interface__) || (PySequence_Check(o) && PySequence_Size(o) >= 0))) {
    args->emplace(to_array(o, device));
    return true;
  }
  PyErr_Clear();
  return false;
}

bool is_of_datetime(PyObject* o) {
  const PyRef module = attr_or_null(reinterpret_cast<PyObject*>(Py_TYPE(o)), BC_INTERNED("__module__"));
  return module && PyUnicode_Check(module.get()) && PyUnicode_CompareWithASCIIString(module.get(), "datetime") == 0;
}

double array_priority(PyObject* o) {
  const PyRef given = PyRef::maybe(PyObject_GetAttr(o, state().names.__array_priority__));
  const double value = given ? PyFloat_AsDouble(given.get()) : 0;
  if (!PyErr_Occurred()) return value;
  PyErr_Clear();
  return 0;
}

void push_any(ArgList* args, PyObject* o, Device device) {
  if (!push_operand(args, o, device)) args->emplace(to_array(o, device));
}

Arg to_arg(PyObject* o, Device device) {
  ArgList args;
  push_any(&args, o, device);
  return std::move(args[0]);
}

Arg to_value(PyObject* o, DType dtype, Device device) {
  ArgList args;
  if (push_fast(&args, o)) return std::move(args[0]);
  if (Element e; read_numpy_scalar(o, dtype, &e)) return Arg(dtype == DType::f64 ? Weak::real : Weak::integer, e.scalar());
  // NumPy refuses dates where differences are asked for, and units that are lost.
  if (is_time(dtype) && !is_array(o) && (is_numpy_scalar(o) || is_of_datetime(o))) [[unlikely]]
    return Arg(upload(NumpyView(call(state().np_asarray, {o, dtype_object(dtype)}).get()), std::nullopt, device));
  // NumPy's arrays of texts and objects are read as numbers, as lists of them are.
  if (is_numpy_array(o) && std::string_view("OSU").find(as_string(attr(attr(o, "dtype").get(), "kind").get())) != std::string_view::npos)
      [[unlikely]] {
    const PyRef numbers = call(attr(o, "astype").get(), {dtype_object(dtype)});
    return Arg(upload(NumpyView(numbers.get()), std::nullopt, device));
  }
  const bool sequence = is_sequence(o);
  if (!sequence && o != Py_None && !PyUnicode_Check(o) && !PyBytes_Check(o)) return to_arg(o, device);
  bool same = false;
  return Arg(as_array(o, dtype, std::nullopt, device, &same));
}

Arg to_stored_value(PyObject* o, DType dtype, Device device) {
  if (is_signed_int(dtype) && is_array(o) && (is_bare(o) || as_py_array(o)->scalar)) {
    // Elements and results are as NumPy's scalars, but no result is waited for on a GPU.
    const DType from = array_dtype(o);
    const bool may_not_fit = (is_integer(from) || is_real_float(from)) && !can_cast(from, dtype, Casting::safe);
    if (may_not_fit && (is_bare(o) || traits(array_of(o).device()).on_host)) {
      const Scalar value = is_bare(o) ? as_py_array(o)->element.scalar() : look(array_of(o));
      return to_value(to_python(value, from).get(), dtype, device);
    }
  }
  if (is_signed_int(dtype) && !PyLong_CheckExact(o) && !is_array(o) && is_numpy_scalar(o)) [[unlikely]] {
    PyRef item = attr(o, "item");
    PyRef number = call(item.get(), {});
    const bool time = PyObject_IsInstance(o, state().time_types[0]) == 1 || PyObject_IsInstance(o, state().time_types[1]) == 1;
    if (time && !PyLong_Check(number.get()))
      raise(ErrorKind::Type, "int() argument must be a string, a bytes-like object or a real number, not '{}'", type_name(number.get()));
    if (PyLong_Check(number.get()) || PyFloat_Check(number.get())) return to_value(number.get(), dtype, device);
  }
  return to_value(o, dtype, device);
}

Arg to_element(PyObject* o, Arg value, DType dtype) {
  if (!value.array || value.array.ndim() == 0) return value;
  const bool list = PyList_Check(o) || PyTuple_Check(o);
  if (dtype == DType::b1 && list) return Arg(PyObject_IsTrue(o));
  if (dtype == DType::b1 && value.array.size() == 1) return Arg(reshape(value.array, {}));
  if (is_complex(dtype) || (list && is_integer(dtype)))
    throw_python(PyExc_TypeError, "only 0-dimensional arrays can be converted to Python scalars");
  throw_python(PyExc_ValueError, "setting an array element with a sequence.");
}

Arg to_cast_value(PyObject* o, DType dtype, Device device) {
  const bool named = o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o) || (is_time(dtype) && is_of_datetime(o));
  Arg value = named ? to_value(o, dtype, device) : to_arg(o, device);
  if (int overflow = 0; is_bool(dtype) && PyLong_Check(o)) {
    PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) throw_python(PyExc_OverflowError, "Python int too large to convert to C long");
  }
  const bool lossy = value.weak == Weak::real || value.weak == Weak::complex;
  // A real number is cast to a time as an array of it is.
  return lossy && (is_time(dtype) || promote_weak(dtype, value.weak) != dtype) ? Arg(bc::as_array(value, device)) : value;
}

Arg to_start(PyObject* o, DType dtype, Device device) {
  return is_time(dtype) && is_of_datetime(o) ? to_value(o, dtype, device) : to_arg(o, device);
}

Device device_of(PyObject* const* objects, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i)
    if (objects[i] && is_array(objects[i])) return array_of(objects[i]).device();
  for (Py_ssize_t i = 0; i < n; ++i)
    if (objects[i] && is_sequence(objects[i]))
      if (PyRef inside = array_inside(objects[i])) return array_of(inside.get()).device();
  return default_device();
}

// ---- Arrays --------------------------------------------------------------------------------------------------------------------

Array to_array(PyObject* o, Device device) {
  if (is_array(o)) return array_of(o);
  bool same = false;
  return as_array(o, std::nullopt, std::nullopt, device, &same);
}

namespace {

/// The result of an object's `__array__`, which may be an array of ours: NumPy refuses that. Null where NumPy would not call `__array__`;
/// classes have the attribute too, but are no arrays.
PyRef made_by_itself(PyObject* o, bool no_copy) {
  const Names& n = state().names;
  if (is_sequence(o) || PyType_Check(o) || PyObject_CheckBuffer(o)) return nullptr;
  if (attr_or_null(o, n.__array_interface__) || attr_or_null(o, n.__array_struct__)) return nullptr;
  PyRef method = attr_or_null(o, n.__array__);
  // In a program that runs unchanged the method gives NumPy's arrays, and has the class's own.
  if (method && program_mode.load(std::memory_order_relaxed))
    if (const PyRef own = attr_or_null(method.get(), BC_INTERNED("_for_broadcloth")))
      method = call(import_attr("types", "MethodType").get(), {own.get(), o});
  if (!method || !no_copy) return method ? call(method.get(), {}) : nullptr;
  PyRef named = PyRef::steal(PyDict_New());
  check(PyDict_SetItem(named.get(), n.copy, Py_False));
  const PyRef none = tuple_of({});
  PyRef made = PyRef::maybe(PyObject_Call(method.get(), none.get(), named.get()));
  if (made) return made;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PythonError();
  PyErr_Clear();
  cannot_avoid_copy();  // an old `__array__`, which knows no copy=
}

}  // namespace

Array as_array(PyObject* o, std::optional<DType> dtype, std::optional<bool> copy, std::optional<Device> device, bool* same) {
  const bool never = copy && !*copy, always = copy && *copy;
  *same = false;
  // Arrays that are there already, ours or another library's.
  auto finish = [&](const Array& a, bool ours) {
    Array r = a;
    bool copied = false;
    if (device && !(r.device() == *device)) {
      if (never) cannot_avoid_copy();
      r = without_gil([&] { return bc::to_device(r, *device); });
      copied = true;
    }
    if (dtype && r.dtype() != *dtype) {
      if (never) cannot_avoid_copy();
      warn_of_lost_imaginary(r.dtype(), *dtype);
      r = astype(r, *dtype);
      copied = true;
    }
    if (always && !copied) r = bc::copy(r, 'K');
    *same = ours && !copied && !always;
    return r;
  };
  if (is_array(o)) {
    // Among several devices of a kind the array comes to the current one, as in CuPy; between kinds only to_device() moves it.
    const Device here = array_of(o).device(), now = default_device();
    if (!device && !never && here.type == now.type && here.index != now.index) device = now;
    return finish(array_of(o), true);
  }
  const Device where = device ? *device : default_device();

  if (const auto s = python_scalar(o)) {
    if (never) cannot_avoid_copy();
    return scalar_array(*s, dtype, where);
  }
  if (is_numpy_scalar(o)) {
    if (never) cannot_avoid_copy();
    const Array a = numpy_scalar(o, where);
    return dtype ? astype(a, *dtype, false) : a;
  }
  const bool numpy = is_numpy_array(o);
  if (!numpy) {
    if (!is_sequence(o) && !PyUnicode_Check(o) && !PyBytes_Check(o))
      if (const auto a = import_foreign(o)) return finish(*a, false);
    const bool as_real = dtype == DType::f64 || dtype == DType::f32;
    if (!never && (PyList_CheckExact(o) || PyTuple_CheckExact(o)) && (!dtype || as_real || *dtype == DType::i64)) {
      PlainNumbers numbers(where.type == DeviceType::cpu);
      if (numbers.read(o) && !(numbers.is_real() && dtype == DType::i64)) {
        const Layout layout = contiguous_layout(numbers.shape());
        const Device place = placed(where, layout.shape);
        if (!numbers.is_real() && !as_real) return from_host(numbers.integers().data(), DType::i64, layout, place);
        const Array a = from_host(numbers.reals().data(), DType::f64, layout, place);
        return dtype ? astype(a, *dtype, false) : a;
      }
    }
    if (PyRef inside = is_sequence(o) ? array_inside(o) : nullptr) {
      if (never) cannot_avoid_copy();
      // Where the arrays are: numbers beside them come to them.
      const Array a = stack_nested(o, array_of(inside.get()).device());
      if (dtype) warn_of_lost_imaginary(a.dtype(), *dtype);
      return dtype ? astype(a, *dtype, false) : a;
    }
  }
  PyRef host = PyRef::borrow(o);
  if (PyRef made = numpy ? nullptr : made_by_itself(o, never)) {
    if (is_array(made.get())) return finish(array_of(made.get()), false);
    host = made;
  } else if (never && !numpy && !PyObject_CheckBuffer(o) && !attr_or_null(o, state().names.__array_interface__)) {
    cannot_avoid_copy();
  }
  if (!numpy) {
    // NumPy's own rules for lists and foreign host objects; it checks values against the dtype, too.
    host = dtype && info(*dtype).in_numpy ? call(state().np_asarray, {host.get(), dtype_object(*dtype)})
                                          : call(state().np_asarray, {host.get()});
  }
  const NumpyView view(host.get());
  if (never) {
    if (where.type != DeviceType::cpu || view.copied() || (dtype && *dtype != view.dtype())) cannot_avoid_copy();
    PyObject* owner = new_ref(view.owner());
    return from_foreign(view.data(), view.dtype(), view.layout(), where, !view.writable(), [owner] { release_object(owner); });
  }
  return upload(view, dtype, where);
}

void release_object(PyObject* o) noexcept {
  if (!Py_IsInitialized()) return;
  GilHold hold;
  Py_DECREF(o);
}

bool NumpyView::take(int ndim, const Py_intptr_t* shape, const Py_intptr_t* strides) {
  const int64_t item = itemsize(dtype_);
  shape_.resize(ndim);
  strides_.resize(ndim);
  for (int d = 0; d < ndim; ++d) {
    if (strides[d] % item != 0 && shape[d] > 1) return false;
    shape_[d] = shape[d];
    strides_[d] = shape[d] <= 1 ? 0 : strides[d] / item;
  }
  return true;
}

NumpyView::NumpyView(PyObject* array) : owner_(PyRef::borrow(array)) {
  // A plain array of a common dtype is read where it lies: its interface is an object more.
  if (Py_TYPE(array) == state().np_ndarray) {
    const NumpyArrayFields* a = numpy_fields(array);
    const std::optional<DType> known = common_dtype(a->descr);
    if (known && (a->flags & kNumpyAligned)) {
      dtype_ = *known;
      if (take(a->ndim, a->shape, a->strides)) {
        data_ = a->data;
        writable_ = (a->flags & kNumpyWriteable) != 0;
        return;
      }
    }
  }
  for (;;) {
    capsule_ = PyRef::steal(PyObject_GetAttr(owner_.get(), state().names.__array_struct__));
    const auto* a = static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule_.get(), nullptr));
    if (!a) throw PythonError();
    PyRef type = PyRef::steal(PyObject_GetAttr(owner_.get(), state().names.dtype));
    if (!(a->flags & kNotSwapped))
      type = PyRef::steal(PyObject_CallMethodObjArgs(type.get(), state().names.newbyteorder, to_py("=").get(), nullptr));
    dtype_ = to_dtype(type.get());
    if ((a->flags & kAligned) && (a->flags & kNotSwapped) && take(a->nd, a->shape, a->strides)) {
      data_ = a->data;
      writable_ = (a->flags & kWriteable) != 0;
      return;
    }
    // Swapped bytes, or strides that are no whole elements: NumPy makes a plain copy.
    owner_ = PyRef::steal(PyObject_CallMethodObjArgs(owner_.get(), state().names.astype, type.get(), to_py("C").get(), nullptr));
    copied_ = true;
  }
}

Layout NumpyView::layout() const { return {shape_, strides_, 0}; }

bool NumpyView::contiguous() const { return is_contiguous(shape_, strides_); }

PyRef to_numpy(const Array& a, char order) {
  if (!numpy_has(a.dtype())) return to_numpy(astype(a, DType::f32), order);
  const Wait wait(a);
  const Dims axes = order == 'C' || a.ndim() < 2 ? Dims() : copy_order(a, order);
  const bool turned = !is_ascending(axes);
  const Array along = turned ? a.with_layout(transposed(a.layout(), axes)) : a;
  PyRef host = call(state().np_empty, {shape_tuple(along.shape()).get(), dtype_object(a.dtype())});
  const NumpyView view(host.get());
  if (a.size() > 0) without_gil_unless(is_small(a), [&] { to_host(along, view.data()); });
  if (a.storage()->notice.load(std::memory_order_relaxed)) [[unlikely]]
    give_notice(a, to_bool(call(attr(call(attr(state().numpy, "isnan").get(), {host.get()}).get(), "any").get(), {}).get()));
  if (!turned) return host;
  PyRef back = shape_tuple(inverse_axes(axes));
  return PyRef::steal(PyObject_CallMethod(host.get(), "transpose", "(O)", back.get()));
}

PyRef to_numpy_with_strides(const Array& a) {
  const Layout& view = a.layout();
  int64_t span = 1;
  bool forwards = true;
  for (int d = 0; d < view.ndim(); ++d) {
    span += (view.shape[d] - 1) * view.strides[d];
    forwards &= view.strides[d] > 0 || view.shape[d] == 1;
  }
  if (!forwards || span <= a.size() || span > 2 * a.size() || !numpy_has(a.dtype())) return to_numpy(a, 'K');
  const PyRef memory = to_numpy(a.with_layout(Layout{Dims{span}, Dims{1}, view.offset}));
  return call(reinterpret_cast<PyObject*>(state().np_ndarray),
              {shape_tuple(a.shape()).get(), dtype_object(a.dtype()), memory.get(), PyRef::steal(PyLong_FromLong(0)).get(),
               shape_tuple(view.strides, itemsize(a.dtype())).get()});
}

PyRef to_host_array(const Array& a, const char* by, char order) {
  leave_history(a, by);
  return to_numpy(a, order);
}

void to_numpy_out(const Array& a, PyObject* out) {
  if (!is_numpy_array(out)) raise(ErrorKind::Type, "asnumpy: expected a numpy.ndarray for 'out', got {}", type_name(out));
  {
    const NumpyView view(out);
    if (view.layout().shape != a.shape())
      raise(ErrorKind::Value, "asnumpy: expected 'out' of shape {}, got {}", a.shape(), view.layout().shape);
    if (!view.copied() && view.writable() && view.contiguous() && view.dtype() == a.dtype()) {
      if (a.size()) without_gil([&] { to_host(a, view.data()); });
      return;
    }
  }
  PyRef host = to_numpy(a);
  PyRef copyto = attr(state().numpy, "copyto");
  call(copyto.get(), {out, host.get()});
}

}  // namespace bc::bind
