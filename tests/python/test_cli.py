"""`python -m broadcloth`."""

from __future__ import annotations

import subprocess
import sys

import pytest

import broadcloth as bc
from support import child_environment


def cli(*arguments, env=None):
    return subprocess.run(
        [sys.executable, "-m", "broadcloth", *arguments], env=child_environment(env), capture_output=True, text=True, timeout=240
    )


def test_doctor_names_what_it_found():
    done = cli("doctor")
    assert done.returncode in (0, 1), done.stderr
    text = done.stdout
    for part in ("Python", "NumPy", f"broadcloth {bc.__version__}", "CPU:", "Devices", "Libraries", "cache", "arithmetic checked"):
        assert part in text, text
    assert ("To do" in text) == (done.returncode == 1)
    if done.returncode == 1:
        assert text.strip().splitlines()[-1].strip(), "a command that helps"


def test_doctor_is_content_on_a_machine_that_lacks_nothing():
    done = cli("doctor", env={"BROADCLOTH_DEVICE": "cpu"})
    if "MISSING" not in done.stdout:
        assert done.returncode == 0 and "All that this machine can use is there." in done.stdout


def test_usage_and_unknown_commands():
    assert cli("--help").returncode == 0 and "usage" in cli("--help").stdout
    for arguments in (
        (),
        ("nonsense",),
        ("cache", "nonsense"),
        ("cache", "export"),
        ("cache", "import"),
        ("cache", "import", "a", "b"),
    ):
        done = cli(*arguments)
        assert done.returncode == 2 and "usage" in done.stdout + done.stderr
    assert cli("--version").stdout.strip() == f"broadcloth {bc.__version__}"


def test_cache_commands(tmp_path):
    env = {"BROADCLOTH_CACHE_DIR": str(tmp_path / "one"), "BROADCLOTH_DEVICE": "cpu"}
    program = "import broadcloth as bc; bc.config.background_compile = False; float((bc.arange(1e5) * 3 + 1).sum())"
    subprocess.run([sys.executable, "-c", program], env=child_environment(env), check=True, timeout=240)
    info = cli("cache", "info", env=env)
    assert info.returncode == 0 and str(tmp_path / "one") in info.stdout
    exported = cli("cache", "export", str(tmp_path / "kernels"), env=env)
    assert exported.returncode == 0 and (tmp_path / "kernels").exists(), exported.stderr
    other = {**env, "BROADCLOTH_CACHE_DIR": str(tmp_path / "two")}
    asked = cli("cache", "import", str(tmp_path / "kernels"), env=other)
    assert asked.returncode == 1 and "--trust" in asked.stderr and "native code" in asked.stderr
    assert asked.stderr.count("cache import:") == 1
    assert not list((tmp_path / "two").glob("*.bck"))
    imported = cli("cache", "import", str(tmp_path / "kernels"), "--trust", env=other)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout.split()[0] == exported.stdout.split()[0]
    assert cli("cache", "clear", env=env).returncode == 0
    assert cli("cache", env=env).returncode == 0
    missing = cli("cache", "import", str(tmp_path / "nothing"), "--trust", env=env)
    assert missing.returncode == 1 and "nothing" in missing.stderr


@pytest.mark.parametrize("content", [b"", b"not a cache", b"\0" * 1000])
def test_a_bad_file_is_refused(tmp_path, content):
    (tmp_path / "bad").write_bytes(content)
    done = cli("cache", "import", str(tmp_path / "bad"), "--trust", env={"BROADCLOTH_CACHE_DIR": str(tmp_path / "c")})
    assert done.returncode == 1 and done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", ["doctor", "cache", "--help"])
def test_a_reader_that_has_gone_ends_a_command_without_a_traceback(arguments):
    command = f"'{sys.executable}' -u -m broadcloth {arguments} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], env=child_environment(), capture_output=True, text=True, timeout=240)
    assert done.stderr == "" and done.returncode in (0, 141)
    # The same with a full buffer, written at the end.
    command = command.replace(" -u", "")
    done = subprocess.run(["bash", "-c", command], env=child_environment(), capture_output=True, text=True, timeout=240)
    assert done.stderr == "" and done.returncode in (0, 141)


def test_the_doctor_says_that_a_folder_is_refused_and_what_mends_it(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    done = cli("doctor", env={"BROADCLOTH_CACHE_DIR": str(folder), "BROADCLOTH_DEVICE": "cpu"})
    assert done.returncode == 1 and f"chmod go-w '{folder}'" in done.stdout.split("To do")[1]


def test_import_brings_little():
    """A short program pays for the import: it brings few modules, no other package, and nothing of NumPy that NumPy does not import."""
    code = "import sys; import numpy; before = set(sys.modules); import broadcloth; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True, check=True)
    brought = done.stdout.split()
    standard = {name for name in brought if name.partition(".")[0] in sys.stdlib_module_names}
    ours = {name for name in brought if name.startswith("broadcloth")}
    assert not set(brought) - standard - ours
    assert len(ours) <= 12 and len(standard) <= 10, sorted(brought)
    heavy = {"asyncio", "concurrent", "ctypes", "email", "http", "importlib.metadata", "inspect", "multiprocessing", "pickle", "socket",
             "subprocess", "tempfile", "urllib"}  # fmt: skip
    assert not standard & heavy


_OPENED = """
import broadcloth as bc, time
def opened(): return "libbroadcloth_jit" in open("/proc/self/maps").read()
with bc.device("cpu"):
    for n in 10, 1000:
        a = bc.arange(float(n))
        assert float((a * 2 + 1).sum()) == n * n
    before = opened()
    end = time.monotonic() + 30
    while not opened() and time.monotonic() < end:  # built-in loops run until it is there
        a = bc.arange(5000.0)
        assert float((a * 2 + 1).sum()) == 25e6
print(before, opened())
"""


@pytest.mark.skipif(
    not next(e for e in bc._c.library_status() if e["name"] == "broadcloth_jit")["found"], reason="this build has no compiler for the CPU"
)
def test_programs_of_small_arrays_end_without_the_compiler():
    """To open it takes as long as such a program does."""
    done = subprocess.run([sys.executable, "-c", _OPENED], env=child_environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("name", ["nonsense", "cuda:63"])
def test_the_doctor_says_that_the_environment_names_a_wrong_device(name):
    done = cli("doctor", env={"BROADCLOTH_DEVICE": name})
    wrong = next(line for line in done.stdout.splitlines() if "default" in line)
    assert done.returncode == 1 and "MISSING" in wrong and "BROADCLOTH_DEVICE" in wrong and name in wrong, done.stdout
    assert "unset BROADCLOTH_DEVICE" in done.stdout.split("To do")[1] and "arithmetic checked" in done.stdout
