"""Observes the candidates that a reader finds for the questions about folders: the slow step of `calibrate`.

`DIR/DOMAIN.jsonl`, or the same with `.gz`, has the questions about the folder `DIR/DOMAIN`. Observations are
kept in a file a domain, so that an interrupted run resumes, and fitting again takes a moment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import AskOptions, ProgressCallback, no_progress

from ...corpora.folder_questions import domains_of
from ...eval.questions import FolderQuestion, is_right
from ...reader.evidence import FEATURES, Features
from ..ask import Answerer
from ..candidates import Candidate, answer_key
from ..evaluation.corpus import read_questions
from ..evaluation.results import digest as digest_of
from ..evaluation.results import whole_lines
from ..models import stages_below
from ..open import open as open_library

RUN = Path("run") / "calibration"
QUESTIONS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Observed:
    """The candidates of a question: their features, and which of them are right, none without an answer.

    `same` has one number a candidate, equal for equal normalised answers. `group` is the domain.
    """

    features: tuple[Features, ...]
    right: tuple[bool, ...]
    answerable: bool
    same: tuple[int, ...]
    group: str


def observe(
    folders: Path, reader: Path, retriever: str, k: int, on_progress: ProgressCallback = no_progress
) -> list[Observed]:
    """The candidates of all questions in `folders`, domain by domain; known ones are not read again."""
    found: list[Observed] = []
    for domain, path in domains_of(folders).items():
        questions = read_questions(path)
        with open_library(folders / domain, reader / RUN / f"index-{domain}", cache=False) as library:
            library.sync(on_progress=on_progress)
            library.encode_for(stages_below([retriever]), "builtin", on_progress=on_progress)
            how = AskOptions(k=k, retriever=retriever, reader=str(reader), dedupe=False, read_all=True)
            asker = library.answerer(how, calibrated=False)
            with library.reading() as snapshot:
                documents = {name: state.sha256 for name, state in snapshot.files().items()}
            asked = [asdict(question) for question in questions]
            trial = {"reader": asker.reader.digest, "retriever": retriever, "k": k, "features": [*FEATURES]}
            trial |= {"questions": digest_of(asked), "documents": digest_of(documents)}
            file = ObservedFile(reader / RUN / f"observed-{domain}-{digest_of(trial)[:12]}.jsonl", trial)
            known = file.read(domain)
            for at in range(len(known), len(questions), QUESTIONS_AT_ONCE):
                on_progress(f"questions about {domain}", at, len(questions))
                more = _asked(asker, questions[at : at + QUESTIONS_AT_ONCE], domain)
                file.add(more)
                known += more
        found += known
    return found


def _asked(asker: Answerer, questions: Sequence[FolderQuestion], domain: str) -> list[Observed]:
    texts = [question.question for question in questions]
    hits = asker.retriever.search(texts, asker.options.k)
    rows = zip(questions, hits, asker.read(texts, hits), strict=True)
    return [_judged(asker.score_candidates(q.question, some, read), q, domain) for q, some, read in rows]


def _judged(candidates: Sequence[Candidate], question: FolderQuestion, domain: str) -> Observed:
    """The candidates of a question, with the six digits that the file keeps."""
    spans = [one.scored.span for one in candidates]
    numbers = {words: number for number, words in enumerate(dict.fromkeys(answer_key(s.text) for s in spans))}
    return Observed(
        tuple(
            Features(*(float(f"{getattr(c.features, name):.6g}") for name in FEATURES)) for c in candidates
        ),
        tuple(
            is_right(question, one.scored.span.document_id, one.scored.span.text, one.sentence.text)
            for one in candidates
        ),
        question.answerable,
        tuple(numbers[answer_key(span.text)] for span in spans),
        domain,
    )


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
                columns = {name: [getattr(found, name) for found in one.features] for name in FEATURES}
                record = {"answerable": one.answerable, "right": one.right, "same": one.same}
                file.write(json.dumps(record | {"features": columns}, allow_nan=False) + "\n")


def _observed(record: Mapping[str, Any], domain: str) -> Observed:
    columns = [record["features"][name] for name in FEATURES]
    features = tuple(Features(*values) for values in zip(*columns, strict=True))
    if {len(features), len(record["same"])} != {len(record["right"])}:
        raise ValueError(f"{len(features)} features of {len(record['right'])} candidates")
    return Observed(features, tuple(record["right"]), record["answerable"], tuple(record["same"]), domain)
