#include "graph/node.h"

#include "core/recycle.h"
#include "graph/aliases.h"
#include "graph/tape.h"
#include "runtime/pool.h"

namespace bc {
namespace {

// Release functions of foreign memory may take other locks (the GIL), so they run only when this thread holds no tape's lock.
[[gnu::tls_model("initial-exec")]] constinit thread_local int held_tapes = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local int waiting_releases = 0;
thread_local std::vector<std::function<void()>> releases;

void run_releases() {
  waiting_releases = 0;
  while (!releases.empty()) {
    auto release = std::move(releases.back());
    releases.pop_back();
    release();
  }
}

}  // namespace

namespace {

void* (*leave_for_wait)() = nullptr;
void (*enter_after_wait)(void*) = nullptr;

[[gnu::noinline]] void lock_contended(RecursiveLock& mutex) {
  // Takes the GIL back while it does not hold the tape's lock: the thread that holds the GIL may be waiting for that lock.
  while (void* const left = leave_for_wait ? leave_for_wait() : nullptr) {
    mutex.lock();
    mutex.unlock();
    enter_after_wait(left);
    if (mutex.try_lock()) return;
  }
  mutex.lock();
}

}  // namespace

void set_lock_wait(void* (*leave)(), void (*enter)(void*)) {
  leave_for_wait = leave;
  enter_after_wait = enter;
}

TapeLock::TapeLock(Tape& tape) : tape_(tape) {
  if (!tape_.mutex().try_lock()) [[unlikely]]
    lock_contended(tape_.mutex());
  ++held_tapes;
}

TapeUnlock::TapeUnlock(Tape& t) : tape(t), depth(t.mutex().release()) {}

TapeUnlock::~TapeUnlock() {
  if (!tape.mutex().try_lock()) lock_contended(tape.mutex());
  tape.mutex().restore(depth);
}

PythonUnlock::PythonUnlock(Tape& t) : tape(t), left(leave_for_wait ? leave_for_wait() : nullptr) {}

PythonUnlock::~PythonUnlock() {
  if (!left) return;
  const TapeUnlock unlocked(tape);
  enter_after_wait(left);
}

TapeLock::~TapeLock() {
  if (tape_.unowned() && !tape_.mutex().nested()) [[unlikely]]
    tape_.mark();
  tape_.mutex().unlock();
  if (--held_tapes == 0 && waiting_releases) run_releases();
}

void release_unlocked(std::function<void()> release) {
  releases.push_back(std::move(release));
  ++waiting_releases;
  if (held_tapes == 0) run_releases();
}

void* Buffer::operator new(size_t) { return Recycler<Buffer>::get(); }
void Buffer::operator delete(void* p) { Recycler<Buffer>::put(p); }
void* Node::operator new(size_t) { return Recycler<Node>::get(); }
void Node::operator delete(void* p) { Recycler<Node>::put(p); }
void* Storage::operator new(size_t) { return Recycler<Storage>::get(); }
void Storage::operator delete(void* p) { Recycler<Storage>::put(p); }

Ref<Buffer> Buffer::allocate(Device device, size_t bytes) {
  auto* b = new Buffer;
  b->device = device;
  b->bytes = bytes;
  Ref<Buffer> ref = Ref<Buffer>::first(b);
  if (!many_streams()) [[likely]] {
    b->ptr = pool_allocate(device, bytes);
    return ref;
  }
  // Earlier work of the stream may still use the memory, so the buffer counts as written by it and other streams wait for that work.
  Tape& t = tape(device);
  b->ptr = pool_allocate(device, bytes, t.stream().native);
  TapeLock lock(t);
  b->uses.write = {&t, t.tick()};
  if (t.capture()) t.capture()->keep(*b);
  return ref;
}

std::atomic<int64_t> Buffer::exposed_on_host{0};

void Buffer::update_exposed() {
  const bool now = exposed_for_good || loans != 0;
  if (now != exposed && traits(device).on_host) exposed_on_host.fetch_add(now ? 1 : -1);
  exposed = now;
}

void Buffer::expose(bool on) {
  exposed_for_good = on;
  update_exposed();
}

void Buffer::lend() {
  ++loans;
  update_exposed();
}

void Buffer::end_loan() {
  --loans;
  update_exposed();
}

Ref<Buffer> Buffer::foreign(Device device, void* ptr, size_t bytes, std::function<void()> release) {
  auto* b = new Buffer;
  b->device = device;
  b->ptr = ptr;
  b->bytes = bytes;
  b->expose(true);
  b->release = release ? std::move(release) : [] {};
  return b;
}

namespace {

/// The stream that used a buffer last, or the default stream if that stream is another device's or is unowned.
Tape& last_user(const Buffer& buffer) {
  const Uses& uses = uses_of(buffer);
  Tape* last = uses.read.tape && uses.read.tape->device() == buffer.device ? uses.read.tape : uses.write.tape;
  return last && last->device() == buffer.device && !last->unowned() ? *last : default_tape(buffer.device);
}

/// Makes `last` wait for the other streams that use a buffer.
void wait_for_others(Tape& last, const Buffer& buffer) noexcept {
  try {
    last.wait_for_uses(buffer);
  } catch (...) {
    // The device is lost and its work has ended; the error is raised when the work's stream is synchronised.
  }
}

/// Returns memory to the pool, for the stream that used it last.
void free_in_order(Buffer& buffer) noexcept {
  if (!uses_of(buffer).write.tape) return pool_free(buffer.device, buffer.ptr);
  Tape& last = last_user(buffer);
  const Uses& uses = uses_of(buffer);
  if (&last != uses.write.tape || uses.reads || (uses.read.tape && uses.read.tape != &last)) {
    TapeLock lock(last);
    wait_for_others(last, buffer);
  }
  pool_free(buffer.device, buffer.ptr, last.stream().native);
}

/// Returns foreign memory to its owner once all queued work that uses it is done, because the owner does not know our streams. Until then
/// the buffer stays among its aliases, so that a new import of the same memory is ordered after that work.
void release_in_order(Buffer* buffer) noexcept {
  if (!traits(buffer->device).asynchronous) {
    release_unlocked(std::move(buffer->release));
    delete buffer;
    return;
  }
  Tape& last = last_user(*buffer);
  TapeLock lock(last);
  wait_for_others(last, *buffer);
  const auto release = [buffer] {
    const std::function<void()> to_owner = std::move(buffer->release);
    forget_uses(*buffer);
    delete buffer;
    to_owner();
  };
  last.keep(release, true);
}

}  // namespace

void destroy(Buffer* buffer) {
  buffer->expose(false);
  if (buffer->release) return release_in_order(buffer);
  if (buffer->ptr) free_in_order(*buffer);
  forget_uses(*buffer);
  delete buffer;
}

void destroy(Node* node) {
  if (node->tape) node->tape->forget(node);
  delete node;
}

Storage::Storage(Ref<Node> value) : device(value->device), current(std::move(value)) { ++current->handles; }

Storage::~Storage() { --current->handles; }

void Storage::rebind(Ref<Node> value) {
  ++value->handles;
  --current->handles;
  current = std::move(value);
  ++version;
  notice.store(nullptr, std::memory_order_relaxed);
}

std::atomic<int64_t> History::live{0};

void destroy(History* history) {
  // The outermost call of a thread deletes the histories one after the other; nested calls only add to its list, so that a long chain does
  // not overflow the stack.
  static constinit thread_local std::vector<History*>* waiting = nullptr;
  if (waiting) return waiting->push_back(history);
  std::vector<History*> all{history};
  waiting = &all;
  while (!all.empty()) {
    History* next = all.back();
    all.pop_back();
    delete next;
  }
  waiting = nullptr;
}

void destroy(Storage* storage) {
  // A history owns arrays, whose destruction takes locks of other tapes: it is destroyed after this tape's lock is released.
  const Ref<History> history = std::move(storage->history);
  // A flush in another thread may read the handle count, so it is changed under the lock.
  TapeLock lock(tape(storage->device));
  delete storage;
}

}  // namespace bc
