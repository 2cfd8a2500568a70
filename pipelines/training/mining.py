"""`train mine`: questions with their passages become lists of passages to rank, scored by a teacher.

`out/train` and `out/validation` get a `lists.jsonl` each, `out/index` holds the passages. An interrupted run
resumes: every batch of questions is written as soon as it is scored.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from spanwise.types import ProgressCallback, RankingExample, no_progress

from ...corpora.datasets.beir import read_beir
from ...corpora.datasets.ranking_examples import LISTS, json_line, read_ranking_examples
from ...corpora.datasets.squad import read_squad
from ...corpora.json_lines import plain_or_gzipped
from ...eval.text import has_answer
from ...models.cross_encoder import load_cross_encoder
from ...retrieval.protocol import Retriever, Scorer
from ...retrieval.training.mining import MiningConfig, NearRepeats, jaccard, mine_negatives
from ..evaluation.corpus import (
    document_id_of,
    document_library,
    is_validation,
    paragraph_documents,
    read_questions,
)
from ..evaluation.results import whole_lines
from ..library.loaded_models import stages_below
from .folder_groups import item_context, mined_questions, without_answer

TRAIN, VALIDATION = PARTS = ("train", "validation")
INDEX, SETTINGS, UNFINISHED = "index", "mining.json", f"{LISTS}.part"
QUESTIONS_AT_ONCE = 64
LEAK = 0.8  # Jaccard similarity of a question to one of an evaluation


@dataclass(frozen=True, slots=True)
class Mined:
    """The number of lists of each part and of excluded examples; `first`: see `_share_first`."""

    train: int
    validation: int
    excluded: Mapping[str, int]
    first: float | None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the passages that answer it, and its answers where they are known.

    `found` are those that its own folder has for it and that do not answer it, best first. The teacher scores
    the passages for `asked`, the question that this one rewords; "" for the text itself.
    """

    text: str
    positives: tuple[str, ...]
    answers: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    asked: str = ""


def mine(
    data: Sequence[Path],
    out: Path,
    config: MiningConfig | None = None,
    retriever: str = "bm25",
    teacher: str | None = "builtin",
    limit: int | None = None,
    validation: int = 500,
    exclude: Sequence[Path] = (),
    on_progress: ProgressCallback = no_progress,
) -> Mined:
    """Writes the lists of the data, see `read_data`; returns the counts.

    About one article in twenty, or one question of `lists.jsonl`, is held back for validation; negatives for
    training never come from those articles. `limit` questions to train on and `validation` others are drawn
    by the seed. Questions and paragraphs of the evaluation data in `exclude` are left out. ValueError when
    `out` holds lists of other data or settings.
    """
    config = config or MiningConfig()
    scorer = load_cross_encoder(teacher) if teacher else None
    questions, passages = read_data(data, out)
    leaks = Leaks.read(exclude)
    corpus = list(dict.fromkeys([*passages[TRAIN], *passages[VALIDATION]]))
    allowed = {TRAIN: passages[TRAIN], VALIDATION: corpus}
    asked = {
        part: _drawn(filter(leaks.is_clean, questions[part]), n, config.seed)
        for part, n in ((TRAIN, limit), (VALIDATION, validation))
    }
    named = {"config": asdict(config), "retriever": retriever, "teacher": scorer.digest if scorer else None}
    _claim(out, named | {"data": _digest([[asdict(q) for many in asked.values() for q in many], corpus])})
    documents = paragraph_documents(("", text) for text in corpus)
    with document_library(documents, out / INDEX, on_progress=on_progress) as library:
        library.encode_for(stages_below([retriever]), "builtin", on_progress=on_progress)
        ranker, texts = library.retriever(retriever), {document_id_of(text): text for text in corpus}
        for part in PARTS:
            negatives = [text for text in dict.fromkeys(allowed[part]) if not leaks.holds(text)]
            miner = Miner(ranker, texts, negatives, config)
            _write(out / part, asked[part], miner, scorer, partial(on_progress, part))
    lists = {part: list(read_ranking_examples(out / part)) for part in PARTS}
    return Mined(len(lists[TRAIN]), len(lists[VALIDATION]), leaks.dropped, _share_first(lists[TRAIN]))


def read_data(paths: Sequence[Path], out: Path) -> tuple[dict[str, list[Question]], dict[str, list[str]]]:
    """The questions and the passages of each part, of SQuAD-format files, of lists and of folders.

    A folder with `lists.jsonl`, or a name with `.jsonl`, holds lists with positive passages. Any other one
    has questions about folders (see `folder_groups`), whose passages are searched in `out`.
    """
    questions: dict[str, list[Question]] = {part: [] for part in PARTS}
    passages: dict[str, list[str]] = {part: [] for part in PARTS}
    for path in paths:
        if path.is_dir() and not plain_or_gzipped(path / LISTS):
            for mined in mined_questions(path, out):
                item = mined.item
                part = VALIDATION if is_validation(f"{mined.domain}/{item.document}") else TRAIN
                if item.start is not None:
                    positive, answer = item_context(item) + item.passage, item.passage[item.start : item.end]
                    found = tuple(context + text for context, text in without_answer(item, mined.rankings[0]))
                    asked = mined.rewords
                    questions[part].append(Question(item.question, (positive,), (answer,), found, asked))
                    if not asked:
                        passages[part].append(positive)
            continue
        if path.is_dir() or ".jsonl" in path.name:
            for one in read_ranking_examples(path):
                part = VALIDATION if is_validation(one.question) else TRAIN
                questions[part].append(Question(one.question, one.passages[: one.n_positive]))
                passages[TRAIN] += one.passages
            continue
        for article in read_squad(path).articles:
            part = VALIDATION if is_validation(article.title) else TRAIN
            for paragraph in article.paragraphs:
                passages[part].append(paragraph.context)
                questions[part] += [
                    Question(q.text, (paragraph.context,), tuple(dict.fromkeys(a.text for a in q.answers)))
                    for q in paragraph.questions
                    if q.answers and q.text.strip()
                ]
    return questions, passages


class Miner:
    """Mines with a retriever; `texts` are passages by document id, `negatives` those that may be mined."""

    def __init__(
        self, retriever: Retriever, texts: Mapping[str, str], negatives: Sequence[str], config: MiningConfig
    ) -> None:
        self.retriever, self.texts, self.config = retriever, texts, config
        self.negatives, self.allowed = negatives, frozenset(negatives)

    def lists(self, questions: Sequence[Question]) -> list[RankingExample]:
        """A list for each question: its positive passages, then mined negatives."""
        searched = [one.text for one in questions if not one.found]
        found = iter(self.retriever.search(searched, self.config.depth))
        examples = []
        for one in questions:
            hits = [] if one.found else next(found)
            ranking = dict.fromkeys(self.texts.get(hit.passage.document_id, "") for hit in hits)
            mined = mine_negatives(
                one.positives[0],
                one.found or [text for text in ranking if text in self.allowed],
                self.negatives,
                partial(self._answers, one),
                self.config,
                random.Random(f"{self.config.seed} {one.text}"),
            )
            examples.append(RankingExample(one.text, (*one.positives, *mined), len(one.positives)))
        return examples

    def _answers(self, one: Question, passage: str) -> bool:
        return has_answer(passage, one.answers) or any(
            passage == other or jaccard(other, passage) >= self.config.similar for other in one.positives[1:]
        )


@dataclass(slots=True)
class Leaks:
    """Texts of evaluation data, and the number of examples dropped because of them.

    `by_question` counts examples whose question nearly repeats one of an evaluation, `by_passage` others with
    a positive passage that is a paragraph of it, white space aside.
    """

    questions: NearRepeats
    paragraphs: frozenset[str]
    dropped: dict[str, int] = field(default_factory=lambda: {"by_question": 0, "by_passage": 0})

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Leaks:
        """The texts of SQuAD-format files, question sets (JSON lines) and BEIR folders.

        A BEIR folder gives its questions alone, because all its splits share the documents.
        """
        questions: list[str] = []
        paragraphs: list[str] = []
        for path in paths:
            if path.is_dir():
                questions += [query.text for query in read_beir(path).judged]
            elif path.suffix not in (".json", ".gz"):
                questions += [one.question for one in read_questions(path)]
            else:
                for each in (each for article in read_squad(path).articles for each in article.paragraphs):
                    paragraphs.append(_form(each.context))
                    questions += [q.text for q in each.questions]
        return cls(NearRepeats(questions, LEAK), frozenset(paragraphs))

    def is_clean(self, one: Question) -> bool:
        """False for a question to be dropped, which is counted."""
        if self.questions.like(one.text):
            self.dropped["by_question"] += 1
        elif any(map(self.holds, one.positives)):
            self.dropped["by_passage"] += 1
        else:
            return True
        return False

    def holds(self, passage: str) -> bool:
        """True for a paragraph of an evaluation."""
        return bool(self.paragraphs) and _form(passage) in self.paragraphs


def _write(
    folder: Path,
    questions: Sequence[Question],
    miner: Miner,
    scorer: Scorer | None,
    on_progress: Callable[[int, int], None],
) -> None:
    """Writes the lists of a part; those of an interrupted run are kept."""
    if (folder / LISTS).is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / UNFINISHED
    path.touch()
    for at in range(len(whole_lines(path)), len(questions), QUESTIONS_AT_ONCE):
        on_progress(at, len(questions))
        batch = questions[at : at + QUESTIONS_AT_ONCE]
        examples = _scored(batch, miner.lists(batch), scorer)
        with path.open("ab") as file:
            file.write("".join(map(json_line, examples)).encode())
    on_progress(len(questions), len(questions))
    path.replace(folder / LISTS)


def _scored(
    questions: Sequence[Question], examples: Sequence[RankingExample], scorer: Scorer | None
) -> list[RankingExample]:
    if scorer is None:
        return list(examples)
    scores = scorer.score([one.asked or one.text for one in questions], [one.passages for one in examples])
    return [replace(one, scores=tuple(row.tolist())) for one, row in zip(examples, scores, strict=True)]


def _share_first(examples: Sequence[RankingExample]) -> float | None:
    """How often the teacher scores a positive passage above all others; None without scores."""
    firsts = [
        max(one.scores[: one.n_positive]) > max(one.scores[one.n_positive :], default=float("-inf"))
        for one in examples
        if one.scores
    ]
    return sum(firsts) / len(firsts) if firsts else None


def _drawn(questions: Iterable[Question], n: int | None, seed: int) -> list[Question]:
    """The first n questions of an order that depends on the seed alone."""
    found = list(questions)
    return random.Random(seed).sample(found, len(found))[:n]


def _claim(out: Path, settings: Mapping[str, object]) -> None:
    """Writes what the folder is made from; ValueError where it holds something else."""
    path = out / SETTINGS
    text = json.dumps(settings, indent=1, sort_keys=True) + "\n"
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise ValueError(f"{out} holds lists of other data or settings. Name another --out, or remove it")
    out.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def _form(text: str) -> str:
    return " ".join(text.split())
