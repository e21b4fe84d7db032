"""The breadth of the kernel language through NVRTC, on any machine: random numbers, records, libdevice, halves, checks."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import broadcloth as bc
import nvrtc
from broadcloth.cuda import random

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)


def load(name):
    spec = importlib.util.spec_from_file_location(f"{name}_to_compile", Path(__file__).parents[1] / "python" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def compiles(kernel, *arguments, check=False):
    signature = tuple(a if isinstance(a, str) else bc._c.type_handle(a) for a in arguments)
    compiler = bc._c.KernelCompiler(kernel.py_func, [], False, check)
    text = compiler.source(signature, True)
    assert len(nvrtc.compile_kernel(text, "sm_90", quick=True)) > 500


STATES = np.zeros(4, random.xoroshiro128p_dtype)


def test_random_numbers():
    programs = load("test_kernel_random")
    compiles(programs.draws, STATES, "uint64[:]", "float32[:]", "float64[:]", "float32[:]", "float64[:]")
    compiles(programs.seeded_inside, STATES, "uint64[::1]")
    compiles(programs.shared_generators, STATES, "float64[::1]")
    compiles(programs.monte_carlo_pi, STATES, "int64", "float32[::1]")
    compiles(
        programs.philox, "int64", *(f"{t}[:, ::1]" for t in ("uint32", "uint64", "float32", "float64", "float32", "float64", "uint32"))
    )


def test_libdevice_and_halves():
    programs = load("test_kernel_language")
    for single in (False, True):
        kind = "float32" if single else "float64"
        for part in programs.by_eight(programs.REFERENCE):
            compiles(programs.unary([getattr(programs.ld, name + "f" * single) for name in part]), f"{kind}[:]", f"{kind}[:, :]")
        two = ["atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "remainder"]
        compiles(programs.binary([getattr(programs.ld, name + "f" * single) for name in two]), f"{kind}[:]", f"{kind}[:]", f"{kind}[:, :]")
    fast = ["cosf", "sinf", "tanf", "expf", "exp10f", "logf", "log2f", "log10f"]
    compiles(programs.unary([getattr(programs.ld, "fast_" + name) for name in fast]), "float32[:]", "float32[:, :]")
    compiles(programs.several, "float64[:]", "int32[:]", "float64[:, :]", "int64[:, :]")
    compiles(programs.halves, "float16[:]", "float16[:]", "float16[:, :]", "bool[:, :]")
    for part in (programs.BF16_BINARY, programs.BF16_SATURATED, programs.BF16_TESTS[:8], programs.BF16_TESTS[4:]):
        compiles(programs.binary([getattr(programs.bf, name) for name in part]), "float32[:]", "float32[:]", "float32[:, :]")
    for part in programs.by_eight(programs.BF16_UNARY):
        compiles(programs.unary([getattr(programs.bf, name) for name in part]), "float32[:]", "float32[:, :]")
    for kind in programs.WHOLE:
        compiles(programs.bfloat16_conversions(kind), f"{kind}[:]", "float32[:]", "float32[:, :]", f"{kind}[:, :]")
    compiles(programs.bfloat16_words, *["float32[:]"] * 3, "float32[:, :]", "int32[:, :]")
    compiles(programs.bfloat16_of_floats, "float64[:]", "float32[:, :]", "int32[:, :]")
    compiles(programs.rectangular, "float64[:]", "float64[:]", "complex128[:]")
    compiles(programs.polar_forms, "complex128[:]", "float64[:, :]")
    compiles(programs.mathematics, "float64[:]", "float64[:, :]")
    compiles(programs.unary([getattr(programs.cmath, name) for name in programs.COMPLEX[:8]]), "complex64[:]", "complex64[:, :]")
    compiles(programs.asserts, "float64[:]")
    compiles(programs.constants, "float64[:]")


def test_rows_that_few_programs_use():
    known = [n for n in bc._c.kernel_names() if n.startswith("cuda.libdevice.")]
    ops = ("add", "sub", "mul", "div")
    directed = [f"{p}{op}_{m}" for p in "df" for op in ops for m in ("rn", "rz", "ru", "rd")]
    assert {f"cuda.libdevice.{n}" for n in directed} <= set(known)
    load("test_kernel_language")
    programs = sys.modules["test_kernel_language_to_compile"]
    for part in programs.by_eight([n for n in directed if n[0] == "d"]):
        compiles(programs.binary([getattr(programs.ld, n) for n in part]), "float64[:]", "float64[:]", "float64[:, :]")
    for part in programs.by_eight([n for n in directed if n[0] == "f"]):
        compiles(programs.binary([getattr(programs.ld, n) for n in part]), "float32[:]", "float32[:]", "float32[:, :]")
    to_integers = [f"{a}2{b}_{m}" for a in ("double", "float") for b in ("int", "uint", "ll", "ull") for m in ("rn", "rz", "ru", "rd")]
    rest = [f"{p}{op}_{m}" for p in "df" for op in ("rcp", "sqrt") for m in ("rn", "rz", "ru", "rd")]
    rest += ["int2float_rd", "ull2double_ru", "powif", "jnf", "double2float_rz"]
    for part in programs.by_eight(to_integers + [n for n in rest if n not in ("powif", "jnf")]):
        compiles(programs.unary([getattr(programs.ld, n) for n in part]), "float32[:]", "float64[:, :]")
    compiles(
        programs.binary([getattr(programs.ld, n) for n in ("powif", "powi", "ldexp", "scalbnf", "jn", "jnf", "yn", "ynf")]),
        "int32[:]",
        "int32[:]",
        "float64[:, :]",
    )


def test_records():
    programs = load("test_kernel_records")
    host = programs.particles(2)
    compiles(programs.push, host, "float64")
    compiles(programs.by_reference, np.zeros(2, programs.PACKED), "int64[:]")
    compiles(programs.nested, np.zeros(2, programs.NESTED), "float64[:]")
    compiles(programs.copy_reversed, host, host)
    compiles(programs.scalar_record, host[0], "float64[:]")
    compiles(programs.count_fields, np.zeros(2, np.dtype([("count", "i4"), ("most", "i8"), ("sums", "f8", (2,))], align=True)), "int64[:]")
    compiles(programs.fields_of_all, np.zeros(2, [("value", "f8"), ("count", "i8")]), "float64[:]")
    compiles(programs.with_settings, "float64[:]", programs.Settings(1.0, 2))
    a = np.zeros(3)
    compiles(programs.with_grid, programs.Grid(a, 1.0), "float64[:]")
    compiles(programs.with_tuples, programs.Pair(a, 30), (a, a), (a, 1, (0, 2)), "float64[:]")


def test_checked_kernels():
    programs = load("test_kernel_checks")
    D, D2 = "float64[:]", "float64[:, :]"
    for name, signature in {"shift": (D, D), "rows": (D2, "int64", D), "neighbours": (D,), "in_order": (D, D, "int64[:]"), "mixed": (D,),
                            "half_written": (D, "int64"), "local_read": (D, "int64"), "quotients": (D, D, D), "through_a_function": (D, D),
                            "slices": (D, D), "raises": (D,)}.items():  # fmt: skip
        compiles(getattr(programs, name), *signature, check=True)
    compiles(programs.block_sum(2), D, D, check=True)
    for kind in ("int8[:]", "float16[:]"):
        compiles(programs.copies, kind, kind, check=True)
        compiles(programs.writes_then_reads, kind, "int64", kind, check=True)
    compiles(programs.fields, np.zeros(2, programs.POINT), "int64", check=True)
    compiles(programs.shared_fields, D, check=True)
    compiles(programs.other_features, STATES, D, D, check=True)
    compiles(load("test_kernel_records").push, load("test_kernel_records").particles(1), "float64", check=True)


def test_atomics_of_every_dtype():
    programs = load("test_kernel_language")
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"):
        compiles(programs.atomics_of_all_types, *[f"{dtype}[:]"] * 5)
        if "int" in dtype:
            compiles(programs.atomic_bits, *[f"{dtype}[:]"] * 3, "bool[:]")


def test_vectors_and_cache_hints():
    programs = load("test_kernel_language")
    compiles(programs.vectors, "float64[:]", "float64[:, :]")
    for dtype in ("int32", "float32", "int64", "float64", "uint8", "int8", "uint16", "complex64", "float16"):
        compiles(programs.cached, f"{dtype}[:]", f"{dtype}[:, :]")
