#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/recursive_lock.h"
#include "graph/node.h"
#include "runtime/host_wait.h"

namespace bc {

class Tape;
struct Plan;
struct PlanPhases;

/// The memory and functions that captured work uses, of all streams that were captured together. The Capture lives as long as the graph.
struct Capture {
  /// The stream whose capture was begun. The graph uses this stream's scratch memory; streams that joined the capture allocate theirs
  /// inside the graph.
  Tape* origin = nullptr;
  bool checked = false;        ///< kernels of the graph may report an error in the origin's error word
  const char* file = nullptr;  ///< of an op that may report an error
  int line = 0;
  Tape* launched = nullptr;  ///< the stream of the last launch; each launch waits for the previous one
  std::vector<Ref<Buffer>> buffers;
  std::vector<std::shared_ptr<void>> owned;  ///< host functions and host memory that the graph uses, and graphs inside it
  void keep(Buffer& buffer) { buffers.emplace_back(Ref<Buffer>(&buffer)); }
  /// How many references to a buffer it keeps.
  uint32_t count(const Buffer& buffer) const {
    uint32_t n = 0;
    for (const Ref<Buffer>& b : buffers) n += b.get() == &buffer ? 1u : 0u;
    return n;
  }
};

/// The counters of finished blocks and the error word of one stream of a CUDA device. Kernels leave them zero.
struct StreamStatus {
  uint32_t* tickets = nullptr;
  int64_t count = 0;
  uint32_t* error = nullptr;
  bool watched = false;  ///< a kernel that may report an error was launched since the last check
  const char* file = nullptr;
  int line = 0;
};

/// The lock of a device's tapes, which also guards what follows, and the flushes that run without it.
struct DeviceLock {
  RecursiveLock mutex;
  std::vector<uint64_t> running;  ///< their numbers, in the order in which they began
  uint64_t begun = 0;
  std::atomic<size_t> count{0};      ///< how many they are; read without the lock to test for 0
  std::atomic<bool> closing{false};  ///< a fork or the end of the process waits until none runs: flushes keep the lock
  std::mutex ended_mutex;            ///< for those who wait without the lock until `ended` changes
  std::condition_variable ended_one;
  uint32_t ended = 0;  ///< how many have ended
};

/// The engine's state of one stream: its pending nodes in program order, and the order of its queued work. The entries are weak: when the
/// last owner of a node releases it, the node leaves a gap and is never run. The lock guards all tapes of the device, the nodes on them and
/// the device's storages; it is recursive because releasing a node takes it too. Tapes are never destroyed.
///
/// A flush takes nodes off the tape under the lock. On a CPU without streams it lets the lock go while it plans, compiles and computes,
/// however often its thread holds it: whoever calls a flush must afterwards read again what the lock guards. It takes the nodes that its
/// own thread recorded, those that they or the wanted value need, and waits first if another flush computes one of those. So a running
/// flush waits for no other.
class Tape {
 public:
  Tape(Stream stream, int number, DeviceLock& lock, bool foreign)
      : stream_(stream), number_(number), lock_(lock), mutex_(lock.mutex), foreign_(foreign) {}

  Device device() const { return stream_.device; }
  Stream stream() const { return stream_; }
  RecursiveLock& mutex() { return mutex_; }
  DeviceLock& device_lock() { return lock_; }

  void append(Node* node);
  void forget(Node* node);
  /// Runs every pending node, and waits for the flushes that other threads had begun. On an error the nodes that could not run are dropped,
  /// and reading them raises an error.
  void flush();
  /// Runs the pending nodes that this thread recorded.
  void flush_own() { run(false, nullptr); }
  /// The same where the tape is full. Other threads' nodes, which stay, do not make it full again.
  void make_room() {
    flush_own();
    left_ = alive();
  }
  /// Runs a pending node of this tape, and the nodes that this thread recorded. Called with the lock held. The node may not be computed yet
  /// when it returns, if a signal's handler has run, and others may have let it go. False inside a flush of this tape.
  bool compute(Node& node);
  /// How many flushes other threads run on the device without the lock. Called with the lock held.
  size_t others_running(uint64_t until = ~uint64_t{0}) const;
  /// In the child of a fork: the flushes that this thread is inside of are no longer counted among those that run without the lock.
  static void forget_running();
  /// The phases of the plan that a flush would run.
  std::string show(const PlanPhases& phases);
  bool empty() const { return alive() == 0; }
  /// Whether the stream belongs to another library.
  bool foreign() const { return foreign_; }
  /// True for another library's stream while no borrow() guarantees that it exists: it may be destroyed already. An event marks all work
  /// that was queued on it; other streams wait for the event, and the stream's free memory belongs to the default stream.
  bool unowned() const { return foreign_ && borrowers_.load(std::memory_order_acquire) == 0; }
  /// Between borrow() and give_back() another library's stream is guaranteed to exist. The first borrow() makes it wait for earlier work
  /// under the same handle; the last give_back() runs the pending nodes. For our own streams they do nothing.
  void borrow();
  void give_back() noexcept;
  /// Marks the work queued on another library's stream by an event, so that waiting for it does not need the stream. Called with the lock
  /// held.
  void mark();
  /// Makes the stream wait for earlier work under the same handle, which may have been another stream.
  void catch_up();
  /// Tells whether running the pending nodes takes less time than handing the GIL to another thread: little work on the CPU, without a
  /// compile.
  bool short_running() const { return traits(device()).on_host && pending_work_.load(std::memory_order_relaxed) <= kShortRunningWork; }
  bool full() const { return alive() >= left_ + kMaxNodes || pending_bytes_ > kMaxPendingBytes; }

  // ---- Order ---------------------------------------------------------------------------------------------------------------------- A
  // tick is a stream and the number of its last submission. Buffers store the ticks that used them; a native event is recorded only when
  // another stream needs one. While a process has only one stream per device, no tick is stored.

  uint64_t tick() const { return tick_.load(std::memory_order_relaxed); }
  /// Counts a submission: the work that was queued since the last one, or will be queued before the lock is released.
  uint64_t submit() {
    const uint64_t next = tick() + 1;
    tick_.store(next, std::memory_order_relaxed);
    return next;
  }
  /// Makes the stream's next work wait for other streams' writes to the buffer and, if `write`, also for their reads.
  void before(Buffer& buffer, bool write);
  /// Notes that the stream's work up to tick() uses the buffer.
  void after(Buffer& buffer, bool write);
  /// Makes the stream's next work wait for a tick of any device's stream. A queued wait counts as a submission, so that a stream that waits
  /// for this stream's tick() also waits for the awaited work.
  void wait_for(Use use);
  /// The same for an event that marks a tick, or other work if `marked` has no tape.
  void wait_for(const StreamEvent& event, const Use& marked);
  /// Makes the stream's next work wait for all uses of the buffer.
  void wait_for_uses(const Buffer& buffer);
  /// Runs the pending nodes, waits for the stream, and raises the errors of its work.
  void synchronize();
  /// Raises the errors that kernels reported since the last call: an index out of range, which CUDA reports only at a synchronisation.
  void check_errors();

  /// Calls `release` after the work queued until now is done, in a thread that holds no lock: at a later flush or call of keep(), at the
  /// latest at a synchronisation. `soon`: the owner may be waiting for it, so it is called at once if the stream is idle. While the stream
  /// is captured, `release` is called when the graph is destroyed.
  void keep(std::function<void()> release, bool soon = false);

  /// The capture that the stream belongs to, or nullptr.
  const std::shared_ptr<Capture>& capture() const { return capture_; }
  /// Begins a capture. The stream first waits for all other streams of the device, since a graph cannot wait for them.
  void begin_capture(std::shared_ptr<Capture> capture);
  /// Marks the queued work by an event, for streams that wait for it while this stream is captured. Must be called before the stream joins
  /// a capture.
  void before_capture();
  /// Joins the capture of another stream, after this stream has waited for that stream.
  void join_capture(const Tape& other);
  /// Leaves the capture after it has ended.
  void leave_capture();
  /// Queues a captured graph by calling `launch`, in order with all other uses of the graph's memory.
  void launch_graph(const std::shared_ptr<Capture>& graph, const std::function<void()>& launch);
  /// Releases a graph's memory and functions once its launches so far are done.
  static void end_graph(std::shared_ptr<Capture> graph);

  StreamStatus status;  ///< guarded by the lock
  /// Memory for `count` counters, which is zero between kernels; and the word in which kernels report errors.
  uint32_t* tickets(int64_t count);
  uint32_t* error_word();

 private:
  // Beyond these limits recording flushes, so that planning stays cheap and the pending results' memory is bounded.
  static constexpr size_t kMaxNodes = 192;
  static constexpr int64_t kMaxPendingBytes = int64_t{16} << 30;
  static constexpr int64_t kShortRunningWork = 4096;  // elements

  struct Flush;
  enum class Chosen : uint8_t { none, marked, all };
  // `all`: a flush takes every node, not only what this thread recorded, the wanted node, and what those need.
  void run(bool all, Node* wanted);
  void flush_once(bool all, Node* wanted);
  void run_chosen(bool all);
  Chosen choose(bool all, Node* wanted);
  std::shared_ptr<Plan> new_plan(const Hash128& key, const Slots& slots, size_t pending, bool apart);
  void take(bool all, std::vector<Ref<Node>>* taken);
  void put_back(std::span<const Ref<Node>> nodes);
  void drop_lost();
  /// Counts a node that comes to the tape (1) or leaves it (-1).
  void count(const Node& node, int sign);
  bool flushing_here() const;
  bool may_run_apart() const;
  /// The number of this thread in the nodes that it records.
  static uint16_t recorder();
  void wait_for_flush();
  uint64_t seen(const Tape& other) const { return static_cast<size_t>(other.number_) < seen_.size() ? seen_[other.number_] : 0; }

  const Stream stream_;
  const int number_;  ///< index among all tapes
  DeviceLock& lock_;
  RecursiveLock& mutex_;
  const bool foreign_;
  std::atomic<int> borrowers_{0};
  std::vector<Node*> nodes_;
  std::atomic<size_t> alive_{0};  ///< changed under the lock; read without it to test for 0
  size_t alive() const { return alive_.load(std::memory_order_relaxed); }
  void set_alive(size_t n) { alive_.store(n, std::memory_order_relaxed); }
  void set_work(int64_t n) { pending_work_.store(n, std::memory_order_relaxed); }
  size_t left_ = 0;  ///< the nodes that make_room() left
  int64_t pending_bytes_ = 0;
  std::atomic<int64_t> pending_work_{0};  ///< estimated elements that the pending nodes process; changed under the lock, read without it
  bool flushing_ = false;                 ///< a flush runs that keeps the lock
  uint64_t flush_tick_ = 0;               ///< its submission
  Slots slots_;                           ///< the slots of the next flush; a member so that their memory is reused

  /// The last tick whose work is queued completely: a running flush still queues work of its own tick.
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
  std::vector<uint64_t> seen_;     ///< by tape number: the tick of that stream for which this stream waits already
  std::mutex event_mutex_;         ///< guards event_ and event_tick_; taken after all other locks, also under another device's lock
  std::unique_ptr<StreamEvent> event_;
  uint64_t event_tick_ = 0;  ///< the tick that `event_` marks
  std::shared_ptr<Capture> capture_;
  StreamStatus status_outside_;  ///< while the stream is captured: the status before the capture
  std::vector<uint64_t> seen_outside_;
  std::vector<Tape*> graphs_;   ///< the origins of graphs that were launched here and may report an error
  const char* file_ = nullptr;  ///< file of the last op that was queued, if lines are recorded
  int line_ = 0;

  /// A release function that must wait for queued work.
  struct Kept {
    uint64_t tick;                       ///< the last submission that uses the object
    uint64_t done;                       ///< the tick that has finished when the event has
    std::unique_ptr<StreamEvent> event;  ///< marks the end of that work; nullptr: the event of a later entry does
    std::function<void()> release;
  };
  std::deque<Kept> kept_;  ///< in the stream's order
  std::vector<std::unique_ptr<StreamEvent>> spare_events_;
};

// ---- Which tape ---------------------------------------------------------------------------------------------------------------------

namespace detail {
inline constexpr int kTapeDevices = 64;
extern std::atomic<Tape*> default_tapes[3 * kTapeDevices];
extern std::atomic<bool> many_streams;   ///< a stream other than the default streams exists
extern std::atomic<int> chosen_streams;  ///< number of streams that threads have chosen
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

/// Tells whether running a device's pending nodes takes no longer than handing a lock to another thread.
inline bool short_running(Device device) { return traits(device).on_host && !many_streams() && tape(device).short_running(); }
/// The same for all devices.
bool short_running();

/// The tape of a device's default stream.
Tape& default_tape(Device device);
/// The tape of any native stream, possibly one of another library.
Tape& tape_of(Stream stream);
/// The stream that CUDA calls the per-thread default stream: one for each thread and device, created at the first use.
Tape& per_thread_tape(Device device);
/// Returns a stream that no other caller uses. release_stream() returns it for reuse by a later request with equal options.
Tape& acquire_stream(Device device, const StreamOptions& options);
void release_stream(Tape& tape);
/// Makes a stream this thread's current stream for its device; returns the previous one.
Tape& set_current_tape(Tape& tape);
/// Every tape that exists.
std::vector<Tape*> tapes();
std::vector<Tape*> tapes(Device device);
/// Flushes the other tapes of a tape's device. Called before memory is written that their pending nodes may read.
void flush_others(Tape& tape);

/// For its scope, makes a stream the thread's current one.
class CurrentTape {
 public:
  explicit CurrentTape(Tape& tape) : before_(set_current_tape(tape)) {}
  ~CurrentTape() { set_current_tape(before_); }
  CurrentTape(const CurrentTape&) = delete;
  CurrentTape& operator=(const CurrentTape&) = delete;

 private:
  Tape& before_;
};

/// From now on every tape is locked around a fork, so that the child never gets a tape in the middle of a change.
void watch_forks();

/// Sets the functions that release and take the GIL around a wait for a tape's lock: the lock's holder may need the GIL for hooks and
/// allocators written in Python, and for queued host functions. `leave` returns nullptr where the thread does not hold the GIL. Called
/// once.
void set_lock_wait(void* (*leave)(), void (*enter)(void*));

/// Calls `release` as soon as this thread holds no tape's lock.
void release_unlocked(std::function<void()> release);

/// Holds a tape's lock. When a thread releases its last tape lock, it runs the pending release functions of foreign buffers, which may take
/// other locks.
class TapeLock {
 public:
  explicit TapeLock(Tape& tape);
  ~TapeLock();

 private:
  const HostWait wait_;
  Tape& tape_;
};

/// For its scope lets go of a tape's lock, however often this thread holds it.
struct TapeUnlock {
  explicit TapeUnlock(Tape& t);
  TapeUnlock(const TapeUnlock&) = delete;
  ~TapeUnlock();
  Tape& tape;
  const uint32_t depth;
};

/// For its scope lets go of the GIL, if this thread holds it. Used with the tape's lock held.
struct PythonUnlock {
  explicit PythonUnlock(Tape& t);
  PythonUnlock(const PythonUnlock&) = delete;
  ~PythonUnlock();
  Tape& tape;
  void* const left;
};

}  // namespace bc
