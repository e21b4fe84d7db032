// broadcloth.ElementwiseKernel and ReductionKernel: CuPy's kernels from a signature and an operation in CUDA C++.
#include <cstddef>
#include <initializer_list>
#include <span>

#include "bind/args.h"
#include "bind/cuda_stream.h"
#include "bind/vectorcall.h"
#include "ops/user_kernel.h"

namespace bc::bind {
namespace {

std::string text_of(PyObject* o, const char* parameter) {
  if (!PyUnicode_Check(o)) raise(ErrorKind::Type, "kernel: expected a string for '{}', got {}", parameter, type_name(o));
  return std::string(as_string(o));
}

/// A kernel's name: what C++ can call a function.
std::string kernel_name(PyObject* o) {
  std::string name = text_of(o, "name");
  if (name != identifier(name)) raise(ErrorKind::Value, "Invalid kernel name: expected an identifier of C++, got '{}'", name);
  return name;
}

std::vector<std::string> options_of(PyObject* o) {
  std::vector<std::string> list;
  PyRef items = PyRef::steal(PySequence_Tuple(o));
  for (Py_ssize_t i = 0; i < PyTuple_Size(items.get()); ++i) list.push_back(text_of(PyTuple_GetItem(items.get(), i), "options"));
  return list;
}

/// The inputs of a call, up to four of them without a heap block. Arrays of other kinds are copied to the device, as in every other
/// function.
class Inputs {
 public:
  Inputs(PyObject* const* args, Py_ssize_t n, Device device) {
    if (n > 4) many_.reserve(static_cast<size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* o = args[i];
      if (is_array(o))
        add(n, array_of(o));
      else if (PyFloat_CheckExact(o))
        add(n, Weak::real, Scalar::real(PyFloat_AsDouble(o)));
      else
        add_other(n, i, o, device);
    }
    all_.values = n > 4 ? std::span<const Arg>(many_) : few_.span();
  }
  const UserInputs& all() const { return all_; }

 private:
  template <class... A>
  void add(Py_ssize_t n, A&&... a) {
    if (n > 4)
      many_.emplace_back(std::forward<A>(a)...);
    else
      few_.emplace(std::forward<A>(a)...);
  }
  void add_other(Py_ssize_t n, Py_ssize_t i, PyObject* o, Device device) {
    if (const auto s = python_scalar(o)) {
      if (s->first == Weak::integer && s->second.dtype == DType::f64)
        throw_python(PyExc_OverflowError, "Python int too large to convert to C long");
      return add(n, s->first, s->second);
    }
    if (is_numpy_scalar(o) && i < 64) all_.scalars |= uint64_t{1} << i;
    add(n, to_arg(o, device));
  }

  ArgList few_;
  std::vector<Arg> many_;
  UserInputs all_;
};

/// `stream=` of a call: it is the current one until the call is made.
class OnStream {
 public:
  void enter(PyObject* stream) {
    stream_ = PyRef::borrow(stream);
    if (!is_stream(stream)) {
      // A handle or another library's stream, which is entered here as ours.
      stream_ = PyRef::steal(PyObject_CallFunctionObjArgs(import_attr("broadcloth.cuda", "ExternalStream").get(), stream, nullptr));
    }
    stream = stream_.get();
    PyRef::steal(PyObject_CallMethod(stream, "__enter__", nullptr));
  }
  ~OnStream() {
    if (!stream_) return;
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (!PyRef::maybe(PyObject_CallMethod(stream_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None))) PyErr_Clear();
    PyErr_Restore(kind, value, trace);
  }

 private:
  PyRef stream_;
};

PyRef texts_tuple(const std::vector<std::string>& texts) {
  PyRef t = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(texts.size())));
  for (size_t k = 0; k < texts.size(); ++k) check(PyTuple_SetItem(t.get(), static_cast<Py_ssize_t>(k), to_py(texts[k]).release()));
  return t;
}

PyRef parameters_tuple(std::initializer_list<std::span<const UserParameter>> lists) {
  std::vector<std::string> texts;
  for (const auto& list : lists)
    for (const UserParameter& p : list) texts.push_back(fmt::format("{}{} {}", p.raw ? "raw " : "", p.type, p.name));
  return texts_tuple(texts);
}

PyRef codes_dict(const std::vector<std::pair<std::string, std::string>>& codes) {
  PyRef d = PyRef::steal(PyDict_New());
  for (const auto& [types, code] : codes) check(PyDict_SetItem(d.get(), to_py(types).get(), to_py(code).get()));
  return d;
}

PyRef only_code(const std::vector<std::pair<std::string, std::string>>& codes, const std::string& name) {
  if (codes.size() != 1)
    raise(ErrorKind::Runtime, "{}: {}", name,
          codes.empty() ? "no code is generated before the kernel is called"
                        : "it was called with several types; cached_codes has the code of each");
  return to_py(codes[0].second);
}

// ---- What both kinds of kernels have ----------------------------------------------------------------------------------------------------

template <class Kernel>
struct PyKernel {
  PyObject_HEAD Vectorcall vectorcall;
  Kernel* kernel;
};
template <class Kernel>
Kernel& kernel_of(PyObject* self) {
  return *reinterpret_cast<PyKernel<Kernel>*>(self)->kernel;
}

template <class Kernel>
PyObject* new_kernel(PyTypeObject* type, Vectorcall call, typename Kernel::Spec spec) {
  auto kernel = std::make_unique<Kernel>(std::move(spec));
  PyRef self = PyRef::steal(reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0));
  auto* object = reinterpret_cast<PyKernel<Kernel>*>(self.get());
  object->vectorcall = call;
  object->kernel = kernel.release();
  return self.release();
}

template <class Kernel>
void delete_kernel(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete &kernel_of<Kernel>(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/// An attribute: what `value` says of the kernel.
template <class Kernel, auto value>
PyObject* attribute(PyObject* self, void*) {
  return guard([&] { return value(std::as_const(kernel_of<Kernel>(self))).release(); });
}
#define BC_ATTRIBUTE(Kernel, name, value) \
  {name, attribute<Kernel, [](const Kernel& k) -> PyRef { return value; }>, nullptr, nullptr, nullptr}
#define BC_COMMON_ATTRIBUTES(Kernel)                                                                                                   \
  BC_ATTRIBUTE(Kernel, "name", to_py(k.spec().name)), BC_ATTRIBUTE(Kernel, "__name__", to_py(k.spec().name)),                          \
      BC_ATTRIBUTE(Kernel, "nin", to_py(static_cast<int64_t>(k.in().size()))),                                                         \
      BC_ATTRIBUTE(Kernel, "nout", to_py(static_cast<int64_t>(k.out().size()))),                                                       \
      BC_ATTRIBUTE(Kernel, "nargs", to_py(static_cast<int64_t>(k.in().size() + k.out().size()))),                                      \
      BC_ATTRIBUTE(Kernel, "in_params", parameters_tuple({k.in()})), BC_ATTRIBUTE(Kernel, "out_params", parameters_tuple({k.out()})),  \
      BC_ATTRIBUTE(Kernel, "params", parameters_tuple({k.in(), k.out()})), BC_ATTRIBUTE(Kernel, "preamble", to_py(k.spec().preamble)), \
      BC_ATTRIBUTE(Kernel, "reduce_dims", PyRef::steal(PyBool_FromLong(k.spec().reduce_dims))),                                        \
      BC_ATTRIBUTE(Kernel, "cached_code", only_code(k.codes(), k.spec().name)),                                                        \
      BC_ATTRIBUTE(Kernel, "cached_codes", codes_dict(k.codes()))

/// What a call returns: the outputs that it was given, or wrapped ones; one alone unless a tuple is asked for.
PyObject* results(std::vector<Array>& made, std::span<PyObject* const> given, PyObject* (*wrapped)(Array), bool always_tuple) {
  const auto result = [&](size_t k) { return given.empty() ? wrapped(std::move(made[k])) : new_ref(given[k]); };
  if (made.size() == 1 && !always_tuple) return result(0);
  PyRef all = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(made.size())));
  for (size_t k = 0; k < made.size(); ++k) check(PyTuple_SetItem(all.get(), static_cast<Py_ssize_t>(k), result(k)));
  return all.release();
}

// ---- ElementwiseKernel ------------------------------------------------------------------------------------------------------------------

PyObject* call_elementwise(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    auto& kernel = kernel_of<ElementwiseKernel>(self);
    const std::string& name = kernel.spec().name;
    const Py_ssize_t nargs = positional_count(nargsf);
    const Py_ssize_t nin = static_cast<Py_ssize_t>(kernel.in().size()), nout = static_cast<Py_ssize_t>(kernel.out().size());
    if (nargs != nin && nargs != nin + nout)
      raise(ErrorKind::Type, "{}: wrong number of arguments: expected {} or {} (with outputs), got {}", name, nin, nin + nout, nargs);
    ElementwiseKernel::Call call;
    OnStream on;
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_Size(kwnames); ++i) {
      PyObject* key = PyTuple_GetItem(kwnames, i);
      PyObject* value = args[nargs + i];
      const std::string_view word = as_string(key);
      if (word == "size") {
        if (value != Py_None) call.size = to_shape(value);
      } else if (word == "block_size") {
        call.block_size = static_cast<int>(to_int(value, "block_size"));
      } else if (word != "stream") {
        raise(ErrorKind::Type, "{}() got an unexpected keyword argument '{}'", name, word);
      } else if (value != Py_None) {
        on.enter(value);
      }
    }
    call.device = device_of(args, nargs);
    const Inputs in(args, nin, call.device);
    std::vector<Array> out;
    for (Py_ssize_t i = nin; i < nargs; ++i) out.push_back(writable(args[i], name.c_str()));
    call.in = in.all();
    call.out = out;
    LineNote line;
    std::vector<Array> made = kernel.fuses() && kernel.called() ? kernel(call) : without_gil([&] { return kernel(call); });
    if (kernel.spec().no_return) Py_RETURN_NONE;
    return results(made, {args + nin, out.size()}, wrap, kernel.spec().return_tuple);
  });
}

PyObject* new_elementwise(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static constinit Once<CallSignature> signature_once;
  const CallSignature& signature = signature_once.get(
      "ElementwiseKernel(in_params, out_params, operation, name='kernel', reduce_dims=True, preamble='', no_return=False, "
      "return_tuple=False, loop_prep='', after_loop='', options=None)");
  return guard([&]() -> PyObject* {
    PyObject* v[11];
    VectorArguments(args, kwargs).bind(signature, v);
    ElementwiseKernel::Spec spec;
    spec.in_params = text_of(v[0], "in_params");
    spec.out_params = text_of(v[1], "out_params");
    spec.operation = text_of(v[2], "operation");
    spec.name = kernel_name(v[3]);
    spec.reduce_dims = to_bool(v[4]);
    spec.preamble = text_of(v[5], "preamble");
    spec.no_return = to_bool(v[6]);
    spec.return_tuple = to_bool(v[7]);
    spec.loop_prep = text_of(v[8], "loop_prep");
    spec.after_loop = text_of(v[9], "after_loop");
    if (v[10] != Py_None) spec.options = options_of(v[10]);
    return new_kernel<ElementwiseKernel>(type, call_elementwise, std::move(spec));
  });
}

PyObject* elementwise_repr(PyObject* self) {
  return PyUnicode_FromFormat("<ElementwiseKernel '%s'>", kernel_of<ElementwiseKernel>(self).spec().name.c_str());
}

PyGetSetDef elementwise_attributes[] = {
    BC_COMMON_ATTRIBUTES(ElementwiseKernel),
    BC_ATTRIBUTE(ElementwiseKernel, "operation", to_py(k.spec().operation)),
    BC_ATTRIBUTE(ElementwiseKernel, "no_return", PyRef::steal(PyBool_FromLong(k.spec().no_return))),
    BC_ATTRIBUTE(ElementwiseKernel, "return_tuple", PyRef::steal(PyBool_FromLong(k.spec().return_tuple))),
    {},
};
PyMemberDef elementwise_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyKernel<ElementwiseKernel>, vectorcall), READONLY, nullptr}, {}};

constexpr const char* kElementwiseDoc =
    R"doc(ElementwiseKernel(in_params, out_params, operation, name='kernel', reduce_dims=True, preamble='', no_return=False, return_tuple=False, loop_prep='', after_loop='', options=())
--

An operation in CUDA C++ for every element of arrays that broadcast.

Calls wait and fuse with array expressions, on every device. A kernel with `raw` parameters, a `loop_prep` or an `after_loop`, or one that
calls functions of CUDA that arrays lack, is a program of its own and runs at once.

Parameters
----------
in_params, out_params : str
    "type name" for each parameter, with commas between. A type is a dtype's name or one letter, which stands for the type of the arguments
    that have it. ``raw`` before it gives the operation the whole array to index.
operation : str
    Statements that set the outputs from the inputs. `i` is the element's number and `n` how many there are, where no parameter has the name.
name : str
    The kernel's name in messages and profiles.
reduce_dims : bool
    Axes that all arrays walk as one are joined (what a program's `_ind` sees).
preamble : str
    C++ before the kernel.
no_return, return_tuple : bool
    A call gives None, or a tuple even for one output.
loop_prep, after_loop : str
    Statements of each thread before and after its loop over elements.
options : tuple of str
    For the compiler, in NVRTC's spelling.

Examples
--------
>>> squared_difference = bc.ElementwiseKernel('float32 x, float32 y', 'float32 z', 'z = (x - y) * (x - y)', 'squared_difference')
>>> x = bc.arange(4, dtype='float32')
>>> squared_difference(x, x[:, None])
array([[0., 1., 4., 9.],
       [1., 0., 1., 4.],
       [4., 1., 0., 1.],
       [9., 4., 1., 0.]], dtype=float32)
)doc";

// ---- ReductionKernel --------------------------------------------------------------------------------------------------------------------

PyObject* call_reduction(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    auto& kernel = kernel_of<ReductionKernel>(self);
    const std::string& name = kernel.spec().name;
    const Py_ssize_t nargs = positional_count(nargsf);
    const Py_ssize_t nin = static_cast<Py_ssize_t>(kernel.in().size()), nout = static_cast<Py_ssize_t>(kernel.out().size());
    if (nargs != nin && nargs != nin + nout)
      raise(ErrorKind::Type, "{}: wrong number of arguments: expected {} or {} (with outputs), got {}", name, nin, nin + nout, nargs);
    ReductionKernel::Call call;
    OnStream on;
    PyObject* out_keyword = nullptr;
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_Size(kwnames); ++i) {
      PyObject* value = args[nargs + i];
      const std::string_view word = as_string(PyTuple_GetItem(kwnames, i));
      if (word == "axis") {
        if (value != Py_None) call.axes = to_axes(value);
      } else if (word == "keepdims") {
        call.keepdims = to_bool(value);
      } else if (word == "out") {
        if (value != Py_None) out_keyword = value;
      } else if (word != "stream") {
        raise(ErrorKind::Type, "{}() got an unexpected keyword argument '{}'", name, word);
      } else if (value != Py_None) {
        on.enter(value);
      }
    }
    std::vector<PyObject*> outs(args + nin, args + nargs);
    if (out_keyword) {
      if (nargs > nin) throw_python(PyExc_TypeError, "cannot specify 'out' as both a positional and keyword argument");
      if (PyTuple_Check(out_keyword))
        for (Py_ssize_t i = 0; i < PyTuple_Size(out_keyword); ++i) outs.push_back(PyTuple_GetItem(out_keyword, i));
      else
        outs.push_back(out_keyword);
      if (static_cast<Py_ssize_t>(outs.size()) != nout)
        raise(ErrorKind::Value, "{}: expected {} arrays in 'out', got {}", name, nout, outs.size());
    }
    call.device = device_of(args, nargs);
    const Inputs in(args, nin, call.device);
    std::vector<Array> out;
    for (PyObject* o : outs) out.push_back(writable(o, name.c_str()));
    call.in = in.all();
    call.out = out;
    LineNote line;
    std::vector<Array> made = kernel.called() ? kernel(call) : without_gil([&] { return kernel(call); });
    return results(made, outs, wrap_value, false);
  });
}

PyObject* new_reduction(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static constinit Once<CallSignature> signature_once;
  const CallSignature& signature = signature_once.get(
      "ReductionKernel(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name='reduce_kernel', reduce_type=None, "
      "reduce_dims=True, preamble='', options=None)");
  return guard([&]() -> PyObject* {
    PyObject* v[11];
    VectorArguments(args, kwargs).bind(signature, v);
    ReductionKernel::Spec spec;
    spec.in_params = text_of(v[0], "in_params");
    spec.out_params = text_of(v[1], "out_params");
    spec.map_expr = text_of(v[2], "map_expr");
    spec.reduce_expr = text_of(v[3], "reduce_expr");
    spec.post_map_expr = text_of(v[4], "post_map_expr");
    if (v[5] != Py_None) {
      // Numbers are as good as their text.
      const PyRef identity = PyUnicode_Check(v[5]) ? PyRef::borrow(v[5]) : PyRef::steal(PyObject_Str(v[5]));
      if (!as_string(identity.get()).empty()) spec.identity = as_string(identity.get());
    }
    spec.name = kernel_name(v[6]);
    if (v[7] != Py_None) spec.reduce_type = text_of(v[7], "reduce_type");
    spec.reduce_dims = to_bool(v[8]);
    spec.preamble = text_of(v[9], "preamble");
    if (v[10] != Py_None) spec.options = options_of(v[10]);
    return new_kernel<ReductionKernel>(type, call_reduction, std::move(spec));
  });
}

PyObject* reduction_repr(PyObject* self) {
  return PyUnicode_FromFormat("<ReductionKernel '%s'>", kernel_of<ReductionKernel>(self).spec().name.c_str());
}

PyGetSetDef reduction_attributes[] = {
    BC_COMMON_ATTRIBUTES(ReductionKernel),
    BC_ATTRIBUTE(ReductionKernel, "identity", k.spec().identity ? to_py(*k.spec().identity) : PyRef::borrow(Py_None)),
    BC_ATTRIBUTE(ReductionKernel, "map_expr", to_py(k.spec().map_expr)),
    BC_ATTRIBUTE(ReductionKernel, "reduce_expr", to_py(k.spec().reduce_expr)),
    BC_ATTRIBUTE(ReductionKernel, "post_map_expr", to_py(k.spec().post_map_expr)),
    BC_ATTRIBUTE(ReductionKernel, "reduce_type", to_py(k.spec().reduce_type)),
    BC_ATTRIBUTE(ReductionKernel, "options", texts_tuple(k.spec().options)),
    {},
};
#undef BC_COMMON_ATTRIBUTES
#undef BC_ATTRIBUTE
PyMemberDef reduction_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyKernel<ReductionKernel>, vectorcall), READONLY, nullptr},
                                   {}};

// ---- Scans ------------------------------------------------------------------------------------------------------------------------------

struct PyScan {
  PyObject_HEAD ScanKernel* kernel;
};
ScanKernel& scan_of(PyObject* o) { return *reinterpret_cast<PyScan*>(o)->kernel; }

PyObject* new_scan(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static constinit Once<CallSignature> signature_once;
  const CallSignature& signature =
      signature_once.get("ScanKernel(dtype, expression, neutral=None, exclusive=False, name='scan', preamble='')");
  return guard([&]() -> PyObject* {
    PyObject* v[6];
    VectorArguments(args, kwargs).bind(signature, v);
    std::optional<std::string> neutral;
    if (v[2] != Py_None) neutral = as_string(PyRef::steal(PyObject_Str(v[2])).get());
    auto kernel = std::make_unique<ScanKernel>(to_dtype(v[0]), text_of(v[1], "expression"), neutral, to_bool(v[3]), text_of(v[4], "name"),
                                               text_of(v[5], "preamble"));
    PyRef self = PyRef::steal(reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc))(type, 0));
    reinterpret_cast<PyScan*>(self.get())->kernel = kernel.release();
    return self.release();
  });
}

PyObject* call_scan(PyObject* self, PyObject* args, PyObject* kwargs) {
  static constinit Once<CallSignature> signature_once;
  const CallSignature& signature = signature_once.get("ScanKernel(a, axis=0)");
  return guard([&] {
    PyObject* v[2];
    VectorArguments(args, kwargs).bind(signature, v);
    const Array a = to_array(v[0], device_of({v[0]}));
    const int64_t axis = to_int(v[1], "axis");
    LineNote line;
    return wrap(scan_of(self)(a, axis));
  });
}

void delete_scan(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<PyScan*>(self)->kernel;
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

constexpr const char* kReductionDoc =
    R"doc(ReductionKernel(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name='reduce_kernel', reduce_type=None, reduce_dims=True, preamble='', options=())
--

A reduction in CUDA C++: elements are mapped, joined two by two, and the total is made the result.

It runs on the engine's own reductions, on every device: it fuses with the expressions that it reads and with what reads it, and its result
is the same from run to run.

Parameters
----------
in_params, out_params : str
    As for `ElementwiseKernel`.
map_expr : str
    An expression of the inputs. `_J` is an element's place among those that are joined with it, `_i` that of their result.
reduce_expr : str
    An expression of `a` and `b` that joins two values. The order in which values are joined is not that of the elements.
post_map_expr : str
    Statements that set the outputs from the total, `a`.
identity : str or None
    An expression that changes nothing when joined: the total of nothing. Without it an empty reduction is an error.
reduce_type : str, optional
    The type of the mapped values: a dtype's name, a C++ number or a letter; that of the first output unless given.
preamble, options, name, reduce_dims
    As for `ElementwiseKernel`.

A call takes the inputs and, after them or as `out=`, the outputs; `axis` and `keepdims` are those of `sum`.

Examples
--------
>>> l2norm = bc.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2norm')
>>> x = bc.arange(10, dtype='float32').reshape(2, 5)
>>> l2norm(x, axis=1)
array([ 5.477226 , 15.9687195], dtype=float32)
)doc";

}  // namespace

void init_user_kernels(PyObject* module) {
  add_functions(module, {BC_FUNCTION("set_kernel_label(label: str | None) -> str | None", [](PyObject* label) {
                  const char* before = set_kernel_label(label == Py_None ? nullptr : interned(as_string(label)));
                  return before ? to_py(before) : PyRef::borrow(Py_None);
                })});
  static PyType_Slot scan_slots[] = {
      {Py_tp_doc,
       const_cast<char*>(
           "ScanKernel(dtype, expression, neutral=None, exclusive=False, name='scan', preamble='')\n--\n\nA running join along an axis.")},
      {Py_tp_new, reinterpret_cast<void*>(new_scan)},
      {Py_tp_dealloc, reinterpret_cast<void*>(delete_scan)},
      {Py_tp_call, reinterpret_cast<void*>(call_scan)},
      {0, nullptr},
  };
  static PyType_Spec scan_spec = {"broadcloth._broadcloth.ScanKernel", sizeof(PyScan), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                  scan_slots};
  add_type(module, &scan_spec, "ScanKernel");
  static PyType_Slot reduction_slots[] = {
      {Py_tp_doc, const_cast<char*>(kReductionDoc)},
      {Py_tp_new, reinterpret_cast<void*>(new_reduction)},
      {Py_tp_dealloc, reinterpret_cast<void*>(delete_kernel<ReductionKernel>)},
      {Py_tp_repr, reinterpret_cast<void*>(reduction_repr)},
      {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_reduction>)},
      {Py_tp_getset, reduction_attributes},
      {Py_tp_members, reduction_members},
      {0, nullptr},
  };
  static PyType_Spec reduction_spec = {"broadcloth.ReductionKernel", sizeof(PyKernel<ReductionKernel>), 0,
                                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE, reduction_slots};
  add_type(module, &reduction_spec, "ReductionKernel");
  static PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(kElementwiseDoc)},
      {Py_tp_new, reinterpret_cast<void*>(new_elementwise)},
      {Py_tp_dealloc, reinterpret_cast<void*>(delete_kernel<ElementwiseKernel>)},
      {Py_tp_repr, reinterpret_cast<void*>(elementwise_repr)},
      {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_elementwise>)},
      {Py_tp_getset, elementwise_attributes},
      {Py_tp_members, elementwise_members},
      {0, nullptr},
  };
  static PyType_Spec spec = {"broadcloth.ElementwiseKernel", sizeof(PyKernel<ElementwiseKernel>), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE, slots};
  add_type(module, &spec, "ElementwiseKernel");
}

}  // namespace bc::bind
