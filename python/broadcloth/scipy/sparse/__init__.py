"""Sparse matrices and arrays under SciPy's names, on broadcloth's arrays.

Elements and indices are arrays on one device; what is computed with a sparse matrix stays there. `lil` and `dok`, which are for putting
matrices together element by element, are lists and dictionaries in host memory, as SciPy's. Dense results are arrays of broadcloth;
matrices have no `numpy.matrix`, so that `todense` and reductions of a matrix give arrays of two dimensions. `get()` gives SciPy's object,
and the constructors take SciPy's."""

from __future__ import annotations

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

__all__ = [
    "SparseEfficiencyWarning",
    "SparseWarning",
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
    "dok_array",
    "dok_matrix",
    "issparse",
    "lil_array",
    "lil_matrix",
    "sparray",
    "spmatrix",
]
