"""Made-up result folders of the size and shape that evaluations write."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from spanwise.eval.question_record import Evidence, QuestionRecord
from spanwise.pipelines.evaluation.result_folder import ResultFolder

WORDS = (
    "mill weir tram harbour keeper stone bridge flood lamp ferry crown library council night river".split()
)
QUESTIONS = ("Who built the {}?", "When was the {} opened?", "Why is the {} shut?", "How many {}s are there?")
DEPTHS = (1, 5, 20, 100)


def made_records(
    n: int, systems: tuple[str, ...] = ("bm25", "dense", "hybrid"), seed: int = 0
) -> Iterator[QuestionRecord]:
    """For each system and question a record as of an open-domain evaluation; the same for a seed."""
    for place, system in enumerate(systems):
        luck = random.Random(f"{seed} {system}")
        for i in range(n):
            yield made_record(luck, system, i, skill=0.6 + 0.1 * place)


def made_record(luck: random.Random, system: str, i: int, skill: float) -> QuestionRecord:
    """One question: it is answered right as often as the skill says, and the confidence knows a little."""
    question = luck.choice(QUESTIONS).format(luck.choice(WORDS))
    gold = " ".join(luck.sample(WORDS, luck.choice((1, 1, 2, 3, 7))))
    answerable = luck.random() < 0.9
    confidence = min(0.999, max(0.0, luck.betavariate(4, 2)))
    right = luck.random() < (skill + confidence) / 2
    said = gold if right else " ".join(luck.sample(WORDS, 2))
    prediction = said if luck.random() < 0.5 + confidence / 2 else ""
    scores = {f"recall@{k}": float(luck.random() < skill + 0.1 * at) for at, k in enumerate(DEPTHS)}
    scores["exact"] = float(right and bool(prediction)) if answerable else float(not prediction)
    scores["f1"] = 1.0 if scores["exact"] else luck.random() * bool(prediction) * answerable * 0.8
    return QuestionRecord(
        system,
        f"q{i:05}",
        question,
        scores,
        answerable,
        "",
        (gold,) if answerable else (),
        ("town.md",) if answerable else (),
        prediction,
        confidence,
        {"retrieve": luck.lognormvariate(1.5, 0.5), "read": luck.lognormvariate(4, 0.4)},
        tuple(_evidence(luck, rank, said, gold) for rank in range(5)),
    )


def made_results(path: Path, records: Iterator[QuestionRecord], finished: bool = True) -> ResultFolder:
    """The records in a folder, with figures when it is finished."""
    with ResultFolder.start(path, "open", {"k": 20, "data": "made-up.json", "limit": None}) as results:
        results.add(records)
        if finished:
            figures = {"recall@1": 0.6125, "exact": 61.254321987, "ms": {"retrieve": 4.25}}
            results.finish(dict.fromkeys(("bm25", "dense", "hybrid"), figures))
        return results


def _evidence(luck: random.Random, rank: int, said: str, gold: str) -> Evidence:
    before, after = (" ".join(luck.choices(WORDS, k=luck.randint(3, 60))) for _ in range(2))
    text = f"{before} {said if rank != 1 else gold} {after}."
    span = (len(before) + 1, len(before) + 1 + len(said)) if rank in (0, 2) else None
    return Evidence(
        "town.md" if rank < 2 else "lore.md", 10 * rank, 10 * rank + len(text), text, 9.0 - rank, span
    )
