"""Functions of array expressions under one name in profiles: `fuse`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

from . import _broadcloth as _c

ElementwiseKernel = _c.ElementwiseKernel
ReductionKernel = _c.ReductionKernel


class Fusion:
    """A function whose kernels bear its name; made by `fuse`."""

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        self.func = function
        self.name = name or function.__name__
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = _c.set_kernel_label(self.name)
        try:
            return self.func(*args, **kwargs)
        finally:
            _c.set_kernel_label(before)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<Fusion '{self.name}'>"

    def clear_cache(self) -> None:
        """Nothing to forget: kernels are kept by what they compute."""


@overload
def fuse(function: Callable[..., Any], /) -> Fusion: ...
@overload
def fuse(*, kernel_name: str | None = None) -> Callable[[Callable[..., Any]], Fusion]: ...
def fuse(*args: Any, **kwargs: Any) -> Any:
    """Decorates a function of arrays, so that its kernels bear its name in profiles.

    Array expressions fuse without it: one kernel for what one pass over memory can do, in and across functions. Numbers, control flow and
    reductions are free; arrays that come out wait as all others do.

    Parameters
    ----------
    kernel_name : str, optional
        The name in profiles; the function's own unless given.

    Examples
    --------
    >>> @bc.fuse(kernel_name="squared_diff")
    ... def squared_diff(x, y):
    ...     return (x - y) * (x - y)
    >>> squared_diff(bc.arange(4), 1)
    array([1, 0, 1, 4])
    """
    name = kwargs.pop("kernel_name", None)
    if kwargs:
        raise TypeError(f"fuse() got an unexpected keyword argument {next(iter(kwargs))!r}")
    if not args:
        return lambda function: Fusion(function, name)
    if len(args) != 1 or not callable(args[0]):
        raise TypeError("fuse: expected one function, or kernel_name= alone")
    return Fusion(args[0], name)
