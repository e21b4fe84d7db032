"""`cupyx.GeneralizedUFunc`: a function of whole arrays that is called over the loop axes of its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import broadcloth as bc

_NAME = r"\w+\??"
_CORE = rf"\(\s*(?:{_NAME}(?:\s*,\s*{_NAME})*)?\s*\)"
_SIGNATURE = re.compile(rf"^\s*{_CORE}(?:\s*,\s*{_CORE})*\s*->\s*{_CORE}(?:\s*,\s*{_CORE})*\s*$")

Cores = list[tuple[str, ...]]


def parse(signature: str) -> tuple[Cores, Cores]:
    """The core axes of each argument and of each result of "(n,k),(k)->(n)"."""
    if not _SIGNATURE.match(signature):
        raise ValueError(f"GeneralizedUFunc: {signature!r} is no signature of a generalized ufunc")
    if "?" in signature:
        raise NotImplementedError(f"GeneralizedUFunc: {signature!r}: core axes that may be absent are not supported")
    left, right = ([tuple(re.findall(r"\w+", core)) for core in re.findall(r"\(([^()]*)\)", side)] for side in signature.split("->"))
    return left, right


class GeneralizedUFunc:
    """A generalized ufunc of a function of arrays.

    Parameters
    ----------
    func : callable
        Takes the arguments' core axes as its last ones and returns an array or a tuple of arrays.
    signature : str
        The core axes, "(m,n),(n)->(m)"; axes of one name have one extent.
    name, doc : str, optional
        What the object is called, and its docstring.
    supports_batched : bool
        `func` takes loop axes in front, broadcast against each other; otherwise it is called for each place of them.
    supports_out : bool
        `func` takes `out=`.
    signatures : sequence of (types, function, types), optional
        Functions for given dtypes, tried in their order before `func`: (("f", "f"), g, "f").
    try_fastcall_func : callable, optional
        Called first with the same arguments; its result counts unless it is NotImplemented.

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> distance = cupyx.GeneralizedUFunc(lambda a, b: bc.sqrt(((a - b) ** 2).sum(-1)), "(n),(n)->()", supports_batched=True)
    >>> distance(bc.array([[0.0, 0.0], [3.0, 4.0]]), bc.zeros(2))
    array([0., 5.])
    """

    def __init__(
        self,
        func: Callable[..., Any],
        signature: str,
        *,
        name: str | None = None,
        doc: str | None = None,
        supports_batched: bool = False,
        supports_out: bool = False,
        signatures: Sequence[tuple[Any, Callable[..., Any], Any]] | None = None,
        try_fastcall_func: Callable[..., Any] | None = None,
    ) -> None:
        self._func, self._signature = func, signature
        self._inputs, self._outputs = parse(signature)
        self.__name__ = name or getattr(func, "__name__", "gufunc")
        self.__doc__ = doc or func.__doc__
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self.signature = signature
        self._batched, self._takes_out = supports_batched, supports_out
        self._typed = [(_types(t), f) for t, f, *_ in signatures or ()]
        self._first = try_fastcall_func

    def __repr__(self) -> str:
        return f"<gufunc {self.__name__!r} {self._signature}>"

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        axes: Sequence[Any] | None = None,
        axis: int | None = None,
        keepdims: bool = False,
        dtype: Any = None,
        casting: Any = "same_kind",
        **kwargs: Any,
    ) -> Any:
        """Calls the function over the loop axes; `axes`, `axis` and `keepdims` are NumPy's."""
        if self._first is not None:
            given = {"out": out, "axes": axes, "axis": axis, "keepdims": keepdims or None, "dtype": dtype}
            made = self._first(*args, **{k: v for k, v in given.items() if v is not None}, **kwargs)
            if made is not NotImplemented:
                return made
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}: expected {self.nin} arguments, got {len(args)}")
        arrays = [bc.asarray(a) for a in args]
        if dtype is not None:
            arrays = [a.astype(dtype, casting=casting, copy=False) for a in arrays]
        places = self._places(axes, axis, keepdims)
        arrays = [_to_the_end(a, where) for a, where in zip(arrays, places, strict=False)]
        self._check_cores(arrays)
        loop = bc.broadcast_shapes(*(a.shape[: a.ndim - len(c)] for a, c in zip(arrays, self._inputs, strict=True)))
        function = next(
            (f for types, f in self._typed if all(np.can_cast(a.dtype, t) for a, t in zip(arrays, types, strict=False))), self._func
        )
        results = self._call(function, arrays, loop, kwargs, out)
        results = [self._finished(r, k, places, keepdims) for k, r in enumerate(results)]
        if out is not None:
            wanted = out if isinstance(out, tuple) else (out,)
            for w, r in zip(wanted, results, strict=True):
                if w is not r:
                    bc.copyto(w, r, casting=casting)
            results = list(wanted)
        return results[0] if self.nout == 1 else tuple(results)

    def _call(self, function: Callable[..., Any], arrays: list[Any], loop: tuple[int, ...], kwargs: dict[str, Any], out: Any) -> list[Any]:
        if self._batched or not loop:
            more = {"out": out} if self._takes_out and out is not None else {}
            made = function(*arrays, **more, **kwargs)
            return list(made) if isinstance(made, tuple) else [made]
        wide = [bc.broadcast_to(a, loop + a.shape[a.ndim - len(c) :]) for a, c in zip(arrays, self._inputs, strict=True)]
        rows = [function(*(a[i] for a in wide), **kwargs) for i in np.ndindex(*loop)]
        if not rows:
            raise ValueError(f"{self.__name__}: the loop axes {loop} are empty, and the function takes no batches")
        columns = zip(*(r if isinstance(r, tuple) else (r,) for r in rows), strict=True)
        stacked = [bc.stack([bc.asarray(v) for v in column]) for column in columns]
        return [s.reshape(loop + s.shape[1:]) for s in stacked]

    def _check_cores(self, arrays: list[Any]) -> None:
        extents: dict[str, int] = {}
        for k, (a, core) in enumerate(zip(arrays, self._inputs, strict=True)):
            if a.ndim < len(core):
                raise ValueError(f"{self.__name__}: argument {k} has {a.ndim} axes, the signature {self._signature} needs {len(core)}")
            for axis_name, extent in zip(core, a.shape[a.ndim - len(core) :], strict=True):
                wanted = int(axis_name) if axis_name.isdigit() else extents.setdefault(axis_name, extent)
                if wanted != extent:
                    raise ValueError(f"{self.__name__}: argument {k} has extent {extent} along {axis_name}, expected {wanted}")

    def _places(self, axes: Sequence[Any] | None, axis: int | None, keepdims: bool) -> list[tuple[int, ...]]:
        """Where the core axes of the arguments, then of the results, are: the last ones unless the caller says otherwise."""
        cores = self._inputs + self._outputs
        if axes is not None and axis is not None:
            raise TypeError(f"{self.__name__}: cannot specify both 'axis' and 'axes'")
        if axis is not None:
            if any(len(core) > 1 for core in cores):
                raise TypeError(f"{self.__name__}: axis needs a signature with one core axis, not {self._signature}")
            return [(axis,) * len(core) for core in cores]
        if axes is None:
            return [tuple(range(-len(core), 0)) for core in cores]
        places = [(a,) if isinstance(a, int) else tuple(a) for a in axes]
        if len(places) == self.nin and not any(self._outputs):
            places += [()] * self.nout
        kept = len(self._inputs[0]) if keepdims else None
        for place, core in zip(places, cores, strict=True):
            if len(place) not in (len(core), kept):
                raise ValueError(f"{self.__name__}: axes {place} do not name the {len(core)} core axes of the signature {self._signature}")
        return places

    def _finished(self, result: Any, k: int, places: list[tuple[int, ...]], keepdims: bool) -> Any:
        """The result with its core axes where the caller wants them, or kept with extent 1."""
        result, core, where = bc.asarray(result), self._outputs[k], places[self.nin + k]
        if keepdims:
            if core or len({len(c) for c in self._inputs}) != 1:
                raise TypeError(f"{self.__name__}: keepdims needs results without core axes and arguments with equally many")
            where = where or places[0]
            result = result[(..., *(None,) * len(where))]
        return bc.moveaxis(result, tuple(range(-len(where), 0)), where) if where else result


def _types(given: Any) -> tuple[Any, ...]:
    return tuple(np.dtype(t) for t in given.split("->")[0]) if isinstance(given, str) else tuple(np.dtype(t) for t in given)


def _to_the_end(a: Any, axes: tuple[int, ...]) -> Any:
    return bc.moveaxis(a, axes, tuple(range(-len(axes), 0))) if axes and axes != tuple(range(-len(axes), 0)) else a
