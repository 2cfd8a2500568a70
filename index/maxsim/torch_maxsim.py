"""Exact MaxSim on a GPU: all token vectors in its memory, or streamed through it from their codes.

A block of tokens is multiplied with all rows of a batch of questions, the maximum is taken over the tokens of
each passage and the sum over the rows of each question; blocks are so small that the products stay near the
processor. For T tokens of 128 numbers and m rows a question that is 256 m T operations a question and 256 T
bytes read a batch (in float16), beside 4 m T bytes of products a question, written and read once more.

Questions of a batch are filled up with rows of zeros: they score 0 with every token and add nothing.
Tokens are never filled up with zeros; see `token_buckets`.

Source of the score: Khattab and Zaharia, "ColBERT", SIGIR 2020, section 3.3, equation 3.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from spanwise.errors import OutOfMemory

from ..scan import Nearest, merge
from ..torch_scan import reduced_precision_slack
from .runs import runs
from .stored_tokens import StoredTokens
from .token_buckets import Bucket, TokenBuckets, filled_lengths
from .working_memory import WorkingMemory, is_out_of_memory

Questions = Sequence[NDArray[np.float32]]
_SHARE = 0.6  # of the free memory that token vectors may take
_PRODUCTS = {"cpu": 4 << 20}  # bytes of products at once: what a cache holds
_PRODUCTS_GPU = 64 << 20  # as much as hides the start of a kernel
_ROWS = 512  # of questions that are compared with a block of tokens at once
_SCORES = 256 << 20  # bytes of the scores of a batch of questions


class TorchMaxSim:
    """Proposes passages by their MaxSim on a device of torch; "cpu" is one, too, and computes in float32."""

    def __init__(
        self,
        stored: StoredTokens,
        device: str,
        dtype: torch.dtype,
        resident: TokenBuckets | None,
        max_bytes: int,
    ) -> None:
        self._stored = stored
        self._device = device
        self._dtype = dtype
        self._resident = resident
        self._max_bytes = max_bytes
        self._memory = WorkingMemory(_PRODUCTS.get(torch.device(device).type, _PRODUCTS_GPU))

    @classmethod
    def load(
        cls,
        stored: StoredTokens,
        device: str,
        dtype: torch.dtype | None = None,
        max_bytes: int | None = None,
    ) -> TorchMaxSim:
        """Copy all vectors to the device when they fit into `max_bytes` (six tenths of what is free); else
        each search decodes them part by part.

        Vectors become float16 on a GPU: all numbers are small, so it is eight times as exact as bfloat16.
        """
        stored.check()
        if dtype is None:
            dtype = torch.float32 if torch.device(device).type == "cpu" else torch.float16
        if max_bytes is None:
            max_bytes = int(_SHARE * free_bytes(device))
        if int(_sizes(stored, np.arange(len(stored)), dtype).sum()) <= max_bytes:
            try:
                resident = TokenBuckets.load(stored, np.arange(len(stored)), device, dtype)
                stored.release()
                return cls(stored, device, dtype, resident, max_bytes)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                max_bytes //= 2
        return cls(stored, device, dtype, None, max_bytes)

    @property
    def is_resident(self) -> bool:
        """Whether the vectors stay on the device between searches."""
        return self._resident is not None

    @torch.inference_mode()
    def nearest(self, questions: Questions, n: int, chosen: NDArray[np.bool_] | None = None) -> Nearest:
        """The best n rows for each question (m, width), m at least 1; see `Scan`.

        The slack is computed from the vectors: what the short format changed of them and of the questions.
        """
        kept: Nearest | None = None
        for part, allowed in self._parts(chosen):
            kept = merge(kept, self._in_part(part, questions, min(n, len(part)), allowed), n)
        if kept is None:
            raise ValueError("no passage is chosen, expected at least 1")
        return kept

    def _parts(
        self, chosen: NDArray[np.bool_] | None
    ) -> Iterator[tuple[TokenBuckets, NDArray[np.bool_] | None]]:
        """What is on the device, and which of its slots are chosen; or one part after another of the rows
        that are.
        """
        if self._resident is not None:
            yield self._resident, None if chosen is None else chosen[self._resident.rows]
            return
        rows = np.arange(len(self._stored)) if chosen is None else np.flatnonzero(chosen)
        left = rows
        while len(left):
            run = next(runs(_sizes(self._stored, left, self._dtype), self._max_bytes))
            try:
                part = TokenBuckets.load(self._stored, left[run], self._device, self._dtype)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if run.stop == 1:
                    raise OutOfMemory("one passage does not fit into the device's memory") from error
                self._max_bytes //= 2
                continue
            yield part, None
            left = left[run.stop :]
            self._stored.release()

    def _in_part(
        self, part: TokenBuckets, questions: Questions, n: int, allowed: NDArray[np.bool_] | None
    ) -> Nearest:
        scores = np.empty((len(questions), n), np.float32)
        rows = np.empty((len(questions), n), np.int64)
        slack = 0.0
        for batch in question_batches([len(each) for each in questions], len(part)):
            padded = stacked([questions[number] for number in batch])
            short = torch.from_numpy(padded).to(self._device).to(self._dtype)  # (Q, m, width)
            found, slots = self._scores(part, short, allowed).topk(n, dim=1)
            scores[batch], rows[batch] = found.cpu().numpy(), part.rows[slots.cpu().numpy()]
            slack = max(slack, self._slack(part, padded, short.float().cpu().numpy()))
        return Nearest(scores, rows, slack)

    def _scores(
        self, part: TokenBuckets, questions: torch.Tensor, allowed: NDArray[np.bool_] | None
    ) -> torch.Tensor:
        """(Q, slots of the part) float32; minus infinity for what is not allowed."""
        shape = (len(questions), len(part))
        scores = torch.full(shape, -torch.inf, dtype=torch.float32, device=self._device)
        for bucket in part.buckets:
            self._score_bucket(bucket, questions, scores, allowed)
        return scores

    def _score_bucket(
        self,
        bucket: Bucket,
        questions: torch.Tensor,
        scores: torch.Tensor,
        allowed: NDArray[np.bool_] | None,
    ) -> None:
        n_questions, n_rows, width = questions.shape
        count, size, _ = bucket.vectors.shape
        rows = questions.view(-1, width)  # (Q * m, width)
        slots = None
        if allowed is not None:
            inside = np.flatnonzero(allowed[bucket.first : bucket.first + count])
            slots = torch.from_numpy(inside).to(self._device)
        bytes_each = size * bucket.vectors.element_size() * (len(rows) + (0 if slots is None else width))

        def step(first: int, end: int) -> None:
            here = slice(first, end) if slots is None else slots[first:end]
            tokens = bucket.vectors[here].view(-1, width)  # (P * L, width)
            maxima = (rows @ tokens.T).view(n_questions, n_rows, -1, size).amax(dim=3)  # (Q, m, P)
            sums = maxima.sum(dim=1, dtype=torch.float32)
            if slots is None:
                scores[:, bucket.first + first : bucket.first + end] = sums
            else:
                scores[:, bucket.first + slots[first:end]] = sums

        self._memory.in_steps(count if slots is None else len(slots), bytes_each, step)

    def _slack(self, part: TokenBuckets, exact: NDArray[np.float32], short: NDArray[np.float32]) -> float:
        """How far the difference of two scores of a question of a batch may be from that of the exact ones.

        <q, d> - <q', d'> = <q, d - d'> + <q - q', d'>, and a product is rounded once more when it is written.
        """
        lengths, lost = (np.linalg.norm(each, axis=2) for each in (exact, exact - short))  # (Q, m)
        n_terms = exact.shape[1] + exact.shape[2]
        rounding = n_terms * float(np.finfo(np.float32).eps)
        if self._dtype == torch.float32:
            rounding += reduced_precision_slack()
        else:
            rounding += torch.finfo(
                self._dtype
            ).eps  # twice a rounding: a product may be the sum of two halves
        longest = part.longest + part.error
        per_row = lengths * (part.error + rounding * longest) + lost * longest
        return 2 * float(per_row.sum(axis=1).max())


def question_batches(n_rows: Sequence[int], n_passages: int) -> Iterator[NDArray[np.int64]]:
    """Questions with like numbers of rows together, by their places: few enough that a product of all their
    rows, and their scores for all passages, are of a bounded size; at least one.
    """
    left = np.argsort(-np.asarray(n_rows), kind="stable")
    while len(left):
        most = min(_ROWS // max(1, n_rows[left[0]]), _SCORES // (4 * max(1, n_passages)))
        yield left[: max(1, most)]
        left = left[max(1, most) :]


def stacked(questions: Questions) -> NDArray[np.float32]:
    """(Q, m, width): questions filled up with rows of zeros, which add nothing to any score."""
    longest = max(len(question) for question in questions)
    padded = np.zeros((len(questions), longest, questions[0].shape[1]), np.float32)
    for number, question in enumerate(questions):
        padded[number, : len(question)] = question
    return padded


def free_bytes(device: str) -> int:
    """Free memory of a device; of the machine's for "cpu"."""
    if torch.device(device).type == "cuda":
        return int(torch.cuda.mem_get_info(torch.device(device))[0])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # a system that does not say
        return 4 << 30


def _sizes(stored: StoredTokens, rows: NDArray[np.int64], dtype: torch.dtype) -> NDArray[np.int64]:
    """The bytes of each of these rows on the device."""
    return filled_lengths(stored.lengths[rows]) * (stored.width * dtype.itemsize)
