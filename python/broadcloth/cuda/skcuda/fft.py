"""Transforms by plans, as `skcuda.fft` has them.

Examples
--------
>>> from broadcloth.cuda.skcuda import fft
>>> x = bc.array([1.0, 2.0, 3.0, 4.0], "float32")
>>> spectrum, again = bc.empty(3, "complex64"), bc.empty(4, "float32")
>>> fft.fft(x, spectrum, fft.Plan(x.shape, np.float32, np.complex64))
>>> spectrum
array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
>>> fft.ifft(spectrum, again, fft.Plan(x.shape, np.complex64, np.float32), scale=True)
>>> again
array([1., 2., 3., 4.], dtype=float32)
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import numpy as np

import broadcloth as bc

_PAIRS = {"fF", "Ff", "FF", "dD", "Dd", "DD"}


class Plan:
    """A transform of one shape. The engine keeps the library's own plans; this says how data lie.

    Parameters
    ----------
    shape : int or tuple of ints
        One to three axes, as the real or the complex data have them outside of a real transform.
    in_dtype, out_dtype : dtype
        Real to complex, complex to real or complex to complex, of one precision.
    batch : int
        How many transforms, along a first axis.
    stream : Stream, optional
        Where the transforms run.
    mode : int
        Of no effect: layouts are those of cuFFT's native mode.
    inembed, istride, idist, onembed, ostride, odist : optional
        cuFFT's advanced layout of input and output: the extents of the array that holds one transform's data, the step between neighbours
        and that between transforms.
    auto_allocate : bool
        Of no effect: the engine allocates what the library works in.
    """

    def __init__(
        self,
        shape: Any,
        in_dtype: Any,
        out_dtype: Any,
        batch: int = 1,
        stream: Any = None,
        mode: int = 1,
        inembed: Any = None,
        istride: int = 1,
        idist: int = 0,
        onembed: Any = None,
        ostride: int = 1,
        odist: int = 0,
        auto_allocate: bool = True,
    ) -> None:
        self.shape = tuple(int(n) for n in np.atleast_1d(shape))
        self.in_dtype, self.out_dtype = np.dtype(in_dtype), np.dtype(out_dtype)
        self.batch, self.stream = int(batch), stream
        if not 1 <= len(self.shape) <= 3 or min(self.shape) < 1:
            raise ValueError(f"Plan: expected one to three axes of at least one element, got shape {self.shape}")
        if self.in_dtype.char + self.out_dtype.char not in _PAIRS:
            raise ValueError(f"Plan: unsupported input/output type combination, {self.in_dtype} to {self.out_dtype}")
        if self.batch <= 0:
            raise ValueError(f"Plan: batch size must be greater than 0, got {batch}")
        real = "f" in (self.in_dtype.kind, self.out_dtype.kind)
        half = (*self.shape[:-1], self.shape[-1] // 2 + 1) if real else self.shape
        self._input = (self.shape if self.in_dtype.kind == "f" else half, inembed, istride, idist)
        self._output = (self.shape if self.out_dtype.kind == "f" else half, onembed, ostride, odist)


def _view(array: Any, name: str, dtype: np.dtype, plan: Plan, layout: tuple[Any, ...]) -> Any:
    """The data of a plan's transforms as an array with the batch first."""
    shape, embed, step, distance = layout
    if not isinstance(array, bc.ndarray) or array.dtype != dtype:
        raise TypeError(f"fft: expected {name} to be an array of {dtype}, got {getattr(array, 'dtype', type(array).__name__)}")
    if not array.flags.c_contiguous:
        raise ValueError(f"fft: expected {name} to be contiguous")
    if embed is None:
        if array.size != plan.batch * math.prod(shape):
            raise ValueError(f"fft: expected {name} to have {plan.batch} x {shape} elements, got shape {array.shape}")
        return array.reshape(plan.batch, *shape)
    extents = [int(n) for n in np.atleast_1d(embed)]
    if len(extents) != len(shape):
        raise ValueError(f"fft: expected {len(shape)} extents of the embedding array of {name}, got {extents}")
    steps = [step * math.prod(extents[axis + 1 :]) for axis in range(len(shape))]
    last = (plan.batch - 1) * distance + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
    if last >= array.size:
        raise ValueError(f"fft: the layout of {name} ends at element {last}, but the array has {array.size}")
    strides = tuple(s * dtype.itemsize for s in (distance, *steps))
    return bc.lib.stride_tricks.as_strided(array, (plan.batch, *shape), strides, writeable=True)


def _run(x_gpu: Any, y_gpu: Any, plan: Plan, scale: bool, inverse: bool) -> None:
    source = _view(x_gpu, "x_gpu", plan.in_dtype, plan, plan._input)
    target = _view(y_gpu, "y_gpu", plan.out_dtype, plan, plan._output)
    axes = tuple(range(1, len(plan.shape) + 1))
    # NumPy's names of the norms say which direction is divided by the number of elements.
    norm = "backward" if scale == inverse else "forward"
    with nullcontext() if plan.stream is None else plan.stream:
        if plan.in_dtype.kind == "f":
            target[...] = bc.fft.rfftn(source, axes=axes, norm=norm)
        elif plan.out_dtype.kind == "f":
            target[...] = bc.fft.irfftn(source, plan.shape, axes, norm=norm)
        else:
            target[...] = (bc.fft.ifftn if inverse else bc.fft.fftn)(source, axes=axes, norm=norm)


def fft(x_gpu: Any, y_gpu: Any, plan: Plan, scale: bool = False) -> None:
    """The transform of `x_gpu` into `y_gpu`; divided by the number of elements where `scale` is true."""
    if plan.out_dtype.kind == "f":
        raise ValueError("fft: expected a plan with complex results; ifft takes complex data to real")
    _run(x_gpu, y_gpu, plan, scale, False)


def ifft(x_gpu: Any, y_gpu: Any, plan: Plan, scale: bool = False) -> None:
    """The inverse transform of `x_gpu` into `y_gpu`, which is not divided by the number of elements unless `scale` is true."""
    if plan.in_dtype.kind == "f":
        raise ValueError("ifft: expected a plan of complex data; fft takes real data to complex")
    _run(x_gpu, y_gpu, plan, scale, True)
