#include "bind/jit_values.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "array/placement.h"
#include "bind/convert.h"
#include "bind/interrupts.h"
#include "bind/jit_containers.h"
#include "bind/kernels.h"
#include "bind/warnings.h"
#include "core/time_unit.h"
#include "graph/tape.h"
#include "runtime/interrupt.h"

namespace bc::bind {

const NumpyApi& numpy_api() {
  static constinit Once<NumpyApi> once;
  return once.make([] {
    PyRef module = PyRef::maybe(PyImport_ImportModule("numpy._core._multiarray_umath"));
    if (!module) {
      PyErr_Clear();
      module = import("numpy.core._multiarray_umath");  // NumPy 1
    }
    PyRef capsule = attr(module.get(), "_ARRAY_API");
    void** table = static_cast<void**>(PyCapsule_GetPointer(capsule.get(), nullptr));
    if (!table) throw PythonError();
    auto made = std::make_unique<NumpyApi>();
    made->new_from_descr = reinterpret_cast<decltype(made->new_from_descr)>(table[94]);
    made->set_base = reinterpret_cast<decltype(made->set_base)>(table[282]);
    return made;
  });
}

namespace jit {

std::optional<DType> native_time(PyObject* descr) {
  // The head of NumPy's dtype objects, the same in NumPy 1 and 2.
  struct Head {
    PyObject object;
    PyTypeObject* scalar_type;
    char kind, type, byte_order;
  };
  const auto& head = *reinterpret_cast<const Head*>(descr);
  if ((head.kind != 'M' && head.kind != 'm') || head.byte_order != '=') return std::nullopt;
  // Views and copies of an array share its dtype object, so that the last one seen is often asked for again; its unit takes a call of
  // Python.
  static constinit std::mutex mutex;
  static auto& last = *new std::pair<PyRef, DType>;
  {
    const std::lock_guard lock(mutex);
    if (last.first.get() == descr) return last.second;
  }
  const DType found = to_dtype(descr);
  PyRef old = PyRef::borrow(descr);
  const std::lock_guard lock(mutex);
  std::swap(last.first, old);
  last.second = found;
  return found;
}

namespace {

/// What a word of a call's key says; the rest of the word holds details.
enum Code : uint64_t { kNone = 1, kScalar, kArray, kRecords, kTuple, kNamed, kObject, kText, kContainer, kSlice, kRandom, kThreads };

constexpr uint64_t kBytes = uint64_t{1} << 33;  ///< an array word's: Python's bytes
uint64_t array_word(DType dtype, int ndim, char layout, bool writable) {
  return kArray | static_cast<uint64_t>(dtype) << 8 | static_cast<uint64_t>(ndim) << 16 | static_cast<uint64_t>(layout) << 24 |
         static_cast<uint64_t>(writable) << 32;
}

/// The dtype of a NumPy dtype object in native byte order, -1 for others.
int native_dtype(PyObject* descr) {
  const State& s = state();
  if (const auto time = native_time(descr)) return static_cast<int>(*time);
  for (int i = 0; i < kDTypeCount; ++i)
    if (s.dtypes[i] == descr) return i;
  return -1;
}

int scalar_dtype(PyObject* o) {
  const State& s = state();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  for (int i = 0; i < kDTypeCount; ++i)
    if (s.scalar_types[i] == type) return i;
  return -1;
}

size_t scalar_alignment(DType t) { return static_cast<size_t>(itemsize(t)); }

/// The strictest alignment among the members of a value.
size_t alignment_of(PyObject* o);
template <class Get>
size_t alignment_of_items(Py_ssize_t n, Get item) {
  size_t most = 1;
  for (Py_ssize_t i = 0; i < n; ++i) most = std::max(most, alignment_of(item(i)));
  return most;
}

size_t alignment_of(PyObject* o) {
  if (PyTuple_Check(o)) return alignment_of_items(PyTuple_Size(o), [&](Py_ssize_t i) { return PyTuple_GetItem(o, i); });
  // What is asked below of other types looks up their names.
  if (PyLong_CheckExact(o) || PyFloat_CheckExact(o) || PyObject_TypeCheck(o, state().np_ndarray)) return 8;
  if (PyBool_Check(o) || o == Py_None) return 1;
  if (PyComplex_Check(o)) return 16;
  const int scalar = scalar_dtype(o);
  if (scalar >= 0) return scalar_alignment(static_cast<DType>(scalar));
  if (time_scalar(o)) return 8;
  return PyLong_Check(o) || PyFloat_Check(o) || is_array(o) || PyList_Check(o) || PyAnySet_Check(o) || is_typed(o) || is_slice(o) ||
                 is_record(o) || is_buffer(o) || random_generator(o)
             ? 8
             : 1;
}

size_t align(size_t at, size_t alignment) { return (at + alignment - 1) / alignment * alignment; }

}  // namespace

std::optional<std::pair<int64_t, DType>> time_scalar(PyObject* o) {
  const State& s = state();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  if (type != s.time_types[0] && type != s.time_types[1]) return std::nullopt;
  struct {
    int64_t ticks;
    int32_t base, count;
  } value;
  std::memcpy(&value, numpy_scalar_value(o, 8), sizeof value);
  // NumPy's numbers of the units leave out the fourth, business days.
  const TimeUnit unit{static_cast<TimeBase>(value.base - (value.base > 3 ? 1 : 0)), value.count};
  return std::pair{value.ticks, type == s.time_types[1] ? datetime_type(unit) : timedelta_type(unit)};
}

PyRef box_time(DType t, const void* at) {
  int64_t ticks;
  std::memcpy(&ticks, at, sizeof ticks);
  const TimeUnit unit = unit_of(t);
  PyRef number = to_py(ticks);
  PyObject* type = state().time_types[is_datetime(t)];
  if (unit.base == TimeBase::generic) {
    if (ticks == kNaT) return call(type, {to_py("NaT").get()});
    return call(type, {number.get()});
  }
  return call(type, {number.get(), to_py(to_string(unit)).get()});
}

bool is_record(PyObject* o) {
  static constinit OnceObject type;
  return PyType_IsSubtype(Py_TYPE(o), reinterpret_cast<PyTypeObject*>(type.make([] { return import_attr("numpy", "void"); }))) != 0;
}

char* Frame::room(size_t bytes, size_t alignment) {
  const size_t at = align(bytes_.size(), alignment);
  bytes_.add(at - bytes_.size() + bytes);
  return bytes_.data() + at;
}

template <class T>
void Frame::put(T value, uint64_t word) {
  words_.push(word);
  std::memcpy(room(sizeof(T), sizeof(T)), &value, sizeof(T));
}

/// Every argument starts at a multiple of 16, the strictest alignment there is.
void Frame::begin_argument() {
  const size_t at = align(bytes_.size(), 16);
  bytes_.add(at - bytes_.size());
  offsets_.push(static_cast<uint32_t>(at));
}

void Frame::add_rest(PyObject* const* items, Py_ssize_t n) {
  begin_argument();
  read_items(n, nullptr, [&](Py_ssize_t i) { return items[i]; });
}

void Frame::add(PyObject* o) {
  begin_argument();
  if (PyUnicode_Check(o)) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(o, &size);
    if (!data) throw PythonError();
    const int64_t parts[3] = {reinterpret_cast<int64_t>(data), size, PyUnicode_GetLength(o)};
    words_.push(kText);
    std::memcpy(room(sizeof parts, 8), parts, sizeof parts);
    return;
  }
  read(o);
}

Frame::~Frame() {
  for (const Borrowed& b : borrowed_) host::drop_shared(b.block);
}

bool Frame::share_objects(bool unlocked) {
  // Set by the first function without the lock that takes objects. A function that holds the lock sees it before it runs.
  static constinit std::atomic<bool> sharing{false};
  if (objects_.empty()) return false;
  if (unlocked) sharing.store(true, std::memory_order_relaxed);
  if (!sharing.load(std::memory_order_relaxed)) return false;
  for (host::Block* block : objects_) host::share(block);
  words_.push(kThreads);
  return true;
}

void Frame::reflect(host::Call* call) {
  for (const Borrowed& b : borrowed_) {
    if (b.type->is(kernels::Kind::set)) {
      host::Block* back;
      std::memcpy(&back, bytes_.data() + b.offset + 8, sizeof back);
      if (!back) continue;
      const auto same = [&](const Borrowed& other) { return other.object == b.object; };
      if (std::ranges::count_if(borrowed_, same) > 1)
        raise(ErrorKind::Type, "the same set was passed twice and changed, and each argument has a copy of its own: pass it once");
      PyRef items = box_list(back, b.type->element, *this, call);
      host::drop_shared(back);
      PyRef cleared = PyRef::steal(PyObject_CallMethod(b.object, "clear", nullptr));
      PyRef filled = PyRef::steal(PyObject_CallMethod(b.object, "update", "O", items.get()));
    } else if (has_changed(b.block)) {
      PyRef items = box_list(b.block, b.type->element, *this, call);
      check(PyList_SetSlice(b.object, 0, PyList_Size(b.object), items.get()));
    }
  }
}

const Borrowed* Frame::find_borrowed(const void* object_or_block) const {
  const size_t few = std::min<size_t>(borrowed_.size(), 8);
  for (size_t i = 0; i < few; ++i)
    if (borrowed_[i].object == object_or_block || borrowed_[i].block == object_or_block) return &borrowed_[i];
  const auto found = borrowed_places_.find(object_or_block);
  return found == borrowed_places_.end() ? nullptr : &borrowed_[found->second];
}

void Frame::borrow(Borrowed b) {
  if (borrowed_.size() >= 8) {
    borrowed_places_.emplace(b.object, borrowed_.size());
    borrowed_places_.emplace(b.block, borrowed_.size());
  }
  borrowed_.push_back(b);
}

host::Block* Frame::list_block(PyObject* o, kernels::Type t) {
  if (const Borrowed* b = find_borrowed(o); b && b->type == t) return b->block;
  host::Block* made = new_list(o, t->element, this);
  borrow({o, made, t, 0});
  return made;
}

PyObject* Frame::list_of(const host::Block* block) const {
  const Borrowed* b = find_borrowed(block);
  return b ? b->object : nullptr;
}

void** Frame::pointers() {
  void** out = pointers_.add(offsets_.size());
  for (size_t i = 0; i < offsets_.size(); ++i) out[i] = bytes_.data() + offsets_[i];
  return out;
}

char* Frame::replace(size_t i, size_t bytes) {
  const size_t at = align(bytes_.size(), 16);
  bytes_.add(at - bytes_.size() + bytes);
  offsets_[i] = static_cast<uint32_t>(at);
  return bytes_.data() + at;
}

void Frame::put_array(PyObject* o, void* data, int ndim, const Py_intptr_t* shape, const Py_intptr_t* strides, int64_t scale,
                      int64_t item) {
  char* at = room(static_cast<size_t>(8 + 16 * ndim), 8);
  std::memcpy(at, &data, 8);
  for (int d = 0; d < ndim; ++d) {
    const int64_t extent = shape[d], stride = strides[d] * scale;
    std::memcpy(at + 8 + 8 * d, &extent, 8);
    std::memcpy(at + 8 + 8 * (ndim + d), &stride, 8);
  }
  arrays_.push({o, static_cast<uint32_t>(at - bytes_.data()), ndim, item, nullptr});
}

void Frame::put_array_at(PyObject* o, char* to) {
  // Described as an argument first, then moved.
  const size_t before = bytes_.size(), words = words_.size();
  if (is_array(o)) {
    read_own_array(o);
  } else {
    if (is_buffer(o)) o = made_.emplace_back(array_over(o)).get();
    read_array(o);
  }
  Given& g = arrays_[arrays_.size() - 1];
  std::memcpy(to, bytes_.data() + g.offset, static_cast<size_t>(8 + 16 * g.ndim));
  g.place = to;
  words_.resize(words);
  bytes_.resize(before);
}

int64_t Frame::word(const Given& g, int i) const {
  int64_t v;
  std::memcpy(&v, (g.place ? g.place : bytes_.data() + g.offset) + 8 * i, 8);
  return v;
}

std::pair<uintptr_t, uintptr_t> Frame::extent(const Given& g) const {
  uintptr_t low = static_cast<uintptr_t>(word(g, 0)), high = low + static_cast<uintptr_t>(g.item);
  for (int d = 0; d < g.ndim; ++d) {
    const int64_t reach = (word(g, 1 + d) - 1) * word(g, 1 + g.ndim + d);
    (reach < 0 ? low : high) += static_cast<uintptr_t>(reach);
  }
  return {low, high};
}

/// Exposes an array of ours whose address is kept; other objects keep their memory in any case.
static void expose_kept(PyObject* o) {
  if (is_array(o)) expose(array_of(o));
}

void Frame::expose_arrays() {
  share_arrays();
  for (size_t k = 0; k < arrays_.size(); ++k) expose_kept(arrays_[k].object);
}

PyObject* Frame::holder(const void* data, const void** from, const void** to) {
  const auto place = reinterpret_cast<uintptr_t>(data);
  for (size_t k = 0; k < arrays_.size(); ++k) {
    const Given& g = arrays_[k];
    const auto [low, high] = extent(g);
    if (place < low || place >= high) continue;
    *from = reinterpret_cast<const void*>(low), *to = reinterpret_cast<const void*>(high);
    share_arrays();  // so that this access does not count as an owner of the memory, which would then be copied
    expose_kept(g.object);
    return g.object;
  }
  return nullptr;
}

PyObject* Frame::owner(const void* data, int ndim, const Py_intptr_t* shape, const Py_intptr_t* strides, bool* same,
                       const void** first) const {
  PyObject* found = nullptr;
  const auto original = [&](PyObject* o) {
    const auto copy = std::ranges::find_if(copies_, [&](const Copy& c) { return c.here.get() == o; });
    return copy == copies_.end() ? o : copy->object;
  };
  const auto place = reinterpret_cast<uintptr_t>(data);
  for (size_t k = 0; k < arrays_.size(); ++k) {
    const Given& g = arrays_[k];
    bool equal = static_cast<uintptr_t>(word(g, 0)) == place && g.ndim == ndim;
    for (int d = 0; d < ndim && equal; ++d) equal = word(g, 1 + d) == shape[d] && word(g, 1 + ndim + d) == strides[d];
    const auto [low, high] = extent(g);
    if (equal || (!found && place >= low && place <= high)) {
      found = original(g.object);
      *first = reinterpret_cast<const void*>(word(g, 0));
    }
    if (equal) {
      *same = true;
      return found;
    }
  }
  *same = false;
  return found;
}

PyObject* Frame::generator(const void* bits) const {
  for (const auto& [address, o] : generators_)
    if (address == bits) return o;
  return nullptr;
}

void Frame::read_array(PyObject* o) {
  const NumpyArrayFields* a = numpy_fields(o);
  const int dtype = native_dtype(a->descr);
  if (dtype < 0) {
    words_.push(kRecords | static_cast<uint64_t>(a->ndim) << 16 | static_cast<uint64_t>((a->flags & (kNumpyC | kNumpyF))) << 24 |
                static_cast<uint64_t>((a->flags & kNumpyWriteable) != 0) << 32);
    words_.push(reinterpret_cast<uint64_t>(a->descr));
  } else {
    if (!(a->flags & kNumpyAligned))
      raise(ErrorKind::Type, "expected an aligned array, got one whose elements lie at odd addresses; pass a.copy()");
    const char layout = (a->flags & kNumpyC) ? 'C' : (a->flags & kNumpyF) ? 'F' : 'A';
    words_.push(array_word(static_cast<DType>(dtype), a->ndim, layout, (a->flags & kNumpyWriteable) != 0));
  }
  put_array(o, a->data, a->ndim, a->shape, a->strides, 1, dtype < 0 ? 1 : itemsize(static_cast<DType>(dtype)));
}

/// A record is one element in its array's memory, so that what is written is written there.
void Frame::read_record(PyObject* o) {
  const auto* r = reinterpret_cast<const NumpyRecordFields*>(o);
  words_.push(kRecords | uint64_t{kNumpyC | kNumpyF} << 24 | static_cast<uint64_t>((r->flags & kNumpyWriteable) != 0) << 32);
  words_.push(reinterpret_cast<uint64_t>(r->descr));
  put_array(o, r->data, 0, nullptr, nullptr, 1, static_cast<int64_t>(type_of(o)->bytes));
}

bool is_number_elsewhere(PyObject* o) {
  return is_array(o) && array_of(o).ndim() == 0 && array_of(o).device().type != DeviceType::cpu && !is_time(array_of(o).dtype());
}

/// The elements that a copy of an accelerator's array holds: the first one and their number, in the array's storage. All of the storage if
/// the array is much of it, since other arguments may be other parts of it.
static std::pair<int64_t, int64_t> copied_part(const Array& a) {
  const int64_t all = storage_facts(a).bytes / itemsize(a.dtype());
  if (a.size() * 4 >= all) return {0, all};
  int64_t low = 0, high = 0;
  bounds(a.layout(), &low, &high);
  return {low, std::max<int64_t>(high - low + 1, 0)};
}

/// A copy in host memory of an accelerator's array. Arguments that overlap are views of one copy.
PyObject* Frame::copy_to_host(PyObject* o) {
  const Array& a = array_of(o);
  const auto keep = [&](const Array& copied, int64_t first) {
    Layout layout = a.layout();
    layout.offset -= first;
    PyRef here = PyRef::steal(wrap(copied.with_layout(std::move(layout))));
    as_py_array(here.get())->read_only = as_py_array(o)->read_only;
    copies_.push_back({o, std::move(here), offsets_.size() - 1, first});
    return copies_.back().here.get();
  };
  int64_t low = 0, high = 0;
  bounds(a.layout(), &low, &high);
  for (const Copy& c : copies_) {
    const Array &theirs = array_of(c.object), &here = array_of(c.here.get());
    if (theirs.storage().get() != a.storage().get()) continue;
    const int64_t end = c.first + storage_facts(here).bytes / itemsize(here.dtype());
    if (theirs.dtype() == a.dtype() && low >= c.first && high < end) return keep(here, c.first);
    if (theirs.dtype() != a.dtype() || (high >= c.first && low < end))
      raise(ErrorKind::Type, "expected arrays on the CPU, got two that overlap on {}: pass a.to('cpu')", to_string(a.device()));
  }
  const auto [first, count] = copied_part(a);
  const Array part = a.with_layout({Dims{count}, Dims{1}, first});
  return keep(without_gil([&] { return to_device(part, Device{}); }), first);
}

void Frame::bring_back(const std::vector<bool>& writes) {
  access_.reset();
  for (const Copy& c : copies_) {
    if (as_py_array(c.object)->read_only || (c.argument < writes.size() && !writes[c.argument])) continue;
    without_gil([&] { assign(array_of(c.object), array_of(c.here.get())); });
  }
}

void Frame::read_own_array(PyObject* o) {
  if (is_number_elsewhere(o)) {
    const Array& a = array_of(o);
    const auto size = static_cast<size_t>(itemsize(a.dtype()));
    words_.push(kScalar | static_cast<uint64_t>(a.dtype()) << 8);
    look(a).store(a.dtype(), room(size, is_complex(a.dtype()) ? size / 2 : size));
    return;
  }
  if (array_of(o).device().type != DeviceType::cpu && !move_to_host(array_of(o))) {
    if (!allows_copies_)
      raise(ErrorKind::Type, "expected arrays on the CPU, got one on {}: pass a.to('cpu')", to_string(array_of(o).device()));
    warn(performance_warning(),
         "an array of a GPU is copied to host memory and back for each call of a function under broadcloth.jit, which runs on the CPU: "
         "keep it there (a.to('cpu')), or write the function as a broadcloth.cuda.jit kernel or a broadcloth.vectorize function, which "
         "run where the array is");
    o = copy_to_host(o);
  }
  const Array& a = array_of(o);
  if (!access_) access_.emplace(Stream{a.device()});
  if (GilRelease::any()) access_->share();
  ours_ = true;
  const bool writable = !as_py_array(o)->read_only;
  // A read-only view, too, gets memory that no lazy copy shares, so that its address stays when it is exposed.
  void* data = access_->add(a, writable || !storage_facts(a).read_only);
  const int ndim = a.ndim();
  Py_intptr_t shape[64], strides[64];
  for (int d = 0; d < ndim; ++d) {
    shape[d] = a.shape()[d];
    strides[d] = a.strides()[d];
  }
  const char layout = a.contiguous() ? 'C' : is_f_contiguous(a.shape(), a.strides()) ? 'F' : 'A';
  words_.push(array_word(a.dtype(), ndim, layout, writable));
  put_array(o, data, ndim, shape, strides, itemsize(a.dtype()), itemsize(a.dtype()));
}

void Frame::read_int(PyObject* o) {
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow > 0) {
    const unsigned long long big = PyLong_AsUnsignedLongLong(o);
    if (!PyErr_Occurred()) return put(static_cast<uint64_t>(big), kScalar | static_cast<uint64_t>(DType::u64) << 8);
    PyErr_Clear();
  }
  if (overflow) raise(ErrorKind::Overflow, "expected an int of at most 64 bits, got a larger one");
  return put(static_cast<int64_t>(v), kScalar | static_cast<uint64_t>(DType::i64) << 8);
}

/// A list, a set or a typed container: a struct of the addresses of its blocks.
void Frame::read_container(PyObject* o) {
  const kernels::Type t = container_type(o);
  words_.push(kContainer | static_cast<uint64_t>(t->id) << 8);
  char* at = room(t->bytes, 8);
  const auto offset = static_cast<uint32_t>(at - bytes_.data());
  host::Block* slots[2] = {nullptr, nullptr};
  if (is_typed(o)) {
    slots[0] = typed_block(o);
    note_object(slots[0]);
  } else {
    if (t->is(kernels::Kind::list))
      slots[0] = list_block(o, t);
    else
      borrow({o, slots[0] = new_list(o, t->element, this), t, offset});
  }
  std::memcpy(bytes_.data() + offset, slots, t->bytes);
}

template <class Get>
void Frame::read_items(Py_ssize_t n, PyTypeObject* named, Get item) {
  words_.push((named ? kNamed : kTuple) | static_cast<uint64_t>(n) << 8);
  if (named) words_.push(reinterpret_cast<uint64_t>(named));
  const size_t alignment = alignment_of_items(n, item);
  room(0, alignment);
  const size_t begin = bytes_.size();
  for (Py_ssize_t i = 0; i < n; ++i) read(item(i));
  if (bytes_.size() == begin) room(1, 1);  // a struct without members takes a byte
  room(0, alignment);
}

void Frame::read_tuple(PyObject* o) {
  read_items(PyTuple_Size(o), PyTuple_CheckExact(o) ? nullptr : Py_TYPE(o), [&](Py_ssize_t i) { return PyTuple_GetItem(o, i); });
}

void Frame::read_slice(PyObject* o) {
  const SliceParts parts = slice_parts(o);
  words_.push(kSlice | static_cast<uint64_t>(parts.given) << 8);
  char* at = room(32, 8);  // py::Slice
  std::memcpy(at, parts.bounds, sizeof parts.bounds);
  for (int i = 0; i < 3; ++i) at[24 + i] = static_cast<char>(parts.given >> i & 1);
}

void Frame::read(PyObject* o) {
  if (PyFloat_CheckExact(o)) return put(PyFloat_AsDouble(o), kScalar | static_cast<uint64_t>(DType::f64) << 8);
  if (PyLong_CheckExact(o)) return read_int(o);
  const State& s = state();
  PyTypeObject* type = Py_TYPE(o);
  if (type == s.np_ndarray) return read_array(o);
  if (o == Py_None) return words_.push(kNone);
  if (PyBool_Check(o)) return put(static_cast<char>(o == Py_True), kScalar | static_cast<uint64_t>(DType::b1) << 8);
  if (PyComplex_CheckExact(o)) {
    const double parts[2] = {PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)};
    words_.push(kScalar | static_cast<uint64_t>(DType::c128) << 8);
    std::memcpy(room(16, 16), parts, 16);
    return;
  }
  if (is_array(o)) return read_own_array(o);
  if (PyList_Check(o) || PyAnySet_Check(o) || is_typed(o)) return read_container(o);
  if (PyTuple_Check(o)) return read_tuple(o);
  if (const auto time = time_scalar(o)) return put(time->first, kScalar | static_cast<uint64_t>(time->second) << 8);
  const int scalar = scalar_dtype(o);
  if (scalar >= 0) {
    const DType t = static_cast<DType>(scalar);
    const size_t size = static_cast<size_t>(itemsize(t));
    words_.push(kScalar | static_cast<uint64_t>(t) << 8);
    // NumPy aligns complex values as their parts.
    std::memcpy(room(size, size), numpy_scalar_value(o, is_complex(t) ? size / 2 : size), size);
    return;
  }
  if (PyObject_TypeCheck(o, s.np_ndarray)) return read_array(o);
  if (is_record(o)) return read_record(o);
  if (is_slice(o)) return read_slice(o);
  if (is_buffer(o)) {
    made_.push_back(array_over(o));
    read_array(made_.back().get());
    if (PyBytes_Check(o)) words_[words_.size() - 1] |= kBytes;
    return;
  }
  // Members of IntEnum and the like are numbers.
  if (PyLong_Check(o)) {
    PyRef plain = PyRef::steal(PyNumber_Index(o));
    if (PyLong_CheckExact(plain.get())) return read(plain.get());
    const long long v = PyLong_AsLongLong(o);
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    return put(static_cast<int64_t>(v), kScalar | static_cast<uint64_t>(DType::i64) << 8);
  }
  if (PyFloat_Check(o)) return put(PyFloat_AsDouble(o), kScalar | static_cast<uint64_t>(DType::f64) << 8);
  if (void* bits = random_generator(o)) {
    generators_.emplace_back(bits, o);
    return put(bits, kRandom);
  }
  // Functions, types, dtypes, strings: part of the key by their identity. Whoever keeps the key keeps the object.
  words_.push(kObject);
  words_.push(reinterpret_cast<uint64_t>(o));
}

// ---- Results ----------------------------------------------------------------------------------------------------------------------

void Box::place(size_t at) {
  switch (kind) {
    case Kind::none: bytes = 0, alignment = 1; break;
    case Kind::member: bytes = alignment = 8; break;
    case Kind::scalar: bytes = static_cast<size_t>(itemsize(dtype)), alignment = bytes; break;
    case Kind::array: bytes = static_cast<size_t>(8 + 16 * ndim), alignment = 8; break;
    case Kind::record: break;
    case Kind::slice:
    case Kind::text: bytes = 32, alignment = 8; break;
    case Kind::list:
    case Kind::random:
    case Kind::generator:
    case Kind::typed: bytes = alignment = 8; break;
    case Kind::set: bytes = 16, alignment = 8; break;
    case Kind::optional:
      // The value, then whether it is there.
      members[0].place(at);
      alignment = members[0].alignment;
      bytes = align(members[0].bytes + 1, alignment);
      break;
    case Kind::tuple:
    case Kind::named: {
      size_t most = 1, end = 0;
      for (Box& m : members) {
        m.place(0);
        if (m.kind == Kind::none) continue;
        most = std::max(most, m.alignment);
        end = align(end, m.alignment) + m.bytes;
      }
      alignment = most;
      bytes = align(std::max<size_t>(end, 1), most);  // a struct without members takes a byte
      size_t next = align(at, most);
      for (Box& m : members) {
        m.place(next);
        if (m.kind != Kind::none) next = m.offset + m.bytes;
      }
      break;
    }
  }
  offset = align(at, alignment);
}

namespace {

/// The owner of memory that compiled code allocated, as NumPy keeps it: a capsule.
PyRef memory_object(host::Block* block) {
  PyRef capsule = PyRef::maybe(PyCapsule_New(block, "broadcloth.memory", [](PyObject* o) {
    host::drop(static_cast<host::Block*>(PyCapsule_GetPointer(o, "broadcloth.memory")));
  }));
  if (!capsule) {
    host::drop(block);
    throw PythonError();
  }
  return capsule;
}

}  // namespace

PyRef box_scalar(DType t, const char* at) {
  const auto as = [&]<class T>(T) {
    T v;
    std::memcpy(&v, at, sizeof v);
    return v;
  };
  switch (t) {
    case DType::b1: return PyRef::borrow(*at ? Py_True : Py_False);
    case DType::i8: return to_py(static_cast<int64_t>(as(int8_t{})));
    case DType::i16: return to_py(static_cast<int64_t>(as(int16_t{})));
    case DType::i32: return to_py(static_cast<int64_t>(as(int32_t{})));
    case DType::i64: return to_py(as(int64_t{}));
    case DType::u8: return to_py(static_cast<int64_t>(as(uint8_t{})));
    case DType::u16: return to_py(static_cast<int64_t>(as(uint16_t{})));
    case DType::u32: return to_py(static_cast<int64_t>(as(uint32_t{})));
    case DType::u64: return PyRef::steal(PyLong_FromUnsignedLongLong(as(uint64_t{})));
    case DType::f32: return PyRef::steal(PyFloat_FromDouble(as(float{})));
    case DType::f64: return PyRef::steal(PyFloat_FromDouble(as(double{})));
    case DType::c64: {
      float parts[2];
      std::memcpy(parts, at, sizeof parts);
      return PyRef::steal(PyComplex_FromDoubles(parts[0], parts[1]));
    }
    case DType::c128: {
      double parts[2];
      std::memcpy(parts, at, sizeof parts);
      return PyRef::steal(PyComplex_FromDoubles(parts[0], parts[1]));
    }
    default: return to_python(Scalar::load(t, at), t);
  }
  return PyRef::borrow(Py_None);
}

/// Whether an array's elements have the type: a view of other elements may lie at the same place.
static bool has_dtype(PyObject* array, DType dtype) {
  if (is_array(array)) return array_of(array).dtype() == dtype;
  const int found = native_dtype(numpy_fields(array)->descr);
  return found >= 0 && static_cast<DType>(found) == dtype;
}

/// Whether an array's elements, or a record, are of a record type: one of its fields may lie at the same place.
static bool holds_records(PyObject* o, kernels::Type record) {
  if (!PyObject_TypeCheck(o, state().np_ndarray) && !is_record(o)) return false;
  const kernels::Type t = type_of(o);
  return (t->is_array() ? t->element : t) == record;
}

/// Whether a result that lies where an array lies, with its shape and steps, is that array.
static bool gives_itself(const Box& plan, PyObject* array) {
  if (plan.read_only && PyObject_TypeCheck(array, state().np_ndarray) && (numpy_fields(array)->flags & kNumpyWriteable)) return false;
  return plan.record ? holds_records(array, plan.value_type) : has_dtype(array, plan.dtype);
}

/// A part of an argument that is an array of ours, `bytes` behind its first element.
static PyRef view_of_argument(const Box& plan, PyObject* argument, int64_t bytes, const Py_intptr_t* shape, const Py_intptr_t* strides) {
  const Array& a = array_of(argument);
  const int64_t item = itemsize(plan.dtype);
  Layout layout{{}, {}, a.offset() + bytes / item};
  for (int d = 0; d < plan.ndim; ++d) {
    layout.shape.push_back(shape[d]);
    layout.strides.push_back(strides[d] / item);
  }
  return PyRef::steal(wrap_view(a.with_layout(std::move(layout)), argument, plan.read_only));
}

PyRef box_array(const Box& plan, const char* at, const Frame& frame, host::Call* call, host::Block* owner) {
  void* data;
  Py_intptr_t shape[64], strides[64];
  std::memcpy(&data, at, 8);
  for (int d = 0; d < plan.ndim; ++d) {
    std::memcpy(&shape[d], at + 8 + 8 * d, 8);
    std::memcpy(&strides[d], at + 8 + 8 * (plan.ndim + d), 8);
  }
  PyRef base;
  host::Block* block = owner ? owner : host::block_of(*call, data);
  if (plan.bytes_object) {
    base = PyRef::maybe(PyBytes_FromStringAndSize(static_cast<const char*>(data), shape[0]));
    if (block && !owner) host::drop(block);
    if (!base) throw PythonError();
    return base;
  }
  if (void* theirs = block ? host::foreign_object(block) : nullptr) {
    // An argument that a container kept: itself where nothing was cut from it.
    base = PyRef::borrow(static_cast<PyObject*>(theirs));
    if (!owner) host::drop(block);
    if (PyObject_TypeCheck(base.get(), state().np_ndarray)) {
      const NumpyArrayFields* a = numpy_fields(base.get());
      bool same = a->data == data && a->ndim == plan.ndim;
      for (int d = 0; d < plan.ndim && same; ++d) same = a->shape[d] == shape[d] && a->strides[d] == strides[d];
      if (same && gives_itself(plan, base.get())) return base;
    } else if (is_array(base.get()) && has_dtype(base.get(), plan.dtype)) {
      // It was exposed when it was kept, so that its memory is still the same.
      const Array& a = array_of(base.get());
      const char* first = static_cast<const char*>(bc::data(a)) + a.offset() * itemsize(a.dtype());
      return view_of_argument(plan, base.get(), static_cast<const char*>(data) - first, shape, strides);
    }
  } else if (block) {
    if (owner) std::atomic_ref(owner->count).fetch_add(1, std::memory_order_relaxed);
    base = memory_object(block);
    if (frame.ours() && !plan.record) {
      // Arrays of ours in, arrays of ours out.
      const int64_t item = itemsize(plan.dtype);
      Dims dims, steps;
      dims.resize(static_cast<size_t>(plan.ndim));
      steps.resize(static_cast<size_t>(plan.ndim));
      for (int d = 0; d < plan.ndim; ++d) dims[d] = shape[d], steps[d] = strides[d] / item;
      PyObject* owner = base.release();
      return PyRef::steal(wrap(from_foreign(data, plan.dtype, Layout{dims, steps, 0}, Device{DeviceType::cpu, 0}, plan.read_only,
                                            [owner] { release_object(owner); })));
    }
  } else {
    bool same = false;
    const void* first = nullptr;
    base = PyRef::borrow(frame.owner(data, plan.ndim, shape, strides, &same, &first));
    if (same && gives_itself(plan, base.get())) return base;
    if (base && is_array(base.get()) && has_dtype(base.get(), plan.dtype))
      return view_of_argument(plan, base.get(), static_cast<const char*>(data) - static_cast<const char*>(first), shape, strides);
  }
  PyObject* descr = !plan.record                                           ? dtype_object(plan.dtype)
                    : !base || !holds_records(base.get(), plan.value_type) ? record_dtype(plan.value_type)
                    : is_record(base.get())                                ? reinterpret_cast<const NumpyRecordFields*>(base.get())->descr
                                                                           : numpy_fields(base.get())->descr;
  if (!descr)
    raise(ErrorKind::Type, "a compiled function cannot return a new array of {}; pass one in and write into it", plan.value_type->spelling);
  PyRef made = PyRef::steal(numpy_api().new_from_descr(state().np_ndarray, new_ref(descr), plan.ndim, shape, strides, data,
                                                       (plan.read_only ? 0 : kNumpyWriteable) | kNumpyAligned, nullptr));
  // A constant of the program, or memory of one of our arrays, which may be bound to other memory later.
  if (!base || is_array(base.get())) return PyRef::steal(PyObject_CallMethod(made.get(), "copy", nullptr));
  check(numpy_api().set_base(made.get(), base.release()));
  // One record of an array is a record, not an array of one.
  if (plan.record && plan.ndim == 0) return PyRef::steal(PyObject_GetItem(made.get(), PyRef::steal(PyTuple_New(0)).get()));
  return made;
}

PyRef box(const Box& plan, const char* result, const Frame& frame, host::Call* call) {
  const char* at = result + plan.offset;
  switch (plan.kind) {
    case Box::Kind::none: return PyRef::borrow(Py_None);
    case Box::Kind::scalar: return is_time(plan.dtype) ? box_time(plan.dtype, at) : box_scalar(plan.dtype, at);
    case Box::Kind::member: {
      int64_t place;
      std::memcpy(&place, at, sizeof place);
      PyRef all = attr(plan.type.get(), "__members__"), members = PyRef::steal(PyMapping_Values(all.get()));
      return PyRef::borrow(PyList_GetItem(members.get(), static_cast<Py_ssize_t>(place)));
    }
    case Box::Kind::array: return box_array(plan, at, frame, call);
    case Box::Kind::text: {
      int64_t words[4];
      std::memcpy(words, at, sizeof words);
      PyRef made =
          PyRef::maybe(PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(words[0]), static_cast<Py_ssize_t>(words[1]), "replace"));
      if (words[3] != 0) host::drop(reinterpret_cast<host::Block*>(words[3]));
      if (!made) throw PythonError();
      return made;
    }
    case Box::Kind::list:
    case Box::Kind::set: {
      host::Block* block;
      std::memcpy(&block, at, sizeof block);
      struct Drop {
        host::Block* block;
        ~Drop() { host::drop_shared(block); }
      } drop{block};
      if (PyObject* given = frame.list_of(block); given && plan.kind == Box::Kind::list) return PyRef::borrow(given);
      PyRef list = box_list(block, plan.value_type->element, frame, call);
      return plan.kind == Box::Kind::list ? std::move(list) : PyRef::steal(PySet_New(list.get()));
    }
    case Box::Kind::random: {
      void* bits;
      std::memcpy(&bits, at, sizeof bits);
      if (PyObject* o = frame.generator(bits)) return PyRef::borrow(o);
      raise(ErrorKind::Type, "a compiled function can return a random generator that it was given only");
    }
    case Box::Kind::slice: {
      int64_t bounds[3];
      std::memcpy(bounds, at, sizeof bounds);
      PyRef parts[3];
      for (int i = 0; i < 3; ++i) parts[i] = at[24 + i] ? to_py(bounds[i]) : PyRef::borrow(Py_None);
      return PyRef::steal(PySlice_New(parts[0].get(), parts[1].get(), parts[2].get()));
    }
    case Box::Kind::generator: raise(ErrorKind::Type, "a generator comes back alone, not in a tuple");
    case Box::Kind::typed: {
      host::Block* block;
      std::memcpy(&block, at, sizeof block);
      return box_typed(block, plan.value_type);
    }
    case Box::Kind::optional:
      if (!at[plan.members[0].bytes]) return PyRef::borrow(Py_None);
      return box(plan.members[0], result, frame, call);
    case Box::Kind::record: return load_value(plan.value_type, at);
    case Box::Kind::tuple:
    case Box::Kind::named: {
      const Py_ssize_t n = static_cast<Py_ssize_t>(plan.members.size());
      PyRef t = PyRef::steal(PyTuple_New(n));
      for (Py_ssize_t i = 0; i < n; ++i)
        check(PyTuple_SetItem(t.get(), i, box(plan.members[static_cast<size_t>(i)], result, frame, call).release()));
      if (plan.kind == Box::Kind::named) return PyRef::steal(PyObject_CallObject(plan.type.get(), t.get()));
      return t;
    }
  }
  return PyRef::borrow(Py_None);
}

PyRef exception_named(std::string_view name) {
  if (name == "LinAlgError") return import_attr("numpy.linalg", "LinAlgError");
  if (name == "AxisError") return import_attr("numpy.exceptions", "AxisError");
  static PyObject* const builtins = import("builtins").release();
  PyRef made = PyRef::maybe(PyObject_GetAttr(builtins, to_py(name).get()));
  if (!made) PyErr_Clear();
  return made;
}

void throw_named(const std::string& type, const std::string& message) {
  PyRef made = exception_named(type);
  if (!made) made = PyRef::borrow(PyExc_RuntimeError);
  if (message.empty())
    PyErr_SetNone(made.get());
  else
    PyErr_SetString(made.get(), message.c_str());
  throw PythonError();
}

kernels::Failure failure_of(const std::vector<kernels::Failure>& failures, const host::Call& call) {
  kernels::Failure failure;
  if (call.failure > 0 && static_cast<size_t>(call.failure) <= failures.size()) {
    failure = failures[static_cast<size_t>(call.failure - 1)];
  } else {
    failure.type = host::exception_name(call.raised);
    failure.message = call.message;
  }
  if (!call.arguments.empty()) failure.arguments.clear();
  for (const host::Argument& a : call.arguments) {
    kernels::Constant& c = failure.arguments.emplace_back();
    std::visit([&](const auto& v) { c.value = v; }, a);
  }
  return failure;
}

void throw_failure(const kernels::Failure& failure) {
  if (interrupt_waits() && failure.type == host::exception_name(host::Raised::interrupted)) throw Interrupted{};
  auto* type = static_cast<PyObject*>(const_cast<void*>(failure.object));
  PyRef cls = type && PyExceptionClass_Check(type) ? PyRef::borrow(type)
                                                   : PyRef::maybe(PyObject_GetAttrString(import("builtins").get(), failure.type.c_str()));
  if (!cls) {
    PyErr_Clear();
    throw_named(failure.type, failure.message);
  }
  // What the compiler and the library themselves raise has a message only.
  const bool message_only = failure.arguments.empty() && !failure.message.empty();
  PyRef arguments = message_only ? tuple_of({to_py(failure.message).get()}) : object_of(failure.arguments);
  PyRef made = PyRef::steal(PyObject_CallObject(cls.get(), arguments.get()));
  PyErr_SetObject(cls.get(), made.get());
  throw PythonError();
}

}  // namespace jit
}  // namespace bc::bind
