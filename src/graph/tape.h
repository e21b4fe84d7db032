#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "graph/node.h"

namespace bc {

/// The pending nodes of one device's stream, in program order. Entries are weak: a node whose last owner goes leaves a gap and is never run.
/// The lock guards the tape, the nodes on it and the storages of the device; it is recursive because releasing a node takes it too.
class Tape {
 public:
  explicit Tape(Device device) : stream_{device, nullptr} {}

  Device device() const { return stream_.device; }
  Stream stream() const { return stream_; }
  std::recursive_mutex& mutex() { return mutex_; }

  void append(Node* node);
  void forget(Node* node);
  /// Runs every pending node. On an error the nodes that could not run are dropped and reading them raises it again.
  void flush();
  /// The source of the kernels that a flush would run.
  std::string source();
  bool empty() const { return alive_ == 0; }
  bool full() const { return alive_ >= kMaxNodes || pending_bytes_ > kMaxPendingBytes; }

 private:
  // Past these a flush starts by itself: the planner stays cheap, and memory that only waits stays bounded.
  static constexpr size_t kMaxNodes = 192;
  static constexpr int64_t kMaxPendingBytes = int64_t{16} << 30;

  std::vector<Ref<Node>> take();

  Stream stream_;
  std::recursive_mutex mutex_;
  std::vector<Node*> nodes_;
  size_t alive_ = 0;
  int64_t pending_bytes_ = 0;
  bool flushing_ = false;
};

Tape& tape(Device device);
/// Every tape that exists.
std::vector<Tape*> tapes();

/// From now on every tape is locked around a fork, so that the child finds none in the middle of a change.
void watch_forks();

/// Holds a tape's lock, and after the last one of a thread is let go hands foreign buffers back to their owners (who may take other locks).
class TapeLock {
 public:
  explicit TapeLock(Tape& tape);
  ~TapeLock();

 private:
  Tape& tape_;
};

}  // namespace bc
