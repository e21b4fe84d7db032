"""Solvers, eigenvalues and functions of large sparse matrices and linear operators, under SciPy's names.

Iterative methods take sparse matrices, dense ones, or `LinearOperator`s and keep their vectors on the device. Direct solvers are
SuperLU, which SciPy brings along: a GPU's matrices are factorized on the host, with a `PerformanceWarning`."""

from __future__ import annotations

from ...._namespace import listing
from ._direct import MatrixRankWarning, SuperLU, factorized, spilu, splu, spsolve, spsolve_triangular, use_solver
from ._eigen import ArpackError, ArpackNoConvergence, eigs, eigsh, lobpcg, svds
from ._functions import expm, expm_multiply, funm_multiply_krylov, inv, is_sptriangular, matrix_power, norm, onenormest, spbandwidth
from ._grids import LaplacianNd
from ._krylov import bicg, bicgstab, cg, cgs, gmres, lgmres, minres, qmr, tfqmr
from ._least_squares import lsmr, lsqr
from ._operators import LinearOperator, aslinearoperator
from ._recycling import gcrotmk

__all__ = [
    "ArpackError",
    "ArpackNoConvergence",
    "LaplacianNd",
    "LinearOperator",
    "MatrixRankWarning",
    "SuperLU",
    "aslinearoperator",
    "bicg",
    "bicgstab",
    "cg",
    "cgs",
    "eigs",
    "eigsh",
    "expm",
    "expm_multiply",
    "factorized",
    "funm_multiply_krylov",
    "gcrotmk",
    "gmres",
    "inv",
    "is_sptriangular",
    "lgmres",
    "lobpcg",
    "lsmr",
    "lsqr",
    "matrix_power",
    "minres",
    "norm",
    "onenormest",
    "qmr",
    "spbandwidth",
    "spilu",
    "splu",
    "spsolve",
    "spsolve_triangular",
    "svds",
    "tfqmr",
    "use_solver",
]

__dir__ = listing(__all__)
