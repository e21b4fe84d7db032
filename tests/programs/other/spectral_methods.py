"""Spectral methods: Chebyshev differentiation, Burgers by FFT with RK4, Poisson in a periodic box, a Hilbert transform."""

import sys
from functools import partial

import numpy as np
from numpy.fft import fft, fft2, fftfreq, fftshift, ifft, ifft2, irfft, rfft
from numpy.linalg import eigvals, norm, solve

N = int(sys.argv[1]) if len(sys.argv) > 1 else 64


def cheb(n):
    if n == 0:
        return np.zeros((1, 1)), np.ones(1)
    x = np.cos(np.pi * np.arange(n + 1) / n)
    c = np.r_[2, np.ones(n - 1), 2] * (-1) ** np.arange(n + 1)
    X = np.tile(x[:, None], (1, n + 1))
    dX = X - X.T
    D = np.outer(c, 1 / c) / (dX + np.eye(n + 1))
    return D - np.diag(D.sum(axis=1)), x


def boundary_value():
    for n in (8, 16, 24):
        D, x = cheb(n)
        D2 = (D @ D)[1:-1, 1:-1]
        f = np.exp(4 * x[1:-1])
        u = np.concatenate(([0.0], solve(D2, f), [0.0]))
        exact = (np.exp(4 * x) - np.sinh(4) * x - np.cosh(4)) / 16
        print(f"n={n:3d} error {norm(u - exact, np.inf):.1e}" if n < 24 else f"n={n:3d} small {norm(u - exact, np.inf) < 1e-12}")
    D, _ = cheb(12)
    w = np.sort(eigvals((D @ D)[1:-1, 1:-1]).real)[::-1]
    print("eigenvalues / (pi/2)^2:", np.round(w[:4] / (-(np.pi**2) / 4), 6))


def rhs(u_hat, k, nu, mask):
    u = ifft(u_hat * mask)
    return -0.5j * k * fft(u * u) - nu * k**2 * u_hat


def burgers(n, nu=0.05, dt=1e-3, steps=200):
    x = 2 * np.pi * np.arange(n) / n
    k = fftfreq(n, 1 / n)
    mask = np.abs(k) < n / 3
    f = partial(rhs, k=k, nu=nu, mask=mask)
    v = fft(np.sin(x) + 0.5 * np.cos(2 * x))
    for s in range(steps):
        a = dt * f(v)
        b = dt * f(v + a / 2)
        c = dt * f(v + b / 2)
        d = dt * f(v + c)
        v = v + (a + 2 * (b + c) + d) / 6
        if s % 50 == 49:
            u = ifft(v).real
            print(f"t={dt * (s + 1):.3f} energy {np.mean(u**2) / 2:.8f} max {u.max():.6f} slope {np.gradient(u, x).min():.5f}")
    return ifft(v).real


def poisson(n):
    x = np.linspace(0, 1, n, endpoint=False)
    X, Y = np.meshgrid(x, x, indexing="ij")
    rho = np.exp(-50 * ((X - 0.5) ** 2 + (Y - 0.4) ** 2))
    rho -= rho.mean()
    kx = 2 * np.pi * fftfreq(n, 1 / n)
    k2 = kx[:, np.newaxis] ** 2 + kx[np.newaxis, :] ** 2
    k2[0, 0] = 1
    phi_hat = fft2(rho) / -k2
    phi_hat[0, 0] = 0
    phi = ifft2(phi_hat).real
    gx, gy = np.gradient(phi, 1 / n)
    print("poisson: min %.6f at %s, |grad| max %.5f" % (phi.min(), np.unravel_index(phi.argmin(), phi.shape), np.sqrt(gx**2 + gy**2).max()))
    lap = ifft2(-k2 * fft2(phi)).real
    print("residual ok:", np.allclose(lap, rho, atol=1e-10))


def envelope(n):
    t = np.arange(n) / n
    signal = (1 + 0.5 * np.cos(2 * np.pi * 3 * t)) * np.cos(2 * np.pi * 20 * t)
    spectrum = fft(signal)
    h = np.zeros(n)
    h[0] = h[n // 2] = 1
    h[1 : n // 2] = 2
    analytic = ifft(spectrum * h)
    print("envelope", np.abs(analytic)[:5].round(5), np.unwrap(np.angle(analytic))[-1].round(5))
    power = np.abs(rfft(signal)) ** 2
    top = np.argsort(power)[::-1][:3]
    print("peaks at", sorted(top.tolist()), "centred", fftshift(fftfreq(8)).tolist())
    print("parseval", np.isclose((signal**2).sum(), (np.abs(spectrum) ** 2).sum() / n), irfft(rfft(signal), n=n).shape)


if __name__ == "__main__":
    boundary_value()
    u = burgers(N)
    np.set_printoptions(precision=4, suppress=True, linewidth=90)
    print(u[:: max(1, N // 16)])
    poisson(N)
    envelope(4 * N)
