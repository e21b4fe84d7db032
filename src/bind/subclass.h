/// Subclasses of ndarray (`class Field(bc.ndarray)`): the class that a result has, and the hooks of the class that are called for it, by
/// NumPy's rules (NumPy user guide, "Subclassing ndarray"). Where no instance of a subclass was made, each check is one load.
#pragma once
#include "bind/array.h"

namespace bc::bind {

/// Tells whether an object is an array of a proper subclass.
inline bool of_subclass(PyObject* o) {
  return subclasses_used.load(std::memory_order_relaxed) && !is_exact(o, state().array) && is_array(o);
}
/// Tells whether one of the objects is, or one in a list or a tuple among them.
bool any_of_subclass(PyObject* const* args, Py_ssize_t n);

/// Calls __array_finalize__ of a new array of a subclass; `from` is the array that it comes of, or None.
void finalize(PyObject* made, PyObject* from);

/// The result of a function or a method called `name` in the class that NumPy gives it: the class of the argument with the highest
/// __array_priority__, or ndarray, as where `subok` is false. Takes `made` over.
PyObject* with_class(PyObject* made, const char* name, bool method, PyObject* const* args, Py_ssize_t n, bool subok = true);

/// The memory of an array as an array of ndarray or of a subclass, before finalize().
PyRef in_class(PyObject* array, PyTypeObject* type);
/// The class that a program which runs unchanged has as numpy.ndarray; null while there is none.
inline PyObject* program_ndarray = nullptr;
/// The class that an object names, ndarray (also as numpy.ndarray of a program) or a subclass; null where it is none.
PyTypeObject* array_class(PyObject* o);

/// A call of a ufunc or of one of its methods, `plain`, whose operands or outputs may be of subclasses.
PyObject* ufunc_of_classes(PyObject* self, const char* method, FastCall plain, PyObject* const* args, Py_ssize_t n, PyObject* kwnames);

/// The ufunc of an operator, as an object of the module or of the package.
PyRef ufunc_called(const char* name);
/// Tells whether an operand computes ufuncs itself: its class has an __array_ufunc__ (None, where it refuses them), and not ndarray's or
/// NumPy's.
bool computes_ufuncs(PyObject* o);
/// Tells whether an array's class says itself what ufuncs give, by __array_ufunc__ or __array_wrap__.
bool has_own_results(PyObject* o);
/// Tells whether the class of an array has its own of a method of ndarray's.
bool has_own(PyObject* o, PyObject* name);

/// An operator whose operands may be of subclasses: `plain`, but where a class computes ufuncs itself. `inplace` operators write x.
PyObject* operator_of_classes(const char* ufunc, binaryfunc plain, PyObject* x, PyObject* y, bool inplace);
PyObject* operator_of_classes(const char* ufunc, unaryfunc plain, PyObject* x);

void add_subclass_methods(std::vector<PyMethodDef>* methods);

}  // namespace bc::bind
