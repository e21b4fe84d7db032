"""`vectorize`: functions of numbers as ufuncs."""

from __future__ import annotations

import functools
import inspect
import warnings
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
    generated,
    is_ours,
    number_type,
    signature_of,
    taking,
    type_of,
)
from ._jit import fast_level, is_signature
from ._pickling import reduced
from .types import Signature, Type

__all__ = ["DUFunc", "vectorize"]


class DUFunc:
    """A function of numbers as a ufunc.

    Compiled functions call it as a ufunc, too: it maps over arrays there.

    NumPy arrays in, NumPy arrays out, computed on the CPU; broadcloth arrays in, broadcloth arrays out: there the call is recorded as any
    array expression is, and fuses with what is around it, on the CPU and on CUDA.
    """

    def __init__(self, function: Callable[..., Any], signatures: list[Any], target: str, identity: Any, fastmath: bool, result: Any = None):
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
        self._result = None if result is None else type_of(result)  # what all loops give
        self._loops: dict[tuple[Type, ...], tuple[Any, Type]] = {}
        self._ops: dict[tuple[Type, ...], Any] = {}
        self._ufuncs: dict[tuple[Type, ...], Any] = {}
        self._quick: dict[Any, Any] = {}
        self._all: Any = None
        self._eager = bool(signatures)
        self._plain = self._eager and target != "cuda"  # calls with NumPy's arrays are calls of the ufunc of all loops
        self._declared: list[tuple[Type, ...]] = []
        for given in signatures:
            signature = signature_of(given)
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
        return reduced(self, DUFunc, self.py_func, declared, self._target, self._identity, self._fastmath, self._result)

    # ---- compiling

    def _loop(self, args: tuple[Type, ...]) -> tuple[Any, Type]:
        if args not in self._loops:
            loop, shown = _c._loop(self.py_func, args, None, self._target == "parallel", self._fastmath)
            self._loops[args] = (loop, Type(shown))
            if self._result is not None and self._loops[args][1] != self._result:
                self._loops[args] = self._converted(Signature(self._result, args))
            self._all = None
        return self._loops[args]

    def _converted(self, signature: Signature) -> tuple[Any, Type]:
        """The loop of a function whose result is cast to what the signature says."""
        names = [f"a{i}" for i in range(self.nin)]
        body = f"lambda {', '.join(names)}: to(f({', '.join(names)}))"
        wrapped = generated(f"function = {body}", "function", {"to": signature.return_type._element.type, "f": self.py_func})
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
            found = self._quick[key] = self._numpy(tuple(number_type(o) for o in operands))
        return found

    def add(self, signature: Any) -> None:
        """Compiles for one more signature."""
        args = signature_of(signature).args
        if self._eager:
            self._declared.append(args)
            self._signatures.append(signature_of(signature))
        self._loop(args)

    # ---- calling

    def __call__(self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, device: Any = None, **options: Any) -> Any:
        given = out is not None or where is not True or dtype is not None or device is not None
        if self._all is not None and self._plain and not given and len(args) == self.nin and NUMPYS.issuperset(map(type, args)):
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
        plain = device is None and out is None and NUMPYS.issuperset(map(type, args))
        if not plain:
            args, out = tuple(map(adopted, args)), adopted(out)
        if not plain and (device is not None or is_ours(out) or any(map(is_ours, args))):
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
            a if is_ours(a) or isinstance(a, bool | int | float | complex | np.generic) else as_ours(a, device, self._target)
            for a in args
        )
        key = self._choose(args)
        if key not in self._ops:
            if self._result is not None:
                self._loop(key)
            function = getattr(self, "_wrapped", {}).get(key, self.py_func)
            self._ops[key] = _c._user_op(function, key, self._fastmath)
        made = _c._apply_user_op(self._ops[key][0], args, out, None if where is True else where, device)
        return made if dtype is None or out is not None else made.astype(dtype)

    def _choose(self, args: tuple[Any, ...]) -> tuple[Type, ...]:
        """The operands' types, or the first signature that they cast to."""
        arrays = [a.dtype for a in args if is_ours(a) and not isinstance(a, np.generic)]
        given = []
        for a in args:
            if self._eager and arrays and type(a) in (bool, int, float, complex):
                given.append(np.result_type(*arrays, a))  # a Python number takes the arrays' type
            else:
                given.append(number_type(a).dtype)
        if self._eager:
            if signature := taking(given, self._declared):
                return signature
            shown = ", ".join(np.dtype(g).name for g in given)
            raise TypeError(f"ufunc '{self.__name__}' has no loop for ({shown}); it was declared for {self.types}")
        return tuple(type_of(g) for g in given)

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
        ours = is_ours(first)
        operand = first.get() if ours else np.asarray(first)
        stream = options.pop("stream", None)
        if stream:
            stream.synchronize()  # what it does to the operand comes first
        made = getattr(self._numpy_for((operand, operand)), name)(operand, *[a.get() if is_ours(a) else a for a in args], **options)
        _c._raise_failed()
        return as_ours(made, first.device, "cpu") if ours else made

    def _needs(self, nin: int, name: str) -> None:
        if self.nin != nin:
            raise ValueError(f"{name} only supported for binary functions")

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
        """Joins the elements along an axis by the function."""
        if self.nin == 2 and type(array) is np.ndarray and not options:
            ufunc = self._all if self._plain else None if self._eager else self._quick.get(array.dtype)
            if ufunc is None and not self._eager:
                ufunc = self._quick[array.dtype] = self._numpy_for((array, array))
            if ufunc is not None:
                made = ufunc.reduce(array, axis, dtype)
                _c._raise_failed()
                return made
        return self._method("reduce", array, axis=axis, dtype=dtype, **options)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, **options: Any) -> Any:
        """All partial results of `reduce`."""
        if self._all is not None and self._plain and self.nin == 2 and type(array) is np.ndarray and not options:
            made = self._all.accumulate(array, axis, dtype)
            _c._raise_failed()
            return made
        return self._method("accumulate", array, axis=axis, dtype=dtype, **options)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, **options: Any) -> Any:
        """`reduce` over slices."""
        return self._method("reduceat", array, indices, axis=axis, **options)

    def outer(self, a: Any, b: Any, **options: Any) -> Any:
        """The function of all pairs of elements."""
        self._needs(2, "outer")
        x, y = (o if is_ours(o) else np.asarray(o) for o in (a, b))
        return self(x.reshape(x.shape + (1,) * y.ndim), y, **options)

    def at(self, array: Any, indices: Any, *operands: Any) -> None:
        """Applies the function in place at the indices, repeated ones one after the other."""
        if is_ours(array):
            host = array.get()
            self.at(host, indices.get() if is_ours(indices) else indices, *[o.get() if is_ours(o) else o for o in operands])
            array[...] = as_ours(host, array.device, "cpu")
            return
        kinds = (number_type(array), *(number_type(o) for o in operands))
        (self._numpy(None) if self._eager else self._numpy(kinds)).at(array, indices, *operands)
        _c._raise_failed()

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"


def vectorize(
    signatures: Any = None,
    *,
    target: str = "cpu",
    identity: Any = None,
    cache: bool = False,
    fastmath: bool = False,
    nopython: bool | None = None,
    otypes: Any = None,
    doc: str | None = None,
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
    otypes : str or list of one dtype, optional
        The dtype of the result, as NumPy and CuPy name it ("d"); that of the function's values unless given.
    doc : str, optional
        The docstring; the function's own unless given.

    Raises
    ------
    TypeError
        An option is numpy.vectorize's (`excluded`, `signature`), or `otypes` names several results.
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
    check_target("vectorize", target)
    if "pyfunc" in options and signatures is None:
        signatures = options.pop("pyfunc")
    result = None if otypes is None else _one_result(otypes)
    for name in ("excluded", "signature"):
        if name in options and options[name] is None:  # NumPy's and CuPy's default
            del options[name]
    numpys = {"excluded", "signature", "pyfunc"} & options.keys()
    if numpys:
        raise TypeError(
            f"vectorize: {min(numpys)}= is numpy.vectorize's; this one is Numba's and compiles the function: name its types, as in "
            f"vectorize(['float64(int64)']), or its cores with guvectorize"
        )

    if unknown := options.keys() - OPTIONS:
        raise KeyError(f"vectorize: Unrecognized options: {', '.join(sorted(unknown))}")
    if nopython is not None and target == "cuda":
        warnings.warn("nopython kwarg for cuda target is redundant", RuntimeWarning, stacklevel=2)

    def decorate(function: Callable[..., Any], given: Any = None) -> DUFunc:
        function = getattr(function, "py_func", function)
        if given is None:
            several = []
        elif isinstance(given, list) or (isinstance(given, tuple) and given and all(isinstance(s, str | Signature) for s in given)):
            several = list(given)
        else:
            several = [given]
        made = DUFunc(function, several, target, identity, fast_level(fastmath) == 1, result)
        if doc is not None:
            made.__doc__ = doc
        return made

    if signatures is None:
        return decorate
    if is_signature(signatures):
        return lambda function: decorate(function, signatures)
    return decorate(signatures)


def _one_result(otypes: Any) -> np.dtype[Any]:
    """The dtype that `otypes` names."""
    several = list(otypes) if isinstance(otypes, str | list | tuple) else [otypes]
    if len(several) != 1:
        raise TypeError(f"vectorize: expected one dtype in 'otypes', as the function has one result, got {otypes!r}")
    return np.dtype(several[0])
