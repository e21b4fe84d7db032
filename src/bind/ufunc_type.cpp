// broadcloth.ufunc: one object an elementwise row, called and used as numpy.ufunc is; and one for each product that is a generalised ufunc
// (matmul and its kin), which a function computes.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "bind/args.h"
#include "bind/documentation.h"
#include "bind/program.h"
#include "bind/reduce.h"
#include "bind/subclass.h"
#include "bind/vectorcall.h"
#include "bind/warnings.h"
#include "core/dtype_sets.h"
#include "core/stored_value.h"

namespace bc::bind {
namespace {

/// Rows that give two results together.
enum class Pair : uint8_t { none, divmod, modf, frexp };

struct PyUfunc {
  PyObject_HEAD Vectorcall vectorcall;
  Op op;  ///< a row whose types stand for a pair's
  Pair pair;
  int nin;
  int nout;
  PyObject* name;
  PyObject* doc;
  PyObject* function;  ///< what computes a generalised ufunc, whose row `op` only tells its types; null where the row computes
  PyObject* core;      ///< the signature of a generalised ufunc, "(n),(n)->()"; null for others
};

PyUfunc* as_ufunc(PyObject* o) { return reinterpret_cast<PyUfunc*>(o); }
const char* name_of(PyObject* self) { return as_string(as_ufunc(self)->name).data(); }

/// A view of `array` as a tape of arguments: an operand list of at most three plus up to two outputs.
constexpr int kMaxPositional = 5;

/// The keywords of a call.
struct Keywords {
  PyObject *out = nullptr, *where = nullptr, *dtype = nullptr, *casting = nullptr, *device = nullptr, *signature = nullptr;
  char order = 'K';
  bool as_array = false;  ///< out=...: results without axes are arrays, no elements

  void read(PyObject* self, PyObject* const* values, PyObject* kwnames) {
    const Names& n = state().names;
    const Py_ssize_t count = PyTuple_Size(kwnames);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* key = PyTuple_GetItem(kwnames, i);
      auto is = [&](PyObject* name) { return key == name || PyUnicode_Compare(key, name) == 0; };
      if (is(n.out)) {
        as_array = values[i] == Py_Ellipsis;
        out = as_array ? nullptr : values[i];
      } else if (is(n.where)) {
        where = values[i];
      } else if (is(n.dtype)) {
        dtype = values[i];
      } else if (is(n.casting)) {
        casting = values[i];
      } else if (is(n.device)) {
        device = values[i];
      } else if (is(n.order)) {
        order = to_order(values[i], 'K');
      } else if (is(n.signature) || is(n.sig)) {
        if (signature) throw_python(PyExc_TypeError, "cannot specify both 'sig' and 'signature'");
        signature = values[i];
      } else if (!is(n.subok)) {
        PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", as_ufunc(self)->name, key);
        throw PythonError();
      }
    }
  }
};

/// The dtypes that `signature=` asks for, inputs first; nullopt where it leaves one open.
std::vector<std::optional<DType>> signature_types(const PyUfunc* u, PyObject* signature) {
  const Py_ssize_t count = u->nin + u->nout;
  std::vector<std::optional<DType>> types(count);
  if (PyTuple_Check(signature)) {
    if (PyTuple_Size(signature) == 1 && count != 1)
      raise(ErrorKind::Type, "{}: signature= has one dtype; use dtype=, or name a dtype or None for each operand", as_string(u->name));
    if (PyTuple_Size(signature) != count)
      raise(ErrorKind::Value, "a type-tuple must be specified of length {} for ufunc '{}'", count, as_string(u->name));
    for (Py_ssize_t i = 0; i < count; ++i) types[i] = to_dtype_or_none(PyTuple_GetItem(signature, i));
    return types;
  }
  if (!PyUnicode_Check(signature)) throw_python(PyExc_TypeError, "the signature object to ufunc must be a string or a tuple.");
  std::string codes(as_string(signature));
  if (codes.size() == 1) raise(ErrorKind::Type, "{}: signature='{}' names one dtype; use dtype=", as_string(u->name), codes);
  const size_t arrow = codes.find("->");
  if (static_cast<Py_ssize_t>(arrow) != u->nin || static_cast<Py_ssize_t>(codes.size()) != count + 2)
    raise(ErrorKind::Value, "a type-string for {}, requires {} typecode(s) before and {} after the -> sign", as_string(u->name), u->nin,
          u->nout);
  codes.erase(arrow, 2);
  for (Py_ssize_t i = 0; i < count; ++i) types[i] = to_dtype(to_py(std::string_view(codes).substr(i, 1)).get());
  return types;
}

/// Casts the operands to the loop that `signature=` names.
void follow_signature(const PyUfunc* u, PyObject* signature, ArgList* operands, UfuncOptions* options) {
  const std::string_view name = as_string(u->name);
  const std::vector<std::optional<DType>> asked = signature_types(u, signature);
  std::vector<OperandType> types;
  bool open = false;
  for (int i = 0; i < u->nin; ++i) {
    Arg& o = (*operands)[i];
    if (!asked[i]) {
      open = true;
      continue;
    }
    const DType to = *asked[i];
    types.push_back({to, Weak::none});
    const bool fractional = o.weak == Weak::real || o.weak == Weak::complex;
    if (o.array || fractional) {
      const DType from = o.array ? o.array.dtype() : o.weak == Weak::real ? (is_inexact(to) ? to : DType::f64) : DType::c128;
      const bool fits = can_cast(from, to, options->casting) || (!o.array && is_complex(from) && is_complex(to));
      if (!fits)
        raise(ErrorKind::UFuncTypeError, "Cannot cast ufunc '{}' input {} from dtype('{}') to dtype('{}') with casting rule '{}'", name, i,
              info(from).name, info(to).name, to_string(options->casting));
    }
    o = Arg(o.array ? astype(o.array, to, false) : full(Dims(), o.value, to, *options->device));
  }
  if (open) {
    if (asked.back() && u->nout == 1) options->dtype = asked.back();
    return;
  }
  const Loop loop = resolve(u->op, types);
  bool found = true;
  for (int i = 0; i < u->nin; ++i) found = found && loop.in[i] == *asked[i];
  for (int i = 0; i < u->nout; ++i) {
    const DType made = u->pair == Pair::frexp && i == 1 ? DType::i32 : loop.out;
    found = found && asked[u->nin + i].value_or(made) == made;
  }
  if (!found) raise(ErrorKind::UFuncTypeError, "No loop matching the specified signature and casting was found for ufunc {}", name);
}

PyRef result_of(Array made, bool as_array) { return PyRef::steal(as_array ? wrap(std::move(made)) : wrap_value(std::move(made))); }

PyObject* call_pair(PyUfunc* u, ArgList* args, UfuncOptions options, PyObject* const outs[2], bool as_array) {
  Array out[2];
  for (int i = 0; i < 2; ++i) out[i] = outs[i] ? output(outs[i], info(u->op).name) : Array();
  ArrayPair made;
  switch (u->pair) {
    case Pair::divmod: made = divmod((*args)[0], (*args)[1], options, out[0], out[1]); break;
    case Pair::modf: made = modf((*args)[0], options, out[0], out[1]); break;
    default: made = frexp((*args)[0], options, out[0], out[1]); break;
  }
  PyRef first = outs[0] && outs[0] != Py_None ? PyRef::borrow(outs[0]) : result_of(std::move(made.first), as_array);
  PyRef second = outs[1] && outs[1] != Py_None ? PyRef::borrow(outs[1]) : result_of(std::move(made.second), as_array);
  return tuple_of({first.get(), second.get()}).release();
}

/// NumPy's ComplexWarning where unsafe casts make complex operands, or a complex result, real.
void warn_of_unsafe(Op op, ArgList& operands, const UfuncOptions& options) {
  std::vector<OperandType> types;
  bool complex = false;
  for (int i = 0; i < operands.size(); ++i) {
    const Arg& a = operands[i];
    types.push_back(a.array ? OperandType{a.array.dtype()} : OperandType{default_dtype(a.weak), a.weak});
    complex |= a.array && is_complex(a.array.dtype());
  }
  if (!complex) return;
  const Loop loop = resolve(op, types, options.dtype, options.casting);
  for (int i = 0; i < operands.size(); ++i)
    if (operands[i].array && is_complex(operands[i].array.dtype()) && !is_complex(loop.in[i]))
      return warn_of_lost_imaginary(operands[i].array.dtype(), loop.in[i]);
  if (options.out) warn_of_lost_imaginary(loop.out, options.out.dtype());
}

bool is_plain_number(PyObject* o) { return PyFloat_CheckExact(o) || PyLong_CheckExact(o); }

/// Tells of the value of `out=` or `where=` whether it, or one in its tuple, computes ufuncs in its own way.
bool one_computes_ufuncs(PyObject* value) {
  if (!PyTuple_Check(value)) return computes_ufuncs(value);
  for (Py_ssize_t i = 0; i < PyTuple_Size(value); ++i)
    if (computes_ufuncs(PyTuple_GetItem(value, i))) return true;
  return false;
}

/// Tells whether an argument, an output or the mask of a call computes ufuncs in its own way (a pandas.Series, a quantity with units, a
/// masked array). In a program that was written for NumPy these are also matrices, which elsewhere are read as arrays.
bool any_computes_ufuncs(PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  const auto own = [&](PyObject* o) { return !is_exact(o, state().array) && (computes_ufuncs(o) || is_left_to_numpy(o)); };
  if (std::any_of(args, args + n, own)) return true;
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_Size(kwnames); ++i)
    if (PyObject* const value = args[n + i]; !is_exact(value, state().array) && value != Py_True)
      for (PyObject* name : {state().names.out, state().names.where})
        if (PyUnicode_Compare(PyTuple_GetItem(kwnames, i), name) == 0 && (one_computes_ufuncs(value) || own(value))) return true;
  return false;
}

PyRef same_of_numpy(PyObject* self);

/// The result of a call of arrays and numbers that has nothing but its operands, as most calls; nothing for any other call.
inline std::optional<PyObject*> call_plain(const PyUfunc* u, PyObject* const* args) {
  if (is_known_number(args[0]) || (u->nin > 1 && is_known_number(args[1])) ||
      (is_plain_number(args[0]) && is_plain_number(args[u->nin - 1]) && default_device().type == DeviceType::cpu))
    if (PyObject* number = apply_bare(u->op, {args, static_cast<size_t>(u->nin)})) return number;
  Term terms[3];
  int known = 0, arrays = 0;
  if (u->nin == 2 && as_terms(terms, args[0], args[1])) {
    known = 2;
    arrays = terms[0].array || terms[1].array;
  }
  while (known < u->nin && as_term(&terms[known], args[known])) arrays += terms[known++].array != nullptr;
  if (known < u->nin || !arrays) return std::nullopt;
  LineNote line;
  return wrap_value(ufunc(u->op, std::span<const Term>(terms, u->nin), UfuncOptions()));
}

/// Finds the outputs of a call among its positional arguments and in `out=`.
void find_outputs(const PyUfunc* u, std::span<PyObject* const> args, PyObject* named, PyObject* (&outs)[2]) {
  const size_t nin = static_cast<size_t>(u->nin);
  for (size_t i = nin; i < args.size(); ++i) outs[i - nin] = args[i];
  if (outs[0] == Py_Ellipsis || outs[1] == Py_Ellipsis) throw_python(PyExc_TypeError, "out=... is only allowed as a keyword argument.");
  if (!named || named == Py_None) return;
  if (args.size() > nin) throw_python(PyExc_TypeError, "cannot specify 'out' as both a positional and keyword argument");
  if (!PyTuple_Check(named)) {
    if (u->nout > 1) throw_python(PyExc_TypeError, "'out' must be a tuple of arrays");
    outs[0] = named;
    return;
  }
  if (PyTuple_Size(named) != u->nout)
    throw_python(PyExc_ValueError, u->nout == 1 ? "The 'out' tuple must have exactly one entry per ufunc output"
                                                : "The 'out' tuple must have exactly two entries");
  for (int i = 0; i < u->nout; ++i) {
    outs[i] = PyTuple_GetItem(named, i);
    if (outs[i] == Py_Ellipsis) throw_python(PyExc_TypeError, "must use `...` as `out=...` and not per-operand/in a tuple");
  }
}

/// Reads the operands of a call that are not pushed yet, and its options.
void read_call(const PyUfunc* u, std::span<PyObject* const> args, const Keywords& k, PyObject* const (&outs)[2], ArgList* operands,
               UfuncOptions* options) {
  options->device = k.device && k.device != Py_None ? to_device(k.device) : device_of(args.data(), static_cast<Py_ssize_t>(args.size()));
  for (PyObject* o : outs)
    if (o && is_array(o) && !k.device) options->device = array_of(o).device();
  for (int i = operands->size(); i < u->nin; ++i) push_any(operands, args[static_cast<size_t>(i)], *options->device);
  options->dtype = to_dtype_or_none(k.dtype);
  if (k.casting) options->casting = to_casting(k.casting);
  options->order = k.order;
  if (k.signature && k.signature != Py_None) {
    if (k.dtype && k.dtype != Py_None) throw_python(PyExc_TypeError, "cannot specify both 'signature' and 'dtype'");
    follow_signature(u, k.signature, operands, options);
  }
  options->where = where_mask(k.where, *options->device);
  if (outs[0] && u->nout == 1) options->out = output(outs[0], info(u->op).name);
}

PyObject* compute_ufunc(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    PyUfunc* u = as_ufunc(self);
    const Py_ssize_t nargs = positional_count(nargsf);
    if (nargs < u->nin || nargs > u->nin + u->nout) {
      PyErr_Format(PyExc_TypeError, "%U() takes from %d to %d positional arguments but %zd were given", u->name, u->nin, u->nin + u->nout,
                   nargs);
      throw PythonError();
    }
    if (nargs == u->nin && !kwnames && u->pair == Pair::none && u->op != Op::power && u->op != Op::float_power) [[likely]]
      if (const std::optional<PyObject*> made = call_plain(u, args)) return *made;
    const std::span<PyObject* const> given(args, static_cast<size_t>(nargs));
    ArgList operands;
    PyObject* outs[2] = {};
    UfuncOptions options;
    Keywords k;
    if (kwnames) k.read(self, args + nargs, kwnames);
    int fast = 0;
    while (fast < u->nin && push_fast(&operands, args[fast])) ++fast;
    if (fast == u->nin && nargs == u->nin && !kwnames) [[likely]] {
      bool any = false;
      for (int i = 0; i < operands.size(); ++i) any = any || operands[i].array;
      if (!any) options.device = default_device();
    } else {
      if (nargs > u->nin && (u->op == Op::maximum || u->op == Op::minimum))
        warn(PyExc_DeprecationWarning,
             "Passing more than 2 positional arguments to np.maximum and np.minimum is deprecated: name the output, out=...");
      find_outputs(u, given, k.out, outs);
      if ((fast < u->nin || nargs > u->nin || k.out || k.where) && any_computes_ufuncs(args, nargs, kwnames))
        if (const PyRef theirs = same_of_numpy(self)) {  // NumPy asks the operands in its order
          const TupleArguments all(args, nargs, kwnames);
          return PyObject_Call(theirs.get(), all.positional.get(), all.named.get());
        }
      read_call(u, given, k, outs, &operands, &options);
    }
    LineNote line;
    if (u->pair != Pair::none) return call_pair(u, &operands, options, outs, k.as_array);
    if (options.casting == Casting::unsafe) [[unlikely]]
      warn_of_unsafe(u->op, operands, options);
    Array made = apply(u->op, &operands, options);
    return options.out ? new_ref(outs[0]) : result_of(std::move(made), k.as_array).release();
  });
}

/// A call of a generalised ufunc. `signature=` casts the operands; the function takes the rest.
PyObject* compute_generalised(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    const PyUfunc* u = as_ufunc(self);
    const Py_ssize_t n = positional_count(nargsf);
    if (n < u->nin) {
      PyErr_Format(PyExc_TypeError, "%U() takes from %d to %d positional arguments but %zd were given", u->name, u->nin, u->nin + u->nout,
                   n);
      throw PythonError();
    }
    const TupleArguments given(args, n, kwnames);
    PyObject *positional = given.positional.get(), *named = given.named.get();
    PyRef signature = PyRef::borrow(Py_None);
    for (PyObject* name : {state().names.signature, state().names.sig})
      if (PyObject* value = named ? PyDict_GetItem(named, name) : nullptr) {
        signature = PyRef::borrow(value);
        check(PyDict_DelItem(named, name));
      }
    if (signature.get() != Py_None) {
      UfuncOptions options;
      options.device = device_of(args, n);
      if (PyObject* casting = PyDict_GetItem(named, state().names.casting)) options.casting = to_casting(casting);
      ArgList operands;
      for (int i = 0; i < u->nin; ++i) push_any(&operands, args[i], *options.device);
      follow_signature(u, signature.get(), &operands, &options);
      for (int i = 0; i < u->nin; ++i) check(PyTuple_SetItem(positional, i, wrap(bc::as_array(operands[i], *options.device))));
      if (options.dtype) check(PyDict_SetItem(named, state().names.dtype, dtype_object(*options.dtype)));
    }
    return PyObject_Call(u->function, positional, named);
  });
}

/// A call by a program that was written for NumPy: NumPy takes numbers without arrays, foreign arrays that have ufuncs of their own, and
/// what is refused here.
PyObject* call_for_program(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    const Py_ssize_t n = positional_count(nargsf);
    if ((!kwnames && all_numbers(args, n)) || any_computes_ufuncs(args, n, kwnames)) {
      const PyRef theirs = PyRef::steal(PyObject_GetAttr(state().numpy, as_ufunc(self)->name));
      const TupleArguments given(args, n, kwnames);
      PyObject* made = PyObject_Call(theirs.get(), given.positional.get(), given.named.get());
      return made ? made : refused(self, given.positional.get(), given.named.get());
    }
    PyObject* watched = nullptr;
    if (errors_watched.load(std::memory_order_relaxed) && computed_by_watcher(self, args, n, kwnames, &watched)) [[unlikely]]
      return watched;
    PyObject* made =
        as_ufunc(self)->function ? compute_generalised(self, args, nargsf, kwnames) : compute_ufunc(self, args, nargsf, kwnames);
    if (made) return made;
    const TupleArguments given(args, n, kwnames);
    return refused(self, given.positional.get(), given.named.get());
  });
}

template <auto compute>
PyObject* call_plain(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (program_mode.load(std::memory_order_relaxed)) [[unlikely]]
    return call_for_program(self, args, static_cast<size_t>(nargs), kwnames);
  return compute(self, args, static_cast<size_t>(nargs), kwnames);
}

template <auto compute>
PyObject* call_with(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  if (subclasses_used.load(std::memory_order_relaxed)) [[unlikely]]
    return ufunc_of_classes(self, "__call__", call_plain<compute>, args, positional_count(nargsf), kwnames);
  return call_plain<compute>(self, args, positional_count(nargsf), kwnames);
}

constexpr auto call_ufunc = call_with<compute_ufunc>;
constexpr auto call_generalised = call_with<compute_generalised>;

PyObject* call_any(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return as_ufunc(self)->vectorcall(self, args, nargsf, kwnames);
}

void check_binary(PyObject* self, const char* method) {
  const PyUfunc* u = as_ufunc(self);
  if (u->core) throw_python(PyExc_RuntimeError, "Reduction not defined on ufunc with signature");
  if (u->nin != 2) raise(ErrorKind::Value, "{} only supported for binary functions", method);
  if (u->nout != 1) raise(ErrorKind::Value, "{} only supported for functions returning a single value", method);
}

/// Warns where reduce() and its kin lose imaginary parts. Logical ufuncs read numbers of any kind.
void warn_of_cast(PyObject* self, const Array& a, std::optional<DType> dtype, const Array& out) {
  const Op op = as_ufunc(self)->op;
  if (op != Op::logical_and && op != Op::logical_or && op != Op::logical_xor) warned(a, dtype, out);
}

namespace {

/// The elements along an axis that power.reduce and power.accumulate take as exponents: all but the first.
Array all_but_first(const Array& a, int axis) {
  std::vector<SliceItem> items(static_cast<size_t>(axis) + 1);
  items.back().start = 1, items.back().has_start = true;
  return slice(a, items);
}

void check_reduced_exponents(const Array& a, const ReduceOptions& options) {
  const bool one_axis = options.axes ? options.axes->size() == 1 : a.ndim() == 1;
  if (a.ndim() == 0 || !one_axis) return;  // no exponent, or an error of its own
  const int axis = normalize_axis(options.axes ? (*options.axes)[0] : 0, a.ndim(), "power");
  if (options.initial)
    refuse_negative(options.where ? broadcast_to(a, broadcast_shapes("power", a.shape(), options.where.shape())) : a, options.dtype,
                    options.where);
  else if (!options.where)
    refuse_negative(all_but_first(a, axis), options.dtype);
}

/// The exponents of power.reduceat: what lies inside of a segment and is not its first element.
void check_segments_exponents(const Array& a, const Array& indices, int axis, std::optional<DType> dtype) {
  if (!is_integer(dtype.value_or(a.dtype())) || indices.ndim() != 1) return;
  const int64_t n = a.shape()[axis], count = indices.size();
  std::vector<int64_t> at(static_cast<size_t>(count)), inside(static_cast<size_t>(n) + 1), places;
  to_host(astype(indices, DType::i64, false), at.data());
  for (int64_t j = 0; j < count; ++j) {
    const int64_t begin = at[static_cast<size_t>(j)], end = j + 1 < count ? at[static_cast<size_t>(j) + 1] : n;
    if (begin < 0 || begin >= n || end > n || end <= begin + 1) continue;  // no exponent, or an error of its own
    ++inside[static_cast<size_t>(begin) + 1], --inside[static_cast<size_t>(end)];
  }
  for (int64_t i = 0, depth = 0; i < n; ++i)
    if (depth += inside[static_cast<size_t>(i)]; depth > 0) places.push_back(i);
  if (!places.empty())
    refuse_negative(
        take(a, from_host(places.data(), DType::i64, contiguous_layout(Dims{static_cast<int64_t>(places.size())}), a.device()), axis),
        dtype);
}

}  // namespace

PyRef reduce_method(PyObject* self, PyObject* array, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims, PyObject* initial,
                    PyObject* where) {
  check_binary(self, "reduce");
  const bool as_array = out == Py_Ellipsis;
  if (as_array) out = Py_None;
  const Array a = to_array(array, device_of({array}));
  ReduceOptions options = reduce_options(name_of(self), axis, dtype, out, keepdims, initial, where, a);
  if (a.ndim() == 0 && options.axes && options.axes->size() == 1 && ((*options.axes)[0] == 0 || (*options.axes)[0] == -1))
    options.axes.reset();
  if (as_ufunc(self)->op == Op::power) check_reduced_exponents(a, options);
  Array made = ufunc_reduce(as_ufunc(self)->op, a, options);
  warn_of_cast(self, a, options.dtype, options.out);
  return as_array ? result_of(std::move(made), true) : PyRef::steal(finish_reduce(std::move(made), out));
}

/// The axis of accumulate and reduceat: a number, a tuple of one, or None, which stands for all axes, of which there must be one.
int64_t single_axis(PyObject* axis, const Array& array, const char* method) {
  const int nd = array.ndim();
  Axes axes;
  if (axis == Py_None)
    for (int d = 0; d < nd; ++d) axes.push_back(d);
  else
    axes = to_reduced_axes(axis);
  const bool number = nd == 0 && !PyTuple_Check(axis) && (axes.empty() || axes[0] == 0 || axes[0] == -1);
  for (const int64_t d : axes)
    if (!number) normalize_axis(d, nd, method);
  if (nd == 0) raise(ErrorKind::Type, "cannot {} on a scalar", method);
  if (axes.size() != 1) raise(ErrorKind::Value, "{} does not allow multiple axes", method);
  return axes[0];
}

PyRef accumulate_method(PyObject* self, const Array& array, PyObject* axis, std::optional<DType> dtype, const Array& out) {
  check_binary(self, "accumulate");
  const int64_t along = single_axis(axis, array, "accumulate");
  if (as_ufunc(self)->op == Op::power) refuse_negative(all_but_first(array, normalize_axis(along, array.ndim(), "power")), dtype);
  PyRef made = PyRef::steal(wrap(accumulate(as_ufunc(self)->op, array, along, dtype, out)));
  warn_of_cast(self, array, dtype, out);
  return made;
}

PyRef reduceat_method(PyObject* self, const Array& array, const Array& indices, PyObject* axis, std::optional<DType> dtype,
                      const Array& out) {
  check_binary(self, "reduceat");
  const int64_t along = single_axis(axis, array, "reduceat");
  if (as_ufunc(self)->op == Op::power) check_segments_exponents(array, indices, normalize_axis(along, array.ndim(), "power"), dtype);
  PyRef made = PyRef::steal(wrap(reduceat(as_ufunc(self)->op, array, indices, along, dtype, out)));
  warn_of_cast(self, array, dtype, out);
  return made;
}

PyObject* outer_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    const PyUfunc* u = as_ufunc(self);
    if (u->core) throw_python(PyExc_TypeError, "method outer is not allowed in ufunc with non-trivial signature");
    if (u->nin != 2) throw_python(PyExc_ValueError, "outer product only supported for binary functions");
    if (n != 2) throw_python(PyExc_TypeError, "outer() takes exactly 2 positional arguments");
    // a[..., None, None] op b: one new axis at a's end for each axis of b.
    const Device device = device_of(args, 2);
    Array a = bc::as_array(to_arg(args[0], device), device);
    const Array b = bc::as_array(to_arg(args[1], device), device);
    Dims wide = a.shape();
    for (int d = 0; d < b.ndim(); ++d) wide.push_back(1);
    std::vector<PyObject*> all;
    PyRef first = PyRef::steal(wrap(reshape(a, wide))), second = PyRef::steal(wrap(b));
    // Python numbers are arrays here, and strong, as in NumPy.
    all.push_back(first.get());
    all.push_back(second.get());
    const Py_ssize_t keywords = kwnames ? PyTuple_Size(kwnames) : 0;
    for (Py_ssize_t i = 0; i < keywords; ++i) all.push_back(args[n + i]);
    PyObject* made = call_ufunc(self, all.data(), 2, kwnames);
    if (!made) throw PythonError();
    return made;
  });
}

/// Whether ufunc.at has loops of ours: those that give back the one type that they take. Comparisons and times have not.
bool has_own_at(Op op, const Array& a, const std::optional<Arg>& b) {
  if (is_time(a.dtype()) || (b && b->array && is_time(b->array.dtype()))) return false;
  // A Python integer that the dtype does not hold is an element of int64 here, unlike in the ufunc's call.
  if (b && b->weak == Weak::integer && is_integer(a.dtype()) && !integer_fits(b->value, a.dtype())) return false;
  OperandType operands[2] = {{a.dtype()}, {}};
  if (b) operands[1] = {b->array ? b->array.dtype() : DType::b1, b->weak};
  if (info(op).nin != 2 || !b) return true;
  const Loop loop = resolve(op, operands);
  return loop.out == loop.in[0] && loop.in[1] == loop.in[0];
}

/// Whether power.at gets a negative exponent, which NumPy's loop refuses if an index names an element.
bool has_negative_exponent(Op op, const Array& a, const std::optional<Arg>& b) {
  if (op != Op::power || !b || !is_integer(a.dtype())) return false;
  if (!b->array) return b->weak == Weak::integer && b->value.dtype == DType::i64 && b->value.i < 0;
  return any_negative_exponent(b->array);
}

/// ufunc.at by NumPy on a copy on the host.
void at_on_host(const char* name, const Array& a, PyObject* indices, PyObject* b) {
  const auto host = [](PyObject* o) { return is_array(o) ? to_numpy(array_of(o)) : PyRef::borrow(o); };
  PyRef places = host(indices);
  if (PyTuple_Check(indices)) {
    places = PyRef::steal(PyTuple_New(PyTuple_Size(indices)));
    for (Py_ssize_t i = 0; i < PyTuple_Size(indices); ++i)
      check(PyTuple_SetItem(places.get(), i, host(PyTuple_GetItem(indices, i)).release()));
  }
  const PyRef changed = call(attr(state().numpy, "array").get(), {to_numpy(a).get()});
  const PyRef function = attr(attr(state().numpy, name).get(), "at");
  if (is_missing(b))
    call(function.get(), {changed.get(), places.get()});
  else
    call(function.get(), {changed.get(), places.get(), host(b).get()});
  assign(a, to_array(changed.get(), a.device()));
}

PyRef at_method(PyObject* self, PyObject* array, PyObject* indices, PyObject* b) {
  const PyUfunc* u = as_ufunc(self);
  if (u->core)
    raise(ErrorKind::Type, "{0}.at does not support ufunc with non-trivial signature: {0} has signature {1}.", name_of(self),
          as_string(u->core));
  if (u->nout != 1) throw_python(PyExc_ValueError, "Only single output ufuncs supported at this time");
  if (!is_array(array) && !is_numpy_array(array))
    if (const PyRef own = attr_or_null(array, state().names.__array_ufunc__); own && own.get() != Py_None) {
      const PyRef at = to_py(std::string_view("at"));
      PyRef made = is_missing(b) ? call(own.get(), {self, at.get(), array, indices}) : call(own.get(), {self, at.get(), array, indices, b});
      if (made.get() != Py_NotImplemented) return made;
    }
  const Array& a = writable(array, name_of(self));
  std::optional<Arg> second;
  if (!is_missing(b)) second = to_arg(b, a.device());
  if (u->nin == 2 && !second) throw_python(PyExc_ValueError, "second operand needed for ufunc");
  if (u->nin == 1 && second) throw_python(PyExc_ValueError, "second operand provided when ufunc is unary");
  LineNote line(true);
  const bool history = a.history() || (second && second->array && second->array.history());
  if (numpy_has(a.dtype()) && !history && PyObject_HasAttrString(state().numpy, name_of(self)) &&
      (!has_own_at(u->op, a, second) || has_negative_exponent(u->op, a, second))) {
    at_on_host(name_of(self), a, indices, b);
    return PyRef::borrow(Py_None);
  }
  if (second && second->array) warned(second->array, std::nullopt, a);
  if (second && is_array(indices) && change_small(u->op, a, array_of(indices), *second)) return PyRef::borrow(Py_None);
  bool plain = false;
  const std::vector<IndexItem> items = parse_index(a, indices, &plain);
  without_gil([&] { ufunc_at(u->op, a, items, second); });
  return PyRef::borrow(Py_None);
}

/// Tells whether dtypes are NumPy's own, for whose loops NumPy's ufunc answers.
bool all_in_numpy(PyObject* dtypes) {
  PyRef list = PyRef::steal(PySequence_Tuple(dtypes));
  for (Py_ssize_t i = 0; i < PyTuple_Size(list.get()); ++i)
    if (PyObject* t = PyTuple_GetItem(list.get(), i); PyObject_TypeCheck(t, reinterpret_cast<PyTypeObject*>(state().np_dtype)))
      if (std::string_view("biufcmM").find(as_string(attr(t, "kind").get())) == std::string_view::npos) return false;
  return true;
}

PyRef resolve_method(PyObject* self, PyObject* dtypes, PyObject* signature, PyObject* casting, PyObject* reduction) {
  if (const PyRef theirs = same_of_numpy(self); theirs && all_in_numpy(dtypes)) {
    PyRef named = PyRef::steal(PyDict_New());
    if (signature != Py_None) check(PyDict_SetItemString(named.get(), "signature", signature));
    if (casting != Py_None) check(PyDict_SetItemString(named.get(), "casting", casting));
    check(PyDict_SetItemString(named.get(), "reduction", reduction));
    return call(attr(theirs.get(), "resolve_dtypes").get(), {dtypes}, named.get());
  }
  const PyUfunc* u = as_ufunc(self);
  std::vector<OperandType> types;
  PyRef list = PyRef::steal(PySequence_Tuple(dtypes));
  for (int i = 0; i < u->nin && i < PyTuple_Size(list.get()); ++i) {
    PyObject* t = PyTuple_GetItem(list.get(), i);
    Weak weak = t == reinterpret_cast<PyObject*>(&PyLong_Type)      ? Weak::integer
                : t == reinterpret_cast<PyObject*>(&PyFloat_Type)   ? Weak::real
                : t == reinterpret_cast<PyObject*>(&PyComplex_Type) ? Weak::complex
                                                                    : Weak::none;
    types.push_back(weak == Weak::none ? OperandType{to_dtype(t), weak} : OperandType{default_dtype(weak), weak});
  }
  if (static_cast<int>(types.size()) != u->nin) raise(ErrorKind::Value, "{}: resolve_dtypes needs a dtype for each input", name_of(self));
  const Loop loop = resolve(u->op, types, std::nullopt, casting == Py_None ? Casting::same_kind : to_casting(casting));
  PyRef made = PyRef::steal(PyTuple_New(u->nin + u->nout));
  for (int i = 0; i < u->nin; ++i) check(PyTuple_SetItem(made.get(), i, new_ref(dtype_object(loop.in[i]))));
  for (int i = 0; i < u->nout; ++i) {
    const DType t = u->pair == Pair::frexp && i == 1 ? DType::i32 : loop.out;
    check(PyTuple_SetItem(made.get(), u->nin + i, new_ref(dtype_object(t))));
  }
  return made;
}

// ---- Attributes ------------------------------------------------------------------------------------------------------------------

/// NumPy's loop strings ("dd->d") of the row's dtypes.
PyRef types_list(const PyUfunc* u) {
  const OpInfo& spec = info(u->op);
  PyRef list = PyRef::steal(PyList_New(0));
  for (int t = 0; t < kDTypeCount; ++t) {
    if (!(spec.set & dtype_bit(static_cast<DType>(t))) || !info(static_cast<DType>(t)).in_numpy) continue;
    std::vector<OperandType> types(u->nin, OperandType{static_cast<DType>(t), Weak::none});
    Loop loop;
    try {
      loop = resolve(u->op, types);
    } catch (const Error&) {
      continue;
    }
    std::string text;
    for (int i = 0; i < u->nin; ++i) text += info(loop.in[i]).code;
    text += "->";
    for (int i = 0; i < u->nout; ++i) text += u->pair == Pair::frexp && i == 1 ? 'i' : info(loop.out).code;
    check(PyList_Append(list.get(), to_py(text).get()));
  }
  return list;
}

PyRef identity_of(const PyUfunc* u) {
  if (u->pair != Pair::none || u->nin != 2 || u->core) return PyRef::borrow(Py_None);
  switch (u->op) {
    case Op::add:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::gcd:
    case Op::hypot: return to_py(int64_t{0});
    case Op::multiply: return to_py(int64_t{1});
    case Op::bitwise_and: return to_py(int64_t{-1});
    case Op::logical_and: return PyRef::borrow(Py_True);
    case Op::logical_or:
    case Op::logical_xor: return PyRef::borrow(Py_False);
    case Op::logaddexp:
    case Op::logaddexp2: return PyRef::steal(PyFloat_FromDouble(-__builtin_inf()));
    default: return PyRef::borrow(Py_None);
  }
}

enum class Attribute : intptr_t { name, nin, nout, nargs, ntypes, types, identity, signature, doc, call_signature };

PyObject* get_attribute(PyObject* self, void* which) {
  return guard([&]() -> PyObject* {
    const PyUfunc* u = as_ufunc(self);
    switch (static_cast<Attribute>(reinterpret_cast<intptr_t>(which))) {
      case Attribute::name: return new_ref(u->name);
      case Attribute::nin: return PyLong_FromLong(u->nin);
      case Attribute::nout: return PyLong_FromLong(u->nout);
      case Attribute::nargs: return PyLong_FromLong(u->nin + u->nout);
      case Attribute::ntypes: return PyLong_FromSsize_t(PyList_Size(types_list(u).get()));
      case Attribute::types: return types_list(u).release();
      case Attribute::identity: return identity_of(u).release();
      case Attribute::signature: return new_ref(u->core ? u->core : Py_None);
      case Attribute::doc: {
        if (u->doc) return new_ref(u->doc);
        PyRef text = u->function ? PyRef() : call(import_attr("broadcloth._docs", "documentation").get(), {self});
        if (!text) Py_RETURN_NONE;
        if (!u->doc) as_ufunc(self)->doc = new_ref(text.get());
        return text.release();
      }
      case Attribute::call_signature:
        if (u->function) return call(import_attr("inspect", "signature").get(), {u->function}).release();
        return call(import_attr("broadcloth._docs", "signature").get(), {self}).release();
    }
    Py_RETURN_NONE;
  });
}

int set_doc(PyObject* self, PyObject* value, void*) {
  PyUfunc* u = as_ufunc(self);
  PyObject* old = u->doc;
  Py_XINCREF(value);
  u->doc = value;
  Py_XDECREF(old);
  return 0;
}

#define BC_ATTRIBUTE(text, which, setter) \
  {text, get_attribute, setter, nullptr, reinterpret_cast<void*>(static_cast<intptr_t>(Attribute::which))}
PyGetSetDef attributes[] = {BC_ATTRIBUTE("__name__", name, nullptr),
                            BC_ATTRIBUTE("__qualname__", name, nullptr),
                            BC_ATTRIBUTE("nin", nin, nullptr),
                            BC_ATTRIBUTE("nout", nout, nullptr),
                            BC_ATTRIBUTE("nargs", nargs, nullptr),
                            BC_ATTRIBUTE("ntypes", ntypes, nullptr),
                            BC_ATTRIBUTE("types", types, nullptr),
                            BC_ATTRIBUTE("identity", identity, nullptr),
                            BC_ATTRIBUTE("signature", signature, nullptr),
                            BC_ATTRIBUTE("__doc__", doc, set_doc),
                            BC_ATTRIBUTE("__signature__", call_signature, nullptr),
                            {}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyUfunc, vectorcall), READONLY, nullptr}, {}};

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("<ufunc '%U'>", as_ufunc(self)->name); }

/// NumPy's ufunc of the same name; nothing for those that NumPy has not.
PyRef same_of_numpy(PyObject* self) {
  PyRef theirs = attr_or_null(state().numpy, as_ufunc(self)->name);
  return theirs && std::string_view(type_name(theirs.get())) == "ufunc" ? theirs : nullptr;
}

/// Equal to NumPy's ufunc of the same name, and found in its place among keys: `__array_ufunc__` of a class gets NumPy's, and compares
/// it with names that are ours in a program.
PyObject* compare_ufuncs(PyObject* self, PyObject* other, int how) {
  if ((how != Py_EQ && how != Py_NE) || Py_TYPE(other) == state().ufunc) Py_RETURN_NOTIMPLEMENTED;
  return guard([&] { return PyBool_FromLong((same_of_numpy(self).get() == other) == (how == Py_EQ)); });
}

Py_hash_t hash_ufunc(PyObject* self) {
  Py_hash_t made = -1;
  PyRef none = PyRef::steal(guard([&] {
    const PyRef theirs = same_of_numpy(self);
    made = theirs ? PyObject_Hash(theirs.get()) : PyObject_Hash(as_ufunc(self)->name);
    return new_ref(Py_None);
  }));
  return made;
}

PyObject* reduce_dunder(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    if (as_ufunc(self)->core) return new_ref(as_ufunc(self)->name);  // by its name in the package
    PyRef by_name = attr(state().module, "_ufunc");
    PyRef args = tuple_of({as_ufunc(self)->name});
    return tuple_of({by_name.get(), args.get()}).release();
  });
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(as_ufunc(self)->name);
  Py_XDECREF(as_ufunc(self)->doc);
  Py_XDECREF(as_ufunc(self)->function);
  Py_XDECREF(as_ufunc(self)->core);
  PyObject_Free(self);
  Py_DECREF(type);
}

/// What NumPy calls a row that has a shorter name here.
std::string_view numpy_name(std::string_view row) {
  if (row == "abs") return "absolute";
  if (row == "conj") return "conjugate";
  if (row == "bit_count") return "bitwise_count";
  return row;
}

PyRef new_ufunc(std::string_view name, Vectorcall vectorcall, Op op, Pair pair, int nin, int nout) {
  PyUfunc* u = PyObject_New(PyUfunc, state().ufunc);
  if (!u) throw PythonError();
  u->vectorcall = vectorcall;
  u->op = op;
  u->pair = pair;
  u->nin = nin;
  u->nout = nout;
  u->name = to_py(name).release();
  PyUnicode_InternInPlace(&u->name);
  u->doc = u->function = u->core = nullptr;
  return PyRef::steal(reinterpret_cast<PyObject*>(u));
}

void add_ufunc(std::string_view name, Op op, Pair pair, int nin, int nout) {
  const PyRef u = new_ufunc(name, call_ufunc, op, pair, nin, nout);
  check(PyDict_SetItem(state().ufuncs, as_ufunc(u.get())->name, u.get()));
}

/// What has no equal here, a ufunc of SciPy's or an update of NumPy's own memory, is done by NumPy on host copies.
PyObject* ufunc_on_host(PyObject* args, PyObject* kwargs) {
  return PyObject_Call(import_attr("broadcloth._dispatch", "ufunc_on_host").get(), args, kwargs);
}

/// Tells whether a ufunc of SciPy's is called with complex numbers, for which its row here has no loop.
bool special_of_complex(PyObject* function, PyObject* args) {
  const OpInfo& spec = info(as_ufunc(function)->op);
  if (!spec.text || !std::string_view(spec.text).starts_with("special_rows::")) return false;
  if ((spec.set & dtype_sets::COMPLEX) != 0) return false;
  for (Py_ssize_t i = 2; i < PyTuple_Size(args); ++i) {
    PyObject* x = PyTuple_GetItem(args, i);
    if (PyComplex_Check(x) || (is_array(x) && is_complex(array_of(x).dtype()))) return true;
  }
  return false;
}

/// The result of `==` and `!=` between a NumPy value and an array of ours where no loop takes their types (a timedelta64 and dates).
/// NumPy's operators call the ufunc for them. Other errors stay.
PyObject* unlike_times_compared(PyObject* name, PyObject* inputs) {
  if (!PyErr_ExceptionMatches(state().no_loop_error) || PyTuple_Size(inputs) != 2) return nullptr;
  const bool equal = as_string(name) == "equal";
  PyObject *other = PyTuple_GetItem(inputs, 0), *array = PyTuple_GetItem(inputs, 1);
  if ((!equal && as_string(name) != "not_equal") || is_array(other) || !is_array(array)) return nullptr;
  PyErr_Clear();
  return PyObject_RichCompare(array, other, equal ? Py_EQ : Py_NE);
}

/// numpy.ufunc's way to call us: the ufunc of the same name, with NumPy outputs filled from ours.
PyObject* array_ufunc(PyObject*, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    const Py_ssize_t n = PyTuple_Size(args);
    if (n < 2) throw_python(PyExc_TypeError, "__array_ufunc__: expected a ufunc, a method and its inputs");
    PyRef name = PyRef::steal(PyObject_GetAttr(PyTuple_GetItem(args, 0), state().names.__name__));
    PyObject* method = PyTuple_GetItem(args, 1);
    // Where another operand computes ufuncs in its own way, NumPy asks that one next, as it does beside arrays of its own.
    for (Py_ssize_t i = 2; i < n; ++i)
      if (computes_ufuncs(PyTuple_GetItem(args, i))) return new_ref(Py_NotImplemented);
    for (PyObject* key : {state().names.out, state().names.where})
      if (PyObject* const value = kwargs ? PyDict_GetItem(kwargs, key) : nullptr; value && one_computes_ufuncs(value))
        return new_ref(Py_NotImplemented);
    for (Py_ssize_t i = 2; i < n; ++i)
      if (is_left_to_numpy(PyTuple_GetItem(args, i))) return ufunc_on_host(args, kwargs);
    PyRef function = PyRef::borrow(PyDict_GetItem(state().ufuncs, name.get()));
    if (function && special_of_complex(function.get(), args)) return ufunc_on_host(args, kwargs);
    if (PyUnicode_CompareWithASCIIString(method, "__call__") != 0) {
      const bool at = PyUnicode_CompareWithASCIIString(method, "at") == 0;
      if (!function || (at && n > 2 && is_numpy_array(PyTuple_GetItem(args, 2)))) return ufunc_on_host(args, kwargs);
      function = PyRef::steal(PyObject_GetAttr(function.get(), method));
    } else if (!function) {
      // matmul and its kin are no rows but ufuncs of the package.
      function = PyRef::maybe(PyObject_GetAttr(import("broadcloth").get(), name.get()));
      if (!function) {
        PyErr_Clear();
        return ufunc_on_host(args, kwargs);
      }
    }
    if (!kwargs && n <= 4 && Py_TYPE(function.get()) == state().ufunc &&
        !as_ufunc(function.get())->core) {  // an operator between a scalar of NumPy's and an array
      PyObject* operands[2];
      for (Py_ssize_t i = 2; i < n; ++i) operands[i - 2] = PyTuple_GetItem(args, i);
      if (PyObject* const made = call_ufunc(function.get(), operands, static_cast<size_t>(n - 2), nullptr)) return made;
      return unlike_times_compared(name.get(), PyRef::steal(PyTuple_GetSlice(args, 2, n)).get());
    }
    PyRef inputs = PyRef::steal(PyTuple_GetSlice(args, 2, n));
    PyObject* out = kwargs ? PyDict_GetItem(kwargs, state().names.out) : nullptr;
    bool numpy_out = false;
    if (out && PyTuple_Check(out))
      for (Py_ssize_t i = 0; i < PyTuple_Size(out); ++i) numpy_out = numpy_out || is_numpy_array(PyTuple_GetItem(out, i));
    if (!numpy_out) {
      PyObject* const result = PyObject_Call(function.get(), inputs.get(), kwargs);
      return result || kwargs ? result : unlike_times_compared(name.get(), inputs.get());
    }
    PyRef outs = PyRef::borrow(out);
    PyRef rest = PyRef::steal(PyDict_Copy(kwargs));
    check(PyDict_DelItem(rest.get(), state().names.out));
    PyRef made = PyRef::steal(PyObject_Call(function.get(), inputs.get(), rest.get()));
    if (!PyTuple_Check(made.get())) made = tuple_of({made.get()});
    PyRef copyto = attr(state().numpy, "copyto");
    for (Py_ssize_t i = 0; i < PyTuple_Size(outs.get()); ++i) {
      PyObject* target = PyTuple_GetItem(outs.get(), i);
      PyObject* value = PyTuple_GetItem(made.get(), i);
      if (!target || target == Py_None || !value) continue;
      if (is_array(target))
        assign(writable(target, "out"), array_of(value));
      else
        call(copyto.get(), {target, to_numpy(array_of(value)).get()});
    }
    return PyTuple_Size(outs.get()) == 1 ? new_ref(PyTuple_GetItem(outs.get(), 0)) : outs.release();
  });
}

PyObject* array_function(PyObject*, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    PyRef f = import_attr("broadcloth._dispatch", "array_function");
    return PyObject_Call(f.get(), args, kwargs);
  });
}

}  // namespace

PyRef generalised_ufunc(std::string_view name, PyObject* function, std::string_view core) {
  PyRef made = new_ufunc(name, call_generalised, Op::multiply, Pair::none, 2, 1);
  PyUfunc* u = as_ufunc(made.get());
  u->function = new_ref(function);
  u->core = to_py(core).release();
  u->doc = PyRef::maybe(PyObject_GetAttrString(function, "__doc__")).release();
  return made;
}

Array where_mask(PyObject* where, Device device) {
  if (!where || where == Py_True || is_missing(where)) return {};
  if (where == Py_None || PyFloat_Check(where) || PyLong_Check(where) || PyComplex_Check(where) || is_numpy_scalar(where)) {
    // Of a number its truth counts, as of None.
    const int all = PyObject_IsTrue(where);
    check(all);
    return all ? Array() : full(Dims(), Scalar::boolean(false), DType::b1, device);
  }
  if (PyList_Check(where) || PyTuple_Check(where)) {
    // Lists are read as booleans; arrays must be boolean.
    bool same = false;
    return as_array(where, DType::b1, std::nullopt, device, &same);
  }
  return astype(to_array(where, device), DType::b1, false, Casting::safe);
}

UfuncOptions ufunc_options(PyObject* where, PyObject* dtype, PyObject* casting, Device device) {
  UfuncOptions o;
  o.device = device;
  o.dtype = to_dtype_or_none(dtype);
  if (casting && casting != Py_None) o.casting = to_casting(casting);
  o.where = where_mask(where, device);
  return o;
}

Array output(PyObject* out, const char* name) {
  if (!out || out == Py_None) return {};
  if (PyTuple_Check(out) && PyTuple_Size(out) == 1) return output(PyTuple_GetItem(out, 0), name);
  return writable(out, name);
}

/// Methods as subclasses of ndarray, and programs that were written for NumPy, call them: what is refused to these, NumPy computes.
template <int Which>
struct CallableMethod {
  static inline FastCall own = nullptr;

  static PyMethodDef of(PyMethodDef method) {
    name = method.ml_name;
    own = reinterpret_cast<FastCall>(reinterpret_cast<void*>(method.ml_meth));
    method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call));
    return method;
  }

 private:
  static inline const char* name = nullptr;

  /// Calls NumPy's method where an operand computes ufuncs itself, which NumPy asks; false where none does.
  static bool asks_operands(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** made) {
    bool asked = false;
    PyObject* const given = guard([&]() -> PyObject* {
      const PyRef theirs = any_computes_ufuncs(args, n, kwnames) ? same_of_numpy(self) : nullptr;
      if (!theirs) return nullptr;
      asked = true;
      const TupleArguments all(args, n, kwnames);
      return PyObject_Call(attr(theirs.get(), name).get(), all.positional.get(), all.named.get());
    });
    *made = given;
    return asked || PyErr_Occurred();
  }

  static PyObject* call(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
    if (subclasses_used.load(std::memory_order_relaxed)) [[unlikely]]
      return ufunc_of_classes(self, name, call_plain, args, n, kwnames);
    return call_plain(self, args, n, kwnames);
  }

  static PyObject* call_plain(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
    if (!(n == 1 && !kwnames && is_exact(args[0], state().array)))
      if (PyObject* theirs = nullptr; asks_operands(self, args, n, kwnames, &theirs)) [[unlikely]]
        return theirs;
    PyObject* made = own(self, args, n, kwnames);
    if (made || !program_mode.load(std::memory_order_relaxed)) [[likely]]
      return made;
    return guard([&] {
      const PyRef what = PyRef::steal(PyUnicode_FromFormat("%U.%s", as_ufunc(self)->name, name));
      const TupleArguments given(args, n, kwnames);
      return refused(what.get(), given.positional.get(), given.named.get());
    });
  }
};

PyMethodDef array_ufunc_method() {
  return {"__array_ufunc__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(array_ufunc)), METH_VARARGS | METH_KEYWORDS, nullptr};
}
PyMethodDef array_function_method() {
  return {"__array_function__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(array_function)), METH_VARARGS | METH_KEYWORDS,
          nullptr};
}

void init_ufunc(PyObject* module) {
  State& s = state();
  static std::vector<PyMethodDef> methods = {
      CallableMethod<0>::of(
          BC_METHOD("reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=..., where=True)", reduce_method)),
      CallableMethod<1>::of(BC_METHOD("accumulate(array, axis=0, dtype=None, out=None)", accumulate_method)),
      CallableMethod<2>::of(BC_METHOD("reduceat(array, indices, axis=0, dtype=None, out=None)", reduceat_method)),
      CallableMethod<3>::of({"outer", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(outer_method)), METH_FASTCALL | METH_KEYWORDS,
                             "outer($self, A, B, /, **kwargs)\n--\n\n"}),
      CallableMethod<4>::of(BC_METHOD("at(a, indices, b=..., /)", at_method)),
      BC_METHOD("resolve_dtypes(dtypes, *, signature=None, casting=None, reduction=False)", resolve_method),
      {"__reduce__", reduce_dunder, METH_NOARGS, nullptr},
      {},
  };
  keep_documented("ufunc.", methods.data());
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_repr, reinterpret_cast<void*>(repr)},
      {Py_tp_richcompare, reinterpret_cast<void*>(compare_ufuncs)},
      {Py_tp_hash, reinterpret_cast<void*>(hash_ufunc)},
      {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_any>)},
      {Py_tp_getset, attributes},
      {Py_tp_methods, methods.data()},
      {Py_tp_members, members},
      {0, nullptr},
  };
  PyType_Spec spec = {"broadcloth.ufunc", sizeof(PyUfunc), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                      slots};
  s.ufunc = add_type(module, &spec, "ufunc");
  s.ufuncs = PyRef::steal(PyDict_New()).release();
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& spec = info(op);
    if (spec.kind != OpKind::elementwise || op == Op::cast || spec.signature == Signature::random) continue;
    add_ufunc(numpy_name(spec.name), op, Pair::none, spec.nin, 1);
  }
  add_ufunc("divmod", Op::floor_divide, Pair::divmod, 2, 2);
  add_ufunc("modf", Op::modf_fraction, Pair::modf, 1, 2);
  add_ufunc("frexp", Op::frexp_mantissa, Pair::frexp, 1, 2);
  check(PyModule_AddObjectRef(module, "ufuncs", s.ufuncs));
}

}  // namespace bc::bind
