"""`broadcloth`, or `python -m broadcloth`: what is installed and what is missing, and the kernel cache."""

from __future__ import annotations

import os
import sys
from typing import Any

USAGE = """usage: broadcloth COMMAND      (or python -m broadcloth COMMAND)

  [OPTIONS] program.py [ARGUMENTS], -m MODULE [ARGUMENTS], -c TEXT [ARGUMENTS]
                               runs a program that was written for NumPy, as it stands
    --report                   prints at its end where the time went, line by line, and what to do about it
    --strict                   an error where something falls back to NumPy, or waits for the device without saying so
    --device DEVICE            cpu, cuda, cuda:1
    --pstats FILE, --perfetto FILE
                               writes profiles for Python's pstats and for ui.perfetto.dev

  doctor                       devices, libraries, versions, the cache; what is missing and the command that installs it
  cache [info]                 where the compiled kernels are kept, how many and how large
  cache clear                  removes them
  cache export FILE            writes them to a file
  cache import FILE --trust    adds those of a file: native code, so say that you trust who made it
"""

_COMMANDS = ("doctor", "cache", "help", "version", "-h", "--help", "-V", "--version")
_REINSTALL = "pip install --force-reinstall broadcloth"
_DRIVER = "install NVIDIA's driver for the GPU: https://www.nvidia.com/drivers"
_CUDA_WHEELS = 'pip install "broadcloth[cuda13]"'
# What brings a missing library, and whether that matters only where there is a GPU. Others are not needed yet.
_INSTALL = {
    "broadcloth_jit": (_REINSTALL, False),
    "openblas": (_REINSTALL, False),
    "libcuda": (_DRIVER, True),
    "libnvrtc": (_CUDA_WHEELS, True),
    "libcublas": (_CUDA_WHEELS, True),
    "libcublasLt": (_CUDA_WHEELS, True),
}


def _size(count: float) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count:.0f} B"


def _short(version: Any) -> str:
    """A version without the compiler flags that follow it; the processor that is compiled for is kept."""
    words = str(version or "").split()
    kept = words[: next((k for k, w in enumerate(words) if w.startswith("-")), len(words))]
    if "-target-cpu" in words[:-1]:
        kept.append("for " + words[words.index("-target-cpu") + 1])
    return " ".join(kept)


def _line(ok: bool | None, name: str, text: str) -> None:
    mark = {True: "ok", False: "MISSING", None: "-"}[ok]
    print(f"  {mark:<8} {name:<16} {text}")


def _cpu() -> tuple[str, str]:
    """The processor's name, and those of its features that matter for speed."""
    import platform

    model, flags = platform.processor() or platform.machine(), set()
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    model = value.strip()
                elif key.strip() in ("flags", "Features"):
                    flags = set(value.split())
                    break
    except OSError:
        pass
    wanted = (
        "sse4_2",
        "avx",
        "avx2",
        "fma",
        "f16c",
        "avx512f",
        "avx512bw",
        "avx512vl",
        "avx512_bf16",
        "avx512_fp16",
        "amx_tile",
        "neon",
        "sve",
    )
    return model, " ".join(f for f in wanted if f in flags) or "unknown"


def _missing(entry: dict[str, Any], gpu: bool) -> str | None:
    """The command that brings a library that was not found; None where nothing needs it."""
    command, gpu_only = _INSTALL.get(str(entry.get("name", "")), (None, True))
    return command if gpu or not gpu_only else None


def doctor() -> int:
    """Prints what broadcloth found; 0 when all that this machine can use is there, else 1."""
    import platform

    print(f"Python {platform.python_version()} ({sys.executable})")
    try:
        import numpy as np

        print(f"NumPy {np.__version__} ({os.path.dirname(np.__file__)})")
        import broadcloth as bc
        from broadcloth import _broadcloth as c
    except ImportError as error:
        print(f"broadcloth cannot be imported: {error}\n  -> {_REINSTALL}")
        return 1
    from broadcloth import _cuda_paths

    commands: list[str] = []
    print(f"broadcloth {bc.__version__} ({os.path.dirname(bc.__file__)})\n")

    model, features = _cpu()
    print(f"CPU: {model}, {os.cpu_count()} cores; {platform.platform()}")
    print(f"     {features}\n")

    print("Devices")
    gpu = _cuda_paths.driver_present()
    first = _default_device(bc, commands)
    for d in bc.devices():
        try:
            info = bc.device_info(d)
            memory = f"{_size(info.get('memory_free', 0))} free of {_size(info.get('memory_total', 0))}"
            default = ", the default" if d == first else ""
            _line(True, str(d), f"{info.get('name', '')}, {memory}, {_short(info.get('target'))}{default}")
        except Exception as error:  # the doctor must get to the end
            _line(False, str(d), str(error))
            commands.append(_CUDA_WHEELS if d.type == "cuda" else _REINSTALL)
    if not c.device_count("cuda"):
        _line(None if not gpu else False, "cuda", "no NVIDIA GPU can be used" if gpu else "no NVIDIA driver: arrays live on the CPU")
        if gpu:
            commands.append("nvidia-smi   # says what is wrong with the driver or the GPU")

    print("\nLibraries")
    for entry in c.library_status():
        found = entry.get("found")
        where = entry.get("path") or ""
        version = _short(entry.get("version"))
        if found:
            _line(True, str(entry.get("name", "")), f"{version}  {where}".strip())
            continue
        command = _missing(entry, gpu)
        _line(
            False if command else None,
            str(entry.get("name", "")),
            str(entry.get("error") or ("not found" if command else "not needed here")),
        )
        if command:
            commands.append(command)
    if gpu and c.device_count("cuda"):
        for folder in _cuda_paths.folders():
            print(f"           searched in     {folder}")

    print("\nKernels")
    _check_kernels(bc, commands)
    stats = c.cache_stats()
    _print_cache(stats)
    if stats["warning"]:
        commands.append(stats["warning"].partition("To mend it: ")[2] or "export BROADCLOTH_CACHE_DIR=FOLDER   # one that can be written")

    if commands:
        print("\nTo do")
        for command in dict.fromkeys(commands):
            print(f"  {command}")
        return 1
    print("\nAll that this machine can use is there.")
    return 0


def _default_device(bc: Any, commands: list[str]) -> Any:
    """The device of new arrays; None where the environment names one that is not there."""
    try:
        bc.device_info(bc.default_device())
        return bc.default_device()
    except Exception as error:  # the doctor must get to the end
        _line(False, "default", str(error))
        commands.append("unset BROADCLOTH_DEVICE   # or name a device that is there")
        return None


def _check_kernels(bc: Any, commands: list[str]) -> None:
    """Computes something with a compiled kernel on each device and compares it."""
    for d in bc.devices():
        try:
            x = bc.arange(1000, dtype=bc.float64, device=d)
            total = float((x * x + 1).sum())
            good = total == 332834500.0
            _line(good, str(d), "arithmetic checked" if good else f"the sum of x * x + 1 gave {total}, not 332834500.0")
            if not good:
                commands.append("python -m broadcloth cache clear")
        except Exception as error:
            _line(False, str(d), str(error).splitlines()[0])
            commands.append(_CUDA_WHEELS if d.type == "cuda" else _REINSTALL)


def _folder_size(folder: str) -> tuple[int, int]:
    count = total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.path.getsize(os.path.join(root, name))
                count += 1
            except OSError:
                continue
    return count, total


def _print_cache(stats: dict[str, Any]) -> None:
    _print_folder(stats)
    if stats.get("shipped_files"):
        print(f"  shipped          {stats['shipped_folder']}: {stats['shipped_files']} kernels, {_size(stats['shipped_bytes'])}, only read")
    else:
        print("  shipped          no kernels came with this build")


def _print_folder(stats: dict[str, Any]) -> None:
    folder = str(next((stats[k] for k in ("path", "folder", "directory", "dir") if stats.get(k)), ""))
    if not folder:
        print("  cache            none: compiled kernels are kept in memory only")
        return
    import shutil

    files, total = _folder_size(folder)
    free = ""
    try:
        free = f", {_size(shutil.disk_usage(folder).free)} free on its disk"
    except OSError:
        pass
    print(f"  cache            {folder}: {files} files, {_size(total)}{free}")
    if stats.get("warning"):
        print(f"  not used         {stats['warning']}")


def cache(arguments: list[str]) -> int:
    """The cache's commands."""
    from broadcloth import _broadcloth as c

    what = arguments[0] if arguments else "info"
    if what == "info" and len(arguments) <= 1:
        stats = c.cache_stats()
        _print_cache(stats)
        for key, value in stats.items():
            print(f"  {key:<16} {value}")
        return 0
    if what == "clear" and len(arguments) == 1:
        c.cache_clear()
        print("the kernel cache is empty")
        return 0
    options = {"export": ([],), "import": ([], ["--trust"])}
    if what in options and len(arguments) > 1 and arguments[2:] in options[what]:
        try:
            count = c.cache_export(arguments[1]) if what == "export" else c.cache_import(arguments[1], trust=len(arguments) > 2)
        except (OSError, RuntimeError, ValueError) as error:
            print(f"cache {what}: {str(error).removeprefix(f'cache {what}: ')}", file=sys.stderr)
            return 1
        print(f"{count} kernels {'written to' if what == 'export' else 'read from'} {arguments[1]}")
        return 0
    print(USAGE, file=sys.stderr)
    return 2


def _keep_modules() -> None:
    """Takes all objects that live now, which are those of Python, NumPy and broadcloth, out of the garbage collector's sight.

    They live as long as the process. The collector goes through them several times while a program runs and at its end, where that takes as
    long as a small program does (12 ms, of which NumPy's objects are most).
    """
    import gc

    gc.freeze()


def main(arguments: list[str] | None = None) -> int:
    """Runs a command or a program and returns the exit status; `broadcloth` and `python -m broadcloth` call it."""
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] not in _COMMANDS:
        from .run._command import UsageError, names_a_program, run_program

        if names_a_program(words[0]):
            if arguments is None:
                _keep_modules()
            try:
                return run_program(words)
            except UsageError as error:
                print(f"broadcloth: {error}\n\n{USAGE}", end="", file=sys.stderr)
                return 2
    try:
        status = _run(words)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever read the output (`| head`) has gone. Python writes what is left at its end: to nowhere, so that it does not complain.
        import signal

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return 0 if arguments else 2
    if arguments[0] in ("-V", "--version", "version"):
        from broadcloth import __version__

        print(f"broadcloth {__version__}")
        return 0
    if arguments[0] == "doctor" and len(arguments) == 1:
        return doctor()
    if arguments[0] == "cache":
        return cache(arguments[1:])
    print(f"broadcloth: unknown command {' '.join(arguments)!r}\n\n{USAGE}", end="", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
