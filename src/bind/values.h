#pragma once
#include "bind/convert.h"

namespace bc::bind {

/// What is assigned to an array of `dtype`: as to_arg, but lists, texts, None and what only NumPy reads are read as elements of `dtype`.
Arg to_value(PyObject* o, DType dtype, Device device);
/// What numpy.full and numpy.copyto cast to `dtype`: as to_arg, but texts and None are read as elements of `dtype`, and Python's floats and
/// complex numbers come as arrays where the dtype is not of their kind, so that they are cast unchecked.
Arg to_cast_value(PyObject* o, DType dtype, Device device);

/// NumPy's error where an element is assigned something that has axes, in a list or not.
[[noreturn]] void raise_no_element(DType dtype, bool list);

}  // namespace bc::bind
