"""The launch path on the null device: which calls compile, how grids are read, what wrong calls say. Nothing runs."""

from __future__ import annotations

import collections
import gc
import weakref

import numpy as np
import pytest

import broadcloth as bc
from null_device import null_device

c = bc._c
EMPTY = 'extern "C" __global__ void f() {}'


@pytest.fixture(autouse=True)
def _device():
    with null_device("null-cuda"):
        c.null_log_clear()
        yield
        c.null_log_clear()


class Recorder:
    """A dispatcher's compiler that notes what it is asked for; every form has the signature that `signature` gives."""

    def __init__(self, signature: str) -> None:
        self.signature = signature
        self.calls: list[tuple] = []

    def __call__(self, arguments: tuple, device: bc.device) -> object:
        self.calls.append(arguments)
        return c.kernel_form(EMPTY, "f", self.signature, None, device)


def dispatcher(signature: str, names: tuple[str, ...], defaults: tuple = ()):
    recorder = Recorder(signature)
    return c.KernelDispatcher(recorder, names, defaults), recorder


def grids() -> list[tuple]:
    return [(tuple(launch["grid"]), tuple(launch["block"]), launch["shared_bytes"]) for launch in c.null_log() if launch["entry"] == "f"]


# ---- KernelDispatcher -----------------------------------------------------------------------------------------------


def test_a_call_with_types_seen_before_compiles_nothing():
    kernel, recorder = dispatcher("void(float32[:], int64)", ("x", "n"))
    for n in range(5):
        kernel[1, 32](bc.zeros(n + 1, "float32"), n)
    assert len(recorder.calls) == 1 and len(grids()) == 5
    assert len(kernel.forms()) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 1.0),
        (1, True),
        (1, 1j),
        (1, np.int64(1)),
        (np.int32(1), np.int64(1)),
        (None, 1),
        ((1, 2), (1, 2.0)),
        ((1, 2), (1, 2, 3)),
        ((1, (2, 3)), ((1, 2), 3)),
        (len, sum),
        (np.float32, np.float64),
    ],
    ids=repr,
)
def test_other_types_are_compiled_for(first, second):
    calls = []

    def compile(arguments, device):
        calls.append(arguments)
        return c.kernel_form(EMPTY, "f", "void(none)", None, device)

    kernel = c.KernelDispatcher(compile, ("x",))
    for value in (first, second, first, second):
        try:
            kernel[1, 1](value)
        except TypeError:
            pass
    assert [call[0] for call in calls] == [first, second]


def test_arrays_are_told_apart_by_dtype_rank_layout_and_right_to_write():
    kernel, recorder = dispatcher("void(none)", ("x",))
    a = bc.zeros((4, 6), "float32")
    frozen = bc.zeros((4, 6), "float32")
    frozen.flags.writeable = False
    different = [a, a[0], a.T, a[:, ::2], frozen, bc.zeros((4, 6), "float64")]
    for x in different + [bc.ones((2, 3), "float32"), a[1], a.T[:, :]]:
        kernel[1, 1](x)
    assert [call[0] is x for call, x in zip(recorder.calls, different, strict=True)] == [True] * len(different)


def test_keywords_and_defaults_are_put_in_their_places():
    kernel, recorder = dispatcher("void(int64, float64, bool)", ("a", "b", "c"), (2.5, True))
    kernel[1, 1](1)
    kernel[1, 1](1, c=False)
    kernel[1, 1](c=False, a=3, b=1.0)
    assert recorder.calls == [(1, 2.5, True)]
    assert len(grids()) == 3
    with pytest.raises(TypeError, match="missing argument 'a'"):
        kernel[1, 1]()
    with pytest.raises(TypeError, match="unexpected keyword argument 'd'"):
        kernel[1, 1](1, d=2)
    with pytest.raises(TypeError, match="multiple values for argument 'a'"):
        kernel[1, 1](1, a=2)
    with pytest.raises(TypeError, match="expected 3 arguments, got 4"):
        kernel[1, 1](1, 2.0, True, 4)


def test_the_brackets_say_grid_block_stream_and_shared_memory():
    kernel, _ = dispatcher("void()", ())
    kernel[4, 32]()
    kernel[(4, 2), (8, 8, 2)]()
    kernel[np.int32(3), (np.int64(5),)]()
    kernel[1, 2, 0, 128]()
    kernel[[1, 2, 3], 1, None, 7]()
    assert grids() == [
        ((4, 1, 1), (32, 1, 1), 0),
        ((4, 2, 1), (8, 8, 2), 0),
        ((3, 1, 1), (5, 1, 1), 0),
        ((1, 1, 1), (2, 1, 1), 128),
        ((1, 2, 3), (1, 1, 1), 7),
    ]


@pytest.mark.parametrize(
    ("config", "error", "words"),
    [
        (4, ValueError, "blocks, threads"),
        ((4,), ValueError, "blocks, threads"),
        ((4, "x"), TypeError, "int"),
        ((4, 1.5), TypeError, "block"),
        ((4, (1, 2, 3, 4)), ValueError, "one to three"),
        ((-1, 32), ValueError, "positive"),
        ((1, 32, 0, -4), ValueError, "shared"),
    ],
)
def test_brackets_that_make_no_launch_are_refused(config, error, words):
    kernel, _ = dispatcher("void()", ())
    with pytest.raises(error, match=words):
        kernel[config]


def test_an_empty_grid_is_refused():
    kernel, _ = dispatcher("void()", ())
    with pytest.raises(ValueError, match="without zeros"):
        kernel[0, 32]()


def test_forall_covers_its_tasks():
    kernel, _ = dispatcher("void()", ())
    kernel.forall(1000, 128)()
    kernel.forall(1000)()
    kernel.forall(0)()
    assert grids() == [((8, 1, 1), (128, 1, 1), 0), ((4, 1, 1), (256, 1, 1), 0)]


def test_values_are_laid_out_as_the_types_say():
    Point = collections.namedtuple("Point", "x y")
    kernel, _ = dispatcher("void(none)", ("x",))
    kernel[1, 1](Point(1, 2.0))
    kernel[1, 1](Point(3, 4.0))
    kernel[1, 1]((1, 2.0))
    assert len(kernel.forms()) == 3 or len(kernel.forms()) == 2


def test_an_error_of_the_compiler_is_raised_and_the_next_call_tries_again():
    calls = []

    def compile(arguments, device):
        calls.append(arguments)
        raise bc.TypingError("no such type")

    kernel = c.KernelDispatcher(compile, ("x",))
    for _ in range(2):
        with pytest.raises(bc.TypingError, match="no such type"):
            kernel[1, 1](1)
    assert len(calls) == 2


def test_dispatchers_in_cycles_are_collected():
    class Own(c.KernelDispatcher):
        pass

    kernel = Own(lambda arguments, device: c.kernel_form(EMPTY, "f", "void()", None, device), ())
    kernel.itself = kernel
    kernel[1, 1]()
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None


# ---- RawKernel -----------------------------------------------------------------------------------------------

TYPED = r"""
struct Pair { float a, b; };
extern "C" __global__ void f(const float* in, float* out, int n, float s, bool flag, unsigned char byte, double d, Pair pair) {}
"""


def arguments(**changes):
    values = dict(
        a=bc.zeros(3, "float32"), b=bc.zeros(3, "float32"), n=3, s=1.5, flag=True, byte=255, d=2.0, pair=np.zeros((), "f4, f4"), **{}
    )
    values.update(changes)
    return tuple(values.values())


def test_arguments_are_converted_to_the_parameters():
    kernel = bc.RawKernel(TYPED, "f")
    for changes in [
        {},
        {"n": np.int64(7)},
        {"n": -1},
        {"n": 0xFFFFFFFF},
        {"s": 2},
        {"s": np.float64(2)},
        {"flag": np.bool_(False)},
        {"byte": -1},
        {"d": np.float32(1)},
        {"a": None},
        {"pair": np.zeros(2, "f4")},
        {"pair": bytes(8)},
    ]:
        kernel((1,), (1,), arguments(**changes))
    assert len(grids()) == 12


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"n": 1.5}, TypeError, "parameter 2 is int32, got float"),
        ({"n": 2**33}, OverflowError, "out of the range of parameter 2"),
        ({"n": np.float32(1)}, TypeError, "parameter 2 is int32"),
        ({"byte": 256}, OverflowError, "parameter 5"),
        ({"s": 1j}, TypeError, "parameter 3 is float32, got complex"),
        ({"a": 1.5}, TypeError, "an array or an address for parameter 0"),
        ({"a": np.zeros(3, "float32")}, TypeError, r"NumPy array.*broadcloth\.asarray"),
        ({"n": bc.zeros(3)}, TypeError, "parameter 2 is int32, got an array"),
        ({"n": "three"}, TypeError, "expected int32 for parameter 2, got str"),
        ({"b": object()}, TypeError, "expected an array for parameter 1, got object"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(changes, error, words):
    with pytest.raises(error, match=words):
        bc.RawKernel(TYPED, "f")((1,), (1,), arguments(**changes))


def test_a_wrong_number_of_arguments_is_refused():
    with pytest.raises(TypeError, match="kernel f: expected 8 arguments, got 2"):
        bc.RawKernel(TYPED, "f")((1,), (1,), (1, 2))
    with pytest.raises(TypeError, match="expected a tuple for the kernel's arguments, got int"):
        bc.RawKernel(TYPED, "f")((1,), (1,), 3)


def test_a_read_only_array_can_be_read_and_not_written():
    kernel = bc.RawKernel(TYPED, "f")
    frozen = bc.zeros(3, "float32")
    frozen.flags.writeable = False
    kernel((1,), (1,), arguments(a=frozen))
    with pytest.raises(ValueError, match="parameter 1 is written, and the array is read-only"):
        kernel((1,), (1,), arguments(b=frozen))


def test_grids_of_raw_kernels():
    kernel = bc.RawKernel(EMPTY, "f")
    kernel((2,), (32,), ())
    kernel((2, 3), (8, 8), (), shared_mem=64)
    kernel(grid=4, block=5, args=[])
    kernel.linear_launch(1000, ())
    assert grids() == [
        ((2, 1, 1), (32, 1, 1), 0),
        ((2, 3, 1), (8, 8, 1), 64),
        ((4, 1, 1), (5, 1, 1), 0),
        ((8, 1, 1), (128, 1, 1), 0),
    ]


def test_attributes_and_what_a_kernel_says_of_itself():
    kernel = bc.RawKernel(EMPTY, "f", ("-DN=1",), enable_cooperative_groups=True)
    assert (kernel.name, kernel.code, kernel.options, kernel.backend) == ("f", EMPTY, ("-DN=1",), "nvrtc")
    assert kernel.enable_cooperative_groups is True and kernel.file_path is None and kernel.kernel is kernel
    assert repr(kernel) == "<broadcloth.RawKernel 'f'>"
    kernel.max_dynamic_shared_size_bytes = 65536
    assert kernel.max_dynamic_shared_size_bytes == kernel.attributes["max_dynamic_shared_size_bytes"] == 65536
    with pytest.raises(ValueError, match="backend"):
        bc.RawKernel(EMPTY, "f", backend="hip")
    with pytest.raises(TypeError, match="options"):
        bc.RawKernel(EMPTY, "f", "-DN=1")
    with pytest.raises(TypeError, match="code"):
        bc.RawKernel(3, "f")


def test_a_module_without_the_kernel_says_so():
    module = bc.RawModule(code=EMPTY)
    with pytest.raises(AttributeError, match="missing"):
        module.get_function("missing")((1,), (1,), ())
    with pytest.raises(TypeError, match="either 'code' or 'path'"):
        bc.RawModule()


def test_kernels_see_what_was_recorded_before_them():
    """A pending expression is run before the launch that reads or writes its memory."""
    kernel = bc.RawKernel('extern "C" __global__ void g(float* x, const float* y) {}', "g")
    x = bc.zeros(1000, "float32")
    y = bc.sin(x) + 1
    assert c.is_pending(y)
    kernel((1,), (32,), (x, y))
    assert not c.is_pending(y)
    assert c.null_log()[-1]["entry"] == "g"


def test_hints_of_copies_have_the_types_of_their_arrays():
    kernel, recorder = dispatcher("void(float32[::1])", ("x",))
    host = np.zeros(4, "float32")
    for given in (host, bc.cuda.In(host), bc.cuda.Out(host), bc.cuda.InOut(bc.cuda.In(host))):
        kernel[1, 1](given)
    assert len(recorder.calls) == 1 and recorder.calls[0][0] is host


def test_of_objects_that_change_with_each_call_only_some_are_remembered():
    kernel, recorder = dispatcher("void(none)", ("f",))
    functions = [lambda: None for _ in range(1100)]
    for f in functions:
        kernel[1, 1](f)
    assert len(recorder.calls) == 1100
    kernel[1, 1](functions[3])
    assert len(recorder.calls) == 1100
    kernel[1, 1](functions[-1])
    assert len(recorder.calls) == 1101


def test_arrays_that_a_kernel_names_are_parameters_of_each_launch():
    from broadcloth import cuda

    table = bc.zeros(8)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = table[i]

    out = bc.zeros(8)
    kernel[1, 8](out)
    c.null_log_clear()
    kernel[1, 8](out)
    assert [e["entry"] for e in c.null_log()] == ["kernel"]  # no copies
    assert len(kernel.forms()) == 1 and "c_table" in kernel._compiler.source()
