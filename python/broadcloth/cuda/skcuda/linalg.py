"""Linear algebra, as `skcuda.linalg` has it.

`handle`, `lib`, `allocator` and the workspaces that callers may give are taken and of no effect: the engine chooses the library of the
device and keeps its handles. What scikit-cuda changes in place is changed in place here: `cholesky`, `cho_factor`, `cho_solve`, `scale`,
`add_dot`, and where `overwrite` is true.

Examples
--------
>>> from broadcloth.cuda.skcuda import linalg
>>> a = bc.array([[2.0, 0.0], [0.0, 1.0]])
>>> u, s, vh = linalg.svd(a)
>>> s
array([2., 1.])
>>> linalg.dot(a, a)
array([[4., 0.],
       [0., 1.]])
"""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError

import broadcloth as bc

from ..._namespace import listing
from ..pycuda.gpuarray import empty_like, zeros, zeros_like
from .misc import init, shutdown

__all__ = [
    "PCA", "LinAlgError", "add_diag", "add_dot", "add_dot_strided", "cho_factor", "cho_solve", "cholesky", "conj", "det", "diag", "dot",
    "dot_diag", "eig", "empty_like", "eye", "hermitian", "init", "inv", "mdot", "multiply", "norm", "pinv", "qr", "rsvd", "scale",
    "shutdown", "svd", "trace", "transpose", "tril", "triu", "vander", "zeros", "zeros_like",
]  # fmt: skip


def _operated(a: Any, trans: str) -> Any:
    """A matrix, its transpose or its conjugate transpose."""
    if trans not in ("n", "N", "t", "T", "c", "C"):
        raise ValueError(f"expected trans to be 'N', 'T' or 'C', got {trans!r}")
    kind = trans.upper()
    return a if kind == "N" or a.ndim < 2 else a.T if kind == "T" else a.T.conj()


def _square(a: Any, name: str) -> Any:
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"{name}: expected a square matrix, got shape {a.shape}")
    return a


def _stored(result: Any, target: Any, overwrite: bool) -> Any:
    """A result, in the memory of the operand that may be overwritten."""
    if not overwrite:
        return result
    target[...] = result
    return target


# ---- Products ----------------------------------------------------------------------------------------------------------------------------


def dot(x_gpu: Any, y_gpu: Any, transa: str = "N", transb: str = "N", handle: Any = None, out: Any = None) -> Any:
    """The product op(x) @ op(y) of matrices, or the inner product of two vectors as a number."""
    x, y = _operated(x_gpu, transa), _operated(y_gpu, transb)
    if x.ndim == 1 and y.ndim == 1:
        if x.size != y.size:
            raise ValueError(f"dot: arrays must be of same length, got {x.size} and {y.size}")
        return bc.dot(x, y).item()
    return bc.matmul(x, y, out=out)


def mdot(*args: Any, handle: Any = None) -> Any:
    """The product of several matrices."""
    if not args:
        raise ValueError("mdot: no matrices specified")
    return args[0] if len(args) == 1 else bc.linalg.multi_dot(args)


def add_dot(
    a_gpu: Any, b_gpu: Any, c_gpu: Any, transa: str = "N", transb: str = "N", alpha: Any = 1.0, beta: Any = 1.0, handle: Any = None
) -> Any:
    """C = alpha * op(A) @ op(B) + beta * C in place; C is the result."""
    product = _operated(a_gpu, transa) @ _operated(b_gpu, transb)
    kind = c_gpu.dtype.type
    c_gpu[...] = kind(alpha) * product if beta == 0 else kind(alpha) * product + kind(beta) * c_gpu
    return c_gpu


def add_dot_strided(
    a_gpu: Any, b_gpu: Any, c_gpu: Any, transa: str = "N", transb: str = "N", alpha: Any = 1.0, beta: Any = 1.0, handle: Any = None
) -> Any:
    """`add_dot` for stacks of matrices, the stack along the first axis."""
    a, b = (x if t in "nN" else x.mT if t in "tT" else x.mT.conj() for x, t in ((a_gpu, transa), (b_gpu, transb)))
    kind = c_gpu.dtype.type
    c_gpu[...] = kind(alpha) * (a @ b) if beta == 0 else kind(alpha) * (a @ b) + kind(beta) * c_gpu
    return c_gpu


def dot_diag(d_gpu: Any, a_gpu: Any, trans: str = "N", overwrite: bool = False, handle: Any = None) -> Any:
    """The product diag(d) @ op(A)."""
    a = _operated(a_gpu, trans)
    if d_gpu.ndim != 1 or d_gpu.size != a.shape[0]:
        raise ValueError(f"dot_diag: incompatible dimensions: {d_gpu.shape} and {a.shape}")
    scaled = d_gpu[:, None] * a
    return _stored(_operated(scaled, trans) if overwrite else scaled, a_gpu, overwrite)


def add_diag(d_gpu: Any, a_gpu: Any, overwrite: bool = True, handle: Any = None) -> Any:
    """A + diag(d), in place unless `overwrite` is false."""
    target = a_gpu if overwrite else a_gpu.copy()
    n = min(target.shape)
    i = bc.arange(n, device=target.device)
    target[i, i] += d_gpu[:n]
    return target


def multiply(x_gpu: Any, y_gpu: Any, overwrite: bool = False) -> Any:
    """x * y element by element, into y where `overwrite` is true."""
    if x_gpu.shape != y_gpu.shape:
        raise ValueError(f"multiply: input arrays must have the same shape, got {x_gpu.shape} and {y_gpu.shape}")
    return _stored(x_gpu * y_gpu, y_gpu, overwrite)


def scale(alpha: Any, x_gpu: Any, alpha_real: bool = False, handle: Any = None) -> None:
    """x *= alpha in place."""
    factor = float(alpha) if alpha_real or x_gpu.dtype.kind == "f" else complex(alpha)
    x_gpu[...] = x_gpu * factor


# ---- Forms of matrices -------------------------------------------------------------------------------------------------------------------


def transpose(a_gpu: Any) -> Any:
    """The transpose, in memory of its own."""
    return bc.ascontiguousarray(a_gpu.T) if a_gpu.ndim > 1 else a_gpu.copy()


def hermitian(a_gpu: Any) -> Any:
    """The conjugate transpose, in memory of its own."""
    return bc.ascontiguousarray(a_gpu.T.conj())


def conj(x_gpu: Any, overwrite: bool = False) -> Any:
    """The complex conjugate, in place where `overwrite` is true."""
    return _stored(x_gpu.conj(), x_gpu, overwrite)


def diag(v_gpu: Any) -> Any:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
    return bc.diag(v_gpu).copy()


def eye(N: int, dtype: Any = "float32") -> Any:
    """The identity."""
    if N <= 0:
        raise ValueError(f"eye: N must be greater than 0, got {N}")
    return bc.eye(N, dtype=dtype)


def tril(a_gpu: Any, overwrite: bool = False, handle: Any = None) -> Any:
    """The lower triangle."""
    return _stored(bc.tril(_square(a_gpu, "tril")), a_gpu, overwrite)


def triu(a_gpu: Any, k: int = 0, overwrite: bool = False, handle: Any = None) -> Any:
    """The upper triangle, above diagonal `k`."""
    return _stored(bc.triu(_square(a_gpu, "triu"), k), a_gpu, overwrite)


def vander(a_gpu: Any, n: int | None = None, handle: Any = None) -> Any:
    """The powers 0 to n - 1 of a vector's elements, a column each."""
    return bc.vander(a_gpu.reshape(-1), n, increasing=True)


def trace(x_gpu: Any, handle: Any = None) -> Any:
    """The sum of the diagonal, a number."""
    if x_gpu.ndim != 2:
        raise ValueError(f"trace: only 2D matrices are supported, got shape {x_gpu.shape}")
    return bc.trace(x_gpu).item()


def norm(x_gpu: Any, handle: Any = None) -> float:
    """The Euclidean norm of all elements, a number."""
    return bc.linalg.norm(x_gpu.reshape(-1)).item()


# ---- Decompositions and systems ----------------------------------------------------------------------------------------------------------


def svd(a_gpu: Any, jobu: str = "A", jobvt: str = "A", lib: str = "cusolver") -> Any:
    """The singular value decomposition a = u @ diag(s) @ vh.

    `jobu` and `jobvt` are 'A' (all of u, of vh), 'S' (what belongs to singular values) or 'N' (none). The result is (u, s, vh), without
    what 'N' leaves out, and s alone where both are 'N'.
    """
    jobu, jobvt = jobu.upper(), jobvt.upper()
    if jobu not in ("A", "S", "N") or jobvt not in ("A", "S", "N"):
        raise ValueError(f"svd: expected jobu and jobvt to be 'A', 'S' or 'N', got {jobu!r} and {jobvt!r}")
    if jobu == "N" and jobvt == "N":
        return bc.linalg.svd(a_gpu, compute_uv=False)
    u, s, vh = bc.linalg.svd(a_gpu, full_matrices="A" in (jobu, jobvt))
    found = [s]
    if jobu != "N":
        found.insert(0, u if jobu == "A" else u[:, : s.size])
    if jobvt != "N":
        found.append(vh if jobvt == "A" else vh[: s.size])
    return tuple(found)


def rsvd(a_gpu: Any, k: int | None = None, p: int = 0, q: int = 0, method: str = "standard", handle: Any = None) -> Any:
    """The k largest singular values and their vectors (u, s, vh) by random projection (Halko, Martinsson & Tropp, 2011).

    Parameters
    ----------
    k : int
        How many.
    p : int
        How many more vectors are used for the projection.
    q : int
        How many times the range is improved by power iteration.
    method : {'standard', 'fast'}
        'fast' takes the vectors from the eigenvectors of a Gram matrix, which loses the small singular values' accuracy.
    """
    if k is None or not 0 < k <= min(a_gpu.shape):
        raise ValueError(f"rsvd: expected 0 < k <= {min(a_gpu.shape)}, got {k}")
    if method not in ("standard", "fast"):
        raise ValueError(f"rsvd: expected method to be 'standard' or 'fast', got {method!r}")
    width = min(k + p, *a_gpu.shape)
    sample = bc.random.standard_normal((a_gpu.shape[1], width)).to_device(a_gpu.device).astype(a_gpu.dtype)
    basis = bc.linalg.qr(a_gpu @ sample)[0]
    for _ in range(q):
        basis = bc.linalg.qr(a_gpu @ bc.linalg.qr(a_gpu.T.conj() @ basis)[0])[0]
    small = basis.T.conj() @ a_gpu
    if method == "fast":
        values, vectors = bc.linalg.eigh(small @ small.T.conj())
        s = bc.sqrt(bc.maximum(values[::-1], 0))
        vectors = vectors[:, ::-1]
        vh = (vectors.T.conj() @ small) / bc.where(s == 0, 1, s)[:, None].astype(a_gpu.dtype)
        return basis @ vectors[:, :k], s[:k], vh[:k]
    u, s, vh = bc.linalg.svd(small, full_matrices=False)
    return basis @ u[:, :k], s[:k], vh[:k]


def inv(a_gpu: Any, overwrite: bool = False, ipiv_gpu: Any = None, lib: str = "cusolver") -> Any:
    """The inverse. Raises LinAlgError where the matrix is singular."""
    return _stored(bc.linalg.inv(_square(a_gpu, "inv")), a_gpu, overwrite)


def pinv(a_gpu: Any, rcond: float = 1e-15, lib: str = "cusolver") -> Any:
    """The pseudo-inverse; singular values not above `rcond` times the largest one count as zero."""
    return bc.linalg.pinv(a_gpu, rcond)


def det(a_gpu: Any, overwrite: bool = False, workspace_gpu: Any = None, ipiv_gpu: Any = None, handle: Any = None, lib: Any = None) -> Any:
    """The determinant, a number. The matrix is left as it is, whatever `overwrite` says."""
    return bc.linalg.det(_square(a_gpu, "det")).item()


def qr(a_gpu: Any, mode: str = "reduced", handle: Any = None, lib: str = "cusolver") -> Any:
    """The factorization a = q @ r; `mode` is 'reduced', 'economic' (the same) or 'r' (r alone)."""
    if mode not in ("reduced", "economic", "r"):
        raise ValueError(f"qr: expected mode to be 'reduced', 'economic' or 'r', got {mode!r}")
    found = bc.linalg.qr(a_gpu, "r" if mode == "r" else "reduced")
    return found if mode == "r" else tuple(found)


def eig(a_gpu: Any, jobvl: str = "N", jobvr: str = "V", imag: str = "F", lib: str = "cusolver") -> Any:
    """The eigenvalues w of a matrix, and its left (`jobvl` 'V') and right (`jobvr` 'V') eigenvectors: (vl, vr, w), without what
    'N' leaves out.

    Of a real matrix the results are real where all eigenvalues are and `imag` is 'F', else complex.
    """
    from broadcloth.scipy.linalg import eig as general

    for value in (jobvl, jobvr):
        if value not in ("N", "V"):
            raise ValueError(f"eig: expected jobvl and jobvr to be 'N' or 'V', got {value!r}")
    left, right = jobvl == "V", jobvr == "V"
    found = general(_square(a_gpu, "eig"), None, left, right)
    w, *vectors = found if left or right else (found,)
    if a_gpu.dtype.kind == "f" and imag.upper() == "F" and not bool((w.imag != 0).any()):
        w, vectors = w.real, [v.real for v in vectors]
    return (*vectors, w) if vectors else w


def cholesky(a_gpu: Any, uplo: str = "L", lib: str = "cusolver") -> None:
    """The Cholesky factor in place of the matrix, zero beside it."""
    if uplo not in ("L", "U"):
        raise ValueError(f"cholesky: expected uplo to be 'L' or 'U', got {uplo!r}")
    a_gpu[...] = bc.linalg.cholesky(_square(a_gpu, "cholesky"), upper=uplo == "U")


cho_factor = cholesky


def cho_solve(a_gpu: Any, b_gpu: Any, uplo: str = "L", lib: str = "cusolver") -> None:
    """The solution of a @ x = b for a positive definite matrix, in place of b; a becomes its Cholesky factor."""
    from broadcloth.scipy.linalg import cho_solve as solve

    cholesky(a_gpu, uplo)
    b_gpu[...] = solve((a_gpu, uplo == "L"), b_gpu, check_finite=False)


class PCA:
    """Principal components of the rows of a matrix.

    Parameters
    ----------
    n_components : int, optional
        How many; all unless given.
    handle, epsilon, max_iter : optional
        Of no effect: components come from the singular value decomposition, not from an iteration.
    """

    def __init__(self, n_components: int | None = None, handle: Any = None, epsilon: float = 1e-7, max_iter: int = 10000) -> None:
        self.n_components = n_components

    def set_n_components(self, n_components: int | None) -> None:
        """How many components there will be."""
        self.n_components = n_components

    def get_n_components(self) -> int | None:
        """How many components there are."""
        return self.n_components

    def fit_transform(self, R_gpu: Any) -> Any:
        """The scores: the rows, less their mean, by the components. Columns are orthogonal, the largest first."""
        if R_gpu.ndim != 2:
            raise ValueError(f"PCA: expected a matrix, got shape {R_gpu.shape}")
        u, s, _ = bc.linalg.svd(R_gpu - bc.mean(R_gpu, 0), full_matrices=False)
        return u[:, : self.n_components] * s[: self.n_components]

__dir__ = listing(__all__)
