"""Transforms in two dimensions with SciPy's and CuPy's spelling; filters and a differential equation in Fourier space, beside NumPy."""

import numpy as np

import broadcloth as cp
import broadcloth.scipy.fft as fft


def blurred(xp, image):
    spectrum = xp.fft.fftshift(xp.fft.fft2(image))
    height, width = image.shape
    y, x = xp.ogrid[:height, :width]
    spectrum *= xp.exp(-((y - height // 2) ** 2 + (x - width // 2) ** 2) / 200.0)
    return xp.fft.ifft2(xp.fft.ifftshift(spectrum)).real


def burgers(xp, n=256, steps=50):
    """u_t + u u_x = nu u_xx with Fourier derivatives, an integrating factor and the midpoint rule."""
    x = xp.linspace(0, 2 * xp.pi, n, endpoint=False)
    k = xp.fft.rfftfreq(n, 1 / n)
    spectrum = xp.fft.rfft(xp.sin(x))
    step, nu = 1e-2, 5e-2
    half = xp.exp(-nu * k**2 * step / 2)
    kept = k < n / 3

    def change(s):
        u = xp.fft.irfft(s)
        return -0.5j * k * xp.fft.rfft(u * u) * kept

    for _ in range(steps):
        middle = half * (spectrum + step / 2 * change(spectrum))
        spectrum = half * (half * spectrum + step * change(middle))
    return xp.fft.irfft(spectrum)


def convolved(a, b):
    n = len(a) + len(b) - 1
    size = fft.next_fast_len(n, real=True)
    return fft.irfft(fft.rfft(a, size) * fft.rfft(b, size), size)[:n]


rng = np.random.default_rng(0)
for n in (100, 256, 512):
    a = rng.random((n, n)).astype("float32")
    got = cp.asnumpy(fft.fft2(cp.asarray(a)))
    want = np.fft.fft2(a.astype("float64"))
    assert got.dtype == "complex64" and np.linalg.norm(got - want) < 1e-5 * np.linalg.norm(want)

image = rng.random((100, 130))
np.testing.assert_allclose(cp.asnumpy(blurred(cp, cp.asarray(image))), blurred(np, image), atol=1e-12)
np.testing.assert_allclose(cp.asnumpy(burgers(cp)), burgers(np), atol=1e-10)
x, y = rng.random(1000), rng.random(77)
np.testing.assert_allclose(cp.asnumpy(convolved(cp.asarray(x), cp.asarray(y))), np.convolve(x, y), atol=1e-10)

# A spectrogram: windows of a signal are views.
signal = np.sin(np.arange(20_000) * 0.1)
windows = cp.lib.stride_tricks.sliding_window_view(cp.asarray(signal), 256)[::64]
power = cp.abs(cp.fft.rfft(windows * cp.hanning(256))) ** 2
assert int(power.mean(0).argmax()) == round(0.1 * 256 / (2 * np.pi))
