// What an op leaves behind for its derivative: the functions of the ops that src/array records.
#include <atomic>
#include <bit>

#include "array/history.h"
#include "array/indexing.h"
#include "array/record.h"
#include "autograd/derivatives.h"
#include "autograd/functions.h"
#include "autograd/graph.h"
#include "autograd/library_rules.h"
#include "autograd/tracing.h"
#include "core/error.h"
#include "ops/composite.h"
#include "primitives/library.h"

namespace bc::autograd {
namespace {

/// Tells whether ops on an array are recorded: for derivatives, or since a trace follows it.
bool followed(const Array& a) { return tracing() ? static_cast<bool>(a.storage()->history) : requires_grad(a); }

/// Tells whether ops are recorded now that give elements of a dtype.
bool recording(DType result) { return tracing() || (grad_enabled() && is_inexact(result)); }

/// Makes `f` the history of a result. In a trace it may be one without derivatives.
void finish(const Array& result, const Ref<GradFunction>& f) {
  mark(*f);
  attach(result, f);
}

// ---- Rows ----

/// An elementwise row.
struct RowFunction final : GradFunction {
  RowFunction(Op op_, Value v) : GradFunction(std::move(v)), op(op_) {}
  const Op op;
  Array operands[3];               ///< those that the rules of the needed edges read
  Array y;                         ///< without its history, which is this
  std::optional<double> exponent;  ///< of a power, where it is a number

  std::string name() const override { return info(op).name; }
  bool release() override {
    bool any = static_cast<bool>(y);
    for (Array& a : operands) {
      any = any || a;
      a = {};
    }
    y = {};
    return any;
  }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>& needed) override {
    const Array& g = gradients[0];
    const Array result = y ? snapshot(y) : y;
    if (y) result.storage()->history = Ref<History>(this);
    std::vector<Array> made(edges.size());
    for (size_t k = 0; k < edges.size(); ++k) {
      if (!needed[k]) continue;
      if (exponent && k == 0)
        made[k] = power_gradient(g);
      else
        made[k] = row_gradient(op, static_cast<int>(k), operands[0], operands[1], operands[2], result, g);
    }
    return made;
  }

 private:
  Array power_gradient(const Array& g) const {
    const double e = *exponent;
    if (e == 0) return {};
    if (e == 1) return g;
    const Array& a = operands[0];
    return g * autograd::conj(e == 2 ? 2.0 * a : e * autograd::power(a, e - 1));
  }
};

/// A reduction row.
struct ReduceFunction final : GradFunction {
  ReduceFunction(Op op_, uint64_t axes_, double ddof_, Value v) : GradFunction(std::move(v)), op(op_), axes(axes_), ddof(ddof_) {}
  const Op op;
  const uint64_t axes;
  const double ddof;
  Array a, y;

  std::string name() const override { return info(op).name; }
  bool release() override {
    const bool any = a || y;
    a = y = {};
    return any;
  }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array result = y ? snapshot(y) : y;
    if (y) result.storage()->history = Ref<History>(this);
    return {reduction_gradient(op, edges[0].layout.shape, axes, ddof, a, result, gradients[0])};
  }
};

/// A copy, a cast, or a transfer to another device.
struct CopyFunction final : GradFunction {
  explicit CopyFunction(Value v) : GradFunction(std::move(v)) {}
  std::string name() const override { return "copy"; }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array& g = gradients[0];
    return {g.device() == edges[0].device ? g : to_device(g, edges[0].device)};
  }
};

// ---- Indexing ----

struct GatherFunction final : GradFunction {
  explicit GatherFunction(Value v) : GradFunction(std::move(v)) {}
  Addressing at;

  std::string name() const override { return "gather"; }
  bool release() override {
    at.indices.clear();
    return true;
  }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array sum = zeros(edges[0].layout.shape, edges[0].dtype, edges[0].device);
    at.put(Op::add, sum, gradients[0]);
    return {sum};
  }
};

/// An op that a trace follows and that has no derivative.
struct PlainFunction final : GradFunction {
  PlainFunction(std::string name, Value v) : GradFunction(std::move(v)), called(std::move(name)) {}
  const std::string called;
  std::string name() const override { return called; }
  std::vector<Array> backward(std::span<const Array>, const std::vector<bool>&) override {
    raise(ErrorKind::NotImplemented, "{}: this op has no derivative", called);
  }
};

/// target[...] = value: edge 0 is what the storage was before, edge 1 the value.
struct StoreFunction final : GradFunction {
  StoreFunction(Value v, const Array& target) : GradFunction(std::move(v)), dtype(target.dtype()), region(target.layout()) {}
  const DType dtype;
  const Layout region;

  std::string name() const override { return "store"; }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>& needed) override {
    const Array& g = gradients[0];
    std::vector<Array> made(2);
    if (needed[0]) {
      made[0] = bc::copy(g);
      assign(window(made[0], dtype, region), Arg(0.0));
    }
    if (needed[1]) {
      const Array part = window(g, dtype, region);
      made[1] = part.device() == edges[1].device ? part : to_device(part, edges[1].device);
    }
    return made;
  }
};

/// target[indices] = value, or ufunc.at; edges as above.
struct ScatterFunction final : GradFunction {
  ScatterFunction(Value v, Op op_) : GradFunction(std::move(v)), op(op_) {}
  const Op op;
  Addressing at;

  std::string name() const override { return op == Op::leaf ? "scatter" : std::string(info(op).name) + ".at"; }
  bool release() override {
    at.indices.clear();
    return true;
  }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>& needed) override {
    const Array& g = gradients[0];
    std::vector<Array> made(2);
    if (needed[0]) {
      made[0] = g;
      if (op == Op::leaf) {
        made[0] = bc::copy(g);
        at.put(Op::leaf, made[0], zeros(at.shape, at.dtype, g.device()));
      }
    }
    if (needed[1]) {
      made[1] = at.picked(g);
      if (op == Op::subtract) made[1] = autograd::negative(made[1]);
      if (op == Op::leaf) made[1] = where(winners(), made[1], autograd::zeros_like(made[1]));
    }
    return made;
  }

 private:
  /// Where a place is written more than once the last value wins: which of them did.
  Array winners() const {
    const Value& v = values[0];
    const Array order = iota(at.shape, v.device), last = zeros(v.shape, DType::i64, v.device);
    Addressing numbers = at;
    numbers.dtype = DType::i64;
    numbers.put(Op::leaf, last, order);
    return autograd::equal(numbers.picked(last), order);
  }
};

/// To all elements of a storage, as they lie, in a dtype.
Edge edge_to_storage(const Array& view, DType dtype) {
  const Storage& storage = *view.storage();
  const Value v = value_of(storage);
  const Dims shape = dtype == v.dtype ? v.shape : Dims{product(v.shape) * itemsize(v.dtype) / itemsize(dtype)};
  return edge_to(Array(view.storage(), dtype, contiguous_layout(shape)));
}

// ---- The observer ----

class Recorder final : public HistoryObserver {
 public:
  void ufunc(Op op, std::span<const Term> operands, const Loop& loop, const Array& result) override {
    if (!recording(result.dtype())) return;
    if (std::none_of(operands.begin(), operands.end(), [](const Term& t) { return t.array && followed(*t.array); })) return;
    Ref<RowFunction> f = new RowFunction(op, value_of(*result.storage()));
    uint8_t read = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Term& t = operands[k];
      f->edges.push_back(t.array ? edge_to(*t.array) : Edge{});
      if (f->differentiates(f->edges.back())) read |= uses(op, static_cast<int>(k));
    }
    const bool power = op == Op::power || op == Op::float_power;
    if (power && !operands[1].array && operands[1].weak != Weak::complex) {
      f->exponent = operands[1].value.as_double();
      read = *f->exponent == 0 || *f->exponent == 1 ? 0 : 1;
    }
    if (!is_inexact(result.dtype())) read = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!(read >> k & 1)) continue;
      const Term& t = operands[k];
      f->operands[k] = t.array ? snapshot(*t.array) : full(Dims(), t.value, loop.in[k], result.device());
    }
    if (read & kUsesResult) f->y = snapshot(result, false);
    if (tracing()) trace_ufunc(*f, op, operands, loop);
    finish(result, Ref<GradFunction>(f.get()));
  }

  void reduce(Op op, const Array& a, uint64_t axes, double ddof, const Array& result) override {
    if (!recording(result.dtype()) || !followed(a)) return;
    BC_CHECK(op != Op::reduce_user, NotImplemented, "reduce: a reduction of the user's has no derivative; {}", kWayOut);
    Ref<ReduceFunction> f = new ReduceFunction(op, axes, ddof, value_of(*result.storage()));
    f->edges.push_back(edge_to(a));
    const uint8_t read = is_inexact(result.dtype()) && f->differentiates(f->edges[0]) ? reduction_uses(op) : 0;
    if (read & 1) f->a = snapshot(a);
    if (read & kUsesResult) f->y = snapshot(result, false);
    if (tracing()) trace_reduce(*f, op, a, axes, ddof);
    finish(result, Ref<GradFunction>(f.get()));
  }

  void copy(const Array& a, const Array& result) override {
    if (!recording(result.dtype()) || !followed(a)) return;
    Ref<CopyFunction> f = new CopyFunction(value_of(*result.storage()));
    f->edges.push_back(edge_to(a));
    if (tracing()) trace_copy(*f, a);
    finish(result, Ref<GradFunction>(f.get()));
  }

  void user(const Ref<UserOp>& op, int output, std::span<const Arg> operands, const Array& result) override {
    if (!recording(result.dtype())) return;
    if (std::none_of(operands.begin(), operands.end(), [](const Arg& x) { return x.array && followed(x.array); })) return;
    BC_CHECK(tracing(), NotImplemented, "{}: a function of the user's has no derivative; {}", op->name, kWayOut);
    Ref<PlainFunction> f = new PlainFunction(op->name, value_of(*result.storage()));
    for (const Arg& x : operands) f->edges.push_back(x.array ? edge_to(x.array) : Edge{});
    trace_user(*f, op, output, operands);
    finish(result, Ref<GradFunction>(f.get()));
  }

  Ref<History> gather(const Array& source, std::span<const Array> indices, const GatherExtra& extra, const Dims& shape) override {
    if (!recording(source.dtype())) return {};
    if (!followed(source) && std::none_of(indices.begin(), indices.end(), followed)) return {};
    Ref<GatherFunction> f = new GatherFunction({source.dtype(), shape, source.device()});
    f->edges.push_back(edge_to_storage(source, source.dtype()));
    Addressing& at = f->at;
    at.dtype = source.dtype();
    at.shape = shape;
    at.base.offset = extra.offset;
    for (int d = 0; d < shape.size(); ++d) {
      at.axis.push_back(extra.base_strides[d] ? at.base.ndim() : -1);
      if (!extra.base_strides[d]) continue;
      at.base.shape.push_back(shape[d]);
      at.base.strides.push_back(extra.base_strides[d]);
    }
    for (size_t k = 0; k < indices.size(); ++k) {
      at.index_axis.push_back(at.base.ndim());
      at.base.shape.push_back(extra.index_extents[static_cast<int>(k)]);
      at.base.strides.push_back(extra.index_strides[static_cast<int>(k)]);
      at.indices.push_back(snapshot(astype(indices[k], DType::i64, false)));
    }
    if (tracing()) trace_gather(*f, source, at);
    mark(*f);
    return Ref<History>(f.get());
  }

  Ref<History> library(std::span<const Array> inputs, const LibraryExtra& extra, const Dims& shape, DType dtype) override {
    if (!recording(dtype) || std::none_of(inputs.begin(), inputs.end(), followed)) return {};
    const Value v{dtype, shape, inputs[0].device()};
    Ref<GradFunction> f = is_inexact(dtype) ? library_function(inputs, extra, v) : Ref<GradFunction>();
    BC_CHECK(f || tracing(), NotImplemented, "{}: this op has no derivative; {}", library_name(extra), kWayOut);
    if (!f) {
      f = Ref<GradFunction>(new PlainFunction(library_name(extra), v));
      for (const Array& a : inputs) f->edges.push_back(edge_to(a));
    }
    if (tracing()) trace_library(*f, inputs, extra);
    mark(*f);
    return Ref<History>(f.get());
  }

  std::optional<Ref<History>> store(const Array& target, const Array& value) override {
    if (!changes(target, std::span(&value, 1), "assign")) return std::nullopt;
    const Storage& storage = *target.storage();
    const Value v = value_of(storage);
    const bool whole = v.dtype == target.dtype() && target.offset() == 0 && target.size() == product(v.shape);
    if (whole && !followed(value)) return Ref<History>();
    Ref<StoreFunction> f = new StoreFunction(v, target);
    f->edges.push_back(edge_to_storage(target, v.dtype));
    if (whole) f->edges[0].from = {};
    f->edges.push_back(edge_to(value));
    if (tracing()) trace_store(*f, target, value);
    mark(*f);
    return Ref<History>(f.get());
  }

  std::optional<Ref<History>> store_library(const Array& target, std::span<const Array> inputs, const LibraryExtra& extra) override {
    if (!changes(target, inputs, extra.name)) return std::nullopt;
    BC_CHECK(extra.kind == LibraryKind::scatter, NotImplemented, "{}: this op has no derivative; {}", extra.name, kWayOut);
    const auto& how = static_cast<const ScatterExtra&>(extra);
    BC_CHECK(tracing() || how.op == Op::leaf || how.op == Op::add || how.op == Op::subtract, NotImplemented,
             "{}.at: this method has a derivative for add and subtract only; {}", info(how.op).name, kWayOut);
    Ref<ScatterFunction> f = new ScatterFunction(value_of(*target.storage()), how.op);
    f->edges.push_back(edge_to_storage(target, f->values[0].dtype));
    f->edges.push_back(edge_to(inputs[0]));
    f->at = {target.dtype(), target.layout(), inputs[0].shape(), how.axis, how.index_axis, {}};
    for (const Array& index : inputs.subspan(1)) f->at.indices.push_back(snapshot(index));
    if (tracing()) trace_scatter(*f, how.op, target, inputs[0], f->at);
    mark(*f);
    return Ref<History>(f.get());
  }

  void leave(const Array& a, const char* by) override {
    BC_CHECK(!grad_enabled() || !requires_grad(a), Runtime,
             "{}: the array requires grad, and derivatives are not followed through here; {}", by, kWayOut);
    look(a);
  }

  void look(const Array& a) override { check_look(a); }
  bool known(const Array& a) const override { return !differs(a); }

 private:
  static constexpr const char* kWayOut = "pass x.detach(), work under no_grad(), or give a derivative by an autograd.Function";

  /// Tells whether a write changes the target's history.
  static bool changes(const Array& target, std::span<const Array> values, const char* op) {
    const auto* before = static_cast<const GradFunction*>(target.storage()->history.get());
    BC_CHECK(is_inexact(target.dtype()) || !before || !is_inexact(before->values[0].dtype) || !grad_enabled() || target.is_detached(),
             Runtime, "{}: bits of an array that requires grad are written as {}; write under no_grad()", op, info(target.dtype()).name);
    if (!recording(target.dtype())) return false;
    const bool follow = std::any_of(values.begin(), values.end(), followed);
    if (!before && !follow) return false;
    if (grad_enabled() && before && !before->constant && is_inexact(target.dtype())) {
      if (target.is_detached()) {
        BC_CHECK(!std::any_of(values.begin(), values.end(), requires_grad), Runtime,
                 "{}: a detached view cannot take a value that requires grad; write to a copy of it", op);
        if (!tracing()) return false;
      } else {
        BC_CHECK(!dynamic_cast<const Leaf*>(before), Runtime,
                 "{}: a leaf that requires grad is written in place; write under no_grad(), or to a copy", op);
      }
    }
    return true;
  }
};

}  // namespace

void watch_recording() {
  static Recorder recorder;
  set_history_observer(&recorder);
}

}  // namespace bc::autograd
