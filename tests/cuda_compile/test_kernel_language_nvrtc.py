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


def compiles(kernel, *arguments):
    signature = tuple(a if isinstance(a, str) else bc._c.type_handle(a) for a in arguments)
    text = bc._c.compile_text(kernel.py_func, signature)[3]
    assert len(nvrtc.compile_kernel(text, "sm_90", quick=True)) > 500


STATES = np.zeros(4, random.xoroshiro128p_dtype)


def test_random_numbers():
    programs = load("test_kernel_random")
    compiles(programs.draws, STATES, "uint64[:]", "float32[:]", "float64[:]", "float32[:]", "float64[:]")
    compiles(programs.seeded_inside, STATES, "uint64[::1]")
    compiles(programs.shared_generators, STATES, "float64[::1]")
    compiles(programs.monte_carlo_pi, STATES, "int64", "float32[::1]")
    compiles(programs.philox, "int64", *(f"{t}[:, ::1]" for t in ("uint32", "uint64", "float32", "float64", "float32", "float64", "uint32")))
