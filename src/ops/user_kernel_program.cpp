// CuPy's ElementwiseKernel as a program of its own, where an operation uses more than its element.
#include <algorithm>

#include "array/access.h"
#include "codegen/device_library.h"
#include "core/stored_value.h"
#include "graph/tape.h"
#include "ops/user_kernel.h"

namespace bc {
namespace {

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

/// A call as its program gets it: the loop's axes and the operands, and these encoded in words.
struct ElementwiseKernel::ProgramCall {
  struct Operand {
    const UserParameter* parameter;
    DType dtype;
    Array array;  // null: a number
    Scalar value;
    Dims strides;  // of an array that is walked with the loop; a raw one has its own
    void* address = nullptr;
    // Where the words describe it, and what the program's text says of an array.
    int at = 0, ndim = 0;
    bool contiguous = false;
  };
  std::vector<Operand> operands;
  Dims axes;                   // of the loop
  std::vector<int64_t> words;  // the loop's size and axes, then each operand
  std::string key;             // what the program's text depends on

  void walk(const char* name, const Dims& shape, bool reduce_dims);
  void find_addresses(Tape& own, ArrayAccess& access);
  void encode(Device device, int64_t total);
  bool names(const char* name) const {
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) { return o.parameter->name == name; });
  }
};

/// Gives the walked arrays strides along the loop's axes. With `reduce_dims` axes are collapsed, of all arrays together.
void ElementwiseKernel::ProgramCall::walk(const char* name, const Dims& shape, bool reduce_dims) {
  axes = shape;
  std::vector<Dims*> lists;
  for (Operand& o : operands) {
    if (!o.array || o.parameter->raw) continue;
    o.strides = broadcast_strides(name, o.array.layout(), shape);
    lists.push_back(&o.strides);
  }
  if (!reduce_dims) return;
  collapse(&axes, lists);
  if (!axes.empty()) return;
  axes.push_back(1);
  for (Dims* s : lists) s->push_back(0);
}

/// Runs what the arrays wait for. What is written comes first, as ArrayAccess asks for.
void ElementwiseKernel::ProgramCall::find_addresses(Tape& own, ArrayAccess& access) {
  TapeLock lock(own);
  for (const bool write : {true, false})
    for (Operand& o : operands)
      if (o.array && o.parameter->writable == write) o.address = access.add(o.array, write);
}

/// Writes the words (as the constructors of CIndexer and CArray read them) and the key.
void ElementwiseKernel::ProgramCall::encode(Device device, int64_t total) {
  const auto note = [&](int64_t part) { key.append(reinterpret_cast<const char*>(&part), 2); };
  for (const int64_t part : {static_cast<int64_t>(device.type), int64_t{device.index}, static_cast<int64_t>(axes.size())}) note(part);
  words.push_back(total);
  words.insert(words.end(), axes.begin(), axes.end());
  for (Operand& o : operands) {
    o.at = static_cast<int>(words.size());
    note(static_cast<int64_t>(o.dtype));
    if (!o.array) {
      words.resize(words.size() + 2);
      o.value.store(o.dtype, &words[words.size() - 2]);
      note(-1);
      continue;
    }
    const Dims& extents = o.parameter->raw ? o.array.shape() : axes;
    const Dims& strides = o.parameter->raw ? o.array.strides() : o.strides;
    o.ndim = extents.size();
    o.contiguous = is_contiguous(extents, strides);
    note(2 * o.ndim + o.contiguous);
    words.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(o.address)));
    words.push_back(product(extents));
    words.insert(words.end(), extents.begin(), extents.end());
    for (int64_t s : strides) words.push_back(s * itemsize(o.dtype));
  }
}

/// The loop's shape: that of `size`, or of the arrays that are not raw, which broadcast. Throws for arrays on other devices.
Dims ElementwiseKernel::loop_shape(const Call& call) const {
  const char* name = spec_.name.c_str();
  const auto check_device = [&](const Array& a, const UserParameter& p) {
    BC_CHECK(a.device() == call.device, Value, "{}: expected all arrays on one device, got '{}' on {} beside {}; use to_device()", name,
             p.name, to_string(a.device()), to_string(call.device));
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
  return shape;
}

/// The operands in the dtypes of the call.
ElementwiseKernel::ProgramCall ElementwiseKernel::program_call(const Call& call, const UserTypes& types,
                                                               std::span<const Array> outs) const {
  ProgramCall made;
  for (size_t k = 0; k < in_.size(); ++k) {
    const Arg& given = call.in[k];
    ProgramCall::Operand o{&in_[k], types.in[k], given.array, given.value, {}};
    if (!o.array)
      BC_CHECK(given.weak != Weak::integer || integer_fits(o.value, o.dtype), Overflow, "{}: Python integer out of bounds for '{}' of {}",
               spec_.name, in_[k].name, info(o.dtype).name);
    else if (o.array.dtype() != o.dtype)
      o.array = astype(o.array, o.dtype);
    made.operands.push_back(std::move(o));
  }
  for (size_t k = 0; k < out_.size(); ++k) made.operands.push_back({&out_[k], types.out[k], outs[k], {}, {}});
  return made;
}

/// The text of a call's program: the user's own between the operands' declarations. A thread computes an element: a loop of one step around
/// each would keep the CPU's compiler from running threads side by side.
std::string ElementwiseKernel::program_text(const ProgramCall& call, const UserTypes& types) const {
  std::string head, body;
  for (const ProgramCall::Operand& o : call.operands) {
    const std::string& p = o.parameter->name;
    const char* type = user_type(o.dtype);
    const char* constant = o.parameter->writable ? "" : "const ";
    if (!o.array) {
      head += fmt::format("const {0} {1}(load_word<{2}>(bc_p.w + {3}));\n", type, p, device_type(o.dtype), o.at);
      continue;
    }
    const std::string array = fmt::format("CArray<{}{}, {}, {}>", constant, type, o.ndim, o.contiguous);
    if (o.parameter->raw) {
      head += fmt::format("const {0} {1}(bc_p.w + {2});\n", array, p, o.at);
    } else {
      head += fmt::format("const {0} _raw_{1}(bc_p.w + {2});\n", array, p, o.at);
      body += fmt::format("{0}{1}& {2} = _ind.of(_raw_{2}); (void){2};\n", constant, type, p);
    }
  }
  const std::string entry = identifier(spec_.name);
  const auto [includes, preamble] = split_includes(spec_.preamble);
  return includes + std::string(user_names()) + kArrayNames + "namespace bc {\nnamespace user {\nnamespace " + entry + "_names {\n" +
         letter_types(types) + macros_.define + (preamble.empty() ? "" : line_of(entry + ".preamble") + preamble) +
         line_of(entry + ".loop") +
         fmt::format("struct Words {{ i64 w[{}]; }};\nextern \"C\" __global__ void {}(const Words bc_p) {{\n", call.words.size(), entry) +
         head +
         fmt::format("CIndexer<{}> _ind(bc_p.w);\n{}", call.axes.size(),
                     call.names("n") ? "" : "const ptrdiff_t n = _ind.size(); (void)n;\n") +
         (spec_.loop_prep.empty() ? "" : line_of(entry + ".loop_prep") + spec_.loop_prep + ";" + line_of(entry + ".loop")) +
         fmt::format(
             "const ptrdiff_t {0} = static_cast<ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x;\nif ({0} < _ind.size()) "
             "{{\n_ind.set({0});\n",
             call.names("i") ? "bc_i" : "i") +
         body + "do {" + line_of(entry) + spec_.operation + ";\n} while (false);\n}\n" +
         (spec_.after_loop.empty() ? "" : line_of(entry + ".after_loop") + spec_.after_loop + ";\n") + "}\n}\n}\n}\n";
}

/// The compiled kernel of a call; the first call with its key compiles.
ProgramKernel* ElementwiseKernel::program_kernel(const ProgramCall& call, const UserTypes& types, Device device) {
  const std::lock_guard lock(mutex_);
  Instance& instance = instances_[call.key];
  if (!instance.kernel) {
    ProgramSource source;
    source.name = identifier(spec_.name);
    source.options = macros_.rest;
    source.device_library = true;
    source.text = program_text(call, types);
    instance.program = load_program(device, source);
    instance.kernel = &instance.program->kernel(source.name);
    instance.types = type_names(types);
    instance.code = std::move(source.text);
  }
  return instance.kernel;
}

std::vector<Array> ElementwiseKernel::run_program(const Call& call, const UserTypes& types) {
  const Dims shape = loop_shape(call);
  std::vector<Array> outs(call.out.begin(), call.out.end());
  if (outs.empty())
    for (DType t : types.out) outs.push_back(empty(shape, t, call.device));
  const int64_t total = product(shape);
  if (total == 0) return outs;

  ProgramCall program = program_call(call, types, outs);
  program.walk(spec_.name.c_str(), shape, spec_.reduce_dims);
  Tape& own = tape(call.device);
  ArrayAccess access(own.stream());
  access.share();
  program.find_addresses(own, access);
  program.encode(call.device, total);
  ProgramKernel* kernel = program_kernel(program, types, call.device);

  KernelLaunch launch;
  launch.block[0] = static_cast<unsigned>(call.block_size);
  const int64_t blocks = (total + call.block_size - 1) / call.block_size;
  BC_CHECK(blocks <= 0x7fffffff, Value, "{}: expected at most {} elements for blocks of {}, got {}", spec_.name,
           int64_t{0x7fffffff} * call.block_size, call.block_size, total);
  launch.grid[0] = static_cast<unsigned>(blocks);
  void* arguments[] = {program.words.data()};
  // A graph may launch the kernel after the last owner of its program is gone.
  if (own.capture()) backend(own.device()).keep_programs_loaded();
  kernel->launch(launch, arguments, own.stream());
  return outs;
}

}  // namespace bc
