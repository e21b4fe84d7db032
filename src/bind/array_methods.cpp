// ndarray's methods.
#include "array/history.h"
#include "bind/args.h"
#include "bind/cuda_stream.h"
#include "bind/jit_values.h"
#include "bind/program.h"
#include "bind/reduce.h"
#include "bind/subclass.h"
#include "bind/values.h"
#include "bind/waits.h"
#include "bind/warnings.h"
#include "ops/sorting.h"

namespace bc::bind {

// ---- Reductions, also for the module's functions --------------------------------------------------------------------------------

ReduceOptions reduce_options(const char* name, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims, PyObject* initial,
                             PyObject* where, const Array& a) {
  ReduceOptions o;
  if (axis && axis != Py_None && !is_missing(axis)) o.axes = to_reduced_axes(axis);
  o.dtype = to_dtype_or_none(dtype);
  if (out && out != Py_None) o.out = writable(PyTuple_Check(out) && PyTuple_Size(out) == 1 ? PyTuple_GetItem(out, 0) : out, name);
  o.keepdims = !is_missing(keepdims) && to_flag(keepdims);
  o.no_identity = initial == Py_None;
  if (!is_missing(initial) && initial != Py_None) {
    o.initial = to_start(initial, a.dtype(), a.device());
    if (o.initial->array && o.initial->array.ndim() > 0) throw_python(PyExc_ValueError, "setting an array element with a sequence.");
  }
  o.where = where_mask(where, a.device());
  return o;
}

const Array& warned(const Array& a, std::optional<DType> dtype, const Array& out) {
  if (dtype || out) warn_of_lost_imaginary(a.dtype(), dtype ? *dtype : out.dtype());
  return a;
}

void warn_of_reduced(Op op, const Array& a, const ReduceOptions& options) {
  if (op == Op::reduce_sum || op == Op::reduce_prod || op == Op::reduce_mean || op == Op::reduce_max || op == Op::reduce_min)
    warned(a, options.dtype, options.out);
  if (op == Op::reduce_var || op == Op::reduce_std) warned(a, options.dtype, Array());  // they are real anyway
}

void check_arg_extreme(Op op, const Array& a, PyObject* axis) {
  if (op != Op::reduce_argmax && op != Op::reduce_argmin) return;
  if (axis != Py_None && !PyIndex_Check(axis))
    raise(ErrorKind::Type, "{}: expected an integer or None for 'axis', got {}", info(op).name, type_name(axis));
  if (a.size() == 0 && axis == Py_None) raise(ErrorKind::Value, "attempt to get {} of an empty sequence", info(op).name);
}

PyObject* finish_reduce(Array made, PyObject* out) {
  if (out && out != Py_None) return new_ref(PyTuple_Check(out) ? PyTuple_GetItem(out, 0) : out);
  // NumPy's classes of times, and what asks for them, take none of ours (numpy.datetime64(dates.max())).
  if (program_mode.load(std::memory_order_relaxed) && made.ndim() == 0 && is_time(made.dtype())) [[unlikely]]
    return to_numpy_scalar(look(made), made.dtype()).release();
  return wrap_value(std::move(made));
}

bool warn_of_short_slices(const Array& a, const ReduceOptions& options, bool spread) {
  if (!spread && a.size() != 0) return false;
  double count = 1;
  if (options.axes)
    for (int64_t axis : *options.axes) count *= static_cast<double>(a.shape()[normalize_axis(axis, a.ndim(), spread ? "var" : "mean")]);
  else
    count = static_cast<double>(a.size());
  if (count > (spread ? options.ddof : 0.0)) return false;
  warn(PyExc_RuntimeWarning, spread ? "Degrees of freedom <= 0 for slice" : "Mean of empty slice");
  return true;
}

PyObject* reduce_now(Op op, const Array& a, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims, PyObject* initial,
                     PyObject* where) {
  const auto given = [](PyObject* o, PyObject* otherwise) { return !is_missing(o) && o != otherwise; };
  if (a.ndim() == 0 || given(axis, Py_None) || given(dtype, Py_None) || given(out, Py_None)) return nullptr;
  if (given(keepdims, Py_False) || !is_missing(initial) || given(where, Py_True)) return nullptr;
  return reduce_bare(op, a);
}

namespace {

PyRef steal(PyObject* o) { return PyRef::steal(o); }

template <Op op>
PyRef reduction(PyObject* self, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims, PyObject* initial, PyObject* where) {
  const Array& a = array_of(self);
  if (PyObject* made = reduce_now(op, a, axis, dtype, out, keepdims, initial, where)) return steal(made);
  const ReduceOptions options = reduce_options(info(op).name, axis, dtype, out, keepdims, initial, where, a);
  warn_of_reduced(op, a, options);
  Array made = reduce(op, a, options);
  if constexpr (op == Op::reduce_mean) warn_of_short_slices(a, options, false);
  return steal(finish_reduce(std::move(made), out));
}

template <Op op>
PyRef reduction_without_dtype(PyObject* self, PyObject* axis, PyObject* out, PyObject* keepdims, PyObject* initial, PyObject* where) {
  return reduction<op>(self, axis, nullptr, out, keepdims, initial, where);
}

template <Op op>
PyRef mean_like(PyObject* self, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims, PyObject* where) {
  return reduction<op>(self, axis, dtype, out, keepdims, nullptr, where);
}

template <Op op>
PyRef truth_like(PyObject* self, PyObject* axis, PyObject* out, PyObject* keepdims, PyObject* where) {
  return reduction<op>(self, axis, nullptr, out, keepdims, nullptr, where);
}

template <bool root>
PyRef spread(PyObject* self, PyObject* axis, PyObject* dtype, PyObject* out, double ddof, PyObject* keepdims, PyObject* where,
             PyObject* mean, PyObject* correction) {
  const Array& a = array_of(self);
  ReduceOptions o = reduce_options(root ? "std" : "var", axis, dtype, out, keepdims, nullptr, where, a);
  o.ddof = ddof;
  if (!is_missing(correction)) {
    if (ddof != 0) throw_python(PyExc_ValueError, "ddof and correction can't be provided simultaneously.");
    o.ddof = PyFloat_AsDouble(correction);
    if (PyErr_Occurred()) throw PythonError();
  }
  const bool about = !is_missing(mean) && mean != Py_None;
  warned(a, o.dtype, Array());  // the result is real anyway
  Array made = about ? var_about(a, to_arg(mean, a.device()), o, root) : reduce(root ? Op::reduce_std : Op::reduce_var, a, o);
  warn_of_short_slices(a, o, true);
  return steal(finish_reduce(std::move(made), out));
}

template <Op op>
PyRef arg_extreme(PyObject* self, PyObject* axis, PyObject* out, PyObject* keepdims) {
  check_arg_extreme(op, array_of(self), axis);
  PyObject* keep = !is_missing(keepdims) && to_bool(keepdims) ? Py_True : Py_False;
  return reduction<op>(self, axis, nullptr, out, keep, nullptr, nullptr);
}

PyRef ptp_method(PyObject* self, PyObject* axis, PyObject* out, PyObject* keepdims) {
  const Array& a = array_of(self);
  return steal(finish_reduce(ptp(a, reduce_options("ptp", axis, nullptr, out, keepdims, nullptr, nullptr, a)), out));
}

// ---- Shapes ----------------------------------------------------------------------------------------------------------------------

/// The extents of f(2, 3), f((2, 3)) or f(6).
Dims shape_arguments(PyObject* const* args, Py_ssize_t n, const char* name) {
  if (n == 1) return to_shape(args[0]);
  Dims d;
  for (Py_ssize_t i = 0; i < n; ++i) d.push_back(to_extent(args[i], name));
  return d;
}

PyObject* reshape_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    static constinit Once<CallSignature> s_once;
    const CallSignature& s = s_once.get("reshape(*, shape=None, order='C', copy=None)", true);
    PyObject* v[3];
    s.bind(args + n, 0, kwnames, v);
    if (n == 0 && v[0] == Py_None) throw_python(PyExc_TypeError, "reshape() takes exactly 1 argument (0 given)");
    const Dims shape = n ? shape_arguments(args, n, "reshape") : to_shape(v[0]);
    return wrap_like(reshape_in_order(array_of(self), shape, to_order(v[1]), v[2]), self);
  });
}

PyObject* transpose_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    static constinit Once<CallSignature> s_once;
    const CallSignature& s = s_once.get("transpose(*, axes=None)", true);
    PyObject* v[1];
    s.bind(args + n, 0, kwnames, v);
    const Array& a = array_of(self);
    if (n == 0 && v[0] != Py_None) return wrap_view(transpose(a, to_shape(v[0])), self);
    if (n == 0 || (n == 1 && args[0] == Py_None)) return wrap_view(transpose(a), self);
    return wrap_view(transpose(a, shape_arguments(args, n, "transpose")), self);
  });
}

PyObject* resize_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    static constinit Once<CallSignature> s_once;
    const CallSignature& s = s_once.get("resize(*, refcheck=True)", true);
    PyObject* v[1];
    s.bind(args + n, 0, kwnames, v);
    const Array& a = writable(self, "resize");
    if (n == 0 || (n == 1 && args[0] == Py_None)) Py_RETURN_NONE;
    leave_history(a, "resize");
    const Dims shape = shape_arguments(args, n, "resize");
    const bool fortran = !a.contiguous() && is_f_contiguous(a.shape(), a.strides());
    if (!fortran && !a.contiguous()) throw_python(PyExc_ValueError, "resize only works on single-segment arrays");
    // Elements stay in their order in memory.
    const Array line = fortran ? ravel(transpose(a)) : ravel(a);
    const auto shaped = [&](const Array& v) { return fortran ? reshape_fortran(v, shape) : reshape(v, shape); };
    const int64_t size = product(shape);
    if (size == a.size()) {
      array_of(self) = shaped(line);  // also of a view
      Py_RETURN_NONE;
    }
    if (as_py_array(self)->base) throw_python(PyExc_ValueError, "cannot resize this array: it does not own its data");
    // `line` is the second owner of the storage; views and exports are others, and would keep the old elements.
    if (to_bool(v[0]) && a.storage()->refs() > 2)
      throw_python(
          PyExc_ValueError,
          "cannot resize an array that references or is referenced\nby another object in this way.\nUse the np.resize function to get "
          "a new resized copy or\n set refcheck=False to disable this check");
    const Array bigger = zeros(Dims{size}, a.dtype(), a.device());
    SliceItem front;
    front.has_stop = true;
    front.stop = std::min(size, a.size());
    assign(slice(bigger, {&front, 1}), slice(line, {&front, 1}));
    array_of(self) = shaped(bigger);
    Py_RETURN_NONE;
  });
}

// ---- Values ----------------------------------------------------------------------------------------------------------------------

PyObject* item_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    if (kwnames && PyTuple_Size(kwnames)) throw_python(PyExc_TypeError, "item() takes no keyword arguments");
    const Array& a = array_of(self);
    if (n == 0) {
      if (a.size() != 1) throw_python(PyExc_ValueError, "can only convert an array of size 1 to a Python scalar");
      return to_python(look(a), a.dtype()).release();
    }
    Dims at;
    if (n == 1 && PyTuple_Check(args[0])) {
      at = to_shape(args[0]);
    } else {
      for (Py_ssize_t i = 0; i < n; ++i) at.push_back(to_int(args[i], "item"));
    }
    if (at.size() == 1 && a.ndim() != 1) {
      int64_t flat = at[0];
      if (flat < -a.size() || flat >= a.size()) raise(ErrorKind::Index, "index {} is out of bounds for size {}", flat, a.size());
      if (flat < 0) flat += a.size();
      at = Dims(a.ndim());
      for (int d = a.ndim() - 1; d >= 0; --d) {
        at[d] = flat % a.shape()[d];
        flat /= a.shape()[d];
      }
    }
    if (at.size() != a.ndim()) throw_python(PyExc_ValueError, "incorrect number of indices for array");
    std::vector<SliceItem> items(at.size());
    for (int d = 0; d < at.size(); ++d) {
      items[d].kind = SliceItem::Kind::index;
      items[d].start = at[d];
    }
    return to_python(look(slice(a, items)), a.dtype()).release();
  });
}

/// Elements that lie in C's order as nested lists; `at` moves on.
PyRef nested_list(DType t, const Dims& shape, int axis, const char*& at) {
  if (axis == shape.size()) {
    PyRef element = jit::box_scalar(t, at);
    at += itemsize(t);
    return element;
  }
  PyRef list = PyRef::steal(PyList_New(shape[axis]));
  for (int64_t i = 0; i < shape[axis]; ++i) check(PyList_SetItem(list.get(), i, nested_list(t, shape, axis + 1, at).release()));
  return list;
}

/// Of complex numbers both parts are turned, each in its place.
Array byteswapped(const Array& a) {
  const int64_t item = itemsize(a.dtype()), part = is_complex(a.dtype()) ? item / 2 : item;
  if (part == 1 || a.size() == 0) return copy(a);
  const Array bytes = view_dtype(reshape(copy(a), Dims{a.size()}), DType::u8);
  const Layout backwards{Dims{a.size() * item / part, part}, Dims{part, -1}, bytes.offset() + part - 1};
  return reshape(view_dtype(reshape(copy(bytes.with_layout(backwards)), Dims{a.size() * item}), a.dtype()), a.shape());
}

PyRef byteswap_method(PyObject* self, bool inplace) {
  if (!inplace) return steal(wrap(byteswapped(array_of(self))));
  const Array& a = writable(self, "byteswap");
  assign(a, byteswapped(a));
  return PyRef::borrow(self);
}

PyRef tolist(PyObject* self) {
  const Array& a = array_of(self);
  constexpr int64_t kFew = 256;  // more are NumPy's to turn, whose array costs two microseconds
  if (a.size() <= kFew && product(a.shape()) > 0) {
    alignas(16) char elements[kFew * 16];
    without_gil_unless(short_running(a.device()), [&] { to_host(a, elements); });
    const char* at = elements;
    if (!a.storage()->notice.load(std::memory_order_relaxed)) return nested_list(a.dtype(), a.shape(), 0, at);
  }
  PyRef host = to_numpy(info(a.dtype()).in_numpy ? a : astype(a, DType::f32));
  return steal(PyObject_CallMethod(host.get(), "tolist", nullptr));
}

/// CuPy's methods for updates of elements that may be named several times: the ufuncs' `at`.
template <int Which>
PyRef scatter(PyObject* self, PyObject* slices, PyObject* value) {
  static constexpr const char* names[] = {"add", "maximum", "minimum"};
  return call(attr(import_attr("broadcloth", names[Which]).get(), "at").get(), {self, slices, value});
}

/// What NumPy's array of the host copy does.
template <int Which>
PyObject* host_method(PyObject* self, PyObject* args, PyObject* kwargs) {
  static constexpr const char* names[] = {"tobytes", "tofile", "dump", "dumps"};
  return guard([&] {
    PyRef host = to_numpy(array_of(self), 'A');
    PyRef method = attr(host.get(), names[Which]);
    return PyObject_Call(method.get(), args, kwargs);
  });
}

/// The elements' bytes in C's order, without an array of NumPy's between.
PyObject* tobytes_method(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (PyTuple_Size(args) > 0 || kwargs || !numpy_has(array_of(self).dtype())) return host_method<0>(self, args, kwargs);
  return guard([&] {
    const Array& a = array_of(self);
    PyRef made = PyRef::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(a.size() * itemsize(a.dtype()))));
    char* to = PyBytes_AsString(made.get());
    const HiddenWait hidden("tobytes()");
    without_gil_unless(is_small(a), [&] { to_host(a, to); });
    return made.release();
  });
}

/// A function of the package, looked up once: the import system takes as long as a small sort.
PyRef package_function(const char* name, std::atomic<PyObject*>* kept) {
  PyObject* function = kept->load(std::memory_order_acquire);
  if (!function) {
    function = import_attr("broadcloth", name).release();
    kept->store(function, std::memory_order_release);
  }
  return PyRef::borrow(function);
}

void put_in_order(PyObject* self, const char* name, const Array& ordered) {
  const Array& a = writable(self, name);
  if (!put_row(a, Arg(ordered))) assign(a, ordered);
}

/// The usual calls of package_method, which need no Python: nullptr for others.
template <int Which>
PyObject* plain_method(PyObject* self, PyObject* args) {
  const Py_ssize_t n = PyTuple_Size(args);
  const Array& a = array_of(self);
  PyObject* const first = n == 1 ? PyTuple_GetItem(args, 0) : nullptr;
  if (Which == 1 && n == 0) return wrap(argsort(a, -1));
  if (Which == 3 && first && is_array(first) && a.ndim() == 1 && a.size() == array_of(first).size() && is_bool(array_of(first).dtype()))
    return get_item(self, first);
  if (Which == 4 && first && is_array(first)) return wrap_value(searchsorted(a, array_of(first)));
  if (Which == 5 && first && PyLong_CheckExact(first) && a.ndim() == 1) {
    const int64_t rank = to_int(first, "partition");
    put_in_order(self, "partition", partition(a, {&rank, 1}, -1));
    return new_ref(Py_None);
  }
  if (Which == 6 && n == 0 && a.ndim() > 0) {
    if (!sort_in_place_small(writable(self, "sort"))) put_in_order(self, "sort", sort(a, -1));
    return new_ref(Py_None);
  }
  return nullptr;
}

/// Methods that the package writes in Python as functions of the same name.
template <int Which>
PyObject* package_method(PyObject* self, PyObject* args, PyObject* kwargs) {
  static constexpr const char* names[] = {"argpartition", "argsort", "choose", "compress", "searchsorted", "partition", "sort"};
  return guard([&]() -> PyObject* {
    if (!kwargs)
      if (PyObject* const made = plain_method<Which>(self, args))
        return of_subclass(self) ? with_class(made, names[Which], true, &self, 1) : made;
    static constinit std::atomic<PyObject*> kept{nullptr};
    PyRef function = package_function(names[Which], &kept);
    const Py_ssize_t n = PyTuple_Size(args);
    if (Which == 2 && n > 1) {  // several positional arguments are the choices
      PyRef all = tuple_of({self, args});
      return PyObject_Call(function.get(), all.get(), kwargs);
    }
    PyRef all = PyRef::steal(PyTuple_New(n + 1));
    check(PyTuple_SetItem(all.get(), 0, new_ref(self)));
    for (Py_ssize_t i = 0; i < n; ++i) check(PyTuple_SetItem(all.get(), i + 1, new_ref(PyTuple_GetItem(args, i))));
    if (Which == 3 && n > 0) {  // the function takes the condition first
      check(PyTuple_SetItem(all.get(), 0, new_ref(PyTuple_GetItem(args, 0))));
      check(PyTuple_SetItem(all.get(), 1, new_ref(self)));
    }
    if (Which >= 5) {  // an array is not put in order as if it were flat
      constexpr Py_ssize_t place = Which == 5 ? 1 : 0;
      PyObject* const axis = n > place ? PyTuple_GetItem(args, place) : kwargs ? PyDict_GetItemString(kwargs, "axis") : nullptr;
      if (axis == Py_None) throw_python(PyExc_TypeError, "'NoneType' object cannot be interpreted as an integer");
    }
    PyRef made = steal(PyObject_Call(function.get(), all.get(), kwargs));
    // sort and partition write the array in place.
    if (Which < 5) return of_subclass(self) ? with_class(made.release(), names[Which], true, &self, 1) : made.release();
    put_in_order(self, names[Which], to_array(made.get(), writable(self, names[Which]).device()));
    Py_RETURN_NONE;
  });
}

PyRef astype_method(PyObject* self, PyObject* dtype, PyObject* order, Casting casting, bool, bool copy_it, PyObject* device) {
  const Array& a = array_of(self);
  const DType t = dtype == Py_None ? DType::f64 : to_dtype(dtype);
  const char kept = to_order(order, 'K');
  if (casting == Casting::unsafe) warn_of_lost_imaginary(a.dtype(), t);
  Array made = astype(a, t, false, casting);
  const bool own = device != Py_None && !(to_device(device) == a.device());
  if (own) made = without_gil([&, to = to_device(device)] { return bc::to_device(made, to); });
  const char order_of_copy = kept == 'A' ? (is_ascending(copy_order(a, kept)) ? 'C' : 'F') : kept;
  const bool lies = kept == 'K' || (order_of_copy == 'C' ? made.contiguous() : is_f_contiguous(made.shape(), made.strides()));
  if (made.storage() == a.storage() && !copy_it && lies) return PyRef::borrow(self);
  if (made.storage() == a.storage() || !lies) made = copy(made, order_of_copy);
  return steal(as_py_array(self)->scalar ? wrap_value(std::move(made)) : wrap(std::move(made)));
}

PyRef view_method(PyObject* self, PyObject* dtype, PyObject* type) {
  if (array_class(dtype)) std::swap(dtype, type);
  if (!is_missing(type) && type != Py_None && !array_class(type)) throw_python(PyExc_ValueError, "Type must be a sub-type of ndarray type");
  const Array& a = array_of(self);
  const bool as_it_is = is_missing(dtype) || dtype == Py_None || array_class(dtype);
  const PyRef view = steal(wrap_view(as_it_is ? a : view_dtype(a, to_dtype(dtype)), self));
  PyTypeObject* const given = array_class(type);
  if (!given) return view;
  PyRef made = in_class(view.get(), given);
  finalize(made.get(), self);
  return made;
}

PyRef to_device_method(PyObject* self, PyObject* device, PyObject* stream) {
  const Device d = to_device(device);
  if (array_of(self).device() == d) return PyRef::borrow(self);
  std::optional<CurrentTape> current;
  if (stream != Py_None) current.emplace(stream_of(stream, d));
  return steal(wrap(without_gil([&] { return bc::to_device(array_of(self), d); })));
}

PyRef to_method(PyObject* self, PyObject* target, PyObject* dtype, PyObject* device, bool copy_it) {
  if (target != Py_None) {
    const bool names_dtype = PyUnicode_Check(target) ? !names_device(as_string(target)) : !is_exact(target, state().device);
    (names_dtype ? dtype : device) = target;
  }
  const Array& a = array_of(self);
  Array made = a;
  if (device != Py_None) {
    const Device d = to_device(device);
    if (!(d == a.device())) made = without_gil([&] { return bc::to_device(a, d); });
  }
  if (dtype != Py_None) made = astype(made, to_dtype(dtype), false);
  if (made.storage() != a.storage() || !(made.layout() == a.layout())) return steal(wrap(std::move(made)));
  return copy_it ? steal(wrap(copy(a))) : PyRef::borrow(self);
}

PyRef move_to(PyObject* self, Device d) {
  if (array_of(self).device() == d) return PyRef::borrow(self);
  return steal(wrap(without_gil([&] { return bc::to_device(array_of(self), d); })));
}

PyRef array_dunder(PyObject* self, PyObject* dtype, PyObject* copy_it) {
  const Array& a = array_of(self);
  PyRef host;
  if (copy_it == Py_False) {
    if (a.device().type != DeviceType::cpu || (!info(a.dtype()).format && !is_time(a.dtype())))
      raise(ErrorKind::Value, "__array__: expected copy=None or True for an array of {} on {}, got copy=False", info(a.dtype()).name,
            to_string(a.device()));
    const bool time = is_time(a.dtype());
    PyRef seen = time ? steal(wrap_view(view_dtype(a, DType::i64), self)) : PyRef::borrow(self);
    PyRef memory = steal(PyMemoryView_FromObject(seen.get()));
    host = call(state().np_asarray, {memory.get()});
    if (time) host = call(attr(host.get(), "view").get(), {dtype_object(a.dtype())});
  } else {
    const HiddenWait hidden("an array given to NumPy or to a library that uses it");
    leave_history(a, "__array__");
    host = to_numpy_with_strides(a);
  }
  if (dtype == Py_None) return host;
  PyRef no_copy = steal(PyDict_New());
  check(PyDict_SetItem(no_copy.get(), state().names.copy, Py_False));
  return call(attr(host.get(), "astype").get(), {dtype}, no_copy.get());
}

PyRef format_method(PyObject* self, PyObject* spec) {
  const Array& a = array_of(self);
  // A time is written as NumPy's scalar is, with its unit.
  if (a.ndim() == 0 && is_time(a.dtype())) return steal(PyObject_Format(steal(array_str(self)).get(), spec));
  if (a.ndim() == 0) return steal(PyObject_Format(to_python(look(a), a.dtype()).get(), spec));
  if (PyUnicode_Check(spec) && PyUnicode_GetLength(spec) == 0) return steal(array_str(self));
  throw_python(PyExc_TypeError, "unsupported format string passed to broadcloth.ndarray.__format__");
}

/// What programs that were written for NumPy pickle of an element is NumPy's scalar. Else a pickle holds the elements' bytes, the dtype's
/// name, the shape and the order, which _rebuild checks against each other.
PyRef reduce_dunder(PyObject* self) {
  const Array& a = array_of(self);
  if (program_mode.load(std::memory_order_relaxed) && as_py_array(self)->scalar && a.ndim() == 0 && numpy_has(a.dtype()))
    return call(attr(to_numpy_scalar(look(a), a.dtype()).get(), "__reduce__").get(), {});
  const bool fortran = !a.contiguous() && is_f_contiguous(a.shape(), a.strides());
  const Array line = fortran ? transpose(a) : a;
  PyRef bytes = steal(PyBytes_FromStringAndSize(nullptr, a.size() * itemsize(a.dtype())));
  char* to = PyBytes_AsString(bytes.get());
  without_gil_unless(is_small(a), [&] { to_host(line, to); });
  if (of_subclass(self)) {
    const PyRef own = tuple_of({reinterpret_cast<PyObject*>(Py_TYPE(self)), shape_tuple(Dims{0}).get(), to_py("bool").get()});
    const PyRef state = tuple_of({to_py(int64_t{1}).get(), shape_tuple(a.shape()).get(), to_py(info(a.dtype()).name).get(),
                                  fortran ? Py_True : Py_False, bytes.get()});
    return tuple_of({import_attr("broadcloth._subclasses", "reconstruct").get(), own.get(), state.get()});
  }
  PyRef args = tuple_of({bytes.get(), to_py(info(a.dtype()).name).get(), shape_tuple(a.shape()).get(), to_py(fortran ? "F" : "C").get()});
  return tuple_of({attr(state().module, "_rebuild").get(), args.get()});
}

/// A copy for the module copy: that of an element is one.
PyRef copied(PyObject* self) {
  PyRef made = PyRef::steal(wrap_like(copy(array_of(self), 'K'), self));
  as_py_array(made.get())->scalar = as_py_array(self)->scalar;
  return made;
}

/// round(x[0], n): a Python integer without digits, as for NumPy's scalars.
PyRef round_dunder(PyObject* self, PyObject* digits) {
  const Array& a = array_of(self);
  if (a.ndim() > 0) throw_python(PyExc_TypeError, "type broadcloth.ndarray doesn't define __round__ method");
  if (digits != Py_None) return PyRef::steal(wrap_value(round(a, to_int(digits, "round"), Array())));
  const PyRef value = to_python(look(a), a.dtype());
  const PyRef method = steal(PyObject_GetAttrString(value.get(), "__round__"));
  return steal(PyObject_CallNoArgs(method.get()));
}

PyRef trunc_dunder(PyObject* self) {
  const Array& a = array_of(self);
  if (a.ndim() > 0) throw_python(PyExc_TypeError, "type broadcloth.ndarray doesn't define __trunc__ method");
  const PyRef value = to_python(look(a), a.dtype());
  return steal(PyNumber_Long(value.get()));
}

/// Methods of Python's and NumPy's numbers, which 0-d arrays stand for.
template <int Which>
PyRef number_method(PyObject* self) {
  static constexpr const char* names[] = {"as_integer_ratio", "is_integer"};
  const Array& a = array_of(self);
  if (a.ndim() > 0) raise(ErrorKind::Type, "{}: expected a 0-dimensional array, got shape {}", names[Which], a.shape());
  const PyRef value = to_python(look(a), a.dtype());
  if (Which == 1 && PyLong_Check(value.get())) return PyRef::borrow(Py_True);  // Python's int has the method from 3.12 on
  const PyRef method = attr(value.get(), names[Which]);
  return steal(PyObject_CallNoArgs(method.get()));
}

PyRef complex_dunder(PyObject* self) {
  const Array& a = array_of(self);
  if (a.ndim() != 0) throw_python(PyExc_TypeError, "only 0-dimensional arrays can be converted to Python scalars");
  PyRef v = to_python(look(a), a.dtype());
  if (PyComplex_Check(v.get())) return v;
  const double re = PyFloat_AsDouble(v.get());
  if (PyErr_Occurred()) throw PythonError();
  return steal(PyComplex_FromDoubles(re, 0));
}

PyRef take_method(PyObject* self, const Indices& indices, const NumberAxis& axis, const Array& out, std::string_view mode) {
  return steal(out ? wrap(take_checked(array_of(self), indices.array, axis, mode, out))
                   : wrap_value(take_checked(array_of(self), indices.array, axis, mode, out)));
}

PyRef repeat_method(PyObject* self, PyObject* repeats, const NumberAxis& axis) {
  return steal(wrap(repeat_any(array_of(self), repeats, axis)));
}

PyRef clip_method(PyObject* self, PyObject* low, PyObject* high, PyObject* out, PyObject* dtype, PyObject* casting, PyObject* where) {
  return steal(clip_any(self, low, high, out, dtype, casting, where));
}

/// NumPy gives a real array itself.
PyRef conjugate(PyObject* self, PyObject* out) {
  const Array& a = array_of(self);
  if (is_time(a.dtype())) throw_python(PyExc_TypeError, "cannot conjugate non-numeric dtype");
  if (out != Py_None) {
    ufunc(Op::conj, {Arg(a)}, {.out = output(out, "conjugate")});
    return PyRef::borrow(out);
  }
  if (!is_complex(a.dtype())) return PyRef::borrow(self);
  return steal(wrap_value(ufunc(Op::conj, {Arg(a)})));
}

PyRef nonzero_method(PyObject* self) {
  const std::vector<Array> list = without_gil_unless(is_small(array_of(self)), [&] { return nonzero(array_of(self)); });
  return steal(result(list, nullptr));
}

PyObject* class_getitem(PyObject* cls, PyObject* key) { return Py_GenericAlias(cls, key); }

PyMethodDef raw(const char* name, FastCall f, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f)), METH_FASTCALL | METH_KEYWORDS, doc};
}
PyMethodDef variadic(const char* name, PyCFunctionWithKeywords f, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f)), METH_VARARGS | METH_KEYWORDS, doc};
}

}  // namespace

Array reshape_in_order(const Array& a, const Dims& shape, char order, PyObject* copy_it) {
  if (order == 'A') order = !a.contiguous() && is_f_contiguous(a.shape(), a.strides()) ? 'F' : 'C';
  if (order == 'K') throw_python(PyExc_ValueError, "order 'K' is not permitted for reshaping");
  const Array made = order == 'F' ? reshape_fortran(a, shape) : reshape(a, shape);
  const bool view = made.storage() == a.storage();
  const std::optional<bool> mode = to_copy_mode(copy_it);
  if (mode && *mode && view) return copy(made, order);
  if (mode && !*mode && !view) throw_python(PyExc_ValueError, "Unable to avoid creating a copy while reshaping.");
  return made;
}

Array repeat_any(const Array& a, PyObject* repeats, const Axis& axis) {
  if (PyLong_Check(repeats)) return repeat(a, to_int(repeats, "repeats"), axis);
  const Array counts = to_array(repeats, a.device());
  return without_gil([&] { return repeat(a, counts, axis); });
}

Array take_checked(const Array& a, const Array& indices, const Axis& axis, std::string_view mode, const Array& out) {
  if (mode == "raise" && !out && a.ndim() == 1 && !is_bool(indices.dtype()) && (!axis || *axis == 0 || *axis == -1))
    if (std::optional<Array> few = pick_small(a, indices)) return *few;
  if (mode == "raise") {
    const bool along = axis && a.ndim() > 0;
    const int at = along ? normalize_axis(*axis, a.ndim(), "take") : 0;
    check_indices(indices, along ? a.shape()[at] : a.size(), at);
  }
  // An index out of bounds may show only when the gather runs.
  LineNote line(true);
  return take(warned(a, std::nullopt, out), indices, axis, mode, out);
}

void add_methods(std::vector<PyMethodDef>* list) {
  const std::vector<PyMethodDef> methods = {
      BC_METHOD("sum(axis=None, dtype=None, out=None, keepdims=False, initial=..., where=True) The sum over axes.",
                (reduction<Op::reduce_sum>)),
      BC_METHOD("prod(axis=None, dtype=None, out=None, keepdims=False, initial=..., where=True) The product over axes.",
                (reduction<Op::reduce_prod>)),
      BC_METHOD("max(axis=None, out=None, keepdims=False, initial=..., where=True) The largest element over axes.",
                (reduction_without_dtype<Op::reduce_max>)),
      BC_METHOD("min(axis=None, out=None, keepdims=False, initial=..., where=True) The smallest element over axes.",
                (reduction_without_dtype<Op::reduce_min>)),
      BC_METHOD("ptp(axis=None, out=None, keepdims=False) The largest less the smallest element over axes.", ptp_method),
      BC_METHOD("mean(axis=None, dtype=None, out=None, keepdims=False, *, where=True) The mean over axes.", (mean_like<Op::reduce_mean>)),
      BC_METHOD(
          "var(axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=..., correction=...) The variance over axes.",
          (spread<false>)),
      BC_METHOD("std(axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=..., correction=...) The standard "
                "deviation over axes.",
                (spread<true>)),
      BC_METHOD("any(axis=None, out=None, keepdims=False, *, where=True) Whether any element is true.", (truth_like<Op::reduce_any>)),
      BC_METHOD("all(axis=None, out=None, keepdims=False, *, where=True) Whether all elements are true.", (truth_like<Op::reduce_all>)),
      BC_METHOD("argmax(axis=None, out=None, *, keepdims=False) Where the largest element is.", (arg_extreme<Op::reduce_argmax>)),
      BC_METHOD("argmin(axis=None, out=None, *, keepdims=False) Where the smallest element is.", (arg_extreme<Op::reduce_argmin>)),
      BC_METHOD("cumsum(axis=None, dtype=None, out=None) The running sum along an axis.",
                [](PyObject* self, const NumberAxis& axis, std::optional<DType> dtype, const Array& out) {
                  return cumsum(warned(array_of(self), dtype, out), axis, dtype, out);
                }),
      BC_METHOD("cumprod(axis=None, dtype=None, out=None) The running product along an axis.",
                [](PyObject* self, const NumberAxis& axis, std::optional<DType> dtype, const Array& out) {
                  return cumprod(warned(array_of(self), dtype, out), axis, dtype, out);
                }),
      BC_METHOD("clip(min=None, max=None, out=None, *, dtype=None, casting='same_kind', where=True) The elements limited to [min, max].",
                clip_method),
      BC_VALUE_METHOD("round(decimals=0, out=None) The elements rounded to so many decimals.",
                      [](PyObject* self, int64_t decimals, const Array& out) { return round(array_of(self), decimals, out); }),
      BC_METHOD("conj(out=None, /) The complex conjugate.", [](PyObject* self, PyObject* out) { return conjugate(self, out); }),
      BC_METHOD("conjugate(out=None, /) The complex conjugate.", [](PyObject* self, PyObject* out) { return conjugate(self, out); }),
      BC_VALUE_METHOD("dot(b, out=None) The dot product with b.",
                      [](PyObject* self, const Array& b, const Array& out) { return dot(array_of(self), b, out); }),
      BC_METHOD("fill(value) Sets every element to one value.",
                [](PyObject* self, PyObject* given) {
                  const Array& a = writable(self, "fill");
                  const Arg value = to_element(given, to_stored_value(given, a.dtype(), a.device()), a.dtype());
                  if (value.array) warn_of_lost_imaginary(value.array.dtype(), a.dtype());
                  if (!put_row(a, value)) assign(a, value);
                }),
      BC_METHOD("take(indices, axis=None, out=None, mode='raise') The elements at indices along an axis.", take_method),
      BC_METHOD("put(indices, values, mode='raise') Sets the elements at flat indices.",
                [](PyObject* self, const Indices& indices, PyObject* given, std::string_view mode) {
                  const Array& a = writable(self, "put");
                  const Arg values = to_value(given, a.dtype(), a.device());
                  if (values.array) warn_of_lost_imaginary(values.array.dtype(), a.dtype());
                  if (mode == "raise" && is_integer(indices.array.dtype()) && values.weak != Weak::none &&
                      put_small(a, indices.array, values))
                    return;
                  if (mode == "raise") check_indices(indices.array, a.size(), 0);
                  put(a, indices.array, values, mode);
                }),
      BC_METHOD("repeat(repeats, axis=None) Each element several times, along an axis.", repeat_method),
      BC_METHOD("nonzero() The indices of the elements that are not zero.", nonzero_method),
      BC_METHOD("diagonal(offset=0, axis1=0, axis2=1) A diagonal, as a view.",
                [](PyObject* self, int64_t offset, int64_t axis1, int64_t axis2) {
                  return PyRef::steal(wrap_view(diagonal(array_of(self), offset, axis1, axis2), self, true));
                }),
      BC_VALUE_METHOD("trace(offset=0, axis1=0, axis2=1, dtype=None, out=None) The sum of a diagonal.",
                      [](PyObject* self, int64_t offset, int64_t axis1, int64_t axis2, std::optional<DType> dtype, const Array& out) {
                        return trace(warned(array_of(self), dtype, out), offset, axis1, axis2, dtype, out);
                      }),
      raw("reshape", reshape_method,
          "reshape($self, /, *shape, order='C', copy=None)\n--\n\nthe same elements under another shape; a view where that is possible."),
      raw("transpose", transpose_method, "transpose($self, /, *axes)\n--\n\nthe axes reversed or in the given order; a view."),
      raw("resize", resize_method,
          "resize($self, /, *shape, refcheck=True)\n--\n\nchanges the array's shape and size in place; new elements are 0."),
      BC_METHOD("as_integer_ratio() The number of a 0-d array as a pair of integers.", number_method<0>),
      BC_METHOD("is_integer() Whether the number of a 0-d array is a whole one.", number_method<1>),
      raw("item", item_method, "item($self, /, *index)\n--\n\none element as a Python number."),
      BC_METHOD("ravel(order='C') The elements in one axis; a view where that is possible.",
                [](PyObject* self, char order) { return contiguous_ravel(array_of(self), order); }),
      BC_METHOD("flatten(order='C') The elements in one axis, copied.",
                [](PyObject* self, char order) { return flatten(array_of(self), order); }),
      BC_METHOD("swapaxes(axis1, axis2, /) Two axes exchanged; a view.",
                [](PyObject* self, int64_t axis1, int64_t axis2) { return swapaxes(array_of(self), axis1, axis2); }),
      BC_METHOD("squeeze(axis=None) The axes of extent 1 dropped; a view.",
                [](PyObject* self, const ReducedAxes& axis) { return itself_or_view(self, squeeze(array_of(self), axis.value)); }),
      BC_METHOD("astype(dtype, order='K', casting='unsafe', subok=True, copy=True, *, device=None) The elements cast to another dtype.",
                [](PyObject* self, PyObject* dtype, PyObject* order, Casting casting, bool subok, PyObject* copy_it, PyObject* device) {
                  if (is_copy_mode(copy_it))
                    throw_python(PyExc_ValueError, "_CopyMode enum is not allowed for astype function. Use true/false instead.");
                  return astype_method(self, dtype, order, casting, subok, to_bool(copy_it), device);
                }),
      BC_METHOD("copy(order='C') A new array with the same elements.",
                [](PyObject* self, char order) {
                  Array made = copy(array_of(self), order);
                  return steal(as_py_array(self)->scalar ? wrap_value(std::move(made)) : wrap(std::move(made)));
                }),
      BC_METHOD("view(dtype=..., type=None) The same memory, seen as another dtype.", view_method),
      BC_METHOD(
          "byteswap(inplace=False) The elements with their bytes in the other order: of numbers written by a machine of the other kind.\n\n"
          "Parameters\n----------\ninplace : bool\n    Changes the array itself and returns it.\n\n"
          "Examples\n--------\n>>> bc.array([1, 256], dtype='int16').byteswap()\narray([256,   1], dtype=int16)",
          byteswap_method),
      BC_METHOD("getfield(dtype, offset=0) A part of each element, seen as another dtype; a view.\n\n"
                "Parameters\n----------\ndtype : dtype\n    What the part is seen as; not longer than an element.\n"
                "offset : int\n    Where the part begins, in bytes; a multiple of the part's size.\n\n"
                "Examples\n--------\n>>> bc.array([1 + 2j, 3 + 4j]).getfield('float64', 8)\narray([2., 4.])",
                [](PyObject* self, PyObject* dtype, int64_t offset) {
                  return call(import_attr("broadcloth._indexing", "_getfield").get(), {self, dtype, to_py(offset).get()});
                }),
      BC_METHOD("setfield(val, dtype, offset=0) Stores values into a part of each element; see getfield.\n\n"
                "Examples\n--------\n>>> a = bc.array([1 + 2j, 3 + 4j])\n>>> a.setfield(0, 'float64', 8)\n>>> a\n"
                "array([1.+0.j, 3.+0.j])",
                [](PyObject* self, PyObject* value, PyObject* dtype, int64_t offset) {
                  PyRef part = call(import_attr("broadcloth._indexing", "_getfield").get(), {self, dtype, to_py(offset).get()});
                  set_item(part.get(), Py_Ellipsis, value);
                }),
      BC_METHOD("scatter_add(slices, value) a[slices] += value, where an element that is named several times takes all of its values.\n\n"
                "Examples\n--------\n>>> a = bc.zeros(3)\n>>> a.scatter_add(bc.array([1, 1]), 2.0)\n>>> a\narray([0., 4., 0.])",
                scatter<0>),
      BC_METHOD("scatter_max(slices, value) The larger of a[slices] and value is stored; see scatter_add.\n\n"
                "Examples\n--------\n>>> a = bc.zeros(3)\n>>> a.scatter_max(bc.array([1, 1]), bc.array([2.0, 5.0]))\n>>> a\n"
                "array([0., 5., 0.])",
                scatter<1>),
      BC_METHOD("scatter_min(slices, value) The smaller of a[slices] and value is stored; see scatter_add.\n\n"
                "Examples\n--------\n>>> a = bc.zeros(3)\n>>> a.scatter_min(bc.array([1, 1]), bc.array([-2.0, 5.0]))\n>>> a\n"
                "array([ 0., -2.,  0.])",
                scatter<2>),
      BC_METHOD("tolist() The elements as nested lists of Python numbers.", tolist),
      variadic("tobytes", tobytes_method, "tobytes($self, /, order='C')\n--\n\nthe elements' bytes."),
      variadic("tofile", host_method<1>, "tofile($self, /, fid, sep='', format='%s')\n--\n\nwrites the elements, as numpy.ndarray.tofile."),
      variadic("dump", host_method<2>, "dump($self, /, file)\n--\n\npickles a NumPy copy to a file."),
      variadic("dumps", host_method<3>, "dumps($self, /)\n--\n\na NumPy copy, pickled."),
      variadic("argpartition", package_method<0>,
               "argpartition($self, /, kth, axis=-1, kind='introselect', order=None)\n--\n\nSee broadcloth.argpartition."),
      variadic("argsort", package_method<1>,
               "argsort($self, /, axis=-1, kind=None, order=None, *, stable=None, descending=None)\n--\n\nSee broadcloth.argsort."),
      variadic("choose", package_method<2>, "choose($self, /, choices, out=None, mode='raise')\n--\n\nSee broadcloth.choose."),
      variadic("compress", package_method<3>, "compress($self, /, condition, axis=None, out=None)\n--\n\nSee broadcloth.compress."),
      variadic("searchsorted", package_method<4>,
               "searchsorted($self, /, v, side='left', sorter=None)\n--\n\nSee broadcloth.searchsorted."),
      variadic("partition", package_method<5>,
               "partition($self, /, kth, axis=-1, kind='introselect', order=None)\n--\n\nPartitions in place; see broadcloth.partition."),
      variadic(
          "sort", package_method<6>,
          "sort($self, /, axis=-1, kind=None, order=None, *, stable=None, descending=None)\n--\n\nSorts in place; see broadcloth.sort."),
      BC_METHOD("numpy() A NumPy array with the elements.", [](PyObject* self) { return to_host_array(array_of(self), "numpy", 'K'); }),
      BC_METHOD("to_device(device, /, *, stream=None) The array on another device; itself when it is there.", to_device_method),
      BC_METHOD("to(target=None, /, *, dtype=None, device=None, copy=False) The array with another dtype or on another device.", to_method),
      BC_METHOD("cpu() The array on the CPU.", [](PyObject* self) { return move_to(self, {DeviceType::cpu, 0}); }),
      BC_METHOD("cuda() The array on the first GPU.", [](PyObject* self) { return move_to(self, {DeviceType::cuda, 0}); }),
      BC_METHOD("__array__(dtype=None, copy=None)", array_dunder),
      BC_METHOD("__format__(spec, /)", format_method),
      BC_METHOD("__reduce__()", reduce_dunder),
      BC_METHOD("__complex__()", complex_dunder),
      BC_METHOD("__round__(ndigits=None)", round_dunder),
      BC_METHOD("__trunc__()", trunc_dunder),
      BC_METHOD("__sizeof__()",
                [](PyObject* self) {
                  const Array& a = array_of(self);
                  return static_cast<int64_t>(sizeof(PyArray)) + (as_py_array(self)->base ? 0 : a.size() * itemsize(a.dtype()));
                }),
      BC_METHOD("__copy__()", [](PyObject* self) { return copied(self); }),
      BC_METHOD("__deepcopy__(memo, /)", [](PyObject* self, PyObject*) { return copied(self); }),
      array_ufunc_method(),
      array_function_method(),
      BC_METHOD("__array_namespace__(*, api_version=None) The module; ValueError where it does not follow that version of the standard.",
                [](PyObject*, PyObject* version) {
                  if (version && version != Py_None) call(import_attr("broadcloth._array_api", "check_version").get(), {version});
                  return import("broadcloth");
                }),
      {"__class_getitem__", class_getitem, METH_O | METH_CLASS, nullptr},
  };
  list->insert(list->end(), methods.begin(), methods.end());
  add_stream_methods(list);
}

}  // namespace bc::bind
