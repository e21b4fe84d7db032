#pragma once
#include <pthread.h>

#include <atomic>

namespace bc {

/// Sets the function that runs at the end of the process before the exit handlers of libraries such as CUDA's driver and NVRTC. `barrier`
/// returns when no other thread is inside work that calls these libraries, or after a few seconds.
void set_exit_barrier(void (*barrier)());

/// Registers an exit handler that runs the barrier and then ends library calls (LibraryCall). It runs before the exit handlers of all
/// libraries that are open now. Called after a library was opened, and once more when the interpreter ends, since libraries may have opened
/// others.
void arm_exit_barrier();

/// Whether the process is ending and only the exiting thread may call libraries.
bool exit_begun();

namespace detail {
/// How deeply one thread's library calls are nested. Never freed.
struct LibraryThread {
  std::atomic<int> depth{0};
  LibraryThread* next = nullptr;  ///< the list of all records
  std::atomic<pthread_t> owner{};
  std::atomic<bool> used{true};  ///< belongs to a living thread
};
extern std::atomic<bool> library_calls_ended;
[[gnu::tls_model("initial-exec")]] inline constinit thread_local LibraryThread* library_thread = nullptr;
LibraryThread& register_library_thread();
/// Returns for the exiting thread and for a thread that is already inside a call; any other thread sleeps until the process has ended.
void enter_after_end(LibraryThread& thread);
}  // namespace detail

/// The scope of a call into a library that destroys its state in an exit handler. At exit the process waits for running calls and lets no
/// new one begin, so that no thread is inside a library while it shuts down. Costs two stores to thread-local memory.
class LibraryCall {
 public:
  LibraryCall() : thread_(detail::library_thread ? *detail::library_thread : detail::register_library_thread()) {
    thread_.depth.store(thread_.depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // end_library_calls() waits until the stores of all threads are visible, so no fence is needed here.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (detail::library_calls_ended.load(std::memory_order_relaxed)) [[unlikely]]
      detail::enter_after_end(thread_);
  }
  ~LibraryCall() { thread_.depth.store(thread_.depth.load(std::memory_order_relaxed) - 1, std::memory_order_release); }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  detail::LibraryThread& thread_;
};

/// A function of a library; each call of it is a LibraryCall.
template <class F>
class LibraryFunction;
template <class R, class... A>
class LibraryFunction<R(A...)> {
 public:
  using Pointer = R (*)(A...);
  R operator()(A... arguments) const {
    const LibraryCall call;
    return pointer_(arguments...);
  }
  explicit operator bool() const { return pointer_ != nullptr; }
  Pointer pointer() const { return pointer_; }
  /// Stores the address that dlsym returned.
  void set(void* symbol) { pointer_ = reinterpret_cast<Pointer>(symbol); }

 private:
  Pointer pointer_ = nullptr;
};

}  // namespace bc
