"""`train mine` and `train label`: passages for questions, scored by a teacher.

`mine` writes `train/lists.jsonl` and `validation/lists.jsonl`, lists of passages to rank; `index` holds the
passages. `label` writes a reader's scores of pairs, see `reader.labels`. Interrupted, either of them resumes.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from spanwise.types import ProgressCallback, RankingExample, no_progress

from ...corpora.datasets.beir import read_beir
from ...corpora.datasets.ranking_examples import LISTS, json_line, read_ranking_examples
from ...corpora.datasets.squad import Paragraph, read_squad
from ...corpora.json_lines import plain_or_gzipped
from ...corpora.sentences import sentence_spans
from ...eval.text import has_answer
from ...models.cross_encoder import load_cross_encoder
from ...models.precision import pick_device
from ...reader.labels import LabelStore, label_pairs
from ...reader.load import load_span_reader
from ...reader.spans import Pair
from ...retrieval.protocol import Retriever, Scorer
from ...retrieval.training.mining import MiningConfig, NearRepeats, jaccard, mine_negatives
from ..evaluation.corpus import document_id_of, document_library, paragraph_documents, read_questions
from ..evaluation.results import whole_lines
from ..library.loaded_models import stages_below
from .model_card import RUN
from .questions import Ranking, is_validation, item_context, mine_folders, mined_questions, without_answer

TRAIN = "train"
VALIDATION = "validation"
PARTS = (TRAIN, VALIDATION)
SETTINGS = "mining.json"
QUESTIONS_AT_ONCE = 64
LEAK = 0.8  # Jaccard similarity of a question to one of an evaluation
BEST = 8  # passages of a question that are labelled


@dataclass(frozen=True, slots=True)
class ListCounts:
    """The outcome of `mine`.

    train: the number of lists to train on.
    validation: the number of held-out lists.
    excluded: the number of questions left out, by reason, see `Leaks`.
    first: share of the lists to train on where the teacher puts a positive passage first; None without one.
    """

    train: int
    validation: int
    excluded: Mapping[str, int]
    first: float | None


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The outcome of `label`.

    labels: the number of labels in the folder.
    new: how many of them this run made.
    tokens: the tokens read for the new labels.
    seconds: how long that took.
    """

    labels: int
    new: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the passages that answer it.

    text: the question.
    positives: the passages that answer it.
    answers: its answers, where they are known.
    negatives: passages of its folder that do not answer it, best first.
    rewords: the question that this one rewords, for which the teacher scores the passages; or "".
    """

    text: str
    positives: tuple[str, ...]
    answers: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    rewords: str = ""

    def record(self) -> dict[str, object]:
        """The JSON value that the digest of the data is made from."""
        return {
            "text": self.text,
            "positives": self.positives,
            "answers": self.answers,
            "found": self.negatives,
            "asked": self.rewords,
        }


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
) -> ListCounts:
    """Writes the lists of the data, see `QuestionSets`; returns the counts.

    About one article in twenty, or one question of `lists.jsonl`, is held back for validation; negatives for
    training never come from those articles. `limit` questions to train on and `validation` others are drawn
    by the seed. Questions and paragraphs of the evaluation data in `exclude` are left out. ValueError when
    `out` holds lists of other data or settings.
    """
    config = config or MiningConfig()
    scorer = load_cross_encoder(teacher) if teacher else None
    sets = QuestionSets.read(data, out)
    leaks = Leaks.read(exclude)
    corpus = list(dict.fromkeys([*sets.passages[TRAIN], *sets.passages[VALIDATION]]))
    sources = {TRAIN: sets.passages[TRAIN], VALIDATION: corpus}
    questions = {
        part: _drawn(filter(leaks.is_clean, sets.questions[part]), n, config.seed)
        for part, n in ((TRAIN, limit), (VALIDATION, validation))
    }
    records = [[question.record() for part in PARTS for question in questions[part]], corpus]
    settings = {
        "config": asdict(config),
        "retriever": retriever,
        "teacher": scorer.digest if scorer else None,
        "data": hashlib.sha256(json.dumps(records).encode()).hexdigest(),
    }
    _claim(out, settings)
    documents = paragraph_documents(corpus)
    with document_library(documents, out / "index", on_progress=on_progress) as library:
        library.encode_for(stages_below([retriever]), "builtin", on_progress=on_progress)
        ranker = library.retriever(retriever)
        texts = {document_id_of(text): text for text in corpus}
        for part in PARTS:
            negatives = [text for text in dict.fromkeys(sources[part]) if not leaks.holds(text)]
            miner = Miner(ranker, texts, negatives, config)
            _write_lists(out / part, questions[part], miner, scorer, on_progress)
    train, held_out = (list(read_ranking_examples(out / part)) for part in PARTS)
    return ListCounts(len(train), len(held_out), leaks.dropped, _share_first(train))


@dataclass(frozen=True, slots=True)
class QuestionSets:
    """The questions and the passages of data, by part of the split."""

    questions: dict[str, list[Question]] = field(default_factory=lambda: {part: [] for part in PARTS})
    passages: dict[str, list[str]] = field(default_factory=lambda: {part: [] for part in PARTS})

    @classmethod
    def read(cls, paths: Sequence[Path], run: Path) -> QuestionSets:
        """Those of SQuAD-format files, of lists and of folders.

        A folder with `lists.jsonl`, or a name with `.jsonl`, holds lists with positive passages. Any other
        folder has questions about folders (see `questions`), whose passages are mined in `run`.
        """
        sets = cls()
        for path in paths:
            if path.is_dir() and not plain_or_gzipped(path / LISTS):
                sets._add_folders(path, run)
            elif path.is_dir() or ".jsonl" in path.name:
                for example in read_ranking_examples(path):
                    positives = example.passages[: example.n_positive]
                    sets.questions[_part_of(example.question)].append(Question(example.question, positives))
                    sets.passages[TRAIN] += example.passages
            else:
                for article in read_squad(path).articles:
                    for paragraph in article.paragraphs:
                        sets._add_paragraph(_part_of(article.title), paragraph)
        return sets

    def _add_folders(self, folders: Path, run: Path) -> None:
        for mined in mined_questions(folders, run):
            item = mined.item
            if item.start is None:
                continue
            part = _part_of(f"{mined.domain}/{item.document}")
            positive = item_context(item) + item.passage
            answer = item.passage[item.start : item.end]
            negatives = tuple(context + text for context, text in without_answer(item, mined.rankings[0]))
            self.questions[part].append(
                Question(item.question, (positive,), (answer,), negatives, mined.rewords)
            )
            if not mined.rewords:
                self.passages[part].append(positive)

    def _add_paragraph(self, part: str, paragraph: Paragraph) -> None:
        self.passages[part].append(paragraph.context)
        for question in paragraph.questions:
            if question.answers and question.text.strip():
                answers = tuple(dict.fromkeys(answer.text for answer in question.answers))
                self.questions[part].append(Question(question.text, (paragraph.context,), answers))


def _part_of(title: str) -> str:
    return VALIDATION if is_validation(title) else TRAIN


@dataclass(frozen=True, slots=True)
class Miner:
    """Mines negatives with a retriever.

    retriever: ranks the passages.
    texts: the passages by document id.
    negatives: the passages that may be mined.
    config: how many negatives of which rank.
    """

    retriever: Retriever
    texts: Mapping[str, str]
    negatives: Sequence[str]
    config: MiningConfig

    def lists(self, questions: Sequence[Question]) -> list[RankingExample]:
        """A list for each question: its positive passages, then mined negatives."""
        searched = [question.text for question in questions if not question.negatives]
        rankings = iter(self.retriever.search(searched, self.config.depth))
        allowed = frozenset(self.negatives)
        examples = []
        for question in questions:
            candidates: Sequence[str] = question.negatives
            if not candidates:
                ids = [hit.passage.document_id for hit in next(rankings)]
                ranking = dict.fromkeys(self.texts.get(name, "") for name in ids)
                candidates = [text for text in ranking if text in allowed]
            mined = mine_negatives(
                question.positives[0],
                candidates,
                self.negatives,
                partial(self._answers, question),
                self.config,
                random.Random(f"{self.config.seed} {question.text}"),
            )
            passages = (*question.positives, *mined)
            examples.append(RankingExample(question.text, passages, len(question.positives)))
        return examples

    def _answers(self, question: Question, passage: str) -> bool:
        return has_answer(passage, question.answers) or any(
            passage == other or jaccard(other, passage) >= self.config.similar
            for other in question.positives[1:]
        )


@dataclass(slots=True)
class Leaks:
    """Texts of evaluation data, and the questions dropped because of them.

    questions: finds questions that nearly repeat one of an evaluation.
    paragraphs: the paragraphs of an evaluation, white space aside.
    dropped: the number of questions dropped, `by_question` or else `by_passage`, a positive passage.
    """

    questions: NearRepeats
    paragraphs: frozenset[str]
    dropped: dict[str, int] = field(default_factory=lambda: {"by_question": 0, "by_passage": 0})

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Leaks:
        """The texts of SQuAD-format files, question sets (JSON lines) and BEIR folders.

        Only the questions of a BEIR folder count, because all its splits share the documents.
        """
        questions: list[str] = []
        paragraphs: list[str] = []
        for path in paths:
            if path.is_dir():
                questions += [query.text for query in read_beir(path).judged]
            elif path.suffix not in (".json", ".gz"):
                questions += [question.question for question in read_questions(path)]
            else:
                for article in read_squad(path).articles:
                    for paragraph in article.paragraphs:
                        paragraphs.append(_without_layout(paragraph.context))
                        questions += [question.text for question in paragraph.questions]
        return cls(NearRepeats(questions, LEAK), frozenset(paragraphs))

    def is_clean(self, question: Question) -> bool:
        """False for a question to be dropped, which is counted."""
        if self.questions.like(question.text):
            self.dropped["by_question"] += 1
        elif any(map(self.holds, question.positives)):
            self.dropped["by_passage"] += 1
        else:
            return True
        return False

    def holds(self, passage: str) -> bool:
        """True for a paragraph of an evaluation."""
        return bool(self.paragraphs) and _without_layout(passage) in self.paragraphs


def _write_lists(
    folder: Path,
    questions: Sequence[Question],
    miner: Miner,
    scorer: Scorer | None,
    on_progress: ProgressCallback,
) -> None:
    """Writes the lists of a part, after those of an interrupted run."""
    if (folder / LISTS).is_file():
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{LISTS}.part"
    path.touch()
    for begin in range(len(whole_lines(path)), len(questions), QUESTIONS_AT_ONCE):
        on_progress(folder.name, begin, len(questions))
        batch = questions[begin : begin + QUESTIONS_AT_ONCE]
        examples = miner.lists(batch)
        if scorer is not None:
            texts = [question.rewords or question.text for question in batch]
            scores = scorer.score(texts, [example.passages for example in examples])
            pairs = zip(examples, scores, strict=True)
            examples = [replace(example, scores=tuple(row.tolist())) for example, row in pairs]
        with path.open("ab") as file:
            file.write("".join(map(json_line, examples)).encode())
    on_progress(folder.name, len(questions), len(questions))
    path.replace(folder / LISTS)


def _share_first(examples: Sequence[RankingExample]) -> float | None:
    """How often the teacher scores a positive passage above all others; None without scores."""
    firsts = [
        max(example.scores[: example.n_positive])
        > max(example.scores[example.n_positive :], default=float("-inf"))
        for example in examples
        if example.scores
    ]
    return sum(firsts) / len(firsts) if firsts else None


def _drawn(questions: Iterable[Question], n: int | None, seed: int) -> list[Question]:
    """The first n questions of an order that depends only on the seed."""
    shuffled = list(questions)
    return random.Random(seed).sample(shuffled, len(shuffled))[:n]


def _claim(out: Path, settings: Mapping[str, object]) -> None:
    """Writes the settings to the folder; ValueError where it holds other ones."""
    path = out / SETTINGS
    text = json.dumps(settings, indent=1, sort_keys=True) + "\n"
    if path.is_file() and path.read_text(encoding="utf-8") != text:
        raise ValueError(f"{out} holds lists of other data or settings. Name another --out, or remove it")
    out.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _without_layout(text: str) -> str:
    return " ".join(text.split())


# Labels of a reader


def label(
    out: Path,
    reader: str,
    folders: Path,
    best: int = BEST,
    mined: Path | None = None,
    on_progress: ProgressCallback = no_progress,
) -> LabelCounts:
    """Adds the reader's labels for the `best` passages of each question to those in `out`.

    The questions are those about `folders`, as for `train_reader`. `mined` keeps the passages that are mined
    for them, by default in `out`. ModelMismatch when `out` has the labels of another reader.
    """
    loaded = load_span_reader(reader, pick_device().type)
    store = LabelStore.open(out, loaded.digest)
    rankings = _folder_rankings(folders, mined or out / RUN, on_progress)
    pairs = (Pair(question, *text) for question, ranking in rankings for text in ranking[:best])
    began = time.perf_counter()
    new, tokens = label_pairs(loaded, store, pairs, sentence_spans, on_progress)
    return LabelCounts(len(store), new, tokens, time.perf_counter() - began)


def _folder_rankings(
    folders: Path, run: Path, on_progress: ProgressCallback
) -> Iterator[tuple[str, Ranking]]:
    """The questions about folders in all wordings, with their own passage and those mined for them."""
    mine_folders(folders, run, on_progress)
    for mined in mined_questions(folders, run):
        item = mined.item
        others = [text for text in mined.rankings[0] if text[1] != item.passage]
        yield item.question, [(item_context(item), item.passage), *others]
