"""A test collection by its folder: which format it is in shows by the names of its files."""

from __future__ import annotations

from pathlib import Path

from spanwise.errors import DataMalformed

from . import anserini, beir, cacm, cranfield, msmarco, npl, splits, trec
from .collection import Collection, QrelsReader

FORMATS = (beir, cranfield, cacm, npl, trec, msmarco, anserini)


IS_ONE = (
    beir.is_beir,
    cranfield.is_cranfield,
    cacm.is_cacm,
    npl.is_npl,
    trec.is_trec,
    msmarco.is_msmarco,
    anserini.is_anserini,
)


def is_collection(folder: Path) -> bool:
    """True when the folder is in one of the formats that `read_collection` knows."""
    return any(is_one(folder) for is_one in IS_ONE)


def read_collection(folder: Path, split: str | None, read_qrels: QrelsReader) -> Collection:
    """The collection in a folder, of whatever kind; `split` None means "test", or the only one there is.

    `read_qrels` reads judgements in the formats of TREC and BEIR. `DataMalformed` names what was looked for
    when nothing is found, and file and line of what is wrong; `ValueError` lists the splits there are.
    """
    if not folder.is_dir():
        raise DataMalformed(f"{folder}: is no folder; a test collection is a folder of files")
    if beir.is_beir(folder):
        return beir.read_beir(folder, split, read_qrels)
    if msmarco.is_msmarco(folder):
        return msmarco.read_msmarco(folder, split, read_qrels)
    if anserini.is_anserini(folder):
        return anserini.read_anserini(folder, split, read_qrels)
    splits.refuse(folder, split)
    if cranfield.is_cranfield(folder):
        return cranfield.read_cranfield(folder)
    if cacm.is_cacm(folder):
        return cacm.read_cacm(folder)
    if npl.is_npl(folder):
        return npl.read_npl(folder)
    if trec.is_trec(folder):
        return trec.read_trec(folder, read_qrels)
    looked_for = "; ".join(kind.FORM for kind in FORMATS)
    raise DataMalformed(f"{folder}: holds no test collection. Looked for {looked_for}")
