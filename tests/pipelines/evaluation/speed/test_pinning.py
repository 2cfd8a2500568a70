"""Threads and processors are the same for all."""

from __future__ import annotations

import pytest

from spanwise.pipelines.evaluation.speed.pinning import pinned_environment, processors


def test_several_threads_let_tokenizers_work_in_parallel():
    assert pinned_environment(2)["OMP_NUM_THREADS"] == "2"
    assert pinned_environment(2)["TOKENIZERS_PARALLELISM"] == "true"


@pytest.mark.parametrize("threads", [0, 10_000])
def test_threads_that_there_are_not_are_refused(threads):
    with pytest.raises(ValueError, match=f"threads is {threads}, expected 1 to"):
        processors(threads)
