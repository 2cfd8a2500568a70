"""Every gold answer of SQuAD dev survives: cut into passages, put into tokens, and taken out again."""

import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise.corpora.datasets.squad import GoldAnswer, Paragraph, SquadDataset, read_squad
from spanwise.corpora.passages import split
from spanwise.eval.squad import normalize_answer
from spanwise.models.model_files import find_base
from spanwise.models.tokenizer import load_tokenizer
from spanwise.reader.span_reader import character_span
from spanwise.reader.spans import TokenSpan, tokenize
from spanwise.reader.training import token_labels
from spanwise.types import Document, Passage

SPANS = 34_726
CUT_A_WORD = 68
"""Golds that begin or end inside a word, such as "8" in "18": tokens can only give the whole word."""


@pytest.fixture(scope="module")
def dev(data: Path) -> SquadDataset:
    return read_squad(data / "squad" / "dev-v1.1.json.gz")


def paragraphs(dataset: SquadDataset) -> Iterator[tuple[Paragraph, list[GoldAnswer]]]:
    for article in dataset.articles:
        for paragraph in article.paragraphs:
            yield paragraph, [answer for question in paragraph.questions for answer in question.answers]


def test_every_gold_span_lies_in_one_passage_unchanged(dev: SquadDataset) -> None:
    n_golds = 0
    torn = []
    for paragraph, answers in paragraphs(dev):
        passages = split(Document("d", "text/plain", "", "", paragraph.context))
        for answer in answers:
            end = answer.start + len(answer.text)
            texts = {
                passage.text[answer.start - passage.start : end - passage.start]
                for passage in passages
                if passage.start <= answer.start and end <= passage.end
            }
            if texts != {answer.text}:
                torn.append(answer)
            n_golds += 1
    assert n_golds == SPANS
    assert torn == []


def test_every_gold_span_comes_back_from_its_tokens(dev: SquadDataset) -> None:
    every = list(paragraphs(dev))
    tokens = tokenize(load_tokenizer(find_base()), [paragraph.context for paragraph, _ in every])
    n_golds = 0
    widened = 0
    lost = []
    for (paragraph, answers), text in zip(every, tokens, strict=True):
        context = paragraph.context
        passage = Passage(0, "d", 0, len(context), context)
        for answer in answers:
            end = answer.start + len(answer.text)
            first, last = token_labels(text.offsets, answer.start, end)
            span = character_span(passage, text, TokenSpan(first, last, 0.0))
            same = normalize_answer(span.text) == normalize_answer(answer.text)
            cut = _is_inside_a_word(context, answer.start) or _is_inside_a_word(context, end)
            if answer.text.strip() not in span.text or not (same or cut):
                lost.append((answer, span))
            n_golds += 1
            widened += not same and cut
    assert n_golds == SPANS
    assert lost == []
    assert widened == CUT_A_WORD


def _is_inside_a_word(text: str, position: int) -> bool:
    """True between two characters neither of which is white space or ASCII punctuation: "1|8", "£|20"."""
    around = text[position - 1 : position + 1] if position else ""
    return len(around) == 2 and not any(c.isspace() or c in string.punctuation for c in around)
