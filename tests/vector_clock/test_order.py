"""Which work waits for which: between streams, devices and other libraries. Each test ends with the question whether every two accesses to
one piece of memory, of which one writes, are ordered."""

from __future__ import annotations

import gc

from stream_order import Access, OtherArray, OtherLibrary, library, note, on_vector_clock, read_log, recorded

SIZE = 4096


def streams(count: int) -> list:
    import broadcloth as bc

    return [bc.cuda.Stream(non_blocking=True) for _ in range(count)]


def on(stream, f, *arguments):
    """Calls f with a stream as the current one, and queues what it recorded."""
    import broadcloth as bc

    with stream:
        result = f(*arguments)
        bc.flush()
    return result


def overwrite(a) -> None:
    a[1:] = 5  # in its own memory; a store to the whole array would take memory of the stream's


# ---- A wait that is queued counts as work of its stream --------------------------------------------------------------------------------


@on_vector_clock()
def test_memory_that_a_second_reader_still_reads_is_not_overwritten():
    import broadcloth as bc

    one, two, three = streams(3)
    with recorded() as log:
        x = bc.ones(SIZE, dtype="f4", device="cuda")
        bc.flush()
        y = on(one, lambda v: v + 1, x)
        on(two, lambda v: v + 2, x)
        on(three, lambda v: v * 2, y)  # has waited for all that the first stream has queued
        del x  # the first stream waits for the second, and has the memory
        z = on(one, lambda: bc.empty(SIZE, dtype="f4", device="cuda"))
        on(three, overwrite, z)
    log.check()


@on_vector_clock()
def test_an_event_that_the_program_waits_for_counts_too():
    import broadcloth as bc

    one, two, three = streams(3)
    event = bc.cuda.Event()
    with recorded() as log:
        x = bc.ones(SIZE, dtype="f4", device="cuda")
        bc.flush()
        y = on(one, lambda v: v + 1, x)
        on(two, lambda v: v + 2, x)
        on(three, lambda v: v * 2, y)
        event.record(two)
        one.wait_event(event)
        del x
        z = on(one, lambda: bc.empty(SIZE, dtype="f4", device="cuda"))
        on(three, overwrite, z)
    log.check()


@on_vector_clock()
def test_memory_of_an_external_stream_goes_to_the_default_stream_in_order():
    import broadcloth as bc

    lib = OtherLibrary()
    (three,) = streams(1)
    with recorded() as log:
        x = bc.ones(SIZE, dtype="f4", device="cuda")
        bc.flush()
        on(three, lambda v: v * 2, x)  # has waited for all that the default stream has queued
        with bc.cuda.ExternalStream(lib.stream):
            y = x + 1
            bc.flush()
            del y
        gc.collect()
        z = bc.empty(SIZE, dtype="f4", device="cuda")
        on(three, overwrite, z)
    log.check()


@on_vector_clock(devices=2)
def test_a_copy_to_another_device_reads_before_its_source_is_used_again():
    import broadcloth as bc

    (three,) = streams(1)
    with recorded() as log:
        x = bc.ones(SIZE, dtype="f4", device="cuda:0")
        bc.flush()
        on(three, lambda v: v * 2, x)
        y = bc.asarray(x, device="cuda:1")
        del x
        z = bc.empty(SIZE, dtype="f4", device="cuda:0")
        on(three, overwrite, z)
        del y
    log.check()


@on_vector_clock(devices=2)
def test_a_stream_writes_after_another_device_has_read():
    import broadcloth as bc

    (three,) = streams(1)
    with recorded() as log:
        x = bc.ones(SIZE, dtype="f4", device="cuda:0")
        bc.flush()
        on(three, lambda v: v * 2, x)
        y = bc.asarray(x, device="cuda:1")
        on(three, overwrite, x)
        del y
    log.check()


@on_vector_clock()
def test_graphs_of_one_stream_share_its_scratch_memory_in_order():
    import broadcloth as bc

    one, two, three = streams(3)
    inputs = [bc.ones((4, 1 << 18), dtype="f4", device="cuda") for _ in range(2)]
    bc.synchronize()
    graphs = []
    with recorded() as log:
        for x in inputs:
            with one:
                one.begin_capture()
                total = x.sum(axis=1)
                bc.flush()
                graphs.append((one.end_capture(), total))
        graphs[0][0].launch(two)
        graphs[1][0].launch(three)
    assert len([e for e in log.launches() if e.launch >= 0]) == 2
    log.check()


# ---- Other libraries' memory ---------------------------------------------------------------------------------------------------------


@on_vector_clock()
def test_every_stream_waits_for_the_producer_of_an_imported_array():
    import broadcloth as bc

    lib = OtherLibrary()
    (one,) = streams(1)
    with recorded() as log:
        x = bc.ones(8, device="cuda")
        bc.flush()
        on(one, lambda v: v + 1, x)
        theirs = lib.array(SIZE)
        theirs.write()
        a = bc.asarray(theirs)
        on(one, lambda v: v * 2, a)
    log.check()


class WithDlpack:
    """An array of another library that speaks DLPack: the engine's own capsule stands for the library's."""

    def __init__(self, array: OtherArray):
        self.array = array

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        import broadcloth as bc

        made = bc.asarray(self.array).__dlpack__(stream=-1)
        self.array.owner.order_before(stream)
        return made


@on_vector_clock()
def test_every_stream_waits_for_the_producer_of_a_dlpack_tensor():
    import broadcloth as bc

    lib = OtherLibrary()
    one, two = streams(2)
    with recorded() as log:
        x = bc.ones(8, device="cuda")
        y = on(one, lambda v: v + 1, x)
        on(two, lambda v: v + 1, y)
        theirs = lib.array(SIZE)
        theirs.write()
        with one:
            a = bc.from_dlpack(WithDlpack(theirs))
        on(two, lambda v: v * 2, a)
    log.check()


@on_vector_clock()
def test_another_librarys_memory_is_given_back_when_the_work_is_done():
    import broadcloth as bc

    lib = OtherLibrary()
    with recorded() as log:
        theirs = lib.array(SIZE)
        theirs.write()
        a = bc.asarray(theirs)
        b = a + 1
        bc.flush()
        del a, theirs
        gc.collect()
        assert not [e for e in read_log() if e.name == "release"]
        bc.synchronize()
        assert [e for e in read_log() if e.name == "release"]
        del b
    log.check()


@on_vector_clock()
def test_another_librarys_memory_that_two_streams_read_waits_for_both():
    import broadcloth as bc

    lib = OtherLibrary()
    one, two = streams(2)
    with recorded() as log:
        theirs = lib.array(SIZE)
        a = bc.asarray(theirs)
        on(one, lambda v: v + 1, a)
        on(two, lambda v: v + 2, a)
        del a, theirs
        gc.collect()
        one.synchronize()
        two.synchronize()
        bc.synchronize()
        assert [e for e in read_log() if e.name == "release"]
    log.check()


@on_vector_clock(done=100)
def test_another_librarys_memory_is_given_back_at_once_where_the_device_is_idle():
    import broadcloth as bc

    lib = OtherLibrary()
    with recorded() as log:
        theirs = lib.array(SIZE)
        a = bc.asarray(theirs)
        b = a + 1
        bc.flush()
        del a, theirs
        gc.collect()
        assert [e for e in read_log() if e.name == "release"]
        del b
    log.check()


@on_vector_clock()
def test_mapped_memory_is_not_handed_out_while_a_kernel_uses_it():
    import broadcloth as bc

    with recorded() as log:
        mapped = bc.cuda.mapped_array(SIZE, dtype="f4")
        place = mapped.__cuda_array_interface__["data"][0]
        a = bc.cuda.as_cuda_array(mapped)
        b = a + 1
        bc.flush()
        assert Access(place, 4 * SIZE, False) in read_log()[-1].uses
        del a, mapped
        gc.collect()
        again = bc.cuda.mapped_array(SIZE, dtype="f4")
        note("host write", again.__cuda_array_interface__["data"][0], 4 * SIZE)
        del b
    log.check()


@on_vector_clock()
def test_the_consumer_of_an_exported_array_reads_before_its_memory_is_used_again():
    import broadcloth as bc

    for stream in (OtherLibrary(), OtherLibrary(non_blocking=False), OtherLibrary(stream=0)):
        with recorded() as log:
            x = bc.ones(SIZE, dtype="f4", device="cuda")
            capsule = x.__dlpack__(stream=stream.stream or 1)
            place = x.data.ptr
            stream.read(place, 4 * SIZE)
            del x, capsule  # a capsule that nobody takes frees its tensor, as a consumer does
            gc.collect()
            made = [bc.full(SIZE, i, dtype="f4", device="cuda") for i in range(4)]
            bc.flush()
            del made
        log.check()


@on_vector_clock()
def test_exported_memory_comes_back_when_there_is_much_of_it():
    import broadcloth as bc

    lib = OtherLibrary()
    with recorded() as log:
        for _ in range(200):
            x = bc.ones(SIZE, dtype="f4", device="cuda")
            capsule = x.__dlpack__(stream=lib.stream)
            lib.read(x.data.ptr, 4 * SIZE)
            del x, capsule
    noted = [e.name for e in log.entries if e.kind == "note"]
    assert noted.count("allocate") - noted.count("free") <= 70
    log.check()


@on_vector_clock(done=100)
def test_arguments_on_another_librarys_stream_are_given_back_while_it_works():
    import broadcloth as bc

    lib = OtherLibrary()
    kernel = bc.RawKernel('extern "C" __global__ void twice(float* a, int n) { a[0] *= 2; }', "twice")
    with recorded() as log, bc.cuda.ExternalStream(lib.stream):
        for _ in range(100):
            kernel((1,), (32,), (lib.array(SIZE), SIZE))
        released = len([e for e in read_log() if e.name == "release"])
        assert released >= 80, released
    log.check()


# ---- Two imports of one array ----------------------------------------------------------------------------------------------------------


@on_vector_clock()
def test_two_imports_of_one_array_are_read_before_they_are_written():
    import broadcloth as bc

    lib = OtherLibrary()
    with recorded() as log:
        theirs = lib.array(SIZE)
        a, b = bc.asarray(theirs), bc.asarray(theirs)
        a[1:] = b[:-1]
    # In one kernel, threads would read what others have written.
    for e in log.launches():
        read = {use.address for use in e.uses if not use.write}
        assert not (theirs.address in read and theirs.address in {use.address for use in e.uses if use.write})
    log.check()


@on_vector_clock()
def test_two_imports_of_one_array_on_two_streams_wait_for_each_other():
    import broadcloth as bc

    lib = OtherLibrary()
    one, two = streams(2)
    for take in (bc.asarray, lambda theirs: bc.from_dlpack(WithDlpack(theirs))):
        with recorded() as log:
            theirs = lib.array(SIZE)
            theirs.write()
            a, b = on(one, take, theirs), on(two, take, theirs)
            on(one, overwrite, a)
            on(two, lambda v: v + 1, b)  # reads what the other import has written
            on(one, overwrite, a)  # and is read before it is written again
            on(two, overwrite, b)
            on(one, lambda v: v + 1, a)
            del a, b
            gc.collect()
            c = on(two, take, theirs)  # when the first two are gone
            on(one, overwrite, on(one, take, theirs))
            on(two, lambda v: v + 1, c)
            del c, theirs
        log.check()


@on_vector_clock()
def test_a_new_import_waits_for_the_work_of_one_that_is_gone():
    import broadcloth as bc

    lib = OtherLibrary()
    one, two = streams(2)
    with recorded() as log:
        theirs = lib.array(SIZE)
        a = on(one, bc.asarray, theirs)
        on(one, overwrite, a)
        del a
        gc.collect()
        b = on(two, bc.asarray, theirs)
        on(two, lambda v: v + 1, b)
        del b, theirs
    log.check()


@on_vector_clock()
def test_imports_of_parts_of_one_array_wait_for_each_other():
    import broadcloth as bc

    lib = OtherLibrary()
    one, two, three = streams(3)
    with recorded() as log:
        theirs = lib.array(SIZE)
        theirs.write()
        first, second = on(one, bc.asarray, theirs.part(0, SIZE // 2)), on(two, bc.asarray, theirs.part(SIZE // 2, SIZE))
        on(one, overwrite, first)
        on(two, overwrite, second)
        whole = on(three, bc.asarray, theirs)  # lies in both, which have been two groups so far
        on(three, lambda v: v + 1, whole)
        on(one, overwrite, first)
        on(three, overwrite, whole)
        on(two, lambda v: v + 1, second)
        del first, second, whole
    log.check()


@on_vector_clock()
def test_imports_of_one_array_that_are_only_read_do_not_wait_for_the_readers():
    import broadcloth as bc

    lib = OtherLibrary()
    one, two = streams(2)
    with recorded() as log:
        theirs = lib.array(SIZE)
        a, b = on(one, bc.asarray, theirs), on(two, bc.asarray, theirs)
        first = on(one, lambda v: v + 1, a)
        second = on(two, lambda v: v + 2, b)
    adds = [e for e in log.launches() if any(u.address == theirs.address for u in e.uses)]
    assert len(adds) == 2 and not log.ordered(*adds), adds
    log.check()
    del first, second


@on_vector_clock()
def test_the_end_of_a_loan_forgets_no_use_of_the_memory():
    import broadcloth as bc

    for write in (True, False):
        one, two, three = streams(3)
        with recorded() as log:
            x = on(one, lambda: bc.ones(SIZE, dtype="f4", device="cuda"))
            with two:
                lent = bc.from_dlpack(x)
            made = [on(two, lambda v: v + 1, lent)]
            del lent  # the loan ends once that has run, and counts as a use by the second stream
            gc.collect()
            made.append(on(one, overwrite if write else lambda v: v + 2, x))
            two.synchronize()
            made.append(on(three, (lambda v: v + 3) if write else overwrite, x))
        log.check()
        del made, x


@on_vector_clock()
def test_an_array_of_ours_that_comes_back_is_ordered_with_itself():
    import broadcloth as bc

    class Described:
        """What another library makes of our array."""

        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    one, two, three = streams(3)
    for take in (lambda x: bc.from_dlpack(x), lambda x: bc.asarray(Described(x))):
        with recorded() as log:
            x = bc.ones(SIZE, dtype="f4", device="cuda")
            bc.flush()
            back = on(one, take, x)
            on(two, overwrite, x)
            on(three, lambda v: v + 1, back)
            on(two, overwrite, x)
            on(one, overwrite, back)
            on(three, lambda v: v + 1, x)
            del x, back
        log.check()


@on_vector_clock()
def test_imports_at_the_same_place_need_no_copy():
    import broadcloth as bc

    lib = OtherLibrary()
    with recorded() as log:
        theirs = lib.array(SIZE)
        a, b = bc.asarray(theirs), bc.asarray(theirs)
        a[:] = b
    assert len(log.launches()) == 1


# ---- Alignment -------------------------------------------------------------------------------------------------------------------------


@on_vector_clock()
def test_memory_at_an_odd_address_is_not_written_by_vectors():
    import broadcloth as bc

    lib = OtherLibrary()
    for offset, vectors in ((1, False), (0, True)):
        theirs = lib.array(SIZE + offset, offset)
        with recorded() as log:
            b = bc.asarray(theirs)
            x = bc.ones(SIZE, dtype="f4", device="cuda")
            b += x
            b[:] = x
        stores = [e for e in log.launches() if Access(theirs.address, 4 * SIZE, True) in e.uses]
        assert len(stores) == 2
        for e in stores:
            assert ("*reinterpret_cast<Vec<float, 4>*>" in e.text) == vectors, e.text


# ---- Failures --------------------------------------------------------------------------------------------------------------------------


@on_vector_clock(devices=2)
def test_a_failing_kernel_with_another_devices_array_raises():
    import broadcloth as bc

    kernel = bc.RawKernel('extern "C" __global__ void add(float* a, float* b) { a[0] += b[0]; }', "add")
    here, there = (bc.ones(SIZE, dtype="f4", device=d) for d in ("cuda:0", "cuda:1"))
    kernel((1,), (32,), (here, there))
    library().vc_fail(b"cuLaunchKernel", 719, 1)
    try:
        kernel((1,), (32,), (here, there))
    except RuntimeError as error:
        assert "719" in str(error)
    else:
        raise AssertionError("the launch failed without an error")
