"""A signal filtered in time and in frequency; peaks found."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500_000
rate = 1000.0
t = np.arange(n) / rate
rng = np.random.default_rng(1)
clean = np.sin(2 * np.pi * 5 * t) + 0.5 * np.sin(2 * np.pi * 40 * t + 1)
signal = clean + 0.4 * rng.standard_normal(n)

window = np.hanning(101)
window /= window.sum()
smooth = np.convolve(signal, window, mode="same")
print(f"noise before {np.std(signal - clean):.4f}, slow part kept {np.corrcoef(smooth, np.sin(2 * np.pi * 5 * t))[0, 1]:.4f}")

spectrum = np.fft.rfft(signal * np.hanning(n))
frequency = np.fft.rfftfreq(n, 1 / rate)
power = np.abs(spectrum) ** 2
top = np.argsort(power)[::-1]
print("strongest near", sorted({int(round(float(f))) for f in frequency[top[:6]]}), "Hz")
spectrum = np.fft.rfft(signal)
spectrum[frequency > 60] = 0
low = np.fft.irfft(spectrum, n)
print(f"error after the low pass {np.sqrt(np.mean((low - clean) ** 2)):.4f}")
peaks = np.flatnonzero((smooth[1:-1] > smooth[:-2]) & (smooth[1:-1] > smooth[2:]) & (smooth[1:-1] > 0.5)) + 1
print("peaks:", len(peaks), "mean distance in ms: %.2f" % np.diff(peaks).mean())
