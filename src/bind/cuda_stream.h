#pragma once
#include <memory>

#include "bind/convert.h"
#include "graph/tape.h"

namespace bc::bind {

/// The stream that an argument `stream` means on a device: None and 0 the one that this thread uses, 1 the device's default stream, 2 the
/// thread's own, another number a native handle; one of our streams; or another library's (an object with __cuda_stream__, `ptr`, `handle`
/// or `cuda_stream`). On the CPU, where work is done when it is called, other libraries' mean the current one.
/// Throws TypeError, or ValueError when the stream is of another device.
Tape& stream_of(PyObject* o, Device device);
/// The same for one of our streams on its own device, for other arguments on the default device.
Tape& stream_of(PyObject* o);

/// broadcloth's stream type, and its event type.
bool is_stream(PyObject* o);

/// Calls a Python function with arguments from any thread; what it raises is written to sys.unraisablehook.
void call_unraisable(PyObject* f, PyObject* args) noexcept;

}  // namespace bc::bind
