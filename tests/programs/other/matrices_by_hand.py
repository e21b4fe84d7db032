"""Linear algebra by hand: LU with pivoting, Cholesky, Householder QR, Gram-Schmidt, Jacobi eigenvalues, conjugate gradients, power method."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 24


def lu(a):
    a = a.copy()
    n = a.shape[0]
    perm = np.arange(n)
    sign = 1
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if a[p, k] == 0:
            raise np.linalg.LinAlgError("singular")
        if p != k:
            a[[k, p]] = a[[p, k]]
            perm[[k, p]] = perm[[p, k]]
            sign = -sign
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return perm, np.tril(a, -1) + np.eye(n), np.triu(a), sign


def forward(L, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def backward(U, b):
    x = np.zeros_like(b)
    for i in reversed(range(len(b))):
        x[i] = (b[i] - np.dot(U[i, i + 1 :], x[i + 1 :])) / U[i, i]
    return x


def chol(a):
    L = np.zeros_like(a)
    for j in range(len(a)):
        L[j, j] = np.sqrt(a[j, j] - np.sum(L[j, :j] ** 2))
        for i in range(j + 1, len(a)):
            L[i, j] = (a[i, j] - np.vdot(L[i, :j], L[j, :j])) / L[j, j]
    return L


def householder(a):
    m, n = a.shape
    q, r = np.eye(m), a.astype(float)
    for k in range(n):
        x = r[k:, k]
        v = x.copy()
        v[0] += np.copysign(np.linalg.norm(x), x[0])
        v /= np.linalg.norm(v)
        r[k:, k:] -= 2 * np.outer(v, v @ r[k:, k:])
        q[:, k:] -= 2 * np.outer(q[:, k:] @ v, v)
    return q, r


def gram_schmidt(a):
    q = np.empty(a.shape)
    for j, col in enumerate(a.T):
        v = col.astype(float)
        for i in range(j):
            v -= (q[:, i] @ v) * q[:, i]
        q[:, j] = v / np.sqrt(v @ v)
    return q


def jacobi(a, sweeps=12):
    a = a.copy()
    n = len(a)
    for s in range(sweeps):
        off = np.sqrt(((a - np.diag(np.diag(a))) ** 2).sum())
        if off < 1e-12:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-15:
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = np.sign(theta) / (abs(theta) + np.sqrt(theta**2 + 1)) if theta != 0 else 1.0
                c = 1 / np.sqrt(t * t + 1)
                s_ = t * c
                J = np.array([[c, s_], [-s_, c]])
                a[:, [p, q]] = a[:, [p, q]] @ J
                a[[p, q], :] = J.T @ a[[p, q], :]
    return np.sort(a.diagonal()), s


def conjugate_gradients(A, b, tol=1e-10):
    x = np.zeros(len(b))
    r = b - A @ x
    p = r
    rs = r @ r
    for k in range(10 * len(b)):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r = r - alpha * Ap
        new = r @ r
        if np.sqrt(new) < tol:
            return x, k + 1
        p = r + new / rs * p
        rs = new
    return x, None


rng = np.random.default_rng(77)
M = rng.integers(-9, 10, (n, n)).astype(float)
b = rng.integers(-5, 6, n).astype(float)
perm, L, U, sign = lu(M)
print("PA = LU:", np.allclose(M[perm], L @ U), "perm", perm[:8], "sign", sign)
x = backward(U, forward(L, b[perm]))
print("solve:", np.allclose(M @ x, b), np.allclose(x, np.linalg.solve(M, b)))
logdet = np.log(np.abs(np.diag(U))).sum()
print(
    f"log|det| {logdet:.8f}  numpy {np.linalg.slogdet(M)[1]:.8f} sign {np.linalg.slogdet(M)[0]:.0f} {sign * np.prod(np.sign(np.diag(U))):.0f}"
)
S = M @ M.T + n * np.eye(n)
C = chol(S)
print("cholesky:", np.allclose(C, np.linalg.cholesky(S)), "diag", C.diagonal()[:3].round(4))
q, r = householder(M[:, : n // 2])
print("householder:", np.allclose(q @ r, M[:, : n // 2]), np.allclose(np.tril(r, -1), 0), np.allclose(q.T @ q, np.identity(n)))
g = gram_schmidt(M)
print("gram-schmidt:", np.abs(g.T @ g - np.eye(n)).max() < 1e-10, np.linalg.matrix_rank(g))
small = (S / n)[:6, :6]
w, sweeps = jacobi(small)
print("jacobi:", w.round(5), np.allclose(w, np.linalg.eigvalsh(small)), sweeps)
x, its = conjugate_gradients(S, b)
print("cg:", np.allclose(S @ x, b), its is not None)
v = np.ones(n)
for _ in range(200):
    v = S @ v
    v /= np.linalg.norm(v)
print("power: %.5f" % (v @ S @ v), "condition %.4e" % np.linalg.cond(S))
try:
    lu(np.zeros((3, 3)))
except np.linalg.LinAlgError as e:
    print("caught", type(e).__name__, e)
try:
    np.linalg.inv(np.ones((2, 3)))
except np.linalg.LinAlgError as e:
    print("caught", e)
coef, res, rank, sv = np.linalg.lstsq(M[:, :4], b, rcond=None)
print("lstsq", coef.round(5), res.round(5), rank, sv.round(4))
