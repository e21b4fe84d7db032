#include "runtime/backend.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>

#include "backends/cpu/cpu_backend.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/null/null_backend.h"
#include "core/error.h"
#include "runtime/device_name.h"
#include "runtime/fork.h"

namespace bc {

namespace {

constexpr int kTypes = 3;
constexpr int kMaxDevices = 64;

// Backends are leaked on purpose: arrays may be freed by other threads and by Python's own shutdown after static destructors have run.
std::atomic<Backend*> g_backends[kTypes][kMaxDevices];
std::atomic<bool> g_cuda_touched{false};
// Set in a child that was forked after CUDA was opened: the driver does not survive a fork.
std::atomic<bool> g_cuda_lost{false};

std::mutex& open_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void lock_for_fork() { open_mutex().lock(); }
void unlock_in_parent() { open_mutex().unlock(); }
void unlock_in_child() {
  if (g_cuda_touched.load(std::memory_order_relaxed)) {
    g_cuda_lost.store(true, std::memory_order_relaxed);
    for (auto& slot : g_backends[static_cast<int>(DeviceType::cuda)]) slot.store(nullptr, std::memory_order_relaxed);
  }
  open_mutex().unlock();
}

void watch_forks() {
  at_fork(ForkLevel::Backends, lock_for_fork, [](bool child) { child ? unlock_in_child() : unlock_in_parent(); });
}

int cuda_devices() {
  if (g_cuda_lost.load(std::memory_order_relaxed)) return 0;
  watch_forks();
  // The driver answers once; a GPU does not come or go while a process runs.
  static const int count = [] {
    g_cuda_touched.store(true, std::memory_order_relaxed);
    try {
      return std::clamp(cuda_device_count(), 0, kMaxDevices);
    } catch (...) {
      return 0;
    }
  }();
  return count;
}

Backend& open_backend(Device device) {
  const int count = device_count(device.type);
  if (device.type == DeviceType::cuda && g_cuda_lost.load(std::memory_order_relaxed)) {
    raise(ErrorKind::Runtime, "{}: CUDA was opened before this process was forked and cannot be used in the child; start it with 'spawn'",
          to_string(device));
  }
  if (device.index < 0 || device.index >= count) {
    if (device.type == DeviceType::cuda && count == 0)
      raise(ErrorKind::Runtime, "{}: no CUDA driver or no GPU was found", to_string(device));
    raise(ErrorKind::Runtime, "{}: no such device, {} of this type can be used", to_string(device), count);
  }
  watch_forks();
  std::lock_guard lock(open_mutex());
  auto& slot = g_backends[static_cast<int>(device.type)][device.index];
  if (Backend* made = slot.load(std::memory_order_relaxed)) return *made;
  std::unique_ptr<Backend> made;
  switch (device.type) {
    case DeviceType::cpu: made = make_cpu_backend(); break;
    case DeviceType::cuda: made = make_cuda_backend(device.index); break;
    case DeviceType::null: made = make_null_backend(device.index); break;
  }
  Backend* result = made.release();
  slot.store(result, std::memory_order_release);
  return *result;
}

/// Where work is done when it is queued, a point in a stream's order is a time.
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

std::string to_string(Device device) {
  switch (device.type) {
    case DeviceType::cpu: return device.index ? fmt::format("cpu:{}", device.index) : "cpu";
    case DeviceType::cuda: return fmt::format("cuda:{}", device.index);
    case DeviceType::null: return device.index ? fmt::format("null:{}", device.index) : "null";
  }
  return "unknown device";
}

std::optional<Device> parse_device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  Device d;
  if (type == "cpu")
    d.type = DeviceType::cpu;
  else if (type == "cuda" || type == "gpu")
    d.type = DeviceType::cuda;
  else if (type == "null")
    d.type = DeviceType::null;
  else
    return std::nullopt;
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
  if (type < kTypes && index < kMaxDevices) [[likely]] {
    if (Backend* made = g_backends[type][index].load(std::memory_order_acquire)) [[likely]]
      return *made;
  }
  return open_backend(device);
}

void finish_opening() {
  if (g_cuda_touched.load(std::memory_order_relaxed)) cuda_devices();
  std::lock_guard lock(open_mutex());
}

int device_count(DeviceType type) {
  switch (type) {
    case DeviceType::cpu: return 1;
    case DeviceType::cuda: return cuda_devices();
    case DeviceType::null: return kNullDevices;
  }
  return 0;
}

}  // namespace bc
