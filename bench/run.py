"""Runs the benchmark table for broadcloth and for every peer that is installed, side by side.

    python bench/run.py [--out FOLDER] [--only NAME,…] [--device cpu|cuda] [--quick] [--peers NAME,…] [--seconds N]

Results go to FOLDER/<machine>-<device>.json, .png and .txt (FOLDER: bench/results), written after every workload. How it measures:
docs/benchmarks.md. The exit status says whether the run got to its end, not whether every bar is met.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import probes
import table
from workloads import BY_NAME, WORKLOADS, selected

SILENCE = 100  # seconds without a word from the worker after which it is taken for hung
METHOD = (
    "Peers take turns, round by round, in one process. A round times N repeats and one wait for the device at its end, N such that it "
    "lasts 20 ms or more; the time is the median over rounds. stream: each repeat's work is submitted before the next begins (broadcloth: "
    "flush(), which does not wait), nothing is merged across repeats. kept: every repeat has inputs of its own and all results stay alive "
    "until the wait. wait: every repeat is waited for. loop: one number is read back every step. Results are compared with NumPy's before "
    "timing. floor: bytes that must move, divided by the bandwidth of the fastest plain copy measured in the same run."
)


def machine(device: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"cpu": "", "cores": len(os.sched_getaffinity(0)), "system": platform.platform()}
    facts["python"] = platform.python_version()
    facts["busy_cores"] = busy_cores()
    try:
        text = Path("/proc/cpuinfo").read_text()
        found = re.search(r"model name\s*:\s*(.*)", text)
        facts["cpu"] = found.group(1).strip() if found else platform.machine()
    except OSError:
        facts["cpu"] = platform.processor()
    facts["name"] = f"{facts['cpu']} {facts['cores']} cores"
    if device == "cuda":
        try:
            import broadcloth as bc

            facts["gpu"] = bc.device_info("cuda")["name"]
        except Exception:
            facts["gpu"] = _gpu_by_tool()
        facts["name"] = facts["gpu"]
        facts["driver"] = _gpu_by_tool("driver_version")
    return facts


def busy_cores(seconds: float = 1.0) -> float:
    """How many cores other programs use just now."""

    def ticks() -> float:
        user, nice, system, *_ = (int(x) for x in Path("/proc/stat").read_text().split()[1:8])
        return user + nice + system

    try:
        before = ticks()
        time.sleep(seconds)
        return round((ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds, 2)
    except (OSError, ValueError):
        return 0.0


def _gpu_by_tool(field: str = "name") -> str:
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"], capture_output=True, text=True, timeout=20)
        return done.stdout.splitlines()[0].strip() if done.stdout else "gpu"
    except (OSError, subprocess.SubprocessError):
        return "gpu"


def slug(name: str) -> str:
    short = re.sub(r"\(R\)|\(TM\)|Processor|CPU|@.*", " ", name, flags=re.I)
    return re.sub(r"[^a-z0-9]+", "-", short.lower()).strip("-")


class Run:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.device: str = arguments.device
        self.quick: bool = arguments.quick
        self.deadline = time.time() + arguments.seconds
        self.peers: list[str] | None = arguments.peers
        self.workloads = [w.name for w in selected(self.device, arguments.only)]
        self.probes = [p for p in probes.PROBES if not arguments.only or p in arguments.only]
        facts = machine(self.device)
        self.out = arguments.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.base = self.out / f"{slug(facts['name'])}-{self.device}"
        self.result: dict[str, Any] = {
            "machine": facts,
            "device": self.device,
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "quick": self.quick,
            "method": METHOD,
            "versions": {},
            "missing": {},
            "copy_bandwidth": 0.0,
            "workloads": [],
            "probes": [],
        }
        # A part of the table measured again goes into the table that is there, where it is the same machine's and of the same kind.
        if arguments.only and self.base.with_suffix(".json").exists():
            before = json.loads(self.base.with_suffix(".json").read_text())
            if before.get("quick") == self.quick:
                self.result.update(workloads=before["workloads"], probes=before["probes"])

    def write(self) -> None:
        path = self.base.with_suffix(".json")
        scratch = path.with_suffix(".json.tmp")
        scratch.write_text(json.dumps(self.result, indent=1) + "\n")
        scratch.replace(path)

    def put(self, kind: str, row: dict[str, Any]) -> None:
        rows = [r for r in self.result[kind] if r["name"] != row["name"]] + [row]
        if kind == "workloads":
            order = [w.name for w in WORKLOADS]
            rows.sort(key=lambda r: order.index(r["name"]) if r["name"] in order else len(order))
        self.result[kind] = rows
        self.write()

    def workload_row(self, name: str, facts: dict[str, Any]) -> dict[str, Any]:
        w = BY_NAME[name]
        size = facts.get("size", w.size(self.device, self.quick))
        row = {"name": name, "what": w.what, "size": size, "style": w.style, "bytes": w.bytes(size), "operations": w.operations(size)}
        return table.judge({**row, **facts}, w, self.device, self.result["copy_bandwidth"], self.quick)

    def run(self) -> int:
        self.write()
        todo = list(self.workloads)
        exclude: dict[str, dict[str, str]] = {}
        starts = 0
        while todo and time.time() < self.deadline and starts < 8:
            starts += 1
            culprit = self.worker(todo, exclude)
            if culprit is None:
                break
            workload, peer, why = culprit
            print(f"  {workload or 'start'}: {peer or 'the worker'} failed: {why}", flush=True)
            if not workload:
                # The libraries could not even be opened together: without the last one that was tried there is nothing to leave out.
                break
            if peer in exclude.get(workload, {}):
                todo.remove(workload)
            exclude.setdefault(workload, {})[peer] = why
        for name in self.probes:
            if time.time() > self.deadline + 30:
                self.put("probes", {"name": name, "what": "", "failed": "no time left"})
                continue
            for row in probes.measure(name, self.device, self.quick):
                self.put("probes", row)
        self.write()
        return 0 if not todo else 1

    def worker(self, todo: list[str], exclude: dict[str, dict[str, str]]) -> tuple[str, str, str] | None:
        """Runs the rest of the workloads in a new process, taking what is done off `todo`; gives (workload, peer, why) where it died."""
        read_end, write_end = os.pipe()
        options = {
            "device": self.device, "quick": self.quick, "deadline": self.deadline, "workloads": todo, "peers": self.peers,
            "exclude": {w: list(p) for w, p in exclude.items()}, "channel": write_end, "box": 3.0 if self.quick else 15.0,
        }  # fmt: skip
        command = [sys.executable, str(HERE / "worker.py"), json.dumps(options)]
        process = subprocess.Popen(command, pass_fds=[write_end], stdout=subprocess.DEVNULL)
        os.close(write_end)
        at = {"workload": "", "peer": "", "stage": "start"}
        why = ""
        buffer = b""
        try:
            while True:
                ready, _, _ = select.select([read_end], [], [], SILENCE)
                if not ready:
                    why = f"silent for {SILENCE} s ({at['stage']})"
                    break
                data = os.read(read_end, 65536)
                if not data:
                    break
                buffer += data
                *lines, buffer = buffer.split(b"\n")
                for line in lines:
                    message = json.loads(line)
                    event = message.pop("event")
                    if event == "start":
                        at = message
                    elif event == "hello":
                        self.result.update(versions=message["versions"], missing=message["missing"])
                        self.result["copy_bandwidth"] = max(self.result["copy_bandwidth"], message["bandwidth"])
                    elif event == "failed":
                        print(f"  {message['workload']}: {message['peer']} failed: {message['error']}", flush=True)
                    elif event == "unhealthy":
                        return message["workload"], message["peer"], message["error"]
                    elif event == "result":
                        name = message.pop("workload")
                        for peer, reason in exclude.get(name, {}).items():
                            message["peers"].setdefault(peer, {"failed": reason})
                        row = self.workload_row(name, message)
                        self.put("workloads", row)
                        todo.remove(name)
                        print("  " + table.line(row), flush=True)
                    elif event == "done":
                        return None
        finally:
            os.close(read_end)
            process.kill()
            code = process.wait()
        return at["workload"], at["peer"], why or f"the process ended with status {code} ({at['stage']})"


def default_device() -> str:
    try:
        import broadcloth as bc

        return "cuda" if bc.device_count("cuda") and bc.default_device().type != "cpu" else "cpu"
    except Exception:
        return "cpu"


def main() -> int:
    parser = argparse.ArgumentParser(description="The benchmark table, for broadcloth and every peer that is installed.")
    names = lambda text: [n for n in text.split(",") if n]
    parser.add_argument("--out", type=Path, default=HERE / "results", metavar="FOLDER", help="where the results go (bench/results)")
    parser.add_argument("--only", type=names, metavar="NAME,…", help=f"workloads (see --list) and probes ({', '.join(probes.PROBES)})")
    parser.add_argument("--device", choices=("cpu", "cuda"), default=None, help="the default device of broadcloth unless given")
    parser.add_argument("--peers", type=names, metavar="NAME,…", help="broadcloth numpy cupy torch torch_compiled jax (all that are there)")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds: tries the harness, measures little")
    parser.add_argument("--seconds", type=float, default=210.0, help="no workload starts after this time (210)")
    parser.add_argument("--list", action="store_true", help="lists the workloads and ends")
    arguments = parser.parse_args()
    arguments.device = arguments.device or default_device()
    if arguments.list:
        for w in selected(arguments.device, None):
            print(f"{w.name:<18} {w.what}")
        return 0
    unknown = set(arguments.only or ()) - {w.name for w in WORKLOADS} - set(probes.PROBES)
    if unknown:
        parser.error(f"--only: no workload or probe is called {', '.join(sorted(unknown))}; see --list")
    run = Run(arguments)
    print(f"{run.result['machine']['name']}, {run.device}: {len(run.workloads)} workloads, {len(run.probes)} probes", flush=True)
    try:
        code = run.run()
    except KeyboardInterrupt:  # what is measured is kept
        code = 1
    text = table.text(run.result)
    run.base.with_suffix(".txt").write_text(text + "\n")
    table.plot(run.result, run.base.with_suffix(".png"))
    print("\n" + text)
    print(f"\n{run.base}.json")
    return code


if __name__ == "__main__":
    sys.exit(main())
