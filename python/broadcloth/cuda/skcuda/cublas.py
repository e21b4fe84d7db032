"""cuBLAS by handles and pointers, as `skcuda.cublas` has it.

Each function is there for the dtypes of its letters: ``cublasSaxpy`` (float32), ``cublasDaxpy`` (float64), ``cublasCaxpy`` (complex64),
``cublasZaxpy`` (complex128). Matrices lie column by column. A pointer is ``x.gpudata``, an address or an array. Numbers that scale are
Python's, and results that are one number are returned as such.

Examples
--------
>>> from broadcloth.cuda.skcuda import cublas
>>> x, y = bc.array([1.0, 2.0]), bc.array([10.0, 20.0])
>>> handle = cublas.cublasCreate()
>>> cublas.cublasDaxpy(handle, 2, 3.0, x.gpudata, 1, y.gpudata, 1)
>>> y
array([13., 26.])
>>> cublas.cublasDestroy(handle)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import broadcloth as bc

from ._memory import LETTERS, Handle, at, checked, matrix, vector

_CUBLAS_OP = {0: 0, "n": 0, "N": 0, 1: 1, "t": 1, "T": 1, 2: 2, "c": 2, "C": 2}
_TRANSPOSED = {"n": "n", "N": "n", 0: "n", "t": "t", "T": "t", 1: "t", "c": "c", "C": "c", 2: "c"}
_LOWER = {"l": True, "L": True, 0: True, "u": False, "U": False, 1: False}
_LEFT = {"l": True, "L": True, 0: True, "r": False, "R": False, 1: False}
_UNIT = {"n": False, "N": False, 0: False, "u": True, "U": True, 1: True}


def cublasCreate() -> Handle:
    """A handle for the calls of this module."""
    return Handle()


def cublasDestroy(handle: Handle) -> None:
    """Ends a handle's life; calls that name it raise from then on."""
    checked("cublasDestroy", handle)
    handle.destroy("cublasDestroy")


def cublasSetStream(handle: Handle, id: Any) -> None:
    """The stream in which calls with this handle run; None for the current one."""
    checked("cublasSetStream", handle)
    handle.stream = id


def cublasGetStream(handle: Handle) -> Any:
    """The stream that was set."""
    checked("cublasGetStream", handle)
    return handle.stream


def _meaning(function: str, name: str, table: dict[Any, Any], value: Any) -> Any:
    if value not in table:
        raise ValueError(f"{function}: expected {name} among {sorted({k for k in table if isinstance(k, str)})}, got {value!r}")
    return table[value]


def _operated(function: str, trans: Any, a: Any) -> Any:
    """A matrix, its transpose or its conjugate transpose."""
    kind = _meaning(function, "trans", _TRANSPOSED, trans)
    return a if kind == "n" else a.T if kind == "t" else a.T.conj()


def _stored_shape(function: str, trans: Any, rows: int, columns: int) -> tuple[int, int]:
    return (rows, columns) if _meaning(function, "trans", _TRANSPOSED, trans) == "n" else (columns, rows)


def _number(value: Any, dtype: str) -> Any:
    return bc.dtype(dtype).type(value)


def _combined(product: Any, beta: Any, target: Any, dtype: str) -> None:
    """target = product + beta * target; the target is not read where beta is 0."""
    target[...] = product if beta == 0 else product + _number(beta, dtype) * target


def _triangle(a: Any, lower: bool, unit: bool) -> Any:
    kept = bc.tril(a, -1 if unit else 0) if lower else bc.triu(a, 1 if unit else 0)
    return kept + bc.eye(a.shape[0], dtype=a.dtype, device=a.device) if unit else kept


def _mirrored(a: Any, lower: bool, hermitian: bool) -> Any:
    """The symmetric or Hermitian matrix of which one triangle is stored."""
    beside = bc.tril(a, -1) if lower else bc.triu(a, 1)
    diagonal = bc.diagonal(a).real.astype(a.dtype) if hermitian else bc.diagonal(a)
    return beside + bc.diag(diagonal) + (beside.T.conj() if hermitian else beside.T)


def _store_triangle(target: Any, values: Any, lower: bool) -> None:
    i = bc.arange(target.shape[0], device=target.device)
    mask = i[:, None] >= i if lower else i[:, None] <= i
    target[...] = bc.where(mask, values, target)


# ---- Bodies: the dtype comes first, and the function's name for errors -------------------------------------------------------------------


def _axpy(name, dtype, n, alpha, x, incx, y, incy):
    target = vector(y, n, dtype, incy, name)
    target[...] = target + _number(alpha, dtype) * vector(x, n, dtype, incx, name)


def _copy(name, dtype, n, x, incx, y, incy):
    vector(y, n, dtype, incy, name)[...] = vector(x, n, dtype, incx, name)


def _swap(name, dtype, n, x, incx, y, incy):
    a, b = vector(x, n, dtype, incx, name), vector(y, n, dtype, incy, name)
    kept = a.copy()
    a[...] = b
    b[...] = kept


def _scal(name, dtype, n, alpha, x, incx):
    target = vector(x, n, dtype, incx, name)
    target[...] = _number(alpha, dtype) * target


def _real_scal(name, dtype, n, alpha, x, incx):
    target = vector(x, n, dtype, incx, name)
    target[...] = target * float(alpha)


def _dot(name, dtype, n, x, incx, y, incy):
    return bc.dot(vector(x, n, dtype, incx, name), vector(y, n, dtype, incy, name)).item()


def _dotc(name, dtype, n, x, incx, y, incy):
    return bc.vdot(vector(x, n, dtype, incx, name), vector(y, n, dtype, incy, name)).item()


def _nrm2(name, dtype, n, x, incx):
    return bc.linalg.norm(vector(x, n, dtype, incx, name)).item()


def _absolute_sum(name, dtype, n, x, incx):
    return _magnitude(vector(x, n, dtype, incx, name)).sum().item()


def _magnitude(x: Any) -> Any:
    """|re| + |im|, by which BLAS compares and adds complex numbers."""
    return abs(x.real) + abs(x.imag) if x.dtype.kind == "c" else abs(x)


def _amax(name, dtype, n, x, incx):
    return int(_magnitude(vector(x, n, dtype, incx, name)).argmax()) if n else -1


def _amin(name, dtype, n, x, incx):
    return int(_magnitude(vector(x, n, dtype, incx, name)).argmin()) if n else -1


def _rot(name, dtype, n, x, incx, y, incy, c, s):
    a, b = vector(x, n, dtype, incx, name), vector(y, n, dtype, incy, name)
    sine = _number(s, dtype)
    left, right = float(c) * a + sine * b, float(c) * b - sine.conjugate() * a
    a[...] = left
    b[...] = right


def _gemv(name, dtype, trans, m, n, alpha, A, lda, x, incx, beta, y, incy):
    a = _operated(name, trans, matrix(A, m, n, dtype, lda, name, "a"))
    product = _number(alpha, dtype) * (a @ vector(x, a.shape[1], dtype, incx, name))
    _combined(product, beta, vector(y, a.shape[0], dtype, incy, name), dtype)


def _ger(name, dtype, m, n, alpha, x, incx, y, incy, A, lda):
    target = matrix(A, m, n, dtype, lda, name, "a")
    target[...] = target + _number(alpha, dtype) * bc.outer(vector(x, m, dtype, incx, name), vector(y, n, dtype, incy, name))


def _gerc(name, dtype, m, n, alpha, x, incx, y, incy, A, lda):
    target = matrix(A, m, n, dtype, lda, name, "a")
    target[...] = target + _number(alpha, dtype) * bc.outer(vector(x, m, dtype, incx, name), vector(y, n, dtype, incy, name).conj())


def _symmetric_mv(hermitian, name, dtype, uplo, n, alpha, A, lda, x, incx, beta, y, incy):
    a = _mirrored(matrix(A, n, n, dtype, lda, name, "a"), _meaning(name, "uplo", _LOWER, uplo), hermitian)
    _combined(_number(alpha, dtype) * (a @ vector(x, n, dtype, incx, name)), beta, vector(y, n, dtype, incy, name), dtype)


def _symmetric_r(hermitian, name, dtype, uplo, n, alpha, x, incx, A, lda):
    target, v = matrix(A, n, n, dtype, lda, name, "a"), vector(x, n, dtype, incx, name)
    added = target + _number(alpha, dtype) * bc.outer(v, v.conj() if hermitian else v)
    _store_triangle(target, added, _meaning(name, "uplo", _LOWER, uplo))


def _trmv(name, dtype, uplo, trans, diag, n, A, lda, x, incx):
    a = matrix(A, n, n, dtype, lda, name, "a")
    a = _triangle(a, _meaning(name, "uplo", _LOWER, uplo), _meaning(name, "diag", _UNIT, diag))
    target = vector(x, n, dtype, incx, name)
    target[...] = _operated(name, trans, a) @ target


def _solved(name: str, a: Any, b: Any, uplo: Any, trans: Any, diag: Any) -> Any:
    from broadcloth.scipy.linalg import solve_triangular

    lower, unit = _meaning(name, "uplo", _LOWER, uplo), _meaning(name, "diag", _UNIT, diag)
    return solve_triangular(a, b, _meaning(name, "trans", _TRANSPOSED, trans).upper(), lower, unit, check_finite=False)


def _trsv(name, dtype, uplo, trans, diag, n, A, lda, x, incx):
    target = vector(x, n, dtype, incx, name)
    target[...] = _solved(name, matrix(A, n, n, dtype, lda, name, "a"), target, uplo, trans, diag)


def _gemm(name, dtype, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):
    a = _operated(name, transa, matrix(A, *_stored_shape(name, transa, m, k), dtype, lda, name, "a"))
    b = _operated(name, transb, matrix(B, *_stored_shape(name, transb, k, n), dtype, ldb, name, "b"))
    _combined(_number(alpha, dtype) * (a @ b), beta, matrix(C, m, n, dtype, ldc, name, "c"), dtype)


def _gemm_strided(name, dtype, transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB, beta, C, ldc, strideC, batchCount):
    def stack(pointer: Any, trans: Any, rows: int, columns: int, leading: int, step: int) -> Any:
        shape = _stored_shape(name, trans, rows, columns)
        if leading < max(1, shape[0]):
            raise ValueError(f"{name}: expected a leading dimension >= {max(1, shape[0])}, got {leading}")
        a = at(pointer, (batchCount, *shape), dtype, (step, 1, leading))
        kind = _meaning(name, "trans", _TRANSPOSED, trans)
        return a if kind == "n" else a.mT if kind == "t" else a.mT.conj()

    product = stack(A, transa, m, k, lda, strideA) @ stack(B, transb, k, n, ldb, strideB)
    _combined(_number(alpha, dtype) * product, beta, stack(C, "n", m, n, ldc, strideC), dtype)


def _symmetric_mm(hermitian, name, dtype, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc):
    left = _meaning(name, "side", _LEFT, side)
    order = m if left else n
    a = _mirrored(matrix(A, order, order, dtype, lda, name, "a"), _meaning(name, "uplo", _LOWER, uplo), hermitian)
    b = matrix(B, m, n, dtype, ldb, name, "b")
    _combined(_number(alpha, dtype) * (a @ b if left else b @ a), beta, matrix(C, m, n, dtype, ldc, name, "c"), dtype)


def _rank_k(hermitian, name, dtype, uplo, trans, n, k, alpha, A, lda, beta, C, ldc):
    a = _operated(name, trans, matrix(A, *_stored_shape(name, trans, n, k), dtype, lda, name, "a"))
    target = matrix(C, n, n, dtype, ldc, name, "c")
    product = _number(alpha, dtype) * (a @ (a.T.conj() if hermitian else a.T))
    values = product if beta == 0 else product + _number(beta, dtype) * target
    _store_triangle(target, values, _meaning(name, "uplo", _LOWER, uplo))


def _trmm(name, dtype, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, C, ldc):
    left = _meaning(name, "side", _LEFT, side)
    order = m if left else n
    a = matrix(A, order, order, dtype, lda, name, "a")
    a = _operated(name, trans, _triangle(a, _meaning(name, "uplo", _LOWER, uplo), _meaning(name, "diag", _UNIT, diag)))
    b = matrix(B, m, n, dtype, ldb, name, "b")
    matrix(C, m, n, dtype, ldc, name, "c")[...] = _number(alpha, dtype) * (a @ b if left else b @ a)


def _trsm(name, dtype, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb):
    left = _meaning(name, "side", _LEFT, side)
    order = m if left else n
    a, target = matrix(A, order, order, dtype, lda, name, "a"), matrix(B, m, n, dtype, ldb, name, "b")
    right = _number(alpha, dtype) * target
    if left:
        target[...] = _solved(name, a, right, uplo, trans, diag)
        return
    # X @ op(A) = B is op(A).T @ X.T = B.T; the conjugate is taken off A where op is its conjugate transpose.
    kind = _meaning(name, "trans", _TRANSPOSED, trans)
    a = a.conj() if kind == "c" else a
    target[...] = _solved(name, a, right.T, uplo, "T" if kind == "n" else "N", diag).T


def _geam(name, dtype, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc):
    target = matrix(C, m, n, dtype, ldc, name, "c")
    total = bc.zeros_like(target)
    for factor, trans, pointer, leading, which in ((alpha, transa, A, lda, "a"), (beta, transb, B, ldb, "b")):
        if factor != 0:
            a = matrix(pointer, *_stored_shape(name, trans, m, n), dtype, leading, name, which)
            total = total + _number(factor, dtype) * _operated(name, trans, a)
    target[...] = total


def _dgmm(name, dtype, mode, m, n, A, lda, x, incx, C, ldc):
    a = matrix(A, m, n, dtype, lda, name, "a")
    if _meaning(name, "side", _LEFT, mode):
        scaled = a * vector(x, m, dtype, incx, name)[:, None]
    else:
        scaled = a * vector(x, n, dtype, incx, name)
    matrix(C, m, n, dtype, ldc, name, "c")[...] = scaled


_part = functools.partial
# Body, what it does, and its names with the letter of its dtype.
_TABLE: list[tuple[Callable[..., Any], str, str]] = [
    (_axpy, "y += alpha * x.", "Saxpy Daxpy Caxpy Zaxpy"),
    (_copy, "y = x.", "Scopy Dcopy Ccopy Zcopy"),
    (_swap, "Exchanges x and y.", "Sswap Dswap Cswap Zswap"),
    (_scal, "x *= alpha.", "Sscal Dscal Cscal Zscal"),
    (_real_scal, "x *= alpha for a real alpha.", "C:Csscal Z:Zdscal"),
    (_dot, "The sum of x * y.", "Sdot Ddot C:Cdotu Z:Zdotu"),
    (_dotc, "The sum of conj(x) * y.", "C:Cdotc Z:Zdotc"),
    (_nrm2, "The Euclidean norm of x.", "Snrm2 Dnrm2 C:Scnrm2 Z:Dznrm2"),
    (_absolute_sum, "The sum of |re(x)| + |im(x)|.", "Sasum Dasum C:Scasum Z:Dzasum"),
    (_amax, "The place of the first largest |re(x)| + |im(x)|, counted from 0.", "S:Isamax D:Idamax C:Icamax Z:Izamax"),
    (_amin, "The place of the first smallest |re(x)| + |im(x)|, counted from 0.", "S:Isamin D:Idamin C:Icamin Z:Izamin"),
    (_rot, "x, y = c * x + s * y, c * y - conj(s) * x.", "Srot Drot Crot Zrot C:Csrot Z:Zdrot"),
    (_gemv, "y = alpha * op(A) @ x + beta * y.", "Sgemv Dgemv Cgemv Zgemv"),
    (_ger, "A += alpha * outer(x, y).", "Sger Dger C:Cgeru Z:Zgeru"),
    (_gerc, "A += alpha * outer(x, conj(y)).", "C:Cgerc Z:Zgerc"),
    (_part(_symmetric_mv, False), "y = alpha * A @ x + beta * y for a symmetric A.", "Ssymv Dsymv Csymv Zsymv"),
    (_part(_symmetric_mv, True), "y = alpha * A @ x + beta * y for a Hermitian A.", "Chemv Zhemv"),
    (_part(_symmetric_r, False), "A += alpha * outer(x, x) in one triangle.", "Ssyr Dsyr Csyr Zsyr"),
    (_part(_symmetric_r, True), "A += alpha * outer(x, conj(x)) in one triangle.", "Cher Zher"),
    (_trmv, "x = op(A) @ x for a triangular A.", "Strmv Dtrmv Ctrmv Ztrmv"),
    (_trsv, "Solves op(A) @ x = x for a triangular A, in place.", "Strsv Dtrsv Ctrsv Ztrsv"),
    (_gemm, "C = alpha * op(A) @ op(B) + beta * C.", "Sgemm Dgemm Cgemm Zgemm"),
    (
        _gemm_strided,
        "C = alpha * op(A) @ op(B) + beta * C for matrices at steps.",
        "SgemmStridedBatched DgemmStridedBatched CgemmStridedBatched ZgemmStridedBatched",
    ),
    (_part(_symmetric_mm, False), "C = alpha * A @ B + beta * C, or B @ A, for a symmetric A.", "Ssymm Dsymm Csymm Zsymm"),
    (_part(_symmetric_mm, True), "C = alpha * A @ B + beta * C, or B @ A, for a Hermitian A.", "Chemm Zhemm"),
    (_part(_rank_k, False), "C = alpha * op(A) @ op(A).T + beta * C in one triangle.", "Ssyrk Dsyrk Csyrk Zsyrk"),
    (_part(_rank_k, True), "C = alpha * op(A) @ op(A).T.conj() + beta * C in one triangle.", "Cherk Zherk"),
    (_trmm, "C = alpha * op(A) @ B, or B @ op(A), for a triangular A.", "Strmm Dtrmm Ctrmm Ztrmm"),
    (_trsm, "Solves op(A) @ X = alpha * B, or X @ op(A), for a triangular A, into B.", "Strsm Dtrsm Ctrsm Ztrsm"),
    (_geam, "C = alpha * op(A) + beta * op(B).", "Sgeam Dgeam Cgeam Zgeam"),
    (_dgmm, "C = diag(x) @ A, or A @ diag(x).", "Sdgmm Ddgmm Cdgmm Zdgmm"),
]


def _function(name: str, body: Callable[..., Any], dtype: str, text: str) -> Callable[..., Any]:
    plain = body.func if isinstance(body, functools.partial) else body
    taken = 1 if isinstance(body, functools.partial) else 0
    names = plain.__code__.co_varnames[taken + 2 : plain.__code__.co_argcount]

    def call(handle: Handle, *args: Any, **kwargs: Any) -> Any:
        with checked(name, handle):
            return body(name, dtype, *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{text} Elements are {dtype}.\n\nParameters: {', '.join(('handle', *names))}."
    return call


__all__ = ["cublasCreate", "cublasDestroy", "cublasGetStream", "cublasSetStream"]
for _body, _text, _names in _TABLE:
    for _spelled in _names.split():
        _letter, _, _short = _spelled.rpartition(":")
        _name = f"cublas{_short}"
        globals()[_name] = _function(_name, _body, LETTERS[_letter or _short[0]], _text)
        __all__.append(_name)
