"""Functions without a file, values that are known when a function is compiled, and functions that cannot be compiled."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda, extending, literal_unroll, literally, njit, types, vectorize


def test_functions_made_by_exec():
    text = """
        def f(x):
            s = 0
            for i in range(x):
                s += i
            return s
    """
    space: dict = {}
    exec(textwrap.dedent(text), space)
    assert njit(space["f"])(5) == 10

    exec("@njit\ndef g(x):\n    return x * 3\n", {"njit": njit, **space}, space)
    assert space["g"](2) == 6


def test_texts_that_differ_in_one_sign():
    def made(op):
        text = f"lambda x, y: x {op} y"
        return njit(eval(text))

    functions = [made(op) for op in "+-*"]
    assert [f(7, 3) for f in functions] == [10, 4, 21]
    double = "lambda x: x * 2.0"
    assert_array_equal(vectorize(eval(double))(np.arange(3.0)), [0, 2, 4])


def test_kernels_made_by_exec(xp):
    space = {"cuda": cuda}
    exec("@cuda.jit\ndef five(x):\n    x[cuda.grid(1)] = 5\n", space)
    x = xp.zeros(3)
    space["five"][1, 3](x)
    assert_array_equal(x, np.full(3, 5))


def test_functions_of_texts_that_nobody_holds():
    def made(k):
        space: dict = {}
        exec(f"def f(x):\n    return x + {k}\n", space)
        return space["f"]

    functions = [made(k) for k in range(3)]
    assert [njit(f)(10) for f in functions] == [10, 11, 12]
    kernel = cuda.jit(eval(f"lambda out: out.fill({len(functions) + 4})"))
    out = np.zeros(2)
    kernel[1, 1](out)
    assert_array_equal(out, [7, 7])


def test_a_text_that_is_lost_is_an_error_that_says_what_to_keep():
    space: dict = {}
    exec("".join(["def f(x):\n", "    return x\n"]), space)
    space["f"].__code__ = space["f"].__code__.replace(co_name="g")  # which no text made
    with pytest.raises(TypeError, match=r"<string> does not keep; .*linecache\.cache\[file\]"):
        njit(space["f"])(1)

    file, text = "<a text that is kept>", "".join(["def f(x):\n", "    return x + 1\n"])
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    del text
    assert njit(space["f"])(1) == 2


def test_a_program_that_is_an_argument():
    program = "from broadcloth import njit\n@njit\ndef f(x):\n    return x + 1\nprint(f(2))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout == "3\n"


# ---- values that are known ---------------------------------------------------------------------------------------------


@njit
def member(t, k):
    return t[literally(k)]


def test_literally_compiles_for_each_value():
    t = (1, 2.5, np.arange(3))
    assert member(t, 0) == 1 and member(t, 1) == 2.5
    assert member(t, 2) is t[2]
    assert member(t, 1) == 2.5
    assert len(member.signatures) == 3


def test_literally_in_a_function_that_is_called():
    @njit
    def inner(t, k):
        return member(t, k)

    @njit
    def outer(t):
        return inner(t, 1), member(t, 0)

    assert inner((1, 2.5), 1) == 2.5
    assert outer((1, 2.5)) == (2.5, 1)


def test_literally_needs_a_value():
    @njit
    def wrong(t, x):
        return t[literally(x[0])]

    with pytest.raises(bc.TypingError, match=r"the value of 'x\[0\]' is not known"):
        wrong((1, 2.0), np.zeros(1, "i8"))
    with pytest.raises(bc.TypingError, match="the value of 'k' is not known"):
        member((1, 2.0), 1.0)
    assert literally(5) == 5


def test_literal_unroll_over_arguments_and_constants():
    @njit
    def lengths(t):
        n = 0
        for x in literal_unroll(t):
            n += len(x)
        return n

    assert lengths((np.ones(3), (1, 2), np.ones((2, 2)))) == 7


def test_tuples_of_arrays_and_functions_that_a_function_names():
    arrays = np.array([1.0, 2.0]), np.array([[1, 2], [3, 4]], "i4"), np.arange(6.0)[::-2]
    ours = bc.arange(3), bc.arange(4.0)
    functions = (lambda x: 2 * x), njit(lambda x: x + 1)

    @njit
    def joined(x):
        s = 0.0
        for a in literal_unroll(arrays):
            s += a.sum()
        for f in literal_unroll(functions):
            x = f(x)
        return s, x, arrays[1][1, 0] + len(arrays), functions[0](3), ours[0][2] + ours[1].sum()

    assert joined(5) == (3 + 10 + 9, 11, 6, 6, 8.0)

    @cuda.jit
    def sums(out):
        i = 0
        for a in literal_unroll(arrays):
            out[i] = np.sum(a)
            i += 1

    out = np.zeros(3)
    sums[1, 1](out)
    assert out.tolist() == [3, 10, 9]


def test_overloads_of_a_target_come_before_those_of_all():
    def scaled(x):
        raise NotImplementedError

    for target, factor in (("cuda", 5), ("generic", 3)):

        def choose(x, factor=factor):
            return lambda x: x * factor

        extending.overload(scaled, target=target)(lambda x, choose=choose: choose(x))

    def double(out, x):
        out[0] = scaled(x)

    on_cpu, in_kernel = np.zeros(1), np.zeros(1)
    njit(double)(on_cpu, 2.0)
    cuda.jit(double)[1, 1](in_kernel, 2.0)
    assert (on_cpu[0], in_kernel[0]) == (6, 10)
    with pytest.raises(TypeError, match="unexpected keyword argument 'traget'"):
        extending.overload(scaled, traget="cuda")
    with pytest.raises(ValueError, match="expected target 'generic', 'cpu' or 'cuda', got 'gpu'"):
        extending.overload_method(types.Array, "scaled", target="gpu")


def test_intrinsics_say_what_to_write_instead():
    @extending.intrinsic(prefer_literal=True)
    def emits(context, x):
        return None

    with pytest.raises(NotImplementedError, match=r"extending\.overload"):
        emits(1)
    with pytest.raises(bc.TypingError, match=r"emits\(\) is made of LLVM's instructions"):
        njit(lambda x: emits(x))(1)


def test_a_lambda_in_a_lambda_on_one_line():
    pair = "Tuple((int64, float64))(int64)"
    made = [lambda: njit(pair)(lambda x: (x, x)), lambda: njit(lambda y: y + 1), lambda k: njit(lambda x: x * k)]
    assert made[0]()(3) == (3, 3.0)
    assert made[1]()(3) == 4
    assert made[2](5)(3) == 15


def test_a_file_that_was_changed_after_it_was_read(tmp_path):
    file = tmp_path / "changed.py"
    text = "def make():\n    def f(a):\n        return a[0] + 1\n    return f\n"
    file.write_text(text)
    space: dict = {}
    exec(compile(text, str(file), "exec"), space)
    f = space["make"]()
    file.write_text("\n" + text)
    with pytest.raises(TypeError, match="the file was changed after it was read"):
        njit(f)(np.ones(2))
    file.write_text(text)
    assert njit(space["make"]())(np.ones(2)) == 2.0
