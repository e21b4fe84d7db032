"""Finds the folders that hold CUDA's libraries and tells the engine, which opens them when a GPU kernel first needs them."""

from __future__ import annotations

import os
import site
import sys

_LIBRARIES = ("nvrtc", "cublasLt", "cublas", "cusolver", "cufft", "cusparse", "curand", "cudnn", "nccl")


def driver_present() -> bool:
    """Tells, without opening anything, whether an NVIDIA driver seems to be installed."""
    return os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg") or os.path.exists("/proc/driver/nvidia/version")


def wheel_folders() -> list[str]:
    """The `lib` folders of the nvidia-* wheels in the folders that Python imports from."""
    import glob

    roots = [*sys.path, *site.getsitepackages()]
    found: list[str] = []
    for root in dict.fromkeys(r for r in roots if r):
        nvidia = os.path.join(root, "nvidia")
        if os.path.isdir(nvidia):
            for pattern in ("*/lib", "*/lib64", "*/bin"):
                found += [f for f in sorted(glob.glob(os.path.join(nvidia, pattern))) if glob.glob(os.path.join(f, "*.so*"))]
    return list(dict.fromkeys(found))


def pathfinder_folders(names: tuple[str, ...] = _LIBRARIES) -> list[str]:
    """The folders that NVIDIA's cuda-pathfinder knows; empty where it is not installed."""
    try:
        from cuda import pathfinder
    except ImportError:
        return []
    found: list[str] = []
    for name in names:
        find = getattr(pathfinder, "find_nvidia_dynamic_lib", None)
        try:
            path = find(name) if find else pathfinder.load_nvidia_dynamic_lib(name).abs_path
        except Exception:  # a library that is not there is no error here: the engine names it when it is needed
            continue
        if path:
            found.append(os.path.dirname(path))
    return list(dict.fromkeys(found))


def folders() -> list[str]:
    """Every folder to search, best first."""
    import glob

    found = wheel_folders()
    if not any(glob.glob(os.path.join(f, "libnvrtc.so*")) for f in found):
        found = pathfinder_folders() + found
    return list(dict.fromkeys(found))


def install() -> None:
    """Hands the folders to the engine; does nothing, quickly, where there is no driver."""
    if not driver_present():
        return
    from . import _broadcloth as _c

    tell = getattr(_c, "set_library_paths", None)
    if tell is not None:
        tell(folders())
