"""Observes the candidates that a reader finds for the questions about folders: the slow step of `calibrate`.

`DIR/DOMAIN.jsonl`, or the same with `.gz`, has the questions about the folder `DIR/DOMAIN`. A checkout has
everyday wordings of many questions (see corpora/questions/README.md); each is asked as well. Observations are
kept in a file a domain, so that an interrupted run resumes, and fitting again takes a moment.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import AskOptions, Hit, ProgressCallback, Span, no_progress

from ...corpora.datasets.folder_questions import domains_of, everyday_wordings, wording_key
from ...corpora.sentences import sentence_spans
from ...eval.questions import SHOWN_WORDS, FolderQuestion, holds_answer, is_right, is_right_shown
from ...reader.evidence import FEATURES, Features
from ..answering.ask import Answerer
from ..answering.candidates import Readings, adds_words, answer_key, content_terms, topic_section
from ..evaluation.corpus import read_questions
from ..evaluation.results import digest as digest_of
from ..evaluation.results import whole_lines
from ..library.loaded_models import stages_below
from ..open import open as open_library

RUN = Path("run") / "calibration"
QUESTIONS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class ObservedCandidate:
    """A candidate: whether it is right as it is shown, and its span alone.

    `same` is equal for equal normalised answers, `sentence` for sentences that overlap. `adds_words`: it has
    a word that the question lacks.
    """

    features: Features
    right: bool
    right_span: bool
    same: int
    sentence: int
    adds_words: bool


COLUMNS = tuple(one.name for one in fields(ObservedCandidate))[1:]


@dataclass(frozen=True, slots=True)
class ObservedSection:
    """The section that a declined question shows first: its sentence as a number, whether it is right."""

    sentence: int
    right: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """The candidates of a question; none is right without an answer. `group` is the domain.

    `passage_right`: the passage that the reader's relevance prefers holds the answer; None where no passage
    that was read does, and for a reader without relevance.
    """

    candidates: tuple[ObservedCandidate, ...]
    answerable: bool
    group: str
    everyday: bool = False
    passage_right: bool | None = None
    section: ObservedSection | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """A question as it is asked: as it was written first, or in everyday words."""

    question: FolderQuestion
    everyday: bool


def observe(
    folders: Path,
    reader: Path,
    retriever: str,
    k: int,
    on_progress: ProgressCallback = no_progress,
    every: int = 1,
) -> list[Observed]:
    """The candidates of the questions in `folders`, domain by domain; known ones are not read again.

    Every n-th question of a domain is asked, in all its wordings. ValueError for `every` below 1.
    """
    if every < 1:
        raise ValueError(f"every is {every}; expected 1 for all questions, or more")
    everyday = everyday_wordings()
    observed: list[Observed] = []
    for domain, path in domains_of(folders).items():
        asked = wordings_of(read_questions(path)[::every], everyday)
        with open_library(folders / domain, reader / RUN / f"index-{domain}", cache=False) as library:
            library.sync(on_progress=on_progress)
            library.encode_for(stages_below([retriever]), "builtin", on_progress=on_progress)
            how = AskOptions(k=k, retriever=retriever, reader=str(reader), dedupe=False, read_all=True)
            asker = library.answerer(how, calibrated=False)
            with library.reading() as snapshot:
                documents = {name: state.sha256 for name, state in snapshot.files().items()}
            trial = {"reader": asker.reader.digest, "retriever": retriever, "k": k, "features": [*FEATURES]}
            trial |= {"columns": [*COLUMNS], "shown_words": SHOWN_WORDS}
            trial |= {
                "questions": digest_of([asdict(one) for one in asked]),
                "documents": digest_of(documents),
            }
            file = ObservedFile(reader / RUN / f"observed-{domain}-{digest_of(trial)[:12]}.jsonl", trial)
            known = file.read(domain)
            for at in range(len(known), len(asked), QUESTIONS_AT_ONCE):
                on_progress(f"questions about {domain}", at, len(asked))
                more = _asked(asker, asked[at : at + QUESTIONS_AT_ONCE], domain)
                file.add(more)
                known += more
        observed += known
    return observed


def wordings_of(questions: Sequence[FolderQuestion], everyday: Mapping[str, Sequence[str]]) -> list[Wording]:
    """Each question, followed by its everyday wordings, which are given by `wording_key`."""
    asked = []
    for question in questions:
        asked.append(Wording(question, everyday=False))
        for number, text in enumerate(everyday.get(wording_key(question.question), ()), start=1):
            reworded = replace(question, id=f"{question.id}-{number}", question=text)
            asked.append(Wording(reworded, everyday=True))
    return asked


def _asked(asker: Answerer, asked: Sequence[Wording], domain: str) -> list[Observed]:
    texts = [one.question.question for one in asked]
    hits = asker.retriever.search(texts, asker.options.k)
    rows = zip(asked, hits, asker.read(texts, hits), strict=True)
    return [observed_answer(asker, wording, found, read, domain) for wording, found, read in rows]


def observed_answer(
    asker: Answerer, wording: Wording, hits: Sequence[Hit], read: Readings, domain: str
) -> Observed:
    """The candidates of a question, with the six digits that the file keeps."""
    question = wording.question
    candidates = asker.score_candidates(question.question, hits, read)
    terms = content_terms(question.question, asker.analyzer)
    section = topic_section(terms, hits, asker.snapshot.document, asker.analyzer) if terms else None
    same = _numbers([answer_key(one.scored.span.text) for one in candidates])
    places = [one.sentence for one in candidates]
    sentences = _overlapping(places if section is None else [*places, section[0]])
    return Observed(
        tuple(
            ObservedCandidate(
                _rounded(one.features),
                is_right_shown(question, one.scored.span, one.scored.passage, sentence_spans),
                is_right(question, one.scored.span.document_id, one.scored.span.text),
                words,
                sentence,
                bool(terms) and adds_words(one.scored.span.text, terms, asker.analyzer),
            )
            for one, words, sentence in zip(candidates, same, sentences, strict=False)
        ),
        question.answerable,
        domain,
        wording.everyday,
        _passage_right(question, hits, read),
        section and ObservedSection(sentences[-1], is_right_shown(question, *section, sentence_spans)),
    )


def _passage_right(question: FolderQuestion, hits: Sequence[Hit], read: Readings) -> bool | None:
    """Whether the passage of the highest relevance holds the answer, see `Observed`."""
    rows = [
        (spans[0].relevance, holds_answer(question, hit.passage))
        for hit, spans in zip(hits, read, strict=True)
        if spans
    ]
    if not any(holds for _, holds in rows) or any(math.isnan(relevance) for relevance, _ in rows):
        return None
    return max(rows, key=lambda row: row[0])[1]


def _rounded(features: Features) -> Features:
    return Features(*(float(f"{getattr(features, name):.6g}") for name in FEATURES))


def _numbers(keys: Sequence[str]) -> list[int]:
    """A number for each key, equal for equal ones."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [numbers[key] for key in keys]


def _overlapping(spans: Sequence[Span]) -> list[int]:
    """A number for each span, equal for those that overlap, directly or by others between them.

    >>> _overlapping([Span("a", 5, 9, ""), Span("a", 0, 3, ""), Span("a", 2, 6, ""), Span("b", 0, 3, "")])
    [0, 0, 0, 1]
    """
    numbers = [0] * len(spans)
    number, document, reached = -1, "", 0
    for at in sorted(range(len(spans)), key=lambda at: (spans[at].document_id, spans[at].start)):
        span = spans[at]
        if number < 0 or span.document_id != document or span.start >= reached:
            number += 1
            document = span.document_id
            reached = span.end
        reached = max(reached, span.end)
        numbers[at] = number
    return numbers


@dataclass(frozen=True, slots=True)
class ObservedFile:
    """A file of observations, one question a line; its first line tells what was observed."""

    path: Path
    identity: Mapping[str, Any]

    def read(self, domain: str) -> list[Observed]:
        """The observations in order; a torn last line is dropped. DataMalformed for a damaged file."""
        lines = whole_lines(self.path)
        try:
            if lines and json.loads(lines[0]) != self.identity:
                raise ValueError("other observations")
            found = [_observed(json.loads(line), domain) for line in lines[1:]]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataMalformed(f"{self.path} cannot be read: {error!r}. Remove it to start anew") from error
        if not lines:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.identity) + "\n", encoding="utf-8")
        return found

    def add(self, observed: Sequence[Observed]) -> None:
        """Appends observations."""
        with self.path.open("a", encoding="utf-8") as file:
            for one in observed:
                record: dict[str, Any] = {
                    "answerable": one.answerable,
                    "everyday": one.everyday,
                    "passage_right": one.passage_right,
                    "section": one.section and asdict(one.section),
                    "features": {
                        name: [getattr(candidate.features, name) for candidate in one.candidates]
                        for name in FEATURES
                    },
                }
                for name in COLUMNS:
                    record[name] = [getattr(candidate, name) for candidate in one.candidates]
                file.write(json.dumps(record, allow_nan=False) + "\n")


def _observed(record: Mapping[str, Any], domain: str) -> Observed:
    features = zip(*(record["features"][name] for name in FEATURES), strict=True)
    columns = (record[name] for name in COLUMNS)
    section = record["section"]
    return Observed(
        tuple(ObservedCandidate(Features(*row[0]), *row[1:]) for row in zip(features, *columns, strict=True)),
        record["answerable"],
        domain,
        record["everyday"],
        record["passage_right"],
        section and ObservedSection(**section),
    )
