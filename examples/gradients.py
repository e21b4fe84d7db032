"""Gradients: the derivative of a polynomial, and a small neural network that learns two interleaved spirals.

    python examples/gradients.py [--steps N] [--points N] [--hidden N] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

import itertools
from typing import Any

import common
import numpy as np

import broadcloth as bc
from broadcloth import autograd


def polynomial() -> float:
    """dy/dx of y = x² + 2x + 1 at 3, which is 8."""
    x = bc.array(3.0)
    x.requires_grad = True
    y = x**2 + 2 * x + 1
    y.backward()
    assert x.grad is not None
    print(f"y = x**2 + 2*x + 1 at 3 is {y.item()}, and its derivative {x.grad.item()}")
    return float(x.grad.item())


def spirals(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of two interleaved spirals, and which one each is of (0 or 1)."""
    rng = np.random.default_rng(seed)
    which = np.arange(count) % 2
    turn = np.sqrt(rng.random(count)) * 2 * np.pi
    angle = turn + np.pi * which
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1) / 4
    return points + rng.normal(0, 0.02, points.shape), which.astype("float64")


def network(xp: Any, parameters: list[Any], x: Any) -> Any:
    """Two hidden layers with tanh; one number a point, positive for the second spiral."""
    w1, b1, w2, b2, w3, b3 = parameters
    hidden = xp.tanh(xp.tanh(x @ w1 + b1) @ w2 + b2)
    return (hidden @ w3 + b3)[:, 0]


def loss_of(xp: Any, parameters: list[Any], x: Any, y: Any) -> Any:
    """The mean cross-entropy: log(1 + exp(z)) - y z, which does not overflow."""
    z = network(xp, parameters, x)
    return (xp.logaddexp(0.0, z) - y * z).mean()


def start(hidden: int, seed: int = 1) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = [2, hidden, hidden, 1]
    parameters = []
    for n, m in itertools.pairwise(sizes):
        parameters += [rng.normal(0, 1 / np.sqrt(n), (n, m)), np.zeros(m)]
    return parameters


def train(parameters: list[Any], x: Any, y: Any, steps: int, rate: float) -> list[float]:
    """Gradient descent with momentum; the losses on the way."""
    for p in parameters:
        p.requires_grad = True
    speeds = [bc.zeros_like(p.detach()) for p in parameters]
    losses = []
    for step in range(steps):
        loss = loss_of(bc, parameters, x, y)
        loss.backward()
        with autograd.no_grad():
            for p, v in zip(parameters, speeds, strict=True):
                v *= 0.9
                v -= rate * p.grad
                p += v
                p.grad = None
        if step % max(1, steps // 10) == 0 or step == steps - 1:
            losses.append(float(loss.item()))
    return losses


def largest_error(host: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> float:
    """How far the gradient is from NumPy's central differences, at some of the parameters."""
    gradients = autograd.grad(lambda *p: loss_of(bc, list(p), bc.array(x), bc.array(y)), range(len(host)))(*map(bc.array, host))
    worst, h = 0.0, 1e-5
    for p, g in zip(host, gradients, strict=True):
        for at in range(0, p.size, max(1, p.size // 5)):
            kept = p.flat[at]
            values = []
            for moved in (kept + h, kept - h):
                p.flat[at] = moved
                values.append(loss_of(np, host, x, y))
            p.flat[at] = kept
            worst = max(worst, abs((values[0] - values[1]) / (2 * h) - g.get().flat[at]))
    return worst


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--steps", type=int, default=2000, help="steps of the descent (2000)")
    parser.add_argument("--points", type=int, default=1000, help="points of the two spirals (1000)")
    parser.add_argument("--hidden", type=int, default=32, help="neurons of a hidden layer (32)")
    arguments = parser.parse_args(argv)

    with common.use_device(arguments.device) as device:
        print(f"gradients on {device}")
        if polynomial() != 8.0:
            print("ERROR: the derivative is not 8")
            return 1
        host_x, host_y = spirals(arguments.points)
        host = start(arguments.hidden)
        if not arguments.no_numpy:
            error = largest_error(host, host_x, host_y)
            print(f"gradient of the network's loss against differences: {error:.1e} apart")
            # Central differences: h²/6 of the third derivative and eps/h of rounding are below 1e-9 here.
            if error > 1e-7:
                print("ERROR: the gradient is wrong")
                return 1
        x, y = bc.array(host_x), bc.array(host_y)
        parameters = [bc.array(p) for p in host]
        losses = train(parameters, x, y, arguments.steps, 0.3)
        right = float(((network(bc, parameters, x).detach() > 0) == (y > 0.5)).mean())
        print("loss " + " ".join(f"{v:.4f}" for v in losses) + f"; {100 * right:.1f} % of the points are right")
        if losses[-1] >= losses[0]:
            print("ERROR: the loss did not fall")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
