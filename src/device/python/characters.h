// An element of NumPy's arrays of str and of bytes: characters, with zeros behind them.
#pragma once
#include "core.h"

namespace bc {
namespace py {

/// C is u32 for str and u8 for bytes. Records may have it at any address.
template <class C, int N>
struct __attribute__((packed)) Characters {
  C at[N];

  Characters() = default;
  /// As NumPy stores one of another length: as many characters as there is room for.
  template <int M>
  explicit BC_INLINE Characters(const Characters<C, M>& from) {
    for (int i = 0; i < N; ++i) at[i] = i < M ? from.at[i] : C(0);
  }
  BC_INLINE i64 length() const {
    i64 n = N;
    while (n > 0 && at[n - 1] == 0) --n;
    return n;
  }
};

/// The order of two elements, as NumPy's functions that sort ask for it.
template <class C, int N>
BC_FN int order_of_units(const Characters<C, N>& a, const Characters<C, N>& b) {
  for (int i = 0; i < N; ++i)
    if (a.at[i] != b.at[i]) return a.at[i] < b.at[i] ? -1 : 1;
  return 0;
}
template <class C, int N>
BC_FN bool operator<(const Characters<C, N>& a, const Characters<C, N>& b) {
  return order_of_units(a, b) < 0;
}
template <class C, int N>
BC_FN bool operator==(const Characters<C, N>& a, const Characters<C, N>& b) {
  return order_of_units(a, b) == 0;
}

}  // namespace py
}  // namespace bc
