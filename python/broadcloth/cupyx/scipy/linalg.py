"""CuPy's name of broadcloth.scipy.linalg."""

from __future__ import annotations

from ...scipy import linalg as _module
from ...scipy.linalg import *  # noqa: F403

__all__ = _module.__all__
