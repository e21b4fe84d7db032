"""Kernels written in Python: `cuda.jit`, and the names that only mean something inside one."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .. import _broadcloth as _c
from .. import _source
from .._pickling import make_kernel, reduced, reduced_launcher

__all__ = ["Dispatcher", "jit"]


copyreg.pickle(_c.KernelLauncher, reduced_launcher)  # type: ignore[arg-type]


class Intrinsic:
    """A function that compiled functions may call; called from Python it says so."""

    def __init__(self, name: str) -> None:
        self.__kernel_name__ = name

    def __getattr__(self, name: str) -> Intrinsic:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__kernel_name__}.{name}"
        if full not in _known() and not any(k.startswith(full + ".") for k in _known()):
            raise AttributeError(f"{self.__kernel_name__} has no attribute {name!r}")
        made = Intrinsic(full)
        setattr(self, name, made)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{self.__kernel_name__} can only be called inside a function that cuda.jit compiles")

    def __repr__(self) -> str:
        return f"<{self.__kernel_name__}: for use in kernels>"

    def __reduce__(self) -> Any:
        return Intrinsic, (self.__kernel_name__,)


class Dim3(Protocol):
    """What `threadIdx` and its kin are for type checkers."""

    x: int
    y: int
    z: int


_names: frozenset[str] = frozenset()


def _known() -> frozenset[str]:
    global _names
    if not _names:
        _names = frozenset(_c.kernel_names())
    return _names


# What `cuda` offers besides the rows' own names.
_SPECIAL = {"bf16", "const", "shared", "local", "atomic", "cg", "ffi", "fp16", "libdevice", "threadIdx", "blockIdx", "blockDim", "gridDim"}


# The numbers of CUDA's vectors by C's names: cuda.float4 is cuda.float32x4.
C_NUMBERS = {
    "char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64", "float": "float32", "double": "float64",
    "uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "ulonglong": "uint64",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name[:-1] in C_NUMBERS and name[-1] in "1234":
        return globals().get(same := f"{C_NUMBERS[name[:-1]]}x{name[-1]}") or __getattr__(same)
    full = f"cuda.{name}"
    if name in _SPECIAL or full in _known():
        made = globals()[name] = Intrinsic(full)
        return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _unwrap(function: Any) -> Any:
    return getattr(function, "py_func", function)


class Dispatcher(_c.KernelDispatcher):
    """A kernel: `kernel[grid, block](...)` launches it, compiled for the types of its arguments.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> @cuda.jit
    ... def scale(x, factor):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         x[i] *= factor
    >>> x = bc.arange(4, dtype=bc.float32)
    >>> scale[1, 32](x, 2.0)
    >>> x
    array([0., 2., 4., 6.], dtype=float32)
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self._options = options
        self._declared: list[Any] = []
        self._specialized: dict[tuple[str, ...], Dispatcher] = {}
        self.py_func = self.__wrapped__ = function
        self.__name__, self.__qualname__, self.__doc__ = function.__name__, function.__qualname__, function.__doc__
        self.__module__ = function.__module__
        self._compiler = _c.KernelCompiler(function, **options)
        self._start()

    def _start(self) -> None:
        function = self.py_func
        code = function.__code__
        names = () if code.co_flags & 0x04 else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        defaults = function.__defaults__ or ()
        if function.__kwdefaults__:
            defaults = (*defaults, *(function.__kwdefaults__[n] for n in names[code.co_argcount :] if n in function.__kwdefaults__))
        super().__init__(self._compiler.form, names, defaults)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(f"kernel {self.__name__}: a launch needs its grid and block, as in {self.__name__}[blocks, threads](...)")

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    def _declare(self, signature: Any) -> None:
        self._declared.append(signature)
        self._compiler.compile(signature, True)

    def compile(self, sig: Any) -> Dispatcher:
        """Compiles for a signature: a string ("void(float32[:], int64)") or a tuple of types."""
        self._compiler.compile(sig)
        return self

    compile_device = compile

    def specialize(self, *args: Any) -> Dispatcher:
        """A kernel that takes arguments of these types only: the types, or values that have them."""
        if self.specialized:
            raise RuntimeError(f"specialize: the kernel {self.__name__} is specialized already, for {self.signatures[0]}")
        types = tuple(_c.annotation_handle(a) if _is_type(a) else _c.type_handle(a) for a in args)
        key = tuple(_c.parse_type(t) for t in types)
        if key not in self._specialized:
            made = Dispatcher(self.py_func, **self._options)
            made._declare(types)
            self._specialized[key] = made
        return self._specialized[key]

    @property
    def specialized(self) -> bool:
        """Whether the kernel takes the arguments of one signature only."""
        return len(self._declared) == 1

    @property
    def specializations(self) -> dict[tuple[str, ...], Dispatcher]:
        """What `specialize` made so far, by the types."""
        return dict(self._specialized)

    @property
    def extensions(self) -> list[Any]:
        """What arguments go through before a launch: objects with ``prepare_args(type, value, stream=, retr=)``, which gives a type and a
        value; the last one in the list comes first. Functions put into `retr` are called after the launch."""
        made: list[Any] | None = self.__dict__.get("_extensions")
        if made is None:
            made = self._extensions = list[Any]()
            if type(self) is Dispatcher:
                self.__class__ = _Extended
        return made

    @property
    def signatures(self) -> list[tuple[str, ...]]:
        """The argument types that the kernel is compiled for."""
        return self._compiler.signatures()

    @property
    def overloads(self) -> dict[tuple[str, ...], Overload]:
        """The compiled forms by their argument types.

        Examples
        --------
        >>> from broadcloth import cuda, types
        >>> @cuda.jit(types.void(types.float32[:, ::1]))
        ... def rows(m):
        ...     m[cuda.grid(1), 0] = 0
        >>> rows.overloads[(types.float32[:, ::1],)].cooperative
        False
        """
        return {key: Overload(self, key) for key in self.signatures}

    def recompile(self) -> None:
        """Forgets all compiled forms: the next launch reads the globals that the function names again."""
        self._compiler = _c.KernelCompiler(self.py_func, **self._options)
        for signature in self._declared:
            self._compiler.compile(signature, True)
        self._start()

    def __reduce__(self) -> Any:
        return reduced(self, make_kernel, self.py_func, self._options, self._declared)

    def inspect_source(self, signature: Any = None) -> Any:
        """The CUDA C++ text of one compiled form, or of all by their argument types."""
        if signature is not None:
            return self._compiler.source(signature)
        return {key: made.source for key, made in self.overloads.items()}

    def _each(self, signature: Any, form: Callable[[Any], str]) -> Any:
        return form(signature) if signature is not None else {key: form(key) for key in self.signatures}

    def inspect_asm(self, signature: Any = None) -> Any:
        """The PTX of one compiled form, or of all by their argument types. Needs NVRTC and no GPU."""
        from . import _inspect

        return self._each(signature, lambda s: _inspect.ptx(*self._described, s))

    @property
    def _described(self) -> tuple[Any, str, list[str], Any]:
        return self._compiler, self.__name__, self._options["flags"], self._options.get("link")

    def inspect_sass(self, signature: Any = None) -> Any:
        """The GPU's machine code of one compiled form, or of all by their argument types. Needs the CUDA toolkit's nvdisasm and no GPU."""
        from . import _inspect

        return self._each(signature, lambda s: _inspect.sass(*self._described, s))

    def inspect_sass_cfg(self, signature: Any = None) -> Any:
        """As `inspect_sass`."""
        return self.inspect_sass(signature)

    def inspect_llvm(self, signature: Any = None) -> Any:
        """LLVM's form of one compiled form, or of all by their argument types, as the CPU has it before its blocks become loops."""
        return self._each(signature, self._compiler.llvm)

    def inspect_types(self, file: Any = None) -> None:
        """Prints the compiled forms' text, which shows the types of all variables."""
        for key, text in self.inspect_source().items():
            print(f"{self.__name__}({', '.join(key)})\n{text}", file=file)

    def _attribute(self, number: int, signature: Any) -> Any:
        if signature is not None or self.specialized:
            return self._compiler.attribute(number, signature)
        return {key: self._compiler.attribute(number, key) for key in self.signatures}

    def get_regs_per_thread(self, signature: Any = None) -> int | dict[tuple[str, ...], int]:
        """Registers of a thread: of one signature, or of all by their argument types where the kernel has no signature of its own."""
        return self._attribute(4, signature)

    def get_const_mem_size(self, signature: Any = None) -> int | dict[tuple[str, ...], int]:
        """Bytes of constant memory, as `get_regs_per_thread` gives them."""
        return self._attribute(2, signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> int | dict[tuple[str, ...], int]:
        """Bytes of a block's static shared memory, as `get_regs_per_thread` gives them."""
        return self._attribute(1, signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> int | dict[tuple[str, ...], int]:
        """Bytes of a thread's local memory, as `get_regs_per_thread` gives them."""
        return self._attribute(3, signature)

    def get_max_threads_per_block(self, signature: Any = None) -> int | dict[tuple[str, ...], int]:
        """The most threads that a block may have, as `get_regs_per_thread` gives them."""
        return self._attribute(0, signature)


class _Launch:
    """A configured launch of a kernel with extensions."""

    def __init__(self, kernel: _Extended, launcher: Any, stream: Any) -> None:
        self._kernel, self._launcher, self._stream = kernel, launcher, stream

    def __call__(self, *args: Any) -> None:
        from ..types import typeof

        retr: list[Callable[[], Any]] = []
        given = []
        for value in args:
            try:
                kind: Any = typeof(value)
            except TypeError:
                kind = None  # an extension may know it
            for extension in reversed(self._kernel._extensions):
                kind, value = extension.prepare_args(kind, value, stream=self._stream, retr=retr)
            given.append(value)
        self._launcher(*given)
        for write_back in retr:
            write_back()


class _Extended(Dispatcher):
    """A kernel with extensions."""

    def __getitem__(self, configuration: Any) -> Any:
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        return _Launch(self, super().__getitem__(configuration), parts[2] if len(parts) > 2 else 0)

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Any:
        return _Launch(self, super().forall(ntasks, tpb, stream, sharedmem), stream)


class Overload:
    """One compiled form of a kernel: for the types of one signature."""

    def __init__(self, kernel: Dispatcher, signature: tuple[str, ...]) -> None:
        self._kernel = kernel
        self.signature = self.argument_types = signature

    @property
    def cooperative(self) -> bool:
        """Whether the kernel waits for its whole grid, so that all blocks must run at once."""
        return "py::grid_sync" in self.source

    @property
    def source(self) -> str:
        """The CUDA C++ text."""
        return self._kernel._compiler.source(self.signature)

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """The most blocks of this size that the device runs at once, which is the largest grid that may wait for itself.

        Parameters
        ----------
        blockdim : int or tuple of int
            Threads of a block.
        dynsmemsize : int
            Bytes of dynamic shared memory of a block.
        """
        from . import get_current_device

        threads = int(np.prod(blockdim))
        return self._kernel._compiler.occupancy(threads, dynsmemsize, self.signature) * get_current_device().MULTIPROCESSOR_COUNT

    regs_per_thread = property(lambda self: self._kernel._attribute(4, self.signature))
    const_mem_size = property(lambda self: self._kernel._attribute(2, self.signature))
    shared_mem_per_block = property(lambda self: self._kernel._attribute(1, self.signature))
    local_mem_per_thread = property(lambda self: self._kernel._attribute(3, self.signature))
    max_threads_per_block = property(lambda self: self._kernel._attribute(0, self.signature))

    def inspect_asm(self) -> str:
        """The PTX. Needs NVRTC and no GPU."""
        return self._kernel.inspect_asm(self.signature)

    def inspect_llvm(self) -> str:
        """LLVM's form, as the CPU has it."""
        return self._kernel.inspect_llvm(self.signature)

    def inspect_sass(self) -> str:
        """The GPU's machine code."""
        return self._kernel.inspect_sass(self.signature)

    def __repr__(self) -> str:
        return f"<{self._kernel.__name__}({', '.join(self.signature)})>"


class DeviceFunction:
    """A function for kernels to call (`@cuda.jit(device=True)`)."""

    def __init__(self, function: Callable[..., Any], inline: bool = False, signatures: list[Any] | None = None) -> None:
        self.py_func = function
        self._force_inline = inline
        self._signatures = signatures or []
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__

    def __reduce__(self) -> Any:
        return reduced(self, DeviceFunction, self.py_func, self._force_inline, self._signatures)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.__name__} is a device function: it can only be called inside a kernel")

    def __repr__(self) -> str:
        return f"<device function {self.__name__}>"


def _is_type(o: Any) -> bool:
    return hasattr(o, "__kernel_type__") and not isinstance(o, type)


def _carveout(value: Any) -> int:
    """How much of a multiprocessor's memory a kernel prefers as shared memory: percent, -1 leaves it to the driver."""
    if isinstance(value, str):
        known = {"default": -1, "maxl1": 0, "maxshared": 100}
        if value.lower() not in known:
            raise ValueError(f"cuda.jit: shared_memory_carveout is 'MaxL1', 'MaxShared', 'Default' or percent, not {value!r}")
        return known[value.lower()]
    if isinstance(value, bool) or not -1 <= int(value) <= 100:
        raise ValueError(f"cuda.jit: shared_memory_carveout is a number from -1 to 100, not {value!r}")
    return int(value)


def _launch_bounds(value: Any) -> str:
    """Most threads of a block, fewest blocks of a multiprocessor, most blocks of a cluster, as CUDA C++ has them."""
    bounds = value if isinstance(value, tuple) else (value,)
    if not 1 <= len(bounds) <= 3:
        raise ValueError(f"cuda.jit: launch_bounds takes up to three numbers (threads, blocks, blocks of a cluster), got {len(bounds)}")
    return ", ".join(str(int(b)) for b in bounds)


def _is_signature(o: Any) -> bool:
    return isinstance(o, (str, tuple)) or hasattr(o, "__kernel_result__")


def jit(
    func_or_sig: Any = None,
    *,
    device: bool = False,
    inline: Any = False,
    fastmath: bool = False,
    max_registers: int | None = None,
    lineinfo: bool = False,
    debug: bool = False,
    opt: bool = True,
    cache: bool = False,
    check: bool = False,
    link: Any = (),
    launch_bounds: Any = None,
    lto: bool | None = None,
    fast_compile: bool = False,
    argtypes: Any = None,
    boundscheck: bool | None = None,
    shared_memory_carveout: Any = None,
    extensions: list[Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Compiles a Python function into a kernel, or with `device=True` into a function for kernels to call.

    Parameters
    ----------
    func_or_sig : function, signature or list of signatures
        Without a signature the kernel is compiled at its first launch for the types that it is given.
    device : bool
        Makes a function that kernels call.
    inline : bool or "always"
        Puts a device function into each place that calls it.
    fastmath : bool
        Lets float arithmetic be reordered and approximated.
    max_registers : int
        The most registers that a thread may use.
    lineinfo, debug : bool
        Line numbers for profilers; unoptimised code for debuggers.
    check : bool
        Checked mode: the first index out of bounds, race between barriers, read of shared or local memory that nothing has written, or
        NaN made of numbers raises `cuda.CheckError` at the launch, with its line, thread and block. Slow.
    link : str, LinkableCode or list of them
        Files (.cu, .ptx, .cubin, .fatbin, .a, .o, .ltoir) or code in memory that holds functions of `cuda.declare_device`.
    boundscheck : bool
        An index out of bounds raises IndexError.
    launch_bounds : int or tuple of int
        The most threads that blocks will have; also the fewest blocks that a multiprocessor shall hold, and the most blocks of a cluster.
    shared_memory_carveout : int or str
        How many percent of a multiprocessor's memory the kernel prefers as shared memory; "MaxL1", "MaxShared".
    extensions : list
        What arguments go through before a launch: objects with a method ``prepare_args`` (see `Dispatcher.extensions`).
    cache : bool
        Accepted; compiled kernels are always kept on disk.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> @cuda.jit(device=True)
    ... def square(v):
    ...     return v * v
    >>> @cuda.jit("void(float64[::1])")
    ... def squares(x):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         x[i] = square(x[i])
    >>> x = bc.array([1.0, 2.0, 3.0])
    >>> squares.forall(3)(x)
    >>> x
    array([1., 4., 9.])
    """
    kwargs.pop("nopython", None)
    kwargs.pop("error_model", None)
    kwargs.pop("forceinline", None)
    if kwargs:
        raise TypeError(f"cuda.jit: unknown option {next(iter(kwargs))!r}")
    if link:
        from ._link import _list

        link = _list(link)
    signatures: list[Any] = []
    function = None
    if isinstance(func_or_sig, list):
        signatures = list(func_or_sig)
    elif _is_signature(func_or_sig):
        signatures = [func_or_sig]
    elif func_or_sig is not None:
        function = _unwrap(func_or_sig)
    if argtypes is not None:
        signatures = [tuple(argtypes)]
    flags: list[str] = []
    if fastmath:
        flags.append("--use_fast_math")
    if max_registers:
        flags.append(f"--maxrregcount={int(max_registers)}")
    if lineinfo or (debug and opt):
        flags.append("--generate-line-info")
    if debug and not opt:
        flags.append("--device-debug")

    def decorate(f: Callable[..., Any]) -> Any:
        f = _unwrap(f)
        if f.__code__.co_filename[:1] == "<":
            _source.remember(f)
        if device:
            for signature in signatures:
                _c.parse_signature(signature)
            return DeviceFunction(f, bool(inline) and inline != "never", signatures)
        options = {"flags": flags, "debug": bool(debug), "check": bool(check), "bounds": bool(boundscheck), "link": link or None}
        if launch_bounds is not None:
            options["launch_bounds"] = _launch_bounds(launch_bounds)
        if shared_memory_carveout is not None:
            options["carveout"] = _carveout(shared_memory_carveout)
        made = Dispatcher(f, **options)
        if extensions:
            made.extensions.extend(extensions)
        for signature in signatures:
            made._declare(signature)
        return made

    return decorate if function is None else decorate(function)
