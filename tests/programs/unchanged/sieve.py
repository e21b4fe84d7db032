"""Primes by Eratosthenes' sieve, their gaps and twins."""

import sys

import numpy as np

limit = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000_000
prime = np.ones(limit + 1, dtype=bool)
prime[:2] = False
prime[4::2] = False
for k in range(3, int(limit**0.5) + 1, 2):
    if prime[k]:
        prime[k * k :: 2 * k] = False
primes = np.flatnonzero(prime)
print(len(primes), "primes up to", limit)
print("first:", primes[:10], "last:", primes[-1])
gaps = np.diff(primes)
print("largest gap:", gaps.max(), "after", primes[gaps.argmax()])
print("twins:", np.sum(gaps == 2))
values, counts = np.unique(gaps, return_counts=True)
for v, c in list(zip(values, counts))[:5]:
    print(f"gap {v}: {c}")
print("last digits:", dict(zip(*(a.tolist() for a in np.unique(primes[3:] % 10, return_counts=True)))))
