"""Instruction sets (BROADCLOTH_CPU), and where OpenBLAS is looked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support import child_environment

PROGRAM = """
import numpy as np
import broadcloth as bc
bc.config.background_compile = False
a = np.arange(-600.0, 600.0).reshape(30, 40)
x = bc.asarray(a)
for n in (4, 17, 30):
    np.testing.assert_array_equal((x[:n] @ x[:n].T).get(), a[:n] @ a[:n].T)
np.testing.assert_array_equal((x.astype("i4") @ x.T.astype("i4")).get(), a.astype("i4") @ a.T.astype("i4"))
np.testing.assert_allclose(bc.exp(x / 100).sum(axis=0).get(), np.exp(a / 100).sum(axis=0), rtol=1e-14)
print(*(e["version"] for e in bc._c.library_status() if e["name"] in ("broadcloth_jit", "openblas")))
"""


def run(environment, program=PROGRAM):
    environment = {"BROADCLOTH_DEVICE": "cpu", "OPENBLAS_CORETYPE": "", **environment}
    return subprocess.run([sys.executable, "-c", program], env=child_environment(environment), capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize("level, kernels", [("x86-64", ("Prescott", "Katmai")), ("x86-64-v3", "Haswell"), ("x86-64-v4", "SkylakeX")])
def test_code_is_made_and_chosen_for_the_level_that_is_asked_for(level, kernels):
    done = run({"BROADCLOTH_CPU": level})
    if "expected a level that this processor has" in done.stderr:
        pytest.skip(f"this processor lacks {level}")
    assert done.returncode == 0, done.stderr
    assert f"-target-cpu {level} " in done.stdout and done.stdout.strip().endswith(kernels), done.stdout


def test_a_level_that_does_not_exist_ends_the_import():
    done = run({"BROADCLOTH_CPU": "x86-64-v9"})
    assert done.returncode != 0
    assert "ValueError: BROADCLOTH_CPU: expected native, x86-64, x86-64-v3 or x86-64-v4, got 'x86-64-v9'" in done.stderr


def test_without_openblas_the_error_names_what_brings_it():
    done = run({"BROADCLOTH_OPENBLAS": "/no/such/library.so"}, "import broadcloth as bc; x = bc.ones((80, 80)); (x @ x).get()")
    assert done.returncode != 0
    for part in ("RuntimeError: matmul: expected OpenBLAS", "/no/such/library.so", "pip install", "BROADCLOTH_OPENBLAS"):
        assert part in done.stderr, done.stderr


def test_openblas_lies_beside_the_engine():
    done = run({}, "import broadcloth as bc; print(*(e['version'] for e in bc._c.library_status() if e['name'] == 'openblas'))")
    assert "libbroadcloth_openblas.so" in done.stdout, done.stdout + done.stderr
