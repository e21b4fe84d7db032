#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "runtime/backend.h"

namespace bc::cpu {

/// Capture on the CPU: a list of calls for each capture. A stream that waits for a captured stream records to the same list, so the order
/// of the list satisfies all waits between the streams.
namespace detail {
extern std::atomic<int> captured_streams;
}

/// Whether the stream's work is being captured.
bool capturing(Stream stream);
inline bool maybe_capturing() { return detail::captured_streams.load(std::memory_order_acquire) != 0; }
/// If the stream is captured, adds a call to its list and returns true.
bool record(Stream stream, std::function<void()> call);

void begin_capture(Stream stream);
std::unique_ptr<StreamGraph> end_capture(Stream stream);
/// `stream` joins the capture of `other`, if `other` is captured.
void join_capture(Stream stream, Stream other);

}  // namespace bc::cpu
