// broadcloth.ndarray: the type, its life, its attributes and how it prints.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <new>

#include "array/history.h"
#include "array/record.h"
#include "autograd/graph.h"
#include "bind/args.h"
#include "bind/autograd.h"
#include "bind/documentation.h"
#include "bind/launch.h"
#include "bind/program.h"
#include "bind/subclass.h"
#include "bind/values.h"
#include "bind/waits.h"
#include "bind/warnings.h"
#include "runtime/profiler.h"

namespace bc::bind {

// ---- Life ------------------------------------------------------------------------------------------------------------------------

namespace {

void clear_fields(PyArray* self) {
  new (&self->array) std::atomic<Array*>(nullptr);
  self->base = nullptr;
  self->weakrefs = nullptr;
  self->read_only = false;
  self->scalar = false;
}

/// A new object around `a`.
PyArray* allocate(Array&& a, PyTypeObject* type) {
  const bool base = type == state().array;
  if (!base) [[unlikely]]
    subclasses_used.store(true, std::memory_order_relaxed);
  PyArray* self = base ? PyObject_New(PyArray, type) : reinterpret_cast<PyArray*>(PyType_GenericAlloc(type, 0));
  if (!self) throw PythonError();
  clear_fields(self);
  self->array.store(new (&self->room) Array(std::move(a)), std::memory_order_release);
  return self;
}

void array_dealloc(PyObject* self) {
  PyArray* p = as_py_array(self);
  if (p->weakrefs) PyObject_ClearWeakRefs(self);
  PyTypeObject* type = Py_TYPE(self);
  if (Array* a = p->array.load(std::memory_order_acquire); a == &p->room)
    a->~Array();
  else
    delete a;
  Py_XDECREF(p->base);
  if (type == state().array) [[likely]]
    PyObject_Free(self);
  else
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

Dims reversed(const Dims& d) {
  Dims r = d;
  std::reverse(r.begin(), r.end());
  return r;
}

Dims strides_of(PyObject* given, int ndim, int64_t item) {
  Dims strides = to_shape(given);
  if (strides.size() != ndim) raise(ErrorKind::Value, "ndarray: expected {} strides, got {}", ndim, strides.size());
  for (int64_t& s : strides) {
    if (s % item) raise(ErrorKind::Value, "ndarray: expected strides of whole elements ({} bytes), got {}", item, s);
    s /= item;
  }
  return strides;
}

/// An array over memory that somebody else holds: an object with `ptr` (and `device`), which is kept as long as the array.
Array array_over(PyObject* memory, const Dims& shape, DType dtype, PyObject* strides, bool fortran, PyObject* device_given) {
  PyRef address = PyRef::steal(PyObject_GetAttrString(memory, "ptr"));
  void* data = PyLong_AsVoidPtr(address.get());
  if (PyErr_Occurred()) throw PythonError();
  PyRef where = attr_or_null(memory, state().names.device);
  const bool known = where && (is_exact(where.get(), state().device) || PyObject_HasAttrString(where.get(), "_device"));
  const Device device = to_device(device_given != Py_None ? device_given : known ? where.get() : Py_None);
  Layout layout;
  layout.shape = shape;
  const int64_t item = itemsize(dtype);
  if (strides != Py_None) {
    layout.strides = strides_of(strides, shape.size(), item);
  } else {
    layout.strides = contiguous_strides(fortran ? reversed(shape) : shape);
    if (fortran) layout.strides = reversed(layout.strides);
  }
  if (PyRef bytes = PyRef::maybe(PyObject_GetAttrString(memory, "size")); bytes && PyLong_Check(bytes.get()) && strides == Py_None) {
    const int64_t have = to_int(bytes.get(), "size");
    BC_CHECK(have <= 0 || layout.size() * item <= have, Value, "ndarray: the memory has {} bytes, shape {} of {} needs {}", have, shape,
             info(dtype).name, layout.size() * item);
  }
  PyErr_Clear();
  PyObject* owner = new_ref(memory);
  return from_foreign(data, dtype, layout, device, false, [owner] { release_object(owner); });
}

/// An array in the memory of another one, or of an object with Python's buffer interface. `offset` is in bytes.
PyRef array_in(PyObject* buffer, const Dims& shape, DType dtype, int64_t offset, PyObject* strides, bool fortran) {
  const PyRef bytes = to_py(std::string_view("uint8"));
  const PyRef held = is_array(buffer) ? PyRef::borrow(buffer) : call(import_attr("broadcloth", "frombuffer").get(), {buffer, bytes.get()});
  const Array& given = array_of(held.get());
  if (!given.contiguous()) throw_python(PyExc_ValueError, "ndarray is not C-contiguous");
  const int64_t item = itemsize(dtype), have = given.size() * itemsize(given.dtype()) - offset;
  if (offset < 0 || have < 0) throw_python(PyExc_ValueError, "offset must be non-negative and no greater than buffer length");
  Layout layout{shape, contiguous_strides(fortran ? reversed(shape) : shape), 0};
  if (fortran) layout.strides = reversed(layout.strides);
  if (strides != Py_None) layout.strides = strides_of(strides, shape.size(), item);
  int64_t low = 0, high = -1;
  bounds(layout, &low, &high);
  if (low <= high && (low < 0 || (high + 1) * item > have)) throw_python(PyExc_TypeError, "buffer is too small for requested array");
  SliceItem part;
  part.start = offset;
  part.has_start = part.has_stop = true;
  part.stop = offset + have / item * item;
  const Array rest = view_dtype(slice(view_dtype(reshape(given, Dims{given.size()}), DType::u8), {&part, 1}), dtype);
  layout.offset = rest.offset();
  return PyRef::steal(wrap_view(rest.with_layout(layout), held.get()));
}

/// Tells whether ndarray(...) is called as NumPy's (shape, dtype, buffer, offset, strides, order), not as CuPy's.
bool called_as_numpy(PyObject* args, PyObject* kwargs) {
  for (const char* name : {"buffer", "offset"})
    if (kwargs && PyDict_GetItemString(kwargs, name)) return true;
  const Py_ssize_t n = PyTuple_Size(args);
  PyObject* const memory = n > 2 ? PyTuple_GetItem(args, 2) : Py_None;
  return n > 5 || (n > 3 && PyLong_Check(PyTuple_GetItem(args, 3))) || (memory != Py_None && !PyObject_HasAttrString(memory, "ptr"));
}

PyRef new_as_numpy(PyObject* args, PyObject* kwargs) {
  static constinit Once<CallSignature> signature_once;
  const CallSignature& signature =
      signature_once.get("ndarray(shape, dtype=None, buffer=None, offset=0, strides=None, order='C', *, device=None)");
  PyObject* values[7];
  VectorArguments(args, kwargs).bind(signature, values);
  const Dims shape = to_shape(values[0]);
  const DType dtype = to_dtype_or_none(values[1]).value_or(DType::f64);
  const int64_t offset = to_int(values[3], "offset");
  if (values[2] != Py_None) return array_in(values[2], shape, dtype, offset, values[4], to_order(values[5]) == 'F');
  const PyRef own = tuple_of({values[0], values[1], Py_None, values[4], values[5] == Py_None ? to_py("C").get() : values[5]});
  const PyRef named = PyRef::steal(PyDict_New());
  check(PyDict_SetItem(named.get(), state().names.device, values[6]));
  return PyRef::steal(PyObject_Call(reinterpret_cast<PyObject*>(state().array), own.get(), named.get()));
}

Array new_as_cupy(PyObject* args, PyObject* kwargs) {
  static constinit Once<CallSignature> signature_once;
  const CallSignature& signature = signature_once.get("ndarray(shape, dtype=None, memptr=None, strides=None, order='C', *, device=None)");
  PyObject* values[6];
  VectorArguments(args, kwargs).bind(signature, values);
  const Dims shape = to_shape(values[0]);
  const DType dtype = to_dtype_or_none(values[1]).value_or(DType::f64);
  const bool fortran = to_order(values[4]) == 'F';
  if (values[2] != Py_None) return array_over(values[2], shape, dtype, values[3], fortran, values[5]);
  const Device device = to_device(values[5]);
  if (values[3] != Py_None) {
    // Memory of its own, as much as the strides span.
    Layout layout{shape, strides_of(values[3], shape.size(), itemsize(dtype)), 0};
    int64_t low = 0, high = 0;
    bounds(layout, &low, &high);
    layout.offset = -low;
    return empty(Dims{layout.size() ? high - low + 1 : 0}, dtype, device).with_layout(layout);
  }
  return fortran ? transpose(empty(reversed(shape), dtype, device)) : empty(shape, dtype, device);
}

PyObject* array_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    PyRef made = called_as_numpy(args, kwargs) ? new_as_numpy(args, kwargs) : PyRef::steal(wrap(new_as_cupy(args, kwargs)));
    if (type == state().array) return made.release();
    made = in_class(made.get(), type);
    finalize(made.get(), Py_None);
    return made.release();
  });
}

}  // namespace

PyObject* wrap(Array a) { return wrap_as(state().array, std::move(a)); }

PyObject* wrap_as(PyTypeObject* type, Array a) { return reinterpret_cast<PyObject*>(allocate(std::move(a), type)); }

PyObject* wrap_value(Array a) {
  PyObject* made = wrap(std::move(a));
  as_py_array(made)->scalar = array_of(made).ndim() == 0;
  return made;
}

PyArray* new_element() {
  auto* self = static_cast<PyArray*>(PyObject_Malloc(offsetof(PyArray, element) + sizeof(Element)));
  if (!self) throw_python(PyExc_MemoryError, "no memory for an element");
  PyObject_Init(reinterpret_cast<PyObject*>(self), state().array);
  clear_fields(self);
  new (&self->element) Element;
  self->scalar = true;
  return self;
}

Array* make_array_of_bare(PyArray* self) {
  auto made = std::make_unique<Array>(array_of_one(self->element));
  Array* first = nullptr;  // of two threads that ask at once one makes the array
  return self->array.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel) ? made.release() : first;
}

bool is_known_number(PyObject* o) {
  if (!is_array(o)) return false;
  if (is_bare(o)) return true;
  // Scalars of a subclass keep their class, and are recorded.
  if (!as_py_array(o)->scalar || Py_TYPE(o) != state().array) return false;
  const Array& a = array_of(o);
  if (a.device().type != DeviceType::cpu) return false;
  if (!storage_facts(a).pending) return true;
  if (!chains_numbers(a)) return false;
  without_gil_unless(short_running(a.device()), [&] { data(a); });
  return true;
}

/// The element that `compute` sets: a bare one, or NumPy's scalar in a program that was written for NumPy and has no subclasses, which
/// give an element their class. nullptr if it returns false.
template <class Compute>
PyObject* computed_element(Compute&& compute) {
  PyArray* made = new_element();
  PyObject* result = nullptr;
  if (compute(&made->element)) [[likely]] {
    const bool bare = !program_mode.load(std::memory_order_relaxed) || subclasses_used.load(std::memory_order_relaxed);
    if (bare || !numpy_has(made->element.dtype)) [[likely]]
      return reinterpret_cast<PyObject*>(made);
    result = to_numpy_scalar(made->element).release();
  }
  Py_DECREF(made);
  return result;
}

PyObject* apply_bare(Op op, std::span<PyObject* const> operands) {
  ElementTerm terms[3];
  Element computed[3];
  for (size_t k = 0; k < operands.size(); ++k) {
    PyObject* o = operands[k];
    if (is_bare(o)) {
      terms[k].element = &as_py_array(o)->element;
    } else if (is_known_number(o)) {
      // A sum that was recorded and is computed by now.
      if (!pick_one(array_of(o), &computed[k])) return nullptr;
      terms[k].element = &computed[k];
    } else if (read_numpy_scalar(o, DType::f64, &computed[k]) || read_numpy_scalar(o, DType::i64, &computed[k])) {
      terms[k].element = &computed[k];
    } else if (PyFloat_CheckExact(o)) {
      terms[k].weak = Weak::real;
      terms[k].value = Scalar::real(PyFloat_AsDouble(o));
    } else if (PyLong_CheckExact(o)) {
      int overflow = 0;
      terms[k].weak = Weak::integer;
      terms[k].value = Scalar::integer(PyLong_AsLongLongAndOverflow(o, &overflow));
      if (overflow) return nullptr;
    } else {
      return nullptr;
    }
  }
  return computed_element([&](Element* made) { return apply_one(op, {terms, operands.size()}, made); });
}

PyObject* reduce_bare(Op op, const Array& a) {
  return computed_element([&](Element* made) { return reduce_small(op, a, made); });
}

PyObject* wrap_view(Array a, PyObject* from, bool read_only) {
  PyArray* source = as_py_array(from);
  // What is written to an array that is made of a scalar is not seen in the scalar.
  if (source->scalar && !read_only) [[unlikely]]
    return wrap(copy(a));
  // A view that is made without grad mode is a constant for derivatives.
  if (history_observer() && a.history() && !autograd::grad_enabled()) [[unlikely]]
    a = a.detached();
  PyRef made = PyRef::steal(wrap_as(Py_TYPE(from), std::move(a)));
  PyArray* self = as_py_array(made.get());
  self->base = new_ref(source->base ? source->base : from);
  self->read_only = read_only || source->read_only;
  if (of_subclass(from)) finalize(made.get(), from);
  return made.release();
}

PyObject* wrap_like(Array a, PyObject* from) {
  if (a.storage() == array_of(from).storage()) return wrap_view(std::move(a), from);
  PyRef made = PyRef::steal(wrap_as(Py_TYPE(from), std::move(a)));
  if (of_subclass(from)) finalize(made.get(), from);
  return made.release();
}

PyRef itself_or_view(PyObject* from, Array a) {
  const Array& given = array_of(from);
  const bool same = a.storage() == given.storage() && a.dtype() == given.dtype() && a.layout() == given.layout();
  return same ? PyRef::borrow(from) : PyRef::steal(wrap_like(std::move(a), from));
}

const Array& writable(PyObject* o, const char* op) {
  if (!is_array(o)) raise(ErrorKind::Type, "{}: expected a broadcloth.ndarray for the output, got {}", op, type_name(o));
  if (as_py_array(o)->read_only) raise(ErrorKind::Value, "{}: output array is read-only", op);
  return array_of(o);
}

// ---- Lines -----------------------------------------------------------------------------------------------------------------------

std::atomic<bool> LineNote::trace{false};

bool LineNote::wanted() { return trace.load(std::memory_order_relaxed) || profiling(); }

void LineNote::note() {
  const SourceLine at = program_line();
  if (!at.file) return;
  set_source_location(at.file, at.line);
  noted_ = true;
}

SourceLine program_line() {
  // The innermost frame outside the package. Names are kept for ever: nodes hold the pointer, and programs have few files.
  PyRef frame = PyRef::maybe(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame) {
    auto* f = reinterpret_cast<PyFrameObject*>(frame.get());
    PyRef code = PyRef::maybe(reinterpret_cast<PyObject*>(PyFrame_GetCode(f)));
    PyRef file = PyRef::maybe(PyObject_GetAttr(code.get(), state().names.co_filename));
    if (!file || !PyUnicode_Check(file.get())) break;
    const std::string_view name = as_string(file.get());
    if (name.find("/broadcloth/") == std::string_view::npos || name.find("/tests/") != std::string_view::npos)
      return {interned(name), PyFrame_GetLineNumber(f)};
    frame = PyRef::maybe(PyObject_GetAttr(frame.get(), state().names.f_back));
    if (frame.get() == Py_None) break;
  }
  PyErr_Clear();
  return {};
}

// ---- Values ----------------------------------------------------------------------------------------------------------------------

PyRef to_python(const Scalar& s, DType dtype) {
  if (is_time(dtype)) [[unlikely]]
    return call(attr(to_numpy_scalar(s, dtype).get(), "item").get(), {});
  if (is_bool(dtype)) return PyRef::steal(PyBool_FromLong(s.i != 0));
  if (is_complex(dtype)) return PyRef::steal(PyComplex_FromDoubles(s.f, s.imag));
  if (is_real_float(dtype)) return PyRef::steal(PyFloat_FromDouble(s.f));
  if (s.dtype == DType::u64) return PyRef::steal(PyLong_FromUnsignedLongLong(s.u));
  return PyRef::steal(PyLong_FromLongLong(s.i));
}

bool is_small(PyObject* const* args, int n) {
  if (n == 0 || !is_array(args[0])) return false;
  for (int k = 0; k < n; ++k)
    if (is_array(args[k]) && !is_small(array_of(args[k]))) return false;
  return true;
}

Scalar look(const Array& a) {
  const Wait wait(a);
  const Scalar seen = without_gil_unless(short_running(a.device()), [&] { return item(a); });
  if (a.storage()->notice.load(std::memory_order_relaxed)) [[unlikely]]
    give_notice(a, std::isnan(seen.as_double()));
  return seen;
}

void give_notice(const Array& a, bool nan) {
  const char* text = nan ? a.storage()->notice.exchange(nullptr, std::memory_order_relaxed) : nullptr;
  if (text) warn(PyExc_RuntimeWarning, text);
}

namespace {

/// The array with a host dtype that NumPy prints, and the words that name its own.
PyObject* format_array(PyObject* self, bool repr) {
  return guard([&]() -> PyObject* {
    if (is_bare(self) && !repr && numpy_has(array_dtype(self)))
      return PyObject_Str(to_numpy_scalar(as_py_array(self)->element.scalar(), array_dtype(self)).get());
    const Array& a = array_of(self);
    if (repr && program_mode && as_py_array(self)->scalar && a.ndim() == 0 && numpy_has(a.dtype()))
      return PyObject_Repr(to_numpy_scalar(look(a), a.dtype()).get());
    PyRef host = to_numpy(a);
    if (!repr) return PyObject_Str(host.get());
    if (of_subclass(self)) host = call(import_attr("broadcloth._subclasses", "named").get(), {host.get(), to_py(type_name(self)).get()});
    if (numpy_has(a.dtype())) return PyObject_Repr(host.get());
    PyRef text = PyRef::steal(PyObject_Repr(host.get()));
    std::string s(as_string(text.get()));
    const size_t at = s.rfind("dtype=float32");
    if (at != std::string::npos) s.replace(at, 13, "dtype=" + std::string(info(a.dtype()).name));
    return to_py(s).release();
  });
}

}  // namespace

PyObject* array_repr(PyObject* self) { return format_array(self, true); }
PyObject* array_str(PyObject* self) { return format_array(self, false); }

// ---- Attributes ------------------------------------------------------------------------------------------------------------------

namespace {

template <PyRef (*F)(PyObject* self)>
PyObject* getter(PyObject* self, void*) {
  return guard([&] { return F(self).release(); });
}
template <void (*F)(PyObject* self, PyObject* value)>
int setter(PyObject* self, PyObject* value, void*) {
  return guard(-1, [&] {
    if (!value) throw_python(PyExc_AttributeError, "attributes of an array cannot be deleted");
    F(self, value);
    return 0;
  });
}

PyRef get_dtype(PyObject* self) { return PyRef::borrow(dtype_object(array_of(self).dtype())); }
void set_dtype(PyObject* self, PyObject* value) { array_of(self) = view_dtype(array_of(self), to_dtype(value)); }
PyRef get_shape(PyObject* self) { return shape_tuple(array_of(self).shape()); }
void set_shape(PyObject* self, PyObject* value) {
  Array view = reshape(array_of(self), to_shape(value));
  if (view.storage() != array_of(self).storage())
    throw_python(PyExc_AttributeError,
                 "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.");
  array_of(self) = std::move(view);
}
PyRef get_strides(PyObject* self) { return shape_tuple(array_of(self).strides(), itemsize(array_of(self).dtype())); }
PyRef get_ndim(PyObject* self) { return to_py(int64_t{array_of(self).ndim()}); }
PyRef get_size(PyObject* self) { return to_py(array_of(self).size()); }
PyRef get_itemsize(PyObject* self) { return to_py(int64_t{itemsize(array_of(self).dtype())}); }
PyRef get_nbytes(PyObject* self) { return to_py(array_of(self).size() * itemsize(array_of(self).dtype())); }
PyRef get_base(PyObject* self) {
  PyObject* base = as_py_array(self)->base;
  return PyRef::borrow(base ? base : Py_None);
}
/// The real or imaginary part, a view of `self`; of a scalar another scalar, which is a view too: what is written to `x.imag[...]` must
/// reach `x`.
PyRef part_of(Array a, PyObject* self) {
  if (!as_py_array(self)->scalar) return PyRef::steal(wrap_like(std::move(a), self));
  if (history_observer() && a.history() && !autograd::grad_enabled()) [[unlikely]]
    a = a.detached();
  PyRef part = PyRef::steal(wrap_value(std::move(a)));
  as_py_array(part.get())->read_only = as_py_array(self)->read_only;
  return part;
}
PyRef get_t(PyObject* self) {
  const Array t = transpose(array_of(self));
  return PyRef::steal(as_py_array(self)->scalar ? wrap_value(copy(t)) : wrap_like(t, self));
}
PyRef get_mt(PyObject* self) {
  if (array_of(self).ndim() < 2) throw_python(PyExc_ValueError, "matrix transpose with ndim < 2 is undefined");
  return PyRef::steal(wrap_view(matrix_transpose(array_of(self)), self));
}
PyRef get_real(PyObject* self) {
  if (!is_complex(array_of(self).dtype())) return PyRef::borrow(self);
  return part_of(real(array_of(self)), self);
}
PyRef get_imag(PyObject* self) {
  PyRef made = part_of(imag(array_of(self)), self);
  // NumPy's zeros for real arrays cannot be written either.
  if (!is_complex(array_of(self).dtype())) as_py_array(made.get())->read_only = true;
  return made;
}
/// What is assigned to a part of complex numbers: numbers come as arrays, which are cast unchecked. An integer past 64 bits is no array of
/// its own, and must fit.
Array part_value(PyObject* value, const Array& a) {
  const DType part = real_type(a.dtype());
  const Arg given = to_cast_value(value, part, a.device());
  const bool big = given.weak == Weak::integer && given.value.dtype == DType::f64;
  const Array made = big ? stored(given, part, a.device()) : bc::as_array(given, a.device());
  warn_of_lost_imaginary(made.dtype(), part);
  return made;
}
void set_real(PyObject* self, PyObject* value) {
  const Array& a = writable(self, "real");
  assign(real(a), part_value(value, a));
}
void set_imag(PyObject* self, PyObject* value) {
  if (!is_complex(array_of(self).dtype())) throw_python(PyExc_TypeError, "array does not have imaginary part to set");
  const Array& a = writable(self, "imag");
  assign(imag(a), part_value(value, a));
}
PyRef get_device(PyObject* self) { return device_object(array_of(self).device()); }
/// What `isinstance` asks besides the type: in a program that was written for NumPy its elements and sums are numpy.float64 and so on.
PyRef get_class(PyObject* self) {
  const PyArray* p = as_py_array(self);
  PyObject* type =
      program_mode && p->scalar && (is_bare(self) || array_of(self).ndim() == 0) ? numpy_scalar_type(array_dtype(self)) : nullptr;
  return PyRef::borrow(type ? type : reinterpret_cast<PyObject*>(Py_TYPE(self)));
}
PyRef get_priority(PyObject* self) { return PyRef::steal(PyFloat_FromDouble(of_subclass(self) ? 0.0 : 100.0)); }

PyGetSetDef attributes[] = {
    {"dtype", getter<get_dtype>, setter<set_dtype>, "The elements' type, a numpy.dtype.", nullptr},
    {"shape", getter<get_shape>, setter<set_shape>, "The extents; setting them is a reshape that never copies.", nullptr},
    {"strides", getter<get_strides>, nullptr, "Bytes from one element to the next along each axis.", nullptr},
    {"ndim", getter<get_ndim>, nullptr, "Number of axes.", nullptr},
    {"size", getter<get_size>, nullptr, "Number of elements.", nullptr},
    {"itemsize", getter<get_itemsize>, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", getter<get_nbytes>, nullptr, "Bytes of all elements.", nullptr},
    {"base", getter<get_base>, nullptr, "The array that this one is a view of, or None.", nullptr},
    {"T", getter<get_t>, nullptr, "The axes reversed; a view.", nullptr},
    {"mT", getter<get_mt>, nullptr, "The last two axes swapped; a view.", nullptr},
    {"real", getter<get_real>, setter<set_real>, "The real part; a view.", nullptr},
    {"imag", getter<get_imag>, setter<set_imag>, "The imaginary part; a view of a complex array, zeros otherwise.", nullptr},
    {"device", getter<get_device>, nullptr, "Where the array lives; equal to a string such as 'cuda:0'.", nullptr},
    {"__class__", getter<get_class>, nullptr, nullptr, nullptr},
    {"__array_priority__", getter<get_priority>, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyArray, weakrefs), READONLY, nullptr}, {}};

constexpr const char* kDoc =
    "ndarray(shape, dtype='float64', memptr=None, strides=None, order='C', *more, device=None, buffer=None, offset=0)\n--\n\n"
    "An array of numbers on a device, as numpy.ndarray. Operations on it are recorded and run, fused, when somebody looks at a value.\n\n"
    "Called, it makes an array whose elements are not set; `array`, `zeros` and their kin make most. `memptr` is an object with the "
    "address\n"
    "of memory, as CuPy has them. NumPy's form, `ndarray(shape, dtype, buffer, offset, strides, order)`, is an array in the memory of\n"
    "another one or of an object with Python's buffer interface. Classes may derive from it; docs/differences.md says what they are "
    "told.\n\n"
    "Examples\n--------\n>>> bc.ndarray((2, 3), dtype='float32').shape\n(2, 3)\n";

Py_hash_t hash_of_value(const Scalar& value, DType dtype) {
  const Py_hash_t hash = PyObject_Hash(to_python(value, dtype).get());
  if (hash == -1) throw PythonError();
  return hash;
}

/// Elements and sums are dictionary keys and members of sets, as NumPy's scalars are; arrays are not.
Py_hash_t hash_of_element(PyObject* self) {
  return guard(Py_hash_t(-1), [&] {
    if (is_bare(self)) return hash_of_value(as_py_array(self)->element.scalar(), as_py_array(self)->element.dtype);
    const Array& a = array_of(self);
    const HiddenWait hidden("hash (a key of a dictionary, a member of a set)");
    if (!as_py_array(self)->scalar || a.ndim() > 0)
      raise(ErrorKind::Type, "unhashable type: '{}'", of_subclass(self) ? type_name(self) : "broadcloth.ndarray");
    return hash_of_value(look(a), a.dtype());
  });
}

}  // namespace

void add_attributes(std::vector<PyGetSetDef>* list) { list->insert(list->end(), std::begin(attributes), std::end(attributes)); }

PyTypeObject* add_type(PyObject* module, PyType_Spec* spec, const char* name) {
  PyRef type = PyRef::steal(PyType_FromModuleAndSpec(module, spec, nullptr));
  if (name) check(PyModule_AddObjectRef(module, name, type.get()));
  return reinterpret_cast<PyTypeObject*>(type.release());
}

void init_array(PyObject* module) {
  // The interpreter keeps pointers into these tables.
  static std::vector<PyGetSetDef> all_attributes;
  static std::vector<PyMethodDef> all_methods;
  add_attributes(&all_attributes);
  add_holder_attributes(&all_attributes);
  add_interop_attributes(&all_attributes);
  add_autograd_attributes(&all_attributes);
  all_attributes.push_back({});
  add_methods(&all_methods);
  add_holder_methods(&all_methods);
  add_interop_methods(&all_methods);
  add_subclass_methods(&all_methods);
  add_autograd_methods(&all_methods);
  all_methods.push_back({});
  keep_documented("ndarray.", all_methods.data());

  std::vector<PyType_Slot> slots = {
      {Py_tp_new, reinterpret_cast<void*>(array_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(array_dealloc)},
      {Py_tp_repr, reinterpret_cast<void*>(array_repr)},
      {Py_tp_str, reinterpret_cast<void*>(array_str)},
      {Py_tp_getset, all_attributes.data()},
      {Py_tp_methods, all_methods.data()},
      {Py_tp_members, members},
      {Py_tp_hash, reinterpret_cast<void*>(hash_of_element)},
      {Py_tp_doc, const_cast<char*>(kDoc)},
  };
  add_number_slots(&slots);
  add_index_slots(&slots);
  add_buffer_slots(&slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"broadcloth.ndarray", sizeof(PyArray), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  state().array = add_type(module, &spec, "ndarray");
}

}  // namespace bc::bind
