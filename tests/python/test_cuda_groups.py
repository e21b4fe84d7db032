"""CUDA C++ whose blocks and threads work together: clusters, cooperative groups, barriers, pipelines, and kernels that launch kernels."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc

rng = np.random.default_rng(11)


@pytest.fixture
def launch(device):
    """Compiles a text, runs its kernel `k`, and gives the arrays back as NumPy's."""

    def run(text, grid, block, *arguments, name="k", options=(), module=False, **how):
        if device == "cuda":
            options = (*options, "-std=c++17")
        with bc.device(device):
            kernel = bc.RawModule(code=text, options=options).get_function(name) if module else bc.RawKernel(text, name, options=options)
            given = [bc.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
            kernel(grid, block, tuple(given), **how)
            return [a.get() if isinstance(a, bc.ndarray) else a for a in given]

    return run


def needs_clusters(device):
    if device == "cuda" and int(bc.cuda.Device(0).compute_capability) < 90:
        pytest.skip("needs clusters")


HISTOGRAM = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* x, int n, int* bins, int per_block) {
  extern __shared__ int part[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) part[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = x[i], owner = bin / per_block;
    atomicAdd(cluster.map_shared_rank(part, owner) + bin % per_block, 1);
  }
  cluster.sync();
  int first = cluster.block_rank() * per_block;
  for (int i = threadIdx.x; i < per_block; i += blockDim.x) atomicAdd(bins + first + i, part[i]);
}"""


def test_a_histogram_over_the_shared_memory_of_a_cluster(device, launch):
    needs_clusters(device)
    x = rng.integers(0, 128, 5000).astype(np.int32)
    for cluster, blocks in ((2, 8), (4, 4), (8, 16)):
        got = launch(
            HISTOGRAM,
            (blocks,),
            (64,),
            x,
            x.size,
            np.zeros(128, np.int32),
            128 // cluster,
            cluster=(cluster,),
            shared_mem=4 * 128 // cluster,
        )
        np.testing.assert_array_equal(got[2], np.bincount(x, minlength=128))


RANKS = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 2, 1) k(int* out) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) mine = 100 + cluster.block_rank();
  cluster.barrier_wait(cluster.barrier_arrive());
  int next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int* theirs = cluster.map_shared_rank(&mine, next);
  int sum = *theirs + cluster.query_shared_rank(theirs);
  cluster.sync();
  if (threadIdx.x == 0) {
    int* at = out + 8 * (blockIdx.y * gridDim.x + blockIdx.x);
    at[0] = cluster.block_rank(); at[1] = cluster.dim_blocks().x * 10 + cluster.dim_blocks().y; at[2] = sum;
    at[3] = cluster.block_index().y;
    at[4] = cluster.num_threads(); at[5] = (int)grid.num_blocks(); at[6] = (int)grid.block_rank(); at[7] = (int)grid.cluster_rank();
  }
}"""


def test_blocks_of_a_cluster_know_their_places(device, launch):
    needs_clusters(device)
    out = launch(RANKS, (4, 4), (32,), np.zeros((4, 4, 8), np.int32))[0]
    for y in range(4):
        for x in range(4):
            rank = y % 2 * 2 + x % 2
            nxt = (rank + 1) % 4
            assert out[y, x].tolist() == [rank, 22, 100 + nxt + nxt, y % 2, 128, 16, y * 4 + x, y // 2 * 2 + x // 2]


def test_a_grid_that_is_no_multiple_of_the_cluster_is_refused(device, launch):
    needs_clusters(device)
    with pytest.raises(ValueError, match="multiple of the cluster"):
        launch(HISTOGRAM, (3,), (64,), np.zeros(1, np.int32), 1, np.zeros(128, np.int32), 64, cluster=(2,), shared_mem=256)


def test_clusters_of_a_grid_that_synchronises_too(device, launch):
    needs_clusters(device)
    if device == "cuda":
        pytest.skip("cooperative launches of clusters depend on the driver")
    text = r"""
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void __cluster_dims__(2) k(int* x, int* out) {
      __shared__ int s;
      auto cluster = cg::this_cluster(); auto grid = cg::this_grid();
      for (int turn = 0; turn < 3; ++turn) {
        if (threadIdx.x == 0) s = x[blockIdx.x];
        cluster.sync();
        int other = *cluster.map_shared_rank(&s, cluster.block_rank() ^ 1);
        if (blockIdx.x >= 2) cluster.sync();   // not all clusters meet as often
        cluster.sync();
        if (threadIdx.x == 0) out[blockIdx.x] = s + 10 * other;
        grid.sync();
        if (threadIdx.x == 0) x[blockIdx.x] = out[(blockIdx.x + 1) % gridDim.x] % 1000;
        grid.sync();
      }
    }"""
    x = np.arange(6, dtype=np.int32)
    got = launch(text, (6,), (16,), x.copy(), np.zeros(6, np.int32), enable_cooperative_groups=True)
    for _ in range(3):
        out = x + 10 * x[np.arange(6) ^ 1]
        x = np.roll(out, -1) % 1000
    np.testing.assert_array_equal(got[1], out)


GROUPS = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* x, int* out) {
  cg::thread_block block = cg::this_thread_block();
  int t = block.thread_rank(), v = x[t];
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  int* at = out + 16 * t;
  at[0] = cg::reduce(eight, v, cg::plus<int>());
  at[1] = cg::inclusive_scan(eight, v, cg::plus<int>());
  at[2] = cg::exclusive_scan(warp, v, cg::plus<int>());
  at[3] = eight.meta_group_rank() * 100 + eight.meta_group_size();
  auto parity = cg::binary_partition(warp, v % 2 == 1);
  at[4] = cg::reduce(parity, v, cg::plus<int>());
  at[5] = parity.thread_rank() * 100 + parity.size();
  auto label = cg::labeled_partition(warp, v % 3);
  at[6] = cg::reduce(label, v, cg::greater<int>());
  at[7] = label.size();
  at[8] = eight.shfl_xor(v, 3); at[9] = eight.shfl_up(v, 2); at[10] = warp.shfl_down(v, 5);
  at[11] = eight.any(v > 90) * 10 + eight.all(v > 10);
  at[12] = eight.ballot(v % 2);
  at[13] = 0;
  if (v % 4 == 0) { auto here = cg::coalesced_threads(); at[13] = here.shfl(v, 0); }
  double2 pair = make_double2(v, -v);
  pair = warp.shfl(pair, 7);
  at[14] = (int)(pair.x - pair.y);
  cg::thread_group any = block;
  any.sync();
  at[15] = (int)any.size();
}"""


def test_tiles_and_partitions(launch):
    x = rng.integers(0, 100, 64).astype(np.int32)
    out = launch(GROUPS, (1,), (64,), x, np.zeros((64, 16), np.int32))[1]
    eights, warps = x.reshape(8, 8), x.reshape(2, 32)
    np.testing.assert_array_equal(out[:, 0], np.repeat(eights.sum(1), 8))
    np.testing.assert_array_equal(out[:, 1], eights.cumsum(1).ravel())
    np.testing.assert_array_equal(out[:, 2], (warps.cumsum(1) - warps).ravel())
    np.testing.assert_array_equal(out[:, 3], np.tile(np.repeat(np.arange(4), 8), 2) * 100 + 4)
    lane = np.arange(32)
    for w in range(2):
        v = warps[w]
        for i in range(32):
            row = out[32 * w + i]
            same = v % 2 == v[i] % 2
            assert row[4] == v[same].sum() and row[5] == same[:i].sum() * 100 + same.sum()
            label = v % 3 == v[i] % 3
            assert row[6] == v[label].max() and row[7] == label.sum()
            e = v[i // 8 * 8 : i // 8 * 8 + 8]
            assert row[8] == e[i % 8 ^ 3] and row[9] == e[max(i % 8 - 2, 0) if i % 8 >= 2 else i % 8]
            assert row[10] == v[i + 5 if i + 5 < 32 else i]
            assert row[11] == int((e > 90).any()) * 10 + int((e > 10).all()) and row[12] == sum(int(b % 2) << j for j, b in enumerate(e))
            assert row[13] == (v[lane[v % 4 == 0][0]] if v[i] % 4 == 0 else 0)
            assert row[14] == 2 * v[7] and row[15] == 64


def test_tiles_of_more_than_a_warp(launch):
    text = r"""
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* x, int* out) {
      __shared__ cg::block_tile_memory<256> memory;
      auto block = cg::this_thread_block(memory);
      auto tile = cg::tiled_partition<64>(block);
      int v = x[block.thread_rank()], sum = 0;
      if (tile.meta_group_rank() % 2 == 0) sum = cg::reduce(tile, v, cg::plus<int>());
      block.sync();
      out[block.thread_rank()] = sum * 10 + tile.any(v > 97);
    }"""
    x = rng.integers(0, 100, 256).astype(np.int32)
    out = launch(text, (1,), (256,), x, np.zeros(256, np.int32))[1]
    tiles = x.reshape(4, 64)
    expected = np.where(np.arange(4) % 2 == 0, tiles.sum(1), 0) * 10 + (tiles > 97).any(1)
    np.testing.assert_array_equal(out, np.repeat(expected, 64))


def test_copies_on_the_side(launch):
    text = r"""
    #include <cooperative_groups.h>
    #include <cooperative_groups/memcpy_async.h>
    #include <cuda_pipeline.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void k(const int* x, int* out, int n) {
      __shared__ int s[2][64]; __shared__ int4 wide[16];
      auto block = cg::this_thread_block();
      cg::memcpy_async(block, s[0], x, sizeof(int) * 64);
      for (int at = 0, turn = 0; at < n; at += 64, turn ^= 1) {
        if (at + 64 < n) cg::memcpy_async(block, s[turn ^ 1], x + at + 64, sizeof(int) * 64);
        if (at + 64 < n) cg::wait_prior<1>(block); else cg::wait(block);
        out[at + threadIdx.x] = s[turn][63 - threadIdx.x] * 2;
        block.sync();
      }
      if (threadIdx.x < 16) __pipeline_memcpy_async(&wide[threadIdx.x], reinterpret_cast<const int4*>(x) + threadIdx.x, sizeof(int4));
      __pipeline_commit(); __pipeline_wait_prior(0);
      block.sync();
      if (threadIdx.x < 16) out[threadIdx.x] += wide[threadIdx.x].w;
    }"""
    x = rng.integers(0, 1000, 256).astype(np.int32)
    out = launch(text, (1,), (64,), x, np.zeros(256, np.int32), 256)[1]
    expected = x.reshape(4, 64)[:, ::-1].ravel() * 2
    expected[:16] += x[3:64:4]
    np.testing.assert_array_equal(out, expected)


BARRIERS = r"""
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
// Half of the threads fill buffers, half of them use what is there.
extern "C" __global__ void k(const int* x, int* out, int n) {
  __shared__ int buffer[2][32];
  __shared__ barrier full[2], empty[2];
  if (threadIdx.x < 2) { init(&full[threadIdx.x], blockDim.x); init(&empty[threadIdx.x], blockDim.x); }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 0; i < n / 32; ++i) {
      int at = i % 2;
      empty[at].arrive_and_wait();
      buffer[at][threadIdx.x] = x[32 * i + threadIdx.x];
      (void)full[at].arrive();
    }
  } else {
    (void)empty[0].arrive(); (void)empty[1].arrive();
    for (int i = 0; i < n / 32; ++i) {
      int at = i % 2;
      full[at].arrive_and_wait();
      int lane = threadIdx.x - 32;
      out[32 * i + lane] = buffer[at][31 - lane] + 1;
      if (i + 2 < n / 32) (void)empty[at].arrive();
    }
  }
}
extern "C" __global__ void staged(const int* x, int* out, int n) {
  constexpr int kStages = 2;
  __shared__ int buffer[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int turns = n / 64;
  for (int use = 0, fetch = 0; use < turns; ++use) {
    for (; fetch < turns && fetch < use + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[fetch % kStages], x + 64 * fetch, sizeof(int) * 64, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[64 * use + threadIdx.x] = buffer[use % kStages][(threadIdx.x + 1) % 64];
    pipe.consumer_release();
  }
}
__device__ int order_of_blocks[64];
extern "C" __global__ void atomics(int* sum, float* most, unsigned* order) {
  cuda::atomic_ref<int, cuda::thread_scope_device> total(*sum);
  total.fetch_add(threadIdx.x, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_device> best(*most);
  best.fetch_max(float(threadIdx.x % 37));
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> bits(*order);
  bits.fetch_or(1u << (threadIdx.x % 32));
  __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
  if (threadIdx.x == 0) count.store(0);
  __syncthreads();
  count++;
  __syncthreads();
  if (threadIdx.x == 0) total += count.load() * 1000000;
}"""


def test_barriers_pipelines_and_atomics(device, launch):
    options = ()
    x = rng.integers(0, 1000, 256).astype(np.int32)
    try:
        out = launch(BARRIERS, (1,), (64,), x, np.zeros(256, np.int32), 256, options=options, module=True)[1]
    except bc.CompileError as error:
        if device == "cuda" and "could not open" in str(error) + "cannot open":
            pytest.skip("needs the toolkit's headers")
        raise
    np.testing.assert_array_equal(out, x.reshape(8, 32)[:, ::-1].ravel() + 1)
    out = launch(BARRIERS, (1,), (64,), x, np.zeros(256, np.int32), 256, options=options, module=True, name="staged")[1]
    np.testing.assert_array_equal(out, np.roll(x.reshape(4, 64), -1, 1).ravel())
    got = launch(
        BARRIERS, (1,), (128,), np.zeros(1, np.int32), np.zeros(1, np.float32), np.zeros(1, np.uint32), module=True, name="atomics"
    )
    assert got[0][0] == 128 * 127 // 2 + 128 * 1000000 and got[1][0] == 36 and got[2][0] == 0xFFFFFFFF


CHILDREN = r"""
struct Range { int first, last; float scale; };
template <class T> __global__ void fill(T* x, Range r) {
  int i = r.first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < r.last) x[i] = T(x[i] + i * r.scale);
}
extern "C" __global__ void finish(float* x, int n, float* sum) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  *sum = s;   /* after <<< all >>> of it */
}
extern "C" __global__ void k(float* x, int n, float* sum) {
  const char* text = "not a launch: fill<<<1, 1>>>(x)";
  int part = n / blockDim.x;
  Range mine{int(threadIdx.x) * part, (int(threadIdx.x) + 1) * part, text[0] == 'n' ? 0.5f : 0.0f};
  fill<<<(part + 31) / 32, 32>>>(x, mine);
  if (threadIdx.x == 0) finish<<<1, 1, 0, cudaStreamTailLaunch>>>(x, n, sum);
}
extern "C" __global__ void sort(int* x, int first, int last, int depth) {
  if (last - first <= 8 || depth == 20) {
    for (int i = first + 1; i < last; ++i) { int v = x[i], j = i; for (; j > first && x[j - 1] > v; --j) x[j] = x[j - 1]; x[j] = v; }
    return;
  }
  int pivot = x[(first + last) / 2], i = first, j = last - 1;
  while (i <= j) { while (x[i] < pivot) ++i; while (x[j] > pivot) --j; if (i <= j) { int v = x[i]; x[i] = x[j]; x[j] = v; ++i; --j; } }
  if (first < j) sort<<<1, 1>>>(x, first, j + 1, depth + 1);
  if (i < last - 1) sort<<<1, 1>>>(x, i, last, depth + 1);
}"""


def test_kernels_launch_kernels(device, launch):
    if device == "cuda":
        pytest.skip("the toolkit's device runtime is linked by nvcc only")
    n = 1000
    x = np.zeros(n, np.float32)
    got = launch(CHILDREN, (1,), (10,), x, n, np.zeros(1, np.float32), module=True)
    np.testing.assert_array_equal(got[0], np.arange(n, dtype=np.float32) * np.float32(0.5))
    assert got[2][0] == got[0].sum()
    values = rng.integers(0, 10000, 500).astype(np.int32)
    np.testing.assert_array_equal(launch(CHILDREN, (1,), (1,), values, 0, 500, 0, module=True, name="sort")[0], np.sort(values))
