"""The cosine-sine decomposition of unitary matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._operands import dagger, operand

if TYPE_CHECKING:
    from ...typing import ArrayLike


def cossin(
    X: ArrayLike,
    p: int | None = None,
    q: int | None = None,
    separate: bool = False,
    swap_sign: bool = False,
    compute_u: bool = True,
    compute_vh: bool = True,
) -> Any:
    """The factors X = U @ CS @ Vh of a unitary matrix in four blocks: U and Vh are block diagonal, CS has cosines and sines on diagonals.

    Made of singular value and QR decompositions of the blocks (Van Loan, 1985). How many angles are large is looked at.

    Parameters
    ----------
    X : array_like, (..., m, m), or four blocks X11, X12, X21, X22
        Unitary; that is not checked.
    p, q : int, optional
        Rows and columns of the first block; 1 if the other alone is given. Without both, X is four blocks.
    separate : bool
        Gives (U1, U2), the angles and (V1h, V2h).
    swap_sign : bool
        Puts the minus signs into the lower left block, not into the upper right one.
    compute_u, compute_vh : bool
        Whether the outer factors are results; without, empty arrays stand for them.

    Returns
    -------
    U : ndarray, (..., m, m)
    CS : ndarray, (..., m, m), real
    Vh : ndarray, (..., m, m)

    Raises
    ------
    ValueError
        The blocks are not those of a square matrix.

    Examples
    --------
    >>> u, cs, vh = bc.scipy.linalg.cossin([[0.6, -0.8], [0.8, 0.6]], p=1, q=1)
    >>> cs.round(6)
    array([[ 0.6, -0.8],
           [ 0.8,  0.6]])
    """
    blocks = _given_blocks(X) if not (p or q) else _cut_blocks(operand(X), 1 if p is None else int(p), 1 if q is None else int(q))
    _check_blocks(blocks)
    stack = blocks[0].shape[:-2]
    if stack:
        single = [[b.reshape(-1, *b.shape[-2:])[i] for b in blocks] for i in range(math.prod(stack))]
        parts = list(zip(*(_angles_and_factors(each, swap_sign) for each in single)))
        theta, u1, u2, v1h, v2h = (_c.stack(list(part)).reshape(*stack, *part[0].shape) for part in parts)
    else:
        theta, u1, u2, v1h, v2h = _angles_and_factors(blocks, swap_sign)
    none = _c.empty((*stack, 0, 0), u1.dtype, device=u1.device)
    if separate:
        return ((u1, u2) if compute_u else (none, none)), theta, ((v1h, v2h) if compute_vh else (none, none))
    middle = _middle(theta, u1.shape[-1], u2.shape[-1], v1h.shape[-1], v2h.shape[-1], swap_sign)
    return (_diagonal_blocks(u1, u2) if compute_u else none), middle, (_diagonal_blocks(v1h, v2h) if compute_vh else none)


def _cut_blocks(x: ndarray, p: int, q: int) -> list[ndarray]:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Cosine Sine decomposition only supports square matrices, got {x.shape[-2:]}")
    m = x.shape[-1]
    for name, count in (("p", p), ("q", q)):
        if not 0 < count < m:
            raise ValueError(f"invalid {name}={count}, 0<{name}<{m} must hold")
    return [x[..., :p, :q], x[..., :p, q:], x[..., p:, :q], x[..., p:, q:]]


def _given_blocks(X: Any) -> list[ndarray]:
    if not isinstance(X, Iterable):
        raise ValueError("When p and q are None, X must be an Iterable containing the subblocks of X")
    parts = list(X)
    if len(parts) != 4:
        raise ValueError(f"When p and q are None, exactly four arrays should be in X, got {len(parts)}")
    blocks = [_c.atleast_2d(operand(part)) for part in parts]
    dtype = np.result_type(*(b.dtype for b in blocks))
    return [b.astype(dtype) for b in blocks]


def _check_blocks(blocks: list[ndarray]) -> None:
    for name, block in zip(("x11", "x12", "x21", "x22"), blocks):
        if block.shape[-1] == 0:
            raise ValueError(f"{name} can't be empty")
    (p, q), (low, wide) = blocks[0].shape[-2:], blocks[3].shape[-2:]
    for name, block, wanted in (("x12", blocks[1], (p, wide)), ("x21", blocks[2], (low, q))):
        if block.shape[-2:] != wanted:
            raise ValueError(f"Invalid {name} dimensions: desired {wanted}, got {block.shape[-2:]}")
    if p + low != q + wide:
        raise ValueError(
            "The subblocks have compatible sizes but don't form a square array "
            f"(instead they form a {p + low}x{q + wide} array). This might be due to missing p, q arguments."
        )


def _positive_qr(a: ndarray) -> tuple[ndarray, ndarray]:
    """A complete Q whose first columns make R's diagonal not negative, and that diagonal."""
    q, r = _c.linalg_qr(a, "complete")
    diagonal = r.diagonal(0, -2, -1)
    size = abs(diagonal)
    phase = _c.where(size > 0, diagonal / _c.where(size > 0, size, 1), 1)
    count = diagonal.shape[0]
    return _c.concatenate([q[:, :count] * phase, q[:, count:]], 1), size


def _angles_and_factors(blocks: list[ndarray], swap_sign: bool) -> tuple[ndarray, ...]:
    """The angles, U1, U2, V1h and V2h of one matrix.

    Cosines above 1/sqrt(2) say little of their angles, nor of the vectors that belong to them: those come from the sines, the singular
    values of the block below, and the others from the cosines."""
    x11, x12, x21, x22 = blocks
    (p, q), (low, wide) = x11.shape, x22.shape
    least = min(p, q)
    pairs = min(p, low, q, wide)
    ones, further = least - pairs, min(low, wide) - pairs  # identities in the blocks 11 and 22
    u1, cosine, v1h = _c.linalg_svd(x11, 2)
    v1 = dagger(v1h)
    large = int((cosine > math.sqrt(0.5)).sum())

    # The columns below whose sines are large are orthogonal up to rounding: their QR factors are what is wanted.
    if large < q:
        basis, sine = _positive_qr(_c.matmul(x21, v1[:, large:]))
    else:
        basis, sine = _c.eye(low, dtype=x21.dtype, device=x21.device), None
    own, rest = basis[:, : q - large], basis[:, q - large :]
    if large:
        u, small, wh = _c.linalg_svd(_c.matmul(dagger(rest), _c.matmul(x21, v1[:, :large])), 2)
        count = small.shape[0]
        v1 = _c.concatenate([_c.matmul(v1[:, :large], dagger(wh)[:, ::-1]), v1[:, large:]], 1)
        turned = _c.matmul(rest, u)
        u2 = _c.concatenate([turned[:, count:], turned[:, :count][:, ::-1], own], 1)
        turn, upper = _positive_qr(_c.matmul(dagger(u1[:, :large]), _c.matmul(x11, v1[:, :large])))
        u1 = _c.concatenate([_c.matmul(u1[:, :large], turn), u1[:, large:]], 1)
        cosine = _c.concatenate([upper, cosine[large:]])
        sines = small[::-1] if sine is None else _c.concatenate([small[::-1], sine])
    else:
        assert sine is not None
        u2, sines = _c.concatenate([rest, own], 1), sine
    cosine, sines = cosine[ones:least], sines[:pairs]
    theta = _c.ufuncs["arctan2"](sines, cosine)

    # Rows of V2h stand in the blocks on the right, -S V2h above and C V2h below.
    above, below = _c.matmul(dagger(u1), x12), _c.matmul(dagger(u2), x22)
    rows = [
        below[:further],
        _c.ufuncs["cos"](theta)[:, None] * below[further : further + pairs] - _c.ufuncs["sin"](theta)[:, None] * above[ones:least],
        -above[least:],
    ]
    v2h = _c.concatenate(rows, 0)
    return (theta, u1, -u2, dagger(v1), -v2h) if swap_sign else (theta, u1, u2, dagger(v1), v2h)


def _diagonal_blocks(a: ndarray, b: ndarray) -> ndarray:
    n, m = a.shape[-1], b.shape[-1]
    whole = _c.zeros((*a.shape[:-2], n + m, n + m), a.dtype, device=a.device)
    whole[..., :n, :n] = a
    whole[..., n:, n:] = b
    return whole


def _middle(theta: ndarray, p: int, low: int, q: int, wide: int, swap_sign: bool) -> ndarray:
    """The factor of cosines and sines: those of a block lie on one diagonal, beside ones."""
    pairs = theta.shape[-1]
    cosine, sine = _c.ufuncs["cos"](theta), _c.ufuncs["sin"](theta)
    whole = _c.zeros((*theta.shape[:-1], p + low, q + wide), theta.dtype, device=theta.device)

    def put(row: int, column: int, values: Any, count: int) -> None:
        index = _c.arange(count, device=theta.device)
        whole[..., row + index, column + index] = values

    ones11, ones12 = min(p, q) - pairs, min(p, wide) - pairs
    ones21, ones22 = min(low, q) - pairs, min(low, wide) - pairs
    above, below = (1, -1) if swap_sign else (-1, 1)
    put(0, 0, 1, ones11)
    put(ones11, ones11, cosine, pairs)
    put(p, q, 1, ones22)
    put(p + ones22, q + ones22, cosine, pairs)
    # The sines end where their blocks end.
    put(p - ones12 - pairs, q + wide - ones12 - pairs, above * sine, pairs)
    put(p - ones12, q + wide - ones12, above, ones12)
    put(p + low - ones21 - pairs, q - ones21 - pairs, below * sine, pairs)
    put(p + low - ones21, q - ones21, below, ones21)
    return whole
