"""Where the compiler of Python functions finds their source: the syntax tree of one function, without the module `inspect`."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

from ._broadcloth import compiled_texts, keep_compiled_texts

keep_compiled_texts()

_ONLY_AST = 0x400
_FUTURES = 0x1FF0000
_trees: dict[str, tuple[int, Any]] = {}
_texts: dict[CodeType, list[str]] = {}


def _last_line(code: CodeType) -> int:
    """The last line that the function's instructions come from, inner functions included."""
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    return max([last, *(_last_line(c) for c in code.co_consts if isinstance(c, CodeType))])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _parse(text: str, file: str) -> Any:
    return compile(text, file, "exec", _ONLY_AST, dont_inherit=True)


def _lambda(code: CodeType, lines: list[str]) -> tuple[Any, int]:
    """The Lambda node of the module that this code was made from."""
    text = "".join(lines)
    file = code.co_filename
    known = _trees.get(file)
    if known is None or known[0] != hash(text):
        known = _trees[file] = (hash(text), _parse(text, file))
    import ast

    places = {(p[0], p[2]) for p in code.co_positions() if p[0] is not None and p[2] is not None}
    best, most = None, -1
    for node in ast.walk(known[1]):
        if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
            continue
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if names != list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]):
            continue
        body = node.body
        inside = sum((body.lineno, body.col_offset) <= place <= (body.end_lineno, body.end_col_offset) for place in places)
        if inside >= most:  # of one in another both hold its instructions, and the inner one comes later
            best, most = node, inside
    if best is None:
        raise TypeError(f"{file}:{code.co_firstlineno}: the source of this lambda was not found")
    return best, 0


# ---- functions that come from no file -----------------------------------------------------------------------------------------------


def _inside(code: CodeType) -> Iterator[CodeType]:
    yield code
    for c in code.co_consts:
        if isinstance(c, CodeType):
            yield from _inside(c)


def _lines_of(code: CodeType, text: str) -> list[str] | None:
    """The text's lines, where it compiles to this very code; blank ones before them where the program cut those off."""
    import textwrap

    for candidate in dict.fromkeys((text, textwrap.dedent(text), text.strip())):
        for mode in ("exec", "eval"):
            try:
                made = compile(candidate, code.co_filename, mode, code.co_flags & _FUTURES, dont_inherit=True)
            except (SyntaxError, ValueError):
                continue
            if any(c == code for c in _inside(made)):
                return candidate.splitlines(keepends=True)
    return None


def _known_texts(file: str) -> Iterator[str]:
    """Texts that functions without a file may have been made of: what was compiled under that name lately, strings of the program that
    runs, its command, its input, its history."""
    yield from compiled_texts(file)
    frame: Any = sys._getframe(1)
    while frame is not None:
        yield from (v for v in list(frame.f_locals.values()) if isinstance(v, str))
        yield from (v for v in frame.f_code.co_consts if isinstance(v, str))
        frame = frame.f_back
    if "-c" in sys.orig_argv:
        yield sys.orig_argv[sys.orig_argv.index("-c") + 1]
    try:
        import os
        import stat

        if stat.S_ISREG(os.fstat(0).st_mode):  # a program that is read from its input
            yield os.pread(0, 1 << 24, 0).decode()
    except (OSError, UnicodeDecodeError):
        pass
    history: Any = sys.modules.get("readline")
    if history is not None and hasattr(sys, "ps1"):
        # What was typed: one statement, which ends where the next one begins.
        typed = [history.get_history_item(i + 1) or "" for i in range(history.get_current_history_length())]
        end = len(typed)
        for i in range(len(typed) - 1, -1, -1):
            if typed[i][:1].isspace() or not typed[i]:
                continue
            yield "\n".join(typed[i:end]) + "\n"
            if not typed[i].startswith("@"):
                decorators = i
                while decorators and typed[decorators - 1].startswith("@"):
                    decorators -= 1
                if decorators < i:
                    yield "\n".join(typed[decorators:end]) + "\n"
                end = decorators


def remember(function: Any) -> bool:
    """Looks for the text of a function that comes from no file (`exec`, `python -c`) while it can be found; tells whether it is."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_filename.startswith("<") or code in _texts:
        return True
    if len(linecache.getlines(code.co_filename, function.__globals__)) >= code.co_firstlineno:
        return True
    word = "lambda" if code.co_name == "<lambda>" else code.co_name
    for text in _known_texts(code.co_filename):
        if word in text and (lines := _lines_of(code, text)) is not None:
            _texts[code] = lines
            return True
    return False


def lines_of(function: Any) -> list[str]:
    """The text of a function with all lines before it, for a pickle; of a lambda that of its file, whose other lines say where it is."""
    code = function.__code__
    _, _, lines = find(function)
    if code.co_name == "<lambda>":
        return _texts.get(code) or linecache.getlines(code.co_filename, function.__globals__)
    return ["\n"] * (code.co_firstlineno - 1) + lines


def keep(code: CodeType, lines: list[str]) -> None:
    """Gives code that was pickled its text: the file may be another one by now."""
    _texts.setdefault(code, lines)


def find(function: Any) -> tuple[Any, int, list[str]]:
    """A function's FunctionDef or Lambda node, what its line numbers are less than the file's, and the file's lines from its first on."""
    code = function.__code__
    first = code.co_firstlineno
    lines = _texts.get(code)
    if lines is None:
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, function.__globals__)
    if len(lines) < first and remember(function):
        lines = _texts.get(code, lines)
    if len(lines) < first:
        instead = (
            "run a program that is piped into Python from a file"
            if code.co_filename == "<stdin>"
            else "of a text for exec() keep it: linecache.cache[file] = (len(text), None, text.splitlines(True), file), with the name that "
            "exec(compile(text, file, 'exec')) gives it"
        )
        raise TypeError(f"{function.__qualname__}: the compiler reads a function's text, which {code.co_filename} does not keep; {instead}")
    if code.co_name == "<lambda>":
        node, offset = _lambda(code, lines)
        return node, offset, lines[first - 1 : node.end_lineno]
    indent = _indent(lines[first - 1])
    end = _last_line(code)
    while end < len(lines):
        line = lines[end]
        if line.strip() and not line.lstrip().startswith("#") and _indent(line) <= indent:
            break
        end += 1
    # An indented function is parsed as the body of an `if`, so that columns stay those of the file.
    head, offset = ("if 1:\n", first - 2) if indent else ("", first - 1)
    while True:
        block = lines[first - 1 : end]
        try:
            tree = _parse(head + "".join(block), code.co_filename)
            break
        except SyntaxError:
            # A string or a bracket that goes on at the margin.
            if end >= len(lines):
                raise
            end += 1
    node = tree.body[0].body[0] if indent else tree.body[0]
    if not _is_of(node, code):
        raise TypeError(
            f"{function.__qualname__}: line {first} of {code.co_filename} is not where this function begins: the file was changed after "
            "it was read; run the program again"
        )
    return node, offset, block


def _is_of(node: Any, code: CodeType) -> bool:
    """Whether a syntax tree may be that of the code: a function of its name with as many parameters."""
    if getattr(node, "name", None) != code.co_name or not hasattr(node, "args"):
        return False
    a = node.args
    return (len(a.posonlyargs) + len(a.args), len(a.kwonlyargs)) == (code.co_argcount, code.co_kwonlyargcount)


def from_source(source: str, name: str, names: dict[str, Any]) -> Any:
    """The function of a text that tools and the compiler can look at again; `names` are its globals."""
    file = f"<broadcloth {name} {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found: dict[str, Any] = {}
    exec(compile(source, file, "exec"), names, found)
    return found[name]
