"""How alike sentences are: the cosine of their tf-idf vectors.

Term frequencies are a dense matrix of sentences and terms, which is meant for the sentences of the best
passages of a question, hundreds of them, not for a collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def vocabulary(sentences: Sequence[Sequence[str]]) -> dict[str, int]:
    """The column of each term of the sentences, in the order of the terms.

    >>> vocabulary([["mill", "burn"], ["burn"]])
    {'burn': 0, 'mill': 1}
    """
    return {term: column for column, term in enumerate(sorted(set().union(*sentences)))}


def term_counts(sentences: Sequence[Sequence[str]], columns: Mapping[str, int]) -> Floats:
    """(n, V) float64: how often each sentence has each term; terms without a column are passed over.

    >>> term_counts([["burn", "mill", "burn"]], {"burn": 0, "mill": 1}).tolist()
    [[2.0, 1.0]]
    """
    counts = np.zeros((len(sentences), len(columns)))
    for row, terms in zip(counts, sentences, strict=True):
        np.add.at(row, [columns[term] for term in terms if term in columns], 1.0)
    return counts


def inverse_sentence_frequency(counts: Floats) -> Floats:
    """(V,) float64, all above 0: how rare each term is among the n sentences of (n, V) counts.

    idf_w = ln((n + 1) / (0.5 + sf_w)), with sf_w the number of sentences that have w.
    Source: Otterbacher, Erkan and Radev 2005, "Using Random Walks for Question-focused Sentence Retrieval",
    section 3.1, after Allan, Wade and Bolivar 2003.
    """
    found: Floats = np.log((len(counts) + 1) / (0.5 + np.count_nonzero(counts, axis=0)))
    return found


def idf_modified_cosine(counts: Floats, idf: Floats) -> Floats:
    """(n, n) float64, symmetric, 0..1 and 1 on the diagonal; 0 between a sentence without terms and others.

    cos(x, y) = Σ_w tf_wx tf_wy idf_w² / (|x| |y|),  |x|² = Σ_w (tf_wx idf_w)²
    Source: Erkan and Radev 2004, "LexRank: Graph-based Lexical Centrality as Salience in Text Summarization",
    equation 1.

    >>> counts = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> idf_modified_cosine(counts, np.ones(2)).round(3).tolist()
    [[1.0, 0.707, 0.0], [0.707, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return _cosines(counts * idf)


def unit_rows(rows: Floats) -> Floats:
    """(n, d) float64: each row at length 1; rows of zeros stay."""
    sizes = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)  # first, so that no square overflows
    scaled = rows / np.where(sizes > 0, sizes, 1.0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    found: Floats = scaled / np.where(lengths > 0, lengths, 1.0)
    return found


def _cosines(rows: Floats) -> Floats:
    """(n, n): cosines of the rows, those below 0 as 0, with the diagonal at 1."""
    rows = unit_rows(rows)
    found: Floats = np.clip(rows @ rows.T, 0.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found
