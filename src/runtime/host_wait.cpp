#include "runtime/host_wait.h"

namespace bc {

std::atomic<int> queued_host_calls{0};

namespace {

void* (*leave_lock)() = nullptr;
void (*enter_lock)(void*) = nullptr;

}  // namespace

void set_host_wait(void* (*leave)(), void (*enter)(void*)) {
  leave_lock = leave;
  enter_lock = enter;
}

void* HostWait::leave() { return leave_lock ? leave_lock() : nullptr; }
void HostWait::enter(void* left) { enter_lock(left); }

}  // namespace bc
