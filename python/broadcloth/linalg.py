"""Linear algebra, under NumPy's names: solvers, decompositions, norms and products of stacks of matrices.

float32 and complex64 are computed in single precision. Singular matrices, and what does not converge, are a LinAlgError from the call,
which runs what waits for that reason."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._manipulation import matrix_transpose
from ._math import cross as _cross
from ._namespace import face
from ._products import matmul as _matmul
from ._products import outer as _outer
from ._products import tensordot as _tensordot
from ._warnings import warn
from .exceptions import PerformanceWarning

if TYPE_CHECKING:
    from .typing import ArrayLike, AxisLike, DTypeLike

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

_NoValue: Any = np._NoValue  # type: ignore[attr-defined]
_reduce = _c.reduce
_ufuncs = _c.ufuncs
_asarray = _c.asarray


if not TYPE_CHECKING:
    __getattr__, __dir__ = face(
        __name__, __all__, np.linalg, "numpy.linalg.{name} takes the array too: it computes on a host copy and gives NumPy's array"
    )


class EigResult(NamedTuple):
    """What `eig` gives."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class EighResult(NamedTuple):
    """What `eigh` gives."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """What `qr` gives: `Q` with orthonormal columns, `R` upper triangular."""

    Q: ndarray
    R: ndarray


class SlogdetResult(NamedTuple):
    """What `slogdet` gives."""

    sign: ndarray
    logabsdet: ndarray


class SVDResult(NamedTuple):
    """What `svd` gives: a = U @ diag(S) @ Vh."""

    U: ndarray
    S: ndarray
    Vh: ndarray


def _matrices(x: Any) -> ndarray:
    """An operand of at least two dimensions."""
    a = _asarray(x)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    return a


def _squares_of(x: Any) -> ndarray:
    a = _matrices(x)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return a


def _on_host(name: str, a: ndarray) -> ndarray:
    """A GPU's array, copied to the host for what only LAPACK computes, with a warning; one of the CPU as it is."""
    if a.device.type == "cpu":
        return a
    warn(f"{name} is computed by LAPACK on a copy in host memory: cuSOLVER has no routine that is used for it", PerformanceWarning)
    return a.to_device("cpu")


# ---- Systems of equations ---------------------------------------------------------------------------------------------------------------


def solve(a: ArrayLike, b: ArrayLike) -> ndarray:
    """The solution x of a @ x = b, by LU factorization with partial pivoting.

    Parameters
    ----------
    a : array_like, (..., n, n)
    b : array_like, (n,) or (..., n, k)
        One vector if it has one dimension, else matrices. Leading axes broadcast.

    Returns
    -------
    ndarray
        (..., n) or (..., n, k); float64 for integers, else of the operands' common dtype.

    Raises
    ------
    LinAlgError
        A matrix is singular, or not square.
    TypeError
        The dtype is float16 or bfloat16.

    Examples
    --------
    >>> bc.linalg.solve([[1, 2], [3, 5]], [1, 2])
    array([-1.,  1.])
    """
    return _c.linalg_solve(a, b)


def inv(a: ArrayLike) -> ndarray:
    """The inverses of square matrices.

    Raises
    ------
    LinAlgError
        A matrix is singular, or not square.

    Examples
    --------
    >>> bc.linalg.inv([[2.0, 0.0], [0.0, 4.0]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return _c.linalg_inv(a)


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> ndarray:
    """The x for which tensordot(a, x, x.ndim) is b.

    Parameters
    ----------
    a : array_like
        Of shape b.shape + Q, where the product of Q is `b`'s size.
    b : array_like
    axes : sequence of ints, optional
        Axes of `a` that are moved to its end before.

    Raises
    ------
    LinAlgError
        `a` is singular, or not square in this sense.

    Examples
    --------
    >>> bc.linalg.tensorsolve(bc.eye(4).reshape(2, 2, 4), bc.ones((2, 2)))
    array([1., 1., 1., 1.])
    """
    matrix, right = _asarray(a), _asarray(b)
    if axes is not None:
        order = list(range(matrix.ndim))
        for k in axes:
            order.remove(k)
            order.insert(matrix.ndim, k)
        matrix = matrix.transpose(order)
    shape = matrix.shape[-(matrix.ndim - right.ndim) :]
    n = math.prod(shape)
    if matrix.size != n**2:
        raise LinAlgError("Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return solve(matrix.reshape(n, n), right.ravel()).reshape(shape)


def tensorinv(a: ArrayLike, ind: int = 2) -> ndarray:
    """The inverse of `a` under tensordot(a, b, ind).

    Raises
    ------
    ValueError
        `ind` is not positive.
    LinAlgError
        `a` is singular, or the products of its first `ind` extents and of the others differ.

    Examples
    --------
    >>> bc.linalg.tensorinv(bc.eye(4).reshape(4, 2, 2), ind=1).shape
    (2, 2, 4)
    """
    tensor = _asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = tensor.shape[ind:] + tensor.shape[:ind]
    return inv(tensor.reshape(math.prod(tensor.shape[ind:]), -1)).reshape(shape)


def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> tuple[ndarray, ndarray, Any, ndarray]:
    """The shortest x for which a @ x is nearest to b, by singular values. Computed in double precision.

    Parameters
    ----------
    a : array_like, (m, n)
    b : array_like, (m,) or (m, k)
    rcond : float, optional
        Singular values below it times the largest one count as zero: max(m, n) times float64's precision unless given, and all that are
        not zero count with -1.

    Returns
    -------
    x : ndarray, (n,) or (n, k)
    residuals : ndarray
        The sums of squares for each column, empty where the rank is below n or m <= n.
    rank : int
    s : ndarray
        The singular values.

    Raises
    ------
    LinAlgError
        The numbers of rows differ, an operand is no matrix, or the singular values do not converge.

    Examples
    --------
    >>> x, residuals, rank, s = bc.linalg.lstsq([[0, 1], [1, 1], [2, 1]], [1, 3, 5])
    >>> x.round(6)
    array([2., 1.])
    """
    matrix, right = _asarray(a), _asarray(b)
    vector = right.ndim == 1
    if vector:
        right = right[:, None]
    for operand in (matrix, right):
        if operand.ndim != 2:
            raise LinAlgError(f"{operand.ndim}-dimensional array given. Array must be two-dimensional")
    m, n = matrix.shape
    if right.shape[0] != m:
        raise LinAlgError("Incompatible dimensions")
    t = _common_dtype(matrix, right)
    wide = np.dtype(np.complex128 if t.kind == "c" else np.float64)
    if rcond is None:
        rcond = 2.0**-52 * max(m, n)
    x, squares, rank, s = _least_squares(matrix.astype(wide, copy=False), right.astype(wide, copy=False), float(rcond))
    real = np.dtype(t.char.lower())
    if rank != n or m <= n:
        squares = _c.empty(0, real, device=matrix.device)
    x = x.astype(t, copy=False)
    return x[:, 0] if vector else x, squares.astype(real, copy=False), np.int32(rank), s.astype(real, copy=False)


def _least_squares(a: ndarray, b: ndarray, rcond: float) -> tuple[ndarray, ndarray, int, ndarray]:
    """The solution for matrices of doubles, sums of squares of the residuals, the rank and the singular values."""
    m, n = a.shape
    b = b if b.device == a.device else b.to_device(a.device)  # arrays that are placed by size
    if min(m, n) == 0 or b.shape[1] == 0:
        s = svdvals(a)
        rank = int(_rank_of(s, rcond))
        return _c.zeros((n, b.shape[1]), a.dtype, device=a.device), _squares(b).sum(0), rank, s
    if a.device.type == "cpu":
        x, squares, count, s = _c.linalg_lstsq(a, b, rcond)
        return x, squares, int(count), s
    if by_qr := _c.linalg_lstsq_by_qr(a, b, rcond):
        return by_qr[0], by_qr[1], n, by_qr[2]
    try:
        u, s, vh = _c.linalg_svd(a, 1)
    except LinAlgError:
        raise LinAlgError("SVD did not converge in Linear Least Squares") from None
    rank = int(_rank_of(s, rcond))
    parts = _c.matmul(u.conj().T, b)
    x = _c.matmul(vh[:rank].conj().T, parts[:rank] / s[:rank, None])
    return x, _squares(b - _c.matmul(a, x)).sum(0), rank, s


def _rank_of(s: ndarray, rcond: float) -> Any:
    if s.shape[0] == 0:
        return 0
    return (s > max(rcond, 0.0) * s[0]).sum() if rcond >= 0 else (s > float(np.finfo(s.dtype).eps) * s[0]).sum()


def _squares(a: ndarray) -> ndarray:
    if a.dtype.kind == "c":
        return _ufuncs["add"](_ufuncs["square"](a.real), _ufuncs["square"](a.imag))
    return _ufuncs["square"](a)


def _common_dtype(*operands: ndarray) -> np.dtype[Any]:
    """The dtype in which NumPy gives results of these operands."""
    first = operands[0].dtype
    if first.char in "fdFD" and all(a.dtype == first for a in operands):
        return first  # without NumPy's promotion, which takes as long as a small problem
    t = np.dtype(np.float32)
    for a in operands:
        if a.dtype.kind not in "biufc" or (a.dtype.kind == "f" and a.dtype.itemsize < 4):
            raise TypeError(f"array type {a.dtype.name} is unsupported in linalg")
        t = np.result_type(t, a.dtype if a.dtype.kind in "fc" else np.float64)
    return t


# ---- Determinants -----------------------------------------------------------------------------------------------------------------------


def det(a: ArrayLike) -> ndarray:
    """The determinants of square matrices, by LU factorization.

    Examples
    --------
    >>> bc.linalg.det([[2.0, 0.0], [0.0, 4.0]])
    array(8.)
    """
    return _c.linalg_det(a)


def slogdet(a: ArrayLike) -> SlogdetResult:
    """The signs of determinants, and the logarithms of their absolute values, which overflow later than the determinants.

    Returns
    -------
    SlogdetResult
        sign : 1, -1, 0 or of a complex matrix a number on the unit circle; logabsdet : -inf where the determinant is 0.

    Examples
    --------
    >>> bc.linalg.slogdet(bc.array([[0.0, 1.0], [1.0, 0.0]]))
    SlogdetResult(sign=array(-1.), logabsdet=array(0.))
    """
    return SlogdetResult(*_c.linalg_slogdet(a))


# ---- Decompositions ---------------------------------------------------------------------------------------------------------------------


def cholesky(a: ArrayLike, /, *, upper: bool = False) -> ndarray:
    """The triangular factors L with a = L @ L.conj().T of Hermitian positive definite matrices, or with `upper` L.conj().T.

    Only the lower triangle of `a` (with `upper` the other) is read.

    Raises
    ------
    LinAlgError
        A matrix is not positive definite, or not square.

    Examples
    --------
    >>> bc.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 0.],
           [1., 2.]])
    """
    return _c.linalg_cholesky(a, not upper)


def qr(a: ArrayLike, mode: Literal["reduced", "complete", "r", "raw"] = "reduced") -> Any:
    """The factors of a = Q @ R: Q has orthonormal columns, R is upper triangular.

    Parameters
    ----------
    a : array_like, (..., m, n)
    mode : {'reduced', 'complete', 'r', 'raw'}
        Q of shape (m, min(m, n)) or (m, m); R alone; or what LAPACK has: the reflectors, transposed, and their factors.

    Returns
    -------
    QRResult, ndarray or tuple

    Examples
    --------
    >>> q, r = bc.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> (abs(q @ r - bc.array([[3.0, 1.0], [4.0, 2.0]])) < 1e-14).all()
    array(True)
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        if mode in ("f", "full"):
            warn("The 'full' option is deprecated in favor of 'reduced'.\nFor backward compatibility let mode default.", DeprecationWarning)
            mode = "reduced"
        elif mode in ("e", "economic"):
            warn("The 'economic' option is deprecated.", DeprecationWarning)
            return _c.linalg_qr(a, "raw")[0].mT
        else:
            raise ValueError(f"Unrecognized mode '{mode}'")
    parts = _c.linalg_qr(a, mode)
    return parts[0] if mode == "r" else parts if mode == "raw" else QRResult(*parts)


def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The singular value decomposition a = U @ diag(S) @ Vh.

    Parameters
    ----------
    a : array_like, (..., m, n)
    full_matrices : bool
        Whether U is (m, m) and Vh (n, n); else (m, k) and (k, n) with k = min(m, n).
    compute_uv : bool
        Whether U and Vh are computed; else the singular values alone are the result.
    hermitian : bool
        `a` is taken to be Hermitian, and its eigenvalues are computed.

    Returns
    -------
    SVDResult or ndarray
        The singular values descend.

    Raises
    ------
    LinAlgError
        The iteration does not converge (as with NaN), or `a` has less than two dimensions.

    Examples
    --------
    >>> bc.linalg.svd([[0.0, 2.0], [1.0, 0.0]], compute_uv=False)
    array([2., 1.])
    """
    if hermitian:
        if not compute_uv:
            return _c.sort(abs(eigvalsh(a)))[..., ::-1]
        s, u = _c.linalg_eigh(a, True, True)
        sign = _ufuncs["copysign"](1.0, s)
        order = _c.argsort(abs(s))[..., ::-1]
        sign, s = _c.take_along_axis(sign, order, -1), _c.take_along_axis(abs(s), order, -1)
        u = _c.take_along_axis(u, order[..., None, :], -1)
        return SVDResult(u, s, (u * sign[..., None, :]).mT.conj())
    if not compute_uv:
        return _c.linalg_svd(a, 0)[0]
    return SVDResult(*_c.linalg_svd(a, 2 if full_matrices else 1))


def svdvals(x: ArrayLike, /) -> ndarray:
    """The singular values of matrices, in descending order.

    Examples
    --------
    >>> bc.linalg.svdvals([[0.0, 2.0], [1.0, 0.0]])
    array([2., 1.])
    """
    return _c.linalg_svd(x, 0)[0]


def _is_lower(UPLO: str) -> bool:
    if str(UPLO).upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO.upper() == "L"


def eigh(a: ArrayLike, UPLO: str = "L") -> EighResult:
    """The eigenvalues, in ascending order, and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array_like, (..., n, n)
    UPLO : {'L', 'U'}
        The triangle that is read.

    Returns
    -------
    EighResult
        eigenvalues : (..., n), real; eigenvectors : (..., n, n), normalized, in columns.

    Raises
    ------
    LinAlgError
        The iteration does not converge, or a matrix is not square.
    ValueError
        `UPLO` is something else.

    Examples
    --------
    >>> bc.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
    array([1., 2.])
    """
    return EighResult(*_c.linalg_eigh(a, _is_lower(UPLO), True))


def eigvalsh(a: ArrayLike, UPLO: str = "L") -> ndarray:
    """The eigenvalues of Hermitian matrices, in ascending order.

    Examples
    --------
    >>> bc.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    array([1., 2.])
    """
    return _c.linalg_eigh(a, _is_lower(UPLO), False)[0]


def _eig(x: Any, vectors: bool) -> tuple[ndarray, ...]:
    """Eigenvalues (and eigenvectors) of square matrices, real where all of them are."""
    a = _squares_of(x)
    if a.dtype.kind in "fc" and not bool(_ufuncs["isfinite"](a).all()):
        raise LinAlgError("Array must not contain infs or NaNs")
    host = _on_host("eig" if vectors else "eigvals", a)
    parts = _c.linalg_eig(host, vectors)
    if a.dtype.kind != "c" and not bool((parts[0].imag != 0).any()):
        parts = tuple(p.real.copy() for p in parts)
    return parts if host is a else tuple(p.to_device(a.device) for p in parts)


def eig(a: ArrayLike) -> EigResult:
    """The eigenvalues and right eigenvectors of square matrices.

    Computed by LAPACK; of a GPU's array on a copy in host memory, with a `PerformanceWarning`.

    Returns
    -------
    EigResult
        eigenvalues : (..., n); eigenvectors : (..., n, n), normalized, in columns. Complex, or real if `a` is and all eigenvalues are.

    Raises
    ------
    LinAlgError
        `a` holds NaN or infinity, is not square, or the iteration does not converge.

    Examples
    --------
    >>> bc.linalg.eig([[1.0, 0.0], [0.0, 2.0]]).eigenvalues
    array([1., 2.])
    """
    return EigResult(*_eig(a, True))


def eigvals(a: ArrayLike) -> ndarray:
    """The eigenvalues of square matrices, as `eig` gives them.

    Examples
    --------
    >>> bc.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]])
    array([0.+1.j, 0.-1.j])
    """
    return _eig(a, False)[0]


# ---- Ranks, condition and generalized inverses ------------------------------------------------------------------------------------------


def matrix_rank(
    A: ArrayLike,
    tol: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rtol: ArrayLike | None = None,
) -> Any:
    """The number of singular values above a threshold.

    Parameters
    ----------
    A : array_like, 1-d or (..., m, n)
    tol : array_like, optional
        The threshold. Unless given, `rtol` times the largest singular value.
    hermitian : bool
        `A` is taken to be Hermitian, which is faster.
    rtol : array_like, optional
        max(m, n) times the dtype's precision unless given.

    Raises
    ------
    ValueError
        `tol` and `rtol` are both given.

    Examples
    --------
    >>> bc.linalg.matrix_rank(bc.ones((3, 3)))
    array(1)
    """
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    a = _asarray(A)
    if a.ndim < 2:
        return int(not bool((a == 0).all()))
    s = svd(a, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        threshold: Any = _asarray(tol, device=a.device)[..., None]
    else:
        relative: Any = max(a.shape[-2:]) * float(np.finfo(s.dtype).eps) if rtol is None else _asarray(rtol, device=a.device)[..., None]
        threshold = _reduce("max", s, -1, None, None, True, 0.0) * relative
    return (s > threshold).sum(-1)


def pinv(a: ArrayLike, rcond: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = _NoValue) -> ndarray:
    """The Moore-Penrose inverses of matrices, by singular values.

    Parameters
    ----------
    a : array_like, (..., m, n)
    rcond : array_like, optional
        Singular values not above it times the largest one count as zero. Broadcasts over the stack. Unless given it is 1e-15 in double
        precision, and in single precision, where 1e-15 keeps rounding errors, what `rtol=None` stands for.
    hermitian : bool
        `a` is taken to be Hermitian, which is faster.
    rtol : array_like, optional
        The same as `rcond`; None is max(m, n) times the dtype's precision.

    Raises
    ------
    LinAlgError
        The singular values do not converge.
    ValueError
        `rcond` and `rtol` are both given.

    Examples
    --------
    >>> bc.linalg.pinv([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    if rcond is not None and rtol is not _NoValue:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    matrix = _c.asanyarray(a)
    if matrix.size == 0 and matrix.ndim >= 2:
        return _c.empty((*matrix.shape[:-2], matrix.shape[-1], matrix.shape[-2]), matrix.dtype, device=matrix.device)
    if matrix.requires_grad and not hermitian and matrix.ndim >= 2:
        return pinv_function().apply(matrix, lambda x: pinv(x, rcond, rtol=rtol))
    u, s, vh = svd(matrix.conj(), full_matrices=False, hermitian=hermitian)
    cutoff = rcond if rtol is _NoValue else rtol
    rounding = max(matrix.shape[-2:]) * float(np.finfo(s.dtype).eps)
    relative: Any
    if cutoff is None:
        relative = 1e-15 if rtol is _NoValue and s.dtype.itemsize == 8 else rounding
    else:
        relative = _asarray(cutoff, device=matrix.device)[..., None]
    large = s > relative * _reduce("max", s, -1, None, None, True)
    inverse = _c.where(large, 1 / s, _ufuncs["multiply"](s, 0.0))
    return _c.matmul(vh.mT, inverse[..., None] * u.mT)


@functools.cache
def pinv_function() -> Any:
    """The pseudo-inverse as an autograd.Function of a matrix and of what computes it without a derivative."""
    from . import autograd

    class PseudoInverse(autograd.Function):
        """Golub and Pereyra's derivative (1973) for matrices of one rank: that of the singular vectors does not exist where singular values
        are equal, though the pseudo-inverse is smooth there."""

        @staticmethod
        def forward(ctx: Any, a: ndarray, compute: Any) -> ndarray:
            ctx.save_for_backward(a)
            ctx.compute = compute
            return compute(a.detach())

        @staticmethod
        def backward(ctx: Any, *gradients: ndarray) -> Any:
            (gradient,), (a,) = gradients, ctx.saved_arrays
            p = PseudoInverse.apply(a, ctx.compute)
            p_h, g_h = p.mT.conj(), gradient.mT.conj()
            plain = _c.matmul(p_h, _c.matmul(gradient, p_h))
            tall, wide = _c.matmul(g_h, _c.matmul(p, p_h)), _c.matmul(_c.matmul(p_h, p), g_h)
            # tall and wide, each but for its projection
            left, right = tall - _c.matmul(a, _c.matmul(p, tall)), wide - _c.matmul(_c.matmul(wide, p), a)
            return left + right - plain, None

    return PseudoInverse


def cond(x: ArrayLike, p: float | str | None = None) -> ndarray:
    """The condition numbers of matrices.

    Parameters
    ----------
    x : array_like, (..., m, n)
    p : {None, 1, -1, 2, -2, inf, -inf, 'fro', 'nuc'}
        The norm. None and 2 are the ratio of the largest to the smallest singular value; other norms need square matrices.

    Raises
    ------
    LinAlgError
        `x` is empty.

    Examples
    --------
    >>> bc.linalg.cond([[1.0, 0.0], [0.0, 4.0]])
    array(4.)
    """
    a = _asarray(x)
    if a.size == 0 and a.ndim >= 2 and 0 in a.shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = _c.linalg_svd(a, 0)[0]
        r = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        a = _squares_of(a)
        inverse = _c.linalg_inv(a, False)
        r = norm(a, p, axis=(-2, -1)) * norm(inverse, p, axis=(-2, -1))
    # NaN stands for infinity where the matrix itself has none.
    isnan = _ufuncs["isnan"]
    made: ndarray = _c.where(_ufuncs["logical_and"](isnan(r), ~isnan(a).any(axis=(-2, -1))), r.dtype.type(np.inf), r)
    return _c.as_result(made)


# ---- Norms ------------------------------------------------------------------------------------------------------------------------------


def _axes_of(axis: Any) -> Any:
    """The axes of a norm, which NumPy does not take from a list."""
    if axis is not None and not isinstance(axis, tuple):
        try:
            operator.index(axis)
        except TypeError:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from None
    return axis


def norm(x: ArrayLike, ord: float | str | None = None, axis: AxisLike = None, keepdims: bool = False) -> ndarray:
    """The norm of vectors or matrices.

    Parameters
    ----------
    x : array_like
        1-d or 2-d, unless `axis` or no `ord` is given.
    ord : {None, number, inf, -inf, 'fro', 'nuc'}
        None is the 2-norm of all elements. Of a matrix: 'fro', 'nuc', 1, -1, 2, -2, inf, -inf; 'nuc', 2 and -2 are those of
        singular values.
    axis : None, int or pair of ints
        One axis holds vectors, a pair matrices.
    keepdims : bool
        Whether the reduced axes stay, with extent 1.

    Raises
    ------
    ValueError
        `ord` is no norm, or the dimensions do not fit it.
    LinAlgError
        The singular values do not converge.

    Examples
    --------
    >>> bc.linalg.norm(bc.array([3.0, 4.0]))
    array(5.)
    """
    return _c.norm(x, ord, _axes_of(axis), keepdims)


def vector_norm(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False, ord: float | str = 2) -> ndarray:
    """The norm of vectors, which may lie over several axes.

    Examples
    --------
    >>> bc.linalg.vector_norm(bc.array([[3.0], [4.0]]))
    array(5.)
    """
    return _c.vector_norm(x, ord, _axes_of(axis), keepdims)


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str = "fro") -> ndarray:
    """The norm of the matrices in the last two axes.

    Examples
    --------
    >>> bc.linalg.matrix_norm(bc.array([[3.0, 0.0], [0.0, 4.0]]))
    array(5.)
    """
    a = _asarray(x)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    return _c.norm(a, ord, (-2, -1), keepdims)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> ndarray:
    """The cross product of vectors with three components.

    Raises
    ------
    ValueError
        The vectors have other than three components.

    Examples
    --------
    >>> bc.linalg.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    a, b = _asarray(x1), _asarray(x2)
    m, n = a.shape[axis], b.shape[axis]
    if m != 3 or n != 3:
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {m} and {n} dimensional instead.")
    return _cross(a, b, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> ndarray:
    """All products of the elements of two vectors.

    Raises
    ------
    ValueError
        An operand is not 1-d.

    Examples
    --------
    >>> bc.linalg.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    a, b = _asarray(x1), _asarray(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {a.ndim} and {b.ndim}-dimensional.")
    return _outer(a, b)


def matmul(x1: ArrayLike, x2: ArrayLike, /) -> ndarray:
    """The matrix product.

    Examples
    --------
    >>> bc.linalg.matmul([[1, 2]], [[3], [4]])
    array([[11]])
    """
    return _matmul(x1, x2)


def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: Any = 2) -> ndarray:
    """Sums of products over several axes.

    Parameters
    ----------
    x1, x2 : array_like
    axes : int or pair of sequences of ints
        How many of the last axes of `x1` and the first ones of `x2` are summed over, or which.

    Examples
    --------
    >>> bc.linalg.tensordot(bc.ones((2, 3)), bc.ones((2, 3)))
    array(6.)
    """
    return _tensordot(x1, x2, axes)


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> ndarray:
    """The dot products of vectors along an axis, the first one conjugated.

    Examples
    --------
    >>> bc.linalg.vecdot([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    return _c.vecdot(x1, x2, axis)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> ndarray:
    """A view of the diagonals of the matrices in the last two axes.

    Examples
    --------
    >>> bc.linalg.diagonal(bc.eye(2))
    array([1., 1.])
    """
    return _c.diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> ndarray:
    """The sums of the diagonals of the matrices in the last two axes.

    Examples
    --------
    >>> bc.linalg.trace(bc.eye(3))
    array(3.)
    """
    return _asarray(x).trace(offset, -2, -1, dtype)


def matrix_power(a: ArrayLike, n: int) -> ndarray:
    """A square matrix to an integer power, by repeated squaring. Negative powers are those of the inverse.

    Raises
    ------
    LinAlgError
        The matrix is not square, or has no inverse and `n` is negative.

    Examples
    --------
    >>> bc.linalg.matrix_power([[0, 1], [1, 1]], 5)
    array([[3, 5],
           [5, 8]])
    """
    m = _c.asanyarray(a)
    if m.ndim < 2:
        raise LinAlgError(f"{m.ndim}-dimensional array given. Array must be at least two-dimensional")
    if m.shape[-1] != m.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError("exponent must be an integer") from None
    if n < 0:
        m, n = _c.linalg_inv(m), -n
    if n == 0:
        return _c.broadcast_to(_c.eye(m.shape[-1], dtype=m.dtype, device=m.device), m.shape).copy()
    result = None
    while n:
        if n & 1:
            result = m if result is None else _c.matmul(result, m)
        n >>= 1
        if n:
            m = _c.matmul(m, m)
    return result.copy() if result is m else result  # type: ignore[union-attr, return-value]


def multi_dot(arrays: Sequence[ArrayLike], *, out: ndarray | None = None) -> ndarray:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Examples
    --------
    >>> bc.linalg.multi_dot([bc.ones((2, 3)), bc.ones((3, 4)), bc.ones((4, 1))])
    array([[12.],
           [12.]])
    """
    n = len(arrays)
    if n < 2:
        raise ValueError("Expecting at least two arrays.")
    parts = [_c.asanyarray(a) for a in arrays]
    first, last = parts[0].ndim, parts[-1].ndim
    parts[0] = parts[0][None, :] if first == 1 else parts[0]
    parts[-1] = parts[-1][:, None] if last == 1 else parts[-1]
    for p in parts:
        if p.ndim != 2:
            raise LinAlgError(f"{p.ndim}-dimensional array given. Array must be two-dimensional")
    sizes = [p.shape[0] for p in parts] + [parts[-1].shape[1]]
    result = _three(parts, sizes) if n == 3 else _many(parts, sizes)
    if first == 1:
        result = result[0]
    if last == 1:
        result = result[..., 0]
    if out is None:
        return result
    if out.dtype != result.dtype or out.shape != result.shape or not out.flags.c_contiguous:
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")
    _c.copyto(out, result)
    return out


def _three(parts: list[ndarray], sizes: list[int]) -> ndarray:
    a, b, c, d = sizes
    if a * c * (b + d) < b * d * (a + c):
        return _c.matmul(_c.matmul(parts[0], parts[1]), parts[2])
    return _c.matmul(parts[0], _c.matmul(parts[1], parts[2]))


def _many(parts: list[ndarray], sizes: list[int]) -> ndarray:
    n = len(parts)
    # The textbook table: best[i][j] is the cheapest way to multiply parts i to j, cut[i][j] where it is split.
    best = [[0.0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            costs = [(best[i][k] + best[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            best[i][j], cut[i][j] = min(costs)

    def product(i: int, j: int) -> ndarray:
        return parts[i] if i == j else _c.matmul(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    return product(0, n - 1)
