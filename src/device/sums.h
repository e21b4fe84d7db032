// Sums of blocks of floats, compiled once in the support object: users' functions often sum arrays, and the lanes take long to compile.
#pragma once
#include "blocks.h"

#if !BC_CUDA && (defined(BC_CPU_KERNEL) || defined(BC_CPU_SUPPORT))
namespace bc {

#if defined(BC_CPU_SUPPORT)
template <class Element>
struct BlockSum {
  using T = Element;
  using S = Element;
  static constexpr bool kAdds = true;
  BC_METHOD S init() { return S(0); }
  BC_METHOD S map(T a, i64) { return a; }
  BC_METHOD S join(S p, S q) { return p + q; }
};
extern "C" __attribute__((used)) double bc_block_sum_d(const double* x, i64 n) { return block_state<BlockSum<double>>(x, n, 0); }
extern "C" __attribute__((used)) float bc_block_sum_s(const float* x, i64 n) { return block_state<BlockSum<float>>(x, n, 0); }
#else
extern "C" double bc_block_sum_d(const double* x, i64 n);
extern "C" float bc_block_sum_s(const float* x, i64 n);
BC_FN double block_sum(const double* x, i64 n) { return bc_block_sum_d(x, n); }
BC_FN float block_sum(const float* x, i64 n) { return bc_block_sum_s(x, n); }
#endif

}  // namespace bc
#endif
