"""Random programs: fused, plain and by the built-in loops must agree bit for bit, and with NumPy where rounding leaves no choice.

BROADCLOTH_DIFFERENTIAL=10000 sets how many programs run (300; a fifth of them on a GPU, where each kernel is compiled), and
BROADCLOTH_DIFFERENTIAL_SEED the first seed. Of many programs each fourth is compiled, the others run by the built-in loops. A failing seed
is run alone by `python tests/differential.py --seed N`.
"""

from __future__ import annotations

import os

import pytest

import differential
from program_harness import Run

COUNT = int(os.environ.get("BROADCLOTH_DIFFERENTIAL", "300"))
FIRST = int(os.environ.get("BROADCLOTH_DIFFERENTIAL_SEED", "0"))
BATCH = 25 if COUNT <= 2000 else 250
EVERY = 1 if COUNT <= 2000 else 4


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("start", range(FIRST, FIRST + COUNT, BATCH))
def test_programs_agree_in_every_way(device, start):
    count = min(BATCH, FIRST + COUNT - start)
    reports = differential.check_all(start, count if device == "cpu" else -(-count // 5), Run(device, EVERY))
    assert not reports, f"seeds {start} to {start + BATCH - 1}: {len(reports)} programs differ\n" + "\n\n".join(reports[:5])


def test_the_generator_writes_varied_programs():
    text = "\n".join("\n".join(differential.make(seed)[0]) for seed in range(200))
    for part in ("[1:]", ".T", "+=", "astype", ".sum(", "asarray([", "where", "look(", "concatenate", "del ", "] = "):
        assert part in text, f"no program has {part}"


def test_a_difference_is_found_and_shrunk(monkeypatch):
    """The harness itself: a wrong result is reported with the fewest statements."""
    real = differential.run

    def wrong(statements, lib):
        found = real(statements, lib)
        if lib is not differential.np:
            for name, v in found.items():
                if any(s.startswith(f"{name} = lib.square(") for s in statements) and v.size:
                    found[name] = v + 1
        return found

    monkeypatch.setattr(differential, "run", wrong)
    seed = next(s for s in range(1000) if any("lib.square(" in t for t in differential.make(s)[0]) and differential.check(s))
    report = differential.check(seed)
    program = report.split("--- minimal program\n")[1]
    assert "lib.square(" in program and len(program.splitlines()) <= 8
