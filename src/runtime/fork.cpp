#include "runtime/fork.h"

#include <pthread.h>

#include <atomic>

namespace bc {
namespace {

struct Handler {
  std::atomic<void (*)()> before{nullptr};
  std::atomic<void (*)(bool)> after{nullptr};
};
constexpr int kLevels = static_cast<int>(ForkLevel::Interrupts) + 1;
Handler handlers[kLevels];
// The levels whose `before` ran in this thread's fork. Another thread may register a level after that; its `after` must not run.
thread_local bool begun[kLevels];

void before_fork() {
  for (int level = 0; level < kLevels; ++level)
    if (auto* before = handlers[level].before.load(std::memory_order_acquire)) {
      before();
      begun[level] = true;
    }
}

void after_fork(bool child) {
  for (int level = kLevels; level-- > 0;)
    if (begun[level]) {
      begun[level] = false;
      handlers[level].after.load(std::memory_order_acquire)(child);
    }
}

}  // namespace

void at_fork(ForkLevel level, void (*before)(), void (*after)(bool child)) {
  static const int once = pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); });
  (void)once;
  Handler& handler = handlers[static_cast<int>(level)];
  handler.after.store(after, std::memory_order_release);
  handler.before.store(before, std::memory_order_release);
}

}  // namespace bc
