"""Misspelled words of a question, and the words of the documents that are searched instead."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from spanwise.types import QuestionTerm, SearchedWord

from ...index.analysis import STOP_WORDS, Analyzer, Token
from ...index.live_postings import LivePostings, prefix_distances
from ...index.snapshot import Snapshot
from ...models.model_files import base_vocabulary

MIN_LETTERS = 4  # of a word that is replaced: an edit makes another word of a shorter one
MIN_LETTERS_OF_TWO = 8  # of one that may be two edits away
N_PASSAGES = 3  # of a term, whose words are compared
QUOTES = tuple('"“„«')

# Words of questions that, like stop words, say nothing of their topic; the index searches by them.
FUNCTION_WORDS = STOP_WORDS | frozenset(
    "much many more most few less least lot long often get gets got getting give gives go let make take tell "
    "show explain describe find say says mean know need want like please us one ones thing things".split()
)


@dataclass(frozen=True, slots=True)
class Spelling:
    """A question and the text that is searched, with other words for some that occur nowhere.

    `missing` are the words that occur nowhere and stay; `is_unknown`: no content word occurs.
    """

    question: str
    text: str
    searched_for: tuple[SearchedWord, ...] = ()
    missing: tuple[QuestionTerm, ...] = ()
    is_unknown: bool = False


def spelled(question: str, postings: LivePostings, snapshot: Snapshot, analyzer: Analyzer) -> Spelling:
    """The question with each word that occurs nowhere as its nearest word of the documents.

    A word right after a quotation mark, one with digits or inner capitals, and one of the base model's
    vocabulary stay as they are.
    """
    tokens = [token for token in analyzer.tokens(question) if token.word not in FUNCTION_WORDS]
    df = postings.statistics({analyzer.term(token.word) for token in tokens}).df
    unknown = [token for token in tokens if not df[analyzer.term(token.word)]]
    wrong = [one for one in unknown if _is_misspelled(question, one, analyzer)]
    near = {one.start: _nearest(one.word, postings, snapshot, analyzer) for one in wrong}
    if unknown == tokens and 2 * sum(map(bool, near.values())) < max(1, len(wrong)):  # another language
        near = {}
    text, replaced, missing = question, list[SearchedWord](), dict[str, QuestionTerm]()
    for one in reversed(unknown):
        term, word = QuestionTerm(one.start, one.end), near.get(one.start)
        if word:
            replaced.insert(0, SearchedWord(term, word))
            text = text[: one.start] + word + text[one.end :]
        else:
            missing[one.word] = term
    is_unknown = bool(tokens) and unknown == tokens and not replaced
    return Spelling(question, text, tuple(replaced), tuple(missing.values())[::-1], is_unknown)


def _is_misspelled(question: str, token: Token, analyzer: Analyzer) -> bool:
    written = question[token.start + 1 : token.end]
    is_word = len(token.word) >= MIN_LETTERS and token.word.isalpha() and written == written.lower()
    is_quoted = question[max(token.start - 1, 0) : token.start] in QUOTES
    return is_word and not is_quoted and not {token.word, analyzer.term(token.word)} & base_vocabulary()


def _nearest(typed: str, postings: LivePostings, snapshot: Snapshot, analyzer: Analyzer) -> str | None:
    """The word of the documents that is the fewest edits away, and of these the most frequent."""
    most = 2 if len(typed) >= MIN_LETTERS_OF_TWO else 1
    terms = postings.spelled_like(typed, most)
    ids = {at for term in terms for at in postings.first_passages(term, N_PASSAGES)}
    passages = snapshot.passages(sorted(ids))
    counts = Counter(token.word for passage in passages for token in analyzer.tokens(passage.text))
    near = [word for word in counts if analyzer.term(word) in terms]
    edits = prefix_distances(typed, near)[:, -1].tolist()
    df = postings.statistics(terms).df
    rows = zip(edits, near, strict=True)
    found = [(n, -df[analyzer.term(word)], -counts[word], word) for n, word in rows if n <= most]
    return min(found)[-1] if found else None
