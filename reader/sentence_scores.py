"""How much the sentences of a passage speak for carrying the answer, from the logits of its windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .sentence_answer import SentenceSpan, enclosing_sentences
from .spans import TokenSpan
from .windows import WindowLogits


class SentenceScores:
    """The scores of one passage; `offsets` are the (n, 2) characters of its tokens.

    Of a passage that is read in several windows, a sentence's score is that of the window which holds most
    of its tokens, the first of them where several do.
    """

    def __init__(
        self,
        sentences: Sequence[SentenceSpan],
        offsets: NDArray[np.int32],
        windows: Sequence[WindowLogits],
    ) -> None:
        self.sentences, self.offsets, self.windows = sentences, offsets, windows

    def of(self, span: TokenSpan) -> float:
        """That of the sentences which hold the span; see `between`."""
        at = int(self.offsets[span.first, 0]), int(self.offsets[span.last, 1])
        return self.between(*enclosing_sentences(self.sentences, *at))

    def between(self, start: int, end: int) -> float:
        """The mean of the tokens' logits over the null position's; NaN where no sentence is scored."""
        first, after = (int(np.searchsorted(self.offsets[:, 0], edge)) for edge in (start, end))
        best, score = 0, math.nan
        for window in self.windows:
            if window.sentence is None or not self.sentences:
                continue
            low, high = max(first, window.window.first), min(after, window.window.last)
            if high - low > best:
                here = slice(low - window.window.first, high - window.window.first)
                best, score = high - low, float(window.sentence[here].mean())
        return score
