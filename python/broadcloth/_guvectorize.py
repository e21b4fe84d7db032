"""`guvectorize`: functions of cores (vectors, matrices, …) as generalised ufuncs."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._generated_loops import (
    NUMPYS,
    OPTIONS,
    adopted,
    as_ours,
    check_target,
    driver_of,
    generated,
    is_array,
    is_ours,
    number_type,
    places,
    signature_of,
    taking,
    type_of,
)
from ._jit import fast_level
from ._pickling import reduced
from .types import Array, Type

__all__ = ["GUFunc", "guvectorize"]


def _layout(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """The dimensions of inputs and outputs in "(m,n),(n,p)->(m,p)"."""
    left, arrow, right = text.replace(" ", "").partition("->")
    if not arrow:
        raise ValueError(f"guvectorize: expected a layout such as '(n),()->(n)', got {text!r}")

    def parts(side: str) -> list[list[str]]:
        found = re.findall(r"\(([^()]*)\)", side)
        if ",".join(f"({f})" for f in found) != side:
            raise ValueError(f"guvectorize: the layout {text!r} is not made of (…),(…)->(…)")
        return [[d for d in f.split(",") if d] for f in found]

    return parts(left), parts(right)


class GUFunc:
    """A function of cores (vectors, matrices, …) as a generalised ufunc; see `guvectorize`."""

    def __init__(self, function: Callable[..., Any], signatures: list[Any], layout: str, target: str, identity: Any, fastmath: bool):
        functools.update_wrapper(self, function)
        self.py_func = function
        self.__kernel_kind__ = "generalised"
        self.signature = layout.replace(" ", "")
        self._ins, self._outs = _layout(layout)
        self.nin, self.nout = len(self._ins), len(self._outs)
        self.nargs = self.nin + self.nout
        self.identity = identity
        self._target = target
        self._fastmath = fastmath
        self._dims = list(dict.fromkeys(d for core in (*self._ins, *self._outs) for d in core))
        self._loops: dict[tuple[Type, ...], Any] = {}
        self._ufunc: Any = None
        self._drivers: dict[Any, Any] = {}
        self._eager = bool(signatures)
        for given in signatures:
            signature = signature_of(given)
            if signature.return_type not in (None, Type("void")):
                raise TypeError("guvectorize: the function writes its outputs and returns nothing; declare void(…)")
            self._add(signature.args)

    def __reduce__(self) -> Any:
        declared = list(self._loops) if self._eager else []
        return reduced(self, GUFunc, self.py_func, declared, self.signature, self._target, self.identity, self._fastmath)

    def _add(self, args: tuple[Type, ...]) -> None:
        if len(args) != self.nargs:
            raise TypeError(f"guvectorize: the layout {self.signature} has {self.nargs} operands, the signature {len(args)}")
        cores = tuple(tuple(self._dims.index(d) for d in core) for core in (*self._ins, *self._outs))
        self._loops[args] = _c._loop(self.py_func, args, cores, self._target == "parallel", self._fastmath)[0]
        self._ufunc = None

    @property
    def ufunc(self) -> Any:
        """The NumPy ufunc of the loops compiled so far."""
        if self._ufunc is None:
            self._ufunc = _c._numpy_ufunc(
                tuple(self._loops.values()), self.nin, self.nout, self.identity, self.__name__, self.__doc__ or "", self.signature
            )
        return self._ufunc

    @property
    def types(self) -> list[str]:
        """The loops, as NumPy writes them."""
        return self.ufunc.types

    @property
    def ntypes(self) -> int:
        return len(self._loops)

    def _types_of(self, args: tuple[Any, ...]) -> tuple[Type, ...]:
        """The types that a call without declared signatures is compiled for; outputs take what the inputs promote to."""
        numbers = [number_type(a) for a in args]
        if len(args) < self.nargs:
            common = np.result_type(*(t._element for t in numbers[: self.nin]))
            numbers = numbers[: self.nin] + [type_of(common)] * self.nout
        kinds = []
        for i, (t, core) in enumerate(zip(numbers, (*self._ins, *self._outs), strict=True)):
            kinds.append(Array(t, max(len(core), 1), "A") if core or i >= self.nin else t)
        return tuple(kinds)

    def __call__(self, *args: Any, out: Any = None, **options: Any) -> Any:
        if self._ufunc is not None and self._eager and out is None and self._target != "cuda" and NUMPYS.issuperset(map(type, args)):
            made = self._ufunc(*args, **options)
            _c._raise_failed()
            return made
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(f"{self.__name__}() takes from {self.nin} to {self.nargs} operands, got {len(args)}")
        if out is not None and len(args) > self.nin:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        outs = args[self.nin :] if len(args) > self.nin else (out if isinstance(out, tuple) else (out,) if out is not None else ())
        args, outs = tuple(map(adopted, args)), tuple(map(adopted, outs))
        if any(map(is_ours, (*args, *outs))) or self._target == "cuda":
            return self._call_ours(args[: self.nin], outs)
        if not self._eager:
            key = self._types_of((*args[: self.nin], *outs) if len(outs) == self.nout else args[: self.nin])
            if key not in self._loops:
                self._add(key)
        made = self.ufunc(*args, **({"out": out} if out is not None else {}), **options)
        _c._raise_failed()
        return made

    # ---- arrays of ours: a kernel with one thread for each core, or a loop on the CPU

    def _call_ours(self, ins: tuple[Any, ...], outs: tuple[Any, ...]) -> Any:
        from . import empty

        numpy_result = not any(map(is_ours, (*ins, *outs)))
        arrays = [a if is_ours(a) else as_ours(a, None, self._target) for a in ins]
        on_device = [a for a in (*arrays, *outs) if is_ours(a)]
        device = on_device[0].device
        arrays = [a if a.device == device else as_ours(a, device, self._target) for a in arrays]
        sizes: dict[str, int] = {}
        loop_shape: tuple[int, ...] = ()
        for a, core in zip(arrays, self._ins, strict=True):
            if a.ndim < len(core):
                raise ValueError(f"{self.__name__}: an operand of {len(core)} core dimensions has {a.ndim}")
            split = a.ndim - len(core)
            for d, n in zip(core, a.shape[split:], strict=True):
                if sizes.setdefault(d, n) != n:
                    raise ValueError(f"{self.__name__}: the core dimension {d} has sizes {sizes[d]} and {n}")
            loop_shape = np.broadcast_shapes(loop_shape, a.shape[:split])
        for o, core in zip(outs, self._outs, strict=False):
            for d, n in zip(core, o.shape[o.ndim - len(core) :], strict=True):
                sizes.setdefault(d, n)
        key = self._choose(arrays, outs)
        results = list(outs) or [
            empty(loop_shape + tuple(sizes[d] for d in core), dtype=t._element, device=device)
            for core, t in zip(self._outs, key[self.nin :], strict=True)
        ]
        flat = [a.astype(t._element, copy=False) for a, t in zip(arrays, key[: self.nin], strict=True)]
        spread = [_spread(a, loop_shape, len(core)) for a, core in zip(flat, self._ins, strict=True)]
        # Outputs elsewhere (NumPy's arrays beside a GPU) are filled here first.
        targets = [r if is_ours(r) and r.device == device else empty(r.shape, dtype=r.dtype, device=device) for r in results]
        vectors = tuple(is_array(t) for t in key)
        spread = [
            a if core or not vector else a.reshape((*a.shape, 1))
            for a, core, vector in zip((*spread, *targets), (*self._ins, *self._outs), vectors, strict=True)
        ]
        cuda = str(device).startswith("cuda")
        driver = self._driver(len(loop_shape), cuda, vectors)
        if cuda:
            count = int(np.prod(loop_shape, dtype=np.int64))
            if count:
                driver[(count + 127) // 128, 128](*spread)
        else:
            driver(*spread)
        for r, t in zip(results, targets, strict=True):
            if r is not t:
                r[...] = t if is_ours(r) else t.get()
        made = [r.get() if numpy_result and is_ours(r) else r for r in results]
        return made[0] if len(made) == 1 else tuple(made)

    def _choose(self, arrays: list[Any], outs: tuple[Any, ...]) -> tuple[Type, ...]:
        if not self._eager:
            return self._types_of((*arrays, *outs) if len(outs) == self.nout else tuple(arrays))
        if key := taking([a.dtype for a in arrays], self._loops):
            return key
        raise TypeError(f"ufunc '{self.__name__}' has no loop for these types; it was declared for {list(self._loops)}")

    # ---- calls in compiled functions

    def _loop_over(self, operands: list[tuple[int, str] | None], keywords: list[str]) -> Any:
        """The function of arrays of these dimensions and dtypes that a compiled function calls in this one's place."""
        name = self.__name__
        if keywords not in ([], ["out"]) or (keywords and self.nout != 1):
            raise TypeError(f"{name}() takes no argument '{keywords[0]}' in compiled functions; pass the operands by position")
        if len(operands) not in (self.nin, self.nargs):
            raise TypeError(f"{name}() takes {self.nin} inputs, and all or none of its outputs, got {len(operands)} operands")
        known = [o for o in operands if o is not None]
        if len(known) != len(operands):
            raise TypeError(f"{name}() takes arrays and numbers in compiled functions")
        dtypes = [np.empty(0, o[1]) for o in known]
        types = self._choose(dtypes[: self.nin], tuple(dtypes[self.nin :]))
        loops = [ndim - len(core) for (ndim, _), core in zip(known, self._ins, strict=False)]
        if min(loops) < 0:
            raise TypeError(f"{name}(): an operand has fewer dimensions than its core")
        return generated(self._loop_source(known, types, max(loops)), "loop", self._loop_names(types))

    def _loop_names(self, types: tuple[Type, ...]) -> dict[str, Any]:
        return {"np": np, "function": self.py_func, **{f"t{i}": t._element.type for i, t in enumerate(types)}}

    def _loop_source(self, operands: list[tuple[int, str]], types: tuple[Type, ...], ndim: int) -> str:
        cores = (*self._ins, *self._outs)
        given = len(operands) == self.nargs
        names = [f"a{i}" for i in range(self.nin)] + ([f"a{i}" for i in range(self.nin, self.nargs)] if given and self.nout > 1 else [])
        lines = [f"def loop({', '.join(names + (['out'] if given and self.nout == 1 else []))}):"]
        if given and self.nout == 1:
            lines.append(f"    a{self.nin} = out")
        # The core's extents, and the loops' over all inputs.
        sizes: dict[str, str] = {}
        for i, core in enumerate(cores if given else self._ins):
            for d, dim in enumerate(core):
                extent = f"a{i}.shape[{operands[i][0] - len(core) + d}]"
                if dim not in sizes:
                    sizes[dim] = f"n{len(sizes)}"
                    lines.append(f"    {sizes[dim]} = {extent}")
                else:
                    lines += [
                        f"    if {extent} != {sizes[dim]}:",
                        f'        raise ValueError("the core dimension {dim} has several sizes")',
                    ]
        missing = [dim for core in self._outs for dim in core if dim not in sizes]
        if missing:
            raise TypeError(f"{self.__name__}(): the core dimension {missing[0]} is known from an output only: pass the outputs")
        shapes = [f"a{i}.shape[:{operands[i][0] - len(core)}]" for i, core in enumerate(self._ins) if operands[i][0] > len(core)]
        shape = "()" if ndim == 0 else shapes[0] if len(shapes) == 1 else f"np.broadcast_shapes({', '.join(shapes)})"
        lines.append(f"    shape = {shape}")
        for i, core in enumerate(self._ins):
            if not core and operands[i][0] == 0:
                lines.append(f"    x{i} = t{i}(a{i})" if not is_array(types[i]) else f"    x{i} = np.full(1, a{i}, t{i})")
                continue
            cast = f"a{i}.astype(t{i})" if np.dtype(operands[i][1]) != types[i]._element else f"a{i}"
            full = f"shape + {cast}.shape[{operands[i][0] - len(core)}:]" if core else "shape"
            lines.append(f"    x{i} = np.broadcast_to({cast}, {full})" if ndim else f"    x{i} = {cast}")
        for i, core in enumerate(self._outs, self.nin):
            extents = "".join(f"{sizes[d]}, " for d in core)
            if not given:
                lines.append(f"    a{i} = np.empty(shape + ({extents}), t{i})")
            lines.append(f"    x{i} = np.expand_dims(a{i}, -1)" if not core else f"    x{i} = a{i}")
            if given and ndim:
                lines += [f"    if a{i}.shape[:{ndim}] != shape:", '        raise ValueError("an output has another shape than the loops")']
        indent = "    "
        for d in range(ndim):
            lines.append(f"{indent}for i{d} in range(shape[{d}]):")
            indent += "    "
        axes = [f"i{d}" for d in range(ndim)]
        arguments = []
        for i, core in enumerate(cores):
            alone = i < self.nin and not core and operands[i][0] == 0
            index = axes + [":"] * (len(core) if core or i < self.nin else 1)
            if i < self.nin and not core and is_array(types[i]) and not alone:
                index = [*axes[:-1], f"{axes[-1]}:{axes[-1]} + 1"] if axes else [":"]
            arguments.append(f"x{i}[{', '.join(index)}]" if index and not alone else f"x{i}")
        lines.append(f"{indent}function({', '.join(arguments)})")
        results = [f"a{i}" if core or ndim else f"a{i}[()]" for i, core in enumerate(self._outs, self.nin)]
        lines.append(f"    return {', '.join(results)}")
        return "\n".join(lines) + "\n"

    def _driver(self, ndim: int, cuda: bool, vectors: tuple[bool, ...]) -> Any:
        """The function that calls ours for every core: over `ndim` loop dimensions; `vectors` are the operands that it takes as arrays."""
        key = (ndim, cuda, vectors)
        if key in self._drivers:
            return self._drivers[key]
        axes = [f"i{d}" for d in range(ndim)]
        operands = []
        for i, core in enumerate((*self._ins, *self._outs)):
            index = axes + [":"] * len(core)
            if not core and vectors[i]:
                index = [*axes, ":"]  # a scalar that is declared as a vector has one element
            operands.append(f"a{i}[{', '.join(index)}]" if index else f"a{i}[()]")
        names = [f"a{i}" for i in range(self.nargs)]
        lines = [f"def driver({', '.join(names)}):"]
        parallel = self._target == "parallel"
        bounds = [("0", f"{names[-1]}.shape[{d}]") for d in range(ndim)]
        lines += places(axes, bounds, f"_function({', '.join(operands)})", parallel, cuda)
        made = driver_of(lines, self.py_func, parallel, cuda, self._fastmath)
        self._drivers[key] = made
        return made

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"


def _spread(a: Any, loop_shape: tuple[int, ...], core: int) -> Any:
    """The operand with all loop dimensions."""
    from . import broadcast_to

    shape = loop_shape + a.shape[a.ndim - core :]
    return a if a.shape == shape else broadcast_to(a, shape)


def guvectorize(
    signatures: Any = None, layout: str | None = None, *, target: str = "cpu", identity: Any = None, cache: bool = False,
    fastmath: bool = False, nopython: bool = True, **options: Any,
) -> Any:  # fmt: skip
    """Makes a generalised ufunc of a function that reads its inputs' cores and writes its outputs'.

    Parameters
    ----------
    signatures : list of signatures, optional
        ``["void(float64[:], float64, float64[:])"]``; without any, the function is compiled for the types that it meets.
    layout : str
        The core dimensions: ``"(n),()->(n)"``.
    target : {'cpu', 'parallel', 'cuda'}
        'parallel' works on several cores at once; 'cuda' on a GPU, one thread a core.

    Raises
    ------
    KeyError
        Numba has no such option; for 'cuda' a TypeError.

    Examples
    --------
    >>> import numpy as np
    >>> @bc.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
    ... def shifted(x, by, out):
    ...     for i in range(x.shape[0]):
    ...         out[i] = x[i] + by
    >>> shifted(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 20.0]))
    array([[11., 12.],
           [23., 24.]])
    """
    check_target("guvectorize", target)
    if target == "cuda" and not nopython:
        raise TypeError("nopython flag must be True")
    if unknown := sorted(options.keys() - OPTIONS):
        if target == "cuda":
            raise TypeError(f"The following target options are not supported: {', '.join(unknown)}; leave them out")
        raise KeyError(f"guvectorize: Unrecognized options: {', '.join(unknown)}")
    if isinstance(signatures, str) and layout is None and "->" in signatures:
        signatures, layout = None, signatures
    if layout is None:
        raise TypeError("guvectorize: expected a layout such as '(n),()->(n)'")
    given = list(signatures) if isinstance(signatures, list) else [] if signatures is None else [signatures]
    if given and all(isinstance(t, Type) for t in given):
        given = [tuple(given)]

    def decorate(function: Callable[..., Any]) -> GUFunc:
        return GUFunc(getattr(function, "py_func", function), given, layout, target, identity, fast_level(fastmath) == 1)

    return decorate
