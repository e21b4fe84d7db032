#pragma once
#include <cstdint>
#include <string_view>

namespace bc::cpu {

/// The loops of one binary row in one dtype T, built by the host compiler from the device library. Strides are in elements.
struct FoldLoops {
  /// carry = op(carry, x[i]) for each i in order, written to out[i] unless `out` is nullptr. Without `started`, carry begins as x[0].
  void (*scan)(const void* x, int64_t x_stride, void* out, int64_t out_stride, int64_t n, void* carry, bool started) = nullptr;
  /// Two scans side by side: out[i] runs on from `running`, `total` from x[0]; `running` ends as the last out.
  void (*scan_twice)(const void* x, int64_t x_stride, void* out, int64_t out_stride, int64_t n, void* running, void* total) = nullptr;
  /// out[i] = op(a[i], b[i]).
  void (*zip)(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* out, int64_t out_stride, int64_t n) = nullptr;
  /// out[j] = x[at[j]] op … op x[at[j + 1] - 1] for `count` segments; with `last` the last segment ends at n. Each segment has at least its
  /// first element.
  void (*segments)(const void* x, int64_t x_stride, const int64_t* at, int64_t count, bool last, int64_t n, void* out,
                   int64_t out_stride) = nullptr;
  /// base[at[i]] = op(base[at[i]], v[i]) in order.
  void (*at)(void* base, const int64_t* at, const void* v, int64_t v_stride, int64_t n) = nullptr;
};

/// The loops of a row by name; `dtype` is the number of a bc::DType. nullptr where the row has no loop T, T -> T.
const FoldLoops* fold_loops(std::string_view row, int dtype);
/// The part of fold_loops() for the rows of special functions, which is compiled by itself.
const FoldLoops* special_fold_loops(std::string_view row, int dtype);

}  // namespace bc::cpu
