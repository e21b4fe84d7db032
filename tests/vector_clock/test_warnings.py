"""Warnings about work with arrays on a GPU name the program's own line."""

from __future__ import annotations

import warnings

import numpy as np

from stream_order import on_vector_clock


def lines_of_warnings(call) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    assert all(w.filename == __file__ for w in seen), [(w.filename, w.lineno, str(w.message)) for w in seen]
    return [w.category.__name__ for w in seen]


@on_vector_clock()
def test_a_copy_for_numpy_is_warned_of_at_the_line_of_the_program():
    import broadcloth as bc

    x = bc.array([3.0, 1.0], device="cuda")
    assert lines_of_warnings(lambda: np.convolve(x, x)) == ["PerformanceWarning"]
    # NumPy's function calls another one, which gets the array.
    assert lines_of_warnings(lambda: np.polynomial.Polynomial([1.0, 2.0])(x)) == []
    assert lines_of_warnings(lambda: np.polynomial.polyutils.trimseq(np.convolve(x, x))) == ["PerformanceWarning"]


@on_vector_clock()
def test_a_copy_for_a_launch_is_warned_of_at_the_line_of_the_program():
    import broadcloth as bc

    @bc.cuda.jit
    def twice(a):
        a[0] *= 2

    host = np.ones(4, "f4")

    def launch():
        with bc.device("cuda"):
            twice[1, 1](host)

    assert lines_of_warnings(launch) == ["PerformanceWarning"]
