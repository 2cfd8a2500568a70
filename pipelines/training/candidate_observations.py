"""The candidates that a reader finds for questions about folders, as `calibrate` fits them."""

from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.types import Span

from ...corpora.sentences import sentence_spans
from ...eval.questions import is_right_shown
from ...reader.evidence import Features
from ..answering.ask import Answerer
from ..answering.candidates import adds_words, answer_key, span_candidates, topic_section
from ..answering.reading import Material
from ..evaluation.asked_folders import AskedFolder, Wording, all_read


@dataclass(frozen=True, slots=True)
class ObservedCandidate:
    """A candidate for an answer.

    features: the inputs of the ranking and of the confidence.
    right: true if it is right as it is shown.
    same: a number, equal for equal normalised answers.
    sentence: a number, equal for sentences that overlap.
    adds_words: true if it has a word that the question lacks.
    """

    features: Features
    right: bool
    same: int
    sentence: int
    adds_words: bool


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
    section: the section that the question names, if any.
    """

    candidates: tuple[ObservedCandidate, ...]
    answerable: bool
    group: str
    section: ObservedSection | None = None


def observe(folder: AskedFolder, answerer: Answerer) -> list[Observation]:
    """The observation of each question about a folder, from all of its hits.

    `answerer` is that of the folder, or that of its small reader.
    """
    observations = []
    for wording in folder.wordings:
        [material] = all_read(answerer, [folder.question(wording)])
        observations.append(observation_of(answerer, wording, material, folder.domain))
    return observations


def observation_of(asker: Answerer, wording: Wording, material: Material, domain: str) -> Observation:
    """The observation of a question as it is searched and read."""
    question = wording.question
    candidates = span_candidates(material, asker.analyzer)
    terms = material.question.content
    section = topic_section(terms, material.hits, asker.snapshot.document, asker.analyzer) if terms else None
    spans = [candidate.scored.span for candidate in candidates]
    same = _numbers([answer_key(span.text) for span in spans])
    places = [candidate.sentence for candidate in candidates]
    sentences = _overlapping(places if section is None else [*places, section[0]])
    return Observation(
        tuple(
            ObservedCandidate(
                candidate.features,
                is_right_shown(question, span, candidate.scored.passage, sentence_spans),
                words,
                sentence,
                bool(terms) and adds_words(span.text, terms, asker.analyzer),
            )
            for candidate, span, words, sentence in zip(candidates, spans, same, sentences, strict=False)
        ),
        question.answerable,
        domain,
        section and ObservedSection(sentences[-1], is_right_shown(question, *section, sentence_spans)),
    )


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
