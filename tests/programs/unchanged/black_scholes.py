"""Prices and Greeks of European options."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 800_000


def normal_cdf(x):
    # Abramowitz and Stegun 7.1.26
    t = 1.0 / (1.0 + 0.3275911 * np.abs(x) / np.sqrt(2))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = 1.0 - poly * np.exp(-x * x / 2)
    return 0.5 * (1.0 + np.sign(x) * erf)


spot = np.linspace(50, 150, n)
strike = 100 + 20 * np.sin(np.arange(n) * 0.01)
years = 0.25 + (np.arange(n) % 12) / 6
rate, vol = 0.03, 0.2
root = vol * np.sqrt(years)
for repeat in range(5):
    d1 = (np.log(spot / strike) + (rate + vol**2 / 2) * years) / root
    d2 = d1 - root
    discount = np.exp(-rate * years)
    call = spot * normal_cdf(d1) - strike * discount * normal_cdf(d2)
    put = call - spot + strike * discount
    delta = normal_cdf(d1)
    gamma = np.exp(-d1 * d1 / 2) / np.sqrt(2 * np.pi) / (spot * root)
    rate += 0.005
    print(f"rate {rate:.3f}: mean call {call.mean():.6f}, mean put {put.mean():.6f}, delta {delta.mean():.6f}, gamma {gamma.max():.6f}")
print("calls worth more than puts:", (call > put).sum())
