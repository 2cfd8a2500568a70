"""The questions that models are trained on: about folders, with passages mined for them, and of SQuAD.

`DIR/DOMAIN.jsonl`, or the same with `.gz`, has the questions about the folder `DIR/DOMAIN`. Each folder is
indexed, and files keep the best passages for each question, by token vectors and by text vectors, so that an
interrupted run resumes. Negatives are other passages, and the passage itself without the answer's sentences.

A checkout has everyday wordings of many questions (see corpora/questions/README.md). Each counts as a
question, with the answer of the question that it rewords.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from spanwise.errors import DataMalformed
from spanwise.types import Hit, Passage, ProgressCallback, no_progress

from ...corpora.datasets.folder_questions import (
    WORDINGS,
    FolderItem,
    domains_of,
    join,
    read_folder_items,
    read_wordings,
    wording_key,
)
from ...corpora.json_lines import JsonObject, json_lines
from ...corpora.sentences import sentence_spans
from ...reader.labels import LabelStore
from ...reader.span_reader import context_of
from ...reader.spans import enclosing_sentences
from ...reader.training import ReaderExample
from ..evaluation.results import write_whole
from ..open import open_encoded

QUESTIONS = Path(__file__).resolve().parents[2] / "corpora" / "questions"  # only in a checkout
VALIDATION_SHARE = 20  # one article in twenty
MINED = "mined-*.jsonl"
DEPTH = 50  # passages of a ranking
RANKERS = ("colbert", "dense")  # the first one is the product's default
HARD = 6  # the first negative is one of the 6 best passages that do not answer
NEAR = 30  # the others are among the 30 best
EVERYDAY = 0.5  # share of the questions that are asked in everyday words
SECOND = 0.45  # probability of a second negative
SHORTENED = 0.5  # probability of the shortened passage
MIN_SHORTENED = 120  # characters of a shortened passage
NONE_DEPTH = 10  # ranks of the passage for a question without an answer
_WORD = re.compile(r"\w+")
_VERDICTS = {"yes": 1.0, "no": 0.0, "": -1.0}
Text = tuple[str, str]
"""Context and text of a passage."""
Ranking = Sequence[Text]
"""Passages, best first."""


@dataclass(frozen=True, slots=True)
class MinedQuestion:
    """A question about a folder with the passages that were mined for it.

    domain: the name of the folder.
    item: the question in this wording, its passage and its answer.
    rankings: one for each of RANKERS.
    rewords: the question that this one rewords in everyday words, or "".
    """

    domain: str
    item: FolderItem
    rankings: tuple[Ranking, ...]
    rewords: str = ""


def is_validation(title: str) -> bool:
    """True when sha1(title) % 20 == 0: the fixed split that models are selected on."""
    return int(hashlib.sha1(title.encode("utf-8")).hexdigest(), 16) % VALIDATION_SHARE == 0


def mine_folders(folders: Path, run: Path, on_progress: ProgressCallback = no_progress) -> dict[str, Path]:
    """The files of questions in `folders`, by domain; `run` gets the passages for each question.

    `run/mined-DOMAIN.jsonl` has a line for each question in each wording: numbers of lines of
    `run/passages-DOMAIN.jsonl`, for each of RANKERS. A domain that has its file is skipped. Raises
    DataMalformed without any domain, FolderNotFound for one without its folder.
    """
    domains = domains_of(folders)
    wordings = read_wordings(WORDINGS)
    for number, (domain, path) in enumerate(domains.items()):
        on_progress("domains", number, len(domains))
        if mined_file(run, domain).is_file():
            continue
        questions = [text for item in read_folder_items(path) for text in _wordings_of(item, wordings)]
        with open_encoded(folders / domain, run / f"index-{domain}", RANKERS, on_progress) as library:
            rankings = {
                name: library.search_many(questions, k=DEPTH, dedupe=False, retriever=name)
                for name in RANKERS
            }
        _write_rankings(run, domain, questions, rankings)
    return domains


def _wordings_of(item: FolderItem, wordings: Mapping[str, Sequence[str]]) -> list[str]:
    """The question, then its everyday wordings."""
    return [item.question, *wordings.get(wording_key(item.question), ())]


def _write_rankings(
    run: Path, domain: str, questions: Sequence[str], rankings: Mapping[str, Sequence[Sequence[Hit]]]
) -> None:
    numbers: dict[Text, int] = {}
    lines = []
    for i, question in enumerate(questions):
        line: dict[str, object] = {"question": question}
        for name, hits in rankings.items():
            texts = [(context_of(hit.passage), hit.passage.text) for hit in hits[i]]
            line[name] = [numbers.setdefault(text, len(numbers)) for text in texts]
        lines.append(line)
    _write_lines(passages_file(run, domain), numbers)
    _write_lines(mined_file(run, domain), lines)


def _write_lines(path: Path, records: Iterable[object], ensure_ascii: bool = True) -> None:
    """Writes records as JSON lines; the file appears when it is complete."""
    write_whole(path, "".join(json.dumps(record, ensure_ascii=ensure_ascii) + "\n" for record in records))


def folder_examples(folders: Path, run: Path, seed: int) -> list[ReaderExample]:
    """A group for each question about the folders in each wording, with negatives drawn by the seed.

    A question that nothing in its folder answers has one of the passages that were mined for it.
    DataMalformed where the mined passages are those of other questions.
    """
    rng = random.Random(seed)
    return [example_of(mined, rng) for mined in mined_questions(folders, run)]


def mined_questions(folders: Path, run: Path) -> Iterator[MinedQuestion]:
    """Each question about the folders, followed by its other wordings, with the passages mined for each.

    Raises as `folder_examples` does.
    """
    wordings = read_wordings(WORDINGS)
    for domain, path in mine_folders(folders, run).items():
        passages = _read_passages(passages_file(run, domain))
        mined = mined_file(run, domain)
        lines = {line.name("question"): line for line in json_lines(mined)}
        for item in read_folder_items(path):
            for number, text in enumerate(_wordings_of(item, wordings)):
                if text not in lines:
                    raise DataMalformed(f"{mined} lacks the question {text!r}: remove it to mine again")
                rankings = tuple(_passages_at(lines[text], name, passages) for name in RANKERS)
                wording = replace(item, id=f"{item.id}-{number}", question=text) if number else item
                yield MinedQuestion(domain, wording, rankings, item.question if number else "")


def _read_passages(path: Path) -> list[Text]:
    try:
        with path.open(encoding="utf-8") as file:
            return [(context, text) for context, text in map(json.loads, file)]
    except (OSError, ValueError, TypeError) as error:
        raise DataMalformed(f"{path} cannot be read: {error}. Remove it and {MINED} to mine again") from error


def _passages_at(line: JsonObject, name: str, passages: Ranking) -> Ranking:
    numbers = line.value(name, list)
    if not all(isinstance(number, int) and 0 <= number < len(passages) for number in numbers):
        raise line.error(f"{name} names passages that are not kept: remove {MINED} to mine again")
    return [passages[number] for number in numbers]


def passages_file(run: Path, domain: str) -> Path:
    """The file of all passages that were mined for questions about a domain, one per line."""
    return run / f"passages-{domain}.jsonl"


def mined_file(run: Path, domain: str) -> Path:
    """The file with the rankings for each question about a domain."""
    return run / MINED.replace("*", domain)


def listed_examples(
    folders: Path, run: Path, seed: int, negatives: int, labels: LabelStore | None = None
) -> list[ReaderExample]:
    """A group for each question about the folders, with up to `negatives` from all of RANKERS.

    With a teacher's labels these are the best passages that have one. Half of the questions that have
    everyday wordings are asked in one of these. Raises as `folder_examples`.
    """
    rng = random.Random(seed)
    examples = []
    by_question = groupby(
        mined_questions(folders, run),
        lambda mined: (mined.domain, mined.rewords or mined.item.question, mined.item.passage),
    )
    for _, (first, *reworded) in by_question:
        mined = rng.choice(reworded) if reworded and rng.random() < EVERYDAY else first
        example = example_of(mined, rng, negatives)
        if labels is not None:
            left = without_answer(mined.item, mined.rankings[0]) if example.answer else mined.rankings[0]
            others = [
                text
                for text in left
                if text[1] != example.passage and labels.get(example.question, *text) is not None
            ]
            example = replace(example, negatives=tuple(others[:negatives]))
        examples.append(example)
    return examples


def example_of(mined: MinedQuestion, rng: random.Random, n_negatives: int = 0) -> ReaderExample:
    """The group of a question, with up to `n_negatives`, or with one to three of them for 0."""
    item = mined.item
    ranking = mined.rankings[0]
    example = ReaderExample(
        f"{mined.domain}/{item.id}",
        item.question,
        item.passage,
        item.start,
        item.end,
        mined.domain,
        item_context(item),
    )
    if item.start is None:
        others = [text for text in ranking[:NONE_DEPTH] if text[1] != item.passage]
        return replace(example, negatives=tuple(rng.sample(others, min(len(others), 1))))
    negatives = (
        listed_negatives(mined, n_negatives, rng) if n_negatives else drawn_negatives(item, ranking, rng)
    )
    labels = (float(item.type == "yes-no"), _VERDICTS[item.verdict], float(item.type == "list"))
    return replace(example, negatives=negatives, labels=labels)


def item_context(item: FolderItem) -> str:
    """The headings above the passage of a question, in the form of `context_of`."""
    return context_of(item_passage(item))


def item_passage(item: FolderItem) -> Passage:
    """The passage of a question, which starts at 0."""
    headings = tuple(item.heading.split(" > ")) if item.heading else ()
    return Passage(0, item.document, 0, len(item.passage), item.passage, heading=headings)


def without_answer(item: FolderItem, ranking: Ranking) -> list[Text]:
    """The passages that are not the item's, nor hold its answer or its short answer."""
    golds = _phrases(item.passage[item.start : item.end], item.short)
    return [
        text
        for text in ranking
        if text[1] != item.passage and not any(gold in _words(text[1]) for gold in golds)
    ]


def drawn_negatives(item: FolderItem, ranking: Ranking, rng: random.Random) -> tuple[Text, ...]:
    """One to three passages that do not answer the question: from the top, and the item's own, shortened."""
    left = without_answer(item, ranking)
    drawn = rng.sample(left[:HARD], min(len(left), 1))
    if rng.random() < SECOND:
        rest = [text for text in left[:NEAR] if text not in drawn]
        if rest:
            drawn.append(rng.choice(rest))
    if rng.random() < SHORTENED:
        text = shortened(item.passage, item.start, item.end, item.short)
        if text:
            drawn.append((item_context(item), text))
    return tuple(drawn)


def listed_negatives(mined: MinedQuestion, n: int, rng: random.Random) -> tuple[Text, ...]:
    """Up to `n` passages that do not answer the question, from each ranking in turn.

    The first of a ranking is among its best HARD, the others among its best NEAR. The item's own passage,
    shortened, takes the place of the last one with the probability SHORTENED.
    """
    item = mined.item
    drawn: list[Text] = []
    rankings = [without_answer(item, ranking[:NEAR]) for ranking in mined.rankings]
    for number in range(n):
        left = [text for text in rankings[number % len(rankings)] if text not in drawn]
        if left:
            drawn.append(rng.choice(left if number >= len(rankings) else left[:HARD]))
    rest = shortened(item.passage, item.start, item.end, item.short)
    if rest and rng.random() < SHORTENED:
        drawn = [*drawn[: n - 1], (item_context(item), rest)]
    return tuple(drawn)


def shortened(passage: str, start: int | None, end: int | None, short: str = "") -> str | None:
    """The passage without the sentences of its answer.

    None where little is left, or where the words of the answer or of `short` are.

    >>> shortened("Ada built the mill. It has four floors.", 0, 3) is None
    True
    """
    if start is None or end is None:
        return None
    first, last = enclosing_sentences(sentence_spans(passage), start, end)
    left = f"{passage[:first].rstrip()} {passage[last:].lstrip()}".strip()
    if len(left) < max(MIN_SHORTENED, len(passage) // 4):
        return None
    golds = _phrases(passage[start:end], short)
    return None if any(gold in _words(left) for gold in golds) else left


def _phrases(*answers: str) -> list[str]:
    """The words of each answer that is not blank."""
    return [_words(answer) for answer in answers if answer.strip()]


def _words(text: str) -> str:
    """The words with a space before, between and after them."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


# Questions of a checkout


@dataclass(frozen=True, slots=True)
class QuestionFiles:
    """The outcome of `fetch_questions`.

    written: the number of questions, by file.
    left_out: the reason, by document.
    commands: the shell command that gets the documents, by domain that lacks them.
    """

    written: dict[str, int]
    left_out: dict[str, str]
    commands: dict[str, str]


def fetch_questions(folder: Path, questions: Path | None = None) -> QuestionFiles:
    """Write DOMAIN.jsonl for each folder DOMAIN with the documents of questions; nothing is downloaded.

    `questions` has the questions without texts, by default the checkout's. A document that is missing or has
    another text is left out with its questions. `DataMalformed` names a wrong line, or a place without any.
    """
    outcome = QuestionFiles({}, {}, {})
    files = sorted((questions or QUESTIONS).glob("*.jsonl"))
    if not files:
        raise DataMalformed(f"{questions or QUESTIONS}: no questions there; a checkout has corpora/questions")
    for path in files:
        copy = folder / path.stem
        joined = join(path, copy)
        if joined.rows:
            target = folder / path.name
            _write_lines(target, joined.rows, ensure_ascii=False)
            outcome.written[str(target)] = len(joined.rows)
        else:
            clones = (_clone(name, copy / below) for below, name in joined.repositories.items())
            outcome.commands[path.stem] = " && ".join(clones)
        if copy.is_dir():
            outcome.left_out.update({str(copy / name): reason for name, reason in joined.left_out.items()})
    return outcome


def _clone(repository: str, folder: Path) -> str:
    name, _, commit = repository.partition("@")
    place = shlex.quote(str(folder))
    return f"git clone https://github.com/{name} {place} && git -C {place} checkout {commit}"
