// Two halves or four bytes of a word at once: the video instructions.
#pragma once

/// Applies `f` to the lanes of two words. Lane is the type of a lane; results are truncated to its width.
template <class Lane, class F>
BC_INLINE unsigned __bc_lanewise(unsigned a, unsigned b, F f) {
  constexpr unsigned bits = 8 * sizeof(Lane), ones = (1u << bits) - 1u;
  unsigned out = 0;
#pragma unroll
  for (unsigned at = 0; at < 32; at += bits) {
    int x = static_cast<Lane>(a >> at), y = static_cast<Lane>(b >> at);
    out |= (static_cast<unsigned>(f(x, y)) & ones) << at;
  }
  return out;
}
template <class Lane>
BC_INLINE int __bc_clamp(int x) {
  constexpr int low = bc::limits<Lane>::lowest(), high = bc::limits<Lane>::max();
  return x < low ? low : x > high ? high : x;
}
template <class Lane>
BC_INLINE unsigned __bc_sad(unsigned a, unsigned b) {
  unsigned sum = 0;
#pragma unroll
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Lane)) {
    int x = static_cast<Lane>(a >> at), y = static_cast<Lane>(b >> at);
    sum += static_cast<unsigned>(x < y ? y - x : x - y);
  }
  return sum;
}
#define __BC_LANES(name, Lane, expression)                                     \
  BC_FN unsigned name(unsigned a, unsigned b) {                                \
    return __bc_lanewise<Lane>(a, b, [](int x, int y) { return expression; }); \
  }
#define __BC_LANES1(name, Lane, expression)                                  \
  BC_FN unsigned name(unsigned a) {                                          \
    return __bc_lanewise<Lane>(a, a, [](int x, int) { return expression; }); \
  }
// clang-format off
#define __BC_COMPARES(n, tail, Lane, op)              \
  __BC_LANES(__vcmp##tail##n, Lane, x op y ? -1 : 0)  \
  __BC_LANES(__vset##tail##n, Lane, x op y ? 1 : 0)
#define __BC_VIDEO(n, S, U)                                                       \
  __BC_LANES(__vadd##n, U, x + y)                                                 \
  __BC_LANES(__vsub##n, U, x - y)                                                 \
  __BC_LANES(__vaddss##n, S, __bc_clamp<S>(x + y))                                \
  __BC_LANES(__vaddus##n, U, __bc_clamp<U>(x + y))                                \
  __BC_LANES(__vsubss##n, S, __bc_clamp<S>(x - y))                                \
  __BC_LANES(__vsubus##n, U, __bc_clamp<U>(x - y))                                \
  __BC_LANES(__vabsdiffs##n, S, (x < y ? y - x : x - y))                          \
  __BC_LANES(__vabsdiffu##n, U, (x < y ? y - x : x - y))                          \
  __BC_LANES(__vavgs##n, S, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)                  \
  __BC_LANES(__vavgu##n, U, (x + y + 1) >> 1)                                     \
  __BC_LANES(__vhaddu##n, U, (x + y) >> 1)                                        \
  __BC_LANES(__vmaxs##n, S, (x > y ? x : y))                                      \
  __BC_LANES(__vmaxu##n, U, (x > y ? x : y))                                      \
  __BC_LANES(__vmins##n, S, (x < y ? x : y))                                      \
  __BC_LANES(__vminu##n, U, (x < y ? x : y))                                      \
  __BC_LANES1(__vabs##n, S, (x < 0 ? -x : x))                                     \
  __BC_LANES1(__vabsss##n, S, __bc_clamp<S>(x < 0 ? -x : x))                      \
  __BC_LANES1(__vneg##n, S, -x)                                                   \
  __BC_LANES1(__vnegss##n, S, __bc_clamp<S>(-x))                                  \
  __BC_COMPARES(n, eq, U, ==) __BC_COMPARES(n, ne, U, !=)                         \
  __BC_COMPARES(n, ges, S, >=) __BC_COMPARES(n, geu, U, >=)                       \
  __BC_COMPARES(n, gts, S, >) __BC_COMPARES(n, gtu, U, >)                         \
  __BC_COMPARES(n, les, S, <=) __BC_COMPARES(n, leu, U, <=)                       \
  __BC_COMPARES(n, lts, S, <) __BC_COMPARES(n, ltu, U, <)                         \
  BC_FN unsigned __vsads##n(unsigned a, unsigned b) { return __bc_sad<S>(a, b); } \
  BC_FN unsigned __vsadu##n(unsigned a, unsigned b) { return __bc_sad<U>(a, b); }
// clang-format on
__BC_VIDEO(2, short, unsigned short)
__BC_VIDEO(4, signed char, unsigned char)
#undef __BC_VIDEO
#undef __BC_COMPARES
#undef __BC_LANES1
#undef __BC_LANES

#define __BC_DP2A(name, shift)                                                                                                        \
  BC_FN int name(int a, int b, int c) {                                                                                               \
    return c + static_cast<short>(a) * static_cast<signed char>(b >> shift) + (a >> 16) * static_cast<signed char>(b >> (shift + 8)); \
  }                                                                                                                                   \
  BC_FN unsigned name(unsigned a, unsigned b, unsigned c) {                                                                           \
    return c + (a & 0xffffu) * (b >> shift & 0xffu) + (a >> 16) * (b >> (shift + 8) & 0xffu);                                         \
  }                                                                                                                                   \
  BC_FN int name(short2 a, char4 b, int c) { return name(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }                \
  BC_FN unsigned name(ushort2 a, uchar4 b, unsigned c) { return name(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c); }
__BC_DP2A(__dp2a_lo, 0)
__BC_DP2A(__dp2a_hi, 16)
#undef __BC_DP2A

// ---- sums, maxima and minima at once (DPX), of words and of pairs of halves
#define __BC_DPX3(tail, T, N)                                                                                \
  BC_FN N __vimax3_##tail(N a, N b, N c) {                                                                   \
    return __bc_dpx<T, N>(a, b, c, [](T x, T y, T z) { return x > y ? (x > z ? x : z) : (y > z ? y : z); }); \
  }                                                                                                          \
  BC_FN N __vimin3_##tail(N a, N b, N c) {                                                                   \
    return __bc_dpx<T, N>(a, b, c, [](T x, T y, T z) { return x < y ? (x < z ? x : z) : (y < z ? y : z); }); \
  }                                                                                                          \
  BC_FN N __viaddmax_##tail(N a, N b, N c) {                                                                 \
    return __bc_dpx<T, N>(a, b, c, [](T x, T y, T z) {                                                       \
      T s = __bc_wrap(x, y);                                                                                 \
      return s > z ? s : z;                                                                                  \
    });                                                                                                      \
  }                                                                                                          \
  BC_FN N __viaddmin_##tail(N a, N b, N c) {                                                                 \
    return __bc_dpx<T, N>(a, b, c, [](T x, T y, T z) {                                                       \
      T s = __bc_wrap(x, y);                                                                                 \
      return s < z ? s : z;                                                                                  \
    });                                                                                                      \
  }
#define __BC_DPX3_RELU(tail, T, N)                                                                        \
  BC_FN N __vimax3_##tail##_relu(N a, N b, N c) { return __bc_relu<T, N>(__vimax3_##tail(a, b, c)); }     \
  BC_FN N __vimin3_##tail##_relu(N a, N b, N c) { return __bc_relu<T, N>(__vimin3_##tail(a, b, c)); }     \
  BC_FN N __viaddmax_##tail##_relu(N a, N b, N c) { return __bc_relu<T, N>(__viaddmax_##tail(a, b, c)); } \
  BC_FN N __viaddmin_##tail##_relu(N a, N b, N c) { return __bc_relu<T, N>(__viaddmin_##tail(a, b, c)); } \
  BC_FN N __vimax_##tail##_relu(N a, N b) { return __bc_relu<T, N>(__vimax3_##tail(a, b, b)); }           \
  BC_FN N __vimin_##tail##_relu(N a, N b) { return __bc_relu<T, N>(__vimin3_##tail(a, b, b)); }
/// The sum, wrapped to the type's width.
template <class T> BC_INLINE T __bc_wrap(T x, T y) { return static_cast<T>(static_cast<unsigned>(x) + static_cast<unsigned>(y)); }
template <class T, class N, class F>
BC_INLINE N __bc_dpx(N a, N b, N c, F f) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<N>(f(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)));
  } else {
    unsigned low = static_cast<unsigned short>(f(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)));
    unsigned high = static_cast<unsigned short>(f(static_cast<T>(a >> 16), static_cast<T>(b >> 16), static_cast<T>(c >> 16)));
    return low | high << 16;
  }
}
template <class T, class N>
BC_INLINE N __bc_relu(N a) {
  return __bc_dpx<T, N>(a, a, a, [](T x, T, T) { return x > T(0) ? x : T(0); });
}
__BC_DPX3(s32, int, int)
__BC_DPX3(u32, unsigned, unsigned)
__BC_DPX3(s16x2, short, unsigned)
__BC_DPX3(u16x2, unsigned short, unsigned)
__BC_DPX3_RELU(s32, int, int)
__BC_DPX3_RELU(s16x2, short, unsigned)
#undef __BC_DPX3
#undef __BC_DPX3_RELU
/// The larger or smaller lane, and whether it is that of the first word.
#define __BC_DPX_WHICH(name, T, op)           \
  BC_FN T name(T a, T b, bool* const first) { \
    *first = a op b;                          \
    return *first ? a : b;                    \
  }
__BC_DPX_WHICH(__vibmax_s32, int, >=)
__BC_DPX_WHICH(__vibmax_u32, unsigned, >=)
__BC_DPX_WHICH(__vibmin_s32, int, <=)
__BC_DPX_WHICH(__vibmin_u32, unsigned, <=)
#undef __BC_DPX_WHICH
#define __BC_DPX_WHICH(name, T, op)                                                \
  BC_FN unsigned name(unsigned a, unsigned b, bool* const high, bool* const low) { \
    *high = static_cast<T>(a >> 16) op static_cast<T>(b >> 16);                    \
    *low = static_cast<T>(a) op static_cast<T>(b);                                 \
    return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffffu);           \
  }
__BC_DPX_WHICH(__vibmax_s16x2, short, >=)
__BC_DPX_WHICH(__vibmax_u16x2, unsigned short, >=)
__BC_DPX_WHICH(__vibmin_s16x2, short, <=)
__BC_DPX_WHICH(__vibmin_u16x2, unsigned short, <=)
#undef __BC_DPX_WHICH
