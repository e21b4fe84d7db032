"""Names with which programs for CuPy are written for NumPy's arrays as well."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from . import _broadcloth as _c

_F = TypeVar("_F", bound=Callable[..., Any])
_memos: list[dict[Hashable, Any]] = []
_lock = threading.Lock()


def get_array_module(*args: Any) -> ModuleType:
    """The module whose functions take the arguments: broadcloth where one of them is an array of it, else NumPy.

    Parameters
    ----------
    *args
        Any objects, arrays or not.

    Returns
    -------
    module
        `broadcloth` or `numpy`.

    Examples
    --------
    >>> def softplus(x):
    ...     xp = bc.get_array_module(x)
    ...     return xp.log1p(xp.exp(x))
    >>> softplus(bc.zeros(2))
    array([0.69314718, 0.69314718])
    >>> bc.get_array_module(np.zeros(2), 3.0).__name__
    'numpy'
    """
    import broadcloth

    return broadcloth if any(isinstance(a, _c.ndarray) for a in args) else np


def is_available() -> bool:
    """Tells whether there is a GPU that can be used; the CPU always is.

    Examples
    --------
    >>> bc.is_available() == (bc.device_count("cuda") > 0)
    True
    """
    return _c.device_count("cuda") > 0


def memoize(for_each_device: bool = False) -> Callable[[_F], _F]:
    """A decorator: the function is called once for each list of arguments, and what it returned is given again after that.

    Parameters
    ----------
    for_each_device : bool
        Calls it again for each default device, as results that lie on a device (kernels, tables) ask for.

    Returns
    -------
    decorator
        For functions of hashable arguments.

    See Also
    --------
    clear_memo : forgets all results.

    Examples
    --------
    >>> @bc.memoize(for_each_device=True)
    ... def table(n):
    ...     print("made")
    ...     return bc.arange(n) ** 2
    >>> table(4)
    made
    array([0, 1, 4, 9])
    >>> table(4)
    array([0, 1, 4, 9])
    """

    def decorate(function: _F) -> _F:
        memo: dict[Hashable, Any] = {}
        with _lock:
            _memos.append(memo)

        @functools.wraps(function)
        def remembered(*args: Any, **kwargs: Any) -> Any:
            key: Hashable = (args, frozenset(kwargs.items()))
            if for_each_device:
                device = _c.default_device()
                key = (device.type, device.index, key)
            try:
                return memo[key]
            except KeyError:
                # Two threads may both call; they get the result of the one who was first.
                return memo.setdefault(key, function(*args, **kwargs))

        return remembered  # type: ignore[return-value]

    return decorate


def clear_memo() -> None:
    """Forgets what functions under `memoize` returned.

    Examples
    --------
    >>> @bc.memoize()
    ... def answer():
    ...     print("asked")
    ...     return 42
    >>> answer() + answer()
    asked
    84
    >>> bc.clear_memo()
    >>> answer()
    asked
    42
    """
    with _lock:
        for memo in _memos:
            memo.clear()
