"""`python -m broadcloth [options] program.py [arguments]`, and with `-c` and `-m`: runs a program as Python itself does."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from types import ModuleType, TracebackType
from typing import Any

from .. import _broadcloth as _c
from ..exceptions import PerformanceWarning
from . import _fallback, _imports
from ._owner import Owner

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class UsageError(Exception):
    """The command line is no program's."""


# First arguments that name a program but no file: a text, a module, the standard input.
_STARTS = ("-c", "-m", "-")


class Options:
    """What stands before the program on the command line."""

    strict = False
    report = False
    perfetto: str | None = None
    pstats: str | None = None
    device: str | None = None

    _FLAGS = {"--strict": "strict", "--report": "report"}
    _VALUES = {"--perfetto": "perfetto", "--pstats": "pstats", "--device": "device"}

    def read(self, words: list[str]) -> list[str]:
        """Takes the options off; what is left begins with `-c`, `-m` or the program."""
        while words and words[0].startswith("-") and words[0] not in _STARTS:
            name, given, value = words[0].partition("=")
            words = words[1:]
            if name in self._FLAGS and not given:
                setattr(self, self._FLAGS[name], True)
            elif name in self._VALUES:
                if not given:
                    if not words:
                        raise UsageError(f"{name} needs a value")
                    value, words = words[0], words[1:]
                setattr(self, self._VALUES[name], value)
            else:
                raise UsageError(f"unknown option {name}")
        if not words:
            raise UsageError("no program is given")
        if words[0] in ("-c", "-m") and len(words) < 2:
            raise UsageError(f"{words[0]} needs an argument")
        return words


def names_a_program(word: str) -> bool:
    """Whether the first word of the command line belongs to a program and not to a command."""
    return word in _STARTS or word.partition("=")[0] in {*Options._FLAGS, *Options._VALUES} or word.endswith(".py") or os.path.exists(word)


# ---- Running ------------------------------------------------------------------------------------------------------------------------

_replaced: list[Any] = []  # the module that was __main__: its functions are still running


def _new_main(**attributes: Any) -> ModuleType:
    """A fresh `__main__`, as Python makes one for a program."""
    _replaced.append(sys.modules.get("__main__"))
    main = ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]  # type: ignore[attr-defined]
    for name, value in {"__annotations__": {}, "__package__": None, "__spec__": None, **attributes}.items():
        setattr(main, name, value)
    sys.modules["__main__"] = main
    return main


def _set_first_folder(folder: str) -> None:
    """Puts a program's folder where Python has it: in the place of the current folder, or of this command's."""
    if sys.flags.safe_path:
        return
    if sys.path:
        sys.path[0] = folder
    else:
        sys.path.insert(0, folder)


def _is_archive(path: str) -> bool:
    """Whether Python imports from a file, as it does from a zip file."""
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return True
    return False


def _program_of_file(path: str, words: list[str]) -> tuple[Owner, Callable[[], object]]:
    sys.argv[:] = words
    if os.path.isdir(path) or _is_archive(path):
        # A folder or a zip file with a __main__.py.
        _set_first_folder(path)
        _new_main()
        return Owner.of_file(os.path.join(path, "__main__.py")), lambda: runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]
    _set_first_folder(os.path.dirname(os.path.realpath(path)))
    file = os.path.abspath(path)  # as Python has it in __file__ and in tracebacks
    with io.open_code(file) as f:
        source = f.read()
    if path.endswith(".pyc"):
        loader: Any = SourcelessFileLoader("__main__", file)
        code = loader.get_code("__main__")
    else:
        loader = SourceFileLoader("__main__", file)
        code = None
    main = _new_main(__file__=file, __cached__=None, __loader__=loader)

    def run() -> None:
        exec(code if code is not None else compile(source, file, "exec", dont_inherit=True), vars(main))

    return Owner.of_file(path), run


def _program_of_text(words: list[str]) -> tuple[Owner, Callable[[], object]]:
    text, name, rest = (sys.stdin.read(), "<stdin>", words[1:]) if words[0] == "-" else (words[1], "<string>", words[2:])
    sys.argv[:] = [words[0], *rest]
    _set_first_folder("")
    main = _new_main()

    def run() -> None:
        exec(compile(text + "\n", name, "exec", dont_inherit=True), vars(main))

    return Owner.of_folder("."), run


def _program_of_module(words: list[str]) -> tuple[Owner, Callable[[], object]]:
    sys.argv[:] = ["-m", *words[2:]]
    _set_first_folder(os.getcwd())
    _new_main()
    return Owner.of_folder("."), lambda: runpy._run_module_as_main(words[1])  # type: ignore[attr-defined]


def _without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    """A traceback as it is without this package's frames."""
    if trace is None:
        return None
    rest = _without_our_frames(trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(_HERE):
        return rest
    trace.tb_next = rest
    return trace


def _clean(error: BaseException | None) -> None:
    """Takes this package's frames out of an exception's traceback, and out of those that it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _without_our_frames(error.__traceback__)
        if error.__cause__ is not None:
            _clean(error.__cause__)
        error = error.__context__


def _show_and_end(error: BaseException) -> None:
    """Prints what the program did not catch, by the program's own hook, and lets Python end as it does then."""
    _clean(error)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.last_exc = error  # type: ignore[attr-defined]
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.excepthook = lambda *_: None


def run_program(words: list[str]) -> int:
    """Runs what the words of a command line name; returns 0 unless the program raises.

    Raises
    ------
    UsageError
        The words name no program.
    SystemExit, and what the program does not catch
        As Python itself; the traceback is printed already.
    """
    options = Options()
    words = options.read(words)
    device = options.device or ("" if os.environ.get("BROADCLOTH_DEVICE") else "auto")
    if device:
        try:
            _c.set_default_device(device)
        except (ValueError, RuntimeError) as error:
            raise UsageError(f"--device {device}: {error}") from None
    _fallback.strict = options.strict
    if words[0] in ("-c", "-"):
        owner, run = _program_of_text(words)
    elif words[0] == "-m":
        owner, run = _program_of_module(words)
    else:
        try:
            owner, run = _program_of_file(words[0], words)
        except OSError as error:
            print(f"broadcloth: can't open file {os.path.abspath(words[0])!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
            return 2
    _imports.enable(owner)
    _c.forbid_hidden_waits(options.strict)
    os.register_at_fork(after_in_child=_leave_lost_device)
    try:
        with _watched(options, owner, words):
            run()
    except SystemExit:
        raise
    except BaseException as error:
        _show_and_end(error)
        raise
    return 0


def _leave_lost_device() -> None:
    """In a child that was forked after CUDA had been started, which cannot use it: new arrays live on the CPU."""
    elements, accelerator = _c._placement()
    device = accelerator if elements else _c.default_device()
    if device is None or device.type != "cuda" or _c.device_count("cuda"):
        return
    _c.set_default_device("cpu")
    message = (
        "this process was forked after its parent had started CUDA, which no driver allows it to use: it computes on the CPU; "
        "multiprocessing's 'spawn' or 'forkserver' start children that can use the GPU"
    )
    warnings.warn(message, PerformanceWarning, stacklevel=2)


@contextlib.contextmanager
def _watched(options: Options, owner: Owner, words: list[str]) -> Iterator[None]:
    """Runs the program under the profilers that the options ask for; what they have to say comes also where the program fails."""
    with contextlib.ExitStack() as stack:
        if options.report or options.perfetto:
            from ._report import Report, print_report

            report = Report(owner, os.path.basename(words[0]) if words[0] not in ("-c", "-m") else " ".join(words[:2]))

            process = os.getpid()

            def end() -> None:
                if os.getpid() != process:  # a child that the program forked
                    return
                report.stop()
                if options.perfetto:
                    report.write_perfetto(options.perfetto)
                if options.report:
                    print_report(report)

            stack.callback(end)
            report.start()
        if options.pstats:
            import cProfile

            profile = cProfile.Profile()
            stack.callback(profile.dump_stats, options.pstats)
            stack.enter_context(profile)
        yield
