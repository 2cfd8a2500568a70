"""Keeps token vectors up: the passages that lack them are encoded, compressed and stored.

The codebook that compresses them is trained on a random sample of the passages. These are encoded first and
then stored like all others, so that nothing is encoded twice. Where passages lack dense vectors, too, and one
go through a transformer gives both, both are stored together. What is done is committed as the work goes on:
an interruption costs the passages since the last commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spanwise.types import ProgressCallback, no_progress

from ..index.maxsim.codebook import Codebook
from ..index.schema import indexed_text
from ..index.store import Store
from ..index.writer import Writer
from .colbert_setting import ColbertSetting

if TYPE_CHECKING:
    from ..retrieval.protocol import TokenEncoder

PASSAGES_PER_COMMIT = 1_024
SAMPLED = 2_048  # passages that a codebook is trained on
SEED = 0


def lacks_tokens(store: Store, setting: ColbertSetting) -> bool:
    """Whether a passage has no token vectors of the model as its files are now, or some are of another."""
    from ..models.locate import model_digest

    with store.snapshot() as snapshot:
        n_passages = snapshot.n_passages
        wanted = {model_digest(setting.name, "token-encoder"): n_passages} if n_passages else {}
        return snapshot.token_models() != wanted


def sync_tokens(
    store: Store, encoder: TokenEncoder, setting: ColbertSetting, on_progress: ProgressCallback = no_progress
) -> int:
    """Encodes the passages that have no token vectors of this model; returns how many there were.

    Token vectors of other models are dropped.
    """
    with store.writer() as writer:
        work = TokenWork.begin(store, writer, encoder.digest, setting, on_progress)
        for batch, texts in work.batches(work.missing):
            vectors, lengths = encoder.encode_passages(texts, work.tell)
            work.put(batch, vectors, lengths)
            writer.commit()
        writer.commit()  # where passages of other models were all there was
    return len(work.missing)


def switch_tokens(
    store: Store,
    encoder: TokenEncoder | None,
    setting: ColbertSetting | None,
    settings: Mapping[str, str],
    on_progress: ProgressCallback = no_progress,
) -> int:
    """Sets the settings and encodes all passages by this model, in one commit; how many were encoded.

    Until then searches use what there was, and an interruption leaves it so. None drops all token vectors.
    """
    n_encoded = 0
    with store.writer() as writer:
        for key, value in settings.items():
            writer.set(key, value)
        if encoder is None or setting is None:
            drop_other_tokens(store, writer, None)
        else:
            work = TokenWork.begin(store, writer, encoder.digest, setting, on_progress)
            n_encoded = len(work.missing)
            for batch, texts in work.batches(work.missing):
                vectors, lengths = encoder.encode_passages(texts, work.tell)
                work.put(batch, vectors, lengths)
        writer.commit()
    return n_encoded


def drop_other_tokens(store: Store, writer: Writer, digest: str | None) -> None:
    """Drop the tokens of all models but one with the next commit."""
    with store.snapshot() as snapshot:
        others = snapshot.token_models().keys() - {digest}
    for model in sorted(others):
        writer.drop_tokens(model)


@dataclass(slots=True)
class TokenWork:
    """The passages that lack tokens of a model (`missing`), and the storing of what is made for them.

    `begins` says that there is no codebook yet.
    """

    store: Store
    writer: Writer
    digest: str
    setting: ColbertSetting
    on_progress: ProgressCallback
    missing: NDArray[np.int64]
    begins: bool
    done: int = 0
    total: int = 0

    @classmethod
    def begin(
        cls, store: Store, writer: Writer, digest: str, setting: ColbertSetting, on_progress: ProgressCallback
    ) -> TokenWork:
        """What is to be done; the tokens of other models are dropped with the next commit."""
        with store.snapshot() as snapshot:
            missing, begins = snapshot.without_tokens(digest), snapshot.codebook(digest) is None
        drop_other_tokens(store, writer, digest)
        return cls(store, writer, digest, setting, on_progress, missing, begins)

    def batches(self, passage_ids: NDArray[np.int64]) -> Iterator[tuple[list[int], list[str]]]:
        """Passages that are stored together, with their texts: first the sample, if any, then the others."""
        self.total = len(passage_ids)
        for batch in _batches(passage_ids, SAMPLED if self.begins else 0):
            with self.store.snapshot() as snapshot:
                yield batch, [indexed_text(passage) for passage in snapshot.passages(batch)]

    def tell(self, done: int) -> None:
        """Report how many passages of this batch are encoded."""
        self.on_progress("tokens", self.done + done, self.total)

    def put(
        self,
        batch: Sequence[int],
        vectors: NDArray[np.float32],
        lengths: NDArray[np.int64],
    ) -> None:
        """Store the token vectors of a batch with the next commit, by a codebook trained on the first."""
        if self.begins:
            self.on_progress("codebook", 0, 1)
            n_tokens = len(vectors) * self.total // len(batch)
            self.writer.put_codebook(self.digest, Codebook.train(vectors, n_tokens))
            self.on_progress("codebook", 1, 1)
            self.begins = False
        self.writer.put_tokens(self.digest, batch, vectors, lengths)
        self.done += len(batch)


def _batches(missing: NDArray[np.int64], n_sampled: int) -> Iterator[list[int]]:
    """The passages in parts that are committed together: first the sample, then the others in order."""
    n_sampled = min(n_sampled, len(missing))
    sample = np.zeros(len(missing), np.bool_)
    sample[np.random.default_rng(SEED).permutation(len(missing))[:n_sampled]] = True
    if n_sampled:
        yield missing[sample].tolist()
    others = missing[~sample]
    for at in range(0, len(others), PASSAGES_PER_COMMIT):
        yield others[at : at + PASSAGES_PER_COMMIT].tolist()
