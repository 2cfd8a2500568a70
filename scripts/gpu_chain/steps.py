"""The steps on the GPU machine: train the teacher, label, train the student, export; and `join`.

Their files lie in a work folder, which outlives a call. A step that is called again resumes, or finds its
result. numpy, torch and safetensors are all they need.

The student is exported as differences from the small base, the teacher as differences from the large base in
8 bits. Unchanged weights are left out, since the output of `prepare` has them.
"""

import copy
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from spanwise.errors import DataMalformed
from spanwise.models.batching import PackedTokens, token_budget_batches
from spanwise.models.bert import BertSpanModel, bert_span_model
from spanwise.models.load import HEAD_STD, save_span_model
from spanwise.models.model_files import file_sha256, read_json
from spanwise.models.numpy_bert import PREFIX, SPAN_HEAD
from spanwise.models.precision import pick_device
from spanwise.models.tokenizer import SpecialTokens
from spanwise.models.training import Progress, TrainingConfig, own_memory
from spanwise.models.weights import (
    Checkpoint,
    read_quantized,
    save_delta,
    save_quantized,
    tuned_weights,
)
from spanwise.reader.load import DELTA, SETTINGS
from spanwise.reader.span_reader import PASSAGE, SUPPORT, SpanScores
from spanwise.reader.spans import assemble
from spanwise.reader.training import RECIPES, TeacherWindow, TrainingRow, add_evidence_head, train_groups

from . import data
from .data import SEED, Groups, Task, say

TEACHER = "teacher.safetensors"  # trained, in float32
STUDENT = "student.safetensors"
LABELS = "labels.npz"
LABEL_TOKENS = 65_536  # of a batch that is only read
TEACHER_TOKENS = 30_000_000  # to train on by default
TRIAL_STEPS = 24
LOOP = replace(RECIPES["lists"].loop, checkpoint_every=10_000, seed=SEED)
LOGITS = 2  # start and end; the evidence logits follow
REPORT_EVERY = 50  # steps
PART_BYTES = 15_500_000  # a file that comes back may have 16 MiB
CALL_PARTS = 7  # beside the manifest: 8 files of 64 MiB together
CALL_BYTES = 62_000_000
TEACHER_DELTA = "teacher-q8.safetensors"


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How a model is trained.

    minutes: when a call ends.
    budget: minutes of all calls together.
    tokens: about how many to train on, or None for the model's default; fewer if time is short.
    batch_tokens: tokens of a batch.
    device: the name of the device, or None for the first GPU.
    """

    minutes: float
    budget: float
    tokens: int | None
    batch_tokens: int
    device: str | None


def teacher_start(work: Path) -> BertSpanModel:
    """The large base with new heads, drawn by the seed."""
    checkpoint = read_quantized(data.existing(work / data.TEACHER_BASE, "receive"))
    torch.manual_seed(SEED)
    hidden = int(checkpoint.config["hidden_size"])
    heads = {f"{SPAN_HEAD}.weight": HEAD_STD * torch.randn(2, hidden), f"{SPAN_HEAD}.bias": torch.zeros(2)}
    return _model(checkpoint.config, heads | checkpoint.weights)


def student_base(work: Path) -> Checkpoint:
    """The small base, its weights named as in a reader."""
    checkpoint = read_quantized(data.existing(work / data.STUDENT_BASE, "receive"))
    weights = {PREFIX + name: tensor for name, tensor in checkpoint.weights.items()}
    return Checkpoint(checkpoint.config, weights)


def student_start(work: Path) -> BertSpanModel:
    """The built-in reader over the small base."""
    base = student_base(work)
    delta = data.existing(work / data.STUDENT_DELTA, "receive")
    torch.manual_seed(SEED)
    return _model(base.config, tuned_weights(base.weights, delta))


def _model(config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> BertSpanModel:
    model = bert_span_model(Checkpoint(config, weights))
    if model is None:
        raise ValueError("the carried weights are not those of a BERT or an MPNet. Run prepare again")
    add_evidence_head(model)
    return model


def train_teacher(work: Path, options: TrainingOptions) -> bool:
    """True when the teacher is trained to its end; False when time was up before, with a checkpoint."""
    task = Task.open(work, "teacher")
    options = replace(options, tokens=options.tokens or TEACHER_TOKENS)
    loop = replace(LOOP, learning_rate=2e-4, layer_decay=0.9)
    return _train(teacher_start(work), task, loop, options, work / TEACHER)


def train_student(work: Path, options: TrainingOptions) -> bool:
    """The same for the student, which learns from the teacher's labels where there are some."""
    task = Task.open(work, "student")
    if (work / LABELS).is_file():
        task = replace(task, groups=taught_groups(task, work / LABELS))
    else:
        say("there are no labels: the student learns only from the answers")
    loop = replace(LOOP, learning_rate=2e-4, layer_decay=0.85)
    return _train(student_start(work), task, loop, options, work / STUDENT)


def _train(
    model: BertSpanModel, task: Task, loop: TrainingConfig, options: TrainingOptions, out: Path
) -> bool:
    """Trains on the groups that are not held out; True when the weights are written to `out`."""
    if out.is_file():
        say(f"{out.name} exists")
        return True
    model = own_memory(model).to(pick_device(options.device))
    marked = zip(task.groups, task.packed.held_out, strict=True)
    groups = [group for group, held_out in marked if not held_out]
    recipe = replace(RECIPES["lists"], loop=loop, batch_tokens=options.batch_tokens)

    def learn(tuned: BertSpanModel, n: int, folder: Path, on_step: Callable[[Progress], None]) -> None:
        limited = replace(recipe, tokens=n)
        train_groups(tuned, groups, task.special, limited, folder, lambda trained: {}, on_step)

    n_tokens = sum(task.special.count + sum(map(len, row.ids)) for group in groups for row in group)
    folder = out.with_suffix(".run")
    most = min(n_tokens, options.tokens or n_tokens)
    affordable = _affordable(lambda *run: learn(copy.deepcopy(model), *run), most, options, folder)
    try:
        learn(model, affordable, folder, partial(_report, options.minutes))
    except KeyboardInterrupt:
        say(f"{out.stem}: time is up, run the same step again to go on")
        return False
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    unfinished = out.with_suffix(".part")
    save_file(weights, unfinished)
    unfinished.replace(out)
    shutil.rmtree(folder)
    say(f"{out.stem} is trained to its end")
    return True


def _affordable(
    trial: Callable[[int, Path, Callable[[Progress], None]], None],
    most: int,
    options: TrainingOptions,
    folder: Path,
) -> int:
    """`most` tokens, or fewer if a trial exceeds the budget.

    The learning rate falls to zero at the end of a run, so a run that is cut off has a poor model. The
    folder of the run gets the number.
    """
    path = folder / "tokens.json"
    if path.is_file():
        return int(read_json(path)["tokens"])
    times: list[float] = []
    n_tried = min(most, TRIAL_STEPS * options.batch_tokens)
    with TemporaryDirectory(prefix="spanwise-trial-") as scratch:
        trial(n_tried, Path(scratch), lambda step: times.append(step.seconds))
    warm = len(times) // 2  # the first steps are slow
    seconds = (times[-1] - times[warm - 1]) / (len(times) - warm) if warm else times[-1]
    rate = n_tried / len(times) / max(1e-9, seconds)
    tokens = min(most, max(options.batch_tokens, int(rate * 60 * options.budget)))
    say(f"trial: {rate:,.0f} tokens/s, so the run has {tokens:,} of {most:,} tokens")
    folder.mkdir(parents=True, exist_ok=True)
    data.write_json(path, {"tokens": tokens})
    return tokens


def _report(minutes: float, progress: Progress) -> None:
    """Prints some steps; raises KeyboardInterrupt, as Ctrl-C does, when the minutes are over."""
    is_last = progress.step == progress.steps
    if is_last or progress.step % REPORT_EVERY == 0:
        say(f"step {progress.step} of {progress.steps}, loss {progress.loss:.3f}, {progress.seconds:.0f} s")
    if progress.seconds > 60 * minutes and not is_last:
        raise KeyboardInterrupt


def label(work: Path, device: str | None = None) -> None:
    """Writes the teacher's logits for every row of every group, see `taught_groups`."""
    if (work / LABELS).is_file():
        say("the labels exist")
        return
    task = Task.open(work, "teacher")
    model = teacher_start(work)
    model.load_state_dict(load_file(data.existing(work / TEACHER, "teacher")))
    logits, nulls = read_rows(model, task.groups, task.special, device)
    say(first_shares(task, nulls[:, LOGITS + PASSAGE]))
    unfinished = work / "labels.part"
    with unfinished.open("wb") as file:
        np.savez(file, logits=logits, nulls=nulls)
    unfinished.replace(work / LABELS)


def read_rows(
    model: BertSpanModel, groups: Groups, special: SpecialTokens, device: str | None
) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    """(W, 3): start, end and support of the tokens of all windows, row after row.

    And (R, 7): all logits of [CLS].
    """
    rows = [row for group in groups for row in group]
    lengths = [special.count + sum(map(len, row.ids)) for row in rows]
    ends = np.cumsum([len(row.window) for row in rows])
    logits = np.empty((int(ends[-1]), LOGITS + 1), dtype=np.float16)
    nulls = np.empty((len(rows), LOGITS + 5), dtype=np.float16)
    scores = SpanScores(model.eval().to(pick_device(device)))
    for batch in token_budget_batches(lengths, LABEL_TOKENS):
        inputs = assemble([rows[i].ids for i in batch], special, multiple=1)
        tokens = PackedTokens.of_padded(inputs.input_ids, inputs.attention_mask, inputs.token_type_ids)
        batch_logits = scores(tokens)  # (T, 7)
        for i, first, shift in zip(batch, tokens.starts(), inputs.shift, strict=True):
            length = len(rows[i].window)
            window = batch_logits[first + shift : first + shift + length]
            logits[ends[i] - length : ends[i]] = window[:, [0, 1, LOGITS + SUPPORT]]
            nulls[i] = batch_logits[first + special.null]
    return logits, nulls


def first_shares(task: Task, relevance: NDArray[np.float16]) -> str:
    """How often the answering passage is the most relevant of its group, trained on or held out.

    Only groups with an answer and more than one passage count.
    """
    outcomes: dict[bool, list[bool]] = {False: [], True: []}
    by_group = np.split(relevance, np.cumsum(task.packed.sizes, dtype=np.int64)[:-1])
    for group, own, held_out in zip(task.groups, by_group, task.packed.held_out.tolist(), strict=True):
        if group[0].answer and len(group) > 1:
            outcomes[held_out].append(bool(own[0] > own[1:].max()))
    shares = [
        f"{fmean(outcomes[held_out]):.1%} of {len(outcomes[held_out]):,} {name}"
        for held_out, name in ((False, "trained on"), (True, "held out"))
        if outcomes[held_out]
    ]
    return f"the answering passage is first for {', '.join(shares) or 'none: there are no lists'}"


def taught_groups(task: Task, labels: Path) -> list[list[TrainingRow]]:
    """The rows with the teacher's scores; the support of a token is the mean over its sentence."""
    with np.load(labels, allow_pickle=False) as file:
        logits = file["logits"].astype(np.float32)
        nulls = file["nulls"].astype(np.float32)
    rows = [row for group in task.groups for row in group]
    windows = np.split(logits, np.cumsum([len(row.window) for row in rows])[:-1])
    taught = []
    for number, (row, window, null) in enumerate(zip(rows, windows, nulls, strict=True)):
        support = np.full(len(window), np.nan, dtype=np.float32)
        for first, after in task.packed.sentences_in(number):
            if after > first:
                support[first:after] = window[first:after, 2].mean()
        none = (float(null[0]), float(null[1]))
        scores = TeacherWindow(window[:, 0], window[:, 1], support, none, float(null[LOGITS + PASSAGE]))
        taught.append(replace(row, teacher=scores))
    left = iter(taught)
    return [list(islice(left, len(group))) for group in task.groups]


# Readers that come back


def export(work: Path, out: Path, call: int) -> None:
    """Writes the parts of a call to `out`; the first call is 1."""
    whole = work / "results"
    parts = work / "results-parts"
    for folder in (whole, parts):
        folder.mkdir(exist_ok=True)
    if not (whole / DELTA).is_file():
        tuned = load_file(data.existing(work / STUDENT, "student"))
        save_delta(whole / DELTA, tuned, student_base(work).weights)
    if not (whole / TEACHER_DELTA).is_file():
        _write_teacher(work, whole / TEACHER_DELTA)
    files = {name: data.cut(whole / name, parts, PART_BYTES) for name in (DELTA, TEACHER_DELTA)}
    calls = data.loads_of(chain.from_iterable(files.values()), CALL_PARTS, CALL_BYTES)
    if not 1 <= call <= len(calls):
        raise ValueError(f"call is {call}, expected 1 to {len(calls)}")
    data.write_manifest(out, files)
    for part in calls[call - 1]:
        shutil.copyfile(parts / part.name, out / part.name)
    say(f"call {call} of {len(calls)}: {', '.join(part.name for part in calls[call - 1])}")


def join_results(folders: Sequence[Path], prepared: Path, base: Path, out: Path) -> None:
    """Writes the readers whose parts are all in the folders to folders in `out`.

    `prepared` is what `prepare` wrote, `base` the large base that it read. DataMalformed for a damaged part,
    and when no reader is complete.
    """
    files: dict[str, data.Parts] = {}
    for folder in folders:
        for name, parts in data.read_manifest(folder).items():
            if files.setdefault(name, parts) != parts:
                raise DataMalformed(
                    f"{folder} holds the parts of another export. Join the calls of one export"
                )
    missing = {name: data.missing(parts, folders) for name, parts in files.items()}
    if all(missing.values()):
        raise DataMalformed(
            f"no reader is complete in {', '.join(map(str, folders))}: export the other calls"
        )
    for name, parts in files.items():
        if missing[name]:
            say(f"{name} waits for {', '.join(missing[name])}")
            continue
        target = out / Path(name).stem
        target.mkdir(parents=True, exist_ok=True)
        data.join(parts, folders, target / name)
        if name != DELTA:
            _restore_teacher(target / name, prepared, base)
        data.write_json(target / SETTINGS, {"answers_null": True})
        say(f"{target}: use it with --reader {target}")


def _write_teacher(work: Path, path: Path) -> None:
    """Writes the differences of the encoder, and the heads as they are."""
    start = teacher_start(work).state_dict()
    tuned = load_file(data.existing(work / TEACHER, "teacher"))
    changed = {
        name: tensor - start[name] if name.startswith(PREFIX) else tensor
        for name, tensor in tuned.items()
        if not name.startswith(PREFIX) or not torch.equal(tensor, start[name])
    }
    save_quantized(path, Checkpoint({"base": file_sha256(work / data.TEACHER_BASE)}, changed))


def _restore_teacher(path: Path, prepared: Path, base: Path) -> None:
    """Turns the file of differences into the folder of a reader."""
    stored = read_quantized(path)
    start = data.existing(prepared / data.WHOLE / data.TEACHER_BASE, "prepare")
    if file_sha256(start) != stored.config["base"]:
        raise DataMalformed(f"{path} was made from another base than {start}. Name the folder of its prepare")
    model = teacher_start(start.parent)
    weights = model.state_dict()
    for name, tensor in stored.weights.items():
        weights[name] = weights[name] + tensor if name.startswith(PREFIX) else tensor
    model.load_state_dict(weights)
    save_span_model(path.parent, model, base)
    for name in data.TOKENIZER:
        if (base / name).is_file():
            shutil.copyfile(base / name, path.parent / name)
    path.unlink()
