"""A program full of mistakes: type checkers find one in each line that is marked, and in no other. It is not run."""

from typing import Any

import numpy as np

import broadcloth as bc
from broadcloth import cuda

x = bc.ones((3, 4))
y: bc.ndarray = bc.arange(4)

# Names.
bc.arrange(5)  # mistake
bc.ones_lke(x)  # mistake
bc.float23  # mistake
bc.linalg.nrom(x)  # mistake
bc.random.default_rgn(0)  # mistake
bc.random.default_rng(0).nromal(size=3)  # mistake
bc.cuda.gird(1)  # mistake
cuda.threadIdx.w  # mistake
bc.profiler.recrod()  # mistake
x.shpae  # mistake
x.sumn()  # mistake
(x > 1).al()  # mistake
x.sort()  # mistake
x.T.reshap(3)  # mistake
bc.config.lasy = True  # mistake
bc.types.floaty64  # mistake
bc.typing.ArayLike  # mistake
x.flags.contiguos  # mistake
x.device.nmae  # mistake

# Arguments that are missing, too many, or called something else.
bc.full(3)  # mistake
bc.zeros()  # mistake
bc.zeros(3, dtypo="f4")  # mistake
bc.sin()  # mistake
bc.sin(x, x, x)  # mistake
bc.add(x)  # mistake
bc.concatenate([x, x], axes=0)  # mistake
bc.sum(x, axis=0, keepdim=True)  # mistake
bc.where(x > 0, x)  # mistake
bc.linspace(0)  # mistake
x.sum(axes=1)  # mistake
x.astype()  # mistake
x.to_device()  # mistake
bc.random.default_rng(0).normal(mean=0.0)  # mistake
bc.linalg.norm()  # mistake

# Arguments of a wrong type.
bc.sin("x")  # mistake
bc.array("text")  # mistake
bc.array([1, "two"])  # mistake
bc.zeros("3")  # mistake
bc.zeros(2.5)  # mistake
bc.zeros((2, 2.5))  # mistake
bc.sum(x, axis="rows")  # mistake
bc.concatenate(x, y)  # mistake
bc.stack([x, None])  # mistake
bc.linspace(0, 1, num="50")  # mistake
bc.arange("5")  # mistake
bc.ones(3, order="Q")  # mistake
bc.copyto(x, y, casting="maybe")  # mistake
bc.add(x, y, out="here")  # mistake
bc.random.default_rng("seed")  # mistake
bc.random.default_rng(0).random("3")  # mistake
bc.exp(None)  # mistake
x.reshape("3, 4")  # mistake
x.mean(axis=1.5)  # mistake
x.dot("y")  # mistake
x["a"]  # mistake
x[1.5]  # mistake
x[0] = "one"  # mistake
x + "a"  # mistake
x - None  # mistake
x @ "m"  # mistake
x < "3"  # mistake
2 ** x ** {}  # mistake

# Results that are something else.
n: int = bc.sum(x)  # mistake
s: str = x.mean()  # mistake
first: float = x[0, 0]  # mistake
many: list[float] = bc.linspace(0, 1)  # mistake
host: np.ndarray[Any, Any] = bc.asarray(x)  # mistake
x.shape()  # mistake
x.T()  # mistake
x.shape + 1  # mistake
x.sum().append(3)  # mistake
x.size.bit_cout()  # mistake
bc.zeros(3)()  # mistake
q = bc.divmod(x, 3) + 1  # mistake
bc.nonzero(x).sum()  # mistake
bc.allclose(x, y).all()  # mistake
x.get().device_name  # mistake


def mean(v: bc.ndarray) -> float:
    return v.mean()  # mistake


mean([1.0, 2.0])  # mistake
mean(np.ones(3))  # mistake
mean(3.0)  # mistake
