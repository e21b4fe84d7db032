"""Host arrays as kernels' arguments, with the ways that they are copied: Numba's `cuda.In`, `cuda.Out` and `cuda.InOut`."""

from __future__ import annotations

from typing import Any

from .. import _broadcloth as _c


def In(ary: Any) -> _c.KernelArgument:
    """A host array that the kernel reads: copied to the device and not back.

    Examples
    --------
    >>> import numpy as np
    >>> from broadcloth import cuda
    >>> @cuda.jit
    ... def double(x, y):
    ...     i = cuda.grid(1)
    ...     if i < x.size:
    ...         y[i] = 2 * x[i]
    >>> x, y = np.arange(4.0), np.empty(4)
    >>> double[1, 32](cuda.In(x), cuda.Out(y))
    >>> y
    array([0., 2., 4., 6.])
    """
    return _c.kernel_argument(ary, True, False)


def Out(ary: Any) -> _c.KernelArgument:
    """A host array that the kernel fills: not copied to the device, but back."""
    return _c.kernel_argument(ary, False, True)


def InOut(ary: Any) -> _c.KernelArgument:
    """A host array that the kernel reads and changes: copied both ways."""
    return _c.kernel_argument(ary, True, True)
