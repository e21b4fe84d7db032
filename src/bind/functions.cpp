// The module's functions over arrays: ops, views, and the composites of ops/composite.h under NumPy's parameter names.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "array/indexing.h"
#include "array/other_dtypes.h"
#include "array/placement.h"
#include "array/record.h"
#include "array/small_host.h"
#include "bind/args.h"
#include "bind/autograd.h"
#include "bind/csgraph.h"
#include "bind/fft.h"
#include "bind/linalg.h"
#include "bind/program.h"
#include "bind/random.h"
#include "bind/reduce.h"
#include "bind/sorting.h"
#include "bind/sparse.h"
#include "bind/subclass.h"
#include "bind/values.h"
#include "bind/warnings.h"
#include "ops/compose.h"
#include "ops/einsum.h"
#include "runtime/copy_kind.h"

namespace bc::bind {

/// The value that is stored into an array, with the warning that imaginary parts are lost.
Arg stored_value(PyObject* value, const Array& target) {
  Arg made = to_value(value, target.dtype(), target.device());
  if (made.array) warn_of_lost_imaginary(made.array.dtype(), target.dtype());
  return made;
}

PyObject* clip_any(PyObject* a, PyObject* low, PyObject* high, PyObject* out, PyObject* dtype, PyObject* casting, PyObject* where) {
  const Device device = device_of({a, low, high});
  UfuncOptions options = ufunc_options(where, dtype, casting, device);
  options.out = output(out, "clip");
  const Arg value = to_array(a, device);  // a number is strong, as in NumPy
  // A Python integer past the dtype's range is no bound at all.
  auto bound = [&](PyObject* o, bool lower) -> std::optional<Arg> {
    if (is_missing(o) || o == Py_None) return std::nullopt;
    if (const auto s = python_scalar(o); s && s->first == Weak::integer && value.array && is_integer(value.array.dtype())) {
      const bool fits = s->second.dtype != DType::f64 && s->second.fits(value.array.dtype());
      const bool negative = s->second.dtype == DType::f64 ? s->second.f < 0 : s->second.dtype == DType::i64 && s->second.i < 0;
      if (!fits && negative == lower) return std::nullopt;
    }
    return to_arg(o, device);
  };
  Array made = clip(value, bound(low, true), bound(high, false), options);
  warned(value.array, std::nullopt, options.out);
  if (options.out) return new_ref(PyTuple_Check(out) ? PyTuple_GetItem(out, 0) : out);
  return wrap_value(std::move(made));
}

/// The operands of concatenate: arrays, and which of them are Python numbers.
struct Parts {
  std::vector<Array> arrays;
  std::vector<std::pair<size_t, Arg>> numbers;

  /// Gives the numbers the dtype of the others, as where all are flattened.
  void convert_numbers() {
    std::vector<Arg> all(arrays.begin(), arrays.end());
    for (const auto& [i, number] : numbers) all[i] = number;
    const DType t = compose::result_type(all);
    for (const auto& [i, number] : numbers) arrays[i] = astype(arrays[i], t);  // as NumPy casts it: 300 in int8 is 44
  }
};

template <>
inline constexpr bool kPlaced<Parts> = true;
template <>
struct From<Parts> {
  static constexpr const char* type = From<std::vector<Array>>::type;
  static Parts get(PyObject* o, const Context& c) {
    Parts parts{From<std::vector<Array>>::get(o, c), {}};
    if (!PyList_Check(o) && !PyTuple_Check(o)) return parts;
    for (size_t i = 0; i < parts.arrays.size(); ++i) {
      if (parts.arrays[i].ndim() != 0) continue;
      const PyRef item = PyRef::steal(PySequence_GetItem(o, static_cast<Py_ssize_t>(i)));
      if (const auto number = python_scalar(item.get())) parts.numbers.emplace_back(i, Arg(number->first, number->second));
    }
    return parts;
  }
};

namespace {

PyRef steal(PyObject* o) { return PyRef::steal(o); }

// ---- Ops -------------------------------------------------------------------------------------------------------------------------

std::optional<Op> reduction_named(std::string_view name) {
  static const std::unordered_map<std::string_view, Op> rows = [] {
    std::unordered_map<std::string_view, Op> m;
    for (int i = 0; i < static_cast<int>(Op::library); ++i)
      if (info(static_cast<Op>(i)).kind == OpKind::reduce) m.emplace(info(static_cast<Op>(i)).name, static_cast<Op>(i));
    // Rows may carry the ufunc's name.
    for (auto [name, op] : {std::pair{"sum", Op::reduce_sum},
                            {"prod", Op::reduce_prod},
                            {"max", Op::reduce_max},
                            {"min", Op::reduce_min},
                            {"any", Op::reduce_any},
                            {"all", Op::reduce_all}})
      m.emplace(name, op);
    return m;
  }();
  const auto it = rows.find(name);
  return it == rows.end() ? std::nullopt : std::optional(it->second);
}

PyRef reduce_function(std::string_view op, PyObject* a, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims,
                      PyObject* initial, PyObject* where, double ddof) {
  const std::optional<Op> row = reduction_named(op);
  if (!row) raise(ErrorKind::Value, "reduce: no reduction is called '{}'", op);
  const Device device = device_of({a});
  const Array array = to_array(a, device);
  if (PyObject* made = reduce_now(*row, array, axis, dtype, out, keepdims, initial, where)) return steal(made);
  ReduceOptions options = reduce_options(info(*row).name, axis, dtype, out, keepdims, initial, where, array);
  options.ddof = ddof;
  warn_of_reduced(*row, array, options);
  check_arg_extreme(*row, array, axis);
  Array made = reduce(*row, array, options);
  if (*row == Op::reduce_mean || *row == Op::reduce_var || *row == Op::reduce_std)
    warn_of_short_slices(array, options, *row != Op::reduce_mean);
  return steal(finish_reduce(std::move(made), out));
}

Array scan_function(std::string_view op, const Array& a, const Axis& axis, std::optional<DType> dtype, const Array& out) {
  if (op == "sum") return cumsum(a, axis, dtype, out);
  if (op == "prod") return cumprod(a, axis, dtype, out);
  BC_CHECK(op == "max" || op == "min", Value, "scan: expected 'sum', 'prod', 'max' or 'min', got '{}'", op);
  return accumulate(op == "max" ? Op::maximum : Op::minimum, axis ? a : ravel(a), axis.value_or(0), dtype, out);
}

/// A Python integer, or an int64 of NumPy's or of the CPU's, which is waited for.
std::optional<int64_t> known_index(PyObject* o) {
  Element element;
  if (is_array(o)) {
    if (array_dtype(o) != DType::i64) return std::nullopt;
    if (is_bare(o)) return as_py_array(o)->element.scalar().i;
    const Array& a = array_of(o);
    return a.ndim() == 0 && a.device().type == DeviceType::cpu ? std::optional(look(a).i) : std::nullopt;
  }
  if (read_numpy_scalar(o, DType::i64, &element)) return element.scalar().i;
  if (!PyLong_CheckExact(o)) return std::nullopt;
  int overflow = 0;
  const int64_t index = PyLong_AsLongLongAndOverflow(o, &overflow);
  return overflow ? std::nullopt : std::optional(index);
}

/// The extents of a tuple of positive integers, whose product is an int64; nullopt for any other shape.
std::optional<Dims> positive_extents(PyObject* shape) {
  if (!PyTuple_CheckExact(shape) || PyTuple_Size(shape) == 0 || PyTuple_Size(shape) > kMaxDims) return std::nullopt;
  Dims extents(static_cast<int>(PyTuple_Size(shape)));
  int64_t total = 1;
  for (int d = 0; d < extents.size(); ++d) {
    PyObject* const o = PyTuple_GetItem(shape, d);
    int overflow = 0;
    if (!PyLong_CheckExact(o)) return std::nullopt;
    extents[d] = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow || extents[d] <= 0 || __builtin_mul_overflow(total, extents[d], &total)) return std::nullopt;
  }
  return extents;
}

/// Writes the coordinates of a flat index in C order. Returns whether it lies inside.
bool coordinates_of(int64_t index, const Dims& extents, int64_t* to) {
  if (index < 0) return false;
  for (int d = extents.size() - 1; d >= 0; --d) {
    to[d] = index % extents[d];
    index /= extents[d];
  }
  return index == 0;
}

constexpr int64_t kDividedBelow = int64_t{1} << 52;

/// The remainder of a division by a positive number; `n` becomes the quotient. Both are below kDividedBelow: a product with the reciprocal,
/// which is off by one at most, takes a third of the time of an integer division.
int64_t divided(int64_t& n, int64_t by, double reciprocal) {
  int64_t quotient = static_cast<int64_t>(static_cast<double>(n) * reciprocal), rest = n - quotient * by;
  const int64_t low = rest < 0 ? 1 : 0, high = rest >= by ? 1 : 0;
  quotient += high - low;
  rest += (low - high) * by;
  n = quotient;
  return rest;
}

/// A few integers of an array in host memory, in C order; nullopt for other arrays, also for those that need a cast.
std::optional<std::vector<int64_t>> host_integers(PyObject* o) {
  constexpr int64_t kMost = 1 << 15;  // kernels convert more
  if (!is_array(o) || array_dtype(o) != DType::i64) return std::nullopt;
  const Array& a = array_of(o);
  if (a.device().type != DeviceType::cpu || a.size() >= kMost) return std::nullopt;
  std::vector<int64_t> values(static_cast<size_t>(a.size()));
  without_gil_unless(is_small(a), [&] {
    to_host(a, values.data());
    return true;
  });
  return values;
}

PyRef integers(const std::vector<int64_t>& values, const Dims& shape, Device device) {
  return PyRef::steal(wrap(from_host(values.data(), DType::i64, contiguous_layout(shape), device)));
}

/// numpy.unravel_index in C order of an integer, or of integers in host memory; None where NumPy is to be asked, which has the errors too.
PyRef unravel_on_host(PyObject* indices, PyObject* shape) {
  const std::optional<Dims> extents = positive_extents(shape);
  const int n = extents ? extents->size() : 0;
  if (const std::optional<int64_t> index = known_index(indices); index && extents) {
    int64_t at[kMaxDims];
    if (!coordinates_of(*index, *extents, at)) return PyRef::borrow(Py_None);
    PyRef made = steal(PyTuple_New(n));
    for (int d = 0; d < n; ++d) {
      PyArray* const element = new_element();
      element->element.dtype = DType::i64;
      std::memcpy(element->element.bytes, &at[d], sizeof(int64_t));
      check(PyTuple_SetItem(made.get(), d, reinterpret_cast<PyObject*>(element)));
    }
    return made;
  }
  const int64_t size = extents ? product(*extents) : 0;
  if (size == 0 || size >= kDividedBelow) return PyRef::borrow(Py_None);
  std::optional<std::vector<int64_t>> rest = host_integers(indices);
  if (!rest) return PyRef::borrow(Py_None);
  int64_t outside = 0;
  for (const int64_t i : *rest) outside |= i | (size - 1 - i);
  if (outside < 0) return PyRef::borrow(Py_None);
  const Array& a = array_of(indices);
  PyRef made = steal(PyTuple_New(n));
  std::vector<int64_t> at(rest->size());
  for (int d = n - 1; d > 0; --d) {
    const int64_t extent = (*extents)[d];
    const double reciprocal = 1 / static_cast<double>(extent);
    for (size_t k = 0; k < at.size(); ++k) at[k] = divided((*rest)[k], extent, reciprocal);
    check(PyTuple_SetItem(made.get(), d, integers(at, a.shape(), a.device()).release()));
  }
  check(PyTuple_SetItem(made.get(), 0, integers(*rest, a.shape(), a.device()).release()));
  return made;
}

/// numpy.ravel_multi_index in C order of integers in host memory, one array of one shape an axis; None where NumPy is to be asked.
PyRef ravel_on_host(PyObject* multi_index, PyObject* shape) {
  const std::optional<Dims> extents = positive_extents(shape);
  const int n = extents ? extents->size() : 0;
  if (n == 0 || product(*extents) >= kDividedBelow || !PyTuple_Check(multi_index) || PyTuple_Size(multi_index) != n)
    return PyRef::borrow(Py_None);
  PyObject* const first = PyTuple_GetItem(multi_index, 0);
  std::optional<std::vector<int64_t>> flat = host_integers(first);
  if (!flat) return PyRef::borrow(Py_None);
  const Dims& form = array_of(first).shape();
  int64_t outside = 0;
  for (const int64_t i : *flat) outside |= i | ((*extents)[0] - 1 - i);
  for (int d = 1; d < n; ++d) {
    PyObject* const item = PyTuple_GetItem(multi_index, d);
    const std::optional<std::vector<int64_t>> at = host_integers(item);
    if (!at || array_of(item).shape() != form) return PyRef::borrow(Py_None);
    const int64_t extent = (*extents)[d];
    for (size_t k = 0; k < flat->size(); ++k) {
      const int64_t i = (*at)[k];
      outside |= i | (extent - 1 - i);
      (*flat)[k] = static_cast<int64_t>(static_cast<uint64_t>((*flat)[k]) * static_cast<uint64_t>(extent) + static_cast<uint64_t>(i));
    }
  }
  return outside < 0 ? PyRef::borrow(Py_None) : integers(*flat, form, array_of(first).device());
}

PyRef where_function(PyObject* condition, PyObject* x, PyObject* y) {
  const Device device = device_of({condition, x, y});
  if (is_missing(x) != is_missing(y)) throw_python(PyExc_ValueError, "either both or neither of x and y should be given");
  if (is_missing(x)) {
    const Array a = to_array(condition, device);
    const std::vector<Array> list = without_gil_unless(is_small(a), [&] { return nonzero(a); });
    return steal(result(list, nullptr));
  }
  ArgList args;
  push_any(&args, condition, device);
  push_any(&args, x, device);
  push_any(&args, y, device);
  // A Python integer past an array's dtype wraps here, as in NumPy.
  for (int i = 1; i < 3; ++i) {
    Arg& scalar = args[i];
    const Array& other = args[3 - i].array;
    if (scalar.weak != Weak::integer || !other || is_inexact(other.dtype()) || scalar.value.dtype == DType::f64) continue;
    const DType t = promote_weak(other.dtype(), Weak::integer);
    if (!scalar.value.fits(t)) scalar = Arg(astype(full(Dims(), scalar.value, scalar.value.dtype, device), t));
  }
  UfuncOptions options;
  options.device = device;
  return steal(wrap(apply(Op::where, &args, options)));
}

void copy_to(PyObject* dst, PyObject* src, Casting casting, PyObject* where) {
  const Array& to = writable(dst, "copyto");
  const Arg value = casting == Casting::unsafe ? to_cast_value(src, to.dtype(), to.device()) : to_arg(src, to.device());
  const DType from = value.array ? value.array.dtype() : default_dtype(value.weak);
  // A Python number that is no bool has a kind only, which is equivalent to no dtype.
  const bool number = value.weak > Weak::boolean && casting != Casting::equiv;
  const bool fits = can_cast(from, to.dtype(), casting) || (number && promote_weak(to.dtype(), value.weak) == to.dtype());
  if (!fits)
    raise(ErrorKind::Type, "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule '{}'", info(from).name,
          info(to.dtype()).name, to_string(casting));
  warn_of_lost_imaginary(from, to.dtype());
  const Array mask = where_mask(where, to.device());
  if (!mask) return assign(to, value);
  assign_where(to, mask, value);
}

// ---- Views -----------------------------------------------------------------------------------------------------------------------

/// A view of what was given, or an array when a list was given.
PyRef view_of(PyObject* o, const Array& a, bool read_only = false) {
  if (!is_array(o)) {
    PyObject* made = wrap(a);
    as_py_array(made)->read_only = read_only;
    return steal(made);
  }
  if (a.storage() != array_of(o).storage()) return steal(wrap(a));
  return steal(wrap_view(a, o, read_only));
}
/// The array that was given where the view is all of it, as NumPy's functions give that drop or add no axis.
PyRef itself_or_view_of(PyObject* o, const Array& a) { return is_array(o) ? itself_or_view(o, a) : view_of(o, a); }
Array given(PyObject* o) { return to_array(o, device_of({o})); }

PyRef broadcast_arrays_function(PyObject* const* args, Py_ssize_t n) {
  const Device device = device_of(args, n);
  std::vector<Array> arrays;
  for (Py_ssize_t i = 0; i < n; ++i) arrays.push_back(to_array(args[i], device));
  const std::vector<Array> made = broadcast_arrays(arrays);
  const auto kept = [&](Py_ssize_t i) { return made[i].shape() == arrays[i].shape(); };
  bool all_kept = true;
  for (Py_ssize_t i = 0; i < n; ++i) all_kept &= kept(i);
  PyRef list = steal(PyTuple_New(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    const bool itself = all_kept && is_array(args[i]) && !as_py_array(args[i])->scalar;
    PyRef one = itself ? itself_or_view(args[i], made[i]) : view_of(args[i], made[i], !kept(i));
    check(PyTuple_SetItem(list.get(), i, one.release()));
  }
  return list;
}

PyObject* broadcast_arrays_entry(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guard([&] {
    bool subok = false;
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_Size(kwnames); ++i) {
      PyObject* name = PyTuple_GetItem(kwnames, i);
      if (PyUnicode_CompareWithASCIIString(name, "subok") != 0) {
        PyErr_Format(PyExc_TypeError, "broadcast_arrays() got an unexpected keyword argument '%U'", name);
        throw PythonError();
      }
      subok = to_bool(args[n]);
    }
    PyObject* const made = broadcast_arrays_function(args, n).release();
    return any_of_subclass(args, n) ? with_class(made, "broadcast_arrays", false, args, n, subok) : made;
  });
}

PyObject* broadcast_shapes_entry(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guard([&] {
    Dims shape;
    for (Py_ssize_t i = 0; i < n; ++i) shape = broadcast_shapes("broadcast_shapes", shape, to_shape(args[i]));
    return shape_tuple(shape).release();
  });
}

/// Elements that a storage holds, counted in a dtype.
int64_t storage_elements(const Array& a) { return storage_facts(a).bytes / itemsize(a.dtype()); }

PyRef as_strided(PyObject* array, const Dims& shape, const Dims& strides, int64_t offset) {
  if (!is_array(array)) raise(ErrorKind::Type, "as_strided: expected a broadcloth.ndarray, got {}", type_name(array));
  const Array& a = array_of(array);
  const int64_t item = itemsize(a.dtype());
  if (shape.size() != strides.size()) raise(ErrorKind::Value, "as_strided: expected one stride an axis, got {} and {}", shape, strides);
  Layout layout;
  layout.shape = shape;
  layout.strides = strides;
  layout.offset = a.offset() + offset / item;
  bool whole = offset % item == 0;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) throw_python(PyExc_ValueError, "negative dimensions are not allowed");
    whole = whole && strides[d] % item == 0;
    layout.strides[d] = strides[d] / item;
  }
  if (!whole)
    raise(ErrorKind::Value, "as_strided: expected strides and offset in multiples of {} bytes, got {} and {}", item, strides, offset);
  int64_t low = 0, high = -1;
  bounds(layout, &low, &high);
  if (low <= high && (low < 0 || high >= storage_elements(a)))
    raise(ErrorKind::Value, "as_strided: a view of shape {} with strides {} leaves the array's memory", shape, strides);
  return steal(wrap_view(a.with_layout(std::move(layout)), array));
}

/// The bytes that an array lies in, where they are known without running anything.
std::optional<std::pair<intptr_t, intptr_t>> byte_range(PyObject* o) {
  Layout layout;
  const char* base = nullptr;
  int64_t item = 1;
  if (is_array(o)) {
    const Array& a = array_of(o);
    const StorageFacts facts = storage_facts(a);
    if (!facts.exposed || a.device().type != DeviceType::cpu) return std::nullopt;
    base = static_cast<const char*>(facts.base);
    layout = a.layout();
    item = itemsize(a.dtype());
  } else if (is_numpy_array(o)) {
    const NumpyView view(o);
    if (view.copied()) return std::nullopt;
    base = static_cast<const char*>(view.data());
    layout = view.layout();
    item = itemsize(view.dtype());
  } else {
    return std::nullopt;
  }
  int64_t low = 0, high = -1;
  bounds(layout, &low, &high);
  if (low > high) return std::nullopt;
  return std::pair(reinterpret_cast<intptr_t>(base + low * item), reinterpret_cast<intptr_t>(base + (high + 1) * item));
}

/// Where an array lies in its storage: shape, strides in bytes, first byte, bytes of an element.
PyRef place_of(const Array& a) {
  const int64_t item = itemsize(a.dtype());
  return tuple_of({shape_tuple(a.shape()).get(), shape_tuple(a.strides(), item).get(), to_py(a.offset() * item).get(), to_py(item).get()});
}

/// Whether two arrays may touch the same element; `exact` solves it for arrays of one storage, as numpy.shares_memory does.
bool shares_memory(PyObject* x, PyObject* y, bool exact, PyObject* max_work) {
  if (is_array(x) && is_array(y) && array_of(x).storage() == array_of(y).storage()) {
    const Array &a = array_of(x), &b = array_of(y);
    if (a.size() == 0 || b.size() == 0) return false;
    int64_t low[2], high[2];
    bounds(a.layout(), &low[0], &high[0]);
    bounds(b.layout(), &low[1], &high[1]);
    const int64_t sa = itemsize(a.dtype()), sb = itemsize(b.dtype());
    if (low[0] * sa >= (high[1] + 1) * sb || low[1] * sb >= (high[0] + 1) * sa) return false;
    if (!exact) return true;
    if (a.dtype() == b.dtype() && !may_overlap(a.layout(), b.layout())) return false;
    PyRef solve = import_attr("broadcloth._indexing", "places_meet");
    return call(solve.get(), {place_of(a).get(), place_of(b).get(), max_work}).get() == Py_True;
  }
  const auto p = byte_range(x), q = byte_range(y);
  return p && q && p->first < q->second && q->first < p->second;
}

// ---- Random numbers --------------------------------------------------------------------------------------------------------------

Array random_function(std::string_view kind, uint64_t seed, uint64_t counter, const Dims& shape, std::optional<DType> dtype,
                      const Scalar& low, const Scalar& high, bool endpoint, Device device) {
  device = placed(device, shape);
  if (kind == "uniform") return random_uniform(seed, counter, shape, dtype.value_or(DType::f64), device);
  if (kind == "normal") return random_standard_normal(seed, counter, shape, dtype.value_or(DType::f64), device);
  if (kind == "integers") return random_integers(seed, counter, low, high, shape, dtype.value_or(DType::i64), endpoint, device);
  if (kind == "uint32")
    return random_integers(seed, counter, Scalar::integer(0), Scalar::integer(0xffffffff), shape, DType::u32, true, device);
  if (kind == "uint64")
    return random_integers(seed, counter, Scalar::integer(0), Scalar::uinteger(~uint64_t{0}), shape, DType::u64, true, device);
  raise(ErrorKind::Value, "random: expected 'uniform', 'normal', 'integers', 'uint32' or 'uint64', got '{}'", kind);
}

// ---- Composites whose C++ signature is not Python's -------------------------------------------------------------------------------

/// split and array_split: a number of sections, or the places to cut.
template <auto BySections, auto ByCuts>
PyRef split_function(PyObject* o, PyObject* where, int64_t axis) {
  const Array a = given(o);
  std::vector<Array> made;
  if (PyLong_Check(where) || is_numpy_scalar(where)) {
    made = BySections(a, to_int(where, "indices_or_sections"), axis);
  } else {
    const Axes cuts = to_axes(is_array(where) ? to_numpy(array_of(where)).get() : where);
    made = ByCuts(a, cuts, axis);
  }
  PyRef list = steal(PyList_New(0));
  for (const Array& part : made) check(PyList_Append(list.get(), view_of(o, part).get()));
  return list;
}

template <auto F>
Array nan_scan(const Array& a, const NumberAxis& axis, std::optional<DType> dtype, const Array& out) {
  return F(warned(a, dtype, out), axis, dtype, out);
}

/// What a reduction without its NaNs says of a slice that holds nothing else.
enum class Nothing { Silent, AllNan, Mean, Spread };

template <Array (*F)(const Array&, const ReduceOptions&), Nothing kNothing = Nothing::Silent>
PyRef nan_reduction(PyObject* a, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims, PyObject* initial, PyObject* where,
                    double ddof) {
  const Array array = to_array(a, device_of({a}));
  ReduceOptions options = reduce_options("nan reduction", axis, dtype, out, keepdims, initial, where, array);
  options.ddof = ddof;
  Array made = F(array, options);
  bool told = false;
  constexpr bool mean = kNothing == Nothing::Mean, spread = kNothing == Nothing::Spread;
  warned(array, options.dtype, spread ? Array() : options.out);  // a variance is real anyway
  if constexpr (mean || spread) told = warn_of_short_slices(array, options, spread);
  // Whether a slice is all NaN shows when the result is read; a NaN is all it can then hold.
  if constexpr (kNothing != Nothing::Silent)
    if (!told && is_inexact(array.dtype()))
      made.storage()->notice.store(mean     ? "Mean of empty slice"
                                   : spread ? "Degrees of freedom <= 0 for slice."
                                            : "All-NaN slice encountered",
                                   std::memory_order_relaxed);
  return steal(finish_reduce(std::move(made), out));
}

void warn_of_few_observations(const Array& m, bool rowvar, double ddof) {
  if (m.ndim() > 2) return;
  const int64_t variables = m.ndim() < 2 ? 1 : m.shape()[rowvar ? 0 : 1], count = m.ndim() < 2 ? m.size() : m.shape()[rowvar ? 1 : 0];
  if (variables > 0 && static_cast<double>(count) <= ddof) warn(PyExc_RuntimeWarning, "Degrees of freedom <= 0 for slice");
}

/// NumPy's is an array where all axes are summed over, too.
PyRef tensordot_function(const Array& a, const Array& b, PyObject* axes) {
  if (PyLong_Check(axes)) return steal(wrap(tensordot(a, b, to_int(axes, "axes"))));
  PyRef pair = steal(PySequence_Tuple(axes));
  if (PyTuple_Size(pair.get()) != 2) throw_python(PyExc_ValueError, "tensordot: expected a number or two lists for 'axes'");
  return steal(wrap(tensordot(a, b, to_axes(PyTuple_GetItem(pair.get(), 0)), to_axes(PyTuple_GetItem(pair.get(), 1)))));
}

/// Integers from a number, a list or any array.
std::vector<int64_t> integers(PyObject* o) {
  PyRef host = is_array(o) ? to_numpy(ravel(array_of(o))) : is_numpy_array(o) ? steal(PyObject_CallMethod(o, "ravel", nullptr)) : nullptr;
  if (!host) return to_axes(o);
  return to_axes(steal(PyObject_CallMethod(host.get(), "tolist", nullptr)).get());
}

/// The shifts of roll(), which may be any integers: those that no int64 holds are as far as they are modulo all extents.
std::vector<int64_t> shifts(PyObject* o, const Array& a) {
  PyRef list = is_array(o)         ? to_numpy(ravel(array_of(o)))
               : is_numpy_array(o) ? steal(PyObject_CallMethod(o, "ravel", nullptr))
                                   : PyRef::borrow(o);
  PyRef items = PySequence_Check(list.get()) ? steal(PySequence_Tuple(list.get())) : tuple_of({list.get()});
  PyRef whole = to_py(std::max<int64_t>(product(a.shape()), 1));
  std::vector<int64_t> all;
  for (Py_ssize_t i = 0; i < PyTuple_Size(items.get()); ++i) {
    PyRef number = steal(PyNumber_Long(PyTuple_GetItem(items.get(), i)));
    int overflow = 0;
    int64_t shift = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
    if (overflow) shift = PyLong_AsLongLong(steal(PyNumber_Remainder(number.get(), whole.get())).get());
    all.push_back(shift);
  }
  return all;
}

/// The choices of choose(): Python numbers among them take the others' dtype.
std::vector<Array> choices_of(PyObject* given_choices, Device device) {
  if (is_array(given_choices)) {
    const Array& all = array_of(given_choices);
    if (all.ndim() == 0) throw_python(PyExc_TypeError, "choose: expected a sequence of choices, got a 0-d array");
    return unstack(all, 0);
  }
  PyRef items = steal(PySequence_Tuple(given_choices));
  std::vector<Arg> choices;
  for (Py_ssize_t i = 0; i < PyTuple_Size(items.get()); ++i) choices.push_back(to_arg(PyTuple_GetItem(items.get(), i), device));
  std::vector<Array> arrays;
  if (choices.empty()) return arrays;
  const DType t = compose::result_type(choices);
  for (const Arg& choice : choices) arrays.push_back(stored_by_cast(choice, t, device));
  return arrays;
}

Array matmul_function(const Array& a, const Array& b, const Array& out, Casting casting, char, std::optional<DType> dtype, bool,
                      PyObject* axes) {
  if (axes == Py_None) return matmul(a, b, dtype, out, casting);
  PyRef along = import_attr("broadcloth._products", "matrices_of");
  const auto wrapped = [](const Array& x) { return PyRef::steal(x ? wrap(x) : new_ref(Py_None)); };
  PyRef given = call(along.get(), {wrapped(a).get(), wrapped(b).get(), wrapped(out).get(), axes});
  const auto item = [&](int i) { return PyTuple_GetItem(given.get(), i); };
  const Array target = out ? array_of(item(2)) : Array();
  PyRef made = wrapped(matmul(array_of(item(0)), array_of(item(1)), dtype, target, casting));
  PyRef placed = call(item(3), {made.get()});
  return array_of(placed.get());
}

/// Which diagonal: past any array's end where the number is past an int64's.
int64_t diagonal(PyObject* k) {
  constexpr int64_t kFar = int64_t{1} << 62;
  PyRef whole = PyRef::steal(PyNumber_Index(k));
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(whole.get(), &overflow);
  return overflow ? overflow * kFar : std::clamp<int64_t>(v, -kFar, kFar);
}

/// Joining functions cast their parts to a dtype that is asked for.
const std::vector<Array>& joined(const std::vector<Array>& arrays, std::optional<DType> dtype, Casting casting,
                                 const Array& out = Array()) {
  if (casting == Casting::unsafe && (dtype || out))
    for (const Array& a : arrays) warn_of_lost_imaginary(a.dtype(), dtype ? *dtype : out.dtype());
  return arrays;
}

std::vector<PyMethodDef> op_functions() {
  return {
      BC_FUNCTION("reduce(op, a: ArrayLike, axis: AxisLike=None, dtype: DTypeLike=None, out: ndarray | None=None, keepdims: bool=False, "
                  "initial=..., where: ArrayLike=True, ddof=0) -> ndarray One reduction row by "
                  "name (see `reductions`).",
                  reduce_function),
      BC_FUNCTION("scan(op: Literal['sum', 'prod', 'max', 'min'], a, axis=None, dtype=None, out=None) Inclusive running 'sum', 'prod', "
                  "'max' or 'min'.",
                  scan_function),
      BC_FUNCTION(
          "where(condition, x=..., y=..., /) x where the condition holds, else y; the indices of true elements when x and y are missing.",
          where_function),
      BC_FUNCTION("clip(a: ArrayLike, a_min: ArrayLike | None=..., a_max: ArrayLike | None=..., out: ndarray | None=None, *, min: "
                  "ArrayLike | None=..., max: ArrayLike | None=..., dtype: DTypeLike=None, casting: Casting='same_kind', where: "
                  "ArrayLike=True) -> ndarray The elements "
                  "limited to [a_min, a_max].",
                  [](PyObject* a, PyObject* a_min, PyObject* a_max, PyObject* out, PyObject* low, PyObject* high, PyObject* dtype,
                     PyObject* casting, PyObject* where) {
                    if ((!is_missing(low) && !is_missing(a_min)) || (!is_missing(high) && !is_missing(a_max)))
                      throw_python(PyExc_ValueError,
                                   "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.");
                    return steal(clip_any(a, is_missing(low) ? a_min : low, is_missing(high) ? a_max : high, out, dtype, casting, where));
                  }),
      BC_VALUE("round(a, decimals=0, out=None) The elements rounded to so many decimals.",
               [](const Array& a, int64_t decimals, const Array& out) { return round(a, decimals, out); }),
      BC_VALUE("matmul(x1, x2, /, out=None, *, casting='same_kind', order='K', dtype=None, subok=True, axes: list[Any] | None=None) The "
               "matrix product.",
               matmul_function),
      BC_VALUE("dot(a, b, out=None) The dot product.", [](const Array& a, const Array& b, const Array& out) { return dot(a, b, out); }),
      BC_LOOKING("nonzero(a) The indices of the elements that are not zero.", [](const Array& a) { return nonzero(a); }),
      BC_FUNCTION("copyto(dst: ndarray, src: ArrayLike, casting='same_kind', where: ArrayLike=True) Copies src into dst.", copy_to),
      BC_FUNCTION("shares_memory(a, b, exact=False, max_work: int | None=None) Whether two arrays may touch the same element.",
                  shares_memory),
      BC_FUNCTION(
          "notice(a, message) Warns with the message when a NaN of the array is first read on the host.",
          [](const Array& a, std::string_view message) { a.storage()->notice.store(interned(message), std::memory_order_relaxed); }),
      BC_VALUE("random(kind: Literal['uint32', 'uint64', 'uniform', 'normal', 'integers'], seed, counter, shape, dtype=None, *, low=0, "
               "high=0, endpoint=False, device=None) Philox's stream `seed` "
               "from number `counter` on.",
               random_function),
  };
}

std::vector<PyMethodDef> view_functions() {
  return {
      BC_FUNCTION("transpose(a: ArrayLike, axes: AxisLike=None) -> ndarray",
                  [](PyObject* a, PyObject* axes) {
                    return view_of(a, axes == Py_None ? transpose(given(a)) : transpose(given(a), to_shape(axes)));
                  }),
      BC_FUNCTION("reshape(a: ArrayLike, shape, order='C', *, copy: bool | None=None) -> ndarray",
                  [](PyObject* a, const Dims& shape, char order, PyObject* copy_it) {
                    return view_of(a, reshape_in_order(given(a), shape, order, copy_it));
                  }),
      BC_FUNCTION("broadcast_to(array: ArrayLike, shape, subok=False) -> ndarray",
                  [](PyObject* a, const Dims& shape, bool) { return view_of(a, broadcast_to(given(a), shape), true); }),
      {"broadcast_arrays", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(broadcast_arrays_entry)), METH_FASTCALL | METH_KEYWORDS,
       "broadcast_arrays(*arrays, subok=False)\n--\n\nViews of one common shape."},
      {"broadcast_shapes", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(broadcast_shapes_entry)), METH_FASTCALL,
       "broadcast_shapes(*shapes)\n--\n\nThe shape that the shapes broadcast to."},
      BC_FUNCTION("moveaxis(a: ArrayLike, source, destination) -> ndarray",
                  [](PyObject* a, const Axes& from, const Axes& to) { return view_of(a, moveaxis(given(a), from, to)); }),
      BC_FUNCTION("swapaxes(a: ArrayLike, axis1, axis2) -> ndarray",
                  [](PyObject* a, int64_t x, int64_t y) { return view_of(a, swapaxes(given(a), x, y)); }),
      BC_FUNCTION("rollaxis(a: ArrayLike, axis, start=0) -> ndarray",
                  [](PyObject* a, int64_t axis, int64_t start) { return view_of(a, rollaxis(given(a), axis, start)); }),
      BC_FUNCTION("matrix_transpose(x: ArrayLike, /) -> ndarray", [](PyObject* a) { return view_of(a, matrix_transpose(given(a))); }),
      BC_FUNCTION("expand_dims(a: ArrayLike, axis) -> ndarray",
                  [](PyObject* a, const Axes& axis) { return view_of(a, expand_dims(given(a), axis)); }),
      BC_FUNCTION("squeeze(a: ArrayLike, axis=None) -> ndarray",
                  [](PyObject* a, const ReducedAxes& axis) { return itself_or_view_of(a, squeeze(given(a), axis.value)); }),
      BC_FUNCTION("flip(m: ArrayLike, axis=None) -> ndarray",
                  [](PyObject* a, const std::optional<Axes>& axis) {
                    const Array flipped = flip(given(a), axis);
                    // Of a number NumPy gives a scalar.
                    return flipped.ndim() == 0 ? steal(wrap_value(copy(flipped))) : view_of(a, flipped);
                  }),
      BC_FUNCTION("rot90(m: ArrayLike, k=1, axes=...) -> ndarray",
                  [](PyObject* a, int64_t k, PyObject* axes) {
                    const Axes at = is_missing(axes) ? Axes{0, 1} : to_axes(axes);
                    BC_CHECK(at.size() == 2, Value, "len(axes) must be 2.");
                    return view_of(a, rot90(given(a), k, at[0], at[1]));
                  }),
      BC_FUNCTION("diagonal(a: ArrayLike, offset=0, axis1=0, axis2=1) -> ndarray",
                  [](PyObject* a, int64_t offset, int64_t axis1, int64_t axis2) {
                    return view_of(a, diagonal(given(a), offset, axis1, axis2), true);
                  }),
      BC_FUNCTION("ravel(a: ArrayLike, order='C') -> ndarray",
                  [](PyObject* a, char order) { return view_of(a, contiguous_ravel(given(a), order)); }),
      BC_FUNCTION("atleast_1d(a: ArrayLike) -> ndarray", [](PyObject* a) { return itself_or_view_of(a, atleast_1d(given(a))); }),
      BC_FUNCTION("atleast_2d(a: ArrayLike) -> ndarray", [](PyObject* a) { return itself_or_view_of(a, atleast_2d(given(a))); }),
      BC_FUNCTION("atleast_3d(a: ArrayLike) -> ndarray", [](PyObject* a) { return itself_or_view_of(a, atleast_3d(given(a))); }),
      BC_FUNCTION("unstack(x, /, *, axis=0)", [](const Array& a, int64_t axis) { return unstack(a, axis); }),
      BC_FUNCTION("split(ary: ArrayLike, indices_or_sections, axis=0) -> list[ndarray]",
                  split_function<static_cast<std::vector<Array> (*)(const Array&, int64_t, int64_t)>(bc::split),
                                 static_cast<std::vector<Array> (*)(const Array&, std::span<const int64_t>, int64_t)>(bc::split)>),
      BC_FUNCTION("array_split(ary: ArrayLike, indices_or_sections, axis=0) -> list[ndarray]",
                  split_function<static_cast<std::vector<Array> (*)(const Array&, int64_t, int64_t)>(bc::array_split),
                                 static_cast<std::vector<Array> (*)(const Array&, std::span<const int64_t>, int64_t)>(bc::array_split)>),
      BC_FUNCTION(
          "einsum_one(a: ArrayLike, a_labels, labels, dtype) -> ndarray Sums over the labels that are not in `labels`; a view where there "
          "are none.",
          [](PyObject* a, const Axes& a_labels, const Axes& labels, DType t) { return view_of(a, einsum(given(a), a_labels, labels, t)); }),
      BC_FUNCTION("as_strided(x: ndarray, shape, strides, offset=0) -> ndarray A view with any shape and strides (in bytes) inside the "
                  "array's memory.",
                  as_strided),
  };
}

std::vector<PyMethodDef> creation_composites() {
  return {
      BC_FUNCTION("logspace(start, stop, num: SupportsIndex=50, endpoint=True, base=10.0, dtype=None, axis=0, *, device=None)",
                  bc::logspace),
      BC_FUNCTION("geomspace(start, stop, num: SupportsIndex=50, endpoint=True, dtype=None, axis=0, *, device=None)", bc::geomspace),
      BC_FUNCTION("eye(N, M=None, k: int=0, dtype=None, order='C', *, device=None, like=None)",
                  [](int64_t n, std::optional<int64_t> m, PyObject* which, DType dtype, StorageOrder order, Device device, PyObject*) {
                    const int64_t k = diagonal(which);
                    // Fortran's order is C's of the transposed matrix.
                    device = placed(device, Dims{n, m.value_or(n)});
                    return order.value == 'F' ? transpose(bc::eye(m.value_or(n), n, -k, dtype, device)) : bc::eye(n, m, k, dtype, device);
                  }),
      BC_FUNCTION("identity(n, dtype=None, *, device=None)",
                  [](int64_t n, DType dtype, Device device) { return bc::identity(n, dtype, placed(device, Dims{n, n})); }),
      BC_FUNCTION("diag(v: ArrayLike, k=0) -> ndarray",
                  [](PyObject* v, int64_t k) {
                    const Array a = given(v);
                    // The diagonal of a matrix is a view, which NumPy lets nobody write through.
                    return a.ndim() == 2 ? view_of(v, diag(a, k), true) : steal(wrap(diag(a, k)));
                  }),
      BC_FUNCTION("diagflat(v, k=0)", bc::diagflat),
      BC_VALUE("trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None)",
               [](const Array& a, int64_t offset, int64_t axis1, int64_t axis2, std::optional<DType> dtype, const Array& out) {
                 return trace(warned(a, dtype, out), offset, axis1, axis2, dtype, out);
               }),
      BC_FUNCTION("tri(N, M=None, k: int=0, dtype=None, *, device=None, like=None)",
                  [](int64_t n, std::optional<int64_t> m, PyObject* k, DType dtype, Device device, PyObject*) {
                    return bc::tri(n, m, diagonal(k), dtype, placed(device, Dims{n, m.value_or(n)}));
                  }),
      BC_FUNCTION("tril(m, k=0)", bc::tril),
      BC_FUNCTION("triu(m, k=0)", bc::triu),
      BC_FUNCTION("vander(x, N=None, increasing=False)", bc::vander),
      BC_FUNCTION("meshgrid(arrays, indexing='xy', sparse=False, copy=True)",
                  [](const std::vector<Array>& arrays, std::string_view indexing, bool sparse, bool copy_it) {
                    return meshgrid(arrays, indexing, sparse, copy_it);
                  }),
      BC_FUNCTION("indices(dimensions, dtype=None, sparse=False, *, device=None) -> ndarray | tuple[ndarray, ...]",
                  [](const Dims& shape, std::optional<DType> dtype, bool sparse, Device device) {
                    const DType t = dtype.value_or(DType::i64);
                    return sparse ? steal(result(indices_sparse(shape, t, device), nullptr))
                                  : steal(wrap(indices(shape, t, placed(device, shape))));
                  }),
  };
}

/// An array without the elements of a slice.
Array without_slice(const Array& a, PyObject* slice, const Axis& axis) {
  const int64_t n = axis ? a.shape()[normalize_axis(*axis, a.ndim(), "delete")] : a.size();
  Py_ssize_t start, stop, step;
  check(PySlice_Unpack(slice, &start, &stop, &step));
  const Py_ssize_t count = PySlice_AdjustIndices(n, &start, &stop, step);
  if (step == 1 || step == -1) return delete_(a, count == 0 ? 0 : step < 0 ? start - count + 1 : start, count, axis);
  std::vector<int64_t> gone;
  for (Py_ssize_t k = 0; k < count; ++k) gone.push_back(start + k * step);
  return delete_(a, gone, axis);
}

std::vector<PyMethodDef> joining_composites() {
  return {
      BC_FUNCTION("concatenate(arrays, axis=0, out=None, dtype=None, casting='same_kind')",
                  [](Parts parts, const NumberAxis& given_axis, const Array& out, std::optional<DType> dtype, Casting casting) {
                    const Axis& axis = given_axis;
                    if (!axis && !dtype && !out && !parts.numbers.empty()) parts.convert_numbers();
                    return concatenate(joined(parts.arrays, dtype, casting, out), axis, dtype, casting, out);
                  }),
      BC_FUNCTION("stack(arrays, axis=0, out=None, dtype=None, casting='same_kind')",
                  [](const std::vector<Array>& arrays, int64_t axis, const Array& out, std::optional<DType> dtype, Casting casting) {
                    return stack(joined(arrays, dtype, casting, out), axis, dtype, casting, out);
                  }),
      BC_FUNCTION("hstack(tup, *, dtype=None, casting='same_kind')",
                  [](const std::vector<Array>& arrays, std::optional<DType> dtype, Casting casting) {
                    return hstack(joined(arrays, dtype, casting), dtype, casting);
                  }),
      BC_FUNCTION("vstack(tup, *, dtype=None, casting='same_kind')",
                  [](const std::vector<Array>& arrays, std::optional<DType> dtype, Casting casting) {
                    return vstack(joined(arrays, dtype, casting), dtype, casting);
                  }),
      BC_FUNCTION("dstack(tup)", [](const std::vector<Array>& arrays) { return dstack(arrays); }),
      BC_FUNCTION("column_stack(tup)", [](const std::vector<Array>& arrays) { return column_stack(arrays); }),
      BC_FUNCTION("append(arr, values, axis=None)",
                  [](const Array& a, const Array& values, const NumberAxis& axis) { return append(a, values, axis); }),
      BC_FUNCTION("roll(a, shift: AxisLike, axis=None)",
                  [](const Array& a, PyObject* shift, const std::optional<Axes>& axis) { return roll(a, shifts(shift, a), axis); }),
      BC_FUNCTION("tile(A, reps)", [](const Array& a, const Dims& reps) { return tile(a, reps); }),
      BC_FUNCTION("repeat(a: ArrayLike, repeats: ArrayLike, axis=None)",
                  [](PyObject* a, PyObject* repeats, const NumberAxis& axis) { return repeat_any(given(a), repeats, axis); }),
      BC_FUNCTION("resize(a, new_shape)", static_cast<Array (*)(const Array&, const Dims&)>(bc::resize)),
      BC_FUNCTION("delete(arr, obj, axis=None)",
                  [](const Array& a, PyObject* at, const Axis& axis) {
                    if (PySlice_Check(at)) return without_slice(a, at, axis);
                    return is_array(at) ? delete_(a, array_of(at), axis) : delete_(a, integers(at), axis);
                  }),
      BC_FUNCTION("insert(arr, obj, values, axis=None)",
                  [](const Array& a, PyObject* at, const Array& values, const Axis& axis) {
                    warn_of_lost_imaginary(values.dtype(), a.dtype());
                    return is_array(at) ? insert(a, array_of(at), values, axis)
                                        : insert(a, integers(at), values, axis, !PySequence_Check(at));
                  }),
  };
}

std::vector<PyMethodDef> value_composites() {
  return {
      BC_VALUE("isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)", bc::isclose),
      BC_LOOKING("allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)", bc::allclose),
      BC_LOOKING("array_equal(a1, a2, equal_nan=False)", bc::array_equal),
      BC_LOOKING("array_equiv(a1, a2)", bc::array_equiv),
      BC_VALUE("nan_to_num(x, nan=0.0, posinf=None, neginf=None)", bc::nan_to_num),
      BC_FUNCTION("select(condlist, choicelist, default=0)", [](const std::vector<Array>& conditions, const std::vector<Array>& choices,
                                                                const Arg& otherwise) { return select(conditions, choices, otherwise); }),
      BC_VALUE("is_nat(x) Where times are NaT.", bc::is_nat),
      BC_VALUE("iscomplex(x)", bc::iscomplex),
      BC_VALUE("isreal(x)", bc::isreal),
      BC_VALUE("angle(z, deg=False)", bc::angle),
      BC_VALUE("diff(a, n=1, axis=-1, prepend=None, append=None)", bc::diff),
      BC_VALUE("ediff1d(ary, to_end=None, to_begin=None)", bc::ediff1d),
      BC_VALUE("trapezoid(y, x=None, dx=1.0, axis=-1)",
               [](const Array& y, const std::optional<Array>& x, const Arg& dx, const NumberAxis& axis) {
                 return trapezoid(y, x, dx, axis.value.value_or(-1));
               }),
      BC_FUNCTION("gradient(f: ArrayLike, spacings: tuple[Any, ...], axis: AxisLike=None, edge_order=1) -> tuple[ndarray, ...]",
                  [](const Array& f, PyObject* spacings, const std::optional<Axes>& axis, int64_t edge_order) {
                    std::vector<Spacing> list;
                    for (Py_ssize_t i = 0; i < PyTuple_Size(spacings); ++i) {
                      PyObject* const s = PyTuple_GetItem(spacings, i);
                      const bool seen = !is_array(s);
                      list.push_back({to_arg(s, seen ? kHost : f.device()), seen});
                    }
                    return gradient(f, list, axis, edge_order);
                  }),
      BC_VALUE("unwrap(p, discont=None, axis=-1, period=6.283185307179586)",
               [](const Array& p, const std::optional<Arg>& discont, const NumberAxis& axis, const Arg& period) {
                 return unwrap(p, discont, axis.value.value_or(-1), period);
               }),
      BC_FUNCTION("cross(a, b, axisa=-1, axisb=-1, axisc=-1)", bc::cross),
      BC_VALUE("ptp(a: ArrayLike, axis: AxisLike=None, out: ndarray | None=None, keepdims: bool=False) -> ndarray",
               [](PyObject* a, PyObject* axis, PyObject* out, PyObject* keepdims) {
                 return nan_reduction<bc::ptp>(a, axis, nullptr, out, keepdims, nullptr, nullptr, 0);
               }),
      BC_VALUE("average(a, axis=None, weights=None, *, keepdims=False)",
               [](const Array& a, const std::optional<Axes>& axis, const std::optional<Array>& weights, bool keepdims) {
                 return average(a, axis, weights, keepdims);
               }),
      BC_VALUE("nansum(a: ArrayLike, axis: AxisLike=None, dtype: DTypeLike=None, out: ndarray | None=None, keepdims: bool=False, "
               "initial=..., where: ArrayLike=True, ddof=0) -> ndarray",
               nan_reduction<bc::nansum>),
      BC_VALUE("nanprod(a: ArrayLike, axis: AxisLike=None, dtype: DTypeLike=None, out: ndarray | None=None, keepdims: bool=False, "
               "initial=..., where: ArrayLike=True, ddof=0) -> ndarray",
               nan_reduction<bc::nanprod>),
      BC_VALUE("nanmax(a: ArrayLike, axis: AxisLike=None, dtype: DTypeLike=None, out: ndarray | None=None, keepdims: bool=False, "
               "initial=..., where: ArrayLike=True, ddof=0) -> ndarray",
               nan_reduction<bc::nanmax, Nothing::AllNan>),
      BC_VALUE("nanmin(a: ArrayLike, axis: AxisLike=None, dtype: DTypeLike=None, out: ndarray | None=None, keepdims: bool=False, "
               "initial=..., where: ArrayLike=True, ddof=0) -> ndarray",
               nan_reduction<bc::nanmin, Nothing::AllNan>),
      BC_VALUE("nanmean(a: ArrayLike, axis: AxisLike=None, dtype: DTypeLike=None, out: ndarray | None=None, keepdims: bool=False, "
               "initial=..., where: ArrayLike=True, ddof=0) -> ndarray",
               nan_reduction<bc::nanmean, Nothing::Mean>),
      BC_VALUE("nanvar(a: ArrayLike, axis: AxisLike=None, dtype: DTypeLike=None, out: ndarray | None=None, keepdims: bool=False, "
               "initial=..., where: ArrayLike=True, ddof=0) -> ndarray",
               nan_reduction<bc::nanvar, Nothing::Spread>),
      BC_VALUE("nanstd(a: ArrayLike, axis: AxisLike=None, dtype: DTypeLike=None, out: ndarray | None=None, keepdims: bool=False, "
               "initial=..., where: ArrayLike=True, ddof=0) -> ndarray",
               nan_reduction<bc::nanstd, Nothing::Spread>),
      BC_LOOKING("nanargmax(a, axis=None, keepdims=False, out=None)",
                 [](const Array& a, const NumberAxis& axis, bool keepdims, const Array& out) { return nanargmax(a, axis, keepdims, out); }),
      BC_LOOKING("nanargmin(a, axis=None, keepdims=False, out=None)",
                 [](const Array& a, const NumberAxis& axis, bool keepdims, const Array& out) { return nanargmin(a, axis, keepdims, out); }),
      BC_FUNCTION("cov(m, y=None, rowvar=True, bias=False, ddof=None)",
                  [](const Array& m, const std::optional<Array>& y, bool rowvar, bool bias, std::optional<double> ddof) {
                    warn_of_few_observations(m, rowvar, ddof.value_or(bias ? 0 : 1));
                    return cov(m, y, rowvar, bias, ddof);
                  }),
      BC_VALUE("corrcoef(x, y=None, rowvar=True)",
               [](const Array& x, const std::optional<Array>& y, bool rowvar) {
                 warn_of_few_observations(x, rowvar, 1);
                 return corrcoef(x, y, rowvar);
               }),
      BC_LOOKING("norm(x, ord=None, axis=None, keepdims=False)", bc::norm),
      BC_VALUE("vector_norm(x, ord=None, axis=None, keepdims=False)", bc::vector_norm),
      BC_VALUE("cumsum(a, axis=None, dtype=None, out=None)",
               [](const Array& a, const NumberAxis& axis, std::optional<DType> dtype, const Array& out) {
                 return cumsum(warned(a, dtype, out), axis, dtype, out);
               }),
      BC_VALUE("cumprod(a, axis=None, dtype=None, out=None)",
               [](const Array& a, const NumberAxis& axis, std::optional<DType> dtype, const Array& out) {
                 return cumprod(warned(a, dtype, out), axis, dtype, out);
               }),
      BC_VALUE("nancumsum(a, axis=None, dtype=None, out=None)", nan_scan<bc::nancumsum>),
      BC_VALUE("nancumprod(a, axis=None, dtype=None, out=None)", nan_scan<bc::nancumprod>),
      BC_VALUE("vdot(a, b)", bc::vdot),
      BC_VALUE("inner(a, b)", bc::inner),
      BC_VALUE("outer(a, b, out=None)", bc::outer),
      BC_VALUE("tensordot(a, b, axes=2) -> ndarray", tensordot_function),
      BC_VALUE("einsum_two(a, a_labels, b, b_labels, labels, dtype) Sums of products over the labels that are not in `labels`.",
               [](const Array& a, const Axes& a_labels, const Array& b, const Axes& b_labels, const Axes& labels, DType t) {
                 return einsum(a, a_labels, b, b_labels, labels, t);
               }),
      BC_VALUE("kron(a, b)", bc::kron),
      BC_VALUE("vecdot(x1, x2, /, axis=-1)", bc::vecdot),
      BC_VALUE("matvec(x1, x2, /)", bc::matvec),
      BC_VALUE("vecmat(x1, x2, /)", bc::vecmat),
  };
}

/// What was computed at once; None where it is to be recorded.
PyRef small_or_none(std::optional<Array> made) { return steal(made ? wrap_value(std::move(*made)) : new_ref(Py_None)); }

std::vector<PyMethodDef> selection_composites() {
  return {
      BC_VALUE("take(a, indices, axis=None, out=None, mode='raise')",
               [](const Array& a, const Indices& indices, const NumberAxis& axis, const Array& out, std::string_view mode) {
                 return take_checked(a, indices.array, axis, mode, out);
               }),
      BC_FUNCTION("put(a: ndarray, ind, v: ArrayLike, mode='raise')",
                  [](PyObject* a, const Indices& indices, PyObject* values, std::string_view mode) {
                    LineNote line(true);
                    const Array& target = writable(a, "put");
                    const Arg value = stored_value(values, target);
                    if (mode == "raise" && is_integer(indices.array.dtype()) && value.weak != Weak::none &&
                        put_small(target, indices.array, value))
                      return;
                    if (mode == "raise") check_indices(indices.array, target.size(), 0);
                    put(target, indices.array, value, mode);
                  }),
      BC_FUNCTION("take_along_axis(arr, indices, axis=-1)",
                  [](const Array& a, const Array& indices, const Axis& axis) {
                    LineNote line(true);
                    return take_along_axis(a, indices, axis);
                  }),
      BC_FUNCTION("put_along_axis(arr: ArrayLike, indices, values: ArrayLike, axis)",
                  [](PyObject* a, const Array& indices, PyObject* values, const Axis& axis) {
                    LineNote line(true);
                    const Array& target = writable(a, "put_along_axis");
                    put_along_axis(target, indices, stored_value(values, target), axis);
                  }),
      BC_FUNCTION("bincount_small(a, weights, least) -> ndarray | None The counts of few integers in host memory, or None.",
                  [](const Array& a, const std::optional<Array>& weights, int64_t least) {
                    return small_or_none(
                        without_gil_unless(is_small(a), [&] { return bincount_small(a, weights.value_or(Array()), least); }));
                  }),
      BC_FUNCTION(
          "histogram_near(a, edges, low: float, high: float) -> ndarray | None Counts in bins of one width in host memory, or None.",
          [](const Array& a, const Array& edges, double low, double high) {
            return small_or_none(without_gil_unless(is_small(a), [&] { return histogram_near(a, edges, low, high); }));
          }),
      BC_FUNCTION("interp_small(x, xp, fp, left: Any, right: Any) -> ndarray | None numpy.interp of few elements in host memory, or None.",
                  [](const Array& x, const Array& xp, const Array& fp, std::optional<double> left, std::optional<double> right) {
                    return small_or_none(interp_small(x, xp, fp, left, right));
                  }),
      BC_FUNCTION(
          "correlate_small(a, v, mode, reversed) -> ndarray | None numpy.correlate, or convolve, of few elements in host memory, or None.",
          [](PyObject* a, PyObject* v, PyObject* mode, bool reversed) {
            const bool known = is_array(a) && is_array(v) && PyUnicode_Check(mode);
            return small_or_none(known ? correlate_small(array_of(a), array_of(v), as_string(mode), reversed) : std::nullopt);
          }),
      BC_FUNCTION("place_small(a: ndarray, mask, values) numpy.place of few elements in host memory; tells whether it was done.",
                  [](PyObject* a, const Array& mask, const Array& values) {
                    return !as_py_array(a)->read_only && place_small(array_of(a), mask, values);
                  }),
      BC_FUNCTION("unpackbits_small(a) -> ndarray | None The bits of few bytes in host memory, or None.",
                  [](const Array& a) { return small_or_none(unpackbits_small(a)); }),
      BC_FUNCTION("packbits_small(a) -> ndarray | None Bytes of few bits in host memory, or None.",
                  [](const Array& a) { return small_or_none(packbits_small(a)); }),
      BC_FUNCTION("count_places(places, bins, weights)",
                  [](const Array& places, int64_t bins, const Array& weights) {
                    LineNote line(true);
                    return count_places(places, bins, weights, weights.dtype());
                  }),
      BC_FUNCTION("putmask(a: ArrayLike, mask, values: ArrayLike)",
                  [](PyObject* a, const Array& mask, PyObject* values) {
                    const Array& target = writable(a, "putmask");
                    const Arg value = to_value(values, target.dtype(), target.device());
                    if (value.weak != Weak::none && put_small(target, mask, value)) return;
                    putmask(target, mask, stored(value, target.dtype(), target.device()));
                  }),
      BC_LOOKING("compress(condition, a, axis=None, out=None)", [](const Array& condition, const Array& a, const NumberAxis& axis,
                                                                   const Array& out) { return compress(condition, a, axis, out); }),
      BC_LOOKING("extract(condition, arr)", bc::extract),
      BC_FUNCTION("unravel_on_host(indices, shape) -> tuple[ndarray, ...] | None", unravel_on_host),
      BC_FUNCTION("ravel_on_host(multi_index, shape) -> ndarray | None", ravel_on_host),
      BC_VALUE("choose(a, choices: Sequence[ArrayLike] | ndarray, out=None, mode='raise')",
               [](const Array& a, PyObject* given_choices, const Array& out, std::string_view mode) {
                 Array made = choose(a, choices_of(given_choices, a.device()), mode);
                 if (!out) return made;
                 assign(out, made);
                 return out;
               }),
      BC_LOOKING("argwhere(a)", bc::argwhere),
      BC_LOOKING("flatnonzero(a)", bc::flatnonzero),
      BC_FUNCTION("fill_diagonal(a: ArrayLike, val: ArrayLike, wrap=False)",
                  [](PyObject* a, PyObject* value, bool wrap_around) {
                    const Array& target = writable(a, "fill_diagonal");
                    fill_diagonal(target, stored_value(value, target), wrap_around);
                  }),
  };
}

}  // namespace

void init_functions(PyObject* module) {
  for (auto* table :
       {op_functions, view_functions, creation_composites, joining_composites, value_composites, selection_composites, sorting_functions,
        linalg_functions, sparse_functions, csgraph_functions, random_functions, fft_functions, autograd_functions})
    add_functions(module, table());
  PyRef names = steal(PyList_New(0));
  for (int i = 0; i < static_cast<int>(Op::library); ++i)
    if (info(static_cast<Op>(i)).kind == OpKind::reduce) check(PyList_Append(names.get(), to_py(info(static_cast<Op>(i)).name).get()));
  check(PyModule_AddObjectRef(module, "reductions", steal(PyList_AsTuple(names.get())).get()));
}

}  // namespace bc::bind
