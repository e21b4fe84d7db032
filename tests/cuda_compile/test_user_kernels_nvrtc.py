"""Users' kernels as CUDA code, through NVRTC on any machine."""

from __future__ import annotations

import pytest

import broadcloth as bc
import nvrtc
from null_device import make, null_device, recorded

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()
NAMES = """
    sin cos tan asin acos atan sinh cosh tanh asinh acosh exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt cbrt rcbrt floor ceil trunc
    rint round fabs erf erfc tgamma lgamma j0 j1 y0 y1 sinpi cospi normcdf
""".split()


def array(shape, dtype: str):
    return make(shape, bc.bfloat16 if dtype == "bfloat16" else dtype)


def texts(program) -> list[str]:
    """The texts of the kernels that a program becomes on a CUDA device."""
    with null_device("null-cuda"), recorded() as record:
        held = program()
        bc.flush()
        del held
    assert record.launches, "the program launched nothing"
    return [launch.source for launch in record.launches]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_operation_of_each_type(dtype):
    def program():
        f = bc.ElementwiseKernel("T x, T y", "T s, bool b", "s = x * y + x; s += y; b = s == x; if (i > n / 2) s = y;", "typed")
        return f(array((4096,), dtype), array((4096,), dtype))

    for text in texts(program):
        assert len(nvrtc.compile_kernel(text, "sm_90")) > 500


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_the_names_of_c(dtype):
    body = " ".join(f"s += {name}(x);" for name in NAMES)
    body += " s += pow(x, y) + atan2(x, y) + fmod(x, y) + hypot(x, y) + fmin(x, 2) + fmax(x, y) + min(x, y) + max(x, 1);"
    body += " s += fma(x, y, s) + ldexp(x, 2);"
    body += " s += sinf(0.5f) + powf(1.5f, 2.5f) + __expf(0.5f) + abs(x) + isnan(x) + copysign(x, y) + fdim(x, y) + remainder(x, y);"

    def program():
        return bc.ElementwiseKernel("T x, T y", "T s", "s = 0;" + body, "names")(array((4096,), dtype), array((4096,), dtype))

    for text in texts(program):
        assert len(nvrtc.compile_kernel(text, "sm_90", quick=True)) > 500


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers(dtype):
    body = "s = z.real() + abs(z) + norm(z) + arg(z); w = z * 2 + 1 / z - thrust::complex<R>(1, 2) * conj(z); w *= 2.0;"
    body += " w += exp(z) + sqrt(z) + pow(z, 2) + polar(s, s);"

    def program():
        return bc.ElementwiseKernel("T z, R r", "R s, T w", body, "complex_names")(array((4096,), dtype), array((4096,), dtype).real)

    for text in texts(program):
        assert len(nvrtc.compile_kernel(text, "sm_90")) > 500


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_reductions(dtype, axis):
    def program():
        f = bc.ReductionKernel("T x, T y", "T z, int64 n", "x * y + x", "a + b", "z = a; n = _in_ind.size()", "0", "total")
        return f(array((512, 640), dtype), array((640,), dtype), axis=axis)

    for text in texts(program):
        assert len(nvrtc.compile_kernel(text, "sm_90")) > 500


@pytest.mark.parametrize("dtype", ["int32", "float16", "float64", "complex64"])
@pytest.mark.parametrize("target", ["sm_90"])
def test_programs(dtype, target):
    """What a kernel with raw arrays becomes: the null device is asked for the program's text."""
    f = bc.ElementwiseKernel(
        "T x, raw T y",
        "T z, raw T w",
        "z = x + y[i] + y[_ind.size() - 1 - i]; w[i] = z; atomicAdd(&count, 1);",
        "program",
        preamble="__device__ int count;",
        loop_prep="int mine = 0;",
        after_loop="(void)mine;",
    )
    x = array((100, 70), dtype)
    with null_device("null-cuda"):
        x = array((100, 70), dtype)
        f(x[:, ::2], x, array((100, 35), dtype), x)
        text = f.cached_code
    assert len(nvrtc.compile_kernel(text, target)) > 500
