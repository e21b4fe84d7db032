"""Matrices with a structure."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._operands import over_stacks

if TYPE_CHECKING:
    from ...typing import ArrayLike, DTypeLike

_asarray = _c.asarray

# What a matrix is constant along, in linalg_constant_along.
_DIAGONALS, _ANTIDIAGONALS, _WRAPPED = range(3)


def _vectors(x: Any) -> ndarray:
    return _c.atleast_1d(_asarray(x))


def _places(n: int, device: Any) -> ndarray:
    return _c.arange(n, device=device)


def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> ndarray:
    """Matrices that are constant along each diagonal.

    Parameters
    ----------
    c : array_like, (..., m)
        First columns.
    r : array_like, (..., n), optional
        First rows, whose first element is not used; the conjugates of `c` unless given.

    Returns
    -------
    ndarray, (..., m, n)

    Examples
    --------
    >>> bc.scipy.linalg.toeplitz([1, 2, 3], [1, 4, 5])
    array([[1, 4, 5],
           [2, 1, 4],
           [3, 2, 1]])
    """
    column = _vectors(c)
    row = None if r is None else _vectors(r).to_device(column.device)
    made = _c.linalg_constant_along(_DIAGONALS, column, row)
    if made is not None:
        return made
    row = column.conj() if row is None else row
    batch = np.broadcast_shapes(column.shape[:-1], row.shape[:-1])
    m, n = column.shape[-1], row.shape[-1]
    values = _c.concatenate([_c.broadcast_to(column[..., ::-1], (*batch, m)), _c.broadcast_to(row[..., 1:], (*batch, max(n - 1, 0)))], -1)
    i, j = _places(m, column.device), _places(n, column.device)
    return values[..., (m - 1) - i[:, None] + j]


def circulant(c: ArrayLike) -> ndarray:
    """Square matrices whose columns are the first one, moved down around the end.

    Examples
    --------
    >>> bc.scipy.linalg.circulant([1, 2, 3])
    array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]])
    """
    column = _vectors(c)
    made = _c.linalg_constant_along(_WRAPPED, column)
    if made is not None:
        return made
    i = _places(column.shape[-1], column.device)
    return column[..., (i[:, None] - i) % max(column.shape[-1], 1)]


def hankel(c: ArrayLike, r: ArrayLike | None = None) -> ndarray:
    """Matrices that are constant along each antidiagonal.

    Parameters
    ----------
    c : array_like, (m,)
        The first column.
    r : array_like, (n,), optional
        The last row, whose first element is not used; zeros unless given.

    Examples
    --------
    >>> bc.scipy.linalg.hankel([1, 2], [9, 3, 4])
    array([[1, 2, 3],
           [2, 3, 4]])
    """
    column = _asarray(c).ravel()
    row = None if r is None else _asarray(r, device=column.device).ravel()
    made = _c.linalg_constant_along(_ANTIDIAGONALS, column, row)
    if made is not None:
        return made
    row = _c.zeros(column.shape, column.dtype, device=column.device) if row is None else row
    values = _c.concatenate([column, row[1:]])
    i, j = _places(column.shape[0], column.device), _places(row.shape[0], column.device)
    return values[i[:, None] + j]


def hadamard(n: int, dtype: DTypeLike = int) -> ndarray:
    """Sylvester's matrix of 1 and -1 whose rows are orthogonal.

    Raises
    ------
    ValueError
        `n` is no power of two.

    Examples
    --------
    >>> bc.scipy.linalg.hadamard(2)
    array([[ 1,  1],
           [ 1, -1]])
    """
    if n < 1 or n & (n - 1):
        raise ValueError("n must be an positive integer, and n must be a power of 2")
    made = _c.ones((1, 1), dtype)
    while made.shape[0] < n:
        made = _c.concatenate([_c.concatenate([made, made], 1), _c.concatenate([made, -made], 1)], 0)
    return made


def leslie(f: ArrayLike, s: ArrayLike) -> ndarray:
    """Leslie's matrix of a population: fecundities in the first row, survival below the diagonal.

    Parameters
    ----------
    f : array_like, (..., n)
    s : array_like, (..., n - 1)

    Raises
    ------
    ValueError
        The lengths do not fit.

    Examples
    --------
    >>> bc.scipy.linalg.leslie([0.1, 2.0], [0.5])
    array([[0.1, 2. ],
           [0.5, 0. ]])
    """
    top, rest = _vectors(f), _vectors(s)
    if top.shape[-1] != rest.shape[-1] + 1 or rest.shape[-1] == 0:
        what = (
            "The length of s must be at least 1."
            if top.shape[-1] == rest.shape[-1] + 1
            else ("Incorrect lengths for f and s. The length of s along the last axis must be one less than the length of f.")
        )
        raise ValueError(what)
    n = top.shape[-1]
    found = _c.linalg_over_subdiagonal(top, rest)
    if found is not None:
        return found
    batch = np.broadcast_shapes(top.shape[:-1], rest.shape[:-1])
    made = _c.zeros((*batch, n, n), np.result_type(top.dtype, rest.dtype), device=top.device)
    made[..., 0, :] = top
    i = _places(n - 1, top.device)
    made[..., i + 1, i] = rest
    return made


def kron(a: ArrayLike, b: ArrayLike) -> ndarray:
    """The Kronecker product.

    Examples
    --------
    >>> bc.scipy.linalg.kron([[1, 2]], [[1], [3]])
    array([[1, 2],
           [3, 6]])
    """
    from ... import _products

    return _products.kron(a, b)


def khatri_rao(a: ArrayLike, b: ArrayLike) -> ndarray:
    """The Kronecker products of the columns of two matrices.

    Parameters
    ----------
    a : array_like, (..., n, k)
    b : array_like, (..., m, k)

    Returns
    -------
    ndarray, (..., n * m, k)

    Examples
    --------
    >>> bc.scipy.linalg.khatri_rao([[1, 2]], [[1, 1], [3, 4]])
    array([[1, 2],
           [3, 8]])
    """
    left, right = _asarray(a), _asarray(b)
    if left.ndim < 2 or right.ndim < 2:
        raise ValueError("The both arrays should be 2-dimensional.")
    if left.shape[-1] != right.shape[-1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    made = left[..., :, None, :] * right[..., None, :, :]
    return made.reshape((*made.shape[:-3], made.shape[-3] * made.shape[-2], made.shape[-1]))


def block_diag(*arrs: ArrayLike) -> ndarray:
    """A matrix with the given ones on its diagonal.

    Parameters
    ----------
    *arrs : array_like, up to 2-d or (..., m, n)
        A vector is a row. Leading axes broadcast.

    Examples
    --------
    >>> bc.scipy.linalg.block_diag([[1, 2]], 3)
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    parts = [_c.atleast_2d(_asarray(a)) for a in (arrs or ([],))]
    found = _c.linalg_block_diagonal(parts)
    if found is not None:
        return found
    batch = np.broadcast_shapes(*(p.shape[:-2] for p in parts))
    shape = sum(p.shape[-2] for p in parts), sum(p.shape[-1] for p in parts)
    made = _c.zeros((*batch, *shape), np.result_type(*(p.dtype for p in parts)), device=parts[0].device)
    row = column = 0
    for p in parts:
        m, n = p.shape[-2:]
        if m and n:
            made[..., row : row + m, column : column + n] = p
        row, column = row + m, column + n
    return made


def companion(a: ArrayLike) -> ndarray:
    """The companion matrices of polynomials, whose eigenvalues are the roots.

    Parameters
    ----------
    a : array_like, (..., n)
        Coefficients, the highest power first. The first ones are looked at.

    Raises
    ------
    ValueError
        There are less than two coefficients, or the first one is zero.

    Examples
    --------
    >>> bc.scipy.linalg.companion([1, -10, 31, -30])
    array([[ 10., -31.,  30.],
           [  1.,   0.,   0.],
           [  0.,   1.,   0.]])
    """
    c = _vectors(a)
    if c.shape[-1] < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    if bool((c[..., 0] == 0).any()):
        raise ValueError("The first coefficient(s) of `a` (i.e. elements of `a[..., 0]`) must not be zero.")
    n = c.shape[-1] - 1
    top = -c[..., 1:] / c[..., :1]
    found = _c.linalg_over_subdiagonal(top)
    if found is not None:
        return found
    made = _c.zeros((*top.shape[:-1], n, n), top.dtype, device=c.device)
    made[...] = _c.eye(n, n, -1, top.dtype, device=c.device)
    made[..., 0, :] = top
    return made


def convolution_matrix(a: ArrayLike, n: int, mode: Literal["full", "valid", "same"] = "full") -> ndarray:
    """The matrices whose product with a vector of length n is its convolution with `a`.

    Parameters
    ----------
    a : array_like, (..., m)
    n : int
    mode : {'full', 'valid', 'same'}
        As that of `convolve`.

    Examples
    --------
    >>> bc.scipy.linalg.convolution_matrix([1, 2], 2)
    array([[1, 0],
           [2, 1],
           [0, 2]])
    """
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    v = _asarray(a)
    if v.ndim == 0 or v.shape[-1] == 0:
        raise ValueError("len(a) must be at least 1.")
    m = v.shape[-1]
    padded = _c.concatenate([v, _c.zeros((*v.shape[:-1], n - 1), v.dtype, device=v.device)], -1)
    top = _c.concatenate([v[:1], _c.zeros(n - 1, v.dtype, device=v.device)]) if v.ndim == 1 else None
    full = None if top is None else _c.linalg_constant_along(0, padded, top)
    return _middle_rows(_convolution(v, padded, n) if full is None else full, m, n, mode)


def _convolution(v: ndarray, padded: ndarray, n: int) -> ndarray:
    m = v.shape[-1]
    i, j = _places(n + m - 1, v.device)[:, None], _places(n, v.device)
    return _c.where((i >= j) & (i - j < m), padded[..., (i - j) % (n + m - 1)], _c.zeros((), v.dtype, device=v.device))


def _middle_rows(full: ndarray, m: int, n: int, mode: str) -> ndarray:
    """The rows of a convolution's matrix that a mode of `convolve` keeps."""
    if mode == "full":
        return full
    if mode == "same":
        extra = min(n, m) - 1
        low = extra // 2
        return full[..., low : low + max(n, m), :]
    low = min(n, m) - 1
    return full[..., low : n + m - 1 - low, :]


def dft(n: int, scale: Literal["sqrtn", "n"] | None = None) -> ndarray:
    """The matrix of the discrete Fourier transform.

    Parameters
    ----------
    n : int
    scale : {None, 'sqrtn', 'n'}
        What the matrix is divided by.

    Examples
    --------
    >>> bc.scipy.linalg.dft(2).round().real
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"scale must be None, 'sqrtn', or 'n'; {scale!r} is not valid.")
    # The powers of one root, whose angle is reduced before it is rounded.
    places = np.arange(n)
    roots = np.exp(places * (-2j * math.pi / max(n, 1)))
    if scale is not None:
        roots /= math.sqrt(n) if scale == "sqrtn" else n
    if n <= 64:
        return _c.asarray(roots[places[:, None] * places % max(n, 1)])
    i = _c.arange(n)
    return _c.asarray(roots)[i[:, None] * i % n]


def fiedler(a: ArrayLike) -> ndarray:
    """The matrices of absolute differences of all pairs.

    Examples
    --------
    >>> bc.scipy.linalg.fiedler([1, 4])
    array([[0, 3],
           [3, 0]])
    """
    v = _vectors(a)
    if v.size == 0:
        return _c.zeros((0,), np.float64, device=v.device)
    return abs(v[..., :, None] - v[..., None, :])


def fiedler_companion(a: ArrayLike) -> ndarray:
    """Fiedler's companion matrices of polynomials, which have five diagonals.

    Parameters
    ----------
    a : array_like, (..., n)
        Coefficients, the highest power first, which is not zero.

    Examples
    --------
    >>> bc.scipy.linalg.fiedler_companion([1.0, -16.0, 86.0])
    array([[ 16., -86.],
           [  1.,   0.]])
    """
    c = _vectors(a)
    if c.shape[-1] <= 1:
        return _c.zeros((*c.shape[:-1], 0) if c.ndim > 1 else (0,), c.dtype, device=c.device)
    if bool((c[..., 0] == 0).any()):
        raise ValueError("Leading coefficient is zero.")
    c = c / c[..., :1]
    n = c.shape[-1] - 1
    made = _c.zeros((*c.shape[:-1], n, n), c.dtype, device=c.device)
    made[..., 0, 0] = -c[..., 1]
    odd, even = np.arange(1, n, 2), np.arange(2, n, 2)
    made[..., odd - 1, odd] = -c[..., odd + 1]
    made[..., even, even - 1] = -c[..., even + 1]
    above, below = np.arange(0, n - 2, 2), np.arange(1, n - 2, 2)
    made[..., above, above + 2] = 1
    made[..., below + 2, below] = 1
    if n > 1:
        made[..., 1, 0] = 1
    return made


def helmert(n: int, full: bool = False) -> ndarray:
    """Helmert's matrix: orthonormal rows, of which those after the first sum to zero.

    Parameters
    ----------
    n : int
    full : bool
        Whether the first row, of equal elements, is there.

    Examples
    --------
    >>> bc.scipy.linalg.helmert(2).round(3)
    array([[ 0.707, -0.707]])
    """
    i, j = _c.arange(n)[:, None].astype(np.float64), _c.arange(n).astype(np.float64)
    below = _c.where(j < i, 1.0, _c.where(j == i, -i, 0.0)) / _c.ufuncs["sqrt"](i * (i + 1) + (i == 0))
    made = _c.where(i == 0, 1 / math.sqrt(n) if n else 0.0, below)
    return made if full else made[1:]


def hilbert(n: int) -> ndarray:
    """Hilbert's matrix of 1 / (i + j + 1), which is badly conditioned.

    Examples
    --------
    >>> bc.scipy.linalg.hilbert(2).round(3)
    array([[1.   , 0.5  ],
           [0.5  , 0.333]])
    """
    values = 1.0 / _c.arange(1.0, 2 * n)
    return hankel(values[:n], values[n - 1 :]) if n > 0 else _c.zeros((0, 0))


def invhilbert(n: int, exact: bool = False) -> ndarray:
    """The inverse of Hilbert's matrix, whose elements are integers.

    Parameters
    ----------
    n : int
    exact : bool
        Whether the elements are int64, which holds them up to n = 14.

    Examples
    --------
    >>> bc.scipy.linalg.invhilbert(2, exact=True)
    array([[ 4, -6],
           [-6, 12]])
    """
    if exact and n > 14:
        raise ValueError(f"invhilbert: expected n of at most 14 for exact=True, got {n}: larger elements need integers of any size")

    def element(i: int, j: int) -> int:
        s = i + j
        return (-1) ** s * (s + 1) * math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1) * math.comb(s, i) ** 2

    return _c.asarray([[element(i, j) for j in range(n)] for i in range(n)], np.int64 if exact else np.float64)


def pascal(n: int, kind: Literal["symmetric", "lower", "upper"] = "symmetric", exact: bool = True) -> ndarray:
    """Pascal's matrix of binomial coefficients.

    Parameters
    ----------
    n : int
    kind : {'symmetric', 'lower', 'upper'}
    exact : bool
        Whether the elements are uint64 (and n at most 34), else float64.

    Examples
    --------
    >>> bc.scipy.linalg.pascal(3, kind="lower").tolist()
    [[1, 0, 0], [1, 1, 0], [1, 2, 1]]
    """
    if kind not in ("symmetric", "lower", "upper"):
        raise ValueError("kind must be 'symmetric', 'lower', or 'upper'")
    if exact and n > 34:
        raise ValueError(f"pascal: expected n of at most 34 for exact=True, got {n}: larger elements need integers of any size")
    if exact and n > 0:
        # Each row is the running sums of the preceding one.
        symmetric = np.ones((n, n), np.uint64)
        for above, row in itertools.pairwise(symmetric):
            np.add.accumulate(above, out=row)
        if kind == "symmetric":
            return _c.asarray(symmetric)
        i, j = np.tril_indices(n)
        lower = np.zeros((n, n), np.uint64)
        lower[i, j] = symmetric[i - j, j]
        return _c.asarray(lower if kind == "lower" else np.ascontiguousarray(lower.T))
    choose = {
        "symmetric": lambda i, j: math.comb(i + j, i),
        "lower": math.comb,
        "upper": lambda i, j: math.comb(j, i),
    }[kind]
    return _c.asarray([[choose(i, j) for j in range(n)] for i in range(n)], np.uint64 if exact else np.float64)


def diagsvd(s: ArrayLike, M: int, N: int) -> ndarray:
    """The M x N matrix with singular values on its diagonal.

    Examples
    --------
    >>> bc.scipy.linalg.diagsvd([3.0, 2.0], 2, 3)
    array([[3., 0., 0.],
           [0., 2., 0.]])
    """
    values = _asarray(s)
    if values.shape[-1] not in (M, N):
        raise ValueError("Length of s must be M or N.")
    k = values.shape[-1]
    if k > min(M, N):
        raise ValueError(f"diagsvd: expected at most {min(M, N)} values for {M} x {N}, got {k}")
    made = _c.zeros((*values.shape[:-1], M, N), values.dtype, device=values.device)
    i = _places(k, values.device)
    made[..., i, i] = values
    return made


def _matrix(a: Any) -> ndarray:
    x = _asarray(a)
    if x.dtype.kind in "mM":
        raise TypeError(f"expected numbers, got {x.dtype}")
    if x.ndim != 2:
        raise ValueError("Input array must be a 2D NumPy array.")
    return x


@over_stacks(a=2)
def bandwidth(a: ArrayLike) -> tuple[int, int]:
    """How far from the diagonal elements that are not zero lie, below and above it. Looks.

    Raises
    ------
    ValueError
        `a` is no matrix.

    Examples
    --------
    >>> bc.scipy.linalg.bandwidth([[1, 2, 0], [0, 1, 2], [0, 0, 1]])
    (0, 1)
    """
    x = _matrix(a)
    if x.size == 0:
        return 0, 0
    known = _c.linalg_bandwidth(x)
    if known is not None:
        return known[0], known[1]
    i, j = _places(x.shape[0], x.device)[:, None], _places(x.shape[1], x.device)
    distance = _c.where(x != 0, j - i, 0)
    low, high = _c.stack([distance.min(), distance.max()]).tolist()
    return max(-low, 0), max(high, 0)


def _mirrored(x: ndarray, conjugate: bool, atol: float | None, rtol: float | None) -> bool:
    if x.shape[0] != x.shape[1]:
        raise ValueError("Input array must be square.")
    exact = not (atol or rtol)
    known = _c.linalg_is_symmetric(x, conjugate) if exact else None
    if known is not None:
        return known
    y = x.conj().T if conjugate else x.T
    if exact:
        same = x == y
        if not (conjugate and x.dtype.kind == "c"):
            # A NaN on the diagonal is not compared, as in SciPy.
            same = same | _c.eye(x.shape[0], dtype=bool, device=x.device)
        return bool(same.all())
    return bool((abs(x - y) <= (atol or 0.0) + (rtol or 0.0) * abs(y)).all())


@over_stacks(a=2)
def issymmetric(a: ArrayLike, atol: float | None = None, rtol: float | None = None) -> bool:
    """Tells whether a matrix is its transpose, exactly unless a tolerance is given. Looks.

    Examples
    --------
    >>> bc.scipy.linalg.issymmetric([[1, 2], [2, 1]])
    True
    """
    return _mirrored(_matrix(a), False, atol, rtol)


@over_stacks(a=2)
def ishermitian(a: ArrayLike, atol: float | None = None, rtol: float | None = None) -> bool:
    """Tells whether a matrix is its conjugate transpose, exactly unless a tolerance is given. Looks.

    Examples
    --------
    >>> bc.scipy.linalg.ishermitian([[1, 2j], [-2j, 1]])
    True
    """
    return _mirrored(_matrix(a), True, atol, rtol)


def invpascal(n: int, kind: str = "symmetric", exact: bool = True) -> ndarray:
    """The inverse of Pascal's matrix.

    Parameters
    ----------
    n : int
    kind : {'symmetric', 'lower', 'upper'}
        As that of `pascal`.
    exact : bool
        Gives int64, which all elements must fit; else float64.

    Raises
    ------
    ValueError
        `kind` is none of those.
    OverflowError
        An element does not fit int64.

    Examples
    --------
    >>> bc.scipy.linalg.invpascal(3)
    array([[ 3, -3,  1],
           [-3,  5, -2],
           [ 1, -2,  1]])
    """
    if kind not in ("symmetric", "lower", "upper"):
        raise ValueError("'kind' must be 'symmetric', 'lower' or 'upper'.")
    lower = [[(-1) ** (i - j) * math.comb(i, j) if j <= i else 0 for j in range(n)] for i in range(n)]
    made = lower
    if kind == "upper":
        made = [[lower[j][i] for j in range(n)] for i in range(n)]
    elif kind == "symmetric":
        made = [[sum(lower[k][i] * lower[k][j] for k in range(max(i, j), n)) for j in range(n)] for i in range(n)]
    return _asarray(np.array(made, np.int64 if exact else np.float64).reshape(n, n))
