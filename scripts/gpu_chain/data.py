"""The data of a run: prepared on this machine, carried in parts, read on the GPU machine.

A folder of parts has `manifest.json`: for each file its parts in order, with their sizes and sha256.
Training groups are stored as numbers: each text once, as the ids of its tokens, and rows that refer to texts.
The ids are those of the student's vocabulary. The teacher's vocabulary has the same pieces, `shift` further.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from spanwise.corpora.datasets.squad import read_squad
from spanwise.corpora.sentences import sentence_spans
from spanwise.errors import DataMalformed
from spanwise.models.model_files import (
    builtin_folder,
    checked_folder,
    file_sha256,
    find_base,
    read_json,
)
from spanwise.models.tokenizer import VOCABULARIES, SpecialTokens, load_tokenizer, special_tokens
from spanwise.models.weights import Checkpoint, read_checkpoint, save_quantized
from spanwise.reader.load import DELTA
from spanwise.reader.spans import tokenize
from spanwise.reader.training import RECIPES, ReaderExample, TrainingRow, training_groups

if TYPE_CHECKING:
    from spanwise.pipelines.training.questions import MinedQuestion

MANIFEST = "manifest.json"
WHOLE = "whole"  # the folder of files that are not cut, beside their parts
SETTINGS = "settings.json"
TEACHER_BASE = "teacher-base.safetensors"
STUDENT_BASE = "student-base.safetensors"
STUDENT_DELTA = "student-delta.safetensors"
GROUPS = "groups.npz"
TOKENIZER = (*VOCABULARIES, "tokenizer_config.json", "special_tokens_map.json")
PART_BYTES = 28_000_000
NEGATIVES = 7  # passages of a group beside the question's own
ROUNDS = 2  # draws of negatives for each wording of a question
HELD_OUT = 300  # questions about folders that nothing is trained on
ARTICLE = 0.33  # share of SQuAD's questions with another passage of their article
NOWHERE = -1  # the answer of a row without one
SEED = 0
Ids = NDArray[np.int32]
Groups = Sequence[Sequence[TrainingRow]]


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Writes a record, indented for people."""
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def existing(path: Path, step: str) -> Path:
    """The path; DataMalformed if the step that makes the file did not end."""
    if not path.is_file():
        raise DataMalformed(f"{path} is missing: run the step {step} to its end first")
    return path


def say(text: str) -> None:
    """Prints a line at once."""
    print(text, flush=True)


# Files in parts


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file.

    name: the file's name and the number of the part.
    size: in bytes.
    sha256: the digest of its content.
    """

    name: str
    size: int
    sha256: str


Parts = Sequence[Part]
"""The parts of a file, in order."""


def cut(path: Path, folder: Path, most: int) -> Parts:
    """Writes the parts of a file to a folder, of nearly equal size and at most `most` bytes each."""
    size = path.stat().st_size
    n_parts = max(1, -(-size // most))
    part_size = max(1, -(-size // n_parts))
    parts = []
    with path.open("rb") as file:
        for number in range(n_parts):
            content = file.read(part_size)
            name = f"{path.name}.{number:02}"
            (folder / name).write_bytes(content)
            parts.append(Part(name, len(content), hashlib.sha256(content).hexdigest()))
    return parts


def write_manifest(folder: Path, files: Mapping[str, Parts]) -> None:
    """Writes the manifest of a folder of parts."""
    write_json(folder / MANIFEST, {name: list(map(asdict, parts)) for name, parts in files.items()})


def read_manifest(folder: Path) -> dict[str, Parts]:
    """The files of a folder of parts by name; DataMalformed without a manifest, or for a damaged one."""
    path = folder / MANIFEST
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {name: [Part(**part) for part in parts] for name, parts in record.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DataMalformed(f"{path} cannot be read: {error!r}. Make or carry it again") from error


def missing(parts: Parts, folders: Sequence[Path]) -> list[str]:
    """The names of the parts that are in none of the folders."""
    return [part.name for part in parts if _place(part, folders) is None]


def join(parts: Parts, folders: Sequence[Path], target: Path) -> None:
    """Writes a file from its parts; DataMalformed names a part that is missing or damaged."""
    unfinished = target.with_name(f"{target.name}.part")
    with unfinished.open("wb") as joined:
        for part in parts:
            joined.write(checked(part, folders).read_bytes())
    unfinished.replace(target)


def receive(work: Path, carried: Path) -> None:
    """Copies carried parts to the work folder, checks them, and joins the files that are complete."""
    folder = work / "parts"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(carried / MANIFEST, folder / MANIFEST)
    for name, parts in read_manifest(folder).items():
        for part in parts:
            if (carried / part.name).is_file() and not (folder / part.name).is_file():
                shutil.copyfile(checked(part, [carried]), folder / part.name)
        left = missing(parts, [folder])
        if not left and not (work / name).is_file():
            join(parts, [folder], work / name)
        say(f"{name}: waits for {', '.join(left)}" if left else f"{name}: here")


def checked(part: Part, folders: Sequence[Path]) -> Path:
    """The path of a part; DataMalformed when it is missing or damaged."""
    path = _place(part, folders)
    if path is None:
        raise DataMalformed(f"{part.name} is missing. Carry it")
    if path.stat().st_size != part.size or file_sha256(path) != part.sha256:
        raise DataMalformed(f"{path} is damaged: its size or sha256 differs. Carry it again")
    return path


def loads_of(parts: Iterable[Part], most: int, room: int) -> list[list[Part]]:
    """The parts in order, in loads of at most `most` parts and `room` bytes.

    >>> [len(load) for load in loads_of([Part("p", 30_000_000, "")] * 3, 7, 62_000_000)]
    [2, 1]
    """
    loads: list[list[Part]] = [[]]
    for part in parts:
        size = part.size + sum(other.size for other in loads[-1])
        if loads[-1] and (size > room or len(loads[-1]) == most):
            loads.append([])
        loads[-1].append(part)
    return loads


def _place(part: Part, folders: Iterable[Path]) -> Path | None:
    return next((folder / part.name for folder in folders if (folder / part.name).is_file()), None)


# Training groups


@dataclass(frozen=True, slots=True, eq=False)
class PackedGroups:
    """Groups of rows: T texts, S sentences, G groups and R rows, group after group.

    tokens: the ids of all texts, one after another.
    ends: (T,) where each text ends in `tokens`.
    sentences: (S, 2) the tokens [first, after) of each sentence in its text.
    sentence_ends: (T,) where the sentences of each text end in `sentences`.
    sizes: (G,) rows of each group.
    questions: (G,) the text of each group's question.
    held_out: (G,) true for groups that nothing is trained on.
    texts: (R, 2) the texts of each row's context and passage.
    windows: (R, 2) the first token and the length of each row's window of its passage.
    answers: (R, 2) the first and last token of the answer in the window, or NOWHERE.
    support: (R, 2) the same for the answer's sentences.
    labels: (R, 3) yes-no question, yes, list.
    """

    tokens: NDArray[np.uint16]
    ends: NDArray[np.uint32]
    sentences: NDArray[np.uint16]
    sentence_ends: NDArray[np.uint32]
    sizes: NDArray[np.uint8]
    questions: NDArray[np.uint32]
    held_out: NDArray[np.bool_]
    texts: NDArray[np.uint32]
    windows: NDArray[np.uint16]
    answers: NDArray[np.int16]
    support: NDArray[np.int16]
    labels: NDArray[np.int8]

    @classmethod
    def of(
        cls, examples: Sequence[ReaderExample], held_out: Sequence[bool], tokenizer: Any, n_special: int
    ) -> Self:
        """The groups of the examples, with windows that leave room for `n_special` tokens."""
        groups = training_groups(examples, tokenizer, n_special, RECIPES["lists"], sentence_spans)
        rows = [row for group in groups for row in group]
        passages = [passage for example in examples for _, passage in example.texts]
        distinct = sorted(set(passages))
        tokens_of = dict(zip(distinct, tokenize(tokenizer, distinct), strict=True))
        numbers: dict[bytes, int] = {}
        sentences: dict[int, NDArray[np.int64]] = {}
        texts = []
        for row, passage in zip(rows, passages, strict=True):
            tokens = tokens_of[passage]
            texts.append((_number(row.context, numbers), _number(tokens.ids, numbers)))
            if texts[-1][1] not in sentences:
                spans = np.array(sentence_spans(passage), dtype=np.int64).reshape(-1, 2)
                sentences[texts[-1][1]] = np.searchsorted(tokens.offsets[:, 0], spans)
        questions = [_number(group[0].question, numbers) for group in groups]
        bounds = [sentences.get(number, np.zeros((0, 2), np.int64)) for number in range(len(numbers))]
        return cls(
            np.frombuffer(b"".join(numbers), np.uint16),
            np.cumsum([len(ids) // 2 for ids in numbers]).astype(np.uint32),
            np.concatenate(bounds).astype(np.uint16),
            np.cumsum([len(of_text) for of_text in bounds]).astype(np.uint32),
            np.array([len(group) for group in groups], np.uint8),
            np.array(questions, np.uint32),
            np.array(held_out, np.bool_),
            np.array(texts, np.uint32),
            np.array([(row.first, len(row.window)) for row in rows], np.uint16),
            np.array([row.answer or (NOWHERE, NOWHERE) for row in rows], np.int16),
            np.array([row.support or (NOWHERE, NOWHERE) for row in rows], np.int16),
            np.array([row.labels for row in rows], np.int8),
        )

    def save(self, path: Path) -> None:
        """Writes a compressed file."""
        with path.open("wb") as file:
            np.savez_compressed(file, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: Path) -> Self:
        """The groups of a file; DataMalformed for a damaged one."""
        try:
            with np.load(path, allow_pickle=False) as file:
                return cls(**{field.name: file[field.name] for field in fields(cls)})
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise DataMalformed(f"{path} cannot be read: {error}. Carry its parts again") from error

    def rows(self, shift: int) -> list[list[TrainingRow]]:
        """The rows of every group, each id `shift` further."""
        texts = np.split(self.tokens.astype(np.int32) + shift, self.ends[:-1])
        rows = []
        for row, question in enumerate(np.repeat(self.questions, self.sizes)):
            context, passage = self.texts[row]
            first, length = map(int, self.windows[row])
            passage_row = TrainingRow(
                texts[question],
                texts[context],
                texts[passage][first : first + length],
                _range(self.answers[row]),
                _range(self.support[row]),
                tuple(map(float, self.labels[row])),
                first=first,
            )
            rows.append(passage_row)
        left = iter(rows)
        return [list(islice(left, size)) for size in self.sizes]

    def sentences_in(self, row: int) -> NDArray[np.int64]:
        """(s, 2): the sentences of a row's passage, [first, after) in its window; some may be empty."""
        text = int(self.texts[row, 1])
        begin = int(self.sentence_ends[text - 1]) if text else 0
        bounds = self.sentences[begin : self.sentence_ends[text]].astype(np.int64)
        first, length = map(int, self.windows[row])
        return np.clip(bounds - first, 0, length)


def _number(ids: Ids, numbers: dict[bytes, int]) -> int:
    """The number of a text, a new one if its ids are new."""
    return numbers.setdefault(ids.astype(np.uint16).tobytes(), len(numbers))


def _range(bounds: NDArray[Any]) -> tuple[int, int] | None:
    first, last = map(int, bounds)
    return None if first == NOWHERE else (first, last)


@dataclass(frozen=True, slots=True)
class Task:
    """Groups to learn from, in the vocabulary of the model that learns.

    packed: the groups as `prepare` wrote them.
    groups: their rows.
    special: the model's special tokens.
    """

    packed: PackedGroups
    groups: Groups
    special: SpecialTokens

    @classmethod
    def open(cls, work: Path, model: str) -> Task:
        """The task of "teacher" or "student"."""
        settings = read_json(existing(work / SETTINGS, "receive"))
        packed = PackedGroups.load(existing(work / GROUPS, "receive"))
        shift = int(settings["shift"]) if model == "teacher" else 0
        special = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in settings[model].items()
        }
        return cls(packed, packed.rows(shift), SpecialTokens(**special))


# Preparation


def prepare(
    folders: Path, mined: Path, data: Sequence[Path], base: Path, n_squad: int, out: Path
) -> dict[str, Parts]:
    """Writes the files to `out/whole` and their parts to `out`, and returns the parts by file name.

    `folders` has questions, the run folder `mined` the passages mined for them. Of the files `data` in
    SQuAD's format `n_squad` questions are used. `base` is the folder of the large base.
    """
    whole = out / WHOLE
    whole.mkdir(parents=True, exist_ok=True)
    teacher_base = checked_folder(base)
    student = load_tokenizer(find_base())
    teacher = load_tokenizer(teacher_base)
    specials = {"student": special_tokens(student), "teacher": special_tokens(teacher)}
    shift = vocabulary_shift(student.get_vocab(), teacher.get_vocab())
    records = {name: asdict(special) for name, special in specials.items()}
    write_json(whole / SETTINGS, {"shift": shift, **records})
    save_quantized(whole / TEACHER_BASE, _encoder(read_checkpoint(teacher_base)))
    save_quantized(whole / STUDENT_BASE, _encoder(read_checkpoint(find_base())))
    shutil.copyfile(builtin_folder("reader") / DELTA, whole / STUDENT_DELTA)
    examples, held_out = draw_examples(folders, mined, data, n_squad)
    n_special = max(special.count for special in specials.values())
    PackedGroups.of(examples, held_out, student, n_special).save(whole / GROUPS)
    files = {path.name: cut(path, out, PART_BYTES) for path in sorted(whole.iterdir())}
    write_manifest(out, files)
    return files


def vocabulary_shift(student: dict[str, int], teacher: dict[str, int]) -> int:
    """The number that turns each id of the student's vocabulary into the teacher's.

    ValueError if there is no such number.

    >>> vocabulary_shift({"[PAD]": 0, "mill": 1}, {"<s>": 0, "[PAD]": 1, "mill": 2})
    1
    """
    shifts = {teacher.get(piece, -1) - number for piece, number in student.items()}
    if len(shifts) != 1:
        raise ValueError(
            "the base has another vocabulary than the reader. Give a base with BERT's WordPieces"
        )
    return shifts.pop()


def draw_examples(
    folders: Path, mined: Path, data: Sequence[Path], n_squad: int
) -> tuple[list[ReaderExample], list[bool]]:
    """The examples about folders and those of SQuAD, and which of them are held out.

    Held out are questions about folders in all their wordings, at most a tenth of all.
    """
    # The GPU machine imports this module too, and lacks the packages of the pipelines.
    from spanwise.pipelines.training.questions import example_of, mined_questions
    from spanwise.pipelines.training.reader import beside_folders

    rng = random.Random(SEED)
    by_question: dict[tuple[str, str], list[MinedQuestion]] = {}
    for question in mined_questions(folders, mined):
        key = (question.domain, question.rewords or question.item.question)
        by_question.setdefault(key, []).append(question)
    questions = list(by_question.values())
    rng.shuffle(questions)
    n_held_out = min(HELD_OUT, len(questions) // 10)
    examples: list[ReaderExample] = []
    held_out: list[bool] = []
    for number, wordings in enumerate(questions):
        is_held_out = number < n_held_out
        for wording in wordings * (1 if is_held_out else ROUNDS):
            examples.append(example_of(wording, rng, NEGATIVES))
            held_out.append(is_held_out)
    if data:
        datasets = [read_squad(path) for path in data]
        examples += beside_folders(datasets, n_squad, ARTICLE, SEED)[0]
    held_out += [False] * (len(examples) - len(held_out))
    return examples, held_out


def _encoder(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with only its floating-point weights; an encoder's states do not need its pooler."""
    weights = {
        name: weight
        for name, weight in checkpoint.weights.items()
        if weight.is_floating_point() and "pooler" not in name
    }
    return Checkpoint(checkpoint.config, weights)
