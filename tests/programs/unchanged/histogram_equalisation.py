"""Contrast of a grey image stretched by its histogram; then thresholds."""

import sys

import numpy as np

size = int(sys.argv[1]) if len(sys.argv) > 1 else 2500
y, x = np.mgrid[0:size, 0:size] / size
image = 90 + 40 * np.sin(6 * x) * np.cos(4 * y) + 20 * ((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.1)
image = image.astype(np.uint8)

hist = np.bincount(image.ravel(), minlength=256)
print("before: min", image.min(), "max", image.max(), "mean", round(image.mean(), 3))
cdf = hist.cumsum()
low = cdf[cdf > 0].min()
table = np.clip(np.round((cdf - low) / (image.size - low) * 255), 0, 255).astype(np.uint8)
better = table[image]
print("after:  min", better.min(), "max", better.max(), "mean", round(better.mean(), 3))

# Otsu's threshold
p = np.bincount(better.ravel(), minlength=256) / better.size
weight = np.cumsum(p)
mean = np.cumsum(p * np.arange(256))
with np.errstate(divide="ignore", invalid="ignore"):
    between = (mean[-1] * weight - mean) ** 2 / (weight * (1 - weight))
threshold = np.nanargmax(between)
print("threshold", threshold, "white", (better > threshold).sum())
print("levels used:", np.count_nonzero(np.bincount(better.ravel(), minlength=256)))
print(better[:: size // 6, :: size // 6])
