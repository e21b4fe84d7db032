"""Where programs written for Numba look for types, warnings and settings: `core.types`, `core.errors`, `core.config`."""

from __future__ import annotations

import sys

from .. import types
from .._device import config
from .._namespace import listing
from . import errors

sys.modules[f"{__name__}.types"] = types

__all__ = ["config", "errors", "types"]

__dir__ = listing(__all__)
