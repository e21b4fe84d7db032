"""Mistakes of learners: each gives an error that names the function, what was expected and what came, and the way out."""

from __future__ import annotations

import json
import math
import traceback

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import cuda, guvectorize, njit, prange, stencil, vectorize
from broadcloth.exceptions import CompileError, TypingError

# A name, the statements, the exception, and what its message says.
MISTAKES = [
    ("shapes that do not broadcast", "a + b", ValueError, ["add", "(2, 3)", "(4,)"]),
    ("product of shapes that do not fit", "a @ b", ValueError, ["matmul", "(2, 3)", "(4,)", "size 4 is different from 3"]),
    ("product of an array with itself", "a @ a", ValueError, ["(2, 3) and (2, 3)"]),
    ("a text as an index", "a['x']", IndexError, ["valid indices", "got str 'x'"]),
    ("a float as an index", "a[1.0]", IndexError, ["only integers", "got float 1.0"]),
    ("an index past the end", "a[5]", IndexError, ["index 5 is out of bounds for axis 0 with size 2"]),
    ("too many indices", "a[0, 0, 0]", IndexError, ["2-dimensional", "3 were indexed"]),
    ("a mask of another length", "b[bc.array([True, False])]", IndexError, ["axis 0", "4", "2"]),
    ("a dtype with a typing error", "bc.zeros(3, dtype='flaot64')", TypeError, ["'flaot64'", "did you mean 'float64'?"]),
    ("a shape as two arguments", "bc.zeros(2, 3)", TypeError, ["'3'", "zeros((2, 3))"]),
    ("a shape of floats", "bc.ones((2.0, 3))", TypeError, ["shape", "integer", "float"]),
    ("a shape of another size", "a.reshape(4, 2)", ValueError, ["size 6", "(4, 2)"]),
    ("arrays without a list", "bc.concatenate(a, a)", TypeError, ["one list", "concatenate([a, b])"]),
    ("arrays of other dimensions", "bc.concatenate([a, b])", ValueError, ["index 0 has 2 dimension(s)", "index 1 has 1 dimension(s)"]),
    ("a stack of unequal shapes", "bc.stack([b, i])", ValueError, ["same shape", "(4,)", "(5,)"]),
    ("a split that leaves a rest", "bc.split(b, 3)", ValueError, ["equal division", "4 elements into 3 parts", "array_split()"]),
    ("an axis that is not there", "a.sum(axis=2)", np.exceptions.AxisError, ["sum", "axis 2", "dimension 2"]),
    ("weights of another shape", "bc.average(a, 0, [1, 2, 3])", ValueError, ["weights", "shape (2,)", "got (3,)"]),
    ("the truth of an array", "if a > 2: pass", ValueError, ["ambiguous", "a.any() or a.all()", "& or |"]),
    ("and between arrays", "(a > 1) and (a < 3)", ValueError, ["ambiguous", "& or | instead of 'and'"]),
    ("an array as a number", "int(b)", TypeError, ["only 0-dimensional arrays", "got shape (4,)", "astype()"]),
    ("a name with a typing error", "bc.arrange(5)", AttributeError, ["arrange"]),
    ("append as of lists", "b.append(5)", AttributeError, ["append"]),
    ("rows of unequal length", "bc.array([[1, 2], [3]])", ValueError, ["inhomogeneous", "(2,)"]),
    ("texts in an array", "bc.array(['a', 'b'])", TypeError, ["strings stay on the host", "<U1"]),
    ("an unknown keyword", "bc.arange(0, 10, stepp=2)", TypeError, ["arange()", "'stepp'"]),
    ("floats added to integers in place", "i += 0.5", np._core._exceptions.UFuncTypeError, ["float64", "int64", "same_kind"]),
    ("values of another length", "b[:2] = [1, 2, 3]", ValueError, ["(3,)", "(2,)"]),
    ("a write to what is stretched", "bc.broadcast_to(b, (3, 4))[0] = 1", ValueError, ["read-only", "x.copy()"]),
    ("a negative power of integers", "i ** -1", ValueError, ["negative integer powers"]),
    ("an output of another shape", "bc.add(b, b, out=bc.zeros(3))", ValueError, ["add", "(4,)", "(3,)"]),
    ("where with one value", "bc.where(a > 1, a)", ValueError, ["both or neither"]),
    ("an array as a key", "{a: 1}", TypeError, ["unhashable"]),
    ("json of an array", "json.dumps(a)", TypeError, ["(2, 3)", "tolist()"]),
    ("a device without a GPU", "bc.zeros(3, device='cuda:63')", RuntimeError, ["cuda:63"]),
    ("a kernel without its grid", "kernel(b)", ValueError, ["kernel kernel", "kernel[blocks, threads]"]),
    ("a kernel without an argument", "kernel[1, 1](b)", TypeError, ["kernel kernel", "missing argument 'n'"]),
    ("a kernel with an argument too many", "kernel[1, 1](b, 1, 2)", TypeError, ["kernel kernel", "expected 2 arguments, got 3"]),
    ("a block of too many threads", "kernel[1, 2048](b, 1)", ValueError, ["1024", "2048"]),
    ("a list as a kernel's argument", "kernel[1, 1]([1, 2], 1)", TypingError, ["list(int64)", "pass an array"]),
    ("a kernel that returns", "cuda.jit(returns)[1, 1](b)", TypingError, ["must not return a value", "write the result into", "^"]),
    ("too many indices in a kernel", "cuda.jit(indexes)[1, 1](b)", TypingError, ["too many indices: 2", "array(float64, 1d, C)", "^"]),
    ("a name that is not defined", "njit(misses)(1)", TypingError, ["'undefined_name' is not defined", "^"]),
    ("a method that arrays have not", "njit(calls)(np.zeros(3))", TypingError, ["no method 'foo'", "array(float64, 1d, C)", "^"]),
    ("a text as an index in compiled code", "njit(keys)(np.zeros(3))", TypingError, ["by integers", "not by a str", "structured", "^"]),
    ("a dtype's name in compiled code", "njit(names)()", TypingError, ["'flaot64'", "did you mean 'float64'?", "^"]),
    ("a shape as two arguments in compiled code", "njit(shapes)()", TypingError, ["expected a dtype", "zeros((2, 3))", "^"]),
    ("arrays without a tuple in compiled code", "njit(joins)(np.zeros(3))", TypingError, ["tuple of arrays", "(a, b)", "^"]),
    ("types that do not unify", "njit(mixes)(1)", TypingError, ["'y'", "int64", "str", "use two names", "^"]),
    ("a signature of other arity", "vectorize(['float64(float64)'])(adds)", TypeError, ["adds takes 2 arguments", "has 1"]),
    ("a mistake in C++", "raw((1,), (1,), (b,)); bc.synchronize()", CompileError, ["undeclared identifier 'y'", "^"]),
    ("an object as an argument", "njit(returns)(Point())", TypeError, ["returns: argument 'x'", "type Point", "jitclass"]),
    ("a dict as an argument", "njit(returns)({'a': 1})", TypingError, ["returns: argument 'x'", "broadcloth.typed.Dict(x)"]),
    ("an option with a typing error", "njit(paralel=True)(returns)", TypeError, ["'paralel'", "did you mean 'parallel'?"]),
    ("a type with a typing error", "vectorize(['float65(float64)'])(adds)", TypeError, ["float65", "did you mean 'float64'?"]),
    ("a variable of one branch", "njit(sometimes)(-1)", UnboundLocalError, ["'y'"]),
    ("results of two types", "njit(two_results)(1)", TypingError, ["int64", "str", "one type on every path", "^"]),
    ("the result of a function without return", "njit(uses_nothing)(1)", TypingError, ["none and int64", "without return gives None", "^"]),
    ("a float in range", "njit(halves)(10)", TypingError, ["range() takes integers", "float64", "int()", "^"]),
    ("a float as an index in compiled code", "njit(middle)(np.zeros(3), 2)", TypingError, ["must be an integer", "//", "^"]),
    ("a text and a number", "njit(labels)(1)", TypingError, ["str and int64", "str(x)", "^"]),
    ("a store into a tuple", "njit(stores)((1, 2))", TypingError, ["(int64, int64)", "does not change", "^"]),
    ("a store into a text", "njit(stores)('ab')", TypingError, ["items of str", "does not change", "^"]),
    ("values of several types in a dict", "njit(settings)()", TypingError, ["int64", "str", "named tuple", "^"]),
    ("values of several types in a list", "njit(mixed_list)()", TypingError, ["list(int64)", "list(str)", "tuple", "^"]),
    ("a list that nothing is put into", "njit(nothing_in)()", TypingError, ["ever put", "typed.List.empty_list", "^"]),
    ("a dict from outside", "njit(reads_settings)(1)", TypingError, ["cannot be indexed", "broadcloth.typed.Dict", "^"]),
    ("a list from outside", "njit(appends)(1)", TypingError, [".append()", "as an argument", "^"]),
    ("a name of NumPy with a typing error", "njit(arranges)(1)", TypingError, ["'arrange'", "did you mean 'arange'?", "^"]),
    ("the truth of an array in compiled code", "njit(truths)(np.zeros(3))", TypingError, ["ambiguous", ".any() or .all()", "^"]),
    ("math of an array", "njit(sines)(np.zeros(3))", TypingError, ["math.sin()", "numpy.sin", "^"]),
    ("break in prange", "njit(parallel=True)(searches)(4)", TypingError, ["prange", "break", "range()", "^"]),
    ("import inside", "njit(imports)(1.0)", TypingError, ["'import'", "top of the module", "^"]),
    ("a file in compiled code", "njit(opens)()", TypingError, ["'with'", "objmode", "^"]),
    ("an array made in a kernel", "cuda.jit(makes)[1, 1](b)", TypingError, ["numpy.zeros()", "cuda.local.array", "^"]),
    ("a list in a kernel", "cuda.jit(lists)[1, 1](b)", TypingError, ["'append'", "no lists", "cuda.local.array", "^"]),
    ("two numbers of a grid of one", "cuda.jit(unpacks)[1, 1](b)", TypingError, ["int64 into 2 names", "cuda.grid(2)", "^"]),
    ("a grid without dimensions", "cuda.jit(grids)[1, 1](b)", TypingError, ["takes 1 argument", "cuda.grid(1), (2) or (3)", "^"]),
    ("a grid of floats", "kernel[4 / 2, 32](b, 1)", TypeError, ["for the grid, got float", "//"]),
    ("a grid of zero", "kernel[0, 32](b, 1)", ValueError, ["without zeros", "(0, 1, 1)"]),
    ("a shared array of a size that varies", "cuda.jit(shares)[1, 1](b, 3)", TypingError, ["shape must be known", "literal", "^"]),
    ("atomic with an element", "cuda.jit(adds_atomically)[1, 1](b)", TypingError, ["(array, index, value)", "(float64, int64)", "^"]),
    ("a function of kernels in Python", "cuda.grid(1)", RuntimeError, ["cuda.grid", "cuda.jit"]),
    ("a method of arrays in vectorize", "vectorize(sums)(np.zeros(3))", TypingError, ["'sum'", "one number", "each element", "^"]),
    ("two results of vectorize", "vectorize(pairs)(np.zeros(3))", TypingError, ["pairs", "must return a number", "(float64, float64)"]),
    ("texts in vectorize", "vectorize(returns)('abc')", TypeError, ["numbers and arrays", "<U3"]),
    ("a result of guvectorize", "guvectorize(['(f8[:], f8[:])'], '(n)->(n)')(gives)", TypingError, ["gives returns", "last parameters"]),
    (
        "cores of unequal length",
        "total(np.zeros(3), np.zeros(4))",
        ValueError,
        ["total", "dimension 0", "size 4 is different"],
    ),
    ("a stencil with a float", "stencil(blurs)(np.zeros(3))", TypeError, ["must be an integer", "1.5 in x[1.5]"]),
]


class Point:
    pass


def sometimes(x):
    if x > 0:
        y = 1
    return y


def two_results(n):
    if n > 0:
        return 1
    return "none"


@njit
def nothing(x):
    x + 1


def uses_nothing(x):
    return nothing(x) + 1


def halves(n):
    for _ in range(n / 2):
        pass


def middle(x, n):
    return x[n / 2]


def labels(n):
    return "n = " + n


def stores(t):
    t[0] = 1
    return t


def settings():
    return {"a": 1, "b": "c"}


def mixed_list():
    values = [1]
    values.append("a")
    return values


def nothing_in():
    values = []
    return values


outside_dict = {"a": 1}
outside_list = [1]


def reads_settings(x):
    return outside_dict["a"] + x


def appends(x):
    outside_list.append(x)


def arranges(x):
    return np.arrange(x)


def truths(x):
    if x > 0:
        return 1
    return 0


def sines(x):
    return math.sin(x)


def searches(n):
    s = 0
    for i in prange(n):
        if i == 3:
            break
        s += i
    return s


def imports(x):
    import math

    return math.sin(x)


def opens():
    with open("data.txt") as file:
        return file.read()


def makes(x):
    t = np.zeros(3)
    x[0] = t[0]


def lists(x):
    values = []
    values.append(1)
    x[0] = values[0]


def unpacks(x):
    i, j = cuda.grid(1)
    x[i] = j


def grids(x):
    x[cuda.grid()] = 1


def shares(x, n):
    s = cuda.shared.array(n, "f8")
    x[0] = s[0]


def adds_atomically(x):
    cuda.atomic.add(x[0], 1)


def sums(x):
    return x.sum()


def pairs(x):
    return x, x


def gives(x, r):
    return x


@guvectorize(["(f8[:], f8[:], f8[:])"], "(n),(n)->()")
def total(x, y, r):
    r[0] = x.sum() + y.sum()


def blurs(x):
    return x[1.5]


def returns(x):
    return x[0]


def indexes(x):
    x[0, 0] = 1


def misses(x):
    return x + undefined_name  # noqa: F821


def calls(x):
    return x.foo()


def keys(x):
    return x["T"]


def names():
    return np.zeros(3, dtype="flaot64")


def shapes():
    return np.zeros(2, 3)


def joins(x):
    return np.concatenate(x, x)


def mixes(x):
    if x > 0:
        y = 1
    else:
        y = "a"
    return y


def adds(x, y):
    return x + y


@cuda.jit
def kernel(x, n):
    x[0] = n


def test_there_are_eighty():
    assert len(MISTAKES) >= 80


@pytest.mark.parametrize(("name", "code", "kind", "says"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_the_error_tells_what_to_do(name, code, kind, says):
    scope = {**globals(), "raw": bc.RawKernel('extern "C" __global__ void f(double* x) { x[0] = y; }', "f")}
    with bc.device("cpu"), pytest.raises(kind) as caught:  # NVRTC has words of its own for mistakes in C++
        scope.update(a=bc.arange(6.0).reshape(2, 3), b=bc.arange(4.0), i=bc.arange(5))
        exec(compile(code, "learner.py", "exec"), scope)
    message = str(caught.value)
    for words in says:
        assert words in message, message
    assert len(message.splitlines()) <= 15
    assert any(frame.filename == "learner.py" for frame in traceback.extract_tb(caught.value.__traceback__))


# Used by the statements above.
_ = (json, njit, stencil, vectorize)
