"""The norm as SciPy has it: it looks for NaN and infinity, and a vector's Euclidean norm neither overflows nor underflows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ... import _broadcloth as _c
from ... import linalg as _linalg
from ..._broadcloth import ndarray
from ._operands import require_finite

if TYPE_CHECKING:
    from ...typing import ArrayLike, AxisLike


# Norms below it are of elements whose squares left the range.
_LEAST = {c: math.sqrt(float(np.finfo(c).tiny)) / float(np.finfo(c).eps) for c in "efdFD"}


def norm(a: ArrayLike, ord: float | str | None = None, axis: AxisLike = None, keepdims: bool = False, check_finite: bool = True) -> ndarray:
    """The norm of vectors or matrices, as that of `broadcloth.linalg`.

    Parameters
    ----------
    a : array_like
    ord : float or str, optional
        As in `broadcloth.linalg.norm`: the root of the sum of squares unless given.
    axis : int or pair of ints, optional
        The axes of vectors or matrices; all axes unless given.
    keepdims : bool
        Whether those axes stay, with the length 1.
    check_finite : bool
        Whether NaN and infinity are looked for.

    Raises
    ------
    ValueError
        `a` holds NaN or infinity.

    Examples
    --------
    >>> bc.scipy.linalg.norm([3.0, 4.0])
    array(5.)
    """
    x = _c.asarray(a)
    if not check_finite:
        return _linalg.norm(x, ord, axis, keepdims)
    if x.dtype.kind in "fc":
        require_finite(x)
    made = _linalg.norm(x, ord, axis, keepdims)
    euclidean = x.ndim == 1 and x.size and x.dtype.kind in "fc" and ord in (None, 2) and axis is None and not keepdims
    if euclidean and not _LEAST[x.dtype.char] < float(made) < math.inf:
        largest = abs(x).max()
        return made if float(largest) == 0 else largest * _linalg.norm(x / largest)
    return made
