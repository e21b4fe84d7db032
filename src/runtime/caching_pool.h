#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/pool.h"

namespace bc {

/// The allocator under a CachingPool.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// Returns nullptr when there is no more memory.
  virtual void* allocate(size_t bytes, Device device, void* stream) = 0;
  virtual void free(void* ptr, size_t bytes, Device device, void* stream) noexcept = 0;
};

enum class MemoryKind : uint8_t {
  chunk,    ///< straight from the driver
  managed,  ///< migrates between host and device on demand
  ordered   ///< stream-ordered, from the driver's own pool
};
std::shared_ptr<MemorySource> memory_source(MemoryKind kind);

/// A pool over any MemorySource, which pool_set_allocator installs in place of the device's own pool. A freed block is kept for the next
/// request of the same size on the same stream. With `cache` false each call goes to the source.
class CachingPool final : public PoolAllocator {
 public:
  CachingPool(std::shared_ptr<MemorySource> source, bool cache, const char* name)
      : source_(std::move(source)), cache_(cache), name_(name) {}
  ~CachingPool() override;

  void* allocate(size_t bytes, Device device, void* stream) override;
  void free(void* ptr, size_t bytes, Device device, void* stream) override;
  void trim(Device device) override;
  void synchronized(Device device, void* stream) override;
  void hand_over(Device device, void* stream) override;
  size_t held(Device device) const override { return total(device); }
  const char* name() const override { return name_; }

  size_t used(Device device) const;
  size_t total(Device device) const;
  size_t free_blocks(Device device) const;
  /// 0: no limit.
  void set_limit(size_t bytes);
  size_t limit() const;

 private:
  struct Place {
    Device device;
    void* stream;
    size_t bytes;
    bool operator<(const Place& o) const;
  };
  /// A Place::stream that stands for every stream: its free blocks may be used by all.
  static constexpr char kMark = 0;
  static void* any_stream() { return const_cast<char*>(&kMark); }
  static void* native(const Place& place) { return place.stream == any_stream() ? nullptr : place.stream; }
  void* take_free(const Place& place);
  void move_free(Device device, void* from, void* to);

  struct Counts {
    size_t used = 0, total = 0, blocks = 0;
  };
  Counts& counts(Device device) { return counts_[static_cast<int>(device.type) * 64 + device.index]; }
  const Counts* find(Device device) const;

  const std::shared_ptr<MemorySource> source_;
  const bool cache_;
  const char* const name_;
  mutable std::mutex mutex_;
  std::map<Place, std::vector<void*>> free_;
  std::unordered_map<void*, size_t> sizes_;  ///< of the blocks in use
  std::map<int, Counts> counts_;
  size_t limit_ = 0;
};

}  // namespace bc
