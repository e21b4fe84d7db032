#pragma once
#include <cstddef>

#include "runtime/backend.h"

namespace bc {

// A pool of page-locked host memory. Each allocation costs the driver hundreds of microseconds, so a freed piece is kept for the next
// request of the same size. One pool serves all devices, since every device can use every piece.

/// Returns nullptr when the system has no more memory. `write_combined`: faster for the device to read and slow for the host; such a piece
/// is never kept in the pool.
void* pinned_allocate(Device device, size_t bytes, bool write_combined = false);
/// Frees memory; `bytes` is the size that was requested. No queued work may still use it.
void pinned_free(void* ptr, size_t bytes);

struct PinnedStats {
  size_t used = 0;         ///< bytes in use
  size_t free = 0;         ///< bytes kept in the pool
  size_t free_blocks = 0;  ///< pieces kept in the pool
};
PinnedStats pinned_stats();
/// Returns all kept pieces to the system.
void pinned_trim();

}  // namespace bc
