"""Spheres by ray marching of a distance field, with shading, as characters."""

import sys

import numpy as np

size = int(sys.argv[1]) if len(sys.argv) > 1 else 500
centres = [(0.0, 0.0, 4.0, 1.2), (1.4, 0.6, 5.0, 0.9), (-1.5, -0.4, 3.6, 0.5)]


def distance(p):
    d = p[..., 1] + 1.3
    for x, y, z, r in centres:
        d = np.minimum(d, np.sqrt((p[..., 0] - x) ** 2 + (p[..., 1] - y) ** 2 + (p[..., 2] - z) ** 2) - r)
    return d


u, v = np.meshgrid(np.linspace(-1, 1, size), np.linspace(1, -1, size))
ray = np.stack([u, v, np.full_like(u, 1.4)], axis=-1)
ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
t = np.zeros_like(u)
for step in range(40):
    t += np.minimum(distance(ray * t[..., None]), 1.0)
hit = t < 12
point = ray * t[..., None]
e = 1e-4
normal = np.stack([distance(point + np.eye(3)[k] * e) - distance(point - np.eye(3)[k] * e) for k in range(3)], axis=-1)
normal /= np.linalg.norm(normal, axis=-1, keepdims=True) + 1e-12
light = np.array([0.6, 0.7, -0.4]) / np.linalg.norm([0.6, 0.7, -0.4])
shade = np.where(hit, np.clip(normal @ light, 0.05, 1), 0)
print(f"hit {hit.mean():.4f}, mean shade {shade.mean():.5f}")
step = max(1, size // 40)
for row in shade[:: 2 * step, ::step]:
    print("".join(" .:-=+*#%@"[int(9 * s + 0.25)] for s in row))
