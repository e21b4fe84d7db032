#pragma once
#include <cstddef>
#include <new>
#include <optional>
#include <vector>

#include "bind/array.h"
#include "ops/composite.h"

namespace bc::bind {

// ---- Small things --------------------------------------------------------------------------------------------------------------

/// The dtype that a DTypeLike means. Throws TypeError when broadcloth has none such.
DType to_dtype(PyObject* o);
/// nullopt for None and for a missing argument.
std::optional<DType> to_dtype_or_none(PyObject* o);
/// The dtype when `o` is a dtype, a scalar type or a dtype's name and nothing else.
std::optional<DType> dtype_if_dtype(PyObject* o);
/// The dtype of an object that is NumPy's own one for it, in the machine's byte order; nullopt for other objects.
std::optional<DType> common_dtype(PyObject* o);
/// The numpy.dtype (or the stand-in of a type that NumPy does not have), borrowed.
PyObject* dtype_object(DType t);
/// numpy.float32 …, borrowed; nullptr for types that NumPy does not have by itself.
PyObject* numpy_scalar_type(DType t);
/// Tells whether NumPy itself can hold the dtype here (bfloat16 and 8-bit floats need ml_dtypes).
bool numpy_has(DType t);

Device to_device(PyObject* o);  ///< None: the default device
bool names_device(std::string_view text);
PyRef device_object(Device d);
Casting to_casting(PyObject* o);
char to_order(PyObject* o, char otherwise = 'C');
/// The order of an array that is like no other: 'C' or 'F'.
char to_storage_order(PyObject* o);
int64_t to_int(PyObject* o, const char* what);
/// One extent of a shape.
int64_t to_extent(PyObject* o, const char* what = "shape");
bool to_bool(PyObject* o);
Dims to_shape(PyObject* o);
Axes to_axes(PyObject* o);
/// The axes of a reduction: one number or a tuple of numbers. NumPy refuses lists and booleans there, where `x.sum(True)` means `keepdims`.
Axes to_reduced_axes(PyObject* o);
/// The one axis of a function that refuses booleans.
int64_t to_axis(PyObject* o);
/// A flag that NumPy reads as an integer: None, texts and floats are errors.
bool to_flag(PyObject* o);
inline bool is_missing(PyObject* o) { return !o || o == Py_Ellipsis || o == state().np_no_value; }
PyRef shape_tuple(const Dims& d, int64_t factor = 1);

// ---- Operands ------------------------------------------------------------------------------------------------------------------

/// Up to four operands, without a heap block.
class ArgList {
 public:
  ArgList() = default;
  ArgList(const ArgList&) = delete;
  ArgList& operator=(const ArgList&) = delete;
  ~ArgList() {
    for (int i = 0; i < n_; ++i) begin()[i].~Arg();
  }
  template <class... A>
  void emplace(A&&... a) {
    new (begin() + n_) Arg(std::forward<A>(a)...);
    ++n_;
  }
  Arg* begin() { return reinterpret_cast<Arg*>(bytes_); }
  Arg& operator[](int i) { return begin()[i]; }
  int size() const { return n_; }
  std::span<const Arg> span() { return {begin(), static_cast<size_t>(n_)}; }

 private:
  alignas(Arg) std::byte bytes_[4 * sizeof(Arg)];
  int n_ = 0;
};

/// The value of a Python bool, int, float or complex; nullopt for other objects. Ints past uint64 come as Weak::integer with a float value.
std::optional<std::pair<Weak, Scalar>> python_scalar(PyObject* o);

/// Adds an operand that needs no conversion: an array of ours or a Python scalar. False for other objects.
inline bool push_fast(ArgList* args, PyObject* o) {
  if (is_array(o)) {
    args->emplace(array_of(o));
    return true;
  }
  if (PyFloat_CheckExact(o)) {
    args->emplace(Weak::real, Scalar::real(PyFloat_AsDouble(o)));
    return true;
  }
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) {
      args->emplace(Weak::integer, Scalar::integer(v));
      return true;
    }
  }
  return false;
}
/// As push_fast, for an operand that the caller keeps during the call.
inline bool as_term(Term* term, PyObject* o) {
  if (is_array(o)) {
    term->array = &array_of(o);
    return true;
  }
  if (PyFloat_CheckExact(o)) {
    term->weak = Weak::real;
    term->value = Scalar::real(PyFloat_AsDouble(o));
    return true;
  }
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    term->weak = Weak::integer;
    term->value = Scalar::integer(v);
    return !overflow;
  }
  return false;
}
/// The two operands of a binary row. NumPy's float64 scalars beside arrays of float64 and complex128 count as Python's numbers: they
/// change no dtype there.
inline bool as_terms(Term* terms, PyObject* x, PyObject* y) {
  const bool first = as_term(&terms[0], x), second = as_term(&terms[1], y);
  if (first == second) return first;
  PyObject* const other = first ? y : x;
  const Array* const array = terms[first ? 0 : 1].array;
  if (!array || (array->dtype() != DType::f64 && array->dtype() != DType::c128)) return false;
  if (reinterpret_cast<PyObject*>(Py_TYPE(other)) != state().scalar_types[static_cast<int>(DType::f64)]) return false;
  Term& term = terms[first ? 1 : 0];
  term.weak = Weak::real;
  term.value = Scalar::real(PyFloat_AsDouble(other));
  return true;
}
/// Adds any operand that a binary operator takes (also NumPy's, DLPack's, lists); false for objects that it does not know.
bool push_operand(ArgList* args, PyObject* o, Device device);
/// Whether an object is of a class of Python's module datetime.
bool is_of_datetime(PyObject* o);
/// An object's __array_priority__ as NumPy reads it: 0 where there is none, or no number.
double array_priority(PyObject* o);
/// As push_operand, but unknown objects go through numpy.asarray (which may raise).
void push_any(ArgList* args, PyObject* o, Device device);
/// The one operand of a value argument (fill values, `initial`, assigned values).
Arg to_arg(PyObject* o, Device device);

/// The device of the first array of ours among the objects (and the lists in them), else the default.
Device device_of(PyObject* const* objects, Py_ssize_t n);
inline Device device_of(std::initializer_list<PyObject*> objects) {
  return device_of(objects.begin(), static_cast<Py_ssize_t>(objects.size()));
}

// ---- Arrays --------------------------------------------------------------------------------------------------------------------

/// Any array-like on `device`; arrays of ours stay where they are and as they are.
Array to_array(PyObject* o, Device device);
/// numpy.asarray's rules. `copy`: nullopt where needed; true always; false never (throws ValueError when one is needed).
/// *same tells that `o` itself, an array of ours, is the answer.
[[noreturn]] void cannot_avoid_copy();
/// NumPy's ComplexWarning, where complex numbers are made real ones.
void warn_of_lost_imaginary(DType from, DType to);
Array as_array(PyObject* o, std::optional<DType> dtype, std::optional<bool> copy, std::optional<Device> device, bool* same);
/// A new NumPy array with the elements.
PyRef to_numpy(const Array& a, char order = 'C');
/// The same with the strides of a view that has gaps, as long as these are no longer than the elements: libraries give NumPy's as_strided
/// the strides that they read from the array itself.
PyRef to_numpy_with_strides(const Array& a);
/// The same for a program that asks for it by a function: an array that requires grad is an error, as derivatives are not followed through
/// NumPy.
PyRef to_host_array(const Array& a, const char* by, char order = 'C');
/// Writes the elements into a NumPy array of the same shape.
void to_numpy_out(const Array& a, PyObject* out);
bool is_numpy_array(PyObject* o);
/// A NumPy array that a GPU's kernels cannot use as it is; mapped and managed arrays they can.
bool is_host_array(PyObject* o);
bool is_numpy_scalar(PyObject* o);

/// A NumPy array's memory, held while this lives.
class NumpyView {
 public:
  explicit NumpyView(PyObject* array);
  DType dtype() const { return dtype_; }
  void* data() const { return data_; }
  Layout layout() const;
  bool writable() const { return writable_; }
  bool contiguous() const;
  /// The object that owns the memory (the array, or a copy made because its layout could not be used).
  PyObject* owner() const { return owner_.get(); }
  bool copied() const { return copied_; }

 private:
  /// False where a stride is no whole number of elements.
  bool take(int ndim, const Py_intptr_t* shape, const Py_intptr_t* strides);

  PyRef owner_, capsule_;
  DType dtype_ = DType::f64;
  void* data_ = nullptr;
  Dims shape_, strides_;  // strides in elements
  bool writable_ = false, copied_ = false;
};

/// Calls Py_DECREF from any thread, and does nothing when Python is gone.
void release_object(PyObject* o) noexcept;

// ---- Interop (interop.cpp) ------------------------------------------------------------------------------------------------------

/// The array over the memory of an object with __dlpack__ or __cuda_array_interface__; nullopt for other objects.
std::optional<Array> import_foreign(PyObject* o);
Array import_dlpack(PyObject* o, std::optional<Device> device, std::optional<bool> copy);

// ---- Ufuncs (ufunc_type.cpp) ----------------------------------------------------------------------------------------------------

/// One row applied to operands, with NumPy's checks that need a look at values.
Array apply(Op op, ArgList* args, const UfuncOptions& options = {});
/// Whether an exponent of integers, seen as `dtype`, is negative where the mask holds. Exponents of floats are not looked at.
bool any_negative_exponent(const Array& exponent, std::optional<DType> dtype = {}, const Array& where = {});
/// NumPy's ValueError where one is.
void refuse_negative(const Array& exponent, std::optional<DType> dtype = {}, const Array& where = {});

}  // namespace bc::bind
