"""A reader that proposes what it was told to, and askers that read with it."""

from dataclasses import replace

import numpy as np

from spanwise.pipelines.answering.ask import Answerer
from spanwise.pipelines.answering.filters import select
from spanwise.pipelines.answering.table_answers import TableFinder
from spanwise.reader import load
from spanwise.reader.evidence import FEATURES, Calibration
from spanwise.types import AskOptions, ScoredSpan, Span


class Scripted:
    """A reader that proposes the words it was told, with the scores it was told."""

    digest = "scripted"

    def __init__(self, *script: tuple[str, float, float]) -> None:
        self.script = script

    def read(self, questions, passages, n_best=5):
        return [[self._spans(passage) for passage in group] for group in passages]

    def sentence_scores(self, question, passages, sentences):
        """The more words of the script, the better a sentence."""
        words = [words for words, _, _ in self.script]
        return [
            [float(sum(word in passage.text[start:end] for word in words)) for start, end in places]
            for passage, places in zip(passages, sentences, strict=True)
        ]

    def _spans(self, passage):
        spans = []
        for words, score, null in self.script:
            place = passage.text.find(words)
            if place >= 0:
                start = passage.start + place
                span = Span(passage.document_id, start, start + len(words), words)
                spans.append(ScoredSpan(span, passage, score, null))
        return spans


class Flat:
    """An encoder to which all texts are alike."""

    digest = "flat"

    def encode_passages(self, texts):
        return np.ones((len(texts), 1), dtype=np.float32)

    encode_questions = encode_passages


def asker(library, *script, calibration=None, **options) -> Answerer:
    return Answerer(
        library.snapshot,
        library.analyzer,
        library.retriever("bm25"),
        Scripted(*script),
        calibration,
        TableFinder(library.analyzer, library.document),
        AskOptions(**options),
    )


def by_margin(threshold: float) -> Calibration:
    weights = {name: float(name == "margin") for name in FEATURES}
    return Calibration(weights, 1.0, 0.0, threshold, "scripted", "nothing")


def confined(library, where, *script, **options) -> Answerer:
    return replace(asker(library, *script, **options), selection=select(library.snapshot, where))


def read_by(library, monkeypatch, *script, calibration=None, encoder=None) -> None:
    """Puts the script in the place of every reader of a library, and an encoder to which all is alike."""
    key = ("encoder", library.model)
    encoder = encoder or Flat()
    library._models._loaded[key] = encoder
    library._models._digests[key] = encoder.digest
    monkeypatch.setattr(load, "load_reader", lambda name, **_: Scripted(*script))
    monkeypatch.setattr(load, "load_calibration", lambda *arguments: calibration)
