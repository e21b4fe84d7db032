"""The cache of plans, under CuPy's names: how many plans of transforms a device keeps, and what they take.

A plan holds what a transform of one length needs besides its input. It is made when a length is transformed for the first time; plans that
were not used for longest go first.

Examples
--------
>>> cache = bc.fft.config.get_plan_cache()
>>> cache.clear()
>>> values = bc.fft.fft(bc.ones(100)).get()
>>> cache.get_curr_size()
1
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from .. import _broadcloth as _c
from .._namespace import listing

if TYPE_CHECKING:
    from ..typing import DeviceLike

__all__ = [
    "PlanCache",
    "clear_plan_cache",
    "enable_nd_planning",
    "get_plan_cache",
    "get_plan_cache_max_memsize",
    "get_plan_cache_size",
    "set_plan_cache_max_memsize",
    "set_plan_cache_size",
    "show_plan_cache_info",
    "use_multi_gpus",
]

# CuPy's switches. Plans of several axes are always made; a transform runs on one device.
enable_nd_planning = True
use_multi_gpus = False


class PlanCache:
    """The plans that one device keeps.

    Parameters
    ----------
    device : device_like, optional
        The default device if not given.

    Examples
    --------
    >>> bc.fft.config.PlanCache("cpu").get_size()
    1024
    """

    def __init__(self, device: DeviceLike = None) -> None:
        self.device = _c.default_device() if device is None else _c.device(device)

    def get_size(self) -> int:
        """How many plans are kept at most; 0: none.

        Examples
        --------
        >>> bc.fft.config.get_plan_cache().get_size() > 0
        True
        """
        return _c.fft_plans(self.device)[2]

    def get_curr_size(self) -> int:
        """How many plans there are.

        Examples
        --------
        >>> bc.fft.config.get_plan_cache().get_curr_size() >= 0
        True
        """
        return _c.fft_plans(self.device)[0]

    def get_memsize(self) -> int:
        """How many bytes the plans may take; -1: that is not limited.

        Examples
        --------
        >>> bc.fft.config.PlanCache("cpu").get_memsize() >> 20
        128
        """
        return _c.fft_plans(self.device)[3]

    def get_curr_memsize(self) -> int:
        """How many bytes the plans take, as far as the library tells (cuFFT does not).

        Examples
        --------
        >>> bc.fft.config.get_plan_cache().get_curr_memsize() >= 0
        True
        """
        return _c.fft_plans(self.device)[1]

    def set_size(self, size: int) -> None:
        """Keeps at most `size` plans from now on; 0 keeps none.

        Raises
        ------
        ValueError
            `size` is negative.

        Examples
        --------
        >>> bc.fft.config.PlanCache("cpu").set_size(1024)
        """
        size = operator.index(size)
        if size < 0:
            raise ValueError(f"set_size: expected a number of plans of at least 0, got {size}")
        _c.fft_limit_plans(size, self.get_memsize(), self.device)

    def set_memsize(self, memsize: int) -> None:
        """Keeps plans of at most `memsize` bytes from now on; -1: any.

        Raises
        ------
        ValueError
            `memsize` is below -1, or the library does not tell what plans take.

        Examples
        --------
        >>> bc.fft.config.PlanCache("cpu").set_memsize(128 << 20)
        """
        memsize = operator.index(memsize)
        if memsize < -1:
            raise ValueError(f"set_memsize: expected a number of bytes of at least 0 or -1, got {memsize}")
        _c.fft_limit_plans(self.get_size(), memsize, self.device)

    def clear(self) -> None:
        """Forgets all plans.

        Examples
        --------
        >>> bc.fft.config.get_plan_cache().clear()
        """
        _c.fft_forget_plans(self.device)

    def show_info(self) -> None:
        """Prints what there is.

        Examples
        --------
        >>> bc.fft.config.PlanCache("cpu").clear()
        >>> bc.fft.config.PlanCache("cpu").show_info()
        FFT plans of cpu: 0 of at most 1024, 0 bytes of at most 134217728
        """
        plans, taken, most, most_bytes = _c.fft_plans(self.device)
        limit = f" of at most {most_bytes}" if most_bytes >= 0 else ""
        print(f"FFT plans of {self.device}: {plans} of at most {most}, {taken} bytes{limit}")


def get_plan_cache() -> PlanCache:
    """The cache of the default device.

    Examples
    --------
    >>> bc.fft.config.get_plan_cache().device == bc.default_device()
    True
    """
    return PlanCache()


def clear_plan_cache() -> None:
    """Forgets the plans of the default device.

    Examples
    --------
    >>> bc.fft.config.clear_plan_cache()
    """
    PlanCache().clear()


def get_plan_cache_size() -> int:
    """How many plans the default device keeps at most.

    Examples
    --------
    >>> bc.fft.config.get_plan_cache_size() > 0
    True
    """
    return PlanCache().get_size()


def set_plan_cache_size(size: int) -> None:
    """Keeps at most `size` plans on the default device from now on.

    Examples
    --------
    >>> bc.fft.config.set_plan_cache_size(bc.fft.config.get_plan_cache_size())
    """
    PlanCache().set_size(size)


def get_plan_cache_max_memsize() -> int:
    """How many bytes the plans of the default device may take; -1: that is not limited.

    Examples
    --------
    >>> bc.fft.config.get_plan_cache_max_memsize() >= -1
    True
    """
    return PlanCache().get_memsize()


def set_plan_cache_max_memsize(size: int) -> None:
    """Keeps plans of at most `size` bytes on the default device from now on; -1: any.

    Examples
    --------
    >>> bc.fft.config.set_plan_cache_max_memsize(bc.fft.config.get_plan_cache_max_memsize())
    """
    PlanCache().set_memsize(size)


def show_plan_cache_info() -> None:
    """Prints which plans the default device keeps.

    Examples
    --------
    >>> with bc.device("cpu"):
    ...     bc.fft.config.clear_plan_cache()
    ...     bc.fft.config.show_plan_cache_info()
    FFT plans of cpu: 0 of at most 1024, 0 bytes of at most 134217728
    """
    PlanCache().show_info()

__dir__ = listing(__all__)
