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
    assert lines_of_warnings(lambda: np.emath.sqrt(x)) == ["PerformanceWarning"]
    # A function of SciPy's that calls NumPy's is not the program's line either.
    theirs = {"__name__": "scipy.stand_in", "np": np}
    exec("def f(x): return np.emath.sqrt(x)", theirs)
    assert lines_of_warnings(lambda: theirs["f"](x)) == ["PerformanceWarning"]


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
