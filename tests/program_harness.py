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


@dataclass
class Programs:
    """A kind of random programs."""

    script: str  # the file that is run as a child process
    make: Callable[[int], list[str]]  # the statements of a seed
    wrong: Callable[[list[str], int | None, str, int], str | None]  # statements, seed, device, every: what is wrong; seed None: any of it
    head: list[str]  # what a program needs before its first statement

    def report(self, seed: int, device: str, wrong: str, minimal: list[str]) -> str:
        return f"seed {seed} on {device}: {wrong}\n--- minimal program\n" + "\n".join(self.head + minimal) + "\n---"

    def check(self, seed: int, device: str = "cpu", every: int = 1) -> str | None:
        """The report of a failing seed, with a minimal program; None when it is fine. Only each `every`-th program is compiled."""
        statements = self.make(seed)
        wrong = self.wrong(statements, seed, device, every)
        if wrong is None:
            return None
        minimal = shrink(statements, lambda s: self.wrong(s, seed, device, every) is not None)
        return self.report(seed, device, self.wrong(minimal, seed, device, every) or wrong, minimal)

    def child(self, *arguments: str) -> subprocess.Popen:
        pipe = subprocess.PIPE
        stdin = pipe if "--program" in arguments else subprocess.DEVNULL
        command = [sys.executable, self.script, *arguments]
        return subprocess.Popen(command, stdin=stdin, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=child_environment())

    def ends_badly(self, statements: list[str], device: str) -> str | None:
        """How a process that runs the program ends, unless it ends well."""
        process = self.child("--program", "--device", device)
        try:
            out, _ = process.communicate(json.dumps(statements), timeout=HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return f"hangs for more than {HANG} s"
        if process.returncode == 0:
            return None
        return f"ends with status {process.returncode}\n{out[-1500:]}" if process.returncode < 0 else None

    def check_all(self, start: int, count: int, device: str = "cpu", every: int = 1, show: bool = False) -> list[str]:
        """The reports of all failing seeds of a range."""
        reports: list[str] = []
        stop = start + count
        while start < stop:
            arguments = {"--start": start, "--count": stop - start, "--device": device, "--every": every}
            process = self.child("--worker", *(str(a) for pair in arguments.items() for a in pair))
            killer = None
            assert process.stdout is not None
            tail: list[str] = []
            for line in process.stdout:
                if killer:
                    killer.cancel()
                killer = threading.Timer(HANG, process.kill)
                killer.start()
                if line.startswith("@"):
                    start = int(line[1:])
                    tail = []
                    if show:
                        print(line, end="", flush=True)
                elif line.startswith("!"):
                    reports.append(json.loads(line[1:]))
                else:
                    tail.append(line)
            if killer:
                killer.cancel()
            process.stdout.close()
            if process.wait() == 0:
                break
            statements = self.make(start)
            first = f"ends with status {process.returncode}\n{''.join(tail)[-1500:]}"
            minimal = (
                shrink(statements, lambda s: self.ends_badly(s, device) is not None) if self.ends_badly(statements, device) else statements
            )
            reports.append(self.report(start, device, self.ends_badly(minimal, device) or first, minimal))
            start += 1
        return reports

    def main(self, description: str | None) -> int:
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--seed", type=int, help="run one program")
        parser.add_argument("--start", type=int, default=0)
        parser.add_argument("--count", type=int, default=1000)
        parser.add_argument("--device", default="cpu")
        parser.add_argument(
            "--every", type=int, default=1, help="compile each so many-th program only; the others run by the built-in loops"
        )
        parser.add_argument("--show", action="store_true", help="print the program of --seed, or each seed")
        parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
        parser.add_argument("--program", action="store_true", help=argparse.SUPPRESS)
        options = parser.parse_args()
        if options.program:
            faulthandler.enable()
            return 1 if self.wrong(json.load(sys.stdin), None, options.device, 1) else 0
        if options.worker:
            faulthandler.enable()
            for seed in range(options.start, options.start + options.count):
                print(f"@{seed}", flush=True)
                found = self.check(seed, options.device, options.every)
                if found:
                    print("!" + json.dumps(found), flush=True)
            return 0
        if options.seed is not None:
            options.start, options.count = options.seed, 1
            if options.show:
                print("\n".join(self.make(options.seed)))
        reports = self.check_all(options.start, options.count, options.device, options.every, options.show and options.seed is None)
        print("\n\n".join(reports))
        print(f"{options.count} programs, {len(reports)} failures")
        return 1 if reports else 0
