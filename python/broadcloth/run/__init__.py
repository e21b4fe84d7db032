"""Programs that were written for NumPy and run unchanged: `python -m broadcloth program.py`, `%load_ext broadcloth`.

In the program's own files imports of `numpy` give a face of broadcloth that has all of NumPy's names. What broadcloth does not have runs on
the host, on NumPy, and is reported once for each line. Libraries keep their own NumPy.
"""

from __future__ import annotations

import os
from typing import Any

from .. import _broadcloth as _c
from ._face import function_of_program
from ._imports import disable, enable
from ._owner import Owner

__all__ = ["Owner", "disable", "enable", "function_of_program", "load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext broadcloth` calls: cells that import NumPy from now on have broadcloth under its names, and their arrays are placed
    by size."""
    enable(Owner.of_folder("."))
    if not os.environ.get("BROADCLOTH_DEVICE"):
        _c.set_default_device("auto")


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext broadcloth` calls: imports give NumPy itself again."""
    disable()
    if _c._placement()[0] and not os.environ.get("BROADCLOTH_DEVICE"):
        _c.set_default_device("cuda" if _c.device_count("cuda") else "cpu")
