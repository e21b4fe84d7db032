#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace bc {

/// A recursive mutex that takes two atomic operations when it is not contended. Its state is a 32-bit word, so that a waiting thread sleeps
/// on one futex; a forked child constructs a new lock in its place. Only libbroadcloth may lock and unlock it: another shared library would
/// have its own `mark_` for the same thread.
class RecursiveLock {
 public:
  RecursiveLock() = default;
  RecursiveLock(const RecursiveLock&) = delete;
  RecursiveLock& operator=(const RecursiveLock&) = delete;

  void lock() {
    // Only the owning thread can read its own mark here, so a relaxed load is enough.
    if (owner_.load(std::memory_order_relaxed) == &mark_) {
      ++depth_;
      return;
    }
    uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) [[unlikely]]
      wait();
    owner_.store(&mark_, std::memory_order_relaxed);
  }
  bool try_lock() {
    if (owner_.load(std::memory_order_relaxed) == &mark_) {
      ++depth_;
      return true;
    }
    uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) return false;
    owner_.store(&mark_, std::memory_order_relaxed);
    return true;
  }
  void unlock() {
    if (depth_ != 0) {
      --depth_;
      return;
    }
    owner_.store(nullptr, std::memory_order_relaxed);
    if (state_.exchange(kFree, std::memory_order_release) == kWanted) [[unlikely]]
      syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  /// Unlocks it however often the owner has locked it, and returns how often that was beyond the first time: the depth for restore().
  uint32_t release() {
    const uint32_t depth = depth_;
    depth_ = 0;
    unlock();
    return depth;
  }
  /// Called by the owner, which has just locked it once.
  void restore(uint32_t depth) { depth_ = depth; }
  bool owned() const { return owner_.load(std::memory_order_relaxed) == &mark_; }
  /// True when the owner has locked it more than once: the next unlock does not release it yet.
  bool nested() const { return depth_ != 0; }

 private:
  static constexpr uint32_t kFree = 0, kHeld = 1, kWanted = 2;

  [[gnu::noinline]] void wait() {
    for (int k = 0; k < 100; ++k) {
      uint32_t expected = kFree;
      if (state_.compare_exchange_weak(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) return;
      __builtin_ia32_pause();
    }
    // A thread that has slept cannot know whether other threads still sleep, so it sets the state to kWanted: its unlock wakes the next
    // one.
    while (state_.exchange(kWanted, std::memory_order_acquire) != kFree)
      syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kWanted, nullptr, nullptr, 0);
  }

  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local char mark_ = 0;  // its address identifies the thread
  std::atomic<uint32_t> state_{kFree};
  std::atomic<const void*> owner_{nullptr};
  uint32_t depth_ = 0;  ///< how many times the owner has locked it again
};

}  // namespace bc
