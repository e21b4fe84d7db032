"""Writes the tables of bench/results/*.json into README.md, between the lines <!-- bench:begin --> and <!-- bench:end -->.

python bench/report.py [FILE.json …] [--into README.md]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from table import busy, seconds

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
TITLES = {"numpy": "NumPy", "cupy": "CuPy", "torch": "PyTorch", "torch_compiled": "PyTorch compiled", "jax": "JAX"}


def cell(row: dict[str, Any], peer: str) -> str:
    facts = row["peers"].get(peer, {})
    if "seconds" not in facts:
        return "–"
    text = seconds(facts["seconds"])
    return f"**{text}**" if peer == row.get("best_peer") and len(row["peers"]) > 2 else text


def kernels(result: dict[str, Any]) -> str:
    """The table of bench/kernels.py."""
    names = {"numba": "Numba", "cupy": "CuPy", "numpy": "NumPy (OpenBLAS)"}
    rows = [r for r in result["rows"] if "seconds" in r.get("peers", {}).get("broadcloth", {})]
    peers = [p for p in names if any("seconds" in r["peers"].get(p, {}) for r in rows)]
    lines = [f"{result['machine']['name']}: kernels and compiled functions.", ""]
    lines.append("| " + " | ".join(["", "broadcloth", *(names[p] for p in peers)]) + " |")
    lines.append("|---|" + "---:|" * (1 + len(peers)))
    for row in rows:
        cells = [seconds(row["peers"].get(p, {}).get("seconds")) for p in ("broadcloth", *peers)]
        lines.append("| " + " | ".join([f"{row['name']}: {row['what']}", *cells]) + " |")
    return "\n".join(lines)


def markdown(result: dict[str, Any]) -> str:
    if "rows" in result:
        return kernels(result)
    rows = [r for r in result["workloads"] if "seconds" in r.get("peers", {}).get("broadcloth", {})]
    peers = [p for p in TITLES if any(p in r["peers"] for r in rows)]
    versions = ", ".join(f"{TITLES.get(n, n)} {v}" for n, v in result["versions"].items() if n != "torch_compiled")
    floor = any("floor" in r for r in rows)
    ratio = f"{TITLES[peers[0]]} / broadcloth" if len(peers) == 1 else "best of them / broadcloth"
    head = ["", "broadcloth", *(TITLES[p] for p in peers), ratio] + (["floor"] if floor else [])
    note = " **Measured while the machine was busy with other work.**" if busy(result) else ""
    lines = [f"{result['machine']['name']}, {result['date'][:10]}: {versions}.{note}", ""]
    lines.append("| " + " | ".join(head) + " |")
    lines.append("|---|" + "---:|" * (len(head) - 1))
    for row in rows:
        best = row.get("best_peer")
        ratio = f"{row['ratios'][best]:.2f}" if best and row.get("ratios") else "–"
        ours = seconds(row["peers"]["broadcloth"]["seconds"])
        cells = [row["what"], ours, *(cell(row, p) for p in peers), ratio]
        if floor:
            cells.append(seconds(row["floor"]) if "floor" in row else "")
        lines.append("| " + " | ".join(cells) + " |")
    probes = [p for p in result["probes"] if "seconds" in p]
    if probes:
        named = {p["name"]: p for p in probes}
        wanted = ("record", "add_10", "first_kernel", "next_kernel", "second_process", "import")
        facts = [f"{named[n]['what']}: {seconds(named[n]['seconds'])}" for n in wanted if n in named]
        lines += ["", "; ".join(facts) + "."]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the benchmark tables into a Markdown file.")
    parser.add_argument("files", nargs="*", type=Path, help="results (all of bench/results)")
    parser.add_argument("--into", type=Path, default=HERE.parent / "README.md")
    arguments = parser.parse_args()
    results = [json.loads(f.read_text()) for f in arguments.files or sorted((HERE / "results").glob("*.json"))]
    results = [r for r in results if not r["quick"]]
    if not results:
        print("no results; run make bench first")
        return 1
    results.sort(key=lambda r: r["device"] != "cuda")
    text = arguments.into.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"{arguments.into}: expected the lines {BEGIN} and {END}")
        return 1
    arguments.into.write_text(before + begin + "\n" + "\n\n".join(markdown(r) for r in results) + "\n" + end + after)
    print(f"{arguments.into}: {len(results)} tables")
    return 0


if __name__ == "__main__":
    sys.exit(main())
