"""Training groups of questions about folders: the passage that was read, and others that are found.

`DIR/DOMAIN.jsonl`, or the same with `.gz`, has the questions about the folder `DIR/DOMAIN`. Each folder is
indexed, and the best passages for each question, by token vectors and by text vectors, are kept in files: an
interrupted run resumes.
Another negative is the passage itself without the sentences of the answer: on the topic, and no answer.

A checkout has everyday wordings of many questions (see corpora/questions/README.md). Each is a question of
its own, with the answer and the passages of the question that it rewords.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import Hit, Passage, ProgressCallback, no_progress

from ...corpora.datasets.folder_questions import (
    WORDINGS,
    FolderItem,
    domains_of,
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
from ..library.loaded_models import stages_below
from ..open import open as open_library

MINED = "mined-*.jsonl"
DEPTH = 50  # passages of a ranking that are kept for a question
RANKERS = ("colbert", "dense")  # the first one is the product's own
HARD, NEAR = 6, 30  # ranks of the first negative and of the second, among those that do not answer
EVERYDAY = 0.5  # share of the questions that are asked in everyday words
SECOND, SHORTENED = 0.45, 0.5  # probabilities of a second negative, and of the shortened passage
LEAST = 120  # characters of a shortened passage
NONE_DEPTH = 10  # ranks of the passage for a question without an answer
_WORD = re.compile(r"\w+")
_VERDICTS = {"yes": 1.0, "no": 0.0, "": -1.0}
Ranking = Sequence[tuple[str, str]]
"""Context and text of passages, best first."""


@dataclass(frozen=True, slots=True)
class MinedQuestion:
    """A question about a folder with the passages that are found for it.

    `item` has the question in this wording. `rankings` are those of RANKERS. `rewords` is the question that
    this one rewords in everyday words, or "".
    """

    domain: str
    item: FolderItem
    rankings: tuple[Ranking, ...]
    rewords: str = ""


def mine_folders(folders: Path, run: Path, on_progress: ProgressCallback = no_progress) -> dict[str, Path]:
    """The files of questions in `folders`, by domain; the passages for each are kept in `run`.

    `run/mined-DOMAIN.jsonl` has a line for each question and each of its wordings: numbers of lines of
    `run/passages-DOMAIN.jsonl`, for each of RANKERS. A domain that has its file is skipped. Raises
    DataMalformed without any domain, FolderNotFound for one without its folder.
    """
    domains = domains_of(folders)
    wordings = read_wordings(WORDINGS)
    for number, (domain, path) in enumerate(domains.items()):
        on_progress("domains", number, len(domains))
        if mined_file(run, domain).is_file():
            continue
        questions = [text for item in read_folder_items(path) for text in _asked(item, wordings)]
        with open_library(folders / domain, run / f"index-{domain}", cache=False) as library:
            library.sync(on_progress=on_progress)
            library.encode_for(stages_below(RANKERS), "builtin", on_progress=on_progress)
            rankings = {
                name: library.search_many(questions, k=DEPTH, dedupe=False, retriever=name)
                for name in RANKERS
            }
        _write_rankings(run, domain, questions, rankings)
    return domains


def _asked(item: FolderItem, wordings: Mapping[str, Sequence[str]]) -> list[str]:
    return [item.question, *wordings.get(wording_key(item.question), ())]


def _write_rankings(
    run: Path, domain: str, questions: Sequence[str], rankings: Mapping[str, Sequence[Sequence[Hit]]]
) -> None:
    numbers: dict[tuple[str, str], int] = {}
    lines = []
    for at, question in enumerate(questions):
        line: dict[str, Any] = {"question": question}
        for name, found in rankings.items():
            texts = [(context_of(hit.passage), hit.passage.text) for hit in found[at]]
            line[name] = [numbers.setdefault(text, len(numbers)) for text in texts]
        lines.append(line)
    passages_file(run, domain).write_text(
        "".join(f"{json.dumps(text)}\n" for text in numbers), encoding="utf-8"
    )
    unfinished = mined_file(run, domain).with_suffix(".part")
    unfinished.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    unfinished.replace(mined_file(run, domain))


def folder_examples(folders: Path, run: Path, seed: int) -> list[ReaderExample]:
    """A group for each question about the folders and each of its wordings, with negatives drawn by the seed.

    A question that nothing in its folder answers has one of the passages that are found for it.
    DataMalformed where the mined passages are those of other questions.
    """
    rng = random.Random(seed)
    return [example_of(mined, rng) for mined in mined_questions(folders, run)]


def mined_questions(folders: Path, run: Path) -> Iterator[MinedQuestion]:
    """Each question about the folders, and after it its other wordings, with the passages found for each.

    Raises as `folder_examples` does.
    """
    wordings = read_wordings(WORDINGS)
    for domain, path in mine_folders(folders, run).items():
        passages = _read_passages(passages_file(run, domain))
        mined = mined_file(run, domain)
        lines = {line.name("question"): line for line in json_lines(mined)}
        for item in read_folder_items(path):
            for number, text in enumerate(_asked(item, wordings)):
                if text not in lines:
                    raise DataMalformed(f"{mined} lacks the question {text!r}: remove it to mine again")
                rankings = tuple(_passages_at(lines[text], name, passages) for name in RANKERS)
                asked = replace(item, id=f"{item.id}-{number}", question=text) if number else item
                yield MinedQuestion(domain, asked, rankings, item.question if number else "")


def _read_passages(path: Path) -> list[tuple[str, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            return [(context, text) for context, text in map(json.loads, file)]
    except (OSError, ValueError, TypeError) as error:
        raise DataMalformed(f"{path} cannot be read: {error}. Remove it and {MINED} to mine again") from error


def _passages_at(line: JsonObject, name: str, passages: Sequence[tuple[str, str]]) -> Ranking:
    numbers = line.value(name, list)
    if not all(isinstance(number, int) and 0 <= number < len(passages) for number in numbers):
        raise line.error(f"{name} names passages that are not kept: remove {MINED} to mine again")
    return [passages[number] for number in numbers]


def passages_file(run: Path, domain: str) -> Path:
    """Where the passages of a domain are kept that were found for a question, one a line."""
    return run / f"passages-{domain}.jsonl"


def mined_file(run: Path, domain: str) -> Path:
    """Where the passages for the questions of a domain are kept."""
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
    for first, *reworded in _by_question(mined_questions(folders, run)):
        mined = rng.choice(reworded) if reworded and rng.random() < EVERYDAY else first
        example = example_of(mined, rng, negatives)
        if labels is not None:
            left = without_answer(mined.item, mined.rankings[0]) if example.answer else mined.rankings[0]
            taught = [text for text in left if labels.get(example.question, *text) is not None]
            others = [text for text in taught if text[1] != example.passage]
            example = replace(example, negatives=tuple(others[:negatives]))
        examples.append(example)
    return examples


def _by_question(mined: Iterable[MinedQuestion]) -> Iterator[list[MinedQuestion]]:
    """Each question with its wordings, which follow it."""
    together: list[MinedQuestion] = []
    for question in mined:
        if not question.rewords and together:
            yield together
            together = []
        together.append(question)
    if together:
        yield together


def example_of(mined: MinedQuestion, rng: random.Random, negatives: int = 0) -> ReaderExample:
    """The group of a question, with up to `negatives`, or with one to three of them for 0."""
    item, domain, ranking = mined.item, mined.domain, mined.rankings[0]
    named = (
        f"{domain}/{item.id}",
        item.question,
        item.passage,
        item.start,
        item.end,
        domain,
        item_context(item),
    )
    if item.start is None:
        others = [one for one in ranking[:NONE_DEPTH] if one[1] != item.passage]
        return ReaderExample(*named, tuple(rng.sample(others, min(len(others), 1))))
    labels = float(item.type == "yes-no"), _VERDICTS[item.verdict], float(item.type == "list")
    if negatives:
        return ReaderExample(*named, listed_negatives(mined, negatives, rng), labels)
    return ReaderExample(*named, drawn_negatives(item, ranking, rng), labels)


def item_context(item: FolderItem) -> str:
    """The headings above the passage of a question, as `context_of` has them."""
    headings = tuple(item.heading.split(" > ")) if item.heading else ()
    return context_of(Passage(0, item.document, 0, len(item.passage), item.passage, heading=headings))


def without_answer(item: FolderItem, ranking: Ranking) -> list[tuple[str, str]]:
    """The passages that are not the item's, nor hold its answer or its short answer."""
    golds = [_words(text) for text in (item.passage[item.start : item.end], item.short) if text.strip()]
    others = [one for one in ranking if one[1] != item.passage]
    return [one for one in others if not any(gold in _words(one[1]) for gold in golds)]


def drawn_negatives(item: FolderItem, ranking: Ranking, rng: random.Random) -> tuple[tuple[str, str], ...]:
    """One to three passages that do not answer the question: from the top, and the item's own, shortened."""
    left = without_answer(item, ranking)
    drawn = rng.sample(left[:HARD], min(len(left), 1))
    if rng.random() < SECOND and (rest := [one for one in left[:NEAR] if one not in drawn]):
        drawn.append(rng.choice(rest))
    if rng.random() < SHORTENED and (text := shortened(item.passage, item.start, item.end, item.short)):
        drawn.append((item_context(item), text))
    return tuple(drawn)


def listed_negatives(mined: MinedQuestion, n: int, rng: random.Random) -> tuple[tuple[str, str], ...]:
    """Up to `n` passages that do not answer the question, from each ranking in turn.

    The first of a ranking is among its best HARD, the others among its best NEAR. The item's own passage,
    shortened, takes the place of the last one with the probability SHORTENED.
    """
    item, drawn = mined.item, list[tuple[str, str]]()
    rankings = [without_answer(item, ranking[:NEAR]) for ranking in mined.rankings]
    for number in range(n):
        left = [passage for passage in rankings[number % len(rankings)] if passage not in drawn]
        if left:
            drawn.append(rng.choice(left if number >= len(rankings) else left[:HARD]))
    text = shortened(item.passage, item.start, item.end, item.short)
    if text and rng.random() < SHORTENED:
        drawn = [*drawn[: n - 1], (item_context(item), text)]
    return tuple(drawn)


def shortened(passage: str, start: int | None, end: int | None, short: str = "") -> str | None:
    """The passage without the sentences of its answer; None where little is left, or the answer's words are.

    >>> shortened("Ada built the mill. It has four floors.", 0, 3) is None
    True
    """
    if start is None or end is None:
        return None
    first, last = enclosing_sentences(sentence_spans(passage), start, end)
    left = f"{passage[:first].rstrip()} {passage[last:].lstrip()}".strip()
    said = [_words(text) for text in (passage[start:end], short) if text.strip()]
    too_short = len(left) < max(LEAST, len(passage) // 4)
    return None if too_short or any(one in _words(left) for one in said) else left


def _words(text: str) -> str:
    """The words with a space before, between and after them."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
