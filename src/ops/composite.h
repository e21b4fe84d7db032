#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/array.h"

/// Ops composed of other ops, so that fusion and derivatives need no further code. Semantics, dtypes, shapes and errors are NumPy 2's.
namespace bc {

using Axes = std::vector<int64_t>;    ///< may be negative
using Axis = std::optional<int64_t>;  ///< nullopt: NumPy's axis=None
using Arrays = std::span<const Array>;
using ArrayPair = std::pair<Array, Array>;

// ---- Creation (creation.cpp) -----------------------------------------------------------------------------------------------------

Array zeros(const Dims& shape, DType dtype, Device device);
Array ones(const Dims& shape, DType dtype, Device device);
/// New arrays with `a`'s shape and device, and dtype unless one is given.
Array empty_like(const Array& a, std::optional<DType> dtype = {}, std::optional<Dims> shape = {});
Array zeros_like(const Array& a, std::optional<DType> dtype = {}, std::optional<Dims> shape = {});
Array ones_like(const Array& a, std::optional<DType> dtype = {}, std::optional<Dims> shape = {});
Array full_like(const Array& a, const Arg& value, std::optional<DType> dtype = {}, std::optional<Dims> shape = {});
/// The scalar as a 0-d array of its default dtype, or the array itself.
Array as_array(const Arg& a, Device device);
/// As stored(), where NumPy casts a Python integer as an element of an array: 300 is 44 as an int8.
Array stored_by_cast(const Arg& value, DType dtype, Device device);

/// `num` values from start to stop; they may be arrays, whose axes come after (or around) `axis`. *step gets the spacing when wanted.
Array linspace(const Arg& start, const Arg& stop, int64_t num = 50, bool endpoint = true, std::optional<DType> dtype = {}, int64_t axis = 0,
               Device device = default_device(), Array* step = nullptr);
Array logspace(const Arg& start, const Arg& stop, int64_t num = 50, bool endpoint = true, const Arg& base = Arg(10.0),
               std::optional<DType> dtype = {}, int64_t axis = 0, Device device = default_device());
Array geomspace(const Arg& start, const Arg& stop, int64_t num = 50, bool endpoint = true, std::optional<DType> dtype = {},
                int64_t axis = 0, Device device = default_device());
Array eye(int64_t n, std::optional<int64_t> m = {}, int64_t k = 0, DType dtype = DType::f64, Device device = default_device());
Array identity(int64_t n, DType dtype = DType::f64, Device device = default_device());
/// 1-d: a square matrix with `a` on its k-th diagonal; 2-d: a copy of the k-th diagonal.
Array diag(const Array& a, int64_t k = 0);
Array diagflat(const Array& a, int64_t k = 0);
/// A view of a diagonal, as the last axis.
Array diagonal(const Array& a, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1);
Array trace(const Array& a, int64_t offset = 0, int64_t axis1 = 0, int64_t axis2 = 1, std::optional<DType> dtype = {}, Array out = {});
Array tri(int64_t n, std::optional<int64_t> m = {}, int64_t k = 0, DType dtype = DType::f64, Device device = default_device());
Array tril(const Array& a, int64_t k = 0);
Array triu(const Array& a, int64_t k = 0);
Array vander(const Array& x, std::optional<int64_t> n = {}, bool increasing = false);
/// `indexing` is "xy" or "ij".
std::vector<Array> meshgrid(Arrays arrays, std::string_view indexing = "xy", bool sparse = false, bool copy = true);
/// Shape (N, d0, d1, …).
Array indices(const Dims& shape, DType dtype = DType::i64, Device device = default_device());
/// One array an axis, of extent 1 along the others.
std::vector<Array> indices_sparse(const Dims& shape, DType dtype = DType::i64, Device device = default_device());

// ---- Random numbers: Philox 4x32-10, the same values on every device. `counter` is the index of the first number in the seed's stream.

/// In [0, 1), float32 or float64 (float16, bfloat16 where asked).
Array random_uniform(uint64_t seed, uint64_t counter, const Dims& shape, DType dtype = DType::f64, Device device = default_device());
Array random_standard_normal(uint64_t seed, uint64_t counter, const Dims& shape, DType dtype = DType::f64,
                             Device device = default_device());
/// In [low, high) (or [low, high] with `endpoint`), any integer dtype or bool.
Array random_integers(uint64_t seed, uint64_t counter, const Scalar& low, const Scalar& high, const Dims& shape, DType dtype = DType::i64,
                      bool endpoint = false, Device device = default_device());

// ---- Joining, splitting, rearranging (joining.cpp) --------------------------------------------------------------------------------

/// axis nullopt: the operands are flattened first.
Array concatenate(Arrays arrays, Axis axis = 0, std::optional<DType> dtype = {}, Casting casting = Casting::same_kind, Array out = {});
Array stack(Arrays arrays, int64_t axis = 0, std::optional<DType> dtype = {}, Casting casting = Casting::same_kind, Array out = {});
Array hstack(Arrays arrays, std::optional<DType> dtype = {}, Casting casting = Casting::same_kind);
Array vstack(Arrays arrays, std::optional<DType> dtype = {}, Casting casting = Casting::same_kind);
Array dstack(Arrays arrays);
Array column_stack(Arrays arrays);
Array append(const Array& a, const Array& values, Axis axis = {});
/// Views. `split` into equal sections, `array_split` into nearly equal ones; the list form cuts before each index.
std::vector<Array> split(const Array& a, int64_t sections, int64_t axis = 0);
std::vector<Array> split(const Array& a, std::span<const int64_t> cuts, int64_t axis = 0);
std::vector<Array> array_split(const Array& a, int64_t sections, int64_t axis = 0);
std::vector<Array> array_split(const Array& a, std::span<const int64_t> cuts, int64_t axis = 0);
std::vector<Array> unstack(const Array& a, int64_t axis = 0);
Array repeat(const Array& a, int64_t count, Axis axis = {});
Array tile(const Array& a, const Dims& reps);
Array flip(const Array& a, const std::optional<Axes>& axes = {});  ///< a view; nullopt: all axes
Array rot90(const Array& a, int64_t k = 1, int64_t axis1 = 0, int64_t axis2 = 1);
/// axes nullopt: rolls the flattened array. One shift serves several axes and the other way round.
Array roll(const Array& a, const Axes& shifts, const std::optional<Axes>& axes = {});
Array moveaxis(const Array& a, const Axes& source, const Axes& destination);
Array swapaxes(const Array& a, int64_t axis1, int64_t axis2);
Array rollaxis(const Array& a, int64_t axis, int64_t start = 0);
Array matrix_transpose(const Array& a);
Array squeeze(const Array& a, const std::optional<Axes>& axes = {});
Array expand_dims(const Array& a, const Axes& axes);
Array atleast_1d(const Array& a);
Array atleast_2d(const Array& a);
Array atleast_3d(const Array& a);
Array ravel(const Array& a, char order = 'C');       ///< a view where it can be; order 'C' or 'F' ('A' and 'K' as NumPy resolves them)
Array flatten(const Array& a, char order = 'C');     ///< a copy
Array contiguous_ravel(const Array& a, char order);  ///< as NumPy's ravel: elements that do not lie side by side are copied
/// reshape with order 'F'.
Array reshape_fortran(const Array& a, const Dims& shape);
std::vector<Array> broadcast_arrays(Arrays arrays);
Array resize(const Array& a, const Dims& shape);  ///< np.resize: repeats the elements to fill

// ---- Positions (insertion.cpp) ----------------------------------------------------------------------------------------------------

/// `counts` broadcasts to the axis (synchronises: the result's extent is their sum).
Array repeat(const Array& a, const Array& counts, Axis axis = {});
/// `at`: positions, or a mask of what goes.
Array delete_(const Array& a, std::span<const int64_t> at, Axis axis = {});
Array delete_(const Array& a, const Array& at, Axis axis = {});
/// Without `count` neighbours from `start` on.
Array delete_(const Array& a, int64_t start, int64_t count, Axis axis = {});
/// `single`: the place is a number, not a list of one.
Array insert(const Array& a, std::span<const int64_t> at, const Array& values, Axis axis = {}, bool single = false);
Array insert(const Array& a, const Array& at, const Array& values, Axis axis = {});

// ---- Elementwise (composite.cpp) --------------------------------------------------------------------------------------------------

/// clip(a, lo, hi); a missing bound is no bound.
Array clip(const Arg& a, const std::optional<Arg>& low, const std::optional<Arg>& high, const UfuncOptions& options = {});
Array round(const Array& a, int64_t decimals = 0, Array out = {});
Array isclose(const Arg& a, const Arg& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// The next three read the result (they synchronise).
bool allclose(const Arg& a, const Arg& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
bool array_equal(const Array& a, const Array& b, bool equal_nan = false);
bool array_equiv(const Array& a, const Array& b);
/// (floor_divide, remainder); out1/out2 as UfuncOptions::out. `options.out` is not read.
ArrayPair divmod(const Arg& a, const Arg& b, const UfuncOptions& options = {}, Array out1 = {}, Array out2 = {});
ArrayPair modf(const Arg& a, const UfuncOptions& options = {}, Array out1 = {}, Array out2 = {});   ///< (fraction, integer)
ArrayPair frexp(const Arg& a, const UfuncOptions& options = {}, Array out1 = {}, Array out2 = {});  ///< (mantissa, int32 exponent)
Array nan_to_num(const Array& a, const Arg& nan = Arg(0.0), const std::optional<Arg>& posinf = {}, const std::optional<Arg>& neginf = {});
Array select(Arrays conditions, Arrays choices, const Arg& otherwise = Arg(int64_t{0}));
Array iscomplex(const Array& a);
Array isreal(const Array& a);
/// Complex angle; degrees when asked.
Array angle(const Array& a, bool degrees = false);
Array cross(const Array& a, const Array& b, int64_t axisa = -1, int64_t axisb = -1, int64_t axisc = -1);

// ---- Differences (differences.cpp) ------------------------------------------------------------------------------------------------

Array diff(const Array& a, int64_t n = 1, int64_t axis = -1, const std::optional<Array>& prepend = {},
           const std::optional<Array>& append = {});
Array ediff1d(const Array& a, const std::optional<Array>& to_end = {}, const std::optional<Array>& to_begin = {});
/// Trapezoidal rule; x wins over dx.
Array trapezoid(const Array& y, const std::optional<Array>& x = {}, const Arg& dx = Arg(1.0), int64_t axis = -1);
/// A number, or coordinates along an axis. `seen`: they come from host memory, and are looked at; if they lie evenly, they are one number.
struct Spacing {
  Arg value;
  bool seen = false;
};
/// The derivative along each axis: differences of second order inside, of `edge_order` (1 or 2) at the ends. `spacings`: none, one number,
/// or one for each axis.
std::vector<Array> gradient(const Array& f, std::span<const Spacing> spacings, const std::optional<Axes>& axes = {},
                            int64_t edge_order = 1);
/// Angles without jumps of more than half a period (or of `discont`) between neighbours.
Array unwrap(const Array& p, const std::optional<Arg>& discont, int64_t axis, const Arg& period);

// ---- Statistics (statistics.cpp) --------------------------------------------------------------------------------------------------

/// ReduceOptions hold axes, keepdims, dtype, initial, where, out and ddof, as far as the NumPy function takes them.
Array ptp(const Array& a, const ReduceOptions& options = {});
/// The weighted average and the sum of weights (broadcast to the average's shape). Without weights: mean and count.
ArrayPair average(const Array& a, const std::optional<Axes>& axes = {}, const std::optional<Array>& weights = {}, bool keepdims = false);
Array nansum(const Array& a, const ReduceOptions& options = {});
Array nanprod(const Array& a, const ReduceOptions& options = {});
Array nanmax(const Array& a, const ReduceOptions& options = {});
Array nanmin(const Array& a, const ReduceOptions& options = {});
Array nanmean(const Array& a, const ReduceOptions& options = {});
Array nanvar(const Array& a, const ReduceOptions& options = {});
Array nanstd(const Array& a, const ReduceOptions& options = {});
/// Raise ValueError("All-NaN slice encountered") where a slice holds only NaN (which looks).
Array nanargmax(const Array& a, Axis axis = {}, bool keepdims = false, Array out = {});
Array nanargmin(const Array& a, Axis axis = {}, bool keepdims = false, Array out = {});
/// Variance and standard deviation about a mean that the caller has (NumPy's `mean=`); std when `root`.
Array var_about(const Array& a, const Arg& mean, const ReduceOptions& options = {}, bool root = false);
/// Covariance and correlation matrices; rows are variables when `rowvar`.
Array cov(const Array& m, const std::optional<Array>& y = {}, bool rowvar = true, bool bias = false, std::optional<double> ddof = {});
Array corrcoef(const Array& x, const std::optional<Array>& y = {}, bool rowvar = true);
/// NumPy's order of a norm: None, a number (inf, -inf, 0, 1, 2 …), "fro" or "nuc".
struct NormOrder {
  enum class Kind : uint8_t { none, number, frobenius, nuclear, unknown };
  Kind kind = Kind::none;
  double number = 0;
  std::string name;  ///< as it was given, for errors

  NormOrder() = default;
  NormOrder(double p) : kind(Kind::number), number(p) {}
};
/// linalg.norm: of vectors along one axis, of matrices in two, or with neither `ord` nor axes the 2-norm of all elements. The matrix norms
/// 2, -2 and nuclear are computed from singular values, and raise LinAlgError if these do not converge.
Array norm(const Array& a, const NormOrder& ord = {}, const std::optional<Axes>& axes = {}, bool keepdims = false);
/// A vector norm along one or more axes.
Array vector_norm(const Array& a, const NormOrder& ord = 2.0, const std::optional<Axes>& axes = {}, bool keepdims = false);

// ---- Methods of ufuncs (methods.cpp) ----------------------------------------------------------------------------------------------

/// ufunc.reduce for every binary row: the reduction row where there is one, else a left fold along the axis. NumPy's default is axis 0:
/// pass it (ReduceOptions::axes nullopt means all axes, which only reorderable rows allow).
Array ufunc_reduce(Op op, const Array& a, const ReduceOptions& options);
/// ufunc.accumulate along one axis.
Array accumulate(Op op, const Array& a, int64_t axis = 0, std::optional<DType> dtype = {}, Array out = {});
Array cumsum(const Array& a, Axis axis = {}, std::optional<DType> dtype = {}, Array out = {});
Array cumprod(const Array& a, Axis axis = {}, std::optional<DType> dtype = {}, Array out = {});
Array nancumsum(const Array& a, Axis axis = {}, std::optional<DType> dtype = {}, Array out = {});
Array nancumprod(const Array& a, Axis axis = {}, std::optional<DType> dtype = {}, Array out = {});
Array reduceat(Op op, const Array& a, const Array& indices, int64_t axis = 0, std::optional<DType> dtype = {}, Array out = {});
/// ufunc.at(a, indices, b): unbuffered, every occurrence of a repeated index counts. `b` is empty for unary rows.
void ufunc_at(Op op, const Array& a, std::span<const IndexItem> items, const std::optional<Arg>& b = {});

// ---- Products (products.cpp) ------------------------------------------------------------------------------------------------------

/// NumPy's matmul: 1-d operands are promoted, leading axes broadcast.
Array matmul(const Array& a, const Array& b, std::optional<DType> dtype = {}, Array out = {}, Casting casting = Casting::same_kind);
Array dot(const Array& a, const Array& b, Array out = {});
Array vdot(const Array& a, const Array& b);
Array inner(const Array& a, const Array& b);
Array outer(const Array& a, const Array& b, Array out = {});
/// Sum of products over the last `n` axes of a and the first `n` of b, or over the named axes.
Array tensordot(const Array& a, const Array& b, int64_t n = 2);
Array tensordot(const Array& a, const Array& b, const Axes& a_axes, const Axes& b_axes);
Array kron(const Array& a, const Array& b);
/// vecdot, matvec, vecmat: NumPy's generalised ufuncs over the last axes.
Array vecdot(const Array& a, const Array& b, int64_t axis = -1);
Array matvec(const Array& a, const Array& b);
Array vecmat(const Array& a, const Array& b);

// ---- Selection (selection.cpp) ----------------------------------------------------------------------------------------------------

/// mode is "raise", "wrap" or "clip".
Array take(const Array& a, const Array& indices, Axis axis = {}, std::string_view mode = "raise", Array out = {});
Array take_along_axis(const Array& a, const Array& indices, Axis axis = -1);
void put_along_axis(const Array& a, const Array& indices, const Arg& values, Axis axis = -1);
void put(const Array& a, const Array& indices, const Arg& values, std::string_view mode = "raise");
void putmask(const Array& a, const Array& mask, const Array& values);
Array compress(const Array& condition, const Array& a, Axis axis = {}, Array out = {});
Array extract(const Array& condition, const Array& a);
Array choose(const Array& a, Arrays choices, std::string_view mode = "raise");
Array argwhere(const Array& a);
Array flatnonzero(const Array& a);
void fill_diagonal(const Array& a, const Arg& value, bool wrap = false);

}  // namespace bc
