"""The stemmer is that of rouge-score, word by word."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from nltk.stem.porter import PorterStemmer
from rouge_score.tokenize import tokenize

from spanwise.corpora.squad import read_squad
from spanwise.eval.text.porter import porter_stem
from spanwise.eval.text.rouge import rouge_tokens

SUFFIXES = (
    "ational tional enci anci izer bli abli alli entli eli ousli ization ation ator alism iveness fulness"
    " ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic able"
    " ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize s es ies sses ed ing eed ied y e ll ly"
).split()


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("dies", "die"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("enjoy", "enjoy"),
        ("sky", "sky"),
        ("skies", "sky"),
        ("relational", "relat"),
        ("additionally", "addit"),
        ("technology", "technolog"),
        ("controlling", "control"),
        ("adoption", "adopt"),
        ("by", "by"),
        ("", ""),
    ],
)
def test_known_words(word: str, stem: str) -> None:
    assert porter_stem(word) == stem


def test_equal_to_nltk_on_made_words() -> None:
    draw, peer = random.Random(0), PorterStemmer()
    for _ in range(20_000):
        root = "".join(draw.choices("abcdeilotsyz1", k=draw.randint(1, 6)))
        word = root + "".join(draw.choices(SUFFIXES, k=draw.randint(0, 3)))
        assert porter_stem(word) == peer.stem(word), word


def test_equal_to_rouge_score_on_the_words_of_squad(data: Path) -> None:
    peer = PorterStemmer()
    articles = read_squad(data / "squad" / "dev-v1.1.json.gz").articles
    for text in (paragraph.context for article in articles[:4] for paragraph in article.paragraphs):
        assert rouge_tokens(text, stem=True) == tokenize(text, peer)
