"""Every row and the golden programs through NVRTC, on any machine: the null device writes the kernels, NVRTC compiles them.

Everything is compiled for sm_90; the other architectures get a selection that uses every skeleton. What is there for breadth is packed
into few texts and hardly optimised; the golden programs are compiled as the backend does it.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

import broadcloth as bc
import nvrtc
from null_device import make, null_device, recorded

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)

ROWS = Path(__file__).resolve().parents[2] / "src" / "primitives"
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()
MOVED = [*DTYPES, "float8_e4m3fn", "float8_e5m2"]  # kept and cast; no row has a loop for the last two
INTS, REALS, COMPLEX = DTYPES[1:9], DTYPES[9:13], DTYPES[13:]
SETS = {
    "ALL": DTYPES,
    "NUMBERS": DTYPES[1:],
    "INTS": INTS,
    "INTS_BOOL": ["bool", *INTS],
    "REALS": REALS,
    "DIVIDE_REAL": REALS,
    "LDEXP": REALS,
    "FLOATS": REALS + COMPLEX,
    "DIVIDE": REALS + COMPLEX,
    "REAL_NUMBERS": INTS + REALS,
    "REAL_ALL": ["bool", *INTS, *REALS],
    "WHERE": DTYPES,
    "F64 | C128": ["float64", "complex128"],
    "F32 | F64 | COMPLEX": ["float32", "float64", *COMPLEX],
    "COMPLEX": COMPLEX,
    "C128": ["complex128"],
}
# Rows whose NumPy name is another.
NUMPY_NAMES = {"abs": "absolute", "conj": "conjugate", "bit_count": "bitwise_count"}
OTHER_ARCHITECTURES = ["sm_80", "sm_100"]


def numpy_dtype(name: str):
    return bc.bfloat16 if name == "bfloat16" else name


def array(shape, dtype: str):
    return make(shape, numpy_dtype(dtype))


@functools.cache
def elementwise_rows() -> dict[str, list[str]]:
    """The rows of elementwise.def with their loop dtypes; those for random numbers have a test of their own."""
    text = (ROWS / "elementwise.def").read_text()
    rows = re.findall(r"^BC_(?:UNARY|BINARY|TERNARY) *\((\w+), +([\w| ]+?), +\w+, +\"", text, re.M)
    rows += re.findall(r"^BC_SPECIAL_OF[123]\((\w+), ([\w| ]+),", text, re.M)
    special = {name: ["float32", "float64"] for name in re.findall(r"^BC_SPECIAL[123]\((\w+),", text, re.M)}
    return {name: SETS[kinds] for name, kinds in rows if kinds != "RANDOM"} | special


@functools.cache
def reduction_rows() -> dict[str, list[str]]:
    return {name: SETS[kinds] for name, kinds in re.findall(r"^BC_REDUCE\((\w+), (\w+),", (ROWS / "reduce.def").read_text(), re.M)}


def texts(program) -> list[str]:
    """The texts of the kernels that a program becomes on a CUDA device."""
    with null_device("null-cuda"), recorded() as record:
        held = program()
        bc.flush()
        del held
    assert record.launches, "the program launched nothing"
    # A kernel's first launch is compiled with this before its text.
    return [launch.source.removeprefix("#define BC_QUICK\n") for launch in record.launches]


def compile_all(sources: list[str], arch: str = "sm_90") -> None:
    assert len(nvrtc.compile_kernel(nvrtc.pack(list(dict.fromkeys(sources))), arch, quick=True)) > 500


def call_row(name: str, dtype: str, shape=(4096,)):
    row = bc._c.ufuncs[NUMPY_NAMES.get(name, name)]
    operands = [array(shape, dtype) for _ in range(row.nin)]
    if name == "ldexp":
        operands[1] = array(shape, "int32")
    if name == "where":
        operands[0] = array(shape, "bool")
    return row(*operands)


def rows_of(dtype: str, names: list[str] | None = None, shape=(4096,)):
    """A program that calls every row that has a loop for a dtype."""

    def program():
        held = []
        for name, kinds in elementwise_rows().items():
            if dtype in kinds and (names is None or name in names):
                held.append(call_row(name, dtype, shape))
                if len(held) % 60 == 0:
                    bc.flush()
        return held

    return program


def test_the_row_files_are_read_whole():
    text = (ROWS / "elementwise.def").read_text()
    rows = re.findall(r"^BC_(?:UNARY|BINARY|TERNARY|SPECIAL(?:_OF)?[123]) *\(", text, re.M)
    listed = len(rows) - len(re.findall(r"\bRANDOM, SAME", text))
    assert len(elementwise_rows()) == listed > 90
    assert len(reduction_rows()) == len(re.findall(r"^BC_REDUCE\(", (ROWS / "reduce.def").read_text(), re.M)) > 20
    assert {NUMPY_NAMES.get(name, name) for name in elementwise_rows()} <= set(bc._c.ufuncs)


# What floats and doubles are printed with.
OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "negative": "-", "less": "<", "less_equal": "<=", "greater": ">",
    "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip
# What choices of C++'s own types are printed with, the operands as a and b: those that have NaN, and the others.
FLOAT_CHOICES = {
    "maximum": "((a > b) | (a != a) ? a : b)", "minimum": "((a < b) | (a != a) ? a : b)",
    "fmax": "((a > b) | (b != b) ? a : b)", "fmin": "((a < b) | (b != b) ? a : b)", "isnan": "(a != a)",
}  # fmt: skip
CHOICES = {
    "maximum": "(a > b ? a : b)", "minimum": "(a < b ? a : b)", "fmax": "(a > b ? a : b)", "fmin": "(a < b ? a : b)", "isnan": "(a != a)",
}  # fmt: skip


def printed(row: str, dtype: str) -> str:
    """A pattern of the text that a row has in a kernel."""
    floats = dtype in ("float32", "float64")
    choices = FLOAT_CHOICES if floats else CHOICES if dtype in DTYPES[:9] else {}
    if floats and row in OPERATORS:
        return rf"= (v\d+ )?{re.escape(OPERATORS[row])} ?v\d+;"
    if row in choices:
        # Each name stands for the same value all over.
        text = "= " + choices[row] + ";"
        for name in "ab":
            text = re.sub(rf"\b{name}\b", f"#{name}", text)
        text = re.escape(text)
        for name in "ab":
            text = text.replace(rf"\#{name}", rf"(?P<{name}>v\d+)", 1).replace(rf"\#{name}", rf"(?P={name})")
        return text
    return rf"\b{'power' if row == 'float_power' else row}\w*\("


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_elementwise_row_compiles(dtype):
    sources = texts(rows_of(dtype))
    # The text of every row is in there: what it calls, but for rows that pass a value on.
    text = "\n".join(sources)
    for name, kinds in elementwise_rows().items():
        if dtype in kinds and name not in ("positive", "where", "conj", "real"):
            assert re.search(printed(name, dtype), text), f"{name} of {dtype} is in no kernel"
    compile_all(sources)


def layouts(dtype: str):
    """One cheap row over each kind of access: transposed, stepped, reversed, broadcast, 0-d, one element, an odd length, wide indices."""

    def program():
        a, b = array((64, 96), dtype), array((96, 64), dtype)
        held = [bc.maximum(a, b.T), bc.maximum(a[::2, ::3], a[1::2, 1::3]), bc.maximum(a[::-1, ::-1], a[0]), bc.maximum(a[:, :1], a)]
        held += [bc.maximum(array((), dtype), array((), dtype)), bc.maximum(array((1001,), dtype), array((1,), dtype))]
        held += [bc.maximum(array((4, 5, 6, 7), dtype).transpose(2, 0, 3, 1), array((6, 1, 7, 1), dtype))]
        held += [bc.maximum(bc.broadcast_to(array((1, 1 << 16), dtype), (1 << 15, 1 << 16))[:, ::4], array((), dtype))]
        return held

    return program


@pytest.mark.parametrize("dtype", MOVED)
def test_every_kind_of_access_compiles(dtype):
    compile_all(texts(layouts(dtype)))


def reductions_of(dtype: str, shape, axis, names=None):
    def program():
        a = array(shape, dtype)
        chosen = [name for name, kinds in reduction_rows().items() if dtype in kinds and (names is None or name in names)]
        return [bc._c.reduce(name, a, axis) for name in chosen]

    return program


# The walks of a reduction: whole rows by one group of threads, rows in segments, columns, columns in segments.
WALKS = {
    "rows": ((33, 1000), 1),
    "short_rows": ((1000, 7), 1),
    "segmented_rows": ((3, 70_000), 1),
    "columns": ((100, 64), 0),
    "segmented_columns": ((5000, 30), 0),
}


@pytest.mark.parametrize("walk", ["rows", "segmented_rows", "segmented_columns"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_reduction_compiles(dtype, walk):
    sources = texts(reductions_of(dtype, *WALKS[walk]))
    assert ("atomicAdd" in sources[0]) == walk.startswith("segmented")
    assert f" {'columns' if 'columns' in walk else 'rows'}_" in sources[0]
    compile_all(sources)


@pytest.mark.parametrize("walk", ["short_rows", "columns"])
def test_the_other_walks_compile(walk):
    some = ["sum", "mean", "var", "max", "argmin", "any"]
    sources = []
    for dtype in ("bool", "int8", "uint64", "float16", "float32", "complex128"):
        sources += texts(reductions_of(dtype, *WALKS[walk], some))
    assert not any("atomicAdd" in text for text in sources)
    compile_all(sources)


def casts(source: str):
    def program():
        a = array((2048,), source)
        return [a.astype(numpy_dtype(to)) for to in MOVED if to != source]

    return program


@pytest.mark.parametrize("source", MOVED)
def test_every_cast_compiles(source):
    compile_all(texts(casts(source)))


def random_rows():
    held = [bc._c.random(kind, 1, 2, (1000,), numpy_dtype(t)) for kind in ("uniform", "normal") for t in REALS]
    return held + [bc._c.random("integers", 1, 2, (1000,), t, low=0, high=100) for t in INTS]


def test_times_compile():
    def program():
        d, t = make(8, "M8[D]"), make(8, "m8[s]")
        units = [d.astype("M8[M]"), d.astype("M8[Y]").astype("M8[h]")]
        return [*units, d + t, (d - d) / t, d < d + t, t * 2.5, t // 3, t.sum(), d.max(), t.mean()]

    compile_all(texts(program))


def test_random_numbers_compile():
    sources = texts(random_rows)
    assert all(any(word in text for text in sources) for word in ("uniform<", "standard_normal<", "random_below("))
    compile_all(sources)


def gathers(dtype: str):
    def program():
        a, i, j = array((50, 60), dtype), array((200,), "int64"), array((7, 1), "int32")
        held = [a[i], a[:, i], a[i[:60], i[:60]], a.T[j, i[:5]], a[::2][i]]
        return held + [bc.where(i < 3, array((200,), dtype), array((500,), dtype)[i + i])]

    return program


@pytest.mark.parametrize("dtype", MOVED)
def test_gathers_compile(dtype):
    sources = texts(gathers(dtype))
    assert all("wrap_index(" in text for text in sources)
    compile_all(sources)


def stores_in_place(dtype: str):
    def program():
        a = array((64, 66), dtype)
        a[1:-1, 1:-1] = bc.minimum(a[1:-1, 1:-1], array((), dtype))
        bc.flush()
        a[::3, 5] = array((22,), dtype)
        bc.flush()
        a[:, ::-1] = array((66,), "int8" if dtype != "bool" else dtype).astype(numpy_dtype(dtype))
        return a

    return program


def selecting_stores(dtype: str):
    def program():
        a, mask = array((64, 66), dtype), array((64, 66), "bool")
        b = a.copy()
        b[1:-1, 1:-1] = bc.maximum(a[:-2, 1:-1], a[2:, 1:-1])  # the old value is still in use: a choice
        c = bc.maximum(a, b)
        c[::2, ::3] = a[1::2, ::3]  # a region with steps
        c[3] = c[4]
        d = a.copy()
        d[mask] = array((), dtype)
        return a, b, c, d

    return program


@pytest.mark.parametrize("dtype", MOVED)
def test_stores_compile(dtype):
    in_place = texts(stores_in_place(dtype))
    assert len(in_place) == 3 and not any("__restrict__ q" in text for text in in_place)
    selecting = texts(selecting_stores(dtype))
    assert any("in_range(" in text for text in selecting)
    compile_all(in_place + selecting)


def row_programs(dtype: str):
    """Softmax, layer norm and a normalisation over rows that stay in registers, that do not, and of an odd length."""

    def program():
        held = []
        for shape in ((16, 8192), (9, 40_000), (40, 1001), (600, 31)):
            a = array(shape, dtype)
            e = bc.exp(a - a.max(axis=-1, keepdims=True))
            held.append(e / e.sum(axis=-1, keepdims=True))
            del e
            held.append((a - a.mean(axis=-1, keepdims=True)) / bc.sqrt(a.var(axis=-1, keepdims=True) + 1e-5))
            held.append(a / bc.sqrt((a * a).sum(axis=-1, keepdims=True)))
            bc.flush()
        return held

    return program


@pytest.mark.parametrize("dtype", REALS)
def test_programs_over_rows_compile(dtype):
    compile_all(texts(row_programs(dtype)))


# ---- Golden programs ----------------------------------------------------------------------------------------------------------------


def ewise():
    a, b = array((1000, 1000), "float32"), array((1000, 1000), "float32")
    return a * b + bc.sin(a) + bc.cos(b)


def heat():
    p = array((256, 256), "float64")
    q = p.copy()
    q[1:-1, 1:-1] = 0.25 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2])
    bc.flush()
    return p, q, bc.linalg.norm(q - p)


def moments():
    a = array((10_000_000,), "float32")
    return a.sum(), a.mean(), a.std()


def black_scholes():
    s, k, t = (array((100_000,), "float64") for _ in range(3))

    def cdf(d):
        w = 1 / (1 + 0.2316419 * bc.abs(d))
        poly = w * (0.31938153 + w * (-0.356563782 + w * (1.781477937 + w * (-1.821255978 + w * 1.330274429))))
        tail = 0.3989422804014327 * bc.exp(-0.5 * d * d) * poly
        return bc.where(d > 0, 1 - tail, tail)

    d1 = (bc.log(s / k) + (0.02 + 0.5 * 0.3 * 0.3) * t) / (0.3 * bc.sqrt(t))
    d2 = d1 - 0.3 * bc.sqrt(t)
    discounted = k * bc.exp(-0.02 * t)
    call = s * cdf(d1) - discounted * cdf(d2)
    return call, call - s + discounted


def mandelbrot_step():
    c, z, n = array((400, 600), "complex128"), array((400, 600), "complex128"), array((400, 600), "int32")
    inside = z.real * z.real + z.imag * z.imag < 4
    z = bc.where(inside, z * z + c, z)
    n += inside
    return z, n


def mandelbrot_loop():
    re, im = bc.linspace(-2, 1, 200), bc.linspace(-1, 1, 100)
    c = re[None, :] + 1j * im[:, None]
    z, n = bc.zeros_like(c), bc.zeros(c.shape, dtype="int32")
    for _ in range(50):
        inside = z.real * z.real + z.imag * z.imag < 4
        z = bc.where(inside, z * z + c, z)
        n += inside
    return n


def chain():
    x = array((1 << 20,), "float32")
    for _ in range(10):
        x = x * 1.5 + 0.25
    return x


def softmax():
    a = array((8192, 8192), "float32")
    e = bc.exp(a - a.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sums_of_axes():
    a = array((8192, 8192), "float32")
    return a.sum(axis=0), a.sum(axis=1)


def deviations():
    a = array((50, 9000), "float64")
    return (a - a.std(axis=-1, keepdims=True)).mean(axis=-1)


GOLDEN = [ewise, heat, moments, deviations, black_scholes, mandelbrot_step, mandelbrot_loop, chain, softmax, sums_of_axes]


@pytest.mark.parametrize("program", GOLDEN, ids=lambda p: p.__name__)
@pytest.mark.parametrize("arch", ["sm_90", *OTHER_ARCHITECTURES])
def test_golden_programs_compile(arch, program):
    sources = texts(program)
    assert len(sources) <= {"heat": 2, "moments": 2, "sums_of_axes": 2, "mandelbrot_loop": 20}.get(program.__name__, 1)
    for text in list(dict.fromkeys(sources))[:3]:
        assert len(nvrtc.compile_kernel(text, arch)) > 500


@pytest.mark.parametrize("program", [ewise, heat, black_scholes, mandelbrot_step, chain], ids=lambda p: p.__name__)
def test_golden_maps_compile_quickly(program):
    """As for their first launches: without the part that is written for speed."""
    for text in list(dict.fromkeys(texts(program)))[:3]:
        if "BC_QUICK" in text:
            whole, quick = (nvrtc.compile_kernel(define + text, "sm_90") for define in ("", "#define BC_QUICK\n"))
            assert len(quick) > 500
            assert quick != whole


# ---- The other architectures --------------------------------------------------------------------------------------------------------

SELECTION = ["add", "divide", "power", "exp", "sin", "logaddexp", "floor_divide", "left_shift", "rint", "maximum", "where", "equal", "abs"]


def selection(dtype: str):
    """Rows of each family, one of each skeleton, in one dtype."""
    programs = [rows_of(dtype, SELECTION), casts(dtype), gathers(dtype)]
    programs += [reductions_of(dtype, *WALKS[walk], names=["sum", "var", "argmax"]) for walk in WALKS]
    sources = [text for program in programs for text in texts(program)]
    sources += texts(stores_in_place(dtype))[:1] + texts(selecting_stores(dtype))[:1]
    return sources + (texts(row_programs(dtype))[:1] if dtype in REALS else [])


@pytest.mark.parametrize("arch", OTHER_ARCHITECTURES)
@pytest.mark.parametrize("dtype", ["bool", "uint64", "bfloat16", "float32", "float64", "complex64"])
def test_a_selection_compiles_for_other_architectures(arch, dtype):
    compile_all(selection(dtype), arch)


def test_a_wrong_kernel_is_an_error_with_the_compilers_words():
    text = texts(ewise)[0]
    with pytest.raises(nvrtc.CompileError, match="no_such_function"):
        nvrtc.compile_kernel(text.replace("sin(", "no_such_function(", 1), "sm_90")


def test_a_product_and_a_sum_stay_two_roundings():
    assert "--fmad=false" in nvrtc.backend_options()


# ---- The part of the device library that a kernel is compiled after -------------------------------------------------------------------

SINGLE = ["float32", "complex64", "int32"]


@pytest.mark.parametrize("dtype", SINGLE)
def test_each_row_alone_finds_what_it_needs(dtype):
    sources = []
    for name, kinds in elementwise_rows().items():
        if dtype in kinds:
            sources += texts(lambda name=name: call_row(name, dtype))
    for name, kinds in reduction_rows().items():
        if dtype in kinds:
            sources += texts(reductions_of(dtype, *WALKS["rows"], names=[name]))
    assert len(sources) > 40
    for source in sources:
        nvrtc.compile_kernel(source, "sm_90", quick=True)


def test_a_product_reads_a_twentieth_of_the_library():
    (source,) = texts(lambda: call_row("multiply", "int32"))
    part = bc._c.device_library_for(source)
    assert len(part) < len(nvrtc.device_library()) / 20
    assert "multiply" in part and "standard_normal" not in part and "half" not in part


def test_complex_numbers_bring_their_functions():
    part = bc._c.device_library_for("complex<float> f(complex<float> z) { return bc::exp(z); }")
    assert "exp_polar" in part
    assert "exp_polar" not in bc._c.device_library_for("float f(float z) { return bc::exp(z); }")


def test_complex_arithmetic_alone_is_a_small_part_of_the_library():
    part = bc._c.device_library_for("complex<double> f(complex<double> z) { return z * z + z / complex<double>(1, 2); }")
    assert len(part) < len(nvrtc.device_library()) / 10
    assert "operator*" in part and "exp_polar" not in part


def test_small_floats_bring_their_overloads():
    part = bc._c.device_library_for("half f(half z) { return bc::sqrt(z) + z; }")
    assert "BC_LIFT1(sqrt)" in part and "operator+" in part


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "complex64"])
def test_what_is_left_out_of_the_library_changes_no_instruction(dtype):
    """The instructions beside the whole library and beside the part that is used.

    Those of PTX, in which tables and functions have names. In machine code, unused tables of the whole library (constants that others of
    its functions read) move the addresses of those that are used, and the order of what is called moves the distances of the calls.
    """
    for rows in (["add", "sqrt", "sin", "power", "floor_divide"], ["maximum", "isnan", "equal", "where"]):
        for source in dict.fromkeys(texts(rows_of(dtype, rows))):
            whole, part = (nvrtc.instructions(source, whole=whole) for whole in (True, False))
            assert whole == part
            assert any(name.startswith("map_") for name in part)


def test_the_kernel_that_makes_the_compiler_ready():
    """What goes wrong with it is never said, so it is compiled here."""
    backend = (ROWS.parent / "backends" / "cuda" / "nvrtc.cpp").read_text()
    (text,) = re.findall(r'source\.text = R"\((.*?)\)"', backend, re.S)
    assert len(nvrtc.compile_kernel(text, "sm_90")) > 500
