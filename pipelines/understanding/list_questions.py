"""Questions for all documents that mention something: "which letters mention the flood?".

Two linear models decide: whether a question is one, from the runs of its words, and which of its words are
what is mentioned, from the words around each. Words that are frequent in the questions that they are fitted
on are known by their stems, any other word is "·", and a quotation is '"', so that both judge the form of a
question, not its topic. Words in quotation marks are what is mentioned. A negation makes it another question,
as the list would be the opposite of what is asked. `list_questions.json` has the weights, which

    python -m spanwise.pipelines.understanding.list_questions --lists FILE … --others FILE …

fits anew. Each line of a file has a "question", one of `--lists` also its "phrase": the words that documents
mention. The everyday wordings of other questions are fitted on, too.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...index.analysis import STOP_WORDS, Analyzer
from . import patterns

WEIGHTS = "list_questions.json"
QUOTED = patterns.pattern("documents.quoted")
NEGATION = patterns.pattern("negation.word")
WORD = re.compile(r"\w(?:[\w.+#/’'&@-]*[\w+#])?|[^\w\s]")
UNKNOWN = "·"
QUOTATION = '"'
RUN = 3  # words of the longest runs that are features
WINDOW = 3  # words on each side of one that are features
MAX_WORDS = 8  # of what is mentioned
MAX_QUESTION = 60  # words of a question for documents
MIN_LOGIT = 0.0  # of a question for documents; one to three in a hundred look-alikes are above it
MIN_BESIDE = 5  # times that a known word stands beside what is mentioned
N_RUNS = 4000  # features with the largest weights
N_AROUND = 1500
PENALTIES = (0.1, 0.5)  # of the squares of the weights


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of a question, or a sign.

    start, end: its place.
    unit: what the models see of it.
    """

    start: int
    end: int
    unit: str


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A logit: the sum of the weights of features, and an offset."""

    weights: Mapping[str, float]
    offset: float

    def logit(self, features: Iterable[str]) -> float:
        """The logit of an example with these features."""
        return self.offset + sum(self.weights.get(feature, 0.0) for feature in set(features))


@dataclass(frozen=True, slots=True)
class DocumentModels:
    """Both models.

    known: the stems of known words.
    asks: whether a question asks for documents.
    mentioned: whether a word is of what is mentioned.
    """

    known: frozenset[str]
    asks: LinearModel
    mentioned: LinearModel


@cache
def shipped() -> DocumentModels:
    """The models of `list_questions.json`."""
    stored = json.loads((files(__package__) / WEIGHTS).read_text(encoding="utf-8"))
    asks = LinearModel(**stored["asks"])
    return DocumentModels(frozenset(stored["known"]), asks, LinearModel(**stored["mentioned"]))


def mentioned_words(question: str) -> str:
    """The words of a question for the documents that mention them; "" for another question.

    >>> mentioned_words("How many letters mention the flood?"), mentioned_words("How many letters are there?")
    ('flood', '')
    """
    models = shipped()
    words = words_of(question, models.known)
    named = QUOTED.findall(question)
    if not 0 < len(words) <= MAX_QUESTION or len(named) > 1 or NEGATION.search(QUOTED.sub("", question)):
        return ""
    if models.asks.logit(runs(words)) < MIN_LOGIT:
        return ""
    if named:
        return "".join(named[0])
    logits = [models.mentioned.logit(around(words, place)) for place in range(len(words))]
    first, after = best_run(logits)
    return question[words[first].start : words[after - 1].end]


def words_of(question: str, known: frozenset[str]) -> list[QuestionWord]:
    """The words and signs of a question."""
    quotations = [match.span() for match in QUOTED.finditer(question)]
    words = []
    for match in WORD.finditer(question):
        start, end = match.span()
        stem = _stem(match[0])
        is_sign = not match[0][0].isalnum()
        unit = stem if is_sign or stem in known else UNKNOWN
        if any(first < start and end < after for first, after in quotations):
            unit = QUOTATION
        words.append(QuestionWord(start, end, unit))
    return words


def runs(words: Sequence[QuestionWord]) -> Iterator[str]:
    """The features of a question: its runs of up to RUN units, equal neighbours of "·" or '"' as one."""
    units = ["^"]
    for word in words:
        if word.unit not in (UNKNOWN, QUOTATION) or word.unit != units[-1]:
            units.append(word.unit)
    units.append("$")
    for length in range(1, RUN + 1):
        for first in range(len(units) - length + 1):
            yield " ".join(units[first : first + length])


def around(words: Sequence[QuestionWord], place: int) -> Iterator[str]:
    """The features of a word: the units at each distance, and the nearest known ones."""
    units = ["^", *(word.unit for word in words), "$"]
    here = place + 1
    for there in range(max(0, here - WINDOW), min(len(units), here + WINDOW + 1)):
        yield f"{there - here} {units[there]}"
    is_unknown = UNKNOWN if units[here] == UNKNOWN else "="
    yield f"left {is_unknown} {next(unit for unit in reversed(units[:here]) if unit != UNKNOWN)}"
    yield f"right {is_unknown} {next(unit for unit in units[here + 1 :] if unit != UNKNOWN)}"


def best_run(logits: Sequence[float]) -> tuple[int, int]:
    """The first place and the one after the last of the run with the largest sum.

    >>> best_run([-1.0, 2.0, -0.5, 3.0, -2.0])
    (1, 4)
    """
    n = len(logits)
    ends = ((first, after) for first in range(n) for after in range(first + 1, min(n, first + MAX_WORDS) + 1))
    return max(ends, key=lambda run: sum(logits[slice(*run)]))


def fit(lists: Sequence[Mapping[str, str]], others: Sequence[str]) -> DocumentModels:
    """Fits both models to questions for documents, with their "phrase", and to others."""
    split = [(each["question"], words_of(each["question"], frozenset())) for each in lists]
    labels = []
    beside: Counter[str] = Counter()
    for each, (question, words) in zip(lists, split, strict=True):
        start = question.lower().index(each["phrase"].lower())
        end = start + len(each["phrase"])
        labels.append([word.start < end and start < word.end for word in words])
        beside.update(
            _stem(question[word.start : word.end])
            for word, is_mentioned in zip(words, labels[-1], strict=True)
            if not is_mentioned
        )
    frequent = {stem for stem, times in beside.items() if times >= MIN_BESIDE}
    known = frozenset(frequent | set(map(_stem, STOP_WORDS)))
    asked = [question for question, _ in split]
    questions = [words_of(question, known) for question in (*asked, *others)]
    asks = fit_linear(
        [runs(words) for words in questions],
        [number < len(lists) for number in range(len(questions))],
        PENALTIES[0],
        N_RUNS,
    )
    mentioned = fit_linear(
        [around(words, place) for words in questions[: len(lists)] for place in range(len(words))],
        [is_mentioned for each in labels for is_mentioned in each],
        PENALTIES[1],
        N_AROUND,
    )
    return DocumentModels(known, asks, mentioned)


def fit_linear(
    examples: Iterable[Iterable[str]], labels: Sequence[bool], penalty: float, n_kept: int
) -> LinearModel:
    """A logistic regression with a penalty of squares; the features with the largest weights stay."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    vectors = DictVectorizer()
    matrix = vectors.fit_transform([dict.fromkeys(features, 1.0) for features in examples])
    fitted = LogisticRegression(C=1 / penalty, max_iter=1000).fit(matrix, labels)
    weights = dict(zip(vectors.feature_names_, fitted.coef_[0].tolist(), strict=True))
    largest = sorted(sorted(weights, key=lambda name: -abs(weights[name]))[:n_kept])
    return LinearModel({name: round(weights[name], 2) for name in largest}, round(fitted.intercept_[0], 3))


def main() -> None:
    """Fits the models to the files of the command line and writes `list_questions.json`."""
    from ...corpora.datasets.folder_questions import everyday_wordings, wording_key

    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--lists", type=Path, nargs="+", required=True, help="questions for documents")
    parser.add_argument("--others", type=Path, nargs="+", required=True, help="other questions")
    options = parser.parse_args()
    lists = [row for row in _rows(options.lists) if row.get("phrase")]
    others = [row["question"] for row in _rows(options.others) if "question" in row]
    wordings = everyday_wordings()
    others += [wording for question in others for wording in wordings.get(wording_key(question), ())]
    models = fit(lists, others)
    record = {
        "known": sorted(models.known),
        "asks": asdict(models.asks),
        "mentioned": asdict(models.mentioned),
    }
    text = json.dumps(record, ensure_ascii=False, indent=0)
    Path(__file__).with_name(WEIGHTS).write_text(f"{text}\n", encoding="utf-8")


def _rows(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The lines of files, which may be packed."""
    from ...corpora.json_lines import json_lines

    return (line.values for path in paths for line in json_lines(path))


@cache
def _analyzer() -> Analyzer:
    return Analyzer()


def _stem(word: str) -> str:
    return _analyzer().term(word.lower().replace("’", "'"))


if __name__ == "__main__":
    main()
