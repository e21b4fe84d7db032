"""Loops that wait for what other threads do: they stay loops, read again, and let the others go on."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import cuda, njit


def on_cpu():
    return bc.device("cpu")


def test_endless_loop_stays_one(tmp_path):
    # It would run on into whatever lies behind the function.
    code = "from broadcloth import njit\n@njit\ndef f():\n    i = 0\n    while True:\n        i += 1\nprint('ready', flush=True)\nf()"
    path = tmp_path / "endless.py"
    path.write_text(code)
    with pytest.raises(subprocess.TimeoutExpired) as running:
        subprocess.run([sys.executable, path], timeout=15, capture_output=True)
    assert running.value.stdout == b"ready\n"


def wait_with_counter(flag):
    n = 0
    while flag[0] == 0:
        n += 1
    return n


def wait_doing_nothing(flag):
    while flag[0] == 0:
        pass
    return 1


def wait_by_break(flag):
    n = 0
    while True:
        if flag[0] != 0:
            break
        n += 1
    return n


def wait_with_limit(flag):
    n = 0
    while flag[0] == 0 and n < 1 << 50:
        n += 1
    return n


@njit
def is_set(flag):
    return flag[0] != 0


def wait_by_function(flag):
    n = 0
    while not is_set(flag):
        n += 1
    return n


def wait_in_for(flag):
    for i in range(1 << 50):
        if flag[0] != 0:
            return i
    return -1


@pytest.mark.parametrize("f", [wait_with_counter, wait_doing_nothing, wait_by_break, wait_with_limit, wait_by_function, wait_in_for])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32"])
def test_njit_waits_for_another_thread(f, dtype):
    compiled = njit(nogil=True)(f)
    flag = np.ones(1, dtype)
    compiled(flag)
    flag[0] = 0
    result = []
    thread = threading.Thread(target=lambda: result.append(compiled(flag)))
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    flag[0] = 1
    thread.join(60)
    assert not thread.is_alive()
    assert result[0] >= 0


# ---- threads of a block, and blocks of a grid ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks, threads", [(1, 2), (1, 64), (4, 32)])
def test_kernel_waits_for_a_thread_of_its_block(blocks, threads):
    @cuda.jit
    def f(flag, out):
        t = cuda.threadIdx.x
        if t == cuda.blockDim.x - 1:
            flag[cuda.blockIdx.x] = 1
        else:
            while flag[cuda.blockIdx.x] == 0:
                pass
        out[cuda.grid(1)] = t

    with on_cpu():
        flag, out = bc.zeros(blocks, dtype="int32"), bc.zeros(blocks * threads, dtype="int32")
        f[blocks, threads](flag, out)
        assert np.array_equal(np.asarray(out), np.tile(np.arange(threads), blocks))


@pytest.mark.parametrize("threads", [1, 32, 96])
@pytest.mark.parametrize("blocks", [2, 40])
def test_kernel_waits_for_a_later_block(blocks, threads):
    @cuda.jit
    def f(flag, data, out):
        b = cuda.blockIdx.x
        if b == cuda.gridDim.x - 1:
            if cuda.threadIdx.x == 0:
                data[0] = 42
                cuda.threadfence()
                flag[0] = 1
        else:
            while flag[0] == 0:
                pass
            cuda.threadfence()
            if cuda.threadIdx.x == 0:
                out[b] = data[0]

    with on_cpu():
        flag, data, out = bc.zeros(1, dtype="int32"), bc.zeros(1), bc.zeros(blocks)
        f[blocks, threads](flag, data, out)
        assert np.array_equal(np.asarray(out), [42.0] * (blocks - 1) + [0.0])


@pytest.mark.parametrize("blocks, threads", [(1, 64), (8, 1), (6, 33)])
def test_spin_lock_in_python(blocks, threads):
    @cuda.jit
    def f(lock, count):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        count[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)

    with on_cpu():
        lock, count = bc.zeros(1, dtype="int32"), bc.zeros(1, dtype="int64")
        f[blocks, threads](lock, count)
        assert int(count[0]) == blocks * threads


LOCKS = {
    "plain": "while (atomicCAS(lock, 0, 1) != 0) {}  *count += 1; __threadfence(); atomicExch(lock, 0);",
    "exchange": "while (atomicExch(lock, 1) != 0) {}  *count += 1; __threadfence(); *(volatile int*)lock = 0;",
    "inside": "bool done = false; while (!done) { if (atomicCAS(lock, 0, 1) == 0) { *count += 1; __threadfence(); "
    "atomicExch(lock, 0); done = true; } }",
    "break": "for (;;) { if (atomicCAS(lock, 0, 1) == 0) { *count += 1; __threadfence(); atomicExch(lock, 0); break; } }",
    "sleep": "while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);  *count += 1; __threadfence(); atomicExch(lock, 0);",
}


@pytest.mark.parametrize("way", LOCKS)
@pytest.mark.parametrize("blocks, threads", [(1, 64), (8, 1), (6, 33)])
def test_spin_lock_in_cpp(way, blocks, threads):
    k = bc.RawKernel('extern "C" __global__ void f(int* lock, long long* count) {' + LOCKS[way] + "}", "f")
    with on_cpu():
        lock, count = bc.zeros(1, dtype="int32"), bc.zeros(1, dtype="int64")
        k((blocks,), (threads,), (lock, count))
        assert int(count[0]) == blocks * threads


def test_last_block_sums():
    k = bc.RawKernel(
        r"""
        __device__ unsigned arrived = 0;
        extern "C" __global__ void f(const float* x, float* parts, float* sum, int n) {
          __shared__ float s[64];
          __shared__ bool last;
          float own = 0;
          for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) own += x[i];
          s[threadIdx.x] = own;
          __syncthreads();
          for (int h = 32; h > 0; h >>= 1) { if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h]; __syncthreads(); }
          if (threadIdx.x == 0) {
            parts[blockIdx.x] = s[0];
            __threadfence();
            last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
          }
          __syncthreads();
          if (last && threadIdx.x == 0) {
            float all = 0;
            for (int b = 0; b < gridDim.x; ++b) all += ((volatile float*)parts)[b];
            *sum = all;
            arrived = 0;
          }
        }""",
        "f",
    )
    with on_cpu():
        x, parts, result = bc.ones(10000, dtype="float32"), bc.zeros(16, dtype="float32"), bc.zeros(1, dtype="float32")
        for _ in range(3):
            k((16,), (64,), (x, parts, result, np.int32(10000)))
            assert float(result[0]) == 10000


@pytest.mark.parametrize("blocks, threads", [(2, 1), (5, 32), (16, 64)])
def test_barrier_of_the_grid_by_hand(blocks, threads):
    k = bc.RawKernel(
        r"""
        __device__ void meet(volatile unsigned* arrived, unsigned round) {
          __syncthreads();
          if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd((unsigned*)arrived, 1u);
            while (*arrived < round * gridDim.x) {}
            __threadfence();
          }
          __syncthreads();
        }
        extern "C" __global__ void f(unsigned* arrived, int* a, int* b, int rounds) {
          const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
          for (int r = 0; r < rounds; ++r) {
            b[i] = a[(i + 1) % n] + 1;
            meet(arrived, 2 * r + 1);
            a[i] = b[i];
            meet(arrived, 2 * r + 2);
          }
        }""",
        "f",
    )
    with on_cpu():
        n = blocks * threads
        arrived, a, b = bc.zeros(1, dtype="uint32"), bc.arange(n, dtype="int32"), bc.zeros(n, dtype="int32")
        k((blocks,), (threads,), (arrived, a, b, np.int32(5)))
        assert np.array_equal(np.asarray(a), (np.arange(n) + 5) % n + 5)


def test_more_blocks_than_are_begun_at_once():
    # Each waits for the one before, as scans in one pass do.
    k = bc.RawKernel(
        r"""extern "C" __global__ void f(volatile int* state, const int* x, int* out) {
          const int b = blockIdx.x;
          int before = 0;
          if (b > 0) { int s; do { s = state[b - 1]; } while (s == 0); before = s - 1; }
          state[b] = before + x[b] + 1;
          out[b] = before + x[b];
        }""",
        "f",
    )
    with on_cpu():
        n = 5000
        x = bc.arange(n, dtype="int32") % 7
        state, out = bc.zeros(n, dtype="int32"), bc.zeros(n, dtype="int32")
        k((n,), (1,), (state, x, out))
        assert np.array_equal(np.asarray(out), np.cumsum(np.arange(n) % 7))


def test_updates_that_retry_do_not_wait():
    # A loop around compare-and-swap that takes what it found ends by itself: its kernel stays as quick as it was.
    k = bc.RawKernel(
        r"""extern "C" __global__ void f(const float* x, int* most, int n) {
          const int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i >= n) return;
          int old = *most, seen;
          do {
            seen = old;
            if (__int_as_float(seen) >= x[i]) break;
            old = atomicCAS(most, seen, __float_as_int(x[i]));
          } while (old != seen);
        }""",
        "f",
    )
    with on_cpu():
        x = bc.random.default_rng(1).random(10000, dtype="float32")
        most = bc.zeros(1, dtype="int32")
        k((40,), (256,), (x, most, np.int32(10000)))
        assert np.asarray(most).view("float32")[0] == float(x.max())


# ---- checked mode ----------------------------------------------------------------------------------------------------------------------


def test_check_finds_a_barrier_that_some_threads_never_reach(device):
    @cuda.jit(check=True)
    def f(x):
        t = cuda.threadIdx.x
        if t < 16:
            cuda.syncthreads()  # here
        x[t] = t

    with pytest.raises(cuda.CheckError, match="only 16 of the 32 threads") as found:
        f[1, 32](bc.zeros(32, device=device))
    assert found.value.kind == "barrier"
    assert "# here" in found.value.text


def test_check_finds_threads_at_different_barriers(device):
    @cuda.jit(check=True)
    def f(x):
        t = cuda.threadIdx.x
        if t < 8:
            cuda.syncthreads()
            x[t] = 1
        else:
            cuda.syncthreads()
            x[t] = 2

    with pytest.raises(cuda.CheckError, match="barrier"):
        f[1, 32](bc.zeros(32, device=device))


def test_check_takes_barriers_that_all_threads_reach(device):
    @cuda.jit(check=True)
    def f(x):
        s = cuda.shared.array(32, "float64")
        t = cuda.threadIdx.x
        s[t] = t
        for _ in range(3):
            cuda.syncthreads()
        x[cuda.grid(1)] = s[31 - t]

    x = bc.zeros(64, device=device)
    f[2, 32](x)
    assert np.array_equal(np.asarray(x), np.tile(np.arange(32)[::-1], 2))


def test_check_takes_threads_that_have_returned_before_a_barrier(device):
    # A barrier of all threads waits for those that have not exited.
    @cuda.jit(check=True)
    def f(x, n):
        s = cuda.shared.array(32, "float64")
        t = cuda.threadIdx.x
        if t >= n:
            return
        s[t] = t
        cuda.syncthreads()
        if t >= n - 4:
            return
        x[cuda.blockIdx.x, t] = s[n - 1 - t]
        cuda.syncthreads()
        x[cuda.blockIdx.x, t] += 1

    x = bc.zeros((3, 32), device=device)
    f[3, 32](x, 20)
    want = np.zeros((3, 32))
    want[:, :16] = 20 - np.arange(16)
    assert np.array_equal(np.asarray(x.get()), want)


def test_check_finds_a_barrier_that_threads_pass_by_where_others_have_returned(device):
    @cuda.jit(check=True)
    def f(x):
        t = cuda.threadIdx.x
        if t >= 24:
            return
        if t < 8:
            cuda.syncthreads()  # here
        x[cuda.blockIdx.x, t] = t
        return

    with pytest.raises(cuda.CheckError, match="only 8 of the 24 threads") as found:
        f[2, 32](bc.zeros((2, 32), device=device))
    assert found.value.kind == "barrier" and "# here" in found.value.text


# ---- clusters --------------------------------------------------------------------------------------------------------------------------

CLUSTERS = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(volatile int* flags, int* out, int blocks, int step) {
  cg::cluster_group cluster = cg::this_cluster();
  const int b = blockIdx.x, other = (b + step) % blocks;
  cluster.sync();
  if (threadIdx.x == 0) {
    flags[b] = 1;
    while (flags[other] == 0) {}
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    flags[b] = 2;
    while (flags[other] < 2) {}
    out[b] = flags[other];
  }
}
"""


@pytest.mark.parametrize("blocks", [2, 8, 64])
@pytest.mark.parametrize("cluster", [2, 4])
def test_blocks_of_clusters_wait_for_blocks_of_others(blocks, cluster):
    if blocks % cluster:
        pytest.skip("a grid is whole clusters")
    with on_cpu():
        kernel = bc.RawKernel(CLUSTERS, "k")
        for step in (1, cluster, blocks - 1):  # of the same cluster, of the next one, of the one before
            flags, out = bc.zeros(blocks, dtype="int32"), bc.zeros(blocks, dtype="int32")
            kernel((blocks,), (8,), (flags, out, np.int32(blocks), np.int32(step)), cluster=(cluster,))
            assert np.array_equal(np.asarray(out), np.full(blocks, 2))
