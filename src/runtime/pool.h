#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/backend.h"

namespace bc {

// One memory pool a device. Free memory belongs to the stream it was freed on, where it can be handed out again at once; other streams get
// it after that stream was synchronised. On the CPU, where work runs in the calling thread, there is one stream.

/// Memory for `bytes` bytes (0 is allowed), aligned to 256 bytes (64 on the CPU), contents undefined. Throws ErrorKind::Memory, saying who
/// holds what, when the device or the pool's limit has no more after everything that is free was collected. Thread-safe.
void* pool_allocate(Device device, size_t bytes, void* stream = nullptr);

/// Gives memory back. `stream` is the one whose queued work uses it last. Thread-safe.
void pool_free(Device device, void* ptr, void* stream = nullptr);

/// The bytes that can be used at `ptr`: at least what was asked for.
size_t pool_usable_size(Device device, const void* ptr);

struct PoolStats {
  size_t used = 0;   ///< handed out, after rounding
  size_t held = 0;   ///< chunks taken from the device
  size_t peak = 0;   ///< the largest `used` since the start or pool_reset_peak
  size_t limit = 0;  ///< for `held`; 0: none
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t chunk_allocations = 0;
  size_t free_blocks = 0;  ///< pieces of chunks that hold nothing
};
PoolStats pool_stats(Device device);

/// Caps what the pool takes from the device; 0: no cap. The environment's BROADCLOTH_POOL_LIMIT (bytes, or "80%" of the device) sets the
/// first value.
void pool_set_limit(Device device, size_t bytes);

/// Synchronises the device and gives every chunk back that holds nothing.
void pool_trim(Device device);
void pool_reset_peak(Device device);

/// Tells the pool that all work queued on `stream` so far is done, so that what was freed on it may be used by every stream.
void pool_synchronized(Device device, void* stream);

/// Gives what is free for `stream`, which may be gone, to the default stream, which waits for its work.
void pool_hand_over(Device device, void* stream);

enum class PoolEvent : uint8_t {
  Allocate,       ///< ptr, bytes asked for
  Free,           ///< ptr, bytes handed out
  ChunkAllocate,  ///< ptr, bytes taken from the device
  ChunkFree,      ///< ptr, bytes given back
  Pressure,       ///< `bytes` cannot be had; what the hook frees now is tried before anything slower
};
using PoolHook = std::function<void(PoolEvent event, Device device, void* ptr, size_t bytes)>;

/// Calls `hook` at every event of every pool, in the thread where it happens: Free just before, the others just after. It may call the
/// pool, but not for ChunkAllocate and ChunkFree. Returns a number for pool_remove_hook.
int pool_add_hook(PoolHook hook);
void pool_remove_hook(int hook);

/// Somebody else's allocator (PyTorch's, RMM's) in the place of the arenas. Called with no lock held, from several threads.
class PoolAllocator {
 public:
  virtual ~PoolAllocator() = default;
  /// nullptr: no memory (the pool then raises Pressure, trims, and tries once more).
  virtual void* allocate(size_t bytes, Device device, void* stream) = 0;
  virtual void free(void* ptr, size_t bytes, Device device, void* stream) = 0;
  /// Gives cached memory back to the device.
  virtual void trim(Device device) {}
  /// As pool_synchronized and pool_hand_over.
  virtual void synchronized(Device device, void* stream) {}
  virtual void hand_over(Device device, void* stream) {}
  /// Bytes taken from the device, for pool_stats; 0: as many as are used.
  virtual size_t held(Device device) const { return 0; }
  virtual const char* name() const { return "external"; }
};

/// From now on memory of `device` comes from `allocator`; nullptr: from the pool's own arenas. Memory handed out before goes back to where
/// it came from.
void pool_set_allocator(Device device, std::shared_ptr<PoolAllocator> allocator);

using PoolAllocate = std::function<void*(size_t bytes, int device, void* stream)>;
using PoolFree = std::function<void(void* ptr, size_t bytes, int device, void* stream)>;
/// The same from two functions with the signatures of PyTorch's pluggable allocators.
void pool_set_allocator(Device device, PoolAllocate allocate, PoolFree free);

}  // namespace bc
