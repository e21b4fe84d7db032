// Assignments between parts of one array: as if the right side had been copied first.
#pragma once
#include "core.h"

namespace bc {
namespace py {

/// The orders in which the elements of `target = f(leaves…)` may be walked so that none is written before it was read.
enum Order : int { kBackward = -1, kCopied = 0, kForward = 1, kAnyOrder = 2 };

template <class T, int N>
BC_PY Order order_of(const Array<T, N, 'A'>& target, const char* leaf, const Tuple<i64, N>& strides, i64 bytes) {
  const i64 size = sizeof(T) > static_cast<u64>(bytes) ? static_cast<i64>(sizeof(T)) : bytes;
  i64 low = 0, high = size, leaf_low = 0, leaf_high = size, inner = size;
  bool same = true, nested = true, up = true, down = true;
  for (int k = N - 1; k >= 0; --k) {
    const i64 n = target.shape[k] - 1, s = target.strides[k];
    if (n < 0) return kAnyOrder;
    if (n == 0) continue;
    (s < 0 ? low : high) += n * s;
    (strides[k] < 0 ? leaf_low : leaf_high) += n * strides[k];
    same = same && s == strides[k];
    up = up && s > 0;
    down = down && s < 0;
    // The next axis out steps over all that is inside.
    nested = nested && (s < 0 ? -s : s) >= inner;
    inner += n * (s < 0 ? -s : s);
  }
  const i64 apart = leaf - target.bytes();
  if (apart + leaf_low >= high || apart + leaf_high <= low) return kAnyOrder;
  if (!same || !nested) return kCopied;
  if (apart == 0) return kAnyOrder;
  if (up) return apart > 0 ? kForward : kBackward;
  if (down) return apart < 0 ? kForward : kBackward;
  return kCopied;
}
/// Both arrays are stretched to one shape.
template <class T, class U, int N>
BC_INLINE Order order_of(const Array<T, N, 'A'>& target, const Array<U, N, 'A'>& leaf) {
  return order_of(target, leaf.bytes(), leaf.strides, sizeof(U));
}
BC_INLINE Order both(Order a, Order b) { return a == kAnyOrder || a == b ? b : b == kAnyOrder ? a : kCopied; }

/// Memory for a copy, of the heap of kernels.
BC_PY void* copy_memory(i64 bytes) {
  void* p = malloc(static_cast<u64>(bytes));
  if (!p) {
    printf("an assignment between overlapping parts of an array found no %lld bytes for a copy in the heap of kernels\n",
           static_cast<long long>(bytes));
    __trap();
  }
  return p;
}

}  // namespace py
}  // namespace bc
