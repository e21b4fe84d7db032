#include "graph/access.h"

#include "graph/tape.h"

namespace bc {

Access::~Access() = default;

void* Access::add(const Array& a, bool write) {
  BC_CHECK(a.device() == stream_.device, Value, "kernel: expected arrays on {}, got one on {}", to_string(stream_.device),
           to_string(a.device()));
  Tape& t = tape(a.device());
  TapeLock lock(t);
  void* base = data(a);
  if (write) {
    const Buffer& buffer = *a.storage()->current->buffer;
    BC_CHECK(!buffer.read_only, Value, "kernel: the array is read-only");
    // Pending ops that read the old content must have it.
    t.flush();
    base = own(a);
    ++a.storage()->version;
  }
  buffers_.push_back(a.storage()->current->buffer);
  return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
}

}  // namespace bc
