#pragma once
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "bind/convert.h"

/// Python functions out of C++ ones: a signature in Python's own words gives names and defaults, the C++ parameter types give the
/// conversions.
///
///   BC_FUNCTION("eye(N, M=None, k=0, dtype=None, *, device=None) Ones on a diagonal.", bc::eye)
///   BC_FUNCTION("can_cast(from_, to: DTypeLike, casting: Casting='safe') -> bool Tells whether a cast is allowed.", can_cast)
///
/// The stub of the extension is written from these signatures (`scripts/stubs.py`). An annotation stands only where the C++ types do not
/// tell Python's: of a PyObject*, for instance.
///
/// A parameter called `out` is an array of ours that is written, and what the function then returns; `device` (of None) is the default
/// device.
namespace bc::bind {

/// A parsed signature.
struct CallSignature {
  const char* name = "";
  std::vector<PyObject*> names;     ///< interned; nullptr: positional only
  std::vector<PyObject*> defaults;  ///< nullptr: required
  int positional = 0;               ///< how many may be given by position
  int out = -1, device = -1;        ///< the places of these parameters
  std::string name_text, doc_text;

  CallSignature() = default;
  explicit CallSignature(const char* text, bool method = false) { parse(text, method); }
  CallSignature(const CallSignature&) = delete;  // `name` points into the object
  CallSignature& operator=(const CallSignature&) = delete;
  /// `text` as above, the doc string after the signature; methods are written without self.
  void parse(const char* text, bool method);
  int size() const { return static_cast<int>(names.size()); }
  /// Fills `values` (borrowed) from a vectorcall's arguments. Throws TypeError.
  void bind(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** values) const;
};

/// The arguments of a tuple and a dict as a vectorcall has them (borrowed).
struct VectorArguments {
  std::vector<PyObject*> all;
  PyRef names;
  Py_ssize_t positional = 0;

  VectorArguments(PyObject* args, PyObject* kwargs);
  void bind(const CallSignature& signature, PyObject** values) const { signature.bind(all.data(), positional, names.get(), values); }
};

/// tp_call of a type whose calls are vectorcalls: for every caller that has a tuple and a dict.
template <PyObject* (*call)(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames)>
PyObject* tuple_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    const VectorArguments given(args, kwargs);
    return call(self, given.all.data(), static_cast<size_t>(given.positional), given.names.get());
  });
}

/// What a conversion may need to know.
struct Context {
  const CallSignature* signature;
  int parameter;
  Device device;
  const char* parameter_name() const;
};

/// Where arrays of a call are made: on the device it names, else with its output, else with the first array among the parameters.
Device device_of_call(const CallSignature& s, PyObject* const* arguments, PyObject* const* all, Py_ssize_t n);

/// How a parameter of a C++ type is made of a Python object. `type` is what Python's type checkers call such an object.
template <class T>
struct From;

template <>
struct From<PyObject*> {
  static constexpr const char* type = "Any";
  static PyObject* get(PyObject* o, const Context&) { return o; }
};
template <>
struct From<int64_t> {
  static constexpr const char* type = "int";
  static int64_t get(PyObject* o, const Context& c) { return to_int(o, PyLong_CheckExact(o) ? "" : c.parameter_name()); }
};
template <>
struct From<uint64_t> {
  static constexpr const char* type = "int";
  static uint64_t get(PyObject* o, const Context&) {
    PyRef index = PyRef::steal(PyNumber_Index(o));
    const unsigned long long v = PyLong_AsUnsignedLongLong(index.get());
    if (PyErr_Occurred()) throw PythonError();
    return v;
  }
};
template <>
struct From<bool> {
  static constexpr const char* type = "bool";
  static bool get(PyObject* o, const Context&) { return to_bool(o); }
};
template <>
struct From<double> {
  static constexpr const char* type = "float";
  static double get(PyObject* o, const Context&) {
    const double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) throw PythonError();
    return v;
  }
};
template <>
struct From<char> {
  static constexpr const char* type = "Order";
  static char get(PyObject* o, const Context&) { return to_order(o); }
};
template <>
struct From<std::string_view> {
  static constexpr const char* type = "str";
  static std::string_view get(PyObject* o, const Context& c) {
    if (!PyUnicode_Check(o))
      raise(ErrorKind::Type, "{}: expected a string for '{}', got {}", c.signature->name, c.parameter_name(), type_name(o));
    return as_string(o);
  }
};
template <>
struct From<DType> {
  static constexpr const char* type = "DTypeLike";
  static DType get(PyObject* o, const Context&) { return o == Py_None ? DType::f64 : to_dtype(o); }
};
template <>
struct From<Casting> {
  static constexpr const char* type = "Casting";
  static Casting get(PyObject* o, const Context&) { return to_casting(o); }
};
template <>
struct From<Device> {
  static constexpr const char* type = "DeviceLike";
  static Device get(PyObject* o, const Context&) { return to_device(o); }
};
template <>
struct From<Dims> {
  static constexpr const char* type = "ShapeLike";
  static Dims get(PyObject* o, const Context&) { return to_shape(o); }
};
template <>
struct From<Axes> {
  static constexpr const char* type = "AxisLike";
  static Axes get(PyObject* o, const Context&) { return to_axes(o); }
};
template <>
struct From<Array> {
  static constexpr const char* type = "ArrayLike";
  static Array get(PyObject* o, const Context& c);
};
template <>
struct From<Arg> {
  static constexpr const char* type = "ArrayLike";
  static Arg get(PyObject* o, const Context& c) { return to_arg(o, c.device); }
};
template <>
struct From<Scalar> {
  static constexpr const char* type = "ArrayLike";
  static Scalar get(PyObject* o, const Context& c);
};
template <>
struct From<std::vector<Array>> {
  static constexpr const char* type = "Sequence[ArrayLike] | ndarray";
  static std::vector<Array> get(PyObject* o, const Context& c);
};
/// Indices as take() and put() have them: what lists hold is cast to integers, arrays must be of integers.
struct Indices {
  Array array;
};
template <>
struct From<Indices> {
  static constexpr const char* type = "ArrayLike";
  static Indices get(PyObject* o, const Context& c);
};
/// An axis or None where NumPy refuses booleans.
struct NumberAxis {
  Axis value;
  operator const Axis&() const { return value; }
};
template <>
struct From<NumberAxis> {
  static constexpr const char* type = "int | None";
  static NumberAxis get(PyObject* o, const Context&) { return {o == Py_None ? Axis() : Axis(to_axis(o))}; }
};
/// Axes or None as a reduction takes them.
struct ReducedAxes {
  std::optional<Axes> value;
};
template <>
struct From<ReducedAxes> {
  static constexpr const char* type = "AxisLike";
  static ReducedAxes get(PyObject* o, const Context&) { return {o == Py_None ? std::nullopt : std::optional(to_reduced_axes(o))}; }
};
template <>
struct From<NormOrder> {
  static constexpr const char* type = "float | str | None";
  static NormOrder get(PyObject* o, const Context&);
};
/// The order of an array that is like no other.
struct StorageOrder {
  char value;
};
template <>
struct From<StorageOrder> {
  static constexpr const char* type = "Order";
  static StorageOrder get(PyObject* o, const Context&) { return {to_storage_order(o)}; }
};
template <class T>
struct From<std::optional<T>> {
  static constexpr const char* type = From<T>::type;
  static std::optional<T> get(PyObject* o, const Context& c) {
    if (o == Py_None || is_missing(o)) return std::nullopt;
    return From<T>::get(o, c);
  }
};

template <class T>
inline constexpr bool kOptional = false;
template <class T>
inline constexpr bool kOptional<std::optional<T>> = true;

/// Whether reading a parameter may make an array, on the device of the call. A call with none of these looks at no device, so that an
/// environment that names a wrong one is an error of the first work, not of the import.
template <class T>
inline constexpr bool kPlaced = std::is_same_v<T, Array> || std::is_same_v<T, Arg> || std::is_same_v<T, Scalar> ||
                                std::is_same_v<T, std::vector<Array>> || std::is_same_v<T, Indices>;
template <class T>
inline constexpr bool kPlaced<std::optional<T>> = kPlaced<T>;

/// The object behind a parameter: spans are read from vectors.
template <class T>
using Held = std::conditional_t<std::is_same_v<T, Arrays>, std::vector<Array>,
                                std::conditional_t<std::is_same_v<T, std::span<const int64_t>>, Axes, T>>;

/// Python's type checkers call the result of a C++ function so.
template <class R>
inline constexpr const char* kResultType = "Any";
template <>
inline constexpr const char* kResultType<void> = "None";
template <>
inline constexpr const char* kResultType<bool> = "bool";
template <>
inline constexpr const char* kResultType<int64_t> = "int";
template <>
inline constexpr const char* kResultType<double> = "float";
template <>
inline constexpr const char* kResultType<Array> = "ndarray";
template <>
inline constexpr const char* kResultType<ArrayPair> = "tuple[ndarray, ndarray]";
template <>
inline constexpr const char* kResultType<std::vector<Array>> = "tuple[ndarray, ...]";
template <>
inline constexpr const char* kResultType<std::optional<Array>> = "ndarray | None";
template <>
inline constexpr const char* kResultType<std::optional<bool>> = "bool | None";
template <>
inline constexpr const char* kResultType<std::optional<int64_t>> = "int | None";
template <size_t N>
inline constexpr const char* kResultType<std::optional<std::array<int64_t, N>>> = "tuple[int, ...] | None";
template <>
inline constexpr const char* kResultType<std::optional<std::vector<Array>>> = "tuple[ndarray, ...] | None";

inline PyObject* result(Array a, PyObject* first) { return first && is_array(first) ? wrap_like(std::move(a), first) : wrap(std::move(a)); }
inline PyObject* result(const ArrayPair& p, PyObject*) {
  PyRef a = PyRef::steal(wrap_value(p.first)), b = PyRef::steal(wrap_value(p.second));
  return tuple_of({a.get(), b.get()}).release();
}
/// Several arrays come as a tuple.
PyObject* result(const std::vector<Array>& list, PyObject* first);
inline PyObject* result(bool v, PyObject*) { return PyBool_FromLong(v); }
inline PyObject* result(int64_t v, PyObject*) { return PyLong_FromLongLong(v); }
inline PyObject* result(double v, PyObject*) { return PyFloat_FromDouble(v); }
inline PyObject* result(PyRef v, PyObject*) { return v.release(); }
/// Several integers come as a tuple.
template <size_t N>
PyObject* result(const std::array<int64_t, N>& numbers, PyObject*) {
  PyRef t = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(N)));
  for (size_t i = 0; i < N; ++i)
    check(PyTuple_SetItem(t.get(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(static_cast<long long>(numbers[i]))));
  return t.release();
}
/// None stands for a result that the function did not make.
template <class T>
PyObject* result(const std::optional<T>& v, PyObject* first) {
  return v ? result(*v, first) : new_ref(Py_None);
}

template <class F>
struct Traits : Traits<decltype(&F::operator())> {};
template <class R, class... A>
struct Traits<R (*)(A...)> {
  using Result = R;
  using Tuple = std::tuple<Held<std::decay_t<A>>...>;
  static constexpr int size = sizeof...(A);
  static constexpr bool places = (kPlaced<Held<std::decay_t<A>>> || ...);
  /// The types of the parameters and of the result to Python's type checkers, and which parameters may be None.
  static constexpr std::array<const char*, sizeof...(A) + 1> types = {From<Held<std::decay_t<A>>>::type..., kResultType<std::decay_t<R>>};
  static constexpr std::array<bool, sizeof...(A) + 1> optional = {kOptional<Held<std::decay_t<A>>>..., false};
};
template <class R, class C, class... A>
struct Traits<R (C::*)(A...) const> : Traits<R (*)(A...)> {};

template <auto F>
inline CallSignature signature_of;

/// Flags of a bound function.
enum : int {
  kMethod = 1,   ///< the first parameter is self
  kLooking = 2,  ///< runs kernels and waits for them: other Python threads go on meanwhile (the function must not touch Python)
  kValue = 4,    ///< gives a new array: without dimensions it is an element, which `+=` replaces, as NumPy's scalars, and does not change
};

/// After a failure: where a dtype has fields, the package's own arrays of records may have the function; nullptr and the error otherwise.
PyObject* of_records(const char* name, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

template <auto F, int Flags>
PyObject* plain_entry(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* const given = guard([&]() -> PyObject* {
    using T = Traits<decltype(F)>;
    constexpr int n = T::size;
    constexpr bool method = (Flags & kMethod) != 0;
    constexpr int skip = method ? 1 : 0;
    const CallSignature& s = signature_of<F>;
    PyObject* values[n + 1];
    if constexpr (method) values[0] = self;
    s.bind(args, nargs, kwnames, values + skip);
    if (s.out >= 0) {
      // out=(a,) is how ufuncs and __array_function__ pass one output.
      PyObject*& out = values[s.out + skip];
      if (PyTuple_Check(out) && PyTuple_Size(out) == 1) out = PyTuple_GetItem(out, 0);
    }
    Device device;
    if constexpr (T::places) device = device_of_call(s, values + skip, values, n);
    LineNote line;
    return [&]<size_t... I>(std::index_sequence<I...>) -> PyObject* {
      typename T::Tuple held{
          From<std::tuple_element_t<I, typename T::Tuple>>::get(values[I], Context{&s, static_cast<int>(I) - skip, device})...};
      auto run = [&] {
        if constexpr ((Flags & kLooking) != 0) {
          GilRelease released(!is_small(values, n));
          return F(std::get<I>(held)...);
        } else {
          return F(std::get<I>(held)...);
        }
      };
      if constexpr (std::is_void_v<typename T::Result>) {
        run();
        Py_RETURN_NONE;
      } else {
        auto made = run();
        PyObject* out = s.out >= 0 ? values[s.out + skip] : nullptr;
        if (out && is_array(out)) return new_ref(out);
        PyObject* given = result(std::move(made), n > 0 ? values[0] : nullptr);
        if constexpr ((Flags & (kValue | kLooking)) != 0 && std::is_same_v<typename T::Result, Array>)
          as_py_array(given)->scalar = array_of(given).ndim() == 0;
        return given;
      }
    }(std::make_index_sequence<n>());
  });
  if constexpr ((Flags & kMethod) == 0)
    if (!given) [[unlikely]]
      return of_records(signature_of<F>.name, args, nargs, kwnames);
  return given;
}

/// The same of a call that may have arrays of subclasses; `plain` computes it.
PyObject* entry_of_classes(FastCall plain, const CallSignature& signature, bool method, PyObject* self, PyObject* const* args,
                           Py_ssize_t nargs, PyObject* kwnames);

/// The C function that Python calls.
template <auto F, int Flags>
PyObject* entry(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (subclasses_used.load(std::memory_order_relaxed)) [[unlikely]]
    return entry_of_classes(&plain_entry<F, Flags>, signature_of<F>, (Flags & kMethod) != 0, self, args, nargs, kwnames);
  return plain_entry<F, Flags>(self, args, nargs, kwnames);
}

/// A function as it was bound: its signature's text, and for each parameter and then the result the type and whether it may be None.
struct Bound {
  const char* text;
  const char* const* types;
  const bool* optional;
  int parameters;
  /// The result's type: the signature's, else that of the C++ result.
  std::string_view result() const;
};
/// The functions of the module, in the order in which they were bound. Methods are not among them.
std::vector<Bound>& bound_functions();

template <auto F, int Flags>
PyMethodDef define(const char* signature) {
  CallSignature& s = signature_of<F>;
  s.parse(signature, (Flags & kMethod) != 0);
  using T = Traits<decltype(F)>;
  if constexpr ((Flags & kMethod) == 0) bound_functions().push_back({signature, T::types.data(), T::optional.data(), T::size});
  return {s.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&entry<F, Flags>)), METH_FASTCALL | METH_KEYWORDS,
          s.doc_text.c_str()};
}

/// Adds functions to a module; the table is kept for ever.
void add_functions(PyObject* module, std::vector<PyMethodDef> functions);

}  // namespace bc::bind

#define BC_FUNCTION(signature, ...) ::bc::bind::define<(__VA_ARGS__), 0>(signature)
#define BC_VALUE(signature, ...) ::bc::bind::define<(__VA_ARGS__), ::bc::bind::kValue>(signature)
#define BC_LOOKING(signature, ...) ::bc::bind::define<(__VA_ARGS__), ::bc::bind::kLooking>(signature)
#define BC_METHOD(signature, ...) ::bc::bind::define<(__VA_ARGS__), ::bc::bind::kMethod>(signature)
#define BC_VALUE_METHOD(signature, ...) ::bc::bind::define<(__VA_ARGS__), ::bc::bind::kMethod | ::bc::bind::kValue>(signature)
