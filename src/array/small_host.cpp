// The small host path: elements, rows and masks that are read, written, computed, joined and reduced at once.
#include "array/small_host.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "array/placement.h"
#include "array/small_near.h"
#include "codegen/tier0/tier0.h"
#include "core/extents.h"
#include "core/set_bytes.h"
#include "core/stored_value.h"
#include "graph/config.h"

namespace bc {

using namespace small;

namespace {

constexpr int64_t kMasked = kMaskedFew;  // elements of a mask, which is two kernels otherwise
constexpr int64_t kIndexed = 1 << 11;    // of an index array; more take less time in a kernel

/// Calls f with the address of each element of a view with axes and elements, in C order. `strides` are in elements of `item` bytes.
template <class F>
void each_element(const Dims& shape, const Dims& strides, char* first, int item, F&& f) {
  const int inner = shape.size() - 1;
  const int64_t columns = shape[inner], step = strides[inner] * item;
  Dims at(shape.size());
  for (int64_t rows = product(shape) / columns; rows > 0; --rows) {
    char* p = first;
    for (int d = 0; d < inner; ++d) p += at[d] * strides[d] * item;
    for (int64_t j = 0; j < columns; ++j, p += step) f(p);
    for (int d = inner - 1; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
  }
}

/// Tells whether an index is a mask of all elements of an array with several axes.
bool covers(const Array& index, const Array& a) { return a.ndim() > 1 && is_bool(index.dtype()) && index.shape() == a.shape(); }

/// Calls f with an unsigned number as wide as an element.
template <class F>
void by_item(int item, F&& f) {
  struct Pair {
    uint64_t low, high;
  };
  switch (item) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    case 8: return f(uint64_t());
    default: return f(Pair());
  }
}

/// The positions that an index selects; empty if an index is out of range.
struct Places {
  int count = 0;
  int64_t at[kMasked + kSetBytesRoom];
};

/// The positions of the numbers of T that are not zero; -0.0 is zero.
template <class T>
void find_numbers(const Near& from, Places* places) {
  if constexpr (sizeof(T) == 1) {
    if (from.step == 1) {
      places->count = static_cast<int>(find_set_bytes(reinterpret_cast<const uint8_t*>(from.first), from.count, 0, places->at));
      return;
    }
  }
  int n = 0;
  const char* p = from.first;
  for (int64_t k = 0; k < from.count; ++k, p += from.step) {
    places->at[n] = k;
    n += get<T>(p) != 0;
  }
  places->count = n;
}

bool find_places(const Array& index, int64_t extent, Places* places, bool flat) {
  Near near;
  const bool mask = is_bool(index.dtype());
  if (!find(index, &near, mask ? kMasked : kIndexed, flat)) return false;
  if (mask) {
    if (near.count != extent) return false;
    find_numbers<uint8_t>(near, places);
    return true;
  }
  if (index.dtype() != DType::i64 && index.dtype() != DType::i32) return false;
  bool inside = true;
  for (int64_t k = 0; k < near.count; ++k) {
    int64_t v = near.item == 8 ? get<int64_t>(near.at(k)) : get<int32_t>(near.at(k));
    v += v < 0 ? extent : 0;
    inside &= static_cast<uint64_t>(v) < static_cast<uint64_t>(extent);
    places->at[k] = v;
  }
  places->count = static_cast<int>(near.count);
  return inside;
}

/// The elements of `from` at places that are all inside.
Array picked(const Near& from, std::span<const int64_t> places, DType dtype, Device device) {
  Array made = empty(Dims{static_cast<int64_t>(places.size())}, dtype, device);
  char* to = static_cast<char*>(made.storage()->current->buffer->ptr);
  by_item(from.item, [&](auto u) {
    using U = decltype(u);
    for (const int64_t place : places) {
      u = get<U>(from.at(place));
      std::memcpy(to, &u, sizeof(U));
      to += sizeof(U);
    }
  });
  return made;
}

}  // namespace

std::optional<Array> pick_small(const Array& a, const Array& index) {
  if (!open(a.device()) || !(index.device() == a.device()) || has_history(a) || has_history(index)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near from;
  Places places;
  const bool flat = covers(index, a);
  if (!find(a, &from, INT64_MAX, flat) || !find_places(index, from.count, &places, flat)) return std::nullopt;
  return picked(from, {places.at, static_cast<size_t>(places.count)}, a.dtype(), a.device());
}

std::optional<Array> pick_rows_small(const Array& a, const Array& index) {
  if (a.ndim() < 2 || !open(a.device()) || !(index.device() == a.device()) || has_history(a) || has_history(index)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near from;
  Places places;
  if (index.ndim() != 1 || a.size() == 0 || !find(a, &from, INT64_MAX, true) || !find_places(index, a.shape()[0], &places, false))
    return std::nullopt;
  Dims shape = a.shape();
  shape[0] = places.count;
  const size_t row = static_cast<size_t>(a.size() / a.shape()[0] * from.item);
  if (product(shape) > kFew) return std::nullopt;
  Array made = empty(shape, a.dtype(), a.device());
  char* const to = static_cast<char*>(made.storage()->current->buffer->ptr);
  for (int k = 0; k < places.count; ++k)
    std::memcpy(to + static_cast<size_t>(k) * row, from.first + static_cast<size_t>(places.at[k]) * row, row);
  return made;
}

std::optional<Array> pick_small(const Array& a, std::span<const int64_t> index) {
  if (a.ndim() != 1 || index.size() > kFew || !open(a.device()) || has_history(a)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near from;
  if (!find(a, &from, INT64_MAX)) return std::nullopt;
  int64_t places[kFew];
  for (size_t k = 0; k < index.size(); ++k) {
    places[k] = index[k] + (index[k] < 0 ? from.count : 0);
    if (static_cast<uint64_t>(places[k]) >= static_cast<uint64_t>(from.count)) return std::nullopt;
  }
  return picked(from, {places, index.size()}, a.dtype(), a.device());
}

namespace {

/// Writes a Python number as an element if a plain cast is correct; other cases have special rules and warnings.
bool store_number(const Arg& value, DType dtype, char* to) {
  const bool fits = value.weak == Weak::boolean || (value.weak == Weak::integer && integer_fits(value.value, dtype)) ||
                    (value.weak == Weak::real && is_inexact(dtype));
  if (fits) value.value.store(dtype, to);
  return fits;
}

/// The address of the element that integer indices select in computed memory; nullptr if the array is not computed or the index is not of
/// this kind.
char* find_one(const Array& a, std::span<const SliceItem> items) {
  if (static_cast<int>(items.size()) != a.ndim() || a.has_loose_booleans()) return nullptr;
  int64_t place = a.offset();
  for (size_t d = 0; d < items.size(); ++d) {
    const int64_t extent = a.shape()[static_cast<int>(d)], at = items[d].start + (items[d].start < 0 ? extent : 0);
    if (items[d].kind != SliceItem::Kind::index || static_cast<uint64_t>(at) >= static_cast<uint64_t>(extent)) return nullptr;
    place += at * a.strides()[static_cast<int>(d)];
  }
  const Node& node = *a.storage()->current;
  if (node.pending() || !node.buffer) return nullptr;
  return static_cast<char*>(node.buffer->ptr) + place * itemsize(a.dtype());
}

}  // namespace

bool read_one(const Array& a, std::span<const SliceItem> items, Element* made) {
  if (items.empty() || !reachable(a.device()) || has_history(a)) return false;
  const TapeLock lock(tape(a.device()));
  const char* from = find_one(a, items);
  if (!from) return false;
  made->dtype = a.dtype();
  by_item(itemsize(a.dtype()), [&](auto u) {
    u = get<decltype(u)>(from);
    std::memcpy(made->bytes, &u, sizeof(u));
  });
  return true;
}

bool read_mirrored(const Array& a, std::span<const SliceItem> items, Element* made) {
  constexpr size_t kMost = size_t{1} << 26;  // bytes
  if (!placed_by_size() || traits(a.device()).on_host || a.has_loose_booleans() || has_history(a)) return false;
  const Array element = slice(a, items);
  Storage& storage = *a.storage();
  Tape& t = tape(a.device());
  std::vector<char> bytes;
  Array all;
  const Node* read = nullptr;
  uint64_t version = 0;
  {
    const TapeLock lock(t);
    read = storage.current.get();
    version = storage.version;
    const Node& value = *read;
    const size_t size = static_cast<size_t>(value.size) * itemsize(value.dtype);
    if (size > kMost || storage.exposed() || t.capture()) return false;
    if (!storage.mirror) storage.mirror = std::make_unique<HostMirror>();
    HostMirror& mirror = *storage.mirror;
    if (mirror.value != &value || mirror.version != storage.version)
      mirror = {.accesses = mirror.accesses, .meetings = mirror.meetings, .value = &value, .version = storage.version};
    // A copy of 256 KB takes about as long as one element.
    if (mirror.reads < 2 + static_cast<int>(size >> 18)) return ++mirror.reads, false;
    if (mirror.bytes.empty()) {
      bytes.resize(size);
      all = Array(a.storage(), value.dtype, contiguous_layout(value.shape));
    } else {
      bytes.swap(mirror.bytes);
    }
  }
  if (all) to_host(all, bytes.data());
  made->dtype = a.dtype();
  const size_t item = itemsize(a.dtype());
  std::memcpy(made->bytes, bytes.data() + static_cast<size_t>(element.offset()) * item, item);
  const TapeLock lock(t);
  HostMirror& mirror = *storage.mirror;
  // Another thread may have changed the array meanwhile, and the mirror may already be that of the new elements.
  if (mirror.value == read && mirror.version == version) mirror.bytes.swap(bytes);
  return true;
}

bool pick_one(const Array& a, std::span<const SliceItem> items, Element* made) { return !profiling() && read_one(a, items, made); }

bool pick_one(const Array& a, Element* made) {
  if (a.ndim() != 0 || a.has_loose_booleans() || !open(a.device()) || has_history(a)) return false;
  const TapeLock lock(tape(a.device()));
  const Node& node = *a.storage()->current;
  if (node.pending() || !node.buffer) return false;
  const int item = itemsize(a.dtype());
  made->dtype = a.dtype();
  std::memcpy(made->bytes, static_cast<const char*>(node.buffer->ptr) + a.offset() * item, static_cast<size_t>(item));
  return true;
}

namespace {

bool read_ahead(const Array& a, int64_t at, ReadAhead* ahead) {
  if (a.ndim() != 1 || at >= a.shape()[0] || !open(a.device()) || a.has_loose_booleans() || has_history(a)) return false;
  const TapeLock lock(tape(a.device()));
  const Storage& storage = *a.storage();
  const Node& node = *storage.current;
  if (node.pending() || !node.buffer) return false;
  ahead->storage = &storage;
  ahead->version = storage.version;
  ahead->dtype = a.dtype();
  ahead->offset = a.offset();
  ahead->stride = a.strides()[0];
  ahead->first = at;
  // Others write to memory that they know without a word.
  ahead->count = node.buffer->exposed ? 1 : std::min(ReadAhead::kCount, a.shape()[0] - at);
  ahead->item = itemsize(a.dtype());
  const int64_t step = a.strides()[0] * ahead->item;
  const char* from = static_cast<const char*>(node.buffer->ptr) + a.offset() * ahead->item + at * step;
  by_item(ahead->item, [&](auto u) {
    for (int64_t k = 0; k < ahead->count; ++k) {
      u = get<decltype(u)>(from + k * step);
      std::memcpy(ahead->bytes + k * static_cast<int64_t>(sizeof(u)), &u, sizeof(u));
    }
  });
  return true;
}

}  // namespace

bool pick_next(const Array& a, int64_t at, ReadAhead* ahead, Element* made) {
  const Storage& storage = *a.storage();
  const bool there = static_cast<uint64_t>(at - ahead->first) < static_cast<uint64_t>(ahead->count) && ahead->storage == &storage &&
                     ahead->version == storage.version && ahead->dtype == a.dtype() && ahead->offset == a.offset() &&
                     ahead->stride == a.strides()[0] && !storage.exposed() && !has_history(a);
  if (!there && !read_ahead(a, at, ahead)) return false;
  made->dtype = a.dtype();
  const char* from = ahead->bytes + (at - ahead->first) * ahead->item;
  if (ahead->item == 8)
    std::memcpy(made->bytes, from, 8);
  else
    std::memcpy(made->bytes, from, static_cast<size_t>(ahead->item));
  return true;
}

namespace {

/// The place of element `at` in memory; nullptr if the vector is not computed. Called with the lock held.
char* number_at(const Array& a, int64_t at) {
  const int64_t extent = a.shape()[0];
  at += at < 0 ? extent : 0;
  const Node& node = *a.storage()->current;
  if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(extent) || node.pending() || !node.buffer) return nullptr;
  return static_cast<char*>(node.buffer->ptr) + 8 * (a.offset() + at * a.strides()[0]);
}

}  // namespace

bool read_number(const Array& a, int64_t at, Element* made) {
  Tape& t = tape(a.device());
  if (many_streams() || t.capture() || has_history(a)) return false;
  const TapeLock lock(t);
  const char* const from = number_at(a, at);
  if (!from) return false;
  made->dtype = a.dtype();
  std::memcpy(made->bytes, from, 8);
  return true;
}

bool put_number(const Array& a, int64_t at, const void* bytes) {
  Tape& t = tape(a.device());
  if (many_streams() || t.capture() || (history_observer() && a.storage()->history)) return false;
  const TapeLock lock(t);
  char* const to = number_at(a, at);
  if (!to || !sole_owner(a)) return false;
  std::memcpy(to, bytes, 8);
  wrote(*a.storage());
  return true;
}

bool put_one(const Array& a, std::span<const SliceItem> items, const Arg& value) {
  if (items.empty() || !reachable(a.device()) || changes_history(a, value)) return false;
  const TapeLock lock(tape(a.device()));
  char* to = find_one(a, items);
  if (!to || !sole_owner(a)) return false;
  if (value.weak == Weak::none) {
    const Array& v = value.array;
    if (v.ndim() != 0 || v.dtype() != a.dtype() || !(v.device() == a.device()) || v.has_loose_booleans()) return false;
    const Node& node = *v.storage()->current;
    if (node.pending() || !node.buffer) return false;
    const int item = itemsize(a.dtype());
    std::memmove(to, static_cast<const char*>(node.buffer->ptr) + v.offset() * item, static_cast<size_t>(item));
  } else if (!store_number(value, a.dtype(), to)) {
    return false;
  }
  wrote(*a.storage());
  return true;
}

bool put_one(const Array& a, std::span<const SliceItem> items, const Element& value) {
  if (items.empty() || !reachable(a.device()) || (history_observer() && a.storage()->history)) return false;
  const DType from = value.dtype, to = a.dtype();
  // Other casts have special rules and warnings.
  const bool plain = bc::is_plain(from) && bc::is_plain(to);  // the table of casts has no times
  const bool simple = plain && (can_cast(from, to, Casting::safe) || (is_real_float(from) && is_real_float(to)));
  const Tier0Loop cast = from != to && simple ? tier0_cast(from, to) : nullptr;
  if (from != to && !cast) return false;
  const TapeLock lock(tape(a.device()));
  char* const place = find_one(a, items);
  if (!place || !sole_owner(a)) return false;
  if (cast)
    cast(value.bytes, nullptr, nullptr, place, 1);
  else
    by_item(itemsize(to), [&](auto u) {
      u = get<decltype(u)>(value.bytes);
      std::memcpy(place, &u, sizeof(u));
    });
  wrote(*a.storage());
  return true;
}

std::optional<Array> full_small(const Dims& shape, const Scalar& value, DType dtype, Device device) {
  if (!open(device) || !bc::is_plain(dtype) || element_count(shape, itemsize(dtype)) > kFew) return std::nullopt;
  Array made = empty(shape, dtype, device);
  char* const to = static_cast<char*>(made.storage()->current->buffer->ptr);
  alignas(16) char element[16] = {};
  value.store(dtype, element);
  by_item(itemsize(dtype), [&](auto u) {
    u = get<decltype(u)>(element);
    std::fill_n(reinterpret_cast<decltype(u)*>(to), made.size(), u);
  });
  return made;
}

namespace {

/// The elements of an operand over a shape of at most kFew elements, in C order and side by side.
class Spread {
 public:
  /// Sets `from`. Returns false where the operand is not computed, or cannot be cast to `to` here.
  bool read(const Term& term, DType to, const Dims& shape, int64_t count) {
    from = elements_;
    if (!term.array) {
      if (term.weak == Weak::integer && !integer_fits(term.value, to)) return false;
      alignas(16) char element[16];
      term.value.store(to, element);
      fill(element, itemsize(to), count);
      return true;
    }
    const Array& a = *term.array;
    const Node& node = *a.storage()->current;
    if (node.pending() || !node.buffer || a.has_loose_booleans()) return false;
    const int item = itemsize(a.dtype());
    char* const first = first_byte(a, node);
    if (a.contiguous() && a.shape() == shape)
      from = first;
    else if (a.size() == 1)
      fill(first, item, count);
    else
      gather(first, item, shape, broadcast_strides("broadcast", a.layout(), shape));
    if (a.dtype() == to) return true;
    const Tier0Loop cast = tier0_cast(a.dtype(), to);
    if (cast) cast(std::exchange(from, cast_), nullptr, nullptr, cast_, count);
    return cast != nullptr;
  }
  const char* from = nullptr;

 private:
  void fill(const char* element, int item, int64_t count) {
    by_item(item, [&](auto u) {
      u = get<decltype(u)>(element);
      std::fill_n(reinterpret_cast<decltype(u)*>(elements_), count, u);
    });
  }
  void gather(char* first, int item, const Dims& shape, const Dims& strides) {
    by_item(item, [&](auto u) {
      auto* to = reinterpret_cast<decltype(u)*>(elements_);
      each_element(shape, strides, first, item, [&](const char* p) { *to++ = get<decltype(u)>(p); });
    });
  }
  alignas(64) char elements_[kFew * 16];
  alignas(64) char cast_[kFew * 16];
};

/// Tells whether elementwise rows may be computed here: plain execution and runs that ask for one kind of kernel get kernels.
bool open_to_rows(Device device) {
  const Config& c = config();
  return c.lazy && c.jit && c.background_compile && open(device);
}

}  // namespace

std::optional<Array> cast_small(const Array& a, DType dtype) {
  const int64_t count = a.size();
  if (a.ndim() == 0 || count == 0 || count > kFew || !is_plain(a.dtype()) || !is_plain(dtype)) return std::nullopt;
  if (!open_to_rows(a.device()) || has_history(a)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Spread elements;
  if (!elements.read(Term{.array = &a}, dtype, a.shape(), count)) return std::nullopt;
  Array made = empty(a.shape(), dtype, a.device());
  std::memcpy(made.storage()->current->buffer->ptr, elements.from, static_cast<size_t>(count) * static_cast<size_t>(itemsize(dtype)));
  return made;
}

std::optional<Array> ufunc_small(Op op, std::span<const Term> terms, const Loop& loop, const Dims& shape, Device device) {
  const OpInfo& spec = info(op);
  if (!open_to_rows(device)) return std::nullopt;
  const bool plain = spec.signature == Signature::same || spec.signature == Signature::divide;
  if (spec.kind != OpKind::elementwise || !plain || (op == Op::power && !is_inexact(loop.in[1]))) return std::nullopt;
  const int64_t count = element_count(shape, itemsize(loop.out));
  const Tier0Loop run = count > 0 && count <= kFew ? tier0_loop(op, loop.in[0]) : nullptr;
  if (!run || std::ranges::any_of(terms, [](const Term& t) { return t.array && has_history(*t.array); })) return std::nullopt;
  const TapeLock lock(tape(device));
  Spread operands[3];
  for (size_t k = 0; k < terms.size(); ++k)
    if (!operands[k].read(terms[k], loop.in[k], shape, count)) return std::nullopt;
  Array made = empty(shape, loop.out, device);
  run(operands[0].from, operands[1].from, operands[2].from, made.storage()->current->buffer->ptr, count);
  return made;
}

std::optional<Array> copy_small(const void* data, const Dims& shape, DType dtype, Device device) {
  const int64_t n = element_count(shape, itemsize(dtype));
  if (!open(device) || is_bool(dtype) || n > kFew) return std::nullopt;
  Array made = empty(shape, dtype, device);
  if (n > 0) std::memcpy(made.storage()->current->buffer->ptr, data, static_cast<size_t>(n) * static_cast<size_t>(itemsize(dtype)));
  return made;
}

Array array_of_one(const Element& element) {
  const Device host{DeviceType::cpu, 0};
  Array made = empty(Dims(), element.dtype, host);
  std::memcpy(made.storage()->current->buffer->ptr, element.bytes, static_cast<size_t>(itemsize(element.dtype)));
  return made;
}

bool loops_over_elements(const Array& a) {
  // A node for an element costs a microsecond, and planning hundreds of them costs milliseconds.
  constexpr int kEnough = 4;
  if (!reachable(a.device()) || profiling() || has_history(a)) return false;
  const TapeLock lock(tape(a.device()));
  const Node* node = a.storage()->current.get();
  if (!node->pending()) return false;
  if (node->refs() > kEnough) return true;
  for (int k = 0; k < kEnough; ++k) {
    if (!node->pending() || node->op != Op::store || static_cast<const StoreExtra&>(*node->extra).region.size() > kFew) return false;
    node = node->in[0].node.get();
  }
  return true;
}

bool chains_numbers(const Array& a) {
  constexpr int kEnough = 4;
  if (!open_to_rows(a.device()) || has_history(a)) return false;
  const TapeLock lock(tape(a.device()));
  const Node* node = a.storage()->current.get();
  for (int k = 0; k < kEnough; ++k) {
    if (!node->pending() || node->size != 1 || info(node->op).kind != OpKind::elementwise) return false;
    const Node* before = nullptr;
    for (const Operand& o : node->in)
      if (o.node->pending()) before = o.node.get();
    if (!before) return false;
    node = before;
  }
  return true;
}

namespace {

template <class T>
bool set_element(Element* made, DType dtype, T value) {
  made->dtype = dtype;
  std::memcpy(made->bytes, &value, sizeof(T));
  return true;
}

/// Arithmetic and comparisons of T; false for other rows. Integers wrap around.
template <class T>
bool apply_plain(Op op, DType dtype, T x, T y, Element* made) {
  using U = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;
  const U a = static_cast<U>(x), b = static_cast<U>(y);
  switch (op) {
    case Op::add: return set_element(made, dtype, static_cast<U>(a + b));
    case Op::subtract: return set_element(made, dtype, static_cast<U>(a - b));
    case Op::multiply: return set_element(made, dtype, static_cast<U>(a * b));
    case Op::divide: return set_element(made, DType::f64, static_cast<double>(x) / static_cast<double>(y));
    case Op::less: return set_element(made, DType::b1, x < y);
    case Op::less_equal: return set_element(made, DType::b1, x <= y);
    case Op::greater: return set_element(made, DType::b1, x > y);
    case Op::greater_equal: return set_element(made, DType::b1, x >= y);
    case Op::equal: return set_element(made, DType::b1, x == y);
    case Op::not_equal: return set_element(made, DType::b1, x != y);
    default: return false;
  }
}

/// Tells whether a term is a float64 number; then sets *value.
bool is_plain(const ElementTerm& term, double* value) {
  if (term.weak == Weak::none) {
    if (term.element->dtype != DType::f64) return false;
    *value = get<double>(term.element->bytes);
    return true;
  }
  if (term.weak == Weak::integer && term.value.dtype == DType::u64) return false;
  *value = term.value.as_double();
  return term.weak == Weak::real || term.weak == Weak::integer;
}
bool is_plain(const ElementTerm& term, int64_t* value) {
  const bool plain =
      term.weak == Weak::none ? term.element->dtype == DType::i64 : term.weak == Weak::integer && term.value.dtype == DType::i64;
  if (plain) *value = term.weak == Weak::none ? get<int64_t>(term.element->bytes) : term.value.i;
  return plain;
}

/// Computes any other row by the loop of the built-in kernels.
bool apply_by_loop(Op op, std::span<const ElementTerm> terms, Element* made) {
  const OpInfo& spec = info(op);
  const bool plain_types = spec.signature == Signature::same || spec.signature == Signature::divide;
  if (spec.kind != OpKind::elementwise || !plain_types || spec.nin != terms.size()) return false;
  OperandType types[3];
  bool weak = false, unsigned_64 = false, signed_int = false;
  for (size_t k = 0; k < terms.size(); ++k) {
    const ElementTerm& t = terms[k];
    if (t.weak == Weak::none && !bc::is_plain(t.element->dtype)) return false;  // times and 8-bit floats have special rules
    types[k] = t.weak == Weak::none ? OperandType{t.element->dtype, Weak::none} : OperandType{default_dtype(t.weak), t.weak};
    weak |= t.weak != Weak::none;
    unsigned_64 |= t.weak == Weak::none && t.element->dtype == DType::u64;
    signed_int |= t.weak == Weak::none && is_signed_int(t.element->dtype);
  }
  // Rows whose dtype depends on values, and Python numbers that do not fit a dtype, are recorded: the general code has their rules and
  // errors.
  if ((is_logical(op) && weak) || (unsigned_64 && signed_int)) return false;
  const Loop loop = resolve(op, std::span<const OperandType>(types, terms.size()));
  if (op == Op::power && !is_inexact(loop.in[1])) return false;
  const Tier0Loop run = tier0_loop(op, loop.in[0]);
  if (!run) return false;
  alignas(16) char operands[3][16], result[16] = {};  // aligned to 16 for complex numbers
  for (size_t k = 0; k < terms.size(); ++k) {
    const ElementTerm& t = terms[k];
    if (t.weak == Weak::integer && !integer_fits(t.value, loop.in[k])) return false;
    if (t.weak != Weak::none) {
      t.value.store(loop.in[k], operands[k]);
    } else if (t.element->dtype == loop.in[k]) {
      std::memcpy(operands[k], t.element->bytes, sizeof(operands[k]));
    } else if (const Tier0Loop cast = tier0_cast(t.element->dtype, loop.in[k])) {
      cast(t.element->bytes, nullptr, nullptr, operands[k], 1);
    } else {
      return false;
    }
  }
  run(operands[0], operands[1], operands[2], result, 1);
  made->dtype = loop.out;
  std::memcpy(made->bytes, result, sizeof(result));
  return true;
}

}  // namespace

bool apply_one(Op op, std::span<const ElementTerm> terms, Element* made) {
  if (!open(Device{DeviceType::cpu, 0})) return false;
  if (terms.size() == 2) {
    // Two Python integers are both: they are computed as integers.
    if (int64_t i, j; is_plain(terms[0], &i) && is_plain(terms[1], &j)) {
      if (apply_plain(op, DType::i64, i, j, made)) return true;
    } else if (double x, y; is_plain(terms[0], &x) && is_plain(terms[1], &y)) {
      if (apply_plain(op, DType::f64, x, y, made)) return true;
    }
  }
  return apply_by_loop(op, terms, made);
}

namespace {

/// Room for a number, or for a copy of a few elements.
struct Room {
  alignas(16) char bytes[kFew * 16];
};

/// Finds the value of a store into `count` elements of `target`: an array of as many elements or of one, or a Python number, which is
/// written to `room`. Elements that share the target's memory are copied to `room` too, since the store might overwrite them before it
/// reads them. An array of several axes is found where `flat` and it is contiguous.
bool find_stored(const Arg& value, const Array& target, int64_t count, Room* room, Near* from, bool flat = false) {
  if (value.weak != Weak::none) {
    from->first = room->bytes;
    return store_number(value, target.dtype(), room->bytes);
  }
  const Array& v = value.array;
  const DType to = target.dtype();
  // Other casts have special rules and warnings.
  const bool casts = v.dtype() != to;
  const bool plain = bc::is_plain(v.dtype()) && bc::is_plain(to);  // the table of casts has no times
  const Tier0Loop cast = casts && plain && can_cast(v.dtype(), to, Casting::safe) ? tier0_cast(v.dtype(), to) : nullptr;
  if ((casts && !cast) || !(v.device() == target.device())) return false;
  if (!find(v, from, kFew, flat) || (from->count != count && from->count != 1)) return false;
  if (cast) {
    const bool row = from->step == from->item;
    const int item = itemsize(to);
    for (int64_t k = 0; k < from->count; k += row ? from->count : 1)
      cast(from->at(k), nullptr, nullptr, room->bytes + k * item, row ? from->count : 1);
    from->first = room->bytes;
    from->item = item;
    from->step = item;
  } else if (v.storage() == target.storage()) {
    for (int64_t k = 0; k < from->count; ++k) std::memcpy(room->bytes + k * from->item, from->at(k), static_cast<size_t>(from->item));
    from->first = room->bytes;
    from->step = from->item;
  }
  if (from->count == 1) from->step = 0;
  return true;
}

/// put_row() of a view of several axes: a number, or an array of the same shape whose elements lie in C order.
bool put_box(const Array& place, const Arg& value) {
  if (place.size() == 0 || place.size() > kFew || place.has_loose_booleans()) return false;
  if (value.array && !(value.array.shape() == place.shape()) && (value.array.size() != 1 || value.array.ndim() > place.ndim()))
    return false;
  for (int d = 0; d < place.ndim(); ++d)
    if (place.strides()[d] == 0 && place.shape()[d] > 1) return false;
  const TapeLock lock(tape(place.device()));
  const Node& node = *place.storage()->current;
  Room room;
  Near from;
  if (node.pending() || !node.buffer || !sole_owner(place) || !find_stored(value, place, place.size(), &room, &from, true)) return false;
  by_item(itemsize(place.dtype()), [&](auto u) {
    using U = decltype(u);
    int64_t k = 0;
    each_element(place.shape(), place.strides(), first_byte(place, node), itemsize(place.dtype()), [&](char* to) {
      u = get<U>(from.at(k++));
      std::memcpy(to, &u, sizeof(U));
    });
  });
  wrote(*place.storage());
  return true;
}

}  // namespace

bool read_small(const Array& a, void* to) {
  if (a.ndim() == 0 || a.size() == 0 || a.size() > kFew || a.has_loose_booleans() || !open(a.device())) return false;
  const TapeLock lock(tape(a.device()));
  const Node& node = *a.storage()->current;
  if (node.pending() || !node.buffer) return false;
  by_item(itemsize(a.dtype()), [&](auto u) {
    char* next = static_cast<char*>(to);
    each_element(a.shape(), a.strides(), first_byte(a, node), itemsize(a.dtype()), [&](const char* from) {
      u = get<decltype(u)>(from);
      std::memcpy(next, &u, sizeof(u));
      next += sizeof(u);
    });
  });
  return true;
}

bool put_row(const Array& place, const Arg& value) {
  if (place.ndim() == 0 || !open(place.device()) || changes_history(place, value)) return false;
  if (place.ndim() > 1) return put_box(place, value);
  const TapeLock lock(tape(place.device()));
  Room room;
  Near to, from;
  // A number needs no room of its own.
  if (!find(place, &to, value.weak == Weak::none ? kFew : 1 << 12) || (to.step == 0 && to.count > 1) || !sole_owner(place)) return false;
  if (!find_stored(value, place, to.count, &room, &from)) return false;
  if (to.step == to.item && from.step == to.item)
    std::memcpy(to.first, from.first, static_cast<size_t>(to.count) * to.item);
  else if (to.step == to.item && from.step == 0)
    by_item(to.item, [&](auto u) {
      u = get<decltype(u)>(from.first);
      std::fill_n(reinterpret_cast<decltype(u)*>(to.first), to.count, u);
    });
  else
    by_item(to.item, [&](auto u) {
      using U = decltype(u);
      for (int64_t k = 0; k < to.count; ++k) {
        u = get<U>(from.at(k));
        std::memcpy(to.at(k), &u, sizeof(U));
      }
    });
  wrote(*place.storage());
  return true;
}

bool put_small(const Array& a, const Array& index, const Arg& value) {
  if (!open(a.device()) || !(index.device() == a.device()) || changes_history(a, value)) return false;
  const TapeLock lock(tape(a.device()));
  Room room;
  Near to, from;
  Places places;
  const bool flat = covers(index, a);
  if (!find(a, &to, INT64_MAX, flat) || (to.step == 0 && to.count > 1) || !sole_owner(a)) return false;
  if (!find_places(index, to.count, &places, flat) || index.storage() == a.storage()) return false;
  if (!find_stored(value, a, places.count, &room, &from)) return false;
  by_item(to.item, [&](auto u) {
    using U = decltype(u);
    for (int k = 0; k < places.count; ++k) {
      u = get<U>(from.at(k));
      std::memcpy(to.at(places.at[k]), &u, sizeof(U));
    }
  });
  wrote(*a.storage());
  return true;
}

bool put_rows_small(const Array& a, const Array& index, const Arg& value) {
  if (a.ndim() < 2 || !open(a.device()) || !(index.device() == a.device()) || changes_history(a, value)) return false;
  const TapeLock lock(tape(a.device()));
  Room room;
  Near to, from;
  Places places;
  if (index.ndim() != 1 || a.size() == 0 || !find(a, &to, INT64_MAX, true) || !sole_owner(a)) return false;
  if (index.storage() == a.storage() || !find_places(index, a.shape()[0], &places, false)) return false;
  const int64_t row = a.size() / a.shape()[0];
  Dims shape = a.shape();
  shape[0] = places.count;
  int64_t count = places.count * row, next = row;
  if (value.array && !(value.array.shape() == shape)) {  // one row for all, or one number
    shape.erase(0);
    if (!(value.array.shape() == shape) && (value.array.size() != 1 || value.array.ndim() > a.ndim())) return false;
    count = row, next = 0;
  }
  if (count > kFew || !find_stored(value, a, count, &room, &from, true)) return false;
  by_item(to.item, [&](auto u) {
    using U = decltype(u);
    for (int k = 0; k < places.count; ++k)
      for (int64_t j = 0; j < row; ++j) {
        u = get<U>(from.at(k * next + j));
        std::memcpy(to.at(places.at[k] * row + j), &u, sizeof(U));
      }
  });
  wrote(*a.storage());
  return true;
}

bool change_small(Op op, const Array& a, const Array& index, const Arg& value) {
  const bool arithmetic = op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::maximum || op == Op::minimum;
  if (!arithmetic || is_bool(a.dtype()) || is_bool(index.dtype()) || index.ndim() != 1) return false;
  if (!open(a.device()) || !(index.device() == a.device()) || changes_history(a, value)) return false;
  const Tier0Loop run = tier0_loop(op, a.dtype());
  const TapeLock lock(tape(a.device()));
  Room room;
  Near to, from;
  Places places;
  if (!run || !find(a, &to, INT64_MAX) || (to.step == 0 && to.count > 1) || !sole_owner(a)) return false;
  if (!find_places(index, to.count, &places, false) || index.storage() == a.storage()) return false;
  if (!find_stored(value, a, places.count, &room, &from)) return false;
  for (int k = 0; k < places.count; ++k) {
    char* const place = to.at(places.at[k]);
    alignas(16) char made[16];
    run(place, from.at(k), nullptr, made, 1);
    std::memcpy(place, made, static_cast<size_t>(to.item));
  }
  wrote(*a.storage());
  return true;
}

std::optional<Array> zip_small(const Array& a, const Array& b, DType result, int64_t (*f)(int64_t, int64_t, Op), Op op) {
  if (!open(a.device()) || !(b.device() == a.device()) || a.dtype() != DType::i64 || b.dtype() != DType::i64) return std::nullopt;
  const Array& shaped = a.ndim() == 0 ? b : a;
  if (has_history(a) || has_history(b) || (a.ndim() != 0 && b.ndim() != 0 && a.shape() != b.shape())) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near x, y;
  if (!find(a, &x, kFew, true) || !find(b, &y, kFew, true)) return std::nullopt;
  if (a.ndim() == 0) x.step = 0;
  if (b.ndim() == 0) y.step = 0;
  Array made = empty(shaped.shape(), result, a.device());
  char* const to = static_cast<char*>(made.storage()->current->buffer->ptr);
  const int64_t n = shaped.size();
  for (int64_t k = 0; k < n; ++k) {
    const int64_t v = f(get<int64_t>(x.at(k)), get<int64_t>(y.at(k)), op);
    if (result == DType::i64)
      std::memcpy(to + 8 * k, &v, 8);
    else
      to[k] = v != 0;
  }
  return made;
}

bool place_small(const Array& a, const Array& mask, const Array& values) {
  constexpr int64_t kMost = 1 << 14;  // of more a kernel is faster
  if (!open(a.device()) || !(mask.device() == a.device()) || !(values.device() == a.device())) return false;
  if (!is_bool(mask.dtype()) || mask.shape() != a.shape() || values.dtype() != a.dtype() || changes_history(a, Arg(values))) return false;
  const TapeLock lock(tape(a.device()));
  Near to, where, from;
  if (!find(a, &to, kMost, true) || (to.step == 0 && to.count > 1) || !sole_owner(a)) return false;
  if (!find(mask, &where, kMost, true) || !find(values, &from) || from.count == 0) return false;
  if (mask.storage() == a.storage() || values.storage() == a.storage()) return false;
  by_item(to.item, [&](auto u) {
    using U = decltype(u);
    int64_t next = 0;
    for (int64_t k = 0; k < to.count; ++k) {
      if (!*where.at(k)) continue;
      u = get<U>(from.at(next));
      std::memcpy(to.at(k), &u, sizeof(U));
      if (++next == from.count) next = 0;
    }
  });
  wrote(*a.storage());
  return true;
}

std::optional<Array> map_small(const Array& a, int64_t (*f)(int64_t, const void*), const void* context) {
  if (!open(a.device()) || a.dtype() != DType::i64 || has_history(a)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near from;
  if (!find(a, &from, kFew, true)) return std::nullopt;
  Array made = empty(a.shape(), DType::i64, a.device());
  auto* to = static_cast<int64_t*>(made.storage()->current->buffer->ptr);
  for (int64_t k = 0; k < from.count; ++k) to[k] = f(get<int64_t>(from.at(k)), context);
  return made;
}

std::optional<Array> nonzero_small(const Array& a) {
  const bool number = a.dtype() == DType::f64 || a.dtype() == DType::f32;
  if (!open(a.device()) || (is_inexact(a.dtype()) && !number) || has_history(a)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near from;
  if (!find(a, &from, kMasked)) return std::nullopt;
  Places places;
  if (a.dtype() == DType::f64)
    find_numbers<double>(from, &places);
  else if (a.dtype() == DType::f32)
    find_numbers<float>(from, &places);
  else if (from.item == 8)
    find_numbers<uint64_t>(from, &places);
  else if (from.item == 4)
    find_numbers<uint32_t>(from, &places);
  else if (from.item == 2)
    find_numbers<uint16_t>(from, &places);
  else
    find_numbers<uint8_t>(from, &places);
  Array made = empty(Dims{places.count}, DType::i64, a.device());
  std::memcpy(made.storage()->current->buffer->ptr, places.at, static_cast<size_t>(places.count) * sizeof(int64_t));
  return made;
}

std::optional<Array> concatenate_small(std::span<const Array> arrays, DType dtype, int axis, const Dims& shape) {
  constexpr int64_t kMost = 1 << 15;  // of more elements a kernel is faster, unless each array has few
  constexpr size_t kMany = 16;        // arrays: a node for each would cost more than computing all of them first
  const Device device = arrays[0].device();
  const int64_t most = std::max(kMost, kFew * static_cast<int64_t>(arrays.size()));
  if (!open(device) || element_count(shape, itemsize(dtype)) > most) return std::nullopt;
  for (const Array& a : arrays)
    if (a.dtype() != dtype || !(a.device() == device) || has_history(a)) return std::nullopt;
  const auto any_pending = [&] {
    const TapeLock lock(tape(device));
    return std::ranges::any_of(arrays, [](const Array& a) { return a.storage()->current->pending(); });
  };
  if (arrays.size() >= kMany && any_pending()) flush(device);
  const TapeLock lock(tape(device));
  Near from;
  for (const Array& a : arrays)
    if (!find(a, &from, kMost, true)) return std::nullopt;
  Array made = empty(shape, dtype, device);
  if (made.size() == 0) return made;
  char* to = static_cast<char*>(made.storage()->current->buffer->ptr);
  int64_t outer = 1, joined = itemsize(dtype);  // bytes of the result for each index of the axes before `axis`
  for (int d = 0; d < shape.size(); ++d) (d < axis ? outer : joined) *= shape[d];
  for (const Array& a : arrays) {
    find(a, &from, kMost, true);
    const int64_t run = from.count / outer, bytes = run * from.item;
    if (run > 4 && from.step == from.item) {
      for (int64_t k = 0; k < outer; ++k) std::memcpy(to + k * joined, from.at(k * run), static_cast<size_t>(bytes));
    } else {
      by_item(from.item, [&](auto u) {  // calls of memcpy would take longer than short runs
        const char* p = from.first;
        if (run == 1) {
          char* place = to;
          for (int64_t k = 0; k < outer; ++k, p += from.step, place += joined) std::memcpy(place, p, sizeof(u));
          return;
        }
        for (int64_t k = 0; k < outer; ++k) {
          for (int64_t j = 0; j < run; ++j, p += from.step) {
            u = get<decltype(u)>(p);
            std::memcpy(to + k * joined + j * static_cast<int64_t>(sizeof(u)), &u, sizeof(u));
          }
        }
      });
    }
    to += bytes;
  }
  return made;
}

std::optional<Array> repeat_small(const Array& a, int64_t count) {
  constexpr int64_t kMost = 1 << 12;
  if (!open(a.device()) || has_history(a) || count < 0 || count > kMost || a.size() * count > kMost) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near from;
  if (!find(a, &from, kMost, true)) return std::nullopt;
  Array made = empty(Dims{from.count * count}, a.dtype(), a.device());
  char* const to = static_cast<char*>(made.storage()->current->buffer->ptr);
  by_item(from.item, [&](auto u) {
    using U = decltype(u);
    U* next = reinterpret_cast<U*>(to);
    for (int64_t k = 0; k < from.count; ++k) {
      u = get<U>(from.at(k));
      for (int64_t j = 0; j < count; ++j) *next++ = u;
    }
  });
  return made;
}

namespace {

/// The elements of a 1-d array as numbers of T.
template <class T>
struct Numbers {
  const Near& near;
  T operator[](int64_t k) const { return get<T>(near.at(k)); }
};

/// The index of the first extreme, or of the first NaN if there is one.
template <bool greatest, class T>
int64_t place_of_extreme(Numbers<T> all) {
  int64_t place = 0;
  T best = all[0];
  for (int64_t k = 0; k < all.near.count; ++k) {
    const T v = all[k];
    if (v != v) return k;
    if (greatest ? v > best : v < best) {
      best = v;
      place = k;
    }
  }
  return place;
}

/// Reductions whose result does not depend on the order of the elements.
template <class T>
bool reduce_numbers(Op op, DType dtype, Numbers<T> all, Element* made) {
  const int64_t n = all.near.count;
  int64_t count = 0;
  switch (op) {
    case Op::reduce_argmax: return set_element(made, DType::i64, place_of_extreme<true>(all));
    case Op::reduce_argmin: return set_element(made, DType::i64, place_of_extreme<false>(all));
    case Op::reduce_max:
    case Op::reduce_min: {
      const T best = all[op == Op::reduce_max ? place_of_extreme<true>(all) : place_of_extreme<false>(all)];
      // For zeros of either sign and for NaN the kernel decides which bits are the result.
      return (is_integer(dtype) || is_bool(dtype) || (best == best && best != 0)) && set_element(made, dtype, best);
    }
    case Op::reduce_any:
    case Op::reduce_all:
    case Op::reduce_count_nonzero:
      for (int64_t k = 0; k < n; ++k) count += all[k] != 0;
      if (op == Op::reduce_count_nonzero) return set_element(made, DType::i64, count);
      return set_element(made, DType::b1, op == Op::reduce_any ? count > 0 : count == n);
    default: return false;
  }
}

/// How many of neighbouring booleans, which are 0 or 1 in memory, are true.
int64_t count_true(const char* first, int64_t n) {
  int64_t count = 0, k = 0;
  // The product has the sum of the eight bytes in its highest one.
  for (; k + 8 <= n; k += 8) count += static_cast<int64_t>(get<uint64_t>(first + k) * 0x0101010101010101u >> 56);
  for (; k < n; ++k) count += first[k];
  return count;
}

}  // namespace

bool reduce_small(Op op, const Array& a, Element* made) {
  if (a.ndim() == 0 || a.size() == 0 || !open(a.device()) || has_history(a)) return false;
  const TapeLock lock(tape(a.device()));
  Near near;
  const bool truths = is_bool(a.dtype()) && (op == Op::reduce_any || op == Op::reduce_all || op == Op::reduce_count_nonzero);
  if (!find(a, &near, truths ? kMasked : kFew, true)) return false;
  if (truths && near.step == 1) {
    const int64_t count = count_true(near.first, near.count);
    if (op == Op::reduce_count_nonzero) return set_element(made, DType::i64, count);
    return set_element(made, DType::b1, op == Op::reduce_any ? count > 0 : count == near.count);
  }
  if ((op == Op::reduce_sum || op == Op::reduce_prod) && (a.dtype() == DType::f64 || a.dtype() == DType::i64)) {
    // In the order of every kernel, where the elements lie side by side.
    made->dtype = a.dtype();
    return near.step == near.item && open_to_rows(a.device()) && tier0_reduce(op, a.dtype(), near.first, near.count, 0, made->bytes);
  }
  switch (const DType t = a.dtype()) {
    case DType::b1:
    case DType::u8: return reduce_numbers(op, t, Numbers<uint8_t>{near}, made);
    case DType::i32: return reduce_numbers(op, t, Numbers<int32_t>{near}, made);
    case DType::i64: return reduce_numbers(op, t, Numbers<int64_t>{near}, made);
    case DType::f32: return reduce_numbers(op, t, Numbers<float>{near}, made);
    case DType::f64: return reduce_numbers(op, t, Numbers<double>{near}, made);
    default: return false;
  }
}

}  // namespace bc
