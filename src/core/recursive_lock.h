#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace bc {

/// std::recursive_mutex in two atomic operations while nobody else wants it. A word of 32 bits, so that waiting is one futex; a forked
/// child makes a new one in its place. Locked and unlocked by code of libbroadcloth alone: a thread's mark has one address in each library.
class RecursiveLock {
 public:
  RecursiveLock() = default;
  RecursiveLock(const RecursiveLock&) = delete;
  RecursiveLock& operator=(const RecursiveLock&) = delete;

  void lock() {
    // Only the owner can find its own mark here.
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
  /// True where the owner has locked it more than once: an unlock lets nobody in yet.
  bool nested() const { return depth_ != 0; }

 private:
  static constexpr uint32_t kFree = 0, kHeld = 1, kWanted = 2;

  [[gnu::noinline]] void wait() {
    for (int k = 0; k < 100; ++k) {
      uint32_t expected = kFree;
      if (state_.compare_exchange_weak(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) return;
      __builtin_ia32_pause();
    }
    // Who has slept cannot know whether others sleep still, so it leaves the word as wanted.
    while (state_.exchange(kWanted, std::memory_order_acquire) != kFree)
      syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kWanted, nullptr, nullptr, 0);
  }

  [[gnu::tls_model("initial-exec")]] static constinit inline thread_local char mark_ = 0;  // its address names the thread
  std::atomic<uint32_t> state_{kFree};
  std::atomic<const void*> owner_{nullptr};
  uint32_t depth_ = 0;  ///< times the owner locked it again
};

}  // namespace bc
