"""Speed on this machine: texts that are encoded, and MaxSim, beside sentence-transformers and plain torch."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any
from zipfile import ZipFile

import torch
from safetensors.torch import save_file
from torch import Tensor

from spanwise.models.bert import bert_backbone
from spanwise.models.encoder import TextEncoder
from spanwise.models.model_files import WEIGHTS
from spanwise.models.precision import compute_dtype, pick_device
from spanwise.models.quantized import read_quantized
from spanwise.models.tokenizer import load_tokenizer
from spanwise.retrieval.training.distillation import TextVectors, max_sim

from . import files
from .steps import say

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "corpora" / "sample" / "questions.json"
QUESTION_TOKENS, PASSAGE_TOKENS, WIDTH = 16, 64, 96
CHUNK = 20_000  # passages of one product
ROUNDS = 3


def gpu_tests() -> dict[str, Any]:
    """The outcome of the tests marked `gpu`, from the files that hold some."""
    if find_spec("pytest") is None:
        return {"tests": "pytest is not installed"}
    paths = [
        path for path in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.gpu" in path.read_text("utf-8")
    ]
    options = ["-q", "-m", "gpu", "-p", "no:cacheprovider"]
    options += ["-W", "default"]  # another torch warns of other things
    command = [sys.executable, "-m", "pytest", *options, *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()[-20:] or done.stderr.strip().splitlines()[-20:]
    return {"tests": "passed" if done.returncode == 0 else lines}


def speeds(work: Path, n_texts: int, n_passages: int, device: str | None = None) -> dict[str, Any]:
    """Texts per second of each encoder, and milliseconds per question of each MaxSim."""
    on = pick_device(device)
    name = torch.cuda.get_device_name(on) if on.type == "cuda" else "cpu"
    return {"device": name, **_encoders(work, n_texts, on), **_maxsim(n_passages, on)}


def _encoders(work: Path, n_texts: int, on: torch.device) -> dict[str, Any]:
    checkpoint = read_quantized(files.there(work / files.STUDENT_BASE, "receive"))
    folder = work / "encoder"
    with ZipFile(files.there(work / files.ENCODER, "receive")) as archive:
        archive.extractall(folder)
    backbone = bert_backbone(checkpoint)
    if backbone is None:
        raise ValueError("the small base is no BERT. Run prepare again")
    texts = made_texts(n_texts)
    ours = TextEncoder(backbone.to(on), load_tokenizer(folder), "measured")
    found = {"encode_texts_per_s": {"spanwise": n_texts / _seconds(lambda: ours.encode_passages(texts), on)}}
    if find_spec("sentence_transformers") is not None:
        from sentence_transformers import SentenceTransformer

        save_file(dict(checkpoint.weights), folder / WEIGHTS, metadata={"format": "pt"})
        model = SentenceTransformer(str(folder), device=str(on), local_files_only=True)
        model.to(compute_dtype(on))
        model.max_seq_length = ours.max_length

        def theirs() -> object:
            return model.encode(texts, batch_size=256, show_progress_bar=False)

        found["encode_texts_per_s"]["sentence-transformers"] = n_texts / _seconds(theirs, on)
    return found


def _maxsim(n_passages: int, on: torch.device) -> dict[str, Any]:
    """One question against all passages, whose random vectors are on the device."""
    torch.manual_seed(0)
    dtype = compute_dtype(on)

    def vectors(*shape: int) -> Tensor:
        return torch.nn.functional.normalize(torch.randn(*shape, WIDTH, device=on), dim=-1).to(dtype)

    chunks = [vectors(min(CHUNK, n_passages - at), PASSAGE_TOKENS) for at in range(0, n_passages, CHUNK)]
    question = vectors(1, QUESTION_TOKENS)
    asked = TextVectors(question, torch.ones(1, QUESTION_TOKENS, dtype=torch.bool, device=on), question[:, 0])

    def ours() -> Tensor:
        return torch.cat([max_sim(asked, _encoded(chunk))[0] for chunk in chunks]).topk(10).indices

    def plain() -> Tensor:
        scores = [(chunk @ question[0].T).amax(dim=1).sum(dim=1) for chunk in chunks]
        return torch.cat(scores).topk(10).indices

    return {
        "maxsim_passages": n_passages,
        "maxsim_ms": {
            "spanwise (training)": 1000 * _seconds(ours, on),
            "torch": 1000 * _seconds(plain, on),
        },
    }


def _encoded(chunk: Tensor) -> TextVectors:
    return TextVectors(chunk, chunk.new_ones(chunk.shape[:2], dtype=torch.bool), chunk[:, 0])


def made_texts(n: int) -> list[str]:
    """n texts of sentences drawn from the sample corpus, of 1 to 12 sentences each."""
    articles = json.loads(SAMPLE.read_text(encoding="utf-8"))["data"]
    passages = [paragraph["context"] for article in articles for paragraph in article["paragraphs"]]
    sentences = [one for passage in passages for one in passage.split(". ")]
    draw = random.Random(0)
    return [". ".join(draw.choices(sentences, k=draw.randint(1, 12))) for _ in range(n)]


def _seconds(run: Callable[[], object], on: torch.device) -> float:
    """The median of ROUNDS runs, after one that prepares."""
    found = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        run()
        if on.type == "cuda":
            torch.cuda.synchronize(on)
        found.append(time.perf_counter() - began)
    return median(found[1:])


def measure(work: Path, out: Path, n_texts: int, n_passages: int, device: str | None = None) -> None:
    """Prints all figures as JSON and writes them to `out`."""
    began = time.monotonic()
    figures = {**speeds(work, n_texts, n_passages, device), **gpu_tests()}
    text = json.dumps(figures, indent=1)
    (out / "measured.json").write_text(text + "\n", encoding="utf-8")
    say(text)
    say(f"measured in {time.monotonic() - began:.1f} s")
