"""The field's tutorial programs, with only their imports changed, on every device."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).resolve().parents[1] / "programs").glob("p*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_program_runs(program, device):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(program), run_name="__main__")
