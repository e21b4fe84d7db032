"""Kernels linked with code of other compilers: CUDA C++ on every device, the rest on CUDA."""

from __future__ import annotations

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda, types

SOURCE = """
__device__ float bias = 0.5f;
static __device__ float hidden(float x) { return x + bias; }
extern "C" __device__ int add_bias(float* result, float x) { *result = hidden(x); return 0; }
extern "C" __device__ int sum_all(double* result, const double* values, long long n) {
  double s = 0;
  for (long long i = 0; i < n; ++i) s += values[i];
  *result = s;
  return 0;
}
extern "C" __device__ int scale_in_place(void*, float* values, int n, float by) {
  for (int i = 0; i < n; ++i) values[i] *= by;
  return 0;
}
extern "C" __device__ int add(int a, int b) { return a + b; }
"""
code = cuda.CUSource(SOURCE, name="functions.cu")
add_bias = cuda.declare_device("add_bias", "float32(float32)", link=code)
sum_all = cuda.declare_device("sum_all", types.float64(types.CPointer(types.float64), types.int64))
scale_in_place = cuda.declare_device("scale_in_place", "void(CPointer(float32), int32, float32)", link=[code])
add = cuda.declare_device("add", "int32(int32, int32)", link=code, abi="c")


@cuda.jit
def biased(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = add_bias(x[i])


def test_a_function_of_cuda_cpp(xp):
    x = xp.arange(100, dtype="float32")
    out = xp.zeros_like(x)
    biased[2, 64](x, out)
    assert_array_equal(np.asarray(out), np.arange(100, dtype="f4") + np.float32(0.5))


@cuda.jit(link=[code])
def total(x, out):
    out[0] = sum_all(cuda.ffi.from_buffer(x), len(x))


def test_pointers_and_the_link_option(xp):
    out = xp.zeros(1)
    total[1, 1](xp.arange(10.0), out)
    assert float(out[0]) == 45


@cuda.jit
def scaled(x):
    row = x[cuda.grid(1)]
    scale_in_place(cuda.ffi.from_buffer(row), row.size, 3.0)


def test_functions_without_a_result(xp):
    x = xp.ones((4, 3), dtype="float32")
    scaled[1, 4](x)
    assert_array_equal(np.asarray(x), np.full((4, 3), 3, "f4"))


@cuda.jit(device=True)
def twice(i):
    return add(i, i)


@cuda.jit
def added(out):
    i = cuda.grid(1)
    out[i] = add(twice(i), 1)


def test_the_c_abi_a_device_function_and_a_name_that_the_library_has(xp):
    out = xp.zeros(8, dtype="int32")
    added[1, 8](out)
    assert_array_equal(np.asarray(out), 2 * np.arange(8) + 1)


def test_files_are_read_when_a_kernel_is_compiled(xp, tmp_path):
    path = tmp_path / "value.cu"
    read = cuda.declare_device("value_of", "int32(int32)", abi="c")
    for k in (1, 2):
        path.write_text(f'extern "C" __device__ int value_of(int x) {{ return x + {k}; }}')

        @cuda.jit(link=str(path))
        def kernel(out):
            out[0] = read(10)

        out = xp.zeros(1, dtype="int32")
        kernel[1, 1](out)
        assert int(out[0]) == 10 + k


def test_headers_and_arrays(xp):
    # Arrays as they are: owners, size, item size, data, extents, strides.
    source = cuda.CUSource("""
#include <cuda_fp16.h>
extern "C" __device__ int corner(float* result, void*, void*, long long size, long long item, float* data, long long n, long long m,
                                 long long row, long long column) {
  *result = __half2float(__float2half(data[(n - 1) * row / item + (m - 1)])) + float(size);
  return 0;
}""")
    corner = cuda.declare_device("corner", "float32(float32[:, ::1])", link=source)

    @cuda.jit
    def kernel(x, out):
        out[0] = corner(x)

    out = xp.zeros(1, dtype="float32")
    kernel[1, 1](xp.arange(6, dtype="float32").reshape(2, 3), out)
    assert float(out[0]) == 11


def test_callbacks_see_the_loaded_program(xp):
    seen = []
    source = cuda.CUSource(
        '__device__ int counter = 7; extern "C" __device__ int read_counter() { return counter; }',
        setup_callback=lambda module: seen.append(module.get_global_symbol("counter")),
    )
    read = cuda.declare_device("read_counter", "int32()", abi="c", link=source)

    @cuda.jit
    def kernel(out):
        out[0] = read()

    out = xp.zeros(1, dtype="int32")
    kernel[1, 1](out)
    assert int(out[0]) == 7
    assert len(seen) == 1 and seen[0][1] == 4


def test_kinds_of_code():
    assert cuda.PTXSource(io.StringIO(".version 8.0")).data == b".version 8.0"
    assert cuda.Cubin(io.BytesIO(b"\x7fELF")).data == b"\x7fELF"
    kinds = [c(b"").kind for c in (cuda.Fatbin, cuda.Archive, cuda.Object, cuda.LTOIR)]
    assert kinds == ["fatbin", "archive", "object", "ltoir"]
    with pytest.raises(RuntimeError, match=r"'file.txt' has no extension that says what it is; expected one of .cu, .ptx"):
        cuda.jit(link="file.txt")(lambda x: None).compile("(float32[:],)")
    with pytest.raises(TypeError, match="expected a path or a cuda.LinkableCode, got int"):
        cuda.jit(link=[3])
    with pytest.raises(TypeError, match=r"signature 'float33\(\)'"):
        cuda.declare_device("f", "float33()")


def test_declarations_show_their_types():
    for sig in ("int32(float32[:])", types.int32(types.float32[:]), bc.int32(bc.float32[:])):
        declared = cuda.declare_device("f", sig)
        assert declared.sig.return_type == types.int32 == bc.int32
        assert declared.sig.args == (bc.float32[:],)
    assert types.int32 != bc.int64 and bc.int64 != types.int32
    for sig in ("(float32[:],)", (types.float32[:],)):
        with pytest.raises(TypeError, match="Return type"):
            cuda.declare_device("f", sig)


def test_errors_name_the_argument():
    def kernel(x):
        x[0] = add_bias("a")

    with pytest.raises(bc.TypingError, match="add_bias.. does not take str as argument 1"):
        cuda.jit(kernel).compile("(float32[:],)")


def test_machine_code_does_not_run_on_the_cpu():
    f = cuda.declare_device("f", "int32()", abi="c", link=cuda.PTXSource(".version 8.0", name="f.ptx"))

    @cuda.jit
    def kernel(out):
        out[0] = f()

    message = r"f.ptx is ptx, machine code for a GPU; on the CPU kernels are linked with CUDA C"
    with bc.device("cpu"), pytest.raises(NotImplementedError, match=message):
        kernel[1, 1](bc.zeros(1, dtype="int32"))


PTX_OF = 'extern "C" __device__ float cube(float x) { return x * x * x; }'


@pytest.mark.gpu
@pytest.mark.skipif(bc.device_count("cuda") == 0, reason="links for a GPU and runs there")
@pytest.mark.parametrize("kind", ["ptx", "cubin"])
def test_ptx_and_cubins_are_linked(kind):
    with bc.device("cuda"):
        run_linked(kind)


def run_linked(kind: str) -> None:
    compiled = cuda_code(kind)
    cube = cuda.declare_device("cube", "float32(float32)", abi="c", link=compiled)

    @cuda.jit
    def cubes(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = cube(x[i])

    x = bc.arange(50, dtype="float32")
    cubes[1, 64](x)
    assert_allclose(np.asarray(x), np.arange(50, dtype="f4") ** 3)


@pytest.mark.parametrize("kind", ["ptx", "cubin", "ltoir"])
def test_linking_needs_no_gpu(kind):
    try:
        options = ["-rdc=true", *(["-dlto"] if kind == "ltoir" else [])]
        arch = "compute_90" if kind == "ptx" else "sm_90"
        other, _, _ = bc._c.compile_cuda(PTX_OF, arch, options, None, "cube.cu", "nvrtc", False, False)
    except ImportError as error:
        pytest.skip(str(error))
    make = {"ptx": cuda.PTXSource, "cubin": cuda.Cubin, "ltoir": cuda.LTOIR}[kind]
    link = [make(bytes(other).rstrip(b"\0") if kind == "ptx" else bytes(other), name="cube")]
    text = 'extern "C" __device__ float cube(float); extern "C" __global__ void k(float* x) { x[0] = cube(x[0]); }'
    try:
        made, _, _ = bc._c.compile_cuda(text, "sm_90", [], None, "k.cu", "nvrtc", False, True, link)
    except ImportError as error:
        pytest.skip(str(error))
    assert bytes(made).startswith(b"\x7fELF")
    with pytest.raises(bc.CompileError, match="cube"):
        bc._c.compile_cuda(text, "sm_90", ["-rdc=true"], None, "k.cu", "nvrtc", False, True, [])


def test_a_python_function_as_ltoir():
    try:
        code, result = cuda.compile(lambda x: x * x, "(float32,)", cc=(9, 0), output="ltoir", abi_info={"abi_name": "square"})
    except ImportError as error:
        pytest.skip(str(error))
    assert isinstance(code, bytes) and len(code) > 100 and result == types.float32
    text = 'extern "C" __device__ float square(float); extern "C" __global__ void k(float* x) { x[0] = square(x[0]); }'
    try:
        made, _, _ = bc._c.compile_cuda(text, "sm_90", [], None, "k.cu", "nvrtc", False, True, [cuda.LTOIR(code)])
    except ImportError as error:
        pytest.skip(str(error))
    assert bytes(made).startswith(b"\x7fELF")


def cuda_code(kind: str):
    d = bc._c.default_device().index
    major, minor = bc._c.cuda_attribute(d, 75), bc._c.cuda_attribute(d, 76)
    arch = f"{'compute' if kind == 'ptx' else 'sm'}_{major}{minor}"
    binary, _, _ = bc._c.compile_cuda(PTX_OF, arch, ["-rdc=true"], None, "cube.cu", "nvrtc", False, False)
    return (cuda.PTXSource if kind == "ptx" else cuda.Cubin)(bytes(binary).rstrip(b"\0"))
