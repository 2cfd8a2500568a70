"""What a question means in a conversation: a follow-up question with the words that it leaves out.

A question that stands alone is left alone. "And the windows?" takes the place of "the roof" in the question
before it. Any other follow-up question gets the names and noun phrases of earlier questions, and of answers
that quote the documents, which weigh most: the weight of a term is its idf times the number of turns that
have it, where a change of the subject makes earlier turns count less.

After the historical query expansion of Yang et al., "Query and Answer Expansion from Conversation History",
TREC 2019. Deviations: phrases are added instead of single words, and dependence is decided by grammar.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from spanwise.types import Answer, Hit, Passage, Summary, Turn

from ...index.analysis import Analyzer
from ...index.protocol import Ids
from ...index.snapshot import Snapshot
from ...retrieval.bm25 import idf_lucene
from ...retrieval.protocol import Retriever
from ..plain_text import chat_text
from ..understanding.patterns import pattern, source, words
from ..understanding.spelling import FUNCTION_WORDS

MAX_ADDED = 6  # words
MIN_WEIGHT = 0.2  # of a phrase that is added, as a share of the best one
NAME_WEIGHT = 2.0
QUOTE_WEIGHT = 0.3  # of the names of an answer, against 1 for the words of a question
ASPECT = 0.5  # of the words of a question that needs others
FADING = 0.2  # of the weight of earlier turns at a change of the subject
REPLACED_FADING = 0.1  # of words in whose place others stand
MIN_QUOTED = 3  # different words of a quote
MAX_QUOTES = 20  # of an answer that are looked for
MAX_HOLDING = 20  # passages in which a quote is looked for
MAX_FRAGMENT = 80  # characters of words that may take the place of others
RANK = 5  # added to each rank before rankings are fused: the first ranks count most
RECENT = 0.95  # the weight of the ranking for the last two questions, against 1
SAME_DOCUMENT = 0.02  # for a hit in the document of the last answer: less than a rank at the top

PREPOSITION = source("turns.preposition")
DETERMINER = source("turns.determiner")
PRONOUN = source("turns.pronoun")
LIGHT = frozenset(words("turns.light"))
SENTENCE_END = re.compile(r"[.?!:\n]")
JOINED = re.compile(r"[\s’'\"“”&/-]*")  # between two words of a phrase
QUOTE_MARK = re.compile(r"\s{0,3}\[\d+\]\s{0,3}|\n+(?:\d+\. )?")  # of a citation, or of a step
ASKING = pattern("turns.asking")
FOLLOWING = pattern("following.forms")
FRAGMENT = pattern("fragments.fragment")
CONTENT = rf"(?!(?:{'|'.join(FUNCTION_WORDS)})\b)[\w'’-]+"
BARE = source("fragments.bare", content=CONTENT)
NAME = source("fragments.name")
CLAUSE_END = pattern("turns.clause_end")
SENTENCE_CASE = re.compile(r"\b[a-z]{5,}")  # in another heading a capital shows no name
NUMBER = re.compile(r"\d")
ADDED = re.compile(r" \([^()]*\)\Z")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a turn.

    Attributes:
        text: the word as written.
        word: the word, folded.
        term: its term in the index.
        start: its place in the turn.
        is_name: it is a name or has a digit.
        is_topic: it may tell what a question is about.
    """

    text: str
    word: str
    term: str
    start: int
    is_name: bool
    is_topic: bool


Phrase = tuple[Word, ...]


def words_of(text: str, analyzer: Analyzer) -> list[Word]:
    """The words of a turn.

    >>> [word.text for word in words_of("How long is the Heron?", Analyzer()) if word.is_name]
    ['Heron']
    """
    words: list[Word] = []
    end = 0
    for token in analyzer.tokens(text):
        written = text[token.start : token.end]
        term = analyzer.term(token.word)
        is_first = bool(SENTENCE_END.search(text[end : token.start])) or not words
        end = token.end
        is_capital = any(map(str.isupper, written[1 if is_first else 0 :]))
        is_content = token.word not in FUNCTION_WORDS
        is_name = is_content and (is_capital or any(map(str.isdigit, written)))
        is_topic = is_name or (is_content and term not in LIGHT)
        words.append(Word(written, token.word, term, token.start, is_name, is_topic))
    return words


def terms_of(words: Sequence[Word]) -> set[str]:
    """The terms of the topic words."""
    return {word.term for word in words if word.is_topic}


def phrases_of(text: str, words: Sequence[Word]) -> list[Phrase]:
    """Runs of topic words without a sign between them."""
    phrases: list[list[Word]] = [[]]
    end = 0
    for word in words:
        if not word.is_topic or not JOINED.fullmatch(text[end : word.start]):
            phrases.append([])
        if word.is_topic:
            phrases[-1].append(word)
        end = word.start + len(word.text)
    return [tuple(phrase) for phrase in phrases if phrase]


def follows(question: str, words: Sequence[Word], known: Mapping[str, float]) -> bool:
    """True for a question that needs words of earlier ones, whose terms are `known`.

    Such a question has the form of one, or a pronoun that nothing in its first clause explains, or hardly a
    topic word, and none that is new and a name.
    """
    if FOLLOWING.search(question) or _has_open_pronoun(question, words):
        return True
    is_asking = bool(ASKING.search(question))
    if not is_asking and re.match(rf"(?:{PREPOSITION})\b", question, re.I):
        return True
    own = [word for word in words if word.is_topic]
    new = [word for word in own if word.term not in known]
    if any(word.is_name for word in new):
        return False
    return len(new) == len(own) <= (1 if is_asking else 2)


def _has_open_pronoun(question: str, words: Sequence[Word]) -> bool:
    """True for a pronoun before the end of the clause with the first topic word."""
    start = min((word.start for word in words if word.is_topic), default=len(question))
    end = next((match.start() for match in CLAUSE_END.finditer(question, start)), len(question))
    return bool(re.search(rf"\b(?:{PRONOUN})\b", question[:end], re.I))


def with_fragment(question: str, before: str) -> str:
    """The question before, with a fragment in the place of its counterpart; "" where there is none.

    They have the same preposition, or are two names, or the first words with a determiner, or one or two
    words and what follows the verb, and rather both have a number or neither. Else the counterpart is a
    pronoun, or the fragment is put at the end.

    >>> with_fragment("And on Sundays?", "When does the mill open on Mondays?")
    'When does the mill open on Sundays?'
    >>> with_fragment("no, I mean the north one", "How old is the south gate?")
    'How old is the north gate?'
    >>> with_fragment("And the weir?", "Who built it? (mill)"), with_fragment("in June?", "Is it open?")
    ('Who built the weir?', 'Is it open in June?')
    """
    fragment = FRAGMENT.fullmatch(question) if len(question) <= MAX_FRAGMENT else None
    if (
        fragment is None
        or not (fragment["mark"] or fragment["preposition"])
        or ASKING.search(fragment["rest"])
        or not re.search(CONTENT, fragment["rest"], re.I)
    ):
        return ""
    new = fragment["whole"]
    body = ADDED.sub("", before)
    added = before[len(body) :]
    if NUMBER.search(fragment["rest"]):
        added = re.sub(r" ?\b\w*\d\w*", "", added)
    n_words = len(fragment["rest"].split())
    run = rf"{CONTENT}(?: {CONTENT}){{0,{n_words - 1}}}"
    forms = [rf"\b((?:{DETERMINER}) {run}(?: ones?)?)", rf"\b({PRONOUN})\b"]
    if fragment["preposition"]:
        forms = [rf"\b({fragment['preposition']} (?:(?:{DETERMINER}) )?{run})"]
    elif re.search(r"[A-Z\d]", fragment["rest"]):
        new = fragment["rest"]
        forms.insert(0, f"((?-i:{NAME}))")
    elif not fragment["determiner"]:
        forms = [BARE, forms[1]] if n_words <= 2 else []
    for place in filter(None, (_counterpart(form, body, fragment["rest"]) for form in forms)):
        new = re.sub(r"\bones?$", place[1].split()[-1], new)
        # Added words belong to the pronoun.
        after = "" if place[1].lower() in PRONOUN.split("|") else added
        whole = body[: place.start(1)] + new + body[place.end(1) :] + after
        return re.sub(r"\b(\w{3,40}) \1\b", r"\1", whole)
    return f"{body.rstrip(' ?.')} {new}?{added}" if fragment["preposition"] else ""


def _counterpart(form: str, body: str, fragment: str) -> re.Match[str] | None:
    """The first place of this form, rather with a number if the fragment has one, and without if not."""
    places = list(re.finditer(form, body, re.I))
    has_number = bool(NUMBER.search(fragment))
    alike = [place for place in places if bool(NUMBER.search(place[1])) == has_number]
    return next(iter([*alike, *places]), None)


@dataclass(slots=True)
class Topics:
    """What a conversation is about.

    Attributes:
        weights: the weight of each term that was mentioned.
        phrases: the noun phrases, latest turn first.
    """

    weights: dict[str, float] = field(default_factory=dict)
    phrases: list[Phrase] = field(default_factory=list)

    def add(self, text: str, words: Sequence[Word], weight: float = 1.0) -> None:
        """Mention the phrases of a turn."""
        self.phrases = [*phrases_of(text, words), *self.phrases]
        for term in terms_of(words):
            self.weights[term] = self.weights.get(term, 0.0) + weight

    def fade(self, factor: float, terms: Collection[str]) -> None:
        """Make terms count less."""
        for term in terms & self.weights.keys():
            self.weights[term] *= factor

    def missing(self, words: Sequence[Word], idf: Callable[[str], float]) -> list[Word]:
        """The words of the weightiest phrases that a follow-up question lacks."""

        def weight(phrase: Phrase) -> float:
            heaviest = max(self.weights[word.term] * idf(word.term) for word in phrase)
            return heaviest * (NAME_WEIGHT if any(word.is_name for word in phrase) else 1.0)

        own = {word.term for word in words}
        phrases = [phrase for phrase in self.phrases if any(word.term not in own for word in phrase)]
        lowest = MIN_WEIGHT * max(map(weight, phrases), default=0.0)
        ranked = sorted((each for each in phrases if weight(each) >= lowest), key=weight, reverse=True)
        return [word for phrase in ranked for word in phrase if word.term not in own]


@dataclass(frozen=True, slots=True)
class Context:
    """A conversation over one commit.

    Attributes:
        turns: the questions, and the sentences that answered them, each with its headings.
        documents: the documents of the last answer.
        analyzer: the analyzer of the index.
        idf: the inverse document frequency of a term.
    """

    turns: Sequence[Turn]
    documents: Set[str]
    analyzer: Analyzer
    idf: Callable[[str], float]

    def understood(self, question: str) -> str:
        """The question with what it leaves out; the same text where it stands alone."""
        topics = Topics()
        understood = ""
        for turn in (*self.turns, {"role": "user", "content": question}):
            text = turn["content"]
            words = words_of(text, self.analyzer)
            if turn["role"] == "user":
                understood = self._with_missing(text, words, understood, topics)
            else:
                names = [word for word in words if word.is_name and word.word.isalpha()]
                topics.add(text, names, QUOTE_WEIGHT)
        return understood

    def _with_missing(self, text: str, words: Sequence[Word], before: str, topics: Topics) -> str:
        """A question with what it leaves out; adds its phrases to the topics."""
        is_following = bool(before) and follows(text, words, topics.weights)
        if is_following and (replaced := with_fragment(text, before)):
            words = words_of(replaced, self.analyzer)
            topics.fade(REPLACED_FADING, terms_of(words_of(before, self.analyzer)) - terms_of(words))
            topics.add(replaced, words)
            return replaced
        added: list[Word] = []
        if is_following:
            added = topics.missing(words, self.idf)
            if all(word.word in FUNCTION_WORDS for word in words):
                added = [*words_of(before, self.analyzer), *added]
            content = {word.term: word for word in added if word.word not in FUNCTION_WORDS}
            added = list(content.values())[:MAX_ADDED]
        elif terms_of(words).isdisjoint(topics.weights):
            topics.fade(FADING, topics.weights.keys())
        topics.add(text, words, ASPECT if added else 1.0)
        return f"{text.rstrip()} ({' '.join(word.text for word in added)})" if added else text

    def retriever(self, retriever: Retriever) -> Retriever:
        """The retriever, with a mild preference for what the conversation is about."""
        recent = [turn["content"] for turn in self.turns if turn["role"] == "user"]
        return ConversationRetriever(retriever, recent[-1], self.documents) if recent else retriever


def context_of(history: Sequence[Turn], snapshot: Snapshot, analyzer: Analyzer) -> Context:
    """The context of a conversation. Of an assistant's words only sentences of the documents count."""
    turns: list[Turn] = []
    documents: set[str] = set()
    for turn in history:
        if turn["role"] == "user":
            turns.append(turn)
            continue
        parts = QUOTE_MARK.split(turn["content"])[:MAX_QUOTES]
        quoted = [quote for part in parts if (quote := quote_of(part, snapshot, analyzer))]
        documents = {passage.document_id for passage, _ in quoted}
        for passage, sentence in quoted:
            headings = filter(SENTENCE_CASE.search, passage.heading)
            turns.append({"role": "assistant", "content": "; ".join([sentence, *headings])})
    terms = {term for turn in turns for term in analyzer.terms(turn["content"])}
    statistics = snapshot.postings().statistics(terms)
    idf = {term: idf_lucene(statistics.df.get(term, 0), statistics.n_docs) for term in terms}
    return Context(turns, documents, analyzer, lambda term: idf.get(term, 0.0))


def quote_of(text: str, snapshot: Snapshot, analyzer: Analyzer) -> tuple[Passage, str] | None:
    """The first passage that holds a text, with it; None for words that no passage holds in this order."""
    words = " ".join(text.split())
    by_language = [list(dict.fromkeys(each.terms(words))) for each in analyzer.by_language]
    if len(by_language[0]) < MIN_QUOTED:
        return None
    found_ids = chain.from_iterable(map(snapshot.postings().passages_with, by_language))
    ids = [int(number) for number in dict.fromkeys(found_ids)][:MAX_HOLDING]
    holding = (each for each in snapshot.passages(ids) if words in " ".join(each.text.split()))
    return next(((passage, words) for passage in holding), None)


class ConversationRetriever:
    """Ranks as `retriever` does, with a mild preference for what a conversation is about.

    The ranking for a question is fused with the one for the question before it and itself, by reciprocal
    ranks: score = 1 / (RANK + r) + RECENT / (RANK + r'). Hits in the last answer's document get
    SAME_DOCUMENT on top.
    """

    def __init__(self, retriever: Retriever, recent: str, documents: Set[str]) -> None:
        self.name = retriever.name
        self._retriever = retriever
        self._recent = recent
        self._documents = documents

    def search(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[list[Hit]]:
        """The best k hits of each question by the fused score."""
        with_recent = [f"{self._recent} {question}" for question in questions]
        rankings = self._retriever.search([*questions, *with_recent], k, among)
        n_questions = len(questions)
        return [
            self._fused(ranking, recent)[:k]
            for ranking, recent in zip(rankings[:n_questions], rankings[n_questions:], strict=True)
        ]

    def _fused(self, ranking: Sequence[Hit], recent: Sequence[Hit]) -> list[Hit]:
        hits = {hit.passage.id: hit for hit in (*recent, *ranking)}
        scores = {
            number: SAME_DOCUMENT * (hit.passage.document_id in self._documents)
            for number, hit in hits.items()
        }
        for some, weight in ((ranking, 1.0), (recent, RECENT)):
            for rank, hit in enumerate(some, start=1):
                scores[hit.passage.id] += weight / (RANK + rank)
        fused = [replace(hit, score=scores[number]) for number, hit in hits.items()]
        fused.sort(key=lambda hit: (-hit.score, hit.passage.document_id, hit.passage.start))
        return [replace(hit, rank=rank) for rank, hit in enumerate(fused, start=1)]


class Conversation:
    """Questions to documents in which each may depend on those before it.

    Attributes:
        history: the turns, oldest first: {"role": "user" or "assistant", "content": text}.
    """

    def __init__(self, ask: Callable[..., Answer], history: Sequence[Turn] | str = ()) -> None:
        """`history` may be the JSON of an earlier conversation."""
        self.history: list[Turn] = list(json.loads(history) if isinstance(history, str) else history)
        self._ask = ask

    def ask(self, question: str, **changes: Any) -> Answer:
        """The answer to a question; `changes` are fields of `AskOptions`."""
        answer = self._ask(question, history=self.history, **changes)
        self.add(question, answer)
        return answer

    def add(self, question: str, result: Answer | Summary) -> None:
        """Remember a question with its answer."""
        self.history += [
            {"role": "user", "content": question},
            {"role": "assistant", "content": chat_text(result)[0]},
        ]

    def reset(self) -> None:
        """Forget all turns."""
        self.history.clear()

    def to_json(self) -> str:
        """The history as JSON, which `Library.conversation` reads."""
        return json.dumps(self.history)
