#include "bind/interrupts.h"

#include <csignal>

#include "bind/py.h"
#include "runtime/interrupt.h"

namespace bc::bind {
namespace {

/// What a handler raised while the main thread computed, until the call that it ended returns.
struct Waiting {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
};
Waiting waiting;

bool run_handlers() {
  if (PyErr_CheckSignals() == 0) return false;
  Py_XDECREF(waiting.type);
  Py_XDECREF(waiting.value);
  Py_XDECREF(waiting.traceback);
  PyErr_Fetch(&waiting.type, &waiting.value, &waiting.traceback);
  return true;
}

bool ask(interrupt::Mode mode) {
  if (!Py_IsInitialized() || interpreter_ends.load(std::memory_order_acquire)) return false;
  GilHold hold;
  if (PyErr_Occurred()) return false;
  return mode == interrupt::Mode::look ? PyOS_InterruptOccurred() != 0 : run_handlers();
}

bool deliver() {
  GilHold hold;
  PyErr_SetInterruptEx(SIGINT);
  return run_handlers();
}

/// The thread that runs handlers of signals. Where the process's first thread imports this it is that one, and Python's module of threads,
/// which takes as long to load as the rest of this file's work, is left to who uses it.
pthread_t main_thread() {
  if (gettid() == getpid()) return pthread_self();
  PyRef main = call(import_attr("threading", "main_thread").get(), {});
  const auto id = static_cast<uintptr_t>(PyLong_AsUnsignedLong(attr(main.get(), "ident").get()));
  if (PyErr_Occurred()) throw PythonError();
  return reinterpret_cast<pthread_t>(id);
}

}  // namespace

void raise_interrupt() {
  if (waiting.type == nullptr) return PyErr_SetNone(PyExc_KeyboardInterrupt);
  PyErr_Restore(waiting.type, waiting.value, waiting.traceback);
  waiting = {};
}

bool interrupt_waits() { return waiting.type != nullptr; }

void init_interrupts(PyObject*) { interrupt::set_front_end({main_thread(), ask, deliver}); }

}  // namespace bc::bind
