"""The kernel cache on disk: a second process compiles nothing; many processes at once; a process killed while it writes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import broadcloth as bc
from support import child_environment

PROGRAM = """
import sys
import numpy as np
import broadcloth as bc
bc.config.background_compile = False
device = sys.argv[1]
bc.set_default_device(device)
n = np.linspace(0.1, 5, 100_003)
a = bc.asarray(n)
results = [
    bc.sin(a) * a + 1, a[::2] - a[1::2][:1].sum(), (a > 2).astype(bc.int32).cumsum(), bc.exp(-a).reshape(-1, 1)[::7],
    bc.asarray(n.astype(np.float32)) ** 2, (a.reshape(1, -1) * 2).max(axis=1),
]
for k in range(int(sys.argv[2])):
    results.append(eval(f"bc.sqrt(a + {k}.5)" + " * a" * k))
expected = np.sin(n) * n + 1
assert np.allclose(results[0].get(), expected)
assert np.array_equal(results[2].get(), (n > 2).astype(np.int32).cumsum())
bc.synchronize()
print(bc._c.cache_stats()["compiles"])
"""


def devices():
    return ["cpu"] + (["cuda"] if bc.device_count("cuda") else [])


def start(folder, device="cpu", extra=2):
    env = child_environment({"BROADCLOTH_CACHE_DIR": str(folder), "OPENBLAS_NUM_THREADS": "1"})
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, device, str(extra)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return int(out.strip())


@pytest.mark.parametrize("device", devices())
def test_a_second_process_compiles_nothing(tmp_path, device):
    assert finish(start(tmp_path, device)) > 0
    assert finish(start(tmp_path, device)) == 0


def test_sixteen_processes_at_once(tmp_path):
    processes = [start(tmp_path, extra=k % 4) for k in range(16)]
    for p in processes:
        finish(p)
    assert finish(start(tmp_path, extra=3)) == 0
    assert not [f for f in tmp_path.rglob("*") if f.suffix in (".tmp", ".part") and time.time() - f.stat().st_mtime > 300]


@pytest.mark.slow
def test_processes_killed_while_they_write(tmp_path):
    rng = random.Random(1)
    for _ in range(12):
        p = start(tmp_path, extra=6)
        time.sleep(rng.uniform(0.3, 1.2))
        p.send_signal(signal.SIGKILL)
        p.communicate()
    finish(start(tmp_path, extra=6))
    assert finish(start(tmp_path, extra=6)) == 0


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "garbage"])
def test_damaged_entries_are_compiled_again(tmp_path, damage):
    first = finish(start(tmp_path))
    files = [f for f in tmp_path.rglob("*") if f.is_file() and f.stat().st_size > 200]
    assert files
    for f in files:
        data = bytearray(f.read_bytes())
        if damage == "cut":
            data = data[: len(data) // 2]
        elif damage == "flip":
            data[len(data) // 2] ^= 0x40
        elif damage == "empty":
            data = bytearray()
        else:
            data = bytearray(os.urandom(len(data)))
        f.write_bytes(data)
    assert 0 < finish(start(tmp_path)) <= first
    assert finish(start(tmp_path)) == 0


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert finish(start(blocked / "cache")) > 0


def test_a_cap_on_the_size_is_kept(tmp_path):
    env = child_environment({"BROADCLOTH_CACHE_DIR": str(tmp_path), "BROADCLOTH_CACHE_LIMIT": "20000"})
    done = subprocess.run([sys.executable, "-c", PROGRAM, "cpu", "8"], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    # The precompiled header of the CPU's compiler is no kernel and not counted.
    kernels = [f for f in tmp_path.rglob("*") if f.is_file() and "pch" not in f.name]
    assert sum(f.stat().st_size for f in kernels) < 200_000


def test_clear_forgets(tmp_path):
    finish(start(tmp_path))
    env = child_environment({"BROADCLOTH_CACHE_DIR": str(tmp_path)})
    subprocess.run([sys.executable, "-m", "broadcloth", "cache", "clear"], env=env, check=True, timeout=120)
    assert finish(start(tmp_path)) > 0


QUICK = """
import numpy as np
import broadcloth as bc
bc.set_default_device("cuda")
wide = np.concatenate([np.linspace(-9, 9, 999), 10.0 ** np.arange(-30, 38), [np.inf, -np.inf, np.nan, -0.0]]).astype("float32")
n = np.concatenate([wide, wide * 1.7, wide[:3]])
a = bc.asarray(n)
program = lambda: (bc.sin(a) / (1.5 + bc.cos(a) ** 2), bc.asarray(n[:2048].reshape(2, -1))[:, :1000] * 3 - 1, bc.exp(-a) / a)
bits = lambda: [x.get().view("u4") for x in program()]
first = bits()
quick = bc._c.cache_stats()
bits()
bc._c.cache_wait()
whole = bc._c.cache_stats()
assert all(np.array_equal(x, y) for x, y in zip(first, bits()))
print(quick["compiles"], quick["replaced"], whole["compiles"], whole["replaced"], whole["disk_files"])
"""


@pytest.mark.gpu
@pytest.mark.skipif(not bc.device_count("cuda"), reason="needs a GPU")
def test_a_kernel_is_compiled_quickly_and_whole_when_it_runs_again(tmp_path):
    """Both with the same bits. The next process finds the whole."""
    env = child_environment({"BROADCLOTH_CACHE_DIR": str(tmp_path), "BROADCLOTH_SHIPPED_KERNELS": "0"})
    seen = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", QUICK], env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        seen.append([int(word) for word in done.stdout.split()])
    assert seen == [[2, 0, 2, 2, 2], [0, 0, 0, 0, 2]]


SHIPPED = """
import numpy as np
import broadcloth as bc
bc.config.background_compile = False
n = np.linspace(0.1, 5, 10_007)
a = bc.asarray(n, device="cpu")
assert np.allclose((bc.sqrt(a) * a + 3).get(), np.sqrt(n) * n + 3)
s = bc._c.cache_stats()
print(s["compiles"], s["disk_hits"], s["shipped_hits"], s["shipped_files"])
"""


def shipped(folder, from_folder):
    env = child_environment({"BROADCLOTH_CACHE_DIR": str(folder), "BROADCLOTH_SHIPPED_KERNELS": str(from_folder)})
    done = subprocess.run([sys.executable, "-c", SHIPPED], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def test_what_came_with_the_wheel_is_read_after_the_users_folder_and_never_written(tmp_path):
    own, came = tmp_path / "own", tmp_path / "came"
    assert shipped(came, 0) == [1, 0, 0, 0]
    (file,) = came.glob("*.bck")
    kept = file.read_bytes()
    (came / "collected").unlink(missing_ok=True)
    names = sorted(f.name for f in came.iterdir())  # with a precompiled header where the build brings none
    assert shipped(own, came) == [0, 0, 1, 1]
    assert not list(own.glob("*.bck")), "a copy of what was shipped"
    # A damaged file is passed over, not removed: it is not ours. The kernel is compiled and kept in the user's folder.
    file.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    assert shipped(own, came) == [1, 0, 0, 1]
    assert sorted(f.name for f in came.iterdir()) == names and [f.name for f in own.glob("*.bck")] == [file.name]
    file.write_bytes(kept)
    assert shipped(own, came) == [0, 1, 0, 1]
    assert shipped(own, tmp_path / "nowhere") == [0, 1, 0, 0]


# ---- Whose files are loaded --------------------------------------------------------------------------------------------------------------


def run_program(folder, **more):
    env = child_environment({"BROADCLOTH_CACHE_DIR": str(folder), "OPENBLAS_NUM_THREADS": "1", "BROADCLOTH_SHIPPED_KERNELS": "0", **more})
    done = subprocess.run([sys.executable, "-c", PROGRAM, "cpu", "2"], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return int(done.stdout), [line for line in done.stderr.splitlines() if line.startswith("broadcloth: kernel cache:")]


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777, 0o722])
def test_a_folder_that_others_may_write_is_refused_with_the_command_that_mends_it(tmp_path, mode):
    folder = tmp_path / "cache"
    compiled, said = run_program(folder)
    assert compiled > 0 and said == []
    assert folder.stat().st_mode & 0o777 == 0o700, "made for its user alone, whatever the umask"
    folder.chmod(mode)
    names = sorted(f.name for f in folder.iterdir())
    again, said = run_program(folder)
    assert again == compiled, "nothing is loaded from it"
    assert sorted(f.name for f in folder.iterdir()) == names, "nor written to it"
    assert len(said) == 1 and str(folder) in said[0] and f"mode {mode:o}" in said[0]
    command = said[0].partition("To mend it: ")[2]
    subprocess.run(command, shell=True, check=True)
    assert run_program(folder) == (0, [])


def test_a_file_that_others_may_write_is_compiled_again_and_replaced(tmp_path):
    folder = tmp_path / "cache"
    compiled, _ = run_program(folder)
    kernels = list(folder.glob("*.bck"))
    for file in kernels:
        file.chmod(0o666)
    again, said = run_program(folder)
    assert again == compiled and len(said) == 1 and ".bck can be written by other users" in said[0]
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in kernels)
    assert run_program(folder) == (0, [])


def test_precompiled_headers_that_others_may_write_are_not_loaded(tmp_path):
    folder = tmp_path / "cache"
    run_program(folder)
    kept = folder / "pch"
    kept.mkdir(mode=0o700, exist_ok=True)
    kept.chmod(0o777)
    before = {f.name: f.stat().st_mtime_ns for f in kept.iterdir()}
    for file in folder.glob("*.bck"):
        file.unlink()
    compiled, said = run_program(folder)
    assert compiled > 0 and {f.name: f.stat().st_mtime_ns for f in kept.iterdir()} == before
    assert said == [] or (len(said) == 1 and str(kept) in said[0])  # a build that ships its header needs none from here


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_users_folder_and_files_are_refused(tmp_path):
    folder = tmp_path / "cache"
    compiled, _ = run_program(folder)
    os.chown(folder, 12345, 12345)
    again, said = run_program(folder)
    assert again == compiled and len(said) == 1 and "belongs to user 12345, and this process runs as user 0" in said[0]
    assert "BROADCLOTH_CACHE_DIR" in said[0]
    os.chown(folder, 0, 0)
    for file in folder.glob("*.bck"):
        os.chown(file, 12345, 12345)
    again, said = run_program(folder)
    assert again == compiled and len(said) == 1 and "compiled again" in said[0]
    assert run_program(folder) == (0, [])


def test_shipped_kernels_of_a_folder_that_the_environment_names_are_judged_too(tmp_path):
    own, came = tmp_path / "own", tmp_path / "came"
    assert shipped(came, 0) == [1, 0, 0, 0]
    came.chmod(0o777)
    assert shipped(own, came)[:3] == [1, 0, 0]


def test_an_empty_folder_name_keeps_nothing(tmp_path):
    env = child_environment({"BROADCLOTH_CACHE_DIR": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "xdg")})
    done = subprocess.run([sys.executable, "-c", PROGRAM, "cpu", "1"], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [], "no precompiled header either"


ONCE = """
import time
import broadcloth as bc
bc.set_default_device("cpu")
a = bc.arange(100_000.0)
def run():
    assert float((a * 3 + 1).sum()) == 14999950000.0
def compiles():
    return bc._c.cache_stats()["compiles"]
run()
time.sleep(0.3)
first, end = compiles(), time.monotonic() + 60
while not compiles() and time.monotonic() < end:
    run()
print(first, compiles())
"""


@pytest.mark.skipif(not bc._c.library_status()[0]["found"], reason="this build has no compiler for the CPU")
def test_a_kernel_that_runs_once_is_not_compiled(tmp_path):
    """Its compile would take longer than the built-in loops, and the end of the process waits for it."""
    env = child_environment({"BROADCLOTH_CACHE_DIR": str(tmp_path)})
    done = subprocess.run([sys.executable, "-c", ONCE], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"]
