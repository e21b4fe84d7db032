"""Random programs over arrays against NumPy: values, dtypes, shapes, writeability and exceptions, statement by statement.

BROADCLOTH_ARRAY_PROGRAMS=50000 sets how many programs run (300; a fifth of them on a GPU), and BROADCLOTH_ARRAY_PROGRAMS_SEED the first
seed. A failing seed is run alone by `python tests/array_programs.py --seed N`.
"""

from __future__ import annotations

import os

import pytest

import array_programs
from program_harness import Run

COUNT = int(os.environ.get("BROADCLOTH_ARRAY_PROGRAMS", "300"))
FIRST = int(os.environ.get("BROADCLOTH_ARRAY_PROGRAMS_SEED", "0"))
BATCH = 100 if COUNT <= 2000 else 1000


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, BATCH))
def test_programs_do_what_numpy_does(device, start):
    count = min(BATCH, FIRST + COUNT - start)
    reports = array_programs.check_all(start, count if device == "cpu" else -(-count // 5), Run(device))
    assert not reports, f"seeds {start} to {start + BATCH - 1}: {len(reports)} programs differ\n" + "\n\n".join(reports[:5])


def test_the_generator_writes_varied_programs():
    text = "\n".join("\n".join(array_programs.make(seed)) for seed in range(400))
    for part in (
        "out=",
        "where=",
        "dtype=",
        "casting=",
        "None",
        "...",
        "np.array([",
        "10**30",
        "nan",
        ".item(",
        "initial=",
        "[[",
        "+=",
        "::-1",
        "view(",
    ):
        assert part in text, f"no program has {part}"


@pytest.mark.parametrize("function, change", [("add", lambda a: a + 1), ("negative", lambda a: a.astype("float16"))])
def test_a_difference_is_found_and_shrunk(monkeypatch, function, change):
    """The harness itself: a wrong value and a wrong dtype are reported with the fewest statements."""
    real = array_programs.execute

    def wrong(statement, names):
        found = real(statement, names)
        target = statement.partition(" = ")[0]
        if names["lib"] is not array_programs.np and f"= lib.{function}(" in statement and not isinstance(found, Exception):
            names[target] = found = change(found)
        return found

    monkeypatch.setattr(array_programs, "execute", wrong)
    seeds = (s for s in range(5000) if any(f"= lib.{function}(" in t for t in array_programs.make(s)))
    report = next(r for r in map(array_programs.check, seeds) if r)
    program = report.split("--- minimal program\n")[1]
    assert f"lib.{function}(" in program and len(program.splitlines()) <= 10
