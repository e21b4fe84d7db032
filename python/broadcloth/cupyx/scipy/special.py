"""CuPy's name of broadcloth.scipy.special."""

from __future__ import annotations

from ...scipy import special as _module
from ...scipy.special import *  # noqa: F403

__all__ = _module.__all__
