#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/dtype.h"

namespace bc {

/// Every op of the engine: one enumerator for each row, in the order of the row files.
enum class Op : uint16_t {
  leaf,      ///< a value that is in memory already
  constant,  ///< one scalar, passed as an argument to the kernel
  cast,      ///< conversion to another dtype
  iota,      ///< the linear index in C order, int64
  gather,    ///< elements of in[0] at integer indices in[1…]
  store,     ///< in[0] with a region replaced by in[1]
#define BC_UNARY(name, ...) name,
#define BC_BINARY(name, ...) name,
#define BC_TERNARY(name, ...) name,
#define BC_FAST(...)
#include "primitives/elementwise.def"
#define BC_REDUCE(name, ...) reduce_##name,
#include "primitives/reduce.def"
  library,      ///< a body that a backend registers (matmul, sort …)
  user,         ///< a user's elementwise function, as C++ text
  reduce_user,  ///< a reduction with a user's function that joins two values
  count_
};
inline constexpr int kOpCount = static_cast<int>(Op::count_);

enum class OpKind : uint8_t { structural, elementwise, reduce, library };

/// How the loop's dtypes follow from the operands'.
enum class Signature : uint8_t {
  same,    ///< all operands are promoted to one T
  divide,  ///< as `same`, but integers and bools divide as float64
  ldexp,   ///< (T, int32)
  where,   ///< (bool, T, T)
  random,  ///< (uint64 seed, uint64 index), T is chosen by the caller
};

enum class Result : uint8_t { SAME, BOOL, REAL, I32, U8, INDEX };

/// How a reduction's loop dtype follows from its input's.
enum class Accumulate : uint8_t {
  same,
  widen,  ///< bools and small integers become int64 or uint64, as NumPy's sum
  mean,   ///< bools and integers become float64
};

/// The state that a reduction keeps while it runs.
enum class ReduceState : uint8_t {
#define BC_REDUCE_STATE(name, ...) name,
#include "primitives/reduce.def"
};
/// The state's C++ type, in terms of the element type T.
const char* state_type(ReduceState state);
/// The state's size in bytes for a loop dtype.
int state_bytes(ReduceState state, DType loop);

/// Whether a reduction finds the highest or the lowest element.
enum class Extreme : int8_t { lowest = -1, none = 0, highest = 1 };

/// A row of the op tables.
struct OpInfo {
  const char* name = "";
  OpKind kind = OpKind::structural;
  uint8_t nin = 0;
  DTypeSet set = 0;
  Signature signature = Signature::same;
  Result result = Result::SAME;
  const char* text = nullptr;  ///< elementwise: the expression in a, b, c, with T and R
  DTypeSet fast_set = 0;       ///< loop dtypes for which the CPU may use `fast_text` instead
  const char* fast_text = nullptr;
  DTypeSet cuda_fast_set = 0;  ///< loop dtypes for which CUDA may use `cuda_fast_text` instead
  const char* cuda_fast_text = nullptr;
  // Reductions
  Accumulate accumulate = Accumulate::same;
  ReduceState state = ReduceState::element;
  Extreme extreme = Extreme::none;
  const char* identity = nullptr;  ///< nullptr: no identity, so an empty reduction is an error
  const char* map = nullptr;       ///< an expression in a (of T) and i (the index along the reduced axes)
  const char* join = nullptr;      ///< an expression in p, q
  const char* finish = nullptr;    ///< an expression in p, n (the number of elements) and ddof
};

const OpInfo& info(Op op);
/// Tells whether a reduction may know its result before it has read all elements, because it has only two possible results.
bool may_be_known_early(const OpInfo& reduction, DType loop);
std::optional<Op> op_from_name(std::string_view name);

inline bool is_logical(Op op) { return op == Op::logical_and || op == Op::logical_or || op == Op::logical_xor || op == Op::logical_not; }

/// The reduction row of a ufunc's reduce method: add → reduce_sum. nullopt where NumPy's reduce is a plain fold without a row.
std::optional<Op> reduction_of(Op ufunc);

/// The dtypes that a loop reads and writes.
struct Loop {
  DType in[3];
  DType out;
};

/// One operand of type resolution: a dtype, or a Python scalar, of which only the kind counts.
struct OperandType {
  DType dtype;
  Weak weak = Weak::none;
};

/// NumPy's type resolution (NEP 50) for an elementwise row. `dtype` is the user's `dtype=`, the requested loop type. Throws UFuncTypeError
/// (a TypeError) when the row has no loop for the operands, or when `casting` forbids a needed cast.
Loop resolve(Op op, std::span<const OperandType> operands, std::optional<DType> dtype = {}, Casting casting = Casting::same_kind);

/// The loop dtype T (in[0]) and result dtype of a reduction over `input`.
Loop resolve_reduce(Op op, DType input, std::optional<DType> dtype = {});

}  // namespace bc
