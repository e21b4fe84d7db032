// CuPy's ElementwiseKernel as an op of the graph. (user_kernel_program.cpp has those that need a program of their own.)
#include "ops/user_kernel.h"

#include <algorithm>

namespace bc {
namespace {

/// Names that only a separate program supports: other threads of the block, other elements.
constexpr const char* kProgramNames[] = {"_ind",       "threadIdx",     "blockIdx",   "blockDim",   "gridDim",   "warpSize",
                                         "__shared__", "__syncthreads", "__syncwarp", "__global__", "atomicAdd", "atomicSub",
                                         "atomicMax",  "atomicMin",     "atomicExch", "atomicInc",  "atomicDec", "atomicCAS",
                                         "atomicAnd",  "atomicOr",      "atomicXor",  "printf",     "assert"};

}  // namespace

ElementwiseKernel::ElementwiseKernel(Spec spec) : spec_(std::move(spec)) {
  spec_.preamble = without_own_headers(spec_.preamble);
  in_ = parse_parameters(spec_.name, spec_.in_params, false);
  out_ = parse_parameters(spec_.name, spec_.out_params, true);
  for (const UserParameter& o : out_)
    for (const UserParameter& i : in_) BC_CHECK(i.name != o.name, Value, "{}: parameter '{}' is there twice", spec_.name, o.name);
  BC_CHECK(!out_.empty() || std::any_of(in_.begin(), in_.end(), [](const UserParameter& p) { return p.raw; }), Value,
           "{}: expected an output, or a raw parameter that is written", spec_.name);
  const std::string operation = without_comments(spec_.operation);
  const std::string preamble = without_comments(spec_.preamble);
  const std::string rest = without_comments(spec_.loop_prep) + without_comments(spec_.after_loop);
  for (const UserParameter& p : out_) assigned_.push_back(sets_first(operation, p.name));
  const auto is_parameter = [&](const char* name) {
    const auto same = [&](const UserParameter& p) { return p.name == name; };
    return std::any_of(in_.begin(), in_.end(), same) || std::any_of(out_.begin(), out_.end(), same);
  };
  uses_index_ = names_identifier(operation, "i") && !is_parameter("i");
  uses_size_ = names_identifier(operation, "n") && !is_parameter("n");
  macros_ = macros_of(spec_.options);
  // Macros of the text's own would be seen by the kernels' own text too.
  const auto directive = [](const std::string& text) {
    for (size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at + 1)) {
      const size_t word = text.find_first_not_of(" \t", at + 1);
      if (word == std::string::npos || text.compare(word, 6, "pragma") != 0) return true;
    }
    return false;
  };
  bool fuses = !out_.empty() && rest.find_first_not_of(" \t\n;") == std::string::npos && macros_.rest.empty() && !directive(preamble) &&
               !directive(operation);
  for (const auto* list : {&in_, &out_})
    for (const UserParameter& p : *list) fuses &= !p.raw && !(list == &in_ && p.writable);
  for (const char* name : kProgramNames) fuses &= !names_identifier(operation, name) && !names_identifier(preamble, name);
  fuses_ = fuses;
}

std::vector<Array> ElementwiseKernel::operator()(const Call& call) {
  BC_CHECK(call.in.size() == in_.size() && (call.out.empty() || call.out.size() == out_.size()), Type,
           "{}: wrong number of arguments: expected {} or {} (with outputs), got {}", spec_.name, in_.size(), in_.size() + out_.size(),
           call.in.size() + call.out.size());
  BC_CHECK(call.block_size > 0, Value, "{}: expected a positive block_size, got {}", spec_.name, call.block_size);
  // The dtypes of a call with inputs of these kinds are remembered.
  uint64_t kinds = 0;
  for (size_t k = 0; k < call.in.size(); ++k)
    BC_CHECK(!call.in[k].array || is_plain(call.in[k].array.dtype()), Type, "{}: a user's kernel takes no {}", spec_.name,
             info(call.in[k].array.dtype()).name);
  if (fuses() && call.out.empty() && !call.size && !uses_index_ && !uses_size_ && in_.size() <= 10) {
    kinds = 1;
    for (size_t k = 0; k < call.in.size(); ++k) {
      const Arg& a = call.in[k];
      kinds = kinds << 6 |
              (a.array ? static_cast<uint64_t>(a.array.dtype()) | (call.in.scalar(k) ? 16 : 0) : 32 | static_cast<uint64_t>(a.weak));
    }
    Ref<UserOp> op;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [known, known_op] : quick_)
        if (known == kinds) op = known_op;
    }
    if (op) {
      UserOptions options;
      options.device = call.device;
      return apply(op, call.in.values, options);
    }
  }
  const UserTypes types = decide_types(spec_.name, in_, out_, call.in, call.out);
  bool any = false;  // whether an array determines the shape of the loop
  for (size_t k = 0; k < in_.size(); ++k) any |= !in_[k].raw && call.in[k].array && !call.in.scalar(k);
  for (size_t k = 0; k < call.out.size(); ++k) any |= !out_[k].raw;
  BC_CHECK(!(any && call.size), Value, "{}: Specified 'size' can be used only if all of the ndarray are 'raw'.", spec_.name);
  BC_CHECK(any || call.size, Value, "{}: Loop size is undecided.", spec_.name);
  for (size_t k = 0; k < out_.size(); ++k)
    BC_CHECK(!out_[k].raw || !call.out.empty() || call.size, Value,
             "{}: output '{}' is raw, so that its size is undecided: pass the array or size=", spec_.name, out_[k].name);
  for (size_t k = 0; k < in_.size(); ++k)
    BC_CHECK(!in_[k].raw || call.in[k].array, Type, "{}: expected an array for the raw parameter '{}', got a number", spec_.name,
             in_[k].name);
  std::vector<Array> made = fuses() ? run_fused(call, types, kinds) : run_program(call, types);
  called_.store(true, std::memory_order_relaxed);
  return made;
}

// ---- Fused ------------------------------------------------------------------------------------------------------------------------------

UserOpSpec ElementwiseKernel::fused_spec(const UserTypes& types, const std::vector<bool>& reads_old) const {
  UserOpSpec op;
  op.name = spec_.name;
  op.entry = "element";
  const std::string name = identifier(spec_.name);
  BoundText t;
  for (size_t k = 0; k < in_.size(); ++k) {
    op.in.push_back(types.in[k]);
    t.parameter(fmt::format("{} {}_", device_type(types.in[k]), in_[k].name));
  }
  t.head = bind_inputs(in_, types.in);
  for (size_t k = 0; k < out_.size(); ++k) {
    if (!reads_old[k]) continue;
    op.in.push_back(types.out[k]);
    t.parameter(fmt::format("{} {}_old", device_type(types.out[k]), out_[k].name));
  }
  for (const auto& [used, index] : {std::pair{uses_index_, "i64 i"}, std::pair{uses_size_, "i64 n"}}) {
    if (!used) continue;
    op.in.push_back(DType::i64);
    t.parameter(index);
  }
  op.out = types.out;
  bind_outputs(out_, types.out, reads_old, &t);
  op.text = macros_.define + letter_types(types);
  if (!spec_.preamble.empty()) op.text += line_of(name + ".preamble") + spec_.preamble;
  // `continue` leaves an element, as in the loop that CuPy puts around it.
  op.text += fmt::format("{}BC_INLINE void element({}) {{\n{}do {{{}{};\n}} while (false);\n{}}}\n", line_of(name + ".element"),
                         t.signature, t.head, line_of(name), spec_.operation, t.tail);
  op.text += macros_.undefine;
  op.simple = spec_.preamble.empty() && macros_.define.empty() && only_numbers(without_comments(spec_.operation), types.in, types.out);
  return op;
}

std::vector<Array> ElementwiseKernel::run_fused(const Call& call, const UserTypes& types, uint64_t kinds) {
  std::vector<bool> reads_old(out_.size(), false);
  std::string key;
  for (DType t : types.in) key += static_cast<char>(t);
  for (size_t k = 0; k < out_.size(); ++k) {
    reads_old[k] = !call.out.empty() && !assigned_[k];
    key += static_cast<char>(static_cast<int>(types.out[k]) | (reads_old[k] ? 32 : 0));
  }
  Ref<UserOp> op;
  bool fresh = false;
  {
    const std::lock_guard lock(mutex_);
    Instance& instance = instances_[key];
    fresh = !instance.compiled;
    if (!instance.op) {
      instance.op = make_user_op(fused_spec(types, reads_old));
      instance.types = type_names(types);
      instance.code = instance.op->definition();
    }
    op = instance.op;
  }
  // The first call compiles, so that the compiler's errors about the user's text are raised there. Pending ops are run before, because they
  // are not concerned.
  if (fresh) flush(call.device);
  std::vector<Arg> args;
  args.reserve(op->in.size());
  Dims shape = call.size.value_or(Dims());
  for (const Arg& o : call.in) {
    args.push_back(o);
    if (uses_index_ || uses_size_)
      if (o.array) shape = broadcast_shapes(spec_.name.c_str(), shape, o.array.shape());
  }
  UserOptions options;
  options.device = call.device;
  options.shape = call.size;
  options.out.assign(call.out.begin(), call.out.end());
  for (size_t k = 0; k < call.out.size(); ++k) {
    if (reads_old[k]) args.emplace_back(call.out[k]);
    if (uses_index_ || uses_size_) shape = broadcast_shapes(spec_.name.c_str(), shape, call.out[k].shape());
  }
  if (uses_index_) args.emplace_back(iota(shape, call.device));
  if (uses_size_) args.emplace_back(product(shape));
  options.computed_first = fresh && !call.out.empty();
  std::vector<Array> results;
  try {
    results = apply(op, args, options);
    if (fresh) flush(call.device);
    const bool compiled = !fresh || results[0].size() > 0;
    const std::lock_guard lock(mutex_);
    if (fresh && compiled) instances_[key].compiled = true;
    if (kinds && compiled) quick_.emplace_back(kinds, std::move(op));
  } catch (const Error& e) {
    if (!fresh || e.kind() != ErrorKind::Compile) throw;
    return run_unfused(call, types, e);
  }
  return results;
}

/// The call as a program of its own, which has all functions of CUDA; from now on all calls are. An error in the user's text is told as the
/// fused kernel's compiler told it.
std::vector<Array> ElementwiseKernel::run_unfused(const Call& call, const UserTypes& types, const Error& refused) {
  std::vector<Array> results;
  try {
    results = run_program(call, types);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Compile) throw refused;
    throw;
  }
  const std::lock_guard lock(mutex_);
  fuses_ = false;
  quick_.clear();
  std::erase_if(instances_, [](const auto& entry) { return entry.second.op != nullptr; });
  return results;
}

std::vector<std::pair<std::string, std::string>> ElementwiseKernel::codes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, instance] : instances_)
    if (!instance.code.empty()) out.emplace_back(instance.types, instance.code);
  return out;
}

}  // namespace bc
