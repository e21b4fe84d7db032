"""Arrays in files: NumPy's .npy and .npz, and text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from .typing import ArrayLike, DeviceLike, DTypeLike


def _host(a: Any) -> np.ndarray[Any, Any]:
    """A NumPy array of what is written; whether its derivatives are followed is not written."""
    found: np.ndarray[Any, Any] = _c.asnumpy(a.detach() if isinstance(a, ndarray) else a, order="A")
    return found


def _placed(found: Any, device: DeviceLike) -> Any:
    """Arrays of what NumPy has read: one or a list. A masked array stays NumPy's, with its mask."""
    if isinstance(found, list):
        return [_placed(f, device) for f in found]
    return found if isinstance(found, np.ma.MaskedArray) else _c.asarray(found, device=device)


def _numbers(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a reader; an array of columns as NumPy's."""
    return {k: _host(v) if isinstance(v, ndarray) else v for k, v in options.items()}


def save(file: Any, arr: ArrayLike, allow_pickle: bool = True) -> None:
    """Writes an array to a .npy file, which numpy.load reads too.

    Examples
    --------
    >>> import io
    >>> f = io.BytesIO()
    >>> bc.save(f, bc.arange(3))
    >>> _ = f.seek(0)
    >>> bc.load(f)
    array([0, 1, 2])
    """
    np.save(file, _host(arr), allow_pickle=allow_pickle)


def savez(file: Any, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """Writes arrays to an uncompressed .npz file.

    Examples
    --------
    >>> import io
    >>> bc.savez(io.BytesIO(), a=bc.arange(3))
    """
    arrays: dict[str, Any] = {k: _host(v) for k, v in kwds.items()}
    np.savez(file, *map(_host, args), allow_pickle=allow_pickle, **arrays)


def savez_compressed(file: Any, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """Writes arrays to a compressed .npz file.

    Examples
    --------
    >>> import io
    >>> bc.savez_compressed(io.BytesIO(), a=bc.arange(3))
    """
    arrays: dict[str, Any] = {k: _host(v) for k, v in kwds.items()}
    np.savez_compressed(file, *map(_host, args), allow_pickle=allow_pickle, **arrays)


class NpzFile(Mapping[str, ndarray]):
    """The arrays of an .npz file by name, each read when it is asked for; `load` makes one.

    Parameters
    ----------
    found : numpy.lib.npyio.NpzFile
        The open file.
    device : device or str, optional
        Where the arrays go.

    Examples
    --------
    >>> import io
    >>> f = io.BytesIO()
    >>> bc.savez(f, a=bc.arange(3), b=bc.ones(2))
    >>> _ = f.seek(0)
    >>> with bc.load(f) as arrays:
    ...     print(arrays.files, arrays["a"])
    ['a', 'b'] [0 1 2]
    """

    def __init__(self, found: Any, device: DeviceLike = None) -> None:
        self._found, self._device = found, device

    @property
    def files(self) -> list[str]:
        """The arrays' names."""
        return self._found.files

    def __getitem__(self, key: str) -> ndarray:
        return _c.asarray(self._found[key], device=self._device)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __contains__(self, key: object) -> bool:
        return key in self._found

    def close(self) -> None:
        """Closes the file; its arrays cannot be read after that."""
        self._found.close()

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def f(self) -> Any:
        """The arrays as attributes, for names that Python allows."""
        return type(self._found.f)(self)

    @property
    def fid(self) -> Any:
        """The file where the archive lies, if this object opened it."""
        return self._found.fid

    @property
    def zip(self) -> Any:
        """The archive."""
        return self._found.zip

    def __repr__(self) -> str:
        return repr(self._found)


np.lib.npyio.NpzFile.register(NpzFile)  # for programs that ask whether a file holds several arrays


def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10_000,
    device: DeviceLike = None,
) -> Any:
    """Reads a .npy file as an array, or opens an .npz file, whose arrays are then found by their names.

    Parameters
    ----------
    file : path or binary file
    mmap_mode : {None, 'r', 'c'}
        How NumPy opens a .npy file; the array is a copy in any case.
    allow_pickle : bool
        Whether a pickled object may be loaded; only for files that are trusted.
    fix_imports, encoding
        How pickles of Python 2 are read.
    max_header_size : int
        The longest header that is taken of files that are not trusted.
    device : device or str, optional
        Where the arrays go.

    Returns
    -------
    ndarray or NpzFile

    Raises
    ------
    NotImplementedError
        `mmap_mode` is 'r+' or 'w+': what is written to the array would not reach the file.

    Examples
    --------
    >>> import io
    >>> f = io.BytesIO()
    >>> bc.savez(f, a=bc.arange(3))
    >>> _ = f.seek(0)
    >>> bc.load(f)["a"]
    array([0, 1, 2])
    """
    if mmap_mode in ("r+", "w+"):
        raise NotImplementedError(
            f"load: with mmap_mode={mmap_mode!r} what is written to the array would have to reach the file, and this array is a copy; use "
            "numpy.load or numpy.memmap, and broadcloth.asarray of the parts that are computed with"
        )
    found = np.load(
        file,
        mmap_mode=mmap_mode,
        allow_pickle=allow_pickle,
        fix_imports=fix_imports,
        encoding=encoding,  # type: ignore[arg-type]
        max_header_size=max_header_size,
    )
    return NpzFile(found, device) if hasattr(found, "files") else _c.asarray(found, device=device)


def fromfile(
    file: Any,
    dtype: DTypeLike = np.float64,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: Any = None,
    device: DeviceLike = None,
) -> ndarray:
    """Reads numbers from a binary file, or from text where `sep` parts them.

    Parameters
    ----------
    file : path or open file
    dtype : dtype
        The numbers' type in the file.
    count : int
        How many are read; all of them for -1.
    sep : str
        What stands between numbers of a text; a binary file for "".
    offset : int
        How many bytes from the file's place on are left out; of binary files only.
    like : optional
        Ignored; for programs that pass it to NumPy's function.
    device : device or str, optional
        Where the array goes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as f:
    ...     _ = f.write(bytes([1, 2, 3]))
    ...     _ = f.seek(0)
    ...     bc.fromfile(f, dtype="uint8")
    array([1, 2, 3], dtype=uint8)
    """
    return _c.asarray(np.fromfile(file, dtype, count, sep, offset), device=device)


def fromstring(
    string: Any, dtype: DTypeLike = np.float64, count: int = -1, *, sep: str = "", like: Any = None, device: DeviceLike = None
) -> ndarray:
    """Reads numbers from text.

    Parameters
    ----------
    string : str
    dtype : dtype
        The result's type.
    count : int
        How many numbers are read; all of them for -1.
    sep : str
        What stands between them.
    like : optional
        Ignored; for programs that pass it to NumPy's function.
    device : device or str, optional
        Where the array goes.

    Raises
    ------
    ValueError
        The text holds something else, or `sep` is empty.

    Examples
    --------
    >>> bc.fromstring("1, 2", dtype=int, sep=",")
    array([1, 2])
    """
    return _c.asarray(np.fromstring(string, dtype, count, sep=sep), device=device)


def loadtxt(fname: Any, *args: Any, device: DeviceLike = None, **kwargs: Any) -> Any:
    """Reads numbers from a text file, with numpy.loadtxt's options.

    Examples
    --------
    >>> bc.loadtxt(["1,2", "3,4"], delimiter=",")
    array([[1., 2.],
           [3., 4.]])
    """
    return _placed(np.loadtxt(fname, *args, **_numbers(kwargs)), device)


def genfromtxt(fname: Any, *args: Any, device: DeviceLike = None, **kwargs: Any) -> Any:
    """Reads numbers from a text file with gaps, with numpy.genfromtxt's options. With `usemask=True` the array is NumPy's masked one.

    Examples
    --------
    >>> bc.genfromtxt(["1,", "3,4"], delimiter=",")
    array([[ 1., nan],
           [ 3.,  4.]])
    """
    return _placed(np.genfromtxt(fname, *args, **_numbers(kwargs)), device)


def fromregex(file: Any, regexp: Any, dtype: Any, encoding: str | None = None, *, device: DeviceLike = None) -> Any:
    """Records of a text file, whose fields are the groups of a regular expression.

    Examples
    --------
    >>> import io
    >>> bc.fromregex(io.StringIO("a=1 b=2.5"), r"a=(\\d+) b=([\\d.]+)", [("a", int), ("b", float)])
    array([(1, 2.5)], dtype=[('a', '<i8'), ('b', '<f8')])
    """
    return _placed(np.fromregex(file, regexp, dtype, encoding), device)


def savetxt(fname: Any, X: ArrayLike, *args: Any, **kwargs: Any) -> None:
    """Writes a 1-d or 2-d array as text, with numpy.savetxt's options.

    Examples
    --------
    >>> import sys
    >>> bc.savetxt(sys.stdout, bc.arange(2), fmt="%d")
    0
    1
    """
    np.savetxt(fname, _host(X), *args, **kwargs)
