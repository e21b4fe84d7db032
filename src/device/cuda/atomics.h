// Atomics. The variants for a block and for the whole system are the same as those for the device.
#pragma once

#define __BC_SCOPES(name)                \
  template <class... A>                  \
  BC_INLINE auto name##_block(A... a) {  \
    return name(a...);                   \
  }                                      \
  template <class... A>                  \
  BC_INLINE auto name##_system(A... a) { \
    return name(a...);                   \
  }

#define __BC_ATOMIC(name, T, builtin) \
  BC_FN T name(T* p, T v) { return builtin(p, v, __ATOMIC_RELAXED); }
#define __BC_ATOMIC_INTEGERS(name, builtin) \
  __BC_ATOMIC(name, int, builtin)           \
  __BC_ATOMIC(name, unsigned, builtin)      \
  __BC_ATOMIC(name, long, builtin)          \
  __BC_ATOMIC(name, unsigned long, builtin) \
  __BC_ATOMIC(name, long long, builtin)     \
  __BC_ATOMIC(name, unsigned long long, builtin)
__BC_ATOMIC_INTEGERS(atomicAdd, __atomic_fetch_add)
__BC_ATOMIC_INTEGERS(atomicSub, __atomic_fetch_sub)
__BC_ATOMIC_INTEGERS(atomicMin, __atomic_fetch_min)
__BC_ATOMIC_INTEGERS(atomicMax, __atomic_fetch_max)
__BC_ATOMIC_INTEGERS(atomicAnd, __atomic_fetch_and)
__BC_ATOMIC_INTEGERS(atomicOr, __atomic_fetch_or)
__BC_ATOMIC_INTEGERS(atomicXor, __atomic_fetch_xor)
__BC_ATOMIC_INTEGERS(atomicExch, __atomic_exchange_n)

/// Replaces *p by change(*p); returns the old value.
template <class U, class T, class F>
BC_INLINE T __bc_atomic_change(T* p, F change) {
  U* bits = reinterpret_cast<U*>(p);
  U seen = __atomic_load_n(bits, __ATOMIC_RELAXED);
  for (;;) {
    T old = __builtin_bit_cast(T, seen);
    U made = __builtin_bit_cast(U, change(old));
    if (__atomic_compare_exchange_n(bits, &seen, made, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}
BC_FN float atomicAdd(float* p, float v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
BC_FN double atomicAdd(double* p, double v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
BC_FN float atomicSub(float* p, float v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }
BC_FN double atomicSub(double* p, double v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }
BC_FN float atomicExch(float* p, float v) {
  return __builtin_bit_cast(float, __atomic_exchange_n(reinterpret_cast<unsigned*>(p), __builtin_bit_cast(unsigned, v), __ATOMIC_RELAXED));
}
BC_FN double atomicExch(double* p, double v) {
  return __builtin_bit_cast(
      double, __atomic_exchange_n(reinterpret_cast<unsigned long*>(p), __builtin_bit_cast(unsigned long, v), __ATOMIC_RELAXED));
}
BC_FN float atomicMin(float* p, float v) {
  return __bc_atomic_change<unsigned>(p, [=](float old) { return v < old || old != old ? v : old; });
}
BC_FN float atomicMax(float* p, float v) {
  return __bc_atomic_change<unsigned>(p, [=](float old) { return v > old || old != old ? v : old; });
}
BC_FN double atomicMin(double* p, double v) {
  return __bc_atomic_change<unsigned long>(p, [=](double old) { return v < old || old != old ? v : old; });
}
BC_FN double atomicMax(double* p, double v) {
  return __bc_atomic_change<unsigned long>(p, [=](double old) { return v > old || old != old ? v : old; });
}
BC_FN unsigned atomicInc(unsigned* p, unsigned limit) {
  return __bc_atomic_change<unsigned>(p, [=](unsigned old) { return old >= limit ? 0u : old + 1u; });
}
BC_FN unsigned atomicDec(unsigned* p, unsigned limit) {
  return __bc_atomic_change<unsigned>(p, [=](unsigned old) { return old == 0u || old > limit ? limit : old - 1u; });
}
#define __BC_ATOMIC_CAS(T, U)                                                                                                              \
  BC_FN T atomicCAS(T* p, T expected, T wanted) {                                                                                          \
    U seen = __builtin_bit_cast(U, expected);                                                                                              \
    __atomic_compare_exchange_n(reinterpret_cast<U*>(p), &seen, __builtin_bit_cast(U, wanted), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return __builtin_bit_cast(T, seen);                                                                                                    \
  }
__BC_ATOMIC_CAS(int, unsigned)
__BC_ATOMIC_CAS(unsigned, unsigned)
__BC_ATOMIC_CAS(long, unsigned long)
__BC_ATOMIC_CAS(unsigned long, unsigned long)
__BC_ATOMIC_CAS(long long, unsigned long)
__BC_ATOMIC_CAS(unsigned long long, unsigned long)
__BC_ATOMIC_CAS(unsigned short, unsigned short)
__BC_ATOMIC_CAS(short, unsigned short)
__BC_ATOMIC_CAS(float, unsigned)
__BC_ATOMIC_CAS(double, unsigned long)
__BC_SCOPES(atomicAdd)
__BC_SCOPES(atomicSub)
__BC_SCOPES(atomicMin)
__BC_SCOPES(atomicMax)
__BC_SCOPES(atomicAnd)
__BC_SCOPES(atomicOr)
__BC_SCOPES(atomicXor)
__BC_SCOPES(atomicExch)
__BC_SCOPES(atomicCAS)
__BC_SCOPES(atomicInc)
__BC_SCOPES(atomicDec)
#undef __BC_SCOPES
#undef __BC_ATOMIC
#undef __BC_ATOMIC_INTEGERS
#undef __BC_ATOMIC_CAS
