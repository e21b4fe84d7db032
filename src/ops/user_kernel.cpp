// CuPy's ElementwiseKernel, as a fused op or as a program.
#include "ops/user_kernel.h"

#include <algorithm>
#include <cstring>

#include "array/access.h"
#include "codegen/device_library.h"
#include "core/stored_value.h"
#include "graph/tape.h"

namespace bc {
namespace {

/// Names that only a separate program supports: other threads of the block, other elements.
constexpr const char* kProgramNames[] = {"_ind",       "threadIdx",     "blockIdx",   "blockDim",   "gridDim",   "warpSize",
                                         "__shared__", "__syncthreads", "__syncwarp", "__global__", "atomicAdd", "atomicSub",
                                         "atomicMax",  "atomicMin",     "atomicExch", "atomicInc",  "atomicDec", "atomicCAS",
                                         "atomicAnd",  "atomicOr",      "atomicXor",  "printf",     "assert"};

/// Arrays and the loop's index as CuPy's kernels see them.
// clang-format off
constexpr const char* kArrayNames = R"names(
#line 1 "array_names.h"
namespace bc {
namespace user {

/// An array in memory: x[i] is its i-th element in C order, x[{i, j}] the one at an index. Strides are in bytes.
template <class E, int N, bool Contiguous>
struct CArray {
  static constexpr int ndim = N;
  E* data_;
  i64 size_, shape_[N < 1 ? 1 : N], strides_[N < 1 ? 1 : N];

  BC_INLINE CArray(const i64* w) : data_(reinterpret_cast<E*>(w[0])), size_(w[1]) {
    for (int d = 0; d < N; ++d) {
      shape_[d] = w[2 + d];
      strides_[d] = w[2 + N + d];
    }
  }
  BC_INLINE i64 size() const { return size_; }
  BC_INLINE const i64* shape() const { return shape_; }
  BC_INLINE const i64* strides() const { return strides_; }
  BC_INLINE E* begin() const { return data_; }
  BC_INLINE E& at(i64 bytes) const {
    return *(E*)((unsigned char*)data_ + bytes);
  }
  BC_INLINE E& operator[](i64 i) const {
    if constexpr (Contiguous) {
      return data_[i];
    } else {
      i64 bytes = 0;
      for (int d = N - 1; d > 0; --d) {
        bytes += i % shape_[d] * strides_[d];
        i /= shape_[d];
      }
      return at(N > 0 ? bytes + i * strides_[0] : 0);
    }
  }
  template <class I, enable_if<N >= 1 && sizeof(I) != 0> = 0>
  BC_INLINE E& operator[](const I (&index)[N < 1 ? 1 : N]) const {
    i64 bytes = 0;
    for (int d = 0; d < N; ++d) bytes += static_cast<i64>(index[d]) * strides_[d];
    return at(bytes);
  }
};

/// The loop's place: the linear index, and the index along each axis.
template <int N>
struct CIndexer {
  static constexpr int ndim = N;
  i64 size_, linear_, shape_[N < 1 ? 1 : N], index_[N < 1 ? 1 : N];

  BC_INLINE CIndexer(const i64* w) : size_(w[0]) {
    for (int d = 0; d < N; ++d) shape_[d] = w[1 + d];
  }
  BC_INLINE i64 size() const { return size_; }
  BC_INLINE const i64* shape() const { return shape_; }
  BC_INLINE const i64* get() const { return index_; }
  BC_INLINE void set(i64 i) {
    linear_ = i;
    for (int d = N - 1; d > 0; --d) {
      index_[d] = i % shape_[d];
      i /= shape_[d];
    }
    if (N > 0) index_[0] = i;
  }
  template <class E, bool C>
  BC_INLINE E& of(const CArray<E, N, C>& a) const {
    if constexpr (C) return a.data_[linear_];
    i64 bytes = 0;
    for (int d = 0; d < N; ++d) bytes += index_[d] * a.strides_[d];
    return a.at(bytes);
  }
};

}  // namespace user
}  // namespace bc
)names";
// clang-format on

/// Where a program's arrays are described in its block of words.
struct ArrayWords {
  int at = 0, ndim = 0;
  bool contiguous = false;
};

/// Splits a preamble into its includes, which stand outside of namespaces, and the rest.
std::pair<std::string, std::string> split_includes(const std::string& preamble) {
  std::string includes, rest;
  size_t at = 0;
  while (at < preamble.size()) {
    const size_t end = std::min(preamble.find('\n', at), preamble.size());
    const std::string line = preamble.substr(at, end - at);
    const size_t first = line.find_first_not_of(" \t");
    const bool include = first != std::string::npos && line[first] == '#' && line.find("include") != std::string::npos;
    if (include) includes += line + "\n";
    rest += include ? "\n" : line + "\n";
    at = end + 1;
  }
  return {includes, rest};
}

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
  fuses_ = !out_.empty() && rest.find_first_not_of(" \t\n;") == std::string::npos && macros_.rest.empty() && !directive(preamble) &&
           !directive(operation);
  for (const auto* list : {&in_, &out_})
    for (const UserParameter& p : *list) fuses_ &= !p.raw && !(list == &in_ && p.writable);
  for (const char* name : kProgramNames) fuses_ &= !names_identifier(operation, name) && !names_identifier(preamble, name);
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
  if (fuses_ && call.out.empty() && !call.size && !uses_index_ && !uses_size_ && in_.size() <= 10) {
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
  std::vector<Array> made = fuses_ ? run_fused(call, types, kinds) : run_program(call, types);
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
    if (!instance.op) {
      fresh = true;
      instance.op = make_user_op(fused_spec(types, reads_old));
      for (DType t : types.in) instance.types += std::string(info(t).name) + ", ";
      instance.types += "->";
      for (DType t : types.out) instance.types += std::string(" ") + info(t).name;
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
  std::vector<Array> results = apply(op, args, options);
  if (fresh) flush(call.device);
  if (kinds) {
    const std::lock_guard lock(mutex_);
    quick_.emplace_back(kinds, std::move(op));
  }
  return results;
}

// ---- A program of its own ---------------------------------------------------------------------------------------------------------------

std::vector<Array> ElementwiseKernel::run_program(const Call& call, const UserTypes& types) {
  const char* name = spec_.name.c_str();
  const Device device = call.device;
  const auto check_device = [&](const Array& a, const UserParameter& p) {
    BC_CHECK(a.device() == device, Value, "{}: expected all arrays on one device, got '{}' on {} beside {}; use to_device()", name, p.name,
             to_string(a.device()), to_string(device));
  };
  Dims shape = call.size.value_or(Dims());
  for (size_t k = 0; k < in_.size(); ++k) {
    if (!call.in[k].array) continue;
    if (!call.in.scalar(k)) check_device(call.in[k].array, in_[k]);
    if (!in_[k].raw && !call.in.scalar(k)) shape = broadcast_shapes(name, shape, call.in[k].array.shape());
  }
  for (size_t k = 0; k < call.out.size(); ++k) {
    check_device(call.out[k], out_[k]);
    if (out_[k].raw) continue;
    const Dims both = broadcast_shapes(name, shape, call.out[k].shape());
    BC_CHECK(both == call.out[k].shape(), Value,
             "{}: non-broadcastable output operand '{}' with shape {} doesn't match the broadcast shape {}", name, out_[k].name,
             call.out[k].shape(), both);
    shape = both;
  }
  std::vector<Array> outs(call.out.begin(), call.out.end());
  if (outs.empty())
    for (DType t : types.out) outs.push_back(empty(shape, t, device));
  const int64_t total = product(shape);
  if (total == 0) return outs;

  // The walked arrays' axes are collapsed together; raw ones keep theirs.
  struct Use {
    const UserParameter* parameter;
    DType dtype;
    Array array;  // null: a number
    Scalar value;
    Dims strides;  // walked
    ArrayWords words;
    void* address = nullptr;
  };
  std::vector<Use> uses;
  for (size_t k = 0; k < in_.size(); ++k) {
    Use u{&in_[k], types.in[k], call.in[k].array, call.in[k].value, {}, {}};
    if (!u.array)
      BC_CHECK(call.in[k].weak != Weak::integer || integer_fits(u.value, u.dtype), Overflow,
               "{}: Python integer out of bounds for '{}' of {}", name, in_[k].name, info(u.dtype).name);
    else if (u.array.dtype() != u.dtype)
      u.array = astype(u.array, u.dtype);
    uses.push_back(std::move(u));
  }
  for (size_t k = 0; k < out_.size(); ++k) uses.push_back({&out_[k], types.out[k], outs[k], {}, {}, {}});
  Dims walked = shape;
  std::vector<Dims*> lists;
  for (Use& u : uses) {
    if (!u.array || u.parameter->raw) continue;
    u.strides = broadcast_strides(name, u.array.layout(), shape);
    lists.push_back(&u.strides);
  }
  if (spec_.reduce_dims) {
    collapse(&walked, lists);
    if (walked.empty()) {
      walked.push_back(1);
      for (Dims* s : lists) s->push_back(0);
    }
  }

  std::vector<int64_t> words;
  words.push_back(total);
  words.insert(words.end(), walked.begin(), walked.end());
  std::string key;
  const auto note = [&](int64_t part) { key.append(reinterpret_cast<const char*>(&part), 2); };
  for (const int64_t part : {static_cast<int64_t>(device.type), int64_t{device.index}, static_cast<int64_t>(walked.size())}) note(part);
  Tape& own = tape(device);
  ArrayAccess access(own.stream());
  {
    // What is written comes first, as ArrayAccess asks for.
    TapeLock lock(own);
    for (const bool write : {true, false})
      for (Use& u : uses)
        if (u.array && u.parameter->writable == write) u.address = access.add(u.array, write);
  }
  for (Use& u : uses) {
    u.words.at = static_cast<int>(words.size());
    note(static_cast<int64_t>(u.dtype));
    if (!u.array) {
      words.resize(words.size() + 2);
      u.value.store(u.dtype, &words[words.size() - 2]);
      note(-1);
      continue;
    }
    const Dims& extents = u.parameter->raw ? u.array.shape() : walked;
    const Dims& strides = u.parameter->raw ? u.array.strides() : u.strides;
    u.words.ndim = extents.size();
    u.words.contiguous = is_contiguous(extents, strides);
    note(2 * u.words.ndim + u.words.contiguous);
    words.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(u.address)));
    words.push_back(product(extents));
    words.insert(words.end(), extents.begin(), extents.end());
    for (int64_t s : strides) words.push_back(s * itemsize(u.dtype));
  }

  ProgramKernel* kernel = nullptr;
  const std::string entry = identifier(spec_.name);
  {
    const std::lock_guard lock(mutex_);
    Instance& instance = instances_[key];
    if (!instance.kernel) {
      std::string head, body;
      for (const Use& u : uses) {
        const std::string& p = u.parameter->name;
        const char* type = user_type(u.dtype);
        const char* constant = u.parameter->writable ? "" : "const ";
        if (!u.array) {
          head += fmt::format("const {0} {1}(load_word<{2}>(bc_p.w + {3}));\n", type, p, device_type(u.dtype), u.words.at);
          continue;
        }
        const std::string array = fmt::format("CArray<{}{}, {}, {}>", constant, type, u.words.ndim, u.words.contiguous);
        if (u.parameter->raw) {
          head += fmt::format("const {0} {1}(bc_p.w + {2});\n", array, p, u.words.at);
        } else {
          head += fmt::format("const {0} _raw_{1}(bc_p.w + {2});\n", array, p, u.words.at);
          body += fmt::format("{0}{1}& {2} = _ind.of(_raw_{2}); (void){2};\n", constant, type, p);
        }
      }
      const bool has_i = std::any_of(uses.begin(), uses.end(), [](const Use& u) { return u.parameter->name == "i"; });
      const bool has_n = std::any_of(uses.begin(), uses.end(), [](const Use& u) { return u.parameter->name == "n"; });
      const auto [includes, preamble] = split_includes(spec_.preamble);
      ProgramSource source;
      source.name = entry;
      source.options = macros_.rest;
      source.device_library = true;
      source.text =
          includes + std::string(user_names()) + kArrayNames + "namespace bc {\nnamespace user {\nnamespace " + entry + "_names {\n" +
          letter_types(types) + macros_.define + (preamble.empty() ? "" : line_of(entry + ".preamble") + preamble) +
          line_of(entry + ".loop") +
          fmt::format("struct Words {{ i64 w[{}]; }};\nextern \"C\" __global__ void {}(const Words bc_p) {{\n", words.size(), entry) +
          head + fmt::format("CIndexer<{}> _ind(bc_p.w);\n{}", walked.size(), has_n ? "" : "const ptrdiff_t n = _ind.size(); (void)n;\n") +
          (spec_.loop_prep.empty() ? "" : line_of(entry + ".loop_prep") + spec_.loop_prep + ";" + line_of(entry + ".loop")) +
          fmt::format(
              "const ptrdiff_t {0} = static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x;\nif ({0} < _ind.size()) "
              "{{\n_ind.set({0});\n",
              has_i ? "bc_i" : "i") +
          body + "do {" + line_of(entry) + spec_.operation + ";\n} while (false);\n}\n" +
          (spec_.after_loop.empty() ? "" : line_of(entry + ".after_loop") + spec_.after_loop + ";\n") + "}\n}\n}\n}\n";
      instance.program = load_program(device, source);
      instance.kernel = &instance.program->kernel(entry);
      for (DType t : types.in) instance.types += std::string(info(t).name) + ", ";
      instance.types += "->";
      for (DType t : types.out) instance.types += std::string(" ") + info(t).name;
      instance.code = std::move(source.text);
    }
    kernel = instance.kernel;
  }
  // A thread an element: a loop of one step around each would keep the CPU's compiler from running threads side by side.
  KernelLaunch launch;
  launch.block[0] = static_cast<unsigned>(call.block_size);
  const int64_t blocks = (total + call.block_size - 1) / call.block_size;
  BC_CHECK(blocks <= 0x7fffffff, Value, "{}: expected at most {} elements for blocks of {}, got {}", name,
           int64_t{0x7fffffff} * call.block_size, call.block_size, total);
  launch.grid[0] = static_cast<unsigned>(blocks);
  void* arguments[] = {words.data()};
  // A graph may launch the kernel after the last owner of its program is gone.
  if (own.capture()) backend(own.device()).keep_programs_loaded();
  kernel->launch(launch, arguments, own.stream());
  return outs;
}

std::vector<std::pair<std::string, std::string>> ElementwiseKernel::codes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, instance] : instances_)
    if (!instance.code.empty()) out.emplace_back(instance.types, instance.code);
  return out;
}

}  // namespace bc
