"""The steps on the GPU machine: receive parts, train the teacher, label, train the student.

Their files lie in a work folder, which outlives a call. Each step may be called again: it goes on, or finds
that it is done. numpy, torch and safetensors are all they need.
"""

from __future__ import annotations

import copy
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from spanwise.models.batching import PackedTokens, token_budget_batches
from spanwise.models.bert import BertSpanModel, bert_span_model
from spanwise.models.load import HEAD_STD
from spanwise.models.model_files import read_json
from spanwise.models.numpy_bert import PREFIX, SPAN_HEAD
from spanwise.models.precision import pick_device
from spanwise.models.quantized import read_quantized
from spanwise.models.tokenizer import SpecialTokens
from spanwise.models.training import Progress, own_memory
from spanwise.models.weights import Checkpoint, tuned_weights
from spanwise.reader.span_reader import PASSAGE, SUPPORT, SpanScores
from spanwise.reader.spans import assemble
from spanwise.reader.training import (
    RECIPES,
    ReaderTrainingConfig,
    TeacherWindow,
    TrainingRow,
    add_evidence_head,
    train_groups,
)

from . import files
from .groups import PackedGroups
from .parts import MANIFEST, check, join, missing, read_manifest

LABEL_TOKENS = 65_536  # of a batch that is only read
TRIAL_STEPS = 24
LOGITS = 2  # start and end; those of the evidence follow
REPORT_S = 20.0


@dataclass(frozen=True, slots=True)
class Training:
    """How a model is trained: on about `tokens`, None for all groups once, or fewer if time is short.

    `budget` are the minutes of all calls together; one call ends after `minutes`.
    """

    minutes: float = 8.0
    budget: float = 8.0
    tokens: int | None = None
    batch_tokens: int = 16_384
    learning_rate: float = 1.5e-4
    layer_decay: float = 0.9
    checkpoint_every: int = 10_000
    seed: int = 0

    def recipe(self) -> ReaderTrainingConfig:
        """The recipe "lists" with these settings."""
        lists = RECIPES["lists"]
        loop = replace(
            lists.loop,
            learning_rate=self.learning_rate,
            layer_decay=self.layer_decay,
            checkpoint_every=self.checkpoint_every,
            seed=self.seed,
        )
        return replace(lists, loop=loop, batch_tokens=self.batch_tokens, tokens=self.tokens)


TEACHER = Training(tokens=30_000_000)
STUDENT = Training(learning_rate=2e-4, layer_decay=0.85)


def say(text: str) -> None:
    """Prints a line at once."""
    print(text, flush=True)


def receive(work: Path, carried: Path) -> None:
    """Copies carried parts to the work folder, checks them, and joins the files that are complete."""
    kept = work / "parts"
    kept.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    shutil.copyfile(carried / MANIFEST, kept / MANIFEST)
    n_bytes = 0
    for name, one in read_manifest(kept).items():
        for part in one.parts:
            if (carried / part.name).is_file() and not (kept / part.name).is_file():
                shutil.copyfile(check(part, [carried]), kept / part.name)
                n_bytes += part.size
        left = missing(one, [kept])
        if not left and not (work / name).is_file():
            join(one, [kept], work / name)
        say(f"{name}: waits for {', '.join(left)}" if left else f"{name}: here")
    say(f"received {n_bytes:,} bytes in {time.monotonic() - began:.1f} s")


def teacher_start(work: Path, seed: int = 0) -> BertSpanModel:
    """The large base with new heads, drawn by the seed."""
    checkpoint = read_quantized(files.there(work / files.TEACHER_BASE, "receive"))
    torch.manual_seed(seed)
    hidden = int(checkpoint.config["hidden_size"])
    heads = {f"{SPAN_HEAD}.weight": HEAD_STD * torch.randn(2, hidden), f"{SPAN_HEAD}.bias": torch.zeros(2)}
    return _model(Checkpoint(checkpoint.config, heads | dict(checkpoint.weights)))


def student_base(work: Path) -> Checkpoint:
    """The small base, its weights named as in a reader."""
    checkpoint = read_quantized(files.there(work / files.STUDENT_BASE, "receive"))
    weights = {PREFIX + name: tensor for name, tensor in checkpoint.weights.items()}
    return Checkpoint(checkpoint.config, weights)


def student_start(work: Path, seed: int = 0) -> BertSpanModel:
    """The built-in reader over the small base."""
    base = student_base(work)
    delta = files.there(work / files.STUDENT_DELTA, "receive")
    torch.manual_seed(seed)
    return _model(Checkpoint(base.config, tuned_weights(base.weights, delta)))


def train_teacher(work: Path, how: Training, device: str | None = None) -> bool:
    """True when the teacher is trained to its end; False when time was up before, with a checkpoint."""
    settings = files.settings(work)
    packed = _groups(work)
    groups, _ = _parted(packed.rows(int(settings["shift"])), packed)
    special = special_of(settings["teacher"])
    model = teacher_start(work, how.seed)
    add_evidence_head(model)
    return _train(model, groups, special, how, work / files.TEACHER, device)


def train_student(work: Path, how: Training, device: str | None = None) -> bool:
    """The same for the student, which learns from the teacher's labels where there are some."""
    packed = _groups(work)
    settings = files.settings(work)
    groups = packed.rows(0)
    if (work / files.LABELS).is_file():
        groups = taught_groups(groups, packed, work / files.LABELS)
    else:
        say("there are no labels: the student learns from the answers alone")
    kept, left_out = _parted(groups, packed)
    special = special_of(settings["student"])
    model = student_start(work, how.seed)
    add_evidence_head(model)
    _say_held_out("before", model, left_out, special, device)
    is_done = _train(model, kept, special, how, work / files.STUDENT, device)
    if is_done:
        _say_held_out("after", trained(model, work / files.STUDENT), left_out, special, device)
    return is_done


def label(work: Path, device: str | None = None) -> None:
    """Writes the teacher's logits for every row of every group, see `taught_groups`."""
    if (work / files.LABELS).is_file():
        say("the labels are there")
        return
    packed, settings = _groups(work), files.settings(work)
    groups = packed.rows(int(settings["shift"]))
    model = teacher_start(work)
    add_evidence_head(model)
    model = trained(model, files.there(work / files.TEACHER, "teacher"))
    logits, nulls = read_rows(model, groups, special_of(settings["teacher"]), device)
    say(first_shares(groups, packed.held_out, nulls[:, LOGITS + PASSAGE]))
    with (work / "labels.part").open("wb") as file:
        np.savez(file, logits=logits, nulls=nulls)
    (work / "labels.part").replace(work / files.LABELS)


def read_rows(
    model: BertSpanModel,
    groups: Sequence[Sequence[TrainingRow]],
    special: SpecialTokens,
    device: str | None = None,
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
    began = said = time.monotonic()
    n_tokens = 0
    for batch in token_budget_batches(lengths, LABEL_TOKENS):
        inputs = assemble([rows[i].ids for i in batch], special, multiple=1)
        tokens = PackedTokens.of_padded(inputs.input_ids, inputs.attention_mask, inputs.token_type_ids)
        found = scores(tokens)  # (T, 7)
        for i, first, shift in zip(batch, tokens.starts(), inputs.shift, strict=True):
            length = len(rows[i].window)
            here = found[first + shift : first + shift + length]
            logits[ends[i] - length : ends[i]] = here[:, [0, 1, LOGITS + SUPPORT]]
            nulls[i] = found[first + special.null]
        n_tokens += len(tokens.ids)
        if time.monotonic() - said > REPORT_S:
            said = time.monotonic()
            say(f"read {n_tokens:,} tokens, {n_tokens / (said - began):,.0f} tokens/s")
    seconds = time.monotonic() - began
    rate = n_tokens / seconds
    say(f"read {len(rows):,} rows, {n_tokens:,} tokens in {seconds:.1f} s, {rate:,.0f} tokens/s")
    return logits, nulls


def first_shares(
    groups: Sequence[Sequence[TrainingRow]], held_out: NDArray[np.bool_], relevance: NDArray[np.float16]
) -> str:
    """How often the answering passage is the most relevant of its group, trained on or held out.

    Of groups with an answer and more than one passage.
    """
    is_first: dict[bool, list[bool]] = {False: [], True: []}
    at = 0
    for group, is_left_out in zip(groups, held_out, strict=True):
        own = relevance[at : at + len(group)]
        at += len(group)
        if group[0].answer and len(group) > 1:
            is_first[bool(is_left_out)].append(bool(own[0] > own[1:].max()))
    shares = [
        f"{100 * sum(found) / len(found):.1f} % of {len(found):,} {name}"
        for found, name in ((is_first[False], "trained on"), (is_first[True], "held out"))
        if found
    ]
    return f"the answering passage is first for {', '.join(shares) or 'none: there are no lists'}"


def taught_groups(
    groups: Sequence[Sequence[TrainingRow]], packed: PackedGroups, labels: Path
) -> list[list[TrainingRow]]:
    """The rows with the teacher's scores; the support of a token is the mean over its sentence."""
    with np.load(labels, allow_pickle=False) as file:
        logits, nulls = file["logits"].astype(np.float32), file["nulls"].astype(np.float32)
    found: list[list[TrainingRow]] = []
    number = at = 0
    for group in groups:
        taught = []
        for row in group:
            own, null = logits[at : at + len(row.window)], nulls[number]
            support = np.full(len(row.window), np.nan, dtype=np.float32)
            for first, after in packed.sentences_in(number):
                if after > first:
                    support[first:after] = own[first:after, 2].mean()
            none = float(null[0]), float(null[1])
            relevance = float(null[LOGITS + PASSAGE])
            taught.append(replace(row, teacher=TeacherWindow(own[:, 0], own[:, 1], support, none, relevance)))
            number += 1
            at += len(row.window)
        found.append(taught)
    return found


def trained(model: BertSpanModel, path: Path) -> BertSpanModel:
    """The model with the weights of a file that `train_teacher` or `train_student` wrote."""
    model.load_state_dict(load_file(path))
    return model


def special_of(record: Mapping[str, Any]) -> SpecialTokens:
    """Special tokens as `prepare` wrote them."""
    lists = {name: tuple(record[name]) for name in ("before", "between", "after")}
    return SpecialTokens(**lists, pad=record["pad"], null=record["null"], segment=record["segment"])


def _train(
    model: BertSpanModel,
    groups: Sequence[Sequence[TrainingRow]],
    special: SpecialTokens,
    how: Training,
    out: Path,
    device: str | None,
) -> bool:
    if out.is_file():
        say(f"{out.name} is there")
        return True
    model = own_memory(model).to(pick_device(device))
    n_tokens = sum(special.count + sum(map(len, row.ids)) for group in groups for row in group)
    say(f"{len(groups):,} groups of {n_tokens:,} tokens on {pick_device(device)}")
    run = out.with_suffix(".run")
    tokens = _affordable(model, groups, special, how, min(n_tokens, how.tokens or n_tokens), run)
    recipe = replace(how.recipe(), tokens=tokens)
    try:
        train_groups(model, groups, special, recipe, run, lambda tuned: {}, _reporter(how.minutes, tokens))
    except KeyboardInterrupt:
        say(f"{out.stem}: time is up, run the same step again to go on")
        return False
    weights: dict[str, Tensor] = {
        name: one.detach().cpu().contiguous() for name, one in model.state_dict().items()
    }
    save_file(weights, out.with_suffix(".part"))
    out.with_suffix(".part").replace(out)
    shutil.rmtree(run)
    say(f"{out.stem} is trained to its end")
    return True


def _affordable(
    model: BertSpanModel,
    groups: Sequence[Sequence[TrainingRow]],
    special: SpecialTokens,
    how: Training,
    wanted: int,
    run: Path,
) -> int:
    """The tokens that a run trains on: those wanted, or fewer if a trial of a copy is too slow for them.

    The learning rate falls to zero at the end of a run: one that is cut off has a poor model. The number is
    kept in the folder of the run.
    """
    kept = run / "tokens.json"
    if kept.is_file():
        return int(read_json(kept)["tokens"])
    times: list[float] = []
    trial = min(wanted, TRIAL_STEPS * how.batch_tokens)
    with TemporaryDirectory(prefix="spanwise-trial-") as folder:
        recipe = replace(how.recipe(), tokens=trial)
        at = Path(folder)
        tried = copy.deepcopy(model)

        def report(progress: Progress) -> None:
            times.append(progress.seconds)

        train_groups(tried, groups, special, recipe, at, lambda tuned: {}, report)
    warm = len(times) // 2  # the first steps are slow
    seconds = (times[-1] - times[warm - 1]) / (len(times) - warm) if warm else times[-1]
    rate = trial / len(times) / max(1e-9, seconds)
    tokens = min(wanted, max(how.batch_tokens, int(rate * 60 * how.budget)))
    say(f"trial: {rate:,.0f} tokens/s, so the run has {tokens:,} of {wanted:,} tokens")
    run.mkdir(parents=True, exist_ok=True)
    files.write_json(kept, {"tokens": tokens})
    return tokens


def _reporter(minutes: float, n_tokens: int) -> Callable[[Progress], None]:
    """Prints the progress of a run over `n_tokens` every REPORT_S.

    It raises KeyboardInterrupt, as Ctrl-C does, after so many minutes.
    """
    began = said = time.monotonic()
    first: int | None = None

    def report(progress: Progress) -> None:
        nonlocal said, first
        now = time.monotonic()
        first = progress.step - 1 if first is None else first
        if now - said > REPORT_S or progress.step == progress.steps:
            said = now
            share = (progress.step - first) / progress.steps
            rate = share * n_tokens / max(1e-9, progress.seconds)
            at = f"step {progress.step} of {progress.steps}, loss {progress.loss:.3f}"
            say(f"{at}, {progress.seconds:.0f} s, {rate:,.0f} tokens/s")
        if now - began > 60 * minutes and progress.step < progress.steps:
            raise KeyboardInterrupt

    return report


def _groups(work: Path) -> PackedGroups:
    return PackedGroups.load(files.there(work / files.GROUPS, "receive"))


def _parted(
    groups: Sequence[list[TrainingRow]], packed: PackedGroups
) -> tuple[list[list[TrainingRow]], list[list[TrainingRow]]]:
    """Groups to train on, and those held out."""
    marked = list(zip(groups, packed.held_out, strict=True))
    kept = [group for group, is_left_out in marked if not is_left_out]
    return kept, [group for group, is_left_out in marked if is_left_out]


def _say_held_out(
    when: str,
    model: BertSpanModel,
    groups: Sequence[Sequence[TrainingRow]],
    special: SpecialTokens,
    device: str | None,
) -> None:
    """Prints how well the student ranks the passages of questions that nothing learnt from."""
    if groups:
        _, nulls = read_rows(model, groups, special, device)
        held_out = np.ones(len(groups), dtype=np.bool_)
        say(f"student {when}: {first_shares(groups, held_out, nulls[:, LOGITS + PASSAGE])}")


def _model(checkpoint: Checkpoint) -> BertSpanModel:
    model = bert_span_model(checkpoint)
    if model is None:
        raise ValueError("the carried weights are not those of a BERT or an MPNet. Run prepare again")
    return model
