"""Engines for tests of how speed is measured: quick, each odd in one way. They log what they are asked."""

from __future__ import annotations

import json
import os
import sys
import time


class Stub:
    """Finds the passages that hold the last word of the question."""

    name = "stub"
    comparisons = ("stub-build", "stub-search")
    needs = ()

    def prepare(self, corpus, folder):
        self.folder, self.log = folder, folder.parent / "log"
        environment = {key: os.environ[key] for key in os.environ if key.endswith(("THREADS", "PARALLELISM"))}
        cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        record = {
            "pid": os.getpid(),
            "environment": environment,
            "cpus": cpus,
            "modules": sorted(sys.modules),
        }
        (folder / "seen.json").write_text(json.dumps(record))

    def build(self, corpus):
        self.note(f"build {len(corpus.paragraphs)}")
        self.texts = corpus.texts

    def search(self, question, k):
        self.note("search")
        word = question.rstrip("?").split()[-1]
        return [number for number, text in enumerate(self.texts) if word in text][:k]

    def note(self, what):
        with self.log.open("a") as log:
            log.write(f"{self.name} {what}\n")


class Ours(Stub):
    name = "spanwise"


class Wrong(Stub):
    """Fast, and finds nothing that was asked for."""

    name = "wrong"

    def search(self, question, k):
        return [len(self.texts) - 1 - number for number in super().search(question, k)]


class Raises(Stub):
    name = "raises"

    def build(self, corpus):
        raise RuntimeError("no\nroom")


class Dies(Stub):
    """Ends its process, the first two builds aside: it was fine until it was measured."""

    name = "dies"
    builds = 0

    def build(self, corpus):
        self.builds += 1
        super().build(corpus)
        if self.builds == 3:
            print("the last words", file=sys.stderr, flush=True)
            os._exit(3)


class Prints(Stub):
    """Writes to the standard output and reads the standard input, as libraries do."""

    name = "prints"

    def build(self, corpus):
        print("building", input() if sys.stdin.read() else "", flush=True)
        os.write(1, b"{" * 100)
        super().build(corpus)


class Hangs(Stub):
    name = "hangs"

    def build(self, corpus):
        time.sleep(60)


class Absent(Stub):
    name = "absent"
    needs = ("no-such-distribution",)


class OursFails(Raises):
    name = "spanwise"
