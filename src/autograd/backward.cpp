#include "autograd/backward.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "array/indexing.h"
#include "autograd/derivatives.h"
#include "autograd/functions.h"
#include "core/error.h"
#include "ops/composite.h"

namespace bc::autograd {
namespace {

Array zeros_of(const Value& v) { return bc::zeros(v.shape, v.dtype, v.device); }

/// The axes of a layout from the outermost in memory on, where it sees all `size` elements of a storage, each once; else nothing.
std::optional<Dims> whole_order(const Layout& l, int64_t size) {
  if (l.offset != 0 || product(l.shape) != size) return std::nullopt;
  Dims order(l.ndim());
  for (int d = 0; d < l.ndim(); ++d) order[d] = d;
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    // Axes of extent 1 may have any stride.
    const int i = static_cast<int>(x), j = static_cast<int>(y);
    return (l.shape[i] == 1 ? 0 : l.strides[i]) > (l.shape[j] == 1 ? 0 : l.strides[j]);
  });
  int64_t step = size;
  for (int64_t d : order) {
    const int i = static_cast<int>(d);
    if (l.shape[i] == 1) continue;
    step /= l.shape[i];
    if (l.strides[i] != step) return std::nullopt;
  }
  return order;
}

/// For each element of a layout its place in the storage, int64.
Array places(const Layout& l, Device device) {
  Array at = full(Dims(), Scalar::integer(l.offset), DType::i64, device);
  for (int d = 0; d < l.ndim(); ++d) {
    Dims along(l.ndim(), 1);
    along[d] = l.shape[d];
    at = at + ufunc(Op::multiply, {iota(along, device), Arg(l.strides[d])});
  }
  return broadcast_to(at, l.shape);
}

/// The sum of the gradients that arrive at one value.
class Slot {
 public:
  /// Adds the gradient of a view.
  void add(const Value& value, const Edge& edge, Array g) {
    if (!g) return;
    g = fitted(std::move(g), edge.layout.shape, edge.dtype);
    if (g.size() == 0) return;
    if (edge.dtype == value.dtype) return add_view(value, edge.layout, g);
    Layout parts = edge.layout;
    if (value.dtype == real_type(edge.dtype)) {
      // Pairs of numbers seen as complex ones: the parts along one more axis.
      for (int64_t& stride : parts.strides) stride *= 2;
      parts.offset *= 2;
      parts.shape.push_back(2);
      parts.strides.push_back(1);
      const Array both[] = {autograd::real(g), autograd::imag(g)};
      return add_view(value, parts, stack(both, -1));
    }
    BC_CHECK(is_complex(value.dtype) && edge.dtype == real_type(value.dtype), Type, "backward: {} seen as {} has no derivative",
             info(value.dtype).name, info(edge.dtype).name);
    // A view of real or imaginary parts: as complex numbers whose other part is zero.
    bool pairs = true;
    for (int d = 0; d < parts.ndim(); ++d) {
      pairs &= parts.strides[d] % 2 == 0 || parts.shape[d] == 1;
      parts.strides[d] /= 2;
    }
    // A view that mixes both (real numbers that lie in a buffer of complex ones) is written as it is seen.
    if (!pairs) {
      Layout seen = edge.layout;
      sum_repeated(seen, g);
      return write(value, edge.dtype, seen, g);
    }
    parts.offset >>= 1;
    add_view(value, parts, fitted(edge.layout.offset & 1 ? g * I : g, parts.shape, value.dtype));
  }

  /// The sum, in the value's shape.
  Array take(const Value& value) { return total_ ? std::move(total_) : zeros_of(value); }

 private:
  void add_view(const Value& value, Layout l, Array g) {
    if (const std::optional<Dims> order = whole_order(l, product(value.shape))) {
      g = reshape(transpose(g, *order), value.shape);
      total_ = total_ ? total_ + g : g;
      own_ = false;
      return;
    }
    sum_repeated(l, g);
    if (const std::optional<Dims> order = whole_order(l, product(value.shape))) return add_view(value, l, g);
    if (!self_overlaps(l)) return write(value, value.dtype, l, g);
    take_ownership(value);
    const Array all = window(total_, value.dtype, contiguous_layout(Dims{product(value.shape)}));
    scatter(Op::add, all, l.shape, Dims(l.ndim(), -1), {places(l, value.device)}, Dims{0}, g);
  }

  /// Sums over the axes along which a layout sees the same elements again.
  static void sum_repeated(Layout& l, Array& g) {
    ReduceOptions repeated;
    repeated.axes.emplace();
    repeated.keepdims = true;
    for (int d = 0; d < l.ndim(); ++d)
      if (l.strides[d] == 0 && l.shape[d] > 1) {
        repeated.axes->push_back(d);
        l.shape[d] = 1;
      }
    if (!repeated.axes->empty()) g = reduce(Op::reduce_sum, g, repeated);
  }

  void take_ownership(const Value& value) {
    if (!total_)
      total_ = zeros_of(value);
    else if (!own_)
      total_ = bc::copy(total_);
    own_ = true;
  }

  /// Adds to the elements that a view sees, each once.
  void write(const Value& value, DType dtype, const Layout& l, const Array& g) {
    const bool first = !total_;
    take_ownership(value);
    const Array part = window(total_, dtype, l);
    assign(part, first ? g : part + g);
  }

  Array total_;
  bool own_ = false;  ///< nobody else sees the storage of `total_`
};

struct Later {
  bool operator()(const GradFunction* a, const GradFunction* b) const { return a->sequence < b->sequence; }
};

class Run {
 public:
  explicit Run(const BackwardOptions& options) : options_(options) {}

  void seed(const Array& output, const Array& g) {
    Edge edge = edge_to(output);
    add(edge, g);
  }

  /// Only functions that lead to these are run from now on.
  void aim(std::span<const Array> outputs, std::span<const Array> inputs) {
    aimed_ = true;
    for (const Array& x : inputs) targets_[function_of(x)] = {};
    std::vector<GradFunction*> all, waiting;
    std::unordered_set<GradFunction*> seen;
    const auto visit = [&](GradFunction* f) {
      if (f && seen.insert(f).second) waiting.push_back(f);
    };
    for (const Array& y : outputs) visit(function_of(y));
    while (!waiting.empty()) {
      GradFunction* f = waiting.back();
      waiting.pop_back();
      all.push_back(f);
      for (const Edge& e : f->edges) visit(e.from.get());
    }
    std::sort(all.begin(), all.end(), [](const GradFunction* a, const GradFunction* b) { return a->sequence < b->sequence; });
    for (GradFunction* f : all) {
      bool leads = targets_.contains(f);
      for (const Edge& e : f->edges) leads = leads || (f->differentiates(e) && leading_.contains(e.from.get()));
      if (leads) leading_.insert(f);
    }
  }

  void run() {
    const GradMode mode(options_.create_graph);
    while (!ready_.empty()) {
      GradFunction* f = ready_.top();
      ready_.pop();
      step(*f);
    }
  }

  bool reached(const Array& input) const { return leading_.contains(function_of(input)); }
  /// The gradient of an input, in a storage of its own.
  Array result(const Array& input) {
    const GradMode mode(options_.create_graph);
    Array& g = targets_[function_of(input)];
    if (!g) g = zeros_of(function_of(input)->values[0]);
    return window(bc::copy(g), input.dtype(), input.layout());
  }

 private:
  void add(const Edge& edge, const Array& g) {
    GradFunction* f = edge.from.get();
    auto [at, fresh] = slots_.try_emplace(f);
    if (fresh) {
      at->second.resize(f->values.size());
      ready_.push(f);
    }
    at->second[static_cast<size_t>(edge.output)].add(f->values[static_cast<size_t>(edge.output)], edge, g);
  }

  /// Calls the hooks of a value and keeps its gradient, where that was asked for.
  void watch(GradFunction& f, Array& g) {
    // A hook may add or remove hooks.
    const std::vector<Watchers::Hook> hooks = f.watchers->hooks;
    for (const Watchers::Hook& hook : hooks) {
      const Array mine = window(g, hook.dtype, hook.layout);
      const Array other = hook.call(mine);
      if (!other) continue;
      BC_CHECK(other.shape() == mine.shape(), Value, "hook: expected a gradient of shape {}, got {}", mine.shape(), other.shape());
      g = bc::copy(g);
      assign(window(g, hook.dtype, hook.layout), other);
    }
    if (f.watchers->retain) f.watchers->gradient = bc::copy(g);
  }

  void step(GradFunction& f) {
    std::vector<Array> gradients;
    auto slots = slots_.extract(&f);
    for (size_t k = 0; k < f.values.size(); ++k) gradients.push_back(slots.mapped()[k].take(f.values[k]));
    if (f.watchers) watch(f, gradients[0]);
    if (const auto target = targets_.find(&f); target != targets_.end()) target->second = gradients[0];
    if (auto* leaf = dynamic_cast<Leaf*>(&f)) {
      if (options_.accumulate && (!aimed_ || targets_.contains(&f))) leaf->accumulate(gradients[0]);
      return;
    }
    std::vector<bool> needed;
    bool any = false;
    for (const Edge& e : f.edges) {
      needed.push_back(f.differentiates(e) && (!aimed_ || leading_.contains(e.from.get())));
      any = any || needed.back();
    }
    if (!any) return;
    BC_CHECK(!f.released, Runtime,
             "backward: what {} saved for the gradient is gone after an earlier run; pass retain_graph=True to that one", f.name());
    const std::vector<Array> made = f.backward(gradients, needed);
    for (size_t k = 0; k < f.edges.size(); ++k)
      if (needed[k]) add(f.edges[k], k < made.size() ? made[k] : Array());
    if (!options_.retain_graph) f.released = f.release();
  }

  const BackwardOptions options_;
  bool aimed_ = false;
  std::unordered_map<GradFunction*, std::vector<Slot>> slots_;
  std::priority_queue<GradFunction*, std::vector<GradFunction*>, Later> ready_;
  std::unordered_map<GradFunction*, Array> targets_;
  std::unordered_set<GradFunction*> leading_;
};

}  // namespace

std::vector<Array> backward(std::span<const Array> outputs, std::span<const Array> seeds, std::span<const Array> inputs,
                            const BackwardOptions& options) {
  Run run(options);
  for (const Array& y : outputs)
    BC_CHECK(
        requires_grad(y), Runtime,
        "backward: the array does not require grad: nothing that it was made from has requires_grad, or it was made without grad mode, "
        "by an op of integers, or detached");
  for (const Array& x : inputs) BC_CHECK(requires_grad(x), Runtime, "grad: expected inputs that require grad");
  if (!inputs.empty()) run.aim(outputs, inputs);
  for (const Array& x : inputs)
    BC_CHECK(options.allow_unused || run.reached(x), Runtime,
             "grad: an input was not used to make the outputs; pass allow_unused=True to get None for it");
  {
    const GradMode mode(options.create_graph);
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (!inputs.empty() && !run.reached(outputs[k])) continue;
      BC_CHECK(seeds[k].shape() == outputs[k].shape(), Value, "backward: expected a gradient of shape {}, got {}", outputs[k].shape(),
               seeds[k].shape());
      run.seed(outputs[k], seeds[k]);
    }
  }
  run.run();
  std::vector<Array> results;
  for (const Array& x : inputs) results.push_back(run.reached(x) ? run.result(x) : Array());
  return results;
}

}  // namespace bc::autograd
