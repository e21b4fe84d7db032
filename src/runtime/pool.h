#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/backend.h"

namespace bc {

// One memory pool for each device. Freed memory belongs to the stream on which it was freed, which can reuse it at once; other streams can
// reuse it after that stream was synchronised. The CPU, where work runs in the calling thread, has one stream.

/// Memory for `bytes` bytes (0 is allowed), aligned to 256 bytes (64 on the CPU), contents undefined. Throws ErrorKind::Memory with a
/// summary of the pool's use when the request fails even after all free memory was collected. Thread-safe.
void* pool_allocate(Device device, size_t bytes, void* stream = nullptr);

/// Frees memory. `stream` is the stream whose queued work uses it last. Thread-safe.
void pool_free(Device device, void* ptr, void* stream = nullptr);

/// The usable bytes at `ptr`: at least the requested size.
size_t pool_usable_size(Device device, const void* ptr);

struct PoolStats {
  size_t used = 0;   ///< bytes in use, after rounding
  size_t held = 0;   ///< bytes of the chunks taken from the device
  size_t peak = 0;   ///< the largest `used` since the start or pool_reset_peak
  size_t limit = 0;  ///< of `held`; 0: no limit
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t chunk_allocations = 0;
  size_t free_blocks = 0;  ///< free blocks inside chunks
};
PoolStats pool_stats(Device device);

/// Limits the bytes that the pool takes from the device; 0: no limit. The environment's BROADCLOTH_POOL_LIMIT (bytes, or "80%" of the
/// device) sets the first value.
void pool_set_limit(Device device, size_t bytes);

/// Synchronises the device and returns every empty chunk to it.
void pool_trim(Device device);
void pool_reset_peak(Device device);

/// Tells the pool that all work queued on `stream` so far is done, so that every stream may reuse memory freed on it.
void pool_synchronized(Device device, void* stream);

/// Moves the free memory of `stream`, which may be destroyed already, to the default stream. The default stream waits for that stream's
/// work.
void pool_hand_over(Device device, void* stream);

enum class PoolEvent : uint8_t {
  Allocate,       ///< ptr, requested bytes
  Free,           ///< ptr, allocated bytes
  ChunkAllocate,  ///< ptr, bytes taken from the device
  ChunkFree,      ///< ptr, bytes given back
  Pressure,       ///< no memory for `bytes`; memory that the hook frees now is tried before slower steps
};
using PoolHook = std::function<void(PoolEvent event, Device device, void* ptr, size_t bytes)>;

/// Calls `hook` at every event of every pool, in the thread where it happens: Free just before, the others just after. The hook may call
/// the pool, except at ChunkAllocate and ChunkFree. Returns an id for pool_remove_hook.
int pool_add_hook(PoolHook hook);
void pool_remove_hook(int hook);

/// An external allocator (PyTorch's, RMM's) that replaces the pool's arenas. Called from several threads, without a lock held.
class PoolAllocator {
 public:
  virtual ~PoolAllocator() = default;
  /// Returns nullptr when it has no memory; the pool then sends Pressure, trims, and tries once more.
  virtual void* allocate(size_t bytes, Device device, void* stream) = 0;
  virtual void free(void* ptr, size_t bytes, Device device, void* stream) = 0;
  /// Returns cached memory to the device.
  virtual void trim(Device device) {}
  /// See pool_synchronized and pool_hand_over.
  virtual void synchronized(Device device, void* stream) {}
  virtual void hand_over(Device device, void* stream) {}
  /// Bytes taken from the device, for pool_stats; 0: the same as the bytes in use.
  virtual size_t held(Device device) const { return 0; }
  virtual const char* name() const { return "external"; }
};

/// From now on memory of `device` comes from `allocator`, or with nullptr from the pool's own arenas. Memory allocated before is returned
/// to the allocator that it came from.
void pool_set_allocator(Device device, std::shared_ptr<PoolAllocator> allocator);

using PoolAllocate = std::function<void*(size_t bytes, int device, void* stream)>;
using PoolFree = std::function<void(void* ptr, size_t bytes, int device, void* stream)>;
/// The same with two functions that have the signatures of PyTorch's pluggable allocators.
void pool_set_allocator(Device device, PoolAllocate allocate, PoolFree free);

}  // namespace bc
