#pragma once
#include <utility>
#include <vector>

#include "primitives/library_op.h"

namespace bc {

/// What a linear algebra op computes of each matrix of a stack. "->" names the parts of the result, in their order; every one ends with
/// `info`, int32 for each matrix: 0, or what LAPACK's routine says.
enum class Linalg : uint8_t {
  solve,             ///< (a, b) -> x
  inverse,           ///< (a) -> x
  determinant,       ///< (a) -> sign, logarithm of the absolute value (real), determinant
  lu,                ///< (a) -> lu, pivots (int32, from 0 on)
  lu_solve,          ///< (lu, pivots, b) -> x of op(a) x = b
  cholesky,          ///< (a) -> the factor, the other triangle zero
  cholesky_solve,    ///< (factor, b) -> x
  triangular_solve,  ///< (a, b) -> x of op(a) x = b
  qr,                ///< (a) -> q, r
  qr_raw,            ///< (a) -> h (transposed: n x m), tau
  svd,               ///< (a) -> u, s, vh; or s
  eigh,              ///< (a) -> w, v; or w
  eig,               ///< (a) -> w, v (complex); or w
  lstsq,             ///< (a, b) -> x, sums of squares, rank (int32), s
  schur,             ///< (a) -> t, z
  hessenberg,        ///< (a) -> h, q
};

enum class Vectors : uint8_t { none, thin, full };
enum class Transposed : uint8_t { no, transpose, conjugate };

/// The arguments of one op. The result is one buffer of the matrices' dtype in which the parts lie one after the other, so that an op with
/// several results is one node; the arrays are views of it.
struct LinalgExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::linalg;
  struct Part {
    DType dtype;
    Dims shape;      ///< the batch, then the matrix, vector or number of each
    int64_t offset;  ///< in bytes, a multiple of kAlignment
  };
  /// For kernels that read a part as vectors.
  static constexpr int64_t kAlignment = 256;

  Linalg what;
  bool lower = true;                       ///< the triangle that is read or made
  bool unit_diagonal = false;              ///< of a triangular matrix: its diagonal is not read, and taken for ones
  Transposed transposed = Transposed::no;  ///< op(a)
  Vectors vectors = Vectors::thin;
  double tolerance = 0;  ///< of lstsq: singular values below it times the largest one count as zero
  DType dtype;           ///< of the matrices
  Dims batch;
  std::vector<Part> parts;

  LinalgExtra(Linalg what_, DType dtype_, Dims batch_);
  /// Adds a part whose elements for each matrix have this shape.
  void add(DType part_dtype, const Dims& shape);
  /// The bytes of all parts.
  int64_t bytes() const { return bytes_; }
  /// Sets the key. To be called when all is set.
  void finish();

 private:
  int64_t bytes_ = 0;
};

}  // namespace bc
