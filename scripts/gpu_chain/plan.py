"""The calls of a run on the GPU machine, in order: the files that each one carries, and its command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .files import ENCODER, GROUPS, SETTINGS, STUDENT_BASE, STUDENT_DELTA, TEACHER_BASE
from .parts import MANIFEST, Cut, Part, read_manifest

ROOM = 56_000_000  # bytes of carried files, where the shipped weights are moved aside
CARRIED = 8  # files of a call, the manifest among them
ORDER = (TEACHER_BASE, GROUPS, SETTINGS, STUDENT_BASE, STUDENT_DELTA, ENCODER)
STEP = "python3 scripts/gpu_run.py step"
TESTS = "python3 -m pytest -q -m gpu -p no:cacheprovider -W default tests/models/test_packed.py"
EXPORTS = 3  # calls, for a teacher of 109M weights


@dataclass(frozen=True, slots=True)
class Call:
    """A call: what it carries, its command, how long it takes, and the longest that it may."""

    carry: tuple[str, ...]
    command: str
    minutes: float
    limit_s: int = 600


def plan(prepared: Path, work: str = "/tmp/gpu", room: int = ROOM) -> list[Call]:
    """The calls for what `prepare` wrote to a folder; all belong to one machine, which must stay warm."""
    loads = [
        (f"{prepared}/{MANIFEST}", *(f"{prepared}/{part.name}" for part in load))
        for load in loads_of(read_manifest(prepared), room)
    ]
    at = f"--work {work}"
    receive = f"{STEP} receive {at} --from {prepared}"
    begun = [Call(load, receive, 0.5) for load in loads[:-1]]
    begun[:1] = [Call(one.carry, f"{one.command} && {TESTS}", 1) for one in begun[:1]]
    train = f"{receive} && {STEP} teacher {at} --minutes 8"
    label = f"{STEP} teacher {at} --minutes 2 && {STEP} label {at} && {STEP} student {at} --minutes 4"
    export = f'{STEP} export {at} --out "$OUT"'
    return [
        *begun,
        Call(loads[-1], train, 5),
        Call((), label, 6),
        Call((), f"{STEP} student {at} --minutes 7 && {export} --call 1", 3),
        *(Call((), f"{export} --call {number}", 0.5) for number in range(2, EXPORTS + 1)),
        Call((), f'{STEP} measure {at} --out "$OUT"', 2),
    ]


def loads_of(cuts: Mapping[str, Cut], room: int) -> list[list[Part]]:
    """The parts that each call carries, in the order in which they are needed; none is larger than `room`."""
    loads: list[list[Part]] = [[]]
    for name in (*ORDER, *sorted(cuts.keys() - set(ORDER))):
        for part in cuts[name].parts if name in cuts else ():
            if part.size > room:
                raise ValueError(f"{part.name} has {part.size:,} bytes, room is {room:,}. Make smaller parts")
            size = part.size + sum(one.size for one in loads[-1])
            if loads[-1] and (size > room or len(loads[-1]) == CARRIED - 1):
                loads.append([])
            loads[-1].append(part)
    return loads


def as_text(calls: list[Call]) -> str:
    """The calls to paste, one block each."""
    total = sum(call.minutes for call in calls)
    blocks = [f"{len(calls)} calls, about {total:.0f} minutes of work, on one machine, which must stay warm."]
    for number, call in enumerate(calls, 1):
        head = f"{number}. about {call.minutes:g} minutes, limit {call.limit_s} s"
        carried = f"   carry: {', '.join(call.carry) or '-'}"
        blocks.append(f"{head}\n{carried}\n   {call.command}")
    return "\n\n".join(blocks)
