"""Blocks of compiled functions that the interpreter runs: `with objmode(x="float64[:]"):`."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Iterable
from typing import Any

from .exceptions import TypingError

_LEAVES = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue", ast.Yield: "yield", ast.YieldFrom: "yield"}


def _names(nodes: Iterable[ast.AST]) -> tuple[list[str], list[str]]:
    """The names that statements read before they surely bind them, and those that they bind, each in the order of the text."""
    read: dict[str, None] = {}
    bound: dict[str, None] = {}
    sure: set[str] = set()
    for statement in nodes:
        before = set(bound)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    if node.id not in sure:
                        read.setdefault(node.id)
                else:
                    bound.setdefault(node.id)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                bound.setdefault(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                for name in node.names:
                    bound.setdefault((name.asname or name.name).split(".")[0])
            elif isinstance(node, ast.ExceptHandler) and node.name:
                bound.setdefault(node.name)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read.setdefault(statement.target.id)
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.With):
            sure |= set(bound) - before
    return list(read), list(bound)


def _leaves(nodes: Iterable[ast.AST], loops: int = 0) -> None:
    """Refuses statements that would leave the block."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        inside = loops + isinstance(node, ast.For | ast.While)
        what = _LEAVES.get(type(node))
        if what and not (loops and what in ("break", "continue")):
            raise TypingError(f"objmode: the block cannot be left by {what}")
        _leaves(ast.iter_child_nodes(node), inside)


def _world(function: types.FunctionType) -> dict[str, Any]:
    """The values of the variables of functions around."""
    cells = function.__closure__ or ()
    world = {}
    for name, cell in zip(function.__code__.co_freevars, cells):
        try:
            world[name] = cell.cell_contents
        except ValueError:
            continue
    return world


def block_of(
    function: types.FunctionType, node: ast.With, offset: int, local_names: list[str]
) -> tuple[Callable[..., tuple[Any, ...]], list[str], list[tuple[str, Any]], list[str]]:
    """The block as a function: what it takes, the names and types of what it gives, and the names that it binds for itself."""
    call = node.items[0].context_expr
    assert isinstance(call, ast.Call)
    if node.items[0].optional_vars is not None:
        raise TypingError("objmode: 'with objmode(…) as x' has no x; name the block's results as keywords")
    if call.args:
        raise TypingError("objmode: expected the types of results as keywords, as in objmode(x='float64[:]')")
    _leaves(node.body)
    world = _world(function)
    outputs = []
    for keyword in call.keywords:
        if keyword.arg is None:
            raise TypingError("objmode: expected the types of results as keywords, got **")
        if isinstance(keyword.value, ast.Constant):
            given = keyword.value.value
        else:
            try:
                given = eval(compile(ast.Expression(keyword.value), "<objmode>", "eval"), function.__globals__, world)
            except NameError as e:
                raise TypingError(f"objmode: the type of '{keyword.arg}' must be known where the function is defined: {e}") from None
        outputs.append((keyword.arg, given))
    read, bound = _names(node.body)
    own = set(local_names)
    given_names = {name for name, _ in outputs}
    inputs = [name for name in read if name in own]
    inputs += [name for name in given_names if name not in bound and name in own and name not in inputs]
    lost = [name for name in bound if name in own and name not in given_names]

    body = copy.deepcopy(node.body)
    results = ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name, _ in outputs], ast.Load()))
    arguments = ast.arguments([], [ast.arg(name) for name in inputs], None, [], [], None, [])
    more: dict[str, Any] = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}
    inner = ast.FunctionDef(function.__name__, arguments, [*body, results], [], **more)
    free = [name for name in world if name not in inputs]
    around = ast.FunctionDef("around", ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, []), [inner], [], **more)
    module = ast.Module([around], [])
    for statement in body:
        ast.increment_lineno(statement, offset)
    ast.copy_location(results, body[-1])
    ast.fix_missing_locations(module)
    code = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    for name in ("around", inner.name):
        code = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    made = types.FunctionType(code, function.__globals__, inner.name, None, tuple(cells[name] for name in code.co_freevars))
    return made, inputs, outputs, lost
