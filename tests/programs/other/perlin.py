"""Perlin and value noise, a height map with erosion, contours and a hill shade, printed as text."""

import sys

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 64


def fade(t):
    return t * t * t * (t * (t * 6 - 15) + 10)


def lerp(a, b, t):
    return a + t * (b - a)


class Perlin:
    def __init__(self, seed=0):
        rng = np.random.RandomState(seed)
        p = np.arange(256, dtype=int)
        rng.shuffle(p)
        self.p = np.stack([p, p]).flatten()
        angles = 2 * np.pi * rng.rand(256)
        self.g = np.column_stack((np.cos(angles), np.sin(angles)))

    def grad(self, h, x, y):
        v = self.g[h % 256]
        return v[..., 0] * x + v[..., 1] * y

    def __call__(self, x, y):
        xi, yi = x.astype(int) & 255, y.astype(int) & 255
        xf, yf = x - np.floor(x), y - np.floor(y)
        u, v = fade(xf), fade(yf)
        p = self.p
        n00 = self.grad(p[p[xi] + yi], xf, yf)
        n01 = self.grad(p[p[xi] + yi + 1], xf, yf - 1)
        n11 = self.grad(p[p[xi + 1] + yi + 1], xf - 1, yf - 1)
        n10 = self.grad(p[p[xi + 1] + yi], xf - 1, yf)
        return lerp(lerp(n00, n10, u), lerp(n01, n11, u), v)

    def octaves(self, x, y, count=4, gain=0.5):
        total = np.zeros_like(x)
        for k in range(count):
            total += gain**k * self(x * 2**k, y * 2**k)
        return total


def erode(h, rng, drops=60, steps=20):
    h = h.copy()
    n = h.shape[0]
    offsets = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])
    moved = 0.0
    for _ in range(drops):
        pos = rng.integers(1, n - 1, size=2)
        carry = 0.0
        for _ in range(steps):
            around = pos + offsets
            heights = h[around[:, 0], around[:, 1]]
            k = heights.argmin()
            drop = h[tuple(pos)] - heights[k]
            if drop <= 0:
                h[tuple(pos)] += carry
                break
            take = min(0.1 * drop, 0.01)
            h[pos[0], pos[1]] -= take
            carry += take
            moved += take
            pos = around[k]
            if (pos < 1).any() or (pos >= n - 1).any():
                break
    return h, moved


def hillshade(h, azimuth=315.0, altitude=45.0):
    gy, gx = np.gradient(h)
    slope = np.pi / 2 - np.arctan(np.hypot(gx, gy) * 8)
    aspect = np.arctan2(-gx, gy)
    az, alt = np.deg2rad(360 - azimuth), np.radians(altitude)
    return np.sin(alt) * np.sin(slope) + np.cos(alt) * np.cos(slope) * np.cos(az - np.pi / 2 - aspect)


def picture(a, chars=" .:-=+*#%@", rows=12, cols=40):
    small = a[:: max(1, a.shape[0] // rows), :: max(1, a.shape[1] // cols)]
    k = np.clip((small * len(chars)).astype(int), 0, len(chars) - 1)
    lookup = np.array(list(chars))
    return "\n".join("".join(line) for line in lookup[k])


lin = np.linspace(0, 5, N, endpoint=False)
x, y = np.meshgrid(lin, lin)
noise = Perlin(2)
h = noise.octaves(x, y)
print("noise", h.shape, f"{h.min():.6f} {h.max():.6f} {h.mean():.6f}")
h = (h - h.min()) / np.ptp(h)
print(picture(h))
sea = np.median(h)
print("land share %.4f" % (h > sea).mean(), "levels", np.histogram(h, bins=[0, 0.25, sea, 0.75, 1])[0])
rng = np.random.default_rng(5)
eroded, moved = erode(h, rng)
print("moved %.6f" % moved, "difference %.6f" % np.abs(eroded - h).sum(), "changed", np.count_nonzero(eroded != h))
shade = hillshade(eroded)
print("shade %.5f %.5f" % (shade.min(), shade.std()))
inner = eroded[1:-1, 1:-1]
peaks = np.ones(inner.shape, bool)
for dy in (-1, 0, 1):
    for dx in (-1, 0, 1):
        if dy or dx:
            peaks &= inner > eroded[1 + dy : N - 1 + dy, 1 + dx : N - 1 + dx]
where = np.argwhere(peaks) + 1
tall = where[np.argsort(eroded[tuple(where.T)])[::-1][:4]]
print("peaks", len(where), "tallest", tall.tolist(), eroded[tall[:, 0], tall[:, 1]].round(4))
spectrum = np.abs(np.fft.fft2(h - h.mean())) ** 2
kx = np.fft.fftfreq(N, 1 / N)
radius = np.rint(np.hypot(*np.meshgrid(kx, kx))).astype(int)
radial = np.bincount(radius.flat, spectrum.flat) / np.bincount(radius.flat)
print("spectrum", np.log10(radial[1:6]).round(3))
value = np.random.RandomState(1).rand(9, 9)
fine = np.array([np.interp(np.linspace(0, 8, 17), range(9), row) for row in value])
print("value noise", fine.shape, fine[3, :5].round(4), np.apply_along_axis(lambda r: r[r > 0.5].sum(), 1, fine)[:3].round(4))
