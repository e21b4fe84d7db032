#include "primitives/sparse.h"

#include "core/hash.h"

namespace bc {

SparseExtra::SparseExtra(Sparse what_, int64_t columns_, bool transposed_, int64_t elements_)
    : LibraryExtra(kKind), what(what_), columns(columns_), transposed(transposed_), elements(elements_) {
  switch (what) {
    case Sparse::product:
    case Sparse::coordinate_product:
    case Sparse::diagonal_product:
    case Sparse::block_product: name = "sparse product"; break;
    case Sparse::transpose:
    case Sparse::block_rows:
    case Sparse::pointers:
    case Sparse::group: name = "sparse conversion"; break;
    case Sparse::expand: name = "sparse rows"; break;
    case Sparse::sum: name = "sparse sum"; break;
    case Sparse::unite: name = "sparse union"; break;
    case Sparse::take_counts:
    case Sparse::take:
    case Sparse::keep:
    case Sparse::places:
    case Sparse::lookup: name = "sparse selection"; break;
    case Sparse::matmul_counts:
    case Sparse::matmul:
    case Sparse::matmul_entries: name = "sparse matmul"; break;
  }
  key = Hasher(static_cast<uint64_t>(what) | static_cast<uint64_t>(transposed) << 8)
            .add(static_cast<uint64_t>(columns))
            .add(static_cast<uint64_t>(elements))
            .finish()
            .lo;
}

}  // namespace bc
