"""Remembers what came of single questions, and gives it again while everything it depends on is unchanged.

An answer depends on the last commit, the question, every argument of the call, the models, their calibration
and the code. All of these make the key, as one digest. What is stored refers to passages by their ids, with a
digest over their words: an answer is rebuilt from the passages that the index holds now, and not given unless
they are word for word those it was made from. So the cache holds names and places, neither questions nor text
of documents, and cannot make up a quote.

Several questions at once are computed at once and not remembered: the last digits of a vector depend on the
texts encoded beside it, and a cached answer is the very answer that would be computed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from spanwise.types import Answer, Filter, Passage

from ..index.store import Store
from .cache_file import CacheFile
from .canonical import canonical
from .code_state import code_state
from .generations import Generation, Generations
from .packing import pack, passages_in, unpack

FORMAT = 2  # of what is stored; raise it when the meaning of an answer changes
KIND = "answer"

T = TypeVar("T")

Dependencies = Mapping[str, object]
"""What a result depends on beside the question and the commit, by name; None is what is not known."""


class AnswerCache:
    """Asked before a result is computed, and told afterwards. Without a file it computes everything."""

    def __init__(self, store: Store, generations: Generations, file: CacheFile | None) -> None:
        self._store, self._generations, self._file = store, generations, file

    def results(
        self,
        kind: Any,
        questions: Sequence[str],
        call: Mapping[str, object],
        depends: Callable[[], Dependencies],
        compute: Callable[[Generation], list[T]],
    ) -> tuple[list[T], bool]:
        """One result a question, and whether it was remembered.

        `kind` is the type of a result, `call` holds all arguments that it depends on. A result that depends
        on what is not known cannot be found, but is kept when computing made it known. It is not kept when
        something that it depends on changed meanwhile.
        """
        if self._file is None or len(questions) != 1:
            return self._computed(compute)[0], False
        named = {**call, "question": questions[0]}
        before, commit = depends(), self._store.commit_digest()
        found = self._find(self._file, kind, self._key(commit, named, before), commit)
        if found is not None:
            return [_asked(found, questions[0], call.get("where"))], True
        [result], commit = self._computed(compute)
        after = depends()
        if all(value in (None, after[name]) for name, value in before.items()):
            self._keep(self._file, kind, self._key(commit, named, after), commit, _asked(result))
        return [result], False

    def _computed(self, compute: Callable[[Generation], list[T]]) -> tuple[list[T], str]:
        with self._generations.last() as generation:
            return compute(generation), generation.commit

    def _find(self, file: CacheFile, kind: Any, key: str | None, commit: str) -> Any:
        packed = file.get(KIND, key) if key else None
        found = None
        if packed is not None:
            try:
                stored = json.loads(packed)
                with self._generations.last() as generation:
                    is_same = generation.commit == commit
                    passages = generation.snapshot.passages(stored["passages"]) if is_same else None
                if passages is not None and _words(passages) == stored["words"]:
                    found = unpack(kind, stored["value"], {passage.id: passage for passage in passages})
            except (ValueError, KeyError, TypeError, RecursionError):
                pass  # not written by this program, or not any more what it wrote: it is computed anew
        file.count(KIND, key or "", found is not None)
        return found

    def _keep(self, file: CacheFile, kind: Any, key: str | None, commit: str, result: object) -> None:
        if key is None:
            return
        passages = {passage.id: passage for passage in passages_in(result)}
        packed = json.dumps(
            {"passages": list(passages), "words": _words(passages.values()), "value": pack(result)}
        )
        try:
            comes_back = unpack(kind, json.loads(packed)["value"], passages) == result
        except ValueError:  # a span outside of its passages
            comes_back = False
        if comes_back:
            file.put(KIND, key, packed.encode("ascii"), commit)

    def _key(self, commit: str, call: Mapping[str, object], depends: Dependencies) -> str | None:
        if self._code is None or None in depends.values():
            return None
        parts = [FORMAT, self._code, commit, call, depends]
        return hashlib.sha256(json.dumps(canonical(parts)).encode("ascii")).hexdigest()

    @cached_property
    def _code(self) -> str | None:
        return code_state()


def _asked(result: Any, question: str = "", where: Any = None) -> Any:
    """The result with this question and filter in it, if it holds any: what is kept holds none."""
    if not isinstance(result, Answer):
        return result
    scope = result.scope and replace(result.scope, where=where or Filter())
    return replace(result, question=question, scope=scope)


def _words(passages: Iterable[Passage]) -> str:
    """A digest over everything that is known of these passages."""
    return hashlib.sha256(repr(list(passages)).encode("utf-8", "surrogatepass")).hexdigest()
