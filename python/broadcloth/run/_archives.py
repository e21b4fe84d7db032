"""What `np.load` of an .npz file gives in a program that runs unchanged."""

from __future__ import annotations

from typing import Any

from .._files import NpzFile
from ._fallback import as_ours

__all__ = ["ProgramNpzFile"]


class ProgramNpzFile(NpzFile):
    """The arrays of a file that NumPy has opened; those of texts, objects and records are NumPy's."""

    def __getitem__(self, key: str) -> Any:
        return as_ours(self._found[key])
