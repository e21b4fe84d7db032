#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/recursive_lock.h"
#include "graph/node.h"
#include "runtime/host_wait.h"

namespace bc {

class Tape;
struct PlanPhases;

/// What the work of streams used while they were captured together: kept for as long as the graph lives.
struct Capture {
  /// The stream whose capture was begun. The graph uses its scratch memory; streams that joined have some in the graph.
  Tape* origin = nullptr;
  bool checked = false;        ///< kernels of the graph may report an error, in the origin's word
  const char* file = nullptr;  ///< of an op that may
  int line = 0;
  Tape* launched = nullptr;  ///< the stream of the last launch; launches wait for each other
  std::vector<Ref<Buffer>> buffers;
  std::vector<std::shared_ptr<void>> owned;  ///< host functions and host memory that it uses, and graphs inside it
  void keep(Buffer& buffer) { buffers.emplace_back(Ref<Buffer>(&buffer)); }
  /// How often it keeps a buffer.
  uint32_t count(const Buffer& buffer) const {
    uint32_t n = 0;
    for (const Ref<Buffer>& b : buffers) n += b.get() == &buffer ? 1u : 0u;
    return n;
  }
};

/// Counters of finished blocks and the error word of one stream of a CUDA device: zero between kernels, which is how kernels leave them.
struct StreamStatus {
  uint32_t* tickets = nullptr;
  int64_t count = 0;
  uint32_t* error = nullptr;
  bool watched = false;  ///< a kernel that may report an error ran since the last look
  const char* file = nullptr;
  int line = 0;
};

/// A stream as the engine sees it: the pending nodes, in program order, and the order of what was queued. Entries are weak: a node whose
/// last owner goes leaves a gap and is never run. The lock guards all tapes of the device, the nodes on them and the storages of the
/// device; it is recursive because releasing a node takes it too. Tapes are never destroyed.
class Tape {
 public:
  Tape(Stream stream, int number, RecursiveLock& mutex, bool foreign)
      : stream_(stream), number_(number), mutex_(mutex), foreign_(foreign) {}

  Device device() const { return stream_.device; }
  Stream stream() const { return stream_; }
  RecursiveLock& mutex() { return mutex_; }

  void append(Node* node);
  void forget(Node* node);
  /// Runs every pending node. On an error the nodes that could not run are dropped and reading them raises it again.
  void flush();
  /// The phases of the plan that a flush would run.
  std::string show(const PlanPhases& phases);
  bool empty() const { return alive() == 0; }
  /// Another library's stream.
  bool foreign() const { return foreign_; }
  /// True for another library's stream while nothing of ours promises that it is there: it may have been destroyed. All that was queued on
  /// it is marked by an event, which is what others wait for, and its free memory is the default stream's.
  bool unowned() const { return foreign_ && borrowers_.load(std::memory_order_acquire) == 0; }
  /// Between these the stream of another library is there. The first waits for what ran under the same handle before; the last one runs
  /// what is pending. They do nothing to a stream of ours.
  void borrow();
  void give_back() noexcept;
  /// Marks what was queued on another library's stream, so that it is not needed for waiting. Called with the lock held.
  void mark();
  /// Makes a handle's stream, which may be a new one, wait for what ran under it before.
  void catch_up();
  /// Tells whether what waits is done before another thread could make use of the time: little work on the CPU, no compile.
  bool short_running() const {
    return device().type == DeviceType::cpu && pending_work_.load(std::memory_order_relaxed) <= kShortRunningWork;
  }
  bool full() const { return alive() >= kMaxNodes || pending_bytes_ > kMaxPendingBytes; }

  // ---- Order ----------------------------------------------------------------------------------------------------------------------
  // A tick is a stream and the number of its last submission. Buffers remember the ticks that used them; a native event is recorded only
  // when another stream needs one. While a process has one stream a device, nothing is remembered.

  uint64_t tick() const { return tick_.load(std::memory_order_relaxed); }
  /// Counts a submission: what was queued since the last one, or is queued before the lock is let go.
  uint64_t submit() {
    const uint64_t next = tick() + 1;
    tick_.store(next, std::memory_order_relaxed);
    return next;
  }
  /// Makes the stream's next work wait for what other streams do with the buffer: for writes, and for reads where it will be written.
  void before(Buffer& buffer, bool write);
  /// Notes that the stream's work up to tick() uses the buffer.
  void after(Buffer& buffer, bool write);
  /// Makes the stream's next work wait for a tick of any device's stream. A wait that is queued counts as a submission, so that whoever
  /// waits for the stream's tick() waits for what the stream waits for.
  void wait_for(Use use);
  /// The same for an event that marks a tick (or, with no tape, something else).
  void wait_for(const StreamEvent& event, const Use& marked);
  /// Makes the stream's next work wait for all that uses the buffer.
  void wait_for_uses(const Buffer& buffer);
  /// Runs what waits, waits for the stream, and raises the errors of its work.
  void synchronize();
  /// Raises what kernels reported since the last call: an index out of range, on CUDA seen at a synchronisation.
  void check_errors();

  /// Calls `release` once the work queued until now is done, in a thread that holds no lock: at a later flush or call of keep(), at the
  /// latest at a synchronisation. `soon`: somebody may wait for it, so that it is called at once where the stream is idle. What a capture
  /// uses is kept as long as its graph.
  void keep(std::function<void()> release, bool soon = false);

  /// The capture that the stream is in; nullptr: none.
  const std::shared_ptr<Capture>& capture() const { return capture_; }
  /// Begins a capture. Waits for all other streams of the device first, since a graph cannot.
  void begin_capture(std::shared_ptr<Capture> capture);
  /// Marks what was queued for those who will wait for it while the stream is captured. To be called before the stream joins a capture.
  void before_capture();
  /// Becomes a part of another stream's capture, which it has waited for.
  void join_capture(const Tape& other);
  /// Leaves the capture, which has ended.
  void leave_capture();
  /// Queues a captured graph by `launch`, in order with all that uses its memory.
  void launch_graph(const std::shared_ptr<Capture>& graph, const std::function<void()>& launch);
  /// Lets go of a graph's memory and functions once the launches so far are done.
  static void end_graph(std::shared_ptr<Capture> graph);

  StreamStatus status;  ///< guarded by the lock
  /// Memory that stays zero between kernels, for `count` counters; and the word for errors.
  uint32_t* tickets(int64_t count);
  uint32_t* error_word();

 private:
  // Past these a flush starts by itself: the planner stays cheap, and memory that only waits stays bounded.
  static constexpr size_t kMaxNodes = 192;
  static constexpr int64_t kMaxPendingBytes = int64_t{16} << 30;
  static constexpr int64_t kShortRunningWork = 4096;  // elements

  void take(std::vector<Ref<Node>>* taken);
  uint64_t seen(const Tape& other) const { return static_cast<size_t>(other.number_) < seen_.size() ? seen_[other.number_] : 0; }

  const Stream stream_;
  const int number_;  ///< among all tapes
  RecursiveLock& mutex_;
  const bool foreign_;
  std::atomic<int> borrowers_{0};
  std::vector<Node*> nodes_;
  std::atomic<size_t> alive_{0};  ///< changed under the lock; whether it is 0 is asked without
  size_t alive() const { return alive_.load(std::memory_order_relaxed); }
  void set_alive(size_t n) { alive_.store(n, std::memory_order_relaxed); }
  void set_work(int64_t n) { pending_work_.store(n, std::memory_order_relaxed); }
  int64_t pending_bytes_ = 0;
  std::atomic<int64_t> pending_work_{0};  ///< elements that the pending nodes walk, about; changed under the lock, asked without
  bool flushing_ = false;
  uint64_t flush_tick_ = 0;  ///< the submission of the flush that is under way
  Slots slots_;              ///< of the flush that runs; kept for its memory

  /// The last tick whose work is all queued: a flush that is under way goes on queueing work of its own tick.
  uint64_t queued() const { return flushing_ ? flush_tick_ - 1 : tick(); }
  void waited(const Use& use);
  void note_done(uint64_t tick);
  void release_kept();
  void release_kept(size_t count);
  void enter_capture(std::shared_ptr<Capture> capture);
  const StreamEvent* last_event() {
    std::lock_guard lock(event_mutex_);
    return event_.get();
  }

  std::atomic<uint64_t> tick_{0};  ///< of the last submission; changed under the lock
  std::atomic<uint64_t> done_{0};  ///< the tick that the host has waited for
  std::vector<uint64_t> seen_;     ///< by number: the tick of another stream that this one waits for already
  std::mutex event_mutex_;         ///< guards the next two; taken last, also under another device's lock
  std::unique_ptr<StreamEvent> event_;
  uint64_t event_tick_ = 0;  ///< what `event_` marks
  std::shared_ptr<Capture> capture_;
  StreamStatus status_outside_;  ///< while the stream is captured: what it had before
  std::vector<uint64_t> seen_outside_;
  std::vector<Tape*> graphs_;   ///< the origins of graphs that ran here and may have reported an error
  const char* file_ = nullptr;  ///< of the last op that was queued, where lines are noted
  int line_ = 0;

  /// What queued work uses and nobody else holds.
  struct Kept {
    uint64_t tick;                       ///< of the last submission that uses it
    uint64_t done;                       ///< the tick that is done with the event
    std::unique_ptr<StreamEvent> event;  ///< marks the end of that work; nullptr: a later entry's does
    std::function<void()> release;
  };
  std::deque<Kept> kept_;  ///< in the stream's order
  std::vector<std::unique_ptr<StreamEvent>> spare_events_;
};

// ---- Which tape ---------------------------------------------------------------------------------------------------------------------

namespace detail {
inline constexpr int kTapeDevices = 64;
extern std::atomic<Tape*> default_tapes[3 * kTapeDevices];
extern std::atomic<bool> many_streams;   ///< a stream beside the default ones exists
extern std::atomic<int> chosen_streams;  ///< how often threads have chosen a stream
Tape& find_tape(Device device);
}  // namespace detail

/// The tape of the stream that this thread uses on a device: the device's default stream unless it chose another.
inline Tape& tape(Device device) {
  if (detail::chosen_streams.load(std::memory_order_relaxed) == 0 && static_cast<unsigned>(device.index) < detail::kTapeDevices) [[likely]]
    if (Tape* t = detail::default_tapes[static_cast<int>(device.type) * detail::kTapeDevices + device.index].load(
            std::memory_order_acquire)) [[likely]]
      return *t;
  return detail::find_tape(device);
}
inline bool many_streams() { return detail::many_streams.load(std::memory_order_relaxed); }

/// Tells whether running what waits on a device takes no longer than handing a lock over.
inline bool short_running(Device device) { return device.type == DeviceType::cpu && !many_streams() && tape(device).short_running(); }
/// The same of all devices.
bool short_running();

/// The tape of a device's default stream.
Tape& default_tape(Device device);
/// The tape of any native stream, which may be another library's.
Tape& tape_of(Stream stream);
/// The stream that CUDA calls the per-thread default stream: one a thread and device, made at the first use.
Tape& per_thread_tape(Device device);
/// A stream of its own. release_stream() gives it back, to be used again by the next who asks for an equal one.
Tape& acquire_stream(Device device, const StreamOptions& options);
void release_stream(Tape& tape);
/// Makes a stream this thread's current one for its device; returns the one before.
Tape& set_current_tape(Tape& tape);
/// Every tape that exists.
std::vector<Tape*> tapes();
std::vector<Tape*> tapes(Device device);
/// Runs what waits on the other streams of a tape's device, before memory that it may read is written.
void flush_others(Tape& tape);

/// Makes a stream the thread's current one for a scope.
class CurrentTape {
 public:
  explicit CurrentTape(Tape& tape) : before_(set_current_tape(tape)) {}
  ~CurrentTape() { set_current_tape(before_); }
  CurrentTape(const CurrentTape&) = delete;
  CurrentTape& operator=(const CurrentTape&) = delete;

 private:
  Tape& before_;
};

/// From now on every tape is locked around a fork, so that the child finds none in the middle of a change.
void watch_forks();

/// Around a wait for a tape's lock: `leave` gives up what its holder may need (Python's lock, for hooks and allocators written in Python,
/// and for queued calls of the host) and returns nullptr when there was nothing, `enter` takes it back. Set once.
void set_lock_wait(void* (*leave)(), void (*enter)(void*));

/// Calls `release` when this thread holds no tape's lock.
void release_unlocked(std::function<void()> release);

/// Holds a tape's lock, and after the last one of a thread is let go hands foreign buffers back to their owners (who may take other locks).
class TapeLock {
 public:
  explicit TapeLock(Tape& tape);
  ~TapeLock();

 private:
  const HostWait wait_;
  Tape& tape_;
};

}  // namespace bc
