"""A landscape by the diamond-square rule, water and slopes."""

import sys

import numpy as np

levels = int(sys.argv[1]) if len(sys.argv) > 1 else 11
size = 2**levels + 1
rng = np.random.default_rng(4)
height = np.zeros((size, size))
height[:: size - 1, :: size - 1] = rng.normal(size=(2, 2))
step, scale = size - 1, 1.0
while step > 1:
    half = step // 2
    corners = height[::step, ::step]
    middle = (corners[:-1, :-1] + corners[1:, :-1] + corners[:-1, 1:] + corners[1:, 1:]) / 4
    height[half::step, half::step] = middle + scale * rng.normal(size=middle.shape)
    height[::step, half::step] = (corners[:, :-1] + corners[:, 1:]) / 2 + scale * rng.normal(size=(corners.shape[0], corners.shape[1] - 1))
    height[half::step, ::step] = (corners[:-1] + corners[1:]) / 2 + scale * rng.normal(size=(corners.shape[0] - 1, corners.shape[1]))
    step, scale = half, scale * 0.55
print(size, "points a side, from %.4f to %.4f" % (height.min(), height.max()))
sea = np.quantile(height, 0.4)
land = height > sea
print("land: %.4f" % land.mean(), "coast:", np.count_nonzero(land[1:] != land[:-1]) + np.count_nonzero(land[:, 1:] != land[:, :-1]))
gy, gx = np.gradient(height)
slope = np.degrees(np.arctan(np.hypot(gx, gy) * size / 20))
print("slope: median %.3f, steepest %.3f" % (np.median(slope), slope.max()))
print("highest at", np.unravel_index(height.argmax(), height.shape))
