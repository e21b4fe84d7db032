"""Two GPUs in one process: arrays, kernels, libraries, streams, events and pools of both, and copies between them."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(bc.device_count("cuda") < 2, reason="needs two GPUs"),
]

N = 1 << 20


@pytest.fixture(params=[0, 1], ids=["gpu0", "gpu1"])
def gpu(request: pytest.FixtureRequest):
    """The number of a GPU, made the current one for the test."""
    with cuda.Device(request.param):
        yield request.param


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit
def copy_from(x, y):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = y[i] * 2


def test_everything_of_a_device_is_on_that_device(gpu):
    a = bc.arange(N, dtype=np.float32)
    b = bc.random.default_rng(3).random(N)
    c = (a * 2 + bc.sin(a)).reshape(1024, -1)
    for x in (a, b, c, c.T @ c, c.sum(axis=0), bc.where(a > 5, a, 0), bc.flip(b), a[::-1], bc.concatenate([a, a])):
        assert x.device == ("cuda" if gpu == 0 else "cuda:1"), x.device
    host = np.arange(N, dtype=np.float32)
    expected = (host * 2 + np.sin(host.astype(np.float64))).reshape(1024, -1)
    assert_allclose(c.get(), expected, rtol=1e-5)
    assert_allclose((c.astype(np.float64).T @ c.astype(np.float64)).get(), expected.T @ expected, rtol=1e-5)


def test_random_numbers_are_the_same_on_both():
    drawn = []
    for i in range(2):
        with cuda.Device(i):
            drawn.append(bc.random.default_rng(5).standard_normal(1000).get())
    assert_array_equal(*drawn)


def test_an_operation_over_two_devices_is_an_error():
    with cuda.Device(0):
        a = bc.ones(4)
    with cuda.Device(1):
        b = bc.ones(4)
        with pytest.raises(ValueError, match="cuda:1"):
            a + b
        assert_array_equal((bc.asarray(a) + b).get(), np.full(4, 2.0))


@pytest.mark.parametrize("n", [1, 1000, 1 << 24])
def test_copies_keep_the_order_of_both(n):
    with cuda.Device(0):
        a = bc.zeros(n)
    for i in range(1, 21):
        a = a.to_device(f"cuda:{i % 2}")
        a += 1  # pending on one device when the next copy asks for it
    assert a.device == "cuda"
    assert_array_equal(a.get(), np.full(n, 20.0))


def test_views_and_types_travel():
    host = np.arange(60, dtype=np.int16).reshape(3, 4, 5)
    with cuda.Device(0):
        a = bc.asarray(host)
    for x, n in ((a[::2, 1:, ::-1], host[::2, 1:, ::-1]), (a.T, host.T), (a[1:1], host[1:1]), (a[0, 0, 0], host[0, 0, 0])):
        moved = bc.asarray(x, device="cuda:1")
        assert moved.device == "cuda:1" and moved.dtype == np.int16
        assert_array_equal(moved.get(), n)


@pytest.mark.parametrize("allowed", [False, True])
def test_peer_copies_by_the_runtime(allowed):
    d0, d1 = cuda.Device(0), cuda.Device(1)
    if allowed:
        assert d0.can_access_peer(d1) == d0.enable_peer_access(d1)
        assert d1.can_access_peer(d0) == d1.enable_peer_access(d0)
    host = np.arange(N, dtype=np.float64)
    with d0:
        a = bc.asarray(host)
        cuda.synchronize()
    with d1:
        b = bc.zeros(N)
        cuda.synchronize()
        cuda.runtime.memcpyPeer(b.data.ptr, 1, a.data.ptr, 0, a.nbytes)
        assert_array_equal(b.get(), host)
        stream = cuda.Stream(non_blocking=True)
        with stream:
            c = bc.zeros(N)
            stream.synchronize()
            cuda.runtime.memcpyPeerAsync(c.data.ptr, 1, a.data.ptr, 0, a.nbytes, stream.ptr)
            d = c + 1
        assert_array_equal(d.get(), host + 1)


def test_kernels_run_where_they_are_launched(gpu):
    x = bc.zeros(N, np.int32)
    for _ in range(3):
        add_one[(N + 255) // 256, 256](x)
    assert_array_equal(x.get(), np.full(N, 3))
    raw = bc.RawKernel('extern "C" __global__ void f(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 10; }', "f")
    raw((N // 256,), (256,), (x,))
    assert_array_equal(x.get(), np.full(N, 13))
    cube = bc.ElementwiseKernel("T x", "T y", "y = x * x * x", "cube")
    assert_array_equal(cube(x).get(), np.full(N, 2197))
    total = bc.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    assert int(total(x)) == 13 * N
    assert cuda.reduce(lambda a, b: a + b)(x) == 13 * N


def test_one_kernel_object_serves_both_devices():
    raw = bc.RawKernel('extern "C" __global__ void g(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] = i * 2.f; }', "g")
    found = []
    for i in (0, 1, 0, 1):
        with cuda.Device(i):
            x = bc.zeros(100, np.float32)
            raw((1,), (128,), (x, np.int32(100)))
            found.append(x.get())
    for x in found:
        assert_array_equal(x, np.arange(100) * 2)


def test_globals_of_a_module_are_a_devices_own():
    module = bc.RawModule(code='__device__ int count = 0; extern "C" __global__ void tick(int* x) { x[0] = atomicAdd(&count, 1) + 1; }')
    tick = module.get_function("tick")
    seen = []
    for i in (0, 0, 1, 0, 1):
        with cuda.Device(i):
            x = bc.zeros(1, np.int32)
            tick((1,), (1,), (x,))
            seen.append((i, int(x[0])))
    assert seen == [(0, 1), (0, 2), (1, 1), (0, 3), (1, 2)]


def test_a_kernel_reads_a_peers_memory():
    d0, d1 = cuda.Device(0), cuda.Device(1)
    if not d1.can_access_peer(d0):
        pytest.skip("the GPUs cannot read each other's memory")
    with d0:
        y = bc.arange(N, dtype=np.float64) + 1  # still pending: a launch on the other device must wait for it
    with d1:
        x = bc.zeros(N)
        copy_from[(N + 255) // 256, 256](x, y)
        assert_array_equal(x.get(), (np.arange(N) + 1.0) * 2)
        for _ in range(20):
            copy_from[(N + 255) // 256, 256](y, x)  # written by one device, changed by its own at once
            y *= 0.25
            copy_from[(N + 255) // 256, 256](x, y)
        assert y.device == "cuda"
        assert_array_equal(x.get(), (np.arange(N) + 1.0) * 2)


def test_events_order_streams_of_two_devices():
    with cuda.Device(0):
        s0 = cuda.Stream(non_blocking=True)
        done = cuda.Event(disable_timing=True)
        with s0:
            a = bc.ones((2048, 2048))
            for _ in range(20):
                a = (a @ a) / 2048
            done.record(s0)
    with cuda.Device(1):
        s1 = cuda.Stream(non_blocking=True)
        s1.wait_event(done)
        with s1:
            b = a.to_device("cuda:1") + 1
        s1.synchronize()
        assert done.done
        assert_array_equal(b.get(), np.full((2048, 2048), 2.0))


def test_times_on_the_second_device():
    with cuda.Device(1):
        start, end = cuda.Event(), cuda.Event()
        start.record()
        x = bc.ones(N)
        add_one[N // 256, 256](x)
        end.record()
        end.synchronize()
        assert 0 <= cuda.get_elapsed_time(start, end) < 10_000


def test_a_graph_of_the_second_device():
    with cuda.Device(1):
        x = bc.zeros(N)
        add_one[N // 256, 256](x)
        cuda.synchronize()
        stream = cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            add_one[N // 256, 256, stream](x)
            graph = stream.end_capture()
        for _ in range(4):
            graph.launch(stream)
        stream.synchronize()
        assert_array_equal(x.get(), np.full(N, 5.0))


def test_memory_is_counted_for_each():
    with cuda.Device(1):
        pool = bc.get_default_memory_pool()
        before, free = pool.used_bytes(), cuda.Device(1).mem_info.free
        x = bc.zeros(1 << 27, np.float64)
        cuda.synchronize()
        assert pool.used_bytes() - before >= 1 << 30
        assert cuda.Device(1).mem_info.free < free or pool.total_bytes() >= pool.used_bytes()
        with cuda.Device(0):
            assert bc.get_default_memory_pool().used_bytes() < 1 << 30
        del x
        cuda.synchronize()
        pool.free_all_blocks()
        assert pool.used_bytes() == before


def test_managed_memory_moves_to_the_second():
    with cuda.Device(1):
        m = cuda.managed_array(N, np.float32)
        m[:] = 1
        add_one[N // 256, 256](m)
        cuda.synchronize()
        assert m.sum() == 2 * N
        piece = cuda.ManagedMemory(1 << 20)
        piece.prefetch(device=cuda.Device(1))
        cuda.synchronize()


def test_threads_have_devices_of_their_own():
    found: dict[int, object] = {}

    def work(i: int) -> None:
        cuda.select_device(i)
        x = bc.arange(N, dtype=np.float64)
        for _ in range(50):
            x = bc.sqrt(x * x + i)
            add_one[N // 256, 256](x)
        found[i] = (x.device, x.get())

    threads = [threading.Thread(target=work, args=(i,)) for i in (0, 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i in (0, 1):
        x = np.arange(N, dtype=np.float64)
        for _ in range(50):
            x = np.sqrt(x * x + i) + 1
        assert found[i][0] == ("cuda" if i == 0 else "cuda:1")
        assert_allclose(found[i][1], x, rtol=1e-13)


def test_random_walks_of_arrays_between_devices():
    rng = np.random.default_rng(11)
    for _ in range(30):
        host = rng.standard_normal(int(rng.integers(1, 5000)))
        with cuda.Device(0):
            a = bc.asarray(host)
        streams = []
        for i in (0, 1):
            with cuda.Device(i):
                streams.append(cuda.Stream(non_blocking=True))
        for _ in range(12):
            match rng.integers(4):
                case 0:
                    i = int(rng.integers(2))
                    with cuda.Device(i), streams[i]:
                        a = a.to_device(f"cuda:{i}")
                case 1:
                    a, host = bc.sin(a) + 1, np.sin(host) + 1
                case 2:
                    a[::2] *= 2
                    host = host.copy()
                    host[::2] *= 2
                case _:
                    total = float(a.sum())
                    assert math.isclose(total, host.sum(), rel_tol=1e-9, abs_tol=1e-9)
        assert_allclose(a.get(), host, rtol=1e-9, atol=1e-11)


def test_other_libraries_arrays_of_the_second_device():
    torch = pytest.importorskip("torch")
    t = torch.arange(1000, device="cuda:1", dtype=torch.float32) * 3
    before = torch.cuda.current_device()
    a = bc.from_dlpack(t)
    assert torch.cuda.current_device() == before
    assert a.device == "cuda:1"
    b = a + 1
    assert b.device == "cuda:1"
    assert_array_equal(b.get(), np.arange(1000, dtype=np.float32) * 3 + 1)
    back = torch.from_dlpack(b)
    assert back.device.index == 1 and bool((back == t + 1).all())
    stream = torch.cuda.Stream(device=1)
    with torch.cuda.stream(stream), cuda.Device(1), cuda.ExternalStream(stream.cuda_stream, 1):
        u = torch.ones(1 << 22, device="cuda:1")
        for _ in range(50):
            u = u * 1.5 / 1.5
        v = bc.from_dlpack(u) + 1
        w = torch.from_dlpack(v) + 1
    assert bool((w == 3).all())
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Device(1):
        c = cupy.arange(100, dtype=cupy.float64)
    d = bc.asarray(c)
    assert d.device == "cuda:1" and float((d * 2).sum()) == 9900
    with cupy.cuda.Device(1):
        assert float(cupy.asarray(d).sum()) == 4950
