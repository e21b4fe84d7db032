"""PyCUDA's scans: every element becomes the join of all up to it, or of all before it."""

from __future__ import annotations

from typing import Any

import numpy as np

import broadcloth as bc

from ..._namespace import listing

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]


class InclusiveScanKernel:
    """``out[i] = in[0] ⊕ … ⊕ in[i]``, where ⊕ is an expression of `a` and `b` in C++.

    Parameters
    ----------
    dtype : dtype
        Of the elements.
    scan_expr : str
        An associative expression of `a` (what came before) and `b`.
    neutral : str or number, optional
        What changes nothing when joined.
    name_prefix : str
        For messages and profiles.
    options, preamble
        As for `ElementwiseKernel`.

    A call takes the array and, optionally, one for the result; without that the array itself is overwritten.

    Examples
    --------
    >>> import numpy as np
    >>> from broadcloth.cuda.pycuda.scan import InclusiveScanKernel
    >>> running_sum = InclusiveScanKernel(np.int32, "a+b")
    >>> running_sum(bc.arange(6, dtype="int32"))
    array([ 0,  1,  3,  6, 10, 15], dtype=int32)
    """

    _exclusive = False

    def __init__(
        self,
        dtype: Any,
        scan_expr: str,
        neutral: Any = None,
        name_prefix: str = "scan",
        options: Any = (),
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.name = name_prefix
        self._kernel = bc._c.ScanKernel(
            self.dtype, scan_expr, None if neutral is None else str(neutral), self._exclusive, name_prefix, preamble
        )

    def __call__(
        self, input_ary: bc.ndarray, output_ary: bc.ndarray | None = None, allocator: Any = None, stream: Any = None
    ) -> bc.ndarray:
        if stream is not None:
            raise NotImplementedError(f"{self.name}: use `with stream:` in the place of stream=")
        if not isinstance(input_ary, bc.ndarray):
            raise TypeError(f"{self.name}: expected a broadcloth.ndarray, got {type(input_ary).__name__}")
        if input_ary.dtype != self.dtype:
            raise TypeError(f"{self.name}: expected elements of {self.dtype}, got {input_ary.dtype}")
        out = input_ary if output_ary is None else output_ary
        if out.size != input_ary.size:
            raise ValueError(f"{self.name}: expected arrays of one size, got {input_ary.size} and {out.size}")
        if input_ary.size:
            out[...] = self._kernel(input_ary.reshape(-1)).reshape(out.shape)
        return out


class ExclusiveScanKernel(InclusiveScanKernel):
    """``out[0] = neutral`` and ``out[i] = in[0] ⊕ … ⊕ in[i - 1]``; as `InclusiveScanKernel` besides.

    Examples
    --------
    >>> import numpy as np
    >>> from broadcloth.cuda.pycuda.scan import ExclusiveScanKernel
    >>> ExclusiveScanKernel(np.int32, "a+b", neutral=0)(bc.arange(6, dtype="int32"))
    array([ 0,  0,  1,  3,  6, 10], dtype=int32)
    """

    _exclusive = True

__dir__ = listing(__all__)
