#pragma once
// The part of the CUDA driver API, NVRTC and cuBLASLt that broadcloth calls, declared here so that no CUDA header is needed to build and
// no CUDA library to start. Each library is one table of functions, filled by dlsym at first use. Names, numbers and layouts are
// those of CUDA 12.0 to 13.0; tests/cpp/cuda_backend_test.cpp checks them against the toolkit's own headers where those are installed.
#include <cstddef>
#include <cstdint>

#include "runtime/exit.h"

// The opaque types have the headers' own tags, so that handles are the same types in a program that includes both.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUkern_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct CUuserObject_st;
struct CUarray_st;
struct CUmemPoolHandle_st;

namespace bc::cuda {

// ---- Driver -------------------------------------------------------------------------------------------------------------------------

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = ::CUctx_st*;
using CUmodule = ::CUmod_st*;
using CUfunction = ::CUfunc_st*;
using CUkernel = ::CUkern_st*;
using CUstream = ::CUstream_st*;
using CUevent = ::CUevent_st*;
using CUgraph = ::CUgraph_st*;
using CUgraphNode = ::CUgraphNode_st*;
using CUgraphExec = ::CUgraphExec_st*;
using CUuserObject = ::CUuserObject_st*;
using CUarray = ::CUarray_st*;
using CUmemoryPool = ::CUmemPoolHandle_st*;
using CUmemGenericAllocationHandle = unsigned long long;

inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kErrorInvalidValue = 1;
inline constexpr CUresult kErrorOutOfMemory = 2;
inline constexpr CUresult kErrorStubLibrary = 34;
inline constexpr CUresult kErrorNoDevice = 100;
inline constexpr CUresult kErrorInvalidImage = 200;
inline constexpr CUresult kErrorNoBinaryForGpu = 209;
inline constexpr CUresult kErrorEccUncorrectable = 214;
inline constexpr CUresult kErrorNvlinkUncorrectable = 220;
inline constexpr CUresult kErrorUnsupportedPtxVersion = 222;
inline constexpr CUresult kErrorNotFound = 500;
inline constexpr CUresult kErrorNotReady = 600;
inline constexpr unsigned kUserObjectNoDestructorSync = 1;
inline constexpr unsigned kGraphUserObjectMove = 1;
inline constexpr CUresult kErrorIllegalAddress = 700;
inline constexpr CUresult kErrorLaunchTimeout = 702;
inline constexpr CUresult kErrorPeerAccessAlreadyEnabled = 704;
inline constexpr CUresult kErrorAssert = 710;
inline constexpr CUresult kErrorHardwareStackError = 714;
inline constexpr CUresult kErrorIllegalInstruction = 715;
inline constexpr CUresult kErrorMisalignedAddress = 716;
inline constexpr CUresult kErrorInvalidAddressSpace = 717;
inline constexpr CUresult kErrorInvalidPc = 718;
inline constexpr CUresult kErrorLaunchFailed = 719;
inline constexpr CUresult kErrorStreamCaptureUnsupported = 900;  // the range of errors that captures cause
inline constexpr CUresult kErrorStreamCaptureWrongThread = 908;

/// Attributes of a device (CUdevice_attribute).
enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxBlockDimX = 2,
  MaxGridDimX = 5,
  MaxSharedPerBlock = 8,
  WarpSize = 10,
  ClockRate = 13,
  MultiprocessorCount = 16,
  Integrated = 18,
  EccEnabled = 32,
  PciBusId = 33,
  PciDeviceId = 34,
  MemoryClockRate = 36,
  MemoryBusWidth = 37,
  L2CacheSize = 38,
  MaxThreadsPerMultiprocessor = 39,
  AsyncEngineCount = 40,
  UnifiedAddressing = 41,
  PciDomainId = 50,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedPerMultiprocessor = 81,
  MaxRegistersPerMultiprocessor = 82,
  ManagedMemory = 83,
  ConcurrentManagedAccess = 89,
  CooperativeLaunch = 95,
  MaxSharedPerBlockOptin = 97,
  VirtualMemoryManagement = 102,
  MaxBlocksPerMultiprocessor = 106,
  MemoryPoolsSupported = 115,
};

inline constexpr int kFunctionMaxThreadsPerBlock = 0;  // CUfunction_attribute
inline constexpr int kFunctionSharedBytes = 1;
inline constexpr int kFunctionRegisters = 4;
inline constexpr int kFunctionMaxDynamicShared = 8;
inline constexpr int kFunctionNonPortableCluster = 14;

inline constexpr unsigned kStreamNonBlocking = 1;  // CUstream_flags
inline constexpr unsigned kEventDefault = 0;       // CUevent_flags
inline constexpr unsigned kEventBlockingSync = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kEventInterprocess = 4;
inline constexpr unsigned kHostAllocPortable = 1;  // CU_MEMHOSTALLOC_*
inline constexpr unsigned kHostAllocDeviceMap = 2;
inline constexpr unsigned kHostAllocWriteCombined = 4;
inline constexpr unsigned kHostRegisterPortable = 1;  // CU_MEMHOSTREGISTER_*
inline constexpr unsigned kHostRegisterDeviceMap = 2;
inline constexpr unsigned kMemAttachGlobal = 1;  // CUmemAttach_flags
inline constexpr int kPointerMemoryType = 2;     // CUpointer_attribute
inline constexpr int kPointerIsManaged = 8;
inline constexpr int kPointerDeviceOrdinal = 9;
inline constexpr int kMemoryTypeHost = 1;       // CUmemorytype
inline constexpr int kCaptureRelaxed = 2;       // CUstreamCaptureMode
inline constexpr int kCaptureStatusNone = 0;    // CUstreamCaptureStatus
inline constexpr int kMemAllocationPinned = 1;  // CUmemAllocationType
inline constexpr int kMemLocationDevice = 1;    // CUmemLocationType
inline constexpr int kMemAccessReadWrite = 3;   // CUmemAccess_flags
inline constexpr int kGranularityRecommended = 1;
inline constexpr int kJitErrorLogBuffer = 5;  // CUjit_option
inline constexpr int kJitErrorLogBufferBytes = 6;

struct CUmemLocation {
  int type;
  int id;
};

struct CUmemAllocationProp {
  int type;
  int requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
};

struct CUmemAccessDesc {
  CUmemLocation location;
  int flags;
};

inline constexpr int kLaunchCooperative = 2;  // CUlaunchAttributeID
inline constexpr int kLaunchClusterDimension = 4;

struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int cooperative;
  };
};

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};

inline constexpr int kFormatFloat = 0x20;  // CUarray_format

struct CUDA_ARRAY3D_DESCRIPTOR {
  size_t Width, Height, Depth;
  int Format;
  unsigned NumChannels;
  unsigned Flags;
};

struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void* reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void* reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
};

struct CUDA_RESOURCE_DESC {
  int resType;
  union {
    struct {
      CUarray hArray;
    } array;
    struct {
      CUdeviceptr devPtr;
      int format;
      unsigned numChannels;
      size_t sizeInBytes;
    } linear;
    struct {
      CUdeviceptr devPtr;
      int format;
      unsigned numChannels;
      size_t width, height, pitchInBytes;
    } pitch2D;
    int reserved[32];
  } res;
  unsigned flags;
};

struct CUDA_TEXTURE_DESC {
  int addressMode[3];
  int filterMode;
  unsigned flags;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  float borderColor[4];
  int reserved[12];
};

// Rows: X(member of the table, exported symbol, parameters). The symbols are the versioned ones that cuda.h maps the plain names to.
#define BC_CUDA_DRIVER_API(X)                                                                                                   \
  X(cuInit, cuInit, (unsigned))                                                                                                 \
  X(cuDriverGetVersion, cuDriverGetVersion, (int*))                                                                             \
  X(cuGetErrorName, cuGetErrorName, (CUresult, const char**))                                                                   \
  X(cuGetErrorString, cuGetErrorString, (CUresult, const char**))                                                               \
  X(cuDeviceGet, cuDeviceGet, (CUdevice*, int))                                                                                 \
  X(cuDeviceGetCount, cuDeviceGetCount, (int*))                                                                                 \
  X(cuDeviceGetName, cuDeviceGetName, (char*, int, CUdevice))                                                                   \
  X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, (char*, int, CUdevice))                                                           \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t*, CUdevice))                                                                 \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int*, int, CUdevice))                                                          \
  X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, (int*, CUdevice, CUdevice))                                                   \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                                 \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                        \
  X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext))                                                                              \
  X(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext*))                                                                             \
  X(cuCtxSynchronize, cuCtxSynchronize, ())                                                                                     \
  X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, (int*, int*))                                                     \
  X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, (CUcontext, unsigned))                                                        \
  X(cuModuleLoadDataEx, cuModuleLoadDataEx, (CUmodule*, const void*, unsigned, int*, void**))                                   \
  X(cuModuleUnload, cuModuleUnload, (CUmodule))                                                                                 \
  X(cuModuleGetFunction, cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                                             \
  X(cuModuleGetGlobal, cuModuleGetGlobal_v2, (CUdeviceptr*, size_t*, CUmodule, const char*))                                    \
  X(cuFuncGetAttribute, cuFuncGetAttribute, (int*, int, CUfunction))                                                            \
  X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction, int, int))                                                             \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor, (int*, CUfunction, int, size_t))  \
  X(cuOccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize, (int*, int*, CUfunction, size_t (*)(int), size_t, int)) \
  X(cuLaunchKernel, cuLaunchKernel,                                                                                             \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**))               \
  X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel,                                                                       \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**))                       \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t*, size_t*))                                                                          \
  X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr*, size_t))                                                                          \
  X(cuMemFree, cuMemFree_v2, (CUdeviceptr))                                                                                     \
  X(cuMemAllocManaged, cuMemAllocManaged, (CUdeviceptr*, size_t, unsigned))                                                     \
  X(cuMemHostAlloc, cuMemHostAlloc, (void**, size_t, unsigned))                                                                 \
  X(cuMemFreeHost, cuMemFreeHost, (void*))                                                                                      \
  X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (CUdeviceptr*, void*, unsigned))                                   \
  X(cuMemHostRegister, cuMemHostRegister_v2, (void*, size_t, unsigned))                                                         \
  X(cuMemHostUnregister, cuMemHostUnregister, (void*))                                                                          \
  X(cuPointerGetAttribute, cuPointerGetAttribute, (void*, int, CUdeviceptr))                                                    \
  X(cuMemcpyAsync, cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                                 \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void*, size_t, CUstream))                                      \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void*, CUdeviceptr, size_t, CUstream))                                            \
  X(cuMemcpyPeerAsync, cuMemcpyPeerAsync, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))                   \
  X(cuMemsetD8Async, cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                                           \
  X(cuMemsetD32Async, cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream))                                              \
  X(cuMemAddressReserve, cuMemAddressReserve, (CUdeviceptr*, size_t, size_t, CUdeviceptr, unsigned long long))                  \
  X(cuMemAddressFree, cuMemAddressFree, (CUdeviceptr, size_t))                                                                  \
  X(cuMemCreate, cuMemCreate, (CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*, unsigned long long))          \
  X(cuMemRelease, cuMemRelease, (CUmemGenericAllocationHandle))                                                                 \
  X(cuMemMap, cuMemMap, (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long))                        \
  X(cuMemUnmap, cuMemUnmap, (CUdeviceptr, size_t))                                                                              \
  X(cuMemSetAccess, cuMemSetAccess, (CUdeviceptr, size_t, const CUmemAccessDesc*, size_t))                                      \
  X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity, (size_t*, const CUmemAllocationProp*, int))                   \
  X(cuStreamCreateWithPriority, cuStreamCreateWithPriority, (CUstream*, unsigned, int))                                         \
  X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream))                                                                            \
  X(cuStreamSynchronize, cuStreamSynchronize, (CUstream))                                                                       \
  X(cuStreamQuery, cuStreamQuery, (CUstream))                                                                                   \
  X(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                                        \
  X(cuLaunchHostFunc, cuLaunchHostFunc, (CUstream, void (*)(void*), void*))                                                     \
  X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream, int))                                                             \
  X(cuStreamEndCapture, cuStreamEndCapture, (CUstream, CUgraph*))                                                               \
  X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int*))                                               \
  X(cuStreamIsCapturing, cuStreamIsCapturing, (CUstream, int*))                                                                 \
  X(cuEventCreate, cuEventCreate, (CUevent*, unsigned))                                                                         \
  X(cuEventRecord, cuEventRecord, (CUevent, CUstream))                                                                          \
  X(cuEventQuery, cuEventQuery, (CUevent))                                                                                      \
  X(cuEventSynchronize, cuEventSynchronize, (CUevent))                                                                          \
  X(cuEventDestroy, cuEventDestroy_v2, (CUevent))                                                                               \
  X(cuEventElapsedTime, cuEventElapsedTime, (float*, CUevent, CUevent))                                                         \
  X(cuGraphDestroy, cuGraphDestroy, (CUgraph))                                                                                  \
  X(cuGraphGetNodes, cuGraphGetNodes, (CUgraph, CUgraphNode*, size_t*))                                                         \
  X(cuGraphInstantiate, cuGraphInstantiateWithFlags, (CUgraphExec*, CUgraph, unsigned long long))                               \
  X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec))                                                                      \
  X(cuGraphUpload, cuGraphUpload, (CUgraphExec, CUstream))                                                                      \
  X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec, CUstream))

// Functions that older drivers lack; the pointer is null then. Not every toolkit's cuda.h declares the first ones.
#define BC_CUDA_DRIVER_UNDECLARED_API(X)                             \
  X(cuFuncGetParamCount, cuFuncGetParamCount, (CUfunction, size_t*)) \
  X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v2, (CUstream, int*, unsigned long long*, CUgraph*, const CUgraphNode**, size_t*))
#define BC_CUDA_DRIVER_OPTIONAL_API(X) \
  BC_CUDA_DRIVER_UNDECLARED_API(X)     \
  BC_CUDA_DRIVER_DECLARED_API(X)
#define BC_CUDA_DRIVER_DECLARED_API(X)                                                                                             \
  X(cuDeviceGetUuid, cuDeviceGetUuid_v2, (void*, CUdevice))                                                                        \
  X(cuMemAllocAsync, cuMemAllocAsync, (CUdeviceptr*, size_t, CUstream))                                                            \
  X(cuMemFreeAsync, cuMemFreeAsync, (CUdeviceptr, CUstream))                                                                       \
  X(cuDeviceGetMemPool, cuDeviceGetMemPool, (CUmemoryPool*, CUdevice))                                                             \
  X(cuMemPoolSetAccess, cuMemPoolSetAccess, (CUmemoryPool, const CUmemAccessDesc*, size_t))                                        \
  X(cuFuncGetParamInfo, cuFuncGetParamInfo, (CUfunction, size_t, size_t*, size_t*))                                                \
  X(cuFuncGetName, cuFuncGetName, (const char**, CUfunction))                                                                      \
  X(cuUserObjectCreate, cuUserObjectCreate, (CUuserObject*, void*, void (*)(void*), unsigned, unsigned))                           \
  X(cuGraphRetainUserObject, cuGraphRetainUserObject, (CUgraph, CUuserObject, unsigned, unsigned))                                 \
  X(cuModuleGetFunctionCount, cuModuleGetFunctionCount, (unsigned*, CUmodule))                                                     \
  X(cuModuleEnumerateFunctions, cuModuleEnumerateFunctions, (CUfunction*, unsigned, CUmodule))                                     \
  X(cuLaunchKernelEx, cuLaunchKernelEx, (const CUlaunchConfig*, CUfunction, void**, void**))                                       \
  X(cuArray3DCreate, cuArray3DCreate_v2, (CUarray*, const CUDA_ARRAY3D_DESCRIPTOR*))                                               \
  X(cuArrayDestroy, cuArrayDestroy, (CUarray))                                                                                     \
  X(cuMemcpy3DAsync, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D*, CUstream))                                                         \
  X(cuTexObjectCreate, cuTexObjectCreate, (unsigned long long*, const CUDA_RESOURCE_DESC*, const CUDA_TEXTURE_DESC*, const void*)) \
  X(cuTexObjectDestroy, cuTexObjectDestroy, (unsigned long long))                                                                  \
  X(cuSurfObjectCreate, cuSurfObjectCreate, (unsigned long long*, const CUDA_RESOURCE_DESC*))                                      \
  X(cuSurfObjectDestroy, cuSurfObjectDestroy, (unsigned long long))

// ---- NVRTC --------------------------------------------------------------------------------------------------------------------------

using nvrtcResult = int;
using nvrtcProgram = struct NvrtcProgram*;

#define BC_NVRTC_API(X)                                                                                                             \
  X(nvrtcVersion, nvrtcVersion, (int*, int*))                                                                                       \
  X(nvrtcGetNumSupportedArchs, nvrtcGetNumSupportedArchs, (int*))                                                                   \
  X(nvrtcGetSupportedArchs, nvrtcGetSupportedArchs, (int*))                                                                         \
  X(nvrtcCreateProgram, nvrtcCreateProgram, (nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(nvrtcDestroyProgram, nvrtcDestroyProgram, (nvrtcProgram*))                                                                      \
  X(nvrtcCompileProgram, nvrtcCompileProgram, (nvrtcProgram, int, const char* const*))                                              \
  X(nvrtcGetPTXSize, nvrtcGetPTXSize, (nvrtcProgram, size_t*))                                                                      \
  X(nvrtcGetPTX, nvrtcGetPTX, (nvrtcProgram, char*))                                                                                \
  X(nvrtcGetCUBINSize, nvrtcGetCUBINSize, (nvrtcProgram, size_t*))                                                                  \
  X(nvrtcGetCUBIN, nvrtcGetCUBIN, (nvrtcProgram, char*))                                                                            \
  X(nvrtcGetProgramLogSize, nvrtcGetProgramLogSize, (nvrtcProgram, size_t*))                                                        \
  X(nvrtcGetProgramLog, nvrtcGetProgramLog, (nvrtcProgram, char*))                                                                  \
  X(nvrtcAddNameExpression, nvrtcAddNameExpression, (nvrtcProgram, const char*))                                                    \
  X(nvrtcGetLoweredName, nvrtcGetLoweredName, (nvrtcProgram, const char*, const char**))

// ---- cuBLASLt -----------------------------------------------------------------------------------------------------------------------

using cublasStatus = int;
using cublasLtHandle = struct CublasLtContext*;
using cublasLtMatmulDesc = struct CublasLtMatmulDesc*;
using cublasLtMatrixLayout = struct CublasLtMatrixLayout*;
using cublasLtMatmulPreference = struct CublasLtMatmulPreference*;

struct cublasLtMatmulAlgo {
  uint64_t data[8];
};

struct cublasLtMatmulHeuristicResult {
  cublasLtMatmulAlgo algo;
  size_t workspaceSize;
  cublasStatus state;
  float wavesCount;
  int reserved[4];
};

inline constexpr int kBlasOpN = 0;  // cublasOperation_t
inline constexpr int kBlasOpT = 1;
inline constexpr int kBlasCompute32F = 68;  // cublasComputeType_t
inline constexpr int kBlasCompute64F = 70;
inline constexpr int kCudaR32F = 0;  // cudaDataType_t
inline constexpr int kCudaR64F = 1;
inline constexpr int kCudaR16F = 2;
inline constexpr int kCudaC32F = 4;
inline constexpr int kCudaC64F = 5;
inline constexpr int kCudaR16BF = 14;
inline constexpr int kLtDescTransA = 3;  // cublasLtMatmulDescAttributes_t
inline constexpr int kLtDescTransB = 4;
inline constexpr int kLtLayoutBatchCount = 5;  // cublasLtMatrixLayoutAttribute_t
inline constexpr int kLtLayoutBatchOffset = 6;
inline constexpr int kLtPreferenceWorkspaceBytes = 1;  // cublasLtMatmulPreferenceAttributes_t
inline constexpr int kLtPreferenceAlignmentA = 5;
inline constexpr int kLtPreferenceAlignmentB = 6;
inline constexpr int kLtPreferenceAlignmentC = 7;
inline constexpr int kLtPreferenceAlignmentD = 8;

#define BC_CUBLASLT_API(X)                                                                                                               \
  X(cublasLtCreate, cublasLtCreate, (cublasLtHandle*))                                                                                   \
  X(cublasLtMatmulDescCreate, cublasLtMatmulDescCreate, (cublasLtMatmulDesc*, int, int))                                                 \
  X(cublasLtMatmulDescDestroy, cublasLtMatmulDescDestroy, (cublasLtMatmulDesc))                                                          \
  X(cublasLtMatmulDescSetAttribute, cublasLtMatmulDescSetAttribute, (cublasLtMatmulDesc, int, const void*, size_t))                      \
  X(cublasLtMatrixLayoutCreate, cublasLtMatrixLayoutCreate, (cublasLtMatrixLayout*, int, uint64_t, uint64_t, int64_t))                   \
  X(cublasLtMatrixLayoutDestroy, cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout))                                                    \
  X(cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayoutSetAttribute, (cublasLtMatrixLayout, int, const void*, size_t))                \
  X(cublasLtMatmulPreferenceCreate, cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference*))                                         \
  X(cublasLtMatmulPreferenceDestroy, cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference))                                        \
  X(cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceSetAttribute, (cublasLtMatmulPreference, int, const void*, size_t))    \
  X(cublasLtMatmulAlgoGetHeuristic, cublasLtMatmulAlgoGetHeuristic,                                                                      \
    (cublasLtHandle, cublasLtMatmulDesc, cublasLtMatrixLayout, cublasLtMatrixLayout, cublasLtMatrixLayout, cublasLtMatrixLayout,         \
     cublasLtMatmulPreference, int, cublasLtMatmulHeuristicResult*, int*))                                                               \
  X(cublasLtMatmul, cublasLtMatmul,                                                                                                      \
    (cublasLtHandle, cublasLtMatmulDesc, const void*, const void*, cublasLtMatrixLayout, const void*, cublasLtMatrixLayout, const void*, \
     const void*, cublasLtMatrixLayout, void*, cublasLtMatrixLayout, const cublasLtMatmulAlgo*, void*, size_t, CUstream))

// ---- cuFFT --------------------------------------------------------------------------------------------------------------------------

using cufftHandle = int;
inline constexpr int kFftC2C = 0x29, kFftR2C = 0x2a, kFftC2R = 0x2c, kFftZ2Z = 0x69, kFftD2Z = 0x6a, kFftZ2D = 0x6c;
inline constexpr int kFftForward = -1, kFftInverse = 1;

#define BC_CUFFT_API(X)                                                                                                          \
  X(cufftCreate, cufftCreate, (cufftHandle*))                                                                                    \
  X(cufftDestroy, cufftDestroy, (cufftHandle))                                                                                   \
  X(cufftSetAutoAllocation, cufftSetAutoAllocation, (cufftHandle, int))                                                          \
  X(cufftMakePlanMany64, cufftMakePlanMany64,                                                                                    \
    (cufftHandle, int, long long*, long long*, long long, long long, long long*, long long, long long, int, long long, size_t*)) \
  X(cufftSetStream, cufftSetStream, (cufftHandle, CUstream))                                                                     \
  X(cufftSetWorkArea, cufftSetWorkArea, (cufftHandle, void*))                                                                    \
  X(cufftExecC2C, cufftExecC2C, (cufftHandle, void*, void*, int))                                                                \
  X(cufftExecR2C, cufftExecR2C, (cufftHandle, void*, void*))                                                                     \
  X(cufftExecC2R, cufftExecC2R, (cufftHandle, void*, void*))                                                                     \
  X(cufftExecZ2Z, cufftExecZ2Z, (cufftHandle, void*, void*, int))                                                                \
  X(cufftExecD2Z, cufftExecD2Z, (cufftHandle, void*, void*))                                                                     \
  X(cufftExecZ2D, cufftExecZ2D, (cufftHandle, void*, void*))

// ---- The tables ---------------------------------------------------------------------------------------------------------------------

#define BC_CUDA_POINTER(member, symbol, parameters) LibraryFunction<int parameters> member;

/// The driver's functions; null until driver_loaded() has returned true.
struct DriverApi {
  BC_CUDA_DRIVER_API(BC_CUDA_POINTER)
  BC_CUDA_DRIVER_OPTIONAL_API(BC_CUDA_POINTER)
};

struct NvrtcApi {
  BC_NVRTC_API(BC_CUDA_POINTER)
  const char* (*nvrtcGetErrorString)(nvrtcResult) = nullptr;
};

struct CublasLtApi {
  BC_CUBLASLT_API(BC_CUDA_POINTER)
  size_t (*cublasLtGetVersion)() = nullptr;
  const char* (*cublasLtGetStatusString)(cublasStatus) = nullptr;
};

struct CufftApi {
  BC_CUFFT_API(BC_CUDA_POINTER)
};

#undef BC_CUDA_POINTER

}  // namespace bc::cuda
