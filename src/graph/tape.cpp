#include "graph/tape.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <unordered_map>

#include "codegen/kernel_cache.h"
#include "core/error.h"
#include "graph/plan.h"
#include "graph/show_plan.h"
#include "runtime/exit.h"
#include "runtime/fork.h"
#include "runtime/interrupt.h"

namespace bc {
namespace {

std::atomic<size_t> max_plans{4096};  // a device's plan cache is cleared when it has this many plans

/// Writes the phases of a new plan that BROADCLOTH_DUMP names.
void dump(const Plan& plan) {
  const PlanPhases& phases = dumped_phases();
  if (phases.plan || phases.ir || phases.source) std::fputs(plan_text(plan, phases).c_str(), stderr);
}

std::mutex registry_mutex;

struct StreamOf {
  Tape* tape;
  StreamOptions options;
};

/// All tapes, and the streams that can be reused. Guarded by registry_mutex; never destroyed, like the tapes.
struct Registry {
  std::vector<Tape*> all;
  std::vector<StreamOf> own;   ///< created by acquire_stream
  std::vector<StreamOf> free;  ///< released by release_stream
};

Registry& registry() {
  static Registry* const r = new Registry;
  return *r;
}

int place_of(Device device) { return static_cast<int>(device.type) * detail::kTapeDevices + device.index; }

DeviceLock& device_lock(Device device) {
  static auto* const all = new DeviceLock[3 * detail::kTapeDevices];
  return all[place_of(device)];
}

/// Called with registry_mutex held.
Tape* make_tape(Stream stream, bool foreign = false) {
  Registry& r = registry();
  r.all.push_back(new Tape(stream, static_cast<int>(r.all.size()), device_lock(stream.device), foreign));
  return r.all.back();
}

/// The streams that this thread chose, and its per-thread default streams.
struct ThreadStreams {
  std::vector<Tape*> chosen;
  std::vector<Tape*> own;
  ~ThreadStreams() {
    detail::chosen_streams.fetch_sub(static_cast<int>(chosen.size()), std::memory_order_relaxed);
    for (Tape* t : own) release_stream(*t);
  }
};
thread_local ThreadStreams thread_streams;

constexpr size_t kSpareStreams = 32;  // when this many released streams are busy, one of them is reused

/// Plans by tape_hash. Guarded by the device's lock. A flush shares ownership of its plan, because its work may flush another stream of the
/// device, which may clear the cache.
struct PlanCache {
  std::unordered_map<Hash128, std::shared_ptr<Plan>> plans;
};

PlanCache& plan_cache(Device device) {
  // Never destroyed: a daemon thread may flush while the process ends.
  static PlanCache* const caches = new PlanCache[3 * detail::kTapeDevices];
  return caches[place_of(device)];
}

/// A value is needed after the flush if an array holds it, or if an op refers to it that is just being recorded or is left on the tape: it
/// then has more owners than the flush's nodes that read it and the list itself.
void mark_held(std::span<const Ref<Node>> pending) {
  for (const Ref<Node>& n : pending) n->mark = 1;
  for (const Ref<Node>& n : pending)
    for (const Operand& o : n->in) ++o.node->mark;
  for (const Ref<Node>& n : pending) n->held = n->handles > 0 || n->refs() > n->mark;
}

/// Copies of a flush's nodes and of the values that they read, as they are now: the planner reads and changes them while other threads use
/// the nodes. Made, with `slots` as tape_hash leaves them, and destroyed with the lock held.
struct PlannedNodes {
  PlannedNodes(const Slots& from, size_t pending) {
    for (const Ref<Node>& n : from.nodes) {
      Node& copy = *slots.nodes.emplace_back(Ref<Node>::first(new Node));
      copy.op = n->op;
      copy.dtype = n->dtype;
      std::copy(std::begin(n->loop), std::end(n->loop), copy.loop);
      copy.device = n->device;
      copy.shape = n->shape;
      copy.size = n->size;
      copy.buffer = n->buffer;
      copy.tape = n->tape;
      copy.handles = n->handles;
      copy.held = n->held;
      copy.label = n->label;
      copy.slot = n->slot;
    }
    for (size_t i = 0; i < pending; ++i) {
      slots.nodes[i]->extra.reset(from.nodes[i]->extra.get());  // lent: of a taken node only the flush uses it
      for (Operand o : from.nodes[i]->in) {
        o.node = slots.nodes[o.node->slot];
        slots.nodes[i]->in.push_back(std::move(o));
      }
    }
  }
  ~PlannedNodes() {
    for (const Ref<Node>& n : slots.nodes) {
      n->tape = nullptr;
      static_cast<void>(n->extra.release());
    }
  }
  PlannedNodes(const PlannedNodes&) = delete;
  PlannedNodes& operator=(const PlannedNodes&) = delete;
  Slots slots;
};

}  // namespace

namespace detail {

std::atomic<Tape*> default_tapes[3 * kTapeDevices];
std::atomic<bool> many_streams{false};
std::atomic<int> chosen_streams{0};

Tape& find_tape(Device device) {
  if (chosen_streams.load(std::memory_order_relaxed) != 0)
    for (Tape* t : thread_streams.chosen)
      if (t->device() == device) return *t;
  return default_tape(device);
}

}  // namespace detail

Tape& default_tape(Device device) {
  BC_CHECK(device.index >= 0 && device.index < detail::kTapeDevices, Value, "device: expected an index from 0 to 63, got {}", device.index);
  std::atomic<Tape*>& place = detail::default_tapes[place_of(device)];
  if (Tape* t = place.load(std::memory_order_acquire)) return *t;
  backend(device);  // throws if the device does not exist
  std::lock_guard lock(registry_mutex);
  if (!place.load()) place.store(make_tape({device, nullptr}), std::memory_order_release);
  return *place.load();
}

Tape& tape_of(Stream stream) {
  Tape& usual = default_tape(stream.device);
  if (!stream.native) return usual;
  if (Tape& current = tape(stream.device); current.stream().native == stream.native) return current;
  std::unique_lock lock(registry_mutex);
  for (Tape* t : registry().all)
    if (t->stream().native == stream.native && t->device() == stream.device) {
      lock.unlock();
      if (t->unowned()) t->catch_up();
      return *t;
    }
  detail::many_streams.store(true, std::memory_order_relaxed);
  return *make_tape(stream, true);
}

Tape& acquire_stream(Device device, const StreamOptions& options) {
  default_tape(device);
  Backend& b = backend(device);
  const auto equal = [&](const StreamOf& s) {
    return s.tape->device() == device && s.options.non_blocking == options.non_blocking && s.options.priority == options.priority;
  };
  {
    std::lock_guard lock(registry_mutex);
    std::vector<StreamOf>& free = registry().free;
    const bool many = static_cast<size_t>(std::count_if(free.begin(), free.end(), equal)) >= kSpareStreams;
    for (auto s = free.begin(); s != free.end(); ++s) {
      if (!equal(*s) || s->tape->capture()) continue;  // a query would invalidate the capture
      bool idle = many;
      try {
        idle = idle || b.query(s->tape->stream());
      } catch (...) {
        continue;  // its work failed, so it is not reused
      }
      if (!idle) continue;
      Tape* t = s->tape;
      free.erase(s);
      return *t;
    }
  }
  const Stream stream = b.create_stream(options);
  std::lock_guard lock(registry_mutex);
  detail::many_streams.store(true, std::memory_order_relaxed);
  Tape* t = make_tape(stream);
  registry().own.push_back({t, options});
  return *t;
}

void release_stream(Tape& tape) {
  std::lock_guard lock(registry_mutex);
  for (const StreamOf& s : registry().own)
    if (s.tape == &tape) registry().free.push_back(s);
}

Tape& per_thread_tape(Device device) {
  for (Tape* t : thread_streams.own)
    if (t->device() == device) return *t;
  Tape& t = acquire_stream(device, {.non_blocking = false, .priority = 0});
  thread_streams.own.push_back(&t);
  return t;
}

Tape& set_current_tape(Tape& chosen) {
  Tape& usual = default_tape(chosen.device());
  std::vector<Tape*>& list = thread_streams.chosen;
  Tape* before = &usual;
  const auto found = std::find_if(list.begin(), list.end(), [&](Tape* t) { return t->device() == chosen.device(); });
  if (found != list.end()) {
    before = *found;
    if (&chosen != &usual) {
      *found = &chosen;
    } else {
      list.erase(found);
      detail::chosen_streams.fetch_sub(1, std::memory_order_relaxed);
    }
  } else if (&chosen != &usual) {
    list.push_back(&chosen);
    detail::chosen_streams.fetch_add(1, std::memory_order_relaxed);
  }
  return *before;
}

void flush_others(Tape& tape) {
  if (!many_streams()) [[likely]]
    return;
  for (Tape* t : tapes(tape.device()))
    if (t != &tape) t->flush();
}

namespace {

/// Takes a tape's lock when no flush runs without it, if that is so.
bool lock_idle(Tape& t, bool wait) {
  RecursiveLock& mutex = t.mutex();
  if (wait)
    mutex.lock();
  else if (!mutex.try_lock())
    return false;
  if (t.others_running() == 0) return true;
  mutex.unlock();
  return false;
}

void before_fork() {
  // A running compile holds locks for which the fork's own handlers would wait.
  kernel_cache_wait();
  for (Tape* t : tapes()) {
    t->device_lock().closing.store(true);
    while (!lock_idle(*t, true)) {
      std::optional<TapeUnlock> unlocked;
      if (t->mutex().owned()) unlocked.emplace(*t);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  kernel_cache_wait();  // flushes that have just ended may have requested kernels
  registry_mutex.lock();
}

void after_fork(bool child) {
  registry_mutex.unlock();
  for (Tape* t : tapes()) {
    DeviceLock& lock = t->device_lock();
    // In the child the lock must not be owned by a thread of the parent, so a new lock replaces it.
    if (child) {
      new (&lock) DeviceLock;
      continue;
    }
    lock.closing.store(false);
    lock.mutex.unlock();
  }
  if (child) Tape::forget_running();
}

}  // namespace

/// Takes every device's lock until the process ends: running flushes of daemon threads finish, and no flush or compile begins after that.
/// Python has ended by now, so no waiting thread holds the GIL.
void hold_tapes() {
  kernel_cache_close();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (Tape* t : tapes()) {
    t->device_lock().closing.store(true);
    while (!lock_idle(*t, false) && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void watch_forks() {
  at_fork(ForkLevel::Tapes, before_fork, after_fork);
  set_exit_barrier(hold_tapes);
}

std::vector<Tape*> tapes() {
  std::lock_guard lock(registry_mutex);
  return registry().all;
}

std::vector<Tape*> tapes(Device device) {
  std::vector<Tape*> all = tapes();
  std::erase_if(all, [&](Tape* t) { return !(t->device() == device); });
  return all;
}

bool short_running() {
  if (many_streams()) return false;
  std::lock_guard lock(registry_mutex);
  for (const Tape* t : registry().all)
    if (!t->short_running()) return false;
  return true;
}

namespace {

/// Estimates the elements that a node processes: its own or those of its largest operand. A library op may do more work per element, and a
/// user's function always waits for the compiler.
int64_t work_of(const Node& node) {
  int64_t n = node.size;
  for (const Operand& o : node.in) n = std::max(n, o.node->size);
  return node.op == Op::user || node.op == Op::reduce_user ? int64_t{1} << 40 : node.op == Op::library ? 16 * n : n;
}

}  // namespace

// ---- Flushes --------------------------------------------------------------------------------------------------------------------

/// One run of nodes that have left the tape. It is made and destroyed with the lock held.
struct Tape::Flush {
  enum class End { planned, ran, failed, interrupted };

  explicit Flush(Tape& t) : tape(t), slots(std::exchange(t.slots_, {})), outer(std::exchange(innermost, this)) {}
  ~Flush() {
    leave();
    if (apart)
      leave_running();
    else
      tape.flushing_ = false;
    innermost = outer;
    // Releasing nodes can destroy buffers whose owners record and flush again.
    slots.nodes.clear();
    slots.buffers.clear();
    if (tape.slots_.nodes.capacity() == 0) std::swap(slots, tape.slots_);
  }
  Flush(const Flush&) = delete;
  Flush& operator=(const Flush&) = delete;

  /// Whether a node that was not computed goes back on the tape.
  bool later(Node& node) const {
    if (end == End::interrupted) return node.mark != kComputed;
    if (end != End::failed || node.mark == kComputed) return false;
    for (const Operand& o : node.in)
      if (o.node->mark == kFailed) node.mark = kFailed;
    return node.mark != kFailed;
  }

  /// Gives the nodes their values. Those that an interrupt or an error kept from being computed go back on the tape, but for what failed
  /// and what depends on it: such nodes have no buffer, and reading them raises.
  void leave() {
    std::vector<Ref<Node>> back;
    const bool ran = !slots.buffers.empty();
    for (size_t i = 0; i < count; ++i) {
      Node& node = *slots.nodes[i];
      node.running = false;
      node.tape = nullptr;
      if (ran && slots.buffers[i]) node.buffer = std::move(slots.buffers[i]);
      if (later(node)) {
        back.push_back(slots.nodes[i]);
        continue;
      }
      node.in.clear();
      node.extra.reset();
    }
    // In a capture a constant is written only when the graph runs, so code outside the graph must not use it.
    for (size_t i = count; ran && i < slots.nodes.size(); ++i)
      if (Node& node = *slots.nodes[i]; node.op == Op::constant && !node.buffer && !tape.capture_)
        node.buffer = std::move(slots.buffers[i]);
    if (!back.empty()) tape.put_back(back);
    if (end == End::failed || end == End::planned) tape.drop_lost();
  }

  /// From now on the flush runs without the lock.
  void enter_running() {
    apart = ++tape.lock_.begun;
    tape.lock_.running.push_back(apart);
    ++tape.lock_.count;
  }
  void leave_running() const {
    DeviceLock& lock = tape.lock_;
    std::erase(lock.running, apart);
    --lock.count;
    const std::lock_guard waited(lock.ended_mutex);
    ++lock.ended;
    lock.ended_one.notify_all();
  }

  Tape& tape;
  Slots slots;
  size_t count = 0;  ///< the nodes that were taken: the first slots
  End end = End::planned;
  uint64_t apart = 0;  ///< its number in DeviceLock::running; 0: it keeps the lock
  Flush* const outer;
  /// The flush that this thread is inside of; its address tells threads apart.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Flush* innermost;
};
constinit thread_local Tape::Flush* Tape::Flush::innermost = nullptr;

void Tape::forget_running() {
  for (Flush* f = Flush::innermost; f; f = f->outer) f->apart = 0;
}

uint16_t Tape::recorder() { return static_cast<uint16_t>(reinterpret_cast<uintptr_t>(&Flush::innermost) * 0x9e3779b97f4a7c15u >> 48); }

void Tape::append(Node* node) {
  for (const Operand& o : node->in)
    if (!o.node->buffer && !o.node->tape) [[unlikely]]
      require_value(*o.node);
  node->tape = this;
  node->recorder = recorder();
  node->tape_index = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(node);
  count(*node, 1);
}

void Tape::count(const Node& node, int sign) {
  set_alive(alive() + static_cast<size_t>(sign));
  pending_bytes_ += sign * node.size * itemsize(node.dtype);
  set_work(pending_work_.load(std::memory_order_relaxed) + sign * work_of(node));
}

void Tape::forget(Node* node) {
  TapeLock lock(*this);
  if (!node->tape) return;  // a flush in another thread has taken the node already
  nodes_[node->tape_index] = nullptr;
  count(*node, -1);
  if (alive() == 0) nodes_.clear();
  while (!nodes_.empty() && !nodes_.back()) nodes_.pop_back();
}

bool Tape::flushing_here() const {
  for (const Flush* f = Flush::innermost; f; f = f->outer)
    if (&f->tape == this) return true;
  return false;
}

size_t Tape::others_running(uint64_t until) const {
  auto n = static_cast<size_t>(std::count_if(lock_.running.begin(), lock_.running.end(), [&](uint64_t number) { return number <= until; }));
  for (const Flush* f = Flush::innermost; f; f = f->outer) n -= f->apart != 0 && f->apart <= until && &f->tape.lock_ == &lock_ ? 1 : 0;
  return n;
}

/// Waits, without the lock, until another flush of the device that runs now has ended. Throws Interrupted.
void Tape::wait_for_flush() {
  const uint32_t seen = lock_.ended;
  const PythonUnlock python(*this);
  const TapeUnlock unlocked(*this);
  std::unique_lock lock(lock_.ended_mutex);
  while (!lock_.ended_one.wait_for(lock, std::chrono::milliseconds(20), [&] { return lock_.ended != seen; })) {
    lock.unlock();
    interrupt::poll();
    lock.lock();
  }
}

/// Whether flushes may run without the lock.
bool Tape::may_run_apart() const {
  return traits(device()).on_host && !many_streams() && !capture_ && Buffer::exposed_on_host.load(std::memory_order_relaxed) == 0;
}

/// Marks what a flush takes. None: it must first wait for a flush that computes what it needs.
Tape::Chosen Tape::choose(bool all, Node* wanted) {
  // Flushes that keep the lock expect that no other runs.
  if (!may_run_apart()) return others_running() ? Chosen::none : Chosen::all;
  const uint16_t mine = recorder();
  const auto is_asked = [&](const Node* n) { return !n || all || n->recorder == mine || n == wanted; };
  if (lock_.count.load(std::memory_order_relaxed) == 0 && std::all_of(nodes_.begin(), nodes_.end(), is_asked)) return Chosen::all;
  for (Node* n : nodes_)
    if (n) n->mark = is_asked(n);
  if (wanted && wanted->running) return Chosen::none;
  for (size_t i = nodes_.size(); i-- > 0;) {  // an operand comes before its readers
    const Node* n = nodes_[i];
    if (!n || !n->mark) continue;
    for (const Operand& o : n->in) {
      if (o.node->running) return Chosen::none;
      o.node->mark = 1;
    }
  }
  return Chosen::marked;
}

/// Takes all or the marked nodes off the tape. A node whose last owner has just let it go stays; it will leave the tape by itself.
void Tape::take(bool all, std::vector<Ref<Node>>* taken) {
  taken->reserve(alive());
  size_t left = 0;
  for (Node* n : nodes_) {
    if (!n) continue;
    if ((all || n->mark) && n->try_retain()) {
      taken->push_back(Ref<Node>::adopt(n));
      n->running = true;
      continue;
    }
    n->tape_index = static_cast<uint32_t>(left);
    nodes_[left++] = n;
  }
  nodes_.resize(left);
  if (left != 0) {
    for (const Ref<Node>& n : *taken) count(*n, -1);
    return;
  }
  left_ = 0;
  set_alive(0);
  pending_bytes_ = 0;
  set_work(0);
}

/// Puts nodes that a flush did not come to back on the tape, before nodes that were recorded since then.
void Tape::put_back(std::span<const Ref<Node>> nodes) {
  std::vector<Node*> later;
  later.swap(nodes_);
  const auto put = [&](Node& n) {
    n.tape = this;
    n.tape_index = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(&n);
  };
  for (const Ref<Node>& n : nodes) {
    put(*n);
    count(*n, 1);
  }
  for (Node* n : later)
    if (n) put(*n);
}

/// After an error: what other threads have recorded meanwhile that reads a lost value is lost too.
void Tape::drop_lost() {
  std::vector<Ref<Node>> lost;
  std::vector<Operands> owned;  // released when the list of nodes is not in use
  for (Node*& n : nodes_) {
    if (!n) continue;
    bool without = false;
    for (const Operand& o : n->in) without |= !o.node->buffer && !o.node->tape && o.node->op != Op::constant;
    if (!without || !n->try_retain()) continue;
    lost.push_back(Ref<Node>::adopt(n));
    owned.push_back(n->in);
    n->in.clear();
    n->extra.reset();
    n->tape = nullptr;
    count(*n, -1);
    n = nullptr;
  }
}

/// Plans what a flush has taken; `apart`: without the lock, which it lets go and takes again.
std::shared_ptr<Plan> Tape::new_plan(const Hash128& key, const Slots& slots, size_t pending, bool apart) {
  std::shared_ptr<Plan> plan;
  {
    const PlannedNodes copies(slots, pending);
    std::optional<TapeUnlock> unlocked;
    if (apart) unlocked.emplace(*this);
    plan = std::make_shared<Plan>(make_plan(copies.slots, static_cast<int>(pending), target_of(device())));
    dump(*plan);
  }
  PlanCache& cache = plan_cache(device());
  if (cache.plans.size() >= max_plans.load(std::memory_order_relaxed)) cache.plans.clear();
  return cache.plans.emplace(key, std::move(plan)).first->second;  // another thread may have planned the same
}

void Tape::run_chosen(bool all) {
  std::optional<PythonUnlock> python;
  Flush flush(*this);
  const int64_t before = pending_work_.load(std::memory_order_relaxed);
  take(all, &flush.slots.nodes);
  flush.count = flush.slots.nodes.size();
  if (flush.count == 0) return;
  flush_tick_ = submit();
  flushing_ = true;
  mark_held(flush.slots.nodes);
  if (const Node& last = *flush.slots.nodes[flush.count - 1]; last.file) file_ = last.file, line_ = last.line;
  Hash128 key = tape_hash(flush.count, &flush.slots);
  key.lo ^= static_cast<uint64_t>(target_of(device()));  // the null device can change its target
  const auto& known = plan_cache(device()).plans;
  const auto found = known.find(key);
  std::shared_ptr<Plan> plan = found != known.end() ? found->second : nullptr;
  const bool little = plan && before - pending_work_.load(std::memory_order_relaxed) <= kShortRunningWork && is_ready(*plan);
  const bool apart = may_run_apart() && !little && !lock_.closing.load();
  if (apart) {
    python.emplace(*this);
    flushing_ = false;
    flush.enter_running();
  }
  if (!plan) plan = new_plan(key, flush.slots, flush.count, apart);
  flush.end = Flush::End::failed;
  try {
    run_plan(*plan, flush.slots, *this, apart);
    flush.end = Flush::End::ran;
  } catch (const Interrupted&) {
    flush.end = Flush::End::interrupted;
    throw;
  }
}

void Tape::flush_once(bool all, Node* wanted) {
  const interrupt::Scope scope(interrupt::Mode::look);
  TapeLock lock(*this);
  if (flushing_here()) return;
  // Library bodies must allocate and record on this stream, even if the thread's current stream is another one.
  std::optional<CurrentTape> current;
  if (many_streams()) [[unlikely]]
    current.emplace(*this);
  if (!kept_.empty()) [[unlikely]]
    release_kept();
  Chosen chosen;
  for (Ref<Node> kept; (chosen = choose(all, wanted)) == Chosen::none;) {
    if (!kept) kept = Ref<Node>(wanted);
    wait_for_flush();
    if (wanted && !wanted->pending()) return;
  }
  run_chosen(chosen == Chosen::all);
  for (const uint64_t last = lock_.begun; all && others_running(last) != 0;) wait_for_flush();
}

void Tape::run(bool all, Node* wanted) {
  while (alive() != 0 || lock_.count.load(std::memory_order_relaxed) != 0) {
    try {
      return flush_once(all, wanted);
    } catch (const Interrupted&) {
      // The signal handler runs below, where this flush holds no lock.
    }
    {
      // The handler may wait for a thread whose flush needs the lock.
      std::optional<TapeUnlock> unlocked;
      if (mutex_.owned()) unlocked.emplace(*this);
      interrupt::deliver();
    }
    if (wanted) return;  // others may have let it go meanwhile
  }
}

void Tape::flush() { run(true, nullptr); }

bool Tape::compute(Node& node) {
  if (flushing_here()) return false;
  run(false, &node);
  return true;
}

void require_value(const Node& node) {
  BC_CHECK(node.buffer || node.op == Op::constant, Runtime, "array: its value was lost in an error that was raised earlier");
}

size_t set_plan_limit(size_t count) { return max_plans.exchange(count, std::memory_order_relaxed); }

std::string Tape::show(const PlanPhases& phases) {
  TapeLock lock(*this);
  while (others_running() != 0) wait_for_flush();  // their values are leaves then
  Slots slots;
  for (Node* n : nodes_)
    if (n && n->try_retain()) slots.nodes.push_back(Ref<Node>::adopt(n));
  const size_t count = slots.nodes.size();
  if (count == 0) return "";
  mark_held(slots.nodes);
  tape_hash(count, &slots);
  const PlannedNodes copies(slots, count);
  return plan_text(make_plan(copies.slots, static_cast<int>(count), target_of(device())), phases);
}

}  // namespace bc
