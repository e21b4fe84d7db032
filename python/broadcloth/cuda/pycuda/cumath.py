"""PyCUDA's elementwise mathematics: the functions of arrays, which fuse."""

from broadcloth import (
    arccos as acos,
)
from broadcloth import (
    arcsin as asin,
)
from broadcloth import (
    arctan as atan,
)
from broadcloth import (
    ceil,
    cos,
    cosh,
    exp,
    fabs,
    floor,
    fmod,
    frexp,
    ldexp,
    log,
    log10,
    modf,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

__all__ = [
    "acos", "asin", "atan", "ceil", "cos", "cosh", "exp", "fabs", "floor", "fmod", "frexp", "ldexp", "log", "log10", "modf", "sin", "sinh",
    "sqrt", "tan", "tanh",
]  # fmt: skip
