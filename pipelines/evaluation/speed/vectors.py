"""The vectors of a corpus, for comparisons that start from them: computed before any clock runs."""

from __future__ import annotations

from dataclasses import replace

from ...progress import Report
from .corpus import Corpus


def with_vectors(corpus: Corpus, report: Report) -> Corpus:
    """The corpus with the base model's vectors of its passages and questions, on all processors."""
    from ....models.encoder import TextEncoder

    encoder, texts = TextEncoder.load(), corpus.texts
    passages = encoder.encode(texts, lambda done: report("encode", done, len(texts)))
    return replace(corpus, vectors=passages, question_vectors=encoder.encode(corpus.questions))
