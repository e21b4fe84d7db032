"""Blur, edges and a median of an image by shifted slices."""

import sys

import numpy as np

size = int(sys.argv[1]) if len(sys.argv) > 1 else 1200
y, x = np.ogrid[:size, :size]
image = ((x // 40 + y // 40) % 2 * 200 + (x * y) % 17).astype(np.float32)


def convolve(image, kernel):
    r = kernel.shape[0] // 2
    padded = np.pad(image, r, mode="edge")
    out = np.zeros_like(image)
    for dy in range(kernel.shape[0]):
        for dx in range(kernel.shape[1]):
            out += kernel[dy, dx] * padded[dy : dy + image.shape[0], dx : dx + image.shape[1]]
    return out


g = np.exp(-0.5 * (np.arange(-3, 4) / 1.5) ** 2)
gauss = np.outer(g, g)
gauss /= gauss.sum()
blurred = convolve(image, gauss)
sobel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], dtype=np.float32)
gx, gy = convolve(blurred, sobel), convolve(blurred, sobel.T)
strength = np.hypot(gx, gy)
print(f"blurred: mean {blurred.mean():.4f} std {blurred.std():.4f}")
print(f"edges: mean {strength.mean():.4f} max {strength.max():.3f}")
strong = strength > 0.5 * strength.max()
print("strong edges:", np.count_nonzero(strong), "in", np.count_nonzero(strong.any(axis=0)), "columns")
stack = np.stack([image[1 + dy : size - 1 + dy, 1 + dx : size - 1 + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)])
median = np.median(stack, axis=0)
print("median of medians:", np.median(median), "noise taken away: %.4f" % np.abs(median - image[1:-1, 1:-1]).mean())
