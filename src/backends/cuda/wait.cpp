#include "backends/cuda/wait.h"

#include "backends/cuda/cuda_libraries.h"
#include "runtime/interrupt.h"

namespace bc::cuda {
namespace {

/// Polls the driver's queries where Ctrl-C may end the wait, because the driver's own waits cannot be interrupted.
template <class Query, class Wait>
CUresult wait_for(const Query& query, const Wait& wait, bool sleeps) {
  if (!interrupt::may_end()) return wait();
  const RelaxedCapture relaxed;
  CUresult result = kSuccess;
  interrupt::wait_until([&] { return (result = query()) != kErrorNotReady; }, sleeps);
  return result;
}

}  // namespace

CUresult synchronize_stream(CUstream stream) {
  return wait_for([&] { return driver().cuStreamQuery(stream); }, [&] { return driver().cuStreamSynchronize(stream); }, false);
}

CUresult synchronize_event(CUevent event, bool sleeps) {
  return wait_for([&] { return driver().cuEventQuery(event); }, [&] { return driver().cuEventSynchronize(event); }, sleeps);
}

}  // namespace bc::cuda
