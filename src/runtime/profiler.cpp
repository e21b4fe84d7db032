#include "runtime/profiler.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace bc {

std::atomic<LaunchObserver> launch_observer{nullptr};

using Clock = std::chrono::steady_clock;

namespace detail {

std::atomic<int> active_recordings{0};

struct RecordingState {
  bool active = false;
  Clock::time_point started{};
  Clock::time_point stopped{};
  std::vector<KernelRecord> kernels;
  std::vector<CopyRecord> copies;
};

}  // namespace detail

namespace {

using State = std::shared_ptr<detail::RecordingState>;

// One lock for the list of recordings and their contents; it is taken only while a recording is active.
struct Recordings {
  std::mutex mutex;
  std::vector<State> active;
};

Recordings& recordings() {
  static auto* all = new Recordings;  // never destroyed: threads may still run kernels while the process ends
  return *all;
}

/// Copies the record to all recordings but the last and moves it into the last.
template <class Record>
void hand_out(const std::vector<State>& active, std::vector<Record> detail::RecordingState::* list, Record&& record) {
  for (size_t i = 0; i + 1 < active.size(); ++i) ((*active[i]).*list).push_back(record);
  if (!active.empty()) ((*active.back()).*list).push_back(std::move(record));
}

}  // namespace

const char* to_string(CopyKind kind) {
  switch (kind) {
    case CopyKind::HostToDevice: return "host to device";
    case CopyKind::DeviceToHost: return "device to host";
    case CopyKind::DeviceToDevice: return "device to device";
    case CopyKind::HostToHost: return "host to host";
  }
  return "copy";
}

void profile_kernel(KernelRecord record) {
  Recordings& all = recordings();
  std::lock_guard lock(all.mutex);
  hand_out(all.active, &detail::RecordingState::kernels, std::move(record));
}

void profile_copy(CopyRecord record) {
  Recordings& all = recordings();
  std::lock_guard lock(all.mutex);
  hand_out(all.active, &detail::RecordingState::copies, std::move(record));
}

Recording::Recording() : state_(std::make_shared<detail::RecordingState>()) {}

Recording::~Recording() { stop(); }

void Recording::start() {
  Recordings& all = recordings();
  std::lock_guard lock(all.mutex);
  state_->kernels.clear();
  state_->copies.clear();
  state_->started = Clock::now();
  if (state_->active) return;
  state_->active = true;
  all.active.push_back(state_);
  detail::active_recordings.fetch_add(1, std::memory_order_relaxed);
}

void Recording::stop() {
  Recordings& all = recordings();
  std::lock_guard lock(all.mutex);
  if (!state_->active) return;
  state_->active = false;
  state_->stopped = Clock::now();
  std::erase(all.active, state_);
  detail::active_recordings.fetch_sub(1, std::memory_order_relaxed);
}

bool Recording::active() const {
  std::lock_guard lock(recordings().mutex);
  return state_->active;
}

std::vector<KernelRecord> Recording::kernels() const {
  std::lock_guard lock(recordings().mutex);
  return state_->kernels;
}

std::vector<CopyRecord> Recording::copies() const {
  std::lock_guard lock(recordings().mutex);
  return state_->copies;
}

double Recording::seconds() const {
  std::lock_guard lock(recordings().mutex);
  return std::chrono::duration<double>((state_->active ? Clock::now() : state_->stopped) - state_->started).count();
}

}  // namespace bc
