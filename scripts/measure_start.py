"""Measures what a command costs from the start of its process: time, processor time, memory, imports.

    python scripts/measure_start.py --rounds 9

Commands run one after the other in each round, so that what else the machine does meets all of them; the
table gives medians. The index is that of the sample corpus, made before; the demo is what a second
`make demo` runs. Prints Markdown.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

SAMPLE = Path(__file__).resolve().parent.parent / "corpora" / "sample"
SEARCH, ASK = "`spanwise search … --retriever bm25`", "`spanwise ask …`"
DEMO = "second `make demo`"
QUESTION = "Who saved the Teal School after the bridge toll was abolished?"
ENVIRONMENT = {**os.environ, "SPANWISE_NO_CACHE": "1"}
KILOBYTE = 1e-6 if sys.platform == "darwin" else 1.024e-3  # of `ru_maxrss`, in MB


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took: seconds on the wall, of processors, and its largest resident size in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def command_lines(index: Path) -> dict[str, list[list[str]]]:
    """The commands by the name that the table gives them; one that is several runs them in turn."""
    spanwise = ["-m", "spanwise"]
    there = ["--index", str(index)]
    sync, ask = [*spanwise, "index", str(SAMPLE / "docs"), *there], [*spanwise, "ask", *there]
    return {
        "`python -c pass`": [["-c", "pass"]],
        "`python -c 'import torch'`": [["-c", "import torch"]],
        "`spanwise --version`": [[*spanwise, "--version"]],
        "`spanwise --help`": [[*spanwise, "--help"]],
        SEARCH: [[*spanwise, "search", QUESTION, "--retriever", "bm25", *there]],
        ASK: [[*spanwise, "ask", QUESTION, *there]],
        DEMO: [sync, ask],
    }


def run(arguments: Sequence[str]) -> Run:
    """One process, with the demo's questions as its stdin; CalledProcessError when it fails."""
    with (SAMPLE / "demo-questions.txt").open("rb") as questions:
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *arguments], stdin=questions, stdout=subprocess.DEVNULL, env=ENVIRONMENT,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return Run(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss * KILOBYTE)


def table(rounds: int, index: Path) -> list[str]:
    """The rows of Markdown, after `rounds` rounds of all commands."""
    runs: dict[str, list[Run]] = {name: [] for name in command_lines(index)}
    for _ in range(rounds):
        for name, lines in command_lines(index).items():
            parts = [run(line) for line in lines]
            wall_s, cpu_s = sum(part.wall_s for part in parts), sum(part.cpu_s for part in parts)
            runs[name].append(Run(wall_s, cpu_s, max(part.peak_mb for part in parts)))
    least = median(one.cpu_s for one in runs["`python -c pass`"])
    rows = ["| command | wall s | CPU s | times `python -c pass` (CPU) | peak MB |"]
    rows.append("| --- | --- | --- | --- | --- |")
    for name, found in runs.items():
        wall, cpu, peak = (
            median(getattr(r, field) for r in found) for field in ("wall_s", "cpu_s", "peak_mb")
        )
        rows.append(f"| {name} | {wall:.2f} | {cpu:.2f} | {cpu / least:.1f} | {peak:.0f} |")
    return rows


def import_table(name: str, line: Sequence[str], most: int) -> list[str]:
    """The packages that a command imports, by the time that their own modules take."""
    command = [sys.executable, "-X", "importtime", *line]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=True)
    own_us: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for each in done.stderr.splitlines():
        head, _, rest = each.partition("import time:")
        own, _, module = rest.replace("|", " ").split(maxsplit=2) if not head and rest else ("", "", "")
        if own.isdigit():
            package = module.strip().partition(".")[0]
            own_us[package] += int(own)
            modules[package] += 1
    total = sum(own_us.values())
    rows = ["", f"Imports of {name}: {sum(modules.values())} modules, {total / 1e3:.0f} ms", ""]
    rows += ["| package | modules | ms | share |", "| --- | --- | --- | --- |"]
    for package, us in own_us.most_common(most):
        rows.append(f"| {package} | {modules[package]} | {us / 1e3:.0f} | {us / total:.0%} |")
    return rows


def main() -> None:
    """Makes the index, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=9, help="how often each command runs")
    parser.add_argument("--imports", type=int, default=8, help="how many packages an import table shows")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        lines = command_lines(index)
        run(lines[DEMO][0])
        print("\n".join(table(given.rounds, index)))
        for name in (SEARCH, ASK):
            print("\n".join(import_table(name, lines[name][0], given.imports)))


if __name__ == "__main__":
    main()
