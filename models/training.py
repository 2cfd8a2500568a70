"""The training loop: AdamW, linear warm-up and decay, checkpoints, exact resumption.

Follows Devlin et al. 2019 (appendix A.2): AdamW, weight decay 0.01, warm-up over the first 10 % of the steps,
then linear decay to zero. Checkpoints are safetensors and JSON. An interrupted run continues with the same
batches, learning rates and generator state. Ctrl-C ends a run after the current step, with a checkpoint.

The learning rate of layer l of n is rate * decay^(n - l), with l = n for the head and l = -1 for the
embeddings. Source: Howard and Ruder 2018, section 3.2; Clark et al., "ELECTRA", 2020, appendix B.
"""

import hashlib
import json
import math
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .model_files import read_metadata
from .precision import autocast

Batch = TypeVar("Batch")
M = TypeVar("M", bound=nn.Module)
Evaluate = Callable[[nn.Module], Mapping[str, float]]
"""Figures of a model by name."""
BEST = "best.safetensors"
CHECKPOINT = "checkpoint.safetensors"
LAYER_NUMBER = re.compile(r"\blayer\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """The settings of a training run.

    learning_rate: the peak, reached after the warm-up.
    warmup: the warm-up as a fraction of the run.
    weight_decay: the decay of matrices; biases and norms do not decay.
    clip_norm: the largest norm of the gradient.
    seed: of torch's generator.
    checkpoint_every: the steps between checkpoints.
    evaluate_at: the points of evaluation as fractions of the run.
    layer_decay: the factor of the learning rate from a layer to the one below.
    """

    learning_rate: float = 2e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    seed: int = 0
    checkpoint_every: int = 500
    evaluate_at: tuple[float, ...] = (0.5, 0.75, 1.0)
    layer_decay: float = 1.0

    def __post_init__(self) -> None:
        """Checks the ranges."""
        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"layer_decay is {self.layer_decay}, expected above 0 and at most 1")


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a run after a step.

    step, steps: the number of the step, and of all steps.
    loss: that of the step.
    seconds: since the start of the call.
    """

    step: int
    steps: int
    loss: float
    seconds: float


def train(
    model: nn.Module,
    batches: Sequence[Batch],
    loss: Callable[[nn.Module, Batch], Tensor],
    config: TrainingConfig,
    folder: Path,
    evaluate: Evaluate,
    select_by: str,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> list[dict[str, float]]:
    """Trains the parameters that require a gradient, and leaves the best evaluated weights in `model`.

    `batches` is the whole run in order, so that its length fixes the schedule. `folder` receives
    `checkpoint.safetensors` (weights, optimizer, generator, evaluations) and `best.safetensors`; the same
    call on the same folder resumes the run. "Best" is the highest `select_by`, on a tie the later evaluation;
    "step" keeps the last weights. ValueError if the folder holds a run with other settings or weights.
    """
    run = _Run(model, len(batches), config, folder)
    due = {max(1, math.ceil(part * len(batches))) for part in config.evaluate_at}
    started = time.monotonic()
    try:
        evaluated = {figures["step"] for figures in run.evaluations}
        if run.step in due - evaluated:  # interrupted between a step and its evaluation
            run.evaluate(evaluate, select_by)
        while run.step < len(batches):
            rate = linear_schedule(run.step + 1, len(batches), config.learning_rate, config.warmup)
            with defer_keyboard_interrupt():
                value = run.train_step(loss, batches[run.step], rate)
            on_progress(Progress(run.step, len(batches), value, time.monotonic() - started))
            if run.step in due:
                run.evaluate(evaluate, select_by)
            if run.step % config.checkpoint_every == 0 or run.step == len(batches):
                run.save()
    except KeyboardInterrupt:
        run.save()
        raise
    run.restore_best()
    model.eval()
    return run.evaluations


def linear_schedule(step: int, steps: int, peak: float, warmup: float = 0.1) -> float:
    """The learning rate of a step: linear from 0 to `peak` over the warm-up, then linear to 0.

    >>> [round(linear_schedule(step, 1000, 3e-5), 7) for step in (0, 50, 100, 550, 1000)]
    [0.0, 1.5e-05, 3e-05, 1.5e-05, 0.0]
    """
    rise = warmup * steps
    if step < rise:
        return peak * step / rise
    return peak * max(0.0, (steps - step) / max(1.0, steps - rise))


def layer_scales(names: Iterable[str], decay: float) -> dict[str, float]:
    """The factor of the learning rate for each weight.

    >>> layer_scales(["embeddings.norm", "encoder.layer.0.w", "encoder.layer.1.w", "head.w"], 0.5)
    {'embeddings.norm': 0.125, 'encoder.layer.0.w': 0.25, 'encoder.layer.1.w': 0.5, 'head.w': 1.0}
    """
    depths = {name: _depth(name) for name in names}
    n_layers = max((depth + 1 for depth in depths.values() if depth is not None), default=0)
    return {name: decay ** (0 if depth is None else n_layers - depth) for name, depth in depths.items()}


def freeze(model: nn.Module, layers: int = 0) -> None:
    """Excludes weights from training: the word embeddings, which models share, and the lowest `layers`.

    Above 0 layers all embeddings are excluded. The distance biases of an MPNet are excluded as well, because
    `packed_training` gives them no gradient.
    """
    for name, parameter in model.named_parameters():
        depth = _depth(name)
        is_low = layers > 0 and depth is not None and depth < layers
        is_fixed = name.endswith(("word_embeddings.weight", "relative_attention_bias.weight"))
        parameter.requires_grad = not (is_fixed or is_low)


def own_memory(model: M) -> M:
    """The model with its weights copied from the mapped file; all are trained, without dropout."""
    for parameter in model.parameters():
        parameter.data = parameter.data.clone()
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    model.requires_grad_(True)
    return model


@contextmanager
def defer_keyboard_interrupt() -> Iterator[None]:
    """Handles a Ctrl-C within the block at its end, by default as a KeyboardInterrupt.

    Does nothing outside the main thread, which alone receives signals, and where Ctrl-C is ignored.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if received:
        handler(signal.SIGINT, None)


class _Run:
    """The state of a run, as a checkpoint stores it; resumes from the checkpoint of its folder."""

    evaluations: list[dict[str, float]]

    def __init__(self, model: nn.Module, steps: int, config: TrainingConfig, folder: Path) -> None:
        self.model = model
        self.config = config
        self.folder = folder
        self.step = 0
        self.evaluations = []
        self.trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
        groups = _parameter_groups(self.trainable, config.weight_decay, config.layer_decay)
        self.optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, fused=True)
        self.identity = {
            "config": json.loads(json.dumps(asdict(config))),
            "steps": steps,
            "start": self._digest(),
        }
        folder.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(config.seed)
        if (folder / CHECKPOINT).is_file():
            self._resume(folder / CHECKPOINT)
        model.train()

    def train_step(self, loss: Callable[[nn.Module, Any], Tensor], batch: Any, rate: float) -> float:
        """Changes the weights once and returns the loss; FloatingPointError for a loss that is not finite."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        with autocast(next(self.model.parameters()).device):
            value = loss(self.model, batch)
        value.backward()
        nn.utils.clip_grad_norm_(self.trainable.values(), self.config.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        number = float(value.detach())
        if not math.isfinite(number):
            raise FloatingPointError(f"the loss of step {self.step} is {number}: lower the learning rate")
        return number

    def evaluate(self, measure: Evaluate, select_by: str) -> None:
        """Measures the weights, and writes them if no earlier ones were better."""
        self.model.eval()
        figures = {"step": self.step, **measure(self.model)}
        weights = self._weights()
        self.model.train()
        with defer_keyboard_interrupt():
            if figures[select_by] >= max((e[select_by] for e in self.evaluations), default=-math.inf):
                save_file(weights, self.folder / BEST)
            self.evaluations.append(figures)
            self.save()

    def save(self) -> None:
        """Replaces the checkpoint."""
        tensors = self._weights()
        for name, parameter in self.trainable.items():
            for key, value in self.optimizer.state[parameter].items():
                tensors[f"{name}:{key}"] = value.detach().cpu().contiguous().clone()
        tensors["generator:torch"] = torch.get_rng_state()
        run = {**self.identity, "step": self.step, "evaluations": self.evaluations}
        save_file(tensors, self.folder / "checkpoint.new", metadata={"run": json.dumps(run)})
        (self.folder / "checkpoint.new").replace(self.folder / CHECKPOINT)

    def restore_best(self) -> None:
        """Puts the best evaluated weights into the model."""
        if (self.folder / BEST).is_file():
            self._load(load_file(self.folder / BEST))

    def _resume(self, path: Path) -> None:
        run = _read_run(path)
        if {key: run.get(key) for key in self.identity} != self.identity:
            raise ValueError(
                f"{self.folder} holds a run with other settings: name another folder or remove it"
            )
        tensors = load_file(path)
        self._load(tensors)
        for name, parameter in self.trainable.items():
            prefix = f"{name}:"
            self.optimizer.state[parameter] = {
                key.removeprefix(prefix): value.to(parameter.device)
                for key, value in tensors.items()
                if key.startswith(prefix)
            }
        torch.set_rng_state(tensors["generator:torch"])
        self.step = run["step"]
        self.evaluations = run["evaluations"]

    def _digest(self) -> str:
        """The sha256 of the weights that the run starts from."""
        digest = hashlib.sha256()
        for name, tensor in self._weights().items():
            digest.update(name.encode())
            digest.update(tensor.numpy().data)
        return digest.hexdigest()

    def _weights(self) -> dict[str, Tensor]:
        return {name: p.detach().cpu().contiguous().clone() for name, p in self.trainable.items()}

    @torch.no_grad()
    def _load(self, tensors: Mapping[str, Tensor]) -> None:
        for name, parameter in self.trainable.items():
            parameter.copy_(tensors[name])


def _depth(name: str) -> int | None:
    """The layer of a weight, -1 for embeddings, None for a weight behind the last layer."""
    match = LAYER_NUMBER.search(name)
    if match:
        return int(match[1])
    return -1 if "embeddings." in name else None


def _parameter_groups(
    parameters: Mapping[str, nn.Parameter], weight_decay: float, layer_decay: float
) -> list[dict[str, Any]]:
    """Groups for the optimizer with the `scale` of their rate; vectors (biases, norms) do not decay."""
    scales = layer_scales(parameters, layer_decay)
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in parameters.items():
        decay = weight_decay if parameter.dim() >= 2 else 0.0
        groups.setdefault((scales[name], decay), []).append(parameter)
    return [
        {"params": members, "scale": scale, "weight_decay": decay}
        for (scale, decay), members in sorted(groups.items(), key=lambda group: group[0], reverse=True)
    ]


def _read_run(path: Path) -> dict[str, Any]:
    """The record in the metadata of a checkpoint; ModelRejected for a file that is no checkpoint."""
    try:
        return dict(json.loads(read_metadata(path)["run"]))
    except (ModelRejected, KeyError, TypeError, ValueError) as error:
        raise ModelRejected(f"{path} is no checkpoint of a training run: {error}") from error
