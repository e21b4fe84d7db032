"""Random numbers: the same seed gives NumPy's numbers, on every device.

`default_rng()` without a seed and `Generator(Philox(seed))` are counter-based instead. docs/random.md says what gives which numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import BitGenerator

from .._namespace import face
from ._bit_generators import MT19937, PCG64, PCG64DXSM, SFC64, Philox, SeedSequence, host_seed
from ._distributions import on_host
from ._generator import Generator
from ._legacy import RandomState, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BitGenerator",
    "Generator",
    "MRG32k3a",
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "Philox",
    "Philox4x3210",
    "RandomState",
    "SFC64",
    "SeedSequence",
    "XORWOW",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "get_bit_generator",
    "get_random_state",
    "get_state",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_integers",
    "random_sample",
    "ranf",
    "rayleigh",
    "reset_states",
    "sample",
    "seed",
    "set_bit_generator",
    "set_random_state",
    "set_state",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]

# The functions of the module are methods of one RandomState.
beta = shared.beta
binomial = shared.binomial
bytes = shared.bytes
chisquare = shared.chisquare
choice = shared.choice
dirichlet = shared.dirichlet
exponential = shared.exponential
f = shared.f
gamma = shared.gamma
geometric = shared.geometric
get_state = shared.get_state
gumbel = shared.gumbel
hypergeometric = shared.hypergeometric
laplace = shared.laplace
logistic = shared.logistic
lognormal = shared.lognormal
logseries = shared.logseries
multinomial = shared.multinomial
multivariate_normal = shared.multivariate_normal
negative_binomial = shared.negative_binomial
noncentral_chisquare = shared.noncentral_chisquare
noncentral_f = shared.noncentral_f
normal = shared.normal
pareto = shared.pareto
permutation = shared.permutation
poisson = shared.poisson
power = shared.power
rand = shared.rand
randint = shared.randint
randn = shared.randn
random = shared.random
random_integers = shared.random_integers
random_sample = shared.random_sample
rayleigh = shared.rayleigh
set_state = shared.set_state
shuffle = shared.shuffle
standard_cauchy = shared.standard_cauchy
standard_exponential = shared.standard_exponential
standard_gamma = shared.standard_gamma
standard_normal = shared.standard_normal
standard_t = shared.standard_t
triangular = shared.triangular
uniform = shared.uniform
vonmises = shared.vonmises
wald = shared.wald
weibull = shared.weibull
zipf = shared.zipf
ranf = sample = shared.random_sample


def get_bit_generator() -> BitGenerator:
    """The bit generator that the functions of this module and of `numpy.random` draw from.

    Examples
    --------
    >>> type(bc.random.get_bit_generator()).__name__
    'MT19937'
    """
    return np.random.get_bit_generator()


def set_bit_generator(bitgen: BitGenerator) -> None:
    """Lets the functions of this module and of `numpy.random` draw from another bit generator.

    Examples
    --------
    >>> before = bc.random.get_bit_generator()
    >>> bc.random.set_bit_generator(bc.random.MT19937(1))
    >>> bc.random.set_bit_generator(before)
    """
    np.random.set_bit_generator(bitgen)


def seed(seed: Any = None) -> None:
    """Begins the stream of a seed for the functions of this module and of `numpy.random`.

    Examples
    --------
    >>> bc.random.seed(0)
    >>> bc.random.rand(2)
    array([0.5488135 , 0.71518937])
    """
    np.random.seed(on_host(seed))


def default_rng(
    seed: int
    | Sequence[int]
    | np.ndarray[Any, Any]
    | SeedSequence
    | BitGenerator
    | np.random.Generator
    | np.random.RandomState
    | None = None,
) -> Generator:
    """A generator of random numbers; with a seed it gives the numbers of `numpy.random.default_rng(seed)`.

    Parameters
    ----------
    seed : None, int, sequence of ints, SeedSequence, BitGenerator, Generator or RandomState
        None takes a counter-based generator (`Philox`) with a key from the operating system: nobody can ask for its numbers again, so it
        draws in the way that is fastest on a device. A Generator of broadcloth is handed back; one of NumPy gives its stream.

    Raises
    ------
    TypeError, ValueError
        NumPy's, for what is no seed.

    Examples
    --------
    >>> bc.random.default_rng(42).integers(0, 10, 5)
    array([0, 7, 6, 4, 4])
    """
    if seed is None:
        return Generator(Philox())
    if isinstance(seed, Generator):
        return seed
    return Generator(np.random.default_rng(host_seed(seed)).bit_generator)


# ---- CuPy's names -----------------------------------------------------------------------------------------------------------------------


def get_random_state() -> RandomState:
    """The generator that the functions of this module draw from, as CuPy calls it.

    Examples
    --------
    >>> bc.random.get_random_state().rand(2).shape
    (2,)
    """
    return shared


def set_random_state(rs: RandomState) -> None:
    """Lets the functions of this module and of `numpy.random` draw what `rs` would.

    Raises
    ------
    TypeError
        `rs` is no RandomState.

    Examples
    --------
    >>> before = bc.random.get_state()
    >>> bc.random.set_random_state(bc.random.RandomState(0))
    >>> bc.random.rand(2)
    array([0.5488135 , 0.71518937])
    >>> bc.random.set_state(before)
    """
    if not isinstance(rs, RandomState):
        raise TypeError(f"set_random_state: expected a RandomState, got {type(rs).__name__}")
    if rs is not shared:
        shared.set_state(rs.get_state(legacy=False))


def reset_states() -> None:
    """Begins a new stream, which the operating system chooses, for the functions of this module and of `numpy.random`.

    Examples
    --------
    >>> bc.random.reset_states()
    """
    seed(None)


class XORWOW(Philox):
    """The name of a bit generator of CuPy's, for its programs. The numbers are those of `Philox`, which draws on the device as it does.

    Examples
    --------
    >>> bc.random.Generator(bc.random.XORWOW(1)).random(3).shape
    (3,)
    """

    def __init__(self, seed: Any = None, *, size: int = -1) -> None:
        super().__init__(seed)


class MRG32k3a(XORWOW):
    """The name of a bit generator of CuPy's, for its programs. The numbers are those of `Philox`.

    Examples
    --------
    >>> bc.random.Generator(bc.random.MRG32k3a(1)).random(3).shape
    (3,)
    """


class Philox4x3210(XORWOW):
    """CuPy's name of `Philox`. The numbers are Philox 4x32-10's, but not in cuRAND's order.

    Examples
    --------
    >>> bc.random.Generator(bc.random.Philox4x3210(1)).random(3).shape
    (3,)
    """


if not TYPE_CHECKING:
    __getattr__, __dir__ = face(__name__, __all__, np.random, "numpy.random.{name} is the host's")
