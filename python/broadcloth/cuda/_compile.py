"""Python functions as PTX: Numba's `cuda.compile` and its kin. They need NVRTC and no GPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import broadcloth as bc

from .. import _broadcloth as _c

__all__ = ["compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device"]


def _current_cc() -> tuple[int, int]:
    device = _c.default_device()
    if device.type != "cuda":
        raise RuntimeError(f"compile_for_current_device: the current device is {device}, which has no compute capability")
    return _c.cuda_attribute(device.index, 75), _c.cuda_attribute(device.index, 76)


def _type(spelling: str) -> Any:
    """The type object of a name; the name where there is none."""
    return getattr(bc.types, "void" if spelling == "none" else spelling, spelling)


def _exported(name: str, readable: str) -> str:
    """A function of plain C that calls the compiled one, so that other code finds it by its name."""
    declared = re.findall(rf"^BC_PY (.+?) {re.escape(name)}\((.*)\);$", readable, re.M)
    result, parameters = declared[-1]
    depth, parts = 0, [""]
    for c in parameters:
        depth += (c == "<") - (c == ">")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    arguments = ", ".join(p.split()[-1] for p in parts if p.strip())
    return f'\nusing namespace bc;\nextern "C" __device__ {result} {name}({parameters}) {{ return ::bc::{name}({arguments}); }}\n'


def compile(
    pyfunc: Callable[..., Any],
    sig: Any,
    debug: bool | None = None,
    lineinfo: bool = False,
    device: bool = True,
    fastmath: bool = False,
    cc: tuple[int, int] | None = None,
    opt: bool | None = None,
    abi: str = "c",
    abi_info: dict[str, str] | None = None,
    output: str = "ptx",
    forceinline: bool = False,
    launch_bounds: Any = None,
) -> tuple[Any, Any]:
    """Compiles a Python function for given types.

    Parameters
    ----------
    pyfunc : function
        What is compiled.
    sig : str, signature or tuple of types
        The arguments' types.
    device : bool
        A function for other device code, under its own name (extern "C"); False: a kernel.
    fastmath, debug, lineinfo, opt : bool
        As for `cuda.jit`.
    cc : (int, int), optional
        The compute capability; 7.5 unless given, which every device since runs.
    abi : {"c"}
        Functions are called as C's.
    abi_info : dict, optional
        {"abi_name": name} gives a device function another name.
    output : {"ptx", "ltoir"}
        What is made: text, or bytes for the linker (`cuda.LTOIR`).

    Returns
    -------
    (str or bytes, type)
        The PTX or LTO-IR, and the type of the function's result.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> def add(x, y):
    ...     return x + y
    >>> ptx, result = cuda.compile(add, "(float32, float32)")  # doctest: +SKIP
    >>> ".func" in ptx, result  # doctest: +SKIP
    (True, float32)
    """
    if output not in ("ptx", "ltoir"):
        raise NotImplementedError(f"cuda.compile: expected 'ptx' or 'ltoir' as output, got {output!r}")
    if abi not in ("c", "numba"):
        raise NotImplementedError(f"cuda.compile: unsupported ABI {abi!r}")
    pyfunc = getattr(pyfunc, "py_func", pyfunc)
    name, readable, result, text, _ = _c.compile_text(pyfunc, sig, "device" if device else "kernel")
    options = ["--relocatable-device-code=true"] if device else []
    if device:
        wanted = (abi_info or {}).get("abi_name")
        text += _exported(name, readable).replace(f" {name}(", f" {wanted or pyfunc.__name__}(", 1)
    if fastmath:
        options.append("--use_fast_math")
    if lineinfo:
        options.append("--generate-line-info")
    if debug:
        options.append("--device-debug")
    major, minor = cc or (7, 5)
    if output == "ltoir":
        options += ["-dlto", *([] if device else ["--relocatable-device-code=true"])]
        code, _, _ = _c.compile_cuda(text, f"sm_{major}{minor}", options, None, f"{name}.py", "nvrtc", True, False)
        return bytes(code), _type(result)
    ptx, _, _ = _c.compile_cuda(text, f"compute_{major}{minor}", options, None, f"{name}.py", "nvrtc", True, False)
    made = ptx.rstrip(b"\0").decode()
    if not device and pyfunc.__name__.isascii() and pyfunc.__name__.isidentifier():
        # The entry of a kernel has the function's name in PTX, as Numba's has; in C++ that name could be one of the library's.
        made = re.sub(rf"\b{name}\b", pyfunc.__name__, made)
    return made, _type(result)


def compile_for_current_device(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[Any, Any]:
    """As `compile`, for the current device's compute capability."""
    return compile(pyfunc, sig, cc=_current_cc(), **options)


def compile_ptx(
    pyfunc: Callable[..., Any], sig: Any, debug: bool | None = None, lineinfo: bool = False, device: bool = False, **options: Any
) -> tuple[Any, Any]:
    """As `compile`, but a kernel unless `device` is True."""
    return compile(pyfunc, sig, debug, lineinfo, device, **options)


def compile_ptx_for_current_device(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[Any, Any]:
    """As `compile_ptx`, for the current device's compute capability."""
    return compile_ptx(pyfunc, sig, cc=_current_cc(), **options)


def compile_all(pyfunc: Callable[..., Any], sig: Any, **options: Any) -> tuple[list[Any], Any]:
    """As `compile`, in a list with the code that it is to be linked with; there is none."""
    code, result = compile(pyfunc, sig, **options)
    return [code], result
