"""Token vectors of passages: pending ones of a writer, the codebooks that encode them, and their checks.

A codebook is trained once, by the first writer of a model, and extended when the collection outgrows it. Old
codes stay valid, because old centroids keep their numbers.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from spanwise.errors import IndexCorrupt

from ..catalog import CatalogWriter
from ..passage_rows import PendingRows, RowsSegment
from ..protocol import Counts, Floats, Ids, Mask
from ..segment import CODEBOOK, TOKENS, Columns, Segment, open_segment
from ..top_k import check_token_vectors
from .codebook import Codebook, n_centroids

_GROWTH = 4  # a codebook is extended at this multiple of the tokens it was trained for
_HALF = 65_536  # of the vectors of a collection that new centroids are trained on


class PendingTokens:
    """The tokens that one writer collects for the next commit, and the codebooks, written or not."""

    def __init__(self, segments: Path, catalog: CatalogWriter) -> None:
        self.rows = PendingRows(TOKENS, segments, catalog)
        self._codebooks: dict[str, Codebook] = {}
        self._changed: set[str] = set()

    def codebook(self, model: str) -> Codebook | None:
        """The current codebook of a model; None when there is none."""
        for entry in self.rows.catalog.segments() if model not in self._codebooks else ():
            if (entry.kind, entry.model) == (CODEBOOK, model):
                self._codebooks[model] = Codebook.from_segment(open_segment(self.rows.folder / entry.id))
        return self._codebooks.get(model)

    def put_codebook(self, model: str, codebook: Codebook) -> None:
        """Replace the codebook of a model with the next commit."""
        self._codebooks[model] = codebook
        self._changed.add(model)

    def changed_codebooks(self) -> Iterator[tuple[str, Columns]]:
        """The codebooks that are not written yet; afterwards all count as written."""
        changed = sorted(self._changed)
        self._changed.clear()
        for model in changed:
            yield model, self._codebooks[model].columns()

    def check(
        self,
        model: str,
        vectors: Floats,
        lengths: Sequence[int] | Counts,
        passage_ids: Sequence[int],
    ) -> Ids:
        """The lengths as a column.

        Raise `VectorRejected` unless these are unit vectors as wide as the codebook; see
        `check_token_vectors`. Raise `ValueError` without a codebook.
        """
        codebook = self.codebook(model)
        if codebook is None:
            raise ValueError(f"model {model} has no codebook: put one before its tokens")
        return check_token_vectors(vectors, lengths, codebook.width, passage_ids)

    def put(self, model: str, ids: Ids, vectors: Floats, lengths: Ids, live: Mask) -> int:
        """Encode the tokens of the `live` passages that have none; return the number of these passages."""
        lacking = live & self.rows.lacking(model, ids)
        if not lacking.all():
            vectors = vectors[np.repeat(lacking, lengths)]
            ids = ids[lacking]
            lengths = lengths[lacking]
        if len(ids):
            codes = self._fitting_codebook(model, vectors).encode(vectors)
            self.rows.add(model, ids, lengths, codes)
        return len(ids)

    def drop(self, model: str) -> None:
        """Discard the pending tokens and the codebook of a model."""
        self.rows.drop(model)
        self._codebooks.pop(model, None)
        self._changed.discard(model)

    def _fitting_codebook(self, model: str, vectors: Floats) -> Codebook:
        """The codebook of a model, extended if the collection has outgrown it."""
        codebook = self._codebooks[model]
        n_tokens = self.rows.n_rows(model) + len(vectors)
        has_grown = n_tokens > _GROWTH * codebook.n_tokens
        if has_grown and len(codebook.centroids) < n_centroids(n_tokens, n_tokens):
            codebook = codebook.extended(self._sample(model, codebook, vectors), n_tokens)
            self.put_codebook(model, codebook)
        return codebook

    def _sample(self, model: str, codebook: Codebook, vectors: Floats) -> Floats:
        """Vectors to extend a codebook by: some of these, and some decoded stored ones.

        The stored ones matter if a collection grows in steps that are too small for a sample.
        """
        stored = self.rows.stored().get(model, [])
        step = -(-sum(segment.n_rows for segment in stored) // _HALF) or 1
        parts = [segment.read(np.arange(0, len(segment.passage_ids), step)) for segment in stored]
        decoded = [codebook.decode(part) for part in parts]
        return np.concatenate([vectors[:: -(-len(vectors) // _HALF)], *decoded])


def open_tokens(segment: Segment, codebook: Codebook) -> RowsSegment:
    """A segment for search, with its small columns checked against digests and the codebook."""
    opened = RowsSegment(segment)
    opened.check("centroids")
    check_codes(opened, codebook)
    return opened


def check_codes(tokens: RowsSegment, codebook: Codebook) -> None:
    """Raise `IndexCorrupt` unless this codebook can decode every code."""
    n_bytes = tokens.data["values"].shape[1]
    if n_bytes != codebook.n_bytes:
        raise tokens.corruption(f"{n_bytes} bytes per token instead of {codebook.n_bytes}")
    highest = int(tokens.data["centroids"].max(initial=0))
    if highest >= len(codebook.centroids):
        raise tokens.corruption(f"a token has centroid {highest}, the codebook has {len(codebook.centroids)}")


def token_problems(folder: Path, segments: Sequence[Segment]) -> Iterator[str]:
    """One line for each model without exactly one codebook, and for each segment that does not fit it.

    The caller has compared every byte of `segments` with its digest.
    """
    for model in sorted({segment.model for segment in segments if segment.kind in (TOKENS, CODEBOOK)}):
        codebooks = [each for each in segments if (each.kind, each.model) == (CODEBOOK, model)]
        if len(codebooks) != 1:
            yield f"{folder}: model {model} has {len(codebooks)} codebooks instead of one"
            continue
        try:
            codebook = Codebook.from_segment(codebooks[0])
        except IndexCorrupt as error:
            yield str(error)
            continue
        for segment in segments:
            if (segment.kind, segment.model) == (TOKENS, model):
                try:
                    tokens = RowsSegment(segment)
                    tokens.check_rows(np.arange(len(tokens.passage_ids)))
                    check_codes(tokens, codebook)
                except IndexCorrupt as error:
                    yield str(error)
                segment.release()
