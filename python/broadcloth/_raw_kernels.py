"""Programs written in CUDA C++: `RawModule`, beside the kernels that it holds (`RawKernel`, in the extension)."""

from __future__ import annotations

import copyreg
import os
from collections.abc import Iterable
from typing import Any

from . import _broadcloth as _c

RawKernel = _c.RawKernel
copyreg.pickle(RawKernel, lambda k: (_raw_kernel, (k.code, k.name, tuple(k.options), k.backend, k.file_path, k.enable_cooperative_groups)))


def _raw_kernel(code: str | None, name: str, options: tuple[str, ...], backend: str, path: str | None, cooperative: bool) -> _c.RawKernel:
    """A pickled kernel: of a program of its own, or of a module's file."""
    if code is None:
        return RawModule(path=path, options=options, backend=backend, enable_cooperative_groups=cooperative).get_function(name)
    return RawKernel(code, name, options=options, backend=backend, enable_cooperative_groups=cooperative)


def _is_binary(content: bytes) -> bool:
    """Tells compiled code (a cubin or fatbin by its first bytes, PTX by its directives) from CUDA C++."""
    if content.startswith((b"\x7fELF", b"\x50\xed\x55\xba")):
        return True
    return b".version" in content[:4096] and b".target" in content[:4096]


class RawModule:
    """A program of kernels, variables and templates in CUDA C++, for every device.

    Parameters
    ----------
    code : str, optional
        The text; either this or `path`.
    path : path-like, optional
        A file: CUDA C++, or a cubin, fatbin or PTX (CUDA only).
    options : tuple of str
        For the compiler: "-DN=4", "-I/path", "--use_fast_math", "-std=c++20".
    backend : {'nvrtc', 'nvcc'}
        The CUDA compiler; without meaning on the CPU.
    translate_cucomplex, jitify : bool
        Taken as CuPy takes them; nothing needs them here.
    enable_cooperative_groups : bool
        Launches of the module's kernels are cooperative, so that the whole grid may synchronise.
    name_expressions : iterable of str, optional
        The C++ names of templates' instances, and of what lies in namespaces, that get_function and get_global are asked for.

    Raises
    ------
    CompileError
        At the first use on a device; the message has the compiler's lines, which count the text's own.

    Examples
    --------
    >>> module = bc.RawModule(code=r'''
    ... template <typename T> __global__ void scale(T* x, T factor, int n) {
    ...     for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= factor;
    ... }''', name_expressions=["scale<float>", "scale<double>"])
    >>> x = bc.arange(3, dtype="float32")
    >>> module.get_function("scale<float>")((1,), (32,), (x, 2.5, 3))
    >>> x
    array([0. , 2.5, 5. ], dtype=float32)
    """

    __slots__ = (
        "__weakref__", "_given", "_program", "backend", "code", "enable_cooperative_groups", "file_path", "name_expressions", "options",
    )  # fmt: skip

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        options: Iterable[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Iterable[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("RawModule: expected either 'code' or 'path'")
        self.code = code
        self.file_path = None if path is None else os.fspath(path)
        self.options = self._given = tuple(options)
        self.backend = backend
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        binary = None
        name = "module.cu"
        if self.file_path is not None:
            name = os.path.basename(self.file_path)
            with open(self.file_path, "rb") as file:
                content = file.read()
            if _is_binary(content):
                if self.name_expressions:
                    raise ValueError("RawModule: name expressions are for CUDA C++; a binary has its symbols' own names")
                binary = content
            else:
                self.code = content.decode()
                # Its own folder comes first, as for every compiler.
                self.options = (f"-I{os.path.dirname(os.path.abspath(self.file_path))}", *self.options)
        self._program = _c.kernel_program(self.code, self.options, self.name_expressions, name, None, binary, backend)

    def __reduce__(self) -> Any:
        return _raw_module, (self.code, self.file_path, self._given, self.backend, self.enable_cooperative_groups, self.name_expressions)

    def compile(self, log_stream: Any = None) -> None:
        """Compiles for the default device now instead of at the first use; the compiler's warnings are written to `log_stream`."""
        log = self._program.compile()
        if log_stream is not None:
            log_stream.write(log)

    def get_function(self, name: str) -> _c.RawKernel:
        """The kernel of that name.

        Raises
        ------
        AttributeError
            At its first launch, when the program has no such kernel.
        """
        return self._program.kernel(name, self.enable_cooperative_groups)

    def get_global(self, name: str) -> Any:
        """The memory of a `__device__` or `__constant__` variable on the default device.

        It is a pointer for ``bc.ndarray(shape, dtype, memptr)``.

        Raises
        ------
        AttributeError
            The program has no such variable.

        Examples
        --------
        >>> module = bc.RawModule(code='__constant__ float weights[3]; __device__ int count;')
        >>> weights = bc.ndarray((3,), "float32", module.get_global("weights"))
        >>> weights[...] = bc.asarray([1.0, 2.0, 3.0])
        >>> weights
        array([1., 2., 3.], dtype=float32)
        """
        from .cuda import MemoryPointer, UnownedMemory

        address, size = self._program.variable(name, _c.default_device())
        return MemoryPointer(UnownedMemory(address, size, self._program), 0)

    def __repr__(self) -> str:
        return f"<broadcloth.RawModule {self.file_path or 'of CUDA C++'}>"


Function = _c.RawKernel


class Module:
    """Compiled code as CuPy's `cuda.Module` holds it: a cubin, fatbin or PTX, loaded from bytes or from a file."""

    __slots__ = ("_program",)

    def __init__(self) -> None:
        self._program: Any = None

    def load(self, cubin: bytes) -> None:
        """Takes compiled code."""
        self._program = _c.kernel_program(None, (), None, "module", None, bytes(cubin))

    def load_file(self, filename: str | os.PathLike[str]) -> None:
        """Takes compiled code from a file."""
        with open(filename, "rb") as file:
            self.load(file.read())

    def _loaded(self) -> Any:
        if self._program is None:
            raise RuntimeError("Module: nothing is loaded yet")
        return self._program

    def get_function(self, name: str) -> _c.RawKernel:
        """The kernel of that name."""
        return self._loaded().kernel(name, False)

    def get_global_var(self, name: str) -> Any:
        """The memory of a variable, as a pointer."""
        from .cuda import MemoryPointer, UnownedMemory

        address, size = self._loaded().variable(name, _c.default_device())
        return MemoryPointer(UnownedMemory(address, size, self._program), 0)


def _raw_module(code: Any, path: Any, options: Any, backend: str, cooperative: bool, names: Any) -> RawModule:
    """A pickled module: from its file, where it has one, else from its text."""
    return RawModule(
        None if path else code, path=path, options=options, backend=backend, enable_cooperative_groups=cooperative, name_expressions=names
    )
