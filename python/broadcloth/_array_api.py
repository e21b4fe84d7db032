"""What the array API standard asks of a namespace about itself: `__array_namespace_info__()` and the versions that it follows.

Source: Python array API standard, 2025.12, "Inspection".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._device import devices

__array_api_version__ = "2025.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class Info:
    """The answers of `broadcloth.__array_namespace_info__()`; dtypes and capabilities are the same on every device."""

    __module__ = "broadcloth"

    def capabilities(self) -> dict[str, Any]:
        """Which optional behaviours of the standard are here, and how many dimensions an array may have.

        Examples
        --------
        >>> bc.__array_namespace_info__().capabilities()["boolean indexing"]
        True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device on which arrays are made that name none.

        Examples
        --------
        >>> bc.__array_namespace_info__().default_device() == bc.ones(1).device
        True
        """
        return _c.device(_c.default_device())

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of arrays that are made of Python's numbers, and of indices.

        Examples
        --------
        >>> bc.__array_namespace_info__().default_dtypes()["real floating"]
        dtype('float64')
        """
        _checked(device)
        names = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, Any]:
        """The standard's dtypes of a kind, or of several; of all kinds where none is named.

        Raises
        ------
        ValueError
            The kind is none of the standard's.

        Examples
        --------
        >>> sorted(bc.__array_namespace_info__().dtypes(kind="real floating"))
        ['float32', 'float64']
        """
        _checked(device)
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        for k in kinds:
            if k not in _KINDS:
                raise ValueError(f"dtypes: expected a kind among {sorted(_KINDS)}, got {k!r}")
        return {name: np.dtype(name) for k in kinds for name in _KINDS[k]}

    def devices(self) -> list[Any]:
        """The CPU and every GPU that can be used.

        Examples
        --------
        >>> bc.device("cpu") in bc.__array_namespace_info__().devices()
        True
        """
        return devices()


def check_version(version: str) -> None:
    """Raises ValueError unless the standard has such a version and the namespace follows it."""
    if version not in VERSIONS:
        raise ValueError(f"__array_namespace__: expected api_version among {', '.join(VERSIONS)}, got {version!r}")


def _checked(device: Any) -> None:
    if device is not None and _c.device(device) not in devices():
        raise ValueError(f"{_c.device(device)} is not there: expected one of {devices()}")


def __array_namespace_info__() -> Info:
    """What this namespace can do, in the words of the array API standard.

    Examples
    --------
    >>> sorted(bc.__array_namespace_info__().default_dtypes())
    ['complex floating', 'indexing', 'integral', 'real floating']
    """
    return Info()
