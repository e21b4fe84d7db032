"""Random functions, compiled by `njit` and run by Python: values, their types, exceptions and what is left in the arguments must agree.

A function has variables of numbers, texts, tuples, lists, dictionaries, sets and arrays; statements assign, loop, branch, call inner
functions, raise and catch. Integers stay small, since Python's have no bounds. A `TypingError` is no difference.

`python tests/jit_programs.py --seed N --show` runs one, `--start N --count M` a range.
"""

from __future__ import annotations

import copy
import linecache
import math
import random
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

from program_harness import Programs, Run

ARGUMENTS = ("a", "b", "x", "n", "k", "t", "xs")
# The variables of each type; those of the arguments come first.
NAMES = {
    "int": ("n", "k", "i0", "i1", "i2"),
    "float": ("x", "y0", "y1"),
    "bool": ("q0", "q1"),
    "str": ("t", "s0", "s1"),
    "list": ("xs", "l0", "l1"),
    "floats": ("f0",),
    "tuple": ("p0", "p1"),
    "dict": ("d0",),
    "set": ("e0",),
    "array": ("a", "v0", "v1"),
    "ints": ("b", "w0"),
    "matrix": ("m0",),
}
START = {
    "i0": "1", "i1": "n + 2", "i2": "-3", "y0": "0.5", "y1": "x * 2.0", "q0": "n > 2", "q1": "False", "s0": "'ab'", "s1": "t + 'c'",
    "l0": "[1, 2, 3]", "l1": "[n, k]", "f0": "[x, 1.5]", "p0": "(1, 2.5)", "p1": "(n, x)", "d0": "{1: 10, 2: 20}", "e0": "{1, 2}",
    "v0": "a * 2.0", "v1": "np.zeros(4)", "w0": "np.arange(5)", "m0": "np.arange(6.0).reshape(2, 3)",
}  # fmt: skip


def arguments() -> list[Any]:
    import numpy as np

    return [np.array([0.5, -1.5, 2.0, 3.25, -0.25]), np.array([3, -1, 4, 1, -5, 9]), 1.75, 5, -2, "hello", [4, 1, 7, 2]]


class Maker:
    """Makes the statements of a seed. A compound statement is one statement of several lines."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.loops = 0
        self.fresh = 0
        self.inside_function = False
        self.statements = [self.statement(0) for _ in range(self.random.randint(1, 7))]

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def name(self, kind: str) -> str:
        return self.random.choice(NAMES[kind])

    def new(self, hint: str) -> str:
        self.fresh += 1
        return f"{hint}{self.fresh}"

    def of(self, kind: str, depth: int) -> str:
        return getattr(self, kind)(depth)

    # ---- expressions

    def int(self, d: int) -> str:
        if d <= 0:
            return self.pick(self.name("int"), self.name("int"), str(self.random.randint(-9, 9)))
        i, e = self.int, d - 1
        return self.pick(
            lambda: f"({i(e)} {self.pick('+', '-', '*')} {i(e)}) % 1009",
            lambda: f"({i(e)} {self.pick('//', '%')} {self.pick('2', '3', '-4', i(0))})",
            lambda: f"({i(e)} {self.pick('&', '|', '^')} {i(e)})",
            lambda: f"({i(e)} >> {self.pick('1', '2')})",
            lambda: f"(-{i(e)})",
            lambda: f"abs({i(e)})",
            lambda: f"{self.pick('min', 'max')}({i(e)}, {i(e)})",
            lambda: f"({i(e)} if {self.bool(e)} else {i(e)})",
            lambda: f"int({self.float(e)}) % 997",
            lambda: f"len({self.of(self.pick('str', 'list', 'floats', 'dict', 'set', 'array', 'ints'), e)})",
            lambda: f"{self.name('list')}[{self.index(e)}]",
            lambda: f"sum({self.list(e)}) % 1013",
            lambda: f"{self.name('dict')}.get({i(e)}, {i(e)})",
            lambda: f"{self.name('dict')}[{i(e)}]",
            lambda: f"{self.name('tuple')}[0]",
            lambda: f"int({self.name('ints')}[{self.index(0)} % 5])",
            lambda: f"{self.list(e)}.count({i(e)})",
            lambda: f"{self.str(e)}.find({self.str(0)})",
            lambda: f"ord(({self.str(e)} + 'z')[0])",
            lambda: f"divmod({i(e)}, {self.pick('3', '-5', '7')})[{self.pick(0, 1)}]",
            lambda: f"round({self.float(e)}) % 991",
            lambda: f"math.gcd({i(e)}, {i(e)})",
            lambda: f"int({self.bool(e)})",
            lambda: f"(lambda u, w=2: u * w - 1)({i(e)}) % 1021",
            lambda: f"int(np.sum({self.ints(e)})) % 1019",
            lambda: f"int(np.argmax({self.name('array')}))",
            lambda: f"sum(u * u for u in {self.list(e)}) % 1031",
            lambda: f"next({self.values(e)}, {self.int(0)})",
            lambda: f"next({self.values(e)})",
            lambda: f"{self.pick('max', 'min')}({self.values(e)})",
        )()

    def index(self, d: int) -> str:
        return self.pick("0", "-1", "1", "2", self.int(d))

    def float(self, d: int) -> str:
        if d <= 0:
            return self.pick(self.name("float"), self.name("float"), self.pick("0.5", "-2.25", "3.0", "1e-3"))
        f, e = self.float, d - 1
        return self.pick(
            lambda: f"({f(e)} {self.pick('+', '-', '*')} {f(e)})",
            lambda: f"({f(e)} / {self.pick('2.0', '-4.0', '3', self.int(0), f(0))})",
            lambda: f"({self.int(e)} / {self.pick('4', '8.0', self.int(0))})",
            lambda: f"({f(e)} {self.pick('//', '%')} {self.pick('2.0', '-1.5', '3')})",
            lambda: f"(-{f(e)})",
            lambda: f"abs({f(e)})",
            lambda: f"{self.pick('min', 'max')}({f(e)}, {f(e)})",
            lambda: f"({f(e)} if {self.bool(e)} else {f(e)})",
            lambda: f"float({self.int(e)})",
            lambda: f"math.{self.pick('sin', 'cos', 'atan', 'tanh')}({f(e)})",
            lambda: f"math.sqrt(abs({f(e)}))",
            lambda: f"round({f(e)}, {self.pick('1', '2', '-1')})",
            lambda: f"{self.name('floats')}[{self.pick('0', '-1', '1')}]",
            lambda: f"{self.name('tuple')}[1]",
            lambda: f"float({self.name('array')}[{self.pick('0', '-1', '1', '3')}])",
            lambda: f"float({self.array(e)}.{self.pick('sum', 'min', 'max', 'mean')}())",
            lambda: f"sum({self.floats(e)})",
            lambda: f"float({self.name('matrix')}[{self.pick('0, 1', '-1, -1', '1, 2')}])",
            lambda: f"{f(e)} ** {self.pick('2', '3', '1.0')}",
        )()

    def bool(self, d: int) -> str:
        if d <= 0:
            return self.pick(self.name("bool"), f"{self.int(0)} < {self.int(0)}", "True")
        e = d - 1
        compared = self.pick("int", "float", "str", "tuple", "list")
        return self.pick(
            lambda: f"({self.of(compared, e)} {self.pick('<', '<=', '==', '!=', '>', '>=')} {self.of(compared, e)})",
            lambda: f"({self.bool(e)} {self.pick('and', 'or')} {self.bool(e)})",
            lambda: f"(not {self.bool(e)})",
            lambda: f"({self.int(e)} in {self.of(self.pick('list', 'set', 'dict'), e)})",
            lambda: f"({self.str(0)} in {self.str(e)})",
            lambda: f"(-3 < {self.int(e)} <= {self.int(e)} < 50)",
            lambda: f"bool({self.of(self.pick('int', 'float', 'str', 'list', 'dict'), e)})",
            lambda: f"{self.pick('any', 'all')}([u > {self.int(0)} for u in {self.list(e)}])",
            lambda: f"{self.pick('any', 'all')}({self.int(0)} {self.pick('//', '%')} u > {self.int(0)} for u in {self.list(e)})",
            lambda: f"({self.int(e)} in {self.values(e)})",
            lambda: f"{self.str(e)}.{self.pick('startswith', 'endswith')}({self.str(0)})",
            lambda: f"{self.str(e)}.{self.pick('isalpha', 'islower', 'isdigit')}()",
        )()

    def str(self, d: int) -> str:
        if d <= 0:
            return self.pick(self.name("str"), "'l'", "'xyz'", "''")
        s, e = self.str, d - 1
        return self.pick(
            lambda: f"({s(e)} + {s(e)})[:12]",
            lambda: f"({s(e)} * {self.pick('2', '0', '3')})[:9]",
            lambda: f"{s(e)}[{self.slice(e)}]",
            lambda: f"{s(e)}.{self.pick('upper', 'lower', 'strip', 'title', 'capitalize', 'swapcase')}()",
            lambda: f"{s(e)}.replace({self.pick(repr('l'), repr('a'))}, {s(0)})[:15]",
            lambda: f"str({self.of(self.pick('int', 'bool', 'list', 'tuple', 'float'), e)})",
            lambda: f"f'{{{self.name('int')}}}:{{{self.name('float')}:.2f}}'",
            lambda: f"f'{{{self.name('str')}!r:>6}}|{{{self.name('int')}:04d}}'",
            lambda: f"'-'.join([str(u) for u in {self.list(e)}])[:20]",
            lambda: f"({s(e)} if {self.bool(e)} else {s(e)})",
            lambda: f"{s(e)}.center({self.pick('7', '3')}, '*')",
            lambda: f"chr(97 + {self.int(e)} % 26)",
        )()

    def slice(self, d: int) -> str:
        return self.pick("1:", ":-1", "::2", "::-1", "1:3", "-2:", ":", "2:0:-1", f"{self.int(d)}:", f":{self.int(0)}")

    def list(self, d: int) -> str:
        if d <= 0:
            return self.name("list")
        e = d - 1
        return self.pick(
            lambda: f"[{self.int(e)}, {self.int(e)}]",
            lambda: f"({self.list(e)} + {self.list(e)})[:9]",
            lambda: f"{self.list(e)}[{self.slice(e)}]",
            lambda: f"[u {self.pick('+', '-', '*')} {self.int(0)} for u in {self.list(e)} if u % 2 == {self.pick(0, 1)}]",
            lambda: f"sorted({self.list(e)}{self.pick('', ', reverse=True', ', key=lambda u: -u')})",
            lambda: f"list(range({self.pick('4', '1, 7, 2', '5, 0, -2', self.int(e) + ' % 6')}))",
            lambda: f"[u * w for u, w in zip({self.list(e)}, {self.list(e)})]",
            lambda: f"[u + w for u, w in enumerate({self.list(e)})]",
            lambda: f"sorted(list({self.of(self.pick('set', 'dict'), e)}))",
            lambda: f"{self.list(e)}.copy()",
            lambda: f"list(reversed({self.list(e)}))",
            lambda: f"({self.list(e)} * 2)[:8]",
            lambda: f"list({self.values(e)})",
            lambda: f"[u * w for u, w in zip({self.values(e)}, {self.values(e)})]",
        )()

    def values(self, d: int) -> str:
        """A generator expression, or an iterator of it."""
        u, w = self.new("u"), self.new("w")
        return self.pick(
            lambda: f"({u} {self.pick('+', '-', '*')} {self.int(1)} for {u} in {self.list(d)})",
            lambda: f"({u} // {self.int(1)} for {u} in {self.list(d)} if {u} % 2 == {self.pick(0, 1)})",
            lambda: f"({u} * {w} for {u} in range({self.int(0)} % 4) for {w} in {self.list(d)}[:3])",
            lambda: (
                f"({u} - {w} for {u}, {w} in enumerate({self.list(d)}, {self.pick(2, 7)}))"
                if self.random.random() < 0.5
                else f"({u} - {w} for {u}, {w} in zip({self.list(d)}, {self.list(d)}))"
            ),
            # A dict that changes before the first value is asked for is an error of Python's alone.
            lambda: f"({u} + {w} for {u}, {w} in sorted(list({self.name('dict')}.items())))",
            lambda: f"({u} % 11 for {u} in {self.values(d - 1)})" if d > 0 else f"iter({self.list(0)})",
            lambda: f"map(lambda {u}: {u} * 2, {self.list(d)})" if d > 1 else f"({u} for {u} in {self.list(0)})",
        )()

    def lazy(self) -> str:
        """A generator in a variable, from which several ask for values while what it reads may change."""
        g, u = self.new("g"), self.new("u")
        use = self.pick(
            f"i0 = next({g}, -1)\n{self.assign()}\nl0 = list({g})",
            f"q0 = any({u} > {self.int(0)} for {u} in {g})\nl1 = [{u} + 1 for {u} in {g}]",
            f"{self.mutate()}\ni1 = sum({g}) % 1093\ni2 = sum({g})",
            f"for {u} in {g}:\n    i0 = (i0 + {u}) % 1097\n{self.block(2)}\n    if {u} > {self.int(0)}:\n        break\ni1 = next({g}, 5)",
        )
        return f"{g} = {self.values(1)}\n{use}"

    def floats(self, d: int) -> str:
        if d <= 0:
            return self.name("floats")
        return self.pick(
            lambda: f"[{self.float(d - 1)}, {self.float(d - 1)}]",
            lambda: f"[u / 2 for u in {self.list(d - 1)}] + [{self.float(d - 1)}]",
            lambda: f"[float(u) for u in {self.array(d - 1)}]",
            lambda: f"sorted({self.floats(d - 1)})",
        )()

    def tuple(self, d: int) -> str:
        return self.name("tuple") if d <= 0 else f"({self.int(d - 1)}, {self.float(d - 1)})"

    def dict(self, d: int) -> str:
        if d <= 0:
            return self.name("dict")
        return self.pick(
            lambda: f"{{{self.int(d - 1)}: {self.int(d - 1)}, {self.int(d - 1)}: {self.int(d - 1)}}}",
            lambda: f"{{u % 7: u * 3 for u in {self.list(d - 1)}}}",
            lambda: f"{{u: w for u, w in {self.name('dict')}.items() if u > {self.int(0)}}}",
        )()

    def set(self, d: int) -> str:
        if d <= 0:
            return self.name("set")
        return self.pick(
            lambda: f"{{{self.int(d - 1)}, {self.int(d - 1)}}}",
            lambda: f"set({self.list(d - 1)})",
            lambda: f"({self.set(d - 1)} {self.pick('|', '&', '-', '^')} {self.set(d - 1)})",
            lambda: f"{{u % 5 for u in {self.list(d - 1)}}}",
        )()

    def array(self, d: int) -> str:
        if d <= 0:
            return self.name("array")
        a, e = self.array, d - 1
        return self.pick(
            lambda: f"({a(e)} {self.pick('+', '-', '*')} {self.float(e)})",
            lambda: f"(np.{self.pick('sin', 'abs', 'floor', 'tanh')}({a(e)}) * 2.0)",
            lambda: f"np.where({a(e)} > {self.float(0)}, {self.float(0)}, {self.float(0)})",
            lambda: f"np.{self.pick('sort', 'cumsum')}({a(e)})",
            lambda: f"{self.name('array')}[{self.pick('::-1', '::2', '1:', ':-1')}].copy()",
            lambda: f"np.array({self.floats(e)})",
            lambda: f"{self.name('array')}[{self.name('array')} < {self.float(0)}]",
            lambda: f"{self.name('matrix')}{self.pick('[0]', '[:, 1]', '.sum(axis=0)', '.ravel()', '[-1, ::-1]')}.copy()",
            lambda: f"np.linspace(0.0, {self.float(0)}, {self.pick('3', '5')})",
        )()

    def ints(self, d: int) -> str:
        if d <= 0:
            return self.name("ints")
        return self.pick(
            lambda: f"({self.ints(d - 1)} {self.pick('+', '-')} {self.int(d - 1)})",
            lambda: f"({self.ints(d - 1)} {self.pick('%', '//')} {self.pick('3', '-7')})",
            lambda: f"np.{self.pick('sort', 'unique')}({self.ints(d - 1)})",
            lambda: f"np.array({self.list(d - 1)} + [1])",
            lambda: f"({self.array(d - 1)}).astype(np.int64)",
            lambda: f"np.arange({self.pick('6', '2, 9, 3', '8, 0, -2')})",
        )()

    def matrix(self, d: int) -> str:
        if d <= 0:
            return self.name("matrix")
        m = self.matrix
        return self.pick(
            lambda: f"({m(d - 1)} {self.pick('+', '*')} {self.float(d - 1)})",
            lambda: f"{self.name('matrix')}[::-1, :].copy()",
            lambda: f"{self.name('matrix')}.T.copy().T * 1.0",
            lambda: "np.arange(6.0).reshape(2, 3) - 2.0",
        )()

    # ---- statements

    def block(self, depth: int) -> str:
        lines = "\n".join(self.statement(depth + 1) for _ in range(self.random.randint(1, 3)))
        return "\n".join("    " + line for line in lines.split("\n"))

    def statement(self, depth: int) -> str:
        simple = [self.assign] * 6 + [self.update] * 3 + [self.store] * 3 + [self.mutate] * 3 + [self.unpack]
        if self.loops and depth < 5:
            simple.append(lambda: f"if {self.bool(1)}:\n    {self.pick('break', 'continue')}")
        if depth < 3:
            simple += [self.branch, self.for_loop, self.for_loop, self.while_loop, self.attempt, self.throw, self.inner]
            simple += [self.generator, self.lazy, self.choice]
        return self.random.choice(simple)()

    def assign(self) -> str:
        kind = self.random.choice(list(NAMES))
        return f"{self.name(kind)} = {self.of(kind, self.random.randint(1, 3))}"

    def update(self) -> str:
        if self.random.random() < 0.5:
            name = self.name("int")
            return f"{name} = ({name} {self.pick('+', '-', '*')} {self.int(2)}) % 1033"
        return self.pick(
            lambda: f"{self.name('float')} {self.pick('+=', '-=', '*=')} {self.float(2)}",
            lambda: f"{self.name('array')} {self.pick('+=', '*=')} {self.float(1)}",
            lambda: f"{self.name('int')} //= {self.pick('2', '3', '-2')}",
        )()

    def store(self) -> str:
        return self.pick(
            lambda: f"{self.name('list')}[{self.index(1)}] = {self.int(2)}",
            lambda: f"{self.name('dict')}[{self.int(1)}] = {self.int(2)}",
            lambda: f"{self.name('array')}[{self.pick('0', '-1', '1')}] = {self.float(2)}",
            lambda: f"{self.name('array')}[{self.pick('1:3', '::2', ':', '-2:')}] = {self.float(1)}",
            lambda: f"{self.name('ints')}[{self.pick('0', '-1', '2')}] = {self.int(1)}",
            lambda: f"{self.name('matrix')}[{self.pick('0, 0', '-1, 2', ':, 1', '1', '0, ::2')}] = {self.float(1)}",
            lambda: f"{self.name('array')}[{self.name('array')} > {self.float(0)}] = {self.float(0)}",
        )()

    def mutate(self) -> str:
        l, d, e = self.name("list"), self.name("dict"), self.name("set")
        return self.pick(
            f"{l}.append({self.int(1)})",
            f"{l}.insert({self.index(0)}, {self.int(1)})",
            f"{self.name('int')} = {l}.pop()",
            f"{l}.sort()",
            f"{l}.reverse()",
            f"{l}.extend([{self.int(1)}, 2])",
            f"{l}[1:2] = [{self.int(0)}, {self.int(0)}]",
            f"del {l}[0]",
            f"{l}.remove({self.int(0)})",
            f"{self.name('int')} = {d}.pop({self.int(0)}, {self.int(0)})",
            f"{self.name('int')} = {d}.setdefault({self.int(0)}, {self.int(0)})",
            f"del {d}[{self.int(0)}]",
            f"{d}.update({self.dict(1)})",
            f"{e}.add({self.int(1)})",
            f"{e}.discard({self.int(0)})",
            f"{e}.remove({self.int(0)})",
        )

    def unpack(self) -> str:
        return self.pick(
            lambda: f"{self.name('int')}, {self.name('float')} = {self.tuple(2)}",
            lambda: "i0, i1 = i1, i0",
            lambda: f"{self.name('int')}, {self.name('int')} = divmod({self.int(1)}, 7)",
            lambda: f"i0 = i1 = {self.int(2)}",
        )()

    def branch(self) -> str:
        text = f"if {self.bool(2)}:\n{self.block(1)}"
        if self.random.random() < 0.4:
            text += f"\nelif {self.bool(1)}:\n{self.block(1)}"
        return text + (f"\nelse:\n{self.block(1)}" if self.random.random() < 0.6 else "")

    def for_loop(self) -> str:
        u, w = self.new("u"), self.new("w")
        head, use = self.pick(
            (f"for {u} in range({self.pick('3', '1, 6, 2', '4, -1, -2', self.int(1) + ' % 5')})", f"i2 += {u}"),
            (f"for {u} in {self.list(1)}[:6]", f"i1 = (i1 + {u}) % 1039"),
            (f"for {u}, {w} in enumerate({self.list(1)}[:6])", f"i0 = (i0 + {u} * {w}) % 1049"),
            (f"for {u}, {w} in zip({self.list(1)}[:6], {self.floats(1)})", f"y0 += {u} * {w}"),
            (f"for {u} in {self.str(1)}[:8]", f"s0 = ({u} + s0)[:9]"),
            (f"for {u}, {w} in sorted(list({self.name('dict')}.items()))", f"i2 = (i2 * {u} + {w}) % 1051"),
            (f"for {u} in {self.array(1)}", f"y1 += {u}"),
            (f"for {u} in sorted(list({self.set(1)}))", f"l1.append({u})"),
        )
        self.loops += 1
        text = f"{head}:\n    {use}\n{self.block(2)}"
        self.loops -= 1
        return text + (f"\nelse:\n{self.block(2)}" if self.random.random() < 0.2 else "")

    def while_loop(self) -> str:
        u = self.new("c")
        self.loops += 1
        also = self.pick("and True", "or False", "or False", "and False")
        text = f"{u} = 0\nwhile {u} < {self.pick(2, 4)} {also}:\n    {u} += 1\n{self.block(2)}"
        self.loops -= 1
        return text

    def attempt(self) -> str:
        caught = self.pick("ValueError", "ZeroDivisionError", "Exception", "(KeyError, IndexError)", "IndexError", "KeyError")
        text = f"try:\n{self.block(2)}\nexcept {caught}:\n{self.block(2)}"
        if self.random.random() < 0.3:
            text += f"\nelse:\n{self.block(2)}"
        return text + (f"\nfinally:\n    i2 = (i2 + 1) % 1061\n{self.no_jump()}" if self.random.random() < 0.3 else "")

    def no_jump(self) -> str:
        return "    " + self.assign()

    def throw(self) -> str:
        return f"if {self.bool(2)}:\n    raise {self.pick('ValueError', 'KeyError', 'RuntimeError')}({self.pick(repr('bad'), '')})"

    def inner(self) -> str:
        g, u = self.new("g"), self.new("u")
        captured = self.pick("n", "k")
        body = self.pick(
            f"return ({u} * 3 - {captured}) % 1063",
            f"if {u} > 3:\n        raise ValueError('inner')\n    return {u} + {captured}",
            f"total = 0\n    for j in range({u} % 5):\n        total += j * {captured}\n    return total",
        )
        return f"def {g}({u}):\n    {body}\ni1 = {g}({self.int(1)}) % 1069"

    def generator(self) -> str:
        """An inner generator, and what asks it for values: a loop, which may be left, next(), or what collects them."""
        g, u, w, c = self.new("g"), self.new("u"), self.new("w"), self.new("c")
        body = self.pick(
            f"for {w} in range({c} % 5):\n        yield {w} * 3",
            f"{w} = 0\n    while True:\n        {w} += 1\n        if {w} > 4:\n            return\n        yield {w}\n        yield {c}",
            f"for {w} in [3, 1, {c}]:\n        if {w} == 1:\n            continue\n        yield {w}\n    yield -1",
            f"try:\n        yield 1\n        yield 10 // {c}\n        yield 2\n    finally:\n        l1.append({c})",
            f"for {w} in range(3):\n        for j in range({w}):\n            if j == {c}:\n                break\n            yield {w}",
        )
        text = f"def {g}({c}):\n    {body}\n"
        call = f"{g}({self.int(1)})"
        if self.random.random() < 0.4:
            return text + self.pick(
                f"i0 = sum({call}) % 1073",
                f"l0 = [{u} + 1 for {u} in {call} if {u} != 2]",
                f"{u} = {call}\ni1 = next({u})\ni2 = next({u})",
                f"i1 = sum([{u} * {w} for {u}, {w} in zip({self.list(1)}, {call})]) % 1087",
            )
        self.loops += 1
        text += f"for {u} in {call}:\n    i1 = (i1 * 2 + {u}) % 1091\n{self.block(2)}"
        self.loops -= 1
        return text + (f"\nelse:\n{self.block(2)}" if self.random.random() < 0.2 else "")

    def choice(self) -> str:
        return (
            f"match {self.int(1)} % 4:\n    case 0:\n{self.deeper(self.assign())}\n    case 1 | 2:\n{self.deeper(self.update())}\n"
            f"    case _:\n{self.deeper(self.mutate())}"
        )

    def deeper(self, statement: str) -> str:
        return "\n".join("        " + line for line in statement.split("\n"))


def used(statements: list[str]) -> list[str]:
    """The variables that the statements have, beside the arguments."""
    words = set(re.findall(r"\w+", "\n".join(statements)))
    return [name for name in START if name in words]


def source(statements: list[str]) -> str:
    names = used(statements)
    lines = [f"{name} = {START[name]}" for name in names]
    body = "\n".join("    " + line for line in "\n".join(lines + statements).split("\n"))
    shown = {"dict": "list({}.items())", "set": "sorted(list({}))"}
    kind_of = {name: kind for kind, all_names in NAMES.items() for name in all_names}
    results = [shown.get(kind_of[name], "{}").format(name) for name in names]
    return f"def f({', '.join(ARGUMENTS)}):\n{body}\n    return {', '.join(['n', 'x', *results])}\n"


def function(text: str, **names: Any) -> Callable[..., Any]:
    import numpy as np

    file = f"<random function {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "math": math, **names}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


def outcome(f: Callable[..., Any], given: list[Any]) -> tuple[str, Any]:
    try:
        return "", f(*given)
    except Exception as error:
        # Known: StopIteration that leaves a compiled generator stays what it is; Python's becomes a RuntimeError (PEP 479).
        if isinstance(error, RuntimeError) and isinstance(error.__cause__, StopIteration):
            error = error.__cause__
        return type(error).__name__, error


def same(e: Any, g: Any) -> bool:
    """Whether both are one value. What Python made of integers that are no int64 is anything."""
    import numpy as np

    if isinstance(e, np.ndarray):
        return isinstance(g, np.ndarray) and e.dtype == g.dtype and e.shape == g.shape and np.allclose(e, g, 1e-9, 1e-9, equal_nan=True)
    e, g = (v.item() if isinstance(v, np.generic) else v for v in (e, g))
    if isinstance(e, float):
        return isinstance(g, float) and (math.isclose(e, g, rel_tol=1e-9, abs_tol=1e-9) or (e != e and g != g))
    if type(e) is int and not -(2**63) <= e < 2**63:
        return True
    if isinstance(e, list | tuple):
        return type(e) is type(g) and len(e) == len(g) and all(same(x, y) for x, y in zip(e, g, strict=True))
    return type(e) is type(g) and e == g


# Exceptions that the generator does not mean its functions to raise.
NOT_MEANT = ("OverflowError", "MemoryError", "RecursionError")


def is_fault(refusal: str) -> bool:
    """Whether a TypingError says that the C++ of a function was refused, which is a fault of the compiler's."""
    return any(words in refusal for words in ("fault of broadcloth", "error:", "does not compile", "was refused"))


def difference(statements: list[str]) -> str | None:
    import broadcloth as bc
    from broadcloth.exceptions import TypingError

    f = function(source(statements))
    theirs, ours = arguments(), arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raised, expected = outcome(f, theirs)
        if raised in NOT_MEANT:
            return None
        failed, got = outcome(bc.njit(f, boundscheck=True), ours)
    if isinstance(got, TypingError):
        text = str(got)
        if is_fault(text):
            return f"the C++ compiler refuses: {text[:1500]}"
        if REFUSED is not None:
            REFUSED.append(text)
        return None
    if raised != failed:
        return f"raises {failed or 'nothing'} ({got!r}), Python {raised or 'nothing'} ({expected!r})"[:1500]
    if not raised:
        names = ["n", "x", *used(statements)]
        for name, e, g in zip(names, expected, got, strict=True):
            if not same(e, g):
                return f"{name} is {g!r}, Python's {e!r}"
    for name, e, g in zip(ARGUMENTS, theirs, ours, strict=True):
        if not same(e, g):
            return f"leaves {g!r} in {name}, Python {e!r}"
    return None


TOGETHER = 12  # functions in one compiled text


def called_together(functions: list[Callable[..., Any]], raised: list[str]) -> Callable[..., Any]:
    """A function that calls all of them, each with arguments of its own, and gives their results, or the names of what they raise."""
    import broadcloth as bc

    lines, results, parameters = [], [], []
    for k, expected in enumerate(raised):
        given = [f"{name}{k}" for name in ARGUMENTS]
        parameters += given
        call = f"f{k}({', '.join(given)})"
        if expected:
            lines += [f"r{k} = ''", "try:", f"    {call}", f"except {expected}:", f"    r{k} = '{expected}'"]
        else:
            lines.append(f"r{k} = {call}")
        results.append(f"r{k}")
    body = "\n".join("    " + line for line in [*lines, f"return ({', '.join(results)},)"])
    names = {f"f{k}": bc.njit(f, boundscheck=True) for k, f in enumerate(functions)}
    return function(f"def f({', '.join(parameters)}):\n{body}\n", **names)


def all_right(seeds: list[int]) -> bool:
    """Whether the functions of these seeds, compiled in one text, do what Python does. Those that are refused are not looked at."""
    import broadcloth as bc
    from broadcloth.exceptions import TypingError

    cases = []
    for seed in seeds:
        statements, given = make(seed), arguments()
        f = function(source(statements))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raised, expected = outcome(f, given)
        if raised not in NOT_MEANT:
            cases.append((f, raised, expected, given))
    while cases:
        ours = [arguments() for _ in cases]
        f = called_together([case[0] for case in cases], [case[1] for case in cases])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = bc.njit(f, boundscheck=True)(*(v for given in ours for v in given))
        except TypingError as error:
            refused = [k for k, case in enumerate(cases) if case[0].__code__.co_filename in str(error)]
            if not refused or is_fault(str(error)):
                return False
            if REFUSED is not None:
                REFUSED.append(str(error))
            cases = [case for k, case in enumerate(cases) if k not in refused]
            continue
        except Exception:
            return False
        expected = [case[1] or case[2] for case in cases]
        return same(expected, list(results)) and same([case[3] for case in cases], ours)
    return True


REFUSED: list[str] | None = None  # the words of what was refused, where they are asked for


def make(seed: int) -> list[str]:
    return Maker(seed).statements


def wrong(statements: list[str], seed: int | None, run: Run) -> str | None:
    try:
        return difference(copy.copy(statements))
    except SyntaxError as error:
        return None if seed is None else f"the generator makes no function: {error}"


PROGRAMS = Programs(__file__, make, wrong, ["# a function of " + ", ".join(ARGUMENTS)], all_right=all_right, together=TOGETHER)
check, check_all = PROGRAMS.check, PROGRAMS.check_all

if __name__ == "__main__":
    sys.exit(PROGRAMS.main(__doc__))
