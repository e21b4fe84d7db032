"""CuPy's name of broadcloth.scipy.sparse."""

from __future__ import annotations

from ...scipy import sparse as _sparse
from ...scipy.sparse import *  # noqa: F403

__all__ = _sparse.__all__
