"""Users' CUDA C++ through the compilers, on any machine: names, options, headers, relocatable code, and what errors say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import broadcloth as bc
import nvrtc
from broadcloth.random import _on_device

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)

compile_cuda = bc._c.compile_cuda
TOOLKITS = sorted(Path("/usr/local").glob("cuda*/include/cuda_fp16.h")) + [
    Path(p) / "include" / "cuda_fp16.h" for p in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")) if p
]
needs_toolkit = pytest.mark.skipif(not any(p.exists() for p in TOOLKITS), reason="the CUDA toolkit's headers are not installed")

ADD = r"""
extern "C" __global__ void add(const float* a, const float* b, float* out, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
"""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_a_plain_kernel_becomes_a_cubin_for_each_architecture(arch):
    binary, lowered, log = compile_cuda(ADD, arch)
    assert binary.startswith(b"\x7fELF") and b"add" in binary
    assert lowered == () and log == ""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("dxsm", [False, True])
@pytest.mark.parametrize("name", _on_device.KERNELS)
def test_the_kernels_of_numpys_random_numbers(arch, dxsm, name):
    binary, _, log = compile_cuda(_on_device.text(dxsm, name), arch, ("--fmad=false",))
    assert binary.startswith(b"\x7fELF") and name.encode() in binary and log == ""


def test_an_older_compiler_than_the_device_gives_ptx():
    binary, _, _ = compile_cuda(ADD, "compute_80")
    assert b".visible .entry add(" in binary and binary.endswith(b"\0")


def test_the_options_may_choose_the_architecture():
    binary, _, _ = compile_cuda(ADD, "sm_90", ("-arch=compute_80",))
    assert b".target sm_80" in binary


def test_name_expressions_give_mangled_names():
    text = """
    namespace deep { template <typename T, int N> __global__ void fill(T* x) { x[threadIdx.x] = T(N); } __device__ int counter; }
    """
    names = ("deep::fill<float, 3>", "deep::fill<double, -1>", "&deep::counter")
    _, lowered, _ = compile_cuda(text, "sm_90", name_expressions=names)
    assert [name.startswith("_Z") for name in lowered] == [True, True, True]
    assert len(set(lowered)) == 3 and "counter" in lowered[2]


def test_definitions_come_from_the_options():
    text = 'extern "C" __global__ void f(TYPE* x) { x[threadIdx.x] = COUNT; }'
    for options in [
        ("-DCOUNT=4", "-DTYPE=float"),
        ("-D", "COUNT=4", "-D", "TYPE=float"),
        ("--define-macro=COUNT=4", "--define-macro", "TYPE=float"),
    ]:
        assert compile_cuda(text, "sm_90", options)[0].startswith(b"\x7fELF")


def test_an_error_shows_the_users_line_under_the_users_name():
    text = 'extern "C" __global__ void f(float* x) {\n  x[0] = 1;\n  x[1] = undefined_name;\n}\n'
    with pytest.raises(bc.CompileError) as error:
        compile_cuda(text, "sm_90", name="mine.cu")
    message = str(error.value)
    assert 'mine.cu(3): error: identifier "undefined_name" is undefined' in message
    assert "x[1] = undefined_name;" in message and "^" in message
    assert len(message.splitlines()) <= 10


def test_an_unknown_option_is_named():
    with pytest.raises(bc.CompileError, match="--no-such-option"):
        compile_cuda(ADD, "sm_90", ("--no-such-option",))


def test_warnings_are_kept():
    text = 'extern "C" __global__ void f(int* x) { int unused; x[0] = 1; }'
    assert "unused" in compile_cuda(text, "sm_90", name="warn.cu")[2]


def test_a_kernel_that_needs_no_header_pays_for_none():
    import time

    compile_cuda(ADD, "sm_90")
    begin = time.perf_counter()
    compile_cuda(ADD, "sm_90", ("-DX=1",))
    assert time.perf_counter() - begin < 0.5


@pytest.mark.parametrize(
    ("include", "body"),
    [
        ("cstdint", "int64_t y = INT32_MAX; x[0] = (float)(y + uint8_t(255));"),
        ("stdint.h", "uint64_t y = 5; x[0] = (float)y;"),
        ("cmath", "x[0] = std::sqrt(x[1]) + M_PI;"),
        ("math.h", "x[0] = isnan(x[1]) ? INFINITY : 0;"),
        ("cstdio", 'printf("%f", x[0]);'),
        ("cassert", "assert(x[0] > 0);"),
        ("cfloat", "x[0] = FLT_MAX;"),
        ("climits", "x[0] = INT_MAX;"),
        ("cstddef", "std::size_t n = 3; x[0] = (float)n;"),
        ("cstring", "memset(x, 0, 4);"),
        pytest.param("limits", "x[0] = std::numeric_limits<float>::max();", marks=needs_toolkit),
        pytest.param("type_traits", "x[0] = std::is_same_v<float, float>;", marks=needs_toolkit),
    ],
)
def test_headers_of_the_standard_library_can_be_included(include, body):
    try:
        assert compile_cuda(f'#include <{include}>\nextern "C" __global__ void f(float* x) {{ {body} }}', "sm_90")[0]
    except bc.CompileError as error:
        if "crt/" not in str(error):
            raise
        pytest.skip("the toolkit's wheels are installed without nvidia-cuda-crt")


@needs_toolkit
@pytest.mark.parametrize(
    ("include", "body"),
    [
        ("cuda_fp16.h", "x[0] = __half2float(__hadd(__float2half(x[1]), __float2half(x[2])));"),
        ("cuda_bf16.h", "x[0] = __bfloat162float(__float2bfloat16(x[1]));"),
        ("cuComplex.h", "cuFloatComplex c = make_cuFloatComplex(x[0], x[1]); x[0] = cuCabsf(cuCmulf(c, c));"),
        ("cooperative_groups.h", "auto g = cooperative_groups::this_grid(); x[threadIdx.x] = 1; g.sync();"),
        ("curand_kernel.h", "curandStatePhilox4_32_10_t s; curand_init(1, 2, 3, &s); x[0] = curand_normal(&s);"),
        (
            "cub/block/block_reduce.cuh",
            "using R = cub::BlockReduce<float, 128>; __shared__ typename R::TempStorage t; x[0] = R(t).Sum(x[1]);",
        ),
        ("thrust/complex.h", "thrust::complex<float> z(x[0], x[1]); x[0] = thrust::abs(z * z);"),
        ("thrust/functional.h", "x[0] = thrust::plus<float>()(x[1], x[2]);"),
        ("thrust/random.h", "thrust::default_random_engine g(1); thrust::uniform_real_distribution<float> u; x[0] = u(g);"),
        ("thrust/reduce.h>\n#include <thrust/execution_policy.h", "x[0] = thrust::reduce(thrust::seq, x, x + 32);"),
        ("thrust/binary_search.h>\n#include <thrust/execution_policy.h", "x[0] = thrust::lower_bound(thrust::seq, x, x + 9, 2.f) - x;"),
        ("cuda/std/array", "cuda::std::array<float, 2> a{1, 2}; x[0] = a[1];"),
        ("mma.h", "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c; nvcuda::wmma::fill_fragment(c, x[0]);"),
    ],
)
def test_headers_of_the_toolkit_are_found(include, body):
    try:
        assert compile_cuda(f'#include <{include}>\nextern "C" __global__ void f(float* x) {{ {body} }}', "sm_90")[0]
    except bc.CompileError as error:
        if "crt/" not in str(error):
            raise
        pytest.skip("the toolkit's wheels are installed without nvidia-cuda-crt")


def test_cupys_complex_header_is_served_from_memory():
    text = "#include <cupy/complex.cuh>\n__global__ void f(complex<double>* x) { x[0] = sqrt(exp(x[1] * 2) / x[2]) + pow(x[3], 2.0); }"
    assert compile_cuda(text, "sm_90")[0]


@needs_toolkit
def test_kernels_that_launch_kernels_are_linked_with_the_device_runtime():
    text = """
    __global__ void child(int* x) { x[threadIdx.x] += 1; }
    extern "C" __global__ void parent(int* x) { child<<<1, 32>>>(x); }
    """
    for options in [(), ("-rdc=true",), ("-dc",)]:
        binary, _, _ = compile_cuda(text, "sm_90", options)
        assert binary.startswith(b"\x7fELF") and b"parent" in binary
        assert int.from_bytes(binary[16:18], "little") == 2  # ET_EXEC: linked


def test_linking_says_what_is_missing():
    text = 'extern __device__ int nowhere; extern "C" __global__ void f(int* x) { x[0] = nowhere; }'
    with pytest.raises((bc.CompileError, ImportError)) as caught:
        compile_cuda(text, "sm_90", ("-rdc=true",))
    if caught.type is ImportError:
        assert "pip install nvidia-nvjitlink" in str(caught.value)
        pytest.skip("there is no nvJitLink: pip install nvidia-nvjitlink")
    assert "nowhere" in str(caught.value)


def test_inline_ptx_vectorised_loads_and_shuffles_compile():
    text = r"""
    extern "C" __global__ void f(const float4* in, float* out) {
        float4 v = in[threadIdx.x];
        float s = v.x + v.y + v.z + v.w;
        for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(0xffffffff, s, k);
        unsigned lane;
        asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
        if (lane == 0) out[threadIdx.x / 32] = s;
    }"""
    assert compile_cuda(text, "sm_90")[0]


@needs_toolkit
def test_clusters_and_tensor_memory_copies_compile_for_hopper():
    text = r"""
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void f(int* x) {
        __shared__ int mine;
        auto cluster = cg::this_cluster();
        mine = blockIdx.x;
        cluster.sync();
        x[blockIdx.x] = *cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
        cluster.sync();
    }"""
    assert compile_cuda(text, "sm_90")[0]


NVCC = next((p for p in (Path("/usr/local/cuda/bin/nvcc"), *sorted(Path("/usr/local").glob("cuda*/bin/nvcc"))) if p.exists()), None)


@pytest.mark.skipif(NVCC is None, reason="there is no nvcc")
def test_nvcc_compiles_and_reports_the_users_lines():
    try:
        binary, _, _ = compile_cuda(ADD, "sm_90", ("-O3",), name="add.cu", compiler="nvcc")
    except bc.CompileError as error:
        if "gcc" in str(error) or "host compiler" in str(error) or "cc1plus" in str(error):
            pytest.skip(f"nvcc has no host compiler here: {error}")
        raise
    assert binary.startswith(b"\x7fELF")
    with pytest.raises(bc.CompileError, match=r"add\.cu\(2\)"):
        compile_cuda('extern "C" __global__ void f(float* x) {\n  x[0] = y; }', "sm_90", name="add.cu", compiler="nvcc")
    with pytest.raises(ValueError, match="name expressions"):
        compile_cuda(ADD, "sm_90", name_expressions=("add",), compiler="nvcc")


def test_user_headers_are_found_by_their_folder(tmp_path):
    (tmp_path / "mine.h").write_text("#define VALUE 7\n")
    text = '#include "mine.h"\nextern "C" __global__ void f(int* x) { x[0] = VALUE; }'
    assert compile_cuda(text, "sm_90", (f"-I{tmp_path}",))[0]
    assert compile_cuda(text, "sm_90", ("-I", str(tmp_path)))[0]
    with pytest.raises(bc.CompileError, match=r"kernel\.cu\(1\).*mine\.h"):
        compile_cuda(text, "sm_90")


# ---- What the text tells of a kernel's parameters ------------------------------------------------------------

PARAMETERS = r"""
// __global__ void add(int wrong);
typedef float real;
using index_t = unsigned long long;
#define COUNT int
struct Pair { float x, y; };
extern "C" __global__ void __launch_bounds__(256) add(const real* __restrict__ a, real *out, index_t n, const COUNT k, bool flag, Pair p,
                                                      unsigned char c, long long int big, double d[], half h, float4 v) { out[0] = a[0]; }
template <typename T, int N = 3> __global__ void scale(T* x, T factor, size_t n) { x[0] *= factor; }
typedef float* pointer;
extern "C" __global__ void through(const pointer p, const float* const q, void* r, complex<float> z) {}
extern "C" __global__ void nothing() {}
extern "C" __global__ void nothing_c(void) {}
"""


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        (
            "add",
            ["const pointer", "pointer", "uint64", "int32", "bool", "unknown", "uint8", "int64", "pointer", "float16", "unknown"],
        ),
        ("scale<float>", ["pointer", "float32", "uint64"]),
        ("scale<unsigned int, 4>", ["pointer", "uint32", "uint64"]),
        ("through", ["pointer", "const pointer", "pointer", "complex64"]),
        ("nothing", []),
        ("nothing_c", []),
    ],
)
def test_parameters_are_read_from_the_text(name, kinds):
    assert [kind for kind, _ in bc._c.kernel_parameters(PARAMETERS, name)] == kinds


def test_parameters_that_are_not_clear_are_not_guessed():
    assert bc._c.kernel_parameters(PARAMETERS, "missing") is None
    two = "#ifdef A\n__global__ void f(int n) {}\n#else\n__global__ void f(float* n) {}\n#endif"
    assert bc._c.kernel_parameters(two, "f") is None
    assert bc._c.kernel_parameters("__global__ void f(T x);", "f", ("-DT=double",)) == [("float64", "x")]


def test_an_edited_header_is_compiled_anew_and_an_unchanged_one_is_not(tmp_path):
    """The digest that names a program in the caches covers the files that it includes."""
    program = (
        "import broadcloth as bc\n"
        "k = bc.RawKernel('#include \"value.h\"\\nextern \"C\" __global__ void f(int* x) { x[0] = VALUE; }', 'f', "
        f"options=('-I{tmp_path}',))\n"
        "x = bc.zeros(1, 'int32', device='cpu')\n"
        "k((1,), (1,), (x,))\n"
        "print(int(x[0]))\n"
    )

    def run() -> str:
        environment = {**os.environ, "BROADCLOTH_CACHE_DIR": str(tmp_path / "cache"), "BROADCLOTH_DEVICE": "cpu"}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        if "runs no kernels of users" in done.stderr:
            pytest.skip("the CPU runs no kernels yet")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    (tmp_path / "value.h").write_text("#define VALUE 7\n")
    assert run() == "7"
    (tmp_path / "value.h").write_text("#define VALUE 8\n")
    assert run() == "8"
