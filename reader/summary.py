"""Extractive summaries: tf-idf cosine between sentences, LexRank, maximal marginal relevance.

LexRank scores how central each sentence is, drawn towards the question if there is one; maximal marginal
relevance then takes sentences one by one, good ones that are unlike those taken before. Terms are given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

QUESTION_BIAS, PLAIN_BIAS = 0.9, 0.15  # of the walk towards relevant sentences
TRADE_OFF = 0.9  # of score against similarity
READER_SHARE = 0.7  # of the relevance that a reader gives, against that of shared terms
MIN_RELEVANCE = 0.5  # of the best relevance that a reader gives
MAX_SIMILARITY = 0.8  # to a sentence that was taken
MAX_SENTENCES = 600  # compared with one another at once
BLOCK_FACTOR = 3  # times the wanted number of sentences remain of each block
TOLERANCE = 1e-12  # of the probabilities in sum
MIN_BIAS = 1e-3  # below it the walk takes too many steps
MIN_WORDS = 6  # of a complete sentence
_DIGITS = 12  # scores that differ after them are a tie
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NO_SENTENCE = re.compile(r"#{1,6}\s|\s*\||.*(?: \| |\t.*\t)|\s*(?:```|~~~|>>>|\$ )|.*[;{}]\s*\Z", re.DOTALL)
_ENDS = re.compile(r".*[.!?…。！？｡।॥؟۔։][\"'”’»)\]」』）】*_`]*(?:\[\w{1,3}\])*\s*\Z", re.DOTALL)


def choose_sentences(
    terms: Sequence[Sequence[str]],
    question: Sequence[str] = (),
    max_sentences: int = 5,
    relevance: Sequence[float] | None = None,
) -> list[int]:
    """The numbers of the chosen sentences in rising order, by the terms of each sentence and of the question.

    `relevance` says how much each sentence has to do with the question, at least 0, besides the terms that
    they share; a sentence with less than half of the best is not chosen. Ties go by number. Of more than
    MAX_SENTENCES sentences, blocks are narrowed first.

    >>> choose_sentences([["mill", "burn"], ["burn", "mill"], ["mill", "sold"], ["tram"]], max_sentences=3)
    [0, 2, 3]
    """
    if max_sentences < 1:
        raise ValueError(f"max_sentences is {max_sentences}, expected at least 1")
    given = np.zeros(len(terms)) if relevance is None else np.asarray(relevance, dtype=np.float64)
    left = [at for at in range(len(terms)) if given[at] >= MIN_RELEVANCE * given.max(initial=0.0)]
    while len(left) > MAX_SENTENCES and len(left) > BLOCK_FACTOR * max_sentences:
        blocks = [left[at : at + MAX_SENTENCES] for at in range(0, len(left), MAX_SENTENCES)]
        kept = [_best(terms, question, BLOCK_FACTOR * max_sentences, given, block) for block in blocks]
        narrowed = [at for block in kept for at in block]
        if len(narrowed) >= len(left):
            break
        left = narrowed
    return _best(terms, question, max_sentences, given, left)


def is_sentence(text: str) -> bool:
    """Whether a text is a complete sentence, and not a heading, a row of a table, a line of code or a crumb.

    >>> is_sentence("The mill on the river burnt down in May."), is_sentence("## The mill and its past")
    (True, False)
    """
    unspaced = not text.isascii() and len(text) >= 3 * MIN_WORDS  # Chinese has no spaces to count
    long_enough = len(_WORD.findall(text)) >= MIN_WORDS or unspaced
    return long_enough and not _NO_SENTENCE.match(text) and _ENDS.match(text) is not None


def lexrank(similarity: ArrayLike, relevance: ArrayLike, bias: float) -> Floats:
    """(n,) float64 probabilities that sum to 1: how central and relevant each of n sentences is.

    p(s) = d rel(s) / Σ_z rel(z) + (1 - d) Σ_v sim(v, s) / Σ_z sim(v, z) p(v)

    with d the `bias`, from a similarity (n, n) of at least 0, whose diagonal counts. If all relevance is 0,
    every sentence is as relevant. Each step brings p nearer to the solution by the factor 1 - d, and steps
    are taken until no more than TOLERANCE (L1) can be missing.
    Source: Otterbacher, Erkan and Radev 2005, equation 2; without relevance Erkan and Radev 2004, equation 2
    with the similarities as weights (continuous LexRank).

    >>> lexrank([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]], [0, 0, 0], 0.15).round(3).tolist()
    [0.306, 0.388, 0.306]
    """
    weights, values = np.asarray(similarity, dtype=np.float64), np.asarray(relevance, dtype=np.float64)
    if not MIN_BIAS <= bias <= 1:
        raise ValueError(f"bias is {bias}, expected {MIN_BIAS}..1")
    if not len(values):
        return np.zeros(0)
    values = scaled(values) if values.any() else np.ones(len(values))  # scaled first: no overflow of the sum
    drawn: Floats = values / values.sum()
    steps = weights / weights.sum(axis=1, keepdims=True)  # (n, n), rows sum to 1
    found = drawn
    rounds = 1 if bias == 1 else math.ceil(math.log(TOLERANCE / 2) / math.log1p(-bias))
    for _ in range(rounds):
        following = bias * drawn + (1 - bias) * (found @ steps)
        change, found = float(np.abs(following - found).sum()), following
        if change * (1 - bias) <= TOLERANCE * bias:  # all that further steps together can change
            break
    total: Floats = found / found.sum()
    return total


def mmr(
    score: ArrayLike, similarity: ArrayLike, trade_off: float, k: int, max_similarity: float = math.inf
) -> list[int]:
    """The numbers of up to k candidates in the order in which they are taken; ties by number.

    next = argmax_i λ score_i - (1 - λ) max_{j taken} similarity_ij

    with λ the `trade_off`, from scores (n,) and similarities (n, n); none that is more similar than
    `max_similarity` to one taken.
    Source: Carbonell and Goldstein 1998, "The Use of MMR, Diversity-Based Reranking for Reordering Documents
    and Producing Summaries". Deviation: the limit on similarity.

    >>> mmr([0.9, 0.8, 0.3], [[1, 1, 0], [1, 1, 0], [0, 0, 1]], 0.5, 2)
    [0, 2]
    """
    scores, likeness = np.asarray(score, dtype=np.float64), np.asarray(similarity, dtype=np.float64)
    nearest, left = np.zeros(len(scores)), np.ones(len(scores), dtype=bool)
    taken: list[int] = []
    while len(taken) < k and left.any():
        worth = np.round(trade_off * scores - (1 - trade_off) * nearest, _DIGITS)
        best = int(np.argmax(np.where(left, worth, -np.inf)))
        taken.append(best)
        nearest = np.maximum(nearest, likeness[best])
        left &= likeness[best] <= max_similarity
        left[best] = False
    return taken


def term_counts(sentences: Sequence[Sequence[str]], columns: dict[str, int]) -> Floats:
    """(n, V) float64: how often each sentence has each term; terms without a column are passed over.

    >>> term_counts([["burn", "mill", "burn"]], {"burn": 0, "mill": 1}).tolist()
    [[2.0, 1.0]]
    """
    counts = np.zeros((len(sentences), len(columns)))
    for row, terms in zip(counts, sentences, strict=True):
        np.add.at(row, [columns[term] for term in terms if term in columns], 1.0)
    return counts


def idf_modified_cosine(counts: Floats, idf: Floats) -> Floats:
    """(n, n) float64, symmetric, 0..1 and 1 on the diagonal; 0 between a sentence without terms and others.

    cos(x, y) = Σ_w tf_wx tf_wy idf_w² / (|x| |y|),  |x|² = Σ_w (tf_wx idf_w)²
    Source: Erkan and Radev 2004, "LexRank: Graph-based Lexical Centrality as Salience in Text Summarization",
    equation 1.

    >>> counts = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> idf_modified_cosine(counts, np.ones(2)).round(3).tolist()
    [[1.0, 0.707, 0.0], [0.707, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rows = counts * idf
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(lengths > 0, lengths, 1.0)
    found: Floats = np.clip(rows @ rows.T, 0.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found


def inverse_sentence_frequency(counts: Floats) -> Floats:
    """(V,) float64, all above 0: idf_w = ln((n + 1) / (0.5 + sf_w)), with sf_w the sentences that have w.

    Source: Otterbacher, Erkan and Radev 2005, "Using Random Walks for Question-focused Sentence Retrieval",
    section 3.1, after Allan, Wade and Bolivar 2003.
    """
    found: Floats = np.log((len(counts) + 1) / (0.5 + np.count_nonzero(counts, axis=0)))
    return found


def term_relevance(counts: Floats, question: Floats, idf: Floats) -> Floats:
    """(n,) float64, at least 0: how much of the question each sentence has, of (n, V) and (V,) counts.

    rel(s | q) = Σ_{w in q} ln(1 + tf_ws) ln(1 + tf_wq) idf_w
    Source: Otterbacher, Erkan and Radev 2005, section 3.1, equation 1.

    >>> term_relevance(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, 0.0]), np.ones(2)).round(3).tolist()
    [0.48, 0.0]
    """
    found: Floats = np.log1p(counts) @ (np.log1p(question) * idf)
    return found


def scaled(values: Floats) -> Floats:
    """The values divided by their maximum; unchanged where that is 0 or there are none."""
    maximum = float(values.max(initial=0.0))
    return values / maximum if maximum > 0 else values


def _best(
    terms: Sequence[Sequence[str]], question: Sequence[str], k: int, relevance: Floats, numbers: list[int]
) -> list[int]:
    """The best k of these numbers in rising order."""
    chosen = [terms[at] for at in numbers]
    columns = {term: column for column, term in enumerate(sorted(set().union(*chosen)))}
    counts = term_counts(chosen, columns)
    idf = inverse_sentence_frequency(counts)
    likeness = idf_modified_cosine(counts, idf)
    shared = term_relevance(counts, term_counts([question], columns)[0], idf)
    given = relevance[numbers] if numbers else np.zeros(0)
    if given.any():
        shared = (1 - READER_SHARE) * _shares(shared) + READER_SHARE * _shares(given)
    score = scaled(lexrank(likeness, shared, QUESTION_BIAS if shared.any() else PLAIN_BIAS))
    return sorted(numbers[at] for at in mmr(score, likeness, TRADE_OFF, k, MAX_SIMILARITY))


def _shares(values: Floats) -> Floats:
    """The values at a sum of 1; all 0 stays."""
    values = scaled(values)
    return values / max(1.0, float(values.sum()))
