/// Discrete Fourier, cosine and sine transforms for C++, under NumPy's and SciPy's names.
///
/// float32 and complex64 compute in single precision, float16 and bfloat16 as float32, float64 and complex128 in double precision, integers
/// and booleans as float64. A transform of any length takes O(n log n) operations: on the CPU DUCC's FFT (mixed radix, and Bluestein's
/// algorithm for large prime factors) on the engine's threads, on CUDA cuFFT; plans are cached. Transforms stay pending until a value is
/// read.
///
/// `n` and `s` are numbers of points: input is truncated to them, or padded with zeros. Axes may be negative and must be distinct.
/// `scaling` says which direction divides by the number of points. Every error is a std::runtime_error: no points to transform, an axis out
/// of range, complex input where real input is expected.
///
/// In the examples `bw` is the namespace broadcloth, and near(x, values) tells whether the elements of x are these numbers to 7 digits.
#pragma once
#include <optional>
#include <utility>

#include <broadcloth/broadcloth.h>

namespace broadcloth::fft {

/// Which direction divides by the number of points: the inverse one, both by its root, or the forward one.
enum class scaling : uint8_t { backward, ortho, forward };

// ---- One axis

/// The discrete Fourier transform along an axis, complex: element k is the sum of a[j] exp(-2 pi i j k / n).
/// @param a  real or complex; of real input only half of the work is done
/// @param n  the number of points; the axis' extent unless given
/// @code
/// const bw::array y = bw::fft::fft(bw::from(std::vector<double>{0, 1, 0, 0}));
/// assert(near(bw::apply("real", {y}), {1, 0, -1, 0}) && near(bw::apply("imag", {y}), {0, -1, 0, 1}));
/// @endcode
array fft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, scaling norm = scaling::backward);
/// The inverse of fft().
/// @code
/// assert(near(bw::fft::ifft(bw::fft::fft(bw::arange(0, 5))), {0, 1, 2, 3, 4}));
/// @endcode
array ifft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, scaling norm = scaling::backward);
/// The transform of real input: its n / 2 + 1 non-negative frequencies. The others are their conjugates.
/// @throws std::runtime_error  `a` is complex.
/// @code
/// assert(near(bw::fft::rfft(bw::from(std::vector<double>{1, 0, 0, 0})), {1, 1, 1}));
/// @endcode
array rfft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, scaling norm = scaling::backward);
/// The inverse of rfft(): n real numbers from n / 2 + 1 frequencies; for m frequencies n is 2 (m - 1) unless given.
/// @code
/// assert(near(bw::fft::irfft(bw::fft::rfft(bw::arange(0, 5)), 5), {0, 1, 2, 3, 4}));
/// @endcode
array irfft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, scaling norm = scaling::backward);
/// The transform of a signal with Hermitian symmetry, whose spectrum is real; `a` is the half of the signal from time zero on.
/// @code
/// assert(near(bw::fft::hfft(bw::from(std::vector<double>{1, 2, 1})), {6, 0, -2, 0}));
/// @endcode
array hfft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, scaling norm = scaling::backward);
/// The inverse of hfft().
/// @code
/// assert(near(bw::fft::ihfft(bw::from(std::vector<double>{6, 0, -2, 0})), {1, 2, 1}));
/// @endcode
array ihfft(const array& a, std::optional<int64_t> n = {}, int64_t axis = -1, scaling norm = scaling::backward);

// ---- Several axes: unless `axes` are given, the last axes, as many as `s` has, or all axes

/// The discrete Fourier transform over several axes.
/// @param s     the number of points of each axis
/// @param axes  as many as `s` has
/// @code
/// assert(near(bw::fft::fftn(bw::ones({2, 2})), {4, 0, 0, 0}));
/// @endcode
array fftn(const array& a, std::optional<shape_t> s = {}, std::optional<shape_t> axes = {}, scaling norm = scaling::backward);
/// The inverse of fftn().
/// @code
/// assert(near(bw::fft::ifftn(bw::fft::fftn(bw::arange(0, 6).reshape({2, 3}))), {0, 1, 2, 3, 4, 5}));
/// @endcode
array ifftn(const array& a, std::optional<shape_t> s = {}, std::optional<shape_t> axes = {}, scaling norm = scaling::backward);
/// The transform of real input over several axes; the result has the n / 2 + 1 non-negative frequencies along the last of them.
/// @code
/// assert((bw::fft::rfftn(bw::ones({2, 4})).shape() == bw::shape_t{2, 3}));
/// @endcode
array rfftn(const array& a, std::optional<shape_t> s = {}, std::optional<shape_t> axes = {}, scaling norm = scaling::backward);
/// The inverse of rfftn(). The last of `s` is the number of real points; for m frequencies it is 2 (m - 1) unless given.
/// @code
/// assert(near(bw::fft::irfftn(bw::fft::rfftn(bw::arange(0, 8).reshape({2, 4}))), {0, 1, 2, 3, 4, 5, 6, 7}));
/// @endcode
array irfftn(const array& a, std::optional<shape_t> s = {}, std::optional<shape_t> axes = {}, scaling norm = scaling::backward);

/// fftn() over the last two axes.
/// @code
/// const bw::array a = bw::arange(0, 6).reshape({3, 2});
/// assert(near(bw::fft::ifft2(bw::fft::fft2(a)), {0, 1, 2, 3, 4, 5}) && near(bw::fft::irfft2(bw::fft::rfft2(a)), {0, 1, 2, 3, 4, 5}));
/// @endcode
inline array fft2(const array& a, std::optional<shape_t> s = {}, scaling norm = scaling::backward) {
  return fftn(a, std::move(s), shape_t{-2, -1}, norm);
}
/// The inverse of fft2().
inline array ifft2(const array& a, std::optional<shape_t> s = {}, scaling norm = scaling::backward) {
  return ifftn(a, std::move(s), shape_t{-2, -1}, norm);
}
/// rfftn() over the last two axes.
inline array rfft2(const array& a, std::optional<shape_t> s = {}, scaling norm = scaling::backward) {
  return rfftn(a, std::move(s), shape_t{-2, -1}, norm);
}
/// The inverse of rfft2().
inline array irfft2(const array& a, std::optional<shape_t> s = {}, scaling norm = scaling::backward) {
  return irfftn(a, std::move(s), shape_t{-2, -1}, norm);
}

// ---- Cosine and sine transforms (SciPy's)

/// The options of a cosine or sine transform along one axis. Its type, 1 to 4, is a separate parameter.
struct real_options {
  std::optional<int64_t> n = {};  ///< the number of points; the axis' extent unless given
  int64_t axis = -1;
  scaling norm = scaling::backward;
  std::optional<bool> orthogonalize = {};  ///< whether the matrix is made orthogonal; unless given, only with scaling::ortho
};
/// The discrete cosine transform along an axis, of type 2 by default: twice the sum of a[j] cos(pi k (2 j + 1) / (2 n)). The real and
/// imaginary parts of a complex array are transformed separately.
/// @throws std::runtime_error  the type is not 1 to 4, or type 1 of less than two points.
/// @code
/// assert(near(bw::fft::dct(bw::ones({4})), {8, 0, 0, 0}));
/// @endcode
array dct(const array& a, int type = 2, const real_options& options = {});
/// The inverse of dct().
/// @code
/// for (int type = 1; type <= 4; ++type) assert(near(bw::fft::idct(bw::fft::dct(bw::arange(0, 4), type), type), {0, 1, 2, 3}));
/// @endcode
array idct(const array& a, int type = 2, const real_options& options = {});
/// The discrete sine transform along an axis, of type 2 by default.
/// @code
/// assert(near(bw::fft::dst(bw::from(std::vector<double>{1, -1})), {0, 4}));
/// @endcode
array dst(const array& a, int type = 2, const real_options& options = {});
/// The inverse of dst().
/// @code
/// for (int type = 1; type <= 4; ++type) assert(near(bw::fft::idst(bw::fft::dst(bw::arange(0, 4), type), type), {0, 1, 2, 3}));
/// @endcode
array idst(const array& a, int type = 2, const real_options& options = {});

/// The options over several axes, which are chosen as in fftn().
struct real_options_n {
  std::optional<shape_t> s = {};
  std::optional<shape_t> axes = {};
  scaling norm = scaling::backward;
  std::optional<bool> orthogonalize = {};
};
/// dct() along each of several axes.
/// @code
/// assert(near(bw::fft::dctn(bw::ones({2, 2})), {16, 0, 0, 0}));
/// @endcode
array dctn(const array& a, int type = 2, const real_options_n& options = {});
/// The inverse of dctn().
/// @code
/// assert(near(bw::fft::idctn(bw::fft::dctn(bw::arange(0, 4).reshape({2, 2}))), {0, 1, 2, 3}));
/// @endcode
array idctn(const array& a, int type = 2, const real_options_n& options = {});
/// dst() along each of several axes.
/// @code
/// const bw::fft::real_options_n ortho{.norm = bw::fft::scaling::ortho};
/// assert(near(bw::fft::dstn(bw::fft::dstn(bw::arange(0, 4).reshape({2, 2}), 4, ortho), 4, ortho), {0, 1, 2, 3}));
/// @endcode
array dstn(const array& a, int type = 2, const real_options_n& options = {});
/// The inverse of dstn().
/// @code
/// assert(near(bw::fft::idstn(bw::fft::dstn(bw::arange(0, 4).reshape({2, 2}))), {0, 1, 2, 3}));
/// @endcode
array idstn(const array& a, int type = 2, const real_options_n& options = {});

// ---- Frequencies and shifts

/// The frequencies of fft()'s result for n points with spacing d, float64: zero, the positive ones, the negative ones.
/// @throws std::runtime_error  n is not positive.
/// @code
/// assert(near(bw::fft::fftfreq(5, 0.2), {0, 1, 2, -2, -1}));
/// @endcode
array fftfreq(int64_t n, double d = 1.0);
/// The frequencies of rfft()'s result for n points with spacing d.
/// @code
/// assert(near(bw::fft::rfftfreq(4, 0.25), {0, 1, 2}));
/// @endcode
array rfftfreq(int64_t n, double d = 1.0);
/// Moves the zero frequency to the middle of the axes, all axes unless given. Any dtype.
/// @code
/// assert(near(bw::fft::fftshift(bw::fft::fftfreq(5, 0.2)), {-2, -1, 0, 1, 2}));
/// @endcode
array fftshift(const array& x, std::optional<shape_t> axes = {});
/// The inverse of fftshift(), which differs from it where an axis has an odd length.
/// @code
/// assert(near(bw::fft::ifftshift(bw::arange(-2, 3)), {0, 1, 2, -2, -1}));
/// @endcode
array ifftshift(const array& x, std::optional<shape_t> axes = {});

}  // namespace broadcloth::fft
