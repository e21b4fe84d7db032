"""CuPy's context in which it searches for the fastest launches of its reductions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

__all__ = ["optimize"]


@contextlib.contextmanager
def optimize(*, key: str | None = None, path: str | None = None, readonly: bool = False, **config: Any) -> Iterator[None]:
    """A with block that changes nothing: the engine chooses how reductions are divided from shapes and devices, without a search.

    Parameters
    ----------
    key, path, readonly
        Of the results that CuPy's search stores; there are none here, so that no file is read or written.
    **config
        `max_trials`, `timeout`, `expected_total_time_per_trial` and `max_total_time_per_trial` of the search.

    Raises
    ------
    TypeError
        CuPy has no such option.

    Examples
    --------
    >>> from broadcloth.cupyx import optimizing
    >>> with optimizing.optimize():
    ...     total = bc.arange(4).sum()
    >>> int(total)
    6
    """
    known = {"max_trials", "timeout", "expected_total_time_per_trial", "max_total_time_per_trial"}
    if unknown := config.keys() - known:
        raise TypeError(f"optimize: expected one of {', '.join(sorted(known))}, got {min(unknown)!r}")
    yield
