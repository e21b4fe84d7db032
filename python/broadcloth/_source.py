"""Where the compiler of Python functions finds their source: the syntax tree of one function, without the module `inspect`."""

from __future__ import annotations

import linecache
from types import CodeType
from typing import Any

_ONLY_AST = 0x400
_trees: dict[str, tuple[int, Any]] = {}


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
    file = code.co_filename
    text = "".join(lines)
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
        if names != list(code.co_varnames[: len(names)]):
            continue
        body = node.body
        inside = sum((body.lineno, body.col_offset) <= place <= (body.end_lineno, body.end_col_offset) for place in places)
        if inside > most:
            best, most = node, inside
    if best is None:
        raise TypeError(f"{file}:{code.co_firstlineno}: the source of this lambda was not found")
    return best, 0


def find(function: Any) -> tuple[Any, int, list[str]]:
    """A function's FunctionDef or Lambda node, what its line numbers are less than the file's, and the file's lines from its first on."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first = code.co_firstlineno
    if len(lines) < first:
        raise TypeError(
            f"{function.__qualname__}: its source was not found in {code.co_filename!r}; functions that are compiled must come from a file "
            "or a notebook's cell"
        )
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
    return node, offset, block
