"""What Prometheus reads: how much was asked, how long it took, how it went, and how it was batched."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """The figures of one server, in a registry of its own."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self._registry = registry
        self._requests = Counter(
            "spanwise_requests", "Requests by route and status.", ("route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "spanwise_request_seconds", "Time of a request.", ("route",), buckets=_SECONDS, registry=registry
        )
        self._refused = Counter(
            "spanwise_refused", "Requests that were refused, by type.", ("type",), registry=registry
        )
        self._answers = Counter(
            "spanwise_answers", "Questions by how they were answered.", ("outcome",), registry=registry
        )
        self.in_flight = Gauge("spanwise_in_flight", "Requests that are worked on.", registry=registry)
        self._batch = Histogram(
            "spanwise_batch_questions", "Questions of a batch.", buckets=_SIZES, registry=registry
        )
        self._computing = Histogram(
            "spanwise_batch_seconds", "Time of a batch.", buckets=_SECONDS, registry=registry
        )

    def observe_request(self, route: str, status: int, seconds: float) -> None:
        """Counts a request that ended."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def observe_refusal(self, kind: str) -> None:
        """Counts a request that was refused, by the type of its error."""
        self._refused.labels(kind).inc()

    def observe_answer(self, answered: bool) -> None:
        """Counts a question that was answered or declined."""
        self._answers.labels("answered" if answered else "declined").inc()

    def observe_batch(self, n_questions: int, seconds: float) -> None:
        """Counts what was computed together."""
        self._batch.observe(n_questions)
        self._computing.observe(seconds)

    def observe_watch(self, goes_well: Callable[[], bool]) -> None:
        """Shows, whenever it is read, whether the index is kept current."""
        told = "1 while the index is kept current, 0 while that fails or has ended."
        gauge = Gauge("spanwise_watching", told, registry=self._registry)
        gauge.set_function(lambda: float(goes_well()))

    def text(self) -> bytes:
        """All figures, in the text format of Prometheus."""
        return generate_latest(self._registry)
