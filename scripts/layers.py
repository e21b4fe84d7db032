"""Holds src/ to its layers (src/layers.txt): fails on an include that no edge allows and on circles of files, in C++ and in Python.

    python scripts/layers.py [--edges]

`--edges` prints how many includes each edge has.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
PACKAGE = ROOT / "python" / "broadcloth"


def allowed_edges(text: str) -> dict[str, set[str]]:
    """Folder → folders that its files may include."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return {name: {name, *seen.split()} for name, seen in (line.split(":") for line in lines if line)}


def includes() -> dict[str, set[str]]:
    """File of src/ → files of src/ that it includes."""
    files = [p for p in SOURCE.rglob("*") if p.suffix in (".h", ".cpp", ".def", ".inc")]
    found = {}
    for file in files:
        named = re.findall(r'^\s*#\s*include "([^"]+)"', file.read_text(), re.MULTILINE)
        # A name is relative to src/, or within a folder of headers that is embedded as a whole to its own folder.
        targets = [next((p for p in (SOURCE / name, file.parent / name) if p.is_file()), None) for name in named]
        found[str(file.relative_to(SOURCE))] = {str(t.relative_to(SOURCE)) for t in targets if t}
    return found


def imports() -> dict[str, set[str]]:
    """Module of the package → modules that it imports when it is imported."""
    modules = {}
    for file in PACKAGE.rglob("*.py"):
        parts = ["broadcloth", *file.relative_to(PACKAGE).with_suffix("").parts]
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    modules["broadcloth._broadcloth"] = PACKAGE / "_broadcloth.pyi"  # the extension
    found: dict[str, set[str]] = {}
    for name, file in modules.items():
        if file.suffix == ".pyi":
            continue
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        found[name] = set()
        for node in ast.parse(file.read_text()).body:  # functions import when they run
            if isinstance(node, ast.Import):
                found[name] |= {a.name for a in node.names if a.name in modules}
            elif isinstance(node, ast.ImportFrom):
                base = package.rsplit(".", node.level - 1)[0] if node.level else ""
                source = ".".join(filter(None, [base, node.module]))
                found[name] |= {m for a in node.names for m in [f"{source}.{a.name}"] if m in modules} or {source} & modules.keys()
        found[name].discard(name)
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one node (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def main(arguments: list[str]) -> int:
    sys.setrecursionlimit(10_000)
    allowed = allowed_edges((SOURCE / "layers.txt").read_text())
    problems, edges = [], Counter()
    graph = includes()
    for file, targets in sorted(graph.items()):
        layer = file.split("/")[0]
        for target in sorted(targets):
            other = target.split("/")[0]
            edges[layer, other] += 1
            if other not in allowed.get(layer, ()):
                problems.append(f"src/{file} includes {target}: {layer} may not see {other} (src/layers.txt)")
    problems += [f"a circle of includes: {', '.join(circle)}" for circle in circles(graph)]
    problems += [f"a circle of imports: {', '.join(circle)}" for circle in circles(imports())]
    if "--edges" in arguments:
        for (a, b), count in sorted(edges.items()):
            print(f"{a:12} → {b:12} {count}")
    print("\n".join(problems) or f"layers: {len(graph)} files keep to src/layers.txt")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
