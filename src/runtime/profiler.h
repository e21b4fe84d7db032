#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace bc {

/// One kernel execution.
struct KernelRecord {
  std::string name;
  Device device;
  int64_t elements = 0;
  int64_t bytes = 0;  ///< read and written
  double seconds = 0;
  int line = 0;  ///< of the program's source, 0 when not known
  std::string file{};
  double start = 0;  ///< seconds on the steady clock
};

/// One executed copy.
struct CopyRecord {
  std::string kind;  ///< "host to device", "device to host", "device to device"
  Device device;
  int64_t bytes = 0;
  double seconds = 0;
  int line = 0;  ///< of the program's source, 0 when not known
  std::string file{};
  double start = 0;  ///< seconds on the steady clock
};

/// "host to device" and so on.
const char* to_string(CopyKind kind);

namespace detail {
extern std::atomic<int> active_recordings;
struct RecordingState;
}  // namespace detail

/// Tells whether any Recording is active. It costs one load, so callers test it before they build a record.
inline bool profiling() { return detail::active_recordings.load(std::memory_order_relaxed) != 0; }

/// Adds a record to every active recording. Thread-safe.
void profile_kernel(KernelRecord record);
void profile_copy(CopyRecord record);

/// Called for each piece of memory that the calling thread's next launch of an array kernel uses. Tests of the order between streams set
/// it, because a driver cannot tell from a pointer how many bytes a kernel uses.
using LaunchObserver = void (*)(const void* memory, size_t bytes, bool write);
extern std::atomic<LaunchObserver> launch_observer;

/// A time of the steady clock in seconds, as records store it; equal to Python's time.perf_counter on Linux.
inline double steady_seconds(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(t.time_since_epoch()).count();
}

/// Collects the kernels and copies of all threads between start() and stop(). Recordings may overlap; each gets all records.
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Deletes earlier records and starts.
  void start();
  /// Stops; a second call does nothing.
  void stop();
  bool active() const;
  /// Returns copies of the records so far.
  std::vector<KernelRecord> kernels() const;
  std::vector<CopyRecord> copies() const;
  /// Seconds between start() and stop(), or until now.
  double seconds() const;

 private:
  std::shared_ptr<detail::RecordingState> state_;
};

}  // namespace bc
