"""Arrays print as NumPy's do."""

from __future__ import annotations

import numpy as np
import pytest

ARRAYS = {
    "ints": np.arange(6).reshape(2, 3),
    "floats": np.array([1.0, 2.5, -1e-10, np.nan, np.inf]),
    "float32": np.array([1.5, 2.25], np.float32),
    "int8": np.array([1, -2], np.int8),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j, -0.5j]),
    "empty": np.zeros((0, 3)),
    "0-d": np.array(3.0),
    "0-d int": np.array(7, np.int32),
    "long": np.arange(2000),
    "deep": np.arange(24.0).reshape(2, 3, 4),
    "half": np.array([0.1], np.float16),
    "uint64": np.array([2**63], np.uint64),
    "complex64": np.array([1j], np.complex64),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_repr_and_str_are_numpys(xp, name):
    n = ARRAYS[name]
    x = xp.asarray(n)
    assert repr(x) == repr(n) and str(x) == str(n)
    assert repr(x[::-1] if n.ndim else x) == repr(n[::-1] if n.ndim else n)


def test_print_options_are_numpys(xp):
    n = np.linspace(0, 1, 7) / 3
    with np.printoptions(precision=3, suppress=True):
        assert repr(xp.asarray(n)) == repr(n)
    with xp.printoptions(threshold=3):
        assert str(xp.asarray(n)) == str(n)
    assert xp.array2string(xp.asarray(n), precision=2) == np.array2string(n, precision=2)
    assert xp.array_repr(xp.asarray(n)) == repr(n) and xp.array_str(xp.asarray(n)) == str(n)


def test_format(xp):
    assert f"{xp.array(3.14159):.2f}" == "3.14" and f"{xp.array(5):>4d}" == "   5" and f"{xp.arange(3)}" == "[0 1 2]"
    with pytest.raises(TypeError):
        f"{xp.arange(3):.2f}"


def test_bfloat16_prints(xp):
    text = repr(xp.array([1.5, 2.0], dtype=xp.bfloat16))
    assert "1.5" in text and "bfloat16" in text
    assert "bfloat16" in str(xp.bfloat16)


def test_a_pending_array_prints_its_value(xp):
    assert str(xp.arange(3) * 2) == "[0 2 4]"
