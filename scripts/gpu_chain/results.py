"""The results of a run: readers in parts, the readers joined from them, and speeds of the GPU machine.

The student is exported as differences from the small base, the teacher as differences from the large base,
once in 4 bits and once in 8. Unchanged weights are left out, since the output of `prepare` has them.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import timeit
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from zipfile import ZipFile

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from spanwise.errors import DataMalformed
from spanwise.models.bert import bert_backbone, bert_span_model, span_model_names
from spanwise.models.encoder import TextEncoder
from spanwise.models.load import save_span_model
from spanwise.models.model_files import WEIGHTS, file_sha256
from spanwise.models.numpy_bert import PREFIX, BertConfig
from spanwise.models.precision import compute_dtype, pick_device
from spanwise.models.tokenizer import load_tokenizer
from spanwise.models.weights import Bits, Checkpoint, read_quantized, save_delta, save_quantized
from spanwise.reader.load import DELTA, SETTINGS

from . import data
from .steps import STUDENT, TEACHER, say, student_base, teacher_start

ROOT = Path(__file__).resolve().parents[2]
PART_BYTES = 15_500_000  # a file that comes back may have 16 MiB
CALL_PARTS = 7  # beside the manifest: 8 files of 64 MiB together
CALL_BYTES = 62_000_000
TEACHERS: Mapping[str, Bits] = {"teacher-q4.safetensors": 4, "teacher-q8.safetensors": 8}
QUESTION_TOKENS = 16
PASSAGE_TOKENS = 64
WIDTH = 96
CHUNK = 20_000  # passages of one product
ROUNDS = 3


def export(work: Path, out: Path, call: int) -> None:
    """Writes the parts of a call to `out`; the first call is 1."""
    whole = work / "results"
    parts = work / "results-parts"
    for folder in (whole, parts):
        folder.mkdir(exist_ok=True)
    if not (whole / DELTA).is_file():
        tuned = load_file(data.existing(work / STUDENT, "student"))
        save_delta(whole / DELTA, tuned, student_base(work).weights)
    for name, bits in TEACHERS.items():
        if not (whole / name).is_file():
            _write_teacher(work, whole / name, bits)
    cuts = {name: data.cut(whole / name, parts, PART_BYTES) for name in (DELTA, *TEACHERS)}
    calls = data.loads_of((part for file in cuts.values() for part in file.parts), CALL_PARTS, CALL_BYTES)
    if not 1 <= call <= len(calls):
        raise ValueError(f"call is {call}, expected 1 to {len(calls)}")
    data.write_manifest(out, cuts)
    for part in calls[call - 1]:
        shutil.copyfile(parts / part.name, out / part.name)
    sizes = ", ".join(f"{name} {file.size:,} bytes" for name, file in cuts.items())
    say(f"call {call} of {len(calls)}: {sizes}")


def join_results(folders: Sequence[Path], prepared: Path, base: Path, out: Path) -> None:
    """Writes the readers whose parts are all in the folders to folders in `out`.

    `prepared` is what `prepare` wrote, `base` the large base that it read. DataMalformed for a damaged part,
    and when no reader is complete.
    """
    cuts: dict[str, data.Cut] = {}
    for folder in folders:
        for name, file in data.read_manifest(folder).items():
            if cuts.setdefault(name, file) != file:
                raise DataMalformed(
                    f"{folder} holds the parts of another export. Join the calls of one export"
                )
    complete = {}
    for name, file in cuts.items():
        left = data.missing(file, folders)
        if left:
            say(f"{name} waits for {', '.join(left)}")
        else:
            complete[name] = file
    if not complete:
        raise DataMalformed(
            f"no reader is complete in {', '.join(map(str, folders))}: export the other calls"
        )
    for name, file in complete.items():
        target = out / Path(name).stem
        target.mkdir(parents=True, exist_ok=True)
        data.join(file, folders, target / name)
        if name != DELTA:
            _restore_teacher(target / name, prepared, base)
        data.write_json(target / SETTINGS, {"answers_null": True})
        say(f"{target}: use it with --reader {target}")


def _write_teacher(work: Path, path: Path, bits: Bits) -> None:
    """Writes the differences of the encoder, and the heads as they are."""
    start = teacher_start(work).state_dict()
    tuned = load_file(data.existing(work / TEACHER, "teacher"))
    changed = {
        name: tensor - start[name] if name.startswith(PREFIX) else tensor
        for name, tensor in tuned.items()
        if not name.startswith(PREFIX) or not torch.equal(tensor, start[name])
    }
    save_quantized(path, Checkpoint({"base": file_sha256(work / data.TEACHER_BASE)}, changed), bits)


def _restore_teacher(path: Path, prepared: Path, base: Path) -> None:
    """Turns the file of differences into the folder of a reader."""
    stored = read_quantized(path)
    start = data.existing(prepared / data.WHOLE / data.TEACHER_BASE, "prepare")
    if file_sha256(start) != stored.config["base"]:
        raise DataMalformed(f"{path} was made from another base than {start}. Name the folder of its prepare")
    checkpoint = read_quantized(start)
    config = BertConfig.read(checkpoint.config)
    if config is None:
        raise DataMalformed(f"{start} has no settings of a BERT or an MPNet. Run prepare again")
    names = span_model_names(config, checkpoint.weights)
    weights = {ours: checkpoint.weights[theirs] for theirs, ours in names.items()}
    for name, tensor in stored.weights.items():
        weights[name] = weights[name] + tensor if name.startswith(PREFIX) else tensor
    model = bert_span_model(Checkpoint(checkpoint.config, weights))
    if model is None:
        raise DataMalformed(f"{path} does not fit {start}. Export it again")
    save_span_model(path.parent, model, base)
    for name in data.TOKENIZER:
        if (base / name).is_file():
            shutil.copyfile(base / name, path.parent / name)
    path.unlink()


# Speed on the GPU machine


def measure(work: Path, out: Path, n_texts: int, n_passages: int, device_name: str | None = None) -> None:
    """Prints speeds and the outcome of the GPU tests as JSON, and writes them to `out`."""
    device = pick_device(device_name)
    figures = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "encode_texts_per_s": _encoders(work, n_texts, device),
        "maxsim_passages": n_passages,
        "maxsim_ms": _maxsim(n_passages, device),
        "tests": _gpu_tests(),
    }
    data.write_json(out / "measured.json", figures)
    say(json.dumps(figures, indent=1))


def _gpu_tests() -> str | list[str]:
    """The outcome of the tests marked `gpu`, from the files that hold some."""
    if find_spec("pytest") is None:
        return "pytest is not installed"
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    paths = [str(path) for path in files if "mark.gpu" in path.read_text("utf-8")]
    # Warnings are no errors here: another version of torch has others.
    options = ["-q", "-m", "gpu", "-p", "no:cacheprovider", "-W", "default"]
    command = [sys.executable, "-m", "pytest", *options, *paths]
    tests = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = (tests.stdout.strip() or tests.stderr.strip()).splitlines()
    return lines[-20:] if tests.returncode else "passed"


def _encoders(work: Path, n_texts: int, device: torch.device) -> dict[str, float]:
    """Texts per second of each encoder."""
    checkpoint = read_quantized(data.existing(work / data.STUDENT_BASE, "receive"))
    folder = work / "encoder"
    with ZipFile(data.existing(work / data.ENCODER, "receive")) as archive:
        archive.extractall(folder)
    backbone = bert_backbone(checkpoint)
    if backbone is None:
        raise ValueError("the small base is no BERT. Run prepare again")
    texts = sample_texts(n_texts)
    ours = TextEncoder(backbone.to(device), load_tokenizer(folder), "measured")
    rates = {"spanwise": n_texts / _seconds(lambda: ours.encode_passages(texts), device)}
    if find_spec("sentence_transformers") is not None:
        from sentence_transformers import SentenceTransformer

        save_file(dict(checkpoint.weights), folder / WEIGHTS, metadata={"format": "pt"})
        model = SentenceTransformer(str(folder), device=str(device), local_files_only=True)
        model.to(compute_dtype(device))
        model.max_seq_length = ours.max_length
        seconds = _seconds(lambda: model.encode(texts, batch_size=256, show_progress_bar=False), device)
        rates["sentence-transformers"] = n_texts / seconds
    return rates


def _maxsim(n_passages: int, device: torch.device) -> dict[str, float]:
    """Milliseconds per question against all passages, whose random vectors are on the device."""
    # The other steps run without the packages of retrieval.
    from spanwise.retrieval.training.distillation import Encoded, max_sim

    torch.manual_seed(0)
    dtype = compute_dtype(device)

    def vectors(*shape: int) -> Tensor:
        return torch.nn.functional.normalize(torch.randn(*shape, WIDTH, device=device), dim=-1).to(dtype)

    def encoded(tokens: Tensor) -> Encoded:
        return Encoded(tokens, tokens.new_ones(tokens.shape[:2], dtype=torch.bool), tokens[:, 0])

    chunks = [vectors(min(CHUNK, n_passages - i), PASSAGE_TOKENS) for i in range(0, n_passages, CHUNK)]
    question = vectors(1, QUESTION_TOKENS)

    def ours() -> Tensor:
        return torch.cat([max_sim(encoded(question), encoded(chunk))[0] for chunk in chunks]).topk(10).indices

    def plain() -> Tensor:
        scores = [(chunk @ question[0].T).amax(dim=1).sum(dim=1) for chunk in chunks]
        return torch.cat(scores).topk(10).indices

    return {"spanwise (training)": 1000 * _seconds(ours, device), "torch": 1000 * _seconds(plain, device)}


def sample_texts(n: int) -> list[str]:
    """n texts of 1 to 12 sentences each, drawn from the sample corpus."""
    questions = json.loads((ROOT / "corpora" / "sample" / "questions.json").read_text(encoding="utf-8"))
    passages = [paragraph["context"] for article in questions["data"] for paragraph in article["paragraphs"]]
    sentences = [sentence for passage in passages for sentence in passage.split(". ")]
    draw = random.Random(0)
    return [". ".join(draw.choices(sentences, k=draw.randint(1, 12))) for _ in range(n)]


def _seconds(run: Callable[[], object], device: torch.device) -> float:
    """The median of ROUNDS runs, after one that prepares."""

    def complete() -> None:
        run()
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    return median(timeit.repeat(complete, number=1, repeat=ROUNDS + 1)[1:])
