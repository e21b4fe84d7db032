"""Kernels in CUDA C++ that include CUB, Thrust, libcu++ and cuRAND: the same text on every device."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc

rng = np.random.default_rng(5)


@pytest.fixture
def launch(device):
    def run(text, grid, block, *arguments, name="k", **how):
        options = ("-std=c++17",) if device == "cuda" else ()
        with bc.device(device):
            given = [bc.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
            try:
                bc.RawModule(code=text, options=options).get_function(name)(grid, block, tuple(given), **how)
            except bc.CompileError as error:
                if device == "cuda" and ("cannot open source file" in str(error) or "could not open" in str(error)):
                    pytest.skip("needs the toolkit's headers")
                raise
            return [a.get() if isinstance(a, bc.ndarray) else a for a in given]

    return run


BLOCKS = r"""
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
struct Longest { __device__ float operator()(float a, float b) const { return a > b ? a : b; } };
struct Running {
  int total;
  __device__ int operator()(int block) { int before = total; total += block; return before; }
};
extern "C" __global__ void k(const float* x, const int* y, float* sums, int* inclusive, int* exclusive, int n) {
  using Reduce = cub::BlockReduce<float, 128>;
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ union { Reduce::TempStorage reduce; Load::TempStorage load; Store::TempStorage store; Scan::TempStorage scan; } room;
  float v = threadIdx.x < 100 ? x[threadIdx.x] : 0.f;
  float sum = Reduce(room.reduce).Sum(v); __syncthreads();
  float most = Reduce(room.reduce).Reduce(v, Longest(), 100); __syncthreads();
  if (threadIdx.x == 0) { sums[0] = sum; sums[1] = most; }
  Running prefix{1000};
  for (int base = 0; base < n; base += 512) {
    int items[4], scanned[4];
    Load(room.load).Load(y + base, items, n - base, 0); __syncthreads();
    Scan(room.scan).InclusiveSum(items, scanned, prefix); __syncthreads();
    Store(room.store).Store(inclusive + base, scanned, n - base); __syncthreads();
    int whole;
    Scan(room.scan).ExclusiveSum(items, scanned, whole); __syncthreads();
    Store(room.store).Store(exclusive + base, scanned, n - base); __syncthreads();
    if (threadIdx.x == 0 && base == 0) sums[2] = whole;
  }
}"""


def test_cub_sums_and_scans_of_blocks(launch):
    x = rng.standard_normal(128).astype(np.float32)
    y = rng.integers(0, 100, 1300).astype(np.int32)
    got = launch(BLOCKS, (1,), (128,), x, y, np.zeros(3, np.float32), np.zeros(1300, np.int32), np.zeros(1300, np.int32), 1300)
    np.testing.assert_allclose(got[2], [x[:100].sum(), x[:100].max(), y[:512].sum()], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(got[3], y.cumsum() + 1000)
    parts = [p.cumsum() - p for p in np.split(y, [512, 1024])]
    np.testing.assert_array_equal(got[4], np.concatenate(parts))


SORTS = r"""
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
struct Less { template <class T> __device__ bool operator()(const T& a, const T& b) const { return a < b; } };
struct Minus { template <class T> __device__ T operator()(const T& a, const T& b) const { return a - b; } };
struct Differ { template <class T> __device__ bool operator()(const T& a, const T& b) const { return a != b; } };
template <class T> __device__ void sort(T* keys, int* values, bool down) {
  using Sort = cub::BlockRadixSort<T, 64, 4, int>;
  __shared__ typename Sort::TempStorage room;
  T k[4]; int v[4];
  cub::LoadDirectBlocked(threadIdx.x, keys, k); cub::LoadDirectBlocked(threadIdx.x, values, v);
  if (down) Sort(room).SortDescending(k, v); else Sort(room).SortBlockedToStriped(k, v);
  if (down) { cub::StoreDirectBlocked(threadIdx.x, keys, k); cub::StoreDirectBlocked(threadIdx.x, values, v); }
  else { cub::StoreDirectStriped<64>(threadIdx.x, keys, k); cub::StoreDirectStriped<64>(threadIdx.x, values, v); }
  __syncthreads();
}
extern "C" __global__ void k(float* x, int* xv, int* y, int* yv, double* z, int* out, unsigned* bins) {
  sort(x, xv, false); sort(y, yv, true);
  using Merge = cub::BlockMergeSort<double, 64, 3>;
  __shared__ typename Merge::TempStorage merge;
  double d[3];
  cub::LoadDirectBlocked(threadIdx.x, z, d);
  Merge(merge).Sort(d, Less());
  cub::StoreDirectBlocked(threadIdx.x, z, d);
  using Exchange = cub::BlockExchange<int, 64, 4>;
  __shared__ typename Exchange::TempStorage exchange;
  int v[4], w[4];
  cub::LoadDirectStriped<64>(threadIdx.x, y, v);
  Exchange(exchange).StripedToBlocked(v, v);
  using Histogram = cub::BlockHistogram<int, 64, 4, 16>;
  __shared__ typename Histogram::TempStorage histogram; __shared__ unsigned counts[16];
  for (int i = 0; i < 4; ++i) w[i] = v[i] & 15;
  Histogram(histogram).Histogram(w, counts);
  __syncthreads();
  if (threadIdx.x < 16) bins[threadIdx.x] = counts[threadIdx.x];
  using Flags = cub::BlockDiscontinuity<int, 64>;
  __shared__ typename Flags::TempStorage flags;
  int heads[4];
  Flags(flags).FlagHeads(heads, v, Differ());
  using Difference = cub::BlockAdjacentDifference<int, 64>;
  __shared__ typename Difference::TempStorage difference;
  int steps[4];
  Difference(difference).SubtractLeft(v, steps, Minus());
  using Shuffle = cub::BlockShuffle<int, 64>;
  __shared__ typename Shuffle::TempStorage shuffle;
  int next = -1;
  Shuffle(shuffle).Offset(v[0], next, 1);
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = heads[i] * 100000 + (steps[i] & 1023);
  out[256 + threadIdx.x] = next;
}"""


def test_cub_sorts_exchanges_and_neighbours(launch):
    x = np.r_[rng.standard_normal(254), 0.0, -np.inf].astype(np.float32)
    y = rng.integers(-50, 50, 256).astype(np.int32)
    z = rng.standard_normal(192)
    index = np.arange(256, dtype=np.int32)
    got = launch(SORTS, (1,), (64,), x, index, y, index, z, np.zeros(320, np.int32), np.zeros(16, np.uint32))
    np.testing.assert_array_equal(got[0], np.sort(x))
    np.testing.assert_array_equal(got[1], np.argsort(x, kind="stable"))
    down = np.sort(y)[::-1]
    np.testing.assert_array_equal(got[2], down)
    np.testing.assert_array_equal(got[3], np.argsort(-y, kind="stable"))
    np.testing.assert_array_equal(got[4], np.sort(z))
    heads = np.r_[True, down[1:] != down[:-1]]
    steps = np.r_[down[0], np.diff(down)]
    np.testing.assert_array_equal(got[5][:256], heads * 100000 + (steps & 1023))
    np.testing.assert_array_equal(got[5][256:319], down[4::4])
    np.testing.assert_array_equal(got[6], np.bincount(down & 15, minlength=16))


WARPS = r"""
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
struct Longest { __device__ int operator()(int a, int b) const { return a > b ? a : b; } };
extern "C" __global__ void k(const int* x, int* out) {
  using Reduce = cub::WarpReduce<int>; using Scan = cub::WarpScan<int>; using Half = cub::WarpReduce<int, 16>;
  __shared__ Reduce::TempStorage reduce[4]; __shared__ Scan::TempStorage scan[4]; __shared__ Half::TempStorage half[8];
  int warp = threadIdx.x / 32, v = x[threadIdx.x], before, whole, highest;
  int sum = Reduce(reduce[warp]).Sum(v); __syncwarp();
  int most = Reduce(reduce[warp]).Reduce(v, Longest(), 20); __syncwarp();
  int segment = Reduce(reduce[warp]).HeadSegmentedSum(v, threadIdx.x % 5 == 0);
  Scan(scan[warp]).ExclusiveSum(v, before, whole); __syncwarp();
  Scan(scan[warp]).InclusiveScan(v, highest, Longest());
  int small = Half(half[threadIdx.x / 16]).Sum(v);
  int* at = out + 4 * threadIdx.x;
  at[0] = before; at[1] = whole; at[2] = highest;
  at[3] = threadIdx.x % 32 == 0 ? sum * 1000 + most : threadIdx.x % 16 == 0 ? small : threadIdx.x % 32 == 10 ? segment : 0;
}"""


def test_cub_collectives_of_warps(launch):
    x = rng.integers(0, 100, 128).astype(np.int32)
    out = launch(WARPS, (1,), (128,), x, np.zeros((128, 4), np.int32))[1]
    warps = x.reshape(4, 32)
    np.testing.assert_array_equal(out[:, 0], (warps.cumsum(1) - warps).ravel())
    np.testing.assert_array_equal(out[:, 1], np.repeat(warps.sum(1), 32))
    np.testing.assert_array_equal(out[:, 2], np.maximum.accumulate(warps, 1).ravel())
    np.testing.assert_array_equal(out[::32, 3], warps.sum(1) * 1000 + warps[:, :20].max(1))
    np.testing.assert_array_equal(out[16::32, 3], warps[:, 16:].sum(1))
    assert out[10, 3] == x[10:15].sum()


THRUST = r"""
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>
#include <thrust/functional.h>
#include <thrust/tuple.h>
#include <thrust/pair.h>
#include <thrust/extrema.h>
#include <thrust/binary_search.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/complex.h>
struct Square { __host__ __device__ int operator()(int v) const { return v * v; } };
extern "C" __global__ void k(int* x, int* out, float* z, int n) {
  int* mine = x + threadIdx.x * n; int* at = out + threadIdx.x * 8;
  at[0] = thrust::reduce(thrust::seq, mine, mine + n, 0, thrust::plus<int>());
  thrust::sort(thrust::seq, mine, mine + n, thrust::greater<int>());
  at[1] = *thrust::max_element(thrust::seq, mine, mine + n);
  at[2] = thrust::transform_reduce(thrust::seq, mine, mine + n, Square(), 0, thrust::plus<int>());
  thrust::counting_iterator<int> count(0);
  at[3] = thrust::reduce(thrust::seq, count, count + n);
  thrust::tuple<int, float> both = thrust::make_tuple(3, 1.5f);
  at[4] = thrust::get<0>(both) + (int)(2 * thrust::get<1>(both));
  thrust::pair<int, int> two(mine[0], mine[1]);
  at[5] = two.first - two.second;
  thrust::inclusive_scan(thrust::seq, mine, mine + n, mine);
  at[6] = mine[n - 1];
  at[7] = (int)(thrust::lower_bound(thrust::seq, mine, mine + n, mine[2]) - mine);
  thrust::complex<float> c(1.0f, 2.0f), d = thrust::exp(c) * thrust::conj(c);
  z[2 * threadIdx.x] = d.real(); z[2 * threadIdx.x + 1] = thrust::abs(d);
}"""


def test_thrust_in_a_thread(launch, device):
    if device == "cuda":
        pytest.skip("NVRTC cannot compile the toolkit's thrust::sort")
    x = rng.integers(1, 100, (32, 16)).astype(np.int32)
    got = launch(THRUST, (1,), (32,), x, np.zeros((32, 8), np.int32), np.zeros((32, 2), np.float32), 16)
    down = np.sort(x, 1)[:, ::-1]
    np.testing.assert_array_equal(got[0], down.cumsum(1))
    expected = np.stack(
        [x.sum(1), x.max(1), (x * x).sum(1), np.full(32, 120), np.full(32, 6), down[:, 0] - down[:, 1], x.sum(1), np.full(32, 2)], 1
    )
    np.testing.assert_array_equal(got[1], expected)
    d = np.exp(1 + 2j) * (1 - 2j)
    np.testing.assert_allclose(got[2][0], [d.real, abs(d)], rtol=1e-5)


STANDARD = r"""
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
template <class T> __device__ T twice(T v) {
  if constexpr (cuda::std::is_integral_v<T>) return v + v; else return v * T(2.5);
}
__device__ cuda::std::optional<int> halved(int v) { if (v % 2) return cuda::std::nullopt; return v / 2; }
extern "C" __global__ void k(double* out) {
  cuda::std::array<int, 4> a{4, 3, 2, 1};
  int sum = 0;
  for (int v : a) sum += v;
  cuda::std::span<int> s(a.data(), a.size());
  s[0] = 10;
  auto t = cuda::std::make_tuple(1, 2.5, 3u);
  auto [p, q, r] = t;
  int u; double w;
  cuda::std::tie(u, w) = cuda::std::make_tuple(7, 8.0);
  cuda::std::complex<double> z(3, 4), y = z * cuda::std::conj(z) + cuda::std::sqrt(cuda::std::complex<double>(-4, 0));
  out[0] = sum + a[0]; out[1] = p + q + r + cuda::std::get<1>(t); out[2] = u + w; out[3] = cuda::std::abs(z);
  out[4] = y.real(); out[5] = y.imag();
  out[6] = cuda::std::numeric_limits<int>::max(); out[7] = cuda::std::numeric_limits<float>::epsilon();
  out[8] = halved(8).value_or(-1) + halved(7).value_or(-1); out[9] = twice(4) + twice(2.0);
  out[10] = cuda::std::is_same_v<cuda::std::common_type_t<int, float>, float>;
  cuda::std::pair<int, double> pair(1, 2.5);
  out[11] = pair.first + pair.second; out[12] = cuda::std::sqrt(30.25); out[13] = cuda::std::floor(10.5);
}"""


def test_the_standard_library(launch):
    out = launch(STANDARD, (1,), (1,), np.zeros(14))[0]
    expected = [20, 9, 15, 5, 25, 2, 2**31 - 1, 2**-23, 3, 13, 1, 3.5, 5.5, 10]
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


RANDOM = r"""
#include <curand_kernel.h>
extern "C" __global__ void k(unsigned* out, double* real) {
  curandStateMRG32k3a_t m;
  curand_init(0x123456789abcdefULL, 3, 0, &m);
  for (int i = 0; i < 4; ++i) out[i] = curand(&m);
  real[0] = curand_uniform(&m); real[1] = curand_uniform_double(&m); real[2] = curand_normal(&m); real[3] = curand_normal(&m);
  real[4] = curand_normal_double(&m);
  skipahead_sequence(2ull, &m); out[4] = curand(&m);
  skipahead(7ull, &m); out[5] = curand(&m);
  curandStateXORWOW_t x;
  curand_init(1234, 5, 6, &x);
  for (int i = 0; i < 4; ++i) out[6 + i] = curand(&x);
  real[5] = curand_normal(&x); real[6] = curand_log_normal(&x, 0.5f, 0.25f);
  for (int i = 0; i < 6; ++i) out[10 + i] = curand_poisson(&x, 3.5);
  curandStatePhilox4_32_10_t p;
  curand_init(1234, 5, 6, &p);
  for (int i = 0; i < 6; ++i) out[16 + i] = curand(&p);
  uint4 four = curand4(&p);
  out[22] = four.x; out[23] = four.w;
  float4 normal = curand_normal4(&p);
  real[7] = normal.x; real[8] = normal.w;
  uint4 small = curand_poisson4(&p, 4.0);
  out[24] = small.x; out[25] = small.y; out[26] = small.z; out[27] = small.w;
  unsigned vectors[32]; unsigned long long wide[64];
  for (int i = 0; i < 32; ++i) vectors[i] = 1u << (31 - i);
  for (int i = 0; i < 64; ++i) wide[i] = 1ull << (63 - i);
  curandStateSobol32_t s;
  curand_init(vectors, 10u, &s);
  for (int i = 0; i < 5; ++i) out[28 + i] = curand(&s);
  real[9] = curand_uniform(&s); real[10] = curand_normal(&s); real[11] = curand_uniform_double(&s);
  skipahead(100u, &s); out[33] = curand(&s);
  curandStateScrambledSobol32_t scrambled;
  curand_init(vectors, 0x12345u, 10u, &scrambled);
  out[34] = curand(&scrambled); out[35] = curand(&scrambled);
  curandStateSobol64_t large;
  curand_init(wide, 10ull, &large);
  out[36] = (unsigned)(curand(&large) >> 32); out[37] = (unsigned)(curand(&large) >> 32);
  real[12] = curand_uniform_double(&large);
}"""


def test_curand_sequences(launch):
    """Values of NVIDIA's generators for the same seeds."""
    out, real = launch(RANDOM, (1,), (1,), np.zeros(38, np.uint32), np.zeros(13))
    integers = [709043044, 2448937064, 315749903, 3707658610, 1709616439, 1721591058]
    integers += [2956155405, 3351265907, 3629609298, 415430802, 5, 1, 4, 4, 6, 5]
    integers += [846674261, 1925342002, 648658203, 3633236749, 143597841, 3521664514, 3248267170, 1703336846, 3, 6, 3, 5]
    integers += [4026531840, 1879048192, 1342177280, 3489660928, 2415919104, 2986344448, 4026606405, 1879122757, 0xF0000000, 0x70000000]
    np.testing.assert_array_equal(out, np.array(integers, np.uint32))
    reals = [0.51970773935317993, 0.54261188451337727, -0.362126142, -0.879268408, 0.761370219455, 1.36345506, 2.02170563, -0.06993892]
    reals += [-1.142797, 0.0625, -1.3180109, 0.59375000023283064, 0.31250000000000006]
    np.testing.assert_allclose(real, reals, rtol=2e-6, atol=1e-6)


def test_curand_poisson_of_any_mean(launch):
    text = r"""
    #include <curand_kernel.h>
    extern "C" __global__ void k(unsigned* out, double mean) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      curandState s;
      curand_init(7, i, 0, &s);
      for (int j = 0; j < 16; ++j) out[16 * i + j] = curand_poisson(&s, mean);
    }"""
    for mean in (2.5, 70.0, 900.0, 6000.0):
        v = launch(text, (8,), (128,), np.zeros(16384, np.uint32), np.float64(mean))[0].astype(float)
        assert abs(v.mean() - mean) < 5 * np.sqrt(mean / v.size) and abs(v.var() / mean - 1) < 0.06
