"""The driver and the checks of stream_order.py themselves: they see what is wrong, and find nothing in what is right."""

from __future__ import annotations

import ctypes

from stream_order import OtherLibrary, checked, library, note, on_vector_clock, read_log, recorded


def _call(name: str, *arguments) -> int:
    return getattr(library(), name)(*arguments)


@on_vector_clock()
def test_a_write_that_no_stream_waits_for_is_a_conflict():
    one, two = OtherLibrary(), OtherLibrary()
    with recorded() as log:
        array = one.array(100)
        first = array.write()
        second = two.read(array.address, 400)
    assert not log.ordered(first, second)
    assert len(log.problems()) == 1 and "does not wait" in log.problems()[0]


@on_vector_clock()
def test_an_event_orders_two_streams():
    one, two = OtherLibrary(), OtherLibrary()
    with recorded() as log:
        array = one.array(100)
        first = array.write()
        one.order_before(two.stream)
        second = two.read(array.address, 400)
        later = array.write()
    assert log.ordered(first, second) and not log.ordered(second, first) and not log.ordered(second, later)
    assert [p.split(",")[0] for p in log.problems()] == [f"{later} writes {array.address:#x}"]


@on_vector_clock()
def test_the_host_waits_only_where_it_synchronises():
    lib = OtherLibrary()
    with recorded() as log:
        array = lib.array(100)
        array.write()
        early = note("host read", array.address, 400)
        checked("cuStreamSynchronize", ctypes.c_void_p(lib.stream))
        note("host read", array.address, 400)
    assert len(log.problems()) == 1 and str(early) in log.problems()[0]


@on_vector_clock()
def test_blocking_streams_and_the_default_stream_wait_for_each_other():
    default, blocking, apart = OtherLibrary(stream=0), OtherLibrary(non_blocking=False), OtherLibrary()
    with recorded() as log:
        array = default.array(100)
        first, second, third = array.write(), blocking.read(array.address, 400), array.write()
        alone = apart.read(array.address, 400)
    assert log.ordered(first, second) and log.ordered(second, third) and not log.ordered(third, alone)


@on_vector_clock()
def test_released_memory_must_not_be_in_use():
    lib, reader = OtherLibrary(), OtherLibrary()
    with recorded() as log:
        array = lib.array(100)
        array.write()
        lib.order_before(reader.stream)
        reader.read(array.address, 400)
        del array
    assert len(log.problems()) == 1 and "takes the memory" in log.problems()[0]


@on_vector_clock()
def test_a_queued_copy_sees_page_locked_memory_that_is_written_too_early():
    lib = OtherLibrary()
    with recorded() as log, lib.entered():
        host = ctypes.c_void_p()
        checked("cuMemHostAlloc", ctypes.byref(host), ctypes.c_size_t(64), 0)
        to = lib.allocate(64)
        checked("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(to), host, ctypes.c_size_t(64), ctypes.c_void_p(lib.stream))
        ctypes.memset(host, 1, 64)
        checked("cuStreamSynchronize", ctypes.c_void_p(lib.stream))
    assert "was written while" in log.problems()[0]


@on_vector_clock()
def test_captures_keep_their_rules():
    origin, joined, apart = OtherLibrary(), OtherLibrary(), OtherLibrary()
    stream = ctypes.c_void_p(origin.stream)
    event = ctypes.c_void_p()
    with origin.entered():
        checked("cuEventCreate", ctypes.byref(event), 2)
        checked("cuEventRecord", event, ctypes.c_void_p(apart.stream))
        graph = ctypes.c_void_p()
        # The host cannot wait for a stream that is captured, and the capture is lost.
        checked("cuStreamBeginCapture_v2", stream, 2)
        assert _call("cuStreamSynchronize", stream) == 900
        assert _call("cuStreamEndCapture", stream, ctypes.byref(graph)) == 901
        # Nor can a graph wait for an event of outside.
        checked("cuStreamBeginCapture_v2", stream, 2)
        assert _call("cuStreamWaitEvent", stream, event, 0) == 905
        assert _call("cuStreamEndCapture", stream, ctypes.byref(graph)) == 901
        # An event of a capture cannot be waited for by the host, and makes a stream join.
        checked("cuStreamBeginCapture_v2", stream, 2)
        checked("cuEventRecord", event, stream)
        checked("cuStreamWaitEvent", ctypes.c_void_p(joined.stream), event, 0)
        status = ctypes.c_int()
        checked("cuStreamIsCapturing", ctypes.c_void_p(joined.stream), ctypes.byref(status))
        assert status.value == 1
        array = joined.array(100)
        array.write()
        assert _call("cuStreamEndCapture", stream, ctypes.byref(graph)) == 904  # nobody waits for the stream that joined
        assert _call("cuEventSynchronize", event) == 907
        assert _call("cuStreamBeginCapture_v2", ctypes.c_void_p(0), 2) == 900


@on_vector_clock()
def test_a_graph_runs_what_was_captured_when_it_is_launched():
    lib = OtherLibrary()
    stream, graph, executable = ctypes.c_void_p(lib.stream), ctypes.c_void_p(), ctypes.c_void_p()
    with recorded() as log, lib.entered():
        array = lib.array(100)
        checked("cuStreamBeginCapture_v2", stream, 2)
        written = array.write()
        checked("cuStreamEndCapture", stream, ctypes.byref(graph))
        checked("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
        checked("cuGraphLaunch", executable, stream)
        after = array.read()
    ran = [e for e in log.of_kind("fill") if e.launch >= 0]
    assert written.capture and len(ran) == 1 and log.ordered(ran[0], after)
    log.check()


@on_vector_clock(vmm=0)
def test_programs_of_the_engine_on_one_stream_are_right():
    import broadcloth as bc

    with recorded() as log:
        a = bc.arange(1000, dtype="f4", device="cuda")
        b = (a + 1) * 2
        b[1:] = b[:-1]
        bc.concatenate([b, a]).sum().get()
        del a
        c = bc.cumsum(b)[::2].copy()
        c[bc.array([1, 2, 1], device="cuda")] = 5
        c += c[bc.array([3, 0], device="cuda")].max()
    assert len(log.launches()) >= 4
    log.check()


@on_vector_clock()
def test_the_engine_orders_two_streams():
    import broadcloth as bc

    with recorded() as log:
        a = bc.arange(1000, dtype="f4", device="cuda")
        bc.flush()
        with bc.cuda.Stream():
            b = a * 2
            bc.flush()
        a += b
    multiply, add = log.launches("multiply")[0], log.launches("add")[0]
    assert multiply.agent != add.agent and log.ordered(multiply, add)
    log.check()


@on_vector_clock()
def test_the_log_names_what_was_asked():
    import broadcloth as bc

    before = library().vc_count()
    bc.ones(4, device="cuda").get()
    kinds = {e.kind for e in read_log(before)}
    assert {"launch", "copy", "synchronize"} <= kinds


@on_vector_clock()
def test_kernels_are_not_asked_for_parameters_that_they_lack():
    import numpy as np

    import broadcloth as bc

    a = bc.ones(1000, device="cuda")
    kernel = bc.RawKernel('extern "C" __global__ void two(float* a, int n) { a[0] = n; }', "two")
    with recorded() as log:
        (a * 3 + bc.cumsum(a)).get()
        kernel((1,), (1,), (a, np.int32(5)))
        bc.synchronize()
    assert log.launches("two") and _call("vc_asked_past_last") == 0


def launch_large():
    """An elementwise kernel of 300 numbers, each of which takes 16 bytes of parameters."""
    import broadcloth as bc

    a = bc.zeros(1000, device="cuda")
    numbers = [f"x{k}" for k in range(300)]
    kernel = bc.ElementwiseKernel(", ".join(["T a", *(f"T {x}" for x in numbers)]), "T out", "out = a + " + " + ".join(numbers), "large")
    with recorded() as log:
        kernel(a, *range(300)).get()
        bc.synchronize()
    return log


@on_vector_clock(version=12000)
def test_a_driver_before_12_1_is_given_at_most_4_kb_of_parameters():
    try:
        launch_large()
    except ValueError as error:
        assert "4096 bytes of parameters" in str(error)
    else:
        raise AssertionError("300 numbers were accepted")


@on_vector_clock(version=12010)
def test_a_driver_from_12_1_on_is_given_more():
    assert any(len(entry.params) > 4096 for entry in launch_large().of_kind("launch"))
