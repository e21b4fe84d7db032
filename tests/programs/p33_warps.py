"""Warp shuffles and vector loads, in CUDA C++ and in Python."""

import numpy as np

import broadcloth as cp
from broadcloth import cuda

source = r"""
extern "C" __global__ void warp_sums(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  if (threadIdx.x % 32 == 0) out[i / 32] = v;
}
extern "C" __global__ void copy4(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float4 v = x[i]; v.w = -v.w; y[i] = v; }
}
"""
n = 1 << 12
x = cp.arange(n, dtype=cp.float32) % 7
module = cp.RawModule(code=source)
sums = cp.empty(n // 32, dtype=cp.float32)
module.get_function("warp_sums")((n // 128,), (128,), (x, sums, n))
np.testing.assert_array_equal(cp.asnumpy(sums), cp.asnumpy(x).reshape(-1, 32).sum(1))
y = cp.empty_like(x)
module.get_function("copy4")((n // 4 // 128,), (128,), (x, y, n // 4))
expected = cp.asnumpy(x).copy()
expected[3::4] *= -1
np.testing.assert_array_equal(cp.asnumpy(y), expected)


@cuda.jit
def sums_in_python(x, out):
    i = cuda.grid(1)
    v = x[i]
    offset = 16
    while offset > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, offset)
        offset //= 2
    if cuda.laneid == 0:
        out[i // 32] = v


out = cuda.device_array(n // 32, np.float32)
sums_in_python[n // 128, 128](x, out)
np.testing.assert_array_equal(out.copy_to_host(), cp.asnumpy(sums))


@cuda.jit
def votes(x, out):
    i = cuda.grid(1)
    ballot = cuda.ballot_sync(0xFFFFFFFF, x[i] > 3)
    if cuda.laneid == 0:
        out[i // 32] = cuda.popc(ballot)


counts = cuda.device_array(n // 32, np.int32)
votes[n // 128, 128](x, counts)
np.testing.assert_array_equal(counts.copy_to_host(), (cp.asnumpy(x).reshape(-1, 32) > 3).sum(1))
