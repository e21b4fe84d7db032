#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "runtime/fork.h"
#include "runtime/host_wait.h"

namespace bc {

namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr int kMaxDevices = 64;

constexpr size_t kUnit = 64;             // the unit of sizes and offsets inside slabs
constexpr size_t kSmallMax = 32 * kKiB;  // sizes up to this are items of slabs; larger ones are separate blocks
constexpr size_t kPage = 32 * kKiB;      // a page map entry; no larger than the smallest block, so a page holds one block's start at most
constexpr size_t kSlabAlign = 64 * kKiB;
constexpr size_t kMediumMax = kMiB;  // slabs and blocks up to this size share "medium" chunks; larger blocks use other chunks
constexpr size_t kChunkUnit = 2 * kMiB;
constexpr int kMaxClasses = 48;
constexpr int kAddressBits = 48;

std::string readable(size_t bytes) {
  if (bytes < kKiB) return fmt::format("{} B", bytes);
  static constexpr std::array kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kNames.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kNames[unit]);
}

constexpr size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// Held for tens of nanoseconds, so spinning beats sleeping; yields when the holder has lost its core.
class SpinLock {
 public:
  void lock() {
    for (int spins = 0; held_.exchange(true, std::memory_order_acquire);) {
      while (held_.load(std::memory_order_relaxed)) {
        if (++spins % 64 == 0) {
          sched_yield();
        } else {
#if defined(__x86_64__)
          __builtin_ia32_pause();
#endif
        }
      }
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

class DevicePool;
struct Arena;
struct Slab;

struct Block;

/// Memory that was taken from the device in one allocation, or a reserved address range to which memory is mapped piece by piece (`range`).
/// `medium`: holds slabs and blocks up to kMediumMax.
struct Chunk {
  char* base = nullptr;
  size_t bytes = 0;
  bool medium = false;
  bool range = false;
  Block* first = nullptr;
  std::map<size_t, size_t> pieces;  ///< of a range: the committed pieces, offset to bytes; guarded by grow_mutex_
};

/// A part of a chunk: free (in a bin of `arena`), in use, a slab, or addresses without memory (`backed` is false).
struct Block {
  char* ptr = nullptr;
  size_t size = 0;
  Chunk* chunk = nullptr;
  Block* before = nullptr;  // neighbours in the chunk
  Block* after = nullptr;
  Block* previous = nullptr;  // neighbours in the bin
  Block* next = nullptr;
  Arena* arena = nullptr;  // set while the block is free
  DevicePool* pool = nullptr;
  bool backed = true;
};

/// A block cut into items of one size class.
struct Slab {
  DevicePool* pool = nullptr;
  Block* block = nullptr;
  char* base = nullptr;
  uint32_t item_bytes = 0;
  uint32_t count = 0;
  uint32_t reciprocal = 0;  // 2^24 / (item_bytes / kUnit), rounded up
  uint32_t live = 0;
  uint32_t listed = 0;  // scratch of reclaim_slabs
  int size_class = 0;
  uint64_t bits[1024 / 64] = {};  // a bit for each item: 1 while it is in use

  /// The item that starts at `ptr`, or -1.
  int index(const void* ptr) const {
    const auto offset = static_cast<size_t>(static_cast<const char*>(ptr) - base);
    const auto i = static_cast<uint32_t>((offset / kUnit * reciprocal) >> 24);
    return i < count && size_t{i} * item_bytes == offset ? static_cast<int>(i) : -1;
  }
};

/// Maps an address to its slab or block by two levels of tables over 48 bits. All devices share it, since their addresses do not overlap.
class PageMap {
 public:
  /// A Slab* with the lowest bit set, a Block*, or 0.
  uintptr_t find(const void* ptr) const {
    const auto address = reinterpret_cast<uintptr_t>(ptr);
    if (address >> kAddressBits) [[unlikely]]
      return 0;
    const Leaf* leaf = top_[address >> 32].load(std::memory_order_acquire);
    return leaf ? (*leaf)[(address & 0xffffffffu) / kPage].load(std::memory_order_acquire) : 0;
  }
  void set(const void* ptr, uintptr_t value) {
    const auto address = reinterpret_cast<uintptr_t>(ptr);
    (*leaf(address))[(address & 0xffffffffu) / kPage].store(value, std::memory_order_release);
  }

 private:
  using Leaf = std::array<std::atomic<uintptr_t>, (size_t{1} << 32) / kPage>;

  Leaf* leaf(uintptr_t address) {
    auto& slot = top_[address >> 32];
    if (Leaf* there = slot.load(std::memory_order_acquire)) return there;
    // Zero pages from the kernel are valid atomics; only touched pages take memory.
    void* pages = mmap(nullptr, sizeof(Leaf), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) raise(ErrorKind::Memory, "pool: no address space for the page map");
    auto* made = static_cast<Leaf*>(pages);
    Leaf* expected = nullptr;
    if (slot.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return made;
    munmap(pages, sizeof(Leaf));
    return expected;
  }

  std::array<std::atomic<Leaf*>, size_t{1} << (kAddressBits - 32)> top_{};
};

constinit PageMap g_pages;

Slab* as_slab(uintptr_t entry) { return reinterpret_cast<Slab*>(entry - 1); }  // NOLINT(performance-no-int-to-ptr)
Block* as_block(uintptr_t entry) { return reinterpret_cast<Block*>(entry); }   // NOLINT(performance-no-int-to-ptr)

/// Free blocks by size: 32 bins for every power of two. A bin covers sizes within 3 %. The search takes the best fit inside the bin of the
/// requested size; in larger bins any block fits.
class Bins {
 public:
  void insert(Block* block) {
    const int bin = bin_of(block->size);
    block->previous = nullptr;
    block->next = heads_[bin];
    if (block->next) block->next->previous = block;
    heads_[bin] = block;
    words_[bin / 64] |= uint64_t{1} << (bin % 64);
  }

  void remove(Block* block) {
    const int bin = bin_of(block->size);
    if (block->previous) {
      block->previous->next = block->next;
    } else {
      heads_[bin] = block->next;
      if (!block->next) words_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
    }
    if (block->next) block->next->previous = block->previous;
  }

  /// The smallest block for which `room(block)` holds, among the first few of a bin; nullptr: none.
  template <class Room>
  Block* find(size_t size, const Room& room) const {
    for (int bin = next_bin(bin_of(size)); bin < kBins; bin = next_bin(bin + 1)) {
      Block* best = nullptr;
      int looked = 0;
      for (Block* block = heads_[bin]; block; block = block->next) {
        if (!room(block)) continue;
        if (!best || block->size < best->size) best = block;
        if (best->size == size || ++looked == 16) break;
      }
      if (best) return best;
    }
    return nullptr;
  }

  Block* any() const {
    const int bin = next_bin(0);
    return bin < kBins ? heads_[bin] : nullptr;
  }

  template <class F>
  void each(const F& f) const {
    for (int bin = next_bin(0); bin < kBins; bin = next_bin(bin + 1)) {
      for (const Block* block = heads_[bin]; block; block = block->next) f(*block);
    }
  }

 private:
  static constexpr int kBins = kAddressBits * 32;

  static int bin_of(size_t size) {
    const int power = std::bit_width(size) - 1;  // sizes are at least kUnit, so power >= 6
    return power * 32 + static_cast<int>((size >> (power - 5)) & 31);
  }
  int next_bin(int bin) const {
    if (bin >= kBins) return kBins;
    size_t word = static_cast<size_t>(bin) / 64;
    for (uint64_t bits = words_[word] & (~uint64_t{0} << (bin % 64));; bits = words_[word]) {
      if (bits) return static_cast<int>(word * 64) + std::countr_zero(bits);
      if (++word == words_.size()) return kBins;
    }
  }

  std::array<Block*, kBins> heads_{};
  std::array<uint64_t, kBins / 64> words_{};
};

/// The free memory of one stream.
struct Arena {
  void* stream = nullptr;
  std::array<std::vector<void*>, kMaxClasses> small;
  Bins medium;
  Bins large;

  Bins& bins(bool is_medium) { return is_medium ? medium : large; }
};

/// Memory of a PoolAllocator.
struct Foreign {
  size_t bytes = 0;
  std::shared_ptr<PoolAllocator> allocator;
};

// ---- hooks ----

struct Hooks {
  std::mutex mutex;
  std::shared_ptr<const std::map<int, PoolHook>> list = std::make_shared<std::map<int, PoolHook>>();
  int next = 1;
};

Hooks& hooks() {
  static auto* all = new Hooks;
  return *all;
}

std::atomic<int> g_hook_count{0};

[[gnu::noinline]] void call_hooks(PoolEvent event, Device device, void* ptr, size_t bytes) {
  std::shared_ptr<const std::map<int, PoolHook>> list;
  {
    std::lock_guard lock(hooks().mutex);
    list = hooks().list;
  }
  for (const auto& [number, hook] : *list) hook(event, device, ptr, bytes);
}

inline void notify(PoolEvent event, Device device, void* ptr, size_t bytes) {
  if (g_hook_count.load(std::memory_order_relaxed)) [[unlikely]]
    call_hooks(event, device, ptr, bytes);
}

// ---- the pool of one device ----

class DevicePool {
 public:
  DevicePool(Device device, Backend& backend);

  void* allocate(size_t bytes, void* stream);
  static void free(Device device, void* ptr, void* stream);
  static size_t usable(Device device, const void* ptr);

  PoolStats stats();
  void set_limit(size_t bytes);
  void trim();
  void reset_peak();
  void synchronized(void* stream);
  void hand_over(void* stream);
  void set_allocator(std::shared_ptr<PoolAllocator> allocator);

  void lock_for_fork();
  void unlock_after_fork(bool child);

 private:
  Arena& arena(void* stream) {
    if (one_stream_) return clean_;
    if (last_->stream == stream) return *last_;
    return find_arena(stream);
  }
  Arena& find_arena(void* stream);
  Arena& home(void* stream);
  void end_arena(void* stream);
  size_t rounded(size_t bytes) const;
  void* take(size_t size, int size_class, void* stream);
  void* take_small(int size_class, Arena& arena);
  void* take_from(std::vector<void*>& list);
  bool carve(int size_class, Arena& arena);
  Block* take_block(size_t size, size_t alignment, bool medium, Arena& arena);
  Block* cut(Block* block, size_t lead, size_t size);
  void put_block(Block* block, Arena& arena);
  void free_block(Block* block, void* stream);
  void free_item(Slab* slab, void* ptr, void* stream);
  void count_allocation(size_t size) {
    used_ += size;
    if (used_ > peak_) peak_ = used_;
    ++allocations_;
  }
  void count_free(size_t size) {
    used_ -= size;
    ++frees_;
  }
  void move(Arena& from, Arena& to);
  void clean(Arena& from) { move(from, clean_); }
  void reclaim_slabs();
  void* exhausted(size_t asked, size_t size, int size_class, void* stream);
  bool grow(size_t size, bool medium, void* stream);
  Block* new_chunk(void* base, size_t bytes);
  bool add_chunk(size_t bytes, bool medium);
  bool add_range(size_t page, size_t size);
  bool extend_range(size_t page, size_t size, size_t usual, void* stream);
  Block* find_hole(size_t page, size_t size, const Arena& own, size_t* need);
  static void absorb(Block* front, Block* back);
  Block* split(Block* front, size_t at);
  void synchronize_arenas();
  size_t release_chunks();
  void release_pages(std::vector<std::pair<char*, size_t>>* given);
  void* allocate_foreign(size_t bytes, void* stream);
  static void free_foreign(Device device, void* ptr, void* stream);
  [[noreturn]] void raise_exhausted(size_t asked);
  Block* new_block();
  void delete_block(Block* block);

  const Device device_;
  Backend& backend_;
  const bool one_stream_;     // work runs in the calling thread, so free memory can be reused by all
  const size_t granularity_;  // of addresses and sizes; a linear texture's address is a multiple of 512
  std::atomic<bool> foreign_{false};
  std::atomic<bool> lost_{false};

  std::mutex grow_mutex_;  // held while the device is asked for memory; taken before lock_
  SpinLock lock_;          // guards all members below
  Arena clean_;            // free for every stream
  std::vector<std::unique_ptr<Arena>> arenas_;
  Arena* last_ = nullptr;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Slab*> slabs_;
  Block* spare_ = nullptr;  // Block objects to use again, linked by next
  std::shared_ptr<PoolAllocator> allocator_;
  std::unordered_map<const void*, Foreign> foreign_blocks_;
  size_t used_ = 0;
  size_t foreign_used_ = 0;
  size_t peak_ = 0;
  size_t held_ = 0;
  size_t held_medium_ = 0;
  size_t limit_ = 0;
  uint64_t allocations_ = 0;
  uint64_t frees_ = 0;
  uint64_t chunk_allocations_ = 0;

  int class_count_ = 0;
  std::array<uint32_t, kMaxClasses> class_bytes_{};
  std::array<uint8_t, kSmallMax / kUnit + 1> class_of_{};
};

size_t environment_limit(Backend& backend) {
  const char* text = std::getenv("BROADCLOTH_POOL_LIMIT");
  if (!text || !*text) return 0;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  const std::string unit = end;
  double factor = -1;
  if (unit.empty() || unit == "B") factor = 1;
  if (unit == "%") factor = static_cast<double>(backend.memory_info().total) / 100;
  if (unit == "K" || unit == "KiB") factor = static_cast<double>(kKiB);
  if (unit == "M" || unit == "MiB") factor = static_cast<double>(kMiB);
  if (unit == "G" || unit == "GiB") factor = static_cast<double>(kKiB * kMiB);
  // Written so that a NaN is refused too.
  BC_CHECK(end != text && factor >= 0 && value >= 0 && value * factor < 9e18, Value,
           "BROADCLOTH_POOL_LIMIT: expected a number of bytes or a percentage such as 80%, got '{}'", text);
  return static_cast<size_t>(value * factor);
}

DevicePool::DevicePool(Device device, Backend& backend)
    : device_(device), backend_(backend), one_stream_(device.type == DeviceType::cpu), granularity_(one_stream_ ? 64 : 512) {
  limit_ = environment_limit(backend);
  // Four classes for every power of two, none closer than the granularity.
  for (size_t size = granularity_; size <= kSmallMax;) {
    class_bytes_[static_cast<size_t>(class_count_++)] = static_cast<uint32_t>(size);
    size += std::max(granularity_, std::bit_floor(size) / 4);
  }
  uint8_t size_class = 0;
  for (size_t units = 0; units < class_of_.size(); ++units) {
    while (class_bytes_[size_class] < units * kUnit) ++size_class;
    class_of_[units] = size_class;
  }
  last_ = &clean_;
  if (!one_stream_) find_arena(nullptr);
}

Arena& DevicePool::find_arena(void* stream) {
  for (const auto& there : arenas_) {
    if (there->stream == stream) return *(last_ = there.get());
  }
  arenas_.push_back(std::make_unique<Arena>());
  arenas_.back()->stream = stream;
  return *(last_ = arenas_.back().get());
}

/// The arena to which memory of `stream` returns after lock_ was released in between. hand_over may have removed the stream's arena
/// meanwhile; then it is the default stream's, which waits for the stream's work.
Arena& DevicePool::home(void* stream) {
  if (one_stream_) return clean_;
  for (const auto& there : arenas_)
    if (there->stream == stream) return *there;
  return *arenas_.front();
}

size_t DevicePool::rounded(size_t bytes) const { return round_up(bytes, bytes > kMediumMax ? 4 * kKiB : granularity_); }

Block* DevicePool::new_block() {
  Block* block = spare_;
  if (block) {
    spare_ = block->next;
    *block = Block{};
  } else {
    block = new Block;
  }
  block->pool = this;
  return block;
}

void DevicePool::delete_block(Block* block) {
  block->next = spare_;
  spare_ = block;
}

/// Splits a block that is in no bin at offset `at`; returns the new back block.
Block* DevicePool::split(Block* front, size_t at) {
  Block* back = new_block();
  back->ptr = front->ptr + at;
  back->size = front->size - at;
  back->chunk = front->chunk;
  back->backed = front->backed;
  back->before = front;
  back->after = front->after;
  if (back->after) back->after->before = back;
  front->after = back;
  front->size = at;
  return back;
}

/// Joins two neighbours that are in no bin. The caller deletes the second block.
void DevicePool::absorb(Block* front, Block* back) {
  front->size += back->size;
  front->after = back->after;
  if (front->after) front->after->before = front;
}

/// Cuts `size` bytes out of a block that is in no bin, after `lead` bytes. The bytes before and after go back to the arena of the block.
Block* DevicePool::cut(Block* block, size_t lead, size_t size) {
  Arena& arena = *block->arena;
  Bins& bins = arena.bins(block->chunk->medium);
  if (lead) {
    Block* front = block;
    block = split(front, lead);
    bins.insert(front);
  }
  if (block->size > size) {
    Block* rest = split(block, size);
    rest->arena = &arena;
    bins.insert(rest);
  }
  block->arena = nullptr;
  return block;
}

Block* DevicePool::take_block(size_t size, size_t alignment, bool medium, Arena& arena) {
  const auto lead = [&](const Block* block) { return (alignment - reinterpret_cast<uintptr_t>(block->ptr)) & (alignment - 1); };
  const auto room = [&](const Block* block) { return block->size >= size + lead(block); };
  for (Arena* from : {&arena, &clean_}) {
    Bins& bins = from->bins(medium);
    if (Block* block = bins.find(size, room)) {
      bins.remove(block);
      return cut(block, lead(block), size);
    }
    if (from == &clean_) break;
  }
  return nullptr;
}

/// Adds a block to the free blocks of `arena`, merged with neighbours that are free in the same arena.
void DevicePool::put_block(Block* block, Arena& arena) {
  Bins& bins = arena.bins(block->chunk->medium);
  const auto join = [&](Block* front, Block* back) {
    absorb(front, back);
    delete_block(back);
  };
  if (Block* after = block->after; after && after->arena == &arena) {
    bins.remove(after);
    join(block, after);
  }
  if (Block* before = block->before; before && before->arena == &arena) {
    bins.remove(before);
    join(before, block);
    block = before;
  }
  block->arena = &arena;
  bins.insert(block);
}

void* DevicePool::take_from(std::vector<void*>& list) {
  void* ptr = list.back();
  list.pop_back();
  auto* slab = as_slab(g_pages.find(ptr));
  const auto i = static_cast<unsigned>(slab->index(ptr));
  slab->bits[i / 64] |= uint64_t{1} << (i % 64);
  ++slab->live;
  count_allocation(slab->item_bytes);
  return ptr;
}

bool DevicePool::carve(int size_class, Arena& arena) {
  const size_t item = class_bytes_[static_cast<size_t>(size_class)];
  const size_t bytes = item <= 8 * kKiB ? kSlabAlign : 4 * kSlabAlign;
  auto& list = arena.small[static_cast<size_t>(size_class)];
  const size_t count = bytes / item;
  list.reserve(list.size() + count);
  slabs_.reserve(slabs_.size() + 1);
  auto slab = std::make_unique<Slab>();
  Block* block = take_block(bytes, kSlabAlign, true, arena);
  if (!block) return false;
  slab->pool = this;
  slab->block = block;
  slab->base = block->ptr;
  slab->item_bytes = static_cast<uint32_t>(item);
  slab->count = static_cast<uint32_t>(count);
  slab->reciprocal = static_cast<uint32_t>(((size_t{1} << 24) + item / kUnit - 1) / (item / kUnit));
  slab->size_class = size_class;
  for (size_t at = 0; at < bytes; at += kPage) g_pages.set(block->ptr + at, reinterpret_cast<uintptr_t>(slab.get()) | 1);
  for (size_t i = count; i-- > 0;) list.push_back(block->ptr + i * item);  // in descending order, so that the lowest address is used first
  slabs_.push_back(slab.release());
  return true;
}

void* DevicePool::take_small(int size_class, Arena& arena) {
  const auto c = static_cast<size_t>(size_class);
  if (!arena.small[c].empty()) [[likely]]
    return take_from(arena.small[c]);
  if (!clean_.small[c].empty()) return take_from(clean_.small[c]);
  return carve(size_class, arena) ? take_from(arena.small[c]) : nullptr;
}

/// Takes memory that is free now, or returns nullptr. Called with lock_ held.
void* DevicePool::take(size_t size, int size_class, void* stream) {
  Arena& from = arena(stream);
  if (size_class >= 0) return take_small(size_class, from);
  Block* block = take_block(size, granularity_, size <= kMediumMax, from);
  if (!block) return nullptr;
  g_pages.set(block->ptr, reinterpret_cast<uintptr_t>(block));
  count_allocation(size);
  return block->ptr;
}

void* DevicePool::allocate(size_t bytes, void* stream) {
  if (foreign_.load(std::memory_order_acquire)) [[unlikely]]
    return allocate_foreign(bytes, stream);
  if (lost_.load(std::memory_order_relaxed)) [[unlikely]]
    raise_lost_in_fork(device_);
  void* ptr = nullptr;
  if (bytes <= kSmallMax) {
    const int size_class = class_of_[(bytes + kUnit - 1) / kUnit];
    {
      std::lock_guard lock(lock_);
      ptr = take_small(size_class, arena(stream));
    }
    if (!ptr) [[unlikely]]
      ptr = exhausted(bytes, class_bytes_[static_cast<size_t>(size_class)], size_class, stream);
  } else {
    if (bytes > (size_t{1} << (kAddressBits - 1))) [[unlikely]]
      raise_exhausted(bytes);
    const size_t size = rounded(bytes);
    {
      std::lock_guard lock(lock_);
      ptr = take(size, -1, stream);
    }
    if (!ptr) [[unlikely]]
      ptr = exhausted(bytes, size, -1, stream);
  }
  notify(PoolEvent::Allocate, device_, ptr, bytes);
  return ptr;
}

void DevicePool::free_item(Slab* slab, void* ptr, void* stream) {
  const int item = slab->index(ptr);
  const auto i = static_cast<unsigned>(item);
  bool bad = item < 0;
  if (!bad) {
    std::lock_guard lock(lock_);
    const uint64_t bit = uint64_t{1} << (i % 64);
    bad = !(slab->bits[i / 64] & bit);
    if (!bad) {
      arena(stream).small[static_cast<size_t>(slab->size_class)].push_back(ptr);
      slab->bits[i / 64] &= ~bit;
      --slab->live;
      count_free(slab->item_bytes);
    }
  }
  BC_CHECK(!bad, Runtime, "pool_free: {} is not an allocation of {}, or was freed before", ptr, to_string(device_));
}

void DevicePool::free_block(Block* block, void* stream) {
  std::lock_guard lock(lock_);
  g_pages.set(block->ptr, 0);
  count_free(block->size);
  put_block(block, arena(stream));
}

// ---- when no free block fits ----

/// Moves all free memory of one arena to another. Called with lock_ held.
void DevicePool::move(Arena& from, Arena& to) {
  for (size_t c = 0; c < kMaxClasses; ++c) {
    auto& source = from.small[c];
    auto& target = to.small[c];
    if (target.empty()) {
      target.swap(source);
    } else {
      target.insert(target.end(), source.begin(), source.end());
      source.clear();
    }
  }
  for (bool medium : {true, false}) {
    Bins& bins = from.bins(medium);
    while (Block* block = bins.any()) {
      bins.remove(block);
      block->arena = nullptr;
      put_block(block, to);
    }
  }
}

/// Waits for every stream that has free memory of its own, and makes that memory free for all streams. A stream that is being captured
/// cannot be waited for, so it keeps its memory.
void DevicePool::synchronize_arenas() {
  if (one_stream_) return;
  std::vector<std::unique_ptr<Arena>> waiting;
  {
    std::lock_guard lock(lock_);
    for (const auto& there : arenas_) {
      // Memory freed during the wait may still be in use after it, so only the memory that is free now is moved.
      auto apart = std::make_unique<Arena>();
      apart->stream = there->stream;
      apart->small.swap(there->small);
      for (bool medium : {true, false}) {
        Bins& bins = there->bins(medium);
        while (Block* block = bins.any()) {
          bins.remove(block);
          block->arena = apart.get();
          apart->bins(medium).insert(block);
        }
      }
      waiting.push_back(std::move(apart));
    }
  }
  for (const auto& apart : waiting) {
    bool done = true;
    try {
      done = backend_.wait_for_reuse(Stream{device_, apart->stream});
    } catch (...) {
      // A failed stream raises the error when its owner synchronises; its work has ended in either case.
    }
    std::lock_guard lock(lock_);
    move(*apart, done ? clean_ : home(apart->stream));
  }
}

/// Turns slabs without items in use back into free blocks. Called with lock_ held.
void DevicePool::reclaim_slabs() {
  const auto slab_of = [](void* ptr) { return as_slab(g_pages.find(ptr)); };
  bool any = false;
  for (Slab* slab : slabs_) {
    slab->listed = 0;
    any = any || slab->live == 0;
  }
  if (!any) return;
  for (auto& list : clean_.small) {
    for (void* ptr : list) ++slab_of(ptr)->listed;
  }
  const auto is_free = [](const Slab* slab) { return slab->live == 0 && slab->listed == slab->count; };
  for (auto& list : clean_.small) {
    std::erase_if(list, [&](void* ptr) { return is_free(slab_of(ptr)); });
    list.shrink_to_fit();
  }
  std::erase_if(slabs_, [&](Slab* slab) {
    if (!is_free(slab)) return false;
    for (size_t at = 0; at < slab->block->size; at += kPage) g_pages.set(slab->base + at, 0);
    put_block(slab->block, clean_);
    delete slab;
    return true;
  });
}

/// Removes the free pieces from ranges and adds them to `given`. Called with both locks held.
void DevicePool::release_pages(std::vector<std::pair<char*, size_t>>* given) {
  for (const auto& chunk : chunks_) {
    if (!chunk->range) continue;
    for (Block* block = chunk->first; block; block = block->after) {
      if (block->arena != &clean_) continue;
      const auto begin = static_cast<size_t>(block->ptr - chunk->base), end = begin + block->size;
      auto piece = chunk->pieces.lower_bound(begin);
      size_t from = end, to = end;
      while (piece != chunk->pieces.end() && piece->first + piece->second <= end) {
        from = std::min(from, piece->first);
        to = piece->first + piece->second;
        given->emplace_back(chunk->base + piece->first, piece->second);
        piece = chunk->pieces.erase(piece);
      }
      if (from == end) continue;
      clean_.large.remove(block);
      block = cut(block, from - begin, to - from);
      block->backed = false;
      held_ -= block->size;
      for (Block* next = block->after; next && !next->backed; next = block->after) {
        absorb(block, next);
        delete_block(next);
      }
      if (Block* before = block->before; before && !before->backed) {
        absorb(before, block);
        delete_block(block);
        block = before;
      }
    }
  }
}

/// Returns free chunks and free pieces of ranges to the device. Called with grow_mutex_ held.
size_t DevicePool::release_chunks() {
  // Our own work does not use memory in clean_. Work of another library may still read memory that it borrowed from us, and would fault, so
  // the whole device must be idle.
  if (!backend_.wait_for_reuse()) return 0;
  std::vector<std::unique_ptr<Chunk>> empty;
  std::vector<std::pair<char*, size_t>> pieces;
  {
    std::lock_guard lock(lock_);
    reclaim_slabs();
    release_pages(&pieces);
    for (auto& chunk : chunks_) {
      if (chunk->range) continue;
      Block* block = chunk->first;
      if (block->after || block->arena != &clean_) continue;
      clean_.bins(chunk->medium).remove(block);
      delete_block(block);
      held_ -= chunk->bytes;
      if (chunk->medium) held_medium_ -= chunk->bytes;
      empty.push_back(std::move(chunk));
    }
    std::erase(chunks_, nullptr);
  }
  size_t released = 0;
  for (const auto& chunk : empty) {
    backend_.free_chunk(chunk->base, chunk->bytes);
    released += chunk->bytes;
    notify(PoolEvent::ChunkFree, device_, chunk->base, chunk->bytes);
  }
  for (const auto& [at, bytes] : pieces) {
    backend_.decommit(at, bytes);
    released += bytes;
    notify(PoolEvent::ChunkFree, device_, at, bytes);
  }
  return released;
}

/// Adds a chunk with one block. Called with lock_ held.
Block* DevicePool::new_chunk(void* base, size_t bytes) {
  Chunk* chunk = chunks_.emplace_back(std::make_unique<Chunk>()).get();
  chunk->base = static_cast<char*>(base);
  chunk->bytes = bytes;
  chunk->first = new_block();
  chunk->first->ptr = chunk->base;
  chunk->first->size = bytes;
  chunk->first->chunk = chunk;
  return chunk->first;
}

/// Reserves addresses without memory, as many as the device has memory if possible, so that the range can grow.
bool DevicePool::add_range(size_t page, size_t size) {
  size_t bytes = round_up(std::max(2 * size, backend_.memory_info().total), page);
  void* base = backend_.reserve_addresses(bytes);
  if (!base) base = backend_.reserve_addresses(bytes = round_up(size, page));
  if (!base || (reinterpret_cast<uintptr_t>(base) + bytes) >> kAddressBits) return false;
  std::lock_guard lock(lock_);
  Block* block = new_chunk(base, bytes);
  block->chunk->range = true;
  block->backed = false;
  return true;
}

/// Finds the unbacked block where the fewest new bytes (`need`), joined with free neighbours, make `size` contiguous bytes. Called with
/// both locks held.
Block* DevicePool::find_hole(size_t page, size_t size, const Arena& own, size_t* need) {
  const auto room = [&](const Block* block) { return block && (block->arena == &clean_ || block->arena == &own) ? block->size : 0; };
  Block* best = nullptr;
  for (const auto& chunk : chunks_) {
    if (!chunk->range) continue;
    for (Block* hole = chunk->first; hole; hole = hole->after) {
      if (hole->backed) continue;
      const size_t before = room(hole->before);
      size_t bytes = size > before ? round_up(size - before, page) : page;
      if (bytes > hole->size) {
        if (before + hole->size + room(hole->after) < size) continue;
        bytes = hole->size;
      }
      if (best && bytes >= *need) continue;
      best = hole;
      *need = bytes;
    }
  }
  return best;
}

/// Commits memory in a range so that `size` contiguous bytes become free, and up to `usual` bytes if there is room. Called with grow_mutex_
/// held.
bool DevicePool::extend_range(size_t page, size_t size, size_t usual, void* stream) {
  size_t need = 0, wanted = 0, limit = 0;
  Block* hole = nullptr;
  Block* sides[2] = {};
  bool for_all = true;
  {
    std::lock_guard lock(lock_);
    Arena& own = arena(stream);
    hole = find_hole(page, size, own, &need);
    if (!hole) return false;
    wanted = std::min(std::max(need, round_up(usual, page)), hole->size);
    limit = limit_ ? (held_ < limit_ ? limit_ - held_ : 0) : wanted;
    if (need > limit) return false;
    if (wanted > limit) wanted = need;
    // No other thread may take the free neighbours while memory is committed, so they leave their bins.
    for (int k = 0; k < 2; ++k) {
      Block* side = k ? hole->after : hole->before;
      if (!side || (side->arena != &clean_ && side->arena != &own)) continue;
      if (side->arena == &own) for_all = false;  // the stream's work may still use it, so only this stream may use the joined block
      side->arena->large.remove(side);
      side->arena = nullptr;
      sides[k] = side;
    }
  }
  // Memory is returned to the device by whole pieces: they are not too many, and not so large that one small block keeps much memory.
  const size_t piece = std::clamp(std::bit_floor(wanted / 16), page, std::max<size_t>(page, 64 * kMiB));
  std::vector<std::pair<char*, size_t>> made;
  size_t done = 0;
  const auto finish = [&](bool keep) {
    if (!keep) {
      for (const auto& [at, bytes] : made) backend_.decommit(at, bytes);
      done = 0;
    }
    std::lock_guard lock(lock_);
    Arena& to = for_all ? clean_ : home(stream);
    if (done) {
      if (done < hole->size) split(hole, done);
      hole->backed = true;
      for (const auto& [at, bytes] : made) hole->chunk->pieces.emplace(static_cast<size_t>(at - hole->chunk->base), bytes);
      put_block(hole, to);
      held_ += done;
      ++chunk_allocations_;
    }
    for (Block* side : sides)
      if (side) put_block(side, to);
  };
  char* const base = hole->ptr;
  try {
    while (done < wanted) {
      const size_t bytes = std::min(piece, wanted - done);
      if (!backend_.commit(base + done, bytes)) break;
      made.emplace_back(base + done, bytes);
      done += bytes;
    }
  } catch (...) {
    finish(false);
    throw;
  }
  const bool enough = done >= need;
  finish(enough);
  if (enough) notify(PoolEvent::ChunkAllocate, device_, base, done);
  return enough;
}

bool DevicePool::add_chunk(size_t bytes, bool medium) {
  {
    std::lock_guard lock(lock_);
    if (limit_ && (held_ > limit_ || bytes > limit_ - held_)) return false;
  }
  void* base = backend_.allocate_chunk(bytes);
  if (!base) return false;
  if ((reinterpret_cast<uintptr_t>(base) + bytes) >> kAddressBits) {
    backend_.free_chunk(base, bytes);
    raise(ErrorKind::Runtime, "pool: {} gave memory at {}, above {} bits of address", to_string(device_), base, kAddressBits);
  }
  {
    std::lock_guard lock(lock_);
    Block* block = new_chunk(base, bytes);
    block->chunk->medium = medium;
    put_block(block, clean_);
    held_ += bytes;
    if (medium) held_medium_ += bytes;
    ++chunk_allocations_;
  }
  notify(PoolEvent::ChunkAllocate, device_, base, bytes);
  return true;
}

/// Takes a chunk with room for `size` from the device. The chunk size grows with the memory held; a large request gets a chunk of its exact
/// size.
bool DevicePool::grow(size_t size, bool medium, void* stream) {
  size_t held = 0;
  {
    std::lock_guard lock(lock_);
    held = medium ? held_medium_ : held_ - held_medium_;
  }
  const size_t exact = round_up(size, kChunkUnit);
  size_t usual = 0;
  if (medium) {
    usual = held < 4 * kMiB ? kChunkUnit : 32 * kMiB;
  } else {
    usual = std::clamp(std::bit_floor(held / 8), 32 * kMiB, 256 * kMiB);
    if (size > usual / 2) usual = exact;
  }
  // Where the device has pages, large blocks lie in ranges: no order of allocations and frees then leaves fragments that nothing fits in.
  if (const size_t page = medium ? 0 : backend_.page_bytes()) {
    const size_t more = usual > exact ? usual : 0;
    if (extend_range(page, size, more, stream)) return true;
    size_t need = 0;
    bool full = false;
    {
      std::lock_guard lock(lock_);
      full = !find_hole(page, size, arena(stream), &need);
    }
    if (full && add_range(page, size)) return extend_range(page, size, more, stream);
    if (!full) return false;
  }
  return add_chunk(std::max(usual, exact), medium) || (usual > exact && add_chunk(exact, medium));
}

[[gnu::noinline]] void* DevicePool::exhausted(size_t asked, size_t size, int size_class, void* stream) {
  const HostWait wait;
  const bool medium = size <= kMediumMax;
  // A slab needs extra room for its alignment.
  const size_t room = size_class >= 0 ? 5 * kSlabAlign : size;
  const auto retry = [&] {
    std::lock_guard lock(lock_);
    return take(size, size_class, stream);
  };
  {
    std::lock_guard growing(grow_mutex_);
    if (void* ptr = retry()) return ptr;  // another thread has grown the pool meanwhile
    if (grow(room, medium, stream)) {
      if (void* ptr = retry()) return ptr;
    }
  }
  // First let hooks free memory, without the lock, because they may call the pool.
  notify(PoolEvent::Pressure, device_, nullptr, size);
  std::lock_guard growing(grow_mutex_);
  if (void* ptr = retry()) return ptr;
  // Then wait for other streams and use their free memory.
  synchronize_arenas();
  {
    std::lock_guard lock(lock_);
    reclaim_slabs();
  }
  if (void* ptr = retry()) return ptr;
  // Then use free memory in chunks of the other kind.
  if (size_class < 0) {
    std::lock_guard lock(lock_);
    if (Block* block = take_block(size, granularity_, !medium, clean_)) {
      g_pages.set(block->ptr, reinterpret_cast<uintptr_t>(block));
      count_allocation(size);
      return block->ptr;
    }
  }
  // Last, return all unused chunks to the device and allocate again.
  if (release_chunks() && grow(room, medium, stream)) {
    if (void* ptr = retry()) return ptr;
  }
  raise_exhausted(asked);
}

void DevicePool::raise_exhausted(size_t asked) {
  size_t used = 0;
  size_t held = 0;
  size_t limit = 0;
  size_t slab_bytes = 0;
  size_t largest_free = 0;
  uint64_t live = 0;
  std::vector<size_t> sizes;
  {
    std::lock_guard lock(lock_);
    used = used_;
    held = held_;
    limit = limit_;
    live = allocations_ - frees_;
    for (const Slab* slab : slabs_) slab_bytes += size_t{slab->live} * slab->item_bytes;
    for (const auto& chunk : chunks_) {
      for (const Block* block = chunk->first; block; block = block->after) {
        if (block->arena) {
          largest_free = std::max(largest_free, block->size);
        } else if (block->backed && !(g_pages.find(block->ptr) & 1)) {
          sizes.push_back(block->size);
        }
      }
    }
  }
  std::sort(sizes.rbegin(), sizes.rend());
  std::string holders;
  for (size_t i = 0; i < std::min<size_t>(sizes.size(), 3); ++i)
    holders += fmt::format("{}{}", i ? ", " : "; the largest: ", readable(sizes[i]));
  std::string device;
  try {
    const MemoryInfo info = backend_.memory_info();
    device = fmt::format("{} of {} free on the device", readable(info.free), readable(info.total));
  } catch (const std::exception&) {
    device = "the device does not say what is free";
  }
  raise(ErrorKind::Memory,
        "pool: {} asked for on {}, which cannot be had: {} used by {} allocations{} ({} in small ones), {} held by the pool "
        "(largest free piece {}), limit {}, {}",
        readable(asked), to_string(device_), readable(used), live, holders, readable(slab_bytes), readable(held), readable(largest_free),
        limit ? readable(limit) : "none", device);
}

// ---- foreign allocators ----

void* DevicePool::allocate_foreign(size_t bytes, void* stream) {
  if (lost_.load(std::memory_order_relaxed)) raise_lost_in_fork(device_);
  std::shared_ptr<PoolAllocator> allocator;
  {
    std::lock_guard lock(lock_);
    allocator = allocator_;
  }
  if (!allocator) return allocate(bytes, stream);
  const size_t size = std::max(bytes, granularity_);
  void* ptr = allocator->allocate(size, device_, stream);
  if (!ptr) {
    notify(PoolEvent::Pressure, device_, nullptr, size);
    trim();
    ptr = allocator->allocate(size, device_, stream);
  }
  BC_CHECK(ptr, Memory, "pool: {} asked for on {}, which the {} allocator cannot give", readable(bytes), to_string(device_),
           allocator->name());
  {
    std::lock_guard lock(lock_);
    foreign_blocks_[ptr] = {size, std::move(allocator)};
    count_allocation(size);
    foreign_used_ += size;
  }
  notify(PoolEvent::Allocate, device_, ptr, bytes);
  return ptr;
}

void DevicePool::set_allocator(std::shared_ptr<PoolAllocator> allocator) {
  std::lock_guard lock(lock_);
  allocator_.swap(allocator);
  foreign_.store(allocator_ != nullptr, std::memory_order_release);
}

// ---- statistics, limits and streams ----

PoolStats DevicePool::stats() {
  std::shared_ptr<PoolAllocator> allocator;
  PoolStats stats;
  size_t foreign_used = 0;
  {
    std::lock_guard lock(lock_);
    stats = {used_, held_, peak_, limit_, allocations_, frees_, chunk_allocations_};
    for (const auto& chunk : chunks_)
      for (const Block* block = chunk->first; block; block = block->after) stats.free_blocks += block->arena != nullptr;
    foreign_used = foreign_used_;
    allocator = allocator_;
  }
  stats.held += allocator ? std::max(allocator->held(device_), foreign_used) : foreign_used;
  return stats;
}

void DevicePool::set_limit(size_t bytes) {
  std::lock_guard lock(lock_);
  limit_ = bytes;
}

void DevicePool::reset_peak() {
  std::lock_guard lock(lock_);
  peak_ = used_;
}

void DevicePool::trim() {
  if (lost_.load(std::memory_order_relaxed)) return;
  const HostWait wait;
  std::shared_ptr<PoolAllocator> allocator;
  {
    std::lock_guard growing(grow_mutex_);
    synchronize_arenas();
    release_chunks();
    std::lock_guard lock(lock_);
    allocator = allocator_;
  }
  if (allocator) allocator->trim(device_);
}

void DevicePool::synchronized(void* stream) {
  if (one_stream_) return;
  std::shared_ptr<PoolAllocator> allocator;
  {
    std::lock_guard lock(lock_);
    allocator = allocator_;
    if (arenas_.size() >= 2) clean(arena(stream));  // with one arena, no other stream could use it
  }
  if (allocator) allocator->synchronized(device_, stream);
}

void DevicePool::hand_over(void* stream) {
  if (one_stream_ || !stream) return;
  std::shared_ptr<PoolAllocator> allocator;
  {
    std::lock_guard lock(lock_);
    allocator = allocator_;
    end_arena(stream);
  }
  if (allocator) allocator->hand_over(device_, stream);
}

/// Called with lock_ held.
void DevicePool::end_arena(void* stream) {
  const auto found = std::find_if(arenas_.begin(), arenas_.end(), [&](const auto& there) { return there->stream == stream; });
  if (found == arenas_.end()) return;
  Arena& usual = *arenas_.front();  // the default stream's, which always stays
  move(**found, usual);
  arenas_.erase(found);
  last_ = &usual;
}

void DevicePool::lock_for_fork() {
  grow_mutex_.lock();
  lock_.lock();
}

void DevicePool::unlock_after_fork(bool child) {
  // The child cannot use the device: memory of the parent's arrays stays allocated, and new allocations fail.
  if (child && !traits(device_).survives_fork) lost_.store(true, std::memory_order_relaxed);
  lock_.unlock();
  grow_mutex_.unlock();
}

// ---- all pools; never destroyed, since arrays are freed until the very end of the process ----

std::atomic<DevicePool*> g_pools[kDeviceTypes][kMaxDevices];

std::mutex& pools_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

template <class F>
void each_pool(const F& f) {
  for (auto& type : g_pools) {
    for (auto& slot : type) {
      if (DevicePool* pool = slot.load(std::memory_order_acquire)) f(*pool);
    }
  }
}

void before_fork() {
  pools_mutex().lock();
  each_pool([](DevicePool& pool) { pool.lock_for_fork(); });
  hooks().mutex.lock();
}
void after_fork(bool child) {
  hooks().mutex.unlock();
  each_pool([&](DevicePool& pool) { pool.unlock_after_fork(child); });
  pools_mutex().unlock();
}

[[gnu::noinline]] DevicePool& open_pool(Device device) {
  Backend& owner = backend(device);  // throws if the device does not exist
  BC_CHECK(device.index >= 0 && device.index < kMaxDevices, Runtime, "pool: no device {}", to_string(device));
  at_fork(ForkLevel::Pools, before_fork, after_fork);
  std::lock_guard lock(pools_mutex());
  auto& slot = g_pools[static_cast<int>(device.type)][device.index];
  if (DevicePool* there = slot.load(std::memory_order_relaxed)) return *there;
  auto* made = new DevicePool(device, owner);
  slot.store(made, std::memory_order_release);
  return *made;
}

DevicePool* find_pool(Device device) {
  const auto type = static_cast<unsigned>(device.type);
  const auto index = static_cast<unsigned>(device.index);
  return type < kDeviceTypes && index < kMaxDevices ? g_pools[type][index].load(std::memory_order_acquire) : nullptr;
}

inline DevicePool& pool_of(Device device) {
  DevicePool* pool = find_pool(device);
  return pool ? *pool : open_pool(device);
}

void DevicePool::free_foreign(Device device, void* ptr, void* stream) {
  DevicePool* pool = find_pool(device);
  Foreign foreign;
  if (pool) {
    std::lock_guard lock(pool->lock_);
    if (auto node = pool->foreign_blocks_.extract(ptr)) {
      foreign = std::move(node.mapped());
      pool->count_free(foreign.bytes);
      pool->foreign_used_ -= foreign.bytes;
    }
  }
  BC_CHECK(foreign.allocator, Runtime, "pool_free: {} is not an allocation of {}, or was freed before", ptr, to_string(device));
  notify(PoolEvent::Free, device, ptr, foreign.bytes);
  foreign.allocator->free(ptr, foreign.bytes, device, stream);
}

void DevicePool::free(Device device, void* ptr, void* stream) {
  const uintptr_t entry = g_pages.find(ptr);
  if (entry & 1) [[likely]] {
    auto* slab = as_slab(entry);
    DevicePool& pool = *slab->pool;
    if (pool.lost_.load(std::memory_order_relaxed)) [[unlikely]]
      return;
    const size_t bytes = slab->item_bytes;
    notify(PoolEvent::Free, pool.device_, ptr, bytes);
    pool.free_item(slab, ptr, stream);
    return;
  }
  auto* block = as_block(entry);
  if (!block || block->ptr != ptr) {
    DevicePool* pool = find_pool(device);
    if (pool && pool->lost_.load(std::memory_order_relaxed)) return;
    free_foreign(device, ptr, stream);
    return;
  }
  DevicePool& pool = *block->pool;
  if (pool.lost_.load(std::memory_order_relaxed)) [[unlikely]]
    return;
  const size_t bytes = block->size;
  notify(PoolEvent::Free, pool.device_, ptr, bytes);
  pool.free_block(block, stream);
}

size_t DevicePool::usable(Device device, const void* ptr) {
  const uintptr_t entry = g_pages.find(ptr);
  if (entry & 1) {
    const auto* slab = as_slab(entry);
    if (slab->index(ptr) >= 0) return slab->item_bytes;
  } else if (const auto* block = as_block(entry); block && block->ptr == ptr) {
    return block->size;
  } else if (DevicePool* pool = find_pool(device)) {
    std::lock_guard lock(pool->lock_);
    if (auto found = pool->foreign_blocks_.find(ptr); found != pool->foreign_blocks_.end()) return found->second.bytes;
  }
  raise(ErrorKind::Runtime, "pool_usable_size: {} is not an allocation of {}", ptr, to_string(device));
}

class FunctionAllocator final : public PoolAllocator {
 public:
  FunctionAllocator(PoolAllocate allocate, PoolFree free) : allocate_(std::move(allocate)), free_(std::move(free)) {}
  void* allocate(size_t bytes, Device device, void* stream) override { return allocate_(bytes, device.index, stream); }
  void free(void* ptr, size_t bytes, Device device, void* stream) override { free_(ptr, bytes, device.index, stream); }

 private:
  PoolAllocate allocate_;
  PoolFree free_;
};

}  // namespace

void* pool_allocate(Device device, size_t bytes, void* stream) { return pool_of(device).allocate(bytes, stream); }

void pool_free(Device device, void* ptr, void* stream) {
  if (ptr) DevicePool::free(device, ptr, stream);
}

size_t pool_usable_size(Device device, const void* ptr) { return DevicePool::usable(device, ptr); }

PoolStats pool_stats(Device device) { return pool_of(device).stats(); }
void pool_set_limit(Device device, size_t bytes) { pool_of(device).set_limit(bytes); }
void pool_trim(Device device) { pool_of(device).trim(); }
void pool_reset_peak(Device device) { pool_of(device).reset_peak(); }

void pool_synchronized(Device device, void* stream) {
  if (DevicePool* pool = find_pool(device)) pool->synchronized(stream);
}

void pool_hand_over(Device device, void* stream) {
  if (DevicePool* pool = find_pool(device)) pool->hand_over(stream);
}

int pool_add_hook(PoolHook hook) {
  Hooks& all = hooks();
  std::lock_guard lock(all.mutex);
  auto list = std::make_shared<std::map<int, PoolHook>>(*all.list);
  const int number = all.next++;
  list->emplace(number, std::move(hook));
  g_hook_count.store(static_cast<int>(list->size()), std::memory_order_relaxed);
  all.list = std::move(list);
  return number;
}

void pool_remove_hook(int hook) {
  Hooks& all = hooks();
  std::lock_guard lock(all.mutex);
  auto list = std::make_shared<std::map<int, PoolHook>>(*all.list);
  list->erase(hook);
  g_hook_count.store(static_cast<int>(list->size()), std::memory_order_relaxed);
  all.list = std::move(list);
}

void pool_set_allocator(Device device, std::shared_ptr<PoolAllocator> allocator) { pool_of(device).set_allocator(std::move(allocator)); }

void pool_set_allocator(Device device, PoolAllocate allocate, PoolFree free) {
  BC_CHECK(allocate && free, Value, "pool_set_allocator: expected two functions, got an empty one");
  pool_set_allocator(device, std::make_shared<FunctionAllocator>(std::move(allocate), std::move(free)));
}

}  // namespace bc
