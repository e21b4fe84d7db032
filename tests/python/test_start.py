"""What the start of a process loads and leaves alone: a short program's time is mostly its start."""

import json
import os
import subprocess
import sys

import pytest

# Modules of Python's and NumPy's that neither the package nor a program without a use of them loads.
NOT_LOADED = ("json", "threading", "numpy.random", "secrets", "hashlib", "ctypes.util", "broadcloth.run._report")


def printed(*words: str) -> str:
    # A GPU's libraries are looked for in the installed packages, for which Python needs more modules.
    environment = os.environ | {"BROADCLOTH_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("before", [["import broadcloth as np"], ["import numpy as np"]], ids=["package", "program"])
def test_the_start_loads_no_module_that_is_not_used(before):
    loaded = printed("-c", "import sys, numpy\nprint(*sys.modules)").split()  # some installations load modules at their start
    names = [name for name in NOT_LOADED if name not in loaded]
    look = f"import sys\nprint([m for m in {names!r} if m in sys.modules])"
    text = "\n".join([*before, "np.arange(3).sum()", "np.zeros(3) + 1", look])
    words = ["-m", "broadcloth"] if "numpy" in before[0] else []
    assert printed(*words, "-c", text) == "[]\n"


@pytest.mark.parametrize("first", ["json", "broadcloth"])
def test_json_knows_results_whichever_is_imported_first(first):
    text = "import broadcloth as bc, json" if first == "broadcloth" else "import json, broadcloth as bc"
    assert json.loads(printed("-c", f"{text}\nprint(json.dumps([bc.arange(4).sum()]))")) == [6]


def test_a_module_that_was_only_looked_for_is_prepared_when_it_is_loaded():
    looked = "import importlib.util, broadcloth as bc\nassert importlib.util.find_spec('json.encoder')"
    text = f"{looked}\nimport json\nprint(json.dumps(bc.ones(()).sum()))"
    assert printed("-c", text) == "1.0\n"


def test_what_a_program_froze_before_the_import_stays_frozen():
    text = """
import gc
gc.freeze()
n = gc.get_freeze_count()
import broadcloth
print(n > 0 and abs(gc.get_freeze_count() - n) < n // 10, gc.isenabled())
"""
    assert printed("-c", text) == "True True\n"


def test_objects_of_the_import_are_old_and_can_be_collected():
    text = """
import gc, weakref
class Node: pass
a = Node(); a.self = a
seen = weakref.ref(a)
del a
before = gc.get_freeze_count()
import broadcloth
assert gc.get_freeze_count() == before and gc.isenabled()
gc.collect()
print(seen() is None)
"""
    assert printed("-c", text) == "True\n"
    assert printed("-c", "import gc\ngc.disable()\nimport broadcloth\nprint(gc.isenabled())") == "False\n"


def test_calls_load_no_library_that_they_do_not_use():
    calls = "\n".join(
        [
            "x = np.linspace(0.0, 1.0, 50)",
            "np.histogram(x, 5), np.convolve(x, x), np.percentile(x, 5), np.interp(x, x, x)",
            "np.lib.stride_tricks.sliding_window_view(x, 3).sum()",
        ]
    )
    look = "import sys\nprint([m for m in ('ml_dtypes', 'numpy.ma') if m in sys.modules])"
    assert printed("-m", "broadcloth", "-c", f"import numpy as np\n{calls}\n{look}") == "[]\n"
    assert printed("-c", f"import broadcloth as np\n{calls}\n{look}") == "[]\n"


def test_modules_of_lib_are_there_when_they_are_used():
    text = "from broadcloth import lib\nprint(lib.recfunctions.get_names.__name__, lib.mixins.NDArrayOperatorsMixin.__name__, dir(lib))"
    assert printed("-c", text) == "get_names NDArrayOperatorsMixin ['array_utils', 'mixins', 'recfunctions', 'stride_tricks']\n"
