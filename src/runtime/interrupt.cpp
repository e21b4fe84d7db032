#include "runtime/interrupt.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <system_error>
#include <thread>
#include <utility>

#include "runtime/fork.h"

namespace bc::interrupt {
namespace {

constexpr long kTickNanoseconds = 50'000'000;
constexpr int kIdleTicks = 20;  // so long the counting thread stays awake when nothing computes

enum : uint32_t { kAwake, kAsleep, kNotStarted };

std::atomic<uint32_t> tick{0};
std::atomic<uint32_t> computing{0};  // the main thread's scopes
std::atomic<uint32_t> entries{0};    // changes with each of its computations
std::atomic<uint32_t> counter{kNotStarted};
std::atomic<const FrontEnd*> front_end{nullptr};
pthread_t main_thread{};

thread_local Mode mode = Mode::none;
thread_local const Stop* working_for = nullptr;
thread_local uint32_t seen = 0;

bool is_main() { return front_end.load(std::memory_order_relaxed) != nullptr && pthread_equal(main_thread, pthread_self()); }

void pause_for_tick() {
  const timespec time{0, kTickNanoseconds};
  nanosleep(&time, nullptr);
}

/// Counts while the main thread computes. When it does not, the thread sleeps until the next computation wakes it. A computation that
/// began as the thread was about to sleep may not have seen that: so the thread looks again a tick after it said so.
[[noreturn]] void count() {
  uint32_t last = 0;
  const auto active = [&] {
    const uint32_t now = entries.load();
    const bool changed = now != last;
    last = now;
    return changed || computing.load() != 0;
  };
  for (int idle = 0;;) {
    pause_for_tick();
    if (active()) {
      idle = 0;
      tick.fetch_add(1);
      continue;
    }
    if (++idle < kIdleTicks) continue;
    counter.store(kAsleep);
    pause_for_tick();
    idle = 0;
    if (!active()) {
      while (counter.load() == kAsleep) syscall(SYS_futex, &counter, FUTEX_WAIT_PRIVATE, kAsleep, nullptr, nullptr, 0);
    }
    counter.store(kAwake);
  }
}

void start_or_wake() {
  if (counter.exchange(kAwake) == kAsleep) {
    syscall(SYS_futex, &counter, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return;
  }
  // Signals belong to the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(count).detach();
  } catch (const std::system_error&) {
    // Without it computations run to their end.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

const std::atomic<uint32_t>& word() { return tick; }

Scope::Scope(Mode wanted) : before_(mode), main_(is_main()) {
  if (!main_) return;
  if (before_ != Mode::never) mode = wanted;
  computing.store(computing.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  entries.store(entries.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (counter.load(std::memory_order_relaxed) != kAwake) [[unlikely]]
    start_or_wake();
}

Scope::~Scope() {
  if (!main_) return;
  mode = before_;
  computing.store(computing.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

const Stop* work_for(const Stop* stop) { return std::exchange(working_for, stop); }
const Stop* works_for() { return working_for; }

bool asked() {
  for (const Stop* s = working_for; s != nullptr; s = s->parent)
    if (s->set.load(std::memory_order_relaxed)) return true;
  return mode > Mode::never && is_main() && front_end.load(std::memory_order_relaxed)->ask(mode);
}

void poll() {
  const uint32_t now = tick.load(std::memory_order_relaxed);
  if (now == seen) [[likely]]
    return;
  seen = now;
  if (asked()) throw Interrupted{};
}

void deliver() {
  if (is_main() && front_end.load(std::memory_order_relaxed)->deliver()) throw Interrupted{};
}

void set_front_end(const FrontEnd& given) {
  static FrontEnd kept;
  kept = given;
  main_thread = given.main_thread;
  front_end.store(&kept);
  at_fork(
      ForkLevel::Interrupts, [] {},
      [](bool child) {
        if (!child) return;
        // The thread that forks is the child's main one, and its only one.
        main_thread = pthread_self();
        counter.store(kNotStarted);
      });
}

}  // namespace bc::interrupt
