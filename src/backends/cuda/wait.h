#pragma once
#include "backends/cuda/cuda_api.h"

namespace bc::cuda {

// Like the driver's functions of these names, but Ctrl-C ends the wait of the main thread: Interrupted is thrown, and the device's work
// goes on. So the memory that this work uses must not be freed when Interrupted is caught.

CUresult synchronize_stream(CUstream stream);
/// `sleeps`: the thread sleeps while it waits (EventOptions::blocking).
CUresult synchronize_event(CUevent event, bool sleeps = false);

}  // namespace bc::cuda
