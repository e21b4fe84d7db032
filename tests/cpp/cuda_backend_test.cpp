// The CUDA backend. What needs a GPU says so and is skipped where there is none; compiling, finding libraries and the behaviour without a
// driver are tested everywhere.
#include "backends/cuda/cuda_backend.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <thread>

#include "backends/cuda/blas.h"
#include "backends/cuda/cuda_libraries.h"
#include "backends/cuda/graph.h"
#include "backends/cuda/host_copy.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/virtual_memory.h"

// Our rows' types, taken before the headers' macros change the names.
namespace bc::cuda::rows {
#define BC_ROW(member, symbol, parameters) using symbol##_row = int(*) parameters;
BC_CUDA_DRIVER_API(BC_ROW)
BC_CUDA_DRIVER_OPTIONAL_API(BC_ROW)
BC_NVRTC_API(BC_ROW)
BC_CUBLASLT_API(BC_ROW)
#undef BC_ROW
}  // namespace bc::cuda::rows

#if __has_include("/usr/local/cuda/include/cublasLt.h")
#define BC_HAVE_CUDA_HEADERS 1
#include "/usr/local/cuda/include/cuda.h"
#include "/usr/local/cuda/include/nvrtc.h"
#endif
#if __has_include(<cublasLt.h>) && defined(BC_HAVE_CUDA_HEADERS)
#define BC_HAVE_BLAS_HEADERS 1
#include <cublasLt.h>
#endif

namespace bc {
namespace {

using cuda::Library;
using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::micro>(Clock::now() - start).count(); }

// ---- The declarations against the toolkit's headers ---------------------------------------------------------------------------------

#ifdef BC_HAVE_CUDA_HEADERS

/// What an argument is to the calling convention.
template <class T>
constexpr int abi_kind = std::is_pointer_v<T>          ? 1
                         : std::is_floating_point_v<T> ? 2
                         : std::is_class_v<T>          ? 3
                                                       : 4;

template <class Ours, class Theirs>
struct SameAbi : std::false_type {};
template <class R1, class... A1, class R2, class... A2>
struct SameAbi<R1 (*)(A1...), R2 (*)(A2...)> {
  static constexpr bool compare() {
    if constexpr (sizeof...(A1) == sizeof...(A2))
      return sizeof(R1) == sizeof(R2) && ((sizeof(A1) == sizeof(A2) && abi_kind<A1> == abi_kind<A2>) && ...);
    else
      return false;
  }
  static constexpr bool value = compare();
};

#define BC_CHECK_ROW(member, symbol, parameters) \
  static_assert(SameAbi<cuda::rows::symbol##_row, decltype(&::symbol)>::value, "cuda_api.h: " #symbol " differs from cuda.h");
BC_CUDA_DRIVER_API(BC_CHECK_ROW)
BC_CUDA_DRIVER_DECLARED_API(BC_CHECK_ROW)
BC_NVRTC_API(BC_CHECK_ROW)
#ifdef BC_HAVE_BLAS_HEADERS
BC_CUBLASLT_API(BC_CHECK_ROW)
#endif
#undef BC_CHECK_ROW

static_assert(sizeof(cuda::CUmemLocation) == sizeof(::CUmemLocation));
static_assert(sizeof(cuda::CUmemAllocationProp) == sizeof(::CUmemAllocationProp));
static_assert(offsetof(cuda::CUmemAllocationProp, location) == offsetof(::CUmemAllocationProp, location));
static_assert(offsetof(cuda::CUmemAllocationProp, allocFlags) == offsetof(::CUmemAllocationProp, allocFlags));
static_assert(sizeof(cuda::CUmemAccessDesc) == sizeof(::CUmemAccessDesc));
static_assert(offsetof(cuda::CUmemAccessDesc, flags) == offsetof(::CUmemAccessDesc, flags));
static_assert(sizeof(cuda::CUlaunchAttribute) == sizeof(::CUlaunchAttribute));
static_assert(offsetof(cuda::CUlaunchAttribute, bytes) == offsetof(::CUlaunchAttribute, value));
static_assert(sizeof(cuda::CUlaunchConfig) == sizeof(::CUlaunchConfig));
static_assert(offsetof(cuda::CUlaunchConfig, attrs) == offsetof(::CUlaunchConfig, attrs));
static_assert(cuda::kLaunchCooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
static_assert(cuda::kLaunchClusterDimension == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(cuda::kFunctionNonPortableCluster == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(cuda::kErrorNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(sizeof(cuda::CUDA_ARRAY3D_DESCRIPTOR) == sizeof(::CUDA_ARRAY3D_DESCRIPTOR));
static_assert(offsetof(cuda::CUDA_ARRAY3D_DESCRIPTOR, Flags) == offsetof(::CUDA_ARRAY3D_DESCRIPTOR, Flags));
static_assert(sizeof(cuda::CUDA_MEMCPY3D) == sizeof(::CUDA_MEMCPY3D));
static_assert(offsetof(cuda::CUDA_MEMCPY3D, srcHeight) == offsetof(::CUDA_MEMCPY3D, srcHeight));
static_assert(offsetof(cuda::CUDA_MEMCPY3D, dstArray) == offsetof(::CUDA_MEMCPY3D, dstArray));
static_assert(sizeof(cuda::CUDA_RESOURCE_DESC) == sizeof(::CUDA_RESOURCE_DESC));
static_assert(offsetof(cuda::CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes) == offsetof(::CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes));
static_assert(offsetof(cuda::CUDA_RESOURCE_DESC, flags) == offsetof(::CUDA_RESOURCE_DESC, flags));
static_assert(sizeof(cuda::CUDA_TEXTURE_DESC) == sizeof(::CUDA_TEXTURE_DESC));
static_assert(offsetof(cuda::CUDA_TEXTURE_DESC, borderColor) == offsetof(::CUDA_TEXTURE_DESC, borderColor));
static_assert(std::is_same_v<cuda::CUdeviceptr, ::CUdeviceptr>);
static_assert(std::is_same_v<cuda::CUstream, ::CUstream>);

static_assert(cuda::kErrorOutOfMemory == ::CUDA_ERROR_OUT_OF_MEMORY && cuda::kErrorStubLibrary == ::CUDA_ERROR_STUB_LIBRARY);
static_assert(cuda::kErrorNoDevice == ::CUDA_ERROR_NO_DEVICE && cuda::kErrorInvalidValue == ::CUDA_ERROR_INVALID_VALUE);
static_assert(cuda::kErrorNotReady == ::CUDA_ERROR_NOT_READY && cuda::kErrorIllegalAddress == ::CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(cuda::kErrorPeerAccessAlreadyEnabled == ::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(cuda::kErrorLaunchFailed == ::CUDA_ERROR_LAUNCH_FAILED && cuda::kErrorInvalidPc == ::CUDA_ERROR_INVALID_PC);
static_assert(cuda::kErrorAssert == ::CUDA_ERROR_ASSERT && cuda::kErrorLaunchTimeout == ::CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(cuda::kErrorHardwareStackError == ::CUDA_ERROR_HARDWARE_STACK_ERROR);
static_assert(cuda::kErrorIllegalInstruction == ::CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(cuda::kErrorMisalignedAddress == ::CUDA_ERROR_MISALIGNED_ADDRESS);
static_assert(cuda::kErrorInvalidAddressSpace == ::CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(cuda::kErrorEccUncorrectable == ::CUDA_ERROR_ECC_UNCORRECTABLE);
static_assert(cuda::kErrorNvlinkUncorrectable == ::CUDA_ERROR_NVLINK_UNCORRECTABLE);

#define BC_CHECK_ATTRIBUTE(ours, theirs) \
  static_assert(static_cast<int>(cuda::DeviceAttribute::ours) == static_cast<int>(::CU_DEVICE_ATTRIBUTE_##theirs));
BC_CHECK_ATTRIBUTE(MaxThreadsPerBlock, MAX_THREADS_PER_BLOCK)
BC_CHECK_ATTRIBUTE(MaxSharedPerBlock, MAX_SHARED_MEMORY_PER_BLOCK)
BC_CHECK_ATTRIBUTE(WarpSize, WARP_SIZE)
BC_CHECK_ATTRIBUTE(ClockRate, CLOCK_RATE)
BC_CHECK_ATTRIBUTE(MultiprocessorCount, MULTIPROCESSOR_COUNT)
BC_CHECK_ATTRIBUTE(Integrated, INTEGRATED)
BC_CHECK_ATTRIBUTE(EccEnabled, ECC_ENABLED)
BC_CHECK_ATTRIBUTE(MemoryClockRate, MEMORY_CLOCK_RATE)
BC_CHECK_ATTRIBUTE(MemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)
BC_CHECK_ATTRIBUTE(L2CacheSize, L2_CACHE_SIZE)
BC_CHECK_ATTRIBUTE(MaxThreadsPerMultiprocessor, MAX_THREADS_PER_MULTIPROCESSOR)
BC_CHECK_ATTRIBUTE(AsyncEngineCount, ASYNC_ENGINE_COUNT)
BC_CHECK_ATTRIBUTE(ComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR)
BC_CHECK_ATTRIBUTE(ComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR)
BC_CHECK_ATTRIBUTE(MaxSharedPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
BC_CHECK_ATTRIBUTE(MaxRegistersPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)
BC_CHECK_ATTRIBUTE(ManagedMemory, MANAGED_MEMORY)
BC_CHECK_ATTRIBUTE(ConcurrentManagedAccess, CONCURRENT_MANAGED_ACCESS)
BC_CHECK_ATTRIBUTE(CooperativeLaunch, COOPERATIVE_LAUNCH)
BC_CHECK_ATTRIBUTE(MaxSharedPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
BC_CHECK_ATTRIBUTE(VirtualMemoryManagement, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
BC_CHECK_ATTRIBUTE(MaxBlocksPerMultiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR)
#undef BC_CHECK_ATTRIBUTE

static_assert(cuda::kFunctionMaxThreadsPerBlock == ::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(cuda::kFunctionSharedBytes == ::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(cuda::kFunctionRegisters == ::CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(cuda::kFunctionMaxDynamicShared == ::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(cuda::kStreamNonBlocking == ::CU_STREAM_NON_BLOCKING && cuda::kEventDisableTiming == ::CU_EVENT_DISABLE_TIMING);
static_assert(cuda::kEventBlockingSync == ::CU_EVENT_BLOCKING_SYNC && cuda::kMemAttachGlobal == ::CU_MEM_ATTACH_GLOBAL);
static_assert(cuda::kHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE && cuda::kHostAllocDeviceMap == CU_MEMHOSTALLOC_DEVICEMAP);
static_assert(cuda::kHostAllocWriteCombined == CU_MEMHOSTALLOC_WRITECOMBINED);
static_assert(cuda::kHostRegisterPortable == CU_MEMHOSTREGISTER_PORTABLE && cuda::kHostRegisterDeviceMap == CU_MEMHOSTREGISTER_DEVICEMAP);
static_assert(cuda::kPointerMemoryType == ::CU_POINTER_ATTRIBUTE_MEMORY_TYPE &&
              cuda::kPointerIsManaged == ::CU_POINTER_ATTRIBUTE_IS_MANAGED);
static_assert(cuda::kPointerDeviceOrdinal == ::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(cuda::kMemoryTypeHost == ::CU_MEMORYTYPE_HOST);
static_assert(cuda::kCaptureRelaxed == ::CU_STREAM_CAPTURE_MODE_RELAXED && cuda::kCaptureStatusNone == ::CU_STREAM_CAPTURE_STATUS_NONE);
static_assert(cuda::kMemAllocationPinned == ::CU_MEM_ALLOCATION_TYPE_PINNED && cuda::kMemLocationDevice == ::CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(cuda::kMemAccessReadWrite == ::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(cuda::kGranularityRecommended == ::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
static_assert(cuda::kJitErrorLogBuffer == ::CU_JIT_ERROR_LOG_BUFFER &&
              cuda::kJitErrorLogBufferBytes == ::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

#ifdef BC_HAVE_BLAS_HEADERS
static_assert(sizeof(cuda::cublasLtMatmulAlgo) == sizeof(::cublasLtMatmulAlgo_t));
static_assert(sizeof(cuda::cublasLtMatmulHeuristicResult) == sizeof(::cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(cuda::cublasLtMatmulHeuristicResult, state) == offsetof(::cublasLtMatmulHeuristicResult_t, state));
static_assert(cuda::kBlasOpT == ::CUBLAS_OP_T && cuda::kBlasCompute32F == ::CUBLAS_COMPUTE_32F &&
              cuda::kBlasCompute64F == ::CUBLAS_COMPUTE_64F);
static_assert(cuda::kCudaR32F == ::CUDA_R_32F && cuda::kCudaR64F == ::CUDA_R_64F && cuda::kCudaR16F == ::CUDA_R_16F);
static_assert(cuda::kCudaC32F == ::CUDA_C_32F && cuda::kCudaC64F == ::CUDA_C_64F && cuda::kCudaR16BF == ::CUDA_R_16BF);
static_assert(cuda::kLtDescTransA == ::CUBLASLT_MATMUL_DESC_TRANSA && cuda::kLtDescTransB == ::CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(cuda::kLtLayoutBatchCount == ::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(cuda::kLtLayoutBatchOffset == ::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(cuda::kLtPreferenceWorkspaceBytes == ::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(cuda::kLtPreferenceAlignmentA == ::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(cuda::kLtPreferenceAlignmentD == ::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
#endif

TEST(CudaApi, EverySymbolIsExportedByTheDriver) {
  std::ifstream file("/usr/local/cuda/lib64/stubs/libcuda.so", std::ios::binary);
  if (!file) GTEST_SKIP() << "no driver stub is installed";
  std::stringstream all;
  all << file.rdbuf();
  const std::string bytes = all.str();
#define BC_FIND(member, symbol, parameters) \
  EXPECT_NE(bytes.find(std::string("\0" #symbol "\0", sizeof(#symbol) + 1)), std::string::npos) << #symbol;
  BC_CUDA_DRIVER_API(BC_FIND)
  BC_CUDA_DRIVER_DECLARED_API(BC_FIND)
#undef BC_FIND
}

#endif  // BC_HAVE_CUDA_HEADERS

// ---- Without a GPU ------------------------------------------------------------------------------------------------------------------

bool have(Library which) {
  try {
    cuda::library(which);
    return true;
  } catch (const Error&) {
    return false;
  }
}

#define SKIP_WITHOUT_NVRTC() \
  if (!have(Library::Nvrtc)) GTEST_SKIP() << "NVRTC is not installed"

template <class F>
std::string error_of(F&& call, ErrorKind kind) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(CudaLibraries, WithoutADriverThereAreNoDevicesAndAClearError) {
  if (cuda::driver_available()) GTEST_SKIP() << "this machine has a CUDA driver";
  EXPECT_EQ(cuda_device_count(), 0);
  EXPECT_EQ(cuda::driver_version(), 0);
  EXPECT_TRUE(contains(cuda::driver_problem(), "driver")) << cuda::driver_problem();
  const std::string text = error_of([] { make_cuda_backend(0); }, ErrorKind::Runtime);
  EXPECT_TRUE(contains(text, "cuda:0")) << text;
  EXPECT_TRUE(contains(text, cuda::driver_problem())) << text;
}

TEST(CudaLibraries, StatusNamesEveryLibraryWithItsFileOrHowToInstallIt) {
  const auto all = cuda::cuda_library_status();
  ASSERT_EQ(all.size(), size_t{1 + cuda::kLibraryCount});
  EXPECT_EQ(all[0].name, "libcuda");
  for (const auto& status : all) {
    std::cout << "  " << status.name << "  " << status.version << "  " << status.path << "  " << status.error << "\n";
    if (status.path.empty()) {
      EXPECT_FALSE(status.error.empty()) << status.name;
    } else if (status.name != "libcuda" && status.name != "libnvJitLink") {
      EXPECT_FALSE(status.version.empty()) << status.name;
    }
    if (status.path.empty() && status.name != "libcuda") {
      EXPECT_TRUE(contains(status.error, "pip install nvidia-")) << status.error;
    }
  }
}

TEST(CudaLibraries, AMissingFunctionIsAnImportError) {
  SKIP_WITHOUT_NVRTC();
  const std::string text = error_of([] { cuda::library_symbol(Library::Nvrtc, "nvrtcNoSuchFunction"); }, ErrorKind::Import);
  EXPECT_TRUE(contains(text, "nvrtcNoSuchFunction")) << text;
  EXPECT_TRUE(contains(text, "pip install nvidia-cuda-nvrtc")) << text;
}

TEST(CudaLibraries, TablesResolve) {
  if (have(Library::Nvrtc)) {
    EXPECT_TRUE(static_cast<bool>(cuda::nvrtc().nvrtcCompileProgram));
  }
  if (!have(Library::CublasLt)) GTEST_SKIP() << "cuBLASLt is not installed";
  EXPECT_GT(cuda::cublaslt().cublasLtGetVersion(), size_t{120000});
  EXPECT_NE(cuda::cublaslt().cublasLtGetStatusString(7), nullptr);
}

KernelSource axpy_source() {
  KernelSource source;
  source.entries = {"axpy"};
  source.text = R"(
struct Params { float* y; const float* x; long long n; float a; };
extern "C" __global__ void axpy(const Params p) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < p.n; i += (long long)gridDim.x * blockDim.x)
    p.y[i] = p.a * p.x[i] + p.y[i];
}
)";
  return source;
}

struct AxpyParams {
  float* y;
  const float* x;
  long long n;
  float a;
};

class CudaCompile : public testing::TestWithParam<const char*> {};

TEST_P(CudaCompile, MakesACubin) {
  SKIP_WITHOUT_NVRTC();
  const KernelSource source = axpy_source();
  const auto start = Clock::now();
  const std::vector<char> cubin = cuda::compile_for(source, GetParam());
  std::cout << "  " << GetParam() << ": " << microseconds_since(start) / 1000 << " ms, " << cubin.size() << " bytes\n";
  ASSERT_GT(cubin.size(), size_t{64});
  EXPECT_EQ(std::memcmp(cubin.data(), "\177ELF", 4), 0);
}

TEST_P(CudaCompile, MakesTheIntegerMatrixProducts) {
  SKIP_WITHOUT_NVRTC();
  for (DType dtype : {DType::b1, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64})
    EXPECT_GT(cuda::compile_for(cuda::matmul_kernel_source(dtype), GetParam()).size(), size_t{64}) << info(dtype).name;
}

INSTANTIATE_TEST_SUITE_P(Archs, CudaCompile, testing::Values("sm_80", "sm_90", "sm_100"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(CudaCompileErrors, NameTheLineOfTheKernelsOwnText) {
  SKIP_WITHOUT_NVRTC();
  KernelSource source;
  source.entries = {"broken"};
  source.text = "extern \"C\" __global__ void broken(float* p) {\n  p[0] = no_such_name;\n}\n";
  const std::string text = error_of([&] { cuda::compile_for(source, "sm_90"); }, ErrorKind::Runtime);
  EXPECT_TRUE(contains(text, "kernel.cu(2)")) << text;
  EXPECT_TRUE(contains(text, "no_such_name")) << text;
  EXPECT_TRUE(contains(text, "sm_90")) << text;
}

TEST(CudaCompileErrors, AnUnknownArchitectureIsNamed) {
  SKIP_WITHOUT_NVRTC();
  const std::string text = error_of([] { cuda::compile_for(axpy_source(), "sm_7"); }, ErrorKind::Runtime);
  EXPECT_TRUE(contains(text, "sm_7")) << text;
}

TEST(CudaCompileOptions, ContractionIsOnlyWhereAskedFor) {
  SKIP_WITHOUT_NVRTC();
  KernelSource source = axpy_source();
  auto ptx = [&] {
    std::vector<char> text = cuda::compile_for(source, "compute_90");
    EXPECT_EQ(text.back(), '\0');
    return std::string(text.data());
  };
  const std::string apart = ptx();
  EXPECT_TRUE(contains(apart, "mul.rn.f32")) << apart;
  EXPECT_FALSE(contains(apart, "fma.rn.f32")) << apart;
  source.contract = true;
  EXPECT_TRUE(contains(ptx(), "fma.rn.f32"));
}

TEST(CudaCompileOptions, NameExpressionsAndHeaders) {
  SKIP_WITHOUT_NVRTC();
  cuda::CompilerInput program;
  program.text = "#include \"scale.h\"\ntemplate <class T> __global__ void times(T* p) { p[threadIdx.x] *= scale<T>(); }\n";
  program.name_expressions = {"times<float>", "times<double>"};
  program.header_names = {"scale.h"};
  program.header_texts = {"template <class T> __device__ T scale() { return T(3); }\n"};
  const cuda::CompiledProgram compiled = cuda::compile_program(program, "sm_90");
  ASSERT_EQ(compiled.lowered_names.size(), size_t{2});
  EXPECT_EQ(compiled.lowered_names[0].rfind("_Z", 0), size_t{0});
  EXPECT_NE(compiled.lowered_names[0], compiled.lowered_names[1]);
}

TEST(CudaCompileOptions, TheArchitectureIsTheDevicesOwnOrTheNearestOlder) {
  SKIP_WITHOUT_NVRTC();
  const std::vector<int> archs = cuda::supported_archs();
  ASSERT_FALSE(archs.empty());
  EXPECT_TRUE(std::is_sorted(archs.begin(), archs.end()));
  EXPECT_EQ(cuda::arch_for(9, 0), "sm_90");
  EXPECT_EQ(cuda::arch_for(archs.back() / 10, archs.back() % 10), "sm_" + std::to_string(archs.back()));
  EXPECT_EQ(cuda::arch_for(99, 0), "compute_" + std::to_string(archs.back()));
  EXPECT_TRUE(contains(error_of([] { cuda::arch_for(2, 0); }, ErrorKind::Runtime), "2.0"));
  EXPECT_EQ(cuda::compiler_description().rfind("nvrtc-", 0), size_t{0});
}

TEST(CudaCompileOptions, ThreadsCompileAtOnce) {
  SKIP_WITHOUT_NVRTC();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&good, t] {
      KernelSource source = axpy_source();
      source.text += "// " + std::to_string(t) + "\n";
      if (cuda::compile_for(source, "sm_90").size() > 64) ++good;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good.load(), 4);
}

TEST(CudaReadKernel, AssemblesForEveryArchitecture) {
  if (access("/usr/local/cuda/bin/ptxas", X_OK) != 0) GTEST_SKIP() << "ptxas is not installed";
  char folder[] = "/tmp/bc_ptx_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/read.ptx";
  std::ofstream(path) << cuda::kReadKernelPtx;
  for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"})
    EXPECT_EQ(std::system(("/usr/local/cuda/bin/ptxas -arch=" + std::string(arch) + " " + path + " -o " + path + ".cubin").c_str()), 0)
        << arch;
  std::system(("rm -r " + std::string(folder)).c_str());
}

TEST(CudaHostCopy, StreamingCopyIsExactAtEveryAlignment) {
  std::vector<char> from(5000), to(5000);
  std::iota(from.begin(), from.end(), 0);
  for (size_t src : {0, 1, 17, 31})
    for (size_t dst : {0, 3, 16, 33})
      for (size_t bytes : {0, 1, 31, 32, 127, 128, 129, 1000, 4096}) {
        std::fill(to.begin(), to.end(), char{0x55});
        cuda::copy_streaming(to.data() + dst, from.data() + src, bytes);
        ASSERT_EQ(std::memcmp(to.data() + dst, from.data() + src, bytes), 0) << src << " " << dst << " " << bytes;
        ASSERT_EQ(to[dst + bytes], char{0x55});
        if (dst) {
          ASSERT_EQ(to[dst - 1], char{0x55});
        }
      }
}

TEST(CudaHostCopy, ThreadsShareTheWork) {
  cuda::CopyThreads threads(4);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> next{0}, done{0};
    threads.run(4, [&](int) {
      while (next.fetch_add(1) < 100) ++done;
    });
    ASSERT_EQ(done.load(), 100);
  }
}

TEST(CudaMatmul, TakesMatricesWithOneUnitStride) {
  const int64_t normal[] = {12, 4, 1}, transposed[] = {12, 1, 3}, padded[] = {0, 7, 1}, reversed[] = {0, 4, -1}, spread[] = {0, 8, 2};
  const int64_t broadcast[] = {0, 0, 1}, backwards[] = {0, -4, 1};
  EXPECT_TRUE(cuda::matmul_takes(DType::f32, 3, 4, normal));
  EXPECT_TRUE(cuda::matmul_takes(DType::f32, 3, 4, transposed));
  EXPECT_TRUE(cuda::matmul_takes(DType::f32, 3, 4, padded));
  for (const int64_t* strides : {reversed, spread, broadcast, backwards}) {
    EXPECT_FALSE(cuda::matmul_takes(DType::f32, 3, 4, strides));
    EXPECT_TRUE(cuda::matmul_takes(DType::i32, 3, 4, strides));
  }
  const int64_t column[] = {0, 1, 99}, row[] = {0, -5, 1};  // strides along axes of length one do not count
  EXPECT_TRUE(cuda::matmul_takes(DType::f64, 4, 1, column));
  EXPECT_TRUE(cuda::matmul_takes(DType::f64, 1, 4, row));
}

// ---- On a GPU -----------------------------------------------------------------------------------------------------------------------

CudaBackend& gpu() {
  static auto* backend = static_cast<CudaBackend*>(make_cuda_backend(0).release());
  return *backend;
}

#define SKIP_WITHOUT_GPU() \
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU: " << cuda::driver_problem()

/// Device memory for a test.
class Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes), data_(gpu().allocate_chunk(bytes)) {
    if (!data_) throw std::bad_alloc();
  }
  ~Memory() { gpu().free_chunk(data_, bytes_); }
  Memory(const Memory&) = delete;
  char* bytes() const { return static_cast<char*>(data_); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  size_t bytes_;
  void* data_;
};

template <class T>
void upload(const Memory& to, const std::vector<T>& from, Stream stream = {}) {
  gpu().copy(to.bytes(), from.data(), from.size() * sizeof(T), CopyKind::HostToDevice, stream);
}

template <class T>
std::vector<T> download(const Memory& from, size_t count, Stream stream = {}) {
  std::vector<T> to(count);
  gpu().copy(to.data(), from.bytes(), count * sizeof(T), CopyKind::DeviceToHost, stream);
  return to;
}

std::vector<char> noise(size_t bytes, unsigned seed) {
  std::vector<char> data(bytes);
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < bytes; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    data[i] = static_cast<char>(state >> 56);
  }
  return data;
}

TEST(CudaDevice, PropertiesAndMemory) {
  SKIP_WITHOUT_GPU();
  const CudaProperties& p = gpu().properties();
  std::cout << "  " << p.name << ", sm_" << p.compute_major << p.compute_minor << ", " << p.multiprocessors << " multiprocessors, L2 "
            << p.l2_bytes << ", shared " << p.shared_per_block_optin << ", copy engines " << p.copy_engines << ", target " << gpu().target()
            << "\n";
  EXPECT_FALSE(p.name.empty());
  EXPECT_GT(p.multiprocessors, 0);
  EXPECT_EQ(gpu().attribute(16), p.multiprocessors);
  EXPECT_GE(p.shared_per_block_optin, 48 << 10);
  const MemoryInfo memory = gpu().memory_info();
  EXPECT_GT(memory.total, memory.free);
  EXPECT_EQ(gpu().allocate_chunk(memory.total * 2), nullptr);
  Memory one(1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(one.bytes()) % 256, 0u);
  EXPECT_TRUE(contains(error_of([] { make_cuda_backend(cuda_device_count()); }, ErrorKind::Runtime), "expected a device below"));
}

TEST(CudaCopy, EverySizeGoesThereAndBack) {
  SKIP_WITHOUT_GPU();
  const size_t most = (96 << 20) + 12345;
  const std::vector<char> from = noise(most, 1);
  Memory there(most + 64), other(most + 64);
  Stream own = gpu().create_stream();
  for (Stream stream : {Stream{gpu().device(), nullptr}, own})
    for (size_t bytes : std::initializer_list<size_t>{
             1, 2, 3, 4, 5, 7, 8, 63, 128, 129, 4093, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20, (3 << 20) + 1, (20 << 20) + 7, most})
      for (size_t offset : {0, 1, 3, 4}) {
        if (offset && bytes > (4 << 20)) continue;
        std::vector<char> back(bytes + 2, char{0x11});
        std::vector<char> source(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes));
        gpu().copy(there.bytes() + offset, source.data(), bytes, CopyKind::HostToDevice, stream);
        std::fill(source.begin(), source.end(), char{0});  // may be reused when copy has returned
        gpu().copy(other.bytes() + offset, there.bytes() + offset, bytes, CopyKind::DeviceToDevice, stream);
        gpu().copy(back.data() + 1, other.bytes() + offset, bytes, CopyKind::DeviceToHost, stream);
        ASSERT_EQ(std::memcmp(back.data() + 1, from.data(), bytes), 0) << bytes << " at " << offset;
        ASSERT_EQ(back[0], char{0x11});
        ASSERT_EQ(back[bytes + 1], char{0x11});
      }
  gpu().destroy_stream(own);
}

TEST(CudaCopy, PinnedMemoryIsKnownAndCopiedDirectly) {
  SKIP_WITHOUT_GPU();
  const size_t bytes = 8 << 20;
  char* pinned = static_cast<char*>(gpu().allocate_pinned(bytes));
  ASSERT_NE(pinned, nullptr);
  std::vector<char> pageable = noise(bytes, 2);
  Memory there(bytes);
  EXPECT_EQ(gpu().pointer_info(pinned).kind, CudaPointerInfo::Kind::PinnedHost);
  EXPECT_EQ(gpu().pointer_info(pageable.data()).kind, CudaPointerInfo::Kind::Unknown);
  EXPECT_EQ(gpu().pointer_info(there.bytes()).kind, CudaPointerInfo::Kind::Device);
  EXPECT_EQ(gpu().pointer_info(there.bytes() + 100).device, 0);
  for (size_t part : {size_t{8}, size_t{5000}, bytes}) {
    std::memcpy(pinned, pageable.data(), part);
    gpu().copy(there.bytes(), pinned, part, CopyKind::HostToDevice, {});
    std::memset(pinned, 0, part);
    gpu().copy(pinned, there.bytes(), part, CopyKind::DeviceToHost, {});
    EXPECT_EQ(std::memcmp(pinned, pageable.data(), part), 0);
  }
  gpu().free_pinned(pinned);
  gpu().register_host(pageable.data(), pageable.size());
  EXPECT_EQ(gpu().pointer_info(pageable.data()).kind, CudaPointerInfo::Kind::PinnedHost);
  gpu().unregister_host(pageable.data());
}

TEST(CudaCopy, ManySmallUploadsFromSeveralThreadsAndStreams) {
  SKIP_WITHOUT_GPU();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Stream stream = gpu().create_stream();
      const size_t count = 2000, each = 1000;
      Memory there(count * each);
      const std::vector<char> data = noise(count * each, static_cast<unsigned>(t) + 10);
      for (size_t i = 0; i < count; ++i) {
        std::vector<char> piece(data.begin() + static_cast<std::ptrdiff_t>(i * each),
                                data.begin() + static_cast<std::ptrdiff_t>((i + 1) * each));
        gpu().copy(there.bytes() + i * each, piece.data(), each, CopyKind::HostToDevice, stream);
      }
      for (size_t i = 0; i < count; i += 97) {
        char back[1000];
        gpu().copy(back, there.bytes() + i * each, each, CopyKind::DeviceToHost, stream);
        if (std::memcmp(back, data.data() + i * each, each) != 0) ++wrong;
      }
      if (download<char>(there, count * each, stream) != data) ++wrong;
      gpu().destroy_stream(stream);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(CudaFill, EveryByteAndOnlyThose) {
  SKIP_WITHOUT_GPU();
  Memory there(4096);
  for (size_t offset : {0, 1, 4})
    for (size_t bytes : {0, 1, 3, 4, 1000, 1001}) {
      gpu().fill(there.bytes(), 0x11, 4096, {});
      gpu().fill(there.bytes() + offset, 0xab, bytes, {});
      const std::vector<char> back = download<char>(there, 4096);
      for (size_t i = 0; i < 4096; ++i)
        ASSERT_EQ(static_cast<unsigned char>(back[i]), i >= offset && i < offset + bytes ? 0xab : 0x11) << i;
    }
}

std::unique_ptr<LoadedKernel> loaded(const KernelSource& source) { return gpu().load(gpu().compile(source), source.entries); }

TEST(CudaLaunch, RunsAKernelFromManyThreads) {
  SKIP_WITHOUT_GPU();
  auto kernel = loaded(axpy_source());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const size_t n = 100000;
      Memory x(n * 4), y(n * 4);
      Stream stream = gpu().create_stream();
      upload(x, std::vector<float>(n, static_cast<float>(t)), stream);
      upload(y, std::vector<float>(n, 1.0f), stream);
      AxpyParams params{y.as<float>(), x.as<float>(), static_cast<long long>(n), 2.0f};
      Launch launch;
      launch.grid[0] = 200;
      launch.block[0] = 256;
      for (int i = 0; i < 10; ++i) gpu().launch(*kernel, launch, &params, sizeof(params), stream);
      gpu().synchronize(stream);
      for (float value : download<float>(y, n, stream))
        if (value != 1.0f + 20.0f * static_cast<float>(t)) ++wrong;
      gpu().destroy_stream(stream);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(CudaLaunch, ParametersWithoutTailPaddingAreWholeAndWrongSizesAreRefused) {
  SKIP_WITHOUT_GPU();
  auto kernel = loaded(axpy_source());
  Memory x(4 * 4), y(4 * 4);
  upload(x, std::vector<float>{1, 2, 3, 4});
  upload(y, std::vector<float>{1, 1, 1, 1});
  AxpyParams params{y.as<float>(), x.as<float>(), 4, 3.0f};
  Launch launch;
  launch.block[0] = 32;
  gpu().launch(*kernel, launch, &params, 28, {});
  EXPECT_EQ(download<float>(y, 4), (std::vector<float>{4, 7, 10, 13}));
  if (cuda::driver().cuFuncGetParamInfo) {
    EXPECT_TRUE(
        contains(error_of([&] { gpu().launch(*kernel, launch, &params, 8, {}); }, ErrorKind::Value), "takes 32 bytes of parameters"));
  }
  launch.block[0] = 5000;
  const std::string text = error_of([&] { gpu().launch(*kernel, launch, &params, sizeof(params), {}); }, ErrorKind::Runtime);
  EXPECT_TRUE(contains(text, "axpy") && contains(text, "block (5000, 1, 1)")) << text;
}

TEST(CudaLaunch, SharedMemoryBeyond48KilobytesIsOptedIn) {
  SKIP_WITHOUT_GPU();
  KernelSource source;
  source.entries = {"reverse"};
  source.text = R"(
struct Params { int* p; int n; };
extern "C" __global__ void reverse(const Params p) {
  extern __shared__ int room[];
  for (int i = threadIdx.x; i < p.n; i += blockDim.x) room[i] = p.p[i];
  __syncthreads();
  for (int i = threadIdx.x; i < p.n; i += blockDim.x) p.p[i] = room[p.n - 1 - i];
}
)";
  auto kernel = loaded(source);
  const int n = gpu().properties().shared_per_block_optin / 4;
  Memory there(static_cast<size_t>(n) * 4);
  std::vector<int> data(static_cast<size_t>(n));
  std::iota(data.begin(), data.end(), 0);
  upload(there, data);
  struct {
    int* p;
    int n;
  } params{there.as<int>(), n};
  Launch launch;
  launch.block[0] = 512;
  launch.shared_bytes = static_cast<unsigned>(n) * 4;
  gpu().launch(*kernel, launch, &params, sizeof(params), {});
  std::reverse(data.begin(), data.end());
  EXPECT_EQ(download<int>(there, data.size()), data);
  launch.shared_bytes += 1024;
  EXPECT_TRUE(contains(error_of([&] { gpu().launch(*kernel, launch, &params, sizeof(params), {}); }, ErrorKind::Value), "shared memory"));
}

TEST(CudaOrder, EventsOrderStreamsAndMeasure) {
  SKIP_WITHOUT_GPU();
  Stream first = gpu().create_stream(), second = gpu().create_stream(gpu().stream_priorities().second);
  const size_t bytes = 256 << 20;
  Memory a(bytes), b(bytes);
  CudaEvent start(gpu(), true), end(gpu(), true), done(gpu());
  start.record(first);
  for (int i = 1; i <= 20; ++i) gpu().fill(a.bytes(), i, bytes, first);
  end.record(first);
  done.record(first);
  gpu().wait_event(second, done.get());
  gpu().copy(b.bytes(), a.bytes(), bytes, CopyKind::DeviceToDevice, second);
  EXPECT_EQ(download<char>(b, 8, second), std::vector<char>(8, 20));
  done.wait();
  EXPECT_TRUE(done.query());
  EXPECT_TRUE(gpu().query(second));
  EXPECT_GT(end.elapsed(start), 0.0f);
  gpu().synchronize(first);
  gpu().synchronize(second);
  gpu().destroy_stream(first);
  gpu().destroy_stream(second);
}

TEST(CudaGraphs, CapturedGraphsRunAgain) {
  SKIP_WITHOUT_GPU();
  auto kernel = loaded(axpy_source());
  Memory x(4 * 4), y(4 * 4);
  upload(x, std::vector<float>{1, 2, 3, 4});
  AxpyParams params{y.as<float>(), x.as<float>(), 4, 1.0f};
  Launch launch;
  launch.block[0] = 32;
  auto record = [&](Stream stream) {
    gpu().fill(y.bytes(), 0, 16, stream);
    for (int i = 0; i < 3; ++i) gpu().launch(*kernel, launch, &params, sizeof(params), stream);
  };
  Stream stream = gpu().create_stream();
  gpu().begin_capture(stream);
  record(stream);
  const std::unique_ptr<StreamGraph> captured = gpu().end_capture(stream);
  EXPECT_EQ(captured->node_count(), size_t{4});
  for (int i = 0; i < 5; ++i) captured->launch(stream);
  EXPECT_EQ(download<float>(y, 4, stream), (std::vector<float>{3, 6, 9, 12}));
  gpu().begin_capture(stream);
  EXPECT_TRUE(
      contains(error_of([&] { gpu().copy(y.bytes(), &params, 17, CopyKind::HostToDevice, stream); }, ErrorKind::Runtime), "captured"));
  EXPECT_EQ(gpu().end_capture(stream)->node_count(), size_t{0});
  gpu().destroy_stream(stream);
}

TEST(CudaVirtualMemory, PiecesComeAndGoBehindOneRange) {
  SKIP_WITHOUT_GPU();
  const size_t page = gpu().page_bytes();
  if (!page) GTEST_SKIP() << "the device has no virtual memory management";
  char* base = static_cast<char*>(gpu().reserve_addresses(64 * page));
  ASSERT_NE(base, nullptr);
  EXPECT_TRUE(gpu().is_virtual(base + 63 * page));
  ASSERT_TRUE(gpu().commit(base, page));
  ASSERT_TRUE(gpu().commit(base + page, 8 * page));
  gpu().fill(base, 7, page, {});
  gpu().fill(base + page, 9, 8 * page, {});
  std::vector<char> back(9 * page);
  gpu().copy(back.data(), base, back.size(), CopyKind::DeviceToHost, {});
  EXPECT_EQ(back[0], 7);
  EXPECT_EQ(back[page - 1], 7);
  EXPECT_EQ(back[page], 9);
  EXPECT_EQ(back[9 * page - 1], 9);
  gpu().decommit(base + page, 8 * page);
  ASSERT_TRUE(gpu().commit(base + 3 * page, page));
  gpu().fill(base + 3 * page, 5, page, {});
  gpu().copy(back.data(), base, page, CopyKind::DeviceToHost, {});
  EXPECT_EQ(back[page - 1], 7);
  gpu().decommit(base + 3 * page, page);
  gpu().decommit(base, page);
  EXPECT_FALSE(gpu().is_virtual(back.data()));
}

TEST(CudaMemory, ManagedMemoryIsSeenByBoth) {
  SKIP_WITHOUT_GPU();
  if (!gpu().properties().concurrent_managed_access) GTEST_SKIP() << "the device has no concurrent managed access";
  char* managed = static_cast<char*>(gpu().allocate_managed(1 << 20));
  ASSERT_NE(managed, nullptr);
  EXPECT_EQ(gpu().pointer_info(managed).kind, CudaPointerInfo::Kind::Managed);
  gpu().fill(managed, 42, 1 << 20, {});
  gpu().synchronize({});
  EXPECT_EQ(managed[12345], 42);
  gpu().free_chunk(managed, 1 << 20);
}

TEST(CudaPeers, CopyBetweenDevices) {
  if (cuda_device_count() < 2) GTEST_SKIP() << "fewer than two GPUs";
  std::unique_ptr<Backend> opened = make_cuda_backend(1);
  CudaBackend& other = static_cast<CudaBackend&>(*opened);
  const size_t bytes = (4 << 20) + 3;
  const std::vector<char> data = noise(bytes, 5);
  Memory here(bytes), back(bytes);
  void* there = other.allocate_chunk(bytes);
  upload(here, data);
  gpu().copy_peer(there, other, here.bytes(), gpu(), bytes, {});
  gpu().copy(back.bytes(), there, bytes, CopyKind::DeviceToDevice, {});
  EXPECT_EQ(download<char>(back, bytes), data);
  if (gpu().can_access(other)) {
    EXPECT_TRUE(gpu().enable_peer_access(other));
    EXPECT_TRUE(gpu().enable_peer_access(other));
  }
  EXPECT_EQ(gpu().pointer_info(there).device, 1);
  other.free_chunk(there, bytes);
}

/// In a process of its own: the error ends the context.
[[noreturn]] void run_into_an_illegal_address() {
  KernelSource source;
  source.entries = {"wild"};
  source.text = "struct Params { int* p; };\nextern \"C\" __global__ void wild(const Params p) { p.p[threadIdx.x] = 1; }\n";
  auto kernel = loaded(source);
  int* nowhere = reinterpret_cast<int*>(0x10);
  Launch launch;
  launch.block[0] = 32;
  Memory some(64);
  gpu().launch(*kernel, launch, &nowhere, sizeof(nowhere), {});
  std::string first, second;
  try {
    int value = 0;
    gpu().copy(&value, some.bytes(), 4, CopyKind::DeviceToHost, {});
  } catch (const Error& error) {
    first = error.what();
  }
  try {
    gpu().synchronize({});
  } catch (const Error& error) {
    second = error.what();
  }
  std::cerr << first << "\n" << second << "\n";
  _exit(contains(first, "CUDA_ERROR_ILLEGAL_ADDRESS") && contains(second, "restart the process") ? 0 : 1);
}

TEST(CudaErrorsDeathTest, AnAsynchronousErrorIsRaisedAtTheNextReadAndSaysThatTheContextIsLost) {
  SKIP_WITHOUT_GPU();
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // runs this program anew: CUDA does not survive a fork
  EXPECT_EXIT(run_into_an_illegal_address(), testing::ExitedWithCode(0), "ILLEGAL_ADDRESS");
}

TEST(CudaErrors, AForkedChildIsToldSo) {
  SKIP_WITHOUT_GPU();
  gpu().synchronize({});
  const pid_t child = fork();
  if (child == 0) {
    int code = 1;
    try {
      gpu().synchronize({});
    } catch (const Error& error) {
      code = contains(error.what(), "fork") ? 0 : 2;
    }
    _exit(code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  gpu().synchronize({});
}

// ---- Matrix products on a GPU

template <class T>
struct DTypeOf;
// clang-format off
template <> struct DTypeOf<float> { static constexpr DType value = DType::f32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::f64; };
template <> struct DTypeOf<std::complex<float>> { static constexpr DType value = DType::c64; };
template <> struct DTypeOf<std::complex<double>> { static constexpr DType value = DType::c128; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::i8; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::i16; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::i32; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::i64; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::u8; };
template <> struct DTypeOf<uint16_t> { static constexpr DType value = DType::u16; };
template <> struct DTypeOf<uint32_t> { static constexpr DType value = DType::u32; };
template <> struct DTypeOf<uint64_t> { static constexpr DType value = DType::u64; };
template <> struct DTypeOf<bool> { static constexpr DType value = DType::b1; };
// clang-format on

/// Small whole numbers, so that every sum is exact in every type.
template <class T>
std::vector<unsigned char> random_matrix(size_t count, std::mt19937& random) {
  std::vector<unsigned char> bytes(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    T value;
    if constexpr (std::is_same_v<T, bool>)
      value = random() % 8 == 0;
    else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      value = T(static_cast<float>(random() % 7) - 3, static_cast<float>(random() % 7) - 3);
    else if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(static_cast<int>(random() % 15) - 7);
    else
      value = static_cast<T>(random());
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <class T>
void check_matmul(int64_t batch, int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b, bool repeat_b, size_t offset,
                  std::mt19937& random) {
  auto host_a = random_matrix<T>(static_cast<size_t>(batch * m * k) + offset, random);
  auto host_b = random_matrix<T>(static_cast<size_t>((repeat_b ? 1 : batch) * k * n) + offset, random);
  Memory a(host_a.size()), b(host_b.size()), c(static_cast<size_t>(batch * m * n) * sizeof(T));
  upload(a, host_a);
  upload(b, host_b);
  gpu().fill(c.bytes(), 0xee, static_cast<size_t>(batch * m * n) * sizeof(T), {});
  const int64_t sa[] = {m * k, transpose_a ? 1 : k, transpose_a ? m : 1};
  const int64_t sb[] = {repeat_b ? 0 : k * n, transpose_b ? 1 : n, transpose_b ? k : 1};
  cuda::matmul(gpu(), {}, DTypeOf<T>::value, batch, m, n, k, a.as<T>() + offset, sa, b.as<T>() + offset, sb, c.bytes());
  auto raw = download<unsigned char>(c, static_cast<size_t>(batch * m * n) * sizeof(T));
  auto at = [](const std::vector<unsigned char>& bytes, int64_t i) {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    return value;
  };
  int shown = 0;
  for (int64_t z = 0; z < batch; ++z)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T expected{};
        uint64_t sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          T x = at(host_a, static_cast<int64_t>(offset) + z * sa[0] + i * sa[1] + l * sa[2]);
          T y = at(host_b, static_cast<int64_t>(offset) + z * sb[0] + l * sb[1] + j * sb[2]);
          if constexpr (std::is_same_v<T, bool>)
            expected = expected || (x && y);
          else if constexpr (std::is_integral_v<T>)
            sum += static_cast<uint64_t>(x) * static_cast<uint64_t>(y);
          else
            expected += x * y;
        }
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) expected = static_cast<T>(sum);
        if (at(raw, (z * m + i) * n + j) != expected && shown++ < 3)
          ADD_FAILURE() << info(DTypeOf<T>::value).name << " batch " << batch << " m " << m << " n " << n << " k " << k << " ta "
                        << transpose_a << " tb " << transpose_b << " at " << z << "," << i << "," << j;
      }
}

template <class T>
void check_matmuls() {
  std::mt19937 random(7);
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      check_matmul<T>(1, 1, 1, 1, ta, tb, false, 0, random);
      check_matmul<T>(1, 65, 33, 17, ta, tb, false, 0, random);
      check_matmul<T>(1, 128, 128, 64, ta, tb, false, 0, random);
      check_matmul<T>(1, 1, 100, 77, ta, tb, false, 0, random);
      check_matmul<T>(1, 100, 1, 77, ta, tb, false, 0, random);
      check_matmul<T>(1, 40, 50, 1, ta, tb, false, 0, random);
      check_matmul<T>(5, 20, 30, 40, ta, tb, false, 0, random);
      check_matmul<T>(3, 31, 17, 9, ta, tb, true, 0, random);
      check_matmul<T>(2, 33, 34, 35, ta, tb, false, 1, random);  // a view that begins one element in
    }
}

TEST(CudaMatmul, FloatingPointAgreesWithTheDefinition) {
  SKIP_WITHOUT_GPU();
  if (!have(Library::CublasLt)) GTEST_SKIP() << "cuBLASLt is not installed";
  check_matmuls<float>();
  check_matmuls<double>();
  check_matmuls<std::complex<float>>();
  check_matmuls<std::complex<double>>();
}

TEST(CudaMatmul, IntegersWrapAndBooleansAreOrOfAnds) {
  SKIP_WITHOUT_GPU();
  check_matmuls<int8_t>();
  check_matmuls<int16_t>();
  check_matmuls<int32_t>();
  check_matmuls<int64_t>();
  check_matmuls<uint8_t>();
  check_matmuls<uint16_t>();
  check_matmuls<uint32_t>();
  check_matmuls<uint64_t>();
  check_matmuls<bool>();
}

TEST(CudaMatmul, SixteenBitTypesSumInFloat32) {
  SKIP_WITHOUT_GPU();
  if (!have(Library::CublasLt)) GTEST_SKIP() << "cuBLASLt is not installed";
  const int64_t m = 64, n = 48, k = 512, sa[] = {0, k, 1}, sb[] = {0, n, 1};
  for (auto [dtype, one, expected] : {std::tuple{DType::f16, uint16_t{0x3c00}, uint16_t{0x6000}},      // 512 in half
                                      std::tuple{DType::bf16, uint16_t{0x3f80}, uint16_t{0x4400}}}) {  // and in bfloat16
    Memory a(static_cast<size_t>(m * k) * 2), b(static_cast<size_t>(k * n) * 2), c(static_cast<size_t>(m * n) * 2);
    upload(a, std::vector<uint16_t>(static_cast<size_t>(m * k), one));
    upload(b, std::vector<uint16_t>(static_cast<size_t>(k * n), one));
    cuda::matmul(gpu(), {}, dtype, 1, m, n, k, a.bytes(), sa, b.bytes(), sb, c.bytes());
    EXPECT_EQ(download<uint16_t>(c, static_cast<size_t>(m * n)), std::vector<uint16_t>(static_cast<size_t>(m * n), expected));
  }
}

TEST(CudaMatmul, ABatchMayRunBackwards) {
  SKIP_WITHOUT_GPU();
  if (!have(Library::CublasLt)) GTEST_SKIP() << "cuBLASLt is not installed";
  const std::vector<float> ones{1, 1, 1, 1, 2, 2, 2, 2}, unit{1, 0, 0, 1};
  Memory a(32), b(16), c(32);
  upload(a, ones);
  upload(b, unit);
  const int64_t sa[] = {-4, 2, 1}, sb[] = {0, 2, 1};
  cuda::matmul(gpu(), {}, DType::f32, 2, 2, 2, 2, a.as<float>() + 4, sa, b.bytes(), sb, c.bytes());
  EXPECT_EQ(download<float>(c, 8), (std::vector<float>{2, 2, 2, 2, 1, 1, 1, 1}));
}

TEST(CudaMatmul, EmptySumsAreZeroAndStridesThatDoNotFitAreRefused) {
  SKIP_WITHOUT_GPU();
  const int64_t strides[] = {0, 4, 1}, spread[] = {0, 8, 2};
  Memory a(1024), c(16 * 4);
  gpu().fill(a.bytes(), 0, 1024, {});
  gpu().fill(c.bytes(), 1, 64, {});
  cuda::matmul(gpu(), {}, DType::f32, 1, 4, 4, 0, a.bytes(), strides, a.bytes(), strides, c.bytes());
  EXPECT_EQ(download<float>(c, 16), std::vector<float>(16, 0.0f));
  if (!have(Library::CublasLt)) GTEST_SKIP() << "cuBLASLt is not installed";
  const std::string text = error_of(
      [&] { cuda::matmul(gpu(), {}, DType::f32, 1, 4, 4, 4, a.bytes(), spread, a.bytes(), strides, c.bytes()); }, ErrorKind::Value);
  EXPECT_TRUE(contains(text, "unit stride")) << text;
}

// ---- Figures on a GPU: printed, not judged

template <class F>
double best_microseconds(int rounds, int each, F&& call) {
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < each; ++i) call();
    best = std::min(best, microseconds_since(start) / each);
  }
  return best;
}

TEST(CudaFigures, LatencyAndBandwidth) {
  SKIP_WITHOUT_GPU();
  auto kernel = loaded(axpy_source());
  Memory x(4096), y(4096);
  AxpyParams params{y.as<float>(), x.as<float>(), 1024, 0.0f};
  Launch launch;
  launch.grid[0] = 4;
  launch.block[0] = 256;
  Stream own = gpu().create_stream();
  for (auto [name, stream] : {std::pair{"default stream", Stream{}}, std::pair{"own stream", own}}) {
    gpu().synchronize(stream);
    std::cout << "  " << name << "\n";
    std::cout << "    launch, queued           "
              << best_microseconds(20, 200, [&] { gpu().launch(*kernel, launch, &params, sizeof(params), stream); }) << " us\n";
    gpu().synchronize(stream);
    void* arguments[] = {&params};
    auto function = static_cast<CudaKernel&>(*kernel).function(0);
    std::cout << "    the driver's own         " << best_microseconds(20, 200, [&] {
      cuda::driver().cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, static_cast<cuda::CUstream>(stream.native), arguments, nullptr);
    }) << " us\n";
    gpu().synchronize(stream);
    std::cout << "    launch and synchronize   " << best_microseconds(20, 50, [&] {
      gpu().launch(*kernel, launch, &params, sizeof(params), stream);
      gpu().synchronize(stream);
    }) << " us\n";
    char value[4096];
    auto queue = static_cast<cuda::CUstream>(stream.native);
    auto address = reinterpret_cast<cuda::CUdeviceptr>(y.bytes());
    for (size_t bytes : {size_t{8}, size_t{4096}}) {
      const auto current = gpu().make_current();
      std::cout << "    read " << bytes << " by kernel         "
                << best_microseconds(20, 50, [&] { gpu().host_copy().read_by_kernel(value, address, bytes, queue); }) << " us\n";
      std::cout << "    read " << bytes << " by copy engine    "
                << best_microseconds(20, 50, [&] { gpu().host_copy().read_by_copy(value, address, bytes, queue); }) << " us\n";
      std::cout << "    launch, read " << bytes << " by kernel " << best_microseconds(20, 50, [&] {
        gpu().launch(*kernel, launch, &params, sizeof(params), stream);
        gpu().host_copy().read_by_kernel(value, address, bytes, queue);
      }) << " us\n";
      std::cout << "    launch, read " << bytes << " by copy   " << best_microseconds(20, 50, [&] {
        gpu().launch(*kernel, launch, &params, sizeof(params), stream);
        gpu().host_copy().read_by_copy(value, address, bytes, queue);
      }) << " us\n";
      std::cout << "    upload " << bytes << ", queued        "
                << best_microseconds(20, 50, [&] { gpu().copy(y.bytes(), value, bytes, CopyKind::HostToDevice, stream); }) << " us\n";
      gpu().synchronize(stream);
    }
  }
  gpu().destroy_stream(own);
  for (size_t bytes : {size_t{1} << 20, size_t{16} << 20, size_t{512} << 20}) {
    Memory there(bytes);
    std::vector<char> host(bytes, 1);
    auto rate = [&](CopyKind kind) {
      void* dst = kind == CopyKind::HostToDevice ? static_cast<void*>(there.bytes()) : host.data();
      void* src = kind == CopyKind::HostToDevice ? static_cast<void*>(host.data()) : there.bytes();
      return static_cast<double>(bytes) / 1000 / best_microseconds(5, 1, [&] {
               gpu().copy(dst, src, bytes, kind, {});
               gpu().synchronize({});
             });
    };
    const double up = rate(CopyKind::HostToDevice), down = rate(CopyKind::DeviceToHost);
    std::cout << "  " << (bytes >> 20) << " MiB pageable: to the device " << up << " GB/s, back " << down << " GB/s";
    const auto start = Clock::now();
    auto* fresh = static_cast<char*>(std::aligned_alloc(4096, bytes));
    gpu().copy(fresh, there.bytes(), bytes, CopyKind::DeviceToHost, {});
    std::cout << ", back into fresh memory " << static_cast<double>(bytes) / 1000 / microseconds_since(start) << " GB/s\n";
    std::free(fresh);
  }
  const size_t bytes = size_t{2} << 30;
  Memory a(bytes), b(bytes);
  CudaEvent start(gpu(), true), end(gpu(), true);
  for (int i = 0; i < 3; ++i) {
    start.record({});
    gpu().copy(b.bytes(), a.bytes(), bytes, CopyKind::DeviceToDevice, {});
    end.record({});
    end.wait();
  }
  std::cout << "  device to device " << 2e-6 * static_cast<double>(bytes) / static_cast<double>(end.elapsed(start))
            << " GB/s read and written\n";
}

}  // namespace
}  // namespace bc
