#pragma once
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <cxxabi.h>
#include <pthread.h>
#include <structmember.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/recursive_lock.h"

/// CPython, as far as the binding needs it: the limited API of 3.11 (also builds against the full API of free-threaded Pythons).
namespace bc::bind {

/// Whether Python's threads run at once. "The interpreter's lock" is there what a thread holds while it may touch objects, and a thread
/// that waits without letting go of it holds up whoever wants to stop all threads (the garbage collector).
#ifdef Py_GIL_DISABLED
inline constexpr bool kFreeThreaded = true;
#else
inline constexpr bool kFreeThreaded = false;
#endif

using FastCall = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

/// Thrown when a Python exception is set.
struct PythonError {};

/// The end of the interpreter, and the thread that brings it. It ends others where they next ask for its lock, before 3.14 by unwinding
/// their frames: what these own is then let go without the lock, so references of such threads are left alone.
inline std::atomic<bool> interpreter_ends{false};
inline pthread_t ending_thread{};
inline bool cut_short() { return interpreter_ends.load(std::memory_order_acquire) && !pthread_equal(ending_thread, pthread_self()); }

/// An owned reference.
class PyRef {
 public:
  PyRef() = default;
  PyRef(std::nullptr_t) {}
  static PyRef borrow(PyObject* p) {
    Py_XINCREF(p);
    return PyRef(p);
  }
  /// Takes over a new reference; nullptr throws what Python raised.
  static PyRef steal(PyObject* p) {
    if (!p) throw PythonError();
    return PyRef(p);
  }
  /// Takes over a new reference or nullptr.
  static PyRef maybe(PyObject* p) { return PyRef(p); }
  PyRef(const PyRef& o) : p_(o.p_) { Py_XINCREF(p_); }
  PyRef(PyRef&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  PyRef& operator=(PyRef o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~PyRef() {
    if (p_ && !cut_short()) Py_DECREF(p_);
  }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  explicit PyRef(PyObject* p) : p_(p) {}
  PyObject* p_ = nullptr;
};

inline PyObject* new_ref(PyObject* p) {
  Py_INCREF(p);
  return p;
}

/// Throws PythonError when a call of the C API failed.
inline void check(int status) {
  if (status < 0) throw PythonError();
}

/// Sets the Python exception for the C++ exception that is being handled.
void set_python_error() noexcept;

/// Runs `f` and turns what it throws into a Python exception and `failed`.
template <class F, class R = decltype(std::declval<F>()())>
R guard(R failed, F&& f) {
  try {
    return f();
  } catch (abi::__forced_unwind&) {
    // A daemon thread that the ending interpreter stops.
    throw;
  } catch (...) {
    set_python_error();
    return failed;
  }
}
template <class F>
PyObject* guard(F&& f) {
  return guard(static_cast<PyObject*>(nullptr), std::forward<F>(f));
}

/// Calls a function that takes the interpreter's lock. Where the interpreter is ending it stops daemon threads right there, by unwinding
/// them, which C++ frames do not stand; such a thread sleeps instead until the process is gone (as Python does itself from 3.14 on).
template <class F>
auto or_sleep(F&& take_lock) noexcept {
  try {
    return take_lock();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// Whether this thread has let go of the interpreter's lock, as far as the binding knows.
inline thread_local bool gil_released = false;

/// Lets other Python threads run while kernels do, unless they are so short-running that it is not worth it.
class GilRelease {
 public:
  explicit GilRelease(bool worth_it = true) {
    if (!worth_it) return;
    threads_.fetch_add(1, std::memory_order_relaxed);
    state_ = PyEval_SaveThread();
    gil_released = true;
  }
  ~GilRelease() {
    if (!state_) return;
    or_sleep([&] { PyEval_RestoreThread(state_); });
    gil_released = false;
    threads_.fetch_sub(1, std::memory_order_relaxed);
  }
  /// Whether a thread is at work without the lock. The caller has it.
  static bool any() { return threads_.load(std::memory_order_relaxed) != 0; }

  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  static inline std::atomic<int> threads_{0};
  PyThreadState* state_ = nullptr;
};

/// Runs `f` without the interpreter's lock.
template <class F>
auto without_gil(F&& f) {
  GilRelease released;
  return f();
}
/// Runs `f`, which takes no longer than letting go of the lock and taking it again where the work is `short_running`.
template <class F>
auto without_gil_unless(bool short_running, F&& f) {
  GilRelease released(!short_running);
  return f();
}

/// The interpreter's lock in a thread that may or may not have it.
class GilHold {
 public:
  GilHold() : state_(or_sleep([] { return PyGILState_Ensure(); })), released_(std::exchange(gil_released, false)) {}
  ~GilHold() {
    gil_released = released_;
    PyGILState_Release(state_);
  }
  GilHold(const GilHold&) = delete;
  GilHold& operator=(const GilHold&) = delete;

 private:
  PyGILState_STATE state_;
  bool released_;
};

/// A lock that is held while Python code runs, which may let other threads have the interpreter's lock meanwhile: who waits lets go of it.
/// Recursive. Forked children get it free where another thread had it: threads stop for a fork only where Python runs.
class PyLock {
 public:
  explicit PyLock(RecursiveLock& lock) : lock_(lock) {
    while (!lock_.try_lock()) {
      GilRelease released;
      lock_.lock();
      lock_.unlock();
    }
  }
  ~PyLock() { lock_.unlock(); }
  PyLock(const PyLock&) = delete;
  PyLock& operator=(const PyLock&) = delete;

 private:
  RecursiveLock& lock_;
};

/// What compiles Python functions, and all that it remembers.
RecursiveLock& compiler_lock();

/// A static object of a function that Python code may run to make. A plain static would make others wait for it with the interpreter's lock
/// in their hands, which its maker may need; here whoever is first wins.
template <class T>
class Once {
 public:
  template <class... A>
  T& get(A&&... arguments) {
    return make([&] { return std::make_unique<T>(std::forward<A>(arguments)...); });
  }
  template <class F>
  T& make(F&& f) {
    if (T* made = made_.load(std::memory_order_acquire)) [[likely]]
      return *made;
    std::unique_ptr<T> mine = f();
    T* there = nullptr;
    if (made_.compare_exchange_strong(there, mine.get(), std::memory_order_acq_rel)) return *mine.release();
    return *there;
  }

 private:
  std::atomic<T*> made_{nullptr};
};

/// The same for a Python object, which is kept for ever.
class OnceObject {
 public:
  template <class F>
  PyObject* make(F&& f) {
    if (PyObject* made = made_.load(std::memory_order_acquire)) [[likely]]
      return made;
    PyRef mine = f();
    PyObject* there = nullptr;
    if (made_.compare_exchange_strong(there, mine.get(), std::memory_order_acq_rel)) return mine.release();
    return there;
  }

 private:
  std::atomic<PyObject*> made_{nullptr};
};

/// The interned string of a literal.
#define BC_INTERNED(text)                                                                        \
  ([]() -> PyObject* {                                                                           \
    static constinit ::bc::bind::OnceObject once;                                                \
    return once.make([] { return ::bc::bind::PyRef::steal(PyUnicode_InternFromString(text)); }); \
  }())

[[noreturn]] void throw_python(PyObject* type, const char* message);

std::string_view as_string(PyObject* unicode);
inline PyRef to_py(std::string_view s) { return PyRef::steal(PyUnicode_FromStringAndSize(s.data(), static_cast<Py_ssize_t>(s.size()))); }
inline PyRef to_py(int64_t v) { return PyRef::steal(PyLong_FromLongLong(v)); }
inline PyRef import(const char* module) { return PyRef::steal(PyImport_ImportModule(module)); }
inline PyRef attr(PyObject* o, const char* name) { return PyRef::steal(PyObject_GetAttrString(o, name)); }
/// The attribute, or null when there is none; other errors throw.
PyRef attr_or_null(PyObject* o, PyObject* name);
PyRef import_attr(const char* module, const char* name);
PyRef call(PyObject* f, std::initializer_list<PyObject*> args, PyObject* kwargs = nullptr);
PyRef tuple_of(std::initializer_list<PyObject*> items);
const char* type_name(PyObject* o);

/// The name of a type without its module, for error messages.
inline bool is_exact(PyObject* o, PyTypeObject* t) { return Py_TYPE(o) == t; }

}  // namespace bc::bind
