"""CuPy's name of broadcloth.scipy.fft."""

from __future__ import annotations

from ...scipy import fft as _fft
from ...scipy.fft import *  # noqa: F403

__all__ = _fft.__all__
__ua_domain__ = _fft.__ua_domain__
__ua_function__ = _fft.__ua_function__
