#pragma once
#include <atomic>
#include <cstdint>

namespace bc::host {

/// The lock of a list, a set or a dict that several threads hold: many readers, or one writer. Its all-zero bytes are a free lock.
///
/// Readers of a container that nobody changes do not meet each other: each says in a slot of its own thread what it reads, and a writer
/// waits until no slot names its container (Dice & Kogan 2019, BRAVO). After a write readers count themselves in the lock for a while, so
/// that containers which are often written are an ordinary lock.
///
/// A thread may take a lock again that it has; a reader must not become a writer. Threads that hold the lock of a container may take those
/// of what it holds, and no others.
class ContainerLock {
 public:
  void enter(bool writes);
  void leave();

  /// How a thread has the lock: its slot names it, it is counted in `state_`, or it is the writer.
  enum class How : uint8_t { slot, counted, writing };

 private:
  void wait(uint32_t state);
  void enter_to_write();
  How enter_to_read();

  std::atomic<uint32_t> state_;  ///< readers, and the bits below
  std::atomic<int32_t> bias_;    ///< above zero: readers use slots; below: so many reads until they do
};

/// Whether this thread holds the lock of a container. What waits for other locks, the interpreter's above all, must then be put off.
bool holds_container();

}  // namespace bc::host
