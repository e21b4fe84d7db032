#include "graph/access.h"

#include <optional>

#include "graph/tape.h"

namespace bc {

Access::~Access() {
  if (uses_.empty()) return;
  Tape& t = *tape_;
  TapeLock lock(t);
  t.submit();
  if (many_streams())
    for (const auto& [buffer, write] : uses_) t.after(*buffer, write);
  uses_.clear();
}

void* Access::add(const Array& a, bool write) {
  BC_CHECK(a.device() == stream_.device, Value, "kernel: expected arrays on {}, got one on {}", to_string(stream_.device),
           to_string(a.device()));
  if (!tape_) tape_ = &tape_of(stream_);
  Tape& t = *tape_;
  TapeLock lock(t);
  void* base = data(a);
  if (write) {
    const Buffer& buffer = *a.storage()->current->buffer;
    BC_CHECK(!buffer.read_only, Value, "kernel: the array is read-only");
    // Pending ops that read the old content must have it; a copy that keeps it for others is this stream's work.
    std::optional<CurrentTape> current;
    if (many_streams()) current.emplace(t);
    t.flush();
    flush_others(t);
    base = own(a);
    ++a.storage()->version;
  }
  const Ref<Buffer>& buffer = a.storage()->current->buffer;
  if (many_streams()) t.before(*buffer, write);
  uses_.emplace_back(buffer, write);
  return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
}

}  // namespace bc
