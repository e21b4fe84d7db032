#pragma once
#include "ops/composite.h"
#include "primitives/library.h"

/// Discrete Fourier, cosine and sine transforms of arrays.
namespace bc {

/// Which direction divides by the number of points: the inverse one, both by its root, or the forward one.
enum class FftNorm : uint8_t { backward, ortho, forward };

struct FftOptions {
  bool forward = true;
  FftNorm norm = FftNorm::backward;
  int threads = 0;                 ///< the most that the CPU uses; 0: all
  int type = 2;                    ///< of a dct or dst, 1 to 4
  std::optional<bool> orthogonal;  ///< dct, dst: whether the matrix is made orthogonal; nullopt: for FftNorm::ortho
  bool scipy = false;              ///< whose words an error about the number of points has: SciPy's or NumPy's
  /// Computes as devices do that have transforms of at most three trailing axes and neither scaling nor dct and dst.
  bool composed = false;
};

/// Transforms along `axes`, which are distinct, after cutting the input to `lengths` or filling it up with zeros. Of a c2r the last length
/// counts real points, 2 (m - 1) of m where it is not given. Half and bfloat16 compute in float32, integers and booleans in float64. A new
/// array lies in memory as `a` does. A complex array of a dct or dst is transformed part by part.
Array fft(const Array& a, FftKind kind, const std::optional<Axes>& lengths, const Axes& axes, const FftOptions& options = {});

}  // namespace bc
