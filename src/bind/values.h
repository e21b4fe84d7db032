#pragma once
#include "bind/convert.h"

namespace bc::bind {

/// What is assigned to an array of `dtype`: as to_arg, but lists, texts, None and what only NumPy reads are read as elements of `dtype`.
Arg to_value(PyObject* o, DType dtype, Device device);
/// What is assigned to elements that are named without index arrays: as to_value, but signed integers take NumPy's scalars by their values,
/// so that one that does not fit raises, as in NumPy.
Arg to_stored_value(PyObject* o, DType dtype, Device device);
/// What numpy.full and numpy.copyto cast to `dtype`: as to_arg, but texts and None are read as elements of `dtype`, and Python's floats and
/// complex numbers come as arrays where the dtype is not of their kind, so that they are cast unchecked.
Arg to_cast_value(PyObject* o, DType dtype, Device device);

/// The value that a fold of `dtype` begins with: as to_arg, but objects of Python's module datetime are read as elements of a dtype of
/// time, which refuses those of the other kind. NumPy's times of the other kind are cast.
Arg to_start(PyObject* o, DType dtype, Device device);

/// What one element of `dtype` is assigned: `value`, which `o` was read as, where it has no axes. An element of bool takes the truth of
/// anything else, as NumPy's does; other dtypes raise NumPy's error.
Arg to_element(PyObject* o, Arg value, DType dtype);

/// Tells whether an argument is of numpy._CopyMode, which `copy` of some functions takes.
bool is_copy_mode(PyObject* o);
/// NumPy's `copy`: None and _CopyMode.IF_NEEDED are nullopt (copy where it is needed); text is an error, although it is true.
std::optional<bool> to_copy_mode(PyObject* o);

}  // namespace bc::bind
