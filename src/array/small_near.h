#pragma once
#include <cstdint>
#include <cstring>

#include "array/array.h"
#include "array/history.h"
#include "graph/tape.h"
#include "runtime/profiler.h"

/// How the small host path finds and changes few elements in host memory: for the files that implement small_host.h.
namespace bc::small {

inline constexpr int64_t kFew = 256;  // elements; above this a compiled kernel is faster

/// The elements of a 1-d array in host memory.
struct Near {
  char* first = nullptr;
  int64_t count = 0, step = 0;  ///< step in bytes
  int item = 0;
  char* at(int64_t k) const { return first + k * step; }
};

/// Tells whether this thread may use the device's memory directly: a CPU without a capture and without other streams.
inline bool reachable(Device device) { return traits(device).on_host && !many_streams() && !tape(device).capture(); }
/// The same, and no profiler is active that would count the op as a kernel.
inline bool open(Device device) { return reachable(device) && !profiling(); }

/// The address of a view's first element; the node is computed.
inline char* first_byte(const Array& a, const Node& node) {
  return static_cast<char*>(node.buffer->ptr) + a.offset() * itemsize(a.dtype());
}

/// Sets `near` if an array's elements are computed and at most `most`, else returns false. An array of several axes is found where `flat`
/// and it is contiguous. Called with the lock held.
inline bool find(const Array& a, Near* near, int64_t most = kFew, bool flat = false) {
  const bool row = a.ndim() == 1;
  if (!row && (!flat || !a.contiguous())) return false;
  if (a.size() > most || a.has_loose_booleans()) return false;
  const Node& node = *a.storage()->current;
  if (node.pending() || !node.buffer || !traits(a.device()).on_host) return false;
  near->item = itemsize(a.dtype());
  near->first = first_byte(a, node);
  near->count = a.size();
  near->step = row ? a.strides()[0] * near->item : near->item;
  return true;
}

template <class U>
U get(const char* from) {
  U u;
  std::memcpy(&u, from, sizeof(U));
  return u;
}

/// Tells whether an array's memory may be written now: no other array shares the value, and no pending node reads it. Called with the lock
/// held.
inline bool sole_owner(const Array& a) {
  const Node& node = *a.storage()->current;
  const Buffer& buffer = *node.buffer;
  return node.handles == 1 && node.refs() == 1 && buffer.refs() == 1 && !buffer.exposed && !buffer.read_only && !buffer.release;
}

inline void wrote(Storage& storage) {
  ++storage.version;
  storage.notice.store(nullptr, std::memory_order_relaxed);
}

/// Tells whether a write must be recorded for derivatives.
inline bool changes_history(const Array& a, const Arg& value) {
  return history_observer() && (a.storage()->history || (value.array && value.array.history()));
}

/// The address of the first element of a 1-d array in host memory; computes the array if it is pending.
inline const char* first_element(const Array& a) { return static_cast<const char*>(data(a)) + a.offset() * itemsize(a.dtype()); }

}  // namespace bc::small
