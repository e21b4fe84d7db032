"""A genetic algorithm on a travelling salesman and on a function of many dimensions, with the legacy random functions."""

import argparse

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("size", nargs="?", type=int, default=30)
parser.add_argument("--generations", type=int, default=40)
args = parser.parse_args()
np.random.seed(1234)


class Tour:
    def __init__(self, cities):
        self.cities = cities
        d = cities[:, None, :] - cities[None, :, :]
        self.distance = np.sqrt((d**2).sum(-1))

    def lengths(self, population):
        return self.distance[population, np.roll(population, -1, axis=1)].sum(axis=1)

    def __len__(self):
        return len(self.cities)


def order_crossover(a, b):
    n = len(a)
    i, j = np.sort(np.random.choice(n, 2, replace=False))
    child = np.full(n, -1)
    child[i:j] = a[i:j]
    rest = b[~np.isin(b, child[i:j])]
    child[child < 0] = rest
    return child


def mutate(tour, rate=0.3):
    if np.random.rand() < rate:
        i, j = np.sort(np.random.randint(0, len(tour), 2))
        tour[i:j] = tour[i:j][::-1]
    return tour


def evolve(problem, population, generations):
    best = []
    for g in range(generations):
        cost = problem.lengths(population)
        order = np.argsort(cost, kind="stable")
        population = population[order]
        cost = cost[order]
        best.append(cost[0])
        if g % 10 == 0:
            print(f"generation {g:3d}: best {cost[0]:.4f} median {np.median(cost):.4f} worst {cost[-1]:.4f}")
        elite = population[: len(population) // 5]
        fitness = 1 / cost
        p = fitness / fitness.sum()
        parents = np.random.choice(len(population), size=(len(population) - len(elite), 2), p=p)
        children = [mutate(order_crossover(population[a], population[b])) for a, b in parents]
        population = np.vstack([elite, children])
    return population, np.array(best)


def rastrigin(x):
    return 10 * x.shape[-1] + np.sum(x**2 - 10 * np.cos(2 * np.pi * x), axis=-1)


def differential_evolution(f, bounds, size=40, generations=120, F=0.7, CR=0.9):
    lo, hi = np.asarray(bounds, float).T
    dim = lo.size
    x = lo + (hi - lo) * np.random.random_sample((size, dim))
    y = f(x)
    for g in range(generations):
        idx = np.argsort(np.random.rand(size, size), axis=1)[:, :3]
        a, b, c = x[idx[:, 0]], x[idx[:, 1]], x[idx[:, 2]]
        trial = np.clip(a + F * (b - c), lo, hi)
        cross = np.random.rand(size, dim) < CR
        cross[np.arange(size), np.random.randint(dim, size=size)] = True
        trial = np.where(cross, trial, x)
        score = f(trial)
        better = score < y
        x[better] = trial[better]
        y[better] = score[better]
    i = y.argmin()
    return x[i], y[i], y


def main():
    cities = np.random.uniform(0, 100, size=(args.size, 2)).round(1)
    problem = Tour(cities)
    print("cities", len(problem), "mean distance %.3f" % problem.distance[np.triu_indices(len(problem), 1)].mean())
    population = np.array([np.random.permutation(args.size) for _ in range(60)])
    population, best = evolve(problem, population, args.generations)
    tour = population[0]
    assert sorted(tour) == list(range(args.size))
    start = int(np.where(tour == 0)[0][0])
    print("tour", np.roll(tour, -start)[:12])
    print("improved in", np.count_nonzero(np.diff(best) < 0), "generations, by %.2f %%" % (100 * (1 - best[-1] / best[0])))
    print("never worse:", (np.diff(best) <= 1e-9).all(), np.all(np.minimum.accumulate(best) == best))
    x, value, all_values = differential_evolution(rastrigin, [(-5.12, 5.12)] * 4)
    print("rastrigin", np.round(x, 3) + 0.0, f"{value:.5f}", "quartiles", np.quantile(all_values, [0.25, 0.5, 0.75]).round(3))
    state = np.random.get_state()
    print("state", state[0], state[2], np.random.randint(10**6), np.random.standard_normal(2))


main()
