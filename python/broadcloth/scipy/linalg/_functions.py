"""Functions of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._warnings import warn
from ._operands import LinAlgWarning, back, dagger, eps, on_host, operand

if TYPE_CHECKING:
    from ...typing import ArrayLike

# Higham (2005), "The scaling and squaring method for the matrix exponential revisited": the largest 1-norm for which a Padé approximant of
# a degree is exact to double precision, and the coefficients of each.
_EXPM = [
    (3, 1.495585217958292e-2), (5, 2.539398330063230e-1), (7, 9.504178996162932e-1), (9, 2.097847961257068e0), (13, 5.371920351148152e0)
]  # fmt: skip


def _squares_of(x: Any) -> ndarray:
    a = operand(x, False)
    if a.ndim < 2:
        raise LinAlgError("The input array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return a


def _coefficients(p: int) -> list[float]:
    """Those of the [p/p] approximant's numerator, as integers."""
    f = math.factorial
    last = f(2 * p) // f(p)
    return [float(last * f(2 * p - k) * f(p) // (f(2 * p) * f(k) * f(p - k))) for k in range(p + 1)]


def _even_powers(a: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """The second, fourth and sixth power."""
    a2 = _c.matmul(a, a)
    a4 = _c.matmul(a2, a2)
    return a2, a4, _c.matmul(a4, a2)


def _pade(a: ndarray, degree: int, powers: tuple[ndarray, ndarray, ndarray] | None = None) -> ndarray:
    """The Padé approximant of the exponential; `powers` are _even_powers(a) where they are known."""
    c = _coefficients(degree)
    eye = _c.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    if degree == 13:
        a2, a4, a6 = powers or _even_powers(a)
        high_u = _c.matmul(a6, c[13] * a6 + c[11] * a4 + c[9] * a2)
        high_v = _c.matmul(a6, c[12] * a6 + c[10] * a4 + c[8] * a2)
        odd = high_u + c[7] * a6 + c[5] * a4 + c[3] * a2 + c[1] * eye
        even = high_v + c[6] * a6 + c[4] * a4 + c[2] * a2 + c[0] * eye
    else:
        a2 = _c.matmul(a, a)
        power = eye
        odd, even = c[1] * eye, c[0] * eye
        for k in range(2, degree + 1, 2):
            power = _c.matmul(power, a2) if k > 2 else a2
            even = even + c[k] * power
            odd = odd + c[k + 1] * power
    u = _c.matmul(a, odd)
    return _c.linalg_solve(even - u, even + u)


def _squarings(a: ndarray, norms: ndarray, powers: tuple[ndarray, ndarray, ndarray]) -> np.ndarray:
    """How often each matrix is halved, and its exponential squared, for the approximant of degree 13 (Al-Mohy & Higham, "A new scaling and
    squaring algorithm for the matrix exponential", 2009): roots of the norms of powers may be far below the norm, and squarings that are
    not needed cost digits."""
    bound = _EXPM[-1][1]
    ufuncs = _c.ufuncs
    roots = ufuncs["maximum"](*(_size(x) ** (1 / k) for x, k in zip(powers[1:], (4, 6), strict=True)))
    roots = _c.where(roots < norms, roots, norms)  # also where a power overflows
    least, plain = _c.asnumpy(ufuncs["ceil"](ufuncs["log2"](ufuncs["maximum"](_c.stack([roots, norms]) / bound, 1.0))))
    if (least == plain).all():
        return plain
    # Rounding in |A| may cost more than the powers tell: the leading term of the approximant's error of |A| is to be below the precision.
    share = abs(a) / ufuncs["maximum"](norms, float(np.finfo(norms.dtype).tiny))[..., None, None]
    row = _c.ones((*a.shape[:-2], 1, a.shape[-1]), share.dtype, device=a.device)
    for _ in range(27):
        row = _c.matmul(row, share)
    f = math.factorial
    log_factor = 2 * math.log2(f(13)) - math.log2(f(26)) - math.log2(f(27))
    with np.errstate(divide="ignore"):
        size, largest = (np.log2(_c.asnumpy(x).astype(np.float64)) for x in (norms, row.max((-2, -1))))
        return least + np.maximum(np.ceil((log_factor + 26 * (size - least) + largest + 53) / 26), 0)


def expm(A: ArrayLike) -> ndarray:
    """The exponentials of square matrices, by scaling, a Padé approximant and squaring. The largest norm of the stack is looked at.

    Parameters
    ----------
    A : array_like, (..., n, n)

    Raises
    ------
    LinAlgError
        The matrices are not square.

    Examples
    --------
    >>> bc.scipy.linalg.expm(bc.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    a = operand(A, False)
    if a.ndim < 2 and a.size == 1:
        return _c.ufuncs["exp"](a).reshape(1, 1)  # as SciPy has it
    a = _squares_of(a)
    if a.size == 0:
        return a.copy()
    found = _c.linalg_expm(a)
    if found:
        return found[0]
    norms = abs(a).sum(-2).max(-1)
    largest = float(norms.max())
    if not math.isfinite(largest):
        return _c.full(a.shape, np.nan, a.dtype, device=a.device)
    for degree, bound in _EXPM:
        if largest <= bound:
            return _pade(a, degree)
    powers = _even_powers(a)
    a2, a4, a6 = powers
    # Whole numbers, which have no derivative
    squarings = _squarings(a.detach(), norms.detach(), (a2.detach(), a4.detach(), a6.detach()))
    halved = np.exp2(-squarings).astype(norms.dtype)[..., None, None]
    shares = [_c.asarray(halved**k, device=a.device) for k in (1, 2, 4, 6)]
    if not math.isfinite(float(_size(powers[2]).max())) or not (halved**6).all():
        made = _pade(a * shares[0], 13)
    else:
        a2, a4, a6 = (x * share for x, share in zip(powers, shares[1:], strict=True))
        made = _pade(a * shares[0], 13, (a2, a4, a6))
    for k in range(int(squarings.max())):
        following = _c.matmul(made, made)
        # Each matrix of a stack has its own number of squarings.
        more = squarings > k
        made = following if more.all() else _c.where(_c.asarray(more[..., None, None], device=a.device), following, made)
    return made


def _estimates(disp: bool | None) -> bool:
    """Whether SciPy's deprecated keyword asks for an estimate of the error besides the result."""
    if disp is None:
        return False
    warn("The `disp` argument is deprecated and will be removed in SciPy 1.18.0.", DeprecationWarning)
    return not disp


def _size(a: ndarray) -> ndarray:
    """The largest sum of a column's magnitudes."""
    return abs(a).sum(-2).max(-1)


def _real_if_close(made: ndarray, a: ndarray) -> ndarray:
    """The real part where a function of a real matrix is real but for rounding."""
    if a.dtype.kind == "c" or made.dtype.kind != "c":
        return made
    size = abs(made).max() if made.size else 0
    tolerance = 1000 * float(np.finfo(made.dtype).eps)
    if made.size == 0 or bool((abs(made.imag) <= tolerance * size).all()):
        return made.real.copy()
    return made


def sqrtm(A: ArrayLike, disp: bool | None = None, blocksize: int | None = None) -> Any:
    """The principal square roots of square matrices, by Schur's form (Björck & Hammarling, 1983).

    Computed by LAPACK and loops on the CPU; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    A : array_like, (..., n, n)
    disp, blocksize : optional
        Deprecated in SciPy. With `disp` False the result is a pair with an estimate of the error; `blocksize` has no effect.

    Returns
    -------
    ndarray
        Complex, or real where a real matrix has a real root. NaN, with a `LinAlgWarning`, where there is none.

    Examples
    --------
    >>> bc.scipy.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]])
    array([[2., 0.],
           [0., 3.]])
    """
    estimates = _estimates(disp)
    if blocksize is not None:
        warn("The `blocksize` argument is deprecated and will be removed in SciPy 1.18.0.", DeprecationWarning)
    a = _squares_of(A)
    made = _sqrtm(a) if a.device.type == "cpu" else back(a.device, _sqrtm(*on_host("sqrtm", a)))[0]
    if not estimates:
        return made
    lengths = [_c.ufuncs["sqrt"]((abs(x) ** 2).sum((-2, -1))) for x in (_c.matmul(made, made) - a, a)]
    return made, lengths[0] ** 2 / lengths[1]


def _triangular_form(a: ndarray) -> tuple[ndarray, ndarray]:
    """Schur's form of the host's matrices: the real one where it is triangular with a positive diagonal, else the complex."""
    if a.dtype.kind != "c":
        t, z = _c.linalg_schur(a)
        if bool((_c.diagonal(t, -1, -2, -1) == 0).all() & (_c.diagonal(t, 0, -2, -1) > 0).all()):
            return t, z
        return _c.linalg_complex_schur(t, z)
    return tuple(_c.linalg_schur(a))  # type: ignore[return-value]


def _sqrtm(a: ndarray) -> ndarray:
    root, plain, *real, info = _c.linalg_sqrtm(a)
    single = a.ndim == 2  # whose flags are read without an array of NumPy's
    if bool(info) if single else _c.asnumpy(info).any():
        warn("Matrix is singular. The result might be inaccurate or the array might not have a square root.", LinAlgWarning)
    return real[0] if real and (bool(plain) if single else _c.asnumpy(plain).all()) else root


def logm(A: ArrayLike, disp: bool | None = None) -> Any:
    """The principal logarithms of square matrices, by Schur's form, square roots and a Padé approximant (Higham, 2008, chapter 11).

    Computed by LAPACK and loops on the CPU; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    A : array_like, (..., n, n)
    disp : bool, optional
        Deprecated in SciPy. If False, the result is a pair with an estimate of the error.

    Returns
    -------
    ndarray
        Complex, or real where a real matrix has a real logarithm.

    Examples
    --------
    >>> bc.scipy.linalg.logm(bc.eye(2))
    array([[0., 0.],
           [0., 0.]])
    """
    if _estimates(disp):
        made = logm(A)
        a = _squares_of(A)
        return made, _size(expm(made) - a) / _size(a)
    a = _squares_of(A)
    if a.size == 0:
        return a.copy()
    (host,) = on_host("logm", a)
    t, z = _triangular_form(host)
    eye = _c.eye(a.shape[-1], dtype=t.dtype, device="cpu")
    zeros = _c.diagonal(t, 0, -2, -1) == 0
    if bool(zeros.any()):
        warn("The logm input matrix is exactly singular.", LinAlgWarning)
        t = t + 1e-20 * zeros[..., None] * eye  # as SciPy has it; roots of 0 would not come near to 1
    eigenvalues = _c.diagonal(t, 0, -2, -1)
    # A diagonal with numbers below zero next to each other has roots like any other; each step halves the logarithm.
    halved = 0
    while halved < 100 and float(abs(t - eye).sum(-2).max()) > 0.25:
        t, info = _c.linalg_triangular_sqrt(t)
        halved += 1
        if bool((info != 0).any()):
            break
    # log(I + X) is the integral of X inv(I + s X) over s from 0 to 1, which Gauss's rule of 8 points gives as the Padé approximant does.
    x = t - eye
    nodes, weights = np.polynomial.legendre.leggauss(8)
    log = _c.zeros(x.shape, x.dtype, device="cpu")
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        log = log + float(weight) * _c.linalg_solve_triangular(eye + float(node) * x, x)
    # The diagonal's own logarithms have all digits.
    log = _c.where(eye == 1, _c.ufuncs["log"](eigenvalues)[..., None] * eye, log * 2.0**halved)
    made = _c.matmul(_c.matmul(z, log), dagger(z))
    return back(a.device, _real_if_close(made, a))[0]


def funm(A: ArrayLike, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """A function of square matrices, by Schur's form and Parlett's recurrence (Golub & Van Loan, section 9.1).

    It is inaccurate where eigenvalues are nearly equal, and wrong where they are and the matrix is not diagonalizable. Computed by LAPACK
    and loops on the CPU; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    A : array_like, (..., n, n)
    func : callable
        The function of an array of complex numbers, the eigenvalues.
    disp : bool
        Whether a probably inaccurate result is warned of; else an estimate of the error is returned too.

    Examples
    --------
    >>> bc.scipy.linalg.funm([[1.0, 0.0], [0.0, 4.0]], lambda x: x * x)
    array([[ 1.,  0.],
           [ 0., 16.]])
    """
    a = _squares_of(A)
    (host,) = on_host("funm", a)
    t, z = _c.linalg_schur(host)
    if host.dtype.kind != "c":
        t, z = _c.linalg_complex_schur(t, z)
    values = _c.asarray(func(_c.diagonal(t, 0, -2, -1)), device="cpu").astype(t.dtype, copy=False)
    f, distance = _c.linalg_parlett(t, values)
    made = back(a.device, _real_if_close(_c.matmul(_c.matmul(z, f), dagger(z)), a))[0]
    precision = float(np.finfo(t.dtype).eps)
    least = _c.where(distance == 0, precision, distance)
    error = _c.ufuncs["minimum"](1.0, _c.ufuncs["maximum"](precision, precision / least * abs(_c.triu(t, 1)).sum(-2).max(-1)))
    if not disp:
        return made, back(a.device, error)[0]
    if error.size and float(error.max()) > 1000 * precision:
        warn(f"funm result may be inaccurate, approximate err = {float(error.max())}", LinAlgWarning)
    return made


def cosm(A: ArrayLike) -> ndarray:
    """The cosines of square matrices, by the exponential.

    Examples
    --------
    >>> bc.scipy.linalg.cosm(bc.zeros((1, 1)))
    array([[1.]])
    """
    a = _squares_of(A)
    if a.dtype.kind == "c":
        return 0.5 * (expm(a * 1j) + expm(a * -1j))
    return expm(a * 1j).real.copy()


def sinm(A: ArrayLike) -> ndarray:
    """The sines of square matrices, by the exponential.

    Examples
    --------
    >>> bc.scipy.linalg.sinm(bc.zeros((1, 1)))
    array([[0.]])
    """
    a = _squares_of(A)
    if a.dtype.kind == "c":
        return -0.5j * (expm(a * 1j) - expm(a * -1j))
    return expm(a * 1j).imag.copy()


def tanm(A: ArrayLike) -> ndarray:
    """The tangents of square matrices: inv(cosm(A)) @ sinm(A).

    Examples
    --------
    >>> bc.scipy.linalg.tanm(bc.zeros((1, 1)))
    array([[0.]])
    """
    return _c.linalg_solve(cosm(A), sinm(A))


def coshm(A: ArrayLike) -> ndarray:
    """The hyperbolic cosines of square matrices, by the exponential.

    Examples
    --------
    >>> bc.scipy.linalg.coshm(bc.zeros((1, 1)))
    array([[1.]])
    """
    a = _squares_of(A)
    return 0.5 * (expm(a) + expm(-a))


def sinhm(A: ArrayLike) -> ndarray:
    """The hyperbolic sines of square matrices, by the exponential.

    Examples
    --------
    >>> bc.scipy.linalg.sinhm(bc.zeros((1, 1)))
    array([[0.]])
    """
    a = _squares_of(A)
    return 0.5 * (expm(a) - expm(-a))


def tanhm(A: ArrayLike) -> ndarray:
    """The hyperbolic tangents of square matrices: inv(coshm(A)) @ sinhm(A).

    Examples
    --------
    >>> bc.scipy.linalg.tanhm(bc.zeros((1, 1)))
    array([[0.]])
    """
    return _c.linalg_solve(coshm(A), sinhm(A))


def fractional_matrix_power(A: ArrayLike, t: float) -> ndarray:
    """Real powers of square matrices: exp(t log(A)), and an integer power by repeated multiplication.

    Computed through `logm`, on the CPU; of singular matrices by `funm`, and NaN for a negative power.

    Examples
    --------
    >>> bc.scipy.linalg.fractional_matrix_power([[4.0, 0.0], [0.0, 9.0]], 0.5).round(6)
    array([[2., 0.],
           [0., 3.]])
    """
    from ...linalg import matrix_power

    given = _c.asarray(A)
    a = operand(given, False)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"expected square array_like input, got shape {a.shape}")
    if t == int(t):
        return matrix_power(given if given.dtype.kind in "iu" else a, int(t))
    whole = math.floor(t)
    rest = t - whole
    (host,) = on_host("fractional_matrix_power", a)
    form, _ = _triangular_form(host)
    singular = _c.asarray((_c.diagonal(form, 0, -2, -1) == 0).any(-1)[..., None, None], device=a.device)
    if not bool(singular.any()):
        made = expm(logm(a) * rest)
        return _c.matmul(matrix_power(a, whole), made) if whole else made
    if t < 0:
        powers = _c.full_like(a, math.nan)
    else:
        made, _ = funm(a, lambda x: x**rest, disp=False)
        powers = _c.matmul(matrix_power(a, whole), made) if whole else made
    if bool(singular.all()):
        return powers
    regular = fractional_matrix_power(_c.where(singular, _c.eye(a.shape[-1], dtype=a.dtype, device=a.device), a), t)
    return _c.where(singular, powers, regular)


# Al-Mohy & Higham (2009), "Computing the Fréchet derivative of the matrix exponential", table 6.1: the largest 1-norm for which an
# approximant and its derivative are exact to double precision.
_FRECHET = [(3, 1.08e-2), (5, 2.00e-1), (7, 7.83e-1), (9, 1.78e0), (13, 4.74e0)]


def _pade_and_derivative(a: ndarray, e: ndarray, degree: int) -> tuple[ndarray, ndarray]:
    """The Padé approximant of the exponential, and its derivative in the direction of e."""
    c = _coefficients(degree)
    eye = _c.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    a2, e2 = _c.matmul(a, a), _c.matmul(a, e) + _c.matmul(e, a)
    power, change = a2, e2
    odd, even = c[1] * eye + c[3] * a2, c[0] * eye + c[2] * a2
    odd_change, even_change = c[3] * e2, c[2] * e2
    for k in range(4, degree + 1, 2):
        change = _c.matmul(a2, change) + _c.matmul(e2, power)
        power = _c.matmul(a2, power)
        even, even_change = even + c[k] * power, even_change + c[k] * change
        odd, odd_change = odd + c[k + 1] * power, odd_change + c[k + 1] * change
    u, u_change = _c.matmul(a, odd), _c.matmul(a, odd_change) + _c.matmul(e, odd)
    factors, pivots, _ = _c.linalg_lu(even - u)
    made = _c.linalg_lu_solve(factors, pivots, even + u)
    right = u_change + even_change + _c.matmul(u_change - even_change, made)
    return made, _c.linalg_lu_solve(factors, pivots, right)


def expm_frechet(A: ArrayLike, E: ArrayLike, method: str | None = None, compute_expm: bool = True, check_finite: bool = True) -> Any:
    """The exponential of square matrices, and its Fréchet derivative in the direction of `E` (Al-Mohy & Higham, 2009).

    Parameters
    ----------
    A, E : array_like, (..., n, n)
    method : {'SPS', 'blockEnlarge'}, optional
        By scaling, a Padé approximant and squaring; or as a block of the exponential of a matrix twice as large.
    compute_expm : bool
        Gives (expm(A), derivative), else the derivative.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    ValueError
        The matrices are not square, or their shapes differ.

    Examples
    --------
    >>> bc.scipy.linalg.expm_frechet(bc.zeros((1, 1)), [[2.0]], compute_expm=False)
    array([[2.]])
    """
    a = operand(A, check_finite)
    e = operand(E, check_finite, a.device)
    for name, x in (("A", a), ("E", e)):
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            raise ValueError(f"expected {name} to be a square matrix")
    if a.shape[-1] != e.shape[-1]:
        raise ValueError("expected A and E to be the same shape")
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f"Unknown implementation {method}")
    dtype = np.result_type(a.dtype, e.dtype)
    shape = (*np.broadcast_shapes(a.shape[:-2], e.shape[:-2]), *a.shape[-2:])
    a, e = _c.broadcast_to(a.astype(dtype), shape), _c.broadcast_to(e.astype(dtype), shape)
    if a.size == 0:
        made, derivative = a.copy(), a.copy()
    elif method == "blockEnlarge":
        n = shape[-1]
        top, bottom = _c.concatenate([a, e], -1), _c.concatenate([_c.zeros(shape, dtype, device=a.device), a], -1)
        both = expm(_c.concatenate([top, bottom], -2))
        made, derivative = both[..., :n, :n].copy(), both[..., :n, n:].copy()
    else:
        made, derivative = _expm_frechet(a, e)
    return (made, derivative) if compute_expm else derivative


def _expm_frechet(a: ndarray, e: ndarray) -> tuple[ndarray, ndarray]:
    norms = abs(a).sum(-2).max(-1)
    largest = float(norms.max())
    if not math.isfinite(largest):
        nothing = _c.full(a.shape, np.nan, a.dtype, device=a.device)
        return nothing, nothing.copy()
    for degree, bound in _FRECHET:
        if largest <= bound:
            return _pade_and_derivative(a, e, degree)
    degree, bound = _FRECHET[-1]
    # Each matrix has its own number of squarings.
    squarings = _c.ufuncs["ceil"](_c.ufuncs["log2"](_c.ufuncs["maximum"](norms / bound, 1.0)))
    share = _c.ufuncs["exp2"](-squarings)[..., None, None]
    made, derivative = _pade_and_derivative(a * share, e * share, degree)
    for k in range(int(squarings.max())):
        more = (squarings > k)[..., None, None]
        derivative = _c.where(more, _c.matmul(made, derivative) + _c.matmul(derivative, made), derivative)
        made = _c.where(more, _c.matmul(made, made), made)
    return made, derivative


def expm_cond(A: ArrayLike, check_finite: bool = True) -> Any:
    """The relative condition numbers of the exponentials of square matrices, in Frobenius' norm (Al-Mohy & Higham, 2009).

    It needs memory for n**4 elements.

    Parameters
    ----------
    A : array_like, (..., n, n)
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    ValueError
        The matrices are not square.

    Examples
    --------
    >>> float(bc.scipy.linalg.expm_cond([[2.0]]))
    2.0
    """
    a = operand(A, check_finite)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("expected a square matrix")
    n = a.shape[-1]
    directions = _c.eye(n * n, dtype=a.dtype, device=a.device).reshape(n * n, n, n)
    made, derivatives = expm_frechet(a[..., None, :, :], directions, check_finite=False)
    kronecker = derivatives.reshape(*a.shape[:-2], n * n, n * n)
    largest = _c.linalg_svd(kronecker, 0)[0][..., 0]
    return largest * _c.norm(a, axis=(-2, -1)) / _c.norm(made[..., 0, :, :], axis=(-2, -1))


def signm(A: ArrayLike, disp: bool | None = None) -> Any:
    """The signs of square matrices: eigenvalues become 1 right and -1 left of the imaginary axis (Roberts, 1971).

    By Newton's iteration. Of matrices that are singular, or nearly so, by `funm`: an eigenvalue near to zero becomes 0.

    Parameters
    ----------
    A : array_like, (..., n, n)
    disp : bool, optional
        Deprecated in SciPy. If False, the result is a pair with an estimate of the error.

    Raises
    ------
    LinAlgError
        The matrices are not square.

    Examples
    --------
    >>> bc.scipy.linalg.signm([[3.0, 0.0], [0.0, -2.0]])
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    if _estimates(disp):
        made = signm(A)
        projector = 0.5 * (made + _c.eye(made.shape[-1], dtype=made.dtype, device=made.device))
        return made, _size(_c.matmul(projector, projector) - projector)
    a = _squares_of(A)
    if a.size == 0:
        return a.copy()
    precision = eps(a)
    made = a
    try:
        for step in range(100):
            inverse = _c.linalg_inv(made)
            size, inverse_size = (abs(x).sum(-2).max(-1) for x in (made, inverse))
            if step == 0 and float((size * inverse_size).max()) * precision > 1e-3:
                break
            # Norms that are alike make the iteration fast far from the sign.
            factor = _c.ufuncs["sqrt"](inverse_size / size)[..., None, None] if step < 12 else 1.0
            following = 0.5 * (made * factor + inverse / factor)
            change = float((abs(following - made).sum(-2).max(-1) / abs(following).sum(-2).max(-1)).max())
            made = following
            if not math.isfinite(change):
                break
            if change <= 1e-2 * math.sqrt(precision) or (step > 20 and change <= 10 * a.shape[-1] * precision):
                return 0.5 * (made + _c.linalg_inv(made))
    except LinAlgError:
        pass

    def sign(values: Any) -> Any:
        small = 1e3 * precision * float(abs(values).max())
        return _c.where(abs(values.real) > small, _c.ufuncs["sign"](values.real), 0.0)

    return funm(a, sign)
