"""How special functions report errors. Ours give NaN or an infinity, on every device, as SciPy's do unless a program asks for more: a
kernel has no place to which it could report why."""

from __future__ import annotations

from types import TracebackType
from typing import Any

__all__ = ["SpecialFunctionError", "SpecialFunctionWarning", "errstate", "geterr", "seterr"]

# SciPy's defaults: memory that cannot be had is an exception here as well.
_ACTIONS = {
    "singular": "ignore", "underflow": "ignore", "overflow": "ignore", "slow": "ignore", "loss": "ignore", "no_result": "ignore",
    "domain": "ignore", "arg": "ignore", "other": "ignore", "memory": "raise",
}  # fmt: skip


class SpecialFunctionWarning(Warning):
    """SciPy's warning of special functions. Ours do not give it: see seterr.

    Examples
    --------
    >>> issubclass(bc.scipy.special.SpecialFunctionWarning, Warning)
    True
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


class SpecialFunctionError(Exception):
    """SciPy's exception of special functions. Ours do not raise it: see seterr.

    Examples
    --------
    >>> issubclass(bc.scipy.special.SpecialFunctionError, Exception)
    True
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


def geterr() -> dict[str, str]:
    """What special functions do about each category of error.

    Examples
    --------
    >>> bc.scipy.special.geterr()["domain"]
    'ignore'
    """
    return dict(_ACTIONS)


def seterr(**kwargs: str) -> dict[str, str]:
    """Chooses what special functions do about errors: "ignore" alone, but "raise" for memory. Returns what geterr() gave before.

    Parameters
    ----------
    all, singular, underflow, overflow, slow, loss, no_result, domain, arg, other, memory : str, optional
        "ignore". Results say what happened: NaN outside the domain, an infinity at a pole or where the result is too large.

    Raises
    ------
    ValueError
        A category or an action that does not exist.
    NotImplementedError
        "warn" or "raise", which kernels cannot do: look for NaN in the result, or pass NumPy arrays to scipy.special.

    Examples
    --------
    >>> bc.scipy.special.seterr(all="ignore")["overflow"]
    'ignore'
    """
    for category, action in kwargs.items():
        if category not in _ACTIONS and category != "all":
            raise ValueError(f"Invalid error category: {category}")
        if action not in ("ignore", "warn", "raise"):
            raise ValueError(f"Invalid error handler action: {action}")
        if action != ("raise" if category == "memory" else "ignore"):
            raise NotImplementedError(
                f"seterr({category}={action!r}): special functions of broadcloth give NaN or an infinity and report nothing; look for them "
                "in the result, or pass NumPy arrays to scipy.special"
            )
    return geterr()


class errstate:
    """A context in which seterr(**kwargs) holds. See there for what can be chosen.

    Examples
    --------
    >>> with bc.scipy.special.errstate(domain="ignore"):
    ...     bc.scipy.special.gammaln(-1.0)
    array(inf)
    """

    def __init__(self, **kwargs: str) -> None:
        self._kwargs: dict[str, Any] = kwargs

    def __enter__(self) -> None:
        seterr(**self._kwargs)

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        pass
