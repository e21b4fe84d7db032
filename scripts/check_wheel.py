"""Checks a wheel, and runs it with the oldest and the newest NumPy that it allows.

    scripts/check_wheel.py WHEEL [--no-run]

What it asserts: one ABI for every Python (or that of one free-threaded Python); manylinux_2_34 or older where it was built on Debian 12; at
most 48 MB; nothing needed from outside but glibc, libstdc++ and zlib; the parts that an installed package must have; licences, a console
script and a package page that stands alone. The runs install the wheel into new environments, with NumPy from the package index: without
one they fail, they are not skipped. --no-run leaves them out and says so.
"""

from __future__ import annotations

import os
import platform
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

SYSTEM = re.compile(r"^(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz)\.so")
LIMIT = 48_000_000
GLIBC = (2, 34)  # RHEL 9 and its kin; Ubuntu 22.04 has 2.35
BUILD_GLIBC = (2, 36)  # Debian 12's: what is built with a newer one cannot promise GLIBC
LICENSES = ("LICENSE", "openblas.txt", "fmt.txt", "highway.txt", "zstd.txt", "zlib.txt", "xxhash.txt",
            "llvm.txt", "libstdc++.txt", "ducc.txt")

# What a user would try first, on the CPU: arrays, products, a factorisation, compiled functions, NumPy's arrays beside ours.
TRY = """
import numpy as np
import broadcloth as bc
a = np.arange(12.0).reshape(3, 4)
x = bc.asarray(a)
np.testing.assert_allclose(np.asarray(bc.sin(x) @ x.T), np.sin(a) @ a.T)
np.testing.assert_allclose((x + a).sum(axis=0).get(), 2 * a.sum(axis=0))
np.testing.assert_array_equal(bc.cumsum(x, axis=-1)[:, ::-1].get(), np.cumsum(a, axis=-1)[:, ::-1])
assert bc.concatenate([x, x], axis=-1).shape == (3, 8)
@bc.njit
def f(m):
    return np.linalg.svd(m)[1].sum() + np.prod(m[0, 1:])
np.testing.assert_allclose(f(a), np.linalg.svd(a)[1].sum() + np.prod(a[0, 1:]))
print("    NumPy", np.__version__, "ok")
"""


def glibc_needed(libraries: list[Path]) -> tuple[tuple[int, ...], list[str]]:
    """The newest version of glibc that the libraries ask for, and their symbols of versions after GLIBC."""
    newest: tuple[int, ...] = (2, 0)
    beyond = []
    for library in libraries:
        names = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
        # Compact relocations (-z pack-relative-relocs) come with 2.36.
        if "GLIBC_ABI_DT_RELR" in subprocess.run(["readelf", "-VW", library], capture_output=True, text=True, check=True).stdout:
            newest = max(newest, (2, 36))
            beyond.append(f"{library.name}: GLIBC_ABI_DT_RELR")
        for symbol, text in re.findall(r"(\S+)@+GLIBC_([0-9.]+)", names):
            version = tuple(map(int, text.split(".")))
            newest = max(newest, version)
            if version > GLIBC:
                beyond.append(f"{library.name}: {symbol}@GLIBC_{text}")
    return newest, beyond


def check_platform(wheel: Path, libraries: list[Path]) -> list[str]:
    tag = re.search(r"manylinux_(\d+)_(\d+)_x86_64", wheel.name)
    if not tag:
        return [f"tag: expected manylinux, got {wheel.name}"]
    found = (int(tag[1]), int(tag[2]))
    newest, beyond = glibc_needed(libraries)
    print(f"  glibc {'.'.join(map(str, newest))} by symbols, {found[0]}.{found[1]} by the tag")
    if found <= GLIBC:
        return []
    build = tuple(map(int, platform.libc_ver()[1].split(".")[:2]))
    if build > BUILD_GLIBC:
        print(f"  built with glibc {'.'.join(map(str, build))}: for a wheel that older systems take as well, build on Debian 12")
        return []
    return [f"tag: expected manylinux_{GLIBC[0]}_{GLIBC[1]} or older, got {wheel.name}", *beyond]


def check_metadata(package: Path, info: Path) -> list[str]:
    problems = []
    metadata = (info / "METADATA").read_text()
    headers = HeaderParser().parsestr(metadata)
    page = metadata.partition("\n\n")[2]
    if lost := re.findall(r"\]\((?!https?:|#)[\w./-]+\.\w+\)", page):
        problems.append(f"METADATA: the page has links into the source tree: {', '.join(lost)}")
    if len(page) < 2000:
        problems.append("METADATA: expected README.md as the page")
    if "broadcloth = broadcloth.__main__:main" not in (info / "entry_points.txt").read_text():
        problems.append("entry_points.txt: the script broadcloth is missing")
    if missing := [name for name in LICENSES if not (info / "licenses" / name).exists()]:
        problems.append(f"{info.name}/licenses: {', '.join(missing)} missing")
    if not any(c.startswith("Programming Language :: Python :: 3.1") for c in headers.get_all("Classifier", [])):
        problems.append("METADATA: no versions of Python among the classifiers")
    if (package / "licenses").exists():
        problems.append("broadcloth/licenses: licences belong into .dist-info, where installers look")
    return problems


def check_parts(scratch: Path, free: re.Match[str] | None) -> list[str]:
    package = scratch / "broadcloth"
    problems = []
    binding = f"_broadcloth.cpython-{free[2][2:]}-x86_64-linux-gnu.so" if free else "_broadcloth.abi3.so"
    for part in ("__init__.py", "py.typed", binding, "libbroadcloth.so", "libbroadcloth_jit.so", "libbroadcloth_openblas.so"):
        if not (package / part).exists():
            problems.append(f"broadcloth/{part} is missing")
    if len(list((package / "headers").glob("device-*.pch"))) != 2:
        problems.append("broadcloth/headers: expected two precompiled headers")
    pack = package / "kernels" / "kernels.pack"
    bytes_ = pack.read_bytes() if pack.exists() else b""
    kernels = struct.unpack_from("<Q", bytes_, 32)[0] if len(bytes_) >= 48 else 0  # PackHeader of src/codegen/kernel_pack.cpp
    print(f"  {len(bytes_) / 1e6:6.1f} MB  broadcloth/kernels: {kernels} for GPUs")
    if kernels < 100:
        problems.append(f"broadcloth/kernels: expected some hundred compiled kernels, got {kernels}")
    return problems


def run_with_numpy(wheel: Path, requirement: str, scratch: Path) -> list[str]:
    """Installs the wheel beside a NumPy into an environment of its own and runs TRY there."""
    folder = scratch / re.sub(r"\W+", "-", requirement)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", requirement, wheel]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"{requirement}: cannot be installed with the wheel: {done.stderr.strip()[-500:]}"]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "BROADCLOTH_OPENBLAS", "BROADCLOTH_JIT")}
    environment |= {"BROADCLOTH_DEVICE": "cpu", "BROADCLOTH_CACHE_DIR": str(folder / "cache")}
    program = folder / "try.py"  # a file: compiled functions read their source
    program.write_text(TRY)
    for command in ([python, program], [folder / "bin" / "broadcloth", "doctor"]):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            return [f"{requirement}: {' '.join(map(str, command))}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}"]
        if command[0] == python:
            print(done.stdout, end="")
    return []


def numpy_bounds(info: Path) -> list[str]:
    """Requirements for the oldest NumPy that the wheel allows, where this Python has one, and for the newest."""
    requires = HeaderParser().parsestr((info / "METADATA").read_text()).get_all("Requires-Dist", [])
    allowed = next(r for r in requires if re.match(r"numpy\b", r))
    oldest = re.search(r">=\s*(\d+)\.(\d+)", allowed)
    assert oldest, allowed
    # NumPy's first release for each Python, where that is later than the oldest that the wheel allows.
    first = {(3, 11): (1, 24), (3, 12): (1, 26), (3, 13): (2, 1), (3, 14): (2, 3)}.get(sys.version_info[:2], (0, 0))
    version = max((int(oldest[1]), int(oldest[2])), first)
    return [f"numpy=={version[0]}.{version[1]}.*", "numpy"]


def main(arguments: list[str]) -> int:
    wheel = Path(arguments[0]).resolve()
    problems = []
    free = re.search(r"-(cp\d+)-(cp\d+t)-", wheel.name)
    if "-cp311-abi3-" not in wheel.name and not (free and free[2] == free[1] + "t"):
        problems.append(f"tag: expected cp311-abi3 or that of a free-threaded Python, got {wheel.name}")
    size = wheel.stat().st_size
    if size > LIMIT:
        problems.append(f"size: expected at most {LIMIT / 1e6:.0f} MB, got {size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        with zipfile.ZipFile(wheel) as z:
            z.extractall(scratch)
        libraries = sorted(p for p in scratch.rglob("*") if ".so" in p.suffixes)
        own = {p.name for p in libraries}
        for library in libraries:
            dynamic = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
            needed = re.findall(r"\(NEEDED\).*\[(.+?)\]", dynamic)
            if lost := [n for n in needed if n not in own and not SYSTEM.match(n)]:
                problems.append(f"{library.name}: needs {', '.join(lost)}, which the wheel does not hold")
            print(f"  {library.stat().st_size / 1e6:6.1f} MB  {library.relative_to(scratch)}")
        info = next(scratch.glob("*.dist-info"))
        problems += check_platform(wheel, libraries) + check_parts(scratch, free) + check_metadata(scratch / "broadcloth", info)
        if "--no-run" in arguments or free:
            print("  not run: that needs the package index" if not free else "  not run: this Python is not the wheel's")
        else:
            for requirement in numpy_bounds(info):
                problems += run_with_numpy(wheel, requirement, scratch)
    for p in problems:
        print(f"wheel: {p}", file=sys.stderr)
    print(f"{wheel}  {size / 1e6:.1f} MB")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
