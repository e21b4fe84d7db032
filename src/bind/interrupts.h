#pragma once
#include <Python.h>

/// Signals of Python that end long computations (runtime/interrupt.h).
namespace bc::bind {

/// Sets the exception of the signal handler that ended a computation.
void raise_interrupt();
/// Whether there is one.
bool interrupt_waits();
void init_interrupts(PyObject* module);

}  // namespace bc::bind
