#pragma once
#include "backends/cuda/cuda_api.h"

namespace bc::cuda {

// As the driver's calls of these names, but Ctrl-C ends the wait of the main thread: Interrupted is thrown, and the device's work goes on.
// So what that work uses must stay, whoever catches it.

CUresult synchronize_stream(CUstream stream);
/// `sleeps`: the thread sleeps while it waits, as the event's maker asked.
CUresult synchronize_event(CUevent event, bool sleeps = false);

}  // namespace bc::cuda
