#pragma once
#include <atomic>
#include <optional>
#include <vector>

#include "array/array.h"
#include "array/small_host.h"
#include "bind/state.h"
#include "graph/tape.h"

namespace bc::bind {

/// broadcloth.ndarray: the engine's handle, and what NumPy's array knows besides. Bare elements end after `element`: loops make and keep
/// many, and a third of the bytes is a third of the time that memory takes.
struct PyArray {
  PyObject_HEAD std::atomic<Array*> array;  ///< through array_of(); nullptr: a bare element, `element` is all there is
  PyObject* base;                           ///< the array that this one is a view of, or nullptr
  PyObject* weakrefs;
  bool read_only;
  bool scalar;  ///< 0-d, and what NumPy gives as a scalar (an element, a sum): `x += 1` makes a new one and leaves other names of it alone
  union {
    Element element;
    Array room;  ///< the handle of what was made as an array; that of an element whose array was asked for lies apart
  };
};

/// Whether the program has made an array of a subclass: until then one comparison tells arrays from other objects.
inline std::atomic<bool> subclasses_used{false};
inline bool is_array(PyObject* o) {
  return Py_TYPE(o) == state().array || (subclasses_used.load(std::memory_order_relaxed) && PyType_IsSubtype(Py_TYPE(o), state().array));
}
inline PyArray* as_py_array(PyObject* o) { return reinterpret_cast<PyArray*>(o); }
/// Tells whether an object is an element of computed memory that nobody has asked for its array: loops over elements read, compute and
/// store numbers without making any.
inline bool is_bare(PyObject* o) { return is_array(o) && !as_py_array(o)->array.load(std::memory_order_acquire); }
Array* make_array_of_bare(PyArray* self);
inline Array& array_of(PyObject* o) {
  Array* a = as_py_array(o)->array.load(std::memory_order_acquire);
  return a ? *a : *make_array_of_bare(as_py_array(o));
}
inline DType array_dtype(PyObject* o) { return is_bare(o) ? as_py_array(o)->element.dtype : array_of(o).dtype(); }
/// Tells whether an object is a bare element, or a scalar of the CPU whose value is known. The last of several pending rows over scalars
/// is computed for that: a loop that computes with numbers from a sum on (`s = a * x + b * s`) then goes on with bare elements.
bool is_known_number(PyObject* o);
/// An elementwise row of such elements, Python's and NumPy's numbers, computed at once; nullptr where it is to be recorded.
PyObject* apply_bare(Op op, std::span<PyObject* const> operands);

/// A new Python array. Throws PythonError.
PyObject* wrap(Array a);
/// A new array of ndarray or of a subclass, for which __array_finalize__ (finalize()) is still to be called. Throws PythonError.
PyObject* wrap_as(PyTypeObject* type, Array a);
/// As wrap(), for results that NumPy turns into scalars when they have no axes.
PyObject* wrap_value(Array a);
/// A bare element, to be set by the caller.
PyArray* new_element();
/// The result of a reduction over all of a few elements, computed at once; nullptr where it is to be recorded.
PyObject* reduce_bare(Op op, const Array& a);
/// A new array of `from`'s class over its storage: its base, and read-only where `from` is. Of a scalar a copy, unless it is read-only.
PyObject* wrap_view(Array a, PyObject* from, bool read_only = false);
/// wrap_view when `a` still lies in `from`'s storage, else a new array of its class.
PyObject* wrap_like(Array a, PyObject* from);
/// `from` itself when `a` is the same view of its storage, else wrap_like.
PyRef itself_or_view(PyObject* from, Array a);

/// The array behind an argument that is written to. Throws ValueError when it is read-only, TypeError when it is no array of ours.
const Array& writable(PyObject* o, const char* op);

/// Notes the Python line for errors that come later, where that is asked for (profiling, tracing) or `always`.
struct LineNote {
  explicit LineNote(bool always = false) {
    if (always || wanted()) note();
  }
  ~LineNote() {
    if (noted_) set_source_location(nullptr, 0);
  }
  LineNote(const LineNote&) = delete;
  LineNote& operator=(const LineNote&) = delete;
  static std::atomic<bool> trace;

 private:
  static bool wanted();
  void note();
  bool noted_ = false;
};

// ---- Slots that array_type.cpp puts into the type ----
void add_number_slots(std::vector<PyType_Slot>* slots);
void add_index_slots(std::vector<PyType_Slot>* slots);
void add_buffer_slots(std::vector<PyType_Slot>* slots);
void add_attributes(std::vector<PyGetSetDef>* attributes);
void add_methods(std::vector<PyMethodDef>* methods);
void add_stream_methods(std::vector<PyMethodDef>* methods);
void add_stream_attributes(std::vector<PyGetSetDef>* attributes);
void add_interop_methods(std::vector<PyMethodDef>* methods);
void add_interop_attributes(std::vector<PyGetSetDef>* attributes);

void add_holder_attributes(std::vector<PyGetSetDef>* attributes);
void add_holder_methods(std::vector<PyMethodDef>* methods);

/// The address of element `offset` 0; the memory counts as visible outside from now on.
void* expose_forever(const Array& a);

PyObject* array_repr(PyObject* self);
PyObject* array_str(PyObject* self);

/// a[key] and a[key] = value.
PyObject* get_item(PyObject* self, PyObject* key);
void set_item(PyObject* self, PyObject* key, PyObject* value);
/// The element at a place of `ndim` indices that are all inside, as a value of its own.
PyObject* element_at(const Array& a, const Dims& place);
/// The items of an indexing expression; `plain` tells whether they are basic ones only.
std::vector<IndexItem> parse_index(const Array& a, PyObject* key, bool* plain);

/// Throws NumPy's IndexError when the indices are known (few, computed, in host memory) and one is out of [-extent, extent). Others are
/// checked by the kernel that reads them.
void check_indices(const Array& index, int64_t extent, int axis);

/// The Python scalar of one element's value.
PyRef to_python(const Scalar& s, DType dtype);
/// Tells whether going through an array, after what waits on its device, takes no longer than handing the interpreter's lock over.
inline bool is_small(const Array& a) {
  constexpr int64_t kFew = 4096;
  return a.size() <= kFew && short_running(a.device());
}
/// The same of a function's arguments, the first of which is an array.
bool is_small(PyObject* const* args, int n);
/// item() without the interpreter's lock.
Scalar look(const Array& a);
/// What was read of `a` has a NaN or not: gives the warning that its storage keeps for the first one.
void give_notice(const Array& a, bool nan);

}  // namespace bc::bind
