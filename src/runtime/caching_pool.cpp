#include "runtime/caching_pool.h"

#include <tuple>

namespace bc {
namespace {

constexpr size_t kUnit = 512;

class DriverSource final : public MemorySource {
 public:
  explicit DriverSource(MemoryKind kind) : kind_(kind) {}

  void* allocate(size_t bytes, Device device, void* stream) override {
    Backend& b = backend(device);
    switch (kind_) {
      case MemoryKind::managed: return b.allocate_managed(bytes);
      case MemoryKind::ordered: return b.allocate_ordered(bytes, {device, stream});
      default: return b.allocate_chunk(bytes);
    }
  }

  void free(void* ptr, size_t bytes, Device device, void* stream) noexcept override {
    try {
      Backend& b = backend(device);
      if (kind_ == MemoryKind::ordered)
        b.free_ordered(ptr, bytes, {device, stream});
      else
        b.free_chunk(ptr, bytes);
    } catch (...) {
      // The device is lost, so its memory is gone too.
    }
  }

 private:
  const MemoryKind kind_;
};

}  // namespace

std::shared_ptr<MemorySource> memory_source(MemoryKind kind) { return std::make_shared<DriverSource>(kind); }

bool CachingPool::Place::operator<(const Place& o) const {
  return std::tie(device.type, device.index, stream, bytes) < std::tie(o.device.type, o.device.index, o.stream, o.bytes);
}

CachingPool::~CachingPool() {
  for (const auto& [place, pointers] : free_)
    for (void* ptr : pointers) source_->free(ptr, place.bytes, place.device, native(place));
}

/// Takes a free block of `place`, or returns nullptr. Called with mutex_ held.
void* CachingPool::take_free(const Place& place) {
  const auto found = free_.find(place);
  if (found == free_.end() || found->second.empty()) return nullptr;
  void* ptr = found->second.back();
  found->second.pop_back();
  Counts& c = counts(place.device);
  --c.blocks;
  c.used += place.bytes;
  sizes_[ptr] = place.bytes;
  return ptr;
}

/// Moves the free blocks of stream `from` to stream `to`. Called with mutex_ held.
void CachingPool::move_free(Device device, void* from, void* to) {
  for (auto at = free_.lower_bound({device, from, 0}); at != free_.end();) {
    if (!(at->first.device == device) || at->first.stream != from) break;
    std::vector<void*>& target = free_[{device, to, at->first.bytes}];
    target.insert(target.end(), at->second.begin(), at->second.end());
    at = free_.erase(at);
  }
}

void CachingPool::synchronized(Device device, void* stream) {
  std::lock_guard lock(mutex_);
  move_free(device, stream, any_stream());
}

void CachingPool::hand_over(Device device, void* stream) {
  std::lock_guard lock(mutex_);
  move_free(device, stream, nullptr);
}

const CachingPool::Counts* CachingPool::find(Device device) const {
  const auto found = counts_.find(static_cast<int>(device.type) * 64 + device.index);
  return found == counts_.end() ? nullptr : &found->second;
}

void* CachingPool::allocate(size_t bytes, Device device, void* stream) {
  const size_t size = std::max((bytes + kUnit - 1) / kUnit * kUnit, kUnit);
  {
    std::lock_guard lock(mutex_);
    for (void* place : {stream, any_stream()})
      if (void* ptr = take_free({device, place, size})) return ptr;
    const Counts& c = counts(device);
    if (limit_ && (size > limit_ || c.total > limit_ - size)) return nullptr;
  }
  // Called without the lock: the source may be a Python function, and freeing its arrays calls this pool again.
  void* ptr = source_->allocate(size, device, stream);
  if (!ptr) return nullptr;
  std::lock_guard lock(mutex_);
  Counts& c = counts(device);
  c.total += size;
  c.used += size;
  sizes_[ptr] = size;
  return ptr;
}

void CachingPool::free(void* ptr, size_t, Device device, void* stream) {
  size_t size = 0;
  {
    std::lock_guard lock(mutex_);
    const auto found = sizes_.find(ptr);
    if (found == sizes_.end()) return;
    size = found->second;
    sizes_.erase(found);
    Counts& c = counts(device);
    c.used -= size;
    if (cache_) {
      free_[{device, stream, size}].push_back(ptr);
      ++c.blocks;
      return;
    }
    c.total -= size;
  }
  source_->free(ptr, size, device, stream);
}

void CachingPool::trim(Device device) {
  std::vector<std::pair<Place, std::vector<void*>>> gone;
  {
    std::lock_guard lock(mutex_);
    Counts& c = counts(device);
    for (auto& [place, pointers] : free_) {
      if (!(place.device == device) || pointers.empty()) continue;
      c.total -= place.bytes * pointers.size();
      c.blocks -= pointers.size();
      gone.emplace_back(place, std::move(pointers));
      pointers.clear();
    }
  }
  for (auto& [place, pointers] : gone) {
    // Work queued on the stream may still use the blocks.
    const bool done = place.stream == any_stream() || backend(device).wait_for_reuse({device, place.stream});
    if (!done) {
      // The stream is being captured and cannot be waited for, so its blocks stay in the pool.
      std::lock_guard lock(mutex_);
      Counts& c = counts(device);
      c.total += place.bytes * pointers.size();
      c.blocks += pointers.size();
      std::vector<void*>& target = free_[place];
      target.insert(target.end(), pointers.begin(), pointers.end());
      continue;
    }
    for (void* ptr : pointers) source_->free(ptr, place.bytes, device, native(place));
  }
}

size_t CachingPool::used(Device device) const {
  std::lock_guard lock(mutex_);
  const Counts* c = find(device);
  return c ? c->used : 0;
}
size_t CachingPool::total(Device device) const {
  std::lock_guard lock(mutex_);
  const Counts* c = find(device);
  return c ? c->total : 0;
}
size_t CachingPool::free_blocks(Device device) const {
  std::lock_guard lock(mutex_);
  const Counts* c = find(device);
  return c ? c->blocks : 0;
}
void CachingPool::set_limit(size_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
}
size_t CachingPool::limit() const {
  std::lock_guard lock(mutex_);
  return limit_;
}

}  // namespace bc
