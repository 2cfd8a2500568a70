"""BLEU by hand, and equal to the sacrebleu package."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_texts import made_pairs, real_pairs
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from spanwise.eval.text.bleu import bleu, bleu_counts, corpus_counts
from spanwise.eval.text.mteval_13a import mteval_tokens

REFERENCE, CANDIDATE = "the black cat sat on the mat", "the cat sat on the mat"
SMOOTHINGS: list[tuple[Any, float | None]] = [
    ("none", None),
    ("exp", None),
    ("floor", None),
    ("floor", 0.01),
    ("add-k", None),
    ("add-k", 0.5),
]
OPTIONS = [
    (smoothing, value, effective, order, lowercase)
    for smoothing, value in SMOOTHINGS
    for effective in (False, True)
    for order, lowercase in ((4, False), (4, True), (1, False), (2, True), (3, False))
]


def peer(options: tuple[Any, ...]) -> BLEU:
    smoothing, value, effective, order, lowercase = options
    return BLEU(lowercase, True, "13a", smoothing, value, order, effective)


def ours(pairs: list[tuple[list[str], str]], options: tuple[Any, ...]) -> Any:
    smoothing, value, effective, order, lowercase = options
    counts = corpus_counts(bleu_counts(references, candidate, lowercase) for references, candidate in pairs)
    return bleu(counts, order, smoothing, value, effective)


def require_parity(pairs: list[tuple[list[str], str]], options: tuple[Any, ...]) -> None:
    """Pad the references to the same number with None, as sacrebleu wants it."""
    most = max(len(references) for references, _ in pairs)
    streams = [[refs[i] if i < len(refs) else None for refs, _ in pairs] for i in range(most)]
    expected = peer(options).corpus_score([candidate for _, candidate in pairs], streams)  # type: ignore[arg-type]
    found = ours(pairs, options)
    assert found.score == pytest.approx(expected.score, abs=1e-9), (pairs, options)
    assert found.brevity_penalty == pytest.approx(expected.bp, abs=1e-9)
    assert [100 * p for p in found.precisions] == pytest.approx(expected.precisions, abs=1e-9)


def test_e11_four_orders() -> None:
    counts = bleu_counts([REFERENCE], CANDIDATE)
    found = bleu(counts, smoothing="none")
    assert found.precisions == pytest.approx((1, 0.8, 0.75, 2 / 3))
    assert found.brevity_penalty == pytest.approx(0.846482, abs=5e-7)
    scores = [bleu(counts, order, "none").score / 100 for order in (1, 2, 3, 4)]
    assert scores == pytest.approx([0.846482, 0.757116, 0.713950, 0.673182], abs=5e-7)


def test_e12_no_brevity_penalty_for_the_longer() -> None:
    found = bleu(bleu_counts([CANDIDATE], REFERENCE), smoothing="none")
    assert found.precisions == pytest.approx((6 / 7, 2 / 3, 3 / 5, 1 / 2))
    assert (found.brevity_penalty, found.score) == (1, pytest.approx(64.3459, abs=5e-5))


def test_e12_matches_are_clipped() -> None:
    assert bleu(bleu_counts([REFERENCE], "the " * 7), order=1).precisions == (2 / 7,)


def test_sentences_equal_sacrebleu() -> None:
    for i, pair in enumerate(made_pairs(1500)):
        require_parity([pair], OPTIONS[i % len(OPTIONS)])


def test_corpora_equal_sacrebleu() -> None:
    pairs = made_pairs(2000, seed=1)
    sizes = random.Random(2)
    for i in range(1000):
        require_parity(sizes.sample(pairs, sizes.randint(2, 4)), OPTIONS[i % len(OPTIONS)])


def test_real_texts_equal_sacrebleu(data: Path) -> None:
    pairs = real_pairs(data, len(OPTIONS))
    for i, options in enumerate(OPTIONS):
        require_parity(pairs[max(0, i - 4) : i + 1], options)
        require_parity([pairs[i]], options)


@given(st.text() | st.text(alphabet="a1.,-'& \n\r\x1c<>;qltampskiped"))
def test_words_equal_sacrebleu(text: str) -> None:
    assert mteval_tokens(text) == Tokenizer13a()(text.rstrip()).split()


@given(st.lists(st.text(max_size=30), min_size=1, max_size=3), st.text(max_size=30), st.sampled_from(OPTIONS))
def test_any_text_equals_sacrebleu(references: list[str], candidate: str, options: tuple[Any, ...]) -> None:
    require_parity([(references, candidate)], options)


def test_the_nearest_reference_length_counts_and_of_two_the_shorter() -> None:
    assert bleu_counts(["a b c d e f", "a b", "a b c d"], "a b c").reference_length == 2


def test_an_empty_candidate_and_an_empty_corpus_score_nothing() -> None:
    assert bleu(bleu_counts(["a"], "")).score == bleu(corpus_counts([])).score == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": 0}, "order is 0"),
        ({"order": 5}, "order is 5; expected 1 to 4"),
        ({"smoothing": "method1"}, "smoothing is 'method1'; expected one of none, floor, add-k, exp"),
        ({"value": -1.0}, r"value is -1\.0"),
        ({"value": math.nan}, "value is nan"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bleu(bleu_counts(["a"], "a"), **arguments)


def test_no_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="no references"):
        bleu_counts([], "a")
