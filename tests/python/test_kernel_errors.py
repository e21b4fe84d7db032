"""Every kind of typing error: at most 15 lines, with the source line, a caret under it, the types, and one suggestion."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import cuda


class Point(NamedTuple):
    x: float
    y: float


@dataclass
class Body:
    mass: float


@cuda.jit(device=True)
def helper(value, scale=2):
    return value * scale


def unknown_name(x):
    x[0] = valeu + 1  # noqa: F821


def misspelt_local(x):
    total = x[0]
    x[0] = totl + total  # noqa: F821


def misspelt_builtin(x):
    x[0] = rnage(3)  # noqa: F821


def misspelt_math(x):
    x[0] = math.sqr(x[0])


def misspelt_numpy(x):
    x[0] = np.sqroot(x[0])


def misspelt_cuda(x):
    x[cuda.gird(1)] = 0


def misspelt_thread(x):
    x[cuda.threadIdx.w] = 0


def misspelt_atomic(x):
    cuda.atomic.ad(x, 0, 1)


def misspelt_libdevice(x):
    x[0] = cuda.libdevice.sinn(x[0])


def misspelt_shared(x):
    s = cuda.shared.arry(4, np.float32)
    x[0] = s[0]


def misspelt_keyword(x):
    s = cuda.shared.array(shap=4, dtype=np.float32)
    x[0] = s[0]


def misspelt_array_attribute(x):
    x[0] = x.shap[0]


def misspelt_array_method(x):
    x[0] = x.summ()


def misspelt_scalar_attribute(x):
    x[0] = x[0].rel


def misspelt_field(x):
    p = Point(x[0], x[0])
    x[0] = p.xx


def misspelt_record_field(x):
    b = Body(x[0])
    x[0] = b.mas


def misspelt_parameter(x):
    x[0] = helper(x[0], scal=3)


def too_many_arguments(x):
    x[0] = helper(x[0], 1, 2)


def missing_argument(x):
    x[0] = helper()


def no_operator(x):
    x[0] = x[0] + "a"


def no_comparison(x):
    if x[0] < "a":
        x[0] = 1


def wrong_argument(x):
    x[0] = math.sin("a")


def wrong_row(x):
    cuda.syncwarp(x)


def no_such_call(x):
    x[0] = open("file")


def index_by_float(x):
    x[x[0]] = 1


def too_many_indices(x):
    x[0] = x[0, 1]


def store_complex(x):
    x[0] = 1j


def types_that_part(x):
    if x[0] > 0:  # noqa: SIM108
        y = 1.0
    else:
        y = (1, 2)
    x[0] = y


def returns_a_value(x):
    return x[0]


def read_before(x):
    x[0] = y  # noqa: F821
    y = 1.0  # noqa: F841


def runtime_shape(x):
    s = cuda.local.array(int(x[0]), np.float32)
    x[0] = s[0]


def not_iterable(x):
    for v in x[0]:
        x[0] = v


def unpacks_wrongly(x):
    a, b, c = 1, 2
    x[0] = a + b + c


def truth_of_array(x):
    if x:
        x[0] = 1


def with_statement(x):
    with x:
        x[0] = 1


def yields(x):
    yield x[0]


def imports(x):
    import os

    x[0] = len(os.name)


def formatted(x):
    print(f"{x[0]}")


def new_array(x):
    y = x + 1
    x[0] = y[0]


def keywords(x, **more):
    x[0] = 1


def not_constant(x):
    y = cuda.const.array_like(x)
    x[0] = y[0]


TABLE = np.zeros(9000)
HUGE = np.zeros(1 << 18)


def constant_too_large(x):
    y = cuda.const.array_like(TABLE)
    x[0] = y[cuda.grid(1)]


def global_too_large(x):
    x[0] = HUGE[cuda.grid(1)]


def wrong_exception(x):
    raise x[0]


def long_line(x):
    x[0] = 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + misspelt_mth.pi + 1 + 1 + 1 + 1 + 1  # noqa: E501, F821


def deep(x):
    def a(v):
        def b(v):
            def c(v):
                def d(v):
                    return v.nonsense

                return d(v)

            return c(v)

        return b(v)

    x[0] = a(x[0])


DID_YOU_MEAN = [
    (misspelt_local, "total"), (misspelt_builtin, "range"), (misspelt_math, "sqrt"), (misspelt_cuda, "grid"), (misspelt_atomic, "add"),
    (misspelt_libdevice, "sin"), (misspelt_shared, "array"), (misspelt_keyword, "shape"), (misspelt_array_attribute, "shape"),
    (misspelt_array_method, "sum"), (misspelt_scalar_attribute, "real"), (misspelt_field, "x"), (misspelt_record_field, "mass"),
    (misspelt_parameter, "scale"),
]  # fmt: skip
OTHERS = [
    unknown_name, misspelt_numpy, misspelt_thread, too_many_arguments, missing_argument, no_operator, no_comparison, wrong_argument,
    wrong_row, no_such_call, index_by_float, too_many_indices, store_complex, types_that_part, returns_a_value, read_before,
    runtime_shape, not_iterable, unpacks_wrongly, truth_of_array, with_statement, yields, imports, formatted, new_array, keywords,
    not_constant, constant_too_large, global_too_large, wrong_exception, long_line, deep,
]  # fmt: skip
SUGGESTS = {
    wrong_row, index_by_float, store_complex, types_that_part, runtime_shape, not_iterable, truth_of_array, with_statement, yields,
    imports, formatted, new_array, keywords, not_constant, constant_too_large,
}  # fmt: skip


def message_of(function) -> str:
    with pytest.raises(bc.TypingError) as error:
        cuda.jit(function).compile("(float64[:],)")
    return str(error.value)


def check_form(function, text: str) -> list[str]:
    lines = text.split("\n")
    assert len(lines) <= 15, text
    name = function.__name__
    place = re.fullmatch(r"  (.+):(\d+), in (\w+)", lines[1])
    assert place, text
    assert place[1] == __file__
    source = Path(__file__).read_text().split("\n")[int(place[2]) - 1].strip()
    shown = lines[2].strip().removeprefix("… ").removesuffix(" …")
    assert shown in source, text
    assert place[3] == name or name == "deep", text
    caret = lines[3]
    assert set(caret.strip()) == {"^"}, text
    assert len(caret) <= len(lines[2]) and len(lines[2]) <= 160, text
    return lines[4:]


@pytest.mark.parametrize(("function", "meant"), DID_YOU_MEAN, ids=lambda v: getattr(v, "__name__", v))
def test_misspelt_names_get_the_nearest(function, meant):
    text = message_of(function)
    rest = check_form(function, text)
    assert sum("did you mean" in line for line in rest) == 1, text
    assert re.search(rf"did you mean '(\w+\.)*{meant}'\?", text), text


@pytest.mark.parametrize("function", OTHERS, ids=lambda f: f.__name__)
def test_the_form_of_errors(function):
    text = message_of(function)
    rest = check_form(function, text)
    suggestions = [line for line in rest if not re.match(r"  .+: \S+", line) and not line.startswith("  called at ")]
    assert len(suggestions) <= 1, text
    if function in SUGGESTS:
        assert len(suggestions) == 1, text


def test_types_are_told():
    text = message_of(no_operator)
    assert "x[0]: float64" in text and '"a": str' in text


def test_calls_that_led_there_are_told():
    assert message_of(deep).count("called at") == 3


def test_errors_of_functions_for_the_cpu_have_the_same_form():
    with pytest.raises(bc.TypingError) as error:
        bc.njit(misspelt_math)(np.zeros(1))
    check_form(misspelt_math, str(error.value))


def test_a_long_line_shows_what_is_around_the_caret():
    lines = message_of(long_line).split("\n")
    assert "misspelt_mth" in lines[2]
    start = lines[3].index("^")
    assert lines[2][start:].startswith("misspelt_mth")
