#include "array/array.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>

#include "array/access.h"
#include "array/history.h"
#include "array/other_dtypes.h"
#include "array/placement.h"
#include "array/record.h"
#include "array/small_host.h"
#include "core/extents.h"
#include "core/stored_value.h"
#include "graph/aliases.h"
#include "graph/plan.h"
#include "graph/show_plan.h"
#include "graph/tape.h"
#include "runtime/copy_kind.h"
#include "runtime/device_name.h"
#include "runtime/pool.h"
#include "runtime/profiler.h"

namespace bc {

namespace detail {
std::atomic<HistoryObserver*> history_observer{nullptr};
}
void set_history_observer(HistoryObserver* observer) { detail::history_observer.store(observer, std::memory_order_release); }

namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local const char* source_file = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local int source_line = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local const char* kernel_label = nullptr;

}  // namespace

Ref<Node> new_node(Op op, DType dtype, Device device, const Dims& shape) {
  Ref<Node> node = Ref<Node>::first(new Node);
  node->op = op;
  node->dtype = storage_type(dtype);
  node->device = device;
  node->shape = shape;
  node->size = element_count(shape, itemsize(dtype));
  node->file = source_file;
  node->line = source_line;
  node->label = kernel_label;
  return node;
}

namespace {

Ref<Node> new_leaf(Ref<Buffer> buffer, DType dtype, const Dims& shape) {
  Ref<Node> node = new_node(Op::leaf, dtype, buffer->device, shape);
  node->buffer = std::move(buffer);
  return node;
}

/// Whether a node reads or writes exposed memory, itself or through a cast that was recorded for it.
bool touches_exposed(const Node& node) {
  for (const Operand& o : node.in) {
    if (o.node->buffer && o.node->buffer->exposed) return true;
    if (!o.node->buffer && !o.node->running && o.node->op == Op::cast && touches_exposed(*o.node)) return true;
  }
  return false;
}

/// The node of an array that is exactly its storage's content in order; nullptr for any other view.
Node* whole(const Array& a, bool contiguous) {
  Node* node = a.storage()->current.get();
  const bool all = contiguous && storage_type(a.dtype()) == node->dtype && a.offset() == 0 && a.size() == node->size;
  return all && !a.has_loose_booleans() ? node : nullptr;
}
Node* whole(const Array& a) { return whole(a, a.contiguous()); }

Array transposed(const char* op, const Array& a, const Dims& shape, const Dims& axes) {
  return a.with_layout(bc::transposed({shape, broadcast_strides(op, a.layout(), shape), a.offset()}, axes));
}

/// Copies between host and device, within one device, or from the device `source`, in the stream's order, and reports the copy to the
/// profiler.
void transfer(Tape& t, void* to, const void* from, size_t bytes, CopyKind kind, std::optional<Device> source = {}) {
  const HostWait wait;
  Backend& b = backend(t.device());
  const auto copy = [&] {
    if (kind == CopyKind::DeviceToDevice && source)
      b.copy_from(*source, to, from, bytes, t.stream());
    else
      b.copy(to, from, bytes, kind, t.stream());
  };
  if (!profiling() || kind == CopyKind::HostToHost) return copy();
  const auto start = std::chrono::steady_clock::now();
  copy();
  b.synchronize(t.stream());
  profile_copy({to_string(kind), t.device(), static_cast<int64_t>(bytes),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), source_line,
                source_file ? source_file : "", steady_seconds(start)});
}

/// Records that work which was just queued on a stream (or will be before the lock is released) uses a buffer.
void use(Tape& t, Buffer& buffer, bool write) {
  t.submit();
  if (many_streams()) [[unlikely]]
    t.after(buffer, write);
}

/// transfer() to the host from a buffer that only this call owns. If Ctrl-C ends the wait, the buffer is kept, because the device may still
/// read it.
void read_back(Tape& t, Buffer& buffer, void* to, const void* from, size_t bytes, CopyKind kind) {
  try {
    transfer(t, to, from, bytes, kind);
  } catch (...) {
    TapeLock lock(t);
    use(t, buffer, false);
    throw;
  }
}

/// Makes the stream wait until it may use the computed memory of a buffer.
void wait_before_access(Tape& t, Buffer& buffer, bool write) {
  if (many_streams()) [[unlikely]]
    t.before(buffer, write);
}

/// If a node is pending on another stream's tape, computes it there before this stream's work reads it.
void bring_here(Node& node) {
  if (many_streams() && node.pending() && node.tape != &tape(node.device)) node.tape->flush();
}

/// Computes the current value of an array's storage. Called with the lock held. While it waits or computes without the lock other threads
/// may change the storage: the node that is returned is its value when it returns, and what was read of the storage before is out of date.
Node& compute_current(const Array& a) {
  for (;;) {
    Node& node = *a.storage()->current;
    if (!node.pending() || !node.tape->compute(node)) {
      require_value(node);
      return node;
    }
  }
}

/// Ends the recording of a node, when the storages are up to date: flushes if lazy execution would be visible, which is so in plain
/// execution and for exposed memory, or if too many nodes are pending.
void end_recording(Tape& t, Node& node) {
  if (!config().lazy || touches_exposed(node)) {
    t.flush_own();
    // Another thread's flush may have taken the node.
    while (node.pending() && node.tape->compute(node)) {}
  }
  if (t.full()) [[unlikely]]
    t.make_room();
}

Operand cast_operand(Operand o, DType dtype, const Dims& shape, Device device) {
  if (o.dtype == dtype) return o;
  Ref<Node> node = new_node(Op::cast, dtype, device, shape);
  node->loop[0] = dtype;
  node->in.push_back(std::move(o));
  tape(device).append(node.get());
  Operand out;
  out.node = std::move(node);
  out.dtype = dtype;
  return out;
}

bool is_comparison(Op op) {
  return op == Op::less || op == Op::less_equal || op == Op::greater || op == Op::greater_equal || op == Op::equal || op == Op::not_equal;
}

/// The result of comparing any `dtype` with a Python integer that `dtype` cannot hold: it depends only on the sign.
bool compare_out_of_range(Op op, bool scalar_is_second, bool scalar_negative) {
  const bool array_is_less = !scalar_negative;
  switch (op) {
    case Op::equal: return false;
    case Op::not_equal: return true;
    case Op::less:
    case Op::less_equal: return scalar_is_second == array_is_less;
    default: return scalar_is_second != array_is_less;
  }
}

}  // namespace

void check_writable(const char* op, const Array& a) {
  BC_CHECK(!storage_facts(a).read_only && !self_overlaps(a.layout()), Value, "{}: assignment destination is read-only", op);
}

void check_ufunc_output(const char* name, DType dtype, const Dims& shape, const Array& out, Casting casting) {
  BC_CHECK(can_cast(dtype, out.dtype(), casting), UFuncTypeError,
           "Cannot cast ufunc '{}' output from dtype('{}') to dtype('{}') with casting rule '{}'", name, info(dtype).name,
           info(out.dtype()).name, to_string(casting));
  const Dims both = broadcast_shapes(name, shape, out.shape());
  BC_CHECK(both == out.shape(), Value, "{}: non-broadcastable output operand with shape {} doesn't match the broadcast shape {}", name,
           out.shape(), both);
  check_writable(name, out);
}

Config& config() {
  static Config c = [] {
    Config init;
    auto off = [](const char* name) {
      const char* v = std::getenv(name);
      return v && v[0] == '0';
    };
    init.lazy = !off("BROADCLOTH_LAZY");
    init.jit = !off("BROADCLOTH_JIT_COMPILE");
    init.background_compile = !off("BROADCLOTH_BACKGROUND");
    return init;
  }();
  return c;
}

const char* set_kernel_label(const char* label) { return std::exchange(kernel_label, label); }

const char* interned(std::string_view text) {
  static std::mutex mutex;
  static auto& known = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(text);
  return (found != known.end() ? found : known.emplace(text).first)->c_str();
}

void set_source_location(const char* file, int line) {
  source_file = file;
  source_line = line;
}

// ---- Recording ------------------------------------------------------------------------------------------------------------------

namespace {

/// Records `.real` or `.imag` of a pending complex value as an op; nullopt for any other view.
std::optional<Array> pending_component(const Array& a, const Node& node) {
  if (!is_complex(node.dtype) || a.dtype() != real_type(node.dtype)) return std::nullopt;
  Layout l = a.layout();
  for (int d = 0; d < l.ndim(); ++d) {
    if (l.strides[d] % 2 != 0 && l.shape[d] > 1) return std::nullopt;
    l.strides[d] /= 2;
  }
  const bool imaginary = l.offset & 1;
  l.offset >>= 1;
  return ufunc(imaginary ? Op::imag : Op::real, {a.seen_as(node.dtype, std::move(l))});
}

}  // namespace

Array as_bytes(const Array& a) { return a.seen_as(DType::u8, a.layout()); }

Array as_bytes(const Arg& value, Device device) { return astype(astype(stored(value, DType::b1, device), DType::b1, false), DType::u8); }

Operand make_operand(const char* op, const Array& a, const Dims& shape) {
  if (a.has_loose_booleans()) [[unlikely]]
    return cast_operand(make_operand(op, as_bytes(a), shape), DType::b1, shape, a.device());
  Operand o;
  o.node = a.storage()->current;
  const DType dtype = storage_type(a.dtype());
  if (dtype != o.node->dtype && o.node->pending())
    if (const std::optional<Array> part = pending_component(a, *o.node)) return make_operand(op, *part, shape);
  // A view with another dtype (`.view`) has no node, so it is read from memory.
  while (dtype != o.node->dtype && o.node->pending())
    if (!o.node->tape->compute(*o.node)) require_value(*o.node);
  if (many_streams()) [[unlikely]]
    bring_here(*o.node);
  o.dtype = dtype;
  if (a.shape() == shape && whole(a)) return o;
  o.identity = false;
  o.offset = a.offset();
  o.strides = broadcast_strides(op, a.layout(), shape);
  return o;
}

Operand make_constant(const Scalar& value, DType dtype, Device device) {
  // A loop uses the same few constants again and again; their nodes are immutable, so they are cached. On the heap: static TLS is scarce,
  // and libraries that are opened later need it (PyTorch's libgomp).
  constexpr size_t kKept = 64;
  static thread_local const std::unique_ptr<Ref<Node>[]> kept(new Ref<Node>[kKept]);
  uint64_t bits;
  std::memcpy(&bits, &value.imag, sizeof(bits));
  const uint64_t hash =
      (value.u ^ (bits << 1) ^ static_cast<uint64_t>(dtype) << 52 ^ static_cast<uint64_t>(device.type) << 60) * 0x9e3779b97f4a7c15u;
  Ref<Node>& place = kept[hash >> 58];
  if (!place || !(place->value == value) || place->dtype != storage_type(dtype) || !(place->device == device)) {
    place = new_node(Op::constant, dtype, device, Dims());
    place->value = value;
  }
  Operand o;
  o.node = place;
  o.dtype = place->dtype;
  o.identity = false;
  return o;
}

Array record(Ref<Node> node) {
  Tape& t = tape(node->device);
  Array result(Ref<Storage>::first(new Storage(node)), node->dtype, contiguous_layout(node->shape));
  t.append(node.get());
  end_recording(t, *node);
  return result;
}

Array ufunc(Op op, std::initializer_list<Arg> args, const UfuncOptions& options) {
  return ufunc(op, std::span<const Arg>(args.begin(), args.size()), options);
}

Array ufunc(Op op, std::span<const Arg> args, const UfuncOptions& options) {
  Term terms[3];
  size_t n = 0;
  for (const Arg& a : args.first(std::min<size_t>(args.size(), 3))) terms[n++] = {a.array ? &a.array : nullptr, a.weak, a.value};
  BC_CHECK(args.size() <= 3, Type, "{}: expected {} operands, got {}", info(op).name, info(op).nin, args.size());
  return ufunc(op, std::span<const Term>(terms, n), options);
}

namespace {

Array deliver(const Array& result, const UfuncOptions& options) {
  if (options.where) {
    if (options.out) {
      assign_where(options.out, options.where, result);
      return options.out;
    }
    return ufunc(Op::where, {options.where, result, Arg(Weak::boolean, Scalar::boolean(false))}, {.order = 'C'});
  }
  if (options.out) {
    assign(options.out, result);
    return options.out;
  }
  return result;
}

/// Compares signed integers with uint64, although no integer type holds both: for negative numbers the result is known, otherwise both are
/// compared as uint64.
Array compare_with_unsigned(Op op, const Array& a, const Array& b) {
  const bool second = a.dtype() == DType::u64;  // the unsigned operand is the first
  const Array& some = second ? b : a;
  const Array wide = astype(some, DType::u64);
  const Array same = second ? ufunc(op, {a, wide}) : ufunc(op, {wide, b});
  if (compare_out_of_range(op, second, true))
    return ufunc(Op::bitwise_or, {same, ufunc(Op::less, {some, Arg(Weak::integer, Scalar::integer(0))})});
  return ufunc(Op::bitwise_and, {same, ufunc(Op::greater_equal, {some, Arg(Weak::integer, Scalar::integer(0))})});
}

/// The order of axes in which an op reads its operands and writes its result.
Dims ufunc_order(std::span<const Term> args, const UfuncOptions& options, const Dims& shape) {
  std::vector<Dims> strides;
  bool fortran = true;
  const auto meet = [&](const Array& a) {
    strides.push_back(moving_strides(shape, broadcast_strides("broadcast", a.layout(), shape)));
    fortran &= is_f_contiguous(a.shape(), a.strides());
  };
  for (const Term& t : args)
    if (t.array) meet(*t.array);
  if (options.out) meet(options.out);
  if (options.order == 'F' || (options.order == 'A' && fortran && !strides.empty())) return reversed_axes(shape.size());
  if (options.where) strides.push_back(moving_strides(shape, broadcast_strides("broadcast", options.where.layout(), shape)));
  // Otherwise order 'A' means C order.
  if (options.order == 'A') strides.clear();
  return operands_order(strides, shape.size());
}

/// Records an op with permuted axes, so that its kernel runs along memory and fuses with other such ops.
Array ufunc_in_order(Op op, std::span<const Term> args, const UfuncOptions& options, const Dims& shape, const Dims& order) {
  const char* name = info(op).name;
  Array turned[3];
  Term terms[3];
  for (size_t i = 0; i < args.size(); ++i) {
    terms[i] = args[i];
    if (!args[i].array) continue;
    turned[i] = transposed(name, *args[i].array, shape, order);
    terms[i].array = &turned[i];
  }
  UfuncOptions rest = options;
  rest.order = 'C';
  if (options.out) rest.out = transposed(options.out, order);
  if (options.where) rest.where = transposed(name, options.where, shape, order);
  const Array made = ufunc(op, std::span<const Term>(terms, args.size()), rest);
  return options.out ? options.out : transposed(made, inverse_axes(order));
}

/// A logical op with Python numbers: only their truth counts, even if the array's dtype cannot hold them.
Array logical_of_numbers(Op op, std::span<const Term> args, const UfuncOptions& options) {
  Term terms[2];
  for (size_t i = 0; i < args.size(); ++i) {
    terms[i] = args[i];
    if (args[i].weak == Weak::none) continue;
    terms[i].weak = Weak::boolean;
    terms[i].value = stored_value(args[i].weak, args[i].value, DType::b1);
  }
  return ufunc(op, std::span<const Term>(terms, args.size()), options);
}

// The row takes 32-bit exponents. Wider exponents are clamped to a range whose ends already overflow or underflow for every float.
Array ldexp_of_wide(std::span<const Term> args, const UfuncOptions& options) {
  constexpr int64_t kMost = 5000;
  Term small[2] = {args[0], args[1]};
  Array exponent;
  if (const Array* given = args[1].array) {
    const DType t = given->dtype();
    BC_CHECK(is_integer(t) && t != DType::u64, UFuncTypeError,
             "ufunc 'ldexp' not supported for the input types: expected an exponent of integers up to int64, got {}", info(t).name);
    Array x = *given;
    if (is_signed_int(t)) x = ufunc(Op::maximum, {x, Arg(-kMost)});
    exponent = astype(ufunc(Op::minimum, {x, Arg(kMost)}), DType::i32);
    small[1].array = &exponent;
  } else {
    BC_CHECK(args[1].weak == Weak::integer, UFuncTypeError,
             "ufunc 'ldexp' not supported for the input types: expected an exponent of integers up to int64, got a {} number",
             args[1].weak == Weak::real ? "real" : "complex");
    const Scalar& v = args[1].value;
    small[1].value = Scalar::integer(v.dtype == DType::i64 && v.i < 0 ? -kMost : kMost);
  }
  return ufunc(Op::ldexp, std::span<const Term>(small), options);
}

/// The facts that a ufunc's operands decide together: the types for its loop, the device, and the shape that they are broadcast to.
struct UfuncOperands {
  OperandType types[3];
  bool contiguous[3] = {}, all_contiguous = true, all_plain = true;  // plain: of dtypes that have loops
  const Array* first = nullptr;
  const Dims* shape = nullptr;
  Dims broadcast;  // the shape, if it is no operand's own

  void read(const char* name, std::span<const Term> args);
};

// Inline, as the other steps of recording an op, which programs of small arrays do millions of times.
inline void UfuncOperands::read(const char* name, std::span<const Term> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].array) {
      types[i] = {default_dtype(args[i].weak), args[i].weak};
      // A single Python integer above int64's range that fits uint64 is a uint64.
      if (args.size() == 1 && args[i].weak == Weak::integer && args[i].value.dtype == DType::u64) types[i] = {DType::u64, Weak::none};
      continue;
    }
    const Array& a = *args[i].array;
    types[i] = {a.dtype(), Weak::none};
    all_plain &= is_plain(a.dtype());
    contiguous[i] = a.contiguous();
    all_contiguous &= contiguous[i];
    if (!first) {
      first = &a;
      shape = &a.shape();
      continue;
    }
    check_one_place(name, *first, a);
    if (!(*shape == a.shape())) {
      broadcast = broadcast_shapes(name, *shape, a.shape());
      shape = &broadcast;
    }
  }
  if (!shape) shape = &broadcast;
}

/// Whether ldexp's exponent is wider than the 32 bits that its row takes.
inline bool has_wide_exponent(Op op, std::span<const Term> args) {
  if (op != Op::ldexp) return false;
  if (args[1].array) return !can_cast(args[1].array->dtype(), DType::i32, Casting::safe);
  return args[1].weak > Weak::integer || (args[1].weak == Weak::integer && !args[1].value.fits(DType::i32));
}

/// Whether an op compares an array of signed integers with one of uint64.
inline bool compares_with_unsigned(Op op, std::span<const Term> args, const UfuncOperands& operands) {
  if (args.size() != 2 || !is_comparison(op) || !args[0].array || !args[1].array) return false;
  const DType a = operands.types[0].dtype, b = operands.types[1].dtype;
  return (a == DType::u64 && is_signed_int(b)) || (b == DType::u64 && is_signed_int(a));
}

/// The result of comparing with a Python integer that `dtype` cannot hold, which is operand `i`. Other ops raise OverflowError.
inline std::optional<bool> known_comparison(Op op, const Term& number, int i, DType dtype) {
  if (number.weak != Weak::integer || integer_fits(number.value, dtype)) return std::nullopt;
  const Scalar& v = number.value;
  const bool negative = v.dtype == DType::f64 ? v.f < 0 : v.dtype == DType::i64 && v.i < 0;
  if (!is_comparison(op)) raise_out_of_bounds(v, dtype);
  return compare_out_of_range(op, i == 1, negative);
}

inline void push_array(Node& node, const char* name, const Array& a, bool contiguous) {
  if (many_streams()) [[unlikely]]
    bring_here(*a.storage()->current);
  if (Node* all = contiguous && a.shape() == node.shape ? whole(a, true) : nullptr)
    node.in.push_whole(a.storage()->current, all->dtype);
  else
    node.in.push_back(make_operand(name, a, node.shape));
}

inline void push_number(Node& node, const Scalar& value, int i) {
  BC_CHECK(!(node.op == Op::power && i == 1 && is_integer(node.loop[1]) && value.dtype == DType::i64 && value.i < 0 && node.size > 0),
           Value, "Integers to negative integer powers are not allowed.");
  node.in.push_back(make_constant(value, node.loop[i], node.device));
}

}  // namespace

namespace {

/// The ufunc of operands that lie elsewhere.
Array ufunc_at(Device device, Op op, std::span<const Term> args, UfuncOptions options) {
  Array there[3];
  Term terms[3];
  for (size_t i = 0; i < args.size(); ++i) {
    terms[i] = args[i];
    if (!args[i].array) continue;
    there[i] = brought(*args[i].array, device);
    terms[i].array = &there[i];
  }
  if (options.where) options.where = brought(options.where, device);
  return ufunc(op, std::span<const Term>(terms, args.size()), options);
}

}  // namespace

Array deliver_ufunc(Op op, const Array& result, const UfuncOptions& options) {
  if (options.out) check_ufunc_output(info(op).name, result.dtype(), result.shape(), options.out, options.casting);
  return deliver(result, options);
}

Array ufunc(Op op, std::span<const Term> args, const UfuncOptions& options) {
  const OpInfo& spec = info(op);
  const int n = static_cast<int>(args.size());
  BC_CHECK(n == spec.nin, Type, "{}: expected {} operands, got {}", spec.name, spec.nin, n);
  if (is_logical(op) && std::any_of(args.begin(), args.end(), [](const Term& t) { return t.weak > Weak::boolean; })) [[unlikely]]
    return logical_of_numbers(op, args, options);
  if (has_wide_exponent(op, args)) [[unlikely]]
    return ldexp_of_wide(args, options);

  UfuncOperands operands;
  operands.read(spec.name, args);
  if (!operands.all_plain || (options.dtype && !is_plain(*options.dtype))) [[unlikely]]
    return ufunc_of_others(op, args, options);
  const Array* first = operands.first;
  if (placed_by_size()) [[unlikely]] {
    const std::array<const Array*, 4> given{args[0].array, n > 1 ? args[1].array : nullptr, n > 2 ? args[2].array : nullptr,
                                            &options.where};
    if (options.out) note_whole(options.out);
    if (const auto place = place_of_op(given, product(*operands.shape))) return ufunc_at(*place, op, args, options);
  }
  const Device device = first ? first->device() : options.out ? options.out.device() : options.device ? *options.device : default_device();
  const Dims* shape = operands.shape;
  Dims with_mask;
  if (options.where && !(options.where.shape() == *shape)) {
    with_mask = broadcast_shapes(spec.name, *shape, options.where.shape());
    shape = &with_mask;
  }
  if (!options.dtype && compares_with_unsigned(op, args, operands)) [[unlikely]]
    return deliver(compare_with_unsigned(op, *args[0].array, *args[1].array), options);
  const Loop loop = resolve(op, std::span<const OperandType>(operands.types, n), options.dtype, options.casting);
  if (options.out) check_ufunc_output(spec.name, loop.out, *shape, options.out, options.casting);
  // If all operands are C-contiguous, the result has C order.
  const bool all_contiguous = operands.all_contiguous && (!options.out || options.out.contiguous());
  const bool plain = all_contiguous && !options.where && options.order == 'K';
  // If the operands are broadcast to `out`, they are small: the assignment handles the order.
  if (!plain && shape->size() > 1 && options.order != 'C' && !(options.out && !(options.out.shape() == *shape))) [[unlikely]] {
    const Dims order = ufunc_order(args, options, *shape);
    if (!is_ascending(order)) return ufunc_in_order(op, args, options, *shape, order);
  }

  if (!options.where)
    if (std::optional<Array> few = ufunc_small(op, args, loop, *shape, device)) {
      if (!options.out) return *std::move(few);
      return put_row(options.out, Arg(*few)) ? options.out : deliver(*few, options);
    }

  TapeLock lock(tape(device));
  Ref<Node> node = new_node(op, loop.out, device, *shape);
  for (int i = 0; i < n; ++i) {
    node->loop[i] = loop.in[i];
    if (args[i].array)
      push_array(*node, spec.name, *args[i].array, operands.contiguous[i]);
    else if (const std::optional<bool> known = known_comparison(op, args[i], i, loop.in[i]))
      return deliver(full(*shape, Scalar::boolean(*known), DType::b1, device), options);
    else
      push_number(*node, args[i].value, i);
  }
  const Array result = record(std::move(node));
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    observer->ufunc(op, args, loop, result);
  return deliver(result, options);
}

namespace {

/// Reports to the observer that `result` is a copy of `a`, and returns it.
Array recorded_copy(const Array& a, Array result) {
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    observer->copy(a, result);
  return result;
}

}  // namespace

Array astype(const Array& a, DType dtype, bool copy_it, Casting casting) {
  BC_CHECK(can_cast(a.dtype(), dtype, casting), Type, "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule '{}'",
           info(a.dtype()).name, info(dtype).name, to_string(casting));
  if (a.dtype() == dtype) return copy_it ? copy(a, 'K') : a;
  if (const auto place = place_of_op({&a}, a.size())) [[unlikely]]
    return astype(brought(a, *place), dtype, copy_it, casting);
  if (is_time(a.dtype()) || is_time(dtype)) [[unlikely]]
    return cast_time(a, dtype);
  if (a.ndim() > 1 && !a.contiguous()) {
    const Dims order = memory_order(a.strides());
    if (!is_ascending(order)) return transposed(astype(transposed(a, order), dtype), inverse_axes(order));
  }
  if (std::optional<Array> few = cast_small(a, dtype)) return *std::move(few);
  TapeLock lock(tape(a.device()));
  Ref<Node> node = new_node(Op::cast, dtype, a.device(), a.shape());
  node->loop[0] = dtype;
  node->in.push_back(make_operand("astype", a, a.shape()));
  return recorded_copy(a, record(std::move(node)));
}

Array copy(const Array& a) {
  if (const auto place = place_of_op({&a}, a.size())) [[unlikely]]
    return copy(brought(a, *place));
  TapeLock lock(tape(a.device()));
  // Values are immutable: two storages may share one until either is written. Exposed memory may be changed by others, so it is copied.
  if (Node* node = whole(a); node && !(node->buffer && node->buffer->exposed))
    return recorded_copy(a, {new Storage(Ref<Node>(node)), a.dtype(), contiguous_layout(a.shape())});
  Ref<Node> node = new_node(Op::cast, a.dtype(), a.device(), a.shape());
  node->loop[0] = node->dtype;
  node->in.push_back(make_operand("copy", a, a.shape()));
  return recorded_copy(a, record(std::move(node), a.dtype()));
}

Dims copy_order(const Array& a, char order) {
  if (order == 'A') order = !a.contiguous() && is_f_contiguous(a.shape(), a.strides()) ? 'F' : 'C';
  if (order == 'F') return reversed_axes(a.ndim());
  return memory_order(order == 'C' || a.contiguous() ? Dims(a.ndim()) : a.strides());
}

Array copy(const Array& a, char order) {
  if (order == 'C' || a.ndim() < 2) return copy(a);
  const Dims axes = copy_order(a, order);
  return is_ascending(axes) ? copy(a) : transposed(copy(transposed(a, axes)), inverse_axes(axes));
}

Array ascontiguous(const Array& a) { return a.contiguous() ? a : copy(a); }

Array stored(const Arg& value, DType dtype, Device device) {
  if (value.weak == Weak::none) return value.array;
  BC_CHECK(!is_time(dtype) || value.weak <= Weak::integer, Value, "Could not convert object to NumPy {}",
           is_datetime(dtype) ? "datetime" : "timedelta");
  return full(Dims(), stored_value(value.weak, value.value, dtype), dtype, device);
}

namespace {

void store_value(const Array& dst, const Array& src_in) {
  if (dst.has_loose_booleans()) [[unlikely]]
    return store_value(as_bytes(dst), as_bytes(Arg(src_in), dst.device()));
  check_writable("assign", dst);
  Array src = src_in;
  if (src.device() != dst.device() && traits(dst.device()).on_host && placed_by_size()) [[unlikely]]
    // A small array that was computed on an accelerator goes on in host memory, where the loop's other arrays lie.
    if (!move_small_to_host(src)) note_whole(dst);
  if (src.device() != dst.device()) src = to_device(src, dst.device());
  if (src.dtype() != dst.dtype() && (is_time(src.dtype()) || is_time(dst.dtype()))) [[unlikely]]
    src = astype(src, dst.dtype());
  const DType dtype = storage_type(dst.dtype());
  // NumPy drops leading axes of extent 1 that the destination does not have.
  if (src.ndim() > dst.ndim()) {
    Layout l = src.layout();
    while (l.ndim() > dst.ndim() && l.shape[0] == 1) {
      l.shape.erase(0);
      l.strides.erase(0);
    }
    src = src.with_layout(l);
  }
  if (dst.ndim() > 1 && !dst.contiguous()) {
    // Permutes the axes to the destination's memory order, so that a transposed view of a whole storage is recognised as the whole storage.
    const Dims order = memory_order(dst.strides());
    if (!is_ascending(order)) return store_value(transposed(dst, order), transposed("assign", src, dst.shape(), order));
  }
  TapeLock lock(tape(dst.device()));
  Operand value = make_operand("assign", src, dst.shape());
  if (dst.size() == 0) return;
  Tape& t = tape(dst.device());
  Storage& storage = *dst.storage();
  if (storage.current.get() == src.storage()->current.get() && dst.dtype() == src.dtype() && dst.layout() == src.layout()) return;
  if (whole(dst) && !storage.exposed()) {
    Node* node = value.node.get();
    const bool shared = value.identity && value.dtype == dtype && node->op != Op::constant && !(node->buffer && node->buffer->exposed) &&
                        node->shape == storage.current->shape;
    if (shared) {
      storage.rebind(value.node);
      return;
    }
    Ref<Node> cast = new_node(Op::cast, dtype, dst.device(), dst.shape());
    cast->loop[0] = dtype;
    cast->in.push_back(std::move(value));
    t.append(cast.get());
    storage.rebind(cast);
    end_recording(t, *cast);
    return;
  }
  value = cast_operand(std::move(value), dtype, dst.shape(), dst.device());
  flush_others(t);
  if (storage.current->dtype != dtype) compute_current(dst);
  // From here to rebind() the lock is held, so that no other thread's store is lost.
  // A store through a view of another dtype (`z.real = x`) treats the storage as a 1-d array of that dtype.
  const Node& old = *storage.current;
  const bool same = old.dtype == dtype;
  const int64_t elements = same ? old.size : static_cast<int64_t>(old.buffer->bytes) / itemsize(dtype);
  Ref<Node> node = new_node(Op::store, dtype, dst.device(), same ? old.shape : Dims{elements});
  node->loop[0] = node->loop[1] = dtype;
  Operand before;
  before.node = storage.current;
  before.dtype = dtype;
  node->in.push_back(std::move(before));
  node->in.push_back(std::move(value));
  auto extra = std::make_unique<StoreExtra>();
  extra->region = dst.layout();
  node->extra = std::move(extra);
  t.append(node.get());
  storage.rebind(node);
  end_recording(t, *node);
}

}  // namespace

void assign(const Array& dst, const Array& src) {
  HistoryObserver* const observer = history_observer();
  if (!observer) [[likely]]
    return store_value(dst, src);
  // Computed before the write, since `src` may be a view of `dst`, and set after it, since the write may fail.
  std::optional<Ref<History>> history = observer->store(dst, src);
  store_value(dst, src);
  if (history) dst.storage()->history = std::move(*history);
}

void assign(const Array& dst, const Arg& value) { assign(dst, stored(value, dst.dtype(), dst.device())); }

void assign_where(const Array& dst, const Array& mask, const Arg& value) {
  // The bytes of the other elements must not change.
  if (dst.has_loose_booleans()) [[unlikely]]
    return assign_where(as_bytes(dst), mask, as_bytes(value, dst.device()));
  Array same = stored(value, dst.dtype(), dst.device());
  if (same.device() != dst.device()) same = to_device(same, dst.device());
  same = astype(same, dst.dtype(), false);
  assign(dst, ufunc(Op::where, {broadcast_to(mask, dst.shape()), same, dst}));
}

namespace {

/// The source of a gather on a device. `extra` names places in the source's storage, so the part of that which it can reach is copied, and
/// the places are then in the copy.
Array with_reach_at(const Array& source, Device device, GatherExtra* extra, const Dims& result_shape) {
  if (source.device() == device) return source;
  int64_t first = extra->offset, last = extra->offset;
  bool empty = source.size() == 0;
  const auto reach = [&](int64_t extent, int64_t stride) {
    empty = empty || extent == 0;
    (stride < 0 ? first : last) += (extent - 1) * stride;
  };
  for (int d = 0; d < result_shape.size(); ++d) reach(result_shape[d], extra->base_strides[d]);
  for (int d = 0; d < extra->index_extents.size(); ++d) reach(extra->index_extents[d], extra->index_strides[d]);
  if (empty) return with_storage_at(source, device);
  extra->offset -= first;
  return to_device(source.with_layout({Dims{last - first + 1}, Dims{1}, first}), device).detached(source.is_detached());
}

}  // namespace

Array record_gather(const Array& source, std::vector<Array> indices, GatherExtra extra, Dims result_shape) {
  if (source.has_loose_booleans()) [[unlikely]]
    return astype(record_gather(as_bytes(source), std::move(indices), std::move(extra), std::move(result_shape)), DType::b1);
  if (placed_by_size()) [[unlikely]] {
    std::vector<const Array*> given{&source};
    for (const Array& index : indices) given.push_back(&index);
    if (const auto place = place_of_op(given, product(result_shape))) {
      const Array from = with_reach_at(source, *place, &extra, result_shape);
      return record_gather(from, brought(indices, *place), std::move(extra), std::move(result_shape));
    }
  }
  TapeLock lock(tape(source.device()));
  Ref<Node> node = new_node(Op::gather, source.dtype(), source.device(), result_shape);
  if (node->dtype != source.storage()->current->dtype) compute_current(source);
  Operand from;
  bring_here(*source.storage()->current);
  from.node = source.storage()->current;
  from.dtype = node->dtype;
  node->in.push_back(std::move(from));
  for (const Array& index : indices) node->in.push_back(make_operand("index", astype(index, DType::i64, false), node->shape));
  Ref<History> history;
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    history = observer->gather(source, indices, extra, node->shape);
  node->extra = std::make_unique<GatherExtra>(std::move(extra));
  Array result = record(std::move(node), source.dtype());
  result.storage()->history = std::move(history);
  return result;
}

namespace {

/// Library ops support only plain dtypes, except those that only move elements.
void check_library_dtype(const LibraryExtra& op, const Array& a) {
  BC_CHECK(is_plain(a.dtype()) || op.moves_elements, Type, "{}: not supported for {}", op.name, info(a.dtype()).name);
}

}  // namespace

Array record_library(std::vector<Array> inputs, std::vector<Dims> shapes, std::unique_ptr<LibraryExtra> extra, Dims shape, DType dtype,
                     Device device) {
  if (placed_by_size() && !inputs.empty()) [[unlikely]] {
    // Operands may lie on another device than the caller's arrays, because ops before this one moved them. Few ops have a body on the host
    // alone.
    const bool large = std::ranges::any_of(inputs, [](const Array& a) { return a.size() >= accelerated_elements(); });
    const std::optional<Device> open = large ? accelerator_for(8 * inputs[0].size()) : std::nullopt;
    for (const Array& a : inputs)
      if (open && a.device() == *open) note_whole(a);
    const Device place = place_of_op(inputs, 0).value_or(inputs[0].device());
    device = has_body(*extra, place) ? place : Device{};
    inputs = brought(inputs, device);
  }
  require_body(*extra, device);
  for (const Array& a : inputs) check_library_dtype(*extra, a);
  TapeLock lock(tape(device));
  Ref<Node> node = new_node(Op::library, dtype, device, shape);
  for (size_t i = 0; i < inputs.size(); ++i) {
    BC_CHECK(inputs[i].device() == device, Value, "{}: expected all arrays on one device, got {} and {}; use to_device()", extra->name,
             to_string(device), to_string(inputs[i].device()));
    node->in.push_back(make_operand(extra->name, inputs[i], shapes[i]));
  }
  extra->input_shapes = std::move(shapes);
  Ref<History> history;
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    history = observer->library(inputs, *extra, shape, dtype);
  node->extra = std::move(extra);
  Array result = record(std::move(node), dtype);
  result.storage()->history = std::move(history);
  return result;
}

void record_store_library(const Array& target, std::vector<Array> inputs, std::unique_ptr<LibraryExtra> extra) {
  check_writable(extra->name, target);
  require_body(*extra, target.device());
  check_library_dtype(*extra, target);
  if (placed_by_size()) [[unlikely]]
    inputs = brought(inputs, target.device());
  std::optional<Ref<History>> history;
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    history = observer->store_library(target, inputs, *extra);
  TapeLock lock(tape(target.device()));
  Tape& t = tape(target.device());
  Storage& storage = *target.storage();
  flush_others(t);
  std::vector<Operand> values;
  for (const Array& a : inputs) values.push_back(make_operand(extra->name, a, a.shape()));
  const DType dtype = storage_type(target.dtype());
  if (storage.current->dtype != dtype) compute_current(target);
  const bool same = storage.current->dtype == dtype;
  const Dims shape = same ? storage.current->shape : Dims{static_cast<int64_t>(storage.current->buffer->bytes) / itemsize(dtype)};
  Ref<Node> node = new_node(Op::library, dtype, target.device(), shape);
  Operand before;
  before.node = storage.current;
  before.dtype = dtype;
  node->in.push_back(std::move(before));
  extra->input_shapes = {shape};
  for (size_t i = 0; i < inputs.size(); ++i) {
    node->in.push_back(std::move(values[i]));
    extra->input_shapes.push_back(inputs[i].shape());
  }
  extra->in_place = true;
  extra->region = target.layout();
  node->extra = std::move(extra);
  t.append(node.get());
  storage.rebind(node);
  if (history) storage.history = std::move(*history);
  end_recording(t, *node);
}

// ---- Creation -------------------------------------------------------------------------------------------------------------------

Array empty(const Dims& shape, DType dtype, Device device) {
  const int64_t n = element_count(shape, itemsize(dtype));
  TapeLock lock(tape(device));
  Ref<Node> leaf = new_leaf(Buffer::allocate(device, static_cast<size_t>(n) * itemsize(dtype)), dtype, shape);
  return {new Storage(std::move(leaf)), dtype, contiguous_layout(shape)};
}

namespace {
std::atomic<int> the_new_memory_byte{-1};
}

void mark_new_memory(int byte) { the_new_memory_byte.store(byte, std::memory_order_relaxed); }
int new_memory_byte() { return the_new_memory_byte.load(std::memory_order_relaxed); }

Array unset(const Dims& shape, DType dtype, Device device) {
  Array a = empty(shape, dtype, device);
  Storage& s = *a.storage();
  s.unset = true;
  if (const int byte = new_memory_byte(); byte >= 0 && dtype != DType::b1) [[unlikely]] {
    TapeLock lock(tape(device));
    Tape& t = tape(device);
    if (t.capture()) return a;  // the fill would be a part of the graph and run at each launch
    Buffer& buffer = *s.current->buffer;
    wait_before_access(t, buffer, true);
    backend(device).fill(buffer.ptr, byte, buffer.bytes, t.stream());
    use(t, buffer, true);
    s.marked = true;
  }
  return a;
}

Array full(const Dims& shape, const Scalar& value, DType dtype, Device device) {
  if (std::optional<Array> few = full_small(shape, value, dtype, device)) return *std::move(few);
  TapeLock lock(tape(device));
  Ref<Node> node = new_node(Op::cast, dtype, device, shape);
  node->loop[0] = node->dtype;
  node->in.push_back(make_constant(value, dtype, device));
  return record(std::move(node), dtype);
}

Array iota(const Dims& shape, Device device) {
  TapeLock lock(tape(device));
  return record(new_node(Op::iota, DType::i64, device, shape));
}

Array arange(const Scalar& start, const Scalar& step, int64_t n, DType dtype, Device device) {
  Array values = iota(Dims{n}, device);
  if (is_integer(dtype) || is_bool(dtype) || is_time(dtype)) {
    // Modulo 2^64, so that the bits are right for uint64 as well.
    if (step.i != 1) values = ufunc(Op::multiply, {values, Arg(step.i)});
    if (start.i != 0) values = ufunc(Op::add, {values, Arg(start.i)});
    return astype(values, dtype, false);
  }
  // NumPy computes start + i * (second - first), with both elements rounded to the dtype.
  const auto rounded = [dtype](double v) {
    alignas(16) char element[16];
    Scalar::real(v).store(dtype, element);
    return Scalar::load(dtype, element).as_double();
  };
  const bool narrow = dtype == DType::f32 || dtype == DType::c64;
  // Of one element there is no second, which may be infinite.
  const double first = rounded(start.as_double()), second = n > 1 ? rounded(start.as_double() + step.as_double()) : first + 1;
  const double delta = narrow ? static_cast<float>(second) - static_cast<float>(first) : second - first;
  const Array index = values;
  values = astype(values, narrow ? DType::f32 : DType::f64);
  if (delta != 1) values = ufunc(Op::multiply, {values, Arg(delta)});
  if (first != 0 || !(delta > 0)) values = ufunc(Op::add, {values, Arg(first)});
  if (n > 1 && rounded(first + delta) != second) values = ufunc(Op::where, {ufunc(Op::equal, {index, Arg(1)}), Arg(second), values});
  return astype(values, dtype, false);
}

namespace {

bool all_zero_or_one(const char* bytes, int64_t n) {
  // 32 bytes per iteration without branches, so that the check takes no longer than the copy.
  uint64_t a = 0, b = 0, c = 0, d = 0;
  int64_t k = 0;
  for (; k + 32 <= n; k += 32) {
    uint64_t words[4];
    std::memcpy(words, bytes + k, 32);
    a |= words[0], b |= words[1], c |= words[2], d |= words[3];
  }
  uint64_t all = a | b | c | d;
  for (; k < n; ++k) all |= static_cast<unsigned char>(bytes[k]);
  return (all & ~0x0101010101010101u) == 0;
}

}  // namespace

Array from_host(const void* data, DType dtype, const Layout& layout, Device device) {
  if (is_contiguous(layout.shape, layout.strides) && layout.offset == 0) {
    if (std::optional<Array> few = copy_small(data, layout.shape, dtype, device)) return *std::move(few);
  }
  const Array result = empty(layout.shape, dtype, device);
  const int64_t n = layout.size();
  if (n == 0) return result;
  const size_t item = itemsize(dtype), bytes = static_cast<size_t>(n) * item;
  const char* from = static_cast<const char*>(data) + layout.offset * static_cast<int64_t>(item);
  std::unique_ptr<char[]> packed;
  if (!is_contiguous(layout.shape, layout.strides)) {
    packed.reset(new char[bytes]);
    Dims shape = layout.shape, strides = layout.strides;
    Dims* list[] = {&strides};
    collapse(&shape, list);
    const int nd = shape.size();
    const int64_t inner = nd ? shape[nd - 1] : 1, step = nd ? strides[nd - 1] * static_cast<int64_t>(item) : 0;
    Dims index(nd);
    char* to = packed.get();
    for (int64_t row = 0; row < n / inner; ++row) {
      const char* p = from;
      for (int d = 0; d < nd - 1; ++d) p += index[d] * strides[d] * static_cast<int64_t>(item);
      if (step == static_cast<int64_t>(item)) {
        std::memcpy(to, p, inner * item);
        to += inner * item;
      } else {
        for (int64_t j = 0; j < inner; ++j, p += step, to += item) std::memcpy(to, p, item);
      }
      for (int d = nd - 2; d >= 0; --d) {
        if (++index[d] < shape[d]) break;
        index[d] = 0;
      }
    }
    from = packed.get();
  }
  Buffer& buffer = *result.storage()->current->buffer;
  Tape& t = tape(device);
  transfer(t, buffer.ptr, from, bytes, copy_kind(device, kHost));
  if (dtype == DType::b1 && !all_zero_or_one(from, n)) result.storage()->loose_booleans.store(true, std::memory_order_relaxed);
  TapeLock lock(t);
  use(t, buffer, true);
  return result;
}

Array from_foreign(void* data, DType dtype, const Layout& layout, Device device, bool read_only, std::function<void()> release) {
  // The buffer begins at the lowest element reached, so that negative strides stay inside it.
  int64_t low = 0, high = -1;
  bounds(layout, &low, &high);
  const int64_t item = itemsize(dtype);
  if (low > high) low = 0, high = -1;
  Layout inside = layout;
  inside.offset -= low;
  Tape& t = tape(device);
  TapeLock lock(t);
  Ref<Buffer> buffer =
      Buffer::foreign(device, static_cast<char*>(data) + low * item, static_cast<size_t>((high - low + 1) * item), std::move(release));
  buffer->read_only = read_only;
  // The exporter has ordered its work before this thread's stream, so other streams must wait for this stream.
  if (traits(device).asynchronous) {
    share_uses(t, *buffer);
    Uses& uses = uses_of(*buffer);
    if (uses.write.tape) wait_before_access(t, *buffer, false);
    uses.write = {&t, t.submit()};
  }
  Ref<Node> leaf = new_leaf(std::move(buffer), dtype, Dims{high - low + 1});
  Array result(new Storage(std::move(leaf)), dtype, std::move(inside));
  // The owner of the memory may write any byte to it at any time.
  if (dtype == DType::b1) result.storage()->loose_booleans.store(true, std::memory_order_relaxed);
  return result;
}

// ---- Looking --------------------------------------------------------------------------------------------------------------------

StorageFacts storage_facts(const Array& a) {
  TapeLock lock(tape(a.device()));
  const Node& node = *a.storage()->current;
  StorageFacts facts;
  facts.pending = node.pending();
  facts.bytes = node.size * itemsize(node.dtype);
  if (node.buffer) {
    facts.exposed = node.buffer->exposed;
    facts.read_only = node.buffer->read_only;
    facts.base = node.buffer->ptr;
  }
  return facts;
}

void* data(const Array& a) {
  TapeLock lock(tape(a.device()));
  return compute_current(a).buffer->ptr;
}

void* own(const Array& a) {
  TapeLock lock(tape(a.device()));
  for (bool flushed = false;; flushed = true) {
    void* const p = data(a);
    Ref<Node>& current = a.storage()->current;
    // References of a capture do not count as sharing.
    const auto& capture = tape(a.device()).capture();
    const uint32_t kept = capture ? capture->count(*current->buffer) : 0;
    const bool shared = current->handles > 1 || current->buffer->refs() > 1 + kept;
    const bool read = current->refs() > current->handles;
    if (current->buffer->exposed || !(shared || (read && flushed))) {
      if (!read || flushed) return p;
      // Ops that were recorded before the memory is changed read the elements that it has now.
      const bool all = current->buffer->exposed || many_streams();
      for (Tape* t : tapes(a.device())) all ? t->flush() : t->flush_own();
      continue;
    }
    // What another thread recorded, or computes now, goes on reading the old memory.
    const Array own = empty(current->shape, current->dtype, a.device());
    Ref<Node> leaf = own.storage()->current;
    Tape& t = tape(a.device());
    wait_before_access(t, *current->buffer, false);
    backend(a.device()).copy(leaf->buffer->ptr, p, current->buffer->bytes, copy_kind(a.device(), a.device()), t.stream());
    use(t, *current->buffer, false);
    use(t, *leaf->buffer, true);
    a.storage()->rebind(leaf);
    return leaf->buffer->ptr;
  }
}

std::pair<uintptr_t, uintptr_t> mark_unset(const Array& a, int byte) {
  TapeLock lock(tape(a.device()));
  Storage& s = *a.storage();
  s.unset = s.unset && s.version == 0 && !s.current->pending() && s.current->buffer && !s.exposed();
  if (!s.unset) return {};
  void* p = own(a);
  Buffer& buffer = *s.current->buffer;
  if (!std::exchange(s.marked, true)) {
    Tape& t = tape(a.device());
    wait_before_access(t, buffer, true);
    backend(a.device()).fill(p, byte, buffer.bytes, t.stream());
    use(t, buffer, true);
    backend(a.device()).synchronize(t.stream());
  }
  return {reinterpret_cast<uintptr_t>(p), reinterpret_cast<uintptr_t>(p) + buffer.bytes};
}

namespace {

/// Exposes an array's memory by a function of its buffer.
void* expose_by(const Array& a, void (*how)(Buffer&)) {
  Tape& t = tape(a.device());
  TapeLock lock(t);
  const LastFlushesApart last(t);
  void* p = own(a);
  Buffer& buffer = *a.storage()->current->buffer;
  how(buffer);
  share_uses(t, buffer);
  // Code that uses the memory must order its work after this thread's current stream.
  wait_before_access(t, buffer, true);
  return p;
}

}  // namespace

void* expose(const Array& a) {
  return expose_by(a, [](Buffer& b) { b.expose(true); });
}

void* lend(const Array& a) {
  return expose_by(a, [](Buffer& b) { b.lend(); });
}

namespace {

/// On the CPU, captured work has not run yet, so its results cannot be read before the graph is launched.
void refuse_captured(const Tape& t) {
  BC_CHECK(!t.capture() || !traits(t.device()).on_host, Runtime,
           "the array's stream is being captured: its values are there when the graph has run; read it after end_capture and launch");
}

/// The memory of a computed array, for a copy without the lock: while the buffer is held, it is neither freed nor changed.
struct Held {
  Ref<Buffer> buffer;
  const char* first = nullptr;  ///< the array's first element
};

Held hold(Tape& t, const Array& a) {
  TapeLock lock(t);
  const char* base = static_cast<const char*>(data(a));
  Held held{a.storage()->current->buffer, base + a.offset() * itemsize(a.dtype())};
  wait_before_access(t, *held.buffer, false);
  return held;
}

}  // namespace

namespace {
void look(const Array& a) {
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    observer->look(a);
}
}  // namespace

void to_host(const Array& a, void* host) {
  look(a);
  if (a.size() == 0) return;
  refuse_captured(tape(a.device()));
  if (!a.contiguous()) return read_small(a, host) ? void() : to_host(copy(a), host);
  Tape& t = tape(a.device());
  const Held held = hold(t, a);
  read_back(t, *held.buffer, host, held.first, static_cast<size_t>(a.size()) * itemsize(a.dtype()), copy_kind(kHost, a.device()));
  TapeLock lock(t);
  t.check_errors();
}

namespace {

/// The position in its first operand of a node's element `at` (in C order).
int64_t place_in_operand(const Node& node, int64_t at) {
  const Operand& from = node.in[0];
  if (from.identity) return from.offset + at;
  int64_t place = from.offset;
  for (int d = node.shape.size() - 1; d >= 0; --d) {
    place += at % node.shape[d] * from.strides[d];
    at /= node.shape[d];
  }
  return place;
}

}  // namespace

Scalar item(const Array& a) {
  BC_CHECK(a.size() == 1, Value, "can only convert an array of size 1 to a Python scalar");
  look(a);
  alignas(16) char bytes[16];
  Tape& t = tape(a.device());
  refuse_captured(t);
  const bool on_gpu = traits(a.device()).asynchronous;
  const char* p;
  Ref<Buffer> buffer;  // keeps a GPU's memory alive while it is read without the lock, since the awaited work may need the lock
  {
    TapeLock lock(t);
    const Node& node = *a.storage()->current;
    const bool copied = node.pending() && !node.running && node.op == Op::cast && node.in[0].dtype == node.dtype && a.dtype() == node.dtype;
    constexpr int64_t kSoonCopied = 1 << 12;  // the host copies so many at once: further elements will be read, each in a third of the time
    if (copied && (on_gpu || node.size > kSoonCopied) && node.in[0].node->buffer && !node.in[0].node->pending()) {
      // An element of a pending copy is read from the copy's source.
      if (on_gpu) buffer = node.in[0].node->buffer;
      p = static_cast<const char*>(node.in[0].node->buffer->ptr) + place_in_operand(node, a.offset()) * itemsize(a.dtype());
    } else {
      p = static_cast<const char*>(data(a)) + a.offset() * itemsize(a.dtype());
      if (on_gpu) buffer = a.storage()->current->buffer;
    }
    if (on_gpu)
      wait_before_access(t, *buffer, false);
    else
      std::memcpy(bytes, p, itemsize(a.dtype()));
  }
  if (on_gpu) {
    read_back(t, *buffer, bytes, p, itemsize(a.dtype()), copy_kind(kHost, a.device()));
    TapeLock lock(t);
    t.check_errors();
  }
  return Scalar::load(a.dtype(), bytes);
}

Array to_device(const Array& a, Device device) {
  if (a.device() == device) return copy(a, 'K');
  if (a.ndim() > 1 && !a.contiguous()) {
    const Dims order = copy_order(a, 'K');
    if (!is_ascending(order)) return transposed(to_device(transposed(a, order), device), inverse_axes(order));
  }
  const Array from = a.has_loose_booleans() ? copy(a) : ascontiguous(a);
  const Array result = empty(a.shape(), a.dtype(), device);
  recorded_copy(a, result);
  if (a.size() == 0) return result;
  Tape &source = tape(a.device()), &target = tape(device);
  const size_t bytes = static_cast<size_t>(a.size()) * itemsize(a.dtype());
  const bool up = traits(device).asynchronous, down = traits(a.device()).asynchronous;
  // Between two devices, the target's stream copies: after the work that is queued on the source's stream, and before its next work.
  const Held held = hold(source, from);
  Buffer& buffer = *result.storage()->current->buffer;
  const bool peers = up && down;
  if (peers) {
    uint64_t ready;
    {
      TapeLock lock(source);
      ready = source.submit();
    }
    TapeLock lock(target);
    target.wait_for({&source, ready});
  }
  if (up)
    transfer(target, buffer.ptr, held.first, bytes, copy_kind(device, a.device()), a.device());
  else
    read_back(source, *held.buffer, buffer.ptr, held.first, bytes, copy_kind(device, a.device()));
  {
    TapeLock lock(target);
    use(target, buffer, true);
  }
  if (peers) {
    const Use copied{&target, target.tick()};
    TapeLock lock(source);
    source.wait_for(copied);
    if (many_streams()) source.after(*held.buffer, false);
  }
  return result;
}

void flush(Device device) {
  if (!many_streams()) return tape(device).flush();
  for (Tape* t : tapes(device)) t->flush();
}

void synchronize() {
  for (Tape* t : tapes())
    if (!t->capture()) t->synchronize();
}

std::string show_plan(const Array& a, const PlanPhases& phases) { return tape(a.device()).show(phases); }

namespace {

Device initial_device() {
  const char* env = std::getenv("BROADCLOTH_DEVICE");
  if (!env || !*env) return first_accelerator().value_or(Device{});
  if (std::string_view(env) == "auto") {
    set_placement(kAcceleratedElements, std::nullopt, kOpening);
    return {};
  }
  const std::optional<Device> named = parse_device(env);
  BC_CHECK(named, Value, "BROADCLOTH_DEVICE: expected cpu, cuda, cuda:N or auto, got '{}'", env);
  return *named;
}

thread_local std::optional<Device> thread_device;

}  // namespace

Device default_device() {
  if (!thread_device) {
    if (placed_by_size()) return {};
    static const Device initial = initial_device();
    thread_device = initial;
  }
  return *thread_device;
}

void set_default_device(Device device) {
  backend(device);  // throws if the device does not exist
  thread_device = device;
}

}  // namespace bc
