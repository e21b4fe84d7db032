"""Kernels written in Python, and control of the device: Numba-CUDA's kernel language beside CuPy's device objects.

Every name works on every device: without a GPU, kernels, streams and events run on the CPU. Nothing here is loaded before it is used.

Examples
--------
>>> from broadcloth import cuda
>>> with cuda.Stream() as stream:
...     a = bc.arange(4) * 2
>>> stream.synchronize()
>>> a
array([0, 2, 4, 6])
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from .._broadcloth import keep_compiled_texts as _keep_compiled_texts

# The modules of this package and the names that programs find in them here.
_TABLE: dict[str, str] = {
    "_device": """
        Device MemoryInfo close cuda_error current_context defer_cleanup detect gpus get_current_device get_device_id
        get_cuda_path get_hipcc_path get_local_runtime_version get_nvcc_path get_rocm_path is_available is_bfloat16_supported
        is_float16_supported is_fp8_supported is_supported_version list_devices require_context select_device synchronize
    """,
    "_stream": """
        ExternalStream Stream default_stream external_stream get_current_stream legacy_default_stream per_thread_default_stream stream
    """,
    "_event": "Event event event_elapsed_time get_elapsed_time",
    "_memory": """
        BaseMemory CFunctionAllocator IpcHandle IpcMemoryHandle ManagedMemory MappedMemory Memory MemoryAsync MemoryAsyncPool MemoryHook
        MemoryPointer MemoryPool PinnedMemory PinnedMemoryPointer PinnedMemoryPool PythonFunctionAllocator UnownedMemory alloc
        alloc_pinned_memory as_cuda_array device_array device_array_like from_cuda_array_interface get_allocator is_cuda_array
        malloc_async malloc_managed managed_array mapped mapped_array mapped_array_like open_ipc_array pinned pinned_array
        pinned_array_like prepare_shape_strides_dtype set_allocator set_memory_manager set_pinned_memory_allocator to_device
        use_rmm_allocator use_torch_allocator using_allocator
    """,
    "_graph": "Graph",
    "_managers": "BaseCUDAMemoryManager GetIpcHandleMixin HostOnlyCUDAMemoryManager",
    "_arguments": "In InOut Out",
    "_compile": "compile compile_all compile_for_current_device compile_ptx compile_ptx_for_current_device",
    "profiler": "profile profile_start profile_stop profiling",
    "_reduce": "Reduce reduce",
    "_jit": """
        atomic blockDim blockIdx cg const
        fp16 grid gridDim gridsize jit laneid libdevice local nanosleep selp shared syncthreads syncthreads_and
        syncthreads_count syncthreads_or syncwarp threadIdx threadfence threadfence_block threadfence_system warpsize
        all_sync any_sync ballot_sync eq_sync activemask lanemask_lt match_all_sync match_any_sync shfl_down_sync shfl_sync
        shfl_up_sync shfl_xor_sync brev cbrt clz ffs fma popc rsqrt
        ldca ldcg ldcs ldcv ldlu stcg stcs stwb stwt
    """,
    "_link": "Archive CUSource Cubin Fatbin LTOIR LinkableCode Object PTXSource declare_device ffi",
    "_numba": """
        CudaSupportError Dim3 GridGroup KernelRuntimeError bfloat16 bool deferred_type dim3 ffi_forced_object grid_group guvectorize
        optional vectorize
    """,
    "_check": "CheckError CheckIndexError",
}
_NAMES: dict[str, str] = {name: module for module, names in _TABLE.items() for name in names.split()}
# CUDA's vectors: cuda.float32x4, cuda.uint3.
_NAMES.update(
    {
        f"{base}{cross}{n}": "_jit"
        for bases, cross in (
            ("int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64", "x"),
            ("char short int long longlong uchar ushort uint ulong ulonglong float double", ""),
        )
        for base in bases.split()
        for n in range(1, 5)
    }
)
# Modules that are names of their own: cuda.runtime, cuda.nvtx, cuda.profiler.
_MODULES = ("memory_hooks", "nvtx", "profiler", "random", "runtime", "texture")
# Modules of CuPy's and Numba's whose names are all in this one.
_ALIASES = (
    "bf16", "compiler", "core", "cudadrv", "device", "devicearray", "driver", "errors", "extending", "function", "graph", "memory",
    "memory_hook", "pinned_memory", "types", "vector_types",
)  # fmt: skip
# Names that live elsewhere in the package.
_OTHERS: dict[str, str] = {
    "broadcloth._raw_kernels": "Function Module",
    "broadcloth._guvectorize": "guvectorize",
    "broadcloth._vectorize": "vectorize",
    "broadcloth._device": "config",
    "broadcloth._records": "RecordArray",
    "broadcloth._jit": "literal_unroll",
    "broadcloth.types": """
        b1 bool_ boolean byte c16 c8 char double f4 f8 i1 i2 i4 i8 int_ intc intp long_ longlong none short size_t ssize_t u1 u2 u4
        u8 uchar uint uintc uintp ulong ulonglong ushort void
    """,
    "broadcloth._types": "bfloat16 complex64 complex128 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64",
}
_ELSEWHERE: dict[str, str] = {name: module for module, names in _OTHERS.items() for name in names.split()}


# Functions that the program makes from now on may become kernels.
_keep_compiled_texts()

# `import broadcloth.cuda.memory` finds them as well.
from . import _aliases as _aliases_made  # noqa: E402, F401


def __getattr__(name: str) -> _Any:
    if name in _MODULES or name in _ALIASES:
        return _import_module(f"{__name__}.{name}")
    module = f"{__name__}.{_NAMES[name]}" if name in _NAMES else _ELSEWHERE.get(name)
    if module is not None:
        try:
            value = getattr(_import_module(module), name)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*(n for n in globals() if not n.startswith("_") and n != "annotations"), *_NAMES, *_ELSEWHERE, *_MODULES, *_ALIASES})
