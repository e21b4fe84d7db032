#pragma once
#include <pthread.h>

#include <atomic>

namespace bc {

/// What has to be still before the libraries that work calls into (CUDA's driver, NVRTC) take down their own state at the end of the
/// process: `barrier` returns when no other thread is inside such work, or after some seconds.
void set_exit_barrier(void (*barrier)());

/// Puts the barrier, and then the end of library calls (LibraryCall), before the exit handlers of all libraries that are open by now; for
/// who opened one, and for the end of the interpreter, before which libraries may have opened others by themselves.
void arm_exit_barrier();

/// Whether the end of the process has come so far that only its own thread calls libraries.
bool exit_begun();

namespace detail {
/// A thread's calls into libraries, one inside the other. Never freed.
struct LibraryThread {
  std::atomic<int> depth{0};
  LibraryThread* next = nullptr;  ///< all there ever were
  std::atomic<pthread_t> owner{};
  std::atomic<bool> used{true};  ///< has a living thread
};
extern std::atomic<bool> library_calls_ended;
[[gnu::tls_model("initial-exec")]] inline constinit thread_local LibraryThread* library_thread = nullptr;
LibraryThread& register_library_thread();
/// Returns for the thread that ends the process and for one that is inside a call already; all others sleep until the process is gone.
void enter_after_end(LibraryThread& thread);
}  // namespace detail

/// Around a call into a library that takes its state down by an exit handler. The end of the process waits for those that are under way and
/// begins no other, so that no thread is inside a library that is going. Costs two stores to memory of the thread's own.
class LibraryCall {
 public:
  LibraryCall() : thread_(detail::library_thread ? *detail::library_thread : detail::register_library_thread()) {
    thread_.depth.store(thread_.depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // The one who ends the calls waits first until all threads' stores are seen, so that no fence is needed here.
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

/// A library's function whose calls are LibraryCalls.
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
  /// What dlsym found.
  void set(void* symbol) { pointer_ = reinterpret_cast<Pointer>(symbol); }

 private:
  Pointer pointer_ = nullptr;
};

}  // namespace bc
