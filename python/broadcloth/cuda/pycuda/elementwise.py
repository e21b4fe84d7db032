"""PyCUDA's ElementwiseKernel: statements in C that index their arrays with `i`."""

from __future__ import annotations

from typing import Any

import broadcloth as bc

from ..._namespace import listing
from . import _arguments as _args

__all__ = ["ElementwiseKernel"]


class ElementwiseKernel:
    """Statements in C++ for every index `i` of arrays of one size.

    Where all arrays are used at `[i]` alone, calls wait and fuse as array expressions do.

    Parameters
    ----------
    arguments : str
        "float a, float *x, float *z": numbers, and pointers for arrays.
    operation : str
        Statements that use `i` and, for the number of elements, `n`.
    name : str
        For messages and profiles.
    preamble, loop_prep, after_loop : str
        C++ before the kernel, and before and after each thread's loop.
    options : list of str
        For the compiler.

    Examples
    --------
    >>> from broadcloth.cuda.pycuda.elementwise import ElementwiseKernel
    >>> lin_comb = ElementwiseKernel("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "linear_combination")
    >>> x, y = bc.arange(4, dtype="float32"), bc.ones(4, dtype="float32")
    >>> z = bc.empty_like(x)
    >>> lin_comb(5, x, 6, y, z)
    >>> z
    array([ 6., 11., 16., 21.], dtype=float32)
    """

    def __init__(
        self,
        arguments: str,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Any = (),
        *,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        self.arguments = _args.parse(name, arguments)
        self.operation = operation
        self.name = self.__name__ = name
        operation, preamble = _args.c_spelling(operation), _args.c_spelling(preamble)
        arrays = [a for a in self.arguments if a.vector]
        if not arrays:
            raise ValueError(f"{name}: expected a pointer among the arguments, got {arguments!r}")
        extra: dict[str, Any] = {
            "preamble": preamble,
            "loop_prep": loop_prep,
            "after_loop": after_loop,
            "options": tuple(options or ()),
            "no_return": True,
        }
        written = {a.name for a in arrays if not a.const and _args.is_written(operation, a.name)}
        self._own = (
            written and all(_args.only_own_element(operation, a.name) for a in arrays) and not (loop_prep or after_loop or extra["options"])
        )
        if self._own:
            self._out = [k for k, a in enumerate(self.arguments) if a.name in written]
            self._in = [k for k, a in enumerate(self.arguments) if a.name not in written]
            self._kernel = bc.ElementwiseKernel(
                ", ".join(f"{self.arguments[k].dtype} {self.arguments[k].name}" for k in self._in),
                ", ".join(f"{self.arguments[k].dtype} {self.arguments[k].name}" for k in self._out),
                _args.own_element(operation, [a.name for a in arrays]),
                name,
                **extra,
            )
        else:
            words = [
                f"{'raw ' if a.vector and a.const else '_non_const raw ' if a.vector else ''}{a.dtype} {a.name}" for a in self.arguments
            ]
            self._kernel = bc.ElementwiseKernel(", ".join(words), "", operation, name, **extra)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        part = _args.part_of(self.name, kwargs)
        if kwargs:
            raise TypeError(f"{self.name}() got an unexpected keyword argument {next(iter(kwargs))!r}")
        if self._own:
            values, size = _args.flat(self.name, self.arguments, args, part)
            if size:
                self._kernel(*(values[k] for k in self._in), *(values[k] for k in self._out))
            return
        if part is not None:
            raise NotImplementedError(f"{self.name}: slice= and range= need a kernel that uses its arrays at [i] alone")
        values, size = _args.flat(self.name, self.arguments, args, None)
        if size:
            self._kernel(*values, size=size)

__dir__ = listing(__all__)
