#pragma once
#include <atomic>

namespace bc {

// Host functions queued on streams (Stream.launch_host_func) may need the GIL. A thread that queues work waits in the driver while the
// stream's queue is full, and freeing memory waits for the device. If that thread held the GIL, it would wait for a host function that
// waits for the GIL.

/// How many host functions are queued on streams or are nodes of graphs.
extern std::atomic<int> queued_host_calls;

/// Releases the GIL for its scope while host functions are queued. Used around driver calls that may block, and around waits for threads
/// that make such calls. Its destructor takes the GIL again, so no lock of the engine may be held around it.
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

/// Sets the functions that release and take the GIL. `leave` returns nullptr where the thread does not hold it. Called once.
void set_host_wait(void* (*leave)(), void (*enter)(void*));

}  // namespace bc
