"""The token vectors that one writer staged for the next commit, compressed, and the codebooks they go by.

A codebook is trained once, by whoever encodes first. When the collection has outgrown it, it is extended by
centroids for all, when new vectors lie far from its centroids, by a few for them. Old codes stay valid, since
the old centroids keep their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..catalog_writer import CatalogWriter
from ..gate import check_token_vectors
from ..segment import Segment, open_segment
from ..segment_writer import Columns
from ..staging import Staging
from .codebook import Codebook
from .kmeans import n_centroids
from .stored_codebook import KIND as CODEBOOK
from .stored_codebook import extends, is_equal, read_codebook
from .token_codes import TokenCodes
from .tokens import KIND, TokenSegment, spans_of, sums
from .tokens_merge import merge_tokens

_SAMPLE = 131_072  # vectors of a collection that new centroids are made for
_DRIFT_SAMPLE = 4096  # vectors of a batch that tell whether it drifts, and get centroids when it does
_MOST_CENTROIDS = 2  # times as many as a fresh codebook would have: drift adds no more
_NOBODY = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class StagedTokens:
    """The tokens of a batch of passages in memory; see the columns of a segment."""

    passage_ids: NDArray[np.int64]
    ends: NDArray[np.int64]
    codes: TokenCodes
    sums: NDArray[np.uint32]
    covered: NDArray[np.int32]

    def check_rows(self, rows: NDArray[np.int64]) -> None:
        """Nothing: they have not left the memory since their sums were made."""

    def release(self) -> None:
        """Nothing: they are not on the disk."""


class TokensBuilder:
    """Collects the compressed tokens of one model in memory and makes the columns of one segment of them."""

    def __init__(self) -> None:
        self._batches: list[StagedTokens] = []

    @property
    def n_tokens(self) -> int:
        """How many tokens are held."""
        return sum(len(batch.codes) for batch in self._batches)

    @property
    def n_bytes(self) -> int:
        """The size of the codes held."""
        return sum(batch.codes.nbytes for batch in self._batches)

    def add(
        self,
        passage_ids: NDArray[np.int64],
        codes: TokenCodes,
        lengths: NDArray[np.int64],
        covered: NDArray[np.int32],
    ) -> None:
        """Keep the codes of these passages, which have `lengths` tokens each."""
        ends = np.cumsum(lengths)
        found = sums(codes, ends - lengths, ends)
        self._batches.append(StagedTokens(passage_ids.copy(), ends, codes, found, covered.copy()))

    def take_over(
        self, passage_ids: NDArray[np.int64], segment: TokenSegment, rows: NDArray[np.int64]
    ) -> None:
        """Keep for these passages a copy of the tokens of others, compared with their sums."""
        starts, ends = spans_of(segment.ends, rows)
        self.add(passage_ids, segment.read(rows), ends - starts, segment.covered[rows])

    def holds(self, passage_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the passages have tokens here."""
        return np.isin(
            passage_ids, np.concatenate([_NOBODY, *(batch.passage_ids for batch in self._batches)])
        )

    def columns(self) -> Columns:
        """The columns of the segment, passages in the order of their ids."""
        return merge_tokens(self._batches, _NOBODY)


class TokenStaging(Staging[TokensBuilder, TokenSegment]):
    """Part of a `Writer`."""

    kind: ClassVar[str] = KIND

    def __init__(self, segments: Path, catalog: CatalogWriter) -> None:
        super().__init__(segments, catalog)
        self._codebooks: dict[str, Codebook] = {}  # as they are now, written or not
        self._changed: set[str] = set()

    def codebook(self, model: str) -> Codebook | None:
        """The codebook by which tokens of a model are encoded now; None when there is none."""
        for entry in self._catalog.segments() if model not in self._codebooks else ():
            if (entry.kind, entry.model) == (CODEBOOK, model):
                self._codebooks[model] = read_codebook(open_segment(self._folder / entry.id))
        return self._codebooks.get(model)

    def is_news(self, model: str, codebook: Codebook) -> bool:
        """False for the codebook that is there; `ValueError` for one that stored codes cannot be read by."""
        known = self.codebook(model)
        if known is None:
            return True
        if self._n_tokens(model) and not extends(codebook, known):
            raise ValueError(f"model {model} has tokens of another codebook: drop them first")
        return not is_equal(codebook, known)

    def put_codebook(self, model: str, codebook: Codebook) -> None:
        """Stage a codebook."""
        self._codebooks[model] = codebook
        self._changed.add(model)

    def changed_codebooks(self) -> Iterator[tuple[str, Columns]]:
        """The codebooks that are not written yet; afterwards all count as written."""
        changed, self._changed = self._changed, set()
        for model in sorted(changed):
            yield model, self._codebooks[model].columns()

    def check(
        self,
        model: str,
        vectors: NDArray[np.float32],
        lengths: Sequence[int] | NDArray[np.integer],
        passage_ids: Sequence[int],
    ) -> NDArray[np.int64]:
        """The lengths; `VectorRejected` unless these are the unit vectors of the passages, as wide as the
        codebook, `ValueError` when there is no codebook.
        """
        codebook = self.codebook(model)
        if codebook is None:
            raise ValueError(f"model {model} has no codebook: put one before its tokens")
        return check_token_vectors(vectors, lengths, codebook.width, passage_ids)

    def put(
        self,
        model: str,
        ids: NDArray[np.int64],
        vectors: NDArray[np.float32],
        lengths: NDArray[np.int64],
        covered: NDArray[np.int32],
        live: NDArray[np.bool_],
    ) -> int:
        """Stage the tokens of the `live` passages that have none; how many those were."""
        lacking = live & self._lacking(model, ids)
        if not lacking.all():
            vectors = vectors[np.repeat(lacking, lengths)]
            ids, lengths, covered = ids[lacking], lengths[lacking], covered[lacking]
        if len(ids):
            codes = self._fitting_codebook(model, vectors).encode(vectors)
            self._builder(model).add(ids, codes, lengths, covered)
        return len(ids)

    def forget(self, model: str) -> None:
        """Stage nothing of a model any more; what was stored has been dropped."""
        self._staged.pop(model, None)
        self._codebooks.pop(model, None)
        self._changed.discard(model)
        self.refresh()

    def _fitting_codebook(self, model: str, vectors: NDArray[np.float32]) -> Codebook:
        """The codebook of a model, extended if the collection outgrew it or these vectors lie far from it.

        What a collection of this size would be built with bounds both, so that neither goes on for ever.
        """
        codebook, sample = self._codebooks[model], _some(vectors, _DRIFT_SAMPLE)
        n_tokens = self._n_tokens(model) + len(vectors)
        n_known, n_fresh = len(codebook.centroids), n_centroids(n_tokens, n_tokens)
        if codebook.wants_more(n_tokens) and n_known < n_fresh:
            codebook = codebook.extended(self._sample(model, codebook, vectors), n_tokens)
        elif n_known < _MOST_CENTROIDS * n_fresh and codebook.is_drifting(sample):
            codebook = codebook.extended(sample, codebook.n_tokens)
        if len(codebook.centroids) > n_known:
            self.put_codebook(model, codebook)
        return codebook

    def _sample(self, model: str, codebook: Codebook, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """At most as many vectors as a growing codebook is trained on: these, and stored ones as decoded.

        The stored ones matter when a collection grows in small steps, none of which has vectors enough.
        """
        stored = self._stored().get(model, [])
        step = max(1, -(-sum(len(segment.codes) for segment in stored) // (_SAMPLE // 2)))
        parts = [segment.read(np.arange(0, len(segment.passage_ids), step)) for segment in stored]
        return np.concatenate([_some(vectors, _SAMPLE // 2), *map(codebook.decode, parts)])

    def _n_tokens(self, model: str) -> int:
        """How many tokens are stored and staged, those of deleted passages included."""
        stored = self._stored().get(model, [])
        return self._builder(model).n_tokens + sum(len(each.codes) for each in stored)

    def _made(self) -> TokensBuilder:
        return TokensBuilder()

    def _open(self, segment: Segment) -> TokenSegment:
        return TokenSegment(segment)


def _some(vectors: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    """At most so many of the vectors, spread evenly."""
    return vectors[:: -(-len(vectors) // most)]
