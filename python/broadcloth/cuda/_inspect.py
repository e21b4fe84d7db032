"""What kernels become: PTX, LLVM's form and machine code, as text."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import tempfile
from typing import Any

from .. import _broadcloth as _c

__all__: list[str] = []


def _capability() -> tuple[int, int]:
    """The current GPU's compute capability; of the newest that is common where there is none."""
    device = _c.default_device()
    if device.type != "cuda":
        return 9, 0
    return _c.cuda_attribute(device.index, 75), _c.cuda_attribute(device.index, 76)


def _compiled(compiler: Any, name: str, flags: list[str], link: Any, arch: str, signature: Any) -> bytes:
    text = compiler.source(signature, True)
    binary, _, _ = _c.compile_cuda(text, arch, list(flags), None, f"{name}.py", "nvrtc", True, not arch.startswith("compute"), link or None)
    return bytes(binary)


def ptx(compiler: Any, name: str, flags: list[str], link: Any, signature: Any) -> str:
    """The PTX that NVRTC makes of a kernel."""
    major, minor = _capability()
    return _compiled(compiler, name, flags, link, f"compute_{major}{minor}", signature).rstrip(b"\0").decode()


def _disassembler() -> str:
    roots = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")] + sorted(glob.glob("/usr/local/cuda*"), reverse=True)
    for folder in (os.path.join(root, "bin") for root in roots if root):
        if os.path.exists(path := os.path.join(folder, "nvdisasm")):
            return path
    if found := shutil.which("nvdisasm"):
        return found
    raise RuntimeError("inspect_sass: nvdisasm of the CUDA toolkit was found neither in CUDA_HOME, /usr/local/cuda* nor in PATH")


def sass(compiler: Any, name: str, flags: list[str], link: Any, signature: Any) -> str:
    """The machine code of a kernel as the toolkit's nvdisasm writes it."""
    tool = _disassembler()
    major, minor = _capability()
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(_compiled(compiler, name, flags, link, f"sm_{major}{minor}", signature))
        file.flush()
        done = subprocess.run([tool, file.name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"inspect_sass: nvdisasm failed: {done.stderr.strip()}")
    return re.sub(r"^\s*\n", "", done.stdout)
