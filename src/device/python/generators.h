// Generators of functions compiled for the CPU: C++ coroutines, whose frames are memory of the engine.
#pragma once
#include "containers.h"

#if !BC_CUDA

// What the compiler asks of <coroutine>.
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
struct Generator;
template <class T>
struct GeneratorPromise {
  T value{};
  Generator<T> get_return_object();
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  std::suspend_always yield_value(const T& v) {
    value = v;
    keep_value(value);
    return {};
  }
  void return_void() {}
  void unhandled_exception() { throw; }
  void* operator new(decltype(sizeof 0) n) { return bc_host->allocate(static_cast<i64>(n)) + 1; }
  void operator delete(void* at) { disown(static_cast<Block*>(at) - 1); }
};
template <class T>
struct GeneratorBody {
  Shared head;
  void* frame;
  static void end_of(Block* block) {
    auto* b = reinterpret_cast<GeneratorBody*>(block + 1);
    std::coroutine_handle<>::from_address(b->frame).destroy();
    bc_host->release(block);
  }
  static void share_of(Block*) {}
};
template <class T>
struct Generator : Ref<GeneratorBody<T>> {
  using promise_type = GeneratorPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;
  Handle handle() const { return Handle::from_address(this->body().frame); }
  /// Runs to the next value; false: there is none.
  bool next() const {
    const Handle h = handle();
    if (h.done()) return false;
    h.resume();
    return !h.done();
  }
  const T& value() const { return handle().promise().value; }
  T next_value() const {
    if (!next()) raise(kStopIteration, "");
    return value();
  }
};
template <class T>
Generator<T> GeneratorPromise<T>::get_return_object() {
  Generator<T> g;
  g.make();
  g.body().frame = Generator<T>::Handle::from_promise(*this).address();
  return g;
}

}  // namespace py
}  // namespace bc
#endif
