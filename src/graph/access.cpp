#include "graph/access.h"

#include <optional>

#include "graph/tape.h"

namespace bc {

ArrayAccess::~ArrayAccess() {
  if (count_ == 0) return;
  Tape& t = *tape_;
  TapeLock lock(t);
  t.submit();
  if (many_streams())
    for (size_t i = 0; i < count_; ++i) t.after(*use(i).buffer, use(i).write);
  // Under the lock: the last owner of a buffer gives it back.
  for (size_t i = 0; i < count_; ++i) use(i).buffer = {};
}

void* ArrayAccess::add(const Array& a, bool write) {
  BC_CHECK(a.device() == stream_.device, Value, "kernel: expected arrays on {}, got one on {}", to_string(stream_.device),
           to_string(a.device()));
  if (!tape_) tape_ = &tape_of(stream_);
  Tape& t = *tape_;
  TapeLock lock(t);
  void* base = data(a);
  // The same array twice, or views of one: our own reference must not make the memory look shared, or it would be copied.
  Use* known = nullptr;
  for (size_t i = 0; i < count_ && !known; ++i)
    if (use(i).buffer.get() == a.storage()->current->buffer.get()) known = &use(i);
  if (known && (known->write || !write)) return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
  if (known) known->buffer = {};
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
  if (!known && count_ >= kInline) more_.emplace_back();
  Use& used = known ? *known : use(count_++);
  used = {buffer, write};
  return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
}

}  // namespace bc
