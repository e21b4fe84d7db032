"""Joins the headers of src/device into one text and writes it as a C++ file.

    embed_device_library.py ENTRY.h OUTPUT.cpp [NAME]

NAME is that of the constant, kDeviceLibrary if not given.

The entry includes the other headers with quotes; each is put in where it is first included, so the text needs no include path.
Whole-line comments and blank lines are left out: NVRTC reads the text at every compile.
"""

import os
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
ANGLED = re.compile(r"\s*#\s*include\s*<")
CHUNK = 12_000  # the smallest string literal that every compiler must take is 65,536 characters


def join(path: str, seen: set[str], out: list[str]) -> None:
    """Appends the lines of `path`, with its includes in place, to `out`."""
    path = os.path.realpath(path)
    if path in seen:
        return
    seen.add(path)
    name = os.path.basename(path)
    depth = 0
    out.append(f'#line 1 "{name}"')
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if re.match(r"#\s*if", bare):
            depth += 1
        elif re.match(r"#\s*endif", bare):
            depth -= 1
        if re.match(r"#\s*pragma\s+once", bare):
            out.append("")
            continue
        if m := INCLUDE.match(line):
            if depth:
                sys.exit(f"{path}:{number}: an include under #if cannot be embedded")
            join(os.path.join(os.path.dirname(path), m[1]), seen, out)
            out.append(f'#line {number + 1} "{name}"')
            continue
        if ANGLED.match(line) and not depth:
            sys.exit(f"{path}:{number}: the device library includes nothing outside itself")
        out.append(line.rstrip())


def shrink(lines: list[str]) -> list[str]:
    """Drops whole-line comments, and runs of blank lines by a #line, so that line numbers stay right."""
    out: list[str] = []
    name, number, expected = "", 0, 0
    for line in lines:
        if m := re.fullmatch(r'#line (\d+) "([^"]+)"', line):
            name, number, expected = m[2], int(m[1]), -1
            continue
        here, number = number, number + 1
        if re.fullmatch(r"\s*(//.*)?", line) and not line.endswith("\\"):
            continue
        if here != expected:
            gap = here - expected
            if expected > 0 and 0 < gap <= 2:
                out.extend([""] * gap)
            else:
                out.append(f'#line {here} "{name}"')
        out.append(line)
        expected = number
    return out


def literal(text: str) -> str:
    """The text as adjacent raw string literals."""
    chunks: list[str] = []
    chunk, size = [], 0
    for line in text.splitlines(keepends=True):
        chunk.append(line)
        size += len(line)
        if size >= CHUNK:
            chunks.append("".join(chunk))
            chunk, size = [], 0
    chunks.append("".join(chunk))
    return "\n".join(f'R"~bc~({c})~bc~"' for c in chunks)


def main(entry: str, output: str, name: str = "kDeviceLibrary") -> None:
    seen: set[str] = set()
    lines: list[str] = []
    join(entry, seen, lines)
    for header in sorted(os.listdir(os.path.dirname(entry))):
        if header.endswith(".h") and os.path.realpath(os.path.join(os.path.dirname(entry), header)) not in seen:
            sys.exit(f"{os.path.dirname(entry)}/{header} is not included by {os.path.basename(entry)}, so it would not be embedded")
    text = "\n".join(shrink(lines)) + "\n"
    source = f"""// Made by cmake/embed_device_library.py from src/device; do not edit.
#include "codegen/device_library.h"

namespace bc {{

namespace {{
constexpr char kText[] =
{literal(text)};
}}  // namespace

const char* const {name} = kText;
const size_t {name}Size = sizeof(kText) - 1;

}}  // namespace bc
"""
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open(output, "w", encoding="utf-8") as f:
        f.write(source)


if __name__ == "__main__":
    main(*sys.argv[1:])
