"""How errors are treated, under CuPy's names: `errstate`, `seterr`, `geterr`, and waits that are forbidden."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .. import _broadcloth as _c
from .._device import config
from ..exceptions import SynchronizationError as DeviceSynchronized

__all__ = ["DeviceSynchronized", "allow_synchronize", "errstate", "geterr", "seterr"]

_FLOATING = ("divide", "over", "under", "invalid")
_FALLBACK = {"raise": "error", "warn": "warn", "print": "warn", "ignore": "ignore"}


def geterr() -> dict[str, Any]:
    """How errors are treated now.

    Floating-point errors are never looked for (None). Functions of linear algebra raise for matrices that they cannot take ("raise").
    `fallback_mode` says what happens where a name of NumPy's is missing: "raise", "warn" or "ignore" (the last two compute it on the host).

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> cupyx.geterr()["linalg"]
    'raise'
    """
    modes = {ours: theirs for theirs, ours in _FALLBACK.items() if theirs != "print"}
    return {**dict.fromkeys(_FLOATING), "linalg": "raise", "fallback_mode": modes[config.fallback]}


def seterr(
    *, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None, linalg: Any = None, fallback_mode: Any = None
) -> dict[str, Any]:
    """Sets how errors are treated and returns what `geterr` said before; None leaves a kind of errors as it is.

    Raises
    ------
    NotImplementedError
        Floating-point errors are asked for, which kernels do not look for; or linear algebra that does not raise.
    ValueError
        Another word than "ignore" and "raise", for `fallback_mode` also "warn" and "print".

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> before = cupyx.seterr(linalg="raise")
    """
    before = geterr()
    for name, asked in zip(_FLOATING, (divide, over, under, invalid), strict=True):
        if asked is not None:
            raise NotImplementedError(f"seterr: {name}={asked!r}: kernels do not look for floating-point errors")
    if linalg not in (None, "raise", "ignore"):
        raise ValueError(f"seterr: expected 'raise' or 'ignore' for linalg, got {linalg!r}")
    if linalg == "ignore":
        raise NotImplementedError("seterr: linalg='ignore': functions of linear algebra always raise, as NumPy's")
    if fallback_mode is not None:
        if fallback_mode not in _FALLBACK:
            raise ValueError(f"seterr: expected one of {', '.join(_FALLBACK)} for fallback_mode, got {fallback_mode!r}")
        config.fallback = _FALLBACK[fallback_mode]
    return before


class errstate(contextlib.ContextDecorator):
    """Sets how errors are treated for a block; see `seterr`.

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> with cupyx.errstate(linalg="raise"):
    ...     x = bc.ones(3)
    """

    def __init__(self, **kinds: Any) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        self._before = seterr(**self._kinds)

    def __exit__(self, *_: object) -> None:
        seterr(fallback_mode=self._before["fallback_mode"])


@contextlib.contextmanager
def allow_synchronize(allow: bool) -> Iterator[None]:
    """Allows or forbids waits for the device, in this thread, for a block.

    What looks at values that are not there yet then raises `DeviceSynchronized`, and so does `synchronize`. On the CPU values that are
    computed already may be looked at.

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> a = bc.arange(5)
    >>> with cupyx.allow_synchronize(False):
    ...     total = (a * 2).sum()
    >>> int(total)
    20
    """
    before = _c.forbid_waits(not allow)
    try:
        yield
    finally:
        _c.forbid_waits(before)
