"""What the profiler sees."""

from __future__ import annotations

import numpy as np

from support import configured


def test_kernels_and_copies_are_recorded(xp):
    a = xp.asarray(np.arange(1000.0))
    with xp.profiler.record() as r:
        b = a * 2 + 1
    assert len(r.kernels) == 1
    k = r.kernels[0]
    assert k.elements == 1000 and k.name and str(k.device).startswith(str(xp.default_device()).split(":")[0]) and k.time >= 0
    assert float(b[1]) == 3
    with xp.profiler.record() as r:
        b.get()
    if xp.default_device().type == "cuda":
        assert [c.bytes for c in r.copies] == [8000] and "host" in r.copies[0].kind
    assert len(r.kernels) == 0


def test_work_from_before_the_block_is_not_counted(xp):
    a = xp.arange(100.0) * 3
    with xp.profiler.record() as r:
        pass
    assert len(r.kernels) == 0
    with xp.profiler.record() as r:
        a += 1
    after = xp.exp(a)
    assert len(r.kernels) == 1
    assert float(after[0]) > 2.7


def test_values_that_nobody_holds_never_run(xp):
    a = xp.asarray(np.arange(100.0))
    with xp.profiler.record() as r:
        for _ in range(10):
            a * 2
        b = a + 1
        b = b * 2
        del b
    assert len(r.kernels) == 0


def test_plain_execution_runs_one_kernel_an_op(xp):
    a = xp.asarray(np.arange(100.0))
    with configured(lazy=False), xp.profiler.record() as r:
        b = a * 2 + 1
    assert len(r.kernels) == 2 and float(b[1]) == 3


def test_recordings_nest_and_are_cleared(xp):
    a = xp.asarray(np.arange(10.0))
    with xp.profiler.record() as outer:
        b = a + 1
        with xp.profiler.record() as inner:
            c = a + 2
    assert len(inner.kernels) == 1 and len(outer.kernels) == 2
    outer.clear()
    assert len(outer.kernels) == 0
    assert float(b[0] + c[0]) == 3


def test_the_summary_is_a_table(xp):
    a = xp.asarray(np.arange(100_000.0))
    with xp.profiler.record() as r:
        b = xp.sin(a) + 1
        total = b.sum()
    text = str(r)
    assert "kernels" in text and "calls" in text and len(text.splitlines()) >= 3
    assert repr(r).startswith("<Record:") and r.time >= 0
    assert np.isfinite(float(total))
    with xp.profiler.record() as empty:
        pass
    assert str(empty) == "nothing ran"


def test_show_source_prints_a_kernel(xp, capsys):
    a = xp.asarray(np.arange(1000.0, dtype=np.float32))
    b = xp.sin(a) * a
    xp.show_source(b)
    text = capsys.readouterr().out
    assert "sin" in text and "(" in text
    with xp.profiler.record() as r:
        pass
    assert len(r.kernels) == 0, "the array waited, and ran before the block"
    assert float(b[0]) == 0
    xp.show_source(a)
    assert "computed already" in capsys.readouterr().out
