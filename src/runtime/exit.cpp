#include "runtime/exit.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace bc {
namespace detail {

std::atomic<bool> library_calls_ended{false};

}  // namespace detail

namespace {

using detail::LibraryThread;

std::atomic<void (*)()> exit_barrier{nullptr};
std::atomic<LibraryThread*> library_threads{nullptr};
pthread_t closer{};  // the thread that ends the process; written before library_calls_ended

/// Releases a thread's LibraryThread at the thread's end, so that another thread can reuse it.
struct Leave {
  ~Leave() {
    LibraryThread* mine = std::exchange(detail::library_thread, nullptr);
    if (mine) mine->used.store(false, std::memory_order_release);
  }
};

/// Makes the stores of other threads visible here, as if each thread had executed a fence.
void fence_all_threads() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // A store becomes visible to other processors in less than a microsecond. (membarrier(2) would guarantee it, but its registration takes
  // 10 ms in a process with threads, which would delay the first kernel.)
  std::this_thread::sleep_for(std::chrono::microseconds(100));
}

/// After this, only the calling thread may call libraries. Returns when no other thread is inside a library, or after five seconds.
void end_library_calls() {
  closer = pthread_self();
  detail::library_calls_ended.store(true);
  fence_all_threads();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (LibraryThread* t = library_threads.load(std::memory_order_acquire); t; t = t->next)
    while (!pthread_equal(t->owner.load(std::memory_order_relaxed), closer) && t->depth.load(std::memory_order_acquire) != 0 &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
}

}  // namespace

namespace detail {

LibraryThread& register_library_thread() {
  static const bool prepared = [] {
    // A forked child has only the forking thread; the library calls of the parent's other threads never end there.
    pthread_atfork(nullptr, nullptr, [] {
      for (LibraryThread* t = library_threads.load(); t; t = t->next)
        if (!pthread_equal(t->owner.load(), pthread_self())) t->depth.store(0);
    });
    return true;
  }();
  (void)prepared;
  LibraryThread* mine = library_threads.load(std::memory_order_acquire);
  for (; mine; mine = mine->next) {
    bool free = false;
    if (!mine->used.load(std::memory_order_relaxed) && mine->used.compare_exchange_strong(free, true, std::memory_order_acq_rel)) break;
  }
  if (!mine) {
    mine = new LibraryThread;
    mine->next = library_threads.load(std::memory_order_relaxed);
    while (!library_threads.compare_exchange_weak(mine->next, mine, std::memory_order_acq_rel)) {}
  }
  mine->owner.store(pthread_self(), std::memory_order_relaxed);
  library_thread = mine;
  static thread_local Leave leave;
  static_cast<void>(&leave);
  return *mine;
}

void enter_after_end(LibraryThread& thread) {
  detail::library_calls_ended.load(std::memory_order_acquire);  // `closer` was written before it
  if (pthread_equal(closer, pthread_self()) || thread.depth.load(std::memory_order_relaxed) > 1) return;
  thread.depth.store(0, std::memory_order_release);
  for (;;) pause();
}

}  // namespace detail

bool exit_begun() { return detail::library_calls_ended.load(std::memory_order_relaxed); }

void set_exit_barrier(void (*barrier)()) { exit_barrier.store(barrier); }

void arm_exit_barrier() {
  // Handlers run in the reverse order of their registration.
  std::atexit([] {
    // arm_exit_barrier() may register this handler several times; only the first run has work to do.
    if (detail::library_calls_ended.load()) return;
    if (auto* barrier = exit_barrier.load()) barrier();
    end_library_calls();
  });
}

}  // namespace bc
