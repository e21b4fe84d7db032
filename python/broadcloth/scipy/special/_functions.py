"""Special functions of one element that are written in Python: ufuncs that the engine compiles for the array's device, where they fuse
with what is around them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._generated_loops import generated
from ..._vectorize import DUFunc
from ...autograd import custom_vjp, is_grad_enabled
from ...types import Type

if TYPE_CHECKING:
    from ...typing import ArrayLike

_NUMBERS = (bool, int, float, complex)
_WIDE = {"f": "d", "F": "D"}
_OPTIONS = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
            for name, value in (("out", None), ("where", True), ("dtype", None))]  # fmt: skip


class SpecialFunction(DUFunc):
    """A ufunc of SciPy's whose element is a function in Python over float64, int64 and complex128.

    `loops` are the types of its operands, as characters of dtypes. A call takes the first loop to which its operands cast safely; Python's
    numbers follow the others. Loops of single precision compute in double precision and round. Operand 0 of a function with `whole` must be
    a whole number, which looks where its type does not say so; where it is not, `of_fractions` is called, or there is an error.
    `of_complex` is the function of one element for loops with complex operands, by default the same. `row` names the engine's ufunc for
    real operands, which the function of one element calls too. `slopes(y, *operands)` gives the derivative by each operand, None where it
    is not known: gradients are NaN there. Without it arrays that require a gradient raise.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        loops: str,
        whole: bool = False,
        of_complex: Callable[..., Any] | None = None,
        slopes: Callable[..., tuple[Any, ...]] | None = None,
        of_fractions: Callable[..., Any] | None = None,
        row: str | None = None,
    ) -> None:
        super().__init__(function, [], "cpu", None, False)
        self._characters = loops.split()
        self._declared = [_types(characters) for characters in self._characters]
        self._eager = True
        self._wrapped: dict[tuple[Type, ...], Any] = {}
        self._whole = whole
        self._of_complex = of_complex or function
        self._slopes = slopes
        self._row = _c.ufuncs[row] if row else None
        self._of_fractions = of_fractions and SpecialFunction(of_fractions, loops)
        signature = inspect.signature(function)
        operands = [p.replace(kind=p.POSITIONAL_ONLY, annotation=p.empty) for p in signature.parameters.values()]
        self.__signature__ = inspect.Signature([*operands, *_OPTIONS])

    def __reduce__(self) -> Any:
        return self.__name__

    @property
    def types(self) -> list[str]:
        return [characters + "->" + _result(characters) for characters in self._characters]

    def __call__(self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, device: Any = None, **options: Any) -> Any:
        loop = options.pop("signature", None) or options.pop("sig", None)
        if options:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument {next(iter(options))!r}")
        if loop is not None:
            args = self._cast_to(loop, args)
        if len(args) == self.nargs and out is None:
            args, out = args[:-1], args[-1]
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} operands, got {len(args)}")
        if isinstance(out, tuple):
            (out,) = out
        arrays = [a if type(a) in _NUMBERS else _c.asarray(a) for a in args]
        if self._whole and not self._is_whole(arrays[0]):
            if self._of_fractions is None:
                raise NotImplementedError(
                    f"{self.__name__}: expected whole numbers as operand 0; scipy.special.{self.__name__} takes other ones, on host copies"
                )
            return self._of_fractions(*arrays, out=out, where=where, dtype=dtype, device=device)
        if self._row is not None and device is None and not any(_is_complex(a) for a in arrays):
            return self._row(*self._widened(arrays), out=out, where=where, dtype=dtype)
        if self._slopes and is_grad_enabled() and any(isinstance(a, ndarray) and a.requires_grad for a in arrays):
            if out is not None or where is not True:
                raise NotImplementedError(f"{self.__name__}: out= and where= have no gradient; leave them out")
            return custom_vjp(lambda *given: self._call_ours(given, None, True, dtype, device), self._gradients)(*arrays)
        return self._call_ours(tuple(arrays), out, where, dtype, device)

    def _cast_to(self, loop: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The operands as the loop takes them that NumPy's keyword `signature` names."""
        characters = loop.partition("->")[0] if isinstance(loop, str) else "".join(np.dtype(t).char for t in loop[: self.nin])
        if characters not in self._characters:
            raise TypeError(f"ufunc '{self.__name__}' has no loop {loop!r}; it has {', '.join(self.types)}")
        return tuple(_c.asarray(a).astype(np.dtype(c), copy=False) for a, c in zip(args, characters, strict=False)) + args[self.nin :]

    def _gradients(self, g: ndarray, y: ndarray, *operands: Any) -> tuple[Any, ...]:
        assert self._slopes
        made: list[Any] = []
        for x, slope in zip(operands, self._slopes(y, *operands), strict=True):
            if not isinstance(x, ndarray):
                made.append(None)
                continue
            gradient = g * (math.nan if slope is None else _c.ufuncs["conjugate"](slope))
            made.append(gradient.real if gradient.dtype.kind == "c" and x.dtype.kind != "c" else gradient)
        return tuple(made)

    def _is_whole(self, n: Any) -> bool:
        if isinstance(n, float):
            return n == np.floor(n) or n != n
        kind = n.dtype.kind if isinstance(n, ndarray) else "i"
        return kind != "f" or not bool(((n != _c.ufuncs["floor"](n)) & (n == n)).any())

    def _loop_number(self, args: Sequence[Any]) -> int:
        """The number of the first loop to which the operands cast safely."""
        if all(type(a) in _NUMBERS for a in args):
            args = [np.asarray(a) for a in args]  # with no array to follow they have types of their own
        for number, characters in enumerate(self._characters):
            if all(_casts(a, c) for a, c in zip(args, characters, strict=True)):
                return number
        shown = ", ".join(type(a).__name__ if not hasattr(a, "dtype") else a.dtype.name for a in args)
        raise TypeError(f"ufunc '{self.__name__}' has no loop for ({shown}); it has {', '.join(self.types)}")

    def _choose(self, args: tuple[Any, ...]) -> tuple[Type, ...]:
        number = self._loop_number(args)
        characters, types = self._characters[number], self._declared[number]
        if types not in self._wrapped:
            self._wrapped[types] = _rounded(self._of_complex if set(characters) & set("FD") else self.py_func, characters)
        return types

    def _widened(self, arrays: list[Any]) -> list[Any]:
        """Operands for the row, which has no loop of whole numbers: beside these SciPy's numbers are float64."""
        if self._characters[0][0] != "l" or self._characters[self._loop_number(arrays)][0] != "l":
            return arrays
        return [a.astype(np.float64, copy=False) if isinstance(a, ndarray) else a for a in arrays]


def special_function(loops: str, **options: Any) -> Callable[[Callable[..., Any]], SpecialFunction]:
    """Decorates the function of one element, with SpecialFunction's options."""
    return lambda function: SpecialFunction(function, loops, **options)


def _types(characters: Sequence[str]) -> tuple[Type, ...]:
    return tuple(Type(np.dtype(c).name) for c in characters)


def _result(characters: str) -> str:
    floating = [c for c in characters if c not in "lq"]
    return np.result_type(*floating).char


def _is_complex(operand: Any) -> bool:
    return type(operand) is complex or (isinstance(operand, ndarray) and operand.dtype.kind == "c")


def _casts(operand: Any, character: str) -> bool:
    """Whether an operand takes a loop's type: an array by its dtype, a Python number by its kind."""
    to = np.dtype(character)
    if type(operand) in _NUMBERS:
        return to.kind in {float: "fc", complex: "c"}.get(type(operand), "ifc")
    return np.can_cast(operand.dtype, to, "safe")


def _rounded(function: Callable[..., Any], characters: str) -> Callable[..., Any]:
    """The function for a loop; one of single precision converts its operands and the result."""
    if not set(characters) & set("fF"):
        return function
    names = [f"a{i}" for i in range(len(characters))]
    given = ", ".join(f"{_WIDE[c]}({name})" if c in _WIDE else name for c, name in zip(characters, names, strict=True))
    source = f"def {function.__name__}({', '.join(names)}):\n    return to(f({given}))\n"
    types = {"d": np.float64, "D": np.complex128, "to": np.dtype(_result(characters)).type, "f": function}
    return generated(source, function.__name__, types)


def _real(name: str, x: ArrayLike) -> ndarray:
    """Operands of a function of real numbers whose loops are complex because its results are."""
    x = _c.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, got {x.dtype}")
    return x
