# ruff: noqa
"""Written by scripts/stubs.py from the tables of the package."""

from types import ModuleType as _ModuleType

from ._jit import Dim3 as _Dim3, Intrinsic as _Intrinsic
from . import (
    memory_hooks as memory_hooks,
    nvtx as nvtx,
    profiler as profiler,
    random as random,
    runtime as runtime,
    texture as texture,
)
from .._device import config as config
from .._jit import literal_unroll as literal_unroll
from .._raw_kernels import Function as Function, Module as Module
from .._records import RecordArray as RecordArray
from .._types import (
    complex128 as complex128,
    complex64 as complex64,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int8 as int8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
)
from ..types import (
    b1 as b1,
    bool_ as bool_,
    boolean as boolean,
    byte as byte,
    c16 as c16,
    c8 as c8,
    char as char,
    double as double,
    f4 as f4,
    f8 as f8,
    i1 as i1,
    i2 as i2,
    i4 as i4,
    i8 as i8,
    int_ as int_,
    intc as intc,
    intp as intp,
    long_ as long_,
    longlong as longlong,
    none as none,
    short as short,
    size_t as size_t,
    ssize_t as ssize_t,
    u1 as u1,
    u2 as u2,
    u4 as u4,
    u8 as u8,
    uchar as uchar,
    uint as uint,
    uintc as uintc,
    uintp as uintp,
    ulong as ulong,
    ulonglong as ulonglong,
    ushort as ushort,
    void as void,
)
from ._arguments import In as In, InOut as InOut, Out as Out
from ._check import CheckError as CheckError, CheckIndexError as CheckIndexError
from ._compile import (
    compile as compile,
    compile_all as compile_all,
    compile_for_current_device as compile_for_current_device,
    compile_ptx as compile_ptx,
    compile_ptx_for_current_device as compile_ptx_for_current_device,
)
from ._device import (
    Device as Device,
    MemoryInfo as MemoryInfo,
    close as close,
    cuda_error as cuda_error,
    current_context as current_context,
    defer_cleanup as defer_cleanup,
    detect as detect,
    get_cuda_path as get_cuda_path,
    get_current_device as get_current_device,
    get_device_id as get_device_id,
    get_hipcc_path as get_hipcc_path,
    get_local_runtime_version as get_local_runtime_version,
    get_nvcc_path as get_nvcc_path,
    get_rocm_path as get_rocm_path,
    gpus as gpus,
    is_available as is_available,
    is_bfloat16_supported as is_bfloat16_supported,
    is_float16_supported as is_float16_supported,
    is_fp8_supported as is_fp8_supported,
    is_supported_version as is_supported_version,
    list_devices as list_devices,
    require_context as require_context,
    select_device as select_device,
    synchronize as synchronize,
)
from ._event import (
    Event as Event,
    event as event,
    event_elapsed_time as event_elapsed_time,
    get_elapsed_time as get_elapsed_time,
)
from ._graph import Graph as Graph
from ._jit import jit as jit
from ._link import (
    Archive as Archive,
    CUSource as CUSource,
    Cubin as Cubin,
    Fatbin as Fatbin,
    LTOIR as LTOIR,
    LinkableCode as LinkableCode,
    Object as Object,
    PTXSource as PTXSource,
    declare_device as declare_device,
    ffi as ffi,
)
from ._managers import (
    BaseCUDAMemoryManager as BaseCUDAMemoryManager,
    GetIpcHandleMixin as GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager as HostOnlyCUDAMemoryManager,
)
from ._memory import (
    BaseMemory as BaseMemory,
    CFunctionAllocator as CFunctionAllocator,
    IpcHandle as IpcHandle,
    IpcMemoryHandle as IpcMemoryHandle,
    ManagedMemory as ManagedMemory,
    MappedMemory as MappedMemory,
    Memory as Memory,
    MemoryAsync as MemoryAsync,
    MemoryAsyncPool as MemoryAsyncPool,
    MemoryHook as MemoryHook,
    MemoryPointer as MemoryPointer,
    MemoryPool as MemoryPool,
    PinnedMemory as PinnedMemory,
    PinnedMemoryPointer as PinnedMemoryPointer,
    PinnedMemoryPool as PinnedMemoryPool,
    PythonFunctionAllocator as PythonFunctionAllocator,
    UnownedMemory as UnownedMemory,
    alloc as alloc,
    alloc_pinned_memory as alloc_pinned_memory,
    as_cuda_array as as_cuda_array,
    device_array as device_array,
    device_array_like as device_array_like,
    from_cuda_array_interface as from_cuda_array_interface,
    get_allocator as get_allocator,
    is_cuda_array as is_cuda_array,
    malloc_async as malloc_async,
    malloc_managed as malloc_managed,
    managed_array as managed_array,
    mapped as mapped,
    mapped_array as mapped_array,
    mapped_array_like as mapped_array_like,
    open_ipc_array as open_ipc_array,
    pinned as pinned,
    pinned_array as pinned_array,
    pinned_array_like as pinned_array_like,
    prepare_shape_strides_dtype as prepare_shape_strides_dtype,
    set_allocator as set_allocator,
    set_memory_manager as set_memory_manager,
    set_pinned_memory_allocator as set_pinned_memory_allocator,
    to_device as to_device,
    use_rmm_allocator as use_rmm_allocator,
    use_torch_allocator as use_torch_allocator,
    using_allocator as using_allocator,
)
from ._numba import (
    CudaSupportError as CudaSupportError,
    Dim3 as Dim3,
    GridGroup as GridGroup,
    KernelRuntimeError as KernelRuntimeError,
    bfloat16 as bfloat16,
    bool as bool,
    deferred_type as deferred_type,
    dim3 as dim3,
    ffi_forced_object as ffi_forced_object,
    grid_group as grid_group,
    guvectorize as guvectorize,
    optional as optional,
    vectorize as vectorize,
)
from ._reduce import Reduce as Reduce, reduce as reduce
from ._stream import (
    ExternalStream as ExternalStream,
    Stream as Stream,
    default_stream as default_stream,
    external_stream as external_stream,
    get_current_stream as get_current_stream,
    legacy_default_stream as legacy_default_stream,
    per_thread_default_stream as per_thread_default_stream,
    stream as stream,
)
from .profiler import (
    profile as profile,
    profile_start as profile_start,
    profile_stop as profile_stop,
    profiling as profiling,
)

bf16: _ModuleType
compiler: _ModuleType
core: _ModuleType
cudadrv: _ModuleType
device: _ModuleType
devicearray: _ModuleType
driver: _ModuleType
errors: _ModuleType
extending: _ModuleType
function: _ModuleType
graph: _ModuleType
memory: _ModuleType
memory_hook: _ModuleType
pinned_memory: _ModuleType
types: _ModuleType
vector_types: _ModuleType
activemask: _Intrinsic
all_sync: _Intrinsic
any_sync: _Intrinsic
atomic: _Intrinsic
ballot_sync: _Intrinsic
blockDim: _Dim3
blockIdx: _Dim3
brev: _Intrinsic
cbrt: _Intrinsic
cg: _Intrinsic
char1: _Intrinsic
char2: _Intrinsic
char3: _Intrinsic
char4: _Intrinsic
clz: _Intrinsic
const: _Intrinsic
double1: _Intrinsic
double2: _Intrinsic
double3: _Intrinsic
double4: _Intrinsic
eq_sync: _Intrinsic
ffs: _Intrinsic
float1: _Intrinsic
float2: _Intrinsic
float3: _Intrinsic
float32x1: _Intrinsic
float32x2: _Intrinsic
float32x3: _Intrinsic
float32x4: _Intrinsic
float4: _Intrinsic
float64x1: _Intrinsic
float64x2: _Intrinsic
float64x3: _Intrinsic
float64x4: _Intrinsic
fma: _Intrinsic
fp16: _Intrinsic
grid: _Intrinsic
gridDim: _Dim3
gridsize: _Intrinsic
int1: _Intrinsic
int16x1: _Intrinsic
int16x2: _Intrinsic
int16x3: _Intrinsic
int16x4: _Intrinsic
int2: _Intrinsic
int3: _Intrinsic
int32x1: _Intrinsic
int32x2: _Intrinsic
int32x3: _Intrinsic
int32x4: _Intrinsic
int4: _Intrinsic
int64x1: _Intrinsic
int64x2: _Intrinsic
int64x3: _Intrinsic
int64x4: _Intrinsic
int8x1: _Intrinsic
int8x2: _Intrinsic
int8x3: _Intrinsic
int8x4: _Intrinsic
laneid: int
lanemask_lt: _Intrinsic
ldca: _Intrinsic
ldcg: _Intrinsic
ldcs: _Intrinsic
ldcv: _Intrinsic
ldlu: _Intrinsic
libdevice: _Intrinsic
local: _Intrinsic
long1: _Intrinsic
long2: _Intrinsic
long3: _Intrinsic
long4: _Intrinsic
longlong1: _Intrinsic
longlong2: _Intrinsic
longlong3: _Intrinsic
longlong4: _Intrinsic
match_all_sync: _Intrinsic
match_any_sync: _Intrinsic
nanosleep: _Intrinsic
popc: _Intrinsic
rsqrt: _Intrinsic
selp: _Intrinsic
shared: _Intrinsic
shfl_down_sync: _Intrinsic
shfl_sync: _Intrinsic
shfl_up_sync: _Intrinsic
shfl_xor_sync: _Intrinsic
short1: _Intrinsic
short2: _Intrinsic
short3: _Intrinsic
short4: _Intrinsic
stcg: _Intrinsic
stcs: _Intrinsic
stwb: _Intrinsic
stwt: _Intrinsic
syncthreads: _Intrinsic
syncthreads_and: _Intrinsic
syncthreads_count: _Intrinsic
syncthreads_or: _Intrinsic
syncwarp: _Intrinsic
threadIdx: _Dim3
threadfence: _Intrinsic
threadfence_block: _Intrinsic
threadfence_system: _Intrinsic
uchar1: _Intrinsic
uchar2: _Intrinsic
uchar3: _Intrinsic
uchar4: _Intrinsic
uint1: _Intrinsic
uint16x1: _Intrinsic
uint16x2: _Intrinsic
uint16x3: _Intrinsic
uint16x4: _Intrinsic
uint2: _Intrinsic
uint3: _Intrinsic
uint32x1: _Intrinsic
uint32x2: _Intrinsic
uint32x3: _Intrinsic
uint32x4: _Intrinsic
uint4: _Intrinsic
uint64x1: _Intrinsic
uint64x2: _Intrinsic
uint64x3: _Intrinsic
uint64x4: _Intrinsic
uint8x1: _Intrinsic
uint8x2: _Intrinsic
uint8x3: _Intrinsic
uint8x4: _Intrinsic
ulong1: _Intrinsic
ulong2: _Intrinsic
ulong3: _Intrinsic
ulong4: _Intrinsic
ulonglong1: _Intrinsic
ulonglong2: _Intrinsic
ulonglong3: _Intrinsic
ulonglong4: _Intrinsic
ushort1: _Intrinsic
ushort2: _Intrinsic
ushort3: _Intrinsic
ushort4: _Intrinsic
warpsize: int

__all__ = [
    "Archive",
    "BaseCUDAMemoryManager",
    "BaseMemory",
    "CFunctionAllocator",
    "CUSource",
    "CheckError",
    "CheckIndexError",
    "Cubin",
    "CudaSupportError",
    "Device",
    "Dim3",
    "Event",
    "ExternalStream",
    "Fatbin",
    "Function",
    "GetIpcHandleMixin",
    "Graph",
    "GridGroup",
    "HostOnlyCUDAMemoryManager",
    "In",
    "InOut",
    "IpcHandle",
    "IpcMemoryHandle",
    "KernelRuntimeError",
    "LTOIR",
    "LinkableCode",
    "ManagedMemory",
    "MappedMemory",
    "Memory",
    "MemoryAsync",
    "MemoryAsyncPool",
    "MemoryHook",
    "MemoryInfo",
    "MemoryPointer",
    "MemoryPool",
    "Module",
    "Object",
    "Out",
    "PTXSource",
    "PinnedMemory",
    "PinnedMemoryPointer",
    "PinnedMemoryPool",
    "PythonFunctionAllocator",
    "RecordArray",
    "Reduce",
    "Stream",
    "UnownedMemory",
    "activemask",
    "all_sync",
    "alloc",
    "alloc_pinned_memory",
    "any_sync",
    "as_cuda_array",
    "atomic",
    "b1",
    "ballot_sync",
    "bf16",
    "bfloat16",
    "blockDim",
    "blockIdx",
    "bool",
    "bool_",
    "boolean",
    "brev",
    "byte",
    "c16",
    "c8",
    "cbrt",
    "cg",
    "char",
    "char1",
    "char2",
    "char3",
    "char4",
    "close",
    "clz",
    "compile",
    "compile_all",
    "compile_for_current_device",
    "compile_ptx",
    "compile_ptx_for_current_device",
    "compiler",
    "complex128",
    "complex64",
    "config",
    "const",
    "core",
    "cuda_error",
    "cudadrv",
    "current_context",
    "declare_device",
    "default_stream",
    "defer_cleanup",
    "deferred_type",
    "detect",
    "device",
    "device_array",
    "device_array_like",
    "devicearray",
    "dim3",
    "double",
    "double1",
    "double2",
    "double3",
    "double4",
    "driver",
    "eq_sync",
    "errors",
    "event",
    "event_elapsed_time",
    "extending",
    "external_stream",
    "f4",
    "f8",
    "ffi",
    "ffi_forced_object",
    "ffs",
    "float1",
    "float16",
    "float2",
    "float3",
    "float32",
    "float32x1",
    "float32x2",
    "float32x3",
    "float32x4",
    "float4",
    "float64",
    "float64x1",
    "float64x2",
    "float64x3",
    "float64x4",
    "fma",
    "fp16",
    "from_cuda_array_interface",
    "function",
    "get_allocator",
    "get_cuda_path",
    "get_current_device",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "get_hipcc_path",
    "get_local_runtime_version",
    "get_nvcc_path",
    "get_rocm_path",
    "gpus",
    "graph",
    "grid",
    "gridDim",
    "grid_group",
    "gridsize",
    "guvectorize",
    "i1",
    "i2",
    "i4",
    "i8",
    "int1",
    "int16",
    "int16x1",
    "int16x2",
    "int16x3",
    "int16x4",
    "int2",
    "int3",
    "int32",
    "int32x1",
    "int32x2",
    "int32x3",
    "int32x4",
    "int4",
    "int64",
    "int64x1",
    "int64x2",
    "int64x3",
    "int64x4",
    "int8",
    "int8x1",
    "int8x2",
    "int8x3",
    "int8x4",
    "int_",
    "intc",
    "intp",
    "is_available",
    "is_bfloat16_supported",
    "is_cuda_array",
    "is_float16_supported",
    "is_fp8_supported",
    "is_supported_version",
    "jit",
    "laneid",
    "lanemask_lt",
    "ldca",
    "ldcg",
    "ldcs",
    "ldcv",
    "ldlu",
    "legacy_default_stream",
    "libdevice",
    "list_devices",
    "literal_unroll",
    "local",
    "long1",
    "long2",
    "long3",
    "long4",
    "long_",
    "longlong",
    "longlong1",
    "longlong2",
    "longlong3",
    "longlong4",
    "malloc_async",
    "malloc_managed",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "match_all_sync",
    "match_any_sync",
    "memory",
    "memory_hook",
    "memory_hooks",
    "nanosleep",
    "none",
    "nvtx",
    "open_ipc_array",
    "optional",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "pinned_memory",
    "popc",
    "prepare_shape_strides_dtype",
    "profile",
    "profile_start",
    "profile_stop",
    "profiler",
    "profiling",
    "random",
    "reduce",
    "require_context",
    "rsqrt",
    "runtime",
    "select_device",
    "selp",
    "set_allocator",
    "set_memory_manager",
    "set_pinned_memory_allocator",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "short",
    "short1",
    "short2",
    "short3",
    "short4",
    "size_t",
    "ssize_t",
    "stcg",
    "stcs",
    "stream",
    "stwb",
    "stwt",
    "synchronize",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "texture",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "to_device",
    "types",
    "u1",
    "u2",
    "u4",
    "u8",
    "uchar",
    "uchar1",
    "uchar2",
    "uchar3",
    "uchar4",
    "uint",
    "uint1",
    "uint16",
    "uint16x1",
    "uint16x2",
    "uint16x3",
    "uint16x4",
    "uint2",
    "uint3",
    "uint32",
    "uint32x1",
    "uint32x2",
    "uint32x3",
    "uint32x4",
    "uint4",
    "uint64",
    "uint64x1",
    "uint64x2",
    "uint64x3",
    "uint64x4",
    "uint8",
    "uint8x1",
    "uint8x2",
    "uint8x3",
    "uint8x4",
    "uintc",
    "uintp",
    "ulong",
    "ulong1",
    "ulong2",
    "ulong3",
    "ulong4",
    "ulonglong",
    "ulonglong1",
    "ulonglong2",
    "ulonglong3",
    "ulonglong4",
    "use_rmm_allocator",
    "use_torch_allocator",
    "ushort",
    "ushort1",
    "ushort2",
    "ushort3",
    "ushort4",
    "using_allocator",
    "vector_types",
    "vectorize",
    "void",
    "warpsize",
]
