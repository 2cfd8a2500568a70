"""What a child process needs to answer its parent over pipes, whatever the libraries in it print.

The pipes are moved away from the standard streams, so that a library that prints cannot spoil a message and
one that reads finds nothing. The process ends when its parent does: at once, or in an orderly way.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from typing import BinaryIO


def own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes from and to the parent, moved to other descriptors than the standard ones."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def end_with_parent(requests: BinaryIO) -> None:
    """End this process at once when the other end of the pipe is closed, even while it works."""
    if sys.platform == "win32":
        return
    hung_up = select.poll()
    hung_up.register(requests, 0)  # which tells of the end alone

    def wait() -> None:
        hung_up.poll()
        os.killpg(0, signal.SIGKILL)  # with the programs that it has started

    threading.Thread(target=wait, daemon=True).start()


def interrupt_with_parent(requests: BinaryIO, grace_s: float) -> None:
    """Interrupt this process, as Ctrl-C would, when the other end of the pipe is closed, by whatever.

    The main thread gets a KeyboardInterrupt, also where this process was started with SIGINT ignored. What
    then takes longer than `grace_s` is killed with all programs of its process group.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main_thread = threading.main_thread().ident or 0

    def wait() -> None:
        while os.read(requests.fileno(), 1):  # not `requests.read`, whose lock Python may want at its end
            pass
        signal.pthread_kill(main_thread, signal.SIGINT)
        time.sleep(grace_s)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()
