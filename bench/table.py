"""Judges a row against its bars, and prints and draws the results."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from workloads import Workload

# Two medians this close are the same time: it is what one peer's rounds differ by on a quiet machine.
NOISE = 1.02
# Less than this may stay in a cache between repeats, so that the floor of memory's bandwidth says nothing.
BEYOND_CACHES = 100e6


def seconds(value: float | None) -> str:
    """A time with three digits and its unit."""
    if value is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= 0.9995 * scale:
            return f"{value / scale:.3g} {unit}" if value / scale < 999.5 else f"{value / scale:.0f} {unit}"
    return f"{value * 1e9:.3g} ns"


def spread(row: dict[str, Any]) -> float:
    """Half of the middle half of the rounds, relative to their median."""
    times = sorted(row["rounds"])
    if len(times) < 3:
        return 0.0
    quarter = statistics.quantiles(times, n=4, method="inclusive")
    return (quarter[2] - quarter[0]) / 2 / row["seconds"]


def judge(row: dict[str, Any], workload: Workload, device: str, bandwidth: float, quick: bool) -> dict[str, Any]:
    """Adds floor, best peer, ratios, bar and whether it is met (at full size only)."""
    cells = {name: c for name, c in row["peers"].items() if "seconds" in c}
    for cell in cells.values():
        cell["spread"] = round(spread(cell), 4)
    if workload.style == "stream" and not workload.library_bound and bandwidth and row["bytes"] >= BEYOND_CACHES:
        row["floor"] = row["bytes"] / bandwidth
    valid = {name: c["seconds"] for name, c in cells.items() if c["correct"]}
    peers = {name: s for name, s in valid.items() if name != "broadcloth"}
    ours = valid.get("broadcloth")
    if peers:
        row["best_peer"] = min(peers, key=lambda name: peers[name])
    bar = workload.bars.get(device)
    row["bar"] = bar.text() if bar else ""
    if ours is None:
        if bar and not quick:
            row["met"] = False
        return row
    row["ratios"] = {name: s / ours for name, s in peers.items()}  # how many times faster broadcloth is
    if quick:
        return row
    if bar and bar.kind == "peers" and peers:
        row["met"] = ours <= min(peers.values()) * bar.value * NOISE
    elif bar and bar.kind == "seconds":
        row["met"] = ours <= bar.value
    elif bar and bar.kind == "numpy" and "numpy" in peers:
        row["met"] = peers["numpy"] / ours >= bar.value
    return row


def _mark(row: dict[str, Any]) -> str:
    return {True: "yes", False: "NO", None: ""}[row.get("met")]


def _cell(row: dict[str, Any], name: str) -> str:
    cell = row["peers"].get(name)
    if cell is None:
        return "-"
    if "seconds" not in cell:
        return "failed"
    return seconds(cell["seconds"]) + ("" if cell["correct"] else " WRONG")


def _ratio(row: dict[str, Any]) -> str:
    best = row.get("best_peer")
    return f"{row['ratios'][best]:.2f}x" if best and "ratios" in row else "-"


def line(row: dict[str, Any]) -> str:
    """One finished workload, for the progress of the run."""
    if "skipped" in row:
        return f"{row['name']:<18} skipped: {row['skipped']}"
    cells = "  ".join(f"{name} {_cell(row, name)}" for name in row["peers"])
    kernels = row["peers"].get("broadcloth", {}).get("kernels")
    count = f"  [{len(kernels)} kernels]" if kernels is not None else ""
    return f"{row['name']:<18} {cells}  best peer/ours {_ratio(row)} {_mark(row)}{count}"


def _grid(head: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    pad = lambda r: "  ".join([r[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(r[1:], widths[1:])]).rstrip()
    return "\n".join([pad(head), "-" * (sum(widths) + 2 * len(widths) - 2), *map(pad, rows)])


def busy(result: dict[str, Any]) -> bool:
    """Tells whether other programs took the processor's time."""
    return result["machine"].get("busy_cores", 0.0) > 0.15 * result["machine"]["cores"]


def _peers(result: dict[str, Any]) -> list[str]:
    seen = [name for row in result["workloads"] for name in row.get("peers", {})]
    order = ("broadcloth", "numpy", "cupy", "torch", "torch_compiled", "jax")
    return [name for name in order if name in seen]


def text(result: dict[str, Any]) -> str:
    """Everything as a table to read."""
    m = result["machine"]
    lines = [f"{m['name']}, {result['device']}" + (", QUICK: sizes too small to compare" if result["quick"] else "")]
    lines.append(", ".join(f"{n} {v}" for n, v in result["versions"].items()) + f", Python {m['python']}")
    if result["copy_bandwidth"]:
        lines.append(f"copy bandwidth {result['copy_bandwidth'] / 1e9:.0f} GB/s (read and written); floor: bytes at that speed")
    if busy(result):
        lines.append(f"WARNING: other programs used {m['busy_cores']} of {m['cores']} cores when the run began; do not trust the times")
    for name, why in result["missing"].items():
        lines.append(f"left out: {name} ({why.splitlines()[0][:100]})")
    peers = _peers(result)
    rows = []
    for row in result["workloads"]:
        if "skipped" in row:
            rows.append([row["name"], "skipped"] + [""] * (len(peers) + 5))
            continue
        kernels = row["peers"].get("broadcloth", {}).get("kernels")
        noise = row["peers"].get("broadcloth", {}).get("spread")
        rows.append(
            [row["name"], seconds(row.get("floor")), *(_cell(row, p) for p in peers), f"±{noise * 100:.0f}%" if noise is not None else "-",
             str(len(kernels)) if kernels is not None else "-", _ratio(row), row["bar"], _mark(row)]
        )  # fmt: skip
    if rows:
        lines += ["", _grid(["workload", "floor", *peers, "spread", "kernels", "best peer / ours", "bar", "met"], rows)]
    if result["probes"]:
        rows = []
        for p in result["probes"]:
            if "failed" in p:
                rows.append([p["name"], "failed", "", "", "", p["failed"][:80]])
                continue
            compiles = f" ({p['compiles']:g} compiled)" if "compiles" in p else ""
            what = p["what"] + compiles
            rows.append([p["name"], seconds(p["seconds"]), seconds(p.get("numpy_seconds")), p.get("bar", ""), _mark(p), what])
        width = max(len(r[5]) for r in rows)
        for r in rows:
            r[5] = r[5].ljust(width)
        lines += ["", _grid(["probe", "broadcloth", "numpy", "bar", "met", "what"], rows)]
    return "\n".join(lines)


def plot(result: dict[str, Any], path: Path) -> None:
    """Bars of time relative to broadcloth's, one group a workload; does nothing where matplotlib is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return
    rows = [r for r in result["workloads"] if r.get("ratios")]
    peers = [p for p in _peers(result) if p != "broadcloth"]
    if not rows or not peers:
        return
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.32 * len(rows) * max(1, len(peers)) ** 0.6))
    height = 0.8 / len(peers)
    for i, peer in enumerate(peers):
        places = [r + (i - (len(peers) - 1) / 2) * height for r in range(len(rows))]
        axes.barh(places, [row["ratios"].get(peer, float("nan")) for row in rows], height=height, label=peer.replace("_", " "))
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_yticks(range(len(rows)), [f"{r['name']}  ({seconds(r['peers']['broadcloth']['seconds'])})" for r in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("times broadcloth's time (right of the line: broadcloth is faster)")
    axes.set_title(f"{result['machine']['name']}, {result['device']}")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
