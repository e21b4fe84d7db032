"""The distributions that NumPy's own code draws: one table, from which the methods of Generator and RandomState are made.

`scripts/stubs.py` writes `_distributions.pyi` from the table.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray
from .._warnings import warn
from ..exceptions import PerformanceWarning
from . import _parallel as parallel


class Distribution(NamedTuple):
    """A method that draws from a distribution whose parameters are arrays that broadcast."""

    name: str
    parameters: str
    """As in a signature, without `size`, which comes last in every method."""
    about: str
    arguments: str
    """Of the example, whose result has three rows."""
    row: str = ""
    """The rest of the shape of the example's result."""


DISTRIBUTIONS = [
    Distribution("beta", "a, b", "Numbers in [0, 1] of the beta distribution with shapes `a` and `b`.", "2.0, 5.0"),
    Distribution("binomial", "n, p", "Successes in `n` trials, each of which succeeds with probability `p`.", "10, 0.5"),
    Distribution("chisquare", "df", "Sums of the squares of `df` standard normal numbers.", "2"),
    Distribution(
        "dirichlet", "alpha", "Points whose coordinates are positive and add up to 1; `alpha` has one weight for each coordinate.",
        "[1.0, 2.0]", row=", 2",
    ),
    Distribution("exponential", "scale=1.0", "Waiting times whose mean is `scale`.", "2.0"),
    Distribution("f", "dfnum, dfden", "Ratios of two mean squares with `dfnum` and `dfden` degrees of freedom.", "3, 20"),
    Distribution("gamma", "shape, scale=1.0", "Numbers of the gamma distribution.", "2.0, 0.5"),
    Distribution("geometric", "p", "Trials up to the first success, which has probability `p` in each.", "0.3"),
    Distribution("gumbel", "loc=0.0, scale=1.0", "Largest values of many: the extreme value distribution of type I.", "0.0, 2.0"),
    Distribution(
        "hypergeometric", "ngood, nbad, nsample", "Good ones among `nsample` taken from `ngood` good and `nbad` bad ones.", "10, 5, 3"
    ),
    Distribution("laplace", "loc=0.0, scale=1.0", "Numbers of the double exponential distribution.", "0.0, 2.0"),
    Distribution("logistic", "loc=0.0, scale=1.0", "Numbers whose distribution function is the logistic one.", "0.0, 2.0"),
    Distribution("lognormal", "mean=0.0, sigma=1.0", "Numbers whose logarithm is normally distributed.", "0.0, 0.5"),
    Distribution("logseries", "p", "Positive integers k, each with a probability proportional to p**k / k.", "0.6"),
    Distribution("multinomial", "n, pvals", "How often each of several outcomes came in `n` trials.", "10, [0.2, 0.8]", row=", 2"),
    Distribution(
        "multivariate_hypergeometric", "colors, nsample", "How many of each colour are among `nsample` that are taken from `colors`.",
        "[4, 6], 3", row=", 2",
    ),
    Distribution("negative_binomial", "n, p", "Failures before success number `n`; each trial succeeds with probability `p`.", "3, 0.5"),
    Distribution("noncentral_chisquare", "df, nonc", "Sums of squares of normal numbers whose squared means add up to `nonc`.", "3, 2.0"),
    Distribution("noncentral_f", "dfnum, dfden, nonc", "Ratios of two mean squares, the first of which is noncentral.", "3, 20, 2.0"),
    Distribution("normal", "loc=0.0, scale=1.0", "Normal numbers with mean `loc` and standard deviation `scale`.", "10.0, 2.0"),
    Distribution("pareto", "a", "Numbers of the Lomax distribution: those of Pareto's, less 1.", "3.0"),
    Distribution("poisson", "lam=1.0", "Events in an interval in which `lam` are expected.", "4.0"),
    Distribution("power", "a", "Numbers in [0, 1] with the density a * x**(a - 1).", "3.0"),
    Distribution("rayleigh", "scale=1.0", "Lengths of vectors of two normal numbers with standard deviation `scale`.", "2.0"),
    Distribution("standard_cauchy", "", "Ratios of two standard normal numbers.", ""),
    Distribution("standard_t", "df", "Numbers of Student's distribution with `df` degrees of freedom.", "5"),
    Distribution("triangular", "left, mode, right", "Numbers in [left, right] whose density is highest at `mode`.", "0.0, 1.0, 4.0"),
    Distribution("uniform", "low=0.0, high=1.0", "Numbers in [low, high), evenly distributed.", "5.0, 6.0"),
    Distribution("vonmises", "mu, kappa", "Angles in [-pi, pi] around `mu` with concentration `kappa`.", "0.0, 4.0"),
    Distribution("wald", "mean, scale", "Numbers of the inverse Gaussian distribution.", "1.0, 2.0"),
    Distribution("weibull", "a", "Numbers of the Weibull distribution with shape `a` and scale 1.", "1.5"),
    Distribution("zipf", "a", "Positive integers k, each with a probability proportional to k**-a.", "3.0"),
]  # fmt: skip

_NUMBERS = frozenset((float, int))
_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
_SIZE = inspect.Parameter("size", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
_METHOD = inspect.Parameter("method", inspect.Parameter.POSITIONAL_OR_KEYWORD, default="marginals")
_DEVICE = inspect.Parameter("device", inspect.Parameter.KEYWORD_ONLY, default=None)
_DTYPE = inspect.Parameter("dtype", inspect.Parameter.KEYWORD_ONLY, default=None)


@functools.cache
def parameters_of(row: Distribution) -> list[inspect.Parameter]:
    """The parameters of a method, without `self`."""
    found = []
    for text in filter(None, row.parameters.split(", ")):
        name, _, default = text.partition("=")
        found.append(
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=float(default) if default else inspect.Parameter.empty)
        )
    return [*found, _SIZE, *([_METHOD] if row.name == "multivariate_hypergeometric" else []), _DEVICE]


@functools.cache
def _signature_of(row: Distribution, legacy: bool) -> inspect.Signature:
    """The signature of a method; those of RandomState have CuPy's `dtype` besides."""
    return inspect.Signature([_SELF, *parameters_of(row), *([_DTYPE] if legacy else [])])


def on_host(value: Any) -> Any:
    """An argument as NumPy takes it: arrays are copied from their device, also inside lists and tuples, large ones with a warning."""
    if isinstance(value, ndarray):
        if value.nbytes > 4096 and value.device.type != "cpu":
            warn("an array of a GPU is copied to host memory, where NumPy's generator draws the numbers", PerformanceWarning)
        return value.get()
    if type(value) in (list, tuple):
        return type(value)(map(on_host, value))
    return value


def on_device(drawn: Any, device: Any) -> Any:
    """What NumPy drew, as an array of the engine; a single number stays as it is unless a device is named.

    Arrays whose dtype the engine does not have stay NumPy's.
    """
    if isinstance(drawn, ndarray):
        return drawn
    if isinstance(drawn, np.ndarray):
        return _c.asarray(drawn, device=device) if drawn.dtype.kind in "biufc" else drawn
    return drawn if device is None else _c.asarray(drawn, device=device)


def in_dtype(drawn: Any, dtype: Any, device: Any, below: float | None = None) -> Any:
    """What NumPy drew, in the dtype that a caller of CuPy's functions names. Numbers that lie `below` one do so after they are rounded.

    Raises
    ------
    TypeError
        The dtype holds numbers of another kind.
    """
    if dtype is None:
        return on_device(drawn, device)
    to, given = np.dtype(dtype), np.asarray(drawn).dtype
    if to.kind not in ("f" if given.kind == "f" else "iu"):
        raise TypeError(f"expected a dtype of {'floats' if given.kind == 'f' else 'integers'} as the numbers that are drawn, got {to.name}")
    if given.kind != "f" or to.itemsize >= given.itemsize:
        below = None
    cast = np.asarray(drawn).astype(to, copy=False)
    if below is not None:
        cast = np.minimum(cast, np.nextafter(to.type(below), to.type(0)))
    return on_device(cast if cast.ndim or np.ndim(drawn) else cast[()], device)


_F = TypeVar("_F", bound=Callable[..., Any])


def few_by_numpy(numpys: Any, place: int) -> Callable[[_F], _F]:
    """Makes NumPy's method draw one number or a few, as loops do, where the arguments are numbers; the decorated function does the rest.

    `place` is that of the parameter which says how many are drawn; -1: however many there are, the function would do the same.
    """

    def decorate(function: _F) -> _F:
        return cast(_F, _c.draw_method(function, numpys, place))

    return decorate


def binder(row: Distribution) -> Callable[[tuple[Any, ...], dict[str, Any]], list[Any] | None]:
    """Gives the parameters of a call in order, `size` last; None where the call does not fit the method."""
    expected = [p for p in parameters_of(row) if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = [p.name for p in expected]
    defaults = {p.name: p.default for p in expected if p.default is not p.empty}

    def bound(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        if len(given) != len(names) or len(args) > len(names) or not kwargs.keys().isdisjoint(names[: len(args)]):
            return None
        return [given[name] for name in names]

    return bound


# Distributions that are a standard one's numbers times a scale, plus an offset: the kind, and both from the parameters.
_SCALED: dict[str, Callable[..., tuple[str, float, float]]] = {
    "exponential": lambda scale: ("exponential", 0.0, scale),
    "normal": lambda loc, scale: ("normal", loc, scale),
    "uniform": lambda low, high: ("uniform", low, high - low),
}


def _method(row: Distribution, numpy_class: type, rng: str) -> Callable[..., Any]:
    draw = _drawn_by_numpy(row, numpy_class, _SCALED.get(row.name) if numpy_class is np.random.Generator else None)
    draw.__signature__ = _signature_of(row, numpy_class is np.random.RandomState)  # type: ignore[attr-defined]
    arguments = f"{row.arguments}, size=3" if row.arguments else "size=3"
    draw.__doc__ = f"""{row.about}

        The parameters are arrays, or numbers, that broadcast. Without a `size` the result has the shape of the parameters together; of
        numbers it is a number. Parameters, errors and numbers are those of `numpy.random.{numpy_class.__name__}.{row.name}`.

        Examples
        --------
        >>> bc.random.{rng}.{row.name}({arguments}).shape
        (3,{row.row.removeprefix(",")})
        """
    return draw


def _drawn_by_numpy(row: Distribution, numpy_class: type, scaled: Callable[..., tuple[str, float, float]] | None) -> Callable[..., Any]:
    numpys, bound = getattr(numpy_class, row.name), binder(row) if scaled else None

    def method(self: Any, *args: Any, device: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
        if dtype is not None and numpy_class is np.random.Generator:
            raise TypeError(f"{row.name}() got an unexpected keyword argument 'dtype'")
        if scaled and bound and (values := bound(args, kwargs)) and values[-1] is not None and _NUMBERS.issuperset(map(type, values[:-1])):
            kind, low, scale = scaled(*map(float, values[:-1]))
            if math.copysign(1.0, scale) > 0 and math.isfinite(scale):
                drawn = parallel.floats(self.bit_generator, kind, values[-1], np.float64, device, low, scale)
                if drawn is not None:
                    return drawn
        args = tuple(map(on_host, args))
        kwargs = {name: on_host(value) for name, value in kwargs.items()}
        return in_dtype(numpys(self._numpy, *args, **kwargs), dtype, device)

    return method


def fill(cls: type, numpy_class: type, rng: str) -> None:
    """Gives a class the methods of the table that NumPy's class has; `rng` makes a generator in their examples."""
    for row in DISTRIBUTIONS:
        if hasattr(numpy_class, row.name):
            method = _method(row, numpy_class, rng)
            method.__name__, method.__qualname__, method.__module__ = row.name, f"{cls.__name__}.{row.name}", cls.__module__
            setattr(cls, row.name, few_by_numpy(getattr(numpy_class, row.name), len(parameters_of(row)) - 2)(method))


class Distributions:
    """The distributions of Generator."""


class LegacyDistributions:
    """The distributions of RandomState."""


fill(Distributions, np.random.Generator, "default_rng(1)")
fill(LegacyDistributions, np.random.RandomState, "RandomState(1)")
