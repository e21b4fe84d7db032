# ruff: noqa
"""The C extension under broadcloth. `python/broadcloth/*.py` gives it NumPy's face; programs use that, not this module.

Conventions
  ArrayLike   ndarray, NumPy array or scalar, Python scalar, nested lists, and objects with DLPack or the CUDA array interface.
              Python scalars are weak (NEP 50) where an op mixes them with arrays.
  DTypeLike   what numpy.dtype accepts for a supported type, and `bfloat16`, `float8_e4m3fn`, `float8_e5m2` (the objects or the strings).
  Axis        None, an int or a tuple of ints.
  device=     None (the default device), "cpu", "cuda", "cuda:1", "null", or a `device`.
Full reductions and single elements are 0-d arrays, never scalars; `item()` and `float()` look at the value.
"""

import builtins
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Generic, Literal, NamedTuple, Never, Self, SupportsIndex, final, overload

import numpy
import numpy as _np
from typing_extensions import TypeVar

from .typing import ArrayLike, AxisLike, Casting, DeviceLike, DTypeLike, IndexLike, Order, ShapeLike

_ShapeT = TypeVar("_ShapeT", default=Any)
_DTypeT = TypeVar("_DTypeT", default=Any)
_ArrayT = TypeVar("_ArrayT", bound="ndarray")

__version__: str
ufuncs: dict[str, ufunc]
"""Every elementwise row by its NumPy name (add, absolute, conjugate, bitwise_count, …, divmod, modf, frexp), and those that NumPy spells
as functions: clip (3 inputs), where (3 inputs), real, imag, angle, sinc, i0, isposinf, isneginf."""
reductions: tuple[str, ...]
"""Names that `reduce` takes: sum prod mean var std max min fmax fmin argmax argmin any all count_nonzero …"""
dtype_names: tuple[str, ...]
bfloat16: Any
"""A dtype-like singleton (`name`, `itemsize`, `kind`, `dtype`); compares equal to 'bfloat16' and to ml_dtypes' type and dtype."""
float8_e4m3fn: Any
float8_e5m2: Any
"""As bfloat16, for 8-bit floats, which compute in float32."""

class UFuncTypeError(TypeError): ...

class StreamBase:
    """What `broadcloth.cuda.Stream` is built on."""

    ptr: int
    cuda_stream: int
    device: device
    device_id: int
    external: bool
    done: bool
    priority: int
    non_blocking: bool
    _kind: str
    def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def __cuda_stream__(self) -> tuple[int, int]: ...
    def use(self) -> Self: ...
    def synchronize(self) -> None: ...
    def is_capturing(self) -> bool: ...
    def _wait_event(self, event: EventBase) -> None: ...
    def _launch_host(self, function: Any, arguments: tuple[Any, ...]) -> None: ...
    def _begin_capture(self) -> None: ...
    def _end_capture(self) -> Graph: ...

class EventBase:
    """What `broadcloth.cuda.Event` is built on."""

    done: bool
    ptr: int
    device: device
    def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...
    def synchronize(self) -> None: ...
    def elapsed_time(self, end: EventBase, /) -> float: ...
    def _record(self, stream: Any) -> None: ...
    def _take(self, handle: int) -> None: ...

@final
class Graph:
    """Work that was captured from a stream, to be queued again by one call."""

    node_count: int
    def launch(self, stream: Any = None, /) -> None: ...
    def upload(self, stream: Any = None, /) -> None: ...

@final
class device:
    """A device: `device("cuda:0")`. Equal to its string, hashable as it; `with device("cpu"):` makes it the default in this thread."""

    def __new__(cls, spec: device | str | None = None, /) -> device: ...
    type: str
    index: int
    id: int
    def __enter__(self) -> device: ...
    def __exit__(self, kind: builtins.type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None: ...
    def synchronize(self) -> None: ...

@final
class MemoryPointer:
    """`ndarray.data`: reading `ptr` runs what waits and exposes the memory from then on (as CuPy's)."""

    ptr: int
    device: device
    nbytes: int
    def __int__(self) -> int: ...
    def __add__(self, offset: int, /) -> Any: ...
    def __sub__(self, offset: int, /) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

@final
class flagsobj:
    c_contiguous: bool
    f_contiguous: bool
    contiguous: bool
    fortran: bool
    fnc: bool
    forc: bool
    owndata: bool
    writeable: bool
    aligned: bool
    behaved: bool
    carray: bool
    farray: bool
    writebackifcopy: bool
    num: int
    def __getitem__(self, key: str, /) -> bool: ...

@final
class flatiter:
    base: ndarray
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> ndarray: ...
    def __setitem__(self, key: Any, value: ArrayLike, /) -> None: ...
    def __iter__(self) -> Iterator[ndarray]: ...
    def copy(self) -> ndarray: ...

@final
class GradFunction:
    def name(self) -> str: ...
    next_functions: tuple[tuple[GradFunction | None, int], ...]

class RemovableHandle:
    def remove(self) -> None: ...

class ndarray(Generic[_ShapeT, _DTypeT]):
    """An array; called, `ndarray(shape, dtype=float64)` makes one whose elements are not set, with CuPy's or NumPy's other arguments."""

    def __new__(
        cls,
        shape: ShapeLike,
        dtype: DTypeLike = ...,
        memptr: Any = None,
        strides: Sequence[int] | int | None = None,
        order: Order | Sequence[int] = "C",
        *more: Any,
        device: DeviceLike = None,
        buffer: Any = None,
        offset: int = 0,
    ) -> Self: ...
    __array_priority__: float
    dtype: _np.dtype[Any]  # settable, as a view
    shape: tuple[int, ...]  # settable, as a reshape without a copy
    strides: tuple[int, ...]
    ndim: int
    size: int
    itemsize: int
    nbytes: int
    flags: flagsobj
    base: ndarray | None
    T: ndarray
    mT: ndarray
    real: ndarray  # settable
    imag: ndarray  # settable
    flat: flatiter  # settable
    device: device
    data: MemoryPointer
    gpudata: MemoryPointer  # PyCUDA's name
    __cuda_array_interface__: dict[str, Any]  # AttributeError on the CPU
    requires_grad: bool  # settable
    grad: ndarray | None  # settable
    is_leaf: bool
    grad_fn: GradFunction | None
    def requires_grad_(self, requires_grad: bool = True) -> ndarray: ...
    def backward(
        self,
        gradient: ArrayLike | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: ndarray | Sequence[ndarray] | None = None,
    ) -> None: ...
    def detach(self) -> ndarray: ...
    def retain_grad(self) -> None: ...
    def register_hook(self, hook: Callable[[ndarray], ndarray | None]) -> RemovableHandle: ...
    __array_interface__: dict[str, Any]  # AttributeError but on the CPU
    ctypes: Any  # AttributeError but on the CPU

    def item(self, *index: SupportsIndex | tuple[SupportsIndex, ...]) -> Any: ...
    def as_integer_ratio(self) -> tuple[int, int]: ...
    def is_integer(self) -> bool: ...
    def byteswap(self, inplace: bool = False) -> ndarray: ...
    def tolist(self) -> Any: ...
    def tobytes(self, order: Order = "C") -> bytes: ...
    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None: ...
    def dump(self, file: Any) -> None: ...
    def dumps(self) -> bytes: ...
    def setflags(self, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None: ...
    def astype(
        self,
        dtype: DTypeLike,
        order: Order = "K",
        casting: Casting = "unsafe",
        subok: bool = True,
        copy: bool = True,
        *,
        device: DeviceLike = None,
    ) -> ndarray: ...
    def copy(self, order: Order = "C") -> ndarray: ...
    @overload
    def view(self, dtype: type[_ArrayT], type: None = None) -> _ArrayT: ...
    @overload
    def view(self, dtype: DTypeLike = ..., *, type: type[_ArrayT]) -> _ArrayT: ...
    @overload
    def view(self, dtype: DTypeLike = ..., type: None = None) -> ndarray: ...
    def reshape(self, *shape: ShapeLike, order: Order = "C", copy: bool | None = None) -> ndarray: ...
    def resize(self, *shape: ShapeLike, refcheck: bool = True) -> None: ...
    def ravel(self, order: Order = "C") -> ndarray: ...
    def flatten(self, order: Order = "C") -> ndarray: ...
    def transpose(self, *axes: ShapeLike | None) -> ndarray: ...
    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex, /) -> ndarray: ...
    def squeeze(self, axis: AxisLike = None) -> ndarray: ...
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray: ...
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray: ...
    def sum(
        self,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = ...,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def prod(
        self,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: ndarray | None = None,
        keepdims: bool = False,
        initial: Any = ...,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def max(
        self, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False, initial: Any = ..., where: ArrayLike = True
    ) -> ndarray: ...
    def min(
        self, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False, initial: Any = ..., where: ArrayLike = True
    ) -> ndarray: ...
    def ptp(self, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
    def mean(
        self, axis: AxisLike = None, dtype: DTypeLike = None, out: ndarray | None = None, keepdims: bool = False, *, where: ArrayLike = True
    ) -> ndarray: ...
    def std(
        self,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: ndarray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        mean: Any = ...,
        correction: float = ...,
    ) -> ndarray: ...
    def var(
        self,
        axis: AxisLike = None,
        dtype: DTypeLike = None,
        out: ndarray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        mean: Any = ...,
        correction: float = ...,
    ) -> ndarray: ...
    def any(self, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False, *, where: ArrayLike = True) -> ndarray: ...
    def all(self, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False, *, where: ArrayLike = True) -> ndarray: ...
    def argmax(self, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray: ...
    def argmin(self, axis: int | None = None, out: ndarray | None = None, *, keepdims: bool = False) -> ndarray: ...
    def cumsum(self, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray: ...
    def cumprod(self, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray: ...
    def clip(
        self,
        min: ArrayLike | None = None,
        max: ArrayLike | None = None,
        out: ndarray | None = None,
        *,
        dtype: DTypeLike = None,
        casting: Casting = "same_kind",
        where: ArrayLike = True,
    ) -> ndarray: ...
    def round(self, decimals: SupportsIndex = 0, out: ndarray | None = None) -> ndarray: ...
    def conj(self, out: ndarray | None = None, /) -> ndarray: ...
    def conjugate(self, out: ndarray | None = None, /) -> ndarray: ...
    def dot(self, b: ArrayLike, out: ndarray | None = None) -> ndarray: ...
    def fill(self, value: ArrayLike) -> None: ...
    def take(self, indices: ArrayLike, axis: int | None = None, out: ndarray | None = None, mode: str = "raise") -> ndarray: ...
    def put(self, indices: ArrayLike, values: ArrayLike, mode: str = "raise") -> None: ...
    def getfield(self, dtype: DTypeLike, offset: int = 0) -> ndarray: ...
    def setfield(self, val: ArrayLike, dtype: DTypeLike, offset: int = 0) -> None: ...
    def scatter_add(self, slices: Any, value: ArrayLike) -> None: ...
    def scatter_max(self, slices: Any, value: ArrayLike) -> None: ...
    def scatter_min(self, slices: Any, value: ArrayLike) -> None: ...
    def repeat(self, repeats: ArrayLike, axis: int | None = None) -> ndarray: ...
    def nonzero(self) -> tuple[ndarray, ...]: ...
    # These look up the function of the same name in the package and call it with the array first (sort and its kin are not there yet).
    def choose(self, choices: Sequence[ArrayLike] | ndarray, out: ndarray | None = None, mode: str = "raise") -> ndarray: ...
    def compress(self, condition: ArrayLike, axis: int | None = None, out: ndarray | None = None) -> ndarray: ...
    def get(
        self, stream: Any = None, order: Order = "C", out: _np.ndarray[Any, Any] | None = None, blocking: bool = True
    ) -> _np.ndarray[Any, Any]: ...
    def numpy(self) -> _np.ndarray[Any, Any]: ...
    def set(self, value: ArrayLike, stream: Any = None) -> None: ...
    def to_device(self, device: DeviceLike, /, *, stream: Any = None) -> ndarray: ...
    def to(self, target: Any = None, /, *, dtype: DTypeLike = None, device: DeviceLike = None, copy: bool = False) -> ndarray: ...
    def cpu(self) -> ndarray: ...
    def cuda(self) -> ndarray: ...
    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> _np.ndarray[Any, Any]: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    def __array_function__(self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls `broadcloth._dispatch.array_function(func, types, args, kwargs)`."""
    def __array_finalize__(self, obj: Any, /) -> None:
        """Called for each new array of a subclass, with the array that it comes of or None; ndarray's own does nothing."""
    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False, /) -> Any:
        """What a ufunc gave, as an array of this one's class."""
    def __setstate__(self, state: tuple[Any, ...], /) -> None: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The package `broadcloth`."""
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def toDlpack(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __copy__(self) -> ndarray: ...
    def __sizeof__(self) -> int: ...
    def __deepcopy__(self, memo: Any, /) -> ndarray: ...
    def __dask_tokenize__(self) -> Any: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __format__(self, spec: str, /) -> str: ...
    def __getitem__(self, key: IndexLike, /) -> ndarray: ...
    def __setitem__(self, key: IndexLike, value: ArrayLike, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[ndarray]: ...
    def __contains__(self, value: Any, /) -> bool: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int: ...
    @overload
    def __round__(self, ndigits: None = None) -> int: ...
    @overload
    def __round__(self, ndigits: SupportsIndex) -> ndarray: ...
    def __trunc__(self) -> int: ...
    def __add__(self, other: ArrayLike, /) -> ndarray: ...
    def __radd__(self, other: ArrayLike, /) -> ndarray: ...
    def __iadd__(self, other: ArrayLike, /) -> ndarray: ...
    def __sub__(self, other: ArrayLike, /) -> ndarray: ...
    def __rsub__(self, other: ArrayLike, /) -> ndarray: ...
    def __isub__(self, other: ArrayLike, /) -> ndarray: ...
    def __mul__(self, other: ArrayLike, /) -> ndarray: ...
    def __rmul__(self, other: ArrayLike, /) -> ndarray: ...
    def __imul__(self, other: ArrayLike, /) -> ndarray: ...
    def __truediv__(self, other: ArrayLike, /) -> ndarray: ...
    def __rtruediv__(self, other: ArrayLike, /) -> ndarray: ...
    def __itruediv__(self, other: ArrayLike, /) -> ndarray: ...
    def __floordiv__(self, other: ArrayLike, /) -> ndarray: ...
    def __rfloordiv__(self, other: ArrayLike, /) -> ndarray: ...
    def __ifloordiv__(self, other: ArrayLike, /) -> ndarray: ...
    def __mod__(self, other: ArrayLike, /) -> ndarray: ...
    def __rmod__(self, other: ArrayLike, /) -> ndarray: ...
    def __imod__(self, other: ArrayLike, /) -> ndarray: ...
    def __pow__(self, other: ArrayLike, mod: None = None, /) -> ndarray: ...
    def __rpow__(self, other: ArrayLike, mod: None = None, /) -> ndarray: ...
    def __ipow__(self, other: ArrayLike, /) -> ndarray: ...  # type: ignore[misc]
    def __matmul__(self, other: ArrayLike, /) -> ndarray: ...
    def __rmatmul__(self, other: ArrayLike, /) -> ndarray: ...
    def __imatmul__(self, other: ArrayLike, /) -> ndarray: ...
    def __lshift__(self, other: ArrayLike, /) -> ndarray: ...
    def __rlshift__(self, other: ArrayLike, /) -> ndarray: ...
    def __ilshift__(self, other: ArrayLike, /) -> ndarray: ...
    def __rshift__(self, other: ArrayLike, /) -> ndarray: ...
    def __rrshift__(self, other: ArrayLike, /) -> ndarray: ...
    def __irshift__(self, other: ArrayLike, /) -> ndarray: ...
    def __and__(self, other: ArrayLike, /) -> ndarray: ...
    def __rand__(self, other: ArrayLike, /) -> ndarray: ...
    def __iand__(self, other: ArrayLike, /) -> ndarray: ...
    def __or__(self, other: ArrayLike, /) -> ndarray: ...
    def __ror__(self, other: ArrayLike, /) -> ndarray: ...
    def __ior__(self, other: ArrayLike, /) -> ndarray: ...
    def __xor__(self, other: ArrayLike, /) -> ndarray: ...
    def __rxor__(self, other: ArrayLike, /) -> ndarray: ...
    def __ixor__(self, other: ArrayLike, /) -> ndarray: ...
    def __divmod__(self, other: ArrayLike, /) -> tuple[ndarray, ndarray]: ...
    def __rdivmod__(self, other: ArrayLike, /) -> tuple[ndarray, ndarray]: ...
    def __neg__(self) -> ndarray: ...
    def __pos__(self) -> ndarray: ...
    def __abs__(self) -> ndarray: ...
    def __invert__(self) -> ndarray: ...
    # The second forms are for protocols (max, sorted), which ask for a bool.
    @overload
    def __lt__(self, other: ArrayLike, /) -> ndarray: ...
    @overload
    def __lt__(self, other: Never, /) -> bool: ...  # type: ignore[overload-cannot-match]
    @overload
    def __le__(self, other: ArrayLike, /) -> ndarray: ...
    @overload
    def __le__(self, other: Never, /) -> bool: ...  # type: ignore[overload-cannot-match]
    @overload
    def __gt__(self, other: ArrayLike, /) -> ndarray: ...
    @overload
    def __gt__(self, other: Never, /) -> bool: ...  # type: ignore[overload-cannot-match]
    @overload
    def __ge__(self, other: ArrayLike, /) -> ndarray: ...
    @overload
    def __ge__(self, other: Never, /) -> bool: ...  # type: ignore[overload-cannot-match]
    def __eq__(self, other: object, /) -> ndarray: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> ndarray: ...  # type: ignore[override]
    def __hash__(self) -> int: ...

@final
class ElementwiseKernel:
    """An operation in CUDA C++ for every element; see broadcloth.ElementwiseKernel."""

    name: str
    nin: int
    nout: int
    nargs: int
    in_params: tuple[str, ...]
    out_params: tuple[str, ...]
    params: tuple[str, ...]
    operation: str
    preamble: str
    reduce_dims: bool
    no_return: bool
    return_tuple: bool
    cached_code: str
    cached_codes: dict[str, str]
    def __new__(
        cls,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        loop_prep: str = "",
        after_loop: str = "",
        options: Sequence[str] = (),
    ) -> Self: ...
    def __call__(self, *args: Any, size: Any = None, block_size: int = 128, stream: Any = None) -> Any: ...

@final
class ReductionKernel:
    """A reduction in CUDA C++; see broadcloth.ReductionKernel."""

    name: str
    nin: int
    nout: int
    nargs: int
    in_params: tuple[str, ...]
    out_params: tuple[str, ...]
    params: tuple[str, ...]
    identity: str | None
    map_expr: str
    reduce_expr: str
    post_map_expr: str
    reduce_type: str
    reduce_dims: bool
    preamble: str
    options: tuple[str, ...]
    cached_code: str
    cached_codes: dict[str, str]
    def __new__(
        cls,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> Self: ...
    def __call__(self, *args: Any, axis: Any = None, out: Any = None, keepdims: bool = False, stream: Any = None) -> Any: ...

@final
class ScanKernel:
    """A running join along an axis; see broadcloth.cuda.pycuda.scan."""

    def __new__(
        cls, dtype: Any, expression: str, neutral: Any = None, exclusive: bool = False, name: str = "scan", preamble: str = ""
    ) -> Self: ...
    def __call__(self, a: Any, axis: int = 0) -> ndarray: ...

@final
class RawKernel:
    """A kernel written in CUDA C++; see broadcloth.RawKernel."""

    code: str | None
    name: str
    options: tuple[str, ...]
    backend: str
    file_path: None
    enable_cooperative_groups: bool
    kernel: RawKernel
    attributes: dict[str, int]
    parameter_bytes: tuple[int, ...] | None
    max_threads_per_block: int
    shared_size_bytes: int
    const_size_bytes: int
    local_size_bytes: int
    num_regs: int
    ptx_version: int
    binary_version: int
    cache_mode_ca: int
    max_dynamic_shared_size_bytes: int
    preferred_shared_memory_carveout: int

    def __new__(
        cls,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        *,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> RawKernel: ...
    def __call__(
        self,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        args: tuple[Any, ...] | list[Any],
        shared_mem: int = 0,
        stream: Any = None,
        enable_cooperative_groups: bool | None = None,
        cluster: int | tuple[int, ...] | None = None,
    ) -> None: ...
    def linear_launch(
        self, size: int, args: tuple[Any, ...] | list[Any], shared_mem: int = 0, block_max_size: int = 128, stream: Any = None
    ) -> None: ...
    def compile(self, log_stream: Any = None) -> None: ...
    def max_active_blocks(self, block_threads: int, shared_mem: int = 0) -> int: ...
    def best_block(self, shared_mem: int = 0) -> tuple[int, int]: ...

class KernelProgram:
    """A program in CUDA C++ on all the devices that it was used on."""

    def kernel(self, name: str, cooperative: bool = False) -> RawKernel: ...
    def variable(self, name: str, device: device | str | None = None) -> tuple[int, int]: ...
    def compile(self, device: device | str | None = None) -> str: ...

class KernelForm:
    """A Python kernel compiled for one device and one set of argument types."""

    device: device
    max_threads_per_block: int
    shared_mem_per_block: int
    const_mem_size: int
    local_mem_per_thread: int
    regs_per_thread: int
    binary_version: int

    def best_block(self, shared_mem: int, /) -> tuple[int, int]: ...
    def max_active_blocks(self, block_threads: int, shared_mem: int = 0, /) -> int: ...

class KernelArgument:
    """A host array with the ways that it is copied for a launch."""

class KernelLauncher:
    """A Python kernel with its grid, block, stream and shared memory: what the brackets give."""

    grid: tuple[int, int, int]
    griddim: tuple[int, int, int]
    block: tuple[int, int, int]
    blockdim: tuple[int, int, int]
    sharedmem: int
    cluster: tuple[int, int, int]
    cooperative: bool
    ntasks: int
    stream: Any
    dispatcher: KernelDispatcher

    def __call__(self, *args: Any, **kwargs: Any) -> None: ...

class KernelDispatcher:
    """From a Python kernel's call to its launch; asks `compile(arguments, device)` for a form when it sees new types."""

    def __init__(self, compile: Callable[..., KernelForm], names: Sequence[str] = (), defaults: Sequence[Any] = ()) -> None: ...
    def __getitem__(self, configuration: tuple[Any, ...], /) -> KernelLauncher: ...
    def forall(self, ntasks: int, tpb: int = 0, stream: Any = None, sharedmem: int = 0) -> KernelLauncher: ...
    def configure(
        self, griddim: Any, blockdim: Any, stream: Any = None, sharedmem: int = 0, cluster: Any = None, cooperative: bool = False
    ) -> KernelLauncher: ...
    def forms(self) -> list[KernelForm]: ...

class ufunc:
    """An elementwise function, as numpy.ufunc."""

    __name__: str
    __qualname__: str
    __doc__: str | None  # settable
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    signature: str | None
    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting = "same_kind",
        order: Order = "K",
        subok: bool = True,
        signature: Any = None,
        device: DeviceLike = None,
    ) -> Any: ...
    def reduce(
        self,
        array: ArrayLike,
        axis: AxisLike = 0,
        dtype: DTypeLike = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = ...,
        where: ArrayLike = True,
    ) -> ndarray: ...
    def accumulate(self, array: ArrayLike, axis: int | tuple[int] | None = 0, dtype: DTypeLike = None, out: Any = None) -> ndarray: ...
    def reduceat(
        self, array: ArrayLike, indices: ArrayLike, axis: int | tuple[int] | None = 0, dtype: DTypeLike = None, out: Any = None
    ) -> ndarray: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /, **kwargs: Any) -> ndarray: ...
    def at(self, a: ndarray, indices: Any, b: ArrayLike = ..., /) -> None: ...
    def resolve_dtypes(
        self, dtypes: tuple[Any, ...], *, signature: Any = None, casting: Casting | None = None, reduction: bool = False
    ) -> tuple[Any, ...]: ...

# The ufuncs by their operands and results: what the run-time class takes is checked when it is called.

class _UnaryUfunc(ufunc):  # type: ignore[misc]
    def __call__(  # type: ignore[override]
        self,
        x: ArrayLike,
        /,
        out: ndarray | tuple[ndarray] | None = None,
        *,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting = "same_kind",
        order: Order = "K",
        subok: bool = True,
        signature: Any = None,
        device: DeviceLike = None,
    ) -> ndarray: ...

class _BinaryUfunc(ufunc):  # type: ignore[misc]
    def __call__(  # type: ignore[override]
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        /,
        out: ndarray | tuple[ndarray] | None = None,
        *,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting = "same_kind",
        order: Order = "K",
        subok: bool = True,
        signature: Any = None,
        device: DeviceLike = None,
    ) -> ndarray: ...

class _UnaryPairUfunc(ufunc):  # type: ignore[misc]
    def __call__(  # type: ignore[override]
        self,
        x: ArrayLike,
        out1: ndarray | None = None,
        out2: ndarray | None = None,
        /,
        *,
        out: tuple[ndarray | None, ndarray | None] = ...,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting = "same_kind",
        order: Order = "K",
        subok: bool = True,
        signature: Any = None,
        device: DeviceLike = None,
    ) -> tuple[ndarray, ndarray]: ...

class _BinaryPairUfunc(ufunc):  # type: ignore[misc]
    def __call__(  # type: ignore[override]
        self,
        x1: ArrayLike,
        x2: ArrayLike,
        out1: ndarray | None = None,
        out2: ndarray | None = None,
        /,
        *,
        out: tuple[ndarray | None, ndarray | None] = ...,
        where: ArrayLike = True,
        dtype: DTypeLike = None,
        casting: Casting = "same_kind",
        order: Order = "K",
        subok: bool = True,
        signature: Any = None,
        device: DeviceLike = None,
    ) -> tuple[ndarray, ndarray]: ...

def result_type(*arrays_and_dtypes: Any) -> Any:
    """NumPy's result_type with arrays of broadcloth, dtypes and weak Python scalars."""

@overload
def where(condition: ArrayLike, /) -> tuple[ndarray, ...]: ...
@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> ndarray: ...

def broadcast_arrays(*arrays: ArrayLike, subok: bool = False) -> tuple[ndarray, ...]: ...
def broadcast_shapes(*shapes: ShapeLike) -> tuple[int, ...]: ...

def set_config(**options: Any) -> None: ...

@final
class KernelRecord(NamedTuple):
    name: str
    device: str
    elements: int
    bytes: int  # read and written
    time: float  # seconds
    line: int  # of the program, 0 when not known
    file: str
    start: float  # seconds, as time.perf_counter

@final
class CopyRecord(NamedTuple):
    kind: str
    device: str
    bytes: int
    time: float  # seconds
    line: int  # of the program, 0 when not known
    file: str
    start: float  # seconds, as time.perf_counter

@final
class program_function:
    """A function of broadcloth under NumPy's name, with NumPy's function in reserve; see `broadcloth.run`."""

    numpy_function: Callable[..., Any]
    of_lists: bool
    __wrapped__: Callable[..., Any]
    def __new__(cls, ours: Callable[..., Any], theirs: Callable[..., Any], /) -> program_function: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _implementation(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...

@final
class draw_method:
    """A method of a random generator: NumPy's own where a call with numbers draws few, else the Python function."""

    __wrapped__: Callable[..., Any]
    def __new__(cls, python: Callable[..., Any], numpys: Callable[..., Any], place: int, /) -> draw_method: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...

@final
class class_hook:
    """Stands in the place of `builtins.__build_class__`; see `broadcloth.run`."""

    original: Callable[..., Any]
    def __new__(cls, original: Callable[..., Any], prepare: Callable[[type], None], /) -> class_hook: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class import_hook:
    """Stands in the place of `__import__`; see `broadcloth.run`."""

    original: Callable[..., Any]
    def __new__(cls, original: Callable[..., Any], find: Callable[..., Any], /) -> import_hook: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class WaitRecord(NamedTuple):
    what: str
    hidden: bool
    device: str
    times: int
    bytes: int
    time: float  # seconds
    line: int  # of the program, 0 when not known
    file: str

@final
class recorder:
    """What runs between `start` and `stop` (or in a with block)."""

    kernels: list[KernelRecord]
    copies: list[CopyRecord]
    seconds: float
    def __new__(cls) -> recorder: ...
    def start(self) -> recorder: ...
    def stop(self) -> recorder: ...
    def clear(self) -> None: ...
    def __enter__(self) -> recorder: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /) -> None: ...

@final
class CpuDispatcher:
    """A Python function that is compiled for the types of its arguments; see `broadcloth.jit`."""

    py_func: Callable[..., Any]
    signatures: list[tuple[str, ...]]
    nopython_signatures: list[tuple[str, ...]]
    def __new__(
        cls,
        function: Callable[..., Any],
        names: tuple[str, ...],
        defaults: tuple[Any, ...] | None,
        *,
        nogil: bool = ...,
        parallel: bool = ...,
        fastmath: int = ...,
        boundscheck: bool = ...,
        python_errors: bool = ...,
        cache: bool = ...,
        rest: bool = ...,
    ) -> CpuDispatcher: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def _compile(self, signature: Any, /) -> str: ...
    def _close(self, on: bool, /) -> None: ...
    def _overloads(self) -> list[tuple[tuple[str, ...], str, str, float, bool]]: ...
    def _inspect(self, overload: int, stage: Literal["ir", "asm"], /) -> str: ...
    def _forget(self) -> None: ...

class Container:
    """What `typed.List`, `typed.Dict` and jitclasses are: an object of compiled code."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...
    def _adopt(self, other: Container, /) -> None: ...
    @property
    def _type(self) -> str | None: ...

class Generator:
    """The values of a compiled function that yields."""

    def __iter__(self) -> Generator: ...
    def __next__(self) -> Any: ...

def _jit_threads() -> int: ...
def _jit_set_threads(threads: int) -> None: ...
def _jit_thread_id() -> int: ...
def _loop(
    function: Any, signature: Any, cores: tuple[tuple[int, ...], ...] | None, parallel: bool, fastmath: bool, /
) -> tuple[Any, str]: ...
def _numpy_ufunc(
    loops: tuple[Any, ...], inputs: int, outputs: int, identity: Any, name: str, doc: str, layout: str | None, /
) -> _np.ufunc: ...
def _raise_failed() -> None: ...
def _result_type(function: Any, signature: Any, /) -> str: ...
def _loop_text(loop: Any, /) -> str: ...
def _user_op(function: Any, signature: Any, fastmath: bool, /) -> tuple[Any, _np.dtype[Any]]: ...
def _apply_user_op(op: Any, operands: tuple[Any, ...], out: Any, where: Any, device: Any, /) -> ndarray: ...

# Written by scripts/stubs.py from the signatures of src/bind.

def _generalised_ufunc(name: str, function: Any, signature: str) -> Any: ...
def _pcg_streams() -> str:
    """The text of src/device/random/pcg_streams.h."""

def _placement() -> tuple[int, device | None]:
    """The size that _set_placement() was given, or 0, and the accelerator, when it was worth to be opened."""

def _rebuild(data: Any, dtype_name: str, shape: ShapeLike, order: Order) -> ndarray: ...
def _set_placement(elements: int, accelerator: DeviceLike = None, patience: int = 0) -> None:
    """Arrays of so many elements and more lie on the accelerator, smaller ones in host memory; 0: all on the default device. The accelerator is opened when ops over large arrays have taken the host `patience` ns."""

def _shutdown() -> None: ...
def _ufunc(name: Any) -> Any: ...
def allclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool: ...
def angle(z: ArrayLike, deg: bool = False) -> ndarray: ...
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> ndarray: ...
def arange(
    start: ArrayLike = ...,
    stop: ArrayLike | None = None,
    step: ArrayLike = 1,
    dtype: DTypeLike = None,
    *,
    like: Any = None,
    device: DeviceLike = None,
) -> ndarray:
    """Numbers from `start` up to, but without, `stop`."""

def argpartition(a: ArrayLike, kth: AxisLike, axis: int | None = -1) -> ndarray: ...
def argsort(a: ArrayLike, axis: int | None = -1, descending: bool = False) -> ndarray: ...
def argwhere(a: ArrayLike) -> ndarray: ...
def array(
    object: ArrayLike,
    dtype: DTypeLike = None,
    *,
    copy: bool | None = True,
    order: Order = 'K',
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 64,
    like: Any = None,
    device: DeviceLike = None,
    blocking: bool = False,
) -> ndarray:
    """An array from numbers, nested sequences, or other arrays."""

def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> bool: ...
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool: ...
def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[ndarray]: ...
def as_result(a: ArrayLike, like: Any = None) -> Any: ...
def as_strided(x: ndarray, shape: ShapeLike, strides: ShapeLike, offset: int = 0) -> ndarray:
    """A view with any shape and strides (in bytes) inside the array's memory."""

def asanyarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = None,
    *,
    copy: bool | None = None,
    like: Any = None,
    device: DeviceLike = None,
    blocking: bool = False,
) -> ndarray:
    """The value as an array, as `asarray` gives it, but an array of a subclass of ndarray is given back itself."""

def asarray(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = None,
    *,
    copy: bool | None = None,
    like: Any = None,
    device: DeviceLike = None,
    blocking: bool = False,
) -> ndarray:
    """The value as an array; an array that fits is given back itself."""

def ascontiguousarray(a: ArrayLike, dtype: DTypeLike = None, *, like: Any = None) -> ndarray:
    """The array itself when its last axis lies closest in memory, else such a copy; at least 1-d."""

def asnumpy(
    a: ArrayLike,
    stream: Any = None,
    order: Order = 'C',
    out: numpy.ndarray[Any, Any] | None = None,
    *,
    blocking: bool = True,
) -> numpy.ndarray[Any, Any]:
    """The elements in an array of NumPy: computes what waits, and copies from the device."""

def atleast_1d(a: ArrayLike) -> ndarray: ...
def atleast_2d(a: ArrayLike) -> ndarray: ...
def atleast_3d(a: ArrayLike) -> ndarray: ...
def attach_function(
    name: str,
    outputs: Sequence[ndarray],
    inputs: Sequence[ndarray],
    callback: Callable[..., tuple[Any, ...]],
) -> tuple[ndarray, ...]: ...
def average(
    a: ArrayLike,
    axis: AxisLike = None,
    weights: ArrayLike | None = None,
    *,
    keepdims: bool = False,
) -> tuple[ndarray, ndarray]: ...
def begin_trace() -> int:
    """Follows ops for vmap from now on."""

def bincount_small(a: ArrayLike, weights: ArrayLike | None, least: int) -> ndarray | None:
    """The counts of few integers in host memory, or None."""

def broadcast_to(array: ArrayLike, shape: ShapeLike, subok: bool = False) -> ndarray:
    """The array as if its elements were repeated to fill a shape; a read-only view."""

def cache_clear(disk: bool = True) -> None: ...
def cache_export(path: str) -> int: ...
def cache_import(path: str, trust: bool = False) -> int: ...
def cache_pack(folder: str) -> None: ...
def cache_set_folder(path: str) -> None: ...
def cache_set_limit(bytes: int) -> None: ...
def cache_stats() -> dict[str, Any]: ...
def cache_wait() -> None: ...
def cache_write(folder: str, arch: str) -> int: ...
def cache_write_program(folder: str, arch: str, kernel: RawKernel) -> None: ...
def can_cast(from_: Any, to: DTypeLike, casting: Casting = 'safe') -> bool:
    """Tells whether a type casts to another under a rule."""

def choose(a: ArrayLike, choices: Sequence[ArrayLike] | ndarray, out: ndarray | None = None, mode: str = 'raise') -> ndarray: ...
def clip(
    a: ArrayLike,
    a_min: ArrayLike | None = ...,
    a_max: ArrayLike | None = ...,
    out: ndarray | None = None,
    *,
    min: ArrayLike | None = ...,
    max: ArrayLike | None = ...,
    dtype: DTypeLike = None,
    casting: Casting = 'same_kind',
    where: ArrayLike = True,
) -> ndarray:
    """The elements limited to [a_min, a_max]."""

def column_stack(tup: Sequence[ArrayLike] | ndarray) -> ndarray: ...
def compile_cuda(
    text: str,
    arch: str = 'sm_90',
    options: Sequence[str] | None = None,
    name_expressions: Sequence[str] | None = None,
    name: str = 'kernel.cu',
    compiler: str = 'nvrtc',
    device_library: bool = False,
    linked: bool = True,
    link: Any = None,
) -> tuple[bytes, tuple[str, ...], str]:
    """CUDA C++ compiled without a GPU: the binary, the mangled names of the name expressions, and the warnings."""

def compile_seconds() -> float: ...
def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: ndarray | None = None) -> ndarray: ...
def concatenate(
    arrays: Sequence[ArrayLike] | ndarray,
    axis: int | None = 0,
    out: ndarray | None = None,
    dtype: DTypeLike = None,
    casting: Casting = 'same_kind',
) -> ndarray:
    """Arrays joined along an axis that they have."""

def copyto(dst: ndarray, src: ArrayLike, casting: Casting = 'same_kind', where: ArrayLike = True) -> None:
    """Copies values into an array."""

def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True) -> ndarray: ...
def correlate_small(a: Any, v: Any, mode: Any, reversed: bool) -> ndarray | None:
    """numpy.correlate, or convolve, of few elements in host memory, or None."""

def count_places(places: ArrayLike, bins: int, weights: ArrayLike) -> ndarray: ...
def cov(m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None) -> ndarray: ...
def cross(a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1) -> ndarray: ...
def csgraph_bellman_ford(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    directed: bool,
    sources: ArrayLike,
) -> tuple[ndarray, ...]:
    """Distances and predecessors, () of a negative cycle."""

def csgraph_bipartite_matching(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, columns: int, by_columns: bool) -> ndarray:
    """The column matched to each row, or the row to each column; -1 where there is none."""

def csgraph_breadth_first(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    directed: bool,
    start: int,
) -> tuple[ndarray, ...]:
    """Nodes in order, and predecessors."""

def csgraph_components(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, strong: bool) -> ndarray:
    """The label of each node's component."""

def csgraph_dense(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, missing: float) -> ndarray:
    """The shortest edge between each two nodes."""

def csgraph_depth_first(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    directed: bool,
    start: int,
) -> tuple[ndarray, ...]:
    """Nodes in order, and predecessors."""

def csgraph_dijkstra(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    directed: bool,
    sources: ArrayLike,
    limit: float,
) -> tuple[ndarray, ...]:
    """Distances and predecessors, () of a negative cycle."""

def csgraph_floyd_warshall(lengths: ArrayLike) -> tuple[ndarray, ...]:
    """Distances and predecessors between all nodes, () of a negative cycle."""

def csgraph_johnson(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    directed: bool,
    sources: ArrayLike,
) -> tuple[ndarray, ...]:
    """Distances and predecessors, () of a negative cycle."""

def csgraph_maximum_flow(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, source: int, sink: int) -> ndarray:
    """The flow of each edge, then of each edge's reverse."""

def csgraph_nearest(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    directed: bool,
    sources: ArrayLike,
    limit: float,
) -> tuple[ndarray, ...]:
    """The same and nearest sources."""

def csgraph_path_lengths(lengths: ArrayLike, predecessors: ArrayLike, missing: float) -> ndarray:
    """The sums of lengths along paths."""

def csgraph_reverse_cuthill_mckee(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, directed: bool) -> ndarray:
    """A permutation with small bandwidth."""

def csgraph_spanning_forest(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike) -> ndarray:
    """The places of the edges of a minimum spanning forest."""

def csgraph_weighted_matching(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, columns: int) -> ndarray:
    """The column matched to each row for the least sum."""

def csgraph_yen(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    directed: bool,
    source: int,
    sink: int,
    count: int,
) -> tuple[ndarray, ...]:
    """Lengths and predecessors, () of a negative cycle."""

def cuda_attribute(index: int, number: int) -> Any: ...
def cuda_can_access_peer(index: int, peer: int) -> bool: ...
def cuda_context(index: int) -> int: ...
def cuda_enable_peer(index: int, peer: int) -> bool: ...
def cuda_enter(index: int) -> int: ...
def cuda_forget_peer(index: int, peer: int) -> None: ...
def cuda_leave(index: int, before: int) -> None: ...
def cuda_pointer_info(index: int, address: int) -> Any: ...
def cuda_properties(index: int) -> Any: ...
def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray: ...
def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray: ...
def current_stream(device: DeviceLike = None) -> Any: ...
def default_device() -> device:
    """The device of new arrays in this thread."""

def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> ndarray: ...
def device_count(kind: Literal['cpu', 'cuda', 'null'] = 'cuda') -> int:
    """How many devices of a kind there are."""

def device_info(device: DeviceLike = None) -> dict[str, Any]: ...
def device_library_for(text: str, more: str = '') -> Any: ...
def diag(v: ArrayLike, k: int = 0) -> ndarray: ...
def diagflat(v: ArrayLike, k: int = 0) -> ndarray: ...
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """The diagonals of the matrices in two axes; a read-only view whose last axis runs along them."""

def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None) -> ndarray: ...
def differs(a: ArrayLike) -> bool:
    """Whether the elements of an array differ between the examples of a vmap, so that the host cannot look."""

def direction(a: ArrayLike) -> int:
    """Whether a vector ascends (1), descends (-1), or neither (0)."""

def document(name: str, text: str, /) -> None:
    """Replaces the documentation of a function ('dot') or method ('ndarray.sum') of the extension, all but its signature."""

def dot(a: ArrayLike, b: ArrayLike, out: ndarray | None = None) -> ndarray:
    """The sum of products over the last axis of `a` and the last but one of `b`; with a 0-d operand the product."""

def draw_pcg(
    kind: Literal['uniform', 'integers', 'normal', 'exponential'],
    shape: ShapeLike,
    dtype: DTypeLike,
    dxsm: bool,
    state_high: int,
    state_low: int,
    increment_high: int,
    increment_low: int,
    has_half: bool,
    half: int,
    affine: bool = False,
    low: float = 0.0,
    scale: float = 1.0,
    first: int = 0,
    span: int = 0,
    one: int = 0,
    *,
    device: DeviceLike = None,
) -> tuple[ndarray, int, int, int, int]:
    """NumPy's numbers of a PCG64 or PCG64DXSM, and its next state."""

def dstack(tup: Sequence[ArrayLike] | ndarray) -> ndarray: ...
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> ndarray: ...
def einsum_one(a: ArrayLike, a_labels: AxisLike, labels: AxisLike, dtype: DTypeLike) -> ndarray:
    """Sums over the labels that are not in `labels`; a view where there are none."""

def einsum_two(a: ArrayLike, a_labels: AxisLike, b: ArrayLike, b_labels: AxisLike, labels: AxisLike, dtype: DTypeLike) -> ndarray:
    """Sums of products over the labels that are not in `labels`."""

def empty(
    shape: ShapeLike,
    dtype: DTypeLike = None,
    order: Order = 'C',
    *,
    like: Any = None,
    device: DeviceLike = None,
) -> ndarray:
    """An array whose elements are not set."""

def end_trace(trace: int) -> None: ...
def expand_dims(a: ArrayLike, axis: AxisLike) -> ndarray:
    """Axes of extent 1 put in; a view. `axis` says where they are in the result."""

def extract(condition: ArrayLike, arr: ArrayLike) -> ndarray: ...
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = None,
    order: Order = 'C',
    *,
    device: DeviceLike = None,
    like: Any = None,
) -> ndarray:
    """Ones on a diagonal, zeros elsewhere."""

def fft(
    a: ArrayLike,
    kind: int,
    lengths: AxisLike,
    axes: AxisLike,
    forward: bool,
    norm: int,
    out: ndarray | None = None,
) -> ndarray:
    """A transform by NumPy's rules; kind and norm are the numbers of FftKind and FftNorm."""

def fft_forget_plans(device: DeviceLike = None) -> None: ...
def fft_limit_plans(plans: int, bytes: int, device: DeviceLike = None) -> None: ...
def fft_plans(device: DeviceLike = None) -> tuple[int, int, int, int]:
    """(plans, bytes, most plans, most bytes) of what a device keeps for transforms."""

def fft_scipy(
    a: ArrayLike,
    kind: int,
    lengths: AxisLike,
    axes: AxisLike,
    forward: bool,
    norm: int,
    threads: int = 0,
    type: int = 2,
    orthogonal: bool | None = None,
    composed: bool = False,
) -> ndarray:
    """The same by SciPy's."""

def fill_diagonal(a: ArrayLike, val: ArrayLike, wrap: bool = False) -> None: ...
def flatnonzero(a: ArrayLike) -> ndarray: ...
def flip(m: ArrayLike, axis: AxisLike = None) -> ndarray:
    """The elements in reverse order along axes (all unless given); a view."""

def flush(device: DeviceLike = None) -> None:
    """Starts the computation of all that waits on a device, and does not wait for it."""

def forbid_hidden_waits(on: bool) -> None: ...
def forbid_waits(on: bool) -> bool: ...
def foreign_memory(ptr: int, bytes: int, owner: Any, device: DeviceLike = None) -> Any: ...
def from_dlpack(x: Any, /, *, device: DeviceLike = None, copy: bool | None = None) -> ndarray:
    """An array over the memory of another library's, by DLPack; nothing is copied unless `copy` or `device` ask for it."""

def frombuffer(
    buffer: Any,
    dtype: DTypeLike = ...,
    count: int = -1,
    offset: int = 0,
    *,
    like: Any = None,
    device: DeviceLike = None,
) -> ndarray:
    """A 1-d array of the values in an object with the buffer protocol: a copy, read-only where the buffer is."""

def full(
    shape: ShapeLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = 'C',
    *,
    like: Any = None,
    device: DeviceLike = None,
) -> ndarray:
    """An array of one value."""

def full_like(
    a: ArrayLike,
    fill_value: Any,
    dtype: DTypeLike = None,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
    order: Order = 'K',
    subok: bool = True,
) -> ndarray:
    """One value everywhere, with a's shape, dtype and device; None leaves the elements unset."""

def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> ndarray: ...
def get_config() -> dict[str, Any]: ...
def get_dtype(dtype: DTypeLike) -> Any:
    """The dtype object of a dtype, type or name."""

def gradient(f: ArrayLike, spacings: tuple[Any, ...], axis: AxisLike = None, edge_order: int = 1) -> tuple[ndarray, ...]: ...
def histogram_near(a: ArrayLike, edges: ArrayLike, low: float, high: float) -> ndarray | None:
    """Counts in bins of one width in host memory, or None."""

def host_allocate(kind: str, bytes: int, write_combined: bool = False) -> Any: ...
def host_register(buffer: Any) -> Any: ...
def hstack(tup: Sequence[ArrayLike] | ndarray, *, dtype: DTypeLike = None, casting: Casting = 'same_kind') -> ndarray: ...
def identity(n: int, dtype: DTypeLike = None, *, device: DeviceLike = None) -> ndarray: ...
def indices(
    dimensions: ShapeLike,
    dtype: DTypeLike = None,
    sparse: bool = False,
    *,
    device: DeviceLike = None,
) -> ndarray | tuple[ndarray, ...]: ...
def inner(a: ArrayLike, b: ArrayLike) -> ndarray: ...
def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> ndarray: ...
def interp_small(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: Any, right: Any) -> ndarray | None:
    """numpy.interp of few elements in host memory, or None."""

def iota(shape: ShapeLike, *, device: DeviceLike = None) -> ndarray:
    """The linear C-order index of each element."""

def is_grad_enabled() -> bool:
    """Whether this thread records ops for derivatives."""

def is_nat(x: ArrayLike) -> ndarray:
    """Where times are NaT."""

def is_numpys_subclass(value: Any, /) -> bool: ...
def is_pending(a: ndarray) -> bool: ...
def isclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> ndarray: ...
def iscomplex(x: ArrayLike) -> ndarray: ...
def isreal(x: ArrayLike) -> ndarray: ...
def kernel_argument(value: Any, copies_in: bool, copies_out: bool) -> KernelArgument: ...
def kernel_form(
    text: str,
    name: str,
    signature: str,
    writes: Sequence[bool] | None = None,
    device: DeviceLike = None,
) -> KernelForm: ...
def kernel_parameters(text: str, name: str, options: Sequence[str] | None = None) -> list[tuple[str, str]] | None: ...
def kernel_program(
    text: str | None,
    options: Sequence[str] | None = None,
    name_expressions: Sequence[str] | None = None,
    name: str = 'module.cu',
    headers: dict[str, str] | None = None,
    binary: bytes | None = None,
    compiler: str = 'nvrtc',
) -> KernelProgram: ...
def kron(a: ArrayLike, b: ArrayLike) -> ndarray: ...
def lexsort(keys: Sequence[ArrayLike] | ndarray, axis: int | None = -1) -> ndarray: ...
def library_status() -> list[dict[str, Any]]: ...
def linalg_balanced(a: ArrayLike, permuted: bool, scaled: bool) -> tuple[ndarray, ...]:
    """The balanced matrix, LAPACK's scale, and the part that is not isolated."""

def linalg_banded_eigh(diagonals: ArrayLike, lower: bool, vectors: bool) -> tuple[ndarray, ...]:
    """The eigenvalues, and eigenvectors; nothing where composed ops must make them."""

def linalg_bandwidth(a: ArrayLike) -> tuple[int, ...] | None:
    """How far elements that are not zero lie below and above the diagonal."""

def linalg_block_diagonal(blocks: Sequence[ArrayLike] | ndarray) -> ndarray | None:
    """Matrices on the diagonal of one of zeros."""

def linalg_cho_solve(factor: ArrayLike, b: ArrayLike, lower: bool = True) -> ndarray:
    """x of a x = b, from the Cholesky factor of a."""

def linalg_cho_solve_banded(factor: ArrayLike, b: ArrayLike, lower: bool) -> ndarray:
    """x of a x = b, by the diagonals of a's factor."""

def linalg_cholesky(a: ArrayLike, lower: bool = True) -> ndarray:
    """The triangular factors of positive definite matrices."""

def linalg_cholesky_banded(diagonals: ArrayLike, lower: bool) -> tuple[ndarray, ndarray]:
    """The diagonals of the factor, and 0 or a minor that is not positive."""

def linalg_cholesky_unchecked(a: ArrayLike, lower: bool = True) -> tuple[ndarray, ndarray]:
    """The factor, and 0 or the number of the first minor that is not positive."""

def linalg_complex_schur(t: ArrayLike, z: ArrayLike) -> tuple[ndarray, ndarray]:
    """T and Z of the complex Schur form, from the real one's."""

def linalg_constant_along(what: int, column: ArrayLike, row: ArrayLike | None = None) -> ndarray | None:
    """The matrix that is constant along diagonals (0), along antidiagonals (1), or along diagonals that go on at the other side (2)."""

def linalg_definite_eigh(a: ArrayLike, b: ArrayLike, lower: bool, vectors: bool) -> tuple[ndarray, ...]:
    """The eigenvalues, and eigenvectors, of a v = w b v, and LAPACK's info; nothing where composed ops must make them."""

def linalg_det(a: ArrayLike) -> ndarray:
    """The determinants of matrices."""

def linalg_eig(a: ArrayLike, vectors: bool, left: bool = False) -> tuple[ndarray, ...]:
    """The complex eigenvalues, and right and left eigenvectors."""

def linalg_eigh(a: ArrayLike, lower: bool, vectors: bool) -> tuple[ndarray, ...]:
    """The eigenvalues, and eigenvectors, of Hermitian matrices."""

def linalg_eigh_range(a: ArrayLike, lower: bool, vectors: bool, first: int, count: int) -> tuple[ndarray, ...]:
    """Some eigenvalues, and eigenvectors; nothing where all must be made."""

def linalg_eigh_tridiagonal(
    diagonal: ArrayLike,
    beside: ArrayLike,
    vectors: bool,
    first: int = 0,
    count: int = 0,
) -> tuple[ndarray, ...]:
    """The eigenvalues, and eigenvectors, of symmetric matrices."""

def linalg_expm(a: ArrayLike) -> list[ndarray]:
    """The exponentials of matrices; no array where composed ops must make them."""

def linalg_generalized_eig(a: ArrayLike, b: ArrayLike, vectors: bool, left: bool) -> tuple[ndarray, ...]:
    """Alpha and beta, and right and left eigenvectors."""

def linalg_hessenberg(a: ArrayLike) -> tuple[ndarray, ...]:
    """H and Q."""

def linalg_inv(a: ArrayLike, check: bool = True) -> ndarray:
    """The inverses of matrices; without the check those of singular ones are NaN."""

def linalg_is_finite(a: ArrayLike) -> bool | None:
    """Whether no element is NaN or infinite."""

def linalg_is_symmetric(a: ArrayLike, conjugate: bool) -> bool | None:
    """Whether a matrix is its transpose."""

def linalg_known_inverse(a: ArrayLike, lower: bool, definite: bool, general: bool = False) -> ndarray | None:
    """The inverses of triangles, or of positive definite matrices; None where composed ops must make them."""

def linalg_ldl(a: ArrayLike, lower: bool, hermitian: bool) -> tuple[ndarray, ...]:
    """What LAPACK leaves in the triangle, and its pivots."""

def linalg_lstsq(a: ArrayLike, b: ArrayLike, tolerance: float, pivoted: bool = False) -> tuple[ndarray, ...]:
    """x, sums of squares of the residuals, rank and singular values; pivoted: by a QR factorization with column exchanges, on the CPU, without singular values."""

def linalg_lstsq_by_qr(a: ArrayLike, b: ArrayLike, tolerance: float) -> tuple[ndarray, ...]:
    """x, sums of squares and singular values if the rank is full for sure, else nothing."""

def linalg_lu(a: ArrayLike) -> tuple[ndarray, ...]:
    """L and U in one matrix, int32 pivots, and for each matrix the number of its first pivot that is zero, or 0."""

def linalg_lu_parts(factors: ArrayLike, pivots: ArrayLike, how: int) -> tuple[ndarray, ...] | None:
    """P (a matrix: 0, places: 1, applied to L: 2), L and U."""

def linalg_lu_solve(lu: ArrayLike, pivots: ArrayLike, b: ArrayLike, trans: int = 0) -> ndarray:
    """x of op(a) x = b, from the factors of a."""

def linalg_over_subdiagonal(top: ArrayLike, below: ArrayLike | None = None) -> ndarray | None:
    """The matrix of a first row and of what, or ones, lie below the diagonal."""

def linalg_parlett(t: ArrayLike, values: ArrayLike) -> tuple[ndarray, ndarray]:
    """f(t) from its diagonal, and the least distance of two eigenvalues."""

def linalg_qr(a: ArrayLike, mode: str, pivoted: bool = False) -> tuple[ndarray, ...]:
    """Q and R; R; or LAPACK's reflectors, transposed, and their factors."""

def linalg_qr_changed(
    change: int,
    q: ArrayLike,
    r: ArrayLike,
    operands: Sequence[ArrayLike] | ndarray,
    k: int,
    count: int,
) -> tuple[ndarray, ...]:
    """Q and R of a changed matrix; nothing where composed ops must make them."""

def linalg_qz(a: ArrayLike, b: ArrayLike) -> tuple[ndarray, ...]:
    """AA, BB, Q, Z, alpha and beta."""

def linalg_qz_ordered(aa: ArrayLike, bb: ArrayLike, q: ArrayLike, z: ArrayLike, chosen: ArrayLike) -> tuple[ndarray, ...]:
    """The same with the chosen eigenvalues first."""

def linalg_schur(a: ArrayLike) -> tuple[ndarray, ...]:
    """T and Z."""

def linalg_schur_ordered(t: ArrayLike, z: ArrayLike, chosen: ArrayLike) -> tuple[ndarray, ...]:
    """The form with the chosen eigenvalues first."""

def linalg_slogdet(a: ArrayLike) -> tuple[ndarray, ndarray]:
    """The signs of determinants, and the logarithms of their absolute values."""

def linalg_solve(a: ArrayLike, b: ArrayLike) -> ndarray:
    """x of a x = b."""

def linalg_solve_banded(diagonals: ArrayLike, b: ArrayLike, below: int) -> ndarray:
    """x of a x = b, by the diagonals of a."""

def linalg_solve_toeplitz(values: ArrayLike, b: ArrayLike) -> tuple[ndarray, ndarray]:
    """x by Levinson's recursion, and 0, or 1 where another way must be taken."""

def linalg_solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    trans: int = 0,
    unit_diagonal: bool = False,
) -> ndarray:
    """x of op(a) x = b for a triangle of a."""

def linalg_solveh_banded(diagonals: ArrayLike, b: ArrayLike, lower: bool) -> ndarray:
    """x of a x = b, by the diagonals of a triangle of a positive definite a."""

def linalg_sqrtm(a: ArrayLike) -> tuple[ndarray, ...]:
    """The square roots, complex; whether their real part is all; of real matrices the real part; and 0 or a column without one."""

def linalg_svd(a: ArrayLike, vectors: int) -> tuple[ndarray, ...]:
    """U, the singular values and V^H; `vectors` 0: the values, 1: thin, 2: full matrices."""

def linalg_svd_by_eigh(a: ArrayLike, vectors: int) -> tuple[ndarray, ...]:
    """The same from eigenvectors in double precision, as GPUs have it."""

def linalg_sylvester(r: ArrayLike, s: ArrayLike, f: ArrayLike, adjoint: bool) -> ndarray:
    """x of r x + x s = f, of Schur forms r and s, or with the adjoint of s."""

def linalg_triangular_sqrt(t: ArrayLike) -> tuple[ndarray, ndarray]:
    """The square roots of upper triangular matrices, and 0 or a column without one."""

def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """num evenly spaced numbers from start to stop."""

def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> ndarray: ...
def make_pool(source: Any, cache: bool = True, free: Any = None) -> Any: ...
def matmul(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: ndarray | None = None,
    *,
    casting: Casting = 'same_kind',
    order: Order = 'K',
    dtype: DTypeLike = None,
    subok: bool = True,
    axes: list[Any] | None = None,
) -> ndarray:
    """The matrix product; matrices are the last two axes, the others broadcast."""

def matrix_transpose(x: ArrayLike, /) -> ndarray: ...
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> ndarray: ...
def meshgrid(
    arrays: Sequence[ArrayLike] | ndarray,
    indexing: str = 'xy',
    sparse: bool = False,
    copy: bool = True,
) -> tuple[ndarray, ...]: ...
def moveaxis(a: ArrayLike, source: AxisLike, destination: AxisLike) -> ndarray:
    """Axes moved to other places; a view. The others keep their order."""

def nan_to_num(x: ArrayLike, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None) -> ndarray: ...
def nanargmax(a: ArrayLike, axis: int | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
def nanargmin(a: ArrayLike, axis: int | None = None, keepdims: bool = False, out: ndarray | None = None) -> ndarray: ...
def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray: ...
def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray: ...
def nanmax(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = ...,
    where: ArrayLike = True,
    ddof: float = 0,
) -> ndarray: ...
def nanmean(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = ...,
    where: ArrayLike = True,
    ddof: float = 0,
) -> ndarray: ...
def nanmin(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = ...,
    where: ArrayLike = True,
    ddof: float = 0,
) -> ndarray: ...
def nanprod(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = ...,
    where: ArrayLike = True,
    ddof: float = 0,
) -> ndarray: ...
def nanstd(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = ...,
    where: ArrayLike = True,
    ddof: float = 0,
) -> ndarray: ...
def nansum(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = ...,
    where: ArrayLike = True,
    ddof: float = 0,
) -> ndarray: ...
def nanvar(
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = ...,
    where: ArrayLike = True,
    ddof: float = 0,
) -> ndarray: ...
def nonzero(a: ArrayLike) -> tuple[ndarray, ...]:
    """The indices of the elements that are not zero, one array for each axis. Their number is looked at."""

def norm(x: ArrayLike, ord: float | str | None = None, axis: AxisLike = None, keepdims: bool = False) -> ndarray: ...
def notice(a: ArrayLike, message: str) -> None:
    """Warns with the message when a NaN of the array is first read on the host."""

def null_copies() -> list[tuple[str, int]]: ...
def null_log() -> list[dict[str, Any]]: ...
def null_log_clear() -> None: ...
def null_order() -> Any: ...
def null_run(on: bool) -> None: ...
def null_set_target(target: Literal['null-cpu', 'null-cuda']) -> None: ...
def nvrtc_version() -> int: ...
def observe_launches(address: int) -> None: ...
def ones(
    shape: ShapeLike,
    dtype: DTypeLike = None,
    order: Order = 'C',
    *,
    like: Any = None,
    device: DeviceLike = None,
) -> ndarray:
    """An array of ones."""

def order_statistics(a: ArrayLike, ranks: AxisLike, axis: int) -> ndarray:
    """The elements that a sort along the axis would put at the ranks."""

def outer(a: ArrayLike, b: ArrayLike, out: ndarray | None = None) -> ndarray: ...
def output_of(function: GradFunction, output: int, saved: ArrayLike) -> ndarray: ...
def packbits_small(a: ArrayLike) -> ndarray | None:
    """Bytes of few bits in host memory, or None."""

def partition(a: ArrayLike, kth: AxisLike, axis: int | None = -1) -> ndarray: ...
def pinned_stats() -> Any: ...
def pinned_trim() -> None: ...
def place_small(a: ndarray, mask: ArrayLike, values: ArrayLike) -> bool:
    """numpy.place of few elements in host memory; tells whether it was done."""

def pool_add_hook(function: Any) -> int: ...
def pool_allocate(pool: Any, bytes: int, stream: Any = None, device: DeviceLike = None) -> Any: ...
def pool_cap(pool: Any, bytes: int) -> None: ...
def pool_counts(pool: Any, device: DeviceLike = None) -> Any: ...
def pool_free_all(pool: Any, device: DeviceLike = None) -> None: ...
def pool_install(pool: Any, device: DeviceLike = None) -> None: ...
def pool_limit(device: DeviceLike = None, bytes: int | None = None) -> int: ...
def pool_remove_hook(number: int) -> None: ...
def pool_reset_peak(device: DeviceLike = None) -> None: ...
def pool_stats(device: DeviceLike = None) -> dict[str, int]: ...
def pool_trim(device: DeviceLike = None, keep: int = 0) -> int: ...
def promote_types(type1: DTypeLike, type2: DTypeLike) -> Any:
    """The smallest type that both types cast to safely."""

def ptp(a: ArrayLike, axis: AxisLike = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray: ...
def put(a: ndarray, ind: ArrayLike, v: ArrayLike, mode: str = 'raise') -> None:
    """Writes values at indices of the flattened array."""

def put_along_axis(arr: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None) -> None: ...
def putmask(a: ArrayLike, mask: ArrayLike, values: ArrayLike) -> None: ...
def random(
    kind: Literal['uint32', 'uint64', 'uniform', 'normal', 'integers'],
    seed: int,
    counter: int,
    shape: ShapeLike,
    dtype: DTypeLike = None,
    *,
    low: ArrayLike = 0,
    high: ArrayLike = 0,
    endpoint: bool = False,
    device: DeviceLike = None,
) -> ndarray:
    """Philox's stream `seed` from number `counter` on."""

def ravel(a: ArrayLike, order: Order = 'C') -> ndarray: ...
def ravel_on_host(multi_index: Any, shape: Any) -> ndarray | None: ...
def reduce(
    op: str,
    a: ArrayLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = ...,
    where: ArrayLike = True,
    ddof: float = 0,
) -> ndarray:
    """One reduction row by name (see `reductions`)."""

def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None) -> ndarray:
    """Each element several times, along an axis or in the flattened array."""

def repeat_launch(kernel: RawKernel, grid: Any, block: Any, args: tuple[Any, ...], times: int) -> None: ...
def replay_trace(
    trace: int,
    outputs: Sequence[ndarray],
    inputs: Sequence[ndarray],
    all: Sequence[ndarray],
) -> tuple[ndarray, ...]:
    """The outputs for all examples."""

def reshape(a: ArrayLike, shape: ShapeLike, order: Order = 'C', *, copy: bool | None = None) -> ndarray: ...
def resize(a: ArrayLike, new_shape: ShapeLike) -> ndarray: ...
def roll(a: ArrayLike, shift: AxisLike, axis: AxisLike = None) -> ndarray:
    """The elements shifted along axes; what leaves at one end comes in at the other. Without an axis, of the flattened array."""

def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> ndarray: ...
def rot90(m: ArrayLike, k: int = 1, axes: Any = ...) -> ndarray: ...
def round(a: ArrayLike, decimals: int = 0, out: ndarray | None = None) -> ndarray:
    """The elements rounded to so many decimals."""

def run_backward(
    outputs: Sequence[ndarray] | None,
    gradients: Sequence[ndarray] | None,
    inputs: Sequence[ndarray] | None,
    retain_graph: bool,
    create_graph: bool,
    accumulate: bool,
    allow_unused: bool,
) -> tuple[ndarray | None, ...]: ...
def scan(
    op: Literal['sum', 'prod', 'max', 'min'],
    a: ArrayLike,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
) -> ndarray:
    """Inclusive running 'sum', 'prod', 'max' or 'min'."""

def searchsorted(a: ArrayLike, v: ArrayLike, side: str = 'left', sorter: ArrayLike | None = None) -> ndarray: ...
def select(condlist: Sequence[ArrayLike] | ndarray, choicelist: Sequence[ArrayLike] | ndarray, default: ArrayLike = 0) -> ndarray: ...
def set_default_device(device: DeviceLike) -> None:
    """Chooses the device of new arrays for the whole program; `with device(…):` does for a block in a thread."""

def set_error_watcher(watcher: Callable[..., Any] | None) -> None: ...
def set_grad_enabled(mode: bool) -> bool:
    """Switches grad mode of this thread; tells what it was."""

def set_kernel_label(label: str | None) -> str | None: ...
def set_library_paths(folders: Sequence[str]) -> None: ...
def set_program_handler(handler: Callable[..., Any] | None, array_class: type | None = None) -> None: ...
def set_record_array_type(type: Any) -> Any: ...
def set_trace(enabled: bool) -> None: ...
def shares_memory(a: Any, b: Any, exact: bool = False, max_work: int | None = None) -> bool:
    """Whether two arrays may touch the same element."""

def show_plan(a: ndarray, plan: bool, ir: bool, source: bool) -> str:
    """The named phases of the plan that computes a pending array."""

def signatures() -> list[tuple[str, list[str], list[bool], str]]:
    """Each function's signature, the types of its parameters, which of them may be None, and the type of its result."""

def snapshot(a: ArrayLike) -> ndarray:
    """The array as it is now, with its history."""

def sort(a: ArrayLike, axis: int | None = -1, descending: bool = False, stable: bool = False) -> ndarray: ...
def sparse_add(
    data_a: ArrayLike,
    indices_a: ArrayLike,
    indptr_a: ArrayLike,
    data_b: ArrayLike,
    indices_b: ArrayLike,
    indptr_b: ArrayLike,
    columns: int,
    subtract: bool,
    composed: bool = False,
) -> tuple[ndarray, ndarray, ndarray]:
    """Data, indices and pointers of the sum or difference of two sorted matrices, without zeros."""

def sparse_add_dense(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    base: ArrayLike,
    transposed: bool = False,
) -> ndarray | None:
    """A dense matrix plus a sparse one of its dtype, or plus the transpose of one."""

def sparse_bandwidth(indices: ArrayLike, indptr: ArrayLike, columns: int) -> tuple[int, ...] | None:
    """How far from the diagonal elements lie, below and above."""

def sparse_block_product(
    blocks: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    x: ArrayLike,
    composed: bool = False,
) -> ndarray:
    """Blocks in compressed rows times a dense vector or matrix."""

def sparse_block_rows(
    blocks: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    composed: bool = False,
) -> tuple[ndarray, ndarray, ndarray]:
    """Data, indices and pointers of the rows of a matrix in blocks; columns: of blocks."""

def sparse_blocks(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    height: int,
    width: int,
) -> tuple[ndarray, ndarray, ndarray] | None:
    """Blocks, their columns and pointers."""

def sparse_bounds(numbers: ArrayLike, end: int = 0) -> tuple[int, ...] | None:
    """The least and the greatest of some indices."""

def sparse_compress(
    data: ArrayLike,
    row: ArrayLike,
    column: ArrayLike,
    rows: int,
    columns: int,
    composed: bool = False,
) -> tuple[ndarray, ndarray, ndarray]:
    """Data, indices and pointers of elements at places; those of one place are added up."""

def sparse_coordinate_product(
    data: ArrayLike,
    row: ArrayLike,
    column: ArrayLike,
    x: ArrayLike,
    rows: int,
    composed: bool = False,
) -> ndarray:
    """Elements at places times a dense vector or matrix."""

def sparse_coordinates_dense(data: ArrayLike, row: ArrayLike, column: ArrayLike, rows: int, columns: int) -> ndarray | None:
    """All places of a matrix of elements at places."""

def sparse_coordinates_diagonal(
    data: ArrayLike,
    row: ArrayLike,
    column: ArrayLike,
    rows: int,
    columns: int,
    k: int,
) -> ndarray | None:
    """The elements on a diagonal, of elements at places."""

def sparse_count_blocks(indices: ArrayLike, indptr: ArrayLike, columns: int, height: int, width: int) -> int | None:
    """How many blocks have elements."""

def sparse_dense(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    distinct: bool = False,
    transposed: bool = False,
    composed: bool = False,
) -> ndarray:
    """All places of a matrix, or of its transpose."""

def sparse_diagonal(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, columns: int, k: int) -> ndarray | None:
    """The elements on a diagonal."""

def sparse_diagonal_product(
    data: ArrayLike,
    offsets: ArrayLike,
    x: ArrayLike,
    rows: int,
    transposed: bool = False,
    composed: bool = False,
) -> ndarray:
    """Diagonals, or the transpose of their matrix, times a dense vector or matrix."""

def sparse_diagonals(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, columns: int) -> tuple[ndarray, ndarray] | None:
    """The diagonals that have elements, and their offsets."""

def sparse_expand(indptr: ArrayLike, n: int, composed: bool = False) -> ndarray:
    """The row of each of n elements."""

def sparse_facts(indices: ArrayLike, indptr: ArrayLike, end: int = 0) -> tuple[int, ...] | None:
    """The first and the last pointer, whether they ascend, and the bounds of the indices."""

def sparse_flatten(lists: object, vector: object, floats: bool) -> bool:
    """Writes the numbers of lists into a vector of float64, or of int64 or int32; tells whether all are Python's own and fit."""

def sparse_group(keys: ArrayLike, groups: int, composed: bool = False) -> tuple[ndarray, ...]:
    """The pointers of groups of equal keys, and a stable order by key."""

def sparse_is_sorted(indices: ArrayLike, indptr: ArrayLike, columns: int, strictly: bool = True, composed: bool = False) -> bool:
    """Whether the columns of each row ascend, none twice."""

def sparse_keep(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    mask: ArrayLike,
    composed: bool = False,
) -> tuple[ndarray, ndarray, ndarray]:
    """Data, indices and pointers of a mask's elements."""

def sparse_list_ends(lists: object, vector: object) -> None:
    """Writes the running sums of the lengths of lists into an int64 vector."""

def sparse_list_part(rows: object, data: object, first: object, next: object) -> tuple[list[list[int]], list[list[Any]]]:
    """The lists of selected columns: int64 vectors say where a column goes first, and after each place, or -1."""

def sparse_list_put(rows: object, data: object, row: object, column: object, values: object) -> None:
    """Puts objects at places of a matrix of lists; int64 vectors say where."""

def sparse_lookup(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    row: ArrayLike,
    column: ArrayLike,
    composed: bool = False,
) -> ndarray:
    """The elements of a sorted matrix at places."""

def sparse_matmul(
    data_a: ArrayLike,
    indices_a: ArrayLike,
    indptr_a: ArrayLike,
    columns_a: int,
    data_b: ArrayLike,
    indices_b: ArrayLike,
    indptr_b: ArrayLike,
    columns_b: int,
    composed: bool = False,
) -> tuple[ndarray, ...]:
    """Data, indices and pointers of the product of two matrices."""

def sparse_multiply_diagonals(
    a: ArrayLike,
    a_offsets: ArrayLike,
    b: ArrayLike,
    b_offsets: ArrayLike,
    rows: int,
    inner: int,
    columns: int,
) -> tuple[ndarray, ndarray] | None:
    """The product of two matrices of diagonals."""

def sparse_nonzeros(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
) -> tuple[ndarray, ndarray, ndarray] | None:
    """The elements that are not zero."""

def sparse_of_dense(a: ArrayLike, by_columns: bool = False) -> tuple[ndarray, ndarray, ndarray] | None:
    """Data, indices and pointers of the elements that are not zero."""

def sparse_of_diagonals(data: ArrayLike, offsets: ArrayLike, rows: int, columns: int) -> tuple[ndarray, ndarray, ndarray] | None:
    """Data, indices and pointers of the rows of a matrix of diagonals."""

def sparse_places(
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    row: ArrayLike,
    column: ArrayLike,
    composed: bool = False,
) -> ndarray:
    """The numbers of the elements of a sorted matrix at places, or -1."""

def sparse_pointers(keys: ArrayLike, groups: int, composed: bool = False) -> ndarray:
    """The pointers of groups of keys that ascend."""

def sparse_product(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    x: ArrayLike,
    transposed: bool = False,
    composed: bool = False,
) -> ndarray:
    """A matrix in compressed rows, or its transpose, times a dense vector or matrix."""

def sparse_take(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    rows: ArrayLike,
    composed: bool = False,
) -> tuple[ndarray, ndarray, ndarray]:
    """Data, indices and pointers of some rows."""

def sparse_transpose(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    columns: int,
    composed: bool = False,
) -> tuple[ndarray, ndarray, ndarray]:
    """Data, indices and pointers of the transpose's rows."""

def sparse_triangular_solve(
    data: ArrayLike,
    indices: ArrayLike,
    indptr: ArrayLike,
    b: ArrayLike,
    lower: bool,
    unit: bool,
    by_columns: bool,
) -> ndarray | None:
    """x of a x = b for a triangle."""

def sparse_union(
    data_a: ArrayLike,
    indices_a: ArrayLike,
    indptr_a: ArrayLike,
    data_b: ArrayLike,
    indices_b: ArrayLike,
    indptr_b: ArrayLike,
    columns: int,
    composed: bool = False,
) -> tuple[ndarray, ...]:
    """The elements of two sorted matrices at the places that either has, and the indices and pointers of those."""

def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[ndarray]: ...
def squeeze(a: ArrayLike, axis: AxisLike = None) -> ndarray:
    """Axes of extent 1 dropped, all or those named; a view."""

def stack(
    arrays: Sequence[ArrayLike] | ndarray,
    axis: int = 0,
    out: ndarray | None = None,
    dtype: DTypeLike = None,
    casting: Casting = 'same_kind',
) -> ndarray:
    """Arrays of one shape joined along a new axis."""

def stream_priorities(device: DeviceLike = None) -> Any: ...
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> ndarray: ...
def synchronize() -> None:
    """Computes all that waits and returns when every device is done: what a clock must be stopped after."""

def take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: ndarray | None = None, mode: str = 'raise') -> ndarray: ...
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> ndarray: ...
def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> ndarray: ...
def texture_array(device: DeviceLike, bits: Sequence[int], kind: int, width: int, height: int, depth: int, flags: int) -> object: ...
def texture_array_copy(array: object, memory: Any, to_array: bool, stream: Any = None) -> None: ...
def texture_array_ptr(array: object) -> int: ...
def texture_handle(
    device: DeviceLike,
    kind: int,
    array: Any,
    bits: Sequence[int],
    channel_kind: int,
    bytes: int,
    width: int,
    height: int,
    pitch: int,
    sampling: tuple[Any, ...] | None = None,
) -> object: ...
def texture_handle_ptr(handle: object) -> int: ...
def tile(A: ArrayLike, reps: ShapeLike) -> ndarray:
    """The array repeated, so many times along each axis."""

def to_device(obj: Any, stream: Any = None, copy: bool = True, to: Any = None) -> Any: ...
def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike = None,
    out: ndarray | None = None,
) -> ndarray: ...
def trace_input(a: ArrayLike) -> ndarray:
    """A copy that the trace follows."""

def transpose(a: ArrayLike, axes: AxisLike = None) -> ndarray:
    """The array with its axes reversed, or in a given order; a view."""

def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int | None = -1) -> ndarray: ...
def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    like: Any = None,
) -> ndarray:
    """Ones on and below a diagonal, zeros above."""

def tril(m: ArrayLike, k: int = 0) -> ndarray: ...
def triu(m: ArrayLike, k: int = 0) -> ndarray: ...
def unique(a: ArrayLike, indices: bool, inverse: bool, counts: bool, equal_nan: bool) -> Any:
    """Values, first places, inverse and counts; None for what is not asked for."""

def unique_rows(a: ArrayLike, indices: bool, inverse: bool, counts: bool) -> Any:
    """The same for the slices along the first axis."""

def unpackbits_small(a: ArrayLike) -> ndarray | None:
    """The bits of few bytes in host memory, or None."""

def unravel_on_host(indices: Any, shape: Any) -> tuple[ndarray, ...] | None: ...
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[ndarray, ...]: ...
def unwrap(
    p: ArrayLike,
    discont: ArrayLike | None = None,
    axis: int | None = -1,
    period: ArrayLike = 6.283185307179586,
) -> ndarray: ...
def use_cuda_bodies(type: Literal['cpu', 'null'], on: bool) -> None: ...
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> ndarray: ...
def vdot(a: ArrayLike, b: ArrayLike) -> ndarray: ...
def vecdot(x1: ArrayLike, x2: ArrayLike, /, axis: int = -1) -> ndarray: ...
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> ndarray: ...
def vector_norm(x: ArrayLike, ord: float | str | None = None, axis: AxisLike = None, keepdims: bool = False) -> ndarray: ...
def vstack(tup: Sequence[ArrayLike] | ndarray, *, dtype: DTypeLike = None, casting: Casting = 'same_kind') -> ndarray: ...
def waits() -> list[WaitRecord]: ...
def watch_waits(on: bool) -> None: ...
def xoroshiro_states(n: int, seed: Any, start: Any) -> Any: ...
def zeros(
    shape: ShapeLike,
    dtype: DTypeLike = None,
    order: Order = 'C',
    *,
    like: Any = None,
    device: DeviceLike = None,
) -> ndarray:
    """An array of zeros."""

