#include "runtime/parallel.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>

#include "runtime/fork.h"
#include "runtime/interrupt.h"

// Why not oneTBB: a loop of two pieces of 5 or 10 us, repeated like the steps of a simulation, took 10 and 20 us with oneTBB 2021.8 (its
// second thread started too late) and takes 5.2 and 10.3 us here. A thread of this pool spins for a moment after its last piece, so the
// next loop finds it awake; it sleeps when no loop follows. Another reason is fork(): a forked child can start new threads.
namespace bc::cpu {
namespace {

/// Iterations of the spin loop before a thread sleeps: 20 to 50 µs.
constexpr int kSpins = 1000;
/// Loops that can run in parallel at the same time, nested ones included; any further loop runs in its calling thread alone.
constexpr int kSlots = 16;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// The number of cores that the container's CPU quota allows, rounded up; a large number when there is no quota.
int quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  double budget = 0, period = 0;
  if (file >> budget >> period && budget > 0 && period > 0) return std::max(1, static_cast<int>(std::ceil(budget / period)));
  return 1 << 20;
}

int configured_threads() {
  if (const char* text = std::getenv("BROADCLOTH_NUM_THREADS")) {
    const long wanted = std::strtol(text, nullptr, 10);
    if (wanted > 0) return static_cast<int>(std::min(wanted, 1024L));
  }
  cpu_set_t allowed;
  const int cores =
      sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores, 1, quota());
}

thread_local int t_limit = 0;  ///< 0: not set
thread_local int t_id = 0;

/// For its scope, makes the calling thread a member of a loop.
class Member {
 public:
  Member(int id, int limit, const interrupt::Stop* stop) : id_(t_id), limit_(t_limit), stop_(interrupt::work_for(stop)) {
    t_id = id, t_limit = limit;
  }
  ~Member() {
    t_id = id_, t_limit = limit_;
    interrupt::work_for(stop_);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

 private:
  int id_, limit_;
  const interrupt::Stop* stop_;
};

/// The state of a running loop. Slots are never freed, so that any thread may read one at any time.
struct alignas(64) Slot {
  // A thread counts itself in `inside` and then reads `open`; the owner clears `open` and then waits for `inside` to be 0. At least one of
  // the two sees the other's write, so no thread touches a loop that has ended.
  std::atomic<bool> taken{false};
  std::atomic<bool> open{false};
  RangeFunction run = nullptr;
  void* context = nullptr;
  int64_t items = 0;
  int64_t grain = 1;
  int64_t pieces = 0;
  int limit = 0;  ///< the thread limit of the thread that started the loop
  int most = 1;   ///< threads that may take part
  std::atomic<int> members{1};
  interrupt::Stop stop;
  std::exception_ptr error;
  std::mutex error_mutex;
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<int> inside{0};
  std::atomic<bool> owner_sleeps{false};

  void fail() {
    const std::lock_guard lock(error_mutex);
    if (error == nullptr) error = std::current_exception();
    next.store(pieces, std::memory_order_relaxed);
  }

  void drain() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
      try {
        interrupt::poll();
        run(context, i * grain, std::min(items, (i + 1) * grain));
      } catch (const Interrupted&) {
        stop.set.store(true, std::memory_order_relaxed);
        fail();
      } catch (...) {
        fail();
      }
    }
  }

  /// Runs pieces of the slot's loop, if it has one with pieces left.
  bool help() {
    if (!open.load(std::memory_order_acquire)) return false;
    inside.fetch_add(1);
    bool mine = open.load() && next.load(std::memory_order_relaxed) < pieces && members.load(std::memory_order_relaxed) < most;
    if (mine) {
      const int id = members.fetch_add(1, std::memory_order_relaxed);
      mine = id < most;
      if (mine) {
        const Member member(id, limit, &stop);
        drain();
      }
    }
    if (inside.fetch_sub(1) == 1 && owner_sleeps.load()) syscall(SYS_futex, &inside, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return mine;
  }

  void wait_until_left() {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (inside.load() == 0) return;
      relax();
    }
    owner_sleeps.store(true);
    for (int count; (count = inside.load()) != 0;) {
      // Only the owner can be interrupted while other threads run the last pieces.
      try {
        interrupt::poll();
      } catch (const Interrupted&) {
        stop.set.store(true, std::memory_order_relaxed);
        fail();
      }
      const timespec most{0, 50'000'000};
      syscall(SYS_futex, &inside, FUTEX_WAIT_PRIVATE, count, &most, nullptr, 0);
    }
    owner_sleeps.store(false);
  }
};

/// Runs a loop in the calling thread alone.
void run_here(int64_t items, int64_t grain, int64_t pieces, RangeFunction run, void* context) {
  for (int64_t i = 0; i < pieces; ++i) {
    interrupt::poll();
    run(context, i * grain, std::min(items, (i + 1) * grain));
  }
}

class Pool {
 public:
  explicit Pool(int threads) : threads_(threads) {
    // Signals must go to the program's threads: Python expects them in its main thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (int i = 1; i < threads; ++i) std::thread([this] { work(); }).detach();
    } catch (const std::system_error&) {
      // The results do not depend on the number of threads, so fewer threads are no error.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void run(int64_t items, int64_t grain, int64_t pieces, RangeFunction function, void* context) {
    Slot* slot = nullptr;
    for (Slot& candidate : slots_) {
      if (!candidate.taken.load(std::memory_order_relaxed) && !candidate.taken.exchange(true, std::memory_order_acquire)) {
        slot = &candidate;
        break;
      }
    }
    if (slot == nullptr) {
      run_here(items, grain, pieces, function, context);
      return;
    }
    slot->run = function;
    slot->context = context;
    slot->items = items;
    slot->grain = grain;
    slot->pieces = pieces;
    slot->limit = t_limit;
    slot->most = thread_limit();
    slot->stop.set.store(false, std::memory_order_relaxed);
    slot->stop.parent = interrupt::works_for();
    slot->members.store(1, std::memory_order_relaxed);
    slot->next.store(0, std::memory_order_relaxed);
    slot->open.store(true);
    epoch_.fetch_add(1);
    for (int64_t wake = std::min<int64_t>(sleepers_.load(), std::min<int64_t>(pieces, slot->most) - 1); wake > 0; --wake)
      epoch_.notify_one();
    {
      const Member member(0, t_limit, &slot->stop);
      slot->drain();
    }
    slot->open.store(false);
    slot->wait_until_left();
    std::exception_ptr error;
    std::swap(error, slot->error);
    slot->taken.store(false, std::memory_order_release);
    if (error != nullptr) std::rethrow_exception(error);
  }

  int threads() const { return threads_; }

 private:
  // The kernels of some virtual machines keep threads on as few virtual cores as they can (the boot option sched_vcpu_pack). Where two
  // threads begin to work together, such a kernel wakes the second one on the first one's core for 20 to 60 ms: a product of 512 x 512
  // float32 then takes 2.6 ms in the place of 1.4. A woken thread that moved itself to another core (sched_setaffinity, when it joined a
  // loop or right after the wait) did not end it, since the owner is moved at the same time.
  [[noreturn]] void work() {
    for (;;) {
      const uint32_t seen = epoch_.load();
      bool helped = false;
      for (Slot& slot : slots_) helped |= slot.help();
      if (helped) continue;
      int spin = 0;
      while (epoch_.load(std::memory_order_relaxed) == seen && spin < kSpins) {
        relax();
        ++spin;
      }
      if (spin < kSpins) continue;
      sleepers_.fetch_add(1);
      epoch_.wait(seen);
      sleepers_.fetch_sub(1);
    }
  }

  const int threads_;
  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<int> sleepers_{0};
  Slot slots_[kSlots];
};

// Never destroyed: its threads sleep in it while the process ends. A child process gets a new pool, because threads do not survive a fork.
std::atomic<Pool*> g_pool{nullptr};
std::mutex& pool_mutex() {
  static auto& made = *new std::mutex;
  return made;
}

int wanted_threads() {
  static const int threads = configured_threads();
  return threads;
}

Pool& pool() {
  if (Pool* made = g_pool.load(std::memory_order_acquire)) return *made;
  at_fork(
      ForkLevel::Threads, [] { pool_mutex().lock(); },
      [](bool child) {
        if (child) g_pool.store(nullptr, std::memory_order_relaxed);
        pool_mutex().unlock();
      });
  const std::lock_guard lock(pool_mutex());
  if (Pool* made = g_pool.load(std::memory_order_relaxed)) return *made;
  Pool* made = new Pool(wanted_threads());
  g_pool.store(made, std::memory_order_release);
  return *made;
}

}  // namespace

int thread_count() { return wanted_threads(); }
int thread_limit() { return t_limit > 0 ? std::min(t_limit, wanted_threads()) : wanted_threads(); }
void set_thread_limit(int threads) { t_limit = threads; }
int thread_id() { return t_id; }

void run_pieces(int64_t items, int64_t grain, RangeFunction run, void* context) {
  if (items <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (items - 1) / grain + 1;
  if (pieces == 1 || thread_limit() == 1) {
    run_here(items, grain, pieces, run, context);
    return;
  }
  pool().run(items, grain, pieces, run, context);
}

}  // namespace bc::cpu
