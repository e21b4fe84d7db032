#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "runtime/backend.h"

namespace bc::cpu {

/// Capture on the CPU: a list of calls for each captured stream. Streams that wait for a captured one write to its list, so that the order
/// of the calls is an order that all of their waits allow.
namespace detail {
extern std::atomic<int> captured_streams;
}

/// Whether the stream's work is to be written down.
bool capturing(Stream stream);
inline bool maybe_capturing() { return detail::captured_streams.load(std::memory_order_acquire) != 0; }
/// Writes a call down, true, where the stream is captured.
bool record(Stream stream, std::function<void()> call);

void begin_capture(Stream stream);
std::unique_ptr<StreamGraph> end_capture(Stream stream);
/// `stream` enters the capture of `other`, if that is in one.
void join_capture(Stream stream, Stream other);

}  // namespace bc::cpu
