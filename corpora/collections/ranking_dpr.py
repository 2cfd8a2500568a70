"""The training examples of DPR as ranking examples: positives, then hard negatives, then the others.

A title stands in the line above its text. Answers are not kept, nor are they written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spanwise.types import RankingExample

from .collection import CollectionDocument
from .dpr_json import DprExample, read_training, write_array

FORM = "DPR (a JSON array of objects with question, positive_ctxs, hard_negative_ctxs, negative_ctxs)"


def read_dpr_examples(path: Path, tell: Callable[[str], None]) -> Iterator[RankingExample]:
    """The examples of a file; `tell` hears how many questions were left out for want of a positive."""
    left_out = 0
    for one in read_training(path):
        if one.positives:
            yield _example(one)
        else:
            left_out += 1
    if left_out:
        tell(f"{path}: {left_out:,} questions without a positive passage, left out")


def dpr_passages(path: Path) -> Iterator[str]:
    """The passages of all examples, in order; a passage may come more than once."""
    for one in read_training(path):
        yield from (each.titled for each in (*one.positives, *one.hard_negatives, *one.negatives))


def write_dpr_examples(path: Path, examples: Iterable[RankingExample]) -> int:
    """Write a training file and return how many examples it has; what is no positive is a hard negative."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_array(path, map(_values, examples))


def _example(one: DprExample) -> RankingExample:
    positives = _texts(one.positives)
    others = (text for text in _texts((*one.hard_negatives, *one.negatives)) if text not in positives)
    return RankingExample(one.question.text, (*positives, *others), len(positives))


def _texts(passages: Sequence[CollectionDocument]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.titled for each in passages))


def _values(example: RankingExample) -> dict[str, Any]:
    contexts: list[dict[str, Any]] = [{"title": "", "text": text} for text in example.passages]
    if example.scores:
        contexts = [{**one, "score": score} for one, score in zip(contexts, example.scores, strict=True)]
    return {
        "question": example.question,
        "answers": [],
        "positive_ctxs": contexts[: example.n_positive],
        "negative_ctxs": [],
        "hard_negative_ctxs": contexts[example.n_positive :],
    }
