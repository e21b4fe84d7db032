"""CuPy's second package and the modules in which CuPy and Numba keep their names."""

from __future__ import annotations

import importlib
import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda, cupyx
from broadcloth.cupyx import profiler


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("memory", "MemoryPool MemoryPointer alloc MemoryHook OutOfMemoryError"),
        ("driver", "CUDADriverError"),
        ("memory_hooks", "DebugPrintHook LineProfileHook"),
        ("pinned_memory", "PinnedMemoryPool alloc_pinned_memory"),
        ("stream", "Stream ExternalStream get_current_stream"),
        ("device", "Device get_device_id get_compute_capability"),
        ("function", "Function Module"),
        ("compiler", "CompileException"),
        ("graph", "Graph"),
        ("devicearray", "DeviceNDArray"),
        ("cudadrv.driver", "CudaAPIError"),
        ("cudadrv.devices", "get_context"),
        ("cudadrv.devicearray", "DeviceNDArray"),
    ],
)
def test_names_are_found_where_other_libraries_keep_them(module, names):
    found = importlib.import_module(f"broadcloth.cuda.{module}")
    for name in names.split():
        assert getattr(found, name) is not None
    with pytest.raises(AttributeError):
        found.no_such_name  # noqa: B018


def test_functions_and_modules_of_one_name_are_both_there():
    assert isinstance(cuda.stream(), cuda.stream.Stream) and cuda.stream.get_current_stream() is not None


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("make", [cuda.pinned_array_like, cuda.mapped_array_like, cuda.device_array_like, cupyx.empty_like_pinned])
def test_arrays_like_others_lie_as_they_do(make, order):
    a = np.zeros((4, 6, 2), order="C" if order == "C" else "F")
    if order == "strided":
        a = a.transpose(1, 0, 2)[::2, ::2]
    made = make(a)
    assert (made.shape, made.dtype, made.strides) == (a.shape, a.dtype, np.empty_like(a).strides)


def test_pinned_arrays():
    assert cupyx.empty_pinned((2, 3), "f4").dtype == np.float32
    assert_array_equal(cupyx.zeros_pinned((2, 2), order="F"), np.zeros((2, 2)))
    made = cupyx.zeros_like_pinned(np.ones((2, 3), "i4"), shape=(4,))
    assert made.shape == (4,) and made.dtype == np.int32 and not made.any()


def test_scattered_updates(xp):
    i = xp.array([1, 1, 2])
    for update, expected in ((cupyx.scatter_add, [1, 8, 6]), (cupyx.scatter_max, [1, 5, 5]), (cupyx.scatter_min, [1, 1, 1])):
        a = xp.ones(3, dtype="int64")
        update(a, i, xp.array([2, 5, 5]))
        assert a.tolist() == expected
    assert cupyx.rsqrt(xp.array([4.0, 0.25])).tolist() == [0.5, 2.0]


def test_benchmark(xp):
    calls = []
    times = profiler.benchmark(lambda x: calls.append(x + 1), (xp.ones(3),), n_repeat=4, n_warmup=2, name="plus")
    assert len(calls) == 6 and times.name == "plus"
    assert times.cpu_times.shape == (4,) and times.gpu_times.shape == (1, 4) and (times.gpu_times >= 0).all()
    # The devices whose time is taken are CUDA's where there are some, whatever the default device is.
    assert "plus" in str(times) and "CPU" in str(times) and ("GPU-0" in str(times)) == (bc.device_count("cuda") > 0), "named for what it is"
    assert profiler.benchmark(lambda: None, n_repeat=1000, max_duration=0).cpu_times.size == 1
    for wrong in ({"func": 3}, {"func": len, "args": [1]}, {"func": len, "n_repeat": "3"}, {"func": len, "name": 3}):
        with pytest.raises(ValueError, match="benchmark"):
            profiler.benchmark(**wrong)


@pytest.mark.parametrize(
    "wrap",
    [lambda r: r, lambda r: (r, 1), lambda r: [r], lambda r: {"result": [r]}, lambda r: iter([r]), lambda r: lambda: r],
    ids=["array", "tuple", "list", "dict", "iterator", "closure"],
)
def test_benchmark_computes_and_keeps_what_the_function_returns(xp, wrap):
    """Each call's result is computed inside the timed part, in whatever it lies: as many kernels run as calls are made."""
    x = xp.linspace(0.0, 1.0, 20_000)
    bc.synchronize()
    with bc.profiler.record() as ran:
        times = profiler.benchmark(lambda: wrap(xp.sin(x) + 1), n_repeat=5, n_warmup=2)
        bc.synchronize()
    assert sum(kernel.elements == x.size for kernel in ran.kernels) == 7
    assert (times.gpu_times > 0).all()


def test_modules_of_scipy_are_found_under_cupyx():
    from broadcloth.cupyx.scipy.sparse import csgraph, linalg
    from broadcloth.cupyx.scipy.special import erf

    assert erf is bc.scipy.special.erf and cupyx.scipy.linalg.lu_factor is bc.scipy.linalg.lu_factor
    assert linalg.cg is bc.scipy.sparse.linalg.cg and csgraph.connected_components is bc.scipy.sparse.csgraph.connected_components
    assert cupyx.scipy.sparse.linalg is linalg and cupyx.scipy.sparse.csr_matrix is bc.scipy.sparse.csr_matrix
    assert cupyx.scipy.get_array_module(1, bc.ones(2)) is cupyx.scipy
    assert cupyx.scipy.get_array_module(bc.scipy.sparse.eye(2)) is cupyx.scipy
    assert cupyx.scipy.get_array_module(np.ones(2)).__name__ == "scipy"
    with pytest.raises(ModuleNotFoundError, match="ndimage"):
        importlib.import_module("broadcloth.cupyx.scipy.ndimage")


def test_older_names_of_measuring():
    from broadcloth.cupyx import optimizing, time

    assert time.repeat(lambda: None, n_repeat=3, n_warmup=1).cpu_times.shape == (3,)
    with optimizing.optimize(key="sums", max_trials=3):
        assert bc.arange(4).sum().item() == 6
    with pytest.raises(TypeError, match="trials"), optimizing.optimize(trials=3):
        pass


def test_lists_of_arrays_are_compared():
    bc.testing.assert_array_list_equal([bc.ones(2), np.zeros(1)], [[1, 1], bc.zeros(1)])
    for other in ([bc.ones(2)], [bc.ones(2), bc.ones(1)]):
        with pytest.raises(AssertionError):
            bc.testing.assert_array_list_equal([bc.ones(2), bc.zeros(1)], other)


def test_errors_of_the_compiler_have_cupys_methods():
    kernel = bc.RawKernel('extern "C" __global__ void broken() { nowhere(); }', "broken")
    with pytest.raises(cuda.compiler.CompileException) as caught:
        kernel((1,), (1,), ())
    text = io.StringIO()
    caught.value.dump(text)
    assert "nowhere" in caught.value.get_message() and text.getvalue() == caught.value.get_message() + "\n"


def test_ranges_and_recordings():
    @profiler.time_range(color_id=1)
    def doubled(x):
        return 2 * x

    assert doubled(2) == 4 and doubled.__name__ == "doubled"
    with profiler.time_range("outer", argb_color=0xFFFF0000, sync=True), profiler.profile():
        pass
    with pytest.raises(TypeError, match="message"), profiler.time_range():
        pass
    with pytest.raises(ValueError, match="both"):
        profiler.time_range("x", color_id=1, argb_color=2)
    assert cuda.nvtx.available in (True, False)


def test_hooks_of_the_pools_report(device):
    out = io.StringIO()
    with cuda.memory_hooks.DebugPrintHook(file=out):
        a = bc.ones(300)
        bc.flush()
    assert '"hook":"malloc"' in out.getvalue() and '"mem_ptr":0x' in out.getvalue()
    hook = cuda.memory_hooks.LineProfileHook()
    with hook:
        b = a + 1
        bc.flush()
    text = io.StringIO()
    hook.print_report(text)
    assert "test_cupyx.py:test_hooks_of_the_pools_report" in text.getvalue()
    assert text.getvalue().splitlines()[0].startswith("_root (")
    del b


def test_runtime_info():
    assert "NumPy" in str(cupyx.get_runtime_info())


# ---- Errors, waits, generalized ufuncs --------------------------------------------------------------------------------------------------


def test_error_states_say_what_is_so_and_refuse_what_is_not():
    before = cupyx.geterr()
    assert before == {"divide": None, "over": None, "under": None, "invalid": None, "linalg": "raise", "fallback_mode": "raise"}
    with cupyx.errstate(linalg="raise", fallback_mode="ignore"):
        assert cupyx.geterr()["fallback_mode"] == "ignore" and bc.config.fallback == "ignore"
        assert bc.busday_count("2024-01-01", "2024-01-08") == 5
    assert cupyx.geterr() == before and bc.config.fallback == "error"
    assert cupyx.seterr(linalg="raise") == before
    for wrong in ({"divide": "raise"}, {"linalg": "ignore"}):
        with pytest.raises(NotImplementedError):
            cupyx.seterr(**wrong)
    for wrong in ({"linalg": "x"}, {"fallback_mode": "x"}):
        with pytest.raises(ValueError, match="expected"):
            cupyx.seterr(**wrong)
    with pytest.raises(TypeError), cupyx.errstate(all="raise"):
        pass


def test_waits_can_be_forbidden_for_a_block(device):
    with bc.device(device):
        a = bc.arange(1000.0) * 2
        with cupyx.allow_synchronize(False):
            total = a.sum()
            looks = [lambda: float(total), lambda: bool(total > 3), total.item, lambda: str(a * 1), (a * 1).tolist, bc.synchronize]
            for look in looks:
                with pytest.raises(cupyx.DeviceSynchronized):
                    look()
            with cupyx.allow_synchronize(True):
                assert float(total) == 999000
        assert (a * 1).get()[1] == 2
    assert issubclass(cupyx.DeviceSynchronized, RuntimeError)


def test_generalized_ufuncs_loop_over_the_other_axes(xp):
    if xp is np:
        pytest.skip("cupyx is of broadcloth")
    x, y = bc.arange(24.0).reshape(2, 3, 4), bc.arange(4.0)
    want = (np.arange(24.0).reshape(2, 3, 4) * np.arange(4.0)).sum(-1)
    for batched in (True, False):
        dot = cupyx.GeneralizedUFunc(lambda a, b: (a * b).sum(-1), "(n),(n)->()", supports_batched=batched)
        assert_array_equal(dot(x, y).get(), want)
        assert_array_equal(dot(x[0, 0], y).get(), want[0, 0])
        out = bc.zeros((2, 3))
        assert dot(x, y, out=out) is out
        assert_array_equal(out.get(), want)
        moved = bc.moveaxis(x, -1, 0)
        assert_array_equal(dot(moved, y, axes=[(0,), (0,), ()]).get(), want)
        assert_array_equal(dot(moved, y, axis=0).get(), want)
        assert dot(x, y, keepdims=True).shape == (2, 3, 1)
        assert dot(x.astype("f4"), y, dtype="f4").dtype == "f4"
    two = cupyx.GeneralizedUFunc(lambda a: (a.min(-1), a[..., ::-1]), "(n)->(),(n)", supports_batched=True)
    low, back = two(x)
    assert_array_equal(low.get(), x.get().min(-1))
    assert_array_equal(back.get(), x.get()[..., ::-1])
    typed = cupyx.GeneralizedUFunc(lambda a: a + 1, "()->()", signatures=[("i", lambda a: a + 10, "i")])
    assert typed(bc.array(1, dtype="i4")).item() == 11 and typed(bc.array(1.0)).item() == 2


@pytest.mark.parametrize("signature", ["(n", "n->n", "(n)->", "(n),->()", ""])
def test_wrong_signatures_are_refused(signature):
    with pytest.raises(ValueError, match="signature"):
        cupyx.GeneralizedUFunc(lambda a: a, signature)


def test_generalized_ufuncs_check_their_arguments():
    product = cupyx.GeneralizedUFunc(lambda a, b: a @ b, "(m,n),(n,k)->(m,k)", supports_batched=True)
    assert product(bc.ones((2, 3)), bc.ones((3, 4))).shape == (2, 4)
    for first, second in (((2, 3), (2, 4)), ((3,), (3, 4))):
        with pytest.raises(ValueError, match="argument"):
            product(bc.ones(first), bc.ones(second))
    with pytest.raises(TypeError):
        product(bc.ones((2, 3)))
    with pytest.raises(TypeError):
        product(bc.ones((2, 3)), bc.ones((3, 4)), axis=0)
