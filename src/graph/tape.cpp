#include "graph/tape.h"

#include <array>
#include <atomic>
#include <unordered_map>

#include "codegen/kernel_cache.h"
#include "graph/plan.h"
#include "runtime/fork.h"

namespace bc {
namespace {

constexpr size_t kMaxPlans = 4096;  // past this the cache of plans starts anew

std::mutex registry_mutex;
std::array<std::atomic<Tape*>, 3 * 64> registry{};

/// Plans by the digest of the tape that they fit. Guarded by the tape's lock.
struct PlanCache {
  std::unordered_map<Hash128, Plan> plans;
};

PlanCache& plan_cache(Device device) {
  // Never destroyed: a daemon thread may still be flushing while the process ends.
  static PlanCache* const caches = new PlanCache[3 * 64];
  return caches[static_cast<int>(device.type) * 64 + device.index];
}

/// A value is needed after the flush when an array has it, or when an op that is just being recorded refers to it: more owners than the
/// pending nodes that read it and the list itself.
void mark_held(const std::vector<Ref<Node>>& pending) {
  for (const Ref<Node>& n : pending) n->mark = 1;
  for (const Ref<Node>& n : pending)
    for (const Operand& o : n->in) ++o.node->mark;
  for (const Ref<Node>& n : pending) n->held = n->handles > 0 || n->refs() > n->mark;
}

}  // namespace

Tape& tape(Device device) {
  BC_CHECK(device.index >= 0 && device.index < 64, Value, "device: expected an index from 0 to 63, got {}", device.index);
  std::atomic<Tape*>& place = registry[static_cast<int>(device.type) * 64 + device.index];
  if (Tape* t = place.load(std::memory_order_acquire)) return *t;
  backend(device);  // raises where there is none
  std::lock_guard lock(registry_mutex);
  if (!place.load()) place.store(new Tape(device), std::memory_order_release);
  return *place.load();
}

namespace {

void before_fork() {
  // A compile that is under way holds locks which the fork's own handlers would wait for.
  kernel_cache_wait();
  for (Tape* t : tapes()) t->mutex().lock();
}

void after_fork(bool child) {
  for (Tape* t : tapes()) {
    // The lock names the thread that took it, which has another number in the child.
    if (child) new (&t->mutex()) std::recursive_mutex;
    else t->mutex().unlock();
  }
}

}  // namespace

void watch_forks() { at_fork(ForkLevel::Tapes, before_fork, after_fork); }

std::vector<Tape*> tapes() {
  std::vector<Tape*> all;
  for (std::atomic<Tape*>& t : registry)
    if (Tape* p = t.load()) all.push_back(p);
  return all;
}

void Tape::append(Node* node) {
  if (full() && !flushing_) flush();
  node->tape = this;
  node->tape_index = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(node);
  ++alive_;
  pending_bytes_ += node->size * itemsize(node->dtype);
}

void Tape::forget(Node* node) {
  TapeLock lock(*this);
  if (!node->tape) return;  // a flush in another thread took it meanwhile
  nodes_[node->tape_index] = nullptr;
  pending_bytes_ -= node->size * itemsize(node->dtype);
  if (--alive_ == 0) nodes_.clear();
  while (!nodes_.empty() && !nodes_.back()) nodes_.pop_back();
}

std::vector<Ref<Node>> Tape::take() {
  std::vector<Ref<Node>> taken;
  taken.reserve(alive_);
  for (Node* n : nodes_)
    if (n && n->try_retain()) taken.push_back(Ref<Node>::adopt(n));
  return taken;
}

void Tape::flush() {
  if (alive_ == 0) return;
  TapeLock lock(*this);
  if (flushing_) return;
  std::vector<Ref<Node>> pending = take();
  nodes_.clear();
  alive_ = 0;
  pending_bytes_ = 0;
  flushing_ = true;
  // Whatever happens, the nodes leave the tape: one that could not run has no buffer, and reading it raises.
  struct Leave {
    Tape& tape;
    std::vector<Ref<Node>>& nodes;
    ~Leave() {
      tape.flushing_ = false;
      for (const Ref<Node>& n : nodes) {
        n->tape = nullptr;
        n->in.clear();
        n->extra.reset();
      }
    }
  } leave{*this, pending};
  mark_held(pending);
  Slots slots;
  const Target target = target_of(device());
  Hash128 key = tape_hash(pending, &slots);
  key.lo ^= static_cast<uint64_t>(target);  // the null device's changes
  PlanCache& cache = plan_cache(device());
  auto found = cache.plans.find(key);
  if (found == cache.plans.end()) {
    if (cache.plans.size() >= kMaxPlans) cache.plans.clear();
    found = cache.plans.emplace(key, make_plan(slots, static_cast<int>(pending.size()), target)).first;
  }
  run_plan(found->second, slots, device(), stream());
}

std::string Tape::source() {
  TapeLock lock(*this);
  const std::vector<Ref<Node>> pending = take();
  if (pending.empty()) return "";
  mark_held(pending);
  Slots slots;
  tape_hash(pending, &slots);
  Plan plan = make_plan(slots, static_cast<int>(pending.size()), target_of(device()));
  std::string out;
  for (Step& step : plan.steps) {
    step.ir.brief = true;
    if (step.kind == Step::Kind::library) out += "// library: " + step.name + "\n";
    else out += "// kernel: " + step.name + "\n" + print(step.ir).text;
  }
  return out;
}

}  // namespace bc
