"""What the GPU machine needs, made on this one: bases in 8 bits and training groups as ids, in parts."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from numpy.typing import NDArray

from spanwise.corpora.datasets.squad import read_squad
from spanwise.corpora.sentences import sentence_spans
from spanwise.models.model_files import CONFIG, MODULES, checked_folder, find_base
from spanwise.models.quantized import save_quantized
from spanwise.models.tokenizer import VOCABULARIES, load_tokenizer, special_tokens
from spanwise.models.weights import Checkpoint, read_checkpoint
from spanwise.pipelines.training.folder_groups import MinedQuestion, example_of, mined_questions
from spanwise.pipelines.training.reader import beside_folders
from spanwise.reader.load import DELTA, reader_folder
from spanwise.reader.spans import tokenize
from spanwise.reader.training import RECIPES, ReaderExample, TrainingRow, training_groups

from . import files
from .groups import Ids, PackedGroups
from .parts import Cut, cut, write_manifest

PART_BYTES = 28_000_000
ARTICLE = 0.33  # share of SQuAD's questions with another passage of their article
ENCODER_FILES = (CONFIG, MODULES, "sentence_bert_config.json", "1_Pooling/config.json")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the data comes from: folders with questions, passages mined for them, SQuAD files, the base."""

    folders: Path
    mined: Path
    data: Sequence[Path]
    base: Path


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much of the data is used, and the size of a part in bytes.

    A question about folders makes a group of its passage and `negatives` others in each of its wordings,
    drawn `rounds` times. `limit` is the number of these questions, `held_out` that of those kept out of
    training, `squad` the number of questions of SQuAD.
    """

    negatives: int = 7
    rounds: int = 2
    squad: int = 24_000
    held_out: int = 300
    limit: int | None = None
    part_bytes: int = PART_BYTES


def prepare(sources: Sources, amounts: Amounts, out: Path, seed: int = 0) -> dict[str, Cut]:
    """Writes the files to `out/whole` and their parts to `out`, and returns how each was cut."""
    whole = out / files.WHOLE
    whole.mkdir(parents=True, exist_ok=True)
    base = checked_folder(sources.base)
    student, teacher = load_tokenizer(find_base()), load_tokenizer(base)
    settings = {
        "shift": vocabulary_shift(student.get_vocab(), teacher.get_vocab()),
        "student": asdict(special_tokens(student)),
        "teacher": asdict(special_tokens(teacher)),
    }
    files.write_json(whole / files.SETTINGS, settings)
    save_quantized(whole / files.TEACHER_BASE, _without_pooler(read_checkpoint(base)), 8)
    save_quantized(whole / files.STUDENT_BASE, _floating(read_checkpoint(find_base())), 8)
    shutil.copyfile(reader_folder("builtin") / DELTA, whole / files.STUDENT_DELTA)
    _write_encoder(whole / files.ENCODER)
    examples, held_out = chosen_examples(sources, amounts, seed)
    n_special = max(special_tokens(one).count for one in (student, teacher))
    packed_groups(examples, held_out, student, n_special).save(whole / files.GROUPS)
    cuts = {path.name: cut(path, out, amounts.part_bytes) for path in sorted(whole.iterdir())}
    write_manifest(out, cuts)
    return cuts


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


def chosen_examples(sources: Sources, amounts: Amounts, seed: int) -> tuple[list[ReaderExample], list[bool]]:
    """The examples about folders and those of SQuAD; and which ones are held out.

    Held out are questions about folders in all their wordings, at most a tenth of all.
    """
    rng = random.Random(seed)
    asked: dict[tuple[str, str], list[MinedQuestion]] = {}
    for mined in mined_questions(sources.folders, sources.mined):
        asked.setdefault((mined.domain, mined.rewords or mined.item.question), []).append(mined)
    wordings = list(asked.values())
    rng.shuffle(wordings)
    wordings = wordings[: amounts.limit]
    n_held_out = min(amounts.held_out, len(wordings) // 10)
    examples, is_held_out = list[ReaderExample](), list[bool]()
    for number, of_question in enumerate(wordings):
        left_out = number < n_held_out
        for mined in of_question * (1 if left_out else amounts.rounds):
            examples.append(example_of(mined, rng, amounts.negatives))
            is_held_out.append(left_out)
    datasets = [read_squad(path) for path in sources.data]
    beside = beside_folders(datasets, amounts.squad, ARTICLE, seed)[0] if datasets else []
    return [*examples, *beside], [*is_held_out, *(False for _ in beside)]


def packed_groups(
    examples: Sequence[ReaderExample], held_out: Sequence[bool], tokenizer: Any, n_special: int
) -> PackedGroups:
    """The groups of the examples, with windows that leave room for `n_special` tokens."""
    groups: list[list[TrainingRow]] = training_groups(
        examples, tokenizer, n_special, RECIPES["lists"], sentence_spans
    )
    passages = [[passage for _, passage in one.texts] for one in examples]
    distinct = sorted({passage for of_group in passages for passage in of_group})
    found: dict[str, tuple[Ids, NDArray[np.int64]]] = {}
    for passage, tokens in zip(distinct, tokenize(tokenizer, distinct), strict=True):
        spans = np.array(sentence_spans(passage), dtype=np.int64).reshape(-1, 2)
        found[passage] = tokens.ids, np.searchsorted(tokens.offsets[:, 0], spans)
    return PackedGroups.of(groups, held_out, passages, found)


def _without_pooler(checkpoint: Checkpoint) -> Checkpoint:
    """What the encoder's states depend on."""
    kept = {name: one for name, one in _floating(checkpoint).weights.items() if "pooler" not in name}
    return Checkpoint(checkpoint.config, kept)


def _floating(checkpoint: Checkpoint) -> Checkpoint:
    weights = {name: one for name, one in checkpoint.weights.items() if one.is_floating_point()}
    return Checkpoint(checkpoint.config, weights)


def _write_encoder(path: Path) -> None:
    """Writes the settings and the tokenizer of the small base, for the measurement of its speed."""
    folder = find_base()
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        names = (*ENCODER_FILES, *VOCABULARIES, "tokenizer_config.json", "special_tokens_map.json")
        for name in names:
            if (folder / name).is_file():
                archive.write(folder / name, name)
