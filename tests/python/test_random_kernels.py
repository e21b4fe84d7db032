"""Random CUDA C++ kernels against NumPy, which takes all threads through them in step."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import numpy as np
import pytest

Values = dict[str, np.ndarray]
Expression = tuple[str, Callable[[Values], np.ndarray]]
Statement = tuple[str, Callable[[Values, np.ndarray], None]]

BLOCKS = [(32, 1, 1), (64, 1, 1), (128, 1, 1), (48, 1, 1), (16, 4, 1), (8, 8, 2), (100, 1, 1), (5, 7, 3), (32, 4, 1), (64, 2, 1), (4, 16,
    1), (1, 1, 1)]
ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply, "^": np.bitwise_xor, "&": np.bitwise_and, "|": np.bitwise_or}
COMPARISONS = {"<": np.less, ">": np.greater, "==": np.equal, "!=": np.not_equal, "<=": np.less_equal}


def wrapped(f: Callable[..., np.ndarray], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return f(a.astype(np.uint32), b.astype(np.uint32)).astype(np.int32)


class Kernel:
    """Writes a kernel's text, and beside it what it does to arrays that hold a value for each thread.

    Code is run by "block" (all threads of a block together: barriers may stand there),
        by "warp" (whole warps: shuffles may) or by "thread".
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.block = self.random.choice(BLOCKS)
        self.grid = self.random.randint(1, 3)
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.warps = self.threads % 32 == 0 and self.random.random() < 0.6
        self.guarded = self.random.random() < 0.3  # some threads end at once; then there are no barriers
        self.names = ["a", "b", "c", "d"]
        self.counters: list[str] = []  # of loops that all threads run alike
        self.depth = self.loops = 0
        body, self.run = self.statements(self.random.randint(3, 8), "thread" if self.guarded else "block")
        self.sound = re.search(r"(?<!int )\bi\d+ = ", body) is None  # no loop's counter is changed in the loop
        guard = "if (g >= n * 20) return;" if self.guarded else ""
        self.text = f"""extern "C" __global__ void k(const int* x, int* out, int n) {{
          __shared__ int s[{self.threads}];
          int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), g = blockIdx.x * {self.threads} + t;
          int a = x[g & 1023], b = t * 3, c = n, d = 1;
          {guard}
          {body}
          out[4 * g] = a; out[4 * g + 1] = b; out[4 * g + 2] = c; out[4 * g + 3] = d; }}"""

    def expected(self, x: np.ndarray, n: int) -> np.ndarray:
        count = self.threads * self.grid
        g = np.arange(count)
        t = (g % self.threads).astype(np.int32)
        v = {"x": x, "t": t, "block": (g // self.threads).astype(np.int32), "n": np.full(count, n, np.int32), "a": x[g & 1023].copy(),
             "b": t * np.int32(3), "c": np.full(count, n, np.int32), "d": np.ones(count, np.int32)}
        alive = g < n * 20 if self.guarded else np.ones(count, bool)
        self.run(v, alive)
        return np.where(alive[:, None], np.stack([v[name] for name in "abcd"], 1), 0).astype(np.int32)

    def expression(self, uniform: bool = False, depth: int = 0) -> Expression:
        r = self.random
        kind = r.random()
        if depth > 2 or kind < 0.35:
            leaf = r.random()
            if leaf < 0.3:
                number = r.randint(-7, 9)
                return f"({number})", lambda v: np.full_like(v["t"], number)
            if uniform or leaf < 0.4:
                name = r.choice(["n", "block", *self.counters])
                return ("(int)blockIdx.x" if name == "block" else name), lambda v: v[name].copy()
            name = "t" if leaf < 0.55 else r.choice(self.names)
            return name, lambda v: v[name].copy()
        if kind < 0.75 or uniform:
            (a, left), (b, right) = self.expression(uniform, depth + 1), self.expression(uniform, depth + 1)
            op = r.choice(list(ARITHMETIC))
            return f"(int)((unsigned)({a}) {op} (unsigned)({b}))", lambda v: wrapped(ARITHMETIC[op], left(v), right(v))
        if kind < 0.85:
            (c, test), (a, left), (b, right) = self.condition(), self.expression(False, depth + 1), self.expression(False, depth + 1)
            return f"(({c}) ? ({a}) : ({b}))", lambda v: np.where(test(v), left(v), right(v)).astype(np.int32)
        a, index = self.expression(False, depth + 1)
        return f"x[({a}) & 1023]", lambda v: v["x"][index(v) & 1023]

    def condition(self, uniform: bool = False) -> Expression:
        (a, left), (b, right) = self.expression(uniform, 1), self.expression(uniform, 1)
        op, mask = self.random.choice(list(COMPARISONS)), self.random.choice([3, 7, 15])
        return f"(({a}) & {mask}) {op} (({b}) & {mask})", lambda v: COMPARISONS[op](left(v) & mask, right(v) & mask)

    def statements(self, count: int, by: str) -> Statement:
        made = [self.statement(by) for _ in range(count)]

        def run(v: Values, on: np.ndarray) -> None:
            for _, step in made:
                step(v, on)

        return "\n".join(text for text, _ in made), run

    def statement(self, by: str) -> Statement:
        self.depth += 1
        kind = self.random.random()
        try:
            if self.depth > 4 or kind < 0.4:
                return self.assignment()
            if kind < 0.55:
                return self.branch(by)
            if kind < 0.67:
                return self.loop(by)
            if kind < 0.82 and by == "block":
                return self.exchange()
            if kind < 0.95 and by != "thread" and self.warps:
                return self.shuffle()
            return self.assignment()
        finally:
            self.depth -= 1

    def assignment(self) -> Statement:
        name = self.random.choice(self.names)
        text, value = self.expression()

        def run(v: Values, on: np.ndarray) -> None:
            v[name] = np.where(on, value(v), v[name]).astype(np.int32)

        return f"{name} = {text};", run

    def branch(self, by: str) -> Statement:
        r = self.random
        if self.warps and by != "thread" and r.random() < 0.5:
            warp, inner = r.randint(0, 2), "warp"
            text, test = r.choice([(f"(t >> 5) == {warp}", lambda v: (v["t"] >> 5) == warp), (f"t < {32 * warp}",
                lambda v: v["t"] < 32 * warp),
                                   (f"t / 32 % 3 == {warp}", lambda v: v["t"] // 32 % 3 == warp)])
        else:
            inner = by if by != "thread" and r.random() < 0.5 else "thread"
            text, test = self.condition(inner != "thread")
        yes, run_yes = self.statements(r.randint(1, 3), inner)
        no, run_no = self.statements(r.randint(0, 2), inner)

        def run(v: Values, on: np.ndarray) -> None:
            taken = test(v)
            run_yes(v, on & taken)
            run_no(v, on & ~taken)

        return f"if ({text}) {{ {yes} }} else {{ {no} }}", run

    def loop(self, by: str) -> Statement:
        r = self.random
        self.loops += 1
        counter, last = f"i{self.loops}", f"last{self.loops}"
        alike = by != "thread" or r.random() < 0.5
        if alike:
            turns = r.randint(0, 6)
            text, bound = r.choice([(str(turns), lambda v: np.full_like(v["t"], turns)), ("(n & 7)", lambda v: v["n"] & 7)])
        else:
            name = r.choice(self.names)
            text, bound = f"({name} & 7)", lambda v: v[name] & 7
        known = self.counters if alike else self.names
        known.append(counter)
        body, run_body = self.statements(r.randint(1, 3), by if alike else "thread")
        known.remove(counter)

        def run(v: Values, on: np.ndarray) -> None:
            end = bound(v).copy()
            v[counter] = np.zeros_like(end)
            while (on := on & (v[counter] < end)).any():
                run_body(v, on)
                v[counter] = np.where(on, v[counter] + 1, v[counter]).astype(np.int32)

        return f"{{ int {last} = {text}; for (int {counter} = 0; {counter} < {last}; ++{counter}) {{ {body} }} }}", run

    def exchange(self) -> Statement:
        to, of = self.random.choice(self.names), self.random.choice(self.names)
        by, threads = self.random.randrange(self.threads), self.threads

        def run(v: Values, on: np.ndarray) -> None:
            v[to] = np.where(on, np.roll(v[of].reshape(-1, threads), -by, 1).ravel(), v[to]).astype(np.int32)

        return f"s[t] = {of}; __syncthreads(); {to} = s[(t + {by}) % {threads}]; __syncthreads();", run

    def shuffle(self) -> Statement:
        to, of = self.random.choice(self.names), self.random.choice(self.names)
        lane, by = np.arange(32), self.random.choice([1, 2, 4, 8, 16])
        text, source = self.random.choice([(f"__shfl_xor_sync(~0u, {of}, {by})", lane ^ by),
                                           (f"__shfl_down_sync(~0u, {of}, {by})", np.where(lane + by < 32, lane + by, lane)),
                                           (f"(int)__ballot_sync(~0u, {of} & 1)", None)])

        def run(v: Values, on: np.ndarray) -> None:
            warps = v[of].reshape(-1, 32)
            if source is None:
                votes = ((warps & 1).astype(np.uint64) << lane.astype(np.uint64)).sum(1).astype(np.uint32).view(np.int32)
                got = np.repeat(votes, 32)
            else:
                got = warps[:, source].ravel()
            v[to] = np.where(on, got, v[to]).astype(np.int32)

        return f"{to} = {text};", run


@pytest.mark.parametrize("seed", range(40))
def test_random_kernel(xp, seed):
    kernel = Kernel(seed)
    if not kernel.sound:
        pytest.skip("a loop that need not end")
    x = np.random.default_rng(seed).integers(-1000, 1000, 1024).astype(np.int32)
    out = xp.zeros((kernel.threads * kernel.grid, 4), dtype="int32")
    xp.RawKernel(kernel.text, "k")((kernel.grid,), kernel.block, (xp.array(x), out, 3))
    np.testing.assert_array_equal(np.asarray(out.get() if hasattr(out, "get") else out), kernel.expected(x, 3), err_msg=kernel.text)
