"""Random functions, compiled by `njit` and run by Python: values, their types, exceptions and what is left in the arguments must agree.

A function has variables of numbers, texts, tuples, lists, dictionaries, sets and arrays; statements assign, loop, branch, call inner
functions, raise and catch. Integers stay small, since Python's have no bounds. A `TypingError` is no difference.

`python tests/jit_programs.py --seed N --show` runs one, `--start N --count M` a range.
"""

# ruff: noqa: E501 - statements that are made are long
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
    "complex": ("z0",),
    "texts": ("ts0",),
    "words": ("h0",),
    "pairs": ("r0",),
    "nested": ("ll0",),
    "groups": ("dl0",),
    "letters": ("es0",),
}
START = {
    "i0": "1", "i1": "n + 2", "i2": "-3", "y0": "0.5", "y1": "x * 2.0", "q0": "n > 2", "q1": "False", "s0": "'ab'", "s1": "t + 'c'",
    "l0": "[1, 2, 3]", "l1": "[n, k]", "f0": "[x, 1.5]", "p0": "(1, 2.5)", "p1": "(n, x)", "d0": "{1: 10, 2: 20}", "e0": "{1, 2}",
    "v0": "a * 2.0", "v1": "np.zeros(4)", "w0": "np.arange(5)", "m0": "np.arange(6.0).reshape(2, 3)",
    "z0": "complex(x, 1.0)", "ts0": "['b', t, 'ab']", "h0": "{'a': 1, t: n}", "r0": "[(1, 2.5), (n, x), (1, -0.5)]",
    "ll0": "[[1, 2], [n]]", "dl0": "{1: [1], 2: [n, k]}", "es0": "{'a', t}",
}  # fmt: skip

GLOBALS: dict[str, Any] = {"COUNT": 4, "RATE": 0.75, "TITLE": "alpha", "PAIR": (3, -2), "FLAG": True}


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
        self.statements = [self.guarded() for _ in range(self.random.randint(1, 7))]

    def guarded(self) -> str:
        """A statement; often one whose exception ends it alone, so that what follows runs too."""
        text = self.statement(0)
        if "RESULT" in text or self.random.random() < 0.5:
            return text
        body = "\n".join("    " + line for line in text.split("\n"))
        return f"try:\n{body}\nexcept (ValueError, KeyError, IndexError, AssertionError, ZeroDivisionError):\n    i2 += 1"

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
            lambda: self.pick("COUNT", "PAIR[0]", "PAIR[1]", "len(TITLE)", "int(FLAG)"),
            lambda: f"len({self.of(self.pick('texts', 'words', 'pairs', 'nested', 'groups', 'letters', 'matrix'), e)})",
            lambda: f"{self.name('words')}.get({self.str(e)}, {i(0)})",
            lambda: f"{self.name('words')}[{self.str(0)}]",
            lambda: f"{self.name('nested')}[{self.index(0)}][{self.index(0)}]",
            lambda: f"sum([len({(u := self.new('u'))}) * 2 for {u} in {self.nested(e)}])",
            lambda: f"sum({self.name('groups')}.get({i(0)}, {self.list(0)})) % 1103",
            lambda: f"sum({self.list(e)}, {i(0)}) % 1109",
            lambda: f"{self.list(e)}.index({i(0)})",
            lambda: f"{self.str(e)}.{self.pick('count', 'rfind', 'index', 'find')}({self.str(0)})",
            lambda: f"int(str({i(e)}))",
            lambda: f"int({self.str(0)})",
            lambda: f"math.{self.pick('floor', 'ceil', 'trunc')}({self.float(e)}) % 983",
            lambda: f"({i(e)} if {self.name('words')}.get({self.str(0)}) is None else {i(e)})",
            lambda: f"(lambda u, *, w={i(0)}: u - w)({i(e)}{self.pick('', ', w=2')}) % 1117",
            lambda: f"{self.name('ints')}.shape[0] - {self.name('matrix')}.{self.pick('size', 'ndim', 'shape[1]')}",
            lambda: f"({self.int(0)} if not {self.of(self.pick('list', 'str', 'set', 'dict', 'texts', 'int', 'float'), e)} else {i(e)})",
            lambda: f"int(np.{self.pick('argmin', 'count_nonzero')}({self.name('ints')}))",
            lambda: f"{self.pick('max', 'min')}({self.list(e)}, key={self.pick('abs', 'lambda u: u % 5', 'lambda u: (u % 3, -u)')})",
            lambda: f"{self.pick('max', 'min')}({self.of(self.pick('list', 'values', 'set'), e)}, default={i(0)})",
            lambda: f"{self.pick('max', 'min')}({i(e)}, {i(e)}, 7, key=lambda u: -u % 11)",
            lambda: f"pow({i(e)}, {i(0)}, {self.pick('7', '-10', i(0))})",
            lambda: f"({i(e)}).bit_length()",
        )()

    def complex(self, d: int) -> str:
        if d <= 0:
            return self.pick(self.name("complex"), "1j", "(2 - 0.5j)")
        z, e = self.complex, d - 1
        return self.pick(
            lambda: f"({z(e)} {self.pick('+', '-', '*')} {self.of(self.pick('complex', 'float', 'int'), e)})",
            lambda: f"({z(e)} / {self.pick('2', '(1 + 1j)', self.int(0))})",
            lambda: f"{z(e)}.conjugate()",
            lambda: f"complex({self.float(e)}, {self.float(e)})",
            lambda: f"(-{z(e)})",
            lambda: f"({z(0)} ** 2)",
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
            lambda: self.pick("RATE", "RATE * COUNT", "float(PAIR[0])"),
            lambda: f"{self.complex(e)}.{self.pick('real', 'imag')}",
            lambda: f"abs({self.complex(e)})",
            lambda: f"{self.name('pairs')}[{self.index(0)}][1]",
            lambda: f"float(sum([r[1] for r in {self.pairs(e)}]))",
            lambda: f"float({self.pick(repr('1.5'), repr(' -2e3 '), self.str(0))})",
            lambda: f"math.{self.pick('copysign', 'hypot', 'atan2')}({f(e)}, {f(e)})",
            lambda: f"math.fmod({f(e)}, {self.pick('2.0', '-1.5')})",
            lambda: f"divmod({f(e)}, {self.pick('2.0', '-1.5', '3')})[{self.pick(0, 1)}]",
            lambda: f"float(np.dot({self.name('matrix')}, {self.name('matrix')}.T)[{self.pick('0, 1', '1, 1')}])",
            lambda: f"float(np.{self.pick('max', 'mean', 'sum', 'prod')}({self.matrix(e)}))",
            lambda: f"({self.array(0)}.shape[0] * 1.5)",
            lambda: f"{self.pick('min', 'max')}({f(e)}, {f(e)}, {f(0)})",
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
            lambda: f"{self.str(e)}.{self.pick('isalpha', 'islower', 'isdigit', 'isupper', 'isspace', 'isalnum', 'istitle')}()",
            lambda: f"({self.int(e)} not in {self.of(self.pick('list', 'set', 'dict'), e)})",
            lambda: f"({self.str(e)} in {self.of(self.pick('texts', 'words', 'letters'), e)})",
            lambda: f"{self.str(e)}.{self.pick('startswith', 'endswith')}(({self.str(0)}, 'x'))",
            lambda: f"({self.name('set')}.{self.pick('issubset', 'issuperset', 'isdisjoint')}({self.set(e)}))",
            lambda: f"({self.set(e)} {self.pick('<=', '<', '==', '!=', '>')} {self.set(e)})",
            lambda: f"({self.dict(e)} {self.pick('==', '!=')} {self.dict(e)})",
            lambda: f"({self.pairs(e)} {self.pick('==', '<')} {self.pairs(0)})",
            lambda: f"({self.texts(e)} {self.pick('==', '<')} {self.texts(0)})",
            lambda: f"({self.nested(e)} {self.pick('==', '!=')} {self.nested(0)})",
            lambda: f"({self.complex(e)} {self.pick('==', '!=')} {self.complex(0)})",
            lambda: f"math.{self.pick('isnan', 'isinf')}({self.float(e)})",
            lambda: f"({self.float(e)}).is_integer()",
            lambda: f"np.{self.pick('any', 'all')}({self.name('array')} > {self.float(0)})",
            lambda: f"({self.int(e)} in {self.list(0)}[{self.slice(0)}])",
            lambda: f"({self.name('words')}.get({self.str(0)}) is {self.pick('None', 'not None')})",
            lambda: "FLAG",
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
            lambda: f"TITLE[{self.slice(e)}]",
            lambda: f"{self.name('texts')}[{self.index(0)}]",
            lambda: f"{s(e)}.{self.pick('lstrip', 'rstrip', 'strip')}({self.pick(repr('l'), repr('ho*'), '')})",
            lambda: f"{s(e)}.{self.pick('ljust', 'rjust', 'zfill')}({self.pick('7', '3')})[:9]",
            lambda: f"{s(e)}.{self.pick('removeprefix', 'removesuffix')}({self.str(0)})",
            lambda: f"{s(e)}.replace({self.str(0)}, {s(0)}, {self.pick(1, 2)})[:15]",
            lambda: f"{self.pick(repr('-'), repr(''), s(0))}.join({self.texts(e)})[:20]",
            lambda: f"''.join([{(u := self.new('u'))} for {u} in {s(e)} if {u} != {self.pick(repr('l'), repr('a'))}])",
            lambda: f"''.join(sorted({s(e)}))",
            lambda: f"''.join(reversed({s(e)}))",
            lambda: f"{s(e)}.{self.pick('partition', 'rpartition')}({self.pick(repr('l'), repr('a'))})[{self.pick(0, 1, 2)}]",
            lambda: (
                f"{self.spec(self.name('float'), ('.3f', 'e', '.2e', 'g', '8.3f', '+.1f', '<9.2f', '^9.1f', '%', '.1%', '012.4f', 'n'))}"
            ),
            lambda: (
                f"{self.spec(self.name('int'), ('d', '+d', 'x', 'o', 'b', '#x', '5', '<5', '^7', ',', '05d', '_', '*>6', 'c', '8.2f', '%'))}"
            ),
            lambda: f"{self.spec(self.str(0), ('8', '>8', '^9', '*<7', '.2', '>6.3', 's'))}",
            lambda: f"f'{{{self.of(self.pick('bool', 'list', 'tuple', 'complex', 'texts', 'pairs', 'nested'), 0)}}}'",
            lambda: f"f'{{{self.name('int')}=}} {{{self.name('float')}:{{{self.pick('8', 'COUNT')}}}.2f}}'",
            lambda: f"str({self.of(self.pick('complex', 'texts', 'pairs', 'nested'), e)})[:30]",
            lambda: f"repr({self.of(self.pick('str', 'texts', 'float', 'tuple'), e)})[:30]",
            lambda: (
                f"'{self.pick('%d', '%5d|', '%+d', '%-4d|', '%x', '%05d')} %s' % ({self.int(e)}, {self.of(self.pick('str', 'list', 'bool'), e)})"
            ),
            lambda: f"'{self.pick('%.2f', '%8.3f', '%e', '%g', '%s', '%-9.1f|')}' % {self.float(e)}",
            lambda: f"'{{:{self.pick('>6', 'd', '04d')}}} {{u}}'.format({self.int(e)}, u={self.str(0)})",
            lambda: f"format({self.int(e)}, {self.pick(repr('x'), repr('05d'), repr('>6'))})",
            lambda: f"{self.pick('hex', 'bin', 'oct')}({self.int(e)})",
            lambda: f"max({self.texts(e)}, key=len)",
        )()

    def spec(self, value: str, specs: tuple[str, ...]) -> str:
        """A value under one of the format specifications."""
        how = self.random.choice(specs)
        return f'f"{{{value}:{how}}}"'

    def texts(self, d: int) -> str:
        if d <= 0:
            return self.name("texts")
        e = d - 1
        return self.pick(
            lambda: f"[{self.str(e)}, {self.str(e)}]",
            lambda: f"{self.str(e)}.split({self.pick('', repr('l'), repr('a'))})",
            lambda: f"({self.str(e)} + ' b,c').{self.pick('split', 'rsplit')}({self.pick(repr(','), repr(' '))}, 1)",
            lambda: f"list({self.str(e)})",
            lambda: f"sorted({self.texts(e)}{self.pick('', ', reverse=True', ', key=len', ', key=lambda u: (len(u), u)')})",
            lambda: f"[{(u := self.new('u'))}.upper() for {u} in {self.texts(e)}]",
            lambda: f"[str({(u := self.new('u'))}) for {u} in {self.list(e)}]",
            lambda: f"({self.texts(e)} + {self.texts(0)})[:6]",
            lambda: f"{self.texts(e)}[{self.slice(0)}]",
            lambda: f"sorted({self.pick(self.words(e), self.letters(e))})",
            lambda: f"[f'{{{(u := self.new('u'))}}}:{{{(w := self.new('w'))}}}' for {u}, {w} in {self.pairs(e)}]",
        )()

    def words(self, d: int) -> str:
        if d <= 0:
            return self.name("words")
        return self.pick(
            lambda: f"{{{self.str(d - 1)}: {self.int(d - 1)}, {self.str(0)}: {self.int(0)}}}",
            lambda: f"{{{(u := self.new('u'))}: len({u}) for {u} in {self.texts(d - 1)}}}",
            lambda: f"{{{(u := self.new('u'))}: {(w := self.new('w'))} for {w}, {u} in enumerate({self.str(d - 1)})}}",
            lambda: f"dict(zip({self.texts(d - 1)}, {self.list(d - 1)}))",
            lambda: (
                f"{{{(u := self.new('u'))}: {(w := self.new('w'))} * 2 for {u}, {w} in {self.name('words')}.items() if {w} > {self.int(0)}}}"
            ),
        )()

    def letters(self, d: int) -> str:
        if d <= 0:
            return self.name("letters")
        return self.pick(
            lambda: f"{{{self.str(d - 1)}, {self.str(0)}}}",
            lambda: f"set({self.pick(self.str(d - 1), self.texts(d - 1))})",
            lambda: f"{{{(u := self.new('u'))}[:1] for {u} in {self.texts(d - 1)}}}",
            lambda: f"({self.letters(d - 1)} {self.pick('|', '&', '-', '^')} {self.letters(d - 1)})",
        )()

    def pairs(self, d: int) -> str:
        if d <= 0:
            return self.name("pairs")
        return self.pick(
            lambda: f"[{self.tuple(d - 1)}, {self.tuple(0)}]",
            lambda: f"list(zip({self.list(d - 1)}, {self.floats(d - 1)}))",
            lambda: f"[({(u := self.new('u'))}, {u} / 2) for {u} in {self.list(d - 1)}]",
            lambda: (
                f"sorted({self.pairs(d - 1)}{self.pick('', ', reverse=True', ', key=lambda r: r[1]', ', key=lambda r: (-r[1], r[0])')})"
            ),
            lambda: f"{self.pairs(d - 1)}[{self.slice(0)}]",
            lambda: f"[({(u := self.new('u'))} % 5, {(w := self.new('w'))} + 1.0) for {u}, {w} in {self.pairs(d - 1)}]",
            lambda: f"list(enumerate({self.floats(d - 1)}{self.pick('', ', 3')}))",
        )()

    def nested(self, d: int) -> str:
        if d <= 0:
            return self.name("nested")
        return self.pick(
            lambda: f"[{self.list(d - 1)}, {self.list(0)}]",
            lambda: (
                f"[[{(u := self.new('u'))} * {(w := self.new('w'))} for {u} in {self.list(d - 1)}] for {w} in range({self.pick(2, 3)})]"
            ),
            lambda: f"[{(u := self.new('u'))}[{self.slice(0)}] for {u} in {self.nested(d - 1)}]",
            lambda: f"{self.nested(d - 1)}[{self.slice(0)}]",
            lambda: f"[sorted({(u := self.new('u'))}) for {u} in {self.nested(d - 1)}]",
            lambda: f"[list({(u := self.new('u'))}) for {u} in zip({self.list(d - 1)}, {self.list(0)})]",
            lambda: f"sorted({self.nested(d - 1)}, key=len)",
        )()

    def groups(self, d: int) -> str:
        if d <= 0:
            return self.name("groups")
        return self.pick(
            lambda: f"{{{self.int(d - 1)}: {self.list(d - 1)}}}",
            lambda: f"{{{(u := self.new('u'))}: [{u}, {self.int(0)}] for {u} in {self.list(d - 1)}}}",
            lambda: f"{{len({(u := self.new('u'))}): {u} for {u} in {self.nested(d - 1)}}}",
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
            lambda: f"[u for w in {self.nested(e)} for u in w][:9]",
            lambda: f"{self.name('nested')}[{self.index(0)}]",
            lambda: f"{self.name('groups')}[{self.int(0)}]",
            lambda: f"[len(u) for u in {self.texts(e)}]",
            lambda: f"[ord(u) - 96 for u in {self.str(e)}]",
            lambda: f"list({self.pick(self.dict(e), self.words(e))}.values())",
            lambda: f"list(map(lambda u: u + {self.int(0)}, {self.list(e)}))",
            lambda: f"list(filter(lambda u: u > {self.int(0)}, {self.list(e)}))",
            lambda: f"[u + w for u in {self.list(e)}[:3] for w in range(u % 3) if w != {self.int(0)}]",
            lambda: f"[(u if u > {self.int(0)} else -u) for u in {self.list(e)}]",
            lambda: f"({self.list(e)} if {self.bool(e)} else {self.list(0)})",
            lambda: f"({self.name('ints')}[:3] * 2).tolist()",
            lambda: f"[*{self.list(e)}, {self.int(e)}]",
            lambda: f"[*{self.of(self.pick('list', 'values'), e)}, *{self.list(0)}, *(1, 2)][:9]",
            lambda: f"[*sorted({self.set(e)}), *{self.list(0)}, *(1, 2)][:9]",  # the order of a set means nothing
            lambda: f"[int(u) for u in {self.ints(e)}]",
            lambda: f"list({self.name('array')}.shape)",
            lambda: f"[u[0] for u in {self.pairs(e)}]",
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
        g, u, c = self.new("g"), self.new("u"), self.new("c")
        use = self.pick(
            f"i0 = next({g}, -1)\n{self.assign()}\nl0 = list({g})",
            f"q0 = any({u} > {self.int(0)} for {u} in {g})\nl1 = [{u} + 1 for {u} in {g}]",
            f"{self.mutate()}\ni1 = sum({g}) % 1093\ni2 = sum({g})",
            # The body may lengthen the list that is walked over.
            f"{c} = 0\nfor {u} in {g}:\n    {c} += 1\n    if {c} > 6 or {u} > {self.int(0)}:\n        break\n    i0 = (i0 + {u}) % 1097\n"
            f"{self.block(2)}\ni1 = next({g}, 5)",
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
            lambda: f"{{w: u for u, w in enumerate({self.list(d - 1)})}}",
            lambda: f"{{u: u % w for u, w in zip({self.list(d - 1)}, {self.list(d - 1)})}}",
            lambda: f"({self.dict(d - 1)} | {self.dict(0)})",
            lambda: f"{{**{self.dict(d - 1)}, {self.int(0)}: {self.int(d - 1)}}}",
            lambda: f"{self.dict(d - 1)}.copy()",
            lambda: f"dict({self.dict(d - 1)})",
            lambda: f"dict(zip({self.list(d - 1)}, {self.list(0)}))",
        )()

    def set(self, d: int) -> str:
        if d <= 0:
            return self.name("set")
        return self.pick(
            lambda: f"{{{self.int(d - 1)}, {self.int(d - 1)}}}",
            lambda: f"set({self.list(d - 1)})",
            lambda: f"({self.set(d - 1)} {self.pick('|', '&', '-', '^')} {self.set(d - 1)})",
            lambda: f"{{u % 5 for u in {self.list(d - 1)}}}",
            lambda: f"{{*{self.list(d - 1)}, {self.int(d - 1)}}}",
            lambda: f"{{u * w for u, w in zip({self.list(d - 1)}, {self.list(0)}) if u != w}}",
            lambda: f"set({self.pick(self.dict(d - 1), 'range(' + self.int(0) + ' % 6)', 'PAIR')})",
            lambda: f"{self.set(d - 1)}.{self.pick('union', 'difference', 'intersection', 'symmetric_difference')}({self.set(0)})",
            lambda: f"{self.set(d - 1)}.copy()",
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
            lambda: f"{self.name('array')}[{self.slice(0)}]",  # a view
            lambda: f"{self.name('matrix')}{self.pick('[0]', '[:, 1]', '[-1, ::-1]', '.T[0]')}",
            lambda: f"{self.name('array')}[np.array([0, -1, {self.pick('1', '0')}])]",
            lambda: f"np.concatenate(({a(e)}, {a(0)}))[:8]",
            lambda: f"np.append({a(e)}, {self.float(0)})[:8]",
            lambda: f"np.{self.pick('zeros_like', 'ones_like', 'diff', 'cumprod')}({a(e)})",
            lambda: f"np.full({self.pick('3', '5')}, {self.float(0)})",
            lambda: f"np.{self.pick('minimum', 'maximum')}({a(e)}, {self.float(0)})",
            lambda: f"np.clip({a(e)}, -1.0, {self.pick('2.0', 'RATE')})",
            lambda: f"({a(e)} {self.pick('/', '//', '%', '**')} {self.pick('2.0', '2')})",
            lambda: f"np.dot({self.name('matrix')}, np.array([1.0, {self.float(0)}, -1.0]))",
            lambda: f"{self.name('matrix')}.{self.pick('mean', 'max', 'min', 'sum')}({self.pick('0', '1', 'axis=1')})",
            lambda: f"({self.name('matrix')} * {self.name('matrix')}[{self.pick('0', '1')}])[{self.pick('0', '1')}]",
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
            lambda: f"{self.name('ints')}[{self.slice(0)}]",  # a view
            lambda: f"np.where({self.name('array')} > {self.float(0)})[0]",
            lambda: f"np.argsort({self.name('ints')}, kind='stable')",
            lambda: f"np.{self.pick('zeros', 'ones')}({self.pick('3', '4')}, dtype=np.int64)",
            lambda: f"({self.ints(d - 1)} {self.pick('&', '|', '^')} {self.pick('3', '6')})",
            lambda: f"np.nonzero({self.name('ints')})[0]",
            lambda: f"{self.name('ints')}[{self.name('ints')} % 2 == 0]",
            lambda: f"np.bincount(np.abs({self.name('ints')}[:4]))",
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
            lambda: f"np.array([[{self.float(0)}, 1.0, 2.0], [0.5, {self.float(0)}, {self.float(0)}]])",
            lambda: f"np.outer(np.array([1.0, {self.float(0)}]), np.array([2.0, 0.5, {self.float(0)}]))",
            lambda: f"np.vstack(({self.name('matrix')}[0], {self.name('matrix')}[-1]))",
            lambda: f"np.where({self.name('matrix')} > {self.float(0)}, {self.name('matrix')}, {self.float(0)})",
            lambda: f"np.{self.pick('zeros', 'ones')}((2, 3))",
            lambda: f"np.reshape({self.name('matrix')}, (3, 2)).T",
            lambda: f"({m(d - 1)} - {self.name('matrix')}.mean(axis=0))",
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
            simple += [self.generator, self.lazy, self.choice, self.closure, self.closure, self.cleanup, self.walrus, self.matched]
            simple += [self.leave, self.nested_loops, self.check, self.maybe]
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
            lambda: f"{self.name('int')} {self.pick('&=', '|=', '^=', '%=')} {self.pick('7', '12', '5')}",
            lambda: f"{self.name('array')}[{self.pick('1:3', '::2', ':', '-2:', '::-1', '1:', ':-1')}] {self.augment()} {self.float(1)}",
            lambda: f"{(v := self.name('array'))}[1:] {self.pick('+=', '-=', '*=', '=')} {v}[:-1]",
            lambda: f"{(v := self.name('array'))}[:] {self.pick('+=', '-=', '=')} {v}[::-1]",
            lambda: (
                f"{self.name('array')}[{self.pick('0', '-1', '1')}] {self.pick('+=', '-=', '*=')} {self.float(1)}"
            ),  # NumPy's numbers divide by zero
            lambda: (
                f"{self.name('ints')}[{self.pick('0', '-1', '1:3', '::2')}] {self.pick('+=', '-=', '//=', '%=')} {self.pick('3', '-2')}"
            ),
            lambda: f"{self.name('matrix')}[0, 1] {self.pick('+=', '-=', '*=')} {self.float(1)}",
            lambda: f"{self.name('matrix')}[{self.pick('1', ':, 0', ':, ::2', '-1, 1:')}] {self.augment()} {self.float(1)}",
            lambda: f"{self.name('matrix')}[{self.pick('0', '1')}] += {self.name('matrix')}[{self.pick('0', '1')}]",
            lambda: f"{(v := self.name('array'))}[{v} {self.pick('>', '<')} {self.float(0)}] {self.augment()} {self.float(0)}",
            lambda: f"{self.name('array')} {self.augment()} {self.name('array')}",
            lambda: f"{self.name('list')}[{self.index(1)}] {self.pick('+=', '-=', '//=')} {self.int(1)}",
            lambda: f"{self.name('dict')}[{self.int(0)}] {self.pick('+=', '-=')} {self.int(1)}",
            lambda: f"{self.name('words')}[{self.str(0)}] += {self.int(1)}",
            lambda: f"{self.name('list')} += [{self.int(1)}, {self.int(0)}]",
            lambda: f"{(v := self.name('list'))} += {v}[:2]",
            lambda: f"{self.name('str')} += {self.str(1)}[:3]",
            lambda: f"{self.name('set')} {self.pick('|=', '&=', '-=', '^=')} {self.set(1)}",
            lambda: f"{self.name('dict')} |= {self.dict(1)}",
            lambda: f"{self.name('complex')} {self.pick('+=', '*=')} {self.pick('0.5', '1j', '0.25')}",
            lambda: f"{self.name('nested')}[{self.index(0)}] += [{self.int(0)}]",
            lambda: f"{self.name('nested')}[{self.index(0)}][{self.index(0)}] -= {self.int(0)}",
        )()

    def augment(self) -> str:
        return self.pick("+=", "-=", "*=", "/=", "//=", "%=")

    def store(self) -> str:
        return self.pick(
            lambda: f"{self.name('list')}[{self.index(1)}] = {self.int(2)}",
            lambda: f"{self.name('dict')}[{self.int(1)}] = {self.int(2)}",
            lambda: f"{self.name('array')}[{self.pick('0', '-1', '1')}] = {self.float(2)}",
            lambda: f"{self.name('array')}[{self.pick('1:3', '::2', ':', '-2:')}] = {self.float(1)}",
            lambda: f"{self.name('ints')}[{self.pick('0', '-1', '2')}] = {self.int(1)}",
            lambda: f"{self.name('matrix')}[{self.pick('0, 0', '-1, 2', ':, 1', '1', '0, ::2')}] = {self.float(1)}",
            lambda: f"{self.name('array')}[{self.name('array')} > {self.float(0)}] = {self.float(0)}",
            lambda: f"{self.name('words')}[{self.str(1)}] = {self.int(1)}",
            lambda: f"{self.name('nested')}[{self.index(0)}] = {self.list(1)}",
            lambda: f"{self.name('groups')}[{self.int(0)}] = {self.list(1)}",
            lambda: f"{self.name('pairs')}[{self.index(0)}] = {self.tuple(1)}",
            lambda: f"{self.name('texts')}[{self.index(0)}] = {self.str(1)}",
            lambda: f"{self.name('list')}[{self.slice(0)}] = {self.list(1)}",
            lambda: f"{self.name('array')}[{self.slice(0)}] = {self.array(1)}",
            lambda: f"{self.name('matrix')}[{self.pick('0', ':, 1', ':')}] = {self.array(1)}",
            lambda: f"{self.name('ints')}[np.array([0, 2])] = {self.int(1)}",
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
            f"{e}.{self.pick('update', 'difference_update', 'intersection_update')}({self.set(1)})",
            f"{l}.extend({self.pick(self.list(1), 'PAIR', 'range(2)', l + '[:2]')})",
            f"{self.name('int')} = {l}.pop({self.index(0)})",
            f"del {l}[{self.slice(0)}]",
            f"{l}.sort({self.pick('reverse=True', 'key=lambda u: -u', 'key=lambda u: u % 3')})",
            f"{self.pick(l, d, e)}.clear()",
            f"{self.name('nested')}.append({self.list(0)})",
            f"{self.name('nested')}[{self.index(0)}].append({self.int(1)})",
            f"{l} = {self.name('nested')}[{self.index(0)}]\n{l}.append({self.int(0)})",
            f"{self.name('groups')}[{self.int(0)}].append({self.int(1)})",
            f"{self.name('groups')}.setdefault({self.int(0)}, [{self.int(0)}]).append({self.int(0)})",
            f"if {(i := self.name('int'))} in {(g := self.name('groups'))}:\n    {g}[{i}].append({i})\nelse:\n    {g}[{i}] = [{i}]",
            f"{self.name('texts')}.{self.pick('append', 'remove')}({self.str(1)})",
            f"{self.name('pairs')}.{self.pick('append', 'remove')}({self.tuple(1)})",
            f"{self.name('letters')}.{self.pick('add', 'discard', 'remove')}({self.str(1)})",
            f"{self.name('int')} = {self.name('words')}.pop({self.str(0)}, {self.int(0)})",
            f"{self.name('words')}.update({self.words(1)})",
            f"del {self.name('words')}[{self.str(0)}]",
            f"{self.name('int')}, {self.name('float')} = {self.name('pairs')}.pop()",
            f"{self.name('int')}, {self.name('int')} = {d}.popitem()",
            f"{l} = {self.name('list')}\n{l}.append({self.int(0)})",
        )

    def maybe(self) -> str:
        """A value or None, and what a test tells of it."""
        h = self.new("h")
        get = self.pick(f"{self.name('dict')}.get({self.int(1)})", f"{self.name('words')}.get({self.str(1)})")
        return f"{h} = {get}\n" + self.pick(
            f"if {h} is not None and {h} > {self.int(0)}:\n    {self.name('list')}.append({h})\nelif {h} is None:\n    i1 = int({h} == i0)",
            f"if not {h}:\n    {h} = {self.int(1)}\n{self.name('list')}.append({h})",
            f"i1 = {h} if {h} is not None else {self.int(0)}\n{self.name('pairs')}.append((i1, x))",
            f"while {h} is not None:\n    {h} = {h} - 3\n    if {h} < 0:\n        {h} = None\ni1 = int({h} is None)",
            f"try:\n    i1 = ({h} + 1) % 97\nexcept TypeError:\n    {h} = 3\ni0 += {h}",
            f"l0 = [u + 1 for u in [{h}, {self.name('dict')}.get({self.int(0)})] if u is not None]",
            f"i1 = int(({h}, 1) == ({self.name('dict')}.get({self.int(0)}), 1)) + int({h} != {self.int(0)})",
        )

    def unpack(self) -> str:
        return self.pick(
            lambda: f"{self.name('int')}, {self.name('float')} = {self.tuple(2)}",
            lambda: "i0, i1 = i1, i0",
            lambda: f"{self.name('int')}, {self.name('int')} = divmod({self.int(1)}, 7)",
            lambda: f"i0 = i1 = {self.int(2)}",
            lambda: f"i0, *l0 = {self.list(1)}",
            lambda: f"*l1, i1 = {self.list(1)}",
            lambda: f"i0, *l0, i1 = {self.pick(self.list(1), 'PAIR', '(n, k, 3, 4)', 'range(4)')}",
            lambda: f"i0, i1 = {self.list(1)}",
            lambda: f"(i0, y0), i1 = {self.tuple(1)}, {self.int(1)}",
            lambda: f"i0, (i1, y1), s0 = {self.int(1)}, {self.tuple(1)}, {self.str(1)}",
            lambda: f"s0, i2, s1 = {self.str(1)}.partition('l')[0], n, {self.str(1)}",
            lambda: f"s0, _, s1 = {self.str(1)}.partition('l')",
            lambda: f"{self.name('list')}[0], {self.name('list')}[-1] = {self.int(1)}, {self.int(1)}",
            lambda: f"{self.name('array')}[0], {self.name('array')}[-1] = {self.float(1)}, {self.float(1)}",
            lambda: f"i0, {self.name('list')}[i0 % 2] = {self.int(1)}, {self.int(1)}",
            lambda: "v0, v1 = v1, v0",
            lambda: (
                f"for {(u := self.new('u'))} in {(l := self.name('list'))}:\n    if len({l}) < 7:\n        {l}.append({u} + 1)\n    i0 += 1"
            ),
            lambda: "l0, l1 = l1, l0",
            lambda: f"l0 = l1 = {self.list(1)}",
            lambda: f"i0, i1 = {self.name('matrix')}.shape",
            lambda: "i0, i1, i2 = i1, i2, i0",
            lambda: f"i0, i1 = sorted(({self.int(1)}, {self.int(1)}))",
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
            (f"for {u}, ({w}, s0) in enumerate(zip({self.list(1)}[:5], {self.str(1)}))", f"i0 = (i0 + {u} * {w}) % 1123"),
            (f"for {u}, {w} in {self.pairs(1)}[:6]", f"y0 += {u} - {w}"),
            (f"for {u}, {w} in {self.words(1)}.items()", f"s1 = ({u} + s1)[:9]\n    i2 = (i2 * 3 + {w}) % 1129"),
            (f"for {u} in {self.name('dict')}", f"i0 = (i0 * 2 + {u}) % 1151"),
            (f"for {u} in {self.name('dict')}.{self.pick('values', 'keys')}()", f"i0 = (i0 * 2 + {u}) % 1151"),
            (f"for {u} in {self.nested(1)}[:4]", f"{u}.append(len({u}))\n    i1 += sum({u})"),
            (f"for {u} in {self.texts(1)}[:5]", f"s0 = ({u}[:2] + s0)[:8]"),
            (f"for {u} in {self.name('matrix')}", f"{u} *= 2.0\n    y1 += {u}[0]"),
            (f"for {u}, {w} in enumerate({self.name('array')})", f"{self.name('array')}[{u}] = {w} * 0.5"),
            (f"for {u} in reversed(range({self.int(1)} % 5))", f"{u} = {u} * 2\n    i2 += {u}"),
            (f"for {u} in range(len({(l := self.name('list'))}))", f"{l}[{u}] += {u}"),
            (f"for i0 in range({self.pick('3', '1, 6, 2', '0')})", "i1 += i0"),
            (f"for i0, y0 in {self.pairs(0)}", "i1 += i0"),
            (f"for {u} in PAIR", f"i1 += {u}"),
            (f"for {u} in ({self.int(1)}, {self.int(0)}, 3)", f"i1 += {u}"),
            (f"for {u}, {w} in ((1, 2.5), (n, x))", f"y1 += {u} * {w}"),
            (f"for {u} in TITLE[{self.slice(0)}]", f"s1 = ({u} + s1)[:9]"),
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
        return text + (f"\nelse:\n{self.block(2)}" if self.random.random() < 0.4 else "")

    def nested_loops(self) -> str:
        u, w, c = self.new("u"), self.new("w"), self.new("c")
        stop = self.pick(f"{u} * {w} == {self.int(0)}", f"{w} > {u}", self.bool(1))
        return (
            f"{c} = 0\nfor {u} in range(4):\n    for {w} in {self.pick('range(3)', self.list(0) + '[:4]')}:\n        if {stop}:\n"
            f"            {self.pick('break', 'continue')}\n        {c} += {u} + {w}\n    else:\n        {c} += 10\n"
            f"        {self.pick('continue', 'pass', 'i0 += 1')}\n    if {c} > {self.pick('8', '20')}:\n        break\n"
            f"else:\n    {c} -= 100\ni1 = (i1 + {c}) % 1153"
        )

    def leave(self) -> str:
        """A return before the end; `RESULT` stands for what the function returns."""
        return self.pick(
            lambda: f"if {self.bool(2)}:\n    return RESULT",
            lambda: (
                f"try:\n    if {self.bool(1)}:\n        return RESULT\n{self.block(2)}\nfinally:\n    l0.append({self.int(0)})\n{self.no_jump()}"
            ),
            lambda: (
                f"for {self.new('u')} in range(3):\n    try:\n        if {self.bool(1)}:\n            return RESULT\n    finally:\n        i0 += 1"
            ),
        )()

    def cleanup(self) -> str:
        """try with finally in a loop, left in each way."""
        u = self.new("u")
        way = self.pick("break", "continue", "raise ValueError('own: left')", f"i0 = 1 // {self.int(0)}", "pass", "return RESULT")
        inner = f"        try:\n            if {self.bool(1)}:\n                {way}\n            i0 += {u}\n"
        if self.random.random() < 0.5:
            inner += f"        except {self.pick('ValueError', 'ZeroDivisionError', 'Exception')}:\n            i1 -= 1\n"
            inner += f"            {self.pick('continue', 'break', 'raise', 'pass', 'i2 += 1')}\n"
            if self.random.random() < 0.4:
                inner += f"        else:\n            i1 += {u}\n"
        inner += f"        finally:\n            i2 = (i2 * 2 + {u}) % 1163\n"
        if self.random.random() < 0.3:
            inner += f"            if {self.bool(0)}:\n                {self.pick('break', 'continue', 'i0 += 1')}\n"
        text = f"for {u} in range({self.pick(2, 3)}):\n" + "\n".join(line[4:] for line in inner.rstrip().split("\n"))
        text += "\n    i1 += 2"
        return text + ("\nelse:\n    i1 += 50" if self.random.random() < 0.4 else "")

    def walrus(self) -> str:
        u = self.new("u")
        return self.pick(
            lambda: f"if ({u} := {self.int(2)}) > {self.int(0)}:\n    i0 = {u}\nelse:\n    i1 = {u}",
            lambda: f"{u} = 0\nwhile ({u} := {u} + 2) < {self.pick(5, 7)}:\n    i0 += {u}",
            lambda: f"l0 = [{u} for {self.new('w')} in range(3) if ({u} := {self.int(1)}) != {self.int(0)}]",
            lambda: f"i0 = ({u} := {self.int(1)}) + {u}",
        )()

    def check(self) -> str:
        return f"assert {self.bool(2)}{self.pick('', ', ' + repr('own: no'))}"

    def matched(self) -> str:
        return self.pick(
            lambda: (
                f"match {self.int(1)} % 5, {self.str(1)}:\n    case 0, _:\n{self.deeper(self.assign())}\n    case i0, 'l' | 'xyz':\n"
                f"{self.deeper(self.update())}\n    case i1, s0 if i1 > {self.int(0)}:\n{self.deeper(self.mutate())}\n    case _:\n        i2 += 1"
            ),
            lambda: (
                f"match {self.str(1)}:\n    case 'hello':\n        i0 = 1\n    case '' | 'l':\n        i0 = 2\n    case s1:\n        i0 = len(s1)"
            ),
            lambda: f"match {self.tuple(1)}:\n    case (1, y0):\n        i0 = 3\n    case (i1, y1):\n        i0 = 4",
        )()

    def closure(self) -> str:
        """Inner functions: defaults, keyword-only and starred parameters, functions in functions, recursion, functions as arguments."""
        g, h, u, w = self.new("g"), self.new("h"), self.new("u"), self.new("w")
        call = lambda *forms: self.pick(*forms)  # noqa: E731
        i = lambda: self.int(1)  # noqa: E731
        return self.pick(
            lambda: (
                f"def {g}({u}, {w}=3, *, c={self.int(0)}):\n    return ({u} * {w} - c) % 1171\ni0 = "
                + call(
                    f"{g}({i()})", f"{g}({i()}, {i()})", f"{g}({i()}, c={i()})", f"{g}({w}={i()}, {u}={i()})", f"{g}({i()}, c=1, {w}={i()})"
                )
            ),
            lambda: (
                f"def {g}({u}, *{w}):\n    return {u} + len({w}) + (sum({w}) if {w} else 0)\ni0 = "
                + call(f"{g}({i()}, {i()}, {i()}) % 1181", f"{g}(*PAIR) % 1181", f"{g}({i()}, *PAIR) % 1181", f"{g}({i()}, 2) % 1181")
            ),
            lambda: (
                f"def {g}({u}):\n    def {h}({w}):\n        return {w} * {u} + {self.pick('n', 'k', 'COUNT')}\n    return {h}({u} + 1) - {h}({i()})\n"
                f"i1 = {g}({i()}) % 1187"
            ),
            lambda: f"def {g}({u}):\n    return 1 if {u} < 2 else {u} * {g}({u} - 1)\ni1 = {g}({self.int(0)} % 7)",
            lambda: f"def {g}({u}):\n    return {u} + i0\ni1 = {g}({i()})\ni0 = {i()}\ni2 = {g}({i()})",
            lambda: (
                f"def {g}({u}):\n    {self.pick('l0', 'l1')}.append({u})\n    return len({self.pick('l0', 'l1')})\ni1 = {g}({i()}) + {g}({i()})"
            ),
            lambda: f"def {g}({u}, {w}):\n    {u}[0] += {w}\n    return {u}.sum()\ny0 = {g}({self.name('array')}, {self.float(1)})",
            lambda: f"def {g}({h}, {u}):\n    return {h}({u}) + {h}({u} + 1)\ni0 = {g}(lambda {w}: {w} * {self.pick(2, -3)}, {i()}) % 1193",
            lambda: (
                f"def {g}({u}):\n    if {u} > {self.int(0)}:\n        return {u}, 'big'\n    return -{u}, {self.str(0)}\ni1, s0 = {g}({i()})"
            ),
            lambda: (
                f"def {g}({u}):\n    try:\n        return 10 // {u}\n    except ZeroDivisionError:\n        return -1\n    finally:\n        l1.append({u})\n"
                f"i2 = {g}({i()})"
            ),
            lambda: (
                f"def {g}({u}):\n    for {w} in {u}:\n        if {w} > {self.int(0)}:\n            return {w}\n    return None\n"
                f"{h} = {g}({self.list(1)})\nif {h} is not None:\n    i0 = {h}"
            ),
            lambda: (
                f"def {g}({u}, {w}=None):\n    if {w} is None:\n        return {u}\n    return {u} + {w}\ni0 = {g}({i()}{self.pick('', ', ' + i())})"
            ),
            lambda: f"{g} = lambda {u}, {w}={self.int(0)}: ({u} - {w}) * 2\ni0 = {g}({i()}) + {g}({i()}, {w}={i()})",
            lambda: (
                f"def {g}({u}):\n    {u}.append({self.int(0)})\n    {u} = [1]\n    {u}.append(2)\n    return {u}\nl0 = {g}({self.name('list')})"
            ),
            lambda: (
                f"def {g}({u}, {w}=2):\n    while {u} > 0:\n        yield {u}\n        {u} -= {w}\nl0 = [{h} for {h} in {g}({self.pick('5', '7')}{self.pick('', ', 3')})]"
            ),
        )()

    def attempt(self) -> str:
        caught = self.pick("ValueError", "ZeroDivisionError", "Exception", "(KeyError, IndexError)", "IndexError", "KeyError")
        bound = self.random.random() < 0.3
        text = f"try:\n{self.block(2)}\nexcept {caught}{' as error' if bound else ''}:\n{self.block(2)}"
        if bound:
            text += "\n    " + self.pick("s0 = 'own' if str(error)[:4] == 'own:' else 'other'", "raise", "raise ValueError('own: again')")
        if self.random.random() < 0.2:
            text += f"\nexcept {self.pick('ZeroDivisionError', 'Exception', 'RuntimeError')}:\n{self.block(2)}"
        if self.random.random() < 0.3:
            text += f"\nelse:\n{self.block(2)}"
        return text + (f"\nfinally:\n    i2 = (i2 + 1) % 1061\n{self.no_jump()}" if self.random.random() < 0.3 else "")

    def no_jump(self) -> str:
        return "    " + self.assign()

    def throw(self) -> str:
        own = f"f'own: {{{self.name('int')}}} {{{self.name('str')}}}'"
        return (
            f"if {self.bool(2)}:\n    raise {self.pick('ValueError', 'KeyError', 'RuntimeError')}({self.pick(repr('own: bad'), own, '')})"
        )

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
            f"yield from range({c} % 4)\n    yield from [{c}, 3]\n    yield 9",
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
    shown = {"dict": "list({}.items())", "set": "sorted(list({}))", "words": "list({}.items())", "groups": "list({}.items())"}
    shown["letters"] = shown["set"]
    kind_of = {name: kind for kind, all_names in NAMES.items() for name in all_names}
    results = [shown.get(kind_of[name], "{}").format(name) for name in names]
    result = ", ".join(["n", "x", *results])
    body = "\n".join("    " + line for line in "\n".join(lines + statements).replace("RESULT", result).split("\n"))
    return f"def f({', '.join(ARGUMENTS)}):\n{body}\n    return {result}\n"


def function(text: str, **names: Any) -> Callable[..., Any]:
    import numpy as np

    file = f"<random function {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "math": math, **GLOBALS, **names}
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
    if isinstance(e, complex):
        return isinstance(g, complex) and same([e.real, e.imag], [g.real, g.imag])
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
    if raised != failed or (raised and str(expected).lstrip("'")[:4] == "own:" and str(expected) != str(got)):
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
