"""The questions of a corpus, evenly from its documents: to train on, to choose weights by, to measure with.

Documents are held back as a whole: nothing of a measured one is trained on. All is decided by the seed and
the documents' names and texts.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Document, Passage, ProgressCallback, no_progress

from ...corpora.sentences import sentence_spans
from ...index.analysis import Analyzer
from ...index.live_postings import LivePostings
from ...index.snapshot import Snapshot
from .cloze import cloze
from .definition import definition
from .headings import heading_questions
from .made_question import KINDS, MEASURED, Kind, MadeQuestion

HELD_BACK, VALIDATION = 0.2, 0.1  # of the documents
MOST_OF_DOCUMENT = 200  # passages of one document that are asked about
MOST_HOLD = 5  # passages that hold all words of a question without answering it: more, and it is boilerplate


@dataclass(frozen=True, slots=True)
class Parts:
    """The names of the documents of each part."""

    training: list[str]
    validation: list[str]
    measured: list[str]


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of each part; `documents` says which documents it has."""

    training: list[MadeQuestion]
    validation: list[MadeQuestion]
    measured: list[MadeQuestion]
    documents: Parts

    def __len__(self) -> int:
        """How many there are together."""
        return len(self.training) + len(self.validation) + len(self.measured)


def make_questions(
    snapshot: Snapshot, analyzer: Analyzer, wanted: int, seed: int, report: ProgressCallback = no_progress
) -> Questions:
    """At most `wanted` questions; a fifth of them, and of the documents, is held back to measure with."""
    if wanted < 1:
        raise ValueError(f"at least 1 question is wanted, not {wanted}")
    documents = split_documents(snapshot.document_ids(), seed)
    maker = _Maker(snapshot, analyzer, seed, set())
    held_back, chosen = round(HELD_BACK * wanted), round(VALIDATION * wanted)
    measured = maker.questions(documents.measured, held_back, MEASURED)
    report("made", len(measured), wanted)
    validation = maker.questions(documents.validation, chosen, KINDS)
    training = maker.questions(documents.training, wanted - held_back - chosen, KINDS)
    report("made", wanted, wanted)
    return Questions(training, validation, measured, documents)


def split_documents(ids: Sequence[str], seed: int) -> Parts:
    """Each document in one part, in an order that the seed and the names decide."""
    order = sorted(ids, key=lambda name: _shuffled(seed, name))
    n_measured = round(HELD_BACK * len(order))
    n_validation = round(VALIDATION * len(order))
    first, second = n_measured, n_measured + n_validation
    return Parts(order[second:], order[first:second], order[:first])


def _shuffled(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True)
class _Maker:
    """`asked` are the questions so far, as sets of terms: none comes twice."""

    snapshot: Snapshot
    analyzer: Analyzer
    seed: int
    asked: set[frozenset[str]]

    def questions(self, documents: Sequence[str], wanted: int, kinds: Sequence[Kind]) -> list[MadeQuestion]:
        """One of each document in turn, until there are enough or no more."""
        made: list[MadeQuestion] = []
        queues = [self._of_document(name, kinds) for name in documents[:wanted]]
        while queues and len(made) < wanted:
            left = []
            for queue in queues:
                if (one := next((q for q in queue if self._is_new(q)), None)) is not None:
                    made.append(one)
                    left.append(queue)
            queues = left
        return made[:wanted]

    def _of_document(self, name: str, kinds: Sequence[Kind]) -> Iterator[MadeQuestion]:
        """The questions of a document, its kinds in turn, each shuffled; nothing is read before the first."""
        rng = random.Random(f"{self.seed} {name}")
        document = self.snapshot.document(name)
        ids = self.snapshot.passage_ids_of([name]).tolist()
        if len(ids) > MOST_OF_DOCUMENT:
            ids = sorted(rng.sample(ids, MOST_OF_DOCUMENT))
        passages = self.snapshot.passages(ids)
        found: dict[Kind, list[MadeQuestion]] = {
            "cloze": list(self._of_sentences(passages, "cloze", rng)),
            "heading": self._of_headings(document, passages),
            "definition": list(self._of_sentences(passages, "definition", rng)),
        }
        for questions in found.values():
            rng.shuffle(questions)
        yield from filter(None, chain.from_iterable(zip_longest(*(found[kind] for kind in kinds))))

    def _of_headings(self, document: Document, passages: Sequence[Passage]) -> list[MadeQuestion]:
        if len(passages) >= MOST_OF_DOCUMENT:  # others below a heading may have been left out
            return []
        return list(heading_questions(document, passages, self.analyzer))

    def _of_sentences(
        self, passages: Sequence[Passage], kind: Kind, rng: random.Random
    ) -> Iterator[MadeQuestion]:
        """The first question that the sentences of each passage give, in an order by chance."""
        for passage in passages:
            spans = sentence_spans(passage.text)
            for start, end in rng.sample(spans, len(spans)):
                sentence = passage.text[start:end]
                text = (
                    cloze(sentence, self.analyzer, self._df, rng) if kind == "cloze" else definition(sentence)
                )
                if text is not None:
                    place = (passage.start + start, passage.start + end)
                    yield MadeQuestion(text, kind, passage.document_id, *place, (passage.id,))
                    break

    def _is_new(self, question: MadeQuestion) -> bool:
        """False for a question that was asked before, and for one whose words many passages hold."""
        terms = frozenset(self.analyzer.question_terms(question.text))
        if not terms or terms in self.asked or self._others_hold(terms, question) > MOST_HOLD:
            return False
        self.asked.add(terms)
        return True

    def _others_hold(self, terms: frozenset[str], question: MadeQuestion) -> int:
        rows: NDArray[np.int64] | None = None
        for term in sorted(terms, key=lambda term: (self._df(term), term)):
            held = self._postings.find(term)[0]
            rows = held if rows is None else np.intersect1d(rows, held, assume_unique=True)
            if len(rows) <= MOST_HOLD:
                return 0
        holding = self._postings.passage_ids[rows if rows is not None else []]
        return int(np.isin(holding, question.passage_ids, invert=True).sum())

    def _df(self, term: str) -> int:
        return len(self._postings.find(term)[0])

    @cached_property
    def _postings(self) -> LivePostings:
        return self.snapshot.postings()
