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

RecursiveLock& device_mutex(Device device) {
  static auto* const all = new RecursiveLock[3 * detail::kTapeDevices];
  return all[place_of(device)];
}

/// Called with registry_mutex held.
Tape* make_tape(Stream stream, bool foreign = false) {
  Registry& r = registry();
  r.all.push_back(new Tape(stream, static_cast<int>(r.all.size()), device_mutex(stream.device), foreign));
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

/// A value is needed after the flush if an array holds it, or if an op that is just being recorded refers to it: it then has more owners
/// than the pending nodes that read it and the list itself.
void mark_held(std::span<const Ref<Node>> pending) {
  for (const Ref<Node>& n : pending) n->mark = 1;
  for (const Ref<Node>& n : pending)
    for (const Operand& o : n->in) ++o.node->mark;
  for (const Ref<Node>& n : pending) n->held = n->handles > 0 || n->refs() > n->mark;
}

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

void before_fork() {
  // A running compile holds locks for which the fork's own handlers would wait.
  kernel_cache_wait();
  for (Tape* t : tapes()) t->mutex().lock();
  registry_mutex.lock();
}

void after_fork(bool child) {
  registry_mutex.unlock();
  for (Tape* t : tapes()) {
    // In the child the lock must not be owned by a thread of the parent, so a new lock replaces it.
    if (child)
      new (&t->mutex()) RecursiveLock;
    else
      t->mutex().unlock();
  }
}

}  // namespace

/// Takes every device's lock until the process ends: running flushes of daemon threads finish, and no flush or compile begins after that.
/// Python has ended by now, so no waiting thread holds the GIL.
void hold_tapes() {
  kernel_cache_close();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (Tape* t : tapes())
    while (!t->mutex().try_lock() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(1));
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

void Tape::append(Node* node) {
  for (const Operand& o : node->in)
    if (!o.node->buffer && !o.node->tape) [[unlikely]]
      require_value(*o.node);
  if (full() && !flushing_) flush();
  node->tape = this;
  node->tape_index = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(node);
  set_alive(alive() + 1);
  pending_bytes_ += node->size * itemsize(node->dtype);
  set_work(pending_work_.load(std::memory_order_relaxed) + work_of(*node));
}

void Tape::forget(Node* node) {
  TapeLock lock(*this);
  if (!node->tape) return;  // a flush in another thread has taken the node already
  nodes_[node->tape_index] = nullptr;
  pending_bytes_ -= node->size * itemsize(node->dtype);
  set_work(pending_work_.load(std::memory_order_relaxed) - work_of(*node));
  set_alive(alive() - 1);
  if (alive() == 0) nodes_.clear();
  while (!nodes_.empty() && !nodes_.back()) nodes_.pop_back();
}

void Tape::take(std::vector<Ref<Node>>* taken) {
  taken->reserve(alive());
  for (Node* n : nodes_)
    if (n && n->try_retain()) taken->push_back(Ref<Node>::adopt(n));
}

void Tape::flush() {
  /// Puts the nodes that a flush did not come to back on the tape, before nodes that were recorded since then.
  const auto put_back = [this](std::span<const Ref<Node>> nodes) {
    std::vector<Node*> later;
    later.swap(nodes_);
    const auto put = [&](Node& n) {
      n.tape = this;
      n.tape_index = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back(&n);
    };
    for (const Ref<Node>& n : nodes) {
      put(*n);
      set_alive(alive() + 1);
      pending_bytes_ += n->size * itemsize(n->dtype);
      set_work(pending_work_.load(std::memory_order_relaxed) + work_of(*n));
    }
    for (Node* n : later)
      if (n) put(*n);
  };
  const auto flush_now = [&] {
    const interrupt::Scope scope(interrupt::Mode::look);
    TapeLock lock(*this);
    if (flushing_) return;
    // Library bodies must allocate and record on this stream, even if the thread's current stream is another one.
    std::optional<CurrentTape> current;
    if (many_streams()) [[unlikely]]
      current.emplace(*this);
    if (!kept_.empty()) [[unlikely]]
      release_kept();
    take(&slots_.nodes);
    const size_t count = slots_.nodes.size();
    if (count == 0) return;
    nodes_.clear();
    set_alive(0);
    pending_bytes_ = 0;
    set_work(0);
    flush_tick_ = submit();
    flushing_ = true;
    // The nodes leave the tape in every case. Those that an interrupt or an error kept from being computed go back, but for what failed and
    // what depends on it: such nodes have no buffer, and reading them raises.
    enum class End { planned, ran, failed, interrupted };
    struct Leave {
      Tape& tape;
      const decltype(put_back)& back;
      size_t count;
      End end = End::planned;
      /// Whether a node that was not computed goes back on the tape.
      bool later(Node& node) const {
        if (end == End::interrupted) return node.mark != kComputed;
        if (end != End::failed || node.mark == kComputed) return false;
        for (const Operand& o : node.in)
          if (o.node->mark == kFailed) node.mark = kFailed;
        return node.mark != kFailed;
      }
      ~Leave() {
        std::vector<Ref<Node>>& nodes = tape.slots_.nodes;
        std::vector<Ref<Node>> kept;
        for (size_t i = 0; i < count; ++i) {
          nodes[i]->tape = nullptr;
          if (later(*nodes[i])) {
            kept.push_back(nodes[i]);
            continue;
          }
          nodes[i]->in.clear();
          nodes[i]->extra.reset();
        }
        // Releasing nodes can destroy buffers whose owners record again, so slots_ must not be in use at that point.
        if (!kept.empty()) back(kept);
        kept.clear();
        std::vector<Ref<Node>> last;
        last.swap(nodes);
        tape.flushing_ = false;
        last.clear();
        if (nodes.capacity() == 0) nodes.swap(last);
      }
    } leave{*this, put_back, count};
    mark_held(slots_.nodes);
    if (const Node& last = *slots_.nodes[count - 1]; last.file) file_ = last.file, line_ = last.line;
    const Target target = target_of(device());
    Hash128 key = tape_hash(count, &slots_);
    key.lo ^= static_cast<uint64_t>(target);  // the null device can change its target
    PlanCache& cache = plan_cache(device());
    std::shared_ptr<Plan> plan;
    if (const auto found = cache.plans.find(key); found != cache.plans.end()) {
      plan = found->second;
    } else {
      plan = std::make_shared<Plan>(make_plan(slots_, static_cast<int>(count), target));
      dump(*plan);
      if (cache.plans.size() >= max_plans.load(std::memory_order_relaxed)) cache.plans.clear();
      cache.plans.emplace(key, plan);
    }
    leave.end = End::failed;
    try {
      run_plan(*plan, slots_, *this);
      leave.end = End::ran;
    } catch (const Interrupted&) {
      leave.end = End::interrupted;
      throw;
    }
  };
  while (alive() != 0) {
    try {
      return flush_now();
    } catch (const Interrupted&) {
      // The signal handler runs below, where this flush holds no lock.
    }
    interrupt::deliver();
  }
}

void require_value(const Node& node) {
  BC_CHECK(node.buffer || node.op == Op::constant, Runtime, "array: its value was lost in an error that was raised earlier");
}

size_t set_plan_limit(size_t count) { return max_plans.exchange(count, std::memory_order_relaxed); }

std::string Tape::show(const PlanPhases& phases) {
  TapeLock lock(*this);
  Slots slots;
  take(&slots.nodes);
  const size_t count = slots.nodes.size();
  if (count == 0) return "";
  mark_held(slots.nodes);
  tape_hash(count, &slots);
  return plan_text(make_plan(slots, static_cast<int>(count), target_of(device())), phases);
}

}  // namespace bc
