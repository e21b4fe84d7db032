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

/// The accelerator of arrays that are placed by size. Until it is known it is a device of the host.
std::atomic<Device> the_accelerator{Device{}};

std::atomic<bool (*)()> is_alone{nullptr};

bool alone() {
  bool (*const ask)() = is_alone.load(std::memory_order_relaxed);
  return ask && ask();
}

/// From so many operations on, an accelerator repays that small operands are copied to it: about a millisecond of one core.
constexpr int64_t kWorthCopying = int64_t{1} << 24;

/// The accelerator; a machine that has none ends placement by size.
std::optional<Device> accelerator() {
  const Device known = the_accelerator.load(std::memory_order_relaxed);
  if (!traits(known).on_host) return known;
  const std::optional<Device> first = first_accelerator();
  if (first)
    the_accelerator.store(*first, std::memory_order_relaxed);
  else
    detail::placed_elements.store(0, std::memory_order_relaxed);
  return first;
}

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

std::optional<Device> first_accelerator() {
  for (int type = 0; type < kDeviceTypes; ++type)
    if (kDeviceTraits[type].asynchronous && device_count(static_cast<DeviceType>(type)) > 0)
      return Device{static_cast<DeviceType>(type), 0};
  return std::nullopt;
}

void set_placement(int64_t elements, std::optional<Device> accelerator) {
  the_accelerator.store(accelerator.value_or(Device{}), std::memory_order_relaxed);
  detail::placed_elements.store(elements, std::memory_order_relaxed);
}

std::optional<Device> known_accelerator() {
  const Device known = the_accelerator.load(std::memory_order_relaxed);
  return placed_by_size() && !traits(known).on_host ? std::optional(known) : std::nullopt;
}

int64_t accelerated_elements() { return detail::placed_elements.load(std::memory_order_relaxed); }

Device placed(Device device, int64_t size) {
  const int64_t elements = accelerated_elements();
  return elements != 0 && size >= elements && traits(device).on_host ? accelerator().value_or(device) : device;
}

Device placed(Device device, const Dims& shape) { return placed_by_size() ? placed(device, product(shape)) : device; }

void set_alone(bool (*alone)()) { is_alone.store(alone, std::memory_order_relaxed); }

bool move_to_host(const Array& a) {
  Storage& storage = *a.storage();
  if (!placed_by_size() || traits(a.device()).on_host || storage.history || !alone()) return false;
  Tape& from = tape(a.device());
  Array all;
  {
    const TapeLock lock(from);
    if (storage.exposed() || from.capture()) return false;
    all = Array(a.storage(), storage.current->dtype, contiguous_layout(storage.current->shape));
  }
  const Array here = to_device(all, Device{});
  data(here);
  Ref<Node> value;
  {
    const TapeLock lock(tape(Device{}));
    value = here.storage()->current;
    ++value->handles;
  }
  const TapeLock lock(from);
  --storage.current->handles;
  std::swap(storage.current, value);
  storage.device = Device{};
  storage.mirror.reset();
  ++storage.version;
  value = {};  // under its tape's lock
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
    Storage& storage = *a.storage();
    if (!storage.mirror) storage.mirror = std::make_unique<HostMirror>();
    if (++storage.mirror->accesses <= kLoop) return;
  }
  move_to_host(a);
}

void note_whole(const Array& a) {
  if (a.size() < accelerated_elements() || traits(a.device()).on_host) return;
  const TapeLock lock(tape(a.device()));
  if (const auto& mirror = a.storage()->mirror) mirror->accesses = 0;
}

namespace {

/// Counts an op with arrays of the host. Tells whether a small array takes part in many of them.
bool meets_often(const Array& a) {
  constexpr int kOften = 4;
  const TapeLock lock(tape(a.device()));
  Storage& storage = *a.storage();
  if (!storage.mirror) storage.mirror = std::make_unique<HostMirror>();
  return ++storage.mirror->meetings > kOften;
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
  bool on_host = false, large = false;
  std::optional<Device> other;
  for (const Array* a : arrays) {
    if (!a || !*a) continue;
    if (traits(a->device()).on_host) {
      on_host = true;
      large = large || elements_apart(*a) >= elements;
    } else {
      if (other && !(*other == a->device())) return std::nullopt;
      other = a->device();
      if (much) note_whole(*a);
    }
  }
  if (!on_host) return std::nullopt;
  if (other) return size < elements && operations < kWorthCopying && bring_small(arrays) ? std::nullopt : other;
  return (size >= elements || operations >= kWorthCopying) && !large ? accelerator() : std::nullopt;
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
