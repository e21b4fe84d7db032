// An element of NumPy's arrays of str and of bytes: characters, with zeros behind them.
#pragma once
#include "core.h"

namespace bc {
namespace py {

/// C is u32 for str and u8 for bytes. Records may have it at any address.
template <class C, int N>
struct __attribute__((packed)) Characters {
  C at[N];

  BC_INLINE i64 length() const {
    i64 n = N;
    while (n > 0 && at[n - 1] == 0) --n;
    return n;
  }
};

}  // namespace py
}  // namespace bc
