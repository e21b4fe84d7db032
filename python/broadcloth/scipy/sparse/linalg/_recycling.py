"""GMRES that keeps directions of earlier cycles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .... import _broadcloth as _c
from ...._broadcloth import ndarray
from ._krylov import _GENERAL, System, _documented, norm, orthogonalized

if TYPE_CHECKING:
    from ....typing import ArrayLike

_vdot = _c.vdot


@_documented(
    _GENERAL,
    steps="The greatest number of outer iterations (1000).",
    callback="Called with x before each outer iteration. `m` inner iterations make an outer one, and `k` pairs (c, u) with c = A @ u\n"
    "        are kept (m unless given): of more the oldest goes, or with truncate='smallest' what the last solution used least. `CU` is\n"
    "        a list of such pairs that is used and changed in place; with `discard_C` the c, which belong to this matrix, are None\n"
    "        afterwards.",
)
def gcrotmk(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int = 1000, M: Any = None,
    callback: Callable[[ndarray], Any] | None = None, m: int = 20, k: int | None = None, CU: list[Any] | None = None,
    discard_C: bool = False, truncate: str = "oldest",
) -> tuple[ndarray, int]:  # fmt: skip
    """GMRES inside a method of conjugate residuals, GCROT(m, k) (de Sturler, 1999; Hicken & Zingg, 2010)."""
    if truncate not in ("oldest", "smallest"):
        raise ValueError(f"Invalid value for 'truncate': {truncate!r}")
    s = System("gcrotmk", A, b, x0, M)
    size, limit = s.tolerance(rtol, atol)
    if not np.isfinite(size):
        raise ValueError("RHS must contain only finite numbers")
    kept: list[Any] = [] if CU is None else CU
    if size == 0:
        return s.b, 0
    kept[:] = _orthonormal_pairs(s, kept)
    x, r = _corrected(s.x, s.residual(), kept)
    count, done = m if k is None else k, maxiter
    for step in range(maxiter):
        if callback:
            callback(x)
        length = float(norm(r))
        if length <= limit:
            # The recurrence drifts: the residual itself decides.
            r = s.b - s.A.matvec(x)
            length = float(norm(r))
            if length <= limit:
                done = 0
                break
            x, r = _corrected(x, r, kept)
            length = float(norm(r))
            if length <= limit:
                continue
        found = _step(s, r, length, m + max(count - len(kept), 0), kept, limit)
        if found is None:
            done = step + 1
            break
        c, u, used = found
        part = _vdot(c, r)
        x, r = x + part * u, r - part * c
        if len(kept) >= count > 0:
            del kept[0 if truncate == "oldest" else int(np.argmin(used))]
        if count > 0:
            kept.append((c, u))
    if done and float(norm(s.b - s.A.matvec(x))) <= limit:
        done = 0
    if discard_C:
        kept[:] = [(None, u) for _, u in kept]
    return x, done


def _corrected(x: ndarray, r: ndarray, pairs: list[Any]) -> tuple[ndarray, ndarray]:
    """The solution and the residual without its parts along the images of kept directions."""
    for c, u in pairs:
        part = _vdot(c, r)
        x, r = x + part * u, r - part * c
    return x, r


def _orthonormal_pairs(s: System, pairs: list[Any]) -> list[Any]:
    """Pairs (c, u) with c = A u and orthonormal c; those that add nothing go."""
    found: list[tuple[ndarray, ndarray]] = []
    for c, u in reversed(pairs):
        u = _c.asarray(u, device=s.b.device).astype(s.dtype)
        c = s.A.matvec(u) if c is None else _c.asarray(c, device=s.b.device).astype(s.dtype)
        before = float(norm(c))
        if found:
            c, parts = orthogonalized(_c.stack([p[0] for p in found]), c)
            u = u - parts @ _c.stack([p[1] for p in found])
        after = float(norm(c))
        if after > 1e-12 * before:
            found.append((c / after, u / after))
    return found[::-1]


def _step(s: System, r: ndarray, length: float, width: int, kept: list[Any], limit: float) -> tuple[ndarray, ndarray, np.ndarray] | None:
    """A direction u, its image c of length 1 and how much of the kept directions it has: the best correction that Arnoldi's process with
    a preconditioner finds in the space orthogonal to their images."""
    # Vectors in host memory are NumPy's, for which nothing has to wait.
    near = (lambda x: _c.asnumpy(x)) if r.device.type == "cpu" else lambda x: x
    on_device = lambda a: _c.asarray(a, device=r.device)
    images = near(_c.stack([c for c, _ in kept])) if kept else None
    V = near(_c.zeros((width + 1, s.n), s.dtype, device=r.device)).copy()
    V[0] = near(r) / length
    directions, H, B = [], np.zeros((width + 1, width), s.dtype), np.zeros((len(kept), width), s.dtype)
    rotations = _Rotations(length)
    for j in range(min(width, s.n)):
        z = s.M.matvec(on_device(V[j]))
        w = near(s.A.matvec(z))
        before = _length(w)
        if not np.isfinite(before):
            break
        directions.append(z)
        if images is not None:
            w, parts = orthogonalized(images, w)
            B[:, j] = _c.asnumpy(parts)
        w, h = orthogonalized(V[: j + 1], w)
        after = _length(w)
        H[: j + 1, j], H[j + 1, j] = _c.asnumpy(h), after
        if after <= np.finfo(s.dtype).eps * before or rotations.error(H[: j + 2, j].tolist()) <= limit:
            break
        V[j + 1] = w / after
    used = len(directions)
    if used == 0:
        return None
    right = np.zeros(used + 1, s.dtype)
    right[0] = length
    y = np.linalg.lstsq(H[: used + 1, :used], right, rcond=None)[0].astype(s.dtype)
    u, parts = on_device(y) @ _c.stack(directions), B[:, :used] @ y
    # The image anew: that of Arnoldi's process has the errors of the kept pairs, which are large beside a short correction.
    c = s.A.matvec(u)
    if images is not None:
        c, more = orthogonalized(on_device(images), c)
        u = u - more @ _c.stack([u for _, u in kept])
    size = float(norm(c))
    if not np.isfinite(size) or size == 0:
        return None
    return c / size, u / size, abs(parts)


def _length(x: Any) -> float:
    return math.sqrt(np.vdot(x, x).real) if isinstance(x, np.ndarray) else float(norm(x))


class _Rotations:
    """Givens rotations that make Arnoldi's matrix triangular, by which each step's error is known without a solution."""

    def __init__(self, length: float) -> None:
        self.rotations: list[tuple[Any, Any]] = []
        self.left = length

    def error(self, column: list[Any]) -> float:
        """The least error with one more column, whose last element is real."""
        for i, (c, s) in enumerate(self.rotations):
            column[i : i + 2] = c.conjugate() * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]
        size = math.hypot(abs(column[-2]), column[-1].real)
        if size > 0:
            self.rotations.append((column[-2] / size, column[-1].real / size))
            self.left *= self.rotations[-1][1]
        return self.left
