"""Gravity between bodies, leapfrog steps; energy is kept."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
dt, steps, soft = 0.002, 25, 0.05

k = np.arange(n)
angle = 2 * np.pi * k * 0.618033988749895
radius = 0.2 + k / n
position = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.1 * np.sin(5 * angle)], axis=1)
velocity = np.stack([-np.sin(angle), np.cos(angle), np.zeros(n)], axis=1) * 0.5
mass = np.full(n, 1.0 / n)


def acceleration(p):
    d = p[None, :, :] - p[:, None, :]
    r2 = (d**2).sum(axis=-1) + soft**2
    return (d * (mass[None, :] * r2**-1.5)[:, :, None]).sum(axis=1)


def energy(p, v):
    d = p[None, :, :] - p[:, None, :]
    r = np.sqrt((d**2).sum(axis=-1) + soft**2)
    pairs = mass[:, None] * mass[None, :] / r
    potential = -(pairs.sum() - np.trace(pairs)) / 2
    return 0.5 * (mass * (v**2).sum(axis=1)).sum() + potential


print(f"energy before: {energy(position, velocity):.6f}")
a = acceleration(position)
for step in range(steps):
    velocity += 0.5 * dt * a
    position += dt * velocity
    a = acceleration(position)
    velocity += 0.5 * dt * a
print(f"energy after:  {energy(position, velocity):.6f}")
print("centre of mass", np.round((mass[:, None] * position).sum(axis=0), 6) + 0.0)
print("farthest body", np.linalg.norm(position, axis=1).argmax())
