#include "graph/aliases.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "graph/tape.h"

namespace bc {
namespace {

/// A set of overlapping buffers (each overlaps another one of the set), and their shared uses.
struct Group {
  uintptr_t low, high;
  std::vector<const Buffer*> buffers;
  Uses uses;  ///< guarded by the device's lock, like Buffer::uses
};

/// The groups of a device, by their first address and by buffer. Groups do not overlap each other.
struct Groups {
  std::mutex mutex;  ///< taken after all other locks
  std::map<uintptr_t, std::shared_ptr<Group>> by_low;
  std::unordered_map<const Buffer*, std::shared_ptr<Group>> by_buffer;
};

Groups& groups(Device device) {
  static auto* const all = new Groups[detail::kTapeDevices];
  return all[device.index];
}

std::atomic<size_t> known{0};  // number of buffers that are in a group

/// Adds a buffer to the group that it overlaps and merges all groups that it overlaps into one (`joined`). Returns the groups that were
/// merged into it.
std::vector<std::shared_ptr<Group>> join(const Buffer& buffer, std::shared_ptr<Group>* joined) {
  Groups& g = groups(buffer.device);
  uintptr_t low = reinterpret_cast<uintptr_t>(buffer.ptr), high = low + buffer.bytes;
  std::vector<std::shared_ptr<Group>> parts;
  std::shared_ptr<Group> all;
  const std::lock_guard lock(g.mutex);
  auto at = g.by_low.upper_bound(low);
  if (at != g.by_low.begin() && std::prev(at)->second->high > low) --at;
  while (at != g.by_low.end() && at->first < high) {
    low = std::min(low, at->second->low);
    high = std::max(high, at->second->high);
    (all ? parts.emplace_back() : all) = std::move(at->second);
    at = g.by_low.erase(at);
  }
  if (!all) all = std::make_shared<Group>();
  all->low = low, all->high = high;
  all->buffers.push_back(&buffer);
  for (const auto& part : parts) {
    all->buffers.insert(all->buffers.end(), part->buffers.begin(), part->buffers.end());
    for (const Buffer* b : part->buffers) g.by_buffer[b] = all;
  }
  g.by_buffer[&buffer] = all;
  g.by_low[low] = all;
  known.fetch_add(1, std::memory_order_relaxed);
  *joined = std::move(all);
  return parts;
}

void add_reads(Uses& to, const Uses& from) {
  const auto add = [&](const Use& use) {
    if (!use.tape) return;
    if (!to.reads) to.reads = std::make_unique<std::vector<Use>>();
    to.reads->push_back(use);
  };
  add(from.read);
  if (from.reads)
    for (const Use& use : *from.reads) add(use);
}

}  // namespace

void share_uses(Tape& t, Buffer& buffer) {
  if (!traits(buffer.device).asynchronous || buffer.bytes == 0) return;
  {
    Groups& g = groups(buffer.device);
    const std::lock_guard lock(g.mutex);
    if (g.by_buffer.contains(&buffer)) return;
  }
  std::shared_ptr<Group> all;
  const std::vector<std::shared_ptr<Group>> parts = join(buffer, &all);
  Uses& uses = all->uses;
  const auto add = [&](Uses& from) {
    if (!from.write.tape && !from.read.tape) return;
    if (!uses.write.tape && !uses.read.tape) return std::swap(uses, from);
    t.wait_for(uses.write);
    t.wait_for(from.write);
    uses.write = {&t, t.submit()};
    add_reads(uses, from);
  };
  // Our own memory without a recorded use was used by the default stream only.
  if (!buffer.release && !buffer.uses.write.tape && many_streams()) {
    Tape& usual = default_tape(buffer.device);
    buffer.uses.write = {&usual, usual.tick()};
  }
  add(buffer.uses);
  for (const auto& part : parts) add(part->uses);
}

Uses& uses_of(const Buffer& buffer) {
  if (known.load(std::memory_order_relaxed) != 0 && traits(buffer.device).asynchronous) [[unlikely]] {
    Groups& g = groups(buffer.device);
    const std::lock_guard lock(g.mutex);
    if (const auto found = g.by_buffer.find(&buffer); found != g.by_buffer.end()) return found->second->uses;
  }
  return const_cast<Buffer&>(buffer).uses;
}

void forget_uses(const Buffer& buffer) noexcept {
  if (known.load(std::memory_order_relaxed) == 0 || !traits(buffer.device).asynchronous) [[likely]]
    return;
  Groups& g = groups(buffer.device);
  const std::lock_guard lock(g.mutex);
  const auto found = g.by_buffer.find(&buffer);
  if (found == g.by_buffer.end()) return;
  Group& group = *found->second;
  std::erase(group.buffers, &buffer);
  if (group.buffers.empty()) g.by_low.erase(group.low);
  g.by_buffer.erase(found);
  known.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace bc
