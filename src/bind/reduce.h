#pragma once
#include "bind/convert.h"

/// What ndarray's methods and the module's functions share.
namespace bc::bind {

/// The options of a reduction of an array from NumPy's arguments; a missing one is nullptr, `...` or NumPy's _NoValue.
ReduceOptions reduce_options(const char* name, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims, PyObject* initial,
                             PyObject* where, const Array& a);
/// NumPy's ComplexWarning where a complex array is reduced or scanned to a real dtype; `warned` gives its array back.
const Array& warned(const Array& a, std::optional<DType> dtype, const Array& out);
void warn_of_reduced(Op op, const Array& a, const ReduceOptions& options);
/// The checks of argmax and argmin alone: one axis, and something to look at. Other reductions pass.
void check_arg_extreme(Op op, const Array& a, PyObject* axis);
/// A reduction over all of a few elements that needs no more than NumPy's defaults, computed at once; nullptr where it is to be recorded.
PyObject* reduce_now(Op op, const Array& a, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims, PyObject* initial,
                     PyObject* where);
/// `out` when it was given, else the array.
PyObject* finish_reduce(Array made, PyObject* out);
/// NumPy's warnings where shapes alone tell: the mean of nothing, and a spread of no more elements than `ddof`; whether one was given. What
/// depends on values would wait for the device (see Storage::notice).
bool warn_of_short_slices(const Array& a, const ReduceOptions& options, bool spread);

Array reshape_in_order(const Array& a, const Dims& shape, char order, PyObject* copy_it);
Array take_checked(const Array& a, const Array& indices, const Axis& axis, std::string_view mode, const Array& out);
Array repeat_any(const Array& a, PyObject* repeats, const Axis& axis);
PyObject* clip_any(PyObject* a, PyObject* low, PyObject* high, PyObject* out, PyObject* dtype, PyObject* casting, PyObject* where);

/// The mask of `where=`; null for True.
Array where_mask(PyObject* where, Device device);
/// UfuncOptions from NumPy's keywords; `out` is not read.
UfuncOptions ufunc_options(PyObject* where, PyObject* dtype, PyObject* casting, Device device);
/// The array of ours behind `out`; null when it is None.
Array output(PyObject* out, const char* name);

/// A ufunc over vectors or matrices, such as matmul, which `function` computes; `core` is its signature, "(n),(n)->()".
PyRef generalised_ufunc(std::string_view name, PyObject* function, std::string_view core);

/// ndarray's __array_ufunc__ and __array_function__.
PyMethodDef array_ufunc_method();
PyMethodDef array_function_method();

}  // namespace bc::bind
