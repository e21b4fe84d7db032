"""Functions that make sparse matrices, of nothing or of others."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import broadcloth as bc

from ..._broadcloth import ndarray
from ._base import dense_operand, is_scalar, issparse, matrix_shape, scipy_sparse, sparray, spmatrix
from ._rows import Rows, check_places, index_dtype


def _class(format: str, array: bool) -> Any:
    from . import _classes

    try:
        return getattr(_classes, format + ("_array" if array else "_matrix"))
    except AttributeError:
        raise ValueError(f"Format {format} is unknown.") from None


def _is_array(*operands: Any) -> bool:
    return any(isinstance(a, sparray) or (scipy_sparse(a) and type(a).__name__.endswith("array")) for a in operands)


def _coo(x: Any, array: bool) -> Any:
    """An operand in coordinates."""
    if issparse(x):
        return x.tocoo()
    return _class("coo", array)(x)


# ---- Diagonals --------------------------------------------------------------------------------------------------------------------------


def eye_array(m: Any, n: Any = None, *, k: int = 0, dtype: Any = float, format: str | None = None, device: Any = None) -> Any:
    """A sparse array of shape (m, n) with ones on the k-th diagonal.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.eye_array(2, 3, k=1, dtype=int).toarray()
    array([[0, 1, 0],
           [0, 0, 1]])
    """
    return _eye(m, n, k, dtype, format, True, device)


def eye(m: Any, n: Any = None, k: int = 0, dtype: Any = float, format: str | None = None, *, device: Any = None) -> Any:
    """A sparse matrix of shape (m, n) with ones on the k-th diagonal.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.eye(2).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    return _eye(m, n, k, dtype, format, False, device)


def identity(n: Any, dtype: Any = "d", format: str | None = None, *, device: Any = None) -> Any:
    """The sparse identity matrix.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.identity(2, int).toarray()
    array([[1, 0],
           [0, 1]])
    """
    return _eye(n, n, 0, dtype, format, False, device)


def _eye(m: Any, n: Any, k: int, dtype: Any, format: str | None, array: bool, device: Any) -> Any:
    m, k = operator.index(m), operator.index(k)
    n = m if n is None else operator.index(n)
    if m < 0 or n < 0:
        raise ValueError("'shape' elements cannot be negative")
    if (k < -m or k > n) and m > 0 and n > 0:
        raise ValueError(f"Offset {k} (index 0) out of bounds")
    count = max(min(m + min(k, 0), n - max(k, 0)), 0)
    t = index_dtype(m, n)
    at = bc.arange(count, dtype=t, device=device)
    ones = bc.ones(count, dtype, device=device)
    if format in (None, "dia"):
        data = bc.ones((1, max(0, min(m + k, n))), dtype, device=device)
        return _class("dia", array)((data, [k]), shape=(m, n), device=data.device)
    if format in ("csr", "csc"):
        major, minor, shift = (m, n, k) if format == "csr" else (n, m, -k)
        starts = bc.clip(bc.arange(-max(-shift, 0), major + 1 - max(-shift, 0), dtype=t, device=device), 0, count)
        return _class(format, array)._from_rows_of(Rows(ones, at + max(shift, 0), starts, minor, True), (m, n))
    made = _class("coo", array)._from_coordinates(ones, at + max(-k, 0), at + max(k, 0), (m, n), True)
    return made.asformat(format)


def diags_array(
    diagonals: Any,
    /,
    *,
    offsets: Any = 0,
    shape: Any = None,
    format: str | None = None,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """A sparse array from its diagonals.

    Parameters
    ----------
    diagonals : sequence of array-likes
        The elements of each diagonal; one element fills it.
    offsets : int or sequence of int
        Which diagonals they are: 0 the main one, k > 0 above it.

    Raises
    ------
    ValueError
        A diagonal's length does not agree with the shape.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.diags_array([[1, 2], [3]], offsets=[0, 1]).toarray()
    array([[1., 3.],
           [0., 2.]])
    """
    return _diags(diagonals, offsets, shape, format, dtype, True, device)


def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: str | None = None, dtype: Any = None, *, device: Any = None) -> Any:
    """A sparse matrix from its diagonals; see `diags_array`.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.diags([1, -2, 1], [-1, 0, 1], shape=(3, 3)).toarray()
    array([[-2.,  1.,  0.],
           [ 1., -2.,  1.],
           [ 0.,  1., -2.]])
    """
    return _diags(diagonals, offsets, shape, format, dtype, False, device)


def _diags(diagonals: Any, offsets: Any, shape: Any, format: str | None, dtype: Any, array: bool, device: Any) -> Any:
    if is_scalar(offsets):
        if len(diagonals) == 0 or is_scalar(diagonals[0]):
            diagonals = [diagonals]
        else:
            diagonals = list(diagonals)
        offsets = [offsets]
    offsets = [operator.index(o) for o in np.atleast_1d(offsets.get() if isinstance(offsets, ndarray) else offsets).tolist()]
    vectors = [bc.atleast_1d(dense_operand(d, device)) for d in diagonals]
    if len(vectors) != len(offsets):
        raise ValueError("Different number of diagonals and offsets.")
    if shape is None:
        m = len(vectors[0]) + abs(offsets[0])
        shape = (m, m)
    m, n = shape
    if dtype is None:
        dtype = np.result_type(*(v.dtype for v in vectors))
        if dtype.kind in "biu":
            dtype = np.dtype(np.float64)
    width = max([0, *(min(m + k, n - k) + max(0, k) for k in offsets)])
    device = vectors[0].device if vectors else device
    parts: list[ndarray] = []
    for row, (v, k) in enumerate(zip(vectors, offsets, strict=True)):
        first, length = max(0, k), min(m + min(k, 0), n - max(k, 0))
        if length < 0:
            raise ValueError(f"Offset {k} (index {row}) out of bounds")
        if v.size != 1 and v.size != length:
            raise ValueError(f"Diagonal length (index {row}: {v.size} at offset {k}) does not agree with array size ({m}, {n}).")
        zeros = lambda count: bc.zeros(count, dtype, device=device)
        parts += [zeros(first), bc.broadcast_to(v.astype(dtype, copy=False), length), zeros(width - first - length)]
    data = bc.concatenate([p for p in parts if p.size]) if width and parts else bc.zeros(0, dtype, device=device)
    data = data.reshape(len(vectors), width)
    return _class("dia", array)((data, offsets), shape=(m, n), device=data.device).asformat(format)


def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: str | None = None) -> Any:
    """A sparse matrix whose diagonals are the rows of `data`, as the `dia` format holds them.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.spdiags([[1, 2, 3], [4, 5, 6]], [0, 1], 3, 3).toarray()
    array([[1, 5, 0],
           [0, 2, 6],
           [0, 0, 3]])
    """
    if m is None and n is None:
        m = n = len(data[0])
    elif n is None:
        m, n = m
    return _class("dia", False)((data, diags), shape=(m, n)).asformat(format)


# ---- Joining ----------------------------------------------------------------------------------------------------------------------------


def block_array(blocks: Any, *, format: str | None = None, dtype: Any = None) -> Any:
    """A sparse array from blocks, lists of rows of blocks; None stands for zeros.

    Raises
    ------
    ValueError
        The extents of blocks in one row or column differ.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.block_array([[sparse.csr_array([[1]]), None], [None, sparse.csr_array([[2]])]]).toarray()
    array([[1, 0],
           [0, 2]])
    """
    return _block(blocks, format, dtype, True)


def bmat(blocks: Any, format: str | None = None, dtype: Any = None) -> Any:
    """A sparse matrix from blocks (an array where one of them is); see `block_array`.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.bmat([[sparse.identity(2), None], [None, sparse.identity(1)]], format="csr").shape
    (3, 3)
    """
    rows = _grid(blocks)
    return _block(rows, format, dtype, _is_array(*(b for row in rows for b in row)))


def _grid(blocks: Any) -> list[list[Any]]:
    rows = [list(row) for row in blocks]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("blocks must be 2-D")
    return rows


def _block(blocks: Any, format: str | None, dtype: Any, array: bool) -> Any:
    rows = [[b if b is None or issparse(b) else _coo(b, array) for b in row] for row in _grid(blocks)]
    heights, widths = _extents(rows)
    formats = {getattr(b, "format", None) for row in rows for b in row}
    same = formats.pop() if len(formats) == 1 and formats <= {"csr", "csc"} else None
    if same is not None and format in (None, same):
        return _compressed_blocks(rows, same, dtype, array)
    tops, lefts = (np.cumsum([0, *extents]) for extents in (heights, widths))
    placed = [(b.tocoo(copy=False), int(tops[i]), int(lefts[j])) for i, row in enumerate(rows) for j, b in enumerate(row) if b is not None]
    return _placed(placed, (int(tops[-1]), int(lefts[-1])), dtype, array).asformat(format or same)


def _extents(rows: list[list[Any]]) -> tuple[list[int], list[int]]:
    """The heights of the rows of blocks and the widths of the columns, which the blocks must agree about."""
    heights: list[int | None] = [None] * len(rows)
    widths: list[int | None] = [None] * len(rows[0])
    for i, row in enumerate(rows):
        for j, b in enumerate(row):
            if b is None:
                continue
            for extents, at, axis, name in ((heights, i, 0, f"blocks[{i},:]"), (widths, j, 1, f"blocks[:,{j}]")):
                n = b._shape2[axis]
                if extents[at] is None:
                    extents[at] = n
                elif extents[at] != n:
                    raise ValueError(
                        f"{name} has incompatible {'row' if axis == 0 else 'column'} dimensions. "
                        f"Got blocks[{i},{j}].shape[{axis}] == {n}, expected {extents[at]}."
                    )
    return [n or 0 for n in heights], [n or 0 for n in widths]


def _compressed_blocks(blocks: list[list[Any]], format: str, dtype: Any, array: bool) -> Any:
    """Blocks in compressed rows, or all in compressed columns, as one matrix of the format."""
    grid = [[b._own_rows() for b in line] for line in (blocks if format == "csr" else zip(*blocks, strict=True))]
    if dtype is None:
        dtype = np.result_type(*(b.data.dtype for line in grid for b in line))
    lines = [Rows.beside(line, dtype) if len(line) > 1 else line[0] for line in grid]
    made = Rows.stacked(lines, dtype)
    shape = (made.count, made.columns) if format == "csr" else (made.columns, made.count)
    return _class(format, array)._from_rows_of(made, shape)


def _placed(parts: list[tuple[Any, int, int]], shape: tuple[int, int], dtype: Any, array: bool) -> Any:
    """Matrices in coordinates, each with the place of its first element, as one."""
    t = index_dtype(*shape, sum(b.data.size for b, _, _ in parts))
    if not parts:
        return _class("coo", array)(shape, dtype=dtype)
    if dtype is None:
        dtype = np.result_type(*(b.dtype for b, _, _ in parts))
    data = bc.concatenate([b.data.astype(dtype, copy=False) for b, _, _ in parts])
    row = bc.concatenate([b.row.astype(t) + top for b, top, _ in parts])
    col = bc.concatenate([b.col.astype(t) + left for b, _, left in parts])
    return _class("coo", array)._from_coordinates(data, row, col, shape)


def _stacked(blocks: Iterable[Any], format: str | None, dtype: Any, axis: int) -> Any:
    parts = list(blocks)
    if not parts:
        raise ValueError("blocks must not be empty")
    array = _is_array(*parts)
    return _block([[b] for b in parts] if axis == 0 else [parts], format, dtype, array)


def vstack(blocks: Iterable[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Sparse matrices one below the other.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.vstack([sparse.csr_matrix([[1, 2]]), sparse.csr_matrix([[3, 0]])]).toarray()
    array([[1, 2],
           [3, 0]])
    """
    return _stacked(blocks, format, dtype, 0)


def hstack(blocks: Iterable[Any], format: str | None = None, dtype: Any = None) -> Any:
    """Sparse matrices side by side.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.hstack([sparse.csr_matrix([[1], [2]]), sparse.csr_matrix([[3], [0]])]).toarray()
    array([[1, 3],
           [2, 0]])
    """
    return _stacked(blocks, format, dtype, 1)


def _every_element(a: Any, array: bool) -> Any:
    """A dense matrix in coordinates, zeros too: SciPy's block_diag keeps those of arrays, not of lists."""
    i = bc.arange(a.size, dtype=index_dtype(*a.shape, a.size), device=a.device)
    width = max(a.shape[1], 1)
    return _class("coo", array)._from_coordinates(a.reshape(-1), i // width, i % width, a.shape)


def block_diag(mats: Iterable[Any], format: str | None = None, dtype: Any = None) -> Any:
    """A matrix with the given ones, sparse or dense, along its diagonal.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.block_diag([[[1, 2]], [[3]]]).toarray()
    array([[1, 2, 0],
           [0, 0, 3]])
    """
    mats = list(mats)
    array = _is_array(*mats)
    parts, top, left = [], 0, 0
    for a in mats:
        if not issparse(a) and not scipy_sparse(a):
            dense = bc.atleast_2d(bc.asarray(a))
            a = _every_element(dense, array) if isinstance(a, (bc.ndarray, np.ndarray)) else dense
        b = _coo(a, array)
        parts.append((b, top, left))
        top, left = top + b._shape2[0], left + b._shape2[1]
    if not parts:
        return _class("coo", array)((0, 0), dtype=dtype).asformat(format)
    return _placed(parts, (top, left), dtype, array).asformat(format)


def kron(A: Any, B: Any, format: str | None = None) -> Any:
    """The Kronecker product of sparse matrices.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.kron(sparse.csr_matrix([[0, 1]]), sparse.csr_matrix([[2, 3]])).toarray()
    array([[0, 0, 2, 3]])
    """
    array = _is_array(A, B)
    a, b = _coo(A, array), _coo(B, array)
    if a.ndim == 1 or b.ndim == 1:
        flat = a.ndim == b.ndim
        first, second = (x.reshape(1, -1) if x.ndim == 1 else x for x in (a, b))
        made = kron(first, second, "coo" if flat else format)
        return made.reshape(made.shape[1]).asformat(format) if flat else made
    if format in (None, "bsr") and 2 * b.nnz >= b.shape[0] * b.shape[1] > 0:
        # B is dense enough: each element of A gives a block.
        rows = a.tocsr()._own_rows()
        data = rows.data[:, None, None] * b.toarray()[None]
        shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
        return _class("bsr", array)((data, rows.indices, rows.indptr), shape=shape, device=data.device)
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    t = index_dtype(*shape, a.data.size * b.data.size)
    row = (a.row.astype(t)[:, None] * b.shape[0] + b.row.astype(t)[None]).ravel()
    col = (a.col.astype(t)[:, None] * b.shape[1] + b.col.astype(t)[None]).ravel()
    data = (a.data[:, None] * b.data[None]).ravel()
    return _class("coo", array)._from_coordinates(data, row, col, shape).asformat(format)


def kronsum(A: Any, B: Any, format: str | None = None) -> Any:
    """kron(I, A) + kron(B, I) of square matrices.

    Raises
    ------
    ValueError
        One is not square.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.kronsum(sparse.csr_matrix([[1]]), sparse.csr_matrix([[2, 0], [0, 3]])).toarray()
    array([[3, 0],
           [0, 4]])
    """
    array = _is_array(A, B)
    a, b = _coo(A, array), _coo(B, array)
    for x in (a, b):
        if x.ndim != 2:
            raise ValueError(f"kronsum requires 2D inputs. Got {x.ndim}D")
        if x.shape[0] != x.shape[1]:
            raise ValueError(f"{'A' if x is a else 'B'} is not square")
    t = np.result_type(a.dtype, b.dtype)
    one = lambda n: _eye(n, n, 0, t, "coo", array, a.device)
    return (kron(one(b.shape[0]), a) + kron(b, one(a.shape[0]))).asformat(format)


# ---- Random -----------------------------------------------------------------------------------------------------------------------------


def random_array(
    shape: Any,
    *,
    density: float = 0.01,
    format: str = "coo",
    dtype: Any = None,
    rng: Any = None,
    random_state: Any = None,
    data_sampler: Callable[..., Any] | None = None,
    device: Any = None,
) -> Any:
    """A sparse array with random elements at random places.

    Parameters
    ----------
    shape : tuple of int
    density : float
        The share of places that have an element, from 0 to 1.
    rng : generator of `broadcloth.random` or of NumPy, or a seed
    data_sampler : callable
        Called as data_sampler(size=n) (or data_sampler(n)) for the elements; uniform in [0, 1) unless given.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> a = sparse.random_array((10, 20), density=0.1, rng=0)
    >>> a.shape, a.nnz
    ((10, 20), 20)
    """
    return _random(tuple(shape), density, format, dtype, _generator(rng, random_state), data_sampler, True, device)


def random(
    m: int,
    n: int,
    density: float = 0.01,
    format: str = "coo",
    dtype: Any = None,
    rng: Any = None,
    data_rvs: Callable[..., Any] | None = None,
    *,
    random_state: Any = None,
    device: Any = None,
) -> Any:
    """A sparse matrix with random elements at random places; see `random_array`.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.random(10, 20, density=0.1, rng=0).nnz
    20
    """
    return _random((m, n), density, format, dtype, _generator(rng, random_state), data_rvs, False, device)


def rand(
    m: int,
    n: int,
    density: float = 0.01,
    format: str = "coo",
    dtype: Any = None,
    rng: Any = None,
    *,
    random_state: Any = None,
    device: Any = None,
) -> Any:
    """A sparse matrix with uniformly distributed elements at random places.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.rand(4, 5, density=0.5, format="csr", rng=1).nnz
    10
    """
    return random(m, n, density, format, dtype, rng, random_state=random_state, device=device)


def _random(shape: tuple[int, ...], density: float, format: str, dtype: Any, rng: Any, sampler: Any, array: bool, device: Any) -> Any:
    if not 0 <= density <= 1:
        raise ValueError("density expected to be 0 <= density <= 1")
    shape = tuple(operator.index(n) for n in shape)
    check_places(*matrix_shape(shape))
    total = int(np.prod(shape, dtype=np.int64))
    count = round(density * total)
    # SciPy's order of draws, so that a seed gives SciPy's matrix.
    at = bc.asarray(rng.choice(total, size=count, replace=False), device=device)
    if sampler is None:
        values = _sampled(rng, dtype, count)
    else:
        try:
            values = sampler(size=count)
        except TypeError:
            values = sampler(count)
    values = bc.asarray(values, device=device).ravel()
    if values.size != count:
        raise ValueError("all index and data arrays must have the same length")
    if dtype is not None:
        values = values.astype(dtype, copy=False)
    # The coordinates in order "F" are those of the reversed shape in order "C".
    coords = bc.unravel_index(at, shape[::-1])[::-1]
    made: Any = _class("coo", array)
    return made._of_coords(values, coords, shape).asformat(format)


def _generator(rng: Any, random_state: Any) -> Any:
    """What numbers are drawn from: a generator as it is, else a new one with a seed; `random_state` seeds NumPy's older kind."""
    if hasattr(rng, "standard_normal"):
        return rng
    if rng is None and random_state is not None:
        return random_state if hasattr(random_state, "standard_normal") else bc.random.RandomState(random_state)
    return bc.random.default_rng(rng)


def _sampled(rng: Any, dtype: Any, count: int) -> Any:
    t = np.dtype(np.float64 if dtype is None else dtype)
    if t.kind in "iu":
        limits = np.iinfo(t)
        draw = rng.integers if hasattr(rng, "integers") else rng.randint
        return draw(limits.min, limits.max, size=count, dtype=t)
    if t.kind == "c":
        real = rng.uniform(size=count)
        return real + rng.uniform(size=count) * 1j
    return rng.uniform(size=count)


# ---- Axes and indices -------------------------------------------------------------------------------------------------------------------


def permute_dims(A: Any, axes: Any = None, copy: bool = False) -> Any:
    """The sparse array with its axes in another order, in coordinates; reversed unless `axes` says otherwise.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.permute_dims(sparse.coo_array([[1, 2, 3]])).shape
    (3, 1)
    """
    order = [*range(A.ndim)][::-1] if axes is None else [operator.index(a) for a in ((axes,) if np.ndim(axes) == 0 else axes)]
    if sorted(a % A.ndim if -A.ndim <= a < A.ndim else -1 for a in order) != list(range(A.ndim)):
        raise ValueError(f"axes {axes} do not match a sparse array of {A.ndim} dimensions")
    if [a % A.ndim for a in order] == list(range(A.ndim)):
        return A.copy() if copy else A
    return A.tocoo().transpose(order, copy=copy)


def expand_dims(A: Any, /, *, axis: int = 0) -> Any:
    """A copy of the sparse array in coordinates, with a new axis of extent 1.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.expand_dims(sparse.coo_array([[1, 2, 3]]), axis=1).shape
    (1, 1, 3)
    """
    try:
        at = operator.index(axis)
    except TypeError:
        raise ValueError(f"Invalid axis {axis}. Must be an integer.") from None
    if not -A.ndim - 1 <= at <= A.ndim:
        raise ValueError(f"Invalid axis {axis} for N={A.ndim}. Must be in [-N-1, N].")
    at %= A.ndim + 1
    coo = A.tocoo(copy=True)
    places, shape = [*coo.coords], [*coo.shape]
    places.insert(at, bc.zeros(coo.data.size, np.int64, device=coo.device))
    shape.insert(at, 1)
    if len(shape) > 2 and not coo._is_array():
        raise ValueError(f"a sparse matrix has two dimensions, got shape {tuple(shape)}")
    return coo._of_coords(coo.data, places, tuple(shape), coo.has_canonical_format)


def swapaxes(A: Any, axis1: int, axis2: int) -> Any:
    """A copy of the sparse array with two axes exchanged, in coordinates.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.swapaxes(sparse.coo_array([[[1, 2, 3], [2, 0, 0]]]), 1, 2).shape
    (1, 3, 2)
    """
    order = [*range(A.ndim)]
    first, second = (operator.index(a) for a in (axis1, axis2))
    for a in (first, second):
        if not -A.ndim <= a < A.ndim:
            raise ValueError(f"Invalid axis: {a} is out of bounds for ndim={A.ndim}")
    order[first], order[second] = order[second], order[first]
    return permute_dims(A, order, copy=True)


def get_index_dtype(arrays: Any = (), maxval: Any = None, check_contents: bool = False) -> np.dtype:
    """The dtype of indices for arrays of indices and a largest value: int32 where it holds them.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.get_index_dtype(maxval=2**40)
    dtype('int64')
    """
    t = index_dtype(int(maxval or 0))
    for a in [arrays] if isinstance(arrays, (ndarray, np.ndarray)) else arrays:
        a = bc.asarray(a)
        if np.can_cast(a.dtype, np.int32):
            continue
        fits = check_contents and a.dtype.kind in "iu" and (a.size == 0 or index_dtype(int(abs(a).max())) == np.int32)
        t = t if fits else np.dtype(np.int64)
    return t


# ---- Parts ------------------------------------------------------------------------------------------------------------------------------


def _part(A: Any, keep: Callable[[Any], ndarray], format: str | None) -> Any:
    coo = _coo(A, _is_array(A))
    mask = keep(coo)
    made = coo._from_coordinates(coo.data[mask], coo.row[mask], coo.col[mask], coo.shape, coo.has_canonical_format)
    return made.asformat(format)


def tril(A: Any, k: int = 0, format: str | None = None) -> Any:
    """The elements on and below the k-th diagonal.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.tril(sparse.csr_matrix([[1, 2], [3, 4]])).toarray()
    array([[1, 0],
           [3, 4]])
    """
    return _part(A, lambda coo: coo.row + k >= coo.col, format)


def triu(A: Any, k: int = 0, format: str | None = None) -> Any:
    """The elements on and above the k-th diagonal.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.triu(sparse.csr_matrix([[1, 2], [3, 4]])).toarray()
    array([[1, 2],
           [0, 4]])
    """
    return _part(A, lambda coo: coo.row + k <= coo.col, format)


def find(A: Any) -> tuple[ndarray, ndarray, ndarray]:
    """The rows, columns and values of the elements that are not zero.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.find(sparse.csr_matrix([[0, 7], [8, 0]]))
    (array([0, 1], dtype=int32), array([1, 0], dtype=int32), array([7, 8]))
    """
    coo = _coo(A, False).copy()
    coo.sum_duplicates()
    keep = coo.data != 0
    return coo.row[keep], coo.col[keep], coo.data[keep]


def isspmatrix(x: Any) -> bool:
    """Whether `x` is a sparse matrix (not an array) of this package.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.isspmatrix(sparse.csr_matrix((2, 2))), sparse.isspmatrix(sparse.csr_array((2, 2)))
    (True, False)
    """
    return isinstance(x, spmatrix)


def _predicate(format: str) -> Callable[[Any], bool]:
    def test(x: Any) -> bool:
        return isspmatrix(x) and x.format == format

    test.__name__ = test.__qualname__ = f"isspmatrix_{format}"
    test.__doc__ = f"""Whether `x` is a `{format}_matrix`.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.isspmatrix_{format}(sparse.{format}_matrix((2, 2))), sparse.isspmatrix_{format}(bc.ones(2))
    (True, False)
    """
    return test


isspmatrix_bsr, isspmatrix_coo, isspmatrix_csc, isspmatrix_csr, isspmatrix_dia, isspmatrix_dok, isspmatrix_lil = map(
    _predicate, ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
)
