// ndarray's indexing: Python's keys become the engine's index items.
#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "array/history.h"
#include "array/placement.h"
#include "array/small_host.h"
#include "bind/convert.h"
#include "bind/program.h"
#include "bind/subclass.h"
#include "bind/values.h"
#include "graph/tape.h"
#include "runtime/profiler.h"

namespace bc::bind {
namespace {

constexpr const char* kBadIndex =
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices";

SliceItem item_of(int64_t at) {
  SliceItem item;
  item.kind = SliceItem::Kind::index;
  item.start = at;
  return item;
}

SliceItem item_of_slice(PyObject* slice) {
  SliceItem item;
  Py_ssize_t start, stop, step;
  check(PySlice_Unpack(slice, &start, &stop, &step));
  item.step = step;
  // PySlice_Unpack writes None as the end of the range on that side.
  item.has_start = start != (step > 0 ? 0 : PY_SSIZE_T_MAX);
  item.has_stop = stop != (step > 0 ? PY_SSIZE_T_MAX : PY_SSIZE_T_MIN);
  item.start = item.has_start ? start : 0;
  item.stop = item.has_stop ? stop : 0;
  return item;
}

/// Tells whether an index is an integer element or result of a reduction on the CPU. As NumPy's scalars those index like Python's integers,
/// so that `a[k]` is a view whether the integer is computed yet or not: it is waited for. A capture cannot wait.
bool is_number_now(PyObject* o) {
  if (!is_array(o) || !as_py_array(o)->scalar) return false;
  const Array& a = array_of(o);
  if (a.ndim() != 0 || !is_integer(a.dtype()) || a.device().type != DeviceType::cpu) return false;
  if (history_observer() && a.history()) return false;
  return !storage_facts(a).pending || !tape(a.device()).capture();
}

/// A basic item, when the object is one.
bool basic_item(PyObject* o, SliceItem* item) {
  if (PyLong_CheckExact(o)) {
    const long long v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) {
      PyErr_SetString(PyExc_IndexError, "cannot fit 'int' into an index-sized integer");
      throw PythonError();
    }
    *item = item_of(v);
    return true;
  }
  if (PySlice_Check(o)) {
    *item = item_of_slice(o);
    return true;
  }
  if (const auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
      type == state().scalar_types[static_cast<int>(DType::i64)] || type == state().scalar_types[static_cast<int>(DType::i32)]) {
    *item = item_of(PyNumber_AsSsize_t(o, nullptr));
    return true;
  }
  if (is_bare(o) && is_integer(array_dtype(o))) {
    const Scalar at = as_py_array(o)->element.scalar();
    if (at.dtype == DType::u64 && at.u > INT64_MAX) return false;  // out of bounds, which is said elsewhere
    *item = item_of(at.i);
    return true;
  }
  if (is_number_now(o)) [[unlikely]] {
    *item = item_of(look(array_of(o)).i);
    return true;
  }
  if (o == Py_None) {
    item->kind = SliceItem::Kind::newaxis;
    return true;
  }
  if (o == Py_Ellipsis) {
    item->kind = SliceItem::Kind::ellipsis;
    return true;
  }
  return false;
}

// More indices than this that do not lie side by side are checked by the kernel that reads them.
constexpr int64_t kFewIndices = 1 << 16;

/// Tells whether neighbouring indices all lie in [-extent, extent); may say no of what is close to a type's ends.
template <class T>
bool surely_inside(const T* at, int64_t n, int64_t extent) {
  using U = std::make_unsigned_t<T>;
  typedef U Lanes __attribute__((vector_size(16)));
  constexpr int kLanes = 16 / sizeof(U), kStep = 4;
  if (extent < 1 || static_cast<uint64_t>(extent - 1) > static_cast<uint64_t>(std::numeric_limits<std::make_signed_t<T>>::max()))
    return false;
  // What is too low makes the first sum negative, what is too high the second; an unsigned index that looks negative is too high.
  const U below = std::is_signed_v<T> ? static_cast<U>(extent) : U(0), last = static_cast<U>(extent - 1);
  Lanes seen[kStep] = {};
  int64_t k = 0;
  for (; k + kStep * kLanes <= n; k += kStep * kLanes)
#pragma GCC unroll 4
    for (int s = 0; s < kStep; ++s) {
      Lanes v;
      std::memcpy(&v, at + k + s * kLanes, sizeof(v));
      seen[s] |= (v + below) | (last - v);
    }
  const Lanes all = (seen[0] | seen[1]) | (seen[2] | seen[3]);
  U bits = 0;
  for (int l = 0; l < kLanes; ++l) bits |= all[l];
  for (; k < n; ++k) bits |= static_cast<U>(static_cast<U>(at[k]) + below) | static_cast<U>(last - static_cast<U>(at[k]));
  return bits >> (8 * sizeof(U) - 1) == 0;
}

/// Widens [low, high] to hold n indices, `step` elements apart.
template <class T>
void widen_range(const T* at, int64_t step, int64_t n, int64_t* low, int64_t* high) {
  for (int64_t k = 0; k < n; ++k) {
    const T v = at[k * step];
    const int64_t i = std::is_same_v<T, uint64_t> && v > static_cast<T>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(v);
    *low = std::min(*low, i);
    *high = std::max(*high, i);
  }
}

/// Calls f with a number of an integer type.
template <class F>
void by_integer(DType t, F&& f) {
  switch (t) {
    case DType::i8: return f(int8_t());
    case DType::i16: return f(int16_t());
    case DType::i32: return f(int32_t());
    case DType::i64: return f(int64_t());
    case DType::u8: return f(uint8_t());
    case DType::u16: return f(uint16_t());
    case DType::u32: return f(uint32_t());
    default: return f(uint64_t());
  }
}

/// An integer as an index; what int64 does not hold is the largest number, which is out of bounds.
int64_t as_index(const Scalar& s) { return s.dtype == DType::u64 && s.u > INT64_MAX ? INT64_MAX : s.i; }

/// The lowest and highest index, when they lie in host memory, computed, side by side or few. Of indices that are all in [-extent, extent)
/// it may say that they are 0.
bool known_range(const Array& index, int64_t extent, int64_t* low, int64_t* high) {
  if (index.device().type != DeviceType::cpu || index.size() == 0 || !is_integer(index.dtype())) return false;
  if (index.size() > kFewIndices && !index.contiguous()) return false;
  TapeLock lock(tape(index.device()));
  const Node& node = *index.storage()->current;
  if (index.dtype() == node.dtype && node.op == Op::cast && node.in.size() == 1 && node.in[0].node->op == Op::constant &&
      is_integer(node.in[0].node->value.dtype)) {
    const Scalar& s = node.in[0].node->value;
    *low = *high = as_index(s);
    return true;
  }
  if (node.pending() || !node.buffer || index.dtype() != node.dtype) return false;
  by_integer(index.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* base = static_cast<const T*>(node.buffer->ptr);
    if (index.contiguous() && surely_inside(base + index.offset(), index.size(), extent)) {
      *low = *high = 0;
      return;
    }
    *low = INT64_MAX;
    *high = INT64_MIN;
    const int inner = index.ndim() - 1;
    const int64_t n = inner < 0 ? 1 : index.shape()[inner], step = inner < 0 ? 1 : index.strides()[inner];
    Dims at(index.ndim());
    for (int64_t rows = index.size() / n; rows > 0; --rows) {
      int64_t place = index.offset();
      for (int d = 0; d < inner; ++d) place += at[d] * index.strides()[d];
      widen_range(base + place, step, n, low, high);
      for (int d = inner - 1; d >= 0; --d) {
        if (++at[d] < index.shape()[d]) break;
        at[d] = 0;
      }
    }
  });
  return true;
}

/// Indices come to the array's device checked where that costs little.
Array index_array(PyObject* o, Device device) {
  Array index;
  if (is_array(o)) {
    index = array_of(o);
  } else {
    // Lists and NumPy arrays can be checked before they leave the host.
    try {
      index = to_array(o, traits(device).asynchronous ? Device{DeviceType::cpu, 0} : device);
    } catch (const PythonError&) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw;
      PyErr_Clear();
      throw_python(PyExc_IndexError, kBadIndex);  // slices, names or other objects in a list
    }
    // An empty list has no type of its own.
    if (index.size() == 0 && !is_numpy_array(o) && is_inexact(index.dtype())) index = astype(index, DType::i64);
  }
  if (is_inexact(index.dtype())) throw_python(PyExc_IndexError, "arrays used as indices must be of integer (or boolean) type");
  return index;
}

IndexItem parse_one(const Array& a, PyObject* o) {
  IndexItem item;
  if (basic_item(o, &item.basic)) return item;
  if (is_array(o) || is_numpy_array(o) || PyList_Check(o) || PyTuple_Check(o)) {
    item.array = index_array(o, a.device());
    return item;
  }
  if (PyBool_Check(o)) {
    item.array = full(Dims(), Scalar::boolean(o == Py_True), DType::b1, a.device());
    return item;
  }
  if (PyIndex_Check(o)) {
    PyRef index = PyRef::maybe(PyNumber_Index(o));
    if (index) {
      basic_item(index.get(), &item.basic);
      return item;
    }
    PyErr_Clear();
  }
  if (is_numpy_scalar(o)) {
    // numpy.bool_ is no integer to Python.
    item.array = index_array(o, a.device());
    return item;
  }
  if (PyUnicode_Check(o) || PyFloat_Check(o) || PyComplex_Check(o) || PyBytes_Check(o)) {
    PyErr_Format(PyExc_IndexError, "%s, got %s %R", kBadIndex, type_name(o), o);
    throw PythonError();
  }
  if (auto foreign = import_foreign(o)) {
    PyRef wrapped = PyRef::steal(wrap(std::move(*foreign)));
    item.array = index_array(wrapped.get(), a.device());
    return item;
  }
  if (PySequence_Check(o) || attr_or_null(o, state().names.__array__)) {
    item.array = index_array(o, a.device());
    return item;
  }
  throw_python(PyExc_IndexError, kBadIndex);
}

/// Up to this many basic items need no list on the heap.
constexpr int kFew = 8;

/// An index that is known to be out of bounds.
std::optional<int64_t> wrong_index(const Array& index, int64_t extent) {
  int64_t low = 0, high = 0;
  if (known_range(index, extent, &low, &high)) {
    if (low >= -extent && high < extent) return std::nullopt;
    return high >= extent ? high : low;
  }
  if (extent > 0 || index.size() == 0) return std::nullopt;
  // Every index of an axis without elements is out of bounds: the error names the first one, wherever it lies.
  SliceItem first;
  first.kind = SliceItem::Kind::index;
  return as_index(look(slice(index, std::vector<SliceItem>(index.ndim(), first))));
}

[[noreturn]] void raise_out_of_bounds(int64_t index, int64_t extent, int axis) {
  raise(ErrorKind::Index, "index {} is out of bounds for axis {} with size {}", index, axis, extent);
}

/// A single index beside index arrays of no elements is read: no gather runs that would find it out of bounds.
std::optional<int64_t> wrong_single_index(const Array& index, int64_t extent, std::span<const IndexItem> items) {
  const bool empty = std::any_of(items.begin(), items.end(), [](const IndexItem& i) { return i.array && i.array.size() == 0; });
  if (index.ndim() > 0 || !empty) return std::nullopt;
  const int64_t i = as_index(look(index));
  return i >= -extent && i < extent ? std::nullopt : std::optional(i);
}

/// Tells whether index arrays select nothing together. Looks at masks.
bool selects_nothing(std::span<const IndexItem> items) {
  return std::any_of(items.begin(), items.end(), [](const IndexItem& i) {
    if (!i.array) return false;
    return i.array.size() == 0 || (is_bool(i.array.dtype()) && !look(reduce(Op::reduce_any, i.array)).i);
  });
}

/// Looks at the indices that are known, in NumPy's words, and brings them all to the array's device.
void settle_indices(const Array& a, std::vector<IndexItem>* items) {
  if (std::count_if(items->begin(), items->end(), [](const IndexItem& i) { return static_cast<bool>(i.array); }) > kMaxDims)
    raise(ErrorKind::Index, "too many advanced (array) indices: expected at most {}", kMaxDims);
  int used = 0;
  for (const IndexItem& i : *items) {
    if (i.array)
      used += is_bool(i.array.dtype()) ? i.array.ndim() : 1;
    else
      used += i.basic.kind == SliceItem::Kind::index || i.basic.kind == SliceItem::Kind::slice;
  }
  int axis = 0;
  for (IndexItem& i : *items) {
    if (!i.array) {
      if (i.basic.kind == SliceItem::Kind::ellipsis) axis += std::max(0, a.ndim() - used);
      if (i.basic.kind == SliceItem::Kind::index || i.basic.kind == SliceItem::Kind::slice) ++axis;
      continue;
    }
    if (is_bool(i.array.dtype())) {
      axis += i.array.ndim();
    } else if (axis < a.ndim()) {
      // Where another index selects nothing the indices of a list are not used; a single index is always looked at.
      if (const auto wrong = wrong_index(i.array, a.shape()[axis]); wrong && (i.array.ndim() == 0 || !selects_nothing(*items)))
        raise_out_of_bounds(*wrong, a.shape()[axis], axis);
      if (const auto wrong = wrong_single_index(i.array, a.shape()[axis], *items)) raise_out_of_bounds(*wrong, a.shape()[axis], axis);
      ++axis;
    }
    // Of arrays that are placed by size, the gather or the store chooses the device.
    if (!(i.array.device() == a.device()) && !placed_by_size()) i.array = without_gil([&] { return bc::to_device(i.array, a.device()); });
  }
}

/// The items of a short tuple. They are made as they are read: to make all of them first takes as long as to read an element.
union FewItems {
  FewItems() {}
  SliceItem items[kFew];
};

/// Fills `few` when a tuple holds basic items only and few; returns their number or -1.
int basic_items(PyObject* tuple, FewItems* few) {
  const Py_ssize_t n = PyTuple_Size(tuple);
  if (n > kFew) return -1;
  for (Py_ssize_t i = 0; i < n; ++i) {
    try {
      if (!basic_item(PyTuple_GetItem(tuple, i), std::construct_at(&few->items[i]))) return -1;
    } catch (const PythonError&) {
      // parse_tuple() reports a slice with wrong ends, after it has looked at the other items.
      PyErr_Clear();
      return -1;
    }
  }
  return static_cast<int>(n);
}

/// Calls use(items) where a key holds basic items only and few. Returns whether it does.
template <class Use>
bool with_basic_items(PyObject* key, Use&& use) {
  if (PyTuple_CheckExact(key)) {
    FewItems few;
    const int n = basic_items(key, &few);
    if (n >= 0) use(std::span<const SliceItem>(few.items, static_cast<size_t>(n)));
    return n >= 0;
  }
  SliceItem one;
  if (!basic_item(key, &one)) return false;
  use(std::span<const SliceItem>(&one, 1));
  return true;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guard([&] { return get_item(self, key); });
}

int ass_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guard(-1, [&] {
    if (!value) throw_python(PyExc_ValueError, "cannot delete array elements");
    set_item(self, key, value);
    return 0;
  });
}

Py_ssize_t length(PyObject* self) {
  const Array& a = array_of(self);
  if (a.ndim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return -1;
  }
  return a.shape()[0];
}

bool is_index(const SliceItem& item) { return item.kind == SliceItem::Kind::index; }

/// Tells whether an array of the CPU is not computed yet.
bool waits_on_host(const Array& a) {
  const bool differentiated = history_observer() && a.history();  // its elements are arrays, which remember what they come from
  return a.device().type == DeviceType::cpu && !differentiated && storage_facts(a).pending;
}

bool is_element(const Array& a, std::span<const SliceItem> items) {
  return static_cast<int>(items.size()) == a.ndim() && std::ranges::all_of(items, is_index);
}

/// Counts the part of an array that is placed by size which basic indexing takes: a loop over elements or rows waits or launches for each.
void note_part(const Array& a, std::span<const SliceItem> items) {
  if (!placed_by_size() || traits(a.device()).on_host) return;
  const Array part = slice(a, items);
  if (part.size() < a.size()) bc::note_part(a, part.size());
}

/// Computes an array that a program reads or writes element by element. Tells whether it was done.
bool compute_for_loop(const Array& a) {
  if (!loops_over_elements(a)) return false;
  without_gil_unless(short_running(a.device()), [&] { data(a); });
  return true;
}

/// An element that is known: an array of its own, in a program that was written for NumPy a scalar. nullptr where it is not known.
PyObject* known_element(const Array& a, std::span<const SliceItem> items) {
  const auto mirrored = [&](Element* element) {
    return !traits(a.device()).on_host && placed_by_size() && is_element(a, items) &&
           without_gil([&] { return read_mirrored(a, items, element); });
  };
  if (program_mode.load(std::memory_order_relaxed) && numpy_has(a.dtype())) [[unlikely]] {
    if (Element element; read_one(a, items, &element) || mirrored(&element)) [[likely]]
      return to_numpy_scalar(element).release();
    if (waits_on_host(a) && is_element(a, items)) {
      // Such programs look at what they read: the array is computed now, and the elements that follow are there.
      const Array element = slice(a, items);
      return to_numpy_scalar(look(element), a.dtype()).release();
    }
  }
  if (!is_element(a, items)) return nullptr;
  PyArray* made = new_element();
  if (pick_one(a, items, &made->element) || (compute_for_loop(a) && pick_one(a, items, &made->element)) || mirrored(&made->element))
      [[likely]]
    return reinterpret_cast<PyObject*>(made);
  Py_DECREF(made);
  return nullptr;
}

/// Tells whether `a[key]` is an element of a vector of 8-byte numbers on the CPU at an integer of Python's or NumPy's.
bool is_number_at(const Array& a, PyObject* key, int64_t* at) {
  const bool numbers = a.dtype() == DType::f64 || a.dtype() == DType::i64;
  if (a.ndim() != 1 || !numbers || a.device().type != DeviceType::cpu) return false;
  if (!PyLong_CheckExact(key)) {
    Element index;
    if (!read_numpy_scalar(key, DType::i64, &index)) return false;
    std::memcpy(at, index.bytes, sizeof(*at));
    return true;
  }
  int overflow = 0;
  *at = PyLong_AsLongLongAndOverflow(key, &overflow);
  return overflow == 0;
}

/// Such an element, read at once; nullptr where the usual way is needed.
PyObject* quick_element(const Array& a, PyObject* key) {
  int64_t at = 0;
  if (!is_number_at(a, key, &at)) return nullptr;
  if (program_mode.load(std::memory_order_relaxed)) {
    Element element;
    return read_number(a, at, &element) ? to_numpy_scalar(element).release() : nullptr;
  }
  if (profiling()) return nullptr;
  PyArray* made = new_element();
  if (read_number(a, at, &made->element)) return reinterpret_cast<PyObject*>(made);
  Py_DECREF(made);
  return nullptr;
}

PyObject* sequence_item(PyObject* self, Py_ssize_t at) {
  return guard([&]() -> PyObject* {
    const Array& a = array_of(self);
    if (a.ndim() == 0) throw_python(PyExc_IndexError, "too many indices for array: array is 0-dimensional, but 1 were indexed");
    if (at < -a.shape()[0] || at >= a.shape()[0]) {
      // The end of an iteration: no C++ exception, which takes microseconds.
      PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis 0 with size %zd", at, static_cast<Py_ssize_t>(a.shape()[0]));
      return nullptr;
    }
    const SliceItem item = item_of(at);
    note_part(a, {&item, 1});
    if (PyObject* element = known_element(a, {&item, 1})) return element;
    // A program that has taken a few elements goes through all of them.
    constexpr Py_ssize_t kEnough = 4;
    if (at >= kEnough && a.ndim() == 1 && waits_on_host(a) && !profiling()) {
      without_gil_unless(short_running(a.device()), [&] { data(a); });
      if (PyObject* element = known_element(a, {&item, 1})) return element;
    }
    Array part = slice(a, {&item, 1});
    // An element is a value of its own: `for x in a: x += 1` leaves the array alone.
    return part.ndim() == 0 ? wrap_value(copy(part)) : wrap_view(std::move(part), self);
  });
}

/// `iter(a)`: Python's own iterator over sequences ends by an exception, and asks for each item by way of the sequence's slots.
struct PyArrayIterator {
  PyObject_HEAD PyObject* held;
  std::atomic<Py_ssize_t> at;  ///< the item that comes next; beyond every array after the last one
#ifndef Py_GIL_DISABLED
  ReadAhead ahead;
#endif
};
constexpr Py_ssize_t kEnded = PY_SSIZE_T_MAX / 2;

PyArrayIterator* as_iterator(PyObject* o) { return reinterpret_cast<PyArrayIterator*>(o); }

PyObject* iterate(PyObject* self) {
  if (array_of(self).ndim() == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
    return nullptr;
  }
  if (of_subclass(self) && has_own(self, BC_INTERNED("__getitem__"))) return PySeqIter_New(self);
  PyArrayIterator* made = PyObject_New(PyArrayIterator, state().array_iterator);
  if (!made) return nullptr;
  made->held = new_ref(self);
  new (&made->at) std::atomic<Py_ssize_t>(0);
#ifndef Py_GIL_DISABLED
  new (&made->ahead) ReadAhead;
#endif
  return reinterpret_cast<PyObject*>(made);
}

void iterator_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(as_iterator(self)->held);
  PyObject_Free(self);
  Py_DECREF(type);
}

#ifndef Py_GIL_DISABLED
/// The next element of a vector that is computed; nullptr: the usual way is needed.
PyObject* next_element(const Array& a, Py_ssize_t at, ReadAhead* ahead) {
  if (a.ndim() != 1) return nullptr;
  return guard([&]() -> PyObject* {
    PyArray* made = new_element();
    if (pick_next(a, at, ahead, &made->element)) [[likely]]
      return reinterpret_cast<PyObject*>(made);
    Py_DECREF(made);
    return nullptr;
  });
}
#endif

Py_ssize_t items_left(PyObject* self) {
  const Array& a = array_of(as_iterator(self)->held);
  return a.ndim() == 0 ? 0 : std::max<Py_ssize_t>(0, a.shape()[0] - as_iterator(self)->at.load(std::memory_order_relaxed));
}

PyObject* iterator_next(PyObject* self) {
  PyArrayIterator* p = as_iterator(self);
  if (items_left(self) == 0) {
    p->at.store(kEnded, std::memory_order_relaxed);
    return nullptr;
  }
  const Py_ssize_t at = p->at.fetch_add(1, std::memory_order_relaxed);
#ifndef Py_GIL_DISABLED
  if (!program_mode.load(std::memory_order_relaxed)) [[likely]]
    if (PyObject* element = next_element(array_of(p->held), at, &p->ahead)) return element;
#endif
  return sequence_item(p->held, at);
}

PyObject* iterator_length(PyObject* self, PyObject*) { return PyLong_FromSsize_t(items_left(self)); }

PyMethodDef iterator_methods[] = {{"__length_hint__", iterator_length, METH_NOARGS, nullptr}, {}};
PyType_Slot iterator_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(iterator_dealloc)},
                                {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                {Py_tp_iternext, reinterpret_cast<void*>(iterator_next)},
                                {Py_tp_methods, iterator_methods},
                                {0, nullptr}};
PyType_Spec iterator_spec = {"broadcloth._broadcloth.array_iterator", sizeof(PyArrayIterator), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, iterator_slots};

int contains(PyObject* self, PyObject* value) {
  return guard(-1, [&] {
    const Array& a = array_of(self);
    ArgList args;
    args.emplace(a);
    if (!push_operand(&args, value, a.device())) return 0;
    try {
      return look(reduce(Op::reduce_any, apply(Op::equal, &args))).i != 0 ? 1 : 0;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::UFuncTypeError) throw;
      return 0;  // kinds that cannot be compared, as dates and numbers, are unequal
    }
  });
}

}  // namespace

void check_indices(const Array& index, int64_t extent, int axis) {
  if (const auto wrong = wrong_index(index, extent)) raise_out_of_bounds(*wrong, extent, axis);
}

namespace {

/// The items of a tuple. Like NumPy it looks at slices' ends last, when the kinds and the number of all items are right.
void parse_tuple(const Array& a, PyObject* key, std::vector<IndexItem>* items) {
  const Py_ssize_t n = PyTuple_Size(key);
  items->resize(static_cast<size_t>(n));
  int used = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    IndexItem& item = (*items)[static_cast<size_t>(i)];
    PyObject* const o = PyTuple_GetItem(key, i);
    const bool slice = PySlice_Check(o);
    if (slice)
      item.basic.kind = SliceItem::Kind::slice;
    else
      item = parse_one(a, o);
    used += item.array && is_bool(item.array.dtype()) ? item.array.ndim() : item.array || slice || is_index(item.basic);
  }
  if (used > a.ndim()) raise(ErrorKind::Index, "too many indices for array: array is {}-dimensional, but {} were indexed", a.ndim(), used);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (PyObject* const o = PyTuple_GetItem(key, i); PySlice_Check(o)) (*items)[static_cast<size_t>(i)].basic = item_of_slice(o);
}

/// NumPy's limit for indices that are arrays, in its words.
void check_count(const Array& a, std::span<const IndexItem> items) {
  constexpr int64_t kMost = 63;
  int64_t arrays = 0, numbers = 0;
  for (const IndexItem& i : items) {
    arrays += static_cast<bool>(i.array);
    numbers += i.array && !is_bool(i.array.dtype());
  }
  if (arrays <= kMost) return;
  if (numbers > a.ndim())
    raise(ErrorKind::Index, "too many indices for array: array is {}-dimensional, but {} were indexed", a.ndim(), numbers);
  raise(ErrorKind::Index, "when no subspace is given, the number of index arrays cannot be above {}, but {} index arrays found", kMost,
        arrays);
}

}  // namespace

std::vector<IndexItem> parse_index(const Array& a, PyObject* key, bool* plain) {
  std::vector<IndexItem> items;
  *plain = true;
  if (PyTuple_Check(key)) {
    parse_tuple(a, key, &items);
    for (const IndexItem& item : items) *plain = *plain && !item.array;
  } else {
    items.push_back(parse_one(a, key));
    *plain = !items[0].array;
  }
  if (!*plain) {
    check_count(a, items);
    settle_indices(a, &items);
  }
  return items;
}

namespace {

/// What basic indexing gives: a view, or a copy of one element where every item is an integer (NumPy's scalar, which later stores leave
/// alone).
PyObject* element_or_view(const Array& a, std::span<const SliceItem> items, PyObject* self) {
  note_part(a, items);
  if (PyObject* element = known_element(a, items)) return element;
  Array view = slice(a, items);
  if (view.ndim() == 0 && std::all_of(items.begin(), items.end(), [](const SliceItem& i) { return i.kind == SliceItem::Kind::index; }))
    return wrap_value(copy(view));
  return wrap_view(std::move(view), self);
}

/// Computes a short mask that waits (`a[a > 1] = 0`, `a[a > 1]`), and what it masks: to record the op takes longer than to do it.
void compute_small_mask(const Array& a, const Array& mask) {
  const bool few = a.ndim() > 0 && is_bool(mask.dtype()) && a.size() <= kMaskedFew && mask.shape() == a.shape();
  if (!few || profiling() || many_streams() || !waits_on_host(mask) || !(a.device() == mask.device()) || tape(a.device()).capture()) return;
  data(mask);
  data(a);
}

constexpr Py_ssize_t kListed = 64;  // longer lists of indices become arrays

/// Reads a short list of integers, Python's or NumPy's int64; their number, or 0 for other lists.
size_t read_listed(PyObject* list, int64_t* index) {
  const Py_ssize_t n = PyList_Size(list);
  if (n > kListed) return 0;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* const o = PyList_GetItem(list, k);
    int overflow = 0;
    if (Element element; PyLong_CheckExact(o))
      index[k] = PyLong_AsLongLongAndOverflow(o, &overflow);
    else if (read_numpy_scalar(o, DType::i64, &element))
      index[k] = element.scalar().i;
    else
      return 0;
    if (overflow) return 0;
  }
  return static_cast<size_t>(n);
}

/// The elements at a short list of integers; nullopt for other lists.
std::optional<Array> pick_listed(const Array& a, PyObject* list) {
  int64_t index[kListed];
  const size_t n = read_listed(list, index);
  return n ? pick_small(a, {index, n}) : std::nullopt;
}

/// Stores a value at a short list of integers; false for other lists.
bool put_listed(const Array& a, PyObject* list, PyObject* value) {
  int64_t index[kListed];
  const bool few = a.ndim() > 0 && traits(a.device()).on_host;
  const size_t n = few && !(is_array(value) && is_complex(array_of(value).dtype())) ? read_listed(list, index) : 0;
  if (!n) return false;
  const Array places = from_host(index, DType::i64, contiguous_layout(Dims{static_cast<int64_t>(n)}), a.device());
  const Arg v = to_value(value, a.dtype(), a.device());
  return put_small(a, places, v) || put_rows_small(a, places, v);
}

}  // namespace

PyObject* element_at(const Array& a, const Dims& place) {
  SliceItem few[kMaxDims];
  for (int d = 0; d < place.size(); ++d) few[d] = item_of(place[d]);
  const std::span<const SliceItem> items(few, static_cast<size_t>(place.size()));
  PyObject* element = known_element(a, items);
  return element ? element : wrap_value(copy(slice(a, items)));
}

namespace {

/// The elements that an index picks out of `from`, copied.
PyObject* picked(Array a, PyObject* from) { return a.ndim() == 0 ? wrap_value(std::move(a)) : wrap_like(std::move(a), from); }

}  // namespace

PyObject* get_item(PyObject* self, PyObject* key) {
  const Array& a = array_of(self);
  if (PyObject* element = quick_element(a, key)) return element;
  PyObject* found = nullptr;
  if (with_basic_items(key, [&](auto items) { found = element_or_view(a, items, self); })) return found;
  if (is_array(key)) {
    compute_small_mask(a, array_of(key));
    if (std::optional<Array> made = pick_small(a, array_of(key))) return picked(std::move(*made), self);
    if (std::optional<Array> made = pick_rows_small(a, array_of(key))) return picked(std::move(*made), self);
  } else if (PyList_CheckExact(key)) {
    if (std::optional<Array> made = pick_listed(a, key)) return picked(std::move(*made), self);
  }
  bool plain = false;
  const std::vector<IndexItem> items = parse_index(a, key, &plain);
  if (plain) {
    std::vector<SliceItem> basic;
    for (const IndexItem& i : items) basic.push_back(i.basic);
    return element_or_view(a, basic, self);
  }
  // An index out of bounds may show only when the gather runs.
  LineNote line(true);
  Array made = without_gil_unless(is_small(a), [&] { return getitem(a, items); });
  bc::note_part(a, made.size());
  return picked(std::move(made), self);
}

namespace {

/// What a place of `ndim` axes in an array of `dtype` takes of `v`, which `value` was read as and which has more axes: an element takes
/// none, and other places take those leading axes of extent 1 only that arrays have, not lists.
Arg fitted(int ndim, bool element, DType dtype, Arg v, PyObject* value) {
  if (element) return to_element(value, std::move(v), dtype);
  if (PyList_Check(value) || PyTuple_Check(value))
    raise(ErrorKind::Value,
          "setting an array element with a sequence. The requested array would exceed the maximum number of dimension of {}. (It has {}.)",
          ndim, v.array.ndim());
  return v;
}

/// The axes of the place that a key names whose index arrays are all single integers, which NumPy takes as integers; nullopt for other
/// keys.
std::optional<int> axes_of_integers(const Array& a, std::span<const IndexItem> items, bool* element) {
  int ndim = a.ndim();
  *element = true;
  for (const IndexItem& i : items) {
    if (i.array && (i.array.ndim() > 0 || is_bool(i.array.dtype()))) return std::nullopt;
    const bool index = i.array || is_index(i.basic);
    ndim += index ? -1 : i.basic.kind == SliceItem::Kind::newaxis;
    *element = *element && index;
  }
  *element = *element && ndim == 0;
  return ndim;
}

/// Gives the value of a scalar of NumPy's that has the dtype: no cast changes it. Tells whether `o` is one.
bool element_of_numpy(PyObject* o, DType dtype, Element* made) {
  if (read_numpy_scalar(o, dtype, made)) return true;
  if (is_time(dtype) || reinterpret_cast<PyObject*>(Py_TYPE(o)) != numpy_scalar_type(dtype)) return false;
  Scalar value;
  if (is_real_float(dtype)) {
    value = Scalar::real(PyFloat_AsDouble(o));
  } else if (is_bool(dtype)) {
    value = Scalar::boolean(PyObject_IsTrue(o) == 1);
  } else if (is_integer(dtype)) {
    const PyRef number = PyRef::steal(PyNumber_Index(o));
    value = dtype == DType::u64 ? Scalar::uinteger(PyLong_AsUnsignedLongLong(number.get()))
                                : Scalar::integer(static_cast<int64_t>(PyLong_AsLongLong(number.get())));
  } else {
    return false;
  }
  made->dtype = dtype;
  value.store(dtype, made->bytes);
  return true;
}

/// Stores a number of the vector's own dtype as quick_element() reads it. Returns whether it was done.
bool put_quickly(const Array& a, PyObject* key, PyObject* value) {
  int64_t at = 0;
  if (!is_number_at(a, key, &at)) return false;
  if (a.dtype() == DType::f64 && PyFloat_CheckExact(value)) {
    const double number = PyFloat_AsDouble(value);
    return put_number(a, at, &number);
  }
  if (is_bare(value) && as_py_array(value)->element.dtype == a.dtype()) return put_number(a, at, as_py_array(value)->element.bytes);
  Element element;
  return read_numpy_scalar(value, a.dtype(), &element) && put_number(a, at, element.bytes);
}

void set_basic(const Array& a, std::span<const SliceItem> items, PyObject* value) {
  if (is_bare(value) && put_one(a, items, as_py_array(value)->element)) return;
  if (Element element; element_of_numpy(value, a.dtype(), &element) && put_one(a, items, element)) return;
  Arg v = to_stored_value(value, a.dtype(), a.device());
  if (v.array) warn_of_lost_imaginary(v.array.dtype(), a.dtype());
  if (put_one(a, items, v)) return;
  const Array target = slice(a, items);
  if (put_row(target, v)) return;
  if (compute_for_loop(a) && (put_one(a, items, v) || put_row(target, v))) return;
  if (v.array && v.array.ndim() > target.ndim()) {
    const bool element = target.ndim() == 0 && std::all_of(items.begin(), items.end(), is_index);
    v = fitted(target.ndim(), element, target.dtype(), std::move(v), value);
  }
  LineNote line;
  assign(target, v);
}

}  // namespace

void set_item(PyObject* self, PyObject* key, PyObject* value) {
  if (as_py_array(self)->read_only) throw_python(PyExc_ValueError, "assignment destination is read-only; write to a copy of it: x.copy()");
  const Array& a = array_of(self);
  const auto set = [&](auto items) {
    note_part(a, items);
    set_basic(a, items, value);
  };
  if (put_quickly(a, key, value) || with_basic_items(key, set)) return;
  const bool complex = is_array(value) && is_complex(array_of(value).dtype());
  if (is_array(key) && !complex) {
    compute_small_mask(a, array_of(key));
    const Arg v = to_value(value, a.dtype(), a.device());
    if (put_small(a, array_of(key), v) || put_rows_small(a, array_of(key), v)) return;
  } else if (PyList_CheckExact(key) && put_listed(a, key, value)) {
    return;
  }
  bool plain = false;
  const std::vector<IndexItem> items = parse_index(a, key, &plain);
  if (plain) {
    std::vector<SliceItem> basic;
    for (const IndexItem& i : items) basic.push_back(i.basic);
    set_basic(a, basic, value);
  } else {
    bool element = false;
    const std::optional<int> ndim = axes_of_integers(a, items, &element);
    Arg v = ndim ? to_stored_value(value, a.dtype(), a.device()) : to_value(value, a.dtype(), a.device());
    if (ndim && v.array && v.array.ndim() > *ndim) v = fitted(*ndim, element, a.dtype(), std::move(v), value);
    if (v.array) warn_of_lost_imaginary(v.array.dtype(), a.dtype());
    LineNote line(true);
    without_gil_unless(is_small(a), [&] { setitem(a, items, v); });
  }
}

void add_index_slots(std::vector<PyType_Slot>* slots) {
  auto add = [&](int slot, auto* f) { slots->push_back({slot, reinterpret_cast<void*>(f)}); };
  add(Py_mp_subscript, subscript);
  add(Py_mp_ass_subscript, ass_subscript);
  add(Py_mp_length, length);
  add(Py_sq_length, length);
  add(Py_sq_item, sequence_item);
  add(Py_sq_contains, contains);
  add(Py_tp_iter, iterate);
}

void init_array_iterator(PyObject* module) { state().array_iterator = add_type(module, &iterator_spec, nullptr); }

}  // namespace bc::bind
