"""Parameters of distributions from probabilities: the inverses of distribution functions in an argument other than the quantile.

All but four are found by one search, which doubles a bracket and then narrows it by Chandrupatla's method (1997, "A new hybrid
quadratic/bisection algorithm for finding the zero of a nonlinear function without using derivatives"). The definitions below name the
function, the unknown's place, whether the function grows with it, and where it may lie.
"""

from __future__ import annotations

import math
from typing import Any

from ... import _broadcloth as _c
from ..._generated_loops import generated
from ._functions import special_function
from ._noncentral import _chndtr, _ncfdtr, _nctdtr

__all__ = [
    "bdtrik", "bdtrin", "btdtria", "btdtrib", "chdtriv", "chndtridf", "chndtrinc", "chndtrix", "fdtridfd", "gdtria", "gdtrib", "gdtrix",
    "nbdtrik", "nbdtrin", "ncfdtri", "ncfdtridfd", "ncfdtridfn", "ncfdtrinc", "nctdtridf", "nctdtrinc", "nctdtrit", "nrdtrimn", "nrdtrisd",
    "pdtrik", "stdtridf",
]  # fmt: skip

_betainc, _betaincc, _gammainc, _gammaincc, _gammaincinv, _ndtri, _stdtr = (
    _c.ufuncs[name] for name in ["betainc", "betaincc", "gammainc", "gammaincc", "gammaincinv", "ndtri", "stdtr"]
)


def _propose(a: Any, b: Any, t: Any) -> Any:
    return a + t * (b - a)


def _narrow(a: Any, fa: Any, b: Any, fb: Any, x: Any, fx: Any) -> Any:
    """The bracket between x and an end, where in it to look next, as a fraction of its length, whether the search is over, and whether it
    is with that place, from which an interpolation that was near leaves no distance."""
    if (fx > 0) == (fa > 0):
        c = a
        fc = fa
    else:
        c = b
        fc = fb
        b = a
        fb = fa
    a = x
    fa = fx
    t = 0.5
    near = False
    if fb != fa and fc != fb:
        xi = (a - b) / (c - b)
        phi = (fa - fb) / (fc - fb)
        if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi and fc != fa:
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            # Points that are nearer to each other have no slope but that of the function's rounding.
            apart = abs(c - a)
            near = 0 < t < 1 and t * abs(b - a) <= 1e-11 * abs(a) and 1e-9 * abs(a) <= apart <= 1e-4 * abs(a)
    # A step as small as the rounding of x would not move.
    least = 2.5e-16 * abs(a) / abs(b - a) if b != a else 1.0
    done = fa == 0 or least >= 0.5
    return a, fa, b, fb, min(max(t, least), 1 - least), done, near


_SEARCH = '''
def {name}({operands}):
    """{summary}

    Examples
    --------
{example}
    """
    if not ({allowed}) or not 0 <= {probability} <= 1:
        return math.nan
    goal = {probability}
    if goal == 0 or goal == 1:
        return {above} if (goal == 1) == {grows} else {below}
    low = {low}
    high = {high}
    # A bracket: from 1, or from the middle of what is finite, in steps that grow eightfold, towards 0 then faster.
    x = 0.5 * (low + high) if math.isfinite(low) and math.isfinite(high) else 1.0
    near = x
    near_value = ({value}) - goal
    if math.isnan(near_value):
        return math.nan
    upwards = (near_value < 0) == {grows}
    far = near
    far_value = near_value
    stride = 1.0
    bracketed = near_value == 0
    while not bracketed:
        if upwards and math.isfinite(high):
            x = high
        elif not upwards and math.isfinite(low) and math.isfinite(high):
            x = low
        elif low == 0.0:
            x = far * 8 if upwards else far / 8 if far > 1e-4 else far / 4096
        else:
            x = far + stride if upwards else far - stride
            stride *= 8
        if abs(x) > {limit} or (low == 0.0 and 0 < x < 1e-300):
            return {above} if upwards else {below}
        value_here = ({value}) - goal
        if math.isnan(value_here) or (low == 0.0 and x < 1e-25 and value_here == far_value):
            return math.nan if math.isnan(value_here) else {above} if upwards else {below}  # a limit that the goal is beyond
        near = far
        near_value = far_value
        far = x
        far_value = value_here
        bracketed = (far_value > 0) != (near_value > 0) or far_value == 0
        if not bracketed and (x == low or x == high):
            return {above} if upwards else {below}
    if near_value == 0:
        return near
    if far_value == 0:
        return far
    part = 0.5
    is_last = False
    for _ in range(300):
        x = _propose(near, far, part)
        value_here = ({value}) - goal
        if is_last:
            return x if abs(value_here) <= abs(near_value) else near
        near, near_value, far, far_value, part, is_narrow, is_last = _narrow(near, near_value, far, far_value, x, value_here)
        if is_narrow:
            break
    return near if abs(near_value) <= abs(far_value) else far
'''

_NAMES = {
    "math": math, "_betainc": _betainc, "_betaincc": _betaincc, "_gammainc": _gammainc, "_gammaincc": _gammaincc, "_stdtr": _stdtr,
    "_chndtr": _chndtr, "_ncfdtr": _ncfdtr, "_nctdtr": _nctdtr, "_propose": _propose, "_narrow": _narrow,
}  # fmt: skip


def _inverse(
    name: str,
    operands: str,
    probability: str,
    value: str,
    grows: bool,
    allowed: str,
    summary: str,
    example: str,
    low: str = "0.0",
    high: str = "math.inf",
    limit: str = "1e300",
    below: str = "math.nan",
    above: str = "math.nan",
) -> Any:
    """The inverse of `value`, a distribution function of the unknown `x` and the other operands, which grows with x where `grows`.

    x lies in [`low`, `high`]; a probability that is not reached there, or only beyond `limit`, gives `below` or `above`.
    """
    source = _SEARCH.format(
        name=name, operands=operands, probability=probability, value=value, grows=grows, allowed=allowed, summary=summary, low=low,
        high=high, limit=limit, below=below, above=above, example="\n".join("    " + line for line in example.split("\n")),
    )  # fmt: skip
    function = generated(source.lstrip("\n"), name, dict(_NAMES))
    function.__module__ = __name__
    count = operands.count(",") + 1
    return special_function(f"{'f' * count} {'d' * count}")(function)


# fmt: off
bdtrik = _inverse("bdtrik", "y, n, p", "y", "_betainc(n - x, x + 1, 1 - p) if x < n else 1.0", True, "n >= 0 and 0 <= p <= 1",
    "The number of successes k, a real one, at which the binomial distribution function is y; 0 where it is above y there.",
    ">>> bc.scipy.special.bdtrik([0.2, 0.5], 10.0, 0.3)\narray([1.25600871, 2.42930796])", high="n", below="0.0", above="n")
bdtrin = _inverse("bdtrin", "k, y, p", "y", "_betainc(x - k, k + 1, 1 - p) if x > k else 1.0", False, "k >= 0 and 0 < p < 1",
    "The number of trials n at which the binomial distribution function of n and p is y at k.",
    ">>> bc.scipy.special.bdtrin(3.0, [0.2, 0.5], 0.3)\narray([17.04719905, 11.90023764])")
btdtria = _inverse("btdtria", "p, b, x_", "p", "_betainc(x, b, x_)", False, "b > 0 and 0 < x_ < 1",
    "The parameter a at which the incomplete beta function betainc(a, b, x_) is p.",
    ">>> bc.scipy.special.btdtria([0.2, 0.5], 2.0, 0.3)\narray([2.08403483, 1.02493069])")
btdtrib = _inverse("btdtrib", "a, p, x_", "p", "_betainc(a, x, x_)", True, "a > 0 and 0 < x_ < 1",
    "The parameter b at which the incomplete beta function betainc(a, b, x_) is p.",
    ">>> bc.scipy.special.btdtrib(2.0, [0.2, 0.5], 0.3)\narray([1.87903725, 4.24670218])")
chdtriv = _inverse("chdtriv", "p, x_", "p", "_gammainc(0.5 * x, 0.5 * x_)", False, "x_ > 0 and not math.isinf(x_)",
    "The degrees of freedom at which the chi-square distribution function is p at x_.",
    ">>> bc.scipy.special.chdtriv([0.2, 0.5], 3.0)\narray([5.90527117, 3.64062784])", below="0.0", above="math.inf")
chndtridf = _inverse("chndtridf", "x_, p, nc", "p", "_chndtr(x_, x, nc)", False, "x_ > 0 and nc >= 0",
    "The degrees of freedom at which the noncentral chi-square distribution function is p at x_.",
    ">>> bc.scipy.special.chndtridf(3.0, [0.1, 0.5], 2.0)\narray([5.96407692, 1.91142167])")
chndtrinc = _inverse("chndtrinc", "x_, df, p", "p", "_chndtr(x_, df, x)", False, "x_ > 0 and df > 0",
    "The noncentrality at which the noncentral chi-square distribution function is p at x_.",
    ">>> bc.scipy.special.chndtrinc(3.0, 1.0, [0.1, 0.5])\narray([9.08176357, 2.99768494])")
chndtrix = _inverse("chndtrix", "p, df, nc", "p", "_chndtr(x, df, nc)", True, "df > 0 and nc >= 0",
    "The quantile of the noncentral chi-square distribution.",
    ">>> bc.scipy.special.chndtrix([0.1, 0.5], 1.0, 2.0)\narray([0.11196685, 2.01631951])", below="0.0", above="math.inf")
fdtridfd = _inverse("fdtridfd", "dfn, p, x_", "p", "_betaincc(0.5 * x, 0.5 * dfn, x / (dfn * x_ + x))", True, "dfn > 0 and x_ > 0",
    "The degrees of freedom of the denominator at which the F distribution function is p at x_.",
    ">>> bc.scipy.special.fdtridfd(3.0, [0.3, 0.5], 2.0)\narray([0.27769268, 0.84766645])", limit="1e10")
gdtrib = _inverse("gdtrib", "a, p, x_", "p", "_gammainc(x, a * x_)", False, "a > 0 and x_ > 0",
    "The shape b at which the gamma distribution function of the rate a is p at x_.",
    ">>> bc.scipy.special.gdtrib(2.0, [0.3, 0.5], 3.0)\narray([7.65455754, 6.33003106])", below="0.0", above="math.inf")
nbdtrik = _inverse("nbdtrik", "y, n, p", "y", "_betainc(n, x + 1, p)", True, "n > 0 and 0 < p <= 1",
    "The number of failures k, a real one, at which the negative binomial distribution function is y; 0 where it is above y there.",
    ">>> bc.scipy.special.nbdtrik([0.3, 0.5], 3.0, 0.3)\narray([3.4569745 , 5.57109773])", below="0.0")
nbdtrin = _inverse("nbdtrin", "k, y, p", "y", "_betainc(x, k + 1, p)", False, "k >= 0 and 0 < p < 1",
    "The number of successes n at which the negative binomial distribution function of n and p is y at k.",
    ">>> bc.scipy.special.nbdtrin(3.0, [0.3, 0.5], 0.3)\narray([2.75543336, 1.89359667])")
ncfdtri = _inverse("ncfdtri", "dfn, dfd, nc, p", "p", "_ncfdtr(dfn, dfd, nc, x)", True, "dfn > 0 and dfd > 0 and nc >= 0",
    "The quantile of the noncentral F distribution.",
    ">>> bc.scipy.special.ncfdtri(2.0, 3.0, 1.5, [0.1, 0.5])\narray([0.22317645, 1.64327272])", below="0.0", above="math.inf")
ncfdtridfd = _inverse("ncfdtridfd", "dfn, p, nc, f", "p", "_ncfdtr(dfn, x, nc, f)", True, "dfn > 0 and nc >= 0 and f > 0",
    "The degrees of freedom of the denominator at which the noncentral F distribution function is p at f.",
    ">>> bc.scipy.special.ncfdtridfd(2.0, [0.1, 0.3], 1.5, 1.2)\narray([0.07184807, 0.6702779 ])", limit="1e10")
ncfdtridfn = _inverse("ncfdtridfn", "p, dfd, nc, f", "p", "_ncfdtr(x, dfd, nc, f)", False, "dfd > 0 and nc >= 0 and f > 0",
    "The degrees of freedom of the numerator at which the noncentral F distribution function is p at f.",
    ">>> bc.scipy.special.ncfdtridfn([0.42, 0.45], 3.0, 1.5, 1.2)\narray([0.16689628, 0.03440614])")
ncfdtrinc = _inverse("ncfdtrinc", "dfn, dfd, p, f", "p", "_ncfdtr(dfn, dfd, x, f)", False, "dfn > 0 and dfd > 0 and f > 0",
    "The noncentrality at which the noncentral F distribution function is p at f.",
    ">>> bc.scipy.special.ncfdtrinc(2.0, 3.0, [0.1, 0.5], 1.2)\narray([7.24030837, 0.67017008])")
nctdtridf = _inverse("nctdtridf", "p, nc, t", "p", "_nctdtr(x, nc, t)", True, "t > 0",
    "The degrees of freedom at which the noncentral t distribution function is p at t.",
    ">>> bc.scipy.special.nctdtridf([0.3, 0.5], 1.0, 1.2)\narray([0.14525314, 1.48400968])", limit="1e10")
nctdtrinc = _inverse("nctdtrinc", "df, p, t", "p", "_nctdtr(df, x, t)", False, "df > 0",
    "The noncentrality at which the noncentral t distribution function is p at t.",
    ">>> bc.scipy.special.nctdtrinc(3.0, [0.1, 0.3], 1.2)\narray([2.52403643, 1.67917058])", low="-math.inf")
nctdtrit = _inverse("nctdtrit", "df, nc, p", "p", "_nctdtr(df, nc, x)", True, "df > 0",
    "The quantile of the noncentral t distribution.",
    ">>> bc.scipy.special.nctdtrit(3.0, 1.0, [0.1, 0.5])\narray([-0.31594766,  1.09115255])",
    low="-math.inf", below="-math.inf", above="math.inf")
pdtrik = _inverse("pdtrik", "p, m", "p", "_gammaincc(x + 1, m)", True, "m >= 0",
    "The number of events k, a real one, at which the Poisson distribution function of mean m is p; 0 where it is above p there.",
    ">>> bc.scipy.special.pdtrik([0.3, 0.5], 3.0)\narray([1.47260299, 2.32673701])", below="0.0")
stdtridf = _inverse("stdtridf", "p, t", "p", "_stdtr(x, t)", True, "t > 0",
    "The degrees of freedom at which the distribution function of Student's t is p at t > 0.",
    ">>> bc.scipy.special.stdtridf([0.8, 0.85], 1.5)\narray([0.86627768, 1.611326  ])", limit="1e10")
# fmt: on


@special_function("fff ddd")
def gdtria(p: Any, b: Any, x: Any) -> Any:
    """The rate a at which the gamma distribution function of the shape b is p at x.

    Examples
    --------
    >>> bc.scipy.special.gdtria([0.3, 0.5], 2.0, 3.0)
    array([0.36578307, 0.559449  ])
    """
    return _gammaincinv(b, p) / x if x >= 0 else math.nan


@special_function("fff ddd")
def gdtrix(a: Any, b: Any, p: Any) -> Any:
    """The quantile of the gamma distribution of the rate a and the shape b.

    Examples
    --------
    >>> bc.scipy.special.gdtrix(2.0, 3.0, [0.3, 0.5])
    array([0.9568879 , 1.33703016])
    """
    return _gammaincinv(b, p) / a if a > 0 else math.nan


@special_function("fff ddd")
def nrdtrimn(p: Any, std: Any, x: Any) -> Any:
    """The mean at which the normal distribution function of the deviation std is p at x.

    Examples
    --------
    >>> bc.scipy.special.nrdtrimn([0.3, 0.5], 2.0, 1.0)
    array([2.04880103, 1.        ])
    """
    return x - std * _ndtri(p) if std > 0 else math.nan


@special_function("fff ddd")
def nrdtrisd(mn: Any, p: Any, x: Any) -> Any:
    """The standard deviation at which the normal distribution function of the mean mn is p at x.

    Examples
    --------
    >>> bc.scipy.special.nrdtrisd(0.1, [0.7, 0.9], 2.0)
    array([3.62318486, 1.48257788])
    """
    return (x - mn) / _ndtri(p) if x != mn or p != 0.5 else 0.0
