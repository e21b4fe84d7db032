"""Code of other compilers that kernels are linked with: `cuda.jit(link=…)`, `cuda.declare_device` and the kinds of code.

CUDA C++ becomes part of the kernel's own program, on every device; PTX, cubins, fatbins, objects, archives and LTO-IR are linked on CUDA.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

__all__ = ["Archive", "CUSource", "Cubin", "Fatbin", "LTOIR", "LinkableCode", "Object", "PTXSource", "declare_device"]


class LinkableCode:
    """Code in memory to link kernels with.

    Parameters
    ----------
    data : str, bytes or a file object open for reading
        The code.
    name : str, optional
        What messages call it.
    setup_callback, teardown_callback : callable, optional
        Called with the kernel's module when it is loaded on a device, and when Python ends; its `get_global_symbol(name)` finds variables.
    """

    kind = ""
    default_name = "<unnamed code>"

    def __init__(
        self,
        data: Any,
        name: str | None = None,
        setup_callback: Callable[[Any], None] | None = None,
        teardown_callback: Callable[[Any], None] | None = None,
        nrt: bool = False,
    ) -> None:
        for callback in (setup_callback, teardown_callback):
            if callback is not None and not callable(callback):
                raise TypeError(f"{type(self).__name__}: expected a callable as callback, got {type(callback).__name__}")
        self._data = data
        self.name = name or self.default_name
        self.setup_callback = setup_callback
        self.teardown_callback = teardown_callback
        self.nrt = nrt

    @property
    def data(self) -> bytes:
        """The code's bytes."""
        if hasattr(self._data, "read"):
            self._data = self._data.read()
        return self._data.encode() if isinstance(self._data, str) else bytes(self._data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class PTXSource(LinkableCode):
    """PTX, the text of a kernel or device function for the driver's compiler: for devices of CUDA only."""

    kind, default_name = "ptx", "<unnamed-ptx>"


class CUSource(LinkableCode):
    """CUDA C++: it runs on the CPU too.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> code = cuda.CUSource('extern "C" __device__ int twice(float* result, float x) { *result = 2 * x; return 0; }')
    >>> twice = cuda.declare_device("twice", "float32(float32)", link=code)
    >>> @cuda.jit
    ... def double(x):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         x[i] = twice(x[i])
    >>> x = bc.arange(3, dtype="float32")
    >>> double[1, 32](x)
    >>> x
    array([0., 2., 4.], dtype=float32)
    """

    kind, default_name = "cu", "<unnamed-cu>"


class Fatbin(LinkableCode):
    """A fat binary: code for several architectures."""

    kind, default_name = "fatbin", "<unnamed-fatbin>"


class Cubin(LinkableCode):
    """Machine code for one architecture."""

    kind, default_name = "cubin", "<unnamed-cubin>"


class Archive(LinkableCode):
    """An archive of objects (.a)."""

    kind, default_name = "archive", "<unnamed-archive>"


class Object(LinkableCode):
    """A host object with device code in it (.o)."""

    kind, default_name = "object", "<unnamed-object>"


class LTOIR(LinkableCode):
    """NVVM's intermediate form for link-time optimisation."""

    kind, default_name = "ltoir", "<unnamed-ltoir>"


_EXTENSIONS = {
    "cu": "cu", "ptx": "ptx", "cubin": "cubin", "fatbin": "fatbin", "a": "archive", "lib": "archive", "o": "object", "obj": "object",
    "ltoir": "ltoir",
}  # fmt: skip


class LinkedModule:
    """A kernel's program on one device, for the callbacks of the code that it is linked with."""

    def __init__(self, variable: Callable[[str], tuple[int, int]]) -> None:
        self._variable = variable

    def get_global_symbol(self, name: str) -> tuple[int, int]:
        """Address and bytes of a `__device__` or `__constant__` variable."""
        return self._variable(name)


# The code that has callbacks, by kind, name and bytes.
_called: dict[tuple[str, str, bytes], list[LinkableCode]] = {}


def _set_up(kind: str, name: str, data: bytes, variable: Callable[[str], tuple[int, int]]) -> None:
    """Runs the callbacks of code that a program was just loaded with."""
    for item in _called.get((kind, name, data), ()):
        module = LinkedModule(variable)
        if item.setup_callback:
            item.setup_callback(module)
        if item.teardown_callback:
            import atexit

            atexit.register(item.teardown_callback, module)


def _list(link: Any) -> list[Any]:
    """The items of a `link` option, which may be one of them alone."""
    if link is None:
        return []
    items = [link] if isinstance(link, (str, os.PathLike, LinkableCode)) else list(link)
    for item in items:
        if not isinstance(item, (str, os.PathLike, LinkableCode)):
            raise TypeError(f"link: expected a path or a cuda.LinkableCode, got {type(item).__name__}")
    return items


def _load(link: Any) -> list[tuple[str, str, bytes]]:
    """Kind, name and bytes of each piece of code, as its file is now."""
    loaded = []
    for item in _list(link):
        if isinstance(item, LinkableCode):
            if not item.kind:
                raise TypeError("link: cuda.LinkableCode has no kind; use cuda.CUSource, cuda.PTXSource, cuda.Cubin …")
            code = (item.kind, item.name, item.data)
            if (item.setup_callback or item.teardown_callback) and item not in _called.setdefault(code, []):
                _called[code].append(item)
            loaded.append(code)
            continue
        path = os.fspath(item)
        extension = os.path.splitext(path)[1].removeprefix(".").lower()
        if extension not in _EXTENSIONS:
            known = ", ".join("." + e for e in _EXTENSIONS)
            raise RuntimeError(f"link: {path!r} has no extension that says what it is; expected one of {known}")
        with open(path, "rb") as file:
            loaded.append((_EXTENSIONS[extension], os.path.basename(path), file.read()))
    return loaded


class ExternFunction:
    """A function that linked code defines; kernels and device functions call it."""

    def __init__(self, name: str, sig: Any, abi: str, use_cooperative: bool, link: Any) -> None:
        self.name = self.__name__ = name
        self.sig = sig
        self.__foreign_function__ = (name, sig, abi, use_cooperative, _list(link))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name} is a device function: it can only be called inside a kernel")

    def __repr__(self) -> str:
        return f"<extern function {self.name}: {self.sig}>"


def declare_device(name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba") -> ExternFunction:
    """Declares a function of linked code, so that kernels can call it.

    Parameters
    ----------
    name : str
        Its name, which is `extern "C"`.
    sig : str or signature
        Its types: "float32(float32, CPointer(float32))". Arrays are best passed as `cuda.ffi.from_buffer(array)` to a pointer.
    link : str, LinkableCode or list of them, optional
        The code that it is in; files by their paths. `cuda.jit(link=…)` can say it as well.
    use_cooperative : bool
        It synchronises the grid: kernels that call it are launched cooperatively.
    abi : {"numba", "c"}
        "numba": it returns a status (int) and writes its result through its first parameter. "c": it returns its result.

    Returns
    -------
    ExternFunction

    Examples
    --------
    >>> from broadcloth import cuda
    >>> mul = cuda.declare_device("mul", "int32(int32, int32)", abi="c", link=cuda.CUSource(
    ...     'extern "C" __device__ int mul(int a, int b) { return a * b; }'))
    >>> @cuda.jit
    ... def squares(out):
    ...     i = cuda.grid(1)
    ...     out[i] = mul(i, i)
    >>> out = bc.zeros(4, dtype="int32")
    >>> squares[1, 4](out)
    >>> out
    array([0, 1, 4, 9], dtype=int32)
    """
    if abi not in ("numba", "c"):
        raise ValueError(f"declare_device: expected 'numba' or 'c' as abi, got {abi!r}")
    from .. import _broadcloth as _c
    from ..types import Signature, Type

    result, *arguments = _c.parse_signature(sig)
    if result is None:
        raise TypeError(f"declare_device: {sig!r} has no return type. Return type must be provided for device declarations")
    if isinstance(sig, str):
        sig = Signature(Type(result), tuple(map(Type, arguments)))
    return ExternFunction(name, sig, abi, use_cooperative, link)


def __getattr__(name: str) -> Any:
    if name == "ffi":
        from ._jit import Intrinsic

        made = globals()["ffi"] = Intrinsic("cuda.ffi")
        return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
