"""What comes back: the student as differences from the small base, the teacher as those from the large one.

The teacher comes twice, in 4 bits (what is left when time runs out) and in 8. Weights that did not change are
left out: this machine has them in what `prepare` wrote.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from spanwise.errors import DataMalformed
from spanwise.models.bert import bert_span_model, span_model_names
from spanwise.models.load import save_span_model
from spanwise.models.model_files import file_sha256
from spanwise.models.numpy_bert import PREFIX, BertConfig
from spanwise.models.tokenizer import VOCABULARIES
from spanwise.models.weights import Bits, Checkpoint, read_quantized, save_delta, save_quantized
from spanwise.reader.load import DELTA, SETTINGS

from . import files
from .parts import Cut, Part, cut, join, missing, read_manifest, write_manifest
from .steps import say, student_base, teacher_start

RESULTS = "results"
PART_BYTES = 15_500_000  # a file that comes back may have 16 MiB
CALL_PARTS, CALL_BYTES = 7, 62_000_000  # beside the manifest: 8 files of 64 MiB together
TEACHERS: Mapping[str, Bits] = {"teacher-q4.safetensors": 4, "teacher-q8.safetensors": 8}
TOKENIZER = (*VOCABULARIES, "tokenizer_config.json", "special_tokens_map.json")


def export(work: Path, out: Path, call: int) -> int:
    """Writes the parts of a call, counted from 1, to `out`, and returns the number of calls."""
    began = time.monotonic()
    whole, parts = work / RESULTS, work / f"{RESULTS}-parts"
    for folder in (whole, parts):
        folder.mkdir(exist_ok=True)
    _write_student(work, whole / DELTA)
    start: dict[str, Tensor] = {}
    for name, bits in TEACHERS.items():
        if not (whole / name).is_file():
            start = start or dict(teacher_start(work).state_dict())
            _write_teacher(work, start, whole / name, bits)
    cuts = {name: cut(whole / name, parts, PART_BYTES) for name in (DELTA, *TEACHERS)}
    calls = calls_of([part for one in cuts.values() for part in one.parts])
    if not 1 <= call <= len(calls):
        raise ValueError(f"call is {call}, expected 1 to {len(calls)}")
    write_manifest(out, cuts)
    for part in calls[call - 1]:
        shutil.copyfile(parts / part.name, out / part.name)
    sizes = ", ".join(f"{name} {one.size:,} bytes" for name, one in cuts.items())
    say(f"call {call} of {len(calls)} in {time.monotonic() - began:.1f} s: {sizes}")
    return len(calls)


def calls_of(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts of each call, in their order.

    >>> [len(call) for call in calls_of([Part("p", 30_000_000, "")] * 3)]
    [2, 1]
    """
    calls: list[list[Part]] = [[]]
    for part in parts:
        size = part.size + sum(one.size for one in calls[-1])
        if calls[-1] and (len(calls[-1]) == CALL_PARTS or size > CALL_BYTES):
            calls.append([])
        calls[-1].append(part)
    return calls


def join_results(folders: Sequence[Path], prepared: Path, base: Path, out: Path) -> list[Path]:
    """Writes the readers whose parts are all in the folders, and returns their folders.

    `prepared` is what `prepare` wrote, `base` the large base that it read. DataMalformed for a damaged part,
    and when no reader is complete.
    """
    cuts: dict[str, Cut] = {}
    for folder in folders:
        for name, one in read_manifest(folder).items():
            if cuts.setdefault(name, one) != one:
                raise DataMalformed(
                    f"{folder} holds the parts of another export. Join the calls of one export"
                )
    out.mkdir(parents=True, exist_ok=True)
    made = []
    for name, one in cuts.items():
        if left := missing(one, folders):
            say(f"{name} waits for {', '.join(left)}")
            continue
        target = out / Path(name).stem
        target.mkdir(exist_ok=True)
        join(one, folders, target / name)
        if name != DELTA:
            _restore_teacher(target / name, prepared, base)
        files.write_json(target / SETTINGS, {"answers_null": True})
        made.append(target)
        say(f"{target}: use it with --reader {target}")
    if not made:
        raise DataMalformed(
            f"no reader is complete in {', '.join(map(str, folders))}: export the other calls"
        )
    return made


def _write_student(work: Path, path: Path) -> None:
    if not path.is_file():
        tuned = load_file(files.there(work / files.STUDENT, "student"))
        save_delta(path, tuned, student_base(work).weights)


def _write_teacher(work: Path, start: Mapping[str, Tensor], path: Path, bits: Bits) -> None:
    """The differences of the encoder, and the heads as they are."""
    tuned = load_file(files.there(work / files.TEACHER, "teacher"))
    changed = {
        name: tensor - start[name] if _is_encoder(name) else tensor
        for name, tensor in tuned.items()
        if not _is_encoder(name) or not torch.equal(tensor, start[name])
    }
    save_quantized(path, Checkpoint({"base": file_sha256(work / files.TEACHER_BASE)}, changed), bits)


def _restore_teacher(path: Path, prepared: Path, base: Path) -> None:
    """Turns the file of differences into the folder of a reader."""
    stored = read_quantized(path)
    start = files.there(prepared / files.WHOLE / files.TEACHER_BASE, "prepare")
    if file_sha256(start) != stored.config["base"]:
        raise DataMalformed(f"{path} was made from another base than {start}. Name the folder of its prepare")
    checkpoint = read_quantized(start)
    names = span_model_names(_config(checkpoint, start), checkpoint.weights)
    weights = {ours: checkpoint.weights[theirs] for theirs, ours in names.items()}
    for name, tensor in stored.weights.items():
        weights[name] = weights[name] + tensor if _is_encoder(name) else tensor
    model = bert_span_model(Checkpoint(checkpoint.config, weights))
    if model is None:
        raise DataMalformed(f"{path} does not fit {start}. Export it again")
    save_span_model(path.parent, model, base)
    for name in TOKENIZER:
        if (base / name).is_file():
            shutil.copyfile(base / name, path.parent / name)
    path.unlink()


def _config(checkpoint: Checkpoint, source: Path) -> BertConfig:
    config = BertConfig.read(checkpoint.config)
    if config is None:
        raise DataMalformed(f"{source} has no settings of a BERT or an MPNet. Run prepare again")
    return config


def _is_encoder(name: str) -> bool:
    return name.startswith(PREFIX)
