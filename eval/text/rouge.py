"""ROUGE-N, ROUGE-L and ROUGE-Lsum: how much of a text's wording is that of a reference.

Equal to the `rouge-score` package with its default tokenizer, which follows ROUGE 1.5.5: lower case, only
a-z and 0-9 make words. Texts in other scripts have no words there, so their scores are 0.
Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from .ngrams import ngrams
from .porter import porter_stem

_WORD = re.compile(r"[a-z0-9]+")
Tokens = Sequence[str]


@dataclass(frozen=True, slots=True)
class Rouge:
    """Precision, recall and their harmonic mean, each 0..1; all 0 when nothing is shared."""

    precision: float
    recall: float
    f1: float


def rouge_tokens(text: str, stem: bool = False) -> list[str]:
    """The words that ROUGE compares, in order; with `stem` the stems of those of four letters and more.

    >>> rouge_tokens("The mill's  café, 1811")
    ['the', 'mill', 's', 'caf', '1811']
    >>> rouge_tokens("the mills", stem=True)
    ['the', 'mill']
    """
    words: list[str] = _WORD.findall(text.lower())
    return [porter_stem(word) if len(word) > 3 else word for word in words] if stem else words


def rouge(references: Sequence[str], candidate: str, stem: bool = False) -> dict[str, Rouge]:
    """`rouge1`, `rouge2`, `rougeL` and `rougeLsum`, each against the reference with the best F1 in it.

    Of references that are equally good the first counts, which matters for precision and recall.
    ValueError: no reference.

    >>> rouge(["the black cat sat on the mat"], "the cat sat on the mat")["rouge2"]
    Rouge(precision=0.8, recall=0.6666666666666666, f1=0.7272727272727272)
    """
    if not references:
        raise ValueError("no references; expected at least one")
    given = _Cut(candidate, stem)
    found = [_compared(_Cut(reference, stem), given) for reference in references]
    return {name: max((one[name] for one in found), key=lambda score: score.f1) for name in found[0]}


def rouge_n(reference: Tokens, candidate: Tokens, n: int) -> Rouge:
    """The overlap of the two bags of n-grams.

    same = sum over n-grams of min(count in reference, count in candidate); P = same / n-grams of the
    candidate; R = same / n-grams of the reference. Source: Lin 2004, section 2. ValueError: n < 1.

    >>> rouge_n("the black cat".split(), "the cat".split(), 1).recall
    0.6666666666666666
    """
    expected, given = ngrams(reference, n), ngrams(candidate, n)
    return _rouge((expected & given).total(), expected.total(), given.total())


def rouge_l(reference: Tokens, candidate: Tokens) -> Rouge:
    """The longest common subsequence, over the words of each side. Source: Lin 2004, section 3.1.

    >>> rouge_l("police killed the gunman".split(), "the gunman killed police".split()).f1
    0.5
    """
    [last] = deque(_lcs_rows(reference, candidate), maxlen=1)
    return _rouge(last.bit_count(), len(reference), len(candidate))


def rouge_lsum(reference: Sequence[Tokens], candidate: Sequence[Tokens]) -> Rouge:
    """ROUGE-L of texts in sentences: each of the reference with all of the candidate.

    The words of a reference sentence that are in its common subsequence with any candidate sentence are
    hits, a word at most as often as the candidate has it. Source: Lin 2004, section 3.2; the limit is that
    of ROUGE 1.5.5. Which of several longest subsequences counts is rouge-score's choice.

    >>> rouge_lsum([["a", "b", "c"]], [["a", "b"], ["a", "c"]]).recall
    1.0
    """
    if len(reference) == len(candidate) == 1:
        return rouge_l(reference[0], candidate[0])
    shared: Counter[str] = Counter()
    for sentence in reference:
        places = set[int]().union(*(_lcs_places(sentence, other) for other in candidate))
        shared.update(sentence[i] for i in places)
    given = Counter(chain.from_iterable(candidate))
    return _rouge((shared & given).total(), sum(map(len, reference)), given.total())


class _Cut:
    """A text as its words, and as those of its lines, which stand for sentences."""

    def __init__(self, text: str, stem: bool) -> None:
        self.lines = [words for line in text.split("\n") if (words := rouge_tokens(line, stem))]
        self.words = list(chain.from_iterable(self.lines))


def _compared(expected: _Cut, given: _Cut) -> dict[str, Rouge]:
    return {
        "rouge1": rouge_n(expected.words, given.words, 1),
        "rouge2": rouge_n(expected.words, given.words, 2),
        "rougeL": rouge_l(expected.words, given.words),
        "rougeLsum": rouge_lsum(expected.lines, given.lines),
    }


def _rouge(same: int, expected: int, given: int) -> Rouge:
    if same == 0:
        return Rouge(0.0, 0.0, 0.0)
    precision, recall = same / given, same / expected
    return Rouge(precision, recall, 2 * precision * recall / (precision + recall))


def _lcs_rows(reference: Tokens, candidate: Tokens) -> Iterator[int]:
    """The table of the longest common subsequence, an integer for each prefix of the reference, from none.

    Bit j of row i is set where the subsequence of the first i words and the first j + 1 of the candidate is
    longer by one than with the first j; so the length is the number of bits. Words of a machine at a time.
    Source: Hyyrö 2004, "Bit-parallel LCS-length Computation Revisited", with the bits inverted.
    """
    places: dict[str, int] = defaultdict(int)
    for j, token in enumerate(candidate):
        places[token] |= 1 << j
    everywhere = (1 << len(candidate)) - 1
    level = everywhere
    yield 0
    for token in reference:
        matched = level & places.get(token, 0)
        level = ((level + matched) | (level - matched)) & everywhere
        yield level ^ everywhere


def _lcs_places(reference: Tokens, candidate: Tokens) -> set[int]:
    """The places in the reference of one longest common subsequence, found from the end.

    Where two words differ the way goes to the longer of the two subsequences without one of them; of equal
    ones, to that without the reference's word.
    """
    rows = list(_lcs_rows(reference, candidate))
    places: set[int] = set()
    i, j = len(reference), len(candidate)
    while i and j:
        if reference[i - 1] == candidate[j - 1]:
            places.add(i - 1)
            i, j = i - 1, j - 1
        elif _length(rows[i], j - 1) > _length(rows[i - 1], j):
            j -= 1
        else:
            i -= 1
    return places


def _length(row: int, j: int) -> int:
    return (row & ((1 << j) - 1)).bit_count()
