#include "array/user.h"

#include "array/history.h"
#include "array/placement.h"
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

/// Where the call belongs, if operands are placed by size and do not lie there.
std::optional<Device> place_of_call(std::span<const Arg> args, const UserOptions& options) {
  std::vector<const Array*> arrays{&options.where};
  Dims shape = options.shape.value_or(Dims());
  for (const Arg& arg : args) {
    if (!arg.array) continue;
    arrays.push_back(&arg.array);
    shape = broadcast_shapes("", shape, arg.array.shape());
  }
  return place_of_op(arrays, product(shape));
}

/// Applies the function to operands and a mask that lie elsewhere.
std::vector<Array> apply_at(Device device, const Ref<UserOp>& op, std::span<const Arg> args, UserOptions options) {
  std::vector<Arg> moved(args.begin(), args.end());
  for (Arg& arg : moved)
    if (arg.array) arg.array = brought(arg.array, device);
  if (options.where) options.where = brought(options.where, device);
  return apply(op, moved, options);
}

/// The loop of a call: where it runs, and the shape that operands, mask and outputs are broadcast to.
struct UserLoop {
  Device device;
  Dims shape;
};

UserLoop loop_of(const UserOp& op, std::span<const Arg> args, const UserOptions& options) {
  const char* name = op.name.c_str();
  UserLoop loop{{}, options.shape.value_or(Dims())};
  const Array* first = nullptr;
  const auto check_device = [&](const Array& a) {
    BC_CHECK(a.device() == loop.device, Value, "{}: expected all arrays on one device, got {} and {}; use to_device()", name,
             to_string(loop.device), to_string(a.device()));
  };
  const auto add = [&](const Array& a) {
    if (!first) loop.device = a.device();
    first = &a;
    check_device(a);
    if (!(loop.shape == a.shape())) loop.shape = broadcast_shapes(name, loop.shape, a.shape());
  };
  for (const Arg& arg : args) {
    if (!arg.array) continue;
    BC_CHECK(!is_time(arg.array.dtype()), UFuncTypeError, "{}: not supported for {}; .view('int64') gives the ticks", name,
             info(arg.array.dtype()).name);
    add(arg.array);
  }
  if (options.where) add(options.where);
  if (!first) loop.device = options.device.value_or(default_device());
  for (size_t k = 0; k < options.out.size(); ++k) {
    const Array& out = options.out[k];
    if (!out) continue;
    if (!first) loop.device = out.device();
    if (!placed_by_size()) check_device(out);
    check_ufunc_output(name, op.out[k], loop.shape, out, options.casting);
    loop.shape = out.shape();
  }
  return loop;
}

/// The order of axes along the memory of operands, outputs and mask.
Dims order_of(const char* name, std::span<const Arg> args, const UserOptions& options, const Dims& shape) {
  std::vector<Dims> strides;
  const auto add = [&](const Array& a) {
    if (a) strides.push_back(moving_strides(shape, broadcast_strides(name, a.layout(), shape)));
  };
  for (const Arg& arg : args) add(arg.array);
  for (const Array& out : options.out) add(out);
  add(options.where);
  return operands_order(strides, shape.size());
}

void push_operands(Operands& in, const UserOp& op, std::span<const Arg> args, const UserLoop& loop) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].array) {
      in.push_back(make_operand(op.name.c_str(), args[i].array, loop.shape));
      continue;
    }
    const Scalar& v = args[i].value;
    BC_CHECK(args[i].weak != Weak::integer || integer_fits(v, op.in[i]), Overflow, "{}: Python integer {} out of bounds for {}", op.name,
             v.dtype == DType::f64   ? fmt::format("{:.0f}", v.f)
             : v.dtype == DType::u64 ? std::to_string(v.u)
                                     : std::to_string(v.i),
             info(op.in[i]).name);
    in.push_back(make_constant(v, op.in[i], loop.device));
  }
}

/// Records a node for each output of the function; all have the same operands.
std::vector<Array> record_outputs(const Ref<UserOp>& op, std::span<const Arg> args, const UserLoop& loop) {
  std::vector<Ref<Node>> nodes;
  for (size_t k = 0; k < op->out.size(); ++k) nodes.push_back(new_node(Op::user, op->out[k], loop.device, loop.shape));
  push_operands(nodes[0]->in, *op, args, loop);
  for (size_t k = 1; k < nodes.size(); ++k) nodes[k]->in = nodes[0]->in;
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
  return results;
}

/// Gives results where `out=` and `where=` want them.
void deliver(std::vector<Array>& results, const UserOptions& options) {
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
}

}  // namespace

std::vector<Array> apply(const Ref<UserOp>& op, std::span<const Arg> args, const UserOptions& options) {
  const char* name = op->name.c_str();
  BC_CHECK(args.size() == op->in.size(), Type, "{}: expected {} operands, got {}", name, op->in.size(), args.size());
  BC_CHECK(options.out.empty() || options.out.size() == op->out.size(), Type, "{}: expected {} arrays in 'out', got {}", name,
           op->out.size(), options.out.size());
  if (placed_by_size()) [[unlikely]]
    if (const auto place = place_of_call(args, options)) return apply_at(*place, op, args, options);
  const UserLoop loop = loop_of(*op, args, options);
  if (options.order == 'K' && loop.shape.size() > 1)
    if (const Dims order = order_of(name, args, options, loop.shape); !is_ascending(order))
      return apply_in_order(op, args, options, loop.shape, order);

  std::vector<Array> results;
  if (options.computed_first) {
    results = record_outputs(op, args, loop);
    flush(loop.device);
  }
  TapeLock lock(tape(loop.device));
  if (results.empty()) results = record_outputs(op, args, loop);
  // All results are recorded before any output is written, because an output may also be an operand.
  deliver(results, options);
  return results;
}

}  // namespace bc
