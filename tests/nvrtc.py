"""NVRTC for tests: compiles a kernel's text as the CUDA backend does, for any architecture; needs no GPU."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import re
import site
from pathlib import Path

import broadcloth as bc

ROOT = Path(__file__).resolve().parents[1]


def _find() -> Path | None:
    folders = [Path(p) / "nvidia" for p in site.getsitepackages()]
    found = [p for f in folders for p in sorted(f.glob("*/lib/libnvrtc.so.*"))]
    found += sorted(Path("/usr/local").glob("cuda*/lib64/libnvrtc.so.*"), reverse=True)
    return next((p for p in found if ".alt." not in p.name), None)


@functools.cache
def library() -> ctypes.CDLL | None:
    path = _find()
    for builtins in sorted(path.parent.glob("libnvrtc-builtins.so*")) if path else []:
        ctypes.CDLL(str(builtins))  # NVRTC asks the loader for it by its bare name
    return ctypes.CDLL(str(path)) if path else None


@functools.cache
def device_library() -> str:
    """The text of src/device as the build embeds it."""
    spec = importlib.util.spec_from_file_location("embed_device_library", ROOT / "cmake" / "embed_device_library.py")
    embed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(embed)
    lines: list[str] = []
    embed.join(str(ROOT / "src" / "device" / "device.h"), set(), lines)
    return "\n".join(embed.shrink(lines)) + "\n"


@functools.cache
def backend_options() -> list[str]:
    """The flags that src/backends/cuda/nvrtc.cpp gives to array expressions."""
    source = (ROOT / "src" / "backends" / "cuda" / "nvrtc.cpp").read_text()
    common = re.search(r"kCommon\[\] = \{(.*?)\};", source, re.S)[1]
    minimal = re.search(r'kMinimal = "(.*?)"', source)[1]
    return [*re.findall(r'"(.*?)"', common), minimal, "--fmad=false"]


class CompileError(AssertionError):
    pass


INVALID_OPTION = 5


def instructions(text: str, whole: bool) -> dict[str, str]:
    """The PTX of each function of a text, and the tables that they name, beside the whole device library or the part that the text uses."""
    ptx = compile_kernel(text, "sm_90", whole=whole, ptx=True).rstrip(b"\0").decode()
    ptx = re.sub(r"\$L__BB\d+_", "$L__BB_", ptx)  # labels count the functions, those that were inlined too
    define = r"^(?:\.\w+ )*\.(?:entry|func)\s+(?:\([^()]*\)\s*)?([\w$]+)\s*\([^;{]*\{.*?^\}"
    found = {m[1]: m[0] for m in re.finditer(define, ptx, re.S | re.M)}
    used = set(re.findall(r"[\w$]+", "\n".join(found.values())))
    table = r"^(?:\.\w+ )*\.(?:const|global) [^;]*?([\w$]+)(?:\[\d*\])*(?: = [^;]*)?;"
    tables = {m[1]: m[0] for m in re.finditer(table, ptx, re.M)}
    return found | {name: text for name, text in tables.items() if name in used}


def compile_kernel(text: str, arch: str, quick: bool = False, whole: bool = False, ptx: bool = False) -> bytes:
    """The cubin or `ptx` of a kernel's text; fails with the compiler's log. `quick` leaves out most of the optimiser, four times as fast.

    As in the backend, the text has before it what it uses of the device library, or the `whole` of it.
    """
    nvrtc = library()
    # A Python kernel has the library of its language before it.
    before, own = "", text
    if '"python/' in text.partition("\n")[0]:
        before, _, own = text.partition('#line 1 "kernel"\n')
    part = device_library() + before if whole else bc._c.device_library_for(own, before)
    source = f'{part}\n#line 1 "kernel.cu"\n{own}'
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None) == 0
    try:
        options = [o.encode() for o in [*backend_options(), f"--gpu-architecture={arch}", *(["--Ofast-compile=max"] if quick else [])]]
        status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        if status == INVALID_OPTION and quick:  # NVRTC before 12.8
            return compile_kernel(text, arch, whole=whole)
        size = ctypes.c_size_t()
        if status:
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            raise CompileError(f"NVRTC could not compile for {arch}:\n{log.value.decode()}\n{numbered(text)}")
        kind = "PTX" if ptx else "CUBIN"
        assert getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)) == 0
        made = ctypes.create_string_buffer(size.value)
        assert getattr(nvrtc, f"nvrtcGet{kind}")(program, made) == 0
        return made.raw
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def numbered(text: str) -> str:
    return "\n".join(f"{i:4} {line}" for i, line in enumerate(text.splitlines(), 1))


def pack(texts: list[str]) -> str:
    """Several kernels as one text, each in a namespace and under a name of its own: the device library is then read once."""
    out = []
    for i, text in enumerate(texts):
        name = re.search(r"__launch_bounds__\(\d+\) (\w+)\(", text)[1]
        body = text.removeprefix("namespace bc {\n")
        assert body != text, text[:200]
        named = re.sub(rf"\b{name}\b", f"k{i}_{name}", body)
        out.append(f"namespace bc {{ namespace kernel{i} {{\n{named}}}\n")
    return "".join(out)
