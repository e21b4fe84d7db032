"""`stencil`: functions of a neighbourhood, over whole arrays."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._generated_loops import driver_of, generated, is_ours, places
from ._pickling import reduced
from .types import Array, Type

__all__ = ["StencilFunc", "stencil"]


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
        at = generated(text, "_at", names)
        first = self._names[arrays.index(True)]
        lines = [f"def driver({', '.join([*self._names, '_out'])}):"]
        lines += places(axes, self._inside(first, bounds), self._store(axes), parallel, cuda)
        run = driver_of(lines, at, parallel, cuda)
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
        lines += [*places(axes, self._inside(first, bounds), self._store(axes), True, False), "    return _out"]
        world = {"prange": prange, "_function": at, "_cval": self.cval, "np": np}
        self._made[None] = generated("\n".join(lines) + "\n", "_stencil", world)
        return self._made[None]

    def __call__(self, *args: Any, out: Any = None, parallel: bool = False) -> Any:
        if len(args) != len(self._names):
            raise TypeError(f"{self.__name__}() takes {len(self._names)} arguments, got {len(args)}")
        arrays = tuple(is_ours(a) or isinstance(a, np.ndarray) for a in args)
        if True not in arrays or self._names[arrays.index(True)] in self.standard:
            raise TypeError(f"stencil: the first array of {self.__name__} must be indexed relatively")
        first = args[arrays.index(True)]
        cuda = is_ours(first) and str(first.device).startswith("cuda")
        key = (arrays, first.ndim, parallel, cuda)
        if key not in self._made:
            self._made[key] = self._build(*key)
        run, at, _ = self._made[key]
        if out is None:
            from .types import typeof

            kinds = tuple(Array(a.dtype, a.ndim, "A") if is_ours(a) else typeof(a) for a in args)
            shown = _c._result_type(at, (Type("int64"),) * first.ndim + kinds)
            result = Type(shown)._element
            if is_ours(first):
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
