"""Numba's own installed tests of the language and the library that its CPU functions have, run with broadcloth's names in Numba's place.

    python tests/numba_suite.py --numba FOLDER                  # the files of FILES, then counts; FOLDER holds the package numba
    python tests/numba_suite.py --only test_lists test_dicts    # some files
    python tests/numba_suite.py --results FILE --every 4        # keeps outcomes and goes on where it stopped; one test of four

Numba's test files import from Numba; here their imports give modules (`Face`) whose public names are broadcloth's, and Numba's own where
broadcloth has none, so that a test of what is private to Numba's compiler fails, and counts as outside (`OUTSIDE`, each with its reason).
Each file is a process of its own; one that dies loses one test.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import sys
import types
from pathlib import Path
from typing import Any

import broadcloth
import numpy_suite as suite
from broadcloth._broadcloth import CpuDispatcher
from broadcloth.experimental import _Meta
from broadcloth.typed import Dict, List

FILES = """
    test_array_attr test_array_constants test_array_exprs test_array_iterators test_array_manipulation test_array_methods
    test_array_reductions test_array_return test_auto_constants test_blackscholes test_boundscheck test_buffer_protocol
    test_builtins test_casting test_cffi test_cfunc test_chained_assign test_closure test_complex test_comprehension
    test_conditions_as_predicates test_controlflow test_conversion test_ctypes test_dataflow test_dictobject test_dicts test_dispatcher
    test_dyn_array test_dyn_func test_enums test_errorhandling test_errormodels test_exceptions test_extended_arg test_extending
    test_extending_types test_fancy_indexing test_fastmath test_flow_control test_function_type test_generators test_getitem_on_types
    test_globals test_hashing test_heapq test_indexing test_inlining test_interproc test_iteration test_jit_module test_jitclasses
    test_jitmethod test_linalg test_listobject test_lists test_literal_dispatch test_locals test_looplifting test_mandelbrot
    test_map_filter_reduce test_mathlib test_maxmin test_mixed_tuple_unroller test_multi3 test_nan test_nested_calls test_np_functions
    test_np_randomgen test_npdatetime test_num_threads test_numberctor test_numbers test_numconv test_obj_lifetime test_operators
    test_optional test_overlap test_polynomial test_practical_lowering_issues test_print test_python_int test_random test_range
    test_recarray_usecases test_record_dtype test_recursion test_return_values test_sets test_slices test_sort test_ssa
    test_stencils test_storeslice test_struct_ref test_threadsafety test_try_except test_tuples test_typedlist test_typingerror
    test_ufuncs test_unicode test_unicode_array test_unicode_names test_unpack_sequence test_usecases test_warnings
    npyufunc/test_vectorize_decor npyufunc/test_ufunc npyufunc/test_gufunc npyufunc/test_dufunc npyufunc/test_errors
    doc_examples/test_examples doc_examples/test_jitclass doc_examples/test_literal_container_usage doc_examples/test_structref_usage
    doc_examples/test_typed_dict_usage doc_examples/test_typed_list_usage
""".split()

# Why a test cannot pass here: what it names or how it fails. The first that matches counts, and such tests are left out of both shares.
OUTSIDE = {
    "Numba's own compiler": (
        r"Numba's own compiler|compile_extra|inspect_llvm|@do_scheduling|allocate list|pipeline_class|native_name|IRPreserving|"
        r"inspect_types|LLVM IR|ModuleID|No implementation of function Function|nopython mode pipeline|evaluates to 'Signature'|"
        r"expected a type instance|"
        r"no attribute '(entry_point|metadata|type_annotation|fndesc|_dispatcher|_compiler|_cache|library|get_annotation_info|inspect_cfg|"
        r"inspect_disasm_cfg|_type|targetdescr|_memo|build_ufunc|struct|_dtype|_allocated|_pyfunc|_sig|key|initial_value)'|"
        r"no method '(_allocated|_make_immutable|_is_mutable)'|TestGeneratorModel|test_issue5678|test_extended_arg_load_const|_ZN\?"
    ),
    "Numba's interfaces for extending its compiler": (
        r"argument of type (DynType|Index|Series|Foo)\b|_Intrinsic|intrinsic|Dummy\b|lower_builtin|typeof_impl|register_model|"
        r"type_callable|Cannot determine Numba type|models\.|unbox\b|as_numba_type|Cannot infer Numba type|_type_class|_Family|structref|"
        r"struct_ref|ctypes_utils"
    ),
    "counts of references in Numba's run time": r"refcount|getrefcount|Refcount|NRT|nrt_|meminfo",
    "tests that start Numba in another process": r"numba\.runtests|No module named 'numba|run_in_subprocess|subprocess",
    "the state of Numba's own random generators": r"TestRandom\w*::.*(when comparing|is not true)|state_ptr",
    "lifetimes of variables, which end with their block": r"test_obj_lifetime.*Lists differ",
    "object mode": (
        r"forceobj|object mode|ObjectMode|objmode|object_mode|pyobj|'function' object has no attribute '(overloads|signatures|disable_)"
    ),
}
# Differences on purpose, which docs/kernels.md tells users: they count against the strict share alone.
DOCUMENTED = {
    "errors have broadcloth's words": (
        r"str\((raises|cm|e|exc|r)\.exception\)|excstr|not found in|Regex didn't match|does not match|Regex pattern did not match"
    ),
    "memory order of results": r"different strides|strides differ|test_implicit_output_layout",
    "hashes of tuples and texts": r"test_hashing|_hash'",
    "mathematical functions differ in the last place": r"when comparing (\S+) and \S+: \S+ != \S+ : for inputs? ",
    "Numba refuses what is compiled here": (
        r"test_try_except_reraise |Unexpected success|(TypingError|NotImplementedError|CompileError|UnsupportedError)\W.*not raised"
    ),
}
REASONS = {
    "C++ that was refused": r"cannot be compiled yet",
    "wrong": r"AssertionError",
    "time": r"Timeout",
    "refused": r"TypingError|TypeError",
}
TABLES = suite.Tables(OUTSIDE, DOCUMENTED, REASONS)

# Numba's modules whose public names are broadcloth's.
MODULES = {
    "numba": "broadcloth",
    "numba.core.types": "broadcloth.types",
    "numba.types": "broadcloth.types",
    "numba.core.errors": "broadcloth.core.errors",
    "numba.core.extending": "broadcloth.extending",
    "numba.extending": "broadcloth.extending",
    "numba.typed": "broadcloth.typed",
    "numba.experimental": "broadcloth.experimental",
    "numba.core.config": "broadcloth.config",
    "numba.np.numpy_support": "broadcloth.types",
    "numba.core.typing": "",
    "numba.core": "",
    "numba.core.types.containers": "broadcloth.types",
    "numba.np": "",
    "numba.np.ufunc": "broadcloth",
    "numba.np.ufunc.dufunc": "",
    "numba.typed.listobject": "broadcloth.typed",
    "numba.typed.dictobject": "broadcloth.typed",
    "numba.core.dispatcher": "",
    "numba.experimental.jitclass.base": "",
}


def new_list(item: Any, allocated: int = 0) -> Any:
    return List.empty_list(item, allocated)


def new_dict(key: Any, value: Any, n_keys: int = 0) -> Any:
    return Dict.empty(key, value, n_keys)


def within_reach(decorator: Any) -> Any:
    """jit or njit, refusing what is Numba's alone."""

    @functools.wraps(decorator)
    def decorate(*args: Any, **options: Any) -> Any:
        if options.get("forceobj"):
            raise NotImplementedError("object mode is Python itself")
        if options.get("pipeline_class"):
            raise NotImplementedError("Numba's own compiler")
        return decorator(*args, **options)

    return decorate


# Names of Numba's own modules that tests use for what has another name here.
NAMES = {
    "numba.np.numpy_support.as_dtype": lambda t: getattr(t, "_element", t),
    "numba.np.ufunc.dufunc.DUFunc": lambda function, targetoptions=None, **options: broadcloth.vectorize(function, **options),
    "numba.jit": within_reach(broadcloth.jit),
    "numba.njit": within_reach(broadcloth.njit),
    "numba.typed.listobject.new_list": new_list,
    "numba.typed.dictobject.new_dict": new_dict,
    "numba.core.dispatcher.Dispatcher": CpuDispatcher,
    "numba.experimental.jitclass.base.JitClassType": _Meta,
}


class Face(types.ModuleType):
    """A module of Numba's as its tests see it: broadcloth's public names, and Numba's own for the rest."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._theirs = importlib.import_module(name)
        place = MODULES.get(name)
        self._ours = find(place) if place else None

    def __setattr__(self, name: str, value: Any) -> None:
        """Settings, such as DISABLE_JIT, are the library's."""
        ours = self.__dict__.get("_ours")
        if ours is not None and hasattr(ours, name):
            setattr(ours, name, value)
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if (ours := NAMES.get(f"{self.__name__}.{name}")) is not None:
            return ours
        if name in ("__path__", "__spec__", "__file__", "__all__"):
            return getattr(self._theirs, name)
        value = getattr(self._ours, name) if not name.startswith("_") and hasattr(self._ours, name) else None
        if value is None or isinstance(value, types.ModuleType):
            theirs = getattr(self._theirs, name) if hasattr(self._theirs, name) else value
            value = face(theirs.__name__) if isinstance(theirs, types.ModuleType) and theirs.__name__ in MODULES else theirs
        if value is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return value


def find(place: str) -> Any:
    module, _, name = place.rpartition(".")
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError:
        return getattr(importlib.import_module(module), name)


@functools.cache
def face(name: str) -> types.ModuleType:
    return Face(name) if name in MODULES else importlib.import_module(name)


def install_imports() -> None:
    """Imports of Numba's modules in its test files give faces."""
    plain = builtins.__import__

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        found = plain(name, globals, locals, fromlist, level)
        file = (globals or {}).get("__file__") or ""
        if "/numba/tests/" not in file or level or name.split(".")[0] != "numba":
            return found
        return face(name) if fromlist else face("numba")

    builtins.__import__ = import_


def forbid_numbas_compiler() -> None:
    """A test that reaches Numba's own compiler says nothing about broadcloth."""
    from numba.core import compiler

    def refuse(*_: Any) -> None:
        raise NotImplementedError("Numba's own compiler")

    compiler.CompilerBase._compile_core = refuse


def run_file(file: str, results: str, every: int) -> int:
    import pytest

    forbid_numbas_compiler()
    install_imports()
    options = ["-q", "--no-header", "--tb=no", "--assert=plain", "--timeout=60", "--rootdir=/", "-W", "ignore"]
    options += ["-p", "no:cacheprovider", "-p", "no:xdist"]
    known = set(suite.read(Path(results)))
    return int(pytest.main([file, "-c", os.devnull, *options], plugins=[suite.Plugin(results, known, "/numba/tests/", every)]))


def main() -> int:
    parser = suite.parser_of(__doc__)
    parser.add_argument("--numba", help="the folder that holds the package, if it is not installed")
    parser.add_argument("--every", type=int, default=1, help="one test of so many in each file")
    options = parser.parse_args()
    if options.numba:
        sys.path.append(options.numba)
    if options.file:
        return run_file(options.file, options.results, options.every)

    def run(_: Path, results: Path) -> None:
        import numba

        root = Path(numba.__file__).parent / "tests"
        more = ["--every", str(options.every)] + (["--numba", options.numba] if options.numba else [])
        for name in options.only or FILES:
            suite.run_until_done(name, [sys.executable, __file__, "--file", f"{root / name}.py", *more], f"{name}.py", results)

    return suite.run_and_report(options, TABLES, run)


if __name__ == "__main__":
    sys.exit(main())
