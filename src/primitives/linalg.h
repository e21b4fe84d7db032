#pragma once
#include <limits>
#include <utility>
#include <vector>

#include "primitives/library_op.h"
#include "runtime/backend.h"

namespace bc {

/// The linear algebra ops; each computes its result for every matrix of a stack. After "->" are the parts of the result in order. The last
/// part of every op is `info`, an int32 for each matrix: 0, or the error code of LAPACK's routine.
enum class Linalg : uint8_t {
  solve,                  ///< (a, b) -> x
  inverse,                ///< (a) -> x
  determinant,            ///< (a) -> sign, logarithm of the absolute value (real), determinant
  lu,                     ///< (a) -> lu, pivots (int32, from 0 on)
  lu_solve,               ///< (lu, pivots, b) -> x of op(a) x = b
  cholesky,               ///< (a) -> the factor, the other triangle zero
  cholesky_solve,         ///< (factor, b) -> x
  triangular_solve,       ///< (a, b) -> x of op(a) x = b
  qr,                     ///< (a) -> q, r; r; with `pivoted` also the columns' order (int32, from 0 on)
  qr_raw,                 ///< (a) -> h (transposed: n x m), tau
  svd,                    ///< (a) -> u, s, vh; or s
  eigh,                   ///< (a) -> w, v; or w
  eig,                    ///< (a) -> w, v (complex), with `left` also the left eigenvectors; or w
  lstsq,                  ///< (a, b) -> x, sums of squares, rank (int32), s
  schur,                  ///< (a) -> t, z
  schur_ordered,          ///< (t, z, which eigenvalues come first (int32)) -> t, z
  generalized_eig,        ///< (a, b) -> alpha (complex), beta, v (complex), with `left` also the left eigenvectors; or alpha, beta
  qz,                     ///< (a, b) -> aa, bb, q, z, alpha (complex), beta
  qz_ordered,             ///< (aa, bb, q, z, which eigenvalues come first (int32)) -> the same of the ordered form
  balanced,               ///< (a) -> the balanced matrix, gebal's scale (real), its first and last place of the part that is scaled (int32)
  hessenberg,             ///< (a) -> h, q
  ldl,                    ///< (a) -> the triangle as sytrf or hetrf computes it, its pivots (int32)
  banded_solve,           ///< (diagonals, b) -> x
  banded_definite_solve,  ///< (diagonals of a triangle, b) -> x
  banded_cholesky,        ///< (diagonals of a triangle) -> those of the factor
  banded_cholesky_solve,  ///< (diagonals of the factor, b) -> x
  toeplitz_solve,    ///< (t(1 - n), ..., t(n - 1) with a[i, j] = t(i - j), b) -> x; `info`: not 0 where Levinson's recursion is unreliable
  tridiagonal_eigh,  ///< (diagonal, subdiagonal) -> w, v; or w; `count` of them
  eigh_range,        ///< (a) -> the `count` eigenvalues from the one with number `below` on, and v; or w
  banded_eigh,       ///< (diagonals of a triangle) -> w, v; or w
  definite_eigh,     ///< (a, b) -> w of a v = w b v for a positive definite b, v; or w; `info`: above n a minor of b that is not positive
  known_inverse,     ///< (a) -> its inverse, of a triangle, `hermitian` of a positive definite matrix, or `pivoted` of any
  triangular_sqrt,   ///< (t) -> r with r r = t, upper triangular
  parlett,           ///< (t, values on f's diagonal) -> f(t) of upper triangular matrices, the least distance of eigenvalues (real)
  complex_schur,     ///< (t, z) of a real Schur form -> the complex form's t, z
  square_root,       ///< (a) -> its principal square root (complex), whether its real part is all of it (int32)
  qr_changed,        ///< (q, r, then what the change needs) -> q transposed, r of the changed matrix; `change` at `below`, `count` rows or
                     ///< columns
  exponential,       ///< (a) -> its exponential
  sylvester,         ///< (r, s, f) -> x of r x + x op(s) = f, of Schur forms r and s
};

enum class Vectors : uint8_t { none, thin, full };
/// Changes of a matrix of which QR factors are known: a + u v^H (u, v), further columns (u), further rows (u), less rows, less columns.
enum class QrChange : uint8_t { update, insert_columns, insert_rows, delete_rows, delete_columns };
enum class Transposed : uint8_t { no, transpose, conjugate };

/// The arguments of one op. The result is one buffer of the matrices' dtype that holds the parts one after the other: an op with several
/// results is one node, and the result arrays are views of it.
struct LinalgExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::linalg;
  struct Part {
    DType dtype;
    Dims shape;      ///< the batch, then the matrix, vector or number of each
    int64_t offset;  ///< in bytes, a multiple of kAlignment
  };
  /// Aligns the parts for kernels that read them as vectors.
  static constexpr int64_t kAlignment = 256;

  Linalg what;
  bool lower = true;                       ///< which triangle is read or computed
  bool unit_diagonal = false;              ///< of a triangular matrix: the diagonal is not read and is assumed to be ones
  Transposed transposed = Transposed::no;  ///< op(a)
  Vectors vectors = Vectors::thin;
  bool pivoted = false;    ///< qr with column exchanges; lstsq by it, without s; balancing with exchanges of rows and columns
  bool scaled = false;     ///< balancing with scaling
  bool left = false;       ///< eig: also computes left eigenvectors
  bool hermitian = false;  ///< ldl: the matrix is Hermitian, not symmetric
  int64_t below = 0;       ///< number of diagonals of a band below the main diagonal; the others are above it
  int64_t count = 0;       ///< number of eigenvalues from number `below` on; 0: all
  QrChange change = QrChange::update;
  double tolerance = 0;  ///< of lstsq: the share of the largest singular value, or of its estimate, below which others count as zero
  DType dtype;           ///< of the matrices
  const char* failure = nullptr;  ///< the text of the error if the last part is not zero; nullptr: that part is a result
  Dims batch;
  std::vector<Part> parts;

  LinalgExtra(Linalg what_, DType dtype_, Dims batch_);
  /// Adds a part whose elements for each matrix have this shape.
  void add(DType part_dtype, const Dims& shape);
  /// The same op for a batch of another shape.
  std::unique_ptr<LinalgExtra> under(const Dims& other_batch) const;
  /// The bytes of all parts.
  int64_t bytes() const { return bytes_; }
  /// Computes the key. Must be called after all arguments are set.
  void finish();

 private:
  int64_t bytes_ = 0;
};

/// Facts about the performance of a device's libraries.
struct LinalgTraits {
  int64_t svd_by_eigh_from = std::numeric_limits<int64_t>::max();  ///< from this number of rows and columns on, svd uses eigh
};
const LinalgTraits& linalg_traits(DeviceType type);
/// Called by backends when they register their bodies.
void register_linalg_traits(DeviceType type, const LinalgTraits& traits);

}  // namespace bc
