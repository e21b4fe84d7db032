#pragma once
#include <cstdint>

namespace bc::cpu {

/// The products of rows [begin, end) of a matrix in compressed rows with a dense C-contiguous x of `width` columns: y[i] = sum of data[j]
/// x[indices[j]]. T is float or double, I int32_t or int64_t.
template <class T, class I>
using SparseRows = void (*)(const T* data, const I* indices, const I* indptr, const T* x, int64_t width, T* y, int64_t begin, int64_t end);

/// The loops over vectors with masks, for processors that have AVX-512; nullptr for others.
template <class T, class I>
SparseRows<T, I> sparse_rows();

}  // namespace bc::cpu
