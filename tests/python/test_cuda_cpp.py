"""CUDA C++ kernels against NumPy, the same text on every device."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

rng = np.random.default_rng(7)


def floats(n: int) -> np.ndarray:
    return rng.standard_normal(n).astype(np.float32)


def ints(n: int, high: int = 1000) -> np.ndarray:
    return rng.integers(0, high, n).astype(np.int32)


CASES: dict[str, Callable[[], tuple]] = {}


def case(function: Callable[[], tuple]) -> Callable[[], tuple]:
    """A function that gives (text, grid, block, arguments, expected arrays by argument, shared bytes); the kernel's name is k."""
    CASES[function.__name__] = function
    return function


@case
def elementwise_tail():
    n = 1003
    a, b = floats(n), floats(n)
    text = """extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) c[i] = a[i] * 2.0f + b[i]; }"""
    return text, (8,), (128,), (a, b, np.zeros(n, np.float32), n), {2: a * 2 + b}


@case
def grid_stride():
    n = 10007
    x = floats(n)
    text = """extern "C" __global__ void k(float* x, float f, int n) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= f; }"""
    return text, (5,), (96,), (x, np.float32(3), n), {0: x * np.float32(3)}


@case
def three_dimensional_blocks():
    text = """extern "C" __global__ void k(int* out, int nx, int ny, int nz) {
      int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
      if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z; }"""
    nx, ny, nz = 11, 7, 9
    z, y, x = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    return text, (3, 3, 3), (4, 3, 5), (np.zeros((nz, ny, nx), np.int32), nx, ny, nz), {0: (x + 100 * y + 10000 * z).astype(np.int32)}


@case
def tile_product():
    n = 48
    a, b = floats(n * n).reshape(n, n), floats(n * n).reshape(n, n)
    text = """#define T 16
    extern "C" __global__ void k(const float* A, const float* B, float* C, int n) {
      __shared__ float as[T][T], bs[T][T];
      int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x; float acc = 0;
      for (int t = 0; t < n / T; ++t) {
        as[threadIdx.y][threadIdx.x] = A[row * n + t * T + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = B[(t * T + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads(); }
      C[row * n + col] = acc; }"""
    return text, (3, 3), (16, 16), (a, b, np.zeros((n, n), np.float32), n), {2: a @ b}


@case
def naive_product_odd_sizes():
    m, kk, n = 37, 29, 41
    a, b = floats(m * kk).reshape(m, kk), floats(kk * n).reshape(kk, n)
    text = """extern "C" __global__ void k(const float* A, const float* B, float* C, int m, int kk, int n) {
      int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
      if (row < m && col < n) { float acc = 0; for (int i = 0; i < kk; ++i) acc += A[row * kk + i] * B[i * n + col];
          C[row * n + col] = acc; } }"""
    return text, (6, 5), (8, 8), (a, b, np.zeros((m, n), np.float32), m, kk, n), {2: a @ b}


@case
def tree_maximum():
    n = 5000
    x = floats(n)
    text = """extern "C" __global__ void k(const float* x, float* out, int n) {
      __shared__ float s[256]; int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
      s[t] = i < n ? x[i] : -1e30f; __syncthreads();
      for (int d = blockDim.x / 2; d > 0; d >>= 1) { if (t < d) s[t] = fmaxf(s[t], s[t + d]); __syncthreads(); }
      if (t == 0) out[blockIdx.x] = s[0]; }"""
    blocks = -(-n // 256)
    padded = np.full(blocks * 256, -1e30, np.float32)
    padded[:n] = x
    return text, (blocks,), (256,), (x, np.zeros(blocks, np.float32), n), {1: padded.reshape(blocks, 256).max(1)}


@case
def tree_sum_interleaved():
    x = ints(512)
    text = """extern "C" __global__ void k(const int* x, int* out) {
      extern __shared__ int s[]; unsigned t = threadIdx.x; s[t] = x[blockIdx.x * blockDim.x + t]; __syncthreads();
      for (unsigned d = 1; d < blockDim.x; d *= 2) { if (t % (2 * d) == 0 && t + d < blockDim.x) s[t] += s[t + d]; __syncthreads(); }
      if (t == 0) out[blockIdx.x] = s[0]; }"""
    return text, (4,), (128,), (x, np.zeros(4, np.int32)), {1: x.reshape(4, 128).sum(1).astype(np.int32)}, 512


@case
def block_of_odd_size_tree():
    x = ints(3 * 100)
    text = """extern "C" __global__ void k(const int* x, int* out) {
      __shared__ int s[100]; int t = threadIdx.x, n = blockDim.x; s[t] = x[blockIdx.x * n + t]; __syncthreads();
      while (n > 1) { int half = (n + 1) / 2; if (t < n / 2) s[t] += s[t + half]; __syncthreads(); n = half; }
      if (t == 0) out[blockIdx.x] = s[0]; }"""
    return text, (3,), (100,), (x, np.zeros(3, np.int32)), {1: x.reshape(3, 100).sum(1).astype(np.int32)}


@case
def uniform_early_return():
    x = ints(6 * 64)
    text = """extern "C" __global__ void k(const int* x, int* out, int last) {
      __shared__ int s[64]; if (blockIdx.x >= last) return;
      int t = threadIdx.x, i = blockIdx.x * 64 + t; s[t] = x[i]; __syncthreads(); out[i] = s[63 - t]; }"""
    expected = np.full(6 * 64, -1, np.int32)
    expected[: 4 * 64] = x[: 4 * 64].reshape(4, 64)[:, ::-1].ravel()
    return text, (6,), (64,), (x, np.full(6 * 64, -1, np.int32), 4), {1: expected}


@case
def divergent_early_return():
    n = 301
    x = ints(n)
    text = """extern "C" __global__ void k(const int* x, int* out, int n) {
      __shared__ int s[128]; int t = threadIdx.x, i = blockIdx.x * 128 + t; s[t] = 0;
      if (i >= n) return;
      s[t] = x[i]; __syncthreads();
      int other = t ^ 1; out[i] = blockIdx.x * 128 + other < n ? s[other] : -1; }"""
    i = np.arange(n)
    return text, (3,), (128,), (x, np.zeros(n, np.int32), n), {1: np.where((i ^ 1) < n, x[np.minimum(i ^ 1, n - 1)], -1).astype(np.int32)}


@case
def barrier_in_uniform_branch():
    x = ints(256)
    text = """extern "C" __global__ void k(int* x, int mode) {
      __shared__ int s[128]; int t = threadIdx.x, i = blockIdx.x * 128 + t; int v = x[i];
      if (mode == 1) { s[t] = v; __syncthreads(); v = s[127 - t]; } else if (mode == 2) { v += 5; }
      if (blockIdx.x == 1) { __syncthreads(); s[t] = v; __syncthreads(); v += s[(t + 1) % 128]; }
      x[i] = v; }"""
    first = x[:128][::-1]
    second = x[128:][::-1]
    return text, (2,), (128,), (x, 1), {0: np.concatenate([first, second + np.roll(second, -1)]).astype(np.int32)}


@case
def nested_loops_with_barriers():
    x = ints(64, 10)
    text = """extern "C" __global__ void k(int* x, int rounds) {
      __shared__ int s[64]; int t = threadIdx.x, v = x[t], total = 0;
      for (int i = 0; i < rounds; ++i) {
        for (int j = 1; j <= i + 1; ++j) { s[t] = v + j; __syncthreads(); total += s[(t + j) % 64]; __syncthreads(); }
        if (i % 2 == 0) { s[t] = total; __syncthreads(); v ^= s[63 - t] & 7; __syncthreads(); } }
      x[t] = total * 100 + v; }"""
    v, total = x.astype(np.int64), np.zeros(64, np.int64)
    for i in range(5):
        for j in range(1, i + 2):
            total = total + np.roll(v + j, -j)
        if i % 2 == 0:
            v = v ^ (total[::-1] & 7)
    return text, (1,), (64,), (x, 5), {0: (total * 100 + v).astype(np.int32)}


@case
def loop_until_all_agree():
    x = ints(128, 50)
    text = """extern "C" __global__ void k(int* x, int* steps) {
      int v = x[threadIdx.x], n = 0;
      while (__syncthreads_or(v > 0)) { if (v > 0) v -= 7; ++n; }
      x[threadIdx.x] = v; if (threadIdx.x == 0) *steps = n; }"""
    return text, (1,), (128,), (x, np.zeros(1, np.int32)), {
        0: (x - 7 * -(-x // 7)).astype(np.int32), 1: np.array([-(-x.max() // 7)], np.int32)}


@case
def counts_of_predicates():
    x = ints(300, 3)
    text = """extern "C" __global__ void k(const int* x, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; bool in = i < n;
      int ones = __syncthreads_count(in && x[in ? i : 0] == 1), all = __syncthreads_and(in);
      if (threadIdx.x == 0) { out[2 * blockIdx.x] = ones; out[2 * blockIdx.x + 1] = all; } }"""
    padded = np.zeros(384, np.int32)
    padded[:300] = x
    counts = (padded.reshape(3, 128) == 1).sum(1)
    return text, (3,), (128,), (x, np.zeros(6, np.int32), 300), {1: np.stack([counts, [1, 1, 0]], 1).ravel().astype(np.int32)}


@case
def transpose_through_shared():
    h, w = 45, 70
    x = floats(h * w).reshape(h, w)
    text = """extern "C" __global__ void k(const float* in, float* out, int h, int w) {
      __shared__ float tile[32][33]; int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
      for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
      __syncthreads();
      x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
      for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j]; }"""
    return text, (3, 2), (32, 8), (x, np.zeros((w, h), np.float32), h, w), {1: x.T.copy()}


@case
def stencil_with_halo():
    n = 1000
    x = floats(n)
    text = """#define R 3
    extern "C" __global__ void k(const float* in, float* out, int n) {
      __shared__ float s[128 + 2 * R]; int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + R;
      s[l] = g < n ? in[g] : 0;
      if (threadIdx.x < R) { s[l - R] = g >= R ? in[g - R] : 0; s[l + 128] = g + 128 < n ? in[g + 128] : 0; }
      __syncthreads();
      if (g < n) { float sum = 0; for (int d = -R; d <= R; ++d) sum += s[l + d]; out[g] = sum; } }"""
    padded = np.pad(x, 3).astype(np.float64)
    return text, (8,), (128,), (x, np.zeros(n, np.float32), n), {1: sum(padded[d : d + n] for d in range(7)).astype(np.float32)}


@case
def histogram_shared_atomics():
    x = ints(5000, 64)
    text = """extern "C" __global__ void k(const int* x, int* bins, int n) {
      __shared__ int local[64]; for (int i = threadIdx.x; i < 64; i += blockDim.x) local[i] = 0; __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1);
      __syncthreads();
      for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&bins[i], local[i]); }"""
    return text, (6,), (100,), (x, np.zeros(64, np.int32), 5000), {1: np.bincount(x, minlength=64).astype(np.int32)}


@case
def atomics_of_every_kind():
    x = ints(1000, 1 << 20)
    text = """extern "C" __global__ void k(const int* x, int* o, unsigned* u, float* f, double* d, unsigned long long* l, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; int v = x[i];
      atomicAdd(o, v); atomicSub(o + 1, v); atomicMax(o + 2, v); atomicMin(o + 3, v); atomicAnd(o + 4, v | 3); atomicOr(o + 5, v);
      atomicXor(o + 6, v); atomicInc(u, 6); atomicDec(u + 1, 6); atomicAdd(f, 1.0f); atomicMax(u + 2, (unsigned)v);
      atomicAdd(d, 0.5); atomicMax((long long*)l, (long long)v); atomicAdd(l + 1, (unsigned long long)v);
      int old = o[7], seen; do { seen = old; old = atomicCAS(o + 7, seen, seen + 2); } while (old != seen);
      atomicExch(o + 8, 77); }"""
    v = x.astype(np.int64)
    out = np.array([v.sum(), -v.sum(), v.max(), v.min(), np.bitwise_and.reduce(v | 3), np.bitwise_or.reduce(v), np.bitwise_xor.reduce(v),
                    2000, 77]).astype(np.int32)
    start = np.array([0, 0, -1, 1 << 30, -1, 0, 0, 0, 0], np.int32)
    return text, (8,), (128,), (x, start, np.zeros(3, np.uint32), np.zeros(1, np.float32), np.zeros(1), np.zeros(2, np.uint64), 1000), {
        1: out, 2: np.array([1000 % 7, (-1000) % 7, v.max()], np.uint32), 3: np.array([1000], np.float32), 4: np.array([500.0]),
        5: np.array([v.max(), v.sum()], np.uint64)}


@case
def warp_sum_by_shuffles():
    x = ints(1000)
    text = """extern "C" __global__ void k(const int* x, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0;
      for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
      if (threadIdx.x % 32 == 0) out[i / 32] = v; }"""
    padded = np.zeros(1024, np.int32)
    padded[:1000] = x
    return text, (8,), (128,), (x, np.zeros(32, np.int32), 1000), {1: padded.reshape(32, 32).sum(1).astype(np.int32)}


@case
def block_sum_warps_then_shared():
    x = floats(1024)
    text = """__device__ __forceinline__ float warp_sum(float v) {
      #pragma unroll
      for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
      return v; }
    extern "C" __global__ void k(const float* x, float* out) {
      __shared__ float part[32]; int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
      float v = warp_sum(x[blockIdx.x * blockDim.x + threadIdx.x]);
      if (lane == 0) part[warp] = v;
      __syncthreads();
      if (warp == 0) { v = lane < blockDim.x / 32 ? part[lane] : 0.0f; v = warp_sum(v); if (lane == 0) out[blockIdx.x] = v; } }"""
    return text, (2,), (512,), (x, np.zeros(2, np.float32)), {1: x.reshape(2, 512).astype(np.float64).sum(1).astype(np.float32)}


@case
def warp_scan_then_block_scan():
    x = ints(256)
    text = """extern "C" __global__ void k(int* x) {
      __shared__ int totals[8]; int t = threadIdx.x, lane = t % 32, v = x[t];
      for (int d = 1; d < 32; d *= 2) { int u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }
      if (lane == 31) totals[t / 32] = v;
      __syncthreads();
      if (t < 8) { int w = totals[t]; for (int d = 1; d < 8; d *= 2) { int u = __shfl_up_sync(0xff, w, d); if (t >= d) w += u; }
          totals[t] = w; }
      __syncthreads();
      if (t >= 32) v += totals[t / 32 - 1];
      x[t] = v; }"""
    return text, (1,), (256,), (x,), {0: np.cumsum(x).astype(np.int32)}


@case
def hillis_steele_scan():
    x = ints(200)
    text = """extern "C" __global__ void k(int* x) {
      __shared__ int a[2][200]; int t = threadIdx.x, in = 0; a[0][t] = x[t]; __syncthreads();
      for (int d = 1; d < blockDim.x; d *= 2) { int out = 1 - in; a[out][t] = a[in][t] + (t >= d ? a[in][t - d] : 0); in = out;
          __syncthreads(); }
      x[t] = a[in][t]; }"""
    return text, (1,), (200,), (x,), {0: np.cumsum(x).astype(np.int32)}


@case
def blelloch_scan():
    x = ints(256)
    text = """extern "C" __global__ void k(int* x) {
      __shared__ int s[256]; int t = threadIdx.x, n = 256, offset = 1; s[2 * t] = x[2 * t]; s[2 * t + 1] = x[2 * t + 1];
      for (int d = n >> 1; d > 0; d >>= 1) { __syncthreads();
        if (t < d) { int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1; s[b] += s[a]; } offset *= 2; }
      if (t == 0) s[n - 1] = 0;
      for (int d = 1; d < n; d *= 2) { offset >>= 1; __syncthreads();
        if (t < d) { int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1; int u = s[a]; s[a] = s[b]; s[b] += u; } }
      __syncthreads(); x[2 * t] = s[2 * t]; x[2 * t + 1] = s[2 * t + 1]; }"""
    return text, (1,), (128,), (x,), {0: (np.cumsum(x) - x).astype(np.int32)}


@case
def votes_and_matches():
    x = ints(128, 5)
    text = """extern "C" __global__ void k(const int* x, unsigned* out) {
      int t = threadIdx.x, v = x[t]; unsigned* o = out + 6 * t;
      o[0] = __ballot_sync(0xffffffffu, v > 2); o[1] = __any_sync(0xffffffffu, v == 4); o[2] = __all_sync(0xffffffffu, v < 4);
      o[3] = __match_any_sync(0xffffffffu, v); o[4] = __reduce_add_sync(0xffffffffu, (unsigned)v); o[5] = __popc(__activemask()); }"""
    out = np.zeros((128, 6), np.uint32)
    for w in range(4):
        lanes = x[32 * w : 32 * w + 32]
        bit = (1 << np.arange(32)).astype(np.uint64)
        for i in range(32):
            out[32 * w + i] = [bit[lanes > 2].sum(), (lanes == 4).any(), (lanes < 4).all(), bit[lanes == lanes[i]].sum(), lanes.sum(), 32]
    return text, (1,), (128,), (x, np.zeros((128, 6), np.uint32)), {1: out}


@case
def shuffles_in_half_warps():
    x = ints(64)
    text = """extern "C" __global__ void k(int* x) {
      int t = threadIdx.x, v = x[t], r = 0;
      if ((t & 31) < 16) r = __shfl_down_sync(0x0000ffffu, v, 4, 16); else r = __shfl_xor_sync(0xffff0000u, v, 3, 16) + 1000;
      r += __shfl_sync(0xffffffffu, v, 5, 8);
      x[t] = r; }"""
    out = np.zeros(64, np.int32)
    for t in range(64):
        lane, base = t % 32, t - t % 32
        if lane < 16:
            r = x[base + (lane + 4 if lane + 4 < 16 else lane)]
        else:
            r = x[base + (lane ^ 3)] + 1000
        out[t] = r + x[base + lane // 8 * 8 + 5]
    return text, (1,), (64,), (x,), {0: out}


@case
def partial_last_warp():
    x = ints(45)
    text = """extern "C" __global__ void k(const int* x, int* out) {
      int t = threadIdx.x; unsigned here = __activemask();
      out[t] = __shfl_sync(here, x[t], 3) * 100 + __popc(__ballot_sync(here, x[t] & 1)); }"""
    first, second = x[:32], x[32:]
    out = np.concatenate([np.full(32, first[3] * 100 + (first & 1).sum()), np.full(13, second[3] * 100 + (second & 1).sum())])
    return text, (1,), (45,), (x, np.zeros(45, np.int32)), {1: out.astype(np.int32)}


@case
def divergent_loops_of_a_warp():
    x = ints(64, 9)
    text = """extern "C" __global__ void k(const int* x, int* out) {
      int t = threadIdx.x, n = x[t], sum = 0;
      for (int i = 0; i < n; ++i) sum += i * x[(t + i) & 63];
      __syncwarp();
      int most = sum; for (int d = 16; d; d >>= 1) most = max(most, __shfl_xor_sync(~0u, most, d));
      out[t] = most - sum; }"""
    sums = np.array([sum(i * int(x[(t + i) & 63]) for i in range(x[t])) for t in range(64)])
    return text, (1,), (64,), (x, np.zeros(64, np.int32)), {1: (np.repeat(sums.reshape(2, 32).max(1), 32) - sums).astype(np.int32)}


@case
def structs_methods_and_templates():
    x = floats(200)
    text = """template <class T, int N> struct Poly { T c[N]; __device__ T at(T x) const { T r = 0; for (int i = N - 1; i >= 0;
        --i) r = r * x + c[i]; return r; } };
    struct Pair { float lo, hi; };
    __device__ Pair order(float a, float b) { return a < b ? Pair{a, b} : Pair{b, a}; }
    extern "C" __global__ void k(float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
      Poly<float, 4> p = {{1.0f, -2.0f, 0.5f, 0.25f}}; Pair q = order(p.at(x[i]), x[i]); y[i] = q.hi - q.lo; }"""
    x64 = x.astype(np.float64)
    p = 1 - 2 * x64 + 0.5 * x64**2 + 0.25 * x64**3
    return text, (4,), (64,), (x, np.zeros(200, np.float32), 200), {1: np.abs(p - x64).astype(np.float32)}


@case
def local_arrays_across_barriers():
    x = ints(4 * 32)
    text = """extern "C" __global__ void k(int* x) {
      __shared__ int s[32]; int t = threadIdx.x, mine[4];
      for (int i = 0; i < 4; ++i) mine[i] = x[i * 32 + t];
      for (int i = 0; i < 4; ++i) { s[t] = mine[i]; __syncthreads(); mine[(i + t) & 3] += s[31 - t]; __syncthreads(); }
      for (int i = 0; i < 4; ++i) x[i * 32 + t] = mine[i]; }"""
    mine = x.reshape(4, 32).astype(np.int64).copy()
    t = np.arange(32)
    for i in range(4):
        s = mine[i].copy()
        mine[(i + t) & 3, t] += s[::-1]
    return text, (1,), (32,), (x,), {0: mine.astype(np.int32).ravel()}


@case
def private_sort():
    x = ints(8 * 50)
    text = """extern "C" __global__ void k(int* x, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; int a[8];
      for (int j = 0; j < 8; ++j) a[j] = x[8 * i + j];
      for (int j = 1; j < 8; ++j) { int v = a[j], p = j; while (p > 0 && a[p - 1] > v) { a[p] = a[p - 1]; --p; } a[p] = v; }
      for (int j = 0; j < 8; ++j) x[8 * i + j] = a[j]; }"""
    return text, (2,), (32,), (x, 50), {0: np.sort(x.reshape(50, 8), 1).ravel()}


@case
def bitonic_sort():
    x = ints(256)
    text = """extern "C" __global__ void k(int* x) {
      __shared__ int s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
      for (int size = 2; size <= 256; size <<= 1)
        for (int d = size >> 1; d > 0; d >>= 1) {
          int o = t ^ d;
          if (o > t) { bool up = (t & size) == 0; if ((s[t] > s[o]) == up) { int u = s[t]; s[t] = s[o]; s[o] = u; } }
          __syncthreads(); }
      x[t] = s[t]; }"""
    return text, (1,), (256,), (x,), {0: np.sort(x)}


@case
def mandelbrot():
    n = 40
    text = """extern "C" __global__ void k(int* out, int n, int steps) {
      int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (x >= n || y >= n) return;
      double cr = -2 + 4.0 * x / n, ci = -2 + 4.0 * y / n, zr = 0, zi = 0; int i = 0;
      while (i < steps) { double r2 = __dmul_rn(zr, zr), i2 = __dmul_rn(zi, zi); if (__dadd_rn(r2, i2) > 4) break;
        zi = __dadd_rn(__dmul_rn(__dmul_rn(2.0, zr), zi), ci); zr = __dadd_rn(__dsub_rn(r2, i2), cr); ++i; }
      out[y * n + x] = i; }"""
    c = (-2 + 4.0 * np.arange(n) / n)[None, :] + 1j * (-2 + 4.0 * np.arange(n) / n)[:, None]
    zr, zi = np.zeros((n, n)), np.zeros((n, n))
    count, alive = np.zeros((n, n), np.int32), np.ones((n, n), bool)
    for _ in range(60):
        r2, i2 = zr * zr, zi * zi
        alive &= ~(r2 + i2 > 4)
        zi, zr = np.where(alive, 2.0 * zr * zi + c.imag, zi), np.where(alive, r2 - i2 + c.real, zr)
        count += alive
    return text, (5, 5), (8, 8), (np.zeros((n, n), np.int32), n, 60), {0: count}


@case
def mathematics_of_floats():
    x = np.linspace(-3, 3, 400).astype(np.float32)
    text = """extern "C" __global__ void k(const float* x, float* y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float v = x[i], a = fabsf(v) + 0.1f;
      y[i] = sinf(v) + cosf(v) * expf(v) - logf(a) + sqrtf(a) * rsqrtf(a) + powf(a, 1.5f) + atan2f(v, a) + tanhf(v) + fmaf(v, v, 1.0f)
           + floorf(v) + fminf(v, 0.5f) + fmaxf(v, -0.5f) + erff(v) + cbrtf(v) + log1pf(a) + expm1f(v) + hypotf(v, 2.0f) + fmodf(v,
               0.7f); }"""
    v = x.astype(np.float64)
    a = np.abs(v) + 0.1
    from math import erf

    y = (np.sin(v) + np.cos(v) * np.exp(v) - np.log(a) + 1 + a**1.5 + np.arctan2(v, a) + np.tanh(v) + v * v + 1 + np.floor(v)
         + np.minimum(v, 0.5) + np.maximum(v, -0.5) + np.array([erf(t) for t in v]) + np.cbrt(v) + np.log1p(a) + np.expm1(v)
         + np.hypot(v, 2) + np.fmod(v, np.float64(np.float32(0.7))))
    return text, (4,), (128,), (x, np.zeros(400, np.float32), 400), {1: y.astype(np.float32)}


@case
def integer_intrinsics():
    x = ints(256, 1 << 30)
    text = """extern "C" __global__ void k(const int* x, int* o) {
      int t = threadIdx.x; unsigned v = x[t];
      o[t] = __popc(v) + 64 * __clz(v) + 4096 * __ffs(v) + (__brev(v) >> 20) + __mul24(v, 3) + __umulhi(v, 0x12345678u) + __byte_perm(v,
          ~v, 0x5140)
           + (int)__funnelshift_l(v, v * 7, 5) + max(v, 100u) % 7 + abs((int)v - 1000); }"""
    v = x.astype(np.uint32)
    b = np.arange(32, dtype=np.uint32)
    bits = (v[:, None] >> b) & 1
    brev = (bits.astype(np.uint64) << (31 - b.astype(np.uint64))).sum(1)
    clz = np.array([32 - int(t).bit_length() for t in v])
    ffs = np.array([(int(t) & -int(t)).bit_length() for t in v])
    m24 = (((v.astype(np.int64) & 0xFFFFFF) ^ 0x800000) - 0x800000) * 3
    hi = (v.astype(np.uint64) * 0x12345678) >> np.uint64(32)
    inv = (~v).astype(np.uint32)

    def byte(s):
        return ((v if s < 4 else inv) >> np.uint32(8 * (s & 3))) & 0xFF

    perm = byte(0) | byte(4) << np.uint32(8) | byte(1) << np.uint32(16) | byte(5) << np.uint32(24)
    v7 = (v.astype(np.uint64) * 7) & 0xFFFFFFFF
    funnel = ((v7 << np.uint64(32) | v) << np.uint64(5)) >> np.uint64(32) & np.uint64(0xFFFFFFFF)
    total = (bits.sum(1).astype(np.int64) + 64 * clz + 4096 * ffs + (brev >> 20).astype(np.int64) + m24 + hi.astype(np.int64)
             + perm.astype(np.int64) + funnel.astype(np.int64) + np.maximum(v,
                 100).astype(np.int64) % 7 + np.abs(v.astype(np.int64) - 1000))
    return text, (1,), (256,), (x, np.zeros(256, np.int32)), {1: total.astype(np.uint64).astype(np.uint32).view(np.int32)}


@case
def vector_types():
    x = floats(4 * 64).reshape(64, 4)
    text = """extern "C" __global__ void k(const float4* x, float4* y, int2* z) {
      int t = threadIdx.x; float4 v = x[t]; y[t] = make_float4(v.w, v.z + v.x, v.y * 2.0f, dim3(3, 4).z);
      z[t] = make_int2(t, (int)blockDim.x); }"""
    y = np.stack([x[:, 3], x[:, 2] + x[:, 0], x[:, 1] * 2, np.ones(64)], 1).astype(np.float32)
    return text, (1,), (64,), (x, np.zeros_like(x), np.zeros((64, 2), np.int32)), {
        1: y, 2: np.stack([np.arange(64), np.full(64, 64)], 1).astype(np.int32)}


@case
def recursion_and_switch():
    x = ints(100, 12)
    text = """__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    extern "C" __global__ void k(int* x, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; int v = x[i];
      switch (v % 4) { case 0: v = fib(v); break; case 1: v = -v; case 2: v += 10; break; default: v *= v; }
      x[i] = v; }"""
    fib = [0, 1]
    for _ in range(12):
        fib.append(fib[-1] + fib[-2])
    out = [fib[v] if v % 4 == 0 else -v + 10 if v % 4 == 1 else v + 10 if v % 4 == 2 else v * v for v in x]
    return text, (2,), (64,), (x, 100), {0: np.array(out, np.int32)}


@case
def dynamic_shared_in_parts():
    x = floats(96)
    text = """extern __shared__ unsigned char memory[];
    extern "C" __global__ void k(const float* x, float* y, int n) {
      float* values = (float*)memory; int* places = (int*)(values + n); int t = threadIdx.x;
      values[t] = x[t]; places[t] = (t * 5) % n; __syncthreads(); y[t] = values[places[t]]; }"""
    return text, (1,), (96,), (x, np.zeros(96, np.float32), 96), {1: x[(np.arange(96) * 5) % 96]}, 96 * 8


@case
def matrix_vector_by_warps():
    a, v = floats(20 * 75).reshape(20, 75), floats(75)
    text = """extern "C" __global__ void k(const float* a, const float* v, float* out, int rows, int cols) {
      int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32; if (row >= rows) return;
      float sum = 0; for (int j = lane; j < cols; j += 32) sum += a[row * cols + j] * v[j];
      for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
      if (lane == 0) out[row] = sum; }"""
    return text, (6,), (128,), (a, v, np.zeros(20, np.float32), 20, 75), {2: a @ v}


@case
def cooperative_tiles():
    x = ints(128)
    text = """#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(int* x) {
      cg::thread_block block = cg::this_thread_block(); auto tile = cg::tiled_partition<8>(block);
      int v = x[block.thread_rank()];
      for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
      v = tile.shfl(v, 0) + tile.thread_rank() + 1000 * tile.meta_group_rank();
      block.sync(); x[block.thread_rank()] = v; }"""
    sums = np.repeat(x.reshape(16, 8).sum(1), 8)
    t = np.arange(128)
    return text, (1,), (128,), (x,), {0: (sums + t % 8 + 1000 * (t // 8)).astype(np.int32)}


@case
def halves():
    x = floats(64).astype(np.float16)
    text = """#include <cuda_fp16.h>
    extern "C" __global__ void k(const __half* x, __half* y) {
      int t = threadIdx.x; __half a = x[t]; y[t] = __hadd(__hmul(a, a), __float2half(0.5f)); if (__hgt(a, __float2half(1.0f))) y[t] = a;
          }"""
    y = np.where(x > np.float16(1), x, x * x + np.float16(0.5)).astype(np.float16)
    return text, (1,), (64,), (x, np.zeros(64, np.float16)), {1: y}


@case
def gcd_with_divergent_loop_and_barrier():
    x = ints(128) + 1
    text = """extern "C" __global__ void k(const int* x, int* out) {
      __shared__ int s[128]; int t = threadIdx.x, a = x[t], b = x[127 - t];
      while (b != 0) { int r = a % b; a = b; b = r; }
      s[t] = a; __syncthreads(); int best = 0; for (int i = 0; i < 128; ++i) best = max(best, s[i]); out[t] = a * 10000 + best; }"""
    g = np.gcd(x, x[::-1])
    return text, (1,), (128,), (x, np.zeros(128, np.int32)), {1: (g * 10000 + g.max()).astype(np.int32)}


@case
def ping_pong_of_blocks_of_two_dimensions():
    x = floats(24 * 24).reshape(24, 24)
    text = """extern "C" __global__ void k(float* x, int n, int steps) {
      __shared__ float a[24][24], b[24][24]; int c = threadIdx.x, r = threadIdx.y; a[r][c] = x[r * n + c]; __syncthreads();
      for (int s = 0; s < steps; ++s) {
        float v = a[r][c];
        if (r > 0 && c > 0 && r < n - 1 && c < n - 1) v = 0.25f * (a[r - 1][c] + a[r + 1][c] + a[r][c - 1] + a[r][c + 1]);
        b[r][c] = v; __syncthreads(); a[r][c] = b[r][c]; __syncthreads(); }
      x[r * n + c] = a[r][c]; }"""
    a = x.astype(np.float64)
    for _ in range(9):
        b = a.copy()
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a = b
    return text, (1,), (24, 24), (x, 24, 9), {0: a.astype(np.float32)}


@case
def strided_loop_with_carried_values():
    n, threads = 5003, 7 * 64
    x = ints(n, 100)
    text = """extern "C" __global__ void k(const int* x, int* sums, int* last, int n) {
      int first = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, seen = -1;
      for (int i = first; i < n; i += gridDim.x * blockDim.x) { sum += x[i] * (i % 3); seen = i; }
      sums[first] = sum; last[first] = seen; }"""
    sums, last = np.zeros(threads, np.int32), np.zeros(threads, np.int32)
    for t in range(threads):
        i = np.arange(t, n, threads)
        sums[t], last[t] = (x[i] * (i % 3)).sum(), i[-1]
    return text, (7,), (64,), (x, np.zeros(threads, np.int32), np.zeros(threads, np.int32), n), {1: sums, 2: last}


@case
def strided_loop_of_wide_indices_and_pointers():
    n = 3001
    x = floats(n)
    text = """extern "C" __global__ void k(const float* x, float* y, long long n) {
      long long stride = (long long)gridDim.x * blockDim.x, i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
      const float* p = x + i;
      for (; i < n; i += stride, p += stride) y[i] = *p * 2.0f + (float)(i & 7); }"""
    return text, (3,), (128,), (x, np.zeros(n, np.float32), np.int64(n)), {1: x * 2 + (np.arange(n) & 7).astype(np.float32)}


@case
def strided_loops_one_after_the_other():
    n = 1000
    x = ints(n)
    text = """extern "C" __global__ void k(int* x, int* y, unsigned n) {
      __shared__ int s[96];
      unsigned stride = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x; int total = 0;
      for (unsigned i = t; i < n; i += stride) total += x[i];
      s[threadIdx.x] = total; __syncthreads();
      total = s[(threadIdx.x + 1) % 96];
      for (unsigned i = t; i < n; i += stride) y[i] = x[i] + total; }"""
    totals = np.array([x[t::192].sum() for t in range(192)])
    t = np.arange(n) % 192
    other = t // 96 * 96 + (t % 96 + 1) % 96
    return text, (2,), (96,), (x, np.zeros(n, np.int32), np.uint32(n)), {1: (x + totals[other]).astype(np.int32)}


@case
def loop_with_uniform_break_and_continue():
    x = ints(256, 50)
    text = """extern "C" __global__ void k(const int* x, int* out, int n, int stop) {
      int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, turns = 0;
      for (int i = 0; i < n; ++i) { if (i == stop) break; if (i % 3 == 1) continue; int v = x[(t + i) % 256]; if (v & 1) sum += v;
          else sum -= i; ++turns; }
      out[t] = sum * 100 + turns; }"""
    out = np.zeros(256, np.int64)
    for i in [i for i in range(17) if i % 3 != 1]:
        v = np.roll(x, -i).astype(np.int64)
        out += np.where(v & 1, v, -i)
    return text, (2,), (128,), (x, np.zeros(256, np.int32), 40, 17), {1: (out * 100 + 11).astype(np.int32)}


@case
def loop_with_divergent_break():
    x = ints(4 * 100, 30)
    text = """extern "C" __global__ void k(const int* x, int* where, int n, int wanted) {
      int t = blockIdx.x * blockDim.x + threadIdx.x, found = -1; if (t >= n) return;
      for (int i = 0; i < 4; ++i) if (x[i * n + t] == wanted) { found = i; break; }
      int j = 0; do { j += x[t] % 5 + 1; } while (j < 12);
      where[t] = found * 100 + j; }"""
    a = x.reshape(4, 100)
    found = np.where((a == 7).any(0), (a == 7).argmax(0), -1)
    step = a[0] % 5 + 1
    return text, (2,), (64,), (x, np.zeros(100, np.int32), 100, 7), {1: (found * 100 + -(-12 // step) * step).astype(np.int32)}


@case
def nested_uniform_loops_with_guard():
    h, w = 30, 53
    x, f = floats(h * w).reshape(h, w), floats(25).reshape(5, 5)
    text = """extern "C" __global__ void k(const float* x, const float* f, float* out, int h, int w, int r) {
      int c = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (c >= w || y >= h) return;
      float sum = 0;
      for (int i = -r; i <= r; ++i) for (int j = -r; j <= r; ++j) {
        int yy = min(max(y + i, 0), h - 1), xx = min(max(c + j, 0), w - 1); sum += x[yy * w + xx] * f[(i + r) * (2 * r + 1) + j + r]; }
      out[y * w + c] = sum; }"""
    p = np.pad(x, 2, mode="edge").astype(np.float64)
    out = sum(p[i : i + h, j : j + w] * f[i, j] for i in range(5) for j in range(5))
    return text, (4, 4), (16, 8), (x, f, np.zeros((h, w), np.float32), h, w, 2), {2: out.astype(np.float32)}


@case
def guarded_tile_product_with_edges():
    m, kk, n = 37, 45, 52
    a, b = floats(m * kk).reshape(m, kk), floats(kk * n).reshape(kk, n)
    text = """#define T 16
    extern "C" __global__ void k(const float* A, const float* B, float* C, int m, int kk, int n) {
      __shared__ float as[T][T], bs[T][T]; int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x; float acc = 0;
      for (int t = 0; t < (kk + T - 1) / T; ++t) {
        int c = t * T + threadIdx.x, r = t * T + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && c < kk ? A[row * kk + c] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = r < kk && col < n ? B[r * n + col] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < T; ++i) acc = fmaf(as[threadIdx.y][i], bs[i][threadIdx.x], acc);
        __syncthreads(); }
      if (row < m && col < n) C[row * n + col] = acc; }"""
    return text, (4, 3), (16, 16), (a, b, np.zeros((m, n), np.float32), m, kk, n), {2: a @ b}


@case
def guard_before_barriers_in_two_dimensions():
    n = 40
    x = floats(n * n).reshape(n, n)
    text = """extern "C" __global__ void k(const float* x, float* y, int n) {
      __shared__ float s[16][16]; int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
      if (r >= n && c >= n) return;
      s[threadIdx.y][threadIdx.x] = r < n && c < n ? x[r * n + c] : 0.0f; __syncthreads();
      float sum = 0; for (int i = 0; i < 16; ++i) sum += s[threadIdx.y][i];
      if (r < n && c < n) y[r * n + c] = sum; }"""
    p = np.zeros((48, 48))
    p[:n, :n] = x
    sums = p.reshape(48, 3, 16).sum(2).repeat(16, 1)[:n, :n]
    return text, (3, 3), (16, 16), (x, np.zeros((n, n), np.float32), n), {1: sums.astype(np.float32)}


@case
def volatile_warp_reduction():
    x = ints(256)
    text = """extern "C" __global__ void k(const int* x, int* out) {
      __shared__ volatile int s[64]; int t = threadIdx.x; s[t] = x[blockIdx.x * 64 + t]; __syncthreads();
      if (t < 32) { s[t] += s[t + 32]; __syncwarp();
        if (t < 16) s[t] += s[t + 16]; __syncwarp(); if (t < 8) s[t] += s[t + 8]; __syncwarp(); if (t < 4) s[t] += s[t + 4]; __syncwarp();
        if (t < 2) s[t] += s[t + 2]; __syncwarp(); if (t < 1) s[t] += s[t + 1]; __syncwarp(); }
      if (t == 0) out[blockIdx.x] = s[0]; }"""
    return text, (4,), (64,), (x, np.zeros(4, np.int32)), {1: x.reshape(4, 64).sum(1).astype(np.int32)}


@case
def float_atomics_by_compare_and_swap():
    x = floats(500)
    text = """__device__ float atomic_most(float* p, float v) {
      int* bits = (int*)p; int old = *bits, seen;
      do { seen = old; if (__int_as_float(seen) >= v) break; old = atomicCAS(bits, seen, __float_as_int(v)); } while (seen != old);
      return __int_as_float(old); }
    extern "C" __global__ void k(const float* x, float* most, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomic_most(most, x[i]); }"""
    return text, (5,), (128,), (x, np.full(1, -1e9, np.float32), 500), {1: x.max(keepdims=True)}


@case
def last_block_finishes():
    x = ints(8 * 128)
    text = """__device__ unsigned arrived = 0;
    extern "C" __global__ void k(const int* x, int* part, int* out) {
      __shared__ int s[128]; __shared__ bool last; int t = threadIdx.x; s[t] = x[blockIdx.x * 128 + t]; __syncthreads();
      for (int d = 64; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
      if (t == 0) { part[blockIdx.x] = s[0]; __threadfence(); last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1; }
      __syncthreads();
      if (last && t == 0) { int sum = 0; for (int b = 0; b < gridDim.x; ++b) sum += ((volatile int*)part)[b]; *out = sum; } }"""
    return text, (8,), (128,), (x, np.zeros(8, np.int32), np.zeros(1, np.int32)), {
        1: x.reshape(8, 128).sum(1).astype(np.int32), 2: np.array([x.sum()], np.int32)}


@case
def n_body_forces():
    n = 150
    p = floats(4 * n).reshape(n, 4)
    text = """extern "C" __global__ void k(const float4* p, float3* a, int n) {
      __shared__ float4 tile[64]; int i = blockIdx.x * blockDim.x + threadIdx.x; float4 me = i < n ? p[i] : make_float4(0, 0, 0, 0);
      float3 sum = make_float3(0, 0, 0);
      for (int base = 0; base < n; base += blockDim.x) {
        int j = base + threadIdx.x; tile[threadIdx.x] = j < n ? p[j] : make_float4(0, 0, 0, 0); __syncthreads();
        for (int q = 0; q < blockDim.x; ++q) {
          float dx = tile[q].x - me.x, dy = tile[q].y - me.y, dz = tile[q].z - me.z, r2 = dx * dx + dy * dy + dz * dz + 0.1f;
          float w = tile[q].w * rsqrtf(r2) / r2; sum.x += dx * w; sum.y += dy * w; sum.z += dz * w; }
        __syncthreads(); }
      if (i < n) a[i] = sum; }"""
    q = p.astype(np.float64)
    d = q[None, :, :3] - q[:, None, :3]
    r2 = (d**2).sum(2) + 0.1
    return text, (3,), (64,), (p, np.zeros((n, 3), np.float32), n), {1: (d * (q[None, :, 3] / r2**1.5)[...,
        None]).sum(1).astype(np.float32)}


@case
def one_atomic_for_the_threads_of_a_branch():
    x = ints(256, 4)
    text = """#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* x, int* counter, int* place, int* sizes) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; place[i] = -1; sizes[i] = 0;
      if (x[i] != 0) {
        auto here = cg::coalesced_threads(); int first = 0;
        if (here.thread_rank() == 0) first = atomicAdd(counter, (int)here.size());
        place[i] = here.shfl(first, 0) + here.thread_rank();
        sizes[i] = __popc(__activemask()); } }"""
    sizes = np.where(x != 0, np.repeat((x.reshape(8, 32) != 0).sum(1), 32), 0).astype(np.int32)
    return text, (2,), (128,), (x, np.zeros(1, np.int32), np.zeros(256, np.int32), np.zeros(256, np.int32)), {
        1: np.array([(x != 0).sum()], np.int32), 3: sizes}


@pytest.mark.parametrize("name", list(CASES))
def test_kernel_gives_what_numpy_gives(xp, name):
    text, grid, block, args, expected, *rest = CASES[name]()
    shared = rest[0] if rest else 0
    kernel = xp.RawKernel(text, "k")
    given = [xp.array(a) if isinstance(a, np.ndarray) else a for a in args]
    kernel(grid, block, tuple(given), shared_mem=shared)
    for index, value in expected.items():
        got = np.asarray(given[index].get() if hasattr(given[index], "get") else given[index])
        if value.dtype.kind == "f":
            tolerance = 2e-3 if value.dtype == np.float16 else 3e-5
            np.testing.assert_allclose(got.astype(np.float64), value.astype(np.float64), rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(got, value)


def test_places_of_aggregated_atomics_are_all_different(xp):
    text, grid, block, args, _ = CASES["one_atomic_for_the_threads_of_a_branch"]()
    given = [xp.array(a) for a in args]
    xp.RawKernel(text, "k")(grid, block, tuple(given))
    places = np.asarray(given[2].get() if hasattr(given[2], "get") else given[2])
    np.testing.assert_array_equal(np.sort(places[places >= 0]), np.arange((args[0] != 0).sum()))
