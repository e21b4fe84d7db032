// Generators of functions compiled for the CPU: C++ coroutines, whose frames are memory of the engine.
#pragma once
#include "containers.h"

#if !BC_CUDA

// The parts of <coroutine> that the compiler needs.
namespace std {
template <class R, class...>
struct coroutine_traits {
  using promise_type = typename R::promise_type;
};
template <class P = void>
struct coroutine_handle;
template <>
struct coroutine_handle<void> {
  void* frame = nullptr;
  static coroutine_handle from_address(void* at) noexcept { return {at}; }
  void* address() const noexcept { return frame; }
  void resume() const { __builtin_coro_resume(frame); }
  void destroy() const { __builtin_coro_destroy(frame); }
  bool done() const noexcept { return __builtin_coro_done(frame); }
};
template <class P>
struct coroutine_handle {
  void* frame = nullptr;
  static coroutine_handle from_address(void* at) noexcept { return {at}; }
  static coroutine_handle from_promise(P& p) noexcept { return {__builtin_coro_promise(&p, alignof(P), true)}; }
  void* address() const noexcept { return frame; }
  operator coroutine_handle<>() const noexcept { return {frame}; }
  void resume() const { __builtin_coro_resume(frame); }
  void destroy() const { __builtin_coro_destroy(frame); }
  bool done() const noexcept { return __builtin_coro_done(frame); }
  P& promise() const noexcept { return *static_cast<P*>(__builtin_coro_promise(frame, alignof(P), false)); }
};
struct suspend_always {
  bool await_ready() const noexcept { return false; }
  void await_suspend(coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept {}
};
}  // namespace std

namespace bc {
namespace py {

template <class T>
struct StartedGenerator;
/// A value of a generator that has a `finally`. It is resumed by true where nobody asks for more: it then does what is done last.
template <class T>
struct LastingValue {
  T value;
};
struct Resumed {
  const bool& ends;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  bool await_resume() const noexcept { return ends; }
};
template <class T>
struct GeneratorPromise {
  T value{};
  bool lasts = false, ends = false;
  StartedGenerator<T> get_return_object() noexcept;
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  std::suspend_always yield_value(const T& v) {
    value = v;
    keep_value(value);
    return {};
  }
  Resumed yield_value(const LastingValue<T>& v) {
    yield_value(v.value);
    lasts = true;
    return {ends};
  }
  void return_void() {}
  void unhandled_exception() { throw; }
  void* operator new(decltype(sizeof 0) n) { return bc_host->allocate(static_cast<i64>(n)) + 1; }
  void operator delete(void* at) { disown(static_cast<Block*>(at) - 1); }
};
/// A generator's frame and the protocol of its values.
template <class T>
struct GeneratorFrame {
  using Handle = std::coroutine_handle<GeneratorPromise<T>>;
  Handle handle;
  /// Runs to the next value; false at the end.
  BC_INLINE bool next() const {
    if (handle.done()) return false;
    handle.resume();
    return !handle.done();
  }
  BC_INLINE const T& value() const { return handle.promise().value; }
  BC_INLINE void end() const {
    if (handle.promise().lasts && !handle.done()) {
      handle.promise().ends = true;
      try {
        handle.resume();
      } catch (...) {
        // Nobody is left who could be told, as in Python.
      }
    }
    handle.destroy();
  }
  BC_INLINE T next_value() const {
    if (!next()) raise(kStopIteration, "");
    return value();
  }
};
/// The result of calling a generator function. A loop over the call is its only owner, so the compiler can inline the frame; other uses
/// convert it to a Generator.
template <class T>
struct StartedGenerator : GeneratorFrame<T> {
  using promise_type = GeneratorPromise<T>;
  mutable bool owned = true;
  BC_INLINE explicit StartedGenerator(typename GeneratorFrame<T>::Handle h) noexcept : GeneratorFrame<T>{h} {}
  StartedGenerator(const StartedGenerator&) = delete;
  BC_INLINE ~StartedGenerator() {
    if (owned) this->end();
  }
};
template <class T>
BC_INLINE StartedGenerator<T> GeneratorPromise<T>::get_return_object() noexcept {
  return StartedGenerator<T>(GeneratorFrame<T>::Handle::from_promise(*this));
}
template <class T>
struct GeneratorBody {
  Shared head;
  GeneratorFrame<T> frame;
  static void end_of(Block* block) {
    reinterpret_cast<GeneratorBody*>(block + 1)->frame.end();
    bc_host->release(block);
  }
  static void share_of(Block*) {}
};
/// A generator that variables share.
template <class T>
struct Generator : Ref<GeneratorBody<T>> {
  Generator() = default;
  Generator(const StartedGenerator<T>& started) {
    this->make();
    this->body().frame = started;
    started.owned = false;
  }
  bool next() const { return this->body().frame.next(); }
  const T& value() const { return this->body().frame.value(); }
  T next_value() const { return this->body().frame.next_value(); }
};

}  // namespace py
}  // namespace bc
#endif
