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
