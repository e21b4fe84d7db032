#include "autograd/graph.h"

#include <atomic>

#include "array/history.h"
#include "autograd/functions.h"
#include "core/error.h"
#include "graph/tape.h"

namespace bc::autograd {

namespace {
[[gnu::tls_model("initial-exec")]] constinit thread_local bool enabled = true;
}

bool grad_enabled() { return enabled; }
bool set_grad_enabled(bool on) { return std::exchange(enabled, on); }

uint64_t GradFunction::next_sequence() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

OutputOf::OutputOf(Ref<GradFunction> function, int output) : GradFunction(function->values[output]) {
  const Value& v = values[0];
  edges.push_back({std::move(function), output, v.dtype, contiguous_layout(v.shape), v.device});
}

void Leaf::accumulate(const Array& g) {
  const Array mine = window(g, dtype, layout);
  if (!gradient)
    // A storage of its own: the run's arrays are shared by the functions that they pass through.
    gradient = grad_enabled() ? mine : window(bc::copy(g), dtype, layout);
  else if (grad_enabled())
    gradient = gradient + mine;
  else
    assign(gradient, gradient + mine);
}

GradFunction* function_of(const Array& a) { return static_cast<GradFunction*>(a.history()); }

bool requires_grad(const Array& a) { return is_inexact(a.dtype()) && a.history(); }

namespace {

/// The leaf that an array is, not only a part of.
Leaf* leaf_of(const Array& a) {
  auto* leaf = dynamic_cast<Leaf*>(function_of(a));
  return leaf && leaf->dtype == a.dtype() && leaf->layout == a.layout() ? leaf : nullptr;
}

Watchers& watchers_of(const Array& a, const char* what) {
  BC_CHECK(requires_grad(a), Runtime, "{}: expected an array that requires grad", what);
  GradFunction& f = *function_of(a);
  if (!f.watchers) f.watchers = std::make_unique<Watchers>();
  return *f.watchers;
}

}  // namespace

bool is_leaf(const Array& a) { return !requires_grad(a) || leaf_of(a); }

void set_requires_grad(Array& a, bool on) {
  if (on == requires_grad(a)) return;
  if (!on) {
    BC_CHECK(dynamic_cast<Leaf*>(function_of(a)), Runtime,
             "requires_grad: only a leaf's can be set to False; use detach() for a view without derivatives");
    a.storage()->history = Ref<History>();
    return;
  }
  BC_CHECK(is_inexact(a.dtype()), Runtime, "requires_grad: expected an array of floating or complex numbers, got {}", info(a.dtype()).name);
  watch_recording();
  if (a.storage()->history) {
    const GradMode off(false);
    a = bc::copy(a, 'K');
  }
  a = a.detached(false);
  attach(a, new Leaf(value_of(*a.storage()), a.dtype(), a.layout()));
}

Array gradient_of(const Array& a) {
  if (const Leaf* leaf = leaf_of(a)) return leaf->gradient;
  const GradFunction* f = function_of(a);
  if (!f || !f->watchers || !f->watchers->gradient) return {};
  return window(f->watchers->gradient, a.dtype(), a.layout());
}

void set_gradient(const Array& a, const Array& gradient) {
  Leaf* leaf = leaf_of(a);
  if (!gradient && !leaf) {
    if (GradFunction* f = function_of(a); f && f->watchers) f->watchers->gradient = {};
    return;
  }
  BC_CHECK(leaf, Runtime, "grad: expected a leaf that requires grad");
  BC_CHECK(!gradient || (gradient.shape() == a.shape() && gradient.dtype() == a.dtype() && gradient.device() == a.device()), Value,
           "grad: expected an array of shape {} and dtype {} on {}, got shape {}, {} on {}", a.shape(), info(a.dtype()).name,
           to_string(a.device()), gradient.shape(), info(gradient.dtype()).name, to_string(gradient.device()));
  leaf->gradient = gradient;
}

void retain_gradient(const Array& a) {
  Watchers& w = watchers_of(a, "retain_grad");
  if (!leaf_of(a)) w.retain = true;
}

int64_t add_hook(const Array& a, std::function<Array(const Array&)> call) {
  static std::atomic<int64_t> last{0};
  const int64_t id = ++last;
  watchers_of(a, "register_hook").hooks.push_back({id, a.dtype(), a.layout(), std::move(call)});
  return id;
}

void remove_hook(GradFunction& function, int64_t id) {
  if (function.watchers) std::erase_if(function.watchers->hooks, [&](const Watchers::Hook& h) { return h.id == id; });
}

Value value_of(const Storage& storage) {
  // After a write through a view of another dtype the storage's node has that one: what reads the storage keeps the first.
  if (storage.history) return static_cast<GradFunction&>(*storage.history).values[0];
  return {storage.current->dtype, storage.current->shape, storage.device};
}

Edge edge_to(const Array& a) {
  GradFunction* f = is_inexact(a.dtype()) ? function_of(a) : nullptr;
  return {Ref<GradFunction>(f), 0, a.dtype(), a.layout(), a.device()};
}

Array window(const Array& gradient, DType dtype, const Layout& layout) {
  if (dtype == gradient.dtype() && layout == contiguous_layout(gradient.shape())) return gradient;
  // A gradient may itself be a view (what a sum hands back is one number, broadcast).
  const bool plain = gradient.contiguous() && gradient.offset() == 0;
  return (plain ? gradient : bc::copy(gradient)).seen_as(dtype, layout);
}

Array snapshot(const Array& a, bool with_history) {
  TapeLock lock(tape(a.device()));
  const Ref<Node> node = a.storage()->current;
  if (node->buffer && node->buffer->exposed) {
    // Others may write to the memory at any time.
    const GradMode mode(with_history && a.history());
    return bc::copy(a);
  }
  Array kept(Ref<Storage>::first(new Storage(node)), a.dtype(), a.layout());
  kept.storage()->loose_booleans.store(a.storage()->loose_booleans.load(std::memory_order_relaxed), std::memory_order_relaxed);
  if (with_history) kept.storage()->history = Ref<History>(a.history());
  return kept;
}

void attach(const Array& result, Ref<GradFunction> function) { result.storage()->history = Ref<History>(function.get()); }

}  // namespace bc::autograd
