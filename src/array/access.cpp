#include "array/access.h"

#include <optional>

#include "array/history.h"
#include "core/error.h"
#include "graph/tape.h"

namespace bc {

ArrayAccess::~ArrayAccess() {
  if (count_ == 0) return;
  Tape& t = *tape_;
  bool peers = false;
  for (size_t i = 0; i < count_; ++i) peers = peers || use(i).peer;
  if (peers) [[unlikely]] {
    Use queued{&t, 0};
    {
      TapeLock lock(t);
      queued.tick = t.submit();
    }
    for (size_t i = 0; i < count_; ++i) {
      Tape* const peer = use(i).peer;
      if (!peer) continue;
      // What the array's own device does with it from now on comes after.
      TapeLock lock(*peer);
      try {
        peer->wait_for(queued);
      } catch (const Error&) {
        // The work failed and its device is lost: who synchronises is told. A destructor must not throw.
      }
      if (many_streams()) peer->after(*use(i).buffer, use(i).write);
      use(i).buffer = {};
    }
  }
  TapeLock lock(t);
  t.submit();
  if (many_streams())
    for (size_t i = 0; i < count_; ++i)
      if (!use(i).peer) t.after(*use(i).buffer, use(i).write);
  // Under the lock: the last owner of a buffer gives it back.
  for (size_t i = 0; i < count_; ++i) use(i).buffer = {};
}

/// Memory of another device: its stream orders the work, and never are two devices' locks held at once.
void* ArrayAccess::add_peer(const Array& a, bool write) {
  BC_CHECK(backend(stream_.device).enable_peer_access(a.device()), Value,
           "kernel: expected arrays on {}, got one on {}, whose memory it cannot use; copy it with asarray(x, device=\"{}\")",
           to_string(stream_.device), to_string(a.device()), to_string(stream_.device));
  Tape& peer = tape(a.device());
  Ref<Buffer> buffer;
  void* base;
  Use ready{&peer, 0};
  {
    TapeLock lock(peer);
    base = data(a);
    if (write) {
      BC_CHECK(!a.storage()->current->buffer->read_only, Value, "kernel: the array is read-only");
      peer.flush();
      flush_others(peer);
      base = own(a);
      ++a.storage()->version;
    }
    buffer = a.storage()->current->buffer;
    if (many_streams()) peer.before(*buffer, write);
    ready.tick = peer.submit();
  }
  TapeLock lock(*tape_);
  tape_->wait_for(ready);
  if (count_ >= kInline) more_.emplace_back();
  use(count_++) = {std::move(buffer), write, &peer};
  return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
}

void* ArrayAccess::add(const Array& a, bool write) {
  leave_history(a);
  if (!tape_) tape_ = &tape_of(stream_);
  if (!(a.device() == stream_.device)) return add_peer(a, write);
  Tape& t = *tape_;
  TapeLock lock(t);
  void* base = data(a);
  // The same array twice, or views of one: our own reference must not make the memory look shared, or it would be copied.
  Held* known = nullptr;
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
  Held& used = known ? *known : use(count_++);
  used = {buffer, write, nullptr};
  return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
}

}  // namespace bc
