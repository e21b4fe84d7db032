"""Copies on streams, page-locked, mapped and managed memory, pools and allocators."""

from __future__ import annotations

import ctypes
import gc
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda

c = bc._c


# ---- Numba's copies ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128", "bool"])
def test_to_device_and_back(device, order, dtype):
    host = np.asarray(np.arange(24).reshape(2, 3, 4), dtype=dtype, order=order)
    d = cuda.to_device(host)
    assert isinstance(d, bc.ndarray) and d.dtype == host.dtype and d.strides == host.strides
    back = d.copy_to_host()
    assert_array_equal(back, host)
    assert back.flags[f"{order}_CONTIGUOUS"]


def test_to_device_does_not_share_memory(device):
    host = np.arange(4)
    d = cuda.to_device(host)
    host[:] = 0
    assert_array_equal(d.copy_to_host(), [0, 1, 2, 3])


def test_to_device_of_lists_scalars_and_views(device):
    assert_array_equal(cuda.to_device([1, 2, 3]).get(), [1, 2, 3])
    host = np.arange(20).reshape(4, 5)
    assert_array_equal(cuda.to_device(host[::2, ::-1]).get(), host[::2, ::-1])
    d = cuda.to_device(bc.arange(3))
    assert_array_equal(d.get(), [0, 1, 2])


def test_to_device_fills_an_array(device):
    d = cuda.device_array(4, np.float64)
    assert cuda.to_device(np.arange(4.0), to=d) is d
    assert_array_equal(d.get(), [0, 1, 2, 3])
    assert cuda.to_device(np.zeros(4), copy=False).shape == (4,)


def test_copies_on_a_stream(device):
    stream = cuda.stream()
    host = np.arange(1000, dtype=np.float32)
    with stream.auto_synchronize():
        d = cuda.to_device(host, stream=stream)
        with stream:
            d *= 2
        out = np.empty_like(host)
        assert d.copy_to_host(out, stream=stream) is out
    assert_array_equal(out, host * 2)


def test_pinned_copies_keep_their_memory(device):
    stream = cuda.stream(non_blocking=True)
    results = []
    for i in range(20):
        p = cuda.pinned_array(1 << 16, np.int32)
        p[:] = i
        d = cuda.to_device(p, stream=stream)
        del p
        out = cuda.pinned_array(1 << 16, np.int32)
        d.copy_to_host(out, stream=stream)
        results.append(out)
    gc.collect()
    stream.synchronize()
    for i, out in enumerate(results):
        assert (out == i).all()


def test_copy_to_device(device):
    d = cuda.device_array((2, 3), np.int64)
    d.copy_to_device(np.arange(6).reshape(2, 3))
    assert_array_equal(d.get(), np.arange(6).reshape(2, 3))
    d.copy_to_device(bc.ones((2, 3), dtype="int64"))
    assert (d.get() == 1).all()
    with pytest.raises(ValueError, match="expected an array of shape"):
        d.copy_to_device(np.zeros((3, 3)))


def test_copy_to_host_checks_its_array(device):
    d = cuda.to_device(np.arange(6))
    with pytest.raises(ValueError, match="expected an array of shape"):
        d.copy_to_host(np.empty(5))
    with pytest.raises(TypeError, match="expected a numpy.ndarray"):
        d.copy_to_host([1])
    with pytest.raises(ValueError, match="read-only"):
        out = np.empty(6, np.int64)
        out.flags.writeable = False
        d.copy_to_host(out)
    wide = np.empty(6, np.float64)
    d.copy_to_host(wide)
    assert_array_equal(wide, np.arange(6))


def test_get_and_set_take_streams(device):
    stream = cuda.Stream()
    a = bc.zeros(5)
    a.set(np.arange(5.0), stream=stream)
    out = np.empty(5)
    assert a.get(stream=stream, out=out) is out
    assert_array_equal(out, np.arange(5.0))
    assert_array_equal(a.get(stream=stream, out=cuda.pinned_array(5), blocking=True), np.arange(5.0))
    a.set([5, 4, 3, 2, 1])
    assert_array_equal(a.get(order="F"), [5, 4, 3, 2, 1])


def test_setting_memory_leaves_pending_readers_alone(device):
    a = bc.arange(5)
    b = a + 10
    a.set(np.zeros(5, np.int64))
    assert_array_equal(b.get(), np.arange(5) + 10)
    assert_array_equal(a.get(), np.zeros(5))
    d = a.copy()
    a.copy_to_device(np.ones(5, np.int64))
    assert_array_equal(d.get(), np.zeros(5))


def test_device_array(device):
    assert cuda.device_array(3).dtype == np.float64
    assert cuda.device_array((2, 3), np.int8, order="F").strides == (1, 2)
    assert cuda.device_array(4, np.float32, strides=(8,)).strides == (8,)
    like = cuda.device_array_like(np.zeros((3, 4), np.float32, order="F"))
    assert like.strides == (4, 12) and like.dtype == np.float32
    assert cuda.device_array_like(bc.zeros((2, 2))).shape == (2, 2)
    assert cuda.device_array(np.array([2, 3])).shape == (2, 3) and cuda.device_array(np.int8(2)).shape == (2,)
    for shape in (1.5, np.float64(2), np.array(2.0), [2.0], np.array([1.1, 2.2])):
        with pytest.raises(TypeError):
            cuda.device_array(shape)
    with pytest.raises(ValueError, match="whole elements"):
        cuda.device_array(4, np.float32, strides=(6,))


def test_records_go_to_the_device_and_back(device):
    host = np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("x", "f8")])
    d = cuda.to_device(host, stream=cuda.stream())
    assert d.dtype == host.dtype and cuda.is_cuda_array(d)
    assert_array_equal(d.copy_to_host(), host)
    e = cuda.device_array_like(d)
    assert cuda.to_device(host, to=e) is e
    assert_array_equal(e.copy_to_host(), host)
    assert cuda.device_array(3, host.dtype).shape == (3,)


def test_is_and_as_cuda_array(device):
    a = bc.zeros(3)
    assert cuda.is_cuda_array(a) and not cuda.is_cuda_array(np.zeros(3)) and not cuda.is_cuda_array(3)
    assert cuda.as_cuda_array(a) is a
    with pytest.raises(TypeError, match="__cuda_array_interface__"):
        cuda.as_cuda_array(3)


def test_numbas_methods_of_device_arrays(device):
    d = cuda.to_device(np.arange(10.0))
    assert d.is_c_contiguous() and d.alloc_size == 80
    assert cuda.to_device(np.zeros((2, 3), order="F")).is_f_contiguous()
    assert [len(part) for part in d.split(4)] == [4, 4, 2]
    assert float(d.getitem(3, stream=cuda.stream())) == 3
    d.setitem(slice(0, 2), 7.0, stream=cuda.stream())
    assert_array_equal(d.get(), [7, 7, 2, 3, 4, 5, 6, 7, 8, 9])
    assert d.bind(cuda.stream()) is d
    assert d.device_ctypes_pointer.value == d.data.ptr
    with pytest.raises(ValueError, match="split"):
        d.split(0)


# ---- Host memory -------------------------------------------------------------------------------------------------------------------------


def test_alloc_pinned_memory_is_a_buffer(device):
    # CuPy's way to a page-locked array.
    source = np.arange(100, dtype=np.float32)
    memory = cuda.alloc_pinned_memory(source.nbytes)
    pinned = np.frombuffer(memory, source.dtype, source.size).reshape(source.shape)
    pinned[...] = source
    a = bc.empty(100, dtype=np.float32)
    a.set(pinned, stream=cuda.Stream.null)
    assert_array_equal(a.get(), source)


def test_pinned_and_mapped_arrays_look_like_numpys(device):
    for make in (cuda.pinned_array, cuda.mapped_array, cuda.managed_array):
        a = make((2, 3), np.float32)
        assert isinstance(a, np.ndarray) and a.shape == (2, 3) and a.dtype == np.float32
        a[...] = 1.5
        assert a.sum() == 9
        assert make((2, 3), np.int16, order="F").strides == (2, 4)
    ref = np.zeros((3, 4), order="F")
    assert cuda.pinned_array_like(ref).strides == ref.strides
    assert cuda.mapped_array_like(ref).strides == ref.strides


def test_mapped_memory_is_given_to_kernels_as_it_is(device):
    a = cuda.mapped_array(4, np.float32)
    a[:] = 0
    assert hasattr(a, "__cuda_array_interface__") == (device == "cuda")
    assert not hasattr(a + 1, "__cuda_array_interface__")
    if device == "cuda":
        a[:] = 3
        d = cuda.as_cuda_array(a)
        d += 1
        cuda.synchronize()
    else:
        a[:] = 4
    assert_array_equal(a, [4, 4, 4, 4])
    assert_array_equal(a.copy_to_host(), [4, 4, 4, 4])


def test_a_kernel_writes_through_mapped_and_managed_memory(device):
    @cuda.jit
    def scale(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 2 * x[i]

    x = cuda.to_device(np.arange(1000.0))
    for make in (cuda.mapped_array, cuda.managed_array):
        out = make(1000)
        out[:] = -1
        scale[8, 128](x, out)
        cuda.synchronize()
        assert_array_equal(out, 2 * np.arange(1000.0))


def test_pinned_and_mapped_blocks(device):
    a, b = np.ones(1000), np.ones(10)
    with cuda.pinned(a, b):
        stream = cuda.stream()
        d = cuda.to_device(a, stream=stream)
        d.copy_to_host(a, stream=stream)
        stream.synchronize()
    assert a.sum() == 1000
    with cuda.mapped(b) as m:
        assert m.shape == (10,)


def test_the_pinned_pool(device):
    pool = bc.get_default_pinned_memory_pool()
    pool.free_all_blocks()
    memory = pool.malloc(5000)
    del memory
    assert pool.n_free_blocks() == (1 if device == "cuda" else 0)
    pool.free_all_blocks()
    assert pool.n_free_blocks() == 0
    cuda.set_pinned_memory_allocator(lambda size: bytearray(size))
    try:
        assert isinstance(cuda.alloc_pinned_memory(3), bytearray)
    finally:
        cuda.set_pinned_memory_allocator(cuda.PinnedMemoryPool().malloc)


# ---- Pools -------------------------------------------------------------------------------------------------------------------------------


def test_the_engines_pool_counts(device):
    pool = bc.get_default_memory_pool()
    before = pool.used_bytes()
    a = bc.empty(1 << 20, dtype=np.uint8)
    assert pool.used_bytes() == before + (1 << 20)
    assert pool.total_bytes() >= pool.used_bytes()
    assert pool.free_bytes() == pool.total_bytes() - pool.used_bytes()
    assert pool.n_free_blocks() >= 0
    del a
    assert pool.used_bytes() == before
    pool.free_all_blocks()
    memory = pool.malloc(1 << 10)
    assert memory.ptr and memory.mem.size >= 1 << 10
    assert bc.ndarray((4,), np.float32, memory).shape == (4,)


def test_a_limit_is_kept(device):
    pool = bc.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.total_bytes() + (64 << 20))
    try:
        assert pool.get_limit() > 0
        with pytest.raises(MemoryError, match="pool"):
            bc.empty(1 << 30, dtype=np.uint8)
    finally:
        pool.set_limit(size=0)
    with pytest.raises(ValueError, match="fraction"):
        pool.set_limit(fraction=2)
    with pytest.raises(ValueError, match="one of size and fraction"):
        pool.set_limit()


def test_arrays_take_their_memory_from_a_python_allocator(device):
    given: dict[int, int] = {}

    def allocate(size: int, device_id: int) -> int:
        ptr = cuda.runtime.malloc(size)
        given[ptr] = size
        return ptr

    def free(ptr: int, device_id: int) -> None:
        cuda.runtime.free(ptr)
        del given[ptr]

    with cuda.using_allocator(cuda.PythonFunctionAllocator(allocate, free).malloc):
        a = bc.arange(1000) * 2
        assert a.sum() == 999000
        assert given
        assert a.data.ptr in given
    # What was handed out goes back to where it came from.
    del a
    gc.collect()
    bc.synchronize()
    assert not given


def test_python_allocators_and_hooks_do_not_stop_other_threads(device):
    # One thread's flush calls Python for memory while others record and look.
    class Hook(cuda.MemoryHook):
        calls = 0

        def malloc_postprocess(self, **facts):
            self.calls += 1

    def work(i: int) -> None:
        with bc.device(device):
            a = bc.arange(5000.0) + i
            for _ in range(30):
                a = bc.sqrt(a * a) + 1
                if a[0] < 0:
                    raise AssertionError
            results.append(float(a[0]) - i)

    results: list[float] = []
    allocator = cuda.PythonFunctionAllocator(lambda size, d: cuda.runtime.malloc(size), lambda ptr, d: cuda.runtime.free(ptr))
    with Hook() as hook, cuda.using_allocator(allocator.malloc):
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
            assert not t.is_alive()
    assert results == [30.0] * 4 and hook.calls > 0


def test_an_allocator_that_raises_is_told_of(device):
    def broken(size: int) -> int:
        raise KeyError("no such memory")

    with cuda.using_allocator(broken):
        with pytest.raises(RuntimeError, match="no such memory"):
            bc.empty(1000)


def test_a_memory_manager_of_numbas_kind(device):
    class Manager(cuda.HostOnlyCUDAMemoryManager):
        sizes: list[int] = []
        interface_version = 1

        def memalloc(self, size):
            self.sizes.append(size)
            return cuda.ManagedMemory(size)

        def get_memory_info(self):
            return self.context.get_memory_info()

    try:
        cuda.set_memory_manager(Manager)
        a = bc.arange(1000.0) * 2
        assert a[999] == 1998
        del a
        assert Manager.sizes
    finally:
        cuda.set_allocator(bc.get_default_memory_pool().malloc)


def test_a_c_allocator(device):
    if device == "cuda":
        pytest.skip("malloc gives host memory")
    libc = ctypes.CDLL(None)
    calls: list[str] = []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    def allocate(parameter, size, index):
        calls.append("malloc")
        libc.malloc.restype = ctypes.c_void_p
        return libc.malloc(ctypes.c_size_t(size))

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    def free(parameter, ptr, index):
        calls.append("free")
        libc.free(ctypes.c_void_p(ptr))

    address = [ctypes.cast(f, ctypes.c_void_p).value for f in (allocate, free)]
    with cuda.using_allocator(cuda.CFunctionAllocator(0, address[0], address[1], (allocate, free)).malloc):
        a = bc.arange(10) + 1
        assert a[9] == 10
        del a
        bc.synchronize()
    gc.collect()
    assert calls.count("malloc") == calls.count("free") > 0


@pytest.mark.parametrize("source", ["malloc_managed", "malloc_async", None])
def test_other_pools(device, source):
    allocator = None if source is None else cuda.MemoryPool(getattr(cuda, source)).malloc
    with cuda.using_allocator(allocator):
        a = bc.arange(1 << 16, dtype=np.float32)
        b = bc.sqrt(a) + 1
        assert_array_equal(b.get(), np.sqrt(np.arange(1 << 16, dtype=np.float32)) + 1)
        pointer = cuda.alloc(100)
        assert pointer.ptr
        del a, b, pointer


def test_a_pool_of_managed_memory_caches(device):
    pool = cuda.MemoryPool(cuda.malloc_managed)
    with cuda.using_allocator(pool.malloc):
        a = bc.empty(10000, dtype=np.uint8)
        used = pool.used_bytes()
        assert used >= 10000 and pool.total_bytes() == used
        del a
        assert pool.used_bytes() == 0 and pool.n_free_blocks() == 1 and pool.free_bytes() == used
        pool.free_all_blocks()
        assert pool.total_bytes() == 0
        pool.set_limit(size=1 << 20)
        assert pool.get_limit() == 1 << 20
        with pytest.raises(MemoryError):
            bc.empty(1 << 21, dtype=np.uint8)


def test_hooks_see_the_pool(device):
    class Log(cuda.MemoryHook):
        def __init__(self):
            self.events = []

        def malloc_postprocess(self, *, device_id, size, mem_size, mem_ptr, pmem_id):
            self.events.append(("malloc", size, mem_ptr))

        def free_postprocess(self, *, device_id, mem_size, mem_ptr, pmem_id):
            self.events.append(("free", mem_ptr))

    with Log() as log:
        a = bc.empty(12345, dtype=np.uint8)
        ptr = a.data.ptr
        del a
    assert ("malloc", 12345, ptr) in log.events and ("free", ptr) in log.events
    count = len(log.events)
    bc.empty(5)
    assert len(log.events) == count


def test_memory_pointers(device):
    pointer = cuda.alloc(64)
    pointer.memset(0, 64)
    host = np.arange(8)
    pointer.copy_from_host(host, 64)
    other = cuda.alloc(64)
    other.copy_from_device(pointer, 64)
    (other + 8).copy_from_host(np.array([-1]), 8)
    out = np.zeros(8, np.int64)
    other.copy_to_host(out, 64)
    assert_array_equal(out, [0, -1, 2, 3, 4, 5, 6, 7])
    assert int(other + 8) == other.ptr + 8
    a = bc.ndarray((7,), np.int64, memptr=other + 8)
    assert_array_equal(a.get(), [-1, 2, 3, 4, 5, 6, 7])


def test_the_pointer_of_an_array_has_arithmetic_and_copies(device):
    with bc.device(device):
        x = bc.arange(8.0)
        tail = bc.ndarray((4,), "float64", memptr=x.data + 32)
        tail[0] = 9
        assert x.tolist() == [0, 1, 2, 3, 9, 5, 6, 7]
        assert (8 + x.data).ptr == x.data.ptr + 8 and (x.data + 16 - 8).ptr == x.data.ptr + 8
        y = bc.zeros(8)
        y.data.copy_from_device(x.data, 64)
        (y.data + 8).memset(0, 16)
        assert y.tolist() == [0, 0, 0, 3, 9, 5, 6, 7]
        host = np.empty(8)
        y.data.copy_to_host(host.ctypes.data, 64)
        assert host.tolist() == y.tolist()
        with pytest.raises(TypeError):
            x.data + "8"
        with pytest.raises(AttributeError, match="nowhere"):
            x.data.nowhere  # noqa: B018


def test_asnumpy_takes_a_stream(device):
    with bc.device(device):
        a = bc.arange(6).reshape(2, 3)
        out = np.empty((2, 3), a.dtype, order="F")
        assert bc.asnumpy(a, order="F", out=out, blocking=True) is out and out.tolist() == a.tolist()
        stream = cuda.Stream()
        copied = bc.asnumpy(a, stream, "F")
        stream.synchronize()
        assert copied.flags.f_contiguous and copied.tolist() == a.tolist()
        assert bc.asnumpy([1, 2], stream).tolist() == [1, 2]


def test_unowned_memory_keeps_its_owner(device):
    owner = bc.arange(10)
    memory = cuda.UnownedMemory(owner.data.ptr, owner.nbytes, owner)
    a = bc.ndarray(10, np.int64, memptr=cuda.MemoryPointer(memory, 0))
    del owner, memory
    gc.collect()
    assert_array_equal(a.get(), np.arange(10))


def test_managed_memory_takes_advice(device):
    memory = cuda.ManagedMemory(1 << 16)
    memory.prefetch(cuda.Stream.null, device=cuda.Device().id)
    memory.advise(cuda.runtime.memAdviseSetReadMostly, cuda.Device())
    cuda.synchronize()


@pytest.mark.gpu
def test_torch_gives_the_memory():
    torch = pytest.importorskip("torch")
    if not bc.device_count("cuda") or not torch.cuda.is_available():
        pytest.skip("needs a GPU and PyTorch for it")
    with bc.device("cuda"):
        try:
            cuda.use_torch_allocator()
            before = torch.cuda.memory_allocated()
            a = bc.empty(1 << 20, dtype=np.uint8)
            assert torch.cuda.memory_allocated() >= before + (1 << 20)
            del a
            assert torch.cuda.memory_allocated() == before
        finally:
            cuda.set_allocator(bc.get_default_memory_pool().malloc)


# ---- Programs ----------------------------------------------------------------------------------------------------------------------------


def test_a_pipeline_of_200_arrays(device):
    # Copies and work overlap on several streams, with events around.
    n, streams = 200, [cuda.Stream(non_blocking=True) for _ in range(4)]
    hosts = [cuda.pinned_array(4096, np.float32) for _ in range(n)]
    outs = [cuda.pinned_array(4096, np.float32) for _ in range(n)]
    for i, h in enumerate(hosts):
        h[:] = i
    start, end = cuda.Event(), cuda.Event()
    start.record()
    for i in range(n):
        s = streams[i % 4]
        d = cuda.to_device(hosts[i], stream=s)
        with s:
            d = d * 2 + 1
        d.copy_to_host(outs[i], stream=s)
    for s in streams:
        s.synchronize()
    end.record()
    end.synchronize()
    for i, out in enumerate(outs):
        assert (out == 2 * i + 1).all()
    assert cuda.get_elapsed_time(start, end) >= 0
