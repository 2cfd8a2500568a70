"""The vectors of a corpus, for comparisons that start from them: computed before any clock runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spanwise.types import ProgressCallback

from .corpus import Corpus
from .tokens import Tokens


def with_vectors(corpus: Corpus, report: ProgressCallback) -> Corpus:
    """The corpus with the base model's vectors of its passages and questions, on all processors."""
    from ....models.encoder import TextEncoder

    encoder, texts = TextEncoder.load(), corpus.texts
    passages = encoder.encode(texts, lambda done: report("encode", done, len(texts)))
    return replace(corpus, vectors=passages, question_vectors=encoder.encode(corpus.questions))


def with_tokens(corpus: Corpus, report: ProgressCallback) -> Corpus:
    """The corpus with the built-in late-interaction model's rows of its passages and questions."""
    from ....models.token_encoder import load_token_encoder

    encoder, texts = load_token_encoder(), corpus.texts
    rows, lengths = encoder.encode_passages(texts, lambda done: report("tokens", done, len(texts)))
    questions = encoder.encode_questions(corpus.questions)
    asked = np.array([len(each) for each in questions])
    return replace(corpus, tokens=Tokens(rows, lengths, np.concatenate(questions), asked))
