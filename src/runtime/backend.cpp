#include "runtime/backend.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "core/error.h"
#include "runtime/device_name.h"
#include "runtime/fork.h"

namespace bc {

namespace {

constexpr int kMaxDevices = 64;

// Backends are leaked on purpose: arrays may be freed by other threads and by Python's own shutdown after static destructors have run.
std::atomic<Backend*> g_backends[kDeviceTypes][kMaxDevices];
/// For types whose devices do not survive a fork. touched: this process has asked for a device of the type. lost: the parent had asked for
/// one before the fork, so this process cannot use the type.
std::atomic<bool> g_touched[kDeviceTypes], g_lost[kDeviceTypes];

std::mutex& open_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void lock_for_fork() { open_mutex().lock(); }
void unlock_in_parent() { open_mutex().unlock(); }
void unlock_in_child() {
  for (int type = 0; type < kDeviceTypes; ++type) {
    if (!g_touched[type].load(std::memory_order_relaxed)) continue;
    g_lost[type].store(true, std::memory_order_relaxed);
    for (auto& slot : g_backends[type]) slot.store(nullptr, std::memory_order_relaxed);
  }
  open_mutex().unlock();
}

void watch_forks() {
  at_fork(ForkLevel::Backends, lock_for_fork, [](bool child) { child ? unlock_in_child() : unlock_in_parent(); });
}

bool lost_in_fork(DeviceType type) { return g_lost[static_cast<int>(type)].load(std::memory_order_relaxed); }

Backend& open_backend(Device device) {
  const int count = device_count(device.type);
  if (lost_in_fork(device.type)) raise_lost_in_fork(device);
  if (device.index < 0 || device.index >= count) {
    const char* env = std::getenv("BROADCLOTH_DEVICE");
    const std::string from = env && parse_device(env) == device ? fmt::format(" (BROADCLOTH_DEVICE={})", env) : "";
    if (count == 0) raise(ErrorKind::Runtime, "{}: no CUDA driver or no GPU was found{}", to_string(device), from);
    raise(ErrorKind::Runtime, "{}: no such device, {} of this type can be used{}", to_string(device), count, from);
  }
  watch_forks();
  std::lock_guard lock(open_mutex());
  auto& slot = g_backends[static_cast<int>(device.type)][device.index];
  if (Backend* made = slot.load(std::memory_order_relaxed)) return *made;
  Backend* result = backend_factory(device.type).open(device.index).release();
  slot.store(result, std::memory_order_release);
  return *result;
}

/// The event of backends that run work at once when it is queued: a point in the stream's order is a time.
class TimeEvent final : public StreamEvent {
 public:
  void record(Stream) override { at_.store(std::chrono::steady_clock::now(), std::memory_order_relaxed); }
  bool query() const override { return true; }
  void synchronize() const override {}
  double elapsed(const StreamEvent& start) const override {
    return std::chrono::duration<double, std::milli>(at_.load(std::memory_order_relaxed) -
                                                     static_cast<const TimeEvent&>(start).at_.load(std::memory_order_relaxed))
        .count();
  }

 private:
  std::atomic<std::chrono::steady_clock::time_point> at_{};
};

}  // namespace

Stream Backend::create_stream(const StreamOptions&) {
  static std::atomic<uintptr_t> next{1};
  return {device(), reinterpret_cast<void*>(next.fetch_add(1, std::memory_order_relaxed) << 8)};  // NOLINT(performance-no-int-to-ptr)
}

void Backend::begin_capture(Stream) {
  raise(ErrorKind::NotImplemented, "begin_capture: work of {} cannot be captured", to_string(device()));
}

std::unique_ptr<StreamGraph> Backend::end_capture(Stream) {
  raise(ErrorKind::Runtime, "end_capture: the stream of {} is not being captured", to_string(device()));
}

std::unique_ptr<StreamEvent> Backend::make_event(const EventOptions&) { return std::make_unique<TimeEvent>(); }

void* Backend::allocate_pinned(size_t, bool) {
  raise(ErrorKind::NotImplemented, "allocate_pinned: {} has no page-locked memory", to_string(device()));
}

std::string to_string(Device device) {
  const DeviceTraits& type = traits(device);
  return type.asynchronous || device.index ? fmt::format("{}:{}", type.name, device.index) : type.name;
}

std::optional<DeviceType> device_type(std::string_view name) {
  for (int type = 0; type < kDeviceTypes; ++type)
    if (const DeviceTraits& t = kDeviceTraits[type]; name == t.name || (t.alias && name == t.alias)) return static_cast<DeviceType>(type);
  return std::nullopt;
}

void raise_lost_in_fork(Device device) {
  raise(ErrorKind::Runtime, "{} was opened before this process was forked and cannot be used in the child; start it with 'spawn'",
        to_string(device));
}

std::optional<Device> parse_device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::optional<DeviceType> type = device_type(text.substr(0, colon));
  if (!type) return std::nullopt;
  Device d{*type, 0};
  if (colon == std::string_view::npos) return d;
  const std::string_view number = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), d.index);
  if (error != std::errc() || end != number.data() + number.size() || d.index < 0 || (d.type == DeviceType::cpu && d.index != 0))
    return std::nullopt;
  return d;
}

Backend& backend(Device device) {
  const auto type = static_cast<unsigned>(device.type);
  const auto index = static_cast<unsigned>(device.index);
  if (type < kDeviceTypes && index < kMaxDevices) [[likely]] {
    if (Backend* made = g_backends[type][index].load(std::memory_order_acquire)) [[likely]]
      return *made;
  }
  return open_backend(device);
}

void finish_opening() {
  for (int type = 0; type < kDeviceTypes; ++type)
    if (g_touched[type].load(std::memory_order_relaxed)) device_count(static_cast<DeviceType>(type));
  std::lock_guard lock(open_mutex());
}

int device_count(DeviceType type) {
  if (lost_in_fork(type)) return 0;
  if (!traits(type).survives_fork) {
    watch_forks();
    g_touched[static_cast<int>(type)].store(true, std::memory_order_relaxed);
  }
  return std::min(backend_factory(type).count(), kMaxDevices);
}

}  // namespace bc
