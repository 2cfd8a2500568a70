"""Spelling correction: misspelled words of a question are replaced by words of the documents."""

import re
from collections import Counter

from spanwise.types import QuestionTerm, SearchedWord, Spelling

from ...index.analysis import NAME, STOP_WORDS, Analyzer, Token
from ...index.live_postings import prefix_distances
from ...index.snapshot import Snapshot
from ...models.model_files import base_vocabulary
from .patterns import words

MIN_LETTERS = 4  # of a word that is corrected: one edit often turns a shorter word into another
MIN_LETTERS_OF_TWO = 8  # of a word that may be two edits away
MAX_MISSING = 8  # words that are looked for inside others
ENDING = re.compile(r"(?<=\w{3})[eiy]\Z|(?<=(\w))\1\Z")
N_PASSAGES = 3  # passages per term that are searched for its words
QUOTES = tuple('"“„«')

# Words that, like stop words, say nothing about the topic of a question. The index still searches by them.
FUNCTION_WORDS = STOP_WORDS | {*words("general.function_words")}


def spelling_of(typed: str, snapshot: Snapshot, analyzer: Analyzer, understood: str = "") -> Spelling:
    """The question with each word that occurs nowhere corrected to the closest word of the documents.

    In a conversation these are words of the question as it is understood. Never corrected: words after a
    quotation mark, with digits or inner capitals, or in the base vocabulary.
    """
    question = understood or typed
    tokens = [token for token in analyzer.tokens(question) if token.word not in FUNCTION_WORDS]
    terms = {term for token in tokens for term in analyzer.stems(token.word)}
    df = snapshot.postings().statistics({*terms, *(NAME + term for term in terms)}).df
    known = {term for term in terms if df[term] or df[NAME + term]}
    unknown = [token for token in tokens if known.isdisjoint(analyzer.stems(token.word))]
    misspelled = [token for token in unknown if _is_misspelled(question, token, analyzer)]
    closest = {token.start: _closest(token.word, snapshot, analyzer) for token in misspelled}
    n_replaced = sum(word is not None for word in closest.values())
    if unknown == tokens and 2 * n_replaced < max(1, len(misspelled)):  # the question is in another language
        closest = {}
    searched_for: list[SearchedWord] = []
    missing: dict[str, QuestionTerm] = {}
    for token in reversed(unknown):  # reversed: a repeated word keeps its first place
        term = QuestionTerm(token.start, token.end)
        word = closest.get(token.start)
        if word is not None:
            searched_for.insert(0, SearchedWord(term, word))
        else:
            missing[token.word] = term
    is_unknown = unknown == tokens and not searched_for
    return Spelling(typed, tuple(searched_for), tuple(missing.values())[::-1], is_unknown, understood)


def unmentioned(spelling: Spelling, snapshot: Snapshot, analyzer: Analyzer) -> tuple[QuestionTerm, ...]:
    """The first missing words that are no part of a word of the documents."""

    def is_part(place: QuestionTerm) -> bool:
        word = analyzer.tokens(place.of(spelling.uncorrected))[0].word
        term = analyzer.term(word)
        # The stem of a longer word with the same ending may lack more: "fill" ends "refil".
        return snapshot.postings().has_term(f"{word}|{term}|{ENDING.sub('', term)}$")

    return tuple(place for place in spelling.missing_terms[:MAX_MISSING] if not is_part(place))


def _is_misspelled(question: str, token: Token, analyzer: Analyzer) -> bool:
    written = question[token.start + 1 : token.end]
    is_word = len(token.word) >= MIN_LETTERS and token.word.isalpha() and written == written.lower()
    is_quoted = question[max(token.start - 1, 0) : token.start] in QUOTES
    return is_word and not is_quoted and not {token.word, analyzer.term(token.word)} & base_vocabulary()


def _closest(typed: str, snapshot: Snapshot, analyzer: Analyzer) -> str | None:
    """The word of the documents with the fewest edits; on a tie the most frequent one."""
    postings = snapshot.postings()
    max_edits = 2 if len(typed) >= MIN_LETTERS_OF_TWO else 1
    terms = postings.spelled_like(typed, max_edits)
    ids = {number for term in terms for number in postings.first_passages(term, N_PASSAGES)}
    passages = snapshot.passages(sorted(ids))
    counts = Counter(token.word for passage in passages for token in analyzer.tokens(passage.readable))
    words = [word for word in counts if not {*analyzer.stems(word)}.isdisjoint(terms)]
    edits = prefix_distances(typed, words)[:, -1].tolist()
    df = postings.statistics(terms).df
    ranked = [
        (n_edits, -max(df.get(term, 0) for term in analyzer.stems(word)), -counts[word], word)
        for n_edits, word in zip(edits, words, strict=True)
        if n_edits <= max_edits
    ]
    return min(ranked)[-1] if ranked else None
