"""Every example runs on every device, at a small size; the benchmark harness too."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

SMALL = {
    "cuda_cpp": ["--size", "32"],
    "heat": ["--size", "24", "--tol", "1e-2"],
    "mandelbrot": ["--size", "48", "--steps", "40"],
    "black_scholes": ["--count", "2000"],
    "first_calls": ["--count", "1000"],
    "gradients": ["--steps", "30", "--points", "60", "--hidden", "4"],
    "matmul": ["--sizes", "16,33", "--rectangle", "8,16,4"],
    "reductions": ["--sizes", "10,64"],
    "sine": ["--sizes", "1e3,1e4", "--loop", "1e3"],
    "elementwise": ["--sizes", "10,64"],
    "monte_carlo": ["--count", "20000"],
    "streams": ["--arrays", "6", "--elements", "1000", "--streams", "2"],
}


def load(name: str):
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested():
    found = {p.stem for p in EXAMPLES.glob("*.py")} - {"common"}
    assert found == set(SMALL)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_example_runs_and_agrees_with_numpy(name, device, tmp_path, capsys, monkeypatch):
    module = load(name)
    clock = module.common.clock
    monkeypatch.setattr(module.common, "clock", lambda xp, call, seconds=0.0: clock(xp, call, 0.0))
    picture = ["--out", str(tmp_path / "picture.png")] if name in ("heat", "mandelbrot") else []
    assert module.main([*SMALL[name], "--device", device, *picture]) == 0
    printed = capsys.readouterr().out
    assert "ERROR" not in printed and device in printed
    if picture and "no picture" not in printed:
        assert (tmp_path / "picture.png").stat().st_size > 1000


def test_heat_reads_pictures_and_csv_files_alike(tmp_path):
    heat = load("heat")
    from_csv = heat.read_map(EXAMPLES / "data" / "heat_map.csv", 64)
    assert from_csv.shape == (64, 64) and from_csv.min() == 0 and from_csv.max() == 100
    pytest.importorskip("PIL")
    from_picture = heat.read_map(EXAMPLES / "data" / "heat_map.png", 64)
    np.testing.assert_allclose(from_picture, from_csv, atol=1.0)
    np.savetxt(tmp_path / "flat.csv", np.ones((4, 4)), delimiter=",")
    with pytest.raises(SystemExit, match="not all the same"):
        heat.read_map(tmp_path / "flat.csv", 8)


def test_heat_takes_the_same_steps_as_numpy_and_ends_in_a_solution(xp):
    heat = load("heat")
    plate = heat.read_map(EXAMPLES / "data" / "heat_map.csv", 32)
    ours, steps, _ = heat.diffuse(xp, plate, 1e-6, 10_000, lambda moved: None)
    theirs, numpy_steps, _ = heat.diffuse(np, plate, 1e-6, 10_000, lambda moved: None)
    assert abs(steps - numpy_steps) <= 1
    p = xp.asnumpy(ours)
    np.testing.assert_allclose(p, theirs, atol=1e-5)
    inner = plate[1:-1, 1:-1]
    free = (inner < heat.HEATER) & (inner > heat.COOLER)
    mean = 0.25 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2])
    assert np.abs((mean - p[1:-1, 1:-1])[free]).max() < 1e-6


@pytest.mark.slow
def test_benchmark_harness_writes_its_results(device, tmp_path):
    only = ("ewise_10000,heat_256" if device == "cuda" else "ewise_1e6,heat_256") + ",import"
    options = ["--quick", "--device", device, "--only", only, "--peers", "broadcloth,numpy", "--out", str(tmp_path)]
    environment = {**os.environ, "BROADCLOTH_DEVICE": device}
    command = [sys.executable, "bench/run.py", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = tmp_path.glob("*.json")
    result = json.loads(found.read_text())
    assert len(result["workloads"]) == 2 and [p["name"] for p in result["probes"]] == ["import"]
    for row in result["workloads"]:
        ours = row["peers"]["broadcloth"]
        assert ours["correct"] and ours["seconds"] > 0 and len(ours["rounds"]) >= 3
    assert found.with_suffix(".txt").exists()


def test_benchmark_of_kernels_runs(tmp_path):
    command = [sys.executable, str(ROOT / "bench" / "kernels.py"), "--device", "cpu", "--quick", "--peers", "broadcloth,numpy"]
    only = "launch_ten,raw_empty,product_tiled_512,jit_sine_par,vectorize_par"
    done = subprocess.run([*command, "--out", str(tmp_path), "--only", only], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = json.loads(next(tmp_path.glob("*-cpu-kernels.json")).read_text())["rows"]
    assert [r["name"] for r in rows] == only.split(",")
    assert all("seconds" in r["peers"]["broadcloth"] and r["peers"]["broadcloth"]["agrees"] for r in rows), done.stdout
