"""Linear and cubic interpolation of samples; a spline's equations are solved."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
knots = np.linspace(0, 10, 41)
samples = np.sin(knots) + 0.1 * knots
at = np.linspace(0.05, 9.95, n)
true = np.sin(at) + 0.1 * at
linear = np.interp(at, knots, samples)
print(f"linear: largest error {np.abs(linear - true).max():.2e}")

h = knots[1] - knots[0]
matrix = np.diag(np.full(41, 4.0)) + np.diag(np.ones(40), 1) + np.diag(np.ones(40), -1)
matrix[0, :2], matrix[-1, -2:] = (1, 0), (0, 1)
right = np.zeros(41)
right[1:-1] = 6 * (samples[2:] - 2 * samples[1:-1] + samples[:-2]) / h**2
second = np.linalg.solve(matrix, right)
cell = np.clip(np.searchsorted(knots, at) - 1, 0, 39)
a = (knots[cell + 1] - at) / h
b = 1 - a
spline = a * samples[cell] + b * samples[cell + 1] + ((a**3 - a) * second[cell] + (b**3 - b) * second[cell + 1]) * h**2 / 6
print(f"spline: largest error {np.abs(spline - true)[n // 10 : -n // 10].max():.2e}")
coefficients = np.polyfit(knots / 10, samples, 7)
print(f"polynomial: largest error {np.abs(np.polyval(coefficients, at / 10) - true).max():.3e}")
print("integral:", round(float(np.trapezoid(spline, at)), 6))
