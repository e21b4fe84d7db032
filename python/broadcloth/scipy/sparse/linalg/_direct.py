"""Direct solvers of sparse systems: SuperLU's factorizations, which SciPy brings along, and LAPACK's of dense matrices.

SuperLU runs on the host. A GPU's matrices are copied there and solutions back, with a `PerformanceWarning`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from .... import _broadcloth as _c
from ...._broadcloth import ndarray
from ...._warnings import warn
from ....exceptions import PerformanceWarning
from ._operators import LinearOperator, device_of, is_sparse, ours, promoted

if TYPE_CHECKING:
    from ....typing import ArrayLike


class MatrixRankWarning(UserWarning):
    """A sparse system's matrix is singular; its solution is NaN.

    Examples
    --------
    >>> issubclass(bc.scipy.sparse.linalg.MatrixRankWarning, UserWarning)
    True
    """


def _scipy() -> Any:
    try:
        import scipy.sparse.linalg
    except ImportError:
        raise ImportError("direct solvers of sparse systems use SuperLU, which SciPy brings along: install scipy") from None
    return scipy


def _on_host(name: str, A: Any) -> tuple[Any, Any]:
    """A matrix as SciPy's by columns over host memory, and the device where it lies."""
    scipy = _scipy()
    if not is_sparse(A):
        A = _c.asarray(A)
        if A.ndim != 2:
            raise ValueError(f"{name}: expected a matrix, got shape {A.shape}")
        device = A.device
        host = scipy.sparse.csc_array(_c.asnumpy(A))
    elif type(A).__module__.partition(".")[0] == "scipy":
        device, host = _c.default_device(), scipy.sparse.csc_array(A)
    else:
        device = device_of(A)
        matrix = A if A.format in ("csc", "csr") else A.tocsc()
        kind = scipy.sparse.csc_array if matrix.format == "csc" else scipy.sparse.csr_array
        parts = tuple(_c.asnumpy(_c.asarray(x)) for x in (matrix.data, matrix.indices, matrix.indptr))
        host = scipy.sparse.csc_array(kind(parts, shape=matrix.shape))
    if device is not None and device.type != "cpu":
        warn(f"{name} factorizes by SuperLU on a copy in host memory", PerformanceWarning)
    return host.astype(promoted(host.dtype)), device


@functools.cache
def _superlu() -> Any:
    """SciPy's extension that calls SuperLU; None where SciPy has it under another name. Its functions take arrays, and matrices of SciPy's,
    whose construction takes longer than a small factorization, need not be made."""
    _scipy()
    try:
        from scipy.sparse.linalg._dsolve import _superlu
    except ImportError:
        return None
    return _superlu if hasattr(_superlu, "gstrf") and hasattr(_superlu, "gssv") else None


def _parts(A: Any) -> tuple[Any, ...] | None:
    """Elements, int32 indices and pointers in host memory, of a square canonical compressed matrix of ours on the CPU; None for any
    other matrix."""
    if not is_sparse(A) or getattr(A, "format", "") not in ("csc", "csr") or not isinstance(A.data, ndarray) or A.device.type != "cpu":
        return None
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.indices.dtype != np.int32 or A.indptr.dtype != np.int32 or not A.nnz:
        return None
    return tuple(map(_c.asnumpy, (A.data, A.indices, A.indptr))) if A.has_canonical_format else None


def _by_columns(parts: tuple[Any, ...], *args: Any, **kwargs: Any) -> Any:
    from ... import sparse

    return sparse.csc_array(parts, *args, **kwargs)


def _factorized(A: Any, ilu: bool, options: dict[str, Any]) -> SuperLU | None:
    """SuperLU's factorization of a matrix as `_parts` takes it; None for any other matrix."""
    extension = _superlu()
    matrix = A if getattr(A, "format", "csc") == "csc" or not is_sparse(A) else A.tocsc()
    parts = _parts(matrix) if extension is not None else None
    if parts is None:
        return None
    data, indices, indptr = parts
    data = data.astype(promoted(data.dtype), copy=False)
    chosen = {name: value for name, value in options.items() if value is not None}
    if chosen.get("ColPerm") == "NATURAL":
        chosen["SymmetricMode"] = True
    n = A.shape[0]
    factors = extension.gstrf(n, data.size, data, indices, indptr, csc_construct_func=_by_columns, ilu=ilu, options=chosen)
    return SuperLU(factors, data.dtype, A.device)


def _square(name: str, host: Any) -> Any:
    if host.shape[0] != host.shape[1]:
        raise ValueError(f"can only factor square matrices, got shape {host.shape}" if name != "spsolve" else
                         f"matrix must be square (has shape {host.shape})")  # fmt: skip
    return host


class SuperLU:
    """A sparse LU factorization Pr @ A @ Pc = L @ U; made by `splu` and `spilu`.

    Attributes
    ----------
    shape : tuple of ints
    nnz : int
        How many elements the factors have.
    perm_r, perm_c : ndarray
        The permutations of rows and columns.
    L, U : csc_array
        The factors.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.splu(bc.array([[2.0, 0.0], [1.0, 4.0]])).solve(bc.array([2.0, 9.0]))
    array([1., 2.])
    """

    def __init__(self, factors: Any, dtype: Any, device: Any) -> None:
        self._factors, self._dtype, self._device = factors, np.dtype(dtype), device
        self.shape: tuple[int, int] = factors.shape
        self.nnz: int = factors.nnz

    @property
    def perm_r(self) -> ndarray:
        """The place of each row of A."""
        return _c.asarray(self._factors.perm_r, device=self._device)

    @property
    def perm_c(self) -> ndarray:
        """The place of each column of A."""
        return _c.asarray(self._factors.perm_c, device=self._device)

    def _factor(self, factor: Any) -> Any:
        return factor if isinstance(factor.data, ndarray) else _by_columns(factor)

    @property
    def L(self) -> Any:
        """The lower factor, with ones on its diagonal."""
        return self._factor(self._factors.L)

    @property
    def U(self) -> Any:
        """The upper factor."""
        return self._factor(self._factors.U)

    def solve(self, rhs: ArrayLike, trans: str = "N") -> ndarray:
        """The solution of A @ x = rhs, or with `trans` 'T' and 'H' of A.T @ x or A.conj().T @ x, for a vector or columns."""
        if trans not in ("N", "T", "H"):
            raise ValueError(f"trans must be N, T, or H, got {trans!r}")
        b = rhs if type(rhs) is ndarray else _c.asarray(rhs)
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise ValueError(f"rhs is of incompatible size: expected {self.shape[0]} rows, got shape {b.shape}")
        host = _c.asnumpy(b)
        if host.dtype == self._dtype:
            return _c.asarray(self._factors.solve(host, trans), device=b.device)
        if host.dtype.kind == "c" and self._dtype.kind != "c":
            parts = [self._factors.solve(np.asfortranarray(part.astype(self._dtype)), trans) for part in (host.real, host.imag)]
            solved = parts[0] + 1j * parts[1]
        else:
            solved = self._factors.solve(host.astype(self._dtype), trans)
        return _c.asarray(solved, device=b.device)


def splu(
    A: Any,
    permc_spec: str | None = None,
    diag_pivot_thresh: float | None = None,
    relax: int | None = None,
    panel_size: int | None = None,
    options: dict[str, Any] | None = None,
) -> SuperLU:
    """The LU factorization of a sparse square matrix, by SuperLU on the host.

    Parameters
    ----------
    A : sparse matrix or ndarray, (n, n)
    permc_spec : {'COLAMD', 'NATURAL', 'MMD_ATA', 'MMD_AT_PLUS_A'}, optional
        The order of the columns.
    diag_pivot_thresh, relax, panel_size, options : optional
        SuperLU's.

    Raises
    ------
    RuntimeError
        The matrix is singular.

    Examples
    --------
    >>> lu = bc.scipy.sparse.linalg.splu(bc.array([[2.0, 0.0], [1.0, 4.0]]))
    >>> lu.solve(bc.array([2.0, 9.0]))
    array([1., 2.])
    """
    given = options or {}
    known = {"DiagPivotThresh": diag_pivot_thresh, "ColPerm": permc_spec, "PanelSize": panel_size, "Relax": relax}
    if (made := _factorized(A, False, known | given)) is not None:
        return made
    host, device = _on_host("splu", A)
    _square("splu", host)
    factors = _scipy().sparse.linalg.splu(
        host, permc_spec=permc_spec, diag_pivot_thresh=diag_pivot_thresh, relax=relax, panel_size=panel_size, options=options or {}
    )
    return SuperLU(factors, host.dtype, device)


def spilu(
    A: Any,
    drop_tol: float | None = None,
    fill_factor: float | None = None,
    drop_rule: str | None = None,
    permc_spec: str | None = None,
    diag_pivot_thresh: float | None = None,
    relax: int | None = None,
    panel_size: int | None = None,
    options: dict[str, Any] | None = None,
) -> SuperLU:
    """An incomplete LU factorization of a sparse square matrix, by SuperLU on the host: a preconditioner, through its `solve`.

    Parameters
    ----------
    A : sparse matrix or ndarray, (n, n)
    drop_tol : float, optional
        Elements below it (1e-4), relative to their column, are left out.
    fill_factor : float, optional
        How many times the elements of A the factors may have (10).
    drop_rule : str, optional
        SuperLU's rules, with commas between.
    permc_spec, diag_pivot_thresh, relax, panel_size, options : optional
        As `splu`'s.

    Examples
    --------
    >>> A = bc.array([[4.0, 1.0], [1.0, 3.0]])
    >>> M = bc.scipy.sparse.linalg.LinearOperator((2, 2), bc.scipy.sparse.linalg.spilu(A).solve, dtype="float64")
    >>> bc.scipy.sparse.linalg.cg(A, bc.array([5.0, 4.0]), M=M)[0].round(6)
    array([1., 1.])
    """
    known = {
        "ILU_DropRule": drop_rule, "ILU_DropTol": drop_tol, "ILU_FillFactor": fill_factor, "DiagPivotThresh": diag_pivot_thresh,
        "ColPerm": permc_spec, "PanelSize": panel_size, "Relax": relax,
    }  # fmt: skip
    if (made := _factorized(A, True, known | (options or {}))) is not None:
        return made
    host, device = _on_host("spilu", A)
    _square("spilu", host)
    factors = _scipy().sparse.linalg.spilu(
        host, drop_tol=drop_tol, fill_factor=fill_factor, drop_rule=drop_rule, permc_spec=permc_spec,
        diag_pivot_thresh=diag_pivot_thresh, relax=relax, panel_size=panel_size, options=options or {},
    )  # fmt: skip
    return SuperLU(factors, host.dtype, device)


def factorized(A: Any) -> Callable[[Any], ndarray]:
    """A function that solves A @ x = b for each b it is called with, by `splu`.

    Examples
    --------
    >>> solve = bc.scipy.sparse.linalg.factorized(bc.array([[2.0, 0.0], [1.0, 4.0]]))
    >>> solve(bc.array([2.0, 9.0]))
    array([1., 2.])
    """
    return splu(A).solve


def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True) -> Any:
    """The solution of A @ x = b for a sparse square matrix, by SuperLU on the host.

    Parameters
    ----------
    A : sparse matrix or ndarray, (n, n)
    b : array_like or sparse matrix, (n,) or (n, k)
        A sparse right side gives a sparse solution.
    permc_spec : str, optional
        As `splu`'s.
    use_umfpack : bool
        Of no effect: SuperLU solves.

    Returns
    -------
    x : ndarray or sparse matrix
        NaN, with a `MatrixRankWarning`, where the matrix is singular.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.spsolve(bc.array([[2.0, 0.0], [1.0, 4.0]]), bc.array([2.0, 9.0]))
    array([1., 2.])
    """
    if type(b) is ndarray and (found := _solved(A, b, permc_spec)) is not None:
        return found
    host, device = _on_host("spsolve", A)
    _square("spsolve", host)
    right = ours(b).toarray() if is_sparse(b) else _c.asarray(b, device=device)
    # As in SciPy, a single column gives a vector, in whatever form it comes.
    sparse_right = is_sparse(b) and right.ndim == 2 and right.shape[1] != 1
    if right.ndim not in (1, 2) or right.shape[0] != host.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({host.shape} - {right.shape[0] if right.ndim else 0})")
    dtype = promoted(host.dtype, right.dtype)
    columns = right.astype(dtype)
    flat = columns.ndim == 2 and columns.shape[1] == 1 and not sparse_right
    try:
        factors = _scipy().sparse.linalg.splu(host.astype(dtype), permc_spec=permc_spec)
    except RuntimeError as error:
        if "singular" not in str(error):
            raise
        warn("Matrix is exactly singular", MatrixRankWarning)
        found = _c.full(columns.shape, np.nan, dtype, device=device)
    else:
        found = SuperLU(factors, dtype, device).solve(columns)
    if sparse_right:
        from ... import sparse

        form = "csr" if getattr(A, "format", None) == "csr" else "csc"
        kind = "matrix" if type(A).__name__.endswith("matrix") else "array"
        return getattr(sparse, f"{form}_{kind}")(found)
    return found.reshape(-1) if flat else found


def _solved(A: Any, b: ndarray, permc_spec: str | None) -> ndarray | None:
    """spsolve of a dense right side and a matrix as `_parts` takes it; None for others."""
    extension = _superlu()
    parts = _parts(A) if extension is not None else None
    if parts is None or b.device.type != "cpu" or b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        return None
    data, indices, indptr = parts
    dtype = promoted(data.dtype, b.dtype)
    data, right = data.astype(dtype, copy=False), _c.asnumpy(b).astype(dtype, copy=False)
    options = {} if permc_spec is None else {"ColPerm": permc_spec}
    found, info = extension.gssv(A.shape[0], data.size, data, indices, indptr, right, 1 if A.format == "csc" else 0, options=options)
    if info != 0:
        warn("Matrix is exactly singular", MatrixRankWarning)
        found.fill(np.nan)
    return _c.asarray(found.ravel() if b.ndim == 1 or b.shape[1] == 1 else found)


def spsolve_triangular(
    A: Any, b: ArrayLike, lower: bool = True, overwrite_A: bool = False, overwrite_b: bool = False, unit_diagonal: bool = False
) -> ndarray:
    """The solution of A @ x = b for a triangular sparse matrix, on the host.

    Parameters
    ----------
    A : sparse matrix or ndarray, (n, n)
    b : array_like, (n,) or (n, k)
    lower : bool
        Whether A is lower triangular, else upper.
    overwrite_A, overwrite_b : bool
        Operands are never overwritten.
    unit_diagonal : bool
        Whether the diagonal is taken for ones and not read.

    Raises
    ------
    LinAlgError
        There is a zero on the diagonal, or elements in the other triangle.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.spsolve_triangular(bc.array([[2.0, 0.0], [1.0, 4.0]]), bc.array([2.0, 9.0]))
    array([1., 2.])
    """
    if type(b) is ndarray and b.ndim in (1, 2) and _parts(A) is not None and b.shape[0] == A.shape[0] and b.device.type == "cpu":
        dtype = promoted(A.dtype, b.dtype)
        data, right = A.data.astype(dtype, copy=False), b.astype(dtype, copy=False)
        found = _c.sparse_triangular_solve(data, A.indices, A.indptr, right, bool(lower), bool(unit_diagonal), A.format == "csc")
        if found is not None:
            return found
    host, device = _on_host("spsolve_triangular", A)
    if host.shape[0] != host.shape[1]:
        raise ValueError(f"A must be a square matrix but its shape is {host.shape}.")
    right = _c.asarray(b, device=device)
    if right.ndim not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {right.shape}.")
    if right.shape[0] != host.shape[0]:
        raise ValueError(f"The size of the dimensions of A must be equal to the size of the first dimension of b but the shape of A is "
                         f"{host.shape} and the shape of b is {right.shape}.")  # fmt: skip
    dtype = promoted(host.dtype, right.dtype)
    values = _c.asnumpy(right.astype(dtype))
    try:
        solved = _scipy().sparse.linalg.spsolve_triangular(host.tocsr().astype(dtype), values, lower=lower, unit_diagonal=unit_diagonal)
    except LinAlgError as error:
        raise LinAlgError(str(error)) from None
    return _c.asarray(np.ascontiguousarray(solved), device=device)


def use_solver(*, useUmfpack: bool = True, assumeSortedIndices: bool = False) -> None:
    """Nothing: SuperLU solves, whatever is chosen.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.use_solver(useUmfpack=False)
    """


def factor_operator(A: Any) -> LinearOperator:
    """The operator of a matrix' inverse, by a factorization: LAPACK's of a dense one, SuperLU's of a sparse one."""
    if is_sparse(A):
        lu = splu(A)
        found = LinearOperator(lu.shape, lu.solve, lambda b: lu.solve(b, "H"), dtype=lu._dtype)
    else:
        from ...linalg import lu_factor, lu_solve

        factors = lu_factor(A)
        solve = lambda b: lu_solve(factors, b, check_finite=False)
        found = LinearOperator(A.shape, solve, lambda b: lu_solve(factors, b, 2, check_finite=False), dtype=factors[0].dtype)
    found.device = device_of(A)
    return found
