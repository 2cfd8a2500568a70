"""The process of one engine: it prepares, builds and searches as it is told, and says how long it took."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ...child_pipes import end_with_parent, own_pipes
from ...parsing.frames import receive, send
from .corpus import Corpus
from .engine import Engine
from .pinning import pin


def main(module: str, class_name: str, cpus: Sequence[int] | None, corpus: str, folder: str) -> None:
    """Answers requests, each {"do": …}, until the parent closes the pipe or something fails."""
    requests, answers = own_pipes()
    end_with_parent(requests)
    pin(cpus)
    try:
        engine: Engine = getattr(import_module(module), class_name)()
        work = Work(engine, Corpus.load(Path(corpus)))
        engine.prepare(work.corpus, Path(folder))
        send(answers, {"ready": True})
        while (request := receive(requests, 0)) is not None:
            send(answers, work.do(request[0]))
    except Exception as error:  # whatever another's library raises costs that engine only
        send(answers, {"failed": f"{type(error).__name__}: {error}"})


class Work:
    """What the process of an engine can be asked for."""

    def __init__(self, engine: Engine, corpus: Corpus) -> None:
        self.engine, self.corpus = engine, corpus

    def do(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request; `ValueError` for one that is not known."""
        match request:
            case {"do": "build", "paragraphs": paragraphs}:
                corpus = self.corpus if paragraphs is None else self.corpus.beginning(paragraphs)
                return {"seconds": self.build(corpus)}
            case {"do": "search", "k": k, "least_s": least_s}:
                return {"seconds": self.search(k, least_s)}
            case {"do": "find", "k": k}:
                return {"found": [list(map(int, self.engine.search(q, k))) for q in self.corpus.questions]}
        raise ValueError(f"a request that is not known: {request}")

    def search(self, k: int, least_s: float) -> float:
        """Seconds a question, asked one by one; over all of them as often as it takes to fill `least_s`."""
        gc.collect()  # rubbish from before is not this round's
        passes, began = 0, time.perf_counter()
        while passes == 0 or time.perf_counter() - began < least_s:
            for question in self.corpus.questions:
                self.engine.search(question, k)
            passes += 1
        return (time.perf_counter() - began) / passes / len(self.corpus.questions)

    def build(self, corpus: Corpus) -> float:
        """Seconds to make a corpus searchable."""
        gc.collect()
        began = time.perf_counter()
        self.engine.build(corpus)
        return time.perf_counter() - began
