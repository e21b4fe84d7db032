// Calls of functions that other code defines.
#pragma once
#include "core.h"

namespace bc {
namespace py {

/// An argument that converts to any type of the same size: linked code has its own half and complex types.
template <class T>
struct Foreign {
  T value;
  template <class U>
  BC_INLINE operator U() const {
    static_assert(sizeof(U) == sizeof(T), "the linked function's parameter has another size than its declaration says");
    U u;
    memcpy(&u, &value, sizeof u);
    return u;
  }
};
template <class T>
BC_INLINE Foreign<T> foreign(T value) {
  return {value};
}
template <class T>
struct ForeignPlace {
  T* place;
  template <class U>
  BC_INLINE operator U*() const {
    return reinterpret_cast<U*>(place);
  }
};
template <class T>
BC_INLINE ForeignPlace<T> foreign_place(T* place) {
  return {place};
}
/// The result of linked code as our type.
template <class T, class U>
BC_INLINE T familiar(const U& value) {
  if constexpr (sizeof(U) == sizeof(T) && (is_complex<T> || is_small_float<T>)) {
    T t;
    memcpy(&t, &value, sizeof t);
    return t;
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace py
}  // namespace bc

/// familiar() under a name that linked code, which precedes the calls in the text, cannot have defined as a macro.
template <class T, class U>
static __device__ __forceinline__ T bc_linked_value(const U& value) {
  return bc::py::familiar<T>(value);
}
