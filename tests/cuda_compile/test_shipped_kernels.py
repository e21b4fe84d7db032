"""The kernels that a wheel ships compiled: they are made on any machine, under the keys that a device looks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import broadcloth as bc
import nvrtc
from null_device import make, null_device
from support import child_environment

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(bc.__file__).parent / "kernels"

needs_nvrtc = pytest.mark.skipif(nvrtc.library() is None, reason="there is no NVRTC: pip install nvidia-cuda-nvrtc")


def test_the_programs_of_the_wheel_become_some_hundred_kernels():
    script = str(ROOT / "scripts" / "warm_cache.py")
    code = f"import runpy; v = runpy.run_path({script!r}); v['record'](); c = v['bc']._c\n"
    code += "print(c.cache_stats()['compiles'], sum('BC_QUICK\\n' in entry['source'][:20] for entry in c.null_log()), len(c.null_log()))"
    done = subprocess.run([sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    compiles, quick, launches = map(int, done.stdout.split())
    assert compiles > 200 and launches >= compiles
    assert quick == 0  # what is shipped is whole


@needs_nvrtc
def test_kernels_are_written_for_each_architecture(tmp_path, monkeypatch):
    monkeypatch.setattr(bc.config, "background_compile", False)
    with null_device("null-cuda"):
        bc._c.null_log_clear()
        a, b = make((300, 7), "float32"), make((300, 7), "float32")
        held = [a - b * 17.5, (a * b).max(axis=0)]
        bc.flush()
        del held
        counts = [bc._c.cache_write(str(tmp_path), arch) for arch in ("sm_80", "sm_90")]
    assert counts[0] == counts[1] <= 2
    files = sorted(tmp_path.glob("*.bck"))
    assert len(files) == sum(counts)
    texts = [f.read_bytes() for f in files]
    for arch in (b"sm_80 nvrtc", b"sm_90 nvrtc"):
        assert sum(arch in text for text in texts) == counts[0]
    assert all(b"\x7fELF" in text for text in texts)


RECORDED = """
import runpy, sys
import broadcloth as bc
script, folder, count = sys.argv[1:]
v = runpy.run_path(script)
bc._c.cache_set_folder(folder)
if int(count):
    v["record"]()
else:
    with bc.device("null:1"):
        held = [v["array"]((30, 70)) * 18.5 - 3.25]
        bc.config.background_compile = False
        bc.flush()
stats = bc._c.cache_stats()
print(stats["compiles"], stats["disk_hits"])
"""


def recorded(folder: Path, all_programs: bool) -> tuple[int, int]:
    """Compiles and kernels from the folder, of a process that runs the programs of the wheel, or one program."""
    arguments = [str(ROOT / "scripts" / "warm_cache.py"), str(folder), str(int(all_programs))]
    done = subprocess.run(
        [sys.executable, "-c", RECORDED, *arguments], env=child_environment(), capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    compiles, hits = map(int, done.stdout.split())
    return compiles, hits


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def test_packed_kernels_are_one_file_and_are_read_from_it(tmp_path):
    made, hits = recorded(tmp_path, True)
    assert made > 200
    before = size_of(tmp_path)
    bc._c.cache_pack(str(tmp_path))
    assert (tmp_path / "kernels.pack").exists() and not list(tmp_path.glob("*.bck"))
    assert size_of(tmp_path) < before / 3
    assert recorded(tmp_path, True) == (0, made + hits)  # some kernels have the text of others
    # Of a damaged pack nothing is read: the kernels are made again.
    pack = tmp_path / "kernels.pack"
    whole = bytearray(pack.read_bytes())
    whole[4000] ^= 1  # in the index
    pack.write_bytes(whole)
    assert recorded(tmp_path, True) == (made, hits)


def test_a_damaged_kernel_of_a_pack_is_made_again(tmp_path):
    assert recorded(tmp_path, False) == (1, 0)
    bc._c.cache_pack(str(tmp_path))
    assert recorded(tmp_path, False) == (0, 1)
    pack = tmp_path / "kernels.pack"
    whole = bytearray(pack.read_bytes())
    whole[-5] ^= 1
    pack.write_bytes(whole)
    assert recorded(tmp_path, False) == (1, 0)


PROGRAM = """
import numpy as np
import broadcloth as bc
bc.config.background_compile = False
bc.set_default_device("cuda")
n = np.random.default_rng(1).random((1000, 1000), dtype="float32")
a, b = bc.array(n), bc.array(n)
before = bc._c.cache_stats()
x = []
for f in (lambda: a + b, lambda: a * 2, lambda: bc.sqrt(a), lambda: a * b + bc.sin(a) + bc.cos(b)):
    x.append(f())
    bc.synchronize()  # each by a kernel of its own
after = bc._c.cache_stats()
assert np.array_equal(x[0].get(), n + n) and np.array_equal(x[1].get(), n * 2)
print(after["compiles"] - before["compiles"], after["shipped_hits"] - before["shipped_hits"])
"""


@pytest.mark.gpu
@pytest.mark.skipif(not bc.device_count("cuda"), reason="needs a GPU")
@pytest.mark.skipif(not FOLDER.is_dir(), reason="only a wheel ships kernels")
def test_common_kernels_of_a_wheel_are_not_compiled(tmp_path):
    target = bc.device_info("cuda")["target"]
    if not any(target.encode() in file.read_bytes()[:400] for file in FOLDER.glob("*.bck")):
        pytest.skip(f"none was made for {target}: the architectures are sm_80, sm_90 and sm_100, and NVRTC must be the build's")
    env = child_environment({"BROADCLOTH_CACHE_DIR": str(tmp_path)})
    env.pop("BROADCLOTH_SHIPPED_KERNELS", None)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    compiles, hits = map(int, done.stdout.split())
    assert (compiles, hits) == (0, 4)
