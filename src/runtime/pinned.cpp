#include "runtime/pinned.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/error.h"

namespace bc {
namespace {

constexpr size_t kUnit = 512;

/// A piece of memory, and the device that page-locked it and must free it.
struct Piece {
  void* ptr;
  Device device;
};

struct Pool {
  std::mutex mutex;
  std::unordered_map<size_t, std::vector<Piece>> waiting;
  std::unordered_map<void*, Device> owners;  ///< the device of each piece in use
  std::unordered_set<void*> combined;        ///< pieces in use that were allocated with write combining
  PinnedStats stats;
};

/// Never destroyed: arrays in pinned memory may be freed until the very end of the process.
Pool& pool() {
  static Pool* const p = new Pool;
  return *p;
}

size_t rounded(size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

}  // namespace

void* pinned_allocate(Device device, size_t bytes, bool write_combined) {
  Pool& p = pool();
  const size_t size = rounded(bytes);
  if (!write_combined) {
    std::lock_guard lock(p.mutex);
    if (const auto found = p.waiting.find(size); found != p.waiting.end() && !found->second.empty()) {
      const Piece piece = found->second.back();
      found->second.pop_back();
      p.owners[piece.ptr] = piece.device;
      p.stats.used += size;
      p.stats.free -= size;
      --p.stats.free_blocks;
      return piece.ptr;
    }
  }
  Backend& owner = backend(device);
  void* ptr = owner.allocate_pinned(size, write_combined);
  if (!ptr) {
    pinned_trim();
    ptr = owner.allocate_pinned(size, write_combined);
  }
  if (!ptr) return nullptr;
  std::lock_guard lock(p.mutex);
  p.stats.used += size;
  p.owners[ptr] = device;
  if (write_combined) p.combined.insert(ptr);
  return ptr;
}

void pinned_free(void* ptr, size_t bytes) {
  Pool& p = pool();
  const size_t size = rounded(bytes);
  Device device;
  {
    std::lock_guard lock(p.mutex);
    const auto known = p.owners.find(ptr);
    BC_CHECK(known != p.owners.end(), Runtime, "pinned_free: {} is not page-locked memory that is in use", ptr);
    device = known->second;
    p.owners.erase(known);
    p.stats.used -= size;
    if (!p.combined.erase(ptr)) {
      p.waiting[size].push_back({ptr, device});
      p.stats.free += size;
      ++p.stats.free_blocks;
      return;
    }
  }
  backend(device).free_pinned(ptr);
}

PinnedStats pinned_stats() {
  std::lock_guard lock(pool().mutex);
  return pool().stats;
}

void pinned_trim() {
  Pool& p = pool();
  std::unordered_map<size_t, std::vector<Piece>> waiting;
  {
    std::lock_guard lock(p.mutex);
    waiting.swap(p.waiting);
    p.stats.free = p.stats.free_blocks = 0;
  }
  for (const auto& [size, pieces] : waiting)
    for (const Piece& piece : pieces) backend(piece.device).free_pinned(piece.ptr);
}

}  // namespace bc
