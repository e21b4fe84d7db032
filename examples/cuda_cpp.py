"""Kernels in CUDA C++ on every device: a vector sum, templates, constant memory, and a matrix product in tiles.

python examples/cuda_cpp.py [--size N] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

import common
import numpy as np

import broadcloth as bc

ADD = bc.RawKernel(
    r"""
extern "C" __global__ void add(const int* a, const int* b, int* sum, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}""",
    "add",
)

# One template for every type, and weights that lie in constant memory.
FILTER = bc.RawModule(
    code=r"""
__constant__ float weights[5];

template <typename T> __global__ void smooth(const T* x, T* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    T sum = 0;
    for (int k = -2; k <= 2; ++k) {
        int j = min(max(i + k, 0), n - 1);
        sum += T(weights[k + 2]) * x[j];
    }
    y[i] = sum;
}""",
    name_expressions=["smooth<float>", "smooth<double>"],
)

PRODUCT = bc.RawKernel(
    r"""
extern "C" __global__ void product(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16], b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        a[threadIdx.y][threadIdx.x] = A[row * n + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}""",
    "product",
)


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--size", type=int, default=512, help="edge of the matrices, a multiple of 16 (512)")
    arguments = parser.parse_args(argv)
    n = (arguments.size + 15) // 16 * 16
    rng = np.random.default_rng(5)

    with common.use_device(arguments.device) as device:
        print(f"on {device}")
        a, b = bc.arange(250 * 1024, dtype="int32"), bc.ones(250 * 1024, dtype="int32")
        total = bc.empty_like(a)
        ADD((250,), (1024,), (a, b, total, a.size))
        print(f"sum of 0 … {a.size - 1} and ones: {total[:3].tolist()} … {total[-1]}")

        # The kernel's variable is an array like any other, and kernels take their place among array expressions.
        weights = bc.ndarray((5,), "float32", FILTER.get_global("weights"))
        weights[...] = bc.asarray([1, 4, 6, 4, 1]) / 16
        for dtype, name in (("float32", "smooth<float>"), ("float64", "smooth<double>")):
            x = bc.asarray(rng.random(1000).astype(dtype))
            y = bc.empty_like(x)
            FILTER.get_function(name)((8,), (128,), (bc.sqrt(x), y, 1000))
            expected = np.convolve(np.pad(np.sqrt(x.get()), 2, mode="edge"), np.array([1, 4, 6, 4, 1]) / 16, "valid")
            np.testing.assert_allclose(y.get(), expected, rtol=1e-5)
            print(f"smoothed {dtype}: mean {float(y.mean()):.4f}")

        left_host, right_host = rng.random((n, n), "float32"), rng.random((n, n), "float32")
        left, right, made = bc.asarray(left_host), bc.asarray(right_host), bc.empty((n, n), "float32")

        def product() -> bc.ndarray:
            PRODUCT((n // 16, n // 16), (16, 16), (left, right, made, n))
            return made

        ours = common.clock(bc, product)
        np.testing.assert_allclose(made.get(), left_host @ right_host, rtol=n * np.finfo("float32").eps)
        theirs = None if arguments.no_numpy else common.clock(np, lambda: left_host @ right_host)
        rate = 2e-9 * n**3 / ours
        print(f"{common.compare(f'product of {n}x{n} in tiles', ours, theirs)}   {rate:8.1f} GFLOP/s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
