"""The processes that encode on several GPUs: started once there is work enough, then kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .device_worker import DeviceWorker, RowEncoder

WORTH_IT = 2_000_000  # tokens that one GPU encodes while the processes start


class Fleet:
    """One worker a device, started when `WORTH_IT` tokens have been asked for; none for one device.

    The processes end with the one that started them, or by `close`.
    """

    def __init__(self, load: Callable[[str], RowEncoder] | None, devices: Sequence[str]) -> None:
        self._load, self._devices = load, devices if len(devices) > 1 else ()
        self._workers: list[DeviceWorker] = []
        self._n_tokens = 0

    def workers(self, n_tokens: int) -> Sequence[DeviceWorker]:
        """The workers for this many tokens more, or none as long as one device does."""
        self._n_tokens += n_tokens
        if self._load is not None and not self._workers and self._n_tokens >= WORTH_IT:
            self._workers = [DeviceWorker(self._load, device) for device in self._devices]
        return self._workers

    def close(self) -> None:
        """End the processes; they are started anew if they are needed again."""
        for worker in self._workers:
            worker.close()
        self._workers = []
