"""`vectorize`, `guvectorize` and `stencil`: functions of one element, one core or one neighbourhood, over whole arrays."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._jit import fast_level, is_signature
from ._pickling import reduced
from ._source import from_source
from .types import Array, Signature, Type

__all__ = ["DUFunc", "GUFunc", "guvectorize", "stencil", "vectorize"]

_TARGETS = ("cpu", "parallel", "cuda")
# Options of Numba's that change nothing here.
_OPTIONS = {"boundscheck", "debug", "error_model", "forceobj", "inline", "locals", "looplift", "nogil", "parallel", "writable_args"}


def _check_target(name: str, target: str) -> None:
    if target not in _TARGETS:
        raise ValueError(f"{name}: expected target 'cpu', 'parallel' or 'cuda', got {target!r}")


def _type_of(o: Any) -> Type:
    """The type that a dtype, a class of numbers or a type means."""
    return o if isinstance(o, Type) else Type("boolean" if np.dtype(o) == bool else np.dtype(o).name)


def _is_array(t: Type) -> bool:
    return repr(t).startswith("array(")


def _number(o: Any) -> Type:
    """The type of an operand's elements."""
    if isinstance(o, bool):
        return Type("boolean")
    if isinstance(o, int):
        return Type("int64")
    if isinstance(o, float):
        return Type("float64")
    if isinstance(o, complex):
        return Type("complex128")
    dtype = getattr(o, "dtype", None)
    dtype = np.dtype(dtype if dtype is not None else np.asarray(o).dtype)
    if dtype.kind in "OSUVT":
        raise TypeError(f"vectorized functions take numbers and arrays of them, got {dtype}")
    return _type_of(dtype)


def _taking(given: list[Any], declared: Iterable[tuple[Type, ...]]) -> tuple[Type, ...] | None:
    """The first declared signature whose inputs these dtypes cast to, safely if there is one."""
    for rule in ("safe", "same_kind"):
        for signature in declared:
            if all(np.can_cast(g, t._element, rule) for g, t in zip(given, signature, strict=False)):
                return signature
    return None


def _is_ours(o: Any) -> bool:
    return isinstance(o, _c.ndarray)


# The classes of what NumPy's ufuncs take themselves: calls with nothing else need no look at their operands.
_NUMPYS = frozenset((np.ndarray, bool, int, float, complex, *np.sctypeDict.values()))


class DUFunc:
    """A function of numbers as a ufunc.

    Compiled functions call it as a ufunc, too: it maps over arrays there.

    NumPy arrays in, NumPy arrays out, computed on the CPU; broadcloth arrays in, broadcloth arrays out: there the call is recorded as any
    array expression is, and fuses with what is around it, on the CPU and on CUDA.
    """

    def __init__(self, function: Callable[..., Any], signatures: list[Any], target: str, identity: Any, fastmath: bool):
        functools.update_wrapper(self, function)
        self.py_func = function
        self.__kernel_kind__ = "elementwise"
        self._signatures: list[Signature] = []
        self.nin = len(inspect.signature(function).parameters)
        self.nout = 1
        self.nargs = self.nin + 1
        self.identity = None if identity == "reorderable" else identity
        self.signature = None
        self.targetoptions = {"target": target, "fastmath": fastmath}
        self._target = target
        self._identity = identity
        self._fastmath = fastmath
        self._loops: dict[tuple[Type, ...], tuple[Any, Type]] = {}
        self._ops: dict[tuple[Type, ...], Any] = {}
        self._ufuncs: dict[tuple[Type, ...], Any] = {}
        self._quick: dict[Any, Any] = {}
        self._all: Any = None
        self._eager = bool(signatures)
        self._plain = self._eager and target != "cuda"  # calls with NumPy's arrays are calls of the ufunc of all loops
        self._declared: list[tuple[Type, ...]] = []
        for given in signatures:
            signature = _signature(given)
            if len(signature.args) != self.nin:
                raise TypeError(
                    f"vectorize: {self.__name__} takes {self.nin} arguments, the signature {signature!r} has {len(signature.args)}"
                )
            self._declared.append(signature.args)
            self._signatures.append(signature)
            made = self._loop(signature.args)[1]
            if signature.return_type is not None and made != signature.return_type:
                # The loop gives what the signature says.
                self._loops[signature.args] = self._converted(signature)

    def __reduce__(self) -> Any:
        declared = [tuple(a) for a in self._declared]
        return reduced(self, DUFunc, self.py_func, declared, self._target, self._identity, self._fastmath)

    # ---- compiling

    def _loop(self, args: tuple[Type, ...]) -> tuple[Any, Type]:
        if args not in self._loops:
            loop, shown = _c._loop(self.py_func, args, None, self._target == "parallel", self._fastmath)
            self._loops[args] = (loop, Type(shown))
            self._all = None
        return self._loops[args]

    def _converted(self, signature: Signature) -> tuple[Any, Type]:
        """The loop of a function whose result is cast to what the signature says."""
        names = [f"a{i}" for i in range(self.nin)]
        body = f"lambda {', '.join(names)}: to(f({', '.join(names)}))"
        wrapped = _from_source(f"function = {body}", "function", {"to": signature.return_type._element.type, "f": self.py_func})
        self._wrapped = getattr(self, "_wrapped", {})
        self._wrapped[signature.args] = wrapped
        loop, shown = _c._loop(wrapped, signature.args, None, self._target == "parallel", self._fastmath)
        return loop, Type(shown)

    def _numpy(self, args: tuple[Type, ...] | None) -> Any:
        if args is None:
            if self._all is None:
                loops = [self._loops[a][0] for a in (self._declared or self._loops)]
                self._all = _c._numpy_ufunc(tuple(loops), self.nin, 1, self._identity, self.__name__, self.__doc__ or "", None)
            return self._all
        if args not in self._ufuncs:
            self._ufuncs[args] = _c._numpy_ufunc(
                (self._loop(args)[0],), self.nin, 1, self._identity, self.__name__, self.__doc__ or "", None
            )
        return self._ufuncs[args]

    def _numpy_for(self, operands: tuple[Any, ...]) -> Any:
        if self._eager:
            return self._numpy(None)
        key = tuple([getattr(o, "dtype", None) or type(o) for o in operands])
        found = self._quick.get(key)
        if found is None:
            found = self._quick[key] = self._numpy(tuple(_number(o) for o in operands))
        return found

    def add(self, signature: Any) -> None:
        """Compiles for one more signature."""
        args = _signature(signature).args
        if self._eager:
            self._declared.append(args)
            self._signatures.append(_signature(signature))
        self._loop(args)

    # ---- calling

    def __call__(self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, device: Any = None, **options: Any) -> Any:
        if self._all is not None and self._plain and out is None and where is True and dtype is None and device is None:
            if len(args) == self.nin and _NUMPYS.issuperset(map(type, args)):
                made = self._all(*args, **options)
                _c._raise_failed()
                return made
        if len(args) > self.nin and out is None:
            if len(args) > self.nargs:
                raise TypeError(f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments but {len(args)} were given")
            args, out = args[: self.nin], args[self.nin]
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} operands, got {len(args)}")
        if isinstance(out, tuple):
            out = out[0] if out else None
        plain = device is None and out is None and _NUMPYS.issuperset(map(type, args))
        if not plain and (device is not None or _is_ours(out) or any(map(_is_ours, args))):
            return self._call_ours(args, out, where, dtype, device)
        if self._target == "cuda":
            made = self._call_ours(args, None, where, dtype, None)
            host = made.get() if hasattr(made, "get") else np.asarray(made)
            if out is not None:
                out[...] = host
                return out
            return host[()] if host.ndim == 0 else host
        if out is not None:
            options["out"] = out
        if where is not True:
            options["where"] = where
        if dtype is not None:
            options["dtype"] = dtype
        made = self._numpy_for(args)(*args, **options)
        _c._raise_failed()
        return made

    def _call_ours(self, args: tuple[Any, ...], out: Any, where: Any, dtype: Any, device: Any) -> Any:
        args = tuple(
            a if _is_ours(a) or isinstance(a, bool | int | float | complex | np.generic) else _asarray(a, device, self._target)
            for a in args
        )
        key = self._choose(args)
        if key not in self._ops:
            function = getattr(self, "_wrapped", {}).get(key, self.py_func)
            self._ops[key] = _c._user_op(function, key, self._fastmath)
        made = _c._apply_user_op(self._ops[key][0], args, out, None if where is True else where, device)
        return made if dtype is None or out is not None else made.astype(dtype)

    def _choose(self, args: tuple[Any, ...]) -> tuple[Type, ...]:
        """The operands' types, or the first signature that they cast to."""
        arrays = [a.dtype for a in args if _is_ours(a) and not isinstance(a, np.generic)]
        given = []
        for a in args:
            if self._eager and arrays and type(a) in (bool, int, float, complex):
                given.append(np.result_type(*arrays, a))  # a Python number takes the arrays' type
            else:
                given.append(_number(a).dtype)
        if self._eager:
            if signature := _taking(given, self._declared):
                return signature
            shown = ", ".join(np.dtype(g).name for g in given)
            raise TypeError(f"ufunc '{self.__name__}' has no loop for ({shown}); it was declared for {self.types}")
        return tuple(_type_of(g) for g in given)

    # ---- what ufuncs have

    @property
    def types(self) -> list[str]:
        """The loops, as NumPy writes them: "dd->d"."""
        return ["".join(a._element.char for a in args) + "->" + result._element.char for args, (_, result) in self._loops.items()]

    @property
    def ntypes(self) -> int:
        return len(self._loops)

    @property
    def ufunc(self) -> Any:
        """The NumPy ufunc of the loops compiled so far."""
        return self._numpy(None)

    def _method(self, name: str, first: Any, *args: Any, **options: Any) -> Any:
        self._needs(2, name)
        if self._all is not None and self._plain and type(first) is np.ndarray and not args and "stream" not in options:
            made = getattr(self._all, name)(first, **options)
            _c._raise_failed()
            return made
        ours = _is_ours(first)
        operand = first.get() if ours else np.asarray(first)
        stream = options.pop("stream", None)
        if stream:
            stream.synchronize()  # what it does to the operand comes first
        made = getattr(self._numpy_for((operand, operand)), name)(operand, *[a.get() if _is_ours(a) else a for a in args], **options)
        _c._raise_failed()
        return _asarray(made, first.device, "cpu") if ours else made

    def _needs(self, nin: int, name: str) -> None:
        if self.nin != nin:
            raise ValueError(f"{name} only supported for binary functions")

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
        """Joins the elements along an axis by the function."""
        return self._method("reduce", array, axis=axis, dtype=dtype, **options)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, **options: Any) -> Any:
        """All partial results of `reduce`."""
        return self._method("accumulate", array, axis=axis, dtype=dtype, **options)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, **options: Any) -> Any:
        """`reduce` over slices."""
        return self._method("reduceat", array, indices, axis=axis, **options)

    def outer(self, a: Any, b: Any, **options: Any) -> Any:
        """The function of all pairs of elements."""
        self._needs(2, "outer")
        x, y = (o if _is_ours(o) else np.asarray(o) for o in (a, b))
        return self(x.reshape(x.shape + (1,) * y.ndim), y, **options)

    def at(self, array: Any, indices: Any, *operands: Any) -> None:
        """Applies the function in place at the indices, repeated ones one after the other."""
        if _is_ours(array):
            host = array.get()
            self.at(host, indices.get() if _is_ours(indices) else indices, *[o.get() if _is_ours(o) else o for o in operands])
            array[...] = _asarray(host, array.device, "cpu")
            return
        kinds = (_number(array), *(_number(o) for o in operands))
        (self._numpy(None) if self._eager else self._numpy(kinds)).at(array, indices, *operands)
        _c._raise_failed()

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"


def _asarray(o: Any, device: Any, target: str) -> Any:
    from . import asarray

    if device is None and target == "cuda":
        device = "cuda" if _c.device_count("cuda") else None
    return asarray(o, device=device) if device is not None else asarray(o)


def _signature(o: Any) -> Signature:
    """The signature that text, a `Signature` or a tuple of types means."""
    if isinstance(o, str):
        result, *args = _c.parse_signature(o)
        return Signature(result and Type(result), tuple(map(Type, args)))
    if isinstance(o, Signature):
        return o
    if isinstance(o, list | tuple):
        return Signature(None, tuple(_type_of(t) for t in o))
    raise TypeError(f"expected a signature such as 'float64(float64)', got {o!r}")


def _from_source(source: str, name: str, names: dict[str, Any]) -> Any:
    return from_source(source, name, {"__name__": "broadcloth_generated", **names})


def _places(axes: list[str], bounds: list[tuple[str, str]], body: str, parallel: bool, cuda: bool) -> list[str]:
    """Lines of a function that run `body` at every place between the bounds: loops, or the place of each thread of a CUDA grid."""
    lines, indent = [], "    "
    if cuda:
        lines.append("    _k = cuda.grid(1)")
        for axis, (low, high) in zip(reversed(axes), reversed(bounds), strict=True):
            lines += [f"    _n = {high} - {low}", "    if _n <= 0:", "        return", f"    {axis} = _k % _n + {low}", "    _k = _k // _n"]
        lines += ["    if _k > 0:", "        return"]
    else:
        for axis, (low, high) in zip(axes, bounds, strict=True):
            over = "prange" if parallel and axis == axes[0] else "range"
            lines.append(f"{indent}for {axis} in {over}({low}, {high}):")
            indent += "    "
    return [*lines, indent + body]


def _driver(lines: list[str], function: Any, parallel: bool, cuda: bool, fastmath: bool = False) -> Any:
    """The function `driver` of these lines, compiled; they call `function` as `_function`."""
    from . import cuda as module
    from ._jit import njit, prange

    made = _from_source("\n".join(lines) + "\n", "driver", {"cuda": module, "prange": prange, "_function": function})
    return module.jit(made, fastmath=fastmath) if cuda else njit(made, parallel=parallel, fastmath=fastmath)


def vectorize(
    signatures: Any = None,
    *,
    target: str = "cpu",
    identity: Any = None,
    cache: bool = False,
    fastmath: bool = False,
    nopython: bool = True,
    **options: Any,
) -> Any:
    """Makes a ufunc of a function of numbers.

    Parameters
    ----------
    signatures : list of signatures, or the function itself
        ``["float32(float32, float32)", …]``: compiled at once, and tried in this order. Without any, the function is compiled for the types
        that it meets.
    target : {'cpu', 'parallel', 'cuda'}
        Where NumPy arrays are worked on; 'parallel' uses all cores. Arrays of broadcloth are worked on where they are.
    identity : {None, 0, 1, 'reorderable'}
        The result of reducing nothing.

    Raises
    ------
    TypeError
        An option is numpy.vectorize's (`otypes`, `excluded`, `signature`).
    KeyError
        Numba has no such option.

    Examples
    --------
    >>> import numpy as np
    >>> @bc.vectorize
    ... def clipped(x, top):
    ...     return x if x < top else top
    >>> clipped(np.arange(5), 3)
    array([0, 1, 2, 3, 3])
    >>> clipped(bc.arange(5), 3) + 1
    array([1, 2, 3, 4, 4])
    """
    _check_target("vectorize", target)
    numpys = {"otypes", "excluded", "signature", "pyfunc"} & options.keys()
    if numpys:
        raise TypeError(
            f"vectorize: {min(numpys)}= is numpy.vectorize's; this one is Numba's and compiles the function: name its types, as in "
            f"vectorize(['float64(int64)']), or its cores with guvectorize"
        )

    if unknown := options.keys() - _OPTIONS:
        raise KeyError(f"vectorize: Unrecognized options: {', '.join(sorted(unknown))}")

    def decorate(function: Callable[..., Any], given: Any = None) -> DUFunc:
        function = getattr(function, "py_func", function)
        if given is None:
            several = []
        elif isinstance(given, list) or (isinstance(given, tuple) and given and all(isinstance(s, str | Signature) for s in given)):
            several = list(given)
        else:
            several = [given]
        return DUFunc(function, several, target, identity, fast_level(fastmath) == 1)

    if signatures is None:
        return decorate
    if is_signature(signatures):
        return lambda function: decorate(function, signatures)
    return decorate(signatures)


# ---- guvectorize --------------------------------------------------------------------------------------------------------------------


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
            signature = _signature(given)
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
        numbers = [_number(a) for a in args]
        if len(args) < self.nargs:
            common = np.result_type(*(t._element for t in numbers[: self.nin]))
            numbers = numbers[: self.nin] + [_type_of(common)] * self.nout
        kinds = []
        for i, (t, core) in enumerate(zip(numbers, (*self._ins, *self._outs), strict=True)):
            kinds.append(Array(t, max(len(core), 1), "A") if core or i >= self.nin else t)
        return tuple(kinds)

    def __call__(self, *args: Any, out: Any = None, **options: Any) -> Any:
        if self._ufunc is not None and self._eager and out is None and self._target != "cuda" and _NUMPYS.issuperset(map(type, args)):
            made = self._ufunc(*args, **options)
            _c._raise_failed()
            return made
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(f"{self.__name__}() takes from {self.nin} to {self.nargs} operands, got {len(args)}")
        if out is not None and len(args) > self.nin:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        outs = args[self.nin :] if len(args) > self.nin else (out if isinstance(out, tuple) else (out,) if out is not None else ())
        if any(map(_is_ours, (*args, *outs))) or self._target == "cuda":
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

        numpy_result = not any(map(_is_ours, (*ins, *outs)))
        arrays = [a if _is_ours(a) else _asarray(a, None, self._target) for a in ins]
        on_device = [a for a in (*arrays, *outs) if _is_ours(a)]
        device = on_device[0].device
        arrays = [a if a.device == device else _asarray(a, device, self._target) for a in arrays]
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
        targets = [r if _is_ours(r) and r.device == device else empty(r.shape, dtype=r.dtype, device=device) for r in results]
        vectors = tuple(_is_array(t) for t in key)
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
                r[...] = t if _is_ours(r) else t.get()
        made = [r.get() if numpy_result and _is_ours(r) else r for r in results]
        return made[0] if len(made) == 1 else tuple(made)

    def _choose(self, arrays: list[Any], outs: tuple[Any, ...]) -> tuple[Type, ...]:
        if not self._eager:
            return self._types_of((*arrays, *outs) if len(outs) == self.nout else tuple(arrays))
        if key := _taking([a.dtype for a in arrays], self._loops):
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
        return _from_source(self._loop_source(known, types, max(loops)), "loop", self._loop_names(types))

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
                lines.append(f"    x{i} = t{i}(a{i})" if not _is_array(types[i]) else f"    x{i} = np.full(1, a{i}, t{i})")
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
            if i < self.nin and not core and _is_array(types[i]) and not alone:
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
        lines += _places(axes, bounds, f"_function({', '.join(operands)})", parallel, cuda)
        made = _driver(lines, self.py_func, parallel, cuda, self._fastmath)
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
    fastmath: bool = False, nopython: bool = True, **_: Any,
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
    _check_target("guvectorize", target)
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


# ---- stencil ------------------------------------------------------------------------------------------------------------------------


class _Offsets(ast.NodeVisitor):
    """Finds the relative indices of a stencil's arrays."""

    def __init__(self, arrays: set[str]):
        self.arrays = arrays
        self.offsets: dict[str, list[list[int | None]]] = {}

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.value, ast.Name) and node.value.id in self.arrays:
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            place = self.offsets.setdefault(node.value.id, [])
            constants: list[int | None] = []
            for item in items:
                try:
                    value = ast.literal_eval(item)
                    if isinstance(value, float | complex | str):
                        raise TypeError(f"stencil: a relative index must be an integer, got {value!r} in {ast.unparse(node)}")
                    constants.append(value if isinstance(value, int) else None)
                except ValueError:
                    constants.append(None)
            place.append(constants)
        self.generic_visit(node)


class _Shift(ast.NodeTransformer):
    """Makes relative indices absolute, and `return x` a store."""

    def __init__(self, arrays: set[str], axes: list[str]):
        self.arrays = arrays
        self.axes = axes

    @staticmethod
    def _moved(axis: str, item: ast.expr) -> ast.expr:
        moved = ast.BinOp(ast.Name(axis, ast.Load()), ast.Add(), item)
        try:
            ast.literal_eval(item)
        except ValueError:
            return moved
        # The loops keep constant offsets inside, so that no index counts from the end: an unsigned one is not tested for that.
        return ast.Call(ast.Attribute(ast.Name("_np", ast.Load()), "uint64", ast.Load()), [moved], [])

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.arrays:
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            moved = [self._moved(axis, item) for axis, item in zip(self.axes, items, strict=True)]
            node.slice = ast.Tuple(moved, ast.Load()) if len(moved) > 1 else moved[0]
        return node


class StencilFunc:
    """A function of a neighbourhood, over whole arrays; see `stencil`."""

    def __init__(self, function: Callable[..., Any], mode: str, cval: Any, neighborhood: Any, standard_indexing: Any):
        functools.update_wrapper(self, function)
        if mode != "constant":
            raise ValueError(f"stencil: expected func_or_mode 'constant', got {mode!r}")
        self.py_func = function
        self.cval = cval
        self.neighborhood = neighborhood
        self.standard = set(standard_indexing or ())
        self._mode = mode
        self._made: dict[Any, Any] = {}
        self._tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        if not isinstance(self._tree, ast.FunctionDef):
            raise TypeError("stencil: expected a function definition")
        self._names = [a.arg for a in self._tree.args.args]
        if not self._names:
            raise TypeError("stencil: expected at least one array parameter")
        for name in self.standard:
            if name not in self._names:
                raise ValueError(f"stencil: standard_indexing names '{name}', which is no parameter")

    def __reduce__(self) -> Any:
        return reduced(self, StencilFunc, self.py_func, self._mode, self.cval, self.neighborhood, tuple(self.standard))

    def _build(self, arrays: tuple[bool, ...], ndim: int, parallel: bool, cuda: bool) -> tuple[Any, Any, list[tuple[int, int]]]:
        relative = {n for n, is_array in zip(self._names, arrays, strict=True) if is_array and n not in self.standard}
        finder = _Offsets(relative)
        for statement in self._tree.body:
            finder.visit(statement)
        bounds = [(0, 0)] * ndim
        if self.neighborhood is not None:
            bounds = [(int(low), int(high)) for low, high in self.neighborhood]
            if len(bounds) != ndim:
                raise ValueError(f"stencil: the neighborhood has {len(bounds)} dimensions, the array {ndim}")
        for name, uses in finder.offsets.items():
            for use in uses:
                if len(use) != ndim:
                    raise ValueError(f"stencil: {len(use)} indices for '{name}' in a stencil over {ndim} dimensions")
                if self.neighborhood is None:
                    if None in use:
                        raise ValueError("stencil: indices that are not constant need neighborhood=((low, high), …)")
                    bounds = [(min(low, i), max(high, i)) for (low, high), i in zip(bounds, use, strict=True)]  # type: ignore[misc, type-var]
        axes = [f"_i{d}" for d in range(ndim)]
        # The body is a function of its own, called with the place.
        body = ast.FunctionDef(
            name="_at", args=ast.arguments([], [ast.arg(n) for n in [*axes, *self._names]], None, [], [], None, []),
            body=[_Shift(relative, axes).visit(ast.parse(ast.unparse(s)).body[0]) for s in self._tree.body], decorator_list=[],
        )  # fmt: skip
        text = ast.unparse(ast.fix_missing_locations(ast.Module([body], [])))
        names = {**self.py_func.__globals__, **inspect.getclosurevars(self.py_func).nonlocals, "_np": np}
        at = _from_source(text, "_at", names)
        first = self._names[arrays.index(True)]
        lines = [f"def driver({', '.join([*self._names, '_out'])}):"]
        lines += _places(axes, self._inside(first, bounds), self._store(axes), parallel, cuda)
        run = _driver(lines, at, parallel, cuda)
        return run, at, bounds

    @staticmethod
    def _inside(array: str, bounds: list[tuple[int, int]]) -> list[tuple[str, str]]:
        """Where along each axis the neighbourhood lies inside the array."""
        return [(f"{-min(low, 0)}", f"{array}.shape[{d}] - {max(high, 0)}") for d, (low, high) in enumerate(bounds)]

    def _store(self, axes: list[str]) -> str:
        return f"_out[{', '.join(axes)}] = _function({', '.join([*axes, *self._names])})"

    @property
    def __compiled_as__(self) -> Any:
        """What a compiled function calls: the loops, with the array that they fill."""
        if None in self._made:
            return self._made[None]
        finder = _Offsets(set(self._names) - self.standard)
        for statement in self._tree.body:
            finder.visit(statement)
        if not finder.offsets:
            raise TypeError(f"stencil: an array of {self.__name__} must be indexed relatively")
        arrays = tuple(name in finder.offsets for name in self._names)
        first = self._names[arrays.index(True)]
        ndim = len(finder.offsets[first][0])
        _, at, bounds = self._build(arrays, ndim, False, False)
        from ._jit import prange

        zeros = ", ".join(["0"] * ndim)
        lines = [
            f"def _stencil({', '.join(self._names)}, out=None):",
            "    if out is None:",
            # The type of a result, without one.
            f"        _kind = np.array([_function({zeros}, {', '.join(self._names)}) for _ in range(0)]).dtype",
            f"        _out = np.full({first}.shape, _cval, dtype=_kind)",
            "    else:",
            "        _out = out",
        ]
        axes = [f"_i{d}" for d in range(ndim)]
        lines += [*_places(axes, self._inside(first, bounds), self._store(axes), True, False), "    return _out"]
        world = {"prange": prange, "_function": at, "_cval": self.cval, "np": np}
        self._made[None] = _from_source("\n".join(lines) + "\n", "_stencil", world)
        return self._made[None]

    def __call__(self, *args: Any, out: Any = None, parallel: bool = False) -> Any:
        if len(args) != len(self._names):
            raise TypeError(f"{self.__name__}() takes {len(self._names)} arguments, got {len(args)}")
        arrays = tuple(_is_ours(a) or isinstance(a, np.ndarray) for a in args)
        if True not in arrays or self._names[arrays.index(True)] in self.standard:
            raise TypeError(f"stencil: the first array of {self.__name__} must be indexed relatively")
        first = args[arrays.index(True)]
        cuda = _is_ours(first) and str(first.device).startswith("cuda")
        key = (arrays, first.ndim, parallel, cuda)
        if key not in self._made:
            self._made[key] = self._build(*key)
        run, at, _ = self._made[key]
        if out is None:
            from .types import typeof

            kinds = tuple(Array(a.dtype, a.ndim, "A") if _is_ours(a) else typeof(a) for a in args)
            shown = _c._result_type(at, (Type("int64"),) * first.ndim + kinds)
            result = Type(shown)._element
            if _is_ours(first):
                from . import full

                out = full(first.shape, self.cval, dtype=result, device=first.device)
            else:
                out = np.full(first.shape, self.cval, dtype=result)
        if cuda:
            count = int(np.prod(first.shape))
            if count:
                run[(count + 127) // 128, 128](*args, out)
        else:
            run(*args, out)
        return out


def stencil(func_or_mode: Any = "constant", *, cval: Any = 0, neighborhood: Any = None, standard_indexing: Any = None, **_: Any) -> Any:
    """Makes a function of a neighbourhood one over whole arrays: in it ``a[0, 0]`` is the element itself, ``a[0, -1]`` the one before.

    Parameters
    ----------
    func_or_mode : function or 'constant'
        The function; 'constant' says that the border, where the neighbourhood reaches out of the array, gets `cval`.
    neighborhood : tuple of (low, high), optional
        How far the indices reach along each axis, where they are not constants.
    standard_indexing : tuple of str, optional
        Parameters that are indexed as usual.

    Examples
    --------
    >>> import numpy as np
    >>> @bc.stencil
    ... def mean3(a):
    ...     return (a[-1] + a[0] + a[1]) / 3
    >>> mean3(np.array([1.0, 2.0, 3.0, 10.0]))
    array([0., 2., 5., 0.])
    """
    if callable(func_or_mode):
        return StencilFunc(getattr(func_or_mode, "py_func", func_or_mode), "constant", cval, neighborhood, standard_indexing)

    def decorate(function: Callable[..., Any]) -> StencilFunc:
        return StencilFunc(getattr(function, "py_func", function), func_or_mode, cval, neighborhood, standard_indexing)

    return decorate
