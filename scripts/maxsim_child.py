"""The process of one program of `compare_maxsim.py`, in the Python that has it."""

from __future__ import annotations

import gc
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STATUS = Path("/proc/self/status")
BETWEEN_S = 0.01
KIB_PER_MIB = 1024


class Memory:
    """Watches the memory of this process that is no mapped file."""

    def __init__(self) -> None:
        self.peak = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.peak = max(self.peak, anonymous_mib())
            time.sleep(BETWEEN_S)


def anonymous_mib() -> float:
    """Resident memory of this process without mapped files, in MiB (Linux)."""
    lines = dict(line.split(":", 1) for line in STATUS.read_text(encoding="ascii").splitlines())
    return sum(int(lines[name].split()[0]) for name in ("RssAnon", "RssShmem")) / KIB_PER_MIB


class Work:
    """What the process can be asked for."""

    def __init__(self, name: str, folder: Path, n: int | None, scratch: Path) -> None:
        from maxsim_engines import ENGINES
        from token_corpus import TokenCorpus

        self.engine, self.corpus, self.scratch = ENGINES[name](), TokenCorpus(folder, n), scratch
        self.memory = Memory()

    def do(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        match request:
            case {"do": "build"}:
                began = time.perf_counter()
                built = self.engine.build(self.corpus, self.scratch)
                seconds = built.seconds or time.perf_counter() - began
                return {"seconds": seconds, "bytes_a_token": built.bytes_a_token}
            case {"do": "search", "questions": questions, "k": k}:
                return self.search(questions, k)
            case {"do": "memory"}:
                found = {"now": anonymous_mib(), "peak": self.memory.peak}
                self.memory.peak = 0.0
                return found
        raise ValueError(f"a request that is not known: {request}")

    def search(self, questions: list[int], k: int) -> dict[str, Any]:
        """The milliseconds of each question, asked one by one, and what was found."""
        gc.collect()
        ms, rows = [], []
        for question in questions:
            began = time.perf_counter()
            found = self.engine.search(self.corpus.queries[question], k)
            ms.append((time.perf_counter() - began) * 1000)
            rows.append(found)
        return {"ms": ms, "rows": rows}


def main() -> None:
    """Answers requests until the parent closes the pipe."""
    sys.path.insert(0, str(ROOT))
    from spanwise.pipelines.child_pipes import end_with_parent, own_pipes
    from spanwise.pipelines.evaluation.speed.pinning import pin
    from spanwise.pipelines.parsing.frames import receive, send

    requests, answers = own_pipes()
    end_with_parent(requests)
    began = receive(requests, 0)
    if began is None:
        return
    start = began[0]
    pin(start["cpus"])
    work = Work(start["name"], Path(start["folder"]), start["n"], Path(start["scratch"]))
    while (request := receive(requests, 0)) is not None:
        try:
            send(answers, work.do(request[0]))
        except Exception as error:  # whatever another's library raises is that program's result
            send(answers, {"failed": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
