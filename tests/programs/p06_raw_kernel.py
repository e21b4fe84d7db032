"""Vector add in CUDA C++: a raw kernel, and a raw module with several functions."""

import broadcloth as cp

source = r"""
extern "C" __global__
void vector_add(const int* a, const int* b, int* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__
void vector_scale(const float* a, float factor, float* c, unsigned int n) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) c[i] = factor * a[i];
}
"""
n = 250 * 1024
a = cp.arange(n, dtype=cp.int32)
b = cp.ones(n, dtype=cp.int32)
c = cp.zeros(n, dtype=cp.int32)
add = cp.RawKernel(source, "vector_add")
add((250,), (1024,), (a, b, c, n))
assert (c == a + 1).all()

module = cp.RawModule(code=source)
scale = module.get_function("vector_scale")
x = cp.arange(n, dtype=cp.float32)
y = cp.empty_like(x)
scale((250,), (1024,), (x, cp.float32(2.5), y, cp.uint32(n)))
assert (y == cp.float32(2.5) * x).all()

templates = cp.RawModule(
    code=r"""
template <class T> __global__ void square(T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}""",
    options=("-std=c++17",),
    name_expressions=["square<float>", "square<double>"],
)
for dtype, name in ((cp.float32, "square<float>"), (cp.float64, "square<double>")):
    z = cp.arange(100, dtype=dtype)
    templates.get_function(name)((1,), (128,), (z, 100))
    assert (z == cp.arange(100, dtype=dtype) ** 2).all()
