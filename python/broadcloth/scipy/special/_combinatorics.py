"""Numbers of combinatorics. Exact results are Python's integers; others are arrays of float64 on the array's device."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._functions import special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["bernoulli", "comb", "euler", "factorial", "factorial2", "factorialk", "perm", "stirling2"]

_asarray = _c.asarray
_gamma, _poch, _binom = (_c.ufuncs[name] for name in ("gamma", "poch", "binom"))
_rgamma = _c.ufuncs["rgamma"]


def _whole(name: str, **given: Any) -> list[int]:
    """The operands of an exact function as Python's integers."""
    numbers = []
    for what, value in given.items():
        number = value.item() if isinstance(value, ndarray | np.ndarray | np.generic) and value.ndim == 0 else value
        if not isinstance(number, int | float) or int(number) != number:
            raise ValueError(f"{name}: with exact=True {what} must be one whole number, got {value!r}")
        numbers.append(int(number))
    return numbers


def comb(N: ArrayLike, k: ArrayLike, *, exact: bool = False, repetition: bool = False) -> Any:
    """The number of combinations of N things taken k at a time, N over k.

    Parameters
    ----------
    N, k : array_like
        They broadcast. Where k > N, or one is negative, the number is 0.
    exact : bool
        Whether `N` and `k` are whole numbers, not arrays, and the result a Python integer.
    repetition : bool
        Whether a thing may be taken several times.

    Returns
    -------
    ndarray of float, or int

    Raises
    ------
    ValueError
        An exact number was asked for of what is not whole.

    Examples
    --------
    >>> bc.scipy.special.comb([10, 5], 3)
    array([120.,  10.])
    >>> bc.scipy.special.comb(100, 50, exact=True)
    100891344545564193334812497256
    """
    if exact:
        things, taken = _whole("comb", N=N, k=k)
        if repetition and things + taken > 0:
            things += taken - 1
        return math.comb(things, taken) if 0 <= taken <= things else 0
    n, r = _floats(N, k)
    if repetition:
        n = _c.where((n == 0) & (r == 0), n, n + r - 1.0)
    return _where_possible(n, r, _binomial(n, r))


def perm(N: ArrayLike, k: ArrayLike, exact: bool = False) -> Any:
    """The number of ordered choices of k of N things, N! / (N - k)!.

    Parameters
    ----------
    N, k : array_like
        They broadcast. Where k > N, or one is negative, the number is 0.
    exact : bool
        Whether `N` and `k` are whole numbers, not arrays, and the result a Python integer.

    Returns
    -------
    ndarray of float, or int

    Raises
    ------
    ValueError
        An exact number was asked for of what is not whole.

    Examples
    --------
    >>> bc.scipy.special.perm([10, 5], 3)
    array([720.,  60.])
    >>> bc.scipy.special.perm(30, 20, exact=True)
    73096577329197271449600000
    """
    if exact:
        things, taken = _whole("perm", N=N, k=k)
        return math.perm(things, taken) if 0 <= taken <= things else 0
    n, r = _floats(N, k)
    return _where_possible(n, r, _falling(n, r))


def _where_possible(n: ndarray, r: ndarray, number: ndarray) -> ndarray:
    """A number of choices of r of n things, 0 where there are not so many."""
    return _c.where((r <= n) & (n >= 0) & (r >= 0), number, 0.0)


def _floats(*operands: ArrayLike) -> list[ndarray]:
    """Arrays of the operands' common floating type on one device."""
    arrays = [_asarray(o) for o in operands]
    dtype = np.result_type(*(a.dtype for a in arrays))
    return [a.astype(dtype if dtype.kind in "fc" else np.float64, copy=False) for a in arrays]


# Products of a few whole numbers are exact as long as float64 holds them; gamma functions round.
@special_function("ff dd")
def _binomial(n: Any, k: Any) -> Any:
    if k == math.floor(k) and n == math.floor(n):
        k = min(k, n - k)
    if k == math.floor(k) and 0 <= k <= 40:
        product = 1.0
        for i in range(int(k)):
            product = product * (n - i) / (i + 1)
        return float(round(product)) if n == math.floor(n) and product < 2.0**52 else product
    return _binom(n, k)


@special_function("ff dd")
def _falling(n: Any, k: Any) -> Any:
    if k == math.floor(k) and 0 <= k <= 200:
        product = 1.0
        for i in range(int(k)):
            product = product * (n - i)
        return product
    return _poch(n - k + 1.0, k)


# ---- Factorials


def factorial(n: ArrayLike, exact: bool = False, extend: str = "zero") -> Any:
    """The product of the whole numbers from 1 to n; of other numbers gamma(n + 1).

    Parameters
    ----------
    n : array_like
        Of a negative number the factorial is 0.
    exact : bool
        Whether the result is a Python integer; of an array of integers, an array of them, as long as they fit int64.
    extend : {'zero', 'complex'}
        What a negative number has: 0, or the value of gamma(n + 1).

    Returns
    -------
    ndarray of float, or int or ndarray of int64 if `exact`

    Raises
    ------
    ValueError
        An exact factorial was asked for of what is not whole, or with `extend='complex'`.
    OverflowError
        An exact factorial of an array has no int64.

    Examples
    --------
    >>> bc.scipy.special.factorial([0, 3, 5])
    array([  1.,   6., 120.])
    >>> bc.scipy.special.factorial(25, exact=True)
    15511210043330985984000000
    """
    _check_extend("factorial", exact, extend)
    if n is None:
        return math.nan
    if exact:
        return _exact("factorial", n, math.factorial)
    x = _numbers("factorial", n, extend)
    if x.size == 0:
        return x
    if extend == "zero":
        wide = x.astype(np.float64, copy=False)
        return _factorial(wide) if x.dtype.kind != "f" else _c.where(x < 0, 0.0, _whole_gamma(wide + 1.0))
    if x.dtype.kind != "c":
        return _c.where(x == -1, math.nan, _gamma(x + 1.0))  # gamma(0) is infinite
    poles = (x.imag == 0) & (x.real < 0) & (x.real == _c.ufuncs["floor"](x.real))
    return _c.where(poles, complex(math.nan, math.nan), _gamma(x + 1.0))


def _whole_gamma(x: ndarray) -> ndarray:
    """gamma(x), exact for whole numbers as long as it has less than 14 digits."""
    value = _gamma(x)
    return _c.where((x <= 16) & (x == _c.ufuncs["floor"](x)), _c.ufuncs["rint"](value), value)


@special_function("f d")
def _factorial(n: Any) -> Any:
    if n < 0:
        return 0.0
    if n == math.floor(n) and n <= 25:
        product = 1.0
        for i in range(int(n)):
            product = product * (i + 1)
        return product
    return _gamma(n + 1.0)


def factorial2(n: ArrayLike, exact: bool = False, extend: str = "zero") -> Any:
    """The product n (n - 2) (n - 4) ... down to 1 or 2.

    Parameters
    ----------
    n : array_like of int
        Of a negative number the double factorial is 0, of 0 it is 1.
    exact : bool
        Whether the result is a Python integer; of an array of integers, an array of them, as long as they fit int64.
    extend : {'zero', 'complex'}
        What other numbers have: 0 below zero, and an error where they are not whole; or the continuation of f(n) = n f(n - k) to real and
        complex numbers, which has other values for whole numbers n that do not leave 1 when divided by k, and NaN at its poles.

    Raises
    ------
    ValueError
        `n` is not whole without `extend='complex'`.
    OverflowError
        An exact result of an array has no int64.

    Examples
    --------
    >>> bc.scipy.special.factorial2([7, 8])
    array([105., 384.])
    >>> bc.scipy.special.factorial2(7, exact=True)
    105
    """
    return _stepped("factorial2", n, 2, exact, extend)


def factorialk(n: ArrayLike, k: int, exact: bool = False, extend: str = "zero") -> Any:
    """The product n (n - k) (n - 2 k) ... of the numbers above 0.

    Parameters
    ----------
    n : array_like of int
        Of a negative number the result is 0, of 0 it is 1.
    k : int
        The step, at least 1.
    exact : bool
        Whether the result is a Python integer; of an array of integers, an array of them, as long as they fit int64.
    extend : {'zero', 'complex'}
        What other numbers have: 0 below zero, and an error where they are not whole; or the continuation of f(n) = n f(n - k) to real and
        complex numbers, which has other values for whole numbers n that do not leave 1 when divided by k, and NaN at its poles.

    Raises
    ------
    ValueError
        `n` is not whole without `extend='complex'`; `k` is not whole or below 1.
    OverflowError
        An exact result of an array has no int64.

    Examples
    --------
    >>> bc.scipy.special.factorialk([7, 8], 3)
    array([28., 80.])
    """
    _check_step(k, extend)
    return _stepped("factorialk", n, k, exact, extend)


def _check_step(k: Any, extend: str) -> None:
    dtype = np.asarray(k).dtype
    if dtype.kind not in "iufc":
        raise ValueError(f"Unsupported data type for k in factorialk: expected a number, got {dtype.name}")
    if extend == "complex":
        if k == 0:
            raise ValueError("Parameter k cannot be zero!")
    elif dtype.kind not in "iu":
        raise ValueError(f"{_NEEDS_COMPLEX} (factorialk got k={k!r})")
    elif k < 1:
        raise ValueError(f"For `extend='zero'`, k must be a positive integer, factorialk got {k!r}")


def _stepped(name: str, n: ArrayLike, k: Any, exact: bool, extend: str) -> Any:
    _check_extend(name, exact, extend)
    if n is None:
        return math.nan
    x = _numbers(name, n, extend)
    if extend == "complex":
        return _continued(x, k if isinstance(k, complex | np.complexfloating) else float(k)) if x.size else x
    if x.dtype.kind == "f":
        raise ValueError(f"{_NEEDS_COMPLEX} ({name} got {x.dtype.name})")
    if exact:
        return _exact(name, n, lambda i: math.prod(range(i, 0, -int(k))))
    if x.size == 0:
        return x
    if x.dtype == np.uint64:
        x = _c.ufuncs["minimum"](x, _LARGEST)
    return _multifactorial(x.astype(np.int64, copy=False), int(k))


_LARGEST = np.iinfo(np.int64).max


def _continued(x: ndarray, k: Any) -> ndarray:
    """The function that fulfils the recurrence f(n) = n f(n - k) with f(1) = 1 for all numbers. Poles are the negative multiples of k."""
    if isinstance(k, float) and x.dtype.kind != "c":
        x = x.astype(np.float64, copy=False)
        value = abs(k) ** ((x - 1.0) / k) if k > 0 else (k + 0j) ** ((x - 1.0) / k)
        steps, nothing = x / k, math.nan if k > 0 else complex(math.nan, math.nan)
    else:
        x = x.astype(np.complex128, copy=False)
        value = complex(k) ** ((x - 1.0) / k)
        steps, nothing = x / k, complex(math.nan, math.nan)
    whole = (steps.real < 0) & (steps.real == _c.ufuncs["floor"](steps.real)) & (steps.imag == 0)
    poles = whole | (x.real != x.real) | (x.imag != x.imag)
    return _c.where(poles, nothing, value * _gamma(steps + 1.0) * _rgamma(_asarray(1 / k + 1)))


@special_function("ld")
def _multifactorial(n: Any, k: Any) -> Any:
    if n < 0:
        return 0.0
    product = 1.0
    factor = float(n)
    while factor > 0 and product < math.inf:
        product = product * factor
        factor -= k
    return product


def _check_extend(name: str, exact: bool, extend: str) -> None:
    if extend not in ("zero", "complex"):
        raise ValueError(f"{name}: argument `extend` must be either 'zero' or 'complex', got {extend!r}")
    if exact and extend == "complex":
        raise ValueError(f"Incompatible options: {name} has no exact=True with extend='complex'")


_NEEDS_COMPLEX = "In order to use non-integer arguments, pass extend='complex'"


def _numbers(name: str, n: ArrayLike, extend: str = "zero") -> ndarray:
    dtype = np.asarray(n).dtype if not isinstance(n, ndarray) else n.dtype
    if dtype.kind == "c" and extend == "zero":
        raise ValueError(f"{_NEEDS_COMPLEX} ({name} got {dtype.name})")
    if dtype.kind not in ("iufc" if extend == "complex" else "iuf"):
        raise ValueError(f"Unsupported data type for n in {name}: expected integers or floats, got {dtype.name}")
    return _asarray(n)


def _exact(name: str, n: ArrayLike, value: Any) -> Any:
    """Exact values: of one number a Python integer; of an array one of int64, looked up in a table on its device."""
    if isinstance(n, float) and math.isnan(n):
        return np.float64(n)
    if isinstance(n, int):
        return value(n) if n >= 0 else 0  # also one beyond int64
    x = _numbers(name, n)
    if x.dtype.kind == "f":
        raise ValueError(f"`exact=True` only supports integers, {name} got {x.dtype.name}")
    if isinstance(n, np.generic):
        return value(int(n)) if int(n) >= 0 else 0
    if x.size == 0:
        return x
    top = max(int(x.max()), 0)
    if top > 10**6 or value(top) > _LARGEST:
        raise OverflowError(_no_int64(name, top))
    table = [value(i) for i in range(top + 1)]
    if max(table) > _LARGEST:
        raise OverflowError(_no_int64(name, top))
    looked_up = _asarray(np.array(table), device=x.device)[_c.where(x < 0, 0, x)]
    return _c.where(x < 0, 0, looked_up)


def _no_int64(name: str, n: int) -> str:
    return f"{name}: the exact value for {n} has no int64; pass one number at a time, or exact=False"


# ---- Stirling's, Bernoulli's and Euler's numbers


def stirling2(N: ArrayLike, K: ArrayLike, *, exact: bool = False) -> Any:
    """The number of ways to part N things into K parts that are not empty: Stirling's numbers of the second kind.

    Arrays are looked up, on their device, in a table that is computed on the host up to the largest `N` and `K`, which looks.

    Parameters
    ----------
    N, K : array_like of int
        They broadcast. Where K > N, or one is negative, the number is 0.
    exact : bool
        Whether the result is a Python integer, or for operands that are not single numbers NumPy's array of them, on the host.

    Raises
    ------
    TypeError
        The operands are not whole.

    Examples
    --------
    >>> bc.scipy.special.stirling2(5, [1, 2, 3])
    array([ 1., 15., 25.])
    >>> bc.scipy.special.stirling2(40, 20, exact=True)
    162188909527975750487887236507181
    """
    if exact:
        n_host, k_host = np.asarray(N), np.asarray(K)
        for what, host in (("N", n_host), ("K", k_host)):
            if host.dtype.kind not in "iu":
                raise TypeError(f"stirling2: {what} must have whole numbers, got {host.dtype.name}")
        return np.frompyfunc(lambda n, k: _stirling(int(n), int(k)), 2, 1)(n_host, k_host)
    n_array, k_array = _asarray(N), _asarray(K)
    for what, a in (("N", n_array), ("K", k_array)):
        if a.dtype.kind not in "iu":
            raise TypeError(f"stirling2: {what} must have whole numbers, got {a.dtype.name}")
    inside = (k_array >= 0) & (k_array <= n_array)
    if inside.size == 0:
        return inside.astype(np.float64)
    rows, columns = max(int(n_array.max()), 0), max(int(k_array.max()), 0)
    table = _asarray(_stirling_table(rows, min(rows, columns)), device=inside.device)
    return _c.where(inside, table[_c.where(inside, n_array, 0), _c.where(inside, k_array, 0)], 0.0)


def _stirling_table(rows: int, columns: int) -> np.ndarray[Any, Any]:
    """S(n, k) for n up to `rows` and k up to `columns`, by S(n, k) = k S(n - 1, k) + S(n - 1, k - 1); inf where float64 overflows."""
    table = np.zeros((rows + 1, columns + 1))
    table[0, 0] = 1.0
    factors = np.arange(columns + 1.0)
    with np.errstate(over="ignore"):
        for n in range(1, rows + 1):
            table[n, 1:] = factors[1:] * table[n - 1, 1:] + table[n - 1, :-1]
    return table


def _stirling(n: int, k: int) -> int:
    """The sum of (-1)**(k - j) (k over j) j**n / k!, in whole numbers."""
    if not 0 <= k <= n:
        return 0
    return sum((-1) ** (k - j) * math.comb(k, j) * j**n for j in range(k + 1)) // math.factorial(k)


def bernoulli(n: int) -> ndarray:
    """Bernoulli's numbers B0 to Bn, on the default device; computed in whole numbers on the host, and rounded.

    Raises
    ------
    ValueError
        `n` is negative or not whole.

    Examples
    --------
    >>> bc.scipy.special.bernoulli(4)
    array([ 1.        , -0.5       ,  0.16666667,  0.        , -0.03333333])
    """
    numbers = np.zeros(_order("bernoulli", n) + 1)
    numbers[1:2] = -0.5
    for j in range(1, (len(numbers) + 1) // 2):
        # B(2 j) overflows beyond 2 j = 258.
        numerator = 2 * j * _tangent_numbers()[j] if j <= 129 else None
        numbers[2 * j] = (-1) ** (j - 1) * (math.inf if numerator is None else numerator / (4**j * (4**j - 1)))
    numbers[0] = 1.0
    return _asarray(numbers)


def euler(n: int) -> ndarray:
    """Euler's numbers E0 to En, on the default device; computed in whole numbers on the host, and rounded.

    Raises
    ------
    ValueError
        `n` is negative or not whole.

    Examples
    --------
    >>> bc.scipy.special.euler(6)
    array([  1.,   0.,  -1.,   0.,   5.,   0., -61.])
    """
    numbers = np.zeros(_order("euler", n) + 1)
    for j in range((len(numbers) + 1) // 2):
        # E(2 j) overflows beyond 2 j = 186.
        numbers[2 * j] = (-1) ** j * (float(_secant_numbers()[j]) if j <= 93 else math.inf)
    return _asarray(numbers)


def _order(name: str, n: Any) -> int:
    if not isinstance(n, int | float | np.integer | np.floating) or n != int(n) or n < 0:
        raise ValueError(f"{name}: n must be a non-negative integer, got {n!r}")
    return int(n)


# Brent & Harvey (2013), "Fast computation of Bernoulli, tangent and secant numbers": algorithms in whole numbers.
@cache
def _tangent_numbers() -> list[int]:
    numbers = [0, *(math.factorial(k) for k in range(130))]
    for k in range(2, 131):
        for j in range(k, 131):
            numbers[j] = (j - k) * numbers[j - 1] + (j - k + 2) * numbers[j]
    return numbers


@cache
def _secant_numbers() -> list[int]:
    numbers = [math.factorial(k) for k in range(95)]
    for k in range(1, 95):
        for j in range(k + 1, 95):
            numbers[j] = (j - k) * numbers[j - 1] + (j - k + 1) * numbers[j]
    return numbers
