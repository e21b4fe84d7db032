#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/dtype.h"

namespace bc {

/// Every op of the engine: one enumerator a row, in the order of the row files.
enum class Op : uint16_t {
  leaf,      ///< memory that is there
  constant,  ///< one scalar, an argument of the kernel
  cast,      ///< a change of dtype
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
  user,         ///< a user's elementwise function, in C++
  reduce_user,  ///< a reduction with a user's way to join two values
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

/// What a reduction keeps while it runs.
enum class ReduceState : uint8_t {
#define BC_REDUCE_STATE(name, ...) name,
#include "primitives/reduce.def"
};
/// Its C++ type, in terms of T, the element's.
const char* state_type(ReduceState state);
/// Its bytes for elements of a loop dtype.
int state_bytes(ReduceState state, DType loop);

/// Whether a reduction is the highest or the lowest element.
enum class Extreme : int8_t { lowest = -1, none = 0, highest = 1 };

/// A row.
struct OpInfo {
  const char* name = "";
  OpKind kind = OpKind::structural;
  uint8_t nin = 0;
  DTypeSet set = 0;
  Signature signature = Signature::same;
  Result result = Result::SAME;
  const char* text = nullptr;  ///< elementwise: the expression in a, b, c, with T and R
  DTypeSet fast_set = 0;       ///< loop dtypes for which `fast_text` may stand in on the CPU
  const char* fast_text = nullptr;
  DTypeSet cuda_fast_set = 0;  ///< loop dtypes for which `cuda_fast_text` may stand in on CUDA
  const char* cuda_fast_text = nullptr;
  // Reductions
  Accumulate accumulate = Accumulate::same;
  ReduceState state = ReduceState::element;
  Extreme extreme = Extreme::none;
  const char* identity = nullptr;  ///< nullptr: none, an empty reduction is an error
  const char* map = nullptr;       ///< in a (of T) and i (the index along the reduced axes)
  const char* join = nullptr;      ///< in p, q
  const char* finish = nullptr;    ///< in p, n (how many were reduced) and ddof
};

const OpInfo& info(Op op);
/// Tells whether the result of a reduction may be known before all elements are seen: it chooses between two values.
bool may_be_known_early(const OpInfo& reduction, DType loop);
std::optional<Op> op_from_name(std::string_view name);

inline bool is_logical(Op op) { return op == Op::logical_and || op == Op::logical_or || op == Op::logical_xor || op == Op::logical_not; }

/// Rows that are reached through a ufunc's methods: add → reduce_sum. nullopt where NumPy's own reduce is a plain fold that no row covers.
std::optional<Op> reduction_of(Op ufunc);

/// The dtypes that a loop reads and writes.
struct Loop {
  DType in[3];
  DType out;
};

/// One operand of type resolution: a dtype, or a Python scalar that only lends its kind.
struct OperandType {
  DType dtype;
  Weak weak = Weak::none;
};

/// NumPy's type resolution (NEP 50) for an elementwise row. `dtype` is the user's `dtype=`, the loop type asked for.
/// Throws UFuncTypeError (a TypeError) when the row has no loop for the operands, or `casting` forbids the way to it.
Loop resolve(Op op, std::span<const OperandType> operands, std::optional<DType> dtype = {}, Casting casting = Casting::same_kind);

/// The loop dtype T (in[0]) and result dtype of a reduction over `input`.
Loop resolve_reduce(Op op, DType input, std::optional<DType> dtype = {});

}  // namespace bc
