#include "backends/cpu/capture.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/error.h"

namespace bc::cpu {

namespace detail {
std::atomic<int> captured_streams{0};
}

namespace {

using Calls = std::vector<std::function<void()>>;
struct Recording {
  void* origin = nullptr;  ///< the stream whose end_capture ends the capture
  Calls calls;
};

std::mutex mutex;  ///< guards the recordings
std::map<void*, std::shared_ptr<Recording>>& recordings() {
  static auto& all = *new std::map<void*, std::shared_ptr<Recording>>;
  return all;
}

std::shared_ptr<Recording> find(Stream stream) {
  const auto found = recordings().find(stream.native);
  return found == recordings().end() ? nullptr : found->second;
}

class CpuGraph final : public StreamGraph {
 public:
  explicit CpuGraph(Calls calls) : calls_(std::make_shared<const Calls>(std::move(calls))) {}
  void launch(Stream stream) override {
    // Inside another capture, the graph becomes one call of that capture.
    if (record(stream, [calls = calls_] { run(*calls); })) return;
    run(*calls_);
  }
  void upload(Stream) override {}
  size_t node_count() const override { return calls_->size(); }

 private:
  static void run(const Calls& calls) {
    for (const auto& call : calls) call();
  }
  std::shared_ptr<const Calls> calls_;
};

}  // namespace

bool capturing(Stream stream) {
  if (!maybe_capturing()) return false;
  const std::lock_guard lock(mutex);
  return find(stream) != nullptr;
}

bool record(Stream stream, std::function<void()> call) {
  if (!maybe_capturing()) return false;
  const std::lock_guard lock(mutex);
  const auto recording = find(stream);
  if (!recording) return false;
  recording->calls.push_back(std::move(call));
  return true;
}

void begin_capture(Stream stream) {
  BC_CHECK(stream.native != nullptr, Runtime, "begin_capture: the default stream cannot be captured; make a Stream for it");
  const std::lock_guard lock(mutex);
  auto& recording = recordings()[stream.native];
  BC_CHECK(!recording, Runtime, "begin_capture: the stream is being captured already");
  recording = std::make_shared<Recording>();
  recording->origin = stream.native;
  detail::captured_streams.fetch_add(1, std::memory_order_release);
}

std::unique_ptr<StreamGraph> end_capture(Stream stream) {
  std::shared_ptr<Recording> recording;
  {
    const std::lock_guard lock(mutex);
    recording = find(stream);
    BC_CHECK(recording && recording->origin == stream.native, Runtime,
             "end_capture: the stream is not the one whose capture was begun; end it on that one");
    const auto left = std::erase_if(recordings(), [&](const auto& entry) { return entry.second == recording; });
    detail::captured_streams.fetch_sub(static_cast<int>(left), std::memory_order_release);
  }
  return std::make_unique<CpuGraph>(std::move(recording->calls));
}

void join_capture(Stream stream, Stream other) {
  const std::lock_guard lock(mutex);
  const auto recording = find(other);
  if (!recording || stream.native == nullptr) return;
  if (!recordings().emplace(stream.native, recording).second) return;
  detail::captured_streams.fetch_add(1, std::memory_order_release);
}

}  // namespace bc::cpu
