"""Random functions in `njit` against Python: values, types, exceptions, and what is left in the arguments.

BROADCLOTH_PROGRAMS=20000 sets how many run (48), BROADCLOTH_PROGRAMS_START the first seed. A failing seed is run alone by
`python tests/jit_programs.py --seed N`.
"""

from __future__ import annotations

import os

import pytest

import broadcloth as bc
import jit_programs

COUNT = int(os.environ.get("BROADCLOTH_PROGRAMS", "48"))
START = int(os.environ.get("BROADCLOTH_PROGRAMS_START", "30000"))


@pytest.mark.timeout(24 * 3600)
def test_compiled_functions_do_what_python_does(monkeypatch):
    monkeypatch.setenv("BROADCLOTH_JIT_LEVEL", "0")  # each runs once
    reports = jit_programs.check_all(START, COUNT)
    assert not reports, "\n\n".join(reports)


def test_functions_have_what_programs_have():
    text = "\n".join("\n".join(jit_programs.make(seed)) for seed in range(400))
    for part in (
        "while ",
        "for ",
        "try:",
        "finally:",
        "raise ",
        "lambda ",
        "match ",
        "def ",
        ".append(",
        "sorted(",
        "np.where",
        "f'",
        "::-1",
    ):
        assert part in text, part


def test_a_wrong_result_is_found_and_cut_down(monkeypatch):
    monkeypatch.setattr(bc, "njit", lambda f, **options: lambda *given: ("wrong", *f(*given)[1:]))
    report = jit_programs.check(next(seed for seed in range(100) if jit_programs.difference(jit_programs.make(seed))))
    assert report and "n is 'wrong', Python's " in report
    assert len(report.split("--- minimal program\n")[1].splitlines()) <= 12  # one statement
