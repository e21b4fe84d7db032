"""Device objects, contexts and copies between devices."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from support import start_python


def test_the_current_device(device):
    d = cuda.Device()
    assert d.id == 0 and d.type == device
    assert d == cuda.get_current_device() == cuda.Device(d) == cuda.gpus.current
    assert cuda.get_device_id() == 0
    assert hash(d) == hash(cuda.Device()) and int(d) == 0 and list(range(3))[d] == 0
    assert pickle.loads(pickle.dumps(d)) == d
    assert bc.zeros(2, device=d).device == device


def test_device_facts(device):
    d = cuda.Device()
    assert d.mem_info.total >= d.mem_info.free > 0
    assert isinstance(d.name, bytes) and d.name
    assert d.MULTIPROCESSOR_COUNT > 0 and d.WARP_SIZE == 32 and d.MAX_THREADS_PER_BLOCK == 1024
    assert d.attributes["MultiProcessorCount"] == d.MULTIPROCESSOR_COUNT
    assert d.attributes["MaxThreadsPerBlock"] == 1024
    assert d.properties["name"] == d.name
    assert isinstance(d.uuid, str) and isinstance(d.pci_bus_id, str)
    with pytest.raises(AttributeError, match="no attribute"):
        d.NO_SUCH_THING


def test_compute_capability_reads_as_numbas_and_as_cupys(device):
    cc = cuda.Device().compute_capability
    assert cc == (cc.major, cc.minor)
    assert str(cc) == f"{cc[0]}{cc[1]}" == f"{cc}" and cc == str(cc)
    assert int(cc) == cc[0] * 10 + cc[1]
    assert "sm_" + cc == f"sm_{cc[0]}{cc[1]}"
    assert (cc >= (5, 0)) == (device == "cuda")


def test_with_device_nests(device):
    outer = cuda.Device()
    with cuda.Device("cpu"):
        assert bc.default_device() == "cpu"
        with outer:
            assert bc.default_device() == device
        assert bc.default_device() == "cpu"
    assert cuda.Device() == outer


def test_devices_that_are_not_there():
    count = max(bc.device_count("cuda"), 1)
    with pytest.raises(ValueError, match="Device: expected"):
        cuda.Device(count)
    with pytest.raises(IndexError, match="gpus: expected"):
        cuda.gpus[count]
    with pytest.raises(ValueError, match="PCI"):
        cuda.Device.from_pci_bus_id("no such id")


def test_gpus_and_contexts(device):
    assert len(cuda.gpus) == len(list(cuda.gpus)) == len(cuda.list_devices()) == len(cuda.gpus.lst) >= 1
    with cuda.gpus[0]:
        pass
    context = cuda.current_context()
    free, total = context.get_memory_info()
    assert 0 < free <= total
    context.synchronize()
    context.push()
    context.pop()
    with context:
        assert context.id == 0
    assert context == cuda.Device().get_primary_context()
    context.reset()
    assert cuda.require_context(len) is len
    with cuda.defer_cleanup():
        cuda.close()
    assert (bc.arange(3) + 1)[2] == 3


def test_select_device(device):
    before = bc.default_device()
    try:
        assert cuda.select_device(0).device == cuda.Device()
    finally:
        bc.set_default_device(before)


def test_the_device_is_the_threads_own(device):
    seen = []

    def look() -> None:
        cuda.Device("cpu").use()
        seen.append(bc.default_device())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == ["cpu"] and cuda.Device().type == device


def test_synchronize(device):
    a = bc.arange(10) + 1
    cuda.synchronize()
    cuda.Device().synchronize()
    cuda.runtime.deviceSynchronize()
    assert a[0] == 1
    assert cuda.is_available() == (bc.device_count("cuda") > 0)
    assert cuda.is_supported_version() and cuda.is_float16_supported() and cuda.is_bfloat16_supported()


def test_peer_access(device):
    d = cuda.Device()
    assert d.can_access_peer(d) and d.enable_peer_access(d)
    if device == "cuda":
        assert not d.can_access_peer(cuda.Device("cpu"))


def test_copies_between_devices_are_ordered():
    # The null devices stand for two GPUs: what a copy reads has been queued before, and memory is not used again too early.
    c = bc._c
    with bc.device("null"):
        a = bc.ones(1000)
    b = a.to_device("null:1")
    assert str(b.device) == "null:1" and b.shape == (1000,)
    assert c.null_copies()
    with bc.device("null:1"):
        d = b + 1
    d.get()


def test_asarray_brings_an_array_to_the_current_device_of_its_kind():
    with bc.device("null"):
        a = bc.ones(10)
    with bc.device("null:1"):
        assert str(bc.asarray(a).device) == str(bc.array(a).device) == "null:1"
    with bc.device("cpu"):
        assert str(bc.asarray(a).device) == "null"


@pytest.mark.gpu
def test_arrays_move_between_two_gpus():
    if bc.device_count("cuda") < 2:
        pytest.skip("needs two GPUs")
    with cuda.Device(0):
        a = bc.arange(1 << 20, dtype=np.float32) * 2
    with cuda.Device(1):
        b = bc.asarray(a)
        assert b.device == "cuda:1"
        d = b + 1
    cuda.Device(0).enable_peer_access(1)
    e = d.to_device("cuda:0")
    expected = np.arange(1 << 20, dtype=np.float32) * 2 + 1
    assert_array_equal(d.get(), expected)
    assert_array_equal(e.get(), expected)
    for _ in range(20):
        a = a.to_device("cuda:1") if a.device == "cuda:0" else a.to_device("cuda:0")
        a += 1
    assert_array_equal(a.get(), np.arange(1 << 20, dtype=np.float32) * 2 + 20)


def test_detect_prints(device, capsys):
    found = cuda.detect()
    assert found == (bc.device_count("cuda") > 0)
    assert "device" in capsys.readouterr().out
    assert cuda.get_cuda_path() is None or isinstance(cuda.get_cuda_path(), str)
    assert cuda.get_rocm_path() is None and cuda.get_hipcc_path() is None
    assert cuda.get_local_runtime_version() == cuda.runtime.runtimeGetVersion()


def test_every_name_of_this_package_is_there():
    mine = ("_device", "_stream", "_event", "_memory", "_graph", "profiler")
    for name, module in cuda._NAMES.items():
        if module in mine:
            assert getattr(cuda, name) is not None or name.startswith("get_"), name
    assert {"Stream", "runtime", "nvtx"} <= set(dir(cuda))
    with pytest.raises(AttributeError, match="no attribute"):
        cuda.no_such_name


@pytest.mark.parametrize("name", ["cuda:x", "cuda:", "cuda:-1", "cuda:1x", "cpu:1", "cpu:", " gpu", "cuda ", "CUDA", "0", "tpu"])
def test_a_device_that_cannot_be_read_is_an_error_and_not_the_first_one(name):
    with pytest.raises(ValueError, match="expected"):
        bc.zeros(2, device=name)
    done = start_python("import broadcloth as bc; print(bc.zeros(2).device)", env={"BROADCLOTH_DEVICE": name})
    assert done.returncode != 0 and f"BROADCLOTH_DEVICE: expected cpu, cuda, cuda:N or auto, got '{name}'" in done.stderr, done.stdout


def test_a_wrong_device_in_the_environment_is_one_error_of_the_first_work():
    code = """
import broadcloth as bc
print("imported")
for _ in range(2):
    try:
        bc.ones(3)
    except ValueError as error:
        print(error, error.__cause__, error.__context__)
print(bc.zeros(2, device="cpu") + 1)
bc.set_default_device("cpu")
print(bc.ones(2))
"""
    done = start_python(code, env={"BROADCLOTH_DEVICE": "nonsense"})
    words = "BROADCLOTH_DEVICE: expected cpu, cuda, cuda:N or auto, got 'nonsense'"
    assert done.stdout.splitlines() == ["imported", f"{words} None None", f"{words} None None", "[1. 1.]", "[1. 1.]"], done.stderr
    assert done.returncode == 0 and not done.stderr
    done = start_python("import broadcloth as bc; bc.ones(3)", env={"BROADCLOTH_DEVICE": "nonsense"})
    assert done.returncode == 1 and done.stderr.count("Traceback") == 1 and done.stderr.endswith(f"ValueError: {words}\n"), done.stderr


@pytest.mark.parametrize("name", ["cuda", "gpu", "cuda:63"])
def test_a_gpu_in_the_environment_that_is_not_there_is_one_error(name):
    if name != "cuda:63" and bc.device_count("cuda"):
        pytest.skip("there is a GPU")
    for work in ("bc.ones(3)", "bc.array([1.0]) + 1", "bc.random.rand(3)", "bc.linalg.inv([[1.0]])"):
        done = start_python(f"import broadcloth as bc; {work}", env={"BROADCLOTH_DEVICE": name})
        assert done.returncode == 1 and done.stderr.count("Traceback") == 1, done.stderr
        assert done.stderr.splitlines()[-1].startswith("RuntimeError: cuda:") and f"(BROADCLOTH_DEVICE={name})" in done.stderr


@pytest.mark.parametrize("name", ["cpu", "cpu:0", "null:1"])
def test_the_environment_names_the_default_device(name):
    done = start_python("import broadcloth as bc; print(repr(bc.empty(2).device))", env={"BROADCLOTH_DEVICE": name})
    assert done.returncode == 0 and f"device('{name.replace(':0', '')}')" in done.stdout, done.stderr
