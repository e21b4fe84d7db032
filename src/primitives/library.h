#pragma once
#include <vector>

#include "core/ref.h"
#include "core/scalar.h"
#include "primitives/library_op.h"
#include "primitives/ops.h"
#include "primitives/user_op.h"

/// The library ops: a class holds the arguments of each kind.
namespace bc {

/// Batched matrix product: inputs (batch…, m, k) and (batch…, k, n), leading axes already broadcast, both of the result's dtype.
struct MatmulExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::matmul;
  MatmulExtra() : LibraryExtra(kKind) { name = "matmul"; }
};

/// Rows for which the order of a tree of joins does not matter but for rounding: the same rows on every device.
inline bool associative(Op op) { return reduction_of(op).has_value(); }

/// accumulate: out[…, i, …] = op(out[…, i - 1, …], in[…, i, …]) along `axis`; `fold` keeps the last one only.
/// Associative rows run as blocks of a fixed size, so that the bits do not depend on the number of threads.
struct ScanExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::scan;
  Op op;
  int axis;
  bool fold;
  Ref<UserOp> join;  ///< a user's way to join two values, in the place of `op`
  ScanExtra(Op op_, int axis_, bool fold_) : LibraryExtra(kKind), op(op_), axis(axis_), fold(fold_) {
    name = fold ? "reduce" : "accumulate";
    key = static_cast<uint64_t>(op) << 16 | static_cast<uint64_t>(axis) << 1 | fold;
  }
  ScanExtra(Ref<UserOp> join_, int axis_) : LibraryExtra(kKind), op(Op::user), axis(axis_), fold(false), join(std::move(join_)) {
    name = join->name.c_str();
    key = join->id.lo ^ static_cast<uint64_t>(axis);
  }
};

/// reduceat: segment j of `axis` is [at[j], at[j + 1]) (the last one ends at the axis' end), or the one element at[j] where that is empty.
struct ReduceatExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::reduceat;
  Op op;
  int axis;
  std::vector<int64_t> at;
  ReduceatExtra(Op op_, int axis_, std::vector<int64_t> at_);
};

/// Row d of the (ndim, count) int64 result holds the coordinates along axis d of the input's true elements, in C order.
struct NonzeroExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::nonzero;
  NonzeroExtra() : LibraryExtra(kKind) { name = "nonzero"; }
};

/// The elements of inputs[0] where inputs[1] (bool, of the leading axes of it) is true, in C order.
struct CompressExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::compress;
  CompressExtra() : LibraryExtra(kKind) {
    name = "compress";
    moves_elements = true;
  }
};

/// In-place on the target: element x of the index space (all inputs have its shape) goes to Σ_d x[d] * stride(axis[d]) where axis[d] >= 0,
/// plus Σ_k wrap(index_k) * stride(index_axis[k]). Inputs: the values, then the indices (int64).
/// Op::leaf assigns, the last value wins; a binary row sets target = op(target, value) for every occurrence, in C order;
/// it runs in the value's dtype, and the target is cast there and back each time where it has another.
struct ScatterExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::scatter;
  Op op;
  Dims axis;        ///< the target's axis that axis d of the index space walks, or -1
  Dims index_axis;  ///< the target's axis that index k addresses
  ScatterExtra(Op op_, Dims axis_, Dims index_axis_);
};

/// The lines along the last axis in NumPy's order: NaN last, complex numbers by their real parts and then by their imaginary ones. Gives
/// the values, or with `places` where each came from (int64, stable). Values that compare equal come in the order of their bits: -0.0
/// before 0.0.
struct SortExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::sort;
  bool places;
  explicit SortExtra(bool places_) : LibraryExtra(kKind), places(places_) {
    name = places ? "argsort" : "sort";
    key = places;
  }
};

/// The lines along the last axis so that the element of each rank (ascending, distinct) stands where a sort would put it, what is not
/// greater before it and what is not less behind it.
struct PartitionExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::partition;
  bool places;
  std::vector<int64_t> ranks;
  PartitionExtra(bool places_, std::vector<int64_t> ranks_);
};

/// The elements that a sort of each line along the last axis would put at the given ranks (ascending, distinct): (…, n) to (…, ranks).
struct SelectExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::select;
  std::vector<int64_t> ranks;
  explicit SelectExtra(std::vector<int64_t> ranks_);
};

/// inputs[0] is sorted (1-d), inputs[1] holds values of its dtype: how many sorted elements are less than each (`right`: not greater),
/// int64.
struct SearchsortedExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::searchsorted;
  bool right;
  explicit SearchsortedExtra(bool right_) : LibraryExtra(kKind), right(right_) {
    name = "searchsorted";
    key = right;
  }
};

/// What a transform takes and gives: complex to complex, real to the half of its spectrum that the other half follows from, that half back
/// to real numbers, real numbers to their whole spectrum, and the cosine and sine transforms of real numbers.
enum class FftKind : uint8_t { c2c, r2c, c2r, full, dct, dst };

/// A discrete Fourier, cosine or sine transform along `axes`, which are distinct, in float32, float64, complex64 or complex128. What it
/// gives is multiplied by `scale`. The last of the axes is the one that is half of a spectrum.
struct FftExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::fft;
  FftKind transform;
  bool forward;     ///< the sign of the exponent: negative
  bool orthogonal;  ///< dct, dst: the factors that make the matrix orthogonal
  int type;         ///< of a dct or dst, 1 to 4
  int threads;      ///< the most that the CPU uses; 0: all
  double scale;
  Dims axes;
  FftExtra(FftKind transform_, bool forward_, Dims axes_, double scale_, int threads_ = 0, int type_ = 0, bool orthogonal_ = false);
};

/// What a device keeps to transform again what it has transformed before. Plans that were not used for longest go first.
class FftPlanCache {
 public:
  struct Facts {
    int64_t plans;
    int64_t bytes;       ///< of memory that the plans take, as far as it is known
    int64_t most_plans;  ///< 0: none is kept
    int64_t most_bytes;  ///< -1: not limited
  };
  virtual Facts facts() = 0;
  virtual void clear() = 0;
  /// Throws ErrorKind::Value for bytes where they are not known.
  virtual void limit(int64_t most_plans, int64_t most_bytes) = 0;

 protected:
  ~FftPlanCache() = default;
};

/// Tells where the devices of one type have theirs. A backend registers it beside the body.
void register_fft_plans(DeviceType type, FftPlanCache& (*cache)(Device device));
/// Throws ErrorKind::NotImplemented where the device has none.
FftPlanCache& fft_plans(Device device);

}  // namespace bc
