"""SciPy's files of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import broadcloth as bc

from ._base import issparse, scipy_sparse

# What a file holds of each format besides the shape and the data.
_ARRAYS = {
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "csc": ("indices", "indptr"),
    "csr": ("indices", "indptr"),
    "dia": ("offsets",),
}


def save_npz(file: Any, matrix: Any, compressed: bool = True) -> None:
    """Writes a sparse matrix to a file that SciPy reads too.

    Parameters
    ----------
    file : str, path or file object
        `.npz` is appended to a name without it.
    matrix : sparse matrix or array in the format bsr, coo, csc, csr or dia

    Raises
    ------
    NotImplementedError
        There are no files of the format.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> import io
    >>> file = io.BytesIO()
    >>> sparse.save_npz(file, sparse.csr_matrix([[0, 1], [2, 0]]))
    >>> _ = file.seek(0)
    >>> sparse.load_npz(file).toarray()
    array([[0, 1],
           [2, 0]])
    """
    if scipy_sparse(matrix) or not issparse(matrix):
        from ._base import from_scipy

        if not scipy_sparse(matrix):
            raise TypeError(f"save_npz: expected a sparse matrix, got {type(matrix).__name__}")
        matrix = from_scipy(matrix)
    if matrix.format not in _ARRAYS:
        raise NotImplementedError(f"Save is not implemented for sparse matrix of format {matrix.format}.")
    arrays: dict[str, Any] = {"format": matrix.format.encode("ascii"), "shape": matrix.shape}
    if matrix._is_array():
        arrays["_is_array"] = True
    if matrix.format == "coo" and matrix.ndim != 2:
        arrays["coords"] = np.stack([c.get() for c in matrix.coords])
    else:
        arrays.update({name: getattr(matrix, name).get() for name in _ARRAYS[matrix.format]})
    arrays["data"] = matrix.data.get()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)


def load_npz(file: Any, *, device: Any = None) -> Any:
    """Reads a sparse matrix from a file that `save_npz`, or SciPy's, has written.

    Raises
    ------
    ValueError
        The file holds no sparse matrix.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> import io, scipy.sparse
    >>> file = io.BytesIO()
    >>> scipy.sparse.save_npz(file, scipy.sparse.eye(2, format="csr"))
    >>> _ = file.seek(0)
    >>> sparse.load_npz(file).format
    'csr'
    """
    from . import _classes

    with np.load(file, allow_pickle=False) as loaded:
        stored = loaded.get("format")
        if stored is None:
            raise ValueError(f"The file {file} does not contain a sparse array or matrix.")
        name = stored.item()
        name = name if isinstance(name, str) else name.decode("ascii")
        kind = "array" if loaded.get("_is_array") else "matrix"
        if name not in _ARRAYS:
            raise ValueError(f'Unknown format "{name}"')
        to = lambda a: bc.asarray(np.ascontiguousarray(a), device=device)
        data, shape = to(loaded["data"]), tuple(int(n) for n in loaded["shape"])
        arrays = [to(a) for a in loaded["coords"]] if "coords" in loaded else [to(loaded[a]) for a in _ARRAYS[name]]
    made = getattr(_classes, f"{name}_{kind}")
    if name == "coo":
        return made((data, tuple(arrays)), shape=shape)
    return made((data, *arrays), shape=shape)
