"""Kernels whose names are names of C++, of CUDA, of the C library or of broadcloth's own text, through NVRTC on any machine."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
import nvrtc
from broadcloth import cuda
from null_device import make, null_device, recorded
from user_names import ELEMENT, KERNEL, made, programs

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)


def compiles(kernel, *signature, check=False):
    text = bc._c.KernelCompiler(kernel.py_func, [], False, check).source(signature, True)
    assert len(nvrtc.compile_kernel(text, "sm_90", quick=True)) > 500
    return text


@pytest.mark.parametrize("names", list(programs(KERNEL)), ids=lambda n: n["function"][:20])
def test_kernels(names):
    kernel = made(KERNEL, names, {"np": np, "cuda": cuda})
    record = np.dtype([(names["field"], "f8"), (names["field2"], "f4")], align=True)
    rest = bc._c.type_handle(cuda.RecordArray.of(np.ones(2, record)))
    compiles(kernel, "float64[::1]", "float64", "float64[::1]", rest)


@pytest.mark.parametrize("names", list(programs(ELEMENT)), ids=lambda n: n["function"][:20])
def test_elementwise_functions(names):
    f = bc.vectorize(made(ELEMENT, names, {}))
    with null_device("null-cuda"), recorded() as record:
        held = f(make((4096,), "float64"), make((4096,), "float64")) * 2
        bc.flush()
        del held
    assert record.launches
    for launch in record.launches:
        assert len(nvrtc.compile_kernel(launch.source, "sm_90", quick=True)) > 500


def test_macros_of_linked_code():
    linked = cuda.CUSource(
        "#define N 4\n#define i64 long\n#define T int\n#define wrap 3\n"
        'extern "C" __device__ int plus_n(float* result, float y) { *result = y + N + wrap; return 0; }\n'
        "struct pair { float a, b; };\n"
        'extern "C" __device__ pair turned(pair p) { return {p.b, p.a}; }\n'
        'extern "C" __device__ void store(int* place, T v) { *place = v; }\n',
        name="macros.cu",
    )
    plus_n = cuda.declare_device("plus_n", "float32(float32)", link=linked)
    turned = cuda.declare_device("turned", "complex64(complex64)", abi="c", link=linked)
    store = cuda.declare_device("store", "void(CPointer(int32), int32)", abi="c", link=linked)
    elsewhere = cuda.declare_device("elsewhere", "float64(float64)", abi="c")

    @cuda.jit
    def kernel(x, out, place):
        i = cuda.grid(1)
        out[i] = plus_n(x[i]) + turned(x[i] + 1j).real
        store(cuda.ffi.from_buffer(place), 3)

    @cuda.jit
    def unresolved(x):
        x[0] = elsewhere(x[0])

    text = compiles(kernel, "float32[::1]", "float32[::1]", "int32[::1]")
    assert text.index("#define N 4") > text.index("plus_n")
    assert "elsewhere" in bc._c.KernelCompiler(unresolved.py_func, [], False, False).source(("float64[::1]",), True)
