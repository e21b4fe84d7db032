"""Queues: M/M/c by Lindley and by an event loop with heapq, a priority queue, a hospital with phases, statistics of warm-up."""

import heapq
import sys
from collections import deque, namedtuple

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
Result = namedtuple("Result", "wait busy length")


def lindley(arrivals, services):
    """Waiting times of one server, by the maximum of a random walk."""
    gaps = np.diff(arrivals, prepend=0.0)
    x = np.concatenate([[0.0], services[:-1] - gaps[1:]])
    s = np.cumsum(x)
    return s - np.minimum.accumulate(s)


def servers(arrivals, services, c):
    free = [0.0] * c
    wait = np.empty(len(arrivals))
    for i, (a, s) in enumerate(zip(arrivals, services)):
        t = heapq.heappop(free)
        start = max(a, t)
        wait[i] = start - a
        heapq.heappush(free, start + s)
    return Result(wait, services.sum() / (c * max(free)), np.sum(wait) / arrivals[-1])


def erlang_c(c, rho):
    a = c * rho
    k = np.arange(c)
    fact = np.cumprod(np.concatenate([[1.0], np.arange(1, c + 1)]))
    top = a**c / fact[c] / (1 - rho)
    return top / ((a**k / fact[:-1]).sum() + top)


def priorities(arrivals, services, classes):
    order = []
    heap = []
    t, i = 0.0, 0
    waits = {k: [] for k in range(3)}
    while i < len(arrivals) or heap:
        if not heap and t < arrivals[i]:
            t = arrivals[i]
        while i < len(arrivals) and arrivals[i] <= t:
            heapq.heappush(heap, (int(classes[i]), i))
            i += 1
        k, j = heapq.heappop(heap)
        waits[k].append(t - arrivals[j])
        order.append(j)
        t += services[j]
    return waits, order


def queue_length(arrivals, departures, grid):
    return np.searchsorted(arrivals, grid, side="right") - np.searchsorted(departures, grid, side="right")


rng = np.random.default_rng(31415)
lam, mu = 0.9, 1.0
arrivals = np.cumsum(rng.exponential(1 / lam, N))
services = rng.exponential(1 / mu, size=N)
w = lindley(arrivals, services)
loop = servers(arrivals, services, 1)
print("M/M/1 mean wait %.6f" % w.mean(), "theory %.3f" % (lam / mu / (mu - lam)), "loop agrees", np.allclose(w, loop.wait))
print("quantiles", np.quantile(w, [0.5, 0.9, 0.99]).round(4), "zero wait %.4f" % np.mean(w <= 1e-12))
departures = arrivals + w + services
grid = np.linspace(0, arrivals[-1], 9)
print("customers in system", queue_length(arrivals, departures, grid))
events = np.concatenate([arrivals, departures])
kind = np.concatenate([np.ones(N, int), -np.ones(N, int)])
order = np.argsort(events, kind="mergesort")
level = np.cumsum(kind[order])
span = np.diff(events[order])
print("time average %.5f" % (level[:-1] @ span / span.sum()), "max", level.max(), "Little's law", f"{lam * (w + services).mean():.4f}")
for c in (2, 3, 5):
    s = rng.exponential(c / mu, N)
    r = servers(arrivals, s, c)
    print(f"M/M/{c}: wait {r.wait.mean():.5f} busy {r.busy:.4f} P(wait) {np.mean(r.wait > 0):.4f} Erlang C {erlang_c(c, lam / mu):.4f}")
classes = rng.choice(3, size=N, p=[0.2, 0.3, 0.5])
waits, order = priorities(arrivals, services, classes)
for k, v in waits.items():
    v = np.array(v)
    print(f"class {k}: {len(v)} customers, mean wait {v.mean():.4f}, std {v.std(ddof=1):.4f}")
print("served out of order:", int((np.diff(order) < 0).sum()))
phases = rng.gamma([2.0, 3.0, 1.5], [0.2, 0.1, 0.3], size=(N, 3))
total = phases.sum(axis=1)
print("phases", phases.mean(0).round(4), "cv2 %.4f" % (total.var() / total.mean() ** 2))
batch = w[: N // 10 * 10].reshape(10, -1).mean(axis=1)
half = 2.262 * batch.std(ddof=1) / np.sqrt(10)
print(f"batch means {batch.mean():.4f} +- {half:.4f}", batch.round(2))
recent = deque(maxlen=5)
alarms = [i for i, v in enumerate(w) if (recent.append(v) or len(recent) == 5) and np.mean(recent) > 3 * w.mean()]
print("alarms", len(alarms), alarms[:3])
hist, edges = np.histogram(w, bins="auto")
print("bins", len(hist), hist[:5], edges[:3].round(4))
counts = np.bincount(np.floor(arrivals / 100).astype(int))[:10]
print("per 100:", counts, "dispersion %.4f" % (counts.var() / counts.mean()))
poisson = rng.poisson(lam=lam * 100, size=10)
print("poisson", poisson, rng.binomial(20, 0.3, 5), rng.geometric(0.2, 4), rng.negative_binomial(3, 0.5, 3), rng.hypergeometric(8, 5, 6, 3))
