#include "runtime/exit.h"

#include <atomic>
#include <cstdlib>

namespace bc {
namespace {

std::atomic<void (*)()> exit_barrier{nullptr};

}  // namespace

void set_exit_barrier(void (*barrier)()) { exit_barrier.store(barrier); }

void arm_exit_barrier() {
  // Handlers run in the reverse order of their registration.
  std::atexit([] {
    if (auto* barrier = exit_barrier.load()) barrier();
  });
}

}  // namespace bc
