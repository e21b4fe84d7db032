#include "array/user.h"

#include "array/history.h"
#include "array/record.h"
#include "core/stored_value.h"
#include "graph/tape.h"

namespace bc {

namespace {

/// Applies the function with the axes in another order, so that it runs along memory.
std::vector<Array> apply_in_order(const Ref<UserOp>& op, std::span<const Arg> args, const UserOptions& options, const Dims& shape,
                                  const Dims& order) {
  const auto turned = [&](const Array& a) { return a ? transpose(broadcast_to(a, shape), order) : a; };
  std::vector<Arg> operands(args.begin(), args.end());
  for (Arg& arg : operands) arg.array = turned(arg.array);
  UserOptions rest = options;
  rest.order = 'C';
  for (Array& out : rest.out) out = turned(out);
  rest.where = turned(rest.where);
  if (rest.shape) rest.shape = transposed({shape, shape, 0}, order).shape;
  std::vector<Array> made = apply(op, operands, rest);
  for (size_t k = 0; k < made.size(); ++k)
    made[k] = k < options.out.size() && options.out[k] ? options.out[k] : transpose(made[k], inverse_axes(order));
  return made;
}

}  // namespace

std::vector<Array> apply(const Ref<UserOp>& op, std::span<const Arg> args, const UserOptions& options) {
  const char* name = op->name.c_str();
  BC_CHECK(args.size() == op->in.size(), Type, "{}: expected {} operands, got {}", name, op->in.size(), args.size());
  BC_CHECK(options.out.empty() || options.out.size() == op->out.size(), Type, "{}: expected {} arrays in 'out', got {}", name,
           op->out.size(), options.out.size());
  const Array* first = nullptr;
  Dims shape = options.shape.value_or(Dims());
  const auto meet = [&](const Array& a) {
    if (!first) first = &a;
    BC_CHECK(a.device() == first->device(), Value, "{}: expected all arrays on one device, got {} and {}; use to_device()", name,
             to_string(first->device()), to_string(a.device()));
    if (!(shape == a.shape())) shape = broadcast_shapes(name, shape, a.shape());
  };
  for (const Arg& arg : args) {
    if (!arg.array) continue;
    BC_CHECK(!is_time(arg.array.dtype()), UFuncTypeError, "{}: not supported for {}; .view('int64') gives the ticks", name,
             info(arg.array.dtype()).name);
    meet(arg.array);
  }
  if (options.where) meet(options.where);
  Device device = options.device.value_or(default_device());
  if (first) device = first->device();
  for (size_t k = 0; k < options.out.size(); ++k) {
    const Array& out = options.out[k];
    if (!out) continue;
    if (!first) device = out.device();
    BC_CHECK(out.device() == device, Value, "{}: expected all arrays on one device, got {} and {}; use to_device()", name,
             to_string(device), to_string(out.device()));
    BC_CHECK(can_cast(op->out[k], out.dtype(), options.casting), UFuncTypeError,
             "Cannot cast ufunc '{}' output from dtype('{}') to dtype('{}') with casting rule '{}'", name, info(op->out[k]).name,
             info(out.dtype()).name, to_string(options.casting));
    const Dims both = broadcast_shapes(name, shape, out.shape());
    BC_CHECK(both == out.shape(), Value, "{}: non-broadcastable output operand with shape {} doesn't match the broadcast shape {}", name,
             out.shape(), both);
    BC_CHECK(!storage_facts(out).read_only && !self_overlaps(out.layout()), Value, "{}: assignment destination is read-only", name);
    shape = both;
  }

  if (options.order == 'K' && shape.size() > 1) {
    std::vector<Dims> strides;
    const auto walk = [&](const Array& a) {
      if (a) strides.push_back(moving_strides(shape, broadcast_strides(name, a.layout(), shape)));
    };
    for (const Arg& arg : args) walk(arg.array);
    for (const Array& out : options.out) walk(out);
    walk(options.where);
    if (const Dims order = operands_order(strides, shape.size()); !is_ascending(order))
      return apply_in_order(op, args, options, shape, order);
  }

  TapeLock lock(tape(device));
  Ref<Node> first_node = new_node(Op::user, op->out[0], device, shape);
  Operands& in = first_node->in;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].array) {
      in.push_back(make_operand(name, args[i].array, shape));
      continue;
    }
    const Scalar& v = args[i].value;
    BC_CHECK(args[i].weak != Weak::integer || integer_fits(v, op->in[i]), Overflow, "{}: Python integer {} out of bounds for {}", op->name,
             v.dtype == DType::f64   ? fmt::format("{:.0f}", v.f)
             : v.dtype == DType::u64 ? std::to_string(v.u)
                                     : std::to_string(v.i),
             info(op->in[i]).name);
    in.push_back(make_constant(args[i].value, op->in[i], device));
  }
  std::vector<Ref<Node>> nodes;
  nodes.push_back(std::move(first_node));
  for (size_t k = 1; k < op->out.size(); ++k) {
    nodes.push_back(new_node(Op::user, op->out[k], device, shape));
    nodes.back()->in = nodes[0]->in;
  }
  std::vector<Array> results;
  results.reserve(nodes.size());
  for (size_t k = 0; k < nodes.size(); ++k) {
    auto extra = std::make_unique<UserExtra>();
    extra->op = op;
    extra->output = static_cast<int>(k);
    nodes[k]->extra = std::move(extra);
    results.push_back(record(std::move(nodes[k])));
    if (HistoryObserver* const observer = history_observer()) [[unlikely]]
      observer->user(op, static_cast<int>(k), args, results[k]);
  }
  // All results are recorded before any output is written, because an output may also be an operand.
  for (size_t k = 0; k < results.size(); ++k) {
    if (k < options.out.size() && options.out[k]) {
      if (options.where)
        assign_where(options.out[k], options.where, results[k]);
      else
        assign(options.out[k], results[k]);
      results[k] = options.out[k];
    } else if (options.where) {
      results[k] = ufunc(Op::where, {options.where, results[k], Arg(Weak::boolean, Scalar::boolean(false))});
    }
  }
  return results;
}

}  // namespace bc
