#include "array/placement.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "core/extents.h"
#include "graph/tape.h"

namespace bc {

namespace detail {
std::atomic<int64_t> placed_elements{0};

void raise_two_devices(const char* op, const Array& a, const Array& b) {
  raise(ErrorKind::Value, "{}: expected all arrays on one device, got {} and {}; use to_device()", op, to_string(a.device()),
        to_string(b.device()));
}
}  // namespace detail

namespace {

/// The accelerator of arrays that are placed by size, and the one to open instead of the first. A device of the host stands for none.
std::atomic<Device> the_accelerator{Device{}}, wanted_accelerator{Device{}};

std::atomic<bool (*)()> is_alone{nullptr};

/// A storage's mirror, with its counts. Called with the lock of the storage's device.
HostMirror& mirror_of(Storage& storage) {
  if (!storage.mirror) storage.mirror = std::make_unique<HostMirror>();
  return *storage.mirror;
}

bool alone() {
  bool (*const ask)() = is_alone.load(std::memory_order_relaxed);
  return ask && ask();
}

/// From so many operations on, an accelerator repays that small operands are copied to it: about a millisecond of one core.
constexpr int64_t kWorthCopying = int64_t{1} << 24;

/// The time, in ns, that the host goes on working on large arrays before the accelerator is opened, and the length of an op that opens it
/// at once.
std::atomic<int64_t> patience_left{0}, long_op{0};

/// So many elements take the host less time than a launch.
int64_t few_elements() { return std::max<int64_t>(accelerated_elements() / 8, 1); }

/// The elements of an array that are apart in memory.
int64_t elements_apart(const Array& a) {
  int64_t n = 1;
  for (int d = 0; d < a.ndim(); ++d)
    if (a.strides()[d] != 0) n *= a.shape()[d];
  return n;
}

}  // namespace

std::optional<Device> accelerator_for(int64_t nanoseconds) {
  const Device known = the_accelerator.load(std::memory_order_relaxed);
  if (!traits(known).on_host) return known;
  if (patience_left.fetch_sub(nanoseconds, std::memory_order_relaxed) > nanoseconds &&
      nanoseconds < long_op.load(std::memory_order_relaxed))
    return std::nullopt;
  const Device wanted = wanted_accelerator.load(std::memory_order_relaxed);
  const std::optional<Device> found = traits(wanted).on_host ? first_accelerator() : std::optional(wanted);
  Storage::waiting.store(false, std::memory_order_relaxed);
  if (found)
    the_accelerator.store(*found, std::memory_order_relaxed);
  else
    detail::placed_elements.store(0, std::memory_order_relaxed);
  return found;
}

std::optional<Device> first_accelerator() {
  for (int type = 0; type < kDeviceTypes; ++type)
    if (kDeviceTraits[type].asynchronous && device_count(static_cast<DeviceType>(type)) > 0)
      return Device{static_cast<DeviceType>(type), 0};
  return std::nullopt;
}

void set_placement(int64_t elements, std::optional<Device> accelerator, int64_t patience) {
  const Device wanted = accelerator.value_or(Device{});
  wanted_accelerator.store(wanted, std::memory_order_relaxed);
  the_accelerator.store(patience > 0 ? Device{} : wanted, std::memory_order_relaxed);
  Storage::waiting.store(elements != 0 && patience > 0, std::memory_order_relaxed);
  patience_left.store(patience, std::memory_order_relaxed);
  long_op.store(patience / 8, std::memory_order_relaxed);
  detail::placed_elements.store(elements, std::memory_order_relaxed);
}

std::optional<Device> known_accelerator() {
  const Device known = the_accelerator.load(std::memory_order_relaxed);
  return placed_by_size() && !traits(known).on_host ? std::optional(known) : std::nullopt;
}

int64_t accelerated_elements() { return detail::placed_elements.load(std::memory_order_relaxed); }

Device placed(Device device, int64_t size) {
  const int64_t elements = accelerated_elements();
  return elements != 0 && size >= elements && traits(device).on_host ? accelerator_for(size).value_or(device) : device;
}

Device placed(Device device, const Dims& shape) { return placed_by_size() ? placed(device, product(shape)) : device; }

void set_alone(bool (*alone)()) { is_alone.store(alone, std::memory_order_relaxed); }

namespace {

/// Moves a storage to another device, unless it must stay.
bool move_storage(const Array& a, Device device) {
  Storage& storage = *a.storage();
  if (storage.history || !alone()) return false;
  Tape& from = tape(a.device());
  Array all;
  {
    const TapeLock lock(from);
    if (storage.exposed() || from.capture()) return false;
    all = Array(a.storage(), storage.current->dtype, contiguous_layout(storage.current->shape));
  }
  const Array there = to_device(all, device);
  data(there);
  Ref<Node> value;
  {
    const TapeLock lock(tape(device));
    value = there.storage()->current;
    ++value->handles;
  }
  const TapeLock lock(from);
  --storage.current->handles;
  std::swap(storage.current, value);
  storage.device = device;
  storage.mirror.reset();
  ++storage.version;
  value = {};  // under its tape's lock
  return true;
}

}  // namespace

bool move_to_host(const Array& a) {
  if (!placed_by_size() || traits(a.device()).on_host || !move_storage(a, Device{})) return false;
  const TapeLock lock(tape(Device{}));
  a.storage()->early = false;
  return true;
}

bool move_small_to_host(const Array& a) {
  if (!placed_by_size() || traits(a.device()).on_host) return false;
  {
    const TapeLock lock(tape(a.device()));
    if (a.storage()->current->size >= accelerated_elements()) return false;
  }
  return move_to_host(a);
}

void note_part(const Array& a, int64_t size) {
  constexpr int kLoop = 64;
  if (!placed_by_size() || traits(a.device()).on_host || size > few_elements()) return;
  {
    const TapeLock lock(tape(a.device()));
    if (++mirror_of(*a.storage()).accesses <= kLoop) return;
  }
  move_to_host(a);
}

namespace {

/// Notes that an op with many elements uses an array; `open`: the accelerator, once it is opened.
void note_use(const Array& a, std::optional<Device> open) {
  if (elements_apart(a) < accelerated_elements()) return;
  if (traits(a.device()).on_host) {
    if (open && a.storage()->early) move_storage(a, *open);
    return;
  }
  const TapeLock lock(tape(a.device()));
  if (const auto& mirror = a.storage()->mirror) mirror->accesses = 0;
}

}  // namespace

void note_whole(const Array& a) {
  if (placed_by_size()) note_use(a, a.size() < accelerated_elements() ? std::nullopt : accelerator_for(a.size()));
}

namespace {

/// Counts an op with arrays of the host. Tells whether a small array takes part in many of them.
bool meets_often(const Array& a) {
  constexpr int kOften = 4;
  const TapeLock lock(tape(a.device()));
  return ++mirror_of(*a.storage()).meetings > kOften;
}

/// Brings the small arrays of an op to the host, where its other operands lie, if each takes part in many such ops. Tells whether all lie
/// there now.
bool bring_small(std::span<const Array* const> arrays) {
  const auto there = [](const Array* a) { return a && *a && !traits(a->device()).on_host; };
  bool often = true;
  for (const Array* a : arrays) often = often && (!there(a) || meets_often(*a));
  return often && std::ranges::all_of(arrays, [&](const Array* a) { return !there(a) || move_small_to_host(*a); });
}

}  // namespace

std::optional<Device> place_of_op(std::span<const Array* const> arrays, int64_t size, int64_t operations) {
  const int64_t elements = accelerated_elements();
  if (elements == 0) return std::nullopt;
  const bool much = std::max(size, operations) > few_elements();
  const bool long_enough = size >= elements || operations >= kWorthCopying;
  const std::optional<Device> open = long_enough ? accelerator_for(size + operations / 16) : known_accelerator();
  bool on_host = false, large = false;
  std::optional<Device> other;
  for (const Array* a : arrays) {
    if (!a || !*a) continue;
    if (much) note_use(*a, open);
    if (traits(a->device()).on_host) {
      on_host = true;
      large = large || elements_apart(*a) >= elements;
    } else {
      if (other && !(*other == a->device())) return std::nullopt;
      other = a->device();
    }
  }
  if (!on_host) return std::nullopt;
  if (other) return !long_enough && bring_small(arrays) ? std::nullopt : other;
  return long_enough && !large ? open : std::nullopt;
}

std::optional<Device> place_of_op(std::span<const Array> arrays, int64_t size, int64_t operations) {
  if (!placed_by_size()) return std::nullopt;
  std::vector<const Array*> list;
  for (const Array& a : arrays) list.push_back(&a);
  return place_of_op(std::span<const Array* const>(list), size, operations);
}

Array brought(const Array& a, Device device) {
  if (a.device() == device) return a;
  Layout once = a.layout();
  for (int d = 0; d < once.ndim(); ++d)
    if (once.strides[d] == 0 && once.shape[d] > 0) once.shape[d] = 1;
  return broadcast_to(to_device(a.with_layout(std::move(once)), device), a.shape());
}

Array beside(const Array& index, const Array& a) {
  return index.device() == a.device() || placed_by_size() ? index : to_device(index, a.device());
}

Array with_storage_at(const Array& a, Device device) {
  if (a.device() == device) return a;
  Array all;
  {
    const TapeLock lock(tape(a.device()));
    const Ref<Node>& value = a.storage()->current;
    all = Array(a.storage(), value->dtype, contiguous_layout(value->shape));
  }
  return Array(to_device(all, device).storage(), a.dtype(), a.layout()).detached(a.is_detached());
}

std::vector<Array> brought(std::span<const Array> arrays, Device device) {
  std::vector<Array> made;
  for (const Array& a : arrays) made.push_back(a ? brought(a, device) : a);
  return made;
}

}  // namespace bc
