#pragma once
#include <cstddef>

#include "runtime/backend.h"

namespace bc {

// Page-locked host memory, which costs the driver hundreds of microseconds a piece: what is given back is kept for the next who asks for
// as much. One pool for all devices, since every device can use every piece.

/// nullptr when there is no more. `write_combined`: faster for the device to read, slow for the host, and never kept.
void* pinned_allocate(Device device, size_t bytes, bool write_combined = false);
/// Gives memory back; `bytes` as it was asked for. No queued work may use it any more.
void pinned_free(void* ptr, size_t bytes);

struct PinnedStats {
  size_t used = 0;         ///< bytes handed out
  size_t free = 0;         ///< bytes that wait
  size_t free_blocks = 0;  ///< pieces that wait
};
PinnedStats pinned_stats();
/// Gives what waits back to the system.
void pinned_trim();

}  // namespace bc
