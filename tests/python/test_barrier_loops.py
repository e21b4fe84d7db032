"""Random kernels whose loops and conditions hold barriers, against the same program on NumPy's arrays, a lane for each thread."""

from __future__ import annotations

import random

import numpy as np
import pytest

THREADS, BLOCKS = 48, 2


class Leave(Exception):  # noqa: N818
    """break, continue and return of the program that NumPy runs."""


class Program:
    """Statements as CUDA C++ and as Python over `env`: v (a value of each thread), s (shared), u (the same for all threads of a block)."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.names = 0

    def body(self, depth: int, loop: bool) -> tuple[str, list]:
        parts = [self.statement(depth, loop) for _ in range(self.random.randint(1, 3))]
        return "\n".join(text for text, _ in parts), [run for _, run in parts]

    def statement(self, depth: int, loop: bool):
        kinds = ["exchange", "exchange", "value", "uniform", "parted"]
        if depth < 3:
            kinds += ["for", "for", "while", "do", "if"]
        if loop:
            kinds += ["break", "continue"]
        return getattr(self, "make_" + self.random.choice(kinds))(depth)

    def make_exchange(self, depth):
        c = self.random.randrange(1, THREADS)

        def run(env):
            env["s"] = env["v"].copy()
            env["v"] = env["v"] * np.uint32(3) + np.roll(env["s"], -c, axis=1)

        return f"s[t] = v; __syncthreads(); v = v * 3 + s[(t + {c}) % {THREADS}]; __syncthreads();", run

    def make_value(self, depth):
        a = self.random.randrange(1, 100)

        def run(env):
            env["v"] = env["v"] * np.uint32(a) + env["u"] + env["t"]

        return f"v = v * {a}u + u + t;", run

    def make_uniform(self, depth):
        a = self.random.randrange(1, 100)

        def run(env):
            env["u"] = env["u"] * np.uint32(5) + np.uint32(a)

        return f"u = u * 5u + {a}u;", run

    def make_parted(self, depth):
        c = self.random.randrange(1, THREADS)

        def run(env):
            env["v"] = np.where(env["t"] < c, env["v"] + env["u"], env["v"] ^ np.uint32(c))

        return f"if (t < {c}) v += u; else v ^= {c}u;", run

    @staticmethod
    def turn(body, env) -> bool:
        """A turn of a loop; false after a break."""
        try:
            for run in body:
                run(env)
        except Leave as way:
            if way.args[0] == "return":
                raise
            return way.args[0] == "continue"
        return True

    def make_for(self, depth):
        n, name = self.random.randint(0, 5), f"i{self.names}"
        self.names += 1
        varies = self.random.random() < 0.5
        text, body = self.body(depth + 1, True)
        bound = f"{n} + (blockIdx.x & 1)" if varies else str(n)

        def run(env):
            for i in range(n + (env["block"] & 1 if varies else 0)):
                env["u"] = env["u"] + np.uint32(i)
                if not self.turn(body, env):
                    break

        return f"for (unsigned {name} = 0; {name} < {bound}; ++{name}) {{ u += {name};\n{text}\n}}", run

    def make_while(self, depth):
        n, name = self.random.choice([0, 1, 7, 16, 33]), f"i{self.names}"
        self.names += 1
        text, body = self.body(depth + 1, True)

        def run(env):
            left = n
            while left > 0:
                left //= 2
                if not self.turn(body, env):
                    break

        return f"unsigned {name} = {n}; while ({name} > 0) {{ {name} /= 2;\n{text}\n}}", run

    def make_do(self, depth):
        n, name = self.random.randint(1, 4), f"i{self.names}"
        self.names += 1
        text, body = self.body(depth + 1, True)

        def run(env):
            for _ in range(n):
                if not self.turn(body, env):
                    break

        return f"unsigned {name} = 0; do {{\n{text}\n}} while (++{name} < {n});", run

    def make_if(self, depth):
        mask = self.random.choice([1, 2, 4])
        text, body = self.body(depth + 1, False)
        other_text, other = self.body(depth + 1, False)

        def run(env):
            for inner in body if env["u"] & mask else other:
                inner(env)

        return f"if (u & {mask}u) {{\n{text}\n}} else {{\n{other_text}\n}}", run

    def leave(self, word: str, mask: int):
        def run(env):
            if (env["u"] & mask) == mask:
                raise Leave(word)

        return f"if ((u & {mask}u) == {mask}u) {word};", run

    def make_break(self, depth):
        if self.random.random() < 0.2:
            text, run = self.leave("return", 15)
            return text.replace("return", "{ out[blockIdx.x * blockDim.x + t] = v + u; return; }"), run
        return self.leave("break", self.random.choice([1, 3, 5]))

    def make_continue(self, depth):
        return self.leave("continue", self.random.choice([1, 3, 5]))


@pytest.mark.parametrize("seed", range(40))
def test_barriers_in_loops(xp, seed):
    program = Program(seed)
    text, body = program.body(0, False)
    kernel = xp.RawKernel(
        f"""extern "C" __global__ void k(unsigned* out, unsigned u) {{
      __shared__ unsigned s[{THREADS}]; unsigned t = threadIdx.x, v = t * 7 + blockIdx.x;
      {text}
      out[blockIdx.x * blockDim.x + t] = v + u; }}""",
        "k",
    )
    out = xp.zeros(THREADS * BLOCKS, "uint32")
    kernel((BLOCKS,), (THREADS,), (out, np.uint32(seed)))
    expected = []
    for block in range(BLOCKS):
        t = np.arange(THREADS, dtype=np.uint32)[None]
        env = {"t": t, "v": t * np.uint32(7) + np.uint32(block), "u": np.uint32(seed), "block": block, "s": None}
        with np.errstate(over="ignore"):
            try:
                for run in body:
                    run(env)
            except Leave:
                pass
            expected.append((env["v"] + env["u"])[0])
    assert (xp.asnumpy(out) == np.concatenate(expected)).all(), text
