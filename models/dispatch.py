"""Hands work to whichever of several workers is free."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Done = tuple[Item, Result] | BaseException | None


def spread(
    items: Iterable[Item], workers: Sequence[Callable[[Item], Result]]
) -> Iterator[tuple[Item, Result]]:
    """Each item with what a worker makes of it, as they are done; a worker has one item at a time.

    The first error of a worker comes out once the others have ended what they are at; nothing else is begun
    then, nor when the caller stops listening.
    """
    if not workers:
        raise ValueError("no workers, expected at least one")
    left, drawing, stop = iter(items), threading.Lock(), threading.Event()
    done: SimpleQueue[Done[Item, Result]] = SimpleQueue()

    def work(worker: Callable[[Item], Result]) -> None:
        try:
            while not stop.is_set():
                with drawing:
                    item = next(left)
                done.put((item, worker(item)))
        except StopIteration:
            pass
        except BaseException as error:
            stop.set()
            done.put(error)
        finally:
            done.put(None)

    threads = [threading.Thread(target=work, args=(w,), name="spanwise-worker") for w in workers]
    for thread in threads:
        thread.start()
    try:
        yield from _results(done, len(threads))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _results(done: SimpleQueue[Done[Item, Result]], n_workers: int) -> Iterator[tuple[Item, Result]]:
    while n_workers:
        found = done.get()
        if found is None:
            n_workers -= 1
        elif isinstance(found, BaseException):
            raise found
        else:
            yield found
