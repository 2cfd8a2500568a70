"""A question: as it is typed, understood and searched, and what it asks for. It is made once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from functools import cached_property
from itertools import chain

from spanwise.types import Spelling

from ...index.analysis import Analyzer
from ...index.snapshot import Snapshot
from ...retrieval.bm25 import idf_lucene
from . import patterns
from .list_questions import QUOTED, mentioned_words
from .spelling import FUNCTION_WORDS, spelling_of

LIMIT = patterns.pattern("limits.limit")
MAX_HOLDING = 1_000  # passages with a name whose documents are looked up
NAME = re.compile(r"(?<!\A)\b(?:[A-Z]\w*|\w*\d[\w.-]*)")  # not the capital at the start
SIGN = r"[^\w\n]?"  # that may be inside an identifier


class Question:
    """A question to a commit.

    Attributes:
        spelling: as it is typed, understood after a conversation, and searched.
        text: as it is searched.
    """

    def __init__(self, spelling: Spelling, snapshot: Snapshot, analyzer: Analyzer) -> None:
        self.spelling = spelling
        self.text = spelling.text
        self._snapshot = snapshot
        self._analyzer = analyzer
        self._holding: dict[str, Set[str]] = {}

    @classmethod
    def of(cls, question: str | Question, snapshot: Snapshot, analyzer: Analyzer) -> Question:
        """The question as typed; one that is made already stays as it is."""
        if isinstance(question, Question):
            return question
        return cls(spelling_of(question, snapshot, analyzer), snapshot, analyzer)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The terms that are searched for; of the stems of a word in several languages those that occur."""
        stems = [self._analyzer.stems(word) for word in self._analyzer.question_words(self.text)]
        df = self._snapshot.postings().statistics(chain.from_iterable(stems)).df
        return frozenset(
            chain.from_iterable([each for each in word if df[each]] or word[:1] for word in stems)
        )

    @cached_property
    def content(self) -> set[str]:
        """The terms without function words; all terms if it has only function words."""
        return content_terms(self.text, self._analyzer)

    @cached_property
    def typed_terms(self) -> set[str]:
        """The terms that were typed; the others come from a conversation."""
        return {*self._analyzer.question_terms(self.spelling.question)} & self.terms

    @cached_property
    def listed_words(self) -> str:
        """The words, if it asks for all documents that mention them; else ""."""
        asked = mentioned_words(self.spelling.uncorrected)
        return asked and (mentioned_words(self.text) or asked)

    @cached_property
    def is_quoted(self) -> bool:
        """True if these words are in quotation marks, and mean exactly themselves."""
        return bool(self.listed_words) and any(
            self.listed_words in named for named in QUOTED.findall(self.text)
        )

    @cached_property
    def is_count(self) -> bool:
        """True if it asks how many."""
        return "how many " in self.text.lower()

    def coverage(self, terms: Iterable[str]) -> float:
        """The fraction of its idf mass that `terms` hold; 1 for a question without terms."""
        if not self._mass:
            return 1.0
        return sum(self._idf[term] for term in self.terms.intersection(terms)) / self._mass

    @cached_property
    def names(self) -> frozenset[str]:
        """The terms of its names, numbers and identifiers: words with a capital or a digit."""
        text = LIMIT.sub(" ", self.text)  # a number to compare with is no name
        return frozenset(chain.from_iterable(map(self._analyzer.terms, NAME.findall(text))))

    def identifiers_in(self, text: str) -> frozenset[str]:
        """The terms of its identifiers, such as "e17", that a text has with other signs inside: "E-17"."""
        return frozenset(term for term, pattern in self._identifiers.items() if pattern.search(text))

    @cached_property
    def _identifiers(self) -> dict[str, re.Pattern[str]]:
        """The terms with letters and digits, each as a pattern that allows a sign between two characters."""
        return {
            term: re.compile(rf"(?<!\w){SIGN.join(map(re.escape, term))}(?!\w)", re.I)
            for term in self.names & self.terms
            if not term.isdecimal() and any(map(str.isdecimal, term))
        }

    def rarest_name_without(self, terms: Iterable[str], document_id: str) -> float:
        """The idf of the rarest name that neither `terms` nor the document have, over the highest idf.

        A name in more than MAX_HOLDING passages is none that a document lacks.
        """
        idfs = [
            self._idf[name]
            for name in (self.names & self.terms).difference(terms)
            if self._df[name] <= MAX_HOLDING and document_id not in self._documents(name)
        ]
        return max(idfs, default=0.0) / idf_lucene(0, max(1, self._snapshot.n_passages))

    def _documents(self, term: str) -> Set[str]:
        """The documents that hold a term."""
        if term not in self._holding:
            ids = self._snapshot.postings().passages_with([term]).tolist()
            self._holding[term] = {document for document, _, _ in self._snapshot.places(ids)}
        return self._holding[term]

    @cached_property
    def _df(self) -> dict[str, int]:
        df = self._snapshot.postings().statistics(self.terms).df
        return {term: df.get(term, 0) for term in self.terms}

    @cached_property
    def _idf(self) -> dict[str, float]:
        n_passages = self._snapshot.postings().statistics(()).n_docs
        return {term: idf_lucene(df, n_passages) for term, df in self._df.items()}

    @cached_property
    def _mass(self) -> float:
        return sum(self._idf.values())


def content_terms(question: str, analyzer: Analyzer) -> set[str]:
    """The terms of a question without function words; all terms if it has only function words.

    >>> content_terms("How much did the mills, the mill?", Analyzer())
    {'mill'}
    """
    tokens = analyzer.tokens(question)
    content = [token for token in tokens if token.word not in FUNCTION_WORDS]
    return {analyzer.term(token.word) for token in content or tokens}
