#include "autograd/tracing.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "array/indexing.h"
#include "array/record.h"
#include "autograd/library_rules.h"
#include "core/error.h"
#include "ops/composite.h"
#include "ops/linalg.h"
#include "ops/sorting.h"
#include "primitives/library.h"

namespace bc::autograd {

Array Addressing::picked(const Array& from) const {
  const Array view = plain(from).seen_as(dtype, base);
  GatherExtra extra;
  extra.offset = base.offset;
  for (int64_t d : axis) extra.base_strides.push_back(d < 0 ? 0 : base.strides[static_cast<int>(d)]);
  for (int64_t d : index_axis) {
    extra.index_extents.push_back(base.shape[static_cast<int>(d)]);
    extra.index_strides.push_back(base.strides[static_cast<int>(d)]);
  }
  return record_gather(view, indices, std::move(extra), shape);
}

void Addressing::put(Op op, const Array& into, const Array& value) const {
  scatter(op, window(into, value.dtype(), base), shape, axis, indices, index_axis, value);
}

namespace {

/// For each trace of this thread the sequence number from which on functions are its own.
thread_local std::unique_ptr<std::vector<uint64_t>> traces;  // on the heap: there is little room for what every thread has from its start

using Operands = std::span<const TracedOperand>;

Array with_axes(const Array& a, int at, int count) {
  Layout l = a.layout();
  for (int k = 0; k < count; ++k) {
    l.shape.insert(at, 1);
    l.strides.insert(at, 0);
  }
  return a.with_layout(std::move(l));
}

/// The operand so that it broadcasts with others of `ndim` axes an example.
Array padded(const TracedOperand& x, int ndim) { return x.many ? with_axes(x.array, 1, std::max(0, ndim + 1 - x.array.ndim())) : x.array; }

/// A value's elements of many examples, C-contiguous.
Array stacked(const TracedOperand& x, int64_t count) {
  if (x.many) return x.array;
  Dims shape = x.array.shape();
  shape.insert(0, count);
  return bc::copy(broadcast_to(x.array, shape));
}

int64_t count_of(Operands operands) {
  for (const TracedOperand& x : operands)
    if (x.many) return x.array.shape()[0];
  return 0;
}

/// A layout with the examples' axis in front, `size` elements apart.
Layout layered(const Layout& l, int64_t count, int64_t size) {
  Layout all = l;
  all.shape.insert(0, count);
  all.strides.insert(0, size);
  return all;
}

Array whole_of(const Array& view, const Value& v) { return Array(view.storage(), v.dtype, contiguous_layout(v.shape)); }

void set(GradFunction& f, std::vector<Array> operands, std::function<Array(Operands)> compute) {
  for (Array& a : operands)
    if (a) a = snapshot(a);
  f.traced = std::make_unique<Traced>(Traced{std::move(operands), std::move(compute)});
}

/// The addressing of many examples: the examples' axis is walked by the index space and, where the storage holds one for each, by it.
Addressing for_many(const Addressing& one, int64_t count, int64_t size, bool many, Operands indices) {
  Addressing all{one.dtype, one.base, one.shape, {}, {}, {}};
  all.shape.insert(0, count);
  if (many) all.base = layered(one.base, count, size);
  all.axis.push_back(many ? 0 : -1);
  for (int64_t d : one.axis) all.axis.push_back(d < 0 || !many ? d : d + 1);
  for (int64_t d : one.index_axis) all.index_axis.push_back(many ? d + 1 : d);
  for (const TracedOperand& index : indices) all.indices.push_back(broadcast_to(padded(index, one.shape.size()), all.shape));
  return all;
}

}  // namespace

bool tracing() { return traces && !traces->empty(); }

uint64_t begin_trace() {
  watch_recording();
  if (!traces) traces = std::make_unique<std::vector<uint64_t>>();
  return traces->emplace_back(GradFunction::next_sequence());
}

void end_trace(uint64_t trace) {
  while (tracing() && traces->back() >= trace) traces->pop_back();
}

Array trace_input(const Array& a) {
  Array example;
  {
    const GradMode off(false);
    example = bc::copy(a);
  }
  if (!example.contiguous() || example.storage()->history) example = snapshot(example, false);
  Ref<Leaf> leaf = new Leaf(value_of(*example.storage()), a.dtype(), example.layout());
  leaf->constant = !requires_grad(a);
  leaf->example = true;
  attach(example, Ref<GradFunction>(leaf.get()));
  return example;
}

bool differs(const Array& a) {
  const auto* f = static_cast<const GradFunction*>(a.storage()->history.get());
  return tracing() && f && f->example;
}

void check_look(const Array& a) {
  BC_CHECK(!differs(a), Runtime,
           "vmap: the function looks at the value of an array that is another one for each example; use where() and the like, which decide "
           "for each");
}

void mark(GradFunction& f) {
  if (!tracing()) return;
  bool differentiates = false;
  for (const Edge& e : f.edges) {
    differentiates = differentiates || f.differentiates(e);
    f.example = f.example || (e.from && e.from->example);
  }
  f.constant = !grad_enabled() || !differentiates;
}

// ---- Replay ----

namespace {

class Replay {
 public:
  Replay(uint64_t trace, int64_t count) : trace_(trace), count_(count) {}

  void add_input(const Array& input, const Array& all) { values_[own(input)] = plain(all); }

  Array output(const Array& y) {
    GradFunction* f = own(y);
    if (f) compute_up_to(*f);
    const auto at = values_.find(f);
    if (at != values_.end()) return view(at->second, f->values[0], edge_to(y));
    Dims shape = y.shape();
    shape.insert(0, count_);
    return broadcast_to(y, shape);
  }

 private:
  static GradFunction* own(const Array& a) { return static_cast<GradFunction*>(a.storage()->history.get()); }

  Array view(const Array& all, const Value& v, const Edge& e) const {
    const int64_t size = product(v.shape) * itemsize(v.dtype) / itemsize(e.dtype);
    return window(all, e.dtype, layered(e.layout, count_, size)).detached(e.constant);
  }

  /// The functions of the trace that lead to `last`, the earliest first.
  std::vector<GradFunction*> order(GradFunction& last) const {
    std::vector<GradFunction*> all, waiting{&last};
    std::unordered_set<GradFunction*> seen{&last};
    while (!waiting.empty()) {
      GradFunction* f = waiting.back();
      waiting.pop_back();
      if (f->sequence < trace_ || values_.contains(f)) continue;
      all.push_back(f);
      for (const Edge& e : f->edges)
        if (e.from && seen.insert(e.from.get()).second) waiting.push_back(e.from.get());
    }
    std::sort(all.begin(), all.end(), [](const GradFunction* a, const GradFunction* b) { return a->sequence < b->sequence; });
    return all;
  }

  void compute_up_to(GradFunction& last) {
    for (GradFunction* f : order(last)) {
      const auto depends = [&](const Edge& e) { return e.from && values_.contains(e.from.get()); };
      if (std::none_of(f->edges.begin(), f->edges.end(), depends)) continue;
      BC_CHECK(f->traced, NotImplemented, "vmap: {} is no op that can be computed for many examples at once", f->name());
      std::vector<TracedOperand> operands;
      for (size_t k = 0; k < f->edges.size(); ++k) {
        const Edge& e = f->edges[k];
        if (depends(e))
          operands.push_back({view(values_[e.from.get()], e.from->values[static_cast<size_t>(e.output)], e), true});
        else
          operands.push_back({f->traced->operands[k], false});
      }
      const GradMode mode(grad_enabled() && !f->constant);
      const Array made = f->traced->compute(operands);
      Dims shape = f->values[0].shape;
      shape.insert(0, count_);
      values_[f] = plain(reshape(made, shape));
    }
  }

  const uint64_t trace_;
  const int64_t count_;
  std::unordered_map<GradFunction*, Array> values_;
};

}  // namespace

std::vector<Array> replay(uint64_t trace, std::span<const Array> outputs, std::span<const Array> inputs, std::span<const Array> all) {
  Replay run(trace, all[0].shape()[0]);
  for (size_t k = 0; k < inputs.size(); ++k) run.add_input(inputs[k], all[k]);
  std::vector<Array> made;
  for (const Array& y : outputs) made.push_back(run.output(y));
  return made;
}

// ---- How ops are computed for many examples ----

void trace_ufunc(GradFunction& f, Op op, std::span<const Term> operands, const Loop& loop) {
  std::vector<Array> read;
  std::vector<Arg> numbers;
  for (const Term& t : operands) {
    read.push_back(t.array ? *t.array : Array());
    numbers.emplace_back(t.weak, t.value);
  }
  set(f, std::move(read), [op, loop, numbers, ndim = f.values[0].shape.size()](Operands in) {
    std::vector<Arg> given;
    for (size_t k = 0; k < in.size(); ++k)
      given.push_back(in[k].array ? Arg(astype(padded(in[k], ndim), loop.in[k], false, Casting::unsafe)) : numbers[k]);
    return bc::ufunc(op, given, {.order = 'C'});
  });
}

void trace_reduce(GradFunction& f, Op op, const Array& a, uint64_t axes, double ddof) {
  ReduceOptions options;
  options.axes.emplace();
  for (int d = 0; d < a.ndim(); ++d)
    if (axes >> d & 1) options.axes->push_back(d + 1);
  options.ddof = ddof;
  const DType dtype = f.values[0].dtype;
  if (info(op).result == Result::SAME) options.dtype = dtype;
  set(f, {a}, [op, options](Operands in) { return bc::reduce(op, in[0].array, options); });
}

void trace_copy(GradFunction& f, const Array& a) {
  if (f.edges.empty()) {
    f.edges.push_back(edge_to(a));
    f.example = f.edges[0].from && f.edges[0].from->example;
  }
  set(f, {a}, [v = f.values[0]](Operands in) { return to_device(astype(in[0].array, v.dtype, false), v.device); });
}

void trace_user(GradFunction& f, const Ref<UserOp>& op, int output, std::span<const Arg> operands) {
  std::vector<Array> read;
  for (const Arg& x : operands) read.push_back(x.array);
  const std::vector<Arg> numbers(operands.begin(), operands.end());
  set(f, std::move(read), [op, output, numbers, ndim = f.values[0].shape.size()](Operands in) {
    std::vector<Arg> given;
    for (size_t k = 0; k < in.size(); ++k) given.push_back(in[k].array ? Arg(padded(in[k], ndim)) : numbers[k]);
    return bc::apply(op, given)[static_cast<size_t>(output)];
  });
}

void trace_gather(GradFunction& f, const Array& source, const Addressing& at) {
  // The indices may be another for each example, too.
  std::vector<Array> read{Array(source.storage(), at.dtype, f.edges[0].layout).detached(source.is_detached())};
  for (const Array& index : at.indices) {
    f.edges.push_back(edge_to(index));
    read.push_back(index);
  }
  Addressing one = at;
  one.indices.clear();
  set(f, std::move(read), [one](Operands in) {
    const TracedOperand& from = in[0];
    const int64_t count = count_of(in), size = from.many ? from.array.size() / std::max<int64_t>(count, 1) : from.array.size();
    return for_many(one, count, size, from.many, in.subspan(1)).picked(from.array);
  });
}

void trace_store(GradFunction& f, const Array& target, const Array& value) {
  const Value v = f.values[0];
  set(f, {whole_of(target, v), value}, [v, dtype = target.dtype(), region = target.layout()](Operands in) {
    const int64_t count = count_of(in), size = product(v.shape) * itemsize(v.dtype) / itemsize(dtype);
    const Array all = bc::copy(stacked(in[0], count));
    Array part = in[1].array;
    // NumPy drops leading axes of extent 1 that the target does not have.
    const int lead = in[1].many ? 1 : 0;
    while (part.ndim() - lead > region.ndim()) {
      Layout l = part.layout();
      l.shape.erase(lead);
      l.strides.erase(lead);
      part = part.with_layout(std::move(l));
    }
    assign(window(all, dtype, layered(region, count, size)), padded({part, in[1].many}, region.ndim()));
    return all;
  });
}

void trace_scatter(GradFunction& f, Op op, const Array& target, const Array& value, const Addressing& at) {
  const Value v = f.values[0];
  std::vector<Array> read{whole_of(target, v), value};
  for (const Array& index : at.indices) {
    f.edges.push_back(edge_to(index));
    read.push_back(index);
  }
  Addressing one = at;
  one.indices.clear();
  set(f, std::move(read), [v, op, one](Operands in) {
    const int64_t count = count_of(in);
    const Array all = bc::copy(stacked(in[0], count));
    const Addressing many = for_many(one, count, product(v.shape) * itemsize(v.dtype) / itemsize(one.dtype), true, in.subspan(2));
    const Array target = window(all, one.dtype, many.base);
    scatter(op, target, many.shape, many.axis, many.indices, many.index_axis, broadcast_to(padded(in[1], one.shape.size()), many.shape));
    return all;
  });
}

namespace {

/// The shapes under which a library op reads operands of many examples, and the operands with as many axes.
std::vector<Dims> read_shapes(const std::vector<Dims>& one, int64_t count) {
  std::vector<Dims> shapes = one;
  for (Dims& shape : shapes) shape.insert(0, count);
  return shapes;
}
std::vector<Array> read_operands(Operands in, const std::vector<Dims>& one) {
  std::vector<Array> arrays;
  for (size_t k = 0; k < in.size(); ++k) arrays.push_back(padded(in[k], one[k].size()));
  return arrays;
}

/// Linear algebra whose batch has the examples as its first axis. Its parts are brought into the order of an example's.
std::function<Array(Operands)> many_matrices(const LinalgExtra& extra, const Value& v) {
  std::shared_ptr<const LinalgExtra> one = extra.under(extra.batch);
  return [one, reads = extra.input_shapes, v](Operands in) {
    const int64_t count = count_of(in), size = product(v.shape);
    Dims batch = one->batch;
    batch.insert(0, count);
    std::unique_ptr<LinalgExtra> op = one->under(batch);
    const std::vector<LinalgExtra::Part> parts = op->parts;
    const Dims elements{std::max<int64_t>(op->bytes() / itemsize(v.dtype), 1)};
    const Array made = record_library(read_operands(in, reads), read_shapes(reads, count), std::move(op), elements, v.dtype, v.device);
    const auto part = [](const Array& of, const LinalgExtra::Part& p, Layout layout) {
      layout.offset = p.offset / itemsize(p.dtype);
      return Array(of.storage(), p.dtype, std::move(layout));
    };
    if (one->failure) linalg::check_info(part(made, parts.back(), contiguous_layout(parts.back().shape)), one->failure);
    const Array all = zeros(Dims{count, size}, v.dtype, v.device);
    for (size_t k = 0; k < parts.size(); ++k) {
      const LinalgExtra::Part& p = one->parts[k];
      const int64_t apart = size * itemsize(v.dtype) / itemsize(p.dtype);
      assign(part(all, p, layered(contiguous_layout(p.shape), count, apart)), part(made, parts[k], contiguous_layout(parts[k].shape)));
    }
    return all;
  };
}

std::function<Array(Operands)> many_transforms(const FftExtra& extra, const Value& v) {
  Dims axes = extra.axes;
  for (int64_t& d : axes) ++d;
  return [one = FftExtra(extra.transform, extra.forward, axes, extra.scale, extra.threads, extra.type, extra.orthogonal),
          reads = extra.input_shapes, v](Operands in) {
    Dims shape = v.shape;
    shape.insert(0, count_of(in));
    return record_library(read_operands(in, reads), read_shapes(reads, shape[0]), std::make_unique<FftExtra>(one), shape, v.dtype,
                          v.device);
  };
}

/// What computes a library op for many examples; nothing for those that have no form for them.
std::function<Array(Operands)> many_of(const LibraryExtra& extra, const Value& v) {
  const DType dtype = v.dtype;
  switch (extra.kind) {
    case LibraryKind::matmul: return [ndim = v.shape.size()](Operands in) { return bc::matmul(padded(in[0], ndim), padded(in[1], ndim)); };
    case LibraryKind::scan: {
      const auto& scan = static_cast<const ScanExtra&>(extra);
      if (scan.join) return {};
      if (scan.fold) {
        const ReduceOptions options{.axes = {{scan.axis + 1}}, .dtype = dtype};
        return [op = scan.op, options](Operands in) { return ufunc_reduce(op, in[0].array, options); };
      }
      return [op = scan.op, axis = scan.axis + 1, dtype](Operands in) { return accumulate(op, in[0].array, axis, dtype); };
    }
    case LibraryKind::reduceat: {
      const auto& segments = static_cast<const ReduceatExtra&>(extra);
      const Array at =
          from_host(segments.at.data(), DType::i64, contiguous_layout(Dims{static_cast<int64_t>(segments.at.size())}), v.device);
      return [op = segments.op, axis = segments.axis + 1, at, dtype](Operands in) { return reduceat(op, in[0].array, at, axis, dtype); };
    }
    case LibraryKind::compress:
      return [shape = v.shape](Operands in) {
        BC_CHECK(!in[1].many, Runtime, "vmap: the function selects by a mask, which selects another number of elements for each example");
        const IndexItem mask[] = {{}, {{}, in[1].array}};
        return getitem(in[0].array, mask);
      };
    case LibraryKind::sort:
      if (static_cast<const SortExtra&>(extra).places) return [](Operands in) { return argsort(in[0].array, -1); };
      return [](Operands in) { return sort(in[0].array, -1); };
    case LibraryKind::partition: {
      const auto& p = static_cast<const PartitionExtra&>(extra);
      if (p.places) return [ranks = p.ranks](Operands in) { return argpartition(in[0].array, ranks, -1); };
      return [ranks = p.ranks](Operands in) { return partition(in[0].array, ranks, -1); };
    }
    case LibraryKind::linalg: return many_matrices(static_cast<const LinalgExtra&>(extra), v);
    case LibraryKind::fft: return many_transforms(static_cast<const FftExtra&>(extra), v);
    case LibraryKind::select:
      return [ranks = static_cast<const SelectExtra&>(extra).ranks](Operands in) { return order_statistics(in[0].array, ranks, -1); };
    default: return {};
  }
}

}  // namespace

void trace_library(GradFunction& f, std::span<const Array> inputs, const LibraryExtra& extra) {
  if (std::function<Array(Operands)> many = many_of(extra, f.values[0])) set(f, {inputs.begin(), inputs.end()}, std::move(many));
}

}  // namespace bc::autograd
