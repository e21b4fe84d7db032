"""Sparse matrices and arrays under SciPy's names, on broadcloth's arrays.

Elements and indices are arrays on one device; what is computed with a sparse matrix stays there. `lil` and `dok`, which are for putting
matrices together element by element, are lists and dictionaries in host memory, as SciPy's. Dense results are arrays of broadcloth;
matrices have no `numpy.matrix`, so that `todense` and reductions of a matrix give arrays of two dimensions. `get()` gives SciPy's object,
and the constructors take SciPy's."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from ..._namespace import listing
from ._base import SparseEfficiencyWarning, SparseWarning, issparse, sparray, spmatrix
from ._classes import (
    bsr_array,
    bsr_matrix,
    coo_array,
    coo_matrix,
    csc_array,
    csc_matrix,
    csr_array,
    csr_matrix,
    dia_array,
    dia_matrix,
    dok_array,
    dok_matrix,
    lil_array,
    lil_matrix,
)
from ._construct import (
    block_array,
    block_diag,
    bmat,
    diags,
    diags_array,
    expand_dims,
    eye,
    eye_array,
    find,
    get_index_dtype,
    hstack,
    identity,
    isspmatrix,
    isspmatrix_bsr,
    isspmatrix_coo,
    isspmatrix_csc,
    isspmatrix_csr,
    isspmatrix_dia,
    isspmatrix_dok,
    isspmatrix_lil,
    kron,
    kronsum,
    permute_dims,
    rand,
    random,
    random_array,
    spdiags,
    swapaxes,
    tril,
    triu,
    vstack,
)
from ._files import load_npz, save_npz

__all__ = [
    "SparseEfficiencyWarning",
    "SparseWarning",
    "block_array",
    "block_diag",
    "bmat",
    "bsr_array",
    "bsr_matrix",
    "coo_array",
    "coo_matrix",
    "csc_array",
    "csc_matrix",
    "csr_array",
    "csr_matrix",
    "dia_array",
    "dia_matrix",
    "diags",
    "diags_array",
    "dok_array",
    "dok_matrix",
    "expand_dims",
    "eye",
    "eye_array",
    "find",
    "get_index_dtype",
    "hstack",
    "identity",
    "issparse",
    "isspmatrix",
    "isspmatrix_bsr",
    "isspmatrix_coo",
    "isspmatrix_csc",
    "isspmatrix_csr",
    "isspmatrix_dia",
    "isspmatrix_dok",
    "isspmatrix_lil",
    "kron",
    "kronsum",
    "permute_dims",
    "lil_array",
    "lil_matrix",
    "load_npz",
    "rand",
    "random",
    "random_array",
    "save_npz",
    "sparray",
    "spdiags",
    "swapaxes",
    "spmatrix",
    "tril",
    "triu",
    "vstack",
]


def __getattr__(name: str) -> _Any:
    # Loaded when they are first used.
    if name in ("csgraph", "linalg"):
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

__dir__ = listing(__all__)
