#include "array/access.h"

#include <optional>

#include "array/history.h"
#include "core/error.h"
#include "graph/tape.h"

namespace bc {

LastFlushesApart::LastFlushesApart(Tape& t) {
  Buffer::exposed_on_host.fetch_add(1);
  try {
    if (t.others_running() != 0) t.flush();
  } catch (...) {
    Buffer::exposed_on_host.fetch_sub(1);
    throw;
  }
}
LastFlushesApart::~LastFlushesApart() { Buffer::exposed_on_host.fetch_sub(1); }

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
      // Later work of the array's own device waits for this work.
      TapeLock lock(*peer);
      try {
        peer->wait_for(queued);
      } catch (const Error&) {
        // The work failed and its device is lost; the next synchronisation raises the error. A destructor must not throw.
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
  // Under the lock, because releasing the last reference frees the buffer.
  for (size_t i = 0; i < count_; ++i) {
    if (use(i).lent) use(i).buffer->end_loan();
    use(i).buffer = {};
  }
}

void ArrayAccess::share() {
  if (!traits(stream_.device).on_host) return;
  shares_ = true;
  if (count_ == 0) return;
  const TapeLock lock(*tape_);
  const LastFlushesApart last(*tape_);
  for (size_t i = 0; i < count_; ++i) {
    Held& held = use(i);
    if (!held.write || held.lent || held.peer) continue;
    held.buffer->lend();
    held.lent = true;
  }
}

/// Adds memory of another device: this thread's current stream on that device orders the work. The locks of two devices are never held at
/// the same time.
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
  use(count_++) = {std::move(buffer), write, false, &peer};
  return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
}

void* ArrayAccess::add(const Array& a, bool write) {
  leave_history(a, "kernel");
  if (!tape_) tape_ = &tape_of(stream_);
  if (!(a.device() == stream_.device)) return add_peer(a, write);
  Tape& t = *tape_;
  TapeLock lock(t);
  void* base = data(a);
  // If the same array (or a view of it) was added before, our own reference must not count as sharing, or the memory would be copied.
  Held* known = nullptr;
  for (size_t i = 0; i < count_ && !known; ++i)
    if (use(i).buffer.get() == a.storage()->current->buffer.get()) known = &use(i);
  if (known && (known->write || !write)) return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
  if (known) known->buffer = {};
  if (write) {
    const Buffer& buffer = *a.storage()->current->buffer;
    BC_CHECK(!buffer.read_only, Value, "kernel: the array is read-only");
    // Runs pending ops that read the old content, on this stream; if others still need the old value, it is copied.
    std::optional<CurrentTape> current;
    if (many_streams()) current.emplace(t);
    t.flush_own();
    flush_others(t);
    base = shares_ ? lend(a) : own(a);
    ++a.storage()->version;
  }
  const Ref<Buffer>& buffer = a.storage()->current->buffer;
  if (many_streams()) t.before(*buffer, write);
  if (!known && count_ >= kInline) more_.emplace_back();
  Held& used = known ? *known : use(count_++);
  used = {buffer, write, write && shares_, nullptr};
  return static_cast<char*>(base) + a.offset() * itemsize(a.dtype());
}

}  // namespace bc
