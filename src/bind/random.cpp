// NumPy's streams of random numbers, whose state Python keeps.
#include "bind/random.h"

#include <structmember.h>

#include "array/placement.h"
#include "bind/args.h"
#include "bind/array.h"
#include "bind/convert.h"
#include "bind/vectorcall.h"
#include "codegen/device_library.h"
#include "ops/random_stream.h"

namespace bc::bind {
namespace {

pcg::Kind kind_of(std::string_view name) {
  if (name == "uniform") return pcg::Kind::uniform;
  if (name == "integers") return pcg::Kind::integers;
  if (name == "normal") return pcg::Kind::normal;
  if (name == "exponential") return pcg::Kind::exponential;
  raise(ErrorKind::Value, "pcg: expected 'uniform', 'integers', 'normal' or 'exponential', got '{}'", name);
}

unsigned __int128 joined(uint64_t high, uint64_t low) { return static_cast<unsigned __int128>(high) << 64 | low; }

/// (array, the state's upper and lower 64 bits, whether half a word is left, this half)
PyRef draw_pcg(std::string_view kind, const Dims& shape, DType dtype, bool dxsm, uint64_t state_high, uint64_t state_low,
               uint64_t increment_high, uint64_t increment_low, bool has_half, uint64_t half, bool affine, double low, double scale,
               uint64_t first, uint64_t span, uint64_t one, Device device) {
  pcg::State state{joined(state_high, state_low), joined(increment_high, increment_low), dxsm, has_half, static_cast<uint32_t>(half)};
  pcg::Draw what{kind_of(kind), dtype};
  what.affine = affine;
  what.low = low;
  what.scale = scale;
  what.first = first;
  what.span = span;
  what.one = reinterpret_cast<void*>(one);
  device = placed(device, shape);
  Array drawn;
  {
    const GilRelease released;
    drawn = random_stream(state, what, shape, device);
  }
  const auto number = [](uint64_t n) { return PyRef::steal(PyLong_FromUnsignedLongLong(n)); };
  return tuple_of({PyRef::steal(wrap(std::move(drawn))).get(), number(static_cast<uint64_t>(state.state >> 64)).get(),
                   number(static_cast<uint64_t>(state.state)).get(), number(state.has_half ? 1 : 0).get(), number(state.half).get()});
}

// ---- Methods that NumPy's generators have too ------------------------------------------------------------------------------------------

/// A method of Generator or RandomState. A call with numbers alone that draws a few is NumPy's own, with nothing to convert and nothing to
/// share out among threads; any other call is the Python function's.
struct PyDrawMethod {
  PyObject_HEAD Vectorcall vectorcall;
  PyObject* python;
  PyObject* numpys;
  Py_ssize_t place;  ///< of the parameter that says how many are drawn; below 0: any number is a few
};
PyDrawMethod* as_draw(PyObject* o) { return reinterpret_cast<PyDrawMethod*>(o); }

constexpr long long kFewDrawn = 4096;     // as LEAST in random/_parallel.py
constexpr Py_ssize_t kFewArguments = 16;  // of a call, and items of a list

/// Whether an object is a number of the CPU's, of an op perhaps that waits, and no derivative is recorded of it.
bool is_element(PyObject* o) {
  if (!is_array(o) || (array_dtype(o) != DType::f64 && array_dtype(o) != DType::i64)) return false;
  if (is_bare(o)) return true;
  const Array& a = array_of(o);
  return a.ndim() == 0 && traits(a.device()).on_host && !a.history();
}
PyRef element_number(PyObject* o) { return to_python(is_bare(o) ? as_py_array(o)->element.scalar() : look(array_of(o)), array_dtype(o)); }
bool is_number(PyObject* o) { return PyFloat_CheckExact(o) || PyLong_CheckExact(o) || o == Py_None; }
bool is_plain(PyObject* o) {
  if (is_number(o)) return true;
  const bool list = PyList_CheckExact(o);
  if (!list && !PyTuple_CheckExact(o)) return false;
  const Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);
  if (n > kFewArguments) return false;
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!is_number(list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i))) return false;
  return true;
}

/// Whether a size means few numbers; of what is no size, NumPy decides.
bool is_few(PyObject* size) {
  if (PyTuple_CheckExact(size)) {
    long long all = 1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(size); ++i) {
      PyObject* extent = PyTuple_GetItem(size, i);
      if (!PyLong_CheckExact(extent)) return false;
      int over = 0;
      if (__builtin_mul_overflow(all, PyLong_AsLongLongAndOverflow(extent, &over), &all) || over) return false;
    }
    return all < kFewDrawn;
  }
  if (size == Py_None) return true;
  if (is_array(size)) return is_element(size) && array_dtype(size) == DType::i64 && is_few(element_number(size).get());
  int over = 0;
  return PyLong_CheckExact(size) && PyLong_AsLongLongAndOverflow(size, &over) < kFewDrawn && over == 0;
}

/// The arguments of NumPy's method.
class PlainArguments {
 public:
  /// Returns whether the call is a plain one.
  bool read(const PyDrawMethod* method, PyObject* const* args, Py_ssize_t n, PyObject* names) {
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0, all = n + named;
    if (n < 1 || all > kFewArguments || named > 1 || (named && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "size") != 0))
      return false;
    for (Py_ssize_t i = 1; i < all; ++i)
      if (!is_plain(args[i]) && !is_element(args[i])) return false;
    const Py_ssize_t place = method->place + 1;
    if (method->place >= 0 && ((n > place && !is_few(args[place])) || (named && !is_few(args[n])))) return false;
    held_[0] = attr_or_null(args[0], BC_INTERNED("_numpy"));
    for (Py_ssize_t i = 1; i < all; ++i)
      if (is_array(args[i])) held_[i] = element_number(args[i]);
    for (Py_ssize_t i = 0; i < all; ++i) values_[i] = held_[i] ? held_[i].get() : args[i];
    return static_cast<bool>(held_[0]);
  }
  PyObject* const* values() const { return values_; }

 private:
  PyRef held_[kFewArguments];
  PyObject* values_[kFewArguments];
};

PyObject* call_draw(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* names) {
  return guard([&]() -> PyObject* {
    const Py_ssize_t n = positional_count(nargsf);
    const PyDrawMethod* method = as_draw(self);
    PlainArguments plain;
    if (!plain.read(method, args, n, names)) return PyObject_Vectorcall(method->python, args, n, names);
    PyRef drawn = PyRef::steal(PyObject_Vectorcall(method->numpys, plain.values(), n, names));
    if (Py_TYPE(drawn.get()) != state().np_ndarray) return drawn.release();
    return wrap(to_array(drawn.get(), default_device()));
  });
}

PyObject* new_draw(PyTypeObject* type, PyObject* args, PyObject*) {
  return guard([&]() -> PyObject* {
    PyObject *python = nullptr, *numpys = nullptr;
    Py_ssize_t place = 0;
    if (!PyArg_ParseTuple(args, "OOn:draw_method", &python, &numpys, &place)) throw PythonError();
    auto* made = PyObject_New(PyDrawMethod, type);
    if (!made) throw PythonError();
    made->vectorcall = call_draw;
    made->python = new_ref(python);
    made->numpys = new_ref(numpys);
    made->place = place;
    return reinterpret_cast<PyObject*>(made);
  });
}

void dealloc_draw(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(as_draw(self)->python);
  Py_DECREF(as_draw(self)->numpys);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* bind_draw(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return new_ref(self);
  return guard([&] { return call(import_attr("types", "MethodType").get(), {self, object}).release(); });
}

PyObject* draw_repr(PyObject* self) { return PyObject_Repr(as_draw(self)->python); }

/// All that is said of the method is said of the Python function.
PyObject* draw_attribute_of(PyObject* self, void* name) {
  return PyObject_GetAttrString(as_draw(self)->python, static_cast<const char*>(name));
}
PyObject* draw_attribute(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return PyObject_GetAttr(as_draw(self)->python, name);
}

PyRef pcg_streams() { return to_py(std::string_view(kPcgStreams, kPcgStreamsSize)); }

}  // namespace

void init_random(PyObject* module) {
  static char doc[] = "__doc__", name[] = "__name__", qualified[] = "__qualname__", home[] = "__module__";
  static PyGetSetDef attributes[] = {{doc, draw_attribute_of, nullptr, nullptr, doc},
                                     {name, draw_attribute_of, nullptr, nullptr, name},
                                     {qualified, draw_attribute_of, nullptr, nullptr, qualified},
                                     {home, draw_attribute_of, nullptr, nullptr, home},
                                     {}};
  static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyDrawMethod, vectorcall), READONLY, nullptr},
                                  {"__wrapped__", T_OBJECT, offsetof(PyDrawMethod, python), READONLY, nullptr},
                                  {}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_draw)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_draw)},
                         {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_draw>)},
                         {Py_tp_repr, reinterpret_cast<void*>(draw_repr)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(bind_draw)},
                         {Py_tp_getattro, reinterpret_cast<void*>(draw_attribute)},
                         {Py_tp_members, members},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"broadcloth._broadcloth.draw_method", sizeof(PyDrawMethod), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};
  add_type(module, &spec, "draw_method");
}

std::vector<PyMethodDef> random_functions() {
  return {
      BC_FUNCTION("draw_pcg(kind: Literal['uniform', 'integers', 'normal', 'exponential'], shape, dtype, dxsm, state_high, state_low, "
                  "increment_high, increment_low, has_half, half, affine=False, "
                  "low=0.0, scale=1.0, first=0, span=0, one=0, *, device=None) -> tuple[ndarray, int, int, int, int] NumPy's numbers of a "
                  "PCG64 or PCG64DXSM, and its next state.",
                  draw_pcg),
      BC_FUNCTION("_pcg_streams() -> str The text of src/device/random/pcg_streams.h.", pcg_streams),
  };
}

}  // namespace bc::bind
