#pragma once
#include <atomic>

namespace bc {

// Calls of the host that streams have to make (Stream.launch_host_func) may need a lock of the program's, Python's. The driver lets who
// queues work wait while a queue is full, and freeing waits for the device: who held the lock then would wait for a call that waits for the
// lock.

/// How many calls of the host are queued, or are in graphs.
extern std::atomic<int> queued_host_calls;

/// Around calls of the driver that may wait, and around waits for those who make them: gives the program's lock up while calls of the host
/// are queued. What it gave up is taken back when it ends, so that no lock of the engine's may be held around it.
class HostWait {
 public:
  HostWait() {
    if (queued_host_calls.load(std::memory_order_relaxed) != 0) [[unlikely]]
      left_ = leave();
  }
  ~HostWait() {
    if (left_) [[unlikely]]
      enter(left_);
  }
  HostWait(const HostWait&) = delete;
  HostWait& operator=(const HostWait&) = delete;

 private:
  static void* leave();
  static void enter(void* left);
  void* left_ = nullptr;
};

/// `leave` gives the lock up and returns nullptr where the thread does not have it, `enter` takes it back. Set once.
void set_host_wait(void* (*leave)(), void (*enter)(void*));

}  // namespace bc
