"""Fixtures of the Python tests.

BROADCLOTH_TEST_MODE picks how everything runs: jit (fused and compiled, waiting for the compiler), tier0 (the loops that are built in),
plain (one op at a time), default (as a user has it: tier 0 while the compiler works).
BROADCLOTH_TEST_DEVICES=cpu,cuda picks devices; all that are there unless given.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

# What a wheel ships compiled would hide what the compilers do; the tests that are about it ask for it.
os.environ["BROADCLOTH_SHIPPED_KERNELS"] = "0"

MODES = {
    "default": {"lazy": True, "jit": True, "background_compile": True},
    "jit": {"lazy": True, "jit": True, "background_compile": False},
    "tier0": {"lazy": True, "jit": False, "background_compile": False},
    "plain": {"lazy": False, "jit": True, "background_compile": True},
}


def available_devices() -> list[str]:
    import broadcloth as bc

    found = ["cpu"] + (["cuda"] if bc.device_count("cuda") else [])
    wanted = os.environ.get("BROADCLOTH_TEST_DEVICES")
    return [d for d in found if d in wanted.split(",")] if wanted else found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = any("device" in str(m.args[0]).split(",") for m in metafunc.definition.iter_markers("parametrize"))
    if "device" in metafunc.fixturenames and not chosen:
        marks = {"cuda": [pytest.mark.gpu]}
        metafunc.parametrize("device", [pytest.param(d, marks=marks.get(d, [])) for d in available_devices()], indirect=True)


# Files whose results come from loops, products or generated code and that need few kernels: their tests have the mark `numeric`, which
# `make levels` runs at every instruction set. (Every row in every dtype is Tier0.GivesTheBitsOfCompiledKernels there, a C++ test.)
NUMERIC = "matmul fft scipy_fft differential fast_forms random_kernels jit_arrays prange".split()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem.removeprefix("test_") in NUMERIC:
            item.add_marker("numeric")


def pytest_report_header() -> str:
    level = os.environ.get("BROADCLOTH_CPU", "native")
    return f"broadcloth: devices {', '.join(available_devices())}; mode {os.environ.get('BROADCLOTH_TEST_MODE', 'default')}; CPU {level}"


@pytest.fixture
def device(request: pytest.FixtureRequest):
    """The name of a device, made the default one for the test."""
    import broadcloth as bc

    with bc.device(request.param):
        yield request.param


@pytest.fixture
def xp(device):
    """broadcloth with a default device: the test runs once on each device that is there."""
    import broadcloth as bc

    return bc


@pytest.fixture(autouse=True, scope="session")
def _mode():
    import broadcloth as bc

    bc.synchronize()
    for name, value in MODES[os.environ.get("BROADCLOTH_TEST_MODE", "default")].items():
        setattr(bc.config, name, value)


@pytest.fixture(autouse=True)
def _nothing_left_over():
    """No test leaves the configuration changed, or an error for the next one."""
    import broadcloth as bc

    before = dict(bc._c.get_config())
    yield
    bc.synchronize()
    after = dict(bc._c.get_config())
    if before != after:
        bc._c.set_config(**before)
        pytest.fail(f"the test left the configuration changed: {after}")


@pytest.fixture(params=["jit", "tier0", "plain"])
def mode(request: pytest.FixtureRequest, device):
    """Runs the test in three ways: fused and compiled, fused by the built-in loops, one op at a time."""
    from support import configured

    if device != "cpu" and request.param == "tier0":
        pytest.skip("tier 0 is the CPU's")
    with configured(**MODES[request.param]):
        yield request.param
