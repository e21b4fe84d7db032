"""The libraries that are measured, each behind the same few calls. A library that is not installed is left out."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

NAMES = {
    "cpu": ("broadcloth", "numpy", "torch", "torch_compiled", "jax"),
    "cuda": ("broadcloth", "cupy", "torch", "torch_compiled", "jax"),
}


def _write_inner(p: Any, value: Any) -> Any:
    p[1:-1, 1:-1] = value
    return p


def _numpy_like(module: Any, norm: Callable[[Any], Any]) -> SimpleNamespace:
    names = ["sin", "cos", "exp", "log", "sqrt", "abs", "maximum", "where", "sum", "mean", "std", "max", "matmul", "copy"]
    return SimpleNamespace(**{n: getattr(module, n) for n in names}, norm=norm, set_inner=_write_inner)


class Peer:
    """A library on one device.

    function  makes the callable that is timed from a body
    submit    hands pending work to the device without waiting; None where every call does so by itself
    """

    name = ""
    xp: SimpleNamespace
    submit: Callable[[], None] | None = None

    def __init__(self, device: str) -> None:
        self.device = device

    def version(self) -> str:
        return ""

    def array(self, host: np.ndarray) -> Any:
        raise NotImplementedError

    def function(self, body: Callable[..., Any]) -> Callable[..., Any]:
        xp = self.xp
        return lambda *arrays: body(xp, *arrays)

    def synchronize(self, result: Any = None) -> None:
        """Waits for all work; `result` is what the last call gave."""

    def numpy(self, value: Any) -> np.ndarray:
        return np.asarray(value)

    def warm(self, call: Callable[[], Any]) -> None:
        """Calls until nothing is compiled or tuned any more."""
        for _ in range(3):
            self.synchronize(call())

    def trim(self) -> None:
        """Gives unused memory back."""

    def copy_function(self) -> Callable[[Any, Any], Any] | None:
        """`copy(dst, src)`: reads an array and writes another, to measure the bandwidth of memory with."""
        return None


class Broadcloth(Peer):
    name = "broadcloth"

    def __init__(self, device: str) -> None:
        super().__init__(device)
        import broadcloth as bc

        if device == "cuda" and not bc.device_count("cuda"):
            raise ImportError("no NVIDIA GPU can be used")
        bc.set_default_device(device)
        self.bc = bc
        self.xp = _numpy_like(bc, bc.linalg.norm)
        self.submit = bc.flush

    def version(self) -> str:
        return self.bc.__version__

    def array(self, host: np.ndarray) -> Any:
        return self.bc.array(host)

    def synchronize(self, result: Any = None) -> None:
        self.bc.synchronize()

    def numpy(self, value: Any) -> np.ndarray:
        return self.bc.asnumpy(value)

    def warm(self, call: Callable[[], Any]) -> None:
        # Waits for the compiler, so that the timed calls run what a program runs after its first moments.
        before = self.bc.config.background_compile
        self.bc.config.background_compile = False
        try:
            super().warm(call)
        finally:
            self.bc.config.background_compile = before
        super().warm(call)

    def trim(self) -> None:
        self.bc.trim_memory()

    def copy_function(self) -> Callable[[Any, Any], Any] | None:
        return lambda dst, src: self.bc.negative(src)  # a copy waits until somebody writes, and may never happen

    def kernels(self, call: Callable[[], Any]) -> list[dict[str, Any]]:
        """The kernels of one call, as the profiler sees them."""
        with self.bc.profiler.record() as r:
            result = call()
            self.bc.synchronize()
        del result
        return [{"name": k.name, "microseconds": round(k.time * 1e6, 2)} for k in r.kernels]


class NumPy(Peer):
    name = "numpy"

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self.xp = _numpy_like(np, np.linalg.norm)

    def version(self) -> str:
        return np.__version__

    def array(self, host: np.ndarray) -> Any:
        return host


class CuPy(Peer):
    name = "cupy"

    def __init__(self, device: str) -> None:
        super().__init__(device)
        import cupy

        cupy.cuda.Device(0).use()
        self.cupy = cupy
        self.xp = _numpy_like(cupy, cupy.linalg.norm)

    def version(self) -> str:
        return self.cupy.__version__

    def array(self, host: np.ndarray) -> Any:
        return self.cupy.asarray(host)

    def synchronize(self, result: Any = None) -> None:
        self.cupy.cuda.Stream.null.synchronize()

    def numpy(self, value: Any) -> np.ndarray:
        return self.cupy.asnumpy(value)

    def trim(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()

    def copy_function(self) -> Callable[[Any, Any], Any] | None:
        return self.cupy.copyto


class Torch(Peer):
    name = "torch"

    def __init__(self, device: str) -> None:
        super().__init__(device)
        import torch

        if device == "cuda" and not torch.cuda.is_available():
            raise ImportError("PyTorch finds no GPU")
        torch.set_grad_enabled(False)
        torch.set_float32_matmul_precision("highest")
        self.torch = torch
        t = torch
        self.xp = SimpleNamespace(
            **{n: getattr(t, n) for n in ["sin", "cos", "exp", "log", "sqrt", "abs", "maximum", "where", "sum", "mean", "matmul"]},
            torch=t,
            std=lambda a: t.std(a, correction=0),
            max=lambda a, axis, keepdims=False: t.amax(a, axis, keepdims),
            copy=t.clone,
            norm=t.linalg.norm,
            set_inner=_write_inner,
        )
        self.xp.sum = lambda a, axis=None, keepdims=False: t.sum(a) if axis is None else t.sum(a, axis, keepdims)

    def version(self) -> str:
        return self.torch.__version__

    def array(self, host: np.ndarray) -> Any:
        return self.torch.from_numpy(host).to(self.device, copy=True)

    def synchronize(self, result: Any = None) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def numpy(self, value: Any) -> np.ndarray:
        return value.cpu().numpy()

    def trim(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.empty_cache()

    def copy_function(self) -> Callable[[Any, Any], Any] | None:
        return lambda dst, src: dst.copy_(src)


class TorchCompiled(Torch):
    name = "torch_compiled"

    def function(self, body: Callable[..., Any]) -> Callable[..., Any]:
        xp = self.xp
        self.torch._dynamo.reset()  # else the one lambda below is taken for a function that is compiled too often
        return self.torch.compile(lambda *arrays: body(xp, *arrays), dynamic=False, fullgraph=True)

    def copy_function(self) -> Callable[[Any, Any], Any] | None:
        return None


class Jax(Peer):
    name = "jax"

    def __init__(self, device: str) -> None:
        super().__init__(device)
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "float32")
        self.where = jax.devices("gpu" if device == "cuda" else "cpu")[0]
        self.jax = jax
        self.xp = _numpy_like(jax.numpy, jax.numpy.linalg.norm)
        self.xp.jax = jax
        self.xp.set_inner = lambda p, value: p.at[1:-1, 1:-1].set(value)

    def version(self) -> str:
        return self.jax.__version__

    def array(self, host: np.ndarray) -> Any:
        return self.jax.device_put(host, self.where).block_until_ready()

    def function(self, body: Callable[..., Any]) -> Callable[..., Any]:
        xp = self.xp
        return self.jax.jit(lambda *arrays: body(xp, *arrays))

    def synchronize(self, result: Any = None) -> None:
        self.jax.block_until_ready(result)


_CLASSES: dict[str, tuple[type[Peer], str]] = {
    "broadcloth": (Broadcloth, "broadcloth"),
    "numpy": (NumPy, "numpy"),
    "cupy": (CuPy, "cupy"),
    "torch": (Torch, "torch"),
    "torch_compiled": (TorchCompiled, "torch"),
    "jax": (Jax, "jax"),
}


def open_peers(device: str, wanted: list[str] | None = None) -> tuple[dict[str, Peer], dict[str, str]]:
    """The peers that are installed and work on the device, and for each of the others why it is left out."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # few small kernels: a pool of compilers starts slower
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the GPU's memory is shared with the others
    if device == "cpu":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    found: dict[str, Peer] = {}
    missing: dict[str, str] = {}
    for name in NAMES[device]:
        if wanted and name not in wanted:
            continue
        kind, module = _CLASSES[name]
        try:
            importlib.import_module(module)
            found[name] = kind(device)
        except Exception as error:  # a broken installation of a peer is no error of the benchmark
            missing[name] = f"{type(error).__name__}: {error}"
    return found, missing
