"""Keeps token vectors up: the passages that lack them are encoded, pooled, compressed and stored.

The codebook that compresses them is trained on a random sample of the passages. These are encoded first and
then stored like all others, so that nothing is encoded twice. What is done is committed as the work goes on:
an interruption costs the passages since the last commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..index.maxsim.codebook import Codebook
from ..index.maxsim.pooling import pool
from ..index.rows import indexed_text
from ..index.store import Store
from ..index.writer import Writer
from .colbert_setting import ColbertSetting
from .progress import Report, silent

if TYPE_CHECKING:
    from ..retrieval.protocol import TokenEncoder

PASSAGES_PER_COMMIT = 1_024
SAMPLED = 2_048  # passages that a codebook is trained on
SEED = 0


def lacks_tokens(store: Store, setting: ColbertSetting) -> bool:
    """Whether a passage has no token vectors of the model as its files are now, or some are of another."""
    from ..models.token_models import token_model_digest

    with store.snapshot() as snapshot:
        n_passages = snapshot.n_passages
        wanted = {token_model_digest(setting.name): n_passages} if n_passages else {}
        return snapshot.token_models() != wanted


def sync_tokens(store: Store, encoder: TokenEncoder, setting: ColbertSetting, report: Report = silent) -> int:
    """Encodes the passages that have no token vectors of this model; returns how many there were.

    Token vectors of other models are dropped.
    """
    with store.writer() as writer:
        _drop_others(store, writer, encoder.digest)
        done = 0
        for n_encoded in _encode_missing(store, writer, encoder, setting, report):
            writer.commit()
            done += n_encoded
        writer.commit()  # where passages of other models were all there was
    return done


def switch_tokens(
    store: Store,
    encoder: TokenEncoder | None,
    setting: ColbertSetting | None,
    settings: Mapping[str, str],
    report: Report = silent,
) -> int:
    """Sets the settings and encodes all passages by this model, in one commit; how many were encoded.

    Until then searches use what there was, and an interruption leaves it so. None drops all token vectors.
    """
    with store.writer() as writer:
        done = 0
        if encoder is not None and setting is not None:
            done = sum(_encode_missing(store, writer, encoder, setting, report))
        for key, value in settings.items():
            writer.set(key, value)
        _drop_others(store, writer, encoder.digest if encoder else None)
        writer.commit()
    return done


def _drop_others(store: Store, writer: Writer, digest: str | None) -> None:
    with store.snapshot() as snapshot:
        others = snapshot.token_models().keys() - {digest}
    for model in sorted(others):
        writer.drop_tokens(model)


def _encode_missing(
    store: Store, writer: Writer, encoder: TokenEncoder, setting: ColbertSetting, report: Report
) -> Iterator[int]:
    """Stages the tokens of the passages that have none; how many passages each part had."""
    with store.snapshot() as snapshot:
        missing = snapshot.without_tokens(encoder.digest)
        begins = snapshot.codebook(encoder.digest) is None
    done = 0
    for batch in _batches(missing, SAMPLED if begins else 0):
        with store.snapshot() as snapshot:
            texts = [indexed_text(passage) for passage in snapshot.passages(batch)]
        vectors, lengths = encoder.encode_passages(texts, _counted_on(report, done, len(missing)))
        vectors, lengths = pool(vectors, lengths, setting.pool)
        if begins:
            report("codebook", 0, 1)
            n_tokens = len(vectors) * len(missing) // len(batch)
            writer.put_codebook(encoder.digest, Codebook.train(vectors, n_tokens, setting.bits))
            report("codebook", 1, 1)
            begins = False
        writer.put_tokens(encoder.digest, batch, vectors, lengths, encoder.covered(texts))
        yield len(batch)
        done += len(batch)


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


def _counted_on(report: Report, before: int, total: int) -> Callable[[int], None]:
    return lambda done: report("tokens", before + done, total)
