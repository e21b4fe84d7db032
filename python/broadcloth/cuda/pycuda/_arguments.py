"""Arguments in C's spelling ("float *x, int n"), and expressions that index them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import broadcloth as bc

_TYPES = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "signed int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "long": "int64",
    "long int": "int64",
    "long long": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    "ptrdiff_t": "int64",
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "pycuda::complex<float>": "complex64",
    "pycuda::complex<double>": "complex128",
    "complex<float>": "complex64",
    "complex<double>": "complex128",
    "int8_t": "int8",
    "int16_t": "int16",
    "int32_t": "int32",
    "int64_t": "int64",
    "uint8_t": "uint8",
    "uint16_t": "uint16",
    "uint32_t": "uint32",
    "uint64_t": "uint64",
}


@dataclass
class Argument:
    """One parameter: a number, or with `vector` a pointer to an array's elements."""

    name: str
    dtype: str
    vector: bool
    const: bool = False


def parse(kernel: str, text: str | list[Any]) -> list[Argument]:
    """The parameters of a list in C."""
    parts = [str(t) for t in text] if isinstance(text, (list, tuple)) else [p for p in text.split(",") if p.strip()]
    found = []
    for part in parts:
        m = re.fullmatch(r"\s*(?P<type>[\w:<>\s]+?)\s*(?P<star>\*?)\s*(?:__restrict__|__restrict)?\s*(?P<name>[A-Za-z_]\w*)\s*", part)
        if not m:
            raise TypeError(f"{kernel}: expected arguments as 'float *x' or 'float a', got {part.strip()!r}")
        words = m["type"].split()
        spelled = " ".join(w for w in words if w != "const")
        if spelled not in _TYPES:
            raise TypeError(f"{kernel}: expected a number's type in C for {m['name']!r}, got {spelled!r}")
        found.append(Argument(m["name"], _TYPES[spelled], bool(m["star"]), "const" in words))
    return found


def c_spelling(text: str) -> str:
    """PyCUDA's complex numbers by the names that kernels have here."""
    return re.sub(r"\bpycuda::complex\b", "thrust::complex", text)


def only_own_element(text: str, name: str) -> bool:
    """Tells whether an array is only read and written at `i`."""
    everywhere = len(re.findall(rf"(?<![\w.]){name}\b", text))
    return everywhere == len(re.findall(rf"(?<![\w.]){name}\s*\[\s*i\s*\]", text))


def is_written(text: str, name: str) -> bool:
    """Tells whether NAME[i] may be changed."""
    element = rf"(?<![\w.]){name}\s*\[\s*i\s*\]"
    after = rf"{element}\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
    before = rf"(?:\+\+|--|&)\s*{element}"
    return re.search(after, text) is not None or re.search(before, text) is not None


def own_element(text: str, names: list[str]) -> str:
    """The text with NAME for NAME[i]."""
    for name in names:
        text = re.sub(rf"(?<![\w.]){name}\s*\[\s*i\s*\]", name, text)
    return text


def check_count(kernel: str, arguments: list[Argument], given: tuple[Any, ...]) -> None:
    """Raises TypeError unless there is a value for each argument."""
    if len(given) != len(arguments):
        raise TypeError(f"{kernel}: expected {len(arguments)} arguments ({', '.join(a.name for a in arguments)}), got {len(given)}")


def flat(kernel: str, arguments: list[Argument], given: tuple[Any, ...], part: slice | None) -> tuple[list[Any], int]:
    """The values, arrays as one axis of equal length (or the `part` of it), and that length."""
    check_count(kernel, arguments, given)
    values: list[Any] = []
    size = None
    for a, value in zip(arguments, given):
        if not a.vector:
            values.append(value)
            continue
        if not isinstance(value, bc.ndarray):
            raise TypeError(f"{kernel}: expected a broadcloth.ndarray for '{a.name}', got {type(value).__name__}")
        if value.dtype != a.dtype:
            raise TypeError(f"{kernel}: expected {a.dtype} for '{a.name}', got {value.dtype}")
        line = value if value.ndim == 1 else value.reshape(-1)
        if line.size and not bc.shares_memory(line, value):
            raise ValueError(f"{kernel}: expected a contiguous array for '{a.name}', got strides {value.strides}")
        if part is not None:
            line = line[part]
        if size is None:
            size = line.size
        elif size != line.size:
            raise ValueError(f"{kernel}: expected arrays of one size, got {size} and {line.size} for '{a.name}'")
        values.append(line)
    if size is None:
        raise ValueError(f"{kernel}: expected an array among the arguments, to tell how many elements there are")
    return values, size


def part_of(kernel: str, kwargs: dict[str, Any]) -> slice | None:
    """`slice=` or `range=` of a call; takes `stream=` off."""
    if kwargs.pop("stream", None) is not None:
        raise NotImplementedError(f"{kernel}: use `with stream:` in the place of stream=")
    part = kwargs.pop("slice", None)
    whole = kwargs.pop("range", None)
    if part is None and whole is not None:
        part = slice(whole.start, whole.stop, whole.step)
    return part
