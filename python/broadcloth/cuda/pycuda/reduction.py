"""PyCUDA's ReductionKernel: a map that indexes its arrays with `i`, and a join of two values."""

from __future__ import annotations

from typing import Any

import numpy as np

import broadcloth as bc

from ..._namespace import listing
from . import _arguments as _args

__all__ = ["ReductionKernel"]


class ReductionKernel:
    """A sum (or another join) over what an expression in C++ gives for every index `i`.

    Parameters
    ----------
    dtype_out : dtype
        Of the result.
    neutral : str or number
        What changes nothing when joined: the result of nothing.
    reduce_expr : str
        An expression of `a` and `b`.
    map_expr : str, optional
        An expression of the arguments at `i`; the one array's elements unless given.
    arguments : str
        "float *x, float *y".
    name, keep, options, preamble
        As for `ElementwiseKernel`.

    Examples
    --------
    >>> import numpy as np
    >>> from broadcloth.cuda.pycuda.reduction import ReductionKernel
    >>> dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y")
    >>> x = bc.arange(400, dtype="float32")
    >>> float(dot(x, bc.ones(400, dtype="float32")))
    79800.0
    """

    def __init__(
        self,
        dtype_out: Any,
        neutral: Any,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Any = None,
        preamble: str = "",
    ) -> None:
        self.dtype_out = np.dtype(dtype_out)
        self.name = self.__name__ = name
        dtype = self.dtype_out.name
        preamble = _args.c_spelling(preamble)
        self.arguments = _args.parse(name, arguments) if arguments else [_args.Argument("in", dtype, True, True)]
        arrays = [a for a in self.arguments if a.vector]
        # The one argument that PyCUDA names itself has a name that is no word of C++'s.
        map_expr = _args.c_spelling(map_expr or (f"{arrays[0].name}[i]" if arrays else ""))
        if not arrays:
            raise ValueError(f"{name}: expected a pointer among the arguments, got {arguments!r}")
        reduce_expr = _args.c_spelling(reduce_expr)
        extra: dict[str, Any] = {"preamble": preamble, "options": tuple(options or ())}
        self._map = None
        if all(_args.only_own_element(map_expr, a.name) for a in arrays):
            inputs = ", ".join(f"{a.dtype} {a.name}" for a in self.arguments)
            map_expr = _args.own_element(map_expr, [a.name for a in arrays])
        else:
            words = ", ".join(f"{'raw ' if a.vector else ''}{a.dtype} {a.name}" for a in self.arguments)
            self._map = bc.ElementwiseKernel(words, f"{dtype} bc_mapped", f"bc_mapped = {map_expr}", name + "_map", **extra)
            inputs, map_expr = f"{dtype} bc_mapped", "bc_mapped"
        self._kernel = bc.ReductionKernel(inputs, f"{dtype} bc_total", map_expr, reduce_expr, "bc_total = a", str(neutral), name, **extra)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result as a 0-d array (with ``return_alloc=True`` beside the size of what it needed, which is nothing here)."""
        part = _args.part_of(self.name, kwargs)
        out = kwargs.pop("out", None)
        kwargs.pop("allocator", None)
        both = kwargs.pop("return_alloc", False)
        if kwargs:
            raise TypeError(f"{self.name}() got an unexpected keyword argument {next(iter(kwargs))!r}")
        if part is not None and self._map is not None:
            raise NotImplementedError(f"{self.name}: slice= and range= need a map that uses its arrays at [i] alone")
        values, size = _args.flat(self.name, self.arguments, args, part)
        if self._map is not None:
            values = [self._map(*values, bc.empty(size, self.dtype_out))]
        result = self._kernel(*values) if out is None else self._kernel(*values, out=out)
        return (result, 0) if both else result

__dir__ = listing(__all__)
