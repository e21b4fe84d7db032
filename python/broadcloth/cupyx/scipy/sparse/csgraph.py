"""CuPy's name of broadcloth.scipy.sparse.csgraph."""

from __future__ import annotations

from ....scipy.sparse import csgraph as _module
from ....scipy.sparse.csgraph import *  # noqa: F403

__all__ = _module.__all__
