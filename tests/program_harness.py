"""Random programs, run in processes of their own: a crash or a hang is one failing program, and what fails is cut down to the fewest
statements that still fail. `differential.py` and `array_programs.py` say what a program is and when it is wrong."""

from __future__ import annotations

import argparse
import faulthandler
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from support import child_environment

HANG = 120  # seconds in which one program must end


def shrink(statements: list[str], fails: Callable[[list[str]], bool]) -> list[str]:
    """A program that still fails, from which no statement can be taken."""
    changed = True
    while changed:
        changed = False
        for k in range(len(statements) - 1, -1, -1):
            shorter = statements[:k] + statements[k + 1 :]
            if shorter and fails(shorter):
                statements, changed = shorter, True
    return statements


@dataclass(frozen=True)
class Run:
    """How programs are run."""

    device: str = "cpu"
    every: int = 1  # each so many-th program is compiled, the others run by the built-in loops
    way: str | None = None  # one of the ways of `Programs.ways`, instead of the seed's own

    def arguments(self) -> list[str]:
        return ["--device", self.device, "--every", str(self.every), *(["--way", self.way] if self.way else [])]


CPU = Run()


@dataclass
class Programs:
    """A kind of random programs."""

    script: str  # the file that is run as a child process
    make: Callable[[int], list[str]]  # the statements of a seed
    wrong: Callable[[list[str], int | None, Run], str | None]  # what is wrong with the statements of a seed; seed None: with any statements
    head: list[str]  # what a program needs before its first statement
    ways: tuple[str, ...] = ()  # the ways that --way can choose
    # Whether the programs of these seeds are right, which is faster to tell of many than of each; False says that each must be looked at.
    all_right: Callable[[list[int]], bool] | None = None
    together: int = 1  # how many programs are given to all_right

    def report(self, seed: int, run: Run, wrong: str, minimal: list[str]) -> str:
        return f"seed {seed} on {run.device}: {wrong}\n--- minimal program\n" + "\n".join(self.head + minimal) + "\n---"

    def check(self, seed: int, run: Run = CPU) -> str | None:
        """The report of a failing seed, with a minimal program; None when it is fine."""
        statements = self.make(seed)
        wrong = self.wrong(statements, seed, run)
        if wrong is None:
            return None
        minimal = shrink(statements, lambda s: self.wrong(s, seed, run) is not None)
        return self.report(seed, run, self.wrong(minimal, seed, run) or wrong, minimal)

    def child(self, *arguments: str) -> subprocess.Popen:
        pipe = subprocess.PIPE
        stdin = pipe if "--program" in arguments else subprocess.DEVNULL
        command = [sys.executable, self.script, *arguments]
        return subprocess.Popen(command, stdin=stdin, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=child_environment())

    def ends_badly(self, statements: list[str], run: Run) -> str | None:
        """How a process that runs the program ends, unless it ends well."""
        process = self.child("--program", *run.arguments())
        try:
            out, _ = process.communicate(json.dumps(statements), timeout=HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return f"hangs for more than {HANG} s"
        if process.returncode == 0:
            return None
        return f"ends with status {process.returncode}\n{out[-1500:]}" if process.returncode < 0 else None

    def check_all(self, start: int, count: int, run: Run = CPU, show: bool = False) -> list[str]:
        """The reports of all failing seeds of a range."""
        reports: list[str] = []
        stop = start + count
        alone = start  # programs before this one are run one by one
        while start < stop:
            limits = ("--start", str(start), "--count", str(stop - start), "--alone", str(alone))
            process = self.child("--worker", *limits, *run.arguments())
            killer = None
            assert process.stdout is not None
            tail: list[str] = []
            several = False
            for line in process.stdout:
                if killer:
                    killer.cancel()
                killer = threading.Timer(HANG, process.kill)
                killer.start()
                if line.startswith(("@", "+")):
                    start = int(line[1:])
                    several = line[0] == "+"
                    tail = []
                    if show:
                        print(line, end="", flush=True)
                elif line.startswith("!"):
                    reports.append(json.loads(line[1:]))
                    if show:
                        print(reports[-1], flush=True)
                else:
                    tail.append(line)
            if killer:
                killer.cancel()
            process.stdout.close()
            if process.wait() == 0:
                break
            if several:
                alone = start + self.together
                continue
            statements = self.make(start)
            first = f"ends with status {process.returncode}\n{''.join(tail)[-1500:]}"
            minimal = shrink(statements, lambda s: self.ends_badly(s, run) is not None) if self.ends_badly(statements, run) else statements
            reports.append(self.report(start, run, self.ends_badly(minimal, run) or first, minimal))
            start += 1
        return reports

    def work(self, seeds: range, alone: int, run: Run) -> None:
        """Prints "@" and the seed before each program, "+" and the first seed before several, and "!" and the report of what fails."""
        for first in range(0, len(seeds), self.together):
            group = list(seeds[first : first + self.together])
            if self.all_right and group[0] >= alone:
                print(f"+{group[0]}", flush=True)
                if self.all_right(group):
                    continue
            for seed in group:
                print(f"@{seed}", flush=True)
                found = self.check(seed, run)
                if found:
                    print("!" + json.dumps(found), flush=True)

    def main(self, description: str | None) -> int:
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--seed", type=int, help="run one program")
        parser.add_argument("--start", type=int, default=0)
        parser.add_argument("--count", type=int, default=1000)
        parser.add_argument("--device", default="cpu")
        parser.add_argument(
            "--every", type=int, default=1, help="compile each so many-th program only; the others run by the built-in loops"
        )
        if self.ways:
            parser.add_argument("--way", choices=self.ways, help="run all programs in this way, instead of one that the seed chooses")
        parser.add_argument("--show", action="store_true", help="print the program of --seed, or each seed")
        parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
        parser.add_argument("--alone", type=int, default=0, help=argparse.SUPPRESS)
        parser.add_argument("--program", action="store_true", help=argparse.SUPPRESS)
        options = parser.parse_args()
        run = Run(options.device, options.every, getattr(options, "way", None))
        if options.program:
            faulthandler.enable()
            return 1 if self.wrong(json.load(sys.stdin), None, run) else 0
        if options.worker:
            faulthandler.enable()
            self.work(range(options.start, options.start + options.count), options.alone, run)
            return 0
        if options.seed is not None:
            options.start, options.count = options.seed, 1
            if options.show:
                print("\n".join(self.make(options.seed)))
        reports = self.check_all(options.start, options.count, run, options.show and options.seed is None)
        print("\n\n".join(reports))
        print(f"{options.count} programs, {len(reports)} failures")
        return 1 if reports else 0
