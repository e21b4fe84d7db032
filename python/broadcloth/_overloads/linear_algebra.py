"""Products, norms, factorisations and eigenvalues of matrices."""

from __future__ import annotations

import math

import numpy as np

from ._table import stands_for


@stands_for("numpy.inner")
def inner(a, b):
    return np.dot(a, b.T)


@stands_for("numpy.norm")
def norm(x, ord=None):
    order = ord
    if order is None:
        return np.linalg.norm(x)
    if x.ndim == 1:
        size = np.abs(x)
        if order == np.inf:
            return size.max() * 1.0
        if order == -np.inf:
            return size.min() * 1.0
        if order == 0:
            return np.count_nonzero(x) * 1.0
        return (size**order).sum() ** (1.0 / order)
    if order == 1 or order == -1:
        sums = np.abs(x).sum(0)
        return (sums.max() if order == 1 else sums.min()) * 1.0
    if order == np.inf or order == -np.inf:
        sums = np.abs(x).sum(1)
        return (sums.max() if order > 0 else sums.min()) * 1.0
    if order == 2 or order == -2:
        _, s, _ = svd(x, False)
        return s[0] if order == 2 else s[-1]
    raise ValueError("Invalid norm order for matrices.")


@stands_for("numpy.cross")
def cross(a, b):
    if a.ndim != 1 or b.ndim != 1 or a.size != 3 or b.size != 3:
        raise ValueError("cross: expected two vectors of three elements")
    out = np.empty(3, dtype=(a * b).dtype)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


@stands_for("numpy.kron")
def kron(a, b):
    if a.ndim == 1:
        return np.outer(a, b).ravel()
    n, m = a.shape
    k, w = b.shape
    out = np.empty((n * k, m * w), dtype=(a[:1, :1] * b[:1, :1]).dtype)
    for i in range(n):
        for j in range(m):
            out[i * k : (i + 1) * k, j * w : (j + 1) * w] = a[i, j] * b
    return out


@stands_for("numpy.cholesky")
def cholesky(a):
    n = a.shape[0]
    if a.shape[1] != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    out = np.zeros((n, n))
    for j in range(n):
        s = a[j, j] * 1.0
        for k in range(j):
            s -= out[j, k] * out[j, k]
        if not s > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite.")
        out[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j] * 1.0
            for k in range(j):
                t -= out[i, k] * out[j, k]
            out[i, j] = t / out[j, j]
    return out


def _reflect_columns(a, j, v, scale):
    """Householder's reflection of each column from row and column j on: a - scale * v (v^H a)."""
    for c in range(j, a.shape[1]):
        t = np.conj(v[0]) * a[j, c]
        for i in range(1, v.size):
            t += np.conj(v[i]) * a[j + i, c]
        t *= scale
        for i in range(v.size):
            a[j + i, c] -= t * v[i]


def _reflect_rows(a, j, v, scale):
    """The same from the right, of all rows from column j on: a - scale * (a v) v^H."""
    for r in range(a.shape[0]):
        t = a[r, j] * v[0]
        for i in range(1, v.size):
            t += a[r, j + i] * v[i]
        t *= scale
        for i in range(v.size):
            a[r, j + i] -= t * np.conj(v[i])


@stands_for("numpy.qr")
def qr(a):
    """Householder's reflections; signs as LAPACK's."""
    m, n = a.shape
    k = min(m, n)
    r = a.astype(np.float64)
    q = np.eye(m)
    for j in range(min(m - 1, n)):
        norm = 0.0
        for i in range(j, m):
            norm += r[i, j] * r[i, j]
        norm = math.sqrt(norm)
        if norm == 0.0:
            continue
        alpha = -norm if r[j, j] >= 0 else norm
        v = r[j:, j].copy()
        v[0] -= alpha
        length = 0.0
        for x in v:
            length += x * x
        if length == 0.0:
            continue
        _reflect_columns(r, j, v, 2.0 / length)
        _reflect_rows(q, j, v, 2.0 / length)
        for i in range(j + 1, m):
            r[i, j] = 0.0
    return q[:, :k].copy(), r[:k].copy()


def _jacobi_tangent(pp, qq, pq):
    """Of the smaller angle that makes the matrix [[pp, pq], [pq, qq]] diagonal."""
    theta = (qq - pp) / (2.0 * pq)
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    return -t if theta < 0 else t


def _rotate_columns(a, p, q, tangent):
    """Turns the plane of two columns."""
    c = 1.0 / math.sqrt(tangent * tangent + 1.0)
    s = tangent * c
    for k in range(a.shape[0]):
        x, y = a[k, p], a[k, q]
        a[k, p] = c * x - s * y
        a[k, q] = s * x + c * y


@stands_for("numpy.eigh")
def eigh(a):
    """Jacobi's rotations, cyclic by rows (Golub & Van Loan, 8.5)."""
    n = a.shape[0]
    if a.shape[1] != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    s = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            s[i, j] = s[j, i] = a[i, j]
    v = np.eye(n)
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += s[i, j] * s[i, j]
    for _ in range(60):
        off = 0.0
        for i in range(n):
            for j in range(i):
                off += s[i, j] * s[i, j]
        if off <= 1e-32 * total:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if s[p, q] == 0.0:
                    continue
                t = _jacobi_tangent(s[p, p], s[q, q], s[p, q])
                _rotate_columns(s, p, q, t)
                _rotate_columns(s.T, p, q, t)
                _rotate_columns(v, p, q, t)
    w = np.empty(n)
    for i in range(n):
        w[i] = s[i, i]
    order = np.argsort(w)
    vectors = np.empty((n, n))
    for j in range(n):
        for i in range(n):
            vectors[i, j] = v[i, order[j]]
    return w[order], vectors


@stands_for("numpy.eigvalsh")
def eigvalsh(a):
    w, _ = eigh(a)
    return w


@stands_for("numpy.svd")
def svd(a, full_matrices=True):
    """One-sided Jacobi rotations of the columns (Hestenes 1958)."""
    m, n = a.shape
    wide = m < n
    work = a.T.astype(np.float64) if wide else a.astype(np.float64)
    rows, columns = work.shape
    v = np.eye(columns)
    for _ in range(60):
        turned = False
        for p in range(columns - 1):
            for q in range(p + 1, columns):
                alpha, beta, gamma = 0.0, 0.0, 0.0
                for i in range(rows):
                    alpha += work[i, p] * work[i, p]
                    beta += work[i, q] * work[i, q]
                    gamma += work[i, p] * work[i, q]
                if gamma == 0.0 or abs(gamma) <= 1e-16 * math.sqrt(alpha * beta):
                    continue
                turned = True
                t = _jacobi_tangent(alpha, beta, gamma)
                _rotate_columns(work, p, q, t)
                _rotate_columns(v, p, q, t)
        if not turned:
            break
    sizes = np.empty(columns)
    for j in range(columns):
        length = 0.0
        for i in range(rows):
            length += work[i, j] * work[i, j]
        sizes[j] = math.sqrt(length)
    order = np.argsort(-sizes)
    values = sizes[order]
    left = np.zeros((rows, columns))
    right = np.empty((columns, columns))
    smallest = values[0] * 1e-15 * rows if columns > 0 else 0.0
    for j in range(columns):
        at = order[j]
        for i in range(columns):
            right[i, j] = v[i, at]
        if values[j] > smallest:
            for i in range(rows):
                left[i, j] = work[i, at] / values[j]
    wanted = rows if full_matrices else columns
    basis = np.zeros((rows, wanted))
    for j in range(wanted):
        fresh = j >= columns or values[j] <= smallest
        if not fresh:
            basis[:, j] = left[:, j]
            continue
        # A direction that the others do not have, by Gram and Schmidt twice.
        for start in range(rows):
            x = np.zeros(rows)
            x[start] = 1.0
            for _ in range(2):
                for k in range(wanted):
                    if k < j or (k < columns and values[k] > smallest):
                        other = basis[:, k] if k < j else left[:, k]
                        d = 0.0
                        for i in range(rows):
                            d += x[i] * other[i]
                        for i in range(rows):
                            x[i] -= d * other[i]
            length = math.sqrt((x * x).sum())
            if length > 0.5 / math.sqrt(rows + 1.0):
                basis[:, j] = x / length
                break
    if wide:
        return right, values, basis.T.copy()
    return basis, values, right.T.copy()


@stands_for("numpy.matrix_rank")
def matrix_rank(a, tol=None):
    if a.ndim < 2:
        return int(np.any(a != 0))
    _, s, _ = svd(a, False)
    limit = s[0] * max(a.shape[0], a.shape[1]) * 2.220446049250313e-16 if tol is None else tol
    return np.count_nonzero(s > limit)


@stands_for("numpy.pinv")
def pinv(a, rcond=1e-15):
    u, s, v = svd(a, False)
    scaled = np.zeros(s.size)
    for i in range(s.size):
        if s[i] > rcond * s[0]:
            scaled[i] = 1.0 / s[i]
    return (v.T * scaled) @ u.T


@stands_for("numpy.lstsq")
def lstsq(a, b, rcond=-1.0):
    _, s, _ = svd(a, False)
    x = pinv(a, 2.220446049250313e-16 * max(a.shape[0], a.shape[1])) @ b
    rank = matrix_rank(a)
    left = a @ x - b
    if b.ndim == 1:
        residuals = np.array([(left * left).sum()])
    else:
        residuals = (left * left).sum(0).ravel()
    if rank < a.shape[1] or a.shape[0] <= a.shape[1]:
        residuals = residuals[:0]
    return x, residuals, rank, s


@stands_for("numpy.cond")
def cond(a):
    _, s, _ = svd(a, False)
    return np.inf if s[-1] == 0 else s[0] / s[-1]


@stands_for("numpy.slogdet")
def slogdet(a):
    d = np.linalg.det(a)
    # The scale goes through the factors, so that large determinants do not overflow.
    q, r = qr(a)
    log = 0.0
    for i in range(r.shape[0]):
        if r[i, i] == 0.0:
            return 0.0, -np.inf
        log += math.log(abs(r[i, i]))
    sign = 1.0
    for i in range(r.shape[0]):
        if r[i, i] < 0:
            sign = -sign
    if np.linalg.det(q) < 0:
        sign = -sign
    return (math.copysign(1.0, d) if d != 0.0 and abs(d) < np.inf else sign), log


@stands_for("numpy.matrix_power")
def matrix_power(a, n):
    power = abs(n)
    base = np.linalg.inv(a) if n < 0 else a.copy()
    out = np.eye(a.shape[0]).astype(base.dtype)
    while power > 0:
        if power & 1:
            out = out @ base
        base = base @ base
        power >>= 1
    return out


@stands_for("numpy.eigvals")
def eigvals(a):
    w, _ = eig(a)
    return w


@stands_for("numpy.eig")
def eig(a):
    """The shifted QR method on a Hessenberg matrix, in complex arithmetic (Golub & Van Loan, 7.5); vectors by back substitution."""
    n = a.shape[0]
    if a.shape[1] != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    h = a.astype(np.complex128)
    z = np.eye(n).astype(np.complex128)
    scale = np.abs(h).max() if n > 0 else 0.0
    low = n - 1
    turns = 0
    while low > 0:
        # A subdiagonal that is nothing beside its neighbours splits the matrix.
        split = low
        while split > 0:
            around = abs(h[split, split]) + abs(h[split - 1, split - 1])
            left = 0.0
            for j in range(split):
                left += abs(h[split, j])
            if left <= 2.3e-16 * (around if around > 0 else scale):
                for j in range(split):
                    h[split, j] = 0.0
                break
            split -= 1
        if split == low:
            low -= 1
            turns = 0
            continue
        turns += 1
        if turns > 300:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        p, q, r, s = h[low - 1, low - 1], h[low - 1, low], h[low, low - 1], h[low, low]
        half = (p + s) / 2.0
        root = np.sqrt(half * half - (p * s - q * r))
        shift = half + root if abs(half + root - s) < abs(half - root - s) else half - root
        if turns % 11 == 0:
            shift = s + abs(h[low, low - 1])
        m = low - split + 1
        block = h[split : low + 1, split : low + 1].copy()
        for i in range(m):
            block[i, i] -= shift
        u = np.eye(m).astype(np.complex128)
        for j in range(m - 1):
            norm = 0.0
            for i in range(j, m):
                norm += abs(block[i, j]) ** 2
            norm = math.sqrt(norm)
            if norm == 0.0:
                continue
            head = block[j, j]
            alpha = -norm * (head / abs(head)) if abs(head) > 0 else -norm + 0j
            v = block[j:, j].copy()
            v[0] -= alpha
            length = 0.0
            for i in range(m - j):
                length += abs(v[i]) ** 2
            if length == 0.0:
                continue
            _reflect_columns(block, j, v, 2.0 / length)
            _reflect_rows(u, j, v, 2.0 / length)
        for c in range(n):
            row = np.zeros(m, dtype=np.complex128)
            other = np.zeros(m, dtype=np.complex128)
            for i in range(m):
                for k in range(m):
                    row[i] += np.conj(u[k, i]) * h[split + k, c]
            for i in range(m):
                h[split + i, c] = row[i]
        for c in range(n):
            row = np.zeros(m, dtype=np.complex128)
            other = np.zeros(m, dtype=np.complex128)
            for i in range(m):
                for k in range(m):
                    row[i] += h[c, split + k] * u[k, i]
                    other[i] += z[c, split + k] * u[k, i]
            for i in range(m):
                h[c, split + i] = row[i]
                z[c, split + i] = other[i]
    w = np.empty(n, dtype=np.complex128)
    vectors = np.zeros((n, n), dtype=np.complex128)
    for k in range(n):
        w[k] = h[k, k]
        y = np.zeros(n, dtype=np.complex128)
        y[k] = 1.0
        for i in range(k - 1, -1, -1):
            t = 0j
            for j in range(i + 1, k + 1):
                t += h[i, j] * y[j]
            gap = h[k, k] - h[i, i]
            if abs(gap) < 1e-300 + 2.3e-16 * scale:
                gap = 2.3e-16 * (scale if scale > 0 else 1.0) + 0j
            y[i] = t / gap
        x = np.zeros(n, dtype=np.complex128)
        for i in range(n):
            for j in range(k + 1):
                x[i] += z[i, j] * y[j]
        length = 0.0
        for i in range(n):
            length += abs(x[i]) ** 2
        length = math.sqrt(length)
        for i in range(n):
            vectors[i, k] = x[i] / length
    return w, vectors
