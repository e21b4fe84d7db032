#include "runtime/interrupt.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/fork.h"

namespace bc::interrupt {
namespace {

constexpr long kTickNanoseconds = 50'000'000;
constexpr int kIdleTicks = 20;  // idle ticks after which the counting thread sleeps

enum : uint32_t { kAwake, kAsleep, kNotStarted };

std::atomic<uint32_t> tick{0};
std::atomic<uint32_t> computing{0};  // number of open scopes of the main thread
std::atomic<uint32_t> entries{0};    // number of scopes that the main thread has opened so far
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

/// Increments the word while the main thread computes, and sleeps otherwise until the next computation wakes it. A computation that begins
/// just before the thread sleeps may not see kAsleep, so the thread checks for activity once more, one tick after it has stored kAsleep.
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
  // Signals must go to the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(count).detach();
  } catch (const std::system_error&) {
    // Without the counting thread, Ctrl-C takes effect only after a computation.
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

namespace {

/// asked(), but false when the word has not changed since this thread's last call.
bool asked_lately() {
  const uint32_t now = tick.load(std::memory_order_relaxed);
  if (now == seen) [[likely]]
    return false;
  seen = now;
  return asked();
}

}  // namespace

void poll() {
  if (asked_lately()) throw Interrupted{};
}

void deliver() {
  if (is_main() && front_end.load(std::memory_order_relaxed)->deliver()) throw Interrupted{};
}

bool may_end() { return mode != Mode::never && is_main(); }

Scope wait_scope() { return Scope(mode == Mode::none ? Mode::run : mode); }

void wait_until(const std::function<bool()>& ready, bool sleeps) {
  using std::chrono::steady_clock;
  constexpr auto kLong = std::chrono::milliseconds(50);
  constexpr int kAtOnce = 16;
  const Scope scope = wait_scope();
  const auto start = steady_clock::now();
  for (int asked_times = 0; !ready(); ++asked_times) {
    poll();
    if (asked_times < kAtOnce && !sleeps) continue;
    const auto now = steady_clock::now();
    if (sleeps || now - start > kLong) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    // Frequent queries would block other threads' driver calls. A pause of 1/64 of the elapsed time delays the result only a little.
    while (steady_clock::now() - now < (now - start) / 64) __builtin_ia32_pause();
  }
}

namespace {

/// Counts the work that run_apart() left running after an interrupt. Never destroyed.
struct Left {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};
Left& left() {
  static auto* const l = new Left;
  return *l;
}

struct Apart {
  std::function<void()> work;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  bool left = false;
  std::exception_ptr error;
};

void* work_apart(void* argument) {
  const std::unique_ptr<std::shared_ptr<Apart>> owned(static_cast<std::shared_ptr<Apart>*>(argument));
  const std::shared_ptr<Apart> apart = std::move(*owned);
  pthread_setname_np(pthread_self(), "bc-apart");
  std::exception_ptr error;
  try {
    apart->work();
  } catch (...) {
    error = std::current_exception();
  }
  apart->work = nullptr;
  const std::lock_guard lock(apart->mutex);
  apart->error = std::move(error);
  apart->done = true;
  apart->ended.notify_all();
  if (apart->left) {
    const std::lock_guard counted(left().mutex);
    --left().count;
    left().changed.notify_all();
  }
  return nullptr;
}

/// Starts a thread that gets no signals, with a stack large enough for a recursive C++ compiler.
bool start_apart(const std::shared_ptr<Apart>& apart) {
  auto argument = std::make_unique<std::shared_ptr<Apart>>(apart);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{16} << 20);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, work_apart, argument.get()) == 0;
  if (started) argument.release();
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

void run_apart(std::function<void()> work) {
  if (!may_end()) return work();
  const auto apart = std::make_shared<Apart>();
  apart->work = std::move(work);
  if (!start_apart(apart)) return apart->work();
  const Scope scope = wait_scope();
  std::unique_lock lock(apart->mutex);
  while (!apart->ended.wait_for(lock, std::chrono::milliseconds(20), [&] { return apart->done; })) {
    lock.unlock();
    const bool leaves = asked_lately();
    lock.lock();
    if (!leaves) continue;
    if (!apart->done) {
      apart->left = true;
      const std::lock_guard counted(left().mutex);
      ++left().count;
    }
    throw Interrupted{};
  }
  if (apart->error) std::rethrow_exception(std::exchange(apart->error, nullptr));
}

void finish_apart() {
  std::unique_lock lock(left().mutex);
  left().changed.wait_for(lock, std::chrono::seconds(5), [] { return left().count == 0; });
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
        // The forking thread is the child's only thread, so it is the child's main thread.
        main_thread = pthread_self();
        counter.store(kNotStarted);
        new (&left()) Left;  // the threads that it counts exist only in the parent
      });
}

}  // namespace bc::interrupt
