"""Python functions that stand for the libraries' in compiled functions, where those cannot be compiled or the compiler does not know them.

They are compiled as if the caller had written them, for the types that it calls them with. Branches on `ndim` and `isinstance` are decided
when they are compiled.
"""

from . import (  # noqa: F401
    curves,
    heaps,
    linear_algebra,
    numbers,
    operators,
    python_random,
    random_numbers,
    sets,
    shapes,
    statistics,
    texts,
    times,
    ufuncs,
)
from ._table import OVERLOADS

__all__ = ["OVERLOADS"]
