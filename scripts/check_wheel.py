"""Checks a wheel: one ABI for every Python (or that of one free-threaded Python), at most 60 MB, and nothing needed from outside but glibc,
libstdc++ and zlib."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SYSTEM = re.compile(r"^(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz)\.so")
LIMIT = 60_000_000


def main(path: str) -> int:
    wheel = Path(path)
    problems = []
    free = re.search(r"-(cp\d+)-(cp\d+t)-", wheel.name)
    if "-cp311-abi3-" not in wheel.name and not (free and free[2] == free[1] + "t"):
        problems.append(f"tag: expected cp311-abi3 or that of a free-threaded Python, got {wheel.name}")
    size = wheel.stat().st_size
    if size > LIMIT:
        problems.append(f"size: expected at most {LIMIT / 1e6:.0f} MB, got {size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(wheel) as z:
            z.extractall(scratch)
        libraries = sorted(p for p in Path(scratch).rglob("*") if ".so" in p.suffixes)
        own = {p.name for p in libraries}
        for library in libraries:
            dynamic = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
            needed = re.findall(r"\(NEEDED\).*\[(.+?)\]", dynamic)
            if lost := [n for n in needed if n not in own and not SYSTEM.match(n)]:
                problems.append(f"{library.name}: needs {', '.join(lost)}, which the wheel does not hold")
            print(f"  {library.stat().st_size / 1e6:6.1f} MB  {library.relative_to(scratch)}")
        binding = f"_broadcloth.cpython-{free[2][2:]}-x86_64-linux-gnu.so" if free else "_broadcloth.abi3.so"
        for part in ("__init__.py", binding, "libbroadcloth.so", "libbroadcloth_jit.so", "libopenblas.so.0"):
            if not (Path(scratch) / "broadcloth" / part).exists():
                problems.append(f"broadcloth/{part} is missing")
        if len(list((Path(scratch) / "broadcloth" / "headers").glob("device-*.pch"))) != 2:
            problems.append("broadcloth/headers: expected two precompiled headers")
        kernels = list((Path(scratch) / "broadcloth" / "kernels").glob("*.bck"))
        print(f"  {sum(k.stat().st_size for k in kernels) / 1e6:6.1f} MB  broadcloth/kernels: {len(kernels)} for GPUs")
        if len(kernels) < 100:
            problems.append(f"broadcloth/kernels: expected some hundred compiled kernels, got {len(kernels)}")
    for p in problems:
        print(f"wheel: {p}", file=sys.stderr)
    print(f"{wheel}  {size / 1e6:.1f} MB")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
