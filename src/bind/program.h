#pragma once
#include <atomic>

#include "array/small_host.h"
#include "bind/py.h"
#include "core/dtype.h"
#include "core/scalar.h"

/// Programs that were written for NumPy and run unchanged (`python -m broadcloth program.py`): what the extension does for them.
namespace bc::bind {

/// Whether such a program runs: elements then are NumPy's scalars, or look like them, and what broadcloth refuses is asked of NumPy.
inline std::atomic<bool> program_mode{false};

/// Called when `what` (a callable, or an operator's name) raised: asks the program's handler, which computes the call on the host. Returns
/// its result, or nullptr with the error set: `what`'s own, or NumPy's. Only where a program runs.
PyObject* refused(PyObject* what, PyObject* args, PyObject* kwargs);

/// Whether NumPy's state of floating-point errors asks a program to be told of them (np.errstate(all="raise")): our loops do not look.
inline std::atomic<bool> errors_watched{false};
/// Asks the program's watcher to compute a call of a ufunc or function on the host, where NumPy tells of errors. Returns whether it did:
/// `made` is the result then, nullptr with the error set.
bool computed_by_watcher(PyObject* what, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** made);

/// The arguments of a vectorcall as refused() takes them: a tuple, and a dict, which is null where there are no keywords.
struct TupleArguments {
  PyRef positional, named;

  TupleArguments(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
};

/// The result of a binary operator: `made`, or where that is nullptr what the program's handler gives.
inline PyObject* unless_refused(PyObject* made, const char* name, PyObject* x, PyObject* y) {
  if (made || !program_mode.load(std::memory_order_relaxed)) [[likely]]
    return made;
  const PyRef text = PyRef::maybe(PyUnicode_InternFromString(name)), args = PyRef::maybe(PyTuple_Pack(2, x, y));
  return text && args ? refused(text.get(), args.get(), nullptr) : nullptr;
}

/// Tells whether an object is an array of a subclass of numpy.ndarray, whose values mean more than its elements say
/// (numpy.ma.MaskedArray, numpy.matrix): what a program does with one is NumPy's.
bool is_subclass_array(PyObject* o);
/// Tells whether operators and ufuncs that get an object are NumPy's: an array with a mask, which a copy would lose; in a program that was
/// written for NumPy also a matrix.
bool is_left_to_numpy(PyObject* o);

/// An element as NumPy's scalar of the dtype.
PyRef to_numpy_scalar(const Scalar& s, DType dtype);
PyRef to_numpy_scalar(const Element& element);
/// Reads a scalar of NumPy's of exactly this dtype, for the dtypes that loops over elements have most. Returns whether it was one.
bool read_numpy_scalar(PyObject* o, DType dtype, Element* made);
/// Tells whether all are Python's or NumPy's numbers: NumPy computes with those on the host.
bool all_numbers(PyObject* const* args, Py_ssize_t n);

void init_program(PyObject* module);

}  // namespace bc::bind
