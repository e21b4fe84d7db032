#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/user.h"
#include "runtime/program.h"

namespace bc {

/// A parameter as a kernel's signature has it: "raw T x", "float32 y".
struct UserParameter {
  std::string name;
  std::string type;            ///< a dtype's name, or one letter that stands for a type
  std::optional<DType> dtype;  ///< of a named type
  bool raw = false;            ///< the operation indexes it itself
  bool writable = false;       ///< an output, or "_non_const"
};
/// Throws TypeError naming `kernel` where the list is no signature.
std::vector<UserParameter> parse_parameters(const std::string& kernel, const std::string& text, bool output);

/// The inputs of a call. A NumPy scalar comes as a 0-d array that is marked: like a Python number it takes the type that arrays give.
struct UserInputs {
  std::span<const Arg> values;
  uint64_t scalars = 0;  ///< bit k: values[k] is such a scalar

  size_t size() const { return values.size(); }
  const Arg& operator[](size_t k) const { return values[k]; }
  bool scalar(size_t k) const { return k < 64 && (scalars >> k & 1) != 0; }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }
};

/// The dtypes of a call: named types, and what the letters stand for (in the order of the parameters). Outputs decide before inputs, arrays
/// before NumPy scalars, those before Python numbers.
struct UserTypes {
  std::vector<DType> in, out;
  std::vector<std::pair<char, DType>> letters;
};

/// The macros among a compiler's options ("-DN=4"), as text around a user's own, and the other options. The headers have short names of
/// their own, so that macros must not be defined before them.
struct UserMacros {
  std::string define, undefine;
  std::vector<std::string> rest;
};
UserMacros macros_of(const std::vector<std::string>& options);
/// A preamble without the lines that include CuPy's own headers: what they have is there.
std::string without_own_headers(const std::string& preamble);

/// CuPy's ElementwiseKernel: an operation in CUDA C++ for every element of arrays that broadcast.
///
/// If the operation uses only its element (no raw parameter, nothing before or after the loop) and functions that arrays have, the kernel
/// is an elementwise op of the graph: it is recorded and fused like any other. Otherwise it is a separate CUDA program, queued at once.
class ElementwiseKernel {
 public:
  struct Spec {
    std::string in_params, out_params, operation, name = "kernel", preamble, loop_prep, after_loop;
    bool reduce_dims = true, no_return = false, return_tuple = false;
    std::vector<std::string> options;
  };
  explicit ElementwiseKernel(Spec spec);

  struct Call {
    UserInputs in;
    std::span<const Array> out;  ///< all of them, or none
    std::optional<Dims> size;
    int block_size = 128;
    Device device;
  };
  /// The outputs. Throws TypeError and ValueError naming kernel, parameter, and what was expected and came.
  std::vector<Array> operator()(const Call& call);

  const Spec& spec() const { return spec_; }
  const std::vector<UserParameter>& in() const { return in_; }
  const std::vector<UserParameter>& out() const { return out_; }
  bool fuses() const { return fuses_.load(std::memory_order_relaxed); }
  /// Tells whether it was called before: the first call compiles.
  bool called() const { return called_.load(std::memory_order_relaxed); }
  /// The C++ of each set of types that was called, with the types' names.
  std::vector<std::pair<std::string, std::string>> codes() const;

 private:
  struct Instance {
    Ref<UserOp> op;                    // a fused kernel's
    bool compiled = false;             // the op, for a call with elements
    std::shared_ptr<Program> program;  // of its own otherwise
    ProgramKernel* kernel = nullptr;
    std::string types, code;
  };

  std::vector<Array> run_fused(const Call& call, const UserTypes& types, uint64_t kinds);
  std::vector<Array> run_unfused(const Call& call, const UserTypes& types, const Error& refused);
  // A program of its own (user_kernel_program.cpp).
  struct ProgramCall;
  Dims loop_shape(const Call& call) const;
  ProgramCall program_call(const Call& call, const UserTypes& types, std::span<const Array> outs) const;
  std::string program_text(const ProgramCall& call, const UserTypes& types) const;
  ProgramKernel* program_kernel(const ProgramCall& call, const UserTypes& types, Device device);
  std::vector<Array> run_program(const Call& call, const UserTypes& types);
  UserOpSpec fused_spec(const UserTypes& types, const std::vector<bool>& reads_old) const;

  Spec spec_;
  std::vector<UserParameter> in_, out_;
  std::vector<bool> assigned_;  // outputs that the operation sets before it reads them
  UserMacros macros_;
  std::atomic<bool> fuses_{false};
  bool uses_index_ = false, uses_size_ = false;
  std::atomic<bool> called_{false};
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Instance> instances_;
  std::vector<std::pair<uint64_t, Ref<UserOp>>> quick_;  // of calls with nothing but inputs, by their kinds
};

/// CuPy's ReductionKernel: a map, a join and what follows it, each in CUDA C++. It runs on the engine's reduction skeletons, so that it
/// fuses with what it reads and what reads it, and its tree is fixed: the same bits from run to run.
class ReductionKernel {
 public:
  struct Spec {
    std::string in_params, out_params, map_expr, reduce_expr, post_map_expr, name = "reduce_kernel", reduce_type, preamble;
    std::optional<std::string> identity;
    bool reduce_dims = true;
    std::vector<std::string> options;
  };
  explicit ReductionKernel(Spec spec);

  struct Call {
    UserInputs in;
    std::span<const Array> out;  ///< all of them, or none
    std::optional<std::vector<int64_t>> axes;
    bool keepdims = false;
    Device device;
  };
  std::vector<Array> operator()(const Call& call);

  const Spec& spec() const { return spec_; }
  const std::vector<UserParameter>& in() const { return in_; }
  const std::vector<UserParameter>& out() const { return out_; }
  bool called() const { return called_.load(std::memory_order_relaxed); }
  std::vector<std::pair<std::string, std::string>> codes() const;

 private:
  struct Instance {
    Ref<UserOp> map, join, post;
    std::shared_ptr<ElementwiseKernel> mapper;  // in the place of `map` where arrays are indexed, or where CUDA's functions are called
    std::string types, code;
    bool compiled = false;  // for a call with results
  };
  /// What the texts of an instance share.
  struct Texts {
    DType state;          // what is reduced
    bool packed = false;  // the state is of the user's own type and travels as the bytes of a number
    bool contract = false;
    std::string alias;   // the name of the state's type
    std::string common;  // what stands before each function
    UserMacros macros;
    std::string unpacked(const char* from) const { return packed ? fmt::format("unpack({})", from) : from; }
  };
  Texts texts(const UserTypes& types) const;
  UserOpSpec map_spec(const UserTypes& types, const Texts& texts) const;
  UserOpSpec join_spec(const Texts& texts) const;
  UserOpSpec post_spec(const UserTypes& types, const Texts& texts, const std::vector<bool>& reads_old) const;
  std::shared_ptr<ElementwiseKernel> map_program(const Texts& texts) const;
  Instance make(const UserTypes& types, const std::vector<bool>& reads_old, bool unfused) const;
  std::vector<Arg> map_arguments(const Call& call) const;
  std::vector<Array> run(const Call& call, const Instance& instance, const std::vector<bool>& reads_old, bool fresh) const;

  Spec spec_;
  std::vector<UserParameter> in_, out_;
  std::vector<bool> assigned_;  // outputs that post_map_expr sets before it reads them
  std::atomic<bool> called_{false};
  std::vector<std::string> places_;  // of `_J`, `_i` and `_j`: those that the map names
  bool raw_ = false, uses_in_size_ = false, uses_out_size_ = false;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Instance> instances_;
};

/// PyCUDA's scans: out[i] = in[0] ⊕ … ⊕ in[i], where ⊕ is an expression of `a` and `b` in C++; `exclusive` leaves in[i] out and begins with
/// `neutral`. Along one axis, in a fixed order.
class ScanKernel {
 public:
  ScanKernel(DType dtype, const std::string& expression, std::optional<std::string> neutral, bool exclusive, const std::string& name,
             const std::string& preamble);
  /// A new array; `a` is cast to the kernel's dtype.
  Array operator()(const Array& a, int64_t axis = 0);
  DType dtype() const { return dtype_; }

 private:
  DType dtype_;
  Ref<UserOp> join_, start_;  // `start_` gives the neutral value
  bool exclusive_, compiled_ = false;
};

// ---- What kernels of users have in common (user_kernel_text.cpp) ------------------------------------------------------------------------

/// Decides the dtypes of a call. Throws TypeError where one does not fit its parameter.
UserTypes decide_types(const std::string& kernel, const std::vector<UserParameter>& in, const std::vector<UserParameter>& out,
                       const UserInputs& args, std::span<const Array> outs);
/// A dtype as users' text names it: "float", "float16", "complex<double>".
const char* user_type(DType t);
/// The device library's type, as users' text has to call it.
const char* device_type(DType t);
/// "using T = float;" for every letter.
std::string letter_types(const UserTypes& types);
/// The dtypes of a call for its reader: "float32, int64, -> float64".
std::string type_names(const UserTypes& types);
/// A text with comments and string literals blanked out.
std::string without_comments(std::string_view text);
/// Tells whether a text (without comments) names an identifier.
bool names_identifier(std::string_view text, std::string_view name);
/// Tells whether a text (without comments) holds nothing but numbers: nothing that could be left in memory.
bool only_numbers(std::string_view text, std::span<const DType> in, std::span<const DType> out);
/// Tells whether a text begins to use `name` by setting it, whatever happens before.
bool sets_first(std::string_view text, std::string_view name);
/// The dtype that a C++ type's name stands for.
std::optional<DType> dtype_of_type(std::string_view name);
/// The text of a function's parameters and its first and last statements.
struct BoundText {
  std::string signature, head, tail;
  void parameter(const std::string& text) { signature += (signature.empty() ? "" : ", ") + text; }
};
/// Adds outputs: parameters that come as the device library's types by reference, and are what the operation sets. Those of `reads_old`
/// begin with a parameter NAME_old.
void bind_outputs(std::span<const UserParameter> out, std::span<const DType> types, const std::vector<bool>& reads_old, BoundText* text);
/// The statements that make parameters of the device library's types (NAME_) what the operation sees.
std::string bind_inputs(std::span<const UserParameter> in, std::span<const DType> types);
/// "#line 1" with a name for messages.
std::string line_of(const std::string& what);

}  // namespace bc
