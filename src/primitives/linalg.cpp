#include "primitives/linalg.h"

#include <bit>

#include "core/hash.h"

namespace bc {
namespace {

const char* name_of(Linalg what) {
  switch (what) {
    case Linalg::solve: return "solve";
    case Linalg::inverse: return "inv";
    case Linalg::determinant: return "slogdet";
    case Linalg::lu: return "lu_factor";
    case Linalg::lu_solve: return "lu_solve";
    case Linalg::cholesky: return "cholesky";
    case Linalg::cholesky_solve: return "cho_solve";
    case Linalg::triangular_solve: return "solve_triangular";
    case Linalg::qr:
    case Linalg::qr_raw: return "qr";
    case Linalg::svd: return "svd";
    case Linalg::eigh: return "eigh";
    case Linalg::eig: return "eig";
    case Linalg::lstsq: return "lstsq";
    case Linalg::schur:
    case Linalg::schur_ordered: return "schur";
    case Linalg::generalized_eig: return "eig";
    case Linalg::qz: return "qz";
    case Linalg::qz_ordered: return "ordqz";
    case Linalg::balanced: return "matrix_balance";
    case Linalg::hessenberg: return "hessenberg";
    case Linalg::ldl: return "ldl";
    case Linalg::banded_solve: return "solve_banded";
    case Linalg::banded_definite_solve: return "solveh_banded";
    case Linalg::banded_cholesky: return "cholesky_banded";
    case Linalg::banded_cholesky_solve: return "cho_solve_banded";
    case Linalg::toeplitz_solve: return "solve_toeplitz";
    case Linalg::tridiagonal_eigh: return "eigh_tridiagonal";
    case Linalg::eigh_range:
    case Linalg::definite_eigh: return "eigh";
    case Linalg::banded_eigh: return "eig_banded";
    case Linalg::known_inverse: return "inv";
    case Linalg::triangular_sqrt: return "sqrtm";
    case Linalg::parlett: return "funm";
    case Linalg::complex_schur: return "rsf2csf";
    case Linalg::square_root: return "sqrtm";
    case Linalg::qr_changed: return "qr_update";
    case Linalg::exponential: return "expm";
    case Linalg::sylvester: return "solve_sylvester";
  }
  return "linalg";
}

LinalgTraits all_traits[kDeviceTypes];

}  // namespace

const LinalgTraits& linalg_traits(DeviceType type) { return all_traits[static_cast<int>(type)]; }
void register_linalg_traits(DeviceType type, const LinalgTraits& traits) { all_traits[static_cast<int>(type)] = traits; }

LinalgExtra::LinalgExtra(Linalg what_, DType dtype_, Dims batch_)
    : LibraryExtra(kKind), what(what_), dtype(dtype_), batch(std::move(batch_)) {
  name = name_of(what);
}

void LinalgExtra::add(DType part_dtype, const Dims& shape) {
  Part part{part_dtype, batch, bytes_};
  for (int64_t extent : shape) part.shape.push_back(extent);
  const int64_t size = product(part.shape) * itemsize(part_dtype);
  bytes_ += (size + kAlignment - 1) / kAlignment * kAlignment;
  parts.push_back(std::move(part));
}

std::unique_ptr<LinalgExtra> LinalgExtra::under(const Dims& other_batch) const {
  auto made = std::make_unique<LinalgExtra>(what, dtype, other_batch);
  made->lower = lower, made->unit_diagonal = unit_diagonal, made->transposed = transposed, made->vectors = vectors;
  made->pivoted = pivoted, made->scaled = scaled, made->left = left, made->hermitian = hermitian;
  made->below = below, made->count = count, made->change = change, made->tolerance = tolerance, made->failure = failure;
  for (const Part& part : parts) {
    Dims shape;
    for (int d = batch.size(); d < part.shape.size(); ++d) shape.push_back(part.shape[d]);
    made->add(part.dtype, shape);
  }
  made->finish();
  return made;
}

void LinalgExtra::finish() {
  Hasher hasher(static_cast<uint64_t>(what));
  hasher
      .add(static_cast<uint64_t>(lower) | static_cast<uint64_t>(unit_diagonal) << 1 | static_cast<uint64_t>(pivoted) << 2 |
           static_cast<uint64_t>(left) << 3 | static_cast<uint64_t>(hermitian) << 4 | static_cast<uint64_t>(scaled) << 5 |
           static_cast<uint64_t>(below) << 6)
      .add(static_cast<uint64_t>(count))
      .add(change)
      .add(transposed)
      .add(vectors)
      .add(dtype);
  hasher.add(std::bit_cast<uint64_t>(tolerance));
  for (const Part& part : parts) hasher.add(part.dtype).add(part.shape.span());
  key = hasher.finish().lo;
}

}  // namespace bc
