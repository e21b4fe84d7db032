#pragma once
#include <cstdint>
#include <span>

#include "backends/cpu/sort_orders.h"

/// Sorts and selections of one line of complex numbers, in NumPy's order (ComplexOrder). R: float, double. `x` has n elements, `step`
/// apart.
namespace bc::cpu {

/// Writes the sorted elements to `out`. Of equal elements those with a negative zero as imaginary part may come first.
template <class R>
void sort_complex(const typename ComplexOrder<R>::Bits* x, int64_t step, int64_t n, typename ComplexOrder<R>::Bits* out, bool parallel);

/// Writes the elements to `out`, or with a type of int64_t their places: those of the given ranks (ascending) are where a sort would put
/// them, with no greater element before and no smaller one after each.
template <class R, class T>
void partition_complex(const typename ComplexOrder<R>::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks, T* out);

/// Writes the elements of the given ranks (ascending) to `out`.
template <class R>
void select_complex(const typename ComplexOrder<R>::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks,
                    typename ComplexOrder<R>::Bits* out);

}  // namespace bc::cpu
