// The interface between the loops (which include the device library) and the interpreter (which includes the engine). The two use some
// names with different meanings, so neither includes the other: they communicate by tables of function pointers.
#pragma once
#include <cstdint>

#include "core/dtype_sets.h"

namespace bc::tier0 {

/// Elementwise rows, in the order of their file.
enum class Row : int {
#define BC_UNARY(name, ...) name,
#define BC_BINARY(name, ...) name,
#define BC_TERNARY(name, ...) name,
#define BC_FAST(...)
#include "primitives/elementwise.def"
  count_
};
/// Reduction rows, in the order of their file.
enum class ReduceRow : int {
#define BC_REDUCE(name, ...) name,
#include "primitives/reduce.def"
  count_
};
inline constexpr int kRows = static_cast<int>(Row::count_);
inline constexpr int kReduceRows = static_cast<int>(ReduceRow::count_);
inline constexpr int kTypes = dtype_sets::kTypes;  ///< numbers of bc::DType

/// out[i] = row(a[i], b[i], c[i]) for i in [0, n). `out` may be an operand that the caller no longer needs, except in rows with a fast
/// form.
using Loop = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);
using LoopRow = Loop[kTypes];

/// A reduction row in one dtype T with running value S.
struct Reduction {
  int state_size = 0;  ///< sizeof(S), at most kMaxState
  /// *state = the identity (S() where there is none).
  void (*init)(void* state) = nullptr;
  /// *state = the state of n >= 1 elements, the first at index i0 of its row: lanes and a tree over them.
  void (*block)(const void* x, int64_t n, int64_t i0, void* state) = nullptr;
  /// *state = the state of elements [lo, hi), at least one, of a row that begins at x, as blocks of kReduceBlock through the tree. With
  /// `may_leave` it stops reading when no element can change the state any more.
  void (*row)(const void* x, int64_t lo, int64_t hi, bool may_leave, void* state) = nullptr;
  /// *state = the state of the products of n >= 1 elements, as blocks through the tree; nullptr but for sums of float32 and float64.
  void (*products)(const void* a, const void* b, int64_t n, void* state) = nullptr;
  /// Tells whether no later element can change the state; nullptr if a later element always can.
  bool (*decided)(const void* state) = nullptr;
  /// into[j] = join(into[j], from[j]).
  void (*join)(void* into, const void* from, int64_t n) = nullptr;
  /// Adds `rows` rows of n elements, `stride` elements apart, the first at index r, to the runs of n columns, which `end` reads. With
  /// `start` the first row starts the runs.
  void (*fold)(void* run, const void* x, int64_t stride, int64_t r, int64_t rows, int64_t n, bool start) = nullptr;
  /// Merges the runs of `rows` rows from row r on into the states of n columns: top[j] = state(run[j]) if `first`, else join(top[j],
  /// state(run[j])).
  void (*end)(void* run, int64_t r, int64_t rows, int64_t n, void* top, bool first) = nullptr;
  /// out[j] = finish(state[j], count, ddof).
  void (*finish)(const void* state, double count, double ddof, void* out, int64_t n) = nullptr;
};
using ReductionRow = Reduction[kTypes];
inline constexpr int kMaxState = 48;

/// Copies of elements of one size.
struct Moves {
  void (*fill)(void* out, const void* value, int64_t n);
  /// out[i] = in[i * step]
  void (*copy)(void* out, const void* in, int64_t step, int64_t n);
  /// out[i] = mask[i] ? in[i * step] : 0; does not read where the mask is false
  void (*copy_if)(void* out, const void* in, int64_t step, const bool* mask, int64_t n);
  /// out[i] = in[i * step + at[i]]; with a mask, 0 where it is false
  void (*take)(void* out, const void* in, int64_t step, const int64_t* at, const bool* mask, int64_t n);
  /// out[r * columns + c] = in[r + c * step]
  void (*transpose)(void* out, const void* in, int64_t step, int64_t rows, int64_t columns);
  /// out[i * step] = in[i]
  void (*spread)(void* out, int64_t step, const void* in, int64_t n);
  /// Like spread, but only where the mask is true.
  void (*spread_if)(void* out, int64_t step, const void* in, const bool* mask, int64_t n);
};
/// By the logarithm of the size: 1, 2, 4, 8 and 16 bytes.
extern const Moves kMoves[5];

/// out[i] = first + i * step
void count_up(int64_t* out, int64_t first, int64_t step, int64_t n);
/// out[i] = before[i] + (index[i] by NumPy's rule) * stride; where the mask is false, index 0 is used. `before` and `mask` may be nullptr.
void add_index(int64_t* out, const int64_t* before, const int64_t* index, const bool* mask, int64_t extent, int64_t stride, uint32_t* error,
               int64_t n);
/// out[i] = before[i] and c[i] == lower + k * step for some 0 <= k < count. `before` may be nullptr.
void test_inside(bool* out, const bool* before, const int64_t* c, int64_t lower, int64_t count, int64_t step, int64_t n);

// Each function fills in the rows that its file builds.
void fill_arithmetic(LoopRow* rows);
void fill_parts(LoopRow* rows);
void fill_special(LoopRow* rows);
void fill_logic(LoopRow* rows);
void fill_choice(LoopRow* rows);
void fill_casts(LoopRow* rows);  ///< rows[from][to]
void fill_sums(ReductionRow* rows);
void fill_extremes(ReductionRow* rows);
void fill_folds(ReductionRow* rows);

// Files with compute-bound loops are built for two levels of processors (core/cpu_level.h): with vectors of twice the width they take half
// the time and give the same bits.
namespace v3 {
void fill_remainder(LoopRow* rows);
void fill_exponential(LoopRow* rows);
void fill_trigonometric(LoopRow* rows);
void fill_hyperbolic(LoopRow* rows);
}  // namespace v3
namespace v4 {
void fill_remainder(LoopRow* rows);
void fill_exponential(LoopRow* rows);
void fill_trigonometric(LoopRow* rows);
void fill_hyperbolic(LoopRow* rows);
}  // namespace v4

}  // namespace bc::tier0
