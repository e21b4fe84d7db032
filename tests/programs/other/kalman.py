"""Kalman filter, RTS smoother, and a particle filter of the same track."""

import sys

import numpy as np
from numpy.linalg import cholesky, inv, multi_dot, slogdet

T = int(sys.argv[1]) if len(sys.argv) > 1 else 120
rng = np.random.Generator(np.random.PCG64(2024))
dt = 0.5
F = np.block([[np.eye(2), dt * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
H = np.hstack([np.eye(2), np.zeros((2, 2))])
q = 0.05
Q = q * np.kron(np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]]), np.eye(2))
R = np.diag([0.5, 0.8])


def simulate():
    x = np.zeros((T, 4))
    x[0] = [0, 0, 1, 0.5]
    L = cholesky(Q)
    for t in range(1, T):
        x[t] = F @ x[t - 1] + L @ rng.standard_normal(4)
    z = x @ H.T + rng.multivariate_normal(np.zeros(2), R, size=T)
    missing = rng.random(T) < 0.1
    z[missing] = np.nan
    return x, z


def kalman(z):
    x = np.zeros(4)
    P = np.eye(4) * 10
    means, covs, pred_means, pred_covs = [], [], [], []
    loglik = 0.0
    for obs in z:
        x = F @ x
        P = F @ P @ F.T + Q
        pred_means.append(x.copy())
        pred_covs.append(P.copy())
        if not np.isnan(obs).any():
            y = obs - H @ x
            S = multi_dot([H, P, H.T]) + R
            K = P @ H.T @ inv(S)
            x = x + K @ y
            I_KH = np.eye(4) - K @ H
            P = I_KH @ P @ I_KH.T + K @ R @ K.T
            loglik += -0.5 * (y @ inv(S) @ y + slogdet(S)[1] + 2 * np.log(2 * np.pi))
        means.append(x)
        covs.append(P)
    return np.array(means), np.array(covs), np.array(pred_means), np.array(pred_covs), loglik


def smooth(m, P, pm, pP):
    xs, Ps = m.copy(), P.copy()
    for t in range(len(m) - 2, -1, -1):
        G = P[t] @ F.T @ inv(pP[t + 1])
        xs[t] = m[t] + G @ (xs[t + 1] - pm[t + 1])
        Ps[t] = P[t] + G @ (Ps[t + 1] - pP[t + 1]) @ G.T
    return xs, Ps


def systematic(w):
    positions = (np.arange(w.size) + rng.random()) / w.size
    return np.searchsorted(np.cumsum(w), positions).clip(max=w.size - 1)


def particles(z, n=500):
    p = rng.normal([0, 0, 1, 0.5], [1, 1, 0.5, 0.5], size=(n, 4))
    L = cholesky(Q)
    w = np.full(n, 1 / n)
    out = np.empty((len(z), 4))
    resampled = 0
    for t, obs in enumerate(z):
        p = p @ F.T + rng.standard_normal((n, 4)) @ L.T
        if np.isfinite(obs).all():
            d2 = ((p[:, :2] - obs) ** 2 / np.diag(R)).sum(axis=1)
            w *= np.exp(-0.5 * (d2 - d2.min()))
            w /= w.sum()
        out[t] = np.average(p, axis=0, weights=w)
        if 1 / (w**2).sum() < n / 2:
            p = p[systematic(w)]
            w = np.full(n, 1 / n)
            resampled += 1
    return out, resampled


def rmse(a, b):
    return float(np.sqrt(((a[:, :2] - b[:, :2]) ** 2).sum(1).mean()))


truth, z = simulate()
print("observations", z.shape, "missing", int(np.isnan(z[:, 0]).sum()), "nan-mean", np.nanmean(z, axis=0).round(4))
m, P, pm, pP, ll = kalman(z)
print(f"log-likelihood {ll:.6f}  rmse {rmse(m, truth):.6f}")
s, Ps = smooth(m, P, pm, pP)
print(f"smoothed rmse {rmse(s, truth):.6f}, better: {rmse(s, truth) < rmse(m, truth)}")
print("trace of P:", np.trace(P[-1]).round(6), np.trace(Ps[T // 2]).round(6), np.trace(P, axis1=1, axis2=2).argmax())
inside = np.abs(s - truth) < 1.96 * np.sqrt(np.diagonal(Ps, axis1=1, axis2=2))
print("coverage by component:", inside.mean(axis=0).round(3))
out, resampled = particles(z)
print(f"particle rmse {rmse(out, truth):.5f}, resampled {resampled} times")
with np.printoptions(precision=3, suppress=True):
    print(np.c_[truth[:: T // 6, :2], m[:: T // 6, :2], s[:: T // 6, :2]])
innov = (z - pm @ H.T)[~np.isnan(z).any(axis=1)]
innov -= innov.mean(0)
acf = [float((innov[k:, 0] * innov[: len(innov) - k, 0]).mean() / innov[:, 0].var()) for k in range(4)]
print("autocorrelation", [round(a, 4) for a in acf])
