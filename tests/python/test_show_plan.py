"""bc.show_plan() and BROADCLOTH_DUMP: what they print is the plan that runs, and nothing runs by printing."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest

import broadcloth as bc


def shown(a, **options):
    out = io.StringIO()
    bc.show_plan(a, out, **options)
    return out.getvalue()


def filled(xp, shape, dtype="float64"):
    """An array in memory: constants are a kernel's parameters, which are not read."""
    return xp.asarray(np.ones(shape, dtype))


def test_kernels_say_what_they_walk(xp):
    a = filled(xp, (100, 200))
    text = shown((a * a + 1).sum(axis=1))
    assert text.startswith("kernel 0: rows_multiply_add_sum, 100 rows of 200\n")
    assert "1 read, 1 write" in text
    assert "kernel 1" not in text


def test_nothing_runs(xp):
    a = filled(xp, 1000)
    with bc.profiler.record() as record:
        b = a + 1
        shown(b, ir=True, source=True)
        assert bc._c.is_pending(b)
        assert not record.kernels
    assert float(b[0]) == 2
    assert "computed already" in shown(b)


def test_the_ir_names_values_and_accesses(xp):
    a = filled(xp, (64, 32), "float32")
    text = shown(xp.sqrt(a) + a, ir=True)
    assert "= load @0 : float32" in text
    assert "= sqrt %0 : float32" in text
    assert "= add %1 %0 : float32" in text
    assert "store @" in text


def test_rows_of_several_stages(xp):
    a = filled(xp, (64, 32))
    text = shown(a - a.mean(axis=1, keepdims=True), ir=True)
    assert "2 stages" in text
    assert "result : float64, row, stage 0" in text
    assert "stage 1" in text


def test_library_calls_are_named(xp):
    a = filled(xp, (300, 300))
    text = shown((a @ a) + 1)
    assert "library 0: matmul" in text
    assert "kernel 1: map_add" in text


def test_source_comes_behind(xp):
    b = xp.arange(1000.0) + 1
    assert "// kernel: map_" in shown(b, source=True)
    assert "// kernel: map_" not in shown(b)


def test_cuda_schedules():
    with bc.device("null"):
        bc._c.null_set_target("null-cuda")
        try:
            text = shown(bc.empty((1 << 12, 1 << 12), "float32").sum(axis=1))
            assert "threads a row; vectors of 4" in text
            assert "grid " in text
            assert "tiles of 64 x 64" in shown(bc.empty((512, 512), "float32").T.copy())
        finally:
            bc._c.null_set_target("null-cpu")


def test_other_arguments_are_refused():
    with pytest.raises(TypeError, match=r"show_plan: expected a broadcloth.ndarray, got list"):
        bc.show_plan([1])


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, BROADCLOTH_DEVICE="cpu", **environment),
        capture_output=True,
        text=True,
        timeout=100,
    )


PROGRAM = "import broadcloth as bc; print(float((bc.arange(1000.0) + 1).sum()))"


def test_programs_dump_what_they_plan():
    done = run(PROGRAM, BROADCLOTH_DUMP="plan,ir")
    assert done.stdout.split() == [str(np.arange(1001.0).sum())]
    assert "kernel 0: rows_" in done.stderr
    assert "= load" in done.stderr or "= coordinate" in done.stderr
    assert "// kernel" not in done.stderr
    assert "// kernel" in run(PROGRAM, BROADCLOTH_DUMP="source").stderr


def test_a_wrong_phase_is_an_error():
    done = run(PROGRAM, BROADCLOTH_DUMP="plan,irr")
    assert done.returncode == 1
    assert "ValueError: BROADCLOTH_DUMP: expected plan, ir and source, separated by commas, got 'irr'" in done.stderr
