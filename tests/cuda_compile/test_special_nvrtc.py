"""The special functions that are written in Python, in every type that they have a loop for, through NVRTC on any machine."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import numpy as np
import pytest

import broadcloth as bc
import nvrtc
from broadcloth.scipy import special
from broadcloth.scipy.special._functions import SpecialFunction
from null_device import make, null_device, recorded

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)

MODULES = [import_module(f"{special.__name__}.{module.name}") for module in pkgutil.iter_modules(special.__path__)]
FUNCTIONS = {name: f for module in MODULES for name, f in vars(module).items() if isinstance(f, SpecialFunction)}


def test_all_are_found():
    assert {"eval_legendre", "kolmogorov", "elliprj", "_jn_value", "_factorial"} <= FUNCTIONS.keys()


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_loop_compiles_for_cuda(name):
    function = FUNCTIONS[name]
    loops = [loop.partition("->")[0] for loop in function.types]
    with null_device("null-cuda"), recorded() as record:
        # `_call_ours` without the look whether a degree is whole, which no device answers here.
        held = [function._call_ours(tuple(make((64,), np.dtype(c).name) for c in loop), None, True, None, None) for loop in loops]
        bc.flush()
        del held
    assert record.launches
    for launch in record.launches:
        assert len(nvrtc.compile_kernel(launch.source, "sm_90", quick=True)) > 500
