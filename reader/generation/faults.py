"""What goes wrong between an endpoint and us, and how what a server says is quoted."""

from __future__ import annotations

from .plain_text import plain

QUOTED = 200
"""How many characters of a server's own words an error quotes."""

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}  # leaves the length as it is


class Fault(Exception):
    """One exchange with an endpoint failed.

    `what` are our words, `told` the server's, which are quoted with care. `again`: another try may mend it,
    after `retry_after` (the header as it came) if that is given. `wire`: the connection failed, so that the
    end of the time may be what ended it.
    """

    def __init__(
        self,
        what: str,
        told: str = "",
        *,
        again: bool = False,
        wire: bool = False,
        retry_after: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.told = what, told
        self.again, self.wire, self.retry_after = again, wire, retry_after

    def line(self, secret: str | None) -> str:
        """What happened, in one line, without the secret."""
        told = quoted(self.told, secret)
        what = without(self.what, secret)
        return f"{what}: {told}" if told else what


def quoted(told: str, secret: str | None = None, most: int = QUOTED) -> str:
    """What somebody else wrote, in one line of `most` visible characters at most, without the secret.

    >>> quoted("no\\n such\\x1b[2J key: SK-1", "sk-1")
    'no such[2J key: ***'
    """
    line = "".join(char for char in " ".join(plain(told).split()) if char.isprintable())
    if secret:
        line = _covered(line, secret)
    return line if len(line) <= most else line[: most - 1] + "…"


def without(line: str, secret: str | None) -> str:
    """A line of ours with nothing of the secret in it; one under 8 characters may be a word, and is left."""
    return _covered(line, secret) if secret and len(secret) >= 8 else line


def _covered(line: str, secret: str) -> str:
    """The line with "***" for the secret, in whichever case of its letters; a secret is ASCII."""
    low, hidden = line.translate(_LOWER), secret.translate(_LOWER)
    kept, begin = list[str](), 0
    while (at := low.find(hidden, begin)) >= 0:
        kept.append(line[begin:at])
        begin = at + len(hidden)
    return "***".join([*kept, line[begin:]])
