#pragma once
#include <climits>
#include <cstdint>

#include "core/shape.h"

/// Arithmetic on extents. A result that does not fit 63 bits raises ValueError with NumPy's message. (product() in shape.h counts the
/// elements of any view.)
namespace bc {

[[noreturn]] void raise_too_big();

/// Number of elements of an array that owns its memory. Throws as product() does, and when the number of bytes does not fit 63 bits.
inline int64_t element_count(const Dims& shape, int itemsize) {
  const int64_t n = product(shape);
  if (n > INT64_MAX / 16 && n > INT64_MAX / itemsize) [[unlikely]]
    raise_too_big();
  return n;
}

/// Sum and product with an overflow check.
int64_t extent_sum(int64_t a, int64_t b);
int64_t extent_product(int64_t a, int64_t b);

/// The shape of NumPy's reshape of `size` elements: an extent of -1 is replaced by the value that fits. Throws ValueError where the sizes
/// differ.
Dims reshaped_extents(int64_t size, const Dims& shape);

}  // namespace bc
