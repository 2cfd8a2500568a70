"""What `verify` looks at beyond digests: whether the tokens of each model can be decoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from spanwise.errors import IndexCorrupt

from ..segment import Segment
from .stored_codebook import KIND as CODEBOOK
from .stored_codebook import read_codebook
from .tokens import KIND, TokenSegment


def token_problems(folder: Path, segments: Sequence[Segment]) -> Iterator[str]:
    """One line for each model that has tokens or codebooks but not exactly one codebook, and for each segment
    of its tokens that does not fit it. Every byte of `segments` was compared with its digest.
    """
    kinds = (KIND, CODEBOOK)
    for model in sorted({segment.model for segment in segments if segment.kind in kinds}):
        yield from _model_problems(folder, model, [each for each in segments if each.model == model])


def _model_problems(folder: Path, model: str, segments: Sequence[Segment]) -> Iterator[str]:
    codebooks = [segment for segment in segments if segment.kind == CODEBOOK]
    if len(codebooks) != 1:
        yield f"{folder}: model {model} has {len(codebooks)} codebooks instead of one"
        return
    try:
        codebook = read_codebook(codebooks[0])
    except IndexCorrupt as error:
        yield str(error)
        return
    for segment in segments:
        if segment.kind == KIND:
            try:
                TokenSegment(segment).check_whole(codebook)
            except IndexCorrupt as error:
                yield str(error)
            segment.release()
