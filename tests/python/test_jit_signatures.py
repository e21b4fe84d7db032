"""The signatures that library.def declares are those of NumPy and Python themselves."""

from __future__ import annotations

import builtins
import inspect
import pathlib
import random
import re

import numpy as np
import pytest

TABLE = pathlib.Path(__file__).parents[2] / "src/kernels/library.def"
ROWS = dict(re.findall(r'^BC_LIBRARY\("([^"]+)", "([^"]*)"\)', TABLE.read_text(), re.MULTILINE))
# What a signature cannot say: parameters of NumPy's that are given as keywords of any name, names of other versions of it.
LATER = ("descending",)  # parameters of NumPy 2.5
NOT_SAID = {
    "numpy.clip": {"min", "max", "kwargs"},
    "array.clip": {"kwargs"},
    "numpy.matmul": {"axes", "axis", "keepdims"},
    "numpy.array": {"ndmax"},
    "array.fill": {"value"},  # by position only, whatever it says
    "array.any": {"keepdims"},  # by name only, whatever it says: the third by position is `out`
    "array.all": {"keepdims"},
}


def of_numpy(name: str) -> object:
    root, path = name.split(".", 1)
    if root == "numpy":
        found = np
        for part in path.split("."):
            found = getattr(found, part, None)
        return found if found is not None else getattr(np.linalg, path, None)
    return getattr({"array": np.ndarray, "builtins": builtins, "random": random, "str": str}[root], path)


def declared(row: str) -> list[tuple[str, str, str | None]]:
    """Name, kind and default of each parameter of a row."""
    made: list[tuple[str, str, str | None]] = []
    kind = "either"
    for part in row.split(", ") if row else []:
        if part == "/":
            made = [(name, "position", default) for name, _, default in made]
        elif part.startswith("*"):
            kind = "name"
        else:
            name, default = re.fullmatch(r"(\w+?)(?:@2?|~)?(?:=(.+?))?\+?", part).groups()
            made.append((name, kind, default))
    return made


@pytest.mark.parametrize("name", [n for n in ROWS if n.split(".")[0] in ("numpy", "array") or n in ("random.gauss", "builtins.sum")])
def test_rows_have_the_parameters_of_the_function(name):
    function = of_numpy(name)
    if function is None:
        pytest.skip(f"{name} is not in NumPy {np.__version__}")
    try:
        signature = inspect.signature(function)
    except ValueError:
        pytest.skip(f"{name} does not tell its signature")
    kinds = {inspect.Parameter.POSITIONAL_ONLY: "position", inspect.Parameter.KEYWORD_ONLY: "name"}
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    theirs = {p.name: p for p in signature.parameters.values() if p.name not in ("self", "args", *LATER)}
    allowed = NOT_SAID.get(name, set())
    ours = declared(ROWS[name])
    names = [n for n, _, _ in ours if n not in allowed]
    assert names == [n for n, p in theirs.items() if n not in allowed and p.kind not in starred]
    for parameter, kind, default in ours:
        if parameter in allowed:
            continue
        p = theirs[parameter]
        assert kind == kinds.get(p.kind, "either"), parameter
        assert (default is None) == (p.default is p.empty), parameter
        if default is not None and not default.startswith("?") and "no value" not in repr(p.default):
            assert default.split("|")[0].rstrip("+") == repr(p.default), parameter
