#pragma once
#include <climits>
#include <cstdint>

#include "core/shape.h"

/// Arithmetic on extents: what does not fit 63 bits is a ValueError in NumPy's words. (product() in shape.h counts the elements of any
/// view.)
namespace bc {

[[noreturn]] void raise_too_big();

/// Number of elements of an array with memory of its own. Throws as product() does, and where its bytes do not fit.
inline int64_t element_count(const Dims& shape, int itemsize) {
  const int64_t n = product(shape);
  if (n > INT64_MAX / 16 && n > INT64_MAX / itemsize) [[unlikely]]
    raise_too_big();
  return n;
}

/// The sum and the product of extents.
int64_t extent_sum(int64_t a, int64_t b);
int64_t extent_product(int64_t a, int64_t b);

/// NumPy's reshape of `size` elements: the shape, with the extent that is -1 (if one is) found. Throws ValueError where the sizes differ.
Dims reshaped_extents(int64_t size, const Dims& shape);

}  // namespace bc
