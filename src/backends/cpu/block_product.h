#pragma once
#include <cstdint>

#include "core/dtype.h"

namespace bc::cpu {

/// A tile of a matrix product: c (m x n, rows c_row apart) = a (m x k) · b (k x n). Strides in elements.
struct TileShape {
  int64_t m, n, k;
  int64_t a_row, a_column;
  int64_t b_row, b_column;
  int64_t c_row;
  bool adds = false;  ///< adds to the old content of c; only OpenBLAS supports it
};
using TileFunction = void (*)(const TileShape& shape, const void* a, const void* b, void* c);

/// The product of a tile for bool and the integers, for the widest vectors of this machine; nullptr for other dtypes.
TileFunction block_product(DType dtype);

}  // namespace bc::cpu
