"""The candidates that a reader finds for questions about folders: the slow step of `calibrate`.

`DIR/DOMAIN.jsonl`, or the same with `.gz`, has the questions about the folder `DIR/DOMAIN`. A checkout has
everyday wordings of many questions (see corpora/questions/README.md); each is asked as well. A file for each
domain holds the observations, so that an interrupted run resumes, and another fit takes a moment.
"""

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
from ..evaluation.results import digest, whole_lines
from ..open import open_encoded

RUN = Path("run") / "calibration"
QUESTIONS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class ObservedCandidate:
    """A candidate for an answer.

    features: the inputs of the ranking and of the confidence.
    right: true if it is right as it is shown.
    right_span: true if its span alone is right.
    same: a number, equal for equal normalised answers.
    sentence: a number, equal for sentences that overlap.
    adds_words: true if it has a word that the question lacks.
    """

    features: Features
    right: bool
    right_span: bool
    same: int
    sentence: int
    adds_words: bool


COLUMNS = tuple(column.name for column in fields(ObservedCandidate))[1:]


@dataclass(frozen=True, slots=True)
class ObservedSection:
    """The section that a declined question shows first.

    sentence: the number of its sentence, as for candidates.
    right: true if it is right.
    """

    sentence: int
    right: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """The candidates of a question.

    candidates: in the order of the reader; none is right for a question without an answer.
    answerable: true for a question with an answer.
    group: the domain.
    everyday: true for an everyday wording.
    passage_right: true if the passage with the highest relevance holds the answer. None where no passage that
        was read does, and for a reader without relevance.
    section: the section that the question names, if any.
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
    read_by: str = "",
) -> list[Observation]:
    """The observations of the questions in `folders`, domain by domain; those in a file are not made again.

    `read_by` names another reader than that in `reader`, the folder that holds the files. Every n-th question
    of a domain is asked, in all its wordings. ValueError for `every` below 1.
    """
    if every < 1:
        raise ValueError(f"every is {every}; expected 1 for all questions, or more")
    everyday = everyday_wordings()
    observations: list[Observation] = []
    for domain, path in domains_of(folders).items():
        wordings = wordings_of(read_questions(path)[::every], everyday)
        index = reader / RUN / f"index-{domain}"
        with open_encoded(folders / domain, index, [retriever], on_progress) as library:
            options = AskOptions(
                k=k, retriever=retriever, reader=read_by or str(reader), dedupe=False, read_all=True
            )
            asker = library.answerer(options, calibrated=False)
            with library.reading() as snapshot:
                documents = {name: state.sha256 for name, state in snapshot.files().items()}
            identity = {
                "reader": asker.reader.digest,
                "retriever": retriever,
                "k": k,
                "features": [*FEATURES],
                "columns": [*COLUMNS],
                "shown_words": SHOWN_WORDS,
                "questions": digest([asdict(wording) for wording in wordings]),
                "documents": digest(documents),
            }
            name = f"observed-{domain}-{digest(identity)[:12]}.jsonl"
            file = ObservationFile(reader / RUN / name, identity)
            in_domain = file.read(domain)
            for begin in range(len(in_domain), len(wordings), QUESTIONS_AT_ONCE):
                on_progress(f"questions about {domain}", begin, len(wordings))
                batch = wordings[begin : begin + QUESTIONS_AT_ONCE]
                texts = [wording.question.question for wording in batch]
                rankings = asker.retriever.search(texts, k)
                rows = zip(batch, rankings, asker.read(texts, rankings), strict=True)
                observed = [observation_of(asker, *row, domain) for row in rows]
                file.add(observed)
                in_domain += observed
        observations += in_domain
    return observations


def wordings_of(questions: Sequence[FolderQuestion], everyday: Mapping[str, Sequence[str]]) -> list[Wording]:
    """Each question, followed by its everyday wordings, which are given by `wording_key`."""
    wordings = []
    for question in questions:
        wordings.append(Wording(question, question.everyday))
        for number, text in enumerate(everyday.get(wording_key(question.question), ()), start=1):
            reworded = replace(question, id=f"{question.id}-{number}", question=text)
            wordings.append(Wording(reworded, everyday=True))
    return wordings


def observation_of(
    asker: Answerer, wording: Wording, hits: Sequence[Hit], readings: Readings, domain: str
) -> Observation:
    """The observation of a question; features are rounded to six digits, as in the file."""
    question = wording.question
    candidates = asker.score_candidates(question.question, hits, readings)
    terms = content_terms(question.question, asker.analyzer)
    section = topic_section(terms, hits, asker.snapshot.document, asker.analyzer) if terms else None
    spans = [candidate.scored.span for candidate in candidates]
    same = _numbers([answer_key(span.text) for span in spans])
    places = [candidate.sentence for candidate in candidates]
    sentences = _overlapping(places if section is None else [*places, section[0]])
    return Observation(
        tuple(
            ObservedCandidate(
                Features(**{name: float(f"{getattr(candidate.features, name):.6g}") for name in FEATURES}),
                is_right_shown(question, span, candidate.scored.passage, sentence_spans),
                is_right(question, span.document_id, span.text),
                words,
                sentence,
                bool(terms) and adds_words(span.text, terms, asker.analyzer),
            )
            for candidate, span, words, sentence in zip(candidates, spans, same, sentences, strict=False)
        ),
        question.answerable,
        domain,
        wording.everyday,
        _passage_right(question, hits, readings),
        section and ObservedSection(sentences[-1], is_right_shown(question, *section, sentence_spans)),
    )


def _passage_right(question: FolderQuestion, hits: Sequence[Hit], readings: Readings) -> bool | None:
    """True if the passage with the highest relevance holds the answer, see `Observation`."""
    rows = [
        (spans[0].relevance, holds_answer(question, hit.passage))
        for hit, spans in zip(hits, readings, strict=True)
        if spans
    ]
    if not any(holds for _, holds in rows) or any(math.isnan(relevance) for relevance, _ in rows):
        return None
    return max(rows, key=lambda row: row[0])[1]


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
    number = -1
    document = ""
    reached = 0
    for i in sorted(range(len(spans)), key=lambda i: (spans[i].document_id, spans[i].start)):
        span = spans[i]
        if number < 0 or span.document_id != document or span.start >= reached:
            number += 1
            document = span.document_id
            reached = span.end
        reached = max(reached, span.end)
        numbers[i] = number
    return numbers


@dataclass(frozen=True, slots=True)
class ObservationFile:
    """A file of observations, one question per line.

    path: where the file is.
    identity: the questions, the documents and the settings; its first line.
    """

    path: Path
    identity: Mapping[str, Any]

    def read(self, domain: str) -> list[Observation]:
        """The observations in order; a torn last line is dropped. DataMalformed for a damaged file."""
        lines = whole_lines(self.path)
        try:
            if lines and json.loads(lines[0]) != self.identity:
                raise ValueError("other observations")
            observations = [_observation(json.loads(line), domain) for line in lines[1:]]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataMalformed(f"{self.path} cannot be read: {error!r}. Remove it to start anew") from error
        if not lines:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.identity) + "\n", encoding="utf-8")
        return observations

    def add(self, observations: Sequence[Observation]) -> None:
        """Appends observations."""
        with self.path.open("a", encoding="utf-8") as file:
            for observation in observations:
                file.write(json.dumps(_record(observation), allow_nan=False) + "\n")


def _record(observation: Observation) -> dict[str, Any]:
    """The JSON value of an observation, with a list for each feature and column of the candidates."""
    features = [candidate.features for candidate in observation.candidates]
    return {
        "answerable": observation.answerable,
        "everyday": observation.everyday,
        "passage_right": observation.passage_right,
        "section": observation.section and asdict(observation.section),
        "features": {name: [getattr(row, name) for row in features] for name in FEATURES},
        **{name: [getattr(row, name) for row in observation.candidates] for name in COLUMNS},
    }


def _observation(record: Mapping[str, Any], domain: str) -> Observation:
    numbers = [record["features"][name] for name in FEATURES]
    columns = [record[name] for name in COLUMNS]
    section = record["section"]
    rows = zip(zip(*numbers, strict=True), *columns, strict=True)
    return Observation(
        tuple(ObservedCandidate(Features(*features), *values) for features, *values in rows),
        record["answerable"],
        domain,
        record["everyday"],
        record["passage_right"],
        section and ObservedSection(**section),
    )
