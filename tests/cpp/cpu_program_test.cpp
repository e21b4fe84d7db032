// CUDA C++ on the CPU device.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "backends/cpu/jit_library.h"
#include "core/error.h"
#include "runtime/program.h"

namespace {

using namespace bc;

class CpuProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::JitLibrary::available()) GTEST_SKIP() << "built without the CPU's compiler";
  }
};

std::shared_ptr<Program> open(const std::string& text, std::vector<std::string> names = {}, std::vector<std::string> options = {}) {
  ProgramSource source;
  source.text = text;
  source.name_expressions = std::move(names);
  source.options = std::move(options);
  return load_program({DeviceType::cpu, 0}, source);
}

KernelLaunch shape(unsigned grid, unsigned block, unsigned shared = 0) {
  KernelLaunch launch;
  launch.grid[0] = grid;
  launch.block[0] = block;
  launch.shared_bytes = shared;
  return launch;
}

template <class... A>
void run(ProgramKernel& kernel, const KernelLaunch& launch, A... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
  kernel.launch(launch, pointers, {});
}

std::vector<float> ramp(size_t n, float scale = 1) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = scale * static_cast<float>((i * 7919) % 1013) / 1013.0f;
  return v;
}

TEST_F(CpuProgram, kernel_without_barriers_runs_all_its_threads) {
  auto program = open(R"(
    extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) c[i] = a[i] + b[i];
    })");
  ProgramKernel& kernel = program->kernel("add");
  ASSERT_EQ(kernel.parameter_bytes().size(), 4u);
  EXPECT_EQ(kernel.parameter_bytes()[0], 8u);
  EXPECT_EQ(kernel.parameter_bytes()[3], 4u);
  for (const unsigned block : {1u, 7u, 32u, 250u, 1024u}) {
    const int n = 10007;
    const std::vector<float> a = ramp(n), b = ramp(n, 3);
    std::vector<float> c(n, -1);
    run(kernel, shape((n + block - 1) / block, block), a.data(), b.data(), c.data(), n);
    for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << block << " " << i;
  }
}

TEST_F(CpuProgram, tiles_in_shared_memory_multiply_matrices) {
  auto program = open(R"(
    #define T 16
    extern "C" __global__ void product(const float* A, const float* B, float* C, int n) {
      __shared__ float as[T][T];
      __shared__ float bs[T][T];
      int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
      float acc = 0;
      for (int t = 0; t < n / T; ++t) {
        as[threadIdx.y][threadIdx.x] = A[row * n + t * T + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = B[(t * T + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; ++k) acc += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
      }
      C[row * n + col] = acc;
    })");
  const int n = 96;
  const std::vector<float> a = ramp(n * n), b = ramp(n * n, 2);
  std::vector<float> c(n * n);
  KernelLaunch launch;
  launch.grid[0] = launch.grid[1] = n / 16;
  launch.block[0] = launch.block[1] = 16;
  run(program->kernel("product"), launch, a.data(), b.data(), c.data(), n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += static_cast<double>(a[i * n + k]) * b[k * n + j];
      ASSERT_NEAR(c[i * n + j], sum, 1e-4 * std::abs(sum) + 1e-5);
    }
  }
}

TEST_F(CpuProgram, a_trees_steps_meet_at_barriers) {
  auto program = open(R"(
    extern "C" __global__ void largest(const float* x, float* out, int n) {
      extern __shared__ float s[];
      int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
      s[t] = i < n ? x[i] : -1e30f;
      __syncthreads();
      for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
      }
      if (t == 0) out[blockIdx.x] = s[0];
    })");
  const int n = 5000, block = 256, grid = (n + block - 1) / block;
  const std::vector<float> x = ramp(n);
  std::vector<float> out(grid);
  run(program->kernel("largest"), shape(grid, block, block * sizeof(float)), x.data(), out.data(), n);
  for (int b = 0; b < grid; ++b) EXPECT_EQ(out[b], *std::max_element(x.begin() + b * block, x.begin() + std::min(n, (b + 1) * block)));
}

TEST_F(CpuProgram, threads_that_end_early_are_not_waited_for) {
  auto program = open(R"(
    extern "C" __global__ void pairs(const int* x, int* out, int n) {
      __shared__ int s[128];
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      s[threadIdx.x] = x[i];
      __syncthreads();
      int other = threadIdx.x ^ 1;
      out[i] = blockIdx.x * blockDim.x + other < n ? s[other] : -1;
    })");
  const int n = 301;
  std::vector<int> x(n), out(n);
  std::iota(x.begin(), x.end(), 5);
  run(program->kernel("pairs"), shape(3, 128), x.data(), out.data(), n);
  for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], (i ^ 1) < n ? x[i ^ 1] : -1) << i;
}

TEST_F(CpuProgram, warps_shuffle_and_vote) {
  auto program = open(R"(
    extern "C" __global__ void sums(const int* x, int* out, unsigned* odd, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      int v = i < n ? x[i] : 0;
      unsigned votes = __ballot_sync(0xffffffffu, v & 1);
      for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
      if ((threadIdx.x & 31) == 0) { out[i / 32] = v; odd[i / 32] = votes; }
    })");
  const int n = 1000;
  std::vector<int> x(n), out(32);
  std::vector<unsigned> odd(32);
  for (int i = 0; i < n; ++i) x[i] = (i * 7919) % 1013;
  run(program->kernel("sums"), shape(4, 256), x.data(), out.data(), odd.data(), n);
  for (int w = 0; w < 32; ++w) {
    int sum = 0;
    unsigned votes = 0;
    for (int l = 0; l < 32 && w * 32 + l < n; ++l) {
      sum += x[w * 32 + l];
      votes |= static_cast<unsigned>(x[w * 32 + l] & 1) << l;
    }
    EXPECT_EQ(out[w], sum);
    EXPECT_EQ(odd[w], votes);
  }
}

TEST_F(CpuProgram, variables_are_one_for_all_kernels_of_a_program) {
  auto program = open(R"(
    __device__ int counter = 3;
    __constant__ float factor[2] = {2, 4};
    extern "C" __global__ void count() { atomicAdd(&counter, 1); }
    extern "C" __global__ void scale(float* x) { x[threadIdx.x] *= factor[threadIdx.x & 1]; }
    )");
  run(program->kernel("count"), shape(5, 64));
  run(program->kernel("count"), shape(1, 7));
  auto [address, bytes] = program->variable("counter");
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(*static_cast<int*>(address), 3 + 5 * 64 + 7);
  static_cast<float*>(program->variable("factor").first)[1] = 10;
  std::vector<float> x(8, 1);
  run(program->kernel("scale"), shape(1, 8), x.data());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(x[i], i % 2 == 0 ? 2 : 10);
  EXPECT_THROW(program->variable("nothing"), Error);
  EXPECT_THROW(program->kernel("nothing"), Error);
}

TEST_F(CpuProgram, templates_are_named_by_expressions_and_structs_are_passed_by_value) {
  auto program = open(R"(
    template <class T> struct View { T* data; long long shape[1]; long long strides[1]; };
    struct Small { float a; int b; };
    template <class T> __global__ void scale(View<T> v, Small s, bool twice, double by) {
      long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
      if (i < v.shape[0]) v.data[i] = T(v.data[i] * by * (twice ? 2 : 1) + s.a + s.b);
    })",
                      {"scale<float>", "scale<int>"});
  struct View {
    void* data;
    long long shape, strides;
  };
  struct Small {
    float a;
    int b;
  };
  std::vector<float> x(100, 1.5f);
  run(program->kernel("scale<float>"), shape(4, 32), View{x.data(), 100, 4}, Small{0.5f, 2}, true, 3.0);
  for (float v : x) EXPECT_EQ(v, 1.5f * 6 + 2.5f);
  std::vector<int> y(100, 2);
  ProgramKernel& kernel = program->kernel("scale<int>");
  run(kernel, shape(4, 32), View{y.data(), 100, 4}, Small{1, 2}, false, 3.0);
  for (int v : y) EXPECT_EQ(v, 9);
  const std::vector<uint32_t> bytes(kernel.parameter_bytes().begin(), kernel.parameter_bytes().end());
  EXPECT_EQ(bytes, (std::vector<uint32_t>{24, 8, 1, 8}));
}

TEST_F(CpuProgram, errors_name_the_users_line) {
  try {
    open("// one\n__global__ void k(float* x) {\n  x[0] = nonsense;\n}\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Compile);
    EXPECT_NE(std::string(error.what()).find("kernel.cu:3"), std::string::npos) << error.what();
  }
}

TEST_F(CpuProgram, limits_are_those_of_cuda) {
  auto program = open("extern \"C\" __global__ void k() {}");
  ProgramKernel& kernel = program->kernel("k");
  EXPECT_THROW(run(kernel, shape(1, 1025)), Error);
  EXPECT_THROW(run(kernel, shape(0, 32)), Error);
  EXPECT_THROW(run(kernel, shape(1, 32, 1 << 20)), Error);
  run(kernel, shape(1, 1024));
  EXPECT_EQ(kernel.attribute(0), 1024);
}

TEST_F(CpuProgram, a_failed_assert_is_an_error_of_the_launch) {
  auto program = open(R"(
    extern "C" __global__ void k(int* x) { assert(x[threadIdx.x] < 10); x[threadIdx.x] = 1; })");
  std::vector<int> x(32, 5);
  run(program->kernel("k"), shape(1, 32), x.data());
  x[7] = 11;
  try {
    run(program->kernel("k"), shape(1, 32), x.data());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("x[threadIdx.x] < 10"), std::string::npos) << error.what();
  }
  EXPECT_EQ(x[7], 11);
}

TEST_F(CpuProgram, the_device_library_is_there) {
  ProgramSource source;
  source.device_library = true;
  source.text = R"(
    extern "C" __global__ void k(const bc::complex128* x, double* y, bc::i64 n) {
      bc::i64 i = (bc::i64)blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = bc::sin(x[i].re) + bc::cos(x[i].im);
    })";
  auto program = load_program({DeviceType::cpu, 0}, source);
  const int64_t n = 100;
  std::vector<double> x(2 * n), y(n);
  for (int i = 0; i < 2 * n; ++i) x[i] = 0.1 * i;
  run(program->kernel("k"), shape(1, 128), x.data(), y.data(), n);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(y[i], std::sin(x[2 * i]) + std::cos(x[2 * i + 1]), 1e-14);
}

TEST_F(CpuProgram, the_grid_meets) {
  auto program = open(R"(
    extern "C" __global__ void k(int* x, int* sums) {
      int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
      for (int step = 0; step < 3; ++step) {
        int left = x[(i + n - 1) % n];
        __bc_grid_barrier();
        x[i] = left + step;
        __bc_grid_barrier();
      }
      sums[i] = x[i];
    })");
  const int n = 6 * 48;
  std::vector<int> x(n), sums(n);
  std::iota(x.begin(), x.end(), 0);
  KernelLaunch launch = shape(6, 48);
  launch.cooperative = true;
  run(program->kernel("k"), launch, x.data(), sums.data());
  for (int i = 0; i < n; ++i) EXPECT_EQ(sums[i], (i + n - 3) % n + 3) << i;
}

}  // namespace
