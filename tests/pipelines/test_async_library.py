"""An event loop asks a library: right answers, nobody held up, nothing left locked."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from scripted_reader import read_by

import spanwise
from spanwise.errors import IndexClosed
from spanwise.index import Store
from spanwise.pipelines.async_library import AsyncLibrary, open_async
from spanwise.pipelines.library import Library

QUESTIONS = ["Who built the mill?", "Who opened the tram?", "What was raised in 1920?"]
FOUND = ["mill.md", "tram.txt", "sub/weir.html"]
PATIENCE_S = 20.0


@pytest.fixture
def answering(library, monkeypatch):
    read_by(library, monkeypatch, ("Ada Rook", 3.0, 0.0), ("Ute Falk", 4.0, 0.0), ("1920", 2.0, 0.0))
    return library


class Slow:
    """Stands in the place of a method's work: says when it began, and waits until it may end."""

    def __init__(self) -> None:
        self.began, self.may_end = threading.Event(), threading.Event()

    def __call__(self, *given, **named):
        self.began.set()
        assert self.may_end.wait(PATIENCE_S)
        return []


async def begun(slow: Slow) -> None:
    assert await asyncio.to_thread(slow.began.wait, PATIENCE_S)


def first(hits) -> str:
    return hits[0].passage.document_id


def test_twins_give_what_the_methods_give(answering):
    async def asked():
        library = AsyncLibrary(answering)
        search = library.search(QUESTIONS[0], retriever="bm25")
        return await search, await library.ask(QUESTIONS[0], retriever="bm25", threshold=0.0)

    hits, answer = asyncio.run(asked())
    assert hits == answering.search(QUESTIONS[0], retriever="bm25")
    assert (answer.text, answer.span) == ("Ada Rook", answering.ask(QUESTIONS[0], retriever="bm25").span)


def test_a_hundred_tasks_get_each_its_own_hits(library):
    async def gathered():
        twin = AsyncLibrary(library)
        return await asyncio.gather(*(twin.search(q, retriever="bm25", k=1) for q in QUESTIONS * 34))

    assert [first(hits) for hits in asyncio.run(gathered())] == FOUND * 34


def test_the_loop_goes_on_while_a_search_waits(library, monkeypatch):
    slow = Slow()
    monkeypatch.setattr(library._answers, "results", lambda *given: ([slow()], False))

    async def turns() -> int:
        task = asyncio.create_task(AsyncLibrary(library).search("mill", retriever="bm25"))
        await begun(slow)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not task.done()
        slow.may_end.set()
        return len(await task)

    assert asyncio.run(turns()) == 0


def test_a_cancelled_search_leaves_the_library_to_others(library, monkeypatch):
    slow, results = Slow(), library._answers.results

    async def cancelled():
        twin = AsyncLibrary(library)
        monkeypatch.setattr(library._answers, "results", lambda *given: ([slow()], False))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await twin.search("mill", retriever="bm25")
        monkeypatch.setattr(library._answers, "results", results)
        hits = await twin.search(QUESTIONS[0], retriever="bm25")
        slow.may_end.set()
        return hits

    assert first(asyncio.run(cancelled())) == "mill.md"


def test_a_cancelled_sync_stops_at_its_next_report_and_lets_the_next_writer_in(folder, library):
    for number in range(40):
        (folder / f"{number}.txt").write_text(f"Gate {number} is open.")
    heard = threading.Event()

    async def stopped_and_done():
        twin = AsyncLibrary(library)

        def report(stage: str, done: int, total: int) -> None:
            heard.set()
            time.sleep(0.02)

        task = asyncio.create_task(twin.sync(vectors=False, report=report, workers=1))
        await asyncio.to_thread(heard.wait, PATIENCE_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        n_after_cancelling = len(await twin.passages())
        with library.store.writer(PATIENCE_S):  # IndexLocked if the sync went on holding it
            pass
        done = await twin.sync(vectors=False)
        await twin.aclose()
        return n_after_cancelling, len(done.added)

    before, added = asyncio.run(stopped_and_done())
    assert added == 40
    assert before < 40


def test_answers_are_yielded_in_order_as_they_come(answering):
    async def flow():
        stream = AsyncLibrary(answering).ask_each(QUESTIONS[:2], retriever="bm25", k=1, threshold=0.0)
        return [answer.text async for answer in stream]

    assert asyncio.run(flow()) == ["Ada Rook", "Ute Falk"]


def test_a_stream_takes_the_next_question_only_when_it_is_asked_for_more(library):
    taken = []

    def questions():
        for question in QUESTIONS:
            taken.append(question)
            yield question

    async def left_early():
        async with AsyncLibrary(library).search_each(questions(), retriever="bm25") as stream:
            async for hits in stream:
                return first(hits)

    assert (asyncio.run(left_early()), taken) == ("mill.md", QUESTIONS[:1])


def test_a_streamed_summary_ends_with_what_the_method_returns(answering):
    async def summarized():
        stream = AsyncLibrary(answering).summary_sentences(document="mill.md")
        sentences = [sentence async for sentence in stream]
        return sentences, stream.returned

    sentences, summary = asyncio.run(summarized())
    assert tuple(sentences) == summary.sentences
    assert summary.sentences == answering.summarize(document="mill.md").sentences != ()


def test_opening_awaited_or_entered_is_the_same(folder, encoder_folder):
    async def both():
        library = await open_async(folder, model=encoder_folder)
        report = await library.sync(vectors=False)
        await library.aclose()
        async with spanwise.open_async(folder) as entered:
            return len(report.added), first(await entered.search(QUESTIONS[1], retriever="bm25"))

    assert asyncio.run(both()) == (3, "tram.txt")


def test_leaving_the_context_closes_the_library(folder, encoder_folder):
    async def after():
        async with open_async(folder, model=encoder_folder) as library:
            await library.sync(vectors=False)
        await library.aclose()
        with pytest.raises(IndexClosed, match="open it again"):
            await library.search("mill")
        with pytest.raises(IndexClosed):
            library.library.search("mill")

    asyncio.run(after())


def test_closing_waits_for_what_is_at_work_and_drops_what_waits(library, monkeypatch):
    slow = Slow()
    monkeypatch.setattr(library._answers, "results", lambda *given: ([slow()], False))

    async def closed():
        twin = AsyncLibrary(library)
        tasks = [asyncio.create_task(twin.search("mill", retriever="bm25")) for _ in range(10)]
        await begun(slow)
        closing = asyncio.create_task(twin.aclose())
        await asyncio.sleep(0.05)
        assert not closing.done()
        slow.may_end.set()
        await closing
        return await asyncio.gather(*tasks, return_exceptions=True)

    outcomes = asyncio.run(closed())
    assert outcomes.count([]) == 4
    assert sum(isinstance(one, asyncio.CancelledError) for one in outcomes) == 6


def test_every_method_that_waits_has_a_twin():
    quick = {"retriever", "asker", "grouping", "close", "reading", "encode_for", "sync_both", "sync_tokens"}
    quick |= {"missing_vectors", "missing_tokens", "add", "drop", "require_model", "require_colbert"}
    quick |= {"use_retriever", "use_reader"}
    methods = {name for name in dir(Library) if not name.startswith("_") and callable(getattr(Library, name))}
    assert methods - quick == {name for name in vars(AsyncLibrary) if name in methods}


def test_what_never_ran_is_no_use_of_the_index(folder, encoder_folder):
    async def opened():
        library = await open_async(folder, model=encoder_folder)
        waiting = library.search("mill")
        waiting.close()  # never awaited
        await library.aclose()

    asyncio.run(opened())
    Store.open(folder / ".spanwise").close()
