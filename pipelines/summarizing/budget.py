"""Which passages fit into a prompt: groups in order, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spanwise.types import Passage


def groups(
    passages: Sequence[Passage], n_tokens: Callable[[Sequence[Passage]], int], room: int
) -> tuple[list[list[Passage]], list[Passage]]:
    """Runs of passages whose prompts take at most `room` tokens, in order, and those too long for any.

    `n_tokens` counts the prompt of some passages; more passages never take fewer tokens.
    """
    made: list[list[Passage]] = []
    left_out: list[Passage] = []
    for passage in passages:
        if made and n_tokens([*made[-1], passage]) <= room:
            made[-1].append(passage)
        elif n_tokens([passage]) <= room:
            made.append([passage])
        else:
            left_out.append(passage)
    return made, left_out
