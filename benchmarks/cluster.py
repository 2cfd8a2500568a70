"""Shards beside one index. Needs `pip install -e '.[ray]'`.

python -m benchmarks.cluster --passages 1000000 --retrievers bm25,dense,hybrid

Synthetic passages and vectors: time to build, bytes, memory, ms per search, of one index, of four shards by
threads, and of four on Ray.
"""

import argparse
import json
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import spanwise
from spanwise import ClusterOptions
from spanwise.index.analysis import Analyzer
from spanwise.index.store import Store
from spanwise.models import encoder, model_files
from spanwise.pipelines.cluster.indexing import split_index
from spanwise.pipelines.evaluation.corpus import put_document
from spanwise.types import Document, Passage

K = 10
PASSAGES_PER_DOCUMENT = 100
Matrix = NDArray[np.float32]
Record = dict[str, Any]


class RandomEncoder:
    """An encoder whose vectors are drawn from a seed."""

    digest = "made up"
    width = 384
    device = "cpu"

    def vectors(self, n: int, seed: int) -> Matrix:
        """(n, 384) unit vectors."""
        rows = np.random.default_rng(seed).standard_normal((n, self.width), np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_questions(self, texts: Sequence[str]) -> Matrix:
        """(n, 384) unit vectors."""
        return np.concatenate([self.vectors(1, len(text)) for text in texts])


def size(options: argparse.Namespace, root: Path) -> Record:
    """Time, bytes and memory of synthetic passages."""
    use_random_encoder()
    draw = np.random.default_rng(7)
    words = np.array([f"w{number:x}" for number in range(200_000)])
    chances = 1 / np.arange(10, len(words) + 10)
    chances /= chances.sum()
    began = time.perf_counter()
    shape = (PASSAGES_PER_DOCUMENT, options.words)
    write_index(root / "one", options.passages, lambda: draw.choice(words, shape, p=chances))
    record: Record = {"build_s": round(time.perf_counter() - began)}
    shutil.copytree(root / "one", root / "four")
    began = time.perf_counter()
    split_index(root / "four", 4)
    record["split_s"] = round(time.perf_counter() - began)
    n_bytes = sum(path.stat().st_size for path in (root / "one").rglob("*.*"))
    record["bytes_a_passage"] = round(n_bytes / options.passages)
    rare = chances[50:] / chances[50:].sum()
    questions = [" ".join(row) for row in draw.choice(words[50:], (options.n, 5), p=rare)]
    for name, cluster in (("one", None), ("threads", None), ("ray", ClusterOptions("local"))):
        target = root / ("one" if name == "one" else "four")
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            record |= pool.submit(
                search_figures, name, target, cluster, questions, options.retrievers
            ).result()
    return record


def write_index(index: Path, n_passages: int, draw_words: Callable[[], Any]) -> None:
    """Writes an index of documents of PASSAGES_PER_DOCUMENT passages each, with random vectors."""
    with spanwise.open(index.parent, index, model="base", colbert="none", cache=False) as library:
        analyzer = Analyzer.from_settings(dict(library.store.settings))
    encoder = RandomEncoder()
    with Store.open(index) as store, store.writer() as writer:
        for number in range(n_passages // PASSAGES_PER_DOCUMENT):
            texts = [" ".join(row) for row in draw_words()]
            name = f"d{number:06}.txt"
            document = Document(name, "text/plain", f"{number:064x}", name, "\n\n".join(texts))
            ends = np.cumsum([len(text) + 2 for text in texts]) - 2
            passages = [
                Passage(0, name, end - len(text), end, text)
                for text, end in zip(texts, ends.tolist(), strict=True)
            ]
            ids = put_document(writer, analyzer, document, passages)
            writer.put_vectors(encoder.digest, ids, encoder.vectors(len(ids), number))
            if number % 200 == 199:
                writer.commit()
        writer.commit()


def use_random_encoder() -> None:
    """Replace the encoder of this process."""
    encoder.load_encoder = lambda name: RandomEncoder()  # type: ignore[assignment]
    model_files.model_digest = lambda name, kind="encoder": RandomEncoder.digest  # type: ignore[assignment]


def search_figures(
    name: str, index: Path, cluster: ClusterOptions | None, questions: list[str], retrievers: list[str]
) -> Record:
    """The times of searches, and the memory of this process, which does nothing else."""
    use_random_encoder()
    record: Record = {}
    with spanwise.open_index(index, cache=False, cluster=cluster) as library:
        for retriever in retrievers:
            times = []
            for question in [*questions[:3], *questions]:
                began = time.perf_counter()
                library.search(question, retriever=retriever, k=K, exact=True)
                times.append((time.perf_counter() - began) * 1000)
            times = sorted(times[3:])
            p99 = times[-1 - len(questions) // 100]
            record[f"{name}_{retriever}_p50_p99_ms"] = (round(median(times), 1), round(p99, 1))
        record[f"{name}_MiB"] = resident_mib()
    return record


def resident_mib() -> int:
    """The memory of this process without mapped files, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("RssAnon"))


def main() -> None:
    """Print a JSON record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--retrievers", type=lambda names: names.split(","), default=["bm25"])
    parser.add_argument("--n", type=int, default=300, help="questions")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=40, help="of a synthetic passage")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        print(json.dumps(size(options, Path(folder))))


if __name__ == "__main__":
    main()
