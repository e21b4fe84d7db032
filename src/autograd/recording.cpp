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
#include "core/error.h"
#include "ops/composite.h"
#include "primitives/library.h"

namespace bc::autograd {
namespace {

bool followed(const Array& a) { return is_inexact(a.dtype()) && a.history(); }

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

/// How indices address a storage's elements.
struct Addressing {
  DType dtype = DType::f64;
  Layout base;  ///< the storage's axes that are walked along the index space, then those that are indexed
  Dims shape;   ///< of the index space
  Dims axis, index_axis;
  std::vector<Array> indices;

  Array picked(const Array& from) const {
    const Array view = window(from, dtype, base);
    GatherExtra extra;
    extra.offset = base.offset;
    for (int64_t d : axis) extra.base_strides.push_back(d < 0 ? 0 : base.strides[static_cast<int>(d)]);
    for (int64_t d : index_axis) {
      extra.index_extents.push_back(base.shape[static_cast<int>(d)]);
      extra.index_strides.push_back(base.strides[static_cast<int>(d)]);
    }
    return record_gather(view, indices, std::move(extra), shape);
  }
  void put(Op op, const Array& into, const Array& value) const {
    const Array target = window(into, value.dtype(), base);
    scatter(op, target, shape, axis, indices, index_axis, value);
  }
};

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
Edge edge_to_storage(const Storage& storage, DType dtype) {
  const Value v = value_of(storage);
  const Dims shape = dtype == v.dtype ? v.shape : Dims{product(v.shape) * itemsize(v.dtype) / itemsize(dtype)};
  return {Ref<GradFunction>(static_cast<GradFunction*>(storage.history.get())), 0, dtype, contiguous_layout(shape), storage.device};
}

// ---- The observer ----

class Recorder final : public HistoryObserver {
 public:
  void ufunc(Op op, std::span<const Term> operands, const Loop& loop, const Array& result) override {
    if (!grad_enabled() || !is_inexact(result.dtype())) return;
    if (std::none_of(operands.begin(), operands.end(), [](const Term& t) { return t.array && followed(*t.array); })) return;
    Ref<RowFunction> f = new RowFunction(op, value_of(*result.storage()));
    uint8_t read = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Term& t = operands[k];
      f->edges.push_back(t.array ? edge_to(*t.array) : Edge{});
      if (f->edges.back().from) read |= uses(op, static_cast<int>(k));
    }
    const bool power = op == Op::power || op == Op::float_power;
    if (power && !operands[1].array && operands[1].weak != Weak::complex) {
      f->exponent = operands[1].value.as_double();
      read = *f->exponent == 0 || *f->exponent == 1 ? 0 : 1;
    }
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!(read >> k & 1)) continue;
      const Term& t = operands[k];
      f->operands[k] = t.array ? snapshot(*t.array) : full(Dims(), t.value, loop.in[k], result.device());
    }
    if (read & kUsesResult) f->y = snapshot(result, false);
    attach(result, Ref<GradFunction>(f.get()));
  }

  void reduce(Op op, const Array& a, uint64_t axes, double ddof, const Array& result) override {
    if (!grad_enabled() || !followed(a) || !is_inexact(result.dtype())) return;
    BC_CHECK(op != Op::reduce_user, NotImplemented, "reduce: a reduction of the user's has no derivative; {}", kWayOut);
    Ref<ReduceFunction> f = new ReduceFunction(op, axes, ddof, value_of(*result.storage()));
    f->edges.push_back(edge_to(a));
    const uint8_t read = reduction_uses(op);
    if (read & 1) f->a = snapshot(a);
    if (read & kUsesResult) f->y = snapshot(result, false);
    attach(result, Ref<GradFunction>(f.get()));
  }

  void copy(const Array& a, const Array& result) override {
    if (!grad_enabled() || !followed(a) || !is_inexact(result.dtype())) return;
    Ref<CopyFunction> f = new CopyFunction(value_of(*result.storage()));
    f->edges.push_back(edge_to(a));
    attach(result, Ref<GradFunction>(f.get()));
  }

  void user(const Ref<UserOp>& op, int, std::span<const Arg> operands, const Array& result) override {
    if (!grad_enabled() || !is_inexact(result.dtype())) return;
    for (const Arg& x : operands)
      BC_CHECK(!x.array || !followed(x.array), NotImplemented, "{}: a function of the user's has no derivative; {}", op->name, kWayOut);
  }

  Ref<History> gather(const Array& source, std::span<const Array> indices, const GatherExtra& extra, const Dims& shape) override {
    if (!grad_enabled() || !followed(source)) return {};
    Ref<GatherFunction> f = new GatherFunction({source.dtype(), shape, source.device()});
    f->edges.push_back(edge_to_storage(*source.storage(), source.dtype()));
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
    return Ref<History>(f.get());
  }

  Ref<History> library(std::span<const Array> inputs, const LibraryExtra& extra, const Dims& shape, DType dtype) override {
    if (!grad_enabled() || !is_inexact(dtype) || std::none_of(inputs.begin(), inputs.end(), followed)) return {};
    const Ref<GradFunction> f = library_function(inputs, extra, {dtype, shape, inputs[0].device()});
    BC_CHECK(f, NotImplemented, "{}: this op has no derivative; {}", library_name(extra), kWayOut);
    return Ref<History>(f.get());
  }

  std::optional<Ref<History>> store(const Array& target, const Array& value) override {
    const std::optional<bool> kept = changes(target, std::span(&value, 1), "assign");
    if (!kept) return std::nullopt;
    const Storage& storage = *target.storage();
    const Value v = value_of(storage);
    const bool whole = v.dtype == target.dtype() && target.offset() == 0 && target.size() == product(v.shape);
    if (whole && !followed(value)) return Ref<History>();
    Ref<StoreFunction> f = new StoreFunction(v, target);
    f->edges.push_back(edge_to_storage(storage, v.dtype));
    if (whole) f->edges[0].from = {};
    f->edges.push_back(edge_to(value));
    return Ref<History>(f.get());
  }

  std::optional<Ref<History>> store_library(const Array& target, std::span<const Array> inputs, const LibraryExtra& extra) override {
    const std::optional<bool> kept = changes(target, inputs, extra.name);
    if (!kept) return std::nullopt;
    BC_CHECK(extra.kind == LibraryKind::scatter, NotImplemented, "{}: this op has no derivative; {}", extra.name, kWayOut);
    const auto& how = static_cast<const ScatterExtra&>(extra);
    BC_CHECK(how.op == Op::leaf || how.op == Op::add || how.op == Op::subtract, NotImplemented,
             "{}.at: this method has a derivative for add and subtract only; {}", info(how.op).name, kWayOut);
    const Storage& storage = *target.storage();
    Ref<ScatterFunction> f = new ScatterFunction(value_of(storage), how.op);
    f->edges.push_back(edge_to_storage(storage, f->values[0].dtype));
    f->edges.push_back(edge_to(inputs[0]));
    f->at = {target.dtype(), target.layout(), inputs[0].shape(), how.axis, how.index_axis, {}};
    for (const Array& index : inputs.subspan(1)) f->at.indices.push_back(snapshot(index));
    return Ref<History>(f.get());
  }

  void leave(const Array& a) override {
    BC_CHECK(!grad_enabled() || !followed(a), Runtime,
             "the memory of an array that requires grad was asked for by what has no derivative (a kernel, another library); {}", kWayOut);
  }

 private:
  static constexpr const char* kWayOut = "pass x.detach(), work under no_grad(), or give a derivative by an autograd.Function";

  /// Nothing where a write leaves the target's history as it is.
  static std::optional<bool> changes(const Array& target, std::span<const Array> values, const char* op) {
    if (!grad_enabled() || !is_inexact(target.dtype())) return std::nullopt;
    const bool follow = std::any_of(values.begin(), values.end(), followed);
    const History* before = target.storage()->history.get();
    if (!before && !follow) return std::nullopt;
    if (before && target.is_detached()) {
      BC_CHECK(!follow, Runtime, "{}: a detached view cannot take a value that requires grad; write to a copy of it", op);
      return std::nullopt;
    }
    BC_CHECK(!dynamic_cast<const Leaf*>(before), Runtime,
             "{}: a leaf that requires grad is written in place; write under no_grad(), or to a copy", op);
    return true;
  }
};

}  // namespace

void watch_recording() {
  static Recorder recorder;
  set_history_observer(&recorder);
}

}  // namespace bc::autograd
