// The module's functions that make arrays and answer questions about dtypes.
#include <cmath>
#include <limits>

#include "array/history.h"
#include "array/placement.h"
#include "bind/args.h"
#include "bind/reduce.h"
#include "bind/values.h"
#include "core/extents.h"
#include "core/stored_value.h"

namespace bc::bind {
namespace {

std::optional<Device> device_or_none(PyObject* o) { return o == Py_None ? std::nullopt : std::optional(to_device(o)); }

/// numpy.array and numpy.asarray.
PyRef convert(PyObject* obj, PyObject* dtype, PyObject* copy_it, char order, int64_t ndmin, PyObject* device, int64_t ndmax = kMaxDims) {
  if (ndmax < 0 || ndmax > kMaxDims) raise(ErrorKind::Value, "ndmax must be in the range [0, NPY_MAXDIMS ({})]", kMaxDims);
  if (ndmin > ndmax) raise(ErrorKind::Value, "ndmin must be <= ndmax (ndmin={}, ndmax={})", ndmin, ndmax);
  bool same = false;
  std::optional<bool> copy = to_copy_mode(copy_it);
  const std::optional<Device> where = device_or_none(device);
  Array a = as_array(obj, to_dtype_or_none(dtype), copy, where, &same);
  // A list of arrays was made where those are.
  if (where && !(a.device() == *where)) a = without_gil([&] { return bc::to_device(a, *where); });
  // Only the depth of sequences is limited, as in NumPy.
  if (a.ndim() > ndmax && (PyList_Check(obj) || PyTuple_Check(obj)))
    raise(ErrorKind::Value,
          "setting an array element with a sequence. The requested array would exceed the maximum number of dimension of {}.", ndmax);
  if ((order == 'F' && !is_f_contiguous(a.shape(), a.strides())) || (order == 'C' && !a.contiguous())) {
    if (copy && !*copy) cannot_avoid_copy();
    a = bc::copy(a, order);
    same = false;
  }
  if (a.ndim() < ndmin) {
    Dims shape = a.shape();
    while (shape.size() < ndmin) shape.insert(0, 1);
    a = reshape(a, shape);
    same = false;
  }
  // A scalar becomes an array of its own.
  if (same && !as_py_array(obj)->scalar) return PyRef::borrow(obj);
  return PyRef::steal(is_array(obj) ? wrap_like(std::move(a), obj) : wrap(std::move(a)));
}

/// Python's scalar, or what an array of one element holds.
std::pair<Weak, Scalar> number(PyObject* o, const char* what) {
  if (auto s = python_scalar(o)) return *s;
  const Array a = to_array(o, device_of({o}));
  if (a.ndim() != 0) raise(ErrorKind::Type, "arange: expected a number for '{}', got an array of shape {}", what, a.shape());
  const Scalar v = look(a);
  return {is_bool(a.dtype())      ? Weak::boolean
          : is_integer(a.dtype()) ? Weak::integer
          : is_complex(a.dtype()) ? Weak::complex
                                  : Weak::real,
          v};
}

__int128 as_wide(const Scalar& s) { return s.dtype == DType::u64 ? static_cast<__int128>(s.u) : static_cast<__int128>(s.i); }

Scalar narrow(__int128 v) {
  if (v > std::numeric_limits<int64_t>::max()) return Scalar::uinteger(static_cast<uint64_t>(v));
  return Scalar::integer(static_cast<int64_t>(v));
}

/// An arange whose dtype or a limit is a time: NumPy makes it, by its rules for units and strings. nullopt where none is.
std::optional<Array> arange_of_times(PyObject* start, PyObject* stop, PyObject* step, PyObject* dtype, Device device) {
  const auto is_time_like = [](PyObject* o) {
    return is_array(o) ? is_time(array_of(o).dtype())
                       : PyObject_IsInstance(o, state().time_types[0]) == 1 || PyObject_IsInstance(o, state().time_types[1]) == 1;
  };
  const auto given = to_dtype_or_none(dtype);
  const bool numbers = (PyFloat_CheckExact(start) || PyLong_CheckExact(start)) && (PyFloat_CheckExact(stop) || PyLong_CheckExact(stop));
  if (given ? !is_time(*given) : numbers || !(is_time_like(start) || is_time_like(stop) || is_time_like(step))) return std::nullopt;
  const auto host = [](PyObject* o) {
    return is_array(o) ? PyRef::steal(PyObject_CallMethod(to_numpy(array_of(o)).get(), "__getitem__", "(())")) : PyRef::borrow(o);
  };
  PyRef made = call(attr(state().numpy, "arange").get(),
                    {host(start).get(), host(stop).get(), host(step).get(), given ? dtype_object(*given) : Py_None});
  bool same = false;
  return as_array(made.get(), std::nullopt, std::nullopt, device, &same);
}

Array arange_function(PyObject* start, PyObject* stop, PyObject* step, PyObject* dtype, Device device) {
  PyRef zero = to_py(int64_t{0}), one = to_py(int64_t{1});
  if (is_missing(start)) {
    if (stop == Py_None) throw_python(PyExc_TypeError, "arange() requires stop to be specified.");
    start = zero.get();
  } else if (stop == Py_None) {
    stop = start;
    start = zero.get();
  }
  if (step == Py_None) step = one.get();
  if (const auto times = arange_of_times(start, stop, step, dtype, device)) return *times;
  const auto [k0, first] = number(start, "start");
  const auto [k1, last] = number(stop, "stop");
  const auto [k2, by] = number(step, "step");
  if (k0 == Weak::complex || k1 == Weak::complex || k2 == Weak::complex) throw_python(PyExc_TypeError, "arange: expected real numbers");
  const bool real = k0 == Weak::real || k1 == Weak::real || k2 == Weak::real || first.dtype == DType::f64 || last.dtype == DType::f64;

  DType t = real ? DType::f64 : DType::i64;
  if (auto given = to_dtype_or_none(dtype)) {
    t = *given;
  } else {
    // NumPy's scalars and arrays bring a dtype; NumPy itself says which one comes out.
    bool typed = false;
    for (PyObject* o : {start, stop, step}) typed = typed || !python_scalar(o);
    if (typed) {
      auto host = [](PyObject* o) {
        return is_array(o) ? PyRef::steal(PyObject_CallMethod(to_numpy(array_of(o)).get(), "reshape", "(())")) : PyRef::borrow(o);
      };
      PyRef f = attr(state().numpy, "arange");
      PyRef none = call(f.get(), {host(start).get(), host(start).get(), host(step).get()});
      PyRef two = call(f.get(), {host(stop).get(), host(stop).get(), host(step).get()});
      t = promote(to_dtype(attr(none.get(), "dtype").get()), to_dtype(attr(two.get(), "dtype").get()));
    }
  }

  int64_t n = 0;
  if (!real) {
    const __int128 a = as_wide(first), b = as_wide(last), s = as_wide(by);
    if (s == 0) throw_python(PyExc_ZeroDivisionError, "division by zero");
    const __int128 span = b - a;
    if ((span > 0) == (s > 0) && span != 0) {
      const __int128 count = (span + s - (s > 0 ? 1 : -1)) / s;
      if (count > std::numeric_limits<int64_t>::max()) throw_python(PyExc_ValueError, "Maximum allowed size exceeded");
      n = static_cast<int64_t>(count);
    }
  } else {
    if (by.as_double() == 0) throw_python(PyExc_ZeroDivisionError, "float division by zero");
    const double span = last.as_double() - first.as_double(), length = span / by.as_double();
    if (length == 0 && span != 0) {
      n = std::signbit(length) ? 0 : 1;
    } else {
      if (std::isnan(length)) throw_python(PyExc_ValueError, "arange: cannot compute length");
      const double count = std::ceil(length);
      if (count > 9.2e18) throw_python(PyExc_ValueError, "Maximum allowed size exceeded");
      n = count > 0 ? static_cast<int64_t>(count) : 0;
    }
  }
  if (is_bool(t) && n > 2) throw_python(PyExc_TypeError, "arange() is only supported for booleans when the result has at most length 2.");
  if (real && (is_integer(t) || is_bool(t))) {
    // The second element less the first, as integers, is the step.
    const auto a = static_cast<int64_t>(first.as_double()), b = static_cast<int64_t>(first.as_double() + by.as_double());
    for (const int64_t v : {a, n > 1 ? b : a})
      if (n > 0 && is_integer(t) && !Scalar::integer(v).fits(t))
        raise(ErrorKind::Overflow, "Python integer {} out of bounds for {}", v, info(t).name);
    return arange(Scalar::integer(a), Scalar::integer(b - a), n, t, placed(device, n));
  }
  if (!real && n > 0 && is_integer(t)) {
    // The first two are numbers of Python to NumPy, the others sums of the dtype.
    const __int128 a = as_wide(first), b = n > 1 ? a + as_wide(by) : a;
    for (__int128 v : {a, b})
      if (v < std::numeric_limits<int64_t>::min() || v > static_cast<__int128>(std::numeric_limits<uint64_t>::max()) || !narrow(v).fits(t))
        raise(ErrorKind::Overflow, "Python integer out of bounds for {}", info(t).name);
  }
  return arange(first, by, n, t, placed(device, n));
}

constexpr auto arange_bound = [](PyObject* start, PyObject* stop, PyObject* step, PyObject* dtype, PyObject*, Device device) {
  return arange_function(start, stop, step, dtype, device);
};

/// arange() with a check that its signature cannot make: `start=` as a keyword is no stop, while a lone positional number is.
PyObject* arange_entry(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  bool start = false, stop = false;
  for (Py_ssize_t k = 0; n == 0 && kwnames && k < PyTuple_Size(kwnames); ++k) {
    PyObject* name = PyTuple_GetItem(kwnames, k);
    start = start || PyUnicode_CompareWithASCIIString(name, "start") == 0;
    stop = stop || PyUnicode_CompareWithASCIIString(name, "stop") == 0;
  }
  if (!start || stop) [[likely]]
    return entry<arange_bound, 0>(self, args, n, kwnames);
  PyErr_SetString(PyExc_TypeError, "arange() requires stop to be specified.");
  return nullptr;
}

/// An entry of a function of one array that gives an array itself: F, but for the call by one positional argument that is that array. An
/// array of another device than the current one is left to F, which may bring it there.
template <auto F, bool contiguous>
PyObject* itself_entry(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  if (n == 1 && !kwnames && is_exact(args[0], state().array) && !as_py_array(args[0])->scalar)
    if (const Array& a = array_of(args[0]); a.device() == default_device() && (!contiguous || (a.ndim() > 0 && a.contiguous())))
      return new_ref(args[0]);
  return entry<F, 0>(self, args, n, kwnames);
}

template <auto F, bool contiguous>
PyMethodDef itself_method(const char* signature) {
  PyMethodDef method = define<F, 0>(signature);
  method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&itself_entry<F, contiguous>));
  return method;
}

constexpr auto as_array_function = [](PyObject* o, PyObject* dtype, PyObject* order, PyObject* copy_it, PyObject*, PyObject* device, bool) {
  return convert(o, dtype, copy_it, to_order(order, 'K'), 0, device);
};
constexpr auto as_any_array_function = [](PyObject* o, PyObject* dtype, PyObject* order, PyObject* copy_it, PyObject*, PyObject* device,
                                          bool) { return convert(o, dtype, copy_it, to_order(order, 'K'), 0, device); };
constexpr auto as_contiguous_function = [](PyObject* o, PyObject* dtype, PyObject*) { return convert(o, dtype, Py_None, 'C', 1, Py_None); };

PyMethodDef arange_method() {
  PyMethodDef method = BC_FUNCTION(
      "arange(start: ArrayLike=..., stop: ArrayLike | None=None, step: ArrayLike=1, dtype: DTypeLike=None, *, like=None, device=None) "
      "Evenly spaced numbers in [start, stop).",
      arange_bound);
  method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&arange_entry));
  return method;
}

/// An array whose first axis is the nearest in memory where order is 'F'.
template <class Make>
Array in_order(const Dims& shape, char order, Make make) {
  return order != 'F' || shape.size() < 2 ? make(shape) : laid_out(shape, reversed_axes(shape.size()), make);
}

Array full_function(const Dims& shape, PyObject* fill, PyObject* dtype, char order, Device device) {
  device = placed(device, shape);
  const std::optional<DType> t = to_dtype_or_none(dtype);
  const Arg value = t ? to_cast_value(fill, *t, device) : to_arg(fill, device);
  if (value.array) {
    if (t) warn_of_lost_imaginary(value.array.dtype(), *t);
    Array a = in_order(shape, order, [&](const Dims& s) { return empty(s, t.value_or(value.array.dtype()), device); });
    assign(a, value);
    return a;
  }
  const DType made = t.value_or(value.value.dtype == DType::u64 ? DType::u64 : default_dtype(value.weak));
  const Scalar element = stored_value(value.weak, value.value, made);
  return in_order(shape, order, [&](const Dims& s) { return full(s, element, made, device); });
}

Array full_like_function(const Array& a, PyObject* fill, PyObject* dtype, PyObject* shape, PyObject* device, char order, bool = true) {
  const DType t = to_dtype_or_none(dtype).value_or(a.dtype());
  const Device where = device == Py_None ? a.device() : to_device(device);
  const Dims d = shape == Py_None ? a.shape() : to_shape(shape);
  if (order == 'A') order = is_f_contiguous(a.shape(), a.strides()) && !a.contiguous() ? 'F' : 'C';
  // Another number of axes cannot lie as `a` does.
  const Dims axes = order == 'F' ? reversed_axes(d.size()) : d.size() == a.ndim() ? copy_order(a, order) : memory_order(Dims(d.size()));
  return laid_out(
      d, axes, [&](const Dims& s) { return fill == Py_None ? unset(s, t, where) : full_function(s, fill, dtype_object(t), 'C', where); });
}

/// NumPy's dtype of numbers in the byte order that is not the machine's; null for any other.
PyRef other_byte_order(PyObject* dtype) {
  const bool text = PyUnicode_Check(dtype) && PyUnicode_GetLength(dtype) > 1;
  if (!text && !PyObject_TypeCheck(dtype, state().np_dtype)) return {};
  if (text && as_string(dtype)[0] != '>' && as_string(dtype)[0] != '<') return {};
  PyRef made = call(reinterpret_cast<PyObject*>(state().np_dtype), {dtype});
  const bool plain = std::string_view("iufc").find(as_string(attr(made.get(), "kind").get())) != std::string_view::npos;
  return plain && !to_bool(attr(made.get(), "isnative").get()) ? std::move(made) : PyRef();
}

/// The elements of bytes, all of them.
PyRef from_bytes(PyObject* bytes, DType dtype, Device device) {
  const int64_t n = PyBytes_Size(bytes), item = itemsize(dtype);
  const Array a = from_host(PyBytes_AsString(bytes), dtype, contiguous_layout(Dims{n / item}), placed(device, n / item));
  PyRef made = PyRef::steal(wrap(a));
  as_py_array(made.get())->read_only = true;
  return made;
}

PyRef from_buffer(PyObject* buffer, PyObject* dtype, int64_t count, int64_t offset, PyObject*, Device device) {
  const PyRef other = other_byte_order(dtype);
  if (!other && PyBytes_CheckExact(buffer) && count == -1 && offset == 0) {
    const DType plain = dtype == Py_Ellipsis ? DType::f64 : to_dtype_or_none(dtype).value_or(DType::f64);
    const int64_t bytes = PyBytes_Size(buffer);
    if (bytes > 0 && bytes % itemsize(plain) == 0 && is_plain(plain)) return from_bytes(buffer, plain, device);
  }
  PyRef f = attr(state().numpy, "frombuffer");
  if (other) {  // converted, and so a copy
    PyRef made = call(f.get(), {buffer, other.get(), to_py(count).get(), to_py(offset).get()});
    return PyRef::steal(wrap(to_array(made.get(), device)));
  }
  const DType t = dtype == Py_Ellipsis ? DType::f64 : to_dtype_or_none(dtype).value_or(DType::f64);
  const DType host = info(t).in_numpy ? t : itemsize(t) == 1 ? DType::u8 : DType::u16;
  PyRef made = call(f.get(), {buffer, dtype_object(host), to_py(count).get(), to_py(offset).get()});
  bool same = false;
  const Array a = as_array(made.get(), std::nullopt, std::nullopt, device, &same);
  PyObject* array = wrap(t == host ? a : view_dtype(a, t));
  PyRef flags = attr(made.get(), "flags");
  as_py_array(array)->read_only = !to_bool(attr(flags.get(), "writeable").get());
  return PyRef::steal(array);
}

/// What ndarray.__reduce__ took apart.
Array rebuild(PyObject* data, std::string_view name, const Dims& shape, char order) {
  if (!PyBytes_Check(data)) raise(ErrorKind::Type, "unpickling an array: expected its elements as bytes, got {}", type_name(data));
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) raise(ErrorKind::Value, "unpickling an array: no dtype is called '{}'", name);
  const int64_t bytes = element_count(shape, itemsize(*dtype)) * itemsize(*dtype), have = PyBytes_Size(data);
  if (bytes != have) raise(ErrorKind::Value, "unpickling an array: expected {} bytes for shape {} of {}, got {}", bytes, shape, name, have);
  const char* from = PyBytes_AsString(data);
  return in_order(shape, order, [&](const Dims& s) { return from_host(from, *dtype, contiguous_layout(s), placed(default_device(), s)); });
}

// ---- Questions about dtypes ------------------------------------------------------------------------------------------------------

/// The dtype that an object brings to a promotion: of arrays, dtypes and NumPy scalars.
DType dtype_of(PyObject* o) {
  if (is_array(o)) return array_of(o).dtype();
  if (is_numpy_array(o) || is_numpy_scalar(o)) return to_dtype(PyRef::steal(PyObject_GetAttr(o, state().names.dtype)).get());
  if (const auto t = dtype_if_dtype(o)) return *t;
  return to_array(o, default_device()).dtype();
}

PyRef promoted(PyObject* const* args, Py_ssize_t n) {
  if (n == 0) throw_python(PyExc_ValueError, "at least one array or dtype is required");
  std::vector<DType> strong;
  Weak weak = Weak::none;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (const auto s = python_scalar(args[i])) {
      weak = std::max(weak, s->first);
    } else {
      strong.push_back(dtype_of(args[i]));
    }
  }
  const DType t = strong.empty() ? default_dtype(weak) : weak == Weak::none ? promote(strong) : promote_weak(promote(strong), weak);
  return PyRef::borrow(dtype_object(t));
}

PyObject* result_type(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guard([&] { return promoted(args, n).release(); });
}

/// Functions that convert what has elements to arrays, and arrays to NumPy's.
void add_conversions(PyObject* module) {
  add_functions(
      module,
      {
          BC_FUNCTION("array(object: ArrayLike, dtype: DTypeLike=None, *, copy: bool | None=True, order='K', subok=False, ndmin=0, "
                      "ndmax=64, like=None, device: DeviceLike=None, "
                      "blocking=False) -> ndarray A new array from "
                      "any array, number or nested list.",
                      [](PyObject* o, PyObject* dtype, PyObject* copy_it, char order, bool, int64_t ndmin, int64_t ndmax, PyObject*,
                         PyObject* device, bool) { return convert(o, dtype, copy_it, order, ndmin, device, ndmax); }),
          itself_method<as_array_function, false>(
              "asarray(a: ArrayLike, dtype: DTypeLike=None, order: Order=None, *, copy: bool | None=None, like: Any=None, "
              "device: DeviceLike=None, blocking: bool=False) -> ndarray An array from any array, "
              "number or nested list; itself when it is one. NumPy's arrays are copied, on the CPU as on a GPU, so that what is "
              "computed from them can wait and be fused; copy=False shares their memory on the CPU, and is an error elsewhere."),
          itself_method<as_any_array_function, false>(
              "asanyarray(a: ArrayLike, dtype: DTypeLike=None, order: Order=None, *, copy: bool | None=None, like: Any=None, "
              "device: DeviceLike=None, blocking: bool=False) -> ndarray As asarray, but an array of a subclass stays one."),
          itself_method<as_contiguous_function, true>("ascontiguousarray(a: ArrayLike, dtype: DTypeLike=None, *, like: Any=None) -> "
                                                      "ndarray An array whose elements lie in C order."),
          BC_FUNCTION("asnumpy(a: ArrayLike, stream: Any=None, order='C', out: numpy.ndarray[Any, Any] | None=None, *, "
                      "blocking: bool=True) -> numpy.ndarray[Any, Any] A NumPy array with the elements.",
                      [](PyObject* o, PyObject* stream, char order, PyObject* to, bool blocking) {
                        if (is_numpy_array(o) && to == Py_None) return PyRef::borrow(o);
                        if ((stream != Py_None || !blocking) && is_array(o))
                          return PyRef::steal(PyObject_CallMethod(o, "get", "OCOO", stream, order, to, blocking ? Py_True : Py_False));
                        const Array a = to_array(o, device_of({o}));
                        if (to == Py_None) return to_host_array(a, "asnumpy", order);
                        leave_history(a, "asnumpy");
                        to_numpy_out(a, to);
                        return PyRef::borrow(to);
                      }),
          BC_FUNCTION("frombuffer(buffer, dtype: DTypeLike=..., count=-1, offset=0, *, like=None, device=None) -> ndarray An array with a "
                      "copy of a buffer's "
                      "elements, read-only where the buffer is.",
                      from_buffer),
      });
}

/// Functions that make arrays of a shape.
void add_creation(PyObject* module) {
  add_functions(
      module,
      {
          BC_FUNCTION("empty(shape, dtype=None, order='C', *, like=None, device=None) An array whose elements are not set.",
                      [](const Dims& shape, DType dtype, StorageOrder order, PyObject*, Device device) {
                        return in_order(shape, order.value, [&](const Dims& s) { return unset(s, dtype, placed(device, s)); });
                      }),
          BC_FUNCTION("zeros(shape, dtype=None, order='C', *, like=None, device=None) Zeros.",
                      [](const Dims& shape, DType dtype, StorageOrder order, PyObject*, Device device) {
                        return in_order(shape, order.value, [&](const Dims& s) { return zeros(s, dtype, placed(device, s)); });
                      }),
          BC_FUNCTION("ones(shape, dtype=None, order='C', *, like=None, device=None) Ones.",
                      [](const Dims& shape, DType dtype, StorageOrder order, PyObject*, Device device) {
                        return in_order(shape, order.value, [&](const Dims& s) { return ones(s, dtype, placed(device, s)); });
                      }),
          BC_FUNCTION(
              "full(shape, fill_value: ArrayLike, dtype: DTypeLike=None, order='C', *, like=None, device=None) One value everywhere.",
              [](const Dims& shape, PyObject* fill, PyObject* dtype, StorageOrder order, PyObject*, Device device) {
                return full_function(shape, fill, dtype, order.value, device);
              }),
          BC_FUNCTION("full_like(a, fill_value, dtype: DTypeLike=None, shape: ShapeLike | None=None, *, device: DeviceLike=None, "
                      "order='K', subok=True) One value everywhere, with a's shape, dtype and "
                      "device; None leaves the elements unset.",
                      full_like_function),
          arange_method(),
          BC_FUNCTION(
              "linspace(start, stop, num: SupportsIndex=50, endpoint=True, dtype=None, axis=0, *, device=None) num evenly spaced "
              "numbers from "
              "start to stop.",
              [](const Arg& start, const Arg& stop, int64_t num, bool endpoint, std::optional<DType> dtype, int64_t axis, Device device) {
                for (const Arg& end : {start, stop})
                  if (dtype) warn_of_lost_imaginary(end.array ? end.array.dtype() : default_dtype(end.weak), *dtype);
                return linspace(start, stop, num, endpoint, dtype, axis, placed(device, num));
              }),
          BC_FUNCTION("iota(shape, *, device=None) The linear C-order index of each element.",
                      [](const Dims& shape, Device device) { return iota(shape, placed(device, shape)); }),
      });
}

/// Functions that answer questions about dtypes.
void add_dtype_questions(PyObject* module) {
  add_functions(module,
                {
                    BC_FUNCTION("get_dtype(dtype: DTypeLike) The dtype object of a dtype, type or name.",
                                [](PyObject* d) { return PyRef::borrow(dtype_object(to_dtype(d))); }),
                    {"result_type", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(result_type)), METH_FASTCALL,
                     "result_type(*arrays_and_dtypes)\n--\n\nThe dtype of an op over these operands."},
                    BC_FUNCTION("promote_types(type1: DTypeLike, type2: DTypeLike) The smallest dtype that both cast to safely.",
                                [](PyObject* a, PyObject* b) { return PyRef::borrow(dtype_object(promote(to_dtype(a), to_dtype(b)))); }),
                    BC_FUNCTION("can_cast(from_, to: DTypeLike, casting='safe') Whether a cast is allowed under a casting rule.",
                                [](PyObject* from, PyObject* to, Casting casting) {
                                  if (python_scalar(from))
                                    throw_python(
                                        PyExc_TypeError,
                                        "can_cast() does not support Python ints, floats, and complex because the result used to depend "
                                        "on the value.");
                                  return can_cast(dtype_of(from), to_dtype(to), casting);
                                }),
                });
}

}  // namespace

void init_convert(PyObject* module) {
  add_conversions(module);
  add_creation(module);
  add_dtype_questions(module);
  add_functions(module, {
                            BC_FUNCTION("_rebuild(data, dtype_name, shape, order)", rebuild),
                            BC_FUNCTION("_ufunc(name)",
                                        [](PyObject* name) {
                                          PyObject* u = PyDict_GetItem(state().ufuncs, name);
                                          if (!u) raise(ErrorKind::Value, "_ufunc: no ufunc is called {}", as_string(name));
                                          return PyRef::borrow(u);
                                        }),
                            BC_FUNCTION("_generalised_ufunc(name, function, signature)", generalised_ufunc),
                        });
}

}  // namespace bc::bind
