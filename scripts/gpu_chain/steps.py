"""The steps on the GPU machine: receive parts, train the teacher, label, train the student.

Their files lie in a work folder, which outlives a call. A step that is called again resumes, or finds its
result. numpy, torch and safetensors are all they need.
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
from spanwise.models.tokenizer import SpecialTokens
from spanwise.models.training import Progress, own_memory
from spanwise.models.weights import Checkpoint, read_quantized, tuned_weights
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

from . import data

TEACHER = "teacher.safetensors"  # trained, in float32
STUDENT = "student.safetensors"
LABELS = "labels.npz"
LABEL_TOKENS = 65_536  # of a batch that is only read
TRIAL_STEPS = 24
CHECKPOINT_EVERY = 10_000
SEED = 0
LOGITS = 2  # start and end; the evidence logits follow
REPORT_S = 20.0
Groups = Sequence[Sequence[TrainingRow]]


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How a model is trained.

    minutes: when a call ends.
    budget: minutes of all calls together.
    tokens: about how many to train on, or None for the model's default; fewer if time is short.
    batch_tokens: tokens of a batch.
    """

    minutes: float
    budget: float
    tokens: int | None
    batch_tokens: int


def say(text: str) -> None:
    """Prints a line at once."""
    print(text, flush=True)


def receive(work: Path, carried: Path) -> None:
    """Copies carried parts to the work folder, checks them, and joins the files that are complete."""
    parts = work / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(carried / data.MANIFEST, parts / data.MANIFEST)
    for name, file in data.read_manifest(parts).items():
        for part in file.parts:
            if (carried / part.name).is_file() and not (parts / part.name).is_file():
                shutil.copyfile(data.checked(part, [carried]), parts / part.name)
        left = data.missing(file, [parts])
        if not left and not (work / name).is_file():
            data.join(file, [parts], work / name)
        say(f"{name}: waits for {', '.join(left)}" if left else f"{name}: here")


@dataclass(frozen=True, slots=True)
class Task:
    """Groups to learn from, in the vocabulary of the model that learns.

    packed: the groups as `prepare` wrote them.
    groups: their rows.
    special: the model's special tokens.
    """

    packed: data.PackedGroups
    groups: Groups
    special: SpecialTokens

    @classmethod
    def open(cls, work: Path, model: str) -> Task:
        """The task of "teacher" or "student"."""
        settings = data.read_settings(work)
        packed = data.PackedGroups.load(data.existing(work / data.GROUPS, "receive"))
        record = dict(settings[model])
        for name in ("before", "between", "after"):
            record[name] = tuple(record[name])
        shift = int(settings["shift"]) if model == "teacher" else 0
        return cls(packed, packed.rows(shift), SpecialTokens(**record))

    def part(self, held_out: bool) -> Groups:
        """The held-out groups, or the others."""
        marked = zip(self.groups, self.packed.held_out, strict=True)
        return [group for group, is_held_out in marked if bool(is_held_out) is held_out]


def teacher_start(work: Path) -> BertSpanModel:
    """The large base with new heads, drawn by the seed."""
    checkpoint = read_quantized(data.existing(work / data.TEACHER_BASE, "receive"))
    torch.manual_seed(SEED)
    hidden = int(checkpoint.config["hidden_size"])
    heads = {f"{SPAN_HEAD}.weight": HEAD_STD * torch.randn(2, hidden), f"{SPAN_HEAD}.bias": torch.zeros(2)}
    return _model(checkpoint.config, heads | dict(checkpoint.weights))


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


def train_teacher(work: Path, options: TrainingOptions, device: str | None) -> bool:
    """True when the teacher is trained to its end; False when time was up before, with a checkpoint."""
    task = Task.open(work, "teacher")
    recipe = _recipe(options, learning_rate=1.5e-4, layer_decay=0.9, tokens=30_000_000)
    return _Training(teacher_start(work), task, recipe, options, work / TEACHER, device).run()


def train_student(work: Path, options: TrainingOptions, device: str | None) -> bool:
    """The same for the student, which learns from the teacher's labels where there are some."""
    task = Task.open(work, "student")
    if (work / LABELS).is_file():
        task = replace(task, groups=taught_groups(task, work / LABELS))
    else:
        say("there are no labels: the student learns only from the answers")
    model = student_start(work)
    _say_held_out("before", model, task, device)
    recipe = _recipe(options, learning_rate=2e-4, layer_decay=0.85, tokens=None)
    is_complete = _Training(model, task, recipe, options, work / STUDENT, device).run()
    if is_complete:
        model.load_state_dict(load_file(work / STUDENT))
        _say_held_out("after", model, task, device)
    return is_complete


def _recipe(
    options: TrainingOptions, learning_rate: float, layer_decay: float, tokens: int | None
) -> ReaderTrainingConfig:
    """The recipe "lists" with the options, and these values where the options have none."""
    lists = RECIPES["lists"]
    loop = replace(
        lists.loop,
        learning_rate=learning_rate,
        layer_decay=layer_decay,
        checkpoint_every=CHECKPOINT_EVERY,
        seed=SEED,
    )
    return replace(lists, loop=loop, batch_tokens=options.batch_tokens, tokens=options.tokens or tokens)


def label(work: Path, device: str | None = None) -> None:
    """Writes the teacher's logits for every row of every group, see `taught_groups`."""
    if (work / LABELS).is_file():
        say("the labels exist")
        return
    task = Task.open(work, "teacher")
    model = teacher_start(work)
    model.load_state_dict(load_file(data.existing(work / TEACHER, "teacher")))
    logits, nulls = read_rows(model, task.groups, task.special, device)
    say(first_shares(task.groups, task.packed.held_out, nulls[:, LOGITS + PASSAGE]))
    unfinished = work / "labels.part"
    with unfinished.open("wb") as file:
        np.savez(file, logits=logits, nulls=nulls)
    unfinished.replace(work / LABELS)


def read_rows(
    model: BertSpanModel, groups: Groups, special: SpecialTokens, device: str | None = None
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
    began = time.monotonic()
    for batch in token_budget_batches(lengths, LABEL_TOKENS):
        inputs = assemble([rows[i].ids for i in batch], special, multiple=1)
        tokens = PackedTokens.of_padded(inputs.input_ids, inputs.attention_mask, inputs.token_type_ids)
        batch_logits = scores(tokens)  # (T, 7)
        for i, first, shift in zip(batch, tokens.starts(), inputs.shift, strict=True):
            length = len(rows[i].window)
            window = batch_logits[first + shift : first + shift + length]
            logits[ends[i] - length : ends[i]] = window[:, [0, 1, LOGITS + SUPPORT]]
            nulls[i] = batch_logits[first + special.null]
    seconds = time.monotonic() - began
    say(f"read {len(rows):,} rows in {seconds:.1f} s, {sum(lengths) / seconds:,.0f} tokens/s")
    return logits, nulls


def first_shares(groups: Groups, held_out: Sequence[bool], relevance: NDArray[np.float16]) -> str:
    """How often the answering passage is the most relevant of its group, trained on or held out.

    Only groups with an answer and more than one passage count.
    """
    outcomes: dict[str, list[bool]] = {"trained on": [], "held out": []}
    last = 0
    for group, is_held_out in zip(groups, held_out, strict=True):
        own = relevance[last : last + len(group)]
        last += len(group)
        if group[0].answer and len(group) > 1:
            outcomes["held out" if is_held_out else "trained on"].append(bool(own[0] > own[1:].max()))
    shares = [
        f"{100 * sum(firsts) / len(firsts):.1f} % of {len(firsts):,} {name}"
        for name, firsts in outcomes.items()
        if firsts
    ]
    return f"the answering passage is first for {', '.join(shares) or 'none: there are no lists'}"


def taught_groups(task: Task, labels: Path) -> list[list[TrainingRow]]:
    """The rows with the teacher's scores; the support of a token is the mean over its sentence."""
    with np.load(labels, allow_pickle=False) as file:
        logits = file["logits"].astype(np.float32)
        nulls = file["nulls"].astype(np.float32)
    groups = []
    number = 0
    last = 0
    for group in task.groups:
        taught = []
        for row in group:
            length = len(row.window)
            own = logits[last : last + length]
            null = nulls[number]
            support = np.full(length, np.nan, dtype=np.float32)
            for first, after in task.packed.sentences_in(number):
                if after > first:
                    support[first:after] = own[first:after, 2].mean()
            none = (float(null[0]), float(null[1]))
            scores = TeacherWindow(own[:, 0], own[:, 1], support, none, float(null[LOGITS + PASSAGE]))
            taught.append(replace(row, teacher=scores))
            number += 1
            last += length
        groups.append(taught)
    return groups


@dataclass(frozen=True, slots=True)
class _Training:
    """A model to train, and the file for its weights."""

    model: BertSpanModel
    task: Task
    recipe: ReaderTrainingConfig
    options: TrainingOptions
    out: Path
    device: str | None

    def run(self) -> bool:
        """True when the weights are written; False when time was up before, with a checkpoint."""
        if self.out.is_file():
            say(f"{self.out.name} exists")
            return True
        device = pick_device(self.device)
        model = own_memory(self.model).to(device)
        groups = self.task.part(held_out=False)
        count = self.task.special.count
        n_tokens = sum(count + sum(map(len, row.ids)) for group in groups for row in group)
        say(f"{len(groups):,} groups of {n_tokens:,} tokens on {device}")
        folder = self.out.with_suffix(".run")
        tokens = self._affordable(model, groups, min(n_tokens, self.recipe.tokens or n_tokens), folder)
        try:
            self._train(model, groups, tokens, folder, _Report(self.options.minutes, tokens))
        except KeyboardInterrupt:
            say(f"{self.out.stem}: time is up, run the same step again to go on")
            return False
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
        unfinished = self.out.with_suffix(".part")
        save_file(weights, unfinished)
        unfinished.replace(self.out)
        shutil.rmtree(folder)
        say(f"{self.out.stem} is trained to its end")
        return True

    def _train(
        self,
        model: BertSpanModel,
        groups: Groups,
        tokens: int,
        folder: Path,
        on_step: Callable[[Progress], None],
    ) -> None:
        recipe = replace(self.recipe, tokens=tokens)
        train_groups(model, groups, self.task.special, recipe, folder, lambda tuned: {}, on_step)

    def _affordable(self, model: BertSpanModel, groups: Groups, most: int, folder: Path) -> int:
        """`most` tokens, or fewer if a trial of a copy exceeds the budget.

        The learning rate falls to zero at the end of a run, so a run that is cut off has a poor model. The
        folder of the run gets the number.
        """
        path = folder / "tokens.json"
        if path.is_file():
            return int(read_json(path)["tokens"])
        times: list[float] = []
        trial = min(most, TRIAL_STEPS * self.options.batch_tokens)
        with TemporaryDirectory(prefix="spanwise-trial-") as scratch:
            tried = copy.deepcopy(model)
            self._train(tried, groups, trial, Path(scratch), lambda step: times.append(step.seconds))
        warm = len(times) // 2  # the first steps are slow
        seconds = (times[-1] - times[warm - 1]) / (len(times) - warm) if warm else times[-1]
        rate = trial / len(times) / max(1e-9, seconds)
        tokens = min(most, max(self.options.batch_tokens, int(rate * 60 * self.options.budget)))
        say(f"trial: {rate:,.0f} tokens/s, so the run has {tokens:,} of {most:,} tokens")
        folder.mkdir(parents=True, exist_ok=True)
        data.write_json(path, {"tokens": tokens})
        return tokens


class _Report:
    """Prints the progress of a run over `n_tokens` every REPORT_S.

    It raises KeyboardInterrupt, as Ctrl-C does, when the minutes are over.
    """

    def __init__(self, minutes: float, n_tokens: int) -> None:
        self.n_tokens = n_tokens
        self.began = time.monotonic()
        self.end = self.began + 60 * minutes
        self.reported = self.began
        self.first: int | None = None  # the step that a resumed run begins with

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = progress.step - 1
        if now - self.reported > REPORT_S or progress.step == progress.steps:
            self.reported = now
            share = (progress.step - self.first) / progress.steps
            rate = share * self.n_tokens / max(1e-9, progress.seconds)
            step = f"step {progress.step} of {progress.steps}, loss {progress.loss:.3f}"
            say(f"{step}, {progress.seconds:.0f} s, {rate:,.0f} tokens/s")
        if now > self.end and progress.step < progress.steps:
            raise KeyboardInterrupt


def _say_held_out(when: str, model: BertSpanModel, task: Task, device: str | None) -> None:
    """Prints how well the student ranks the passages of held-out questions."""
    groups = task.part(held_out=True)
    if groups:
        _, nulls = read_rows(model, groups, task.special, device)
        shares = first_shares(groups, [True] * len(groups), nulls[:, LOGITS + PASSAGE])
        say(f"student {when}: {shares}")
