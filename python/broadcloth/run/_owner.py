"""Which files are the program's own: imports of NumPy in those give broadcloth, and libraries keep their NumPy."""

from __future__ import annotations

import os
import site
from types import FrameType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OF_LIBRARIES = {"site-packages", "dist-packages"}
_OF_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_MAIN = ("__main__", "__mp_main__")  # the second is the first in a process that multiprocessing started


def _real(path: str | os.PathLike[str]) -> str:
    return os.path.realpath(os.path.abspath(path))


def _library_folders() -> tuple[str, ...]:
    import numpy

    # Not sysconfig's paths: to ask for them takes as long as the rest of this module.
    folders = {os.path.dirname(os.__file__), *site.getsitepackages(), site.getusersitepackages(), _PACKAGE, os.path.dirname(numpy.__file__)}
    return tuple({known + os.sep for f in folders for known in (os.path.abspath(f), _real(f))})


def _project_of(folder: str) -> str:
    """The nearest folder at or above `folder` that is a project's, else `folder`."""
    home = os.path.expanduser("~")
    parent = os.path.abspath(folder)
    while parent != os.path.dirname(parent):
        if parent != home and any(os.path.exists(os.path.join(parent, name)) for name in _OF_PROJECTS):
            return parent
        parent = os.path.dirname(parent)
    return folder


class Owner:
    """A program's folders. What lies in them is its own, unless it is installed (site-packages) or Python's.

    Parameters
    ----------
    roots : iterable of str
        Folders of the program's modules.
    """

    def __init__(self, roots: tuple[str, ...]) -> None:
        self.roots = tuple(dict.fromkeys(_real(r) for r in roots))
        self._libraries = _library_folders()
        self._inside = tuple(r.rstrip(os.sep) + os.sep for r in self.roots if r != os.path.dirname(r))
        self._known: dict[str, bool] = {}

    @classmethod
    def of_folder(cls, folder: str) -> Owner:
        """The project around a folder."""
        return cls((folder, _project_of(_real(folder))))

    @classmethod
    def of_file(cls, file: str) -> Owner:
        """The project around a program's file, and the current folder."""
        folder = os.path.dirname(_real(file))
        return cls((folder, _project_of(folder), os.getcwd()))

    def _is_library(self, path: str) -> bool:
        return path.startswith(self._libraries) or not _OF_LIBRARIES.isdisjoint(path.split(os.sep))

    def has(self, file: str, module: str = "") -> bool:
        """Whether a source file, loaded as `module`, is the program's."""
        try:
            return self._known[file]
        except KeyError:
            own = self._known[file] = not self._is_library(os.path.abspath(file)) and self._has_real(_real(file), module)
            return own

    def _has_real(self, path: str, module: str) -> bool:
        return not self._is_library(path) and (module in _MAIN or path.startswith(self._inside))

    def has_frame(self, frame: FrameType | None) -> bool:
        """Whether a frame runs code of the program; code without a file belongs to whoever runs it."""
        while frame is not None:
            file, module = frame.f_code.co_filename, frame.f_globals.get("__name__", "")
            if not file.startswith("<"):
                return self.has(file, module)
            if module in _MAIN:
                return True
            frame = frame.f_back
        return False
