#include "backends/cuda/blas.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>

#include "codegen/kernel_cache.h"
#include "core/hash.h"
#include "graph/tape.h"

namespace bc::cuda {

namespace {

// ---- Layouts ------------------------------------------------------------------------------------------------------------------------

/// A row-major operand as cuBLASLt sees it, in column-major order. `normal`: the memory is the operand's transpose with leading dimension
/// `ld`; otherwise it is the operand itself.
struct Operand {
  bool usable = false;
  bool normal = true;
  int64_t ld = 1;
};

Operand operand(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  // A stride along an axis of length one is never used and may have any value.
  if ((column_stride == 1 || columns == 1) && (rows == 1 || row_stride >= std::max<int64_t>(columns, 1)))
    return {true, true, rows == 1 ? std::max<int64_t>(columns, 1) : row_stride};
  if ((row_stride == 1 || rows == 1) && (columns == 1 || column_stride >= std::max<int64_t>(rows, 1)))
    return {true, false, columns == 1 ? std::max<int64_t>(rows, 1) : column_stride};
  return {};
}

struct Types {
  int data;
  int compute;
  int scale;
};

Types types_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return {kCudaR16F, kBlasCompute32F, kCudaR32F};
    case DType::bf16: return {kCudaR16BF, kBlasCompute32F, kCudaR32F};
    case DType::f32: return {kCudaR32F, kBlasCompute32F, kCudaR32F};
    case DType::f64: return {kCudaR64F, kBlasCompute64F, kCudaR64F};
    case DType::c64: return {kCudaC32F, kBlasCompute32F, kCudaC32F};
    case DType::c128: return {kCudaC64F, kBlasCompute64F, kCudaC64F};
    default: raise(ErrorKind::Type, "matmul: expected a floating-point dtype, got {}", info(dtype).name);
  }
}

// ---- cuBLASLt -----------------------------------------------------------------------------------------------------------------------

void check_blas(cublasStatus status, const char* call) {
  if (status != 0) raise(ErrorKind::Runtime, "{}: {} ({})", call, cublaslt().cublasLtGetStatusString(status), status);
}

/// Everything on which cuBLASLt's choice of an algorithm depends.
struct Key {
  int64_t batch, m, n, k, lda, ldb, a_batch, b_batch;
  uint32_t flags;  // dtype, transpositions, alignments
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    Hasher hasher;
    for (int64_t word : {key.batch, key.m, key.n, key.k, key.lda, key.ldb, key.a_batch, key.b_batch})
      hasher.add(static_cast<uint64_t>(word));
    hasher.add(static_cast<uint64_t>(key.flags));
    return static_cast<size_t>(hasher.finish().lo);
  }
};

/// Descriptors and the algorithm for one problem. Immutable, so that threads can share it.
struct Plan {
  cublasLtMatmulDesc desc = nullptr;
  cublasLtMatrixLayout a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo algo{};
  size_t workspace = 0;

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    const CublasLtApi& api = cublaslt();
    if (desc) api.cublasLtMatmulDescDestroy(desc);
    for (cublasLtMatrixLayout layout : {a, b, c})
      if (layout) api.cublasLtMatrixLayoutDestroy(layout);
  }
};

/// cuBLASLt's state on one device. The backend owns it; the handle is leaked, because the library may be unloaded at exit.
struct BlasState {
  static constexpr size_t kWorkspaceBytes = 32 << 20;
  static constexpr size_t kMostPlans = 4096;

  explicit BlasState(CudaBackend& owner) : backend(owner) {
    check_blas(cublaslt().cublasLtCreate(&handle), "cublasLtCreate");
    backend.on_stream_destroy([this](CUstream stream) { drop_workspace(stream); });
  }
  ~BlasState() {
    for (const auto& [stream, memory] : workspaces) driver().cuMemFree(memory);
  }

  /// The workspace of a stream, or 0 if there is no memory for it. Each stream has its own, because work on different streams runs
  /// concurrently.
  CUdeviceptr workspace(CUstream stream) {
    std::lock_guard lock(mutex);
    auto [it, fresh] = workspaces.try_emplace(stream, 0);
    if (fresh) it->second = reinterpret_cast<CUdeviceptr>(backend.allocate_chunk(kWorkspaceBytes));
    return it->second;
  }

  void drop_workspace(CUstream stream) {
    std::lock_guard lock(mutex);
    auto it = workspaces.find(stream);
    if (it == workspaces.end()) return;
    if (it->second) driver().cuMemFree(it->second);  // waits for the work that uses it
    workspaces.erase(it);
  }

  std::shared_ptr<const Plan> plan(const Key& key, DType dtype, const Operand& a, const Operand& b, size_t workspace_bytes,
                                   const uint32_t alignments[3]);

  CudaBackend& backend;
  cublasLtHandle handle = nullptr;
  std::mutex mutex;
  std::unordered_map<CUstream, CUdeviceptr> workspaces;
  std::unordered_map<Key, std::shared_ptr<const Plan>, KeyHash> plans;
};

BlasState& blas_state(CudaBackend& backend) {
  return *static_cast<BlasState*>(
      backend.library_state("cublasLt", [&]() -> std::shared_ptr<void> { return std::make_shared<BlasState>(backend); }));
}

cublasLtMatrixLayout make_layout(int type, int64_t rows, int64_t columns, int64_t ld, int64_t batch, int64_t batch_stride) {
  const CublasLtApi& api = cublaslt();
  cublasLtMatrixLayout layout = nullptr;
  check_blas(api.cublasLtMatrixLayoutCreate(&layout, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), ld),
             "cublasLtMatrixLayoutCreate");
  if (batch > 1) {
    int32_t count = static_cast<int32_t>(batch);
    check_blas(api.cublasLtMatrixLayoutSetAttribute(layout, kLtLayoutBatchCount, &count, sizeof(count)),
               "cublasLtMatrixLayoutSetAttribute");
    check_blas(api.cublasLtMatrixLayoutSetAttribute(layout, kLtLayoutBatchOffset, &batch_stride, sizeof(batch_stride)),
               "cublasLtMatrixLayoutSetAttribute");
  }
  return layout;
}

std::shared_ptr<const Plan> BlasState::plan(const Key& key, DType dtype, const Operand& a, const Operand& b, size_t workspace_bytes,
                                            const uint32_t alignments[3]) {
  {
    std::lock_guard lock(mutex);
    if (auto it = plans.find(key); it != plans.end()) return it->second;
  }
  const CublasLtApi& api = cublaslt();
  const Types types = types_of(dtype);
  auto made = std::make_shared<Plan>();
  // Row-major c is column-major c^T = b^T a^T: cuBLASLt's first operand is b, its second a, and its m is our n.
  check_blas(api.cublasLtMatmulDescCreate(&made->desc, types.compute, types.scale), "cublasLtMatmulDescCreate");
  int first = b.normal ? kBlasOpN : kBlasOpT;
  int second = a.normal ? kBlasOpN : kBlasOpT;
  check_blas(api.cublasLtMatmulDescSetAttribute(made->desc, kLtDescTransA, &first, sizeof(first)), "cublasLtMatmulDescSetAttribute");
  check_blas(api.cublasLtMatmulDescSetAttribute(made->desc, kLtDescTransB, &second, sizeof(second)), "cublasLtMatmulDescSetAttribute");
  made->a = b.normal ? make_layout(types.data, key.n, key.k, b.ld, key.batch, key.b_batch)
                     : make_layout(types.data, key.k, key.n, b.ld, key.batch, key.b_batch);
  made->b = a.normal ? make_layout(types.data, key.k, key.m, a.ld, key.batch, key.a_batch)
                     : make_layout(types.data, key.m, key.k, a.ld, key.batch, key.a_batch);
  made->c = make_layout(types.data, key.n, key.m, key.n, key.batch, key.m * key.n);

  struct Preference {
    cublasLtMatmulPreference handle = nullptr;
    ~Preference() {
      if (handle) cublaslt().cublasLtMatmulPreferenceDestroy(handle);
    }
  } preference;
  check_blas(api.cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate");
  auto prefer = [&](int attribute, const void* value, size_t bytes) {
    check_blas(api.cublasLtMatmulPreferenceSetAttribute(preference.handle, attribute, value, bytes),
               "cublasLtMatmulPreferenceSetAttribute");
  };
  uint64_t most = workspace_bytes;
  prefer(kLtPreferenceWorkspaceBytes, &most, sizeof(most));
  // Views may begin at any element; without this the heuristic assumes 256-byte alignment.
  prefer(kLtPreferenceAlignmentA, &alignments[1], sizeof(uint32_t));
  prefer(kLtPreferenceAlignmentB, &alignments[0], sizeof(uint32_t));
  prefer(kLtPreferenceAlignmentC, &alignments[2], sizeof(uint32_t));
  prefer(kLtPreferenceAlignmentD, &alignments[2], sizeof(uint32_t));

  cublasLtMatmulHeuristicResult result{};
  int found = 0;
  cublasStatus status =
      api.cublasLtMatmulAlgoGetHeuristic(handle, made->desc, made->a, made->b, made->c, made->c, preference.handle, 1, &result, &found);
  if (status != 0 || found == 0 || result.state != 0)
    raise(ErrorKind::Runtime, "matmul: cuBLASLt has no way for {} of {} x {} x {} in {} batches ({})", info(dtype).name, key.m, key.k,
          key.n, key.batch, api.cublasLtGetStatusString(status ? status : result.state));
  made->algo = result.algo;
  made->workspace = result.workspaceSize;

  std::lock_guard lock(mutex);
  if (plans.size() >= kMostPlans) plans.clear();
  return plans.try_emplace(key, std::move(made)).first->second;
}

uint32_t alignment_of(const void* pointer, int64_t batch_stride, int itemsize) {
  // The alignment that all matrices of the batch have.
  auto bits = reinterpret_cast<uintptr_t>(pointer) | static_cast<uintptr_t>(batch_stride * itemsize) | 256u;
  return 1u << std::countr_zero(bits);
}

void matmul_blas(CudaBackend& backend, Stream stream, DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a,
                 const int64_t a_strides[3], const void* b, const int64_t b_strides[3], void* c) {
  const Operand oa = operand(m, k, a_strides[1], a_strides[2]);
  const Operand ob = operand(k, n, b_strides[1], b_strides[2]);
  auto refuse = [&](const char* name, int64_t rows, int64_t columns, const int64_t* strides) {
    raise(ErrorKind::Value, "matmul: expected {} ({} x {}, {}) with one unit stride, got strides ({}, {}); copy it first", name, rows,
          columns, info(dtype).name, strides[1], strides[2]);
  };
  if (!oa.usable) refuse("a", m, k, a_strides);
  if (!ob.usable) refuse("b", k, n, b_strides);

  BlasState& state = blas_state(backend);
  CUstream queue = static_cast<CUstream>(stream.native);
  // A graph may run in parallel to the stream that it was captured from, so it gets its own workspace.
  const bool captured = tape(stream.device).capture() != nullptr;
  CUdeviceptr workspace = captured ? 0 : state.workspace(queue);
  size_t workspace_bytes = captured || workspace ? BlasState::kWorkspaceBytes : 0;
  const int size = itemsize(dtype);
  int64_t a_batch = batch > 1 ? a_strides[0] : 0, b_batch = batch > 1 ? b_strides[0] : 0;
  const uint32_t alignments[3] = {alignment_of(a, a_batch, size), alignment_of(b, b_batch, size),
                                  alignment_of(c, batch > 1 ? m * n : 0, size)};
  Key key{batch, m, n, k, oa.ld, ob.ld, a_batch, b_batch, 0};
  key.flags = static_cast<uint32_t>(dtype) | (oa.normal ? 1u << 8 : 0) | (ob.normal ? 1u << 9 : 0) | (workspace_bytes ? 1u << 10 : 0);
  for (int i = 0; i < 3; ++i) key.flags |= static_cast<uint32_t>(std::countr_zero(alignments[i])) << (12 + 4 * i);
  std::shared_ptr<const Plan> plan = state.plan(key, dtype, oa, ob, workspace_bytes, alignments);
  Ref<Buffer> of_graph;
  if (captured) {
    workspace_bytes = plan->workspace;
    of_graph = Buffer::allocate(stream.device, workspace_bytes);
    workspace = reinterpret_cast<CUdeviceptr>(of_graph->ptr);
  }

  // One and zero in the scale type, of which complex128 is the largest.
  double one64[2] = {1, 0}, zero64[2] = {0, 0};
  float one32[2] = {1, 0}, zero32[2] = {0, 0};
  const bool wide = dtype == DType::f64 || dtype == DType::c128;
  const void* alpha = wide ? static_cast<const void*>(one64) : one32;
  const void* beta = wide ? static_cast<const void*>(zero64) : zero32;
  check_blas(cublaslt().cublasLtMatmul(state.handle, plan->desc, alpha, b, plan->a, a, plan->b, beta, c, plan->c, c, plan->c, &plan->algo,
                                       reinterpret_cast<void*>(workspace), workspace_bytes, queue),
             "cublasLtMatmul");
}

// ---- Integers and booleans ----------------------------------------------------------------------------------------------------------

/// The tiled kernel's parameters, laid out as in its text.
struct TileParams {
  const void* a;
  const void* b;
  void* c;
  int64_t batch, m, n, k;
  int64_t a_strides[3];
  int64_t b_strides[3];
};

constexpr int kTile = 64;  // rows and columns of c that one block computes

// One block computes a 64 x 64 tile of c, each of its 256 threads 4 x 4 of it, over slices of 16 of k in shared memory. Sums are of
// unsigned integers: they wrap, and the low bits of a product do not depend on the sign.
constexpr const char* kMatmulText = R"(
typedef {type} bc_mm_t;
typedef {sum} bc_mm_sum;
typedef long long bc_mm_i64;
struct MatmulParams {{
  const bc_mm_t* a;
  const bc_mm_t* b;
  bc_mm_t* c;
  bc_mm_i64 batch, m, n, k;
  bc_mm_i64 sa[3];
  bc_mm_i64 sb[3];
}};
extern "C" __global__ void __launch_bounds__(256) bc_matmul(const MatmulParams p) {{
  __shared__ bc_mm_sum as[16][68];
  __shared__ bc_mm_sum bs[16][68];
  const int tid = threadIdx.x;
  const int row0 = (tid / 16) * 4, col0 = (tid % 16) * 4;
  const bc_mm_i64 tiles_m = (p.m + 63) / 64, tiles_n = (p.n + 63) / 64;
  const bc_mm_i64 total = tiles_m * tiles_n * p.batch;
  // Neighbouring threads read neighbouring elements along the operand's short stride.
  const bool a_along_k = p.sa[2] == 1, b_along_n = p.sb[2] == 1;
  for (bc_mm_i64 tile = blockIdx.x; tile < total; tile += gridDim.x) {{
    const bc_mm_i64 batch = tile / (tiles_m * tiles_n), inner = tile % (tiles_m * tiles_n);
    const bc_mm_i64 m0 = inner / tiles_n * 64, n0 = inner % tiles_n * 64;
    const bc_mm_t* a = p.a + batch * p.sa[0];
    const bc_mm_t* b = p.b + batch * p.sb[0];
    bc_mm_sum acc[4][4] = {{}};
    for (bc_mm_i64 k0 = 0; k0 < p.k; k0 += 16) {{
#pragma unroll
      for (int i = 0; i < 4; ++i) {{
        const int e = tid + i * 256;
        const int r = a_along_k ? e / 16 : e % 64, ka = a_along_k ? e % 16 : e / 64;
        const int s = b_along_n ? e % 64 : e / 16, kb = b_along_n ? e / 64 : e % 16;
        bc_mm_sum x = 0, y = 0;
        if (m0 + r < p.m && k0 + ka < p.k) x = (bc_mm_sum)a[(m0 + r) * p.sa[1] + (k0 + ka) * p.sa[2]];
        if (n0 + s < p.n && k0 + kb < p.k) y = (bc_mm_sum)b[(k0 + kb) * p.sb[1] + (n0 + s) * p.sb[2]];
        as[ka][r] = x;
        bs[kb][s] = y;
      }}
      __syncthreads();
#pragma unroll
      for (int kk = 0; kk < 16; ++kk) {{
        bc_mm_sum x[4], y[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {{
          x[i] = as[kk][row0 + i];
          y[i] = bs[kk][col0 + i];
        }}
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) {step};
      }}
      __syncthreads();
    }}
    bc_mm_t* c = p.c + batch * p.m * p.n;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (m0 + row0 + i < p.m && n0 + col0 + j < p.n) c[(m0 + row0 + i) * p.n + n0 + col0 + j] = (bc_mm_t)({finish});
  }}
}}
)";

/// The number of blocks that keep the device busy; each block computes several tiles.
unsigned tile_blocks(const CudaBackend& backend, int64_t tiles) {
  return static_cast<unsigned>(std::min<int64_t>(tiles, int64_t{backend.multiprocessors()} * 32));
}

void matmul_tiled(CudaBackend& backend, Stream stream, DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a,
                  const int64_t a_strides[3], const void* b, const int64_t b_strides[3], void* c) {
  Hash128 key = Hasher().add(std::string_view("cuda.matmul.tiled")).add(dtype).finish();
  LoadedKernel& kernel = kernel_cache_get(backend, key, [&] { return matmul_kernel_source(dtype); });
  TileParams params{a, b, c, batch, m, n, k, {a_strides[0], a_strides[1], a_strides[2]}, {b_strides[0], b_strides[1], b_strides[2]}};
  Launch launch;
  launch.grid[0] = tile_blocks(backend, batch * ((m + kTile - 1) / kTile) * ((n + kTile - 1) / kTile));
  launch.block[0] = 256;
  backend.launch(kernel, launch, &params, sizeof(params), stream);
}

}  // namespace

KernelSource matmul_kernel_source(DType dtype) {
  BC_CHECK(is_bool(dtype) || is_integer(dtype), Type, "matmul: expected an integer or boolean dtype, got {}", info(dtype).name);
  const char* type = nullptr;
  switch (dtype) {
    case DType::b1: type = "bool"; break;
    case DType::i8: type = "signed char"; break;
    case DType::i16: type = "short"; break;
    case DType::i32: type = "int"; break;
    case DType::i64: type = "long long"; break;
    case DType::u8: type = "unsigned char"; break;
    case DType::u16: type = "unsigned short"; break;
    case DType::u32: type = "unsigned int"; break;
    default: type = "unsigned long long"; break;
  }
  KernelSource source;
  source.entries = {"bc_matmul"};
  source.text = fmt::format(fmt::runtime(kMatmulText), fmt::arg("type", type),
                            fmt::arg("sum", itemsize(dtype) == 8 ? "unsigned long long" : "unsigned int"),
                            fmt::arg("step", is_bool(dtype) ? "acc[i][j] |= x[i] & y[j]" : "acc[i][j] += x[i] * y[j]"),
                            fmt::arg("finish", is_bool(dtype) ? "acc[i][j] != 0" : "acc[i][j]"));
  return source;
}

bool matmul_takes(DType dtype, int64_t rows, int64_t columns, const int64_t strides[3]) {
  if (!is_inexact(dtype)) return true;
  return operand(rows, columns, strides[1], strides[2]).usable;
}

void matmul(CudaBackend& backend, Stream stream, DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a,
            const int64_t a_strides[3], const void* b, const int64_t b_strides[3], void* c) {
  if (batch == 0 || m == 0 || n == 0) return;
  if (k == 0) {
    backend.fill(c, 0, static_cast<size_t>(batch * m * n * itemsize(dtype)), stream);
    return;
  }
  const auto current = backend.make_current();
  if (is_inexact(dtype) && batch > 1 && (a_strides[0] < 0 || b_strides[0] < 0)) {
    // cuBLASLt does not support negative batch strides, so each matrix is a separate call.
    const int64_t size = itemsize(dtype);
    for (int64_t i = 0; i < batch; ++i)
      matmul_blas(backend, stream, dtype, 1, m, n, k, static_cast<const char*>(a) + i * a_strides[0] * size, a_strides,
                  static_cast<const char*>(b) + i * b_strides[0] * size, b_strides, static_cast<char*>(c) + i * m * n * size);
  } else if (is_inexact(dtype)) {
    matmul_blas(backend, stream, dtype, batch, m, n, k, a, a_strides, b, b_strides, c);
  } else {
    matmul_tiled(backend, stream, dtype, batch, m, n, k, a, a_strides, b, b_strides, c);
  }
}

}  // namespace bc::cuda
