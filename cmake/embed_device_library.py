"""Joins the headers of src/device into one text and writes it as a C++ file.

    embed_device_library.py ENTRY.h OUTPUT.cpp [NAME]

NAME is that of the constant, kDeviceLibrary if not given.

The entry includes the other headers with quotes; each is put in where it is first included, so the text needs no include path.
Whole-line comments and blank lines are left out: NVRTC reads the text at every compile.

With "sections" the headers are written once more one by one, each with the names that it defines and the headers that it needs, so that a
kernel may take only what it uses (device_library_for).
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


DEFINING = re.compile(r"\s*(?:#\s*define|BC_[A-Z0-9_]+|static|template|inline|constexpr|extern|__device__|struct|using|enum)\b")
WORD = re.compile(r"[A-Za-z_]\w*")


def defined_names(lines: list[str]) -> set[str]:
    """The names that a header may define; some too many do no harm."""
    names: set[str] = set()
    for line in lines:
        if not DEFINING.match(line):
            continue
        if m := re.match(r"\s*#\s*define\s+(\w+)", line):
            names.add(m[1])
        if m := re.match(r"\s*(?:#\s*define.*?)?BC_[A-Z]+\w*\((\w+)", line):
            names.add(m[1])
        names |= set(re.findall(r"\b(\w+)\s*\(", line)[:1])
        names |= set(re.findall(r"BC_T?FN\b.*?\b(\w+)\s*\(", line))
        names |= set(re.findall(r"\b(?:struct|using|enum)\s+(?:alignas\(.*?\) )?(\w+)", line))
        names |= set(re.findall(r"\)\s+(\w+)\s*\{", line))  # struct alignas(…) Vec {
        names |= set(re.findall(r"\bconstexpr\s+[\w:<>]+\s+(\w+)", line))
    # Words of the language and letters that stand for types are nobody's; a macro belongs to where it is defined.
    # What macros make by pasting: loop_##name of BC_FAR1(sin).
    prefixes = {m for line in lines for m in re.findall(r"\b([a-z]\w*_)##", line)}
    called = {m[1] for line in lines if (m := re.match(r"\s*BC_[A-Z]+\w*\((\w+)", line))}
    names |= {prefix + name for prefix in prefixes for name in called}
    macros = {m[1] for line in lines if (m := re.match(r"\s*#\s*define\s+(\w+)", line))}
    language = "if for while return sizeof defined void static constexpr template decltype float double bool auto name _Pragma __attribute__"
    return {n for n in names if len(n) > 1 and n not in language.split() and (n in macros or not n.startswith("BC_"))} - {"half", "bfloat16"}


def sections(lines: list[str]) -> list[tuple[str, list[str], set[str], int]]:
    """(header, lines, names, mask of the headers before it that it needs, itself among them) in order."""
    order: list[str] = []
    parts: dict[str, list[str]] = {}
    for line in lines:
        if m := re.fullmatch(r'#line \d+ "([^"]+)"', line):
            here = m[1]
            if here not in parts:
                parts[here] = []
        parts[here].append(line)
        if line.strip() and not line.startswith("#line") and here not in order:
            order.append(here)
    names = {h: defined_names(parts[h]) for h in order}
    # Functions of complex numbers are overloads: they are needed where a kernel speaks of complex numbers, not where their names are.
    if "complex_math.h" in names:
        names["complex_math.h"] -= set().union(*(names[h] for h in order if h != "complex_math.h"))
    made: list[tuple[str, list[str], set[str], int]] = []
    for number, header in enumerate(order):
        words = set(WORD.findall("\n".join(re.sub(r"//.*", "", line) for line in parts[header])))
        mask = 1 << number
        for earlier in range(number):
            if words & names[order[earlier]]:
                mask |= made[earlier][3]
        made.append((header, shrink(parts[header]), names[header], mask))
    return made


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


def section_table(lines: list[str]) -> str:
    rows = []
    for header, text, names, mask in sections(lines):
        words = " ".join(sorted(names))
        rows.append(f'{{"{header}", {mask}u,\n{literal(words)},\n{literal(chr(10).join(text) + chr(10))}}},')
    return "const DeviceSection kSections[] = {\n" + "\n".join(rows) + "\n};\n"


def main(entry: str, output: str, name: str = "kDeviceLibrary", parts: str = "") -> None:
    seen: set[str] = set()
    lines: list[str] = []
    join(entry, seen, lines)
    for header in sorted(os.listdir(os.path.dirname(entry))):
        if header.endswith(".h") and os.path.realpath(os.path.join(os.path.dirname(entry), header)) not in seen:
            sys.exit(f"{os.path.dirname(entry)}/{header} is not included by {os.path.basename(entry)}, so it would not be embedded")
    text = "\n".join(shrink(lines)) + "\n"
    table = f"""
namespace {{
{section_table(lines)}}}  // namespace

const std::span<const DeviceSection> kDeviceSections = kSections;
""" if parts == "sections" else ""
    source = f"""// Made by cmake/embed_device_library.py from src/device; do not edit.
#include "codegen/device_library.h"

namespace bc {{

namespace {{
constexpr char kText[] =
{literal(text)};
}}  // namespace

const char* const {name} = kText;
const size_t {name}Size = sizeof(kText) - 1;
{table}
}}  // namespace bc
"""
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open(output, "w", encoding="utf-8") as f:
        f.write(source)


if __name__ == "__main__":
    main(*sys.argv[1:])
