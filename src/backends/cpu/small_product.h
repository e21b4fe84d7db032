#pragma once
#include "backends/cpu/block_product.h"

namespace bc::cpu {

/// The product of a small tile of float32 or float64, for which a call of OpenBLAS would take longer than the arithmetic; nullptr where
/// OpenBLAS is faster (other dtypes, sizes or layouts; processors without AVX2 and FMA). Each output is one sum in the order of k.
TileFunction small_product(DType dtype, const TileShape& shape);

}  // namespace bc::cpu
