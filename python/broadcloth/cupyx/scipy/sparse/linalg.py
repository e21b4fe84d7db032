"""CuPy's name of broadcloth.scipy.sparse.linalg."""

from __future__ import annotations

from ....scipy.sparse import linalg as _module
from ....scipy.sparse.linalg import *  # noqa: F403

__all__ = _module.__all__
