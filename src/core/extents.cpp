#include "core/extents.h"

namespace bc {

void raise_too_big() {
  raise(ErrorKind::Value, "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
}

int64_t extent_sum(int64_t a, int64_t b) {
  int64_t n;
  if (__builtin_add_overflow(a, b, &n)) raise_too_big();
  return n;
}

int64_t extent_product(int64_t a, int64_t b) {
  int64_t n;
  if (__builtin_mul_overflow(a, b, &n)) raise_too_big();
  return n;
}

Dims reshaped_extents(int64_t size, const Dims& shape) {
  Dims full = shape;
  int unknown = -1;
  int64_t known = 1;
  bool overflow = false, empty = false;
  for (int d = 0; d < full.size(); ++d) {
    if (full[d] < 0) {
      BC_CHECK(unknown < 0, Value, "can only specify one unknown dimension");
      unknown = d;
      continue;
    }
    empty |= full[d] == 0;
    if (full[d] > 0) overflow |= __builtin_mul_overflow(known, full[d], &known);
  }
  bool fits = !overflow;
  if (fits && unknown >= 0) {
    fits = !empty && size % known == 0;
    if (fits) full[unknown] = size / known;
  } else if (fits) {
    fits = (empty ? 0 : known) == size;
  }
  BC_CHECK(fits, Value, "cannot reshape array of size {} into shape {}", size, shape);
  return full;
}

}  // namespace bc
