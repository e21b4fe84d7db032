"""Floating-point errors of a program that asks to be told of them: `np.errstate(all="raise")`, "call", "log", "print".

Our loops do not look for errors. While such a state holds, arithmetic on arrays is computed by NumPy, which raises and calls as it does.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from . import _fallback

# Functions made of ufuncs. Others move elements, and may give views, which a computation on copies could not.
_NAMES = (
    "average clip convolve corrcoef correlate cov cumprod cumsum cumulative_prod cumulative_sum diff dot ediff1d einsum geomspace gradient"
    " histogram inner interp linspace logspace mean median nancumprod nancumsum nanmean nanmedian nanpercentile nanprod nanquantile nanstd"
    " nansum nanvar norm outer percentile polyfit polyval prod quantile round std sum tensordot trace trapezoid var vdot"
)
_ARITHMETIC = frozenset(_NAMES.split())
_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul")
_METHODS = ("astype", "clip", "cumprod", "cumsum", "dot", "mean", "prod", "round", "std", "sum", "trace", "var")
_OPERANDS = (_c.ndarray, np.ndarray, np.generic, int, float, complex, list, tuple)

_plain: dict[str, Any] = {}  # the methods that are replaced while a state asks to be told
_contexts = 0  # how many `with np.errstate(...)` ask
_set = False  # whether np.seterr asked


def _asks() -> bool:
    return not {"ignore", "warn"}.issuperset(np.geterr().values())


def _watch(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The call on the host, or NotImplemented where nobody asks here (in another thread, say)."""
    __tracebackhide__ = True
    if not _asks():
        return NotImplemented
    if isinstance(function, _c.ufunc):
        function = getattr(np, function.__name__)
    elif getattr(function, "__name__", "") not in _ARITHMETIC:
        return NotImplemented
    return _fallback.compute(function, args, kwargs or {})


def _operator(name: str, kind: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    own = getattr(operator, f"{kind if kind == 'i' else ''}{name}", divmod)

    @functools.wraps(plain)
    def compute(x: Any, y: Any, *modulus: Any) -> Any:
        __tracebackhide__ = True
        if modulus or not isinstance(y, _OPERANDS) or not _asks():
            return plain(x, y, *modulus)
        if kind == "i":
            _fallback.in_place(own, (x, y), {})
            return x
        return _fallback.compute(own, (y, x) if kind == "r" else (x, y), {})

    return compute


def _method(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def compute(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if not _asks():
            return plain(self, *args, **kwargs)
        return _fallback.compute(lambda host, *rest, **named: getattr(host, name)(*rest, **named), (self, *args), kwargs)

    return compute


def _update() -> None:
    """Puts NumPy's arithmetic in the place of ours, or ours back."""
    wanted = _set or _contexts > 0
    if wanted and not _plain:
        made = {}
        for name in _OPERATORS:
            for kind in ("", "r", "i"):
                if (plain := vars(_c.ndarray).get(f"__{kind}{name}__")) is not None:
                    made[f"__{kind}{name}__"] = _operator(name, kind, plain)
        made |= {name: _method(name, vars(_c.ndarray)[name]) for name in _METHODS}
        for name, function in made.items():
            _plain[name] = vars(_c.ndarray)[name]
            setattr(_c.ndarray, name, function)
        _c.set_error_watcher(_watch)
    elif not wanted and _plain:
        for name, plain in _plain.items():
            setattr(_c.ndarray, name, plain)
        _plain.clear()
        _c.set_error_watcher(None)


class errstate(np.errstate):
    """NumPy's, of a program."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._given = kwargs
        self._counted = False

    def __enter__(self) -> None:
        global _contexts
        super().__enter__()
        self._counted = _asks()
        if self._counted:
            _contexts += 1
            _update()

    def __exit__(self, *args: Any) -> None:
        global _contexts
        super().__exit__(*args)
        if self._counted:
            _contexts -= 1
            _update()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:  # type: ignore[override]  # NumPy's stub has a type variable
        @functools.wraps(func)
        def inner(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            with errstate(**self._given):
                return func(*args, **kwargs)

        return inner


@functools.wraps(np.seterr)
def seterr(*args: Any, **kwargs: Any) -> Any:
    global _set
    old = np.seterr(*args, **kwargs)
    _set = _asks()
    _update()
    return old


errstate.__module__ = "numpy"
