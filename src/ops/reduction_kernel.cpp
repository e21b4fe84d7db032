// CuPy's ReductionKernel as three ops of the graph: a user's map, a reduction with a user's join, and what a user makes of its result.
#include <algorithm>

#include "array/record.h"
#include "ops/user_kernel.h"
#include "primitives/library.h"

namespace bc {
namespace {

/// What a C++ expression means to its kernel's reader: "name.map" and so on in the compiler's messages.
std::string part(const std::string& name, const char* what) { return identifier(name) + "." + what; }

/// A state of the user's own type travels as the bytes of a number of 16 bytes.
constexpr const char* kPacked = R"(
#if BC_CUDA
#define BC_COPY_BYTES memcpy
#else
#define BC_COPY_BYTES __builtin_memcpy
#endif
BC_INLINE bc::complex128 pack(const _type_reduce& state) {
  static_assert(sizeof(_type_reduce) <= sizeof(bc::complex128), "a reduce_type of the user's own has at most 16 bytes");
  bc::complex128 bytes(0.0, 0.0);
  BC_COPY_BYTES(static_cast<void*>(&bytes), &state, sizeof(_type_reduce));
  return bytes;
}
BC_INLINE _type_reduce unpack(const bc::complex128& bytes) {
  _type_reduce state;
  BC_COPY_BYTES(static_cast<void*>(&state), &bytes, sizeof(_type_reduce));
  return state;
}
)";

/// "return EXPRESSION" as the device library's type; `packed` for a type of the user's own.
std::string returned(DType t, const std::string& line, const std::string& expression, bool packed = false) {
  if (packed) return fmt::format("return pack(\n{}{}\n);\n", line, expression);
  const bool small = is_small_float(t);
  return fmt::format("return static_cast<{}>(\n{}{}\n){};\n", user_type(t), line, expression, small ? ".held" : "");
}

}  // namespace

ReductionKernel::ReductionKernel(Spec spec) : spec_(std::move(spec)) {
  spec_.preamble = without_own_headers(spec_.preamble);
  in_ = parse_parameters(spec_.name, spec_.in_params, false);
  out_ = parse_parameters(spec_.name, spec_.out_params, true);
  BC_CHECK(!in_.empty() && !out_.empty(), Value, "{}: expected an input and an output, got '{}' and '{}'", spec_.name, spec_.in_params,
           spec_.out_params);
  for (const UserParameter& p : out_)
    BC_CHECK(!p.raw, Value, "{}: expected outputs that are set element by element, got the raw parameter '{}'", spec_.name, p.name);
  raw_ = std::any_of(in_.begin(), in_.end(), [](const UserParameter& p) { return p.raw; });
  for (const UserParameter& o : out_)
    for (const UserParameter& i : in_) BC_CHECK(i.name != o.name, Value, "{}: parameter '{}' is there twice", spec_.name, o.name);
  if (spec_.reduce_type.empty()) spec_.reduce_type = out_[0].type;
  const std::string post = without_comments(spec_.post_map_expr);
  for (const UserParameter& p : out_) assigned_.push_back(sets_first(post, p.name));
  const std::string map = without_comments(spec_.map_expr);
  for (const char* place : {"_J", "_i", "_j"})
    if (names_identifier(map, place)) places_.emplace_back(place);
  uses_in_size_ = names_identifier(post, "_in_ind");
  uses_out_size_ = names_identifier(post, "_out_ind");
}

ReductionKernel::Texts ReductionKernel::texts(const UserTypes& types) const {
  const std::string name = identifier(spec_.name);
  std::optional<DType> state = dtype_of_type(spec_.reduce_type);
  if (spec_.reduce_type.size() == 1) {
    for (const auto& [letter, t] : types.letters)
      if (letter == spec_.reduce_type[0]) state = t;
  }
  Texts made;
  made.packed = !state;
  made.state = state.value_or(DType::c128);
  made.macros = macros_of(spec_.options);
  made.contract = std::any_of(made.macros.rest.begin(), made.macros.rest.end(),
                              [](const std::string& o) { return o == "--use_fast_math" || o == "--fmad=true"; });
  made.alias = fmt::format("using _type_reduce = {};\n", made.packed ? spec_.reduce_type : user_type(made.state));
  made.common = made.macros.define + letter_types(types);
  if (!made.packed) made.common += made.alias;
  if (!spec_.preamble.empty()) made.common += line_of(name + ".preamble") + spec_.preamble;
  made.common += line_of(name + ".function");
  // A type of the user's own is declared by the preamble.
  if (made.packed) made.common += made.alias + kPacked;
  return made;
}

UserOpSpec ReductionKernel::map_spec(const UserTypes& types, const Texts& texts) const {
  UserOpSpec map;
  map.name = spec_.name + "_map";
  map.entry = "element";
  map.contract = texts.contract;
  map.in = types.in;
  map.out = {texts.state};
  map.cost = 4;
  BoundText t;
  for (size_t k = 0; k < in_.size(); ++k) t.parameter(fmt::format("{} {}_", device_type(types.in[k]), in_[k].name));
  for (const std::string& place : places_) {
    map.in.push_back(DType::i64);
    t.parameter("i64 " + place);
  }
  const std::string value = returned(texts.state, line_of(part(spec_.name, "map")), spec_.map_expr, texts.packed);
  map.text =
      texts.common + fmt::format("BC_INLINE {0} value({1}) {{\n{2}{3}}}\nBC_INLINE void element({1}, {0}& bc_out) {{ bc_out = value(",
                                 device_type(texts.state), t.signature, bind_inputs(in_, types.in), value);
  for (size_t k = 0; k < in_.size(); ++k) map.text += (k ? ", " : "") + in_[k].name + "_";
  for (const std::string& place : places_) map.text += ", " + place;
  map.text += "); }\n";
  return map;
}

UserOpSpec ReductionKernel::join_spec(const Texts& texts) const {
  UserOpSpec join;
  join.name = spec_.name;
  join.contract = texts.contract;
  join.in = join.out = {texts.state};
  join.identity = spec_.identity.has_value();
  const char* outside = device_type(texts.state);
  const auto result = [&](const char* what, const std::string& expression) {
    return returned(texts.state, line_of(part(spec_.name, what)), expression, texts.packed);
  };
  join.text = texts.common + fmt::format("BC_INLINE {0} join({0} bc_a, {0} bc_b) {{\nconst _type_reduce a({1}), b({2});\n{3}}}\n", outside,
                                         texts.unpacked("bc_a"), texts.unpacked("bc_b"), result("reduce", spec_.reduce_expr));
  if (spec_.identity) join.text += fmt::format("BC_INLINE {} init() {{\n{}}}\n", outside, result("identity", *spec_.identity));
  return join;
}

UserOpSpec ReductionKernel::post_spec(const UserTypes& types, const Texts& texts, const std::vector<bool>& reads_old) const {
  UserOpSpec post;
  post.name = spec_.name + "_post";
  post.entry = "element";
  post.contract = texts.contract;
  post.cost = 2;
  BoundText p;
  post.in = {texts.state};
  p.parameter(fmt::format("{} bc_a", device_type(texts.state)));
  p.head = fmt::format("const _type_reduce a({}); (void)a;\n", texts.unpacked("bc_a"));
  for (size_t k = 0; k < out_.size(); ++k) {
    if (!reads_old[k]) continue;
    post.in.push_back(types.out[k]);
    p.parameter(fmt::format("{} {}_old", device_type(types.out[k]), out_[k].name));
  }
  for (const auto& [used, index] : {std::pair{uses_in_size_, "_in_ind"}, std::pair{uses_out_size_, "_out_ind"}}) {
    if (!used) continue;
    post.in.push_back(DType::i64);
    p.parameter(fmt::format("i64 bc{}", index));
    p.head += fmt::format("const Extent {0}{{bc{0}}};\n", index);
  }
  post.out = types.out;
  bind_outputs(out_, types.out, reads_old, &p);
  post.text =
      texts.common + fmt::format(
                         "struct Extent {{ i64 n; BC_INLINE i64 size() const {{ return n; }} }};\nBC_INLINE void element({}) {{\n{}do "
                         "{{{}{};\n}} while (false);\n{}}}\n",
                         p.signature, p.head, line_of(part(spec_.name, "post_map")), spec_.post_map_expr, p.tail);
  return post;
}

/// A map that indexes whole arrays is a separate program, which writes the mapped values.
std::shared_ptr<ElementwiseKernel> ReductionKernel::map_program(const Texts& texts) const {
  ElementwiseKernel::Spec mapper;
  mapper.in_params = spec_.in_params;
  for (const std::string& place : places_) mapper.in_params += ", int64 " + place;
  mapper.out_params = std::string(info(texts.state).name) + " bc_mapped";
  mapper.operation = texts.packed ? "bc_mapped = pack(" + spec_.map_expr + ")" : "bc_mapped = " + spec_.map_expr;
  mapper.name = spec_.name + "_map";
  mapper.preamble = spec_.preamble + (texts.packed ? "\n" + texts.alias + kPacked : "");
  mapper.options = spec_.options;
  return std::make_shared<ElementwiseKernel>(std::move(mapper));
}

/// The functions of a call with these types; `unfused`: the map is a program of its own.
ReductionKernel::Instance ReductionKernel::make(const UserTypes& types, const std::vector<bool>& reads_old, bool unfused) const {
  const Texts shared = texts(types);
  UserOpSpec map = map_spec(types, shared), join = join_spec(shared), post = post_spec(types, shared, reads_old);
  const std::string expressions = spec_.map_expr + ";" + spec_.reduce_expr + ";" + spec_.post_map_expr + ";" + spec_.identity.value_or("");
  const bool simple = !shared.packed && !raw_ && spec_.preamble.empty() && shared.macros.define.empty() &&
                      only_numbers(without_comments(expressions), types.in, types.out) && only_numbers("", map.out, {});
  for (UserOpSpec* op : {&map, &join, &post}) {
    op->text += shared.macros.undefine;
    op->simple = simple;
  }
  Instance made;
  if (unfused)
    made.mapper = map_program(shared);
  else
    made.map = make_user_op(std::move(map));
  made.join = make_user_op(std::move(join));
  made.post = make_user_op(std::move(post));
  made.types = type_names(types);
  made.code = (made.map ? made.map->definition() : "") + made.join->definition() + made.post->definition();
  return made;
}

/// The map's arguments: the inputs, and where an element lies. `_J` counts the elements that are joined with it, `_i` the results, and `_j`
/// all elements in CuPy's order, the joined axes first: `_i + _J * _out_ind.size()`.
std::vector<Arg> ReductionKernel::map_arguments(const Call& call) const {
  std::vector<Arg> args(call.in.begin(), call.in.end());
  if (places_.empty()) return args;
  const char* name = spec_.name.c_str();
  Dims shape;
  for (size_t k = 0; k < call.in.size(); ++k)
    if (call.in[k].array && !in_[k].raw) shape = broadcast_shapes(name, shape, call.in[k].array.shape());
  std::vector<bool> joined(static_cast<size_t>(shape.size()), !call.axes);
  if (call.axes)
    for (int64_t a : *call.axes) joined[static_cast<size_t>(normalize_axis(a, shape.size(), name))] = true;
  const auto counted = [&](bool along_joined) {
    Dims extents, along(shape.size(), 1);
    for (int d = 0; d < shape.size(); ++d) {
      if (joined[static_cast<size_t>(d)] != along_joined) continue;
      extents.push_back(shape[d]);
      along[d] = shape[d];
    }
    return std::pair{broadcast_to(reshape(iota(extents, call.device), along), shape), product(extents)};
  };
  const auto [within, _] = counted(true);
  const auto [outside, results] = counted(false);
  for (const std::string& place : places_) {
    if (place == "_J")
      args.emplace_back(within);
    else if (place == "_i")
      args.emplace_back(outside);
    else
      args.emplace_back(ufunc(Op::add, {outside, ufunc(Op::multiply, {within, Arg(Weak::integer, Scalar::integer(results))})}));
  }
  return args;
}

std::vector<Array> ReductionKernel::operator()(const Call& call) {
  BC_CHECK(call.in.size() == in_.size() && (call.out.empty() || call.out.size() == out_.size()), Type,
           "{}: wrong number of arguments: expected {} or {} (with outputs), got {}", spec_.name, in_.size(), in_.size() + out_.size(),
           call.in.size() + call.out.size());
  const UserTypes types = decide_types(spec_.name, in_, out_, call.in, call.out);
  std::vector<bool> reads_old(out_.size(), false);
  std::string key;
  for (DType t : types.in) key += static_cast<char>(t);
  for (size_t k = 0; k < out_.size(); ++k) {
    reads_old[k] = !call.out.empty() && !assigned_[k];
    key += static_cast<char>(static_cast<int>(types.out[k]) | (reads_old[k] ? 32 : 0));
  }
  Instance instance;
  bool fresh = false;
  {
    const std::lock_guard lock(mutex_);
    Instance& place = instances_[key];
    fresh = !place.compiled;
    if (!place.join) place = make(types, reads_old, raw_);
    instance = {place.map, place.join, place.post, place.mapper, {}, {}};  // a call needs no texts
  }
  std::vector<Array> results;
  try {
    results = run(call, instance, reads_old, fresh);
  } catch (const Error& refused) {
    if (!fresh || raw_ || refused.kind() != ErrorKind::Compile) throw;
    // The map may call functions of CUDA that arrays lack. A program of its own has them.
    instance = make(types, reads_old, true);
    try {
      results = run(call, instance, reads_old, true);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::Compile) throw refused;
      throw;
    }
    const std::lock_guard lock(mutex_);
    instances_[key] = std::move(instance);
  }
  if (fresh && results[0].size() > 0) {
    const std::lock_guard lock(mutex_);
    instances_[key].compiled = true;
  }
  called_.store(true, std::memory_order_relaxed);
  return results;
}

std::vector<Array> ReductionKernel::run(const Call& call, const Instance& instance, const std::vector<bool>& reads_old, bool fresh) const {
  // As in ElementwiseKernel: errors of the compiler are this call's.
  if (fresh) flush(call.device);
  const std::vector<Arg> args = map_arguments(call);
  Array elements;
  if (instance.mapper) {
    ElementwiseKernel::Call mapping;
    mapping.in = {args, call.in.scalars};
    mapping.device = call.device;
    elements = (*instance.mapper)(mapping)[0];
  } else {
    UserOptions mapped;
    mapped.device = call.device;
    elements = apply(instance.map, args, mapped)[0];
  }
  ReduceOptions reduced;
  reduced.axes = call.axes;
  reduced.keepdims = call.keepdims;
  reduced.join = instance.join;
  const Array total = reduce(Op::reduce_user, elements, reduced);
  std::vector<Arg> rest{total};
  UserOptions finished;
  finished.device = call.device;
  finished.out.assign(call.out.begin(), call.out.end());
  finished.computed_first = fresh && !call.out.empty();
  for (size_t k = 0; k < call.out.size(); ++k) {
    BC_CHECK(call.out[k].shape() == total.shape(), Value, "{}: output parameter '{}' has the wrong shape: expected {}, got {}", spec_.name,
             out_[k].name, total.shape(), call.out[k].shape());
    if (reads_old[k]) rest.emplace_back(call.out[k]);
  }
  if (uses_in_size_) rest.emplace_back(elements.size());
  if (uses_out_size_) rest.emplace_back(total.size());
  std::vector<Array> results = apply(instance.post, rest, finished);
  if (fresh) flush(call.device);
  return results;
}

std::vector<std::pair<std::string, std::string>> ReductionKernel::codes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, instance] : instances_)
    if (instance.join) out.emplace_back(instance.types, instance.code);
  return out;
}

// ---- Scans ------------------------------------------------------------------------------------------------------------------------------

ScanKernel::ScanKernel(DType dtype, const std::string& expression, std::optional<std::string> neutral, bool exclusive,
                       const std::string& name, const std::string& preamble)
    : dtype_(dtype), exclusive_(exclusive) {
  BC_CHECK(!exclusive || neutral, Value, "{}: an exclusive scan begins with the neutral element: expected one, got None", name);
  const char *outside = device_type(dtype), *inside = user_type(dtype);
  std::string common = preamble.empty() ? "" : line_of(part(name, "preamble")) + preamble;
  common += line_of(part(name, "function"));
  UserOpSpec join;
  join.name = name;
  join.in = join.out = {dtype};
  join.text = common + fmt::format("BC_INLINE {0} join({0} bc_a, {0} bc_b) {{\nconst {1} a(bc_a), b(bc_b);\n{2}}}\n", outside, inside,
                                   returned(dtype, line_of(part(name, "scan")), expression));
  join_ = make_user_op(std::move(join));
  if (!exclusive) return;
  UserOpSpec start;
  start.name = name + "_neutral";
  start.entry = "element";
  start.out = {dtype};
  start.text = common + fmt::format("BC_INLINE {0} value() {{\n{1}}}\nBC_INLINE void element({0}& out) {{ out = value(); }}\n", outside,
                                    returned(dtype, line_of(part(name, "neutral")), *neutral));
  start_ = make_user_op(std::move(start));
}

Array ScanKernel::operator()(const Array& a, int64_t axis_in) {
  BC_CHECK(a.ndim() > 0, Value, "{}: expected an array with an axis, got a 0-d one", join_->name);
  const int axis = normalize_axis(axis_in, a.ndim(), join_->name.c_str());
  const Array x = astype(a, dtype_, false);
  const bool fresh = !compiled_;
  if (fresh) flush(a.device());
  Array sums = x;
  if (x.size() > 0) sums = record_library({x}, {x.shape()}, std::make_unique<ScanExtra>(join_, axis), x.shape(), dtype_, x.device());
  if (exclusive_ && x.size() > 0) {
    // The sums of all before: one place further on.
    UserOptions options;
    options.device = a.device();
    options.shape = x.shape();
    const Array shifted = copy(apply(start_, {}, options)[0]);
    Layout to = shifted.layout(), from = sums.layout();
    to.shape[axis] -= 1;
    from.shape[axis] -= 1;
    to.offset += to.strides[axis];
    assign(shifted.with_layout(to), sums.with_layout(from));
    sums = shifted;
  }
  if (fresh) flush(a.device());
  compiled_ = true;
  return sums;
}

}  // namespace bc
