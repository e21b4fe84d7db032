"""cuSOLVER's dense calls by handles and pointers, as `skcuda.cusolver` has them, for the dtypes of the letters S, D, C and Z.

Matrices lie column by column; factors and vectors replace what cuSOLVER replaces; `devInfo`, an integer of the device, is 0 or says what
failed. The engine allocates what the libraries work in, so every `bufferSize` is 1.

Examples
--------
>>> from broadcloth.cuda.skcuda import cusolver
>>> a, w, info = bc.array([[0.0, 1.0], [1.0, 0.0]]), bc.empty(2), bc.empty(1, "int32")
>>> handle = cusolver.cusolverDnCreate()
>>> work = bc.empty(cusolver.cusolverDnDsyevd_bufferSize(handle, 'V', 'L', 2, a.gpudata, 2, w.gpudata))
>>> cusolver.cusolverDnDsyevd(handle, 'V', 'L', 2, a.gpudata, 2, w.gpudata, work.gpudata, work.size, info.gpudata)
>>> w
array([-1.,  1.])
>>> cusolver.cusolverDnDestroy(handle)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import broadcloth as bc
from broadcloth import _broadcloth as _c

from ._memory import LETTERS, REAL, Handle, at, checked, matrix, vector
from .cublas import _LOWER, _TRANSPOSED, _meaning, _mirrored, _store_triangle

_VECTORS = {"n": False, "N": False, 0: False, "v": True, "V": True, 1: True}
_JOBS = {job: job.upper() for job in "aAsSnN"}


def cusolverDnCreate() -> Handle:
    """A handle for the calls of this module."""
    return Handle()


def cusolverDnDestroy(handle: Handle) -> None:
    """Ends a handle's life; calls that name it raise from then on."""
    checked("cusolverDnDestroy", handle)
    handle.destroy("cusolverDnDestroy")


def cusolverDnSetStream(handle: Handle, stream: Any) -> None:
    """The stream in which calls with this handle run; None for the current one."""
    checked("cusolverDnSetStream", handle)
    handle.stream = stream


def cusolverDnGetStream(handle: Handle) -> Any:
    """The stream that was set."""
    checked("cusolverDnGetStream", handle)
    return handle.stream


def _say(pointer: Any, value: Any) -> None:
    at(pointer, (1,), "int32", (1,))[...] = value


def _gesvd(name, letter, jobu, jobvt, m, n, a, lda, s, U, ldu, vt, ldvt, work, lwork, rwork, devInfo):
    """Singular values to s, vectors to U (m x m, or m x k for 'S') and vt. m must not be less than n, as in cuSOLVER."""
    if m < n:
        raise ValueError(f"{name}: expected m >= n, got {m} and {n}")
    jobu, jobvt = _meaning(name, "jobu", _JOBS, jobu), _meaning(name, "jobvt", _JOBS, jobvt)
    dtype = LETTERS[letter]
    given = matrix(a, m, n, dtype, lda, name, "a")
    values = vector(s, min(m, n), REAL[letter], 1, name)
    if jobu == jobvt == "N":
        values[...] = bc.linalg.svd(given, compute_uv=False)
    else:
        u, found, vh = bc.linalg.svd(given, full_matrices="A" in (jobu, jobvt))
        values[...] = found
        columns, rows = m if jobu == "A" else n, n
        if jobu != "N":
            matrix(U, m, columns, dtype, ldu, name, "u")[...] = u[:, :columns]
        if jobvt != "N":
            matrix(vt, rows, n, dtype, ldvt, name, "vt")[...] = vh[:rows]
    _say(devInfo, 0)


def _potrf(name, letter, uplo, n, a, lda, workspace, lwork, devInfo):
    """The Cholesky factor into one triangle. devInfo is 1 where the matrix is not positive definite, which leaves it as it is."""
    lower = _meaning(name, "uplo", _LOWER, uplo)
    target = matrix(a, n, n, LETTERS[letter], lda, name, "a")
    factor, failed = _c.linalg_cholesky_unchecked(_mirrored(target, lower, letter in "CZ"), lower)
    _store_triangle(target, bc.where(failed != 0, target, factor), lower)
    _say(devInfo, (failed != 0).astype("int32"))


def _potrs(name, letter, uplo, n, nrhs, a, lda, b, ldb, devInfo):
    """Solves with the factor that potrf left, into b."""
    dtype = LETTERS[letter]
    target = matrix(b, n, nrhs, dtype, ldb, name, "b")
    target[...] = _c.linalg_cho_solve(matrix(a, n, n, dtype, lda, name, "a"), target, _meaning(name, "uplo", _LOWER, uplo))
    _say(devInfo, 0)


def _getrf(name, letter, m, n, a, lda, workspace, devIpiv, devInfo):
    """The factors of a[p] = L @ U in place, pivots counted from 1 to devIpiv; devInfo says which pivot is 0."""
    target = matrix(a, m, n, LETTERS[letter], lda, name, "a")
    factors, pivots, *_ = _c.linalg_lu(target)
    k = min(m, n)
    zero = bc.diagonal(factors) == 0
    target[...] = factors
    at(devIpiv, (k,), "int32", (1,))[...] = pivots + 1
    _say(devInfo, bc.where(zero.any(), zero.argmax() + 1, 0))


def _getrs(name, letter, trans, n, nrhs, a, lda, devIpiv, b, ldb, devInfo):
    """Solves op(a) @ x = b with what getrf left, into b."""
    dtype = LETTERS[letter]
    kind = "ntc".index(_meaning(name, "trans", _TRANSPOSED, trans))
    target = matrix(b, n, nrhs, dtype, ldb, name, "b")
    pivots = at(devIpiv, (n,), "int32", (1,)) - 1
    target[...] = _c.linalg_lu_solve(matrix(a, n, n, dtype, lda, name, "a"), pivots, target, kind)
    _say(devInfo, 0)


def _syevd(name, letter, jobz, uplo, n, a, lda, w, work, lwork, devInfo):
    """Eigenvalues in ascending order to w, vectors in place of the matrix where jobz is 'V'."""
    target = matrix(a, n, n, LETTERS[letter], lda, name, "a")
    lower, wanted = _meaning(name, "uplo", _LOWER, uplo), _meaning(name, "jobz", _VECTORS, jobz)
    values = vector(w, n, REAL[letter], 1, name)
    if wanted:
        found, vectors = bc.linalg.eigh(target, "L" if lower else "U")
        target[...] = vectors
        values[...] = found
    else:
        values[...] = bc.linalg.eigvalsh(target, "L" if lower else "U")
    _say(devInfo, 0)


# Body, its name, letters, and the parameters of its bufferSize.
_TABLE: list[tuple[Callable[..., Any], str, str]] = [
    (_gesvd, "gesvd", "SDCZ"),
    (_potrf, "potrf", "SDCZ"),
    (_potrs, "potrs", "SDCZ"),
    (_getrf, "getrf", "SDCZ"),
    (_getrs, "getrs", "SDCZ"),
    (_syevd, "syevd", "SD"),
    (_syevd, "heevd", "CZ"),
]
_BUFFERS = {"gesvd": "m, n", "potrf": "uplo, n, a, lda", "getrf": "m, n, a, lda", "syevd": "jobz, uplo, n, a, lda, w"}
_BUFFERS["heevd"] = _BUFFERS["syevd"]


def _function(name: str, body: Callable[..., Any], letter: str) -> Callable[..., Any]:
    def call(handle: Handle, *args: Any, **kwargs: Any) -> Any:
        with checked(name, handle):
            return body(name, letter, *args, **kwargs)

    names = body.__code__.co_varnames[2 : body.__code__.co_argcount]
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{body.__doc__} Elements are {LETTERS[letter]}.\n\nParameters: {', '.join(('handle', *names))}."
    return call


def _buffer_size(name: str, parameters: str) -> Callable[..., int]:
    count = len(parameters.split(","))

    def call(handle: Handle, *args: Any) -> int:
        with checked(name, handle):
            if len(args) != count:
                raise TypeError(f"{name}: expected a handle and {parameters}, got {len(args)} arguments after the handle")
            return 1

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"1: the engine allocates what the library works in.\n\nParameters: handle, {parameters}."
    return call


__all__ = ["cusolverDnCreate", "cusolverDnDestroy", "cusolverDnGetStream", "cusolverDnSetStream"]
for _body, _short, _letters in _TABLE:
    for _letter in _letters:
        _name = f"cusolverDn{_letter}{_short}"
        globals()[_name] = _function(_name, _body, _letter)
        __all__.append(_name)
        if _short in _BUFFERS:
            globals()[f"{_name}_bufferSize"] = _buffer_size(f"{_name}_bufferSize", _BUFFERS[_short])
            __all__.append(f"{_name}_bufferSize")
