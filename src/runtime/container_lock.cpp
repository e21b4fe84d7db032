#include "runtime/container_lock.h"

#include <sched.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace bc::host {
namespace {

constexpr uint32_t kWriter = 1u << 31, kWaiters = 1u << 30;
constexpr int32_t kReadsAfterWrite = 256;  // of the order of what it costs a writer to look at all slots
constexpr int kSpins = 100;
constexpr size_t kSlots = 128;

struct alignas(64) Slot {
  std::atomic<const ContainerLock*> reads;
};
constinit Slot slots[kSlots] = {};

/// A lock that this thread has.
struct Held {
  ContainerLock* lock;
  uint32_t depth;
  ContainerLock::How how;
};
struct Thread {
  static constexpr int kMost = 64;  // more than one only while what a container holds is looked at
  Held held[kMost];
  int count = 0;
  Slot* slot = nullptr;  ///< threads beyond the number of slots share them
};
/// On the heap: there is little room for what every thread has from its start.
Thread& self() {
  thread_local const std::unique_ptr<Thread> t = std::make_unique<Thread>();
  return *t;
}

Slot& slot_of(Thread& t) {
  static constinit std::atomic<size_t> threads{0};
  if (t.slot == nullptr) [[unlikely]]
    t.slot = &slots[threads.fetch_add(1, std::memory_order_relaxed) % kSlots];
  return *t.slot;
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

bool holds_container() { return self().count != 0; }

/// Returns when the state may have changed.
void ContainerLock::wait(uint32_t state) {
  for (int i = 0; i < kSpins; ++i) {
    pause();
    if (state_.load(std::memory_order_relaxed) != state) return;
  }
  if (!(state & kWaiters) && !state_.compare_exchange_strong(state, state | kWaiters, std::memory_order_relaxed)) return;
  state_.wait(state | kWaiters, std::memory_order_relaxed);
}

void ContainerLock::enter_to_write() {
  for (uint32_t state = state_.load(std::memory_order_relaxed);;) {
    if ((state & ~kWaiters) != 0) {
      wait(state);
      state = state_.load(std::memory_order_relaxed);
    } else if (state_.compare_exchange_weak(state, state | kWriter, std::memory_order_acquire, std::memory_order_relaxed)) {
      break;
    }
  }
  if (bias_.load(std::memory_order_relaxed) <= 0) return;
  // A reader writes its slot before it looks at the bias, and here the order is the other way: one of the two sees the other.
  bias_.store(-kReadsAfterWrite, std::memory_order_seq_cst);
  for (const Slot& slot : slots)
    for (int i = 0; slot.reads.load(std::memory_order_seq_cst) == this; ++i) i < kSpins ? pause() : static_cast<void>(sched_yield());
}

ContainerLock::How ContainerLock::enter_to_read() {
  if (bias_.load(std::memory_order_relaxed) > 0) {
    Slot& slot = slot_of(self());
    const ContainerLock* none = nullptr;
    if (slot.reads.compare_exchange_strong(none, this, std::memory_order_seq_cst)) {
      if (bias_.load(std::memory_order_seq_cst) > 0) return How::slot;
      slot.reads.store(nullptr, std::memory_order_release);
    }
  }
  for (uint32_t state = state_.load(std::memory_order_relaxed);;) {
    // Who waits goes first: readers that come and go would keep a writer out for ever.
    if ((state & (kWriter | kWaiters)) != 0) {
      wait(state);
      state = state_.load(std::memory_order_relaxed);
    } else if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      break;
    }
  }
  if (bias_.load(std::memory_order_relaxed) <= 0) bias_.fetch_add(1, std::memory_order_acq_rel);
  return How::counted;
}

void ContainerLock::enter(bool writes) {
  Thread& t = self();
  for (int i = 0; i < t.count; ++i)
    if (t.held[i].lock == this) {
      ++t.held[i].depth;
      return;
    }
  if (t.count == Thread::kMost) std::abort();  // no type is so deep
  How how = How::writing;
  if (writes)
    enter_to_write();
  else
    how = enter_to_read();
  t.held[t.count++] = {this, 1, how};
}

void ContainerLock::leave() {
  Thread& t = self();
  int i = t.count - 1;
  while (t.held[i].lock != this) --i;
  if (--t.held[i].depth != 0) return;
  const How how = t.held[i].how;
  t.held[i] = t.held[--t.count];
  if (how == How::slot) return t.slot->reads.store(nullptr, std::memory_order_release);
  const uint32_t before =
      how == How::writing ? state_.fetch_and(~kWriter, std::memory_order_release) : state_.fetch_sub(1, std::memory_order_release);
  if (!(before & kWaiters) || (how == How::counted && (before & ~kWaiters) != 1)) return;
  // The last one out lets all go on that wait. Where a writer came in meanwhile, it does so when it leaves.
  uint32_t state = kWaiters;
  if (state_.compare_exchange_strong(state, 0, std::memory_order_relaxed)) state_.notify_all();
}

}  // namespace bc::host
