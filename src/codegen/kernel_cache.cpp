#include "codegen/kernel_cache.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "codegen/device_library.h"
#include "codegen/kernel_store.h"
#include "core/error.h"
#include "runtime/exit.h"
#include "runtime/fork.h"
#include "runtime/interrupt.h"
#include "runtime/parallel.h"

namespace bc {

namespace {

enum class State : uint8_t {
  Idle,     // no thread works on it
  Queued,   // waits for the background thread
  Running,  // a thread prints, loads or compiles it
  Failed,   // could not be compiled; `error` says why
};

/// A kernel of one backend, created at its first request. Never deleted: readers hold no lock, and callers may keep its kernel.
struct Entry {
  Hash128 key;
  Backend* backend = nullptr;
  std::atomic<LoadedKernel*> kernel{nullptr};
  std::atomic<State> state{State::Idle};  // written with the mutex held
  std::atomic<int64_t> spent{0};          // nanoseconds spent without the kernel
  // The members below are guarded by the mutex, or owned by the thread that set Running.
  std::exception_ptr error;
  KernelSource source;
  Hash128 file;
  bool quick = false;  // of a requested kernel: it may be compiled by Backend::compile_quick
  pthread_t owner{};   // the thread that set Running
};

/// Open addressing. A slot only changes from nullptr to an entry, so readers need no lock; a full table is replaced by a larger one.
struct Table {
  explicit Table(size_t capacity) : mask(capacity - 1), slots(std::make_unique<std::atomic<Entry*>[]>(capacity)) {}
  const size_t mask;
  size_t count = 0;
  std::unique_ptr<std::atomic<Entry*>[]> slots;

  static size_t place(const Backend& backend, const Hash128& key) {
    return key.lo ^ (reinterpret_cast<uintptr_t>(&backend) >> 4) * 0x9e3779b97f4a7c15u;
  }
  Entry* find(const Backend& backend, const Hash128& key) const {
    for (size_t i = place(backend, key);; ++i) {
      Entry* entry = slots[i & mask].load(std::memory_order_acquire);
      if (!entry || (entry->key == key && entry->backend == &backend)) return entry;
    }
  }
  void insert(Entry* entry) {
    size_t i = place(*entry->backend, entry->key);
    while (slots[i & mask].load(std::memory_order_relaxed)) ++i;
    slots[i & mask].store(entry, std::memory_order_release);
    ++count;
  }
};

/// The folder of shipped kernels that the environment names, or nullptr.
const char* named_shipped_folder() { return secure_getenv("BROADCLOTH_SHIPPED_KERNELS"); }

/// The folder of the kernels that ship with broadcloth; empty when there are none.
std::string shipped_folder() {
  if (const char* folder = named_shipped_folder()) return std::strcmp(folder, "0") == 0 ? "" : folder;
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&shipped_folder), &here) == 0 || !here.dli_fname) return {};
  const std::string library = here.dli_fname;
  const std::string folder = library.substr(0, library.find_last_of('/') + 1) + "kernels";
  struct stat status;
  return stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) ? folder : std::string();
}

struct Cache {
  Cache() : table(new Table(1024)) {}

  std::atomic<Table*> table;
  std::atomic<uint64_t> memory_hits{0};
  std::atomic<uint64_t> disk_hits{0};
  std::atomic<uint64_t> shipped_hits{0};
  std::atomic<uint64_t> compiles{0};
  std::atomic<uint64_t> replaced{0};
  std::atomic<int64_t> compile_nanoseconds{0};
  KernelStore store;
  KernelStore shipped{shipped_folder(), !named_shipped_folder()};  // a folder beside the library is as trusted as the library

  std::mutex mutex;
  std::condition_variable changed;  // signalled when an entry leaves Running or the queue changes
  std::vector<Table*> old_tables;   // replaced tables, which readers may still use; together they are no larger than the last table
  std::vector<Entry*> entries;      // all entries ever created
  std::deque<Entry*> queue;
  std::deque<Entry*> requested;  // of kernel_cache_request: a caller needs them soon
  int helpers = 0;               // threads that compile what was requested
  int running = 0;               // entries in State::Running
  bool stopping = false;
  bool exit_registered = false;
  bool has_worker = false;
  bool closing = false;  // the process ends: start no thread
  pthread_t worker{};    // not a std::thread, because a forked child must be able to drop it
};

thread_local int t_building = 0;  // number of entries that this thread has set to Running

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

Cache& cache() {
  // Never destroyed: kernels may be launched until the very end of the process.
  static Cache* all = [] {
    auto* made = new Cache;
    at_fork(ForkLevel::KernelCache, before_fork, [](bool child) { child ? after_fork_in_child() : after_fork_in_parent(); });
    return made;
  }();
  return *all;
}

// A compile in another thread holds locks of the compiler that a forked child could never take, so a fork waits for compiles to end. The
// mutex is held over the fork, so that no compile starts.
void before_fork() {
  Cache& all = cache();
  std::unique_lock lock(all.mutex);
  all.changed.wait_for(lock, std::chrono::seconds(10), [&] { return all.running <= t_building; });
  lock.release();
  all.store.lock_for_fork();
  all.shipped.lock_for_fork();
}

void after_fork_in_parent() {
  cache().store.unlock_after_fork();
  cache().shipped.unlock_after_fork();
  cache().mutex.unlock();
}

void after_fork_in_child() {
  Cache& all = cache();
  all.store.unlock_after_fork();
  all.shipped.unlock_after_fork();
  // The child has only this thread. The parent's waiters would consume notifications, so the condition variable is constructed anew.
  new (&all.changed) std::condition_variable;
  all.has_worker = false;
  all.helpers = 0;
  all.stopping = false;
  all.queue.clear();
  all.requested.clear();
  all.running = t_building;
  for (Entry* entry : all.entries) {
    const State state = entry->state.load(std::memory_order_relaxed);
    const bool orphan = state == State::Running && !pthread_equal(entry->owner, pthread_self());
    if (state == State::Queued || orphan) entry->state.store(State::Idle, std::memory_order_relaxed);
    // The thread that was replacing the quick code took the source with it, so the quick code stays for good.
    if (LoadedKernel* kernel = entry->kernel.load(std::memory_order_relaxed); kernel && orphan) kernel->quick.store(nullptr);
  }
  all.mutex.unlock();
}

Entry& find_or_insert(Cache& all, Backend& backend, const Hash128& key) {
  Table* table = all.table.load(std::memory_order_relaxed);
  if (Entry* there = table->find(backend, key)) return *there;
  auto* entry = new Entry;
  entry->key = key;
  entry->backend = &backend;
  all.entries.push_back(entry);
  if (table->count * 2 >= table->mask) {
    auto* larger = new Table((table->mask + 1) * 2);
    for (size_t i = 0; i <= table->mask; ++i) {
      if (Entry* old = table->slots[i].load(std::memory_order_relaxed)) larger->insert(old);
    }
    all.old_tables.push_back(table);
    larger->insert(entry);
    all.table.store(larger, std::memory_order_release);
  } else {
    table->insert(entry);
  }
  return *entry;
}

// ---- print, load, compile; called without the mutex by the thread that set Running ----

/// Digest of everything that the binary depends on.
Hash128 file_key(const KernelSource& source, const std::string& target) {
  static const Hash128 library = digest(kDeviceLibrary, kDeviceLibrarySize);
  std::string text;
  text.reserve(source.text.size() + target.size() + 256);
  const auto put = [&](std::string_view part) {
    const uint64_t bytes = part.size();
    text.append(reinterpret_cast<const char*>(&bytes), sizeof bytes).append(part);
  };
  text.append(reinterpret_cast<const char*>(&library), sizeof library);
  text.push_back(static_cast<char>(KernelStore::kVersion));
  text.push_back(source.contract ? 'c' : 'p');
  put(target);
  for (const std::string& entry : source.entries) put(entry);
  put(source.text);
  return digest(text.data(), text.size());
}

/// Makes a kernel visible to readers. `quick` is set first, so that no reader takes quick code for optimized code.
void publish(Entry& entry, std::unique_ptr<LoadedKernel> kernel, bool quick) {
  if (quick) kernel->quick.store(&entry, std::memory_order_relaxed);
  entry.kernel.store(kernel.release(), std::memory_order_release);
}

/// The file key of quick code, which is deleted when the optimized code is stored.
Hash128 quick_file(const Entry& entry, const KernelSource& source) { return file_key(source, entry.backend->target() + " quick"); }

bool load_from(KernelStore& store, std::atomic<uint64_t>& hits, Entry& entry, const KernelSource& source, const Hash128& file,
               bool quick = false) {
  auto stored = store.load(file);
  if (!stored) return false;
  if (stored->entries == source.entries) {
    try {
      publish(entry, entry.backend->load(stored->binary, source.entries), quick);
      hits.fetch_add(1, std::memory_order_relaxed);
      return true;
    } catch (const std::exception&) {
      // The file is complete but cannot be loaded here: the kernel is compiled again, which raises any real error.
    }
  }
  store.remove(file);
  return false;
}

bool load_from_disk(Cache& all, Entry& entry, const KernelSource& source) {
  return load_from(all.store, all.disk_hits, entry, source, entry.file) ||
         load_from(all.shipped, all.shipped_hits, entry, source, entry.file);
}

/// Compiles by calling `how`, counts the compile and publishes the kernel; false if `how` returns nothing.
template <class How>
bool compile_by(Cache& all, Entry& entry, const KernelSource& source, const Hash128& file, bool quick, How how) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<char> binary = how();
  if (binary.empty()) return false;
  const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start);
  all.compiles.fetch_add(1, std::memory_order_relaxed);
  all.compile_nanoseconds.fetch_add(elapsed.count(), std::memory_order_relaxed);
  publish(entry, entry.backend->load(binary, source.entries), quick);
  all.store.save(file, entry.backend->target(), source.entries, binary);
  return true;
}

void compile(Cache& all, Entry& entry, const KernelSource& source) {
  compile_by(all, entry, source, entry.file, false, [&] { return entry.backend->compile(source); });
}

/// Makes quick code: from disk or compiled now; false where the backend has no quick mode.
bool make_quickly(Cache& all, Entry& entry, const KernelSource& source) {
  const Hash128 file = quick_file(entry, source);
  return load_from(all.store, all.disk_hits, entry, source, file, true) ||
         compile_by(all, entry, source, file, true, [&] { return entry.backend->compile_quick(source); });
}

/// Compiles the optimized code and replaces the quick code, which may be launched at the same time.
void replace(Cache& all, Entry& entry, const KernelSource& source) {
  const std::vector<char> binary = entry.backend->compile(source);
  entry.kernel.load(std::memory_order_relaxed)->replace(entry.backend->load(binary, source.entries));
  all.replaced.fetch_add(1, std::memory_order_relaxed);
  all.store.save(entry.file, entry.backend->target(), source.entries, binary);
  all.store.remove(quick_file(entry, source));
}

/// Called with the mutex held.
void drop_queues(Cache& all) {
  for (std::deque<Entry*>* queue : {&all.queue, &all.requested}) {
    for (Entry* entry : *queue) entry->state.store(State::Idle, std::memory_order_relaxed);
    queue->clear();
  }
}

void set_running(Cache& all, Entry& entry) {
  entry.state.store(State::Running, std::memory_order_relaxed);
  entry.owner = pthread_self();
  ++all.running;
  ++t_building;
}

void leave_running(Cache& all, Entry& entry, State state) {
  entry.state.store(state, std::memory_order_relaxed);
  --all.running;
  --t_building;
  all.changed.notify_all();
}

/// Waits for a change of the cache; Ctrl-C ends the wait of the main thread.
void wait_for_change(Cache& all, std::unique_lock<std::mutex>& lock) {
  if (!interrupt::may_end()) return all.changed.wait(lock);
  all.changed.wait_for(lock, std::chrono::milliseconds(20));
  lock.unlock();
  interrupt::poll();
  lock.lock();
}

// ---- the background thread ----

void* work(void*) {
  Cache& all = cache();
  pthread_setname_np(pthread_self(), "bc-compile");
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);  // on Linux this sets the priority of this thread only
  std::unique_lock lock(all.mutex);
  for (;;) {
    all.changed.wait(lock, [&] { return all.stopping || all.closing || !all.queue.empty(); });
    if (all.stopping || all.closing) return nullptr;
    const auto next = std::max_element(all.queue.begin(), all.queue.end(), [](const Entry* a, const Entry* b) {
      return a->spent.load(std::memory_order_relaxed) < b->spent.load(std::memory_order_relaxed);
    });
    Entry& entry = **next;  // of equal ones, the first in the queue
    all.queue.erase(next);
    const KernelSource source = std::move(entry.source);
    set_running(all, entry);
    lock.unlock();
    std::exception_ptr error;
    try {
      entry.kernel.load(std::memory_order_relaxed) ? replace(all, entry, source) : compile(all, entry, source);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    // save() may have failed after the kernel was published; the entry has not failed then.
    LoadedKernel* kernel = entry.kernel.load(std::memory_order_relaxed);
    entry.error = kernel ? nullptr : error;
    if (kernel) kernel->quick.store(nullptr, std::memory_order_release);  // optimized now, or the compile failed, which is not tried again
    leave_running(all, entry, kernel ? State::Idle : State::Failed);
    if (!all.exit_registered) {
      // Exit handlers run in reverse order: this one is registered after the compiler was loaded, so it runs before the compiler's
      // handlers.
      all.exit_registered = true;
      std::atexit(kernel_cache_shutdown);
    }
  }
}

/// Starts a thread that may compile; returns an errno.
int start_thread(pthread_t& thread, void* (*run)(void*), void* argument) {
  // Signals must go to the program's threads.
  sigset_t blocked, before;
  sigfillset(&blocked);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{16} << 20);  // a C++ compiler recurses deeply
  const int error = pthread_create(&thread, &attributes, run, argument);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

/// Called with the mutex held.
void start_worker(Cache& all) {
  if (all.has_worker || all.stopping || all.closing) return;
  static const int first = std::atexit(kernel_cache_shutdown);
  (void)first;
  const int error = start_thread(all.worker, work, nullptr);
  BC_CHECK(error == 0, Runtime, "kernel cache: cannot start the background thread: {}", std::strerror(error));
  all.has_worker = true;
}

void* prepare(void* argument) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(argument));
  pthread_setname_np(pthread_self(), "bc-prepare");
  Cache& all = cache();
  std::unique_lock lock(all.mutex);
  if (all.closing || all.stopping) return nullptr;
  ++all.running;
  lock.unlock();
  try {
    (*work)();
  } catch (...) {
    // A later compile raises the same error.
  }
  lock.lock();
  --all.running;
  all.changed.notify_all();
  return nullptr;
}

// ---- cache misses ----

/// Called with the mutex held.
void enqueue(Cache& all, Entry& entry, KernelSource source) {
  start_worker(all);
  entry.source = std::move(source);
  entry.state.store(State::Queued, std::memory_order_relaxed);
  all.queue.push_back(&entry);
  all.changed.notify_all();
}

/// Compiles for the thread that waits in get_slowly; an interrupt may have ended that wait.
void build(Cache& all, Entry& entry, KernelSource& source, bool quick) {
  {
    const std::lock_guard lock(all.mutex);
    ++t_building;
    entry.owner = pthread_self();
  }
  std::exception_ptr error;
  try {
    if (!quick || !source.quick || !make_quickly(all, entry, source)) compile(all, entry, source);
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(all.mutex);
  LoadedKernel* kernel = entry.kernel.load(std::memory_order_relaxed);
  entry.error = kernel ? nullptr : error;
  leave_running(all, entry, kernel ? State::Idle : State::Failed);
  if (!kernel) std::rethrow_exception(error);
  if (kernel->quick.load(std::memory_order_relaxed)) entry.source = std::move(source);
}

[[gnu::noinline]] LoadedKernel& get_slowly(Cache& all, Backend& backend, const Hash128& key, const SourcePrinter& print, bool quick) {
  std::unique_lock lock(all.mutex);
  Entry& entry = find_or_insert(all, backend, key);
  bool waited = false;
  // The compiling thread publishes the kernel before it takes the mutex again.
  while (!entry.kernel.load(std::memory_order_acquire) && entry.state.load(std::memory_order_relaxed) == State::Running) {
    const interrupt::Scope scope = interrupt::wait_scope();
    wait_for_change(all, lock);
    waited = true;
  }
  if (LoadedKernel* kernel = entry.kernel.load(std::memory_order_acquire)) {
    all.memory_hits.fetch_add(1, std::memory_order_relaxed);
    return *kernel;
  }
  if (waited && entry.error) std::rethrow_exception(entry.error);
  const bool queued = entry.state.load(std::memory_order_relaxed) == State::Queued;
  if (queued) {  // compiles it here instead of waiting for the entries before it
    std::erase(all.queue, &entry);
    std::erase(all.requested, &entry);
  }
  const auto source = std::make_shared<KernelSource>(std::move(entry.source));
  set_running(all, entry);
  lock.unlock();
  try {
    if (!queued) {
      *source = print();
      entry.file = file_key(*source, backend.target());
    }
    if (!queued && load_from_disk(all, entry, *source)) {
      lock.lock();
      entry.error = nullptr;
      leave_running(all, entry, State::Idle);
      return *entry.kernel.load(std::memory_order_relaxed);
    }
  } catch (...) {
    lock.lock();
    entry.error = std::current_exception();
    leave_running(all, entry, State::Failed);
    throw;
  }
  --t_building;  // build() increments the counter of its own thread
  interrupt::run_apart([&all, &entry, source, quick] { build(all, entry, *source, quick); });
  return *entry.kernel.load(std::memory_order_acquire);
}

/// Compiles requested kernels until none is left.
void* help(void*) {
  pthread_setname_np(pthread_self(), "bc-compile");
  Cache& all = cache();
  std::unique_lock lock(all.mutex);
  while (!all.requested.empty() && !all.stopping && !all.closing) {
    Entry& entry = *all.requested.front();
    all.requested.pop_front();
    KernelSource source = std::move(entry.source);
    const bool quick = entry.quick;
    set_running(all, entry);
    --t_building;  // build() increments it
    lock.unlock();
    try {
      build(all, entry, source, quick);
    } catch (...) {
      // kernel_cache_get compiles the kernel again and raises the error.
    }
    lock.lock();
  }
  --all.helpers;
  return nullptr;
}

/// Called with the mutex held. The thread that waits for a requested kernel compiles too.
void start_helper(Cache& all) {
  if (all.helpers >= std::max(1, cpu::thread_count() - 1) || all.stopping || all.closing) return;
  pthread_t thread;
  if (start_thread(thread, help, nullptr) != 0) return;
  pthread_detach(thread);
  ++all.helpers;
}

[[gnu::noinline]] LoadedKernel* try_slowly(Cache& all, Backend& backend, const Hash128& key, const SourcePrinter& print, bool compile) {
  std::unique_lock lock(all.mutex);
  Entry& entry = find_or_insert(all, backend, key);
  if (LoadedKernel* kernel = entry.kernel.load(std::memory_order_acquire)) return kernel;
  switch (entry.state.load(std::memory_order_relaxed)) {
    case State::Running:
    case State::Queued: return nullptr;
    case State::Failed: std::rethrow_exception(entry.error);
    case State::Idle: break;
  }
  set_running(all, entry);
  lock.unlock();
  KernelSource source;
  std::exception_ptr error;
  bool loaded = false;
  try {
    source = print();
    entry.file = file_key(source, backend.target());
    loaded = load_from_disk(all, entry, source);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  entry.error = error;
  if (error || loaded || !compile || all.stopping || all.closing) {
    leave_running(all, entry, State::Idle);
    if (error) std::rethrow_exception(error);
    return entry.kernel.load(std::memory_order_relaxed);
  }
  leave_running(all, entry, State::Idle);
  enqueue(all, entry, std::move(source));
  return nullptr;
}

}  // namespace

LoadedKernel& kernel_cache_get(Backend& backend, const Hash128& key, const SourcePrinter& print, bool quick) {
  Cache& all = cache();
  if (const Entry* entry = all.table.load(std::memory_order_acquire)->find(backend, key)) {
    if (LoadedKernel* kernel = entry->kernel.load(std::memory_order_acquire)) [[likely]] {
      all.memory_hits.fetch_add(1, std::memory_order_relaxed);
      return *kernel;
    }
  }
  return get_slowly(all, backend, key, print, quick);
}

LoadedKernel* kernel_cache_find(Backend& backend, const Hash128& key) {
  const Entry* entry = cache().table.load(std::memory_order_acquire)->find(backend, key);
  return entry ? entry->kernel.load(std::memory_order_acquire) : nullptr;
}

void kernel_cache_request(Backend& backend, const Hash128& key, const SourcePrinter& print, bool quick) {
  Cache& all = cache();
  std::unique_lock lock(all.mutex);
  Entry& entry = find_or_insert(all, backend, key);
  if (entry.kernel.load(std::memory_order_relaxed) || entry.state.load(std::memory_order_relaxed) != State::Idle) return;
  set_running(all, entry);
  lock.unlock();
  KernelSource source;
  bool loaded = false, failed = false;
  try {
    source = print();
    entry.file = file_key(source, backend.target());
    loaded = load_from_disk(all, entry, source);
  } catch (...) {
    failed = true;  // kernel_cache_get fails in the same way
  }
  lock.lock();
  leave_running(all, entry, State::Idle);
  if (loaded || failed || all.stopping || all.closing) return;
  entry.source = std::move(source);
  entry.quick = quick;
  entry.state.store(State::Queued, std::memory_order_relaxed);
  all.requested.push_back(&entry);
  start_helper(all);
}

void kernel_cache_improve(LoadedKernel& kernel, bool wait) {
  Cache& all = cache();
  std::unique_lock lock(all.mutex);
  // Entries are never deleted, so the pointer is valid even after kernel_cache_clear.
  while (auto* entry = static_cast<Entry*>(kernel.quick.load(std::memory_order_relaxed))) {
    const auto idle = [&] { return entry->state.load(std::memory_order_relaxed) == State::Idle; };
    if (idle()) {
      if (all.stopping || all.closing) return;
      enqueue(all, *entry, std::move(entry->source));
    }
    if (!wait) return;
    const interrupt::Scope scope = interrupt::wait_scope();
    while (!idle()) wait_for_change(all, lock);
  }
}

LoadedKernel* kernel_cache_try(Backend& backend, const Hash128& key, const SourcePrinter& print, int64_t nanoseconds) {
  Cache& all = cache();
  if (Entry* entry = all.table.load(std::memory_order_acquire)->find(backend, key)) {
    if (LoadedKernel* kernel = entry->kernel.load(std::memory_order_acquire)) [[likely]] {
      all.memory_hits.fetch_add(1, std::memory_order_relaxed);
      return kernel;
    }
    entry->spent.fetch_add(nanoseconds, std::memory_order_relaxed);
    const State state = entry->state.load(std::memory_order_relaxed);
    if (state == State::Queued || state == State::Running) return nullptr;
  }
  return try_slowly(all, backend, key, print, true);
}

LoadedKernel* kernel_cache_load(Backend& backend, const Hash128& key, const SourcePrinter& print) {
  Cache& all = cache();
  if (LoadedKernel* kernel = kernel_cache_find(backend, key)) {
    all.memory_hits.fetch_add(1, std::memory_order_relaxed);
    return kernel;
  }
  return try_slowly(all, backend, key, print, false);
}

namespace {

Hash128 binary_file(const std::string& target, const Hash128& key) {
  const std::string text = fmt::format("program {} {}", target, to_string(key));
  return digest(text.data(), text.size());
}

}  // namespace

CachedBinary kernel_cache_binary(const std::string& target, const Hash128& key, std::function<CachedBinary()> make) {
  Cache& all = cache();
  const Hash128 file = binary_file(target, key);
  for (const auto& [store, hits] : {std::pair(&all.store, &all.disk_hits), std::pair(&all.shipped, &all.shipped_hits)})
    if (auto stored = store->load(file)) {
      hits->fetch_add(1, std::memory_order_relaxed);
      return {{stored->binary.begin(), stored->binary.end()}, std::move(stored->entries)};
    }
  // Counts as running, so that a fork waits for it as for any other compile.
  struct Running {
    explicit Running(Cache& all) : all(all) {
      std::lock_guard lock(all.mutex);
      ++all.running;
      ++t_building;
    }
    ~Running() {
      std::lock_guard lock(all.mutex);
      --all.running;
      --t_building;
      all.changed.notify_all();
    }
    Cache& all;
  };
  const auto made = std::make_shared<CachedBinary>();
  interrupt::run_apart([&all, made, make = std::move(make), file, target] {
    const Running running(all);
    const auto start = std::chrono::steady_clock::now();
    *made = make();
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start);
    all.compiles.fetch_add(1, std::memory_order_relaxed);
    all.compile_nanoseconds.fetch_add(elapsed.count(), std::memory_order_relaxed);
    all.store.save(file, target, made->names, made->bytes);
  });
  return std::move(*made);
}

double kernel_compile_seconds() { return 1e-9 * static_cast<double>(cache().compile_nanoseconds.load(std::memory_order_relaxed)); }

CacheStats kernel_cache_stats() {
  Cache& all = cache();
  CacheStats stats;
  stats.memory_hits = all.memory_hits.load(std::memory_order_relaxed);
  stats.disk_hits = all.disk_hits.load(std::memory_order_relaxed);
  stats.compiles = all.compiles.load(std::memory_order_relaxed);
  stats.compile_seconds = kernel_compile_seconds();
  all.store.usable_folder();  // checks the folder, which sets the warning
  const KernelStore::Usage usage = all.store.usage();
  stats.disk_bytes = usage.bytes;
  stats.disk_files = usage.files;
  stats.disk_limit = all.store.limit();
  stats.folder = all.store.folder();
  stats.warning = all.store.warning();
  stats.shipped_hits = all.shipped_hits;
  stats.replaced = all.replaced.load(std::memory_order_relaxed);
  const KernelStore::Usage shipped = all.shipped.usage();
  stats.shipped_folder = all.shipped.folder();
  stats.shipped_bytes = shipped.bytes;
  stats.shipped_files = shipped.files;
  return stats;
}

void kernel_cache_clear(bool disk) {
  Cache& all = cache();
  {
    std::lock_guard lock(all.mutex);
    drop_queues(all);
    all.old_tables.push_back(all.table.load(std::memory_order_relaxed));
    all.table.store(new Table(1024), std::memory_order_release);
    all.changed.notify_all();
  }
  if (disk) all.store.clear();
}

void kernel_cache_write(const std::string& folder, const std::string& target, std::span<const KernelSource> sources,
                        const std::function<std::vector<char>(const KernelSource&)>& compile) {
  KernelStore store;
  store.set_folder(folder);
  store.set_limit(std::numeric_limits<size_t>::max());
  for (const KernelSource& source : sources) store.save(file_key(source, target), target, source.entries, compile(source));
  BC_CHECK(store.warning().empty(), Runtime, "{}", store.warning());
}

void kernel_cache_write_binary(const std::string& folder, const std::string& target, const Hash128& key, const CachedBinary& binary) {
  KernelStore store;
  store.set_folder(folder);
  store.set_limit(std::numeric_limits<size_t>::max());
  store.save(binary_file(target, key), target, binary.names, binary.bytes);
  BC_CHECK(store.warning().empty(), Runtime, "{}", store.warning());
}

void kernel_cache_pack(const std::string& folder) {
  KernelStore store;
  store.set_folder(folder);
  store.pack();
}

size_t kernel_cache_export(const std::string& path) { return cache().store.archive(path); }
size_t kernel_cache_import(const std::string& path) { return cache().store.import(path); }
void kernel_cache_set_folder(const std::string& folder) { cache().store.set_folder(folder); }
std::string kernel_cache_folder() { return cache().store.usable_folder(); }
void kernel_cache_set_limit(size_t bytes) { cache().store.set_limit(bytes); }

void kernel_cache_prepare(std::function<void()> work) {
  // No lock is taken here: callers hold locks that a fork takes after the cache's.
  auto held = std::make_unique<std::function<void()>>(std::move(work));
  pthread_t thread;
  if (start_thread(thread, prepare, held.get()) != 0) return;
  held.release();
  pthread_detach(thread);
}

bool kernel_cache_opened(Backend& backend) {
  static std::atomic<bool> opened{false};
  static std::atomic<pid_t> opening{0};  // a forked child may have lost its parent's thread
  if (opened.load(std::memory_order_acquire)) [[likely]]
    return true;
  if (const pid_t process = getpid(); opening.exchange(process) != process)
    kernel_cache_prepare([&backend] {
      backend.target();
      opened.store(true, std::memory_order_release);
    });
  return false;
}

void kernel_cache_wait() {
  Cache& all = cache();
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return all.queue.empty() && all.requested.empty() && all.running <= t_building; });
}

void kernel_cache_shutdown() {
  // After exit_begun() the thread sleeps at its next call of a compiler, so it cannot be joined.
  if (exit_begun()) return;
  Cache& all = cache();
  std::unique_lock lock(all.mutex);
  drop_queues(all);
  if (!all.has_worker || all.stopping) return;
  all.stopping = true;
  all.changed.notify_all();
  lock.unlock();
  pthread_join(all.worker, nullptr);
  lock.lock();
  all.has_worker = false;
  all.stopping = false;
  all.changed.notify_all();
}

void kernel_cache_close() {
  {
    Cache& all = cache();
    const std::lock_guard lock(all.mutex);
    all.closing = true;
  }
  kernel_cache_shutdown();
  interrupt::finish_apart();
}

}  // namespace bc
