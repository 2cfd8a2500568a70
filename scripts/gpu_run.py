"""Trains a teacher and a student on a borrowed GPU machine, see docs/gpu.md.

On this machine: `prepare`, `plan`, and afterwards `join`. On the GPU machine: `step NAME`. Exit code 3: time
was up; the same step resumes.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIME_WAS_UP = 3
PREPARED = Path(".gpu")
STEPS = ("receive", "teacher", "label", "student", "export")
CALL_FILES = 8  # that a call carries, the manifest among them
EXPORTS = 2  # calls, for a teacher of 109M weights
STEP = "python3 scripts/gpu_run.py step"
WORK = "--work /tmp/gpu"
TESTS = "python3 -m pytest -q -m gpu -W default $(grep -rl mark.gpu tests --include='*.py')"

if find_spec("spanwise") is None:  # a checkout that is not installed
    sys.path.insert(0, str(ROOT))

from spanwise.errors import SpanwiseError  # noqa: E402 (the path comes first)


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="python scripts/gpu_run.py", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    add = commands.add_parser("prepare", help="make the files for the GPU machine").add_argument
    add("--folders", type=Path, required=True, help="folders with questions")
    add("--mined", type=Path, required=True, help="the run folder with passages mined for them")
    add("--data", type=Path, action="append", default=[], help="a SQuAD-format file, repeatable")
    add("--base", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    add("--squad", type=int, default=24_000, help="questions of SQuAD")
    add("--out", type=Path, default=PREPARED)
    add = commands.add_parser("plan", help="print the calls to make").add_argument
    add("--from", dest="source", type=Path, default=PREPARED, help="the output folder of prepare")
    add("--room", type=int, default=56, help="megabytes that a call may carry")
    add("--json", action="store_true")
    add = commands.add_parser("join", help="make readers of the exported parts").add_argument
    add("folders", type=Path, nargs="+", help="the output folders of the export calls")
    add("--prepared", type=Path, default=PREPARED)
    add("--base", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    add("--out", type=Path, required=True)
    add = commands.add_parser("step", help="run a step on the GPU machine").add_argument
    add("name", choices=STEPS)
    add("--work", type=Path, required=True, help="a folder that outlives the call")
    add("--from", dest="source", type=Path, default=PREPARED, help="carried parts (receive)")
    add("--out", type=Path, help="the folder that comes back (export)")
    add("--call", type=int, default=1, help="which parts to export")
    add("--device", help="default: the first GPU, or the CPU")
    add("--minutes", type=float, default=8.0, help="when training stops, to resume later")
    add("--budget", type=float, default=8.0, help="minutes of training in all calls")
    add("--tokens", type=int, help="tokens to train on; default: 30 million, or one epoch")
    add("--batch-tokens", type=int, default=6_144, help="tokens of a batch")
    return top


def prepare(options: argparse.Namespace) -> None:
    """Make the files and print the size of each."""
    from gpu_chain import data

    files = data.prepare(
        options.folders, options.mined, options.data, options.base, options.squad, options.out
    )
    for name, parts in files.items():
        print(f"{name:28} {sum(part.size for part in parts):12,} bytes in {len(parts)}")


@dataclass(frozen=True, slots=True)
class Call:
    """A call on the GPU machine.

    carry: the paths of the files that it carries.
    command: the shell command.
    minutes: how long it takes.
    limit_s: the longest that it may take, in seconds.
    """

    carry: Sequence[str]
    command: str
    minutes: float
    limit_s: int = 600


def plan(prepared: Path, room: int) -> list[Call]:
    """The calls for the files that `prepare` wrote; all run on one machine, which must stay warm.

    No call carries more than `room` bytes. ValueError for a part that is larger.
    """
    from gpu_chain import data

    files = data.read_manifest(prepared)
    needed = (
        data.TEACHER_BASE,
        data.GROUPS,
        data.SETTINGS,
        data.STUDENT_BASE,
        data.STUDENT_DELTA,
    )
    parts = [part for name in needed for part in files.get(name, ())]
    for part in parts:
        if part.size > room:
            raise ValueError(f"{part.name} has {part.size:,} bytes, room is {room:,}. Make smaller parts")
    loads = [
        [f"{prepared}/{name}" for name in (data.MANIFEST, *(part.name for part in load))]
        for load in data.loads_of(parts, CALL_FILES - 1, room)
    ]
    receive = f"{STEP} receive {WORK} --from {prepared}"
    train = f"{receive} && {STEP} teacher {WORK} --minutes 8"
    label = f"{STEP} teacher {WORK} --minutes 2 && {STEP} label {WORK} && {STEP} student {WORK} --minutes 4"
    export = f'{STEP} export {WORK} --out "$OUT"'
    return [
        *(Call(load, receive, 0.5) for load in loads[:-1]),
        Call(loads[-1], train, 5),
        Call([], label, 6),
        Call([], f"{STEP} student {WORK} --minutes 7 && {export} --call 1", 3),
        *(Call([], f"{export} --call {number}", 0.5) for number in range(2, EXPORTS + 1)),
        Call([], TESTS, 1),
    ]


def print_plan(options: argparse.Namespace) -> None:
    """Print the calls as JSON, or as blocks to paste."""
    calls = plan(options.source, 1_000_000 * options.room)
    if options.json:
        print(json.dumps([asdict(call) for call in calls], indent=1))
        return
    total = sum(call.minutes for call in calls)
    print(f"{len(calls)} calls, about {total:.0f} minutes of work, on one machine, which must stay warm.")
    for number, call in enumerate(calls, 1):
        print(f"\n{number}. about {call.minutes:g} minutes, limit {call.limit_s} s")
        print(f"   carry: {', '.join(call.carry) or '-'}")
        print(f"   {call.command}")


def step(options: argparse.Namespace) -> int:
    """Run a step; TIME_WAS_UP if it must be called again."""
    from gpu_chain import data, steps

    work = options.work
    work.mkdir(parents=True, exist_ok=True)
    match options.name:
        case "receive":
            data.receive(work, options.source)
        case "label":
            steps.label(work, options.device)
        case "export":
            if options.out is None:
                raise ValueError("the step export needs --out")
            options.out.mkdir(parents=True, exist_ok=True)
            steps.export(work, options.out, options.call)
        case _:
            training = steps.TrainingOptions(
                options.minutes, options.budget, options.tokens, options.batch_tokens, options.device
            )
            train = steps.train_teacher if options.name == "teacher" else steps.train_student
            return 0 if train(work, training) else TIME_WAS_UP
    return 0


def join(options: argparse.Namespace) -> None:
    """Make readers of the parts that came back."""
    from gpu_chain.steps import join_results

    join_results(options.folders, options.prepared, options.base, options.out)


def main(words: list[str] | None = None) -> int:
    """Run a command; 1 for a named error in one line."""
    options = parser().parse_args(words)
    commands = {"prepare": prepare, "plan": print_plan, "join": join, "step": step}
    try:
        return commands[options.command](options) or 0
    except (SpanwiseError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
