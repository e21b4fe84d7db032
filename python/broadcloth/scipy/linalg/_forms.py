"""Canonical forms of matrices and of pairs of them, and what goes from one to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._operands import back, dagger, matrices, on_host, operand

if TYPE_CHECKING:
    from ...typing import ArrayLike


def _complex_of(a: ndarray) -> ndarray:
    return a if a.dtype.kind == "c" else a.astype(np.complex64 if a.dtype.itemsize == 4 else np.complex128)


# ---- Schur's form -----------------------------------------------------------------------------------------------------------------------

_SCHUR_ORDERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "lhp": lambda x: x.real < 0,
    "rhp": lambda x: x.real >= 0,
    "iuc": lambda x: abs(x) <= 1,
    "ouc": lambda x: abs(x) > 1,
}


def _values_of_schur(t: np.ndarray) -> np.ndarray:
    """The eigenvalues of Schur's form. LAPACK leaves blocks of 2 x 2 with equal diagonals and off-diagonals of different signs."""
    values = np.einsum("...ii->...i", t).astype(np.result_type(t.dtype, np.complex64))
    if t.dtype.kind != "c":
        above, below = np.einsum("...ii->...i", t[..., :-1, 1:]), np.einsum("...ii->...i", t[..., 1:, :-1])
        size = np.where(below != 0, np.sqrt(abs(above)) * np.sqrt(abs(below)), 0)
        values[..., :-1] += 1j * size
        values[..., 1:] -= 1j * size
    return values


def ordered_schur(t: ndarray, z: ndarray, sort: Any) -> tuple[ndarray, ndarray, np.ndarray]:
    """The form of the host's matrices with the chosen eigenvalues first, and their numbers."""
    form = _c.asnumpy(t)
    values = _values_of_schur(form)
    if not callable(sort):
        chosen = _SCHUR_ORDERS[sort](values)
    elif form.dtype.kind == "c":
        chosen = np.array([bool(sort(v)) for v in values.ravel().tolist()], bool).reshape(values.shape)
    else:
        chosen = np.array([bool(sort(v.real, v.imag)) for v in values.ravel().tolist()], bool).reshape(values.shape)
    if form.dtype.kind != "c":
        # Both of a pair go together.
        pair = np.einsum("...ii->...i", form[..., 1:, :-1]) != 0
        both = pair & (chosen[..., :-1] | chosen[..., 1:])
        chosen[..., :-1] |= both
        chosen[..., 1:] |= both
    if t.size:
        t, z = _c.linalg_schur_ordered(t, z, _c.asarray(chosen.astype(np.int32), device="cpu"))
    return t, z, np.asarray(chosen.sum(-1))


def check_schur_order(sort: Any) -> None:
    """Raises ValueError unless `schur` knows the order."""
    if sort is not None and not callable(sort) and sort not in _SCHUR_ORDERS:
        raise ValueError("'sort' parameter must either be 'None', or a callable, or one of ('lhp','rhp','iuc','ouc')")


def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[ndarray, ndarray]:
    """The complex Schur form of matrices out of the real one, by a rotation for each block of 2 x 2 (Golub & Van Loan, section 7.4).

    Computed in host memory; of a GPU's arrays on copies, with a `PerformanceWarning`.

    Parameters
    ----------
    T, Z : array_like, (..., n, n)
        What `schur` gives of real matrices.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    T, Z : ndarray, (..., n, n), complex

    Raises
    ------
    ValueError
        The matrices are not square, or not of one shape.

    Examples
    --------
    >>> t, z = bc.scipy.linalg.rsf2csf([[0.0, 1.0], [-1.0, 0.0]], bc.eye(2))
    >>> bc.diagonal(t)
    array([0.+1.j, 0.-1.j])
    """
    form = operand(T, check_finite)
    basis = operand(Z, check_finite, form.device)
    for name, x in (("Z", basis), ("T", form)):
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            raise ValueError(f"Input '{name}' must be square.")
    if form.shape[-1] != basis.shape[-1]:
        raise ValueError(f"Input array shapes must match: Z: {basis.shape} vs. T: {form.shape}")
    t, z = _c.linalg_complex_schur(*_c.broadcast_arrays(*on_host("rsf2csf", form, basis)))
    return back(form.device, t, z)  # type: ignore[return-value]


def cdf2rdf(w: ArrayLike, v: ArrayLike) -> tuple[ndarray, ndarray]:
    """Real matrices of blocks out of complex eigenvalues and eigenvectors of real matrices: a @ vr = vr @ wr.

    Parameters
    ----------
    w : array_like, (..., n)
        Eigenvalues. Of complex ones each is followed, perhaps after real ones, by its conjugate.
    v : array_like, (..., n, n)
        Their eigenvectors, in columns.

    Returns
    -------
    wr : ndarray, (..., n, n)
        Real eigenvalues on the diagonal, and the real and imaginary parts of each pair in a block of 2 x 2.
    vr : ndarray, (..., n, n)

    Raises
    ------
    ValueError
        The shapes do not fit, or a conjugate is missing.

    Examples
    --------
    >>> wr, vr = bc.scipy.linalg.cdf2rdf([2 + 1j, 2 - 1j], [[1.0, 1.0], [1j, -1j]])
    >>> wr
    array([[ 2.,  1.],
           [-1.,  2.]])
    """
    values = operand(w, False)
    vectors = operand(v, False, values.device)
    if values.ndim < 1:
        raise ValueError("expected w to be at least 1D")
    if vectors.ndim < 2:
        raise ValueError("expected v to be at least 2D")
    if vectors.ndim != values.ndim + 1:
        raise ValueError("expected eigenvectors array to have exactly one dimension more than eigenvalues array")
    n = values.shape[-1]
    if vectors.shape[-1] != vectors.shape[-2]:
        raise ValueError("expected v to be a square matrix or stacked square matrices: v.shape[-2] = v.shape[-1]")
    if vectors.shape[-1] != n:
        raise ValueError("expected the same number of eigenvalues as eigenvectors")
    imaginary = values.imag
    paired = imaginary != 0
    count = paired.cumsum(-1)
    if bool((paired.sum(-1) % 2 != 0).any()):
        raise ValueError("expected complex-conjugate pairs of eigenvalues")
    number = _c.where(paired, (count + 1) // 2, 0)
    i = _c.arange(n, device=values.device)
    same = (number[..., :, None] == number[..., None, :]) & paired[..., :, None] & (i[:, None] != i)
    zero = _c.zeros((), imaginary.dtype, device=values.device)
    wr = _c.where(i[:, None] == i, values.real[..., None], _c.where(same, imaginary[..., None], zero))
    vr = _c.where((paired & (count % 2 == 1))[..., None, :], -vectors.imag, vectors.real)
    return wr, vr


# ---- Balancing --------------------------------------------------------------------------------------------------------------------------


def matrix_balance(
    A: ArrayLike, permute: bool = True, scale: bool = True, separate: bool = False, overwrite_a: bool = False
) -> tuple[ndarray, Any]:
    """Square matrices with rows and columns of nearly equal norms: B = inv(T) @ A @ T, where T permutes and scales by powers of two.

    Computed by LAPACK; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    A : array_like, (..., n, n)
    permute : bool
        Whether rows and columns are exchanged, so that eigenvalues that stand alone come first and last.
    scale : bool
        Whether the others are scaled.
    separate : bool
        Gives (B, (scale, perm)) instead of (B, T): T[perm[j], j] = scale[j]. Of a stack both are one array, as rows.
    overwrite_a : bool
        Operands are never overwritten.

    Raises
    ------
    ValueError
        The matrices are not square, or there is NaN or infinity.

    Examples
    --------
    >>> b, t = bc.scipy.linalg.matrix_balance([[1.0, 1024.0], [1.0, 1.0]])
    >>> b
    array([[ 1., 32.],
           [32.,  1.]])
    """
    x = operand(A)
    x = _c.atleast_2d(x)
    if x.shape[-1] != x.shape[-2]:
        raise ValueError("The data matrix for balancing should be square.")
    n = x.shape[-1]
    (host,) = on_host("matrix_balance", x)
    made, *found = _c.linalg_balanced(host, permute, scale)
    ends = _c.asnumpy(found[1]).reshape(-1, 2).tolist()
    places = _c.asnumpy(found[0]).reshape(len(ends), n)
    # Outside of the rows between the ends are numbers of rows, whose factors are 1.
    factors, orders = np.array(places), []
    for (low, high), row, own in zip(ends, places, factors, strict=True):
        own[:low] = own[high + 1 :] = 1
        order = [*range(n)]
        if low > 0 or high < n - 1:
            exchanged = row.tolist()
            # LAPACK exchanges from the last row up to `high`, then from the first one on.
            for i in (*range(n - 1, high, -1), *range(low)):
                other = int(exchanged[i]) - 1
                order[other], order[i] = order[i], order[other]
        orders.append(order)
    permutations = np.array(orders, np.int64).reshape(len(ends), n)
    shape = x.shape[:-1]
    (made,) = back(x.device, made)
    if separate:
        factors, permutations = factors.astype(np.float64).reshape(shape), permutations.reshape(shape)
        if len(shape) > 1:
            return made, _c.asarray(np.stack([factors, permutations], axis=-2), device=x.device)
        return made, (_c.asarray(factors, device=x.device), _c.asarray(permutations, device=x.device))
    transformation = np.zeros((len(ends), n, n))
    transformation[np.arange(len(ends))[:, None], permutations, np.arange(n)] = factors
    return made, _c.asarray(transformation.reshape(x.shape), device=x.device)


# ---- Pairs of matrices ------------------------------------------------------------------------------------------------------------------


def _pair(A: ArrayLike, B: ArrayLike, output: str, check_finite: bool) -> tuple[ndarray, ndarray]:
    if output not in ("real", "complex", "r", "c"):
        raise ValueError("argument must be 'real', or 'complex'")
    a = matrices(A, check_finite)
    b = matrices(operand(B, check_finite, a.device), False)
    if a.shape[-1] != a.shape[-2] or b.shape[-2:] != a.shape[-2:]:
        raise ValueError("Array dimensions must be square and agree")
    return (_complex_of(a), _complex_of(b)) if output in ("complex", "c") else (a, b)


def qz(
    A: ArrayLike,
    B: ArrayLike,
    output: str = "real",
    lwork: int | None = None,
    sort: None = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Schur's form of two square matrices: A = Q @ AA @ Z.conj().T and B = Q @ BB @ Z.conj().T with triangular AA and BB.

    Computed by LAPACK; of a GPU's arrays on copies in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    A, B : array_like, (..., n, n)
    output : {'real', 'complex'}
        For real matrices 'real' has blocks of 2 x 2 in AA for pairs of eigenvalues.
    lwork : int, optional
        The size of the work array is the library's own choice.
    sort : None
        `ordqz` gives the form with chosen eigenvalues first.
    overwrite_a, overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    AA, BB, Q, Z : ndarray, (..., n, n)

    Raises
    ------
    LinAlgError
        The iteration does not converge.

    Examples
    --------
    >>> aa, bb, q, z = bc.scipy.linalg.qz([[1.0, 2.0], [3.0, 4.0]], [[2.0, 0.0], [1.0, 1.0]])
    >>> (q @ aa @ z.T).round(6)
    array([[1., 2.],
           [3., 4.]])
    """
    if sort is not None:
        raise ValueError("The 'sort' input of qz() has to be None and will be removed in a future release. Use ordqz instead.")
    a, b = _pair(A, B, output, check_finite)
    aa, bb, q, z = back(a.device, *_c.linalg_qz(*on_host("qz", a, b))[:4])
    return aa, bb, q, z


def _quotients(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """The eigenvalues; infinity where beta is zero, and NaN where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        made = alpha / np.where(beta == 0, 1, beta)
    return np.where(beta != 0, made, np.where(alpha != 0, np.inf, np.nan))


_QZ_ORDERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "lhp": lambda x: np.isfinite(x) & (x.real < 0),
    "rhp": lambda x: np.isfinite(x) & (x.real > 0),
    "iuc": lambda x: abs(x) < 1,
    "ouc": lambda x: abs(x) > 1,
}


def ordqz(
    A: ArrayLike,
    B: ArrayLike,
    sort: Any = "lhp",
    output: str = "real",
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> tuple[ndarray, ndarray, ndarray, ndarray, ndarray, ndarray]:
    """The form that `qz` gives, with chosen eigenvalues alpha / beta first.

    Computed by LAPACK; of a GPU's arrays on copies in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    A, B : array_like, (..., n, n)
    sort : {'lhp', 'rhp', 'iuc', 'ouc'} or callable
        Eigenvalues in the left or right half of the plane, inside or outside the unit circle; or a function of two arrays, alpha and beta,
        that gives an array of bool.
    output : {'real', 'complex'}
        As that of `qz`.
    overwrite_a, overwrite_b : bool
        Operands are never overwritten.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    AA, BB : ndarray, (..., n, n)
    alpha, beta : ndarray, (..., n)
    Q, Z : ndarray, (..., n, n)

    Raises
    ------
    ValueError
        The eigenvalues are too near to each other to be exchanged.

    Examples
    --------
    >>> aa, bb, alpha, beta, q, z = bc.scipy.linalg.ordqz([[1.0, 0.0], [0.0, -2.0]], bc.eye(2), sort="lhp")
    >>> alpha / beta
    array([-2.+0.j,  1.+0.j])
    """
    if not callable(sort) and sort not in _QZ_ORDERS:
        raise ValueError("sort parameter must be None, a callable, or one of ('lhp','rhp','iuc','ouc')")
    a, b = _pair(A, B, output, check_finite)
    parts = _c.linalg_qz(*on_host("ordqz", a, b))
    alpha, beta = _c.asnumpy(parts[4]), _c.asnumpy(parts[5])
    chosen = sort(alpha, beta) if callable(sort) else _QZ_ORDERS[sort](_quotients(alpha, beta))
    if a.size:
        first = _c.asarray(np.asarray(_c.asnumpy(chosen) != 0, np.int32), device="cpu")
        parts = _c.linalg_qz_ordered(parts[0], parts[1], parts[2], parts[3], first)
    aa, bb, q, z, numerators, denominators = back(a.device, *parts)
    return aa, bb, numerators, denominators, q, z


# ---- Factors that are multiplied, and rotations -----------------------------------------------------------------------------------------


def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[ndarray, ...]:
    """The factor Q of a = Q @ R times a matrix, and R.

    Parameters
    ----------
    a : array_like, (..., m, n)
    c : array_like
        With k = min(m, n): (..., k, l) or (k,) for 'left', (..., l, m) or (m,) for 'right'.
    mode : {'left', 'right'}
        Q @ c or c @ Q.
    pivoting : bool
        As that of `qr`; the columns' order is then the third result.
    conjugate : bool
        Whether Q is conjugated.
    overwrite_a, overwrite_c : bool
        Operands are never overwritten.

    Returns
    -------
    product : ndarray
        (..., m, l) or (m,) for 'left', (..., l, k) or (k,) for 'right'.
    R : ndarray, (..., k, n)
    P : ndarray, (..., n)
        With `pivoting`.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> product, r = bc.scipy.linalg.qr_multiply([[2.0, 0.0], [0.0, 3.0]], [1.0, 2.0])
    >>> abs(product)
    array([1., 2.])
    """
    from ._decompositions import qr

    if mode not in ("left", "right"):
        raise ValueError(f"Mode argument can only be 'left' or 'right' but not '{mode}'")
    x = matrices(a, True, "expected a 2-D array")
    other = operand(c, True, x.device)
    m, n = x.shape[-2:]
    vector = other.ndim == 1
    if vector:
        other = other[:, None] if mode == "left" else other[None]
    if mode == "left" and other.shape[-2] != min(m, n):
        raise ValueError(f"Array shapes are not compatible for Q @ c operation: {x.shape} vs {other.shape}")
    if mode == "right" and other.shape[-1] != m:
        raise ValueError(f"Array shapes are not compatible for c @ Q operation: {other.shape} vs {x.shape}")
    q, *rest = qr(x, mode="economic", pivoting=pivoting, check_finite=False)
    if conjugate:
        q = q.conj()
    product = _c.matmul(q, other) if mode == "left" else _c.matmul(other, q)
    if vector:
        product = product[..., 0] if mode == "left" else product[..., 0, :]
    return (product, *rest)


def orthogonal_procrustes(A: ArrayLike, B: ArrayLike, check_finite: bool = True) -> tuple[ndarray, Any]:
    """The unitary matrix R for which A @ R is nearest to B (Schönemann, 1966), and the sum of the singular values of A.conj().T @ B.

    Parameters
    ----------
    A, B : array_like, (..., m, n)
    check_finite : bool
        Whether NaN and infinity are looked for.

    Returns
    -------
    R : ndarray, (..., n, n)
    scale : ndarray, (...)

    Raises
    ------
    ValueError
        The arrays are no matrices, or their shapes differ.

    Examples
    --------
    >>> r, scale = bc.scipy.linalg.orthogonal_procrustes([[2.0, 0.0], [0.0, 1.0]], [[0.0, 2.0], [-1.0, 0.0]])
    >>> r.round(6) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    a = operand(A, check_finite)
    b = operand(B, check_finite, a.device)
    if a.ndim < 2:
        raise ValueError(f"expected ndim to be 2, but observed {a.ndim}")
    if a.shape != b.shape:
        raise ValueError(f"the shapes of A and B differ ({a.shape} vs {b.shape})")
    u, s, vh = _c.linalg_svd(_c.matmul(dagger(a), b), 1)
    return _c.matmul(u, vh), s.sum(-1)
