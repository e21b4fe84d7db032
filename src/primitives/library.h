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

/// Rows whose operation is associative except for rounding, so that elements may be joined in a tree. The same rows on every device.
inline bool associative(Op op) { return reduction_of(op).has_value(); }

/// accumulate: out[…, i, …] = op(out[…, i - 1, …], in[…, i, …]) along `axis`; `fold` keeps only the last element. Associative rows run as
/// blocks of a fixed size, so that the bits do not depend on the number of threads.
struct ScanExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::scan;
  Op op;
  int axis;
  bool fold;
  Ref<UserOp> join;  ///< a user's function that joins two values, used instead of `op`
  ScanExtra(Op op_, int axis_, bool fold_) : LibraryExtra(kKind), op(op_), axis(axis_), fold(fold_) {
    name = fold ? "reduce" : "accumulate";
    key = static_cast<uint64_t>(op) << 16 | static_cast<uint64_t>(axis) << 1 | fold;
  }
  ScanExtra(Ref<UserOp> join_, int axis_) : LibraryExtra(kKind), op(Op::user), axis(axis_), fold(false), join(std::move(join_)) {
    name = join->name.c_str();
    key = join->id.lo ^ static_cast<uint64_t>(axis);
  }
};

/// reduceat: segment j of `axis` is [at[j], at[j + 1]) (the last one ends at the axis' end), or the single element at[j] where that segment
/// is empty.
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

/// The elements of inputs[0] where inputs[1] is true, in C order. inputs[1] is bool and has the shape of the leading axes of inputs[0].
struct CompressExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::compress;
  CompressExtra() : LibraryExtra(kKind) {
    name = "compress";
    moves_elements = true;
  }
};

/// In-place on the target: element x of the index space (all inputs have its shape) goes to Σ_d x[d] * stride(axis[d]) where axis[d] >= 0,
/// plus Σ_k wrap(index_k) * stride(index_axis[k]). Inputs: the values, then the indices (int64). Op::leaf assigns, the last value wins; a
/// binary row sets target = op(target, value) for every occurrence, in C order; it runs in the value's dtype, and where the target has
/// another dtype, the target's element is cast to it and back each time.
struct ScatterExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::scatter;
  Op op;
  Dims axis;        ///< the target's axis that axis d of the index space walks, or -1
  Dims index_axis;  ///< the target's axis that index k addresses
  ScatterExtra(Op op_, Dims axis_, Dims index_axis_);
};

/// The lines along the last axis in NumPy's order: NaN last, complex numbers by their real parts and then by their imaginary ones. The
/// result is the sorted values, or with `places` the index that each value came from (int64, stable). Values that compare equal are ordered
/// by their bits: -0.0 before 0.0.
struct SortExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::sort;
  bool places;
  explicit SortExtra(bool places_) : LibraryExtra(kKind), places(places_) {
    name = places ? "argsort" : "sort";
    key = places;
  }
};

/// Partitions each line along the last axis: the element of each rank (ascending, distinct) is where a sort would put it, with no greater
/// element before it and no smaller element after it.
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

/// Input and output of a transform: complex to complex; real to the non-redundant half of its spectrum; that half back to real; real to its
/// full spectrum; and the cosine and sine transforms of real input.
enum class FftKind : uint8_t { c2c, r2c, c2r, full, dct, dst };

/// A discrete Fourier, cosine or sine transform along `axes`, which are distinct, in float32, float64, complex64 or complex128. The result
/// is multiplied by `scale`. A half spectrum is along the last of the axes.
struct FftExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::fft;
  FftKind transform;
  bool forward;     ///< true: the exponent's sign is negative
  bool orthogonal;  ///< dct, dst: scales the result so that the transform's matrix is orthogonal
  int type;         ///< of a dct or dst, 1 to 4
  int threads;      ///< the maximum number of CPU threads; 0: all
  double scale;
  Dims axes;
  FftExtra(FftKind transform_, bool forward_, Dims axes_, double scale_, int threads_ = 0, int type_ = 0, bool orthogonal_ = false);
};

/// A device's cache of FFT plans. The least recently used plans are removed first.
class FftPlanCache {
 public:
  struct Facts {
    int64_t plans;
    int64_t bytes;       ///< memory of the plans, as far as it is known
    int64_t most_plans;  ///< 0: no plan is kept
    int64_t most_bytes;  ///< -1: no limit
  };
  virtual Facts facts() = 0;
  virtual void clear() = 0;
  /// Throws ErrorKind::Value for a limit of bytes where the plans' memory is not known.
  virtual void limit(int64_t most_plans, int64_t most_bytes) = 0;

 protected:
  ~FftPlanCache() = default;
};

/// Sets the function that returns a device's plan cache, for one device type. A backend registers it together with its body.
void register_fft_plans(DeviceType type, FftPlanCache& (*cache)(Device device));
/// Throws ErrorKind::NotImplemented where the device has no plan cache.
FftPlanCache& fft_plans(Device device);

}  // namespace bc
