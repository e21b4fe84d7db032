#include "runtime/caching_pool.h"

#include <tuple>

#include "backends/cuda/cuda_backend.h"

namespace bc {
namespace {

constexpr size_t kUnit = 512;

class DriverSource final : public MemorySource {
 public:
  explicit DriverSource(MemoryKind kind) : kind_(kind) {}

  void* allocate(size_t bytes, Device device, void* stream) override {
    Backend& b = backend(device);
    if (device.type != DeviceType::cuda || kind_ == MemoryKind::chunk) return b.allocate_chunk(bytes);
    auto& cuda = static_cast<CudaBackend&>(b);
    return kind_ == MemoryKind::managed ? cuda.allocate_managed(bytes) : cuda.allocate_ordered(bytes, {device, stream});
  }

  void free(void* ptr, size_t bytes, Device device, void* stream) noexcept override {
    try {
      Backend& b = backend(device);
      if (device.type == DeviceType::cuda && kind_ == MemoryKind::ordered)
        static_cast<CudaBackend&>(b).free_ordered(ptr, {device, stream});
      else
        b.free_chunk(ptr, bytes);
    } catch (...) {
      // The device is lost, and its memory with it.
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
  for (const auto& [place, pointers] : waiting_)
    for (void* ptr : pointers) source_->free(ptr, place.bytes, place.device, place.stream);
}

const CachingPool::Counts* CachingPool::find(Device device) const {
  const auto found = counts_.find(static_cast<int>(device.type) * 64 + device.index);
  return found == counts_.end() ? nullptr : &found->second;
}

void* CachingPool::allocate(size_t bytes, Device device, void* stream) {
  const size_t size = std::max((bytes + kUnit - 1) / kUnit * kUnit, kUnit);
  {
    std::lock_guard lock(mutex_);
    Counts& c = counts(device);
    if (const auto found = waiting_.find({device, stream, size}); found != waiting_.end() && !found->second.empty()) {
      void* ptr = found->second.back();
      found->second.pop_back();
      --c.blocks;
      c.used += size;
      sizes_[ptr] = size;
      return ptr;
    }
    if (limit_ && (size > limit_ || c.total > limit_ - size)) return nullptr;
  }
  // Without the lock: the source may be a Python function, which comes back here when its own arrays are freed.
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
      waiting_[{device, stream, size}].push_back(ptr);
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
    for (auto& [place, pointers] : waiting_) {
      if (!(place.device == device) || pointers.empty()) continue;
      c.total -= place.bytes * pointers.size();
      c.blocks -= pointers.size();
      gone.emplace_back(place, std::move(pointers));
      pointers.clear();
    }
  }
  for (const auto& [place, pointers] : gone) {
    // Queued work may still use them.
    backend(device).synchronize({device, place.stream});
    for (void* ptr : pointers) source_->free(ptr, place.bytes, device, place.stream);
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
