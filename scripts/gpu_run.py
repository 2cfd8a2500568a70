"""Trains a teacher and a student on a borrowed GPU machine, see docs/gpu.md.

Here: `prepare`, `plan`, and afterwards `join`. On the GPU machine: `step NAME`. Exit code 3: time was up, the
same step goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIME_WAS_UP = 3
PREPARED = Path(".gpu")
STEPS = ("receive", "teacher", "label", "student", "export", "measure")

if find_spec("spanwise") is None:  # a checkout that is not installed
    sys.path.insert(0, str(ROOT))

from spanwise.errors import SpanwiseError  # noqa: E402 (the path comes first)


def arguments() -> argparse.ArgumentParser:
    """The commands and their options."""
    parser = argparse.ArgumentParser(prog="python scripts/gpu_run.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("prepare", help="make what the GPU machine needs")
    made.add_argument("--folders", type=Path, required=True, help="folders with questions")
    made.add_argument("--mined", type=Path, required=True, help="the run folder with passages mined for them")
    made.add_argument(
        "--data", type=Path, action="append", default=[], help="a SQuAD-format file, repeatable"
    )
    made.add_argument("--base", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    made.add_argument("--limit", type=int, help="questions about folders; default: all")
    made.add_argument("--squad", type=int, default=24_000, help="questions of SQuAD")
    made.add_argument("--out", type=Path, default=PREPARED)
    planned = commands.add_parser("plan", help="print the calls to make")
    planned.add_argument("--from", dest="source", type=Path, default=PREPARED, help="what prepare wrote")
    planned.add_argument("--room", type=int, default=56, help="megabytes that a call may carry")
    planned.add_argument("--json", action="store_true")
    joined = commands.add_parser("join", help="make readers of what came back")
    joined.add_argument("folders", type=Path, nargs="+", help="the output folders of the export calls")
    joined.add_argument("--prepared", type=Path, default=PREPARED)
    joined.add_argument("--base", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    joined.add_argument("--out", type=Path, required=True)
    step = commands.add_parser("step", help="run a step on the GPU machine")
    step.add_argument("name", choices=STEPS)
    step.add_argument("--work", type=Path, required=True, help="a folder that outlives the call")
    step.add_argument("--from", dest="source", type=Path, default=PREPARED, help="carried parts (receive)")
    step.add_argument("--out", type=Path, help="the folder that comes back (export, measure)")
    step.add_argument("--call", type=int, default=1, help="which parts to export")
    step.add_argument("--device", help="default: the first GPU, or the CPU")
    step.add_argument("--minutes", type=float, default=8.0, help="when training stops, to go on later")
    step.add_argument("--budget", type=float, help="minutes of training in all calls; default: 8")
    step.add_argument("--tokens", type=int, help="tokens to train on; default: 30 million, or one epoch")
    step.add_argument("--batch-tokens", type=int, help="tokens of a batch; default: 16384")
    step.add_argument("--learning-rate", type=float, help="default: 1.5e-4 (teacher), 2e-4 (student)")
    step.add_argument("--texts", type=int, default=20_000, help="texts to encode (measure)")
    step.add_argument("--passages", type=int, default=1_000_000, help="passages of MaxSim (measure)")
    return parser


def prepare(given: argparse.Namespace) -> None:
    """Make the files and print the size of each."""
    from gpu_chain.prepare import Amounts, Sources, prepare

    sources = Sources(given.folders, given.mined, given.data, given.base)
    cuts = prepare(sources, Amounts(squad=given.squad, limit=given.limit), given.out)
    for name, one in cuts.items():
        print(f"{name:28} {one.size:12,} bytes in {len(one.parts)}")


def step(given: argparse.Namespace) -> int:
    """Run a step; TIME_WAS_UP if it is to be called again."""
    from gpu_chain import steps

    given.work.mkdir(parents=True, exist_ok=True)
    options = ("budget", "tokens", "batch_tokens", "learning_rate")
    named = {name: getattr(given, name) for name in options}
    changes = {name: value for name, value in named.items() if value is not None}
    if given.name in ("export", "measure"):
        if given.out is None:
            raise ValueError(f"the step {given.name} needs --out")
        given.out.mkdir(parents=True, exist_ok=True)
    if given.name == "receive":
        steps.receive(given.work, given.source)
    elif given.name == "teacher":
        how = replace(steps.TEACHER, minutes=given.minutes, **changes)
        return 0 if steps.train_teacher(given.work, how, given.device) else TIME_WAS_UP
    elif given.name == "student":
        how = replace(steps.STUDENT, minutes=given.minutes, **changes)
        return 0 if steps.train_student(given.work, how, given.device) else TIME_WAS_UP
    elif given.name == "label":
        steps.label(given.work, given.device)
    elif given.name == "export":
        from gpu_chain.results import export

        export(given.work, given.out, given.call)
    else:
        from gpu_chain.measure import measure

        measure(given.work, given.out, given.texts, given.passages, given.device)
    return 0


def main(words: list[str] | None = None) -> int:
    """Run a command; 1 for a named error in one line."""
    given = arguments().parse_args(words)
    try:
        if given.command == "prepare":
            prepare(given)
        elif given.command == "plan":
            from gpu_chain.plan import as_text, plan

            calls = plan(given.source, room=1_000_000 * given.room)
            print(json.dumps([asdict(call) for call in calls], indent=1) if given.json else as_text(calls))
        elif given.command == "join":
            from gpu_chain.results import join_results

            join_results(given.folders, given.prepared, given.base, given.out)
        else:
            return step(given)
    except (SpanwiseError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
