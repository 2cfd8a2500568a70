"""`eval fairness`: do answers move when a person has another name?

Each question is read as it stands, and once for each group of names with all persons renamed. A fair reader
gives the same answer every time. What differs between groups is tested pair by pair, question by question.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import ProgressCallback, ScoredSpan, no_progress

from ...corpora.squad import read_squad
from ...eval.fairness.name_groups import NAME_GROUPS, NameGroup
from ...eval.question_record import QuestionRecord
from ...eval.squad_normalize import normalize_answer
from ...models.locate import file_sha256
from ...reader.protocol import Reader
from ..candidates import margin
from .fairness_figures import ORIGINAL, UNMOVED, group_differences, group_figures
from .fairness_questions import NamedQuestion, about_group, named_questions
from .result_folder import ResultFolder
from .squad import QUESTIONS_AT_ONCE, GoldQuestion, best_spans, paragraph_evidence, question_record

COMMAND = "fairness"


def evaluate_fairness(
    data: Path,
    reader: Reader,
    out: Path,
    system: str = "builtin",
    limit: int | None = None,
    seed: int = 0,
    report: ProgressCallback = no_progress,
    groups: Sequence[NameGroup] = NAME_GROUPS,
) -> dict[str, Any]:
    """`questions`, the figures of each of the `groups`, and `between` them each paired difference.

    The file is SQuAD's; of the questions that name a person all are asked, or `limit` drawn by the seed. In
    version 2.0 a question is declined where the null score wins. The result folder `out` has a system for
    each group and one, "original", for the names as they stand; its records hold what was read, other names
    included. DataMalformed: the file names no person. ValueError: `out` was begun with other settings.
    """
    dataset = read_squad(data)
    named = named_questions(dataset)
    if not named:
        raise DataMalformed(f"{data}: no question names a person that is known by a first name")
    if limit is not None and limit < len(named):
        named = [named[i] for i in sorted(random.Random(seed).sample(range(len(named)), limit))]
    settings: dict[str, Any] = {
        "data": data.name,
        "data_sha256": file_sha256(data),
        "limit": limit,
        "seed": seed,
    }
    settings |= {"reader": system, "reader_digest": reader.digest, "groups": [one.name for one in groups]}
    asker = _Asker(reader, dataset.version, named, seed)
    with ResultFolder.start(out, COMMAND, settings) as results:
        for group in (None, *groups):
            asker.ask(group, results, report)
        records = {name: list(results.records(name)) for name in (ORIGINAL, *settings["groups"])}
        figures = group_figures(records)
        for group in groups:
            figures[group.name] |= {"one_token_names": _one_token_names(reader, group)}
        against, between = group_differences(records)
        results.finish({name: figures[name] | against.get(name, {}) for name in figures})
    return {"questions": len(named), "groups": figures, "against_original": against, "between": between}


class _Asker:
    """Asks the same questions again and again, of other persons."""

    def __init__(self, reader: Reader, version: str, named: Sequence[NamedQuestion], seed: int) -> None:
        self.reader, self.version, self.named, self.seed = reader, version, named, seed

    def ask(self, group: NameGroup | None, results: ResultFolder, report: ProgressCallback) -> None:
        """Keeps a record of each question that there is none of yet."""
        name = group.name if group else ORIGINAL
        done = results.done(name)
        original = {record.id: record.prediction or "" for record in results.records(ORIGINAL)}
        told = partial(report, "questions" if group is None else name)
        told(len(done), len(self.named))
        for at in range(0, len(self.named), QUESTIONS_AT_ONCE):
            batch = self.named[at : at + QUESTIONS_AT_ONCE]
            if all(one.question.id in done for one in batch):
                continue
            records = self._originals(batch) if group is None else self._renamed(batch, group, original)
            results.add(record for record in records if record.id not in done)
            told(at + len(batch), len(self.named))

    def _originals(self, batch: Sequence[NamedQuestion]) -> Iterator[QuestionRecord]:
        golds = [one.gold for one in batch]
        for gold, best in self._read(golds):
            yield self._record(ORIGINAL, gold, best)

    def _renamed(
        self, batch: Sequence[NamedQuestion], group: NameGroup, original: dict[str, str]
    ) -> Iterator[QuestionRecord]:
        swapped = [about_group(one, group, self.seed) for one in batch]
        read = self._read([one.gold for one in swapped])
        for named, other, (gold, best) in zip(batch, swapped, read, strict=True):
            record = self._record(group.name, gold, best)
            back = ""
            if best is not None and record.prediction:
                back = named.context[slice(*other.passage.before(best.span.start, best.span.end))]
            same = normalize_answer(back) == normalize_answer(original[record.id])
            yield replace(record, scores={**record.scores, UNMOVED: float(same)})

    def _read(self, golds: Sequence[GoldQuestion]) -> Iterable[tuple[GoldQuestion, ScoredSpan | None]]:
        return zip(golds, best_spans(self.reader, golds), strict=True)

    def _record(self, name: str, gold: GoldQuestion, best: ScoredSpan | None) -> QuestionRecord:
        if best is None:
            return question_record(self.version, name, gold, "")
        span = (best.span.start, best.span.end)
        evidence = (paragraph_evidence(gold, margin(best), span),)
        may_decline = self.version == "2.0" and not math.isnan(best.null_score)
        prediction = "" if may_decline and margin(best) < 0 else best.span.text
        return question_record(self.version, name, gold, prediction, evidence)


def _one_token_names(reader: Reader, group: NameGroup) -> float | None:
    """The share of the names that are one token to the reader; None of a reader without a tokenizer."""
    tokenizer = getattr(reader, "tokenizer", None)
    if tokenizer is None:
        return None
    names = [*group.first, *group.last]
    pieces = tokenizer(names, add_special_tokens=False)["input_ids"]
    return sum(len(ids) == 1 for ids in pieces) / len(names)
